//! How much each direction of a connection carried when, in bounded memory.
//!
//! Principle: traffic is summed in windows of time, and only windows with traffic are kept. When there are more rows than
//! allowed, the windows become twice as wide and rows that meet are joined, so that a short capture is known to the
//! millisecond and a long one as well as the memory allows. Cost per packet: O(1), and for each fourth part of the limit,
//! once there are so many, a pass that deals the rows out by connection, where they are in the order of time.
//!
//! Windows beyond [`SPILT_NS`] tell next to nothing of short connections. Where there is a file for them, rows of windows of
//! that width leave for it, in parts. At the end, where there are no more directions of connections than rows are allowed,
//! they come back, and are what they would be without a file; else all of them are read from there.

use std::io;
use std::path::PathBuf;

use crate::connections::volume::Place;
pub use crate::connections::volume::Volume;
use crate::connections::volume_file::{Parts, VolumeFile};

/// Windows begin with this width.
const NARROWEST_NS: i64 = 1_000_000;
/// Wider ones tell nothing about load; rows beyond the limit are then left out.
const WIDEST_NS: i64 = NARROWEST_NS << 30;
/// Rows of windows of this width leave for a file, where there is one: most short connections are in few of these, and the
/// load of a second is known by eight of them.
const SPILT_NS: i64 = NARROWEST_NS << 7;
/// One part in so many of the limit more rows are held until they are joined, so that it is worth its sort.
const WAITING: usize = 4;

/// Volumes as far as they are kept; until the end `connection` is the serial number of the connection, nobody has looked
/// at `from_opener`, and `start_ns` is the number of the window.
///
/// What is kept depends on the packets and not on their order, nor on how they were divided among several of these:
/// the narrowest windows in which all rows are within the limit, and in the widest ones the first rows by connection.
pub struct Volumes {
    limit: usize,
    pub(crate) width_ns: i64,
    pub(crate) kept: Vec<Volume>,
    pub(crate) left_out: u64,
    /// Of the narrowest width.
    doublings: u32,
    /// Rows from there on are left out.
    beyond: Option<Place>,
    spill: Option<Spill>,
}

/// Where rows leave for.
struct Spill {
    path: PathBuf,
    file: Option<VolumeFile>,
    /// Of connections that had a packet.
    directions: usize,
    failed: Option<io::Error>,
}

impl Default for Volumes {
    fn default() -> Self {
        Volumes::with_limit(0)
    }
}

impl Volumes {
    /// None yet, and at most so many.
    pub fn with_limit(limit: usize) -> Self {
        Volumes {
            limit,
            width_ns: NARROWEST_NS,
            kept: Vec::new(),
            left_out: 0,
            doublings: 0,
            beyond: None,
            spill: None,
        }
    }

    /// The same, whose rows may leave for a new file at `path`.
    pub(crate) fn leaving_for(self, path: Option<PathBuf>) -> Self {
        Volumes { spill: path.map(|path| Spill { path, file: None, directions: 0, failed: None }), ..self }
    }

    /// Why rows could not leave.
    #[inline]
    pub(crate) fn failed(&mut self) -> Option<io::Error> {
        self.spill.as_mut().and_then(|spill| spill.failed.take())
    }

    /// Whether none is kept.
    #[inline]
    pub(crate) fn is_off(&self) -> bool {
        self.limit == 0
    }

    /// Adds the volume of a packet, whose `start_ns` is its time; `last` is where the row of its direction was, and where
    /// it is now.
    pub(crate) fn add(&mut self, packet: Volume, last: &mut u32) {
        if self.limit == 0 {
            return;
        }
        let row = Volume { start_ns: self.window_of(packet.start_ns), ..packet };
        // After a doubling another direction may stand there.
        if let Some(held) = self.kept.get_mut(*last as usize)
            && held.place() == row.place()
        {
            held.join(&row);
            return;
        }
        if let Some(spill) = &mut self.spill {
            spill.directions += usize::from(*last == u32::MAX);
        }
        self.make_room();
        *last = u32::try_from(self.kept.len()).unwrap_or(u32::MAX);
        self.push(Volume { start_ns: self.window_of(packet.start_ns), ..packet });
    }

    /// The number of the window of a time: rounded down twice is rounded down once, and by constants it costs no division.
    #[inline]
    fn window_of(&self, time_ns: i64) -> i64 {
        time_ns.div_euclid(NARROWEST_NS) >> self.doublings
    }

    /// Adds rows of windows of `width_ns`, whose `start_ns` is the number of the window, and what is in none of them: those
    /// of another part of the connections.
    pub fn add_rows(&mut self, width_ns: i64, rows: impl IntoIterator<Item = Volume>, left_out: u64) {
        self.left_out = self.left_out.saturating_add(left_out);
        if self.width_ns < width_ns {
            self.join();
        }
        while self.width_ns < width_ns && self.width_ns < WIDEST_NS {
            self.widen();
        }
        for row in rows {
            self.make_room();
            self.push(Volume { start_ns: row.start_ns.div_euclid((self.width_ns / width_ns.max(1)).max(1)), ..row });
        }
    }

    /// The rows by connection and time, the width of their windows, and the packets that are in none.
    pub fn finish(mut self) -> (Vec<Volume>, i64, u64) {
        self.fit();
        (self.kept, self.width_ns, self.left_out)
    }

    /// Rows of one place wait to be joined until they are this much more than the limit.
    fn make_room(&mut self) {
        if self.kept.len() > self.limit + self.limit / WAITING && !self.leave() {
            self.fit();
        }
    }

    /// Puts the rows into the file, if there is one, and windows would have to be wider than those that are put there;
    /// whether there is room now.
    fn leave(&mut self) -> bool {
        let Some(Spill { file, failed, .. }) = &self.spill else { return false };
        if failed.is_some() {
            self.kept.clear();
            return true;
        }
        if file.is_none() {
            self.join();
            while self.kept.len() > self.limit && self.width_ns < SPILT_NS {
                self.widen();
            }
            if self.kept.len() <= self.limit || self.width_ns > SPILT_NS {
                return self.kept.len() <= self.limit;
            }
        }
        let Some(spill) = &mut self.spill else { return false };
        spill.failed = spill.take(&mut self.kept).err();
        self.kept.clear();
        true
    }

    /// The rows in the file, if they stay there: of more directions than rows are allowed. Else all are within the limit, in
    /// the order of time where `in_time` allows that.
    ///
    /// # Errors
    /// The file cannot be written or read.
    pub(crate) fn settle(&mut self, in_time: bool) -> io::Result<Option<Parts>> {
        let Some(Spill { file: Some(file), directions, .. }) = self.spill.take() else {
            if !(in_time && self.fits_in_time()) {
                self.fit();
            }
            return Ok(None);
        };
        let mut file = file;
        file.add(&mut self.kept)?;
        self.kept.clear();
        let parts = file.close()?;
        if directions > self.limit {
            self.kept = Vec::new();
            return Ok(Some(parts));
        }
        parts.each_while(|row| {
            self.make_room();
            self.push(Volume { start_ns: row.start_ns.div_euclid(self.width_ns / SPILT_NS), ..row });
            true
        })?;
        self.fit();
        Ok(None)
    }

    fn push(&mut self, row: Volume) {
        if self.beyond.is_some_and(|beyond| row.place() >= beyond) {
            self.left_out = self.left_out.saturating_add(row.packets);
        } else {
            self.kept.push(row);
        }
    }

    /// Puts the rows in the order of their places.
    ///
    /// They come in the order of time: dealt out by connection, those of each are in order but for the two
    /// directions of a window.
    fn order(&mut self) {
        let serials = self.kept.iter().map(|row| row.connection);
        let (Some(first), Some(last)) = (serials.clone().min(), serials.max()) else { return };
        let rows = u32::try_from(self.kept.len()).ok();
        let Some((rows, connections)) = rows.zip(usize::try_from(last - first).ok()) else {
            return self.kept.sort_by_key(Volume::place);
        };
        // Few rows of connections far from each other are sorted sooner than places are counted.
        if connections > 4 * self.kept.len() {
            return self.kept.sort_by_key(Volume::place);
        }
        let of = |row: &Volume| (row.connection - first) as usize;
        let mut next = vec![0_u32; connections + 2];
        for row in &self.kept {
            next[of(row) + 1] += 1;
        }
        let mut before = 0;
        for place in &mut next {
            before += *place;
            *place = before;
        }
        let mut order = vec![0_u32; self.kept.len()];
        for (at, row) in (0..rows).zip(&self.kept) {
            let place = &mut next[of(row)];
            order[*place as usize] = at;
            *place += 1;
        }
        // Along its circles, in place: pages of a copy of so many rows cost more than they save.
        for start in 0..order.len() {
            let (held, mut at) = (self.kept[start], start);
            loop {
                let from = order[at] as usize;
                order[at] = at as u32;
                if from == start {
                    break;
                }
                self.kept[at] = self.kept[from];
                at = from;
            }
            self.kept[at] = held;
        }
        for at in 1..self.kept.len() {
            if self.kept[at].place() < self.kept[at - 1].place() {
                self.kept.swap(at - 1, at);
            }
        }
        if !self.kept.is_sorted_by_key(Volume::place) {
            self.kept.sort_by_key(Volume::place);
        }
    }

    /// Whether rows that were never joined need not be: within the limit, and in the order of time. Then no two have one
    /// place, since a packet goes into the last row of its direction where that has its window.
    pub(crate) fn fits_in_time(&self) -> bool {
        self.kept.len() <= self.limit && self.doublings == 0 && self.kept.is_sorted_by_key(|row| row.start_ns)
    }

    /// Joins rows, and doubles the windows until they are within the limit.
    pub(crate) fn fit(&mut self) {
        self.join();
        while self.kept.len() > self.limit && self.width_ns < WIDEST_NS {
            self.widen();
        }
        if let Some(first) = self.kept.get(self.limit) {
            self.beyond = Some(first.place());
            let rest: u64 = self.kept.drain(self.limit..).map(|row| row.packets).sum();
            self.left_out = self.left_out.saturating_add(rest);
        }
    }

    /// Doubles the windows of rows that are in order, each in a place of its own: what is joined then stands together.
    fn widen(&mut self) {
        self.width_ns *= 2;
        self.doublings += 1;
        let (mut at, mut end) = (0, 0);
        while let Some(&Volume { connection, start_ns, .. }) = self.kept.get(at) {
            let start_ns = start_ns >> 1;
            let mut ways: [Option<Volume>; 2] = [None; 2];
            while let Some(row) = self.kept.get(at)
                && (row.connection, row.start_ns >> 1) == (connection, start_ns)
            {
                match &mut ways[usize::from(row.from_lower)] {
                    Some(way) => way.join(row),
                    way => *way = Some(Volume { start_ns, ..*row }),
                }
                at += 1;
            }
            for way in ways.into_iter().flatten() {
                self.kept[end] = way;
                end += 1;
            }
        }
        self.kept.truncate(end);
    }

    /// Joins the rows of one direction in one window.
    fn join(&mut self) {
        self.order();
        self.kept.dedup_by(|later, held| {
            let with = held.place() == later.place();
            if with {
                held.join(later);
            }
            with
        });
    }
}

impl Spill {
    fn take(&mut self, rows: &mut [Volume]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(VolumeFile::create(&self.path)?),
        };
        file.add(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(serial: u64, time_ns: i64) -> Volume {
        Volume {
            connection: serial,
            from_opener: true,
            from_lower: true,
            start_ns: time_ns,
            wire_bytes: 100,
            packets: 1,
            acked_bytes: 7,
            rtt_ns: Some(time_ns),
        }
    }

    fn filled(limit: usize, packets: &[(u64, i64)]) -> Volumes {
        let mut volumes = Volumes::with_limit(limit);
        let mut last = std::collections::HashMap::new();
        for &(serial, time_ns) in packets {
            volumes.add(packet(serial, time_ns), last.entry(serial).or_insert(u32::MAX));
        }
        volumes.fit();
        volumes
    }

    #[test]
    fn what_is_kept_depends_neither_on_order_nor_on_division() {
        let mut state = 7_u64;
        let mut drawn = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % most
        };
        let mut packets: Vec<_> = (0..20_000).map(|_| (drawn(300), drawn(5_000_000_000) as i64)).collect();
        for limit in [0, 1, 7, 100, 700, 5_000, 40_000] {
            let whole = filled(limit, &packets);
            assert!(whole.kept.len() <= limit);
            for at in (1..packets.len()).rev() {
                packets.swap(at, drawn(at as u64 + 1) as usize);
            }
            let shuffled = filled(limit, &packets);
            let mut parts = Volumes::with_limit(limit);
            for part in 0..3 {
                let rows: Vec<_> = packets.iter().copied().filter(|(serial, _)| serial % 3 == part).collect();
                let (rows, width_ns, left_out) = filled(limit, &rows).finish();
                parts.add_rows(width_ns, rows, left_out);
            }
            let wanted = (whole.kept.clone(), whole.width_ns, whole.left_out);
            assert_eq!(shuffled.finish(), wanted, "{limit}");
            assert_eq!(parts.finish(), wanted, "{limit}");
            // A window half as wide has too many rows.
            if limit > 0 && whole.width_ns > NARROWEST_NS {
                let half = whole.width_ns / 2;
                let rows: std::collections::HashSet<_> =
                    packets.iter().map(|(serial, time_ns)| (serial, time_ns.div_euclid(half))).collect();
                assert!(rows.len() > limit, "{} of {limit}", rows.len());
            }
        }
    }

    #[test]
    fn rows_that_left_come_back_as_they_were_or_stay_in_the_file() {
        let mut state = 11_u64;
        let mut drawn = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % most
        };
        let mut packets: Vec<_> = (0..20_000).map(|_| (drawn(300), drawn(20_000_000_000) as i64)).collect();
        packets.sort_by_key(|&(_, time_ns)| time_ns);
        for limit in [50, 299, 300, 301, 700, 5_000, 40_000] {
            let whole = filled(limit, &packets);
            let path = std::env::temp_dir().join(format!("mayfly-left-{}-{limit}", std::process::id()));
            let mut volumes = Volumes::with_limit(limit).leaving_for(Some(path.clone()));
            let mut last = std::collections::HashMap::new();
            for &(serial, time_ns) in &packets {
                volumes.add(packet(serial, time_ns), last.entry(serial).or_insert(u32::MAX));
                assert!(volumes.kept.len() <= limit + limit / WAITING + 1);
            }
            let parts = volumes.settle(false).expect("a file");
            // There are 300 directions.
            assert_eq!(parts.is_some(), limit < 300, "{limit}");
            let Some(parts) = parts else {
                assert_eq!(volumes.finish(), whole.finish(), "{limit}");
                if path.exists() {
                    std::fs::remove_file(path).expect("removed");
                }
                continue;
            };
            // Before, all but the first rows were left out.
            assert!(whole.left_out > 0 && volumes.left_out == 0 && volumes.kept.is_empty());
            let mut sums = std::collections::BTreeMap::new();
            let mut before = i64::MIN;
            let all = parts.each_while(|row| {
                assert!(row.start_ns >= before);
                before = row.start_ns;
                *sums.entry((row.connection, row.start_ns)).or_insert(0) += row.packets;
                true
            });
            assert!(all.expect("the file"));
            let mut wanted = std::collections::BTreeMap::new();
            for &(serial, time_ns) in &packets {
                *wanted.entry((serial, time_ns.div_euclid(SPILT_NS))).or_insert(0) += 1;
            }
            assert_eq!((volumes.width_ns, sums), (SPILT_NS, wanted), "{limit}");
            std::fs::remove_file(path).expect("removed");
        }
    }

    #[test]
    fn rows_in_the_order_of_time_need_not_be_dealt_out() {
        for (packets, in_time) in [
            ([(1, 0), (2, 10), (1, 999_999), (1, 1_000_000)], true),
            // Its window is over, and has a row: the same again would be two.
            ([(1, 0), (1, 1_000_000), (1, 999_999), (2, 1_000_000)], false),
        ] {
            let mut volumes = Volumes::with_limit(10);
            let mut last = std::collections::HashMap::new();
            for (serial, time_ns) in packets {
                volumes.add(packet(serial, time_ns), last.entry(serial).or_insert(u32::MAX));
            }
            assert_eq!(volumes.fits_in_time(), in_time);
            let before = volumes.kept.len();
            volumes.fit();
            assert_eq!(volumes.kept.len() == before, in_time);
        }
    }

    #[test]
    fn packets_of_one_window_are_one_row() {
        let volumes = filled(10, &[(1, 0), (2, 10), (1, 999_999), (1, 1_000_000)]);
        let rows: Vec<_> = volumes.kept.iter().map(|row| (row.connection, row.start_ns, row.packets)).collect();
        assert_eq!(rows, [(1, 0, 2), (1, 1, 1), (2, 0, 1)]);
        assert_eq!(volumes.kept[0].rtt_ns, Some(0));
    }

    #[test]
    fn rows_stay_within_the_limit_and_no_byte_is_lost() {
        let packets: Vec<_> = (0..10_000).map(|at| (at % 3, i64::from(at as i32) * 700_000)).collect();
        let volumes = filled(64, &packets);
        assert!(volumes.kept.len() <= 64, "{}", volumes.kept.len());
        assert_eq!(volumes.left_out, 0);
        assert_eq!(volumes.kept.iter().map(|row| row.packets).sum::<u64>(), 10_000);
        assert_eq!(volumes.kept.iter().map(|row| row.wire_bytes).sum::<u64>(), 1_000_000);
        assert_eq!(volumes.kept.iter().map(|row| row.acked_bytes).sum::<u64>(), 70_000);
    }

    #[test]
    fn more_connections_than_rows_are_left_out_and_counted() {
        let packets: Vec<_> = (0..100).map(|serial| (serial, 0)).collect();
        let volumes = filled(10, &packets);
        assert_eq!((volumes.kept.len(), volumes.left_out), (10, 90));
    }

    #[test]
    fn times_at_the_ends_of_the_clock_do_not_overflow() {
        let volumes = filled(2, &[(1, i64::MIN), (1, i64::MAX), (1, 0), (2, i64::MAX)]);
        assert!(volumes.kept.iter().map(|row| row.packets).sum::<u64>() + volumes.left_out == 4);
    }
}
