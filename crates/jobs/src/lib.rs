//! Jobs at one server, without packets and without TCP: the queue that the laws of `mayfly.models` describe.
//!
//! * The server has rate 1. A job of size `x` and weight `w` needs work `w x`; its *attained service* (age) is counted
//!   in units of size. Weights let the acknowledgements of an upload age by the data they acknowledge (Urvoy-Keller
//!   2007) and need less work than those.
//! * Levels are served in strict priority, the first one first, with preemption and resumption. A job is in the level
//!   its age is in: level `i` ends at the age `upto` of `i`. Each level is a station with an order of its own.
//! * One level is FIFO, processor sharing, LAS, SRPT and so on. Two levels of sharing are Run2C (Chen 2012, 5.2.1.3),
//!   many of them multilevel processor sharing (Kleinrock 1976, 4.7), levels in order of arrival are PIAS.
//! * Users with several jobs each, under the rules of lagged fair queueing, are a server of their own: [`Lagged`].
//! * Time is `f64` and starts anew with each busy period, as do the sums of each station when it is empty: rounding
//!   does not grow with the length of a run, only with that of a busy period.
//! * Cost per job and level: O(1) for `fcfs` and `lcfs`, O(log n) for the others with n jobs in the station. Nothing
//!   is allocated once as many jobs have been in the system as ever will.
//!
//! It shares no code with the packet simulator (crate `netsim`), so that each can be held against the other and both
//! against equations.

mod in_turn;
mod lagged;
mod least_attained;
mod serve;
mod server;
mod sharing;
mod station;

pub use lagged::{LagError, Lagged, Lags, Passage};
pub use server::{Finished, Level, LevelError, MOST_LEVELS, Server};
pub use station::Order;
