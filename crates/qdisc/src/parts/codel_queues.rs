//! Queues that flows are hashed onto, each under a CoDel of its own: what FQ-CoDel and its descendants share. Whose turn it
//! is does not belong here.
//!
//! Cost per packet: O(1); a victim O(log queues), shared by its batch. Source: RFC 8290, 4.1; Linux `sch_fq_codel`.

use units::Time;

use crate::base::{DropReason, Env};
use crate::packet::Packet;
use crate::parts::codel;
use crate::parts::longest_queue::LongestQueue;
use crate::parts::packet_lists::{List, Slab};
use crate::spec::{Options, Param, Value};

/// Parameter: number of queues.
pub(crate) const FLOWS: Param = Param {
    name: "flows",
    unit: "queues",
    about: "queues that flows are hashed onto",
    value: Value::Whole { default: 1024, min: 1, max: 65_536 },
};

/// Parameter: drops that one search for the longest queue may pay for.
pub(crate) const DROP_BATCH: Param = Param {
    name: "drop_batch",
    unit: "packets",
    about: "most packets dropped at once when the buffer is full",
    value: Value::Whole { default: 64, min: 1, max: 1 << 20 },
};

/// CoDel of one queue, by the rules of the RFC or by those of Linux, and what else differs between these.
pub(crate) trait Control: Copy + Default {
    /// What all queues have in common.
    type Law: Copy + std::fmt::Debug;

    /// From the parameters of CoDel.
    fn law(options: &Options) -> Self::Law;

    /// Whether what spares a packet is the backlog of all queues, not that of its own.
    const SPARES_BY_TOTAL: bool;

    /// Whether of equally long queues that of the arriving packet loses; else it is that of smallest number.
    const ARRIVING_LOSES_TIES: bool;

    /// The packet to send, if any.
    fn dequeue(&mut self, law: &Self::Law, env: &mut Env, queue: &mut impl codel::Queue) -> Option<Packet>;

    /// A full buffer took packets from this queue.
    fn overflowed(&mut self, packets: u32);
}

impl Control for codel::Control {
    type Law = codel::Law;

    fn law(options: &Options) -> codel::Law {
        codel::Law::with_options(options)
    }

    /// RFC 8289, 5.6: "bytes() <= MTU".
    const SPARES_BY_TOTAL: bool = false;

    const ARRIVING_LOSES_TIES: bool = true;

    #[inline(always)]
    fn dequeue(&mut self, law: &codel::Law, env: &mut Env, queue: &mut impl codel::Queue) -> Option<Packet> {
        codel::Control::dequeue(self, law, env, queue)
    }

    fn overflowed(&mut self, _: u32) {}
}

#[derive(Clone, Copy, Debug, Default)]
struct Queue<C> {
    list: List,
    control: C,
}

/// The packets of one queue, as CoDel sees them.
struct Backlog<'a> {
    packets: &'a mut Slab,
    list: &'a mut List,
    by_total: bool,
}

impl codel::Queue for Backlog<'_> {
    #[inline(always)]
    fn head(&self, env: &Env) -> Option<(Time, u64)> {
        let bytes = if self.by_total { env.stats.backlog_bytes() } else { self.list.bytes() };
        self.packets.front(self.list).map(|packet| (packet.arrival, bytes - u64::from(packet.len)))
    }

    #[inline(always)]
    fn take(&mut self) -> Option<Packet> {
        self.packets.pop_front(self.list)
    }
}

/// The queues, by number.
#[derive(Debug)]
pub(crate) struct CodelQueues<C: Control> {
    packets: Slab,
    queues: Vec<Queue<C>>,
    longest: LongestQueue,
    law: C::Law,
    drop_batch: u64,
}

impl<C: Control> CodelQueues<C> {
    /// From [`FLOWS`], [`DROP_BATCH`] and the parameters of CoDel.
    pub(crate) fn with_options(options: &Options) -> CodelQueues<C> {
        CodelQueues {
            packets: Slab::default(),
            queues: vec![Queue::default(); options.whole(FLOWS.name) as usize],
            longest: LongestQueue::default(),
            law: C::law(options),
            drop_batch: options.whole(DROP_BATCH.name),
        }
    }

    /// Number of queues.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        self.queues.len() as u32
    }

    /// Whether no packet waits in `queue`.
    #[inline]
    pub(crate) fn is_empty(&self, queue: u32) -> bool {
        self.queues[queue as usize].list.is_empty()
    }

    /// The first packet of `queue`.
    #[inline]
    pub(crate) fn front(&self, queue: u32) -> Option<&Packet> {
        self.packets.front(&self.queues[queue as usize].list)
    }

    /// Appends `packet` to `queue`.
    #[inline(always)]
    pub(crate) fn push(&mut self, queue: u32, packet: Packet) {
        let list = &mut self.queues[queue as usize].list;
        self.packets.push_back(list, packet);
        self.longest.grew(queue, list.bytes());
    }

    /// Takes the first packet of `queue` that CoDel lets pass; the ones before it are dropped.
    #[inline(always)]
    pub(crate) fn take(&mut self, queue: u32, env: &mut Env) -> Option<Packet> {
        let Queue { list, control } = &mut self.queues[queue as usize];
        let mut backlog = Backlog { packets: &mut self.packets, list, by_total: C::SPARES_BY_TOTAL };
        control.dequeue(&self.law, env, &mut backlog)
    }

    /// Section 4.1: drops from the head of the queue with the largest byte count, until it is half of what it was or a
    /// batch is gone, so that the search is paid for by many drops. Returns that queue; `arriving` is that of the packet
    /// that came last.
    #[cold]
    pub(crate) fn make_room(&mut self, arriving: u32, env: &mut Env) -> Option<u32> {
        let bytes = |queue: u32| self.queues[queue as usize].list.bytes();
        let (fattest, most) = self.longest.find(bytes)?;
        let loser = if C::ARRIVING_LOSES_TIES && bytes(arriving) == most { arriving } else { fattest };
        let Queue { list, control } = &mut self.queues[loser as usize];
        for _ in 0..self.drop_batch {
            let Some(victim) = self.packets.pop_front(list) else { break };
            control.overflowed(1);
            let is_arriving = loser == arriving && list.is_empty();
            env.discard(victim, if is_arriving { DropReason::Full } else { DropReason::PushedOut });
            if list.bytes() <= most - most / 2 {
                break;
            }
        }
        Some(loser)
    }

    /// Memory as it is allocated, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.queues.capacity() * size_of::<Queue<C>>() + self.longest.bytes()
    }
}
