//! Traces of links, shapers and their controller, as settings.

use netsim::{Autorate, Bounds, ConfigError, Law, LinkTrace, Shaper, ShaperPlace, Shaping, Step};
use qdisc::Limit;
use serde::Deserialize;
use units::{BitRate, Time};

/// The rate and the delay of a link over time: steps, or opportunities where `bytes` are given.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceSettings {
    at_ns: Vec<u64>,
    rate_bps: Vec<u64>,
    added_delay_ns: Vec<u64>,
    #[serde(deserialize_with = "Option::deserialize")]
    bytes: Option<u32>,
    /// None: the last rate goes on for ever.
    #[serde(deserialize_with = "Option::deserialize")]
    period_ns: Option<u64>,
    offset_ns: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShaperSettings {
    rate_bps: u64,
    modem: Limit,
    #[serde(default)]
    behind: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoundsSettings {
    min_bps: u64,
    base_bps: u64,
    max_bps: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AutorateSettings {
    pings: u32,
    reflectors: u32,
    one_way: bool,
    bounds: [Option<BoundsSettings>; 2],
    load_interval_ns: u64,
    high_load: f64,
    delay_threshold_s: f64,
    rise_threshold_s: f64,
    fall_threshold_s: f64,
    window: u32,
    delayed: u32,
    baseline_rise: f64,
    baseline_fall: f64,
    fall: [f64; 2],
    rise: [f64; 2],
    decay: [f64; 2],
    fall_refractory_ns: u64,
    decay_refractory_ns: u64,
    silence_ns: u64,
    packet: u32,
}

/// Shapers before the bottleneck, and what sets their rates.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShapingSettings {
    shapers: [Option<ShaperSettings>; 2],
    #[serde(deserialize_with = "Option::deserialize")]
    controller: Option<AutorateSettings>,
}

fn rate(bps: u64) -> Result<BitRate, ConfigError> {
    BitRate::from_bps(bps).ok_or_else(|| ConfigError::Value("shaper.rate_bps", "0".into(), "at least 1 bit/s"))
}

impl TraceSettings {
    pub(crate) fn into_trace(self) -> LinkTrace {
        let times = self.at_ns.into_iter().map(Time);
        let law = match self.bytes {
            Some(bytes) => Law::Opportunities(times.collect(), bytes),
            None => {
                let entries = times.zip(self.rate_bps).zip(self.added_delay_ns);
                Law::Steps(entries.map(|((at, bps), delay)| Step { at, bps, added_delay: Time(delay) }).collect())
            }
        };
        LinkTrace { law, period: self.period_ns.map_or(Time::NEVER, Time), offset: Time(self.offset_ns) }
    }
}

impl ShapingSettings {
    /// # Errors
    /// A rate of 0.
    pub(crate) fn into_shaping(self) -> Result<Shaping, ConfigError> {
        let [forward, reverse] = self.shapers.map(|shaper| shaper.map(ShaperSettings::into_shaper).transpose());
        let controller = self.controller.map(AutorateSettings::into_autorate).transpose()?;
        Ok(Shaping { forward: forward?, reverse: reverse?, controller })
    }
}

impl ShaperSettings {
    fn into_shaper(self) -> Result<Shaper, ConfigError> {
        let place = if self.behind { ShaperPlace::Behind } else { ShaperPlace::Before };
        Ok(Shaper { rate: rate(self.rate_bps)?, modem: self.modem, place })
    }
}

impl AutorateSettings {
    fn into_autorate(self) -> Result<Autorate, ConfigError> {
        let [forward, reverse] = self.bounds.map(|bounds| bounds.map(BoundsSettings::into_bounds).transpose());
        Ok(Autorate {
            pings: self.pings,
            reflectors: self.reflectors,
            one_way: self.one_way,
            bounds: [forward?, reverse?],
            load_interval: Time(self.load_interval_ns),
            high_load: self.high_load,
            delay_threshold: self.delay_threshold_s,
            rise_threshold: self.rise_threshold_s,
            fall_threshold: self.fall_threshold_s,
            window: self.window,
            delayed: self.delayed,
            baseline_rise: self.baseline_rise,
            baseline_fall: self.baseline_fall,
            fall: self.fall,
            rise: self.rise,
            decay: self.decay,
            fall_refractory: Time(self.fall_refractory_ns),
            decay_refractory: Time(self.decay_refractory_ns),
            silence: Time(self.silence_ns),
            packet: self.packet,
        })
    }
}

impl BoundsSettings {
    fn into_bounds(self) -> Result<Bounds, ConfigError> {
        Ok(Bounds { min: rate(self.min_bps)?, base: rate(self.base_bps)?, max: rate(self.max_bps)? })
    }
}
