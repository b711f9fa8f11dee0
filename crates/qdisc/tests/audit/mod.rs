//! A queue under audit: what every discipline owes its caller, checked after every call.
//! The conformance suite and the fuzz target share it.

use std::collections::{HashMap, VecDeque};

use qdisc::{DropReason, Ecn, Fate, Kind, Limit, OptionError, Packet, Qdisc, Spec, Value};
use units::{FlowKey, Stream, Time};

/// One step of a run. Time moves only by `Wait`.
#[derive(Clone, Debug)]
pub enum Op {
    /// A packet arrives.
    Enqueue {
        /// Value of the flow key.
        flow: u64,
        /// Length, bytes.
        len: u32,
        /// What it carries.
        kind: Kind,
        /// Sequence or acknowledgement progress, bytes; what remains is the rest of 2^64.
        progress: u64,
        /// ECN field.
        ecn: Ecn,
    },
    /// The link asks for a packet.
    Dequeue,
    /// Time passes, ns.
    Wait(u64),
    /// The queue is reset, and time starts again.
    Reset,
}

/// What a call showed to the outside.
#[derive(Debug, PartialEq)]
pub enum Event {
    /// Fate of an arriving packet and the handles dropped with it.
    Enqueued(Fate, Vec<u64>),
    /// Handle of the packet handed out.
    Dequeued(Option<u64>),
}

/// Option sets of a discipline: the defaults, then each parameter at each bound or word, unless that
/// does not go together with the other defaults.
pub fn settings(spec: &Spec) -> Vec<Vec<(String, String)>> {
    let mut settings = vec![Vec::new()];
    for param in spec.params {
        let values: Vec<String> = match param.value {
            Value::Number { default, min, max } => [default, min, max].map(|value| value.to_string()).into(),
            Value::Whole { default, min, max } => [default, min, max].map(|value| value.to_string()).into(),
            Value::Numbers { min, max, .. } => vec![min.to_string(), max.to_string(), format!("{min}:{max}")],
            Value::Choice(words) => words.iter().map(|word| (*word).to_owned()).collect(),
        };
        settings.extend(values.into_iter().map(|value| vec![(param.name.to_owned(), value)]));
    }
    settings.retain(|options| options.is_empty() || is_taken(spec, options));
    settings
}

fn is_taken(spec: &Spec, options: &[(String, String)]) -> bool {
    match Qdisc::from_options(spec.id, options, Limit::Packets(1), Stream::named(1, "settings")) {
        Ok(_) => true,
        Err(OptionError::BadValue(..)) => false,
        Err(error) => panic!("{} {options:?}: {error}", spec.id),
    }
}

/// A queue with a shadow that knows every packet waiting in it.
pub struct Audit {
    queue: Qdisc,
    waiting: HashMap<u64, Packet>,
    flows: HashMap<FlowKey, VecDeque<u64>>,
    now: Time,
    next_handle: u64,
    received: (u64, u64),
    marked: (u64, u64),
    dropped: u64,
    early: bool,
    flow_full: bool,
}

impl Audit {
    /// A fresh queue.
    pub fn of(id: &str, options: &[(String, String)], limit: Limit) -> Audit {
        let queue = Qdisc::from_options(id, options, limit, Stream::named(1, "audit"))
            .unwrap_or_else(|error| panic!("{id} {options:?}: {error}"));
        Audit {
            queue,
            waiting: HashMap::new(),
            flows: HashMap::new(),
            now: Time::ZERO,
            next_handle: 0,
            received: (0, 0),
            marked: (0, 0),
            dropped: 0,
            early: false,
            flow_full: false,
        }
    }

    /// Carries out one step and checks the queue.
    pub fn step(&mut self, op: &Op) -> Option<Event> {
        let event = match *op {
            Op::Enqueue { flow, len, kind, progress, ecn } => Some(self.enqueue(flow, len, kind, progress, ecn)),
            Op::Dequeue => Some(self.dequeue()),
            Op::Wait(ns) => {
                self.now = Time(self.now.0.saturating_add(ns));
                None
            }
            Op::Reset => {
                self.reset();
                None
            }
        };
        self.check();
        event
    }

    fn enqueue(&mut self, flow: u64, len: u32, kind: Kind, progress: u64, ecn: Ecn) -> Event {
        let handle = self.next_handle;
        self.next_handle += 1;
        let flow = FlowKey(flow);
        let remaining = u64::MAX - progress;
        // Hosts of three connections each, and one the other way round.
        let (src, dst) = ((flow.connection() / 3) as u32, 1000 + (flow.connection() % 2) as u32);
        let arrival = Time::NEVER;
        let packet = Packet {
            flow,
            handle,
            progress,
            remaining,
            arrival,
            len,
            src,
            dst,
            options: 0,
            mark: remaining as u32,
            kind,
            ecn,
        };
        self.received.0 += 1;
        self.received.1 += u64::from(len);
        let fate = self.queue.enqueue(packet, self.now);
        self.waiting.insert(handle, Packet { arrival: self.now, ..packet });
        self.flows.entry(packet.flow).or_default().push_back(handle);
        let own: Vec<DropReason> =
            self.queue.dropped().iter().filter(|(p, _)| p.handle == handle).map(|&(_, reason)| reason).collect();
        match fate {
            Fate::Queued => assert_eq!(own, [], "queued and dropped"),
            Fate::Dropped(reason) => assert_eq!(own, [reason], "fate and drop differ"),
        }
        Event::Enqueued(fate, self.remove_dropped())
    }

    fn dequeue(&mut self) -> Event {
        let time_driven = self.queue.spec().time_driven;
        let expected = self.queue.peek().copied();
        let backlog = self.queue.backlog();
        let sent = self.queue.dequeue(self.now);
        let reasons: Vec<DropReason> = self.queue.dropped().iter().map(|&(_, reason)| reason).collect();
        assert!(reasons.iter().all(|&reason| reason == DropReason::Early), "dropped on departure for {reasons:?}");
        self.remove_dropped();
        if !time_driven {
            let left = self.queue.backlog();
            assert!(sent.is_some() || left == 0, "not work conserving: {left} of {backlog} packets stayed");
            let shown = sent.map(|packet| Packet { ecn: Ecn::NotEct, ..packet });
            let expected = expected.map(|packet| Packet { ecn: Ecn::NotEct, ..packet });
            assert!(!reasons.is_empty() || shown == expected, "peek told {expected:?}, dequeue gave {sent:?}");
        }
        if let Some(packet) = sent {
            self.take(&packet);
            let place = self.leave(&packet);
            assert!(place == 0 || !self.queue.spec().keeps_flow_order, "{packet:?} overtook {place} of its flow");
        }
        Event::Dequeued(sent.map(|packet| packet.handle))
    }

    fn remove_dropped(&mut self) -> Vec<u64> {
        let dropped: Vec<Packet> = self.queue.dropped().iter().map(|&(packet, _)| packet).collect();
        for (_, reason) in self.queue.dropped() {
            self.dropped += 1;
            self.early |= *reason == DropReason::Early;
            self.flow_full |= *reason == DropReason::FlowFull;
        }
        for packet in &dropped {
            self.take(packet);
            self.leave(packet);
        }
        dropped.iter().map(|packet| packet.handle).collect()
    }

    /// A packet comes out, sent or dropped: it is one that went in and has not come out yet, and only a
    /// mark has been added, where the transport understands it (RFC 3168, section 5).
    fn take(&mut self, packet: &Packet) {
        let before = self.waiting.remove(&packet.handle).expect("came out twice, or never went in");
        if packet.ecn != before.ecn {
            assert!(packet.ecn == Ecn::Ce && before.is_ect(), "{:?} became {:?}", before.ecn, packet.ecn);
            self.marked.0 += 1;
            self.marked.1 += u64::from(packet.len);
        }
        assert_eq!(Packet { ecn: before.ecn, ..*packet }, before, "came out changed");
    }

    /// Takes `packet` out of its flow; hands out its place there.
    fn leave(&mut self, packet: &Packet) -> usize {
        let flow = self.flows.get_mut(&packet.flow).expect("flow of a waiting packet");
        let place = flow.iter().position(|&handle| handle == packet.handle).expect("waiting in its flow");
        flow.remove(place);
        if flow.is_empty() {
            self.flows.remove(&packet.flow);
        }
        place
    }

    fn reset(&mut self) {
        self.queue.reset();
        self.waiting.clear();
        self.flows.clear();
        self.now = Time::ZERO;
        self.next_handle = 0;
        self.received = (0, 0);
        self.marked = (0, 0);
        (self.dropped, self.early, self.flow_full) = (0, false, false);
        assert_eq!(self.queue.peek(), None, "a packet survived the reset");
        assert_eq!(self.queue.flow_table_len(), 0, "a flow survived the reset");
        assert_eq!(self.queue.dropped(), [], "drops survived the reset");
    }

    fn check(&self) {
        let s = self.queue.stats();
        assert_eq!((s.received, s.received_bytes), self.received);
        assert_eq!(s.received, s.enqueued + s.dropped_before);
        assert_eq!(s.received_bytes, s.enqueued_bytes + s.dropped_before_bytes);
        let backlog = self.waiting.len() as u64;
        assert_eq!(backlog, s.enqueued - s.dequeued - s.dropped_after);
        assert_eq!((backlog, s.backlog()), (self.queue.backlog(), backlog));
        match self.queue.limit() {
            Limit::Packets(packets) => assert!(backlog <= u64::from(packets), "{backlog} of {packets} packets"),
            Limit::Bytes(bytes) => assert!(s.backlog_bytes() <= bytes, "{} of {bytes} bytes", s.backlog_bytes()),
        }
        assert!(self.queue.high_backlog().is_none_or(|high| high as u64 <= backlog), "more high than waiting");
        assert_eq!(self.queue.peek().is_some(), backlog > 0);
        assert!((s.marked, s.marked_bytes) >= self.marked, "more packets carry a mark than were marked");
        assert!(self.queue.spec().time_driven || self.queue.poll_at().is_none(), "polls without being time-driven");
    }

    /// Bytes of the packets that wait, summed one by one.
    pub fn check_bytes(&self) {
        let bytes: u64 = self.waiting.values().map(|packet| u64::from(packet.len)).sum();
        assert_eq!(bytes, self.queue.stats().backlog_bytes());
    }

    /// Packets dropped since the reset.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Whether a packet was dropped since the reset that would have fitted: early, or since its flow had
    /// its share.
    pub fn dropped_below_the_limit(&self) -> bool {
        self.early || self.flow_full
    }

    /// Packets waiting.
    pub fn backlog(&self) -> u64 {
        self.queue.backlog()
    }

    /// Empties the queue by dequeuing; every packet handed in has then come out exactly once.
    pub fn drain(&mut self) {
        for _ in 0..self.backlog() {
            self.step(&Op::Dequeue);
        }
        assert_eq!(self.backlog(), 0);
        let s = self.queue.stats();
        assert_eq!(s.received, s.dequeued + s.dropped());
        assert_eq!((s.marked, s.marked_bytes), self.marked);
    }
}
