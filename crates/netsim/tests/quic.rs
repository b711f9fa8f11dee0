//! QUIC on a dumbbell: closed forms of the handshake, of streams, of losses.

use netsim::tcp::settings::{Congestion, EcnMode, Recovery, StreamOrder};
use netsim::{Control, FlowSpec, Output, OwnTransport, Part, Run, Scripts, Tcp, Train};
use netsim::{Effect, Impairment, Way, Whom};
use qdisc::Limit;
use units::{Stream, Time};

use crate::dumbbell::{FASTEST_BPS, disciplines, go, ms, rate, transfer, wired};

/// Round-trip time of `distant`.
const RTT: u64 = 100;

/// Probe timeout of the server's first data, microseconds. Each of the three datagrams of its handshake was acknowledged
/// at once: samples of 100 ms, of which the first has half as its deviation, and each further one takes a quarter off.
const TIMEOUT_US: u64 = 1000 * RTT + 4 * (1000 * RTT / 2) * 9 / 16 + 25_000;

/// As the preset `quic` has it.
fn quic(tcp: &Tcp) -> Tcp {
    Tcp {
        mss: 1315,
        header: 63,
        initial_window: 10,
        receiver_window: 4000,
        initial_rto: ms(999),
        min_rto: ms(1),
        tick: ms(1),
        delayed_ack: ms(25),
        fin: false,
        recovery: Recovery::Quic,
        ack_every: 2,
        handshake_bytes: 3000,
        congestion: Congestion::Aimd,
        ..tcp.clone()
    }
}

/// A path of 100 ms on which sending takes next to no time.
fn distant() -> Run {
    let mut run = wired("fifo");
    (run.network.rate, run.network.access_rate) = (rate(FASTEST_BPS), rate(FASTEST_BPS));
    (run.network.delay, run.network.access_delay, run.network.exit_delay) = (ms(30), ms(10), ms(10));
    run.network.limit = Limit::Packets(100_000);
    run.tcp = quic(&run.tcp);
    run
}

/// A link of 10 Mb/s with a round trip of 100 ms.
fn slow() -> Run {
    let mut run = distant();
    run.network.rate = rate(10_000_000);
    run
}

fn milliseconds(time: Time) -> u64 {
    time.0 / 1_000_000
}

fn down(bytes: u64, wait: u64) -> Train {
    Train { forward: true, bytes, wait: ms(wait), pace: Time::ZERO }
}

fn up(bytes: u64, wait: u64) -> Train {
    Train { forward: false, ..down(bytes, wait) }
}

/// A page of answers of `sizes`, each on a stream of its own, as are the requests of 400 bytes.
fn page(run: &Run, sizes: &[u64], think: u64) -> Output {
    let count = sizes.len() as u64;
    let trains = vec![up(400 * count, 0), down(sizes.iter().sum(), think)];
    let mut parts = Vec::new();
    for (train, lengths) in [(0, vec![400; sizes.len()]), (1, sizes.to_vec())] {
        let mut end = 0;
        for (number, bytes) in (1..).zip(lengths) {
            end += bytes;
            parts.push(Part { train, end, number });
        }
    }
    let size_bytes = trains.iter().map(|train| train.bytes).sum();
    let scripts = Scripts { list: vec![trains], parts: vec![parts], streams: vec![vec![0, 1]], ..Scripts::default() };
    let flow = FlowSpec { size_bytes, receiver_opens: true, script: Some(0), ..FlowSpec::default() };
    go(&Run { scripts: scripts.into(), ..run.clone() }, &[flow])
}

/// When each answer had come.
fn answers(output: &Output) -> Vec<Time> {
    output.trains.iter().filter(|train| train.forward && train.part > 0).map(|train| train.end).collect()
}

fn drop_packet(number: u32) -> Impairment {
    Impairment { direction: Way::Data, whom: Whom::Segment { number, transmission: 1 }, effect: Effect::Drop }
}

/// RFC 9001, Figure 1, and RFC 9000, 8.1: one packet of data at its receiver.
#[test]
fn the_handshake_takes_a_round_trip_and_another_for_a_long_certificate() {
    let came = |handshake_bytes, receiver_opens, early_data| {
        let mut run = distant();
        (run.tcp.handshake_bytes, run.tcp.early_data) = (handshake_bytes, early_data);
        let output = go(&run, &[FlowSpec { receiver_opens, ..transfer(Time::ZERO, 1000) }]);
        milliseconds(output.records[0].finish)
    };
    let half = RTT / 2;
    // The client sends data: with its Finished, or with its first packet.
    assert_eq!([came(3000, false, false), came(3000, false, true)], [3 * half, half]);
    // The server does, once it has that, or once it has heard of the client.
    assert_eq!([came(3000, true, false), came(300, true, true)], [4 * half, 2 * half]);
    // 3600 bytes may go to an address that is not proved: two datagrams of 1350 and one of 900.
    let most = 3600 - 3 * (44 + 5) - 8;
    assert_eq!([came(most, true, false), came(most + 100, true, false)], [4 * half, 6 * half]);
}

/// A full datagram is as long as a full packet, whatever its frames; the rest is counted byte by byte.
#[test]
fn lengths_on_the_wire_are_those_of_the_frames() {
    let mut run = distant();
    run.trace_limit = 100;
    run.traced = vec![0];
    // Two full packets and a bit, by the server: Initial and Handshake before.
    let output = go(&run, &[FlowSpec { receiver_opens: true, ..transfer(Time::ZERO, 2 * 1300 + 500) }]);
    let lengths: Vec<(u32, u32)> = output.packets.iter().map(|packet| (packet.number, packet.len)).collect();
    // ACK of the hello (8 bytes) and CRYPTO headers of 4, 5 and 5 bytes, and 44 of the long header.
    let first = 1350 - 44 - 5 - 4;
    let second = 1350 - 44 - 5;
    let third = 28 + 44 + 5 + (3000 - first - second);
    let (zero, one) = (1378, 1378);
    // HANDSHAKE_DONE and STREAM headers of 4, then of 6 bytes.
    let payload = (1350 - 27 - 1 - 4) + (1350 - 27 - 6);
    let last = 28 + 27 + 6 + (3100 - payload);
    let got: Vec<u32> = lengths.iter().map(|&(_, len)| len).collect();
    assert_eq!(got, [1378, 1378, third, zero, one, last]);
    let numbers: Vec<u32> = lengths.iter().map(|&(number, _)| number).collect();
    assert_eq!(numbers, [0, 0, 0, 1, 2, 3]);
}

/// A lost packet holds up the stream whose data it carried, and no other. Over one stream it holds up all behind it.
#[test]
fn a_lost_packet_delays_its_own_stream_only() {
    let sizes = [1310; 6];
    let mut run = distant();
    let whole = answers(&page(&run, &sizes, 0));
    let came = 2 * RTT;
    assert_eq!(whole.iter().map(|&at| milliseconds(at)).collect::<Vec<_>>(), [came; 6]);
    // The server's first packet confirms the handshake, the second one has the first answer, the third the second.
    run.network.impairments = vec![drop_packet(3)];
    let lossy = answers(&page(&run, &sizes, 0));
    let late: Vec<usize> = (0..6).filter(|&answer| lossy[answer] != whole[answer]).collect();
    assert_eq!(late, [1]);
    // Found by three packets behind it, half a round trip after they came; again under way for half of one.
    assert_eq!(milliseconds(lossy[1]), came + RTT);
    // The same bytes as one stream, as HTTP/2 has them over TCP: what is behind the gap waits.
    let parts: Vec<Part> = (1..=6).map(|number| Part { train: 1, end: u64::from(number) * 1310, number }).collect();
    let scripts =
        Scripts { list: vec![vec![up(2400, 0), down(6 * 1310, 0)]], parts: vec![parts], ..Scripts::default() };
    let flow = FlowSpec { size_bytes: 2400 + 6 * 1310, receiver_opens: true, script: Some(0), ..FlowSpec::default() };
    let one = answers(&go(&Run { scripts: scripts.into(), ..run }, &[flow]));
    let waits = one.iter().map(|&at| milliseconds(at)).collect::<Vec<_>>();
    assert_eq!(waits, [came, came + RTT, came + RTT, came + RTT, came + RTT, came + RTT]);
}

#[test]
fn streams_have_turns_or_come_one_after_the_other() {
    let mut run = slow();
    let sizes = [200_000, 200_000];
    let incremental = answers(&page(&run, &sizes, 0));
    run.tcp.stream_order = StreamOrder::Sequential;
    let sequential = answers(&page(&run, &sizes, 0));
    // In turns both end together, else the first ends when half has come.
    assert!(incremental[1] - incremental[0] < ms(3));
    assert!(sequential[1] - sequential[0] > ms(140));
    assert!(sequential[0] < incremental[0]);
}

/// Tail loss: nothing behind the last packet tells of it, so the probe timeout does (RFC 9002, 6.2): after the
/// acknowledgement of what was before, smoothed + 4 var + the peer's delay.
#[test]
fn the_last_packet_is_repaired_by_a_probe() {
    let mut run = distant();
    run.network.impairments = vec![drop_packet(1)];
    let output = go(&run, &[FlowSpec { receiver_opens: true, ..transfer(Time::ZERO, 1000) }]);
    assert_eq!(milliseconds(output.records[0].finish), (3_000 * RTT / 2 + TIMEOUT_US + 1000 * RTT / 2) / 1000);
    assert_eq!((output.records[0].timeouts, output.records[0].lost), (1, 1));
}

/// RFC 9002, 6.2.1: each timeout doubles the next; what is sent again has a number of its own.
#[test]
fn probe_timeouts_double_and_numbers_are_never_used_again() {
    let mut run = distant();
    run.traced = vec![0];
    (run.tcp.syn_retries, run.tcp.retries) = (Some(3), Some(4));
    let from = ms(140);
    run.network.impairments =
        vec![Impairment { direction: Way::Data, whom: Whom::Window { from, to: ms(100_000) }, effect: Effect::Drop }];
    let output = go(&run, &[FlowSpec { receiver_opens: true, ..transfer(Time::ZERO, 1000) }]);
    let expected: Vec<u64> = (1..5).map(|n| (3_000 * RTT / 2 + TIMEOUT_US * ((1 << n) - 1)) / 1000).collect();
    let found: Vec<u64> =
        output.timeouts.iter().filter(|one| one.time > ms(150)).map(|one| milliseconds(one.time)).collect();
    assert!(output.records[0].gave_up);
    let server: Vec<u64> = expected.into_iter().filter(|at| found.contains(at)).collect();
    assert_eq!(server.len(), 4, "{found:?}");
    let numbers: Vec<u32> = output.packets.iter().map(|packet| packet.number).filter(|&number| number > 0).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
}

/// A transfer takes at least the handshake and the time its bytes need, and on a link without losses not much more.
#[test]
fn a_transfer_fills_the_link() {
    for congestion in [Congestion::Aimd, Congestion::Cubic, Congestion::Bbr, Congestion::Bbr3] {
        let mut run = slow();
        (run.tcp.congestion, run.tcp.pacing) = (congestion, true);
        run.network.limit = Limit::Packets(100);
        let bytes = 10_000_000;
        let output = go(&run, &[FlowSpec { receiver_opens: true, ..transfer(Time::ZERO, bytes) }]);
        let packets = bytes.div_ceil(1317);
        let least = (bytes + packets * 61) as f64 * 8e-7 + 0.2;
        let took = output.records[0].finish.as_secs_f64();
        assert!((least..1.25 * least + 1.0).contains(&took), "{congestion:?}: {took} s of {least} s");
        assert_eq!(output.records[0].delivered_bytes, bytes);
    }
}

#[test]
fn bytes_are_conserved_whatever_is_lost() {
    let mut draws = Stream::named(3, "quic");
    for discipline in disciplines() {
        for _ in 0..2 {
            let mut run = wired(discipline);
            run.tcp = quic(&run.tcp);
            run.tcp.ack_every = 1 + (draws.uniform() * 8.0) as u32;
            run.tcp.congestion = [Congestion::Aimd, Congestion::Cubic, Congestion::Bbr, Congestion::Bbr3]
                [(draws.uniform() * 4.0) as usize];
            run.tcp.receiver_window = 20 + (draws.uniform() * 500.0) as u32;
            run.tcp.early_data = draws.uniform() < 0.3;
            run.tcp.pacing = draws.uniform() < 0.5;
            run.network.loss = 0.2 * draws.uniform();
            run.network.limit = Limit::Packets(5 + (draws.uniform() * 60.0) as u32);
            let flows: Vec<FlowSpec> = (0..4)
                .map(|flow| FlowSpec {
                    receiver_opens: flow % 2 == 0,
                    up: flow == 3,
                    ..transfer(ms(100 * flow), 1 + (draws.uniform() * 300_000.0) as u64)
                })
                .collect();
            run.duration = ms(600_000);
            let output = go(&run, &flows);
            // Means of nothing are no numbers, which equal nothing.
            assert_eq!(format!("{output:?}"), format!("{:?}", go(&run, &flows)), "{discipline}");
            for (flow, record) in flows.iter().zip(&output.records) {
                assert_eq!(record.delivered_bytes, flow.size_bytes, "{discipline}");
                assert!(record.finish < Time::NEVER);
            }
        }
    }
}

/// Pages under loss: every answer comes, whatever its neighbours lose; requests too are streams of their own.
#[test]
fn pages_come_in_whole_under_loss() {
    let mut run = slow();
    run.network.loss = 0.1;
    run.duration = ms(200_000);
    for seed in 1..6 {
        run.seed = seed;
        let sizes: Vec<u64> = (1..30).map(|n| n * 700).collect();
        let output = page(&run, &sizes, 20);
        assert!(output.trains.iter().all(|train| train.end < Time::NEVER), "{seed}");
        assert_eq!(output.trains.len(), 2 + 2 * sizes.len());
        let whole = sizes.iter().sum::<u64>();
        assert_eq!((output.records[0].delivered_bytes, output.records[0].back_bytes), (whole + 400 * 29, 400 * 29));
        let last = output.trains.iter().filter(|train| train.forward && train.part > 0).map(|train| train.end).max();
        let all = output.trains.iter().find(|train| train.forward && train.part == 0).map(|train| train.end);
        assert_eq!(last, all);
    }
}

/// A connection of QUIC and one of TCP beside each other, by transports of their own.
#[test]
fn quic_and_tcp_share_a_run() {
    let mut run = wired("fq");
    run.transports = vec![OwnTransport { name: "quic".into(), tcp: quic(&run.tcp) }];
    let own = |transport, src| FlowSpec { transport, src, dst: src, ..transfer(Time::ZERO, 3_000_000) };
    let output = go(&run, &[own(0, 0), own(1, 1)]);
    let [tcp, quic] = [0, 1].map(|flow| output.records[flow].finish.as_secs_f64());
    assert!((4.0..5.5).contains(&tcp) && (4.0..5.5).contains(&quic), "{tcp} {quic}");
    // What TCP does alone does not depend on who else could be there.
    let alone = go(&wired("fq"), &[own(0, 0)]);
    let beside = go(&Run { transports: run.transports.clone(), ..wired("fq") }, &[own(0, 0)]);
    assert_eq!(alone, beside);
}

/// Marks reduce the window as losses do, and nothing is sent again for them.
#[test]
fn marks_are_counted_and_answered() {
    for (congestion, ecn, discipline) in [
        (Congestion::Aimd, EcnMode::Accurate, "codel"),
        (Congestion::Cubic, EcnMode::Classic, "fq_codel"),
        (Congestion::Prague, EcnMode::L4s, "dualpi2"),
    ] {
        let mut run = slow();
        (run.tcp.congestion, run.tcp.ecn, run.tcp.pacing) = (congestion, ecn, true);
        run.network.discipline = (discipline.to_owned(), Vec::new());
        run.network.limit = Limit::Packets(1000);
        let output = go(&run, &[FlowSpec { receiver_opens: true, ..transfer(Time::ZERO, 8_000_000) }]);
        let record = output.records[0];
        assert!(record.marks > 0 && record.finish < ms(12_000), "{congestion:?}: {record:?}");
        assert!(record.retransmits <= record.drops + 4, "{congestion:?}: {record:?}");
    }
}

#[test]
fn the_time_alone_comes_packet_by_packet() {
    let run = slow();
    let flow = FlowSpec { receiver_opens: true, ..transfer(Time::ZERO, 100_000) };
    let alone = netsim::alone(&run, &flow).expect("valid");
    assert_eq!(alone.arrivals.len(), 100_000_usize.div_ceil(1315));
    assert!(alone.arrivals.is_sorted());
    assert_eq!(alone.arrivals.last(), Some(&alone.finish));
    assert_eq!(alone.finish, go(&run, &[flow]).records[0].finish);
}

#[test]
fn settings_that_do_not_go_with_quic_are_refused() {
    let refusal = |change: fn(&mut Tcp)| {
        let mut run = distant();
        change(&mut run.tcp);
        netsim::run(&run, &[transfer(Time::ZERO, 1000)], &Control::default()).expect_err("refused").to_string()
    };
    assert!(refusal(|tcp| tcp.header = 40).contains("tcp.header"));
    assert!(refusal(|tcp| tcp.mss = 1000).contains("tcp.mss"));
    assert!(refusal(|tcp| tcp.fin = true).contains("tcp.fin"));
    assert!(refusal(|tcp| tcp.tick = Time(1)).contains("tcp.tick"));
    assert!(refusal(|tcp| tcp.ack_every = 0).contains("tcp.ack_every"));
    assert!(refusal(|tcp| tcp.ecn = EcnMode::Dctcp).contains("tcp.ecn"));
    let scripts = Scripts {
        list: vec![vec![up(400, 0), down(2000, 0)]],
        parts: vec![vec![Part { train: 1, end: 1000, number: 1 }]],
        streams: vec![vec![1]],
        ..Scripts::default()
    };
    let flow = FlowSpec { size_bytes: 2400, receiver_opens: true, script: Some(0), ..FlowSpec::default() };
    let refused = |run: Run| netsim::run(&run, &[flow], &Control::default()).expect_err("refused").to_string();
    assert!(refused(Run { scripts: scripts.clone().into(), ..distant() }).contains("do not make up"));
    assert!(refused(Run { scripts: scripts.into(), ..wired("fifo") }).contains("quic"));
}
