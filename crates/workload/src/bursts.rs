//! Bursts: the packets of a UDP flow that does not send at one constant rate.
//!
//! As text, `0:1000x2500/0.008 40:500`: seconds since the start of the flow, bytes on the wire, and where there are
//! several their number and the seconds from one to the next.

use std::fmt::Write;

use crate::decimal;
use crate::scan::Scan;

/// IPv4 and UDP header, bytes.
const HEADER_BYTES: u64 = 28;
/// Largest packet of IPv4, bytes.
const MOST_BYTES: u64 = 65_535;
/// Latest packet after the start of its flow: 2 years.
const LONGEST_NS: u64 = 63_072_000_000_000_000;
const LONGEST_S: f64 = 63_072_000.0;
/// Below that, whole numbers in floating point are exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Packets of one length at one distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// First packet since the start of the flow, ns.
    pub at_ns: u64,
    /// From one packet to the next, ns.
    pub gap_ns: u64,
    /// How many.
    pub packets: u64,
    /// Length of each on the wire, bytes.
    pub packet_bytes: u64,
}

/// A burst that is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrongBurst {
    /// First packet since the start of the flow, s.
    pub at_s: f64,
    /// Length of each packet, bytes.
    pub packet_bytes: u64,
    /// How many packets.
    pub packets: u64,
    /// From one to the next, s.
    pub gap_s: f64,
    /// What it must be.
    pub bound: &'static str,
}

/// Why a text is no bursts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BurstError {
    /// It has another form.
    Form,
    /// One of them is out of its bounds.
    Wrong(WrongBurst),
}

/// What the bursts of a flow add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Volume {
    /// Payload, bytes, at most 2^53.
    pub size_bytes: u64,
    /// On the wire, bytes, at most 2^53.
    pub wire_bytes: u64,
    /// Longest packet, bytes.
    pub packet_bytes: u64,
    /// Last packet since the start of the flow, s.
    pub end_s: f64,
}

impl Burst {
    fn end_ns(&self) -> u64 {
        self.at_ns.saturating_add(self.gap_ns.saturating_mul(self.packets.saturating_sub(1)))
    }

    /// Whether it begins before the end of the one before it. Each distance is rounded to 1 ns, so that the end of many packets
    /// may be later than the next begins.
    fn is_within(&self, before: &Burst) -> bool {
        let rounding = if before.packets > 1 { before.packets / 2 + 1 } else { 1 };
        self.at_ns.saturating_add(rounding) < before.end_ns()
    }

    fn wrong(&self, bound: &'static str) -> WrongBurst {
        let (at_s, gap_s) = (self.at_ns as f64 * 1e-9, self.gap_ns as f64 * 1e-9);
        WrongBurst { at_s, packet_bytes: self.packet_bytes, packets: self.packets, gap_s, bound }
    }
}

impl Volume {
    /// Of these bursts.
    pub fn of(bursts: &[Burst]) -> Volume {
        let sum = |header: u64| {
            let each = |burst: &Burst| burst.packets as f64 * burst.packet_bytes.saturating_sub(header) as f64;
            bursts.iter().map(each).sum::<f64>().min(EXACT) as u64
        };
        Volume {
            size_bytes: sum(HEADER_BYTES),
            wire_bytes: sum(0),
            packet_bytes: bursts.iter().map(|burst| burst.packet_bytes).max().unwrap_or(0),
            end_s: bursts.iter().map(Burst::end_ns).max().unwrap_or(0) as f64 * 1e-9,
        }
    }
}

/// Bounds of one burst, whenever it comes.
fn refused(packet_bytes: u64, packets: u64) -> Option<&'static str> {
    if !(HEADER_BYTES + 1..=MOST_BYTES).contains(&packet_bytes) {
        return Some("29 to 65535 bytes");
    }
    (packets < 1).then_some("at least one packet")
}

const TOO_LATE: &str = "over within 2 years";
const OVERLAP: &str = "after the one before it";

/// Checks bursts that did not come as text.
///
/// # Errors
/// The first that is out of its bounds, or begins before the end of the one before it.
pub fn check(bursts: &[Burst]) -> Result<(), WrongBurst> {
    let mut before: Option<&Burst> = None;
    for burst in bursts {
        let bound = if let Some(bound) = refused(burst.packet_bytes, burst.packets) {
            bound
        } else if burst.end_ns() > LONGEST_NS || burst.gap_ns > LONGEST_NS {
            TOO_LATE
        } else if before.is_some_and(|before| burst.is_within(before)) {
            OVERLAP
        } else {
            before = Some(burst);
            continue;
        };
        return Err(burst.wrong(bound));
    }
    Ok(())
}

/// Reads the bursts of a flow.
///
/// # Errors
/// Another form, or a burst as [`check`] refuses it.
pub fn parse(text: &str) -> Result<Vec<Burst>, BurstError> {
    let mut found = Vec::new();
    for burst in text.split(' ') {
        let (at_s, packet_bytes, several) = one(burst).ok_or(BurstError::Form)?;
        let (packets, gap_s) = several.unwrap_or((1, 0.0));
        let end_s = at_s + gap_s * (packets as f64 - 1.0);
        let wrong = |bound| Err(BurstError::Wrong(WrongBurst { at_s, packet_bytes, packets, gap_s, bound }));
        if let Some(bound) = refused(packet_bytes, packets) {
            return wrong(bound);
        }
        if end_s > LONGEST_S || gap_s > LONGEST_S {
            return wrong(TOO_LATE);
        }
        let burst = Burst { at_ns: ns(at_s), gap_ns: ns(gap_s), packets, packet_bytes };
        if found.last().is_some_and(|before| burst.is_within(before)) {
            return wrong(OVERLAP);
        }
        found.push(burst);
    }
    Ok(found)
}

fn ns(seconds: f64) -> u64 {
    (seconds * 1e9).round_ties_even() as u64
}

type Several = (u64, f64);

/// `AT:BYTES`, or `AT:BYTESxPACKETS/GAP`.
fn one(burst: &str) -> Option<(f64, u64, Option<Several>)> {
    let mut scan = Scan(burst);
    let at_s = number(&mut scan)?;
    scan.word(":")?;
    let packet_bytes = scan.digits(1, 5)?.parse().ok()?;
    let several = if scan.word("x").is_some() {
        let packets = scan.digits(1, 12)?.parse().ok()?;
        scan.word("/")?;
        Some((packets, number(&mut scan)?))
    } else {
        None
    };
    scan.end()?;
    Some((at_s, packet_bytes, several))
}

/// A decimal number that is not negative, with an exponent where there is one.
fn number(scan: &mut Scan<'_>) -> Option<f64> {
    let whole = *scan;
    let before = scan.digits(0, usize::MAX)?;
    let after = if scan.word(".").is_some() { scan.digits(0, usize::MAX)? } else { "" };
    if before.is_empty() && after.is_empty() {
        return None;
    }
    scan.optional(|scan| {
        scan.word("e")?;
        scan.one_of(&["-", "+", ""])?;
        scan.digits(1, usize::MAX)
    });
    whole.0[..whole.0.len() - scan.0.len()].parse().ok()
}

/// The bursts of a flow as text.
pub fn text(bursts: &[Burst]) -> String {
    let mut text = String::new();
    for (place, burst) in bursts.iter().enumerate() {
        let blank = if place > 0 { " " } else { "" };
        // Writing to a string does not fail.
        write!(text, "{blank}{}:{}", decimal(burst.at_ns), burst.packet_bytes).expect("a string takes all");
        if burst.packets > 1 {
            write!(text, "x{}/{}", burst.packets, decimal(burst.gap_ns)).expect("a string takes all");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn burst(at_ns: u64, gap_ns: u64, packets: u64, packet_bytes: u64) -> Burst {
        Burst { at_ns, gap_ns, packets, packet_bytes }
    }

    #[test]
    fn bursts_are_read_and_written_alike() {
        let own = [burst(0, 500_000_000, 3, 1000), burst(2_000_000_000, 0, 1, 100)];
        assert_eq!(parse("0:1000x3/0.5 2:100"), Ok(own.to_vec()));
        assert_eq!(text(&own), "0:1000x3/0.5 2:100");
        assert_eq!(check(&own), Ok(()));
        let volume = Volume { size_bytes: 2988, wire_bytes: 3100, packet_bytes: 1000, end_s: 2.0 };
        assert_eq!(Volume::of(&own), volume);
        assert_eq!(
            parse("1e-3:29 .5:30 1.:31").expect("text of this form").iter().map(|one| one.at_ns).collect::<Vec<_>>(),
            [1_000_000, 500_000_000, 1_000_000_000]
        );
    }

    #[test]
    fn another_form_is_refused() {
        for text in
            ["", "0:", ":100", "0:100x2", "0:100x2/", "0:100  1:100", " 0:100", "-1:100", "0:100000", "0:1e2", ".:40"]
        {
            assert_eq!(parse(text), Err(BurstError::Form), "{text:?}");
        }
    }

    #[test]
    fn bounds_are_those_of_text_and_data() {
        for (text, bound) in [
            ("0:28", "29 to 65535 bytes"),
            ("0:65536", "29 to 65535 bytes"),
            ("0:100x0/1", "at least one packet"),
            ("63072001:100", TOO_LATE),
            ("0:100x3/31536001", TOO_LATE),
            ("0:100x3/1 1:100", OVERLAP),
        ] {
            assert!(matches!(parse(text), Err(BurstError::Wrong(wrong)) if wrong.bound == bound), "{text}");
        }
        assert_eq!(check(&[burst(0, 0, 1, 28)]).expect_err("a refusal").bound, "29 to 65535 bytes");
        assert_eq!(check(&[burst(0, 0, 0, 29)]).expect_err("a refusal").bound, "at least one packet");
        assert_eq!(check(&[burst(0, LONGEST_NS + 1, 1, 29)]).expect_err("a refusal").bound, TOO_LATE);
        assert_eq!(check(&[burst(0, u64::MAX, u64::MAX, 29)]).expect_err("a refusal").bound, TOO_LATE);
        assert_eq!(check(&[burst(0, 10, 3, 29), burst(17, 0, 1, 29)]).expect_err("a refusal").bound, OVERLAP);
        assert_eq!(check(&[burst(0, 10, 3, 29), burst(19, 0, 1, 29)]), Ok(()));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            drawn in prop::collection::vec((0..1_000_000_000_000_u64, 0..1_000_000_000_u64, 1..1000_u64, 29..65_536_u64), 1..8)
        ) {
            let mut at_ns = 0;
            let bursts: Vec<_> = drawn.into_iter().map(|(wait_ns, gap_ns, packets, bytes)| {
                let own = burst(at_ns + wait_ns, if packets > 1 { gap_ns } else { 0 }, packets, bytes);
                at_ns = own.end_ns();
                own
            }).collect();
            prop_assert_eq!(check(&bursts), Ok(()));
            prop_assert_eq!(parse(&text(&bursts)), Ok(bursts));
        }

        #[test]
        fn no_text_panics(text in ".{0,80}") {
            drop(parse(&text));
        }
    }
}
