//! Scripts of TCP connections, checked as a flow list checks them.

use netsim::Train;
use units::Time;

use crate::refused::{Refused, refused};
use crate::trains::Step;

/// Largest payload of a train and of a script, bytes.
pub(crate) const MOST_BYTES: u64 = 1 << 40;
/// Longest wait or time between two packets: a day.
const LONGEST_NS: u64 = 86_400_000_000_000;
/// Beyond that a time has more digits than a script may hold.
const MOST_DIGITS_NS: u64 = 99_999_999_999_999;
/// How a part of a script is written.
const SPELT: &str = "must be `up BYTES [parts BYTES,...] [pace TIME]`, `up BYTES streams BYTES,...`, or `down`, or `wait \
                     TIME`";
/// Characters that a message shows of a script, or fewer and dots.
const SHOWN: usize = 60;

/// The trains of a script whose first one goes forward, and how many bytes they have.
///
/// # Errors
/// A wait or a pace above a day, a train of no byte, more than 2^40 bytes; `opener_up` names the directions.
pub(crate) fn script(row: usize, steps: &[Step], opener_up: bool) -> Result<(Vec<Train>, u64), Refused> {
    let wrong = |reason: String| refused(format!("flows of the capture: row {}: script: {reason}", row + 1));
    let mut size_bytes = 0_u64;
    for step in steps {
        let told = Told::of(step, opener_up);
        if let Some(reason) = told.wrong() {
            return wrong(reason);
        }
        size_bytes = size_bytes.saturating_add(step.bytes);
    }
    if size_bytes > MOST_BYTES {
        return wrong(format!("{}: must be at most 2^40 bytes in all", shown(&beginning(steps, opener_up))));
    }
    let first = steps.first().is_some_and(|step| step.from_opener);
    let train = |step: &Step| Train {
        forward: step.from_opener == first,
        bytes: step.bytes,
        wait: Time(step.wait_ns),
        pace: Time(step.pace_ns),
    };
    Ok((steps.iter().map(train).collect(), size_bytes))
}

/// A step as a flow list writes it.
struct Told<'a> {
    step: &'a Step,
    up: bool,
}

impl<'a> Told<'a> {
    fn of(step: &'a Step, opener_up: bool) -> Told<'a> {
        Told { step, up: step.from_opener == opener_up }
    }

    fn wrong(&self) -> Option<String> {
        let Step { wait_ns, pace_ns, bytes, .. } = *self.step;
        let longest_ns = wait_ns.max(pace_ns);
        if longest_ns > LONGEST_NS {
            let part = if wait_ns > LONGEST_NS { self.wait() } else { self.train() };
            let bound = if longest_ns > MOST_DIGITS_NS { SPELT } else { "must be at most a day" };
            return Some(format!("{}: {bound}", shown(&part)));
        }
        let fits = (1..=MOST_BYTES).contains(&bytes);
        (!fits).then(|| format!("{}: must be from 1 to 2^40 bytes", shown(&self.train())))
    }

    fn wait(&self) -> String {
        format!("wait {}ns", self.step.wait_ns)
    }

    fn train(&self) -> String {
        let way = if self.up { "up" } else { "down" };
        let pace = if self.step.pace_ns > 0 { format!(" pace {}ns", self.step.pace_ns) } else { String::new() };
        format!("{way} {}{pace}", self.step.bytes)
    }
}

/// As much of a script as a message shows.
fn beginning(steps: &[Step], opener_up: bool) -> String {
    let mut text = String::new();
    for step in steps {
        let told = Told::of(step, opener_up);
        if told.step.wait_ns > 0 {
            text += &format!("{} | ", told.wait());
        }
        text += &format!("{} | ", told.train());
        if text.len() > SHOWN {
            return text;
        }
    }
    text + "done"
}

fn shown(text: &str) -> String {
    if text.len() <= SHOWN { format!("'{text}'") } else { format!("'{}...'", &text[..SHOWN - 3]) }
}
