//! Silences of a busy capture: all traffic stops at once and goes on as before.
//!
//! Users and their applications pause at times of their own. Where packets pass all the time, and then none of anybody for a
//! second or more, something stopped all of them: the capture was interrupted, its clock jumped, or the link was down. A silence
//! counts where
//!
//! - it lasts for [`LEAST_NS`] or more: a timeout of TCP that was doubled is shorter than that on most paths;
//! - for [`AROUND`] times as long before it and after it no other silence is longer than one part in [`QUIETER`] of it, as far
//!   as the capture reaches, which is [`AT_LEAST`] times at least: the times between packets have no heavy tail there;
//! - [`LEAST_PAIRS`] pairs of hosts or more sent packets shortly before it and shortly after it: what they did is not over.
//!
//! One host that waits for one server fulfils the second, a user who reads the first; several hosts that pause together
//! fulfil all three only by chance: `tests/stops.rs` has how often in the captures at hand. Cost per packet: one word of a table
//! of [`PLACES`], and what silences of a tenth of a second cost.

use crate::decode::segment::Segment;
use std::net::IpAddr;

/// Shortest silence that counts.
const LEAST_NS: i64 = 1_000_000_000;
/// How long before and after a silence there is no other, in times of its length ...
const AROUND: i64 = 10;
/// ... and how much of that must be in the capture.
const AT_LEAST: i64 = 5;
/// Another silence is shorter by this factor, at least.
const QUIETER: i64 = 10;
/// Pairs of hosts that were under way.
const LEAST_PAIRS: usize = 4;
/// Pairs of hosts that are remembered, by hash: a power of 2.
const PLACES: usize = 256;
/// Silences that wait for what comes after them.
const MOST_WAITING: usize = 64;

/// A silence in which traffic that was under way stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stop {
    /// Last packet before it, nanoseconds since 1970.
    pub from_ns: i64,
    /// How long nothing passed, nanoseconds.
    pub lasted_ns: i64,
    /// Pairs of hosts that sent packets before and after it, as far as their hashes differ.
    pub pairs: u64,
}

/// A silence that is over, while it is not known what comes after it.
struct Waiting {
    stop: Stop,
    /// Pairs of hosts that were under way before, by place; 0 where there was none, or it has been seen again.
    before: Vec<u64>,
}

/// Finds silences while packets are read in the order of time.
pub(crate) struct Stops {
    first_ns: i64,
    last_ns: Option<i64>,
    /// Ends and lengths of silences, each longer than all later ones.
    silences: Vec<(i64, i64)>,
    /// Pair of hosts and latest packet, by place.
    recent: Vec<(u64, i64)>,
    waiting: Vec<Waiting>,
    found: Vec<Stop>,
}

fn hash_of(segment: &Segment) -> u64 {
    let number = |address: IpAddr| match address {
        IpAddr::V4(address) => u64::from(address.to_bits()) + 1,
        IpAddr::V6(address) => (address.to_bits() >> 64) as u64 ^ address.to_bits() as u64,
    };
    let [one, two] = [segment.source.address, segment.destination.address].map(number);
    // The same of both directions.
    let pair = one.wrapping_add(two) ^ (one ^ two).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    pair.wrapping_mul(0x9e37_79b9_7f4a_7c15).max(1)
}

impl Stops {
    pub(crate) fn new() -> Self {
        Stops {
            first_ns: 0,
            last_ns: None,
            silences: Vec::new(),
            recent: vec![(0, 0); PLACES],
            waiting: Vec::new(),
            found: Vec::new(),
        }
    }

    /// A packet that is taken.
    #[inline]
    pub(crate) fn see(&mut self, time_ns: i64, segment: &Segment) {
        let pair = hash_of(segment);
        let place = (pair >> (u64::BITS - PLACES.ilog2())) as usize;
        match self.last_ns {
            None => (self.first_ns, self.last_ns) = (time_ns, Some(time_ns)),
            Some(last_ns) => {
                let silence_ns = time_ns.saturating_sub(last_ns);
                if silence_ns >= LEAST_NS / QUIETER {
                    self.over(last_ns, time_ns, silence_ns);
                }
                self.last_ns = Some(last_ns.max(time_ns));
            }
        }
        for waiting in &mut self.waiting {
            let ends_ns = waiting.stop.from_ns.saturating_add(waiting.stop.lasted_ns);
            if waiting.before[place] == pair && time_ns.saturating_sub(ends_ns) <= waiting.stop.lasted_ns {
                waiting.before[place] = 0;
                waiting.stop.pairs += 1;
            }
        }
        self.recent[place] = (pair, time_ns);
    }

    /// Silences in the order of time that stopped what was under way.
    pub(crate) fn end(mut self) -> Vec<Stop> {
        let last_ns = self.last_ns.unwrap_or(self.first_ns);
        let reaches = |one: &Waiting| last_ns.saturating_sub(end_of(&one.stop)) / AT_LEAST >= one.stop.lasted_ns;
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_iter().filter(reaches).for_each(|one| self.confirm(one));
        self.found.sort_unstable_by_key(|stop| stop.from_ns);
        self.found
    }

    #[cold]
    #[inline(never)]
    fn over(&mut self, from_ns: i64, time_ns: i64, silence_ns: i64) {
        // What waits is confirmed, or was no stop since another silence followed.
        let mut left = Vec::new();
        for one in std::mem::take(&mut self.waiting) {
            let later = from_ns.saturating_sub(end_of(&one.stop)) / AROUND >= one.stop.lasted_ns;
            match (later, silence_ns > one.stop.lasted_ns / QUIETER) {
                (true, _) => self.confirm(one),
                (false, false) => left.push(one),
                (false, true) => {}
            }
        }
        self.waiting = left;
        if silence_ns >= LEAST_NS && self.is_alone(from_ns, silence_ns) && self.waiting.len() < MOST_WAITING {
            let since_ns = from_ns.saturating_sub(silence_ns);
            let before = self.recent.iter().map(|&(pair, at_ns)| if at_ns >= since_ns { pair } else { 0 }).collect();
            self.waiting.push(Waiting { stop: Stop { from_ns, lasted_ns: silence_ns, pairs: 0 }, before });
        }
        while self.silences.last().is_some_and(|&(_, shorter)| shorter <= silence_ns) {
            self.silences.pop();
        }
        self.silences.push((time_ns, silence_ns));
    }

    /// Whether all silences for long before one are far shorter.
    fn is_alone(&self, from_ns: i64, silence_ns: i64) -> bool {
        let since_ns = from_ns.saturating_sub(silence_ns.saturating_mul(AROUND));
        let longest = self.silences.iter().find(|&&(ends_ns, _)| ends_ns > since_ns).map_or(0, |&(_, longest)| longest);
        from_ns.saturating_sub(self.first_ns) / AT_LEAST >= silence_ns && longest <= silence_ns / QUIETER
    }

    fn confirm(&mut self, one: Waiting) {
        if one.stop.pairs >= LEAST_PAIRS as u64 {
            self.found.push(one.stop);
        }
    }
}

fn end_of(stop: &Stop) -> i64 {
    stop.from_ns.saturating_add(stop.lasted_ns)
}
