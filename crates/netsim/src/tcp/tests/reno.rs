//! Fast recovery of RFC 5681, 3.2, which ends with the first new acknowledgement. The connections start with eight
//! segments in flight, or sixteen, which leave at 100 ms.

use super::Scene;
use super::Segment::{Ack, Data};
use super::Step::{self, At, Lose, Sends, Skip, Window};
use crate::tcp::settings::Recovery;

fn reno(initial_window: u32) -> Scene {
    Scene::of(60).with(|tcp| {
        (tcp.initial_window, tcp.limited_transmit, tcp.recovery) = (initial_window, false, Recovery::Reno);
    })
}

fn lost(lost: &[u32]) -> Vec<Step> {
    lost.iter().map(|&seq| Lose(Data(seq))).collect()
}

#[test]
fn one_loss_is_repaired_with_half_the_window() {
    let mut steps = lost(&[3]);
    steps.extend([
        Skip(199),
        At(200),
        Sends(&[Data(9), Data(10), Data(11), Data(3)]),
        Window(4.0, 4.0),
        At(250),
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(12)]),
        At(300),
        Sends(&[Data(12), Data(13), Data(14), Data(15)]),
        Window(4.0, 4.0),
    ]);
    let record = reno(8).play(&steps).record;
    assert_eq!((record.retransmits, record.timeouts), (1, 0));
}

#[test]
fn two_losses_in_a_small_window_take_a_timeout() {
    let mut steps = lost(&[3, 5]);
    steps.extend([
        Skip(199),
        At(200),
        Sends(&[Data(9), Data(10), Data(11), Data(3)]),
        At(250),
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(5)]),
        At(300),
        // The acknowledgement of 3 takes the inflation away: from 5 the window ends at 8, and 13 is out.
        Sends(&[Data(12), Data(13)]),
        Window(4.0, 4.0),
        At(350),
        Sends(&[Ack(5), Ack(5)]),
        // Two duplicates are no loss. The timer ran from 300 ms.
        At(1300),
        Sends(&[Data(5)]),
        Window(1.0, 4.0),
    ]);
    let record = reno(8).play(&steps).record;
    assert_eq!((record.retransmits, record.timeouts), (2, 1));
}

#[test]
fn two_losses_in_a_large_window_take_two_recoveries() {
    let mut steps = lost(&[3, 9]);
    steps.extend([
        Skip(199),
        At(200),
        // Flight 17, window 8 + 3; twelve duplicates in all open it up to 22.
        Sends(&[Data(17), Data(18), Data(19), Data(3), Data(20), Data(21), Data(22)]),
        Window(8.0, 8.0),
        At(250),
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(9), Ack(9), Ack(9), Ack(9)]),
        At(300),
        // Three duplicates: 23 to 25. The acknowledgement of 3 ends recovery, three more begin another.
        Sends(&[Data(23), Data(24), Data(25), Data(9)]),
        Window(8.0, 8.0),
        At(350),
        Sends(&[Ack(9), Ack(9), Ack(9), Ack(26)]),
    ]);
    let record = reno(16).play(&steps).record;
    assert_eq!((record.retransmits, record.timeouts), (2, 0));
}
