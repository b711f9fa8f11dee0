//! What a tree owes its caller, whatever the tree and the traffic: conservation, ceilings, sums, and order.

use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;
use qdisc::htb::{Class, Htb, Leaf, default_burst};
use qdisc::{Ecn, Kind, Limit, Packet};
use units::{BitRate, FlowKey, Stream, Time};

/// A class: which of those before it it is in, its ceiling and the part of it that is assured, its quantum, and whether
/// packets come to it where it is a leaf.
type Given = (prop::sample::Index, u64, u64, Option<u32>, u8);

fn trees() -> impl Strategy<Value = (Vec<Class>, Vec<u32>)> {
    let given = (any::<prop::sample::Index>(), 1..50_u64, 1..=10_u64, prop::option::of(1000..20_000_u32), 0..3_u8);
    let inner = prop::collection::vec(given.clone(), 1..6);
    let leaves = prop::collection::vec(given, 1..8);
    let disciplines = prop::sample::select(vec!["fifo", "fq_codel", "las", "pie"]);
    (inner, leaves, disciplines, 1..60_u32).prop_map(|(inner, leaves, id, limit)| tree(&inner, &leaves, id, limit))
}

fn tree(inner: &[Given], leaves: &[Given], id: &str, limit: u32) -> (Vec<Class>, Vec<u32>) {
    let discipline = Arc::new((id.to_owned(), Vec::new()));
    let class = |parent, (_, ceil, tenths, quantum, prio): &Given| {
        let ceil = ceil * 1_000_000;
        let rate = |bps| BitRate::from_bps(bps).expect("above 0");
        let (rate, ceil) = (rate(ceil * tenths / 10), rate(ceil));
        Class { parent, rate, ceil, burst: None, cburst: None, quantum: *quantum, prio: *prio, leaf: None }
    };
    let mut classes: Vec<Class> = Vec::new();
    for (at, given) in inner.iter().enumerate() {
        let parent = (at > 0).then(|| given.0.index(at) as u32);
        classes.push(class(parent, given));
    }
    for given in leaves {
        let leaf = Leaf {
            discipline: Arc::clone(&discipline),
            limit: Limit::Packets(limit),
            rng: Stream::named(classes.len() as u64, "leaf"),
        };
        let parent = Some(given.0.index(inner.len()) as u32);
        classes.push(Class { leaf: Some(leaf), ..class(parent, given) });
    }
    let names = (inner.len()..classes.len()).map(|class| class as u32).collect();
    (classes, names)
}

fn packet(flow: u64, handle: u64, len: u32) -> Packet {
    Packet {
        flow: FlowKey(2 * flow),
        handle,
        progress: 0,
        remaining: 0,
        arrival: Time::ZERO,
        len,
        src: 0,
        dst: 1,
        options: 0,
        mark: 0,
        kind: Kind::Udp,
        ecn: Ecn::NotEct,
    }
}

/// What left: when, of which class, and the packet.
struct Log {
    left: Vec<(u64, u32, Packet)>,
    dropped: Vec<u64>,
    waits: u64,
}

/// Arrivals as pauses in microseconds, a leaf and a length each, and the tree served whenever it has something.
fn play(classes: &[Class], leaves: &[u32], arrivals: &[(u64, prop::sample::Index, u32)]) -> (Htb, Log) {
    let mut htb = Htb::of(classes).expect("a tree");
    let mut log = Log { left: Vec::new(), dropped: Vec::new(), waits: 0 };
    let mut now = 0_u64;
    let mut next_poll = None;
    let serve = |htb: &mut Htb, now: u64, log: &mut Log| loop {
        let sent = htb.dequeue(Time(now));
        log.dropped.extend(htb.dropped().iter().map(|(packet, _)| packet.handle));
        match sent {
            Some(packet) => log.left.push((now, htb.served().expect("of a class"), packet)),
            None => break htb.poll_at().map(|at| at.0),
        }
    };
    for (handle, (pause, leaf, len)) in arrivals.iter().enumerate() {
        let arrival = now + pause * 1000;
        while let Some(at) = next_poll.filter(|&at| at <= arrival) {
            next_poll = serve(&mut htb, at, &mut log);
        }
        now = arrival;
        let class = leaves[leaf.index(leaves.len())];
        htb.enqueue(Some(class), packet(u64::from(class), handle as u64, *len), Time(now));
        log.dropped.extend(htb.dropped().iter().map(|(packet, _)| packet.handle));
        next_poll = serve(&mut htb, now, &mut log);
    }
    while let Some(at) = next_poll {
        next_poll = serve(&mut htb, at, &mut log);
        log.waits += 1;
        assert!(log.waits < 1_000_000, "{} packets still wait", htb.stats().backlog());
    }
    (htb, log)
}

fn arrivals() -> impl Strategy<Value = Vec<(u64, prop::sample::Index, u32)>> {
    let len = prop_oneof![4 => Just(1500_u32), 1 => 40..1501_u32];
    let pause = prop_oneof![3 => Just(0_u64), 3 => 0..300_u64, 1 => 0..20_000_u64];
    prop::collection::vec((pause, any::<prop::sample::Index>(), len), 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_conserved_and_sums_are_those_of_the_leaves((classes, leaves) in trees(), arrivals in arrivals()) {
        let (htb, log) = play(&classes, &leaves, &arrivals);
        prop_assert_eq!(htb.stats().backlog(), 0);
        prop_assert_eq!(htb.stats().received, arrivals.len() as u64);
        let mut seen: Vec<u64> = log.left.iter().map(|(_, _, packet)| packet.handle).chain(log.dropped).collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..arrivals.len() as u64).collect::<Vec<_>>());
        // What a class sent is what the leaves below it sent.
        let mut sent = vec![0; classes.len()];
        for (_, class, packet) in &log.left {
            let mut class = Some(*class);
            while let Some(index) = class {
                sent[index as usize] += u64::from(packet.len);
                class = classes[index as usize].parent;
            }
        }
        for (class, bytes) in sent.into_iter().enumerate() {
            let stats = htb.class_stats(class as u32, Time(0));
            prop_assert_eq!(stats.bytes, bytes);
            prop_assert!(stats.lends + stats.borrows <= stats.packets);
        }
    }

    #[test]
    fn a_leaf_keeps_to_its_ceiling_over_any_time((classes, leaves) in trees(), arrivals in arrivals()) {
        let (_, log) = play(&classes, &leaves, &arrivals);
        let mut of: HashMap<u32, Vec<(u64, u64)>> = HashMap::new();
        for (at, class, packet) in &log.left {
            of.entry(*class).or_default().push((*at, u64::from(packet.len)));
        }
        for (class, left) in of {
            let ceil = classes[class as usize].ceil;
            let depth = default_burst(ceil) as f64;
            for first in 0..left.len() {
                let mut bytes = 0;
                for (at, len) in &left[first..] {
                    bytes += len;
                    // While there are tokens a packet goes, whatever its length.
                    let allowed = (at - left[first].0) as f64 * ceil.bps() as f64 / 8e9 + depth + *len as f64;
                    prop_assert!(bytes as f64 <= allowed + 1.0, "class {class}: {bytes} of {allowed}");
                }
            }
        }
    }

    #[test]
    fn packets_of_a_leaf_leave_as_its_discipline_alone_would_order_them((classes, leaves) in trees(), arrivals in arrivals()) {
        // With one flow a leaf, and disciplines that keep the order of a flow.
        let (_, log) = play(&classes, &leaves, &arrivals);
        let mut last: HashMap<u32, u64> = HashMap::new();
        for (_, class, packet) in &log.left {
            let before = last.insert(*class, packet.handle);
            prop_assert!(before.is_none_or(|before| before < packet.handle), "class {class}: {before:?} before");
        }
    }

    #[test]
    fn nothing_waits_while_a_green_leaf_could_send((classes, leaves) in trees(), arrivals in arrivals()) {
        // A tree that has served all it may has told when it may again, and not in the past.
        let mut htb = Htb::of(&classes).expect("a tree");
        let mut now = 0;
        for (handle, (pause, leaf, len)) in arrivals.iter().enumerate() {
            now += pause * 1000;
            let class = leaves[leaf.index(leaves.len())];
            htb.enqueue(Some(class), packet(u64::from(class), handle as u64, *len), Time(now));
            while htb.dequeue(Time(now)).is_some() {}
            let waits = htb.stats().backlog() > 0;
            prop_assert_eq!(htb.poll_at().is_some_and(|at| at.0 > now), waits);
        }
    }
}

#[test]
fn ten_thousand_idle_leaves_have_no_queue() {
    let (mut classes, _) = tree(&[], &[], "fq_codel", 1000);
    let rate = |bps| BitRate::from_bps(bps).expect("above 0");
    let top = Class {
        parent: None,
        rate: rate(10_000_000_000),
        ceil: rate(10_000_000_000),
        burst: None,
        cburst: None,
        quantum: None,
        prio: 0,
        leaf: None,
    };
    classes.push(top.clone());
    let discipline = Arc::new(("fq_codel".to_owned(), Vec::new()));
    for number in 0..10_000 {
        let leaf = Leaf {
            discipline: Arc::clone(&discipline),
            limit: Limit::Packets(1000),
            rng: Stream::named(number, "leaf"),
        };
        let (rate, ceil) = (rate(1_000_000), rate(50_000_000));
        classes.push(Class { parent: Some(0), rate, ceil, leaf: Some(leaf), ..top.clone() });
    }
    let mut htb = Htb::of(&classes).expect("a tree");
    htb.enqueue(Some(77), packet(1, 1, 1500), Time::ZERO);
    assert!(htb.dequeue(Time::ZERO).is_some());
    assert_eq!((htb.len(), htb.queues_made()), (10_001, 1));
}
