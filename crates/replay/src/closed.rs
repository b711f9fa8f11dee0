//! Users in a list: what one starts next waits for what it had before.
//!
//! A host that starts a connection while nothing of its own is under way has thought since the last one ended; were the link
//! faster, it would have started sooner. Connections of a host that overlap belong together: each of them has its time
//! within the group. A time longer than anybody thinks ties nothing: what comes then comes at its own time.

use std::collections::BTreeMap;

/// What a user waits at most between two tasks that belong together, s.
const LONGEST_THINK_S: f64 = 60.0;
/// A connection longer than this is in the background: nobody waits for it, and it waits for nobody.
const LONGEST_TASK_S: f64 = 30.0;

/// When a flow starts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Start {
    /// Since the end of the stage before where there is one, s.
    pub start_s: f64,
    /// The group of connections that it belongs to; None where nobody waits for it.
    pub stage: Option<u32>,
    /// The group that must be over first.
    pub after: Option<u32>,
}

/// Connections of a user that belong together.
#[derive(Clone, Copy, Debug)]
struct Group {
    stage: u32,
    until_s: f64,
    after: Option<u32>,
    since_s: f64,
}

/// When the flows of users start who wait, each flow with its start, s, its user, and where somebody may wait for it how
/// long it lasted, s. Flows come by start.
pub fn closed(flows: impl Iterator<Item = (f64, u32, Option<f64>)>) -> Vec<Start> {
    let mut latest: BTreeMap<u32, Group> = BTreeMap::new();
    let mut stages = 0;
    let mut start = |(begun_s, user, lasted_s): (f64, u32, Option<f64>)| {
        let Some(lasted_s) = lasted_s.filter(|&lasted_s| lasted_s <= LONGEST_TASK_S) else {
            return Start { start_s: begun_s, stage: None, after: None };
        };
        let ends_s = begun_s + lasted_s;
        let group = match latest.get(&user) {
            Some(group) if begun_s < group.until_s => *group,
            before => {
                let near = before.filter(|group| begun_s - group.until_s <= LONGEST_THINK_S);
                let (after, since_s) = near.map_or((None, 0.0), |group| (Some(group.stage), group.until_s));
                stages += 1;
                Group { stage: stages - 1, until_s: ends_s, after, since_s }
            }
        };
        latest.insert(user, Group { until_s: group.until_s.max(ends_s), ..group });
        Start { start_s: begun_s - group.since_s, stage: Some(group.stage), after: group.after }
    };
    flows.map(&mut start).collect()
}

/// The same for the simulator: stages that nothing waits for are none.
pub(crate) fn tied(flows: impl Iterator<Item = (f64, u32, Option<f64>)>) -> Vec<Start> {
    let mut starts = closed(flows);
    if starts.iter().all(|start| start.after.is_none()) {
        starts.iter_mut().for_each(|start| start.stage = None);
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_user_starts_next_waits_for_what_was_before() {
        let flows = [
            (0.0, 7, Some(1.0)),
            (0.5, 7, Some(2.0)),  // overlaps
            (0.6, 8, Some(0.1)),  // another user
            (3.0, 7, Some(40.0)), // in the background
            (4.0, 7, Some(1.0)),  // 1.5 s of thought
            (5.0, 7, None),       // UDP
            (70.0, 7, Some(0.0)), // a new task
        ];
        let start = |start_s, stage, after| Start { start_s, stage, after };
        let expected = [
            start(0.0, Some(0), None),
            start(0.5, Some(0), None),
            start(0.6, Some(1), None),
            start(3.0, None, None),
            start(1.5, Some(2), Some(0)),
            start(5.0, None, None),
            start(70.0, Some(3), None),
        ];
        assert_eq!(closed(flows.into_iter()), expected);
        assert_eq!(closed(flows[..2].iter().copied())[0].stage, Some(0));
        assert_eq!(tied(flows[..2].iter().copied())[0].stage, None);
    }
}
