//! No input panics or hangs, and whatever comes out is a list that adds up.

use proptest::prelude::*;
use replay::{Form, List, Networks, Options, Probes, Rates, ReadOptions, Reading, Replay};
use units::Time;

use crate::wire::*;

const HOSTS: [[u8; 4]; 5] = [[192, 168, 0, 2], [192, 168, 0, 3], [198, 51, 100, 7], [203, 0, 113, 9], [224, 0, 0, 1]];

fn check(file: &[u8], networks: Option<&str>, rate: f64, rtt_s: Option<f64>) {
    let options = ReadOptions { max_flows: 20, max_volumes: 64, ..ReadOptions::default() };
    let networks = networks.map(|one| Networks::parse([one]).expect("a network"));
    let Ok(reading) = Reading::from_bytes("some", file, &options) else { return };
    let rates = Rates { down: rate, up: rate / 2.0 };
    let of = |form: Form| {
        Replay::of(&reading, Options { networks: networks.clone(), mss: 1448, header_bytes: 52, form, tcp_only: false })
    };
    for (form, _) in Form::NAMES {
        let Ok(replay) = of(form) else { continue };
        let Ok(captured) = replay.flows(rates, rtt_s, true) else { continue };
        let Ok(flows) = captured.flows() else { continue };
        assert!(flows.is_sorted_by(|one, other| one.start_s <= other.start_s) && flows[0].start_s == 0.0);
        let addresses = captured.addresses().len();
        assert!(flows.iter().all(|flow| flow.size_bytes > 0 && (flow.src.max(flow.dst) as usize) < addresses));
    }
    let Ok(replay) = of(Form::Users) else { return };
    let Ok(list) = replay.list(rates, rtt_s) else { return };
    adds_up(&list);
    let probed = list.with_probes(&Probes { ping: true, interval_s: 0.5, call: true, seed: 3 });
    assert_eq!(probed.flows.len(), list.flows.len() + 3);
    assert_eq!(probed.bursts.of.len(), list.bursts.of.len() + 1);
}

fn adds_up(list: &List) {
    assert_eq!(list.flows.len(), list.origins.len());
    assert!(list.duration >= Time::from_millis(60_000) && list.span_s.is_finite());
    for flow in &list.flows {
        assert!((flow.src as usize) < list.hosts.len() && (flow.dst as usize) < list.hosts.len());
        if let Some(script) = flow.script {
            let trains = &list.scripts.list[script as usize];
            assert_eq!(trains.iter().map(|train| train.bytes).sum::<u64>(), flow.size_bytes);
            assert!(trains[0].forward);
        }
        assert_ne!(flow.script.is_some(), flow.udp.is_some());
        let waited = flow.after.is_none_or(|after| list.flows.iter().any(|other| other.stage == Some(after)));
        assert!(waited && flow.after.is_none_or(|after| flow.stage.is_some_and(|stage| after < stage)));
    }
    for (row, part) in &list.bursts.of {
        let bursts = &list.bursts.list[part.clone()];
        let size: u64 = bursts.iter().map(|burst| burst.packets * u64::from(burst.len - 28)).sum();
        assert_eq!(size, list.flows[*row as usize].size_bytes);
        assert!(bursts.is_sorted_by_key(|burst| burst.at));
    }
}

fn frame() -> impl Strategy<Value = Frame> {
    let ends = (0..HOSTS.len(), 0..HOSTS.len(), 1..4_u16);
    (
        ends,
        any::<bool>(),
        0..40_u32,
        0..40_u32,
        any::<u8>(),
        0..3_000_usize,
        prop_oneof![0..3_000_000_u64, any::<u32>().prop_map(u64::from), Just(1_u64 << 50),],
    )
        .prop_map(|((from, to, port), is_tcp, seq, ack, flags, payload, time_us)| {
            let (from, to) = ((HOSTS[from], port), (HOSTS[to], 80));
            match is_tcp {
                true => tcp(time_us, from, to, seq * 100, ack * 100, flags & 0x17, payload),
                false => udp(time_us, from, to, payload),
            }
        })
}

proptest! {
    #[test]
    fn random_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        check(&bytes, None, 1e6, None);
    }

    #[test]
    fn whatever_is_sent_the_list_adds_up(
        frames in proptest::collection::vec(frame(), 1..80),
        inside in proptest::option::of(prop_oneof![Just("192.168.0.0/24"), Just("0.0.0.0/0"), Just("198.51.100.7")]),
        rate in prop_oneof![Just(0.0), Just(f64::NAN), Just(f64::INFINITY), 1e3..1e9],
        rtt_s in proptest::option::of(prop_oneof![Just(0.0), Just(f64::NAN), Just(f64::INFINITY), 1e-9..1e3]),
    ) {
        check(&pcap(&frames, 1, false, false), inside, rate, rtt_s);
    }

    #[test]
    fn a_damaged_capture_does_no_harm(
        frames in proptest::collection::vec(frame(), 1..30),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..30),
    ) {
        let mut file = pcapng(&frames, 1, false, 9, -5);
        for (index, byte) in damage {
            let at = index.index(file.len());
            file[at] = byte;
        }
        check(&file, None, 2e6, Some(0.05));
    }
}
