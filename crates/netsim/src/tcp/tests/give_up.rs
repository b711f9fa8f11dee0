//! Retry limits: after so many repetitions of one segment its sender gives up (RFC 9293, 3.8.3; RFC 1122, 4.2.3.5).

use units::Time;

use super::Scene;
use super::Segment::{Data, Fin, FinAck, Open, Syn};
use super::Step::{self, At, Lose, Sends, Skip};

fn lost(segment: super::Segment, copies: usize) -> Vec<Step> {
    vec![Lose(segment); copies]
}

#[test]
fn a_syn_is_repeated_as_often_as_allowed() {
    let mut steps = lost(Syn, 9);
    let syn = Sends(&[Syn]);
    // The third timeout, after 12 s, finds no repetition left.
    steps.extend([At(0), syn, At(3000), syn, At(9000), syn, At(600_000)]);
    let record = Scene::of(10).with(|tcp| tcp.syn_retries = Some(2)).play(&steps).record;
    assert!(record.gave_up && record.finish == Time::NEVER);
    assert_eq!((record.packets_sent, record.timeouts), (3, 2));
}

#[test]
fn no_repetition_means_one_syn() {
    let mut steps = lost(Syn, 1);
    steps.extend([At(0), Sends(&[Syn]), At(600_000)]);
    assert!(Scene::of(10).with(|tcp| tcp.syn_retries = Some(0)).play(&steps).record.gave_up);
}

#[test]
fn a_receiver_gives_up_its_syn_too() {
    let mut steps = lost(Open, 9);
    let open = Sends(&[Open]);
    steps.extend([At(0), open, At(3000), open, At(600_000)]);
    let scene = Scene { receiver_opens: true, ..Scene::of(10).with(|tcp| tcp.syn_retries = Some(1)) };
    assert!(scene.play(&steps).record.gave_up);
}

#[test]
fn repetitions_are_counted_from_the_last_new_acknowledgement() {
    // Two copies of 1 are lost, then two of 3: never three in a row.
    let mut steps = [lost(Data(1), 2), lost(Data(3), 2)].concat();
    steps.push(Skip(60_000));
    let scene = |retries| Scene::of(10).with(|tcp| tcp.retries = Some(retries));
    let record = scene(2).play(&steps).record;
    assert!(!record.gave_up && record.finish != Time::NEVER);
    let record = scene(1).play(&steps).record;
    assert!(record.gave_up && record.finish == Time::NEVER);
    assert_eq!(record.timeouts, 1);
}

#[test]
fn a_fin_nobody_answers_is_given_up_with_all_data_delivered() {
    let mut steps = lost(FinAck, 40);
    steps.push(Skip(600_000));
    let record = Scene::of(3).with(|tcp| tcp.retries = Some(4)).play(&steps).record;
    assert!(record.gave_up && record.finish == Time::NEVER);
    assert_eq!(record.delivered_bytes, 3 * 1460);
    let mut steps = lost(Fin, 40);
    steps.push(Skip(600_000));
    assert!(Scene::of(3).with(|tcp| tcp.retries = Some(4)).play(&steps).record.gave_up);
}
