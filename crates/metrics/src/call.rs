//! Calls: both directions of one, and the mean of several.

use serde::Serialize;

use crate::facts::ProbeName;
use crate::order::mean;
use crate::ping::UNDER_WAY_S;
use crate::playout::{Heard, Window, jitter_s, windows};
use crate::ran::{Ran, known};
use crate::speech;
use crate::student::student_ci95;

/// Where the packets of a call come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
}

/// Ends of the scale of the E-model.
const MOS_SCALE: [f64; 2] = [1.0, 4.5];

fn way(packets: &[Heard], windows: &[Window]) -> Way {
    let delays: Vec<Option<f64>> =
        packets.iter().map(|packet| packet.received_s.map(|received_s| received_s - packet.sent_s)).collect();
    let lost = delays.iter().filter(|delay| delay.is_none()).count() as f64 / delays.len() as f64;
    let missing = mean(windows.iter().map(|window| Some(window.missing)));
    Way {
        delay_ms: mean(delays.iter().copied()).map(|delay_s| 1e3 * delay_s),
        jitter_ms: jitter_s(&delays).map(|jitter_s| 1e3 * jitter_s),
        loss: Some(lost),
        late: missing.map(|missing| (missing - lost).max(0.0)),
        mos: mean(windows.iter().map(|window| Some(window.opinion()))),
    }
}

/// A call of packets in order of sending, each direction; `None` without packets in one of them.
pub fn call(from: Origin, down: &[Heard], up: &[Heard]) -> Option<Call> {
    if down.is_empty() || up.is_empty() {
        return None;
    }
    let played = [down, up].map(windows);
    let ways = [way(down, &played[0]), way(up, &played[1])];
    let worse = usize::from(ways[1].mos.unwrap_or(0.0) < ways[0].mos.unwrap_or(0.0));
    let opinions: Vec<f64> = played[worse].iter().map(Window::opinion).collect();
    let on_scale = |[low, high]: [f64; 2]| [low.max(MOS_SCALE[0]), high.min(MOS_SCALE[1])];
    let mos_ci95 = student_ci95(&opinions).map(on_scale);
    Some(Call { from, calls: None, down: ways[0], up: ways[1], mos: ways[worse].mos, mos_ci95 })
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
    })
}

/// The calls of a capture, else those of the workload, else the synthetic one.
pub(crate) fn of_run(ran: &Ran<'_>) -> Option<Call> {
    let (begin_s, end_s) = ran.span_s();
    let counted = |packets: Vec<Heard>| -> Vec<Heard> {
        let mut kept = packets;
        kept.retain(|packet| {
            packet.sent_s >= begin_s && (packet.received_s.is_some() || packet.sent_s < end_s - UNDER_WAY_S)
        });
        kept.sort_by(|a, b| a.sent_s.total_cmp(&b.sent_s));
        kept
    };
    let of = |from: Origin, pairs: Vec<[Vec<Heard>; 2]>| {
        let each = pairs.into_iter().filter_map(|[down, up]| call(from, &counted(down), &counted(up)));
        mean_call(from, &each.collect::<Vec<_>>())
    };
    let captured = speech::of_capture(ran);
    let from_traffic = match captured.is_empty() {
        false => of(Origin::Capture, captured),
        true => of(Origin::Workload, speech::of_workload(ran)),
    };
    from_traffic.or_else(|| {
        let heard = |name| {
            let packets = ran.probe(name);
            let heard = packets.map(|one| Heard { sent_s: one.sent.as_secs_f64(), received_s: known(one.received) });
            counted(heard.collect())
        };
        call(Origin::Synthetic, &heard(ProbeName::CallDown), &heard(ProbeName::CallUp))
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
        let found = call(Origin::Synthetic, &steady(0.01), &steady(0.3)).expect("both directions");
        assert_eq!(found.mos, found.up.mos);
        assert!(found.down.mos > found.up.mos);
        assert!((found.up.delay_ms.expect("arrived") - 300.0).abs() < 1e-9);
        assert_eq!(call(Origin::Synthetic, &steady(0.01), &[]), None);
    }

    #[test]
    fn of_several_calls_each_figure_is_the_mean() {
        let calls = [0.01, 0.03].map(|delay| call(Origin::Capture, &steady(delay), &steady(delay)).expect("a call"));
        let found = mean_call(Origin::Capture, &calls).expect("calls");
        assert_eq!(found.calls, Some(2));
        assert!((found.down.delay_ms.expect("arrived") - 20.0).abs() < 1e-9);
        assert!(found.mos_ci95.is_some());
        assert_eq!(mean_call(Origin::Capture, &[]), None);
    }
}
