//! Everything that users of a link feel in one run.

use serde::Serialize;
use units::Time;

use crate::call::{self, Call};
use crate::facts::{FactsError, ProbeName};
use crate::film;
use crate::goodput::{self, Goodput};
use crate::pages::{self, Pages};
use crate::ping::{self, Ping};
use crate::ran::Ran;
use crate::stream::{self, Video};
use crate::times::Times;
use crate::transfers::{self, Bins, Transfer};

/// What users of a link feel: `users` of the summary in `docs/tables.md`. `None` where the run has no traffic for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Times by size.
    pub transfers: Option<Bins>,
    /// Transfers of at most 100 kB.
    pub short: Option<Times>,
    /// Transfers above 1 MB, or the largest hundredth.
    pub long: Option<Times>,
    /// Ping under load.
    pub ping: Option<Ping>,
    /// A call, or several.
    pub call: Option<Call>,
    /// Load times of pages.
    pub pages: Option<Pages>,
    /// Films.
    pub video: Option<Video>,
    /// Goodput of downloads above 1 MB.
    pub downloads: Option<Goodput>,
    /// Goodput of uploads above 1 MB.
    pub uploads: Option<Goodput>,
}

/// What users feel in `ran`; `idle` is the round-trip time of a ping on the idle link ([`crate::idle_rtt`]).
///
/// # Errors
/// Facts that do not fit the flows.
pub fn figures(ran: &Ran<'_>, idle: Option<Time>) -> Result<Figures, FactsError> {
    ran.check()?;
    let all = transfers::transfers(ran);
    let (begin_s, end_s) = ran.span_s();
    let pings = ran.probe(ProbeName::Ping);
    Ok(Figures {
        ping: idle.and_then(|idle| ping::ping(pings, idle, begin_s, end_s)),
        call: call::of_run(ran),
        pages: pages::pages(ran),
        video: stream::video(ran).or_else(|| film::video(ran)),
        ..of_transfers(&all, |one| ran.facts.id(one.row as usize - ran.facts.before()))
    })
}

/// What users feel where there are transfers and nothing else; `id` is the identity of the flow of a transfer, by which
/// transfers of equal size are ordered.
pub fn of_transfers(all: &[Transfer], id: impl Fn(&Transfer) -> i64) -> Figures {
    Figures {
        transfers: transfers::bins(all),
        short: transfers::short(all),
        long: transfers::long(all, id),
        ping: None,
        call: None,
        pages: None,
        video: None,
        downloads: goodput::goodput(all, false),
        uploads: goodput::goodput(all, true),
    }
}
