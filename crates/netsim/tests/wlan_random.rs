//! Cells of every kind under random transfers: nothing is lost from the books, and nothing stands still.

use netsim::wlan::{AfterFailure, Aggregation, Category, Placement, Rules};
use netsim::{FlowSpec, Wlan};
use proptest::prelude::*;
use units::Time;

use crate::cell::{CHAIN, NS3, STANDARD, cell, run_of};
use crate::dumbbell::{disciplines, go, ms};

fn rules() -> impl Strategy<Value = Rules> {
    let timeout = Rules { after_failure: AfterFailure::AfterAnswerTime, ..CHAIN };
    prop::sample::select(vec![STANDARD, NS3, CHAIN, timeout])
}

fn placement() -> impl Strategy<Value = Placement> {
    prop::sample::select(vec![Placement::Shared, Placement::RoundRobin, Placement::Airtime(Time(256_000))])
}

/// A cell of two to five stations, the first of them slower.
fn wlan() -> impl Strategy<Value = Wlan> {
    let kinds = prop::sample::select(vec![
        ("802.11a", "54mbit", "6mbit", 192),
        ("802.11b", "11mbit", "1mbit", 4),
        ("802.11g", "24mbit", "9mbit", 96),
        ("802.11n", "mcs7", "mcs0", 192),
        ("802.11ac", "mcs8", "mcs1", 192),
    ]);
    let sizes = (1_u32..40, 2_usize..6, 0.0..0.3_f64, prop::sample::select(vec![0_u32, 400, u32::MAX]), 3_u32..8);
    let categories = prop::sample::select(vec![1_usize, 2, 4]);
    (kinds, rules(), placement(), sizes, categories).prop_map(
        |((standard, fast, slow, control), rules, placement, (frames, stations, damage, rts, tries), categories)| {
            let mut wlan = cell(standard, fast, control, stations, rules);
            wlan.stations[0] = cell(standard, slow, control, 1, rules).stations[0];
            wlan.stations[1].frame_error = damage;
            wlan.placement = placement;
            wlan.rts_threshold = rts;
            wlan.tries = [tries, tries];
            let [least, most] = wlan.categories[0].windows;
            let category = |index: u32| Category {
                aifsn: 7 - index,
                windows: [least >> index, most >> (2 * index)],
                txop: Time(u64::from(index) * 1_500_000),
            };
            wlan.categories = (0..categories as u32).map(category).collect();
            if standard.ends_with('n') || standard.ends_with("ac") {
                wlan.aggregation = Some(Aggregation { frames, bytes: 65_535, airtime: Time(5_484_000) });
            }
            wlan
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn books_balance(
        mut wlan in wlan(),
        transfers in prop::collection::vec((0_u64..3000, 1_u64..60_000, any::<u32>(), any::<bool>(), any::<bool>()), 1..25),
        discipline in prop::sample::select(disciplines().collect::<Vec<_>>()),
        buffer in 2_u32..60,
        seed in any::<u64>(),
    ) {
        let stations = wlan.stations.len() as u32;
        let mut flows: Vec<FlowSpec> = transfers
            .iter()
            .map(|&(start, size, host, up, udp)| FlowSpec {
                start: ms(start),
                size_bytes: size,
                src: host % stations,
                dst: host % stations,
                up,
                udp: udp.then_some((200 + host % 1300, Time(u64::from(100_000 + host % 5_000_000)))),
                ..FlowSpec::default()
            })
            .collect();
        flows.sort_by_key(|flow| flow.start);
        if wlan.categories.len() > 1 {
            wlan.category_of = flows.iter().map(|flow| (flow.src as usize % wlan.categories.len()) as u8).collect();
        }
        let mut run = run_of(wlan, buffer, ms(3_600_000));
        run.network.discipline = (discipline.to_owned(), Vec::new());
        (run.seed, run.stop_when_idle) = (seed, true);
        let out = go(&run, &flows);
        let cell = out.wlan.as_ref().expect("a cell");
        for (flow, record) in flows.iter().zip(&out.records) {
            prop_assert!(record.finish != Time::NEVER || flow.udp.is_some(), "{flow:?} {record:?}");
            prop_assert!(record.presence <= out.counters.end, "{record:?}");
        }
        for node in &cell.nodes {
            prop_assert!(node.attempts >= node.acked + node.damaged + node.collided, "{node:?}");
            // What is on the air when the run ends is neither.
            prop_assert!(node.attempts - node.acked - node.damaged - node.collided <= 64, "{node:?}");
            prop_assert!(node.retries + node.acked + node.given_up <= node.attempts + node.acked, "{node:?}");
        }
        let (arrivals, drops) = (cell.data.arrivals + cell.acks.arrivals, cell.data.drops + cell.acks.drops);
        prop_assert_eq!((arrivals, drops), (out.counters.arrivals, out.counters.drops));
        prop_assert!(arrivals >= drops + cell.nodes[0].acked + cell.nodes[0].given_up);
        let lost: u64 = out.records.iter().map(|record| record.lost).sum();
        prop_assert_eq!(lost, cell.nodes.iter().map(|node| node.given_up).sum::<u64>());
        prop_assert!(cell.busy <= out.counters.end);
        let airtime: Time = cell.nodes[1..].iter().fold(Time::ZERO, |sum, node| sum + node.airtime);
        prop_assert!(airtime >= cell.nodes[0].airtime);
    }
}
