//! Timestamps (RFC 7323): samples per acknowledgement, of retransmissions too; quick acknowledgements.

use super::Scene;
use super::Segment::{Ack, Bare, Data, Fin};
use super::Step::{self, At, Blocks, Late, Lose, Sends, Skip};
use crate::tcp::settings::{Recovery, RtoRule};

fn stamped(segments: u64) -> Scene {
    Scene::of(segments).with(|tcp| tcp.timestamps = true)
}

#[test]
fn every_segment_has_twelve_bytes_more() {
    let plain = Scene::of(3).play(&[Skip(60_000)]);
    let stamped = stamped(3).play(&[Skip(60_000)]);
    assert_eq!(stamped.forward_bytes, plain.forward_bytes + 12 * (plain.record.packets_sent + 2));
}

#[test]
fn a_repeated_segment_gives_a_sample_and_ends_the_back_off() {
    let steps = [
        Lose(Data(1)),
        Lose(Data(1)),
        Skip(99),
        At(100),
        Sends(&[Bare, Data(1), Data(2)]),
        At(150),
        Sends(&[Ack(1)]),
        At(1100),
        Sends(&[Data(1)]),
        At(3100),
        Sends(&[Data(1)]),
        At(3150),
        Sends(&[Ack(3)]),
        // RFC 7323, 4.1: the echo tells which copy. Karn would leave the next timeout at 4 s.
        Lose(Data(3)),
        Lose(Data(4)),
        At(3200),
        Sends(&[Data(3), Data(4)]),
        At(4200),
        Sends(&[Data(3)]),
    ];
    let record = stamped(10).with(|tcp| tcp.limited_transmit = false).play(&steps).record;
    assert!((record.rtt_mean_s - 0.1).abs() < 1e-9, "{}", record.rtt_mean_s);
}

#[test]
fn the_echo_is_of_the_earliest_segment_not_yet_acknowledged() {
    // Segment 2 is late by 150 ms, and the acknowledgement that covers it answers the one before the gap: what filled
    // the gap is what the receiver waited for (RFC 7323, 4.3, case C).
    let steps = [Late(Data(2)), Skip(300), Skip(349), At(350)];
    let record = stamped(4).with(|tcp| (tcp.initial_window, tcp.fin) = (4, false)).play(&steps).record;
    // SYN 100 ms; 1, seen at once for the gap, 100 ms; 2 to 4 250 ms.
    assert!((record.rtt_mean_s - 0.15).abs() < 1e-9, "{}", record.rtt_mean_s);
}

#[test]
fn a_delayed_acknowledgement_counts_the_delay() {
    let steps = [Skip(99), At(100), Sends(&[Bare, Data(1)]), At(350), Sends(&[Ack(2)]), At(400)];
    let record = stamped(1).with(|tcp| tcp.fin = false).play(&steps).record;
    // SYN 100 ms, data 300 ms.
    assert!((record.rtt_mean_s - 0.2).abs() < 1e-9, "{}", record.rtt_mean_s);
}

#[test]
fn timestamps_leave_room_for_three_blocks() {
    let mut steps: Vec<Step> = [1, 3, 5, 7].map(|seq| Lose(Data(seq))).to_vec();
    steps.extend([
        Skip(149),
        At(150),
        Blocks(&[&[(2, 3)], &[(4, 5), (2, 3)], &[(6, 7), (4, 5), (2, 3)], &[(8, 9), (6, 7), (4, 5)]]),
        Sends(&[Ack(1), Ack(1), Ack(1), Ack(1)]),
    ]);
    let scene = stamped(40).with(|tcp| (tcp.initial_window, tcp.recovery) = (8, Recovery::Sack));
    scene.play(&steps);
}

#[test]
fn the_timeout_of_linux_is_srtt_and_at_least_min_rto() {
    // RTT 100 ms and min_rto 200 ms: RFC 6298 waits for SRTT + 4 RTTVAR = 300 ms after one sample, and 200 ms after
    // many; Linux for 300 ms even then. The last segment of thirty is lost.
    let timeout_after = |rule| {
        let scene = stamped(30).with(|tcp| {
            (tcp.rto_rule, tcp.fin, tcp.receiver_window) = (rule, false, 1);
            (tcp.delayed_ack, tcp.min_rto) = (units::Time::ZERO, units::Time::from_millis(200));
        });
        // One segment per round trip from 100 ms on: the last leaves at 3 s.
        let steps = [Lose(Data(30)), Skip(2999), At(3000), Sends(&[Data(30)]), Skip(4000)];
        let record = scene.play(&steps).record;
        assert_eq!((record.timeouts, record.retransmits), (1, 1));
        record.finish.saturating_sub(units::Time::from_millis(3050))
    };
    assert_eq!(timeout_after(RtoRule::Rfc6298), units::Time::from_millis(200));
    assert_eq!(timeout_after(RtoRule::Linux), units::Time::from_millis(300));
}

#[test]
fn the_first_segments_are_acknowledged_at_once() {
    let steps = [
        Skip(99),
        At(100),
        Sends(&[Bare, Data(1), Data(2)]),
        At(150),
        Sends(&[Ack(2), Ack(3)]),
        At(200),
        Sends(&[Data(3), Data(4), Data(5), Fin]),
        At(250),
        // 3 is the last of the quick ones; 4 waits for 5.
        Sends(&[Ack(4), Ack(6), super::Segment::FinAck]),
        Skip(60_000),
    ];
    Scene::of(5).with(|tcp| tcp.quick_acks = 3).play(&steps);
}
