//! Early flow discard, whatever it counts: EFD, PEFD and EFDACK.
//!
//! Principle: a flow is in the table only while a packet of it waits, so a connection falls into sub-flows. A packet
//! is marked with the volume of its sub-flow before it; it is high while that is below `threshold`, low afterwards;
//! strict priority, each class in order of arrival or sorted by the mark. When the buffer is full the arriving packet
//! gets its place, then the packet of lowest priority goes: the last of the low class in its order.
//! Cost per packet: O(1), two look-ups in a table no longer than the queue; with `las` one insertion into a sorted
//! queue. Source: Chen 2012, Algorithm 3, 4.3 and 6.2.1; 5.3.1 and 6.5.1 for `las`.

use std::marker::PhantomData;

use hashbrown::hash_map::Entry;
use units::Stream;

use crate::base::{Discipline, DropReason, Env, Sorted};
use crate::packet::Packet;
use crate::parts::classes::Classes;
use crate::parts::flow_table::keep_sparse;
use crate::parts::hash::FlowMap;
use crate::parts::volume::{Row, Volume};
use crate::spec::{OptionError, Options, Param, Spec, Value};

/// Parameter: what goes first of every sub-flow.
pub(crate) const fn threshold(unit: &'static str, about: &'static str, default: f64) -> Param {
    Param { name: "threshold", unit, about, value: Value::Number { default, min: 1.0, max: 1e12 } }
}

#[derive(Debug, Default)]
struct Subflow<V> {
    /// What entered the queue and was not pushed out.
    ///
    /// Algorithm 3, line 19, says "bytes already served". Counting departures would let a burst of
    /// any length in as high, while 4.5.3 has the first th packets of a sub-flow high and the rest
    /// low, and 4.3.1 a size counter: so arrivals count.
    volume: V,
    queued: u32,
}

/// Early flow discard by any measure, with the parameters `threshold`, `high` and `low`.
#[derive(Debug)]
pub struct EarlyDiscard<R: Row> {
    queue: Classes,
    subflows: FlowMap<Subflow<R::Volume>>,
    threshold: u64,
    row: PhantomData<R>,
}

/// Algorithm 3, lines 46-52: a packet leaves, sent or pushed out.
#[inline]
fn leave<V: Volume>(subflows: &mut FlowMap<Subflow<V>>, packet: &Packet, pushed_out: bool) {
    if let Entry::Occupied(mut entry) = subflows.entry(V::flow(packet)) {
        let subflow = entry.get_mut();
        subflow.queued -= 1;
        if subflow.queued == 0 {
            entry.remove();
        } else if pushed_out {
            // The victim has the lowest priority of all, so it is the last packet of its sub-flow: marks of a
            // sub-flow do not decrease. What is left of the volume is at least its mark.
            subflow.volume.take_back(packet);
        }
    }
}

impl<R: Row> EarlyDiscard<R> {
    fn make_room(&mut self, packet: &Packet, env: &mut Env) -> bool {
        let subflow = self.subflows.get(&R::Volume::flow(packet));
        let volume = subflow.map_or_else(R::Volume::default, |subflow| subflow.volume).rank(packet);
        let high = volume < self.threshold;
        let forget = |victim: &Packet| leave(&mut self.subflows, victim, true);
        if self.queue.is_sorted() {
            return self.queue.make_room_sorted(high, volume, packet.len, env, forget);
        }
        high && self.queue.make_room(packet.len, env, forget)
    }
}

impl<R: Row> Discipline for EarlyDiscard<R> {
    const SPEC: Spec = R::SPEC;

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        Ok(EarlyDiscard {
            queue: Classes::with_options(options),
            subflows: FlowMap::default(),
            // Counts are whole: less than 1.5 means less than 2.
            threshold: options.number("threshold").ceil() as u64,
            row: PhantomData,
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        if env.is_full(packet.len) && !self.make_room(&packet, env) {
            // Lines 8, 23 and 37. The entry of line 4 would go again at line 49.
            env.refuse(packet, DropReason::Full);
            return;
        }
        env.accept(&packet);
        keep_sparse(&mut self.subflows);
        let subflow = self.subflows.entry(R::Volume::flow(&packet)).or_default();
        let volume = subflow.volume.rank(&packet);
        let high = volume < self.threshold;
        subflow.volume.add(&packet);
        subflow.queued += 1;
        env.note(Sorted { high, fresh: subflow.queued == 1 });
        if self.queue.is_sorted() {
            self.queue.push_sorted(packet, high, volume);
        } else {
            self.queue.push(packet, high);
        }
    }

    #[inline]
    fn dequeue(&mut self, _: &mut Env) -> Option<Packet> {
        let packet = if self.queue.is_sorted() { self.queue.pop_sorted()? } else { self.queue.pop()? };
        leave(&mut self.subflows, &packet, false);
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.queue.peek()
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.subflows.len()
    }

    fn flow_table_bytes(&self) -> usize {
        self.subflows.allocation_size()
    }

    fn high_backlog(&self) -> Option<usize> {
        Some(self.queue.high_backlog())
    }
}
