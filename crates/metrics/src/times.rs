//! Percentiles of times.

use serde::Serialize;

use crate::order::{percentile, percentile_ci95, sorted};

/// Response times of some transfers. One that did not finish counts as an infinite time, so that a discipline gains
/// nothing from starving some.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "TransferTimes"))]
pub struct Times {
    /// How many.
    pub flows: u64,
    /// Of these, those that did not finish.
    pub unfinished: u64,
    /// Median, seconds.
    pub p50_s: Option<f64>,
    /// 95 of 100 take at most this, seconds.
    pub p95_s: Option<f64>,
    /// 99 of 100 take at most this, seconds.
    pub p99_s: Option<f64>,
    /// 95 % interval of the median, seconds.
    pub p50_ci95: Option<[f64; 2]>,
    /// 95 % interval of the 95th percentile, seconds.
    pub p95_ci95: Option<[f64; 2]>,
}

impl Times {
    /// Of these times, seconds, `None` of one that did not finish.
    pub fn of(times: impl Iterator<Item = Option<f64>>) -> Times {
        let all: Vec<f64> = times.map(|time| time.unwrap_or(f64::INFINITY)).collect();
        let unfinished = all.iter().filter(|time| time.is_infinite()).count() as u64;
        let ordered = sorted(all);
        Times {
            flows: ordered.len() as u64,
            unfinished,
            p50_s: percentile(&ordered, 0.5),
            p95_s: percentile(&ordered, 0.95),
            p99_s: percentile(&ordered, 0.99),
            p50_ci95: percentile_ci95(&ordered, 0.5),
            p95_ci95: percentile_ci95(&ordered, 0.95),
        }
    }

    /// The same; `None` of none.
    pub(crate) fn of_some(times: impl Iterator<Item = Option<f64>>) -> Option<Times> {
        let found = Times::of(times);
        (found.flows > 0).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_transfer_is_the_longest() {
        let found = Times::of([Some(2.0), None, Some(1.0)].into_iter());
        assert_eq!((found.flows, found.unfinished, found.p50_s, found.p95_s), (3, 1, Some(2.0), None));
    }

    #[test]
    fn none_have_no_times() {
        assert_eq!(Times::of_some(std::iter::empty()), None);
    }
}
