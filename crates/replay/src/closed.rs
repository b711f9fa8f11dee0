//! Users in a list: what one starts next waits for what it had before.
//!
//! The rules are those of `mayfly.workload.closed_loop`.

use std::collections::BTreeMap;

/// What a user waits at most between two tasks that belong together, s.
const LONGEST_THINK_S: f64 = 60.0;
/// A connection longer than this is in the background: nobody waits for it, and it waits for nobody.
const LONGEST_TASK_S: f64 = 30.0;

/// When a flow starts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Start {
    /// Since the end of the stage before where there is one.
    pub(crate) start_s: f64,
    pub(crate) stage: Option<u32>,
    pub(crate) after: Option<u32>,
}

/// Connections of a user that belong together.
#[derive(Clone, Copy, Debug)]
struct Group {
    stage: u32,
    until_s: f64,
    after: Option<u32>,
    since_s: f64,
}

/// Starts of flows, by start, each with its user and how long it lasted in the capture where somebody may wait for it.
pub(crate) fn closed(flows: impl Iterator<Item = (f64, u32, Option<f64>)>) -> Vec<Start> {
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
    let mut starts: Vec<Start> = flows.map(&mut start).collect();
    // Stages that nothing waits for are none.
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
        assert_eq!(closed(flows[..2].iter().copied())[0].stage, None);
    }
}
