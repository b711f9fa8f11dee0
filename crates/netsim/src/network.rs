//! The network of a run, where it is neither a graph nor a cell.

use qdisc::Limit;
use units::{BitRate, Time};

use crate::wire::impairments::Impairment;

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
}
