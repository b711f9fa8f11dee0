//! The transfers whose times users feel: flows of TCP that end, and the trains of scripted connections in place of
//! those, as a connection mostly waits for its user.

use serde::Serialize;

use crate::ran::Ran;
use crate::times::Times;

/// Short transfers have at most so many bytes.
pub(crate) const SHORT_BYTES: u64 = 100_000;
/// Long ones have more than so many.
pub(crate) const LONG_BYTES: u64 = 1_000_000;
/// Without long ones: the largest transfers, one of so many.
const LARGEST_OF: usize = 100;
/// Size of a flow that never ends: it has no time.
pub(crate) const ENDLESS_BYTES: u64 = 1 << 40;
/// Sizes of transfers, kB: above the first bound, up to the second.
const BINS_KB: [(u64, Option<u64>); 4] = [(0, Some(10)), (10, Some(100)), (100, Some(1000)), (1000, None)];

/// A transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// Row of its flow in the list that ran.
    pub row: u32,
    /// Whether its data goes up.
    pub up: bool,
    /// Payload, bytes.
    pub size_bytes: u64,
    /// When it began, seconds.
    pub start_s: f64,
    /// How long it took, seconds; `None` when it did not finish.
    pub response_s: Option<f64>,
}

impl Transfer {
    /// Payload over response time, Mbit/s; `None` of an unfinished one.
    pub fn goodput_mbps(&self) -> Option<f64> {
        self.response_s.filter(|&took| took > 0.0).map(|took| self.size_bytes as f64 * 8e-6 / took)
    }
}

/// The transfers of a run: flows in the order of the list, then trains in the order in which they began.
pub fn transfers(ran: &Ran<'_>) -> Vec<Transfer> {
    let whole = || ran.trains().filter(|train| train.part == 0);
    let mut scripted = vec![false; ran.flows.len()];
    whole().for_each(|train| scripted[train.flow as usize] = true);
    let plain =
        ran.begun().filter(|(row, flow)| flow.udp.is_none() && flow.size_bytes < ENDLESS_BYTES && !scripted[*row]);
    let mut found: Vec<Transfer> = plain
        .map(|(row, flow)| Transfer {
            row: row as u32,
            up: flow.up,
            size_bytes: flow.size_bytes,
            start_s: ran.start(row).as_secs_f64(),
            response_s: ran.response_s(row),
        })
        .collect();
    found.extend(whole().filter_map(|train| {
        let flow = &ran.flows[train.flow as usize];
        let said = ran.script(flow)?.get(train.train as usize)?;
        let start_s = train.start.as_secs_f64();
        Some(Transfer {
            row: train.flow,
            up: flow.up == train.forward,
            size_bytes: said.bytes,
            start_s,
            response_s: crate::ran::known(train.end).map(|end_s| end_s - start_s),
        })
    }));
    found
}

/// Times of the transfers of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// Above so many kB.
    pub from_kb: u64,
    /// Up to so many kB; `None` without bound.
    pub to_kb: Option<u64>,
    /// Their times.
    #[serde(flatten)]
    pub times: Times,
}

/// Times by size, of either direction and of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bins {
    /// Toward the internal side.
    pub down: Vec<Bin>,
    /// From it.
    pub up: Vec<Bin>,
    /// Both.
    pub all: Vec<Bin>,
}

/// `None` without transfers.
pub(crate) fn bins(transfers: &[Transfer]) -> Option<Bins> {
    let of = |way: Option<bool>| -> Vec<Bin> {
        let bin = |&(from_kb, to_kb): &(u64, Option<u64>)| {
            let inside = transfers.iter().filter(|one| {
                way.is_none_or(|up| one.up == up)
                    && one.size_bytes > 1000 * from_kb
                    && to_kb.is_none_or(|to| one.size_bytes <= 1000 * to)
            });
            Bin { from_kb, to_kb, times: Times::of(inside.map(|one| one.response_s)) }
        };
        BINS_KB.iter().map(bin).collect()
    };
    (!transfers.is_empty()).then(|| Bins { down: of(Some(false)), up: of(Some(true)), all: of(None) })
}

/// Times of the short ones; `None` without any.
pub(crate) fn short(transfers: &[Transfer]) -> Option<Times> {
    Times::of_some(transfers.iter().filter(|one| one.size_bytes <= SHORT_BYTES).map(|one| one.response_s))
}

/// Times of those above 1 MB; without any of the largest hundredth, at least one, of equal sizes the first by identity.
pub(crate) fn long(transfers: &[Transfer], id: impl Fn(&Transfer) -> i64) -> Option<Times> {
    if transfers.iter().any(|one| one.size_bytes > LONG_BYTES) {
        let long = transfers.iter().filter(|one| one.size_bytes > LONG_BYTES);
        return Times::of_some(long.map(|one| one.response_s));
    }
    let mut ordered: Vec<&Transfer> = transfers.iter().collect();
    ordered.sort_by(|a, b| b.size_bytes.cmp(&a.size_bytes).then_with(|| id(a).cmp(&id(b))));
    let count = transfers.len().div_ceil(LARGEST_OF);
    Times::of_some(ordered[..count].iter().map(|one| one.response_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(size_bytes: u64, up: bool, response_s: Option<f64>) -> Transfer {
        Transfer { row: 0, up, size_bytes, start_s: 0.0, response_s }
    }

    #[test]
    fn a_size_on_a_bound_is_in_the_lower_bin() {
        let found = bins(&[one(10_000, false, Some(1.0)), one(10_001, true, None), one(1_000_001, true, Some(2.0))]);
        let found = found.expect("transfers");
        let counts = |rows: &[Bin]| rows.iter().map(|bin| bin.times.flows).collect::<Vec<_>>();
        assert_eq!(counts(&found.all), [1, 1, 0, 1]);
        assert_eq!(counts(&found.down), [1, 0, 0, 0]);
        assert_eq!(counts(&found.up), [0, 1, 0, 1]);
        assert_eq!(found.up[1].times.unfinished, 1);
        assert_eq!(bins(&[]), None);
    }

    #[test]
    fn goodput_is_payload_over_time() {
        assert_eq!(one(1_000_000, false, Some(2.0)).goodput_mbps(), Some(4.0));
        assert_eq!(one(1_000_000, false, None).goodput_mbps(), None);
        assert_eq!(one(1_000_000, false, Some(0.0)).goodput_mbps(), None);
    }
}
