//! A constant-rate datagram source and its sink.

use qdisc::{Kind as PacketKind, Packet};
use units::{Direction, Time};

use crate::event::Kind;
use crate::net::{Mark, Net, Owner};
use crate::record::FlowRecord;

/// IPv4 and UDP header, bytes.
pub(crate) const HEADER: u32 = 28;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cbr {
    owner: Owner,
    out: usize,
    start: Time,
    gap: Time,
    len: u32,
    size_bytes: u64,
    packets: u64,
    sent: u64,
    delivered: u64,
    delivered_bytes: u64,
    lost: u64,
    first: Time,
    last: Time,
}

impl Cbr {
    /// A source of `size_bytes` payload in packets of `len` bytes on the wire, `gap` apart.
    pub(crate) fn start(owner: Owner, out: usize, size_bytes: u64, len: u32, gap: Time, net: &mut Net) -> Cbr {
        let mut source = Cbr {
            owner,
            out,
            start: net.now,
            gap,
            len,
            size_bytes,
            packets: size_bytes.div_ceil(u64::from(len - HEADER)),
            sent: 0,
            delivered: 0,
            delivered_bytes: 0,
            lost: 0,
            first: Time::NEVER,
            last: Time::NEVER,
        };
        source.send(net);
        source
    }

    /// Sends one packet and schedules the next, without drift.
    pub(crate) fn send(&mut self, net: &mut Net) {
        let payload = u64::from(self.len - HEADER);
        let mut packet = self.owner.packet(Direction::Forward, PacketKind::Udp, Mark::Plain, self.sent as u32);
        packet.remaining = self.size_bytes - self.sent * payload;
        packet.len = HEADER + payload.min(packet.remaining) as u32;
        net.send(self.out, packet);
        self.sent += 1;
        if self.sent < self.packets {
            net.events.schedule(self.start + Time(self.gap.0 * self.sent), Kind::Udp, self.owner.slot);
        }
    }

    pub(crate) fn on_delivery(&mut self, packet: &Packet, now: Time) {
        self.first = self.first.min(now);
        self.last = now;
        self.delivered += 1;
        self.delivered_bytes += u64::from(packet.len - HEADER);
    }

    pub(crate) fn on_loss(&mut self) {
        self.lost += 1;
    }

    /// Every packet was delivered or lost.
    pub(crate) fn is_over(&self) -> bool {
        self.delivered + self.lost == self.packets
    }

    pub(crate) fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// Fills in all of `record` but the drops.
    pub(crate) fn report(&self, record: &mut FlowRecord) {
        record.finish = if self.is_over() { self.last } else { Time::NEVER };
        record.first_data = self.first;
        record.first_sent = self.start;
        record.last_data = record.finish;
        record.delivered_bytes = self.delivered_bytes;
        record.packets_sent = self.sent;
    }
}
