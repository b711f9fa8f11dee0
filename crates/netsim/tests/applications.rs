//! Applications in the loop, alone on a link where what they must do follows from the link.

use netsim::app::{Application, Call, Gaming, Medium, Rule, Video};
use netsim::{Control, FlowSpec, FrameRecord, Output, Run};
use qdisc::Limit;
use units::Time;

use crate::dumbbell::{disciplines, go, ms, rate, transfer, wired};

fn call(max_bps: u64) -> Call {
    Call {
        duration: ms(120_000),
        start_bps: 300_000,
        min_bps: 100_000,
        max_bps,
        fps: 30,
        variation: 0.15,
        audio_bytes: 160,
        pacing: 1.5,
        feedback: ms(100),
    }
}

fn video(rule: Rule) -> Video {
    Video {
        ladder_bps: vec![350_000, 700_000, 1_500_000, 3_000_000, 6_000_000],
        segment: ms(4000),
        segments: 60,
        buffer: ms(30_000),
        startup: ms(4000),
        resume: ms(8000),
        rule,
        safety: 0.9,
        samples: 5,
        gamma: 5.0,
        request_bytes: 400,
        think: Time::ZERO,
    }
}

fn gaming(bps: u64) -> Gaming {
    Gaming { duration: ms(20_000), rate_bps: bps, fps: 60, variation: 0.15, spread: 0.5 }
}

fn flow(application: u16, datagrams: bool) -> FlowSpec {
    FlowSpec {
        application,
        udp: datagrams.then_some((1228, ms(1))),
        receiver_opens: !datagrams,
        ..transfer(Time::ZERO, 1 << 40)
    }
}

/// A link of `bps` with 20 ms more on the way, and a queue of 100 packets.
fn link(bps: u64, discipline: &str, applications: Vec<Application>) -> Run {
    let mut run = wired(discipline);
    run.network.rate = rate(bps);
    run.network.delay = ms(20);
    run.network.limit = Limit::Packets(100);
    // No more than the queue holds: nothing is lost but by design.
    run.tcp.receiver_window = 100;
    run.duration = ms(140_000);
    run.applications = applications;
    run
}

fn alone(bps: u64, application: Application) -> Output {
    let datagrams = application.sends_datagrams();
    go(&link(bps, "fifo", vec![application]), &[flow(1, datagrams)])
}

fn between(frames: &[FrameRecord], from: u64, to: u64) -> impl Iterator<Item = &FrameRecord> {
    frames.iter().filter(move |frame| (ms(1000 * from)..ms(1000 * to)).contains(&frame.made))
}

fn mean_bps(frames: &[FrameRecord], from: u64, to: u64) -> f64 {
    between(frames, from, to).map(|frame| f64::from(frame.bytes) * 8.0).sum::<f64>() / (to - from) as f64
}

fn longest_way(frames: &[FrameRecord], from: u64, to: u64) -> Time {
    between(frames, from, to).map(|frame| frame.received - frame.made).max().expect("some frames")
}

#[test]
fn a_call_on_a_wide_link_comes_to_its_largest_rate_without_a_queue() {
    let output = alone(4_000_000, Application::Call(call(1_500_000)));
    let frames = &output.frames;
    // From 300 kbit/s by 8 % a second it takes 21 s.
    let reached = frames.iter().find(|frame| frame.target_bps == 1_500_000).expect("the largest rate").made;
    assert!((ms(18_000)..ms(30_000)).contains(&reached), "{reached:?}");
    assert!(frames.iter().all(|frame| frame.received != Time::NEVER && frame.lost == 0));
    let mean = mean_bps(frames, 40, 120);
    // What a frame is cut down to whole bytes, 30 times a second, and the noise of 2400 frames.
    assert!((mean / 1_500_000.0 - 1.0).abs() < 0.02, "{mean}");
    // A frame of at most 9.6 kB leaves within 34 ms, and is 23 ms on its way; a packet of speech may wait behind one.
    let longest = longest_way(frames, 40, 120);
    assert!(longest < ms(23 + 34 + 6), "{longest:?}");
    assert_eq!(output.records[0].finish, frames.iter().map(|frame| frame.received).max().expect("some"));
}

#[test]
fn a_call_on_a_narrow_link_comes_near_its_rate_and_keeps_the_queue_short() {
    let output = alone(2_000_000, Application::Call(call(10_000_000)));
    let mean = mean_bps(&output.frames, 60, 120);
    assert!((0.7..1.0).contains(&(mean / 2_000_000.0)), "{mean}");
    // Half of the frames wait for less than the queue of 100 packets would take, 600 ms, by far.
    let mut ways: Vec<Time> = between(&output.frames, 60, 120).map(|frame| frame.received - frame.made).collect();
    ways.sort_unstable();
    assert!(ways[ways.len() / 2] < ms(100), "{:?}", ways[ways.len() / 2]);
    assert!(ways[ways.len() * 99 / 100] < ms(300), "{:?}", ways[ways.len() * 99 / 100]);
    assert_eq!(output.counters.drops, 0);
}

#[test]
fn a_call_gives_way_to_a_transfer_and_comes_back() {
    let run = link(4_000_000, "fifo", vec![Application::Call(call(3_000_000))]);
    let bulk = FlowSpec { start: ms(50_000), src: 1, dst: 1, ..transfer(Time::ZERO, 5_000_000) };
    let output = go(&run, &[flow(1, true), bulk]);
    let end = output.records[1].finish;
    assert!(end < ms(100_000), "{end:?}");
    let (before, during) = (mean_bps(&output.frames, 40, 50), mean_bps(&output.frames, 55, end.0 / 1_000_000_000));
    let after = mean_bps(&output.frames, 115, 120);
    assert!(during < 0.7 * before, "{before} {during}");
    assert!(after > 1.2 * during, "{during} {after}");
}

#[test]
fn a_call_of_speech_alone_sends_a_packet_each_20_ms() {
    let output = alone(1_000_000, Application::Call(Call { fps: 0, ..call(300_000) }));
    assert_eq!(output.frames.len(), 6000);
    assert!(output.frames.iter().all(|frame| frame.medium == Medium::Audio && frame.bytes == 180));
    // 208 bytes at 1 Mbit/s and twice at 100 Mbit/s, and 22 ms of way.
    let way = Time(1_664_000 + 2 * 16_640) + ms(22);
    assert!(output.frames.iter().all(|frame| frame.received - frame.made == way));
    assert_eq!(output.counters.arrivals, 6000);
}

#[test]
fn reports_go_back_each_100_ms_and_are_counted_in_the_books() {
    let output = alone(4_000_000, Application::Call(call(1_500_000)));
    let reports = output.books.data.delivered.packets - output.records[0].packets_sent;
    assert!((1195..=1201).contains(&reports), "{reports}");
    assert_eq!(output.books.data.sent(), output.books.data.delivered);
}

#[test]
fn a_report_that_is_lost_ends_nothing() {
    let mut run = link(2_000_000, "fifo", vec![Application::Call(call(1_000_000))]);
    run.network.loss = 0.05;
    let output = go(&run, &[flow(1, true)]);
    let record = output.records[0];
    assert_ne!(record.finish, Time::NEVER);
    let lost: u64 = output.frames.iter().map(|frame| u64::from(frame.lost)).sum();
    // Reports are lost too.
    assert!(lost > 0 && record.lost > lost, "{lost} {}", record.lost);
    assert_eq!(output.frames.iter().map(|frame| u64::from(frame.packets)).sum::<u64>(), record.packets_sent);
    assert!(output.frames.iter().all(|frame| (frame.lost == 0) == (frame.received != Time::NEVER)));
}

#[test]
fn a_film_alone_has_the_rate_that_the_throughput_rule_must_choose() {
    // Of 0.9 times what the link brings of payload, the highest rate: 0.9 * 0.97 * 2 = 1.75 Mbit/s.
    for (bps, level) in [(2_000_000, 2), (1_000_000, 1), (4_000_000, 3), (10_000_000, 4), (200_000, 0)] {
        let output = alone(bps, Application::Video(video(Rule::Throughput)));
        let rows: Vec<_> = output.segments.iter().filter(|row| row.received != Time::NEVER).collect();
        assert_eq!(rows[0].level, 0);
        assert!(rows[8..].iter().all(|row| row.level == level), "{bps}: {rows:?}");
        let stalls = rows.windows(2).filter(|pair| pair[0].dry < pair[1].received).count();
        assert_eq!(stalls > 0, bps == 200_000, "{bps}");
    }
}

#[test]
fn a_film_alone_by_bola_has_the_highest_rate_that_the_link_brings() {
    let output = alone(10_000_000, Application::Video(video(Rule::Bola)));
    let rows: Vec<_> = output.segments.iter().filter(|row| row.received != Time::NEVER).collect();
    assert!(rows[20..].iter().all(|row| row.level == 4), "{rows:?}");
    assert!(rows.windows(2).all(|pair| pair[0].dry >= pair[1].received));
    // On a link between two rates it has both in turn, and their mean is near what the link brings: 0.973 of it.
    let output = alone(2_000_000, Application::Video(video(Rule::Bola)));
    let late: Vec<_> = output.segments.iter().filter(|row| row.segment >= 20 && row.received != Time::NEVER).collect();
    let mean = late.iter().map(|row| row.rate_bps as f64).sum::<f64>() / late.len() as f64;
    assert!(late.iter().all(|row| [2, 3].contains(&row.level)), "{late:?}");
    assert!((1_500_000.0..2_000_000.0).contains(&mean), "{mean}");
}

#[test]
fn a_film_ends_with_its_connection_and_has_sent_what_was_asked_for() {
    let short = Video { segments: 5, ..video(Rule::Throughput) };
    for fin in [true, false] {
        let mut run = link(10_000_000, "fifo", vec![Application::Video(short.clone())]);
        run.tcp.fin = fin;
        run.stop_when_idle = true;
        let output = go(&run, &[flow(1, false)]);
        let (record, rows) = (output.records[0], &output.segments);
        assert_eq!(rows.len(), 5);
        assert!(rows[4].last && rows[4].received == record.last_data, "{rows:?}");
        let forward: u64 = rows.iter().map(|row| row.bytes).sum();
        assert_eq!((record.delivered_bytes - record.back_bytes, record.back_bytes), (forward, 5 * 400));
        assert!(record.finish != Time::NEVER && record.finish >= record.last_data);
        assert!(output.trains.is_empty());
        assert_eq!(output.books.data.under_way.packets, 0);
    }
}

#[test]
fn a_film_asks_for_no_more_than_its_buffer_holds() {
    let output = alone(10_000_000, Application::Video(video(Rule::Throughput)));
    let (segment, most) = (ms(4000), ms(30_000));
    assert!(output.segments.iter().all(|row| row.buffer + segment <= most));
    // With the buffer full it asks for a segment each 4 s.
    let late: Vec<_> = output.segments.iter().filter(|row| row.segment > 15).collect();
    assert!(late.windows(2).all(|pair| pair[1].asked - pair[0].asked == segment));
}

#[test]
fn no_frame_of_a_game_is_late_on_an_idle_link() {
    let output = alone(20_000_000, Application::Gaming(gaming(10_000_000)));
    assert_eq!(output.frames.len(), 1200);
    // The last packet of a frame leaves within half of 16.7 ms times 1.5, and takes 22 ms and its transmissions.
    assert!(output.frames.iter().all(|frame| frame.received - frame.made < ms(22 + 13 + 2)));
    let mean = mean_bps(&output.frames, 0, 20);
    assert!((mean / 10_000_000.0 - 1.0).abs() < 0.02, "{mean}");
}

#[test]
fn a_game_behind_bulk_in_a_fifo_waits_as_long_as_the_queue_is() {
    for window in [60, 100, 250] {
        let mut run = link(10_000_000, "fifo", vec![Application::Gaming(gaming(2_000_000))]);
        run.network.limit = Limit::Packets(1000);
        (run.tcp.receiver_window, run.tcp.delayed_ack) = (window, Time::ZERO);
        let bulk = FlowSpec { src: 1, dst: 1, ..transfer(Time::ZERO, 1 << 36) };
        let output = go(&run, &[flow(1, true), bulk]);
        let waits: Vec<f64> = output
            .frames
            .iter()
            .filter(|frame| (ms(5000)..ms(19_000)).contains(&frame.made))
            .map(|frame| (frame.received - frame.made).as_secs_f64())
            .collect();
        // The window goes round once in the time that it takes to send it at what the game leaves of the link; what that
        // is above the way there and back is the queue. A frame is four packets of some 1050 bytes.
        let game_bps = 2_000_000.0 * (1.0 + 28.0 / 1042.0);
        let round_s = f64::from(window) * 12_000.0 / (10_000_000.0 - game_bps);
        let queue_s = round_s - 0.044 - 0.0012 - 2.0 * 0.00012 - 0.000_032 - 2.0 * 0.000_003_2;
        let mean = waits.iter().sum::<f64>() / waits.len() as f64;
        // Its last packet leaves 6.25 ms after its first, in the mean, and follows up to four of its own.
        let way_s = 0.022 + queue_s + 0.006_25;
        assert!((mean - way_s).abs() < 4.0 * 0.0012, "{window}: {mean} {way_s}");
    }
}

#[test]
fn the_same_seed_gives_the_same_media_under_every_discipline() {
    let applications = || vec![Application::Gaming(gaming(5_000_000)), Application::Call(call(2_000_000))];
    let flows = [flow(1, true), FlowSpec { src: 1, dst: 1, up: true, ..flow(2, true) }];
    let made = |discipline: &str, seed: u64| {
        let mut run = link(20_000_000, discipline, applications());
        run.seed = seed;
        let output = go(&run, &flows);
        output.frames.iter().map(|frame| (frame.flow, frame.made, frame.bytes)).collect::<Vec<_>>()
    };
    assert_eq!(made("fifo", 1), made("fq_codel", 1));
    assert_ne!(made("fifo", 1), made("fifo", 2));
}

#[test]
fn packets_are_conserved_under_every_discipline() {
    let mut applications = vec![Application::Call(Call { duration: ms(8000), ..call(4_000_000) })];
    applications.push(Application::Gaming(Gaming { duration: ms(8000), ..gaming(3_000_000) }));
    applications.push(Application::Video(Video { segments: 4, ..video(Rule::Bola) }));
    for id in disciplines() {
        let mut run = link(3_000_000, id, applications.clone());
        (run.duration, run.network.loss) = (ms(12_000), 0.01);
        run.network.limit = Limit::Packets(20);
        let flows = [
            flow(1, true),
            FlowSpec { src: 1, dst: 1, up: true, ..flow(1, true) },
            FlowSpec { src: 2, dst: 2, ..flow(2, true) },
            FlowSpec { src: 3, dst: 3, ..flow(3, false) },
            FlowSpec { src: 4, dst: 4, start: ms(1000), ..transfer(Time::ZERO, 1_000_000) },
        ];
        // The run itself refuses to end when a packet is missing.
        let output = go(&run, &flows);
        let units: u64 = output.frames.iter().map(|frame| u64::from(frame.packets)).sum();
        assert_eq!(units, output.records[..3].iter().map(|record| record.packets_sent).sum::<u64>(), "{id}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    let told = |application: Application, spec: FlowSpec| {
        let run = link(1_000_000, "fifo", vec![application]);
        netsim::run(&run, &[spec], &Control::default()).map(|_| ()).expect_err("refused").to_string()
    };
    let as_call = |call: Call| told(Application::Call(call), flow(1, true));
    assert_eq!(as_call(Call { max_bps: 50_000, ..call(1) }), "call: max_bps = 50000: must be from min_bps to 1 Gbit/s");
    assert_eq!(as_call(Call { pacing: f64::NAN, ..call(500_000) }), "call: pacing = NaN: must be from 1 to 100");
    assert_eq!(
        as_call(Call { fps: 0, audio_bytes: 0, ..call(500_000) }),
        "call: fps = 0: must be above 0 in a call without speech"
    );
    let as_video = |video: Video| told(Application::Video(video), flow(1, false));
    let film = || video(Rule::Bola);
    assert_eq!(
        as_video(Video { ladder_bps: vec![2000, 1000], ..film() }),
        "video: ladder_bps = 1000: must be above the rate before it"
    );
    assert_eq!(
        as_video(Video { startup: ms(30_000), ..film() }),
        "video: startup_ns = 30000000000: must be above 0 and at most the buffer less a segment"
    );
    let game = Application::Gaming(gaming(1_000_000));
    assert_eq!(told(game.clone(), flow(1, false)), "flow 0: an application that sends datagrams over TCP");
    assert_eq!(told(game.clone(), flow(2, true)), "flow 0: an application that is not listed");
    assert_eq!(
        told(Application::Video(film()), flow(1, true)),
        "flow 0: an application that asks and answers over UDP"
    );
    assert_eq!(
        told(Application::Gaming(Gaming { fps: 0, ..gaming(1_000_000) }), flow(1, true)),
        "gaming: fps = 0: must be from 1 to 1000"
    );
}
