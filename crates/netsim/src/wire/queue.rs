//! What waits in front of a link: one queue, or a tree of them with a shaper.

use std::sync::Arc;

use qdisc::htb::{ClassStats, Htb};
use qdisc::{DropReason, Nonresponsive, Packet, Qdisc, Sorted, Stats};
use units::{FlowKey, Time};

use crate::out::queue_delay::QueueDelay;
use crate::out::records::{Departures, TreeClassCounts};
use crate::tree::Names;

/// A queue with one discipline, or a tree.
// A box would cost every packet of the one a load; there are two of a run.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub(crate) enum Queue {
    Single(Qdisc),
    Tree(Box<Shaper>),
}

/// A tree of classes in one direction, and what is counted of each.
#[derive(Debug)]
pub(crate) struct Shaper {
    tree: Htb,
    names: Arc<Names>,
    /// Whether its packets come from the receivers' side.
    up: bool,
    /// Of the last call, by their numbers in the run.
    dropped: Vec<(Packet, DropReason)>,
    waits: Vec<QueueDelay>,
    /// What was counted when the averages began, by class.
    before: Vec<(ClassStats, Stats)>,
    bin: Time,
    /// By class: the interval, and the bytes that left in it, ascending.
    departures: Vec<Vec<(u32, u64)>>,
}

impl Shaper {
    pub(crate) fn over(tree: Htb, names: Arc<Names>, up: bool, bin: Time) -> Shaper {
        let count = tree.len();
        Shaper {
            tree,
            names,
            up,
            dropped: Vec::new(),
            waits: vec![QueueDelay::default(); count],
            before: vec![Default::default(); count],
            bin,
            departures: vec![Vec::new(); if bin > Time::ZERO { count } else { 0 }],
        }
    }

    fn enqueue(&mut self, mut packet: Packet, now: Time) {
        let local = self.names.of[packet.flow.connection() as usize];
        if local.circuit.is_some() {
            let [near, far] = local.hosts;
            packet.flow = FlowKey::of(local.flow.into(), packet.flow.direction());
            (packet.src, packet.dst) = if self.up { (far, near) } else { (near, far) };
        }
        self.tree.enqueue(local.circuit, packet, now);
        self.take_dropped();
    }

    fn dequeue(&mut self, now: Time) -> Option<Packet> {
        let mut packet = self.tree.dequeue(now);
        let class = self.tree.served();
        if let (Some(packet), Some(class)) = (&mut packet, class) {
            self.waits[class as usize].add(now - packet.arrival);
            if self.bin > Time::ZERO {
                let (bin, len) = ((now.0 / self.bin.0) as u32, u64::from(packet.len));
                let departures = &mut self.departures[class as usize];
                match departures.last_mut() {
                    Some((last, bytes)) if *last == bin => *bytes += len,
                    _ => departures.push((bin, len)),
                }
            }
            self.give_back(packet, class);
        }
        self.take_dropped();
        packet
    }

    /// Gives a packet of a circuit the numbers it has in the run.
    fn give_back(&self, packet: &mut Packet, class: u32) {
        let flow = self.names.flows[class as usize][packet.flow.connection() as usize];
        let [near, far] = self.names.of[flow as usize].global;
        packet.flow = FlowKey::of(flow.into(), packet.flow.direction());
        (packet.src, packet.dst) = if self.up { (far, near) } else { (near, far) };
    }

    /// Takes what the last call dropped.
    fn take_dropped(&mut self) {
        self.dropped.clear();
        for index in 0..self.tree.dropped().len() {
            let (mut packet, reason) = self.tree.dropped()[index];
            if let Some(class) = self.tree.dropped_of(index) {
                self.give_back(&mut packet, class);
            }
            self.dropped.push((packet, reason));
        }
    }

    pub(crate) fn restart(&mut self, now: Time) {
        self.waits.fill(QueueDelay::default());
        self.departures.iter_mut().for_each(Vec::clear);
        self.before = (0..self.tree.len() as u32).map(|class| self.counted(class, now)).collect();
    }

    fn counted(&self, class: u32, now: Time) -> (ClassStats, Stats) {
        (self.tree.class_stats(class, now), self.tree.queue_stats(class).unwrap_or_default())
    }

    /// Totals of each class up to `end`.
    pub(crate) fn totals(&self, end: Time) -> impl Iterator<Item = TreeClassCounts> {
        (0..self.tree.len() as u32).map(move |class| {
            let ((now, queue), (before, queue_before)) = (self.counted(class, end), self.before[class as usize]);
            let leaf = self.tree.queue_stats(class).is_some();
            let of_leaf = |count: u64| leaf.then_some(count);
            TreeClassCounts {
                class,
                up: self.up,
                arrivals: of_leaf(queue.received - queue_before.received),
                drops: of_leaf(queue.dropped() - queue_before.dropped()),
                marks: of_leaf(queue.marked - queue_before.marked),
                sent: now.packets - before.packets,
                sent_bytes: now.bytes - before.bytes,
                borrowed: now.borrows - before.borrows,
                overlimits: now.overlimits - before.overlimits,
                red: now.red - before.red,
                yellow: now.yellow - before.yellow,
                queue_delay: self.waits[class as usize],
            }
        })
    }

    /// What left each class in each interval.
    pub(crate) fn departures(&self) -> impl Iterator<Item = Departures> {
        let up = self.up;
        self.departures.iter().enumerate().flat_map(move |(class, list)| {
            list.iter().map(move |&(bin, bytes)| Departures { class: class as u32, up, bin, bytes })
        })
    }
}

impl Queue {
    pub(crate) fn of(queue: Qdisc) -> Queue {
        Queue::Single(queue)
    }

    #[inline]
    pub(crate) fn enqueue(&mut self, packet: Packet, now: Time) {
        match self {
            Queue::Single(queue) => _ = queue.enqueue(packet, now),
            Queue::Tree(shaper) => shaper.enqueue(packet, now),
        }
    }

    #[inline]
    pub(crate) fn dequeue(&mut self, now: Time) -> Option<Packet> {
        match self {
            Queue::Single(queue) => queue.dequeue(now),
            Queue::Tree(shaper) => shaper.dequeue(now),
        }
    }

    /// Packets dropped by the last `enqueue` or `dequeue`, the arriving one included.
    #[inline]
    pub(crate) fn dropped(&self) -> &[(Packet, DropReason)] {
        match self {
            Queue::Single(queue) => queue.dropped(),
            Queue::Tree(shaper) => &shaper.dropped,
        }
    }

    #[inline]
    pub(crate) fn sorted(&self) -> Option<Sorted> {
        match self {
            Queue::Single(queue) => queue.sorted(),
            Queue::Tree(shaper) => shaper.tree.sorted(),
        }
    }

    /// The packet that `dequeue` would hand out now; none known of a tree.
    pub(crate) fn peek(&self) -> Option<&Packet> {
        match self {
            Queue::Single(queue) => queue.peek(),
            Queue::Tree(_) => None,
        }
    }

    #[inline]
    pub(crate) fn stats(&self) -> &Stats {
        match self {
            Queue::Single(queue) => queue.stats(),
            Queue::Tree(shaper) => shaper.tree.stats(),
        }
    }

    #[inline]
    pub(crate) fn backlog(&self) -> u64 {
        self.stats().backlog()
    }

    /// Entries in the flow table; not counted over a tree.
    #[inline]
    pub(crate) fn flow_table_len(&self) -> usize {
        match self {
            Queue::Single(queue) => queue.flow_table_len(),
            Queue::Tree(_) => 0,
        }
    }

    pub(crate) fn flow_table_bytes(&self) -> usize {
        match self {
            Queue::Single(queue) => queue.flow_table_bytes(),
            Queue::Tree(_) => 0,
        }
    }

    pub(crate) fn high_backlog(&self) -> Option<usize> {
        match self {
            Queue::Single(queue) => queue.high_backlog(),
            Queue::Tree(_) => None,
        }
    }

    pub(crate) fn nonresponsive(&self) -> Option<Nonresponsive> {
        match self {
            Queue::Single(queue) => queue.nonresponsive(),
            Queue::Tree(_) => None,
        }
    }

    #[inline]
    pub(crate) fn poll_at(&self) -> Option<Time> {
        match self {
            Queue::Single(queue) => queue.poll_at(),
            Queue::Tree(shaper) => shaper.tree.poll_at(),
        }
    }

    /// When the packet behind the last one may leave, whose transmission ends at `free`.
    #[inline]
    pub(crate) fn ready_at(&self, free: Time) -> Time {
        match self {
            Queue::Single(_) => free,
            Queue::Tree(shaper) => shaper.tree.poll_at().map_or(free, |at| at.max(free)),
        }
    }

    /// The shaper, if there is one.
    pub(crate) fn shaper(&self) -> Option<&Shaper> {
        match self {
            Queue::Single(_) => None,
            Queue::Tree(shaper) => Some(shaper),
        }
    }

    /// Begins what a shaper counts anew.
    pub(crate) fn restart(&mut self, now: Time) {
        if let Queue::Tree(shaper) = self {
            shaper.restart(now);
        }
    }
}
