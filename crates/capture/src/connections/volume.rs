//! What a direction of a connection carried in a window of time.

/// Connection, window and direction of a row.
pub(crate) type Place = (u64, i64, bool);

/// What one direction of a connection carried in one window of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Row of the connection in the table.
    pub connection: u64,
    /// Sent by the opener of the connection.
    pub from_opener: bool,
    /// Sent by the end with the lower address, or port: of two rows of a window this is the second.
    pub from_lower: bool,
    /// Start of the window, nanoseconds since the first packet of the capture.
    pub start_ns: i64,
    /// IP packet lengths, in bytes.
    pub wire_bytes: u64,
    /// Packets as captured.
    pub packets: u64,
    /// Payload of the other end that they acknowledged first.
    pub acked_bytes: u64,
    /// Least round-trip time between the tap and the sender of the direction that its packets ended in the window.
    pub rtt_ns: Option<i64>,
}

impl Volume {
    /// Rows of one place are one.
    pub(crate) fn place(&self) -> Place {
        (self.connection, self.start_ns, self.from_lower)
    }

    /// Adds what another row of the same place carried.
    pub(crate) fn join(&mut self, other: &Volume) {
        self.wire_bytes = self.wire_bytes.saturating_add(other.wire_bytes);
        self.packets = self.packets.saturating_add(other.packets);
        self.acked_bytes = self.acked_bytes.saturating_add(other.acked_bytes);
        self.rtt_ns = self.rtt_ns.into_iter().chain(other.rtt_ns).min();
    }
}
