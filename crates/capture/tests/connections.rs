//! The connection table: who opened, what was sent, how it ended.

use std::collections::HashSet;

use capture::{
    Capture, Connection, Go, Leaving, OpenerFrom, Options, Protocol, Seen, State, Watch, read, read_files_to,
};

use crate::wire::*;

const DAY_US: u64 = 86_400_000_000;

fn handshake(start_us: u64, isn: u32) -> Vec<Frame> {
    vec![
        tcp(start_us, CLIENT, SERVER, isn, 0, SYN, 0),
        tcp(start_us + 20_000, SERVER, CLIENT, 9_000, isn.wrapping_add(1), SYN | ACK, 0),
        tcp(start_us + 50_000, CLIENT, SERVER, isn.wrapping_add(1), 9_001, ACK, 0),
    ]
}

fn with(mut frames: Vec<Frame>, more: &[Frame]) -> Vec<Frame> {
    frames.extend_from_slice(more);
    frames
}

#[test]
fn a_whole_connection_is_complete() {
    let frames = with(
        handshake(0, u32::MAX - 50),
        &[
            tcp(60_000, CLIENT, SERVER, u32::MAX - 49, 9_001, ACK, 100),
            tcp(90_000, CLIENT, SERVER, u32::MAX - 49, 9_001, ACK, 100),
            tcp(100_000, SERVER, CLIENT, 9_001, 50, ACK, 1400),
            tcp(110_000, SERVER, CLIENT, 10_401, 50, ACK | FIN, 600),
            tcp(120_000, CLIENT, SERVER, 50, 11_002, ACK | FIN, 0),
        ],
    );
    let read = read_frames(&frames);
    assert_eq!(read.connections.len(), 1);
    let connection = &read.connections[0];
    assert_eq!((connection.protocol, connection.state), (Protocol::Tcp, State::Complete));
    assert_eq!((connection.opener.port, connection.responder.port), (CLIENT.1, SERVER.1));
    assert_eq!((connection.opener_from, connection.rtt_ns), (OpenerFrom::Syn, Some(50_000_000)));
    let (opener, responder) = (&connection.from_opener, &connection.from_responder);
    assert_eq!((opener.packets, opener.payload_bytes, opener.distinct_bytes), (5, 200, 100));
    assert_eq!((responder.packets, responder.distinct_bytes, responder.missing_bytes), (3, 2000, 0));
    assert_eq!((opener.first_data_ns, opener.last_data_ns), (Some(60_000_000), Some(90_000_000)));
    assert_eq!((opener.fin, responder.fin, opener.rst), (true, true, false));
}

#[test]
fn each_ending_has_its_state() {
    let refused = [tcp(0, CLIENT, SERVER, 1, 0, SYN, 0), tcp(9, SERVER, CLIENT, 0, 2, RST | ACK, 0)];
    let half_closed = with(handshake(0, 1), &[tcp(60_000, CLIENT, SERVER, 2, 9_001, FIN | ACK, 0)]);
    let cases = [
        (handshake(0, 1)[..1].to_vec(), State::HalfOpen),
        (handshake(0, 1)[..2].to_vec(), State::HalfOpen),
        (handshake(0, 1), State::Established),
        (refused.to_vec(), State::Rejected),
        (half_closed.clone(), State::HalfClosed),
        (with(half_closed, &[tcp(60_001, SERVER, CLIENT, 9_001, 3, RST, 0)]), State::Reset),
        (with(handshake(0, 1)[..2].to_vec(), &[tcp(60_000, CLIENT, SERVER, 2, 0, RST, 0)]), State::Reset),
        (vec![tcp(0, CLIENT, SERVER, 1, 1, ACK, 10)], State::Midstream),
        (vec![udp(0, CLIENT, SERVER, 10)], State::OneWay),
        (vec![udp(0, CLIENT, SERVER, 10), udp(1, SERVER, CLIENT, 10)], State::TwoWay),
    ];
    for (frames, state) in cases {
        let read = read_frames(&frames);
        assert_eq!(read.connections.len(), 1, "{state:?}");
        assert_eq!(read.connections[0].state, state);
    }
}

#[test]
fn an_rst_after_both_fins_leaves_the_connection_complete() {
    let frames = with(
        handshake(0, 1),
        &[
            tcp(60_000, CLIENT, SERVER, 2, 9_001, FIN | ACK, 0),
            tcp(61_000, SERVER, CLIENT, 9_001, 3, FIN | ACK, 0),
            tcp(62_000, CLIENT, SERVER, 3, 0, RST, 0),
        ],
    );
    let connection = &read_frames(&frames).connections[0];
    assert_eq!((connection.state, connection.from_opener.rst), (State::Complete, true));
}

#[test]
fn the_opener_is_inferred_without_a_syn() {
    let equal = (SERVER.0, CLIENT.1);
    let cases = [
        (tcp(0, SERVER, CLIENT, 9, 1, SYN | ACK, 0), OpenerFrom::SynAck, CLIENT),
        (tcp(0, SERVER, CLIENT, 9, 1, ACK, 5), OpenerFrom::Port, CLIENT),
        (tcp(0, equal, CLIENT, 9, 1, ACK, 5), OpenerFrom::FirstPacket, equal),
        (udp(0, SERVER, CLIENT, 5), OpenerFrom::FirstPacket, SERVER),
    ];
    for (frame, opener_from, opener) in cases {
        let read = read_frames(&[frame]);
        let connection = &read.connections[0];
        assert_eq!(connection.opener_from, opener_from);
        assert_eq!((connection.opener.address.to_string(), connection.opener.port), {
            let [a, b, c, d] = opener.0;
            (format!("{a}.{b}.{c}.{d}"), opener.1)
        });
    }
}

#[test]
fn a_repeated_or_missing_part_of_the_handshake_hides_the_rtt() {
    let [syn, syn_ack, ack] = [0, 1, 2].map(|index| handshake(0, 1)[index].clone());
    let again = |frame: &Frame, time_us| Frame { time_us, ..frame.clone() };
    let cases = [
        vec![syn.clone(), again(&syn, 1_000), syn_ack.clone(), ack.clone()],
        vec![syn.clone(), syn_ack.clone(), again(&syn_ack, 30_000), ack.clone()],
        vec![syn_ack.clone(), ack.clone()],
        vec![syn.clone(), ack.clone()],
        vec![syn.clone(), syn_ack.clone(), again(&ack, 10_000)],
    ];
    for (index, frames) in cases.iter().enumerate() {
        assert_eq!(read_frames(frames).connections[0].rtt_ns, None, "case {index}");
    }
    assert_eq!(read_frames(&[syn, syn_ack, ack]).connections[0].rtt_ns, Some(50_000_000));
}

#[test]
fn a_tuple_is_split_only_where_a_connection_can_end() {
    let fin = tcp(60_000, CLIENT, SERVER, 2, 9_001, FIN | ACK, 0);
    let rst = tcp(60_000, SERVER, CLIENT, 9_001, 2, RST, 0);
    let data = |time_us| tcp(time_us, CLIENT, SERVER, 2, 9_001, ACK, 10);
    let syn = |time_us, isn| tcp(time_us, CLIENT, SERVER, isn, 0, SYN, 0);
    let cases = [
        ("after FIN", with(handshake(0, 1), &[fin.clone(), syn(70_000, 777)]), 2),
        ("after RST", with(handshake(0, 1), &[rst, syn(70_000, 777)]), 2),
        ("after silence", with(handshake(0, 1), &[syn(121_000_000, 777)]), 2),
        ("unanswered attempt", vec![syn(0, 1), syn(5, 777)], 2),
        ("begun before the capture", vec![data(0), syn(5, 777)], 2),
        ("repeated SYN", vec![syn(0, 1), syn(300_000_000, 1)], 1),
        ("stray SYN while open", with(handshake(0, 1), &[syn(70_000, 777)]), 1),
        ("silence alone", with(handshake(0, 1), &[data(DAY_US)]), 1),
        ("data after FIN", with(handshake(0, 1), &[fin, data(DAY_US)]), 1),
        ("SYN behind its data", vec![data(5), syn(0, 1)], 1),
    ];
    for (label, frames, connections) in cases {
        assert_eq!(read_frames(&frames).connections.len(), connections, "{label}");
    }
}

#[test]
fn the_last_syn_ack_before_the_data_sets_the_numbers() {
    let frames = [
        tcp(0, SERVER, CLIENT, 5, 2, SYN | ACK, 0),
        tcp(1, SERVER, CLIENT, 3_000_000_000, 2, SYN | ACK, 0),
        tcp(2, CLIENT, SERVER, 2, 3_000_000_001, ACK, 50),
        tcp(3, SERVER, CLIENT, 3_000_000_001, 52, ACK, 96),
    ];
    let read = read_frames(&frames);
    assert_eq!(read.connections.len(), 1);
    let side = &read.connections[0].from_responder;
    assert_eq!((side.distinct_bytes, side.missing_bytes), (96, 0));
}

#[test]
fn keep_alives_and_control_bits_are_no_payload() {
    let frames = with(
        handshake(0, 1),
        &[
            tcp(60_000, CLIENT, SERVER, 2, 9_001, ACK, 10),
            tcp(30_000_000, CLIENT, SERVER, 11, 9_001, ACK, 1),
            tcp(60_000_000, CLIENT, SERVER, 11, 9_001, ACK, 0),
            tcp(61_000_000, CLIENT, SERVER, 12, 9_001, FIN | ACK, 0),
            tcp(90_000_000, CLIENT, SERVER, 12, 9_001, ACK, 1),
        ],
    );
    let side = &read_frames(&frames).connections[0].from_opener;
    assert_eq!((side.distinct_bytes, side.payload_bytes), (10, 10));
    assert_eq!(side.last_data_ns, Some(60_000_000));
    let probe = [tcp(0, SERVER, CLIENT, 500, 100, ACK, 0), tcp(1, CLIENT, SERVER, 99, 500, ACK, 1)];
    assert_eq!(read_frames(&probe).connections[0].from_opener.payload_bytes, 0);
}

#[test]
fn both_directions_of_udp_are_one_flow() {
    let other = (CLIENT.0, 40_001);
    let read = read_frames(&[
        udp(0, CLIENT, SERVER, 100),
        udp(5, other, SERVER, 1),
        udp(DAY_US, SERVER, CLIENT, 200),
        udp(DAY_US + 1, SERVER, CLIENT, 200),
    ]);
    assert_eq!(read.connections.len(), 2);
    let flow = &read.connections[0];
    assert_eq!((flow.from_opener.distinct_bytes, flow.from_responder.distinct_bytes), (100, 400));
    assert_eq!((flow.from_opener.wire_bytes, flow.from_responder.packets), (128, 2));
}

#[test]
fn the_flow_silent_for_longest_is_evicted_and_counted() {
    let host = |index: u16| ([10, 0, (index >> 8) as u8, index as u8], 5000);
    let mut frames: Vec<Frame> = (0..5).map(|index| udp(u64::from(index), host(index), SERVER, 1)).collect();
    frames.push(udp(10, host(0), SERVER, 1));
    frames.push(udp(11, host(9), SERVER, 1));
    let file = pcap(&frames, 1, false, false);
    let read = read(&file[..], &Options { max_flows: 3, ..Options::default() }, &mut || true).expect("a capture");
    let kept: Vec<String> = read.connections.iter().map(|flow| flow.opener.address.to_string()).collect();
    assert_eq!(kept, ["10.0.0.4", "10.0.0.0", "10.0.0.9"]);
    assert_eq!((read.counts.evicted, read.counts.decoded), (4, 7));
}

/// A whole connection of 50 ms that both ends close; `index` chooses its client.
fn closed(start_us: u64, index: u64) -> Vec<Frame> {
    let client = ([10, (index >> 16) as u8, (index >> 8) as u8, index as u8], 5_000);
    vec![
        tcp(start_us, client, SERVER, 1, 0, SYN, 0),
        tcp(start_us + 10_000, SERVER, client, 1, 2, SYN | ACK, 0),
        tcp(start_us + 20_000, client, SERVER, 2, 2, ACK | FIN, 10),
        tcp(start_us + 40_000, SERVER, client, 2, 13, ACK | FIN, 20),
        tcp(start_us + 50_000, client, SERVER, 13, 23, ACK, 0),
    ]
}

#[test]
fn connections_that_are_over_do_not_count_as_open() {
    let frames: Vec<Frame> = (0..20_000).flat_map(|index| closed(index * 60_000, index)).collect();
    let file = pcap(&frames, 1, false, false);
    let read = read(&file[..], &Options { max_flows: 2, ..Options::default() }, &mut || true).expect("a capture");
    assert_eq!((read.connections.len(), read.counts.evicted), (20_000, 0));
    assert!(read.connections.iter().all(|row| row.from_opener.packets == 3 && row.from_responder.packets == 2));
}

#[test]
fn connections_of_one_key_do_not_count_as_open_but_for_the_latest() {
    // Never closed: the client has gone, and begins anew after two minutes.
    let again = |index: u64| tcp(index * 130_000_000, CLIENT, SERVER, 1_000 * index as u32, 0, SYN, 0);
    let file = pcap(&(0..100).map(again).collect::<Vec<_>>(), 1, false, false);
    let read = read(&file[..], &Options { max_flows: 1, ..Options::default() }, &mut || true).expect("a capture");
    assert_eq!((read.connections.len(), read.counts.evicted), (100, 0));
}

#[test]
fn connections_that_are_silent_for_two_minutes_make_room_and_may_go_on() {
    let host = |index: u64| ([10, 0, (index >> 8) as u8, index as u8], 5000);
    let mut frames: Vec<Frame> = (0..300).map(|index| udp(index * 50_000_000, host(index), SERVER, 1)).collect();
    // The first one speaks again after hours, and then two that are open are silent for less than two minutes.
    frames.push(udp(15_000_000_000, host(0), SERVER, 1));
    let file = pcap(&frames, 1, false, false);
    let read = read(&file[..], &Options { max_flows: 4, ..Options::default() }, &mut || true).expect("a capture");
    assert_eq!((read.connections.len(), read.counts.evicted), (300, 0));
    assert_eq!(read.connections[0].from_opener.packets, 2);
}

#[test]
fn all_that_are_held_have_a_bound_of_their_own() {
    let mut frames: Vec<Frame> = (0..1_000).flat_map(|index| closed(index * 60_000, index)).collect();
    let late = |index: u8| udp(70_000_000 + u64::from(index), ([10, 9, 9, index], 7), SERVER, 1);
    frames.extend((0..3).map(late));
    let file = pcap(&frames, 1, false, false);
    let options = Options { max_held: 10, ..Options::default() };
    let read = read(&file[..], &options, &mut || true).expect("a capture");
    assert_eq!((read.connections.len(), read.counts.evicted), (10, 993));
    // Those that were silent for longest went, whether they were over or open.
    assert_eq!(read.connections[0].opener.address.to_string(), "10.0.3.225");
    assert_eq!(read.connections[9].opener.address.to_string(), "10.9.9.2");
}

/// Wants fewer connections held, so many times, from the second look on.
struct Tight(u32);

impl Watch for Tight {
    fn look(&mut self, seen: Seen) -> Go {
        if seen.packets == 0 || self.0 == 0 {
            return Go::On;
        }
        self.0 -= 1;
        Go::Tighter
    }
}

#[derive(Default)]
struct Left(Vec<(u64, Connection)>);

impl Leaving for Left {
    fn leaves(&mut self, serial: u64, connection: Connection) -> std::io::Result<()> {
        self.0.push((serial, connection));
        Ok(())
    }

    fn forgets(&mut self) {
        self.0.clear();
    }
}

/// What is read of `frames` with `watch`, what left early among it, by number.
fn with_those_that_left(frames: &[Frame], name: &str, watch: &mut dyn Watch) -> (Capture, Vec<(u64, Connection)>) {
    let path = std::env::temp_dir().join(format!("mayfly-{name}-{}.pcap", std::process::id()));
    std::fs::write(&path, pcap(frames, 1, false, false)).expect("a file");
    let mut left = Left::default();
    let options = Options { max_held: 5_000, ..Options::default() };
    let read = read_files_to(std::slice::from_ref(&path), &options, watch, Some(&mut left)).expect("a capture");
    std::fs::remove_file(&path).expect("removed");
    let mut rows = left.0;
    rows.extend(read.serials.iter().copied().zip(read.connections.iter().cloned()));
    rows.sort_by_key(|(serial, _)| *serial);
    (read, rows)
}

#[test]
fn what_ended_is_the_same_however_few_are_held() {
    let client = |index: u64| ([10, 0, (index >> 8) as u8, index as u8], 5000 + (index % 7) as u16);
    let mut frames = Vec::new();
    for index in 0..20_000_u64 {
        let (start_us, end, isn) = (index * 1_000, client(index % 3_000), index as u32);
        frames.push(tcp(start_us, end, SERVER, isn, 0, SYN, 0));
        frames.push(tcp(start_us + 300, SERVER, end, 9, isn + 1, SYN | ACK, 0));
        frames.push(tcp(start_us + 600, end, SERVER, isn + 1, 10, ACK | FIN, index as usize % 50));
        frames.push(tcp(start_us + 90_000, SERVER, end, 10, isn + 2, ACK | FIN, 10));
    }
    frames.sort_by_key(|frame| frame.time_us);
    let (whole, wanted) = with_those_that_left(&frames, "whole", &mut || true);
    let (tight, found) = with_those_that_left(&frames, "tight", &mut Tight(3));
    assert_eq!((whole.connections.len(), tight.counts.stopped), (5_000, false));
    assert!((1_000..4_000).contains(&tight.connections.len()), "{}", tight.connections.len());
    assert_eq!(wanted.len(), 20_000);
    assert_eq!(format!("{wanted:?}"), format!("{found:?}"));
}

/// Takes all of them.
#[derive(Default)]
struct All(Left);

impl Leaving for All {
    fn all(&self) -> bool {
        true
    }

    fn wants_volumes(&self) -> bool {
        true
    }

    fn leaves(&mut self, serial: u64, connection: Connection) -> std::io::Result<()> {
        self.0.leaves(serial, connection)
    }

    fn forgets(&mut self) {
        self.0.forgets();
    }
}

#[test]
fn where_all_leave_the_rows_and_their_volumes_are_those_of_a_table_that_holds_all() {
    let mut frames = Vec::new();
    for index in 0..4_000_u64 {
        let client = ([10, 0, (index >> 8) as u8, index as u8], 5000);
        // One in ten opens from the end with the lower address, some ask without an answer.
        let (one, two) = if index % 10 == 0 { (SERVER, client) } else { (client, SERVER) };
        let (start_us, isn) = (index * 5_000, index as u32);
        frames.push(tcp(start_us, one, two, isn, 0, SYN, 0));
        if index % 7 == 0 {
            continue;
        }
        frames.push(tcp(start_us + 300, two, one, 9, isn + 1, SYN | ACK, 0));
        frames.push(tcp(start_us + 600, one, two, isn + 1, 10, ACK | FIN, index as usize % 50));
        frames.push(tcp(start_us + 900, two, one, 10, isn + 2, ACK | FIN, 10));
    }
    frames.push(udp(4_000 * 5_000, ([10, 9, 0, 1], 7000), SERVER, 30));
    frames.sort_by_key(|frame| frame.time_us);
    let path = std::env::temp_dir().join(format!("mayfly-all-{}.pcap", std::process::id()));
    std::fs::write(&path, pcap(&frames, 1, false, false)).expect("a file");
    let read = |max_held: usize| {
        let (mut left, options) = (All::default(), Options { max_held, max_volumes: 100_000, ..Options::default() });
        let read =
            read_files_to(std::slice::from_ref(&path), &options, &mut || true, Some(&mut left)).expect("a capture");
        let mut rows = left.0.0;
        rows.extend(read.serials.iter().copied().zip(read.connections.iter().cloned()));
        rows.sort_by_key(|(serial, _)| *serial);
        (read, rows)
    };
    let ((whole, wanted), (tight, found)) = (read(10_000), read(900));
    let (least, _) = read(20);
    std::fs::remove_file(&path).expect("removed");
    assert_eq!((whole.connections.len(), tight.connections.len()), (4_001, 900));
    assert_eq!(format!("{wanted:?}"), format!("{found:?}"));
    assert_eq!(whole.volumes, tight.volumes);
    assert_eq!((tight.counts.evicted, tight.counts.unanswered.connections), (0, 0));
    assert!(tight.counts.account.is_exact() && tight.counts.account == whole.counts.account);
    // Those without an answer are open when they are the oldest, those that are over being gone.
    assert_eq!((whole.counts.parted, tight.counts.parted), (0, 0));
    assert!(least.counts.parted > 0);
}

#[test]
fn every_packet_is_in_a_connection_however_few_are_held() {
    let (mut frames, mut state) = (Vec::new(), 1_u64);
    for time_us in 0..200_000_u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (number, flags) = ((state >> 33) as u32, [SYN, ACK, ACK, ACK | FIN][(state >> 20) as usize % 4]);
        let end = ([10, 1, (number >> 8) as u8 % 20, number as u8], 4000);
        let ends = if state >> 50 & 1 == 0 { (end, SERVER) } else { (SERVER, end) };
        frames.push(tcp(time_us, ends.0, ends.1, number, 1, flags, 1));
    }
    let (read, rows) = with_those_that_left(&frames, "every", &mut Tight(8));
    assert!((1_000..2_000).contains(&read.connections.len()) && !read.counts.stopped);
    let packets: u64 = rows.iter().map(|(_, row)| row.from_opener.packets + row.from_responder.packets).sum();
    assert_eq!(packets + read.counts.unanswered.packets, 200_000);
    assert!(rows.windows(2).all(|pair| pair[0].0 < pair[1].0));
    let held: HashSet<_> = read.connections.iter().map(|row| format!("{:?}{:?}", row.start_ns, row.opener)).collect();
    assert_eq!(held.len(), read.connections.len());
    // The latest packets are of those that are held.
    let latest = |rows: &[Connection]| rows.iter().map(|row| row.end_ns).max();
    assert_eq!(latest(&read.connections), Some(199_999_000));
}

#[test]
fn what_left_a_series_that_is_none_is_forgotten() {
    let host = |index: u16| ([10, 0, (index >> 8) as u8, index as u8], 5000);
    let flow = |index: u16, at_us| [udp(at_us, host(index), SERVER, 1), udp(at_us + 1, SERVER, host(index), 1)];
    let first: Vec<Frame> = (0..100).flat_map(|index| flow(index, u64::from(index) * 1_000)).collect();
    // Begins 19 ms before the other ends.
    let second: Vec<Frame> = (100..110).flat_map(|index| flow(index, 80_000 + u64::from(index))).collect();
    let paths = [first, second].map(|frames| {
        let name = format!("mayfly-none-{}-{}.pcap", frames.len(), std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, pcap(&frames, 1, false, false)).expect("a file");
        path
    });
    let mut seen = Counting::default();
    let options = Options { max_flows: 20, series: true, ..Options::default() };
    let read = read_files_to(&paths, &options, &mut || true, Some(&mut seen)).expect("captures");
    paths.iter().for_each(|path| std::fs::remove_file(path).expect("removed"));
    assert_eq!((read.connections.len(), read.counts.evicted), (20, 90));
    assert!(seen.before > 50, "{}", seen.before);
    assert_eq!(seen.left.0.len(), 0);
}

/// How many left before they were forgotten.
#[derive(Default)]
struct Counting {
    left: Left,
    before: usize,
}

impl Leaving for Counting {
    fn leaves(&mut self, serial: u64, connection: Connection) -> std::io::Result<()> {
        self.left.leaves(serial, connection)
    }

    fn forgets(&mut self) {
        self.before = self.left.0.len();
        self.left.forgets();
    }
}

#[test]
fn a_reading_ends_where_few_are_held_already() {
    let host = |index: u16| ([10, 0, (index >> 8) as u8, index as u8], 5000);
    let frames: Vec<Frame> = (0..40_000_u64).map(|index| udp(index, host((index % 500) as u16), SERVER, 1)).collect();
    let (read, rows) = with_those_that_left(&frames, "few", &mut Tight(1));
    assert!(read.counts.stopped && (1..40_000).contains(&read.counts.packets) && rows.len() == 500);
}

#[test]
fn times_are_relative_to_the_first_packet_of_the_file() {
    let read = read_frames(&[udp(5_000_000, CLIENT, SERVER, 1), udp(4_000_000, SERVER, CLIENT, 1)]);
    let flow = &read.connections[0];
    assert_eq!((flow.start_ns, flow.end_ns), (-1_000_000_000, 0));
    assert_eq!((read.counts.first_ns, read.counts.duration_ns()), (Some(5_000_000_000), 1_000_000_000));
}
