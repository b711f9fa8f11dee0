//! Fast retransmit, NewReno recovery, limited transmit. The connections start with eight segments in
//! flight: segments 1 to 8 leave at 100 ms.

use units::Time;

use super::Scene;
use super::Segment::{self, Ack, Bare, Data, Fin, FinAck};
use super::Step::{self, At, Late, Lose, Sends, Skip, Window};
use crate::tcp::settings::{LossWindow, RecoveryExit};

/// Eight segments in the first window of `segments`, without limited transmit.
fn eight_of(segments: u64) -> Scene {
    Scene::of(segments).with(|tcp| (tcp.initial_window, tcp.limited_transmit) = (8, false))
}

/// What happens up to 200 ms when `lost` segments, 3 among them, are missing from the first eight.
fn up_to_200_ms(lost: &[u32]) -> Vec<Step> {
    let mut steps: Vec<Step> = lost.iter().map(|&seq| Lose(Data(seq))).collect();
    let first: &[Segment] = &[Bare, Data(1), Data(2), Data(3), Data(4), Data(5), Data(6), Data(7), Data(8)];
    steps.extend([Skip(99), At(100), Sends(first)]);
    steps
}

#[test]
fn the_third_duplicate_acknowledgement_starts_recovery() {
    let mut steps = up_to_200_ms(&[3]);
    steps.extend([
        At(150),
        // 1 waits for 2; then five duplicates.
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(3), Ack(3), Ack(3)]),
        At(200),
        // Flight of 9 when the third one comes: threshold 4, window 4 + 3, later 4 + 5, which ends at 11.
        Sends(&[Data(9), Data(10), Data(11), Data(3)]),
        Window(4.0, 4.0),
        At(250),
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(12)]),
        At(300),
        // Three more duplicates open the window up to 14; then all is acknowledged.
        Sends(&[Data(12), Data(13), Data(14), Data(15)]),
        Window(4.0, 4.0),
        At(350),
        Sends(&[Ack(14), Ack(16)]),
        At(400),
        // Congestion avoidance from here.
        Sends(&[Data(16), Data(17), Data(18), Data(19)]),
        Window(4.25 + 1.0 / 4.25, 4.0),
    ]);
    let record = eight_of(40).play(&steps).record;
    assert_eq!((record.retransmits, record.timeouts), (1, 0));
}

#[test]
fn two_duplicates_are_not_a_loss() {
    let steps = [
        Late(Data(2)),
        Skip(99),
        At(100),
        Sends(&[Bare, Data(1), Data(2), Data(3), Data(4)]),
        At(150),
        Sends(&[Ack(2), Ack(2)]),
        At(200),
        Sends(&[Data(5), Data(6)]),
        // 5 is lost and 6 late: one duplicate so far, and no other before the gap is filled.
        Skip(299),
        At(300),
        Sends(&[Ack(5)]),
        At(350),
    ];
    let scene = Scene::of(40).with(|tcp| (tcp.initial_window, tcp.limited_transmit) = (4, false));
    let mut lossy = vec![Lose(Data(5)), Late(Data(6))];
    lossy.extend(steps);
    lossy.push(Sends(&[Data(7), Data(8), Data(9), Data(10)]));
    let record = scene.play(&lossy[..]).record;
    assert_eq!(record.retransmits, 0);
}

#[test]
fn two_losses_in_a_window_take_one_partial_acknowledgement() {
    let mut steps = up_to_200_ms(&[3, 5]);
    steps.extend([
        At(150),
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(3), Ack(3)]),
        At(200),
        // 9 to 11 for the first; flight 9, threshold 4; window 4 + 3, then 4 + 4: nothing more to send.
        Sends(&[Data(9), Data(10), Data(11), Data(3)]),
        Window(4.0, 4.0),
        At(250),
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(5)]),
        At(300),
        // Window 4 + 7 ends at 13; the partial acknowledgement of 2 takes one off and repeats 5: 10 from 5, 14.
        Sends(&[Data(12), Data(13), Data(5), Data(14)]),
        Window(4.0, 4.0),
        At(350),
        // 14 is in order again, alone: its acknowledgement waits.
        Sends(&[Ack(5), Ack(5), Ack(14)]),
    ]);
    let record = eight_of(40).play(&steps).record;
    assert_eq!((record.retransmits, record.timeouts), (2, 0));
}

#[test]
fn three_losses_in_a_window_are_repaired_one_per_round_trip() {
    let mut steps = up_to_200_ms(&[3, 5, 7]);
    steps.extend([
        At(150),
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(3)]),
        At(200),
        Sends(&[Data(9), Data(10), Data(11), Data(3)]),
        At(250),
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(5)]),
        At(300),
        // Inflation 6: up to 12; partial: 4 + 5 from 5 ends at 13.
        Sends(&[Data(12), Data(5), Data(13)]),
        At(350),
        Sends(&[Ack(5), Ack(7), Ack(7)]),
        At(400),
        // Duplicate: 4 + 6 ends at 14. Partial: 4 + 5 from 7 ends at 15, and 7 again. Duplicate: 16.
        Sends(&[Data(14), Data(7), Data(15), Data(16)]),
        At(450),
        Sends(&[Ack(7), Ack(15), Ack(17)]),
        At(500),
        // A duplicate, 4 + 7 ends at 17. 15 covers all that was out when recovery began (8): flight 3, window 4.
        Sends(&[Data(17), Data(18), Data(19), Data(20)]),
    ]);
    let record = eight_of(60).play(&steps).record;
    assert_eq!((record.retransmits, record.timeouts), (3, 0));
}

#[test]
fn limited_transmit_sends_a_segment_for_each_of_the_first_two_duplicates() {
    let mut steps = up_to_200_ms(&[3]);
    steps.extend([
        Skip(199),
        At(200),
        Sends(&[Data(9), Data(10), Data(11), Data(12), Data(13), Data(3)]),
        // The two extra segments do not count as flight (RFC 5681, 3.2, step 2): 9 / 2, not 11 / 2.
        Window(4.0, 4.0),
    ]);
    eight_of(40).with(|tcp| tcp.limited_transmit = true).play(&steps);
}

#[test]
fn limited_transmit_sends_only_what_was_never_sent() {
    // Segment 1 and then 3 arrive; 8 and the duplicate it causes are so late that the timer has gone back to 2.
    let lost = [2, 2, 4, 5, 6, 7, 9].map(|seq| Lose(Data(seq)));
    let steps = [
        Late(Data(8)),
        Skip(99),
        Skip(150),
        Late(Ack(2)),
        At(200),
        Sends(&[Data(9)]),
        At(300),
        Sends(&[Ack(2)]),
        // SRTT 100 ms, RTTVAR 37.5 ms.
        At(450),
        Sends(&[Data(2)]),
        At(500),
        Sends(&[]),
        At(950),
        Sends(&[Data(2)]),
    ];
    let scene = Scene::of(40).with(|tcp| {
        (tcp.initial_window, tcp.receiver_window) = (8, 8);
        tcp.min_rto = Time::from_millis(200);
    });
    scene.play(&[&lost[..], &steps[..]].concat());
}

#[test]
fn limited_transmit_keeps_to_the_receiver_window() {
    let mut steps = up_to_200_ms(&[3]);
    steps.extend([Skip(199), At(200), Sends(&[Data(9), Data(10), Data(3)])]);
    eight_of(40).with(|tcp| (tcp.limited_transmit, tcp.receiver_window) = (true, 8)).play(&steps);
}

#[test]
fn a_loss_in_the_tail_of_a_window_waits_for_the_timer() {
    let steps = [
        Lose(Data(3)),
        Skip(99),
        At(100),
        Sends(&[Bare, Data(1), Data(2), Data(3), Fin]),
        At(150),
        Sends(&[Ack(3), Ack(3)]),
        // The timer restarts with the first acknowledgement at 200 ms.
        At(1200),
        Sends(&[Data(3)]),
        Window(1.0, 2.0),
        At(1250),
        Sends(&[FinAck]),
        Skip(2000),
    ];
    eight_of(3).play(&steps);
}

#[test]
fn a_lost_retransmission_waits_for_the_timer() {
    let mut steps = up_to_200_ms(&[3, 3]);
    steps.extend([
        Skip(199),
        At(200),
        Sends(&[Data(9), Data(10), Data(11), Data(3)]),
        At(250),
        Sends(&[Ack(3), Ack(3), Ack(3)]),
        At(300),
        Sends(&[Data(12), Data(13), Data(14)]),
        At(350),
        Sends(&[Ack(3), Ack(3), Ack(3)]),
        At(400),
        Sends(&[Data(15), Data(16), Data(17)]),
        // Recovery restarted the timer at 200 ms; 3 to 17 are out, and half of 18 - 3 is 7.
        Lose(Data(18)),
        Skip(1199),
        At(1200),
    ]);
    let record = eight_of(60).play(&[&steps[..], &[Step::Skip(1200)]].concat()).record;
    assert_eq!(record.timeouts, 1);
}

#[test]
fn duplicates_of_what_was_out_before_a_timeout_start_no_recovery() {
    // All of the first window but segment 8 is lost. The timer goes back to 1.
    let mut steps = up_to_200_ms(&[1, 2, 3, 4, 5, 6, 7]);
    steps.extend([
        At(150),
        Sends(&[Ack(1)]),
        At(1100),
        Sends(&[Data(1)]),
        Window(1.0, 4.0),
        At(1150),
        Sends(&[Ack(2)]),
        At(1200),
        Sends(&[Data(2), Data(3)]),
        At(1250),
        Sends(&[Ack(3), Ack(4)]),
        At(1300),
        // Slow start up to the threshold, congestion avoidance beyond.
        Sends(&[Data(4), Data(5), Data(6), Data(7)]),
        At(1350),
        Sends(&[Ack(5), Ack(6), Ack(7), Ack(9)]),
    ]);
    let record = eight_of(60).play(&steps).record;
    assert_eq!((record.retransmits, record.timeouts), (7, 1));
}

#[test]
fn ns_2_halves_the_window_and_leaves_it_as_partial_acknowledgements_left_it() {
    let mut steps = up_to_200_ms(&[3]);
    steps.extend([Skip(199), At(200), Sends(&[Data(9), Data(10), Data(11), Data(3)]), Window(4.5, 4.0)]);
    let scene = eight_of(40).with(|tcp| (tcp.loss_window, tcp.recovery_exit) = (LossWindow::Cwnd, RecoveryExit::AsIs));
    scene.play(&steps);
}

#[test]
fn a_bound_on_bursts_holds_during_recovery() {
    let mut steps = up_to_200_ms(&[3]);
    steps.extend([Skip(299), At(300), Sends(&[Data(12), Data(13), Data(14), Data(15)])]);
    eight_of(40).with(|tcp| tcp.recovery_burst = 1).play(&steps);
}
