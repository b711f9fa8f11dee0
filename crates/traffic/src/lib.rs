//! What crossed a link when: loads of windows of any width, waits, and bytes by connection.
//!
//! Principle: what each direction of a connection carried stands in the order of time once, and is summed by moments, so
//! that a load is one pass over the moments of its direction. Rows come as they are read, in the order of time, or are put
//! into it by the digits of their times.

use std::io;
use std::sync::Arc;

use capture::{StoredVolumes, Volume};

/// What one direction of a connection carried in one window of time.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Row of the connection.
    pub connection: usize,
    /// Whether it went from the near side of the link.
    pub up: bool,
    /// Start of the window, s.
    pub start_s: f64,
    /// Lengths of the IP packets.
    pub wire_bytes: i64,
    /// Payload of the other end that they acknowledged first.
    pub acked_bytes: i64,
    /// Least round-trip time between the tap and the sender that they ended, s; NaN where none did.
    pub rtt_s: f64,
}

/// Where the rows are.
pub enum Rows {
    /// As they were read, and whether the opener of each connection is on the near side.
    Read(Arc<Vec<Volume>>, Vec<bool>),
    /// The same in a file, in the order of time.
    Stored(Arc<StoredVolumes>, Vec<bool>),
    /// In a table.
    Table(Vec<Row>),
}

impl Rows {
    fn len(&self) -> usize {
        match self {
            Rows::Read(volumes, _) => volumes.len(),
            Rows::Stored(volumes, _) => volumes.len(),
            Rows::Table(rows) => rows.len(),
        }
    }

    /// A row in memory.
    #[inline]
    fn at(&self, place: usize) -> Row {
        match self {
            Rows::Read(volumes, opener_near) => row_of(&volumes[place], opener_near),
            Rows::Stored(..) => {
                unreachable!("rows of a file are in the order of time and are read one after the other")
            }
            Rows::Table(rows) => rows[place],
        }
    }

    /// Rows in the order they stand, until `see` says no; whether it never did.
    #[inline]
    fn each_while(&self, mut see: impl FnMut(Row) -> bool) -> io::Result<bool> {
        Ok(match self {
            Rows::Read(volumes, opener_near) => volumes.iter().all(|volume| see(row_of(volume, opener_near))),
            Rows::Stored(volumes, opener_near) => volumes.each_while(|volume| see(row_of(volume, opener_near)))?,
            Rows::Table(rows) => rows.iter().all(|row| see(*row)),
        })
    }

    /// Every row, in the order they stand.
    #[inline]
    fn each(&self, mut see: impl FnMut(Row)) -> io::Result<()> {
        self.each_while(|row| {
            see(row);
            true
        })?;
        Ok(())
    }

    /// Numbers that are in the order of the times.
    fn times(&self) -> Vec<u64> {
        match self {
            Rows::Read(volumes, _) => {
                let least = volumes.iter().map(|volume| volume.start_ns).min().unwrap_or(0);
                volumes.iter().map(|volume| volume.start_ns.wrapping_sub(least) as u64).collect()
            }
            // They are in this order.
            Rows::Stored(volumes, _) => (0..volumes.len() as u64).collect(),
            Rows::Table(rows) => rows.iter().map(|row| in_order(row.start_s)).collect(),
        }
    }
}

#[inline]
fn row_of(volume: &Volume, opener_near: &[bool]) -> Row {
    let connection = volume.connection as usize;
    Row {
        connection,
        up: volume.from_opener == opener_near[connection],
        start_s: volume.start_ns as f64 * 1e-9,
        wire_bytes: volume.wire_bytes as i64,
        acked_bytes: volume.acked_bytes as i64,
        rtt_s: volume.rtt_ns.map_or(f64::NAN, |ns| ns as f64 * 1e-9),
    }
}

/// Bits that are in the order of the numbers.
fn in_order(number: f64) -> u64 {
    // -0 and 0 are one moment.
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Places in the order of their keys, equal ones as they stand: by eleven bits of the keys after the other, those first that
/// count least.
fn order_of(keys: &[u64]) -> Vec<u32> {
    const BITS: u32 = 11;
    const DIGITS: usize = 1 << BITS;
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    let (all, any) = keys.iter().fold((u64::MAX, 0), |(all, any), key| (all & key, any | key));
    let mut next = vec![0; keys.len()];
    for shift in (0..u64::BITS).step_by(BITS as usize) {
        // Where all keys have the same digit, there is nothing to do.
        if (all ^ any) >> shift & (DIGITS as u64 - 1) == 0 {
            continue;
        }
        let digit = |place: u32| (keys[place as usize] >> shift) as usize & (DIGITS - 1);
        let mut begins = [0_u32; DIGITS + 1];
        for key in keys {
            begins[((key >> shift) as usize & (DIGITS - 1)) + 1] += 1;
        }
        for at in 0..DIGITS {
            begins[at + 1] += begins[at];
        }
        for &place in &order {
            let begin = &mut begins[digit(place)];
            next[*begin as usize] = place;
            *begin += 1;
        }
        std::mem::swap(&mut order, &mut next);
    }
    order
}

/// What one direction of the link carried at one time.
#[derive(Clone, Copy)]
struct Moment {
    start_s: f64,
    wire_bytes: i64,
    acked_bytes: i64,
}

/// What is summed in windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// IP packets that passed in a direction.
    Passed,
    /// Payload that acknowledgements which passed in it acknowledge.
    Acknowledged,
}

/// Sums by connection: bytes, and whether there is a row at all.
pub type ByConnection = (Vec<i64>, Vec<bool>);

/// A row that ended a round trip.
#[derive(Clone, Copy)]
struct Timed {
    start_s: f64,
    /// Twice the number of its pair of hosts, and 1 more on its way up.
    between: u32,
    /// Round-trip time; at last, what of it is above the least of the same hosts and direction.
    wait_s: f64,
}

/// What passed a link.
pub struct Traffic {
    rows: Rows,
    /// Whether the rows stand in the order of time.
    in_time: bool,
    /// Down and up.
    moments: [Vec<Moment>; 2],
    counts: [usize; 2],
    sums: [ByConnection; 2],
    timed: Vec<Timed>,
    /// Of rows in a file, of which those that ended a round trip are not held: the number of the two hosts of each
    /// connection, and the least of these and a direction.
    of_file: Option<(Vec<u32>, Vec<f64>)>,
    longest_silence_s: Option<f64>,
    width_s: f64,
    duration_s: f64,
}

impl Traffic {
    /// Of rows of windows of `width_s` in a capture that lasts `duration_s`; `pairs` has for each connection a number of
    /// the two hosts that it is between.
    ///
    /// # Errors
    /// Rows in a file that cannot be read.
    pub fn of(rows: Rows, pairs: &[u32], width_s: f64, duration_s: f64) -> io::Result<Traffic> {
        let mut found = Traffic::none(&rows, pairs, width_s, duration_s);
        let mut before = None;
        found.in_time = rows.each_while(|row| found.add(row, pairs, &mut before))?;
        if !found.in_time {
            (found, before) = (Traffic::none(&rows, pairs, width_s, duration_s), None);
            for place in order_of(&rows.times()) {
                found.add(rows.at(place as usize), pairs, &mut before);
            }
        }
        found.rows = rows;
        let mut least =
            vec![f64::INFINITY; found.timed.iter().map(|timed| timed.between as usize + 1).max().unwrap_or(0)];
        for timed in &found.timed {
            let least = &mut least[timed.between as usize];
            *least = least.min(timed.wait_s);
        }
        for timed in &mut found.timed {
            timed.wait_s -= least[timed.between as usize];
        }
        Ok(found)
    }

    /// Before there is a row.
    fn none(rows: &Rows, pairs: &[u32], width_s: f64, duration_s: f64) -> Traffic {
        let stored = matches!(rows, Rows::Stored(..));
        // What is not filled is not touched; of a file there are many rows at a time.
        let moments = || Vec::with_capacity(if stored { 0 } else { rows.len() });
        let none = || (vec![0; pairs.len()], vec![false; pairs.len()]);
        let count = pairs.iter().max().map_or(0, |&pair| 2 * (pair as usize + 1));
        Traffic {
            rows: Rows::Table(Vec::new()),
            in_time: false,
            moments: [moments(), moments()],
            counts: [0; 2],
            sums: [none(), none()],
            timed: Vec::new(),
            of_file: stored.then(|| (pairs.to_vec(), vec![f64::INFINITY; count])),
            longest_silence_s: None,
            width_s,
            duration_s,
        }
    }

    /// Adds the next row in the order of time; false where it is not the next.
    #[inline]
    fn add(&mut self, row: Row, pairs: &[u32], before: &mut Option<f64>) -> bool {
        let Row { connection, up, start_s, wire_bytes, acked_bytes, rtt_s } = row;
        let way = usize::from(up);
        if let Some(before) = before.replace(start_s) {
            if before > start_s {
                return false;
            }
            self.longest_silence_s = Some(f64::max(self.longest_silence_s.unwrap_or(0.0), start_s - before));
        }
        self.counts[way] += 1;
        let (sums, there) = &mut self.sums[way];
        sums[connection] = sums[connection].wrapping_add(wire_bytes);
        there[connection] = true;
        match self.moments[way].last_mut() {
            Some(last) if last.start_s == start_s => {
                last.wire_bytes = last.wire_bytes.wrapping_add(wire_bytes);
                last.acked_bytes = last.acked_bytes.wrapping_add(acked_bytes);
            }
            _ => self.moments[way].push(Moment { start_s, wire_bytes, acked_bytes }),
        }
        if !rtt_s.is_nan() {
            let between = 2 * pairs[connection] + u32::from(up);
            match &mut self.of_file {
                Some((_, least)) => least[between as usize] = least[between as usize].min(rtt_s),
                None => self.timed.push(Timed { start_s, between, wait_s: rtt_s }),
            }
        }
        true
    }

    /// Rows of a direction.
    pub fn rows(&self, up: bool) -> usize {
        self.counts[usize::from(up)]
    }

    /// Bytes of IP packets that passed in a direction.
    pub fn carried(&self, up: bool) -> i64 {
        self.moments[usize::from(up)].iter().fold(0, |sum, moment| sum.wrapping_add(moment.wire_bytes))
    }

    /// Windows of `width_s` in which a direction has something, counted from time 0, and the load of each, bit/s; a last
    /// window that the capture does not fill is left out. Of what is acknowledged, `up` is the way of the acknowledgements.
    pub fn loads(&self, up: bool, measure: Measure, width_s: f64) -> (Vec<i64>, Vec<f64>) {
        let (mut windows, mut loads) = (Vec::new(), Vec::new());
        self.summed(up, measure, width_s, |window, sum| {
            windows.push(window);
            loads.push(load(sum, width_s));
        });
        (windows, loads)
    }

    /// The largest of these loads, bit/s, 0 of none.
    pub fn largest_load(&self, up: bool, measure: Measure, width_s: f64) -> f64 {
        let mut largest = 0;
        self.summed(up, measure, width_s, |_, sum| largest = largest.max(sum));
        load(largest, width_s)
    }

    /// Sums in the windows of a width.
    #[inline]
    fn summed(&self, up: bool, measure: Measure, width_s: f64, mut put: impl FnMut(i64, i64)) {
        let moments = &self.moments[usize::from(up)];
        match measure {
            Measure::Passed => self.summed_of(moments, width_s, |moment| moment.wire_bytes, &mut put),
            Measure::Acknowledged => self.summed_of(moments, width_s, |moment| moment.acked_bytes, &mut put),
        }
    }

    #[inline]
    fn summed_of(
        &self,
        moments: &[Moment],
        width_s: f64,
        amount: impl Fn(&Moment) -> i64,
        put: &mut impl FnMut(i64, i64),
    ) {
        let Some(first) = moments.first() else { return };
        let whole = (self.duration_s / width_s * (1.0 + 1e-9)).floor();
        let (mut open, mut sum) = (self.window(first.start_s, width_s), 0_i64);
        let mut close = |window: i64, sum: i64| {
            if window >= 0 && (window as f64) < whole {
                put(window, sum);
            }
        };
        for moment in moments {
            let window = self.window(moment.start_s, width_s);
            if window != open {
                close(open, sum);
                (open, sum) = (window, 0);
            }
            sum = sum.wrapping_add(amount(moment));
        }
        close(open, sum);
    }

    /// Bytes of each connection in a direction, in one window of a width or in all of them.
    ///
    /// # Errors
    /// As [`Traffic::of`].
    pub fn by_connection(&self, up: bool, window: Option<(i64, f64)>) -> io::Result<ByConnection> {
        let all = &self.sums[usize::from(up)];
        let Some((window, width_s)) = window else { return Ok(all.clone()) };
        let (mut sums, mut there) = (vec![0_i64; all.0.len()], vec![false; all.0.len()]);
        let mut see = |row: Row| {
            if row.up == up && self.window(row.start_s, width_s) == window {
                sums[row.connection] = sums[row.connection].wrapping_add(row.wire_bytes);
                there[row.connection] = true;
            }
        };
        if self.in_time && self.of_file.is_none() {
            let at_least = |least: i64| {
                let (mut low, mut high) = (0, self.rows.len());
                while low < high {
                    let middle = low.midpoint(high);
                    if self.window(self.rows.at(middle).start_s, width_s) < least {
                        low = middle + 1;
                    } else {
                        high = middle;
                    }
                }
                low
            };
            (at_least(window)..at_least(window.saturating_add(1))).for_each(|place| see(self.rows.at(place)));
        } else {
            self.rows.each(see)?;
        }
        Ok((sums, there))
    }

    /// Least wait in each window of `width_s` whose middle is in one of the `wide` ones of `wide_s`, at the side of the tap
    /// of the sender down and up, s: what is above the least round-trip time of the direction between two hosts.
    ///
    /// # Errors
    /// As [`Traffic::of`].
    pub fn waits(&self, width_s: f64, wide: &[i64], wide_s: f64) -> io::Result<[Vec<f64>; 2]> {
        let mut wide = wide.to_vec();
        wide.sort_unstable();
        let mut found: [Vec<f64>; 2] = Default::default();
        let mut at: [Option<i64>; 2] = [None; 2];
        let mut next = 0;
        let mut see = |timed: &Timed| {
            let window = self.window(timed.start_s, width_s);
            let above = floor((window as f64 + 0.5) * width_s * (1.0 / wide_s));
            // Both are in the order of time.
            while wide.get(next).is_some_and(|wide| *wide < above) {
                next += 1;
            }
            if wide.get(next) != Some(&above) {
                return;
            }
            let way = timed.between as usize & 1;
            match found[way].last_mut() {
                Some(last) if at[way] == Some(window) => *last = last.min(timed.wait_s),
                _ => found[way].push(timed.wait_s),
            }
            at[way] = Some(window);
        };
        match &self.of_file {
            None => self.timed.iter().for_each(see),
            Some((pairs, least)) => self.rows.each(|Row { connection, up, start_s, rtt_s, .. }| {
                if !rtt_s.is_nan() {
                    let between = 2 * pairs[connection] + u32::from(up);
                    see(&Timed { start_s, between, wait_s: rtt_s - least[between as usize] });
                }
            })?,
        }
        Ok(found)
    }

    /// Longest time between one row and the next, s; None where all are of one time.
    pub fn longest_silence_s(&self) -> Option<f64> {
        self.longest_silence_s.filter(|longest| *longest > 0.0)
    }

    /// The window of a time: rows that reach over an edge go where most of them is.
    #[inline]
    fn window(&self, start_s: f64, width_s: f64) -> i64 {
        // By the reciprocal: so do tables, and what lies on the edge of a window is in one of them.
        floor((start_s + self.width_s / 2.0) * (1.0 / width_s))
    }
}

#[inline]
fn load(sum: i64, width_s: f64) -> f64 {
    (8.0 * sum as f64) * (1.0 / width_s)
}

/// Without a call.
#[inline]
fn floor(x: f64) -> i64 {
    let whole = x as i64;
    whole - i64::from((whole as f64) > x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        let row =
            |connection, up, start_s, rtt_s| Row { connection, up, start_s, wire_bytes: 100, acked_bytes: 7, rtt_s };
        vec![
            row(0, true, 0.0, 0.5),
            row(0, true, 1.5, 0.75),
            row(0, false, 1.5, f64::NAN),
            row(1, true, 0.25, 0.5),
            row(1, true, 9.0, 0.5),
            row(2, true, -0.5, f64::NAN),
        ]
    }

    #[test]
    fn loads_and_bytes_are_those_of_the_rows() {
        let found = Traffic::of(Rows::Table(rows()), &[4, 4, 2], 0.0, 4.0).expect("rows in memory");
        assert_eq!((found.rows(true), found.carried(true), found.carried(false)), (5, 500, 100));
        // What is before time 0 or beyond the last whole window is left out.
        assert_eq!(found.loads(true, Measure::Passed, 1.0), (vec![0, 1], vec![1600.0, 800.0]));
        assert_eq!(found.largest_load(true, Measure::Passed, 1.0), 1600.0);
        assert_eq!(found.largest_load(false, Measure::Passed, 9.0), 0.0);
        assert_eq!(found.loads(false, Measure::Acknowledged, 0.5), (vec![3], vec![112.0]));
        assert_eq!(found.by_connection(true, None).expect("rows"), (vec![200, 200, 100], vec![true; 3]));
        assert_eq!(
            found.by_connection(true, Some((0, 1.0))).expect("rows"),
            (vec![100, 100, 0], vec![true, true, false])
        );
        assert_eq!(found.longest_silence_s(), Some(7.5));
        // Connections 0 and 1 are between the same hosts.
        assert_eq!(found.waits(0.5, &[1, 0], 1.0).expect("rows"), [vec![], vec![0.0, 0.25]]);
    }

    #[test]
    fn the_order_of_time_is_found_by_digits() {
        let mut state = 7_u64;
        let mut keys: Vec<u64> = (0..5_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state >> 40
            })
            .collect();
        keys.extend([3, 3, u64::MAX, 0]);
        let mut wanted: Vec<u32> = (0..keys.len() as u32).collect();
        wanted.sort_by_key(|place| keys[*place as usize]);
        assert_eq!(order_of(&keys), wanted);
        assert_eq!(order_of(&[]), Vec::<u32>::new());
        let numbers = [f64::NEG_INFINITY, -2.0, -1e-9, -0.0, 1e-9, 5.0];
        assert!(numbers.map(in_order).is_sorted() && in_order(-0.0) == in_order(0.0));
    }

    #[test]
    fn whole_numbers_are_rounded_down() {
        for (x, whole) in [(1.5, 1), (-1.5, -2), (2.0, 2), (-2.0, -2), (-0.25, -1), (0.0, 0)] {
            assert_eq!(floor(x), whole);
        }
    }
}
