//! What the captured link did to its packets, so that a replay can leave it out.
//!
//! A capture of a congested link holds its queue: round-trip times with waiting in them, trains stretched to what the link
//! had left, answers that seem thought about while they queued. Replayed as they stand, these would be met a second time.
//! The path without queue is the least round-trip time that any packet to an address took (RFC 5481, 6.2). A queue is
//! shared where packets that begin a connection wait as others do while the link is full: then what packets to one address
//! wait says what those to another do, and an address that was never met without queue gets its path from there. A train is
//! slow because of the link where the link was busy meanwhile, or lost packets of it.
//!
//! What does not depend on the rates is found once.

mod carried;
mod queue;
mod shared;

use capture::{Connection, Volume};

pub(crate) use crate::link::carried::{BUSY, FULL, Load};
use crate::link::carried::{Carried, NEAR_S};
pub(crate) use crate::link::queue::Queue;
use crate::link::queue::window_of;
use crate::link::shared::{Met, SHORTEST_S, Side};
use crate::numbers::{mean_median, seconds};
use crate::rates::Rates;
use hosts::Ends;

/// A queue is shared where the median handshake on a full link waits for so many packets: where flows have queues of their
/// own, the first packet of a new one passes behind one.
const SHARED_PACKETS: f64 = 5.0;
/// In so short a time a link that was ever full shows its rate, s.
const BURST_S: f64 = 0.02;
/// Bits of a datagram of a handshake of QUIC, which are padded to 1200 bytes (RFC 9000, 14.1).
const INITIAL_BITS: f64 = 8.0 * 1228.0;
/// Bits of a full packet.
pub(crate) const PACKET_BITS: f64 = 8.0 * 1500.0;

/// What the capture tells of its link, whatever its rates.
#[derive(Clone, Debug)]
pub(crate) struct Tap {
    /// Least round-trip time between the tap and each address.
    bases_s: Vec<Option<f64>>,
    /// The addresses, near and far, whose least time comes from a handshake of QUIC.
    by_datagrams: [Vec<u32>; 2],
    /// Down and up.
    carried: [Carried; 2],
    peak_bps: [f64; 2],
    burst_bps: [f64; 2],
    /// Of each connection of TCP or QUIC: what its first packet waited, and what the link carried down and up about that time.
    shakes: Vec<(f64, [Load; 2])>,
    /// Near and far.
    sides: [Side; 2],
    /// Their queues where each flow has a queue of its own.
    own_queues: [Queue; 2],
}

/// The link at some rates.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// Of each address, without the queue that all share.
    pub(crate) bases_s: Vec<Option<f64>>,
    /// Near and far.
    pub(crate) queues: [Queue; 2],
    /// Down and up; where the capture carries more in a second, the link had more.
    pub(crate) rates_bps: [f64; 2],
    /// Down and up: most that the captured link carried in a second.
    pub(crate) peak_bps: [f64; 2],
}

impl Tap {
    /// Of the volumes of a capture; `near` tells of each address whether it is on the near side.
    pub(crate) fn of(connections: &[Connection], volumes: &[Volume], ends: &Ends, near: &[bool]) -> Tap {
        let (bases_s, by_quic) = least_round_trips(connections, ends);
        let by_datagrams = [true, false].map(|side| {
            let own = (0..).zip(by_quic.iter().zip(near));
            own.filter(|&(_, (&by_quic, &near))| by_quic && near == side).map(|(address, _)| address).collect()
        });
        let is_near = |volume: &Volume| near[ends.sender(volume.connection as usize, volume.from_opener) as usize];
        let carried = [false, true].map(|up| Carried::of(volumes.iter().filter(|one| is_near(one) == up)));
        let met = |volume: &Volume| {
            let address = ends.sender(volume.connection as usize, volume.from_opener);
            bases_s[address as usize]?;
            Some(Met { at_s: seconds(volume.start_ns), taken_s: seconds(volume.rtt_ns?), address })
        };
        let sides = [true, false].map(|side| {
            let own: Vec<Met> = volumes.iter().filter(|one| is_near(one) == side).filter_map(met).collect();
            Side::of(own, &bases_s, &carried)
        });
        let shakes = (0..)
            .zip(connections)
            .filter(|(_, one)| one.has_trains())
            .filter_map(|(row, one): (usize, _)| {
                let base_s = bases_s[ends.responder[row] as usize]?;
                let waited_s = seconds(one.handshake?.to_responder_ns) - base_s;
                let start_s = seconds(one.start_ns);
                Some((waited_s, [0, 1].map(|way: usize| carried[way].between(start_s - NEAR_S, start_s + NEAR_S))))
            })
            .collect();
        let own_queues = [0, 1].map(|side: usize| sides[side].queue(&bases_s, false));
        let peak_bps = [0, 1].map(|way: usize| carried[way].peak_bps(1.0));
        let burst_bps = [0, 1].map(|way: usize| carried[way].peak_bps(BURST_S));
        Tap { peak_bps, burst_bps, bases_s, by_datagrams, carried, shakes, sides, own_queues }
    }

    /// Most that each direction carried in a second.
    pub(crate) fn peak_bps(&self) -> Rates {
        Rates { down: self.peak_bps[0], up: self.peak_bps[1] }
    }

    /// What one direction carried from one time to another.
    pub(crate) fn between(&self, up: bool, start_s: f64, end_s: f64) -> Load {
        self.carried[usize::from(up)].between(start_s, end_s)
    }

    /// Window of the queues that an instant is in.
    pub(crate) fn window(at_s: f64) -> i64 {
        window_of(at_s)
    }

    /// The link at some rates.
    pub(crate) fn link(&self, rates: Rates) -> Link {
        let rates_bps = [rates.down.max(self.peak_bps[0]), rates.up.max(self.peak_bps[1])];
        let peak_bps = self.peak_bps;
        let waited = self.waited_packets(rates_bps);
        let mut bases_s = self.bases_s.clone();
        self.without_datagrams(&mut bases_s, rates_bps);
        if waited <= SHARED_PACKETS {
            return Link { bases_s, queues: self.own_queues.clone(), rates_bps, peak_bps };
        }
        for side in &self.sides {
            side.without_shared_queue(&mut bases_s, rates_bps);
        }
        let queues = [0, 1].map(|side: usize| self.sides[side].queue(&bases_s, true));
        Link { bases_s, queues, rates_bps, peak_bps }
    }

    /// Takes out of the paths what the link takes to send the datagrams of handshakes of QUIC: those of TCP are next to nothing,
    /// and a replay sends its own.
    fn without_datagrams(&self, bases_s: &mut [Option<f64>], rates_bps: [f64; 2]) {
        let fastest_bps = [0, 1].map(|way: usize| rates_bps[way].max(self.burst_bps[way]));
        let sent_s: f64 = fastest_bps.iter().filter(|&&bps| bps > 0.0).map(|bps| INITIAL_BITS / bps).sum();
        let is_beyond = |side: &[u32]| {
            let mut paths_s = side.iter().filter_map(|&address| bases_s[address as usize]).peekable();
            paths_s.peek().is_some() && paths_s.all(|path_s| path_s > sent_s)
        };
        // The link is between the tap and hosts that are all as far away as that: far ones where both are.
        let [near, far] = [0, 1].map(|side: usize| is_beyond(&self.by_datagrams[side]));
        let side = usize::from(far || !near);
        if !near && !far {
            return;
        }
        for &address in &self.by_datagrams[side] {
            if let Some(base_s) = &mut bases_s[address as usize] {
                *base_s = (*base_s - sent_s).max(SHORTEST_S);
            }
        }
    }

    /// Packets that the median connection waits for that begins while the link is full.
    fn waited_packets(&self, rates_bps: [f64; 2]) -> f64 {
        let longest = |way: usize| {
            let full = self.shakes.iter().filter(|(_, loads)| loads[way].is_at_least(FULL, rates_bps[way]));
            let waited_s = mean_median(&mut full.map(|&(waited_s, _)| waited_s).collect::<Vec<_>>());
            waited_s.map_or(0.0, |waited_s| waited_s * rates_bps[way] / PACKET_BITS)
        };
        longest(0).max(longest(1))
    }
}

impl Link {
    /// What packets to one side of the tap waited, there and back, in a window; 0 where nothing tells, s.
    pub(crate) fn queue_at(&self, window: i64, near: bool) -> f64 {
        self.queues[usize::from(!near)].at(window)
    }
}

/// Least round-trip time between the tap and each address that any connection shows: one of TCP or QUIC, an echo of ICMP, or
/// a request of STUN; and whether a handshake of QUIC shows it.
fn least_round_trips(connections: &[Connection], ends: &Ends) -> (Vec<Option<f64>>, Vec<bool>) {
    let mut bases_s: Vec<Option<f64>> = vec![None; ends.addresses.len()];
    let mut by_quic = vec![false; ends.addresses.len()];
    for (row, one) in connections.iter().enumerate() {
        let handshake = one.handshake;
        let told = [
            (ends.opener[row], handshake.map(|times| times.to_opener_ns), one.from_responder.data_ack.least_ns()),
            (ends.responder[row], handshake.map(|times| times.to_responder_ns), one.from_opener.data_ack.least_ns()),
        ];
        for (address, shaken_ns, acked_ns) in told {
            let Some(least_ns) = shaken_ns.into_iter().chain(acked_ns).min().filter(|&ns| ns >= 0) else { continue };
            let base_s = &mut bases_s[address as usize];
            let least_s = seconds(least_ns);
            if base_s.is_none_or(|known_s| least_s < known_s) {
                *base_s = Some(least_s);
                by_quic[address as usize] = one.quic.is() && Some(least_ns) == shaken_ns;
            }
        }
    }
    (bases_s, by_quic)
}
