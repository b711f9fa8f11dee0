//! Games in a capture, and their lag: what it takes a packet of one end to arrive, and the first one that the other end sends
//! then to come back. Where the rules come from: `docs/users.md`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::order::{percentile, sorted};
use crate::stream_class::{Datagram, StreamClass, Streaming};

/// Games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Games {
    /// How many.
    pub count: u64,
    /// Median lag, there and back without the time between two updates, milliseconds.
    pub lag_p50_ms: Option<f64>,
    /// 95 of 100 are at most this, milliseconds.
    pub lag_p95_ms: Option<f64>,
    /// 95 % interval of `lag_p95_ms`; `None` of one run.
    pub lag_p95_ci95: Option<[f64; 2]>,
}

/// Lags of one game, seconds.
pub(crate) type Lags = Vec<f64>;

/// The games among the streams of a run.
pub(crate) fn of_run(all: &[Streaming]) -> Vec<Lags> {
    let mut ways: BTreeMap<u32, [&[Datagram]; 2]> = BTreeMap::new();
    for one in all.iter().filter(|one| one.class == StreamClass::Game && one.is_heard) {
        ways.entry(one.connection).or_default()[usize::from(one.up)] = &one.packets;
    }
    ways.into_values().map(|[down, up]| lags(up, down)).collect()
}

/// `None` without a game.
pub(crate) fn games<'a>(all: impl Iterator<Item = &'a Lags>) -> Option<Games> {
    let all: Vec<&Lags> = all.collect();
    let times = sorted(all.iter().flat_map(|one| one.iter()).map(|lag_s| 1e3 * lag_s).collect());
    (!all.is_empty()).then(|| Games {
        count: all.len() as u64,
        lag_p50_ms: percentile(&times, 0.5),
        lag_p95_ms: percentile(&times, 0.95),
        lag_p95_ci95: None,
    })
}

/// Lags of the packets of one end that arrive, in order of sending, each answered by the first packet that the other end
/// sends after it came, and that arrives.
fn lags(there: &[Datagram], back: &[Datagram]) -> Lags {
    let answers: Vec<(f64, f64)> =
        back.iter().filter_map(|packet| Some((packet.sent_s, packet.received_s? - packet.sent_s))).collect();
    let lag = |packet: &Datagram| {
        let received_s = packet.received_s?;
        let &(_, back_s) = answers.get(answers.partition_point(|&(sent_s, _)| sent_s < received_s))?;
        Some(received_s - packet.sent_s + back_s)
    };
    there.iter().filter_map(lag).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(gap_s: f64, delay_s: impl Fn(f64) -> Option<f64>) -> Vec<Datagram> {
        let at = |n: u32| f64::from(n) * gap_s;
        let packet =
            |n: u32| Datagram { sent_s: at(n), received_s: delay_s(at(n)).map(|own_s| at(n) + own_s), len: 90 };
        (0..(60.0 / gap_s) as u32).map(packet).collect()
    }

    #[test]
    fn the_lag_is_there_and_back_without_the_time_between_updates() {
        let found = lags(&steady(1.0 / 60.0, |_| Some(0.02)), &steady(0.05, |_| Some(0.03)));
        assert!(found.len() > 3500 && found.iter().all(|lag_s| (lag_s - 0.05).abs() < 1e-9));
    }

    #[test]
    fn a_queue_of_either_way_is_felt_and_a_lost_packet_has_no_lag() {
        let queue = |at_s: f64| Some(if at_s < 6.0 { 0.2 } else { 0.02 });
        for (there, back) in [(true, false), (false, true)] {
            let of = |held: bool| steady(0.02, move |at_s| if held { queue(at_s) } else { Some(0.02) });
            let found = games([lags(&of(there), &of(back))].iter()).expect("a game");
            assert!((found.lag_p50_ms.expect("lags") - 40.0).abs() < 1e-6);
            assert!((found.lag_p95_ms.expect("lags") - 220.0).abs() < 1e-6);
        }
        let lossy = lags(&steady(0.02, |at_s| (at_s >= 30.0).then_some(0.02)), &steady(0.02, |_| Some(0.02)));
        assert!(lossy.len() <= 1500 && lossy.iter().all(|lag_s| (lag_s - 0.04).abs() < 1e-9));
        assert_eq!(games([].iter()), None);
    }
}
