//! What was read, where, and what became of it.

use std::collections::BTreeMap;

use account::{Account, Amount, Reason};

use crate::connections::connection::{Connection, Protocol};
use crate::decode::skip::Skip;
use crate::decode::tunnel::Tunnel;
use crate::read::clocks::Clock;
use crate::read::stops::Stop;

/// Times that go back by more are those of a clock that was set: queues of a network card write packets out of order by
/// milliseconds.
pub const SET_BACK_NS: i64 = 1_000_000_000;

/// A place where packets were captured: an interface of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tap {
    /// Number of the file, from 0 on.
    pub file: u32,
    /// Number of the interface in it.
    pub interface: u32,
    /// Packets captured there.
    pub packets: u64,
    /// Of these, packets that were left out as copies.
    pub duplicates: u64,
}

/// IP packets of one protocol, summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// How many.
    pub packets: u64,
    /// Their length on the link, IP header included.
    pub bytes: u64,
}

/// Connections that nobody answered, summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unanswered {
    /// How many.
    pub connections: u64,
    /// Their packets.
    pub packets: u64,
    /// Length of these IP packets.
    pub bytes: u64,
}

impl Tap {
    pub(crate) fn at(file: u32, interface: u32) -> Self {
        Tap { file, interface, packets: 0, duplicates: 0 }
    }
}

/// What connections show of what a capture can answer: TCP connections with payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// How many.
    pub tcp: u64,
    /// Of these, those of which packets of one direction alone were captured.
    pub one_way: u64,
    /// Of these, those with a round-trip time.
    pub timed: u64,
    /// Their payload where both directions were captured, each byte once, bytes ...
    pub passed_bytes: u64,
    /// ... and payload that was acknowledged there and never captured: the tap lost it.
    pub lost_bytes: u64,
}

impl Shown {
    /// Counts a connection.
    pub fn see(&mut self, one: &Connection) {
        let payload = one.from_opener.distinct_bytes.saturating_add(one.from_responder.distinct_bytes);
        if one.protocol == Protocol::Tcp && payload > 0 {
            self.tcp += 1;
            let one_way = one.from_opener.packets == 0 || one.from_responder.packets == 0;
            self.one_way += u64::from(one_way);
            if !one_way {
                let lost = one.from_opener.unseen_bytes.saturating_add(one.from_responder.unseen_bytes);
                self.passed_bytes = self.passed_bytes.saturating_add(payload);
                self.lost_bytes = self.lost_bytes.saturating_add(lost);
            }
            self.timed += u64::from(one.rtt_ns.is_some());
        }
    }
}

/// What was read, and what became of it: `packets = decoded + skipped`.
#[must_use = "what was left out must reach the user"]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// What became of all packets and their bytes.
    pub account: Account,
    /// What the connections show.
    pub shown: Shown,
    /// Packet records that were read, without those that a filter left out.
    pub packets: u64,
    /// Of these, those in the connection table.
    pub decoded: u64,
    /// Packets that a filter left out: they did not pass it, or it could not be asked since they were not decoded. They are
    /// in no other count.
    pub filtered: u64,
    /// Packets that are copies of one before, left out or not: those left out are skipped as such.
    pub copies: u64,
    /// Connections outside a router that translates addresses that were left out, since those inside are read.
    pub translated: u64,
    /// Connections evicted because of the limit; their packets are in `decoded`.
    pub evicted: u64,
    /// Of the connections that left, which are not evicted, those that were open and heard of late: what they sent later is of
    /// another connection.
    pub parted: u64,
    /// Of those evicted, those in which one end never sent a packet, their packets and the bytes of these: scans and floods.
    pub unanswered: Unanswered,
    /// Of `decoded`, fragments other than the first.
    pub fragments: u64,
    /// Packets found inside tunnels, in the order of [`Tunnel::NAMES`]; each level of nesting counts.
    pub tunnelled: [u64; Tunnel::NAMES.len()],
    /// Where tunnels were looked into, TCP packets, and the bytes that those inside have around their own IP packet.
    pub around_tcp: Amount,
    /// Packets further out of order than the reordering window, when packets are put into order.
    pub late: u64,
    /// Trains beyond the limit.
    pub trains_left_out: u64,
    /// Packets beyond the limit.
    pub packets_left_out: u64,
    /// Width of the windows of the volumes, nanoseconds.
    pub volume_width_ns: i64,
    /// Packets that are in no volume since there were too many.
    pub volumes_left_out: u64,
    /// Of `decoded` on Ethernet, packets by the bytes of their VLAN tags; those without any are left out.
    pub framed: BTreeMap<usize, u64>,
    /// Packets of link types that are not decoded, by type.
    pub link_types: BTreeMap<i32, u64>,
    /// Of `decoded`, packets of IP protocols other than TCP, UDP and ICMP, by protocol number; of tunnels that were entered,
    /// those inside.
    pub other_protocols: BTreeMap<u8, Carried>,
    /// Tunnels were looked into.
    pub inside: bool,
    /// Where packets were captured, in the order of first packets.
    pub taps: Vec<Tap>,
    /// Their names, of those that have one.
    pub names: Vec<Option<String>>,
    /// Clock of each file beside the first one's; zeros when not estimated, empty when not read from files.
    pub clocks: Vec<Clock>,
    /// Silences in which traffic that was under way stopped all at once.
    pub stops: Vec<Stop>,
    /// Packets that the capturing program dropped, by statistics of interfaces in pcapng; they are in no other count.
    pub dropped: u64,
    /// A file ends inside a record, or its framing breaks so that the rest cannot be read.
    pub truncated: bool,
    /// A pcap file says that its times are in microseconds, and has nanoseconds: they were read as these.
    pub nanoseconds: bool,
    /// Whoever looked on ended the reading here: there are more packets.
    pub stopped: bool,
    /// Time of the first packet in the file, nanoseconds since 1970; where packets were put into order, the earliest.
    pub first_ns: Option<i64>,
    /// Longest step of more than [`SET_BACK_NS`] that times go back within a file, nanoseconds; 0 without one, and where packets
    /// were put into order.
    pub set_back_ns: u64,
    earliest_ns: i64,
    latest_ns: i64,
    /// The latest packet, and times before it: first, earliest, latest.
    seen_ns: i64,
    before: (Option<i64>, i64, i64),
    skipped: [u64; Skip::NAMES.len()],
}

impl Counts {
    /// Of a reading that looks into tunnels or not.
    pub(crate) fn looking(inside: bool) -> Self {
        Counts { inside, ..Counts::default() }
    }

    /// Packets skipped for `reason`.
    pub fn skipped(&self, reason: Skip) -> u64 {
        self.skipped[reason as usize]
    }

    /// Packets skipped for any reason.
    pub fn skipped_total(&self) -> u64 {
        self.skipped.iter().sum()
    }

    /// Nanoseconds from the earliest to the latest packet; 0 without packets.
    pub fn duration_ns(&self) -> u64 {
        self.latest_ns.abs_diff(self.earliest_ns)
    }

    /// Adds what a shard of these packets gave up, and what its connections show.
    pub fn add_shard(&mut self, shard: &Counts) {
        self.evicted += shard.evicted;
        self.unanswered.connections += shard.unanswered.connections;
        self.unanswered.packets += shard.unanswered.packets;
        self.unanswered.bytes = self.unanswered.bytes.saturating_add(shard.unanswered.bytes);
        self.shown.tcp += shard.shown.tcp;
        self.shown.one_way += shard.shown.one_way;
        self.shown.timed += shard.shown.timed;
        self.shown.passed_bytes = self.shown.passed_bytes.saturating_add(shard.shown.passed_bytes);
        self.shown.lost_bytes = self.shown.lost_bytes.saturating_add(shard.shown.lost_bytes);
        for reason in [Reason::Evicted, Reason::Budget] {
            self.account.withdraw(reason, shard.account.left_out(reason));
        }
    }

    /// Adds a tap; returns its number.
    pub(crate) fn add_tap(&mut self, tap: Tap) -> u32 {
        self.taps.push(tap);
        self.names.push(None);
        (self.taps.len() - 1) as u32
    }

    /// Times of packets that were put into order count from the earliest.
    pub(crate) fn number_from(&mut self, sorted: bool) {
        if sorted && self.first_ns.is_some() {
            self.first_ns = Some(self.earliest_ns);
            self.set_back_ns = 0;
        }
    }

    /// A packet of `bytes` that is left out.
    pub(crate) fn skip(&mut self, reason: Skip, bytes: u64) {
        self.skipped[reason as usize] += 1;
        self.account.leave_out(reason.reason(), Amount::one(bytes));
    }

    /// A packet of `bytes` that is in no connection table, so that no filter lets it pass.
    pub(crate) fn filter(&mut self, bytes: u64) {
        self.filtered += 1;
        self.account.see(Amount::one(bytes));
        self.account.leave_out(Reason::Filter, Amount::one(bytes));
    }

    /// A frame of `bytes` that was not decoded.
    #[cold]
    pub(crate) fn skip_frame(&mut self, reason: Skip, bytes: u64, link_type: i32) {
        self.skip(reason, bytes);
        if reason == Skip::LinkType {
            *self.link_types.entry(link_type).or_default() += 1;
        }
    }

    /// A packet of `bytes` of another IP protocol, which is taken.
    #[inline(never)]
    pub(crate) fn carry(&mut self, protocol: u8, bytes: u64) {
        let of = self.other_protocols.entry(protocol).or_default();
        of.packets += 1;
        of.bytes = of.bytes.saturating_add(bytes);
    }

    /// A copy that was seen just now at `time_ns` is left out: the capture does not begin or end with it.
    pub(crate) fn unsee(&mut self, time_ns: i64) {
        if self.seen_ns == time_ns {
            (self.first_ns, self.earliest_ns, self.latest_ns) = self.before;
        }
    }

    /// A packet at `time_ns` that was taken for a copy counts all the same.
    pub(crate) fn reach(&mut self, time_ns: i64) {
        self.first_ns.get_or_insert(time_ns);
        (self.earliest_ns, self.latest_ns) = (self.earliest_ns.min(time_ns), self.latest_ns.max(time_ns));
    }

    #[inline]
    pub(crate) fn see(&mut self, time_ns: i64) {
        self.packets += 1;
        (self.seen_ns, self.before) = (time_ns, (self.first_ns, self.earliest_ns, self.latest_ns));
        if self.first_ns.is_none() {
            self.first_ns = Some(time_ns);
            (self.earliest_ns, self.latest_ns) = (time_ns, time_ns);
        }
        let back_ns = self.latest_ns.saturating_sub(time_ns);
        if back_ns > SET_BACK_NS {
            self.set_back_ns = self.set_back_ns.max(back_ns.unsigned_abs());
        }
        self.earliest_ns = self.earliest_ns.min(time_ns);
        self.latest_ns = self.latest_ns.max(time_ns);
    }
}
