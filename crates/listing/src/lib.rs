//! Connections of captures with the class of each: what `mayfly profile --connections` writes.
//!
//! Principle: which hosts are of the site and what each is for is known when all connections are, so connections pass
//! twice: once to be counted by host ([`Tally`]), and once to get their class ([`Sites::class_of`]). Hosts of the site are
//! held in memory, others and connections need not be. The same stands in `mayfly.profile` (`sides.py`, `hosts.py`, `classes.py`) for
//! tables of connections and roles that are given; `tests/profile/test_listing.py` holds both equal.

mod classes;
mod ends;
mod hosts;
mod networks;
mod sites;
mod tally;
mod traffic;

pub use classes::{Class, Kind};
pub use networks::{Network, NotNetwork};
pub use sites::{FoundBy, NoHost, Roles, Sites, Unsited};
pub use tally::{Tally, UNANSWERED};
pub use traffic::{ByConnection, Measure, Row, Rows, Traffic};
