//! Whether a sample lies as far from its fit as values do, told without most of the logarithms.
//!
//! Principle: a p counts samples whose distance is at least that of the values, so of a sample no more is asked than on
//! which side of it its distance lies. Three things are saved. What is drawn is taken by its logarithm, or in units of its
//! law, where fit and distances are the same in any unit: no value is exponentiated to take its logarithm again. The
//! functions of whole slices are polynomials that the compiler runs over several values at once, exact to some 1e-14. And
//! the law is asked at each sixteenth value first: distribution functions rise, so what lies between is bounded, and the
//! distance of values that no such law fits is far beyond the bound.
//!
//! What is within [`MARGIN`] of the distance is not told here, nor what comes near a bound of the fit: [`as_far`] answers
//! None then, and the sample is drawn again by [`crate::bootstrap`] to the last digit. So p is the same.

use units::Stream;

use crate::law::Law;
use crate::mixtures::{LEAST_SHARE, ROUNDS, SETTLED, TINY, narrowest_square};
use crate::normal::{Normal, both_tails};
use crate::vector_math::{exp_of_negative, exp_of_negatives, logs};

/// Nearness of two distances, as a share of them and 1, that is not told.
const MARGIN: f64 = 1e-7;
/// The same of the gain at which rounds end.
const NEAR_SETTLED: f64 = 1e-11;
/// Logarithms of what is drawn lie within this: beyond, values meet their bounds.
const WIDEST: f64 = 650.0;
/// Deviations of logarithms below which their rounding shows, and rates above which.
const NARROW: f64 = 1e-4;
/// Values of a block of which the law is asked at the ends alone.
const BLOCKS: [usize; 3] = [16, 4, 1];
/// Sums that are taken beside each other.
const LANES: usize = 4;
/// Of so many values the logarithm of a product is taken at once: none of them is above 2.
const AT_ONCE: usize = 512;

/// Memory of one sample after the other.
#[derive(Default)]
pub(crate) struct Room {
    values: Vec<f64>,
    beside: Vec<f64>,
    pairs: Vec<[f64; 3]>,
    below: Vec<f64>,
    above: Vec<f64>,
}

/// Whether a sample of `count` values of the law, to which a law of its kind is fitted, is at least `far` by Kolmogorov and
/// Smirnov and by Anderson and Darling; None where that is too near to tell.
pub(crate) fn as_far(
    law: &Law,
    count: usize,
    far: (f64, f64),
    room: &mut Room,
    normal: &mut Normal,
    stream: &mut Stream,
) -> Option<[bool; 2]> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has what the function is compiled for.
        #[allow(unsafe_code)]
        return unsafe { as_far_by_four(law, count, far, room, normal, stream) };
    }
    found::<false>(law, count, far, room, normal, stream)
}

/// The same by processors that take four numbers at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn as_far_by_four(
    law: &Law,
    count: usize,
    far: (f64, f64),
    room: &mut Room,
    normal: &mut Normal,
    stream: &mut Stream,
) -> Option<[bool; 2]> {
    found::<true>(law, count, far, room, normal, stream)
}

#[inline(always)]
fn found<const FUSED: bool>(
    law: &Law,
    count: usize,
    far: (f64, f64),
    room: &mut Room,
    normal: &mut Normal,
    stream: &mut Stream,
) -> Option<[bool; 2]> {
    match *law {
        Law::Exponential([mean]) => {
            exponentials::<FUSED>(count, stream, room);
            let unit = mean_of(&room.values);
            within(mean.ln() + least(&room.values).ln(), mean.ln() + most(&room.values).ln())?;
            sort(&mut room.values);
            told(room, 0, far, |x| of_log(-x / unit))
        }
        Law::Lognormal([mu, sigma]) => {
            normals::<FUSED>(count, normal, stream, room);
            let (mean, deviation) = crate::mixtures::mean_and_deviation(&room.values);
            wide(sigma * deviation)?;
            within(mu + sigma * least(&room.values), mu + sigma * most(&room.values))?;
            sort(&mut room.values);
            told(room, 0, far, |z| both_tails((z - mean) / deviation))
        }
        Law::Weibull([shape, scale]) => {
            exponentials::<FUSED>(count, stream, room);
            (least(&room.values) > 0.0).then_some(())?;
            logs::<FUSED>(&mut room.values);
            let (low, high) = (least(&room.values), most(&room.values));
            within(scale.ln() + low / shape, scale.ln() + high / shape)?;
            let (relative, log_scale) = weibull::<FUSED>(&room.values, high, &mut room.beside)?;
            // The bounds of the shape, and what is near them.
            (0.011..90.0).contains(&(shape * relative)).then_some(())?;
            sort(&mut room.values);
            told(room, 0, far, |log| of_log(-(relative * (log - log_scale)).exp()))
        }
        Law::Pareto([minimum, exponent]) => {
            exponentials::<FUSED>(count, stream, room);
            wide(1.0 / exponent)?;
            within(minimum.ln(), minimum.ln() + most(&room.values) / exponent)?;
            let low = least(&room.values);
            let away = mean_of(&room.values) - low;
            (away > NARROW && low.is_finite()).then_some(())?;
            sort(&mut room.values);
            told(room, 1, far, |x| of_log(-(x - low) / away))
        }
        Law::TwoExponentials([share, one, two]) => {
            room.beside.clear();
            room.values.clear();
            for _ in 0..count {
                room.beside.push(if stream.uniform() < share { one } else { two });
                room.values.push(1.0 - stream.uniform());
            }
            logs::<FUSED>(&mut room.values);
            for (value, mean) in room.values.iter_mut().zip(&room.beside) {
                *value *= -mean;
            }
            let unit = mean_of(&room.values);
            within(least(&room.values).ln(), most(&room.values).ln())?;
            for value in &mut room.values {
                *value /= unit;
            }
            let [share, one, two] = two_exponentials::<FUSED>(&room.values, [share, one / unit, two / unit])?;
            sort(&mut room.values);
            told(room, 0, far, |x| mixed(share, of_log(-x / one), of_log(-x / two)))
        }
        Law::TwoLognormals([share, mu_1, sigma_1, mu_2, sigma_2]) => {
            mixed_normals::<FUSED>(count, normal, stream, room);
            for (z, which) in room.values.iter_mut().zip(&room.beside) {
                let (mu, sigma) = if *which < share { (mu_1, sigma_1) } else { (mu_2, sigma_2) };
                *z = mu + sigma * *z;
            }
            within(least(&room.values), most(&room.values))?;
            wide(sigma_1.min(sigma_2))?;
            // In units of their mean: a part that no value belongs to goes to 0, which is another law in another unit.
            let high = most(&room.values);
            room.beside.clear();
            room.beside.extend(room.values.iter().map(|log| log - high));
            exp_of_negatives::<FUSED>(&mut room.beside);
            let unit = high + mean_of(&room.beside).ln();
            for log in &mut room.values {
                *log -= unit;
            }
            let law = [share, mu_1 - unit, sigma_1, mu_2 - unit, sigma_2];
            let [share, mu_1, sigma_1, mu_2, sigma_2] = two_lognormals::<FUSED>(&room.values, law)?;
            sort(&mut room.values);
            told(room, 0, far, |log| {
                mixed(share, both_tails((log - mu_1) / sigma_1), both_tails((log - mu_2) / sigma_2))
            })
        }
    }
}

/// Of a sample in order: both distances are bounded by blocks, of which the law is asked at the ends.
fn told(room: &mut Room, skipped: usize, far: (f64, f64), tails: impl Fn(f64) -> (f64, f64)) -> Option<[bool; 2]> {
    let (values, (ks, ad)) = (&room.values, far);
    let (n, left) = (values.len() as f64, (values.len() - skipped) as f64);
    let near = |distance: f64| MARGIN * (1.0 + distance.abs());
    let mut known = [None; 2];
    for block in BLOCKS {
        room.below.clear();
        room.above.clear();
        let starts = (0..skipped).chain((skipped..values.len()).step_by(block));
        for place in starts.chain([values.len() - 1]) {
            let (below, above) = tails(values[place]);
            room.below.push(below);
            room.above.push(above);
        }
        let (mut most_ks, mut sum) = (f64::NEG_INFINITY, 0.0);
        let mut place = 0;
        for at in 0..room.below.len() - 1 {
            let end = if at < skipped { place + 1 } else { (place + block).min(values.len()) };
            // A block of one value has one end.
            let last = if end - place == 1 { at } else { at + 1 };
            let (low, high) = (place as f64 / n, end as f64 / n);
            most_ks = f64::max(most_ks, f64::max(high - room.below[at], room.below[last] - low));
            if at >= skipped {
                let (from, to) = ((place - skipped) as f64, (end - skipped) as f64);
                // Sums of 2i + 1, and of as much less for each from the other end.
                sum += (to * to - from * from) * room.below[at].max(TINY).ln()
                    + ((left - from) * (left - from) - (left - to) * (left - to)) * room.above[last].max(TINY).ln();
            }
            place = end;
        }
        let bounds = [(most_ks, ks), (-left - sum / left, ad)];
        for (known, (bound, distance)) in known.iter_mut().zip(bounds) {
            if bound < distance - near(distance) {
                *known = Some(false);
            } else if block == 1 && bound > distance + near(distance) {
                *known = Some(true);
            }
        }
        if let [Some(one), Some(other)] = known {
            return Some([one, other]);
        }
    }
    None
}

/// Values of mean 1.
#[inline(always)]
fn exponentials<const FUSED: bool>(count: usize, stream: &mut Stream, room: &mut Room) {
    room.values.clear();
    room.values.extend((0..count).map(|_| 1.0 - stream.uniform()));
    logs::<FUSED>(&mut room.values);
    for value in &mut room.values {
        *value = -*value;
    }
}

#[inline(always)]
fn normals<const FUSED: bool>(count: usize, normal: &mut Normal, stream: &mut Stream, room: &mut Room) {
    room.pairs.clear();
    room.values.clear();
    room.values.extend(normal.take());
    while room.values.len() + 2 * room.pairs.len() < count {
        room.pairs.push(Normal::pair(stream));
    }
    paired::<FUSED>(count, normal, room);
}

/// The same, and beside each the number that tells of which part it is, which is drawn before it.
fn mixed_normals<const FUSED: bool>(count: usize, normal: &mut Normal, stream: &mut Stream, room: &mut Room) {
    room.pairs.clear();
    room.beside.clear();
    room.values.clear();
    room.values.extend(normal.take());
    let kept = room.values.len();
    room.beside.push(stream.uniform());
    while room.values.len() + 2 * room.pairs.len() < count {
        if kept + 2 * room.pairs.len() > 0 {
            room.beside.push(stream.uniform());
        }
        room.pairs.push(Normal::pair(stream));
        if kept + 2 * room.pairs.len() <= count {
            room.beside.push(stream.uniform());
        }
    }
    paired::<FUSED>(count, normal, room);
}

/// The values of pairs; that of the last one which is not asked for is kept, to its last digit.
#[inline(always)]
fn paired<const FUSED: bool>(count: usize, normal: &mut Normal, room: &mut Room) {
    room.below.clear();
    room.below.extend(room.pairs.iter().map(|[_, _, square]| *square));
    logs::<FUSED>(&mut room.below);
    for ([x, y, square], log) in room.pairs.iter().zip(&room.below) {
        let factor = (-2.0 * log / square).sqrt();
        room.values.extend([x * factor, y * factor]);
    }
    if room.values.len() > count {
        room.values.truncate(count);
        if let Some(pair) = room.pairs.last() {
            normal.keep(pair);
        }
    }
}

fn sort(values: &mut [f64]) {
    values.sort_unstable_by(f64::total_cmp);
}

fn within(low: f64, high: f64) -> Option<()> {
    (low > -WIDEST && high < WIDEST && high - low < WIDEST).then_some(())
}

fn wide(deviation: f64) -> Option<()> {
    (deviation > NARROW).then_some(())
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[inline(always)]
fn mean_of(values: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    added(&mut sums, values, |value| value);
    sums.iter().sum::<f64>() / values.len() as f64
}

fn of_log(log_above: f64) -> (f64, f64) {
    (-log_above.exp_m1(), log_above.exp())
}

fn mixed(share: f64, one: (f64, f64), two: (f64, f64)) -> (f64, f64) {
    (share * one.0 + (1.0 - share) * two.0, share * one.1 + (1.0 - share) * two.1)
}

/// Shape and logarithm of the scale of the likeliest Weibull law of values with these logarithms, whose shape is near 1.
#[inline(always)]
fn weibull<const FUSED: bool>(values: &[f64], high: f64, weights: &mut Vec<f64>) -> Option<(f64, f64)> {
    let mean = mean_of(values);
    let mut shape = 1.0;
    for _ in 0..20 {
        weights.clear();
        weights.extend(values.iter().map(|log| shape * (log - high)));
        exp_of_negatives::<FUSED>(weights);
        let mut sums = [[0.0; LANES]; 3];
        for (weights, values) in weights.chunks(LANES).zip(values.chunks(LANES)) {
            for (lane, (weight, log)) in weights.iter().zip(values).enumerate() {
                let away = log - high;
                sums[0][lane] += weight;
                sums[1][lane] += weight * away;
                sums[2][lane] += weight * away * away;
            }
        }
        let [zeroth, first, second] = sums.map(|lanes| lanes.iter().sum::<f64>());
        let (one, two) = (first / zeroth, second / zeroth);
        let value = one + high - 1.0 / shape - mean;
        let step = value / ((two - one * one).max(0.0) + 1.0 / (shape * shape));
        if step.abs() <= 1e-13 * shape {
            return Some((shape, high + (zeroth / values.len() as f64).ln() / shape));
        }
        shape -= step;
        if !(0.01..100.0).contains(&shape) {
            return None;
        }
    }
    None
}

/// Whether rounds end here, as in [`crate::mixtures`]; None where they might end elsewhere.
#[inline(always)]
fn settled(likelihood: f64, before: &mut f64) -> Option<bool> {
    let gain = likelihood - *before;
    if gain.is_nan() || (gain - SETTLED).abs() < NEAR_SETTLED {
        return None;
    }
    *before = likelihood;
    Some(gain < SETTLED)
}

/// As there: from the difference of the logarithms of the densities of both parts at each value, and the larger of them,
/// sums of what `take` makes of each value and the shares of both parts in it, and the mean of the logarithms of the
/// likelihoods. Each loop is of one kind, and short enough that what it writes is still near.
#[inline(always)]
fn belonging<const FUSED: bool, const SUMS: usize>(
    values: &[f64],
    of: impl Fn(f64) -> (f64, f64),
    take: impl Fn(f64, f64, f64) -> [f64; SUMS],
) -> (f64, [f64; SUMS]) {
    let (mut sums, mut largest, mut logs) = ([[0.0; LANES]; SUMS], [0.0; LANES], 0.0);
    let (mut t, mut first, mut second) = ([0.0; AT_ONCE], [0.0; AT_ONCE], [0.0; AT_ONCE]);
    for values in values.chunks(AT_ONCE) {
        let (t, first, second) = (&mut t[..values.len()], &mut first[..values.len()], &mut second[..values.len()]);
        for ((away, larger), value) in t.iter_mut().zip(first.iter_mut()).zip(values) {
            let (one, two) = of(*value);
            *away = one - two;
            *larger = if one >= two { one } else { two };
        }
        added(&mut largest, first, |larger| larger);
        for ((t, first), second) in t.iter_mut().zip(first.iter_mut()).zip(second.iter_mut()) {
            let away = *t;
            *t = exp_of_negative::<FUSED>(-away.abs());
            let larger = 1.0 / (1.0 + *t);
            let smaller = *t * larger;
            *first = if away >= 0.0 { larger } else { smaller };
            *second = if away >= 0.0 { smaller } else { larger };
        }
        let mut products = [1.0; LANES];
        let (parts, rest) = t.as_chunks::<LANES>();
        for part in parts {
            for (product, t) in products.iter_mut().zip(part) {
                *product *= 1.0 + t;
            }
        }
        logs += (products.iter().product::<f64>() * rest.iter().map(|t| 1.0 + t).product::<f64>()).ln();
        let (parts, rest) = values.as_chunks::<LANES>();
        let (firsts, first_rest) = first.as_chunks::<LANES>();
        let (seconds, second_rest) = second.as_chunks::<LANES>();
        for ((value, first), second) in parts.iter().zip(firsts).zip(seconds) {
            for lane in 0..LANES {
                let taken = take(value[lane], first[lane], second[lane]);
                for at in 0..SUMS {
                    sums[at][lane] += taken[at];
                }
            }
        }
        for ((value, first), second) in rest.iter().zip(first_rest).zip(second_rest) {
            for (sum, part) in sums.iter_mut().zip(take(*value, *first, *second)) {
                sum[0] += part;
            }
        }
    }
    let likelihood = (logs + largest.iter().sum::<f64>()) / values.len() as f64;
    (likelihood, sums.map(|lanes| lanes.iter().sum()))
}

/// Adds values to the sums of their lanes.
#[inline(always)]
fn added(sums: &mut [f64; LANES], values: &[f64], of: impl Fn(f64) -> f64) {
    let (parts, rest) = values.as_chunks::<LANES>();
    for part in parts {
        for (sum, value) in sums.iter_mut().zip(part) {
            *sum += of(*value);
        }
    }
    sums[0] += rest.iter().copied().map(of).sum::<f64>();
}

#[inline(always)]
fn two_exponentials<const FUSED: bool>(values: &[f64], start: [f64; 3]) -> Option<[f64; 3]> {
    let floor = LEAST_SHARE * values.len() as f64;
    let (mut weights, mut means) = ([start[0], 1.0 - start[0]], [start[1], start[2]]);
    let mut before = f64::NEG_INFINITY;
    for _ in 0..ROUNDS {
        let logs = [0, 1].map(|part: usize| weights[part].ln() - means[part].ln());
        let rates = means.map(|mean| 1.0 / mean);
        let densities = |x: f64| (logs[0] - x * rates[0], logs[1] - x * rates[1]);
        let take = |x: f64, one: f64, two: f64| [one, two, one * x, two * x];
        let (likelihood, [one, two, first, second]) = belonging::<FUSED, _>(values, densities, take);
        let counts = [one.max(floor), two.max(floor)];
        means = [(first / counts[0]).max(TINY), (second / counts[1]).max(TINY)];
        weights = counts.map(|count| count / (counts[0] + counts[1]));
        if settled(likelihood, &mut before)? {
            break;
        }
    }
    Some([weights[0], means[0], means[1]])
}

#[inline(always)]
fn two_lognormals<const FUSED: bool>(logs: &[f64], start: [f64; 5]) -> Option<[f64; 5]> {
    let floor = LEAST_SHARE * logs.len() as f64;
    let least = narrowest_square(logs);
    let (mut weights, mut mus) = ([start[0], 1.0 - start[0]], [start[1], start[3]]);
    let mut squares = [start[2], start[4]].map(|sigma| (sigma * sigma).max(least));
    let mut before = f64::NEG_INFINITY;
    for _ in 0..ROUNDS {
        let heights =
            [0, 1].map(|part: usize| weights[part].ln() - 0.5 * (2.0 * std::f64::consts::PI * squares[part]).ln());
        let rates = squares.map(|square| 0.5 / square);
        let away = mus;
        let densities = |log: f64| {
            let (a, b) = (log - away[0], log - away[1]);
            (heights[0] - a * a * rates[0], heights[1] - b * b * rates[1])
        };
        let take = |log: f64, one: f64, two: f64| {
            let (a, b) = (log - away[0], log - away[1]);
            [one, two, one * a, two * b, one * a * a, two * b * b]
        };
        let (likelihood, sums) = belonging::<FUSED, _>(logs, densities, take);
        let counts = [sums[0].max(floor), sums[1].max(floor)];
        weights = counts.map(|count| count / (counts[0] + counts[1]));
        for part in 0..2 {
            let [zeroth, first, second] = [sums[part], sums[2 + part], sums[4 + part]];
            let mu = (first + zeroth * mus[part]) / counts[part];
            let moved = mu - mus[part];
            let square = second - 2.0 * moved * first + moved * moved * zeroth;
            (mus[part], squares[part]) = (mu, (square / counts[part]).max(least));
        }
        if settled(likelihood, &mut before)? {
            break;
        }
    }
    Some([weights[0], mus[0], squares[0].sqrt(), mus[1], squares[1].sqrt()])
}
