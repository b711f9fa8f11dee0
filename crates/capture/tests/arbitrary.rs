//! No input panics or hangs, and the books balance whatever the file holds.

use capture::{Amount, Capture, CaptureError, Options, read};
use proptest::prelude::*;

use crate::wire::*;

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
    let outcome = read(file, &Options { max_flows: 3, max_held: 5, ..Options::default() }, &mut || true);
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
    assert!(counts.account.is_exact(), "{counts:?}");
    assert_eq!(counts.account.seen().count, counts.packets);
    let wire_bytes = sides().map(|side| side.wire_bytes).sum();
    assert_eq!(counts.account.used(), Amount::of(packets, wire_bytes));
    assert!(counts.evicted > 0 || packets == counts.decoded);
    for flow in &capture.connections {
        let Some(data_ns) = flow.data_ns else { continue };
        // Time stamps of strangers may be further apart than a sum holds.
        let parts = [&flow.from_opener, &flow.from_responder]
            .map(|side| i128::from(side.warm_up_ns) + i128::from(side.transfer_ns));
        assert_eq!(parts.iter().sum::<i128>().min(i128::from(i64::MAX)), i128::from(data_ns), "{flow:?}");
    }
    for side in sides() {
        assert!(side.distinct_packets <= side.data_packets && side.spurious <= side.retransmits, "{side:?}");
        assert!(u64::from(side.reordered) + u64::from(side.lost_before) <= side.distinct_packets, "{side:?}");
        assert!(side.unseen_bytes <= side.missing_bytes + (1 << 30), "{side:?}");
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
    fn whatever_is_sent_when_the_parts_add_up_and_trains_hold_everything(
        segments in proptest::collection::vec((any::<bool>(), 0..40_u32, 0..4_u32, 0..5_000_000_u64), 1..60),
        window_ms in 0..5_000_u64,
    ) {
        let frames: Vec<Frame> = segments.iter().map(|&(forth, seq, parts, time_us)| {
            let (from, to) = if forth { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
            tcp(time_us, from, to, 1_000 + seq * 100, 1, ACK, 100 * parts as usize)
        }).collect();
        let options = Options { max_trains: usize::MAX, window_ns: window_ms * 1_000_000, ..Options::default() };
        let read = read(&pcap(&frames, 1, false, false)[..], &options, &mut || true).expect("a capture");
        prop_assert_eq!(read.connections.len(), 1);
        let row = &read.connections[0];
        let sides = [&row.from_opener, &row.from_responder];
        let parts: i64 = sides.iter().map(|side| side.warm_up_ns + side.transfer_ns).sum();
        prop_assert_eq!(row.data_ns.unwrap_or(0), parts);
        for (from_opener, side) in [(true, sides[0]), (false, sides[1])] {
            let trains: Vec<_> = read.trains.iter().filter(|train| train.from_opener == from_opener).collect();
            prop_assert_eq!(trains.len(), side.trains as usize);
            prop_assert_eq!(trains.iter().map(|train| train.warm_up_ns).sum::<i64>(), side.warm_up_ns);
            prop_assert!(trains.iter().map(|train| train.bytes).sum::<u64>() <= side.distinct_bytes);
        }
        let all: u64 = read.trains.iter().map(|train| train.bytes).sum();
        prop_assert_eq!(all, sides[0].distinct_bytes + sides[1].distinct_bytes);
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
