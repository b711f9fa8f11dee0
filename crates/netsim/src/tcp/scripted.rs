//! A connection with data in both directions, on which the ends follow a script.
//!
//! Principle: two halves, each a sender at one end and a receiver at the other. The first half opens and closes the
//! connection; the second is connected with it and its packets travel turned round. Every data segment acknowledges
//! what has come the other way, so that an acknowledgement waits for data to ride on as long as it may be delayed.
//! Between two trains of one direction all of the first is acknowledged: a shape describes the current one only, and to
//! repeat a segment of an earlier one it would have to know the short segment in which each ended.
//!
//! An application in the loop has no script: its client says when the connection is up, and when an answer has come, what it
//! asks for next, and the trains of that are added to those before.
//!
//! Cost: that of two connections, and a slab entry per data segment for the acknowledgement it carries.

use units::{Direction, Time};

use crate::app::{Dialogue, SegmentRecord};
use crate::event::Kind;
use crate::flow::FlowSpec;
use crate::out::records::FlowRecord;
use crate::script::{Part, Phase, Train, TrainRecord};
use crate::tcp::settings::Tcp;
use crate::tcp::{Connection, History, Known, Life, Trains, hosts_of};
use crate::wire::handle::{Handle, Mark, Owner};
use crate::wire::net::Net;

/// Segments of a connection whose end is not known, so that a sequence number plus a window fits 32 bits.
const OPEN_END: u32 = u32::MAX - (1 << 21);

/// What a scripted connection needs of the run in each event.
pub(crate) struct Scene<'a> {
    pub(crate) script: &'a [Train],
    pub(crate) parts: &'a [Part],
    pub(crate) tcp: &'a Tcp,
    pub(crate) net: &'a mut Net,
    pub(crate) trains: &'a mut Vec<TrainRecord>,
}

#[derive(Debug)]
pub(crate) struct Scripted {
    /// From the sender to the receiver of the flow, and back.
    halves: [Connection; 2],
    /// Slot of the second half.
    pub(crate) turned_slot: usize,
    receiver_opens: bool,
    phase: Phase,
    /// The train under way, or the next one.
    train: usize,
    /// Where the train under way is recorded.
    record: usize,
    /// The next part to come in, and where it is recorded.
    part: usize,
    part_record: usize,
    /// When the script acts by itself; `NEVER` when it waits for packets.
    due: Time,
    /// When each end last sent data.
    sent_at: [Time; 2],
    /// When the last train had come in.
    finish: Time,
    /// Whether those that wait for its last train were told.
    told: bool,
    /// In place of a script.
    dialogue: Option<Spoken>,
}

/// A dialogue, and the trains it made so far.
#[derive(Debug)]
struct Spoken {
    client: Box<dyn Dialogue>,
    trains: Vec<Train>,
}

impl Scripted {
    /// Begins flow `spec` on access pipes `pipes`; `slots` are those of the two halves.
    pub(crate) fn open(
        owner: Owner,
        slots: [usize; 2],
        spec: &FlowSpec,
        pipes: (usize, usize),
        history: History,
        dialogue: Option<Box<dyn Dialogue>>,
        scene: &mut Scene,
    ) -> Scripted {
        let tcp = scene.tcp;
        let halves = [0, 1].map(|half| {
            let mut connection = Connection::unused(tcp);
            let own = || scene.script.iter().filter(|train| half_of(train) == half);
            let shape = &mut connection.shape;
            shape.owner = Owner { slot: slots[half] as u32, ..owner };
            shape.data = own().map(|train| train.bytes.div_ceil(tcp.mss.into()) as u32).sum();
            shape.size_bytes = own().map(|train| train.bytes).sum();
            if dialogue.is_some() {
                (shape.data, shape.size_bytes) = (OPEN_END, spec.size_bytes);
            }
            shape.fin_rides = false;
            shape.turned = half == 1;
            let (out, back) = if half == 0 { pipes } else { (pipes.1, pipes.0) };
            (shape.out, shape.back) = (out as u32, back as u32);
            shape.receiver_opens = spec.receiver_opens;
            let (first, second) = hosts_of(slots[0]);
            let hosts = if half == 0 { (first, second) } else { (second, first) };
            shape.trains = Some(Box::new(Trains::none(hosts)));
            connection.sender.restart(tcp, history.clock_phase, half == 0 && history.syn_lost);
            connection.sender.recall(history.known[half]);
            connection.receiver.restart(tcp, history.clock_phase);
            connection
        });
        let mut scripted = Scripted {
            halves,
            turned_slot: slots[1],
            receiver_opens: spec.receiver_opens,
            phase: Phase::Opening,
            train: 0,
            record: 0,
            part: 0,
            part_record: 0,
            due: Time::NEVER,
            sent_at: [scene.net.now; 2],
            finish: Time::NEVER,
            told: false,
            dialogue: dialogue.map(|client| Spoken { client, trains: Vec::new() }),
        };
        scene.net.hosts.restart(hosts_of(slots[0]), tcp);
        let [first, second] = &mut scripted.halves;
        second.sender.connected();
        second.receiver.connected();
        if spec.receiver_opens {
            first.receiver.open(&first.shape, tcp, scene.net);
        } else {
            first.sender.open(&first.shape, tcp, scene.net);
        }
        scripted
    }

    /// A packet of half `half` reached the receiver of its data, or the sender.
    pub(crate) fn on_packet(
        &mut self,
        half: usize,
        at_receiver: bool,
        handle: Handle,
        options: u32,
        marked: bool,
        scene: &mut Scene,
    ) -> Life {
        let tcp = scene.tcp;
        if at_receiver {
            let (riding, echo) =
                scene.net.options.of(options).map_or((0, false), |options| (options.ack, options.echo));
            if riding > self.halves[1 - half].sender.una() {
                // An acknowledgement that rides on data is none of the duplicates that tell of a loss (RFC 5681, 2).
                let ack = Handle { number: riding, mark: Mark::Plain, echo, ..handle };
                self.send(1 - half, scene, |half, net| half.sender.on_ack(ack, options, &half.shape, tcp, net));
            }
            let half = &mut self.halves[half];
            match handle.mark {
                Mark::Plain => half.receiver.on_segment(handle, options, marked, &half.shape, tcp, scene.net),
                Mark::Probe => half.receiver.on_probe(&half.shape, tcp, scene.net),
                _ => {
                    half.receiver.hear(options, &half.shape, tcp, scene.net);
                    half.receiver.on_close(tcp, scene.net);
                }
            }
        } else if handle.mark == Mark::Open {
            let told = scene.net.options.told(options);
            scene.net.hosts.on_opening(self.halves[half].shape.hosts().0, told);
            self.send(half, scene, |half, net| half.sender.open(&half.shape, tcp, net));
        } else {
            self.send(half, scene, |half, net| half.sender.on_ack(handle, options, &half.shape, tcp, net));
            if handle.mark == Mark::Close {
                let shape = &self.halves[half].shape;
                scene.net.send(shape.out as usize, shape.control(Direction::Forward, Mark::Close, 0, tcp));
            }
        }
        self.proceed(scene);
        if self.is_over(scene) { Life::Over } else { Life::Open }
    }

    /// A timer of half `half` went off, or the script's.
    pub(crate) fn on_timer(&mut self, half: usize, kind: Kind, scene: &mut Scene) -> Life {
        let tcp = scene.tcp;
        let mut life = Life::Open;
        match kind {
            Kind::Retransmit => self.send(half, scene, |half, net| life = half.on_retransmit_timer(tcp, net)),
            Kind::Receiver => life = self.halves[half].on_receiver_timer(tcp, scene.net),
            Kind::Pace => self.send(half, scene, |half, net| half.on_pace_timer(tcp, net)),
            Kind::Script if self.due == scene.net.now => {
                self.due = Time::NEVER;
                if self.phase == Phase::Waiting {
                    self.start_train(scene);
                } else {
                    self.release(scene);
                }
                self.proceed(scene);
            }
            _ => {}
        }
        life
    }

    /// The trains there are.
    fn trains<'s>(&'s self, scene: &'s Scene) -> &'s [Train] {
        self.dialogue.as_ref().map_or(scene.script, |dialogue| &dialogue.trains)
    }

    /// Lets the client of a dialogue, of which all has come, say what it asks for next.
    fn ask(&mut self, scene: &Scene) {
        if let Some(dialogue) = &mut self.dialogue
            && dialogue.trains.len() == self.train
            && let Some(next) = dialogue.client.next(scene.net.now)
        {
            let train = |forward, bytes, wait| Train { forward, bytes, wait, pace: Time::ZERO };
            dialogue.trains.push(train(false, next.request, next.wait));
            dialogue.trains.push(train(true, next.answer, next.think));
        }
    }

    /// Nothing more is said: both ends have all their data.
    fn end_dialogue(&mut self) {
        for half in &mut self.halves {
            let shape = &mut half.shape;
            shape.data = shape.end;
            shape.size_bytes = shape.trains.as_ref().map_or(0, |trains| trains.before + trains.train_bytes);
        }
    }

    /// Takes what an application wrote down.
    pub(crate) fn take_log(&mut self) -> Vec<SegmentRecord> {
        self.dialogue.as_mut().map_or_else(Vec::new, |dialogue| dialogue.client.take_log())
    }

    /// Lets the sender of `half` act, with the acknowledgement its data is to carry.
    fn send(&mut self, half: usize, scene: &mut Scene, act: impl FnOnce(&mut Connection, &mut Net)) {
        let riding = self.halves[1 - half].receiver.riding(scene.tcp);
        let riding_bytes = self.halves[1 - half].delivered_bytes(scene.tcp);
        let own = &mut self.halves[half];
        if let Some(trains) = &mut own.shape.trains {
            (trains.riding, trains.riding_bytes) = (riding, riding_bytes);
        }
        let before = own.sender.sent();
        act(own, scene.net);
        if own.sender.sent() > before {
            self.sent_at[half] = scene.net.now;
            self.halves[1 - half].receiver.on_ride(scene.tcp);
        }
    }

    /// Goes on in the script as far as what has come in allows.
    fn proceed(&mut self, scene: &mut Scene) {
        self.note_parts(scene);
        loop {
            match self.phase {
                Phase::Opening if self.is_connected(scene) => {
                    self.ask(scene);
                    self.wait(scene);
                }
                Phase::Sending if self.has_come_in(scene) => self.end_train(scene),
                Phase::Settling if self.is_acknowledged(scene) => self.wait(scene),
                Phase::Waiting if self.due == scene.net.now => {
                    self.due = Time::NEVER;
                    self.start_train(scene);
                }
                _ => return,
            }
        }
    }

    /// Whether the end that speaks first is connected: the one that opens with the answer to its SYN, the other with
    /// the answer to that.
    fn is_connected(&self, scene: &Scene) -> bool {
        // The client of a dialogue asks first.
        let forward = self.trains(scene).first().is_some_and(|train| train.forward);
        let opener_speaks = self.receiver_opens != forward;
        let first = &self.halves[0];
        if opener_speaks && self.receiver_opens { first.receiver.next() > 0 } else { first.sender.una() > 0 }
    }

    /// Records the parts of the train under way that have come in.
    fn note_parts(&mut self, scene: &mut Scene) {
        while let Some(part) = scene.parts.get(self.part)
            && (self.phase, part.train as usize) == (Phase::Sending, self.train)
        {
            let half = &self.halves[half_of(&self.trains(scene)[self.train])];
            let segment = half.shape.first() + ((part.end - 1) / u64::from(scene.tcp.mss)) as u32;
            if half.receiver.next() <= segment {
                return;
            }
            scene.trains[self.part_record].end = scene.net.now;
            self.part += 1;
            self.part_record += 1;
        }
    }

    fn has_come_in(&self, scene: &Scene) -> bool {
        let half = &self.halves[half_of(&self.trains(scene)[self.train])];
        half.receiver.next() > half.shape.end
    }

    /// Whether the train before is acknowledged.
    fn is_acknowledged(&self, scene: &Scene) -> bool {
        let half = &self.halves[half_of(&self.trains(scene)[self.train - 1])];
        half.sender.una() > half.shape.end
    }

    fn wait(&mut self, scene: &mut Scene) {
        self.phase = Phase::Waiting;
        self.act_in(self.trains(scene)[self.train].wait, scene);
    }

    fn act_in(&mut self, time: Time, scene: &mut Scene) {
        self.due = scene.net.now + time;
        if time > Time::ZERO {
            scene.net.events.schedule(self.due, Kind::Script, self.halves[0].shape.owner.slot as usize);
        }
    }

    fn start_train(&mut self, scene: &mut Scene) {
        let (tcp, train) = (scene.tcp, self.trains(scene)[self.train]);
        let half = half_of(&train);
        if half == 1 && self.halves[1].shape.end == 0 {
            let [first, second] = &mut self.halves;
            // What the handshake told the receiver's end of the round-trip time, and of a lost SYN.
            second.sender.begin_beside(&first.receiver, self.receiver_opens, &second.shape, tcp, scene.net);
        }
        let idle = scene.net.now - self.sent_at[half];
        let own = &mut self.halves[half];
        own.sender.on_more(idle, tcp, scene.net);
        let (shape, segments) = (&mut own.shape, train.bytes.div_ceil(tcp.mss.into()) as u32);
        if let Some(trains) = &mut shape.trains {
            trains.first = shape.end + 1;
            trains.before += trains.train_bytes;
            trains.train_bytes = train.bytes;
        }
        shape.end += segments;
        shape.tail = (train.bytes - u64::from(segments - 1) * u64::from(tcp.mss)) as u32;
        if self.dialogue.is_none() {
            self.record_train(half, scene);
        }
        self.phase = Phase::Sending;
        self.release(scene);
    }

    /// Writes the train down that begins, and its parts.
    fn record_train(&mut self, half: usize, scene: &mut Scene) {
        self.record = scene.trains.len();
        let (flow, now) = (self.halves[0].shape.owner.flow, scene.net.now);
        let train = self.train as u32;
        let record = TrainRecord { flow, train, part: 0, forward: half == 0, start: now, end: Time::NEVER };
        scene.trains.push(record);
        self.part_record = self.record + 1;
        let own = scene.parts[self.part..].iter().take_while(|part| part.train == train);
        scene.trains.extend(own.map(|part| TrainRecord { part: part.number, ..record }));
    }

    /// Hands the next packet of the train to TCP, or all of them when they are not paced.
    fn release(&mut self, scene: &mut Scene) {
        let (tcp, train) = (scene.tcp, self.trains(scene)[self.train]);
        let half = half_of(&train);
        let shape = &mut self.halves[half].shape;
        shape.last = if train.pace > Time::ZERO { (shape.last + 1).max(shape.first()) } else { shape.end };
        if shape.last < shape.end {
            self.act_in(train.pace, scene);
        } else if half == 0 && self.dialogue.is_none() && self.train + 1 == scene.script.len() && tcp.fin {
            // Nothing to wait for: the FIN follows the data.
            shape.last = shape.fin();
        }
        self.send(half, scene, |half, net| half.sender.send_allowed(&half.shape, tcp, net));
    }

    fn end_train(&mut self, scene: &mut Scene) {
        let train = self.trains(scene)[self.train];
        if self.dialogue.is_none() {
            scene.trains[self.record].end = scene.net.now;
        }
        self.train += 1;
        self.ask(scene);
        match self.trains(scene).get(self.train) {
            Some(next) if next.forward == train.forward => self.phase = Phase::Settling,
            Some(_) => self.wait(scene),
            None => self.finish_script(train, scene),
        }
    }

    fn finish_script(&mut self, last: Train, scene: &mut Scene) {
        let tcp = scene.tcp;
        self.phase = Phase::Closing;
        self.finish = scene.net.now;
        if self.dialogue.is_some() {
            self.end_dialogue();
        }
        if tcp.fin && (!last.forward || self.dialogue.is_some()) {
            let shape = &mut self.halves[0].shape;
            shape.last = shape.fin();
            self.send(0, scene, |half, net| half.sender.send_allowed(&half.shape, tcp, net));
        }
    }

    fn is_over(&self, scene: &Scene) -> bool {
        if scene.tcp.fin {
            return self.halves[0].receiver.finish() != Time::NEVER;
        }
        self.phase == Phase::Closing && self.is_acknowledged(scene)
    }

    /// Payload that has come in, both ways, bytes.
    pub(crate) fn delivered_bytes(&self, tcp: &Tcp) -> u64 {
        self.halves.iter().map(|half| half.delivered_bytes(tcp)).sum()
    }

    /// Whether the sender of the flow, or one it was recycled from, lost a SYN.
    pub(crate) fn syn_lost(&self) -> bool {
        self.halves[0].syn_lost()
    }

    /// What is known of the path and of the way back now, with what was `known` before.
    pub(crate) fn learn(&self, known: Known, tcp: &Tcp, now: Time) -> Known {
        [0, 1].map(|half| self.halves[half].sender.learn(known[half], tcp, now))
    }

    /// Whether its last train has come in since this was asked before.
    pub(crate) fn take_done(&mut self) -> bool {
        let done = !self.told && self.finish != Time::NEVER;
        self.told |= done;
        done
    }

    /// Whether those that wait for its last train were told.
    pub(crate) fn was_done(&self) -> bool {
        self.told
    }

    /// Stops all timers and fills in `record`.
    pub(crate) fn close(&mut self, record: &mut FlowRecord, tcp: &Tcp) {
        self.report(record, tcp);
        self.due = Time::NEVER;
        for half in &mut self.halves {
            half.sender.disarm();
            half.receiver.disarm();
        }
    }

    /// Fills in all of `record` but the drops: counts of both ends together, means of the sender's.
    pub(crate) fn report(&self, record: &mut FlowRecord, tcp: &Tcp) {
        let mut back = FlowRecord::default();
        self.halves[0].report(record, tcp);
        self.halves[1].report(&mut back, tcp);
        record.back_bytes = back.delivered_bytes;
        record.gave_up |= back.gave_up;
        record.delivered_bytes += back.delivered_bytes;
        record.packets_sent += back.packets_sent;
        record.retransmits += back.retransmits;
        record.timeouts += back.timeouts;
        record.first_data = record.first_data.min(back.first_data);
        record.last_data = self.finish;
        if !tcp.fin {
            record.finish = self.finish;
        }
        if record.rtt_mean_s.is_nan() {
            record.rtt_mean_s = back.rtt_mean_s;
        }
        if record.cwnd_mean_packets.is_nan() {
            record.cwnd_mean_packets = back.cwnd_mean_packets;
        }
    }
}

/// The half that carries `train`.
fn half_of(train: &Train) -> usize {
    usize::from(!train.forward)
}
