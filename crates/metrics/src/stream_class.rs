//! What a stream of UDP is, by rate, size and regularity of its packets as they are sent: headers and payload do not tell,
//! since media is mostly encrypted. Where the rules come from: `docs/users.md`.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// What a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamClass {
    /// Speech, one direction.
    Call,
    /// Video of a conference, one direction.
    Video,
    /// A game, one direction.
    Game,
    /// None of these.
    Other,
}

/// A packet of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Datagram {
    /// When it was sent, seconds.
    pub sent_s: f64,
    /// When it came, seconds; `None` when it did not.
    pub received_s: Option<f64>,
    /// Length on the wire, bytes.
    pub len: u32,
}

/// A stream of a run, packet by packet.
#[derive(Clone, Debug)]
pub(crate) struct Streaming {
    /// Place in the list that ran.
    pub row: usize,
    /// Its connection, of which the other direction may be a stream too.
    pub connection: u32,
    /// Whether it goes up.
    pub up: bool,
    pub class: StreamClass,
    /// All that it sent, in order, with no arrival where those are not known.
    pub packets: Vec<Datagram>,
    /// Whether arrivals are known.
    pub is_heard: bool,
}

/// A flow whose packets come for at least so long is a stream, seconds.
pub(crate) const STREAM_S: f64 = 10.0;
/// Packets of at least so much are parts of frames, on the wire, bytes; shorter ones are speech and feedback (Sharma 2023).
const PART_BYTES: u32 = 450;
/// The next part of a frame comes so soon after the one before, seconds ...
const PART_GAP_S: f64 = 0.005;
/// ... or so soon where it is as long, as a frame is split into equal parts ...
const EQUAL_GAP_S: f64 = 0.01;
/// ... to so many bytes (Sharma 2023).
const EQUAL_BYTES: u32 = 2;
/// Frames a second of a video.
const FRAME_RATES: RangeInclusive<f64> = 5.0..=65.0;
/// Parts of a frame in the mean, at least: a constant rate has one.
const LEAST_PARTS: f64 = 1.5;
/// Mean rate of the parts, bit/s.
const VIDEO_RATES_BPS: RangeInclusive<f64> = 150e3..=10e6;
/// Of its seconds, so many have between half and twice the usual number of frames, and of a game its packets.
const REGULAR_SHARE: f64 = 0.9;
/// Packets a second of a game, each way: 20 to 128 updates, and a tenth to either side.
const GAME_RATES_PPS: RangeInclusive<f64> = 18.0..=141.0;
/// Mean length of the packets of a game, on the wire, bytes: what a player sends, and what a server sends.
const GAME_BYTES: [f64; 2] = [250.0, 600.0];

/// Classes of the streams of a run; `is_call` says which are known to be calls.
pub(crate) fn classes(all: &[Streaming], is_call: impl Fn(&Streaming) -> bool) -> Vec<StreamClass> {
    let mut ways: BTreeMap<u32, [Option<&Streaming>; 2]> = BTreeMap::new();
    for one in all {
        ways.entry(one.connection).or_default()[usize::from(one.up)] = Some(one);
    }
    let is_part_of_game = |one: &Streaming| match ways[&one.connection] {
        [Some(down), Some(up)] => is_game(&down.packets, &up.packets),
        _ => false,
    };
    let class = |one: &Streaming| match one {
        one if is_call(one) => StreamClass::Call,
        one if is_video(&one.packets) => StreamClass::Video,
        one if is_part_of_game(one) => StreamClass::Game,
        _ => StreamClass::Other,
    };
    all.iter().map(class).collect()
}

/// Whether a connection of UDP is a video call or a game, of the directions that it has: when each sends its packets, seconds,
/// and their lengths on the wire, bytes, in order.
pub fn is_video_call_or_game(directions: impl IntoIterator<Item = (bool, Vec<(f64, u32)>)>) -> bool {
    let datagram = |(sent_s, len)| Datagram { sent_s, received_s: None, len };
    let streaming = |(up, packets): (bool, Vec<(f64, u32)>)| Streaming {
        row: 0,
        connection: 0,
        up,
        class: StreamClass::Other,
        packets: packets.into_iter().map(datagram).collect(),
        is_heard: false,
    };
    let lasts = |one: &Streaming| match (one.packets.first(), one.packets.last()) {
        (Some(first), Some(last)) => last.sent_s - first.sent_s >= STREAM_S,
        _ => false,
    };
    let all: Vec<Streaming> = directions.into_iter().map(streaming).filter(lasts).collect();
    classes(&all, |_| false).into_iter().any(|class| matches!(class, StreamClass::Video | StreamClass::Game))
}

/// A frame of a video.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    /// When its first part was sent, seconds.
    pub sent_s: f64,
    /// When its last part came, seconds; `None` where a part did not.
    pub received_s: Option<f64>,
    parts: u64,
    bytes: u64,
}

/// The frames of a video, as the times and lengths of its packets tell.
pub(crate) fn frames(packets: &[Datagram]) -> Vec<Frame> {
    let mut found: Vec<Frame> = Vec::new();
    let mut before: Option<&Datagram> = None;
    for part in packets.iter().filter(|packet| packet.len >= PART_BYTES) {
        let joins = before.is_some_and(|before| {
            let gap_s = part.sent_s - before.sent_s;
            gap_s <= PART_GAP_S || (gap_s <= EQUAL_GAP_S && part.len.abs_diff(before.len) <= EQUAL_BYTES)
        });
        match found.last_mut().filter(|_| joins) {
            Some(frame) => {
                frame.received_s = frame.received_s.zip(part.received_s).map(|(one, other)| one.max(other));
                frame.parts += 1;
                frame.bytes += u64::from(part.len);
            }
            None => {
                found.push(Frame { sent_s: part.sent_s, received_s: part.received_s, parts: 1, bytes: part.len.into() })
            }
        }
        before = Some(part);
    }
    found
}

fn is_video(packets: &[Datagram]) -> bool {
    let frames = frames(packets);
    let (Some(first), Some(last)) = (frames.first(), frames.last()) else { return false };
    let span_s = last.sent_s - first.sent_s;
    let sum = |of: fn(&Frame) -> u64| frames.iter().map(of).sum::<u64>() as f64;
    let (parts, bytes) = (sum(|frame| frame.parts), sum(|frame| frame.bytes));
    let all_bytes: u64 = packets.iter().map(|packet| u64::from(packet.len)).sum();
    span_s > 0.0
        && FRAME_RATES.contains(&((frames.len() - 1) as f64 / span_s))
        && parts / frames.len() as f64 >= LEAST_PARTS
        && VIDEO_RATES_BPS.contains(&(8.0 * bytes / span_s))
        && bytes >= 0.5 * all_bytes as f64
        && is_regular(frames.iter().map(|frame| frame.sent_s))
}

fn is_game(down: &[Datagram], up: &[Datagram]) -> bool {
    let steady = |packets: &[Datagram]| {
        let (Some(first), Some(last)) = (packets.first(), packets.last()) else { return false };
        GAME_RATES_PPS.contains(&((packets.len() - 1) as f64 / (last.sent_s - first.sent_s)))
            && is_regular(packets.iter().map(|packet| packet.sent_s))
    };
    let mean = |packets: &[Datagram]| {
        packets.iter().map(|packet| f64::from(packet.len)).sum::<f64>() / packets.len().max(1) as f64
    };
    let mut means = [mean(down), mean(up)];
    means.sort_by(f64::total_cmp);
    means.iter().zip(GAME_BYTES).all(|(mean, most)| *mean <= most) && steady(down) && steady(up)
}

/// Whether the whole seconds since the first of these have about as many each; `times_s` ascend.
fn is_regular(times_s: impl Iterator<Item = f64>) -> bool {
    let mut counts: Vec<u64> = Vec::new();
    let mut begun_s = None;
    for at_s in times_s {
        let second = (at_s - *begun_s.get_or_insert(at_s)) as usize;
        counts.resize(second.max(counts.len().saturating_sub(1)) + 1, 0);
        counts[second] += 1;
    }
    // The last one is not whole.
    counts.pop();
    let whole = counts.len();
    if whole == 0 {
        return false;
    }
    counts.sort_unstable();
    let usual = counts[whole / 2] as f64;
    let near = counts.iter().filter(|&&count| (0.5 * usual..=2.0 * usual).contains(&(count as f64))).count();
    usual > 0.0 && near as f64 >= REGULAR_SHARE * whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(connection: u32, up: bool, packets: Vec<Datagram>) -> Streaming {
        Streaming { row: 0, connection, up, class: StreamClass::Other, packets, is_heard: true }
    }

    fn packet(sent_s: f64, len: u32) -> Datagram {
        Datagram { sent_s, received_s: Some(sent_s + 0.02), len }
    }

    /// Packets of one length at one distance, for 30 s.
    fn steady(gap_s: f64, len: u32) -> Vec<Datagram> {
        (0..(30.0 / gap_s) as u32).map(|n| packet(f64::from(n) * gap_s, len)).collect()
    }

    /// Video of 30 frames a second, each of so many parts, `gap_s` apart, for 30 s; with speech in between.
    fn video(parts: u32, gap_s: f64) -> Vec<Datagram> {
        let part = |n: u32| packet(f64::from(n / parts) / 30.0 + f64::from(n % parts) * gap_s, 1000 + n / parts % 150);
        let mut found: Vec<Datagram> = (0..900 * parts).map(part).chain(steady(0.02, 150)).collect();
        found.sort_by(|one, other| one.sent_s.total_cmp(&other.sent_s));
        found
    }

    fn class(packets: Vec<Datagram>) -> StreamClass {
        classes(&[stream(0, false, packets)], |_| false)[0]
    }

    #[test]
    fn video_comes_in_frames_of_several_parts() {
        // Back to back, paced, and at a low rate paced so far apart that only their equal lengths tell.
        for (parts, gap_s) in [(5, 0.0), (6, 0.0025), (2, 0.0077)] {
            assert_eq!(class(video(parts, gap_s)), StreamClass::Video, "{parts} parts");
            let found = frames(&video(parts, gap_s));
            assert!((850..=900).contains(&found.len()), "{parts} parts: {} frames", found.len());
        }
        // 1.5 Mbit/s at a constant rate, and 500 kbit/s.
        assert_eq!([class(steady(0.0064, 1200)), class(steady(0.0192, 1200))], [StreamClass::Other; 2]);
    }

    #[test]
    fn what_comes_for_a_part_of_the_time_is_no_video() {
        let bursts = video(5, 0.0).into_iter().filter(|packet| packet.sent_s % 10.0 < 4.0).collect();
        assert_eq!(class(bursts), StreamClass::Other);
    }

    #[test]
    fn a_game_has_small_packets_both_ways() {
        let of =
            |down: Vec<Datagram>, up: Vec<Datagram>| classes(&[stream(0, false, down), stream(0, true, up)], |_| false);
        for (gap_s, len) in [(0.05, 130), (1.0 / 64.0, 400), (1.0 / 128.0, 550)] {
            assert_eq!(of(steady(gap_s, len), steady(1.0 / 60.0, 90)), [StreamClass::Game; 2], "{len} bytes");
        }
        // Too large, too rare, one way alone.
        assert_eq!(of(steady(0.02, 700), steady(0.02, 90)), [StreamClass::Other; 2]);
        assert_eq!(of(steady(0.2, 100), steady(0.02, 90)), [StreamClass::Other; 2]);
        assert_eq!(class(steady(0.02, 100)), StreamClass::Other);
    }

    #[test]
    fn a_call_is_a_call() {
        let both = [stream(0, false, steady(0.02, 200)), stream(0, true, steady(0.02, 200))];
        assert_eq!(classes(&both, |_| true), [StreamClass::Call; 2]);
    }
}
