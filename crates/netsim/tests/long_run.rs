//! Long runs against the laws of congestion control: what a window rule makes of a given loss probability, how flows share
//! a link, what a buffer is good for.
//!
//! Losses are Bernoulli on a link that never queues, so the round-trip time is constant.

use netsim::tcp::settings::{Congestion, Recovery};
use netsim::{FlowSpec, Run};
use qdisc::Limit;
use units::{Stream, Time};

use crate::dumbbell::{go, ms, rate, transfer, wired};

/// Round-trip time of the lossy path: long enough for CUBIC to be faster than Reno.
const RTT: Time = Time::from_millis(400);
/// More than a run can send.
const ENDLESS: u64 = 1 << 40;
/// Losses a run waits for: the mean is known to a percent or two.
const LOSSES: f64 = 1500.0;
const FLOWS: u32 = 16;

/// A path of 10 Gb/s and 400 ms that loses data with probability `loss`.
fn lossy(loss: f64, congestion: Congestion) -> Run {
    let mut run = wired("fifo");
    run.network.rate = rate(10_000_000_000);
    run.network.access_rate = rate(10_000_000_000);
    (run.network.delay, run.network.access_delay, run.network.exit_delay) = (ms(198), ms(1), ms(1));
    (run.network.limit, run.network.reverse_limit) = (Limit::Packets(1_000_000), Limit::Packets(1_000_000));
    run.network.loss = loss;
    run.tcp.congestion = congestion;
    run.tcp.receiver_window = 20_000;
    run.tcp.delayed_ack = Time::ZERO;
    run.tcp.min_rto = ms(200);
    run.tcp.recovery = Recovery::Sack;
    run
}

/// Endless transfers between pairs of hosts of their own, one a second.
fn endless(flows: u32) -> Vec<FlowSpec> {
    (0..flows).map(|host| FlowSpec { src: host, dst: host, ..transfer(ms(1000 * u64::from(host)), ENDLESS) }).collect()
}

/// What each of `flows` endless transfers delivers from a third of the run to its end, segments per second.
fn throughputs(run: &Run, flows: u32) -> Vec<f64> {
    let mut run = run.clone();
    run.sample_interval = Time(run.duration.0 / 3);
    run.watched = (0..flows).collect();
    let output = go(&run, &endless(flows));
    let seconds = (run.duration - run.sample_interval).as_secs_f64();
    let delivered = |i: usize| output.records[i].delivered_bytes - output.samples[0].progress[i];
    (0..flows as usize).map(|i| delivered(i) as f64 / f64::from(run.tcp.mss) / seconds).collect()
}

/// Mean window of the flows of `run`, which expects `window` segments and lasts for [`LOSSES`] of them.
fn mean_window(run: &Run, loss: f64, window: f64) -> f64 {
    let mut run = run.clone();
    let rounds = 1.5 * LOSSES / loss / window / f64::from(FLOWS);
    run.duration = Time((rounds * RTT.0 as f64) as u64 + 60_000_000_000);
    throughputs(&run, FLOWS).iter().sum::<f64>() / f64::from(FLOWS) * RTT.as_secs_f64()
}

/// Constant of the square-root law with independent losses: mean window x sqrt(p) for small p, window halved. Ott,
/// Kemperman and Mathis 1996; Dumas, Guillemin and Robert 2002, for the closed form.
fn random_loss_constant() -> f64 {
    let product: f64 = (1..40).map(|n| (1.0 - 0.5_f64.powi(2 * n)) / (1.0 - 0.5_f64.powi(2 * n - 1))).product();
    (2.0 / std::f64::consts::PI).sqrt() * product
}

/// One flow in the fluid limit: windows in segments.
struct Fluid {
    rule: Congestion,
    window: f64,
    /// Window at the last loss.
    peak: f64,
    /// Round trips until a loss is noticed, in which the window still grows and what else is lost counts with it; and as
    /// many until it is repaired, in which the window does not grow.
    blind: f64,
}

impl Fluid {
    /// Grows by the rule until `packets` are sent and the loss of the last is noticed: the round trips it took and the
    /// packets sent.
    fn epoch(&mut self, packets: f64) -> (f64, f64) {
        const STEP: f64 = 0.05;
        // RFC 9438, Eq. 1, 2 and 4: the larger of the curve and of a Reno flow with the same factor.
        let plateau = ((self.peak - self.window) / 0.4).max(0.0).cbrt();
        let (mut sent, mut rounds, mut reno, mut blind) = (self.window * self.blind, 0.0, self.window, self.blind);
        while sent < packets || blind > 0.0 {
            rounds += STEP;
            blind -= if sent < packets { 0.0 } else { STEP };
            self.window = match self.rule {
                Congestion::Aimd => self.window + STEP,
                Congestion::Iiad => self.window + STEP / self.window,
                Congestion::Sqrt => self.window + STEP / self.window.sqrt(),
                Congestion::Cubic => {
                    reno += STEP * if reno < self.peak { 3.0 * 0.3 / 1.7 } else { 1.0 };
                    (0.4 * (rounds * RTT.as_secs_f64() - plateau).powi(3) + self.peak).max(reno)
                }
                _ => unreachable!("answers to its path or to marks, not to losses alone"),
            };
            sent += self.window * STEP;
        }
        self.window = match self.rule {
            Congestion::Aimd => self.window / 2.0,
            Congestion::Iiad => self.window - 2.0 / 3.0,
            Congestion::Sqrt => self.window - self.window.sqrt() * (2.0 / 3.0),
            Congestion::Cubic => {
                self.peak = if self.window < self.peak { self.window * 0.85 } else { self.window };
                self.window * 0.7
            }
            _ => unreachable!("answers to its path or to marks, not to losses alone"),
        }
        .max(2.0);
        (rounds + self.blind, sent)
    }

    /// Mean window with independent losses.
    fn mean(rule: Congestion, loss: f64, blind: f64) -> f64 {
        let (mut stream, mut fluid) = (Stream::named(7, "fluid"), Fluid { rule, window: 10.0, peak: 10.0, blind });
        let (mut rounds, mut sent) = (0.0, 0.0);
        for epoch in 0..20_000 {
            let (took, packets) = fluid.epoch(-(1.0 - stream.uniform()).ln() / loss);
            if epoch >= 1000 {
                (rounds, sent) = (rounds + took, sent + packets);
            }
        }
        sent / rounds
    }
}

/// The fluid limit against what is known of it.
#[test]
fn the_fluid_picture_has_its_closed_forms() {
    let random = Fluid::mean(Congestion::Aimd, 1e-4, 0.0) * 1e-2;
    assert!((random / random_loss_constant() - 1.0).abs() < 0.02, "{random}");
    // RFC 9438, Eq. 6, for a loss every 10^6 packets: from 0.7 of the old window to all of it, 0.925 of it on average.
    let mean = 1.054 * (RTT.as_secs_f64() * 1e6).powf(0.75);
    let mut cubic = Fluid { rule: Congestion::Cubic, window: 0.7 * mean / 0.925, peak: mean / 0.925, blind: 0.0 };
    let (rounds, sent) = cubic.epoch(1e6);
    assert!((sent / rounds / mean - 1.0).abs() < 0.001, "{}", sent / rounds);
    assert!((cubic.window / 0.7 / (mean / 0.925) - 1.0).abs() < 0.001, "{}", cubic.window);
}

/// Exponents: Bansal and Balakrishnan 2001, section 3, 1 / (k + l + 1); RFC 9438, Eq. 6.
/// One test for each rule, so that they run side by side.
fn windows_depend_on_losses(rule: Congestion, exponent: f64) {
    let windows = [4e-3, 4e-4].map(|loss| {
        let fluid = Fluid::mean(rule, loss, 1.0);
        let mut run = lossy(loss, rule);
        if rule == Congestion::Iiad {
            // It takes off 2/3 per loss only: from where slow start ends it would not come down within the run.
            run.tcp.receiver_window = (1.2 * fluid) as u32;
        }
        // Whole segments are in flight, on average half of one less than the window.
        let window = mean_window(&run, loss, fluid) + 0.5;
        assert!((window / fluid - 1.0).abs() < 0.06, "{rule:?}, p = {loss}: {window:.1} segments, fluid {fluid:.1}");
        window
    });
    let measured = (windows[1] / windows[0]).log10();
    assert!((measured - exponent).abs() < 0.04, "{rule:?}: exponent {measured:.3}, law {exponent}");
}

#[test]
fn windows_of_aimd_depend_on_losses_as_its_rule_says() {
    windows_depend_on_losses(Congestion::Aimd, 0.5);
}

#[test]
fn windows_of_iiad_depend_on_losses_as_its_rule_says() {
    windows_depend_on_losses(Congestion::Iiad, 0.5);
}

#[test]
fn windows_of_sqrt_depend_on_losses_as_its_rule_says() {
    windows_depend_on_losses(Congestion::Sqrt, 0.5);
}

#[test]
fn windows_of_cubic_depend_on_losses_as_its_rule_says() {
    windows_depend_on_losses(Congestion::Cubic, 0.75);
}

/// Padhye, Firoiu, Towsley and Kurose 1998, Eq. 30, for an acknowledgement per segment, segments per second.
fn pftk(loss: f64, rtt_s: f64, timeout_s: f64) -> f64 {
    let recovering = rtt_s * (2.0 * loss / 3.0).sqrt();
    let timing_out = timeout_s * (3.0 * (3.0 * loss / 8.0).sqrt()).min(1.0) * loss * (1.0 + 32.0 * loss * loss);
    1.0 / (recovering + timing_out)
}

#[test]
fn timeouts_count_as_in_pftk() {
    for loss in [0.01_f64, 0.03, 0.1] {
        let rtt_s = RTT.as_secs_f64();
        let law = pftk(loss, rtt_s, 1.0) * rtt_s;
        let mut run = lossy(loss, Congestion::Aimd);
        run.tcp.min_rto = ms(1000);
        let window = mean_window(&run, loss, law);
        assert!((window / law - 1.0).abs() < 0.1, "p = {loss}: {window:.2} segments, PFTK {law:.2}");
    }
}

/// One flow on a link of bandwidth-delay product D with a buffer of B packets: the window goes from half of D + B to D + B,
/// a segment per round trip. Below D the link is not full.
fn sawtooth_utilisation(product: f64, buffer: f64) -> f64 {
    let top = product + buffer;
    let below = (product - top / 2.0).max(0.0);
    let from = top / 2.0 + below;
    // In base round trips.
    let time = below + (top * top - from * from) / (2.0 * product);
    (top * top - top * top / 4.0) / 2.0 / (product * time)
}

#[test]
fn a_buffer_is_worth_what_the_sawtooth_says() {
    for buffer in [4, 10, 20, 40, 80, 160] {
        let mut run = wired("fifo");
        (run.network.delay, run.network.limit) = (ms(48), Limit::Packets(buffer));
        run.tcp.receiver_window = 300;
        run.tcp.delayed_ack = Time::ZERO;
        run.duration = ms(1_500_000);
        let utilisation = throughputs(&run, 1)[0] * 12_000.0 / 10e6;
        // Serialisation on the three links each way is part of the round trip.
        let product = (0.1 + 0.00012 * 2.0 + 0.0000064 + 0.000032) * 10e6 / 12_000.0;
        let law = sawtooth_utilisation(product, f64::from(buffer));
        assert!((-0.02..0.005).contains(&(utilisation - law)), "{buffer} packets: {utilisation:.4}, law {law:.4}");
    }
}

#[test]
fn ten_equal_flows_get_equal_shares() {
    for (discipline, least) in [("fifo", 0.98), ("red", 0.995), ("fq_codel", 0.9999), ("las", 0.99)] {
        let mut run = wired(discipline);
        run.network.delay = ms(20);
        run.duration = ms(1_000_000);
        run.tcp.receiver_window = 1000;
        let shares = throughputs(&run, 10);
        let jain = shares.iter().sum::<f64>().powi(2) / (shares.iter().map(|s| s * s).sum::<f64>() * 10.0);
        assert!(jain > least, "{discipline}: Jain index {jain:.4}");
    }
}

/// A link of 10 Mb/s and 100 ms, 87 packets, with a buffer of `buffer` packets.
fn link(congestion: Congestion, buffer: u32) -> Run {
    let mut run = wired("fifo");
    (run.network.delay, run.network.limit) = (ms(48), Limit::Packets(buffer));
    run.tcp.receiver_window = 1000;
    run.tcp.delayed_ack = Time::ZERO;
    run.tcp.initial_window = 10;
    run.tcp.min_rto = ms(1000);
    run.tcp.recovery = Recovery::Sack;
    run.tcp.congestion = congestion;
    run.duration = ms(120_000);
    run
}

/// Share of the link that `flows` flows fill together, and Jain's index of their shares.
fn filled(run: &Run, flows: u32) -> (f64, f64) {
    let shares = throughputs(run, flows);
    let total = shares.iter().sum::<f64>();
    (total * 12_000.0 / 10e6, total.powi(2) / (shares.iter().map(|s| s * s).sum::<f64>() * f64::from(flows)))
}

/// Cardwell et al. 2017: the link is full with a queue far below the buffer, at most a bandwidth-delay product or so
/// since twice that may be in flight; flows share alike. Two percent go to the visits that look for the round-trip time.
#[test]
fn bbr_fills_a_link_without_filling_its_buffer() {
    for (flows, queue) in [(1, 10.0), (2, 100.0), (10, 150.0)] {
        let run = link(Congestion::Bbr, 300);
        let (share, jain) = filled(&run, flows);
        let mean = go(&run, &endless(flows)).counters.queue_mean_packets;
        assert!(share > 0.96 && mean < queue && jain > 0.9, "{flows} flows: {share:.4}, {mean:.1} packets, {jain:.3}");
    }
}

/// Random losses that leave CUBIC a sixth of the link do not slow BBR down.
#[test]
fn bbr_does_not_take_losses_for_congestion() {
    for loss in [1e-3, 1e-2] {
        let [bbr, cubic] = [Congestion::Bbr, Congestion::Cubic].map(|congestion| {
            let mut run = link(congestion, 300);
            run.network.loss = loss;
            filled(&run, 1).0
        });
        assert!(bbr > 0.95 && cubic < 0.7, "p = {loss}: BBR {bbr:.4}, CUBIC {cubic:.4}");
    }
}

/// draft-cardwell-iccrg-bbr-congestion-control-00, 4.3.5: ten seconds after the last visit the queue is empty for 200 ms and a round trip,
/// before and after which the path takes a round trip to empty and to fill; in between it never is.
#[test]
fn bbr_empties_the_path_every_ten_seconds() {
    let mut run = link(Congestion::Bbr, 300);
    run.sample_interval = ms(50);
    run.duration = ms(65_000);
    let backlog: Vec<u64> = go(&run, &endless(1)).samples.iter().map(|sample| sample.backlog_packets).collect();
    // After start-up, a gap in the queue of more than 200 ms is a visit.
    let mut visits: Vec<(usize, usize)> = Vec::new();
    for (index, _) in backlog.iter().enumerate().skip(40).filter(|&(_, &packets)| packets == 0) {
        match visits.last_mut() {
            Some((_, last)) if index - *last <= 2 => *last = index,
            _ => visits.push((index, index)),
        }
    }
    visits.retain(|(first, last)| last - first >= 4);
    assert!((5..=6).contains(&visits.len()), "{visits:?}");
    for pair in visits.windows(2) {
        let (apart, length) = (pair[1].0 - pair[0].0, pair[0].1 - pair[0].0);
        assert!((205..=225).contains(&apart) && (4..=20).contains(&length), "in samples of 50 ms: {visits:?}");
    }
}
