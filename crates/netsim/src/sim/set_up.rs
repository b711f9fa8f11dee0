//! The beginning of a run: its network, its queues, its first events.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use qdisc::Qdisc;
use units::{Stream, Time};

use super::{Circuits, Sim, WARM, air};
use crate::autorate::Controller;
use crate::config::Run;
use crate::error::ConfigError;
use crate::event::{Events, Kind};
use crate::flow::FlowSpec;
use crate::graph::{Graph, Interface};
use crate::host_paths::{Form, HostPaths};
use crate::mrg32k3a::Mrg32k3a;
use crate::network::ShaperPlace;
use crate::options::Options;
use crate::out::accounting::Ledger;
use crate::out::counting::Tally;
use crate::out::probes::Probes;
use crate::out::queue_delay::QueueDelay;
use crate::out::records::{FlowRecord, Output};
use crate::out::subflows::Subflows;
use crate::out::trace::Trace;
use crate::slab::Slab;
use crate::stages::Stages;
use crate::tcp::accurate::Hosts;
use crate::tcp::settings::Tcp;
use crate::tree::{Names, Tree};
use crate::wire::impairments::Impairments;
use crate::wire::loss::Loss;
use crate::wire::net::Net;
use crate::wire::pipe::{End, Lane};
use crate::wire::port::{Onward, Port};
use crate::wire::queue::Shaper;
use crate::wlan::cell::Cell;

/// The ports of all interfaces. The random numbers of each have a name of their own, unless both directions are to draw
/// the same.
fn ports(graph: &Graph, seed: u64, symmetric: bool) -> Result<Vec<Port>, ConfigError> {
    let port = |(index, (_, _, interface)): (usize, (u32, u32, &Interface))| {
        let way = if symmetric { "forward" } else { ["forward", "reverse"][index % 2] };
        let name = if index < 2 { way.to_owned() } else { format!("{}.{way}", index / 2) };
        let stream = |what: &str| Stream::named(seed, &format!("{what}.{name}"));
        let (id, options) = &interface.discipline;
        let queue = Qdisc::from_options(id, options, interface.limit, stream("qdisc"))?;
        let loss = Loss::of(interface.loss, stream("loss"));
        Ok(Port::over(queue, interface.rate, interface.delay, loss).following(interface.trace.clone()))
    };
    graph.interfaces().enumerate().map(port).collect()
}

/// Puts the shapers of a dumbbell before or behind its ports: the queue of a shaped direction becomes the shaper's, and
/// the link gets another port with the queue of a modem, joined to the shaper by a lane.
fn shape(run: &Run, graph: &Graph, ports: &mut Vec<Port>, net: &mut Net) -> Result<[Option<usize>; 2], ConfigError> {
    let shapers = [run.network.shaping.forward, run.network.shaping.reverse];
    let mut modems = [None; 2];
    for (way, (_, _, interface)) in graph.interfaces().enumerate().take(2) {
        let Some(shaper) = shapers[way] else { continue };
        let name = if run.network.symmetric { "forward" } else { ["forward", "reverse"][way] };
        let stream = |what: &str| Stream::named(run.seed, &format!("{what}.{name}"));
        let (id, options) = &interface.discipline;
        let queue = Qdisc::from_options(id, options, interface.limit, stream("qdisc"))?;
        let lossless = Loss::of(0.0, stream("shaper"));
        let mut port = Port::shaper(queue, shaper.rate, lossless);
        let at = ports.len();
        modems[way] = Some(at);
        let fifo = Qdisc::from_options("fifo", &[], shaper.modem, stream("modem"))?;
        let loss = Loss::of(interface.loss, stream("loss"));
        let mut modem = Port::over(fifo, interface.rate, interface.delay, loss).following(interface.trace.clone());
        let joint = Onward::Lane(net.lanes.len());
        match shaper.place {
            ShaperPlace::Before => {
                port.onward = joint;
                net.lanes.push(Lane::to(End::Port(at)));
            }
            ShaperPlace::Behind => {
                for lane in net.lanes.iter_mut().filter(|lane| matches!(lane.end, End::Port(port) if port == way)) {
                    lane.end = End::Port(at);
                }
                modem.onward = joint;
                net.lanes.push(Lane::to(End::Port(way)));
            }
        }
        ports.push(modem);
        ports[way] = port;
    }
    Ok(modems)
}

/// The ports of a shaper, down and up.
fn shaped(tree: &Tree, names: &Arc<Names>, graph: &Graph, seed: u64) -> Result<Vec<Port>, ConfigError> {
    let port = |(index, (_, _, interface)): (usize, (u32, u32, &Interface))| {
        let loss = Loss::of(interface.loss, Stream::named(seed, ["loss.forward", "loss.reverse"][index]));
        let up = index == 1;
        let shaper = Shaper::over(tree.htb(up, seed)?, Arc::clone(names), up, tree.bin);
        Ok(Port::shaped(shaper, interface.delay, loss))
    };
    graph.interfaces().enumerate().map(port).collect()
}

/// Number of the first transport of equal settings, for each number that a flow may have.
fn transports(run: &Run) -> Vec<u16> {
    let all: Vec<&Tcp> = std::iter::once(&run.tcp).chain(run.transports.iter().map(|own| &own.tcp)).collect();
    let first = |tcp: &&Tcp| all.iter().position(|other| other == tcp).unwrap_or_default() as u16;
    all.iter().map(first).collect()
}

impl<'a> Sim<'a> {
    /// The run of a list.
    pub(super) fn set_up(run: &'a Run, flows: &'a [FlowSpec]) -> Result<Self, ConfigError> {
        Sim::set_up_between(run, flows, flows)
    }

    /// The run of `flows`, between the hosts that `ends` name.
    pub(super) fn set_up_between(run: &'a Run, flows: &'a [FlowSpec], ends: &[FlowSpec]) -> Result<Self, ConfigError> {
        let graph = match &run.graph {
            Some(graph) => Cow::Borrowed(graph),
            None if run.wlan.is_some() => Cow::Owned(Graph::cell(&run.network, ends)),
            None => Cow::Owned(Graph::dumbbell(&run.network, ends)),
        };
        let symmetric = run.network.symmetric && run.graph.is_none() && run.wlan.is_none();
        let names = run.tree.as_ref().map(|tree| Arc::new(Names::of(tree, flows)));
        let mut ports = match (&run.wlan, &run.tree, &names) {
            (Some(wlan), _, _) => air::ports(wlan, &graph, run.seed)?,
            (None, Some(tree), Some(names)) => shaped(tree, names, &graph, run.seed)?,
            _ => ports(&graph, run.seed, symmetric)?,
        };
        let mut net = Net {
            now: Time::ZERO,
            events: Events::default(),
            pipes: Vec::new(),
            lanes: Vec::new(),
            flights: Slab::empty(),
            hops: 0,
            ledger: Ledger::of(flows.len()),
            outbox: VecDeque::new(),
            options: Options::none(),
            deliveries: None,
            trace: Trace::of(&run.traced, flows.len(), run.trace_limit),
            tape: None,
            hosts: Hosts::default(),
        };
        let ordered = run.network.impairments.is_empty();
        let form = Form { apart: run.graph.is_none(), cell: run.wlan.is_some(), symmetric, ordered };
        let places = HostPaths::of(&graph, form, ends, &mut net)?;
        for (port, (_, to, _)) in
            ports.iter_mut().zip(graph.interfaces()).filter(|(_, (_, to, _))| !places.is_leaf(*to))
        {
            port.onward = Onward::Lane(net.lanes.len());
            net.lanes.push(Lane::to(End::Router(to)));
        }
        let modems = shape(run, &graph, &mut ports, &mut net)?;
        let shaping = &run.network.shaping;
        let rates = [shaping.forward, shaping.reverse].map(|shaper| shaper.map(|shaper| shaper.rate));
        let controller = shaping.controller.as_ref().map(|settings| Box::new(Controller::of(settings, rates)));
        if let Some(controller) = &controller {
            net.events.schedule(controller.load_interval(), Kind::Load, 0);
        }
        let mut stages = Stages::of(flows)?;
        stages.schedule_listed(flows, Time::ZERO, &mut net.events);
        if run.sample_interval > Time::ZERO {
            net.events.schedule(run.sample_interval, Kind::Sample, 0);
        }
        if run.counting.warm_up > Time::ZERO {
            net.events.schedule(run.counting.warm_up, Kind::Sample, WARM);
        }
        let (watched, reverse) = match &run.wlan {
            Some(wlan) => (0..Cell::down_ports(wlan), Cell::down_ports(wlan)..ports.len()),
            None => {
                let forward = 2 * graph.watched as usize;
                (forward..forward + 1, forward + 1..forward + 2)
            }
        };
        if !run.probes.is_empty() {
            let of_link = watched.clone().chain(reverse.clone()).chain(modems.into_iter().flatten());
            of_link.for_each(|port| ports[port].watch_seconds());
        }
        let out = Output { records: vec![FlowRecord::default(); flows.len()], ..Output::default() };
        Ok(Sim {
            run,
            flows,
            net,
            ports,
            watched,
            reverse,
            cell: run.wlan.as_ref().map(|wlan| Box::new(Cell::of(wlan, flows.len(), run.seed))),
            arrived: Vec::new(),
            live: Slab::empty(),
            private: Vec::new(),
            stages,
            started: 0,
            unfinished: 0,
            end: run.duration,
            clock_phases: Mrg32k3a::seeded(run.seed),
            circuits: names.map(|names| Circuits { names, clock_phases: HashMap::new() }),
            places,
            transports: transports(run),
            idle_senders: HashMap::new(),
            known_paths: HashMap::new(),
            tally: Tally::of(&run.counting),
            probes: Probes::of(&run.probes, flows.len()),
            reverse_waits: QueueDelay::default(),
            impairments: Impairments::of(&run.network.impairments),
            modems,
            controller,
            next_audit: 1,
            streamed: None,
            subflows: if run.subflows {
                Subflows::of(flows.iter().map(|flow| run.transport(flow.transport).headers()), run.trace_limit)
            } else {
                Subflows::default()
            },
            out,
        })
    }
}
