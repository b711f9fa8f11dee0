//! Receiving end as Linux has it: quick and delayed acknowledgements, selective ones that are held together, data received
//! twice told (RFC 2883), and its part of set-up and tear-down.
//!
//! The first acknowledgements are quick, one per segment; then two segments are acknowledged together, or one after 40
//! ms. A segment with PSH, or a short one, is acknowledged when it is read, since it is likely to end what its sender
//! had to say; and each segment that widens the window (`buffer.rs`) is acknowledged at once. While data waits for a
//! hole to be filled three acknowledgements leave at once, and then one for all that comes within a share of the
//! round-trip time (a twentieth in Linux 6.1, a third in 7.3), at most a millisecond. Source: Linux, tcp_input.c
//! (`__tcp_ack_snd_check`, `tcp_event_data_recv`), tcp.c (`tcp_cleanup_rbuf`) and tcp_timer.c.
//!
//! With `tcp.gro` segments that arrive within that time are handed on as one, as by generic receive offload (`gro.rs`). The
//! application reads at once.

use qdisc::Packet;
use units::{Direction, Time};

use super::buffer::Buffer;
use super::clock::{Clock, Jiffies, us};
use super::gro::{Arrival, Held};
use crate::event::Kind;
use crate::options::{Block, MOST_BLOCKS, SegmentOptions};
use crate::tcp::accurate::Mode;
use crate::tcp::blocks::Blocks;
use crate::tcp::ring::Ring;
use crate::tcp::rtt::Rtt;
use crate::tcp::settings::{EcnMode, Tcp};
use crate::tcp::{Life, Riding, Shape};
use crate::wire::handle::{ECHO, Handle, Mark};
use crate::wire::net::Net;

/// Repetitions of a SYN-ACK (`tcp_synack_retries`).
const SYN_ACK_RETRIES: u32 = 5;
/// Acknowledgements that are quick at most, in a row (`TCP_MAX_QUICKACKS`), and after a mark.
const QUICK: u32 = 16;
pub(super) const QUICK_AFTER_MARK: u32 = 2;
/// Duplicates that leave at once before they are held together, and how many are held at most (`tcp_comp_sack_nr`).
const AT_ONCE: u32 = 3;
const HELD_TOGETHER: u32 = 44;
/// How long they are held at most (`tcp_comp_sack_delay_ns`).
const HELD: Time = Time(1_000_000);
/// Blocks beyond which what is held leaves (`TCP_SACK_BLOCKS_EXPECTED`).
const BLOCKS_EXPECTED: usize = 2;

/// Control segment of the receiver that is not yet acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Control {
    Nothing,
    Syn,
    /// The answer to a SYN.
    SynAck,
    Fin,
}

/// What the one timer of the event queue is for: each deadline is kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Deadlines {
    /// The timer of delayed acknowledgements, which stays set when one leaves before.
    delayed: Time,
    /// Acknowledgements that are held together.
    held: Time,
    /// The SYN, its answer or the FIN is sent again.
    control: Time,
    /// What arrived is handed on as one.
    gro: Time,
}

impl Deadlines {
    const NONE: Deadlines =
        Deadlines { delayed: Time::NEVER, held: Time::NEVER, control: Time::NEVER, gro: Time::NEVER };

    fn next(self) -> Time {
        self.delayed.min(self.held).min(self.control).min(self.gro)
    }
}

/// The receiving end of one connection.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// Next sequence number in order.
    next: u32,
    /// One above the highest sequence number seen.
    beyond: u32,
    /// Segments above a gap.
    above_gap: Ring,
    held: u32,
    /// Blocks above the gap, and data that was received twice.
    blocks: Blocks,
    twice: Option<Block>,
    /// What the segment that comes next, in part, brings twice.
    overlap: Option<Block>,
    /// Last acknowledgement number sent.
    pub(super) acknowledged: u32,
    /// Timestamp to echo (`TS.Recent`).
    stamp: Time,
    /// The clock as it was read last: acknowledgements that were held together carry that of the last arrival.
    read_at: Time,
    /// Quick acknowledgements left.
    quick: u32,
    /// Time an acknowledgement is delayed, and when data last came.
    delay: Jiffies,
    last_data: Jiffies,
    /// An acknowledgement is due, at once, and when all is read because a segment came with PSH, or a short one.
    due: bool,
    pub(super) due_now: bool,
    pushed: bool,
    buffer: Buffer,
    /// What has arrived and is not yet handed on.
    gro: Option<Held>,
    /// Whether one is delayed, and when it is due, jiffies.
    is_delayed: bool,
    delayed_until: Jiffies,
    /// Acknowledgements held together, and duplicates that left at once for this gap.
    together: u32,
    at_once: u32,
    gap: u32,
    /// Round-trip time of the handshake, microseconds.
    handshake_us: Option<u32>,
    pub(super) clock: Clock,
    deadlines: Deadlines,
    timer_event: Time,
    control: Control,
    repeats: u32,
    rtt: Rtt,
    /// A mark was seen and the sender has not yet answered with CWR (RFC 3168, 6.1.3).
    pub(super) echo: bool,
    /// When the SYN or SYN-ACK was sent whose answer gives the round-trip time.
    probed: Option<Time>,
    /// A SYN or its answer was lost, as this end can tell.
    pub(crate) syn_lost: bool,
    /// The SYN or FIN was repeated as often as it may.
    pub(crate) gave_up: bool,
    pub(crate) first_data: Time,
    /// Arrival of the last missing payload.
    pub(crate) complete: Time,
    pub(crate) finish: Time,
}

impl Receiver {
    pub(crate) fn idle(tcp: &Tcp) -> Receiver {
        Receiver::begin(tcp, Time::ZERO)
    }

    /// Begins another connection.
    pub(crate) fn restart(&mut self, tcp: &Tcp, clock_phase: Time) {
        *self = Receiver::begin(tcp, clock_phase);
    }

    fn begin(tcp: &Tcp, clock_phase: Time) -> Receiver {
        Receiver {
            next: 0,
            beyond: 0,
            above_gap: Ring::default(),
            held: 0,
            blocks: Blocks::default(),
            twice: None,
            overlap: None,
            acknowledged: 0,
            stamp: Time::ZERO,
            read_at: Time::ZERO,
            quick: 0,
            delay: 0,
            last_data: 0,
            due: false,
            due_now: false,
            pushed: false,
            buffer: Buffer::of(tcp, false),
            gro: None,
            is_delayed: false,
            delayed_until: 0,
            together: 0,
            at_once: 0,
            gap: 0,
            handshake_us: None,
            clock: Clock::of(tcp.tick, clock_phase),
            deadlines: Deadlines::NONE,
            timer_event: Time::NEVER,
            control: Control::Nothing,
            repeats: 0,
            rtt: Rtt::unknown(tcp, Time::ZERO),
            echo: false,
            probed: None,
            syn_lost: false,
            gave_up: false,
            first_data: Time::NEVER,
            complete: Time::NEVER,
            finish: Time::NEVER,
        }
    }

    #[inline]
    pub(crate) fn next(&self) -> u32 {
        self.next
    }

    /// Begins connected, without a SYN of its sender.
    pub(crate) fn connected(&mut self) {
        (self.next, self.beyond, self.acknowledged) = (1, 1, 1);
    }

    /// Round-trip time of the handshake, microseconds.
    pub(super) fn handshake_us(&self) -> Option<u32> {
        self.handshake_us
    }

    /// What data to the sender may acknowledge now: the next number expected, and the timestamp to echo.
    pub(crate) fn riding(&self) -> Option<Riding> {
        (self.next > 0).then_some(Riding {
            ack: self.next,
            stamp: self.stamp,
            marks: 0,
            echo: false,
            window: self.buffer.told_by_data(self.next),
        })
    }

    /// Data that was sent now carries the acknowledgement that may have been due; not its echo of a mark.
    pub(crate) fn on_ride(&mut self) {
        self.buffer.tell(self.next, &mut self.quick);
        self.acknowledged = self.next;
        if self.control == Control::Nothing && !self.echo {
            self.pushed = false;
            (self.due, self.due_now, self.is_delayed) = (false, false, false);
        }
    }

    /// Sends the SYN, as the end that opens.
    pub(crate) fn open(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        self.control = Control::Syn;
        self.buffer = Buffer::of(tcp, true);
        self.probed = Some(net.now);
        self.repeat_later(shape, tcp, net);
        let syn = self.syn(0, shape, tcp, net);
        net.send(shape.back as usize, syn);
    }

    #[inline]
    pub(crate) fn on_segment(
        &mut self,
        handle: Handle,
        options: u32,
        marked: bool,
        shape: &Shape,
        tcp: &Tcp,
        net: &mut Net,
    ) {
        let seq = handle.number;
        self.hear(seq, options, shape, tcp, net);
        let kept = net.options.of(options).copied().unwrap_or_default();
        let payload = shape.payload(seq, tcp);
        let (stamp, echoed) = (kept.stamp, kept.echoed);
        let arrival =
            Arrival { first: seq, end: seq + 1, payload, stamp, echoed, marked, cwr: handle.echo, pushed: kept.pushed };
        if tcp.gro > Time::ZERO && payload > 0 {
            self.offload(arrival, shape, tcp, net);
        } else {
            self.hand_on(shape, tcp, net);
            self.take(arrival, shape, tcp, net);
        }
    }

    /// Holds a segment back, so that those that arrive with it are handed on as one with it.
    fn offload(&mut self, arrival: Arrival, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if !self.gro.as_mut().is_some_and(|held| held.takes(&arrival, tcp.mss, self.clock)) {
            self.hand_on(shape, tcp, net);
            self.gro = Some(Held(arrival));
            self.deadlines.gro = net.now + tcp.gro;
            self.schedule(shape, net);
        }
        if self.gro.as_ref().is_some_and(|held| held.is_full(tcp.mss)) {
            self.hand_on(shape, tcp, net);
        }
    }

    /// Hands on what is held back.
    fn hand_on(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if let Some(Held(arrival)) = self.gro.take() {
            self.deadlines.gro = Time::NEVER;
            self.take(arrival, shape, tcp, net);
        }
    }

    /// One packet comes from the network's side, of one segment or of several.
    fn take(&mut self, arrival: Arrival, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let Arrival { mut first, end, mut payload, marked, .. } = arrival;
        self.read_at = net.now;
        let dctcp = tcp.ecn == EcnMode::Dctcp;
        if dctcp && first > 0 {
            self.turn(marked, shape, tcp, net);
        }
        // Accurate ECN has no echo of a mark.
        let marked = marked && !dctcp && net.hosts.mode(shape.hosts().1, tcp) == Mode::Classic;
        if tcp.timestamps {
            self.take_stamp(first, arrival.stamp);
        }
        if arrival.cwr {
            // The sender tells that its window is smaller now: it may wait for this acknowledgement (RFC 3168, 6.1.3).
            self.echo &= dctcp;
            self.due_now = true;
        }
        if first == 0 {
            self.on_syn(shape, tcp, net);
            return;
        }
        self.on_established(tcp, net);
        if first <= shape.data && self.first_data == Time::NEVER {
            self.first_data = net.now;
        }
        if tcp.timestamps && arrival.echoed > Time::ZERO {
            self.buffer.on_echo(self.clock.stamp(arrival.echoed), self.clock.stamp(net.now), payload / (end - first));
        }
        self.beyond = self.beyond.max(end);
        let before = self.next;
        self.twice = None;
        if first < self.next {
            if tcp.ecn.counts() {
                net.hosts.of(shape.hosts().1).on_twice(first);
            }
            self.twice = Some((first, end.min(self.next)));
            if end <= self.next {
                self.enter_quick(QUICK);
                self.due = true;
            } else {
                payload -= (self.next - first) * tcp.mss;
                first = self.next;
            }
        }
        if first == self.next {
            self.in_order(Arrival { first, payload, marked, ..arrival }, tcp, net);
        } else if first > self.next {
            self.note_mark(marked);
            self.out_of_order(first, end, payload, shape, tcp, net);
        }
        self.twice = self.overlap.take().or(self.twice);
        if self.next > before {
            self.on_progress(before, shape, tcp, net);
        }
        if tcp.fin && self.next > shape.fin() {
            self.buffer.read(self.next, self.beyond, net.now);
            if self.control != Control::Fin {
                for _ in 0..tcp.close_acks {
                    self.acknowledge(shape, tcp, net);
                }
                self.control = Control::Fin;
                self.repeat_later(shape, tcp, net);
            }
            self.acknowledge(shape, tcp, net);
            return;
        }
        if self.due {
            self.check_acknowledgement(shape, tcp, net);
        }
        if self.next > before {
            self.read(shape, tcp, net);
        }
    }

    /// The application reads what is in order (`tcp_cleanup_rbuf`).
    fn read(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let wider = self.buffer.read(self.next, self.beyond, net.now);
        let ended = self.pushed && self.buffer.is_read();
        if self.due && (self.next > self.acknowledged + 1 || ended) || wider {
            self.acknowledge(shape, tcp, net);
        }
    }

    /// The sender asks for the window, with a number that lies before it.
    pub(crate) fn on_probe(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        self.hand_on(shape, tcp, net);
        self.read_at = net.now;
        self.acknowledge(shape, tcp, net);
    }

    /// The connection is set up, with the first segment behind the SYN at the latest.
    fn on_established(&mut self, tcp: &Tcp, net: &Net) {
        self.on_answer(tcp, net);
        if self.control == Control::SynAck {
            self.control = Control::Nothing;
            self.deadlines.control = Time::NEVER;
            self.repeats = 0;
        }
        self.set_up(self.next, net);
    }

    /// The connection is set up: delays of acknowledgements count from here (`tcp_create_openreq_child`).
    fn set_up(&mut self, next: u32, net: &Net) {
        if self.buffer.begin(next, net.now) {
            self.last_data = self.clock.jiffies(net.now);
        }
    }

    fn on_syn(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if shape.receiver_opens {
            // The answer to the receiver's own SYN: the handshake's acknowledgement leaves.
            self.on_answer(tcp, net);
            self.set_up(1, net);
        } else {
            self.probed = (self.beyond == 0).then_some(net.now);
            self.syn_lost |= self.beyond > 0;
        }
        let before = self.next;
        self.beyond = self.beyond.max(1);
        if self.next == 0 {
            self.next = 1;
            self.on_progress(before, shape, tcp, net);
            if !shape.receiver_opens {
                self.control = Control::SynAck;
                self.repeat_later(shape, tcp, net);
            }
        }
        self.acknowledge(shape, tcp, net);
    }

    /// Data in order: the delay of acknowledgements adapts, and what waited behind it may follow.
    fn in_order(&mut self, arrival: Arrival, tcp: &Tcp, net: &Net) {
        let segments = arrival.end - arrival.first;
        self.next = arrival.end;
        self.due = true;
        // One that is not full ends what was written.
        self.pushed |= arrival.pushed || arrival.payload < segments * tcp.mss;
        let opens = self.buffer.on_data(arrival.payload, segments, self.next, net.now);
        let now = self.clock.jiffies(net.now);
        let least = self.clock.in_jiffies(tcp.delayed_ack.0 / 1000);
        if self.delay == 0 {
            self.quick = self.quick.max(tcp.quick_acks);
            self.delay = least;
        } else {
            let since = now - self.last_data;
            if since <= least / 2 {
                self.delay = (self.delay >> 1) + least / 2;
            } else if since < self.delay {
                self.delay = (self.delay >> 1) + since;
            } else if since > self.clock.in_jiffies(self.rtt.timeout(tcp).0 / 1000) {
                self.quick = self.quick.max(tcp.quick_acks);
            }
        }
        self.last_data = now;
        self.note_mark(arrival.marked);
        self.quick |= u32::from(opens);
        if self.held > 0 {
            for seq in arrival.first..arrival.end {
                // It may have waited in part.
                self.held -= u32::from(self.above_gap.take(seq));
            }
            while self.held > 0 && self.above_gap.take(self.next) {
                self.next += 1;
                self.held -= 1;
            }
            // A filled gap is acknowledged at once (RFC 5681, 4.2).
            self.due_now |= self.held == 0;
            self.blocks.on_progress(self.next);
        }
    }

    fn out_of_order(&mut self, first: u32, end: u32, payload: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if !self.buffer.has_room(&mut self.quick) {
            return;
        }
        self.due = true;
        let mut fresh = 0;
        for seq in first..end {
            fresh += u32::from(self.above_gap.add(seq, self.next));
        }
        if fresh == 0 {
            self.twice = Some((first, end));
            return;
        }
        self.held += fresh;
        let selective = tcp.recovery.is_selective();
        self.quick |= u32::from(self.buffer.on_data_above(payload, fresh, selective, self.beyond - self.next));
        if !selective {
            return;
        }
        let start = self.above_gap.run_start(first, self.next);
        let block = (start, self.above_gap.run_end(first, self.beyond));
        if self.blocks.newer_than(block) >= BLOCKS_EXPECTED && self.together > 0 {
            self.acknowledge(shape, tcp, net);
        }
        self.blocks.on_segment(block);
    }

    /// A mark, or data that can carry none among data that can (RFC 3168; `__tcp_ecn_check_ce`).
    fn note_mark(&mut self, marked: bool) {
        if marked && !self.echo {
            self.enter_quick(QUICK_AFTER_MARK);
            self.echo = true;
        }
    }

    /// Whether number `seq` has come.
    pub(crate) fn holds(&self, seq: u32) -> bool {
        seq < self.next || self.above_gap.holds(seq)
    }

    /// The segment that comes next is a part of one that brings `block` again.
    pub(crate) fn bring_twice(&mut self, block: Block) {
        self.overlap = Some(block);
    }

    /// An acknowledgement waits for its time.
    pub(super) fn is_delayed(&self) -> bool {
        self.deadlines.delayed != Time::NEVER
    }

    pub(super) fn enter_quick(&mut self, most: u32) {
        self.quick = self.quick.max(most);
    }

    /// Whether an acknowledgement leaves now, later, or with others (`__tcp_ack_snd_check`).
    fn check_acknowledgement(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let two = self.next > self.acknowledged + 1 && self.buffer.advances(&mut self.quick);
        let at_once = tcp.delayed_ack == Time::ZERO;
        let hurries = tcp.ecn.counts() && net.hosts.of(shape.hosts().1).hurries;
        if two || self.quick > 0 || self.due_now || at_once || hurries {
            self.acknowledge(shape, tcp, net);
            return;
        }
        if self.held == 0 {
            self.delay_acknowledgement(shape, tcp, net);
            return;
        }
        if !tcp.recovery.is_selective() || self.together >= HELD_TOGETHER {
            self.acknowledge(shape, tcp, net);
            return;
        }
        if self.gap != self.next {
            (self.gap, self.at_once) = (self.next, 0);
        }
        if self.at_once < AT_ONCE {
            self.at_once += 1;
            self.acknowledge(shape, tcp, net);
            return;
        }
        self.together += 1;
        if self.deadlines.held == Time::NEVER {
            let known = u64::from(self.buffer.rtt_us8());
            let rtt_us8 = self.handshake_us.map_or(known, |us| known.min(8 * u64::from(us)));
            let wait = Time(rtt_us8 * 125 * tcp.kernel.sack_compression_percent() / 100).min(HELD);
            self.deadlines.held = net.now + wait + tcp.kernel.sack_compression_slack();
            self.schedule(shape, net);
        }
    }

    fn delay_acknowledgement(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let now = self.clock.jiffies(net.now);
        let least = self.clock.in_jiffies(tcp.delayed_ack.0 / 1000);
        let mut delay = self.delay;
        if delay > least {
            // Half a second, or a round-trip time where that is known.
            let mut most = self.clock.in_jiffies(500_000);
            if let Some(handshake) = self.handshake_us {
                most = most.min(self.clock.in_jiffies(handshake.into()).max(least));
            }
            delay = delay.min(most);
        }
        let mut until = now + delay;
        if self.is_delayed {
            if self.delayed_until <= now + (delay >> 2) {
                self.acknowledge(shape, tcp, net);
                return;
            }
            until = until.min(self.delayed_until);
        }
        (self.is_delayed, self.delayed_until) = (true, until);
        self.deadlines.delayed = self.clock.goes_off(until, net.now);
        self.schedule(shape, net);
    }

    /// The timer of delayed acknowledgements went off. What is held together leaves with it.
    fn delay_passed(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if self.together > 0 {
            self.acknowledge(shape, tcp, net);
        } else if self.is_delayed && self.delayed_until > self.clock.jiffies(net.now) {
            self.deadlines.delayed = self.clock.goes_off(self.delayed_until, net.now);
        } else if self.is_delayed {
            // It was missed: acknowledgements are delayed for longer, up to a timeout.
            let most = self.clock.in_jiffies(self.rtt.timeout(tcp).0 / 1000);
            self.delay = (self.delay << 1).min(most);
            self.acknowledge(shape, tcp, net);
        }
    }

    fn on_progress(&mut self, before: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if self.control == Control::Syn {
            self.control = Control::Nothing;
            self.deadlines.control = Time::NEVER;
            if self.repeats == 1 {
                self.on_answer(tcp, net);
            }
            self.repeats = 0;
        }
        if self.next > shape.data && self.complete == Time::NEVER {
            self.complete = net.now;
            if !tcp.fin {
                self.finish = net.now;
            }
        }
        if let Some(deliveries) = &mut net.deliveries {
            deliveries.extend((before.max(1)..self.next).map(|_| net.now));
        }
    }

    pub(crate) fn acknowledge(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let mark = if self.control == Control::Fin { Mark::Close } else { Mark::Plain };
        if self.due && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                // The delay begins anew (`tcp_dec_quickack_mode`).
                self.delay = self.clock.in_jiffies(tcp.delayed_ack.0 / 1000);
            }
        }
        (self.due, self.due_now, self.pushed) = (false, false, false);
        (self.is_delayed, self.deadlines.held, self.together) = (false, Time::NEVER, 0);
        let mut ack = shape.control(Direction::Reverse, mark, self.next, tcp);
        ack.handle |= if self.echo { ECHO } else { 0 };
        self.add_options(&mut ack, shape, tcp, net);
        self.twice = None;
        self.acknowledged = self.next;
        net.send(shape.back as usize, ack);
    }

    /// Window, timestamp and blocks; data received twice comes first (RFC 2883, 4).
    fn add_options(&mut self, ack: &mut Packet, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let blocks = tcp.recovery.is_selective() && (!self.blocks.is_empty() || self.twice.is_some());
        let mut options = SegmentOptions::echoing(self.stamp);
        options.stamp = self.read_at;
        options.syn = self.control == Control::SynAck;
        options.window =
            if options.syn { self.buffer.first_window() } else { self.buffer.tell(self.next, &mut self.quick) };
        let mut room = MOST_BLOCKS - usize::from(tcp.timestamps);
        if tcp.ecn.counts() {
            let known = if blocks { self.blocks.len() + usize::from(self.twice.is_some()) } else { 0 };
            let start = self.twice.map(|(start, _)| start);
            let (told, left) = self.tell(known.min(room) as u32, start, ack, shape, tcp, net);
            room = left as usize;
            options.told = Some(told);
        }
        if blocks {
            let twice = usize::from(self.twice.is_some_and(|block| options.push(block)));
            ack.len += 4 + 8 * (twice as u32 + self.blocks.report(room - twice, &mut options));
        }
        ack.options = net.options.keep(options);
    }

    /// Takes the timestamp of a segment `seq` whose options are in `net`.
    pub(crate) fn on_stamp(&mut self, seq: u32, options: u32, net: &mut Net) {
        if let Some(options) = net.options.of(options) {
            self.take_stamp(seq, options.stamp);
        }
    }

    /// Keeps the timestamp to echo: of the earliest segment not yet acknowledged (RFC 7323, 4.3).
    fn take_stamp(&mut self, seq: u32, stamp: Time) {
        if seq <= self.acknowledged && stamp >= self.stamp {
            self.stamp = stamp;
        }
    }

    /// The answer to the probe has come.
    fn on_answer(&mut self, tcp: &Tcp, net: &Net) {
        if let Some(sent) = self.probed.take() {
            self.rtt.sample(sent, net.now, 1, true, tcp);
            self.handshake_us = Some((us(net.now) - us(sent)) as u32);
        }
    }

    /// The sender acknowledged the SYN-ACK, or the FIN: then it is the last FIN-ACK.
    pub(crate) fn on_close(&mut self, tcp: &Tcp, net: &mut Net) {
        self.on_established(tcp, net);
        if self.control == Control::Fin {
            self.control = Control::Nothing;
            self.deadlines.control = Time::NEVER;
            self.finish = net.now;
        }
    }

    pub(crate) fn on_timer(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) -> Life {
        if net.now != self.timer_event {
            return Life::Open;
        }
        self.timer_event = Time::NEVER;
        let now = net.now;
        if self.deadlines.gro <= now {
            self.hand_on(shape, tcp, net);
        }
        if self.deadlines.held <= now {
            if tcp.kernel.stamps_held_anew() {
                self.read_at = now;
            }
            self.acknowledge(shape, tcp, net);
        }
        self.read_at = now;
        if self.deadlines.delayed <= now {
            self.deadlines.delayed = Time::NEVER;
            self.delay_passed(shape, tcp, net);
        }
        if self.deadlines.control <= now {
            self.deadlines.control = Time::NEVER;
            let opens = self.control == Control::Syn;
            let linear = tcp.linear_syn_timeouts;
            let most = if opens { tcp.syn_retries.map(|most| most + linear) } else { tcp.retries };
            if self.control == Control::SynAck {
                // It is sent again by the timer so often, and whenever the SYN comes again.
                if self.repeats <= SYN_ACK_RETRIES {
                    (self.syn_lost, self.probed) = (true, None);
                    self.repeat_later(shape, tcp, net);
                    self.acknowledge(shape, tcp, net);
                }
                self.schedule(shape, net);
                return Life::Open;
            }
            // The first of `repeats` was no repetition.
            if self.control != Control::Nothing && most.is_some_and(|most| self.repeats > most) {
                self.gave_up = true;
                return Life::Over;
            }
            match self.control {
                Control::Nothing | Control::SynAck => {}
                Control::Syn => {
                    self.syn_lost = true;
                    self.repeat_later(shape, tcp, net);
                    let syn = self.syn(self.repeats - 1, shape, tcp, net);
                    net.send(shape.back as usize, syn);
                }
                Control::Fin => {
                    self.repeat_later(shape, tcp, net);
                    self.acknowledge(shape, tcp, net);
                }
            }
        }
        self.schedule(shape, net);
        Life::Open
    }

    /// Sets the timer that repeats the pending SYN or FIN, with exponential back-off (RFC 6298, 5.5).
    fn repeat_later(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let linear = if self.control == Control::Syn { tcp.linear_syn_timeouts } else { 0 };
        let doubled = self.repeats.saturating_sub(linear).min(6);
        let timeout = Time(self.rtt.timeout(tcp).0 << doubled).min(tcp.max_rto);
        self.repeats += 1;
        self.deadlines.control = if self.control == Control::SynAck {
            let until = self.clock.jiffies(net.now) + self.clock.in_jiffies(timeout.0 / 1000);
            self.clock.goes_off(until, net.now)
        } else {
            net.now + timeout
        };
        self.schedule(shape, net);
    }

    fn schedule(&mut self, shape: &Shape, net: &mut Net) {
        let next = self.deadlines.next();
        if next != Time::NEVER && self.timer_event > next {
            self.timer_event = next;
            net.events.schedule(next, Kind::Receiver, shape.owner.slot as usize);
        }
    }

    pub(crate) fn disarm(&mut self) {
        self.deadlines = Deadlines::NONE;
        self.timer_event = Time::NEVER;
    }

    /// What the handshake told of the round-trip time, for the timers of a sender of another form.
    pub(crate) fn rtt(&self) -> &Rtt {
        &self.rtt
    }
}
