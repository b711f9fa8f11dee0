//! Pacing: two windows per round trip while the window is below half of the threshold, 1.2 beyond.

use units::Time;

use super::Scene;
use super::Segment::{Bare, Data};
use super::Step::{At, Lose, Sends, Skip};
use crate::tcp::settings::Recovery;

fn paced(segments: u64, window: u32) -> Scene {
    Scene::of(segments).with(|tcp| {
        (tcp.initial_window, tcp.pacing, tcp.fin) = (window, true, false);
        tcp.delayed_ack = Time::ZERO;
    })
}

#[test]
fn beyond_the_first_ten_segments_leave_one_by_one() {
    // Window 25 of 100, SRTT 100 ms: one segment per 2 ms. The SYN and ten more are not paced.
    let steps = [
        Skip(99),
        At(100),
        Sends(&[Bare, Data(1), Data(2), Data(3), Data(4), Data(5), Data(6), Data(7), Data(8), Data(9), Data(10)]),
        At(102),
        Sends(&[Data(11)]),
        At(104),
        Sends(&[Data(12)]),
        Skip(127),
        At(128),
        Sends(&[Data(24)]),
        At(130),
        Sends(&[Data(25)]),
        // The window is out.
        At(149),
    ];
    let scene = paced(60, 25).with(|tcp| tcp.receiver_window = 100);
    scene.play(&steps);
}

#[test]
fn a_window_near_the_threshold_goes_out_in_five_sixths_of_a_round_trip() {
    // Window and threshold 25: 1.2 x 25 / 100 ms, one segment per 3.33 ms: 11 in the first 39 ms, beside SYN and ten.
    let scene = paced(60, 25).with(|tcp| tcp.receiver_window = 25);
    assert_eq!(scene.play(&[Skip(139)]).record.packets_sent, 22);
    assert_eq!(scene.play(&[Skip(149)]).record.packets_sent, 25);
}

#[test]
fn what_waits_is_sent_once_and_in_order() {
    let steps = [Lose(Data(15)), Lose(Data(30)), Skip(60_000)];
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let scene = paced(200, 25).with(|tcp| (tcp.receiver_window, tcp.recovery) = (100, recovery));
        let record = scene.play(&steps).record;
        assert_eq!((record.retransmits, record.timeouts), (2, 0), "{recovery:?}");
        assert_eq!(record.delivered_bytes, 200 * 1460);
    }
}
