//! Several captures as one: order, copies and clocks.

use std::path::PathBuf;

use capture::{Capture, CaptureError, Duplicates, Options, Skip, read, read_files, read_merged};

use crate::wire::*;

const MS: u64 = 1_000;

fn merged(files: &[Vec<Frame>], options: Options) -> Capture {
    let files: Vec<Vec<u8>> = files.iter().map(|frames| pcap(frames, 1, false, false)).collect();
    read_merged(files.iter().map(|file| &file[..]).collect(), &options, &mut || true).expect("captures")
}

fn taps() -> Options {
    Options { duplicates: Duplicates::Taps, window_ns: 10_000_000, ..Options::default() }
}

/// A request of 100 bytes and 40 answers of 1000, their identification counting up; 5 ms apart.
fn transfer() -> Vec<Frame> {
    let mut frames = vec![
        tcp(1_000_000, CLIENT, SERVER, 99, 0, SYN, 0),
        tcp(1_000_000 + 20 * MS, SERVER, CLIENT, 499, 100, SYN | ACK, 0),
        tcp(1_000_000 + 50 * MS, CLIENT, SERVER, 100, 500, ACK, 0),
        tcp(1_000_000 + 51 * MS, CLIENT, SERVER, 100, 500, ACK, 100),
    ];
    for index in 0..40 {
        let time_us = 1_000_000 + (60 + u64::from(index) * 5) * MS;
        frames.push(tcp(time_us, SERVER, CLIENT, 500 + index * 1000, 200, ACK, 1000));
        frames.push(tcp(time_us + 2 * MS, CLIENT, SERVER, 200 + index * 10, 1500 + index * 1000, ACK, 10));
    }
    for (index, frame) in frames.iter_mut().enumerate() {
        frame.bytes[18..20].copy_from_slice(&(index as u16 + 1).to_be_bytes());
    }
    frames
}

/// The same packets at a tap `delay_us` nearer to the server, whose clock is ahead by `ahead_us`.
fn nearer_to_server(frames: &[Frame], delay_us: u64, ahead_us: u64) -> Vec<Frame> {
    let mut moved: Vec<Frame> = frames.to_vec();
    for frame in &mut moved {
        let from_client = frame.bytes[26..30] == CLIENT.0;
        frame.time_us =
            frame.time_us + ahead_us + if from_client { delay_us } else { 0 } - if from_client { 0 } else { delay_us };
        // One hop further on.
        frame.bytes[22] -= 1;
    }
    moved.sort_by_key(|frame| frame.time_us);
    moved
}

#[test]
fn directions_in_two_files_are_one_connection() {
    let (forth, back): (Vec<Frame>, Vec<Frame>) =
        transfer().into_iter().partition(|frame| frame.bytes[26..30] == CLIENT.0);
    let split = merged(&[back, forth], Options::default());
    let whole = read_frames(&transfer());
    assert_eq!(split.connections.len(), 1);
    assert_eq!(format!("{:?}", split.connections[0].from_opener), format!("{:?}", whole.connections[0].from_opener));
    assert_eq!(split.connections[0].rtt_ns, Some(50_000_000));
    assert_eq!(split.connections[0].taps, 0b11);
    let packets: Vec<u64> = split.counts.taps.iter().map(|tap| tap.packets).collect();
    assert_eq!((packets, split.counts.packets, split.counts.late), (vec![41, 43], 84, 0));
    assert_eq!(split.counts.first_ns, Some(1_000_000_000));
}

#[test]
fn what_two_taps_saw_counts_once() {
    let once = read_frames(&transfer());
    let twice = merged(&[transfer(), nearer_to_server(&transfer(), 500, 0)], taps());
    assert_eq!(twice.counts.skipped(Skip::Duplicate), 84);
    assert_eq!((twice.counts.packets, twice.counts.decoded), (168, 84));
    let [one, two] = [&once, &twice].map(|capture| &capture.connections[0]);
    assert_eq!(one.from_opener.distinct_bytes, two.from_opener.distinct_bytes);
    assert_eq!((two.from_opener.packets, two.from_responder.packets), (43, 41));
    assert_eq!((two.from_responder.retransmits, two.taps), (0, 0b11));
    let duplicates: u64 = twice.counts.taps.iter().map(|tap| tap.duplicates).sum();
    assert_eq!(duplicates, 84);
    let kept = merged(&[transfer(), transfer()], Options::default());
    assert_eq!((kept.counts.decoded, kept.connections[0].from_responder.retransmits), (168, 40));
}

#[test]
fn a_tap_that_lost_packets_is_completed_by_the_other() {
    let (mut one, mut two) = (transfer(), nearer_to_server(&transfer(), 500, 0));
    one.remove(20);
    two.remove(31);
    let read = merged(&[one, two], taps());
    assert_eq!(read.counts.decoded, 84);
    let row = &read.connections[0];
    assert_eq!((row.from_responder.missing_bytes, row.from_opener.missing_bytes), (0, 0));
}

#[test]
fn equal_packets_of_one_tap_stay_unless_all_copies_go() {
    // Acknowledgements that say the same thing three times, without identification.
    let acks: Vec<Frame> = (0..3).map(|index| tcp(index * MS, CLIENT, SERVER, 5, 9, ACK, 0)).collect();
    let both = merged(&[acks.clone(), acks.clone()], taps());
    assert_eq!((both.counts.decoded, both.counts.skipped(Skip::Duplicate)), (3, 3));
    let file = pcap(&acks, 1, false, false);
    let all = Options { duplicates: Duplicates::All, duplicate_ns: 1_000_000, ..Options::default() };
    let read = read(&file[..], &all, &mut || true).expect("a capture");
    // The third is further than a millisecond from the first one kept.
    assert_eq!((read.counts.decoded, read.counts.skipped(Skip::Duplicate)), (2, 1));
}

#[test]
fn a_file_out_of_order_is_sorted_within_the_window() {
    let times = [5, 3, 4, 1, 20, 12, 30];
    let frames: Vec<Frame> = times.iter().map(|&ms| tcp(ms * MS, CLIENT, SERVER, ms as u32 * 10, 1, ACK, 10)).collect();
    let file = pcap(&frames, 1, false, false);
    let sorted = |window_ms: u64| {
        let options = Options { window_ns: window_ms * 1_000_000, ..Options::default() };
        read(&file[..], &options, &mut || true).expect("a capture")
    };
    assert_eq!((sorted(8).counts.late, sorted(8).counts.first_ns), (0, Some(1_000_000)));
    assert_eq!(sorted(8).connections[0].from_opener.reordered + sorted(8).connections[0].from_opener.lost_before, 0);
    // The 3 goes when the 5 is read, so the 1 is late; the 12 comes while the 20 is still held.
    assert_eq!(sorted(2).counts.late, 1);
    assert_eq!(sorted(0).connections[0].start_ns, -4_000_000);
}

struct Folder(PathBuf);

impl Folder {
    fn of(name: &str, files: &[(&str, Vec<Frame>)]) -> (Self, Vec<PathBuf>) {
        let folder = std::env::temp_dir().join(format!("mayfly-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.join(name)).collect();
        for (path, (_, frames)) in paths.iter().zip(files) {
            std::fs::write(path, pcap(frames, 1, false, false)).expect("a file");
        }
        (Folder(folder), paths)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

#[test]
fn the_clock_of_a_tap_is_found_and_corrected() {
    let far = nearer_to_server(&transfer(), 4 * MS, 3_600_000_000 + 7 * MS);
    let (_folder, paths) = Folder::of("clocks", &[("a.pcap", transfer()), ("b.pcap", far)]);
    let read = read_files(&paths, &Options { clocks: true, ..taps() }, &mut || true).expect("captures");
    let clock = read.counts.clocks[1];
    // 4 ms of delay either way: the true offset is in the middle, and nothing says that it is not 4 ms off.
    assert_eq!((clock.ahead_ns, clock.bound_ns), (3_600_007_000_000, Some(4_000_000)));
    assert_eq!(clock.common, 81);
    assert_eq!((read.counts.skipped(Skip::Duplicate), read.connections.len()), (84, 1));
    assert_eq!(read.counts.duration_ns(), 257_000_000 + 4_000_000);
    let uncorrected = read_files(&paths, &taps(), &mut || true).expect("captures");
    assert_eq!(uncorrected.counts.skipped(Skip::Duplicate), 0);
}

#[test]
fn files_without_packets_in_common_keep_their_clocks() {
    let later: Vec<Frame> = (0..40)
        .map(|index| tcp(9_000_000 + u64::from(index), CLIENT, SERVER, 900_000 + index * 10, 1, ACK, 10))
        .collect();
    let (_folder, paths) = Folder::of("pieces", &[("a.pcap", transfer()), ("b.pcap", later)]);
    let read = read_files(&paths, &Options { clocks: true, ..taps() }, &mut || true).expect("captures");
    assert_eq!(read.counts.clocks[1], capture::Clock::default());
    assert_eq!(read.counts.decoded, 84 + 40);
}

#[test]
fn a_file_of_several_that_cannot_be_read_is_named() {
    let (folder, mut paths) = Folder::of("missing", &[("a.pcap", transfer())]);
    paths.push(folder.0.join("none.pcap"));
    let error = read_files(&paths, &Options::default(), &mut || true).expect_err("a missing file").to_string();
    assert!(error.contains("none.pcap: No such file"), "{error}");
    let stdin = ["-", "-"].map(PathBuf::from);
    let twice = read_files(&stdin, &Options::default(), &mut || true);
    assert!(matches!(twice, Err(CaptureError::StdinTwice)));
    let estimated = read_files(&[&stdin[0], &paths[0]], &Options { clocks: true, ..taps() }, &mut || true);
    assert!(matches!(estimated, Err(CaptureError::StdinTwice)));
}

/// Files of a folder of their own, written there.
fn written(name: &str, files: &[Vec<u8>]) -> Vec<std::path::PathBuf> {
    let folder = std::env::temp_dir().join(format!("mayfly-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = |(at, bytes): (usize, &Vec<u8>)| {
        let path = folder.join(format!("{at}.pcap"));
        std::fs::write(&path, bytes).expect("a file");
        path
    };
    files.iter().enumerate().map(path).collect()
}

#[test]
fn files_that_follow_one_another_are_one_whatever_the_order_they_are_named_in() {
    let mut frames = vec![tcp(0, CLIENT, SERVER, 1, 0, SYN, 0), tcp(5, SERVER, CLIENT, 1, 2, SYN | ACK, 0)];
    for index in 0..60_u32 {
        let time = 10 + u64::from(index) * 20_000;
        frames.push(tcp(time, CLIENT, SERVER, 2 + index * 100, 2, ACK, 100));
        // The same packet again, at once: a copy where files were merged.
        frames.push(tcp(time + 1, CLIENT, SERVER, 2 + index * 100, 2, ACK, 100));
        frames.push(udp(time + 2, SERVER, CLIENT, 50));
    }
    let whole = pcap(&frames, 1, false, false);
    for cuts in [vec![91], vec![1, 2, 90, 151], vec![60, 60, 120]] {
        let mut parts = Vec::new();
        let mut from = 0;
        for cut in cuts.iter().copied().chain([frames.len()]) {
            parts.push(pcap(&frames[from..cut], 1, false, false));
            from = cut;
        }
        let one = written(&format!("one-{}", cuts.len()), std::slice::from_ref(&whole));
        let mut several = written(&format!("several-{}", cuts.len()), &parts);
        several.reverse();
        let options =
            Options { series: true, max_trains: 100, max_packets: 1000, max_volumes: 1000, ..Options::default() };
        // What is said for files of one time does not matter to those that follow one another.
        let for_several =
            Options { window_ns: 10_000_000, duplicates: Duplicates::Taps, clocks: true, ..options.clone() };
        let one = capture::read_files(&one, &options, &mut || true).expect("a capture");
        let several = capture::read_files(&several, &for_several, &mut || true).expect("captures");
        assert_eq!(format!("{:?}", one.connections), format!("{:?}", several.connections));
        assert_eq!(one.trains, several.trains);
        assert_eq!(one.packets, several.packets);
        assert_eq!(one.volumes, several.volumes);
        assert_eq!(several.counts.clocks.len(), parts.len());
        let mut counts = several.counts;
        counts.clocks.clone_from(&one.counts.clocks);
        assert_eq!(one.counts, counts);
    }
}

#[test]
fn files_of_the_same_time_are_merged_as_before() {
    let at_taps = [0, 30].map(|delay| {
        let frames: Vec<Frame> = (0..50_u32)
            .map(|index| tcp(u64::from(index) * 1_000 + delay, CLIENT, SERVER, index * 10, 1, ACK, 10))
            .collect();
        pcap(&frames, 1, false, false)
    });
    let files = written("taps", &at_taps);
    let options = Options { window_ns: 10_000_000, duplicates: Duplicates::Taps, ..Options::default() };
    let merged = capture::read_files(&files, &options, &mut || true).expect("captures");
    let tried = capture::read_files(&files, &Options { series: true, ..options }, &mut || true).expect("captures");
    assert_eq!(merged.counts, tried.counts);
    assert_eq!((merged.counts.decoded, merged.connections.len()), (50, 1));
}
