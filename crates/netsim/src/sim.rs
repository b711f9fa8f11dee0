//! The run: starts the flows of the list, handles events until the end.

use std::collections::HashMap;
use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use qdisc::{Ecn, Kind as PacketKind, Packet};
use units::{Direction, Stream, Time};

use crate::app::stream::Stream as MediaStream;
use crate::autorate::{Change, Controller};
use crate::config::Run;
use crate::error::ConfigError;
use crate::event::Kind;
use crate::flow::{FlowSpec, LONGEST};
use crate::graph::Graph;
use crate::host_paths::{HostPaths, Private};
use crate::mrg32k3a::Mrg32k3a;
use crate::network::Shaping;
use crate::out::counting::{Counting, Tally};
use crate::out::pcap::{Recording, Tape};
use crate::out::probes::{ProbeCount, Probes};
use crate::out::queue_delay::QueueDelay;
use crate::out::records::{Drop, FlowRecord, Output};
use crate::out::subflows::Subflows;
use crate::prefetch;
use crate::quic::{Connection as QuicConnection, Scene as QuicScene};
use crate::slab::Slab;
use crate::stages::Stages;
use crate::tcp::scripted::{Scene, Scripted};
use crate::tcp::settings::{CachedMetrics, Tcp};
use crate::tcp::{Connection, History, Known, Life};
use crate::tree::Names;
use crate::udp::{Bursts, Source};
use crate::wire::handle::{Handle, Owner};
use crate::wire::impairments::{Fate, Impairments};
use crate::wire::net::Net;
use crate::wire::pipe::End;
use crate::wire::port::{Onward, Port};
use crate::wlan::Wlan;
use crate::wlan::cell::Cell;

use streamed::Streamed;
pub use streamed::{Feed, Sink, run_streamed};

/// Events between two looks at the caller's flags.
const LOOK_EVERY: u64 = 1 << 16;
/// Index of the sampling event that ends the warm-up.
const WARM: usize = 1;

/// What another thread may see and say of a run.
#[derive(Debug, Default)]
pub struct Control {
    /// Set to end the run with [`ConfigError::Cancelled`].
    pub cancel: AtomicBool,
    /// Simulated time reached, nanoseconds.
    pub reached_ns: AtomicU64,
}

/// Runs `flows`, sorted by start, to the end of the run.
///
/// # Errors
/// A value out of its bounds, an unknown discipline or option, or [`ConfigError::Cancelled`].
pub fn run(run: &Run, flows: &[FlowSpec], control: &Control) -> Result<Output, ConfigError> {
    run.check(flows)?;
    let run = &*run.with_room();
    let mut sim = Sim::set_up(run, flows)?;
    sim.handle_events(control)?;
    sim.finish()
}

/// As [`run`], recording the packets of one side.
///
/// # Errors
/// As [`run`], flows without ends, or [`ConfigError::Recording`].
pub fn run_recorded(
    run: &Run,
    flows: &[FlowSpec],
    control: &Control,
    recording: Recording,
) -> Result<Output, ConfigError> {
    run.check(flows)?;
    if recording.ends.len() != flows.len() {
        return Err(ConfigError::Recording(format!("{} flows, {} pairs of ends", flows.len(), recording.ends.len())));
    }
    let run = &*run.with_room();
    let mut sim = Sim::set_up(run, flows)?;
    let transports = flows.iter().map(|flow| run.transport(flow.transport));
    sim.net.tape = Some(Box::new(Tape::of(recording, flows, transports)));
    sim.handle_events(control)?;
    let unwritten = sim.net.tape.as_mut().and_then(|tape| tape.finish());
    unwritten.map_or_else(|| sim.finish(), |reason| Err(ConfigError::Recording(reason)))
}

/// As [`run`], tracing what both ends of the traced flows send: acknowledgements and the answers of scripts too.
///
/// # Errors
/// As [`run`].
pub fn run_both_ways(run: &Run, flows: &[FlowSpec], control: &Control) -> Result<Output, ConfigError> {
    run.check(flows)?;
    let run = &*run.with_room();
    let mut sim = Sim::set_up(run, flows)?;
    sim.net.trace.both_ways = true;
    sim.handle_events(control)?;
    sim.finish()
}

/// Response of one flow alone on its path behind a FIFO queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Alone {
    /// Arrival of each data segment in order, and of the FIN if there is one, since the start.
    pub arrivals: Vec<Time>,
    /// End of the flow, since its start; `Time::NEVER` when it did not come within 16 times the run.
    pub finish: Time,
}

/// Runs `flow` alone on its path.
///
/// The sender does the same up to any segment whatever the size, so one call gives the time alone of
/// every smaller flow on this path too.
///
/// # Errors
/// As [`run`].
pub fn alone(run: &Run, flow: &FlowSpec) -> Result<Alone, ConfigError> {
    let mut single = run.clone();
    single.network.discipline = ("fifo".to_owned(), Vec::new());
    single.network.reverse_discipline = ("fifo".to_owned(), Vec::new());
    single.network.loss = 0.0;
    single.network.impairments = Vec::new();
    single.network.traces = [None, None];
    single.network.shaping = Shaping::default();
    single.sample_interval = Time::ZERO;
    single.watched = Vec::new();
    single.counting = Counting::default();
    single.traced = Vec::new();
    single.subflows = false;
    single.bursts = Bursts::default();
    single.probes = Vec::new();
    single.applications = Vec::new();
    single.duration = Time(run.duration.0.saturating_mul(16).min(LONGEST.0));
    single.stop_when_idle = true;
    single.graph = single.graph.map(Graph::quiet);
    single.wlan = single.wlan.map(Wlan::quiet);
    single.tree = None;
    let named = run.graph.is_some() || run.wlan.is_some();
    let (src, dst) = if named { (flow.src, flow.dst) } else { (0, 0) };
    let flows = [FlowSpec { start: Time::ZERO, src, dst, stage: None, after: None, application: 0, ..*flow }];
    single.check(&flows)?;
    let single = &*single.with_room();
    let mut sim = Sim::set_up(single, &flows)?;
    sim.net.deliveries = Some(Vec::new());
    sim.handle_events(&Control::default())?;
    let arrivals = sim.net.deliveries.take().unwrap_or_default();
    Ok(Alone { arrivals, finish: sim.finish()?.records[0].finish })
}

// A box would cost every TCP packet a load; nearly all flows are TCP.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
// The tag comes first, in the line that every packet reads.
#[repr(u8)]
enum Transport {
    Tcp(Connection),
    Udp(Source),
    /// Datagrams of an application in the loop.
    Media(Box<MediaStream>),
    /// A connection with data both ways.
    Scripted(Box<Scripted>),
    /// The second half of the scripted connection in this slot.
    Turned(usize),
    /// A connection of QUIC, whatever is said on it.
    Quic(Box<QuicConnection>),
}

/// State of one live flow. Its first line of the cache is all that queues and links read of it.
#[derive(Debug)]
#[repr(C, align(64))]
struct Live<'a> {
    /// Index in the list; `u32::MAX` when the slot is free, so that late packets find nobody.
    flow: u32,
    /// Packets that a queue dropped, not in its record yet; of [`Transport::Tcp`] only, as `queue_delay`.
    drops: u32,
    /// Pipes to the receiver and to the sender of the data.
    exits: [u32; 2],
    /// Settings of its transport; those with which a connection that waits for reuse was made.
    tcp: &'a Tcp,
    /// Waiting times, not in its record yet.
    queue_delay: QueueDelay,
    transport: Transport,
}

const _: () = assert!(offset_of!(Live, transport) + 8 == prefetch::LINE);

impl<'a> Live<'a> {
    /// A slot that nobody has.
    fn free(tcp: &'a Tcp, transport: Transport) -> Live<'a> {
        Live { flow: u32::MAX, drops: 0, exits: [0; 2], tcp, queue_delay: QueueDelay::default(), transport }
    }

    /// Begins with `flow`, whose packets leave by `exits`.
    fn begin(&mut self, flow: u32, exits: [u32; 2]) {
        (self.flow, self.exits, self.drops, self.queue_delay) = (flow, exits, 0, QueueDelay::default());
    }

    /// Whether what queues do to `packet` is counted here, and not in the record of its flow: the flow is a plain
    /// connection, and not over.
    #[inline]
    fn counts(&self, packet: &Packet) -> bool {
        u64::from(self.flow) == packet.flow.connection() && matches!(self.transport, Transport::Tcp(_))
    }

    /// Puts what was counted here into its record.
    fn tell(&self, record: &mut FlowRecord) {
        if let Transport::Tcp(_) = self.transport {
            record.queue_delay = self.queue_delay;
            record.drops += u64::from(self.drops);
        }
    }

    /// Pipe to the host that `packet` is for.
    #[inline]
    fn exit(&self, packet: &Packet) -> usize {
        self.exits[usize::from(packet.flow.direction() == Direction::Reverse)] as usize
    }
}

/// The flow that sent `packet`; `None` when it is over, and its slot free or another's. No packet of a flow that is over
/// reaches anybody because of this check.
#[inline]
fn owner<'l, 'a>(live: &'l mut Slab<Live<'a>>, packet: &Packet) -> Option<&'l mut Live<'a>> {
    let live = live.at(Handle::unpack(packet.handle).slot);
    (u64::from(live.flow) == packet.flow.connection()).then_some(live)
}

/// Key of the flow's pair of hosts, whose numbers are below 2^24, with a transport.
fn pair(flow: &FlowSpec, transport: u16) -> u64 {
    u64::from(flow.src) << 40 | u64::from(flow.dst) << 16 | u64::from(transport)
}

/// Gives the shapers their rates: those of a direction have its number.
fn steer(ports: &mut [Port], changes: [Option<Change>; 2]) {
    for (way, rate) in changes.into_iter().flatten() {
        ports[way].set_rate(rate);
    }
}

/// Circuits of a tree, each with random numbers of its own.
struct Circuits {
    names: Arc<Names>,
    /// Of the senders of each circuit, by its class.
    clock_phases: HashMap<u32, Stream>,
}

struct Sim<'a> {
    run: &'a Run,
    flows: &'a [FlowSpec],
    net: Net,
    /// Two per link.
    ports: Vec<Port>,
    /// The ports of interest: one, or those of an access point.
    watched: Range<usize>,
    /// The other way.
    reverse: Range<usize>,
    /// The wireless cell, if there is one.
    cell: Option<Box<Cell>>,
    /// Packets that have just arrived over the air.
    arrived: Vec<Packet>,
    live: Slab<Live<'a>>,
    /// Pipes of their own of the flows that have such, by slot.
    private: Vec<Option<Private>>,
    stages: Stages,
    started: usize,
    /// Flows started and not yet over.
    unfinished: usize,
    end: Time,
    clock_phases: Mrg32k3a,
    /// What circuits of a tree are called, and their own random numbers.
    circuits: Option<Circuits>,
    places: HostPaths,
    /// Number of the first transport of equal settings, for each number that a flow may have.
    transports: Vec<u16>,
    /// Idle senders of each pair of hosts and each transport, by [`pool`].
    idle_senders: HashMap<u64, Vec<History>>,
    /// With [`Tcp::cached_metrics`], by the same keys.
    known_paths: HashMap<u64, Known>,
    tally: Tally<'a>,
    probes: Probes,
    /// Waiting times in the reverse queue since the end of the warm-up.
    reverse_waits: QueueDelay,
    subflows: Subflows,
    /// Of the bottleneck, both ways.
    impairments: Option<Box<Impairments>>,
    /// Ports behind the shapers of the bottleneck, each direction.
    modems: [Option<usize>; 2],
    /// What sets the rates of the shapers.
    controller: Option<Box<Controller>>,
    /// Number of the event after which the books are looked at next; in debug builds only.
    next_audit: u64,
    /// Where the flows come from, and where they go, when they are no list.
    streamed: Option<Box<Streamed<'a>>>,
    out: Output,
}

impl<'a> Sim<'a> {
    fn handle_events(&mut self, control: &Control) -> Result<(), ConfigError> {
        while let Some(key) = self.net.events.pop() {
            if key.time() > self.end {
                break;
            }
            self.net.now = key.time();
            self.out.counters.events += 1;
            if self.out.counters.events.is_multiple_of(LOOK_EVERY) {
                control.reached_ns.store(key.time().0, Ordering::Relaxed);
                if control.cancel.load(Ordering::Relaxed) {
                    return Err(ConfigError::Cancelled);
                }
                if let Some(reason) = self.net.tape.as_ref().and_then(|tape| tape.failure()) {
                    return Err(ConfigError::Recording(reason));
                }
            }
            let index = key.index();
            if self.foresees() {
                self.look_ahead();
            }
            match key.kind() {
                Kind::Lane => {
                    if let Some(packet) = self.net.arrive(key) {
                        if self.foresees() {
                            self.look_ahead_in(index);
                        }
                        self.come(packet, self.net.lanes[index].end);
                    }
                }
                Kind::Flight => {
                    let (packet, end) = self.net.land(index);
                    self.come(packet, end);
                }
                Kind::Port => {
                    if self.ports[index].woken(self.net.now) {
                        self.transmit(index);
                    }
                }
                Kind::Sample if index == WARM => self.begin_counting(),
                Kind::Start => self.start_next(index),
                Kind::Sample => self.sample(),
                Kind::Air => self.on_air(index),
                Kind::Load => self.measure_load(),
                kind => self.on_timer(kind, index),
            }
            if !self.net.outbox.is_empty() {
                self.offer_from_stations();
            }
            if self.has_to_pass() {
                self.pass_records()?;
            }
            if cfg!(debug_assertions) && self.streamed.is_none() && self.out.counters.events >= self.next_audit {
                self.audit()?;
            }
        }
        control.reached_ns.store(self.run.duration.0, Ordering::Relaxed);
        Ok(())
    }

    /// `packet` comes to the end of a link.
    #[inline]
    fn come(&mut self, packet: Packet, end: End) {
        match end {
            End::Port(port) => self.offer(port, packet),
            End::Router(router) => self.pass_on(router, packet),
            End::Host => self.deliver(&packet),
            End::Cell => self.offer_in_cell(packet),
        }
    }

    #[inline]
    fn offer(&mut self, port: usize, packet: Packet) {
        if let Some(count) = self.of_probe(&packet, port) {
            count.arrivals += 1;
        } else if self.watched.contains(&port) {
            self.tally.on_arrival(&packet);
            self.subflows.arrived(&packet, self.net.now);
        }
        self.net.trace.queued(&packet, port, self.net.now);
        self.ports[port].enqueue(packet, self.net.now);
        if !self.ports[port].queue.dropped().is_empty() {
            self.on_drops(port);
        }
        if self.watched.contains(&port)
            && let Some(sorted) = self.ports[port].queue.sorted()
        {
            let record = &mut self.out.records[self.net.ledger.row(&packet)];
            record.sorted_packets += 1;
            record.high_packets += u64::from(sorted.high);
            record.fragments += u64::from(sorted.fresh);
            if sorted.high {
                self.subflows.is_high(&packet);
            }
        }
        self.transmit(port);
    }

    #[inline]
    fn transmit(&mut self, port: usize) {
        let onward = self.ports[port].onward;
        if onward == Onward::Air {
            return self.rouse(port);
        }
        let busy = self.ports[port].is_busy(self.net.now);
        let sent = self.ports[port].transmit(self.net.now, port, &mut self.net.events);
        if !busy && !self.ports[port].queue.dropped().is_empty() {
            self.on_drops(port);
        }
        let Some((mut packet, at)) = sent else {
            return;
        };
        if self.foresees() {
            self.look_into(port);
        }
        self.on_departure(&packet, port);
        let Some(live) = owner(&mut self.live, &packet) else {
            return self.net.discard(&packet);
        };
        if self.ports[port].loss.takes(&packet) {
            if let Some(count) = self.of_probe(&packet, port) {
                count.lost += 1;
            }
            return self.lose(&packet);
        }
        let exit = live.exit(&packet);
        match (onward, self.impaired(port, &mut packet, at)) {
            (_, Fate::Dropped) => {
                self.ports[port].loss.lost += 1;
                self.lose(&packet);
            }
            (Onward::Lane(lane), Fate::Passed) => self.net.relay(lane, packet, at),
            (Onward::Lane(lane), Fate::Late(at)) => self.net.relay(lane, packet, at),
            (Onward::Host | Onward::Air, Fate::Passed) => self.net.forward(exit, packet, at),
            (Onward::Host | Onward::Air, Fate::Late(at)) => self.net.forward_late(exit, packet, at),
        }
    }

    /// What the link behind `port` does to a packet that would come at `at`.
    #[inline]
    fn impaired(&mut self, port: usize, packet: &mut Packet, at: Time) -> Fate {
        match &mut self.impairments {
            Some(link) if self.watched.contains(&port) || self.reverse.contains(&port) => link.meet(packet, at),
            _ => Fate::Passed,
        }
    }

    /// `packet` has left the queue of `port`.
    #[inline]
    fn on_departure(&mut self, packet: &Packet, port: usize) {
        if let Some(count) = self.of_probe(packet, port) {
            count.sent += 1;
            count.sent_bytes += u64::from(packet.len);
            count.marks += u64::from(packet.ecn == Ecn::Ce);
        } else if self.watched.contains(&port) {
            let wait = self.net.now - packet.arrival;
            self.tally.on_departure(packet, wait);
            self.subflows.departed(packet, self.net.now);
            let live = self.live.at(Handle::unpack(packet.handle).slot);
            if live.counts(packet) {
                live.queue_delay.add(wait);
            } else {
                self.out.records[self.net.ledger.row(packet)].queue_delay.add(wait);
            }
        } else if self.reverse.contains(&port) {
            self.reverse_waits.add(self.net.now - packet.arrival);
        }
        self.net.trace.departed(packet, port, self.net.now);
    }

    /// What the counts of `port` leave out, when `packet` is one of a probe and the port one of the bottleneck's.
    #[inline]
    fn of_probe(&mut self, packet: &Packet, port: usize) -> Option<&mut ProbeCount> {
        self.probes.kind(packet.flow.connection())?;
        match () {
            () if self.watched.contains(&port) => Some(&mut self.probes.forward),
            () if self.reverse.contains(&port) => Some(&mut self.probes.reverse),
            () => None,
        }
    }

    /// A packet reached `router`: it goes on to the next port, or into the exit pipe of its host.
    fn pass_on(&mut self, router: u32, packet: Packet) {
        match self.places.onward(router, packet.dst) {
            Some(port) => self.offer(port, packet),
            None => self.pass_to_host(packet),
        }
    }

    /// `packet` goes into the exit pipe of its host.
    fn pass_to_host(&mut self, packet: Packet) {
        match owner(&mut self.live, &packet) {
            Some(live) => self.net.pass(live.exit(&packet), packet),
            None => self.net.discard(&packet),
        }
    }

    #[inline]
    fn deliver(&mut self, packet: &Packet) {
        let handle = Handle::unpack(packet.handle);
        let Some(live) = owner(&mut self.live, packet) else {
            return self.net.discard(packet);
        };
        self.net.ledger.delivered(packet);
        let (tcp, net) = (live.tcp, &mut self.net);
        net.trace.received(packet, net.now);
        if let Some(tape) = &mut net.tape {
            tape.received(packet, net.options.contents(packet.options), net.now);
        }
        let marked = packet.ecn == Ecn::Ce;
        if marked {
            self.out.records[net.ledger.row(packet)].marks += 1;
            net.options.mark(packet.options);
        }
        let over = match &mut live.transport {
            Transport::Scripted(_) | Transport::Turned(_) => return self.deliver_scripted(packet, marked),
            Transport::Quic(_) => return self.deliver_quic(packet),
            Transport::Tcp(connection) => {
                let life = match packet.flow.direction() {
                    Direction::Forward => connection.on_forward(handle, packet.options, marked, tcp, net),
                    Direction::Reverse => connection.on_reverse(handle, packet.options, tcp, net),
                };
                net.options.release(packet.options);
                life == Life::Over
            }
            Transport::Udp(source) => {
                source.on_delivery(packet, net);
                let over = source.is_over();
                let returned = packet.flow.direction() == Direction::Reverse;
                if let Some(controller) = self.controller.as_mut().filter(|one| returned && one.listens_to(live.flow))
                    && let Some(delays) = source.delays(handle.number)
                {
                    let first = usize::from(self.flows[live.flow as usize].up);
                    let changes = controller.on_ping(handle.number, delays, first, net.now);
                    steer(&mut self.ports, changes);
                }
                over
            }
            Transport::Media(stream) => {
                stream.on_delivery(packet, net);
                stream.is_over()
            }
        };
        if over {
            self.close(handle.slot);
        }
    }

    /// Tells the controller what the shapers have sent.
    fn measure_load(&mut self) {
        let (now, sent) = (self.net.now, [self.ports[0].sent_bytes, self.ports[1].sent_bytes]);
        let Some(controller) = &mut self.controller else { return };
        let changes = controller.on_load(sent, now);
        let next = now + controller.load_interval();
        steer(&mut self.ports, changes);
        if next <= self.end {
            self.net.events.schedule(next, Kind::Load, 0);
        }
    }

    #[cold]
    fn on_drops(&mut self, port: usize) {
        for index in 0..self.ports[port].queue.dropped().len() {
            let (packet, reason) = self.ports[port].queue.dropped()[index];
            let flow = packet.flow.connection();
            let live = self.live.at(Handle::unpack(packet.handle).slot);
            if live.counts(&packet) && live.drops < u32::MAX {
                live.drops += 1;
            } else {
                self.out.records[self.net.ledger.row(&packet)].drops += 1;
            }
            self.net.ledger.dropped(&packet);
            if let Some(count) = self.of_probe(&packet, port) {
                count.drops += 1;
            } else if self.watched.contains(&port) {
                self.tally.on_drop(&packet);
                self.subflows.dropped(&packet, self.net.now);
                if self.ports[port].onward == Onward::Air {
                    self.on_drop_at_access_point(&packet);
                }
            }
            self.net.trace.dropped(&packet, port, self.net.now);
            if self.run.trace_drops {
                let reverse = packet.flow.direction() == Direction::Reverse;
                self.out.drops.push(Drop { time: self.net.now, flow: flow as u32, reverse, len: packet.len, reason });
            }
            self.on_loss(&packet);
        }
    }

    /// A link lost `packet`, which left its queue.
    #[cold]
    fn lose(&mut self, packet: &Packet) {
        self.net.hops += 1;
        self.out.records[self.net.ledger.row(packet)].lost += 1;
        self.net.ledger.lost(packet);
        self.net.trace.lost(packet, self.net.now);
        self.on_loss(packet);
    }

    /// Gives back the options of a packet that will not arrive, and tells a datagram source; TCP finds out itself.
    fn on_loss(&mut self, packet: &Packet) {
        self.net.options.release(packet.options);
        if packet.kind != PacketKind::Udp {
            return;
        }
        let Some(live) = owner(&mut self.live, packet) else { return };
        let over = match &mut live.transport {
            Transport::Udp(source) => {
                source.on_loss();
                source.is_over()
            }
            Transport::Media(stream) => {
                stream.on_loss(packet);
                stream.is_over()
            }
            _ => return,
        };
        if over {
            self.close(Handle::unpack(packet.handle).slot);
        }
    }

    fn on_timer(&mut self, kind: Kind, slot: usize) {
        let (live, net) = (self.live.at(slot), &mut self.net);
        let tcp = live.tcp;
        let life = match (&mut live.transport, kind) {
            (Transport::Scripted(_) | Transport::Turned(_), _) => return self.on_scripted_timer(kind, slot),
            (Transport::Quic(_), _) => return self.on_quic_timer(slot),
            (Transport::Tcp(connection), Kind::Retransmit) => connection.on_retransmit_timer(tcp, net),
            (Transport::Tcp(connection), Kind::Receiver) => connection.on_receiver_timer(tcp, net),
            (Transport::Tcp(connection), Kind::Pace) => {
                connection.on_pace_timer(tcp, net);
                Life::Open
            }
            (Transport::Udp(source), Kind::Udp) => {
                source.send(&self.run.bursts.list, net);
                Life::Open
            }
            (Transport::Media(stream), kind) => {
                stream.on_timer(kind, net);
                Life::Open
            }
            _ => Life::Open,
        };
        if life == Life::Over {
            self.close(slot);
        }
    }

    fn start_next(&mut self, event: usize) {
        let (index, spec) = match &mut self.streamed {
            None => {
                let index = self.stages.due(event, self.flows, self.net.now, &mut self.net.events);
                self.flows.get(index + 4).into_iter().for_each(prefetch::value);
                (index, self.flows[index])
            }
            Some(streamed) => match streamed.due(self.run, self.net.now, &mut self.net.events) {
                Some(due) => due,
                None => return,
            },
        };
        self.started += 1;
        self.unfinished += 1;
        let number = self.transports[usize::from(spec.transport)];
        let tcp = self.run.transport(number);
        let pool = if spec.udp.is_none() { self.idle_senders.get_mut(&pair(&spec, number)) } else { None };
        let mut history = pool.and_then(Vec::pop).unwrap_or_else(|| self.boot(index, false, tcp));
        if tcp.cached_metrics != CachedMetrics::Off {
            let known = self.known_paths.get(&pair(&spec, number)).copied().unwrap_or_default();
            history.known = known.map(|path| path.filter(|path| path.counts(self.net.now)));
        }
        let path = self.places.path(&spec, &mut self.net);
        let slot = self.live.claim(|| Live::free(tcp, Transport::Tcp(Connection::unused(tcp))));
        if let Some(private) = path.private {
            self.private.resize(self.private.len().max(slot + 1), None);
            self.private[slot] = Some(private);
        }
        let row = self.net.ledger.begin(index as u32, slot);
        if let Some(streamed) = &mut self.streamed {
            streamed.keep(row, spec);
            self.out.records.resize(self.out.records.len().max(row + 1), FlowRecord::default());
            self.out.records[row] = FlowRecord::default();
        }
        self.out.records[row].start = self.net.now;
        let owner = Owner { flow: index as u32, slot: slot as u32, src: path.src, dst: path.dst, mark: spec.mark };
        let live = self.live.at(slot);
        live.begin(owner.flow, path.exits);
        let made_with: &Tcp = std::mem::replace(&mut live.tcp, tcp);
        let fits = std::ptr::eq(made_with, tcp);
        let pipes = (path.out, path.back);
        let application = self.run.application(&spec);
        if tcp.recovery.is_quic() && spec.udp.is_none() {
            return self.start_quic(owner, &spec, pipes);
        }
        if spec.script.is_some() || application.is_some_and(|own| !own.sends_datagrams()) {
            return self.start_scripted(owner, &spec, pipes, history);
        }
        if let Some(own) = application {
            return self.start_stream(owner, &spec, pipes, own);
        }
        match (spec.udp, &mut live.transport) {
            (Some(constant), transport) => {
                let bursts = &self.run.bursts;
                let own = (bursts.part(owner.flow).unwrap_or_default(), bursts.list.as_slice());
                let probe = self.probes.kind(owner.flow.into());
                let ends = (owner, path.out, path.back);
                let is_heard = self.run.heard.binary_search(&owner.flow).is_ok();
                let source = Source::start(ends, probe, spec.size_bytes, constant, own, is_heard, &mut self.net);
                *transport = Transport::Udp(source);
            }
            (None, Transport::Tcp(connection)) if fits => {
                connection.open(owner, &spec, (path.out, path.back), history, tcp, &mut self.net);
            }
            (None, transport) => {
                let mut connection = Connection::unused(tcp);
                connection.open(owner, &spec, (path.out, path.back), history, tcp, &mut self.net);
                *transport = Transport::Tcp(connection);
            }
        }
    }

    /// The sender of a flow, whose clock starts now.
    fn boot(&mut self, flow: usize, syn_lost: bool, tcp: &Tcp) -> History {
        let drawn = Time((self.clock_phase(flow) * tcp.tick.0 as f64) as u64);
        History { clock_phase: self.run.clock_phase.unwrap_or(drawn), syn_lost, known: [None; 2] }
    }

    /// Share of its tick that the clock of a flow's sender is into it.
    fn clock_phase(&mut self, flow: usize) -> f64 {
        let circuit = self.circuits.as_mut().and_then(|circuits| {
            let class = circuits.names.of[flow].circuit?;
            let (tree, seed) = (self.run.tree.as_ref()?, self.run.seed);
            let fresh = || Stream::named(seed, &format!("clocks.circuit.{}", tree.classes[class as usize].name));
            Some(circuits.clock_phases.entry(class).or_insert_with(fresh))
        });
        circuit.map_or_else(|| self.clock_phases.uniform(), Stream::uniform)
    }

    /// Name of the random numbers of the application that `flow` belongs to.
    fn application_stream(&self, flow: u32) -> String {
        let local = self.circuits.as_ref().map(|circuits| circuits.names.of[flow as usize]);
        match (local.and_then(|local| Some((local.circuit?, local.flow))), &self.run.tree) {
            (Some((class, own)), Some(tree)) => {
                format!("application.circuit.{}.{own}", tree.classes[class as usize].name)
            }
            _ => format!("application.{flow}"),
        }
    }

    fn close(&mut self, slot: usize) {
        let live = self.live.at(slot);
        let tcp = live.tcp;
        let flow = std::mem::replace(&mut live.flow, u32::MAX) as usize;
        let row = self.net.ledger.row_of(flow as u32, slot);
        let spec = self.streamed.as_ref().map_or_else(|| self.flows[flow], |streamed| streamed.spec(row));
        let record = &mut self.out.records[row];
        live.tell(record);
        let (mut syn_lost, mut turned, mut told) = (None, None, false);
        match &mut live.transport {
            Transport::Tcp(connection) => {
                connection.close(record, tcp);
                syn_lost = Some(connection.syn_lost());
            }
            Transport::Scripted(scripted) => {
                scripted.close(record, tcp);
                self.out.segments.append(&mut scripted.take_log());
                (syn_lost, turned) = (Some(scripted.syn_lost()), Some(scripted.turned_slot));
                told = scripted.was_done();
            }
            Transport::Turned(_) => {}
            Transport::Quic(connection) => {
                connection.close(record);
                self.out.segments.append(&mut connection.take_log());
                told = connection.was_done();
            }
            Transport::Udp(source) => {
                source.report(record);
                self.out.probes.append(&mut source.take_log());
                self.out.arrivals.extend(source.take_arrivals());
            }
            Transport::Media(stream) => {
                stream.close(record);
                self.out.frames.append(&mut stream.take_log());
            }
        }
        if tcp.cached_metrics != CachedMetrics::Off {
            let known = self.known_paths.entry(pair(&spec, self.transports[usize::from(spec.transport)])).or_default();
            *known = match &live.transport {
                Transport::Tcp(connection) => connection.learn(*known, tcp, self.net.now),
                Transport::Scripted(scripted) => scripted.learn(*known, tcp, self.net.now),
                _ => *known,
            };
        }
        self.unfinished -= 1;
        let has_started_all = match &self.streamed {
            None => self.started == self.flows.len(),
            Some(streamed) => streamed.is_dry(),
        };
        if let Some(stage) = spec.stage.filter(|_| !told) {
            self.stages.on_over(stage, self.flows, self.net.now, &mut self.net.events);
        }
        if self.run.stop_when_idle && self.unfinished == 0 && has_started_all {
            self.end = self.net.now;
        }
        if let Some(private) = self.private.get_mut(slot).and_then(Option::take) {
            self.places.retire(private);
        }
        self.live.release(slot);
        if let Some(turned) = turned {
            self.release_turned(turned);
        }
        if let Some(syn_lost) = syn_lost.filter(|_| tcp.recycled_senders) {
            let history = self.boot(flow, syn_lost, tcp);
            let number = self.transports[usize::from(spec.transport)];
            self.idle_senders.entry(pair(&spec, number)).or_default().push(history);
        }
        self.net.ledger.over(flow as u32, slot);
    }
}

mod air;
mod applications;
mod audit;
mod output;
mod prefetch_next;
mod quic;
mod scripted;
mod set_up;
mod streamed;
#[cfg(test)]
mod tests;
