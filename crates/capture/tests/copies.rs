//! Packets that one tap captured more than once: counted always, left out where they are many or where that is asked for.

use std::path::PathBuf;

use capture::{Capture, Duplicates, Options, Skip, read, read_bytes, read_files, split_files};
use proptest::prelude::*;

use crate::wire::*;

const AUTO: Options = with(Duplicates::Auto);
const LEAVE_OUT: Options = with(Duplicates::Places);
const KEEP: Options = with(Duplicates::Keep);

const fn with(duplicates: Duplicates) -> Options {
    Options {
        max_flows: 1_000_000,
        max_held: usize::MAX,
        tunnels: false,
        window_ns: 0,
        duplicates,
        duplicate_ns: 100_000_000,
        clocks: false,
        series: true,
        max_trains: 1_000,
        pauses: false,
        max_packets: 0,
        packets_of_tcp: true,
        max_volumes: 0,
        volumes_to: None,
        volumes_in_time: false,
        ideal: capture::Ideal { initial_window: 1, delayed_ack: true },
        sieve: capture::Sieve::NONE,
    }
}

/// A handshake, a request and answers of 1000 bytes, every second one acknowledged, identifications counting up.
fn transfer(answers: u32) -> Vec<Frame> {
    let mut frames = vec![
        tcp(1_000_000, CLIENT, SERVER, 99, 0, SYN, 0),
        tcp(1_050_000, SERVER, CLIENT, 499, 100, SYN | ACK, 0),
        tcp(1_050_100, CLIENT, SERVER, 100, 500, ACK, 0),
        tcp(1_050_200, CLIENT, SERVER, 100, 500, ACK, 100),
    ];
    for index in 0..answers {
        let time_us = 1_100_000 + u64::from(index) * 2_000;
        frames.push(tcp(time_us, SERVER, CLIENT, 500 + index * 1000, 200, ACK, 1000));
        if index % 2 == 1 {
            frames.push(tcp(time_us + 500, CLIENT, SERVER, 200, 1500 + index * 1000, ACK, 0));
        }
    }
    for (index, frame) in frames.iter_mut().enumerate() {
        frame.bytes[18..20].copy_from_slice(&(index as u16 + 1).to_be_bytes());
    }
    frames
}

/// The same frame one hop further on, `later_us` later, with another link header where `tagged`.
fn routed(frame: &Frame, later_us: u64, tagged: bool) -> Frame {
    let mut copy = at(frame.time_us + later_us, frame.bytes.clone());
    copy.bytes[22] -= 1;
    copy.bytes[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 3]);
    if tagged {
        copy.bytes.splice(12..12, [0x81, 0, 0, 20]);
        copy.captured += 4;
    }
    copy
}

fn twice(frames: &[Frame], copy: impl Fn(&Frame) -> Frame) -> Vec<Frame> {
    let mut all: Vec<Frame> = frames.iter().flat_map(|frame| [frame.clone(), copy(frame)]).collect();
    all.sort_by_key(|frame| frame.time_us);
    all
}

fn read_as(frames: &[Frame], options: &Options) -> Capture {
    read_bytes(&pcap(frames, 1, false, false), options, &mut || true).expect("a capture")
}

fn found(capture: &Capture) -> String {
    let mut rows = capture.connections.clone();
    rows.iter_mut().for_each(|row| row.taps = 0);
    format!("{rows:?} {:?}", capture.trains)
}

#[test]
fn a_mirror_port_that_sees_packets_come_and_go_gives_the_figures_of_the_capture() {
    let frames = transfer(40);
    let once = read_as(&frames, &KEEP);
    assert_eq!(once.counts.copies, 0);
    let same = |frame: &Frame| at(frame.time_us + 20, frame.bytes.clone());
    for doubled in [
        twice(&frames, same),
        twice(&frames, |frame| routed(frame, 20, false)),
        twice(&frames, |frame| routed(frame, 20, true)),
        // Behind the queue of a full link.
        twice(&frames, |frame| routed(frame, 300_000, true)),
    ] {
        let read = read_as(&doubled, &AUTO);
        let packets = frames.len() as u64;
        assert_eq!((read.counts.copies, read.counts.skipped(Skip::Duplicate)), (packets, packets));
        assert_eq!(read.counts.decoded, packets);
        assert_eq!(found(&read), found(&once));
        let kept = read_as(&doubled, &KEEP);
        assert_eq!((kept.counts.copies, kept.counts.skipped(Skip::Duplicate)), (packets, 0));
        assert_eq!(kept.connections[0].from_responder.retransmits, 40);
    }
}

/// The same frame outside a router that translates the address and the port of the client.
fn translated(frame: &Frame, later_us: i64) -> Frame {
    let mut copy = routed(frame, 0, false);
    copy.time_us = frame.time_us.checked_add_signed(later_us).expect("a time");
    let out = copy.bytes[26..30] == CLIENT.0;
    let (address, port) = if out { (26, 34) } else { (30, 36) };
    // What comes in is captured outside first, with a hop more to go.
    copy.bytes[22] = if out { frame.bytes[22] - 1 } else { frame.bytes[22] + 1 };
    copy.bytes[address..address + 4].copy_from_slice(&[203, 0, 113, 5]);
    copy.bytes[port..port + 2].copy_from_slice(&50_000_u16.to_be_bytes());
    copy
}

#[test]
fn both_sides_of_a_router_that_translates_addresses_are_one_connection() {
    let frames = transfer(40);
    let once = read_as(&frames, &KEEP);
    // What comes from outside passes the outer interface first.
    let outside = |frame: &Frame| translated(frame, if frame.bytes[26..30] == CLIENT.0 { 15 } else { -15 });
    let read = read_as(&twice(&frames, outside), &AUTO);
    assert_eq!(found(&read), found(&once));
    assert_eq!((read.counts.copies, read.counts.decoded), (frames.len() as u64, frames.len() as u64));
    assert_eq!(read_as(&twice(&frames, outside), &KEEP).connections.len(), 2);
}

#[test]
fn connections_that_a_generator_begins_with_the_same_numbers_are_several() {
    // The same numbers and no identification, at another port and another place a second later, and at the same place at once.
    for (later_us, tagged) in [(1_000_000, true), (30, false)] {
        let mut frames = transfer(40);
        frames.iter_mut().for_each(|frame| frame.bytes[18..20].copy_from_slice(&[0, 1]));
        let other = |frame: &Frame| {
            let mut copy = at(frame.time_us + later_us, frame.bytes.clone());
            let port = if copy.bytes[26..30] == CLIENT.0 { 34 } else { 36 };
            copy.bytes[port..port + 2].copy_from_slice(&40_001_u16.to_be_bytes());
            if tagged { routed(&copy, 0, true) } else { copy }
        };
        let read = read_as(&twice(&frames, other), &AUTO);
        assert_eq!((read.counts.copies, read.connections.len()), (0, 2));
    }
}

#[test]
fn the_same_words_to_several_hosts_are_no_copies() {
    // One datagram to each of many, from one place, with and without identification.
    for identification in [0, 9] {
        let to = |index: u64| {
            let peer: End = ([198, 51, 100, index as u8], 5_000);
            let mut frame = udp(1_000_000 + index * 10, CLIENT, peer, 100);
            frame.bytes[18..20].copy_from_slice(&[0, identification]);
            frame
        };
        assert_eq!(read_as(&(0..200).map(to).collect::<Vec<_>>(), &LEAVE_OUT).counts.copies, 0);
    }
}

#[test]
fn acknowledgements_without_identification_go_where_everything_was_captured_twice() {
    let mut frames = transfer(40);
    for frame in &mut frames {
        frame.bytes[18..20].fill(0);
    }
    let doubled = twice(&frames, |frame| at(frame.time_us + 20, frame.bytes.clone()));
    let read = read_as(&doubled, &AUTO);
    assert_eq!(read.counts.copies, frames.len() as u64);
    assert_eq!(found(&read), found(&read_as(&frames, &KEEP)));
}

#[test]
fn copies_below_a_fifth_are_counted_and_stay_unless_they_are_to_go() {
    let mut frames = transfer(40);
    let copy = routed(&frames[10], 20, false);
    frames.insert(11, copy);
    let read = read_as(&frames, &AUTO);
    assert_eq!((read.counts.copies, read.counts.skipped(Skip::Duplicate)), (1, 0));
    let read = read_as(&frames, &LEAVE_OUT);
    assert_eq!((read.counts.copies, read.counts.skipped(Skip::Duplicate)), (1, 1));
}

#[test]
fn what_a_host_sends_again_is_no_copy() {
    // With and without identification, as soon as a timer or an acknowledgement can tell.
    for identified in [true, false] {
        let mut frames = transfer(40);
        for index in 0..20 {
            let original = &frames[4 + index];
            let mut again = at(original.time_us + 12_000, original.bytes.clone());
            again.bytes[18..20].copy_from_slice(&(1000 + index as u16).to_be_bytes());
            frames.push(again);
        }
        frames.sort_by_key(|frame| frame.time_us);
        if !identified {
            frames.iter_mut().for_each(|frame| frame.bytes[18..20].fill(0));
        }
        for options in [AUTO, LEAVE_OUT] {
            assert_eq!(read_as(&frames, &options).counts.copies, 0, "{identified}");
        }
    }
}

#[test]
fn a_repeated_acknowledgement_without_identification_is_no_copy_of_the_first() {
    let acks: Vec<Frame> = (0..4).map(|index| tcp(1_000_000 + index * 10, CLIENT, SERVER, 5, 9, ACK, 0)).collect();
    let acks: Vec<Frame> = acks
        .into_iter()
        .map(|mut frame| {
            frame.bytes[18..20].fill(0);
            frame
        })
        .collect();
    assert_eq!(read_as(&acks, &LEAVE_OUT).counts.copies, 0);
    // Four at one place are four at the other.
    let doubled = twice(&acks, |frame| routed(frame, 100, false));
    let read = read_as(&doubled, &LEAVE_OUT);
    assert_eq!((read.counts.copies, read.counts.decoded), (4, 4));
}

#[test]
fn a_packet_sent_again_stays_also_where_every_packet_was_captured_twice() {
    let mut frames = transfer(40);
    let mut again = at(frames[8].time_us + 7_000, frames[8].bytes.clone());
    again.bytes[18..20].copy_from_slice(&5000_u16.to_be_bytes());
    frames.push(again);
    frames.sort_by_key(|frame| frame.time_us);
    let once = read_as(&frames, &KEEP);
    let read = read_as(&twice(&frames, |frame| routed(frame, 30, true)), &AUTO);
    assert_eq!(found(&read), found(&once));
    let again: u32 = [&read.connections[0].from_opener, &read.connections[0].from_responder]
        .map(|side| side.retransmits)
        .iter()
        .sum();
    assert_eq!(again, 1);
}

#[test]
fn an_application_that_says_the_same_again_and_again_sends_no_copies() {
    // A generator of constant packets with one identification or none, each 2 ms and each 0.1 ms.
    for (gap_us, identification) in [(2_000, 0), (2_000, 7), (100, 0), (100, 1), (100, 7)] {
        let constant = |index: u64| {
            let mut frame = udp(1_000_000 + index * gap_us, SERVER, CLIENT, 1_000);
            frame.bytes[18..20].copy_from_slice(&[0, identification]);
            frame
        };
        let read = read_as(&(0..2_000).map(constant).collect::<Vec<_>>(), &AUTO);
        assert_eq!(read.counts.skipped(Skip::Duplicate), 0);
        assert!(read.counts.copies <= if identification > 1 { 3 } else { 0 }, "{}", read.counts.copies);
    }
}

#[test]
fn datagrams_that_differ_where_they_are_long_are_none() {
    // Equal ports, lengths and starts, without identification: what tells them apart is a number in the payload.
    let frames: Vec<Frame> = (0..1_000_u32)
        .map(|index| {
            let mut frame = udp(1_000_000 + u64::from(index) * 50, SERVER, CLIENT, 200);
            frame.bytes[18..20].fill(0);
            frame.bytes[54..58].copy_from_slice(&index.to_be_bytes());
            frame
        })
        .collect();
    assert_eq!(read_as(&frames, &LEAVE_OUT).counts.copies, 0);
}

#[test]
fn what_cannot_be_read_again_is_decided_by_its_beginning() {
    let frames = transfer(40);
    let doubled = pcap(&twice(&frames, |frame| routed(frame, 20, true)), 1, false, false);
    let [again, once] = [read_bytes(&doubled, &AUTO, &mut || true), read(&doubled[..], &AUTO, &mut || true)];
    let [again, once] = [again.expect("a capture"), once.expect("a capture")];
    assert_eq!(found(&again), found(&once));
    assert_eq!(again.counts, once.counts);
    // 30,000 packets without copies, then only such with one.
    let mut late = transfer(20_000);
    let end_us = late.last().expect("a frame").time_us;
    let begins = late.len();
    late.extend(twice(&transfer(20_000), |frame| routed(frame, 20, true)));
    late[begins..].iter_mut().for_each(|frame| {
        frame.time_us += end_us;
        // Another port of the client.
        let tag = if frame.bytes[12] == 0x81 { 4 } else { 0 };
        let from_client = frame.bytes[26 + tag..30 + tag] == CLIENT.0;
        let at = tag + if from_client { 34 } else { 36 };
        frame.bytes[at..at + 2].copy_from_slice(&40_001_u16.to_be_bytes());
    });
    let file = pcap(&late, 1, false, false);
    let [again, once] = [read_bytes(&file, &AUTO, &mut || true), read(&file[..], &AUTO, &mut || true)];
    let [again, once] = [again.expect("a capture"), once.expect("a capture")];
    assert_eq!(again.counts.skipped(Skip::Duplicate), 30_004);
    assert_eq!(again.counts.copies, 30_004);
    assert_eq!(once.counts.skipped(Skip::Duplicate), 0);
    // The table that counts has few places: a copy may find its packet overwritten.
    assert!(once.counts.copies > 29_900, "{}", once.counts.copies);
    assert_eq!(again.connections.len(), 2);
    assert_eq!(again.connections[1].from_responder.retransmits, 0);
}

#[test]
fn a_file_is_read_again_by_itself_and_into_shards() {
    let folder = std::env::temp_dir().join(format!("mayfly-copies-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let frames = transfer(40);
    let path = folder.join("twice.pcap");
    std::fs::write(&path, pcap(&twice(&frames, |frame| routed(frame, 20, true)), 1, false, false)).expect("a file");
    let once = read_as(&frames, &KEEP);
    let read = read_files(&[&path], &AUTO, &mut || true).expect("a capture");
    assert_eq!(found(&read), found(&once));
    let shards: Vec<PathBuf> = (0..3).map(|place| folder.join(format!("{place}.shard"))).collect();
    let mut counts = split_files(&[&path], &AUTO, &mut || true, &shards).expect("shards");
    // Of volumes a splitting knows nothing.
    counts.volume_width_ns = read.counts.volume_width_ns;
    let mut rows = 0;
    for shard in &shards {
        let shard = capture::read_shard(shard, &AUTO, counts.first_ns, &mut || true, None).expect("a shard");
        rows += shard.connections.len();
        counts.add_shard(&shard.counts);
    }
    assert_eq!(counts, read.counts);
    assert_eq!(rows, 1);
    std::fs::remove_dir_all(&folder).expect("to be removed");
}

#[test]
fn quic_is_told_by_the_long_headers_of_the_first_packets() {
    let long = |time_us, from, to, first: u8| {
        let mut frame = udp(time_us, from, to, 1200);
        frame.bytes[42..49].copy_from_slice(&[first, 0, 0, 0, 1, 8, 0]);
        frame
    };
    let other: End = ([192, 168, 0, 2], 40_002);
    let mut frames = vec![long(1_000_000, CLIENT, SERVER, 0xc3), long(1_040_000, SERVER, CLIENT, 0xc1)];
    frames.extend((0..20).map(|index| udp(1_050_000 + index * 1000, SERVER, CLIENT, 1200)));
    // Midstream, at the same port: bytes that look so by chance come too late.
    frames.extend((0..20).map(|index| udp(1_050_500 + index * 1000, SERVER, other, 1200)));
    frames.push(long(1_100_000, SERVER, other, 0xc1));
    let read = read_as(&frames, &AUTO);
    assert_eq!(read.connections.iter().map(|row| row.quic.is()).collect::<Vec<_>>(), [true, false]);
    // RTP begins with the form and without the fixed bit.
    let read = read_as(&[long(1_000_000, CLIENT, SERVER, 0x80)], &AUTO);
    assert!(!read.connections[0].quic.is());
}

/// A transfer of a host of a LAN, with numbers, identifications and hops of its own.
#[derive(Clone, Debug)]
struct Drawn {
    host: u8,
    server: u8,
    port: u16,
    numbers: (u32, u32),
    identification: u16,
    hops: u8,
    start_us: u64,
    answers: u32,
}

/// Frames as a tap on the LAN sees them: every host has its own link address.
fn of_lan(drawn: &Drawn) -> Vec<Frame> {
    let client: End = ([192, 168, 0, drawn.host], drawn.port);
    let server: End = ([198, 51, 100, drawn.server], 443);
    let (isn, other) = drawn.numbers;
    let mut frames = vec![
        tcp(0, client, server, isn, 0, SYN, 0),
        tcp(20_000, server, client, other, isn.wrapping_add(1), SYN | ACK, 0),
        tcp(20_100, client, server, isn.wrapping_add(1), other.wrapping_add(1), ACK, 100),
    ];
    for index in 0..drawn.answers {
        let seq = other.wrapping_add(1 + index * 1_000);
        frames.push(tcp(40_000 + u64::from(index) * 900, server, client, seq, isn.wrapping_add(101), ACK, 1_000));
    }
    for (index, frame) in frames.iter_mut().enumerate() {
        frame.time_us += 1_000_000 + drawn.start_us;
        frame.bytes[18..20].copy_from_slice(&drawn.identification.wrapping_add(index as u16).to_be_bytes());
        frame.bytes[22] = drawn.hops;
        let out = frame.bytes[26..30] == client.0;
        frame.bytes[if out { 11 } else { 5 }] = drawn.host;
    }
    frames
}

/// The same outside a router with one public address, and ports of its own.
fn outside(frame: &Frame, drawn: &Drawn, port: u16) -> Frame {
    let mut copy = at(frame.time_us, frame.bytes.clone());
    let out = copy.bytes[26..30] == [192, 168, 0, drawn.host];
    let (address, at_port) = if out { (26, 34) } else { (30, 36) };
    copy.bytes[address..address + 4].copy_from_slice(&[203, 0, 113, 5]);
    copy.bytes[at_port..at_port + 2].copy_from_slice(&port.to_be_bytes());
    copy.bytes[22] = if out { copy.bytes[22] - 1 } else { copy.bytes[22] + 1 };
    copy.bytes[0..12].copy_from_slice(&[2, 0, 0, 0, 0, 70, 2, 0, 0, 0, 0, 71]);
    copy.time_us = if out { copy.time_us + 300 } else { copy.time_us - 300 };
    copy
}

fn lan(
    numbers: impl Strategy<Value = (u32, u32)>,
    hops: impl Strategy<Value = u8>,
) -> impl Strategy<Value = Vec<Drawn>> {
    let one = (1..20_u8, 1..3_u8, any::<u16>(), numbers, any::<u16>(), hops, 0..3_000_u64, 0..6_u32);
    let drawn = one.prop_map(|(host, server, port, numbers, identification, hops, start_us, answers)| Drawn {
        host,
        server,
        port,
        numbers,
        identification,
        hops,
        start_us,
        answers,
    });
    proptest::collection::vec(drawn, 1..30).prop_map(|mut all| {
        // Each its own port: two of one five-tuple would be one connection.
        all.iter_mut().zip(1_024..).for_each(|(one, port)| one.port = port);
        all
    })
}

fn in_time(mut frames: Vec<Frame>) -> Vec<Frame> {
    frames.sort_by_key(|frame| frame.time_us);
    frames
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Hosts with numbers of their own, one or two routers away or none, all at once to a few servers.
    #[test]
    fn no_two_connections_of_a_lan_are_merged(drawn in lan(any::<(u32, u32)>(), prop_oneof![Just(63_u8), Just(64), Just(128)])) {
        let frames = in_time(drawn.iter().flat_map(of_lan).collect());
        let read = again(&frames, &LEAVE_OUT);
        prop_assert_eq!((read.counts.copies, read.counts.translated), (0, 0));
        prop_assert_eq!(read.connections.len(), drawn.len());
    }

    /// A generator that begins all connections with the same numbers, from hosts that are equally far.
    #[test]
    fn nor_are_those_of_a_generator(drawn in lan((0..3_u32, 0..2_u32), Just(64))) {
        let frames = in_time(drawn.iter().flat_map(of_lan).collect());
        let read = again(&frames, &LEAVE_OUT);
        prop_assert_eq!(read.counts.translated, 0);
        prop_assert_eq!(read.connections.len(), drawn.len());
    }

    /// Both sides of a router are the inside, packet by packet.
    #[test]
    fn both_sides_of_a_router_are_the_inside(drawn in lan(any::<(u32, u32)>(), prop_oneof![Just(63_u8), Just(64), Just(128)])) {
        let frames = in_time(drawn.iter().flat_map(of_lan).collect());
        let mut both: Vec<Frame> = frames.iter().map(|frame| at(frame.time_us, frame.bytes.clone())).collect();
        for (one, port) in drawn.iter().zip(40_000..) {
            both.extend(of_lan(one).iter().map(|frame| outside(frame, one, port)));
        }
        let [once, read] = [(&frames, KEEP), (&in_time(both), AUTO)].map(|(frames, options)| again(frames, &options));
        prop_assert_eq!(read.counts.translated, drawn.len() as u64);
        prop_assert_eq!(read.counts.decoded, frames.len() as u64);
        // Packets of one moment may come in another order, and with them the rows.
        let ends = |read: &Capture| {
            let mut rows: Vec<_> = read
                .connections
                .iter()
                .map(|row| (row.opener, row.responder, row.from_opener.wire_bytes, row.from_responder.wire_bytes, row.rtt_ns))
                .collect();
            rows.sort();
            rows
        };
        prop_assert_eq!(ends(&once), ends(&read));
    }
}

/// From memory, which can be read again.
fn again(frames: &[Frame], options: &Options) -> Capture {
    read_bytes(&pcap(frames, 1, false, false), options, &mut || true).expect("a capture")
}

/// Datagrams without identification between a host of a LAN and a server, both ways, or echoes and their replies.
#[derive(Clone, Debug)]
struct Chat {
    host: u8,
    server: u8,
    port: u16,
    /// Payload: 0 the same each time, 1 a number that counts up from 0, else drawn from this.
    says: u64,
    hops: u8,
    start_us: u64,
    each_way: u32,
    echo: bool,
}

/// Bytes of what is said in a direction, nearly all of them another for another `seed` above 1.
fn said(seed: u64, index: u32, back: bool) -> Vec<u8> {
    match seed {
        0 => vec![7; 40],
        1 => [&index.to_be_bytes()[..], &[7; 36]].concat(),
        _ => {
            let mut state = seed ^ u64::from(index) << 32 ^ u64::from(back) << 63;
            let step = |_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            };
            (0..40).map(step).collect()
        }
    }
}

/// An echo, or its reply.
fn ping(from: [u8; 4], to: [u8; 4], reply: bool, number: u16, index: u32, payload: &[u8]) -> Vec<u8> {
    let kind = if reply { 0 } else { 8 };
    let head = [&[kind, 0, 0, 0][..], &number.to_be_bytes(), &(index as u16).to_be_bytes()].concat();
    ethernet(0x0800, &ipv4(from, to, 1, &[&head[..], payload].concat(), None, 0))
}

/// As a tap on the LAN sees them, or the tap outside of a router with one public address, where the host has that `port`.
fn chat(drawn: &Chat, outer: Option<u16>) -> Vec<Frame> {
    let server: End = ([198, 51, 100, drawn.server], 3_478);
    let client: End = match outer {
        None => ([192, 168, 0, drawn.host], drawn.port),
        Some(port) => ([203, 0, 113, 5], port),
    };
    let mut frames = Vec::new();
    for index in 0..drawn.each_way {
        for back in [false, true] {
            let (from, to) = if back { (server, client) } else { (client, server) };
            let payload = said(drawn.says, index, drawn.echo || back);
            let bytes = if drawn.echo {
                ping(from.0, to.0, back, client.1, index, &payload)
            } else {
                let head = [from.1.to_be_bytes(), to.1.to_be_bytes(), 48_u16.to_be_bytes(), [0; 2]].concat();
                ethernet(0x0800, &ipv4(from.0, to.0, 17, &[&head[..], &payload].concat(), None, 0))
            };
            let mut frame = at(1_000_000 + drawn.start_us + u64::from(index) * 20_000 + u64::from(back) * 7_000, bytes);
            frame.bytes[18..20].fill(0);
            frame.bytes[22] = if back { 50 } else { drawn.hops };
            frame.bytes[if back { 5 } else { 11 }] = drawn.host;
            if outer.is_some() {
                frame.bytes[0..12].copy_from_slice(&[2, 0, 0, 0, 0, 70, 2, 0, 0, 0, 0, 71]);
                frame.bytes[22] = if back { 51 } else { drawn.hops - 1 };
                frame.time_us = if back { frame.time_us - 300 } else { frame.time_us + 300 };
            }
            frames.push(frame);
        }
    }
    frames
}

fn chats(says: impl Strategy<Value = u64>, least: u32) -> impl Strategy<Value = Vec<Chat>> {
    let hops = prop_oneof![Just(63_u8), Just(64), Just(128)];
    let one = (1..20_u8, 1..3_u8, says, hops, prop_oneof![Just(0), 0..3_000_u64], least..8_u32, any::<bool>());
    let drawn = one.prop_map(|(host, server, says, hops, start_us, each_way, echo)| Chat {
        host,
        server,
        port: 0,
        says,
        hops,
        start_us,
        each_way,
        echo,
    });
    proptest::collection::vec(drawn, 1..30).prop_map(|mut all| {
        all.iter_mut().zip(1_024..).for_each(|(one, port)| one.port = port);
        all
    })
}

/// Connections of these: echoes between the same hosts are one.
fn connections_of(drawn: &[Chat]) -> usize {
    let end = |one: &Chat| (one.host, one.server, if one.echo { 0 } else { one.port });
    let ends: std::collections::BTreeSet<_> = drawn.iter().map(end).collect();
    ends.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Hosts that say the same, count in step, or say what they draw, one or two routers away or none.
    #[test]
    fn datagrams_without_identification_of_several_hosts_are_not_merged(drawn in chats(prop_oneof![Just(0_u64), Just(1), any::<u64>()], 1)) {
        let frames = in_time(drawn.iter().flat_map(|one| chat(one, None)).collect());
        for options in [&LEAVE_OUT, &AUTO] {
            let read = again(&frames, options);
            prop_assert_eq!((read.counts.copies, read.counts.translated), (0, 0));
            prop_assert_eq!(read.counts.decoded, frames.len() as u64);
            prop_assert_eq!(read.connections.len(), connections_of(&drawn));
        }
    }

    /// What a host draws and says on both sides of a router is the inside, packet by packet.
    #[test]
    fn datagrams_without_identification_on_both_sides_of_a_router_are_the_inside(drawn in chats(2..u64::MAX, 2)) {
        let inside: Vec<Frame> = in_time(drawn.iter().flat_map(|one| chat(one, None)).collect());
        let mut both: Vec<Frame> = inside.iter().map(|frame| at(frame.time_us, frame.bytes.clone())).collect();
        for (one, port) in drawn.iter().zip(40_000..) {
            both.extend(chat(one, Some(port)));
        }
        let read = again(&in_time(both), &AUTO);
        let once = again(&inside, &KEEP);
        prop_assert_eq!(read.counts.translated, drawn.len() as u64);
        prop_assert_eq!(read.counts.decoded, inside.len() as u64);
        let ends = |read: &Capture| {
            let row = |row: &capture::Connection| {
                (row.opener, row.responder, row.from_opener.wire_bytes, row.from_responder.wire_bytes)
            };
            let mut rows: Vec<_> = read.connections.iter().map(row).collect();
            rows.sort();
            rows
        };
        prop_assert_eq!(ends(&once), ends(&read));
    }
}

/// The router's own echoes to a host that one of the LAN asks, too, are no copies.
#[test]
fn echoes_of_the_router_itself_stay() {
    let asked = Chat { host: 9, server: 1, port: 77, says: 5, hops: 64, start_us: 0, each_way: 6, echo: true };
    let own = Chat { says: 99, start_us: 4_000, ..asked.clone() };
    let frames = [chat(&asked, None), chat(&asked, Some(40_000)), chat(&own, Some(40_001))].concat();
    let read = again(&in_time(frames), &AUTO);
    assert_eq!((read.counts.translated, read.counts.decoded), (1, 24));
    assert_eq!(read.connections.len(), 2);
}
