//! Congestion control of one end (RFC 9002, 7 and appendix B), with the rules of TCP: a rule's segment is a full datagram.

use units::Time;

use super::rtt::Rtt;
use super::space::Sent;
use crate::tcp::control::Control;
use crate::tcp::hystart::HyStart;
use crate::tcp::rules::Feedback;
use crate::tcp::rules::path::Model;
use crate::tcp::settings::Tcp;

/// Smallest window, datagrams (RFC 9002, 7.2: kMinimumWindow).
const SMALLEST: f64 = 2.0;
/// Windows per round trip in slow start. RFC 9002, 7.7 has 1.25 throughout as an example; at that rate slow start would
/// not double its window in a round trip.
const SLOW_START: f64 = 2.0;
/// Windows per round trip beyond, where the rule says nothing else (RFC 9002, 7.7).
const AVOIDANCE: f64 = 1.25;

/// Window, pace and what is under way.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) control: Control,
    pub(super) model: Option<Box<Model>>,
    hystart: Option<Box<HyStart>>,
    /// Bytes of a full datagram, without IP and UDP headers.
    unit: u64,
    /// Acknowledged bytes that have not yet opened the window by a datagram.
    credit: u64,
    /// What was sent until then is of the recovery under way (B.5); and of the last answer to marks.
    recovery_start: Option<Time>,
    marks_start: Option<Time>,
    /// The last departure found nothing to send, or no credit of the peer, while the window was open (7.8).
    pub(super) underused: bool,
    /// When the next datagram may leave.
    next: Time,
    cwnd_sum: f64,
    acks: u32,
}

/// What one acknowledgement or timer has told.
#[derive(Clone, Copy, Debug)]
pub(super) struct News<'a> {
    pub(super) acknowledged: &'a [(u64, Sent)],
    pub(super) lost: &'a [(u64, Sent)],
    /// Packets newly told to be marked.
    pub(super) marked: u32,
    /// First number not known of, and the next one to be sent.
    pub(super) open: (u64, u64),
    /// Packets under way before and after.
    pub(super) in_flight: (u32, u32),
    /// All that was sent for long enough is lost (7.6).
    pub(super) persistent: bool,
}

impl Window {
    pub(super) fn idle(tcp: &Tcp, unit: u64) -> Window {
        let mut control = Control::idle(tcp);
        (control.cwnd, control.ssthresh) = (f64::from(tcp.initial_window), f64::INFINITY);
        let hystart = control.begin_slow_start(0, tcp);
        Window {
            control,
            model: None,
            hystart,
            unit,
            credit: 0,
            recovery_start: None,
            marks_start: None,
            underused: false,
            next: Time::ZERO,
            cwnd_sum: 0.0,
            acks: 0,
        }
    }

    /// Bytes that may be under way.
    pub(super) fn bytes(&self) -> u64 {
        (self.control.cwnd * self.unit as f64) as u64
    }

    /// Mean over acknowledgements; no number before the first.
    pub(super) fn mean(&self) -> f64 {
        self.cwnd_sum / f64::from(self.acks)
    }

    fn is_recovering(&self, sent: Time) -> bool {
        self.recovery_start.is_some_and(|start| sent <= start)
    }

    /// A data packet leaves, of `bytes`, while `in_flight` are under way.
    pub(super) fn on_sent(
        &mut self,
        (number, first_open): (u64, u64),
        in_flight: u32,
        rtt: &Rtt,
        flow: u32,
        now: Time,
        tcp: &Tcp,
    ) {
        if let Some(make) = self.control.rule.traits().model {
            let (window, srtt_s) = (self.control.cwnd, rtt.smoothed_s());
            let model = self.model.get_or_insert_with(|| Box::new(Model::begin(make, window, srtt_s, flow, now)));
            if in_flight == 0 && model.rate.is_app_limited() {
                model.path.on_restart(now);
            }
            model.rate.on_send(number as u32, first_open as u32, in_flight, false, now);
            if f64::from(in_flight + 2) > self.control.cwnd {
                model.full_below = number as u32 + 1;
            }
        }
        if let Some(hystart) = &mut self.hystart {
            hystart.on_send(number as u32, now);
        }
        if tcp.is_paced() {
            self.pace(in_flight == 0, rtt, now, tcp);
        }
    }

    /// When a datagram may leave: now, or later.
    pub(super) fn may_leave(&self, tcp: &Tcp) -> Time {
        if tcp.is_paced() { self.next } else { Time::ZERO }
    }

    /// Sets the time of the next departure. An end with nothing under way may send a burst, as large as the initial window
    /// (RFC 9002, 7.7); else two datagrams, under a rule that wants to be paced one.
    fn pace(&mut self, silent: bool, rtt: &Rtt, now: Time, tcp: &Tcp) {
        let rate = self.rate(rtt);
        if rate <= 0.0 {
            return;
        }
        let gap = 1e9 / rate;
        let burst = match self.control.rule.traits() {
            traits if traits.paced => 1 + u32::from(traits.model.is_some()),
            _ if silent => tcp.initial_window,
            _ => 2,
        };
        let saved = Time((gap * f64::from(burst - 1)) as u64);
        self.next = self.next.max(now.saturating_sub(saved)) + Time(gap as u64);
    }

    /// Datagrams per second; 0 before a sample of the round-trip time.
    fn rate(&self, rtt: &Rtt) -> f64 {
        let Some(model) = &self.model else {
            let traits = self.control.rule.traits();
            let own = if traits.paced { traits.pace } else { AVOIDANCE };
            let windows = if self.control.cwnd < self.control.ssthresh { SLOW_START } else { own };
            let srtt_s = rtt.smoothed_s();
            return if srtt_s > 0.0 { windows * self.control.cwnd / srtt_s } else { 0.0 };
        };
        model.path.pacing_rate()
    }

    /// Nothing is left to send while the window is open.
    pub(super) fn on_idle(&mut self, in_flight: u32) {
        self.underused = true;
        if let Some(model) = &mut self.model {
            model.rate.on_idle(in_flight);
        }
    }

    /// Takes what was told of packets: whether a recovery begins.
    pub(super) fn on_news(&mut self, news: &News, rtt: &Rtt, now: Time, tcp: &Tcp) -> bool {
        let newest = news.acknowledged.iter().map(|(_, sent)| sent.at).max();
        let lost = news.lost.iter().map(|(_, sent)| sent.at).max();
        let begins = lost.is_some_and(|sent| !self.is_recovering(sent));
        if self.model.is_some() {
            self.tell_model(news, newest, begins, now);
        } else {
            self.answer_marks(news, newest, rtt, now, tcp);
            if begins {
                self.reduce(news.open.1, now);
            }
            self.grow(news, rtt, now, tcp);
        }
        if news.persistent {
            self.collapse(news.in_flight.1);
        }
        if !news.acknowledged.is_empty() {
            self.acks += 1;
            self.cwnd_sum += self.control.cwnd;
        }
        begins
    }

    /// A loss begins a recovery, which lasts until something sent after now is acknowledged (B.6).
    fn reduce(&mut self, next: u64, now: Time) {
        self.recovery_start = Some(now);
        let window = self.control.cwnd;
        self.control.ssthresh = self.control.reduced(window).max(SMALLEST);
        self.control.cwnd = self.control.ssthresh;
        self.credit = 0;
        if let Some(hystart) = &mut self.hystart {
            hystart.on_loss(next as u32);
            self.control.end_first_slow_start();
        }
    }

    /// Persistent congestion: the smallest window, and no recovery (7.6.2).
    fn collapse(&mut self, in_flight: u32) {
        self.recovery_start = None;
        self.control.rule.on_timeout();
        self.control.cwnd = SMALLEST;
        if let Some(model) = &mut self.model {
            model.path.on_timeout(in_flight);
            self.control.follow(model.path.cwnd());
        }
    }

    /// Marks: once for what was under way together (B.7), or as a rule that counts them says.
    fn answer_marks(&mut self, news: &News, newest: Option<Time>, rtt: &Rtt, now: Time, tcp: &Tcp) {
        let rtt_s = rtt.smoothed_s();
        let counts = tcp.counts_marks();
        if counts && !news.acknowledged.is_empty() {
            let (acked, marked) = (news.acknowledged.len() as u32, news.marked);
            let (una, max) = (news.open.0 as u32, news.open.1 as u32);
            self.control.rule.on_feedback(&Feedback { acked, marked, una, max, now, rtt_s });
        }
        let Some(sent) = newest else { return };
        let past = self.is_recovering(sent) || self.marks_start.is_some_and(|start| sent <= start);
        if news.marked == 0 || past || !self.control.rule.traits().hears_marks {
            return;
        }
        let before = self.control.cwnd;
        let Some(window) = self.control.marked(before, now, rtt_s, tcp) else { return };
        self.marks_start = Some(now);
        self.control.ssthresh = window.max(SMALLEST);
        self.control.cwnd = self.control.ssthresh;
        if !counts {
            self.recovery_start = Some(now);
        }
    }

    /// Acknowledged bytes open the window (B.5), but those of a recovery and of a sender that did not use it, and where
    /// marks are counted those marked.
    fn grow(&mut self, news: &News, rtt: &Rtt, now: Time, tcp: &Tcp) {
        let open = |sent: &Sent| !self.is_recovering(sent.at);
        let bytes: u64 =
            news.acknowledged.iter().filter(|(_, sent)| open(sent)).map(|(_, sent)| u64::from(sent.bytes)).sum();
        let unmarked = bytes.saturating_sub(if tcp.counts_marks() { u64::from(news.marked) * self.unit } else { 0 });
        if unmarked == 0 || self.underused {
            return;
        }
        self.credit += unmarked;
        if let Some(hystart) = &mut self.hystart
            && self.control.cwnd < self.control.ssthresh
            && let Some(&(largest, _)) = news.acknowledged.last()
        {
            self.control.steer(hystart.on_ack(largest as u32 + 1, news.open.1 as u32, self.control.cwnd, now));
        }
        let datagrams = self.credit / self.unit;
        self.credit %= self.unit;
        for _ in 0..datagrams {
            self.control.on_ack(1, now, rtt.smoothed_s(), tcp);
        }
    }

    fn tell_model(&mut self, news: &News, newest: Option<Time>, begins: bool, now: Time) {
        let ends = newest.is_some_and(|sent| !self.is_recovering(sent));
        let Some(model) = &mut self.model else { return };
        for (number, _) in news.acknowledged {
            model.rate.deliver(*number as u32, now);
        }
        for (number, _) in news.lost {
            let loss = model.rate.lose(*number as u32);
            model.path.on_loss(&loss, now);
        }
        if model.path.is_recovering() && ends && !begins {
            model.path.on_recovered();
        }
        let limited = (news.open.0 as u32) < model.full_below;
        if let Some(sample) = model.rate.sample((news.lost.len() as u32, news.marked), news.in_flight, limited) {
            model.path.on_ack(&sample, now);
            if model.path.is_probing_rtt() {
                model.rate.on_idle(news.in_flight.1);
            }
        }
        if begins {
            model.path.on_recovery(news.in_flight.1, model.rate.delivered());
            self.recovery_start = Some(now);
        }
        self.control.follow(model.path.cwnd());
    }
}
