//! What a run is made of: network, transport, flow list. Plain data, checked by [`Run::check`].

use std::fmt;

use qdisc::{Limit, OptionError};
use schemars::JsonSchema;
use serde::Deserialize;
use units::{BitRate, Time};

use crate::counting::Counting;
use crate::graph::Graph;
use crate::script::Scripts;
use crate::udp::Bursts;
use crate::wlan::Wlan;

/// A dumbbell: senders and receivers on access links around one bottleneck link with a queue in
/// each direction (Chen 2012, Fig. 4.1).
#[derive(Clone, Debug)]
pub struct Network {
    /// Speed of the bottleneck.
    pub rate: BitRate,
    /// Speed of the bottleneck in the reverse direction, if another.
    pub reverse_rate: Option<BitRate>,
    /// Propagation delay of the bottleneck, one way.
    pub delay: Time,
    /// Speed of each access link, each direction.
    pub access_rate: BitRate,
    /// Speed of a receiver's access link, if another.
    pub exit_rate: Option<BitRate>,
    /// Speed of a receiver's access link from the receiver, if another than to it.
    pub exit_rate_up: Option<BitRate>,
    /// Propagation delay of a sender's access link, one way.
    pub access_delay: Time,
    /// Propagation delay of a receiver's access link, one way.
    pub exit_delay: Time,
    /// Buffer limit of the forward queue.
    pub limit: Limit,
    /// Buffer limit of the reverse queue.
    pub reverse_limit: Limit,
    /// Probability that the bottleneck loses a packet with data after its queue, either direction.
    pub loss: f64,
    /// Discipline of the forward queue and its options.
    pub discipline: (String, Vec<(String, String)>),
    /// Discipline of the reverse queue and its options.
    pub reverse_discipline: (String, Vec<(String, String)>),
}

/// Window from which the slow-start threshold is halved after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossWindow {
    /// Data in flight (RFC 5681, Eq. 4).
    Flight,
    /// Congestion window, at most the receiver window (ns-2).
    Cwnd,
}

/// Congestion window when fast recovery ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RecoveryExit {
    /// `min(ssthresh, max(flight, 1) + 1)` (RFC 6582, 3.2, step 3, option 1).
    Deflate,
    /// Left as partial acknowledgements deflated it (ns-2, `exit_recovery_fix_ 0`).
    AsIs,
}

/// How the sender finds and repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Recovery {
    /// Fast recovery ends with the first new acknowledgement (RFC 5681, 3.2).
    Reno,
    /// Partial acknowledgements repair one loss per round trip (RFC 6582).
    NewReno,
    /// Selective acknowledgements (RFC 2018, 6675).
    Sack,
}

/// What ends the back-off of the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BackoffEnd {
    /// An RTT sample: the acknowledgement of a segment sent once (Karn and Partridge 1987, 3; RFC 6298, 5).
    Sample,
    /// Any new acknowledgement (ns-3, `TcpSocketBase::NewAck`).
    Ack,
}

/// How RTT samples become the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RtoRule {
    /// RFC 6298; with a sample per acknowledgement the gains of RFC 7323, appendix G.
    Rfc6298,
    /// Linux: `min_rto` bounds 4 RTTVAR instead of the timeout, and RTTVAR follows the largest deviation of a round
    /// trip.
    Linux,
}

/// How the congestion window grows and shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Congestion {
    /// Additive increase, multiplicative decrease: a segment per round trip, a half (RFC 5681).
    Aimd,
    /// Inverse increase, additive decrease: binomial with k = 1, l = 0 (Bansal and Balakrishnan 2001).
    Iiad,
    /// Binomial with k = l = 1/2 (Bansal and Balakrishnan 2001).
    Sqrt,
    /// CUBIC (RFC 9438).
    Cubic,
    /// BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00); needs [`Recovery::Sack`], and is paced.
    Bbr,
}

/// TCP (RFC 5681, 6582, 6675, 6298, 3042). Windows are in segments of `mss` payload bytes.
///
/// Every setting is spelled here and in the section `[tcp]` of a scenario; a test holds the two to each other by the schema
/// of this struct. None has a default: what is missing is refused by name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tcp {
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Headers of every segment, bytes.
    pub header: u32,
    /// Initial window after the handshake, segments.
    pub initial_window: u32,
    /// Receiver window, segments.
    pub receiver_window: u32,
    /// Retransmission timeout before the first RTT sample.
    #[serde(rename = "initial_rto_ns")]
    pub initial_rto: Time,
    /// Lower bound of the retransmission timeout.
    #[serde(rename = "min_rto_ns")]
    pub min_rto: Time,
    /// Upper bound of the retransmission timeout.
    #[serde(rename = "max_rto_ns")]
    pub max_rto: Time,
    /// Granularity of the RTT measurement; 1 ns for a continuous clock.
    #[serde(rename = "tick_ns")]
    pub tick: Time,
    /// Delayed-acknowledgement time; zero acknowledges every segment.
    #[serde(rename = "delayed_ack_ns")]
    pub delayed_ack: Time,
    /// FIN exchange at the end; without it a flow ends with its last data.
    pub fin: bool,
    /// The FIN rides on the last data segment; in scripted connections it stays a segment of its own.
    pub fin_on_data: bool,
    /// Bare acknowledgements with which the receiver answers the FIN before it sends its own.
    pub close_acks: u32,
    /// A bare ACK completes the handshake before the first data.
    pub handshake_ack: bool,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// Growth and reduction of the congestion window.
    pub congestion: Congestion,
    /// Explicit congestion notification (RFC 3168): data is sent as ECT(0), and a mark halves the window
    /// as a loss would.
    pub ecn: bool,
    /// Slow start ends when the queue begins to fill: HyStart (Ha and Rhee 2011).
    pub hystart: bool,
    /// The window grows by segments acknowledged, not by acknowledgements (RFC 3465).
    pub byte_counting: bool,
    /// ns-2's way with duplicates: limited transmit also repeats what a timeout has given up, and a second
    /// copy of the last segment in order waits for its acknowledgement like the first.
    pub lax_duplicates: bool,
    /// Restart the timer on the first partial acknowledgement only (RFC 6582, 4: Impatient).
    pub impatient: bool,
    /// Segments sent per acknowledgement during recovery at most; 0 for no bound.
    pub recovery_burst: u32,
    /// What is halved after a loss.
    pub loss_window: LossWindow,
    /// Window at the end of recovery.
    pub recovery_exit: RecoveryExit,
    /// The acknowledgement of all that was out at a timeout opens the window like those before it; else only if it
    /// acknowledges more (ns-3).
    pub repair_end_opens: bool,
    /// What ends the back-off of the retransmission timeout.
    pub backoff_ends: BackoffEnd,
    /// A SYN that was repeated is timed, from its first copy (ns-3).
    pub time_repeated_syn: bool,
    /// A lost SYN also lowers the slow-start threshold to 2 (ns-2).
    pub syn_loss_lowers_ssthresh: bool,
    /// Senders are taken from a pool per pair of hosts, the last returned first, and one that ever lost
    /// a SYN starts with a window of one segment ever after: what recycling ns-2 agents with `reset`
    /// does, since `wnd_init_` survives it.
    pub recycled_senders: bool,
    /// What finds and repairs losses.
    pub recovery: Recovery,
    /// Timestamps option (RFC 7323): 12 bytes more in every header, an RTT sample per new acknowledgement.
    pub timestamps: bool,
    /// How the retransmission timeout is found.
    pub rto_rule: RtoRule,
    /// Segments leave spaced in time, at a rate that follows from the window.
    pub pacing: bool,
    /// Segments at the start of a connection that are acknowledged at once, before acknowledgements are delayed.
    pub quick_acks: u32,
    /// Repetitions of a SYN before its sender gives up; `None` never does.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schemars(required)]
    pub syn_retries: Option<u32>,
    /// Repetitions of any other segment, a FIN included, before its sender gives up; `None` never does.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schemars(required)]
    pub retries: Option<u32>,
    /// In scripted connections an end that was idle for a timeout begins again with the initial window (RFC 5681, 4.1).
    pub restart_after_idle: bool,
}

impl Tcp {
    /// Headers of a segment without SACK blocks, bytes.
    #[inline]
    pub(crate) fn headers(&self) -> u32 {
        self.header + if self.timestamps { TIMESTAMPS } else { 0 }
    }

    /// Whether segments leave one by one at a rate.
    #[inline]
    pub(crate) fn is_paced(&self) -> bool {
        self.pacing || self.congestion == Congestion::Bbr
    }
}

/// Timestamps option, aligned to words (RFC 7323, appendix A), bytes.
const TIMESTAMPS: u32 = 12;

/// One transfer of the workload.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowSpec {
    /// When the opener sends its SYN, or UDP its first packet; since the end of stage `after` where there is one.
    pub start: Time,
    /// Payload to deliver, bytes.
    pub size_bytes: u64,
    /// Round-trip time without queueing; `None` for that of the network.
    pub rtt: Option<Time>,
    /// Index of the sending host.
    pub src: u32,
    /// Index of the receiving host.
    pub dst: u32,
    /// Data crosses the bottleneck in its reverse direction.
    pub up: bool,
    /// The receiver of the data sends the SYN.
    pub receiver_opens: bool,
    /// Constant-rate datagrams: wire length of each, bytes, and the time between two.
    pub udp: Option<(u32, Time)>,
    /// Stage this flow belongs to: a number below the number of flows.
    pub stage: Option<u32>,
    /// Stage that must be over first.
    pub after: Option<u32>,
    /// What the ends say to each other, by number in the run's scripts; `size_bytes` is then what both say.
    pub script: Option<u32>,
    /// Growth and reduction of the congestion window; `None` for [`Tcp::congestion`].
    pub congestion: Option<Congestion>,
}

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
    /// Transport.
    pub tcp: Tcp,
    /// End of the run.
    pub duration: Time,
    /// End the run with its last flow, if that comes before `duration`.
    pub stop_when_idle: bool,
    /// Seed of all random streams.
    pub seed: u64,
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
    /// What scripted connections say.
    pub scripts: Scripts,
    /// UDP flows that do not send at one constant rate.
    pub bursts: Bursts,
}

/// Why a run cannot start.
#[derive(Clone, Debug, PartialEq)]
pub enum ConfigError {
    /// A value out of its bounds: name, value, bound.
    Value(&'static str, String, &'static str),
    /// Discipline or its options.
    Discipline(OptionError),
    /// A network that makes no sense.
    Graph(String),
    /// A flow that makes no sense: index and reason.
    Flow(usize, &'static str),
    /// The recording could not be written: reason.
    Recording(String),
    /// The caller asked the run to stop.
    Cancelled,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Value(name, value, bound) => write!(f, "{name} = {value}: must be {bound}"),
            ConfigError::Discipline(error) => write!(f, "{error}"),
            ConfigError::Graph(reason) => write!(f, "network: {reason}"),
            ConfigError::Flow(index, reason) => write!(f, "flow {index}: {reason}"),
            ConfigError::Recording(reason) => write!(f, "recording: {reason}"),
            ConfigError::Cancelled => write!(f, "cancelled"),
        }
    }
}

impl std::error::Error for ConfigError {}

impl From<OptionError> for ConfigError {
    fn from(error: OptionError) -> Self {
        ConfigError::Discipline(error)
    }
}

/// Longest run, so that time and order fit the event key: 2 years.
pub(crate) const LONGEST: Time = Time(63_072_000 * 1_000_000_000);
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
        let (network, tcp) = (&self.network, &self.tcp);
        let (slowest, fastest, rates) = (1000, 400_000_000_000, "from 1 kbit/s to 400 Gbit/s");
        let bounds: [(&'static str, u64, u64, u64, &'static str); 16] = [
            ("duration_ns", self.duration.0, 1, LONGEST.0, "above 0 and at most 2 years"),
            ("sample_interval_ns", self.sample_interval.0, 0, LONGEST.0, "at most 2 years"),
            ("network.rate_bps", network.rate.bps(), slowest, fastest, rates),
            ("network.access_rate_bps", network.access_rate.bps(), slowest, fastest, rates),
            ("network.delay_ns", network.delay.0, 0, MINUTE.0, "at most 60 s"),
            ("network.access_delay_ns", network.access_delay.0, 0, MINUTE.0, "at most 60 s"),
            ("network.exit_delay_ns", network.exit_delay.0, 0, MINUTE.0, "at most 60 s"),
            ("tcp.mss", tcp.mss.into(), 1, 65_000, "from 1 to 65000 bytes"),
            ("tcp.header", tcp.header.into(), 1, 500, "from 1 to 500 bytes"),
            ("tcp.initial_window", tcp.initial_window.into(), 1, 1000, "from 1 to 1000 segments"),
            ("tcp.receiver_window", tcp.receiver_window.into(), 1, 1 << 20, "from 1 to 1048576 segments"),
            ("tcp.initial_rto_ns", tcp.initial_rto.0, 1_000_000, 60_000_000_000, "from 1 ms to 60 s"),
            ("tcp.min_rto_ns", tcp.min_rto.0, 1_000_000, 60_000_000_000, "from 1 ms to 60 s"),
            ("tcp.max_rto_ns", tcp.max_rto.0, tcp.min_rto.0, 600_000_000_000, "from min_rto to 600 s"),
            ("tcp.tick_ns", tcp.tick.0, 1, 1_000_000_000, "from 1 ns to 1 s"),
            ("tcp.delayed_ack_ns", tcp.delayed_ack.0, 0, 10_000_000_000, "from 0 to 10 s"),
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
        if tcp.congestion == Congestion::Bbr && tcp.recovery != Recovery::Sack {
            return Err(ConfigError::Value("tcp.congestion", "bbr".into(), "used with tcp.recovery = sack"));
        }
        let indices = [("watched", self.watched.as_slice()), ("traced", self.traced.as_slice())];
        for (name, indices) in indices {
            if let Some(index) = indices.iter().find(|&&index| index as usize >= flows.len()) {
                return Err(ConfigError::Value(name, index.to_string(), "the index of a flow"));
            }
        }
        self.counting.check(self, flows.len())?;
        let mut before = Time::ZERO;
        for (index, flow) in flows.iter().enumerate().filter(|(_, flow)| flow.after.is_none()) {
            if flow.start < before {
                return Err(ConfigError::Flow(index, "starts before the one listed before it"));
            }
            before = flow.start;
        }
        flows.iter().enumerate().try_for_each(|(i, flow)| {
            self.scripts.check(i, flow, tcp.mss, MOST_SEGMENTS)?;
            self.check_flow(i, flow)
        })?;
        self.bursts.check(flows)?;
        if let Some(wlan) = &self.wlan {
            if self.graph.is_some() {
                return Err(ConfigError::Graph("a wireless cell: must be without other links".into()));
            }
            wlan.check(flows)?;
        }
        self.graph.as_ref().map_or(Ok(()), |graph| graph.check(flows))
    }

    fn check_flow(&self, index: usize, flow: &FlowSpec) -> Result<(), ConfigError> {
        let reason = match flow.udp {
            _ if flow.start > LONGEST => "starts after 2 years",
            _ if flow.rtt.is_some_and(|rtt| rtt > MINUTE) => "round-trip time above 60 s",
            _ if flow.src.max(flow.dst) >= MOST_HOSTS => "host index above 16777215",
            _ if flow.size_bytes == 0 => "size of 0 bytes",
            Some((len, _)) if !(crate::udp::HEADER + 1..=65_535).contains(&len) => "packet length outside 29 to 65535",
            Some((_, gap)) if gap == Time::ZERO || gap > LONGEST_GAP => "time between packets outside 1 ns to 1 day",
            Some((len, _)) if flow.size_bytes.div_ceil(u64::from(len - crate::udp::HEADER)) >= 1 << 40 => "too large",
            None if flow.size_bytes.div_ceil(self.tcp.mss.into()) > MOST_SEGMENTS => "more than 4292870144 segments",
            _ if flow
                .congestion
                .is_some_and(|own| (own == Congestion::Bbr) != (self.tcp.congestion == Congestion::Bbr)) =>
            {
                "BBR beside a window rule"
            }
            _ if flow.congestion.is_some() && flow.script.is_some() => "a congestion rule of its own with a script",
            _ => return Ok(()),
        };
        Err(ConfigError::Flow(index, reason))
    }
}
