//! Which station's queue an access point with a queue per station serves next.
//!
//! Principle of airtime fairness: deficit round robin over time on the air. A station whose queue fills goes to the
//! head of the row and keeps its deficit, so that one that uses little is served at once, and one that has used more
//! than its share goes to the back (Høiland-Jørgensen et al. 2017, Algorithm 3; Linux mac80211). O(1) per packet.

use std::collections::VecDeque;

use units::Time;

#[derive(Debug)]
pub(crate) struct Bank {
    /// Time on the air that a round adds; none for plain round robin.
    quantum: Option<i64>,
    row: VecDeque<u32>,
    listed: Vec<bool>,
    deficits: Vec<i64>,
}

impl Bank {
    pub(crate) fn of(stations: usize, quantum: Option<Time>) -> Bank {
        let quantum = quantum.map(|time| i64::try_from(time.0).unwrap_or(i64::MAX / 2));
        Bank {
            quantum,
            row: VecDeque::new(),
            listed: vec![false; stations],
            deficits: vec![quantum.unwrap_or(0); stations],
        }
    }

    /// A packet for `station` has arrived.
    pub(crate) fn arrived(&mut self, station: usize) {
        if !self.listed[station] {
            self.listed[station] = true;
            if self.quantum.is_some() {
                self.row.push_front(station as u32)
            } else {
                self.row.push_back(station as u32)
            }
        }
    }

    /// The station to serve next; `waits` tells whether packets wait for one.
    pub(crate) fn next(&mut self, waits: impl Fn(usize) -> bool) -> Option<usize> {
        while let Some(&first) = self.row.front() {
            let station = first as usize;
            if !waits(station) {
                self.row.pop_front();
                self.listed[station] = false;
                continue;
            }
            let Some(quantum) = self.quantum else {
                self.row.rotate_left(1);
                return Some(station);
            };
            if self.deficits[station] > 0 {
                return Some(station);
            }
            self.deficits[station] += quantum;
            self.row.rotate_left(1);
        }
        None
    }

    /// An exchange with `station` took `time` on the air, either way.
    #[inline]
    pub(crate) fn charge(&mut self, station: usize, time: Time) {
        if self.quantum.is_some() {
            self.deficits[station] -= time.0 as i64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stations_take_turns() {
        let mut bank = Bank::of(3, None);
        (0..3).for_each(|station| bank.arrived(station));
        let turns: Vec<_> = (0..6).filter_map(|_| bank.next(|_| true)).collect();
        assert_eq!(turns, [0, 1, 2, 0, 1, 2]);
        assert_eq!((bank.next(|station| station == 1), bank.next(|_| false)), (Some(1), None));
    }

    #[test]
    fn time_on_the_air_is_shared_equally_whatever_a_turn_takes() {
        let mut bank = Bank::of(2, Some(Time(300)));
        bank.arrived(0);
        bank.arrived(1);
        let (costs, mut used) = ([2000, 100], [0, 0]);
        for _ in 0..10_000 {
            let station = bank.next(|_| true).expect("is there");
            bank.charge(station, Time(costs[station]));
            used[station] += costs[station];
        }
        let ratio = used[0] as f64 / used[1] as f64;
        assert!((ratio - 1.0).abs() < 0.01, "{used:?}");
    }

    #[test]
    fn one_that_uses_little_is_served_at_once() {
        let mut bank = Bank::of(3, Some(Time(300)));
        bank.arrived(0);
        bank.arrived(1);
        for _ in 0..100 {
            let station = bank.next(|station| station < 2).expect("is there");
            bank.charge(station, Time(250));
        }
        bank.arrived(2);
        assert_eq!(bank.next(|_| true), Some(2));
    }
}
