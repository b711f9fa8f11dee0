//! Networks of several links: what can be worked out by hand.

use netsim::{Control, FlowSpec, Graph, Hosts, Interface, Link, Network, Output, Run};
use proptest::prelude::*;
use qdisc::Limit;
use units::{BitRate, Time};

use crate::dumbbell::{FULL, datagrams, go, ms, rate, transfer, wired};

fn interface(bps: u64, delay: Time, discipline: &str) -> Interface {
    let discipline = (discipline.to_owned(), Vec::new());
    Interface { rate: rate(bps), delay, limit: Limit::Packets(300), discipline, loss: 0.0, trace: None }
}

fn link(from: u32, to: u32, bps: u64, delay: Time, discipline: &str) -> Link {
    Link { from, to, forward: interface(bps, delay, discipline), reverse: interface(bps, delay, "fifo") }
}

fn hosts(at: u32, count: u32) -> Hosts {
    Hosts { at, count, up: rate(100_000_000), down: rate(100_000_000), delay: ms(1) }
}

fn on(graph: Graph) -> Run {
    Run { graph: Some(graph), ..wired("fifo") }
}

/// Routers in a row, 10 Mb/s and 1 ms apart. Host 0 is at the first, host 1 at the last; of hop `n`, from 0, host
/// `2 + 2 n` is at its beginning and host `3 + 2 n` at its end.
fn row(links: u32, discipline: &str) -> Graph {
    let mut all = vec![hosts(0, 1), hosts(links, 1)];
    all.extend((0..links).flat_map(|hop| [hosts(hop, 1), hosts(hop + 1, 1)]));
    let links: Vec<Link> = (0..links).map(|hop| link(hop, hop + 1, 10_000_000, ms(1), discipline)).collect();
    Graph { routers: links.len() as u32 + 1, links, hosts: all, watched: 0 }
}

fn between(src: u32, dst: u32, flow: FlowSpec) -> FlowSpec {
    FlowSpec { src, dst, ..flow }
}

fn refusal(graph: Graph, flows: &[FlowSpec]) -> String {
    let outcome = netsim::run(&on(graph), flows, &Control::default());
    outcome.map_or_else(|error| error.to_string(), |_| "taken".to_owned())
}

#[test]
fn a_dumbbell_written_as_a_graph_is_the_dumbbell() {
    let mut flows: Vec<FlowSpec> = (0..60).map(|n| transfer(ms(20 * n), 1460 * (1 + n * 37 % 400))).collect();
    for (n, flow) in flows.iter_mut().enumerate() {
        (flow.src, flow.dst, flow.up) = (n as u32 % 5, n as u32 % 3, n % 4 == 0);
        flow.rtt = (n % 3 == 0).then(|| ms(30 + n as u64));
        flow.udp = (n % 7 == 0).then_some((700, ms(1)));
    }
    let mut run = wired("efd");
    run.network = Network { limit: Limit::Packets(20), loss: 0.001, ..run.network };
    let network = &run.network;
    let side = |delay| interface(network.rate.bps(), delay, "fifo");
    let forward = Interface { limit: network.limit, discipline: network.discipline.clone(), ..side(network.delay) };
    let reverse = Interface { limit: network.reverse_limit, ..side(network.delay) };
    let [forward, reverse] = [forward, reverse].map(|interface| Interface { loss: 0.001, ..interface });
    let links = vec![Link { from: 0, to: 1, forward, reverse }];
    let graph = Graph { routers: 2, links, hosts: vec![hosts(0, 5), hosts(1, 5)], watched: 0 };
    let global = |host: u32, left: bool| if left { host } else { 5 + host };
    let moved = |flow: &FlowSpec| between(global(flow.src, !flow.up), global(flow.dst, flow.up), *flow);
    let moved: Vec<FlowSpec> = flows.iter().map(moved).collect();
    let (plain, graphed) = (go(&run, &flows), go(&Run { graph: Some(graph), ..run.clone() }, &moved));
    assert!(plain.counters.drops > 0 && plain.counters.lost > 0);
    assert_eq!(format!("{:?}", plain.records), format!("{:?}", graphed.records));
    assert_eq!((plain.counters, plain.interfaces), (graphed.counters, graphed.interfaces));
}

#[test]
fn a_datagram_is_stored_and_forwarded_at_each_hop() {
    for hops in 1..=6_u32 {
        let flow = between(0, 1, datagrams(Time::ZERO, 0, 10, FULL, ms(2)));
        let output = go(&on(row(hops, "fifo")), &[flow]);
        // 120 us on either access link and 1.2 ms on each hop, and 1 ms on every link.
        let one_way = Time(2 * 120_000 + u64::from(hops) * 1_200_000 + u64::from(hops + 2) * 1_000_000);
        assert_eq!((output.records[0].first_data, output.records[0].finish), (one_way, ms(18) + one_way), "{hops}");
        assert_eq!(output.counters.packet_hops, 10 * u64::from(hops + 2));
        // In order: forward and reverse of each hop.
        let sent: Vec<u64> = output.interfaces.iter().map(|interface| interface.sent).collect();
        assert_eq!(sent, [10, 0].repeat(hops as usize));
    }
}

#[test]
fn each_hop_carries_what_crosses_it() {
    // 2 Mb/s all the way, and n + 1 Mb/s over hop n, for 10 s.
    let gap = |mbps: u64| Time(12_000_000 / mbps);
    let mut flows = vec![between(0, 1, datagrams(Time::ZERO, 0, 1 << 20, FULL, gap(2)))];
    flows.extend(
        (0..3).map(|n| between(2 + 2 * n, 3 + 2 * n, datagrams(Time::ZERO, 0, 1 << 20, FULL, gap(n as u64 + 1)))),
    );
    let run = Run { duration: ms(10_000), ..on(row(3, "fifo")) };
    let output = go(&run, &flows);
    for (hop, pair) in output.interfaces.chunks(2).enumerate() {
        let utilisation = pair[0].sent_bytes as f64 * 8.0 / 10e6 / 10.0;
        let expected = (2 + hop + 1) as f64 / 10.0;
        // Packets under way at the end: at most 20 ms of either flow.
        assert!((utilisation - expected).abs() < expected * 0.02 / 10.0 + 1500.0 * 8.0 / 100e6, "{hop}: {utilisation}");
        assert_eq!((pair[0].drops, pair[1].arrivals), (0, 0));
    }
    assert_eq!(output.counters.sent, output.interfaces[0].sent);
    let last = Run { graph: Some(Graph { watched: 2, ..row(3, "fifo") }), ..run };
    assert_eq!(go(&last, &flows).counters.sent, output.interfaces[4].sent);
}

#[test]
fn with_fair_queues_the_long_flow_gets_half_of_each_hop() {
    // Each source alone would fill every link: max-min fairness is one half each (Bertsekas and Gallager 1992, 6.5.2).
    for hops in [2, 3] {
        let full = datagrams(Time::ZERO, 0, 1 << 30, FULL, Time(1_000_000));
        let mut flows = vec![between(0, 1, full)];
        flows.extend((0..hops).map(|n| between(2 + 2 * n, 3 + 2 * n, full)));
        let run = Run { duration: ms(20_000), ..on(row(hops, "drr")) };
        let output = go(&run, &flows);
        for (index, record) in output.records.iter().enumerate() {
            let share = record.delivered_bytes as f64 / 1472.0 * 0.0012 / 20.0;
            // A queue of 300 packets takes 0.36 s to fill, and DRR may owe a packet at either end.
            assert!((share - 0.5).abs() < 0.5 * 0.36 / 20.0 + 0.005, "flow {index} of {hops} hops: {share}");
        }
        assert!(output.interfaces.iter().step_by(2).all(|interface| interface.drops > 0));
    }
}

#[test]
fn a_trace_follows_packets_over_all_hops() {
    for discipline in ["fifo", "las", "drr"] {
        let load = |gap| datagrams(Time::ZERO, 0, 20_000, FULL, Time(gap));
        let mut flows = vec![between(0, 1, load(3_000_000)), between(0, 1, transfer(Time::ZERO, 3_000_000))];
        flows.extend((0..3).map(|n| between(2 + 2 * n, 3 + 2 * n, load(1_500_000))));
        let mut graph = row(3, discipline);
        graph.links.iter_mut().for_each(|link| link.forward.loss = 0.01);
        let run = Run { duration: ms(60_000), traced: vec![0, 1, 2], ..on(graph) };
        let output = go(&run, &flows);
        let one_way = Time(2 * 120_000 + 3 * 1_200_000 + 5 * 1_000_000);
        let last_hop = Time(1_200_000 + 120_000 + 2 * 1_000_000);
        for index in [0, 1, 2] {
            let rows: Vec<_> = output.packets.iter().filter(|row| row.flow == index).collect();
            let record = output.records[index as usize];
            assert_eq!(rows.len() as u64, record.packets_sent);
            let dropped = rows.iter().filter(|row| row.dropped != Time::NEVER).count() as u64;
            assert!(dropped > 10, "{discipline}: {dropped} of flow {index}");
            if index != 1 {
                assert_eq!(dropped, record.drops + record.lost, "{discipline}, flow {index}");
                let delivered = rows.iter().filter(|row| row.received != Time::NEVER).count() as u64;
                assert_eq!(delivered * 1472, record.delivered_bytes, "{discipline}, flow {index}");
            }
            for row in rows {
                assert!([row.sent, row.queued, row.departed, row.received].is_sorted(), "{row:?}");
                if row.received != Time::NEVER && row.len == FULL {
                    assert_eq!(row.received - row.departed, last_hop, "{row:?}");
                    assert!(index == 2 || row.received - row.sent >= one_way, "{row:?}");
                }
            }
        }
    }
}

#[test]
fn a_flow_finds_its_way_back_and_takes_its_own_round_trip_time() {
    for (hops, up) in [(2, false), (3, false), (3, true)] {
        let quick = go(&on(row(hops, "fifo")), &[between(0, 1, transfer(Time::ZERO, 1460))]).records[0];
        let flow = FlowSpec { rtt: Some(ms(200)), up, ..between(0, 1, transfer(Time::ZERO, 1460)) };
        let slow = go(&on(row(hops, "fifo")), &[flow]).records[0];
        // SYN, SYN-ACK, data: three half round trips.
        let path = ms(u64::from(2 * (hops + 2)));
        assert_eq!((slow.first_data - quick.first_data).0, 3 * (ms(200) - path).0 / 2, "{hops} hops");
    }
}

#[test]
fn hosts_of_one_router_need_no_link() {
    let graph = Graph { hosts: vec![hosts(0, 3), hosts(1, 1)], ..row(1, "fifo") };
    let flows = [between(0, 2, datagrams(Time::ZERO, 0, 5, FULL, ms(1))), between(1, 3, transfer(Time::ZERO, 50_000))];
    let output = go(&on(graph), &flows);
    assert_eq!(output.records[0].finish, ms(4) + Time(2 * 1_120_000));
    assert_eq!(output.records[1].delivered_bytes, 50_000);
    assert_eq!(output.records[0].delivered_bytes, 5 * 1472);
}

#[test]
fn access_may_be_asymmetric() {
    // 8 Mb/s to the host and 1 Mb/s from it: a full packet takes 1.5 ms or 12 ms.
    let mut graph = row(1, "fifo");
    graph.hosts[1] = Hosts { up: rate(1_000_000), down: rate(8_000_000), ..graph.hosts[1] };
    let one = |src, dst| {
        go(&on(graph.clone()), &[between(src, dst, datagrams(Time::ZERO, 0, 1, FULL, ms(1)))]).records[0].finish
    };
    assert_eq!(one(0, 1), ms(3) + Time(120_000 + 1_200_000 + 1_500_000));
    assert_eq!(one(1, 0), ms(3) + Time(12_000_000 + 1_200_000 + 120_000));
    let mut run = wired("fifo");
    let (exit_rate, exit_rate_up) = (Some(rate(8_000_000)), Some(rate(1_000_000)));
    run.network = Network { reverse_rate: Some(rate(2_000_000)), exit_rate, exit_rate_up, ..run.network };
    let one = |up| go(&run, &[FlowSpec { up, ..datagrams(Time::ZERO, 0, 1, FULL, ms(1)) }]).records[0].finish;
    assert_eq!(one(false), ms(3) + Time(120_000 + 1_200_000 + 1_500_000));
    assert_eq!(one(true), ms(3) + Time(12_000_000 + 6_000_000 + 120_000));
}

#[test]
fn alone_means_without_the_others_on_the_same_path() {
    let mut graph = row(3, "efd");
    graph.links[1].forward.loss = 0.2;
    let run = Run { stop_when_idle: true, ..on(graph) };
    let flow = between(0, 1, transfer(ms(700), 300_000));
    let alone = netsim::alone(&run, &flow).expect("valid");
    let quiet = go(&Run { stop_when_idle: true, ..on(row(3, "fifo")) }, &[FlowSpec { start: Time::ZERO, ..flow }]);
    assert_eq!(alone.finish, quiet.records[0].finish);
    let across = netsim::alone(&run, &between(2, 3, flow)).expect("valid");
    assert!(across.finish < alone.finish);
}

#[test]
fn what_makes_no_network_is_refused_in_a_line() {
    let flow = between(0, 1, transfer(Time::ZERO, 1));
    let changed = |change: fn(&mut Graph)| {
        let mut graph = row(2, "fifo");
        change(&mut graph);
        refusal(graph, &[flow])
    };
    assert_eq!(changed(|_| ()), "taken");
    assert_eq!(changed(|graph| drop(graph.links.pop())), "flow 0: no path between its hosts");
    assert_eq!(changed(|graph| graph.routers = 0), "network: routers = 0: must be from 1 to 10000");
    assert_eq!(changed(|graph| graph.watched = 2), "network: watched = 2 of 2 links: must be one of 1 to 100000");
    let loop_back = changed(|graph| graph.links[1].to = 1);
    assert_eq!(loop_back, "network: link 1, from router 1 to 1: must be between two of the 3 routers");
    assert_eq!(changed(|graph| graph.hosts[0].at = 9), "network: hosts 0 at router 9: must be at one of the 3 routers");
    let slow = changed(|graph| graph.links[0].reverse.rate = BitRate::from_bps(1).expect("non-zero"));
    assert_eq!(slow, "network: link 0, from router 1 to 0: rate_bps = 1: must be from 1 kbit/s to 400 Gbit/s");
    let far = changed(|graph| graph.hosts[1].delay = Time(60_000_000_001));
    assert_eq!(far, "network: hosts 1 at router 2: delay_ns = 60000000001: must be at most 60 s");
    let lossy = changed(|graph| graph.links[0].forward.loss = 1.0);
    assert_eq!(lossy, "network: link 0, from router 0 to 1: loss = 1: must be at least 0 and below 1");
    assert_eq!(refusal(row(2, "fifo"), &[between(0, 6, flow)]), "flow 0: host the network does not have");
    assert_eq!(refusal(row(2, "fifo"), &[between(3, 3, flow)]), "flow 0: sends to itself");
    assert!(
        changed(|graph| graph.links[1].reverse.discipline.0 = "fifi".into()).starts_with("unknown discipline 'fifi'")
    );
}

/// Each interface and each flow of `output`, a line each.
fn table(output: &Output) -> String {
    let interfaces = output.interfaces.iter().enumerate().map(|(index, of)| {
        let way = ["forward", "reverse"][index % 2];
        let totals = format!("arrivals {:>6} drops {:>4} sent {:>6}", of.arrivals, of.drops, of.sent);
        format!("link {} {way}  {totals} bytes {:>9} mean queue {:.3}", index / 2, of.sent_bytes, of.queue_mean_packets)
    });
    let flows = output.records.iter().enumerate().map(|(index, of)| {
        let repairs = format!("retransmits {:>4} timeouts {:>3} drops {:>4}", of.retransmits, of.timeouts, of.drops);
        format!("flow {index}  delivered {:>9} {repairs} first data {:?}", of.delivered_bytes, of.first_data)
    });
    interfaces.chain(flows).collect::<Vec<String>>().join("\n")
}

#[test]
fn a_minute_of_three_hops_has_not_moved() {
    let mut flows = vec![between(0, 1, transfer(Time::ZERO, 1 << 40))];
    flows.extend((0..3).map(|n| between(2 + 2 * n, 3 + 2 * n, transfer(ms(100 * u64::from(n)), 1 << 40))));
    flows.push(between(3, 2, transfer(ms(500), 3_000_000)));
    flows.push(between(4, 7, datagrams(ms(700), 0, 50_000, FULL, ms(6))));
    let mut graph = row(3, "efd");
    graph.links[1].forward = Interface { limit: Limit::Packets(40), ..interface(8_000_000, ms(5), "fifo") };
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("three_hops", table(&go(&on(graph), &flows))));
}

/// Links between routers of `routers`, with delays in milliseconds both ways.
fn links(routers: u32) -> impl Strategy<Value = Vec<(u32, u32, u64, u64)>> {
    let one = (0..routers, 1..routers, 0..4_u64, 0..4_u64);
    prop::collection::vec(one.prop_map(move |(a, step, to, back)| (a, (a + step) % routers, to, back)), 1..20)
}

/// Least delay between all pairs, milliseconds (Floyd 1962); none where there is no path.
fn all_pairs(routers: usize, links: &[(u32, u32, u64, u64)]) -> Vec<Vec<Option<u64>>> {
    let mut least = vec![vec![None; routers]; routers];
    for (router, row) in least.iter_mut().enumerate() {
        row[router] = Some(0);
    }
    let mut join = |a: u32, b: u32, ms: u64| {
        let known = &mut least[a as usize][b as usize];
        *known = Some(known.map_or(ms, |known: u64| known.min(ms)));
    };
    for &(from, to, forth, back) in links {
        join(from, to, forth);
        join(to, from, back);
    }
    for via in 0..routers {
        for from in 0..routers {
            for to in 0..routers {
                if let (Some(first), Some(second)) = (least[from][via], least[via][to]) {
                    let sum = first + second;
                    least[from][to] = Some(least[from][to].map_or(sum, |known| known.min(sum)));
                }
            }
        }
    }
    least
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_takes_a_shortest_path(links in (2..9_u32).prop_flat_map(links)) {
        let routers = links.iter().map(|&(from, to, ..)| from.max(to) + 1).max().unwrap_or(0);
        let least = all_pairs(routers as usize, &links);
        let fast = |from, to, forth: u64, back: u64| {
            let side = |delay| interface(400_000_000_000, ms(delay), "fifo");
            Link { from, to, forward: side(forth), reverse: side(back) }
        };
        let links = links.iter().map(|&(from, to, forth, back)| fast(from, to, forth, back)).collect();
        let at = |at| Hosts { at, count: 1, up: rate(400_000_000_000), down: rate(400_000_000_000), delay: ms(1) };
        let graph = Graph { routers, links, hosts: (0..routers).map(at).collect(), watched: 0 };
        let run = Run { duration: ms(1000), ..on(graph.clone()) };
        for (from, row) in least.iter().enumerate() {
            for (to, least) in row.iter().enumerate().filter(|&(to, _)| to != from) {
                let flow = between(from as u32, to as u32, datagrams(Time::ZERO, 0, 1, 100, ms(1)));
                match least {
                    Some(least) => {
                        // 2 ns on each of at most 10 links.
                        let took = go(&run, &[flow]).records[0].finish;
                        prop_assert!(took.0 - ms(least + 2).0 <= 20, "{from} to {to}: {took:?}, not {least} ms");
                    }
                    None => prop_assert_eq!(refusal(graph.clone(), &[flow]), "flow 0: no path between its hosts"),
                }
            }
        }
    }
}
