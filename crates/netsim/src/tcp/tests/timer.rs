//! Retransmission timer: back-off, Karn's algorithm, restarts.

use units::Time;

use super::Scene;
use super::Segment::{Ack, Bare, Data, Fin, FinAck, Syn};
use super::Step::{self, At, Finish, Late, Lose, Sends, Skip, Window};
use crate::tcp::settings::{BackoffEnd, Recovery};

#[test]
fn the_timeout_doubles_with_each_loss_of_the_same_segment() {
    let steps = [
        Lose(Data(1)),
        Lose(Data(1)),
        Lose(Data(1)),
        Skip(99),
        At(100),
        Sends(&[Bare, Data(1), Fin]),
        At(150),
        Sends(&[Ack(1)]),
        At(1100),
        Sends(&[Data(1)]),
        At(3100),
        Sends(&[Data(1)]),
        At(7100),
        Sends(&[Data(1)]),
        At(7150),
        Sends(&[FinAck]),
        At(7200),
        Sends(&[Bare]),
        At(7250),
        Finish(7250),
    ];
    let record = Scene::of(1).play(&steps).record;
    assert_eq!((record.timeouts, record.retransmits, record.packets_sent), (3, 3, 6));
    assert_eq!(record.rtt_mean_s, 0.1, "Karn: only the SYN was sent once");
}

#[test]
fn the_back_off_ends_at_max_rto() {
    let steps = [
        Lose(Data(1)),
        Lose(Data(1)),
        Lose(Data(1)),
        Lose(Data(1)),
        Skip(1099),
        At(1100),
        Sends(&[Data(1)]),
        At(3100),
        Sends(&[Data(1)]),
        At(5600),
        Sends(&[Data(1)]),
        At(8100),
        Sends(&[Data(1)]),
        At(8150),
        Sends(&[FinAck]),
        Skip(9000),
    ];
    Scene::of(1).with(|tcp| tcp.max_rto = Time::from_millis(2500)).play(&steps);
}

#[test]
fn the_back_off_stays_until_a_segment_sent_once_is_acknowledged() {
    // 1 is lost twice: timeout 2 s, then 4 s. Its acknowledgement ends nothing, for it was sent three times;
    // so the loss of 3, sent for the first time at 3.2 s, takes 4 s. The next timeout after a sample is 1 s.
    let steps = [
        Lose(Data(1)),
        Lose(Data(1)),
        Lose(Data(3)),
        Skip(1099),
        At(1100),
        Sends(&[Data(1)]),
        At(3100),
        Sends(&[Data(1)]),
        At(3150),
        Sends(&[Ack(3)]),
        At(3200),
        Sends(&[Data(3), Data(4)]),
        At(3250),
        Sends(&[Ack(3)]),
        At(7200),
        Sends(&[Data(3)]),
        At(7250),
        Sends(&[Ack(5)]),
        Lose(Data(5)),
        Lose(Data(6)),
        At(7300),
        Sends(&[Data(5), Data(6)]),
        At(15_300),
        Sends(&[Data(5)]),
        At(15_350),
        Sends(&[Ack(6)]),
        Lose(Data(9)),
        At(15_400),
        Sends(&[Data(6), Data(7)]),
        At(15_450),
        Sends(&[Ack(7), Ack(8)]),
        // 7 was sent once: the first sample since the handshake.
        At(15_500),
        Sends(&[Data(8), Data(9)]),
        At(15_550),
        Sends(&[Ack(9)]),
        At(15_600),
        Sends(&[Data(10)]),
        At(15_650),
        Sends(&[Ack(9)]),
        At(16_600),
        Sends(&[Data(9)]),
    ];
    let scene = Scene::of(10).with(|tcp| {
        (tcp.limited_transmit, tcp.fin) = (false, false);
        tcp.delayed_ack = Time::ZERO;
    });
    let record = scene.play(&steps).record;
    assert_eq!(record.timeouts, 5);
}

#[test]
fn any_new_acknowledgement_may_end_the_back_off() {
    // As above up to 3.2 s, but the acknowledgement of 1, sent three times, brings the timeout back to 1 s.
    let steps = [
        Lose(Data(1)),
        Lose(Data(1)),
        Lose(Data(3)),
        Skip(1099),
        At(1100),
        Sends(&[Data(1)]),
        At(3100),
        Sends(&[Data(1)]),
        At(3150),
        Sends(&[Ack(3)]),
        At(3200),
        Sends(&[Data(3), Data(4)]),
        At(3250),
        Sends(&[Ack(3)]),
        At(4200),
        Sends(&[Data(3)]),
    ];
    let scene = Scene::of(10).with(|tcp| {
        (tcp.limited_transmit, tcp.fin, tcp.delayed_ack) = (false, false, Time::ZERO);
        tcp.backoff_ends = BackoffEnd::Ack;
    });
    assert_eq!(scene.play(&steps).record.timeouts, 3);
}

#[test]
fn a_repeated_syn_may_be_timed_from_its_first_copy() {
    // A sample of 3.1 s: RTO = 3.1 + 4 x 1.55 s. Without it the timeout of 3 s stays backed off (RFC 6298, 5).
    for (timed, timeout_ms, mean_s) in [(true, 9300, 3.1), (false, 6000, f64::NAN)] {
        let steps = [
            Lose(Syn),
            Lose(Data(1)),
            At(0),
            Sends(&[Syn]),
            At(3000),
            Sends(&[Syn]),
            At(3050),
            Sends(&[Ack(1)]),
            At(3100),
            Sends(&[Bare, Data(1)]),
            At(3100 + timeout_ms),
            Sends(&[Data(1)]),
        ];
        let record = Scene::of(3).with(|tcp| tcp.time_repeated_syn = timed).play(&steps).record;
        assert!(record.rtt_mean_s == mean_s || !timed && record.rtt_mean_s.is_nan(), "{}", record.rtt_mean_s);
    }
}

#[test]
fn the_end_of_the_repair_after_a_timeout_may_leave_the_window_as_it_is() {
    // Of the window of two the second copy of 1 is acknowledged, with 2, by the last acknowledgement below 3.
    for (opens, window, sends) in [(true, 2.0, &[Data(3), Data(4)][..]), (false, 1.0, &[Data(3)][..])] {
        let steps = [
            Lose(Data(1)),
            Skip(1099),
            At(1100),
            Sends(&[Data(1)]),
            Window(1.0, 2.0),
            At(1150),
            Sends(&[Ack(3)]),
            At(1200),
            Window(window, 2.0),
            Sends(sends),
        ];
        let scene = Scene::of(10).with(|tcp| (tcp.limited_transmit, tcp.fin) = (false, false));
        scene.with(|tcp| tcp.repair_end_opens = opens).play(&steps);
    }
}

#[test]
fn a_new_acknowledgement_restarts_the_timer_and_the_last_one_stops_it() {
    let steps = [
        Lose(Data(3)),
        Skip(149),
        At(150),
        Sends(&[Ack(3)]),
        At(200),
        Sends(&[Data(3)]),
        // Not 1100 ms, when the first window would have timed out.
        At(1200),
        Sends(&[Data(3)]),
        At(1250 + 200),
        Sends(&[Ack(4)]),
        At(600_000),
    ];
    let record = Scene::of(3).with(|tcp| tcp.fin = false).play(&steps).record;
    assert_eq!(record.timeouts, 1);
}

#[test]
fn the_threshold_is_held_when_a_repeated_segment_is_lost_again() {
    // RFC 5681, 3.1: half of the flight of 8 at the first timeout, and no less at the second.
    let steps = [Lose(Data(1)), Lose(Data(1)), Skip(1100), Window(1.0, 4.0), Skip(3100), Window(1.0, 4.0)];
    let lost: Vec<Step> = (2..9).map(|seq| Lose(Data(seq))).collect();
    let scene = Scene::of(20).with(|tcp| (tcp.initial_window, tcp.limited_transmit) = (8, false));
    scene.play(&[&lost[..], &steps[..]].concat());
}

#[test]
fn a_timeout_of_less_than_3_s_is_3_s_after_a_lost_syn() {
    let steps = [
        Lose(Syn),
        Lose(Data(1)),
        At(0),
        Sends(&[Syn]),
        At(1000),
        Sends(&[Syn]),
        At(1050),
        Sends(&[Ack(1)]),
        At(1100),
        Sends(&[Bare, Data(1)]),
        At(4100),
        Sends(&[Data(1)]),
    ];
    Scene::of(10).with(|tcp| tcp.initial_rto = Time::from_millis(1000)).play(&steps);
}

#[test]
fn after_a_lost_syn_the_back_off_stays_until_the_first_sample() {
    let steps = [Lose(Syn), Lose(Data(1)), Skip(3099), At(3100), Sends(&[Bare, Data(1)]), At(9100), Sends(&[Data(1)])];
    Scene::of(10).play(&steps);
}

/// Losses of 1, 3, 5 and so on up to 15: repaired one per round trip, which the timer may cut short.
fn every_other_of_sixteen(impatient: bool) -> u32 {
    let mut steps: Vec<Step> = (0..8).map(|n| Lose(Data(2 * n + 1))).collect();
    steps.push(Skip(20_000));
    let scene = Scene::of(16).with(|tcp| {
        (tcp.initial_window, tcp.impatient) = (16, impatient);
        tcp.min_rto = Time::from_millis(300);
    });
    let record = scene.play(&steps).record;
    assert_eq!(record.delivered_bytes, 16 * 1460);
    record.timeouts
}

#[test]
fn only_the_impatient_variant_lets_the_timer_cut_a_long_recovery_short() {
    assert_eq!(every_other_of_sixteen(true), 1);
    assert_eq!(every_other_of_sixteen(false), 0);
}

#[test]
fn what_goes_back_in_vain_after_a_spurious_timeout_starts_no_recovery() {
    // Segments and acknowledgements of the first window are late: the timer, 300 ms after one sample, takes them for
    // lost. Then the acknowledgements come, and 3 to 8 go out again on them; their duplicates are six (RFC 6582, 4).
    let late = (1..9).map(|seq| Late(Data(seq))).chain([3, 5, 7, 9].map(|ack| Late(Ack(ack))));
    let steps = [
        Skip(399),
        Lose(Data(1)),
        At(400),
        Sends(&[Data(1)]),
        Window(1.0, 4.0),
        At(500),
        Sends(&[Data(3), Data(4), Data(5), Data(6), Data(7), Data(8), Data(9), Data(10), Data(11), Data(12)]),
        Window(4.25, 4.0),
        At(550),
        Sends(&[Ack(9), Ack(9), Ack(9), Ack(9), Ack(9), Ack(9), Ack(11), Ack(13)]),
        Skip(2000),
    ];
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let scene = Scene::of(60).with(|tcp| {
            (tcp.initial_window, tcp.recovery, tcp.limited_transmit) = (8, recovery, false);
            tcp.min_rto = Time::from_millis(200);
        });
        let record = scene.play(&late.clone().chain(steps).collect::<Vec<_>>()).record;
        assert_eq!((record.retransmits, record.timeouts), (7, 1), "{recovery:?}");
        assert_eq!(record.delivered_bytes, 60 * 1460);
    }
}
