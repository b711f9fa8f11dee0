//! The fluid engine: transfers as jobs of a queue, in the scenario of the packet engine.
//!
//! Principle: each direction of the link is a server of its rate, a transfer a job of its bytes on the wire: payload, the
//! header of every packet, and [`CONTROL_PACKETS`] of a header only. The server is exact, event by event (crate `jobs`):
//! processor sharing by virtual time, least attained service by groups of equal age, O(log n) with n jobs present; `lfq`
//! O(n). What a transfer takes on its path beyond its bytes (handshake, round trips, slow start, tear-down) is that of a
//! transfer alone there, and is added. There are no losses, no windows and no buffers.

use std::collections::HashMap;

use jobs::{Finished, Lagged, Passage, Server};
use netsim::{ConfigError, Feed, FlowSpec, Run};
use units::{ENDLESS_BYTES, Time};

use crate::streamed::{StreamFigures, Streamed};

/// Packets of a header only of a transfer, both ways of the handshake and of the tear-down; as `Link` of
/// `mayfly.models.queue.flow_records`.
const CONTROL_PACKETS: u64 = 4;
/// Segments of the transfer that is alone; what it takes beyond its bytes is the same for larger ones.
const ALONE_SEGMENTS: u64 = 10_000;

/// Who is served.
#[derive(Debug)]
pub enum Service {
    /// Levels of priority.
    Levels(Box<Server>),
    /// Users, which are pairs of hosts or single flows, and their flows.
    Lagged {
        /// The server.
        server: Box<Lagged>,
        /// Whether a pair of hosts is a user, in place of each flow.
        of_pairs: bool,
    },
}

/// One direction of the link.
struct Way {
    service: Service,
    byte_ns: f64,
    /// Payload of the jobs that are there, by their number.
    sizes: HashMap<u64, u64>,
    offered: u64,
    users: HashMap<(u32, u32), u32>,
}

impl Way {
    fn serve_until(&mut self, at: f64, left: &mut Vec<Finished>) {
        let mut leave = |job| left.push(job);
        match &mut self.service {
            Service::Levels(server) => server.serve_until(at, &mut leave),
            Service::Lagged { server, .. } => server.serve_until(at, &mut leave, &mut |_: Passage| ()),
        }
    }

    fn arrive(&mut self, at: f64, work: f64, flow: &FlowSpec, left: &mut Vec<Finished>) {
        let mut leave = |job| left.push(job);
        match &mut self.service {
            Service::Levels(server) => server.arrive(at, work, 1.0, &mut leave),
            Service::Lagged { server, of_pairs } => {
                let next = self.users.len() as u32;
                let user = of_pairs.then(|| *self.users.entry((flow.src, flow.dst)).or_insert(next));
                server.arrive(at, work, user, &mut leave, &mut |_: Passage| ());
            }
        }
        self.sizes.insert(self.offered, flow.size_bytes);
        self.offered += 1;
    }
}

/// What a transfer takes alone beyond its bytes, by segments.
struct Path {
    /// Of 1, 2, ... segments, ns.
    extra_ns: Vec<f64>,
}

impl Path {
    /// # Errors
    /// As of [`netsim::alone`].
    fn of(run: &Run, up: bool, wire_bytes: impl Fn(u64) -> u64, byte_ns: f64) -> Result<Path, ConfigError> {
        let mss = u64::from(run.tcp.mss);
        let flow = FlowSpec { size_bytes: ALONE_SEGMENTS * mss, up, ..FlowSpec::default() };
        let found = netsim::alone(run, &flow)?;
        let Some(&last) = found.arrivals.last() else { return Ok(Path { extra_ns: Vec::new() }) };
        let end = if found.finish == Time::NEVER { 0.0 } else { (found.finish.0 - last.0) as f64 };
        let of = |(n, at): (usize, &Time)| at.0 as f64 + end - wire_bytes((n as u64 + 1) * mss) as f64 * byte_ns;
        let extra_ns = found.arrivals.iter().take(ALONE_SEGMENTS as usize).enumerate().map(of);
        Ok(Path { extra_ns: extra_ns.map(|extra| extra.max(0.0)).collect() })
    }

    fn extra_ns(&self, segments: u64) -> f64 {
        let at = (segments.max(1) - 1).min(self.extra_ns.len().max(1) as u64 - 1);
        self.extra_ns.get(at as usize).copied().unwrap_or(0.0)
    }
}

/// Serves the transfers of `feed`, ascending by start, until the end of `run`; `services` are those of what goes down and
/// of what goes up; `with_path` adds what each takes alone on its path.
///
/// # Errors
/// A run that cannot be, a flow that is no plain transfer, or what the feed says.
pub fn fluid(
    run: &Run,
    services: [Service; 2],
    with_path: bool,
    feed: &mut dyn Feed,
    cancelled: &dyn Fn(Time) -> bool,
) -> Result<StreamFigures, ConfigError> {
    run.check(&[])?;
    let (mss, header) = (u64::from(run.tcp.mss), u64::from(run.tcp.headers()));
    let wire_bytes = |size: u64| size + (size.div_ceil(mss) + CONTROL_PACKETS) * header;
    let network = &run.network;
    let rates = [network.rate, network.reverse_rate.unwrap_or(network.rate)];
    let byte_ns = rates.map(|rate| 8e9 / rate.bps() as f64);
    let paths = match with_path {
        true => [Path::of(run, false, wire_bytes, byte_ns[0])?, Path::of(run, true, wire_bytes, byte_ns[1])?],
        false => [0, 1].map(|_| Path { extra_ns: Vec::new() }),
    };
    let mut number = 0;
    let mut ways = services.map(|service| {
        number += 1;
        let (sizes, users) = (HashMap::new(), HashMap::new());
        Way { service, byte_ns: byte_ns[number - 1], sizes, offered: 0, users }
    });
    let (mut told, mut left, mut before, mut flows) = (Streamed::new(run.tcp.mss), Vec::new(), Time::ZERO, 0_usize);
    let note = |way: &mut Way, path: &Path, left: &mut Vec<Finished>, told: &mut Streamed| {
        for job in left.drain(..) {
            let Some(size) = way.sizes.remove(&job.job) else { continue };
            let time = job.response_time * way.byte_ns + path.extra_ns(size.div_ceil(mss));
            told.add(size, Time(time.round() as u64));
        }
    };
    while let Some(flow) = feed.next_flow().map_err(ConfigError::Stream)?.filter(|flow| flow.start <= run.duration) {
        let reason = match () {
            () if flow.start < before => Some("starts before the one listed before it"),
            () if flow.udp.is_some() || flow.script.is_some() || flow.application > 0 || flow.after.is_some() => {
                Some("is no plain transfer: a stream must have none but these")
            }
            () if flow.size_bytes == 0 => Some("size of 0 bytes"),
            () => None,
        };
        if let Some(reason) = reason {
            return Err(ConfigError::Flow(flows, reason));
        }
        if flows.is_multiple_of(1 << 14) && cancelled(flow.start) {
            return Err(ConfigError::Cancelled);
        }
        (before, flows) = (flow.start, flows + 1);
        told.begin(flow.size_bytes);
        if flow.size_bytes >= ENDLESS_BYTES {
            return Err(ConfigError::Flow(flows - 1, "never ends: a fluid engine must have flows that do"));
        }
        let way = &mut ways[usize::from(flow.up)];
        let at = flow.start.0 as f64 / way.byte_ns;
        way.arrive(at, wire_bytes(flow.size_bytes) as f64, &flow, &mut left);
        note(way, &paths[usize::from(flow.up)], &mut left, &mut told);
    }
    for (way, path) in ways.iter_mut().zip(&paths) {
        way.serve_until(run.duration.0 as f64 / way.byte_ns, &mut left);
        note(way, path, &mut left, &mut told);
        way.sizes.values().for_each(|&size| told.unfinished(size));
    }
    Ok(told.figures())
}
