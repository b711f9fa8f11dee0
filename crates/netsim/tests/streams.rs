//! A run of a stream is that of the list with the same flows, record by record.

use netsim::tcp::settings::Recovery;
use netsim::{ConfigError, Control, FlowRecord, FlowSpec, Output, Run, Sink, run_streamed};
use qdisc::Limit;
use units::{Stream, Time};

use crate::dumbbell::{disciplines, go, ms, poisson, rate, transfer, wired};

const HOSTS: [u32; 2] = [5, 4];

/// The records that came, with the places of their flows.
#[derive(Default)]
struct Kept(Vec<(u32, FlowSpec, FlowRecord)>);

impl Sink for Kept {
    fn take(&mut self, place: u32, flow: &FlowSpec, record: &FlowRecord) -> Result<(), String> {
        self.0.push((place, *flow, *record));
        Ok(())
    }
}

fn streamed(run: &Run, flows: &[FlowSpec]) -> Result<(Output, Kept), ConfigError> {
    let mut kept = Kept::default();
    let output = run_streamed(run, HOSTS, &mut flows.iter().copied(), &mut kept, &Control::default())?;
    Ok((output, kept))
}

/// Transfers both ways between all hosts, an overload for a while; every seventh has a round-trip time of its own.
fn mix(seed: u64, count: usize, span: Time) -> Vec<FlowSpec> {
    let mut random = Stream::named(seed, "mix");
    let mut draw = |among: u32| (random.uniform() * f64::from(among)) as u32;
    let flow = |start| {
        let up = draw(4) == 0;
        let [near, far] = [draw(HOSTS[0]), draw(HOSTS[1])];
        let (src, dst) = if up { (far, near) } else { (near, far) };
        let rtt = (draw(7) == 0).then(|| ms(20 + u64::from(draw(80))));
        let most = if draw(10) == 0 { 200 } else { 12 };
        let bytes = 1 + u64::from(draw(1460 * most));
        FlowSpec { src, dst, up, rtt, receiver_opens: draw(2) == 0, ..transfer(start, bytes) }
    };
    poisson(seed, count, span).into_iter().map(flow).collect()
}

fn same(run: &Run, flows: &[FlowSpec], name: &str) -> Kept {
    let list = go(run, flows);
    let (stream, kept) = streamed(run, flows).expect("valid");
    let mut records = kept.0.clone();
    records.sort_by_key(|&(place, ..)| place);
    let begun = list.records.iter().filter(|record| record.start != Time::NEVER).count();
    let told: Vec<u32> = records.iter().map(|&(place, ..)| place).collect();
    assert_eq!(told, (0..begun as u32).collect::<Vec<_>>(), "{name}");
    for (place, flow, record) in records {
        assert_eq!(flow, flows[place as usize], "{name}, flow {place}");
        // What a flow had at the end of the warm-up is told of cells, which streams do not have.
        let listed = FlowRecord { warm_up_bytes: record.warm_up_bytes, ..list.records[place as usize] };
        // Means without samples are no numbers.
        assert_eq!(format!("{record:?}"), format!("{listed:?}"), "{name}, flow {place}");
    }
    let (of_list, of_stream) = (list.counters.queue_delay, stream.counters.queue_delay);
    assert!((of_stream.squares_s2 / of_list.squares_s2 - 1.0).abs() < 1e-9, "{name}: a sum in another order");
    let counters = netsim::Counters { queue_delay: of_list, ..stream.counters };
    assert_eq!(format!("{counters:?}"), format!("{:?}", list.counters), "{name}");
    assert_eq!((of_stream.packets, of_stream.sum_ns, of_stream.max), (of_list.packets, of_list.sum_ns, of_list.max));
    assert_eq!((stream.books, stream.samples), (list.books, list.samples), "{name}");
    kept
}

#[test]
fn under_every_discipline_the_records_are_those_of_the_list() {
    let flows = mix(1, 600, ms(40_000));
    for discipline in disciplines() {
        let mut run = wired(discipline);
        (run.network.rate, run.network.limit) = (rate(3_000_000), Limit::Packets(40));
        run.duration = ms(45_000);
        run.sample_interval = ms(500);
        let kept = same(&run, &flows, discipline);
        assert!(kept.0.iter().any(|(.., record)| record.drops > 0 && record.finish != Time::NEVER), "{discipline}");
    }
}

#[test]
fn with_linux_senders_losses_a_warm_up_and_an_idle_end_they_are_too() {
    let flows = mix(2, 400, ms(60_000));
    for (recovery, loss, recycled) in [(Recovery::Linux, 0.0, false), (Recovery::Sack, 0.03, true)] {
        let mut run = wired("fq_codel");
        (run.tcp.recovery, run.network.loss, run.tcp.recycled_senders) = (recovery, loss, recycled);
        run.tcp.tick = ms(4);
        (run.stop_when_idle, run.duration, run.counting.warm_up) = (true, ms(600_000), ms(10_000));
        run.tcp.timestamps = true;
        same(&run, &flows, &format!("{recovery:?}"));
    }
}

#[test]
fn records_leave_while_the_run_goes_on_and_unfinished_ones_at_its_end() {
    let mut flows = mix(3, 300, ms(40_000));
    flows[5].size_bytes = 1 << 40;
    let mut run = wired("fifo");
    run.duration = ms(40_000);
    let kept = same(&run, &flows, "endless");
    let place = kept.0.iter().position(|&(place, ..)| place == 5).expect("it has a record");
    assert!(place > 250, "{place} came before the endless flow");
    assert!(kept.0[..place].iter().filter(|(.., record)| record.finish == Time::NEVER).count() == 0);
}

#[test]
fn flows_one_after_the_other_all_have_records() {
    struct Counted(u64);
    impl Sink for Counted {
        fn take(&mut self, _: u32, _: &FlowSpec, record: &FlowRecord) -> Result<(), String> {
            self.0 += u64::from(record.finish != Time::NEVER);
            Ok(())
        }
    }
    let (mut run, mut counted) = (wired("las"), Counted(0));
    (run.duration, run.stop_when_idle) = (ms(100_000_000), true);
    let mut flows = (0..20_000).map(|n| transfer(ms(1000 * n), 1));
    run_streamed(&run, [1, 1], &mut flows, &mut counted, &Control::default()).expect("valid");
    assert_eq!(counted.0, 20_000);
}

#[test]
fn what_streams_do_not_have_is_refused() {
    let refusal = |change: fn(&mut Run, &mut Vec<FlowSpec>)| {
        let (mut run, mut flows) = (wired("fifo"), mix(4, 20, ms(1000)));
        change(&mut run, &mut flows);
        streamed(&run, &flows).err().map_or_else(|| "taken".to_owned(), |error| error.to_string())
    };
    assert_eq!(refusal(|_, _| ()), "taken");
    let quic = |run: &mut Run, _: &mut Vec<FlowSpec>| {
        (run.tcp.recovery, run.tcp.header, run.tcp.tick) = (Recovery::Quic, 54, ms(1));
        run.tcp.fin = false;
    };
    assert_eq!(refusal(|run, _| run.trace_drops = true), "a stream of flows: must be without traces and sub-flows");
    assert_eq!(refusal(quic), "a stream of flows: must be without QUIC");
    assert_eq!(refusal(|_, flows| flows[7].start = Time::ZERO), "flow 7: starts before the one listed before it");
    assert_eq!(refusal(|_, flows| flows[0].size_bytes = 0), "flow 0: size of 0 bytes");
    assert_eq!(refusal(|_, flows| flows[3].src = 9), "flow 3: host the stream does not have");
    let waits = "flow 3: waits, or others wait for it: must not in a stream";
    assert_eq!(refusal(|_, flows| flows[3].stage = Some(0)), waits);
    let plain = "flow 2: is no plain transfer: a stream must have none but these";
    assert_eq!(refusal(|_, flows| flows[2].udp = Some((1500, ms(1)))), plain);
}

#[test]
fn a_sink_that_fails_ends_the_run() {
    struct Full;
    impl Sink for Full {
        fn take(&mut self, place: u32, _: &FlowSpec, _: &FlowRecord) -> Result<(), String> {
            if place > 3 { Err("the disk is full".to_owned()) } else { Ok(()) }
        }
    }
    let mut flows = mix(5, 50, ms(10_000)).into_iter();
    let told = run_streamed(&wired("fifo"), HOSTS, &mut flows, &mut Full, &Control::default());
    assert_eq!(told.map(|_| ()), Err(ConfigError::Stream("the disk is full".into())));
}
