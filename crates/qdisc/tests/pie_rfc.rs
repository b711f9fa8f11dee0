//! PIE against RFC 8033: a literal transcription of its pseudocode with a timer, on random traffic;
//! and traces whose decisions are worked out by hand from the clause each test names.
//!
//! Where a decision is random, thousands of packets that arrive at one instant meet one probability:
//! their share is known to four standard deviations.
#![allow(missing_docs)]

use std::collections::VecDeque;

use qdisc::{DropReason, Ecn, Fate, Kind, Limit, Packet, Qdisc};
use units::{FlowKey, Stream, Time};

const MS: u64 = 1_000_000;

fn stream() -> Stream {
    Stream::named(11, "pie")
}

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

/// A PIE queue, and steps at times in ms.
struct Trace(Qdisc);

impl Trace {
    fn of(options: &[&str]) -> Trace {
        let split = |option: &&str| option.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        let options: Vec<_> = options.iter().filter_map(split).collect();
        Trace(Qdisc::from_options("pie", &options, Limit::Packets(1_000_000), stream()).expect("valid options"))
    }

    fn offer(&mut self, at: u64, ecn: Ecn) -> Fate {
        self.0.enqueue(packet(0, 1000, ecn), Time(at * MS))
    }

    /// Dropped of `count` packets that arrive at `at`.
    fn dropped(&mut self, at: u64, count: u32) -> u32 {
        (0..count).filter(|_| self.offer(at, Ecn::NotEct) != Fate::Queued).count() as u32
    }

    /// Departure at `at` of a packet that waited `delay`.
    fn leaves(&mut self, at: u64, delay: u64) {
        let left = self.0.dequeue(Time(at * MS)).expect("a packet waits");
        assert_eq!(left.arrival, Time((at - delay) * MS), "the trace is wrong");
    }

    /// Departures at `at` up to the one that waited `delay`.
    fn leave_until(&mut self, at: u64, delay: u64) {
        let arrival = Time((at - delay) * MS);
        while self.0.dequeue(Time(at * MS)).expect("a packet waits").arrival != arrival {}
    }

    /// Checks that `share` of 10 000 packets that arrive at `at` are dropped.
    fn expect_share(&mut self, at: u64, share: f64) {
        let dropped = f64::from(self.dropped(at, 10_000));
        let deviation = (10_000.0 * share * (1.0 - share)).sqrt();
        assert!((dropped - 10_000.0 * share).abs() <= 4.0 * deviation, "{dropped} instead of {share}");
    }
}

/// Independent drops, no burst allowance, and none of the step that the RFC does not have.
const PLAIN: [&str; 3] = ["derandomize=off", "burst=0", "high_delay=1e6"];

fn with<'a>(options: &[&'a str]) -> Vec<&'a str> {
    [&PLAIN, options].concat()
}

#[test]
fn section_4_4_no_drop_during_the_burst_allowance() {
    // Target 5 ms, delay 10 ms: alpha 1000 * 5 ms = 5 per update, divided by 2048, then by 8, then
    // capped at 0.02: 0.00244, 0.62744, 0.64744 and so on.
    let mut trace = Trace::of(&["derandomize=off", "alpha=1000", "beta=0", "target=0.005"]);
    assert_eq!(trace.dropped(0, 100), 0);
    trace.leaves(10, 10);
    // The tenth update, at 150 ms, ends the allowance of 150 ms.
    assert_eq!(trace.dropped(149, 1000), 0);
    trace.expect_share(150, 5.0 / 2048.0 + 5.0 / 8.0 + 8.0 * 0.02);
}

#[test]
fn section_4_4_the_allowance_is_renewed_when_congestion_has_ended() {
    let mut trace = Trace::of(&["derandomize=off", "alpha=1000", "beta=0", "target=0.005"]);
    trace.dropped(0, 100);
    trace.leaves(10, 10);
    trace.dropped(150, 100);
    // One that waited 1 ms leaves at 151 ms: 1000 * -4 ms takes the probability to zero at 165 ms.
    trace.leave_until(151, 1);
    assert_eq!(trace.dropped(165, 100), 0);
    trace.leave_until(175, 10);
    // From there a new allowance: ten updates, the last one at 315 ms.
    assert_eq!(trace.dropped(314, 1000), 0);
    assert!(trace.dropped(315, 1000) > 700);
}

#[test]
fn section_4_1_no_drop_at_low_delay_and_probability() {
    // alpha 50, target 5 ms, delay 10 ms: 0.25 per update, over 2048, 128, 8, 2 as the probability
    // grows, then 0.02: 0.00012 (15 ms), 0.0020, 0.0332, 0.1582 (60 ms), 0.1782 and so on.
    let grown = 0.25 / 2048.0 + 0.25 / 32.0 + 0.25 / 8.0 + 0.25 / 2.0;
    let mut trace = Trace::of(&with(&["alpha=50", "beta=0", "target=0.005"]));
    trace.dropped(0, 100);
    trace.leaves(10, 10);
    // 13 more updates, the last one at 255 ms.
    trace.expect_share(255, grown + 13.0 * 0.02);
    // One that waited 2 ms, less than half the target, leaves at 257 ms: 50 * -3 ms per update.
    trace.leave_until(257, 2);
    trace.expect_share(270, grown + 13.0 * 0.02 - 0.15);
    // At 0.1244 the delay counts: below half the target nothing is dropped.
    assert_eq!(trace.dropped(285, 10_000), 0);
}

#[test]
fn section_4_1_no_drop_while_at_most_two_packets_wait() {
    // One update after a delay of 3 s: (1000 * 2985 ms + 1000 * 3000 ms) / 2048 takes it to 1.
    let mut trace = Trace::of(&with(&["alpha=1000", "beta=1000", "mean_packet=1000"]));
    trace.dropped(0, 2);
    trace.leaves(3000, 3000);
    assert_eq!(trace.0.backlog(), 1);
    assert_eq!(trace.offer(3015, Ecn::NotEct), Fate::Queued, "one waits");
    assert_eq!(trace.offer(3015, Ecn::NotEct), Fate::Queued, "two wait, no more than two mean packets");
    assert_eq!(trace.offer(3015, Ecn::NotEct), Fate::Dropped(DropReason::Early), "three wait");
}

#[test]
fn section_4_2_small_probabilities_move_in_small_steps() {
    // beta 1000: the update at 1 s takes the probability to delay / 2.048 s, into a band; the one at 2 s
    // by 1000 times a growth of the delay over the divisor of the band, to 0.3. alpha is out of the way.
    let bands = [(0, 2048), (10, 512), (100, 128), (1000, 32), (10_000, 8), (100_000, 2), (409_600, 1)];
    for (first_us, divisor) in bands {
        // In the last band 5.5 allows no more than 0.02.
        let step = if divisor == 1 { 0.02 } else { 0.3 };
        let (first, growth) = (first_us * 1000, (step * f64::from(divisor) * 1e6) as u64);
        let mut trace = Trace::of(&with(&["alpha=0", "beta=1000", "target=1000", "update=1"]));
        for (leave, delay) in [(1000 * MS - 1, first), (2000 * MS - 1, first + growth)] {
            trace.0.enqueue(packet(1, 1000, Ecn::NotEct), Time(leave - delay));
            // One more, so that the queue is not empty at the update.
            trace.0.enqueue(packet(2, 4000, Ecn::NotEct), Time(leave));
            let left = std::iter::from_fn(|| trace.0.dequeue(Time(leave))).find(|left| left.handle == 1);
            assert_eq!(left.map(|left| left.arrival), Some(Time(leave - delay)));
        }
        // The delay is below half the target, so only a probability of 0.2 or more shows (4.1).
        trace.expect_share(2000, first as f64 * 1e-9 / 2.048 + step);
    }
}

#[test]
fn section_4_2_the_probability_decays_while_the_queue_is_empty() {
    // alpha = beta = 0: only the step above high_delay raises the probability, 0.02 per update.
    let risen = || {
        let mut trace = Trace::of(&["derandomize=off", "burst=0", "alpha=0", "beta=0", "high_delay=0.001"]);
        trace.dropped(0, 1);
        trace.leaves(374, 374);
        trace.dropped(374, 1);
        // The delay of 374 ms is seen by 25 updates, 375 to 735 ms; then the queue is emptied.
        trace.leaves(749, 375);
        trace
    };
    // 750 ms is the first update without delay, 765 ms the first of two: 0.5 * 0.98^n.
    for updates in [0, 1, 20] {
        risen().expect_share_with_room(750 + 15 * updates, 0.5 * 0.98_f64.powi(updates as i32));
    }
    // 0.98^46 * 0.5 is below 0.2: 4.1 lets everything in.
    assert_eq!(risen().dropped(750 + 15 * 46, 1000), 0);
}

impl Trace {
    /// `expect_share` in an empty queue: the first four packets enter in any case.
    fn expect_share_with_room(&mut self, at: u64, share: f64) {
        assert_eq!(self.dropped(at, 4), 0);
        self.expect_share(at, share);
    }
}

#[test]
fn section_5_1_packets_are_marked_while_the_probability_is_below_ten_percent() {
    // 0.02 per update, from a step of Linux, see above.
    let at = |updates: u64, ecn, on| {
        let mut trace = Trace::of(&["derandomize=off", "burst=0", "alpha=0", "beta=0", "high_delay=0.001", on]);
        trace.dropped(0, 100);
        trace.leaves(14, 14);
        let dropped = (0..10_000).filter(|_| trace.offer(15 * updates, ecn) != Fate::Queued).count() as u64;
        (trace.0.stats().marked, dropped)
    };
    // A delay of 14 ms is not below half the target. 800 +- 4 * 27 at 0.08, 1200 +- 4 * 32 at 0.12.
    let (low, high) = (692..=908, 1072..=1328);
    let (marked, dropped) = at(4, Ecn::Ect0, "ecn=on");
    assert!(low.contains(&marked) && dropped == 0, "{marked} {dropped}");
    let (marked, dropped) = at(4, Ecn::NotEct, "ecn=on");
    assert!(marked == 0 && low.contains(&dropped), "{marked} {dropped}");
    let (marked, dropped) = at(4, Ecn::Ect0, "ecn=off");
    assert!(marked == 0 && low.contains(&dropped), "{marked} {dropped}");
    let (marked, dropped) = at(6, Ecn::Ect0, "ecn=on");
    assert!(marked == 0 && high.contains(&dropped), "{marked} {dropped}");
}

#[test]
fn section_5_4_drops_are_neither_too_close_nor_too_far_apart() {
    let mut trace = Trace::of(&["burst=0", "alpha=0", "beta=0", "high_delay=0.001"]);
    trace.dropped(0, 100);
    trace.leaves(14, 14);
    // 0.1 at 75 ms. No drop before 0.85 / 0.1 packets: the ninth is the first that can go.
    let mut intervals = Vec::new();
    let mut interval = 0_u64;
    for _ in 0..200_000 {
        interval += 1;
        if trace.offer(75, Ecn::NotEct) != Fate::Queued {
            intervals.push(std::mem::take(&mut interval));
        }
    }
    let intervals = &intervals[1..];
    assert_eq!(intervals.iter().min(), Some(&9));
    assert!(intervals.iter().max() <= Some(&86), "8.5 / 0.1, and rounding of the sum");
    // Eight, and then each with 0.1: 18 on average, deviation 9.5.
    let mean = intervals.iter().sum::<u64>() as f64 / intervals.len() as f64;
    assert!((mean - 18.0).abs() < 4.0 * 9.5 / (intervals.len() as f64).sqrt(), "{mean}");
}

#[test]
fn section_5_5_the_probability_rises_by_two_percent_at_most() {
    // alpha 100, 10 ms above the target: 1 per update, over 2048, 32 and 2 as the probability grows;
    // the fourth would take it to 1.
    let mut trace = Trace::of(&with(&["alpha=100", "beta=0", "target=0.005"]));
    trace.dropped(0, 100);
    trace.leaves(15, 15);
    let three = 1.0 / 2048.0 + 1.0 / 32.0 + 1.0 / 2.0;
    // The update at 15 ms comes before the departure then: those that count are at 30, 45, 60 ms.
    trace.expect_share(60, three);
    trace.expect_share(75, three + 0.02);
    trace.expect_share(150, three + 6.0 * 0.02);
}

#[test]
fn linux_a_delay_above_250_ms_adds_two_percent_per_update() {
    let share_after = |delay| {
        let mut trace = Trace::of(&["derandomize=off", "burst=0", "alpha=0", "beta=0"]);
        trace.dropped(0, 100);
        trace.leaves(delay, delay);
        trace.dropped(delay + 150, 10_000)
    };
    assert_eq!(share_after(250), 0);
    // Ten updates: 0.2.
    assert!((1840..=2160).contains(&share_after(251)));
}

/// Appendices A and B, as they stand: the basic pseudocode with 5.1, 5.4 and 5.5 where Appendix B has
/// them, latency by timestamps, and a timer. Not from the RFC: the delay of an empty queue is zero.
struct Rfc8033 {
    queue: VecDeque<(u64, u32)>,
    next_update: u64,
    derandomize: bool,
    ecn: bool,
    rng: Stream,
    drop_prob: f64,
    accu_prob: f64,
    qdelay_old: f64,
    current_qdelay: f64,
    burst_allowance: f64,
}

const QDELAY_REF: f64 = 0.015;
const MAX_BURST: f64 = 0.15;
const T_UPDATE: u64 = 15 * MS;
const MEAN_PKTSIZE: u64 = 1500;

impl Rfc8033 {
    fn byte_length(&self) -> u64 {
        self.queue.iter().map(|&(_, len)| u64::from(len)).sum()
    }

    fn timer(&mut self, now: u64) {
        while self.next_update <= now {
            if self.queue.is_empty() {
                self.current_qdelay = 0.0;
            }
            self.calculate_drop_prob();
            self.next_update += T_UPDATE;
        }
    }

    fn enque(&mut self, now: u64, len: u32, ecn: Ecn) -> &'static str {
        self.timer(now);
        if self.drop_prob == 0.0 && self.current_qdelay < QDELAY_REF / 2.0 && self.qdelay_old < QDELAY_REF / 2.0 {
            self.burst_allowance = MAX_BURST;
        }
        let mut fate = "queued";
        if self.burst_allowance == 0.0 && self.drop_early() {
            self.accu_prob = 0.0;
            if self.ecn && self.drop_prob < 0.1 && ecn != Ecn::NotEct {
                fate = "marked";
            } else {
                return "dropped";
            }
        }
        self.queue.push_back((now, len));
        fate
    }

    fn drop_early(&mut self) -> bool {
        if (self.qdelay_old < QDELAY_REF / 2.0 && self.drop_prob < 0.2) || self.byte_length() <= 2 * MEAN_PKTSIZE {
            return false;
        }
        if self.derandomize {
            if self.drop_prob == 0.0 {
                self.accu_prob = 0.0;
            }
            self.accu_prob += self.drop_prob;
            if self.accu_prob < 0.85 {
                return false;
            }
            if self.accu_prob >= 8.5 {
                return true;
            }
        }
        self.rng.uniform() < self.drop_prob
    }

    fn deque(&mut self, now: u64) -> Option<u64> {
        self.timer(now);
        let (timestamp, _) = self.queue.pop_front()?;
        self.current_qdelay = (now - timestamp) as f64 * 1e-9;
        Some(timestamp)
    }

    fn calculate_drop_prob(&mut self) {
        let mut p = 0.125 * (self.current_qdelay - QDELAY_REF) + 1.25 * (self.current_qdelay - self.qdelay_old);
        if self.drop_prob < 0.000001 {
            p /= 2048.0;
        } else if self.drop_prob < 0.00001 {
            p /= 512.0;
        } else if self.drop_prob < 0.0001 {
            p /= 128.0;
        } else if self.drop_prob < 0.001 {
            p /= 32.0;
        } else if self.drop_prob < 0.01 {
            p /= 8.0;
        } else if self.drop_prob < 0.1 {
            p /= 2.0;
        }
        if self.drop_prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        self.drop_prob += p;
        if self.current_qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = self.current_qdelay;
        // In whole milliseconds the RFC's subtraction is exact; in seconds it would leave a rest.
        self.burst_allowance = ((self.burst_allowance * 1000.0).round() - 15.0).max(0.0) / 1000.0;
    }
}

/// Bursts, overload and silence, at a link of 1500 bytes per 1.2 ms.
#[test]
fn random_traffic_has_the_fate_of_the_pseudocode() {
    for (derandomize, ecn) in [(true, true), (true, false), (false, true), (false, false)] {
        let word = |on| if on { "on" } else { "off" };
        let options = [format!("derandomize={}", word(derandomize)), format!("ecn={}", word(ecn))];
        let mut trace = Trace::of(&["high_delay=1e6", &options[0], &options[1]]);
        let mut rfc = Rfc8033 {
            queue: VecDeque::new(),
            next_update: T_UPDATE,
            derandomize,
            ecn,
            rng: stream(),
            drop_prob: 0.0,
            accu_prob: 0.0,
            qdelay_old: 0.0,
            current_qdelay: 0.0,
            burst_allowance: MAX_BURST,
        };
        let mut rng = Stream::named(5, "traffic");
        let (mut now, mut busy_until, mut load) = (0, 0, 0.0);
        let mut fates = std::collections::HashMap::new();
        for n in 0..60_000_u64 {
            if n.is_multiple_of(2000) {
                load = [0.5, 1.1, 1.5, 3.0, 0.9][(rng.bits() % 5) as usize];
                now += if rng.bits().is_multiple_of(3) { rng.bits() % (4000 * MS) } else { 0 };
            }
            now += (rng.uniform() * 2.0 * 1.2e6 / load) as u64;
            while busy_until <= now && !rfc.queue.is_empty() {
                let at = busy_until.max(rfc.queue[0].0);
                busy_until = at + 1_200_000;
                let left = trace.0.dequeue(Time(at)).map(|packet| packet.arrival.0);
                assert_eq!(left, rfc.deque(at), "{options:?} at {at}");
            }
            let ecn = [Ecn::NotEct, Ecn::Ect0][(n % 2) as usize];
            let marked = trace.0.stats().marked;
            let fate = match trace.0.enqueue(packet(n, 1500, ecn), Time(now)) {
                Fate::Queued if trace.0.stats().marked > marked => "marked",
                Fate::Queued => "queued",
                Fate::Dropped(_) => "dropped",
            };
            assert_eq!(fate, rfc.enque(now, 1500, ecn), "{options:?} packet {n} at {now}");
            *fates.entry(fate).or_insert(0) += 1;
        }
        assert!(fates["dropped"] > 1000 && fates.contains_key("marked") == ecn, "{fates:?}");
    }
}
