//! What a station is given and what it must be able to do, whatever its order of service.

/// What a level has of a job: the stretch of its age from `start` to `end`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    /// Place among the jobs in the system.
    pub slot: u32,
    /// How many came to a level before: decides between equals.
    pub came: u64,
    pub start: f64,
    pub end: f64,
    /// Work per unit of size.
    pub weight: f64,
}

impl Part {
    #[inline]
    pub fn work(&self) -> f64 {
        (self.end - self.start) * self.weight
    }
}

/// A level without the others: a server that is sometimes away.
pub(crate) trait Serve {
    /// Takes a job that has come to the level.
    fn insert(&mut self, part: Part);

    /// Work until [`step`](Serve::step) is due; infinite when empty.
    fn due(&self) -> f64;

    /// Does `work`, which is less than [`due`](Serve::due).
    fn serve(&mut self, work: f64);

    /// Does the work that is due: the slot of the job that leaves, if one does.
    fn step(&mut self) -> Option<u32>;
}
