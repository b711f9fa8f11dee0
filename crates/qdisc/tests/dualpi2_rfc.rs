//! DualPI2 against RFC 9332: a literal transcription of the pseudocode of its Appendix A with a timer,
//! on random traffic; and traces worked out by hand from the line each test names.
//!
//! Nothing is random: `recur` chooses a packet whenever the sum of the likelihoods exceeds 1.
#![allow(missing_docs)]

use std::collections::VecDeque;

use qdisc::{DropReason, Ecn, Kind, Limit, Packet, Qdisc};
use units::{FlowKey, Stream, Time};

const MS: u64 = 1_000_000;

fn packet(handle: u64, len: u32, ecn: Ecn) -> Packet {
    Packet {
        flow: FlowKey(2),
        handle,
        progress: 0,
        remaining: 0,
        arrival: Time::ZERO,
        len,
        src: 0,
        dst: 0,
        options: 0,
        mark: 0,
        kind: Kind::Udp,
        ecn,
    }
}

fn dualpi2(options: &[&str]) -> Qdisc {
    let split = |option: &&str| option.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let options: Vec<_> = options.iter().filter_map(split).collect();
    Qdisc::from_options("dualpi2", &options, Limit::Packets(100_000), Stream::named(1, "dualpi2")).expect("valid")
}

/// What became of packets, by number in their queue, from 1.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    marked: Vec<u64>,
    dropped: Vec<u64>,
}

/// A queue whose base probability is `base` from 32 ms to 48 ms: at the updates of 16 and 32 ms a
/// packet of C has waited 16 and 32 ms, the target is 16 ms. Arriving with it, C gets 30 packets with
/// the field `classic`. L packets come with delays of their own.
fn at_base(base: f64, classic: Ecn, options: &[&str]) -> Qdisc {
    let alpha = format!("alpha={}", base / 0.016);
    let mut queue = dualpi2(&[&[&*alpha, "beta=0", "target=0.016"], options].concat());
    for handle in 1..=30 {
        queue.enqueue(packet(handle, 1000, classic), Time::ZERO);
    }
    queue
}

/// Lets `count` packets of L, if `low_delay`, or of C through at `at` ms.
fn outcome(queue: &mut Qdisc, low_delay: bool, at: u64, count: u64) -> Outcome {
    let mut outcome = Outcome::default();
    let is_of_interest = |packet: &Packet| (packet.handle > 1000) == low_delay;
    loop {
        let sent = queue.dequeue(Time(at * MS));
        for &(dropped, reason) in queue.dropped() {
            assert_eq!(reason, DropReason::Early);
            if is_of_interest(&dropped) {
                outcome.dropped.push(dropped.handle % 1000);
            }
        }
        let Some(sent) = sent else { return outcome };
        if is_of_interest(&sent) && sent.ecn == Ecn::Ce {
            outcome.marked.push(sent.handle % 1000);
        }
        if is_of_interest(&sent) && sent.handle % 1000 >= count {
            return outcome;
        }
    }
}

/// `count` packets of L that arrive at `at` ms.
fn low_delay(queue: &mut Qdisc, at: f64, count: u64) {
    for handle in 1001..=1000 + count {
        queue.enqueue(packet(handle, 1000, Ecn::Ect1), Time((at * 1e6) as u64));
    }
}

#[test]
fn figure_3_the_last_bit_of_the_ecn_field_sorts() {
    let mut queue = dualpi2(&[]);
    let sorted = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce].map(|ecn| {
        queue.enqueue(packet(0, 1000, ecn), Time::ZERO);
        queue.sorted().map(|sorted| sorted.high)
    });
    assert_eq!(sorted, [Some(false), Some(false), Some(true), Some(true)]);
    assert_eq!(queue.high_backlog(), Some(2));
    assert_eq!(queue.dequeue(Time::ZERO).map(|packet| packet.ecn), Some(Ecn::Ect1), "L goes first");
}

#[test]
fn figure_4_classic_packets_are_dropped_by_the_square_of_the_base() {
    // p_C = 0.4^2: 0.16 n > 1 at the 7th, then from 0.12 at the 13th, from 0.08 at the 19th.
    let dropped = outcome(&mut at_base(0.4, Ecn::NotEct, &[]), false, 32, 20);
    assert_eq!(dropped, Outcome { marked: vec![], dropped: vec![7, 13, 19] });
    let marked = outcome(&mut at_base(0.4, Ecn::Ect0, &[]), false, 32, 20);
    assert_eq!(marked, Outcome { marked: vec![7, 13, 19], dropped: vec![] }, "line 16");
}

#[test]
fn figure_6_the_low_delay_queue_is_marked_by_the_base_times_the_coupling() {
    // p_CL = 2 * 0.35: sums 0.7 1.4 1.1 0.8 1.5 1.2 0.9 1.6 1.3, less 1 after each mark.
    let mut queue = at_base(0.35, Ecn::NotEct, &[]);
    low_delay(&mut queue, 32.0, 20);
    let outcome_l = outcome(&mut queue, true, 32, 9);
    assert_eq!(outcome_l, Outcome { marked: vec![2, 3, 5, 6, 8, 9], dropped: vec![] });
    // k = 1: p_CL = 0.35: 0.35 0.7 1.05 0.4 0.75 1.1 0.45 0.8 1.15.
    let mut queue = at_base(0.35, Ecn::NotEct, &["coupling=1"]);
    low_delay(&mut queue, 32.0, 20);
    assert_eq!(outcome(&mut queue, true, 32, 9).marked, [3, 6, 9]);
}

#[test]
fn figure_5_low_delay_packets_are_marked_for_their_own_delay() {
    // No base probability; ten packets that waited 0.8, 0.9, 1 and 1.2 ms: 0, 0.25, 0.5 and 1.
    let marked = |delay: f64, options: &[&str]| {
        let mut queue = dualpi2(&[&["alpha=0", "beta=0"], options].concat());
        low_delay(&mut queue, 10.0 - delay, 10);
        outcome(&mut queue, true, 10, 9).marked
    };
    assert_eq!([marked(0.8, &[]), marked(0.9, &[])], [vec![], vec![5, 9]]);
    assert_eq!([marked(1.0, &[]), marked(1.2, &[])], [vec![3, 5, 7, 9], vec![2, 3, 4, 5, 6, 7, 8, 9]]);
    // Note c: a step.
    let step = ["l_threshold=0.001", "l_range=0"];
    assert_eq!([marked(0.999, &step), marked(1.0, &step)], [vec![], vec![2, 3, 4, 5, 6, 7, 8, 9]]);
}

#[test]
fn figure_7_line_5_a_packet_alone_is_not_marked_for_its_delay() {
    let marked = |options: &[&str]| {
        let mut queue = dualpi2(options);
        low_delay(&mut queue, 0.0, 5);
        outcome(&mut queue, true, 5, 5).marked
    };
    assert_eq!(marked(&[]), [2, 3, 4]);
    assert_eq!(marked(&["l_packets=0"]), [2, 3, 4, 5]);
    assert_eq!(marked(&["l_packets=3"]), [2]);
}

#[test]
fn figure_7_line_6_the_larger_of_native_and_coupled_counts() {
    // p' = 0.2: p_CL = 0.4, p'_L = 0.5 after 1 ms.
    let mut queue = at_base(0.2, Ecn::NotEct, &[]);
    low_delay(&mut queue, 31.0, 20);
    assert_eq!(outcome(&mut queue, true, 32, 9).marked, [3, 5, 7, 9]);
}

#[test]
fn figure_7_line_8_a_saturated_low_delay_queue_loses_what_the_classic_one_loses() {
    // p' = 0.6: p_CL = 1.2, p_C = 0.36: 1.08 at the third, 1.16, 1.24 and 1.32 at the next thirds.
    let mut queue = at_base(0.6, Ecn::NotEct, &[]);
    low_delay(&mut queue, 32.0, 30);
    let outcome_l = outcome(&mut queue, true, 32, 13);
    assert_eq!(outcome_l, Outcome { marked: vec![1, 2, 4, 5, 7, 8, 10, 11, 13], dropped: vec![3, 6, 9, 12] });
}

#[test]
fn figure_7_line_12b_overload_turns_marks_of_classic_packets_into_drops() {
    // p_C = 0.36 is above p_Cmax = 1 / 2^2; with k = 1 it is below 1.
    let saturated = outcome(&mut at_base(0.6, Ecn::Ect0, &[]), false, 32, 13);
    assert_eq!(saturated, Outcome { marked: vec![], dropped: vec![3, 6, 9, 12] });
    let below = outcome(&mut at_base(0.6, Ecn::Ect0, &["coupling=1"]), false, 32, 13);
    assert_eq!(below, Outcome { marked: vec![3, 6, 9, 12], dropped: vec![] });
}

#[test]
fn figure_8_line_2a_the_low_delay_queue_alone_raises_the_base_probability() {
    let mut queue = dualpi2(&["alpha=37.5", "beta=0", "target=0.016"]);
    low_delay(&mut queue, 0.0, 30);
    // The same 0.6 as above, without a packet of C.
    assert_eq!(outcome(&mut queue, true, 32, 13).dropped, [3, 6, 9, 12]);
}

#[test]
fn section_4_2_2_the_classic_queue_keeps_its_share_of_the_link() {
    let sent = |options: &[&str], l_len| {
        let mut queue = dualpi2(options);
        for handle in 0..2000 {
            queue.enqueue(packet(handle, l_len, Ecn::Ect1), Time::ZERO);
            queue.enqueue(packet(handle, 1500, Ecn::NotEct), Time::ZERO);
        }
        let of_classic = |_| queue.dequeue(Time::ZERO).is_some_and(|packet| packet.ecn == Ecn::NotEct);
        (0..1600).map(of_classic).collect::<Vec<bool>>()
    };
    let classic = |sent: &[bool]| sent.iter().filter(|&&classic| classic).count();
    let sent_by_default = sent(&[], 1500);
    assert!(!sent_by_default[0], "L first");
    // One of 16, and never more than 15 of L in between.
    assert_eq!(classic(&sent_by_default), 100);
    assert!(sent_by_default[1..].windows(16).all(|window| classic(window) == 1));
    // Three short ones of L have the bytes of a long one: one of 46.
    assert_eq!(classic(&sent(&[], 500)), 1600_usize.div_ceil(46));
    // One of two.
    assert_eq!(classic(&sent(&["l_weight=1"], 1500)), 800);
}

#[test]
fn less_than_two_packets_are_no_congestion() {
    // Appendix A.1, the reference implementation; p' = 1.
    let mut queue = at_base(1.0, Ecn::NotEct, &["mtu=1500"]);
    let outcome = outcome(&mut queue, false, 32, 30);
    // p_C = 1: the sum exceeds 1 at the second packet. 2000 bytes wait from the 29th on.
    assert_eq!(outcome.dropped, (2..=28).collect::<Vec<u64>>());
}

/// Figures 2 to 8 as they stand, with the round robin of the discipline's page and its two additions
/// of the reference implementation.
struct Rfc9332 {
    lq: VecDeque<(u64, Ecn)>,
    cq: VecDeque<(u64, Ecn)>,
    lq_count: f64,
    cq_count: f64,
    credit: i64,
    p: f64,
    prevq: f64,
    next_update: u64,
}

const K: f64 = 2.0;
const LEN: u64 = 1500;

fn recur(count: &mut f64, likelihood: f64) -> bool {
    *count += likelihood;
    if *count > 1.0 {
        *count -= 1.0;
        return true;
    }
    false
}

fn laqm(qdelay: f64) -> f64 {
    let (min_th, range) = (800e-6, 400e-6);
    if qdelay >= min_th + range {
        1.0
    } else if qdelay > min_th {
        (qdelay - min_th) / range
    } else {
        0.0
    }
}

impl Rfc9332 {
    fn timer(&mut self, now: u64) {
        while self.next_update <= now {
            let at = self.next_update;
            let time = |q: &VecDeque<(u64, Ecn)>| q.front().map_or(0.0, |&(arrival, _)| (at - arrival) as f64 * 1e-9);
            let curq = time(&self.cq).max(time(&self.lq));
            self.p = (self.p + (0.16 * (curq - 0.015) + 3.2 * (curq - self.prevq))).clamp(0.0, 1.0);
            self.prevq = curq;
            self.next_update += 16 * MS;
        }
    }

    fn scheduler_is_lq(&self) -> bool {
        if self.lq.is_empty() || self.cq.is_empty() { !self.lq.is_empty() } else { self.credit <= 0 }
    }

    /// The packet handed out and those dropped: arrival, and the ECN field it has then.
    fn dequeue(&mut self, now: u64, events: &mut Vec<(&'static str, u64, Ecn)>) {
        self.timer(now);
        while !self.lq.is_empty() || !self.cq.is_empty() {
            let is_contended = !self.lq.is_empty() && !self.cq.is_empty();
            let is_short = (self.lq.len() + self.cq.len()) as u64 * LEN < 2 * 1500;
            let p = if is_short { 0.0 } else { self.p };
            let (p_cl, p_c) = (p * K, p * p);
            let is_lq = self.scheduler_is_lq();
            let (arrival, mut ecn);
            if is_lq {
                let len = self.lq.len();
                (arrival, ecn) = self.lq.pop_front().expect("scheduled");
                if p_cl < 1.0 {
                    let native = if len > 1 { laqm((now - arrival) as f64 * 1e-9) } else { 0.0 };
                    if recur(&mut self.lq_count, native.max(p_cl)) {
                        ecn = Ecn::Ce;
                    }
                } else {
                    if recur(&mut self.lq_count, p_c) {
                        events.push(("dropped", arrival, ecn));
                        continue;
                    }
                    ecn = Ecn::Ce;
                }
            } else {
                (arrival, ecn) = self.cq.pop_front().expect("scheduled");
                if recur(&mut self.cq_count, p_c) {
                    if ecn == Ecn::NotEct || p_c >= 1.0 / (K * K) {
                        events.push(("dropped", arrival, ecn));
                        continue;
                    }
                    ecn = Ecn::Ce;
                }
            }
            if is_contended {
                self.credit += if is_lq { LEN as i64 } else { -15 * LEN as i64 };
            }
            if self.lq.is_empty() && self.cq.is_empty() {
                self.credit = 0;
            }
            events.push(("sent", arrival, ecn));
            return;
        }
    }
}

#[test]
fn random_traffic_has_the_fate_of_the_pseudocode() {
    let mut queue = dualpi2(&[]);
    let mut rfc = Rfc9332 {
        lq: VecDeque::new(),
        cq: VecDeque::new(),
        lq_count: 0.0,
        cq_count: 0.0,
        credit: 0,
        p: 0.0,
        prevq: 0.0,
        next_update: 16 * MS,
    };
    let mut rng = Stream::named(5, "traffic");
    let (mut now, mut busy_until, mut load, mut share) = (0, 0, 0.0, 0.0);
    let (mut marked, mut dropped) = ([0; 2], [0; 2]);
    for n in 0..100_000_u64 {
        if n.is_multiple_of(1000) {
            load = [0.5, 1.05, 1.2, 1.6, 2.5][(rng.bits() % 5) as usize];
            share = [0.0, 0.2, 0.5, 0.8, 1.0][(rng.bits() % 5) as usize];
            now += if rng.bits().is_multiple_of(3) { rng.bits() % (2000 * MS) } else { 0 };
        }
        now += 1 + (rng.uniform() * 2.0 * 300_000.0 / load) as u64;
        while busy_until <= now && queue.backlog() > 0 {
            let oldest = [&rfc.lq, &rfc.cq].into_iter().filter_map(|q| q.front()).map(|&(arrival, _)| arrival).min();
            let at = busy_until.max(oldest.expect("a packet waits"));
            busy_until = at + 300_000;
            let mut expected = Vec::new();
            rfc.dequeue(at, &mut expected);
            let sent = queue.dequeue(Time(at));
            let mut events: Vec<_> = queue.dropped().iter().map(|(p, _)| ("dropped", p.arrival.0, p.ecn)).collect();
            events.extend(sent.map(|p| ("sent", p.arrival.0, p.ecn)));
            assert_eq!(events, expected, "at {at}");
            for (what, _, ecn) in events {
                dropped[usize::from(ecn == Ecn::Ect1)] += u32::from(what == "dropped");
                marked[0] += u32::from(what == "sent" && ecn == Ecn::Ce);
            }
        }
        let is_l = rng.uniform() < share;
        let ecn = if is_l { Ecn::Ect1 } else { [Ecn::Ect0, Ecn::NotEct][(n % 2) as usize] };
        queue.enqueue(packet(n, LEN as u32, ecn), Time(now));
        rfc.timer(now);
        if is_l { &mut rfc.lq } else { &mut rfc.cq }.push_back((now, ecn));
    }
    marked[1] = queue.stats().marked as u32;
    assert!(
        dropped.iter().all(|&count| count > 1000) && marked[0] == marked[1] && marked[0] > 5000,
        "{dropped:?} {marked:?}"
    );
}
