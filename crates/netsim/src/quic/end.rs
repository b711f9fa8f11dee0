//! One end of a connection: what it sends when, what it makes of what comes, and its timers (RFC 9000, 8, 13 and 14;
//! RFC 9001, 4.1; RFC 9002).

use qdisc::{Kind as PacketKind, Packet};
use units::{Direction, Time};

use super::ranges::Ranges;
use super::rtt::Rtt;
use super::space::{Heard, Numbers, Sent};
use super::streams::{Receiving, Sending};
use super::window::{News, Window};
use crate::tcp::settings::Tcp;
use crate::wire::frames::{
    Frames, IP_UDP, LONG_HEADER, SMALLEST_INITIAL, STREAM_HEADER, Space, ack_length, crypto_header, varint,
};
use crate::wire::handle::{Mark, Owner};
use crate::wire::net::Net;

/// TLS messages of a client: ClientHello with its usual extensions, and Finished (RFC 8446, 4), bytes.
const CLIENT_HELLO: u64 = 300;
const FINISHED: u64 = 36;
/// A server sends at most so many times what an address sent that is not proved (RFC 9000, 8.1).
const AMPLIFICATION: u64 = 3;
/// Datagrams that an end sends when its timer goes off (RFC 9002, 6.2.4).
const PROBES: u32 = 2;
/// Packets kept that came before their keys (RFC 9001, 5.7).
const MOST_EARLY: usize = 10;
/// Doublings of the probe timeout at most.
const MOST_DOUBLINGS: u32 = 16;

/// Constants of one end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) owner: Owner,
    /// It sends from the sender to the receiver of the flow.
    pub(super) direction: Direction,
    pub(super) pipe: usize,
    pub(super) is_client: bool,
    /// Payload of the flow, both ways, bytes.
    pub(super) size_bytes: u64,
}

/// TLS messages to be sent.
#[derive(Debug, Default)]
struct Crypto {
    handed: u64,
    fresh: u64,
    lost: Vec<(u64, u64)>,
}

/// A packet that came before its keys.
#[derive(Debug)]
struct Early {
    frames: Frames,
    capable: bool,
    marked: bool,
}

#[derive(Debug)]
pub(super) struct End {
    place: Place,
    handshake: Numbers,
    data: Numbers,
    /// The keys of the handshake are gone (RFC 9001, 4.9.2).
    discarded: bool,
    pub(super) window: Window,
    pub(super) rtt: Rtt,
    crypto: Crypto,
    crypto_in: Ranges,
    /// A packet of the peer has come.
    heard_peer: bool,
    /// A client has sent a Handshake packet: its keys of Initial packets are gone (RFC 9001, 4.9.1).
    initial_gone: bool,
    /// The handshake is complete, and confirmed (RFC 9001, 4.1).
    pub(super) complete: bool,
    confirmed: bool,
    /// The peer's address is proved; until then bytes received and sent count.
    validated: bool,
    bytes_in: u64,
    bytes_out: u64,
    pub(super) sending: Sending,
    pub(super) receiving: Receiving,
    /// MAX_DATA that the peer has told, and that it was told.
    credit: u64,
    granted: u64,
    owes_credit: bool,
    owes_done: bool,
    early: Vec<Early>,
    /// Marks that the peer has told of.
    told_marks: u64,
    /// Probe timeouts since the last acknowledgement, and datagrams that the last one still asks for.
    pto_count: u32,
    probes: u32,
    probe_space: Space,
    /// A datagram may leave beyond the window: a loss was found (RFC 9002, 7.3.2).
    extra: bool,
    last_event: Time,
    pace_due: Time,
    heard: Heard,
    pub(super) gave_up: bool,
    pub(super) sent: u64,
    pub(super) retransmits: u64,
    pub(super) timeouts: u32,
    pub(super) first_sent: Time,
    pub(super) first_data: Time,
}

impl End {
    pub(super) fn new(place: Place, tcp: &Tcp, now: Time) -> End {
        let granted = u64::from(tcp.receiver_window) * u64::from(tcp.mss);
        End {
            place,
            handshake: Numbers::default(),
            data: Numbers::default(),
            discarded: false,
            window: Window::idle(tcp, unit(tcp)),
            rtt: Rtt::unknown(tcp),
            crypto: Crypto { handed: if place.is_client { CLIENT_HELLO } else { 0 }, ..Crypto::default() },
            crypto_in: Ranges::default(),
            heard_peer: false,
            initial_gone: false,
            complete: false,
            confirmed: false,
            validated: place.is_client,
            bytes_in: 0,
            bytes_out: 0,
            sending: Sending::default(),
            receiving: Receiving::default(),
            credit: granted,
            granted,
            owes_credit: false,
            owes_done: false,
            early: Vec::new(),
            told_marks: 0,
            pto_count: 0,
            probes: 0,
            probe_space: Space::Handshake,
            extra: false,
            last_event: now,
            pace_due: Time::NEVER,
            heard: Heard::default(),
            gave_up: false,
            sent: 0,
            retransmits: 0,
            timeouts: 0,
            first_sent: Time::NEVER,
            first_data: Time::NEVER,
        }
    }

    /// Whether its application may speak: with 0-RTT a client at once, and a server as soon as it has heard of it.
    pub(super) fn may_speak(&self, tcp: &Tcp) -> bool {
        self.complete || tcp.early_data && (self.place.is_client || self.crypto.handed > 0)
    }

    fn in_flight(&self) -> u64 {
        self.handshake.bytes + self.data.bytes
    }

    /// Bytes that may be sent to an address that is not proved.
    fn allowance(&self) -> u64 {
        if self.validated { u64::MAX } else { (AMPLIFICATION * self.bytes_in).saturating_sub(self.bytes_out) }
    }

    /// Takes a datagram of `bytes` without IP and UDP headers.
    pub(super) fn receive(
        &mut self,
        frames: &Frames,
        bytes: u32,
        (capable, marked): (bool, bool),
        tcp: &Tcp,
        now: Time,
    ) {
        self.bytes_in += u64::from(bytes);
        self.validated |= frames.validates;
        self.take(frames, (capable, marked), tcp, now);
        if self.may_take(tcp) {
            for early in std::mem::take(&mut self.early) {
                self.take(&early.frames, (early.capable, early.marked), tcp, now);
            }
        }
    }

    /// Whether it can read packets with data.
    fn may_take(&self, tcp: &Tcp) -> bool {
        self.complete || !self.place.is_client && self.may_speak(tcp)
    }

    fn take(&mut self, frames: &Frames, (capable, marked): (bool, bool), tcp: &Tcp, now: Time) {
        match frames.space {
            Space::Handshake if self.discarded => return,
            Space::Handshake => self.heard_peer = true,
            Space::Data if !self.may_take(tcp) => {
                if self.early.len() < MOST_EARLY {
                    self.early.push(Early { frames: frames.clone(), capable, marked });
                }
                return;
            }
            Space::Data => {}
        }
        self.last_event = now;
        let numbers = if frames.space == Space::Data { &mut self.data } else { &mut self.handshake };
        if !numbers.on_received(frames, capable, marked, now, tcp) {
            return;
        }
        if !frames.acks.is_empty() {
            self.on_ack(frames, tcp, now);
        }
        if let Some((start, end)) = frames.crypto {
            self.crypto_in.insert(start, end);
            self.on_crypto(tcp);
        }
        for &frame in &frames.streams {
            self.first_data = self.first_data.min(now);
            self.receiving.take(frame);
        }
        if !frames.streams.is_empty() {
            self.grant(tcp);
        }
        self.credit = self.credit.max(frames.max_data.unwrap_or(0));
        if frames.done {
            self.confirm();
        }
    }

    /// Lets the peer send more once a quarter of the window is used, as quic-go does.
    fn grant(&mut self, tcp: &Tcp) {
        let window = u64::from(tcp.receiver_window) * u64::from(tcp.mss);
        if self.granted - self.receiving.in_order < window / 4 * 3 {
            self.granted = self.receiving.in_order + window;
            self.owes_credit = true;
        }
    }

    fn on_crypto(&mut self, tcp: &Tcp) {
        let came = self.crypto_in.in_order();
        if self.place.is_client {
            if came >= u64::from(tcp.handshake_bytes) && !self.complete {
                self.complete = true;
                self.crypto.handed += FINISHED;
            }
            return;
        }
        if came >= CLIENT_HELLO && self.crypto.handed == 0 {
            self.crypto.handed = tcp.handshake_bytes.into();
        }
        if came >= CLIENT_HELLO + FINISHED && !self.complete {
            (self.complete, self.owes_done, self.validated) = (true, true, true);
            self.confirm();
        }
    }

    /// The handshake is confirmed: its keys go, and what was under way with them.
    fn confirm(&mut self) {
        if !std::mem::replace(&mut self.confirmed, true) {
            (self.discarded, self.pto_count) = (true, 0);
            self.handshake = Numbers::default();
        }
    }

    fn on_ack(&mut self, frames: &Frames, tcp: &Tcp, now: Time) {
        let mut heard = std::mem::take(&mut self.heard);
        let before = self.data.outstanding;
        let numbers = if frames.space == Space::Data { &mut self.data } else { &mut self.handshake };
        numbers.on_ack(&frames.acks, &mut heard);
        if let Some((number, sent)) = heard.acknowledged.last() {
            if number + 1 == frames.acks[0].1 {
                let (delay, longest) = match frames.space {
                    Space::Handshake => (Time::ZERO, None),
                    Space::Data => (frames.ack_delay, self.confirmed.then_some(tcp.delayed_ack)),
                };
                self.rtt.sample(now - sent.at, delay, longest, now);
            }
            let mut marked = 0;
            if frames.space == Space::Data && tcp.ecn.is_on() {
                marked = frames.marks.saturating_sub(self.told_marks) as u32;
                self.told_marks = self.told_marks.max(frames.marks);
            }
            numbers.find_lost(&self.rtt, now, tcp, &mut heard);
            if self.complete || !self.place.is_client {
                self.pto_count = 0;
            }
            self.on_heard(frames.space, &heard, marked, before, tcp, now);
        }
        heard.acknowledged.clear();
        heard.lost.clear();
        self.heard = heard;
    }

    /// Takes what was found to have arrived or to be lost.
    fn on_heard(&mut self, space: Space, heard: &Heard, marked: u32, before: u32, tcp: &Tcp, now: Time) {
        for frame in heard.acknowledged.iter().flat_map(|(_, sent)| sent.streams()) {
            self.sending.acknowledge(frame);
        }
        for (_, sent) in &heard.lost {
            self.crypto.lost.extend(sent.crypto);
            sent.streams().for_each(|frame| self.sending.lose(frame));
            self.owes_credit |= sent.max_data;
            self.owes_done |= sent.done;
        }
        let numbers = if space == Space::Data { &mut self.data } else { &mut self.handshake };
        let duration = self.rtt.persistent(tcp);
        let news = News {
            acknowledged: if space == Space::Data { &heard.acknowledged } else { &[] },
            lost: &heard.lost,
            marked,
            open: (numbers.first_open(), numbers.next()),
            in_flight: (before, self.data.outstanding),
            persistent: match heard.lost.first() {
                Some(&(first, _)) if self.rtt.is_known() => {
                    self.numbers(space).is_persistent(duration, self.rtt.first_sample, first)
                }
                _ => false,
            },
        };
        // A model of the path measures data only.
        if space == Space::Data || self.window.model.is_none() {
            self.extra |= self.window.on_news(&news, &self.rtt, now, tcp);
        }
        let numbers = if space == Space::Data { &mut self.data } else { &mut self.handshake };
        numbers.tidy();
    }

    fn numbers(&self, space: Space) -> &Numbers {
        if space == Space::Data { &self.data } else { &self.handshake }
    }

    /// When it acts next by itself.
    pub(super) fn deadline(&self, tcp: &Tcp) -> Time {
        self.loss_deadline(tcp).0.min(self.handshake.ack_due).min(self.data.ack_due).min(self.pace_due)
    }

    /// When the loss-detection timer goes off, and for which space (RFC 9002, A.8).
    fn loss_deadline(&self, tcp: &Tcp) -> (Time, Space) {
        let by_time = [(self.handshake.loss_time, Space::Handshake), (self.data.loss_time, Space::Data)];
        let [first, second] = by_time;
        let earliest = if second.0 < first.0 { second } else { first };
        if earliest.0 < Time::NEVER {
            return earliest;
        }
        let at_limit = self.allowance() < u64::from(LONG_HEADER + SMALLEST_INITIAL / 16);
        let timeout = |more: Time| {
            let base = (self.rtt.timeout(tcp) + more).0;
            Time(base << self.pto_count.min(MOST_DOUBLINGS)).min(tcp.max_rto)
        };
        let (handshake, data) = (self.handshake.outstanding > 0, self.data.outstanding > 0);
        let mut found = (Time::NEVER, Space::Handshake);
        if at_limit {
            return found;
        }
        if handshake {
            found.0 = self.handshake.last_eliciting + timeout(Time::ZERO);
        } else if self.place.is_client && !self.confirmed {
            // The server may be waiting for leave to send more (RFC 9002, 6.2.2.1).
            found.0 = self.last_event + timeout(Time::ZERO);
        }
        if data && self.confirmed {
            let at = self.data.last_eliciting + timeout(tcp.delayed_ack);
            if at < found.0 {
                found = (at, Space::Data);
            }
        }
        found
    }

    /// Its time has come.
    pub(super) fn on_time(&mut self, tcp: &Tcp, net: &mut Net) {
        if self.pace_due <= net.now {
            self.pace_due = Time::NEVER;
        }
        let (due, space) = self.loss_deadline(tcp);
        if due > net.now {
            return;
        }
        if self.numbers(space).loss_time < Time::NEVER {
            let mut heard = std::mem::take(&mut self.heard);
            let before = self.data.outstanding;
            let numbers = if space == Space::Data { &mut self.data } else { &mut self.handshake };
            numbers.find_lost(&self.rtt, net.now, tcp, &mut heard);
            self.on_heard(space, &heard, 0, before, tcp, net.now);
            heard.lost.clear();
            self.heard = heard;
            return;
        }
        let most = if self.complete { tcp.retries } else { tcp.syn_retries };
        if most.is_some_and(|most| self.pto_count >= most) {
            self.gave_up = true;
            return;
        }
        self.timeouts += 1;
        net.trace.timed_out(self.place.owner.flow, net.now);
        self.pto_count += 1;
        (self.probes, self.probe_space, self.last_event) = (PROBES, space, net.now);
    }

    /// Sends all that may leave now.
    pub(super) fn flush(&mut self, tcp: &Tcp, net: &mut Net) {
        while self.probes > 0 {
            self.probes -= 1;
            if !self.probe(tcp, net) {
                self.probes = 0;
            }
        }
        while self.send_handshake(false, tcp, net) {}
        while self.send_data(tcp, net) {}
        for space in [Space::Handshake, Space::Data] {
            if self.numbers(space).ack_due <= net.now {
                self.send_bare(space, tcp, net);
            }
        }
    }

    /// Sends a datagram that asks for an acknowledgement, whatever the window says.
    fn probe(&mut self, tcp: &Tcp, net: &mut Net) -> bool {
        if self.probe_space == Space::Handshake {
            return !self.discarded && self.send_handshake(true, tcp, net);
        }
        let fresh = self.credit.saturating_sub(self.sending.fresh);
        if !self.sending.has_more(fresh) && !self.owes_done && !self.owes_credit {
            // Nothing new: the oldest data again (RFC 9002, 6.2.4).
            if let Some(sent) = self.data.oldest() {
                let sent = sent.clone();
                sent.streams().for_each(|frame| self.sending.lose(frame));
                self.owes_credit |= sent.max_data;
                self.owes_done |= sent.done;
            }
        }
        self.output_data(tcp, net);
        true
    }

    /// Sends TLS messages, or a PING with `probe` when there are none: whether a datagram left.
    fn send_handshake(&mut self, probe: bool, tcp: &Tcp, net: &mut Net) -> bool {
        if self.discarded {
            return false;
        }
        if probe && self.crypto.lost.is_empty() && self.crypto.fresh == self.crypto.handed {
            let again = self.handshake.oldest().and_then(|sent| sent.crypto);
            self.crypto.lost.extend(again);
        }
        let lost = self.crypto.lost.first().copied();
        let (start, end) = lost.unwrap_or((self.crypto.fresh, self.crypto.handed));
        if start == end && !probe {
            return false;
        }
        let mut frames = Frames { number: self.handshake.next(), eliciting: true, ..Frames::default() };
        frames.validates = self.place.is_client && self.heard_peer;
        let mut headers = LONG_HEADER + self.acknowledge(Space::Handshake, &mut frames, false, net.now);
        headers += if start < end { crypto_header(start) } else { 1 };
        let room = u64::from(unit(tcp) as u32 - headers).min(self.allowance().saturating_sub(headers.into()));
        let took = (end - start).min(room);
        let bytes = (headers + took as u32).max(self.smallest());
        let window = probe || self.in_flight() + u64::from(bytes) <= self.window.bytes();
        if took == 0 && start < end || self.allowance() < bytes.into() || !window {
            return false;
        }
        self.acknowledge(Space::Handshake, &mut frames, true, net.now);
        if took > 0 {
            frames.crypto = Some((start, start + took));
            if lost.is_some() {
                self.retransmits += 1;
                if start + took < end {
                    self.crypto.lost[0].0 = start + took;
                } else {
                    self.crypto.lost.remove(0);
                }
            } else {
                self.crypto.fresh += took;
            }
        }
        self.initial_gone |= frames.validates;
        self.handshake.on_sent(Sent::of(&frames, bytes, net.now));
        self.output(frames, bytes, 0, tcp, net);
        true
    }

    /// Length that a datagram of the handshake has at least: one with an Initial packet of a client is padded (RFC 9000, 14.1).
    fn smallest(&self) -> u32 {
        if self.place.is_client && !self.initial_gone { SMALLEST_INITIAL } else { 0 }
    }

    /// Length of the ACK frame that a packet of `space` is to have, 0 for none; with `takes` the frame is put into it.
    fn acknowledge(&mut self, space: Space, frames: &mut Frames, takes: bool, now: Time) -> u32 {
        let numbers = if space == Space::Data { &mut self.data } else { &mut self.handshake };
        if numbers.unacknowledged == 0 && numbers.ack_due == Time::NEVER {
            return 0;
        }
        frames.acks.clear();
        if takes {
            numbers.acknowledge(frames, now);
        } else {
            numbers.show(frames, now);
        }
        match frames.acks.is_empty() {
            true => 0,
            false => ack_length(&frames.acks, frames.ack_delay, numbers.counts()),
        }
    }

    /// Sends a packet with data if one may leave.
    fn send_data(&mut self, tcp: &Tcp, net: &mut Net) -> bool {
        if !self.may_speak(tcp) {
            return false;
        }
        let fresh = self.credit.saturating_sub(self.sending.fresh);
        let has_more = self.sending.has_more(fresh);
        let room = self.in_flight() + unit(tcp) <= self.window.bytes();
        if !has_more && !self.owes_done && !self.owes_credit {
            if room {
                self.window.on_idle(self.data.outstanding);
            }
            return false;
        }
        if !room && !self.extra {
            self.window.underused = false;
            return false;
        }
        if self.allowance() < unit(tcp) {
            return false;
        }
        let at = self.window.may_leave(tcp);
        if at > net.now {
            self.window.underused = false;
            self.pace_due = at;
            return false;
        }
        if !room {
            self.extra = false;
        }
        self.output_data(tcp, net);
        true
    }

    /// Sends a packet with what there is, at least a PING.
    fn output_data(&mut self, tcp: &Tcp, net: &mut Net) {
        let mut frames = Frames::default();
        (frames.space, frames.number, frames.eliciting) = (Space::Data, self.data.next(), true);
        let mut room = unit(tcp) as u32 - short_header(tcp);
        room -= self.acknowledge(Space::Data, &mut frames, true, net.now);
        let mut pings = true;
        if std::mem::take(&mut self.owes_done) {
            (frames.done, pings) = (true, false);
            room -= 1;
        }
        if std::mem::take(&mut self.owes_credit) {
            (frames.max_data, pings) = (Some(self.granted), false);
            room -= 1 + varint(self.granted);
        }
        let progress = self.sending.fresh;
        let fresh = self.credit.saturating_sub(self.sending.fresh);
        let filled = self.sending.fill(room, fresh, tcp.stream_order, &mut frames.streams);
        room = filled.room;
        pings &= frames.streams.is_empty();
        self.retransmits += u64::from(filled.repeated);
        let bytes = unit(tcp) as u32 - room + u32::from(pings);
        let numbers = (self.data.next(), self.data.first_open());
        self.window.on_sent(numbers, self.data.outstanding, &self.rtt, self.place.owner.flow, net.now, tcp);
        self.data.on_sent(Sent::of(&frames, bytes, net.now));
        self.output(frames, bytes, progress, tcp, net);
    }

    /// Sends an acknowledgement alone.
    fn send_bare(&mut self, space: Space, tcp: &Tcp, net: &mut Net) {
        let mut frames = Frames::default();
        (frames.space, frames.number) = (space, self.numbers(space).next());
        frames.validates = space == Space::Handshake && self.place.is_client && self.heard_peer;
        let header = if space == Space::Data { short_header(tcp) } else { LONG_HEADER };
        let mut bytes = header + self.acknowledge(space, &mut frames, true, net.now);
        if space == Space::Handshake {
            bytes = bytes.max(self.smallest());
        }
        self.initial_gone |= frames.validates;
        let sent = Sent::of(&frames, bytes, net.now);
        let numbers = if space == Space::Data { &mut self.data } else { &mut self.handshake };
        numbers.on_sent(sent);
        self.output(frames, bytes, 0, tcp, net);
    }

    fn output(&mut self, frames: Frames, bytes: u32, progress: u64, tcp: &Tcp, net: &mut Net) {
        self.bytes_out += u64::from(bytes);
        self.first_sent = self.first_sent.min(net.now);
        let number = if frames.space == Space::Data { frames.number as u32 + 1 } else { 0 };
        let kind = if frames.eliciting { PacketKind::Data } else { PacketKind::Ack };
        self.sent += u64::from(frames.eliciting);
        let mut packet: Packet = self.place.owner.packet(self.place.direction, kind, Mark::Plain, number);
        packet.len = bytes + IP_UDP;
        (packet.progress, packet.remaining) = (progress, self.place.size_bytes.saturating_sub(self.sending.acked));
        if frames.space == Space::Data && tcp.ecn.is_on() {
            packet.ecn = tcp.ecn.codepoint();
        }
        packet.options = net.options.keep_frames(frames);
        net.send(self.place.pipe, packet);
    }
}

/// Bytes of a full datagram, without IP and UDP headers.
fn unit(tcp: &Tcp) -> u64 {
    u64::from(tcp.mss + tcp.header - IP_UDP)
}

/// Short header and tag, bytes: of the settings' header, what neither IP and UDP nor the STREAM frame take.
fn short_header(tcp: &Tcp) -> u32 {
    tcp.header - IP_UDP - STREAM_HEADER
}
