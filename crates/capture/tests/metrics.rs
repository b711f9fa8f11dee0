//! Constructed captures with known answers: round-trip times, losses, phases, states.
//!
//! In every script the tap is 10 ms from the client and 20 ms from the server, one way, unless it says otherwise: data of
//! the client is acknowledged after 40 ms, data of the server after 20 ms.

use capture::{Connection, OpenerFrom, Samples, Side, State, ZeekState};

use crate::wire::script::script;
use crate::wire::*;

const MS: i64 = 1_000_000;

/// Handshake of the scripts: 60 ms.
const HELLO: &str = "
    0  > S 0 mss=1460
    40 < SA 0 ack=1 mss=1400
    60 > A 1 ack=1
";

fn row(lines: &[&str]) -> Connection {
    let mut read = read_frames(&script(&lines.join("\n")));
    assert_eq!(read.connections.len(), 1);
    read.connections.remove(0)
}

fn samples(times_ms: &[i64]) -> Samples {
    Samples {
        count: times_ms.len() as u32,
        min_ns: times_ms.iter().min().map_or(0, |ms| ms * MS),
        max_ns: times_ms.iter().max().map_or(0, |ms| ms * MS),
        sum_ns: times_ms.iter().sum::<i64>() * MS,
    }
}

/// Packets sent again, for nothing, lost before the tap, overtaken.
fn losses(side: &Side) -> [u32; 4] {
    [side.retransmits, side.spurious, side.lost_before, side.reordered]
}

#[test]
fn a_clean_exchange_is_measured_in_every_part() {
    let row = row(&[
        HELLO,
        "
        61  > A 1+100 ack=1
        101 < A 1 ack=101
        111 < A 1+1400 ack=101
        112 < A 1401+600 ack=101
        131 > A 101 ack=1401
        142 > A 101 ack=2001
        150 > FA 101 ack=2001
        190 < FA 2001 ack=102
        210 > A 102 ack=2002
    ",
    ]);
    assert_eq!((row.state, row.zeek_state, row.opener_from), (State::Complete, ZeekState::Sf, OpenerFrom::Syn));
    assert_eq!((row.rtt_ns, row.mss_bytes), (Some(60 * MS), Some(1400)));
    let shook = row.handshake.expect("a handshake");
    assert_eq!((shook.to_responder_ns, shook.to_opener_ns), (40 * MS, 20 * MS));
    assert_eq!(row.from_opener.data_ack, samples(&[40]));
    assert_eq!(row.from_responder.data_ack, samples(&[20, 30]));
    assert_eq!((row.setup_ns, row.data_ns, row.teardown_ns), (Some(61 * MS), Some(51 * MS), Some(98 * MS)));
    let (opener, responder) = (&row.from_opener, &row.from_responder);
    assert_eq!((opener.trains, opener.warm_up_ns, opener.transfer_ns), (1, 0, 0));
    assert_eq!((responder.trains, responder.warm_up_ns, responder.transfer_ns), (1, 50 * MS, MS));
    // Two packets are two flights: one round-trip time of 40 + 25 ms.
    assert_eq!((opener.theoretical_ns, responder.theoretical_ns), (Some(0), Some(65 * MS)));
    assert_eq!((opener.pacing_ns(), responder.pacing_ns()), (Some(0), Some(-64 * MS)));
    assert_eq!((opener.acks, responder.acks, opener.distinct_packets, responder.distinct_packets), (4, 1, 1, 2));
    assert_eq!((opener.unseen_bytes, responder.unseen_bytes, losses(opener)), (0, 0, [0; 4]));
}

#[test]
fn a_packet_lost_behind_the_tap_is_seen_twice() {
    let row = row(&[
        HELLO,
        "
        61  > A 1+100 ack=1
        62  > A 101+100 ack=1
        63  > A 201+100 ack=1
        103 < A 1 ack=1
        104 < A 1 ack=1
        300 > A 1+100 ack=1
        340 < A 1 ack=301
        341 > A 301+50 ack=1
        381 < A 1 ack=351
    ",
    ]);
    let side = &row.from_opener;
    assert_eq!(losses(side), [1, 0, 0, 0]);
    assert_eq!((side.retransmitted_bytes, side.distinct_bytes, side.payload_bytes), (100, 350, 450));
    assert_eq!((side.data_packets, side.distinct_packets), (5, 4));
    // The acknowledgement of 301 waited for the repetition, so only that of the last packet is a sample.
    assert_eq!(side.data_ack, samples(&[40]));
    assert_eq!((side.missing_bytes, side.unseen_bytes), (0, 0));
}

#[test]
fn a_packet_lost_before_the_tap_fills_a_gap_a_round_trip_later() {
    let lost = |again_ms: u32| {
        row(&[
            HELLO,
            &format!(
                "
            61  > A 1+100 ack=1
            62  > A 201+100 ack=1
            101 < A 1 ack=101
            102 < A 1 ack=101
            {again_ms} > A 101+100 ack=1
            400 < A 1 ack=301
        "
            ),
        ])
        .from_opener
    };
    // Seen missing at 62 ms; the handshake took 60 ms.
    assert_eq!(losses(&lost(122)), [0, 0, 1, 0]);
    assert_eq!(losses(&lost(121)), [0, 0, 0, 1]);
    let side = lost(122);
    assert_eq!((side.retransmitted_bytes, side.distinct_packets, side.missing_bytes), (0, 3, 0));
    assert_eq!(side.data_ack, samples(&[40]));
}

#[test]
fn a_gap_is_timed_by_data_where_that_is_faster_and_by_3_ms_without_either() {
    let by_data = row(&["
        0   > A 1+100 ack=1
        10  < A 1 ack=101
        11  < A 1+100 ack=101
        31  > A 101 ack=101
        40  > A 201+100 ack=101
        69  > A 101+100 ack=101
        100 > A 401+100 ack=101
        130 > A 301+100 ack=101
    "]);
    assert_eq!(losses(&by_data.from_opener), [0, 0, 1, 1]);
    let blind = row(&["
        0 > A 1+100 ack=1
        1 > A 201+100 ack=1
        3.999 > A 101+100 ack=1
        5 > A 401+100 ack=1
        8 > A 301+100 ack=1
    "]);
    assert_eq!(losses(&blind.from_opener), [0, 0, 1, 1]);
}

#[test]
fn what_was_acknowledged_is_repeated_for_nothing() {
    let row = row(&[
        HELLO,
        "
        61  > A 1+100 ack=1
        101 < A 1 ack=101
        102 > A 1+100 ack=1
        110 > A 1+150 ack=1
    ",
    ]);
    let side = &row.from_opener;
    // The last one brings 50 new bytes with 100 old ones.
    assert_eq!(losses(side), [2, 1, 0, 0]);
    assert_eq!((side.retransmitted_bytes, side.distinct_bytes, side.distinct_packets), (200, 150, 2));
}

#[test]
fn a_tap_that_loses_packets_is_told_from_a_network_that_does() {
    let row = row(&[
        HELLO,
        "
        61  > A 1+100 ack=1
        62  > A 301+100 ack=1
        101 < A 1 ack=401
        102 > A 501+100 ack=1
        141 < A 1 ack=401
    ",
    ]);
    let side = &row.from_opener;
    assert_eq!((side.missing_bytes, side.unseen_bytes), (300, 200));
    let behind = row_of_end("ack=601");
    assert_eq!((behind.missing_bytes, behind.unseen_bytes), (0, 500));
    assert_eq!(row_of_end("ack=102").unseen_bytes, 0);
}

/// The client sends 100 bytes and FIN, the server acknowledges something.
fn row_of_end(ack: &str) -> Side {
    row(&[HELLO, "61 > FA 1+100 ack=1", &format!("101 < A 1 {ack}")]).from_opener
}

#[test]
fn timestamps_are_timed_through_losses() {
    let row = row(&["
        0   > S 0 ts=1000,0
        40  < SA 0 ack=1 ts=500,1000
        60  > A 1 ack=1 ts=1060,500
        61  > A 1+100 ack=1 ts=1061,500
        62  > A 101+100 ack=1 ts=1061,500
        103 < A 1 ack=1 ts=560,1060
        300 > A 1+100 ack=1 ts=1300,560
        340 < A 1 ack=201 ts=800,1300
        341 < A 1+10 ack=201 ts=801,1300
        361 > A 201 ack=11 ts=1361,801
        400 > A 201+100 ack=11 ts=1400,801
        440 < A 11 ack=301 ts=900,1400
    "]);
    // 1061 is never echoed: the echo of 1300 ends the wait for it.
    assert_eq!(row.from_opener.timestamp, samples(&[40]));
    assert_eq!(row.from_responder.timestamp, samples(&[20]));
    assert_eq!((row.from_opener.data_ack, row.from_responder.data_ack), (samples(&[40]), samples(&[20])));
}

#[test]
fn super_segments_count_as_packets_of_the_path() {
    let offload = row(&[
        HELLO,
        "
        61 < A 1+14000 ack=1
        62 < A 14001+1400 ack=1
        63 < A 15401+1401 ack=1
    ",
    ])
    .from_responder;
    assert_eq!((offload.packets, offload.super_segments), (4, 2));
    assert_eq!((offload.data_packets, offload.distinct_packets), (10 + 1 + 2, 13));
    let stamped = row(&["
        0  > S 0 mss=1460 ts=1,0
        40 < SA 0 ack=1 mss=1460 ts=1,1
        60 > A 1+14480 ack=1 ts=2,1
        61 > A 14481+1449 ack=1 ts=2,1
    "])
    .from_opener;
    assert_eq!((stamped.distinct_packets, stamped.super_segments), (12, 2));
    let unknown = row(&["0 > A 1+1460 ack=1", "1 > A 1461+1461 ack=1", "2 > A 2922+5840 ack=1"]).from_opener;
    assert_eq!((unknown.distinct_packets, unknown.super_segments), (1 + 2 + 4, 2));
}

#[test]
fn windows_of_nothing_keep_alives_and_bare_acknowledgements_are_counted() {
    let row = row(&[
        HELLO,
        "
        61  > A 1+10 ack=1 win=0
        70  < A 1 ack=11 win=0
        71  < A 1 ack=11
        9000 > A 10+1 ack=1
        9040 < A 1 ack=11
        18000 > A 10 ack=1
        18040 < A 1 ack=11
        18050 > RA 11 ack=1 win=0
    ",
    ]);
    let (opener, responder) = (&row.from_opener, &row.from_responder);
    assert_eq!((opener.zero_windows, responder.zero_windows), (1, 1));
    assert_eq!((opener.keep_alives, responder.keep_alives), (2, 0));
    assert_eq!((opener.acks, responder.acks), (1, 4));
    assert_eq!((opener.payload_bytes, losses(opener)), (10, [0; 4]));
    assert_eq!((row.data_ns, row.teardown_ns), (Some(0), Some((18_050 - 61) * MS)));
}

#[test]
fn a_train_of_bare_acknowledgements_has_no_transfer() {
    let acks: String = (0..50).map(|index| format!("{index} > A 1 ack={}\n", 1 + index * 2800)).collect();
    let row = row(&[&acks]);
    assert_eq!((row.from_opener.acks, row.from_opener.packets, row.state), (50, 50, State::Midstream));
    assert_eq!((row.setup_ns, row.data_ns, row.teardown_ns), (None, None, None));
    assert_eq!((row.from_opener.trains, row.from_opener.theoretical_ns), (0, None));
}

#[test]
fn a_connection_begun_before_the_capture_has_no_set_up() {
    let row = row(&["
        0   < A 5001+1400 ack=101
        1   < A 6401+1400 ack=101
        21  > A 101 ack=7801
        30  > A 101+50 ack=7801
        70  < FA 7801 ack=151
        90  > FA 151 ack=7802
        130 < A 7802 ack=152
    "]);
    assert_eq!((row.state, row.zeek_state, row.opener_from), (State::Complete, ZeekState::Sf, OpenerFrom::Port));
    assert_eq!(row.opener.port, CLIENT.1);
    assert_eq!((row.setup_ns, row.data_ns, row.teardown_ns), (None, Some(30 * MS), Some(100 * MS)));
    assert_eq!((row.from_responder.distinct_bytes, row.from_responder.missing_bytes), (2800, 0));
    assert_eq!((row.from_responder.data_ack, row.from_opener.data_ack), (samples(&[20]), samples(&[40])));
    assert_eq!((row.from_responder.trains, row.from_opener.trains, row.from_opener.warm_up_ns), (1, 1, 29 * MS));
    // No handshake: the round-trip time is that of the data.
    assert_eq!(row.from_responder.theoretical_ns, Some(60 * MS));
}

#[test]
fn both_ends_may_open_at_once() {
    let row = row(&["
        0  > S 0
        5  < S 0
        25 > SA 0 ack=1
        45 < SA 0 ack=1
        65 > A 1+10 ack=1
        105 < A 1+10 ack=11
        125 > FA 11 ack=11
        165 < FA 11 ack=12
    "]);
    assert_eq!((row.opener_from, row.opener.port), (OpenerFrom::Simultaneous, CLIENT.1));
    assert_eq!((row.state, row.zeek_state, row.rtt_ns), (State::Complete, ZeekState::Sf, None));
    assert_eq!((row.from_opener.distinct_bytes, row.from_responder.distinct_bytes), (10, 10));
}

#[test]
fn each_state_has_its_name_in_zeek() {
    let syn = "0 > S 0";
    let answer = "40 < SA 0 ack=1";
    let cases: [(&[&str], State, ZeekState); 16] = [
        (&[syn], State::HalfOpen, ZeekState::S0),
        (&[syn, "1000 > S 0", "3000 > S 0"], State::HalfOpen, ZeekState::S0),
        (&[syn, answer], State::HalfOpen, ZeekState::Oth),
        (&[HELLO], State::Established, ZeekState::S1),
        (&[HELLO, "70 > FA 1 ack=1"], State::HalfClosed, ZeekState::S2),
        (&[HELLO, "70 < FA 1 ack=1"], State::HalfClosed, ZeekState::S3),
        (&[HELLO, "70 < FA 1 ack=1", "90 > FA 1 ack=2"], State::Complete, ZeekState::Sf),
        (&[syn, "40 < RA 0 ack=1"], State::Rejected, ZeekState::Rej),
        (&[HELLO, "70 > RA 1 ack=1"], State::Reset, ZeekState::Rsto),
        (&[HELLO, "70 < R 1"], State::Reset, ZeekState::Rstr),
        (&[syn, "40 > R 1"], State::Reset, ZeekState::Rstos0),
        (&[answer, "60 < R 1"], State::Reset, ZeekState::Rstrh),
        (&[syn, "40 > FA 1 ack=1"], State::HalfClosed, ZeekState::Sh),
        (&[answer, "60 < FA 1 ack=1"], State::HalfClosed, ZeekState::Shr),
        (&["0 > A 1+5 ack=1"], State::Midstream, ZeekState::Oth),
        (&[HELLO, "70 > FA 1 ack=1", "71 < FA 1 ack=2", "90 < R 2"], State::Complete, ZeekState::Sf),
    ];
    for (lines, state, zeek_state) in cases {
        let row = row(lines);
        assert_eq!((row.state, row.zeek_state), (state, zeek_state), "{lines:?}");
    }
}

#[test]
fn numbers_that_wrap_change_nothing() {
    // The client's numbers wrap in the third packet, which is lost before the tap and comes again.
    let row = row(&[
        HELLO,
        "
        61  > A 1+100 ack=1
        62  > A 101+150 ack=1
        63  > A 351+100 ack=1
        101 < A 1 ack=101
        102 < A 1 ack=251
        130 > A 251+100 ack=1
        170 < A 1 ack=451
        171 > A 251+200 ack=1
    ",
    ]);
    let side = &row.from_opener;
    assert_eq!((side.distinct_bytes, side.missing_bytes, side.unseen_bytes), (450, 0, 0));
    assert_eq!(losses(side), [1, 1, 1, 0]);
    assert_eq!(side.data_ack, samples(&[40, 40]));
}

#[test]
fn a_pause_ends_a_train_where_nothing_was_under_way() {
    let lines = [
        HELLO,
        "
        61  > A 1+100 ack=1
        101 < A 1 ack=101
        # 59 ms after the acknowledgement: within a round-trip time.
        160 > A 101+100 ack=1
        # Not acknowledged, however long.
        300 > A 201+100 ack=1
        340 < A 1 ack=301
        # A round-trip time after all was acknowledged.
        400 > A 301+100 ack=1
        440 < A 1 ack=401
        500 < A 1+50 ack=401
    ",
    ];
    let file = pcap(&script(&lines.join("\n")), 1, false, false);
    let options = capture::Options { max_trains: 10, pauses: true, max_packets: 3, ..Default::default() };
    let read = capture::read(&file[..], &options, &mut || true).expect("a capture");
    let told: Vec<_> = read
        .trains
        .iter()
        .map(|t| (t.from_opener, t.bytes, t.start_ns / MS, t.end_ns / MS, t.warm_up_ns / MS))
        .collect();
    assert_eq!(told, [(true, 300, 61, 300, 0), (true, 100, 400, 400, 100), (false, 50, 500, 500, 100)]);
    let row = &read.connections[0];
    assert_eq!((row.from_opener.trains, row.from_opener.transfer_ns), (1, 339 * MS));
    let packets: Vec<_> = read.packets.iter().map(|p| (p.time_ns / MS, p.wire_bytes, p.packets)).collect();
    assert_eq!(packets, [(61, 140, 1), (160, 140, 1), (300, 140, 1)]);
    assert_eq!(read.counts.packets_left_out, 2);
    // Three packets are two flights of the ideal, all four are three: a round-trip time each behind the first.
    let trains: Vec<_> = read.trains.iter().map(|train| train.theoretical_ns).collect();
    assert_eq!(trains, [Some(60 * MS), Some(0), Some(0)]);
    assert_eq!(row.from_opener.theoretical_ns, Some(120 * MS));
}

#[test]
fn a_syn_ack_that_comes_again_after_the_answer_leaves_the_parts_of_the_handshake() {
    let row = row(&[HELLO, "70 < SA 0 ack=1 mss=1400", "100 > A 1+10 ack=1"]);
    let shook = row.handshake.expect("a handshake");
    assert_eq!((shook.to_responder_ns, shook.to_opener_ns, row.rtt_ns), (40 * MS, 20 * MS, Some(60 * MS)));
}
