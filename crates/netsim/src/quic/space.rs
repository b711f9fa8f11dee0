//! A packet-number space of one end: what it has sent and not heard of, what is lost (RFC 9002, 6.1 and appendix A), and
//! what it has received and must acknowledge (RFC 9000, 13.2).

use std::collections::VecDeque;

use units::Time;

use super::ranges::Ranges;
use super::rtt::Rtt;
use crate::tcp::settings::Tcp;
use crate::wire::frames::{Frames, StreamFrame, told_delay};

/// A packet is lost when one sent so many after it is acknowledged (RFC 9002, 6.1.1: kPacketThreshold).
const PACKET_THRESHOLD: u64 = 3;
/// Ranges that an ACK frame has at most; older ones are forgotten (RFC 9000, 13.2.3).
const MOST_RANGES: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing is to be heard of it: it had only an ACK frame.
    Bare,
    Outstanding,
    Acknowledged,
    Lost,
}

/// A packet that was sent.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) at: Time,
    /// Length in flight, without IP and UDP headers, bytes; 0 for a bare acknowledgement.
    pub(super) bytes: u32,
    state: State,
    pub(super) crypto: Option<(u64, u64)>,
    first: Option<StreamFrame>,
    more: Vec<StreamFrame>,
    pub(super) max_data: bool,
    pub(super) done: bool,
}

impl Sent {
    /// Of a packet with `frames` that is `bytes` long.
    pub(super) fn of(frames: &Frames, bytes: u32, now: Time) -> Sent {
        Sent {
            at: now,
            bytes: if frames.eliciting { bytes } else { 0 },
            state: if frames.eliciting { State::Outstanding } else { State::Bare },
            crypto: frames.crypto,
            first: frames.streams.first().copied(),
            more: frames.streams.get(1..).unwrap_or_default().to_vec(),
            max_data: frames.max_data.is_some(),
            done: frames.done,
        }
    }

    /// Its bytes of streams.
    pub(super) fn streams(&self) -> impl Iterator<Item = StreamFrame> {
        self.first.into_iter().chain(self.more.iter().copied())
    }
}

/// What an acknowledgement or a timer has told of the packets sent.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Packets newly acknowledged, and newly lost, with their numbers, ascending.
    pub(super) acknowledged: Vec<(u64, Sent)>,
    pub(super) lost: Vec<(u64, Sent)>,
}

/// One packet-number space.
#[derive(Debug)]
pub(super) struct Numbers {
    /// Number of the first of `sent`.
    base: u64,
    sent: VecDeque<Sent>,
    pub(super) largest_acknowledged: Option<u64>,
    /// When the next packet counts as lost by time.
    pub(super) loss_time: Time,
    /// When the last packet was sent that is to be acknowledged.
    pub(super) last_eliciting: Time,
    /// Packets under way, and their bytes.
    pub(super) outstanding: u32,
    pub(super) bytes: u64,
    received: Ranges,
    /// Numbers below are forgotten, and count as received.
    floor: u64,
    /// Number and arrival of the highest packet received.
    largest_received: Option<(u64, Time)>,
    /// Packets to be acknowledged since the last ACK frame.
    pub(super) unacknowledged: u32,
    /// Packets received that were to be acknowledged, those capable of ECN, and those marked.
    eliciting: u32,
    capable: u64,
    marked: u64,
    /// When an ACK frame must be sent; `NEVER` when none must.
    pub(super) ack_due: Time,
}

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers {
            base: 0,
            sent: VecDeque::new(),
            largest_acknowledged: None,
            loss_time: Time::NEVER,
            last_eliciting: Time::ZERO,
            outstanding: 0,
            bytes: 0,
            received: Ranges::default(),
            floor: 0,
            largest_received: None,
            unacknowledged: 0,
            eliciting: 0,
            capable: 0,
            marked: 0,
            ack_due: Time::NEVER,
        }
    }
}

impl Numbers {
    /// Number of the next packet: none is used twice.
    pub(super) fn next(&self) -> u64 {
        self.base + self.sent.len() as u64
    }

    /// First number of which nothing was heard.
    pub(super) fn first_open(&self) -> u64 {
        self.base
    }

    pub(super) fn on_sent(&mut self, sent: Sent) {
        if sent.state == State::Outstanding {
            self.outstanding += 1;
            self.bytes += u64::from(sent.bytes);
            self.last_eliciting = sent.at;
        }
        self.sent.push_back(sent);
    }

    /// Forgets those at the front of which nothing more is to be learnt.
    pub(super) fn tidy(&mut self) {
        // Those lost at the front stay while they may be part of a longer time without an acknowledgement.
        let lost = self.sent.iter().take_while(|sent| matches!(sent.state, State::Lost | State::Bare)).count();
        let known = match self.sent.get(lost).map(|sent| sent.state) {
            Some(State::Acknowledged) => lost,
            _ => self.sent.iter().take_while(|sent| sent.state == State::Bare).count(),
        };
        for _ in 0..known {
            self.sent.pop_front();
            self.base += 1;
        }
        while self.sent.front().is_some_and(|sent| sent.state == State::Acknowledged) {
            self.sent.pop_front();
            self.base += 1;
        }
    }

    /// Takes the ranges of an ACK frame (A.7).
    pub(super) fn on_ack(&mut self, ranges: &[(u64, u64)], heard: &mut Heard) {
        let Some(&(_, high)) = ranges.first() else { return };
        self.largest_acknowledged = self.largest_acknowledged.max(Some(high - 1));
        for &(start, end) in ranges.iter().rev() {
            for number in start.max(self.base)..end.min(self.next()) {
                let sent = &mut self.sent[(number - self.base) as usize];
                if sent.state == State::Outstanding {
                    sent.state = State::Acknowledged;
                    self.outstanding -= 1;
                    self.bytes -= u64::from(sent.bytes);
                    heard.acknowledged.push((number, sent.clone()));
                }
            }
        }
    }

    /// Finds what is lost (A.10) and when the next packet will be.
    pub(super) fn find_lost(&mut self, rtt: &Rtt, now: Time, tcp: &Tcp, heard: &mut Heard) {
        self.loss_time = Time::NEVER;
        let Some(largest) = self.largest_acknowledged else { return };
        let delay = rtt.loss_delay(tcp);
        let end = (largest + 1).min(self.next());
        for number in self.base..end {
            let sent = &mut self.sent[(number - self.base) as usize];
            if sent.state != State::Outstanding {
                continue;
            }
            if now.saturating_sub(sent.at) >= delay || largest >= number + PACKET_THRESHOLD {
                sent.state = State::Lost;
                self.outstanding -= 1;
                self.bytes -= u64::from(sent.bytes);
                heard.lost.push((number, sent.clone()));
            } else {
                self.loss_time = self.loss_time.min(sent.at + delay);
            }
        }
    }

    /// Whether packets that were sent `duration` or more apart are lost with all between them (7.6.2), of those sent since
    /// `since`; the last of them is `fresh` or behind it.
    pub(super) fn is_persistent(&self, duration: Time, since: Time, fresh: u64) -> bool {
        let mut first = Time::NEVER;
        for (number, sent) in (self.base..).zip(&self.sent) {
            match sent.state {
                State::Lost if sent.at > since => {
                    first = first.min(sent.at);
                    if sent.at - first >= duration && number >= fresh {
                        return true;
                    }
                }
                State::Acknowledged | State::Outstanding => first = Time::NEVER,
                State::Lost | State::Bare => {}
            }
        }
        false
    }

    /// The oldest packet under way.
    pub(super) fn oldest(&self) -> Option<&Sent> {
        self.sent.iter().find(|sent| sent.state == State::Outstanding)
    }

    /// Takes a packet that was received: false when it is one that was received before.
    pub(super) fn on_received(&mut self, frames: &Frames, capable: bool, marked: bool, now: Time, tcp: &Tcp) -> bool {
        let number = frames.number;
        if number < self.floor || self.received.holds(number) {
            return false;
        }
        self.received.insert(number, number + 1);
        self.floor = self.received.keep_highest(MOST_RANGES).unwrap_or(self.floor);
        (self.capable, self.marked) = (self.capable + u64::from(capable), self.marked + u64::from(marked));
        let before = self.largest_received.map(|(largest, _)| largest);
        // Out of order, or behind a gap (RFC 9000, 13.2.1).
        let disorder = before.map_or(number > 0, |largest| number != largest + 1);
        if before.is_none_or(|largest| number > largest) {
            self.largest_received = Some((number, now));
        }
        if frames.eliciting {
            self.unacknowledged += 1;
            self.eliciting = self.eliciting.saturating_add(1);
            let quick = self.eliciting <= tcp.quick_acks;
            let full = self.unacknowledged >= tcp.ack_every || tcp.delayed_ack == Time::ZERO;
            let at_once = disorder || marked || quick || full || frames.crypto.is_some();
            self.ack_due = self.ack_due.min(if at_once { now } else { now + tcp.delayed_ack });
        }
        true
    }

    /// Puts an ACK frame into a packet, if anything has come.
    pub(super) fn acknowledge(&mut self, frames: &mut Frames, now: Time) {
        self.show(frames, now);
        (self.unacknowledged, self.ack_due) = (0, Time::NEVER);
    }

    /// As [`Numbers::acknowledge`], without taking it for told.
    pub(super) fn show(&self, frames: &mut Frames, now: Time) {
        let Some((_, at)) = self.largest_received else { return };
        frames.acks.extend(self.received.list().iter().rev());
        frames.ack_delay = told_delay(now - at);
        frames.marks = self.marked;
    }

    /// Packets that came capable of ECN, and those marked, if any came so: what an ACK frame tells (RFC 9000, 19.3.2).
    pub(super) fn counts(&self) -> Option<(u64, u64)> {
        (self.capable > 0).then_some((self.capable, self.marked))
    }
}
