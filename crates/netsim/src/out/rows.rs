//! Rows of the flows of a stream: what is kept of a flow while it is alive or something of it is under way.
//!
//! Principle: a live flow is found by its slot, which every packet carries. A flow that is over while packets of it are
//! still on their way lingers; its slot may be another's by then, so that it is found by its number. When the last of them
//! has ended, the flow is gone and its row another's. So memory follows the flows that are there and not all that ever
//! were. Cost: two loads per packet; a look-up in a table for packets of flows that linger.

use std::collections::HashMap;

use qdisc::Packet;

use crate::wire::handle::Handle;

/// In place of a flow: the row is free.
const FREE: u32 = u32::MAX;

/// Which rows the flows have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// Flow that had the slot last, and its row.
    of_slot: Vec<(u32, u32)>,
    /// Flow in each row.
    flows: Vec<u32>,
    free: Vec<u32>,
    /// Rows of the flows that are over and have packets under way.
    lingering: HashMap<u32, u32>,
    /// Flows of which nothing is under way any more, whose records nobody has taken yet.
    gone: Vec<(u32, u32)>,
}

impl Rows {
    /// Row of the flow of `packet`, which must not be gone.
    #[inline]
    pub(crate) fn of(&self, packet: &Packet) -> usize {
        let (flow, row) = self.of_slot[Handle::unpack(packet.handle).slot];
        if u64::from(flow) == packet.flow.connection() {
            return row as usize;
        }
        self.of_lingering(packet.flow.connection() as u32)
    }

    #[cold]
    fn of_lingering(&self, flow: u32) -> usize {
        match self.lingering.get(&flow) {
            Some(&row) => row as usize,
            // Its last packet ended in this event.
            None => self.gone.iter().find(|gone| gone.0 == flow).map_or(usize::MAX, |gone| gone.1 as usize),
        }
    }

    /// Row of the flow that has `slot`.
    #[inline]
    pub(crate) fn at(&self, slot: usize) -> usize {
        self.of_slot[slot].1 as usize
    }

    /// Number of the flow in `row`.
    pub(crate) fn flow_in(&self, row: usize) -> u32 {
        self.flows[row]
    }

    /// A row for `flow`, which begins in `slot`.
    pub(crate) fn claim(&mut self, flow: u32, slot: usize) -> usize {
        let row = self.free.pop().unwrap_or_else(|| {
            self.flows.push(FREE);
            self.flows.len() as u32 - 1
        });
        self.flows[row as usize] = flow;
        if slot >= self.of_slot.len() {
            self.of_slot.resize(slot + 1, (FREE, 0));
        }
        self.of_slot[slot] = (flow, row);
        row as usize
    }

    /// The flow in `row` is over; `is_clear` says that nothing of it is under way.
    pub(crate) fn over(&mut self, flow: u32, row: usize, is_clear: bool) {
        if is_clear {
            self.gone.push((flow, row as u32));
        } else {
            self.lingering.insert(flow, row as u32);
        }
    }

    /// Nothing of `flow` is under way; unless it is alive, it is gone.
    pub(crate) fn cleared(&mut self, flow: u32) {
        if let Some(row) = self.lingering.remove(&flow) {
            self.gone.push((flow, row));
        }
    }

    /// Whether there are flows to take.
    #[inline]
    pub(crate) fn is_any_gone(&self) -> bool {
        !self.gone.is_empty()
    }

    /// Takes a flow that is gone: its number and its row, which is free now.
    pub(crate) fn gone(&mut self) -> Option<(u32, usize)> {
        let (flow, row) = self.gone.pop()?;
        self.flows[row as usize] = FREE;
        self.free.push(row);
        Some((flow, row as usize))
    }

    /// The flows there still are, in their order, and their rows.
    pub(crate) fn rest(&self) -> Vec<(u32, usize)> {
        let taken = self.flows.iter().enumerate().filter(|&(_, &flow)| flow != FREE);
        let mut rest: Vec<_> = taken.map(|(row, &flow)| (flow, row)).collect();
        rest.sort_unstable();
        rest
    }
}

#[cfg(test)]
mod tests {
    use qdisc::Kind;
    use units::Direction;

    use super::*;
    use crate::wire::handle::{Mark, Owner};

    fn packet(flow: u32, slot: usize) -> Packet {
        Owner { flow, slot: slot as u32, src: 0, dst: 1, mark: 0 }.packet(
            Direction::Forward,
            Kind::Data,
            Mark::Plain,
            1,
        )
    }

    #[test]
    fn a_flow_that_lingers_is_found_when_its_slot_is_anothers() {
        let mut rows = Rows::default();
        let first = rows.claim(7, 0);
        rows.over(7, first, false);
        let second = rows.claim(8, 0);
        assert_ne!(first, second);
        assert_eq!([rows.of(&packet(7, 0)), rows.of(&packet(8, 0))], [first, second]);
        rows.cleared(8);
        assert!(!rows.is_any_gone(), "a live flow with nothing under way is not gone");
        rows.cleared(7);
        assert_eq!(rows.gone(), Some((7, first)));
        assert_eq!((rows.claim(9, 1), rows.rest()), (first, vec![(8, second), (9, first)]));
    }
}
