//! How arrivals answer drops tells how much of them responds; nothing is asked of the second derivative of the queue.
//!
//! Principle: a round trip after drops, flows with z packets in a round trip send less; in between they send more. By
//! how much more or less, per drop, is found over a few round trips, the change of arrivals against the drops a
//! round trip before, in blocks long enough for the queue to swing. As growth and reduction balance, that gives z
//! (Zhao 2004, Eq. 2.13, with the rate of the other traffic constant as in appendix A, on the line of a full link).
//! What is remembered from block to block is not z but the flows it stands for by the loss law of TCP, for they stay
//! when the load changes: the share follows a step at once. `docs/estimate/why-biased.md` derives the equations.
//!
//! Cost: a dozen sums and six products per sampling interval; a share is told once a round trip, a block concluded once
//! in 20.

use super::{Loads, Method, MethodSpec};
use crate::config::Settings;
use crate::line::{Line, Past};
use crate::number::Number;
use crate::reason::Reason;
use crate::signals::Signals;

/// Round trips between the arrivals that are compared.
const COMPARED: (i64, i64) = (3, 1);
/// Round trips over which arrivals are averaged.
const AVERAGED: (i64, i64) = (1, 1);
/// Round trips from a drop to its effect: the loss is noticed after one, half of the flight is then withheld.
const DELAY: (i64, i64) = (5, 4);
/// Round trips of a block, and of the past that the share is told from.
const BLOCK: (i64, i64) = (20, 1);
/// Blocks that are remembered.
const MEMORY: i64 = 100;
/// Blocks before anything is said.
const LEAST: i64 = 3;

/// The arrivals' answer to drops, learned block by block.
#[derive(Debug)]
pub(crate) struct Response<N> {
    line: Line<N>,
    slow: Past<N>,
    windows: Windows,
    block: Block<N>,
    learned: Learned<N>,
    /// Sampling intervals since the first.
    seen: i64,
    /// Sampling intervals since `last` was found.
    stale: usize,
    last: Option<Loads<N>>,
    law: Law<N>,
    /// Largest standard error of the share that is not doubted.
    bound: N,
}

/// Round trips in sampling intervals.
#[derive(Clone, Copy, Debug)]
struct Windows {
    compared: usize,
    averaged: usize,
    delay: usize,
    block: i64,
}

impl Windows {
    /// For a round trip of `round` sampling intervals; those that the line cannot hold are cut.
    fn of<N: Number>(round: N) -> Windows {
        let nearest = |(over, under): (i64, i64), least: i64, most: i64| {
            let wanted = round.times(2 * over).per(under);
            let mut found = least;
            while found < most && wanted > N::ONE.times(2 * found + 1) {
                found += 1;
            }
            found
        };
        let line = Line::<N>::LENGTH as i64 - 2;
        let averaged = nearest(AVERAGED, 1, line / 6);
        let delay = nearest(DELAY, 1, line / 4);
        let compared = nearest(COMPARED, 1, line - delay.max(averaged));
        let block = nearest(BLOCK, 1, 1 << 12).max(2 * compared);
        Windows { compared: compared as usize, averaged: averaged as usize, delay: delay as usize, block }
    }

    /// Intervals of which the line must know.
    fn reach(&self) -> usize {
        self.compared + self.delay.max(self.averaged)
    }
}

/// The window of a flow by the loss probability, packets (Padhye et al. 1998, Eq. 30, times the round trip).
#[derive(Clone, Copy, Debug)]
struct Law<N> {
    per_ack: N,
    /// First timeout, s.
    timeout: N,
}

impl<N: Number> Law<N> {
    /// One over it.
    fn per_window(&self, drops: N, rtt: N) -> N {
        let root = (self.per_ack * drops.times(2)).per(3).sqrt();
        let timing_out = self.timeout / rtt * root.times(9).per(4).at_most(N::ONE) * drops;
        root + timing_out * (N::ONE + drops * drops.times(32))
    }

    /// Packets that a round trip holds less per drop and packet of z, times the arrivals: g = z / sqrt(2 b p).
    fn slope(&self, drops: N) -> N {
        (N::ONE / (self.per_ack * drops.times(2))).sqrt()
    }
}

/// Sums of a block.
#[derive(Clone, Copy, Debug)]
struct Block<N> {
    intervals: i64,
    /// A number near the mean of the drops, that their squares be not larger than they need.
    near: N,
    /// Drops, fall of arrivals, rise of the queue.
    sums: [N; 3],
    /// Products of drops with all three.
    products: [N; 3],
    /// Arrivals, drops and queue as they were.
    totals: [N; 3],
}

impl<N: Number> Block<N> {
    const EMPTY: Self =
        Block { intervals: 0, near: N::ZERO, sums: [N::ZERO; 3], products: [N::ZERO; 3], totals: [N::ZERO; 3] };

    #[inline]
    fn take(&mut self, differences: [N; 3], now: [N; 3]) {
        self.intervals += 1;
        for i in 0..3 {
            self.sums[i] = self.sums[i] + differences[i];
            self.products[i] = self.products[i] + differences[0] * differences[i];
            self.totals[i] = self.totals[i] + now[i];
        }
    }

    /// Covariances of the drops with themselves, the fall of arrivals and the rise of the queue.
    fn covariances(&self) -> [N; 3] {
        let mean = self.sums[0].per(self.intervals);
        [0, 1, 2].map(|i| (self.products[i] - mean * self.sums[i]).per(self.intervals))
    }
}

/// Means over the blocks, of weight 1 in [`MEMORY`] at last.
#[derive(Debug)]
struct Learned<N> {
    blocks: i64,
    /// Sums over blocks: answer in flows, answer to be expected of one flow's share, square of what is left over.
    answer: N,
    expected: N,
    rest: N,
    amplitude: N,
    flows: Option<(N, N)>,
}

impl<N: Number> Learned<N> {
    fn add(sum: N, value: N, count: i64) -> N {
        if count <= MEMORY { sum + value } else { sum + value - sum.per(MEMORY) }
    }

    /// One block: `answer` in shares, `expected` for a share of 1, `room` flows for a share of 1, `flows` thought so
    /// far. Blocks that swing more than usual, as with a step of the load, count no more than others.
    fn take(&mut self, answer: N, expected: N, room: N, flows: N, amplitude: N) {
        self.blocks = (self.blocks + 1).min(2 * MEMORY);
        let count = self.blocks;
        let usual = if count == 1 { amplitude } else { self.amplitude.per((count - 1).min(MEMORY)) };
        self.amplitude = Self::add(self.amplitude, amplitude.at_most(usual.times(2)), count);
        let ratio = (amplitude / usual).at_most(N::ONE);
        let weight = ratio * ratio;
        let rest = weight * (answer * room - expected * flows);
        self.answer = Self::add(self.answer, weight * answer * room, count);
        self.expected = Self::add(self.expected, weight * expected, count);
        self.rest = Self::add(self.rest, rest * rest, count);
        self.conclude();
    }

    /// Flows and their standard error; nothing before a few blocks.
    fn conclude(&mut self) {
        let count = self.blocks.min(MEMORY);
        let expected = self.expected.per(count);
        self.flows = (self.blocks >= LEAST && expected > N::ZERO).then(|| {
            // The weights of an exponential memory of n are those of 2 n - 1 equal ones.
            let error = self.rest.per(count).per(self.blocks.min(2 * MEMORY - 1)).sqrt();
            (self.answer.per(count) / expected, error / expected)
        });
    }
}

impl<N: Number> Method<N> for Response<N> {
    const SPEC: MethodSpec = MethodSpec {
        id: "response",
        about: "how arrivals answer drops over three round trips, carried on by the loss law",
        source: "Zhao 2004, Eq. 2.13, A.2 and A.8; Padhye et al. 1998",
    };

    fn with(settings: &Settings<N>) -> Self {
        Response {
            line: Line::new(),
            slow: Past::new(),
            windows: Windows::of(N::ONE.times(3)),
            block: Block::EMPTY,
            learned: Learned {
                blocks: 0,
                answer: N::ZERO,
                expected: N::ZERO,
                rest: N::ZERO,
                amplitude: N::ZERO,
                flows: None,
            },
            seen: 0,
            stale: 0,
            last: None,
            law: Law { per_ack: settings.per_ack, timeout: N::from_f64(0.2) },
            bound: N::from_f64(0.025),
        }
    }

    #[inline]
    fn update(&mut self, signals: &Signals<N>, settings: &Settings<N>) -> Option<Loads<N>> {
        // Packets per propagation delay, whatever the length of the interval.
        let scale = signals.frequency * settings.propagation;
        let now = [signals.arrivals * scale, signals.drops * scale, signals.queue];
        if !signals.follows {
            self.line.forget();
            self.block = Block::EMPTY;
        }
        self.line.push(now);
        self.slow.take(now, self.windows.block);
        if self.block.intervals == 0 {
            let [_, drops, queue] = self.slow.means();
            self.windows = Windows::of(self.rtt(queue, settings) * signals.frequency);
            self.block.near = drops.times(self.windows.compared as i64);
        }
        self.seen = self.seen.saturating_add(1);
        // Until the means of the past are those of the past.
        if self.seen > self.windows.block && self.line.known() > self.windows.reach() {
            self.block.take(self.differences(), now);
            if self.block.intervals >= self.windows.block {
                self.conclude(signals, settings);
                self.block = Block::EMPTY;
            }
        }
        // What is averaged over 20 round trips is asked once in each.
        self.stale += 1;
        if self.stale >= self.windows.averaged || self.last.is_none() {
            self.stale = 0;
            self.last = self.loads(signals, settings).or(self.last);
        }
        self.last
    }
}

impl<N: Number> Response<N> {
    /// Round trip at a mean queue, s; where R_0 is given, that.
    fn rtt(&self, queue: N, settings: &Settings<N>) -> N {
        if settings.rtt > N::ZERO { settings.rtt } else { queue / settings.capacity + settings.propagation }
    }

    /// Drops, and what arrivals fell and the queue rose by since [`COMPARED`] before: sums over their windows.
    #[inline]
    fn differences(&self) -> [N; 3] {
        let Windows { compared, averaged, delay, .. } = self.windows;
        let [_, drops, _] = self.line.sums(delay, compared);
        let [after, _, queue_after] = self.line.sums(0, averaged);
        let [before, _, queue_before] = self.line.sums(compared, averaged);
        [drops - self.block.near, before - after, queue_after - queue_before]
    }

    /// Flows that all arrivals would be.
    fn room(&self, arrivals: N, drops: N, rtt: N, settings: &Settings<N>) -> N {
        arrivals * (rtt / settings.propagation) * self.law.per_window(drops, rtt)
    }

    /// What the block says: cov(P, -ΔA)/A = s f cov(P, P)/A + s cov(P, ΔR)/R for the responsive share s.
    fn conclude(&mut self, signals: &Signals<N>, settings: &Settings<N>) {
        let [arrivals, drops, queue] = self.block.totals.map(|total| total.per(self.block.intervals));
        let [variance, fall, rise] = self.block.covariances();
        if arrivals <= N::ZERO || drops <= N::ZERO || variance <= N::ZERO {
            return;
        }
        let share = drops / arrivals;
        let rtt = self.rtt(queue, settings);
        if share <= N::ZERO || share >= N::ONE {
            return;
        }
        // The block holds sums over the windows.
        let (compared, averaged) = (self.windows.compared as i64, self.windows.averaged as i64);
        let [fall, rise] = [fall, rise].map(|sum| (sum / variance).times(compared).per(averaged));
        let span = signals.length.times(compared) / rtt;
        let factor = self.law.slope(share) * span;
        let answer = fall / factor;
        let expected = N::ONE + arrivals * rise / (settings.capacity * rtt) / factor;
        let amplitude = factor * (variance.sqrt().per(compared) / arrivals);
        let room = self.room(arrivals, share, rtt, settings);
        let flows = self.last.map_or((N::ONE - settings.start_share) * room, |loads| loads.flows);
        if amplitude > N::ZERO {
            self.learned.take(answer, expected, room, flows, amplitude);
        }
    }

    /// Shares of now: the start, of which any share was as likely as another, and what was learned, by their errors.
    #[inline]
    fn loads(&self, signals: &Signals<N>, settings: &Settings<N>) -> Option<Loads<N>> {
        let [arrivals, drops, queue] = self.slow.means();
        if arrivals <= N::ZERO {
            return None;
        }
        // Less than a drop in the past that is looked at: the load is carried on.
        if self.slow.sums()[1] < signals.frequency * settings.propagation {
            return self.last.map(|loads| Loads { doubt: Some(Reason::NoDrops), ..loads });
        }
        let rtt = self.rtt(queue, settings);
        let room = self.room(arrivals, (drops / arrivals).at_most(N::ONE), rtt, settings);
        if room <= N::ZERO {
            return None;
        }
        let start = N::ONE - settings.start_share;
        let even = N::from_ratio(1, 12);
        let (responsive, error, weight) = match self.learned.flows {
            Some((flows, error)) => {
                let (share, error) = (flows / room, error / room);
                let weight = (error * error) / (error * error + even);
                (share + (start - share) * weight, error, weight)
            }
            None => (start, N::ONE, N::ONE),
        };
        let doubt = if weight > N::from_ratio(1, 10) {
            Some(Reason::Start)
        } else if responsive < N::ZERO || responsive > N::ONE {
            Some(Reason::Bounded)
        } else if error > self.bound {
            Some(Reason::Uncertain)
        } else {
            None
        };
        let held = responsive.at_least(N::ZERO).at_most(N::ONE);
        Some(Loads {
            responsive: held * arrivals * (rtt / settings.propagation),
            flows: responsive.at_least(N::ZERO) * room,
            share: Some(N::ONE - held),
            doubt,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Float;

    const PLAIN: Law<Float> = Law { per_ack: Float(1.0), timeout: Float(0.2) };

    #[test]
    fn the_window_is_that_of_padhye() {
        // Eq. 30 at 1 %, 0.1 s and a timeout of 0.2 s, by hand: 0.1 sqrt(2/300) + 0.2 * 3 sqrt(3/800) * 0.01 * 1.0032.
        let rate = 1.0 / (0.1 * (0.02f64 / 3.0).sqrt() + 0.2 * 3.0 * (0.00375f64).sqrt() * 0.01 * 1.0032);
        assert!((1.0 / PLAIN.per_window(Float(0.01), Float(0.1)).0 - 0.1 * rate).abs() < 1e-9);
        // Without timeouts and with two packets an acknowledgement: sqrt(3/(2 b p)).
        let delayed = Law { per_ack: Float(2.0), timeout: Float(0.0) };
        assert!((1.0 / delayed.per_window(Float(0.01), Float(0.1)).0 - 75f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn windows_are_to_the_nearest_interval() {
        let windows = Windows::of(Float(3.3));
        assert_eq!((windows.averaged, windows.delay, windows.compared, windows.block), (3, 4, 10, 66));
        assert_eq!(windows.reach(), 14);
        // A round trip of two thirds of an interval.
        let coarse = Windows::of(Float(0.66));
        assert_eq!((coarse.averaged, coarse.delay, coarse.compared, coarse.block), (1, 1, 2, 13));
        // More than the line holds is cut.
        assert!(Windows::of(Float(1000.0)).reach() < Line::<Float>::LENGTH - 1);
    }

    #[test]
    fn covariances_are_those_of_the_block() {
        let mut block = Block { near: Float(0.0), ..Block::EMPTY };
        for (x, y) in [(1.0, 2.0), (3.0, 0.0), (5.0, 4.0)] {
            block.take([Float(x), Float(y), Float(-x)], [Float(0.0); 3]);
        }
        // Means 3 and 2; deviations -2, 0, 2 and 0, -2, 2.
        let found = block.covariances().map(|value| value.0);
        for (value, expected) in found.into_iter().zip([8.0 / 3.0, 4.0 / 3.0, -8.0 / 3.0]) {
            assert!((value - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn a_block_that_swings_ten_times_as_much_counts_no_more_than_others() {
        let (one, room) = (Float(1.0), Float(100.0));
        let zero = Float(0.0);
        let mut learned = Learned { blocks: 0, answer: zero, expected: zero, rest: zero, amplitude: zero, flows: None };
        for _ in 0..9 {
            learned.take(Float(0.5), one, room, Float(50.0), Float(0.2));
        }
        assert_eq!(learned.flows.map(|found| found.0.0), Some(50.0));
        learned.take(Float(1.0), one, room, Float(50.0), Float(2.0));
        let (flows, error) = learned.flows.expect("ten blocks");
        assert!((flows.0 - 55.0).abs() < 1e-9);
        // One of ten blocks is off by 0.5: sqrt(50^2 / 10 / 10).
        assert!((error.0 - 5.0).abs() < 1e-9);
    }
}
