//! A run but for its flows.

use std::sync::Arc;

use netsim::{Application, Bursts, ConfigError, Counting, Impairment, Network, OwnTransport, Probe, Run, Tcp};
use qdisc::Limit;
use serde::Deserialize;
use units::{BitRate, Time};

use crate::error::SettingsError;
use crate::graph::GraphSettings;
use crate::shaping::{ShapingSettings, TraceSettings};
use crate::tree::TreeSettings;
use crate::wlan::WlanSettings;

/// Id and options of a discipline.
pub type DisciplineSettings = (String, Vec<(String, String)>);

/// Settings of a run; times in nanoseconds. They come as JSON: unknown words, unknown fields and missing ones are refused
/// by name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    rate_bps: u64,
    #[serde(deserialize_with = "Option::deserialize")]
    reverse_rate_bps: Option<u64>,
    delay_ns: u64,
    #[serde(deserialize_with = "Option::deserialize")]
    reverse_delay_ns: Option<u64>,
    access_rate_bps: u64,
    #[serde(deserialize_with = "Option::deserialize")]
    exit_rate_bps: Option<u64>,
    #[serde(deserialize_with = "Option::deserialize")]
    exit_rate_up_bps: Option<u64>,
    access_delay_ns: u64,
    exit_delay_ns: u64,
    limit: Limit,
    reverse_limit: Limit,
    loss: f64,
    impairments: Vec<Impairment>,
    /// Whether both sides of the dumbbell are alike.
    symmetric: bool,
    discipline: DisciplineSettings,
    reverse_discipline: DisciplineSettings,
    traces: [Option<TraceSettings>; 2],
    #[serde(deserialize_with = "Option::deserialize")]
    shaping: Option<ShapingSettings>,
    #[serde(deserialize_with = "Option::deserialize")]
    graph: Option<GraphSettings>,
    #[serde(deserialize_with = "Option::deserialize")]
    wlan: Option<WlanSettings>,
    #[serde(deserialize_with = "Option::deserialize")]
    tree: Option<TreeSettings>,
    tcp: Tcp,
    /// Transports that some flows have in place of `tcp`, by the numbers in their column.
    transports: Vec<OwnTransport>,
    /// Applications in the loop, by the numbers in the column of the flows.
    applications: Vec<Application>,
    duration_ns: u64,
    stop_when_idle: bool,
    seed: u64,
    #[serde(deserialize_with = "Option::deserialize")]
    clock_phase_ns: Option<u64>,
    sample_interval_ns: u64,
    watched: Vec<u32>,
    trace_drops: bool,
    warm_up_ns: u64,
    traced: Vec<u32>,
    trace_limit: u64,
    subflows: bool,
    /// Rows of the flow list that are probes, and of those, the ones whose packets are sent back.
    probes: Vec<u32>,
    echoes: Vec<u32>,
}

impl Settings {
    /// The run, without flows.
    ///
    /// # Errors
    /// A rate of 0, or a cell, a graph, a tree or a shaper that makes no sense.
    pub fn into_run(self) -> Result<Run, SettingsError> {
        let rate = |name: &'static str, bps| {
            BitRate::from_bps(bps).ok_or_else(|| ConfigError::Value(name, "0".into(), "at least 1 bit/s"))
        };
        let other = |name, bps: Option<u64>| bps.map(|bps| rate(name, bps)).transpose();
        Ok(Run {
            network: Network {
                rate: rate("network.rate", self.rate_bps)?,
                reverse_rate: other("network.reverse_rate", self.reverse_rate_bps)?,
                delay: Time(self.delay_ns),
                reverse_delay: self.reverse_delay_ns.map(Time),
                access_rate: rate("network.access_rate", self.access_rate_bps)?,
                exit_rate: other("network.exit_rate", self.exit_rate_bps)?,
                exit_rate_up: other("network.exit_rate_up", self.exit_rate_up_bps)?,
                access_delay: Time(self.access_delay_ns),
                exit_delay: Time(self.exit_delay_ns),
                limit: self.limit,
                reverse_limit: self.reverse_limit,
                loss: self.loss,
                impairments: self.impairments,
                symmetric: self.symmetric,
                discipline: self.discipline,
                reverse_discipline: self.reverse_discipline,
                traces: self.traces.map(|trace| trace.map(|trace| Arc::new(trace.into_trace()))),
                shaping: self.shaping.map(ShapingSettings::into_shaping).transpose()?.unwrap_or_default(),
            },
            graph: self.graph.map(GraphSettings::into_graph).transpose()?,
            wlan: self.wlan.map(WlanSettings::into_wlan).transpose()?,
            tree: self.tree.map(TreeSettings::into_tree).transpose()?,
            tcp: self.tcp,
            transports: self.transports,
            applications: self.applications,
            duration: Time(self.duration_ns),
            stop_when_idle: self.stop_when_idle,
            seed: self.seed,
            clock_phase: self.clock_phase_ns.map(Time),
            sample_interval: Time(self.sample_interval_ns),
            watched: self.watched,
            trace_drops: self.trace_drops,
            counting: Counting { warm_up: Time(self.warm_up_ns), ..Counting::default() },
            traced: self.traced,
            trace_limit: self.trace_limit,
            subflows: self.subflows,
            probes: self.probes.iter().map(|&flow| Probe { flow, echo: self.echoes.contains(&flow) }).collect(),
            scripts: Arc::default(),
            bursts: Bursts::default(),
            heard: Vec::new(),
        })
    }
}
