//! SQRT: the binomial rule with k = l = 1/2 (Bansal and Balakrishnan 2001, section 2), with the constants of
//! [`iiad`](super::iiad).

use super::rule::{Moment, Rule, Traits};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sqrt;

impl Rule for Sqrt {
    const TRAITS: Traits = Traits { fine: true, ..Traits::PLAIN };

    fn idle() -> Sqrt {
        Sqrt
    }

    #[inline]
    fn grown(&mut self, cwnd: f64, _: Moment) -> f64 {
        cwnd + 1.0 / (cwnd * cwnd.sqrt())
    }

    fn reduced(&mut self, window: f64) -> f64 {
        window - window.sqrt() * (2.0 / 3.0)
    }
}
