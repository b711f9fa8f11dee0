//! How much of the traffic at a queue does not respond to drops (PONRT, Zhao 2004), from the queue, the arrivals and the
//! drops of each sampling interval.
//!
//! * Principle: TCP opens its windows with time and halves them with drops. What a model of this does not explain in
//!   the queue does not respond.
//! * [`Estimator`] checks the samples, gathers them into sampling intervals, filters and differentiates them and calls
//!   a method; `registry.rs` lists the methods.
//! * One algorithm, two arithmetics ([`Number`]): [`Float`], and [`Fixed`] integers at scale 2^14 for a kernel.
//! * Time and memory per sample are constant; nothing is allocated after the start.
//! * No input makes it panic or give a share outside 0 to 1; an estimate that should not be relied on says why
//!   ([`Reason`]).

mod config;
mod estimator;
mod fixed;
mod intake;
mod kaczmarz;
mod line;
mod methods;
mod number;
mod reason;
mod registry;
mod signals;

pub use config::{Config, ConfigError, PARAMS, Param};
pub use estimator::{Estimate, Estimator, UnknownMethod};
pub use fixed::{Fixed, SCALE_BITS, integer_sqrt};
pub use intake::{Faults, LONGEST_GAP, Sample};
pub use methods::MethodSpec;
pub use number::{Float, Number};
pub use reason::Reason;
pub use registry::methods;
