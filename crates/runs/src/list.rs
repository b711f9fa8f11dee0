//! Flow lists of plain transfers, from CSV.

use std::collections::HashSet;

/// Size of a flow that never ends, bytes.
const ENDLESS_BYTES: i64 = units::ENDLESS_BYTES as i64;
/// Latest start, seconds.
const LATEST_S: f64 = 1e9;

/// TCP transfers that go down, sorted by start, then identity: as `mayfly.workload.lists` normalises them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct List {
    /// Identity of each; distinct.
    pub flow_id: Vec<i64>,
    /// When each starts, seconds.
    pub start_s: Vec<f64>,
    /// Host of the sender.
    pub src: Vec<i64>,
    /// Host of the receiver.
    pub dst: Vec<i64>,
    /// Payload; each ends.
    pub size_bytes: Vec<i64>,
}

/// What a column of the file holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    FlowId,
    Start,
    Src,
    Dst,
    Bytes,
    Packets,
}

impl Field {
    fn of(name: &str) -> Option<Field> {
        Some(match name {
            "flow_id" => Field::FlowId,
            "start_s" => Field::Start,
            "src" => Field::Src,
            "dst" => Field::Dst,
            "size_bytes" => Field::Bytes,
            "size_packets" => Field::Packets,
            _ => return None,
        })
    }
}

impl List {
    /// Reads CSV with a header; a packet holds `mss` bytes. `None` for whatever is not plain: another column, a value
    /// that is missing, quoted, refused or written in another way than as plain digits.
    pub fn read(text: &str, mss: u32) -> Option<List> {
        let mut lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
        let fields: Vec<Field> = lines.next()?.split(',').map(Field::of).collect::<Option<_>>()?;
        let places: HashSet<_> = fields.iter().map(|&field| field as u8).collect();
        let has = |field| fields.contains(&field);
        if places.len() != fields.len() || !has(Field::Start) || has(Field::Bytes) == has(Field::Packets) {
            return None;
        }
        let mut list = List::default();
        for (row, line) in lines.enumerate() {
            let mut values = line.split(',');
            let (mut id, mut src, mut dst) = (i64::try_from(row).ok()?, 1, 2);
            for field in &fields {
                let value = values.next()?;
                match field {
                    Field::FlowId => id = whole(value)?,
                    Field::Start => list.start_s.push(seconds(value)?),
                    Field::Src => src = whole(value)?,
                    Field::Dst => dst = whole(value)?,
                    Field::Bytes => list.size_bytes.push(size(whole(value)?)?),
                    Field::Packets => list.size_bytes.push(size(whole(value)?.checked_mul(i64::from(mss))?)?),
                }
            }
            if values.next().is_some() {
                return None;
            }
            list.flow_id.push(id);
            list.src.push(src);
            list.dst.push(dst);
        }
        let distinct: HashSet<i64> = list.flow_id.iter().copied().collect();
        (!list.flow_id.is_empty() && distinct.len() == list.flow_id.len()).then(|| list.sorted())
    }

    /// Of columns as long as each other, the identities being the places. `None` where a value is refused, or a start
    /// comes before the one above it.
    pub fn of_columns(start_s: Vec<f64>, src: Vec<i64>, dst: Vec<i64>, size_bytes: Vec<i64>) -> Option<List> {
        let rows = start_s.len();
        let plain = [&src, &dst, &size_bytes].iter().all(|column| column.len() == rows)
            && start_s.iter().all(|start_s| (0.0..=LATEST_S).contains(start_s))
            && start_s.is_sorted()
            && size_bytes.iter().all(|&bytes| size(bytes).is_some());
        plain.then(|| List { flow_id: (0..rows as i64).collect(), start_s, src, dst, size_bytes })
    }

    /// How many flows.
    pub fn len(&self) -> usize {
        self.flow_id.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.flow_id.is_empty()
    }

    /// How many there are, and the bytes that they send.
    pub fn amount(&self) -> (u64, u64) {
        (self.len() as u64, self.size_bytes.iter().map(|&bytes| bytes as u64).sum())
    }

    /// Those that start before `end_s`, seconds.
    pub fn starting_before(mut self, end_s: f64) -> List {
        let kept = self.start_s.partition_point(|&start_s| start_s < end_s);
        self.start_s.truncate(kept);
        for column in [&mut self.flow_id, &mut self.src, &mut self.dst, &mut self.size_bytes] {
            column.truncate(kept);
        }
        self
    }

    fn sorted(mut self) -> List {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| {
            self.start_s[a].total_cmp(&self.start_s[b]).then_with(|| self.flow_id[a].cmp(&self.flow_id[b]))
        });
        self.start_s = order.iter().map(|&row| self.start_s[row]).collect();
        for column in [&mut self.flow_id, &mut self.src, &mut self.dst, &mut self.size_bytes] {
            *column = order.iter().map(|&row| column[row]).collect();
        }
        self
    }

    /// Places of the three largest, of equal sizes the earlier.
    pub(crate) fn largest(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| self.size_bytes[b].cmp(&self.size_bytes[a]).then(a.cmp(&b)));
        order.truncate(3);
        order
    }
}

/// Digits, and a sign before them.
fn whole(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty() && digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// A time without a sign, as a decimal number.
fn seconds(text: &str) -> Option<f64> {
    let plain = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'-');
    if !text.starts_with(|first: char| first.is_ascii_digit()) || !text.bytes().all(plain) {
        return None;
    }
    text.parse().ok().filter(|value| (0.0..=LATEST_S).contains(value))
}

fn size(bytes: i64) -> Option<i64> {
    (1..ENDLESS_BYTES).contains(&bytes).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_packets_are_bytes() {
        let list = List::read("start_s,size_packets\n0.5,10\n0.25,2\n", 1460).expect("a plain list");
        assert_eq!((list.flow_id, list.size_bytes), (vec![1, 0], vec![2920, 14600]));
        assert_eq!((list.src, list.dst, list.start_s), (vec![1, 1], vec![2, 2], vec![0.25, 0.5]));
    }

    #[test]
    fn what_is_not_plain_is_left_to_others() {
        for text in [
            "",
            "start_s,size_packets\n",
            "start_s\n1\n",
            "start_s,size_packets,size_bytes\n1,1,1460\n",
            "start_s,size_packets,group\n1,1,web\n",
            "start_s,start_s,size_packets\n1,1,1\n",
            "start_s,size_packets\n1\n",
            "start_s,size_packets\n1,2,3\n",
            "start_s,size_packets\n1,\n",
            "start_s,size_packets\n\n1,2\n",
            "start_s,size_packets\n-1,2\n",
            "start_s,size_packets\n1,2.0\n",
            "start_s,size_packets\n1,0\n",
            "start_s,size_packets\n\"1\",2\n",
            "start_s,size_packets\r\n1,2\r\n",
            "start_s,size_packets\n 1,2\n",
            "start_s,size_packets\nnan,2\n",
            "start_s,size_packets\n1e300,2\n",
            "start_s,size_bytes\n1,1099511627776\n",
            "flow_id,start_s,size_packets\n1,1,1\n1,2,1\n",
            "flow_id,start_s,size_packets\n99999999999999999999,2,1\n",
        ] {
            assert_eq!(List::read(text, 1460), None, "{text:?}");
        }
    }

    #[test]
    fn columns_are_a_list_when_they_are_in_order() {
        let list = |start_s: &[f64], size_bytes: &[i64]| {
            List::of_columns(start_s.to_vec(), vec![1, 2], vec![8, 9], size_bytes.to_vec())
        };
        let read = List::read("start_s,src,dst,size_bytes\n0.5,1,8,1460\n0.5,2,9,1\n", 1460);
        assert_eq!(list(&[0.5, 0.5], &[1460, 1]), read);
        assert!(read.is_some());
        for (start_s, size_bytes) in [
            ([0.5, 0.25], [1, 1]),
            ([-0.5, 0.25], [1, 1]),
            ([0.5, f64::NAN], [1, 1]),
            ([0.25, 0.5], [0, 1]),
            ([0.25, 0.5], [1, ENDLESS_BYTES]),
        ] {
            assert_eq!(list(&start_s, &size_bytes), None);
        }
        assert_eq!(list(&[0.5], &[1]), None);
    }

    #[test]
    fn flows_that_start_at_the_end_are_left_out() {
        let list = List::read("start_s,size_bytes\n0,1\n2,1\n1,1\n", 1460).expect("a plain list").starting_before(2.0);
        assert_eq!(list.flow_id, [0, 2]);
    }

    #[test]
    fn of_equal_sizes_the_earlier_is_larger() {
        let list = List::read("start_s,size_bytes\n0,5\n1,9\n2,9\n3,1\n4,5\n", 1460).expect("a plain list");
        assert_eq!(list.largest(), [1, 2, 0]);
    }
}
