//! CUBIC (RFC 9438, section 4): the window follows a cubic curve of the time since the last reduction, flat where it was
//! then. Cost per acknowledgement: O(1).

use units::Time;

use super::rule::{LinuxCode, Moment, Rule};

/// C, segments per s^3 (RFC 9438, 5).
const SCALE: f64 = 0.4;
/// beta: what a reduction leaves (RFC 9438, 4.6).
const BETA: f64 = 0.7;
/// What a segment adds at least before the first loss, with HyStart.
const AIMLESS: f64 = 1.0 / 20.0;

/// State of CUBIC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cubic {
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

impl Rule for Cubic {
    const MODULE: Option<&'static str> = Some("cubic");
    const LINUX_CODE: Option<LinuxCode> = Some(LinuxCode::Cubic);

    fn idle() -> Cubic {
        Cubic { peak: 0.0, prior: 0.0, reno: 0.0, plateau_s: 0.0, aimless: true, epoch: Time::NEVER }
    }

    #[inline]
    fn grown(&mut self, cwnd: f64, at: Moment) -> f64 {
        let grown = self.on_curve(cwnd, at.now, at.rtt_s);
        // HyStart ends slow start long before the link is full, where the curve is flat. Linux then adds a
        // twentieth of the window per round trip, until a loss tells what to aim at.
        let least = if at.twentieth && self.aimless { cwnd + AIMLESS } else { cwnd };
        grown.max(least)
    }

    /// RFC 9438, 4.6 and 4.7: multiplicative decrease and fast convergence.
    fn reduced(&mut self, window: f64) -> f64 {
        self.prior = window;
        self.aimless = false;
        self.peak = if window < self.peak { window * (1.0 + BETA) / 2.0 } else { window };
        self.epoch = Time::NEVER;
        window * BETA
    }

    /// The first epoch after a timeout has its plateau where it begins (RFC 9438, 4.8).
    fn on_timeout(&mut self) {
        self.peak = 0.0;
        self.aimless = true;
        self.epoch = Time::NEVER;
    }
}

impl Cubic {
    /// RFC 9438, 4.2 to 4.5: the window after one acknowledgement in congestion avoidance.
    fn on_curve(&mut self, cwnd: f64, now: Time, rtt_s: f64) -> f64 {
        if self.epoch == Time::NEVER {
            self.epoch = now;
            self.reno = cwnd;
            self.peak = self.peak.max(cwnd);
            self.plateau_s = cube_root((self.peak - cwnd) / SCALE);
        }
        let elapsed = now.saturating_sub(self.epoch).as_secs_f64();
        // `powi` calls a function of the compiler on some machines; this is the same product.
        let cube = |x: f64| x * x * x;
        let window = |t: f64| SCALE * cube(t - self.plateau_s) + self.peak;
        // 4.3: alpha makes a Reno flow with this beta as fast as one with 1 and 1/2, up to the old window.
        let alpha = if self.reno < self.prior { 3.0 * (1.0 - BETA) / (1.0 + BETA) } else { 1.0 };
        self.reno += alpha / cwnd;
        if window(elapsed) < self.reno {
            return self.reno.max(cwnd);
        }
        let target = window(elapsed + rtt_s).clamp(cwnd, 1.5 * cwnd);
        cwnd + (target - cwnd) / cwnd
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
    use crate::tcp::rules::{Congestion, State};
    use crate::tcp::sender::tests::with;
    use crate::tcp::settings::{Hystart, Tcp};

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
    fn bandwidth_is_released_when_the_window_sinks() {
        let mut cubic = Cubic::idle();
        assert_eq!(cubic.reduced(100.0), 70.0);
        assert_eq!(cubic.peak, 100.0);
        cubic.reduced(80.0);
        assert_eq!(cubic.peak, 80.0 * 0.85, "RFC 9438, 4.7");
        cubic.reduced(90.0);
        assert_eq!(cubic.peak, 90.0);
    }

    /// In two round trips of 10 ms the curve adds nothing. A twentieth of 100 is 5, then 5.25; Reno adds 1 a round,
    /// after a reduction 0.53 (RFC 9438, 4.3).
    #[test]
    fn after_hystart_cubic_grows_by_a_twentieth_per_round_trip_until_the_first_loss() {
        let cases = [
            (Hystart::Linux, false, 10.25),
            (Hystart::Linux, true, 1.06),
            (Hystart::Off, false, 2.0),
            (Hystart::Rfc9406, false, 2.0),
        ];
        for (hystart, reduced, grown) in cases {
            let (mut control, tcp) = with(Congestion::Cubic);
            let tcp = Tcp { hystart, ..tcp };
            (control.cwnd, control.ssthresh) = (100.0, 100.0);
            if reduced {
                control.reduced(150.0);
                let State::Cubic(cubic) = &mut control.rule else { panic!() };
                cubic.peak = 100.0;
            }
            for round in 0..2_u64 {
                for _ in 0..control.cwnd.round() as u32 {
                    control.on_ack(1, Time(round * 10_000_000), 0.01, &tcp);
                }
            }
            assert!((control.cwnd - 100.0 - grown).abs() < 0.05, "{hystart:?} {reduced}: {}", control.cwnd);
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
}
