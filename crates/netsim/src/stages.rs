//! Stages: groups of flows that others wait for.
//!
//! A flow may belong to a stage and may wait for one. A stage is over when the last of its flows is; then
//! each flow that waits for it starts, its own `start` later. So a workload is a closed loop without any
//! random number in it: think times are drawn beforehand, and disciplines meet the same draws.
//!
//! Cost: nothing per packet; a decrement per flow that ends, an event per flow that starts. Source: the pages of
//! ns-2's WebTraf, which a session asks for once the one before is complete.

use std::collections::VecDeque;

use units::Time;

use crate::error::ConfigError;
use crate::event::{Events, Kind};
use crate::flow::{FlowSpec, LONGEST};

/// Which flows wait for which stage, and how many flows of each stage are not over.
#[derive(Debug, Default)]
pub(crate) struct Stages {
    /// Next flow of the list that waits for no stage.
    listed: usize,
    /// Flows of each stage that are not over.
    open: Vec<u32>,
    /// The flows that wait, by stage.
    waiting: Vec<u32>,
    /// Where those of a stage begin in `waiting`; one more than there are stages.
    first: Vec<usize>,
}

impl Stages {
    /// # Errors
    /// A stage that no flow belongs to, or one that waits for itself, if by way of others.
    pub(crate) fn of(flows: &[FlowSpec]) -> Result<Stages, ConfigError> {
        let named = flows.iter().flat_map(|flow| [flow.stage, flow.after]).flatten().max();
        let Some(last) = named else {
            return Ok(Stages::default());
        };
        if last as usize >= flows.len() {
            let index = flows.iter().position(|flow| flow.stage == named || flow.after == named);
            return Err(ConfigError::Flow(index.unwrap_or(0), "stage at or above the number of flows"));
        }
        let stages = last as usize + 1;
        let (mut open, mut first) = (vec![0_u32; stages], vec![0; stages + 1]);
        for flow in flows {
            flow.stage.into_iter().for_each(|stage| open[stage as usize] += 1);
            flow.after.into_iter().for_each(|stage| first[stage as usize + 1] += 1);
        }
        if let Some(index) = flows.iter().position(|flow| flow.after.is_some_and(|stage| open[stage as usize] == 0)) {
            return Err(ConfigError::Flow(index, "waits for a stage without flows"));
        }
        for stage in 0..stages {
            first[stage + 1] += first[stage];
        }
        let (mut waiting, mut place) = (vec![0; first[stages]], first.clone());
        for (index, flow) in flows.iter().enumerate() {
            if let Some(stage) = flow.after {
                waiting[place[stage as usize]] = index as u32;
                place[stage as usize] += 1;
            }
        }
        let stages = Stages { listed: 0, open, waiting, first };
        match stages.never_over(flows) {
            Some(index) => Err(ConfigError::Flow(index, "waits for a stage that waits for it")),
            None => Ok(stages),
        }
    }

    /// A flow that cannot start, if there is one: stages are ended in turn as if each flow took no time.
    fn never_over(&self, flows: &[FlowSpec]) -> Option<usize> {
        let mut open = self.open.clone();
        let mut started: Vec<bool> = flows.iter().map(|flow| flow.after.is_none()).collect();
        let mut ready: VecDeque<usize> = (0..flows.len()).filter(|&index| started[index]).collect();
        while let Some(index) = ready.pop_front() {
            let Some(stage) = flows[index].stage else { continue };
            open[stage as usize] -= 1;
            if open[stage as usize] == 0 {
                for &waiting in self.waiting(stage) {
                    started[waiting as usize] = true;
                    ready.push_back(waiting as usize);
                }
            }
        }
        started.iter().position(|&begun| !begun)
    }

    fn waiting(&self, stage: u32) -> &[u32] {
        &self.waiting[self.first[stage as usize]..self.first[stage as usize + 1]]
    }

    /// Schedules the next flow of the list that waits for no stage.
    pub(crate) fn schedule_listed(&mut self, flows: &[FlowSpec], now: Time, events: &mut Events) {
        while let Some(flow) = flows.get(self.listed) {
            if flow.after.is_none() {
                events.schedule(flow.start.max(now), Kind::Start, 0);
                return;
            }
            self.listed += 1;
        }
    }

    /// The flow that a start event of this index is for; the next of the list is scheduled.
    pub(crate) fn due(&mut self, event: usize, flows: &[FlowSpec], now: Time, events: &mut Events) -> usize {
        if event > 0 {
            return event - 1;
        }
        let flow = self.listed;
        self.listed += 1;
        self.schedule_listed(flows, now, events);
        flow
    }

    /// A flow of `stage` is over: if it was the last, the flows that wait for the stage get their start.
    pub(crate) fn on_over(&mut self, stage: u32, flows: &[FlowSpec], now: Time, events: &mut Events) {
        let open = &mut self.open[stage as usize];
        *open -= 1;
        if *open == 0 {
            for &index in self.waiting(stage) {
                let start = now + flows[index as usize].start;
                if start <= LONGEST {
                    events.schedule(start, Kind::Start, index as usize + 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(stage: Option<u32>, after: Option<u32>) -> FlowSpec {
        FlowSpec { start: Time::from_millis(5), size_bytes: 1, stage, after, ..FlowSpec::default() }
    }

    fn refusal(flows: &[FlowSpec]) -> String {
        Stages::of(flows).map_or_else(|error| error.to_string(), |_| "taken".to_owned())
    }

    #[test]
    fn the_last_flow_of_a_stage_starts_those_that_wait_for_it() {
        let flows = [flow(Some(0), None), flow(Some(1), Some(0)), flow(Some(0), None), flow(None, Some(0))];
        let (mut stages, mut events) = (Stages::of(&flows).expect("no circle"), Events::default());
        stages.on_over(0, &flows, Time::from_millis(10), &mut events);
        assert!(events.pop().is_none());
        stages.on_over(0, &flows, Time::from_millis(20), &mut events);
        let starts: Vec<_> = std::iter::from_fn(|| events.pop()).map(|key| (key.time(), key.index())).collect();
        assert_eq!(starts, [(Time::from_millis(25), 2), (Time::from_millis(25), 4)]);
    }

    #[test]
    fn the_list_passes_over_flows_that_wait() {
        let flows = [flow(None, Some(0)), flow(Some(0), None), flow(None, Some(0)), flow(None, None)];
        let (mut stages, mut events) = (Stages::of(&flows).expect("no circle"), Events::default());
        stages.schedule_listed(&flows, Time::ZERO, &mut events);
        let due: Vec<usize> = std::iter::from_fn(|| {
            let key = events.pop()?;
            Some(stages.due(key.index(), &flows, key.time(), &mut events))
        })
        .collect();
        assert_eq!(due, [1, 3]);
    }

    #[test]
    fn circles_and_unknown_stages_are_refused() {
        let circle = "waits for a stage that waits for it";
        assert_eq!(refusal(&[flow(Some(0), Some(0))]), format!("flow 0: {circle}"));
        let two = [flow(None, None), flow(Some(1), Some(0)), flow(Some(0), Some(1))];
        assert_eq!(refusal(&two), format!("flow 1: {circle}"));
        // A stage is over only with all of its flows: one of them in the circle is enough.
        let half = [flow(Some(0), None), flow(Some(0), Some(1)), flow(Some(1), Some(0))];
        assert_eq!(refusal(&half), format!("flow 1: {circle}"));
        assert_eq!(refusal(&[flow(Some(1), None), flow(None, Some(0))]), "flow 1: waits for a stage without flows");
        assert_eq!(refusal(&[flow(Some(7), None)]), "flow 0: stage at or above the number of flows");
        assert_eq!(refusal(&[flow(Some(0), None), flow(Some(1), Some(0)), flow(None, Some(1))]), "taken");
    }
}
