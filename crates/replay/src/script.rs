//! Scripts of TCP connections, checked as those of a flow list are.

use netsim::Train;
use units::Time;
use workload::Script;

use crate::refused::{Refused, refused};
use crate::trains::Step;

/// The trains of a script whose first one goes forward, and how many bytes they have.
///
/// # Errors
/// A wait or a pace above a day, a train of no byte, more than 2^40 bytes; `opener_up` names the directions.
pub(crate) fn script(row: usize, steps: &[Step], opener_up: bool) -> Result<(Vec<Train>, u64), Refused> {
    let listed = |step: &Step| workload::Train {
        up: step.from_opener == opener_up,
        bytes: step.bytes,
        wait_ns: step.wait_ns,
        pace_ns: step.pace_ns,
        ..workload::Train::default()
    };
    let script = Script { trains: steps.iter().map(listed).collect(), done: true };
    if let Err(wrong) = script.check() {
        return refused(format!("flows of the capture: row {}: script: {wrong}", row + 1));
    }
    let up = script.trains.first().is_some_and(|train| train.up);
    let train = |train: &workload::Train| Train {
        forward: train.up == up,
        bytes: train.bytes,
        wait: Time(train.wait_ns),
        pace: Time(train.pace_ns),
    };
    Ok((script.trains.iter().map(train).collect(), script.bytes()))
}
