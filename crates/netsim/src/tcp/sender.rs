//! Sending end: what is sent when (RFC 5681), retransmission timer (RFC 6298), answers to marks (RFC 3168). What a
//! loss sets off is in [`recovery`](super::recovery).

mod model;
mod pacing;
mod state;

use std::mem::offset_of;

use qdisc::Packet;
use units::{Direction, Time};

use crate::event::Kind;
use crate::options::SegmentOptions;
use crate::out::records::FlowRecord;
use crate::tcp::accurate::Marks;
use crate::tcp::control::Control;
use crate::tcp::hystart::HyStart;
use crate::tcp::pacing::Pacer;
use crate::tcp::rtt::Rtt;
use crate::tcp::rules::Feedback;
use crate::tcp::rules::path::Model;
use crate::tcp::scoreboard::Scoreboard;
use crate::tcp::settings::{BackoffEnd, EcnMode, Recovery, RecoveryExit, Tcp};
use crate::tcp::{Life, Riding, Shape};
use crate::wire::handle::{ECHO, Handle, Mark};
use crate::wire::net::Net;

/// What every acknowledgement reads comes first, in four lines of the cache.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Sender {
    /// First number not acknowledged.
    pub(super) una: u32,
    /// Next number to send.
    pub(super) nxt: u32,
    /// One above the highest number sent.
    pub(super) max: u32,
    /// `max` when the last recovery or timeout began.
    pub(super) recover: u32,
    /// With [`Tcp::hystart`] only.
    pub(super) hystart: Option<Box<HyStart>>,
    /// With a rule that has a model of the path.
    pub(super) model: Option<Box<Model>>,
    deadline: Time,
    timer_event: Time,
    pub(super) dup_acks: u32,
    /// Segments added to the window during recovery (RFC 5681, 3.2, steps 3 and 4).
    pub(super) inflation: u32,
    pub(super) sent: u64,

    pub(super) timed: Timed,
    /// `max` when the last round trip of samples began.
    round_end: u32,
    rtt_sum_ns: u64,
    cwnd_sum: f64,
    acks: u32,
    rtt_samples: u32,
    /// Segments sent by limited transmit since the last new acknowledgement.
    pub(super) limited: u32,
    /// Timeouts since the last new acknowledgement, and no more than its type holds.
    attempts: u16,
    pub(super) recovering: bool,
    pub(super) partial_seen: bool,
    pub(super) control: Control,

    pub(super) board: Scoreboard,
    pub(super) rtt: Rtt,

    pub(super) pacer: Pacer,
    /// `max` when the window was last halved for a mark: what is below was sent before (RFC 3168, 6.1.2).
    pub(super) marked_below: u32,
    /// Marked segments that acknowledgements have told of (RFC 9768, 3.2.1: s.cep).
    pub(super) marks: Marks,
    /// The window before `marked_below`.
    pub(super) unmarked: f64,
    opened: Time,
    retransmits: u64,
    timeouts: u32,
    /// The next data sent for the first time tells the receiver that the window was reduced, for
    /// whatever reason.
    pub(super) owes_cwr: bool,
    /// The SYN was lost, or a recycled sender remembers one that was.
    pub(crate) syn_lost: bool,
    /// The same segment was repeated as often as it may.
    pub(super) gave_up: bool,
}

/// Number and time of the segment whose RTT is being measured, without a gap behind it.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(super) struct Timed {
    seq: u32,
    sent: Time,
}

impl Timed {
    /// No segment is timed.
    pub(super) const NONE: Timed = Timed { seq: 0, sent: Time::NEVER };

    #[inline]
    pub(super) fn get(self) -> Option<(u32, Time)> {
        let Timed { seq, sent } = self;
        (sent != Time::NEVER).then_some((seq, sent))
    }
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(Sender::OFTEN <= 4 * crate::prefetch::LINE);

impl Sender {
    /// Bytes from its beginning that every acknowledgement reads.
    pub(crate) const OFTEN: usize = offset_of!(Sender, rtt) + Rtt::OFTEN;

    pub(crate) fn idle(tcp: &Tcp) -> Sender {
        Sender::begin(tcp, Time::ZERO)
    }

    /// Begins another connection.
    pub(crate) fn restart(&mut self, tcp: &Tcp, clock_phase: Time) {
        *self = Sender::begin(tcp, clock_phase);
    }

    fn begin(tcp: &Tcp, clock_phase: Time) -> Sender {
        Sender {
            una: 0,
            nxt: 0,
            max: 0,
            control: Control::idle(tcp),
            hystart: None,
            model: None,
            dup_acks: 0,
            limited: 0,
            inflation: 0,
            recover: 0,
            recovering: false,
            board: Scoreboard::default(),
            partial_seen: false,
            marked_below: 0,
            unmarked: 0.0,
            marks: Marks::default(),
            owes_cwr: false,
            syn_lost: false,
            timed: Timed::NONE,
            rtt: Rtt::unknown(tcp, clock_phase),
            round_end: 0,
            pacer: Pacer::idle(),
            attempts: 0,
            gave_up: false,
            deadline: Time::NEVER,
            timer_event: Time::NEVER,
            opened: Time::NEVER,
            sent: 0,
            retransmits: 0,
            timeouts: 0,
            rtt_sum_ns: 0,
            rtt_samples: 0,
            acks: 0,
            cwnd_sum: 0.0,
        }
    }

    /// Sends the SYN, or answers the receiver's with SYN-ACK.
    pub(crate) fn open(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if self.una > 0 {
            return;
        }
        if self.max > 0 {
            // The SYN came again: the SYN-ACK was lost, and repeated it must not be timed (Karn).
            self.syn_lost = true;
            self.forget_timed(tcp);
        }
        self.nxt = 0;
        self.opened = self.opened.min(net.now);
        self.send_window(0, shape, tcp, net);
    }

    /// Begins connected, without a SYN of its own.
    pub(super) fn connected(&mut self) {
        (self.una, self.nxt, self.max) = (1, 1, 1);
    }

    /// The application has more to send after `idle`.
    pub(super) fn on_more(&mut self, idle: Time, tcp: &Tcp) {
        if tcp.restart_after_idle && idle > self.rtt.timeout(tcp) {
            self.control.cwnd = self.control.cwnd.min(f64::from(tcp.initial_window));
            self.control.rule.on_restart();
        }
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, handle: Handle, options: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let ack = handle.number;
        let marked = if tcp.ecn.is_on() { self.told_marks(ack, handle.echo, options, tcp, net) } else { 0 };
        if tcp.recovery == Recovery::Sack {
            self.on_sack(ack, options, marked, shape, tcp, net);
            return;
        }
        if tcp.ecn.is_on() {
            self.on_marks(ack, ack.saturating_sub(self.una), marked, tcp, net);
        }
        if ack > self.una {
            if self.is_partial(ack, tcp) {
                self.on_partial_ack(ack, options, shape, tcp, net);
            } else {
                self.on_new_ack(ack, options, marked, shape, tcp, net);
            }
        } else if ack == self.una && self.max > self.una && ack > 0 {
            self.on_dup_ack(shape, tcp, net);
        }
    }

    #[inline]
    pub(super) fn on_new_ack(&mut self, ack: u32, options: u32, marked: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let recovered = self.recovering;
        if recovered {
            self.leave_recovery(ack, tcp);
        }
        self.partial_seen = false;
        self.dup_acks = 0;
        self.on_sample(ack, options, tcp, net);
        if tcp.backoff_ends == BackoffEnd::Ack {
            self.rtt.end_back_off();
        }
        // On the way back after a timeout an acknowledgement leaps over what had come before (RFC 3465, 2.3).
        let acked = if self.una < self.recover { 1 } else { ack - self.una };
        let repaired = !tcp.repair_end_opens && !recovered && ack == self.recover && self.una < ack;
        self.advance(ack);
        if self.una < self.max {
            self.arm(shape, tcp, net);
        } else {
            self.deadline = Time::NEVER;
        }
        if ack == 1 {
            self.on_established(shape, tcp, net);
        } else if !(acked <= marked || repaired || recovered && tcp.recovery_exit == RecoveryExit::Deflate) {
            // What was marked does not open the window (RFC 3168, 6.1.2).
            self.leave_slow_start_early(net);
            self.control.on_ack(acked - marked, net.now, self.rtt.smoothed_s(tcp), tcp);
        }
        self.acks += 1;
        self.cwnd_sum += self.control.cwnd;
        self.send_window(0, shape, tcp, net);
    }

    /// Takes the RTT that the new acknowledgement `ack` tells: of what caused it if it echoes a timestamp (RFC 7323,
    /// 4.1), else of the segment that is timed, if it covers that.
    #[inline]
    pub(super) fn on_sample(&mut self, ack: u32, options: u32, tcp: &Tcp, net: &mut Net) {
        let sent = if tcp.timestamps {
            net.options.of(options).map(|options| options.echoed)
        } else {
            self.timed.get().filter(|&(seq, _)| ack > seq).map(|(_, sent)| sent)
        };
        let Some(sent) = sent else { return };
        self.timed = Timed::NONE;
        self.rtt.end_back_off();
        let new_round = ack > self.round_end;
        if new_round {
            self.round_end = self.max;
        }
        // One acknowledgement for two segments (RFC 7323, appendix G).
        let samples = if tcp.timestamps { (self.max - self.una).div_ceil(2) } else { 1 };
        self.rtt.sample(sent, net.now, samples, new_round, tcp);
        self.rtt_sum_ns += (net.now - sent).0;
        self.rtt_samples += 1;
    }

    /// Marked segments that an acknowledgement tells of: those it counts beyond the ones before, or all that it
    /// acknowledges if it has the flag.
    #[cold]
    fn told_marks(&mut self, ack: u32, echo: bool, options: u32, tcp: &Tcp, net: &mut Net) -> u32 {
        if !tcp.ecn.counts() {
            return if echo { ack.saturating_sub(self.una).max(1) } else { 0 };
        }
        let told = net.options.of(options).map_or(0, |options| options.marks);
        self.marks.take(told)
    }

    /// An acknowledgement up to `ack`, of `acked` segments that had not been, tells of `marked` ones. The window is
    /// reduced once for all that was in flight, and not again while a loss in the same window is being repaired
    /// (RFC 3168, 6.1.2; RFC 8257, 3.3).
    #[cold]
    pub(super) fn on_marks(&mut self, ack: u32, acked: u32, marked: u32, tcp: &Tcp, net: &Net) {
        if self.una == 0 {
            // The answer to the SYN is none of a window.
            return;
        }
        let (traits, rtt_s) = (self.control.rule.traits(), self.rtt.smoothed_s(tcp));
        let counts = tcp.counts_marks();
        if counts {
            let una = self.una.max(ack);
            self.control.rule.on_feedback(&Feedback { acked, marked, una, max: self.max, now: net.now, rtt_s });
        }
        let past = ack <= self.marked_below || self.recovering || ack <= self.recover;
        if marked == 0 || past || !traits.hears_marks {
            return;
        }
        if self.model.is_some() {
            // It has the marks with its sample.
            (self.marked_below, self.owes_cwr) = (self.max, tcp.ecn == EcnMode::Classic);
            return;
        }
        let before = if counts { self.control.cwnd } else { self.loss_window(tcp) };
        let Some(window) = self.control.marked(before, net.now, rtt_s, tcp) else { return };
        (self.marked_below, self.unmarked) = (self.max, before);
        self.owes_cwr = tcp.ecn == EcnMode::Classic;
        self.control.ssthresh = self.control.threshold(window);
        self.control.cwnd = self.control.ssthresh;
    }

    /// HyStart: the queue begins to fill.
    #[inline]
    fn leave_slow_start_early(&mut self, net: &Net) {
        let (cwnd, ssthresh) = (self.control.cwnd, self.control.ssthresh);
        if let Some(hystart) = &mut self.hystart
            && cwnd < ssthresh
        {
            self.control.steer(hystart.on_ack(self.una, self.max, cwnd, net.now));
        }
    }

    fn on_established(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if self.timeouts > 0 {
            self.rtt.after_lost_syn(tcp);
        }
        self.begin_window(shape, tcp, net);
        if tcp.handshake_ack && !shape.receiver_opens {
            let mut bare = shape.control(Direction::Forward, Mark::Close, 0, tcp);
            bare.remaining = shape.size_bytes;
            net.send(shape.out as usize, bare);
        }
    }

    /// The window of a connection that begins, with what the handshake told.
    pub(super) fn begin_window(&mut self, shape: &Shape, tcp: &Tcp, net: &Net) {
        self.hystart = self.control.begin_slow_start(1, tcp);
        // After a lost SYN the initial window is one segment (RFC 5681, 3.1).
        self.control.cwnd = if self.syn_lost { 1.0 } else { f64::from(tcp.initial_window) };
        if let Some(make) = self.control.rule.traits().model {
            let model = Model::begin(make, self.control.cwnd, self.rtt.smoothed_s(tcp), shape.owner.flow, net.now);
            self.model = Some(Box::new(model));
        }
    }

    pub(crate) fn on_timer(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) -> Life {
        if net.now != self.timer_event {
            return Life::Open;
        }
        self.timer_event = Time::NEVER;
        if self.deadline == Time::NEVER {
            return Life::Open;
        }
        if self.deadline > net.now {
            self.timer_event = self.deadline;
            net.events.schedule(self.deadline, Kind::Retransmit, shape.owner.slot as usize);
            return Life::Open;
        }
        let most = if self.una == 0 { tcp.syn_retries } else { tcp.retries };
        if most.is_some_and(|most| u32::from(self.attempts) >= most) {
            self.gave_up = true;
            return Life::Over;
        }
        self.attempts = self.attempts.saturating_add(1);
        self.on_rto(shape, tcp, net);
        Life::Open
    }

    /// Everything unacknowledged counts as lost: go back to it with a window of one (RFC 5681, 3.1).
    fn on_rto(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        self.timeouts += 1;
        net.trace.timed_out(shape.owner.flow, net.now);
        self.recover = self.max;
        if let Some(hystart) = &mut self.hystart {
            hystart.on_loss(self.max);
            self.control.end_first_slow_start();
        }
        self.owes_cwr = tcp.ecn == EcnMode::Classic;
        self.partial_seen = false;
        self.inflation = 0;
        self.board.clear();
        (self.dup_acks, self.limited) = (0, 0);
        if self.una == 0 {
            self.syn_lost = true;
            if tcp.syn_loss_lowers_ssthresh {
                self.control.ssthresh = 2.0;
            }
        } else if !(self.recovering && tcp.recovery == Recovery::Sack) {
            // A timeout during recovery ends the same loss: the threshold stays that of the recovery.
            let window = self.control.reduced(self.loss_window(tcp));
            self.control.ssthresh = self.control.threshold(window);
        }
        self.recovering = false;
        self.control.on_timeout();
        self.model_timed_out(net.now);
        self.rtt.back_off(tcp);
        self.forget_timed(tcp);
        self.nxt = self.una;
        self.arm(shape, tcp, net);
        self.send_window(0, shape, tcp, net);
    }

    #[inline]
    pub(super) fn advance(&mut self, ack: u32) {
        self.board.advance(self.una, ack);
        self.attempts = 0;
        self.limited = 0;
        self.una = ack;
        self.nxt = self.nxt.max(ack);
    }

    /// Goes on sending after a wait.
    pub(super) fn send_allowed(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if self.recovering && tcp.recovery == Recovery::Sack {
            self.fill_pipe(shape, tcp, net);
        } else {
            self.send_window(if self.recovering { tcp.recovery_burst } else { 0 }, shape, tcp, net);
        }
    }

    /// Sends what the window allows, at most `burst` segments unless that is 0.
    #[inline]
    pub(super) fn send_window(&mut self, burst: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let window = (self.control.cwnd as u32 + self.inflation).min(tcp.receiver_window);
        let mut end = (self.una + window).min(shape.last + 1);
        if burst > 0 {
            end = end.min(self.nxt + burst);
        }
        while self.nxt < end {
            // After a timeout, what has come nevertheless is left out.
            if !self.board.is_sacked(self.nxt) {
                if self.must_wait(shape, tcp, net) {
                    return;
                }
                self.output(self.nxt, shape, tcp, net);
            }
            self.nxt += 1;
        }
        if self.nxt > shape.last {
            self.note_idle();
        }
    }

    #[inline]
    pub(super) fn output(&mut self, seq: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        self.sent += 1;
        self.note_departure(seq, net.now);
        if self.deadline == Time::NEVER {
            self.arm(shape, tcp, net);
        }
        let mut segment = shape.segment(seq, self.una, tcp);
        let never_sent = self.max;
        if seq < self.max {
            self.retransmits += 1;
            if self.timed.get().is_some_and(|(timed, _)| timed == seq) {
                self.forget_timed(tcp);
            }
        } else {
            self.max = seq + 1;
            if let Some(hystart) = &mut self.hystart {
                hystart.on_send(seq, net.now);
            }
            if self.timed.get().is_none() {
                self.timed = Timed { seq, sent: net.now };
            }
        }
        if tcp.ecn.is_on() && seq > 0 && seq <= shape.data {
            self.make_capable(&mut segment, seq >= never_sent, tcp);
        }
        if tcp.timestamps || shape.riding().is_some() {
            let mut options = SegmentOptions::stamped(net.now);
            if let Some((Riding { ack, stamp, marks, echo, .. }, bytes)) = shape.riding() {
                (options.ack, options.ack_bytes, options.echoed) = (ack, bytes, stamp);
                (options.marks, options.echo) = (marks, echo);
            }
            segment.options = net.options.keep(options);
        }
        net.send(shape.out as usize, segment);
        if tcp.is_paced() {
            self.pace(tcp, net);
        }
    }

    /// Neither control segments nor, with RFC 3168, retransmissions are ECT (6.1.1 and 6.1.5); with the feedback of DCTCP and
    /// AccECN Linux sends the latter as such. The first fresh data after a reduction says so.
    #[cold]
    fn make_capable(&mut self, segment: &mut Packet, fresh: bool, tcp: &Tcp) {
        if fresh || tcp.ecn != EcnMode::Classic {
            segment.ecn = tcp.ecn.codepoint();
        }
        if fresh && std::mem::take(&mut self.owes_cwr) {
            segment.handle |= ECHO;
        }
    }

    /// Karn: the acknowledgement of a repeated segment would not tell which copy it answers.
    fn forget_timed(&mut self, tcp: &Tcp) {
        if self.una > 0 || !tcp.time_repeated_syn {
            self.timed = Timed::NONE;
        }
    }

    /// (Re)starts the retransmission timer (RFC 6298, 5.1 and 5.3).
    #[inline]
    pub(super) fn arm(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        self.deadline = net.now + self.rtt.timeout(tcp);
        if self.timer_event > self.deadline {
            self.timer_event = self.deadline;
            net.events.schedule(self.deadline, Kind::Retransmit, shape.owner.slot as usize);
        }
    }

    pub(crate) fn disarm(&mut self) {
        self.pacer.disarm();
        self.deadline = Time::NEVER;
        self.timer_event = Time::NEVER;
    }

    pub(crate) fn report(&self, record: &mut FlowRecord) {
        record.first_sent = self.opened;
        record.packets_sent = self.sent;
        record.retransmits = self.retransmits;
        record.timeouts = self.timeouts;
        record.rtt_mean_s = self.rtt_sum_ns as f64 * 1e-9 / f64::from(self.rtt_samples);
        record.cwnd_mean_packets = self.cwnd_sum / f64::from(self.acks);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tcp::settings::{
        CachedMetrics, Congestion, EcnMode, Hystart, Kernel, LossWindow, ReceiveBuffer, RtoRule, StreamOrder,
    };

    /// Congestion window and slow-start threshold, segments.
    pub(crate) fn windows(sender: &Sender) -> (f64, f64) {
        (sender.control.cwnd, sender.control.ssthresh)
    }

    /// Congestion control before anything is acknowledged, and settings with a large window.
    pub(crate) fn with(congestion: Congestion) -> (Control, Tcp) {
        let tcp = Tcp { congestion, receiver_window: 100_000, ..tcp() };
        (Control::idle(&tcp), tcp)
    }

    /// Segments in the network as the scoreboard tells.
    pub(crate) fn pipe(sender: &Sender) -> u32 {
        sender.board.pipe(sender.una, sender.max)
    }

    pub(crate) fn tcp() -> Tcp {
        Tcp {
            mss: 1460,
            header: 40,
            initial_window: 2,
            receiver_window: 43,
            receive_buffer: ReceiveBuffer::Auto,
            receive_memory: 6_291_456,
            gro: Time::ZERO,
            initial_rto: Time::from_millis(3000),
            min_rto: Time::from_millis(200),
            max_rto: Time::from_millis(60_000),
            tick: Time(1),
            delayed_ack: Time::from_millis(100),
            fin: true,
            fin_on_data: false,
            close_acks: 0,
            handshake_ack: true,
            limited_transmit: true,
            ecn: EcnMode::Off,
            hystart: Hystart::Off,
            byte_counting: false,
            congestion: Congestion::Aimd,
            lax_duplicates: false,
            impatient: true,
            recovery_burst: 0,
            loss_window: LossWindow::Flight,
            recovery_exit: RecoveryExit::Deflate,
            repair_end_opens: true,
            backoff_ends: BackoffEnd::Sample,
            time_repeated_syn: false,
            syn_loss_lowers_ssthresh: false,
            recycled_senders: false,
            recovery: Recovery::NewReno,
            ack_every: 2,
            handshake_bytes: 4000,
            early_data: false,
            stream_order: StreamOrder::Incremental,
            timestamps: false,
            rto_rule: RtoRule::Rfc6298,
            kernel: Kernel::V6_1,
            pacing: false,
            quick_acks: 0,
            syn_retries: None,
            linear_syn_timeouts: 0,
            retries: None,
            restart_after_idle: false,
            cached_metrics: CachedMetrics::Off,
            reserved: 0,
        }
    }
}
