//! The pseudocode of RFC 9002, appendices A and B, case by case.

use units::Time;

use super::rtt::Rtt;
use super::space::{Heard, Numbers, Sent};
use super::window::{News, Window};
use crate::tcp::sender::tests::tcp as rfc;
use crate::tcp::settings::{Congestion, Recovery, Tcp};
use crate::wire::frames::{Frames, Space, StreamFrame};

const UNIT: u64 = 1350;

fn ms(ms: u64) -> Time {
    Time::from_millis(ms)
}

fn tcp() -> Tcp {
    Tcp {
        header: 63,
        mss: 1315,
        initial_window: 10,
        initial_rto: ms(999),
        min_rto: ms(1),
        tick: ms(1),
        delayed_ack: ms(25),
        fin: false,
        recovery: Recovery::Quic,
        byte_counting: true,
        ..rfc()
    }
}

/// A sender's space, of which packet `n` was sent at the `n`-th of the times.
fn sent(times: impl IntoIterator<Item = Time>) -> Numbers {
    let mut numbers = Numbers::default();
    for at in times {
        let frames = Frames { space: Space::Data, number: numbers.next(), eliciting: true, ..Frames::default() };
        numbers.on_sent(Sent::of(&frames, UNIT as u32, at));
    }
    numbers
}

/// A round-trip time of 100 ms, sampled once.
fn known() -> Rtt {
    let mut rtt = Rtt::unknown(&tcp());
    rtt.sample(ms(100), Time::ZERO, None, Time::ZERO);
    rtt
}

fn numbers_of(packets: &[(u64, Sent)]) -> Vec<u64> {
    packets.iter().map(|&(number, _)| number).collect()
}

/// Takes an acknowledgement of `ranges` at `now`: newly acknowledged, newly lost, and when the next will be.
fn hear(numbers: &mut Numbers, ranges: &[(u64, u64)], now: Time) -> (Vec<u64>, Vec<u64>, Time) {
    let mut heard = Heard::default();
    numbers.on_ack(ranges, &mut heard);
    numbers.find_lost(&known(), now, &tcp(), &mut heard);
    numbers.tidy();
    (numbers_of(&heard.acknowledged), numbers_of(&heard.lost), numbers.loss_time)
}

/// A.10: kPacketThreshold is 3.
#[test]
fn three_packets_behind_make_a_loss_and_two_do_not() {
    let mut numbers = sent([ms(0); 6]);
    assert_eq!(hear(&mut numbers, &[(2, 3)], ms(50)).1, [0; 0]);
    let (acknowledged, lost, next) = hear(&mut numbers, &[(2, 4)], ms(51));
    assert_eq!((acknowledged, lost), (vec![3], vec![0]));
    // Packet 1 has two behind it: 9/8 of 100 ms after it left it is lost by time.
    assert_eq!(next, Time(112_500_000));
    assert_eq!((numbers.outstanding, numbers.bytes), (3, 3 * UNIT));
}

/// A.10: kTimeThreshold is 9/8.
#[test]
fn a_packet_before_one_acknowledged_is_lost_after_nine_eighths_of_a_round_trip() {
    let mut numbers = sent([ms(0), ms(1)]);
    assert_eq!(hear(&mut numbers, &[(1, 2)], ms(101)).1, [0; 0]);
    let mut heard = Heard::default();
    numbers.find_lost(&known(), Time(112_499_999), &tcp(), &mut heard);
    assert!(heard.lost.is_empty());
    numbers.find_lost(&known(), Time(112_500_000), &tcp(), &mut heard);
    assert_eq!((numbers_of(&heard.lost), numbers.loss_time), (vec![0], Time::NEVER));
}

#[test]
fn what_was_not_acknowledged_by_something_later_is_never_lost() {
    let mut numbers = sent([ms(0); 4]);
    assert_eq!(hear(&mut numbers, &[(0, 1)], ms(10_000)).1, [0; 0]);
    assert_eq!(numbers.outstanding, 3);
}

/// A.7: the first sample; the peer's delay is taken off, as far as that leaves the smallest; the smallest has none.
#[test]
fn the_delay_of_acknowledgements_is_taken_off_the_samples() {
    let mut rtt = Rtt::unknown(&tcp());
    assert_eq!((rtt.smoothed, rtt.var, rtt.timeout(&tcp())), (ms(333), Time(166_500_000), ms(999)));
    rtt.sample(ms(80), ms(20), None, ms(80));
    assert_eq!((rtt.smoothed, rtt.var, rtt.min, rtt.first_sample), (ms(80), ms(40), ms(80), ms(80)));
    // 120 - 20 = 100: 7/8 of 80 and 1/8 of 100; 3/4 of 40 and 1/4 of 20.
    rtt.sample(ms(120), ms(20), None, ms(200));
    assert_eq!((rtt.smoothed, rtt.var, rtt.min, rtt.latest), (Time(82_500_000), ms(35), ms(80), ms(120)));
    // 90 - 20 would be below the smallest.
    let before = rtt;
    rtt.sample(ms(90), ms(20), None, ms(300));
    assert_eq!(rtt.smoothed, Time((7 * before.smoothed.0 + ms(90).0) / 8));
    // A peer may not claim more than it promised.
    let mut bounded = before;
    bounded.sample(ms(200), ms(90), Some(ms(25)), ms(300));
    assert_eq!(bounded.smoothed, Time((7 * before.smoothed.0 + ms(175).0) / 8));
    // 6.2.1: four times a deviation that is gone is at least the granularity.
    let mut steady = Rtt::unknown(&tcp());
    (0..200).for_each(|_| steady.sample(ms(50), Time::ZERO, None, ms(1)));
    assert_eq!(steady.timeout(&tcp()), ms(51));
}

/// 7.6.1 and 7.6.2: three probe timeouts, with the peer's delay.
#[test]
fn congestion_is_persistent_when_all_is_lost_for_three_timeouts() {
    let rtt = known();
    let duration = rtt.persistent(&tcp());
    assert_eq!(duration, ms(3 * (100 + 4 * 50 + 25)));
    let lost_of = |times: [Time; 5], acknowledged: &[(u64, u64)]| {
        let mut numbers = sent(times);
        let mut heard = Heard::default();
        numbers.on_ack(acknowledged, &mut heard);
        numbers.find_lost(&rtt, ms(60_000), &tcp(), &mut heard);
        numbers.is_persistent(duration, ms(1), heard.lost.first().map_or(u64::MAX, |&(number, _)| number))
    };
    let end = |after: u64| ms(10) + duration + Time(after) - Time(1);
    assert!(lost_of([ms(10), ms(20), ms(30), end(1), end(2)], &[(4, 5)]));
    assert!(!lost_of([ms(10), ms(20), ms(30), end(0), end(2)], &[(4, 5)]));
    // One in between came.
    assert!(!lost_of([ms(10), ms(20), ms(30), end(1), end(2)], &[(4, 5), (1, 2)]));
    // The first was sent before there was a sample of the round-trip time.
    assert!(!lost_of([ms(0), ms(20), ms(30), end(1), end(2)], &[(4, 5)]));
}

/// A window of RFC 9002, and packets that are acknowledged or lost, all sent at `at`.
fn told(window: &mut Window, acknowledged: u64, lost: u64, at: Time, now: Time) -> bool {
    let packet = |number| {
        let streams = vec![StreamFrame { stream: 0, start: 0, end: 1 }];
        let frames = Frames { space: Space::Data, number, eliciting: true, streams, ..Frames::default() };
        (number, Sent::of(&frames, UNIT as u32, at))
    };
    let acknowledged: Vec<_> = (0..acknowledged).map(packet).collect();
    let lost: Vec<_> = (0..lost).map(packet).collect();
    let news = News {
        acknowledged: &acknowledged,
        lost: &lost,
        marked: 0,
        open: (100, 200),
        in_flight: (50, 40),
        persistent: false,
    };
    window.on_news(&news, &known(), now, &tcp())
}

/// B.5 and B.6: slow start, a halving once per round trip, no growth by what was sent before it, a datagram per window.
#[test]
fn new_reno_grows_and_halves_once_for_what_was_under_way() {
    let mut window = Window::idle(&tcp(), UNIT);
    assert_eq!(window.bytes(), 10 * UNIT);
    told(&mut window, 10, 0, ms(0), ms(100));
    assert_eq!(window.bytes(), 20 * UNIT);
    assert!(told(&mut window, 0, 1, ms(50), ms(200)));
    assert_eq!((window.bytes(), window.control.ssthresh), (10 * UNIT, 10.0));
    assert!(!told(&mut window, 3, 2, ms(199), ms(250)));
    assert_eq!(window.bytes(), 10 * UNIT);
    told(&mut window, 10, 0, ms(201), ms(300));
    // Ten datagrams in a window that grows from ten on: a little less than one.
    assert!((window.control.cwnd - 11.0).abs() < 0.05, "{}", window.control.cwnd);
    assert!(told(&mut window, 0, 1, ms(201), ms(310)));
}

/// 7.8: who does not use the window does not open it.
#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut window = Window::idle(&tcp(), UNIT);
    window.on_idle(3);
    told(&mut window, 3, 0, ms(0), ms(100));
    assert_eq!(window.bytes(), 10 * UNIT);
}

/// 7.6.2: the smallest window, two datagrams; and the threshold stays.
#[test]
fn persistent_congestion_leaves_two_datagrams() {
    for congestion in [Congestion::Aimd, Congestion::Cubic] {
        let tcp = Tcp { congestion, ..tcp() };
        let mut window = Window::idle(&tcp, UNIT);
        told(&mut window, 30, 0, ms(0), ms(100));
        let news = News { acknowledged: &[], lost: &[], marked: 0, open: (0, 1), in_flight: (0, 0), persistent: true };
        window.on_news(&news, &known(), ms(2000), &tcp);
        assert_eq!(window.bytes(), 2 * UNIT);
    }
}

/// RFC 9000, 13.2: every second packet at once, one alone after the delay, one behind a gap at once.
#[test]
fn acknowledgements_wait_for_a_second_packet_or_the_delay_and_not_behind_a_gap() {
    let mut numbers = Numbers::default();
    let mut due = |number, at, marked| {
        let frames = Frames { space: Space::Data, number, eliciting: true, ..Frames::default() };
        numbers.on_received(&frames, true, marked, at, &tcp());
        let due = numbers.ack_due;
        if due <= at {
            numbers.acknowledge(&mut Frames::default(), at);
        }
        due
    };
    assert_eq!(due(0, ms(0), false), ms(25));
    assert_eq!(due(1, ms(10), false), ms(10));
    assert_eq!(due(2, ms(20), false), ms(45));
    assert_eq!(due(4, ms(21), false), ms(21));
    assert_eq!(due(3, ms(22), false), ms(22));
    assert_eq!(due(5, ms(23), true), ms(23));
    // The draft of ACK frequency: fewer acknowledgements.
    let mut numbers = Numbers::default();
    let tcp = Tcp { ack_every: 10, ..tcp() };
    let found: Vec<u64> = (0..40)
        .filter(|&number| {
            let frames = Frames { space: Space::Data, number, eliciting: true, ..Frames::default() };
            numbers.on_received(&frames, false, false, ms(1), &tcp);
            let now = numbers.ack_due <= ms(1);
            if now {
                numbers.acknowledge(&mut Frames::default(), ms(1));
            }
            now
        })
        .collect();
    assert_eq!(found, [9, 19, 29, 39]);
}

#[test]
fn a_packet_counts_once_however_often_it_comes() {
    let mut numbers = Numbers::default();
    let mut takes = |number| {
        let frames = Frames { space: Space::Data, number, eliciting: true, ..Frames::default() };
        numbers.on_received(&frames, false, false, ms(1), &tcp())
    };
    assert!(takes(1) && takes(0) && !takes(1) && !takes(0));
    // Every other number: beyond 32 ranges the lowest are forgotten, and count as received.
    assert!((1..100).all(|n| takes(1 + 2 * n)));
    assert!(!takes(2) && takes(198));
}
