//! Discrete-event simulator of a congested link: hosts, access pipes and bottleneck ports with any
//! discipline of `qdisc`, TCP and UDP sources, one record per flow.
//!
//! * Time is integer nanoseconds; equal times run in insertion order ([`event`]).
//! * One event is pending per pipe, port or timer, not per packet in flight.
//! * A link that can neither drop nor reorder (an access [`pipe`]) needs no event for the end of a
//!   transmission: departure times follow from arrival times.
//! * One seed gives one result, on every platform, and the same draws under every discipline.

pub mod config;
pub mod counting;
mod event;
pub mod graph;
mod hosts;
mod loss;
mod mrg32k3a;
mod net;
mod options;
mod pipe;
mod port;
pub mod record;
mod recording;
pub mod script;
mod sim;
mod slab;
mod stages;
mod subflows;
mod tcp;
mod trace;
mod udp;
mod waits;
pub mod wlan;

pub use config::{ConfigError, FlowSpec, Network, Run, Tcp};
pub use counting::{ClassCount, Counting};
pub use graph::{Graph, Hosts, Interface, Link};
pub use record::{Counters, Drop, FlowRecord, InterfaceCounts, Output, Samples};
pub use recording::{End, Recording, Side};
pub use script::{Part, Scripts, Train, TrainRecord};
pub use sim::{Alone, Control, alone, run, run_recorded};
pub use subflows::{Subflow, Volume};
pub use trace::PacketTrace;
pub use udp::{Burst, Bursts};
pub use waits::Waits;
pub use wlan::Wlan;
