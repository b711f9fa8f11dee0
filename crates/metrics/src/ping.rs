//! Ping under load: round-trip times of the probe, and the grade of their increase over the idle link.

use netsim::ProbePacket;
use serde::Serialize;
use units::Time;

use crate::order::{percentile, percentile_ci95, sorted};
use crate::ran::known;

/// What was sent so shortly before the end of the run and did not come may be on its way, and does not count, seconds.
pub(crate) const UNDER_WAY_S: f64 = 1.0;

/// Grades by the increase of the mean, milliseconds, below which they are given: those of the public tests for
/// bufferbloat (docs/users.md).
const GRADES: [(&str, f64); 5] = [("A+", 5.0), ("A", 30.0), ("B", 60.0), ("C", 200.0), ("D", 400.0)];

/// Round-trip times of the pings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ping {
    /// Packets that count.
    pub probes: u64,
    /// Round trip on the idle link, milliseconds.
    pub idle_ms: f64,
    /// Mean of those that returned, milliseconds.
    pub mean_ms: Option<f64>,
    /// Median of these, milliseconds.
    pub p50_ms: Option<f64>,
    /// 95 of 100 of these take at most this, milliseconds.
    pub p95_ms: Option<f64>,
    /// 99 of 100 of these take at most this, milliseconds.
    pub p99_ms: Option<f64>,
    /// 95 % interval of `p95_ms`, milliseconds.
    pub p95_ci95: Option<[f64; 2]>,
    /// Share that did not return.
    pub loss: f64,
    /// Of the increase of the mean over the idle link.
    pub grade: &'static str,
}

/// Grade of a ping whose mean under load is so much above that of the idle link.
///
/// ```
/// let grades = [4.9, 5.0, 59.0, 199.0, 399.0, 400.0].map(metrics::grade);
/// assert_eq!(grades, ["A+", "A", "B", "C", "D", "F"]);
/// ```
pub fn grade(increase_ms: f64) -> &'static str {
    GRADES.iter().find(|(_, below)| increase_ms < *below).map_or("F", |(name, _)| name)
}

/// Of packets sent from `begin_s` on; `None` without any.
pub(crate) fn ping<'p>(
    packets: impl Iterator<Item = &'p ProbePacket>,
    idle: Time,
    begin_s: f64,
    end_s: f64,
) -> Option<Ping> {
    let idle_ms = 1e3 * idle.as_secs_f64();
    let (mut probes, mut times) = (0_u64, Vec::new());
    for packet in packets.filter(|packet| packet.sent.as_secs_f64() >= begin_s) {
        let sent_s = packet.sent.as_secs_f64();
        let returned_s = known(packet.returned);
        if returned_s.is_some() || sent_s < end_s - UNDER_WAY_S {
            probes += 1;
            times.extend(returned_s.map(|returned_s| 1e3 * (returned_s - sent_s)));
        }
    }
    let times = sorted(times);
    let mean_ms = (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64);
    (probes > 0).then(|| Ping {
        probes,
        idle_ms,
        mean_ms,
        p50_ms: percentile(&times, 0.5),
        p95_ms: percentile(&times, 0.95),
        p99_ms: percentile(&times, 0.99),
        p95_ci95: percentile_ci95(&times, 0.95),
        loss: 1.0 - times.len() as f64 / probes as f64,
        grade: mean_ms.map_or("F", |mean_ms| grade(mean_ms - idle_ms)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(sent_ms: u64, returned_ms: Option<u64>) -> ProbePacket {
        let returned = returned_ms.map_or(Time::NEVER, Time::from_millis);
        ProbePacket { flow: 0, number: 0, sent: Time::from_millis(sent_ms), received: Time::NEVER, returned }
    }

    #[test]
    fn what_may_be_under_way_does_not_count_as_lost() {
        let packets = [packet(0, Some(20)), packet(1000, None), packet(9_500, None), packet(9_600, Some(9_640))];
        let found = ping(packets.iter(), Time::from_millis(20), 0.0, 10.0).expect("pings");
        assert_eq!(found.probes, 3);
        assert!((found.loss - 1.0 / 3.0).abs() < 1e-15);
        assert!((found.mean_ms.expect("two returned") - 30.0).abs() < 1e-9);
        assert_eq!(found.grade, "A");
    }

    #[test]
    fn of_none_that_returns_the_grade_is_the_worst() {
        let packets = [packet(0, None), packet(100, None)];
        let found = ping(packets.iter(), Time::from_millis(20), 0.05, 10.0).expect("pings");
        assert_eq!((found.probes, found.mean_ms, found.p95_ms, found.loss, found.grade), (1, None, None, 1.0, "F"));
        assert_eq!(ping(packets.iter(), Time::from_millis(20), 1.0, 10.0), None);
    }
}
