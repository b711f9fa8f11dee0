//! An acknowledgement: what it says has arrived, and what follows from that (`tcp_ack`).

use units::Time;

use super::ca_state::State;
use super::clock::us;
use super::ops::CongestionOps;
use super::rate::RateSample;
use super::sender::{REORDERING, Sender};
use crate::options::{Block, UNTOLD};
use crate::tcp::Shape;
use crate::tcp::settings::Tcp;
use crate::wire::net::Net;

/// Reordering is taken to be so far at most, segments (`tcp_max_reordering`).
const MOST_REORDERING: u32 = 300;

/// What an acknowledgement was found to say (the `FLAG_` of tcp_input.c).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    pub(super) una_advanced: bool,
    /// It tells the window, and is none that was overtaken.
    pub(super) window_told: bool,
    /// It acknowledged data, or the SYN.
    pub(super) data_acked: bool,
    pub(super) syn_acked: bool,
    /// Data was newly acknowledged selectively.
    pub(super) data_sacked: bool,
    /// It carries an echo of a mark.
    pub(super) ece: bool,
    /// Data arrived that was sent once, before the state began.
    pub(super) orig_acked: bool,
    pub(super) retrans_acked: bool,
    /// The retransmission timer is to be set.
    pub(super) set_timer: bool,
    /// A retransmission was found to be lost.
    pub(super) lost_retrans: bool,
    /// It tells of data received twice, and that this was a probe for a loss at the tail.
    pub(super) dsacking: bool,
    pub(super) dsack_tlp: bool,
}

impl Flags {
    pub(super) fn acked(&self) -> bool {
        self.data_acked || self.syn_acked
    }

    /// It cannot be a duplicate.
    pub(super) fn not_dup(&self) -> bool {
        self.una_advanced || self.acked() || self.window_told
    }

    fn alerts(&self) -> bool {
        self.data_sacked || self.ece || self.dsacking
    }
}

/// What is to be sent after an acknowledgement beside what the window lets out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rexmit {
    Nothing,
    Lost,
    /// New data, to find out whether a timeout was spurious.
    New,
}

/// What is gathered while selective acknowledgements are read.
struct Sacks {
    first_sent_us: Option<u64>,
    last_sent_us: u64,
    /// Lowest number that arrived out of order and was sent once.
    reord: u32,
}

impl Sender {
    /// Takes an acknowledgement up to `ack`, with an echo of a mark or not.
    pub(super) fn take_ack(&mut self, ack: u32, echo: bool, options: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let now = net.now;
        let prior_una = self.una;
        let prior_packets = self.packets_out;
        let (delivered, lost) = (self.delivered, self.lost);
        let selective = tcp.recovery.is_selective();
        let (told, stamp) =
            net.options.of(options).map_or((UNTOLD, Time::ZERO), |options| (options.window, options.stamp));
        self.heard = self.heard.max(stamp);
        let stamp_echo = net.options.of(options).filter(|_| tcp.timestamps).map(|options| options.echoed);
        let stamp_echo = stamp_echo.map(|echoed| self.clock.stamp(echoed));
        let (mut blocks, mut count) = ([(0, 0); 4], 0);
        if let Some(options) = net.options.of(options).filter(|_| selective) {
            count = options.blocks().len();
            blocks[..count].copy_from_slice(options.blocks());
        }
        let blocks = &blocks[..count];

        let mut flags = Flags { ece: echo && self.una > 0, ..Flags::default() };
        let mut rexmit = Rexmit::Nothing;
        let mut sample = RateSample { prior_in_flight: self.in_flight(), ..RateSample::default() };
        let mut sacks = Sacks { first_sent_us: None, last_sent_us: 0, reord: self.nxt };

        if ack < prior_una {
            // Older than what is known: only what it says selectively counts.
            if count > 0 {
                self.tag(ack, prior_una, blocks, &mut flags, &mut sacks, &mut sample, now);
                self.alert(prior_una, false, stamp_echo, &mut flags, &mut rexmit, shape, tcp, net);
                self.transmit_repairs(rexmit, shape, tcp, net);
            }
            return;
        }
        if ack > prior_una {
            flags.una_advanced = true;
            self.attempts = 0;
        }
        flags.window_told = std::mem::take(&mut self.first_ack);
        if told != UNTOLD && (flags.una_advanced || told > self.window) {
            flags.window_told = true;
            self.take_window(told, tcp, net);
        }
        let prior_fack = if selective { self.highest_sack() } else { self.una };
        self.una = ack;
        if count > 0 {
            self.tag(ack, prior_una, blocks, &mut flags, &mut sacks, &mut sample, now);
        }
        if prior_packets == 0 {
            let segments = self.delivered - delivered;
            self.take_marks(options, segments, &mut flags, &mut sample, shape, tcp, net);
            if flags.dsacking {
                self.alert(prior_una, false, stamp_echo, &mut flags, &mut rexmit, shape, tcp, net);
            }
            if self.tlp_high_seq.is_some() {
                self.process_tlp_ack(ack, &flags, tcp, net);
            }
            self.check_closed_window(shape, tcp, net);
            return;
        }
        self.clean(prior_fack, prior_una, stamp_echo, &mut flags, &mut sacks, &mut sample, tcp, now);
        self.rack_widen(&sample);
        self.take_marks(options, self.delivered - delivered, &mut flags, &mut sample, shape, tcp, net);
        if self.tlp_high_seq.is_some() {
            self.process_tlp_ack(ack, &flags, tcp, net);
        }
        if !flags.not_dup() || flags.alerts() || self.state != State::Open {
            let duplicate = !(flags.una_advanced || flags.not_dup() || flags.dsacking);
            self.alert(prior_una, duplicate, stamp_echo, &mut flags, &mut rexmit, shape, tcp, net);
        }
        if flags.set_timer {
            self.set_transmit_timer(shape, tcp, net);
        }
        let (acked, losses) = (self.delivered - delivered, self.lost - lost);
        self.complete_sample(acked, losses, &mut sample, now);
        self.control_window(&sample, &flags, net);
        self.transmit_repairs(rexmit, shape, tcp, net);
    }

    pub(super) fn count_delivered(&mut self, segments: u32, marked: bool) {
        self.delivered += segments;
        if marked {
            self.delivered_ce += segments;
        }
    }

    /// Data that arrived before data of lower number that was sent once: the network reorders that far.
    pub(super) fn check_reordering(&mut self, low: u32) {
        let fack = self.highest_sack();
        if low >= fack {
            return;
        }
        if fack - low > self.reordering {
            self.reordering = (fack - low).min(MOST_REORDERING);
        }
        self.reord_seen += 1;
    }

    /// Takes selective acknowledgements (`tcp_sacktag_write_queue`).
    #[allow(clippy::too_many_arguments)]
    fn tag(
        &mut self,
        ack: u32,
        prior_una: u32,
        blocks: &[Block],
        flags: &mut Flags,
        sacks: &mut Sacks,
        sample: &mut RateSample,
        now: Time,
    ) {
        if self.sacked_out == 0 {
            self.known_blocks = [(0, 0); 4];
            self.fack = self.una.max(prior_una);
        }
        let mut dsacked = 0;
        let duplicate = self.take_dsack(ack, prior_una, blocks, flags, &mut dsacked);
        if self.packets_out > 0 {
            let mut used = [((0, 0), false); 4];
            let mut count = 0;
            for (index, &block) in blocks.iter().enumerate() {
                let twice = index == 0 && duplicate;
                if self.is_valid(block, twice) && block.1 > prior_una {
                    used[count] = (block, twice);
                    count += 1;
                }
            }
            let used = &mut used[..count];
            used.sort_unstable_by_key(|&((start, _), _)| start);
            for &(block, twice) in used.iter() {
                if twice {
                    self.tag_range(block, true, prior_una, flags, sacks, sample, now);
                    continue;
                }
                // What the last acknowledgement has told need not be looked at again.
                let mut from = block.0;
                for known in self.known_blocks {
                    if known.1 <= from || known.0 >= block.1 {
                        continue;
                    }
                    if from < known.0 {
                        self.tag_range((from, known.0), false, prior_una, flags, sacks, sample, now);
                    }
                    from = from.max(known.1);
                }
                if from < block.1 {
                    self.tag_range((from, block.1), false, prior_una, flags, sacks, sample, now);
                }
            }
            let mut kept = 4;
            self.known_blocks = [(0, 0); 4];
            for &(block, _) in used.iter().rev() {
                kept -= 1;
                self.known_blocks[kept] = block;
            }
            if self.state != State::Loss || self.undo_marker > 0 {
                self.check_reordering(sacks.reord);
            }
        }
        if dsacked > 0 {
            self.count_delivered(dsacked, flags.ece);
        }
    }

    /// Whether the first block tells of data received twice (RFC 2883); `delivered` are those copies.
    fn take_dsack(
        &mut self,
        ack: u32,
        prior_una: u32,
        blocks: &[Block],
        flags: &mut Flags,
        delivered: &mut u32,
    ) -> bool {
        let (start, end) = blocks[0];
        let twice = start < ack || blocks.get(1).is_some_and(|&(from, to)| from <= start && end <= to);
        if !twice || start >= end {
            return false;
        }
        let segments = end - start;
        if segments == 1 && self.tlp_high_seq == Some(end) {
            flags.dsack_tlp = true;
        }
        self.dsack_dups += segments;
        if u64::from(self.dsack_dups) > self.retransmits {
            return false;
        }
        if self.reord_seen > 0 && !flags.dsack_tlp {
            self.rack.dsack_seen = true;
        }
        flags.dsacking = true;
        *delivered += segments;
        if self.undo_marker > 0 && self.undo_retrans > 0 && end <= prior_una && end > self.undo_marker {
            self.undo_retrans = (self.undo_retrans - segments as i32).max(0);
        }
        true
    }

    /// Whether `block` can be one of this connection (`tcp_is_sackblock_valid`).
    fn is_valid(&self, (start, end): Block, twice: bool) -> bool {
        if end > self.nxt || start >= end {
            return false;
        }
        if start > self.una {
            return true;
        }
        if !twice || self.undo_marker == 0 || end > self.una {
            return false;
        }
        start >= self.undo_marker || end > self.undo_marker
    }

    #[allow(clippy::too_many_arguments)]
    fn tag_range(
        &mut self,
        (start, end): Block,
        twice: bool,
        prior_una: u32,
        flags: &mut Flags,
        sacks: &mut Sacks,
        sample: &mut RateSample,
        now: Time,
    ) {
        let (start, end) = (start.max(prior_una), end.min(self.nxt));
        // A buffer of which only a part is told is split.
        for edge in [start, end] {
            if self.una < edge && edge < self.nxt {
                self.queue.split(edge);
            }
        }
        for seq in start..end {
            self.tag_one(seq, twice, flags, sacks, now);
            self.note_delivery(seq, sample, now);
            if self.queue.get(seq).sacked {
                self.queue.unlist(seq);
            }
            self.fack = self.fack.max(seq + 1);
        }
    }

    /// `seq` has arrived out of order, or `twice` (`tcp_sacktag_one`).
    fn tag_one(&mut self, seq: u32, twice: bool, flags: &mut Flags, sacks: &mut Sacks, now: Time) {
        let mut segment = *self.queue.get(seq);
        if twice && segment.ever_retrans {
            if self.undo_marker > 0 && self.undo_retrans > 0 && seq >= self.undo_marker {
                self.undo_retrans = (self.undo_retrans - 1).max(0);
            }
            if segment.sacked && seq < sacks.reord {
                sacks.reord = seq;
            }
        }
        if seq < self.una {
            return;
        }
        if !segment.sacked {
            self.rack_advance(segment.ever_retrans, seq + 1, segment.sent_us, now);
            if segment.retrans {
                if segment.lost {
                    (segment.lost, segment.retrans) = (false, false);
                    self.lost_out -= 1;
                    self.retrans_out -= 1;
                }
            } else {
                if !segment.ever_retrans {
                    if seq < self.highest_sack() && seq < sacks.reord {
                        sacks.reord = seq;
                    }
                    if seq < self.high_seq {
                        flags.orig_acked = true;
                    }
                    sacks.first_sent_us.get_or_insert(segment.sent_us);
                    sacks.last_sent_us = segment.sent_us;
                }
                if segment.lost {
                    segment.lost = false;
                    self.lost_out -= 1;
                }
            }
            segment.sacked = true;
            flags.data_sacked = true;
            self.sacked_out += 1;
            self.count_delivered(1, flags.ece);
        }
        if twice && segment.retrans {
            segment.retrans = false;
            self.retrans_out -= 1;
        }
        let kept = self.queue.at(seq);
        (kept.sacked, kept.lost, kept.retrans) = (segment.sacked, segment.lost, segment.retrans);
    }

    /// Takes what is acknowledged out of the queue, and the round-trip time from it (`tcp_clean_rtx_queue`).
    #[allow(clippy::too_many_arguments)]
    fn clean(
        &mut self,
        prior_fack: u32,
        prior_una: u32,
        stamp_echo: Option<u64>,
        flags: &mut Flags,
        sacks: &mut Sacks,
        sample: &mut RateSample,
        tcp: &Tcp,
        now: Time,
    ) {
        let selective = tcp.recovery.is_selective();
        let mut first_sent_us = None;
        let mut last_sent_us = 0;
        let mut reord = self.nxt;
        let acked = self.una - prior_una;
        for seq in prior_una..self.una {
            let segment = *self.queue.get(seq);
            if segment.ever_retrans {
                self.retrans_out -= u32::from(segment.retrans);
                flags.retrans_acked = true;
            } else if !segment.sacked {
                last_sent_us = segment.sent_us;
                first_sent_us.get_or_insert(last_sent_us);
                reord = reord.min(seq);
                if seq < self.high_seq {
                    flags.orig_acked = true;
                }
            }
            if segment.sacked {
                self.sacked_out -= 1;
            } else if selective {
                self.count_delivered(1, flags.ece);
                let sent = self.clock.stamp(Time(segment.sent_us * 1000));
                let spurious = segment.ever_retrans && stamp_echo.is_some_and(|echo| echo < sent);
                if !spurious {
                    self.rack_advance(segment.ever_retrans, seq + 1, segment.sent_us, now);
                }
            }
            self.lost_out -= u32::from(segment.lost);
            self.packets_out -= 1;
            self.note_delivery(seq, sample, now);
            if seq == 0 {
                flags.syn_acked = true;
                self.retrans_stamp = None;
            } else {
                flags.data_acked = true;
            }
            self.queue.unlist(seq);
        }
        if self.retransmit_hint.is_some_and(|hint| hint < self.una) {
            self.retransmit_hint = None;
        }
        let now_us = us(now);
        let since = |sent_us: u64| (now_us - sent_us) as u32;
        let (mut seq_rtt, mut ca_rtt) = (None, None);
        if let Some(first) = first_sent_us.filter(|_| !flags.retrans_acked) {
            (seq_rtt, ca_rtt) = (Some(since(first)), Some(since(last_sent_us)));
        }
        let sack_rtt = sacks.first_sent_us.map(since);
        if sack_rtt.is_some() {
            ca_rtt = Some(since(sacks.last_sent_us));
        }
        let sampled = self.take_rtt(flags, seq_rtt.or(sack_rtt), ca_rtt, stamp_echo, sample, tcp, now);
        if flags.acked() {
            flags.set_timer = true;
            if selective {
                if reord < prior_fack {
                    self.check_reordering(reord);
                }
            } else {
                self.remove_reno_sacks(acked, flags.ece);
                if flags.retrans_acked {
                    flags.orig_acked = false;
                }
            }
        } else if self.packets_out > 0
            && sampled
            && sack_rtt.is_some_and(|rtt| rtt > since(self.queue.get(self.una).sent_us))
        {
            flags.set_timer = true;
        }
        self.controller.on_delivered(sample.rtt_us, self.una, self.nxt, self.cwnd, &mut self.ssthresh, self.clock, now);
    }

    /// Takes a sample of the round-trip time, from what was sent once or else from the timestamp echoed
    /// (`tcp_ack_update_rtt`); whether there was one.
    #[allow(clippy::too_many_arguments)]
    fn take_rtt(
        &mut self,
        flags: &Flags,
        seq_rtt: Option<u32>,
        mut ca_rtt: Option<u32>,
        stamp_echo: Option<u64>,
        sample: &mut RateSample,
        tcp: &Tcp,
        now: Time,
    ) -> bool {
        let mut rtt = seq_rtt;
        if let (None, Some(echo), true) = (rtt, stamp_echo, flags.acked()) {
            let ms = self.clock.stamp(now).saturating_sub(echo).max(1);
            rtt = Some((ms * 1000) as u32);
            ca_rtt = rtt;
        }
        sample.rtt_us = ca_rtt;
        let Some(rtt) = rtt else { return false };
        let least = ca_rtt.unwrap_or(rtt);
        // Linux leaves out what may have been delayed: a lone segment of less than full size, which none is here.
        self.estimator.see_least(least, self.clock.jiffies(now), tcp);
        self.estimator.sample(rtt, self.una, self.nxt, self.min_rto_us(tcp));
        self.set_rto(tcp);
        self.rtt_sum_us += u64::from(rtt);
        self.rtt_samples += 1;
        true
    }

    /// Congestion control takes the acknowledgement (`tcp_cong_control`).
    fn control_window(&mut self, sample: &RateSample, flags: &Flags, net: &Net) {
        if self.controller.has_model() {
            self.with_model(net.now, |controller, view| controller.model_ack(sample, view));
            return;
        }
        let follows = self.state == State::Cwr && self.controller.reduces_at_once();
        if self.is_reducing() && !follows {
            self.reduce_window(sample.acked, sample.losses, flags.una_advanced);
        } else {
            // With much reordering whatever arrives opens the window, else only what arrives in order.
            let delivers = flags.acked() || flags.data_sacked;
            let raises = if self.reordering > REORDERING { delivers } else { flags.data_acked };
            if raises {
                self.grow_window(sample.acked, net.now);
            }
        }
        self.set_pacing_rate();
    }
}
