//! The queue that all packets of one side of the tap share, found from what those to different addresses met.

use crate::link::carried::{BUSY, Carried, Load, NEAR_S};
use crate::link::queue::{BIN_S, Queue, window_of};
use crate::numbers::mean_median;

/// No path is shorter, s.
pub(crate) const SHORTEST_S: f64 = 1e-4;
/// The paths are found in turn from each other; after so many rounds nothing moves.
const ROUNDS: usize = 3;
/// The least round trips to an address that are looked at.
const LEAST_COMMON: usize = 5;
/// The least of all is the path where packets to others met no more than this around one of them, s.
const LEAST_QUEUE_S: f64 = 0.002;

/// A round-trip time between the tap and an address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    pub(crate) at_s: f64,
    pub(crate) taken_s: f64,
    pub(crate) address: u32,
}

/// One side of the tap.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    /// By time.
    met: Vec<Met>,
    windows: Vec<i64>,
    /// Of each: what the link carried down and up about that time, and those to others around it, if any.
    loads: Vec<[Load; 2]>,
    around: Vec<Option<(u32, u32)>>,
    hosts: Vec<Host>,
}

/// An address with round-trip times, ascending by address.
#[derive(Clone, Debug)]
struct Host {
    address: u32,
    /// Its rows with others around them.
    seen: Vec<u32>,
    /// The rows of its least round trips.
    least: Vec<u32>,
}

impl Side {
    pub(crate) fn of(mut met: Vec<Met>, bases_s: &[Option<f64>], carried: &[Carried; 2]) -> Side {
        met.sort_by(|first, second| first.at_s.total_cmp(&second.at_s));
        let mut own: Vec<Vec<u32>> = vec![Vec::new(); bases_s.len()];
        for (row, one) in (0..).zip(&met) {
            own[one.address as usize].push(row);
        }
        let place = |at_s: f64| met.partition_point(|one| one.at_s < at_s);
        let around = |one: &Met| {
            [BIN_S, NEAR_S].into_iter().find_map(|width_s| {
                let (first, last) = (place(one.at_s - width_s), place(one.at_s + width_s));
                let rows = &own[one.address as usize];
                let before = |end: usize| rows.partition_point(|&row| (row as usize) < end);
                let others = (last.saturating_sub(first)) > before(last).saturating_sub(before(first));
                others.then_some((first as u32, last as u32))
            })
        };
        let around: Vec<Option<(u32, u32)>> = met.iter().map(around).collect();
        let host = |(address, rows): (u32, Vec<u32>)| {
            let seen = rows.iter().copied().filter(|&row| around[row as usize].is_some()).collect();
            let mut least = rows;
            let taken_s = |row: u32| met[row as usize].taken_s;
            least.sort_by(|&first, &second| taken_s(first).total_cmp(&taken_s(second)));
            least.truncate(LEAST_COMMON);
            Host { address, seen, least }
        };
        let hosts = (0..).zip(own).filter(|(_, rows)| !rows.is_empty()).map(host).collect();
        let load = |one: &Met| [0, 1].map(|way: usize| carried[way].between(one.at_s - NEAR_S, one.at_s + NEAR_S));
        let windows = met.iter().map(|one| window_of(one.at_s).max(0)).collect();
        Side { loads: met.iter().map(load).collect(), windows, around, hosts, met }
    }

    /// The queue, of what packets took more than the least to their address.
    pub(crate) fn queue(&self, bases_s: &[Option<f64>], shared: bool) -> Queue {
        let wait = |one: &Met| (one.taken_s - bases_s[one.address as usize].unwrap_or(one.taken_s)).max(0.0);
        Queue::of(&self.windows, &self.met.iter().map(wait).collect::<Vec<_>>(), shared)
    }

    /// Least times to the addresses of the side, less what a queue that all of them share never left.
    ///
    /// Where packets to others met a queue even around the least round trips to an address, its path is what all of its
    /// round trips took more than the others' queue around them, in the median.
    pub(crate) fn without_shared_queue(&self, bases_s: &mut [Option<f64>], rates_bps: [f64; 2]) {
        if self.hosts.len() < 2 {
            return;
        }
        let mut waits_s: Vec<f64> = self.met.iter().map(|one| surplus_s(one, bases_s)).collect();
        let mut near = Vec::new();
        let is_busy = |row: u32| (0..2).any(|way| self.loads[row as usize][way].is_at_least(BUSY, rates_bps[way]));
        for host in (0..ROUNDS).flat_map(|_| &self.hosts) {
            if host.seen.len() < LEAST_COMMON {
                continue;
            }
            // Nothing else around it: a queue where the link is busy, else none.
            let is_free = |&row: &u32| match self.queue_around(row, &waits_s, &mut near) {
                Some(queue_s) => queue_s < LEAST_QUEUE_S,
                None => !is_busy(row),
            };
            if host.least.iter().any(is_free) {
                continue;
            }
            // Over all of them: the least are those whose own queue was less than that around them.
            let mut paths_s = Vec::with_capacity(host.seen.len());
            for &row in &host.seen {
                if let Some(queue_s) = self.queue_around(row, &waits_s, &mut near) {
                    paths_s.push(self.met[row as usize].taken_s - queue_s);
                }
            }
            let (Some(path_s), Some(base_s)) = (mean_median(&mut paths_s), &mut bases_s[host.address as usize]) else {
                continue;
            };
            let least_s = path_s.max(SHORTEST_S);
            if least_s < *base_s {
                *base_s = least_s;
                for (one, surplus) in self.met.iter().zip(&mut waits_s) {
                    if one.address == host.address {
                        *surplus = surplus_s(one, bases_s);
                    }
                }
            }
        }
    }

    /// The queue near a row as packets to others met it.
    ///
    /// Of several addresses the one that met most, in the median, has its path known best: a path taken too long hides
    /// some of the queue.
    fn queue_around(&self, row: u32, surplus_s: &[f64], near: &mut Vec<(u32, f64)>) -> Option<f64> {
        let (first, last) = self.around[row as usize]?;
        let address = self.met[row as usize].address;
        let rows = first as usize..last as usize;
        near.clear();
        near.extend(rows.map(|row| (self.met[row].address, surplus_s[row])).filter(|&(other, _)| other != address));
        near.sort_unstable_by(|first, second| first.0.cmp(&second.0).then(first.1.total_cmp(&second.1)));
        let of_one = |part: &[(u32, f64)]| {
            let (low, high) = (part[(part.len() - 1) / 2].1, part[part.len() / 2].1);
            if part.len() % 2 == 1 { high } else { (low + high) / 2.0 }
        };
        near.chunk_by(|first, second| first.0 == second.0).map(of_one).max_by(f64::total_cmp)
    }
}

/// What a round trip took more than the least to its address, s.
fn surplus_s(one: &Met, bases_s: &[Option<f64>]) -> f64 {
    one.taken_s - bases_s[one.address as usize].unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::mean_median;

    /// Numbers from 0 to 1, the same every time (Knuth's multiplicative generator of 64 bits).
    struct Draw(u64);

    impl Draw {
        fn uniform(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    /// The largest median of the addresses other than that of `row`, in the nearest window that has some.
    fn defined(met: &[Met], surplus_s: &[f64], row: usize) -> Option<f64> {
        let own = met[row];
        [BIN_S, NEAR_S].into_iter().find_map(|width_s| {
            let near = |one: &Met| one.at_s >= own.at_s - width_s && one.at_s < own.at_s + width_s;
            let others: Vec<usize> =
                (0..met.len()).filter(|&other| near(&met[other]) && met[other].address != own.address).collect();
            let of_one = |address: u32| {
                let rows = others.iter().filter(|&&other| met[other].address == address);
                mean_median(&mut rows.map(|&other| surplus_s[other]).collect::<Vec<_>>())
            };
            others.iter().filter_map(|&other| of_one(met[other].address)).max_by(f64::total_cmp)
        })
    }

    #[test]
    fn the_queue_around_a_packet_is_the_largest_median_of_the_nearest_window() {
        for (packets, span_s, addresses) in [(2000, 60.0, 5), (1500, 4.0, 9), (800, 3.0, 300), (400, 500.0, 3)] {
            let mut draw = Draw(packets);
            let mut times_s: Vec<f64> = (0..packets).map(|_| span_s * draw.uniform()).collect();
            times_s.sort_by(f64::total_cmp);
            let met: Vec<Met> = times_s
                .into_iter()
                .map(|at_s| Met {
                    at_s,
                    taken_s: 0.1 * draw.uniform(),
                    address: (f64::from(addresses) * draw.uniform()) as u32,
                })
                .collect();
            let bases_s: Vec<Option<f64>> = (0..addresses).map(|_| Some(0.02 * draw.uniform())).collect();
            let surplus: Vec<f64> = met.iter().map(|one| surplus_s(one, &bases_s)).collect();
            let side = Side::of(met.clone(), &bases_s, &[Carried::default(), Carried::default()]);
            let mut known = 0;
            for row in (0..met.len()).step_by(7) {
                let found = side.queue_around(row as u32, &surplus, &mut Vec::new());
                assert_eq!(found, defined(&met, &surplus, row), "{packets} packets, row {row}");
                known += u32::from(found.is_some());
            }
            assert!(known > 0);
        }
    }
}
