//! Routers joined by links, hosts on access links, and the path of each packet: static shortest paths.
//!
//! Principle: Dijkstra once per router that a flow ends at (E log V), then one load per packet and router. The
//! shortest path has the least propagation delay; of equal ones the one of fewer links, then at each router the link
//! listed first. Delay and number of links fall together along a path, so no packet goes in circles.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use qdisc::Limit;
use units::{BitRate, Time};

use crate::error::ConfigError;
use crate::flow::FlowSpec;
use crate::link_trace::LinkTrace;
use crate::network::Network;

/// One direction of a link: a queue with a discipline in front of it.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Speed.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Time,
    /// Buffer limit of the queue.
    pub limit: Limit,
    /// Discipline of the queue and its options.
    pub discipline: (String, Vec<(String, String)>),
    /// Probability that a packet with data is lost after the queue.
    pub loss: f64,
    /// Rate and added delay over time, in place of the rate, which then is what loads are measured by.
    pub trace: Option<Arc<LinkTrace>>,
}

/// A link between two routers. Link `n` has the interfaces `2 n` (forward) and `2 n + 1` (reverse).
#[derive(Clone, Debug)]
pub struct Link {
    /// Router at one end.
    pub from: u32,
    /// Router at the other end.
    pub to: u32,
    /// From `from` to `to`.
    pub forward: Interface,
    /// From `to` to `from`.
    pub reverse: Interface,
}

/// Hosts on equal access links of one router. Access links are FIFO and never full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// Router.
    pub at: u32,
    /// How many.
    pub count: u32,
    /// Speed of each access link from its host.
    pub up: BitRate,
    /// Speed of each access link to its host.
    pub down: BitRate,
    /// Propagation delay of each access link, one way.
    pub delay: Time,
}

/// A network. The hosts of all groups are numbered in order, from 0.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Number of routers.
    pub routers: u32,
    /// Links.
    pub links: Vec<Link>,
    /// Groups of hosts.
    pub hosts: Vec<Hosts>,
    /// Link whose forward interface is the one of interest: samples, classes and totals are taken there.
    pub watched: u32,
}

const MOST_ROUTERS: u32 = 10_000;
const MOST_LINKS: usize = 100_000;
const MOST_HOSTS: u64 = 1 << 24;

impl Graph {
    /// Two routers, one link, the hosts of each side as many as `flows` name.
    pub(crate) fn dumbbell(network: &Network, flows: &[FlowSpec]) -> Graph {
        let side = |flow: &FlowSpec, left: bool| if flow.up == left { flow.dst } else { flow.src };
        let count = |left| flows.iter().map(|flow| side(flow, left) + 1).max().unwrap_or(0);
        let exit_rate = network.exit_rate.unwrap_or(network.access_rate);
        let forward = Interface {
            rate: network.rate,
            delay: network.delay,
            limit: network.limit,
            discipline: network.discipline.clone(),
            loss: network.loss,
            trace: network.traces[0].clone(),
        };
        let reverse = Interface {
            rate: network.reverse_rate.unwrap_or(network.rate),
            delay: network.reverse_delay.unwrap_or(network.delay),
            limit: network.reverse_limit,
            discipline: network.reverse_discipline.clone(),
            trace: network.traces[1].clone(),
            ..forward.clone()
        };
        let (access, left, right) = (network.access_rate, count(true), count(false));
        let senders = Hosts { at: 0, count: left, up: access, down: access, delay: network.access_delay };
        let up = network.exit_rate_up.unwrap_or(exit_rate);
        let receivers = Hosts { at: 1, count: right, up, down: exit_rate, delay: network.exit_delay };
        let links = vec![Link { from: 0, to: 1, forward, reverse }];
        Graph { routers: 2, links, hosts: vec![senders, receivers], watched: 0 }
    }

    /// The dumbbell around the medium of a cell: it has no delay, and stations are their own ends.
    pub(crate) fn cell(network: &Network, flows: &[FlowSpec]) -> Graph {
        let network = Network { delay: Time::ZERO, reverse_delay: None, exit_delay: Time::ZERO, ..network.clone() };
        let mut graph = Graph::dumbbell(&network, flows);
        graph.hosts[1].count = 0;
        graph
    }

    /// All interfaces in order, each with the router it is at and the one it leads to.
    pub(crate) fn interfaces(&self) -> impl Iterator<Item = (u32, u32, &Interface)> {
        self.links.iter().flat_map(|link| [(link.from, link.to, &link.forward), (link.to, link.from, &link.reverse)])
    }

    /// As [`crate::alone`] needs it: FIFO everywhere, no losses, and constant rates.
    pub(crate) fn quiet(mut self) -> Graph {
        for interface in self.links.iter_mut().flat_map(|link| [&mut link.forward, &mut link.reverse]) {
            (interface.discipline, interface.loss, interface.trace) = (("fifo".to_owned(), Vec::new()), 0.0, None);
        }
        self
    }

    /// # Errors
    /// The first value out of its bounds, or a flow between hosts there are not.
    pub(crate) fn check(&self, flows: &[FlowSpec]) -> Result<(), ConfigError> {
        let refused = |value: String, bound: &str| Err(ConfigError::Graph(format!("{value}: must be {bound}")));
        if !(1..=MOST_ROUTERS).contains(&self.routers) {
            return refused(format!("routers = {}", self.routers), "from 1 to 10000");
        }
        if self.links.len() > MOST_LINKS || self.watched as usize >= self.links.len() {
            return refused(format!("watched = {} of {} links", self.watched, self.links.len()), "one of 1 to 100000");
        }
        for (index, (from, to, interface)) in self.interfaces().enumerate() {
            let name = format!("link {}, from router {from} to {to}", index / 2);
            if from == to || from.max(to) >= self.routers {
                return refused(name, &format!("between two of the {} routers", self.routers));
            }
            check_rate(&name, interface.rate)?;
            check_delay(&name, interface.delay)?;
            if !(0.0..1.0).contains(&interface.loss) {
                return refused(format!("{name}: loss = {}", interface.loss), "at least 0 and below 1");
            }
            interface.trace.as_ref().map_or(Ok(()), |trace| trace.check(&name))?;
        }
        for (index, group) in self.hosts.iter().enumerate() {
            let name = format!("hosts {index} at router {}", group.at);
            if group.at >= self.routers {
                return refused(name, &format!("at one of the {} routers", self.routers));
            }
            check_rate(&name, group.up)?;
            check_rate(&name, group.down)?;
            check_delay(&name, group.delay)?;
        }
        let count: u64 = self.hosts.iter().map(|group| u64::from(group.count)).sum();
        if count > MOST_HOSTS {
            return refused(format!("{count} hosts"), "at most 16777216");
        }
        for (index, flow) in flows.iter().enumerate() {
            if u64::from(flow.src.max(flow.dst)) >= count {
                return Err(ConfigError::Flow(index, "host the network does not have"));
            }
            if flow.src == flow.dst {
                return Err(ConfigError::Flow(index, "sends to itself"));
            }
        }
        Ok(())
    }
}

fn check_rate(name: &str, rate: BitRate) -> Result<(), ConfigError> {
    if (1000..=400_000_000_000).contains(&rate.bps()) {
        return Ok(());
    }
    let bps = rate.bps();
    Err(ConfigError::Graph(format!("{name}: rate_bps = {bps}: must be from 1 kbit/s to 400 Gbit/s")))
}

fn check_delay(name: &str, delay: Time) -> Result<(), ConfigError> {
    if delay.0 <= 60_000_000_000 {
        return Ok(());
    }
    Err(ConfigError::Graph(format!("{name}: delay_ns = {}: must be at most 60 s", delay.0)))
}

/// The interface that leads on, per router and destination.
#[derive(Debug)]
pub(crate) struct Routes {
    /// By destination, then router; empty where no flow ends.
    next: Vec<Vec<u32>>,
    /// Router each interface leads to, and its delay.
    heads: Vec<(u32, Time)>,
}

impl Routes {
    /// Paths from everywhere to each router of `ends`.
    pub(crate) fn to(ends: impl Iterator<Item = u32>, graph: &Graph) -> Routes {
        let mut into = vec![Vec::new(); graph.routers as usize];
        for (index, (from, to, interface)) in graph.interfaces().enumerate() {
            into[to as usize].push((from, index as u32, interface.delay.0));
        }
        let heads = graph.interfaces().map(|(_, to, interface)| (to, interface.delay)).collect();
        let mut routes = Routes { next: vec![Vec::new(); graph.routers as usize], heads };
        for end in ends {
            if routes.next[end as usize].is_empty() {
                routes.next[end as usize] = tree(end, &into);
            }
        }
        routes
    }

    /// The interface of router `at` on the way to router `to`; none when there is no path.
    #[inline]
    pub(crate) fn next(&self, at: u32, to: u32) -> Option<usize> {
        let index = self.next[to as usize][at as usize];
        (index != u32::MAX).then_some(index as usize)
    }

    /// Propagation delay of the path between two routers; none when there is none.
    pub(crate) fn delay(&self, mut at: u32, to: u32) -> Option<Time> {
        let mut sum = Time::ZERO;
        while at != to {
            let (head, delay) = self.heads[self.next(at, to)?];
            (at, sum) = (head, sum + delay);
        }
        Some(sum)
    }
}

/// Interface of each router on its shortest path to `end`; `into` lists what leads into a router: the router it comes
/// from, its index and delay.
fn tree(end: u32, into: &[Vec<(u32, u32, u64)>]) -> Vec<u32> {
    let (mut next, mut length) = (vec![u32::MAX; into.len()], vec![(u64::MAX, u32::MAX); into.len()]);
    length[end as usize] = (0, 0);
    let mut reached = BinaryHeap::from([Reverse(((0, 0), end))]);
    while let Some(Reverse((so_far, router))) = reached.pop() {
        if so_far > length[router as usize] {
            continue;
        }
        for &(from, index, delay) in &into[router as usize] {
            let longer = (so_far.0 + delay, so_far.1 + 1);
            let known = &mut length[from as usize];
            if longer < *known {
                *known = longer;
                next[from as usize] = index;
                reached.push(Reverse((longer, from)));
            } else if longer == *known {
                next[from as usize] = next[from as usize].min(index);
            }
        }
    }
    next
}
