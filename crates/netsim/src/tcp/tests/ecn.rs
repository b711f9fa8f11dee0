//! Explicit congestion notification (RFC 3168, section 6.1). The connections start with eight segments in
//! flight: segments 1 to 8 leave at 100 ms.

use super::Scene;
use super::Segment::{Ack, Bare, Data, Fin, FinAck};
use super::Step::{At, Capable, Flagged, Lose, Mark, Sends, Skip, Window};
use crate::tcp::settings::EcnMode;

fn eight_of(segments: u64) -> Scene {
    Scene::of(segments).with(|tcp| (tcp.initial_window, tcp.limited_transmit, tcp.ecn) = (8, false, EcnMode::Classic))
}

#[test]
fn only_data_sent_for_the_first_time_is_capable() {
    let steps = [
        Lose(Data(3)),
        At(0),
        Capable(&[]),
        Skip(99),
        At(100),
        Capable(&[Data(1), Data(2), Data(3), Data(4)]),
        Sends(&[Bare, Data(1), Data(2), Data(3), Data(4), Fin]),
        At(150),
        Capable(&[]),
        Sends(&[Ack(3), Ack(3), Ack(3)]),
        // Two duplicates are no loss: the timer repeats segment 3, 1 s after the last new acknowledgement.
        Skip(1199),
        At(1200),
        Capable(&[]),
        Sends(&[Data(3)]),
    ];
    eight_of(4).play(&steps);
}

#[test]
fn a_mark_halves_the_window_once_and_is_echoed_until_the_answer_comes() {
    let steps = [
        Mark(Data(2)),
        Mark(Data(6)),
        Skip(99),
        At(100),
        Sends(&[Bare, Data(1), Data(2), Data(3), Data(4), Data(5), Data(6), Data(7), Data(8)]),
        At(150),
        // The latch holds from segment 2 on, delayed acknowledgements included.
        Flagged(&[Ack(3), Ack(5), Ack(7), Ack(9)]),
        Sends(&[Ack(3), Ack(5), Ack(7), Ack(9)]),
        At(200),
        // Flight of 8: window 4 at the first echo, and not again for the others of this window, nor
        // growth. The first new segment answers.
        Flagged(&[Data(9)]),
        Sends(&[Data(9), Data(10), Data(11), Data(12)]),
        Window(4.0, 4.0),
        At(250),
        Flagged(&[]),
        Sends(&[Ack(11), Ack(13)]),
        At(300),
        // Congestion avoidance again: 4 + 1/4, then 1/4.25 more.
        Flagged(&[]),
        Window(4.25 + 1.0 / 4.25, 4.0),
        Sends(&[Data(13), Data(14), Data(15), Data(16)]),
    ];
    let record = eight_of(40).play(&steps).record;
    assert_eq!((record.retransmits, record.timeouts), (0, 0));
}

#[test]
fn a_mark_on_the_answering_segment_starts_a_new_echo() {
    let steps = [
        Mark(Data(2)),
        Mark(Data(9)),
        Skip(199),
        At(200),
        Flagged(&[Data(9)]),
        Sends(&[Data(9), Data(10), Data(11), Data(12)]),
        At(250),
        Flagged(&[Ack(11), Ack(13)]),
        Sends(&[Ack(11), Ack(13)]),
        At(300),
        // Flight of 4: window 2.
        Flagged(&[Data(13)]),
        Sends(&[Data(13), Data(14)]),
        Window(2.0, 2.0),
    ];
    eight_of(40).play(&steps);
}

#[test]
fn a_loss_in_the_window_of_a_mark_is_repaired_without_another_reduction() {
    let steps = [
        Mark(Data(1)),
        Lose(Data(3)),
        Skip(99),
        At(100),
        Sends(&[Bare, Data(1), Data(2), Data(3), Data(4), Data(5), Data(6), Data(7), Data(8)]),
        At(150),
        Flagged(&[Ack(3), Ack(3), Ack(3), Ack(3), Ack(3), Ack(3)]),
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(3), Ack(3), Ack(3)]),
        At(200),
        // Halved to 4 by the echo; the third duplicate repairs 3 with the window of 4 + 3, the two
        // duplicates after it make it 4 + 5: up to segment 11.
        Window(4.0, 4.0),
        Flagged(&[Data(9)]),
        Sends(&[Data(3), Data(9), Data(10), Data(11)]),
    ];
    let record = eight_of(40).play(&steps).record;
    assert_eq!((record.retransmits, record.timeouts), (1, 0));
}

#[test]
fn the_first_new_segment_after_a_loss_tells_of_the_reduction() {
    let steps = [
        Lose(Data(3)),
        Skip(199),
        At(200),
        // Segments 9 to 11 left before the third duplicate.
        Flagged(&[]),
        Sends(&[Data(9), Data(10), Data(11), Data(3)]),
        Skip(299),
        At(300),
        Flagged(&[Data(12)]),
        Sends(&[Data(12), Data(13), Data(14), Data(15)]),
    ];
    eight_of(40).play(&steps);
}

#[test]
fn a_short_transfer_without_marks_ends_as_ever() {
    let steps = [
        Skip(99),
        At(100),
        Sends(&[Bare, Data(1), Fin]),
        At(150),
        Flagged(&[]),
        Sends(&[FinAck]),
        At(200),
        Flagged(&[]),
        Sends(&[Bare]),
    ];
    eight_of(1).play(&steps);
}

#[test]
fn a_mark_after_a_repaired_loss_counts_all_that_is_in_flight() {
    // Limited transmit sent 2 segments before the loss of segment 3 was found; long acknowledged when 1 is left.
    let steps = [
        Lose(Data(3)),
        Mark(Data(13)),
        Skip(399),
        At(400),
        // A flight of 1, at least 2 for the threshold (RFC 5681, Eq. 4).
        Window(2.0, 2.0),
        Skip(2000),
    ];
    let record = eight_of(13).with(|tcp| tcp.limited_transmit = true).play(&steps).record;
    assert_eq!((record.retransmits, record.timeouts), (1, 0));
}
