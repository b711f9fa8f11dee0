//! An output port: a queue with a discipline in front of a link. The end of a transmission is an
//! event only while packets wait.

use std::collections::HashMap;
use std::sync::Arc;

use qdisc::{Packet, Qdisc, Stats};
use units::{BitRate, Time};

use crate::event::{Events, Kind};
use crate::link_trace::LinkTrace;
use crate::out::accounting::{self, Count};
use crate::out::records::InterfaceCounts;
use crate::wire::loss::Loss;
use crate::wire::pipe::{Fraction, Serial};
use crate::wire::queue::{Queue, Shaper};
use crate::wire::varying::Varying;

/// What carries the packets that leave a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Onward {
    /// A link, at whose end every packet goes into the exit pipe of its host.
    Host,
    /// A link to a router, which ends in this lane.
    Lane(usize),
    /// The medium of a wireless cell, which fetches them when it is free.
    Air,
}

/// Disciplines that tell at once which packet comes next.
const FORESEEN: [&str; 6] = ["fifo", "codel", "efd", "las", "pie", "red"];
/// Times a discipline may ask to be polled, and have nothing to give.
const MOST_POLLS: u32 = 10_000;
/// Nanoseconds.
const SECOND: u64 = 1_000_000_000;

#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) queue: Queue,
    pub(crate) loss: Loss,
    /// What carries the packets that leave.
    pub(crate) onward: Onward,
    /// Whether the discipline is one of [`FORESEEN`].
    foreseen: bool,
    serial: Serial,
    /// In place of the rate and beside the delay, where they vary.
    varying: Option<Box<Varying>>,
    /// Rate of a shaper: a packet goes on when it may begin, not when its transmission ends, as a shaper is no link.
    shapes: Option<BitRate>,
    delay: Time,
    busy_until: Time,
    /// What the end of the transmission before left of a nanosecond.
    rest: Fraction,
    wake_at: Time,
    since: Time,
    backlog: u64,
    flows: u64,
    backlog_area: u128,
    flows_area: u128,
    /// `backlog_area` at the sample before, which may be before a restart: differences wrap.
    sampled_area: u128,
    pub(crate) flows_max: u64,
    pub(crate) sent: u64,
    pub(crate) sent_bytes: u64,
    /// Second of the run that `busy_in_second`, nanoseconds of transmission, belongs to.
    second: u64,
    busy_in_second: u64,
    /// The most of any second.
    busiest: u64,
    /// Nanoseconds of transmission in each second since the start of the run; only where somebody asks for them.
    seconds: Option<Vec<u64>>,
    /// What was counted when the averages began.
    before: InterfaceCounts,
    /// Packets waiting by their place in the ledger, as those that came and went have it; in debug builds only.
    waiting: HashMap<usize, [i64; 2]>,
}

impl Port {
    pub(crate) fn over(queue: Qdisc, rate: BitRate, delay: Time, loss: Loss) -> Port {
        let foreseen = FORESEEN.contains(&queue.spec().id);
        Port { foreseen, ..Port::with(Queue::of(queue), Serial::of(rate), delay, loss) }
    }

    /// A port whose packets take no time on the wire: the shaper says when they leave.
    pub(crate) fn shaped(shaper: Shaper, delay: Time, loss: Loss) -> Port {
        Port::with(Queue::Tree(Box::new(shaper)), Serial::AT_ONCE, delay, loss)
    }

    fn with(queue: Queue, serial: Serial, delay: Time, loss: Loss) -> Port {
        Port {
            queue,
            loss,
            onward: Onward::Host,
            foreseen: false,
            serial,
            varying: None,
            shapes: None,
            delay,
            busy_until: Time::ZERO,
            rest: Fraction::HALF,
            wake_at: Time::NEVER,
            since: Time::ZERO,
            backlog: 0,
            flows: 0,
            backlog_area: 0,
            flows_area: 0,
            sampled_area: 0,
            flows_max: 0,
            sent: 0,
            sent_bytes: 0,
            second: 0,
            busy_in_second: 0,
            busiest: 0,
            seconds: None,
            before: InterfaceCounts::default(),
            waiting: HashMap::new(),
        }
    }

    /// The same with the rate and the added delay of a trace; `rate` stays the one that loads are measured by.
    pub(crate) fn following(mut self, trace: Option<Arc<LinkTrace>>) -> Port {
        self.varying = trace.map(|trace| Box::new(Varying::of(trace)));
        self
    }

    /// A shaper: it lets packets pass at the rate `rate`, whole.
    pub(crate) fn shaper(queue: Qdisc, rate: BitRate, lossless: Loss) -> Port {
        Port { shapes: Some(rate), ..Port::over(queue, rate, Time::ZERO, lossless) }
    }

    /// Changes the rate for the packets that begin from now on.
    pub(crate) fn set_rate(&mut self, rate: BitRate) {
        (self.serial, self.shapes) = (Serial::of(rate), Some(rate));
    }

    /// Rate of a shaper, bit/s.
    pub(crate) fn shaper_bps(&self) -> Option<u64> {
        self.shapes.map(|rate| rate.bps())
    }

    /// The packet that will leave next, unless the discipline drops it, or would have to look for it.
    #[inline]
    pub(crate) fn next_packet(&self) -> Option<&Packet> {
        if self.foreseen && self.backlog > 0 { self.queue.peek() } else { None }
    }

    /// Adds the time since the last change to the averages and takes the new levels.
    #[inline]
    fn account(&mut self, now: Time) {
        let span = u128::from((now - self.since).0);
        self.backlog_area += span * u128::from(self.backlog);
        self.flows_area += span * u128::from(self.flows);
        self.since = now;
        self.backlog = self.queue.backlog();
        self.flows = self.queue.flow_table_len() as u64;
        self.flows_max = self.flows_max.max(self.flows);
    }

    /// Queues `packet`; drops are in `self.queue.dropped()` until the next call.
    #[inline]
    pub(crate) fn enqueue(&mut self, packet: Packet, now: Time) {
        self.queue.enqueue(packet, now);
        self.account(now);
        if cfg!(debug_assertions) {
            self.note(&packet, 1);
            self.note_gone(None);
        }
    }

    /// Takes the next packet for a link that times itself.
    pub(crate) fn take(&mut self, now: Time, index: usize, events: &mut Events) -> Option<Packet> {
        let packet = self.queue.dequeue(now);
        if packet.is_some() || !self.queue.dropped().is_empty() {
            self.account(now);
        }
        if cfg!(debug_assertions) {
            self.note_gone(packet.as_ref());
        }
        match packet {
            Some(packet) => {
                self.sent += 1;
                self.sent_bytes += u64::from(packet.len);
            }
            None => {
                if let Some(at) = self.queue.poll_at() {
                    self.wake(at, index, events);
                }
            }
        }
        packet
    }

    /// Whether no packet may begin: one is in transmission, or the link is in an outage.
    #[inline]
    pub(crate) fn is_busy(&mut self, now: Time) -> bool {
        now < self.busy_until || self.varying.is_some() && self.opens(now).is_some()
    }

    /// When a link that varies lets a packet begin, if not now. Apart, as all of such links: others do without.
    #[cold]
    fn opens(&mut self, now: Time) -> Option<Time> {
        self.varying.as_mut().and_then(|link| link.begin(now).err())
    }

    /// Sends a packet of `len` bytes over a link that varies: its arrival.
    #[cold]
    fn send_varying(&mut self, len: u32, now: Time) -> Time {
        let Some(link) = &mut self.varying else { return now };
        let (ended, arrival) = link.send(len, now, self.delay);
        self.busy_until = ended;
        self.carried(ended, len);
        arrival
    }

    /// Starts a transmission if the link is free: the packet and its arrival at the far end.
    #[inline]
    pub(crate) fn transmit(&mut self, now: Time, index: usize, events: &mut Events) -> Option<(Packet, Time)> {
        if now < self.busy_until {
            self.wake(self.busy_until, index, events);
            return None;
        }
        if self.varying.is_some()
            && let Some(at) = self.opens(now)
        {
            if self.backlog > 0 {
                self.wake(at, index, events);
            }
            return None;
        }
        let packet = self.queue.dequeue(now);
        if packet.is_some() || !self.queue.dropped().is_empty() {
            self.account(now);
        }
        if cfg!(debug_assertions) {
            self.note_gone(packet.as_ref());
        }
        let Some(packet) = packet else {
            if let Some(at) = self.queue.poll_at() {
                self.wake(at, index, events);
            }
            return None;
        };
        let arrival = if self.varying.is_some() {
            self.send_varying(packet.len, now)
        } else {
            if now > self.busy_until {
                self.rest = Fraction::HALF;
            }
            self.busy_until = now + self.serial.next(packet.len, &mut self.rest);
            self.transmitted(now);
            if self.shapes.is_some() { now } else { self.busy_until + self.delay }
        };
        self.sent += 1;
        self.sent_bytes += u64::from(packet.len);
        if self.backlog > 0 {
            self.wake(self.queue.ready_at(self.busy_until), index, events);
        }
        Some((packet, arrival))
    }

    /// Takes those that the last call dropped, and the packet it gave, off those that wait.
    fn note_gone(&mut self, sent: Option<&Packet>) {
        for index in 0..self.queue.dropped().len() {
            let (packet, _) = self.queue.dropped()[index];
            self.note(&packet, -1);
        }
        sent.into_iter().for_each(|packet| self.note(packet, -1));
    }

    fn note(&mut self, packet: &Packet, times: i64) {
        let place = accounting::place(packet);
        let waiting = self.waiting.entry(place).or_default();
        *waiting = [waiting[0] + times, waiting[1] + times * i64::from(packet.len)];
        if *waiting == [0, 0] {
            self.waiting.remove(&place);
        }
    }

    /// Packets and bytes that wait by each place in the ledger; in debug builds only.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (usize, [i64; 2])> {
        self.waiting.iter().map(|(&place, &waiting)| (place, waiting))
    }

    /// Whether what the queue received by its `stats` is what the port sent, what the queue dropped, and what is `waiting`.
    ///
    /// # Errors
    /// The numbers, where they do not add up.
    pub(crate) fn balanced(&self, stats: &Stats, waiting: Count) -> Result<(), String> {
        let packets = [stats.received, self.sent, stats.dropped(), waiting.packets];
        let dropped = stats.dropped_before_bytes + stats.dropped_after_bytes;
        let bytes = [stats.received_bytes, self.sent_bytes, dropped, waiting.bytes];
        for (unit, [received, sent, dropped, waiting]) in [("packets", packets), ("bytes", bytes)] {
            if received != sent.wrapping_add(dropped).wrapping_add(waiting) {
                return Err(format!("{received} {unit} received, {sent} sent, {dropped} dropped, {waiting} waiting"));
            }
        }
        Ok(())
    }

    /// Empties the queue, at the end of a run: what waited, in whatever order.
    pub(crate) fn drain(&mut self, mut now: Time, mut each: impl FnMut(&Packet)) {
        let mut fruitless = 0;
        while fruitless < MOST_POLLS {
            let packet = self.queue.dequeue(now);
            self.queue.dropped().iter().map(|(packet, _)| packet).chain(&packet).for_each(&mut each);
            if packet.is_some() || !self.queue.dropped().is_empty() {
                fruitless = 0;
                continue;
            }
            // A discipline that holds packets back says until when.
            match self.queue.poll_at() {
                Some(at) if self.queue.backlog() > 0 => now = now.max(at),
                _ => return,
            }
            fruitless += 1;
        }
    }

    /// Shares out the transmission that starts now over the seconds it lasts.
    #[inline]
    fn transmitted(&mut self, now: Time) {
        let mut from = now.0;
        while from < self.busy_until.0 {
            let second = from / SECOND;
            if second != self.second {
                self.end_second();
                (self.second, self.busy_in_second) = (second, 0);
            }
            let until = self.busy_until.0.min((second + 1) * SECOND);
            self.busy_in_second += until - from;
            self.busiest = self.busiest.max(self.busy_in_second);
            from = until;
        }
    }

    /// Counts a packet that a varying link has sent at `ended` with the time that it takes at the mean rate.
    fn carried(&mut self, ended: Time, len: u32) {
        let second = ended.0 / SECOND;
        if second != self.second {
            self.end_second();
            (self.second, self.busy_in_second) = (second, 0);
        }
        self.busy_in_second += self.serial.time(len).0;
        self.busiest = self.busiest.max(self.busy_in_second);
    }

    /// Writes down the transmissions of the current second so far.
    fn end_second(&mut self) {
        let Some(seconds) = &mut self.seconds else { return };
        let place = self.second as usize;
        if seconds.len() <= place {
            seconds.resize(place + 1, 0);
        }
        seconds[place] += self.busy_in_second;
    }

    /// Rate that loads are measured by, bit/s.
    fn usual_bps(&self) -> f64 {
        const BYTES: u32 = 1_000_000;
        8.0 * f64::from(BYTES) / self.serial.time(BYTES).as_secs_f64()
    }

    /// Has the transmissions of each second written down from now on.
    pub(crate) fn watch_seconds(&mut self) {
        self.seconds = Some(Vec::new());
    }

    /// Share of each second from the start of the run to `end` in which the port was sending, of a link that varies the
    /// share of what it offered in that second; empty unless watched.
    pub(crate) fn busy_shares(&mut self, end: Time) -> Vec<f64> {
        self.end_second();
        self.busy_in_second = 0;
        let Some(seconds) = self.seconds.take() else { return Vec::new() };
        let share = |second: u64| {
            let busy = seconds.get(second as usize).copied().unwrap_or(0);
            let (from, to) = (second * SECOND, ((second + 1) * SECOND).min(end.0));
            let usual = busy as f64 / (to - from) as f64;
            // What a varying link carried was counted at its mean rate.
            let offered_bps = self.offered_bps(Time(from), Time(to));
            offered_bps.map_or(usual, |bps| if bps > 0.0 { usual * self.usual_bps() / bps } else { 0.0 })
        };
        (0..end.0.div_ceil(SECOND)).map(share).collect()
    }

    /// Largest share of a second of the run, since the averages began, in which the port was sending; of a link that varies,
    /// at the mean rate, so that it may be more than 1.
    pub(crate) fn peak_busy(&self) -> f64 {
        self.busiest as f64 / SECOND as f64
    }

    #[inline]
    fn wake(&mut self, at: Time, index: usize, events: &mut Events) {
        if at < self.wake_at {
            self.wake_at = at;
            events.schedule(at, Kind::Port, index);
        }
    }

    /// Whether the event at `now` is the one waited for.
    #[inline]
    pub(crate) fn woken(&mut self, now: Time) -> bool {
        let awaited = self.wake_at == now;
        if awaited {
            self.wake_at = Time::NEVER;
        }
        awaited
    }

    /// Begins the averages and the largest size of the flow table anew.
    pub(crate) fn restart(&mut self, now: Time) {
        self.account(now);
        self.sampled_area = self.sampled_area.wrapping_sub(self.backlog_area);
        (self.backlog_area, self.flows_area, self.flows_max) = (0, 0, self.flows);
        self.end_second();
        (self.busy_in_second, self.busiest) = (0, 0);
        self.queue.restart(now);
        self.before = self.counted();
    }

    fn counted(&self) -> InterfaceCounts {
        let stats = self.queue.stats();
        InterfaceCounts {
            arrivals: stats.received,
            drops: stats.dropped(),
            marks: stats.marked,
            lost: self.loss.lost,
            sent: self.sent,
            sent_bytes: self.sent_bytes,
            queue_mean_packets: 0.0,
            nonresponsive_estimate: self.queue.nonresponsive().map(|estimate| estimate.share),
        }
    }

    /// Totals from `begin`, when the averages began, to `end`.
    pub(crate) fn totals(&mut self, begin: Time, end: Time) -> InterfaceCounts {
        let (now, before) = (self.counted(), self.before);
        InterfaceCounts {
            arrivals: now.arrivals - before.arrivals,
            drops: now.drops - before.drops,
            marks: now.marks - before.marks,
            lost: now.lost - before.lost,
            sent: now.sent - before.sent,
            sent_bytes: now.sent_bytes - before.sent_bytes,
            queue_mean_packets: self.means(begin, end).0,
            nonresponsive_estimate: now.nonresponsive_estimate,
        }
    }

    /// Mean rate of a link that varies between two times, bit/s.
    pub(crate) fn offered_bps(&self, from: Time, to: Time) -> Option<f64> {
        self.varying.as_ref().map(|link| link.mean_bps(from, to))
    }

    /// Packets waiting times nanoseconds since the call before.
    pub(crate) fn waiting_since_sample(&mut self, now: Time) -> u128 {
        let area = self.backlog_area + u128::from((now - self.since).0) * u128::from(self.backlog);
        let grown = area.wrapping_sub(self.sampled_area);
        self.sampled_area = area;
        grown
    }

    /// Time averages from `begin` to `end`: packets waiting and flow-table entries.
    pub(crate) fn means(&mut self, begin: Time, end: Time) -> (f64, f64) {
        self.account(end);
        let span = (end - begin).0.max(1) as f64;
        (self.backlog_area as f64 / span, self.flows_area as f64 / span)
    }
}
