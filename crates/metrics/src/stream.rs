//! Films among the scripted connections of a capture: those that fetch a piece after the other at a steady pace, and a
//! player with a clock of its own that asks for the next one when the script does, or as soon as the one before has come
//! when it is late. Where the rules come from: `docs/users.md`.

use std::collections::BTreeMap;

use netsim::Train;
use serde::Serialize;
use units::Time;

use crate::run_view::{Ran, known};

/// A train of at least so much is a piece.
const PIECE_BYTES: u64 = 50_000;
/// Pieces of a film, at least.
const LEAST_PIECES: usize = 5;
/// From the first request to the last, seconds, at least.
const LEAST_S: f64 = 20.0;
/// Mean rates of a film, bit/s.
const RATES_BPS: std::ops::RangeInclusive<f64> = 200e3..=50e6;
/// Between two requests, seconds, at most.
const LONGEST_GAP_S: f64 = 15.0;
/// Of the times between two requests: so many lie between half the median and twice that.
const STEADY_SHARE: f64 = 2.0 / 3.0;
/// Of the time the script waits, at least: who always has data to send is a download.
const WAITING_SHARE: f64 = 0.2;
/// The film begins so much later than it would have to if each piece came at once, seconds.
const START_S: f64 = 2.0;
/// After a stall it goes on with so much of the film in hand, or all of it, seconds.
const RESUME_S: f64 = 2.0;

/// Films.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Video {
    /// How many.
    pub streams: u64,
    /// How often they stood still.
    pub stalls: u64,
    /// Time that they stood still over that and the time that they played.
    pub stalled_share: Option<f64>,
}

/// A piece of a film.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    /// Train that asks for it.
    asked: usize,
    /// Its own train.
    train: usize,
    bytes: u64,
    /// When the script asks for it over a link without limits, seconds after its first request.
    asked_s: f64,
}

/// Pieces of one script over a path of `rtt_s`; empty where it is no film.
fn pieces(trains: &[Train], rtt_s: f64, up: bool, mss: u32) -> Vec<Piece> {
    let ways = [false, true].map(|way| -> u64 {
        trains.iter().filter(|train| (up == train.forward) == way).map(|train| train.bytes).sum()
    });
    let way = ways[1] > ways[0];
    let (mut found, mut clock_s, mut begun_s) = (Vec::new(), 0.0, 0.0);
    for (number, train) in trains.iter().enumerate() {
        let turned = number > 0 && trains[number - 1].forward != train.forward;
        // An end that goes on waits for its acknowledgement first.
        clock_s += if number == 0 || turned { 0.0 } else { rtt_s / 2.0 };
        clock_s += 1e-9 * train.wait.0 as f64;
        let before_s = std::mem::replace(&mut begun_s, clock_s);
        clock_s += 1e-9 * train.pace.0 as f64 * (train.bytes.div_ceil(mss.into()) as f64 - 1.0) + rtt_s / 2.0;
        if (up == train.forward) == way && train.bytes >= PIECE_BYTES {
            let (asked, asked_s) = if turned { (number - 1, before_s) } else { (number, begun_s) };
            found.push(Piece { asked, train: number, bytes: train.bytes, asked_s });
        }
    }
    if found.len() < LEAST_PIECES {
        return Vec::new();
    }
    let (first, last) = (found[0], found[found.len() - 1].train);
    let waited_s: f64 = trains[first.asked + 1..=last].iter().map(|train| 1e-9 * train.wait.0 as f64).sum();
    found.iter_mut().for_each(|piece| piece.asked_s -= first.asked_s);
    if is_steady(&found, waited_s) { found } else { Vec::new() }
}

fn is_steady(found: &[Piece], waited_s: f64) -> bool {
    let (last, others) = found.split_last().expect("five pieces at least");
    let span_s = last.asked_s;
    if span_s < LEAST_S || waited_s < WAITING_SHARE * span_s {
        return false;
    }
    let rate_bps = 8.0 * others.iter().map(|piece| piece.bytes).sum::<u64>() as f64 / span_s;
    let mut gaps_s: Vec<f64> = found.windows(2).map(|pair| pair[1].asked_s - pair[0].asked_s).collect();
    gaps_s.sort_unstable_by(f64::total_cmp);
    let median_s = gaps_s[gaps_s.len() / 2];
    let steady = gaps_s.iter().filter(|&&gap| median_s / 2.0 <= gap && gap <= 2.0 * median_s).count();
    RATES_BPS.contains(&rate_bps)
        && gaps_s[gaps_s.len() - 1] <= LONGEST_GAP_S
        && steady as f64 >= STEADY_SHARE * gaps_s.len() as f64
}

/// How often a film stood still, for how long, and how long it was played, seconds.
///
/// `asked_s` says when the schedule asks for each piece of `size_bytes`, `took_s` how long those took that were asked
/// for; without `whole` the last one of these did not come, its time is up to the end of the run, and it is not played.
/// There are at least two pieces, the last one asked for later than the first.
///
/// ```
/// let film = metrics::played(&[0.0, 4.0, 8.0], &[0.1, 0.1, 0.1], &[1000, 1000, 1000], true);
/// assert_eq!(film, (0, 0.0, 12.0));
/// ```
pub fn played(asked_s: &[f64], took_s: &[f64], size_bytes: &[u64], whole: bool) -> (u64, f64, f64) {
    let (begun_s, last) = (asked_s[0], size_bytes.len() - 1);
    let rate = size_bytes[..last].iter().sum::<u64>() as f64 / (asked_s[asked_s.len() - 1] - begun_s);
    let media_s: Vec<f64> = size_bytes.iter().map(|&size| size as f64 / rate).collect();
    let (mut hold_s, mut had_s) = (0.0_f64, 0.0);
    for (own_s, at_s) in media_s[..last].iter().zip(&asked_s[1..]) {
        had_s += own_s;
        hold_s = hold_s.max(at_s - begun_s - had_s);
    }
    let mut came_s: Vec<f64> = Vec::with_capacity(took_s.len());
    for (at_s, own_s) in asked_s.iter().zip(took_s) {
        came_s.push((at_s - begun_s).max(came_s.last().copied().unwrap_or(0.0)) + own_s);
    }
    let mut clock_s = came_s.first().map_or(0.0, |first_s| first_s + hold_s + START_S);
    let (mut stalls, mut stalled_s, mut played_s) = (0, 0.0, 0.0);
    for (piece, &at_s) in came_s.iter().enumerate() {
        if !whole && piece == came_s.len() - 1 {
            // It stands still to the end of what was seen.
            let late_s = at_s - clock_s;
            return (stalls + u64::from(late_s > 0.0), stalled_s + late_s.max(0.0), played_s);
        }
        if at_s > clock_s {
            let goes_on_s = in_hand(&came_s, &media_s, piece);
            stalls += 1;
            stalled_s += goes_on_s - clock_s;
            clock_s = goes_on_s;
        }
        clock_s += media_s[piece];
        played_s += media_s[piece];
    }
    (stalls, stalled_s, played_s)
}

/// When enough of the film from a piece on has come to go on.
fn in_hand(came_s: &[f64], media_s: &[f64], piece: usize) -> f64 {
    let mut had_s = 0.0;
    for place in piece..came_s.len() {
        had_s += media_s[place];
        if had_s >= RESUME_S {
            return came_s[place];
        }
    }
    came_s[came_s.len() - 1]
}

/// A film of a run.
#[derive(Clone, Debug)]
pub(crate) struct Film {
    /// When the schedule asks for each piece, seconds after the first.
    schedule_s: Vec<f64>,
    size_bytes: Vec<u64>,
    /// Of the pieces that were asked for: when, and when they had come, seconds.
    asked_s: Vec<(f64, Option<f64>)>,
}

/// The films of a run that began.
pub(crate) fn of_run(ran: &Ran<'_>) -> Vec<Film> {
    let mut times: BTreeMap<(u32, u32), (Time, Time)> = BTreeMap::new();
    for train in ran.trains().filter(|train| train.part == 0) {
        times.insert((train.flow, train.train), (train.start, train.end));
    }
    if times.is_empty() {
        return Vec::new();
    }
    let mut films = Vec::new();
    for (row, flow) in ran.begun() {
        let Some(trains) = ran.script(flow) else { continue };
        let rtt_s = flow.rtt.map_or(0.0, Time::as_secs_f64);
        let film = pieces(trains, rtt_s, flow.up, ran.run.tcp.mss);
        let at = |train: usize| times.get(&(row as u32, train as u32));
        let asked = film.iter().filter_map(|piece| {
            let begun_s = known(at(piece.asked)?.0)?;
            Some((begun_s, at(piece.train).and_then(|&(_, end)| known(end))))
        });
        let asked_s: Vec<(f64, Option<f64>)> = asked.collect();
        if !asked_s.is_empty() {
            let schedule_s = film.iter().map(|piece| piece.asked_s).collect();
            films.push(Film { schedule_s, size_bytes: film.iter().map(|piece| piece.bytes).collect(), asked_s });
        }
    }
    films
}

/// The films of runs that end at `end_s`, seconds; `None` without any.
pub(crate) fn video<'a>(films: impl Iterator<Item = &'a Film>, end_s: f64) -> Option<Video> {
    let (mut streams, mut stalls, mut stalled_s, mut played_s) = (0, 0, 0.0, 0.0);
    for film in films {
        let took: Vec<f64> = film.asked_s.iter().map(|(begun_s, came_s)| came_s.unwrap_or(end_s) - begun_s).collect();
        let whole = film.asked_s.iter().all(|(_, came_s)| came_s.is_some());
        let (own_stalls, own_stalled_s, own_played_s) = played(&film.schedule_s, &took, &film.size_bytes, whole);
        streams += 1;
        stalls += own_stalls;
        stalled_s += own_stalled_s;
        played_s += own_played_s;
    }
    let in_all_s = stalled_s + played_s;
    let stalled_share = (in_all_s > 0.0).then(|| stalled_s / in_all_s);
    (streams > 0).then_some(Video { streams, stalls, stalled_share })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn film(count: usize) -> Vec<Train> {
        let request = Train { forward: false, bytes: 400, wait: Time(4_000_000_000), pace: Time::ZERO };
        let piece = Train { forward: true, bytes: 500_000, wait: Time::ZERO, pace: Time::ZERO };
        (0..count).flat_map(|_| [request, piece]).collect()
    }

    #[test]
    fn steady_requests_for_large_pieces_are_a_film() {
        assert_eq!(pieces(&film(8), 0.02, false, 1448).len(), 8);
        assert_eq!(pieces(&film(4), 0.02, false, 1448).len(), 0);
        let first = pieces(&film(8), 0.02, false, 1448)[1];
        // A request each 4 s and a round trip.
        assert_eq!((first.asked, first.train), (2, 3));
        assert!((first.asked_s - 4.02).abs() < 1e-12);
    }

    #[test]
    fn who_always_sends_is_a_download() {
        let mut download = film(8);
        download.iter_mut().for_each(|train| train.wait = Time::ZERO);
        assert_eq!(pieces(&download, 5.0, false, 1448), []);
    }

    #[test]
    fn a_late_piece_stops_the_film_until_two_seconds_are_in_hand() {
        // 4 s a piece, plays from 2.1 s on; the second, asked for at 4 s, comes at 14 s: 7.9 s after it was due.
        let (stalls, stalled_s, played_s) = played(&[0.0, 4.0, 8.0], &[0.1, 10.0, 0.1], &[1000, 1000, 1000], true);
        assert_eq!((stalls, played_s), (1, 12.0));
        assert!((stalled_s - 7.9).abs() < 1e-12);
    }

    #[test]
    fn what_had_not_come_at_the_end_is_not_played() {
        let (stalls, stalled_s, played_s) = played(&[0.0, 4.0, 8.0], &[0.1, 10.0], &[1000, 1000, 1000], false);
        assert_eq!((stalls, played_s), (1, 4.0));
        assert!((stalled_s - 7.9).abs() < 1e-12);
    }

    const ASKED_S: [f64; 11] = [0.0, 4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 28.0, 32.0, 36.0, 40.0];

    #[test]
    fn a_link_that_keeps_up_has_no_stall_and_one_below_the_rate_stalls_by_what_is_missing() {
        let of = |took_s: f64| played(&ASKED_S, &[took_s; 11], &[1_000_000; 11], true);
        for took_s in [0.01, 1.0, 3.9, 4.0] {
            assert_eq!((of(took_s).0, of(took_s).1), (0, 0.0));
        }
        for took_s in [4.5, 5.0, 6.5, 12.0] {
            // Piece k comes k times so much too late for a film that begins at once, and this one has 2 s.
            let late_s = took_s - 4.0;
            let stalls = (0..11).filter(|&piece| f64::from(piece) * late_s > 2.0).count() as u64;
            let (found, stalled_s, _) = of(took_s);
            assert!(found == stalls && (stalled_s - (10.0 * late_s - 2.0)).abs() < 1e-9, "{took_s}");
        }
    }

    #[test]
    fn one_late_piece_stops_the_film_once_and_different_sizes_never_do() {
        let mut took_s = [0.1; 11];
        took_s[5] = 9.0;
        // It comes at 29 s; the film, begun 2.1 s after the first request, needs it at 22.1 s.
        let (stalls, stalled_s, played_s) = played(&ASKED_S, &took_s, &[1_000_000; 11], true);
        assert!(stalls == 1 && (stalled_s - 6.9).abs() < 1e-9 && (played_s - 44.0).abs() < 1e-9);
        let sizes = [100, 900, 100, 1500, 300, 50, 1200, 400, 700, 600, 500];
        assert_eq!(played(&ASKED_S, &[0.0; 11], &sizes, true).0, 0);
    }

    fn script(round: &[(bool, u64, u64)], count: usize, pace: Time) -> Vec<Train> {
        let train = |&(forward, bytes, wait_ms): &(bool, u64, u64)| {
            let pace = if forward { pace } else { Time::ZERO };
            Train { forward, bytes, wait: Time::from_millis(wait_ms), pace }
        };
        (0..count).flat_map(|_| round.iter().map(train)).collect()
    }

    #[test]
    fn what_a_server_pushes_is_asked_by_nobody() {
        let mut pushed = vec![Train { forward: false, bytes: 400, wait: Time::ZERO, pace: Time::ZERO }];
        pushed.extend(script(&[(true, 500_000, 4000)], 8, Time::from_millis(1)));
        let found = pieces(&pushed, 0.0, false, 1448);
        assert!(found.len() == 8 && found[1..].iter().all(|piece| piece.asked == piece.train));
        // 346 packets a millisecond apart after each wait; only the first has a request.
        assert!(found[1..].windows(2).all(|pair| (pair[1].asked_s - pair[0].asked_s - 4.345).abs() < 1e-9));
    }

    #[test]
    fn bulk_brief_slow_rare_and_small_pieces_are_no_film() {
        let round = |bytes, wait_ms| [(false, 400, wait_ms), (true, bytes, 0)];
        let none = [
            ("bulk", script(&[(true, 10_000_000, 0)], 1, Time::ZERO)),
            ("brief", script(&round(500_000, 1000), 8, Time::ZERO)),
            ("slow", script(&round(60_000, 4000), 8, Time::ZERO)),
            ("rare", script(&round(500_000, 16_000), 8, Time::ZERO)),
            ("never waits", script(&round(500_000, 0), 8, Time::from_millis(12))),
        ];
        for (name, trains) in none {
            assert_eq!(pieces(&trains, 0.05, false, 1448), [], "{name}");
        }
        let browsing = [40, 9000, 200, 7000, 90, 12_000, 30, 800, 60];
        let trains: Vec<Train> = browsing.iter().flat_map(|&at| script(&round(500_000, at), 1, Time::ZERO)).collect();
        assert_eq!(pieces(&trains, 0.05, false, 1448), []);
        // A film that goes up is one too.
        let mut up = script(&round(500_000, 4000), 8, Time::ZERO);
        up.iter_mut().for_each(|train| train.forward = !train.forward);
        assert_eq!(pieces(&up, 0.05, false, 1448).len(), 8);
    }
}
