//! QUIC (RFC 9000, 9001, 9002), both ends of one connection, as far as a bottleneck sees it.
//!
//! Principle: packets have numbers that are never used again, and carry ranges of streams; what a lost packet carried goes
//! into another one. An acknowledgement says which numbers have come, with the time it waited, so that every sample of
//! the round-trip time is good, and losses are found by three packets behind or 9/8 of a round trip. A gap in a stream
//! holds up that stream only.
//!
//! What is there: a handshake in its bytes, datagrams of 1200 bytes, three times what came before an address is
//! proved, 0-RTT; packet and time threshold, probe timeouts, persistent congestion, the window rules of TCP in units of a
//! full datagram, pacing; acknowledgements every so many packets, after a delay, or at once behind a gap or a mark; ECN
//! counts; one limit of data for the connection; streams in turns or one after the other. What is not: Initial and Handshake
//! packets have one number space and no keys of their own, and are not put into one datagram with data; the limit of a
//! stream, Retry, key updates, migration, path MTU discovery, idle timeout and CONNECTION_CLOSE are left out, and what is
//! acknowledged after it was taken for lost is not taken back.
//!
//! A flow is a script: one that has none has a train of its size from the sender to the receiver. Each train is a stream of its
//! own, or each of its parts is (an answer of a page in HTTP/3): then part by part the answer follows its request.
//!
//! Cost: a slab entry per packet under way, O(packets in flight) per acknowledgement while something is missing, else O(1).

mod end;
mod ranges;
mod rtt;
mod space;
mod streams;
#[cfg(test)]
mod tests;
mod window;

use qdisc::{Ecn, Packet};
use units::{Direction, Time};

use crate::app::{Dialogue, SegmentRecord};
use crate::event::Kind;
use crate::flow::FlowSpec;
use crate::out::records::FlowRecord;
use crate::script::{Part, Phase, Train, TrainRecord};
use crate::tcp::Life;
use crate::tcp::settings::Tcp;
use crate::wire::frames::IP_UDP;
use crate::wire::handle::Owner;
use crate::wire::net::Net;
use end::{End, Place};

/// What a connection needs of the run in each event.
pub(crate) struct Scene<'a> {
    pub(crate) parts: &'a [Part],
    /// Trains whose parts are streams, ascending.
    pub(crate) streams: &'a [u32],
    pub(crate) tcp: &'a Tcp,
    pub(crate) net: &'a mut Net,
    pub(crate) trains: &'a mut Vec<TrainRecord>,
}

/// Data on a stream that has not come in: the train under way, or a part of it.
#[derive(Clone, Copy, Debug)]
struct Piece {
    stream: u32,
    /// Bytes of the stream at its end.
    end: u64,
    /// Where its arrival is recorded; `usize::MAX` when it is not.
    record: usize,
    /// Place of a request in its train: its answer follows it. `u32::MAX` for any other piece.
    request: u32,
}

/// An answer that waits for its time.
#[derive(Clone, Copy, Debug)]
struct Answer {
    due: Time,
    piece: Piece,
    bytes: u64,
}

const NO_RECORD: usize = usize::MAX;
const NO_REQUEST: u32 = u32::MAX;

/// Both ends of a connection, and what they say.
#[derive(Debug)]
pub(crate) struct Connection {
    /// At the sender and the receiver of the flow.
    ends: [End; 2],
    owner: Owner,
    size_bytes: u64,
    scripted: bool,
    opener: usize,
    trains: Vec<Train>,
    phase: Phase,
    train: usize,
    /// Where the train under way is recorded, and the parts before its own.
    record: usize,
    parts_before: usize,
    /// Bytes of the train not yet handed over, when it is paced.
    unhanded: u64,
    pieces: Vec<Piece>,
    answers: Vec<Answer>,
    /// The train under way is one of requests, and the next one their answers; or it is one of answers.
    exchange: bool,
    next_stream: u32,
    /// When the script acts by itself; `NEVER` when it waits for packets.
    due: Time,
    timer_event: Time,
    /// When the last train had come in.
    finish: Time,
    /// Whether those that wait for its last train were told.
    done: bool,
    /// Full packets told to [`Net::deliveries`].
    told: u64,
    dialogue: Option<Box<dyn Dialogue>>,
}

impl Connection {
    /// Begins flow `spec` on access pipes `pipes`, with the trains of its script, or a dialogue in place of one.
    pub(crate) fn open(
        owner: Owner,
        spec: &FlowSpec,
        pipes: (usize, usize),
        script: &[Train],
        dialogue: Option<Box<dyn Dialogue>>,
        scene: &mut Scene,
    ) -> Connection {
        let scripted = spec.script.is_some();
        let whole = Train { forward: true, bytes: spec.size_bytes, wait: Time::ZERO, pace: Time::ZERO };
        let opener = usize::from(spec.receiver_opens);
        let ends = [(Direction::Forward, pipes.0), (Direction::Reverse, pipes.1)].map(|(direction, pipe)| {
            let is_client = (direction == Direction::Reverse) == spec.receiver_opens;
            let place = Place { owner, direction, pipe, is_client, size_bytes: spec.size_bytes };
            End::new(place, scene.tcp, scene.net.now)
        });
        let mut connection = Connection {
            ends,
            owner,
            size_bytes: spec.size_bytes,
            scripted,
            opener,
            trains: match (scripted, &dialogue) {
                (true, _) => script.to_vec(),
                (false, None) => vec![whole],
                (false, Some(_)) => Vec::new(),
            },
            phase: Phase::Opening,
            train: 0,
            record: 0,
            parts_before: 0,
            unhanded: 0,
            pieces: Vec::new(),
            answers: Vec::new(),
            exchange: false,
            next_stream: 0,
            due: Time::NEVER,
            timer_event: Time::NEVER,
            finish: Time::NEVER,
            done: false,
            told: 0,
            dialogue,
        };
        connection.go_on(scene);
        connection
    }

    /// A packet reached its host.
    pub(crate) fn on_packet(&mut self, packet: &Packet, scene: &mut Scene) -> Life {
        let to = usize::from(packet.flow.direction() == Direction::Forward);
        let Some(frames) = scene.net.options.take_frames(packet.options) else { return Life::Open };
        let ecn = (packet.ecn != Ecn::NotEct, packet.ecn == Ecn::Ce);
        self.ends[to].receive(&frames, packet.len - IP_UDP, ecn, scene.tcp, scene.net.now);
        if to == 1 {
            self.tell_deliveries(scene);
        }
        self.go_on(scene);
        self.life()
    }

    /// The timer went off.
    pub(crate) fn on_timer(&mut self, scene: &mut Scene) -> Life {
        if scene.net.now != self.timer_event {
            return Life::Open;
        }
        self.timer_event = Time::NEVER;
        for end in &mut self.ends {
            end.on_time(scene.tcp, scene.net);
        }
        self.go_on(scene);
        self.life()
    }

    fn life(&self) -> Life {
        let gave_up = self.ends.iter().any(|end| end.gave_up);
        let done = self.phase == Phase::Closing && self.ends.iter().all(|end| end.sending.is_acknowledged());
        if gave_up || done { Life::Over } else { Life::Open }
    }

    /// Lets the script and both ends act, and sets the timer.
    fn go_on(&mut self, scene: &mut Scene) {
        self.proceed(scene);
        for end in &mut self.ends {
            end.flush(scene.tcp, scene.net);
        }
        let ends = self.ends.iter().map(|end| end.deadline(scene.tcp)).min().unwrap_or(Time::NEVER);
        let answers = self.answers.iter().map(|answer| answer.due).min().unwrap_or(Time::NEVER);
        let next = ends.min(answers).min(self.due).max(scene.net.now);
        if next < self.timer_event {
            self.timer_event = next;
            scene.net.events.schedule(next, Kind::Retransmit, self.owner.slot as usize);
        }
    }

    /// Goes on in the script as far as what has come in allows.
    fn proceed(&mut self, scene: &mut Scene) {
        loop {
            self.answer(scene);
            self.note_pieces(scene);
            match self.phase {
                _ if self.answers.iter().any(|answer| answer.due <= scene.net.now) => {}
                Phase::Opening if self.is_connected(scene) => {
                    self.ask(scene);
                    self.wait(scene);
                }
                Phase::Sending if self.due <= scene.net.now => self.release(scene),
                Phase::Sending if self.has_come_in() => self.end_train(scene),
                Phase::Settling if self.ends[self.before()].sending.is_acknowledged() => self.wait(scene),
                Phase::Waiting if self.due <= scene.net.now => self.start_train(scene),
                _ => return,
            }
        }
    }

    fn has_come_in(&self) -> bool {
        self.pieces.is_empty() && self.answers.is_empty() && self.unhanded == 0
    }

    /// The end that sent the train before.
    fn before(&self) -> usize {
        end_of(&self.trains[self.train - 1])
    }

    /// Whether the end that speaks first is connected.
    fn is_connected(&self, scene: &Scene) -> bool {
        let speaker = match (&self.dialogue, self.trains.first()) {
            // The client of a dialogue asks first.
            (Some(_), _) | (None, None) => self.opener,
            (None, Some(train)) => end_of(train),
        };
        self.ends[speaker].may_speak(scene.tcp)
    }

    /// Lets the client of a dialogue, of which all has come, say what it asks for next.
    fn ask(&mut self, scene: &Scene) {
        if let Some(client) = &mut self.dialogue
            && self.trains.len() == self.train
            && let Some(next) = client.next(scene.net.now)
        {
            let train = |forward, bytes, wait| Train { forward, bytes, wait, pace: Time::ZERO };
            self.trains.push(train(false, next.request, next.wait));
            self.trains.push(train(true, next.answer, next.think));
        }
    }

    fn wait(&mut self, scene: &Scene) {
        let Some(train) = self.trains.get(self.train) else {
            (self.phase, self.finish) = (Phase::Closing, scene.net.now);
            return;
        };
        (self.phase, self.due) = (Phase::Waiting, scene.net.now + train.wait);
    }

    fn start_train(&mut self, scene: &mut Scene) {
        let train = self.trains[self.train];
        self.due = Time::NEVER;
        self.phase = Phase::Sending;
        self.record_train(scene);
        let own = self.parts(self.train, scene);
        if self.has_streams(self.train, scene) {
            self.exchange = self.answers_of(self.train, scene).is_some();
            let mut before = 0;
            for (place, part) in own.iter().enumerate() {
                let stream = self.next_stream + place as u32;
                let request = if self.exchange { place as u32 } else { NO_REQUEST };
                let record = self.record + 1 + place;
                self.hand(&train, Piece { stream, end: part.end - before, record, request }, part.end - before);
                before = part.end;
            }
            self.next_stream += own.len() as u32;
            return;
        }
        let stream = self.next_stream;
        self.next_stream += 1;
        for (place, part) in own.iter().enumerate() {
            let piece = Piece { stream, end: part.end, record: self.record + 1 + place, request: NO_REQUEST };
            self.pieces.push(piece);
        }
        self.pieces.push(Piece { stream, end: train.bytes, record: NO_RECORD, request: NO_REQUEST });
        self.unhanded = train.bytes;
        self.release(scene);
    }

    /// Hands the next packet of a train to QUIC, or all of it when it is not paced.
    fn release(&mut self, scene: &Scene) {
        let train = self.trains[self.train];
        let paced = train.pace > Time::ZERO;
        let bytes = if paced { self.unhanded.min(scene.tcp.mss.into()) } else { self.unhanded };
        self.ends[end_of(&train)].sending.hand(self.next_stream - 1, bytes);
        self.unhanded -= bytes;
        self.due = if self.unhanded > 0 { scene.net.now + train.pace } else { Time::NEVER };
    }

    fn hand(&mut self, train: &Train, piece: Piece, bytes: u64) {
        self.pieces.push(piece);
        self.ends[end_of(train)].sending.hand(piece.stream, bytes);
    }

    /// Parts of train `train`.
    fn parts<'s>(&self, train: usize, scene: &Scene<'s>) -> &'s [Part] {
        let parts = scene.parts;
        let first = parts.partition_point(|part| (part.train as usize) < train);
        let behind = parts.partition_point(|part| part.train as usize <= train);
        &parts[first..behind]
    }

    fn has_streams(&self, train: usize, scene: &Scene) -> bool {
        scene.streams.binary_search(&(train as u32)).is_ok()
    }

    /// The train whose streams answer those of train `train`, one by one.
    fn answers_of(&self, train: usize, scene: &Scene) -> Option<usize> {
        let next = self.trains.get(train + 1)?;
        let count = |train| self.parts(train, scene).len();
        let turns = next.forward != self.trains[train].forward && next.pace == Time::ZERO;
        (turns && self.has_streams(train + 1, scene) && count(train) == count(train + 1)).then_some(train + 1)
    }

    /// Writes the train down that begins, and its parts.
    fn record_train(&mut self, scene: &mut Scene) {
        if !self.scripted {
            return;
        }
        self.record = scene.trains.len();
        let (flow, now, train) = (self.owner.flow, scene.net.now, self.train as u32);
        let forward = self.trains[self.train].forward;
        let record = TrainRecord { flow, train, part: 0, forward, start: now, end: Time::NEVER };
        scene.trains.push(record);
        let own = self.parts(self.train, scene);
        scene.trains.extend(own.iter().map(|part| TrainRecord { part: part.number, ..record }));
    }

    /// Takes the pieces that have come in off the list, and lets answers follow their requests.
    fn note_pieces(&mut self, scene: &mut Scene) {
        if self.phase != Phase::Sending {
            return;
        }
        let mut place = 0;
        while let Some(&piece) = self.pieces.get(place) {
            let receiver = 1 - self.sender_of(piece);
            if self.ends[receiver].receiving.of(piece.stream) < piece.end {
                place += 1;
                continue;
            }
            self.pieces.remove(place);
            if self.scripted && piece.record != NO_RECORD {
                scene.trains[piece.record].end = scene.net.now;
            }
            if piece.request != NO_REQUEST {
                if !self.pieces.iter().any(|piece| piece.request != NO_REQUEST) {
                    scene.trains[self.record].end = scene.net.now;
                }
                self.prepare(piece, scene);
            }
        }
    }

    /// The end that sends `piece`: while requests and answers are under way together, that of either.
    fn sender_of(&self, piece: Piece) -> usize {
        let own = end_of(&self.trains[self.train]);
        if self.exchange && piece.request == NO_REQUEST { 1 - own } else { own }
    }

    /// A request has come in: its answer follows.
    fn prepare(&mut self, request: Piece, scene: &mut Scene) {
        let answers = self.train + 1;
        let own = self.parts(answers, scene);
        let place = request.request as usize;
        let (Some(part), before) = (own.get(place), place.checked_sub(1).map_or(0, |before| own[before].end)) else {
            return;
        };
        let bytes = part.end - before;
        let piece = Piece { stream: request.stream, end: bytes, record: place, request: NO_REQUEST };
        self.answers.push(Answer { due: scene.net.now + self.trains[answers].wait, piece, bytes });
    }

    /// Hands over the answers whose time has come; with the first, the train of answers begins.
    fn answer(&mut self, scene: &mut Scene) {
        if self.answers.is_empty() {
            return;
        }
        let now = scene.net.now;
        let due: Vec<Answer> = self.answers.iter().filter(|answer| answer.due <= now).copied().collect();
        self.answers.retain(|answer| answer.due > now);
        for mut answer in due {
            if self.parts_before == 0 {
                // Their records follow those of the requests, whose numbers must stay.
                let requests = std::mem::replace(&mut self.record, scene.trains.len());
                self.train += 1;
                self.record_train(scene);
                self.train -= 1;
                self.parts_before = self.record + 1;
                self.record = requests;
            }
            answer.piece.record += self.parts_before;
            let train = self.trains[self.train + 1];
            self.hand(&train, answer.piece, answer.bytes);
        }
    }

    fn end_train(&mut self, scene: &mut Scene) {
        if self.scripted {
            let record = if self.exchange { self.parts_before - 1 } else { self.record };
            scene.trains[record].end = scene.net.now;
        }
        self.train += 1 + usize::from(self.exchange);
        (self.exchange, self.parts_before) = (false, 0);
        self.ask(scene);
        let last = self.before();
        match self.trains.get(self.train) {
            Some(next) if end_of(next) == last => self.phase = Phase::Settling,
            _ => self.wait(scene),
        }
    }

    /// Tells which full packets of payload have come, as if it were segments.
    fn tell_deliveries(&mut self, scene: &mut Scene) {
        let Some(deliveries) = &mut scene.net.deliveries else { return };
        let (came, mss) = (self.ends[1].receiving.in_order, u64::from(scene.tcp.mss));
        let full = if came >= self.size_bytes { came.div_ceil(mss) } else { came / mss };
        deliveries.extend((self.told..full).map(|_| scene.net.now));
        self.told = full.max(self.told);
    }

    /// Whether its last train has come in since this was asked before.
    pub(crate) fn take_done(&mut self) -> bool {
        let done = !self.done && self.finish != Time::NEVER;
        self.done |= done;
        done
    }

    /// Whether those that wait for its last train were told.
    pub(crate) fn was_done(&self) -> bool {
        self.done
    }

    /// Payload that has come in, both ways, bytes.
    pub(crate) fn delivered_bytes(&self) -> u64 {
        self.ends.iter().map(|end| end.receiving.in_order).sum()
    }

    /// Takes what an application wrote down.
    pub(crate) fn take_log(&mut self) -> Vec<SegmentRecord> {
        self.dialogue.as_mut().map_or_else(Vec::new, |client| client.take_log())
    }

    /// Stops the timer and fills in `record`.
    pub(crate) fn close(&mut self, record: &mut FlowRecord) {
        self.report(record);
        self.timer_event = Time::NEVER;
    }

    /// Fills in all of `record` but the drops: counts of the sender, of both ends where both have data; means of the
    /// sender's, where it has any.
    pub(crate) fn report(&self, record: &mut FlowRecord) {
        let both = self.scripted || self.dialogue.is_some();
        let counted = if both { &self.ends[..] } else { &self.ends[..1] };
        record.delivered_bytes = self.delivered_bytes();
        record.back_bytes = self.ends[0].receiving.in_order;
        record.gave_up = self.ends.iter().any(|end| end.gave_up);
        record.packets_sent = counted.iter().map(|end| end.sent).sum();
        record.retransmits = counted.iter().map(|end| end.retransmits).sum();
        record.timeouts = counted.iter().map(|end| end.timeouts).sum();
        record.first_sent = self.ends[0].first_sent;
        record.first_data = self.ends.iter().map(|end| end.first_data).min().unwrap_or(Time::NEVER);
        (record.last_data, record.finish) = (self.finish, self.finish);
        let mean = |of: fn(&End) -> f64| self.ends.iter().map(of).find(|mean| !mean.is_nan()).unwrap_or(f64::NAN);
        record.rtt_mean_s = mean(|end| end.rtt.mean_s());
        record.cwnd_mean_packets = mean(|end| end.window.mean());
    }
}

/// The end that sends `train`: 0 for the sender of the flow.
fn end_of(train: &Train) -> usize {
    usize::from(!train.forward)
}
