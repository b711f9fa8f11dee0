//! A run together with what is known of it, and what all measures ask of the two.

use netsim::{FlowSpec, Output, Run, Train, TrainRecord};
use units::{ENDLESS_BYTES, Time};

use crate::context::{Facts, FactsError, ProbeName};
use crate::sizes::LONG_BYTES;

/// A run and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Ran<'a> {
    /// What ran.
    pub run: &'a Run,
    /// The list that ran, probes first.
    pub flows: &'a [FlowSpec],
    /// What came out.
    pub output: &'a Output,
    /// What the run does not know of its flows.
    pub facts: &'a Facts,
}

/// Seconds; `None` of what did not happen.
pub(crate) fn known(time: Time) -> Option<f64> {
    (time != Time::NEVER).then(|| time.as_secs_f64())
}

impl<'a> Ran<'a> {
    /// Checks that facts, list and output belong together, so that no place in one is beyond another.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self) -> Result<(), FactsError> {
        self.facts.check(self.run, self.flows)?;
        if self.output.records.len() != self.flows.len() {
            return Err(FactsError::records(self.output.records.len(), self.flows.len()));
        }
        Ok(())
    }

    /// End of the warm-up, before which no probe counts, and end of the run, seconds.
    pub(crate) fn span_s(&self) -> (f64, f64) {
        (self.output.counters.begin.as_secs_f64(), self.output.counters.end.as_secs_f64())
    }

    /// Rows and flows of the workload that started.
    pub(crate) fn begun(&self) -> impl Iterator<Item = (usize, &'a FlowSpec)> {
        let (records, flows) = (&self.output.records, self.flows);
        let started = move |row: usize, flow: &FlowSpec| flow.after.is_none() || records[row].start != Time::NEVER;
        flows.iter().enumerate().skip(self.facts.before()).filter(move |&(row, flow)| started(row, flow))
    }

    /// When a flow started: as the list says, or when the stage was over that it waits for.
    pub(crate) fn start(&self, row: usize) -> Time {
        let flow = &self.flows[row];
        if flow.after.is_none() { flow.start } else { self.output.records[row].start }
    }

    /// The same in seconds, of a flow of the workload, as exactly as its list has it.
    pub(crate) fn start_s(&self, row: usize) -> f64 {
        let listed = self.facts.starts.get(row - self.facts.before());
        listed.filter(|_| self.flows[row].after.is_none()).copied().unwrap_or_else(|| self.start(row).as_secs_f64())
    }

    /// From start to finish, seconds; `None` when unfinished.
    pub(crate) fn response_s(&self, row: usize) -> Option<f64> {
        known(self.output.records[row].finish).map(|finish_s| finish_s - self.start_s(row))
    }

    /// Trains of the script of a flow.
    pub(crate) fn script(&self, flow: &FlowSpec) -> Option<&'a [Train]> {
        flow.script.and_then(|script| self.run.scripts.list.get(script as usize)).map(Vec::as_slice)
    }

    /// Whether the list has a transfer above 1 MB, be it begun or not.
    pub(crate) fn brings_long(&self) -> bool {
        let long = |bytes: u64| bytes > LONG_BYTES && bytes < ENDLESS_BYTES;
        self.begun().any(|(_, flow)| match self.script(flow) {
            Some(trains) => trains.iter().any(|train| long(train.bytes)),
            None => flow.udp.is_none() && long(flow.size_bytes),
        })
    }

    /// Trains of scripted flows, and the parts of these.
    pub(crate) fn trains(&self) -> impl Iterator<Item = &'a TrainRecord> {
        let flows = self.flows;
        let scripted = move |train: &&TrainRecord| flows[train.flow as usize].script.is_some();
        self.output.trains.iter().filter(scripted)
    }

    /// Packets of a probe.
    pub(crate) fn probe(&self, name: ProbeName) -> impl Iterator<Item = &'a netsim::ProbePacket> {
        let row = self.facts.probes.iter().position(|&one| one == name).map(|row| row as u32);
        self.output.probes.iter().filter(move |packet| Some(packet.flow) == row)
    }
}
