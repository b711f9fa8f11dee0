//! Congestion control: how the congestion window grows with acknowledgements and shrinks with losses and
//! marks. Windows are in segments.
//!
//! Principle: slow start is common to all rules; a rule says what an acknowledgement adds in congestion
//! avoidance and what a reduction leaves. Cost per acknowledgement: O(1). Sources: RFC 5681, section 3.1
//! (AIMD); Bansal and Balakrishnan 2001, section 2 (binomial); RFC 9438, section 4 (CUBIC).
//!
//! Only sums, products, quotients and square roots, which IEEE 754 rounds correctly: one result on every
//! platform.

use units::Time;

use crate::tcp::settings::{Congestion, Tcp};

/// C of CUBIC, segments per s^3 (RFC 9438, 5).
const CUBIC_C: f64 = 0.4;
/// beta of CUBIC: what a reduction leaves (RFC 9438, 4.6).
const CUBIC_BETA: f64 = 0.7;

/// What a segment adds at least before the first loss, with HyStart.
const AIMLESS: f64 = 1.0 / 20.0;

/// Congestion window, slow-start threshold and the rule that moves them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    /// That of the run, unless the flow has its own.
    pub(crate) rule: Congestion,
    cubic: Cubic,
}

/// State of CUBIC, unused by the other rules.
#[derive(Clone, Copy, Debug)]
struct Cubic {
    /// W_max: window at the last reduction; 0 before the first one and after a timeout.
    peak: f64,
    /// cwnd_prior: window just before the last reduction.
    prior: f64,
    /// W_est: window of a Reno flow with the same losses.
    reno: f64,
    /// K, seconds: from the start of the epoch to the plateau.
    plateau_s: f64,
    /// No reduction since the connection began, or since a timeout: the curve knows no window to aim at.
    aimless: bool,
    /// Start of the congestion-avoidance epoch; `NEVER` between a reduction and the next growth.
    epoch: Time,
}

impl Control {
    /// Before the connection is established.
    pub(crate) fn idle(tcp: &Tcp) -> Control {
        let cubic = Cubic { peak: 0.0, prior: 0.0, reno: 0.0, plateau_s: 0.0, aimless: true, epoch: Time::NEVER };
        Control { cwnd: 1.0, ssthresh: f64::from(tcp.receiver_window), rule: tcp.congestion, cubic }
    }

    /// A new acknowledgement of `acked` segments outside recovery opens the window: once, or with byte counting
    /// once per segment (RFC 3465, 2.1 and 2.2, without its bound of two segments). `rtt_s` is the smoothed
    /// round-trip time, seconds.
    #[inline]
    pub(crate) fn on_ack(&mut self, acked: u32, now: Time, rtt_s: f64, tcp: &Tcp) {
        if tcp.byte_counting {
            for _ in 0..acked {
                self.grow(now, rtt_s, tcp);
            }
        } else {
            self.grow(now, rtt_s, tcp);
        }
    }

    #[inline]
    fn grow(&mut self, now: Time, rtt_s: f64, tcp: &Tcp) {
        if self.cwnd < self.ssthresh {
            self.cwnd += 1.0;
            return;
        }
        match self.rule {
            Congestion::Aimd => self.cwnd += 1.0 / self.cwnd,
            Congestion::Bbr => {}
            // alpha / w^k in a round of w acknowledgements.
            Congestion::Iiad => self.cwnd += 1.0 / (self.cwnd * self.cwnd),
            Congestion::Sqrt => self.cwnd += 1.0 / (self.cwnd * self.cwnd.sqrt()),
            Congestion::Cubic => {
                let grown = self.cubic.grown(self.cwnd, now, rtt_s);
                // HyStart ends slow start long before the link is full, where the curve is flat. Linux then adds a
                // twentieth of the window per round trip, until a loss tells what to aim at.
                let least = if tcp.hystart && self.cubic.aimless { self.cwnd + AIMLESS } else { self.cwnd };
                self.cwnd = grown.max(least);
            }
        }
    }

    /// Takes the window from a model of the path.
    pub(crate) fn follow(&mut self, window: f64) {
        (self.cwnd, self.ssthresh) = (window, window);
    }

    /// What a reduction leaves of `window`. Moves neither window nor threshold.
    pub(crate) fn reduced(&mut self, window: f64) -> f64 {
        match self.rule {
            Congestion::Aimd => window / 2.0,
            Congestion::Bbr => window,
            // w - beta w^l. For small reductions 1/p packets per cycle give w = sqrt(alpha / (beta p)) for k + l = 1,
            // and alpha / beta = 3/2 the sqrt(3 / (2 p)) of AIMD.
            Congestion::Iiad => window - 2.0 / 3.0,
            Congestion::Sqrt => window - window.sqrt() * (2.0 / 3.0),
            Congestion::Cubic => self.cubic.reduced(window),
        }
    }

    /// Slow-start threshold for a window reduced to `window`: at least two segments (RFC 5681, Eq. 4), and whole
    /// ones where halving is meant to leave whole ones.
    pub(crate) fn threshold(&self, window: f64) -> f64 {
        let window = if self.rule == Congestion::Aimd { window.floor() } else { window };
        window.max(2.0)
    }

    /// The retransmission timer went off: one segment (RFC 5681, 3.1).
    pub(crate) fn on_timeout(&mut self) {
        self.cwnd = 1.0;
        // The first epoch after a timeout has its plateau where it begins (RFC 9438, 4.8).
        self.cubic.peak = 0.0;
        self.cubic.aimless = true;
        self.cubic.epoch = Time::NEVER;
    }
}

impl Cubic {
    /// RFC 9438, 4.2 to 4.5: the window after one acknowledgement in congestion avoidance.
    fn grown(&mut self, cwnd: f64, now: Time, rtt_s: f64) -> f64 {
        if self.epoch == Time::NEVER {
            self.epoch = now;
            self.reno = cwnd;
            self.peak = self.peak.max(cwnd);
            self.plateau_s = cube_root((self.peak - cwnd) / CUBIC_C);
        }
        let elapsed = now.saturating_sub(self.epoch).as_secs_f64();
        let window = |t: f64| CUBIC_C * (t - self.plateau_s).powi(3) + self.peak;
        // 4.3: alpha makes a Reno flow with this beta as fast as one with 1 and 1/2, up to the old window.
        let alpha = if self.reno < self.prior { 3.0 * (1.0 - CUBIC_BETA) / (1.0 + CUBIC_BETA) } else { 1.0 };
        self.reno += alpha / cwnd;
        if window(elapsed) < self.reno {
            return self.reno.max(cwnd);
        }
        let target = window(elapsed + rtt_s).clamp(cwnd, 1.5 * cwnd);
        cwnd + (target - cwnd) / cwnd
    }

    /// RFC 9438, 4.6 and 4.7: multiplicative decrease and fast convergence.
    fn reduced(&mut self, window: f64) -> f64 {
        self.prior = window;
        self.aimless = false;
        self.peak = if window < self.peak { window * (1.0 + CUBIC_BETA) / 2.0 } else { window };
        self.epoch = Time::NEVER;
        window * CUBIC_BETA
    }
}

/// Cube root of `x` >= 0 by Newton's method: `f64::cbrt` is the platform's.
fn cube_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    // A third of the exponent is within a factor of 2; each step doubles the digits.
    let mut root = f64::from_bits(x.to_bits() / 3 + 0x2a9f_7893_0000_0000);
    for _ in 0..5 {
        root = (2.0 * root + x / (root * root)) / 3.0;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::sender::tests::tcp;

    fn with(congestion: Congestion) -> (Control, Tcp) {
        let tcp = Tcp { congestion, receiver_window: 100_000, ..tcp() };
        (Control::idle(&tcp), tcp)
    }

    #[test]
    fn cube_roots_are_exact_to_the_last_digits() {
        for x in [1e-12, 0.3, 1.0, 8.0, 27.0, 1e3, 123.456, 1e18] {
            let root = cube_root(x);
            assert!((root * root * root / x - 1.0).abs() < 1e-14, "{x}: {root}");
        }
        assert_eq!(cube_root(0.0), 0.0);
    }

    /// RFC 9438, Eq. 1 and 2, followed acknowledgement by acknowledgement with an RTT of 100 ms.
    #[test]
    fn cubic_follows_its_curve() {
        let (mut control, tcp) = with(Congestion::Cubic);
        control.cwnd = 1000.0;
        control.ssthresh = control.reduced(1000.0);
        control.cwnd = control.ssthresh;
        assert!((control.cwnd - 700.0).abs() < 1e-9);
        let plateau = (300.0 / 0.4_f64).cbrt();
        let (mut now_ns, rtt) = (5_000_000_000_u64, 0.1);
        let start = now_ns;
        let mut checked = 0;
        while now_ns < start + 16_000_000_000 {
            for _ in 0..control.cwnd as u32 {
                control.on_ack(1, Time(now_ns), rtt, &tcp);
            }
            let t = (now_ns - start) as f64 * 1e-9;
            // A round leaves 1/e of the way to the target of t + RTT, and less than a hundredth of a segment of the
            // ways before.
            let expected = 0.4 * (t + rtt - plateau).powi(3) + 1000.0;
            let previous = 0.4 * (t - plateau).powi(3) + 1000.0;
            let slack = (expected - previous).abs() + 0.01;
            assert!((control.cwnd - expected).abs() <= slack, "{t} s: {} for {expected}", control.cwnd);
            checked += 1;
            now_ns += 100_000_000;
        }
        assert_eq!(checked, 160);
        assert!(control.cwnd > 1000.0, "past the plateau at {plateau} s");
    }

    #[test]
    fn cubic_releases_bandwidth_when_the_window_sinks() {
        let (mut control, _) = with(Congestion::Cubic);
        assert_eq!(control.reduced(100.0), 70.0);
        assert_eq!(control.cubic.peak, 100.0);
        control.reduced(80.0);
        assert_eq!(control.cubic.peak, 80.0 * 0.85, "RFC 9438, 4.7");
        control.reduced(90.0);
        assert_eq!(control.cubic.peak, 90.0);
    }

    /// In two round trips of 10 ms the curve adds nothing. A twentieth of 100 is 5, then 5.25; Reno adds 1 a round,
    /// after a reduction 0.53 (RFC 9438, 4.3).
    #[test]
    fn after_hystart_cubic_grows_by_a_twentieth_per_round_trip_until_the_first_loss() {
        for (hystart, reduced, grown) in [(true, false, 10.25), (true, true, 1.06), (false, false, 2.0)] {
            let (mut control, tcp) = with(Congestion::Cubic);
            let tcp = Tcp { hystart, ..tcp };
            (control.cwnd, control.ssthresh) = (100.0, 100.0);
            if reduced {
                control.reduced(150.0);
                control.cubic.peak = 100.0;
            }
            for round in 0..2_u64 {
                for _ in 0..control.cwnd.round() as u32 {
                    control.on_ack(1, Time(round * 10_000_000), 0.01, &tcp);
                }
            }
            assert!((control.cwnd - 100.0 - grown).abs() < 0.05, "{hystart} {reduced}: {}", control.cwnd);
        }
    }

    /// With a short RTT the curve is slower than Reno, which CUBIC then follows (RFC 9438, 4.3): 3 (1 - b) / (1 + b)
    /// segments per round trip.
    #[test]
    fn cubic_is_not_slower_than_reno() {
        let (mut control, tcp) = with(Congestion::Cubic);
        control.cwnd = control.reduced(20.0);
        control.ssthresh = control.cwnd;
        let mut now = Time::ZERO;
        for _ in 0..10 {
            for _ in 0..control.cwnd.round() as u32 {
                control.on_ack(1, now, 0.001, &tcp);
            }
            now += Time(1_000_000);
        }
        let alpha = 3.0 * 0.3 / 1.7;
        assert!((control.cwnd - (14.0 + 10.0 * alpha)).abs() < 0.1, "{}", control.cwnd);
    }

    /// A segment counts as much however many acknowledgements it takes: slow start up to `ssthresh`, then each rule.
    #[test]
    fn with_byte_counting_delayed_acknowledgements_open_the_window_as_fast() {
        for rule in [Congestion::Aimd, Congestion::Iiad, Congestion::Sqrt, Congestion::Cubic] {
            let (plain, tcp) = with(rule);
            let counting = Tcp { byte_counting: true, ..tcp.clone() };
            let [mut each, mut pairs, mut lazy] = [plain; 3].map(|control| Control { ssthresh: 21.0, ..control });
            let now = Time(5_000_000);
            for _ in 0..40 {
                each.on_ack(1, now, 0.1, &tcp);
                each.on_ack(1, now, 0.1, &tcp);
                pairs.on_ack(2, now, 0.1, &counting);
                lazy.on_ack(2, now, 0.1, &tcp);
            }
            assert_eq!(each.cwnd, pairs.cwnd, "{rule:?}");
            assert!(each.cwnd > lazy.cwnd, "{rule:?}");
        }
    }

    /// Bansal and Balakrishnan 2001, Eq. 1 and 2.
    #[test]
    fn binomial_rules_add_per_round_and_leave_what_they_say() {
        for (rule, per_round, left) in [
            (Congestion::Aimd, 1.0, 50.0),
            (Congestion::Iiad, 0.01, 100.0 - 2.0 / 3.0),
            (Congestion::Sqrt, 0.1, 100.0 - 20.0 / 3.0),
        ] {
            let (mut control, tcp) = with(rule);
            (control.cwnd, control.ssthresh) = (100.0, 2.0);
            for _ in 0..100 {
                control.on_ack(1, Time::ZERO, 0.1, &tcp);
            }
            let added = control.cwnd - 100.0;
            assert!((added / per_round - 1.0).abs() < 0.01, "{rule:?}: {added}");
            assert!((control.reduced(100.0) - left).abs() < 1e-12, "{rule:?}");
        }
    }
}
