//! State of the sending end, and what the others of a connection ask of it.

use units::Time;

use super::buffer::Buffer;
use super::ca_state::State;
use super::clock::{Clock, Jiffies};
use super::control::Controller;
use super::host::HostQueue;
use super::metrics::Metrics;
use super::ops::CongestionOps;
use super::pending::Pending;
use super::queue::Queue;
use super::rack::Rack;
use super::rate::RateMeter;
use super::receiver::Receiver;
use super::rtt::Estimator;
use super::view::Opening;
use super::writes::Writes;
use crate::out::records::FlowRecord;
use crate::tcp::settings::Tcp;
use crate::tcp::{Life, Shape};
use crate::wire::handle::Handle;
use crate::wire::net::Net;

/// A slow-start threshold that no window reaches.
pub(super) const INFINITE: u32 = 0x7fff_ffff;
/// Segments by which arrivals are taken to be out of order at most, before more has been seen (`tcp_reordering`).
pub(super) const REORDERING: u32 = 3;

/// The sending end of one connection.
#[derive(Debug)]
pub(crate) struct Sender {
    /// First number not acknowledged.
    pub(crate) una: u32,
    /// Next number to send.
    pub(super) nxt: u32,
    pub(super) queue: Queue,
    pub(super) host: HostQueue,
    /// Segments sent and not acknowledged; of them acknowledged selectively, lost, and sent again.
    pub(super) packets_out: u32,
    pub(super) sacked_out: u32,
    pub(super) lost_out: u32,
    pub(super) retrans_out: u32,
    /// One above the highest number acknowledged selectively.
    pub(super) fack: u32,
    /// Blocks of the last acknowledgement that had any.
    pub(super) known_blocks: [(u32, u32); 4],

    /// What the receiver's window holds from `una` on, and the widest there was (`snd_wnd`, `max_window`), bytes.
    pub(super) window: u32,
    pub(super) widest: u32,
    /// Probes of a window that is closed, since it was open.
    pub(super) probes: u32,
    /// Timestamp that the receiver sent last.
    pub(super) heard: Time,
    /// How the application's data lies in buffers.
    pub(super) writes: Writes,
    /// Payload of a segment, bytes.
    pub(super) mss: u32,
    pub(super) cwnd: u32,
    /// Segments acknowledged since the window last grew in congestion avoidance.
    pub(super) cwnd_cnt: u32,
    pub(super) ssthresh: u32,
    pub(super) controller: Controller,
    /// The window was in use to its end since it was last all acknowledged.
    pub(super) cwnd_limited: bool,
    /// Most segments under way in that time, and the number that ends it.
    pub(super) max_packets_out: u32,
    pub(super) cwnd_usage_seq: u32,
    /// Most segments under way since the window was last in full use, and when that was.
    pub(super) cwnd_used: u32,
    pub(super) cwnd_stamp: Jiffies,
    /// When data was last sent.
    pub(super) last_sent: Jiffies,

    pub(super) state: State,
    /// `nxt` when the state began: what ends it.
    pub(super) high_seq: u32,
    /// Where the reduction began that may be taken back; 0 for none.
    pub(super) undo_marker: u32,
    /// Retransmissions not yet told to be needless; less than 0 where that cannot be known.
    pub(super) undo_retrans: i32,
    pub(super) prior_cwnd: u32,
    /// Threshold before the reduction; 0 where it must not be taken back.
    pub(super) prior_ssthresh: u32,
    /// Time of the first retransmission of this recovery, milliseconds.
    pub(super) retrans_stamp: Option<u64>,
    /// A timeout is being tried for having been spurious (RFC 5682).
    pub(super) frto: bool,
    /// Delivered and sent since the reduction began (RFC 6937: `prr_delivered`, `prr_out`).
    pub(super) prr_delivered: u32,
    pub(super) prr_out: u32,
    /// Reordering seen so far, segments, and how often.
    pub(super) reordering: u32,
    pub(super) reord_seen: u32,
    /// The lowest number that may be next to be sent again.
    pub(super) retransmit_hint: Option<u32>,
    pub(super) rack: Rack,
    /// `nxt` when a probe for a loss at the tail was sent, and whether the probe was a retransmission.
    pub(super) tlp_high_seq: Option<u32>,
    pub(super) tlp_retrans: bool,
    /// Segments reported as received twice.
    pub(super) dsack_dups: u32,

    pub(super) estimator: Estimator,
    pub(super) rate: RateMeter,
    /// Segments delivered, of those with a mark, and segments taken for lost, all counted from the start.
    pub(super) delivered: u32,
    pub(super) delivered_ce: u32,
    pub(super) lost: u32,

    pub(super) clock: Clock,
    pub(super) pending: Pending,
    /// When the timer is set for, and when it goes off.
    pub(super) timeout: Jiffies,
    pub(super) deadline: Time,
    pub(super) timer_event: Time,
    /// Retransmission timeout, with its back-off.
    pub(super) rto: Jiffies,
    /// Timeouts since the last new acknowledgement.
    pub(super) attempts: u32,
    /// Data may be unacknowledged for so long after it was repeated first, milliseconds; 0 for as long as repetitions last.
    pub(crate) user_timeout_ms: u64,
    /// The pace: when the next segment may leave, and its timer.
    pub(super) next_departure: Time,
    pub(super) pace_event: Time,
    /// Bytes per second; 0 before it is known.
    pub(super) pacing_rate: u64,
    /// Segments with payload that have left.
    pub(super) data_sent: u64,

    /// The next data sent for the first time tells that the window was reduced.
    pub(super) owes_cwr: bool,
    /// The next acknowledgement is the first behind the SYN-ACK.
    pub(super) first_ack: bool,
    /// The SYN was lost, or a recycled sender remembers one that was.
    pub(crate) syn_lost: bool,
    /// The same segment was repeated as often as it may.
    pub(crate) gave_up: bool,
    established: bool,
    /// What earlier connections told of the path.
    pub(crate) known: Option<Metrics>,

    opened: Time,
    pub(crate) sent: u64,
    pub(super) retransmits: u64,
    pub(super) timeouts: u32,
    pub(super) rtt_sum_us: u64,
    pub(super) rtt_samples: u32,
    acks: u32,
    cwnd_sum: u64,
}

impl Sender {
    pub(crate) fn idle(tcp: &Tcp) -> Sender {
        Sender::with_memory(Queue::empty(), HostQueue::default(), tcp, Time::ZERO)
    }

    /// Begins another connection in the same memory.
    pub(crate) fn restart(&mut self, tcp: &Tcp, clock_phase: Time) {
        let mut queue = std::mem::replace(&mut self.queue, Queue::empty());
        queue.clear();
        let mut host = std::mem::take(&mut self.host);
        host.clear();
        *self = Sender::with_memory(queue, host, tcp, clock_phase);
    }

    fn with_memory(queue: Queue, host: HostQueue, tcp: &Tcp, clock_phase: Time) -> Sender {
        let clock = Clock::of(tcp.tick, clock_phase);
        Sender {
            una: 0,
            nxt: 0,
            queue,
            host,
            packets_out: 0,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            fack: 0,
            known_blocks: [(0, 0); 4],
            window: Buffer::of(tcp, false).first_window(),
            widest: Buffer::of(tcp, false).first_window(),
            probes: 0,
            heard: Time::ZERO,
            writes: Writes::none(),
            mss: tcp.mss,
            cwnd: tcp.initial_window,
            cwnd_cnt: 0,
            ssthresh: INFINITE,
            controller: Controller::of(tcp),
            cwnd_limited: false,
            max_packets_out: 0,
            cwnd_usage_seq: 0,
            cwnd_used: 0,
            cwnd_stamp: 0,
            last_sent: 0,
            state: State::Open,
            high_seq: 0,
            undo_marker: 0,
            undo_retrans: -1,
            prior_cwnd: 0,
            prior_ssthresh: 0,
            retrans_stamp: None,
            frto: false,
            prr_delivered: 0,
            prr_out: 0,
            reordering: REORDERING,
            reord_seen: 0,
            retransmit_hint: None,
            rack: Rack::new(),
            tlp_high_seq: None,
            tlp_retrans: false,
            dsack_dups: 0,
            estimator: Estimator::unknown(),
            rate: RateMeter::default(),
            delivered: 0,
            delivered_ce: 0,
            lost: 0,
            clock,
            pending: Pending::Nothing,
            timeout: 0,
            deadline: Time::NEVER,
            timer_event: Time::NEVER,
            rto: clock.in_jiffies(tcp.initial_rto.0 / 1000),
            attempts: 0,
            user_timeout_ms: 0,
            next_departure: Time::ZERO,
            pace_event: Time::NEVER,
            pacing_rate: 0,
            data_sent: 0,
            owes_cwr: false,
            first_ack: false,
            syn_lost: false,
            gave_up: false,
            established: false,
            known: None,
            opened: Time::NEVER,
            sent: 0,
            retransmits: 0,
            timeouts: 0,
            rtt_sum_us: 0,
            rtt_samples: 0,
            acks: 0,
            cwnd_sum: 0,
        }
    }

    /// Segments in flight: sent, and neither arrived nor lost.
    #[inline]
    pub(super) fn in_flight(&self) -> u32 {
        (self.packets_out + self.retrans_out).saturating_sub(self.sacked_out + self.lost_out)
    }

    /// Whether the window is being reduced segment by segment.
    #[inline]
    pub(super) fn is_reducing(&self) -> bool {
        matches!(self.state, State::Cwr | State::Recovery)
    }

    /// The number above what was acknowledged selectively; `una` when nothing was.
    #[inline]
    pub(super) fn highest_sack(&self) -> u32 {
        if self.sacked_out == 0 { self.una } else { self.fack }
    }

    /// Sends the SYN, or answers the receiver's with SYN-ACK.
    pub(crate) fn open(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if self.una > 0 {
            return;
        }
        if self.nxt > 0 {
            // The SYN came again: its answer was lost, and goes out once more without a change of the timer.
            self.syn_lost = true;
            self.retransmit(0, 1, shape, tcp, net);
            return;
        }
        self.opened = self.opened.min(net.now);
        self.send_new(shape, tcp, net);
        self.rearm_rto(shape, net);
    }

    /// Begins connected, without a SYN of its own.
    pub(crate) fn connected(&mut self) {
        (self.una, self.nxt, self.fack) = (1, 1, 1);
    }

    /// Takes the round-trip time of the handshake from the receiver at the same host, and begins the window.
    pub(crate) fn begin_beside(&mut self, other: &Receiver, shape: &Shape, tcp: &Tcp, net: &Net) {
        self.syn_lost = other.syn_lost;
        if let Some(us) = other.handshake_us() {
            self.estimator.sample(us, self.una, self.nxt, self.min_rto_us(tcp));
            self.estimator.see_least(us, self.clock.jiffies(net.now), tcp);
            self.set_rto(tcp);
        }
        self.begin_window(shape, tcp, net);
    }

    /// The application has more to send after `idle`.
    pub(crate) fn on_more(&mut self, idle: Time, tcp: &Tcp, net: &Net) {
        let idle = self.clock.in_jiffies(idle.0 / 1000);
        if tcp.restart_after_idle && self.packets_out == 0 && idle > self.rto && !self.controller.has_model() {
            self.restart_window(idle, tcp, net);
        }
        self.note_write();
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, handle: Handle, options: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let answers_syn = net.options.of(options).is_some_and(|options| options.syn);
        // The answer to the SYN that comes again tells nothing new.
        if handle.number > self.nxt || answers_syn && self.established {
            return;
        }
        self.hear(handle, options, shape, tcp, net);
        self.take_ack(handle.number, handle.echo, options, shape, tcp, net);
        if self.una > 0 && !self.established {
            self.on_established(shape, tcp, net);
        }
        self.acks += 1;
        self.cwnd_sum += u64::from(self.cwnd);
        self.send_new(shape, tcp, net);
    }

    fn on_established(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        self.begin_window(shape, tcp, net);
        self.first_ack = !shape.receiver_opens;
        if tcp.handshake_ack && !shape.receiver_opens {
            let bare = self.end_of_handshake(shape, tcp, net);
            net.send(shape.out as usize, bare);
        }
        self.note_write();
    }

    /// The window of a connection that begins. It is one segment only after the SYN was lost twice: with the initial
    /// timeout of RFC 6298 one loss is likely to have been a delay.
    fn begin_window(&mut self, shape: &Shape, tcp: &Tcp, net: &Net) {
        self.established = true;
        self.state = State::Open;
        self.undo_marker = 0;
        self.owes_cwr = false;
        self.cwnd = if self.syn_lost && self.timeouts > 1 { 1 } else { tcp.initial_window };
        self.ssthresh = INFINITE;
        self.recall(tcp);
        self.cwnd_cnt = 0;
        self.cwnd_stamp = self.clock.jiffies(net.now);
        self.high_seq = self.nxt;
        (self.cwnd_limited, self.max_packets_out, self.cwnd_usage_seq) = (false, 0, 0);
        let opening = Opening { flow: shape.owner.flow, nxt: self.nxt, least_us: self.estimator.least_us() };
        self.with_view(net.now, |controller, view| controller.begin(opening, view));
        self.set_pacing_rate();
    }

    pub(crate) fn on_timer(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) -> Life {
        self.timer_went_off(shape, tcp, net)
    }

    pub(crate) fn on_pace_timer(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if net.now == self.pace_event {
            self.pace_event = Time::NEVER;
            self.send_allowed(shape, tcp, net);
        }
    }

    /// Goes on sending after a wait: what is lost first, if a timeout or recovery wants it, then what is new.
    pub(crate) fn send_allowed(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if self.lost_out > self.retrans_out && self.cwnd > self.in_flight() {
            self.retransmit_lost(shape, tcp, net);
        }
        self.send_new(shape, tcp, net);
    }

    pub(crate) fn disarm(&mut self) {
        self.pending = Pending::Nothing;
        (self.deadline, self.timer_event, self.pace_event) = (Time::NEVER, Time::NEVER, Time::NEVER);
    }

    pub(crate) fn report(&self, record: &mut FlowRecord) {
        record.first_sent = self.opened;
        record.packets_sent = self.sent;
        record.retransmits = self.retransmits;
        record.timeouts = self.timeouts;
        record.rtt_mean_s = self.rtt_sum_us as f64 * 1e-6 / f64::from(self.rtt_samples);
        record.cwnd_mean_packets = self.cwnd_sum as f64 / f64::from(self.acks);
    }
}
