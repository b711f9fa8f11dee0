//! Contention step by step: times of 802.11a, SIFS 16, slot 9, DIFS 34 us; backoffs of 8, 7, 8, ... slots by turns.

use units::Time;

use super::dcf::{Access, Dcf};
use super::phy::{Channel, Standard};
use super::{AfterFailure, Category, Decrement, Immediate, Placement, Rules, Station, Wlan};

const STANDARD: Rules = Rules {
    eifs_after_collision: true,
    decrement: Decrement::IdleSlots,
    after_failure: AfterFailure::Timeout,
    immediate: Immediate::Idle,
    overtaken_draws: true,
    reply_finds_idle: false,
};

fn dcf(rules: Rules) -> Dcf {
    let standard = Standard::named("802.11a").expect("is there");
    let control = standard.control_mode(192, false);
    let data = standard.mode("54mbit", Channel::default(), false).expect("is there");
    let wlan = Wlan {
        stations: vec![Station { data, control, frame_error: 0.0 }; 3],
        slot: us(9),
        sifs: us(16),
        cca: us(4),
        ack_timeout: us(45),
        eifs_extra: us(60),
        categories: vec![Category { aifsn: 2, windows: [15, 1023], txop: Time::ZERO }],
        category_of: Vec::new(),
        overhead: 36,
        tries: [7, 4],
        rts_threshold: u32::MAX,
        rules,
        aggregation: None,
        placement: Placement::Shared,
        mean_backoff: true,
    };
    Dcf::of(&wlan, 4, 1)
}

fn us(micros: u64) -> Time {
    Time(micros * 1000)
}

/// Begins the next access: when, and of whom.
fn begin(dcf: &mut Dcf) -> (u64, Vec<usize>) {
    let now = dcf.next().expect("somebody waits");
    let mut accesses: Vec<Access> = Vec::new();
    dcf.begin(now, &mut accesses);
    (now.0 / 1000, accesses.iter().map(|access| access.contender).collect())
}

/// Contenders 0 and 1 draw 8 and 7 slots in a busy period that ends at 1000 us.
fn two(rules: Rules) -> Dcf {
    let mut dcf = dcf(rules);
    dcf.offer(2, us(500), false);
    assert_eq!(begin(&mut dcf), (500, vec![2]));
    dcf.offer(0, us(600), false);
    dcf.offer(1, us(700), false);
    dcf.end(us(1000), Time::ZERO);
    dcf
}

#[test]
fn a_frozen_backoff_goes_on_where_it_stopped() {
    let mut dcf = two(STANDARD);
    dcf.done(2, false);
    // 1000 + 34 + 7 x 9.
    assert_eq!(begin(&mut dcf), (1097, vec![1]));
    dcf.done(1, false);
    dcf.end(us(2000), Time::ZERO);
    // 7 of 8 slots have passed, and the one in which the other began is no idle one.
    assert_eq!(begin(&mut dcf), (2000 + 34 + 9, vec![0]));
}

#[test]
fn the_chain_counts_the_busy_slot_too() {
    let mut dcf = two(Rules { decrement: Decrement::EverySlot, ..STANDARD });
    dcf.done(2, false);
    assert_eq!(begin(&mut dcf), (1097, vec![1]));
    dcf.done(1, false);
    dcf.end(us(2000), Time::ZERO);
    assert_eq!(begin(&mut dcf), (2000 + 34, vec![0]));
}

#[test]
fn a_part_of_a_slot_is_lost() {
    let mut dcf = two(STANDARD);
    dcf.done(2, false);
    // A frame that finds the medium idle interrupts both in their third slot: 1034 + 20 us.
    dcf.offer(3, us(1054), false);
    assert_eq!(begin(&mut dcf), (1054, vec![3]));
    dcf.done(3, false);
    dcf.end(us(2000), Time::ZERO);
    // 5 slots left of 7.
    assert_eq!(begin(&mut dcf), (2000 + 34 + 5 * 9, vec![1]));
}

#[test]
fn who_could_not_read_a_frame_waits_eifs_and_its_sender_for_the_timeout() {
    for (after_failure, sender_begins) in [
        (AfterFailure::Timeout, 1045),
        (AfterFailure::TimeoutAndDifs, 1045 + 34),
        (AfterFailure::WithOthers, 1034),
        (AfterFailure::AfterAnswerTime, 1034),
    ] {
        let mut dcf = two(Rules { after_failure, ..STANDARD });
        dcf.end(us(1000), us(60));
        dcf.failed(2, us(1045));
        // The window has doubled: (31 + 1) / 2 slots; the other's 7 count from 1000 + 34 + 60.
        let sender_ends = sender_begins + 16 * 9;
        assert_eq!(begin(&mut dcf), (1094 + 7 * 9, vec![1]));
        dcf.done(1, false);
        dcf.end(us(2000), Time::ZERO);
        let passed = (1157 - sender_begins) / 9;
        assert_eq!(begin(&mut dcf), (2000 + 34 + 9, vec![0]));
        dcf.done(0, false);
        dcf.end(us(3000), Time::ZERO);
        let left = (sender_ends - sender_begins) / 9 - passed - 1;
        assert_eq!(begin(&mut dcf), (3000 + 34 + 9 * left, vec![2]));
    }
}

#[test]
fn a_frame_that_finds_the_medium_idle_goes_at_once() {
    for (immediate, at) in [(Immediate::Idle, 5000), (Immediate::Arrival, 5034), (Immediate::Never, 5072)] {
        let mut dcf = dcf(Rules { immediate, ..STANDARD });
        dcf.end(us(1000), Time::ZERO);
        dcf.offer(0, us(5000), false);
        assert_eq!(begin(&mut dcf), (at, vec![0]), "{immediate:?}");
    }
    // Less than DIFS after the last frame it waits for the rest, or for a whole one.
    for (immediate, at) in [(Immediate::Idle, 1034), (Immediate::Arrival, 1054)] {
        let mut dcf = dcf(Rules { immediate, ..STANDARD });
        dcf.end(us(1000), Time::ZERO);
        dcf.offer(0, us(1020), false);
        assert_eq!(begin(&mut dcf), (at, vec![0]), "{immediate:?}");
    }
}

#[test]
fn one_overtaken_within_difs_draws_unless_a_rule_spares_it() {
    for (overtaken_draws, slots) in [(true, 8), (false, 0)] {
        let mut dcf = dcf(Rules { immediate: Immediate::Arrival, overtaken_draws, ..STANDARD });
        dcf.offer(0, us(500), false);
        dcf.offer(1, us(520), false);
        assert_eq!(begin(&mut dcf), (534, vec![0]));
        dcf.done(0, false);
        dcf.end(us(1000), Time::ZERO);
        let first = if overtaken_draws { slots } else { 0 };
        assert_eq!(begin(&mut dcf), (1034 + 9 * first, vec![1]));
    }
}

#[test]
fn a_reply_may_find_the_medium_idle() {
    for (reply_finds_idle, slots) in [(true, 0), (false, 8)] {
        let mut dcf = dcf(Rules { reply_finds_idle, ..STANDARD });
        dcf.offer(0, us(500), false);
        begin(&mut dcf);
        dcf.offer(1, us(748), true);
        dcf.end(us(792), Time::ZERO);
        dcf.done(0, false);
        assert_eq!(begin(&mut dcf), (792 + 34 + 9 * slots, vec![1]));
    }
}

#[test]
fn a_backoff_after_a_frame_runs_without_another() {
    let mut dcf = dcf(STANDARD);
    dcf.offer(0, us(500), false);
    begin(&mut dcf);
    dcf.done(0, false);
    dcf.end(us(800), Time::ZERO);
    // 8 slots from 834 on; a frame in their middle waits for the rest, one after them goes at once.
    dcf.offer(0, us(850), false);
    assert_eq!(dcf.next(), Some(us(834 + 72)));
    begin(&mut dcf);
    dcf.done(0, false);
    dcf.end(us(1200), Time::ZERO);
    dcf.offer(0, us(1234 + 63), false);
    assert_eq!(dcf.next(), Some(us(1234 + 63)));
}

#[test]
fn a_retry_limit_brings_the_small_window_back() {
    let mut dcf = dcf(STANDARD);
    dcf.offer(0, us(500), false);
    let mut slots = Vec::new();
    for round in 1..=9 {
        begin(&mut dcf);
        let ends = us(1000 * 20 * round);
        dcf.end(ends, Time::ZERO);
        if round == 8 {
            dcf.done(0, true)
        } else {
            dcf.failed(0, ends)
        }
        slots.push((dcf.next().expect("waits").0 - ends.0 - 34_000) / 9000);
    }
    // Means of 31, 63, ..., rounded up and down by turns; no more than 1023; then 15, then 31.
    assert_eq!(slots, [16, 31, 64, 127, 256, 511, 512, 7, 16]);
}
