//! The rate and the delay of a link over time, as a trace has them.

use units::Time;

use crate::error::ConfigError;

/// Entries of a trace at most: steps, or opportunities.
pub const MOST_ENTRIES: usize = 5_000_000;
/// Fastest rate of a step, bit/s.
pub const FASTEST_BPS: u64 = 400_000_000_000;
/// Smallest mean rate, bit/s: that of the slowest constant link.
const SLOWEST_MEAN_BPS: u128 = 1000;
/// Longest period of a trace, and the longest offset into it: seven days.
const LONGEST_PERIOD: Time = Time(7 * 86_400_000_000_000);
const MINUTE: Time = Time(60_000_000_000);
/// Parts of a bit that a link of one bit per second sends in one nanosecond: the unit of all sums here.
pub(crate) const PARTS_PER_BYTE: u128 = 8_000_000_000;

/// One piece of a piecewise constant rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// When it begins, since the begin of the trace; 0 for the first.
    pub at: Time,
    /// Rate until the next one begins, bit/s; 0 is an outage.
    pub bps: u64,
    /// Propagation delay on top of that of the link, for packets whose transmission ends in this step.
    pub added_delay: Time,
}

/// What the entries of a trace are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Law {
    /// A rate that is constant until the next step begins. A packet takes the time in which the integral of the rate
    /// is its bits: it goes on at the new rate where a step begins, and waits where the rate is 0.
    Steps(Vec<Step>),
    /// Mahimahi: instants, in order, at each of which up to so many bytes leave at once. A packet leaves with the
    /// instant that takes its last byte; what an instant could have sent and no packet waited for is lost.
    Opportunities(Vec<Time>, u32),
}

/// The rate and the delay of one direction of a link over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTrace {
    /// Its entries.
    pub law: Law,
    /// The trace begins anew after this time; [`Time::NEVER`]: the last step goes on for ever.
    pub period: Time,
    /// The run begins this far into the trace.
    pub offset: Time,
}

impl LinkTrace {
    /// # Errors
    /// The first entry out of its bounds.
    pub(crate) fn check(&self, name: &str) -> Result<(), ConfigError> {
        let refused =
            |value: String, bound: &str| Err(ConfigError::Graph(format!("{name}: trace: {value}: must be {bound}")));
        let (ends, entries) = (self.period != Time::NEVER, self.entries());
        if !(1..=MOST_ENTRIES).contains(&entries) {
            return refused(format!("{entries} entries"), "from 1 to 5000000");
        }
        if ends && !(Time(1)..=LONGEST_PERIOD).contains(&self.period) {
            return refused(format!("period_ns = {}", self.period.0), "above 0 and at most 7 days");
        }
        if self.offset > LONGEST_PERIOD {
            return refused(format!("offset_ns = {}", self.offset.0), "at most 7 days");
        }
        match &self.law {
            Law::Steps(steps) => {
                if steps[0].at != Time::ZERO {
                    return refused(format!("first step at {} ns", steps[0].at.0), "at 0");
                }
                if let Some(pair) = steps.windows(2).find(|pair| pair[0].at >= pair[1].at) {
                    return refused(format!("step at {} ns", pair[1].at.0), "after the one before it");
                }
                let last = steps[entries - 1];
                if last.at >= self.period.min(LONGEST_PERIOD) {
                    return refused(format!("step at {} ns", last.at.0), "before the end of the trace, within 7 days");
                }
                if let Some(step) = steps.iter().find(|step| step.bps > FASTEST_BPS) {
                    return refused(format!("rate_bps = {}", step.bps), "at most 400 Gbit/s");
                }
                if let Some(step) = steps.iter().find(|step| step.added_delay > MINUTE) {
                    return refused(format!("added_delay_ns = {}", step.added_delay.0), "at most 60 s");
                }
                if !ends && last.bps == 0 {
                    return refused("last rate_bps = 0".into(), "above 0 where the last rate goes on for ever");
                }
            }
            Law::Opportunities(times, bytes) => {
                if !ends {
                    return refused("no period".into(), "one: opportunities begin anew");
                }
                if !(1..=65_535).contains(bytes) {
                    return refused(format!("{bytes} bytes an opportunity"), "from 1 to 65535");
                }
                if let Some(pair) = times.windows(2).find(|pair| pair[0] > pair[1]) {
                    return refused(format!("opportunity at {} ns", pair[1].0), "no earlier than the one before it");
                }
                if times[entries - 1] >= self.period {
                    return refused(
                        format!("opportunity at {} ns", times[entries - 1].0),
                        "before the end of the period",
                    );
                }
            }
        }
        let mean = if ends { self.parts_per_period() / u128::from(self.period.0) } else { SLOWEST_MEAN_BPS };
        if mean < SLOWEST_MEAN_BPS {
            return refused(format!("mean rate of {mean} bit/s"), "at least 1 kbit/s");
        }
        Ok(())
    }

    /// Number of entries.
    pub(crate) fn entries(&self) -> usize {
        match &self.law {
            Law::Steps(steps) => steps.len(),
            Law::Opportunities(times, _) => times.len(),
        }
    }

    /// What one period sends, in the unit of [`PARTS_PER_BYTE`]; of a trace that ends.
    pub(crate) fn parts_per_period(&self) -> u128 {
        match &self.law {
            Law::Steps(steps) => {
                let ends = steps.iter().skip(1).map(|step| step.at).chain([self.period]);
                steps.iter().zip(ends).map(|(step, end)| u128::from(step.bps) * u128::from((end - step.at).0)).sum()
            }
            Law::Opportunities(times, bytes) => PARTS_PER_BYTE * u128::from(*bytes) * times.len() as u128,
        }
    }

    /// What it sends between two times since its begin, in the unit of [`PARTS_PER_BYTE`].
    pub(crate) fn parts_between(&self, from: Time, to: Time) -> u128 {
        if self.period == Time::NEVER {
            return self.parts_within(from.0, to.0);
        }
        let period = self.period.0;
        let (first, last) = (from.0 / period, to.0 / period);
        let (begin, end) = (from.0 % period, to.0 % period);
        if first == last {
            return self.parts_within(begin, end);
        }
        let whole = u128::from(last - first - 1) * self.parts_per_period();
        self.parts_within(begin, period) + whole + self.parts_within(0, end)
    }

    /// The same within one period; an opportunity at the end does not count.
    fn parts_within(&self, from: u64, to: u64) -> u128 {
        match &self.law {
            Law::Steps(steps) => {
                let mut index = steps.partition_point(|step| step.at.0 <= from).saturating_sub(1);
                let (mut at, mut parts) = (from, 0);
                while at < to {
                    let end = steps.get(index + 1).map_or(to, |next| next.at.0.min(to));
                    parts += u128::from(steps[index].bps) * u128::from(end - at);
                    (at, index) = (end, index + 1);
                }
                parts
            }
            Law::Opportunities(times, bytes) => {
                let [first, last] = [from, to].map(|bound| times.partition_point(|time| time.0 < bound));
                PARTS_PER_BYTE * u128::from(*bytes) * (last - first) as u128
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_trace_sends_between_two_times_adds_up() {
        let step = |at, bps| Step { at: Time(at), bps, added_delay: Time::ZERO };
        let law = Law::Steps(vec![step(0, 3000), step(10, 0), step(25, 7000)]);
        let trace = LinkTrace { law, period: Time(40), offset: Time::ZERO };
        let each = |at: u64| [3000, 0, 7000][usize::from(at % 40 >= 10) + usize::from(at % 40 >= 25)];
        for (from, to) in [(0, 40), (3, 9), (5, 30), (12, 20), (30, 95), (39, 41), (7, 7), (0, 400)] {
            let expected: u64 = (from..to).map(each).sum();
            assert_eq!(trace.parts_between(Time(from), Time(to)), u128::from(expected), "{from} to {to}");
        }
        let trace = LinkTrace { law: Law::Opportunities(vec![Time(0), Time(5), Time(5)], 2), ..trace };
        let count = |from, to| trace.parts_between(Time(from), Time(to)) / (2 * PARTS_PER_BYTE);
        assert_eq!([count(0, 40), count(5, 6), count(1, 5), count(39, 86)], [3, 2, 0, 6]);
    }
}
