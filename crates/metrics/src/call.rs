//! Calls: both directions of one, and the mean of several.

use serde::Serialize;

use crate::observed::Observed;
use crate::order::mean;
use crate::ping::UNDER_WAY_S;
use crate::playout::{Heard, Pair, Window, jitter_s, windows};
use crate::student::student_ci95;

/// Where the packets of a call come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize))]
#[cfg_attr(feature = "schema", schemars(rename = "CallOrigin"))]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Probes.
    Synthetic,
    /// Calls of the workload.
    Workload,
    /// Calls of the capture.
    Capture,
}

/// One direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "CallWay"))]
pub struct Way {
    /// Mean delay of the network, one way, milliseconds.
    pub delay_ms: Option<f64>,
    /// Mean interarrival jitter, milliseconds.
    pub jitter_ms: Option<f64>,
    /// Share that the network lost.
    pub loss: Option<f64>,
    /// Share that came after its deadline.
    pub late: Option<f64>,
    /// Mean opinion score, the mean over the windows of the playout buffer.
    pub mos: Option<f64>,
}

/// A call, or the mean of several.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Call {
    /// Where the packets come from.
    pub from: Origin,
    /// How many; `None` of a synthetic one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Toward the internal side.
    pub down: Way,
    /// From it.
    pub up: Way,
    /// Of the worse direction.
    pub mos: Option<f64>,
    /// 95 % interval of it: Student's over the windows of one call, or over the calls.
    pub mos_ci95: Option<[f64; 2]>,
    /// Whether only packets sent in busy seconds count; `None` unless synthetic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub while_busy: Option<bool>,
    /// Mean opinion score of the whole call; `None` unless synthetic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mos_all: Option<f64>,
}

/// Ends of the scale of the E-model.
const MOS_SCALE: [f64; 2] = [1.0, 4.5];

fn way(runs: &[Vec<Heard>], windows: &[Window]) -> Way {
    let delays: Vec<Vec<Option<f64>>> = runs.iter().map(|run| run.iter().map(Heard::delay_s).collect()).collect();
    let all = || delays.iter().flatten().copied();
    let lost = all().filter(Option::is_none).count() as f64 / all().count() as f64;
    let missing = mean(windows.iter().map(|window| Some(window.missing)));
    Way {
        delay_ms: mean(all()).map(|delay_s| 1e3 * delay_s),
        jitter_ms: mean(delays.iter().map(|run| jitter_s(run))).map(|jitter_s| 1e3 * jitter_s),
        loss: Some(lost),
        late: missing.map(|missing| (missing - lost).max(0.0)),
        mos: mean(windows.iter().map(|window| Some(window.opinion()))),
    }
}

/// One direction, of packets in order of sending, run by run; `None` without packets.
pub fn direction(runs: &[Vec<Heard>]) -> Option<Way> {
    let played: Vec<Window> = runs.iter().flat_map(|run| windows(run)).collect();
    runs.iter().any(|run| !run.is_empty()).then(|| way(runs, &played))
}

/// A call of packets in order of sending, each direction, run by run; `None` without packets in one of them.
pub fn call(from: Origin, down: &[Vec<Heard>], up: &[Vec<Heard>]) -> Option<Call> {
    let both = [down, up];
    if both.iter().any(|runs| runs.iter().all(Vec::is_empty)) {
        return None;
    }
    let played = both.map(|runs| runs.iter().flat_map(|run| windows(run)).collect::<Vec<_>>());
    let ways = [way(down, &played[0]), way(up, &played[1])];
    let worse = usize::from(ways[1].mos.unwrap_or(0.0) < ways[0].mos.unwrap_or(0.0));
    let opinions: Vec<f64> = played[worse].iter().map(Window::opinion).collect();
    let on_scale = |[low, high]: [f64; 2]| [low.max(MOS_SCALE[0]), high.min(MOS_SCALE[1])];
    let mos_ci95 = student_ci95(&opinions).map(on_scale);
    Some(Call {
        from,
        calls: None,
        down: ways[0],
        up: ways[1],
        mos: ways[worse].mos,
        mos_ci95,
        while_busy: None,
        mos_all: None,
    })
}

/// Several calls, each figure the mean over them; of one call its own interval. `None` without any.
pub fn mean_call(from: Origin, calls: &[Call]) -> Option<Call> {
    let first = calls.first()?;
    let of = |value: &dyn Fn(&Call) -> Option<f64>| mean(calls.iter().map(value));
    let ways = [|call: &Call| call.down, |call: &Call| call.up].map(|way| Way {
        delay_ms: of(&|call| way(call).delay_ms),
        jitter_ms: of(&|call| way(call).jitter_ms),
        loss: of(&|call| way(call).loss),
        late: of(&|call| way(call).late),
        mos: of(&|call| way(call).mos),
    });
    let opinions: Vec<f64> = calls.iter().filter_map(|call| call.mos).collect();
    let mos_ci95 = if calls.len() > 1 { student_ci95(&opinions) } else { first.mos_ci95 };
    Some(Call {
        from,
        calls: Some(calls.len() as u64),
        down: ways[0],
        up: ways[1],
        mos: mean(opinions.iter().map(|&mos| Some(mos))),
        mos_ci95,
        while_busy: None,
        mos_all: None,
    })
}

/// The calls of the captures, else those of the workloads, else the synthetic one. That counts while the link was busy
/// where `while_busy` says so; when not given there, or over all of the time where the link never was.
pub(crate) fn of_runs(runs: &[&Observed], (begin_s, end_s): (f64, f64), while_busy: Option<bool>) -> Option<Call> {
    let counted = |packets: &Vec<Heard>| -> Vec<Heard> {
        let counts = |packet: &&Heard| {
            packet.sent_s >= begin_s && (packet.received_s.is_some() || packet.sent_s < end_s - UNDER_WAY_S)
        };
        let mut own: Vec<Heard> = packets.iter().filter(counts).copied().collect();
        own.sort_by(|a, b| a.sent_s.total_cmp(&b.sent_s));
        own
    };
    let of = |from: Origin, pairs: &mut dyn Iterator<Item = &Pair>| {
        let each = pairs.filter_map(|[down, up]| call(from, &[counted(down)], &[counted(up)]));
        mean_call(from, &each.collect::<Vec<_>>())
    };
    let from_traffic = match runs.iter().all(|run| run.captured_calls.is_empty()) {
        false => of(Origin::Capture, &mut runs.iter().flat_map(|run| &run.captured_calls)),
        true => of(Origin::Workload, &mut runs.iter().flat_map(|run| &run.workload_calls)),
    };
    from_traffic.or_else(|| {
        let [down, up] = [0, 1].map(|way| runs.iter().map(|run| counted(&run.synthetic_call[way])).collect::<Vec<_>>());
        let whole = call(Origin::Synthetic, &down, &up)?;
        let joined = |ways: &[Vec<Heard>]| -> Vec<Vec<Heard>> {
            runs.iter().zip(ways).map(|(run, packets)| run.busy.joined(packets)).collect()
        };
        let loaded = call(Origin::Synthetic, &joined(&down), &joined(&up));
        let own = match while_busy {
            None => loaded.unwrap_or(whole),
            Some(true) => loaded?,
            Some(false) => whole,
        };
        let while_busy = while_busy.unwrap_or(loaded.is_some());
        Some(Call { while_busy: Some(while_busy), mos_all: whole.mos, ..own })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(delay_s: f64) -> Vec<Heard> {
        let at = |n: u32| 0.02 * f64::from(n);
        (0..1500).map(|n| Heard { sent_s: at(n), received_s: Some(at(n) + delay_s) }).collect()
    }

    #[test]
    fn a_call_is_as_good_as_its_worse_direction() {
        let found = call(Origin::Synthetic, &[steady(0.01)], &[steady(0.3)]).expect("both directions");
        assert_eq!(found.mos, found.up.mos);
        assert!(found.down.mos > found.up.mos);
        assert!((found.up.delay_ms.expect("arrived") - 300.0).abs() < 1e-9);
        assert_eq!(call(Origin::Synthetic, &[steady(0.01)], &[Vec::new()]), None);
    }

    #[test]
    fn of_several_calls_each_figure_is_the_mean() {
        let one = |delay| call(Origin::Capture, &[steady(delay)], &[steady(delay)]).expect("a call");
        let calls = [0.01, 0.03].map(one);
        let found = mean_call(Origin::Capture, &calls).expect("calls");
        assert_eq!(found.calls, Some(2));
        assert!((found.down.delay_ms.expect("arrived") - 20.0).abs() < 1e-9);
        assert!(found.mos_ci95.is_some());
        assert_eq!(mean_call(Origin::Capture, &[]), None);
    }

    #[test]
    fn the_interval_of_an_opinion_stays_on_the_scale() {
        // Two windows, one of them good and one not: Student's t with one degree of freedom reaches far beyond both ends.
        let mut late = steady(0.03);
        late.truncate(1000);
        late[500..].iter_mut().for_each(|packet| packet.received_s = Some(packet.sent_s + 0.35));
        let found = call(Origin::Synthetic, &[late[..500].to_vec()], &[late]).expect("both directions");
        let ([low, high], mos) = (found.mos_ci95.expect("two windows"), found.mos.expect("packets"));
        assert!(1.0 <= low && low <= mos && mos <= high && high <= 4.5 && high - low > 1.0);
    }

    #[test]
    fn lost_and_late_packets_are_counted_apart_and_runs_are_windows_of_one_call() {
        let mut up = steady(0.03);
        up.iter_mut().step_by(50).for_each(|packet| packet.received_s = Some(packet.sent_s + 1.0));
        up.iter_mut().skip(1).step_by(100).for_each(|packet| packet.received_s = None);
        let one = call(Origin::Synthetic, &[steady(0.03)], &[up.clone()]).expect("both directions");
        assert!((one.up.loss.expect("sent") - 0.01).abs() < 1e-12 && (one.up.late.expect("sent") - 0.02).abs() < 1e-12);
        assert_eq!(one.mos, one.up.mos);
        let two = call(Origin::Synthetic, &[steady(0.03), steady(0.03)], &[up.clone(), up]).expect("both directions");
        assert!((two.up.mos.expect("sent") - one.up.mos.expect("sent")).abs() < 1e-12);
        assert!((two.up.jitter_ms.expect("sent") - one.up.jitter_ms.expect("sent")).abs() < 1e-9);
    }
}
