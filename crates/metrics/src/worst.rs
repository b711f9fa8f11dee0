//! The exchanges that waited longest for others: whose they are, and how long they take under another discipline.
//!
//! Rule: the time of an exchange ([`transfers`]) less the time of the same exchange where its connection is alone on the
//! link, a FIFO without losses from outside; the largest differences come first. An exchange that does not end comes before
//! all others. The connection alone is simulated, with its hosts, its round-trip time and its waits, for as many exchanges
//! as can be among the largest: the link sends no exchange faster than its rate, which bounds the difference from above.
//! Where most exchanges are delayed alike, as on a link that is hardly loaded, this bound tells few apart: then those count
//! that have the largest of [`MOST_TRIED`].

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use netsim::{ConfigError, Control, FlowSpec, Run, Scripts};
use serde::Serialize;
use units::Time;

use crate::context::Facts;
use crate::idle::quiet;
use crate::observed::Observed;
use crate::run_view::Ran;
use crate::transfers::{Transfer, transfers};

/// Exchanges that are simulated alone at first; twice as many each time when these do not decide.
const TRIED: usize = 64;
/// Exchanges that are simulated alone at most: some seconds of work.
pub const MOST_TRIED: usize = 4096;

/// An exchange, before and after.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Delayed {
    /// Row of its flow in the workload.
    pub row: u32,
    /// Whether its larger part goes up.
    pub up: bool,
    /// Payload of its larger part, bytes.
    pub size_bytes: u64,
    /// When it began, before, seconds.
    pub start_s: f64,
    /// How long it took before, seconds; `None` when it did not end.
    pub before_s: Option<f64>,
    /// The same after.
    pub after_s: Option<f64>,
    /// How long it takes where its connection is alone, seconds; `None` when it does not end there either.
    pub idle_s: Option<f64>,
}

/// Some flows of a list.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'a> {
    /// Their rows in it, ascending.
    pub rows: &'a [u32],
    /// Each of them.
    pub flows: &'a [FlowSpec],
}

/// Transfers of a run by how much longer than alone they may have taken, the longest first, with that, s.
fn by_bound<'a>(run: &Run, before: &'a Observed) -> Vec<(f64, &'a Transfer)> {
    let rate = |up: bool| if up { run.network.reverse_rate.unwrap_or(run.network.rate) } else { run.network.rate };
    // No more than this above the time alone.
    let bound_s = |one: &Transfer| {
        let least_s = one.size_bytes as f64 * 8.0 / rate(one.up).bps() as f64;
        one.response_s.map_or(f64::INFINITY, |took_s| took_s - least_s)
    };
    let mut ordered: Vec<(f64, &Transfer)> = before.transfers.iter().map(|one| (bound_s(one), one)).collect();
    ordered.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1.row, a.1.train).cmp(&(b.1.row, b.1.train))));
    ordered
}

/// Rows of the flows, ascending, of which [`worst`] looks for the `most` delayed exchanges of the run `before`.
pub fn likely(run: &Run, before: &Observed, most: usize) -> Vec<u32> {
    let mut tried = TRIED.max(most);
    while tried < MOST_TRIED.max(most) {
        tried *= 2;
    }
    let mut rows: Vec<u32> = by_bound(run, before).into_iter().take(tried).map(|(_, one)| one.row).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// The `most` exchanges of the run `before` that were delayed most, the most delayed one first, and what they take in
/// `after`, a run of the same list, of which `some` has the flows of [`likely`]. The first `probes` rows of the list are no
/// workload.
///
/// # Errors
/// As [`netsim::run`], and without such a flow.
pub fn worst(
    run: &Run,
    some: Chosen<'_>,
    probes: usize,
    [before, after]: [&Observed; 2],
    most: usize,
) -> Result<Vec<Delayed>, ConfigError> {
    let ordered = by_bound(run, before);
    let mut alone = Alone::on(run);
    let mut found: Vec<(f64, Transfer, Option<f64>)> = Vec::new();
    let mut tried = 0;
    while tried < ordered.len() {
        let until = if tried == 0 { TRIED.max(most) } else { 2 * tried }.min(ordered.len());
        for &(_, one) in &ordered[tried..until] {
            let idle_s = alone.time_s(run, some, one)?;
            let above_s = one.response_s.map_or(f64::INFINITY, |took_s| took_s - idle_s.unwrap_or(0.0));
            found.push((above_s, *one, idle_s));
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1.row, a.1.train).cmp(&(b.1.row, b.1.train))));
        tried = until;
        let least_s = found.get(most.saturating_sub(1)).map(|last| last.0);
        let settled = least_s.is_some_and(|least_s| ordered.get(tried).is_none_or(|next| next.0 <= least_s));
        if settled || tried >= MOST_TRIED.max(most) {
            break;
        }
    }
    found.truncate(most);
    let wanted: HashSet<_> = found.iter().map(|(_, one, _)| (one.row, one.train)).collect();
    let later = after.transfers.iter().map(|one| ((one.row, one.train), one.response_s));
    let later: HashMap<_, _> = later.filter(|(key, _)| wanted.contains(key)).collect();
    let named = |(_, one, idle_s): (f64, Transfer, Option<f64>)| Delayed {
        row: one.row - probes as u32,
        up: one.up,
        size_bytes: one.size_bytes,
        start_s: one.start_s,
        before_s: one.response_s,
        after_s: later.get(&(one.row, one.train)).copied().flatten(),
        idle_s,
    };
    Ok(found.into_iter().map(named).collect())
}

/// Connections one by one on a quiet link.
struct Alone {
    run: Run,
    /// Transfers of connections that were tried.
    known: HashMap<u32, Vec<Transfer>>,
}

impl Alone {
    fn on(run: &Run) -> Alone {
        Alone { run: quiet(run), known: HashMap::new() }
    }

    /// The time of an exchange of `run` alone, seconds.
    fn time_s(&mut self, run: &Run, some: Chosen<'_>, of: &Transfer) -> Result<Option<f64>, ConfigError> {
        if !self.known.contains_key(&of.row) {
            let flow = some.rows.binary_search(&of.row).ok().and_then(|place| some.flows.get(place));
            let flow = flow.ok_or(ConfigError::Flow(of.row as usize, "is not among those that were delayed"))?;
            let found = self.connection(run, flow)?;
            self.known.insert(of.row, found);
        }
        let own = self.known.get(&of.row).into_iter().flatten().find(|one| one.train == of.train);
        Ok(own.and_then(|one| one.response_s))
    }

    fn connection(&mut self, run: &Run, flow: &FlowSpec) -> Result<Vec<Transfer>, ConfigError> {
        let own = flow.script.map(|script| script as usize);
        let script = own.and_then(|place| run.scripts.list.get(place));
        self.run.scripts = Arc::new(Scripts {
            list: script.into_iter().cloned().collect(),
            parts: own.and_then(|place| run.scripts.parts.get(place)).into_iter().cloned().collect(),
            streams: own.and_then(|place| run.scripts.streams.get(place)).into_iter().cloned().collect(),
            done: own.and_then(|place| run.scripts.done.get(place)).into_iter().copied().collect(),
        });
        let script = script.map(|_| 0);
        let flows = [FlowSpec { start: Time::ZERO, stage: None, after: None, application: 0, script, ..*flow }];
        let output = netsim::run(&self.run, &flows, &Control::default())?;
        Ok(transfers(&Ran { run: &self.run, flows: &flows, output: &output, facts: &Facts::default() }))
    }
}
