//! Discrete-event simulator of a congested link: hosts, access pipes and bottleneck ports with any
//! discipline of `qdisc`, TCP and UDP sources, one record per flow.
//!
//! * Time is integer nanoseconds; equal times run in insertion order ([`event`]).
//! * One event is pending per pipe, port or timer, not per packet in flight.
//! * A link that can neither drop nor reorder (an access [`pipe`]) needs no event for the end of a
//!   transmission: departure times follow from arrival times.
//! * One seed gives one result, on every platform, and the same draws under every discipline.

pub mod app;
mod autorate;
pub mod config;
mod error;
mod event;
mod flow;
pub mod graph;
mod host_paths;
mod link_trace;
mod mrg32k3a;
mod network;
mod options;
pub mod out;
mod prefetch;
mod quic;
pub mod script;
mod sim;
mod slab;
mod stages;
pub mod tcp;
pub mod tree;
mod udp;
mod wire;
pub mod wlan;

pub use app::{Application, FrameRecord, SegmentRecord};
pub use autorate::{Autorate, Bounds};
pub use config::Run;
pub use error::ConfigError;
pub use flow::FlowSpec;
pub use graph::{Graph, Hosts, Interface, Link};
pub use link_trace::{Law, LinkTrace, Step};
pub use network::{Network, Shaper, ShaperPlace, Shaping};
pub use out::accounting::{Account, Books, Count};
pub use out::counting::Counting;
pub use out::pcap::{End, Recording, Side};
pub use out::probes::{Arrivals, Probe, ProbePacket};
pub use out::queue_delay::QueueDelay;
pub use out::records::{
    ClassCount, Counters, Departures, Drop, FlowRecord, InterfaceCounts, LinkSecond, Output, Sample, TreeClassCounts,
};
pub use out::subflows::{Subflow, Volume};
pub use out::trace::{PacketTrace, Timeout};
pub use script::{Part, Scripts, Train, TrainRecord};
pub use sim::{Alone, Control, Feed, Sink, alone, run, run_both_ways, run_recorded, run_streamed};
pub use tcp::endpoint::{ByteCounts, Endpoint, Incoming, Outgoing, Role};
pub use tcp::settings::{OwnTransport, Tcp};
pub use tree::{CircuitQueue, Share, Tree, TreeClass};
pub use udp::{Burst, Bursts};
pub use wire::impairments::{Effect, Impairment, Way, Whom};
pub use wlan::Wlan;
