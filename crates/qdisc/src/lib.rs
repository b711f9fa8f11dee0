//! Queueing disciplines: one file each, one row in [`registry`].
//!
//! A discipline sees small [`Packet`] descriptors and never a simulator object. It is pure: the
//! time, the random stream and the buffer limit reach it through [`Env`], which also keeps the
//! accounting, so that the identities
//!
//! * received = enqueued + dropped before enqueue
//! * backlog = enqueued - dequeued - dropped after enqueue
//!
//! hold in packets and bytes for every discipline. The conformance suite (`tests/conformance.rs`)
//! checks them after every call for every registry row.

mod base;
mod classes;
mod flow_table;
#[allow(dead_code)]
mod hash;
#[allow(dead_code)]
mod lists;
mod order;
mod packet;
pub mod registry;
mod spec;
#[cfg(test)]
mod trial;

pub mod efd;
pub mod fifo;
pub mod lars;
pub mod las;
pub mod run2c;
pub mod scfq;

pub use base::{Discipline, DropReason, Env, Fate, Limit, Qdisc, Sorted, Stats};
pub use packet::{Ecn, Kind, Packet};
pub use spec::{Family, OptionError, Options, Param, Spec, Value};
