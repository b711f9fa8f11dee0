//! How long a capture lasts.

use capture::{Connection, Protocol};

use crate::numbers::seconds;
use crate::refused::{Refused, refused};
use crate::text;

const YEAR_S: f64 = 365.25 * 86_400.0;
/// Longest span of a replay, that of a time in settings.
const LONGEST_S: f64 = 2.0 * YEAR_S;

/// From the first packet of the connections to the last one, s.
pub(crate) fn lasted_s(connections: &[Connection]) -> f64 {
    let known = || connections.iter().filter(|one| one.protocol != Protocol::Icmp);
    let begun = |one: &Connection| {
        let first = one.from_opener.first_ns.into_iter().chain(one.from_responder.first_ns).min();
        first.map_or(one.start_ns, |first_ns| first_ns.min(one.start_ns))
    };
    let ended = |one: &Connection| one.from_opener.last_ns.into_iter().chain(one.from_responder.last_ns).max();
    match known().map(begun).min().zip(known().filter_map(ended).max()) {
        Some((first_ns, last_ns)) => (seconds(last_ns) - seconds(first_ns)).max(0.0),
        None => 0.0,
    }
}

/// Latest start of a flow list.
const LISTED_S: f64 = 1e9;

fn between(starts_s: &[f64]) -> f64 {
    starts_s.first().zip(starts_s.last()).map_or(0.0, |(first_s, last_s)| last_s - first_s)
}

/// Refuses flows that span years, as those of two captures in one file do; `starts_s` ascend, and their packets came for
/// `lasted_s`.
///
/// # Errors
/// They span more than two years.
pub fn refuse_clock_jump(starts_s: &[f64], source: &str, lasted_s: f64) -> Result<(), Refused> {
    let span_s = between(starts_s).max(lasted_s);
    // What comes after the last start is as long again at most.
    if 2.0 * span_s <= LONGEST_S {
        return Ok(());
    }
    refused(format!("{}, or scale it with --load", clock_jump(starts_s, source, span_s)))
}

/// Refuses flows that span decades, which no flow list holds and no load scales; `starts_s` ascend.
///
/// # Errors
/// They span more than 10^9 s.
pub fn refuse_beyond_a_list(starts_s: &[f64], source: &str) -> Result<(), Refused> {
    let span_s = between(starts_s);
    if span_s > LISTED_S { refused(clock_jump(starts_s, source, span_s)) } else { Ok(()) }
}

/// What is wrong with flows that span years, and where to cut them.
fn clock_jump(starts_s: &[f64], source: &str, span_s: f64) -> String {
    let mut longest = (0.0, 0.0);
    for pair in starts_s.windows(2) {
        if pair[1] - pair[0] > longest.0 {
            longest = (pair[1] - pair[0], pair[0]);
        }
    }
    // All may begin together, and one of them have a packet years later.
    let (without, cut) = match longest {
        (gap_s, after_s) if gap_s > 0.0 => {
            (format!(", {:.1} of them without any", gap_s / YEAR_S), format!("cut it after {} s", text::whole(after_s)))
        }
        _ => (String::new(), "cut it".to_owned()),
    };
    format!(
        "{source}: its flows span {:.1} years{without}: two captures in one file, or a clock that jumped; {cut} (editcap -A \
         and -B)",
        span_s / YEAR_S
    )
}
