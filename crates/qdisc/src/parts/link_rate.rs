//! The rate of the link, which no queue is told: from the time between packets that are handed out one behind the other.
//!
//! While packets wait, the link asks for the next one when it has sent the one before. Half of what was measured counts on, so that
//! the rate follows a link that changes. Cost: O(1) per packet.

use units::Time;

/// Bytes over which the rate is measured.
const MEASURED: u64 = 30_000;

/// What was sent one packet behind the other, lately.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent {
    /// When the packet in transmission was handed out, if others waited behind it, and its bytes.
    since: Option<(Time, u32)>,
    bytes: u64,
    /// The time that took, ns.
    time: u64,
}

impl Sent {
    /// The link is free at `now`, and asks for a packet. Bytes, and the time they took, ns, when that is enough to tell the rate.
    #[inline]
    pub(crate) fn is_free(&mut self, now: Time) -> Option<(u64, u64)> {
        let (then, bytes) = self.since.take()?;
        self.bytes += u64::from(bytes);
        self.time += now.saturating_sub(then).0;
        let found = (self.bytes, self.time);
        (found.0 >= 2 * MEASURED).then(|| {
            (self.bytes, self.time) = (found.0 / 2, found.1 / 2);
            found
        })
    }

    /// A packet of `bytes` is handed out at `now`; others wait behind it or none do.
    #[inline]
    pub(crate) fn sends(&mut self, bytes: u32, now: Time, others_wait: bool) {
        self.since = others_wait.then_some((now, bytes));
    }
}

/// A rate that is measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkRate {
    sent: Sent,
    /// Time for a byte, ns; 0 while unknown.
    ns_per_byte: f64,
}

impl LinkRate {
    /// The link is free at `now`, and asks for a packet.
    #[inline]
    pub(crate) fn is_free(&mut self, now: Time) {
        if let Some((bytes, time)) = self.sent.is_free(now) {
            self.ns_per_byte = time as f64 / bytes as f64;
        }
    }

    /// A packet of `bytes` is handed out at `now`; others wait behind it or none do.
    #[inline]
    pub(crate) fn sends(&mut self, bytes: u32, now: Time, others_wait: bool) {
        self.sent.sends(bytes, now, others_wait);
    }

    /// Time that `bytes` take on the link; zero while the rate is unknown.
    #[inline]
    pub(crate) fn time_for(&self, bytes: u32) -> Time {
        Time((f64::from(bytes) * self.ns_per_byte) as u64)
    }

    /// Bytes that the link can send in `time`; zero while the rate is unknown.
    #[inline]
    pub(crate) fn bytes_in(&self, time: Time) -> u64 {
        if self.ns_per_byte > 0.0 { (time.0 as f64 / self.ns_per_byte) as u64 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends 1500 bytes every `gap` ns from `from` on, `packets` times; others wait or none do. When the last one is sent.
    fn send(rate: &mut LinkRate, from: u64, gap: u64, packets: u64, others_wait: bool) -> u64 {
        for n in 0..packets {
            rate.is_free(Time(from + n * gap));
            rate.sends(1500, Time(from + n * gap), others_wait);
        }
        from + packets * gap
    }

    #[test]
    fn the_rate_is_that_of_packets_one_behind_the_other_and_follows_the_link() {
        let mut rate = LinkRate::default();
        assert_eq!((rate.time_for(1500), rate.bytes_in(Time(1_000_000))), (Time::ZERO, 0), "unknown");
        // 10 Mb/s: 1.2 ms for a packet.
        let end = send(&mut rate, 0, 1_200_000, 50, true);
        assert_eq!((rate.time_for(1500), rate.bytes_in(Time(1_200_000))), (Time(1_200_000), 1500));
        let end = send(&mut rate, end, 50_000_000, 100, false);
        assert_eq!(rate.time_for(1500), Time(1_200_000), "pauses tell nothing");
        send(&mut rate, end, 2_400_000, 400, true);
        assert!(rate.time_for(1500).0.abs_diff(2_400_000) < 24_000, "{rate:?}");
    }
}
