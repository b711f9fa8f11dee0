//! Hierarchical token bucket: classes in a tree, each with a rate that it has for sure and a ceiling that it may reach by
//! borrowing what its ancestors have left, and a queue with any discipline at each leaf.
//!
//! The rules are those of Linux (`net/sched/sch_htb.c` of 6.1), so that a result here is one for `tc qdisc add ... htb`:
//!
//! * A class has tokens of its rate and tokens of its ceiling, in nanoseconds, at most `burst` and `cburst` of them. With
//!   ceiling tokens below zero it is *red* and sends nothing; else with rate tokens below zero it is *yellow* and borrows;
//!   else it is *green*.
//! * A green leaf sends by its own rate, whatever its ancestors are. A yellow one sends by the nearest ancestor that is
//!   green, if all between are yellow. Lenders of lower levels come first, at a level the lower `prio`.
//! * Among the classes that one lender feeds, deficit round robin by `quantum`, in the order of their numbers.
//! * A packet is charged to the ceilings of all classes from its leaf to the root, and to the rates from the lender up.
//!
//! A class changes its colour by charges, and by a queue of events per level. Cost: some steps per level of the tree and
//! packet, times the logarithm of the classes that are active; an idle class costs its record, and a leaf makes its queue
//! with the first packet. Not there: hysteresis (off in Linux since 2.6.24), overhead and cells of link layers, offload.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use units::{BitRate, Stream, Time};

use crate::base::{DropReason, Limit, Sorted, Stats};
use crate::packet::Packet;
use crate::queue::Qdisc;
use crate::spec::OptionError;

/// Levels of classes, leaves included (`TC_HTB_MAXDEPTH`).
pub const MOST_LEVELS: usize = 8;
/// Priorities (`TC_HTB_NUMPRIO`).
pub const PRIORITIES: u8 = 8;
/// Bytes of a burst of which nothing is said: an Ethernet frame as `tc` has it, beside what the rate brings in a nanosecond.
const FRAME: u64 = 1600;
/// Share of a second that a quantum of which nothing is said lasts (`r2q`), and its bounds in bytes.
const RATE_TO_QUANTUM: u64 = 10;
const QUANTUM: (u64, u64) = (1000, 200_000);
/// A bucket is never further below zero, nor is more time than this made up for: one minute.
const MOST_WAIT: i64 = 60_000_000_000;
/// Packets that no class has wait in a queue of their own, as long as that of a device.
const DIRECT_PACKETS: usize = 1000;

/// Burst that `tc` chooses for `rate`, bytes.
pub fn default_burst(rate: BitRate) -> u64 {
    rate.bps() / 8 / 1_000_000_000 + FRAME
}

/// Id of a discipline and its options.
pub type Written = (String, Vec<(String, String)>);

/// One class of the tree.
#[derive(Clone, Debug)]
pub struct Class {
    /// The class it is in, by number: one listed before it. None for one at the top.
    pub parent: Option<u32>,
    /// What it has for sure.
    pub rate: BitRate,
    /// What it may reach by borrowing; at least the rate.
    pub ceil: BitRate,
    /// What it may send at once after a pause by its rate, bytes; what `tc` chooses when absent.
    pub burst: Option<u64>,
    /// The same by its ceiling.
    pub cburst: Option<u64>,
    /// Bytes of a turn among those that one lender feeds; a tenth of a second of the rate when absent, from 1000 to 200000.
    pub quantum: Option<u32>,
    /// The lower goes first; of leaves only.
    pub prio: u8,
    /// The queue, in a leaf.
    pub leaf: Option<Leaf>,
}

/// The queue of a leaf, which is made when it gets its first packet.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Discipline and its options.
    pub discipline: Arc<Written>,
    /// Buffer limit.
    pub limit: Limit,
    /// Its random numbers.
    pub rng: Stream,
}

/// Why there is no such tree.
#[derive(Clone, Debug, PartialEq)]
pub enum HtbError {
    /// A class, by number, and what it must be.
    Class(usize, &'static str),
    /// A leaf, by number, whose queue could not be set up.
    Leaf(usize, OptionError),
}

impl fmt::Display for HtbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HtbError::Class(index, bound) => write!(f, "class {index} of the tree: must be {bound}"),
            HtbError::Leaf(index, error) => write!(f, "class {index} of the tree: {error}"),
        }
    }
}

impl std::error::Error for HtbError {}

/// What a class has done since the tree was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassStats {
    /// Packets sent by it and all below it.
    pub packets: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Packets sent by its own rate tokens, its own or those of a class below it.
    pub lends: u64,
    /// Packets sent by the tokens of a class above it.
    pub borrows: u64,
    /// Times it became red.
    pub overlimits: u64,
    /// Time for which it was red.
    pub red: Time,
    /// Time for which it was yellow.
    pub yellow: Time,
}

/// What a class may do (`cmode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Red,
    Yellow,
    Green,
}

/// Nanoseconds of a byte, 32.32, rounded down as in Linux.
#[derive(Clone, Copy, Debug)]
struct PerByte(u64);

impl PerByte {
    fn of(rate: BitRate) -> PerByte {
        let exact = (8_000_000_000_u128 << 32) / u128::from(rate.bps());
        PerByte(u64::try_from(exact).unwrap_or(u64::MAX))
    }

    #[inline]
    fn time(self, bytes: u64) -> i64 {
        let exact = (u128::from(self.0) * u128::from(bytes)) >> 32;
        i64::try_from(exact).unwrap_or(i64::MAX)
    }
}

/// Classes that take turns: those that one lender feeds, or the green ones of a level.
#[derive(Clone, Debug, Default)]
struct Turns {
    active: BTreeSet<u32>,
    /// Whose turn it is: the first active one from this number on; none begins with the first of all.
    at: Option<u32>,
}

impl Turns {
    fn current(&self) -> Option<u32> {
        self.at.and_then(|at| self.active.range(at..).next().copied())
    }

    /// The turn goes to the next one behind the one that has it.
    fn advance(&mut self) {
        if let Some(current) = self.current() {
            self.at = self.active.range(current + 1..).next().copied();
        }
    }
}

/// A class at work.
#[derive(Clone, Debug)]
struct Node {
    parent: Option<u32>,
    /// 0 for a leaf; an inner class is one below its parent, from 7 at the top.
    level: u8,
    prio: u8,
    rate: PerByte,
    ceil: PerByte,
    /// Depths of the buckets, ns.
    buffer: i64,
    cbuffer: i64,
    quantum: i64,
    tokens: i64,
    ctokens: i64,
    /// When the tokens were counted last.
    counted: i64,
    mode: Mode,
    /// When it changes its colour by itself; meaningless for a green one.
    due: i64,
    /// Since when it has its colour.
    since: i64,
    /// Bit per priority at which it, or one below it, wants to send.
    activity: u8,
    stats: ClassStats,
    place: Place,
}

#[derive(Clone, Debug)]
enum Place {
    Leaf {
        queue: u32,
        deficit: [i64; MOST_LEVELS],
    },
    /// By priority.
    Inner {
        feeds: Box<[Turns]>,
    },
}

#[derive(Debug)]
struct LeafQueue {
    leaf: Leaf,
    queue: Option<Box<Qdisc>>,
}

#[derive(Debug, Default)]
struct Level {
    rows: Vec<Turns>,
    row_mask: u8,
    /// Classes that change their colour by themselves, by when.
    waiting: BTreeSet<(i64, u32)>,
}

/// A tree of classes with queues at its leaves.
#[derive(Debug)]
pub struct Htb {
    nodes: Vec<Node>,
    leaves: Vec<LeafQueue>,
    levels: [Level; MOST_LEVELS],
    direct: VecDeque<Packet>,
    stats: Stats,
    dropped: Vec<(Packet, DropReason)>,
    /// Class of each of these.
    dropped_of: Vec<Option<u32>>,
    sorted: Option<Sorted>,
    /// Class of the packet that left last.
    served: Option<u32>,
    now: i64,
    next: Option<Time>,
}

impl Htb {
    /// A tree of `classes`, each behind its parent; a class is named by its place in the list.
    ///
    /// # Errors
    /// A parent that is not listed before, or has a queue; a ceiling below the rate; a burst of nothing; more than 8
    /// levels; an inner class without anything below it; a queue that cannot be.
    pub fn of(classes: &[Class]) -> Result<Htb, HtbError> {
        let priorities =
            classes.iter().filter(|class| class.leaf.is_some()).map(|class| class.prio.min(PRIORITIES - 1) + 1).max();
        let priorities = usize::from(priorities.unwrap_or(1));
        let mut tree = Htb {
            nodes: Vec::with_capacity(classes.len()),
            leaves: Vec::new(),
            levels: Default::default(),
            direct: VecDeque::new(),
            stats: Stats::default(),
            dropped: Vec::new(),
            dropped_of: Vec::new(),
            sorted: None,
            served: None,
            now: 0,
            next: None,
        };
        for level in &mut tree.levels {
            level.rows = vec![Turns::default(); priorities];
        }
        let mut kinds: Vec<&Arc<Written>> = Vec::new();
        for (index, class) in classes.iter().enumerate() {
            let refuse = |bound| Err(HtbError::Class(index, bound));
            let above = match class.parent.map(|parent| tree.nodes.get(parent as usize)) {
                None => MOST_LEVELS as u8,
                Some(Some(node)) if node.level > 0 => node.level,
                Some(Some(_)) => return refuse("in a class without a queue"),
                Some(None) => return refuse("behind the class it is in"),
            };
            if class.ceil < class.rate {
                return refuse("of a ceil of at least its rate");
            }
            if class.burst == Some(0) || class.cburst == Some(0) || class.quantum == Some(0) {
                return refuse("of a burst, cburst and quantum of at least 1 byte");
            }
            if class.prio >= PRIORITIES {
                return refuse("of a prio from 0 to 7");
            }
            let (level, place) = match &class.leaf {
                None if above < 2 => return refuse("at most the seventh of classes in each other"),
                None => (above - 1, Place::Inner { feeds: vec![Turns::default(); priorities].into() }),
                Some(leaf) => {
                    let known = kinds.iter().any(|kind| Arc::ptr_eq(kind, &leaf.discipline));
                    if !known || matches!(leaf.limit, Limit::Packets(0) | Limit::Bytes(0)) {
                        let (id, options) = &*leaf.discipline;
                        Qdisc::from_options(id, options, leaf.limit, leaf.rng.clone())
                            .map_err(|error| HtbError::Leaf(index, error))?;
                        kinds.push(&leaf.discipline);
                    }
                    let queue = tree.leaves.len() as u32;
                    tree.leaves.push(LeafQueue { leaf: leaf.clone(), queue: None });
                    (0, Place::Leaf { queue, deficit: [0; MOST_LEVELS] })
                }
            };
            let (rate, ceil) = (PerByte::of(class.rate), PerByte::of(class.ceil));
            let buffer = rate.time(class.burst.unwrap_or_else(|| default_burst(class.rate)));
            let cbuffer = ceil.time(class.cburst.unwrap_or_else(|| default_burst(class.ceil)));
            let own = (class.rate.bps() / 8 / RATE_TO_QUANTUM).clamp(QUANTUM.0, QUANTUM.1);
            tree.nodes.push(Node {
                parent: class.parent,
                level,
                prio: class.prio,
                rate,
                ceil,
                buffer,
                cbuffer,
                quantum: class.quantum.map_or(own, u64::from) as i64,
                tokens: buffer,
                ctokens: cbuffer,
                counted: 0,
                mode: Mode::Green,
                due: 0,
                since: 0,
                activity: 0,
                stats: ClassStats::default(),
                place,
            });
        }
        Ok(tree)
    }

    /// Takes a packet that class `leaf` has, or that none has, at time `now`; what had to go is in [`Htb::dropped`] until
    /// the next call. Packets that no class has pass by the tree at once.
    ///
    /// # Panics
    /// When `leaf` is no leaf.
    pub fn enqueue(&mut self, leaf: Option<u32>, packet: Packet, now: Time) {
        self.dropped.clear();
        self.dropped_of.clear();
        self.sorted = None;
        let Some(class) = leaf else { return self.enqueue_direct(packet, now) };
        let Place::Leaf { queue, .. } = self.nodes[class as usize].place else { panic!("class {class} is no leaf") };
        let LeafQueue { leaf, queue } = &mut self.leaves[queue as usize];
        let queue = queue.get_or_insert_with(|| {
            let (id, options) = &*leaf.discipline;
            // Tried when the tree was made.
            let made = Qdisc::from_options(id, options, leaf.limit, leaf.rng.clone());
            Box::new(made.expect("the options were taken before"))
        });
        let before = *queue.stats();
        queue.enqueue(packet, now);
        self.stats.add_since(&before, queue.stats());
        self.dropped.extend_from_slice(queue.dropped());
        self.dropped_of.resize(self.dropped.len(), Some(class));
        self.sorted = queue.sorted();
        if queue.backlog() > 0 {
            self.activate(class);
        }
    }

    fn enqueue_direct(&mut self, mut packet: Packet, now: Time) {
        packet.arrival = now;
        let len = u64::from(packet.len);
        self.stats.received += 1;
        self.stats.received_bytes += len;
        if self.direct.len() < DIRECT_PACKETS {
            self.stats.enqueued += 1;
            self.stats.enqueued_bytes += len;
            self.direct.push_back(packet);
        } else {
            self.stats.dropped_before += 1;
            self.stats.dropped_before_bytes += len;
            self.dropped.push((packet, DropReason::Full));
            self.dropped_of.push(None);
        }
    }

    /// Hands out the next packet to send at time `now`; packets that a queue dropped instead are in [`Htb::dropped`].
    pub fn dequeue(&mut self, now: Time) -> Option<Packet> {
        self.dropped.clear();
        self.dropped_of.clear();
        self.served = None;
        self.next = None;
        if let Some(packet) = self.direct.pop_front() {
            self.stats.dequeued += 1;
            self.stats.dequeued_bytes += u64::from(packet.len);
            self.next = Some(now);
            return Some(packet);
        }
        if self.stats.backlog() == 0 {
            return None;
        }
        self.now = now.0 as i64;
        let (mut next, mut held) = (i64::MAX, None);
        for level in 0..MOST_LEVELS {
            if let Some(event) = self.do_events(level) {
                next = next.min(event);
            }
            let mut mask = self.levels[level].row_mask;
            while mask > 0 {
                let prio = mask.trailing_zeros() as usize;
                mask &= mask - 1;
                if let Some(packet) = self.dequeue_tree(prio, level, &mut held) {
                    self.next = self.next_chance(now);
                    return Some(packet);
                }
            }
        }
        let event = (next < i64::MAX).then_some(Time(next as u64));
        self.next = [event, held].into_iter().flatten().min();
        None
    }

    /// When a class may send next: now where one may, else when the first one changes its colour.
    fn next_chance(&self, now: Time) -> Option<Time> {
        if self.levels.iter().any(|level| level.row_mask > 0) {
            return Some(now);
        }
        let events = self.levels.iter().filter_map(|level| level.waiting.first());
        events.map(|&(due, _)| Time(due as u64).max(now)).min()
    }

    /// Packets dropped by the last call, the arriving one included.
    #[inline]
    pub fn dropped(&self) -> &[(Packet, DropReason)] {
        &self.dropped
    }

    /// Class of the packet at `index` of [`Htb::dropped`]; none of one that no class has.
    pub fn dropped_of(&self, index: usize) -> Option<u32> {
        self.dropped_of[index]
    }

    /// How the last packet handed to `enqueue` was sorted by the queue of its leaf.
    #[inline]
    pub fn sorted(&self) -> Option<Sorted> {
        self.sorted
    }

    /// Class of the packet that the last `dequeue` gave; none for one that no class has.
    #[inline]
    pub fn served(&self) -> Option<u32> {
        self.served
    }

    /// When `dequeue` is to be called again: at once where some class may still send.
    #[inline]
    pub fn poll_at(&self) -> Option<Time> {
        self.next
    }

    /// Counters of all queues together.
    #[inline]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Counters of class `class` up to `now`.
    pub fn class_stats(&self, class: u32, now: Time) -> ClassStats {
        let node = &self.nodes[class as usize];
        let mut stats = node.stats;
        let spent = Time(((now.0 as i64).min(node.due) - node.since).max(0) as u64);
        match node.mode {
            Mode::Green => {}
            Mode::Yellow => stats.yellow += spent,
            Mode::Red => stats.red += spent,
        }
        stats
    }

    /// Counters of the queue of class `class`; none for an inner class.
    pub fn queue_stats(&self, class: u32) -> Option<Stats> {
        let Place::Leaf { queue, .. } = self.nodes[class as usize].place else { return None };
        Some(self.leaves[queue as usize].queue.as_ref().map_or_else(Stats::default, |queue| *queue.stats()))
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no class.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Queues that were made, for leaves that had a packet.
    pub fn queues_made(&self) -> usize {
        self.leaves.iter().filter(|leaf| leaf.queue.is_some()).count()
    }

    /// A leaf that was idle wants to send (`htb_activate`).
    fn activate(&mut self, class: u32) {
        let node = &mut self.nodes[class as usize];
        if node.activity == 0 {
            node.activity = 1 << node.prio;
            self.activate_prios(class);
        }
    }

    /// A leaf has nothing to send any more (`htb_deactivate`).
    fn deactivate(&mut self, class: u32) {
        if self.nodes[class as usize].activity != 0 {
            self.deactivate_prios(class);
            self.nodes[class as usize].activity = 0;
        }
    }

    /// Joins a class to the feeds of those it borrows from, up to one that is green, which joins the row of its level.
    fn activate_prios(&mut self, mut class: u32) {
        let mut mask = self.nodes[class as usize].activity;
        while let (Mode::Yellow, Some(parent), 1..) =
            (self.nodes[class as usize].mode, self.nodes[class as usize].parent, mask)
        {
            let above = &mut self.nodes[parent as usize];
            let Place::Inner { feeds } = &mut above.place else { return };
            for prio in bits(mask) {
                if !feeds[prio].active.is_empty() {
                    // The parent is fed at this priority already, and so are those above it.
                    mask &= !(1 << prio);
                }
                feeds[prio].active.insert(class);
            }
            above.activity |= mask;
            class = parent;
        }
        let node = &self.nodes[class as usize];
        if node.mode == Mode::Green && mask > 0 {
            let level = &mut self.levels[usize::from(node.level)];
            level.row_mask |= mask;
            bits(mask).for_each(|prio| _ = level.rows[prio].active.insert(class));
        }
    }

    /// Takes a class, whose colour is still what it was, off all feeds and rows.
    fn deactivate_prios(&mut self, mut class: u32) {
        let mut mask = self.nodes[class as usize].activity;
        while let (Mode::Yellow, Some(parent), 1..) =
            (self.nodes[class as usize].mode, self.nodes[class as usize].parent, mask)
        {
            let above = &mut self.nodes[parent as usize];
            let Place::Inner { feeds } = &mut above.place else { return };
            let mut empty = 0;
            for prio in bits(mask) {
                // The turn stays at its number: it goes to the next one that is there when it is asked for.
                feeds[prio].active.remove(&class);
                empty |= u8::from(feeds[prio].active.is_empty()) << prio;
            }
            above.activity &= !empty;
            mask = empty;
            class = parent;
        }
        let node = &self.nodes[class as usize];
        if node.mode == Mode::Green && mask > 0 {
            let level = &mut self.levels[usize::from(node.level)];
            for prio in bits(mask) {
                let row = &mut level.rows[prio];
                if row.current() == Some(class) {
                    row.advance();
                }
                row.active.remove(&class);
                level.row_mask &= !(u8::from(row.active.is_empty()) << prio);
            }
        }
    }

    /// Colour of a class `diff` after its tokens were counted, and in how long it changes.
    fn mode_after(node: &Node, diff: i64) -> (Mode, i64) {
        let (ctokens, tokens) = (node.ctokens + diff, node.tokens + diff);
        match () {
            () if ctokens < 0 => (Mode::Red, -ctokens),
            () if tokens >= 0 => (Mode::Green, 0),
            () => (Mode::Yellow, -tokens),
        }
    }

    /// Gives a class the colour it has `diff` after its tokens were counted; returns in how long it changes. The old
    /// colour ended at `until`.
    fn change_mode(&mut self, class: u32, diff: i64, until: i64) -> i64 {
        let node = &mut self.nodes[class as usize];
        let (mode, wait) = Htb::mode_after(node, diff);
        if mode == node.mode {
            return wait;
        }
        let spent = Time((until - node.since).max(0) as u64);
        match node.mode {
            Mode::Green => {}
            Mode::Yellow => node.stats.yellow += spent,
            Mode::Red => node.stats.red += spent,
        }
        node.since = until;
        node.stats.overlimits += u64::from(mode == Mode::Red);
        if node.activity == 0 {
            node.mode = mode;
            return wait;
        }
        if node.mode != Mode::Red {
            self.deactivate_prios(class);
        }
        self.nodes[class as usize].mode = mode;
        if mode != Mode::Red {
            self.activate_prios(class);
        }
        wait
    }

    /// Has a class changed `wait` from now.
    fn wait(&mut self, class: u32, wait: i64) {
        let node = &mut self.nodes[class as usize];
        node.due = self.now + wait.max(1);
        self.levels[usize::from(node.level)].waiting.insert((node.due, class));
    }

    /// Changes the classes of a level that are due; returns when the next one is.
    fn do_events(&mut self, level: usize) -> Option<i64> {
        loop {
            let &(due, class) = self.levels[level].waiting.first()?;
            if due > self.now {
                return Some(due);
            }
            self.levels[level].waiting.pop_first();
            let diff = (self.now - self.nodes[class as usize].counted).min(MOST_WAIT);
            let wait = self.change_mode(class, diff, due);
            if self.nodes[class as usize].mode != Mode::Green {
                self.wait(class, wait);
            }
        }
    }

    /// The leaf whose turn it is in the row of a level (`htb_lookup_leaf`).
    fn lookup_leaf(&mut self, prio: usize, level: usize) -> Option<u32> {
        if self.levels[level].rows[prio].active.is_empty() {
            return None;
        }
        // The row, then the feeds of the classes whose turn it is, down to a leaf.
        let mut path: [Option<u32>; MOST_LEVELS] = [None; MOST_LEVELS];
        let mut depth = 0;
        loop {
            let turns = self.turns(path[depth], prio, level);
            match turns.current() {
                Some(class) => {
                    turns.at = Some(class);
                    if self.nodes[class as usize].level == 0 {
                        return Some(class);
                    }
                    depth += 1;
                    path[depth] = Some(class);
                }
                None => {
                    // All have had their turn: it begins anew, and goes on one level up.
                    turns.at = turns.active.first().copied();
                    if depth > 0 {
                        depth -= 1;
                        self.turns(path[depth], prio, level).advance();
                    }
                }
            }
        }
    }

    /// Turns of the classes that `lender` feeds, or of the row of a level.
    fn turns(&mut self, lender: Option<u32>, prio: usize, level: usize) -> &mut Turns {
        match lender {
            None => &mut self.levels[level].rows[prio],
            Some(class) => match &mut self.nodes[class as usize].place {
                Place::Inner { feeds } => &mut feeds[prio],
                Place::Leaf { .. } => unreachable!("leaves feed nobody"),
            },
        }
    }

    /// Gives the turn of `leaf`, served at `level`, to the next one.
    fn advance(&mut self, leaf: u32, prio: usize, level: usize) {
        let lender = if level > 0 { self.nodes[leaf as usize].parent } else { None };
        self.turns(lender, prio, level).advance();
    }

    /// A packet of a leaf in the row of a level; `held` is when a queue that holds packets back wants to be asked again.
    fn dequeue_tree(&mut self, prio: usize, level: usize, held: &mut Option<Time>) -> Option<Packet> {
        let mut start = self.lookup_leaf(prio, level)?;
        let mut class = start;
        loop {
            let Place::Leaf { queue, .. } = self.nodes[class as usize].place else { return None };
            let queue = self.leaves[queue as usize].queue.as_mut().filter(|queue| queue.backlog() > 0);
            let Some(queue) = queue else {
                self.deactivate(class);
                let next = self.lookup_leaf(prio, level)?;
                if class == start {
                    start = next;
                }
                class = next;
                continue;
            };
            let before = *queue.stats();
            let packet = queue.dequeue(Time(self.now as u64));
            self.stats.add_since(&before, queue.stats());
            self.dropped.extend_from_slice(queue.dropped());
            self.dropped_of.resize(self.dropped.len(), Some(class));
            let (idle, again) = (queue.backlog() == 0, queue.poll_at());
            if let Some(packet) = packet {
                self.sent(class, prio, level, &packet, idle);
                return Some(packet);
            }
            if idle {
                // What waited was dropped: the leaf is taken out above.
                continue;
            }
            *held = [*held, again].into_iter().flatten().min();
            self.advance(class, prio, level);
            class = self.lookup_leaf(prio, level)?;
            if class == start {
                return None;
            }
        }
    }

    fn sent(&mut self, class: u32, prio: usize, level: usize, packet: &Packet, idle: bool) {
        let node = &mut self.nodes[class as usize];
        if let Place::Leaf { deficit, .. } = &mut node.place {
            deficit[level] -= i64::from(packet.len);
            if deficit[level] < 0 {
                deficit[level] += node.quantum;
                self.advance(class, prio, level);
            }
        }
        if idle {
            self.deactivate(class);
        }
        self.served = Some(class);
        self.charge(class, level, u64::from(packet.len));
    }

    /// Charges a packet to a leaf and its ancestors, the lender at `level` (`htb_charge_class`).
    fn charge(&mut self, leaf: u32, level: usize, bytes: u64) {
        let mut class = Some(leaf);
        while let Some(index) = class {
            let now = self.now;
            let node = &mut self.nodes[index as usize];
            let diff = (now - node.counted).min(MOST_WAIT);
            if usize::from(node.level) >= level {
                node.stats.lends += u64::from(usize::from(node.level) == level);
                node.tokens = left(node.tokens + diff, node.buffer, node.rate.time(bytes));
            } else {
                node.stats.borrows += 1;
                node.tokens += diff;
            }
            node.ctokens = left(node.ctokens + diff, node.cbuffer, node.ceil.time(bytes));
            node.counted = now;
            node.stats.packets += 1;
            node.stats.bytes += bytes;
            let (before, due, own) = (node.mode, node.due, usize::from(node.level));
            class = node.parent;
            let until = if before == Mode::Green { now } else { now.min(due) };
            let wait = self.change_mode(index, 0, until);
            let after = self.nodes[index as usize].mode;
            if before != after {
                if before != Mode::Green {
                    self.levels[own].waiting.remove(&(due, index));
                }
                if after != Mode::Green {
                    self.wait(index, wait);
                }
            }
        }
    }
}

/// Tokens that a packet of `cost` leaves of `tokens`, of which a bucket of `depth` holds so many.
#[inline]
fn left(tokens: i64, depth: i64, cost: i64) -> i64 {
    (tokens.min(depth).saturating_sub(cost)).max(1 - MOST_WAIT)
}

/// The bits that are set, lowest first.
fn bits(mut mask: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (mask > 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        bit
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_queue::packet;

    const MBIT: u64 = 1_000_000;
    const SECOND: u64 = 1_000_000_000;

    fn rate(mbit: u64) -> BitRate {
        BitRate::from_bps(mbit * MBIT).expect("above 0")
    }

    fn inner(parent: Option<u32>, assured: u64, ceil: u64) -> Class {
        let (rate, ceil) = (rate(assured), rate(ceil));
        Class { parent, rate, ceil, burst: None, cburst: None, quantum: None, prio: 0, leaf: None }
    }

    fn leaf(parent: Option<u32>, assured: u64, ceil: u64) -> Class {
        let discipline = Arc::new(("fifo".to_owned(), Vec::new()));
        let leaf = Leaf { discipline, limit: Limit::Packets(1000), rng: Stream::named(1, "leaf") };
        Class { leaf: Some(leaf), ..inner(parent, assured, ceil) }
    }

    /// Bytes that each class sends until `end` while `busy` always have packets, and when each packet of theirs left.
    fn saturated(classes: &[Class], busy: &[u32], end: u64) -> (Vec<u64>, Vec<(u64, u32)>) {
        let mut tree = Htb::of(classes).expect("a tree");
        let (mut now, mut handle) = (0, 0);
        for &class in busy.iter().cycle().take(20 * busy.len()) {
            tree.enqueue(Some(class), packet(u64::from(class) * 2, handle), Time(now));
            handle += 1;
        }
        let mut left = Vec::new();
        while now < end {
            match tree.dequeue(Time(now)) {
                Some(sent) => {
                    let class = tree.served().expect("of a class");
                    left.push((now, class));
                    tree.enqueue(Some(class), Packet { handle, ..sent }, Time(now));
                    handle += 1;
                }
                None => now = tree.poll_at().expect("packets wait").0.min(end),
            }
        }
        let bytes = (0..classes.len() as u32).map(|class| tree.class_stats(class, Time(end)).bytes).collect();
        (bytes, left)
    }

    /// Mbit/s of `bytes` in `seconds`.
    fn mbit(bytes: u64, seconds: u64) -> f64 {
        bytes as f64 * 8.0 / (seconds * MBIT) as f64
    }

    #[test]
    fn what_is_left_is_shared_by_quantum_and_what_is_assured_is_sent() {
        // 10 Mbit/s: 2 and 3 assured, 5 left, which turns of 1 : 4 share.
        let mut classes = [inner(None, 10, 10), leaf(Some(0), 2, 10), leaf(Some(0), 3, 10)];
        (classes[1].quantum, classes[2].quantum) = (Some(1500), Some(6000));
        let (bytes, _) = saturated(&classes, &[1, 2], 10 * SECOND);
        let told = bytes.map_mbit(10);
        // A burst and a turn more or less in 10 s: 10 kB, 0.008 Mbit/s.
        for (told, expected) in told.iter().zip([10.0, 3.0, 7.0]) {
            assert!((told - expected).abs() < 0.01, "{told:?} Mbit/s");
        }
        assert_eq!(bytes[0], bytes[1] + bytes[2]);
    }

    trait MapMbit {
        fn map_mbit(&self, seconds: u64) -> Vec<f64>;
    }

    impl MapMbit for Vec<u64> {
        fn map_mbit(&self, seconds: u64) -> Vec<f64> {
            self.iter().map(|&bytes| mbit(bytes, seconds)).collect()
        }
    }

    #[test]
    fn an_idle_sibling_lends_up_to_the_ceiling() {
        let classes = [inner(None, 10, 10), leaf(Some(0), 2, 8), leaf(Some(0), 8, 10)];
        let (bytes, _) = saturated(&classes, &[1], 10 * SECOND);
        assert!((mbit(bytes[1], 10) - 8.0).abs() < 0.01, "{bytes:?}");
    }

    #[test]
    fn what_is_assured_is_sent_whatever_the_parent_has() {
        // More is promised than the parent has: Linux sends it, and the parent stays red.
        let classes = [inner(None, 4, 4), leaf(Some(0), 3, 3), leaf(Some(0), 3, 3)];
        let (bytes, _) = saturated(&classes, &[1, 2], 10 * SECOND);
        for class in [1, 2] {
            assert!((mbit(bytes[class], 10) - 3.0).abs() < 0.01, "{bytes:?}");
        }
    }

    #[test]
    fn lower_priorities_borrow_what_the_others_leave() {
        let mut classes = [inner(None, 10, 10), leaf(Some(0), 1, 10), leaf(Some(0), 1, 10), leaf(Some(0), 1, 6)];
        (classes[1].prio, classes[2].prio, classes[3].prio) = (1, 1, 0);
        let (bytes, _) = saturated(&classes, &[1, 2, 3], 10 * SECOND);
        for (class, expected) in [(1, 2.0), (2, 2.0), (3, 6.0)] {
            assert!((mbit(bytes[class], 10) - expected).abs() < 0.02, "{bytes:?}");
        }
    }

    #[test]
    fn a_tree_of_three_levels_fills_its_root_and_no_ceiling_is_exceeded() {
        let classes = [
            inner(None, 20, 20),
            inner(Some(0), 12, 12),
            inner(Some(0), 12, 12),
            leaf(Some(1), 1, 10),
            leaf(Some(1), 1, 10),
            leaf(Some(2), 1, 5),
            leaf(Some(2), 1, 3),
        ];
        let (bytes, left) = saturated(&classes, &[3, 4, 5, 6], 5 * SECOND);
        assert!((mbit(bytes[0], 5) - 20.0).abs() < 0.02, "{bytes:?}");
        for (class, expected) in [(1, 12.0), (2, 8.0), (3, 6.0), (4, 6.0), (5, 5.0), (6, 3.0)] {
            // A turn is a tenth of a second at 1 Mbit/s: one of them, a packet, and what the bucket above held at first.
            let bound = mbit(12_500 + 1500 + 1600 + 1500, 5);
            assert!((mbit(bytes[class], 5) - expected).abs() <= bound, "class {class}: {bytes:?}");
        }
        // A bucket of ceiling tokens lets a packet go while it is not below zero: at most its depth and that packet more
        // than the ceiling in any time.
        let depth = default_burst(rate(10)) + 1500;
        let times: Vec<u64> = left.iter().filter(|(_, class)| *class == 3).map(|&(at, _)| at).collect();
        for (first, &from) in times.iter().enumerate() {
            for (last, &to) in times.iter().enumerate().skip(first) {
                let (sent, allowed) = ((last - first + 1) as u64 * 1500, (to - from) * 10 / 8000 + depth);
                assert!(sent <= allowed, "{sent} bytes from {from} to {to} ns: {allowed} allowed");
            }
        }
    }

    #[test]
    fn packets_of_no_class_pass_at_once_and_idle_leaves_have_no_queue() {
        let mut tree = Htb::of(&[inner(None, 1, 1), leaf(Some(0), 1, 1), leaf(Some(0), 1, 1)]).expect("a tree");
        for handle in 0..5 {
            tree.enqueue(Some(1), packet(2, handle), Time::ZERO);
        }
        tree.enqueue(None, packet(4, 9), Time::ZERO);
        assert_eq!(tree.dequeue(Time::ZERO).map(|packet| packet.handle), Some(9));
        assert_eq!((tree.served(), tree.queues_made()), (None, 1));
        assert_eq!(tree.dequeue(Time::ZERO).map(|packet| packet.handle), Some(0));
        assert_eq!(tree.stats().backlog(), 4);
    }

    #[test]
    fn times_of_colours_add_up() {
        // 1500 bytes at 1 Mbit/s take 12 ms, the burst of 1600 bytes lets two go: then it is red all the time.
        let classes = [leaf(None, 1, 1)];
        let mut tree = Htb::of(&classes).expect("a tree");
        (0..100).for_each(|handle| tree.enqueue(Some(0), packet(2, handle), Time::ZERO));
        let mut now = Time::ZERO;
        while tree.stats().backlog() > 0 {
            match tree.dequeue(now) {
                Some(_) => {}
                None => now = tree.poll_at().expect("packets wait"),
            }
        }
        let stats = tree.class_stats(0, Time(10 * SECOND));
        // All bytes but those of the bucket at the beginning, at 1 Mbit/s.
        assert_eq!((stats.packets, stats.lends, stats.borrows), (100, 100, 0));
        assert_eq!(stats.red, Time((100 * 1500 - 1600) * 8000));
        assert_eq!(stats.yellow, Time::ZERO);
    }

    #[test]
    fn what_makes_no_tree_is_refused() {
        let refused = |classes: &[Class]| Htb::of(classes).map(|_| ()).expect_err("refused").to_string();
        assert_eq!(refused(&[leaf(Some(0), 1, 1)]), "class 0 of the tree: must be behind the class it is in");
        assert_eq!(
            refused(&[leaf(None, 1, 1), leaf(Some(0), 1, 1)]),
            "class 1 of the tree: must be in a class without a queue"
        );
        assert_eq!(refused(&[leaf(None, 2, 1)]), "class 0 of the tree: must be of a ceil of at least its rate");
        let mut deep: Vec<Class> = (0..8_u32).map(|depth| inner(depth.checked_sub(1), 1, 1)).collect();
        assert_eq!(refused(&deep), "class 7 of the tree: must be at most the seventh of classes in each other");
        deep.truncate(7);
        deep.push(leaf(Some(6), 1, 1));
        assert!(Htb::of(&deep).is_ok());
        let unknown = Arc::new(("nothing".to_owned(), Vec::new()));
        let mut one = leaf(None, 1, 1);
        one.leaf.as_mut().expect("a leaf").discipline = unknown;
        assert!(refused(&[one]).starts_with("class 0 of the tree: unknown discipline 'nothing'"));
    }
}
