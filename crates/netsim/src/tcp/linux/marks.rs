//! Congestion notification: what each end puts into its segments, and what it takes from those of the other. Classic
//! (RFC 3168), with the echo of DCTCP (RFC 8257, 3.2), or accurate (RFC 9768), which the handshake may turn into classic.

use qdisc::{Ecn, Packet};
use units::{Direction, Time};

use super::acks::Flags;
use super::ca_state::State;
use super::ops::CongestionOps;
use super::rate::RateSample;
use super::receiver::{QUICK_AFTER_MARK, Receiver};
use super::sender::Sender;
use crate::options::SegmentOptions;
use crate::tcp::Shape;
use crate::tcp::accurate::report::AccEcnReport;
use crate::tcp::accurate::{Counts, Mode, News};
use crate::tcp::rules::Feedback;
use crate::tcp::settings::{EcnMode, Tcp};
use crate::wire::handle::{ECHO, Handle, Mark};
use crate::wire::net::Net;

/// What a segment without SACK blocks tells.
fn plain(ecn: Ecn, payload: u32, ace: u8, counts: Option<Counts>) -> AccEcnReport {
    AccEcnReport { ecn, payload, ace, counts, selective: false, bare: false }
}

impl Sender {
    /// Puts into segment `seq`, which leaves `fresh` or again, what it says of congestion.
    pub(super) fn put_marks(
        &mut self,
        seq: u32,
        fresh: bool,
        segment: &mut Packet,
        shape: &Shape,
        tcp: &Tcp,
        net: &mut Net,
    ) -> Option<AccEcnReport> {
        let mode = net.hosts.mode(shape.hosts().0, tcp);
        if mode == Mode::Classic && seq > 0 {
            // Neither control segments nor retransmissions are ECT (RFC 3168, 6.1.1 and 6.1.5), but those of DCTCP.
            let data = seq <= shape.data;
            if data && (fresh || tcp.ecn == EcnMode::Dctcp) {
                segment.ecn = Ecn::Ect0;
            }
            if data && fresh {
                segment.handle |= if std::mem::take(&mut self.owes_cwr) { ECHO } else { 0 };
            }
        }
        if !tcp.ecn.counts() {
            return None;
        }
        let payload = segment.len - tcp.headers();
        if seq > 0 {
            return Some(self.tell(payload, segment, shape, tcp, net));
        }
        let host = net.hosts.of(shape.hosts().0);
        let (ace, counts) =
            if host.answers() { host.syn_ack(self.attempts, !fresh) } else { (host.syn(self.attempts), None) };
        Some(plain(segment.ecn, payload, ace, counts))
    }

    /// Puts code point, field and option of accurate ECN into a segment after the handshake.
    pub(super) fn tell(
        &self,
        payload: u32,
        segment: &mut Packet,
        shape: &Shape,
        tcp: &Tcp,
        net: &mut Net,
    ) -> AccEcnReport {
        let host = net.hosts.of(shape.hosts().0);
        if host.mode != Mode::Accurate {
            return plain(segment.ecn, payload, 0, None);
        }
        let rtt_us = u64::from(self.estimator.srtt_us >> 3);
        let (counts, bytes, _) = host.option(0, tcp.timestamps, None, net.now, rtt_us);
        segment.ecn = host.codepoint(tcp.ecn.codepoint());
        segment.len += bytes;
        plain(segment.ecn, payload, host.ace(), counts)
    }

    /// The acknowledgement that ends the handshake.
    pub(super) fn end_of_handshake(&self, shape: &Shape, tcp: &Tcp, net: &mut Net) -> Packet {
        let mut bare = shape.control(Direction::Forward, Mark::Close, 0, tcp);
        bare.remaining = shape.size_bytes;
        if tcp.ecn.counts() {
            let told = AccEcnReport { bare: true, ..self.tell(0, &mut bare, shape, tcp, net) };
            bare.options = net.options.keep(SegmentOptions::stamped(net.now).telling(Some(told)));
        }
        bare
    }

    /// An acknowledgement arrives; one that is no more than that counts here.
    pub(super) fn hear(&self, handle: Handle, options: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let Some((told, stamp)) = heard(options, net).filter(|(told, _)| told.bare) else { return };
        let stamp = tcp.timestamps.then_some(stamp);
        let host = net.hosts.of(shape.hosts().0);
        if host.mode == Mode::Pending && handle.number > 0 {
            host.on_opening(&told);
        } else {
            host.on_arrival(&told, stamp, true);
        }
    }

    /// Takes what an acknowledgement tells of marks, once it is known what else it brings (`tcp_accecn_process`).
    #[allow(clippy::too_many_arguments)]
    pub(super) fn take_marks(
        &mut self,
        options: u32,
        segments: u32,
        flags: &mut Flags,
        sample: &mut RateSample,
        shape: &Shape,
        tcp: &Tcp,
        net: &mut Net,
    ) {
        sample.marks = match net.hosts.mode(shape.hosts().0, tcp) {
            Mode::Accurate => self.marks_told(options, segments, flags, shape, tcp, net),
            // All that is acknowledged is taken to be marked.
            _ if flags.ece => segments,
            _ => 0,
        };
        flags.ece |= sample.marks > 0;
        self.controller.on_feedback(&Feedback {
            acked: segments,
            marked: sample.marks,
            una: self.una,
            max: self.nxt,
            now: net.now,
            rtt_s: self.estimator.srtt_s(),
        });
    }

    /// Marks that field and option of an acknowledgement tell of for the first time.
    fn marks_told(
        &mut self,
        options: u32,
        segments: u32,
        flags: &Flags,
        shape: &Shape,
        tcp: &Tcp,
        net: &mut Net,
    ) -> u32 {
        let Some((told, _)) = heard(options, net) else { return 0 };
        let news = News {
            segments,
            bytes: segments.saturating_mul(tcp.mss),
            progress: flags.acked() || flags.data_sacked,
            syn: flags.syn_acked,
            mss: tcp.mss,
            sent_bytes: u64::from(self.nxt) * u64::from(tcp.mss),
            exact: tcp.recovery.is_selective() || matches!(self.state, State::Open | State::Cwr),
        };
        let host = net.hosts.of(shape.hosts().0);
        let marks = host.take(&told, &news);
        self.delivered_ce = host.delivered().0;
        marks
    }
}

/// What the segment with index `options` tells, and its timestamp.
fn heard(options: u32, net: &mut Net) -> Option<(AccEcnReport, Time)> {
    net.options.of(options).and_then(|options| options.told.map(|told| (told, options.stamp)))
}

impl Receiver {
    /// Segment `seq` arrives, in order as far as its timestamp is concerned.
    pub(in crate::tcp) fn hear(&mut self, seq: u32, options: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let Some((told, stamp)) = heard(options, net) else { return };
        let stamp = tcp.timestamps.then_some(stamp);
        let in_order = seq <= self.acknowledged;
        let host = net.hosts.of(shape.hosts().1);
        if seq == 0 {
            host.on_opening(&told);
            return;
        }
        host.on_arrival(&told, stamp, in_order);
        if host.is_repeated(told.ecn) {
            self.enter_quick(QUICK_AFTER_MARK);
        }
    }

    /// The flag of DCTCP says whether the last segment was marked: what waits is acknowledged with the old one before it
    /// turns, and the segment that turns it at once (RFC 8257, 3.2; `dctcp_ece_ack_update`).
    pub(super) fn turn(&mut self, marked: bool, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if marked == self.echo {
            return;
        }
        if self.is_delayed() {
            self.acknowledge(shape, tcp, net);
        }
        self.echo = marked;
        self.due_now = true;
    }

    /// Puts into an acknowledgement with `blocks` SACK blocks what it says of congestion; `twice` is where a report of data
    /// received twice in them begins. Also how many blocks are left.
    pub(super) fn tell(
        &self,
        blocks: u32,
        twice: Option<u32>,
        ack: &mut Packet,
        shape: &Shape,
        tcp: &Tcp,
        net: &mut Net,
    ) -> (AccEcnReport, u32) {
        let host = net.hosts.of(shape.hosts().1);
        let told = |ecn, ace, counts| AccEcnReport { selective: blocks > 0, bare: true, ..plain(ecn, 0, ace, counts) };
        if host.answers() {
            // It stands for the SYN-ACK.
            let (ace, counts) = host.syn_ack(0, self.syn_lost);
            return (told(ack.ecn, ace, counts), blocks);
        }
        if host.mode != Mode::Accurate {
            return (told(ack.ecn, 0, None), blocks);
        }
        let rtt_us = self.handshake_us().unwrap_or(0);
        let (counts, bytes, left) = host.option(blocks, tcp.timestamps, twice, net.now, rtt_us.into());
        ack.ecn = host.codepoint(tcp.ecn.codepoint());
        ack.len += bytes;
        (told(ack.ecn, host.ace(), counts), left)
    }

    /// The SYN of an end that opens, after so many timeouts.
    pub(super) fn syn(&self, timeouts: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) -> Packet {
        let mut syn = shape.control(Direction::Reverse, Mark::Open, 0, tcp);
        if tcp.ecn.counts() {
            let told = plain(syn.ecn, 0, net.hosts.of(shape.hosts().1).syn(timeouts), None);
            syn.options = net.options.keep(SegmentOptions::default().telling(Some(told)));
        }
        syn
    }
}
