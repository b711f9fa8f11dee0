//! TCP, both ends of one connection.
//!
//! Sequence numbers count segments: 0 is the SYN (or SYN-ACK when the receiver opens), 1 to `data` the
//! payload, `data + 1` the FIN. An acknowledgement carries the next number expected.

pub(crate) mod accurate;
mod blocks;
pub(crate) mod control;
pub mod endpoint;
mod ends;
pub(crate) mod hystart;
pub(crate) mod linux;
mod pacing;
pub(crate) mod rate;
mod receiver;
mod recovery;
mod ring;
mod rtt;
pub(crate) mod rules;
mod scoreboard;
pub(crate) mod scripted;
pub(crate) mod sender;
pub mod settings;
#[cfg(test)]
pub(crate) mod tests;
mod words;

use std::mem::offset_of;

use qdisc::{Kind, Packet};
use units::{Direction, Time};

use crate::flow::FlowSpec;
use crate::out::records::FlowRecord;
use crate::tcp::settings::Tcp;
use crate::wire::handle::{Handle, Mark, Owner};
use crate::wire::net::Net;
use ends::{ReceivingEnd, SendingEnd};

/// An acknowledgement that rides on data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Riding {
    /// The next number expected.
    ack: u32,
    /// Timestamp to echo.
    stamp: Time,
    /// Marked segments that have come in.
    marks: u32,
    /// The last of them was marked: with [`EcnMode::Dctcp`](settings::EcnMode::Dctcp) only.
    echo: bool,
    /// Window, bytes; [`UNTOLD`](crate::options::UNTOLD) where it is constant.
    window: u32,
}

/// Constants of one connection: one line of the cache.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Shape {
    size_bytes: u64,
    /// Of a connection whose data is in trains; without a script all data is one train.
    trains: Option<Box<Trains>>,
    owner: Owner,
    /// Segments with payload.
    data: u32,
    /// Last sequence number: the FIN, or the last data.
    last: u32,
    /// Last segment of the train under way.
    end: u32,
    /// Payload of segment `end`, bytes.
    tail: u32,
    /// Access pipe of the sender.
    out: u32,
    /// Access pipe of the receiver.
    back: u32,
    /// The last data carries the FIN.
    fin_rides: bool,
    /// Data travels from the receiver of the flow to its sender: the second half of a scripted connection.
    turned: bool,
    receiver_opens: bool,
}

/// What a connection with data both ways has beside that.
#[derive(Clone, Debug)]
pub(crate) struct Trains {
    /// First segment of the train under way.
    first: u32,
    /// Payload before the train under way, and of it, bytes.
    before: u64,
    train_bytes: u64,
    /// Acknowledgement that data segments carry.
    riding: Option<Riding>,
    /// The payload before it, bytes.
    riding_bytes: u64,
    /// Hosts of its sender and of its receiver, where these speak accurate ECN.
    hosts: (u32, u32),
}

impl Trains {
    /// Before the first one, between `hosts`.
    fn none(hosts: (u32, u32)) -> Trains {
        Trains { first: 1, before: 0, train_bytes: 0, riding: None, riding_bytes: 0, hosts }
    }
}

// On WebAssembly, whose pointers have 32 bits, it is smaller.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Shape>() == crate::prefetch::LINE);

impl Shape {
    /// Segment `seq` on its way to the receiver, while `una` is the first one not acknowledged.
    #[inline]
    fn segment(&self, seq: u32, una: u32, tcp: &Tcp) -> Packet {
        let mut packet = self.owner.packet(self.way(Direction::Forward), Kind::Data, Mark::Plain, seq);
        packet.len = tcp.headers() + self.payload(seq, tcp);
        packet.progress = self.bytes_before(seq, tcp);
        packet.remaining = self.size_bytes - self.bytes_before(una, tcp);
        packet
    }

    /// Payload of segment `seq`, bytes.
    #[inline]
    fn payload(&self, seq: u32, tcp: &Tcp) -> u32 {
        match seq {
            s if s == 0 || s > self.data => 0,
            s if s == self.end => self.tail,
            _ => tcp.mss,
        }
    }

    /// Direction of travel in the network.
    #[inline]
    fn way(&self, direction: Direction) -> Direction {
        match (self.turned, direction) {
            (false, direction) => direction,
            (true, Direction::Forward) => Direction::Reverse,
            (true, Direction::Reverse) => Direction::Forward,
        }
    }

    /// A segment without payload: forward or reverse, acknowledging `ack`.
    #[inline]
    fn control(&self, direction: Direction, mark: Mark, ack: u32, tcp: &Tcp) -> Packet {
        let bare = mark == Mark::Plain || direction == Direction::Forward;
        let kind = if bare { Kind::Ack } else { Kind::Data };
        let mut packet = self.owner.packet(self.way(direction), kind, mark, ack);
        packet.len = tcp.headers();
        if kind == Kind::Ack && direction == Direction::Reverse {
            packet.progress = self.bytes_before(ack, tcp);
            packet.remaining = self.size_bytes - packet.progress;
        }
        packet
    }

    /// Payload carried by the segments before `seq`, bytes.
    #[inline]
    fn bytes_before(&self, seq: u32, tcp: &Tcp) -> u64 {
        match &self.trains {
            None if seq > self.end => self.size_bytes,
            None => u64::from(seq.saturating_sub(1)) * u64::from(tcp.mss),
            Some(trains) if seq > self.end => trains.before + trains.train_bytes,
            Some(trains) => trains.before + u64::from(seq.saturating_sub(trains.first)) * u64::from(tcp.mss),
        }
    }

    /// First segment of the train under way.
    fn first(&self) -> u32 {
        self.trains.as_ref().map_or(1, |trains| trains.first)
    }

    /// The segment that is the FIN, or carries it.
    #[inline]
    fn fin(&self) -> u32 {
        self.data + u32::from(!self.fin_rides)
    }

    /// Acknowledgement that data segments carry, and the payload before it, bytes.
    #[inline]
    fn riding(&self) -> Option<(Riding, u64)> {
        let trains = self.trains.as_ref()?;
        Some((trains.riding?, trains.riding_bytes))
    }

    /// Hosts of its sender and of its receiver, where these speak accurate ECN.
    fn hosts(&self) -> (u32, u32) {
        self.trains.as_ref().map_or_else(|| hosts_of(self.owner.slot as usize), |trains| trains.hosts)
    }
}

/// Both ends of a connection. Each end reads only its own half and what packets bring, most of it from its first lines.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Connection {
    shape: Shape,
    receiver: ReceivingEnd,
    /// So that the sender begins a line.
    apart: [u64; 2],
    sender: SendingEnd,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(
    offset_of!(Connection, receiver) == crate::prefetch::LINE
        && offset_of!(Connection, sender) == 3 * crate::prefetch::LINE
        && size_of::<Connection>() <= 9 * crate::prefetch::LINE
);

/// What a sender brings along from before its connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct History {
    /// Age of the host's tick at time zero.
    pub(crate) clock_phase: Time,
    /// See [`Tcp::recycled_senders`].
    pub(crate) syn_lost: bool,
    /// What is known of the path, and of the way back: with [`Tcp::cached_metrics`].
    pub(crate) known: Known,
}

/// What two hosts know of the path from one to the other, and of that back.
pub(crate) type Known = [Option<linux::Metrics>; 2];

/// Where accurate ECN keeps the hosts of the connection in `slot`: of its sender and of its receiver.
fn hosts_of(slot: usize) -> (u32, u32) {
    let first = 2 * slot as u32;
    (first, first + 1)
}

/// Whether a connection still needs its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    Open,
    Over,
}

impl Connection {
    pub(crate) fn unused(tcp: &Tcp) -> Connection {
        let owner = Owner { flow: u32::MAX, slot: 0, src: 0, dst: 0, mark: 0 };
        let shape = Shape {
            size_bytes: 0,
            trains: None,
            owner,
            data: 0,
            last: 0,
            end: 0,
            tail: 0,
            out: 0,
            back: 0,
            fin_rides: true,
            turned: false,
            receiver_opens: false,
        };
        Connection { shape, receiver: ReceivingEnd::idle(tcp), apart: [0; 2], sender: SendingEnd::idle(tcp) }
    }

    /// Offset and size of what a packet of that direction, or the timer of the end that takes it, reads.
    #[inline]
    pub(crate) fn parts(direction: Direction) -> [(usize, usize); 2] {
        let end = match direction {
            Direction::Forward => (offset_of!(Connection, receiver), ReceivingEnd::OFTEN),
            Direction::Reverse => (offset_of!(Connection, sender), SendingEnd::OFTEN),
        };
        [(offset_of!(Connection, shape), size_of::<Shape>()), end]
    }

    /// Asks for what that end remembers of gaps, which is apart.
    #[inline]
    pub(crate) fn ask_for_gaps(&self, direction: Direction) {
        match direction {
            Direction::Forward => self.receiver.ask_for_gap(),
            Direction::Reverse => self.sender.ask_for_runs(),
        }
    }

    /// Begins flow `spec` on access pipes `pipes`.
    pub(crate) fn open(
        &mut self,
        owner: Owner,
        spec: &FlowSpec,
        pipes: (usize, usize),
        history: History,
        tcp: &Tcp,
        net: &mut Net,
    ) {
        let data = spec.size_bytes.div_ceil(tcp.mss.into()) as u32;
        self.shape = Shape {
            size_bytes: spec.size_bytes,
            trains: None,
            owner,
            data,
            last: data + u32::from(tcp.fin && !tcp.fin_on_data),
            end: data,
            tail: (spec.size_bytes - u64::from(data - 1) * u64::from(tcp.mss)) as u32,
            out: pipes.0 as u32,
            back: pipes.1 as u32,
            fin_rides: tcp.fin_on_data,
            turned: false,
            receiver_opens: spec.receiver_opens,
        };
        self.sender.restart(tcp, history.clock_phase, history.syn_lost);
        self.sender.recall(history.known[0]);
        self.receiver.restart(tcp, history.clock_phase);
        net.hosts.restart(self.shape.hosts(), tcp);
        if spec.receiver_opens {
            self.receiver.open(&self.shape, tcp, net);
        } else {
            self.sender.open(&self.shape, tcp, net);
        }
    }

    /// A packet reached the receiver of the data, `marked` with congestion experienced or not.
    /// Its options stay in `net`, under index `options`, until the call is over.
    #[inline]
    pub(crate) fn on_forward(&mut self, handle: Handle, options: u32, marked: bool, tcp: &Tcp, net: &mut Net) -> Life {
        match handle.mark {
            Mark::Plain => self.receiver.on_segment(handle, options, marked, &self.shape, tcp, net),
            Mark::Probe => self.receiver.on_probe(&self.shape, tcp, net),
            _ => {
                self.receiver.hear(options, &self.shape, tcp, net);
                self.receiver.on_close(tcp, net);
            }
        }
        if tcp.fin && self.receiver.finish() != Time::NEVER { Life::Over } else { Life::Open }
    }

    /// A packet reached the sender of the data, with options as in [`Connection::on_forward`].
    #[inline]
    pub(crate) fn on_reverse(&mut self, handle: Handle, options: u32, tcp: &Tcp, net: &mut Net) -> Life {
        match handle.mark {
            Mark::Open => {
                net.hosts.on_opening(self.shape.hosts().0, net.options.told(options));
                self.sender.open(&self.shape, tcp, net);
            }
            Mark::Plain | Mark::Probe => self.sender.on_ack(handle, options, &self.shape, tcp, net),
            Mark::Close => {
                self.sender.on_ack(handle, options, &self.shape, tcp, net);
                let ack = self.shape.control(Direction::Forward, Mark::Close, 0, tcp);
                net.send(self.shape.out as usize, ack);
            }
        }
        if !tcp.fin && self.sender.is_finished(&self.shape) { Life::Over } else { Life::Open }
    }

    pub(crate) fn on_retransmit_timer(&mut self, tcp: &Tcp, net: &mut Net) -> Life {
        self.sender.on_timer(&self.shape, tcp, net)
    }

    pub(crate) fn on_receiver_timer(&mut self, tcp: &Tcp, net: &mut Net) -> Life {
        self.receiver.on_timer(&self.shape, tcp, net)
    }

    pub(crate) fn on_pace_timer(&mut self, tcp: &Tcp, net: &mut Net) {
        self.sender.on_pace_timer(&self.shape, tcp, net);
    }

    pub(crate) fn delivered_bytes(&self, tcp: &Tcp) -> u64 {
        self.shape.bytes_before(self.receiver.next(), tcp)
    }

    /// Whether this sender, or one it was recycled from, lost a SYN.
    pub(crate) fn syn_lost(&self) -> bool {
        self.sender.syn_lost()
    }

    /// What is known of the path now, with what was `known` before.
    pub(crate) fn learn(&self, known: Known, tcp: &Tcp, now: Time) -> Known {
        [self.sender.learn(known[0], tcp, now), known[1]]
    }

    /// Marks that the sender was told of.
    #[cfg(test)]
    pub(crate) fn told_marks(&self, tcp: &Tcp) -> f64 {
        let state = self.sender.state(tcp);
        state.into_iter().find(|&(name, _)| name == "delivered_ce").map_or(0.0, |(_, marks)| marks)
    }

    /// Stops both timers and fills in `record`.
    pub(crate) fn close(&mut self, record: &mut FlowRecord, tcp: &Tcp) {
        self.report(record, tcp);
        self.sender.disarm();
        self.receiver.disarm();
    }

    /// Fills in all of `record` but the drops.
    pub(crate) fn report(&self, record: &mut FlowRecord, tcp: &Tcp) {
        record.delivered_bytes = self.delivered_bytes(tcp);
        record.gave_up = self.sender.gave_up();
        self.receiver.report(record);
        self.sender.report(record);
    }
}
