//! Receiving end: reassembly, delayed acknowledgements (RFC 5681, 4.2; RFC 1122, 4.2.3.2) and its
//! part of set-up and tear-down.

use std::mem::offset_of;

use qdisc::Packet;
use units::{Direction, Time};

use crate::event::Kind;
use crate::options::{MOST_BLOCKS, SegmentOptions, UNTOLD};
use crate::prefetch;
use crate::tcp::accurate::Marks;
use crate::tcp::blocks::Blocks;
use crate::tcp::ring::Ring;
use crate::tcp::rtt::Rtt;
use crate::tcp::settings::{ACCURATE, EcnMode, Recovery, Tcp};
use crate::tcp::{Life, Riding, Shape};
use crate::wire::handle::{ECHO, Handle, Mark};
use crate::wire::net::Net;

/// Control segment of the receiver that is not yet acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    Nothing,
    Syn,
    Fin,
}

/// What every segment reads comes first, in one line of the cache.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Receiver {
    /// Next sequence number in order.
    next: u32,
    /// One above the highest sequence number seen.
    beyond: u32,
    held: u32,
    /// Last acknowledgement number sent (`Last.ACK.sent`).
    acknowledged: u32,
    /// Delayed acknowledgement due, or control segment to repeat; `NEVER` when neither.
    deadline: Time,
    timer_event: Time,
    pub(crate) first_data: Time,
    /// When the SYN or SYN-ACK was sent whose answer gives the RTT sample; `NEVER` without one.
    probed: Time,
    repeats: u32,
    pending: Pending,
    /// A mark was seen and the sender has not yet answered with CWR (RFC 3168, 6.1.3); or the last segment was marked
    /// (RFC 8257, 3.2: DCTCP.CE).
    echo: bool,
    /// A SYN or its answer was lost, as this end can tell.
    pub(super) syn_lost: bool,
    /// The SYN or FIN was repeated as often as it may.
    pub(crate) gave_up: bool,

    /// Timestamp to echo (`TS.Recent`).
    stamp: Time,
    /// None before the first gap.
    gap: Option<Box<Gap>>,
    /// Marked segments that have come in (RFC 9768, 3.2.1: r.cep).
    pub(super) marks: Marks,
    /// Of the RTT sample, when the segment left and when its answer came; `NEVER` without one.
    sample: (Time, Time),
    /// Arrival of the last missing payload.
    pub(crate) complete: Time,
    pub(crate) finish: Time,
}

/// What a receiver with a gap remembers.
#[derive(Debug, Default)]
struct Gap {
    /// Segments above it.
    above: Ring,
    blocks: Blocks,
}

impl Receiver {
    /// Bytes from its beginning that every segment reads.
    pub(crate) const OFTEN: usize = offset_of!(Receiver, gap);

    pub(crate) fn idle() -> Receiver {
        Receiver {
            next: 0,
            beyond: 0,
            gap: None,
            held: 0,
            acknowledged: 0,
            stamp: Time::ZERO,
            deadline: Time::NEVER,
            timer_event: Time::NEVER,
            pending: Pending::Nothing,
            repeats: 0,
            sample: (Time::NEVER, Time::NEVER),
            echo: false,
            marks: Marks::default(),
            probed: Time::NEVER,
            syn_lost: false,
            gave_up: false,
            first_data: Time::NEVER,
            complete: Time::NEVER,
            finish: Time::NEVER,
        }
    }

    /// Begins another connection.
    pub(crate) fn restart(&mut self) {
        *self = Receiver::idle();
    }

    #[inline]
    pub(crate) fn next(&self) -> u32 {
        self.next
    }

    /// Begins connected, without a SYN of its sender.
    pub(super) fn connected(&mut self) {
        (self.next, self.beyond) = (1, 1);
    }

    /// What data to the sender may acknowledge now.
    pub(super) fn riding(&self, tcp: &Tcp) -> Option<Riding> {
        let echo = self.echo && tcp.ecn == EcnMode::Dctcp;
        let marks = self.marks.whole();
        (self.next > 0).then_some(Riding { ack: self.next, stamp: self.stamp, marks, echo, window: UNTOLD })
    }

    /// Data that was sent now carries the acknowledgement that may have been due; not the echo of RFC 3168.
    pub(super) fn on_ride(&mut self, tcp: &Tcp) {
        self.acknowledged = self.next;
        if self.pending == Pending::Nothing && !(self.echo && tcp.ecn == EcnMode::Classic) {
            self.deadline = Time::NEVER;
        }
    }

    /// Sends the SYN, as the end that opens.
    pub(crate) fn open(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        self.pending = Pending::Syn;
        self.probed = net.now;
        self.repeat_later(shape, tcp, net);
        net.send(shape.back as usize, shape.control(Direction::Reverse, Mark::Open, 0, tcp));
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
        if tcp.timestamps {
            self.on_stamp(seq, options, net);
        }
        let turns = match tcp.ecn {
            EcnMode::Off | EcnMode::Classic => {
                // A segment may bring CWR for an earlier mark and a mark of its own.
                self.echo = self.echo && !handle.echo || marked;
                false
            }
            _ => self.on_ecn(marked, shape, tcp, net),
        };
        if seq > 0 && seq <= shape.data && self.first_data == Time::NEVER {
            self.first_data = net.now;
        }
        if seq > 0 {
            self.on_answer(net);
        } else if !shape.receiver_opens {
            // The SYN, to be answered now; one that comes again leaves no telling which answer is answered.
            if self.beyond == 0 || !tcp.time_repeated_syn {
                self.probed = if self.beyond == 0 { net.now } else { Time::NEVER };
            }
            self.syn_lost |= self.beyond > 0;
        }
        let fills_gap = seq + 1 < self.beyond;
        self.beyond = self.beyond.max(seq + 1);
        let before = self.next;
        self.insert(seq, tcp);
        if self.next > before {
            self.on_progress(before, shape, tcp, net);
        }
        let closes = tcp.fin && self.next > shape.fin();
        if closes && self.pending != Pending::Fin {
            self.close(shape, tcp, net);
        }
        // Delay the acknowledgement of one segment in order; a second one, a gap, the SYN and the FIN
        // are answered at once (RFC 5681, 4.2).
        let in_order = seq == before || tcp.lax_duplicates && self.next == seq + 1;
        let delayed = in_order && !fills_gap && seq > 0 && !closes && !turns && tcp.delayed_ack > Time::ZERO;
        if delayed && self.deadline == Time::NEVER && self.next > tcp.quick_acks.saturating_add(1) {
            self.arm(net.now + tcp.delayed_ack, shape, net);
            return;
        }
        self.acknowledge(shape, tcp, net);
    }

    /// Counts a mark, or the end of marks: whether the acknowledgement must not wait.
    ///
    /// DCTCP's flag speaks for all that an acknowledgement covers: what waits for one is acknowledged with the old flag
    /// before it turns, and the segment that turns it at once, as Linux does (RFC 8257, 3.2). With counts only the first
    /// mark of several hurries; every second segment has its acknowledgement, so that none tells of more than two marks
    /// (RFC 9768, 3.2.2.5.1).
    #[cold]
    fn on_ecn(&mut self, marked: bool, shape: &Shape, tcp: &Tcp, net: &mut Net) -> bool {
        self.marks.count(marked);
        let turns = marked != self.echo;
        if turns && tcp.ecn == EcnMode::Dctcp && self.deadline != Time::NEVER && self.pending == Pending::Nothing {
            self.acknowledge(shape, tcp, net);
        }
        self.echo = marked;
        turns && (marked || tcp.ecn == EcnMode::Dctcp)
    }

    /// All has come, with the FIN: the acknowledgement says so from now on.
    #[cold]
    fn close(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        for _ in 0..tcp.close_acks {
            self.acknowledge(shape, tcp, net);
        }
        self.pending = Pending::Fin;
        self.repeat_later(shape, tcp, net);
    }

    fn on_progress(&mut self, before: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if self.pending == Pending::Syn {
            self.pending = Pending::Nothing;
            self.deadline = Time::NEVER;
            if self.repeats == 1 {
                self.on_answer(net);
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

    #[inline]
    pub(crate) fn acknowledge(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let mark = if self.pending == Pending::Fin {
            Mark::Close
        } else {
            self.deadline = Time::NEVER;
            Mark::Plain
        };
        let mut ack = shape.control(Direction::Reverse, mark, self.next, tcp);
        ack.handle |= if self.echo && !tcp.ecn.counts() { ECHO } else { 0 };
        let blocks = self.held > 0 && tcp.recovery == Recovery::Sack;
        if blocks || tcp.timestamps || tcp.ecn.counts() {
            self.add_options(blocks, &mut ack, tcp, net);
        }
        self.acknowledged = self.next;
        net.send(shape.back as usize, ack);
    }

    /// Timestamp, counts of marks and SACK blocks on an acknowledgement, all aligned to words; each of the first two
    /// takes the room of a block (RFC 2018, 3).
    fn add_options(&self, blocks: bool, ack: &mut Packet, tcp: &Tcp, net: &mut Net) {
        let mut options = SegmentOptions::echoing(self.stamp);
        options.marks = self.marks.whole();
        if tcp.ecn.counts() {
            ack.len += ACCURATE;
        }
        if blocks {
            let room = MOST_BLOCKS - usize::from(tcp.timestamps) - usize::from(tcp.ecn.counts());
            ack.len += 4 + 8 * self.gap.as_ref().map_or(0, |gap| gap.blocks.report(room, &mut options));
        }
        ack.options = net.options.keep(options);
    }

    /// Keeps the timestamp to echo: of the earliest segment not yet acknowledged, so that the delay of the
    /// acknowledgement is measured too (RFC 7323, 4.3).
    #[inline]
    pub(super) fn on_stamp(&mut self, seq: u32, options: u32, net: &mut Net) {
        if let Some(options) = net.options.of(options)
            && seq <= self.acknowledged
            && options.stamp >= self.stamp
        {
            self.stamp = options.stamp;
        }
    }

    /// The answer to the probe has come: the receiver's only RTT sample, since it sends no data.
    #[inline]
    fn on_answer(&mut self, net: &Net) {
        let sent = std::mem::replace(&mut self.probed, Time::NEVER);
        if sent != Time::NEVER {
            self.sample = (sent, net.now);
        }
    }

    /// What the handshake told of the round-trip time: there is one sample at most.
    pub(super) fn rtt(&self, tcp: &Tcp) -> Rtt {
        let (mut rtt, (sent, answered)) = (Rtt::unknown(tcp, Time::ZERO), self.sample);
        if sent != Time::NEVER {
            rtt.sample(sent, answered, 1, true, tcp);
        }
        rtt
    }

    /// The sender acknowledged the SYN-ACK, or the FIN: then it is the last FIN-ACK.
    pub(crate) fn on_close(&mut self, net: &mut Net) {
        self.on_answer(net);
        if self.pending == Pending::Fin {
            self.pending = Pending::Nothing;
            self.deadline = Time::NEVER;
            self.finish = net.now;
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
            self.arm(self.deadline, shape, net);
            return Life::Open;
        }
        self.deadline = Time::NEVER;
        let most = if self.pending == Pending::Syn { tcp.syn_retries } else { tcp.retries };
        // The first of `repeats` was no repetition.
        if self.pending != Pending::Nothing && most.is_some_and(|most| self.repeats > most) {
            self.gave_up = true;
            return Life::Over;
        }
        match self.pending {
            Pending::Nothing => self.acknowledge(shape, tcp, net),
            Pending::Syn => {
                self.syn_lost = true;
                self.repeat_later(shape, tcp, net);
                net.send(shape.back as usize, shape.control(Direction::Reverse, Mark::Open, 0, tcp));
            }
            Pending::Fin => {
                self.repeat_later(shape, tcp, net);
                self.acknowledge(shape, tcp, net);
            }
        }
        Life::Open
    }

    /// Sets the timer that repeats the pending SYN or FIN, with exponential back-off (RFC 6298, 5.5).
    fn repeat_later(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let timeout = Time(self.rtt(tcp).timeout(tcp).0 << self.repeats.min(6)).min(tcp.max_rto);
        self.repeats += 1;
        self.arm(net.now + timeout, shape, net);
    }

    #[inline]
    fn arm(&mut self, deadline: Time, shape: &Shape, net: &mut Net) {
        self.deadline = deadline;
        if self.timer_event > deadline {
            self.timer_event = deadline;
            net.events.schedule(deadline, Kind::Receiver, shape.owner.slot as usize);
        }
    }

    /// Asks for what is remembered of a gap.
    #[inline]
    pub(crate) fn ask_for_gap(&self) {
        self.gap.as_deref().into_iter().for_each(prefetch::value);
    }

    pub(crate) fn disarm(&mut self) {
        self.deadline = Time::NEVER;
        self.timer_event = Time::NEVER;
    }

    #[inline]
    fn insert(&mut self, seq: u32, tcp: &Tcp) {
        if seq == self.next {
            self.next += 1;
            if self.held > 0
                && let Some(gap) = &mut self.gap
            {
                while self.held > 0 && gap.above.take(self.next) {
                    self.next += 1;
                    self.held -= 1;
                }
                gap.blocks.on_progress(self.next);
            }
        } else if seq > self.next {
            let gap = self.gap.get_or_insert_default();
            self.held += u32::from(gap.above.add(seq, self.next));
            if tcp.recovery == Recovery::Sack {
                // What the last blocks hold need not be walked.
                let from = gap.blocks.around(seq).map_or(seq, |(from, _)| from);
                let to = gap.blocks.around(seq + 1).map_or(seq, |(_, to)| to);
                let start = gap.above.run_start(from, self.next);
                gap.blocks.on_segment((start, gap.above.run_end(to, self.beyond)));
            }
        }
    }
}
