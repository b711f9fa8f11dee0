//! Queues that take turns by credit: what deficit round robin and its descendants have in common.
//!
//! Principle: a queue whose credit covers what it needs is served, one that comes to the front without
//! gets a quantum and goes to the back. Two lists as in RFC 8290, section 4: new queues come before
//! old ones and go to the end of the old list when their credit or their packets are used up; a
//! discipline with one list uses the old one.
//! Cost per packet: O(1) while no packet is longer than the quantum; else two passes over the lists,
//! whatever the packet, as rounds in which nobody can be served are added up and not run.

/// End of a list.
const NONE: u32 = u32::MAX;
/// In place of a predecessor: the queue is in no list.
const IDLE: u32 = u32::MAX - 1;

#[derive(Clone, Copy, Debug)]
struct Turn {
    /// Bytes the queue may send; below zero, bytes it sent in advance.
    credit: i64,
    before: u32,
    after: u32,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    first: u32,
    last: u32,
}

/// Queues, by number, in the order of their turns.
#[derive(Debug)]
pub(crate) struct TurnTaking {
    turns: Vec<Turn>,
    new_queues: Line,
    old_queues: Line,
    active: usize,
    quantum: i64,
}

impl TurnTaking {
    /// No queue in either list; credit is given by the `quantum`, bytes, at least 1.
    pub(crate) fn of(quantum: i64) -> TurnTaking {
        let empty = Line { first: NONE, last: NONE };
        TurnTaking { turns: Vec::new(), new_queues: empty, old_queues: empty, active: 0, quantum }
    }

    /// Makes room for `queues` queues beforehand.
    pub(crate) fn reserve(&mut self, queues: u32) {
        self.turns.resize(queues as usize, Turn { credit: 0, before: IDLE, after: NONE });
    }

    /// Whether `queue` is in a list.
    #[inline]
    pub(crate) fn is_active(&self, queue: u32) -> bool {
        self.turns[queue as usize].before != IDLE
    }

    /// Puts an idle queue at the end of the list of new queues, with `credit`.
    #[inline]
    pub(crate) fn enter_new(&mut self, queue: u32, credit: i64) {
        let last = std::mem::replace(&mut self.new_queues.last, queue);
        self.enter_behind(last, queue, credit);
        if last == NONE {
            self.new_queues.first = queue;
        }
    }

    /// Puts an idle queue at the end of the list of old queues, with `credit`.
    #[inline]
    pub(crate) fn enter_old(&mut self, queue: u32, credit: i64) {
        let last = std::mem::replace(&mut self.old_queues.last, queue);
        self.enter_behind(last, queue, credit);
        if last == NONE {
            self.old_queues.first = queue;
        }
    }

    #[inline]
    fn enter_behind(&mut self, last: u32, queue: u32, credit: i64) {
        if queue as usize >= self.turns.len() {
            self.reserve(queue + 1);
        }
        self.turns[queue as usize] = Turn { credit, before: last, after: NONE };
        if let Some(last) = self.turns.get_mut(last as usize) {
            last.after = queue;
        }
        self.active += 1;
    }

    /// Takes an active queue out of its list.
    #[inline]
    pub(crate) fn remove(&mut self, queue: u32) {
        let Turn { before, after, .. } = self.turns[queue as usize];
        match self.turns.get_mut(before as usize) {
            Some(previous) => previous.after = after,
            None if self.new_queues.first == queue => self.new_queues.first = after,
            None => self.old_queues.first = after,
        }
        match self.turns.get_mut(after as usize) {
            Some(next) => next.before = before,
            None if self.new_queues.last == queue => self.new_queues.last = before,
            None => self.old_queues.last = before,
        }
        self.turns[queue as usize].before = IDLE;
        self.active -= 1;
    }

    /// Takes out a queue that has come to the front and has no packet. From the list of new queues it
    /// goes to the end of the old ones first, or else a queue that is empty whenever its turn comes
    /// would be new each time and starve the old ones (RFC 8290, section 4.2). True when it is out.
    #[inline]
    pub(crate) fn retire(&mut self, queue: u32) -> bool {
        let was_new = self.new_queues.first == queue;
        self.remove(queue);
        if was_new {
            self.enter_old(queue, self.turns[queue as usize].credit);
        }
        !was_new
    }

    /// The same as Linux does it: where there is no old queue to wait behind, the queue is out at once.
    #[inline]
    pub(crate) fn retire_behind_others(&mut self, queue: u32) -> bool {
        if self.old_queues.first == NONE {
            self.remove(queue);
            return true;
        }
        self.retire(queue)
    }

    /// The queue at the front, with credit or without.
    #[inline]
    pub(crate) fn front(&self) -> Option<u32> {
        let first = if self.new_queues.first == NONE { self.old_queues.first } else { self.new_queues.first };
        (first != NONE).then_some(first)
    }

    /// The queue whose turn it is: the first whose credit is at least what it `need`s.
    #[inline]
    pub(crate) fn select(&mut self, need: impl Fn(u32) -> i64) -> Option<u32> {
        let quantum = self.quantum;
        self.select_by(need, |_| quantum)
    }

    /// As [`TurnTaking::select`], where each queue has a `quantum` of its own, at least 1, which stays the same during
    /// the call. Credits are in whatever unit it is.
    #[inline]
    pub(crate) fn select_by(&mut self, need: impl Fn(u32) -> i64, quantum: impl Fn(u32) -> i64) -> Option<u32> {
        let mut passed = 0;
        loop {
            let queue = self.front()?;
            let credit = self.turns[queue as usize].credit;
            if credit >= need(queue) {
                return Some(queue);
            }
            self.remove(queue);
            self.enter_old(queue, credit + quantum(queue));
            passed += 1;
            if passed > self.active {
                self.skip_rounds(&need, &quantum);
                passed = 0;
            }
        }
    }

    /// Gives every queue the quanta of all rounds in which none can be served.
    #[cold]
    fn skip_rounds(&mut self, need: impl Fn(u32) -> i64, quantum: impl Fn(u32) -> i64) {
        let rounds = self.iter().map(|queue| self.rounds(queue, need(queue), quantum(queue))).min().unwrap_or(0);
        let mut queue = self.old_queues.first;
        while let Some(turn) = self.turns.get_mut(queue as usize) {
            turn.credit += rounds * quantum(queue);
            queue = turn.after;
        }
    }

    /// Rounds until the credit of `queue`, which gets a `quantum` in each, is at least `need`.
    fn rounds(&self, queue: u32, need: i64, quantum: i64) -> i64 {
        let lacking = (need - self.turns[queue as usize].credit).max(0);
        lacking / quantum + i64::from(lacking % quantum > 0)
    }

    fn iter(&self) -> impl Iterator<Item = u32> {
        let exists = |queue: u32| (queue != NONE).then_some(queue);
        let line = move |first| std::iter::successors(exists(first), move |&at| exists(self.turns[at as usize].after));
        line(self.new_queues.first).chain(line(self.old_queues.first))
    }

    /// The queue `select` would come to, looking only at queues that `need` something: the others have
    /// no packet.
    pub(crate) fn first(&self, need: impl Fn(u32) -> Option<i64>) -> Option<u32> {
        self.first_by(need, |_| self.quantum)
    }

    /// As [`TurnTaking::first`], for [`TurnTaking::select_by`].
    pub(crate) fn first_by(&self, need: impl Fn(u32) -> Option<i64>, quantum: impl Fn(u32) -> i64) -> Option<u32> {
        // Queues without credit go to the end one after the other, so the lists are one ring.
        let rounds = |queue| Some((self.rounds(queue, need(queue)?, quantum(queue)), queue));
        self.iter().filter_map(rounds).min_by_key(|&(rounds, _)| rounds).map(|(_, queue)| queue)
    }

    /// Takes `bytes` off the credit of `queue`.
    #[inline]
    pub(crate) fn spend(&mut self, queue: u32, bytes: u32) {
        self.spend_units(queue, bytes.into());
    }

    /// Takes `units` off the credit of `queue`.
    #[inline]
    pub(crate) fn spend_units(&mut self, queue: u32, units: i64) {
        self.turns[queue as usize].credit -= units;
    }

    /// Credit of `queue`, bytes; what it was left with when it is idle.
    #[inline]
    pub(crate) fn credit(&self, queue: u32) -> i64 {
        self.turns[queue as usize].credit
    }

    /// Queues in the lists.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.active
    }

    /// Memory as it is allocated, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.turns.capacity() * size_of::<Turn>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    /// Of each of the four queues: all alike, or each its own.
    const ALIKE: [i64; 4] = [100; 4];
    const OWN: [i64; 4] = [1, 30, 100, 700];

    /// The lists as RFC 8290 tells them, every round run.
    #[derive(Default)]
    struct Told {
        new_queues: VecDeque<usize>,
        old_queues: VecDeque<usize>,
        credit: [i64; 4],
        /// Lengths of the packets that wait.
        packets: [VecDeque<i64>; 4],
    }

    impl Told {
        fn active(&self, queue: usize) -> bool {
            self.new_queues.contains(&queue) || self.old_queues.contains(&queue)
        }

        /// Queue and length of the next packet; it needs `need` of credit.
        fn send(&mut self, need: impl Fn(Option<&i64>) -> i64, quanta: [i64; 4]) -> Option<(usize, i64)> {
            loop {
                let from_new = !self.new_queues.is_empty();
                let list = if from_new { &mut self.new_queues } else { &mut self.old_queues };
                let queue = list.pop_front()?;
                if self.credit[queue] < need(self.packets[queue].front()) {
                    self.credit[queue] += quanta[queue];
                    self.old_queues.push_back(queue);
                } else if let Some(len) = self.packets[queue].pop_front() {
                    self.credit[queue] -= len;
                    let list = if from_new { &mut self.new_queues } else { &mut self.old_queues };
                    list.push_front(queue);
                    return Some((queue, len));
                } else if from_new {
                    self.old_queues.push_back(queue);
                }
            }
        }
    }

    /// Runs `steps`: a queue, and the length of the packet that arrives there, or none when one is sent
    /// or the queue taken out.
    fn agrees(steps: Vec<(usize, Result<i64, bool>)>, quanta: [i64; 4], need: impl Fn(Option<&i64>) -> i64) {
        let (mut told, mut turns) = (Told::default(), TurnTaking::of(1));
        let quantum = |queue: u32| quanta[queue as usize];
        let mut packets: [VecDeque<i64>; 4] = Default::default();
        turns.reserve(4);
        for (queue, step) in steps {
            match step {
                Ok(len) => {
                    packets[queue].push_back(len);
                    told.packets[queue].push_back(len);
                    if !told.active(queue) {
                        told.credit[queue] = quanta[queue];
                        told.new_queues.push_back(queue);
                        turns.enter_new(queue as u32, quanta[queue]);
                    }
                }
                Err(true) => {
                    let wants = |queue: u32| packets[queue as usize].front().map(|len| need(Some(len)));
                    let first = turns.first_by(wants, quantum);
                    let expected = told.send(&need, quanta);
                    let sent = loop {
                        let Some(queue) = turns.select_by(|queue| need(packets[queue as usize].front()), quantum)
                        else {
                            break None;
                        };
                        if let Some(len) = packets[queue as usize].pop_front() {
                            turns.spend(queue, len as u32);
                            break Some((queue as usize, len));
                        }
                        turns.retire(queue);
                    };
                    assert_eq!(sent, expected);
                    assert_eq!(first.map(|queue| queue as usize), expected.map(|(queue, _)| queue), "first");
                }
                Err(false) if told.active(queue) => {
                    packets[queue].clear();
                    told.packets[queue].clear();
                    told.new_queues.retain(|&other| other != queue);
                    told.old_queues.retain(|&other| other != queue);
                    turns.remove(queue as u32);
                }
                Err(false) => {}
            }
            let active = (0..4).map(|queue| turns.is_active(queue));
            assert!(active.eq((0..4).map(|queue| told.active(queue))));
            assert_eq!(turns.len(), told.new_queues.len() + told.old_queues.len());
        }
    }

    fn steps() -> impl Strategy<Value = Vec<(usize, Result<i64, bool>)>> {
        let len = prop_oneof![8 => 1..150_i64, 1 => 1000..5000_i64];
        let step = prop_oneof![6 => len.prop_map(Ok), 6 => Just(Err(true)), 1 => Just(Err(false))];
        prop::collection::vec((0..4_usize, step), 0..200)
    }

    proptest! {
        #[test]
        fn queues_with_credit_are_served_as_the_rfc_tells(steps in steps()) {
            agrees(steps.clone(), ALIKE, |_| 1);
            agrees(steps, OWN, |_| 1);
        }

        #[test]
        fn queues_whose_deficit_covers_the_packet_are_served_as_if_every_round_were_run(steps in steps()) {
            agrees(steps.clone(), ALIKE, |head| head.copied().unwrap_or(0));
            agrees(steps, OWN, |head| head.copied().unwrap_or(0));
        }
    }
}
