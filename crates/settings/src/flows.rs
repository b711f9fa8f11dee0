//! Flow lists as columns.

use std::sync::Arc;

use netsim::{Burst, Bursts, FlowSpec, Part, Run, Scripts, Train};
use serde::{Deserialize, Deserializer, Serialize};
use units::Time;

use crate::error::{SettingsError, text};

/// Columns of the flow list; `flags`: 1 up, 2 receiver opens, 4 UDP, 8 does not respond; `transport`: 0 for `tcp`,
/// else 1 + place in `transports`; `application`: 0 for none, else 1 + place in `applications`; `rtt_ns`: 2^64 - 1
/// (null in JSON) for that of the network; `stage`, `after`: 2^32 - 1 (null in JSON) for none. `class` is empty where
/// flows are not counted by class.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the columns are told above")]
pub struct FlowColumns {
    pub start_ns: Vec<u64>,
    pub size_bytes: Vec<u64>,
    #[serde(deserialize_with = "u64_or_null")]
    pub rtt_ns: Vec<u64>,
    pub src: Vec<u32>,
    pub dst: Vec<u32>,
    pub flags: Vec<u8>,
    pub packet_bytes: Vec<u32>,
    pub gap_ns: Vec<u64>,
    pub class: Vec<u16>,
    pub transport: Vec<u16>,
    pub application: Vec<u16>,
    #[serde(deserialize_with = "u32_or_null")]
    pub stage: Vec<u32>,
    #[serde(deserialize_with = "u32_or_null")]
    pub after: Vec<u32>,
    pub mark: Vec<u32>,
    pub bursts: BurstColumns,
    pub scripts: ScriptColumns,
}

/// Columns of the bursts of UDP flows, ascending by `flow`, the index in the flow list, and `at_ns`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the columns are told above")]
pub struct BurstColumns {
    pub flow: Vec<u32>,
    pub at_ns: Vec<u64>,
    pub gap_ns: Vec<u64>,
    pub packets: Vec<u64>,
    pub packet_bytes: Vec<u32>,
}

/// Columns of the trains of scripted flows, ascending by `flow`, the index in the flow list, and place in the script;
/// `forward` is 1 for data from the sender to the receiver of the flow; `done` holds the flows that are over for others
/// with their last train.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the columns are told above")]
pub struct ScriptColumns {
    pub flow: Vec<u32>,
    pub forward: Vec<u8>,
    pub bytes: Vec<u64>,
    pub wait_ns: Vec<u64>,
    pub pace_ns: Vec<u64>,
    pub parts: PartColumns,
    pub streams: StreamColumns,
    pub done: Vec<u32>,
}

/// Columns of the parts of trains, ascending by `flow`, `train` and `end`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the columns are told above")]
pub struct PartColumns {
    pub flow: Vec<u32>,
    pub train: Vec<u32>,
    pub end: Vec<u64>,
    pub number: Vec<u32>,
}

/// Columns of the trains whose parts are streams, ascending by `flow` and `train`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the columns are told above")]
pub struct StreamColumns {
    pub flow: Vec<u32>,
    pub train: Vec<u32>,
}

/// The flows of a run, and what the run must know of them.
#[derive(Clone, Debug, Default)]
pub struct FlowList {
    /// In the order of the columns.
    pub flows: Vec<FlowSpec>,
    /// What the ends of connections say.
    pub scripts: Arc<Scripts>,
    /// Of UDP flows that do not send at one constant rate.
    pub bursts: Bursts,
    /// By which each flow is counted; empty for none.
    pub classes: Vec<u16>,
    /// Whether each flow counts as not responding to drops.
    pub nonresponsive: Vec<bool>,
}

fn u64_or_null<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
    let values = Vec::<Option<u64>>::deserialize(from)?;
    Ok(values.into_iter().map(|value| value.unwrap_or(u64::MAX)).collect())
}

fn u32_or_null<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u32>, D::Error> {
    let values = Vec::<Option<u32>>::deserialize(from)?;
    Ok(values.into_iter().map(|value| value.unwrap_or(u32::MAX)).collect())
}

/// # Errors
/// Columns whose lengths are not all that of the first.
fn of_one_length<const N: usize>(what: &str, lengths: [usize; N]) -> Result<(), SettingsError> {
    if lengths.iter().any(|&length| length != lengths[0]) {
        return Err(text(format!("columns of the {what} differ in length")));
    }
    Ok(())
}

impl FlowColumns {
    /// The flows as the simulator takes them; what a flow means is checked by [`Run::check`] only.
    ///
    /// # Errors
    /// Columns of unequal length, and scripts of flows that are not listed.
    pub fn list(&self) -> Result<FlowList, SettingsError> {
        let mut found = FlowList {
            flows: self.rows()?,
            bursts: self.bursts.list()?,
            classes: self.class.clone(),
            nonresponsive: self.flags.iter().map(|flags| flags & 8 != 0).collect(),
            ..FlowList::default()
        };
        self.scripts.hand_out(Arc::make_mut(&mut found.scripts), &mut found.flows)?;
        Ok(found)
    }

    fn rows(&self) -> Result<Vec<FlowSpec>, SettingsError> {
        let rows = self.start_ns.len();
        let of_times = [rows, self.size_bytes.len(), self.rtt_ns.len(), self.gap_ns.len(), self.flags.len()];
        let of_hosts = [rows, self.src.len(), self.dst.len(), self.packet_bytes.len(), self.mark.len()];
        let of_rest = [rows, self.transport.len(), self.application.len(), self.stage.len(), self.after.len()];
        for lengths in [of_times, of_hosts, of_rest] {
            of_one_length("flow list", lengths)?;
        }
        let flow = |i: usize| FlowSpec {
            start: Time(self.start_ns[i]),
            size_bytes: self.size_bytes[i],
            rtt: (self.rtt_ns[i] != u64::MAX).then_some(Time(self.rtt_ns[i])),
            src: self.src[i],
            dst: self.dst[i],
            up: self.flags[i] & 1 != 0,
            receiver_opens: self.flags[i] & 2 != 0,
            udp: (self.flags[i] & 4 != 0).then_some((self.packet_bytes[i], Time(self.gap_ns[i]))),
            stage: (self.stage[i] != u32::MAX).then_some(self.stage[i]),
            after: (self.after[i] != u32::MAX).then_some(self.after[i]),
            script: None,
            transport: self.transport[i],
            application: self.application[i],
            mark: self.mark[i],
        };
        Ok((0..rows).map(flow).collect())
    }
}

impl BurstColumns {
    fn list(&self) -> Result<Bursts, SettingsError> {
        let (at, gap, packets) = (&self.at_ns, &self.gap_ns, &self.packets);
        let lengths = [self.flow.len(), self.packet_bytes.len(), at.len(), gap.len(), packets.len()];
        of_one_length("bursts", lengths)?;
        let burst =
            |i: usize| Burst { at: Time(at[i]), gap: Time(gap[i]), packets: packets[i], len: self.packet_bytes[i] };
        let mut bursts = Bursts { of: Vec::new(), list: (0..self.flow.len()).map(burst).collect() };
        for part in self.flow.chunk_by(|a, b| a == b) {
            let first = bursts.of.last().map_or(0, |(_, before)| before.end);
            bursts.of.push((part[0], first..first + part.len()));
        }
        Ok(bursts)
    }
}

impl ScriptColumns {
    /// Gives each flow its script.
    fn hand_out(&self, scripts: &mut Scripts, flows: &mut [FlowSpec]) -> Result<(), SettingsError> {
        let lengths = [self.flow.len(), self.forward.len(), self.bytes.len(), self.wait_ns.len(), self.pace_ns.len()];
        of_one_length("scripts", lengths)?;
        let train = |i: usize| Train {
            forward: self.forward[i] == 1,
            bytes: self.bytes[i],
            wait: Time(self.wait_ns[i]),
            pace: Time(self.pace_ns[i]),
        };
        let mut first = 0;
        for part in self.flow.chunk_by(|a, b| a == b) {
            let spec = flows.get_mut(part[0] as usize);
            let spec = spec.ok_or_else(|| text("script of a flow that is not listed"))?;
            spec.script = Some(scripts.list.len() as u32);
            scripts.list.push((first..first + part.len()).map(train).collect());
            first += part.len();
        }
        for &flow in &self.done {
            let script = script_of(flows, flow, "done")?;
            scripts.done.resize(scripts.done.len().max(script + 1), false);
            scripts.done[script] = true;
        }
        self.parts.hand_out(scripts, flows)?;
        self.streams.hand_out(scripts, flows)
    }
}

impl PartColumns {
    fn hand_out(&self, scripts: &mut Scripts, flows: &[FlowSpec]) -> Result<(), SettingsError> {
        of_one_length("parts", [self.flow.len(), self.train.len(), self.end.len(), self.number.len()])?;
        if !self.flow.is_empty() {
            scripts.parts.resize(scripts.list.len(), Vec::new());
        }
        for (i, &flow) in self.flow.iter().enumerate() {
            let script = script_of(flows, flow, "parts")?;
            scripts.parts[script].push(Part { train: self.train[i], end: self.end[i], number: self.number[i] });
        }
        Ok(())
    }
}

impl StreamColumns {
    fn hand_out(&self, scripts: &mut Scripts, flows: &[FlowSpec]) -> Result<(), SettingsError> {
        of_one_length("streams", [self.flow.len(), self.train.len()])?;
        if !self.flow.is_empty() {
            scripts.streams.resize(scripts.list.len(), Vec::new());
        }
        for (&flow, &train) in self.flow.iter().zip(&self.train) {
            let script = script_of(flows, flow, "streams")?;
            scripts.streams[script].push(train);
        }
        Ok(())
    }
}

/// # Errors
/// The flow is not listed, or has no script.
fn script_of(flows: &[FlowSpec], flow: u32, what: &str) -> Result<usize, SettingsError> {
    let script = flows.get(flow as usize).and_then(|spec| spec.script);
    script.map(|script| script as usize).ok_or_else(|| text(format!("{what} of a flow without a script")))
}

impl FlowList {
    /// Makes the flows those of `run`, and returns them.
    pub fn put_into(self, run: &mut Run) -> Vec<FlowSpec> {
        run.counting.classes = self.classes;
        run.counting.nonresponsive = self.nonresponsive;
        run.bursts = self.bursts;
        run.scripts = self.scripts;
        self.flows
    }

    /// Makes the flows those of one of the runs that share the list.
    pub fn lend_to(&self, run: &mut Run) {
        run.counting.classes.clone_from(&self.classes);
        run.counting.nonresponsive.clone_from(&self.nonresponsive);
        run.bursts.clone_from(&self.bursts);
        run.scripts = Arc::clone(&self.scripts);
    }
}
