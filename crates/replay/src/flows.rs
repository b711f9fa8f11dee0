//! The flows of a capture at their times, in any form, before users wait.

use std::ops::Range;
use std::sync::Arc;

use capture::{Account, Amount, Protocol, Reason};
use workload::{MOST_BYTES, Script};

use crate::datagrams::Datagrams;
use crate::form::Form;
use crate::known::Known;
use crate::link::Link;
use crate::missing::{self, ASSUMED_RTT_S, assumed_rtt};
use crate::numbers::median;
use crate::paths::{Path, as_rtt, round_trips, usual_round_trip};
use crate::refused::{Refused, refused};
use crate::script::script;
use crate::span::{refuse_beyond_a_list, refuse_clock_jump};
use crate::text;
use crate::trains::{Step, steps, steps_as_captured};
use crate::transfers::Transfer;

/// Latest start that a flow list may hold, s.
const LATEST_S: f64 = 1e9;

/// The flows of a capture at their times, the first at 0.
#[derive(Clone, Debug)]
pub struct Captured<'a> {
    pub(crate) known: &'a Known,
    /// By start and connection.
    pub(crate) rows: Vec<Row>,
    pub(crate) steps: Vec<Step>,
    /// What of the capture is not in the list, or was assumed, in sentences.
    pub missing: Vec<String>,
    /// How much of each connection is left aside.
    pub asides: Asides,
    /// Round-trip time of the path, s: the median over the TCP connections, or assumed where no flow has one.
    pub rtt_s: Option<f64>,
}

/// A flow of a capture.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Row of its connection in the capture.
    pub connection: u32,
    /// Whether the end that opened the connection sends first.
    pub from_opener: bool,
    /// Who sends its data, by number among [`Captured::addresses`].
    pub src: u32,
    /// Who receives it.
    pub dst: u32,
    /// Whether it goes from the near side to the far one.
    pub up: bool,
    /// Since the first flow, s.
    pub start_s: f64,
    /// Of its path, s.
    pub rtt_s: Option<f64>,
    /// Payload, bytes.
    pub size_bytes: u64,
    /// From its start to its last data in the capture, where somebody may wait for it, s.
    pub lasted_s: Option<f64>,
    /// Of a direction of a call: packets that it had in the capture.
    pub call_packets: Option<u64>,
    /// It is replayed by QUIC.
    pub quic: bool,
    /// What it consists of.
    pub what: What,
}

/// What a flow of a capture consists of.
#[derive(Clone, Debug)]
pub enum What {
    /// TCP or QUIC: what the ends say to each other.
    Script(Script),
    /// TCP or QUIC: all data at once.
    Transfer,
    /// UDP: packets of this length on the wire, bytes, at this rate, bit/s.
    Rate(u32, f64),
    /// UDP: packets at their times, the longest of this length on the wire, bytes, at this mean rate, bit/s.
    Bursts(Vec<workload::Burst>, u32, f64),
}

/// What some flow of a list has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Has {
    /// Packets at their times.
    pub bursts: bool,
    /// What its ends say to each other.
    pub scripts: bool,
    /// It is a direction of a call.
    pub calls: bool,
    /// It is replayed by QUIC.
    pub quic: bool,
}

/// What a row of the list is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// Steps of one connection, from one place to another.
    Script(usize, usize),
    /// A direction packet by packet, by place.
    Datagrams(usize),
    /// A direction with all its data at once, by place.
    Transfer(usize),
}

/// A flow that is not numbered yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) start_s: f64,
    pub(crate) connection: u32,
    pub(crate) from_opener: bool,
    /// From its start to its last data, where somebody may wait for it.
    pub(crate) lasted_s: Option<f64>,
    pub(crate) rtt_s: Option<f64>,
    pub(crate) what: Source,
}

impl Row {
    pub(crate) fn up(&self, paths: &[Path]) -> bool {
        self.from_opener == paths[self.connection as usize].opener_up
    }
}

impl Known {
    /// Trains of the replay, and of each connection of which something is left aside, how much that is.
    pub(crate) fn steps(&self, link: &Link) -> (Vec<Step>, Vec<(u32, Amount)>) {
        let mss = u64::from(self.sizes.mss.max(1));
        match self.form {
            Form::Users => steps(&self.pieces, &self.paths, &self.ends, link, mss),
            _ => (steps_as_captured(&self.pieces, &self.paths, mss), Vec::new()),
        }
    }
}

/// What of a capture a list leaves aside: whole connections, and messages of others.
#[derive(Clone, Debug)]
pub struct Asides {
    carried: Arc<Vec<(bool, Amount)>>,
    of_parts: Vec<(u32, Amount)>,
}

impl Asides {
    /// Packets and IP bytes by reason, where `used` connections are in the answer: [`Reason::Protocol`] of connections of
    /// protocols whose headers are not read, [`Reason::Aside`] of others, and of messages that a script does not have.
    pub fn of(&self, used: impl Fn(u32) -> bool) -> [(Reason, Amount); 2] {
        let mut sums = [Amount::default(); 2];
        for (connection, &(other, carried)) in (0..).zip(self.carried.iter()) {
            if !used(connection) {
                let sum = &mut sums[usize::from(!other)];
                *sum = sum.and(carried);
            }
        }
        for &(_, left) in self.of_parts.iter().filter(|(connection, _)| used(*connection)) {
            sums[1] = sums[1].and(left);
        }
        let [protocol, aside] = sums;
        [(Reason::Protocol, protocol), (Reason::Aside, aside)]
    }

    /// Takes them out of what an account of the capture has as used.
    pub fn withdraw(&self, account: &mut Account, used: impl Fn(u32) -> bool) {
        for (reason, amount) in self.of(used) {
            account.withdraw(reason, amount);
        }
    }
}

impl Captured<'_> {
    pub(crate) fn of<'a>(
        known: &'a Known,
        link: &Link,
        rtt_s: Option<f64>,
        scaled: bool,
    ) -> Result<Captured<'a>, Refused> {
        // Before rows are formed, whose bounds would say less.
        if scaled {
            refuse_beyond_a_list(&known.begun_s, &known.name)?;
        } else {
            refuse_clock_jump(&known.begun_s, &known.name, known.lasted_s)?;
        }
        let (steps, of_parts) = known.steps(link);
        let mut rows = rows(known, link, &steps);
        if known.tcp_only {
            rows.retain(|row| known.paths[row.connection as usize].protocol == Protocol::Tcp);
        }
        let Some(first_s) = rows.iter().map(|row| row.start_s).min_by(f64::total_cmp) else {
            return refused("no TCP connection with payload and no UDP flow to replay");
        };
        rows.iter_mut().for_each(|row| row.start_s -= first_s);
        rows.sort_by(|first, second| {
            first.start_s.total_cmp(&second.start_s).then(first.connection.cmp(&second.connection))
        });
        check(&rows, known)?;
        let mut missing = Vec::new();
        missing.extend(asides(known, &steps));
        let path_s = usual_round_trip(&known.paths, &known.ends, &link.bases_s);
        let unknown = rtt_s.is_none() && rows.iter().all(|row| row.rtt_s.is_none());
        if unknown {
            missing.push(assumed_rtt());
        }
        let rtt_s = if unknown { Some(ASSUMED_RTT_S) } else { rtt_s };
        // Without TCP the look-ups tell what is known of the paths.
        let usual_s = path_s.or_else(|| median(&mut rows.iter().filter_map(|row| row.rtt_s).collect::<Vec<_>>()));
        with_round_trips(&mut rows, usual_s, rtt_s);
        let asides = Asides { carried: Arc::clone(&known.carried), of_parts };
        Ok(Captured { known, rows, steps, missing, asides, rtt_s: rtt_s.or(usual_s) })
    }

    /// The flows in the order of their starts.
    ///
    /// # Errors
    /// A wait above a day.
    pub fn flows(&self) -> Result<Vec<Flow>, Refused> {
        self.flows_between(0..self.rows.len(), &self.calls())
    }

    /// The flows in the order of their starts, at most so many at a time: `take` gets them and what all of them have.
    ///
    /// # Errors
    /// A wait above a day.
    pub fn flows_in_parts(&self, most: usize, mut take: impl FnMut(Vec<Flow>, Has)) -> Result<(), Refused> {
        let calls = self.calls();
        let any = |is: fn(&Source) -> bool| self.rows.iter().any(|row| is(&row.what));
        let has = Has {
            bursts: any(|what| matches!(what, Source::Datagrams(_))),
            scripts: any(|what| matches!(what, Source::Script(..))),
            calls: !calls.is_empty(),
            quic: self
                .rows
                .iter()
                .any(|row| !matches!(row.what, Source::Datagrams(_)) && self.known.paths[row.connection as usize].quic),
        };
        // A list without flows has columns, too.
        let firsts = (0..self.rows.len().max(1)).step_by(most.max(1));
        for first in firsts {
            let rows = first..self.rows.len().min(first + most.max(1));
            take(self.flows_between(rows, &calls)?, has);
        }
        Ok(())
    }

    fn flows_between(&self, rows: Range<usize>, calls: &[(usize, u64)]) -> Result<Vec<Flow>, Refused> {
        let mut calls = calls[calls.partition_point(|&(place, _)| place < rows.start)..].iter().peekable();
        let flow = |place: usize| {
            let call_packets = calls.next_if(|&&(own, _)| own == place).map(|&(_, packets)| packets);
            self.flow(place, &self.rows[place], call_packets)
        };
        rows.map(flow).collect()
    }

    fn flow(&self, place: usize, row: &Row, call_packets: Option<u64>) -> Result<Flow, Refused> {
        let known = self.known;
        let (size_bytes, what) = match row.what {
            Source::Script(from, to) => {
                let script = self.script(place, row, from, to)?;
                (script.bytes(), What::Script(script))
            }
            Source::Datagrams(one) => {
                let own = &known.datagrams[one];
                let burst = |burst: &netsim::Burst| workload::Burst {
                    at_ns: burst.at.0,
                    gap_ns: burst.gap.0,
                    packets: burst.packets,
                    packet_bytes: u64::from(burst.len),
                };
                let bursts = known.bursts[own.bursts.clone()].iter().map(burst).collect();
                (own.size_bytes, What::Bursts(bursts, own.packet_bytes, own.rate_bps))
            }
            Source::Transfer(one) => {
                let Transfer { size_bytes, udp, .. } = known.transfers[one];
                (size_bytes, udp.map_or(What::Transfer, |(packet_bytes, rate_bps)| What::Rate(packet_bytes, rate_bps)))
            }
        };
        Ok(Flow {
            connection: row.connection,
            from_opener: row.from_opener,
            src: known.ends.sender(row.connection as usize, row.from_opener),
            dst: known.ends.sender(row.connection as usize, !row.from_opener),
            up: row.up(&known.paths),
            start_s: row.start_s,
            rtt_s: row.rtt_s,
            size_bytes,
            lasted_s: row.lasted_s,
            call_packets,
            quic: known.paths[row.connection as usize].quic && !matches!(what, What::Bursts(..) | What::Rate(..)),
            what,
        })
    }

    /// The script of a row. Where users wait, it is over for others when its last train has come in.
    pub(crate) fn script(&self, place: usize, row: &Row, from: usize, to: usize) -> Result<Script, Refused> {
        let opener_up = self.known.paths[row.connection as usize].opener_up;
        script(place, &self.steps[from..to], opener_up, self.known.form == Form::Users)
    }

    /// The directions of calls of which both are in the list: places, ascending, and packets in the capture.
    pub(crate) fn calls(&self) -> Vec<(usize, u64)> {
        let Captured { known, rows, .. } = self;
        let mut called = vec![None; known.paths.len()];
        known.calls.iter().for_each(|call| called[call.connection as usize] = Some((call, 0)));
        for row in rows {
            if let Some((_, ways)) = &mut called[row.connection as usize] {
                *ways += 1;
            }
        }
        let call = |(place, row): (usize, &Row)| {
            let (call, _) = called[row.connection as usize].filter(|&(_, ways)| ways == 2)?;
            Some((place, if row.from_opener { call.opener_packets } else { call.responder_packets }))
        };
        rows.iter().enumerate().filter_map(call).collect()
    }

    /// The addresses of the capture, each once.
    pub fn addresses(&self) -> Vec<String> {
        self.known.ends.addresses.iter().map(ToString::to_string).collect()
    }
}

/// What the steps lack of the trains, in words.
fn asides(known: &Known, steps: &[Step]) -> Option<String> {
    let way =
        |connection: u32, from_opener: bool| usize::from(from_opener == known.paths[connection as usize].opener_up);
    let mut all = [0_u64; 2];
    for piece in &known.pieces {
        all[way(piece.connection, piece.from_opener)] += piece.bytes;
    }
    let mut left = all;
    for step in steps {
        left[way(step.connection, step.from_opener)] -= step.bytes;
    }
    missing::asides(left, all)
}

/// The flows at the times of the capture: connections of TCP, then directions packet by packet; or transfers.
fn rows(known: &Known, link: &Link, steps: &[Step]) -> Vec<Row> {
    let transfer = |(place, one): (usize, &Transfer)| Row {
        start_s: one.start_s,
        connection: one.connection,
        from_opener: one.from_opener,
        lasted_s: None,
        rtt_s: one.rtt_s,
        what: Source::Transfer(place),
    };
    let mut rows: Vec<Row> = known.transfers.iter().enumerate().map(transfer).collect();
    // The queue of the captured link is left out where its users wait for the one of the replay.
    let users = known.form == Form::Users;
    let unknown = vec![None; if users { 0 } else { known.ends.addresses.len() }];
    let rtts_s = round_trips(&known.paths, &known.ends, if users { &link.bases_s } else { &unknown });
    let mut place = 0;
    for own in steps.chunk_by(|first, second| first.connection == second.connection) {
        let (from, to) = (place, place + own.len());
        place = to;
        let (Some(first), Some(last)) = (own.first(), own.last()) else { continue };
        let path = &known.paths[first.connection as usize];
        let rtt_s = rtts_s[first.connection as usize];
        let start_s = match path.setup_s {
            None => first.start_s - rtt_s.unwrap_or(0.0),
            Some(_) => path.begun_s,
        };
        rows.push(Row {
            start_s,
            connection: first.connection,
            from_opener: first.from_opener,
            lasted_s: users.then_some(last.end_s - start_s),
            rtt_s,
            what: Source::Script(from, to),
        });
    }
    let datagrams = |(place, one): (usize, &Datagrams)| Row {
        start_s: one.start_s,
        connection: one.connection,
        from_opener: one.from_opener,
        lasted_s: None,
        rtt_s: rtts_s[one.connection as usize],
        what: Source::Datagrams(place),
    };
    rows.extend(known.datagrams.iter().enumerate().map(datagrams));
    rows
}

/// # Errors
/// A start beyond what a flow list holds, packets that come too late, or too many bytes.
fn check(rows: &[Row], known: &Known) -> Result<(), Refused> {
    let named = |place: usize| format!("flows of the capture: row {}", place + 1);
    if let Some((place, row)) = rows.iter().enumerate().find(|(_, row)| row.start_s > LATEST_S) {
        return refused(format!(
            "{}: start_s = {:?}: must be a number from 0 to 1000000000 s",
            named(place),
            row.start_s
        ));
    }
    let datagrams = |row: &Row| match row.what {
        Source::Datagrams(one) => Some(&known.datagrams[one]),
        Source::Script(..) | Source::Transfer(_) => None,
    };
    let late = |(place, row): (usize, &Row)| datagrams(row).and_then(|one| one.too_late).map(|late| (place, late));
    if let Some((place, (at_s, len, packets))) = rows.iter().enumerate().find_map(late) {
        let at_s = text::general(at_s);
        return refused(format!("{}: burst {at_s}:{len}x{packets}/0: must be over within 2 years", named(place)));
    }
    let large = |(_, row): &(usize, &Row)| datagrams(row).is_some_and(|one| one.size_bytes > MOST_BYTES);
    if let Some((place, size)) =
        rows.iter().enumerate().find(large).and_then(|(place, row)| Some((place, datagrams(row)?.size_bytes)))
    {
        let bound = "must be a whole number from 1 to 1099511627776 bytes";
        return refused(format!("{}: size_bytes = {size}: {bound}", named(place)));
    }
    Ok(())
}

/// Multiplies the round-trip times by one factor, so that `usual_s`, that of the path, is `rtt_s`, within what a flow list
/// may hold.
fn with_round_trips(rows: &mut [Row], usual_s: Option<f64>, rtt_s: Option<f64>) {
    let Some(wanted_s) = rtt_s else { return };
    let factor = usual_s.map(|usual_s| wanted_s / usual_s);
    for row in rows {
        // Where none is known, all have the one that is wanted.
        row.rtt_s = Some(as_rtt(row.rtt_s.zip(factor).map_or(wanted_s, |(own_s, factor)| own_s * factor)));
    }
}

/// Whether a capture holds something to replay.
pub(crate) fn carries(connections: &[capture::Connection]) -> bool {
    connections.iter().any(|one| match one.protocol {
        Protocol::Tcp => one.from_opener.distinct_bytes > 0 || one.from_responder.distinct_bytes > 0,
        Protocol::Udp | Protocol::Other => true,
        Protocol::Icmp => false,
    })
}
