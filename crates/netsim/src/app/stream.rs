//! Streams of datagrams whose source hears of what arrives: both ends.
//!
//! Principle: a source makes units of media; each is cut into packets of at most 1200 bytes of RTP, all of a length up
//! to a byte. Speech leaves at once, videos at a pace. Packets have one row of numbers. The receiver writes down when each
//! came, and sends a report at equal distances that tells of all numbers up to the largest that came: those that had not
//! are reported as lost. A report that is lost is not repeated. Arrival times are rounded to 250 us, as the wire format
//! has them (draft-holmer-rmcat-transport-wide-cc-extensions-01, 3.1).
//!
//! Cost: an event per unit, per packet that waits for its pace, and per report; 56 bytes per unit until the end.

use std::collections::VecDeque;

use qdisc::{Kind as PacketKind, Packet};
use tables::record;
use units::{Direction, Time};

use super::Source;
use super::gcc::Ack;
use crate::event::Kind;
use crate::out::records::FlowRecord;
use crate::udp::HEADER;
use crate::wire::handle::{Handle, Mark, Owner};
use crate::wire::net::Net;

/// Longest packet without IP and UDP headers, bytes.
const MOST_RTP: u32 = 1200;
/// Step of the arrival times in a report, microseconds.
const STEP_US: u64 = 250;

/// What a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Speech.
    Audio,
    /// A frame of a video.
    Video,
}

impl Medium {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Medium::Audio => "audio",
            Medium::Video => "video",
        }
    }
}

record! {
    /// A unit of media: a packet of speech or a frame of a video.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FrameRecord in "frames" {
        /// The flow; here its place in the list.
        pub flow: u32 => "flow_id";
        /// Units of the flow made before.
        pub number: u32 => "frame";
        /// `audio` or `video`.
        pub medium: Medium => "medium", "", as |medium: &Medium| medium.word();
        /// When it was made.
        pub made: Time => "sent_s", "s";
        /// Arrival of its last packet; null when one was lost, or is under way.
        pub received: Time => "received_s", "s";
        /// Length of its packets together, without IP and UDP headers.
        pub bytes: u32 => "size_bytes", "bytes";
        /// Packets that it was cut into.
        pub packets: u32 => "packets", "packets";
        /// Packets of it that were dropped or lost.
        pub lost: u32 => "lost", "packets";
        /// Rate that the source aimed at when it made the unit.
        pub target_bps: u64 => "target_bps", "bit/s";
        /// Packets of it that came.
        pub came: u32;
    }
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Flight {
    unit: u32,
    /// Without IP and UDP headers, bytes.
    size: u32,
    sent: Time,
    /// Neither here nor lost.
    open: bool,
}

#[derive(Debug)]
struct Report {
    number: u32,
    /// Packets by number, and when they came.
    told: Vec<(u32, Option<Time>)>,
}

#[derive(Debug)]
pub(crate) struct Stream {
    owner: Owner,
    out: usize,
    back: usize,
    size_bytes: u64,
    source: Box<dyn Source>,
    start: Time,
    /// When the next unit is made, the next packet leaves, and the next report; `NEVER` without an event.
    unit_due: Time,
    pace_due: Time,
    report_due: Time,
    /// Packets that wait for their pace: unit and length without IP and UDP headers.
    waiting: VecDeque<(u32, u32)>,
    /// Until when the last packet keeps the next one from leaving.
    busy_until: Time,
    /// Packets sent of which something is still to be learned; the number of the first.
    flights: VecDeque<Flight>,
    first: u32,
    /// Up to here reports have told of all.
    told_up_to: u32,
    /// Packets under way.
    open: u64,
    /// What came since the last report, and the first number that it did not tell of.
    came: Vec<(u32, Time)>,
    untold: u32,
    reports: VecDeque<Report>,
    reports_sent: u32,
    units: Vec<FrameRecord>,
    packets: u64,
    sent_bytes: u64,
    delivered_bytes: u64,
    first_came: Time,
    last_came: Time,
}

impl Stream {
    /// A stream of the units of `source`.
    pub(crate) fn start(
        (owner, out, back): (Owner, usize, usize),
        size_bytes: u64,
        source: Box<dyn Source>,
        net: &mut Net,
    ) -> Stream {
        let mut stream = Stream {
            owner,
            out,
            back,
            size_bytes,
            source,
            start: net.now,
            unit_due: Time::NEVER,
            pace_due: Time::NEVER,
            report_due: Time::NEVER,
            waiting: VecDeque::new(),
            busy_until: Time::ZERO,
            flights: VecDeque::new(),
            first: 0,
            told_up_to: 0,
            open: 0,
            came: Vec::new(),
            untold: 0,
            reports: VecDeque::new(),
            reports_sent: 0,
            units: Vec::new(),
            packets: 0,
            sent_bytes: 0,
            delivered_bytes: 0,
            first_came: Time::NEVER,
            last_came: Time::NEVER,
        };
        stream.make(net);
        stream
    }

    pub(crate) fn on_timer(&mut self, kind: Kind, net: &mut Net) {
        match kind {
            Kind::Udp if self.unit_due == net.now => self.make(net),
            Kind::Pace if self.pace_due == net.now => {
                self.pace_due = Time::NEVER;
                self.release(net);
            }
            Kind::Receiver if self.report_due == net.now => self.report_arrivals(net),
            _ => {}
        }
    }

    /// Makes all units that are due.
    fn make(&mut self, net: &mut Net) {
        while self.source.due() <= net.now {
            let unit = self.source.make();
            let packets = unit.bytes.div_ceil(MOST_RTP).max(1);
            let number = self.units.len() as u32;
            self.units.push(FrameRecord {
                flow: self.owner.flow,
                number,
                medium: unit.medium,
                made: net.now,
                received: Time::NEVER,
                bytes: unit.bytes,
                packets,
                lost: 0,
                target_bps: unit.target_bps,
                came: 0,
            });
            for packet in 0..packets {
                // The first ones are a byte longer where the length does not divide.
                let size = unit.bytes / packets + u32::from(packet < unit.bytes % packets);
                if unit.medium == Medium::Audio {
                    self.send(number, size, net);
                } else {
                    self.waiting.push_back((number, size));
                }
            }
        }
        self.unit_due = self.source.due();
        if self.unit_due != Time::NEVER {
            net.events.schedule(self.unit_due, Kind::Udp, self.owner.slot as usize);
        }
        if self.pace_due == Time::NEVER {
            self.release(net);
        }
    }

    /// Sends what may leave by now.
    fn release(&mut self, net: &mut Net) {
        let pace = self.source.pace_bps();
        while self.busy_until <= net.now
            && let Some((unit, size)) = self.waiting.pop_front()
        {
            self.send(unit, size, net);
            if let Some(bps) = pace {
                self.busy_until = net.now + Time((f64::from(size) * 8e9 / bps) as u64);
            }
        }
        if !self.waiting.is_empty() {
            self.pace_due = self.busy_until;
            net.events.schedule(self.pace_due, Kind::Pace, self.owner.slot as usize);
        }
    }

    fn send(&mut self, unit: u32, size: u32, net: &mut Net) {
        let number = self.first.wrapping_add(self.flights.len() as u32);
        let mut packet = self.owner.packet(Direction::Forward, PacketKind::Udp, Mark::Plain, number);
        packet.len = HEADER + size;
        packet.remaining = self.size_bytes.saturating_sub(self.sent_bytes);
        self.flights.push_back(Flight { unit, size, sent: net.now, open: true });
        self.sent_bytes += u64::from(size);
        self.packets += 1;
        self.open += 1;
        net.send(self.out, packet);
    }

    /// The packet of `number`, which is no longer under way.
    fn landed(&mut self, number: u32) -> Option<Flight> {
        let place = number.wrapping_sub(self.first) as usize;
        let flight = self.flights.get_mut(place).filter(|flight| flight.open)?;
        flight.open = false;
        self.open -= 1;
        Some(*flight)
    }

    /// Forgets packets of which all is known.
    fn forget(&mut self) {
        let reported = self.source.report_every().is_some();
        while let Some(flight) = self.flights.front()
            && !flight.open
            && (!reported || (self.told_up_to.wrapping_sub(self.first) as i32) > 0)
        {
            self.flights.pop_front();
            self.first = self.first.wrapping_add(1);
        }
    }

    /// A packet of either direction reached its host.
    pub(crate) fn on_delivery(&mut self, packet: &Packet, net: &mut Net) {
        let number = Handle::unpack(packet.handle).number;
        if packet.flow.direction() == Direction::Reverse {
            return self.on_report(number, net.now);
        }
        let Some(flight) = self.landed(number) else { return };
        let unit = &mut self.units[flight.unit as usize];
        unit.came += 1;
        if unit.came == unit.packets {
            unit.received = net.now;
        }
        self.first_came = self.first_came.min(net.now);
        self.last_came = net.now;
        self.delivered_bytes += u64::from(packet.len - HEADER);
        if let Some(every) = self.source.report_every() {
            self.came.push((number, net.now));
            if self.report_due == Time::NEVER {
                self.report_in(every, net);
            }
        }
        self.forget();
    }

    /// A packet of either direction was dropped or lost.
    pub(crate) fn on_loss(&mut self, packet: &Packet) {
        let number = Handle::unpack(packet.handle).number;
        if packet.flow.direction() == Direction::Reverse {
            self.reports.retain(|report| report.number != number);
            return;
        }
        if let Some(flight) = self.landed(number) {
            self.units[flight.unit as usize].lost += 1;
        }
        self.forget();
    }

    fn report_in(&mut self, every: Time, net: &mut Net) {
        self.report_due = net.now + every;
        net.events.schedule(self.report_due, Kind::Receiver, self.owner.slot as usize);
    }

    /// Whether nothing more can come.
    fn has_all(&self) -> bool {
        self.source.due() == Time::NEVER && self.waiting.is_empty() && self.open == 0
    }

    /// The receiver reports what came since its last report.
    fn report_arrivals(&mut self, net: &mut Net) {
        self.report_due = Time::NEVER;
        let Some(every) = self.source.report_every().filter(|_| !self.has_all()) else { return };
        self.report_in(every, net);
        if self.came.is_empty() {
            return;
        }
        self.came.sort_by_key(|&(number, _)| number.wrapping_sub(self.untold) as i32);
        let mut told = Vec::with_capacity(self.came.len());
        for (number, at) in self.came.drain(..) {
            // Numbers before `untold` were reported as lost, and have come after all.
            if number.wrapping_sub(self.untold) as i32 >= 0 {
                while self.untold != number {
                    told.push((self.untold, None));
                    self.untold = self.untold.wrapping_add(1);
                }
                self.untold = number.wrapping_add(1);
            }
            told.push((number, Some(rounded(at))));
        }
        let number = self.reports_sent;
        self.reports_sent = number.wrapping_add(1);
        let mut packet = self.owner.packet(Direction::Reverse, PacketKind::Udp, Mark::Plain, number);
        packet.len = HEADER + report_bytes(&told);
        self.reports.push_back(Report { number, told });
        net.send(self.back, packet);
    }

    /// The sender hears report `number`.
    fn on_report(&mut self, number: u32, now: Time) {
        let Some(place) = self.reports.iter().position(|report| report.number == number) else { return };
        let Some(report) = self.reports.remove(place) else { return };
        let flights = &self.flights;
        let ack = |&(number, arrival): &(u32, Option<Time>)| {
            let flight = flights.get(number.wrapping_sub(self.first) as usize)?;
            Some(Ack { sent: flight.sent, size: flight.size, arrival })
        };
        let acks: Vec<Ack> = report.told.iter().filter_map(ack).collect();
        if let Some(&(last, _)) = report.told.last()
            && last.wrapping_sub(self.told_up_to) as i32 >= 0
        {
            self.told_up_to = last.wrapping_add(1);
        }
        self.source.on_report(&acks, now);
        self.forget();
    }

    /// All media was delivered or lost, and no report is under way.
    pub(crate) fn is_over(&self) -> bool {
        self.has_all() && self.reports.is_empty()
    }

    /// Takes the units made so far.
    pub(crate) fn take_log(&mut self) -> Vec<FrameRecord> {
        std::mem::take(&mut self.units)
    }

    pub(crate) fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// Stops its timers, and fills in `record`.
    pub(crate) fn close(&mut self, record: &mut FlowRecord) {
        self.report(record);
        (self.unit_due, self.pace_due, self.report_due) = (Time::NEVER, Time::NEVER, Time::NEVER);
    }

    /// Fills in all of `record` but the drops.
    pub(crate) fn report(&self, record: &mut FlowRecord) {
        record.finish = if self.is_over() { self.last_came } else { Time::NEVER };
        record.first_data = self.first_came;
        record.first_sent = self.start;
        record.last_data = record.finish;
        record.delivered_bytes = self.delivered_bytes;
        record.packets_sent = self.packets;
    }
}

/// An arrival time as a report has it.
fn rounded(at: Time) -> Time {
    Time((at.0 / 1000 + STEP_US / 2) / STEP_US * STEP_US * 1000)
}

/// Length of a report without IP and UDP headers, bytes: 20 of header, 2 for each chunk of states (one for all where all
/// came, else one for 14 packets), 1 for the time of each packet that came, in words of 4.
fn report_bytes(told: &[(u32, Option<Time>)]) -> u32 {
    let came = told.iter().filter(|(_, at)| at.is_some()).count();
    let chunks = if came == told.len() { 1 } else { told.len().div_ceil(14) };
    ((20 + 2 * chunks + came) as u32).next_multiple_of(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrival_times_are_rounded_to_250_us() {
        assert_eq!(rounded(Time(124_999)), Time::ZERO);
        assert_eq!(rounded(Time(125_000)), Time(250_000));
        assert_eq!(rounded(Time(1_000_374_999)), Time(1_000_250_000));
    }

    #[test]
    fn a_report_is_as_long_as_what_it_tells() {
        let told = |lost: &[u32]| -> Vec<(u32, Option<Time>)> {
            (0..20).map(|number| (number, (!lost.contains(&number)).then_some(Time::ZERO))).collect()
        };
        assert_eq!(report_bytes(&told(&[])), 44); // 20 + 2 + 20, and 2 to fill the word
        assert_eq!(report_bytes(&told(&[3])), 44); // 20 + 4 + 19, and 1
    }
}
