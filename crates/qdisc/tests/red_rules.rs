//! RED against the rules of Floyd and Jacobson 1993, Floyd 2000 (gentle) and RFC 3168, section 7:
//! decisions worked out by hand, and the law of random ones with bounds of four standard deviations.
//!
//! With `weight=1` the average is the queue that a packet meets, so a queue held at one length has
//! one probability.
#![allow(missing_docs)]

use qdisc::{DropReason, Ecn, Fate, Kind, Limit, Packet, Qdisc};
use units::{FlowKey, Stream, Time};

const MS: u64 = 1_000_000;

fn queue(id: &str, options: &[&str], limit: Limit) -> Qdisc {
    let split = |option: &&str| option.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let options: Vec<_> = options.iter().filter_map(split).collect();
    Qdisc::from_options(id, &options, limit, Stream::named(7, "red")).expect("valid options")
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

/// A queue held at a length: what enters is let out again at the other end.
struct Held {
    queue: Qdisc,
    handle: u64,
    ecn: Ecn,
}

impl Held {
    fn at(length: u64, options: &[&str]) -> Held {
        let options: Vec<&str> = [&["weight=1"], options].concat();
        let mut held = Held { queue: queue("red", &options, Limit::Packets(1000)), handle: 0, ecn: Ecn::NotEct };
        held.fill(length);
        held
    }

    fn fill(&mut self, length: u64) {
        for _ in 0..100_000 {
            if self.queue.backlog() < length {
                self.offer(1000);
            }
        }
        assert_eq!(self.queue.backlog(), length, "nothing enters");
    }

    fn offer(&mut self, len: u32) -> Fate {
        self.handle += 1;
        self.queue.enqueue(packet(self.handle, len, self.ecn), Time::ZERO)
    }

    /// Whether the next packet is dropped.
    fn drops(&mut self, len: u32) -> bool {
        match self.offer(len) {
            Fate::Queued => {
                self.queue.dequeue(Time::ZERO);
                false
            }
            Fate::Dropped(reason) => {
                assert_eq!(reason, DropReason::Early);
                true
            }
        }
    }

    /// Packets from one drop to the next.
    fn intervals(&mut self, count: usize) -> Vec<u64> {
        let (mut intervals, mut interval) = (Vec::new(), 0);
        for _ in 0..100 * count {
            if intervals.len() > count {
                break;
            }
            interval += 1;
            if self.drops(1000) {
                intervals.push(std::mem::take(&mut interval));
            }
        }
        // The first one began with the first packet above the threshold.
        intervals.drain(1..=count).collect()
    }
}

/// Checks that `intervals` are uniform on `first..=last`.
fn assert_uniform(intervals: &[u64], first: u64, last: u64) {
    assert!(intervals.iter().all(|interval| (first..=last).contains(interval)), "beyond {first} to {last}");
    let each = intervals.len() as f64 / (last - first + 1) as f64;
    for value in first..=last {
        let count = intervals.iter().filter(|&&interval| interval == value).count() as f64;
        assert!((count - each).abs() < 4.0 * each.sqrt(), "{value}: {count} times instead of {each}");
    }
}

#[test]
fn with_both_thresholds_at_the_limit_red_is_drop_tail() {
    let mut rng = Stream::named(3, "traffic");
    for (limit, thresholds) in [
        (Limit::Packets(20), ["min_th=20", "max_th=20", "mode=packets"]),
        (Limit::Bytes(20_000), ["min_th=20000", "max_th=20000", "mode=bytes"]),
    ] {
        for further in [["weight=1", "gentle=on"], ["weight=0.5", "gentle=off"], ["spacing=wait", "ecn=on"]] {
            let options = [&thresholds[..], &further].concat();
            let mut queues = [queue("red", &options, limit), queue("fifo", &[], limit)];
            let mut full = 0;
            for handle in 0..20_000 {
                // Bursts of arrivals and of departures, so that the queue is often full and often empty.
                let arrives = (handle / 64) % 2 == rng.bits() % 3 % 2;
                let packet =
                    packet(handle, 40 + (rng.bits() % 1461) as u32, [Ecn::Ect0, Ecn::NotEct][handle as usize % 2]);
                let now = Time(handle * 100_000);
                let [red, fifo] = queues.each_mut().map(|queue| match arrives {
                    true => Ok(queue.enqueue(packet, now)),
                    false => Err(queue.dequeue(now)),
                });
                assert_eq!(red, fifo, "{options:?} at {handle}");
                full += u32::from(fifo == Ok(Fate::Dropped(DropReason::Full)));
            }
            assert!(full > 200 && queues[0].stats() == queues[1].stats(), "{full}");
        }
    }
}

#[test]
fn the_average_decides_and_not_the_queue() {
    // Every packet is dropped from an average of 2.1, none below (max_p is next to nothing).
    let options = ["weight=0.5", "min_th=2.1", "max_th=2.1", "gentle=off", "mean_packet=1000"];
    let mut red = queue("red", &options, Limit::Packets(100));
    let mut enters = |now| red.enqueue(packet(0, 1000, Ecn::NotEct), Time(now)) == Fate::Queued;
    // Queue met: 0 1 2 3, average 0 0.5 1.25 2.125.
    assert_eq!([0; 4].map(&mut enters), [true, true, true, false]);
    // Three wait, average 2.5625, 2.78; with two of them gone 1 is met: 1.89.
    assert!(!enters(0) && !enters(0));
    red.dequeue(Time(MS));
    red.dequeue(Time(2 * MS));
    let mut enters = |now| red.enqueue(packet(0, 1000, Ecn::NotEct), Time(now)) == Fate::Queued;
    // 1.89 (1 met), 1.945 (2), 2.47 (3).
    assert_eq!([2 * MS; 3].map(&mut enters), [true, true, false]);
}

#[test]
fn the_average_falls_by_the_packets_the_link_could_have_sent() {
    let entering = |threshold: &str, idle_us: u64| {
        let thresholds = [format!("min_th={threshold}"), format!("max_th={threshold}")];
        let options = ["weight=0.5", "gentle=off", "mean_packet=1000", &thresholds[0], &thresholds[1]];
        let mut red = queue("red", &options, Limit::Packets(100));
        let enters = |red: &mut Qdisc, now| red.enqueue(packet(0, 1000, Ecn::NotEct), Time(now)) == Fate::Queued;
        // Averages 0 0.5 1.25, then with three waiting 2.125 and on to 3: all further ones are dropped.
        assert_eq!((0..30).filter(|_| enters(&mut red, 0)).count(), 3);
        // 1000 bytes take 1 ms; the last packet leaves at 2 ms and is sent at 3 ms.
        assert_eq!((0..3).filter_map(|at| red.dequeue(Time(at * MS))).count(), 3);
        let now = 3 * MS + idle_us * 1000;
        (0..9).take_while(|_| enters(&mut red, now)).count()
    };
    // From 3 2^-m the next averages are a / 2, a / 4 + 0.5 and, with two waiting, a / 8 + 1.25. At a
    // threshold of 1.4 that third packet enters if a < 1.2: from m = 2. At 1.3 if a < 0.4: from m = 3.
    assert_eq!([0, 1000, 1999, 2000, 1_000_000].map(|idle| entering("1.4", idle)), [2, 2, 2, 3, 3]);
    assert_eq!([0, 2000, 2999, 3000, 1_000_000].map(|idle| entering("1.3", idle)), [2, 2, 2, 3, 3]);
}

#[test]
fn drops_are_spread_evenly_over_one_to_the_inverse_of_the_probability() {
    // Floyd and Jacobson 1993, section 7, method 2: p_b = 0.1 * (20 - 10) / (30 - 10) = 1 / 20.
    let mut held = Held::at(20, &["min_th=10", "max_th=30"]);
    assert_uniform(&held.intervals(20_000), 1, 20);
}

#[test]
fn waiting_spreads_drops_over_one_to_two_inverses_of_the_probability() {
    let mut held = Held::at(20, &["min_th=10", "max_th=30", "spacing=wait"]);
    assert_uniform(&held.intervals(20_000), 20, 39);
}

#[test]
fn the_probability_follows_the_average_up_to_twice_the_upper_threshold() {
    // Lengths with p_b = max_p (q - 10) / 10 up to 20, then 0.1 + 0.9 (q - 20) / 20.
    for (length, probability) in [(12, 0.02), (15, 0.05), (20, 0.1), (25, 0.325), (30, 0.55), (38, 0.91)] {
        let intervals = Held::at(length, &["min_th=10", "max_th=20"]).intervals(20_000);
        // P(X = n) = p_b while n p_b <= 1, and the rest for the next n.
        let whole = (1.0_f64 / probability + 1e-9).floor();
        let rest = 1.0 - whole * probability;
        let mean = probability * whole * (whole + 1.0) / 2.0 + rest * (whole + 1.0);
        let square = probability * whole * (whole + 1.0) * (2.0 * whole + 1.0) / 6.0 + rest * (whole + 1.0).powi(2);
        let deviation = ((square - mean * mean) / intervals.len() as f64).sqrt();
        let measured = intervals.iter().sum::<u64>() as f64 / intervals.len() as f64;
        assert!((measured - mean).abs() < 4.0 * deviation, "{length}: {measured} instead of {mean}");
    }
}

#[test]
fn beyond_the_upper_threshold_every_packet_goes() {
    let mut abrupt = Held::at(19, &["min_th=10", "max_th=20", "gentle=off"]);
    assert!((0..1000).any(|_| !abrupt.drops(1000)));
    abrupt.fill(20);
    assert!((0..1000).all(|_| abrupt.drops(1000)));
    let mut gentle = Held::at(40, &["min_th=10", "max_th=20"]);
    assert!((0..1000).all(|_| gentle.drops(1000)));
}

#[test]
fn a_queue_of_one_packet_loses_nothing_whatever_the_average() {
    let options = ["min_th=1", "max_th=1", "gentle=off", "weight=0.5"];
    let mut red = queue("red", &options, Limit::Packets(100));
    let enters = |red: &mut Qdisc| red.enqueue(packet(0, 1000, Ecn::NotEct), Time::ZERO) == Fate::Queued;
    // Averages 0 0.5, then with two waiting 1.25 and on to 2.
    assert_eq!([(); 12].map(|()| enters(&mut red))[..4], [true, true, false, false]);
    red.dequeue(Time::ZERO);
    assert!(enters(&mut red), "it meets one, the average is 1.5");
    assert!(!enters(&mut red), "it meets two");
}

#[test]
fn packets_that_understand_ecn_are_marked_where_others_are_dropped() {
    // RFC 3168, section 7, and 5 for the code points.
    let marks = |ecn, options: &[&str]| {
        let mut held = Held::at(18, &[&["min_th=10", "max_th=20", "max_p=0.5", "ecn=on"], options].concat());
        held.ecn = ecn;
        let before = held.queue.stats().marked;
        let dropped = (0..10_000).filter(|_| held.drops(1000)).count();
        (held.queue.stats().marked - before, dropped as u64)
    };
    // p_b = 0.4: intervals 1, 2 and 3 with 0.4, 0.4 and 0.2: 1.8 on average with variance 0.56, so that
    // the count has variance 10 000 * 0.56 / 1.8^3.
    let expected = |count: u64| (count as f64 - 10_000.0 / 1.8).abs() < 4.0 * 31.0;
    for ecn in [Ecn::Ect0, Ecn::Ect1] {
        let (marked, dropped) = marks(ecn, &[]);
        assert!(expected(marked) && dropped == 0, "{marked} marked, {dropped} dropped");
    }
    let (marked, dropped) = marks(Ecn::NotEct, &[]);
    assert!(marked == 0 && expected(dropped), "{marked} marked, {dropped} dropped");
    assert_eq!(marks(Ecn::Ce, &[]), (0, 0), "marked already: neither dropped nor counted");
    let (marked, dropped) = marks(Ecn::Ect0, &["mark_max=0.39"]);
    assert!(marked == 0 && expected(dropped), "above mark_max, as in ns-2: {marked} marked, {dropped} dropped");
    assert_eq!(marks(Ecn::Ect0, &["mark_max=0.41"]).1, 0);
}

#[test]
fn beyond_the_upper_threshold_marks_give_way_to_drops() {
    // RFC 3168, section 7.
    for (length, options) in [(20, ["gentle=off", "ecn=on"]), (40, ["gentle=on", "ecn=on"])] {
        let mut held = Held::at(length, &[&["min_th=10", "max_th=20"], &options[..]].concat());
        held.ecn = Ecn::Ect0;
        assert!((0..100).all(|_| held.drops(1000)), "{options:?}");
    }
    let mut held = Held::at(39, &["min_th=10", "max_th=20", "ecn=on"]);
    held.ecn = Ecn::Ect0;
    assert!(!(0..100).any(|_| held.drops(1000)), "just below twice the threshold");
    assert!(held.queue.stats().marked > 80);
}

#[test]
fn in_byte_mode_long_packets_are_dropped_more_often() {
    // The thresholds are so high that the bytes met hardly vary: p_b = 0.1 per 1000 bytes.
    let options = ["mode=bytes", "min_th=1", "max_th=500000", "max_p=0.1", "mean_packet=1000"];
    let mut held = Held::at(499, &options);
    let mut dropped = [0_u32; 2];
    for n in 0..40_000 {
        let short = n % 2;
        dropped[short] += u32::from(held.drops([1500, 500][short]));
    }
    let [long, short] = dropped.map(f64::from);
    let deviation = (1.0 / long + 1.0 / short).sqrt();
    assert!((long / short / 3.0 - 1.0).abs() < 4.0 * deviation, "{dropped:?}: not as 1500 to 500");
    // Intervals are uniform on 0 to 1000 / p_b bytes, up to the end of a packet: 5000 and half a packet.
    let interval = 40_000.0 * 1000.0 / (long + short);
    assert!((5300.0..6000.0).contains(&interval), "{interval}");
}
