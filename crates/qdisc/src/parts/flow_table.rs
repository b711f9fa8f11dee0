//! Attained service of every flow seen lately: the full flow table of LAS, LARS and Run2C.
//!
//! Principle: one entry per flow, visited every `visit` seconds; an entry that had neither an
//! arrival nor a departure for `timeout` seconds is removed. A flow with a packet waiting is never
//! removed: its next packet would start at zero and overtake that one.
//! Cost per packet: one look-up on arrival, one on departure; a visit costs O(flows).
//! Source: Rai 2003, section 6; Chen 2012, 4.6.1 (5 s, 30 s).

use hashbrown::hash_map::Entry;
use units::{FlowKey, Time};

use crate::parts::hash::FlowMap;
use crate::spec::{Options, Param, Value};

/// Parameter: interval of the garbage collection.
pub(crate) const VISIT: Param = Param {
    name: "visit",
    unit: "s",
    about: "interval at which idle flows are looked for",
    value: Value::Number { default: 5.0, min: 1e-3, max: 1e6 },
};

/// Parameter: idle time after which a flow is forgotten.
pub(crate) const TIMEOUT: Param = Param {
    name: "timeout",
    unit: "s",
    about: "idle time after which a flow is forgotten",
    value: Value::Number { default: 30.0, min: 1e-3, max: 1e6 },
};

/// Keeps a table sparse whose entries come and go with the packets. The marks that removals leave in
/// a dense one make it slow to search and, every few hundred packets, to be rebuilt: 20 ns per packet
/// at 300 flows.
#[inline]
pub(crate) fn keep_sparse<V>(flows: &mut FlowMap<V>) {
    if flows.len() * 6 > flows.capacity() {
        flows.reserve(flows.len() * 12);
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Flow<A> {
    attained: A,
    last: Time,
    queued: u32,
}

/// Attained service per flow, in the unit `A` of the discipline.
#[derive(Debug)]
pub(crate) struct FlowTable<A> {
    flows: FlowMap<Flow<A>>,
    visit: Time,
    timeout: Time,
    next_visit: Time,
}

impl<A: Copy + Default + PartialEq> FlowTable<A> {
    /// An empty table with the parameters [`VISIT`] and [`TIMEOUT`].
    pub(crate) fn with_options(options: &Options) -> Self {
        let visit = options.time(VISIT.name);
        FlowTable { flows: FlowMap::default(), visit, timeout: options.time(TIMEOUT.name), next_visit: visit }
    }

    /// Collects garbage when a visit is due; called first by every enqueue and dequeue.
    #[inline]
    pub(crate) fn visit(&mut self, now: Time) {
        if now >= self.next_visit {
            self.collect(now);
        }
    }

    #[cold]
    fn collect(&mut self, now: Time) {
        // The last multiple of `visit` up to now, not now: what a timer would have removed by then.
        let visited = Time(now.0 - now.0 % self.visit.0);
        let timeout = self.timeout;
        self.flows.retain(|_, flow| flow.queued > 0 || visited.saturating_sub(flow.last) < timeout);
        self.next_visit = Time(visited.0.saturating_add(self.visit.0));
    }

    /// Attained service of `flow`; zero when it is not in the table.
    #[inline]
    pub(crate) fn attained(&self, flow: FlowKey) -> A {
        self.flows.get(&flow).map_or_else(A::default, |flow| flow.attained)
    }

    /// A packet of `flow` enters the queue; hands out the attained service, to be advanced.
    #[inline]
    pub(crate) fn enter(&mut self, flow: FlowKey, now: Time) -> &mut A {
        let flow = self.flows.entry(flow).or_default();
        flow.queued += 1;
        flow.last = now;
        &mut flow.attained
    }

    /// A packet enters the queue, of a flow that may not be in the table; nothing is done when it is not. `advance`
    /// moves the attained service on and tells whether the packet keeps its flow here while it waits, that is whether
    /// [`FlowTable::leave`] or [`FlowTable::push_out`] will follow.
    #[inline]
    pub(crate) fn enter_known(
        &mut self,
        flow: FlowKey,
        now: Time,
        advance: impl FnOnce(&mut A) -> bool,
    ) -> Option<bool> {
        let flow = self.flows.get_mut(&flow)?;
        let kept = advance(&mut flow.attained);
        flow.queued += u32::from(kept);
        flow.last = now;
        Some(kept)
    }

    /// Puts `flow` into the table, with no packet that keeps it there.
    pub(crate) fn insert(&mut self, flow: FlowKey, now: Time, attained: A) {
        self.flows.insert(flow, Flow { attained, last: now, queued: 0 });
    }

    /// A packet of `flow` leaves to be sent.
    #[inline]
    pub(crate) fn leave(&mut self, flow: FlowKey, now: Time) {
        let flow = self.flows.get_mut(&flow).expect("a flow with a packet waiting is in the table");
        flow.queued -= 1;
        flow.last = now;
    }

    /// The last packet of `flow` is pushed out: its attained service goes back to `attained`, as if
    /// the packet had never come.
    pub(crate) fn push_out(&mut self, flow: FlowKey, attained: A) {
        let Entry::Occupied(mut entry) = self.flows.entry(flow) else {
            unreachable!("a flow with a packet waiting is in the table")
        };
        let flow = entry.get_mut();
        flow.queued -= 1;
        flow.attained = attained;
        if flow.queued == 0 && attained == A::default() {
            entry.remove();
        }
    }

    /// Applies `map` to the attained service of every flow.
    pub(crate) fn rescale(&mut self, map: impl Fn(A) -> A) {
        self.flows.values_mut().for_each(|flow| flow.attained = map(flow.attained));
    }

    /// Flows in the table.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.flows.len()
    }

    /// Memory of the table as it is allocated, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.flows.allocation_size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> FlowTable<u64> {
        FlowTable { flows: FlowMap::default(), visit: seconds(5), timeout: seconds(30), next_visit: seconds(5) }
    }

    fn seconds(n: u64) -> Time {
        Time::from_millis(n * 1000)
    }

    #[test]
    fn idle_flows_go_at_the_first_visit_after_the_timeout() {
        let mut table = table();
        *table.enter(FlowKey(1), seconds(1)) = 1500;
        table.leave(FlowKey(1), seconds(2));
        table.visit(seconds(34));
        assert_eq!(table.len(), 1, "idle for 28 s at the visit of 30 s");
        table.visit(seconds(35));
        assert_eq!(table.len(), 0, "idle for 33 s at the visit of 35 s");
    }

    #[test]
    fn a_late_visit_removes_what_a_timer_would_have_removed() {
        let mut table = table();
        table.enter(FlowKey(1), seconds(6));
        table.leave(FlowKey(1), seconds(6));
        table.visit(seconds(39));
        assert_eq!(table.len(), 1, "idle for 29 s at the visit of 35 s, for 33 s now");
        table.visit(seconds(40));
        assert_eq!(table.len(), 0);
    }

    #[test]
    fn a_flow_with_a_packet_waiting_stays() {
        let mut table = table();
        *table.enter(FlowKey(1), seconds(0)) = 1500;
        table.visit(seconds(1000));
        assert_eq!(table.attained(FlowKey(1)), 1500);
    }

    #[test]
    fn a_flow_put_in_or_met_again_is_idle_from_then_on() {
        let mut table = table();
        assert_eq!(table.enter_known(FlowKey(1), seconds(0), |_| true), None);
        table.insert(FlowKey(1), seconds(40), 1);
        table.visit(seconds(65));
        let kept = table.enter_known(FlowKey(1), seconds(66), |attained| {
            *attained += 1;
            false
        });
        assert_eq!((kept, table.attained(FlowKey(1))), (Some(false), 2));
        table.visit(seconds(95));
        assert_eq!(table.len(), 1, "idle for 29 s");
        table.visit(seconds(100));
        assert_eq!(table.len(), 0);
    }

    #[test]
    fn a_flow_whose_only_packet_is_pushed_out_leaves_no_entry() {
        let mut table = table();
        *table.enter(FlowKey(1), seconds(0)) = 1500;
        table.push_out(FlowKey(1), 0);
        assert_eq!(table.len(), 0);
    }
}
