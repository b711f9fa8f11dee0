//! Scripts: the trains of a TCP connection in turn, and the think times before them.
//!
//! As text, `up 400 | wait 20ms | down 14600 pace 1ms | done`; `docs/tables.md` has all of it.

use std::fmt;

use crate::scan::Scan;

/// Largest payload of a train and of a script, bytes.
pub const MOST_BYTES: u64 = 1 << 40;
/// Longest wait or time between two packets: a day.
const LONGEST_NS: u64 = 86_400_000_000_000;
const FORM: &str = "must be `up BYTES [parts BYTES,...] [pace TIME]`, `up BYTES streams BYTES,...`, or `down`, or `wait \
                    TIME`";
const DAY: &str = "must be at most a day";
/// Units of time, the longest first, and their length in ns.
const UNITS: [(&str, u64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
/// Characters of a part that a message shows.
const SHOWN: usize = 60;

/// One train of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Train {
    /// Whether it crosses the bottleneck in its reverse direction.
    pub up: bool,
    /// Payload, bytes.
    pub bytes: u64,
    /// Think time before it, ns.
    pub wait_ns: u64,
    /// Time between its packets, ns; 0 sends what the window allows.
    pub pace_ns: u64,
    /// Bytes up to the end of each part, in any order.
    pub parts: Vec<u64>,
    /// Whether each part is a stream of its own; then they ascend, and the last one ends the train.
    pub streams: bool,
}

/// What the ends of a connection say to each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// In turn; at least one.
    pub trains: Vec<Train>,
    /// Whether flows that wait for this one wait for its last train only, and not for the end of the connection.
    pub done: bool,
}

/// A part of a script that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The part, as text.
    pub part: String,
    /// What it must be.
    pub bound: String,
}

impl Wrong {
    fn new(part: impl Into<String>, bound: impl Into<String>) -> Wrong {
        Wrong { part: part.into(), bound: bound.into() }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.part.chars().count() <= SHOWN {
            return write!(f, "'{}': {}", self.part, self.bound);
        }
        let beginning: String = self.part.chars().take(SHOWN - 3).collect();
        write!(f, "'{beginning}...': {}", self.bound)
    }
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// A part of another form, a value out of its bounds, or a wait that no train follows.
    pub fn parse(text: &str) -> Result<Script, Wrong> {
        let mut parts: Vec<&str> = text.split('|').map(str::trim).collect();
        let done = parts.len() > 1 && parts.last() == Some(&"done");
        if done {
            parts.pop();
        }
        let (mut trains, mut wait) = (Vec::new(), None);
        for &part in &parts {
            if let Some(ns) = wait_in(part) {
                if wait.is_some() {
                    return Err(Wrong::new(part, "must not follow another wait"));
                }
                wait = Some(in_bounds(ns, part)?);
            } else {
                let train = train_in(part)?;
                trains.push(Train { wait_ns: wait.take().unwrap_or(0), ..train });
            }
        }
        if wait.is_some() {
            return Err(Wrong::new(*parts.last().unwrap_or(&""), "must come before a train"));
        }
        let script = Script { trains, done };
        if script.bytes() > MOST_BYTES {
            return Err(Wrong::new(text, "must be at most 2^40 bytes in all"));
        }
        Ok(script)
    }

    /// Checks a script that did not come as text.
    ///
    /// # Errors
    /// No train, or a value out of its bounds.
    pub fn check(&self) -> Result<(), Wrong> {
        if self.trains.is_empty() {
            return Err(Wrong::new("", FORM));
        }
        for train in &self.trains {
            if train.wait_ns > LONGEST_NS {
                return Err(Wrong::new(format!("wait {}ns", train.wait_ns), DAY));
            }
            train.check(|| train.to_string())?;
        }
        if self.bytes() > MOST_BYTES {
            return Err(Wrong::new(self.to_string(), "must be at most 2^40 bytes in all"));
        }
        Ok(())
    }

    /// Payload of all trains, bytes.
    pub fn bytes(&self) -> u64 {
        self.trains.iter().fold(0, |sum, train| sum.saturating_add(train.bytes))
    }
}

impl Train {
    /// `part` is the train as text, for messages.
    fn check(&self, part: impl Fn() -> String) -> Result<(), Wrong> {
        let wrong = |bound: String| Err(Wrong::new(part(), bound));
        if !(1..=MOST_BYTES).contains(&self.bytes) {
            return wrong("must be from 1 to 2^40 bytes".to_owned());
        }
        if self.streams {
            if self.pace_ns > 0 {
                return wrong(PACED.to_owned());
            }
            let ascending = self.parts.windows(2).all(|ends| ends[0] < ends[1]);
            if self.parts.first().is_none_or(|&end| end == 0) || !ascending || self.parts.last() != Some(&self.bytes) {
                return wrong(format!("streams: must be of 1 byte or more, {} bytes in all", self.bytes));
            }
        }
        if let Some(end) = self.parts.iter().find(|end| !(1..=self.bytes).contains(end)) {
            return wrong(format!("part {end}: must be from 1 to {} bytes", self.bytes));
        }
        if self.pace_ns > LONGEST_NS {
            return wrong(DAY.to_owned());
        }
        Ok(())
    }
}

const PACED: &str = "must be without pace: its streams share the connection";

/// A time of a script as text.
struct Spelt(u64);

impl fmt::Display for Spelt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, ns) = UNITS.into_iter().find(|(_, ns)| self.0.is_multiple_of(*ns)).unwrap_or(("ns", 1));
        write!(f, "{}{unit}", self.0 / ns)
    }
}

impl fmt::Display for Train {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.up { "up" } else { "down" }, self.bytes)?;
        let mut before = 0;
        for (place, &end) in self.parts.iter().enumerate() {
            let mark = match (place, self.streams) {
                (0, true) => " streams ",
                (0, false) => " parts ",
                _ => ",",
            };
            write!(f, "{mark}{}", if self.streams { end.saturating_sub(before) } else { end })?;
            before = end;
        }
        if self.pace_ns > 0 { write!(f, " pace {}", Spelt(self.pace_ns)) } else { Ok(()) }
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, train) in self.trains.iter().enumerate() {
            if place > 0 {
                f.write_str(" | ")?;
            }
            if train.wait_ns > 0 {
                write!(f, "wait {} | ", Spelt(train.wait_ns))?;
            }
            write!(f, "{train}")?;
        }
        if self.done { f.write_str(" | done") } else { Ok(()) }
    }
}

/// Time of a part that waits, ns.
fn wait_in(part: &str) -> Option<u64> {
    let mut scan = Scan(part);
    scan.word("wait")?;
    scan.blanks(1)?;
    let ns = time(&mut scan)?;
    scan.end()?;
    Some(ns)
}

/// A time, ns, at most 2^64 - 1.
fn time(scan: &mut Scan<'_>) -> Option<u64> {
    let whole: u64 = scan.digits(1, 14)?.parse().ok()?;
    let rest = scan.optional(|scan| {
        scan.word(".")?;
        scan.digits(1, 9)
    });
    scan.blanks(0)?;
    let unit = scan.one_of(&["ns", "us", "ms", "s"])?;
    let unit_ns = [1_u64, 1_000, 1_000_000, 1_000_000_000][unit];
    let rest: f64 = format!("0.{}", rest.unwrap_or("0")).parse().ok()?;
    Some(whole.saturating_mul(unit_ns).saturating_add((rest * unit_ns as f64).round_ties_even() as u64))
}

fn in_bounds(ns: u64, part: &str) -> Result<u64, Wrong> {
    if ns > LONGEST_NS { Err(Wrong::new(part, DAY)) } else { Ok(ns) }
}

fn train_in(part: &str) -> Result<Train, Wrong> {
    let Some((train, paced)) = spelt_train(part) else { return Err(Wrong::new(part, FORM)) };
    if train.streams && paced && (1..=MOST_BYTES).contains(&train.bytes) {
        return Err(Wrong::new(part, PACED));
    }
    train.check(|| part.to_owned())?;
    Ok(train)
}

/// A train, and whether its text has a pace, be it 0.
fn spelt_train(part: &str) -> Option<(Train, bool)> {
    let mut scan = Scan(part);
    let up = scan.one_of(&["up", "down"])? == 0;
    scan.blanks(1)?;
    let bytes = scan.whole()?;
    let listed = scan.optional(|scan| {
        scan.blanks(1)?;
        let streams = scan.one_of(&["parts", "streams"])? == 1;
        scan.blanks(1)?;
        let mut values = vec![scan.whole()?];
        while scan.word(",").is_some() {
            values.push(scan.whole()?);
        }
        Some((streams, values))
    });
    let pace = scan.optional(|scan| {
        scan.blanks(1)?;
        scan.word("pace")?;
        scan.blanks(1)?;
        time(scan)
    });
    scan.end()?;
    let (streams, mut parts) = listed.unwrap_or_default();
    if streams {
        // The text has the length of each stream, the list where each ends.
        let mut end = 0_u64;
        for part in &mut parts {
            end = end.saturating_add(*part);
            *part = end;
        }
    }
    Some((Train { up, bytes, wait_ns: 0, pace_ns: pace.unwrap_or(0), parts, streams }, pace.is_some()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_script_is_read_and_written_alike() {
        for text in [
            "up 400 | wait 20ms | down 14600 pace 1ms | wait 2s | up 400 | down 90000 parts 30000,90000",
            "up 800 streams 400,400 | wait 20ms | down 90000 streams 30000,60000",
            "wait 1ns | up 400 | wait 1500us | down 14600 | done",
        ] {
            let script = Script::parse(text).expect("text of this form");
            assert_eq!(script.to_string(), text);
            assert_eq!(script.check(), Ok(()));
        }
    }

    #[test]
    fn blanks_and_fractions_of_a_unit_are_taken() {
        let script = Script::parse(" up\t400|wait 1.5 ms|down  1 parts 1  pace 0.25us ").expect("text of this form");
        let trains = &script.trains;
        assert_eq!((trains[1].wait_ns, trains[1].pace_ns, &trains[1].parts), (1_500_000, 250, &vec![1]));
        assert!(!script.done);
    }

    #[test]
    fn a_wrong_part_is_shown_with_its_bound() {
        for (text, part, bound) in [
            ("up 400 | pause 1s", "pause 1s", FORM),
            ("", "", FORM),
            ("done", "done", FORM),
            ("up 1 | done | down 1", "done", FORM),
            ("up 1,", "up 1,", FORM),
            ("wait 123456789012345s | up 1", "wait 123456789012345s", FORM),
            ("up 0", "up 0", "must be from 1 to 2^40 bytes"),
            ("up 1099511627777", "up 1099511627777", "must be from 1 to 2^40 bytes"),
            ("up 5 parts 6", "up 5 parts 6", "part 6: must be from 1 to 5 bytes"),
            ("up 5 streams 2,2", "up 5 streams 2,2", "streams: must be of 1 byte or more, 5 bytes in all"),
            ("up 5 streams 0,5", "up 5 streams 0,5", "streams: must be of 1 byte or more, 5 bytes in all"),
            ("up 5 streams 5 pace 0s", "up 5 streams 5 pace 0s", PACED),
            ("wait 1s | wait 2s | up 1", "wait 2s", "must not follow another wait"),
            ("up 1 | wait 2s", "wait 2s", "must come before a train"),
            ("up 1 | wait 86401s | up 1", "wait 86401s", DAY),
            ("up 1 pace 86401s", "up 1 pace 86401s", DAY),
            ("up 1099511627776 | up 1", "up 1099511627776 | up 1", "must be at most 2^40 bytes in all"),
        ] {
            assert_eq!(Script::parse(text), Err(Wrong::new(part, bound)), "{text}");
        }
    }

    #[test]
    fn data_is_refused_as_its_text_is() {
        let train = |bytes, wait_ns, parts: &[u64], streams| Train {
            bytes,
            wait_ns,
            parts: parts.to_vec(),
            streams,
            ..Train::default()
        };
        for (train, told) in [
            (train(0, 0, &[], false), "'down 0': must be from 1 to 2^40 bytes"),
            (train(1, 86_400_000_000_001, &[], false), "'wait 86400000000001ns': must be at most a day"),
            (train(5, 0, &[6], false), "'down 5 parts 6': part 6: must be from 1 to 5 bytes"),
            (
                train(5, 0, &[3, 3, 5], true),
                "'down 5 streams 3,0,2': streams: must be of 1 byte or more, 5 bytes in all",
            ),
            (train(5, 0, &[], true), "'down 5': streams: must be of 1 byte or more, 5 bytes in all"),
        ] {
            let script = Script { trains: vec![train], done: false };
            assert_eq!(script.check().expect_err("a refusal").to_string(), told);
        }
        assert_eq!(Script::default().check().expect_err("a refusal").part, "");
    }

    #[test]
    fn a_message_shows_the_beginning_of_a_long_part() {
        let wrong = Wrong::new("x".repeat(61), "must be short");
        assert_eq!(wrong.to_string(), format!("'{}...': must be short", "x".repeat(57)));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            trains in prop::collection::vec((any::<bool>(), 1..1_u64 << 35, 0..LONGEST_NS, 0..LONGEST_NS, any::<bool>()), 1..8),
            done in any::<bool>(),
        ) {
            let train = |(up, bytes, wait_ns, pace_ns, parted): (bool, u64, u64, u64, bool)| Train {
                up, bytes, wait_ns, pace_ns, parts: if parted { vec![bytes, 1] } else { Vec::new() }, streams: false,
            };
            let script = Script { trains: trains.into_iter().map(train).collect(), done };
            prop_assert_eq!(Script::parse(&script.to_string()), Ok(script));
        }

        #[test]
        fn no_text_panics(text in ".{0,80}") {
            drop(Script::parse(&text));
        }
    }
}
