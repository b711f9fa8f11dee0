//! Scripts of TCP connections, checked as those of a flow list are.

use netsim::Train;
use units::Time;
use workload::Script;

use crate::refused::{Refused, refused};
use crate::trains::Step;

/// A script; `opener_up` names its directions, and with `done` it is over for others when its last train has come in.
///
/// # Errors
/// A wait or a pace above a day, a train of no byte, more than 2^40 bytes.
pub(crate) fn script(row: usize, steps: &[Step], opener_up: bool, done: bool) -> Result<Script, Refused> {
    let listed = |step: &Step| workload::Train {
        up: step.from_opener == opener_up,
        bytes: step.bytes,
        wait_ns: step.wait_ns,
        pace_ns: step.pace_ns,
        ..workload::Train::default()
    };
    let script = Script { trains: steps.iter().map(listed).collect(), done };
    if let Err(wrong) = script.check() {
        return refused(format!("flows of the capture: row {}: script: {wrong}", row + 1));
    }
    Ok(script)
}

/// The trains of a script as the simulator has them: the first one goes forward.
pub(crate) fn trains(script: &Script) -> Vec<Train> {
    let up = script.trains.first().is_some_and(|train| train.up);
    let train = |train: &workload::Train| Train {
        forward: train.up == up,
        bytes: train.bytes,
        wait: Time(train.wait_ns),
        pace: Time(train.pace_ns),
    };
    script.trains.iter().map(train).collect()
}
