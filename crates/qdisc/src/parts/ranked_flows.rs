//! Flows served strictly in order of a rank that their packets bring, whatever it says: SRPT and RANKED.
//!
//! Principle: the rank of a flow is the smallest that its packets brought since it has had packets waiting; of equals
//! the flow that came to have it first is first. The flow of smallest rank is served, its earliest packet first. When the
//! buffer is full the last packet of the flow of largest rank goes.
//! Cost per packet: two look-ups in a table no longer than the queue, and an insertion into a sorted list of the flows
//! that wait when one comes or changes its rank: O(log flows) comparisons and the move of at most half of a ring.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::marker::PhantomData;

use hashbrown::hash_map::Entry;
use units::{FlowKey, Stream};

use crate::base::{Discipline, DropReason, Env};
use crate::packet::Packet;
use crate::parts::flow_table::keep_sparse;
use crate::parts::hash::FlowMap;
use crate::parts::packet_lists::{List, Slab};
use crate::spec::{OptionError, Options, Spec};

/// What the flows go by, and their row in the registry.
pub trait ByRank: Debug {
    /// Its row.
    const SPEC: Spec;

    /// The rank that a packet brings; the smallest goes first.
    fn of(packet: &Packet) -> u64;
}

/// Longest ring of [`Ranking`].
const RING: usize = 512;

/// Place of a flow in the order of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Smallest so far.
    value: u64,
    /// When the flow came to have it, in ranks given out: no two are equal.
    since: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Ranked {
    rank: Rank,
    flow: FlowKey,
}

/// Flows in order of rank: sorted rings one behind the other, as in [`crate::parts::order`], none of them empty. Unlike
/// there a flow may go from anywhere; rings that were emptied but for a few flows stay, which costs memory only.
#[derive(Debug, Default)]
struct Ranking {
    rings: VecDeque<VecDeque<Ranked>>,
    spare: Vec<VecDeque<Ranked>>,
}

impl Ranking {
    /// Ring that `rank` is in or belongs to.
    #[inline]
    fn ring(&self, rank: Rank) -> usize {
        self.rings.partition_point(|ring| ring[0].rank <= rank).saturating_sub(1)
    }

    #[inline]
    fn insert(&mut self, new: Ranked) {
        let mut at = self.rings.len().wrapping_sub(1);
        let Some(last) = self.rings.back_mut() else {
            let mut ring = self.spare.pop().unwrap_or_default();
            ring.push_back(new);
            self.rings.push_back(ring);
            return;
        };
        // The end first: of flows with as much left the new one is last.
        if last[last.len() - 1].rank < new.rank {
            last.push_back(new);
        } else {
            at = self.ring(new.rank);
            let ring = &mut self.rings[at];
            ring.insert(ring.partition_point(|other| other.rank < new.rank), new);
        }
        if self.rings[at].len() > RING {
            self.split(at);
        }
    }

    #[cold]
    fn split(&mut self, at: usize) {
        let mut tail = self.spare.pop().unwrap_or_default();
        tail.extend(self.rings[at].drain(RING / 2..));
        self.rings.insert(at + 1, tail);
    }

    #[inline]
    fn remove_first(&mut self) {
        let Some(ring) = self.rings.front_mut() else { return };
        ring.pop_front();
        if ring.is_empty() {
            self.spare.extend(self.rings.pop_front());
        }
    }

    /// Takes out the flow with `rank`, which is here.
    #[inline]
    fn remove(&mut self, rank: Rank) {
        let at = self.ring(rank);
        let ring = &mut self.rings[at];
        let place = ring.partition_point(|other| other.rank < rank);
        debug_assert_eq!(ring[place].rank, rank);
        ring.remove(place);
        if ring.is_empty() {
            self.spare.extend(self.rings.remove(at));
        }
    }

    #[inline]
    fn first(&self) -> Option<&Ranked> {
        self.rings.front()?.front()
    }

    #[inline]
    fn last(&self) -> Option<&Ranked> {
        self.rings.back()?.back()
    }

    fn last_first(&self) -> impl Iterator<Item = &Ranked> {
        self.rings.iter().rev().flat_map(|ring| ring.iter().rev())
    }

    fn bytes(&self) -> usize {
        let places: usize = self.rings.iter().chain(&self.spare).map(VecDeque::capacity).sum();
        places * size_of::<Ranked>()
    }
}

#[derive(Debug)]
struct Backlogged {
    rank: Rank,
    list: List,
}

/// Flows in order of rank.
#[derive(Debug)]
pub struct RankedFlows<R> {
    slab: Slab,
    flows: FlowMap<Backlogged>,
    /// The same flows in order of service.
    order: Ranking,
    ranks_given: u64,
    row: PhantomData<R>,
}

impl<R: ByRank> RankedFlows<R> {
    /// Makes room for `packet`: discards packets of flows behind its own until it fits. Discards nothing and returns
    /// false when all of them would not be enough: then it is itself the last packet of the last flow.
    fn make_room(&mut self, packet: &Packet, env: &mut Env) -> bool {
        let mut rank = Rank { value: R::of(packet), since: self.ranks_given };
        if let Some(flow) = self.flows.get_mut(&packet.flow) {
            // What the packet tells is true whether or not there is room for it.
            self.ranks_given += u64::from(improve(&mut self.order, flow, packet.flow, rank));
            rank = flow.rank;
        }
        let (mut packets, mut bytes) = (0, 0);
        let enough = self.order.last_first().take_while(|other| other.rank > rank).any(|behind| {
            let list = &self.flows[&behind.flow].list;
            packets += u64::from(list.packets());
            bytes += list.bytes();
            !env.is_full_without(packet.len, packets, bytes)
        });
        while enough && env.is_full(packet.len) {
            let &last = self.order.last().expect("the flows behind are enough");
            let Entry::Occupied(mut entry) = self.flows.entry(last.flow) else { unreachable!("a ranked flow waits") };
            let victim = self.slab.pop_back(&mut entry.get_mut().list).expect("a ranked flow has packets");
            if entry.get().list.is_empty() {
                entry.remove();
                self.order.remove(last.rank);
            }
            env.discard(victim, DropReason::PushedOut);
        }
        enough
    }
}

/// Gives a flow that waits the rank `new`, if it has less left to send than was known.
#[inline]
fn improve(order: &mut Ranking, flow: &mut Backlogged, key: FlowKey, new: Rank) -> bool {
    let better = new.value < flow.rank.value;
    if better {
        order.remove(flow.rank);
        order.insert(Ranked { rank: new, flow: key });
        flow.rank = new;
    }
    better
}

impl<R: ByRank> Discipline for RankedFlows<R> {
    const SPEC: Spec = R::SPEC;

    fn with_options(_: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        Ok(RankedFlows {
            slab: Slab::default(),
            flows: FlowMap::default(),
            order: Ranking::default(),
            ranks_given: 0,
            row: PhantomData,
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        if env.is_full(packet.len) && !self.make_room(&packet, env) {
            env.refuse(packet, DropReason::Full);
            return;
        }
        env.accept(&packet);
        keep_sparse(&mut self.flows);
        let rank = Rank { value: R::of(&packet), since: self.ranks_given };
        let flow = match self.flows.entry(packet.flow) {
            Entry::Occupied(entry) => {
                let flow = entry.into_mut();
                self.ranks_given += u64::from(improve(&mut self.order, flow, packet.flow, rank));
                flow
            }
            Entry::Vacant(entry) => {
                self.ranks_given += 1;
                self.order.insert(Ranked { rank, flow: packet.flow });
                entry.insert(Backlogged { rank, list: List::default() })
            }
        };
        self.slab.push_back(&mut flow.list, packet);
    }

    #[inline]
    fn dequeue(&mut self, _: &mut Env) -> Option<Packet> {
        let flow = self.order.first()?.flow;
        let Entry::Occupied(mut entry) = self.flows.entry(flow) else { unreachable!("a ranked flow waits") };
        let packet = self.slab.pop_front(&mut entry.get_mut().list);
        if entry.get().list.is_empty() {
            entry.remove();
            self.order.remove_first();
        }
        packet
    }

    fn peek(&self) -> Option<&Packet> {
        self.slab.front(&self.flows[&self.order.first()?.flow].list)
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.flows.len()
    }

    fn flow_table_bytes(&self) -> usize {
        self.flows.allocation_size() + self.order.bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
        /// Few ranks and a long run, so that rings split, empty and go.
        #[test]
        fn the_ranking_agrees_with_a_tree(seed in any::<u64>(), spread in 1..5000_u64) {
            let mut ranking = Ranking::default();
            let mut tree = BTreeSet::new();
            let mut stream = Stream::named(seed, "ranking");
            for since in 0..6000 {
                let grows = if since < 4000 { 6 } else { 2 };
                if stream.bits() % 8 < grows || tree.is_empty() {
                    let rank = Rank { value: stream.bits() % spread, since };
                    ranking.insert(Ranked { rank, flow: FlowKey(since) });
                    tree.insert(rank);
                } else if stream.bits().is_multiple_of(4) {
                    ranking.remove_first();
                    tree.pop_first();
                } else {
                    let from = Rank { value: stream.bits() % spread, since: 0 };
                    let rank = *tree.range(from..).next().or(tree.first()).expect("not empty");
                    ranking.remove(rank);
                    tree.remove(&rank);
                }
                prop_assert_eq!(ranking.first().map(|ranked| ranked.rank), tree.first().copied());
                prop_assert_eq!(ranking.last().map(|ranked| ranked.rank), tree.last().copied());
            }
            let left: Vec<_> = ranking.last_first().map(|ranked| (ranked.rank, ranked.flow.0)).collect();
            prop_assert_eq!(left, tree.iter().rev().map(|&rank| (rank, rank.since)).collect::<Vec<_>>());
        }
    }
}
