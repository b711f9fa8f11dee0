//! How a telephone call over the network sounds: the E-model of ITU-T G.107 (06/2015), from delay and loss to MOS.
//!
//! Each impairment takes points from a rating R, and what is left is read as the opinion that listeners would have in
//! the mean. All parameters but delay and loss have the defaults of G.107, Table 3; the codec is G.711 with
//! concealment of lost packets (G.113, Table I.3: Ie = 0, Bpl = 25.1). Numbers of equations are those of G.107.

use libm::{exp, log2, log10, pow};

/// Impairment of G.711 and its robustness to loss with concealment (ITU-T G.113, Appendix I).
const G711: (f64, f64) = (0.0, 25.1);

/// Parameters of the E-model that are not delay or loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Loudness rating of sending, dB.
    pub slr: f64,
    /// Loudness rating of receiving, dB.
    pub rlr: f64,
    /// Side tone masking rating, dB.
    pub stmr: f64,
    /// Listener's side tone rating, dB.
    pub lstr: f64,
    /// D factor of the telephone that sends.
    pub ds: f64,
    /// Talker's echo loudness rating, dB.
    pub telr: f64,
    /// Weighted echo path loss, dB.
    pub wepl: f64,
    /// Quantisation distortion units.
    pub qdu: f64,
    /// Noise of the circuit, dBm0p.
    pub nc: f64,
    /// Noise floor of the receiver, dBmp.
    pub nfor: f64,
    /// Room noise where it is said, dB(A).
    pub ps: f64,
    /// Room noise where it is heard, dB(A).
    pub pr: f64,
}

/// The defaults of G.107, Table 3.
impl Default for Line {
    fn default() -> Line {
        Line {
            slr: 8.0,
            rlr: 2.0,
            stmr: 15.0,
            lstr: 18.0,
            ds: 3.0,
            telr: 65.0,
            wepl: 110.0,
            qdu: 1.0,
            nc: -70.0,
            nfor: -64.0,
            ps: 35.0,
            pr: 35.0,
        }
    }
}

fn square(value: f64) -> f64 {
    value * value
}

impl Line {
    /// No: sum of all noise at the point of 0 dBr (7-3 to 7-6).
    pub fn noise(&self) -> f64 {
        let olr = self.slr + self.rlr;
        let nos = self.ps - self.slr - self.ds - 100.0 + 0.004 * square(self.ps - olr - self.ds - 14.0);
        let pre = self.pr + 10.0 * log10(1.0 + pow(10.0, (10.0 - self.lstr) / 10.0));
        let nor = self.rlr - 121.0 + pre + 0.008 * square(pre - 35.0);
        let nfo = self.nfor + self.rlr;
        10.0 * log10([self.nc, nos, nor, nfo].iter().map(|level| pow(10.0, level / 10.0)).sum())
    }

    /// Ro: signal over noise (7-2).
    pub fn signal(&self) -> f64 {
        15.0 - 1.5 * (self.slr + self.noise())
    }

    /// Is: what comes with the voice itself (7-8 to 7-17), the side tone without delay.
    pub fn simultaneous(&self) -> f64 {
        let olr = self.slr + self.rlr;
        let x = olr + 0.2 * (64.0 + self.noise() - self.rlr);
        let too_loud = 20.0 * (pow(1.0 + pow(x / 8.0, 8.0), 1.0 / 8.0) - x / 8.0);
        let stmr = -10.0 * log10(pow(10.0, -self.stmr / 10.0) + pow(10.0, -self.telr / 10.0));
        let side_tone = 12.0 * pow(1.0 + pow((stmr - 13.0) / 6.0, 8.0), 1.0 / 8.0)
            - 28.0 * pow(1.0 + pow((stmr + 1.0) / 19.4, 35.0), 1.0 / 35.0)
            - 13.0 * pow(1.0 + pow((stmr - 3.0) / 33.0, 13.0), 1.0 / 13.0)
            + 29.0;
        let q = 37.0 - 15.0 * log10(self.qdu);
        let g = 1.07 + 0.258 * q + 0.0602 * square(q);
        let (y, z) = ((self.signal() - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0, 46.0 / 30.0 - g / 40.0);
        too_loud + side_tone + 15.0 * log10(1.0 + pow(10.0, y) + pow(10.0, z))
    }

    /// Id: talker's echo, listener's echo and delay itself (7-18 to 7-28) of `delay_ms`, one way from mouth to ear.
    pub fn delayed(&self, delay_ms: f64) -> f64 {
        let echo = self.telr - 40.0 * log10((1.0 + delay_ms / 10.0) / (1.0 + delay_ms / 150.0))
            + 6.0 * exp(-0.3 * square(delay_ms));
        let over = -1.5 * (self.noise() - self.rlr) - (80.0 + 2.5 * (echo - 14.0));
        let talker = (over / 2.0 + (square(over) / 4.0 + 100.0).sqrt() - 1.0) * (1.0 - exp(-delay_ms));
        let over = self.signal() - 10.5 * (self.wepl + 7.0) * pow(2.0 * delay_ms + 1.0, -0.25);
        let listener = over / 2.0 + (square(over) / 4.0 + 169.0).sqrt();
        talker + listener + pure_delay(delay_ms)
    }
}

/// Idd: too long a delay without any echo (7-27, 7-28, sensitivity sT = 1, mT = 100 ms).
fn pure_delay(delay_ms: f64) -> f64 {
    if delay_ms <= 100.0 {
        return 0.0;
    }
    let x = log2(delay_ms / 100.0);
    25.0 * (pow(1.0 + pow(x, 6.0), 1.0 / 6.0) - 3.0 * pow(1.0 + pow(x / 3.0, 6.0), 1.0 / 6.0) + 2.0)
}

/// Rating R = Ro - Is - Id - Ie,eff of a connection of G.711 (7-1, 7-29) whose packets take `delay_ms` from mouth to
/// ear and of which the share `loss` is lost or late at random; the advantage factor A is 0.
///
/// ```
/// let line = metrics::Line::default();
/// assert_eq!(format!("{:.1}", metrics::rating(&line, 0.0, 0.0)), "93.2");
/// assert_eq!(format!("{:.1}", metrics::rating(&line, 150.0, 0.01)), "85.9");
/// ```
pub fn rating(line: &Line, delay_ms: f64, loss: f64) -> f64 {
    let ((ie, bpl), percent) = (G711, 100.0 * loss);
    let codec = ie + (95.0 - ie) * percent / (percent + bpl);
    line.signal() - line.simultaneous() - line.delayed(delay_ms) - codec
}

/// Mean opinion score of a rating, 1 to 4.5 (Annex B, B-4).
///
/// ```
/// assert_eq!(format!("{:.2}", metrics::opinion(93.2)), "4.41");
/// assert_eq!((metrics::opinion(-3.0), metrics::opinion(100.0)), (1.0, 4.5));
/// ```
pub fn opinion(rating: f64) -> f64 {
    if rating <= 0.0 {
        return 1.0;
    }
    if rating >= 100.0 {
        return 4.5;
    }
    // Between 0 and 6.5 the cubic falls a little below 1.
    (1.0 + 0.035 * rating + rating * (rating - 60.0) * (100.0 - rating) * 7e-6).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_the_default_line_are_those_of_g_107() {
        let line = Line::default();
        // docs/users.md: Ro = 94.77, Is = 1.41; without delay and loss R = 93.2, MOS 4.41.
        assert_eq!(format!("{:.2} {:.2}", line.signal(), line.simultaneous()), "94.77 1.41");
        assert_eq!(format!("{:.4}", line.noise()), "-61.1792");
        assert_eq!(format!("{:.2}", opinion(rating(&line, 0.0, 0.0))), "4.41");
    }

    #[test]
    fn delay_itself_begins_at_100_ms() {
        assert_eq!(pure_delay(100.0), 0.0);
        // x = log2(4) = 2: 25 ((1 + 64)^(1/6) - 3 (1 + (2/3)^6)^(1/6) + 2).
        let by_hand = 25.0 * (2.005_174_9 - 3.0 * 1.014_123_7 + 2.0);
        assert!((pure_delay(400.0) - by_hand).abs() < 1e-4, "{}", pure_delay(400.0));
    }

    #[test]
    fn half_of_the_packets_lost_takes_most_of_the_rating() {
        let line = Line::default();
        let taken = rating(&line, 0.0, 0.0) - rating(&line, 0.0, 0.5);
        assert!((taken - 95.0 * 50.0 / 75.1).abs() < 1e-9);
    }

    #[test]
    fn opinions_stay_on_their_scale() {
        assert_eq!(opinion(3.0), 1.0);
        assert!(opinion(50.0) > 2.5 && opinion(50.0) < 2.6);
    }

    #[test]
    fn opinions_are_those_of_table_b_1() {
        for (rating, mos) in [(90.0, 4.34), (80.0, 4.03), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58)] {
            assert!((opinion(rating) - mos).abs() < 0.01, "{rating}: {}", opinion(rating));
        }
        let all: Vec<f64> = (-100..=1100).map(|tenths| opinion(0.1 * f64::from(tenths))).collect();
        assert!((all[0], all[all.len() - 1]) == (1.0, 4.5) && all.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12));
    }

    #[test]
    fn delay_costs_what_the_fit_of_cole_and_rosenbluth_says() {
        // Cole and Rosenbluth 2001, a fit to G.107 by two lines, furthest from it at their corner.
        for delay_ms in [25.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0] {
            let fit = 0.024 * delay_ms + 0.11 * f64::max(delay_ms - 177.3, 0.0);
            assert!((Line::default().delayed(delay_ms) - fit).abs() < 0.7, "{delay_ms}");
        }
    }
}
