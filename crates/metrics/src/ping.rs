//! Ping while the link is busy: round-trip times of the probe, and the grade of their increase over the idle link.

use netsim::ProbePacket;
use serde::Serialize;

use crate::busy::Busy;
use crate::order::{percentile, percentile_ci95, sorted};
use crate::run_view::known;

/// What was sent so shortly before the end of the run and did not come may be on its way, and does not count, seconds.
pub(crate) const UNDER_WAY_S: f64 = 1.0;

/// How far a ping rises over the idle link: the grades of DSLReports' test for bufferbloat (docs/users.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize))]
pub enum Grade {
    /// Below 5 ms.
    #[serde(rename = "A+")]
    APlus,
    /// Below 30 ms.
    A,
    /// Below 60 ms.
    B,
    /// Below 200 ms.
    C,
    /// Below 400 ms.
    D,
    /// From 400 ms on.
    F,
}

/// Grades by the increase of the mean, milliseconds, below which they are given (DSLReports, FAQ 17930).
const GRADES: [(Grade, f64); 5] =
    [(Grade::APlus, 5.0), (Grade::A, 30.0), (Grade::B, 60.0), (Grade::C, 200.0), (Grade::D, 400.0)];

/// Round-trip times of the pings that were sent in busy seconds; of all pings where there are none of those.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Ping {
    /// Packets that count.
    pub probes: u64,
    /// Round trip on the idle link, milliseconds.
    pub idle_ms: f64,
    /// Whether only pings sent in busy seconds count.
    pub while_busy: bool,
    /// Share of all pings that were sent in busy seconds: that of the time for which the link was busy. `None` where
    /// nothing is known of the link.
    pub busy_share: Option<f64>,
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
    /// Of the increase of the mean over the idle link; `None` where the figures are not of busy seconds.
    pub grade: Option<Grade>,
    /// Mean of all pings that returned, milliseconds.
    pub mean_all_ms: Option<f64>,
    /// 95 of 100 of all pings take at most this, milliseconds.
    pub p95_all_ms: Option<f64>,
}

/// Grade of a ping whose mean under load is so much above that of the idle link.
///
/// ```
/// use metrics::Grade::{A, APlus, B, C, D, F};
///
/// let grades = [4.9, 5.0, 59.0, 199.0, 399.0, 400.0].map(metrics::grade);
/// assert_eq!(grades, [APlus, A, B, C, D, F]);
/// ```
pub fn grade(increase_ms: f64) -> Grade {
    GRADES.iter().find(|(_, below)| increase_ms < *below).map_or(Grade::F, |&(grade, _)| grade)
}

/// Of one run up to `end_s` without a warm-up, of whose link nothing is known; `None` without packets.
pub fn pings(packets: &[ProbePacket], idle_s: f64, end_s: f64) -> Option<Ping> {
    ping(&[(packets, &Busy::default())], idle_s, (0.0, end_s), None)
}

/// Of packets sent from the begin of `span` on, run by run with the busy seconds of each. Whether only busy seconds count
/// is `while_busy`; when not given they do where there are any. `None` without any that counts.
pub(crate) fn ping(
    runs: &[(&[ProbePacket], &Busy)],
    idle_s: f64,
    (begin_s, end_s): (f64, f64),
    while_busy: Option<bool>,
) -> Option<Ping> {
    let idle_ms = 1e3 * idle_s;
    let counted = |packet: &&ProbePacket| {
        let sent_s = packet.sent.as_secs_f64();
        sent_s >= begin_s && (known(packet.returned).is_some() || sent_s < end_s - UNDER_WAY_S)
    };
    let (mut all, mut loaded): (Vec<&ProbePacket>, Vec<&ProbePacket>) = (Vec::new(), Vec::new());
    for (packets, busy) in runs {
        let from = all.len();
        all.extend(packets.iter().filter(counted));
        loaded.extend(all[from..].iter().filter(|packet| busy.at(packet.sent.as_secs_f64())));
    }
    if all.is_empty() {
        return None;
    }
    let while_busy = while_busy.unwrap_or(!loaded.is_empty());
    let is_known = runs.iter().any(|(_, busy)| busy.is_known());
    let busy_share = is_known.then(|| loaded.len() as f64 / all.len() as f64);
    let of_all = times_ms(&all);
    let probes = if while_busy { loaded.len() } else { all.len() } as u64;
    let times = if while_busy { times_ms(&loaded) } else { of_all.clone() };
    let mean_ms = mean(&times);
    (probes > 0).then(|| Ping {
        probes,
        idle_ms,
        while_busy,
        busy_share,
        mean_ms,
        p50_ms: percentile(&times, 0.5),
        p95_ms: percentile(&times, 0.95),
        p99_ms: percentile(&times, 0.99),
        p95_ci95: percentile_ci95(&times, 0.95),
        loss: 1.0 - times.len() as f64 / probes as f64,
        grade: while_busy.then(|| mean_ms.map_or(Grade::F, |mean_ms| grade(mean_ms - idle_ms))),
        mean_all_ms: mean(&of_all),
        p95_all_ms: percentile(&of_all, 0.95),
    })
}

/// Round-trip times of those that returned, ascending, milliseconds.
fn times_ms(packets: &[&ProbePacket]) -> Vec<f64> {
    let back = packets.iter().filter_map(|packet| Some(known(packet.returned)? - packet.sent.as_secs_f64()));
    sorted(back.map(|taken_s| 1e3 * taken_s).collect())
}

fn mean(times: &[f64]) -> Option<f64> {
    (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
}

#[cfg(test)]
mod tests {
    use netsim::{LinkSecond, Output};
    use units::Time;

    use super::*;

    fn packet(sent_ms: u64, returned_ms: Option<u64>) -> ProbePacket {
        let returned = returned_ms.map_or(Time::NEVER, Time::from_millis);
        ProbePacket { flow: 0, number: 0, sent: Time::from_millis(sent_ms), received: Time::NEVER, returned }
    }

    #[test]
    fn what_may_be_under_way_does_not_count_as_lost() {
        let packets = [packet(0, Some(20)), packet(1000, None), packet(9_500, None), packet(9_600, Some(9_640))];
        let found = ping(&[(&packets, &Busy::default())], 0.02, (0.0, 10.0), None).expect("pings");
        assert_eq!(found.probes, 3);
        assert!((found.loss - 1.0 / 3.0).abs() < 1e-15);
        assert!((found.mean_ms.expect("two returned") - 30.0).abs() < 1e-9);
        // Nothing is known of the link, and a grade is of one that is full.
        assert_eq!(found.grade, None);
    }

    #[test]
    fn of_none_that_returns_the_grade_is_the_worst() {
        let packets = [packet(0, None), packet(100, None)];
        let full = Busy::of(&Output {
            seconds: vec![LinkSecond { second: 0, forward: 1.0, reverse: 0.0 }],
            ..Output::default()
        });
        let found = ping(&[(&packets, &full)], 0.02, (0.05, 10.0), None).expect("pings");
        assert_eq!(
            (found.probes, found.mean_ms, found.p95_ms, found.loss, found.grade),
            (1, None, None, 1.0, Some(Grade::F))
        );
        assert_eq!(ping(&[(&packets, &Busy::default())], 0.02, (1.0, 10.0), None), None);
    }

    #[test]
    fn a_ping_counts_while_the_link_is_busy() {
        let seconds = [0.1, 0.9, 0.2, 0.2].iter().zip(0..);
        let seconds = seconds.map(|(&forward, second)| LinkSecond { second, forward, reverse: 0.0 }).collect();
        let busy = Busy::of(&Output { seconds, ..Output::default() });
        let packets =
            [packet(500, Some(520)), packet(1500, Some(1700)), packet(2500, Some(2520)), packet(3500, Some(3520))];
        let found = ping(&[(&packets, &busy)], 0.02, (0.0, 10.0), None).expect("pings");
        assert_eq!(
            (found.probes, found.while_busy, found.busy_share, found.grade),
            (1, true, Some(0.25), Some(Grade::C))
        );
        assert!((found.p95_ms.expect("one") - 200.0).abs() < 1e-9);
        assert!((found.mean_all_ms.expect("four") - 65.0).abs() < 1e-9);
        let idle = ping(&[(&packets[..1], &busy)], 0.02, (0.0, 10.0), None).expect("a ping");
        assert_eq!((idle.probes, idle.while_busy, idle.busy_share, idle.grade), (1, false, Some(0.0), None));
        // Two runs are measured as one, and who compares them may ask for all of the time.
        let two = [(&packets[..2], &busy), (&packets[..2], &busy)];
        let of = |asked| ping(&two, 0.02, (0.0, 10.0), asked).expect("pings");
        assert_eq!([None, Some(true), Some(false)].map(|asked| of(asked).probes), [2, 2, 4]);
        assert_eq!(ping(&[(&packets[..1], &busy)], 0.02, (0.0, 10.0), Some(true)), None);
    }
}
