//! Captures written byte by byte, whose lists can be worked out by hand.

use netsim::{Burst, Train};
use replay::{Form, List, Networks, Options, Probes, Rates, ReadOptions, Reading, Refused, Replay};
use units::Time;

use crate::wire::*;

const RATES: Rates = Rates { down: 10e6, up: 10e6 };
const OTHER: End = ([192, 168, 0, 3], 40_001);

fn replay_of(frames: &[Frame], networks: Option<Networks>) -> Result<Replay, Refused> {
    let reading = Reading::from_bytes("hand.pcap", &pcap(frames, 1, false, false), &ReadOptions::default())?;
    Replay::of(&reading, Options { networks, mss: 1448, header_bytes: 52, form: Form::Users, tcp_only: false })
}

fn list_of(frames: &[Frame]) -> List {
    replay_of(frames, None).and_then(|replay| replay.list(RATES, None)).expect("a list")
}

/// A connection from `client` that begins at `begun_us`: 20 ms to the server and 0.1 ms to the client, a request of 400
/// bytes, which is acknowledged, and an answer of 1000 bytes 50 ms after that.
fn exchange(begun_us: u64, client: End) -> Vec<Frame> {
    [
        tcp(0, client, SERVER, 0, 0, SYN, 0),
        tcp(20_000, SERVER, client, 0, 1, SYN | ACK, 0),
        tcp(20_100, client, SERVER, 1, 1, ACK, 0),
        tcp(21_000, client, SERVER, 1, 1, ACK, 400),
        tcp(41_000, SERVER, client, 1, 401, ACK, 0),
        tcp(91_000, SERVER, client, 1, 401, ACK, 1000),
        tcp(91_100, client, SERVER, 401, 1001, ACK, 0),
    ]
    .map(|frame| Frame { time_us: begun_us + frame.time_us, ..frame })
    .to_vec()
}

#[test]
fn a_script_has_the_time_that_the_ends_took() {
    let list = list_of(&exchange(0, CLIENT));
    assert_eq!(list.scripts.done, [true]);
    let ns = Time;
    let expected = [
        // 21 ms less the handshake.
        Train { forward: true, bytes: 400, wait: ns(900_000), pace: Time::ZERO },
        // 50 ms since the acknowledgement, less 1500 bytes at 10 Mbit/s behind it.
        Train { forward: false, bytes: 1000, wait: ns(48_800_000), pace: Time::ZERO },
    ];
    assert_eq!(list.scripts.list, [expected]);
    let flow = list.flows[0];
    assert_eq!((flow.start, flow.size_bytes, flow.rtt), (Time::ZERO, 1400, Some(ns(20_100_000))));
    assert!(flow.up && !flow.receiver_opens && flow.udp.is_none() && flow.script == Some(0));
    assert_eq!(list.hosts, ["192.168.0.2", "198.51.100.7"]);
    assert_eq!((flow.src, flow.dst, list.origins[0].client), (0, 1, 0));
    assert_eq!((list.origins[0].back_bytes, list.origins[0].longest_wait), (1000, ns(48_800_000)));
    assert_eq!((list.offered.up_bytes, list.offered.down_bytes), (452, 1052));
    assert_eq!(list.rtt_s, Some(0.0201));
}

#[test]
fn a_user_waits_for_what_was_before_and_another_does_not() {
    let frames = [exchange(0, CLIENT), exchange(500_000, (OTHER.0, 5)), exchange(1_091_000, (CLIENT.0, 6))].concat();
    let list = list_of(&frames);
    let told: Vec<_> = list.flows.iter().map(|flow| (flow.start.0, flow.stage, flow.after)).collect();
    // The first ends at 91 ms with its last data; its user starts the next one a second later.
    assert_eq!(told, [(0, Some(0), None), (500_000_000, Some(1), None), (1_000_000_000, Some(2), Some(0))]);
    assert_eq!(list.origins.iter().map(|origin| origin.connection).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn datagrams_come_when_they_were_captured() {
    let frames = [udp(0, CLIENT, SERVER, 100), udp(8_000, CLIENT, SERVER, 60), udp(9_000, SERVER, CLIENT, 500)];
    let list = list_of(&frames);
    let one = |at_us: u64, len| Burst { at: Time(at_us * 1000), gap: Time::ZERO, packets: 1, len };
    assert_eq!(list.bursts.list, [one(0, 128), one(8_000, 88), one(0, 528)]);
    assert_eq!(list.bursts.of, [(0, 0..2), (1, 2..3)]);
    assert_eq!(
        list.flows.iter().map(|flow| (flow.start.0, flow.up, flow.size_bytes)).collect::<Vec<_>>(),
        [(0, true, 160), (9_000_000, false, 500)]
    );
    // No round-trip time is known: one is assumed, until another is asked for.
    assert_eq!((list.flows[0].rtt, list.rtt_s), (Some(Time(40_000_000)), Some(0.04)));
    let asked = replay_of(&frames, None).and_then(|replay| replay.list(RATES, Some(0.03))).expect("a list");
    assert_eq!((asked.flows[1].rtt, asked.rtt_s), (Some(Time(30_000_000)), Some(0.03)));
    assert_eq!(((list.span_s * 1e9).round(), list.duration), (9e6, Time(60_009_000_000)));
}

#[test]
fn round_trip_times_are_multiplied_and_waits_are_not() {
    let mut far = exchange(500_000, OTHER);
    for frame in &mut far[1..] {
        frame.time_us += 20_000;
    }
    let replay = replay_of(&[exchange(0, CLIENT), far].concat(), None).expect("a replay");
    let (own, other) = (replay.list(RATES, None), replay.list(RATES, Some(0.1)));
    let (own, other) = (own.expect("a list"), other.expect("a list"));
    assert_eq!((other.rtt_s.map(|rtt_s| (rtt_s * 1e9).round()), other.scripts == own.scripts), (Some(1e8), true));
    let factor = 0.1 / own.rtt_s.expect("known");
    for (before, after) in own.flows.iter().zip(&other.flows) {
        let expected = before.rtt.expect("known").as_secs_f64() * factor;
        assert!((after.rtt.expect("known").as_secs_f64() - expected).abs() < 1e-8);
        assert_eq!(before.start, after.start);
    }
}

#[test]
fn probes_stand_before_the_list_between_hosts_of_their_own() {
    let list = list_of(&exchange(0, CLIENT));
    let probed = list.with_probes(&Probes { ping: true, interval_s: 0.1, call: true, seed: 1 });
    // Less goes up.
    assert_eq!(probed.names, ["ping", "call_up", "call_down"]);
    let ends: Vec<_> = probed.flows.iter().map(|flow| (flow.src, flow.dst, flow.up)).collect();
    assert_eq!(ends, [(2, 3, true), (2, 3, true), (3, 2, false), (0, 1, true)]);
    assert_eq!(probed.flows[1].size_bytes, 500 * 172);
    assert_eq!(probed.flows[1].udp, Some((200, Time::from_millis(20))));
    // One ping in each interval of the ten seconds that a short capture is probed.
    assert_eq!(probed.bursts.of, [(0, 0..100)]);
    for (place, burst) in (0..).zip(&probed.bursts.list) {
        assert_eq!(burst.at.0 / 100_000_000, place);
    }
    assert_eq!(probed.probes.iter().map(|probe| probe.echo).collect::<Vec<_>>(), [true, false, false]);
    let alone = probed.alone.expect("a ping");
    assert_eq!((alone.src, alone.dst, alone.size_bytes, alone.rtt), (0, 1, 36, list.flows[0].rtt));
    let without = list.with_probes(&Probes { ping: false, interval_s: 0.1, call: false, seed: 1 });
    assert!(without.names.is_empty() && without.alone.is_none() && without.flows == list.flows);
}

#[test]
fn speech_both_ways_is_a_call() {
    let frames: Vec<Frame> = (0..750_u64)
        .flat_map(|place| [udp(place * 20_000, CLIENT, SERVER, 172), udp(place * 20_000 + 7, SERVER, CLIENT, 172)])
        .collect();
    let list = list_of(&frames);
    assert_eq!(list.calls.iter().map(|call| (call.row, call.packets)).collect::<Vec<_>>(), [(0, 750), (1, 750)]);
    assert_eq!(list.call_trace_limit(), 1500 + 75 + 20);
    assert!(list_of(&frames[..900]).calls.is_empty());
}

#[test]
fn what_cannot_be_replayed_is_refused_in_one_line() {
    let refusal = |frames: &[Frame], networks: Option<&str>| {
        let networks = networks.map(|one| Networks::parse([one])).transpose().map_err(Refused::from);
        let outcome = networks.and_then(|networks| replay_of(frames, networks)).and_then(|one| one.list(RATES, None));
        outcome.map(|_| ()).expect_err("a refusal").to_string()
    };
    let nothing = "hand.pcap: no TCP connection with payload and no UDP flow to replay";
    let silent = format!("{nothing}: none of its 1 connection carries TCP payload or UDP");
    assert_eq!(refusal(&exchange(0, CLIENT)[..3], None), silent);
    assert_eq!(refusal(&[], None), format!("{nothing}: no packet in it"));
    assert_eq!(
        refusal(&exchange(0, CLIENT), Some("10.0.0.0/8")),
        "internal = 10.0.0.0/8: no host is in it; seen are 192.168.0.0/24, 198.51.100.0/24"
    );
    let years_us = 40_000_000 * 1_000_000;
    let apart = [udp(0, CLIENT, SERVER, 9), udp(years_us, OTHER, SERVER, 9)];
    assert_eq!(
        refusal(&apart, None),
        "hand.pcap: its flows span 1.3 years, 1.3 of them without any: two captures in one file, or a clock that jumped; \
         cut it after 0 s (editcap -A and -B), or scale it with --load"
    );
    let decades_us = 1_700_000_000 * 1_000_000;
    let apart = [exchange(0, CLIENT), exchange(decades_us, OTHER)].concat();
    assert_eq!(
        refusal(&apart, None),
        "hand.pcap: its flows span 53.9 years, 53.9 of them without any: two captures in one file, or a clock that jumped; \
         cut it after 0 s (editcap -A and -B), or scale it with --load"
    );
    let pause = |at_us| tcp(at_us, SERVER, CLIENT, 1001, 401, ACK, 10);
    let day = [exchange(0, CLIENT), vec![pause(90_000_000_000), pause(90_000_000_000 + 1)]].concat();
    let refused = refusal(&day, None);
    assert!(refused.starts_with("flows of the capture: row 1: script: 'wait 899"), "{refused}");
    assert!(refused.ends_with("ns': must be at most a day"), "{refused}");
    let read = Reading::from_bytes("no\nline", b"not a capture", &ReadOptions::default()).expect_err("a refusal");
    assert!(read.to_string().starts_with("no line: not a capture: found"), "{read}");
}

#[test]
fn what_a_list_lacks_is_said() {
    // Only what the client sends: no round trip is known.
    let frames = [
        tcp(0, CLIENT, SERVER, 0, 0, SYN, 0),
        tcp(20_100, CLIENT, SERVER, 1, 1, ACK, 0),
        tcp(21_000, CLIENT, SERVER, 1, 1, ACK, 400),
    ];
    let replay = replay_of(&frames, None).expect("a capture");
    let [one_way] = replay.missing() else { panic!("{:?}", replay.missing()) };
    assert!(one_way.starts_with("1 of 1 TCP connections were captured in one direction only: "), "{one_way}");
    let list = replay.list(RATES, None).expect("a list");
    assert_eq!((list.rtt_s, list.flows[0].rtt), (Some(0.04), Some(Time(40_000_000))));
    let [assumed] = &list.missing[..] else { panic!("{:?}", list.missing) };
    assert!(assumed.starts_with("No round-trip time can be measured in the capture: 40.0 ms is assumed "), "{assumed}");
    let given = replay.list(RATES, Some(0.07)).expect("a list");
    assert_eq!((given.rtt_s, given.missing.len()), (Some(0.07), 0));
    // Both directions, all of it.
    let whole = replay_of(&exchange(0, CLIENT), None).expect("a capture");
    assert!(whole.missing().is_empty() && whole.list(RATES, None).expect("a list").missing.is_empty());
}

#[test]
fn connections_that_are_not_held_are_said_first() {
    let frames: Vec<Frame> = (0..9).flat_map(|at| exchange(at * 200_000, (OTHER.0, 5_000 + at as u16))).collect();
    let options = ReadOptions { max_held: 4, ..ReadOptions::default() };
    let reading = Reading::from_bytes("hand.pcap", &pcap(&frames, 1, false, false), &options).expect("a capture");
    let replay = Replay::of(
        &reading,
        Options { networks: None, mss: 1448, header_bytes: 52, form: Form::Users, tcp_only: false },
    )
    .expect("a replay");
    let said = "Partial: 5 connections that were silent for longest are left out, since 4 are all that are held: cut the \
                capture into parts (editcap -A and -B, or -c) and read each";
    assert_eq!((replay.partial(), replay.missing().len()), (Some(said), 0));
}

/// An upload of `packets` of 1448 bytes over a link that sends one in `packet_us`, seen behind its queue: the server is
/// 50 us away and acknowledges each, so that nothing is under way when the next one comes. Then the client thinks for
/// `think_us`, and says 400 bytes more.
fn bench(client: End, begun_us: u64, packets: u64, packet_us: u64, think_us: u64) -> Vec<Frame> {
    let mut frames = vec![
        tcp(0, client, SERVER, 0, 0, SYN, 0),
        tcp(50, SERVER, client, 0, 1, SYN | ACK, 0),
        tcp(300, client, SERVER, 1, 1, ACK, 0),
    ];
    let mut say = |at_us: u64, seq: u64, bytes: usize| {
        frames.push(tcp(at_us, client, SERVER, seq as u32, 1, ACK, bytes));
        frames.push(tcp(at_us + 50, SERVER, client, 1, (seq as usize + bytes) as u32, ACK, 0));
    };
    (0..packets).for_each(|place| say(3_000 + place * packet_us, 1 + 1448 * place, 1448));
    say(3_000 + packets * packet_us + think_us, 1 + 1448 * packets, 400);
    frames.into_iter().map(|frame| Frame { time_us: begun_us + frame.time_us, ..frame }).collect()
}

#[test]
fn what_a_packet_takes_at_the_rate_of_the_link_is_no_pause() {
    // 5 Mbit/s: 2400 us for 1500 bytes. Whatever the link of the replay.
    let frames = bench(CLIENT, 0, 2_000, 2_400, 700_000);
    let replay = replay_of(&frames, None).expect("a replay");
    for rates in [Rates { down: 20e6, up: 5e6 }, RATES, Rates { down: 100e6, up: 100e6 }] {
        let list = replay.list(rates, None).expect("a list");
        let found: Vec<_> =
            list.scripts.list[0].iter().map(|train| (train.bytes, train.wait.0 > 600_000_000)).collect();
        assert_eq!(found, [(2_000 * 1448, false), (400, true)], "{rates:?}");
    }
}

#[test]
fn a_link_that_several_share_takes_as_many_packets_longer() {
    // Four uploads at once over 5 Mbit/s, a packet of each in turn.
    let hosts =
        (0..4).map(|host| bench(([192, 168, 0, 10 + host], 50_000), u64::from(host) * 2_400, 500, 9_600, 700_000));
    let mut frames = hosts.flatten().collect::<Vec<_>>();
    frames.sort_by_key(|frame| frame.time_us);
    let list = list_of(&frames);
    for script in &list.scripts.list {
        let found: Vec<_> = script.iter().map(|train| train.bytes).collect();
        assert_eq!(found, [500 * 1448, 400]);
    }
}

#[test]
fn a_pause_on_a_link_that_has_room_stays_one() {
    // Every 9.6 ms a packet, of a link that carried as much as 5 Mbit/s before.
    let frames = [bench(CLIENT, 0, 1_000, 2_400, 0), bench((CLIENT.0, 6), 9_000_000, 50, 9_600, 700_000)].concat();
    let list = list_of(&frames);
    // A packet of 400 bytes would take less than 2.4 ms.
    assert_eq!(list.scripts.list[0].iter().map(|train| train.bytes).collect::<Vec<_>>(), [1_000 * 1448, 400]);
    assert_eq!(list.scripts.list[1].len(), 51);
}
