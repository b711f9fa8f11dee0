//! How much each direction of a connection carried when, in bounded memory.
//!
//! Principle: traffic is summed in windows of time, and only windows with traffic are kept. When there are more rows than
//! allowed, the windows become twice as wide and rows that meet are joined, so that a short capture is known to the
//! millisecond and a long one as well as the memory allows. Cost per packet: O(1), and a sort for each doubling.

/// Windows begin with this width.
const NARROWEST_NS: i64 = 1_000_000;
/// Wider ones tell nothing about load; rows beyond the limit are then left out.
const WIDEST_NS: i64 = NARROWEST_NS << 30;
/// Rows are joined until no more than this share of the limit is left, so that a doubling is worth its sort.
const ROOM: usize = 2;

/// What one direction of a connection carried in one window of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Row of the connection in the table.
    pub connection: u64,
    /// Sent by the opener of the connection.
    pub from_opener: bool,
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

/// Volumes as far as they are kept; until the end `connection` is the serial number of the connection, `from_opener` says
/// from end 0 of its key, and `start_ns` is the number of the window.
pub(crate) struct Volumes {
    limit: usize,
    pub(crate) width_ns: i64,
    pub(crate) kept: Vec<Volume>,
    pub(crate) left_out: u64,
}

impl Default for Volumes {
    fn default() -> Self {
        Volumes::with_limit(0)
    }
}

impl Volumes {
    pub(crate) fn with_limit(limit: usize) -> Self {
        Volumes { limit, width_ns: NARROWEST_NS, kept: Vec::new(), left_out: 0 }
    }

    /// Adds the volume of a packet, whose `start_ns` is its time; `last` is where the row of its direction was, and where
    /// it is now.
    pub(crate) fn add(&mut self, packet: Volume, last: &mut u32) {
        if self.limit == 0 {
            return;
        }
        let row = Volume { start_ns: packet.start_ns.div_euclid(self.width_ns), ..packet };
        // After a doubling another direction may stand there.
        if let Some(held) = self.kept.get_mut(*last as usize)
            && held.is_with(&row)
        {
            held.join(&row);
            return;
        }
        while self.kept.len() >= self.limit {
            if self.width_ns >= WIDEST_NS {
                self.left_out += 1;
                return;
            }
            self.widen();
        }
        *last = u32::try_from(self.kept.len()).unwrap_or(u32::MAX);
        self.kept.push(Volume { start_ns: packet.start_ns.div_euclid(self.width_ns), ..packet });
    }

    /// Doubles the windows, more than once if too few rows meet.
    fn widen(&mut self) {
        loop {
            self.width_ns *= 2;
            for row in &mut self.kept {
                row.start_ns = row.start_ns.div_euclid(2);
            }
            self.join();
            if self.kept.len() <= self.limit / ROOM || self.width_ns >= WIDEST_NS {
                return;
            }
        }
    }

    /// Joins the rows of one direction in one window.
    pub(crate) fn join(&mut self) {
        self.kept.sort_unstable_by_key(|row| (row.connection, row.start_ns, row.from_opener));
        self.kept.dedup_by(|later, held| {
            let with = held.is_with(later);
            if with {
                held.join(later);
            }
            with
        });
    }
}

impl Volume {
    fn is_with(&self, other: &Volume) -> bool {
        (self.connection, self.start_ns, self.from_opener) == (other.connection, other.start_ns, other.from_opener)
    }

    fn join(&mut self, other: &Volume) {
        self.wire_bytes = self.wire_bytes.saturating_add(other.wire_bytes);
        self.packets = self.packets.saturating_add(other.packets);
        self.acked_bytes = self.acked_bytes.saturating_add(other.acked_bytes);
        self.rtt_ns = self.rtt_ns.into_iter().chain(other.rtt_ns).min();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(limit: usize, packets: &[(u64, i64)]) -> Volumes {
        let mut volumes = Volumes::with_limit(limit);
        let mut last = std::collections::HashMap::new();
        for &(serial, time_ns) in packets {
            let packet = Volume {
                connection: serial,
                from_opener: true,
                start_ns: time_ns,
                wire_bytes: 100,
                packets: 1,
                acked_bytes: 7,
                rtt_ns: Some(time_ns),
            };
            volumes.add(packet, last.entry(serial).or_insert(u32::MAX));
        }
        volumes.join();
        volumes
    }

    #[test]
    fn packets_of_one_window_are_one_row() {
        let volumes = filled(10, &[(1, 0), (2, 10), (1, 999_999), (1, 1_000_000)]);
        let rows: Vec<_> = volumes.kept.iter().map(|row| (row.connection, row.start_ns, row.packets)).collect();
        assert_eq!(rows, [(1, 0, 2), (1, 1, 1), (2, 0, 1)]);
        assert_eq!(volumes.kept[0].rtt_ns, Some(0));
    }

    #[test]
    fn rows_stay_within_the_limit_and_no_byte_is_lost() {
        let packets: Vec<_> = (0..10_000).map(|at| (at % 3, i64::from(at as i32) * 700_000)).collect();
        let volumes = filled(64, &packets);
        assert!(volumes.kept.len() <= 64, "{}", volumes.kept.len());
        assert_eq!(volumes.left_out, 0);
        assert_eq!(volumes.kept.iter().map(|row| row.packets).sum::<u64>(), 10_000);
        assert_eq!(volumes.kept.iter().map(|row| row.wire_bytes).sum::<u64>(), 1_000_000);
        assert_eq!(volumes.kept.iter().map(|row| row.acked_bytes).sum::<u64>(), 70_000);
    }

    #[test]
    fn more_connections_than_rows_are_left_out_and_counted() {
        let packets: Vec<_> = (0..100).map(|serial| (serial, 0)).collect();
        let volumes = filled(10, &packets);
        assert_eq!((volumes.kept.len(), volumes.left_out), (10, 90));
    }

    #[test]
    fn times_at_the_ends_of_the_clock_do_not_overflow() {
        let volumes = filled(2, &[(1, i64::MIN), (1, i64::MAX), (1, 0), (2, i64::MAX)]);
        assert!(volumes.kept.iter().map(|row| row.packets).sum::<u64>() + volumes.left_out == 4);
    }
}
