//! The books of a run: every packet that was sent is delivered, dropped, or under way.
//!
//! Principle: a counter per flow, one for acknowledgements and one for the rest, goes up when a host sends a packet and
//! down when the packet ends. At the end of the run the packets that the network really holds are taken off: what is
//! left must be nothing, in packets and bytes. Cost: some twenty instructions per packet and 16 bytes per flow; the
//! end of the run looks at each packet under way once.

use std::ops::AddAssign;

use qdisc::{Kind, Packet};

use crate::out::rows::Rows;
use crate::prefetch;

/// Packets and their bytes on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
}

impl Count {
    #[inline]
    pub(crate) fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.len);
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// What became of all packets of one kind by the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Arrived at the host they were for.
    pub delivered: Count,
    /// Dropped by a queue.
    pub dropped: Count,
    /// Lost by a link, or given up on the air.
    pub lost: Count,
    /// Came when their flow was over: nobody took them.
    pub late: Count,
    /// Still on a link, in a queue or on the air.
    pub under_way: Count,
}

impl Account {
    /// What hosts sent.
    pub fn sent(&self) -> Count {
        let mut sent = self.under_way;
        [self.delivered, self.dropped, self.lost, self.late].into_iter().for_each(|ended| sent += ended);
        sent
    }
}

/// What became of all packets by the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Books {
    /// Segments with sequence numbers, and datagrams.
    pub data: Account,
    /// Segments that only acknowledge.
    pub acks: Account,
}

/// Packets and bytes that are to come out even. They wrap, which leaves equal what is equal, and keeps them small: every
/// packet comes here twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Balance {
    packets: u32,
    bytes: u32,
}

impl Balance {
    #[inline]
    fn add(&mut self, packet: &Packet) {
        self.packets = self.packets.wrapping_add(1);
        self.bytes = self.bytes.wrapping_add(packet.len);
    }

    #[inline]
    fn take(&mut self, packet: &Packet) {
        self.packets = self.packets.wrapping_sub(1);
        self.bytes = self.bytes.wrapping_sub(packet.len);
    }

    /// Packets and bytes, either of which may be below zero.
    fn parts(self) -> (i32, i32) {
        (self.packets as i32, self.bytes as i32)
    }
}

/// The counters of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    /// Of flow `n`, packets under way: at `2 n` those that are no acknowledgements, at `2 n + 1` those that are.
    open: Vec<Balance>,
    /// In the same order, but for what was delivered.
    accounts: [Account; 2],
    /// Apart, because every packet comes here.
    delivered_packets: [u64; 2],
    delivered_bytes: [u64; 2],
    /// Rows of the flows there are now, in a run of a stream; then `open` is by row.
    pub(crate) rows: Option<Box<Rows>>,
}

#[inline]
fn kind(packet: &Packet) -> usize {
    usize::from(packet.kind == Kind::Ack)
}

/// Index of the counter of `packet`.
#[inline]
pub(crate) fn place(packet: &Packet) -> usize {
    (2 * packet.flow.connection() as usize) | kind(packet)
}

impl Ledger {
    pub(crate) fn of(flows: usize) -> Ledger {
        Ledger { open: vec![Balance::default(); 2 * flows], ..Ledger::default() }
    }

    /// Of a stream, whose flows come and go.
    pub(crate) fn of_stream() -> Ledger {
        Ledger { rows: Some(Box::default()), ..Ledger::default() }
    }

    /// Where the record of the flow of `packet` is, and its counters: its place in the list, or its row in a stream.
    #[inline]
    pub(crate) fn row(&self, packet: &Packet) -> usize {
        match &self.rows {
            None => packet.flow.connection() as usize,
            Some(rows) => rows.of(packet),
        }
    }

    /// Where the record of `flow`, which has `slot`, is.
    #[inline]
    pub(crate) fn row_of(&self, flow: u32, slot: usize) -> usize {
        match &self.rows {
            None => flow as usize,
            Some(rows) => rows.at(slot),
        }
    }

    #[inline]
    fn at(&self, packet: &Packet) -> usize {
        (2 * self.row(packet)) | kind(packet)
    }

    /// Whether nothing of the flow in `row` is under way.
    fn is_clear(&self, row: usize) -> bool {
        self.open[2 * row].packets == 0 && self.open[2 * row + 1].packets == 0
    }

    /// Flow `flow` of a stream begins in `slot`: its row.
    pub(crate) fn begin(&mut self, flow: u32, slot: usize) -> usize {
        let Some(rows) = &mut self.rows else { return flow as usize };
        let row = rows.claim(flow, slot);
        let places = 2 * (row + 1);
        if self.open.len() < places {
            self.open.resize(places, Balance::default());
        }
        row
    }

    /// Flow `flow` of a stream, which had `slot`, is over: it is gone once nothing of it is under way.
    pub(crate) fn over(&mut self, flow: u32, slot: usize) {
        let Some(row) = self.rows.as_ref().map(|rows| rows.at(slot)) else { return };
        let is_clear = self.is_clear(row);
        if let Some(rows) = &mut self.rows {
            rows.over(flow, row, is_clear);
        }
    }

    fn end(&mut self, packet: &Packet) -> &mut Account {
        let at = self.at(packet);
        self.open[at].take(packet);
        if self.rows.is_some() && self.is_clear(at / 2) {
            self.rows.as_mut().into_iter().for_each(|rows| rows.cleared(packet.flow.connection() as u32));
        }
        &mut self.accounts[kind(packet)]
    }

    /// Asks for the counters of the flow of `packet`, which will be needed soon.
    #[inline]
    pub(crate) fn ask_for(&self, packet: &Packet) {
        self.ask_for_row(self.row(packet));
    }

    /// Asks for the counters in `row`.
    #[inline]
    pub(crate) fn ask_for_row(&self, row: usize) {
        self.open.get(2 * row).into_iter().for_each(prefetch::value);
    }

    /// The row that is given back next, of a flow that is gone; its counters must have come out even.
    ///
    /// # Errors
    /// They have not.
    pub(crate) fn gone(&mut self) -> Result<Option<(u32, usize)>, String> {
        let Some((flow, row)) = self.rows.as_mut().and_then(|rows| rows.gone()) else { return Ok(None) };
        for place in [2 * row, 2 * row + 1] {
            self.check(place, flow as usize)?;
        }
        Ok(Some((flow, row)))
    }

    /// # Errors
    /// The counter is not even: by how much.
    fn check(&self, place: usize, flow: usize) -> Result<(), String> {
        if self.open[place] == Balance::default() {
            return Ok(());
        }
        let (packets, bytes) = self.open[place].parts();
        let kind = KINDS[place % 2];
        let sum = "sent less delivered, dropped, lost, late and under way";
        Err(format!("flow {flow}, {kind}: {sum} is {packets} packets and {bytes} bytes, not 0"))
    }

    /// A host sends `packet`.
    #[inline]
    pub(crate) fn sent(&mut self, packet: &Packet) {
        let at = self.at(packet);
        self.open[at].add(packet);
    }

    /// `packet` is at the host it was for.
    #[inline]
    pub(crate) fn delivered(&mut self, packet: &Packet) {
        let at = self.at(packet);
        self.open[at].take(packet);
        self.delivered_packets[kind(packet)] += 1;
        self.delivered_bytes[kind(packet)] += u64::from(packet.len);
    }

    /// A queue dropped `packet`.
    pub(crate) fn dropped(&mut self, packet: &Packet) {
        self.end(packet).dropped.add(packet);
    }

    /// A link lost `packet`.
    pub(crate) fn lost(&mut self, packet: &Packet) {
        self.end(packet).lost.add(packet);
    }

    /// `packet` came when its flow was over.
    #[cold]
    pub(crate) fn late(&mut self, packet: &Packet) {
        self.end(packet).late.add(packet);
    }

    /// Takes `packet` off, which was found under way.
    pub(crate) fn find(&mut self, packet: &Packet) {
        self.end(packet).under_way.add(packet);
    }

    /// Takes all packets of one counter off that were found in one place.
    pub(crate) fn find_all(&mut self, place: usize, found: Count) {
        let open = &mut self.open[place];
        open.packets = open.packets.wrapping_sub(found.packets as u32);
        open.bytes = open.bytes.wrapping_sub(found.bytes as u32);
        self.accounts[place % 2].under_way += found;
    }

    /// How many counters there are.
    pub(crate) fn places(&self) -> usize {
        self.open.len()
    }

    /// The totals, once every packet under way was found.
    ///
    /// # Errors
    /// A flow that does not add up: which, and by how much.
    pub(crate) fn balanced(&self) -> Result<Books, String> {
        if let Some(at) = self.open.iter().position(|&open| open != Balance::default()) {
            let flow = self.rows.as_ref().map_or(at / 2, |rows| rows.flow_in(at / 2) as usize);
            self.check(at, flow)?;
        }
        let of = |kind: usize| {
            let delivered = Count { packets: self.delivered_packets[kind], bytes: self.delivered_bytes[kind] };
            Account { delivered, ..self.accounts[kind] }
        };
        Ok(Books { data: of(0), acks: of(1) })
    }
}

const KINDS: [&str; 2] = ["data", "acknowledgements"];

#[cfg(test)]
mod tests {
    use units::{Direction, Time};

    use super::*;
    use crate::wire::handle::{Mark, Owner};

    fn packet(flow: u32, kind: Kind, len: u32) -> Packet {
        let owner = Owner { flow, slot: 0, src: 0, dst: 1, mark: 0 };
        Packet { len, arrival: Time::ZERO, ..owner.packet(Direction::Forward, kind, Mark::Plain, 0) }
    }

    #[test]
    fn what_ends_or_is_found_balances() {
        let mut ledger = Ledger::of(2);
        let all = [packet(0, Kind::Data, 1500), packet(1, Kind::Ack, 40), packet(1, Kind::Udp, 29)];
        all.iter().for_each(|packet| ledger.sent(packet));
        ledger.delivered(&all[0]);
        ledger.lost(&all[1]);
        assert!(ledger.balanced().is_err_and(|error| error.starts_with("flow 1, data: ")));
        ledger.find(&all[2]);
        let books = ledger.balanced().expect("nothing is missing");
        assert_eq!(books.data.sent(), Count { packets: 2, bytes: 1529 });
        assert_eq!((books.data.under_way.bytes, books.acks.lost.bytes), (29, 40));
    }

    #[test]
    fn what_does_not_balance_is_told_in_packets_and_bytes() {
        let told = |change: fn(&mut Ledger)| {
            let mut ledger = Ledger::of(1);
            change(&mut ledger);
            ledger.balanced().expect_err("not balanced")
        };
        let sum = "sent less delivered, dropped, lost, late and under way is";
        let twice = |ledger: &mut Ledger| ledger.dropped(&packet(0, Kind::Ack, 52));
        assert_eq!(told(twice), format!("flow 0, acknowledgements: {sum} -1 packets and -52 bytes, not 0"));
        let gone = |ledger: &mut Ledger| ledger.sent(&packet(0, Kind::Data, 1500));
        assert_eq!(told(gone), format!("flow 0, data: {sum} 1 packets and 1500 bytes, not 0"));
        let cut = |ledger: &mut Ledger| {
            ledger.sent(&packet(0, Kind::Data, 1500));
            ledger.delivered(&packet(0, Kind::Data, 1499));
        };
        assert_eq!(told(cut), format!("flow 0, data: {sum} 0 packets and 1 bytes, not 0"));
        let turned = |ledger: &mut Ledger| {
            ledger.sent(&packet(0, Kind::Data, 40));
            ledger.delivered(&packet(0, Kind::Ack, 40));
        };
        assert_eq!(told(turned), format!("flow 0, data: {sum} 1 packets and 40 bytes, not 0"));
    }
}
