//! TCP as Linux has it: how losses are found (RACK-TLP, RFC 8985), how much is sent while they are repaired (PRR,
//! RFC 6937), and how a reduction is taken back that turns out to have been for nothing (RFC 5682, 2883, 3522).
//!
//! Principle: every segment carries the time it last left. A segment is lost when one that left later has arrived and a
//! round-trip time has passed, and, before reordering was seen, at once when three later ones have arrived. What is lost,
//! acknowledged selectively or sent again is counted; the difference to what was sent is in flight, and the congestion
//! window bounds that. Cost: O(1) per segment over its life and per acknowledgement, memory 48 bytes per segment of the
//! largest flight. Source: RFC 8985, 6675, 6937, 5682, 2883, 4015; Linux 6.1, net/ipv4/tcp_input.c, tcp_recovery.c,
//! tcp_output.c and tcp_timer.c, for what the RFCs leave open: the names of its states are used here.
//!
//! Segments leave together as Linux sends them (`tcp_write_xmit`): what a millisecond of the pace takes, two at least, and are
//! repaired together; what waits for the access link waits in the sender (`host`). Left out: reneging, whose receivers forget
//! what they acknowledged selectively; path MTU discovery.

mod acks;
mod bbr;
pub(crate) mod buffer;
mod burst;
mod ca_state;
mod clock;
mod closed;
mod control;
mod cubic;
mod delivery;
mod gro;
mod host;
mod losses;
mod marks;
mod memory;
mod metrics;
mod model;
mod ops;
mod output;
mod path;
mod pending;
mod queue;
mod rack;
mod rate;
mod receiver;
mod recovery;
mod rtt;
mod sender;
mod small_queues;
mod state;
mod timers;
mod undo;
mod view;
mod window;
mod window_rule;
mod writes;

pub(crate) use metrics::Metrics;
pub(crate) use receiver::Receiver;
pub(crate) use sender::Sender;
