//! Silences in which all traffic that was under way stops, and others in which it does not.

use capture::{Capture, Options, Stop};

use crate::wire::*;

/// Datagrams of so many pairs of hosts, each at times of its own, some `gap_us` apart, until `until_us`.
fn pairs(count: u8, gap_us: u64, until_us: u64) -> Vec<Frame> {
    let mut state = 1_u64;
    let mut frames = Vec::new();
    for pair in 0..count {
        let mut time_us = 0;
        while time_us < until_us {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            time_us += 1 + (state >> 33) % (2 * gap_us);
            frames.push(udp(1_000_000 + time_us, ([10, 0, 0, pair], 4_000), ([192, 0, 2, pair], 53), 60));
        }
    }
    frames.sort_by_key(|frame| frame.time_us);
    frames
}

/// Without the packets from one time to another, s.
fn without(frames: Vec<Frame>, from_s: f64, to_s: f64) -> Vec<Frame> {
    let held = |frame: &Frame| !(from_s..to_s).contains(&(frame.time_us as f64 * 1e-6 - 1.0));
    frames.into_iter().filter(held).collect()
}

fn stops(frames: &[Frame]) -> Vec<Stop> {
    read_frames(frames).counts.stops
}

/// A silence's begin since the first packet and its length, s.
fn seconds(read: &Capture, stop: &Stop) -> [f64; 2] {
    let first_ns = read.counts.first_ns.expect("a packet");
    [stop.from_ns - first_ns, stop.lasted_ns].map(|ns| ns as f64 * 1e-9)
}

#[test]
fn an_interruption_of_a_busy_capture_is_found_where_it_is() {
    for (from_s, lasts_s) in [(40.0, 1.5), (40.0, 6.0), (8.0, 1.1)] {
        let read = read_frames(&without(pairs(12, 20_000, 110_000_000), from_s, from_s + lasts_s));
        let [stop] = &read.counts.stops[..] else { panic!("{:?}", read.counts.stops) };
        let [began_s, lasted_s] = seconds(&read, stop);
        assert!((began_s - from_s).abs() < 0.05 && (lasted_s - lasts_s).abs() < 0.1, "{began_s} {lasted_s}");
        assert!(stop.pairs >= 11, "{stop:?}");
    }
}

#[test]
fn a_clock_that_jumps_and_every_further_silence_are_found() {
    let mut frames = pairs(12, 20_000, 220_000_000);
    for (at_s, by_s) in [(50, 2), (160, 9)] {
        frames.iter_mut().filter(|frame| frame.time_us >= at_s * 1_000_000).for_each(|frame| {
            frame.time_us += by_s * 1_000_000;
        });
    }
    let found: Vec<i64> = stops(&frames).iter().map(|stop| stop.lasted_ns / 1_000_000_000).collect();
    // Nothing else is silent within ten times as long before the second, and five times as long behind it.
    assert_eq!(found, [2, 9]);
}

#[test]
fn silences_of_users_are_none() {
    let busy = || pairs(12, 20_000, 60_000_000);
    assert_eq!(stops(&busy()), []);
    // Shorter than a second; two within a short time; before or after which nothing is.
    assert_eq!(stops(&without(busy(), 30.0, 30.8)), []);
    assert_eq!(stops(&without(without(busy(), 30.0, 32.0), 40.0, 41.5)), []);
    assert_eq!(stops(&without(busy(), 2.0, 60.0)), []);
    assert_eq!(stops(&without(busy(), 56.0, 58.0)), []);
    // Few hosts, and hosts that are others after it.
    assert_eq!(stops(&without(pairs(3, 5_000, 60_000_000), 30.0, 32.0)), []);
    let others = |frame: &Frame| {
        let mut frame = at(frame.time_us, frame.bytes.clone());
        if frame.time_us > 32_000_000 {
            frame.bytes[27] = 9;
        }
        frame
    };
    assert_eq!(stops(&without(busy(), 30.0, 32.0).iter().map(others).collect::<Vec<_>>()), []);
    // A quiet capture, whose other silences are long, too.
    assert_eq!(stops(&without(pairs(12, 3_000_000, 600_000_000), 300.0, 304.0)), []);
}

#[test]
fn a_stop_is_the_same_whatever_holds_the_packets() {
    let frames = without(pairs(12, 20_000, 110_000_000), 40.0, 42.0);
    let files = [pcap(&frames, 1, true, true), pcapng(&frames, 1, false, 9, 0)];
    let all: Vec<Vec<Stop>> = files.iter().map(|file| read_bytes(file).counts.stops).collect();
    assert_eq!(all[0], all[1]);
    let copied: Vec<Frame> = frames.iter().flat_map(|frame| [frame.clone(), frame.clone()]).collect();
    let options = Options { duplicates: capture::Duplicates::Places, ..Options::default() };
    let read = capture::read_bytes(&pcap(&copied, 1, false, false), &options, &mut || true).expect("a capture");
    assert_eq!(read.counts.stops, all[0]);
}
