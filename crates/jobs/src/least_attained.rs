//! Least attained service: groups of jobs of the same age, the youngest on top, which alone is served.
//!
//! The group on top ages until its smallest job ends or it is as old as the group below and becomes one with it. The
//! jobs of a group are a pairing heap by size (Fredman, Sedgewick, Sleator, Tarjan 1986): to make one group of two takes
//! O(1), to take the smallest job O(log n) amortised. Jobs of a group grow older together, so with weights (work per
//! unit of size) they share the server in proportion to these.

use super::serve::{Part, Serve};

const NONE: u32 = u32::MAX;

/// A job in the heap of its group; its place is its slot.
#[derive(Clone, Copy, Debug)]
struct Node {
    end: f64,
    came: u64,
    weight: f64,
    child: u32,
    sibling: u32,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    age: f64,
    /// Work it takes to make all of the group older by one unit of size.
    weight: f64,
    jobs: u32,
    root: u32,
}

/// Groups from the oldest to the youngest.
#[derive(Debug, Default)]
pub(crate) struct LeastAttained {
    groups: Vec<Group>,
    nodes: Vec<Node>,
}

impl LeastAttained {
    #[inline]
    fn node(&mut self, slot: u32) -> &mut Node {
        &mut self.nodes[slot as usize]
    }

    /// One heap of two.
    #[inline]
    fn meld(&mut self, a: u32, b: u32) -> u32 {
        let (first, second) = (self.nodes[a as usize], self.nodes[b as usize]);
        let in_order = first.end.total_cmp(&second.end).then(first.came.cmp(&second.came)).is_le();
        let (parent, child) = if in_order { (a, b) } else { (b, a) };
        self.node(child).sibling = self.nodes[parent as usize].child;
        self.node(parent).child = child;
        parent
    }

    /// The heap without its root: children joined in pairs from the left, the pairs from the right.
    fn without_root(&mut self, root: u32) -> u32 {
        let mut next = self.nodes[root as usize].child;
        let mut pairs = NONE;
        while next != NONE {
            let first = next;
            let second = self.nodes[first as usize].sibling;
            let pair = if second == NONE {
                next = NONE;
                first
            } else {
                next = self.nodes[second as usize].sibling;
                self.meld(first, second)
            };
            self.node(pair).sibling = pairs;
            pairs = pair;
        }
        let mut heap = pairs;
        if heap != NONE {
            let mut rest = self.nodes[heap as usize].sibling;
            while rest != NONE {
                let after = self.nodes[rest as usize].sibling;
                heap = self.meld(heap, rest);
                rest = after;
            }
            self.node(heap).sibling = NONE;
        }
        heap
    }

    /// Makes one group of the two youngest.
    fn join(&mut self) {
        if let (Some(young), Some(&old)) = (self.groups.pop(), self.groups.last()) {
            let root = self.meld(old.root, young.root);
            let (weight, jobs) = (old.weight + young.weight, old.jobs + young.jobs);
            // The age of the older one is exact, the younger has been brought there by sums.
            if let Some(last) = self.groups.last_mut() {
                *last = Group { age: old.age, weight, jobs, root };
            }
        }
    }

    /// The age at which the smallest job of the youngest group ends, and whether it comes to that before it meets the next.
    #[inline]
    fn end_of(&self, youngest: &Group) -> (f64, bool) {
        let end = self.nodes[youngest.root as usize].end;
        match self.groups.len() {
            1 => (end, true),
            n => (end, end <= self.groups[n - 2].age),
        }
    }
}

impl Serve for LeastAttained {
    fn insert(&mut self, part: Part) {
        let node = Node { end: part.end, came: part.came, weight: part.weight, child: NONE, sibling: NONE };
        let place = part.slot as usize;
        if place >= self.nodes.len() {
            self.nodes.resize(place + 1, node);
        }
        self.nodes[place] = node;
        self.groups.push(Group { age: part.start, weight: part.weight, jobs: 1, root: part.slot });
        // Nobody is younger than who has just come to the level.
        if let [.., old, young] = self.groups[..]
            && old.age == young.age
        {
            self.join();
        }
    }

    #[inline]
    fn due(&self) -> f64 {
        let Some(youngest) = self.groups.last() else { return f64::INFINITY };
        let until = match self.end_of(youngest) {
            (end, true) => end,
            _ => self.groups[self.groups.len() - 2].age,
        };
        (until - youngest.age).max(0.0) * youngest.weight
    }

    #[inline]
    fn serve(&mut self, work: f64) {
        if let Some(youngest) = self.groups.last_mut() {
            youngest.age += work / youngest.weight;
        }
    }

    fn step(&mut self) -> Option<u32> {
        let youngest = *self.groups.last()?;
        let (end, ends) = self.end_of(&youngest);
        if !ends {
            self.join();
            return None;
        }
        let leaving = youngest.root;
        if youngest.jobs == 1 {
            self.groups.pop();
            return Some(leaving);
        }
        let root = self.without_root(leaving);
        // A difference of sums leaves rounding; one job has its own weight.
        let weight = match youngest.jobs {
            2 => self.nodes[root as usize].weight,
            _ => youngest.weight - self.nodes[leaving as usize].weight,
        };
        if let Some(last) = self.groups.last_mut() {
            *last = Group { age: end, weight, jobs: youngest.jobs - 1, root };
        }
        Some(leaving)
    }
}
