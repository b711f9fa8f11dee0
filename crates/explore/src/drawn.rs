//! Flows that were drawn, and flows that join them.

use metrics::{CaptureFacts, ProbeName};
use netsim::FlowSpec;
use settings::FlowList;

/// The flows of a run and what is known of each.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// Probes first.
    pub list: FlowList,
    /// What the probes measure.
    pub probes: Vec<ProbeName>,
    /// Of each flow, whether it is an attacker's.
    pub attackers: Vec<bool>,
    /// Of a capture.
    pub capture: Option<CaptureFacts>,
}

impl Drawn {
    pub(crate) fn of(list: FlowList, probes: Vec<ProbeName>, capture: Option<CaptureFacts>) -> Drawn {
        let attackers = vec![false; list.flows.len()];
        Drawn { list, probes, attackers, capture }
    }

    /// Adds flows that have no script and no bursts, in order of their starts, behind those that start as early.
    pub(crate) fn insert(&mut self, added: Vec<FlowSpec>) {
        let list = &mut self.list;
        let count = list.flows.len();
        // New place of each flow that was there, and how many were added before it.
        let (mut places, mut flows, mut attackers) = (Vec::with_capacity(count), Vec::new(), Vec::new());
        let mut waiting = added.into_iter().peekable();
        for (row, flow) in list.flows.iter().enumerate() {
            let fixed = row >= self.probes.len() && flow.after.is_none();
            while fixed && waiting.peek().is_some_and(|one| one.start < flow.start) {
                flows.extend(waiting.next());
                attackers.push(true);
            }
            places.push(flows.len());
            flows.push(*flow);
            attackers.push(self.attackers[row]);
        }
        flows.extend(waiting);
        attackers.resize(flows.len(), true);
        if !list.classes.is_empty() {
            // The class behind all others is that of the attacker.
            let class = list.classes.iter().max().map_or(0, |most| most + 1);
            let mut classes = vec![class; flows.len()];
            places.iter().zip(&list.classes).for_each(|(&place, &class)| classes[place] = class);
            list.classes = classes;
        }
        let mut nonresponsive: Vec<bool> = flows.iter().map(|flow| flow.udp.is_some()).collect();
        places.iter().zip(&list.nonresponsive).for_each(|(&place, &one)| nonresponsive[place] = one);
        list.nonresponsive = nonresponsive;
        for (flow, _) in &mut list.bursts.of {
            *flow = places[*flow as usize] as u32;
        }
        if let Some(capture) = &mut self.capture {
            insert_strangers(capture, &places[self.probes.len()..], self.probes.len(), flows.len());
        }
        list.flows = flows;
        self.attackers = attackers;
    }
}

/// Flows that no capture has, beside those that one has: each a connection and a client of its own.
fn insert_strangers(capture: &mut CaptureFacts, places: &[usize], before: usize, flows: usize) {
    let strangers = |known: &[u32]| {
        let first = known.iter().max().map_or(0, |most| most + 1);
        let mut found: Vec<u32> = (0..(flows - before) as u32).map(|row| first + row).collect();
        places.iter().zip(known).for_each(|(&place, &one)| found[place - before] = one);
        found
    };
    // When they begin says nothing: no client has two of them.
    let mut begun_s = vec![0.0; flows - before];
    places.iter().zip(&capture.begun_s).for_each(|(&place, &one)| begun_s[place - before] = one);
    let mut lasted_s = vec![None; flows - before];
    places.iter().zip(&capture.lasted_s).for_each(|(&place, &one)| lasted_s[place - before] = one);
    (capture.begun_s, capture.lasted_s) = (begun_s, lasted_s);
    capture.clients = strangers(&capture.clients);
    capture.connections = strangers(&capture.connections);
    for row in &mut capture.calls {
        *row = (places[*row as usize] - before) as u32;
    }
}
