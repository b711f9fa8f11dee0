//! Wireless cells, as settings.

use netsim::wlan::phy::{Channel, Mode, Standard};
use netsim::wlan::{AfterFailure, Aggregation, Category, Decrement, Immediate, Placement, Rules, Station, Wlan};
use serde::{Deserialize, Serialize};
use units::Time;

use crate::error::SettingsError;

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
pub struct AirSettings {
    /// Id of a standard.
    pub standard: String,
    /// Of the channel, MHz.
    pub width: u32,
    /// Spatial ones.
    pub streams: u32,
    /// Short interval between symbols.
    pub short_guard: bool,
    /// Of 802.11b.
    pub short_preamble: bool,
    /// Of a cell with old stations.
    pub long_slot: bool,
}

/// Octets of control frames (802.11-2020, 9.3.1): ACK and CTS, RTS.
const ACK: u32 = 14;
const RTS: u32 = 20;

fn refused(reason: String) -> SettingsError {
    SettingsError::Text(format!("network.wlan: {reason}"))
}

impl AirSettings {
    fn standard(&self) -> Result<&'static Standard, SettingsError> {
        Standard::named(&self.standard)
            .ok_or_else(|| refused(format!("standard = {}: must be a standard there is", self.standard)))
    }

    fn slot(&self, standard: &Standard) -> Time {
        standard.slots[usize::from(self.long_slot)]
    }

    fn data(&self, standard: &Standard, rate: &str) -> Result<Mode, SettingsError> {
        let channel = Channel { width: self.width, streams: self.streams, short_guard: self.short_guard };
        standard.mode(rate, channel, self.short_preamble).map_err(refused)
    }

    /// Of the frames that answer data at `rate`, a rate there is.
    fn control(&self, standard: &Standard, rate: &str, ack_rate: Option<&str>) -> Result<Mode, SettingsError> {
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
    pub(crate) fn into_wlan(self) -> Result<Wlan, SettingsError> {
        let standard = self.air.standard()?;
        if self.rates.len() != self.frame_errors.len() {
            return Err(refused("rates and frame_errors: must be as many as stations".into()));
        }
        let station = |(rate, &frame_error): (&String, &f64)| {
            let control = self.air.control(standard, rate, self.ack_rate.as_deref())?;
            Ok(Station { data: self.air.data(standard, rate)?, control, frame_error })
        };
        let stations =
            self.rates.iter().zip(&self.frame_errors).map(station).collect::<Result<Vec<_>, SettingsError>>()?;
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
#[expect(missing_docs, reason = "named after the frames; all in nanoseconds but the rate and the windows")]
pub struct Airtimes {
    pub slot_ns: u64,
    pub sifs_ns: u64,
    pub ack_ns: u64,
    pub ack_timeout_ns: u64,
    pub eifs_extra_ns: u64,
    pub rts_ns: u64,
    pub cts_ns: u64,
    pub preamble_ns: u64,
    pub rate_bps: f64,
    pub cw_min: u32,
    pub cw_max: u32,
    pub data_ns: Vec<u64>,
}

impl AirSettings {
    /// Times of data frames with PSDUs of `lengths` bytes at `rate`, of the control frames that belong to them, and of
    /// the gaps between frames.
    ///
    /// # Errors
    /// A standard, a rate or a channel there is not.
    pub fn airtimes(&self, rate: &str, ack_rate: Option<&str>, lengths: &[u32]) -> Result<Airtimes, SettingsError> {
        let standard = self.standard()?;
        let data = self.data(standard, rate)?;
        let control = self.control(standard, rate, ack_rate)?;
        Ok(Airtimes {
            slot_ns: self.slot(standard).0,
            sifs_ns: standard.sifs.0,
            ack_ns: control.airtime(ACK).0,
            ack_timeout_ns: self.ack_timeout(standard, &control).0,
            eifs_extra_ns: self.eifs_extra(standard).0,
            rts_ns: control.airtime(RTS).0,
            cts_ns: control.airtime(ACK).0,
            preamble_ns: data.preamble.0,
            rate_bps: f64::from(data.half_bits) / 2.0 / data.symbol.as_secs_f64(),
            cw_min: standard.windows[0],
            cw_max: standard.windows[1],
            data_ns: lengths.iter().map(|&bytes| data.airtime(bytes).0).collect(),
        })
    }
}
