//! What a run does not know of its own flows: which probes come first, who belongs together, and whose they are.

use std::fmt;

use netsim::{FlowSpec, Run};
use serde::{Deserialize, Serialize};

/// What a probe measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeName {
    /// Sent back by its receiver.
    Ping,
    /// Speech toward the internal side.
    CallDown,
    /// Speech from the internal side.
    CallUp,
    /// Pings of a controller of shapers: nobody's.
    Autorate,
}

/// What is known beside the list of flows that ran. The first rows of that list are the probes, and *rows* here are
/// counted from the first flow behind them. An empty column says that nothing is known of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Facts {
    /// Probes, in the order of the first rows of the list.
    pub probes: Vec<ProbeName>,
    /// Identity of each flow, which tells flows of one size apart; their rows when empty.
    pub ids: Vec<i64>,
    /// Start of each flow as its list has it, seconds; when empty that at which it ran, in whole nanoseconds.
    pub starts: Vec<f64>,
    /// Group of each flow, by number; all of one group when empty.
    pub groups: Vec<u32>,
    /// Stage of each flow as its list has it. When empty [`FlowSpec::stage`], which is missing where nobody waits.
    pub stages: Vec<Option<u32>>,
    /// Flows of a packet capture.
    pub capture: Option<CaptureFacts>,
}

/// What is known of the flows of a capture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureFacts {
    /// Host that opened the connection of each flow, by number.
    pub clients: Vec<u32>,
    /// Connection of each flow, by number: its two directions share one.
    pub connections: Vec<u32>,
    /// When each flow starts in the capture, seconds; empty where flows start in the run when they did there.
    #[serde(default)]
    pub begun_s: Vec<f64>,
    /// How long each flow lasts in the capture, seconds, `None` of one that nobody waits for; empty where that is not known.
    #[serde(default)]
    pub lasted_s: Vec<Option<f64>>,
    /// Rows that are directions of calls. They have to be traced ([`Run::traced`]).
    pub calls: Vec<u32>,
}

/// Facts that do not fit the list of flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactsError(String);

impl fmt::Display for FactsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for FactsError {}

impl Facts {
    /// Rows before those of the workload.
    pub fn before(&self) -> usize {
        self.probes.len()
    }

    /// Identity of the flow in row `row` of the workload.
    pub(crate) fn id(&self, row: usize) -> i64 {
        self.ids.get(row).copied().unwrap_or(row as i64)
    }

    /// Group of the flow in row `row` of the workload.
    pub(crate) fn group(&self, row: usize) -> u32 {
        self.groups.get(row).copied().unwrap_or(0)
    }

    /// Stage of `flow`, row `row` of the workload.
    pub(crate) fn stage(&self, row: usize, flow: &FlowSpec) -> Option<u32> {
        self.stages.get(row).copied().unwrap_or(flow.stage)
    }

    /// Checks that the facts fit a run of `flows`.
    ///
    /// # Errors
    /// A column of another length, more probes than flows, a call that is not in the list or not traced.
    pub fn check(&self, run: &Run, flows: &[FlowSpec]) -> Result<(), FactsError> {
        let refused = |text: String| Err(FactsError(text));
        let Some(rows) = flows.len().checked_sub(self.before()) else {
            return refused(format!("facts: probes = {}: must be at most the {} flows", self.before(), flows.len()));
        };
        let mut columns = vec![("ids", self.ids.len()), ("starts", self.starts.len())];
        columns.extend([("groups", self.groups.len()), ("stages", self.stages.len())]);
        columns.retain(|&(_, length)| length > 0);
        if let Some(capture) = &self.capture {
            columns.extend([("clients", capture.clients.len()), ("connections", capture.connections.len())]);
            let known = [("begun_s", capture.begun_s.len()), ("lasted_s", capture.lasted_s.len())];
            columns.extend(known.into_iter().filter(|&(_, length)| length > 0));
        }
        for (name, length) in columns {
            if length != rows {
                return refused(format!("facts: {name} has {length} values: must be one for each of {rows} flows"));
            }
        }
        let calls = self.capture.iter().flat_map(|capture| &capture.calls);
        for &row in calls {
            if row as usize >= rows {
                return refused(format!("facts: calls: row {row}: must be below {rows}, the number of flows"));
            }
            let traced = row as usize + self.before();
            if !run.traced.iter().any(|&one| one as usize == traced) {
                return refused(format!("facts: calls: row {row}: must be traced in the run"));
            }
        }
        Ok(())
    }
}

impl FactsError {
    /// A run of another list.
    pub(crate) fn records(records: usize, flows: usize) -> FactsError {
        FactsError(format!("records = {records}: must be one for each of {flows} flows"))
    }
}
