//! A queue under audit: what every discipline owes its caller, checked after every call.
//! The conformance suite and the fuzz target share it.

use std::collections::{HashMap, VecDeque};

use qdisc::{DropReason, Ecn, Fate, Kind, Limit, Packet, Qdisc, Spec, Value};
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
        /// Sequence or acknowledgement progress, bytes.
        progress: u64,
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

/// Option sets of a discipline: the defaults, then each parameter at each bound or word.
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
    settings
}

/// A queue with a shadow that knows every packet waiting in it.
pub struct Audit {
    queue: Qdisc,
    waiting: HashMap<u64, Packet>,
    flows: HashMap<FlowKey, VecDeque<u64>>,
    now: Time,
    next_handle: u64,
    received: (u64, u64),
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
        }
    }

    /// Carries out one step and checks the queue.
    pub fn step(&mut self, op: &Op) -> Option<Event> {
        let event = match *op {
            Op::Enqueue { flow, len, kind, progress } => Some(self.enqueue(flow, len, kind, progress)),
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

    fn enqueue(&mut self, flow: u64, len: u32, kind: Kind, progress: u64) -> Event {
        let handle = self.next_handle;
        self.next_handle += 1;
        let packet = Packet {
            flow: FlowKey(flow),
            handle,
            progress,
            remaining: progress,
            arrival: Time::NEVER,
            len,
            src: 0,
            dst: 0,
            kind,
            ecn: Ecn::NotEct,
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
        self.remove_dropped();
        if !time_driven {
            assert_eq!(sent.is_some(), backlog > 0, "not work conserving at a backlog of {backlog}");
            assert_eq!(sent, expected, "peek and dequeue differ");
        }
        if let Some(packet) = sent {
            assert_eq!(self.waiting.remove(&packet.handle), Some(packet), "not a packet that waited");
            let place = self.leave(&packet);
            assert!(place == 0 || !self.queue.spec().keeps_flow_order, "{packet:?} overtook {place} of its flow");
        }
        Event::Dequeued(sent.map(|packet| packet.handle))
    }

    fn remove_dropped(&mut self) -> Vec<u64> {
        let dropped: Vec<Packet> = self.queue.dropped().iter().map(|&(packet, _)| packet).collect();
        for packet in &dropped {
            assert_eq!(self.waiting.remove(&packet.handle), Some(*packet), "dropped twice, or never there");
            self.leave(packet);
        }
        dropped.iter().map(|packet| packet.handle).collect()
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
        assert!(self.queue.spec().time_driven || self.queue.poll_at().is_none(), "polls without being time-driven");
    }

    /// Bytes of the packets that wait, summed one by one.
    pub fn check_bytes(&self) {
        let bytes: u64 = self.waiting.values().map(|packet| u64::from(packet.len)).sum();
        assert_eq!(bytes, self.queue.stats().backlog_bytes());
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
    }
}
