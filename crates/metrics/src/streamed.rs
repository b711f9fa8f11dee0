//! Figures of a run of a stream: counts, sums and sketches in place of records.
//!
//! * Counts and means are exact: response times are whole nanoseconds, added as whole numbers, and by size.
//! * Quantiles come from a DDSketch (Masson, Rim, Lee 2019, VLDB 12(12)): a quantile is off by at most [`SKETCH_BOUND`] of
//!   its value, whatever the distribution; sketches of parts add up to that of the whole.
//! * Long transfers are the largest that carry half of the bytes, as `mayfly.metrics.size_classes` has them. Of the one
//!   size at which both classes meet, the long ones are taken to be like the short ones of that size: what this can do to
//!   either mean is told with it.
//! * Sizes are kept apart up to [`MOST_SIZES`] of them; beyond, in steps of [`SIZE_STEP`], and then the same is told of
//!   the step at which the classes meet.
//!
//! Cost: a look-up by size and two additions to sketches per flow; 100 bytes per size, some kilobytes per sketch.

use std::collections::BTreeMap;
use std::collections::HashMap;

use netsim::{FlowRecord, FlowSpec, Sink};
use serde::Serialize;
use sketches_ddsketch::{Config, DDSketch};
use units::{ENDLESS_BYTES, Time};

/// Largest error of a quantile, as a share of its value.
pub const SKETCH_BOUND: f64 = 0.005;
/// Sizes that are kept apart.
pub const MOST_SIZES: usize = 1 << 20;
/// Beyond so many sizes they are counted together in steps of this share.
pub const SIZE_STEP: f64 = 0.001;

/// Bins of a sketch: enough for 1 ns to 2 years at [`SKETCH_BOUND`], so that none is ever merged with another.
const MOST_BINS: u32 = 8192;
/// Response times below are counted as nothing.
const LEAST_S: f64 = 1e-9;
/// Classes of sizes per factor of ten.
const PER_DECADE: f64 = 3.0;
/// 97.5 % quantile of the normal law.
const Z95: f64 = 1.959_963_984_540_054;

/// Response times of the flows of one size.
#[derive(Clone, Copy, Debug)]
struct Times {
    flows: u64,
    bytes: u128,
    packets: u128,
    sum_ns: u128,
    squares_s2: f64,
    least: Time,
    most: Time,
}

impl Default for Times {
    fn default() -> Times {
        Times { flows: 0, bytes: 0, packets: 0, sum_ns: 0, squares_s2: 0.0, least: Time::NEVER, most: Time::ZERO }
    }
}

impl Times {
    fn add(&mut self, bytes: u64, packets: u64, time: Time) {
        self.flows += 1;
        self.bytes += u128::from(bytes);
        self.packets += u128::from(packets);
        self.sum_ns += u128::from(time.0);
        self.squares_s2 += time.as_secs_f64() * time.as_secs_f64();
        (self.least, self.most) = (self.least.min(time), self.most.max(time));
    }

    fn merge(&mut self, other: &Times) {
        self.flows += other.flows;
        self.bytes += other.bytes;
        self.packets += other.packets;
        self.sum_ns += other.sum_ns;
        self.squares_s2 += other.squares_s2;
        (self.least, self.most) = (self.least.min(other.least), self.most.max(other.most));
    }

    /// Of these, `flows` that are like all of them.
    fn part(&self, flows: u64) -> Times {
        let share = |sum: u128| sum * u128::from(flows) / u128::from(self.flows.max(1));
        let squares_s2 = self.squares_s2 * flows as f64 / self.flows.max(1) as f64;
        let (bytes, packets, sum_ns) = (share(self.bytes), share(self.packets), share(self.sum_ns));
        Times { flows, bytes, packets, sum_ns, squares_s2, ..*self }
    }

    fn mean_s(&self) -> Option<f64> {
        (self.flows > 0).then(|| self.sum_ns as f64 * 1e-9 / self.flows as f64)
    }

    /// Normal 95 % interval of the mean over flows, as of [`crate::student_ci95`] with many; on the logarithm where it would
    /// reach below 0, where no time is.
    fn ci95(&self) -> Option<[f64; 2]> {
        let (n, mean) = (self.flows as f64, self.mean_s()?);
        let variance = ((self.squares_s2 - n * mean * mean) / (n - 1.0)).max(0.0);
        let half = Z95 * (variance / n).sqrt();
        let interval = || {
            if half < mean {
                return [mean - half, mean + half];
            }
            let factor = libm::exp(half / mean.max(f64::MIN_POSITIVE));
            [mean / factor, mean * factor]
        };
        (self.flows > 1).then(interval)
    }
}

/// Quantiles of response times; none of no flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Quantiles {
    /// 5 of 100 take at most this, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p5: Option<f64>,
    /// Median, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<f64>,
    /// 90 of 100 take at most this, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90: Option<f64>,
    /// 95 of 100 take at most this, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95: Option<f64>,
    /// 99 of 100 take at most this, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
}

/// A class of flows in figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "StreamClass"))]
pub struct ClassFigures {
    /// Mean response time, seconds.
    pub mean_s: Option<f64>,
    /// Normal 95 % interval of that mean over flows, seconds.
    pub ci95: Option<[f64; 2]>,
    /// Flows that were complete.
    pub flows: u64,
    /// Mean size, packets.
    pub mean_size_packets: Option<f64>,
    /// By how much the mean can be off because flows of one size are in both classes, seconds.
    pub off_by_at_most_s: f64,
}

/// Flows of similar sizes in figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "StreamSizes"))]
pub struct BinFigures {
    /// Sizes from this one on, packets.
    pub from_packets: u64,
    /// Up to below this one, packets.
    pub below_packets: u64,
    /// Flows that were complete.
    pub flows: u64,
    /// Mean size, packets.
    pub mean_size_packets: f64,
    /// Mean response time, seconds.
    pub mean_s: f64,
    /// Normal 95 % interval of that mean over flows, seconds.
    pub ci95: Option<[f64; 2]>,
    /// Quantiles of the response time.
    pub quantiles_s: Quantiles,
}

/// What is told of a run of a stream.
#[derive(Clone, Debug, Serialize)]
pub struct StreamFigures {
    /// Flows that began.
    pub flows: u64,
    /// Their payload but for those that never end, bytes.
    pub bytes: u64,
    /// Flows that were complete.
    pub flows_completed: u64,
    /// Flows that began and were not.
    pub flows_unfinished: u64,
    /// Of these, those that never end.
    pub flows_endless: u64,
    /// Payload of those unfinished that would end, bytes.
    pub unfinished_bytes: u64,
    /// What the unfinished ones delivered, bytes.
    pub unfinished_delivered_bytes: u64,
    /// Packets sent again.
    pub retransmits: u64,
    /// Expiries of retransmission timers.
    pub timeouts: u64,
    /// The smaller transfers, which carry half of the bytes.
    pub short: ClassFigures,
    /// The larger ones.
    pub long: ClassFigures,
    /// Mean response time of all, seconds.
    pub mean_s: Option<f64>,
    /// Normal 95 % interval of that mean over flows, seconds.
    pub ci95: Option<[f64; 2]>,
    /// Quantiles of the response times of all.
    pub quantiles_s: Quantiles,
    /// By size, three classes to a factor of ten.
    pub by_size: Vec<BinFigures>,
    /// Largest error of every quantile, as a share of its value.
    pub sketch_bound: f64,
    /// Steps in which sizes were kept, as a share of the size; 0 where each was apart.
    pub size_step: f64,
}

/// Sums and sketches of the flows of a stream.
pub struct Streamed {
    mss: u32,
    by_size: HashMap<u64, Times>,
    is_in_steps: bool,
    all: DDSketch,
    /// By class of sizes.
    bins: BTreeMap<u32, DDSketch>,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    flows: u64,
    bytes: u64,
    completed: u64,
    unfinished: u64,
    endless: u64,
    unfinished_bytes: u64,
    unfinished_delivered: u64,
    retransmits: u64,
    timeouts: u64,
}

fn sketch() -> DDSketch {
    DDSketch::new(Config::new(SKETCH_BOUND, MOST_BINS, LEAST_S))
}

/// Class of sizes, as `bin_key` of `mayfly.metrics.response`.
fn bin(packets: u64) -> u32 {
    (libm::log10(packets as f64) * PER_DECADE + 1e-9).floor() as u32
}

/// The least whole size of a class.
fn least(bin: u32) -> u64 {
    let mut size = libm::pow(10.0, (f64::from(bin) - 1e-9) / PER_DECADE).ceil().max(1.0) as u64;
    while size > 1 && self::bin(size - 1) >= bin {
        size -= 1;
    }
    while self::bin(size) < bin {
        size += 1;
    }
    size
}

impl Streamed {
    /// Of transfers in segments of `mss` bytes.
    pub fn new(mss: u32) -> Streamed {
        let (by_size, bins, counts) = (HashMap::new(), BTreeMap::new(), Counts::default());
        Streamed { mss, by_size, is_in_steps: false, all: sketch(), bins, counts }
    }

    /// A flow begins.
    pub fn begin(&mut self, size_bytes: u64) {
        self.counts.flows += 1;
        self.counts.bytes += if size_bytes < ENDLESS_BYTES { size_bytes } else { 0 };
    }

    /// A flow that began is not complete at the end.
    pub fn unfinished(&mut self, size_bytes: u64) {
        self.counts.unfinished += 1;
        self.counts.endless += u64::from(size_bytes >= ENDLESS_BYTES);
        self.counts.unfinished_bytes += if size_bytes < ENDLESS_BYTES { size_bytes } else { 0 };
    }

    /// Takes a flow that is complete, by its size, bytes, and its response time.
    pub fn add(&mut self, size_bytes: u64, time: Time) {
        let packets = size_bytes.div_ceil(self.mss.into());
        let key = self.key(size_bytes);
        self.by_size.entry(key).or_default().add(size_bytes, packets, time);
        if !self.is_in_steps && self.by_size.len() > MOST_SIZES {
            self.go_in_steps();
        }
        self.all.add(time.as_secs_f64());
        self.bins.entry(bin(packets)).or_insert_with(sketch).add(time.as_secs_f64());
        self.counts.completed += 1;
    }

    fn key(&self, size_bytes: u64) -> u64 {
        if self.is_in_steps { step(size_bytes) } else { size_bytes }
    }

    /// From now on sizes are counted together that are less than a step apart.
    #[cold]
    fn go_in_steps(&mut self) {
        self.is_in_steps = true;
        for (size, times) in std::mem::take(&mut self.by_size) {
            self.by_size.entry(step(size)).or_default().merge(&times);
        }
    }

    /// The figures.
    pub fn figures(&self) -> StreamFigures {
        let mut sizes: Vec<(u64, &Times)> = self.by_size.iter().map(|(&size, times)| (size, times)).collect();
        sizes.sort_unstable_by_key(|&(size, _)| std::cmp::Reverse(size));
        let (mut total, mut by_bin) = (Times::default(), BTreeMap::<u32, Times>::new());
        for (_, times) in sizes.iter().rev() {
            total.merge(times);
            let packets = (times.packets / u128::from(times.flows)) as u64;
            by_bin.entry(bin(packets)).or_default().merge(times);
        }
        let [short, long] = classes(&sizes, total.bytes);
        let counts = self.counts;
        let of_bin = |(&bin, times): (&u32, &Times)| BinFigures {
            from_packets: least(bin),
            below_packets: least(bin + 1),
            flows: times.flows,
            mean_size_packets: times.packets as f64 / times.flows as f64,
            mean_s: times.mean_s().unwrap_or_default(),
            ci95: times.ci95(),
            quantiles_s: self.bins.get(&bin).map(quantiles).unwrap_or_default(),
        };
        StreamFigures {
            flows: counts.flows,
            bytes: counts.bytes,
            flows_completed: counts.completed,
            flows_unfinished: counts.unfinished,
            flows_endless: counts.endless,
            unfinished_bytes: counts.unfinished_bytes,
            unfinished_delivered_bytes: counts.unfinished_delivered,
            retransmits: counts.retransmits,
            timeouts: counts.timeouts,
            short,
            long,
            mean_s: total.mean_s(),
            ci95: total.ci95(),
            quantiles_s: quantiles(&self.all),
            by_size: by_bin.iter().map(of_bin).collect(),
            sketch_bound: SKETCH_BOUND,
            size_step: if self.is_in_steps { SIZE_STEP } else { 0.0 },
        }
    }
}

/// Number of the step that a size is in.
fn step(size_bytes: u64) -> u64 {
    (libm::log(size_bytes as f64) / libm::log1p(SIZE_STEP)) as u64
}

fn quantiles(sketch: &DDSketch) -> Quantiles {
    let at = |share| sketch.quantile(share).ok().flatten();
    Quantiles { p5: at(0.05), p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99) }
}

/// Short and long transfers, of sizes in descending order.
fn classes(sizes: &[(u64, &Times)], bytes: u128) -> [ClassFigures; 2] {
    let [mut short, mut long] = [Times::default(); 2];
    let mut moved = (0, 0.0);
    for (_, times) in sizes {
        let before = long.bytes;
        if 2 * before >= bytes {
            short.merge(times);
        } else if 2 * (before + times.bytes) <= bytes {
            long.merge(times);
        } else {
            // The flow that reaches half of the bytes is long.
            let each = times.bytes / u128::from(times.flows);
            let missing = bytes.div_ceil(2) - before;
            let flows = u64::try_from(missing.div_ceil(each.max(1))).unwrap_or(u64::MAX).min(times.flows);
            long.merge(&times.part(flows));
            short.merge(&times.part(times.flows - flows));
            let spread = (times.most.0 - times.least.0) as f64 * 1e-9;
            moved = (flows.min(times.flows - flows), spread);
        }
    }
    let figures = |times: &Times| ClassFigures {
        mean_s: times.mean_s(),
        ci95: times.ci95(),
        flows: times.flows,
        mean_size_packets: (times.flows > 0).then(|| times.packets as f64 / times.flows as f64),
        off_by_at_most_s: moved.0 as f64 * moved.1 / times.flows.max(1) as f64,
    };
    [figures(&short), figures(&long)]
}

impl Sink for Streamed {
    fn take(&mut self, _: u32, flow: &FlowSpec, record: &FlowRecord) -> Result<(), String> {
        self.begin(flow.size_bytes);
        self.counts.retransmits += record.retransmits;
        self.counts.timeouts += u64::from(record.timeouts);
        if record.finish == Time::NEVER {
            self.unfinished(flow.size_bytes);
            self.counts.unfinished_delivered += record.delivered_bytes;
        } else {
            self.add(flow.size_bytes, record.finish - flow.start);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use units::Stream;

    use super::*;

    /// Sizes of few and of many values, times of a heavy tail that grow with the size.
    fn draw(seed: u64, flows: usize, sizes: f64) -> Vec<(u64, Time)> {
        let mut random = Stream::named(seed, "streamed");
        let mut flow = || {
            let size = 1 + (random.uniform() * random.uniform() * sizes) as u64;
            let time = (1.0 - random.uniform()).powf(-0.8) * (1.0 + size as f64 / 1e5);
            (size, Time((time * 1e6) as u64))
        };
        (0..flows).map(|_| flow()).collect()
    }

    /// What `mayfly.metrics` does: short and long mean, with ties by the order of the list.
    fn exact(flows: &[(u64, Time)]) -> [f64; 2] {
        let mut order: Vec<usize> = (0..flows.len()).collect();
        order.sort_by_key(|&i| (std::cmp::Reverse(flows[i].0), i));
        let total: u64 = flows.iter().map(|flow| flow.0).sum();
        let (mut before, mut sums) = (0, [(0.0, 0.0); 2]);
        for i in order {
            let class = &mut sums[usize::from(2 * before < total)];
            *class = (class.0 + flows[i].1.as_secs_f64(), class.1 + 1.0);
            before += flows[i].0;
        }
        sums.map(|(sum, flows)| sum / flows)
    }

    #[test]
    fn figures_agree_with_exact_ones_within_the_bounds_that_are_told() {
        for (seed, sizes) in [(1, 20.0), (2, 3000.0), (3, 1e9)] {
            let flows = draw(seed, 20_000, sizes);
            let mut streamed = Streamed::new(1460);
            flows.iter().for_each(|&(size, time)| streamed.add(size, time));
            let told = streamed.figures();
            for (class, mean) in [&told.short, &told.long].into_iter().zip(exact(&flows)) {
                let off = (class.mean_s.expect("flows") - mean).abs();
                assert!(off <= class.off_by_at_most_s + 1e-9 * mean, "{seed}: {class:?}, exact {mean}");
            }
            let mut times: Vec<f64> = flows.iter().map(|flow| flow.1.as_secs_f64()).collect();
            times.sort_by(f64::total_cmp);
            let Quantiles { p5, p50, p90, p95, p99 } = told.quantiles_s;
            for (found, share) in [(p5, 0.05), (p50, 0.5), (p90, 0.9), (p95, 0.95), (p99, 0.99)] {
                // The sketch gives the value of one rank, rounded down.
                let (value, found) = (times[(share * (times.len() - 1) as f64) as usize], found.expect("flows"));
                let off = (found / value - 1.0).abs();
                assert!(off <= SKETCH_BOUND * 1.000_001, "{seed}, {share}: {value} and {found}");
            }
            assert_eq!(told.by_size.iter().map(|bin| bin.flows).sum::<u64>(), 20_000);
        }
    }

    #[test]
    fn classes_of_sizes_have_whole_ends_without_gaps() {
        for bin in 0..30 {
            let from = least(bin);
            assert!(self::bin(from) >= bin && (from == 1 || self::bin(from - 1) < bin), "{bin}: {from}");
        }
    }

    #[test]
    fn more_sizes_than_are_kept_are_told_in_steps() {
        let mut streamed = Streamed::new(1460);
        (0..=MOST_SIZES as u64).for_each(|n| streamed.add(1_000_000 + n, Time(1_000_000 + n)));
        let told = streamed.figures();
        assert_eq!((told.size_step, told.flows_completed), (SIZE_STEP, MOST_SIZES as u64 + 1));
        let flows: Vec<_> = (0..=MOST_SIZES as u64).map(|n| (1_000_000 + n, Time(1_000_000 + n))).collect();
        for (class, mean) in [&told.short, &told.long].into_iter().zip(exact(&flows)) {
            assert!((class.mean_s.expect("flows") - mean).abs() <= class.off_by_at_most_s, "{class:?}, exact {mean}");
        }
    }
}
