//! The network of a run, where it is neither a graph nor a cell.

use std::sync::Arc;

use qdisc::Limit;
use units::{BitRate, Time};

use crate::autorate::Autorate;
use crate::link_trace::LinkTrace;
use crate::wire::impairments::Impairment;

/// What paces packets of one direction, so that they wait in its queue and not in that of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shaper {
    /// Rate at which packets may pass; where a controller sets it, the first one.
    pub rate: BitRate,
    /// Buffer limit of the link's own queue, which is FIFO, as that of a modem.
    pub modem: Limit,
    /// Where it is.
    pub place: ShaperPlace,
}

/// Where a shaper paces packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShaperPlace {
    /// Before the link, as at the interface that sends into it.
    #[default]
    Before,
    /// Behind the link, as at the interface that receives from it: bursts wait in the queue of the link first.
    Behind,
}

/// Shapers of the bottleneck, and what sets their rates.
#[derive(Clone, Debug, Default)]
pub struct Shaping {
    /// Of the bottleneck. It has the discipline and the limit of the forward queue.
    pub forward: Option<Shaper>,
    /// Of the bottleneck in the reverse direction, with those of the reverse queue.
    pub reverse: Option<Shaper>,
    /// What sets the rates of both.
    pub controller: Option<Autorate>,
}

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
    /// Propagation delay of the bottleneck in the reverse direction, if another.
    pub reverse_delay: Option<Time>,
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
    /// What the bottleneck does to packets that are named one by one, behind its queues.
    pub impairments: Vec<Impairment>,
    /// Neither side differs from the other but in its name, so that a flow list whose directions are turned round gives
    /// the same run turned round: hosts of both sides are numbered together, the delay that a round-trip time of a
    /// flow's own takes is that of the sender of the data, and both queues and both losses draw the same random numbers.
    pub symmetric: bool,
    /// Discipline of the forward queue and its options.
    pub discipline: (String, Vec<(String, String)>),
    /// Discipline of the reverse queue and its options.
    pub reverse_discipline: (String, Vec<(String, String)>),
    /// Rate and added delay of the bottleneck over time, each direction, in place of the rates above, which then are what
    /// loads are measured by.
    pub traces: [Option<Arc<LinkTrace>>; 2],
    /// Shapers before the bottleneck.
    pub shaping: Shaping,
}
