//! How the application's data lies in the sender's buffers: what leaves together is of one, and the last of some has PSH.
//!
//! Principle: data that is written at once is cut into buffers as large as may leave together, half of the receiver's window
//! or 64 kB. The first is sent from while it is filled, and what is left of it is filled again. PSH tells the receiver that
//! nothing follows for now: it stands on the last segment of a write, and where more than half of the widest window has been
//! written since it last stood. Source: Linux 6.1, net/ipv4/tcp.c (`tcp_sendmsg_locked`, `forced_push`). Newer kernels fill
//! a buffer that is shorter than what may leave from the next one (Linux 7.3, net/ipv4/tcp_output.c, `tcp_grow_skb`).
//!
//! The application writes all it has at once: a send buffer that is full does not hold it back.

use super::buffer::MOST_HEADERS;

/// Payload that may leave together at most (`sk_gso_max_size` without headers), bytes.
const MOST_BYTES: u32 = 65_536 - 1 - MOST_HEADERS;

/// The buffers of one write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writes {
    /// Last number written.
    to: u32,
    /// Segments of a full buffer.
    goal: u32,
    /// Last number of the buffer that is sent from, as it was cut and with what it has taken of the next, and whether it
    /// has PSH.
    cut: u32,
    end: u32,
    pushes: bool,
    /// Segments written after which PSH is due, and the number up to which it was.
    due_after: u32,
    pushed: u32,
}

impl Writes {
    pub(super) fn none() -> Writes {
        Writes { to: 0, goal: 1, cut: 0, end: 0, pushes: true, due_after: 0, pushed: 0 }
    }

    /// Last number written.
    pub(super) fn to(&self) -> u32 {
        self.to
    }

    /// Numbers from `first` to `last` are written, while `room` segments may leave at once, `quantum` together. `widest`
    /// is the widest window that the receiver told, bytes.
    pub(super) fn write(&mut self, first: u32, last: u32, room: u32, quantum: u32, widest: u32, mss: u32) {
        let half = widest >> 1;
        self.goal = (half.min(MOST_BYTES) / mss).max(1);
        self.due_after = half / mss;
        (self.to, self.pushed, self.pushes) = (last, first - 1, false);
        // What has left makes room in the buffer that it left from.
        let filled = self.goal + room;
        let mut written = self.goal;
        loop {
            if first - 1 + written - self.pushed > self.due_after {
                self.pushed = first - 1 + written;
                self.pushes = true;
                // All that may leave does.
                if written < filled {
                    written = filled;
                    continue;
                }
            }
            if written >= filled {
                break;
            }
            written = (written + quantum.max(1)).min(filled);
        }
        self.cut = first - 1 + filled;
        self.close();
    }

    /// Last number of the buffer that holds `seq`, the next to leave.
    pub(super) fn end_of(&mut self, seq: u32) -> u32 {
        while seq > self.end && self.cut < self.to {
            self.pushes = self.cut_next();
            self.close();
        }
        if seq > self.end { seq } else { self.end }
    }

    /// The buffer that is sent from takes `more` segments of the next one, or all that it has.
    pub(super) fn grow(&mut self, more: u32) {
        if self.cut >= self.to {
            return;
        }
        self.end += more;
        if self.end >= (self.cut + self.goal).min(self.to) {
            self.pushes |= self.cut_next();
            self.close();
        }
    }

    /// The next buffer is cut: whether it has PSH.
    fn cut_next(&mut self) -> bool {
        self.cut += self.goal;
        let pushes = self.cut - self.pushed > self.due_after;
        if pushes {
            self.pushed = self.cut;
        }
        pushes
    }

    /// Whether `seq` is the last of its buffer, and has PSH.
    pub(super) fn pushes(&self, seq: u32) -> bool {
        seq > self.end || seq == self.end && self.pushes
    }

    /// Whether the buffer sent from is the last.
    pub(super) fn is_last(&self) -> bool {
        self.end >= self.to
    }

    fn close(&mut self) {
        if self.cut >= self.to {
            (self.cut, self.pushes) = (self.to, true);
        }
        self.end = self.cut;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.1 was seen to do with 100 segments of 1448 bytes, a window of 65,160 bytes and ten that may leave.
    #[test]
    fn buffers_are_of_half_the_window_and_push_after_as_much() {
        let mut writes = Writes::none();
        writes.write(1, 100, 10, 2, 65_160, 1448);
        let mut ends = Vec::new();
        let mut seq = 1;
        while seq <= 100 {
            let end = writes.end_of(seq);
            ends.push((end, writes.pushes(end), writes.is_last()));
            seq = end + 1;
        }
        assert_eq!(
            ends,
            [(32, true, false), (54, true, false), (76, false, false), (98, true, false), (100, true, true)]
        );
    }

    #[test]
    fn a_short_buffer_takes_of_the_next_and_keeps_its_push() {
        let mut writes = Writes::none();
        writes.write(1, 100, 10, 2, 65_160, 1448);
        assert_eq!(writes.end_of(54), 54);
        writes.grow(1);
        assert_eq!((writes.end_of(54), writes.pushes(54), writes.pushes(55)), (55, false, true));
        // The next one ends where it did.
        assert_eq!((writes.end_of(56), writes.pushes(76), writes.is_last()), (76, false, false));
        // The last one has two segments: all of it is taken.
        assert_eq!(writes.end_of(98), 98);
        writes.grow(7);
        assert_eq!(
            (writes.end_of(98), writes.pushes(98), writes.pushes(100), writes.is_last()),
            (100, false, true, true)
        );
        writes.grow(1);
        assert_eq!(writes.end_of(100), 100);
    }

    #[test]
    fn what_fits_into_one_buffer_has_push_at_its_end_only() {
        let mut writes = Writes::none();
        writes.write(5, 9, 10, 2, 65_160, 1448);
        assert_eq!((writes.end_of(5), writes.pushes(8), writes.pushes(9), writes.is_last()), (9, false, true, true));
        // The FIN behind it is a buffer of its own.
        assert_eq!((writes.end_of(10), writes.pushes(10)), (10, true));
    }
}
