//! Where the hosts are: the access pipes of each, and of each flow the pipes its packets enter and leave by.
//!
//! A router with one link and no flow between its own hosts needs no event when a packet arrives: from an access pipe
//! it goes into the only port there is, and behind the port into a pipe that nothing else feeds. Both routers of a
//! dumbbell are of that kind.

use std::collections::VecDeque;

use units::Time;

use crate::error::ConfigError;
use crate::flow::FlowSpec;
use crate::graph::{Graph, Hosts, Routes};
use crate::wire::net::{AIR, Net};
use crate::wire::pipe::{End, Lane, Pipe};

/// How the packets of one flow enter and leave the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// Address of the host that sends the data, and of the one that receives it.
    pub(crate) src: u32,
    pub(crate) dst: u32,
    /// Access pipe of either.
    pub(crate) out: usize,
    pub(crate) back: usize,
    /// Pipes to the receiver and to the sender of the data.
    pub(crate) exits: [u32; 2],
    /// Pipes of this flow only, given back at its end.
    pub(crate) private: Option<Private>,
}

/// A pair of pipes, from and to a host, made for one flow at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Private {
    out: usize,
    back: usize,
    group: usize,
}

/// What kind of network the hosts are in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// Whether flows number the hosts of the two groups apart, as in a dumbbell.
    pub(crate) apart: bool,
    /// Whether the second group are the stations of a wireless cell.
    pub(crate) cell: bool,
    /// Whether the two sides of a dumbbell are alike ([`crate::Network::symmetric`]).
    pub(crate) symmetric: bool,
    /// Whether no link lets a packet overtake those before it.
    pub(crate) ordered: bool,
}

#[derive(Debug)]
pub(crate) struct HostPaths {
    groups: Vec<Hosts>,
    /// First host of each group.
    firsts: Vec<u32>,
    form: Form,
    /// Lane from the hosts of each group to their router; the next is the one to them.
    lanes: Vec<usize>,
    /// The only port of each router that is a leaf.
    leaves: Vec<Option<usize>>,
    /// Router of each host; empty for a dumbbell, where all routers are leaves and nobody asks.
    routers: Vec<u32>,
    routes: Routes,
    /// Private pipes of each group whose flow has ended, oldest first.
    retired: Vec<VecDeque<Private>>,
}

impl HostPaths {
    /// Lays an access link for every host, and finds the paths between those of `flows`.
    ///
    /// # Errors
    /// A flow whose hosts no path joins.
    ///
    /// In a cell the hosts of the second group are stations, which have no access links.
    pub(crate) fn of(graph: &Graph, form: Form, flows: &[FlowSpec], net: &mut Net) -> Result<HostPaths, ConfigError> {
        let groups = graph.hosts.clone();
        let first = |index: usize| groups[..index].iter().map(|group: &Hosts| group.count).sum();
        let firsts = (0..groups.len()).map(first).collect();
        let retired = vec![VecDeque::new(); groups.len()];
        let routes = Routes::to(std::iter::empty(), graph);
        let leaves = leaves(graph);
        let mut places =
            HostPaths { groups, firsts, form, lanes: Vec::new(), leaves, routers: Vec::new(), routes, retired };
        places.find_paths(graph, flows)?;
        for group in &places.groups {
            let leaf = places.leaves[group.at as usize].map_or(End::Router(group.at), End::Port);
            let end = if form.cell { End::Cell } else { leaf };
            let lane = net.lanes.len();
            net.lanes.extend([Lane::to(end), Lane::to(End::Host)]);
            for _ in 0..group.count {
                net.pipes.push(Pipe::into(lane, group.up, group.delay));
                net.pipes.push(Pipe::into(lane + 1, group.down, group.delay));
            }
            places.lanes.push(lane);
        }
        if !form.apart {
            places.routers = places.groups.iter().flat_map(|group| vec![group.at; group.count as usize]).collect();
        }
        Ok(places)
    }

    /// Fills in the routes; a router with a flow between its own hosts is no leaf.
    fn find_paths(&mut self, graph: &Graph, flows: &[FlowSpec]) -> Result<(), ConfigError> {
        let mut used = vec![self.form.apart; self.groups.len()];
        let mut joins = Vec::new();
        for (index, flow) in flows.iter().enumerate().filter(|_| !self.form.apart) {
            let (src, dst) = (self.group(flow.src), self.group(flow.dst));
            (used[src], used[dst]) = (true, true);
            let routers = (self.groups[src].at, self.groups[dst].at);
            if joins.last().is_none_or(|&(_, last)| last != routers) {
                joins.push((index, routers));
            }
        }
        let ends = self.groups.iter().zip(used).filter(|(_, used)| *used).map(|(group, _)| group.at);
        self.routes = Routes::to(ends, graph);
        for (index, (from, to)) in joins {
            if from == to {
                self.leaves[from as usize] = None;
            } else if self.routes.next(from, to).is_none() {
                return Err(ConfigError::Flow(index, "no path between its hosts"));
            }
        }
        Ok(())
    }

    /// Group of host `host`.
    fn group(&self, host: u32) -> usize {
        // Among equal firsts of empty groups the last one has the host.
        self.firsts.partition_point(|&first| first <= host) - 1
    }

    /// Whether everything that reaches `router` from its link leaves by an exit pipe that nothing else feeds.
    pub(crate) fn is_leaf(&self, router: u32) -> bool {
        self.leaves[router as usize].is_some()
    }

    /// The port by which router `at` passes on a packet to host `host`; none when the host is its own.
    #[inline]
    pub(crate) fn onward(&self, at: u32, host: u32) -> Option<usize> {
        self.routes.next(at, self.routers[host as usize])
    }

    /// Pipes of flow `spec`, which starts now.
    pub(crate) fn path(&mut self, spec: &FlowSpec, net: &mut Net) -> Path {
        let (near, far) = if spec.up { (spec.dst, spec.src) } else { (spec.src, spec.dst) };
        // Hosts of the two sides are numbered apart; a discipline must not take one for the other.
        let addresses = match self.form {
            Form { apart: true, symmetric: false, .. } => (2 * near, 2 * far + 1),
            // One numbering of all hosts: none has two numbers.
            _ => (near, far),
        };
        let far = if self.form.apart { self.firsts[1] + far } else { far };
        let at_far_end = self.form.symmetric && spec.up;
        let (own, other) = if at_far_end { (far, near) } else { (near, far) };
        let private = spec.rtt.map(|rtt| self.private_pipes(own, other, rtt, net));
        let shared = |host: u32| (2 * host as usize, 2 * host as usize + 1);
        let pipes = |host: u32, own: bool| match private {
            Some(pipes) if own => (pipes.out, pipes.back),
            _ => shared(host),
        };
        let near = pipes(near, !at_far_end);
        let far = if self.form.cell { (AIR, AIR) } else { pipes(far, at_far_end) };
        let ends = [(addresses.0, near), (addresses.1, far)];
        let [(src, sender), (dst, receiver)] = if spec.up { [ends[1], ends[0]] } else { ends };
        let exits = [receiver.1 as u32, sender.1 as u32];
        Path { src, dst, out: sender.0, back: receiver.0, exits, private }
    }

    /// Pipes of a flow that brings its own round-trip time: what the shared part of the path lacks is
    /// added at host `near`. Where the shared part is longer already, its delay stays.
    fn private_pipes(&mut self, near: u32, far: u32, rtt: Time, net: &mut Net) -> Private {
        let group = self.group(near);
        let (here, there) = (self.groups[group], self.groups[self.group(far)]);
        // Paths were found when the run was set up.
        let ways = [(here.at, there.at), (there.at, here.at)].map(|(at, to)| self.routes.delay(at, to));
        let shared = ways.iter().flatten().fold(there.delay + there.delay, |sum, &way| sum + way);
        let delay = Time(rtt.saturating_sub(shared).0 / 2);
        if let Some(&private) = self.retired[group].front()
            && [private.out, private.back].iter().all(|&pipe| net.is_idle(pipe))
        {
            self.retired[group].pop_front();
            net.pipes[private.out].reuse(delay);
            net.pipes[private.back].reuse(delay);
            return private;
        }
        let (out, lane) = (net.pipes.len(), self.lanes[group]);
        if self.form.ordered {
            net.pipes.push(Pipe::beside_lane(lane, here.up, delay));
            net.pipes.push(Pipe::beside_lane(lane + 1, here.down, delay));
        } else {
            // What comes late and what is in order may meet: a lane says which is first.
            let own = net.lanes.len();
            net.lanes.extend([Lane::to(net.lanes[lane].end), Lane::to(End::Host)]);
            net.pipes.push(Pipe::into(own, here.up, delay));
            net.pipes.push(Pipe::into(own + 1, here.down, delay));
        }
        Private { out, back: out + 1, group }
    }

    /// Takes back the pipes of a flow that is over.
    pub(crate) fn retire(&mut self, private: Private) {
        self.retired[private.group].push_back(private);
    }
}

/// The port of each router that has only one.
fn leaves(graph: &Graph) -> Vec<Option<usize>> {
    let mut ports = vec![(0, 0); graph.routers as usize];
    for (index, (from, _, _)) in graph.interfaces().enumerate() {
        let (count, port) = &mut ports[from as usize];
        (*count, *port) = (*count + 1, index);
    }
    ports.into_iter().map(|(count, port)| (count == 1).then_some(port)).collect()
}
