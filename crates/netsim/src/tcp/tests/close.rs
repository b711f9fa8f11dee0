//! FIN exchange: when a flow is over, and what a lost FIN or acknowledgement costs.

use units::Time;

use super::Scene;
use super::Segment::{Ack, Bare, Data, Fin, FinAck};
use super::Step::{At, Finish, Lose, Sends, Skip};

#[test]
fn a_flow_is_over_when_the_last_fin_ack_arrives() {
    let steps = [
        Skip(99),
        At(100),
        Sends(&[Bare, Data(1), Fin]),
        At(150),
        Sends(&[FinAck]),
        At(200),
        Sends(&[Bare]),
        At(250),
        Finish(250),
        At(10_000),
    ];
    let record = Scene::of(1).play(&steps).record;
    assert_eq!((record.packets_sent, record.retransmits, record.delivered_bytes), (3, 0, 1460));
    assert_eq!((record.first_data, record.rtt_mean_s), (Time::from_millis(150), 0.1));
}

#[test]
fn a_fin_on_the_last_data_is_acknowledged_and_repeated_with_it() {
    let steps = [
        Skip(99),
        At(100),
        Sends(&[Bare, Data(1), Data(2)]),
        At(150),
        Sends(&[FinAck]),
        At(200),
        Sends(&[Bare]),
        At(250),
        Finish(250),
    ];
    let scene = Scene::of(2).with(|tcp| tcp.fin_on_data = true);
    assert_eq!(scene.play(&steps).record.packets_sent, 3);
    // No FIN behind it: the loss of the last but one makes one duplicate acknowledgement, and takes a timeout.
    let steps = [
        Lose(Data(1)),
        Skip(149),
        At(150),
        Sends(&[Ack(1)]),
        At(1100),
        Sends(&[Data(1)]),
        At(1150),
        Sends(&[FinAck]),
        At(1200),
        Sends(&[Bare]),
        At(1250),
        Finish(1250),
    ];
    let record = scene.play(&steps).record;
    assert_eq!((record.retransmits, record.timeouts, record.last_data), (1, 1, Time::from_millis(1150)));
}

#[test]
fn a_receiver_may_acknowledge_the_fin_before_its_own() {
    let steps = [
        Skip(99),
        At(100),
        Sends(&[Bare, Data(1), Fin]),
        At(150),
        Sends(&[Ack(3), Ack(3), FinAck]),
        At(200),
        Sends(&[Bare]),
        At(250),
        Finish(250),
    ];
    let record = Scene::of(1).with(|tcp| tcp.close_acks = 2).play(&steps).record;
    assert_eq!((record.packets_sent, record.retransmits), (3, 0));
}

#[test]
fn without_fin_exchange_a_flow_finishes_with_the_last_missing_data() {
    let steps = [
        Lose(Data(1)),
        Skip(100),
        At(150),
        Sends(&[Ack(1)]),
        At(1100),
        Sends(&[Data(1)]),
        At(1150),
        Sends(&[Ack(3)]),
        At(1200),
        Finish(1150),
        At(10_000),
    ];
    let record = Scene::of(2).with(|tcp| tcp.fin = false).play(&steps).record;
    assert_eq!(record.first_data, Time::from_millis(150), "data above the gap is data");
}

#[test]
fn a_lost_fin_is_repeated_after_the_timeout_of_its_sender() {
    let steps = [
        Lose(Fin),
        Skip(100),
        At(350),
        Sends(&[Ack(2)]),
        // The acknowledgement at 400 ms restarts the timer.
        At(1400),
        Sends(&[Fin]),
        At(1450),
        Sends(&[FinAck]),
        At(1500),
        Sends(&[Bare]),
        At(1550),
        Finish(1550),
        At(10_000),
    ];
    Scene::of(1).play(&steps);
}

#[test]
fn a_lost_fin_of_the_receiver_is_repeated_when_the_data_comes_again() {
    let steps = [
        Lose(FinAck),
        Skip(100),
        At(150),
        Sends(&[FinAck]),
        At(1100),
        Sends(&[Data(1)]),
        // The receiver's own timer, 1 s as well, goes off at the same instant.
        At(1150),
        Sends(&[FinAck, FinAck]),
        At(1200),
        Sends(&[Bare, Bare]),
        At(1250),
        Finish(1250),
        At(10_000),
    ];
    Scene::of(1).play(&steps);
}

/// The receiver repeats its FIN 1 s, then 2 s later, as nobody else would: the least timeout, since the
/// handshake gave it a sample of 100 ms.
const LAST_ACK_LOST_TWICE: [super::Step; 12] = [
    Sends(&[FinAck]),
    Lose(Bare),
    Lose(Bare),
    At(200),
    Sends(&[Bare]),
    At(1150),
    Sends(&[FinAck]),
    At(1200),
    Sends(&[Bare]),
    At(3150),
    Sends(&[FinAck]),
    At(3200),
];

#[test]
fn a_lost_last_acknowledgement_makes_the_receiver_repeat_its_fin() {
    let mut steps = vec![Skip(100), At(150)];
    steps.extend(LAST_ACK_LOST_TWICE);
    steps.extend([Sends(&[Bare]), At(3250), Finish(3250), At(60_000)]);
    Scene::of(1).play(&steps);
}

#[test]
fn a_receiver_that_opened_repeats_its_fin_no_later() {
    let mut steps = vec![Skip(150)];
    let later = |step: super::Step| match step {
        At(ms) => At(ms + 50),
        other => other,
    };
    steps.push(At(200));
    steps.extend(LAST_ACK_LOST_TWICE.map(later));
    steps.extend([Sends(&[Bare]), At(3300), Finish(3300), At(60_000)]);
    Scene { receiver_opens: true, ..Scene::of(1) }.play(&steps);
}

#[test]
fn a_flow_whose_last_acknowledgement_never_comes_is_unfinished_though_all_is_delivered() {
    let mut steps = vec![Lose(Bare); 40];
    steps.push(Skip(600_000));
    // The bare acknowledgement of the handshake is lost as well; it does not matter.
    let record = Scene::of(3).play(&steps).record;
    assert_eq!((record.finish, record.delivered_bytes), (Time::NEVER, 3 * 1460));
}
