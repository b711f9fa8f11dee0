//! Trains with what their sides add to the time that the path takes, with what the captured link did and without it.
//!
//! Each train of a connection becomes a step of its script, in which an end speaks when it has heard what came before and
//! thought about it for as long as it did. What TCP and the path took in the capture is left out, so that the replay can
//! take its own. Source: Chen 2012, 9.2.1.

use capture::{Amount, Train};

use crate::link::{BUSY, FULL, Link, Load, PACKET_BITS, Tap};
use crate::numbers::{Sum, in_ns, median, seconds};
use crate::paths::Path;
use hosts::Ends;

/// What an end waits at most for data on which its acknowledgement can ride (Linux), s.
const DELAYED_ACK_S: f64 = 0.04;
/// Least retransmission timeout (Linux), s.
const LEAST_RTO_S: f64 = 0.2;
/// What the repair of a lost end of a flight takes at most, twice doubled, s.
const LONGEST_REPAIR_S: f64 = 2.0;
/// Between two packets of a connection the link sends no more of others than a flight that begins (RFC 6928).
const BETWEEN_PACKETS: f64 = 10.0;
/// Of the trains of a host on an idle link, those that come after a pause of its own: from this share on it pauses.
const PAUSING: f64 = 0.05;
/// Packets that wait where the captured link holds up a train of QUIC, and moments within the train that are looked at.
const WAITING_PACKETS: f64 = 5.0;
const HELD_UP_LOOKS: i64 = 16;
/// What one end says while the other goes on has no more segments than this, or it is part of a conversation.
const ASIDE_SEGMENTS: u64 = 3;
/// What is not more than this share of the queue is not told from its changes ...
const QUEUE_CHANGES: f64 = 0.25;
/// ... and this, s: no wait.
const LEAST_WAIT_S: f64 = 0.002;

/// A train as captured, and what the link carried meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) connection: u32,
    pub(crate) from_opener: bool,
    near: bool,
    lost: bool,
    address: u32,
    pub(crate) bytes: u64,
    captured: (u16, u32),
    start_s: f64,
    end_s: f64,
    warm_up_s: f64,
    theoretical_s: Option<f64>,
    heard_s: Option<f64>,
    window: i64,
    meanwhile: Load,
    before: Load,
}

/// A train of the replay.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Row of its connection in the capture.
    pub connection: u32,
    /// Who sends it.
    pub from_opener: bool,
    /// Payload, bytes.
    pub bytes: u64,
    /// What its side adds before it to the time that the path takes, ns.
    pub wait_ns: u64,
    /// Between its packets, ns; 0 sends what the window allows.
    pub pace_ns: u64,
    /// First packet in the capture, s.
    pub start_s: f64,
    /// Last packet in the capture, s.
    pub end_s: f64,
}

/// The trains of a capture.
pub(crate) fn pieces(trains: &[Train], paths: &[Path], ends: &Ends, near: &[bool], tap: &Tap) -> Vec<Piece> {
    let piece = |train: &Train| {
        let connection = train.connection as usize;
        let address = ends.sender(connection, train.from_opener);
        let near = near[address as usize];
        let (start_s, end_s, warm_up_s) = (seconds(train.start_ns), seconds(train.end_ns), seconds(train.warm_up_ns));
        Piece {
            connection: train.connection as u32,
            from_opener: train.from_opener,
            near,
            lost: paths[connection].lost[usize::from(!train.from_opener)],
            address,
            bytes: train.bytes,
            captured: train.captured,
            start_s,
            end_s,
            warm_up_s,
            theoretical_s: train.theoretical_ns.map(seconds),
            heard_s: train.heard_ns.map(seconds),
            window: Tap::window(start_s),
            meanwhile: tap.between(near, start_s, end_s),
            before: tap.between(near, start_s - warm_up_s, start_s),
        }
    };
    trains.iter().map(piece).collect()
}

/// The trains of the replay with all that the captured link did, by connection and time (Chen 2012, 9.2.1).
///
/// With the parts of the handshake, tap to opener and back and tap to responder and back, a train waits for what is left
/// of the time at the tap, at least 0: the first one `setup_s` less the whole round trip, of a responder less its own
/// part too; after a train of the other side the warm-up less the part of its own side; after one of its own side (a
/// pause) the pause less the whole round trip. The replay waits for the acknowledgement before a pause, so that a pause
/// lasts longer by what its receiver delays that.
///
/// A train that took longer than the ideal transfer of its packets is released evenly over the time it took, a packet of
/// the replay at a time; any other as fast as the window allows. So a link that was slow in the capture stays as slow;
/// Chen 2012, 9.2.1, spreads the surplus of all trains of a side over all of its packets instead.
pub(crate) fn steps_as_captured(pieces: &[Piece], paths: &[Path], mss: u64) -> Vec<Step> {
    let mut steps = Vec::with_capacity(pieces.len());
    let mut before: Option<&Piece> = None;
    for piece in pieces {
        let path = &paths[piece.connection as usize];
        let whole_s = path.to_opener_s + path.to_responder_s;
        let own_s = if piece.from_opener { path.to_opener_s } else { path.to_responder_s };
        let wait_s = match before.filter(|before| before.connection == piece.connection) {
            None => path.setup_s.unwrap_or(0.0) - whole_s - if piece.from_opener { 0.0 } else { own_s },
            Some(before) if before.from_opener == piece.from_opener => piece.warm_up_s - whole_s,
            Some(_) => piece.warm_up_s - own_s,
        };
        let lasted_s = piece.end_s - piece.start_s;
        let gaps = piece.bytes.div_ceil(mss).saturating_sub(1);
        let slow = gaps > 0 && piece.theoretical_s.is_some_and(|ideal_s| lasted_s > ideal_s);
        steps.push(Step {
            connection: piece.connection,
            from_opener: piece.from_opener,
            bytes: piece.bytes,
            wait_ns: in_ns(wait_s),
            pace_ns: if slow { in_ns(lasted_s / gaps as f64) } else { 0 },
            start_s: piece.start_s,
            end_s: piece.end_s,
        });
        before = Some(piece);
    }
    steps
}

/// A train on its way to a step of a script.
#[derive(Clone, Copy, Debug)]
struct Part<'a> {
    piece: &'a Piece,
    path: &'a Path,
    /// Whether the train before, if there is one, is of the same side.
    same: Option<bool>,
    warm_up_s: f64,
    own_s: f64,
    whole_s: f64,
    own_queue_s: f64,
    whole_queue_s: f64,
    rate_bps: f64,
    end_s: f64,
    bytes: u64,
    theoretical_s: Sum,
    busy: bool,
    full_before: bool,
    /// The captured link sent others, or this train's first packet, all the time since the train before.
    in_turn: bool,
    lost: bool,
    pauses: bool,
}

/// The trains of the replay over a captured link, by connection and time.
///
/// As [`steps_as_captured`], but the parts of the path are the least of any connection to the same address, a wait is also
/// less the queue at the time, though no less than the time since its side acknowledged what it answers, and a train that
/// was slow while the link was full, or that lost packets, is not paced. With them, of each connection of which something is
/// left aside, how much that is.
pub(crate) fn steps(
    pieces: &[Piece],
    paths: &[Path],
    ends: &Ends,
    link: &Link,
    mss: u64,
) -> (Vec<Step>, Vec<(u32, Amount)>) {
    let (mut parts, mut asides) = (Vec::with_capacity(pieces.len()), Vec::new());
    for own in pieces.chunk_by(|first, second| first.connection == second.connection) {
        let aside = without_asides(own, paths, ends, link, mss, &mut parts);
        if !aside.is_none() {
            asides.push((own[0].connection, aside));
        }
    }
    mark_pauses(&mut parts, ends);
    let parts = without_flights(parts);
    let usual_s = usual(&parts, ends);
    let steps = parts.iter().map(|part| part.step(usual_s[part.piece.address as usize], mss)).collect();
    (steps, asides)
}

/// Adds the trains of a connection without what one end says while the other goes on: a few bytes that nobody waits for.
/// Returns how many packets brought these first, and their IP bytes.
///
/// An end that had not acknowledged all when it spoke was not asked; and one that goes on sooner than an answer could have
/// come was not answered.
fn without_asides<'a>(
    own: &'a [Piece],
    paths: &'a [Path],
    ends: &Ends,
    link: &Link,
    mss: u64,
    parts: &mut Vec<Part<'a>>,
) -> Amount {
    let (mut before, mut aside): (Option<&Piece>, _) = (None, Amount::default());
    for (place, piece) in own.iter().enumerate() {
        let (last, next) = (place.checked_sub(1).map(|last| &own[last]), own.get(place + 1));
        let path = &paths[piece.connection as usize];
        let unasked = piece.heard_s.is_none() && last.is_some_and(|last| last.from_opener != piece.from_opener);
        let too_soon = last.zip(next).is_some_and(|(last, next)| {
            next.from_opener != piece.from_opener
                && last.from_opener == next.from_opener
                && next.warm_up_s < own_s(next, path, ends, link)
        });
        if (unasked || too_soon) && piece.bytes <= ASIDE_SEGMENTS * mss {
            let (packets, bytes) = piece.captured;
            aside = aside.and(Amount::of(packets.into(), bytes.into()));
            continue;
        }
        let same = before.map(|before| before.from_opener == piece.from_opener);
        let warm_up_s = match before {
            Some(before) if before.from_opener == piece.from_opener => piece.start_s - before.end_s,
            _ => piece.warm_up_s,
        };
        let own_queue_s = link.queue_at(piece.window, piece.near);
        let rate_bps = link.rates_bps[usize::from(piece.near)];
        let mut theoretical_s = Sum::default();
        piece.theoretical_s.into_iter().for_each(|ideal_s| theoretical_s.add(ideal_s));
        parts.push(Part {
            piece,
            path,
            same,
            warm_up_s,
            own_s: own_s(piece, path, ends, link),
            whole_s: to_opener_s(piece, path, ends, link) + to_responder_s(piece, path, ends, link),
            own_queue_s,
            // A round trip of a sender's own data has the queues of both sides of the tap in it.
            whole_queue_s: own_queue_s + link.queue_at(piece.window, !piece.near),
            rate_bps,
            end_s: piece.end_s,
            bytes: piece.bytes,
            theoretical_s,
            busy: piece.meanwhile.is_at_least(BUSY, rate_bps) || path.quic && is_held_up(piece, link),
            full_before: piece.before.is_at_least(FULL, rate_bps),
            in_turn: is_in_turn(piece, warm_up_s, link.peak_bps[usize::from(piece.near)]),
            lost: piece.lost,
            pauses: false,
        });
        before = Some(piece);
    }
    aside
}

/// Whether the captured link, of whatever rate, sent all it could while a train passed, and packets waited: then it is what made
/// the train slow. Of TCP losses tell the same; those of QUIC nobody sees.
fn is_held_up(piece: &Piece, link: &Link) -> bool {
    let peak_bps = link.peak_bps[usize::from(piece.near)];
    let waits = |window: i64| {
        let queue_s = link.queue_at(window, piece.near) + link.queue_at(window, !piece.near);
        queue_s * peak_bps > WAITING_PACKETS * PACKET_BITS
    };
    let (first, last) = (piece.window, Tap::window(piece.end_s));
    let sampled = (0..=HELD_UP_LOOKS).map(|look| first + (last - first) * look / HELD_UP_LOOKS);
    piece.meanwhile.is_at_least(BUSY, peak_bps) && sampled.filter(|&window| waits(window)).count() > 1
}

/// Whether a gap before a train is what its packet takes at the rate of the captured link, or with those of others between:
/// no longer than some packets take at the most that the link carried in a second, which it carried all the while.
///
/// Where the path behind the tap is next to none, each packet is acknowledged before the link has sent the next one, so that
/// nothing is under way: no end pauses.
fn is_in_turn(piece: &Piece, gap_s: f64, peak_bps: f64) -> bool {
    gap_s * peak_bps <= BETWEEN_PACKETS * PACKET_BITS && piece.before.fills(peak_bps)
}

fn to_opener_s(piece: &Piece, path: &Path, ends: &Ends, link: &Link) -> f64 {
    link.bases_s[ends.opener[piece.connection as usize] as usize].unwrap_or(path.to_opener_s)
}

fn to_responder_s(piece: &Piece, path: &Path, ends: &Ends, link: &Link) -> f64 {
    link.bases_s[ends.responder[piece.connection as usize] as usize].unwrap_or(path.to_responder_s)
}

/// Between the tap and the sender of a train, there and back.
fn own_s(piece: &Piece, path: &Path, ends: &Ends, link: &Link) -> f64 {
    if piece.from_opener { to_opener_s(piece, path, ends, link) } else { to_responder_s(piece, path, ends, link) }
}

/// Marks the trains of hosts that pause on an idle link, too.
fn mark_pauses(parts: &mut [Part<'_>], ends: &Ends) {
    let mut counts = vec![(0_u64, 0_u64); ends.addresses.len()];
    for part in parts.iter().filter(|part| !part.full_before && !part.busy) {
        let paused = part.same == Some(true) && part.warm_up_s > part.whole_s + LEAST_RTO_S;
        let (pauses, idle) = &mut counts[part.piece.address as usize];
        *pauses += u64::from(paused);
        *idle += 1;
    }
    for part in parts {
        let (pauses, idle) = counts[part.piece.address as usize];
        part.pauses = pauses as f64 > PAUSING * idle as f64;
    }
}

/// Trains of one side in a row that were flights of one train are one: between them nothing but a round trip passed.
fn without_flights(mut parts: Vec<Part<'_>>) -> Vec<Part<'_>> {
    parts.dedup_by(|part, held| {
        let goes_on = part.same == Some(true) && part.went_on_s() <= 0.0;
        if goes_on {
            held.end_s = held.end_s.max(part.end_s);
            held.bytes = held.bytes.saturating_add(part.bytes);
            part.piece.theoretical_s.into_iter().for_each(|ideal_s| held.theoretical_s.add(ideal_s));
            held.busy |= part.busy;
            held.lost |= part.lost;
        }
        goes_on
    });
    parts
}

/// Of each address, what its trains mostly took since they were heard; 0 where nothing tells, s.
fn usual(parts: &[Part<'_>], ends: &Ends) -> Vec<f64> {
    let mut heard_s: Vec<Vec<f64>> = vec![Vec::new(); ends.addresses.len()];
    for part in parts {
        heard_s[part.piece.address as usize].extend(part.piece.heard_s);
    }
    heard_s.iter_mut().map(|own| median(own).unwrap_or(0.0)).collect()
}

/// A wait as far as it is more than a queue that changes.
fn told(wait_s: f64, queue_s: f64) -> f64 {
    if wait_s > QUEUE_CHANGES * queue_s + LEAST_WAIT_S { wait_s } else { 0.0 }
}

impl Part<'_> {
    /// How long a side paused that had all acknowledged.
    ///
    /// Behind a full link the end of a flight may have been lost, of which nothing is seen but the time until it comes
    /// again: of a host that pauses on an idle link, too, it is a pause.
    fn went_on_s(&self) -> f64 {
        if self.in_turn {
            return 0.0;
        }
        let wait_s = told(self.warm_up_s - self.whole_s - self.whole_queue_s, self.whole_queue_s);
        if self.full_before && wait_s < LONGEST_REPAIR_S && !self.pauses { 0.0 } else { wait_s }
    }

    /// Since its side acknowledged what the train answers, 0 where that is not known.
    ///
    /// An answer whose packets were all lost comes a timeout late, and nothing of the connection tells: where the link is
    /// busy and the same host mostly answers sooner, it is that.
    fn answered_at_once_s(&self, usual_s: f64) -> f64 {
        // Behind its acknowledgement an answer has its own transmission.
        let heard_s = (self.piece.heard_s.unwrap_or(0.0) - PACKET_BITS / self.rate_bps).max(0.0);
        let lost = heard_s >= LEAST_RTO_S && self.full_before && usual_s < LEAST_RTO_S / 4.0;
        if lost { usual_s } else { heard_s }
    }

    fn wait_s(&self, usual_s: f64) -> f64 {
        let path = self.path;
        match self.same {
            // The queue of the handshake is in the parts of the connection's own handshake.
            None => {
                let handshake_s = path.to_opener_s + path.to_responder_s;
                let answer_s = if self.piece.from_opener { 0.0 } else { path.to_responder_s };
                path.setup_s.unwrap_or(0.0) - handshake_s - answer_s
            }
            Some(true) => self.went_on_s(),
            // An end that answers at once acknowledges with the answer; one that thinks has acknowledged before, some time
            // late.
            Some(false) => {
                let heard_s = self.answered_at_once_s(usual_s);
                let late_s = told(self.warm_up_s - self.own_s - self.own_queue_s - heard_s, self.own_queue_s);
                match self.piece.heard_s {
                    None => late_s,
                    Some(_) => heard_s + late_s.min(DELAYED_ACK_S),
                }
            }
        }
    }

    fn step(&self, usual_s: f64, mss: u64) -> Step {
        let lasted_s = self.end_s - self.piece.start_s;
        let gaps = self.bytes.div_ceil(mss).saturating_sub(1);
        let sent_s = 8.0 * self.bytes as f64 / self.rate_bps;
        let slow = lasted_s > self.theoretical_s.value() + sent_s && gaps > 0 && !self.busy && !self.lost;
        Step {
            connection: self.piece.connection,
            from_opener: self.piece.from_opener,
            bytes: self.bytes,
            wait_ns: in_ns(self.wait_s(usual_s)),
            pace_ns: if slow { in_ns(lasted_s / gaps as f64) } else { 0 },
            start_s: self.piece.start_s,
            end_s: self.end_s,
        }
    }
}
