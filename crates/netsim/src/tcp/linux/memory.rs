//! A sender and what its host remembers of the path: what it leaves behind, and what it begins with.

use units::Time;

use super::ca_state::State;
use super::clock::Jiffies;
use super::metrics::Metrics;
use super::sender::{INFINITE, REORDERING, Sender};
use crate::tcp::settings::{CachedMetrics, Tcp};

impl Sender {
    /// What the path is known by after this connection, with what was `known` of it before (`tcp_update_metrics`).
    pub(crate) fn learn(&self, known: Option<Metrics>, tcp: &Tcp, now: Time) -> Option<Metrics> {
        let srtt = self.estimator.srtt_us;
        if self.attempts > 0 || srtt == 0 {
            return known.map(|known| Metrics { rtt_us: 0, ..known });
        }
        let mut known = known.filter(|known| known.counts(now)).unwrap_or_default();
        // A time that grew is taken whole, one that fell by an eighth.
        known.rtt_us = if srtt >= known.rtt_us { srtt } else { known.rtt_us - ((known.rtt_us - srtt) >> 3) };
        known.written = now;
        let threshold = tcp.cached_metrics == CachedMetrics::Threshold;
        if self.ssthresh >= INFINITE {
            if threshold && known.ssthresh > 0 {
                known.ssthresh = known.ssthresh.max(self.cwnd >> 1);
            }
        } else if self.cwnd >= self.ssthresh && self.state == State::Open {
            if threshold {
                known.ssthresh = (self.cwnd >> 1).max(self.ssthresh);
            }
        } else {
            if threshold && known.ssthresh > 0 {
                known.ssthresh = known.ssthresh.max(self.ssthresh);
            }
            if self.reordering != REORDERING {
                known.reordering = known.reordering.max(self.reordering);
            }
        }
        Some(known)
    }

    /// A connection begins with what is known of its path (`tcp_init_metrics`).
    pub(super) fn recall(&mut self, tcp: &Tcp) {
        let Some(known) = self.known else { return };
        if known.ssthresh > 0 {
            self.ssthresh = known.ssthresh;
        }
        if known.reordering > 0 {
            self.reordering = known.reordering;
        }
        if known.rtt_us > self.estimator.srtt_us {
            let rtt: Jiffies = self.clock.whole_jiffies(u64::from(known.rtt_us / 8));
            self.rto = rtt + (2 * rtt).max(self.clock.in_jiffies(tcp.min_rto.0 / 1000));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::tcp::sender::tests::tcp;
    use crate::tcp::settings::Recovery;

    const HOUR: Time = crate::tcp::linux::metrics::LASTS;

    /// A sender whose smoothed round-trip time is `ms`, in congestion avoidance with a window of 40 and a threshold of 15.
    fn after(ms: u32, cached_metrics: CachedMetrics) -> (Sender, Tcp) {
        let tcp = Tcp { cached_metrics, recovery: Recovery::Linux, tick: Time::from_millis(4), ..tcp() };
        let mut sender = Sender::idle(&tcp);
        sender.estimator.sample(ms * 1000, 1, 2, 200_000);
        (sender.cwnd, sender.ssthresh) = (40, 15);
        (sender, tcp)
    }

    #[test]
    fn a_time_that_grew_is_kept_whole_and_one_that_fell_by_an_eighth() {
        let kept = |ms, known: Option<Metrics>| {
            let (sender, tcp) = after(ms, CachedMetrics::Linux);
            sender.learn(known, &tcp, Time::ZERO)
        };
        let first = kept(80, None).unwrap();
        assert_eq!((first.rtt_us / 8, first.ssthresh, first.reordering), (80_000, 0, 0));
        assert_eq!(kept(90, Some(first)).unwrap().rtt_us / 8, 90_000);
        assert_eq!(kept(40, Some(first)).unwrap().rtt_us / 8, 75_000);
    }

    #[test]
    fn the_threshold_is_kept_when_asked_for_and_an_entry_counts_for_an_hour() {
        let (sender, tcp) = after(80, CachedMetrics::Threshold);
        let known = sender.learn(None, &tcp, Time::ZERO).unwrap();
        assert_eq!(known.ssthresh, 20);
        assert!(known.counts(HOUR) && !known.counts(HOUR + Time(1)));
        let (mut next, _) = after(20, CachedMetrics::Threshold);
        next.known = Some(known);
        next.recall(&tcp);
        // 80 ms and twice as much, or 200 ms at least, in jiffies of 4 ms.
        assert_eq!((next.ssthresh, next.rto), (20, 20 + 50));
    }

    #[test]
    fn a_connection_that_learnt_no_time_forgets_that_of_others() {
        let (sender, tcp) = after(80, CachedMetrics::Linux);
        let known = sender.learn(None, &tcp, Time::ZERO);
        assert_eq!(Sender::idle(&tcp).learn(known, &tcp, Time::ZERO).unwrap().rtt_us, 0);
        assert_eq!(Sender::idle(&tcp).learn(None, &tcp, Time::ZERO), None);
    }
}
