//! Stations that serve one job at a time: the job in service, and the others in the order in which they follow.

use std::cmp::{Ordering, Reverse};
use std::collections::VecDeque;

use dary_heap::QuaternaryHeap;

use super::serve::{Part, Serve};

/// A job of the station: what orders it, and the work that is left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    key: f64,
    came: u64,
    rest: f64,
    slot: u32,
}

impl Ord for Turn {
    #[inline]
    fn cmp(&self, other: &Turn) -> Ordering {
        self.key.total_cmp(&other.key).then(self.came.cmp(&other.came))
    }
}

impl PartialOrd for Turn {
    #[inline]
    fn partial_cmp(&self, other: &Turn) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Turn {
    fn eq(&self, other: &Turn) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Turn {}

/// The jobs that wait for the one in service.
pub(crate) trait Waiting: Default {
    /// Whether a job that arrives interrupts the one in service.
    fn interrupts(arriving: &Turn, served: &Turn) -> bool;
    fn put(&mut self, turn: Turn);
    fn take(&mut self) -> Option<Turn>;
}

/// In order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Arrival(VecDeque<Turn>);

impl Waiting for Arrival {
    #[inline]
    fn interrupts(_: &Turn, _: &Turn) -> bool {
        false
    }

    #[inline]
    fn put(&mut self, turn: Turn) {
        self.0.push_back(turn);
    }

    #[inline]
    fn take(&mut self) -> Option<Turn> {
        self.0.pop_front()
    }
}

/// In the reverse order of arrival.
#[derive(Debug, Default)]
pub(crate) struct LatestFirst(Vec<Turn>);

impl Waiting for LatestFirst {
    #[inline]
    fn interrupts(_: &Turn, _: &Turn) -> bool {
        true
    }

    #[inline]
    fn put(&mut self, turn: Turn) {
        self.0.push(turn);
    }

    #[inline]
    fn take(&mut self) -> Option<Turn> {
        self.0.pop()
    }
}

/// By the work they brought; a smaller one waits for the end of a job that has begun.
#[derive(Debug, Default)]
pub(crate) struct SmallestNext(QuaternaryHeap<Reverse<Turn>>);

impl Waiting for SmallestNext {
    #[inline]
    fn interrupts(arriving: &Turn, served: &Turn) -> bool {
        // While levels above are served, who came first to an idle station has not begun.
        served.rest == served.key && arriving.key < served.key
    }

    #[inline]
    fn put(&mut self, turn: Turn) {
        self.0.push(Reverse(turn));
    }

    #[inline]
    fn take(&mut self) -> Option<Turn> {
        self.0.pop().map(|Reverse(turn)| turn)
    }
}

/// By the work they brought; a smaller one is served at once.
#[derive(Debug, Default)]
pub(crate) struct Smallest(QuaternaryHeap<Reverse<Turn>>);

impl Waiting for Smallest {
    #[inline]
    fn interrupts(arriving: &Turn, served: &Turn) -> bool {
        arriving.key < served.key
    }

    #[inline]
    fn put(&mut self, turn: Turn) {
        self.0.push(Reverse(turn));
    }

    #[inline]
    fn take(&mut self) -> Option<Turn> {
        self.0.pop().map(|Reverse(turn)| turn)
    }
}

/// By the work that is left; a smaller one is served at once.
#[derive(Debug, Default)]
pub(crate) struct Remaining(QuaternaryHeap<Reverse<Turn>>);

impl Waiting for Remaining {
    #[inline]
    fn interrupts(arriving: &Turn, served: &Turn) -> bool {
        arriving.rest < served.rest
    }

    #[inline]
    fn put(&mut self, turn: Turn) {
        // What is left does not change while a job waits.
        self.0.push(Reverse(Turn { key: turn.rest, ..turn }));
    }

    #[inline]
    fn take(&mut self) -> Option<Turn> {
        self.0.pop().map(|Reverse(turn)| turn)
    }
}

/// One job in service, the others waiting.
#[derive(Debug, Default)]
pub(crate) struct InTurn<W> {
    served: Option<Turn>,
    waiting: W,
}

impl<W: Waiting> Serve for InTurn<W> {
    #[inline]
    fn insert(&mut self, part: Part) {
        let turn = Turn { key: part.work(), came: part.came, rest: part.work(), slot: part.slot };
        match self.served {
            Some(served) if !W::interrupts(&turn, &served) => self.waiting.put(turn),
            Some(served) => {
                self.waiting.put(served);
                self.served = Some(turn);
            }
            None => self.served = Some(turn),
        }
    }

    #[inline]
    fn due(&self) -> f64 {
        self.served.map_or(f64::INFINITY, |turn| turn.rest)
    }

    #[inline]
    fn serve(&mut self, work: f64) {
        if let Some(turn) = &mut self.served {
            turn.rest = (turn.rest - work).max(0.0);
        }
    }

    #[inline]
    fn step(&mut self) -> Option<u32> {
        let done = self.served.map(|turn| turn.slot);
        self.served = self.waiting.take();
        done
    }
}
