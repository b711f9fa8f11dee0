//! A packet capture as what `mayfly whatif` runs: a list of flows with scripts, bursts and stages.
//!
//! The same as `mayfly.comparison.replay` makes of a capture with `--replay users`, in Rust so that a page without Python
//! can make it, too; tests/explore/test_replay_equals_python.py holds both equal, nanosecond by nanosecond. The rules
//! and their sources stand there: `mayfly.workload.apps` (scripts, bursts), `captured_link` (what the captured link did),
//! `closed_loop` (users who wait), `calls`, and `mayfly.simulate.probes`. Which side is near, crate `hosts` says.
//!
//! * No files, threads or clocks: a capture comes as bytes in memory.
//! * Arithmetic in the order of Python's, without functions whose last bit depends on the platform.
//! * What does not depend on the rates of the link is found once ([`Replay::of`]), the rest for each pair of them
//!   ([`Replay::list`]), since a slider moves them.

mod calls;
mod closed;
mod datagrams;
mod doubts;
mod known;
mod link;
mod list;
mod missing;
mod numbers;
mod paths;
mod probes;
mod random;
mod rates;
mod reading;
mod refused;
mod replay;
mod script;
mod span;
mod text;
mod trains;
mod udp_share;

pub use hosts::Networks;
pub use list::{Call, List, Offered, Origin};

pub use probes::{Probed, Probes};
pub use rates::Rates;
pub use reading::{ReadOptions, Reading};
pub use refused::Refused;
pub use replay::{Options, Replay};
pub use udp_share::UdpShare;
