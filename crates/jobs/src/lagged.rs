//! Jobs of users under lagged fair queueing: the rules of the discipline `lfq` without packets, as rates.
//!
//! * The user with the smallest tag is served, inside it the job with the smallest tag; equal ones share. What is sent is
//!   added to both tags. A user that comes back gets tag `max(own tag, clock - lag)`, a new job the clock of its user less
//!   the lag of jobs.
//! * The clock of the link is never behind the tag that is served, and goes on by `pace` over the number of users with jobs
//!   for each unit of work; the clock of a user likewise with its jobs.
//! * Tags are numbers and not buckets; nothing goes ahead, no one is new, and there are no rounds.
//! * Who is silent is remembered by its tag alone. Its own clock does not matter: all of its jobs are new ones.
//! * Cost: O(n) per event with n jobs in the system.
//!
//! It shares nothing with the queue discipline but the rules, and nothing with the equations of `mayfly.models`.

use std::fmt;

use tables::record;

use super::server::Finished;

/// What users and their jobs may be behind, and how fast clocks go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lags {
    /// By which a user may be behind the clock of the link, 0 or more, finite.
    pub user: f64,
    /// By which a job may be behind the clock of its user, 0 or more, finite.
    pub job: f64,
    /// Speed of a clock beside service per user, or job of the user, 0 to 1.
    pub pace: f64,
}

/// Lags that cannot be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LagError {
    /// A lag that is negative or infinite.
    Lag(f64),
    /// A pace that is not from 0 to 1.
    Pace(f64),
    /// A mark that is not above 0 and above the one before it.
    Mark(f64),
}

impl fmt::Display for LagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LagError::Lag(lag) => write!(f, "lag = {lag}: must be 0 or more and finite"),
            LagError::Pace(pace) => write!(f, "pace = {pace}: must be from 0 to 1"),
            LagError::Mark(mark) => write!(f, "mark = {mark}: must be above 0 and above the one before"),
        }
    }
}

impl std::error::Error for LagError {}

record! {
    /// A job that has been served as much as a mark says.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Passage in "passages" {
        /// Number in order of arrival, from 0.
        pub job: u64 => "job";
        /// Number of the busy period in which it was served, from 0.
        pub cycle: u64 => "cycle";
        /// Number of the mark, from 0.
        pub mark: u64 => "mark";
        /// Time from arrival to then.
        pub time: f64 => "time", "s";
    }
}

#[derive(Clone, Copy, Debug)]
struct Job {
    number: u64,
    /// Since the busy period began.
    arrival: f64,
    size: f64,
    tag: f64,
    served: f64,
    /// The mark it comes to next.
    mark: usize,
}

/// A user with jobs.
#[derive(Debug)]
struct User {
    /// None for one that is forgotten with its last job.
    id: Option<u32>,
    tag: f64,
    clock: f64,
    jobs: Vec<Job>,
    /// Jobs with the smallest tag, and that tag.
    first: usize,
    lowest: f64,
}

impl User {
    /// Finds the jobs that are served.
    fn order(&mut self) {
        self.lowest = self.jobs.iter().map(|job| job.tag).fold(f64::INFINITY, f64::min);
        self.first = self.jobs.iter().filter(|job| job.tag == self.lowest).count();
    }
}

/// Tags that are served together: how fast they and their clock go on, and what they come to.
#[derive(Clone, Copy, Debug)]
struct Front {
    lowest: f64,
    /// The next tag above.
    next: f64,
    clock: f64,
    /// By which a tag, and the clock when it is ahead, grow for each unit of work.
    rate: f64,
    pace: f64,
}

impl Front {
    fn of(
        tags: impl Iterator<Item = f64> + Clone,
        lowest: f64,
        together: usize,
        all: usize,
        clock: f64,
        pace: f64,
    ) -> Front {
        let next = tags.filter(|&tag| tag > lowest).fold(f64::INFINITY, f64::min);
        Front { lowest, next, clock, rate: 1.0 / together as f64, pace: pace / all as f64 }
    }

    /// Work until the tags meet the next one, and until they meet the clock.
    fn due(&self) -> (f64, f64) {
        let meets = (self.next - self.lowest) / self.rate;
        // At a pace of 1 with all of them served, the clock stays ahead.
        let closer = self.rate - self.pace;
        let levels =
            if self.lowest < self.clock && closer > 0.0 { (self.clock - self.lowest) / closer } else { f64::INFINITY };
        (meets, levels)
    }

    /// Tag and clock after `work`.
    fn after(&self, work: f64) -> (f64, f64) {
        let (meets, levels) = self.due();
        let tag = if is_done(meets, work) { self.next } else { self.lowest + work * self.rate };
        let is_level = is_done(levels, work) || self.clock <= self.lowest;
        (tag, if is_level { tag } else { (self.clock + work * self.pace).max(tag) })
    }
}

/// Whether `work` is what was due, whatever the sums say of their last digits.
fn is_done(due: f64, work: f64) -> bool {
    due <= work * (1.0 + 1e-12)
}

/// One server of rate 1.
#[derive(Debug)]
pub struct Lagged {
    lags: Lags,
    marks: Vec<f64>,
    clock: f64,
    users: Vec<User>,
    /// Tags of users that are silent, or were; by their number.
    silent: Vec<f64>,
    /// When the busy period began, or the system was last left empty.
    origin: f64,
    now: f64,
    offered: u64,
    cycles: u64,
    largest: f64,
}

impl Lagged {
    /// A server with nothing to do, at time 0; `marks` are attained services that are told when a job comes to them.
    ///
    /// # Errors
    /// A lag, the pace or a mark is out of its bounds.
    pub fn new(lags: Lags, marks: &[f64]) -> Result<Lagged, LagError> {
        for lag in [lags.user, lags.job] {
            if !(0.0..f64::INFINITY).contains(&lag) {
                return Err(LagError::Lag(lag));
            }
        }
        if !(0.0..=1.0).contains(&lags.pace) {
            return Err(LagError::Pace(lags.pace));
        }
        let mut before = 0.0;
        for &mark in marks {
            if !(mark > before && mark < f64::INFINITY) {
                return Err(LagError::Mark(mark));
            }
            before = mark;
        }
        let (users, silent) = (Vec::new(), Vec::new());
        let marks = marks.to_vec();
        Ok(Lagged {
            lags,
            marks,
            clock: 0.0,
            users,
            silent,
            origin: 0.0,
            now: 0.0,
            offered: 0,
            cycles: 0,
            largest: 0.0,
        })
    }

    /// Jobs in the system.
    pub fn present(&self) -> usize {
        self.users.iter().map(|user| user.jobs.len()).sum()
    }

    /// Serves until `arrival`, not before the arrival given last, and takes a job of `size`, above 0 and finite, of the user
    /// of that number; without one it is a user of its own that is forgotten afterwards. `left` is told who leaves before,
    /// `passed` who comes to a mark.
    pub fn arrive(
        &mut self,
        arrival: f64,
        size: f64,
        user: Option<u32>,
        left: &mut impl FnMut(Finished),
        passed: &mut impl FnMut(Passage),
    ) {
        self.serve_until(arrival, left, passed);
        if self.users.is_empty() {
            self.begin(arrival);
        }
        self.largest = self.largest.max(size);
        let place = user.and_then(|id| self.users.iter().position(|known| known.id == Some(id)));
        let place = place.unwrap_or_else(|| self.wake(user));
        let user = &mut self.users[place];
        let tag = user.clock - self.lags.job;
        let job = Job { number: self.offered, arrival: arrival - self.origin, size, tag, served: 0.0, mark: 0 };
        user.jobs.push(job);
        user.order();
        self.offered += 1;
    }

    /// A busy period begins.
    fn begin(&mut self, arrival: f64) {
        self.origin = arrival;
        self.now = 0.0;
        // So that sums keep their digits.
        if self.clock > (1 << 20) as f64 * (self.lags.user + self.largest) {
            for tag in &mut self.silent {
                *tag -= self.clock;
            }
            self.clock = 0.0;
        }
    }

    /// The place of a user that was silent.
    fn wake(&mut self, id: Option<u32>) -> usize {
        let mut tag = self.clock - self.lags.user;
        if let Some(id) = id {
            let id = id as usize;
            if id >= self.silent.len() {
                self.silent.resize(id + 1, f64::NEG_INFINITY);
            }
            tag = tag.max(self.silent[id]);
        }
        self.users.push(User { id, tag, clock: 0.0, jobs: Vec::new(), first: 0, lowest: 0.0 });
        self.users.len() - 1
    }

    /// Serves until `time`, not before the arrival given last.
    pub fn serve_until(&mut self, time: f64, left: &mut impl FnMut(Finished), passed: &mut impl FnMut(Passage)) {
        let until = time - self.origin;
        while !self.users.is_empty() {
            let lowest = self.users.iter().map(|user| user.tag).fold(f64::INFINITY, f64::min);
            let together = self.users.iter().filter(|user| user.tag == lowest).count();
            let tags = self.users.iter().map(|user| user.tag);
            let front = Front::of(tags, lowest, together, self.users.len(), self.clock, self.lags.pace);
            let (meets, levels) = front.due();
            let mut due = meets.min(levels);
            for user in self.users.iter().filter(|user| user.tag == lowest) {
                due = due.min(self.due_inside(user) / front.rate);
            }
            let ends = self.now + due <= until;
            let work = if ends { due } else { until - self.now };
            self.now = if ends { self.now + due } else { until };
            let (tag, clock) = front.after(work);
            self.clock = clock;
            for place in (0..self.users.len()).rev() {
                if self.users[place].tag == lowest {
                    self.serve(place, tag, work * front.rate, left, passed);
                }
            }
            if self.users.is_empty() {
                self.cycles += 1;
            }
            if !ends {
                return;
            }
        }
    }

    /// Serves all who are there.
    pub fn drain(&mut self, left: &mut impl FnMut(Finished), passed: &mut impl FnMut(Passage)) {
        self.serve_until(f64::INFINITY, left, passed);
    }

    fn front_of(&self, user: &User) -> Front {
        let tags = user.jobs.iter().map(|job| job.tag);
        Front::of(tags, user.lowest, user.first, user.jobs.len(), user.clock, self.lags.pace)
    }

    /// Work of a user until something happens to its jobs.
    fn due_inside(&self, user: &User) -> f64 {
        let front = self.front_of(user);
        let (meets, levels) = front.due();
        let served = user.jobs.iter().filter(|job| job.tag == user.lowest);
        let ends = served.map(|job| self.target(job) - job.served).fold(f64::INFINITY, f64::min);
        meets.min(levels).min(ends.max(0.0) / front.rate)
    }

    /// The attained service at which something happens to a job.
    fn target(&self, job: &Job) -> f64 {
        self.marks.get(job.mark).map_or(job.size, |&mark| mark.min(job.size))
    }

    /// Does `work` of a user, whose tag is `tag` then.
    fn serve(
        &mut self,
        place: usize,
        tag: f64,
        work: f64,
        left: &mut impl FnMut(Finished),
        passed: &mut impl FnMut(Passage),
    ) {
        let user = &self.users[place];
        let front = self.front_of(user);
        let (after, clock) = front.after(work);
        let mut jobs = std::mem::take(&mut self.users[place].jobs);
        jobs.retain_mut(|job| {
            if job.tag != front.lowest {
                return true;
            }
            let (target, share) = (self.target(job), work * front.rate);
            let is_there = is_done(target - job.served, share);
            job.served = if is_there { target } else { job.served + share };
            job.tag = after;
            let time = self.now - job.arrival;
            if is_there && self.marks.get(job.mark) == Some(&target) {
                passed(Passage { job: job.number, cycle: self.cycles, mark: job.mark as u64, time });
                job.mark += 1;
            }
            let is_over = is_there && target == job.size;
            if is_over {
                left(Finished { job: job.number, cycle: self.cycles, size: job.size, response_time: time });
            }
            !is_over
        });
        let user = &mut self.users[place];
        user.jobs = jobs;
        (user.tag, user.clock) = (tag, clock);
        if !user.jobs.is_empty() {
            user.order();
            return;
        }
        if let Some(id) = user.id {
            self.silent[id as usize] = tag;
        }
        self.users.swap_remove(place);
    }
}
