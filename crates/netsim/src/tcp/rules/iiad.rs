//! Inverse increase, additive decrease: the binomial rule with k = 1, l = 0 (Bansal and Balakrishnan 2001, section 2).
//!
//! A round of w acknowledgements adds alpha / w^k, a reduction takes off beta w^l. For small reductions 1/p packets per
//! cycle give w = sqrt(alpha / (beta p)) for k + l = 1, and alpha / beta = 3/2 the sqrt(3 / (2 p)) of AIMD.

use super::rule::{Moment, Rule, Traits};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Iiad;

impl Rule for Iiad {
    const TRAITS: Traits = Traits { fine: true, ..Traits::PLAIN };

    fn idle() -> Iiad {
        Iiad
    }

    #[inline]
    fn grown(&mut self, cwnd: f64, _: Moment) -> f64 {
        cwnd + 1.0 / (cwnd * cwnd)
    }

    fn reduced(&mut self, window: f64) -> f64 {
        window - 2.0 / 3.0
    }
}
