//! Hosts of a capture: which are of the site, what each is for, and which are on the near side of the link.
//!
//! Principle: one rule for all who ask: `profile`, `whatif`, the page, the lists that are made of captures. The site is
//! known when all connections are, so connections pass twice: once to be counted by host ([`Tally`]), and once to get their
//! class ([`Sites::class_of`]) or their side ([`Seen::near`]). Hosts of the site are held in memory, others and connections
//! need not be.

mod classes;
mod counts;
mod ends;
mod near;
mod network;
mod pairs;
mod sites;
mod tally;

pub use classes::{Class, Kind, class_of};
pub use ends::Ends;
pub use near::{LEAST_CROSSING, Near, NearBy, Seen, opener_is_near};
pub use network::{Network, Networks, NotNetwork};
pub use sites::{FoundBy, NoHost, Roles, Sites, Unsited};
pub use tally::{Tally, UNANSWERED};
