//! A call in one direction: delay, jitter, loss, and what a receiver makes of it that holds every packet until its
//! deadline. Where the rules come from: `docs/users.md`.

use crate::e_model::{Line, opinion, rating};
use crate::order::sorted;

/// Speech in a packet, seconds.
const PACKET_S: f64 = 0.02;
/// Time between two adaptations of the playout buffer, seconds.
const WINDOW_S: f64 = 10.0;
/// Shares of the arriving packets that the playout buffer may wait for.
const PLAYOUT_QUANTILES: [f64; 6] = [0.9, 0.95, 0.98, 0.99, 0.995, 1.0];

/// A packet of speech.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heard {
    /// When it was sent, seconds.
    pub sent_s: f64,
    /// When it came, seconds; `None` when it was lost.
    pub received_s: Option<f64>,
}

/// Packets of both directions of a call, down before up.
pub(crate) type Pair = [Vec<Heard>; 2];

impl Heard {
    pub(crate) fn delay_s(&self) -> Option<f64> {
        self.received_s.map(|received_s| received_s - self.sent_s)
    }
}

/// What the playout buffer did with the packets of one window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Deadline, seconds after sending; `None` where nothing arrived.
    pub playout_s: Option<f64>,
    /// Share that was lost or came later.
    pub missing: f64,
    /// Rating of the E-model.
    pub rating: f64,
}

impl Window {
    /// Mean opinion score of it.
    pub fn opinion(&self) -> f64 {
        opinion(self.rating)
    }
}

/// Mean interarrival jitter, seconds: the mean over the packets that arrived of `J += (|D| - J) / 16` (RFC 3550, 6.4.1),
/// D the difference of the delays of two that arrived one after the other; `None` below two.
///
/// ```
/// let delays = [Some(0.01), Some(0.01), Some(0.026), None];
/// assert!((metrics::jitter_s(&delays).unwrap() - 0.0005).abs() < 1e-15);
/// ```
pub fn jitter_s(delays_s: &[Option<f64>]) -> Option<f64> {
    let (mut jitter, mut sum, mut count, mut last) = (0.0, 0.0, 0_u32, None::<f64>);
    for &delay in delays_s.iter().flatten() {
        if let Some(last) = last {
            jitter = jitter * (1.0 - 1.0 / 16.0) + (delay - last).abs() / 16.0;
            sum += jitter;
            count += 1;
        }
        last = Some(delay);
    }
    (count > 0).then(|| sum / f64::from(count))
}

/// Value that at least the share `quantile` of `ordered`, which is not empty, does not exceed.
fn inverted(ordered: &[f64], quantile: f64) -> f64 {
    let index = ordered.len() as f64 * quantile - 1.0;
    let before = index.floor();
    let place = if index == before { before } else { before + 1.0 };
    ordered[(place.max(0.0) as usize).min(ordered.len() - 1)]
}

/// A call in one direction, window by window of the playout buffer; `packets` in order of sending. A last window of less
/// than half the length counts with the one before it.
pub fn windows(packets: &[Heard]) -> Vec<Window> {
    let (Some(first), Some(last)) = (packets.first(), packets.last()) else { return Vec::new() };
    let whole = ((last.sent_s - first.sent_s) / WINDOW_S).round_ties_even().max(1.0) as usize;
    let line = Line::default();
    let place = |packet: &Heard| (((packet.sent_s - first.sent_s) / WINDOW_S) as usize).min(whole - 1);
    let mut found = Vec::with_capacity(whole);
    let mut rest = packets;
    for window in 0..whole {
        let (own, later) = rest.split_at(rest.partition_point(|packet| place(packet) <= window));
        rest = later;
        let arrived = sorted(own.iter().filter_map(Heard::delay_s).collect());
        if arrived.is_empty() {
            found.push(Window { playout_s: None, missing: 1.0, rating: 0.0 });
            continue;
        }
        let at = |quantile: f64| {
            let deadline = inverted(&arrived, quantile);
            let in_time = arrived.partition_point(|&delay| delay <= deadline);
            let missing = 1.0 - in_time as f64 / own.len() as f64;
            Window { playout_s: Some(deadline), missing, rating: rating(&line, 1e3 * (deadline + PACKET_S), missing) }
        };
        // Of equal ratings the longest deadline.
        let better = |best: Window, other: Window| match best.rating.total_cmp(&other.rating) {
            std::cmp::Ordering::Greater => best,
            std::cmp::Ordering::Less => other,
            std::cmp::Ordering::Equal => {
                if other.playout_s > best.playout_s {
                    other
                } else {
                    best
                }
            }
        };
        found.extend(PLAYOUT_QUANTILES.iter().map(|&quantile| at(quantile)).reduce(better));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(count: u32, delay_s: f64) -> Vec<Heard> {
        let one = |n: u32| {
            let sent_s = 0.02 * f64::from(n);
            Heard { sent_s, received_s: Some(sent_s + delay_s) }
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn a_call_without_loss_has_the_rating_of_its_delay() {
        let found = windows(&steady(500, 0.01));
        assert_eq!(found.len(), 1);
        assert!(found[0].missing.abs() < 1e-12);
        // The delays are equal but for rounding: 10 ms and the 20 ms that fill a packet.
        assert!((found[0].rating - rating(&Line::default(), 30.0, 0.0)).abs() < 1e-6);
    }

    #[test]
    fn a_short_last_window_counts_with_the_one_before_it() {
        let (short, long) = (windows(&steady(740, 0.01)), windows(&steady(760, 0.01)));
        assert_eq!((short.len(), long.len()), (1, 2));
    }

    #[test]
    fn where_nothing_arrived_the_rating_is_0() {
        let packets = [Heard { sent_s: 0.0, received_s: None }, Heard { sent_s: 0.02, received_s: None }];
        assert_eq!(windows(&packets), [Window { playout_s: None, missing: 1.0, rating: 0.0 }]);
        assert_eq!(windows(&[]), []);
    }

    #[test]
    fn the_buffer_gives_up_the_few_that_come_far_too_late() {
        let mut packets = steady(500, 0.01);
        packets.iter_mut().take(5).for_each(|packet| packet.received_s = Some(packet.sent_s + 0.5));
        let found = windows(&packets);
        // 99 % come in 10 ms: 1 % missing takes 95 / 26.1 points, 500 ms of delay some 30.
        assert!((found[0].missing - 0.01).abs() < 1e-12);
        assert!((found[0].rating - rating(&Line::default(), 30.0, 0.01)).abs() < 1e-6);
    }

    #[test]
    fn quantiles_are_those_of_numpy() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let found: Vec<f64> = [0.05, 0.1, 0.9, 0.95, 1.0].iter().map(|&one| inverted(&values, one)).collect();
        assert_eq!(found, [1.0, 1.0, 9.0, 10.0, 10.0]);
    }

    #[test]
    fn fewer_than_two_arrivals_have_no_jitter() {
        assert_eq!(jitter_s(&[None, Some(0.1), None]), None);
        assert_eq!(jitter_s(&[Some(0.1), None, Some(0.1)]), Some(0.0));
    }

    #[test]
    fn of_a_call_that_breaks_off_the_rest_is_as_bad_as_can_be() {
        let mut packets = steady(1000, 0.03);
        packets[500..].iter_mut().for_each(|packet| packet.received_s = None);
        let found = windows(&packets);
        assert!((found[0].rating - rating(&Line::default(), 50.0, 0.0)).abs() < 1e-6);
        assert_eq!((found[1].rating, found[1].opinion()), (0.0, 1.0));
    }

    #[test]
    fn jitter_is_that_of_rfc_3550() {
        let delays: Vec<f64> = (0..300).map(|n| 0.01 * f64::from(n * n % 7)).collect();
        let (mut jitter, mut seen) = (0.0, Vec::new());
        for pair in delays.windows(2) {
            jitter += ((pair[1] - pair[0]).abs() - jitter) / 16.0;
            seen.push(jitter);
        }
        let mean = seen.iter().sum::<f64>() / seen.len() as f64;
        let found = jitter_s(&delays.into_iter().map(Some).collect::<Vec<_>>()).expect("300 packets");
        assert!((found / mean - 1.0).abs() < 1e-12);
    }
}
