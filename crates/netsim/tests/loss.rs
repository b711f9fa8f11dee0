//! A lossy bottleneck: how many, which, and that each is counted once.

use netsim::{FlowSpec, Run};
use units::Time;

use crate::dumbbell::{FULL, bottleneck, datagrams, go, ms, transfer, wired};

fn lossy(run: Run, loss: f64) -> Run {
    let network = netsim::Network { loss, ..run.network };
    Run { network, ..run }
}

#[test]
fn a_datagram_is_lost_with_the_given_probability_and_still_takes_its_time_on_the_link() {
    let count = 40_000;
    let flow = datagrams(Time::ZERO, 0, count, FULL, Time(1_200_000));
    for loss in [0.001, 0.02, 0.3, 0.9] {
        let output = go(&lossy(bottleneck("fifo"), loss), &[flow]);
        let (record, counters) = (output.records[0], output.counters);
        let (mean, deviation) = (loss * count as f64, (loss * (1.0 - loss) * count as f64).sqrt());
        // Normal, 99.9 %: 3.29.
        assert!((record.lost as f64 - mean).abs() < 3.29 * deviation, "{loss}: {} lost, not {mean}", record.lost);
        assert_eq!(record.delivered_bytes, (count - record.lost) * 1472);
        assert_eq!((record.drops, counters.drops, counters.lost), (0, 0, record.lost));
        assert_eq!((counters.sent, counters.sent_bytes), (count, count * u64::from(FULL)));
        // A lost datagram ends its journey on the second of three links.
        assert_eq!(counters.packet_hops, 3 * count - record.lost);
        assert_ne!(record.finish, Time::NEVER);
    }
}

#[test]
fn only_packets_with_data_are_lost_either_way_and_all_are_sent_again() {
    let run = Run { duration: ms(4_000_000), stop_when_idle: true, ..lossy(wired("fifo"), 0.02) };
    let flows = [false, true].map(|up| FlowSpec { up, ..transfer(Time::ZERO, 3_000 * 1460) });
    let output = go(&run, &flows);
    let counters = output.counters;
    assert_eq!((counters.drops, counters.reverse_drops), (0, 0));
    assert_eq!([counters.lost, counters.reverse_lost], [0, 1].map(|flow: usize| output.records[flow].lost));
    for record in &output.records {
        assert_eq!(record.delivered_bytes, 3_000 * 1460);
        assert!(record.lost > 20 && record.retransmits >= record.lost, "{record:?}");
    }
}

#[test]
fn every_discipline_meets_the_same_losses_of_a_flow_that_never_waits() {
    let flow = datagrams(Time::ZERO, 0, 20_000, FULL, ms(2));
    let lost = |id: &str| go(&lossy(bottleneck(id), 0.05), &[flow]).records[0].delivered_bytes;
    for id in ["las", "efd", "fq_codel"] {
        assert_eq!(lost(id), lost("fifo"), "{id}");
    }
}

#[test]
fn alone_on_its_path_a_flow_loses_nothing() {
    let (clean, lossy) = (wired("fifo"), lossy(wired("fifo"), 0.3));
    let flow = transfer(Time::ZERO, 100 * 1460);
    assert_eq!(netsim::alone(&lossy, &flow), netsim::alone(&clean, &flow));
}

#[test]
fn a_probability_is_at_least_0_and_below_1() {
    for loss in [-0.1, 1.0, 7.0, f64::NAN] {
        let refused = netsim::run(&lossy(wired("fifo"), loss), &[], &netsim::Control::default());
        let message = refused.map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(message, Err(format!("network.loss = {loss}: must be at least 0 and below 1")));
    }
}
