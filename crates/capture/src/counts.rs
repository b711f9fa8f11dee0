/// Why a packet is not in the connection table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// The link type of its interface is not decoded.
    LinkType,
    /// The frame carries something else than IPv4 or IPv6.
    NotIp,
    /// A fragment other than the first: it has no port numbers.
    Fragment,
    /// The IP packet carries something else than TCP or UDP.
    NotTransport,
    /// The captured bytes end before the ports and flags.
    Short,
    /// A header contradicts itself.
    Malformed,
    /// A pcapng packet block without a known interface or without a time.
    NoInterface,
    /// A block longer than the reader holds.
    Oversized,
}

impl Skip {
    /// Every reason with its name in tables.
    pub const NAMES: [(Skip, &'static str); 8] = [
        (Skip::LinkType, "link_type"),
        (Skip::NotIp, "not_ip"),
        (Skip::Fragment, "fragment"),
        (Skip::NotTransport, "not_tcp_or_udp"),
        (Skip::Short, "cut_header"),
        (Skip::Malformed, "malformed"),
        (Skip::NoInterface, "no_interface"),
        (Skip::Oversized, "oversized"),
    ];
}

/// What was read, and what became of it: `packets = decoded + skipped`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packet records in the file.
    pub packets: u64,
    /// Of these, those in the connection table.
    pub decoded: u64,
    /// Connections evicted because of the limit; their packets are in `decoded`.
    pub evicted: u64,
    /// The file ends inside a record, or its framing breaks so that the rest cannot be read.
    pub truncated: bool,
    /// Time of the first packet in the file, nanoseconds since 1970.
    pub first_ns: Option<i64>,
    earliest_ns: i64,
    latest_ns: i64,
    skipped: [u64; Skip::NAMES.len()],
}

impl Counts {
    /// Packets skipped for `reason`.
    pub fn skipped(&self, reason: Skip) -> u64 {
        self.skipped[reason as usize]
    }

    /// Packets skipped for any reason.
    pub fn skipped_total(&self) -> u64 {
        self.skipped.iter().sum()
    }

    /// Nanoseconds from the earliest to the latest packet; 0 without packets.
    pub fn duration_ns(&self) -> u64 {
        self.latest_ns.abs_diff(self.earliest_ns)
    }

    pub(crate) fn skip(&mut self, reason: Skip) {
        self.skipped[reason as usize] += 1;
    }

    pub(crate) fn see(&mut self, time_ns: i64) {
        self.packets += 1;
        if self.first_ns.is_none() {
            self.first_ns = Some(time_ns);
            (self.earliest_ns, self.latest_ns) = (time_ns, time_ns);
        }
        self.earliest_ns = self.earliest_ns.min(time_ns);
        self.latest_ns = self.latest_ns.max(time_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_the_reasons() {
        for (index, (reason, _)) in Skip::NAMES.iter().enumerate() {
            assert_eq!(*reason as usize, index);
        }
    }
}
