//! Handshake and initial window.

use super::Scene;
use super::Segment::{Ack, Bare, Data, Fin, FinAck, Open, Syn};
use super::Step::{At, Late, Lose, Sends, Skip, Window};

#[test]
fn a_sender_opens_with_syn_and_starts_with_the_initial_window() {
    Scene::of(10).play(&[
        At(0),
        Sends(&[Syn]),
        At(50),
        Sends(&[Ack(1)]),
        At(100),
        Sends(&[Bare, Data(1), Data(2)]),
        Window(2.0, 43.0),
    ]);
}

#[test]
fn without_a_bare_acknowledgement_the_data_completes_the_handshake() {
    Scene::of(10).with(|tcp| tcp.handshake_ack = false).play(&[Skip(99), At(100), Sends(&[Data(1), Data(2)])]);
}

#[test]
fn a_receiver_that_opens_gets_the_data_after_its_acknowledgement_of_the_syn_ack() {
    let scene = Scene { receiver_opens: true, ..Scene::of(10) };
    let steps =
        [At(0), Sends(&[Open]), At(50), Sends(&[Syn]), At(100), Sends(&[Ack(1)]), At(150), Sends(&[Data(1), Data(2)])];
    let record = scene.play(&steps).record;
    assert_eq!(record.rtt_mean_s, 0.1);
}

#[test]
fn the_initial_window_is_capped_by_the_receiver_window_and_the_size() {
    let wide = |segments| Scene::of(segments).with(|tcp| tcp.initial_window = 10);
    wide(20).with(|tcp| tcp.receiver_window = 4).play(&[
        Skip(99),
        At(100),
        Sends(&[Bare, Data(1), Data(2), Data(3), Data(4)]),
    ]);
    wide(3).play(&[Skip(99), At(100), Sends(&[Bare, Data(1), Data(2), Data(3), Fin])]);
}

#[test]
fn a_lost_syn_is_repeated_after_3_s_and_leaves_an_initial_window_of_one() {
    let steps = [
        Lose(Syn),
        At(0),
        Sends(&[Syn]),
        At(3000),
        Sends(&[Syn]),
        At(3050),
        Sends(&[Ack(1)]),
        At(3100),
        Sends(&[Bare, Data(1)]),
        Window(1.0, 43.0),
    ];
    let record = Scene::of(10).play(&steps).record;
    assert_eq!((record.timeouts, record.retransmits, record.packets_sent), (1, 1, 3));
    assert!(record.rtt_mean_s.is_nan(), "Karn: the repeated SYN must not be timed");
}

#[test]
fn repeated_losses_of_the_syn_double_the_timeout() {
    let syn = Sends(&[Syn]);
    let steps = [Lose(Syn), Lose(Syn), Lose(Syn), At(0), syn, At(3000), syn, At(9000), syn, At(21_000), syn];
    Scene::of(10).play(&steps);
}

#[test]
fn a_lost_syn_can_lower_the_threshold_as_in_ns_2() {
    let steps = [Lose(Syn), Skip(3099), At(3100), Sends(&[Bare, Data(1)]), Window(1.0, 2.0)];
    Scene::of(10).with(|tcp| tcp.syn_loss_lowers_ssthresh = true).play(&steps);
}

#[test]
fn a_lost_syn_ack_leaves_an_initial_window_of_one_too() {
    Scene::of(10).play(&[
        Lose(Ack(1)),
        At(0),
        Sends(&[Syn]),
        At(50),
        Sends(&[Ack(1)]),
        At(3000),
        Sends(&[Syn]),
        At(3050),
        Sends(&[Ack(1)]),
        At(3100),
        Sends(&[Bare, Data(1)]),
    ]);
}

#[test]
fn a_receivers_lost_syn_is_repeated_and_leaves_the_window_alone() {
    let steps = [
        Lose(Open),
        Lose(Open),
        At(0),
        Sends(&[Open]),
        At(3000),
        Sends(&[Open]),
        At(9000),
        Sends(&[Open]),
        At(9050),
        Sends(&[Syn]),
        At(9100),
        Sends(&[Ack(1)]),
        At(9150),
        Sends(&[Data(1), Data(2)]),
    ];
    Scene { receiver_opens: true, ..Scene::of(10) }.play(&steps);
}

#[test]
fn a_syn_ack_repeated_for_a_repeated_syn_is_not_timed() {
    // The first SYN is late: its repetition is answered, and that acknowledged, before the sender's timer.
    let steps = [
        Late(Open),
        Lose(Syn),
        At(0),
        Sends(&[Open]),
        At(200),
        Sends(&[Syn]),
        At(3000),
        Sends(&[Open]),
        At(3050),
        Sends(&[Syn]),
        At(3100),
        Sends(&[Ack(1)]),
        At(3150),
        Sends(&[Data(1)]),
        Window(1.0, 43.0),
    ];
    let record = Scene { receiver_opens: true, ..Scene::of(10) }.play(&steps).record;
    assert!(record.rtt_mean_s.is_nan(), "Karn: sample of {} s", record.rtt_mean_s);
    assert_eq!((record.retransmits, record.timeouts), (1, 0));
}

#[test]
fn a_lost_acknowledgement_of_the_syn_ack_is_asked_for_again() {
    let steps = [
        Lose(Ack(1)),
        At(0),
        Sends(&[Open]),
        At(50),
        Sends(&[Syn]),
        At(100),
        Sends(&[Ack(1)]),
        At(3050),
        Sends(&[Syn]),
        At(3100),
        Sends(&[Ack(1)]),
        At(3150),
        Sends(&[Data(1)]),
    ];
    Scene { receiver_opens: true, ..Scene::of(10) }.play(&steps);
}

#[test]
fn a_lost_handshake_acknowledgement_costs_nothing() {
    let steps = [Lose(Bare), Skip(99), At(100), Sends(&[Bare, Data(1), Fin]), At(150), Sends(&[FinAck])];
    Scene::of(1).play(&steps);
}
