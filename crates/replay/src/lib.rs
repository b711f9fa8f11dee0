//! A packet capture as what `mayfly whatif` and the page run: a list of flows with scripts, bursts and stages.
//!
//! `form.rs` names the forms of a replay and `flows.rs` makes the flow list of each; `trains.rs`, `datagrams.rs` and
//! `transfers.rs` make scripts, bursts and transfers, `link/` finds what the captured link did, `closed.rs` ties what a
//! user starts to what it waited for, and `list.rs` makes the list that the page runs. `sessions.rs` draws other hours from
//! the sessions of a list, and `hours.rs` makes the lists of these that the command runs. Which side is near, crate `hosts`
//! says. `tests/gold` compares all forms with fixed lists, nanosecond by nanosecond.
//!
//! * No files, threads or clocks: a capture comes as bytes in memory, or as what was read of it.
//! * No functions whose last bit depends on the platform.
//! * What does not depend on the rates of the link is found once ([`Replay::of`]), the rest for each pair of them
//!   ([`Replay::list`]), since a slider moves them.

mod calls;
mod closed;
mod datagrams;
mod doubts;
mod flows;
mod form;
mod hours;
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
mod sessions;
mod span;
mod text;
mod trains;
mod transfers;
mod udp_share;
mod unanswerable;

pub use closed::{Start, closed};
pub use doubts::{clocks, copies, filtered, one_sided, tunnel_bytes};
pub use flows::{Asides, Captured, Flow, Has, What};
pub use form::Form;
pub use hosts::Networks;
pub use hours::{Hour, Hours, Numbering, Origins, ProbeRows, Specs};
pub use list::{Call, List, Offered, Origin};
pub use missing::Framing;
pub use probes::{Probed, Probes, ping_instants};
pub use rates::Rates;
pub use reading::{ReadOptions, Reading};
pub use refused::Refused;
pub use replay::{Options, Replay};
pub use sessions::{Draw, Drawn, LEAST_SESSIONS, Starts};
pub use span::{refuse_beyond_a_list, refuse_clock_jump};
pub use trains::Step;
pub use transfers::{Exchange, Sent, Transfer, transfers, transfers_of_part};
pub use udp_share::UdpShare;
pub use unanswerable::cannot_answer;
