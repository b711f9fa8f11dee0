//! The queue on one side of the tap over time.

use crate::numbers::median;

/// Width of the windows in which the queue is looked for, s; three in a row count as near.
pub(crate) const BIN_S: f64 = 0.05;

/// Number of the window that an instant is in.
pub(crate) fn window_of(at_s: f64) -> i64 {
    (at_s / BIN_S) as i64
}

/// Windows in which something tells of the queue, ascending, and the wait in each, there and back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    windows: Vec<i64>,
    waits_s: Vec<f64>,
}

impl Queue {
    /// Of windows, ascending, each with the wait of a packet; where the queue is `shared` the median of a window and its
    /// neighbours counts, else the least.
    pub(crate) fn of(windows: &[i64], waits_s: &[f64], shared: bool) -> Queue {
        let mut queue = Queue::default();
        let (mut first, mut last) = (0, 0);
        for &window in windows {
            for near in [window - 1, window, window + 1] {
                if near < 0 || queue.windows.last().is_some_and(|&before| before >= near) {
                    continue;
                }
                first += windows[first..].partition_point(|&other| other < near - 1);
                last += windows[last..].partition_point(|&other| other <= near + 1);
                let around = &waits_s[first..last];
                let wait_s = match shared {
                    true => median(&mut around.to_vec()),
                    false => around.iter().copied().min_by(f64::total_cmp),
                };
                queue.windows.push(near);
                queue.waits_s.push(wait_s.unwrap_or(0.0));
            }
        }
        queue
    }

    /// The wait in a window; 0 where nothing tells, s.
    pub(crate) fn at(&self, window: i64) -> f64 {
        self.windows.binary_search(&window).map_or(0.0, |place| self.waits_s[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_the_waits_of_its_neighbours_too() {
        let waits_s = [3.0, 1.0, 8.0];
        let queue = Queue::of(&[0, 1, 5], &waits_s, false);
        assert_eq!(queue.windows, [0, 1, 2, 4, 5, 6]);
        assert_eq!(queue.waits_s, [1.0, 1.0, 1.0, 8.0, 8.0, 8.0]);
        let shared = Queue::of(&[0, 1, 5], &waits_s, true);
        assert_eq!([shared.at(0), shared.at(2), shared.at(3), shared.at(5)], [2.0, 1.0, 0.0, 8.0]);
    }
}
