//! Datagram sources and their sink. A source sends bursts of equidistant packets: a single burst is a
//! constant rate, a burst per period an on/off or variable rate, a burst per packet a recorded trace.
//! What is random about them is drawn beforehand, so every discipline meets the same packets.

use std::ops::Range;

use qdisc::{Kind as PacketKind, Packet};
use units::{Direction, Time};

use crate::error::ConfigError;
use crate::event::Kind;
use crate::flow::FlowSpec;
use crate::out::probes::{Arrivals, Probe, ProbePacket};
use crate::out::records::FlowRecord;
use crate::wire::handle::{Handle, Mark, Owner};
use crate::wire::net::Net;

/// IPv4 and UDP header, bytes.
pub(crate) const HEADER: u32 = 28;

/// Packets of one length at one distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// First packet, since the start of the flow.
    pub at: Time,
    /// Time from one packet to the next.
    pub gap: Time,
    /// Number of packets.
    pub packets: u64,
    /// Wire length of each, bytes.
    pub len: u32,
}

impl Burst {
    fn payload(&self) -> u64 {
        self.packets * u64::from(self.len.saturating_sub(HEADER))
    }

    fn last(&self) -> Time {
        Time(self.at.0.saturating_add(self.gap.0.saturating_mul(self.packets.saturating_sub(1))))
    }
}

/// Bursts of the UDP flows that do not send at one constant rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bursts {
    /// Flow, by index in the list, and its part of `list`; by ascending flow.
    pub of: Vec<(u32, Range<usize>)>,
    /// Bursts of one flow after those of another, each by ascending time.
    pub list: Vec<Burst>,
}

impl Bursts {
    /// # Errors
    /// A flow that is no UDP flow or carries another volume, or bursts out of order.
    pub(crate) fn check(&self, flows: &[FlowSpec]) -> Result<(), ConfigError> {
        if let Some(pair) = self.of.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return Err(ConfigError::Flow(pair[1].0 as usize, "has its bursts out of order of the list"));
        }
        self.of.iter().try_for_each(|(flow, part)| self.check_flow(*flow as usize, part, flows))
    }

    fn check_flow(&self, index: usize, part: &Range<usize>, flows: &[FlowSpec]) -> Result<(), ConfigError> {
        let refuse = |reason| Err(ConfigError::Flow(index, reason));
        let (Some(flow), Some(bursts)) = (flows.get(index), self.list.get(part.clone())) else {
            return refuse("has bursts outside the list");
        };
        if flow.udp.is_none() || bursts.is_empty() {
            return refuse("has bursts and is no UDP flow, or has none");
        }
        let lengths = HEADER + 1..=65_535;
        if bursts.iter().any(|burst| !lengths.contains(&burst.len) || burst.packets == 0 || burst.packets >= 1 << 40) {
            return refuse("has a burst without packets, or with packets outside 29 to 65535 bytes");
        }
        if bursts.windows(2).any(|pair| pair[0].last() > pair[1].at) {
            return refuse("has a burst that begins before the end of the one before it");
        }
        if bursts.last().is_some_and(|burst| burst.last() > crate::flow::LONGEST) {
            return refuse("has a burst after 2 years");
        }
        if bursts.iter().map(Burst::payload).fold(0, u64::saturating_add) != flow.size_bytes {
            return refuse("has a size other than that of its bursts");
        }
        Ok(())
    }

    /// The bursts of flow `index` that has its own.
    pub(crate) fn part(&self, index: u32) -> Option<Range<usize>> {
        let row = self.of.binary_search_by_key(&index, |(flow, _)| *flow).ok()?;
        Some(self.of[row].1.clone())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Source {
    owner: Owner,
    out: usize,
    start: Time,
    burst: Burst,
    /// Packets of `burst` sent.
    of_burst: u64,
    /// Bursts to come.
    coming: Range<usize>,
    /// Payload to come, bytes.
    remaining: u64,
    packets: u64,
    sent: u64,
    delivered: u64,
    delivered_bytes: u64,
    lost: u64,
    first: Time,
    last: Time,
    log: Option<Box<Log>>,
    /// Arrival of each packet that was sent, where that is asked for.
    arrivals: Option<Vec<Time>>,
}

/// The packets of a probe, and the pipe from its receiver when that sends them back.
#[derive(Clone, Debug)]
struct Log {
    packets: Vec<ProbePacket>,
    echo: Option<usize>,
}

impl Source {
    /// A source of `size_bytes` payload: in one burst of packets of `len` bytes on the wire, `gap` apart, unless it
    /// has a `part` of `list`.
    pub(crate) fn start(
        (owner, out, back): (Owner, usize, usize),
        probe: Option<Probe>,
        size_bytes: u64,
        (len, gap): (u32, Time),
        (mut coming, list): (Range<usize>, &[Burst]),
        is_heard: bool,
        net: &mut Net,
    ) -> Source {
        let packets = size_bytes.div_ceil(u64::from(len - HEADER));
        let own: u64 = list[coming.clone()].iter().map(|burst| burst.packets).sum();
        let constant = Burst { at: Time::ZERO, gap, packets, len };
        let mut source = Source {
            owner,
            out,
            start: net.now,
            burst: coming.next().map_or(constant, |first| list[first]),
            of_burst: 0,
            coming,
            remaining: size_bytes,
            packets: if own > 0 { own } else { packets },
            sent: 0,
            delivered: 0,
            delivered_bytes: 0,
            lost: 0,
            first: Time::NEVER,
            last: Time::NEVER,
            log: probe.map(|probe| Box::new(Log { packets: Vec::new(), echo: probe.echo.then_some(back) })),
            arrivals: is_heard.then(Vec::new),
        };
        if source.burst.at == Time::ZERO {
            source.send(list, net)
        } else {
            source.schedule(net)
        }
        source
    }

    /// Sends one packet and schedules the next, without drift.
    pub(crate) fn send(&mut self, list: &[Burst], net: &mut Net) {
        let mut packet = self.owner.packet(Direction::Forward, PacketKind::Udp, Mark::Plain, self.sent as u32);
        packet.remaining = self.remaining;
        let payload = u64::from(self.burst.len - HEADER).min(self.remaining);
        packet.len = HEADER + payload as u32;
        if let Some(log) = &mut self.log {
            log.packets.push(ProbePacket {
                flow: self.owner.flow,
                number: self.sent as u32,
                sent: net.now,
                received: Time::NEVER,
                returned: Time::NEVER,
            });
        }
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.push(Time::NEVER);
        }
        net.send(self.out, packet);
        self.remaining -= payload;
        self.sent += 1;
        self.of_burst += 1;
        if self.of_burst == self.burst.packets {
            let Some(next) = self.coming.next() else { return };
            (self.burst, self.of_burst) = (list[next], 0);
        }
        self.schedule(net);
    }

    fn schedule(&self, net: &mut Net) {
        let at = self.start + self.burst.at + Time(self.burst.gap.0 * self.of_burst);
        net.events.schedule(at, Kind::Udp, self.owner.slot as usize);
    }

    pub(crate) fn on_delivery(&mut self, packet: &Packet, net: &mut Net) {
        let now = net.now;
        if let Some(log) = &mut self.log {
            let number = Handle::unpack(packet.handle).number;
            let row = &mut log.packets[number as usize];
            match (packet.flow.direction(), log.echo) {
                (Direction::Reverse, _) => row.returned = now,
                (Direction::Forward, None) => row.received = now,
                (Direction::Forward, Some(back)) => {
                    row.received = now;
                    let mut answer = self.owner.packet(Direction::Reverse, PacketKind::Udp, Mark::Plain, number);
                    (answer.len, answer.remaining) = (packet.len, packet.remaining);
                    return net.send(back, answer);
                }
            }
        }
        if let Some(arrivals) = &mut self.arrivals {
            arrivals[Handle::unpack(packet.handle).number as usize] = now;
        }
        self.first = self.first.min(now);
        self.last = now;
        self.delivered += 1;
        self.delivered_bytes += u64::from(packet.len - HEADER);
    }

    /// Delays of packet `number` of a probe, there and back; none unless it has come back.
    pub(crate) fn delays(&self, number: u32) -> Option<[Time; 2]> {
        let row = self.log.as_ref()?.packets.get(number as usize)?;
        (row.returned != Time::NEVER).then(|| [row.received - row.sent, row.returned - row.received])
    }

    pub(crate) fn on_loss(&mut self) {
        self.lost += 1;
    }

    /// Every packet was delivered or lost.
    pub(crate) fn is_over(&self) -> bool {
        self.delivered + self.lost == self.packets
    }

    /// Takes the packets of a probe; none of another source.
    pub(crate) fn take_log(&mut self) -> Vec<ProbePacket> {
        self.log.take().map_or_else(Vec::new, |log| log.packets)
    }

    /// Takes the arrivals of its packets, where they were asked for.
    pub(crate) fn take_arrivals(&mut self) -> Option<Arrivals> {
        self.arrivals.take().map(|times| Arrivals { flow: self.owner.flow, times })
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
