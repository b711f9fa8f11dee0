//! Selective acknowledgements: RFC 2018 at the receiver, RFC 6675 at the sender. The connections start with eight
//! segments in flight: segments 1 to 8 leave at 100 ms. The first acknowledgement, of 1 and 2, comes at 200 ms and
//! lets 9, 10 and 11 out, so that the first duplicates meet a flight of nine.

use super::Scene;
use super::Segment::{Ack, Bare, Data};
use super::Step::{self, At, Blocks, Lose, Pipe, Sends, Skip, Window};
use crate::tcp::settings::{Congestion, Recovery};

fn eight_of(segments: u64) -> Scene {
    let scene = Scene::of(segments);
    scene.with(|tcp| (tcp.initial_window, tcp.limited_transmit, tcp.recovery) = (8, false, Recovery::Sack))
}

/// What happens up to 150 ms when `lost` segments are missing from the first eight.
fn up_to_150_ms(lost: &[u32]) -> Vec<Step> {
    let mut steps: Vec<Step> = lost.iter().map(|&seq| Lose(Data(seq))).collect();
    steps.extend([Skip(149), At(150)]);
    steps
}

#[test]
fn the_block_of_the_last_segment_comes_first() {
    let mut steps = up_to_150_ms(&[3, 5, 7]);
    steps.extend([
        Blocks(&[&[(4, 5)], &[(6, 7), (4, 5)], &[(8, 9), (6, 7), (4, 5)]]),
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(3)]),
    ]);
    eight_of(40).play(&steps);
}

#[test]
fn no_more_than_four_blocks_are_told() {
    let lost: Vec<Step> = [1, 3, 5, 7, 9].map(|seq| Lose(Data(seq))).to_vec();
    let steps = [
        Skip(149),
        At(150),
        Blocks(&[
            &[(2, 3)],
            &[(4, 5), (2, 3)],
            &[(6, 7), (4, 5), (2, 3)],
            &[(8, 9), (6, 7), (4, 5), (2, 3)],
            &[(10, 11), (8, 9), (6, 7), (4, 5)],
        ]),
        Sends(&[Ack(1), Ack(1), Ack(1), Ack(1), Ack(1)]),
    ];
    eight_of(40).with(|tcp| tcp.initial_window = 10).play(&[&lost[..], &steps[..]].concat());
}

#[test]
fn one_loss_keeps_as_many_in_the_network_as_the_halved_window() {
    let mut steps = up_to_150_ms(&[3]);
    steps.extend([
        Blocks(&[&[(4, 5)], &[(4, 6)], &[(4, 7)], &[(4, 8)], &[(4, 9)]]),
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(3), Ack(3), Ack(3)]),
        At(200),
        // Third duplicate: flight 9, window 4. Five more SACKed later, 9 to 11 and the copy of 3 are out.
        Sends(&[Data(9), Data(10), Data(11), Data(3)]),
        Window(4.0, 4.0),
        Pipe(4),
        At(250),
        Blocks(&[&[(4, 10)], &[(4, 11)], &[(4, 12)]]),
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(12)]),
        At(300),
        // One out for each one in; 12 ends recovery with the window as it is.
        Sends(&[Data(12), Data(13), Data(14), Data(15)]),
        Window(4.0, 4.0),
        Pipe(4),
    ]);
    let record = eight_of(40).play(&steps).record;
    assert_eq!((record.retransmits, record.timeouts), (1, 0));
}

#[test]
fn two_losses_are_repaired_in_recovery_without_waiting_for_the_first() {
    let mut steps = up_to_150_ms(&[3, 5]);
    steps.extend([
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(3), Ack(3)]),
        At(200),
        // SACKed 4, 6, 7, 8: 3 and 5 are lost. 9 to 11 and the copy of 3.
        Sends(&[Data(9), Data(10), Data(11), Data(3)]),
        Pipe(4),
        At(250),
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(5)]),
        At(300),
        // The SACK of 9 leaves 10, 11 and the copy of 3, so that 5 goes out; then new data. Partial: 14.
        Sends(&[Data(5), Data(12), Data(13), Data(14)]),
        Pipe(4),
        Window(4.0, 4.0),
        At(350),
        Sends(&[Ack(12), Ack(14)]),
        At(400),
        Sends(&[Data(15), Data(16), Data(17)]),
        Window(4.25, 4.0),
    ]);
    let record = eight_of(40).play(&steps).record;
    assert_eq!((record.retransmits, record.timeouts), (2, 0));
}

#[test]
fn three_losses_take_the_two_round_trips_of_one() {
    let mut steps = up_to_150_ms(&[3, 5, 7]);
    steps.extend([
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(3)]),
        At(200),
        // SACKed 4, 6, 8: three above 3, two above 5. In the network: 5, 7, 9, 10, 11 and the copy of 3.
        Sends(&[Data(9), Data(10), Data(11), Data(3)]),
        Pipe(6),
        At(250),
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(5)]),
        At(300),
        // SACK of 9: 5 is lost, pipe 4. Of 10: 7 is lost, pipe 2. Of 11: 12. Partial: 13.
        Sends(&[Data(5), Data(7), Data(12), Data(13)]),
        Pipe(4),
        At(350),
        Sends(&[Ack(7), Ack(12), Ack(14)]),
        At(400),
        Sends(&[Data(14), Data(15), Data(16), Data(17)]),
    ]);
    let record = eight_of(40).play(&steps).record;
    assert_eq!((record.retransmits, record.timeouts), (3, 0));
}

#[test]
fn three_segments_above_a_hole_are_a_loss_though_their_acknowledgements_are_lost() {
    // The acknowledgements of 2, 4 and 5 are lost: that of 6 is the first, and moves the left edge as well.
    let mut steps = vec![Lose(Ack(3)), Lose(Ack(3)), Lose(Ack(3))];
    steps.extend(up_to_150_ms(&[3, 7, 8]));
    steps.extend([
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(3)]),
        At(200),
        Sends(&[Data(9), Data(10), Data(11), Data(3)]),
        Window(4.0, 4.0),
    ]);
    eight_of(40).play(&steps);
    // Duplicates alone do not tell.
    let steps = [&steps[..7], &[Skip(200), Window(9.0, 43.0)]].concat();
    eight_of(40).with(|tcp| tcp.recovery = Recovery::NewReno).play(&steps);
}

#[test]
fn limited_transmit_goes_by_what_is_in_the_network() {
    let mut steps = up_to_150_ms(&[3]);
    steps.extend([
        Skip(199),
        At(200),
        // Window 9: 4 and 5 have left, so 12 and 13 may enter. Flight without them: 9.
        Sends(&[Data(9), Data(10), Data(11), Data(12), Data(13), Data(3)]),
        Window(4.0, 4.0),
        Pipe(6),
    ]);
    eight_of(40).with(|tcp| tcp.limited_transmit = true).play(&steps);
}

#[test]
fn a_lost_tail_is_rescued_once_recovery_has_moved_on() {
    let mut steps = up_to_150_ms(&[3, 8]);
    steps.extend([
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(3), Ack(3)]),
        At(200),
        Sends(&[Data(3)]),
        // Flight 6, window 3: there is room, but nothing that may be sent (NextSeg, rule 4: not before 3 is through).
        Pipe(2),
        Window(3.0, 3.0),
        At(250),
        Sends(&[Ack(8)]),
        At(300),
        Sends(&[Data(8)]),
        // In order and with nothing above: delayed.
        At(550),
        Sends(&[Ack(9)]),
        At(10_000),
    ]);
    let record = eight_of(8).with(|tcp| tcp.fin = false).play(&steps).record;
    assert_eq!((record.retransmits, record.timeouts), (2, 0));
}

#[test]
fn a_hole_below_what_is_sacked_is_filled_when_there_is_no_new_data() {
    let mut steps = up_to_150_ms(&[3, 6]);
    steps.extend([
        Sends(&[Ack(3), Ack(3), Ack(3), Ack(3), Ack(3)]),
        At(200),
        // SACKed 4, 5, 7, 8: only two above 6, but no data is left (NextSeg, rule 3).
        Sends(&[Data(3), Data(6)]),
        Window(3.0, 3.0),
        Pipe(3),
        At(250),
        Sends(&[Ack(6), Ack(9)]),
        At(300),
        // The acknowledgement of 3 to 5 leaves room: rule 4 repeats the last one missing, though rule 3 did.
        Sends(&[Data(6)]),
        At(10_000),
    ]);
    let record = eight_of(8).with(|tcp| tcp.fin = false).play(&steps).record;
    assert_eq!((record.retransmits, record.timeouts), (3, 0));
}

#[test]
fn a_timeout_forgets_what_was_sacked_and_learns_it_anew() {
    // The copies of 3 and 5 are lost too: the timer starts again at 3.
    let lost = [3, 3, 5, 5].map(|seq| Lose(Data(seq)));
    let steps = [
        Skip(199),
        At(200),
        Sends(&[Data(9), Data(10), Data(11), Data(3)]),
        At(250),
        Sends(&[Ack(3), Ack(3), Ack(3)]),
        At(300),
        Sends(&[Data(5), Data(12), Data(13)]),
        Skip(1199),
        At(1200),
        Sends(&[Data(3)]),
        At(1250),
        Blocks(&[&[(6, 30)]]),
        Sends(&[Ack(5)]),
        At(1300),
        // Window 2, of which 6 has come. The threshold is that of the recovery, not half of 27.
        Sends(&[Data(5)]),
        Window(2.0, 4.0),
        At(1350),
        Sends(&[Ack(30)]),
        At(1400),
        Sends(&[Data(30), Data(31), Data(32)]),
    ];
    let record = eight_of(40).play(&[&lost[..], &steps[..]].concat()).record;
    assert_eq!((record.retransmits, record.timeouts), (4, 1));
}

#[test]
fn recovery_and_window_rule_combine() {
    let mut steps = up_to_150_ms(&[3]);
    // CUBIC leaves 7/10 of a flight of nine (RFC 9438, 4.6): a segment more than halving within the round trip.
    steps.extend([Skip(200), Window(6.3, 6.3), Pipe(6)]);
    eight_of(40).with(|tcp| tcp.congestion = Congestion::Cubic).play(&steps);
}

#[test]
fn a_connection_without_loss_carries_no_blocks() {
    let steps = [
        Skip(99),
        At(100),
        Sends(&[Bare, Data(1), Data(2), Data(3), Data(4), Data(5), Data(6), Data(7), Data(8)]),
        At(150),
        Blocks(&[]),
        Sends(&[Ack(3), Ack(5), Ack(7), Ack(9)]),
    ];
    eight_of(40).play(&steps);
}
