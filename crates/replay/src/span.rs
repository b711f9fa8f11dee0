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

/// # Errors
/// Flows with these starts, ascending, whose packets came for `lasted_s`, span years, as those of two captures in one file
/// do.
pub(crate) fn refuse_clock_jump(starts_s: &[f64], source: &str, lasted_s: f64) -> Result<(), Refused> {
    let between = starts_s.first().zip(starts_s.last()).map_or(0.0, |(first_s, last_s)| last_s - first_s);
    let span_s = between.max(lasted_s);
    // What comes after the last start is as long again at most.
    if 2.0 * span_s <= LONGEST_S {
        return Ok(());
    }
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
    refused(format!(
        "{source}: its flows span {:.1} years{without}: two captures in one file, or a clock that jumped; {cut} (editcap -A \
         and -B), or scale it with --load",
        span_s / YEAR_S
    ))
}
