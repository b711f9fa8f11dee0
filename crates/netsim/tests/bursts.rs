//! UDP flows that send in bursts, to the nanosecond.

use netsim::{Burst, Bursts, Control, FlowSpec, Output, Run};
use units::Time;

use crate::dumbbell::{bottleneck, datagrams, go, ms, transfer};

type Change<'a> = &'a dyn Fn(&mut Run, &mut FlowSpec);

fn burst(at: Time, gap: Time, packets: u64, len: u32) -> Burst {
    Burst { at, gap, packets, len }
}

/// A run of one UDP flow that starts after 5 ms and sends `list`.
fn one(list: Vec<Burst>) -> (Run, FlowSpec) {
    let size = list.iter().map(|burst| burst.packets * u64::from(burst.len - 28)).sum();
    let mut run = bottleneck("fifo");
    run.traced = vec![0];
    run.bursts = Bursts { of: vec![(0, 0..list.len())], list };
    (run, FlowSpec { udp: Some((1000, ms(1))), ..transfer(ms(5), size) })
}

fn departed(output: &Output) -> Vec<Time> {
    output.packets.iter().map(|packet| packet.departed).collect()
}

/// Departures of the packets from the queue, which is empty before each.
fn departures(list: Vec<Burst>) -> Vec<Time> {
    let (run, flow) = one(list);
    departed(&go(&run, &[flow]))
}

#[test]
fn packets_leave_when_their_burst_says() {
    // On the access link 1000 bytes take 20 ns, 500 bytes 10 ns.
    let list = vec![burst(ms(3), ms(2), 3, 1000), burst(ms(20), ms(1), 1, 500), burst(ms(21), ms(4), 2, 1000)];
    let sent = [(8, 20), (10, 20), (12, 20), (25, 10), (26, 20), (30, 20)];
    assert_eq!(departures(list), sent.map(|(at, access)| ms(at) + Time(access)));
}

#[test]
fn a_burst_from_the_start_is_a_constant_rate() {
    let (mut run, flow) = one(vec![burst(Time::ZERO, ms(1), 40, 1000)]);
    let own = go(&run, &[flow]);
    run.bursts = Bursts::default();
    let constant = go(&run, &[flow]);
    assert_eq!((&own.packets, own.counters), (&constant.packets, constant.counters));
    assert_eq!((own.packets.len(), own.records[0].finish), (40, constant.records[0].finish));
}

#[test]
fn a_flow_ends_with_its_last_burst_and_others_go_on_beside_it() {
    let (mut run, flow) = one(vec![burst(ms(1), ms(1), 2, 1000), burst(ms(40), Time::ZERO, 1, 100)]);
    run.bursts.of[0].0 = 1;
    run.traced = Vec::new();
    let output = go(&run, &[datagrams(ms(0), 1, 100, 1000, ms(2)), flow]);
    let [constant, own] = [0, 1].map(|index| output.records[index]);
    assert_eq!((constant.packets_sent, own.packets_sent), (100, 3));
    assert_eq!(own.delivered_bytes, 2 * 972 + 72);
    assert!(own.finish > ms(45) && own.finish < ms(47), "{:?}", own.finish);
}

#[test]
fn bursts_that_make_no_sense_are_refused() {
    let good = || vec![burst(ms(0), ms(1), 3, 1000), burst(ms(2), ms(1), 1, 1000)];
    let refused = |change: Change| {
        let (mut run, mut flow) = one(good());
        run.traced = Vec::new();
        change(&mut run, &mut flow);
        netsim::run(&run, &[flow], &Control::default()).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(refused(&|_, _| {}), Ok(()));
    let cases: [(Change, &str); 8] = [
        (
            &|run, _| run.bursts.list[1].at = Time(1_999_999),
            "flow 0: has a burst that begins before the end of the one",
        ),
        (&|run, _| run.bursts.list[0].packets = 0, "flow 0: has a burst without packets"),
        (&|run, _| run.bursts.list[0].len = 28, "flow 0: has a burst without packets, or with packets outside 29"),
        (&|run, _| run.bursts.list[1].at = Time(u64::MAX), "flow 0: has a burst after 2 years"),
        (&|_, flow| flow.size_bytes += 1, "flow 0: has a size other than that of its bursts"),
        (&|_, flow| flow.udp = None, "flow 0: has bursts and is no UDP flow"),
        (&|run, _| run.bursts.of[0].1 = 1..9, "flow 0: has bursts outside the list"),
        (&|run, _| run.bursts.of.push((0, 0..1)), "flow 0: has its bursts out of order"),
    ];
    for (change, told) in cases {
        let error = refused(change).expect_err(told);
        assert!(error.starts_with(told), "{error}");
    }
}
