//! Two classes with strict priority: what EFD, Run2C and the lotteries have in common.
//!
//! Principle: the low class is served only while the high one is empty. Within a class packets go in order of arrival
//! or, with `las`, in ascending order of the volume they are marked with, first come first among equals. Room for a
//! packet is made behind its own place: at the tail of the low class, then of the high one.
//! Cost per packet: O(1), with `las` one insertion into a sorted queue; O(1) per victim.
//! Source: Chen 2012, 4.3, Algorithm 3; 6.5.1 for `las`.

use std::collections::VecDeque;

use crate::base::{DropReason, Env};
use crate::packet::Packet;
use crate::parts::order::{Order, victims};
use crate::spec::{Options, Param, Value};

/// Parameter: order within the high class.
pub(crate) const HIGH: Param = Param {
    name: "high",
    unit: "",
    about: "order within the high class: of arrival, or least volume of the sub-flow before the packet",
    value: Value::Choice(&["fifo", "las"]),
};

/// Parameter: order within the low class.
pub(crate) const LOW: Param = Param {
    name: "low",
    unit: "",
    about: "order within the low class: of arrival, or least volume of the sub-flow before the packet",
    value: Value::Choice(&["fifo", "las"]),
};

/// One class: `order` where there is one, else `queue`.
#[derive(Debug, Default)]
struct Class {
    queue: VecDeque<Packet>,
    order: Option<Box<Order>>,
}

impl Class {
    fn with_options(options: &Options, param: &Param) -> Class {
        let sorted = options.choice(param.name) == "las";
        Class { queue: VecDeque::new(), order: sorted.then(Box::default) }
    }

    fn pop_first(&mut self) -> Option<Packet> {
        match &mut self.order {
            Some(order) => order.pop_first().map(|(_, packet)| packet),
            None => self.queue.pop_front(),
        }
    }

    fn pop_last(&mut self) -> Option<Packet> {
        match &mut self.order {
            Some(order) => order.pop_last().map(|(_, packet)| packet),
            None => self.queue.pop_back(),
        }
    }

    fn first(&self) -> Option<&Packet> {
        self.order.as_ref().map_or_else(|| self.queue.front(), |order| order.first())
    }

    fn len(&self) -> usize {
        self.order.as_ref().map_or_else(|| self.queue.len(), |order| order.len())
    }

    /// Packets behind the place of one of `volume`, or all packets, from the tail.
    fn behind(&self, volume: Option<u64>) -> impl Iterator<Item = &Packet> {
        let last_come = self.queue.iter().rev().take(if volume.is_none() { self.queue.len() } else { 0 });
        last_come.chain(self.order.iter().flat_map(move |order| order.behind(volume)))
    }
}

/// A high and a low class of waiting packets.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    high: Class,
    low: Class,
    /// Either class has an order other than that of arrival.
    sorted: bool,
}

impl Classes {
    /// Classes with the orders [`HIGH`] and [`LOW`]; the default has two of arrival.
    pub(crate) fn with_options(options: &Options) -> Classes {
        let (high, low) = (Class::with_options(options, &HIGH), Class::with_options(options, &LOW));
        let sorted = high.order.is_some() || low.order.is_some();
        Classes { high, low, sorted }
    }

    /// Whether either class is sorted, so that the functions that end in `_sorted` are to be used.
    #[inline(always)]
    pub(crate) fn is_sorted(&self) -> bool {
        self.sorted
    }

    /// Appends `packet` to its class.
    #[inline]
    pub(crate) fn push(&mut self, packet: Packet, high: bool) {
        if high {
            self.high.queue.push_back(packet);
        } else {
            self.low.queue.push_back(packet);
        }
    }

    /// Puts `packet`, marked with `volume`, into its class.
    // Never inlined, with its counterpart, so that packets of plain classes stay in registers: 2 ns
    // per packet.
    #[inline(never)]
    pub(crate) fn push_sorted(&mut self, packet: Packet, high: bool, volume: u64) {
        let class = if high { &mut self.high } else { &mut self.low };
        match &mut class.order {
            Some(order) => order.push(volume, packet),
            None => class.queue.push_back(packet),
        }
    }

    /// Takes the next packet to send.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        self.high.queue.pop_front().or_else(|| self.low.queue.pop_front())
    }

    /// Takes the next packet to send.
    #[inline(never)]
    pub(crate) fn pop_sorted(&mut self) -> Option<Packet> {
        self.high.pop_first().or_else(|| self.low.pop_first())
    }

    /// Makes room for a high packet of `len` bytes: discards from the tail of the low class, telling
    /// `forget` of each victim. Discards nothing and returns false when the whole low class would not
    /// be enough.
    pub(crate) fn make_room(&mut self, len: u32, env: &mut Env, mut forget: impl FnMut(&Packet)) -> bool {
        let Some(victims) = victims(self.low.queue.iter().rev(), len, env) else { return false };
        for _ in 0..victims {
            let victim = self.low.queue.pop_back().expect("victims are queued");
            forget(&victim);
            env.discard(victim, DropReason::PushedOut);
        }
        true
    }

    /// Makes room for a packet of `len` bytes, `high` or low and marked with `volume`: discards from the tail of the
    /// low class, then of the high one, telling `forget` of each victim. Discards nothing and returns false when the
    /// packets behind its place would not be enough.
    pub(crate) fn make_room_sorted(
        &mut self,
        high: bool,
        volume: u64,
        len: u32,
        env: &mut Env,
        mut forget: impl FnMut(&Packet),
    ) -> bool {
        let low = self.low.behind((!high).then_some(volume));
        let high = high.then(|| self.high.behind(Some(volume)));
        let Some(victims) = victims(low.chain(high.into_iter().flatten()), len, env) else { return false };
        for _ in 0..victims {
            let victim = self.low.pop_last().or_else(|| self.high.pop_last()).expect("victims are queued");
            forget(&victim);
            env.discard(victim, DropReason::PushedOut);
        }
        true
    }

    /// The packet `pop` would take.
    pub(crate) fn peek(&self) -> Option<&Packet> {
        self.high.first().or_else(|| self.low.first())
    }

    /// Packets waiting with high priority.
    pub(crate) fn high_backlog(&self) -> usize {
        self.high.len()
    }
}
