//! No input panics or hangs, and the books balance whatever the file holds.

mod wire;

use capture::{Capture, CaptureError, Options, read};
use proptest::prelude::*;
use wire::*;

fn traffic() -> Vec<Frame> {
    let mut frames = vec![tcp(0, CLIENT, SERVER, 1, 0, SYN, 0), tcp(5, SERVER, CLIENT, 1, 2, SYN | ACK, 0)];
    for index in 0..10 {
        frames.push(tcp(10 + u64::from(index), CLIENT, SERVER, 2 + index * 100, 2, ACK, 100));
        frames.push(udp(10 + u64::from(index), SERVER, CLIENT, 50));
    }
    let body = [tcp_header((1, 2), 1, 0, ACK), vec![0; 9]].concat();
    frames.push(at(40, ethernet(0x86dd, &ipv6(0, &[&[6, 0, 1, 4, 0, 0, 0, 0][..], &body].concat(), 37))));
    frames.push(at(41, ethernet(0x8100, &[&[0, 1, 8, 0][..], &ipv4([1; 4], [2; 4], 6, &body, None, 0)].concat())));
    frames
}

fn valid_files() -> Vec<Vec<u8>> {
    let frames = traffic();
    vec![
        pcap(&frames, 1, false, false),
        pcap(&frames, 1, true, true),
        pcapng(&frames, 1, false, 6, 0),
        pcapng(&frames, 1, true, 9, -5),
    ]
}

fn check(file: &[u8]) -> Option<Capture> {
    let outcome = read(file, &Options { max_flows: 5, ..Options::default() }, &mut || true);
    let capture = match outcome {
        Ok(capture) => capture,
        Err(CaptureError::Io(error)) => panic!("reading memory failed: {error}"),
        Err(_) => return None,
    };
    let counts = &capture.counts;
    assert_eq!(counts.packets, counts.decoded + counts.skipped_total());
    assert!(capture.connections.len() <= 5);
    let sides = || capture.connections.iter().flat_map(|flow| [&flow.from_opener, &flow.from_responder]);
    let packets: u64 = sides().map(|side| side.packets).sum();
    assert!(packets <= counts.decoded);
    assert!(counts.evicted > 0 || packets == counts.decoded);
    for side in sides() {
        assert!(side.distinct_bytes <= side.payload_bytes, "{side:?}");
        assert_eq!(side.first_data_ns.is_some(), side.payload_bytes > 0);
    }
    Some(capture)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn random_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        check(&bytes);
    }

    #[test]
    fn random_bytes_behind_a_valid_start_do_no_harm(
        which in 0..4_usize,
        keep in 24..200_usize,
        bytes in proptest::collection::vec(any::<u8>(), 0..2_000),
    ) {
        let file = &valid_files()[which];
        check(&[&file[..keep], &bytes].concat());
    }

    #[test]
    fn a_damaged_capture_does_no_harm(
        which in 0..4_usize,
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..30),
    ) {
        let mut file = valid_files()[which].clone();
        for (index, byte) in damage {
            let at = index.index(file.len());
            file[at] = byte;
        }
        check(&file);
    }

    #[test]
    fn random_segments_balance(
        segments in proptest::collection::vec((any::<bool>(), any::<u32>(), any::<u32>(), any::<u8>(), 0..2000_usize), 0..60),
        close in any::<bool>(),
    ) {
        let frames: Vec<Frame> = segments.iter().enumerate().map(|(index, &(forth, seq, ack, flags, payload))| {
            let seq = if close { seq % 5_000 } else { seq };
            let (from, to) = if forth { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
            tcp(index as u64 * 1_000_000, from, to, seq, ack, flags, payload)
        }).collect();
        let read = check(&pcap(&frames, 1, false, false)).expect("a capture");
        prop_assert_eq!(read.counts.decoded, frames.len() as u64);
    }

    #[test]
    fn order_of_arrival_does_not_change_the_distinct_bytes(
        mut order in Just((0..30_u32).collect::<Vec<u32>>()).prop_shuffle(),
        isn in any::<u32>(),
        repeats in proptest::collection::vec(0..30_u32, 0..20),
    ) {
        order.extend(repeats);
        let mut frames = vec![tcp(0, CLIENT, SERVER, isn, 0, SYN, 0)];
        for (index, part) in order.iter().enumerate() {
            let seq = isn.wrapping_add(1 + part * 100);
            frames.push(tcp(1 + index as u64, CLIENT, SERVER, seq, 1, ACK, 100));
        }
        let read = read_frames(&frames);
        prop_assert_eq!(read.connections.len(), 1);
        let side = &read.connections[0].from_opener;
        prop_assert_eq!((side.distinct_bytes, side.missing_bytes), (3_000, 0));
        prop_assert_eq!(side.payload_bytes, 100 * order.len() as u64);
    }
}
