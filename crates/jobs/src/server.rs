//! The server: jobs arrive, pass the levels, and leave.

use std::fmt;

use tables::record;

use super::serve::{Part, Serve};
use super::station::{Order, Station};

/// Levels a server can have.
pub const MOST_LEVELS: usize = 32;

/// A level of priority: the order in which it serves, and the age at which jobs go on to the next level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Order of service.
    pub order: Order,
    /// Attained service at which a job leaves the level, in units of size; infinite in the last level.
    pub upto: f64,
}

/// Levels that cannot be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LevelError {
    /// So many levels.
    Number(usize),
    /// A threshold that is not above the one before it.
    Threshold(f64),
    /// The last level ends at this age.
    LastEnds(f64),
}

impl fmt::Display for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LevelError::Number(n) => write!(f, "levels = {n}: must be from 1 to {MOST_LEVELS}"),
            LevelError::Threshold(age) => write!(f, "threshold = {age}: must be above 0 and above the one before"),
            LevelError::LastEnds(age) => write!(f, "threshold = {age}: must be infinite in the last level"),
        }
    }
}

impl std::error::Error for LevelError {}

record! {
    /// A job that has left.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Finished in "jobs" {
        /// Number in order of arrival, from 0.
        pub job: u64 => "job";
        /// Number of the busy period in which it was served, from 0.
        pub cycle: u64 => "cycle";
        /// Size: the time it takes alone.
        pub size: f64 => "size", "s";
        /// Time from arrival to departure.
        pub response_time: f64 => "response_time", "s";
    }
}

/// A job in the system.
#[derive(Clone, Copy, Debug)]
struct Job {
    number: u64,
    /// Since the busy period began.
    arrival: f64,
    size: f64,
    weight: f64,
    level: u32,
}

/// One server of rate 1 and its levels.
#[derive(Debug)]
pub struct Server {
    levels: Vec<(f64, Station)>,
    /// Bit `i` is set when level `i` has jobs, so that the lowest one set is the level served.
    busy: u32,
    /// When the busy period began, or the system was last left empty.
    origin: f64,
    /// Since `origin`.
    now: f64,
    jobs: Vec<Job>,
    free: Vec<u32>,
    offered: u64,
    /// Comings of jobs to levels.
    comings: u64,
    cycles: u64,
}

impl Server {
    /// A server with nothing to do, at time 0.
    ///
    /// # Errors
    /// There are no or more than [`MOST_LEVELS`] levels, or their thresholds do not ascend from above 0 to infinity.
    pub fn new(levels: &[Level]) -> Result<Server, LevelError> {
        if levels.is_empty() || levels.len() > MOST_LEVELS {
            return Err(LevelError::Number(levels.len()));
        }
        let mut before = 0.0;
        for (i, level) in levels.iter().enumerate() {
            let last = i + 1 == levels.len();
            if last && level.upto != f64::INFINITY {
                return Err(LevelError::LastEnds(level.upto));
            }
            // NaN is neither.
            let ascends = level.upto > before && level.upto < f64::INFINITY;
            if !last && !ascends {
                return Err(LevelError::Threshold(level.upto));
            }
            before = level.upto;
        }
        let levels = levels.iter().map(|level| (level.upto, Station::of(level.order))).collect();
        let (jobs, free) = (Vec::new(), Vec::new());
        Ok(Server { levels, busy: 0, origin: 0.0, now: 0.0, jobs, free, offered: 0, comings: 0, cycles: 0 })
    }

    /// Jobs in the system.
    pub fn present(&self) -> usize {
        self.jobs.len() - self.free.len()
    }

    /// Jobs that have arrived.
    pub fn offered(&self) -> u64 {
        self.offered
    }

    /// Serves until `arrival`, not before the arrival given last, and takes a job of `size` and of `weight` work per
    /// unit of size, both above 0 and finite; `left` is told who leaves before.
    #[inline]
    pub fn arrive(&mut self, arrival: f64, size: f64, weight: f64, left: &mut impl FnMut(Finished)) {
        self.serve_until(arrival, left);
        if self.busy == 0 {
            self.origin = arrival;
            self.now = 0.0;
        }
        let job = Job { number: self.offered, arrival: arrival - self.origin, size, weight, level: 0 };
        self.offered += 1;
        let slot = match self.free.pop() {
            Some(slot) => {
                self.jobs[slot as usize] = job;
                slot
            }
            None => {
                self.jobs.push(job);
                self.jobs.len() as u32 - 1
            }
        };
        self.enter(slot, job, 0, 0.0);
    }

    /// Serves until `time`, not before the arrival given last; `left` is told who leaves.
    #[inline]
    pub fn serve_until(&mut self, time: f64, left: &mut impl FnMut(Finished)) {
        let until = time - self.origin;
        while self.busy != 0 {
            let level = self.busy.trailing_zeros();
            let station = &mut self.levels[level as usize].1;
            let due = station.due();
            if self.now + due > until {
                station.serve(until - self.now);
                self.now = until;
                return;
            }
            self.now += due;
            let done = station.step();
            if station.due() == f64::INFINITY {
                self.busy &= !(1 << level);
            }
            if let Some(slot) = done {
                self.leave(slot, left);
            }
        }
    }

    /// Serves all who are there.
    pub fn drain(&mut self, left: &mut impl FnMut(Finished)) {
        self.serve_until(f64::INFINITY, left);
    }

    /// A job comes to a level, at the age at which the level begins.
    #[inline]
    fn enter(&mut self, slot: u32, job: Job, level: u32, start: f64) {
        let (upto, station) = &mut self.levels[level as usize];
        let end = job.size.min(*upto);
        station.insert(Part { slot, came: self.comings, start, end, weight: job.weight });
        self.comings += 1;
        self.busy |= 1 << level;
    }

    /// A job has all it gets from its level: to the next one, or out.
    #[inline]
    fn leave(&mut self, slot: u32, left: &mut impl FnMut(Finished)) {
        let job = self.jobs[slot as usize];
        let upto = self.levels[job.level as usize].0;
        if job.size > upto {
            self.jobs[slot as usize].level = job.level + 1;
            self.enter(slot, job, job.level + 1, upto);
            return;
        }
        self.free.push(slot);
        let response_time = self.now - job.arrival;
        left(Finished { job: job.number, cycle: self.cycles, size: job.size, response_time });
        if self.busy == 0 {
            self.cycles += 1;
        }
    }
}
