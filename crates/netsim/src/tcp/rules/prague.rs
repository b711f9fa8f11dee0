//! Prague: the sender for L4S queues (RFC 9330, 9331), DCTCP made fit for the Internet.
//!
//! Principle: a reduction takes half the smoothed share of marked segments, and what is not marked opens the window even
//! in the round trip of a reduction, so that the queue is steered by many small steps. A flow whose round trips are shorter
//! than 25 ms acts once in 25 ms, and opens its window as if its round trip was that long: marks then do not favour it
//! over flows from far away. Segments leave at one window per round trip. Cost per acknowledgement: O(1).
//!
//! Source: draft-briscoe-iccrg-prague-congestion-control-04, 2.3 and 2.4, whose numbers stand at the lines, and `tcp_prague`
//! of L4STeam/linux, which is its reference, for what it leaves open. Left out, as by default there: the detection of queues
//! that mark as RFC 3168 says; windows below two segments; bursts. With `ecn` off or classic it is Reno (3.1).

use units::Time;

use super::marks::MarkedShare;
use super::rule::{Feedback, Moment, Rule, Traits};
use crate::tcp::words::EcnMode;

/// RTT_virt_min: shorter round trips act as if they were that long (2.4.4).
const VIRTUAL_RTT: Time = Time::from_millis(25);
/// D: round trips of congestion avoidance before the dependence on the round-trip time is reduced (2.4.4): short transfers
/// have no share to keep from others.
const ROUNDS_BEFORE: u32 = 500;

/// State of Prague.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prague {
    share: MarkedShare,
    /// A mark was seen: there is a queue that marks (2.3.2).
    seen: bool,
    /// Slow start is over.
    avoids: bool,
    /// Round trips since.
    rounds: u32,
    /// When marks last reduced the window.
    cut: Time,
}

impl Rule for Prague {
    const TRAITS: Traits = Traits {
        counts: true,
        paced: true,
        pace: 1.0,
        needs_ecn: Some((
            &[EcnMode::L4s, EcnMode::Classic, EcnMode::Off],
            "used with tcp.ecn = l4s; off and classic make it Reno",
        )),
        ..Traits::PLAIN
    };

    fn idle() -> Prague {
        Prague { share: MarkedShare::unknown(), seen: false, avoids: false, rounds: 0, cut: Time::ZERO }
    }

    /// 2.4.3 and 2.4.4: a segment per round trip, less for those shorter than the virtual one by the square of their ratio:
    /// one for the rounds that come too often, one for the rate that a segment per round makes.
    #[inline]
    fn grown(&mut self, cwnd: f64, at: Moment) -> f64 {
        self.avoids = true;
        let ratio = if self.is_independent() { at.rtt_s / self.virtual_rtt(at.rtt_s).as_secs_f64() } else { 1.0 };
        cwnd + ratio * ratio / cwnd
    }

    /// 2.4.5: as Reno.
    fn reduced(&mut self, window: f64) -> f64 {
        self.avoids = true;
        window / 2.0
    }

    /// 2.4.2: once per round trip, and per virtual one.
    fn marked(&mut self, window: f64, at: Moment) -> Option<f64> {
        self.avoids = true;
        if self.is_independent() && at.now.saturating_sub(self.cut) < self.virtual_rtt(at.rtt_s) {
            return None;
        }
        self.cut = at.now;
        Some(window * (1.0 - self.share.smoothed / 2.0))
    }

    fn on_feedback(&mut self, feedback: &Feedback) {
        self.seen |= feedback.marked > 0;
        let shortest = if self.is_independent() { self.virtual_rtt(feedback.rtt_s) } else { Time::ZERO };
        if self.share.take(feedback, shortest, self.seen) && self.avoids {
            self.rounds = self.rounds.saturating_add(1);
        }
    }
}

impl Prague {
    fn is_independent(&self) -> bool {
        self.rounds >= ROUNDS_BEFORE
    }

    fn virtual_rtt(&self, rtt_s: f64) -> Time {
        Time((rtt_s * 1e9) as u64).max(VIRTUAL_RTT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(ms: u64, rtt_s: f64) -> Moment {
        Moment { now: Time::from_millis(ms), rtt_s, twentieth: false }
    }

    fn old(rounds: u32) -> Prague {
        Prague { rounds, avoids: true, ..Prague::idle() }
    }

    /// The rate of a flow of round-trip time R grows by (R / R_virt)^2 / R per R: as fast as with 25 ms.
    #[test]
    fn the_rate_of_a_short_path_grows_as_that_of_25_ms() {
        let mut slopes = Vec::new();
        for rtt_s in [0.005, 0.01, 0.025] {
            let (mut rule, mut cwnd) = (old(ROUNDS_BEFORE), 10_000.0 * rtt_s);
            let start = cwnd;
            let rounds = (1.0 / rtt_s) as u32;
            for _ in 0..rounds {
                for _ in 0..cwnd as u32 {
                    cwnd = rule.grown(cwnd, moment(1, rtt_s));
                }
            }
            slopes.push((cwnd - start) / rtt_s);
        }
        for slope in &slopes {
            // 40 segments per round trip of 25 ms, in one second: 1 / 0.025^2 segments per second more.
            assert!((slope / 1600.0 - 1.0).abs() < 0.05, "{slopes:?}");
        }
    }

    #[test]
    fn a_young_flow_grows_by_a_segment_per_round_whatever_its_round_trip_time() {
        let mut rule = old(ROUNDS_BEFORE - 1);
        assert_eq!(rule.grown(20.0, moment(1, 0.005)), 20.0 + 1.0 / 20.0);
    }

    #[test]
    fn an_old_flow_reacts_once_in_25_ms_and_a_young_one_whenever_asked() {
        for (rounds, second) in [(ROUNDS_BEFORE, None), (0, Some(25.0))] {
            let mut rule = old(rounds);
            assert_eq!(rule.marked(100.0, moment(100, 0.005)), Some(50.0), "the first mark halves");
            assert_eq!(rule.marked(50.0, moment(124, 0.005)), second);
            if second.is_none() {
                assert_eq!(rule.marked(50.0, moment(125, 0.005)), Some(25.0));
            }
        }
    }

    /// Until a mark is seen the share stays 1, however many round trips have none (2.3.2).
    #[test]
    fn rounds_before_the_first_mark_teach_nothing() {
        let mut rule = Prague::idle();
        for round in 1..100 {
            let una = 10 * round + 1;
            let now = Time::from_millis(u64::from(round) * 30);
            rule.on_feedback(&Feedback { acked: 10, marked: 0, una, max: una + 9, now, rtt_s: 0.03 });
        }
        assert_eq!(rule.share.smoothed, 1.0);
        let now = Time::from_millis(3000);
        rule.on_feedback(&Feedback { acked: 10, marked: 1, una: 1101, max: 1110, now, rtt_s: 0.03 });
        assert!((rule.share.smoothed - (1.0 - 0.9 / 16.0)).abs() < 1e-12, "{}", rule.share.smoothed);
    }
}
