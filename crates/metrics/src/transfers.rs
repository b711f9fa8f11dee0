//! The transfers whose times users feel: flows of TCP that end, and the exchanges of scripted connections in place of
//! those, as a connection mostly waits for its user.
//!
//! An exchange is a request and its answer: a train of the end that opened the connection and the train of the other end
//! that follows. Its response time is from the request, for what comes first from the connection's first packet, until
//! the answer is complete (Chen 2012, 6.5.2: set-up, data transfer and tear-down of a transfer), without the time that the
//! server thought. What comes unasked, such as the greeting of a mail server, is a transfer of its own. Size and
//! direction are those of the larger part.

use std::collections::HashMap;

use netsim::{Train, TrainRecord};
use serde::Serialize;
use units::ENDLESS_BYTES;

use crate::run_view::{Ran, known};
use crate::sizes::{LONG_BYTES, SHORT_BYTES};
use crate::times::Times;

/// Without long ones: the largest transfers, one of so many.
const LARGEST_OF: usize = 100;
/// Sizes of transfers, kB: above the first bound, up to the second.
const BINS_KB: [(u64, Option<u64>); 4] = [(0, Some(10)), (10, Some(100)), (100, Some(1000)), (1000, None)];

/// A transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// Row of its flow in the list that ran.
    pub row: u32,
    /// Identity of its flow, by which transfers of equal size are ordered.
    pub id: i64,
    /// Place of the first train of an exchange in its script; `None` of a flow without one.
    pub train: Option<u32>,
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

/// The transfers of a run: flows in the order of the list, then exchanges in the order in which they began.
pub fn transfers(ran: &Ran<'_>) -> Vec<Transfer> {
    let before = ran.facts.before();
    let whole = || ran.trains().filter(|train| train.part == 0);
    let mut scripted = vec![false; ran.flows.len()];
    whole().for_each(|train| scripted[train.flow as usize] = true);
    let plain = ran.begun().filter(|(row, flow)| ends(flow.udp.is_some(), flow.size_bytes) && !scripted[*row]);
    let mut found: Vec<Transfer> = plain
        .map(|(row, flow)| Transfer {
            row: row as u32,
            id: ran.facts.id(row - before),
            train: None,
            up: flow.up,
            size_bytes: flow.size_bytes,
            start_s: ran.start_s(row),
            response_s: ran.response_s(row),
        })
        .collect();
    let mut records: HashMap<(u32, u32), &TrainRecord> = HashMap::new();
    whole().for_each(|train| {
        records.insert((train.flow, train.train), train);
    });
    found.extend(whole().filter_map(|train| exchange(ran, train, &records)));
    found
}

/// Whether a flow without a script is a transfer: TCP that ends.
fn ends(udp: bool, size_bytes: u64) -> bool {
    !udp && size_bytes < ENDLESS_BYTES
}

/// A connection with a script, as its list has it.
#[derive(Clone, Copy, Debug)]
pub struct Scripted<'a> {
    /// What the ends say.
    pub script: &'a [Train],
    /// Whether its forward trains go up.
    pub up: bool,
    /// Whether the end opened it to which the forward trains go.
    pub receiver_opens: bool,
}

/// A request and its answer, or a train that stands alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange {
    /// Place of its first train in the script.
    pub train: usize,
    /// Whether the next train is its answer.
    pub answered: bool,
    /// Whether its larger part goes up.
    pub up: bool,
    /// Payload of its larger part, bytes.
    pub size_bytes: u64,
}

impl Scripted<'_> {
    /// The exchange that the train at a place begins; `None` of an answer, which is part of one, and beyond the script.
    pub fn exchange(&self, at: usize) -> Option<Exchange> {
        let asks = |train: &Train| train.forward != self.receiver_opens;
        let said = self.script.get(at)?;
        if !asks(said) && at.checked_sub(1).is_some_and(|before| asks(&self.script[before])) {
            return None;
        }
        let answer = self.script.get(at + 1).filter(|next| asks(said) && !asks(next));
        let larger = answer.filter(|answer| answer.bytes > said.bytes).unwrap_or(said);
        Some(Exchange {
            train: at,
            answered: answer.is_some(),
            up: self.up == larger.forward,
            size_bytes: larger.bytes,
        })
    }

    /// When an exchange began and how long it took, seconds. `start_s` is the start of the connection, `begun_s` when the
    /// first train began, `end_s` when that at a place came in.
    pub fn times_s(
        &self,
        exchange: &Exchange,
        start_s: f64,
        begun_s: f64,
        end_s: impl Fn(usize) -> Option<f64>,
    ) -> (f64, Option<f64>) {
        let at = exchange.train;
        let thought_s = |at: usize| self.script[at].wait.as_secs_f64();
        // The end that speaks first has thought since the connection was there.
        let from_s = if at == 0 { start_s + thought_s(0) } else { begun_s };
        let to_s = if exchange.answered { end_s(at + 1).map(|end_s| end_s - thought_s(at + 1)) } else { end_s(at) };
        (from_s, to_s.map(|to_s| to_s - from_s))
    }
}

/// The exchange that a train begins; `None` of an answer, which is part of one.
fn exchange(ran: &Ran<'_>, train: &TrainRecord, records: &HashMap<(u32, u32), &TrainRecord>) -> Option<Transfer> {
    let row = train.flow as usize;
    let flow = &ran.flows[row];
    let of = Scripted { script: ran.script(flow)?, up: flow.up, receiver_opens: flow.receiver_opens };
    let found = of.exchange(train.train as usize)?;
    let end_s = |at: usize| records.get(&(train.flow, at as u32)).and_then(|record| known(record.end));
    let (start_s, response_s) = of.times_s(&found, ran.start_s(row), train.start.as_secs_f64(), end_s);
    let id = ran.facts.id(row - ran.facts.before());
    let first = Some(train.train);
    Some(Transfer {
        row: train.flow,
        id,
        train: first,
        up: found.up,
        size_bytes: found.size_bytes,
        start_s,
        response_s,
    })
}

/// A flow of a table, with or without a script.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// Whether it is of datagrams.
    pub udp: bool,
    /// Payload, bytes.
    pub size_bytes: u64,
    /// What its ends say.
    pub script: Option<&'a [Train]>,
    /// Whether its data, and what is forward in its script, goes up.
    pub up: bool,
    /// Whether the receiver of its data opened it.
    pub receiver_opens: bool,
    /// When it started, seconds.
    pub start_s: f64,
    /// How long it took, seconds; `None` when it did not finish.
    pub response_s: Option<f64>,
}

/// A transfer of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListedTransfer {
    /// Row of its flow.
    pub row: usize,
    /// Place of its first train in the script; `None` without one.
    pub train: Option<usize>,
    /// Whether its data goes up.
    pub up: bool,
    /// Payload, bytes.
    pub size_bytes: u64,
    /// When it began, seconds; `None` when it did not.
    pub start_s: Option<f64>,
    /// How long it took, seconds; `None` when it did not finish.
    pub response_s: Option<f64>,
}

/// The transfers of a table of flows, by row and train. `trains` has start and end, seconds, of those that began, by row
/// and place. With `every` all that the list brings count, whether they began or not; else those of [`transfers`].
pub fn listed(
    flows: &[Listed<'_>],
    trains: &HashMap<(u32, u32), (f64, Option<f64>)>,
    every: bool,
) -> Vec<ListedTransfer> {
    let mut found = Vec::new();
    for (row, flow) in flows.iter().enumerate() {
        let record = |at: usize| trains.get(&(row as u32, at as u32));
        let Some(script) = flow.script.filter(|_| every || record(0).is_some()) else {
            let Listed { up, size_bytes, start_s, response_s, .. } = *flow;
            let whole = ListedTransfer { row, train: None, up, size_bytes, start_s: Some(start_s), response_s };
            found.extend(ends(flow.udp, size_bytes).then_some(whole));
            continue;
        };
        let of = Scripted { script, up: flow.up, receiver_opens: flow.receiver_opens };
        for exchange in (0..script.len()).filter_map(|at| of.exchange(at)) {
            let began = record(exchange.train);
            if began.is_none() && !every {
                continue;
            }
            let times = began.map(|&(begun_s, _)| {
                of.times_s(&exchange, flow.start_s, begun_s, |at| record(at).and_then(|&(_, end_s)| end_s))
            });
            let Exchange { train, up, size_bytes, .. } = exchange;
            let (start_s, response_s) = (times.map(|times| times.0), times.and_then(|times| times.1));
            found.push(ListedTransfer { row, train: Some(train), up, size_bytes, start_s, response_s });
        }
    }
    found
}

/// Times of the transfers of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "TransferSizes"))]
pub struct Bin {
    /// Above so many kB.
    pub from_kb: u64,
    /// Up to so many kB; `None` without bound.
    pub to_kb: Option<u64>,
    /// How many.
    pub flows: u64,
    /// Of these, those that did not finish.
    pub unfinished: u64,
    /// Median, seconds.
    pub p50_s: Option<f64>,
    /// 95 of 100 take at most this, seconds.
    pub p95_s: Option<f64>,
    /// 99 of 100 take at most this, seconds.
    pub p99_s: Option<f64>,
    /// 95 % interval of the median, seconds.
    pub p50_ci95: Option<[f64; 2]>,
    /// 95 % interval of the 95th percentile, seconds.
    pub p95_ci95: Option<[f64; 2]>,
}

/// Times by size, of either direction and of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "TransfersBySize"))]
pub struct Bins {
    /// Toward the internal side.
    pub down: Vec<Bin>,
    /// From it.
    pub up: Vec<Bin>,
    /// Both.
    pub all: Vec<Bin>,
}

/// Transfers, run by run.
pub(crate) type Runs<'a> = [&'a [Transfer]];

/// All transfers of some runs.
pub(crate) fn all<'a>(runs: &'a Runs<'_>) -> impl Iterator<Item = &'a Transfer> {
    runs.iter().flat_map(|run| run.iter())
}

/// `None` without transfers.
pub(crate) fn bins(runs: &Runs<'_>) -> Option<Bins> {
    let of = |way: Option<bool>| -> Vec<Bin> {
        let bin = |&(from_kb, to_kb): &(u64, Option<u64>)| {
            let inside = all(runs).filter(|one| {
                way.is_none_or(|up| one.up == up)
                    && one.size_bytes > 1000 * from_kb
                    && to_kb.is_none_or(|to| one.size_bytes <= 1000 * to)
            });
            let Times { flows, unfinished, p50_s, p95_s, p99_s, p50_ci95, p95_ci95 } =
                Times::of(inside.map(|one| one.response_s));
            Bin { from_kb, to_kb, flows, unfinished, p50_s, p95_s, p99_s, p50_ci95, p95_ci95 }
        };
        BINS_KB.iter().map(bin).collect()
    };
    all(runs).next().map(|_| Bins { down: of(Some(false)), up: of(Some(true)), all: of(None) })
}

/// Times of the short ones; `None` without any.
pub(crate) fn short(runs: &Runs<'_>) -> Option<Times> {
    Times::of_some(all(runs).filter(|one| one.size_bytes <= SHORT_BYTES).map(|one| one.response_s))
}

/// Whether a transfer has more than 1 MB.
pub(crate) fn is_long(one: &Transfer) -> bool {
    one.size_bytes > LONG_BYTES
}

/// Times of the long ones: those above 1 MB where `above` says that the lists bring such, whether they began or not. Else
/// those of at least `least_bytes`, or without that the largest hundredth, at least one, of equal sizes the first by run
/// and identity.
pub(crate) fn long(runs: &Runs<'_>, above: bool, least_bytes: Option<u64>) -> Option<Times> {
    if above || least_bytes.is_some() {
        let counts = |one: &&Transfer| if above { is_long(one) } else { Some(one.size_bytes) >= least_bytes };
        return Times::of_some(all(runs).filter(counts).map(|one| one.response_s));
    }
    let numbered = runs.iter().enumerate().flat_map(|(number, run)| run.iter().map(move |one| (number, one)));
    let mut ordered: Vec<(usize, &Transfer)> = numbered.collect();
    ordered.sort_by_key(|&(number, one)| (std::cmp::Reverse(one.size_bytes), number, one.id));
    let count = ordered.len().div_ceil(LARGEST_OF);
    Times::of_some(ordered[..count].iter().map(|(_, one)| one.response_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(size_bytes: u64, up: bool, response_s: Option<f64>) -> Transfer {
        Transfer { row: 0, id: 0, train: None, up, size_bytes, start_s: 0.0, response_s }
    }

    #[test]
    fn the_end_that_opened_the_connection_asks_whichever_speaks_first() {
        // Of a mail server: greeting, command and reply, request and what it brings, and a farewell.
        let said = [(true, 60), (false, 30), (true, 40), (false, 30), (true, 2_000_000), (true, 9)];
        let script =
            said.map(|(forward, bytes)| Train { forward, bytes, wait: units::Time::ZERO, pace: units::Time::ZERO });
        let exchanges = |receiver_opens| {
            let of = Scripted { script: &script, up: false, receiver_opens };
            let found = (0..=script.len()).filter_map(|at| of.exchange(at));
            found.map(|one| (one.train, one.answered, one.up, one.size_bytes)).collect::<Vec<_>>()
        };
        let by_client =
            [(0, false, false, 60), (1, true, false, 40), (3, true, false, 2_000_000), (5, false, false, 9)];
        assert_eq!(exchanges(true), by_client);
        let by_sender =
            [(0, true, false, 60), (2, true, false, 40), (4, false, false, 2_000_000), (5, false, false, 9)];
        assert_eq!(exchanges(false), by_sender);
    }

    #[test]
    fn a_size_on_a_bound_is_in_the_lower_bin() {
        let sized = [one(10_000, false, Some(1.0)), one(10_001, true, None), one(1_000_001, true, Some(2.0))];
        let found = bins(&[&sized[..1], &sized[1..]]);
        let found = found.expect("transfers");
        let counts = |rows: &[Bin]| rows.iter().map(|bin| bin.flows).collect::<Vec<_>>();
        assert_eq!(counts(&found.all), [1, 1, 0, 1]);
        assert_eq!(counts(&found.down), [1, 0, 0, 0]);
        assert_eq!(counts(&found.up), [0, 1, 0, 1]);
        assert_eq!(found.up[1].unfinished, 1);
        assert_eq!(bins(&[&[]]), None);
    }

    #[test]
    fn where_the_list_brings_long_ones_no_short_one_takes_their_place() {
        let small = [one(20_000, false, Some(0.1)), one(30_000, false, Some(0.2))];
        assert_eq!(long(&[&small], true, None), None);
        assert_eq!(long(&[&small], false, None).expect("the largest").p50_s, Some(0.2));
        assert_eq!(long(&[&small], false, Some(30_001)), None);
        assert_eq!(long(&[&small], false, Some(20_000)).expect("both").flows, 2);
        let both = [small[0], one(LONG_BYTES + 1, false, Some(2.0))];
        assert_eq!(long(&[&both], true, None).expect("one above 1 MB").flows, 1);
        // Of equal sizes that of the first run counts.
        let equal = [[one(20_000, false, Some(0.1))], [one(20_000, false, Some(0.3))]];
        assert_eq!(long(&[&equal[0], &equal[1]], false, None).expect("the largest").p50_s, Some(0.1));
    }

    #[test]
    fn goodput_is_payload_over_time() {
        assert_eq!(one(1_000_000, false, Some(2.0)).goodput_mbps(), Some(4.0));
        assert_eq!(one(1_000_000, false, None).goodput_mbps(), None);
        assert_eq!(one(1_000_000, false, Some(0.0)).goodput_mbps(), None);
    }
}
