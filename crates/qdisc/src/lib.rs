//! Queueing disciplines: one file each, and one row in [`disciplines`].
//!
//! A discipline sees small [`Packet`] descriptors and never a simulator object. It is pure: the
//! time, the random stream and the buffer limit reach it through [`Env`], which also keeps the
//! accounting, so that the identities
//!
//! * received = enqueued + dropped before enqueue
//! * backlog = enqueued - dequeued - dropped after enqueue
//!
//! hold in packets and bytes for every discipline. The conformance suite (`tests/conformance.rs`)
//! checks them after every call for every row.

mod base;
pub mod disciplines;
pub mod htb;
mod packet;
mod parts;
mod queue;
mod spec;
#[cfg(test)]
mod test_queue;

pub use base::{Discipline, DropReason, Env, Fate, Limit, Nonresponsive, Sorted, Stats};
pub use packet::{Ecn, Kind, Packet};
pub use queue::Qdisc;
pub use spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};
