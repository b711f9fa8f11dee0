//! What one end of a connection knows of marks: both directions, since every segment tells of what the other brought.

use qdisc::Ecn;
use units::Time;

use super::option::{Counts, fitted, place};
use super::report::AccEcnReport;

/// Where the ACE field begins, and its bits (RFC 9768, 3.2.2).
const ACE_BEGIN: u32 = 5;
const ACE: u32 = 7;
/// Marks not yet told at which an acknowledgement may not wait: the field tells seven.
const TELL_AT: u32 = 6;
/// A count moves past a multiple of this: then an option is due (3.2.3.3).
const BYTES_UNTOLD: u32 = 1 << 22;
/// Bytes sent after which a first option would be ambiguous.
const TOO_LATE: u64 = (1 << 23) - 1;
/// Places in tables of counts.
const CE: usize = 1;
/// Segments per acknowledgement above which acknowledgements seem to be compressed; weight of the mean, and its unit.
const COMPRESSED: u32 = 4;
const WEIGHT: u32 = 6;
const UNIT: u32 = 64;

/// What the handshake settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Nothing yet: no SYN was sent or received.
    #[default]
    Unasked,
    /// A SYN asks for it.
    Pending,
    Off,
    /// RFC 3168.
    Classic,
    Accurate,
}

/// What a host does with the option, and with what the handshake tells (`tcp_ecn_option`, `tcp_ecn_option_beacon`,
/// `tcp_ecn_fallback`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Habits {
    /// 0: no option; 1: when a count has changed and now and then; 2: always; 3: even if it seems to be dropped.
    pub(crate) option: u32,
    /// How often in a round trip an option is sent at least, with 1.
    pub(crate) beacon: u32,
    /// Code points that changed as no network may change them end the use of ECT.
    pub(crate) fallback: bool,
}

impl Default for Habits {
    fn default() -> Habits {
        Habits { option: 2, beacon: 3, fallback: true }
    }
}

/// What has failed on the path, from here or towards here (`accecn_fail_mode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Failed {
    ace_from: bool,
    ace_to: bool,
    option_from: bool,
    option_to: bool,
}

/// Which option has been received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    #[default]
    Nothing,
    Empty,
    Counters,
}

/// What an acknowledgement brought, beside what it tells of marks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct News {
    /// Segments and bytes that it says have newly arrived.
    pub(crate) segments: u32,
    pub(crate) bytes: u32,
    /// It acknowledges something, cumulatively or selectively.
    pub(crate) progress: bool,
    /// It acknowledges the SYN.
    pub(crate) syn: bool,
    /// Payload of a full segment, bytes.
    pub(crate) mss: u32,
    /// Payload sent up to now, bytes.
    pub(crate) sent_bytes: u64,
    /// What arrived is told selectively, or nothing is being repaired.
    pub(crate) exact: bool,
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Host {
    pub(crate) mode: Mode,
    pub(crate) habits: Habits,
    failed: Failed,
    seen: Seen,
    /// Code point of the SYN, or of its answer, that came in.
    handshake: Option<Ecn>,
    /// The next segment tells that instead of the count.
    reflects: bool,
    /// It has accepted the connection; the answer to our SYN-ACK has not come.
    accepts: bool,
    awaits: bool,

    /// Marked packets received; of them not yet told; bytes received of ECT(1), CE and ECT(0).
    received_ce: u32,
    untold: u32,
    received: [u32; 3],
    /// Code point received last; whether any was ECT.
    last: Option<Ecn>,
    capable: bool,
    /// The acknowledgement must not wait.
    pub(crate) hurries: bool,

    /// Fields that the next option has to have; options that are due; when one left last; whether it left with a report
    /// of data received twice, and where that began.
    least: u32,
    due: u32,
    left: Time,
    told_twice: Option<u32>,

    /// Marked packets delivered, as the other end tells, and bytes by code point.
    delivered_ce: u32,
    delivered: [u32; 3],
    /// Where bytes that no option tells of are counted.
    guess: Option<usize>,
    /// Mean of segments per acknowledgement, in units of 1/64.
    thickness: u32,
    /// Highest timestamp that came; whether the last segment brought a higher one.
    stamp: Time,
    fresh: bool,
}

impl Host {
    /// Begins a connection.
    pub(crate) fn restart(&mut self) {
        *self = Host { habits: self.habits, ..Host::default() };
    }

    /// Marked packets delivered, and bytes of ECT(1), CE and ECT(0), as the other end has told.
    pub(crate) fn delivered(&self) -> (u32, [u32; 3]) {
        (self.delivered_ce, self.delivered)
    }

    /// Marked packets received, and bytes.
    pub(crate) fn received(&self) -> (u32, [u32; 3]) {
        (self.received_ce, self.received)
    }

    // The handshake (RFC 9768, 3.1).

    /// Flags of a SYN that leaves for the first time, or after so many timeouts: the third copy asks for nothing, in case
    /// it is the flags that are dropped (3.1.4.1).
    pub(crate) fn syn(&mut self, timeouts: u32) -> u8 {
        if self.mode == Mode::Unasked {
            self.mode = Mode::Pending;
        }
        if timeouts > 1 { 0 } else { ACE as u8 }
    }

    /// Whether a SYN has come, to which this host's is the answer.
    pub(crate) fn answers(&self) -> bool {
        self.awaits
    }

    /// A SYN has come, the answer to ours, or either of them when the connection is open.
    pub(crate) fn on_opening(&mut self, told: &AccEcnReport) {
        match self.mode {
            Mode::Pending => self.on_syn_ack(told),
            Mode::Unasked => self.on_syn(told),
            _ if self.awaits => self.on_syn(told),
            _ => self.on_late_syn(told),
        }
    }

    /// A SYN has come (table 2), or another copy of it.
    fn on_syn(&mut self, told: &AccEcnReport) {
        match (self.mode, told.ace) {
            (Mode::Unasked, 0) => self.mode = Mode::Off,
            (Mode::Unasked, 3) => self.mode = if told.ecn == Ecn::NotEct { Mode::Classic } else { Mode::Off },
            (Mode::Unasked, _) => self.mode = Mode::Accurate,
            (Mode::Accurate, 0) => self.failed.ace_to = true,
            _ => {}
        }
        self.handshake = Some(told.ecn);
        self.last = Some(told.ecn);
        (self.accepts, self.awaits) = (true, true);
    }

    /// Flags and option of a SYN-ACK, `again` or after so many timeouts: the first repetition has no option, the second no
    /// flags.
    pub(crate) fn syn_ack(&mut self, timeouts: u32, again: bool) -> (u8, Option<Counts>) {
        match self.mode {
            Mode::Classic if timeouts <= 1 => (1, None),
            Mode::Accurate => {
                self.failed.ace_from |= timeouts > 1;
                let ace = if timeouts > 1 { 0 } else { self.reflected() };
                let option = !again && self.habits.option > 0;
                (ace, option.then(|| Counts::of([0; 3], 3)))
            }
            _ => (0, None),
        }
    }

    /// A SYN-ACK has come (table 2).
    fn on_syn_ack(&mut self, told: &AccEcnReport) {
        match told.ace {
            0 | 7 => self.mode = Mode::Off,
            1 => self.mode = Mode::Classic,
            ace => {
                self.mode = Mode::Accurate;
                self.handshake = Some(told.ecn);
                self.reflects = true;
                self.see_option(told, 2);
                // Our SYN was not ECT.
                if told.ecn == Ecn::Ce && (ace == 5 || self.is_plausible(ace)) {
                    self.count_marks(1);
                }
            }
        }
    }

    /// A SYN comes when the connection is open: the acknowledgement that it asks for tells how this one came (3.1.5).
    fn on_late_syn(&mut self, told: &AccEcnReport) {
        if self.mode == Mode::Accurate {
            self.handshake = Some(told.ecn);
            self.reflects = true;
            self.see_option(told, 1);
        }
    }

    /// The first segment after our SYN-ACK (table 4). Without payload and blocks it is the end of the handshake.
    fn on_third(&mut self, told: &AccEcnReport) {
        self.awaits = false;
        if self.mode != Mode::Accurate {
            return;
        }
        self.due = 1;
        self.see_option(told, 0);
        match told.ace {
            // Cleared on the way, as nothing that begins so is sent.
            0 if !told.selective => (self.failed.ace_to, self.failed.option_to) = (true, true),
            0 | 1 | 5 | 7 => {}
            ace => {
                let ends = told.payload == 0 && !told.selective;
                if ends && self.is_plausible(ace) && reflected(ace) == Ecn::Ce && self.delivered_ce == 0 {
                    self.delivered_ce = 1;
                }
            }
        }
    }

    /// What the other end saw of our SYN or SYN-ACK, which was not ECT: no network may make something else of it.
    fn is_plausible(&mut self, ace: u8) -> bool {
        if !self.habits.fallback || reflected(ace) == Ecn::NotEct {
            return true;
        }
        self.failed.ace_to = true;
        false
    }

    fn see_option(&mut self, told: &AccEcnReport, due: u32) {
        let Some(counts) = told.counts.filter(|_| self.seen < Seen::Counters) else { return };
        self.seen = if counts.fields == 0 { Seen::Empty } else { Seen::Counters };
        self.failed.option_to |= counts.is_cleared();
        self.due = self.due.max(due);
    }

    // What arrives.

    /// A segment arrives, of which `in_order` says whether its timestamp counts (RFC 7323, 4.3).
    pub(crate) fn on_arrival(&mut self, told: &AccEcnReport, stamp: Option<Time>, in_order: bool) {
        if self.awaits {
            self.on_third(told);
        }
        let stamp = stamp.filter(|_| in_order).unwrap_or(Time::ZERO);
        self.fresh = stamp > self.stamp;
        self.stamp = self.stamp.max(stamp);
        if self.mode != Mode::Accurate {
            return;
        }
        let marked = told.ecn == Ecn::Ce;
        if let Some(at) = place(told.ecn) {
            self.capable = true;
            if marked {
                self.count_marks(1);
            }
            if told.payload > 0 {
                let before = self.received[at];
                self.received[at] = before.wrapping_add(told.payload);
                self.least = self.least.max(at as u32 + 1);
                if before / BYTES_UNTOLD != self.received[at] / BYTES_UNTOLD {
                    self.due = self.due.max(1);
                }
            }
        }
        // Another code point than before is told at once, and twice, so that it is clear which one the count is of.
        let edge = self.last.unwrap_or(Ecn::NotEct) != told.ecn;
        if edge || marked {
            self.last = Some(told.ecn);
            self.hurries |= edge;
            self.due = 2;
        }
    }

    /// Data that is not ECT came among data that is: it was probably sent again.
    pub(crate) fn is_repeated(&self, ecn: Ecn) -> bool {
        self.mode == Mode::Accurate && self.capable && ecn == Ecn::NotEct
    }

    fn count_marks(&mut self, marks: u32) {
        self.received_ce = self.received_ce.wrapping_add(marks);
        self.untold = (self.untold + marks).min(15);
    }

    /// Data from number `start` came again: if the last report of that had an option, the option seems to be dropped on its
    /// way (3.2.3.2.2).
    pub(crate) fn on_twice(&mut self, start: u32) {
        self.failed.option_from |= self.mode == Mode::Accurate && self.told_twice == Some(start);
    }

    // What leaves.

    /// Code point of a segment, of which `capable` is what ECT is here.
    pub(crate) fn codepoint(&self, capable: Ecn) -> Ecn {
        if self.failed.ace_to || self.failed.ace_from { Ecn::NotEct } else { capable }
    }

    /// ACE of a segment after the handshake.
    pub(crate) fn ace(&mut self) -> u8 {
        self.hurries = false;
        if std::mem::take(&mut self.reflects) {
            return self.reflected();
        }
        self.untold = 0;
        (self.received_ce.wrapping_add(ACE_BEGIN) & ACE) as u8
    }

    /// How the handshake's segment came (table 2, first block).
    fn reflected(&self) -> u8 {
        match self.handshake {
            None | Some(Ecn::NotEct) => 2,
            Some(Ecn::Ect1) => 3,
            Some(Ecn::Ect0) => 4,
            Some(Ecn::Ce) => 6,
        }
    }

    /// Whether an option leaves at `now`, with a round-trip time of `rtt_us`.
    fn is_due(&self, now: Time, rtt_us: u64) -> bool {
        let Habits { option, beacon, .. } = self.habits;
        let since_us = (now - self.left).0 / 1000;
        let long = beacon > 0 && since_us * u64::from(beacon) >= rtt_us;
        self.mode == Mode::Accurate
            && option > 0
            && self.seen > Seen::Nothing
            && (option >= 3 || !self.failed.option_from)
            && (option >= 2 || self.due > 0 || long)
    }

    /// The option of a segment that leaves at `now` beside `blocks` SACK blocks: itself, the bytes that it takes, and how
    /// many blocks are left. `twice` is where a report of data received twice in them begins.
    pub(crate) fn option(
        &mut self,
        blocks: u32,
        stamped: bool,
        twice: Option<u32>,
        now: Time,
        rtt_us: u64,
    ) -> (Option<Counts>, u32, u32) {
        let fits = if self.is_due(now, rtt_us) { fitted(self.least, blocks, stamped) } else { None };
        let Some((fields, left, bytes)) = fits else {
            self.told_twice = None;
            return (None, 0, blocks);
        };
        (self.least, self.left, self.told_twice) = (0, now, twice);
        self.due = self.due.saturating_sub(1);
        (Some(Counts::of(self.received, fields)), bytes, left)
    }

    /// Bytes of the option that data would carry at `now`.
    pub(crate) fn option_bytes(&self, stamped: bool, now: Time, rtt_us: u64) -> u32 {
        let fits = if self.is_due(now, rtt_us) { fitted(self.least, 0, stamped) } else { None };
        fits.map_or(0, |(_, _, bytes)| bytes)
    }

    // What the other end tells.

    /// An acknowledgement: the marks that it tells of, and that were not told before (`tcp_accecn_process`; RFC 9768,
    /// 3.2.2.5 and appendix A.2).
    pub(crate) fn take(&mut self, told: &AccEcnReport, news: &News) -> u32 {
        if self.mode != Mode::Accurate || !(news.progress || self.fresh) {
            // It may be older than others that came before.
            return 0;
        }
        let marked_bytes = self.delivered[CE];
        let exact = self.take_option(told, news);
        // What accepts a connection has no SYN-ACK in its queue.
        if news.segments > 0 && !(news.syn && self.accepts) {
            let now = news.segments * UNIT;
            let mean = ((self.thickness << WEIGHT) - self.thickness + now) >> WEIGHT;
            self.thickness = if self.thickness == 0 { now } else { mean }.min(0xffff);
        }
        if news.syn {
            return 0;
        }
        self.hurries |= self.untold >= TELL_AT;
        let field = u32::from(told.ace).wrapping_sub(ACE_BEGIN);
        let least = field.wrapping_sub(self.delivered_ce) & ACE;
        let marks = if news.segments <= ACE {
            least
        } else {
            let new_bytes = exact.then(|| self.delivered[CE].wrapping_sub(marked_bytes));
            self.unwrapped(least, new_bytes, news)
        };
        self.delivered_ce = self.delivered_ce.wrapping_add(marks);
        marks
    }

    /// An acknowledgement of so many segments that the field may have wrapped: at `least` so many are marked, and perhaps
    /// eight more or several times that, up to all of them. `bytes` of marked segments are told by an option.
    fn unwrapped(&self, least: u32, bytes: Option<u32>, news: &News) -> u32 {
        let most = news.segments - (news.segments.wrapping_sub(least) & ACE);
        let Some(bytes) = bytes else {
            return if self.thickness > COMPRESSED * UNIT { least } else { most };
        };
        if bytes == 0 {
            return least;
        }
        if news.segments >= 2 * (ACE + 1) && news.exact {
            if news.bytes <= bytes {
                return most;
            }
            let share = u64::from(bytes) * u64::from(news.segments);
            let estimated = share.div_ceil(news.bytes.into()) as u32;
            return most.min(least + (estimated & !ACE));
        }
        if bytes > least * news.mss {
            return most;
        }
        let half = u64::from(most) * u64::from(news.mss) / 2;
        if u64::from(bytes) < half { least } else { most }
    }

    /// Whether the byte counts are exact after what the option tells; without one all is taken for the code point that
    /// alone grew before.
    fn take_option(&mut self, told: &AccEcnReport, news: &News) -> bool {
        if self.failed.option_to {
            return false;
        }
        let guess = self.guess;
        let Some(counts) = told.counts else {
            if self.seen == Seen::Nothing {
                self.failed.option_to |= news.sent_bytes >= TOO_LATE;
                return false;
            }
            if let Some(at) = guess {
                self.delivered[at] = self.delivered[at].wrapping_add(news.bytes);
            }
            return guess.is_some();
        };
        self.see_option(told, 0);
        let (mut exact, mut ambiguous, mut changed) = (guess.is_some(), false, false);
        for (at, change) in counts.take(&mut self.delivered) {
            let other = change != 0 && Some(at) != guess;
            if other && !changed {
                (self.guess, changed) = (Some(at), true);
            } else if other {
                ambiguous = true;
            }
            ambiguous |= change < 0;
        }
        if ambiguous {
            (exact, self.guess) = (false, None);
        }
        exact
    }
}

/// How a segment came whose answer has `ace`, undefined values included (`tcp_accecn_extract_syn_ect`).
fn reflected(ace: u8) -> Ecn {
    match ace {
        2 => Ecn::NotEct,
        0 | 4 => Ecn::Ect0,
        6 => Ecn::Ce,
        _ => Ecn::Ect1,
    }
}
