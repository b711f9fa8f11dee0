//! Everything that users of a link feel in one run.

use serde::Serialize;
use units::Time;

use crate::call::{self, Call};
use crate::conference::{self, Conferences};
use crate::context::FactsError;
use crate::film;
use crate::games::{self, Games};
use crate::goodput::{self, Goodput};
use crate::observed::Observed;
use crate::pages::Pages;
use crate::ping::{self, Ping};
use crate::run_view::Ran;
use crate::stream::{self, Video};
use crate::streams::{self, Streams};
use crate::times::Times;
use crate::transfers::{self, Bins, Transfer};

/// What users of a link feel: `users` of the summary in `docs/tables.md`. `None` where the run has no traffic for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "UserFigures"))]
pub struct Figures {
    /// Times by size.
    pub transfers: Option<Bins>,
    /// Transfers of at most 100 kB.
    pub short: Option<Times>,
    /// Transfers above 1 MB; the largest hundredth where no flow of the list brings one.
    pub long: Option<Times>,
    /// Ping while the link is busy.
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
    /// UDP streams of a capture, and what is lost of them or late.
    pub streams: Option<Streams>,
    /// Video of conferences among them.
    pub conferences: Option<Conferences>,
    /// Games among them.
    pub games: Option<Games>,
}

/// What is decided once, so that runs which are compared or resampled are measured alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Whether long transfers are those above 1 MB, else the largest hundredth; decided by the flows when not given.
    pub above: Option<bool>,
    /// In place of the largest hundredth of the runs: least size of the largest hundredth of the capture, bytes.
    pub least_bytes: Option<u64>,
    /// Whether ping and synthetic call are of the busy seconds, and are `None` in runs without any; decided by the runs
    /// when not given.
    pub while_busy: Option<bool>,
}

/// What users feel in `ran`, by `rule`; `idle` is the round-trip time of a ping on the idle link ([`crate::idle_rtt`]).
///
/// # Errors
/// Facts that do not fit the flows.
pub fn figures(ran: &Ran<'_>, idle: Option<Time>, rule: Rule) -> Result<Figures, FactsError> {
    let observed = Observed::of(ran)?;
    Ok(pooled(&[&observed], idle.map(Time::as_secs_f64), ran.span_s(), rule))
}

/// What users feel in several runs together. `idle_s` is the round-trip time of a ping on the idle link, and `span` the
/// end of the warm-up, before which no probe counts, and that of the runs; seconds.
pub fn pooled(runs: &[&Observed], idle_s: Option<f64>, span: (f64, f64), rule: Rule) -> Figures {
    let transfers: Vec<&[Transfer]> = runs.iter().map(|run| run.transfers.as_slice()).collect();
    let above = rule.above.unwrap_or_else(|| runs.iter().any(|run| run.brings_long));
    let pings: Vec<_> = runs.iter().map(|run| (run.pings.as_slice(), &run.busy)).collect();
    let captured = stream::video(runs.iter().flat_map(|run| &run.captured_films), span.1);
    Figures {
        ping: idle_s.and_then(|idle_s| ping::ping(&pings, idle_s, span, rule.while_busy)),
        call: call::of_runs(runs, span, rule.while_busy),
        pages: Pages::of(runs.iter().map(|run| &run.pages)),
        video: captured.or_else(|| film::video(runs.iter().flat_map(|run| &run.workload_films), span.1)),
        streams: streams::streams(runs.iter().flat_map(|run| &run.streams)),
        conferences: conference::conferences(runs.iter().flat_map(|run| &run.conferences)),
        games: games::games(runs.iter().flat_map(|run| &run.games)),
        ..of_runs(&transfers, above, rule.least_bytes)
    }
}

/// What users feel of the transfers of one run where there is nothing else.
pub fn of_transfers(all: &[Transfer]) -> Figures {
    of_runs(&[all], all.iter().any(transfers::is_long), None)
}

fn of_runs(runs: &transfers::Runs<'_>, above: bool, least_bytes: Option<u64>) -> Figures {
    Figures {
        transfers: transfers::bins(runs),
        short: transfers::short(runs),
        long: transfers::long(runs, above, least_bytes),
        ping: None,
        call: None,
        pages: None,
        video: None,
        downloads: goodput::goodput(runs, false),
        uploads: goodput::goodput(runs, true),
        streams: None,
        conferences: None,
        games: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_any_traffic_has_no_figures() {
        let found = pooled(&[&Observed::default()], Some(0.02), (0.0, 10.0), Rule::default());
        let none = Figures { downloads: None, ..of_transfers(&[]) };
        assert_eq!(found, none);
        assert!(found.transfers.is_none() && found.short.is_none() && found.long.is_none() && found.call.is_none());
    }
}
