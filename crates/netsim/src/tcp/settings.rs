//! Settings of the transport.

use schemars::JsonSchema;
use serde::Deserialize;
use units::Time;

use crate::error::ConfigError;

pub use crate::tcp::rules::Congestion;
pub use crate::tcp::words::EcnMode;

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
    /// As Linux does: RACK-TLP (RFC 8985), PRR (RFC 6937), reductions taken back (RFC 5682, 2883, 3522).
    Linux,
    /// As Linux does with a peer that has no selective acknowledgements.
    #[serde(rename = "linux-without-sack")]
    LinuxWithoutSack,
    /// QUIC in place of TCP: streams over UDP, losses found by packet and time thresholds (RFC 9000, 9002).
    Quic,
}

impl Recovery {
    /// Whether both ends are those of Linux.
    #[inline]
    pub(crate) fn is_linux(self) -> bool {
        matches!(self, Recovery::Linux | Recovery::LinuxWithoutSack)
    }

    /// Whether acknowledgements are selective.
    #[inline]
    pub(crate) fn is_selective(self) -> bool {
        matches!(self, Recovery::Sack | Recovery::Linux | Recovery::Quic)
    }

    /// Whether the transport is QUIC.
    #[inline]
    pub(crate) fn is_quic(self) -> bool {
        self == Recovery::Quic
    }
}

/// How streams of QUIC share their connection (RFC 9218, 4.2 and 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StreamOrder {
    /// Packet by packet in turn.
    Incremental,
    /// One after the other, as they were opened.
    Sequential,
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

/// Release of Linux whose TCP the ends of `recovery = linux` have, where releases differ and no other setting says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Kernel {
    /// Linux 6.1.
    #[serde(rename = "linux-6.1")]
    V6_1,
    /// Linux 7.3.
    #[serde(rename = "linux-7.3")]
    V7_3,
}

impl Kernel {
    /// Share of the round-trip time for which duplicates are held together, per cent (`tcp_comp_sack_rtt_percent`; before it
    /// was a sysctl, `tcp_input.c` took a twentieth).
    pub(crate) fn sack_compression_percent(self) -> u64 {
        match self {
            Kernel::V6_1 => 5,
            Kernel::V7_3 => 33,
        }
    }

    /// By how much longer that timer may take (`tcp_comp_sack_slack_ns`).
    pub(crate) fn sack_compression_slack(self) -> Time {
        match self {
            Kernel::V6_1 => Time(100_000),
            Kernel::V7_3 => Time(10_000),
        }
    }

    /// Bytes that a sender has in the queue of its host at most (`tcp_limit_output_bytes`): in Linux 6.1 one that is not paced.
    pub(crate) fn limit_output_bytes(self, paced: bool) -> u64 {
        match self {
            Kernel::V6_1 if paced => u64::MAX,
            Kernel::V6_1 => 1 << 20,
            Kernel::V7_3 => 4 << 20,
        }
    }

    /// Whether an acknowledgement that was held together has the timestamp of when it leaves, not of the last segment that it
    /// is for (`tcp_compressed_ack_kick`).
    pub(crate) fn stamps_held_anew(self) -> bool {
        self == Kernel::V7_3
    }

    /// Whether a segment with a FIN waits for room in the congestion window as others do (`tcp_cwnd_test`).
    pub(crate) fn fin_waits(self) -> bool {
        self == Kernel::V7_3
    }

    /// Whether a buffer that is shorter than what may leave takes segments of the next one (`tcp_grow_skb`, since Linux 6.10).
    pub(crate) fn grows_buffers(self) -> bool {
        self == Kernel::V7_3
    }
}

/// What ends slow start before the queue overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Hystart {
    /// Nothing.
    Off,
    /// HyStart as Linux has it with CUBIC (Ha and Rhee 2011).
    Linux,
    /// HyStart++ (RFC 9406).
    Rfc9406,
}

/// What a host keeps of a connection for the next one between the same two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CachedMetrics {
    /// Nothing.
    Off,
    /// The round-trip time for the first timeout, and reordering: what Linux keeps unless told otherwise.
    Linux,
    /// The slow-start threshold too (`tcp_no_ssthresh_metrics_save = 0`).
    Threshold,
}

/// The receiver's window, of both ends as Linux has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReceiveBuffer {
    /// Tuned where the ends are those of Linux, else the window.
    Auto,
    /// The window is `receiver_window` and does not move.
    Window,
    /// The window follows a buffer of a fixed size, as with the socket option `SO_RCVBUF`.
    Fixed,
    /// The window follows a buffer that follows what the application reads in a round trip.
    Tuned,
}

/// TCP (RFC 5681, 6582, 6675, 6298, 3042). Windows are in segments of `mss` payload bytes.
///
/// Every setting is spelled here and in the section `[tcp]` of a scenario; a test holds the two to each other by the schema
/// of this struct. None has a default: what is missing is refused by name.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
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
    /// Where the window comes from.
    pub receive_buffer: ReceiveBuffer,
    /// Memory of a receive buffer, at most where it is tuned, bytes; half of it is window.
    pub receive_memory: u32,
    /// How long packets that arrive are held to be taken as one (generic receive offload); zero takes each alone.
    #[serde(rename = "gro_ns")]
    pub gro: Time,
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
    /// Explicit congestion notification: what may be marked, and how marks come back. A rule that does not count them
    /// takes the marks of a round trip for a loss (RFC 3168, 6.1.2).
    pub ecn: EcnMode,
    /// What ends slow start when the queue begins to fill.
    pub hystart: Hystart,
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
    /// QUIC: packets that ask for an acknowledgement and have one at once when they have come together; fewer wait for
    /// `delayed_ack` (RFC 9000, 13.2.2; draft-ietf-quic-ack-frequency: the ack-eliciting threshold and one more).
    pub ack_every: u32,
    /// QUIC: TLS messages of the server, bytes.
    pub handshake_bytes: u32,
    /// QUIC: data leaves with the first packet (0-RTT).
    pub early_data: bool,
    /// QUIC: how streams share the connection.
    pub stream_order: StreamOrder,
    /// Timestamps option (RFC 7323): 12 bytes more in every header, an RTT sample per new acknowledgement.
    pub timestamps: bool,
    /// How the retransmission timeout is found.
    pub rto_rule: RtoRule,
    /// Release of Linux, with `recovery` as Linux has it.
    pub kernel: Kernel,
    /// Segments leave spaced in time, at a rate that follows from the window.
    pub pacing: bool,
    /// Segments at the start of a connection that are acknowledged at once, before acknowledgements are delayed.
    pub quick_acks: u32,
    /// Repetitions of a SYN before its sender gives up; `None` never does.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schemars(required)]
    pub syn_retries: Option<u32>,
    /// Timeouts of a SYN that do not double the next one, with `recovery` as Linux has it (`tcp_syn_linear_timeouts`: 4 from
    /// Linux 6.5 on). As many repetitions come on top of `syn_retries`.
    pub linear_syn_timeouts: u32,
    /// Repetitions of any other segment, a FIN included, before its sender gives up; `None` never does.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schemars(required)]
    pub retries: Option<u32>,
    /// In scripted connections an end that was idle for a timeout begins again with the initial window (RFC 5681, 4.1).
    pub restart_after_idle: bool,
    /// What a sender knows of its path from connections that ended before it begins.
    pub cached_metrics: CachedMetrics,
    /// Bytes of `mss` that a run has already taken for the option of accurate ECN; of no use to a caller.
    #[serde(skip)]
    pub reserved: u32,
}

/// Settings that some flows of a run have in place of [`Run::tcp`](crate::Run::tcp).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnTransport {
    /// What messages call it.
    pub name: String,
    /// All its settings.
    pub tcp: Tcp,
}

impl Tcp {
    /// Checks every bound, and what must go together.
    ///
    /// # Errors
    /// The first value out of its bounds.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let bounds: [(&'static str, u64, u64, u64, &'static str); 11] = [
            ("tcp.mss", self.mss.into(), 1, 65_000, "from 1 to 65000 bytes"),
            ("tcp.header", self.header.into(), 1, 500, "from 1 to 500 bytes"),
            ("tcp.initial_window", self.initial_window.into(), 1, 1000, "from 1 to 1000 segments"),
            ("tcp.receiver_window", self.receiver_window.into(), 1, 1 << 20, "from 1 to 1048576 segments"),
            ("tcp.receive_memory", self.receive_memory.into(), 4096, 1 << 30, "from 4096 bytes to 1 GiB"),
            ("tcp.gro_ns", self.gro.0, 0, 10_000_000, "from 0 to 10 ms"),
            ("tcp.initial_rto_ns", self.initial_rto.0, 1_000_000, 60_000_000_000, "from 1 ms to 60 s"),
            ("tcp.min_rto_ns", self.min_rto.0, 1_000_000, 60_000_000_000, "from 1 ms to 60 s"),
            ("tcp.max_rto_ns", self.max_rto.0, self.min_rto.0, 600_000_000_000, "from min_rto to 600 s"),
            ("tcp.tick_ns", self.tick.0, 1, 1_000_000_000, "from 1 ns to 1 s"),
            ("tcp.delayed_ack_ns", self.delayed_ack.0, 0, 10_000_000_000, "from 0 to 10 s"),
        ];
        for (name, value, min, max, bound) in bounds {
            if !(min..=max).contains(&value) {
                return Err(ConfigError::Value(name, value.to_string(), bound));
            }
        }
        if self.mss + self.reserved <= self.option_bytes() {
            let value = self.mss.to_string();
            return Err(ConfigError::Value("tcp.mss", value, "at least 13 bytes with the option of accurate ECN"));
        }
        self.check_quic()?;
        let of_linux = self.recovery.is_linux() && self.congestion.linux_code().is_some();
        if self.congestion.traits().needs_sack && !self.recovery.is_selective() && !of_linux {
            let word = self.congestion.word().into();
            return Err(ConfigError::Value("tcp.congestion", word, "used with tcp.recovery = sack or linux"));
        }
        if self.recovery.is_linux() && self.hystart == Hystart::Rfc9406 {
            return Err(ConfigError::Value("tcp.hystart", "rfc9406".into(), "off or linux with tcp.recovery = linux"));
        }
        if !self.recovery.is_linux() && self.cached_metrics != CachedMetrics::Off {
            let word = format!("{:?}", self.cached_metrics).to_lowercase();
            return Err(ConfigError::Value("tcp.cached_metrics", word, "off unless tcp.recovery = linux"));
        }
        if self.recovery.is_linux() && self.tick < Time::from_millis(1) {
            let value = self.tick.0.to_string();
            return Err(ConfigError::Value("tcp.tick_ns", value, "at least 1 ms, a jiffy, with tcp.recovery = linux"));
        }
        // Senders of other kinds have no release: the first one stands for none.
        if self.kernel != Kernel::V6_1 && !self.recovery.is_linux() {
            let unless = "left out but with tcp.recovery = linux, whose release it is (tcp.preset = linux-7.3)";
            return Err(ConfigError::Value("tcp.kernel", "linux-7.3".into(), unless));
        }
        if self.linear_syn_timeouts > 0 && !self.recovery.is_linux() {
            let value = self.linear_syn_timeouts.to_string();
            return Err(ConfigError::Value("tcp.linear_syn_timeouts", value, "0 but with tcp.recovery = linux"));
        }
        if !self.recovery.is_linux() {
            if !matches!(self.receive_buffer, ReceiveBuffer::Auto | ReceiveBuffer::Window) {
                let word = format!("{:?}", self.receive_buffer).to_lowercase();
                return Err(ConfigError::Value(
                    "tcp.receive_buffer",
                    word,
                    "auto or window without tcp.recovery = linux",
                ));
            }
            if self.gro > Time::ZERO {
                let value = self.gro.0.to_string();
                return Err(ConfigError::Value("tcp.gro_ns", value, "0 without tcp.recovery = linux"));
            }
        } else if self.receive_buffer() != ReceiveBuffer::Window && self.receive_memory / 4 < self.mss {
            let value = self.receive_memory.to_string();
            return Err(ConfigError::Value("tcp.receive_memory", value, "at least 4 segments of tcp.mss"));
        }
        if let Some((modes, bound)) = self.congestion.traits().needs_ecn
            && !modes.contains(&self.ecn)
        {
            return Err(ConfigError::Value("tcp.congestion", self.congestion.word().into(), bound));
        }
        Ok(())
    }

    /// # Errors
    /// The first setting of QUIC that is out of its bounds, or does not go with it.
    fn check_quic(&self) -> Result<(), ConfigError> {
        let bounds: [(&'static str, u32, u32, u32, &'static str); 2] = [
            ("tcp.ack_every", self.ack_every, 1, 1000, "from 1 to 1000 packets"),
            ("tcp.handshake_bytes", self.handshake_bytes, 100, 100_000, "from 100 to 100000 bytes"),
        ];
        if let Some(&(name, value, .., bound)) =
            bounds.iter().find(|(_, value, min, max, _)| !(min..=max).contains(&value))
        {
            return Err(ConfigError::Value(name, value.to_string(), bound));
        }
        if !self.recovery.is_quic() {
            return Ok(());
        }
        let refused = |name, value: String, bound| Err(ConfigError::Value(name, value, bound));
        if self.header < QUIC_HEADER {
            return refused("tcp.header", self.header.to_string(), "at least 54 bytes with tcp.recovery = quic");
        }
        if self.mss + self.header < QUIC_DATAGRAM {
            return refused(
                "tcp.mss",
                self.mss.to_string(),
                "1228 bytes or more with tcp.header with tcp.recovery = quic",
            );
        }
        if self.tick < Time::from_millis(1) {
            return refused("tcp.tick_ns", self.tick.0.to_string(), "at least 1 ms with tcp.recovery = quic");
        }
        if self.ecn == EcnMode::Dctcp {
            return refused("tcp.ecn", "dctcp".into(), "off, classic, accurate or l4s with tcp.recovery = quic");
        }
        for (name, on) in [
            ("tcp.fin", self.fin),
            ("tcp.timestamps", self.timestamps),
            ("tcp.recycled_senders", self.recycled_senders),
        ] {
            if on {
                return refused(name, "true".into(), "false with tcp.recovery = quic");
            }
        }
        Ok(())
    }

    /// Where the window comes from, `Auto` resolved.
    #[inline]
    pub(crate) fn receive_buffer(&self) -> ReceiveBuffer {
        match self.receive_buffer {
            ReceiveBuffer::Auto if self.recovery.is_linux() => ReceiveBuffer::Tuned,
            ReceiveBuffer::Auto => ReceiveBuffer::Window,
            kind => kind,
        }
    }

    /// Headers of a segment without SACK blocks, bytes.
    #[inline]
    pub fn headers(&self) -> u32 {
        self.header + if self.timestamps { TIMESTAMPS } else { 0 }
    }

    /// The option of accurate ECN in a data segment, bytes; 0 where data has none.
    fn option_bytes(&self) -> u32 {
        if self.recovery.is_linux() && self.ecn.counts() { ACCURATE_OF_LINUX } else { 0 }
    }

    /// Payload of a full data segment, bytes: `mss` without the option of accurate ECN, for which Linux makes room in every
    /// data segment (`tcp_current_mss`).
    pub fn payload(&self) -> u32 {
        self.mss.saturating_sub(self.option_bytes() - self.reserved).max(1)
    }

    /// The same settings, in which `mss` is the payload of a full data segment; `None` where it is so already.
    pub(crate) fn with_room(&self) -> Option<Tcp> {
        let reserved = self.option_bytes();
        (reserved > self.reserved).then(|| Tcp { mss: self.payload(), reserved, ..self.clone() })
    }

    /// Whether the rule counts marks, and is told of them.
    #[inline]
    pub(crate) fn counts_marks(&self) -> bool {
        self.ecn.tells_share() && self.congestion.traits().counts
    }

    /// Whether segments leave one by one at a rate.
    #[inline]
    pub(crate) fn is_paced(&self) -> bool {
        self.pacing || self.congestion.traits().paced
    }
}

/// AccECN option with two counters of three bytes, which bulk data changes all the time: that of its own code point and
/// that of marks (RFC 9768, 3.2.3), bytes.
pub(crate) const ACCURATE: u32 = 8;
/// The same option as Linux sends it with data: all three counters, aligned to words, bytes.
const ACCURATE_OF_LINUX: u32 = 12;

/// IPv4 and UDP, the shortest header of a 1-RTT packet with its tag (RFC 9000, 17.3), and 8 bytes for a STREAM frame.
const QUIC_HEADER: u32 = 28 + 18 + 8;
/// Smallest full datagram (RFC 9000, 14), with IPv4 and UDP headers, bytes.
const QUIC_DATAGRAM: u32 = 1200 + 28;

/// Timestamps option, aligned to words (RFC 7323, appendix A), bytes.
const TIMESTAMPS: u32 = 12;
