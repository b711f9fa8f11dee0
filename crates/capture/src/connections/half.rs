//! One direction of a connection under construction: counters, sequence numbers, round-trip times.
//!
//! A connection holds two of these, so every field is as narrow as it may be.

use crate::connections::connection::Side;
use crate::connections::rtt::Echoes;
use crate::connections::sequence::Sequence;
use crate::connections::state::Sent;
use crate::decode::options::TIMESTAMP_BYTES;
use crate::decode::segment::{FIN, SYN, Segment, TcpHeader};

/// A time that never came.
const NEVER: i64 = i64::MIN;
/// Payload of a packet where neither end told its limit: an Ethernet frame without options.
const USUAL_MSS: [u16; 2] = [1460, 1440];
const USUAL_MTU_BYTES: u64 = 1500;

/// Earliest and latest of some times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    first_ns: i64,
    last_ns: i64,
}

impl Default for Span {
    fn default() -> Self {
        Span { first_ns: NEVER, last_ns: NEVER }
    }
}

impl Span {
    pub(crate) fn see(&mut self, time_ns: i64) {
        self.first_ns = if self.first_ns == NEVER { time_ns } else { self.first_ns.min(time_ns) };
        self.last_ns = self.last_ns.max(time_ns);
    }

    pub(crate) fn since(&self, origin_ns: i64) -> (Option<i64>, Option<i64>) {
        let relative = |time: i64| (time != NEVER).then(|| time.saturating_sub(origin_ns));
        (relative(self.first_ns), relative(self.last_ns))
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Half {
    pub(crate) packets: u64,
    pub(crate) wire_bytes: u64,
    pub(crate) payload_bytes: u64,
    retransmitted_bytes: u64,
    data_packets: u64,
    pub(crate) distinct_packets: u64,
    pub(crate) all: Span,
    pub(crate) data: Span,
    pub(crate) sequence: Sequence,
    pub(crate) echoes: Echoes,
    /// Initial sequence number, from a SYN or from the acknowledgement in a SYN-ACK.
    pub(crate) isn: Option<u32>,
    /// Sequence number of the first segment without SYN and RST.
    pub(crate) first_seq: Option<u32>,
    pub(crate) fin_seq: Option<u32>,
    /// Highest acknowledgement sent.
    pub(crate) highest_ack: Option<u32>,
    /// When it passed.
    pub(crate) highest_ack_ns: i64,
    /// Of its SYN; 0 when none was told.
    pub(crate) mss: u16,
    pub(crate) sent: Sent,
    super_segments: u32,
    acks: u32,
    keep_alives: u32,
    zero_windows: u32,
    retransmits: u32,
    spurious: u32,
    lost_before: u32,
    reordered: u32,
}

/// A data segment as the direction counts it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data<'a> {
    pub(crate) header: &'a TcpHeader,
    /// First sequence number of its payload.
    pub(crate) start: u32,
    pub(crate) bytes: u64,
    /// Packets in it.
    pub(crate) packets: u64,
    pub(crate) time_ns: i64,
}

impl Half {
    pub(crate) fn see(&mut self, segment: &Segment, time_ns: i64) {
        self.packets += 1;
        self.wire_bytes += segment.wire_bytes;
        self.all.see(time_ns);
    }

    /// Payload that has no sequence numbers.
    pub(crate) fn see_datagram(&mut self, segment: &Segment, time_ns: i64) {
        if segment.payload_bytes > 0 {
            self.payload_bytes += segment.payload_bytes;
            let datagrams = u64::from(!segment.fragment);
            self.data_packets += datagrams;
            self.distinct_packets += datagrams;
            self.data.see(time_ns);
        }
    }

    /// The latest datagram held so many.
    pub(crate) fn add_datagrams(&mut self, packets: u64) {
        self.super_segments = self.super_segments.saturating_add(1);
        self.data_packets += packets - 1;
        self.distinct_packets += packets - 1;
    }

    /// What a segment says beside its payload.
    pub(crate) fn see_control(&mut self, header: &TcpHeader, bytes: u64) {
        if header.flags & (SYN | FIN) == 0 && bytes == 0 {
            if self.sequence.next().is_some_and(|next| next == header.seq.wrapping_add(1)) {
                self.keep_alives = self.keep_alives.saturating_add(1);
            } else {
                self.acks = self.acks.saturating_add(1);
            }
        }
        if header.window == 0 && header.flags & SYN == 0 {
            self.zero_windows = self.zero_windows.saturating_add(1);
        }
    }

    pub(crate) fn see_keep_alive(&mut self) {
        self.keep_alives = self.keep_alives.saturating_add(1);
    }

    /// Accounts a data segment; returns its fresh bytes. `acknowledged` is the highest number the other end has
    /// acknowledged, `notice_ns` the soonest after which the sender of a segment can know that it was lost.
    pub(crate) fn see_data(&mut self, data: Data<'_>, acknowledged: Option<u32>, notice_ns: i64) -> u64 {
        let Data { start, bytes, packets, time_ns, .. } = data;
        let end = start.wrapping_add(bytes as u32);
        let next = self.sequence.next();
        let brought = self.sequence.add(start, bytes, time_ns);
        self.payload_bytes += bytes;
        self.data_packets += packets;
        self.data.see(time_ns);
        let stamp = data.header.options.timestamps.map(|(value, _)| value);
        let packets = u32::try_from(packets).unwrap_or(u32::MAX);
        if brought.fresh > 0 {
            self.distinct_packets += u64::from(packets);
        }
        if brought.fresh < bytes {
            self.retransmits = self.retransmits.saturating_add(packets);
            self.retransmitted_bytes += bytes - brought.fresh;
            let known = acknowledged.is_some_and(|ack| ack.wrapping_sub(end) as i32 >= 0);
            self.spurious = self.spurious.saturating_add(if known { packets } else { 0 });
            self.echoes.repeated(stamp, time_ns);
        } else if let Some(since_ns) = brought.filled_since_ns {
            let late = time_ns.saturating_sub(since_ns) >= notice_ns;
            let count = if late { &mut self.lost_before } else { &mut self.reordered };
            *count = count.saturating_add(packets);
            self.echoes.repeated(stamp, time_ns);
        } else if next.is_none_or(|next| end.wrapping_sub(next) as i32 > 0) {
            self.echoes.sent(end, stamp, time_ns);
        }
        brought.fresh
    }

    /// Packets of the path that a captured one holds; `mss` is the smaller of both ends' limits.
    pub(crate) fn packets_in(&mut self, segment: &Segment, header: &TcpHeader, mss: Option<u16>) -> u64 {
        let bytes = segment.payload_bytes;
        let limit = match mss {
            Some(mss) => mss,
            None if segment.wire_bytes <= USUAL_MTU_BYTES => return 1,
            None => USUAL_MSS[usize::from(segment.source.address.is_ipv6())],
        };
        let options = if header.options.timestamps.is_some() { TIMESTAMP_BYTES } else { 0 };
        // Sizes below the least any host takes (RFC 9293, 3.7.1) would be packets of nothing.
        let limit = u64::from(limit.saturating_sub(options).max(1));
        if bytes <= limit {
            return 1;
        }
        self.super_segments = self.super_segments.saturating_add(1);
        bytes.div_ceil(limit)
    }

    /// A probe repeats the last byte sent, or stands in for it (RFC 9293, 3.8.4).
    pub(crate) fn is_keep_alive(&self, seq: u32, acknowledged: Option<u32>) -> bool {
        let behind = seq.wrapping_add(1);
        match self.sequence.next() {
            Some(next) => behind == next || self.fin_seq == Some(seq),
            None => acknowledged == Some(behind),
        }
    }

    /// The row's side; `acknowledged` as for [`Half::see_data`].
    pub(crate) fn side(&self, origin_ns: i64, tcp: bool, acknowledged: Option<u32>) -> Side {
        let ((first_ns, last_ns), (first_data_ns, last_data_ns)) =
            (self.all.since(origin_ns), self.data.since(origin_ns));
        Side {
            packets: self.packets,
            wire_bytes: self.wire_bytes,
            payload_bytes: self.payload_bytes,
            distinct_bytes: if tcp { self.sequence.distinct_bytes() } else { self.payload_bytes },
            missing_bytes: self.sequence.missing_bytes(),
            unseen_bytes: self.unseen_bytes(acknowledged),
            retransmitted_bytes: self.retransmitted_bytes,
            data_packets: self.data_packets,
            distinct_packets: self.distinct_packets,
            super_segments: self.super_segments,
            acks: self.acks,
            keep_alives: self.keep_alives,
            zero_windows: self.zero_windows,
            retransmits: self.retransmits,
            spurious: self.spurious,
            lost_before: self.lost_before,
            reordered: self.reordered,
            first_ns,
            last_ns,
            first_data_ns,
            last_data_ns,
            fin: self.sent.fin,
            rst: self.sent.rst,
            data_ack: self.echoes.acknowledged,
            timestamp: self.echoes.stamped,
            ..Side::default()
        }
    }

    /// An acknowledgement covers the FIN by one number that is no byte.
    fn unseen_bytes(&self, acknowledged: Option<u32>) -> u64 {
        let Some(ack) = acknowledged else { return 0 };
        let fin = self.fin_seq.is_some_and(|fin| ack == fin.wrapping_add(1));
        self.sequence.missing_below(if fin { ack.wrapping_sub(1) } else { ack })
    }
}
