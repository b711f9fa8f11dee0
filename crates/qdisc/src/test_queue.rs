//! Packets and queues for the unit tests of the disciplines.

use units::{FlowKey, Stream, Time};

use crate::{Ecn, Kind, Limit, Packet, Qdisc};

/// A full UDP packet of `flow`.
pub(crate) fn packet(flow: u64, handle: u64) -> Packet {
    Packet {
        flow: FlowKey(flow),
        handle,
        progress: 0,
        remaining: 0,
        arrival: Time::ZERO,
        len: 1500,
        src: (flow >> 1) as u32,
        dst: 0,
        options: 0,
        mark: 0,
        kind: Kind::Udp,
        ecn: Ecn::NotEct,
    }
}

/// A queue with discipline `id` and options written `name=value`.
pub(crate) fn queue(id: &str, options: &[&str], limit: Limit) -> Qdisc {
    let options: Vec<(String, String)> = options
        .iter()
        .filter_map(|option| option.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    Qdisc::from_options(id, &options, limit, Stream::named(1, "trial")).expect("valid options")
}

/// Queues one full packet per entry of `flows` at `now`, handles counted from `first`.
pub(crate) fn arrive(qdisc: &mut Qdisc, flows: &[u64], first: u64, now: Time) {
    for (handle, &flow) in (first..).zip(flows) {
        qdisc.enqueue(packet(flow, handle), now);
    }
}

/// Handles in the order of service at `now`.
pub(crate) fn drain(qdisc: &mut Qdisc, now: Time) -> Vec<u64> {
    std::iter::from_fn(|| qdisc.dequeue(now)).map(|packet| packet.handle).collect()
}

/// Handles of the packets the last call dropped.
pub(crate) fn dropped(qdisc: &Qdisc) -> Vec<u64> {
    qdisc.dropped().iter().map(|(packet, _)| packet.handle).collect()
}
