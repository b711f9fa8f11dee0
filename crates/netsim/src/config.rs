//! What a run is made of: network, transport, flow list. Plain data, checked by [`Run::check`].

use std::borrow::Cow;
use std::sync::Arc;

use units::{BitRate, Time};

use crate::app::Application;
use crate::error::ConfigError;
use crate::flow::{FlowSpec, LONGEST};
use crate::graph::Graph;
use crate::network::Network;
use crate::out::counting::Counting;
use crate::out::probes::{self, Probe};
use crate::script::Scripts;
use crate::tcp::settings::{OwnTransport, Tcp};
use crate::tree::Tree;
use crate::udp::Bursts;
use crate::wlan::Wlan;

/// One run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Network.
    pub network: Network,
    /// Any network in place of the dumbbell. Flows then name hosts by their number in it, and `up` only says at
    /// which end a round-trip time of their own is made up for.
    pub graph: Option<Graph>,
    /// A wireless cell in place of the bottleneck link: `network.discipline` and `limit` are those of the access
    /// point's queue, the reverse ones those of each station's, senders are behind the access point, and the rates,
    /// delays and losses of the bottleneck and of the receivers' side mean nothing.
    pub wlan: Option<Wlan>,
    /// A shaper in place of the bottleneck link of the dumbbell: its rates, disciplines and limits mean nothing.
    pub tree: Option<Tree>,
    /// Transport of the flows that have none of their own.
    pub tcp: Tcp,
    /// Transports of their own, by [`FlowSpec::transport`]. Those of equal settings are one transport.
    pub transports: Vec<OwnTransport>,
    /// End of the run.
    pub duration: Time,
    /// End the run with its last flow, if that comes before `duration`.
    pub stop_when_idle: bool,
    /// Seed of all random streams.
    pub seed: u64,
    /// Age of every host's tick at time zero; drawn for each sender when absent.
    pub clock_phase: Option<Time>,
    /// Time between samples; zero for none.
    pub sample_interval: Time,
    /// Flows whose progress is sampled, by index.
    pub watched: Vec<u32>,
    /// Keep a record of each drop.
    pub trace_drops: bool,
    /// From when, and by which classes of flows, the forward queue is counted.
    pub counting: Counting,
    /// Flows whose packets are traced, by index.
    pub traced: Vec<u32>,
    /// Packets traced at most, and as many sub-flows.
    pub trace_limit: u64,
    /// Keep a record of each sub-flow in the forward queue.
    pub subflows: bool,
    /// What scripted connections say; runs of one list share it.
    pub scripts: Arc<Scripts>,
    /// UDP flows that do not send at one constant rate.
    pub bursts: Bursts,
    /// Applications in the loop, by [`FlowSpec::application`].
    pub applications: Vec<Application>,
    /// UDP flows that measure and are no part of the workload.
    pub probes: Vec<Probe>,
    /// UDP flows of the workload whose arrivals are written down ([`Arrivals`](crate::Arrivals)), by ascending index.
    pub heard: Vec<u32>,
}

const MINUTE: Time = Time(60_000_000_000);
/// Longest time between two datagrams: added to the longest run it still fits the event key.
const LONGEST_GAP: Time = Time(86_400_000_000_000);
/// Hosts on one side, so that the indices of their links fit the event key.
const MOST_HOSTS: u32 = 1 << 24;
/// Largest number of segments of a flow, so that a sequence number plus a window fits 32 bits.
const MOST_SEGMENTS: u64 = (1 << 32) - (1 << 21);

impl Run {
    /// Checks every bound and each flow.
    ///
    /// # Errors
    /// The first value out of its bounds.
    pub fn check(&self, flows: &[FlowSpec]) -> Result<(), ConfigError> {
        let network = &self.network;
        let (slowest, fastest, rates) = (1000, 400_000_000_000, "from 1 kbit/s to 400 Gbit/s");
        let back = network.reverse_delay.unwrap_or(network.delay);
        let bounds: [(&'static str, u64, u64, u64, &'static str); 8] = [
            ("duration_ns", self.duration.0, 1, LONGEST.0, "above 0 and at most 2 years"),
            ("sample_interval_ns", self.sample_interval.0, 0, LONGEST.0, "at most 2 years"),
            ("network.rate_bps", network.rate.bps(), slowest, fastest, rates),
            ("network.access_rate_bps", network.access_rate.bps(), slowest, fastest, rates),
            ("network.delay_ns", network.delay.0, 0, MINUTE.0, "at most 60 s"),
            ("network.reverse_delay_ns", back.0, 0, MINUTE.0, "at most 60 s"),
            ("network.access_delay_ns", network.access_delay.0, 0, MINUTE.0, "at most 60 s"),
            ("network.exit_delay_ns", network.exit_delay.0, 0, MINUTE.0, "at most 60 s"),
        ];
        let rate = |rate: Option<BitRate>| rate.unwrap_or(network.rate).bps();
        let optional = [
            ("network.reverse_rate_bps", rate(network.reverse_rate), slowest, fastest, rates),
            ("network.exit_rate_bps", rate(network.exit_rate), slowest, fastest, rates),
            ("network.exit_rate_up_bps", rate(network.exit_rate_up), slowest, fastest, rates),
        ];
        for (name, value, min, max, bound) in bounds.into_iter().chain(optional) {
            if !(min..=max).contains(&value) {
                return Err(ConfigError::Value(name, value.to_string(), bound));
            }
        }
        if !(0.0..1.0).contains(&network.loss) {
            return Err(ConfigError::Value("network.loss", network.loss.to_string(), "at least 0 and below 1"));
        }
        self.tcp.check()?;
        for own in &self.transports {
            own.tcp.check().map_err(|error| ConfigError::Transport(own.name.clone(), Box::new(error)))?;
        }
        let known = |flow: &FlowSpec| usize::from(flow.transport) <= self.transports.len();
        if let Some(index) = flows.iter().position(|flow| !known(flow)) {
            return Err(ConfigError::Flow(index, "a transport that is not listed"));
        }
        let indices = [("watched", self.watched.as_slice()), ("traced", self.traced.as_slice())];
        for (name, indices) in indices {
            if let Some(index) = indices.iter().find(|&&index| index as usize >= flows.len()) {
                return Err(ConfigError::Value(name, index.to_string(), "the index of a flow"));
            }
        }
        if let Some(pair) = self.heard.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(ConfigError::Value("heard", pair[1].to_string(), "above the flow named before it"));
        }
        let is_udp = |flow: u32| flows.get(flow as usize).is_some_and(|flow| flow.udp.is_some());
        if let Some(index) = self.heard.iter().find(|&&index| !is_udp(index)) {
            return Err(ConfigError::Value("heard", index.to_string(), "the index of a UDP flow"));
        }
        self.counting.check(self.duration, flows.len())?;
        let mut before = Time::ZERO;
        for (index, flow) in flows.iter().enumerate().filter(|(_, flow)| flow.after.is_none()) {
            if flow.start < before {
                return Err(ConfigError::Flow(index, "starts before the one listed before it"));
            }
            before = flow.start;
        }
        self.applications.iter().try_for_each(Application::check)?;
        flows.iter().enumerate().try_for_each(|(i, flow)| {
            self.scripts.check(i, flow, self.transport(flow.transport).payload(), MOST_SEGMENTS)?;
            if let Some(script) = flow.script {
                self.scripts.check_streams(i, script, self.transport(flow.transport).recovery.is_quic())?;
            }
            self.check_application(i, flow)?;
            self.check_flow(i, flow)
        })?;
        self.bursts.check(flows)?;
        probes::check(&self.probes, flows)?;
        self.check_shaping()?;
        if let Some(wlan) = &self.wlan {
            if !network.impairments.is_empty() {
                let count = network.impairments.len().to_string();
                return Err(ConfigError::Value("network.impairments", count, "none with a wireless cell"));
            }
            if self.graph.is_some() {
                return Err(ConfigError::Graph("a wireless cell: must be without other links".into()));
            }
            wlan.check(flows)?;
        }
        if let Some(tree) = &self.tree {
            if self.graph.is_some() || self.wlan.is_some() || network.symmetric {
                return Err(ConfigError::Graph("a tree: must be in a dumbbell whose sides differ".into()));
            }
            tree.check(flows)?;
        }
        self.graph.as_ref().map_or(Ok(()), |graph| graph.check(flows))
    }

    /// Traces and shapers of the bottleneck.
    fn check_shaping(&self) -> Result<(), ConfigError> {
        let (network, shaping) = (&self.network, &self.network.shaping);
        for (trace, name) in network.traces.iter().zip(["network", "network, reverse"]) {
            trace.as_ref().map_or(Ok(()), |trace| trace.check(name))?;
        }
        let varied = network.traces.iter().any(Option::is_some);
        let shaped = shaping.forward.is_some() || shaping.reverse.is_some();
        if (varied || shaped || shaping.controller.is_some()) && (self.wlan.is_some() || self.graph.is_some()) {
            return Err(ConfigError::Graph("a trace or a shaper of the bottleneck: must be that of a dumbbell".into()));
        }
        if shaped && !network.impairments.is_empty() {
            return Err(ConfigError::Graph("a shaper: must be without impairments".into()));
        }
        for shaper in [shaping.forward, shaping.reverse].into_iter().flatten() {
            let bps = shaper.rate.bps();
            if !(1000..=400_000_000_000).contains(&bps) {
                return Err(ConfigError::Value("shaper.rate_bps", bps.to_string(), "from 1 kbit/s to 400 Gbit/s"));
            }
        }
        shaping.controller.as_ref().map_or(Ok(()), |controller| controller.check(&self.probes))
    }

    /// Application of a flow; it must be listed.
    pub(crate) fn application(&self, flow: &FlowSpec) -> Option<&Application> {
        usize::from(flow.application).checked_sub(1).map(|own| &self.applications[own])
    }

    fn check_application(&self, index: usize, flow: &FlowSpec) -> Result<(), ConfigError> {
        if usize::from(flow.application) > self.applications.len() {
            return Err(ConfigError::Flow(index, "an application that is not listed"));
        }
        let Some(application) = self.application(flow) else { return Ok(()) };
        if self.bursts.part(index as u32).is_some() || self.probes.iter().any(|probe| probe.flow as usize == index) {
            return Err(ConfigError::Flow(index, "an application with bursts, or that is a probe"));
        }
        application.check_flow(index, flow)
    }

    /// The run in which `mss` of every transport is the payload of a full data segment. It must have been checked.
    pub(crate) fn with_room(&self) -> Cow<'_, Run> {
        let mut found = Cow::Borrowed(self);
        if let Some(tcp) = self.tcp.with_room() {
            found.to_mut().tcp = tcp;
        }
        for (place, own) in self.transports.iter().enumerate() {
            if let Some(tcp) = own.tcp.with_room() {
                found.to_mut().transports[place].tcp = tcp;
            }
        }
        found
    }

    /// Transport of a number that a flow has: it must be listed.
    pub(crate) fn transport(&self, number: u16) -> &Tcp {
        usize::from(number).checked_sub(1).map_or(&self.tcp, |own| &self.transports[own].tcp)
    }

    pub(crate) fn check_flow(&self, index: usize, flow: &FlowSpec) -> Result<(), ConfigError> {
        let reason = match flow.udp {
            _ if flow.start > LONGEST => "starts after 2 years",
            _ if flow.rtt.is_some_and(|rtt| rtt > MINUTE) => "round-trip time above 60 s",
            _ if flow.src.max(flow.dst) >= MOST_HOSTS => "host index above 16777215",
            _ if flow.size_bytes == 0 => "size of 0 bytes",
            Some((len, _)) if !(crate::udp::HEADER + 1..=65_535).contains(&len) => "packet length outside 29 to 65535",
            Some((_, gap)) if gap == Time::ZERO || gap > LONGEST_GAP => "time between packets outside 1 ns to 1 day",
            Some((len, _)) if flow.size_bytes.div_ceil(u64::from(len - crate::udp::HEADER)) >= 1 << 40 => "too large",
            None if flow.size_bytes.div_ceil(self.transport(flow.transport).payload().into()) > MOST_SEGMENTS => {
                "more than 4292870144 segments"
            }
            _ => return Ok(()),
        };
        Err(ConfigError::Flow(index, reason))
    }
}
