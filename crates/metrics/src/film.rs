//! Films of the workload: from the buffer of the player, which says when the film would stand still without the next
//! segment.

use std::collections::BTreeMap;

use netsim::{Application, SegmentRecord};

use crate::order::mean;
use crate::run_view::{Ran, known};
use crate::stream::Video;

/// What is measured of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// When it had come, seconds; `None` when it had not.
    pub received_s: Option<f64>,
    /// When the film stands still if no other comes, seconds; `None` while it does not play.
    pub dry_s: Option<f64>,
    /// Whether it is the last one of its film.
    pub last: bool,
}

impl std::convert::From<&SegmentRecord> for Segment {
    fn from(record: &SegmentRecord) -> Segment {
        Segment { received_s: known(record.received), dry_s: known(record.dry), last: record.last }
    }
}

/// How often a film stood still up to `end_s`, and for how long, seconds, after it had begun.
///
/// ```
/// let film = [(1.0, Some(5.0)), (3.0, Some(9.0)), (12.0, None), (14.0, Some(22.0))]
///     .map(|(came, dry_s)| metrics::Segment { received_s: Some(came), dry_s, last: false });
/// assert_eq!(metrics::stalls_of(&film, 20.0), (1, 5.0));
/// assert_eq!(metrics::stalls_of(&film, 24.0), (2, 7.0));
/// ```
pub fn stalls_of(segments: &[Segment], end_s: f64) -> (u64, f64) {
    let (mut stalls, mut stalled_s, mut dry_s) = (0, 0.0, None::<f64>);
    for segment in segments {
        let Some(received_s) = segment.received_s else { break };
        if let (Some(dry_s), Some(_)) = (dry_s, segment.dry_s)
            && received_s > dry_s
        {
            stalls += 1;
            stalled_s += received_s - dry_s;
        }
        if let Some(next_dry_s) = segment.dry_s {
            dry_s = Some(next_dry_s);
            if segment.last {
                return (stalls, stalled_s);
            }
        }
    }
    if let Some(dry_s) = dry_s
        && dry_s < end_s
    {
        return (stalls + 1, stalled_s + end_s - dry_s);
    }
    (stalls, stalled_s)
}

/// A film as it was seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watched {
    /// How often it stood still.
    pub stalls: u64,
    /// How long, seconds.
    pub stalled_s: f64,
    /// From its beginning to its end or that of the run, with stalls, seconds; `None` when it did not begin.
    pub watched_s: Option<f64>,
}

impl Watched {
    /// Of the segments of one film in order.
    pub fn of(segments: &[Segment], end_s: f64) -> Watched {
        let (stalls, stalled_s) = stalls_of(segments, end_s);
        let plays = |segment: &&Segment| segment.received_s.is_some() && segment.dry_s.is_some();
        let begun_s = segments.iter().find(plays).and_then(|first| first.received_s);
        let dry_s = segments.iter().rev().find(plays).and_then(|last| last.dry_s);
        let over = segments.last().is_some_and(|segment| segment.last);
        let until_s = match dry_s {
            Some(dry_s) if over => dry_s.min(end_s),
            _ => end_s,
        };
        Watched { stalls, stalled_s, watched_s: begun_s.map(|begun_s| until_s - begun_s) }
    }
}

/// Films of the workload of a run with their groups.
pub(crate) fn of_run(ran: &Ran<'_>) -> Vec<(u32, Vec<Segment>)> {
    let is_film = |row: usize| {
        let number = usize::from(ran.flows[row].application);
        let application = number.checked_sub(1).and_then(|place| ran.run.applications.get(place));
        matches!(application, Some(Application::Video(_)))
    };
    let mut films: BTreeMap<u32, Vec<Segment>> = BTreeMap::new();
    for record in ran.output.segments.iter().filter(|record| is_film(record.flow as usize)) {
        films.entry(record.flow).or_default().push(record.into());
    }
    let group = |flow: u32| ran.facts.group(flow as usize - ran.facts.before());
    films.into_iter().map(|(flow, segments)| (group(flow), segments)).collect()
}

/// All films of runs that end at `end_s` together; `None` without any.
pub(crate) fn video<'a>(films: impl Iterator<Item = &'a (u32, Vec<Segment>)>, end_s: f64) -> Option<Video> {
    let mut groups: BTreeMap<u32, Vec<Watched>> = BTreeMap::new();
    for (group, segments) in films {
        groups.entry(*group).or_default().push(Watched::of(segments, end_s));
    }
    // The films of a group whose beginning is not known count as the others of it.
    let in_all = |value: &dyn Fn(&Watched) -> Option<f64>| -> f64 {
        groups.values().map(|films| films.len() as f64 * mean(films.iter().map(value)).unwrap_or(0.0)).sum()
    };
    let (watched_s, stalled_s) = (in_all(&|film| film.watched_s), in_all(&|film| Some(film.stalled_s)));
    (!groups.is_empty()).then(|| Video {
        streams: groups.values().map(|films| films.len() as u64).sum(),
        stalls: groups.values().flatten().map(|film| film.stalls).sum(),
        stalled_share: (watched_s > 0.0).then(|| stalled_s / watched_s),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_film_that_is_over_is_watched_to_its_end() {
        let segment = |came: f64, dry_s: f64, last| Segment { received_s: Some(came), dry_s: Some(dry_s), last };
        let film = [segment(1.0, 5.0, false), segment(6.0, 10.0, true)];
        assert_eq!(Watched::of(&film, 30.0), Watched { stalls: 1, stalled_s: 1.0, watched_s: Some(9.0) });
        assert_eq!(Watched::of(&film[..1], 4.0), Watched { stalls: 0, stalled_s: 0.0, watched_s: Some(3.0) });
    }

    #[test]
    fn a_film_that_did_not_begin_was_not_watched() {
        let film = [Segment { received_s: None, dry_s: None, last: false }];
        assert_eq!(Watched::of(&film, 30.0), Watched { stalls: 0, stalled_s: 0.0, watched_s: None });
    }
}
