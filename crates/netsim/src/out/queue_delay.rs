//! Waiting times in the forward queue, as sums from which mean and deviation follow.

use tables::Column;
use units::Time;

/// Waiting times of the packets of one flow that left the forward queue: from arrival at the queue to
/// the start of transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueDelay {
    /// Packets.
    pub packets: u64,
    /// Sum, nanoseconds.
    pub sum_ns: u64,
    /// Sum of squares, square seconds.
    pub squares_s2: f64,
    /// Longest.
    pub max: Time,
}

impl QueueDelay {
    /// Counts a packet that waited `wait`.
    #[inline]
    pub(crate) fn add(&mut self, wait: Time) {
        self.packets += 1;
        self.sum_ns += wait.0;
        self.squares_s2 += (wait.0 as f64 * 1e-9) * (wait.0 as f64 * 1e-9);
        self.max = self.max.max(wait);
    }

    /// Those of two sets of packets together.
    pub(crate) fn and(self, other: QueueDelay) -> QueueDelay {
        QueueDelay {
            packets: self.packets + other.packets,
            sum_ns: self.sum_ns + other.sum_ns,
            squares_s2: self.squares_s2 + other.squares_s2,
            max: self.max.max(other.max),
        }
    }

    /// Mean, seconds; NaN without packets.
    pub fn mean_s(&self) -> f64 {
        self.sum_ns as f64 * 1e-9 / self.packets as f64
    }

    /// Standard deviation over packets (divisor n), seconds; NaN without packets.
    pub fn deviation_s(&self) -> f64 {
        let mean = self.mean_s();
        let variance = self.squares_s2 / self.packets as f64 - mean * mean;
        // Equal waits may leave a rounding error below zero.
        if variance < 0.0 { 0.0 } else { variance.sqrt() }
    }

    /// Longest, seconds; NaN without packets.
    pub fn max_s(&self) -> f64 {
        if self.packets > 0 { self.max.as_secs_f64() } else { f64::NAN }
    }
}

/// Columns of the waiting times that `of` picks from a row: how many, and what `queue_delay_` means.
pub(crate) fn columns<R: 'static>(of: fn(&R) -> QueueDelay) -> Vec<Column<R>> {
    let delay = "their queueing delay, from arrival at the queue to the start of transmission; null without packets.";
    vec![
        Column::new(
            "queue_packets",
            "packets",
            "Packets that left the forward queue; of one flow, data of `down` flows, acknowledgements of `up` flows.",
            move |row| of(row).packets,
        ),
        Column::new("queue_delay_mean_s", "s", format!("Mean of {delay}"), move |row| of(row).mean_s()),
        Column::new("queue_delay_deviation_s", "s", format!("Standard deviation (divisor n) of {delay}"), move |row| {
            of(row).deviation_s()
        }),
        Column::new("queue_delay_max_s", "s", format!("Maximum of {delay}"), move |row| of(row).max_s()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_packets_have_no_wait() {
        let none = QueueDelay::default();
        assert!(none.mean_s().is_nan() && none.deviation_s().is_nan() && none.max_s().is_nan());
    }

    #[test]
    fn sums_take_the_longest_waits_without_overflow() {
        let mut waits = QueueDelay::default();
        let hour = Time(3_600_000_000_000);
        for _ in 0..5_000 {
            waits.add(hour);
        }
        assert!(waits.deviation_s() < 1e-3 && waits.max_s() == 3600.0);
        waits.add(Time::ZERO);
        assert_eq!((waits.packets, waits.max), (5_001, hour));
        assert_eq!(waits.sum_ns, 5_000 * hour.0);
        assert!((waits.mean_s() / (5_000.0 / 5_001.0 * 3600.0) - 1.0).abs() < 1e-12);
        assert!((waits.squares_s2 / (5_000.0 * 3600.0 * 3600.0) - 1.0).abs() < 1e-12);
    }
}
