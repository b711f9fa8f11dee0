//! Growth of the window, its cap, and the acknowledgements that drive it.

use units::Time;

use super::Scene;
use super::Segment::{Ack, Bare, Data, Syn};
use super::Step::{At, Finish, Late, Lose, Sends, Skip, Window};

#[test]
fn slow_start_adds_a_segment_per_acknowledgement_of_two() {
    let steps = [
        At(0),
        Sends(&[Syn]),
        At(50),
        Sends(&[Ack(1)]),
        At(100),
        Sends(&[Bare, Data(1), Data(2)]),
        At(150),
        Sends(&[Ack(3)]),
        At(200),
        Sends(&[Data(3), Data(4), Data(5)]),
        Window(3.0, 43.0),
        // The acknowledgement of 5 would wait until 450 ms, but 6 comes first.
        At(250),
        Sends(&[Ack(5)]),
        At(300),
        Sends(&[Data(6), Data(7), Data(8)]),
        At(350),
        Sends(&[Ack(7), Ack(9)]),
        At(400),
        Sends(&[Data(9), Data(10), Data(11), Data(12), Data(13), Data(14)]),
        Window(6.0, 43.0),
    ];
    let record = Scene::of(40).play(&steps).record;
    // Windows after the five acknowledgements: 2, 3, 4, 5, 6.
    assert_eq!(record.cwnd_mean_packets, 4.0);
}

#[test]
fn slow_start_doubles_when_every_segment_is_acknowledged() {
    let steps = [
        Skip(149),
        At(150),
        Sends(&[Ack(2), Ack(3)]),
        At(200),
        Sends(&[Data(3), Data(4), Data(5), Data(6)]),
        At(250),
        Sends(&[Ack(4), Ack(5), Ack(6), Ack(7)]),
        Skip(300),
        Window(8.0, 43.0),
    ];
    Scene::of(40).with(|tcp| tcp.delayed_ack = Time::ZERO).play(&steps);
}

#[test]
fn congestion_avoidance_adds_a_segment_per_window() {
    // The lost SYN leaves a threshold of 2: from there the window grows by its inverse.
    let steps = [
        Lose(Syn),
        Skip(3199),
        At(3200),
        Sends(&[Data(2), Data(3)]),
        Window(2.0, 2.0),
        Skip(3300),
        Window(2.0 + 0.5 + 1.0 / 2.5, 2.0),
        Skip(3400),
        // Data 4 and 5 went out with the window at 2, so they are acknowledged one by one again.
        Window(2.9 + 1.0 / 2.9 + 1.0 / (2.9 + 1.0 / 2.9), 2.0),
    ];
    let scene = Scene::of(40).with(|tcp| {
        tcp.syn_loss_lowers_ssthresh = true;
        tcp.delayed_ack = Time::ZERO;
    });
    scene.play(&steps);
}

#[test]
fn the_receiver_window_caps_what_is_outstanding() {
    let steps = [
        Skip(199),
        At(200),
        Sends(&[Data(3), Data(4), Data(5)]),
        At(250),
        Sends(&[Ack(5)]),
        At(300),
        // Two acknowledged, two sent: the receiver takes 3, though the window grows on.
        Sends(&[Data(6), Data(7)]),
        Window(3.0 + 1.0 / 3.0, 3.0),
        At(350),
        Sends(&[Ack(7)]),
        At(400),
        Sends(&[Data(8), Data(9)]),
    ];
    Scene::of(40).with(|tcp| tcp.receiver_window = 3).play(&steps);
}

#[test]
fn an_odd_last_segment_waits_for_the_delayed_acknowledgement() {
    let odd = |scene: Scene| scene.with(|tcp| tcp.fin = false);
    let steps = [
        Skip(99),
        At(100),
        Sends(&[Bare, Data(1)]),
        // The data is there at 150 ms, its acknowledgement leaves 200 ms later.
        At(350),
        Sends(&[Ack(2)]),
        At(400),
        Finish(150),
        Skip(5000),
    ];
    odd(Scene::of(1)).play(&steps);
    let immediate = [Skip(100), At(150), Sends(&[Ack(2)]), At(200), Finish(150)];
    odd(Scene::of(1)).with(|tcp| tcp.delayed_ack = Time::ZERO).play(&immediate);
    let even = [Skip(100), At(150), Sends(&[Ack(3)]), At(200), Finish(150), Skip(5000)];
    odd(Scene::of(2)).play(&even);
}

#[test]
fn a_gap_and_what_fills_it_are_acknowledged_at_once() {
    let steps = [
        Late(Data(2)),
        Skip(100),
        At(150),
        // 1 is delayed until 3 shows the gap; 4 is above it.
        Sends(&[Ack(2), Ack(2)]),
        At(300),
        Sends(&[Ack(5)]),
        At(350),
        Finish(300),
    ];
    Scene::of(4).with(|tcp| (tcp.initial_window, tcp.fin) = (4, false)).play(&steps);
}

#[test]
fn a_segment_that_fills_one_of_two_gaps_is_acknowledged_at_once() {
    let steps = [
        Late(Data(2)),
        Lose(Data(4)),
        Skip(100),
        At(150),
        Sends(&[Ack(2), Ack(2)]),
        At(300),
        Sends(&[Ack(4)]),
        At(1350),
        Sends(&[Data(4)]),
        At(1400),
        Sends(&[Ack(6)]),
    ];
    Scene::of(5).with(|tcp| (tcp.initial_window, tcp.fin) = (5, false)).play(&steps);
}

#[test]
fn a_segment_that_comes_twice_is_acknowledged_at_once() {
    // The acknowledgement of the only segment is lost; the repeated segment is a duplicate (RFC 9293, 3.10.7.4).
    let steps = [
        Lose(Ack(2)),
        Skip(349),
        At(350),
        Sends(&[Ack(2)]),
        At(1100),
        Sends(&[Data(1)]),
        At(1150),
        Sends(&[Ack(2)]),
        At(1200),
        Finish(150),
    ];
    Scene::of(1).with(|tcp| tcp.fin = false).play(&steps);
}

#[test]
fn the_last_segment_carries_the_rest() {
    let bytes = |size_bytes| {
        let scene = Scene { size_bytes, ..Scene::of(1) };
        scene.play(&[Skip(60_000)]).forward_bytes
    };
    // SYN, bare acknowledgement, FIN and last acknowledgement: 160 bytes of headers.
    assert_eq!(bytes(1), 160 + 40 + 1);
    assert_eq!(bytes(1459), 160 + 40 + 1459);
    assert_eq!(bytes(1460), 160 + 1500);
    assert_eq!(bytes(1461), 160 + 1500 + 41);
    assert_eq!(bytes(14_601), 160 + 15_000 + 41);
}

/// Chen 2012, Eq. 5.10 gives floor(2^((n-1)/2) + 2^((n-2)/2)), which grows by the square root of 2: 1, 2, 3, 4, 6, 9, 13,
/// 19, 27, 38. An acknowledgement for two segments makes it floor(3 w / 2), the same up to 19 and then 28 and 42: the
/// thesis counts windows, not flights, which lack the segment whose acknowledgement is still delayed.
#[test]
fn slow_start_with_delayed_acknowledgements_follows_the_windows_of_chen_2012() {
    // The first segment waits 200 ms for a second one.
    let rounds = [100, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200];
    let windows = [1.0, 2.0, 3.0, 4.0, 6.0, 9.0, 13.0, 19.0, 28.0, 42.0];
    let steps: Vec<_> =
        rounds.into_iter().zip(windows).flat_map(|(ms, window)| [Skip(ms), Window(window, 43.0)]).collect();
    Scene::of(200).with(|tcp| tcp.initial_window = 1).play(&steps);
    for (n, window) in (1..).zip(windows).take(8) {
        let half = |k: i32| 2.0_f64.powf(f64::from(k) / 2.0);
        assert_eq!((half(n - 1) + half(n - 2)).floor(), window, "Eq. 5.10, n = {n}");
    }
}

#[test]
fn slow_start_without_delayed_acknowledgements_doubles_the_window() {
    let steps: Vec<_> =
        (0..6).flat_map(|n: u32| [Skip(100 + 100 * u64::from(n)), Window(f64::from(1 << n), 43.0)]).collect();
    let scene = Scene::of(200).with(|tcp| (tcp.initial_window, tcp.delayed_ack) = (1, Time::ZERO));
    scene.play(&steps);
}

/// RFC 6928: up to ten segments; RFC 5681, 3.1: 2 to 4; RFC 2581 and before: 1.
#[test]
fn initial_windows_of_one_to_ten_leave_at_once() {
    for window in [1, 2, 3, 4, 10] {
        let scene = Scene::of(40).with(|tcp| tcp.initial_window = window);
        // SYN and bare acknowledgement are not data.
        let sent = scene.play(&[Skip(100), Window(f64::from(window), 43.0)]).record.packets_sent;
        assert_eq!(sent, u64::from(window) + 1);
    }
}
