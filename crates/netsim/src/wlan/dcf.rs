//! Contention for the medium: who may send when, under DCF or EDCA.
//!
//! Principle: nothing happens in an idle slot, so there is no event for one. Each contender keeps its slots left as
//! of the end of the last busy period; the next access is the least of their ends, and slots are taken off when it
//! begins. Only contenders are looked at, a handful, however many nodes are idle (O(contenders) per access).

use units::{Stream, Time};

use super::{AfterFailure, Category, Decrement, Immediate, Rules, Wlan};

/// A queue that contends: one per node and category.
#[derive(Debug)]
struct Contender {
    /// Slots of backoff left when the medium was last busy.
    left: u32,
    /// Contention window, slots less one.
    window: u32,
    /// Slots count from then at the earliest.
    ready: Time,
    /// Busy period in which it sent itself: it waits no EIFS after it.
    sent_in: u64,
    /// Whether it has a backoff to count or a frame to send.
    listed: bool,
    has_frame: bool,
    /// Whether its frame goes out without backoff if nobody is faster.
    fresh: bool,
    stream: Stream,
}

#[derive(Debug)]
pub(crate) struct Dcf {
    slot: Time,
    cca: Time,
    rules: Rules,
    categories: Vec<Category>,
    /// SIFS and the slots of AIFSN, by category.
    spaces: Vec<Time>,
    contenders: Vec<Contender>,
    listed: Vec<u32>,
    busy: bool,
    /// Busy periods so far.
    period: u64,
    /// End of the last busy period.
    idle_since: Time,
    /// What those who could not read it wait longer.
    unread: Time,
    /// For mean backoffs: how the next half slot is rounded.
    means: Option<bool>,
}

/// One that gains the medium, and when it begins to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) contender: usize,
    pub(crate) at: Time,
}

impl Dcf {
    /// `nodes` nodes; contender `n` is category `n % categories` of node `n / categories`.
    pub(crate) fn of(wlan: &Wlan, nodes: usize, seed: u64) -> Dcf {
        let categories = &wlan.categories;
        let contender = |index: usize| Contender {
            left: 0,
            window: categories[index % categories.len()].windows[0],
            ready: Time::ZERO,
            sent_in: u64::MAX,
            listed: false,
            has_frame: false,
            fresh: false,
            stream: Stream::named(seed, &format!("backoff.{index}")),
        };
        Dcf {
            slot: wlan.slot,
            cca: wlan.cca,
            rules: wlan.rules,
            categories: categories.clone(),
            spaces: categories.iter().map(|c| Time(wlan.sifs.0 + u64::from(c.aifsn) * wlan.slot.0)).collect(),
            contenders: (0..nodes * categories.len()).map(contender).collect(),
            listed: Vec::new(),
            busy: false,
            period: 0,
            idle_since: Time::ZERO,
            unread: Time::ZERO,
            means: wlan.mean_backoff.then_some(false),
        }
    }

    fn category(&self, contender: usize) -> usize {
        contender % self.categories.len()
    }

    /// Draws a backoff from the current window.
    fn draw(&mut self, contender: usize) {
        let own = &mut self.contenders[contender];
        own.fresh = false;
        own.left = match &mut self.means {
            None => (own.stream.uniform() * f64::from(own.window + 1)) as u32,
            Some(up) => {
                *up = !*up;
                (own.window + u32::from(*up)) / 2
            }
        };
    }

    fn list(&mut self, contender: usize) {
        if !self.contenders[contender].listed {
            self.contenders[contender].listed = true;
            self.listed.push(contender as u32);
        }
    }

    /// When its slots begin to count, if the medium stays idle.
    #[inline]
    fn counts_from(&self, contender: usize) -> Time {
        let own = &self.contenders[contender];
        let unread = if own.sent_in == self.period { Time::ZERO } else { self.unread };
        (self.idle_since + self.spaces[self.category(contender)] + unread).max(own.ready)
    }

    #[inline]
    fn ends(&self, contender: usize) -> Time {
        self.counts_from(contender) + Time(u64::from(self.contenders[contender].left) * self.slot.0)
    }

    /// A contender without a frame has one from `now` on; `replies` when it was handed over in the instant in which one
    /// for its node ended.
    pub(crate) fn offer(&mut self, contender: usize, now: Time, replies: bool) {
        let counting = self.contenders[contender].listed
            && if self.busy { self.contenders[contender].left > 0 } else { self.ends(contender) > now };
        self.contenders[contender].has_frame = true;
        if counting {
            return;
        }
        self.list(contender);
        self.contenders[contender].ready = now;
        let busy = self.busy && !(replies && self.rules.reply_finds_idle);
        if busy || self.rules.immediate == Immediate::Never {
            return self.draw(contender);
        }
        let space = self.spaces[self.category(contender)];
        let own = &mut self.contenders[contender];
        (own.left, own.fresh) = (0, true);
        if self.rules.immediate == Immediate::Arrival {
            own.ready = now + space;
        }
    }

    /// When the next access begins, if nothing is offered before.
    pub(crate) fn next(&self) -> Option<Time> {
        let waiting = self.listed.iter().map(|&index| index as usize);
        waiting.filter(|&index| self.contenders[index].has_frame).map(|index| self.ends(index)).min()
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.busy
    }

    /// The medium turns busy `now`, at [`Dcf::next`]: all who send are added to `accesses`. The others keep what is
    /// left of their backoff.
    pub(crate) fn begin(&mut self, now: Time, accesses: &mut Vec<Access>) {
        let (mut kept, deaf_until) = (0, now + self.cca.max(Time(1)));
        for place in 0..self.listed.len() {
            let index = self.listed[place] as usize;
            let from = self.counts_from(index);
            let own = &self.contenders[index];
            let at = from + Time(u64::from(own.left) * self.slot.0);
            // With mean backoffs two that meet would meet for ever: one goes first.
            let meets = at < deaf_until && (self.means.is_none() || accesses.is_empty());
            if own.has_frame && meets {
                accesses.push(Access { contender: index, at });
            } else {
                self.freeze(index, from, now);
            }
            let own = &mut self.contenders[index];
            own.listed = own.has_frame || own.left > 0;
            if own.listed {
                self.listed[kept] = index as u32;
                kept += 1;
            }
        }
        self.listed.truncate(kept);
        (self.busy, self.unread) = (true, Time::ZERO);
        self.period += 1;
        for access in accesses {
            self.contenders[access.contender].sent_in = self.period;
        }
    }

    /// Takes off the slots that have passed since `from`.
    fn freeze(&mut self, index: usize, from: Time, now: Time) {
        if self.contenders[index].fresh && self.rules.overtaken_draws {
            self.contenders[index].ready = Time::ZERO;
            return self.draw(index);
        }
        let own = &mut self.contenders[index];
        if now >= from {
            let passed = (now - from).0 / self.slot.0;
            let busy = u64::from(self.rules.decrement == Decrement::EverySlot);
            own.left -= (passed + busy).min(u64::from(own.left)) as u32;
        }
    }

    /// The medium turns idle `now`; those who did not send wait `unread` longer than the others.
    pub(crate) fn end(&mut self, now: Time, unread: Time) {
        (self.busy, self.idle_since, self.unread) = (false, now, unread);
    }

    /// Its frame is done with, by an answer or for good: the window is reset, and a backoff runs before the next
    /// one, whether there is one (`more`) or not.
    pub(crate) fn done(&mut self, contender: usize, more: bool) {
        let window = self.categories[self.category(contender)].windows[0];
        let own = &mut self.contenders[contender];
        (own.window, own.ready, own.has_frame) = (window, Time::ZERO, more);
        self.draw(contender);
        self.list(contender);
    }

    /// Its frame had no answer by `timeout`: the window doubles.
    pub(crate) fn failed(&mut self, contender: usize, timeout: Time) {
        let category = self.category(contender);
        let most = self.categories[category].windows[1];
        let own = &mut self.contenders[contender];
        own.window = (2 * own.window + 1).min(most);
        self.wait_for(contender, timeout);
        self.draw(contender);
        self.list(contender);
    }

    /// A contender whose last frame had no answer by `timeout` contends from when the rules say.
    pub(crate) fn wait_for(&mut self, contender: usize, timeout: Time) {
        let space = self.spaces[self.category(contender)];
        self.contenders[contender].ready = match self.rules.after_failure {
            AfterFailure::Timeout => timeout,
            AfterFailure::TimeoutAndDifs => timeout + space,
            AfterFailure::WithOthers | AfterFailure::AfterAnswerTime => Time::ZERO,
        };
    }

    /// As [`Dcf::failed`] for one whose own node had something more urgent to send (802.11-2020, 10.22.2.4).
    pub(crate) fn yielded(&mut self, contender: usize) {
        self.failed(contender, Time::ZERO);
        self.contenders[contender].ready = Time::ZERO;
    }
}
