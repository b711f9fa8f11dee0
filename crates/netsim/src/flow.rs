//! A transfer of the workload.

use units::Time;

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
    /// Transport: 0 for [`Run::tcp`](crate::Run::tcp), `n` for number `n - 1` of
    /// [`Run::transports`](crate::Run::transports). Of no effect on datagrams.
    pub transport: u16,
    /// Application in the loop: `n` for number `n - 1` of [`Run::applications`](crate::Run::applications), 0 for none.
    /// What it sends is its own matter, and `size_bytes` is at least that.
    pub application: u16,
    /// Mark that its packets carry, [`Packet::mark`](qdisc::Packet::mark).
    pub mark: u32,
}

/// Longest run, so that time and order fit the event key: 2 years.
pub(crate) const LONGEST: Time = Time(63_072_000 * 1_000_000_000);
