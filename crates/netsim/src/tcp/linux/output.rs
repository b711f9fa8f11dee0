//! What leaves, and when: new data, what is lost, probes for a loss at the tail.

use units::Time;

use super::acks::{Flags, Rexmit};
use super::burst::{LEAST_TOGETHER, MOST_TOGETHER, PACING_SHIFT, RTT_SHIFT, least_together};
use super::ca_state::State;
use super::ops::CongestionOps;
use super::pending::Pending;
use super::sender::Sender;
use crate::event::Kind;
use crate::options::SegmentOptions;
use crate::tcp::settings::Tcp;
use crate::tcp::{Riding, Shape};
use crate::wire::net::Net;

/// Segments of a connection that are sent without pacing.
const UNPACED: u64 = 10;
/// Percent of a window per round trip in slow start (`tcp_pacing_ss_ratio`).
const SLOW_START: u64 = 200;

impl Sender {
    /// Sends new data as far as the windows let it (`tcp_write_xmit`).
    pub(super) fn send_new(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let before = self.packets_out;
        // Nothing but the SYN leaves before that is acknowledged.
        let last = if self.una == 0 { 0 } else { shape.last };
        let mut limited = false;
        if self.nxt <= last {
            self.take_write(shape, tcp);
            let most = self.together();
            while self.nxt <= last && !self.must_wait(shape, tcp, net) {
                // In earlier releases the FIN, alone or with the last data, does not wait for the window.
                let closes = tcp.fin && self.nxt == shape.fin() && !tcp.kernel.fin_waits();
                let quota = if closes { 1 } else { self.quota() };
                if quota == 0 || !self.is_in_receiver_window(self.nxt, shape, tcp) {
                    break;
                }
                let left = self.left_of_write(quota.min(most), last, tcp);
                if left > 1 && self.may_defer(left, most, &mut limited, tcp, net) {
                    break;
                }
                let count = quota.min(most).min(left);
                if self.is_throttled(count, false, tcp, shape, net) {
                    break;
                }
                self.send_together(count, shape, tcp, net);
            }
        }
        self.note_sent(before, limited, true, shape, tcp, net);
        if self.packets_out == 0 && self.pending == Pending::Nothing {
            self.check_closed_window(shape, tcp, net);
        }
    }

    /// Segments that leave together at most (`tcp_tso_autosize`).
    pub(super) fn together(&self) -> u32 {
        let halvings = self.estimator.least_us() >> RTT_SHIFT;
        let more = if halvings < u32::BITS { MOST_TOGETHER >> halvings } else { 0 };
        let bytes = ((self.pacing_rate >> PACING_SHIFT) + more).min(MOST_TOGETHER);
        let least = if self.controller.has_model() { least_together(self.pacing_rate) } else { LEAST_TOGETHER };
        // Mostly it is the least: no division then.
        if bytes < u64::from(least + 1) * u64::from(self.mss) { least } else { (bytes / u64::from(self.mss)) as u32 }
    }

    /// Segments that the window lets out together: half of it at most (`tcp_cwnd_test`).
    fn quota(&self) -> u32 {
        self.cwnd.saturating_sub(self.in_flight()).min((self.cwnd >> 1).max(1))
    }

    /// Segments from the next one on, up to `last`, that lie in one piece of memory, of those that the program's data is cut
    /// into; newer kernels make the piece one of `wanted` segments.
    fn left_of_write(&mut self, wanted: u32, last: u32, tcp: &Tcp) -> u32 {
        let left = self.writes.end_of(self.nxt) + 1 - self.nxt;
        if left < wanted && tcp.kernel.grows_buffers() {
            self.writes.grow(wanted - left);
        }
        self.writes.end_of(self.nxt).min(last) + 1 - self.nxt
    }

    /// The application has written what there is to send.
    fn take_write(&mut self, shape: &Shape, tcp: &Tcp) {
        let last = shape.last.min(shape.data);
        if self.una > 0 && last > self.writes.to() {
            let first = self.writes.to().max(self.nxt - 1) + 1;
            let room = self.cwnd.saturating_sub(self.in_flight()).min(self.receiver_room());
            let queued = first - self.nxt;
            self.writes.write(first, last, room.saturating_sub(queued), self.together(), self.widest, tcp.mss);
        }
    }

    /// Whether to wait for room for more, because an acknowledgement is about to come (`tcp_tso_should_defer`). `left` segments
    /// of the program's data lie together, and `most` may leave together; `limited` is set when the window is what bounds them.
    fn may_defer(&self, left: u32, most: u32, limited: &mut bool, tcp: &Tcp, net: &Net) -> bool {
        let room = self.cwnd.saturating_sub(self.in_flight());
        let window = self.receiver_room();
        let limit = room.min(window);
        if limit >= most || self.state >= State::Recovery || self.packets_out == 0 {
            return false;
        }
        // The kernel reads its clock a moment later.
        if net.now >= self.next_departure + Time::from_millis(1) {
            return false;
        }
        let is_tail = self.writes.is_last();
        let chunk = u64::from(self.window).min(u64::from(self.cwnd) * u64::from(tcp.mss)) / 3;
        if !is_tail && limit >= left || u64::from(limit) * u64::from(tcp.mss) >= chunk {
            return false;
        }
        let srtt_ns = i64::from(self.estimator.srtt_us) * 125;
        let expected_ns = (self.queue.get(self.una).sent_us * 1000) as i64 + srtt_ns;
        if expected_ns - net.now.0 as i64 > (srtt_ns / 2).min(1_000_000) {
            return false;
        }
        if room < window && room <= left {
            *limited = true;
            return true;
        }
        window <= room && window <= left || !(is_tail && tcp.fin_on_data)
    }

    /// Sends the next `count` segments, as one buffer, as far as the receiver's window lets it.
    fn send_together(&mut self, count: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let first = self.nxt;
        let end = first + count.min(self.receiver_room()).max(1);
        let had_none = self.packets_out == 0;
        for seq in first..end {
            self.queue.add(seq, self.una);
            // The last of what leaves together has PSH.
            self.queue.at(seq).pushed = seq > first && seq + 1 == end || self.writes.pushes(seq);
        }
        self.queue.split(first);
        self.transmit_together(first, end, true, shape, tcp, net);
        self.nxt = end;
        self.packets_out += end - first;
        if had_none || self.pending == Pending::LossProbe {
            self.rearm_rto(shape, net);
        }
    }

    /// The segments of a buffer leave now, `fresh` or again, and the next one when the pace says.
    fn transmit_together(&mut self, first: u32, end: u32, fresh: bool, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let prior = self.next_departure;
        self.next_departure = prior.max(net.now);
        if first > 0 && first <= shape.data {
            self.note_start(net.now);
        }
        self.note_model_departures(first, end, fresh, net.now);
        let mut bytes = 0;
        for seq in first..end {
            bytes += self.transmit(seq, fresh, shape, tcp, net);
            self.data_sent += u64::from(seq > 0);
        }
        self.note_queued(bytes, shape, net);
        // Half of the time that it came late is made up for (`tcp_update_skb_after_send`).
        if self.pacing_rate > 0 && self.data_sent >= UNPACED && self.is_paced(tcp) {
            let spacing = u64::from(bytes) * 1_000_000_000 / self.pacing_rate;
            let credit = (self.next_departure - prior).0.min(spacing / 2);
            self.next_departure += Time(spacing - credit);
        }
    }

    /// Data leaves: where nothing was under way the controller is told (`CA_EVENT_TX_START`).
    fn note_start(&mut self, now: Time) {
        let jiffies = self.clock.jiffies(now);
        if self.in_flight() == 0 {
            self.controller.on_start(jiffies - self.last_sent, jiffies);
            if self.rate.app_limited != 0 {
                self.with_model(now, |controller, view| controller.model_restarts(view));
            }
        }
        self.last_sent = jiffies;
    }

    /// After sending, or trying to: whether the window is in full use, and the timer of the probe.
    fn note_sent(&mut self, before: u32, limited: bool, probe: bool, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let sent = self.packets_out - before;
        let limited = limited || self.in_flight() >= self.cwnd;
        if self.una == 0 {
            return;
        }
        if sent > 0 || limited {
            self.validate_window(limited, tcp, net);
        }
        if sent > 0 {
            if self.is_reducing() {
                self.prr_out += sent;
            }
            if probe {
                self.schedule_loss_probe(false, shape, tcp, net);
            }
        }
    }

    /// Segment `seq` leaves now, `fresh` or again: its payload, bytes.
    fn transmit(&mut self, seq: u32, fresh: bool, shape: &Shape, tcp: &Tcp, net: &mut Net) -> u32 {
        self.sent += 1;
        let at = self.next_departure;
        self.note_departure(seq, at);
        self.queue.departs(seq, at);
        let mut segment = shape.segment(seq, self.una, tcp);
        let payload = segment.len - tcp.headers();
        let told = self.put_marks(seq, fresh, &mut segment, shape, tcp, net);
        let pushed = seq > 0 && self.queue.get(seq).pushed;
        if tcp.timestamps || shape.riding().is_some() || told.is_some() || pushed {
            let mut options = SegmentOptions::stamped(net.now).telling(told);
            (options.echoed, options.pushed) = (self.heard, pushed);
            if let Some((Riding { ack, stamp, window, .. }, bytes)) = shape.riding() {
                (options.ack, options.ack_bytes) = (ack, bytes);
                (options.echoed, options.window) = (stamp, window);
            }
            segment.options = net.options.keep(options);
        }
        net.send(shape.out as usize, segment);
        payload
    }

    pub(super) fn is_paced(&self, tcp: &Tcp) -> bool {
        tcp.is_paced() || self.controller.has_model()
    }

    /// Whether the next segment must wait for its time; then the timer will ask for it.
    fn must_wait(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) -> bool {
        let waits = self.is_paced(tcp) && self.next_departure > net.now;
        if waits && self.pace_event == Time::NEVER {
            self.pace_event = self.next_departure;
            net.events.schedule(self.pace_event, Kind::Pace, shape.owner.slot as usize);
        }
        waits
    }

    /// The pace that the window gives: twice its rate in slow start, a fifth more else (`tcp_update_pacing_rate`).
    pub(super) fn set_pacing_rate(&mut self) {
        if self.controller.has_model() || self.estimator.srtt_us == 0 {
            return;
        }
        let percent = if self.cwnd < self.ssthresh / 2 { SLOW_START } else { self.controller.pace_percent() };
        let segments = u64::from(self.cwnd.max(self.packets_out));
        // The round-trip time is in eighths of a microsecond.
        self.pacing_rate =
            segments * u64::from(self.mss) * percent * (8 * 1_000_000 / 100) / u64::from(self.estimator.srtt_us);
    }

    /// Sends the segments of a buffer again.
    pub(super) fn retransmit(&mut self, first: u32, end: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        self.retransmits += u64::from(end - first);
        for seq in first..end {
            self.queue.at(seq).ever_retrans = true;
        }
        if end < self.nxt {
            self.queue.split(end);
        }
        self.transmit_together(first, end, false, shape, tcp, net);
    }

    /// `seq` was sent again, because it is lost or may be (`tcp_retransmit_skb`).
    pub(super) fn count_retransmission(&mut self, seq: u32) {
        let sent = self.clock.stamp(Time(self.queue.get(seq).sent_us * 1000));
        self.queue.at(seq).retrans = true;
        self.retrans_out += 1;
        self.retrans_stamp.get_or_insert(sent);
        self.undo_retrans = self.undo_retrans.max(0) + 1;
    }

    /// Sends what is lost again, as far as the window lets it (`tcp_xmit_retransmit_queue`).
    pub(super) fn retransmit_lost(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if self.packets_out == 0 {
            return;
        }
        let head = self.una;
        let most = self.together();
        let mut hole = false;
        let mut rearm = false;
        let mut seq = self.retransmit_hint.unwrap_or(head);
        while seq < self.nxt && !self.must_wait(shape, tcp, net) {
            if !hole {
                self.retransmit_hint = Some(seq);
            }
            if self.cwnd <= self.in_flight() || self.retrans_out >= self.lost_out {
                break;
            }
            let segment = *self.queue.get(seq);
            if !segment.lost {
                hole |= !segment.retrans && !segment.sacked;
                seq += 1;
            } else if segment.sacked || segment.retrans {
                seq += 1;
            } else {
                // What is lost of a buffer is all of it: what is not was split from it.
                let room = (self.cwnd - self.in_flight()).min(most);
                let end = self.queue.buffer_end(seq, self.nxt).min(seq + room);
                if self.is_throttled(end - seq, true, tcp, shape, net) {
                    break;
                }
                self.retransmit(seq, end, shape, tcp, net);
                for again in seq..end {
                    self.count_retransmission(again);
                }
                if self.is_reducing() {
                    self.prr_out += end - seq;
                }
                rearm |= seq == head && self.pending != Pending::Reordering;
                seq = end;
            }
        }
        if rearm {
            let rto = self.rto;
            self.set_timer(Pending::Retransmit, rto, shape, net);
        }
    }

    /// Sends what an acknowledgement asks for, after congestion control has set the window.
    pub(super) fn transmit_repairs(&mut self, rexmit: Rexmit, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if rexmit == Rexmit::Nothing || self.una == 0 {
            return;
        }
        if rexmit == Rexmit::New {
            self.send_new(shape, tcp, net);
            if self.nxt > self.high_seq {
                return;
            }
            self.frto = false;
        }
        self.retransmit_lost(shape, tcp, net);
    }

    /// Two round-trip times without an acknowledgement: new data, or the last segment again, to have one (RFC 8985, 7.3).
    pub(super) fn send_loss_probe(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if self.packets_out == 0 {
            self.pending = Pending::Nothing;
            return;
        }
        if self.tlp_high_seq.is_none() {
            self.tlp_retrans = false;
            if self.nxt <= shape.last && self.is_in_receiver_window(self.nxt, shape, tcp) {
                if !self.must_wait(shape, tcp, net) {
                    let before = self.packets_out;
                    let most = self.quota().max(1).min(self.together());
                    let count = most.min(self.left_of_write(most, shape.last, tcp));
                    if !self.is_throttled(count, false, tcp, shape, net) {
                        self.send_together(count, shape, tcp, net);
                        self.note_sent(before, false, false, shape, tcp, net);
                        self.tlp_high_seq = Some(self.nxt);
                        self.pending = Pending::Nothing;
                    }
                }
            } else {
                let tail = self.nxt - 1;
                self.queue.split(tail);
                self.retransmit(tail, self.nxt, shape, tcp, net);
                self.tlp_retrans = true;
                self.tlp_high_seq = Some(self.nxt);
                self.pending = Pending::Nothing;
            }
        }
        self.rearm_rto(shape, net);
    }

    /// An acknowledgement while a probe is out: whether there was a loss that it repaired (RFC 8985, 7.4).
    pub(super) fn process_tlp_ack(&mut self, ack: u32, flags: &Flags, tcp: &Tcp, net: &Net) {
        let Some(high) = self.tlp_high_seq.filter(|&high| ack >= high) else { return };
        if !self.tlp_retrans || flags.dsack_tlp {
            self.tlp_high_seq = None;
        } else if ack > high {
            self.begin_reduction(tcp);
            self.state = State::Cwr;
            self.end_reduction(net);
            self.keep_open();
        } else if !(flags.una_advanced || flags.not_dup() || flags.data_sacked) {
            self.tlp_high_seq = None;
        }
    }
}
