//! Feedback that counts marks: DCTCP's flag (RFC 8257, 3.2) and accurate counts (RFC 9768), and what DCTCP makes of them.
//! The connections start with eight segments in flight: segments 1 to 8 leave at 100 ms.

use super::Scene;
use super::Segment::{Ack, Bare, Data, Fin, FinAck};
use super::Step::{At, Capable, Flagged, Lose, Mark, Sends, Skip, Told, Window};
use crate::tcp::settings::{Congestion, EcnMode, Recovery};

fn eight_of(segments: u64, ecn: EcnMode) -> Scene {
    Scene::of(segments).with(|tcp| {
        (tcp.initial_window, tcp.limited_transmit, tcp.ecn) = (8, false, ecn);
        (tcp.congestion, tcp.recovery) = (Congestion::Dctcp, Recovery::Sack);
    })
}

const EIGHT: [super::Segment; 9] = [Bare, Data(1), Data(2), Data(3), Data(4), Data(5), Data(6), Data(7), Data(8)];

/// alpha after the first acknowledgement, of a round trip of one segment without mark (RFC 8257, 3.3): 15/16.
const ALPHA: f64 = 15.0 / 16.0;

#[test]
fn each_turn_of_marks_is_acknowledged_at_once_with_the_flag_of_what_it_covers() {
    // 9 segments of window when the mark is told, then three acknowledgements that open it.
    const CUT: f64 = 9.0 * (1.0 - ALPHA / 2.0);
    const ONE: f64 = CUT + 1.0 / CUT;
    const TWO: f64 = ONE + 1.0 / ONE;
    let steps = [
        Mark(Data(2)),
        Skip(99),
        At(100),
        Sends(&EIGHT),
        At(150),
        // Segment 1 waited and is acknowledged without the flag; 2 with it; 3 turns back.
        Flagged(&[Ack(3)]),
        Sends(&[Ack(2), Ack(3), Ack(4), Ack(6), Ack(8)]),
        At(200),
        // No CWR: the flag needs no end.
        Flagged(&[]),
        Window(TWO + 1.0 / TWO, CUT),
        Sends(&[Data(9), Data(10), Data(11), Data(12)]),
    ];
    eight_of(40, EcnMode::Dctcp).play(&steps);
}

#[test]
fn counts_go_with_every_acknowledgement_and_the_first_mark_of_several_hurries() {
    const HALF_MARKED: f64 = 8.0 * (1.0 - (31.0 / 32.0) / 2.0);
    const ZERO: f64 = HALF_MARKED + 1.0 / HALF_MARKED;
    const ONE: f64 = ZERO + 1.0 / ZERO;
    const TWO: f64 = ONE + 1.0 / ONE;
    const THREE: f64 = TWO + 1.0 / TWO;
    let steps = [
        Mark(Data(2)),
        Mark(Data(3)),
        Mark(Data(6)),
        Skip(99),
        At(100),
        Capable(&[Data(1), Data(2), Data(3), Data(4), Data(5), Data(6), Data(7), Data(8)]),
        Sends(&EIGHT),
        At(150),
        Flagged(&[]),
        Told(&[1, 2, 3, 3]),
        Sends(&[Ack(3), Ack(5), Ack(7), Ack(9)]),
        At(200),
        // Of two segments one was marked: alpha = 1 - 1/2 / 16. The other one and those after it open the window.
        Flagged(&[]),
        Window(THREE, HALF_MARKED),
        Skip(2000),
    ];
    eight_of(40, EcnMode::Accurate).play(&steps);
}

#[test]
fn a_count_that_is_lost_is_in_the_next_one() {
    let steps = [
        Mark(Data(2)),
        Mark(Data(3)),
        Lose(Ack(3)),
        Skip(99),
        At(100),
        Sends(&EIGHT),
        At(150),
        Told(&[1, 2, 2, 2]),
        Sends(&[Ack(3), Ack(5), Ack(7), Ack(9)]),
        Skip(10_000),
    ];
    // That all marks are told at the end of a connection is checked for every scene.
    eight_of(8, EcnMode::Accurate).play(&steps);
}

#[test]
fn what_is_sent_again_may_be_marked_too_where_marks_are_counted() {
    for (ecn, again) in [(EcnMode::Dctcp, true), (EcnMode::L4s, true), (EcnMode::Classic, false)] {
        let steps = [
            Lose(Data(3)),
            Skip(199),
            At(200),
            Capable(if again { &[Data(9), Data(10), Data(11), Data(3)] } else { &[Data(9), Data(10), Data(11)] }),
            Skip(10_000),
        ];
        eight_of(40, ecn).play(&steps);
    }
}

#[test]
fn a_loss_after_a_mark_in_the_same_window_halves_what_was_before_it_and_no_more() {
    let steps = [
        Mark(Data(2)),
        Lose(Data(4)),
        Skip(250),
        // Nine segments before the mark; half of them, not half of what the mark left.
        Window(4.5, 4.5),
        Skip(10_000),
    ];
    eight_of(40, EcnMode::Dctcp).play(&steps);
}

#[test]
fn without_counts_dctcp_is_reno() {
    for ecn in [EcnMode::Off, EcnMode::Classic] {
        for marks in [false, true] {
            let play = |congestion| {
                let mut steps = vec![Lose(Data(20)), Skip(60_000)];
                if marks && ecn == EcnMode::Classic {
                    steps.insert(0, Mark(Data(12)));
                }
                let scene = eight_of(200, ecn).with(|tcp| tcp.congestion = congestion);
                let record = scene.play(&steps).record;
                (record.finish, record.packets_sent, record.timeouts)
            };
            let (dctcp, prague) = (play(Congestion::Dctcp), play(Congestion::Prague));
            assert_eq!(dctcp.1, prague.1, "{ecn:?} {marks}");
            assert_eq!(dctcp.2, 0);
        }
    }
}

#[test]
fn a_transfer_without_marks_ends_as_ever() {
    for ecn in [EcnMode::Dctcp, EcnMode::Accurate, EcnMode::L4s] {
        let steps = [
            Skip(99),
            At(100),
            Sends(&[Bare, Data(1), Fin]),
            At(150),
            Flagged(&[]),
            Sends(&[FinAck]),
            At(200),
            Sends(&[Bare]),
        ];
        eight_of(1, ecn).play(&steps);
    }
}
