//! Byte counting (RFC 3465): the window grows by segments acknowledged.

use super::Scene;
use super::Segment::{Ack, Bare, Data, Syn};
use super::Step::{At, Lose, Sends, Skip, Window};

#[test]
fn slow_start_doubles_though_every_second_segment_is_acknowledged() {
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
        Sends(&[Data(3), Data(4), Data(5), Data(6)]),
        Window(4.0, 43.0),
        At(250),
        Sends(&[Ack(5), Ack(7)]),
        At(300),
        Sends(&[Data(7), Data(8), Data(9), Data(10), Data(11), Data(12), Data(13), Data(14)]),
        Window(8.0, 43.0),
    ];
    Scene::of(40).with(|tcp| tcp.byte_counting = true).play(&steps);
}

/// RFC 3465, 2.3: what the acknowledgement of the repeated segment leaps over left the network long before.
#[test]
fn on_the_way_back_after_a_timeout_an_acknowledgement_counts_once() {
    let steps = [
        Lose(Data(1)),
        Skip(99),
        At(100),
        Sends(&[Bare, Data(1), Data(2), Data(3)]),
        At(150),
        Sends(&[Ack(1), Ack(1)]),
        At(1100),
        Sends(&[Data(1)]),
        Window(1.0, 2.0),
        At(1150),
        Sends(&[Ack(4)]),
        At(1200),
        Sends(&[Data(4), Data(5)]),
        Window(2.0, 2.0),
    ];
    let scene = Scene::of(40).with(|tcp| {
        tcp.byte_counting = true;
        tcp.initial_window = 3;
        tcp.limited_transmit = false;
    });
    scene.play(&steps);
}
