//! Moves RED to drop-tail while too much of the traffic does not respond to drops.
//!
//! Principle: RED spreads its drops over all who send, so that flows which yield to a drop leave the link to those which do
//! not. With both thresholds at the end of the buffer it is drop-tail, which hits bursts. Where estimates of the share
//! that does not respond were above a bound for some time the thresholds move there, and back where they were below
//! another (Zhao 2004, II.E and V.A), or where nothing sure was heard for long. Cost: a comparison per estimate. Source: Zhao 2004, Table III.

use crate::spec::{OptionError, Options, Param, Value};

/// Its two parameters.
pub(crate) const PARAMS: [Param; 2] = [
    Param {
        name: "above",
        unit: "share",
        about: "estimates above it move both thresholds to the end of the buffer: drop-tail; 1: never",
        value: Value::Number { default: 1.0, min: 0.0, max: 1.0 },
    },
    Param {
        name: "below",
        unit: "share",
        about: "estimates below it move them back, at most above; 0: 0.1 less than above",
        value: Value::Number { default: 0.0, min: 0.0, max: 1.0 },
    },
];

/// Estimates in a row: one alone is noise.
const HOLD: u32 = 3;
/// Doubtful estimates in a row after which drop-tail ends: 20 s of the usual ones. Who does not know goes back to RED.
const PATIENCE: u32 = 30;
/// Between both bounds where only one is given.
const APART: f64 = 0.1;

/// The bounds, and where the thresholds are.
#[derive(Debug)]
pub(crate) struct Regulator {
    above: f64,
    below: f64,
    row: u32,
    doubts: u32,
    is_tail: bool,
}

impl Regulator {
    pub(crate) fn with_options(options: &Options) -> Result<Regulator, OptionError> {
        let (above, below) = (options.number("above"), options.number("below"));
        if below > above {
            return Err(options.refuse("below", &format!("at most above, {above}")));
        }
        let below = if below > 0.0 { below } else { (above - APART).max(0.0) };
        Ok(Regulator { above, below, row: 0, doubts: 0, is_tail: false })
    }

    /// An estimate that may be relied on, or not; whether only a full buffer is to drop from now on.
    pub(crate) fn told(&mut self, share: f64, is_doubtful: bool) -> bool {
        if is_doubtful {
            self.doubts += 1;
            if self.doubts >= PATIENCE {
                (self.row, self.doubts, self.is_tail) = (0, 0, false);
            }
        } else {
            self.doubts = 0;
            let is_beyond = if self.is_tail { share < self.below } else { share > self.above };
            self.row = if is_beyond { self.row + 1 } else { 0 };
            if self.row == HOLD {
                (self.row, self.is_tail) = (0, !self.is_tail);
            }
        }
        self.is_tail
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Discipline;

    fn regulator(above: f64, below: f64) -> Regulator {
        Regulator { above, below, row: 0, doubts: 0, is_tail: false }
    }

    fn answers(regulator: &mut Regulator, shares: &[f64]) -> Vec<bool> {
        shares.iter().map(|&share| regulator.told(share, false)).collect()
    }

    #[test]
    fn three_estimates_in_a_row_move_it_there_and_back() {
        let found =
            answers(&mut regulator(0.7, 0.6), &[0.8, 0.8, 0.5, 0.8, 0.8, 0.8, 0.65, 0.5, 0.5, 0.65, 0.5, 0.5, 0.5]);
        let there = [false, false, false, false, false, true, true, true, true, true, true, true, false];
        assert_eq!(found, there);
    }

    #[test]
    fn between_the_bounds_it_stays_where_it_is() {
        let mut regulator = regulator(0.7, 0.6);
        assert!(answers(&mut regulator, &[0.65; 9]).iter().all(|is_tail| !is_tail));
        answers(&mut regulator, &[0.9; 3]);
        assert!(answers(&mut regulator, &[0.65; 9]).iter().all(|is_tail| *is_tail));
    }

    #[test]
    fn many_doubtful_estimates_in_a_row_end_drop_tail() {
        let mut regulator = regulator(0.7, 0.6);
        answers(&mut regulator, &[0.9; 3]);
        for _ in 1..PATIENCE {
            assert!(regulator.told(0.9, true));
        }
        assert!(regulator.told(0.65, false), "one that may be relied on starts the count anew");
        assert!((1..PATIENCE).all(|_| regulator.told(0.9, true)));
        assert!(!regulator.told(0.9, true));
    }

    #[test]
    fn doubtful_estimates_count_for_nothing() {
        let mut regulator = regulator(0.7, 0.6);
        for share in [0.9; 9] {
            assert!(!regulator.told(share, true));
        }
        assert_eq!([0.9, 0.9].map(|share| regulator.told(share, false)), [false; 2]);
        assert!(!regulator.told(0.1, true) && regulator.told(0.9, false));
    }

    #[test]
    fn bounds_the_wrong_way_round_are_refused() {
        let options = [("above", "0.5"), ("below", "0.6")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let options =
            Options::parse(&crate::disciplines::estmred::EstmRed::SPEC, &options).expect("each within its bounds");
        let refused = Regulator::with_options(&options).expect_err("below above above").to_string();
        assert_eq!(refused, "below = '0.6': must be at most above, 0.5");
    }

    #[test]
    fn one_is_never_exceeded() {
        assert!(answers(&mut regulator(1.0, 0.9), &[1.0; 9]).iter().all(|is_tail| !is_tail));
    }
}
