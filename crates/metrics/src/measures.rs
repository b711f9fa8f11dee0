//! The list of users' measures: which figures of [`crate::Figures`] are shown and compared, and how each is read.
//!
//! It is the only one: terminal, report, notebook, recommendation, the second run with other hosts and the page of
//! `mayfly explore` all read it, the Python package through its compiled module, the page through its catalogue. A new
//! figure is a field of its part of [`crate::Figures`] and an entry here.

use serde::Serialize;

/// Unit of a figure in the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum In {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Mean opinion score.
    Mos,
    /// Share, 0 to 1.
    Share,
    /// Mbit/s.
    Mbps,
}

/// In which direction a figure gets better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Less is better.
    Less,
    /// More is better.
    More,
}

/// A figure as a criterion of the recommendation; `docs/recommendation.md` has the reason of each threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Noticed {
    /// Place among the criteria in a sentence, from 0.
    pub place: u8,
    /// Name in a sentence.
    pub name: &'static str,
    /// Smallest change that is noticed, in the unit; durations must differ by a fifth too.
    pub change: f64,
}

/// A figure as a row of the page of `mayfly explore`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OnPage {
    /// Place among the rows, from 0.
    pub place: u8,
    /// Name in the CSV file of the page.
    pub id: &'static str,
    /// Head of the row.
    pub title: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// As a word of a sentence.
    pub phrase: &'static str,
    /// What the row says of a run without such traffic; empty where it is hidden then.
    pub absent: &'static str,
}

/// A figure of what users feel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// One word, unique in [`MEASURES`]; the key in `resampled` of a row of the summary.
    pub id: &'static str,
    /// Key of the mapping in `users` of a row; empty of a figure of the row itself.
    pub part: &'static str,
    /// Key of the figure in that mapping.
    pub field: &'static str,
    /// Key of its 95 % interval in that mapping; empty without one.
    pub interval: &'static str,
    /// Key of the same figure over the whole time, where `field` is of the seconds in which the link is busy; empty
    /// without one.
    pub whole: &'static str,
    /// Unit of all three in the summary.
    pub unit: In,
    /// In which direction it gets better.
    pub better: Better,
    /// What is measured, in a sentence.
    pub what: &'static str,
    /// Which figure of it.
    pub statistic: &'static str,
    /// Head of its column in the terminal, a line each; empty where the terminal leaves it out.
    pub head: &'static str,
    /// Whether the report has a column of it.
    pub in_report: bool,
    /// Whether the first figure of the report and the notebook draw it.
    pub pictured: bool,
    /// Meaning of a share of 0, in words, which the terminal has in place of a column where all are 0.
    pub none: &'static str,
    /// As a criterion of the recommendation; `None` where it is none.
    pub noticed: Option<Noticed>,
    /// As a row of the page; `None` where the page leaves it out.
    pub page: Option<OnPage>,
}

const BASE: Measure = Measure {
    id: "",
    part: "",
    field: "",
    interval: "",
    whole: "",
    unit: In::S,
    better: Better::Less,
    what: "",
    statistic: "",
    head: "",
    in_report: true,
    pictured: false,
    none: "",
    noticed: None,
    page: None,
};

const P95: Measure = Measure { field: "p95_s", interval: "p95_ci95", statistic: "95th percentile", ..BASE };

/// In the order of columns and panels.
pub const MEASURES: [Measure; 13] = [
    Measure {
        id: "unfinished",
        unit: In::Share,
        what: "transfers",
        statistic: "unfinished",
        in_report: false,
        noticed: Some(Noticed { place: 0, name: "transfers that never finish", change: 0.01 }),
        ..BASE
    },
    Measure {
        id: "short_p95",
        part: "short",
        what: "short transfers",
        head: "short\ntransfers\np95",
        pictured: true,
        noticed: Some(Noticed { place: 1, name: "short transfers (95th percentile)", change: 0.05 }),
        page: Some(OnPage {
            place: 1,
            id: "short",
            title: "Short transfers",
            about: "at most 100 kB: 95 of 100 are faster",
            phrase: "short transfers",
            absent: "no short transfers in it",
        }),
        ..P95
    },
    Measure {
        id: "ping_p95",
        part: "ping",
        field: "p95_ms",
        whole: "p95_all_ms",
        unit: In::Ms,
        what: "ping under load",
        head: "ping\nunder load\np95",
        pictured: true,
        noticed: Some(Noticed { place: 2, name: "ping under load", change: 10.0 }),
        page: Some(OnPage {
            place: 0,
            id: "ping",
            title: "Ping under load",
            about: "95 of 100 pings are faster that were sent while the link was busy",
            phrase: "ping under load",
            absent: "no ping in this workload",
        }),
        ..P95
    },
    Measure {
        id: "ping_mean",
        part: "ping",
        field: "mean_ms",
        whole: "mean_all_ms",
        unit: In::Ms,
        what: "ping under load",
        statistic: "mean",
        in_report: false,
        ..BASE
    },
    Measure {
        id: "call_mos",
        part: "call",
        field: "mos",
        interval: "mos_ci95",
        whole: "mos_all",
        unit: In::Mos,
        better: Better::More,
        what: "call",
        statistic: "MOS",
        head: "call\nMOS",
        noticed: Some(Noticed { place: 4, name: "call quality (MOS)", change: 0.2 }),
        page: Some(OnPage {
            place: 3,
            id: "call",
            title: "Call quality",
            about: "mean opinion score (MOS) of a voice call: 1 is bad, 4.5 the best",
            phrase: "the call",
            absent: "no call in it",
        }),
        ..BASE
    },
    Measure {
        id: "pages_p95",
        part: "pages",
        what: "page load",
        head: "pages\np95",
        pictured: true,
        noticed: Some(Noticed { place: 7, name: "pages (95th percentile)", change: 0.1 }),
        page: Some(OnPage {
            place: 2,
            id: "pages",
            title: "Page load",
            about: "95 of 100 web pages are complete sooner",
            phrase: "web pages",
            absent: "no web pages in it",
        }),
        ..P95
    },
    Measure {
        id: "video_stalled",
        part: "video",
        field: "stalled_share",
        interval: "",
        unit: In::Share,
        what: "video",
        statistic: "stalled",
        head: "video\nstalled",
        none: "no video stalls",
        page: Some(OnPage {
            place: 4,
            id: "film",
            title: "Films stand still",
            about: "share of the time since they began",
            phrase: "films at a standstill",
            absent: "",
        }),
        ..BASE
    },
    Measure {
        id: "game_lag",
        part: "games",
        field: "lag_p95_ms",
        interval: "lag_p95_ci95",
        unit: In::Ms,
        what: "lag of games",
        head: "games\nlag\np95",
        noticed: Some(Noticed { place: 3, name: "lag of games", change: 10.0 }),
        page: Some(OnPage {
            place: 7,
            id: "games",
            title: "Lag of games",
            about: "95 of 100 packets of a player and the answers to them take less, there and back",
            phrase: "the lag of games",
            absent: "",
        }),
        ..P95
    },
    Measure {
        id: "conference_frozen",
        part: "conferences",
        field: "frozen",
        interval: "frozen_ci95",
        unit: In::Share,
        what: "video calls",
        statistic: "time frozen",
        head: "video\ncalls\nfrozen",
        none: "no video call stands still",
        noticed: Some(Noticed { place: 5, name: "video calls at a standstill", change: 0.01 }),
        page: Some(OnPage {
            place: 6,
            id: "conferences",
            title: "Video calls stand still",
            about: "share of their time",
            phrase: "video calls at a standstill",
            absent: "",
        }),
        ..BASE
    },
    Measure {
        id: "stream_missing",
        part: "streams",
        field: "missing",
        interval: "missing_ci95",
        unit: In::Share,
        what: "UDP streams",
        statistic: "share lost or late",
        head: "UDP\nlost or\nlate",
        none: "no packet of a UDP stream is lost or late",
        noticed: Some(Noticed { place: 6, name: "lost or late packets of UDP streams", change: 0.01 }),
        page: Some(OnPage {
            place: 5,
            id: "streams",
            title: "UDP lost or late",
            about: "share of the packets of streams of 10 s or more that are lost, or held for more than 100 ms",
            phrase: "lost or late packets of UDP streams",
            absent: "",
        }),
        ..BASE
    },
    Measure {
        id: "long_p50",
        part: "long",
        field: "p50_s",
        interval: "p50_ci95",
        what: "long transfers",
        statistic: "median",
        head: "long\ntransfers\nmedian",
        in_report: false,
        noticed: Some(Noticed { place: 8, name: "long transfers (median)", change: 0.5 }),
        ..BASE
    },
    Measure {
        id: "long_p95",
        part: "long",
        what: "long transfers",
        pictured: true,
        noticed: Some(Noticed { place: 9, name: "long transfers (95th percentile)", change: 0.5 }),
        ..P95
    },
    Measure {
        id: "goodput_p50",
        part: "downloads",
        field: "goodput_mbps_p50",
        unit: In::Mbps,
        better: Better::More,
        what: "downloads",
        statistic: "Mbit/s",
        ..BASE
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measure_has_an_id_and_words_of_its_own() {
        for (place, one) in MEASURES.iter().enumerate() {
            assert!(!one.id.is_empty() && !one.what.is_empty() && !one.statistic.is_empty());
            assert!(MEASURES[..place].iter().all(|other| other.id != one.id), "{}", one.id);
            assert_eq!(one.part.is_empty(), one.field.is_empty(), "{}", one.id);
            assert!(one.noticed.is_none_or(|noticed| noticed.change > 0.0), "{}", one.id);
        }
        let noticed: Vec<u8> = MEASURES.iter().filter_map(|one| Some(one.noticed?.place)).collect();
        let rows: Vec<u8> = MEASURES.iter().filter_map(|one| Some(one.page?.place)).collect();
        for mut places in [noticed, rows] {
            places.sort_unstable();
            assert_eq!(places, (0..places.len() as u8).collect::<Vec<_>>());
        }
    }
}
