//! What frames of 802.11 take on the air: the standards as data, and one formula.
//!
//! Every format sends a preamble, then symbols of equal length, then perhaps silence. DSSS counts in whole
//! microseconds (802.11-2020, 15.2.3.6), which makes a microsecond its symbol.

use units::Time;

/// A standard's timing and formats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standard {
    /// As scenarios name it.
    pub id: &'static str,
    /// Slot; with stations that know no short slot in the second place.
    pub slots: [Time; 2],
    /// Short interframe space.
    pub sifs: Time,
    /// Smallest and largest contention window of plain DCF, slots less one.
    pub windows: [u32; 2],
    /// Time to notice that another has begun to send (aCCATime).
    pub cca: Time,
    /// Format of data frames.
    pub data: Format,
    /// Format of control frames.
    pub control: Format,
    /// Data rates, half bits per symbol with the modulation's name; of a stream of 20 MHz where widths differ.
    pub rates: &'static [(&'static str, u32)],
    /// Half bits per symbol of the mandatory rates, ascending, of control frames.
    pub basic: &'static [u32],
    /// Whether several frames can go out as one (A-MPDU), and how many bytes then at most.
    pub aggregate_bytes: Option<u32>,
}

/// How a frame is put on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Preamble and physical header, long form.
    pub preamble: Time,
    /// The short form, where there is one.
    pub short_preamble: Option<Time>,
    /// Length of a symbol.
    pub symbol: Time,
    /// SERVICE field and tail, bits.
    pub extra_bits: u32,
    /// Silence that belongs to the frame (signal extension).
    pub extension: Time,
}

/// A format at one rate: all it takes to tell a frame's length in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Preamble and physical header.
    pub preamble: Time,
    /// Length of a symbol.
    pub symbol: Time,
    /// Half bits in a symbol: 5.5 Mb/s are 11 in a microsecond.
    pub half_bits: u32,
    /// SERVICE field and tail, bits.
    pub extra_bits: u32,
    /// Silence that belongs to the frame.
    pub extension: Time,
}

impl Mode {
    /// Time on the air of a PSDU of `bytes`.
    #[inline]
    pub fn airtime(&self, bytes: u32) -> Time {
        let half_bits = 2 * (u64::from(self.extra_bits) + 8 * u64::from(bytes));
        let symbols = half_bits.div_ceil(u64::from(self.half_bits));
        Time(self.preamble.0 + symbols * self.symbol.0 + self.extension.0)
    }
}

const fn us(micros: u64) -> Time {
    Time(micros * 1000)
}

const OFDM: Format =
    Format { preamble: us(20), short_preamble: None, symbol: us(4), extra_bits: 22, extension: Time(0) };
const ERP: Format = Format { extension: us(6), ..OFDM };
const DSSS: Format =
    Format { preamble: us(192), short_preamble: Some(us(96)), symbol: us(1), extra_bits: 0, extension: Time(0) };

/// Mixed format: legacy preamble 20 us, HT-SIG 8, HT-STF 4, one HT-LTF 4 (802.11-2020, 19.3.9); each further stream
/// adds an LTF.
const HT: Format = Format { preamble: us(36), ..OFDM };
/// Legacy preamble 20 us, VHT-SIG-A 8, VHT-STF 4, one VHT-LTF 4, VHT-SIG-B 4 (802.11-2020, 21.3.8).
const VHT: Format = Format { preamble: us(40), ..OFDM };

const OFDM_RATES: [(&str, u32); 8] = [
    ("6mbit", 48),
    ("9mbit", 72),
    ("12mbit", 96),
    ("18mbit", 144),
    ("24mbit", 192),
    ("36mbit", 288),
    ("48mbit", 384),
    ("54mbit", 432),
];
const OFDM_BASIC: [u32; 3] = [48, 96, 192];
const DSSS_RATES: [(&str, u32); 4] = [("1mbit", 2), ("2mbit", 4), ("5.5mbit", 11), ("11mbit", 22)];
const DSSS_BASIC: [u32; 2] = [2, 4];
/// One stream of 20 MHz, bits per symbol times two (802.11-2020, Table 19-27).
const HT_RATES: [(&str, u32); 8] = [
    ("mcs0", 52),
    ("mcs1", 104),
    ("mcs2", 156),
    ("mcs3", 208),
    ("mcs4", 312),
    ("mcs5", 416),
    ("mcs6", 468),
    ("mcs7", 520),
];
/// As those of HT, and 256-QAM with 3/4 (802.11-2020, Table 21-29); MCS 9 needs 40 MHz or more.
const VHT_RATES: [(&str, u32); 10] = [
    ("mcs0", 52),
    ("mcs1", 104),
    ("mcs2", 156),
    ("mcs3", 208),
    ("mcs4", 312),
    ("mcs5", 416),
    ("mcs6", 468),
    ("mcs7", 520),
    ("mcs8", 624),
    ("mcs9", 0),
];

/// 802.11a, whose timing those that came after it in its band share.
const A: Standard = Standard {
    id: "802.11a",
    slots: [us(9), us(9)],
    sifs: us(16),
    windows: [15, 1023],
    cca: us(4),
    data: OFDM,
    control: OFDM,
    rates: &OFDM_RATES,
    basic: &OFDM_BASIC,
    aggregate_bytes: None,
};

/// All standards.
pub const STANDARDS: [Standard; 5] = [
    A,
    Standard {
        id: "802.11b",
        slots: [us(20), us(20)],
        sifs: us(10),
        windows: [31, 1023],
        cca: us(15),
        data: DSSS,
        control: DSSS,
        rates: &DSSS_RATES,
        basic: &DSSS_BASIC,
        ..A
    },
    Standard { id: "802.11g", slots: [us(9), us(20)], sifs: us(10), data: ERP, control: ERP, ..A },
    Standard { id: "802.11n", data: HT, rates: &HT_RATES, aggregate_bytes: Some(65_535), ..A },
    Standard { id: "802.11ac", data: VHT, rates: &VHT_RATES, aggregate_bytes: Some(1_048_575), ..A },
];

/// What a channel of 802.11n and ac adds to a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Width, MHz: 20, 40, 80 or 160.
    pub width: u32,
    /// Spatial streams, 1 to 8.
    pub streams: u32,
    /// Guard interval of 400 in place of 800 ns.
    pub short_guard: bool,
}

impl Default for Channel {
    fn default() -> Self {
        Channel { width: 20, streams: 1, short_guard: false }
    }
}

/// Data subcarriers of a width; 52 are one stream of 20 MHz.
fn subcarriers(width: u32) -> Option<u32> {
    Some(match width {
        20 => 52,
        40 => 108,
        80 => 234,
        160 => 468,
        _ => return None,
    })
}

impl Standard {
    /// The standard of that name.
    pub fn named(id: &str) -> Option<&'static Standard> {
        STANDARDS.iter().find(|standard| standard.id == id)
    }

    /// Whether rates are modulations of a channel rather than speeds.
    pub fn has_channel(&self) -> bool {
        self.aggregate_bytes.is_some()
    }

    /// Data frames at `rate`, one of [`Standard::rates`].
    ///
    /// # Errors
    /// What is wrong with the rate or the channel, and what there is.
    pub fn mode(&self, rate: &str, channel: Channel, short_preamble: bool) -> Result<Mode, String> {
        let known = || self.rates.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let (name, half_bits) = self
            .rates
            .iter()
            .find(|(name, _)| *name == rate)
            .copied()
            .ok_or_else(|| format!("rate = {rate}: must be one that {} has: {}", self.id, known()))?;
        let format = self.data;
        // 1 Mb/s knows the long preamble only (802.11-2020, 16.2.2.3).
        let short = format.short_preamble.filter(|_| short_preamble && half_bits > 2);
        let mut mode = Mode {
            preamble: short.unwrap_or(format.preamble),
            symbol: format.symbol,
            half_bits,
            extra_bits: format.extra_bits,
            extension: format.extension,
        };
        if !self.has_channel() {
            return Ok(mode);
        }
        let widest = if self.id == "802.11n" { 40 } else { 160 };
        let most = if self.id == "802.11n" { 4 } else { 8 };
        let carriers = subcarriers(channel.width).filter(|_| channel.width <= widest);
        let carriers = carriers.ok_or_else(|| {
            format!("width = {}: must be 20, 40{} MHz", channel.width, if widest > 40 { ", 80 or 160" } else { "" })
        })?;
        if !(1..=most).contains(&channel.streams) {
            return Err(format!("streams = {}: must be from 1 to {most}", channel.streams));
        }
        // MCS 9 is 256-QAM with 5/6, 20/3 bits per subcarrier; one stream of 20 MHz has no whole number of them.
        if name == "mcs9" && channel.width == 20 && !channel.streams.is_multiple_of(3) {
            return Err(format!("rate = {name}: must be below mcs9 with width = 20 and streams = {}", channel.streams));
        }
        let [times, over] = if name == "mcs9" { [40, 3] } else { [half_bits, 52] };
        mode.half_bits = carriers * channel.streams * times / over;
        // Streams 1, 2, 3, 4, 5 to 8 are trained with 1, 2, 4, 4, 6, 6, 8, 8 symbols (802.11-2020, Table 19-13, 21-13).
        let training = [1, 2, 4, 4, 6, 6, 8, 8][channel.streams as usize - 1];
        mode.preamble = Time(mode.preamble.0 + (training - 1) * 4000);
        if channel.short_guard {
            mode.symbol = Time(3600);
        }
        Ok(mode)
    }

    /// Half bits per symbol of the control frames that answer data at `rate`: the highest mandatory rate not above it;
    /// where rates are modulations, not above the rate of OFDM with that modulation (802.11-2020, 10.6.6.5, 10.6.11).
    /// None for a rate there is not.
    pub fn answering(&self, rate: &str) -> Option<u32> {
        let (_, half_bits) = self.rates.iter().find(|(name, _)| *name == rate)?;
        // One stream of 20 MHz of HT carries a little more than OFDM: 52 in place of 48 subcarriers. 0 is MCS 9.
        self.basic.iter().rev().find(|basic| *basic <= half_bits || *half_bits == 0).copied()
    }

    /// Half bits per symbol of control frames at a rate in Mb/s by name.
    ///
    /// # Errors
    /// What there is.
    pub fn control_rate(&self, rate: &str) -> Result<u32, String> {
        let rates: &[(&str, u32)] = if self.has_channel() { &OFDM_RATES } else { self.rates };
        let known = || rates.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        rates
            .iter()
            .find(|(name, _)| *name == rate)
            .map(|(_, half_bits)| *half_bits)
            .ok_or_else(|| format!("ack_rate = {rate}: must be one that {} has: {}", self.id, known()))
    }

    /// Control frames at `half_bits` per symbol.
    pub fn control_mode(&self, half_bits: u32, short_preamble: bool) -> Mode {
        let format = self.control;
        let short = format.short_preamble.filter(|_| short_preamble && half_bits > 2);
        Mode {
            preamble: short.unwrap_or(format.preamble),
            symbol: format.symbol,
            half_bits,
            extra_bits: format.extra_bits,
            extension: format.extension,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(standard: &str, rate: &str, channel: Channel) -> Mode {
        Standard::named(standard).expect("known").mode(rate, channel, false).expect("known")
    }

    #[test]
    fn known_frames_take_their_known_time() {
        // 1500 bytes of IP, 8 of LLC and SNAP, 24 of header, 4 of FCS; 40 of a bare TCP acknowledgement; 14 of an ACK.
        let a = mode("802.11a", "54mbit", Channel::default());
        assert_eq!([a.airtime(1536), a.airtime(76)], [us(248), us(32)]);
        assert_eq!(Standard::named("802.11a").expect("known").control_mode(192, false).airtime(14), us(28));
        let b = mode("802.11b", "11mbit", Channel::default());
        assert_eq!(b.airtime(1536), us(192 + 1118));
        assert_eq!(b.airtime(14), us(203));
        assert_eq!(Standard::named("802.11b").expect("known").control_mode(4, false).airtime(14), us(248));
        assert_eq!(
            Standard::named("802.11b")
                .expect("known")
                .mode("5.5mbit", Channel::default(), true)
                .expect("known")
                .airtime(14),
            us(96 + 21)
        );
        assert_eq!(mode("802.11g", "54mbit", Channel::default()).airtime(1536), us(254));
    }

    #[test]
    fn rates_of_wide_channels_are_those_of_the_tables() {
        let channel = |width, streams, short_guard| Channel { width, streams, short_guard };
        let mbps = |mode: Mode| f64::from(mode.half_bits) / 2.0 / (mode.symbol.0 as f64 * 1e-3);
        for (standard, rate, channel, expected) in [
            ("802.11n", "mcs7", channel(20, 1, false), 65.0),
            ("802.11n", "mcs7", channel(40, 2, true), 300.0),
            ("802.11n", "mcs0", channel(40, 1, false), 13.5),
            ("802.11ac", "mcs8", channel(20, 1, false), 78.0),
            ("802.11ac", "mcs9", channel(80, 1, true), 433.333),
            ("802.11ac", "mcs9", channel(80, 2, true), 866.667),
            ("802.11ac", "mcs9", channel(160, 1, false), 780.0),
        ] {
            let found = mbps(mode(standard, rate, channel));
            assert!((found - expected).abs() < 1e-3, "{standard} {rate} {channel:?}: {found} in place of {expected}");
        }
    }

    #[test]
    fn answers_take_the_highest_mandatory_rate_not_above() {
        let answering = |standard: &str, rate| Standard::named(standard).expect("known").answering(rate);
        for (standard, rate, expected) in [
            ("802.11a", "54mbit", Some(192)),
            ("802.11a", "18mbit", Some(96)),
            ("802.11a", "9mbit", Some(48)),
            ("802.11b", "11mbit", Some(4)),
            ("802.11b", "1mbit", Some(2)),
            ("802.11n", "mcs0", Some(48)),
            ("802.11n", "mcs1", Some(96)),
            ("802.11n", "mcs3", Some(192)),
            ("802.11ac", "mcs9", Some(192)),
            ("802.11a", "mcs0", None),
        ] {
            assert_eq!(answering(standard, rate), expected, "{standard} {rate}");
        }
        assert_eq!(Standard::named("802.11ac").expect("known").control_rate("12mbit"), Ok(96));
        assert!(
            Standard::named("802.11b")
                .expect("known")
                .control_rate("6mbit")
                .expect_err("no such rate")
                .contains("5.5mbit")
        );
    }

    #[test]
    fn rates_there_are_not_are_refused() {
        let narrow = Channel::default();
        let wide = Channel { width: 80, ..narrow };
        let ac = Standard::named("802.11ac").expect("known");
        let n = Standard::named("802.11n").expect("known");
        assert!(n.mode("54mbit", narrow, false).expect_err("refused").contains("mcs7"));
        assert!(n.mode("mcs0", wide, false).expect_err("refused").contains("width = 80"));
        assert!(ac.mode("mcs9", narrow, false).expect_err("refused").contains("mcs9"));
        assert!(ac.mode("mcs0", Channel { streams: 9, ..narrow }, false).expect_err("refused").contains("streams = 9"));
    }
}
