//! Generic receive offload: segments that arrive together go up as one packet.
//!
//! Principle: the network driver polls what has arrived and hands it on at the end of the poll, or, with
//! `gro_flush_timeout`, a time after the first. In between a segment that continues the one before, with the same
//! headers, is added to it. PSH, a short segment or 64 kB end the packet; so does whatever does not continue it. The
//! receiver then sees one arrival and acknowledges it once. Source: Linux 6.1, net/ipv4/tcp_offload.c (`tcp_gro_receive`),
//! net/core/gro.c (`skb_gro_receive`).

use units::Time;

use super::clock::Clock;

/// Payload and headers of one packet at most, bytes (`gro_max_size`).
const MOST_BYTES: u32 = 65_536;

/// What the receiver is handed: one segment, or several that continue each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// Numbers, from the first to before the second.
    pub(super) first: u32,
    pub(super) end: u32,
    pub(super) payload: u32,
    /// TSval and TSecr.
    pub(super) stamp: Time,
    pub(super) echoed: Time,
    pub(super) marked: bool,
    pub(super) cwr: bool,
    pub(super) pushed: bool,
}

/// What waits for more.
#[derive(Debug)]
pub(super) struct Held(pub(super) Arrival);

impl Held {
    /// Adds `next` where it continues what is held; whether it did.
    pub(super) fn takes(&mut self, next: &Arrival, mss: u32, clock: Clock) -> bool {
        let held = &mut self.0;
        let stamps = |of: &Arrival| (clock.stamp(of.stamp), clock.stamp(of.echoed));
        let fits = held.payload + next.payload < MOST_BYTES && next.payload <= mss;
        let same = held.marked == next.marked && !next.cwr && stamps(held) == stamps(next);
        let continues = held.end == next.first && fits && same;
        if continues {
            held.end = next.end;
            held.payload += next.payload;
            held.pushed = next.pushed;
        }
        continues
    }

    /// Whether nothing may follow: it ends with PSH or a segment that is not full, or is as large as a packet may be.
    pub(super) fn is_full(&self, mss: u32) -> bool {
        let held = &self.0;
        held.pushed || held.payload < (held.end - held.first) * mss || held.payload + mss >= MOST_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1448;

    fn segment(first: u32) -> Arrival {
        let stamp = Time::from_millis(5);
        let (echoed, marked) = (Time::ZERO, false);
        Arrival { first, end: first + 1, payload: MSS, stamp, echoed, marked, cwr: false, pushed: false }
    }

    fn clock() -> Clock {
        Clock::of(Time::from_millis(1), Time::ZERO)
    }

    #[test]
    fn segments_that_continue_each_other_become_one_of_64_kb_at_most() {
        let mut held = Held(segment(7));
        let mut count = 1;
        while !held.is_full(MSS) {
            assert!(held.takes(&segment(7 + count), MSS, clock()));
            count += 1;
        }
        assert_eq!((count, held.0.end, held.0.payload), (65_536 / MSS, 7 + count, count * MSS));
    }

    #[test]
    fn what_does_not_continue_it_or_looks_different_is_not_added() {
        let mut held = Held(segment(7));
        let later = Arrival { stamp: Time::from_millis(6), ..segment(8) };
        let marked = Arrival { marked: true, ..segment(8) };
        for other in [segment(9), segment(7), later, marked, Arrival { cwr: true, ..segment(8) }] {
            assert!(!held.takes(&other, MSS, clock()), "{other:?}");
        }
        assert!(!held.is_full(MSS));
        assert!(held.takes(&Arrival { pushed: true, ..segment(8) }, MSS, clock()) && held.is_full(MSS));
        let mut short = Held(segment(7));
        assert!(short.takes(&Arrival { payload: 10, ..segment(8) }, MSS, clock()) && short.is_full(MSS));
    }
}
