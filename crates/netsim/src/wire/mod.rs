//! What lies between the hosts: ports with their queues, pipes with their delays, losses.

pub(crate) mod frames;
pub(crate) mod handle;
pub(crate) mod impairments;
pub(crate) mod loss;
pub(crate) mod net;
pub(crate) mod pipe;
pub(crate) mod port;
pub(crate) mod queue;
pub(crate) mod varying;
