//! Frames of a cell and their exchange: data and answer, collisions, retries, aggregates, bursts.
//!
//! One exchange is two events: the end of the data, when packets arrive, and the end of the answer, when all contend
//! again. What is sent is fetched from the queues by the run, which hands it over.

use std::collections::VecDeque;

use qdisc::Packet;
use units::{Stream, Time};

use super::dcf::{Access, Dcf};
use super::station_queues::Bank;
use super::{AfterFailure, CellCounts, NodeCounts, Placement, Wlan};

/// Control frames, bytes (802.11-2020, 9.3.1).
const ACK: u32 = 14;
const RTS: u32 = 20;
const CTS: u32 = 14;
/// Compressed block acknowledgement, bytes.
const BLOCK_ACK: u32 = 32;
/// Delimiter in front of each frame of an aggregate, bytes; frames begin at multiples of it.
const DELIMITER: u32 = 4;

/// A frame at the head of a sender.
#[derive(Debug)]
struct Frame {
    packet: Packet,
    tries: u32,
    arrived: bool,
}

/// A node's queue on its way to the air: one per node and category, as contenders.
#[derive(Debug, Default)]
struct Sender {
    /// Frames to one receiver, oldest first: what was not yet acknowledged, and what waits behind it in order.
    frames: VecDeque<Frame>,
    /// A packet for another receiver that came out of the queue while an aggregate was filled.
    aside: Option<Packet>,
    /// Until when a won medium may be kept.
    keeps_until: Time,
}

/// What one node sends in a busy period.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    contender: usize,
    /// The station at one end.
    station: usize,
    at: Time,
    /// End of the first frame, after which an answer is missed when it collides.
    first_end: Time,
    /// End of the data.
    data_end: Time,
    /// End of the answer.
    answer_end: Time,
    rts: bool,
}

#[derive(Debug)]
pub(crate) struct Cell {
    wlan: Wlan,
    pub(crate) dcf: Dcf,
    senders: Vec<Sender>,
    /// Of the access point, by category, where stations have queues of their own.
    banks: Vec<Bank>,
    accesses: Vec<Access>,
    on_air: Vec<Attempt>,
    /// Whether a frame of the only attempt has arrived, so that an answer follows.
    answered: bool,
    busy_since: Time,
    errors: Stream,
    /// Event that waits for the next access.
    wake_at: Time,
    pub(crate) counts: CellCounts,
    /// Packets of each flow at the access point, and since when there are some.
    present: Vec<(u32, Time)>,
}

impl Cell {
    pub(crate) fn of(wlan: &Wlan, flows: usize, seed: u64) -> Cell {
        let nodes = wlan.stations.len() + 1;
        let quantum = match wlan.placement {
            Placement::Airtime(quantum) => Some(quantum),
            Placement::Shared | Placement::RoundRobin => None,
        };
        let banks = if wlan.placement == Placement::Shared { 0 } else { wlan.categories.len() };
        Cell {
            dcf: Dcf::of(wlan, nodes, seed),
            senders: (0..nodes * wlan.categories.len()).map(|_| Sender::default()).collect(),
            banks: (0..banks).map(|_| Bank::of(wlan.stations.len(), quantum)).collect(),
            accesses: Vec::new(),
            on_air: Vec::new(),
            answered: false,
            busy_since: Time::ZERO,
            errors: Stream::named(seed, "frame error"),
            wake_at: Time::NEVER,
            counts: CellCounts { nodes: vec![NodeCounts::default(); nodes], ..CellCounts::default() },
            present: vec![(0, Time::ZERO); flows],
            wlan: wlan.clone(),
        }
    }

    // Ports: those of the access point first, by station where they are apart, then by category; then the stations',
    // by station and category.

    /// Ports of the access point.
    pub(crate) fn down_ports(wlan: &Wlan) -> usize {
        let queues = if wlan.placement == Placement::Shared { 1 } else { wlan.stations.len() };
        queues * wlan.categories.len()
    }

    /// The port `packet` goes to: of the access point, or of the station that sends it.
    #[inline]
    pub(crate) fn port(&self, packet: &Packet) -> usize {
        let categories = self.wlan.categories.len();
        let flow = packet.flow.connection() as usize;
        let category = self.wlan.category_of.get(flow).map_or(0, |&category| usize::from(category));
        if let Some(station) = station(packet.src) {
            return Cell::down_ports(&self.wlan) + station * categories + category;
        }
        if self.banks.is_empty() { category } else { station(packet.dst).unwrap_or(0) * categories + category }
    }

    /// The contender that sends what waits in `port`.
    #[inline]
    pub(crate) fn contender(&self, port: usize) -> usize {
        let (categories, down) = (self.wlan.categories.len(), Cell::down_ports(&self.wlan));
        if port < down { port % categories } else { port - down + categories }
    }

    /// A packet has come to `port`.
    #[inline]
    pub(crate) fn arrived(&mut self, port: usize) {
        let categories = self.wlan.categories.len();
        if !self.banks.is_empty() && port < Cell::down_ports(&self.wlan) {
            self.banks[port % categories].arrived(port / categories);
        }
    }

    /// The port from which `contender` takes its next packet; `waits` tells whether packets wait in one.
    pub(crate) fn source(&mut self, contender: usize, waits: impl Fn(usize) -> bool) -> Option<usize> {
        let categories = self.wlan.categories.len();
        let port = match self.banks.get_mut(contender) {
            Some(bank) => bank.next(|station| waits(station * categories + contender))? * categories + contender,
            None if contender < categories => contender,
            None => contender - categories + Cell::down_ports(&self.wlan),
        };
        waits(port).then_some(port)
    }

    #[inline]
    fn node(&self, contender: usize) -> usize {
        contender / self.wlan.categories.len()
    }

    /// Whether `contender` has a frame.
    #[inline]
    pub(crate) fn has_frame(&self, contender: usize) -> bool {
        !self.senders[contender].frames.is_empty()
    }

    /// A packet that was put aside, as the next frame.
    pub(crate) fn take_aside(&mut self, contender: usize) -> bool {
        let aside = self.senders[contender].aside.take();
        aside.map(|packet| self.hand_over(contender, packet)).is_some()
    }

    /// Gives `contender` a packet to send. One for another receiver than the frames before it is put aside.
    pub(crate) fn hand_over(&mut self, contender: usize, packet: Packet) {
        let receiver = self.receiver(contender);
        let station = self.partner(contender, &packet);
        let sender = &mut self.senders[contender];
        if receiver.is_some_and(|receiver| receiver != station) {
            sender.aside = Some(packet);
        } else {
            sender.frames.push_back(Frame { packet, tries: 0, arrived: false });
        }
    }

    /// The station at one end of the exchange.
    fn partner(&self, contender: usize, packet: &Packet) -> usize {
        match self.node(contender) {
            0 => station(packet.dst).unwrap_or(0),
            node => node - 1,
        }
    }

    /// The station `contender` exchanges frames with.
    fn receiver(&self, contender: usize) -> Option<usize> {
        self.senders[contender].frames.front().map(|frame| self.partner(contender, &frame.packet))
    }

    /// The port from which the aggregate of `contender` may get one more frame: the next packet there is for the same
    /// receiver, and there is room for it.
    pub(crate) fn room(&self, contender: usize, next: impl Fn(usize) -> Option<Packet>) -> Option<usize> {
        let aggregation = self.wlan.aggregation.as_ref()?;
        let receiver = self.receiver(contender)?;
        let sender = &self.senders[contender];
        if sender.frames.len() >= aggregation.frames as usize || sender.aside.is_some() {
            return None;
        }
        let categories = self.wlan.categories.len();
        let port = match (self.node(contender), self.banks.is_empty()) {
            (0, true) => contender,
            (0, false) => receiver * categories + contender,
            _ => contender - categories + Cell::down_ports(&self.wlan),
        };
        let packet = next(port).filter(|packet| self.partner(contender, packet) == receiver)?;
        let bytes = self.unsent(contender).map(|frame| self.padded(&frame.packet)).sum::<u32>() + self.padded(&packet);
        let fits =
            bytes <= aggregation.bytes && self.wlan.stations[receiver].data.airtime(bytes) <= aggregation.airtime;
        fits.then_some(port)
    }

    fn unsent(&self, contender: usize) -> impl Iterator<Item = &Frame> {
        self.senders[contender].frames.iter().filter(|frame| !frame.arrived)
    }

    /// Bytes of a frame within an aggregate.
    fn padded(&self, packet: &Packet) -> u32 {
        (DELIMITER + packet.len + self.wlan.overhead).next_multiple_of(DELIMITER)
    }

    /// Puts the unsent frames of `contender` on the air at `at`.
    fn attempt(&mut self, contender: usize, at: Time) {
        let Some(station) = self.receiver(contender) else { return };
        let more = self.unsent(contender).nth(1).is_some();
        let alone = |frame: &Frame| frame.packet.len + self.wlan.overhead;
        let bytes =
            self.unsent(contender).map(|frame| if more { self.padded(&frame.packet) } else { alone(frame) }).sum();
        let (link, sifs) = (&self.wlan.stations[station], self.wlan.sifs);
        let rts = bytes > self.wlan.rts_threshold;
        let asked = at + link.control.airtime(RTS);
        let data_begins = if rts { asked + sifs + link.control.airtime(CTS) + sifs } else { at };
        let data_end = data_begins + link.data.airtime(bytes);
        let answer_end = data_end + sifs + link.control.airtime(if more { BLOCK_ACK } else { ACK });
        let first_end = if rts { asked } else { data_end };
        self.on_air.push(Attempt { contender, station, at, first_end, data_end, answer_end, rts });
        let node = self.node(contender);
        let counts = &mut self.counts.nodes[node];
        for frame in self.senders[contender].frames.iter_mut().filter(|frame| !frame.arrived) {
            counts.attempts += 1;
            counts.retries += u64::from(frame.tries > 0);
            frame.tries += 1;
        }
    }

    /// When an event for the next access is due, if none is waited for yet that comes as early.
    pub(crate) fn wake(&mut self) -> Option<Time> {
        let next = if self.dcf.is_busy() { None } else { self.dcf.next() };
        let next = next.filter(|&at| at < self.wake_at)?;
        self.wake_at = next;
        Some(next)
    }

    /// Whether the event at `now` begins an access; [`Cell::accessing`] then tells whose.
    pub(crate) fn begin(&mut self, now: Time) -> bool {
        if self.wake_at == now {
            self.wake_at = Time::NEVER;
        }
        if self.dcf.is_busy() || self.dcf.next() != Some(now) {
            return false;
        }
        self.accesses.clear();
        self.dcf.begin(now, &mut self.accesses);
        (self.busy_since, self.answered) = (now, false);
        self.on_air.clear();
        let categories = self.wlan.categories.len();
        if categories > 1 {
            // Of one node the most urgent category sends; to the others it is as a collision.
            self.accesses.sort_unstable_by_key(|access| std::cmp::Reverse(access.contender));
            let (dcf, mut last) = (&mut self.dcf, usize::MAX);
            self.accesses.retain(|access| {
                let node = access.contender / categories;
                if node == last {
                    dcf.yielded(access.contender);
                }
                std::mem::replace(&mut last, node) != node
            });
        }
        true
    }

    /// The contender of the `index`-th access.
    pub(crate) fn accessing(&self, index: usize) -> Option<usize> {
        self.accesses.get(index).map(|access| access.contender)
    }

    /// The frames of all accesses go out: when the only one's data ends ([`Cell::on_data`]), or when all have ended
    /// that collide ([`Cell::settle`], `true`).
    pub(crate) fn send(&mut self) -> (Time, bool) {
        for index in 0..self.accesses.len() {
            let Access { contender, at } = self.accesses[index];
            let node = self.node(contender);
            self.counts.nodes[node].accesses += 1;
            let txop = self.wlan.categories[contender % self.wlan.categories.len()].txop;
            self.senders[contender].keeps_until = at + txop;
            self.attempt(contender, at);
        }
        match self.on_air[..] {
            [only] => (only.data_end, false),
            _ => (self.on_air.iter().map(|attempt| self.silent_until(attempt)).max().unwrap_or(self.busy_since), true),
        }
    }

    /// The time until which no node sends after a collision of this frame.
    fn silent_until(&self, attempt: &Attempt) -> Time {
        if self.wlan.rules.after_failure == AfterFailure::AfterAnswerTime {
            attempt.first_end + (attempt.answer_end - attempt.data_end)
        } else {
            attempt.first_end
        }
    }

    /// Whether data for the node of `contender` has just ended, and its answer is to come.
    #[inline]
    pub(crate) fn replies(&self, contender: usize, now: Time) -> bool {
        let node = self.node(contender);
        match self.on_air[..] {
            [only] if self.answered && only.data_end == now => match self.node(only.contender) {
                0 => node == only.station + 1,
                _ => node == 0,
            },
            _ => false,
        }
    }

    /// The only data on the air has ended: what arrives, in order, is added to `arrived`. The end of the exchange, when
    /// [`Cell::settle`] is due.
    pub(crate) fn on_data(&mut self, arrived: &mut Vec<Packet>) -> Option<Time> {
        let attempt = *self.on_air.first()?;
        let node = self.node(attempt.contender);
        let frame_error = self.wlan.stations[attempt.station].frame_error;
        let counts = &mut self.counts.nodes[node];
        for frame in self.senders[attempt.contender].frames.iter_mut().filter(|frame| !frame.arrived) {
            frame.arrived = frame_error == 0.0 || self.errors.uniform() >= frame_error;
            if frame.arrived {
                self.answered = true;
                counts.acked += 1;
                counts.acked_bytes += u64::from(frame.packet.len);
            } else {
                counts.damaged += 1;
            }
        }
        self.release(attempt.contender, arrived);
        // Without an answer the others keep silent as long: the frame's duration field told them.
        Some(attempt.answer_end)
    }

    /// Adds the frames that have arrived, up to the first one that has not.
    fn release(&mut self, contender: usize, arrived: &mut Vec<Packet>) {
        let frames = &mut self.senders[contender].frames;
        while frames.front().is_some_and(|frame| frame.arrived) {
            arrived.extend(frames.pop_front().map(|frame| frame.packet));
        }
    }

    /// The exchange or the collision is over: packets without tries left are added to `given_up`, those that waited
    /// behind them to `arrived`. [`Cell::goes_on`] or [`Cell::contend`] comes next.
    pub(crate) fn settle(&mut self, now: Time, given_up: &mut Vec<Packet>, arrived: &mut Vec<Packet>) {
        let collision = self.on_air.len() > 1;
        for index in 0..self.on_air.len() {
            let Attempt { contender, station, at, first_end, rts, .. } = self.on_air[index];
            let (time, node) = (if collision { first_end - at } else { now - at }, self.node(contender));
            self.counts.nodes[station + 1].airtime += time;
            if let Some(bank) = self.banks.get_mut(contender % self.wlan.categories.len()) {
                bank.charge(station, time);
            }
            let counts = &mut self.counts.nodes[node];
            if node == 0 {
                counts.airtime += time;
            }
            // Behind RTS and CTS a frame has tries of its own.
            let most = self.wlan.tries[usize::from(rts && !collision)];
            self.senders[contender].frames.retain(|frame| {
                counts.collided += u64::from(collision && !frame.arrived);
                let over = !frame.arrived && frame.tries >= most;
                counts.given_up += u64::from(over);
                given_up.extend(over.then_some(frame.packet));
                !over
            });
            self.release(contender, arrived);
        }
    }

    /// Whether `contender` sends, or waits for the answer.
    #[inline]
    pub(crate) fn is_sending(&self, contender: usize) -> bool {
        self.dcf.is_busy() && self.on_air.iter().any(|attempt| attempt.contender == contender)
    }

    /// Contenders of the last busy period: the `index`-th.
    pub(crate) fn sent(&self, index: usize) -> Option<usize> {
        self.on_air.get(index).map(|attempt| attempt.contender)
    }

    /// The only sender, if it may keep the medium.
    pub(crate) fn may_go_on(&self, now: Time) -> Option<usize> {
        match self.on_air[..] {
            [only] if self.answered && self.senders[only.contender].keeps_until > now => Some(only.contender),
            _ => None,
        }
    }

    /// Whether the only sender keeps the medium and sends its next frames: when their data ends.
    pub(crate) fn goes_on(&mut self, now: Time) -> Option<Time> {
        let contender = self.may_go_on(now).filter(|&contender| self.has_frame(contender))?;
        self.on_air.clear();
        let before = self.counts.nodes[self.node(contender)];
        self.attempt(contender, now + self.wlan.sifs);
        let next = *self.on_air.first()?;
        if next.answer_end <= self.senders[contender].keeps_until {
            self.answered = false;
            return Some(next.data_end);
        }
        // It does not fit: as if it had not been tried.
        let node = self.node(contender);
        self.counts.nodes[node] = before;
        self.senders[contender].frames.iter_mut().filter(|frame| !frame.arrived).for_each(|frame| frame.tries -= 1);
        None
    }

    /// All contend again from `now` on.
    pub(crate) fn contend(&mut self, now: Time) {
        let collision = self.on_air.len() > 1;
        self.counts.busy += now - self.busy_since;
        let unread = collision && self.wlan.rules.eifs_after_collision;
        self.dcf.end(now, if unread { self.wlan.eifs_extra } else { Time::ZERO });
        for index in 0..self.on_air.len() {
            let attempt = self.on_air[index];
            let end = if collision { attempt.first_end } else { attempt.data_end };
            let (frames, timeout) = (&self.senders[attempt.contender].frames, end + self.wlan.ack_timeout);
            let again = frames.front().is_some_and(|frame| frame.tries > 0);
            if !self.answered && again {
                self.dcf.failed(attempt.contender, timeout);
            } else {
                let more = !frames.is_empty();
                self.dcf.done(attempt.contender, more);
                if !self.answered {
                    self.dcf.wait_for(attempt.contender, timeout);
                }
            }
        }
    }

    /// A packet of `flow` has come to the access point, on its way down.
    pub(crate) fn came(&mut self, flow: usize, now: Time) {
        let (packets, since) = &mut self.present[flow];
        if *packets == 0 {
            *since = now;
        }
        *packets += 1;
    }

    /// A packet of `flow` has left the access point: how long there were some, if it was the last.
    pub(crate) fn went(&mut self, flow: usize, now: Time) -> Option<Time> {
        let (packets, since) = &mut self.present[flow];
        *packets -= 1;
        (*packets == 0).then(|| now - *since)
    }

    /// Packets that have left their queue and are not at the other end, in no order.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let frames = self.senders.iter().flat_map(|sender| &sender.frames).map(|frame| &frame.packet);
        frames.chain(self.senders.iter().filter_map(|sender| sender.aside.as_ref()))
    }

    /// Begins the counts anew.
    pub(crate) fn restart(&mut self, now: Time) {
        self.counts =
            CellCounts { nodes: vec![NodeCounts::default(); self.counts.nodes.len()], ..CellCounts::default() };
        if self.dcf.is_busy() {
            self.busy_since = now;
        }
    }
}

/// The station of address `host`; none for a wired host.
#[inline]
pub(crate) fn station(host: u32) -> Option<usize> {
    (host & 1 == 1).then_some(host as usize >> 1)
}
