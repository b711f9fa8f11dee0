//! One connection on a wire of constant delay, driven by lists of steps in simulated time. Each step is an
//! action or an expectation; when one fails, all that was done so far is printed.
//!
//! One way takes 50 ms and sending no time, so the RTT is 100 ms; the timers are those of RFC 6298.

mod close;
mod counting;
mod ecn;
mod give_up;
mod loss;
mod marks;
mod pacing;
mod reno;
mod sack;
mod scripted;
mod setup;
mod timer;
mod timestamps;
mod window;

use std::fmt::Write;

use qdisc::{Ecn, Packet};
use units::{BitRate, Direction, Time};

use crate::event::{Events, Kind};
use crate::flow::FlowSpec;
use crate::options::{Block, Options};
use crate::out::accounting::Ledger;
use crate::out::records::FlowRecord;
use crate::out::trace::Trace;
use crate::tcp::accurate::Hosts;
use crate::tcp::sender::tests::{pipe, windows};
use crate::tcp::settings::Tcp;
use crate::tcp::{Connection, History, Life};
use crate::wire::handle::{Handle, Mark, Owner};
use crate::wire::net::Net;
use crate::wire::pipe::{End, Lane, Pipe};

pub(crate) use crate::tcp::sender::tests::tcp;

/// What is on the wire. To the right go `Syn`, `Data`, `Fin` and `Bare`, to the left the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// SYN, or SYN-ACK when the receiver opens.
    Syn,
    /// Data segment, from 1.
    Data(u32),
    Fin,
    /// Acknowledgement of the receiver's SYN or FIN.
    Bare,
    /// Acknowledgement with the next number expected: 1 for SYN-ACK.
    Ack(u32),
    /// FIN of the receiver.
    FinAck,
    /// SYN of a receiver that opens.
    Open,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Time passes up to this many milliseconds, and nothing is sent on the way.
    At(u64),
    /// Time passes up to this many milliseconds, whatever is sent.
    Skip(u64),
    /// This and nothing else was sent at this instant, in this order.
    Sends(&'static [Segment]),
    /// The next copy of this segment is lost.
    Lose(Segment),
    /// The next copy of this segment takes 150 ms longer.
    Late(Segment),
    /// The next copy of this segment is marked with congestion experienced, as a router would: it is to be
    /// ECT.
    Mark(Segment),
    /// Of the segments sent at this instant these and no others carry the flag: CWR to the right, ECE to
    /// the left. Comes before `Sends`.
    Flagged(&'static [Segment]),
    /// Of the segments sent at this instant these and no others are ECT. Comes before `Sends`.
    Capable(&'static [Segment]),
    /// Counts of marks on the acknowledgements sent at this instant. Comes before `Sends`.
    Told(&'static [u32]),
    /// SACK blocks of the acknowledgements sent at this instant that have any. Comes before `Sends`.
    Blocks(&'static [&'static [Block]]),
    /// What the sender believes to be in the network, segments (RFC 6675, `pipe`).
    Pipe(u32),
    /// Congestion window without the inflation of recovery, slow-start threshold; segments.
    Window(f64, f64),
    /// The connection is over since this many milliseconds.
    Finish(u64),
}

/// Transport and transfer.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) tcp: Tcp,
    pub(crate) size_bytes: u64,
    pub(crate) receiver_opens: bool,
}

/// What a connection left behind.
pub(crate) struct Outcome {
    pub(crate) record: FlowRecord,
    /// Lengths of the segments sent to the right, lost ones included, bytes.
    pub(crate) forward_bytes: u64,
}

impl Scene {
    /// A transfer of `segments` full segments with the constants of the RFCs.
    pub(crate) fn of(segments: u64) -> Scene {
        let tcp = Tcp { min_rto: Time::from_millis(1000), delayed_ack: Time::from_millis(200), ..tcp() };
        Scene { size_bytes: segments * u64::from(tcp.mss), tcp, receiver_opens: false }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Tcp)) -> Scene {
        change(&mut self.tcp);
        self
    }

    /// Executes `steps`; nothing may be left over at the end.
    pub(crate) fn play(&self, steps: &[Step]) -> Outcome {
        let mut bench = Bench::open(self);
        for step in steps {
            writeln!(bench.log, "{step:?}").expect("strings grow");
            if let Err(why) = bench.execute(step) {
                panic!("{why}\nsteps so far:\n{}", bench.log);
            }
        }
        assert!(bench.sent.is_empty(), "sent, but not expected: {:?}\nsteps:\n{}", bench.sent, bench.log);
        if self.tcp.ecn.counts() {
            let (told, marked) =
                (bench.connection.sender.rfc().marks.whole(), bench.connection.receiver.rfc().marks.whole());
            assert!(told <= marked && (told == marked || !bench.over), "{told} marks told of {marked}");
        }
        if !bench.over {
            bench.connection.report(&mut bench.record, &self.tcp);
        }
        Outcome { record: bench.record, forward_bytes: bench.forward_bytes }
    }
}

/// Pipes of a direction: the host's own, the wire behind it, and the wire of late segments.
const FORWARD: [usize; 3] = [0, 2, 4];
const REVERSE: [usize; 3] = [1, 3, 5];

struct Bench<'a> {
    tcp: &'a Tcp,
    net: Net,
    connection: Connection,
    record: FlowRecord,
    last_data: u32,
    over: bool,
    lose: Vec<Segment>,
    late: Vec<Segment>,
    mark: Vec<Segment>,
    sent: Vec<(Time, Segment)>,
    flagged: Vec<Segment>,
    capable: Vec<Segment>,
    told: Vec<u32>,
    blocks: Vec<Vec<Block>>,
    forward_bytes: u64,
    /// Taken from the event queue, not yet handled.
    next: Option<crate::event::Key>,
    log: String,
}

impl<'a> Bench<'a> {
    fn open(scene: &'a Scene) -> Bench<'a> {
        let instant = BitRate::from_bps(10_u64.pow(18)).expect("non-zero");
        let pipes = [0, 0, 50, 50, 200, 200].into_iter().enumerate();
        let pipes = pipes.map(|(index, ms)| Pipe::into(index.min(index % 2 + 2), instant, Time::from_millis(ms)));
        let mut net = Net {
            now: Time::ZERO,
            events: Events::default(),
            pipes: pipes.collect(),
            lanes: (0..4).map(|_| Lane::to(End::Host)).collect(),
            flights: crate::slab::Slab::empty(),
            hops: 0,
            ledger: Ledger::of(1),
            outbox: std::collections::VecDeque::new(),
            options: Options::none(),
            deliveries: None,
            trace: Trace::default(),
            tape: None,
            hosts: Hosts::default(),
        };
        let spec = FlowSpec {
            start: Time::ZERO,
            size_bytes: scene.size_bytes,
            rtt: None,
            src: 0,
            dst: 0,
            up: false,
            receiver_opens: scene.receiver_opens,
            ..FlowSpec::default()
        };
        let mut connection = Connection::unused(&scene.tcp);
        let history = History { clock_phase: Time::ZERO, syn_lost: false, known: [None; 2] };
        let owner = Owner { flow: 0, slot: 0, src: 0, dst: 1, mark: 0 };
        connection.open(owner, &spec, (FORWARD[0], REVERSE[0]), history, &scene.tcp, &mut net);
        let last_data = connection.shape.data;
        Bench {
            tcp: &scene.tcp,
            net,
            connection,
            record: FlowRecord::default(),
            last_data,
            over: false,
            lose: Vec::new(),
            late: Vec::new(),
            mark: Vec::new(),
            sent: Vec::new(),
            flagged: Vec::new(),
            capable: Vec::new(),
            told: Vec::new(),
            blocks: Vec::new(),
            forward_bytes: 0,
            next: None,
            log: String::new(),
        }
    }

    fn execute(&mut self, step: &Step) -> Result<(), String> {
        match *step {
            Step::At(ms) => {
                if !self.sent.is_empty() {
                    return Err(format!("sent, but not expected: {:?}", self.sent));
                }
                self.told.clear();
                (self.flagged, self.capable, self.blocks) = (Vec::new(), Vec::new(), Vec::new());
                self.pass(Time::from_millis(ms));
                match self.sent.iter().find(|(time, _)| *time < self.net.now) {
                    Some((time, segment)) => Err(format!("{segment:?} sent on the way, at {} s", time.as_secs_f64())),
                    None => Ok(()),
                }
            }
            Step::Skip(ms) => {
                self.pass(Time::from_millis(ms));
                self.told.clear();
                (self.flagged, self.capable, self.blocks) = (Vec::new(), Vec::new(), Vec::new());
                self.sent.clear();
                Ok(())
            }
            Step::Sends(expected) => {
                let sent: Vec<Segment> = self.sent.drain(..).map(|(_, segment)| segment).collect();
                if sent == expected { Ok(()) } else { Err(format!("sent {sent:?}")) }
            }
            Step::Lose(segment) => {
                self.lose.push(segment);
                Ok(())
            }
            Step::Mark(segment) => {
                self.mark.push(segment);
                Ok(())
            }
            Step::Flagged(expected) if self.flagged == expected => Ok(()),
            Step::Flagged(_) => Err(format!("the flag is on {:?}", self.flagged)),
            Step::Capable(expected) if self.capable == expected => Ok(()),
            Step::Capable(_) => Err(format!("ECT are {:?}", self.capable)),
            Step::Told(expected) if self.told == expected => Ok(()),
            Step::Told(_) => Err(format!("told are {:?}", self.told)),
            Step::Blocks(expected) if self.blocks == expected => Ok(()),
            Step::Blocks(_) => Err(format!("SACK blocks are {:?}", self.blocks)),
            Step::Pipe(expected) => {
                let found = pipe(self.connection.sender.rfc());
                if found == expected { Ok(()) } else { Err(format!("pipe is {found}")) }
            }
            Step::Late(segment) => {
                self.late.push(segment);
                Ok(())
            }
            Step::Window(cwnd, ssthresh) => {
                let found = windows(self.connection.sender.rfc());
                let same = (found.0 - cwnd).abs() < 1e-9 && (found.1 - ssthresh).abs() < 1e-9;
                if same { Ok(()) } else { Err(format!("cwnd and ssthresh are {found:?}")) }
            }
            Step::Finish(ms) => match self.record.finish {
                at if self.over && at == Time::from_millis(ms) => Ok(()),
                at => Err(format!("over: {}, finish {} s", self.over, at.as_secs_f64())),
            },
        }
    }

    /// Handles the events up to `end`.
    fn pass(&mut self, end: Time) {
        while let Some(key) = self.next.take().or_else(|| self.net.events.pop()) {
            if key.time() > end {
                self.next = Some(key);
                break;
            }
            self.net.now = key.time();
            match key.kind() {
                Kind::Lane => {
                    if let Some(packet) = self.net.arrive(key) {
                        if key.index() < 2 { self.on_wire(packet) } else { self.deliver(&packet) }
                    }
                }
                Kind::Retransmit if !self.over => {
                    let life = self.connection.on_retransmit_timer(self.tcp, &mut self.net);
                    self.end_if(life);
                }
                Kind::Receiver if !self.over => {
                    let life = self.connection.on_receiver_timer(self.tcp, &mut self.net);
                    self.end_if(life);
                }
                Kind::Pace if !self.over => self.connection.on_pace_timer(self.tcp, &mut self.net),
                _ => {}
            }
        }
        self.net.now = end;
    }

    /// A host has just sent `packet`.
    fn on_wire(&mut self, mut packet: Packet) {
        let segment = self.segment(&packet);
        let forward = packet.flow.direction() == Direction::Forward;
        let [_, wire, late] = if forward { FORWARD } else { REVERSE };
        self.forward_bytes += u64::from(packet.len) * u64::from(forward);
        let mut take = |list: fn(&mut Self) -> &mut Vec<Segment>| {
            let list = list(self);
            list.iter().position(|&s| s == segment).map(|found| list.remove(found)).is_some()
        };
        let (lost, late_now) = (take(|bench| &mut bench.lose), take(|bench| &mut bench.late));
        if take(|bench| &mut bench.mark) {
            assert!(packet.is_ect(), "{segment:?} cannot be marked");
            packet.ecn = Ecn::Ce;
        }
        if Handle::unpack(packet.handle).echo {
            self.flagged.push(segment);
        }
        if packet.is_ect() {
            self.capable.push(segment);
        }
        if let Some(options) = self.net.options.of(packet.options)
            && !forward
            && self.tcp.ecn.counts()
        {
            self.told.push(options.marks);
        }
        if let Some(options) = self.net.options.of(packet.options)
            && !options.blocks().is_empty()
        {
            self.blocks.push(options.blocks().to_vec());
        }
        let fate = ["", " late", " lost"][if lost { 2 } else { usize::from(late_now) }];
        let arrow = if forward { "->" } else { "<-" };
        writeln!(self.log, "    {:9.3} {arrow} {segment:?}{fate}", self.net.now.as_secs_f64()).expect("strings grow");
        self.sent.push((self.net.now, segment));
        if !lost {
            self.net.send(if late_now { late } else { wire }, packet);
        } else {
            self.net.options.release(packet.options);
        }
    }

    fn deliver(&mut self, packet: &Packet) {
        if self.over {
            self.net.options.release(packet.options);
            return;
        }
        let handle = Handle::unpack(packet.handle);
        let (options, marked) = (packet.options, packet.ecn == Ecn::Ce);
        let life = match packet.flow.direction() {
            Direction::Forward => self.connection.on_forward(handle, options, marked, self.tcp, &mut self.net),
            Direction::Reverse => self.connection.on_reverse(handle, options, self.tcp, &mut self.net),
        };
        self.net.options.release(options);
        self.end_if(life);
    }

    fn end_if(&mut self, life: Life) {
        if life == Life::Over {
            self.over = true;
            self.connection.close(&mut self.record, self.tcp);
        }
    }

    fn segment(&self, packet: &Packet) -> Segment {
        let Handle { mark, number, .. } = Handle::unpack(packet.handle);
        match (packet.flow.direction(), mark) {
            (Direction::Forward, Mark::Plain) if number == 0 => Segment::Syn,
            (Direction::Forward, Mark::Plain) if number > self.last_data => Segment::Fin,
            (Direction::Forward, Mark::Plain) => Segment::Data(number),
            (Direction::Forward, _) => Segment::Bare,
            (Direction::Reverse, Mark::Plain) => Segment::Ack(number),
            (Direction::Reverse, Mark::Close) => Segment::FinAck,
            (Direction::Reverse, Mark::Open | Mark::Probe) => Segment::Open,
        }
    }
}
