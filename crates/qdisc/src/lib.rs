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

mod agenda;
mod base;
mod classes;
mod cobalt;
mod early_discard;
mod fading;
mod flow_table;
mod hash;
mod lists;
mod longest;
mod order;
mod packet;
pub mod registry;
mod spec;
#[cfg(test)]
mod trial;
mod turns;
mod volume;
mod watch;
mod ways;

pub mod cake;
pub mod choke;
pub mod codel;
pub mod drr;
pub mod dualpi2;
pub mod efd;
pub mod efdack;
mod estmred;
pub mod fifo;
pub mod fq;
pub mod fq_codel;
pub mod fq_pie;
pub mod lars;
pub mod las;
pub mod lasack;
pub mod pefd;
pub mod pias;
pub mod pie;
pub mod red;
mod red_fixed;
mod regulator;
pub mod run2c;
pub mod run2cack;
pub mod scfq;
pub mod sfq;
pub mod sift;
pub mod srpt;
pub mod xprotect;

pub use base::{Discipline, DropReason, Env, Fate, Limit, Nonresponsive, Qdisc, Sorted, Stats};
pub use packet::{Ecn, Kind, Packet};
pub use spec::{Family, OptionError, Options, Param, Spec, Value};
