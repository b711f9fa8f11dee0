//! The job-level server from its definition: a list of jobs, the rate of each from the rules, and time to the next thing
//! that can happen. It costs the square of the number of jobs and shares nothing with the crate `jobs` but the names.

use jobs::{Level, Order};

/// A job as it is given.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    pub arrival: f64,
    pub size: f64,
    pub weight: f64,
}

#[derive(Clone, Copy, Debug)]
struct Present {
    job: usize,
    age: f64,
    level: usize,
    /// How many came to a level before it came to this one.
    came: usize,
}

struct System<'a> {
    given: &'a [Given],
    levels: &'a [Level],
    present: Vec<Present>,
    comings: usize,
}

impl System<'_> {
    fn begins(&self, level: usize) -> f64 {
        if level == 0 { 0.0 } else { self.levels[level - 1].upto }
    }

    fn ends(&self, one: &Present) -> f64 {
        self.given[one.job].size.min(self.levels[one.level].upto)
    }

    fn brought(&self, one: &Present) -> f64 {
        (self.ends(one) - self.begins(one.level)) * self.given[one.job].weight
    }

    fn left(&self, one: &Present) -> f64 {
        (self.ends(one) - one.age) * self.given[one.job].weight
    }

    /// Who comes first by `key`, first come among equals.
    fn first(&self, level: usize, key: impl Fn(&Present) -> f64) -> usize {
        let of_level = self.present.iter().filter(|one| one.level == level);
        let first = of_level.min_by(|a, b| key(a).total_cmp(&key(b)).then(a.came.cmp(&b.came)));
        first.expect("a level that is served has jobs").job
    }

    /// First the one that has begun, if one has.
    fn unfinished(&self, one: &Present) -> f64 {
        if one.age > self.begins(one.level) { 0.0 } else { self.brought(one) }
    }

    /// How fast each job present grows older.
    fn rates(&self) -> Vec<f64> {
        let Some(level) = self.present.iter().map(|one| one.level).min() else { return Vec::new() };
        let in_level = |one: &Present| one.level == level;
        let weight = |one: &Present| self.given[one.job].weight;
        let ages = self.present.iter().filter(|one| in_level(one)).map(|one| one.age);
        let youngest = ages.clone().fold(f64::INFINITY, f64::min);
        let of_youngest = |one: &Present| in_level(one) && one.age == youngest;
        let together: f64 = self.present.iter().filter(|one| of_youngest(one)).map(weight).sum();
        let alone = match self.levels[level].order {
            Order::Fcfs => self.first(level, |one| one.came as f64),
            Order::Lcfs => self.first(level, |one| -(one.came as f64)),
            Order::Srpt => self.first(level, |one| self.left(one)),
            Order::Psjf => self.first(level, |one| self.brought(one)),
            Order::Sjf => self.first(level, |one| self.unfinished(one)),
            Order::Ps => {
                let share = 1.0 / ages.count() as f64;
                return self.present.iter().map(|one| if in_level(one) { share / weight(one) } else { 0.0 }).collect();
            }
            Order::Las => {
                let rate = 1.0 / together;
                return self.present.iter().map(|one| if of_youngest(one) { rate } else { 0.0 }).collect();
            }
        };
        self.present.iter().map(|one| if one.job == alone { 1.0 / weight(one) } else { 0.0 }).collect()
    }

    /// Age at which something happens to a job that is served: its part ends, or it meets who is older.
    fn target(&self, one: &Present) -> f64 {
        let older = self.present.iter().filter(|other| other.level == one.level && other.age > one.age);
        let meets = match self.levels[one.level].order {
            Order::Las => older.map(|other| other.age).fold(f64::INFINITY, f64::min),
            _ => f64::INFINITY,
        };
        self.ends(one).min(meets)
    }

    fn arrive(&mut self, job: usize) {
        self.present.push(Present { job, age: 0.0, level: 0, came: self.comings });
        self.comings += 1;
    }

    /// Moves on or out who has all its level gives; returns who has left.
    fn move_on(&mut self) -> Vec<usize> {
        let mut out = Vec::new();
        self.present.sort_by_key(|one| one.came);
        for i in 0..self.present.len() {
            let one = self.present[i];
            if one.age < self.ends(&one) {
                continue;
            }
            if self.given[one.job].size > self.levels[one.level].upto {
                self.present[i] = Present { level: one.level + 1, came: self.comings, ..one };
                self.comings += 1;
            } else {
                out.push(one.job);
            }
        }
        self.present.retain(|one| !out.contains(&one.job));
        out
    }
}

/// When each job leaves.
pub fn departures(levels: &[Level], given: &[Given]) -> Vec<f64> {
    let mut system = System { given, levels, present: Vec::new(), comings: 0 };
    let mut departures = vec![f64::NAN; given.len()];
    let (mut now, mut next) = (0.0, 0);
    while next < given.len() || !system.present.is_empty() {
        let rates = system.rates();
        let targets: Vec<f64> = system.present.iter().map(|one| system.target(one)).collect();
        let time_to = |i: usize| {
            let one = &system.present[i];
            if rates[i] > 0.0 { (targets[i] - one.age) / rates[i] } else { f64::INFINITY }
        };
        let times: Vec<f64> = (0..rates.len()).map(time_to).collect();
        let first = times.iter().copied().fold(f64::INFINITY, f64::min);
        let arrival = given.get(next).map_or(f64::INFINITY, |job| job.arrival);
        let step = first.min(arrival - now);
        for (i, one) in system.present.iter_mut().enumerate() {
            // Jobs of one age stay so: they take the same sum, or the same target.
            let older = (one.age + step * rates[i]).min(targets[i]);
            one.age = if times[i] == step { targets[i] } else { older };
        }
        now = if first <= arrival - now { now + step } else { arrival };
        for job in system.move_on() {
            departures[job] = now;
        }
        while next < given.len() && given[next].arrival <= now && step < first {
            system.arrive(next);
            next += 1;
        }
    }
    departures
}
