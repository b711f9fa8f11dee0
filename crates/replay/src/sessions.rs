//! Sessions of users in a flow list, and other hours like it: lists made of sessions drawn with replacement.
//!
//! What users start is well described as sessions that arrive as a Poisson process, while what happens inside a session
//! is not (Paxson and Floyd 1995). A list is one draw of that process. Another draw with the same law of sessions is made
//! of the sessions seen: as many as a Poisson number says, each one of those seen with equal chance, each at a time of its
//! own. This is the bootstrap of a marked point process (Efron and Tibshirani 1993, ch. 6 and 8).

use std::collections::HashMap;

use crate::random::Stream;
use crate::refused::{Refused, refused};

/// Sessions below which a list says nothing about the next one.
pub const LEAST_SESSIONS: usize = 10;

/// What the sessions of a list follow from.
#[derive(Clone, Copy, Debug)]
pub struct Starts<'a> {
    /// When each flow starts, s, ascending.
    pub start_s: &'a [f64],
    /// The user of each flow, by rank of the name: the host that opened its connection.
    pub users: &'a [u32],
    /// The connection of each flow, both of whose directions are in one session; each flow has its own when None.
    pub connections: Option<&'a [i64]>,
}

/// Another list with the same law of sessions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draw {
    /// Flows in the order of their starts.
    pub flows: Vec<Drawn>,
}

/// A flow of another list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    /// Its row in the list that it is drawn from.
    pub row: u32,
    /// When it starts, s.
    pub start_s: f64,
    /// How many times its session was drawn up to it, from 1: each time belongs to another user.
    pub copy: u32,
    /// The connection, numbered from 0 by the one that it is drawn from and by copy; 0 where connections are not known.
    pub connection: u32,
}

/// The sessions of a list, and what is drawn of them.
struct Sessions {
    /// Rows, session by session, each in the order of the list.
    order: Vec<u32>,
    /// First place of each session there, and the number of rows last.
    firsts: Vec<usize>,
}

impl Starts<'_> {
    /// The session of each flow, numbered from 0 by user and then by time: a user that starts nothing for longer than
    /// `gap_s` begins another one.
    pub fn sessions(&self, gap_s: f64) -> Vec<u32> {
        let begun_s = self.begun_s();
        let mut order: Vec<usize> = (0..self.start_s.len()).collect();
        order.sort_by(|&one, &other| {
            self.users[one].cmp(&self.users[other]).then(begun_s[one].total_cmp(&begun_s[other])).then(one.cmp(&other))
        });
        let mut numbers = vec![0; order.len()];
        let (mut number, mut before) = (0, None);
        for row in order {
            let follows =
                before.is_some_and(|(user, before_s)| user == self.users[row] && begun_s[row] - before_s <= gap_s);
            number += u32::from(before.is_some() && !follows);
            before = Some((self.users[row], begun_s[row]));
            numbers[row] = number;
        }
        numbers
    }

    /// When the connection of each flow began, s.
    fn begun_s(&self) -> Vec<f64> {
        let Some(connections) = self.connections else { return self.start_s.to_vec() };
        let mut first_s: HashMap<i64, f64> = HashMap::new();
        for (&connection, &start_s) in connections.iter().zip(self.start_s) {
            let first_s = first_s.entry(connection).or_insert(start_s);
            *first_s = first_s.min(start_s);
        }
        connections.iter().map(|connection| first_s[connection]).collect()
    }

    /// Another list, drawn by the stream `sessions` of `seed` and `replication`.
    ///
    /// A session begins at a uniform time within the span of the starts. A flow that would start after the end of the span
    /// starts as much after its beginning instead, as flows that were under way when the capture began. Times within a
    /// session stay. The hour is thus taken as stationary, and users as independent of each other.
    ///
    /// # Errors
    /// Fewer than [`LEAST_SESSIONS`] sessions.
    pub fn another(&self, seed: u64, replication: &str, gap_s: f64) -> Result<Draw, Refused> {
        let sessions = Sessions::of(&self.sessions(gap_s));
        let count = sessions.count();
        if count < LEAST_SESSIONS {
            let bound = format!("must be at least {LEAST_SESSIONS} to draw another hour from them");
            return refused(format!("{count} sessions of users: {bound}"));
        }
        let mut random = Stream::named(seed, &["sessions", replication]);
        let draws = random.poisson(count as f64).max(1);
        let drawn: Vec<usize> = (0..draws).map(|_| random.below(count as u32) as usize).collect();
        let (first_s, last_s) =
            self.start_s.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(first, last), &start_s| {
                (first.min(start_s), last.max(start_s))
            });
        let span_s = last_s - first_s;
        let mut copies = vec![0; count];
        let mut flows = Vec::with_capacity(self.start_s.len());
        for session in drawn {
            let rows = &sessions.order[sessions.firsts[session]..sessions.firsts[session + 1]];
            let begins_s = rows.iter().map(|&row| self.start_s[row as usize]).fold(f64::INFINITY, f64::min);
            let moved_s = random.uniform() * span_s - begins_s;
            copies[session] += 1;
            flows.extend(rows.iter().map(|&row| Drawn {
                row,
                start_s: around(self.start_s[row as usize] + moved_s, span_s),
                copy: copies[session],
                connection: 0,
            }));
        }
        self.number_connections(&mut flows);
        flows.sort_by(|one, other| one.start_s.total_cmp(&other.start_s));
        Ok(Draw { flows })
    }

    /// Those of a copy are others.
    fn number_connections(&self, flows: &mut [Drawn]) {
        let Some(connections) = self.connections else { return };
        let key = |flow: &Drawn| (connections[flow.row as usize], flow.copy);
        let mut keys: Vec<(i64, u32)> = flows.iter().map(key).collect();
        keys.sort_unstable();
        keys.dedup();
        let numbers: HashMap<(i64, u32), u32> = keys.into_iter().zip(0..).collect();
        for flow in flows {
            flow.connection = numbers[&key(flow)];
        }
    }
}

impl Sessions {
    fn of(numbers: &[u32]) -> Sessions {
        let count = numbers.iter().max().map_or(0, |&most| most as usize + 1);
        let mut firsts = vec![0; count + 1];
        for &number in numbers {
            firsts[number as usize + 1] += 1;
        }
        for session in 0..count {
            firsts[session + 1] += firsts[session];
        }
        let mut next = firsts.clone();
        let mut order = vec![0; numbers.len()];
        for (row, &number) in (0..).zip(numbers) {
            order[next[number as usize]] = row;
            next[number as usize] += 1;
        }
        Sessions { order, firsts }
    }

    fn count(&self) -> usize {
        self.firsts.len() - 1
    }
}

/// A time within the span; a session that is longer than it goes round more than once.
fn around(time_s: f64, span_s: f64) -> f64 {
    if span_s == 0.0 {
        return 0.0;
    }
    let time_s = if time_s > span_s { time_s - span_s } else { time_s };
    if time_s > span_s { time_s % span_s } else { time_s }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_begins_another_session_and_both_directions_of_a_connection_stay_together() {
        // Users 1, 0, 1: one that begins later has the larger number.
        let starts = Starts { start_s: &[0.0, 1.0, 9.0], users: &[1, 0, 1], connections: None };
        assert_eq!(starts.sessions(5.0), [1, 0, 2]);
        assert_eq!(starts.sessions(9.0), [1, 0, 1]);
        let both = Starts { connections: Some(&[7, 3, 7]), ..starts };
        assert_eq!(both.sessions(5.0), [1, 0, 1]);
        assert_eq!(Starts { start_s: &[], users: &[], connections: None }.sessions(5.0), [0_u32; 0]);
    }

    #[test]
    fn times_go_round_within_the_span() {
        assert_eq!([0.5, 1.0, 1.5, 3.75].map(|time_s| around(time_s, 1.0)), [0.5, 1.0, 0.5, 0.75]);
        assert_eq!(around(3.0, 0.0), 0.0);
    }

    #[test]
    fn an_hour_is_that_of_the_named_stream_of_numpy() {
        // mayfly.workload.replayed.another_hour at commit 47929180, of ten users with a flow each second, and of the
        // first one two: pl.DataFrame({"start_s": [0.0, 0.0, 1.0, ..., 9.0], "opened_by": ["sender"] * 11, "dst": ["x"]
        // * 11, "src": ["0", "0", "1", ..., "9"], "connection_id": [0, 0, 1, ..., 9]}), seed 1, replication 3.
        let start_s: Vec<f64> = [0].into_iter().chain(0..10).map(f64::from).collect();
        let users: Vec<u32> = [0].into_iter().chain(0..10).collect();
        let connections: Vec<i64> = users.iter().map(|&user| user.into()).collect();
        let starts = Starts { start_s: &start_s, users: &users, connections: Some(&connections) };
        let found = starts.another(1, "3", 5.0).expect("ten sessions").flows;
        let drawn: Vec<_> = found.iter().map(|flow| (flow.row, flow.start_s, flow.copy, flow.connection)).collect();
        assert_eq!(drawn, HOUR);
        let few = Starts { start_s: &start_s[..9], users: &users[..9], connections: None }.another(1, "3", 5.0);
        let line = "8 sessions of users: must be at least 10 to draw another hour from them";
        assert_eq!(few.map_err(|refused| refused.to_string()), Err(line.to_owned()));
    }

    const HOUR: [(u32, f64, u32, u32); 16] = [
        (5, 0.6140511440746392, 1, 6),
        (5, 0.7015911299033117, 2, 7),
        (8, 1.1154082202762696, 1, 12),
        (2, 2.474116909598259, 1, 1),
        (10, 2.7995096367500985, 1, 14),
        (6, 2.9691096728718414, 1, 10),
        (0, 3.6405524511652647, 1, 0),
        (1, 3.6405524511652647, 1, 0),
        (3, 4.796379664343321, 1, 3),
        (7, 5.123606094269579, 1, 11),
        (4, 5.6356720998554835, 1, 4),
        (4, 6.486636460188642, 2, 5),
        (5, 7.199933835864561, 3, 8),
        (5, 7.8122745626316155, 4, 9),
        (2, 8.358029992870598, 2, 2),
        (9, 8.995752926945674, 1, 13),
    ];
}
