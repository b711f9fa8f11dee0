//! One end of a connection without the other: what a script does to it, and what it sends.
//!
//! Principle: as in a [scripted](super::scripted) connection there are two halves. Of the first only the sender is at
//! this end, of the second only the receiver; whoever drives the endpoint plays the other two. Packets go to an outbox
//! in place of an access pipe, and the endpoint has a clock and timers of its own. Only what [`Connection`] offers is
//! called, so that it does not matter which sender is behind it.
//!
//! Numbers count segments, as everywhere here: 0 is a SYN, data begins at 1. Whoever thinks in bytes keeps the table of
//! segment boundaries. A segment is accepted as it is: that it lies in the window is for the caller to check.

use std::collections::VecDeque;

use qdisc::{Ecn, Packet};
use units::{BitRate, Time};

use crate::error::ConfigError;
use crate::event::{Events, Kind};
use crate::options::{Block, MOST_BLOCKS, Options, SegmentOptions};
use crate::out::accounting::Ledger;
use crate::out::trace::Trace;
use crate::tcp::accurate::report::AccEcnReport;
use crate::tcp::accurate::{Counts, Habits, Hosts, Mode};
use crate::tcp::settings::Tcp;
use crate::tcp::{Connection, History, Life, Trains};
use crate::wire::handle::{Handle, Mark, Owner};
use crate::wire::net::{AIR, Net};
use crate::wire::pipe::{End, Lane, Pipe};

/// Slots of the half that sends and of the half that receives.
const SENDS: usize = 0;
const RECEIVES: usize = 1;

/// Where accurate ECN keeps this end, and one that is not here.
const OWN: u32 = 0;
const OTHER: u32 = 1;

/// What a segment of this end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// SYN, or SYN-ACK.
    Syn,
    /// Payload, with the FIN where that rides on it.
    Data,
    /// A FIN of its own.
    Fin,
    /// Without payload and without a number of its own.
    Ack,
    /// RST: the acknowledgement is 0 where it has none.
    Reset,
    /// Without payload, with the number before the first not acknowledged: it asks for the window.
    Probe,
}

/// A segment that this end has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// When it left.
    pub time: Time,
    /// What it is.
    pub role: Role,
    /// Its number; of an acknowledgement the next number to send.
    pub number: u32,
    /// Next number expected of the other end, 0 before its SYN.
    pub ack: u32,
    /// AE, CWR and ECE, from the highest bit to the lowest; of a SYN only with accurate ECN.
    pub ace: u8,
    /// Code point in the IP header.
    pub ecn: Ecn,
    /// Option of accurate ECN.
    pub counts: Option<ByteCounts>,
    /// TSval: when it left, and TSecr: what it echoes; zero before there is anything to echo.
    pub stamps: (Time, Time),
    /// SACK blocks, the most recent first.
    pub blocks: Vec<Block>,
}

/// A segment of the other end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Incoming {
    /// SYN or SYN-ACK.
    pub syn: bool,
    /// Numbers it brings, from the first to before the second: payload, then perhaps a FIN.
    pub numbers: Option<(u32, u32)>,
    /// The last of them is a FIN.
    pub fin: bool,
    /// Next number expected of this end.
    pub ack: Option<u32>,
    /// Window of the other end, segments.
    pub window: u32,
    /// SACK blocks, in numbers of this end.
    pub blocks: Vec<Block>,
    /// TSval and TSecr.
    pub stamps: Option<(Time, Time)>,
    /// Payload, bytes.
    pub payload: u32,
    /// Code point in the IP header.
    pub ecn: Ecn,
    /// AE, CWR and ECE, from the highest bit to the lowest.
    pub ace: u8,
    /// Option of accurate ECN.
    pub counts: Option<ByteCounts>,
}

/// Bytes received by code point, as the option of accurate ECN has them: 24 bits each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteCounts {
    /// ECT(1), CE and ECT(0) in this order; else the other way round.
    pub ect1_first: bool,
    /// At most three.
    pub values: Vec<u32>,
}

/// One end of a connection, with its own clock.
#[derive(Debug)]
pub struct Endpoint {
    tcp: Tcp,
    /// The settings that acknowledge at once.
    prompt: Tcp,
    net: Net,
    sends: Connection,
    receives: Connection,
    sent: VecDeque<Outgoing>,
    /// Window that the other end advertised last, segments.
    window: u32,
    /// When data was sent last.
    sent_at: Time,
    /// The connection is no more: closed, given up or reset.
    over: bool,
    /// A FIN has come; and before the application closed.
    fin_came: bool,
    closes_last: bool,
    /// The application has closed: nobody reads what comes.
    unread: bool,
    /// When something was answered last that did not fit the connection.
    challenged: Time,
}

/// Answers to what does not fit the connection leave this far apart at least (`tcp_invalid_ratelimit`).
const CHALLENGES: Time = Time::from_millis(500);

impl Endpoint {
    /// An end with settings `tcp` that will open the connection, or waits for the other to do so. `tcp.receiver_window`
    /// bounds the windows that the other end may advertise.
    ///
    /// # Errors
    /// The first setting out of its bounds.
    pub fn with(tcp: Tcp, opens: bool) -> Result<Endpoint, ConfigError> {
        tcp.check()?;
        let instant = BitRate::from_bps(10_u64.pow(18)).expect("non-zero");
        let net = Net {
            now: Time::ZERO,
            events: Events::default(),
            pipes: vec![Pipe::into(0, instant, Time::ZERO)],
            lanes: vec![Lane::to(End::Host)],
            flights: crate::slab::Slab::empty(),
            hops: 0,
            ledger: Ledger::of(1),
            outbox: VecDeque::new(),
            options: Options::none(),
            deliveries: None,
            trace: Trace::default(),
            tape: None,
            hosts: Hosts::default(),
        };
        let [sends, receives] = [SENDS, RECEIVES].map(|slot| half(slot, !opens, &tcp));
        let prompt = Tcp { delayed_ack: Time::ZERO, ..tcp.clone() };
        let window = tcp.receiver_window;
        Ok(Endpoint {
            tcp,
            prompt,
            net,
            sends,
            receives,
            sent: VecDeque::new(),
            window,
            sent_at: Time::ZERO,
            over: false,
            fin_came: false,
            closes_last: false,
            unread: false,
            challenged: Time::NEVER,
        })
    }

    /// Sends the SYN.
    pub fn connect(&mut self) {
        self.send(|half, tcp, net| half.sender.open(&half.shape, tcp, net));
    }

    /// The clock.
    pub fn now(&self) -> Time {
        self.net.now
    }

    /// Whether the connection was given up.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Lets time pass up to `end`, or, if `stop` says so, until something is sent.
    pub fn advance(&mut self, end: Time, stop: bool) {
        while !stop || self.sent.is_empty() {
            let Some(key) = self.net.events.pop() else { break };
            if key.time() > end {
                self.net.events.push(key);
                break;
            }
            self.net.now = key.time();
            if self.over {
                continue;
            }
            match (key.kind(), key.index()) {
                (Kind::Retransmit, SENDS) => {
                    let mut life = Life::Open;
                    self.send(|half, tcp, net| life = half.on_retransmit_timer(tcp, net));
                    self.over = life == Life::Over;
                }
                (Kind::Pace, SENDS) => self.send(|half, tcp, net| half.on_pace_timer(tcp, net)),
                (Kind::Receiver, RECEIVES) => {
                    self.receives.on_receiver_timer(&self.tcp, &mut self.net);
                    self.collect();
                }
                _ => {}
            }
        }
        if !stop || self.sent.is_empty() {
            self.net.now = self.net.now.max(end);
        }
    }

    /// What was sent since the last call, in order.
    pub fn take_sent(&mut self) -> impl Iterator<Item = Outgoing> + '_ {
        self.sent.drain(..)
    }

    /// The application writes `segments` more.
    pub fn write(&mut self, segments: u32) {
        let idle = self.net.now - self.sent_at;
        let shape = &mut self.sends.shape;
        shape.data += segments;
        (shape.last, shape.fin_rides) = (shape.data, false);
        if self.sends.sender.una() > 0 && self.sends.sender.una() == self.sends.sender.max() {
            self.sends.sender.on_more(idle, &self.tcp, &self.net);
        }
        self.send_allowed();
    }

    /// The application closes its direction: whether the FIN rides on data that is not yet sent.
    ///
    /// Nothing is read from then on if `wholly`; before the handshake is over there is then no connection any more.
    pub fn close(&mut self, wholly: bool) -> bool {
        if self.over {
            return false;
        }
        self.unread |= wholly;
        self.closes_last = self.fin_came;
        if wholly && self.sends.sender.una() == 0 {
            self.end();
            return false;
        }
        let unsent = self.sends.sender.max() <= self.sends.shape.data && self.sends.shape.data > 0;
        let shape = &mut self.sends.shape;
        shape.fin_rides = unsent;
        shape.last = shape.fin();
        self.send_allowed();
        unsent
    }

    /// The application closes although there is something that it has not read (RFC 2525, 2.17).
    pub fn abort(&mut self) {
        if self.over {
            return;
        }
        let reset = self.reset(self.sends.sender.max(), self.receives.receiver.next());
        self.sent.push_back(reset);
        self.end();
    }

    /// The other end resets the connection.
    pub fn on_reset(&mut self) {
        self.end();
    }

    /// A segment arrives that does not fit the connection, and is dropped (RFC 5961, 3.2, 4.2 and 5.2).
    pub fn challenge(&mut self) {
        let recent = self.challenged != Time::NEVER && self.net.now - self.challenged < CHALLENGES;
        if !recent && !self.over {
            self.challenged = self.net.now;
            self.receives.receiver.challenge(&self.receives.shape, &self.tcp, &mut self.net);
            self.collect();
        }
    }

    fn end(&mut self) {
        self.over = true;
        self.sends.sender.disarm();
        self.receives.receiver.disarm();
    }

    fn reset(&self, number: u32, ack: u32) -> Outgoing {
        let echoed = self.receives.receiver.riding(&self.tcp).map_or(Time::ZERO, |riding| riding.stamp);
        Outgoing {
            time: self.net.now,
            role: Role::Reset,
            number,
            ack,
            ace: 0,
            ecn: Ecn::NotEct,
            counts: None,
            stamps: (self.net.now, echoed),
            blocks: Vec::new(),
        }
    }

    /// A segment of the other end arrives.
    pub fn receive(&mut self, segment: &Incoming) {
        // RFC 9293, 3.10.7.1: there is no connection; and 3.6.1: nobody would read what it brings.
        let beyond =
            segment.numbers.is_some_and(|(_, end)| end > self.receives.receiver.next() + u32::from(segment.fin));
        if self.over || self.unread && beyond {
            if let Some(ack) = segment.ack {
                let reset = self.reset(ack, 0);
                self.sent.push_back(reset);
            }
            self.end();
            return;
        }
        self.take(segment);
        self.fin_came |= segment.fin;
        if self.closes_last && self.sends.sender.una() > self.sends.shape.fin() {
            self.end();
        }
    }

    fn take(&mut self, segment: &Incoming) {
        if segment.syn && self.sends.sender.una() > 0 {
            self.on_late_syn(segment);
            return;
        }
        if segment.syn {
            self.on_syn(segment);
        }
        let current = segment.ack.is_none_or(|ack| ack >= self.sends.sender.una());
        let moved = current && segment.window != self.window;
        if current {
            self.window = segment.window;
            // A SYN is answered whatever the window is.
            self.tcp.receiver_window = segment.window.max(u32::from(segment.syn));
            self.prompt.receiver_window = self.tcp.receiver_window;
        }
        if segment.numbers.is_none() && !segment.syn && segment.stamps.is_some() {
            let options = self.keep(segment, false);
            self.receives.receiver.on_stamp(self.receives.receiver.next(), options, &mut self.net);
            self.net.options.release(options);
        }
        // What the segment brings comes first, so that data which its acknowledgement releases acknowledges it.
        if let Some((first, end)) = segment.numbers {
            let before = self.sent.len();
            let (numbers, twice) = self.receives.receiver.unheld(first, end);
            for (index, &number) in numbers.iter().enumerate() {
                // One segment is acknowledged once, at its end.
                let due = self.sent.len() > before;
                self.sent.truncate(before);
                let last = index + 1 == numbers.len();
                // A FIN ends all reports (`tcp_fin`).
                if last
                    && !segment.fin
                    && let Some(block) = twice
                {
                    self.receives.receiver.bring_twice(block);
                }
                self.on_forward(segment, number, index == 0, last && (segment.fin || due));
            }
        }
        match segment.ack {
            Some(ack) => self.on_ack(segment, ack, moved),
            None if segment.syn => self.connect(),
            None => {}
        }
    }

    /// Habits of a host with accurate ECN: Linux' `tcp_ecn_option`, `tcp_ecn_option_beacon` and `tcp_ecn_fallback`.
    pub fn set_ecn_habits(&mut self, option: u32, beacon: u32, fallback: bool) {
        self.net.hosts.of(OWN).habits = Habits { option, beacon, fallback };
    }

    /// Bytes of the option of accurate ECN that data would carry now.
    pub fn ecn_option_bytes(&self) -> u32 {
        self.net.hosts.known(OWN).map_or(0, |host| host.option_bytes(self.tcp.timestamps, self.net.now, 0))
    }

    /// How long data may be unacknowledged before this end gives the connection up (RFC 5482; Linux' `TCP_USER_TIMEOUT`);
    /// zero for as long as retransmissions last.
    pub fn set_user_timeout(&mut self, timeout: Time) {
        self.sends.sender.set_user_timeout(timeout);
    }

    /// What the sender knows, by the names of Linux' `struct tcp_info` where it has one; times in microseconds.
    pub fn state(&self) -> Vec<(&'static str, f64)> {
        let mut known = self.sends.sender.state(&self.tcp);
        if let Some(host) = self.net.hosts.known(OWN).filter(|_| self.tcp.ecn.counts()) {
            let ((marks, [e1, ce, e0]), (received, [own_e1, own_ce, own_e0])) = (host.delivered(), host.received());
            known.retain(|&(name, _)| name != "delivered_ce");
            let more = [("delivered_ce", marks), ("delivered_e1_bytes", e1), ("delivered_ce_bytes", ce)];
            known.extend(more.map(|(name, value)| (name, value.into())));
            let more = [("delivered_e0_bytes", e0), ("received_ce", received), ("received_e1_bytes", own_e1)];
            known.extend(more.map(|(name, value)| (name, value.into())));
            let more = [("received_ce_bytes", own_ce), ("received_e0_bytes", own_e0)];
            known.extend(more.map(|(name, value)| (name, value.into())));
        }
        known
    }

    /// Next number expected of the other end.
    pub fn expected(&self) -> u32 {
        self.receives.receiver.next()
    }

    /// Numbers of this end: the first not acknowledged, and one above the highest sent.
    pub fn numbers(&self) -> (u32, u32) {
        (self.sends.sender.una(), self.sends.sender.max())
    }

    /// The SYN-ACK, or the acknowledgement that ends the handshake, says that it came, not one of the receiver.
    fn on_syn(&mut self, segment: &Incoming) {
        let options = self.keep(segment, true);
        self.net.hosts.on_opening(OWN, self.net.options.told(options));
        self.net.options.release(options);
        let known = *self.net.hosts.of(OWN);
        self.on_forward(&Incoming { counts: None, ..segment.clone() }, 0, false, false);
        self.sent.pop_back();
        *self.net.hosts.of(OWN) = known;
    }

    /// A SYN of an open connection is answered by an acknowledgement (RFC 5961, 4.2).
    fn on_late_syn(&mut self, segment: &Incoming) {
        let options = self.keep(segment, true);
        self.net.hosts.on_opening(OWN, self.net.options.told(options));
        self.net.options.release(options);
        self.challenge();
    }

    fn on_ack(&mut self, segment: &Incoming, ack: u32, moved: bool) {
        let ece = self.echo(segment, 1);
        let accurate = self.tcp.ecn.counts();
        let told = ack > self.sends.sender.una() || !segment.blocks.is_empty() || ece || accurate;
        // A duplicate brings no data and leaves the window as it was (RFC 5681, 2).
        // The sender of Linux reads the window itself.
        let reads = self.tcp.recovery.is_linux() && !segment.syn;
        if told || segment.numbers.is_none() && !moved && !segment.syn || reads && moved {
            let options = self.keep(segment, !segment.syn);
            let handle = Handle { slot: SENDS, mark: Mark::Plain, echo: ece, number: ack };
            self.send(|half, tcp, net| {
                half.on_reverse(handle, options, tcp, net);
            });
            self.net.options.release(options);
        }
        if moved {
            self.send_allowed();
        }
    }

    /// Number `number` reaches the receiver of this end, the first of its segment where what that tells is `heard`; a FIN is
    /// acknowledged at once.
    fn on_forward(&mut self, segment: &Incoming, number: u32, heard: bool, at_once: bool) {
        let options = self.keep(segment, heard);
        let echo = self.echo(segment, 2);
        let handle = Handle { slot: RECEIVES, mark: Mark::Plain, echo, number };
        let tcp = if at_once { &self.prompt } else { &self.tcp };
        self.receives.on_forward(handle, options, segment.ecn == Ecn::Ce, tcp, &mut self.net);
        self.net.options.release(options);
        self.collect();
    }

    /// Whether `segment` has that flag of RFC 3168: of a SYN it means another thing, as of one that counts marks.
    fn echo(&mut self, segment: &Incoming, flag: u8) -> bool {
        let classic = !self.tcp.ecn.counts() || self.net.hosts.of(OWN).mode == Mode::Classic;
        classic && !segment.syn && segment.ace & flag != 0
    }

    /// Puts the options of `segment` where the ends look for them; what it tells of congestion is
    /// `heard` once.
    fn keep(&mut self, segment: &Incoming, heard: bool) -> u32 {
        let (stamp, echoed) = segment.stamps.unwrap_or_default();
        let mut options = SegmentOptions::stamped(stamp);
        options.echoed = echoed;
        if self.tcp.recovery.is_linux() {
            options.window = segment.window.saturating_mul(self.tcp.mss);
        }
        let bare = !segment.syn && segment.numbers.is_none();
        if self.tcp.ecn.counts() && heard {
            options.told = Some(AccEcnReport {
                ecn: segment.ecn,
                payload: segment.payload,
                ace: segment.ace,
                counts: segment.counts.as_ref().map(Counts::from),
                selective: !segment.blocks.is_empty(),
                bare,
            });
        }
        for &block in segment.blocks.iter().take(MOST_BLOCKS) {
            options.push(block);
        }
        self.net.options.keep(options)
    }

    fn send_allowed(&mut self) {
        self.send(|half, tcp, net| half.sender.send_allowed(&half.shape, tcp, net));
    }

    /// Lets the sender act; data carries the acknowledgement that may have been due.
    fn send(&mut self, act: impl FnOnce(&mut Connection, &Tcp, &mut Net)) {
        if let Some(trains) = &mut self.sends.shape.trains {
            trains.riding = self.receives.receiver.riding(&self.tcp);
        }
        act(&mut self.sends, &self.tcp, &mut self.net);
        if !self.net.outbox.is_empty() {
            self.sent_at = self.net.now;
            self.receives.receiver.on_ride(&self.tcp);
            // An acknowledgement of this instant has not left yet: the data says the same.
            let accurate = self.tcp.ecn.counts();
            let repeats = |last: &Outgoing| {
                last.role == Role::Ack && last.time == self.net.now && (accurate || last.ace & 1 == 0)
            };
            if self.sent.back().is_some_and(|last| repeats(last) && last.blocks.is_empty()) {
                self.sent.pop_back();
            }
        }
        self.collect();
    }

    /// Moves packets from the outbox to what was sent.
    fn collect(&mut self) {
        while let Some(packet) = self.net.outbox.pop_front() {
            let outgoing = self.described(&packet);
            self.net.options.release(packet.options);
            self.sent.push_back(outgoing);
        }
    }

    fn described(&mut self, packet: &Packet) -> Outgoing {
        let handle = Handle::unpack(packet.handle);
        let (shape, sends) = (&self.sends.shape, handle.slot == SENDS);
        let role = match handle.number {
            _ if handle.mark == Mark::Probe => Role::Probe,
            _ if !sends || handle.mark != Mark::Plain => Role::Ack,
            0 => Role::Syn,
            number if number > shape.data => Role::Fin,
            _ => Role::Data,
        };
        // A socket that nobody has and that only waits for the FIN has forgotten its counts (`tcp_timewait_state_process`).
        let waits = self.unread && self.sends.sender.una() > shape.fin();
        let number = if role == Role::Ack { self.sends.sender.max() } else { handle.number };
        let echoed = self.receives.receiver.riding(&self.tcp).map_or(Time::ZERO, |riding| riding.stamp);
        let options = self.net.options.of(packet.options);
        let told = options.as_ref().and_then(|options| options.told);
        let classic = if handle.echo { if sends { 2 } else { 1 } } else { 0 };
        Outgoing {
            time: self.net.now,
            role,
            number,
            ack: self.receives.receiver.next(),
            ace: told.filter(|_| !waits).map_or(0, |told| told.ace) | classic,
            ecn: packet.ecn,
            counts: told.and_then(|told| told.counts).map(ByteCounts::from),
            stamps: (self.net.now, echoed),
            blocks: options.map_or(Vec::new(), |options| options.blocks().to_vec()),
        }
    }
}

impl From<&ByteCounts> for Counts {
    fn from(given: &ByteCounts) -> Counts {
        let mut values = [0; 3];
        let fields = given.values.len().min(3);
        values[..fields].copy_from_slice(&given.values[..fields]);
        Counts { ect1_first: given.ect1_first, fields: fields as u8, values }
    }
}

impl From<Counts> for ByteCounts {
    fn from(counts: Counts) -> ByteCounts {
        ByteCounts { ect1_first: counts.ect1_first, values: counts.values[..usize::from(counts.fields)].to_vec() }
    }
}

/// The half in `slot`, before its connection is open.
fn half(slot: usize, receiver_opens: bool, tcp: &Tcp) -> Connection {
    let mut connection = Connection::unused(tcp);
    let shape = &mut connection.shape;
    shape.owner = Owner { flow: 0, slot: slot as u32, src: 0, dst: 1, mark: 0 };
    (shape.out, shape.back) = (AIR as u32, AIR as u32);
    shape.receiver_opens = receiver_opens || slot == RECEIVES;
    shape.turned = slot == RECEIVES;
    let hosts = if slot == RECEIVES { (OTHER, OWN) } else { (OWN, OTHER) };
    shape.trains = Some(Box::new(Trains::none(hosts)));
    shape.fin_rides = false;
    // One train that never ends: how many bytes are in a segment is not known here.
    (shape.end, shape.size_bytes) = (u32::MAX - 1, u64::MAX >> 1);
    if slot == RECEIVES {
        (shape.data, shape.last) = (u32::MAX - 1, u32::MAX - 1);
    } else {
        (shape.data, shape.last) = (0, 0);
    }
    let history = History { clock_phase: Time::ZERO, syn_lost: false, known: [None; 2] };
    connection.sender.restart(tcp, history.clock_phase, history.syn_lost);
    connection.receiver.restart(tcp, history.clock_phase);
    connection
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::sender::tests::tcp;
    use crate::tcp::settings::Recovery;

    /// A server that sends in windows of four and has a window of 100 to send into.
    fn connected() -> Endpoint {
        let settings = Tcp { initial_window: 4, receiver_window: 100, recovery: Recovery::Sack, ..tcp() };
        let mut end = Endpoint::with(settings, false).expect("within bounds");
        end.receive(&Incoming { syn: true, window: 100, ..Incoming::default() });
        assert_eq!(roles(&mut end), [(Role::Syn, 0, 1)]);
        end.advance(Time::from_millis(100), false);
        end.receive(&acknowledging(1));
        end
    }

    fn acknowledging(ack: u32) -> Incoming {
        Incoming { ack: Some(ack), window: 100, ..Incoming::default() }
    }

    /// Role, number and acknowledgement of what was sent.
    fn roles(end: &mut Endpoint) -> Vec<(Role, u32, u32)> {
        end.take_sent().map(|out| (out.role, out.number, out.ack)).collect()
    }

    fn known(end: &Endpoint, name: &str) -> f64 {
        end.state().into_iter().find(|&(other, _)| other == name).expect("known").1
    }

    #[test]
    fn data_goes_into_the_window_and_the_fin_rides_on_what_is_unsent() {
        let mut end = connected();
        end.write(6);
        let first: Vec<_> = (1..5).map(|number| (Role::Data, number, 1)).collect();
        assert_eq!(roles(&mut end), first);
        assert!(end.close(false), "two segments are not sent");
        end.receive(&acknowledging(3));
        assert_eq!(roles(&mut end), [(Role::Data, 5, 1), (Role::Data, 6, 1)]);
        assert_eq!((known(&end, "unacked"), known(&end, "snd_cwnd")), (4.0, 5.0));
        end.receive(&acknowledging(7));
        assert_eq!(end.numbers(), (7, 7));
    }

    #[test]
    fn a_fin_of_its_own_comes_after_all_data_and_that_of_the_other_end_is_answered_at_once() {
        let mut end = connected();
        end.write(1);
        assert_eq!(roles(&mut end), [(Role::Data, 1, 1)]);
        assert!(!end.close(false));
        assert_eq!(roles(&mut end), [(Role::Fin, 2, 1)]);
        end.receive(&Incoming { numbers: Some((1, 2)), fin: true, ..acknowledging(3) });
        assert_eq!(roles(&mut end), [(Role::Ack, 3, 2)]);
    }

    #[test]
    fn a_segment_of_several_numbers_is_acknowledged_once_and_data_carries_the_acknowledgement() {
        let mut end = connected();
        end.receive(&Incoming { numbers: Some((1, 4)), ..acknowledging(1) });
        assert_eq!(roles(&mut end), [(Role::Ack, 1, 4)]);
        end.write(5);
        end.take_sent().for_each(drop);
        end.receive(&Incoming { numbers: Some((4, 6)), ..acknowledging(2) });
        assert_eq!(roles(&mut end), [(Role::Data, 5, 6)]);
    }

    #[test]
    fn a_window_that_closes_holds_data_back_until_it_opens() {
        let mut end = connected();
        end.receive(&Incoming { window: 1, ..acknowledging(1) });
        end.write(3);
        assert_eq!(roles(&mut end), [(Role::Data, 1, 1)]);
        // The same acknowledgement with another window is no duplicate.
        end.receive(&acknowledging(1));
        assert_eq!(roles(&mut end), [(Role::Data, 2, 1), (Role::Data, 3, 1)]);
        assert_eq!(known(&end, "ca_state"), 0.0);
    }

    #[test]
    fn blocks_set_off_recovery_and_the_timer_a_timeout() {
        let mut end = connected();
        end.write(4);
        end.take_sent().for_each(drop);
        for above in 3..6 {
            end.receive(&Incoming { blocks: vec![(2, above)], ..acknowledging(1) });
        }
        assert_eq!(roles(&mut end), [(Role::Data, 1, 1)]);
        assert_eq!(["ca_state", "sacked", "lost", "retrans"].map(|name| known(&end, name)), [3.0, 3.0, 1.0, 1.0]);
        end.advance(Time::from_millis(60_000), true);
        assert_eq!((known(&end, "ca_state"), roles(&mut end)), (4.0, vec![(Role::Data, 1, 1)]));
        assert!(end.now() < Time::from_millis(60_000));
    }
}
