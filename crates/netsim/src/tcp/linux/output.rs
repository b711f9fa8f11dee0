//! What leaves, and when: new data, what is lost, probes for a loss at the tail.

use qdisc::Ecn;
use units::Time;

use super::acks::{Flags, Rexmit};
use super::pending::Pending;
use super::sender::{Sender, State};
use crate::event::Kind;
use crate::options::SegmentOptions;
use crate::tcp::settings::Tcp;
use crate::tcp::{Riding, Shape};
use crate::wire::handle::ECHO;
use crate::wire::net::Net;

/// Segments of a connection that are sent without pacing.
const UNPACED: u64 = 10;
/// Pace below which segments leave one by one, bytes per second (`bbr_min_tso_rate`), and bytes that leave together at most.
const LOW_PACE: f64 = 150_000.0;
const MOST_TOGETHER: f64 = 65_536.0;
/// Power of two, microseconds, by which what leaves together is halved for each that the shortest round trip is long
/// (`tcp_tso_rtt_log`).
const NEAR: u32 = 9;
/// Windows per round trip in slow start, and in congestion avoidance (`tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
const SLOW_START: f64 = 2.0;
const AVOIDANCE: f64 = 1.2;

impl Sender {
    /// Sends new data as far as the windows let it (`tcp_write_xmit`).
    pub(super) fn send_new(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let before = self.packets_out;
        // Nothing but the SYN leaves before that is acknowledged.
        let last = if self.una == 0 { 0 } else { shape.last };
        self.take_write(shape, tcp);
        while self.nxt <= last && !self.must_wait(shape, tcp, net) {
            // The FIN, alone or with the last data, does not wait for the window.
            let closes = tcp.fin && self.nxt == shape.fin;
            if !closes && self.in_flight() >= self.cwnd || !self.is_in_receiver_window(self.nxt, shape, tcp) {
                break;
            }
            let together = (self.writes.end_of(self.nxt) + 1 - self.nxt).min(last + 1 - self.nxt);
            if together > 1 && self.may_defer(together, tcp, net) {
                self.cwnd_limited = true;
                break;
            }
            let end = self.nxt + self.burst().min(together);
            let (first, mut bytes) = (self.nxt, 0);
            while self.nxt < end && self.is_in_receiver_window(self.nxt, shape, tcp) {
                let more = self.nxt + 1 < end && self.is_in_receiver_window(self.nxt + 1, shape, tcp);
                let last_of_burst = !more && self.nxt > first;
                bytes += self.send_one(last_of_burst, shape, tcp, net);
            }
            if self.is_paced(tcp) {
                self.pace(bytes, net.now);
            }
        }
        self.note_sent(before, true, shape, tcp, net);
        if self.packets_out == 0 && self.pending == Pending::Nothing {
            self.check_closed_window(shape, tcp, net);
        }
    }

    /// The application has written what there is to send.
    fn take_write(&mut self, shape: &Shape, tcp: &Tcp) {
        let last = shape.data.min(shape.end);
        if self.una > 0 && last > self.writes.to() {
            let first = self.writes.to().max(self.nxt - 1) + 1;
            let room = self.cwnd.saturating_sub(self.in_flight()).min(self.receiver_room());
            let queued = first - self.nxt;
            let room = room.saturating_sub(queued);
            self.writes.write(first, last, room, self.quantum(), self.widest, tcp.mss);
        }
    }

    /// Segments that leave together: what a millisecond takes, and more the shorter the round trip; two at least, but with a
    /// model whose pace is below 1.2 Mbit/s (`tcp_tso_autosize`, `bbr_min_tso_segs`).
    pub(super) fn quantum(&self) -> u32 {
        let mut bytes = self.pacing_rate / 1024.0;
        let halvings = self.estimator.least_us() >> NEAR;
        if halvings < 32 {
            bytes += f64::from(MOST_TOGETHER as u32 >> halvings);
        }
        let least = if self.controller.has_model() && self.pacing_rate < LOW_PACE { 1 } else { 2 };
        ((bytes.min(MOST_TOGETHER) / f64::from(self.mss)) as u32).max(least)
    }

    /// Segments that leave together now: half of the window at most (`tcp_cwnd_test`).
    fn burst(&self) -> u32 {
        let room = self.cwnd.saturating_sub(self.in_flight()).max(1);
        self.quantum().min(room).min((self.cwnd >> 1).max(1))
    }

    /// Whether to wait for room for a whole quantum, because an acknowledgement is about to come, while the buffer has
    /// `together` segments (`tcp_tso_should_defer`).
    fn may_defer(&self, together: u32, tcp: &Tcp, net: &Net) -> bool {
        let recent = net.now.saturating_sub(self.next_departure) < Time::from_millis(1);
        if self.state >= State::Recovery || !recent || self.packets_out == 0 {
            return false;
        }
        let (window, receiver) = (self.cwnd.saturating_sub(self.in_flight()), self.receiver_room());
        let limit = window.min(receiver);
        if limit >= self.quantum() || !self.writes.is_last() && limit >= together {
            return false;
        }
        let chunk = u64::from(self.window).min(u64::from(self.cwnd) * u64::from(tcp.mss)) / 3;
        if u64::from(limit) * u64::from(tcp.mss) >= chunk {
            return false;
        }
        let srtt_us = i64::from(self.estimator.srtt_us >> 3);
        let expected_us = self.queue.get(self.una).sent_us as i64 + srtt_us;
        expected_us - (net.now.0 / 1000) as i64 <= (srtt_us / 2).min(1000)
    }

    /// Sends the next segment, perhaps as the last of some that leave together: its payload, bytes.
    fn send_one(&mut self, last_of_burst: bool, shape: &Shape, tcp: &Tcp, net: &mut Net) -> u32 {
        let seq = self.nxt;
        if self.in_flight() == 0 {
            let idle = self.clock.jiffies(net.now) - self.last_sent;
            self.controller.on_start(idle, self.clock.jiffies(net.now));
            if self.rate.app_limited != 0 {
                self.controller.on_restart(net.now);
            }
        }
        self.last_sent = self.clock.jiffies(net.now);
        self.queue.add(seq, self.una);
        self.queue.at(seq).pushed = last_of_burst || self.writes.pushes(seq);
        let bytes = self.transmit(seq, true, shape, tcp, net);
        self.nxt += 1;
        self.packets_out += 1;
        if self.packets_out == 1 || self.pending == Pending::LossProbe {
            self.rearm_rto(shape, net);
        }
        bytes
    }

    /// After sending, or trying to: whether the window is in full use, and the timer of the probe.
    fn note_sent(&mut self, before: u32, probe: bool, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let sent = self.packets_out - before;
        let limited = self.in_flight() >= self.cwnd;
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
        let at = self.next_departure.max(net.now);
        self.note_departure(seq, at);
        self.queue.departs(seq, at);
        let mut segment = shape.segment(seq, self.una, tcp);
        // Neither control segments nor retransmissions are ECT (RFC 3168, 6.1.1 and 6.1.5).
        if fresh && tcp.ecn.is_on() && seq > 0 && seq <= shape.data {
            segment.ecn = Ecn::Ect0;
            segment.handle |= if std::mem::take(&mut self.owes_cwr) { ECHO } else { 0 };
        }
        let pushed = self.queue.get(seq).pushed && seq > 0;
        if tcp.timestamps || shape.riding.is_some() || pushed {
            let mut options = SegmentOptions::stamped(net.now);
            (options.echoed, options.pushed) = (self.heard, pushed);
            if let Some(Riding { ack, stamp, window, .. }) = shape.riding {
                (options.ack, options.ack_bytes) = (ack, shape.riding_bytes);
                (options.echoed, options.window) = (stamp, window);
            }
            segment.options = net.options.keep(options);
        }
        if !self.is_paced(tcp) {
            self.next_departure = net.now;
        }
        let payload = segment.len - tcp.headers();
        net.send(shape.out, segment);
        payload
    }

    fn is_paced(&self, tcp: &Tcp) -> bool {
        tcp.pacing || self.controller.has_model()
    }

    /// Whether the next segment must wait for its time; then the timer will ask for it.
    fn must_wait(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) -> bool {
        let waits = self.is_paced(tcp) && self.next_departure > net.now;
        if waits && self.pace_event == Time::NEVER {
            self.pace_event = self.next_departure;
            net.events.schedule(self.pace_event, Kind::Pace, shape.owner.slot);
        }
        waits
    }

    /// A segment of `bytes` has left; half of the time it came late is made up for (`tcp_update_skb_after_send`).
    fn pace(&mut self, bytes: u32, now: Time) {
        let prior = self.next_departure;
        self.next_departure = prior.max(now);
        if self.pacing_rate > 0.0 && self.sent > UNPACED {
            let spacing = (f64::from(bytes) * 1e9 / self.pacing_rate) as u64;
            let credit = (self.next_departure - prior).0.min(spacing / 2);
            self.next_departure += Time(spacing - credit);
        }
    }

    /// The pace that the window gives: twice its rate in slow start, a fifth more else (`tcp_update_pacing_rate`).
    pub(super) fn set_pacing_rate(&mut self, tcp: &Tcp) {
        if self.controller.has_model() || self.estimator.srtt_us == 0 {
            return;
        }
        let windows = if self.cwnd < self.ssthresh / 2 { SLOW_START } else { AVOIDANCE };
        let segments = f64::from(self.cwnd.max(self.packets_out));
        self.pacing_rate = windows * segments * f64::from(tcp.mss) / self.estimator.srtt_s();
    }

    /// Sends `seq` again.
    pub(super) fn retransmit(&mut self, seq: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        self.retransmits += 1;
        self.queue.at(seq).ever_retrans = true;
        let bytes = self.transmit(seq, false, shape, tcp, net);
        if self.is_paced(tcp) {
            self.pace(bytes, net.now);
        }
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
            } else if !segment.sacked && !segment.retrans {
                self.retransmit(seq, shape, tcp, net);
                self.count_retransmission(seq);
                if self.is_reducing() {
                    self.prr_out += 1;
                }
                rearm |= seq == head && self.pending != Pending::Reordering;
            }
            seq += 1;
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
                    self.writes.end_of(self.nxt);
                    let bytes = self.send_one(false, shape, tcp, net);
                    if self.is_paced(tcp) {
                        self.pace(bytes, net.now);
                    }
                    self.note_sent(before, false, shape, tcp, net);
                    self.tlp_high_seq = Some(self.nxt);
                    self.pending = Pending::Nothing;
                }
            } else {
                self.retransmit(self.nxt - 1, shape, tcp, net);
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
