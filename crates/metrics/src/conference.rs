//! Video of conferences in a capture, and for how long it stands still: the definition of `freezeCount` and
//! `totalFreezesDuration` in the statistics of WebRTC (W3C), over the frames that come whole.

use serde::Serialize;

use crate::ping::UNDER_WAY_S;
use crate::stream_class::{Frame, StreamClass, Streaming, frames};

/// A video stands still when the next frame is later than usual by this factor ...
const FREEZE_RATIO: f64 = 3.0;
/// ... and by so much, seconds.
const FREEZE_S: f64 = 0.15;

/// Video of conferences.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Conferences {
    /// How many: one direction counts as one.
    pub count: u64,
    /// How often they stood still.
    pub freezes: u64,
    /// Share of their time for which they stood still.
    pub frozen: Option<f64>,
    /// The same of the one that stood still longest.
    pub frozen_worst: Option<f64>,
    /// 95 % interval of `frozen`; `None` of one run.
    pub frozen_ci95: Option<[f64; 2]>,
}

/// One video.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stills {
    /// From its first frame to its last, seconds.
    span_s: f64,
    freezes: u64,
    frozen_s: f64,
}

/// The videos among the streams of a run that ended at `end_s`.
pub(crate) fn of_run(all: &[Streaming], end_s: f64) -> Vec<Stills> {
    let videos = all.iter().filter(|one| one.class == StreamClass::Video && one.is_heard);
    videos.filter_map(|one| stills(&frames(&one.packets), end_s)).collect()
}

/// `None` without a video.
pub(crate) fn conferences<'a>(all: impl Iterator<Item = &'a Stills>) -> Option<Conferences> {
    let all: Vec<&Stills> = all.collect();
    let share = |frozen_s: f64, span_s: f64| (span_s > 0.0).then(|| frozen_s / span_s);
    let sum = |of: fn(&Stills) -> f64| all.iter().map(|one| of(one)).sum();
    (!all.is_empty()).then(|| Conferences {
        count: all.len() as u64,
        freezes: all.iter().map(|one| one.freezes).sum(),
        frozen: share(sum(|one| one.frozen_s), sum(|one| one.span_s)),
        frozen_worst: all.iter().filter_map(|one| share(one.frozen_s, one.span_s)).reduce(f64::max),
        frozen_ci95: None,
    })
}

/// How long a video stands still whose frames are in order of sending; `None` with fewer than two.
///
/// A pause of the sender is none of the link. What does not come again until the last frame is sent stands still until
/// then.
fn stills(frames: &[Frame], end_s: f64) -> Option<Stills> {
    let frames: Vec<&Frame> =
        frames.iter().filter(|frame| frame.received_s.is_some() || frame.sent_s < end_s - UNDER_WAY_S).collect();
    let (first, last) = (frames.first()?, frames.last()?);
    let mut gaps_s: Vec<f64> = frames.windows(2).map(|pair| pair[1].sent_s - pair[0].sent_s).collect();
    gaps_s.sort_by(f64::total_cmp);
    let usual_s = *gaps_s.get(gaps_s.len() / 2)?;
    let long_s = f64::max(FREEZE_RATIO * usual_s, usual_s + FREEZE_S);
    let span_s = last.sent_s - first.sent_s;
    // Arrivals with the places of their frames, and pauses of the sender up to each frame.
    let mut pauses_s = vec![0.0; frames.len()];
    for at in 1..frames.len() {
        let gap_s = frames[at].sent_s - frames[at - 1].sent_s;
        pauses_s[at] = pauses_s[at - 1] + if gap_s >= long_s { gap_s } else { 0.0 };
    }
    let whole = frames.iter().enumerate().filter_map(|(at, frame)| Some((frame.received_s?, at)));
    let mut whole: Vec<(f64, usize)> = whole.collect();
    whole.sort_by(|one, other| one.0.total_cmp(&other.0));
    let Some(&(begun_s, begun)) = whole.first() else {
        return Some(Stills { span_s, freezes: 1, frozen_s: span_s });
    };
    let (mut freezes, mut frozen_s) = (0, 0.0);
    // The path takes what the first frame took; after the last frame nothing more is missed.
    let ending = (last.sent_s + begun_s - frames[begun].sent_s, frames.len() - 1);
    let mut shown = (begun_s, begun);
    for &(at_s, at) in whole[1..].iter().chain([&ending]) {
        let paused_s = pauses_s[at.max(shown.1)] - pauses_s[shown.1];
        let still_s = at_s - shown.0 - paused_s;
        if still_s >= long_s {
            freezes += 1;
            frozen_s += still_s;
        }
        shown = (at_s.max(shown.0), at.max(shown.1));
    }
    Some(Stills { span_s, freezes, frozen_s: frozen_s.min(span_s) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream_class::Datagram;

    /// Thirty frames of two parts a second for a minute; `received` says when a part comes that was sent then.
    fn video(received: impl Fn(f64) -> Option<f64>) -> Vec<Frame> {
        let part = |n: u32| {
            let sent_s = f64::from(n / 2) / 30.0;
            Datagram { sent_s, received_s: received(sent_s), len: 1000 }
        };
        frames(&(0..3600).map(part).collect::<Vec<_>>())
    }

    fn found(received: impl Fn(f64) -> Option<f64>) -> Stills {
        stills(&video(received), 1000.0).expect("a video")
    }

    #[test]
    fn a_constant_delay_stops_no_video() {
        for delay_s in [0.0, 0.02, 0.5] {
            let found = found(|sent_s| Some(sent_s + delay_s));
            assert_eq!((found.freezes, found.frozen_s), (0, 0.0), "{delay_s} s");
        }
    }

    #[test]
    fn what_is_held_up_or_lost_stands_still() {
        // Nothing comes through from 10 to 11 s, and it all comes at once.
        let held = found(|sent_s| Some(if (10.0..11.0).contains(&sent_s) { 11.02 } else { sent_s + 0.02 }));
        assert_eq!(held.freezes, 1);
        assert!((1.0..1.07).contains(&held.frozen_s), "{} s", held.frozen_s);
        let lost = found(|sent_s| (!(10.0..11.0).contains(&sent_s)).then_some(sent_s + 0.02));
        assert_eq!(lost.freezes, 1);
        assert!((1.0..1.07).contains(&lost.frozen_s), "{} s", lost.frozen_s);
        // Three frames are 100 ms: nobody sees them missing.
        assert_eq!(found(|sent_s| (!(10.0..10.1).contains(&sent_s)).then_some(sent_s)).freezes, 0);
        let ended = found(|sent_s| (sent_s < 30.0).then_some(sent_s));
        assert!((29.9..30.1).contains(&ended.frozen_s), "{} s", ended.frozen_s);
        let never = found(|_| None);
        assert_eq!((never.freezes, never.frozen_s), (1, never.span_s));
    }

    #[test]
    fn a_pause_of_the_sender_is_no_freeze() {
        let part = |n: u32| {
            let sent_s = f64::from(n / 2) / 30.0 + if n < 1800 { 0.0 } else { 20.0 };
            Datagram { sent_s, received_s: Some(sent_s + 0.02), len: 1000 }
        };
        let found = stills(&frames(&(0..3600).map(part).collect::<Vec<_>>()), 1000.0).expect("a video");
        assert_eq!((found.freezes, found.frozen_s), (0, 0.0));
    }

    #[test]
    fn shares_are_of_the_time_of_all() {
        let of = |span_s, freezes, frozen_s| Stills { span_s, freezes, frozen_s };
        let found = conferences([of(10.0, 1, 1.0), of(30.0, 2, 1.0)].iter()).expect("videos");
        assert_eq!((found.count, found.freezes), (2, 3));
        assert_eq!((found.frozen, found.frozen_worst), (Some(0.05), Some(0.1)));
        assert_eq!(conferences([].iter()), None);
    }
}
