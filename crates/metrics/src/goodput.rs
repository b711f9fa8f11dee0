//! Downloads and uploads: the goodput of the transfers above 1 MB.

use serde::Serialize;

use crate::order::{percentile, sorted};
use crate::transfers::{self, Runs};

/// Goodput of the long transfers of one direction; an unfinished one counts as 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Goodput {
    /// How many.
    pub flows: u64,
    /// Median, Mbit/s.
    pub goodput_mbps_p50: Option<f64>,
    /// 95 of 100 have more than this, Mbit/s.
    pub goodput_mbps_p5: Option<f64>,
}

/// `None` without any.
pub(crate) fn goodput(runs: &Runs<'_>, up: bool) -> Option<Goodput> {
    let long = transfers::all(runs).filter(|one| transfers::is_long(one) && one.up == up);
    let ordered = sorted(long.map(|one| one.goodput_mbps().unwrap_or(0.0)).collect());
    (!ordered.is_empty()).then(|| Goodput {
        flows: ordered.len() as u64,
        goodput_mbps_p50: percentile(&ordered, 0.5),
        goodput_mbps_p5: percentile(&ordered, 0.05),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfers::Transfer;

    #[test]
    fn an_unfinished_download_has_none() {
        let one = |response_s| Transfer {
            row: 0,
            id: 0,
            train: None,
            up: false,
            size_bytes: 2_000_000,
            start_s: 0.0,
            response_s,
        };
        let found = goodput(&[&[one(Some(4.0)), one(None)], &[one(Some(2.0))]], false).expect("downloads");
        assert_eq!((found.flows, found.goodput_mbps_p50, found.goodput_mbps_p5), (3, Some(4.0), Some(0.0)));
        assert_eq!(goodput(&[&[one(Some(4.0))]], true), None);
    }
}
