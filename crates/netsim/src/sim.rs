//! The run: sets up the dumbbell, starts the flows of the list, handles events until the end.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use qdisc::{Ecn, Kind as PacketKind, Packet, Qdisc};
use units::{Direction, Stream, Time};

use crate::config::{ConfigError, FlowSpec, LONGEST, Run};
use crate::counting::{Counting, Tally};
use crate::event::{Events, Kind};
use crate::loss::Loss;
use crate::mrg32k3a::Mrg32k3a;
use crate::net::{Handle, Net, Owner};
use crate::options::Options;
use crate::pipe::{End, Lane, Pipe};
use crate::port::Port;
use crate::record::{Drop, FlowRecord, Output};
use crate::slab::Slab;
use crate::stages::Stages;
use crate::tcp::{Connection, History, Life};
use crate::trace::Trace;
use crate::udp::Cbr;

/// Index of the queue that the data of `down` flows cross.
const FORWARD: usize = 0;
/// Index of the queue in the other direction.
const REVERSE: usize = 1;
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
    let mut sim = Sim::set_up(run, flows)?;
    sim.handle_events(control)?;
    Ok(sim.finish())
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
    single.sample_interval = Time::ZERO;
    single.watched = Vec::new();
    single.counting = Counting::default();
    single.traced = Vec::new();
    single.duration = Time(run.duration.0.saturating_mul(16).min(LONGEST.0));
    single.stop_when_idle = true;
    let flows = [FlowSpec { start: Time::ZERO, src: 0, dst: 0, stage: None, after: None, ..*flow }];
    single.check(&flows)?;
    let mut sim = Sim::set_up(&single, &flows)?;
    sim.net.deliveries = Some(Vec::new());
    sim.handle_events(&Control::default())?;
    let arrivals = sim.net.deliveries.take().unwrap_or_default();
    Ok(Alone { arrivals, finish: sim.finish().records[0].finish })
}

// A box would cost every TCP packet a load; nearly all flows are TCP.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
enum Transport {
    Tcp(Connection),
    Udp(Cbr),
}

/// State of one live flow.
#[derive(Debug)]
struct Live {
    /// Index in the list; `u32::MAX` when the slot is free, so that late packets find nobody.
    flow: u32,
    /// Pipes behind the forward and the reverse port.
    exits: [u32; 2],
    /// Pipes of this flow only, given back at its end.
    private: Option<(usize, usize)>,
    transport: Transport,
}

struct Sim<'a> {
    run: &'a Run,
    flows: &'a [FlowSpec],
    net: Net,
    ports: [Port; 2],
    live: Slab<Live>,
    stages: Stages,
    started: usize,
    /// Flows started and not yet over.
    unfinished: usize,
    end: Time,
    clock_phases: Mrg32k3a,
    /// First pipe of the right-hand hosts; each host has a pipe to its port and one from the other.
    right: usize,
    /// Private pipes whose flow has ended, oldest first.
    retired: VecDeque<(usize, usize)>,
    /// Idle senders of each pair of hosts.
    idle_senders: HashMap<(u32, u32), Vec<History>>,
    tally: Tally<'a>,
    out: Output,
}

impl<'a> Sim<'a> {
    fn set_up(run: &'a Run, flows: &'a [FlowSpec]) -> Result<Self, ConfigError> {
        let network = &run.network;
        let queue = |(id, options): &(String, Vec<(String, String)>), limit, stream| {
            Qdisc::from_options(id, options, limit, Stream::named(run.seed, stream))
        };
        let forward = queue(&network.discipline, network.limit, "qdisc.forward")?;
        let reverse = queue(&network.reverse_discipline, network.reverse_limit, "qdisc.reverse")?;
        let side = |flow: &FlowSpec, left: bool| if flow.up == left { flow.dst } else { flow.src };
        let hosts = |left| flows.iter().map(|f| side(f, left) as usize + 1).max().unwrap_or(0);
        let (mut pipes, mut lanes) = (Vec::new(), Vec::new());
        for (count, port, delay) in
            [(hosts(true), FORWARD, network.access_delay), (hosts(false), REVERSE, network.exit_delay)]
        {
            let lane = lanes.len();
            lanes.extend([Lane::to(End::Port(port)), Lane::to(End::Host)]);
            for _ in 0..count {
                pipes.push(Pipe::into(lane, network.access_rate, delay));
                pipes.push(Pipe::into(lane + 1, network.access_rate, delay));
            }
        }
        let right = 2 * hosts(true);
        let mut net = Net {
            now: Time::ZERO,
            events: Events::default(),
            pipes,
            lanes,
            hops: 0,
            options: Options::none(),
            deliveries: None,
            trace: Trace::of(&run.traced, flows.len(), run.trace_limit),
        };
        let mut stages = Stages::of(flows)?;
        stages.schedule_listed(flows, Time::ZERO, &mut net.events);
        if run.sample_interval > Time::ZERO {
            net.events.schedule(run.sample_interval, Kind::Sample, 0);
        }
        if run.counting.warm_up > Time::ZERO {
            net.events.schedule(run.counting.warm_up, Kind::Sample, WARM);
        }
        let mut out = Output { records: vec![FlowRecord::default(); flows.len()], ..Output::default() };
        out.samples.progress = vec![Vec::new(); run.watched.len()];
        Ok(Sim {
            run,
            flows,
            net,
            ports: [(forward, "loss.forward"), (reverse, "loss.reverse")].map(|(queue, stream)| {
                let loss = Loss::of(network.loss, Stream::named(run.seed, stream));
                Port::over(queue, network.rate, network.delay, loss)
            }),
            live: Slab::empty(),
            stages,
            started: 0,
            unfinished: 0,
            end: run.duration,
            clock_phases: Mrg32k3a::seeded(run.seed),
            right,
            retired: VecDeque::new(),
            idle_senders: HashMap::new(),
            tally: Tally::of(&run.counting),
            out,
        })
    }

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
            }
            let index = key.index();
            match key.kind() {
                Kind::Lane => {
                    if let Some(packet) = self.net.arrive(key) {
                        match self.net.lanes[index].end {
                            End::Port(port) => self.offer(port, packet),
                            End::Host => self.deliver(&packet),
                        }
                    }
                }
                Kind::Port => {
                    if self.ports[index].woken(self.net.now) {
                        self.transmit(index);
                    }
                }
                Kind::Sample if index == WARM => self.begin_counting(),
                Kind::Start => self.start_next(index),
                Kind::Sample => self.sample(),
                kind => self.on_timer(kind, index),
            }
        }
        control.reached_ns.store(self.run.duration.0, Ordering::Relaxed);
        Ok(())
    }

    #[inline]
    fn offer(&mut self, port: usize, packet: Packet) {
        if port == FORWARD {
            self.tally.on_arrival(&packet);
        }
        self.net.trace.queued(&packet, port, self.net.now);
        self.ports[port].enqueue(packet, self.net.now);
        if !self.ports[port].queue.dropped().is_empty() {
            self.on_drops(port);
        }
        if port == FORWARD
            && let Some(sorted) = self.ports[port].queue.sorted()
        {
            let record = &mut self.out.records[packet.flow.connection() as usize];
            record.sorted_packets += 1;
            record.high_packets += u64::from(sorted.high);
            record.fragments += u64::from(sorted.fresh);
        }
        self.transmit(port);
    }

    #[inline]
    fn transmit(&mut self, port: usize) {
        let busy = self.ports[port].is_busy(self.net.now);
        let sent = self.ports[port].transmit(self.net.now, port, &mut self.net.events);
        if !busy && !self.ports[port].queue.dropped().is_empty() {
            self.on_drops(port);
        }
        let Some((packet, at)) = sent else {
            return;
        };
        if port == FORWARD {
            let wait = self.net.now - packet.arrival;
            self.tally.on_departure(&packet, wait);
            self.out.records[packet.flow.connection() as usize].waits.add(wait);
        }
        self.net.trace.departed(&packet, port, self.net.now);
        let live = self.live.at(Handle::unpack(packet.handle).slot);
        if u64::from(live.flow) == packet.flow.connection() {
            if self.ports[port].loss.takes(&packet) {
                self.lose(&packet);
                return;
            }
            let exit = live.exits[port] as usize;
            self.net.forward(exit, packet, at);
        } else {
            self.net.options.release(packet.options);
        }
    }

    #[inline]
    fn deliver(&mut self, packet: &Packet) {
        let handle = Handle::unpack(packet.handle);
        let live = self.live.at(handle.slot);
        if u64::from(live.flow) != packet.flow.connection() {
            self.net.options.release(packet.options);
            return;
        }
        let (tcp, net) = (&self.run.tcp, &mut self.net);
        net.trace.received(packet, net.now);
        let marked = packet.ecn == Ecn::Ce;
        if marked {
            self.out.records[live.flow as usize].marks += 1;
        }
        let over = match &mut live.transport {
            Transport::Tcp(connection) => {
                let life = match packet.flow.direction() {
                    Direction::Forward => connection.on_forward(handle, packet.options, marked, tcp, net),
                    Direction::Reverse => connection.on_reverse(handle, packet.options, tcp, net),
                };
                net.options.release(packet.options);
                life == Life::Over
            }
            Transport::Udp(source) => {
                source.on_delivery(packet, net.now);
                source.is_over()
            }
        };
        if over {
            self.close(handle.slot);
        }
    }

    #[cold]
    fn on_drops(&mut self, port: usize) {
        for index in 0..self.ports[port].queue.dropped().len() {
            let (packet, reason) = self.ports[port].queue.dropped()[index];
            let flow = packet.flow.connection();
            self.out.records[flow as usize].drops += 1;
            if port == FORWARD {
                self.tally.on_drop(&packet);
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
        self.net.trace.lost(packet, self.net.now);
        self.net.options.release(packet.options);
        self.out.records[packet.flow.connection() as usize].lost += 1;
        self.on_loss(packet);
    }

    /// Gives back the options of a packet that will not arrive, and tells a datagram source; TCP finds out itself.
    fn on_loss(&mut self, packet: &Packet) {
        self.net.options.release(packet.options);
        if packet.kind != PacketKind::Udp {
            return;
        }
        let slot = Handle::unpack(packet.handle).slot;
        if let Live { flow: owner, transport: Transport::Udp(source), .. } = self.live.at(slot)
            && u64::from(*owner) == packet.flow.connection()
        {
            source.on_loss();
            if source.is_over() {
                self.close(slot);
            }
        }
    }

    fn on_timer(&mut self, kind: Kind, slot: usize) {
        let (tcp, net) = (&self.run.tcp, &mut self.net);
        match (&mut self.live.at(slot).transport, kind) {
            (Transport::Tcp(connection), Kind::Retransmit) => connection.on_retransmit_timer(tcp, net),
            (Transport::Tcp(connection), Kind::Receiver) => connection.on_receiver_timer(tcp, net),
            (Transport::Udp(source), Kind::Udp) => source.send(net),
            _ => {}
        }
    }

    fn start_next(&mut self, event: usize) {
        let index = self.stages.due(event, self.flows, self.net.now, &mut self.net.events);
        let spec = self.flows[index];
        self.started += 1;
        self.unfinished += 1;
        self.out.records[index].start = self.net.now;
        let pool = if spec.udp.is_none() { self.idle_senders.get_mut(&(spec.src, spec.dst)) } else { None };
        let history = pool.and_then(Vec::pop).unwrap_or_else(|| self.boot(false));
        let (left, right) = if spec.up { (spec.dst, spec.src) } else { (spec.src, spec.dst) };
        // Hosts of the two sides are numbered apart; a discipline must not take one for the other.
        let (near, far) = (2 * left, 2 * right + 1);
        let (src, dst) = if spec.up { (far, near) } else { (near, far) };
        let (left, right) = (2 * left as usize, self.right + 2 * right as usize);
        let private = spec.rtt.map(|rtt| self.private_pipes(rtt));
        let (left_out, left_in) = private.unwrap_or((left, left + 1));
        let exits = [right as u32 + 1, left_in as u32];
        let (out, back) = if spec.up { (right, left_out) } else { (left_out, right) };
        let tcp = &self.run.tcp;
        let slot = self.live.claim(|| Live {
            flow: u32::MAX,
            exits,
            private,
            transport: Transport::Tcp(Connection::unused(tcp)),
        });
        let owner = Owner { flow: index as u32, slot, src, dst };
        let live = self.live.at(slot);
        (live.flow, live.exits, live.private) = (owner.flow, exits, private);
        match (spec.udp, &mut live.transport) {
            (Some((len, gap)), transport) => {
                *transport = Transport::Udp(Cbr::start(owner, out, spec.size_bytes, len, gap, &mut self.net));
            }
            (None, Transport::Tcp(connection)) => {
                connection.open(owner, &spec, (out, back), history, tcp, &mut self.net);
            }
            (None, transport) => {
                let mut connection = Connection::unused(tcp);
                connection.open(owner, &spec, (out, back), history, tcp, &mut self.net);
                *transport = Transport::Tcp(connection);
            }
        }
    }

    /// Pipes of a flow that brings its own round-trip time: what the shared part of the path lacks is
    /// added on the left-hand side. Where the shared part is longer already, its delay stays.
    fn private_pipes(&mut self, rtt: Time) -> (usize, usize) {
        let network = &self.run.network;
        let delay = Time(rtt.0 / 2).saturating_sub(network.delay + network.exit_delay);
        if let Some(&(out, back)) = self.retired.front()
            && [out, back].iter().all(|&pipe| self.net.lanes[self.net.pipes[pipe].lane].is_empty())
        {
            self.retired.pop_front();
            self.net.pipes[out].reuse(delay);
            self.net.pipes[back].reuse(delay);
            return (out, back);
        }
        let (out, lane) = (self.net.pipes.len(), self.net.lanes.len());
        self.net.lanes.extend([Lane::to(End::Port(FORWARD)), Lane::to(End::Host)]);
        self.net.pipes.push(Pipe::into(lane, network.access_rate, delay));
        self.net.pipes.push(Pipe::into(lane + 1, network.access_rate, delay));
        (out, out + 1)
    }

    /// A sender whose clock starts now.
    fn boot(&mut self, syn_lost: bool) -> History {
        let tick = self.run.tcp.tick.0 as f64;
        History { clock_phase: Time((self.clock_phases.uniform() * tick) as u64), syn_lost }
    }

    fn close(&mut self, slot: usize) {
        let live = self.live.at(slot);
        let flow = std::mem::replace(&mut live.flow, u32::MAX) as usize;
        let record = &mut self.out.records[flow];
        let mut syn_lost = None;
        match &mut live.transport {
            Transport::Tcp(connection) => {
                connection.close(record, &self.run.tcp);
                syn_lost = Some(connection.syn_lost());
            }
            Transport::Udp(source) => source.report(record),
        }
        self.unfinished -= 1;
        if let Some(stage) = self.flows[flow].stage {
            self.stages.on_over(stage, self.flows, self.net.now, &mut self.net.events);
        }
        if self.run.stop_when_idle && self.unfinished == 0 && self.started == self.flows.len() {
            self.end = self.net.now;
        }
        self.retired.extend(live.private.take());
        self.live.release(slot);
        if let Some(syn_lost) = syn_lost.filter(|_| self.run.tcp.recycled_senders) {
            let history = self.boot(syn_lost);
            let spec = &self.flows[flow];
            self.idle_senders.entry((spec.src, spec.dst)).or_default().push(history);
        }
    }

    fn sample(&mut self) {
        let now = self.net.now;
        let next = now + self.run.sample_interval;
        if next <= self.end {
            self.net.events.schedule(next, Kind::Sample, 0);
        }
        let queue = &self.ports[FORWARD].queue;
        let stats = queue.stats();
        let samples = &mut self.out.samples;
        samples.time.push(now);
        samples.backlog_packets.push(stats.backlog());
        samples.backlog_bytes.push(stats.backlog_bytes());
        samples.high_backlog_packets.extend(queue.high_backlog().map(|packets| packets as u64));
        samples.flow_table.push(queue.flow_table_len() as u64);
        samples.arrivals.push(stats.received);
        samples.drops.push(stats.dropped());
        if self.run.watched.is_empty() {
            return;
        }
        // A watched flow is live (its slot knows), over (its record knows) or has not begun (0).
        for (watched, series) in self.run.watched.iter().zip(&mut samples.progress) {
            series.push(self.out.records[*watched as usize].delivered_bytes);
        }
        for live in self.live.iter_mut() {
            if let Some(position) = self.run.watched.iter().position(|&watched| watched == live.flow) {
                let delivered = match &live.transport {
                    Transport::Tcp(connection) => connection.delivered_bytes(&self.run.tcp),
                    Transport::Udp(source) => source.delivered_bytes(),
                };
                if let Some(last) = samples.progress[position].last_mut() {
                    *last = delivered;
                }
            }
        }
    }

    fn finish(mut self) -> Output {
        let end = self.end;
        for live in self.live.iter_mut() {
            let Some(record) = self.out.records.get_mut(live.flow as usize) else { continue };
            match &live.transport {
                Transport::Tcp(connection) => connection.report(record, &self.run.tcp),
                Transport::Udp(source) => source.report(record),
            }
        }
        self.counted();
        self.out.packets = std::mem::take(&mut self.net.trace.packets);
        self.out.timeouts = std::mem::take(&mut self.net.trace.timeouts);
        self.out.beyond_trace = self.net.trace.beyond_limit;
        let counters = &mut self.out.counters;
        *counters = counters.since(&self.tally.before);
        counters.waits = self.tally.waits;
        counters.end = end;
        counters.packet_hops = self.net.hops;
        let [forward, reverse] = &mut self.ports;
        counters.flow_table_bytes = forward.queue.flow_table_bytes() as u64;
        (counters.queue_mean_packets, counters.flow_table_mean) = forward.means(counters.begin, end);
        (counters.reverse_queue_mean_packets, _) = reverse.means(counters.begin, end);
        counters.flow_table_max = forward.flows_max;
        self.out.classes = self.tally.counts;
        self.out
    }

    /// Takes what the ports have counted since the start of the run.
    fn counted(&mut self) {
        let (counters, [forward, reverse]) = (&mut self.out.counters, &self.ports);
        counters.arrivals = forward.queue.stats().received;
        counters.drops = forward.queue.stats().dropped();
        counters.marks = forward.queue.stats().marked;
        (counters.sent, counters.sent_bytes) = (forward.sent, forward.sent_bytes);
        (counters.lost, counters.reverse_lost) = (forward.loss.lost, reverse.loss.lost);
        counters.reverse_drops = reverse.queue.stats().dropped();
        (counters.reverse_sent, counters.reverse_sent_bytes) = (reverse.sent, reverse.sent_bytes);
    }

    fn begin_counting(&mut self) {
        self.counted();
        let now = self.net.now;
        self.tally.restart(self.out.counters, now);
        self.ports.iter_mut().for_each(|port| port.restart(now));
    }
}

#[cfg(test)]
mod tests;
