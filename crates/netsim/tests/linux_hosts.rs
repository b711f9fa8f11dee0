//! Hosts of Linux: what waits for the access link, and how BBR fills a path.

use netsim::tcp::settings::{Congestion, Recovery};
use netsim::{FlowSpec, Run};
use qdisc::Limit;

use crate::dumbbell::{go, ms, rate, wired};

/// 40 ms and 10 Mb/s with room for more than a flow sends, and hosts with a window of 1000 segments.
fn path(recovery: Recovery, congestion: Congestion, access_bps: u64) -> Run {
    let mut run = Run { duration: ms(60_000), ..wired("fifo") };
    run.network.delay = ms(18);
    run.network.access_rate = rate(access_bps);
    run.network.exit_rate = Some(rate(100_000_000));
    run.network.limit = Limit::Packets(2000);
    let tcp = &mut run.tcp;
    (tcp.receiver_window, tcp.initial_window) = (1000, 10);
    (tcp.recovery, tcp.congestion, tcp.timestamps) = (recovery, congestion, true);
    (tcp.tick, tcp.delayed_ack, tcp.byte_counting) = (ms(1), ms(40), true);
    run
}

/// Mean round-trip time of a download of 3 MB, seconds, and how long it takes.
fn download(run: &Run) -> (f64, f64) {
    let flow = FlowSpec { size_bytes: 3_000_000, ..FlowSpec::default() };
    let record = go(run, &[flow]).records[0];
    (record.rtt_mean_s, record.finish.as_secs_f64())
}

/// Behind an access link of 4 Mb/s, slower than the bottleneck, a sender has two buffers of two segments in its host's queue
/// at most, 12 ms, or a millisecond of its pace; without that bound it has all of its window there, seconds.
#[test]
fn what_waits_for_a_slow_access_link_waits_in_the_sender() {
    let (bounded, took) = download(&path(Recovery::Linux, Congestion::Cubic, 4_000_000));
    let (unbounded, took_unbounded) = download(&path(Recovery::Sack, Congestion::Cubic, 4_000_000));
    assert!((0.04..0.08).contains(&bounded), "{bounded}");
    assert!(unbounded > 0.5, "{unbounded}");
    assert!((took / took_unbounded - 1.0).abs() < 0.02, "{took} {took_unbounded}");
}

/// Behind an access link ten times as fast as the bottleneck the queue is at the bottleneck, and the bound costs nothing:
/// the link is never idle for it.
#[test]
fn a_fast_access_link_leaves_the_queue_to_the_bottleneck() {
    let (linux, took) = download(&path(Recovery::Linux, Congestion::Cubic, 100_000_000));
    let (other, took_other) = download(&path(Recovery::Sack, Congestion::Cubic, 100_000_000));
    assert!(linux > 0.2 && other > 0.2, "{linux} {other}");
    assert!((took / took_other - 1.0).abs() < 0.02, "{took} {took_other}");
}

/// BBR fills the link with a queue that is short: two round trips' worth in start-up, half of one then.
#[test]
fn bbr_fills_the_link_with_a_short_queue() {
    let (rtt, took) = download(&path(Recovery::Linux, Congestion::Bbr, 100_000_000));
    let least = 3_000_000.0 * 8.0 / 10e6 * 1500.0 / 1448.0;
    assert!(took < 1.12 * least, "{took} of {least}");
    assert!((0.04..0.09).contains(&rtt), "{rtt}");
}
