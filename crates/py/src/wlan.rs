//! Wireless cells and the lengths of their frames, as settings.

use netsim::wlan::phy::{Channel, Mode, Standard};
use netsim::wlan::{AfterFailure, Aggregation, Category, Decrement, Immediate, Placement, Rules, Station, Wlan};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use units::Time;

use crate::table::as_json;

/// A cell; times in nanoseconds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WlanSettings {
    air: AirSettings,
    /// Of each station.
    rates: Vec<String>,
    frame_errors: Vec<f64>,
    #[serde(deserialize_with = "Option::deserialize")]
    ack_rate: Option<String>,
    /// AIFSN, smallest and largest window, length of a won medium.
    categories: Vec<(u32, u32, u32, u64)>,
    category_of: Vec<u8>,
    overhead: u32,
    retry_limit: u32,
    long_retry_limit: u32,
    #[serde(deserialize_with = "Option::deserialize")]
    rts_threshold: Option<u32>,
    eifs_after_collision: bool,
    decrement: Decrement,
    after_failure: AfterFailure,
    immediate: Immediate,
    overtaken_draws: bool,
    reply_finds_idle: bool,
    #[serde(deserialize_with = "Option::deserialize")]
    cca_ns: Option<u64>,
    aggregate: u32,
    #[serde(deserialize_with = "Option::deserialize")]
    aggregate_bytes: Option<u32>,
    aggregate_airtime_ns: u64,
    queues: Queues,
    airtime_quantum_ns: u64,
}

/// Queues of the access point, as the scenario names them.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Queues {
    Shared,
    PerStation,
    AirtimeFair,
}

/// What all frames of a cell share.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AirSettings {
    standard: String,
    width: u32,
    streams: u32,
    short_guard: bool,
    short_preamble: bool,
    long_slot: bool,
}

/// Octets of control frames (802.11-2020, 9.3.1): ACK and CTS, RTS.
const ACK: u32 = 14;
const RTS: u32 = 20;

fn refused(reason: String) -> PyErr {
    PyValueError::new_err(format!("network.wlan: {reason}"))
}

impl AirSettings {
    fn standard(&self) -> PyResult<&'static Standard> {
        Standard::named(&self.standard)
            .ok_or_else(|| refused(format!("standard = {}: must be a standard there is", self.standard)))
    }

    fn slot(&self, standard: &Standard) -> Time {
        standard.slots[usize::from(self.long_slot)]
    }

    fn data(&self, standard: &Standard, rate: &str) -> PyResult<Mode> {
        let channel = Channel { width: self.width, streams: self.streams, short_guard: self.short_guard };
        standard.mode(rate, channel, self.short_preamble).map_err(refused)
    }

    /// Of the frames that answer data at `rate`, a rate there is.
    fn control(&self, standard: &Standard, rate: &str, ack_rate: Option<&str>) -> PyResult<Mode> {
        let half_bits = match ack_rate {
            Some(ack_rate) => standard.control_rate(ack_rate).map_err(refused)?,
            None => standard.answering(rate).unwrap_or(standard.basic[0]),
        };
        Ok(standard.control_mode(half_bits, self.short_preamble))
    }

    /// SIFS and an acknowledgement at the lowest mandatory rate: EIFS less DIFS (802.11-2020, 10.3.7).
    fn eifs_extra(&self, standard: &Standard) -> Time {
        standard.sifs + standard.control_mode(standard.basic[0], self.short_preamble).airtime(ACK)
    }

    /// SIFS, a slot and the time to tell that a frame begins (802.11-2020, 10.3.2.11).
    fn ack_timeout(&self, standard: &Standard, control: &Mode) -> Time {
        standard.sifs + self.slot(standard) + control.preamble
    }
}

impl WlanSettings {
    /// # Errors
    /// A rate or a channel there is not, or lists of unequal lengths.
    pub(crate) fn into_wlan(self) -> PyResult<Wlan> {
        let standard = self.air.standard()?;
        if self.rates.len() != self.frame_errors.len() {
            return Err(refused("rates and frame_errors: must be as many as stations".into()));
        }
        let station = |(rate, &frame_error): (&String, &f64)| {
            let control = self.air.control(standard, rate, self.ack_rate.as_deref())?;
            Ok(Station { data: self.air.data(standard, rate)?, control, frame_error })
        };
        let stations = self.rates.iter().zip(&self.frame_errors).map(station).collect::<PyResult<Vec<_>>>()?;
        let timeouts = stations.iter().map(|station| self.air.ack_timeout(standard, &station.control));
        let category = |(aifsn, least, most, txop)| Category { aifsn, windows: [least, most], txop: Time(txop) };
        let bytes = self.aggregate_bytes.or(standard.aggregate_bytes);
        Ok(Wlan {
            slot: self.air.slot(standard),
            sifs: standard.sifs,
            cca: self.cca_ns.map_or(standard.cca, Time),
            ack_timeout: timeouts.max().unwrap_or(Time::ZERO),
            eifs_extra: self.air.eifs_extra(standard),
            stations,
            categories: self.categories.into_iter().map(category).collect(),
            category_of: self.category_of,
            overhead: self.overhead,
            tries: [self.retry_limit, self.long_retry_limit],
            rts_threshold: self.rts_threshold.unwrap_or(u32::MAX),
            rules: Rules {
                eifs_after_collision: self.eifs_after_collision,
                decrement: self.decrement,
                after_failure: self.after_failure,
                immediate: self.immediate,
                overtaken_draws: self.overtaken_draws,
                reply_finds_idle: self.reply_finds_idle,
            },
            aggregation: bytes.filter(|_| self.aggregate > 1).map(|bytes| Aggregation {
                frames: self.aggregate,
                bytes,
                airtime: Time(self.aggregate_airtime_ns),
            }),
            placement: match self.queues {
                Queues::Shared => Placement::Shared,
                Queues::PerStation => Placement::RoundRobin,
                Queues::AirtimeFair => Placement::Airtime(Time(self.airtime_quantum_ns)),
            },
            mean_backoff: false,
        })
    }
}

/// Times of frames.
#[derive(Serialize)]
struct Airtimes {
    slot_ns: u64,
    sifs_ns: u64,
    ack_ns: u64,
    ack_timeout_ns: u64,
    eifs_extra_ns: u64,
    rts_ns: u64,
    cts_ns: u64,
    preamble_ns: u64,
    rate_bps: f64,
    cw_min: u32,
    cw_max: u32,
    data_ns: Vec<u64>,
}

/// Time of frames, nanoseconds: of data frames with PSDUs of `lengths` bytes, of the control frames that belong to
/// them, and of the gaps between frames; JSON.
///
/// # Errors
/// `ValueError` with one line for a standard, rate or channel there is not.
#[pyfunction]
#[pyo3(signature = (standard, rate, width, streams, short_guard, short_preamble, ack_rate, lengths, long_slot=false))]
#[expect(clippy::too_many_arguments, reason = "the arguments are a table's row, given by name")]
pub fn wlan_airtimes(
    standard: String,
    rate: String,
    width: u32,
    streams: u32,
    short_guard: bool,
    short_preamble: bool,
    ack_rate: Option<String>,
    lengths: Vec<u32>,
    long_slot: bool,
) -> PyResult<String> {
    let air = AirSettings { standard, width, streams, short_guard, short_preamble, long_slot };
    let standard = air.standard()?;
    let data = air.data(standard, &rate)?;
    let control = air.control(standard, &rate, ack_rate.as_deref())?;
    as_json(&Airtimes {
        slot_ns: air.slot(standard).0,
        sifs_ns: standard.sifs.0,
        ack_ns: control.airtime(ACK).0,
        ack_timeout_ns: air.ack_timeout(standard, &control).0,
        eifs_extra_ns: air.eifs_extra(standard).0,
        rts_ns: control.airtime(RTS).0,
        cts_ns: control.airtime(ACK).0,
        preamble_ns: data.preamble.0,
        rate_bps: f64::from(data.half_bits) / 2.0 / data.symbol.as_secs_f64(),
        cw_min: standard.windows[0],
        cw_max: standard.windows[1],
        data_ns: lengths.iter().map(|&bytes| data.airtime(bytes).0).collect(),
    })
}

/// What a standard has to offer.
#[derive(Serialize)]
struct Offer {
    rates: Vec<&'static str>,
    cw_min: u32,
    cw_max: u32,
    aggregates: bool,
    symbol_ns: u64,
}

/// The standards there are by name, and of each the rates, the highest last; JSON.
///
/// # Errors
/// `RuntimeError` when they cannot be written as JSON.
#[pyfunction]
pub fn wlan_standards() -> PyResult<String> {
    let offer = |standard: &'static Standard| Offer {
        rates: standard.rates.iter().map(|(name, _)| *name).collect(),
        cw_min: standard.windows[0],
        cw_max: standard.windows[1],
        aggregates: standard.aggregate_bytes.is_some(),
        symbol_ns: standard.data.symbol.0,
    };
    let mut standards = serde_json::Map::new();
    for standard in &netsim::wlan::phy::STANDARDS {
        let row = serde_json::to_value(offer(standard)).map_err(|error| refused(error.to_string()))?;
        standards.insert(standard.id.to_owned(), row);
    }
    as_json(&standards)
}
