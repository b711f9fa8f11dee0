//! Sub-flows: the parts into which the forward queue sees a flow fall.
//!
//! Principle: a sub-flow begins with a packet of a flow that has none waiting and ends when the last of its packets
//! leaves, which is when EFD has an entry for the flow (Chen 2012, 5.1 and Fig. 5.1); under any discipline. A packet
//! dropped by the queue does not count.
//! Cost: a branch per packet while they are not asked for; a look-up by flow and 64 bytes per sub-flow otherwise.

use qdisc::{Kind, Packet};
use tables::{Column, record};
use units::Time;

/// Packets and their bytes on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// Packets.
    pub packets: u32,
    /// Of these, packets with payload.
    pub data: u32,
    /// Bytes on the wire.
    pub bytes: u64,
}

impl Volume {
    fn of(packet: &Packet, header: u32) -> Volume {
        let loaded = packet.kind == Kind::Udp || packet.kind == Kind::Data && packet.len > header;
        Volume { packets: 1, data: loaded.into(), bytes: packet.len.into() }
    }

    /// Columns of the `class` of which `of` picks the volume.
    fn columns(class: &str, of: fn(&Subflow) -> Volume) -> Vec<Column<Subflow>> {
        let packets = format!("Packets that came in the {class} class; all are low where there is one class.");
        let data = format!("Of `{class}_packets`, those with payload: no SYN, FIN or acknowledgement.");
        let bytes = format!("Length of `{class}_packets` on the wire.");
        vec![
            Column::new(format!("{class}_packets"), "packets", packets, move |row| of(row).packets),
            Column::new(format!("{class}_data_packets"), "packets", data, move |row| of(row).data),
            Column::new(format!("{class}_wire_bytes"), "bytes", bytes, move |row| of(row).bytes),
        ]
    }

    fn add(&mut self, other: Volume) {
        self.packets += other.packets;
        self.data += other.data;
        self.bytes += other.bytes;
    }

    fn take_back(&mut self, other: Volume) {
        self.packets -= other.packets;
        self.data -= other.data;
        self.bytes -= other.bytes;
    }
}

record! {
    /// One sub-flow.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Subflow in "subflows" {
        /// The flow; here its place in the list.
        pub flow: u32 => "flow_id";
        /// Arrival of the first packet at the queue.
        pub queued: Time => "queued_s", "s";
        /// When the last packet left the queue, which is when its transmission began; null when one waits at the end of
        /// the run.
        pub left: Time => "left_s", "s";
        /// Length of the last packet that left: what the link still has to send at `left_s`.
        pub last_len: u32 => "last_wire_bytes", "bytes";
        /// What came in the high class of a discipline with two.
        pub high: Volume;
        /// All else.
        pub low: Volume;
    }
    also [Volume::columns("high", |subflow| subflow.high), Volume::columns("low", |subflow| subflow.low)].into_iter().flatten();
}

/// The sub-flow of a flow that has packets waiting.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    row: u32,
    waiting: u32,
    /// Length of a TCP packet without payload, bytes.
    header: u32,
}

/// The sub-flows seen so far.
#[derive(Debug, Default)]
pub(crate) struct Subflows {
    /// By flow; empty when they are not asked for.
    open: Vec<Open>,
    rows: Vec<Subflow>,
    limit: usize,
    /// Packets of sub-flows that there was no room for.
    pub(crate) beyond_limit: u64,
}

impl Subflows {
    /// At most `limit` sub-flows; each flow's TCP packets without payload have one of `headers` bytes.
    pub(crate) fn of(headers: impl Iterator<Item = u32>, limit: u64) -> Subflows {
        let limit = limit.min(u32::MAX.into()) as usize;
        let open = headers.map(|header| Open { header, ..Open::default() }).collect();
        Subflows { open, limit, ..Subflows::default() }
    }

    /// Length of a TCP packet of the flow of `packet` without payload, bytes.
    fn header(&self, packet: &Packet) -> u32 {
        self.open[packet.flow.connection() as usize].header
    }

    #[inline]
    fn is_on(&self) -> bool {
        !self.open.is_empty()
    }

    /// `packet` comes to the queue, which may drop it at once.
    #[inline]
    pub(crate) fn arrived(&mut self, packet: &Packet, now: Time) {
        if self.is_on() {
            self.note_arrived(packet, now);
        }
    }

    #[cold]
    fn note_arrived(&mut self, packet: &Packet, now: Time) {
        let flow = packet.flow.connection() as u32;
        let open = &mut self.open[flow as usize];
        if open.waiting == 0 {
            if self.rows.len() >= self.limit {
                self.beyond_limit += 1;
                return;
            }
            open.row = self.rows.len() as u32;
            let none = Volume::default();
            self.rows.push(Subflow { flow, last_len: 0, queued: now, left: Time::NEVER, high: none, low: none });
        }
        open.waiting += 1;
        let volume = Volume::of(packet, open.header);
        self.rows[open.row as usize].low.add(volume);
    }

    /// `packet`, which has just arrived, waits in the high class.
    #[inline]
    pub(crate) fn is_high(&mut self, packet: &Packet) {
        if let Some(row) = self.row(packet) {
            let volume = Volume::of(packet, self.header(packet));
            self.rows[row].low.take_back(volume);
            self.rows[row].high.add(volume);
        }
    }

    /// `packet` leaves the queue for the link.
    #[inline]
    pub(crate) fn departed(&mut self, packet: &Packet, now: Time) {
        if let Some(row) = self.row(packet) {
            self.rows[row].last_len = packet.len;
            self.leave(packet, row, now);
        }
    }

    /// `packet` is dropped by the queue, on arrival or later.
    pub(crate) fn dropped(&mut self, packet: &Packet, now: Time) {
        if let Some(row) = self.row(packet) {
            let volume = Volume::of(packet, self.header(packet));
            let Subflow { high, low, .. } = &mut self.rows[row];
            // High packets of a sub-flow come before low ones, and its last packet goes first.
            if low.packets > 0 {
                low.take_back(volume)
            } else {
                high.take_back(volume)
            }
            self.leave(packet, row, now);
        }
    }

    /// Row of the sub-flow that `packet` is in.
    fn row(&self, packet: &Packet) -> Option<usize> {
        let open = self.open.get(packet.flow.connection() as usize)?;
        (open.waiting > 0).then_some(open.row as usize)
    }

    fn leave(&mut self, packet: &Packet, row: usize, now: Time) {
        let open = &mut self.open[packet.flow.connection() as usize];
        open.waiting -= 1;
        if open.waiting == 0 {
            self.rows[row].left = now;
        }
    }

    /// The sub-flows in the order in which they began, without those of which every packet was dropped.
    pub(crate) fn into_rows(self) -> Vec<Subflow> {
        let mut rows = self.rows;
        rows.retain(|row| row.high.packets + row.low.packets > 0);
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::handle::{Mark, Owner};
    use units::Direction;

    fn packet(flow: u32, len: u32) -> Packet {
        let owner = Owner { flow, slot: 0, src: 0, dst: 1, mark: 0 };
        let mut packet = owner.packet(Direction::Forward, Kind::Data, Mark::Plain, 1);
        packet.len = len;
        packet
    }

    #[test]
    fn a_subflow_lasts_while_a_packet_of_its_flow_waits() {
        let mut seen = Subflows::of([40; 2].into_iter(), 10);
        seen.arrived(&packet(1, 40), Time(5));
        seen.departed(&packet(1, 40), Time(6));
        for at in [10, 11] {
            seen.arrived(&packet(1, 1500), Time(at));
        }
        seen.is_high(&packet(1, 1500));
        seen.arrived(&packet(0, 1500), Time(12));
        seen.departed(&packet(1, 1500), Time(13));
        seen.arrived(&packet(1, 700), Time(14));
        seen.departed(&packet(1, 1500), Time(20));
        seen.departed(&packet(1, 700), Time(21));
        let rows = seen.into_rows();
        let spans: Vec<_> = rows.iter().map(|row| (row.flow, row.queued, row.left, row.last_len)).collect();
        let expected = [(1, Time(5), Time(6), 40), (1, Time(10), Time(21), 700), (0, Time(12), Time::NEVER, 0)];
        assert_eq!(spans, expected);
        assert_eq!(rows[0].low, Volume { packets: 1, data: 0, bytes: 40 });
        assert_eq!(rows[1].high, Volume { packets: 1, data: 1, bytes: 1500 });
        assert_eq!(rows[1].low, Volume { packets: 2, data: 2, bytes: 2200 });
    }

    #[test]
    fn what_a_packet_without_payload_is_depends_on_the_transport_of_its_flow() {
        let mut seen = Subflows::of([40, 52].into_iter(), 10);
        for flow in 0..2 {
            seen.arrived(&packet(flow, 52), Time(1));
            seen.departed(&packet(flow, 52), Time(2));
        }
        assert_eq!(seen.into_rows().iter().map(|row| row.low.data).collect::<Vec<_>>(), [1, 0]);
    }

    #[test]
    fn dropped_packets_do_not_count_and_may_end_a_subflow() {
        let mut seen = Subflows::of([40; 2].into_iter(), 10);
        seen.arrived(&packet(0, 1500), Time(1));
        seen.is_high(&packet(0, 1500));
        seen.arrived(&packet(0, 1500), Time(2));
        seen.dropped(&packet(0, 1500), Time(2));
        // Of flow 1 nothing was ever queued.
        seen.arrived(&packet(1, 1500), Time(3));
        seen.dropped(&packet(1, 1500), Time(3));
        seen.departed(&packet(0, 1500), Time(4));
        let rows = seen.into_rows();
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].high.packets, rows[0].low.packets, rows[0].left), (1, 0, Time(4)));
    }

    #[test]
    fn beyond_the_limit_packets_are_counted_only() {
        let mut seen = Subflows::of([40; 2].into_iter(), 1);
        seen.arrived(&packet(0, 1500), Time(1));
        seen.arrived(&packet(1, 1500), Time(2));
        seen.departed(&packet(1, 1500), Time(3));
        seen.departed(&packet(0, 1500), Time(4));
        assert_eq!(seen.beyond_limit, 1);
        let rows = seen.into_rows();
        assert_eq!((rows.len(), rows[0].left), (1, Time(4)));
    }

    #[test]
    fn nothing_is_noted_when_nothing_is_asked_for() {
        let mut seen = Subflows::default();
        seen.arrived(&packet(0, 1500), Time(1));
        seen.is_high(&packet(0, 1500));
        seen.departed(&packet(0, 1500), Time(2));
        seen.dropped(&packet(0, 1500), Time(2));
        assert!(seen.into_rows().is_empty());
    }
}
