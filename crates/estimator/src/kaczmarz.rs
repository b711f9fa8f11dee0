//! The adaptation: normalised Kaczmarz projection (Zhao 2004, Eq. 2.16).

use crate::config::Settings;
use crate::number::Number;

/// Parameters β of K regressors.
#[derive(Clone, Copy, Debug)]
pub struct Adaptation<N, const K: usize> {
    /// β, at least 0: numbers of flows and loads.
    pub beta: [N; K],
    is_bounded: bool,
}

impl<N: Number, const K: usize> Adaptation<N, K> {
    /// Begins with `beta`.
    pub fn from(beta: [N; K]) -> Self {
        Adaptation { beta, is_bounded: false }
    }

    /// β <- β + e γ₂ W / (γ₁ + W'W), e = output - W'β. What would come below 0 stops there: fewer flows than none, or a
    /// negative load, are no traffic.
    #[inline]
    pub fn update(&mut self, regressor: &[N; K], output: N, settings: &Settings<N>) {
        let mut predicted = N::ZERO;
        let mut square = settings.gamma_1;
        for (&w, &beta) in regressor.iter().zip(&self.beta) {
            predicted = predicted + w * beta;
            square = square + w * w;
        }
        if square <= N::ZERO {
            return;
        }
        let step = (output - predicted) * settings.gamma_2 / square;
        self.is_bounded = false;
        for (&w, beta) in regressor.iter().zip(&mut self.beta) {
            let moved = *beta + step * w;
            let held = moved.at_least(N::ZERO).at_most(N::LARGEST);
            self.is_bounded |= held != moved;
            *beta = held;
        }
    }

    /// The last update was stopped at a bound.
    pub fn is_bounded(&self) -> bool {
        self.is_bounded
    }
}

/// How much of the start is left.
///
/// W(t) = (1, -p/2) / R_0 hardly turns, so that β moves almost only along it: whatever the start, 2 N_s = p β₁ is
/// reached soon, and where on that line, which is the load asked for, goes by the deviations of p from its mean alone.
/// An update takes the share γ₂ d² / (γ₁ + W'W) of the distance across, d = (p - mean) / (2 R_0), if all is as the
/// model says. The start has the weight e^-S, S being their sum. With p times s in the regressor W is (1, -s p/2) / R_0,
/// d s times as large, and what of it lies across W the part 1/R_0 over the length of W.
#[derive(Clone, Copy, Debug)]
pub struct Excitation<N> {
    /// Sum of d²: the shares themselves are too small for 14 bits.
    squares: N,
}

/// S from which on an estimate counts as settled: a tenth of the start is left.
pub const SETTLED: f64 = 2.3;

impl<N: Number> Excitation<N> {
    /// Nothing is known.
    pub fn none() -> Self {
        Excitation { squares: N::ZERO }
    }

    /// An update with drop probability `p`, `mean` of late, and `inverse` of the round-trip time, 1/s.
    #[inline]
    pub fn take(&mut self, p: N, mean: N, inverse: N, settings: &Settings<N>) {
        let Some(scale) = settings.drop_scale else {
            let across = ((p - mean) * inverse).per(2);
            self.squares = (self.squares + across * across).at_most(N::LARGEST);
            return;
        };
        let (moved, second) = ((scale * (p - mean) * inverse).per(2), (scale * mean * inverse).per(2));
        let (first, whole) = (inverse * inverse, inverse * inverse + second * second);
        // `reaches` divides by the square of a W that hardly leaves (1/R_0, 0).
        let part = first / whole * ((settings.gamma_1 + first) / (settings.gamma_1 + whole));
        self.squares = (self.squares + moved * moved * part).at_most(N::LARGEST);
    }

    /// S is at least `bound`, with the present round-trip time.
    #[inline]
    pub fn reaches(&self, bound: N, inverse: N, settings: &Settings<N>) -> bool {
        self.squares * settings.gamma_2 >= bound * (settings.gamma_1 + inverse * inverse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::fixed::Fixed;
    use crate::number::Float;

    fn settings<N: Number>() -> Settings<N> {
        let given = [("gamma_1", 5.0), ("gamma_2", 0.5)];
        Config::with_options(3500.0, 0.1, &given).expect("a configuration").settings()
    }

    #[test]
    fn an_update_moves_along_the_regressor() {
        let mut adaptation = Adaptation::from([Float(30.0), Float(900.0)]);
        // W = (10, -0.25): predicted 300 - 225 = 75, W'W = 100.0625, e = 26.
        adaptation.update(&[Float(10.0), Float(-0.25)], Float(101.0), &settings());
        let step = 26.0 * 0.5 / 105.0625;
        assert!((adaptation.beta[0].0 - (30.0 + 10.0 * step)).abs() < 1e-12);
        assert!((adaptation.beta[1].0 - (900.0 - 0.25 * step)).abs() < 1e-12);
    }

    #[test]
    fn the_integer_update_is_worked_by_hand() {
        let mut adaptation = Adaptation::from([Fixed::from_f64(30.0), Fixed::from_f64(900.0)]);
        adaptation.update(&[Fixed::from_f64(10.0), Fixed::from_f64(-0.25)], Fixed::from_f64(101.0), &settings());
        // e = 26 = 425984; times 0.5 = 212992; W'W + 5 = 105.0625 = 1721344;
        // 212992 * 16384 / 1721344 = 2027.30 -> 2027; times 10 = 20270; times -0.25 = -506.75 -> -507.
        assert_eq!(adaptation.beta, [Fixed(30 * 16384 + 20270), Fixed(900 * 16384 - 507)]);
    }

    #[test]
    fn loads_do_not_become_negative() {
        let mut adaptation = Adaptation::from([Float(1.0), Float(1.0)]);
        adaptation.update(&[Float(10.0), Float(-0.1)], Float(-1e6), &settings());
        assert_eq!(adaptation.beta[0], Float(0.0));
        assert!(adaptation.is_bounded());
    }

    #[test]
    fn a_scale_of_the_drops_turns_the_regressor_and_the_start_fades_sooner_until_it_is_parallel_to_them() {
        let fading = |scale: f64| {
            let given = [("gamma_1", 5.0), ("gamma_2", 0.5), ("drop_scale", scale)];
            let settings = Config::with_options(3500.0, 0.1, &given).expect("a configuration").settings();
            let mut excitation = Excitation::none();
            for p in [0.02, 0.04] {
                excitation.take(Float(p), Float(0.03), Float(10.0), &settings);
            }
            excitation.squares.0
        };
        // W = (10, 1.5): 2 d² = 0.5, of which 100 / 102.25 lies across, for a square of 107.25 in place of 105.
        assert!((fading(10.0) - 0.5 * 100.0 / 102.25 * 105.0 / 107.25).abs() < 1e-9);
        assert!(fading(1.0) < fading(10.0) && fading(1000.0) < fading(100.0));
    }

    #[test]
    fn the_start_fades_with_the_square_of_the_deviations() {
        let mut excitation = Excitation::none();
        for p in [0.02, 0.04] {
            excitation.take(Float(p), Float(0.03), Float(10.0), &settings());
        }
        // d = 0.05 twice: 2 * 0.0025 * 0.5 / 105.
        let sum = 0.0025 / 105.0;
        assert!(excitation.reaches(Float(0.999 * sum), Float(10.0), &settings()));
        assert!(!excitation.reaches(Float(1.001 * sum), Float(10.0), &settings()));
    }

    /// 35 flows of 280 packets beside 400 packets a round trip, and their regression (Zhao 2004, A.6): drops swing between
    /// 0 and 0.8, the queue by 3 packets a millisecond. What β is after `updates` with the output off by up to `noise`.
    fn identified<N: Number>(updates: u32, gamma_2: f64, noise: f64) -> [f64; 3] {
        let given = [("gamma_1", 0.0), ("gamma_2", gamma_2)];
        let settings: Settings<N> = Config::with_options(3500.0, 0.1, &given).expect("a configuration").settings();
        let truth = [35.0, 280.0 * 280.0 / 35.0, 400.0];
        let mut adaptation = Adaptation::from([N::from_f64(10.0), N::from_f64(500.0), N::ZERO]);
        let mut state = 1_u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for _ in 0..updates {
            let (drops, slope) = (0.8 * random(), 3000.0 * (2.0 * random() - 1.0));
            let regressor = [10.0, -10.0 * drops / 2.0, slope / 3500.0];
            let exact: f64 = regressor.iter().zip(&truth).map(|(w, beta)| w * beta).sum();
            let output = exact + noise * (2.0 * random() - 1.0);
            adaptation.update(&regressor.map(N::from_f64), N::from_f64(output), &settings);
        }
        adaptation.beta.map(N::to_f64)
    }

    #[test]
    fn flows_load_and_other_traffic_of_the_model_itself_are_recovered_exactly() {
        let [flows, square, other] = identified::<Float>(100_000, 1.0, 0.0);
        let load = (flows * square).sqrt();
        assert!((flows - 35.0).abs() < 1e-8 && (load - 280.0).abs() < 1e-8 && (other - 400.0).abs() < 1e-8);
    }

    #[test]
    fn noise_is_taken_in_as_far_as_the_gain_lets_it() {
        // An element settles where what an update forgets of its error, 2 g w^2 / W'W, is what the noise adds,
        // g^2 w^2 s^2 / (W'W)^2: a standard deviation of s sqrt(g / 2 W'W), here 11.5 sqrt(0.05 / 208) = 0.18.
        let deviation = 20.0 / 3.0_f64.sqrt() * (0.05_f64 / 208.0).sqrt();
        let [flows, square, other] = identified::<Float>(400_000, 0.05, 20.0);
        for off in [flows - 35.0, square - 2240.0, other - 400.0] {
            assert!(off.abs() < 4.0 * deviation, "{off}");
        }
    }

    #[test]
    fn integers_recover_the_model_to_a_part_in_a_thousand() {
        let [flows, square, other] = identified::<Fixed>(100_000, 1.0, 0.0);
        assert!((flows / 35.0 - 1.0).abs() < 1e-3 && ((flows * square).sqrt() / 280.0 - 1.0).abs() < 1e-3);
        assert!((other / 400.0 - 1.0).abs() < 1e-3, "{flows} {square} {other}");
    }
}
