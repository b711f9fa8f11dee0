//! Losses found by time (RFC 8985, 6.2).

use units::Time;

use super::ca_state::State;
use super::clock::us;
use super::pending::{MIN_TIMEOUT_US, Pending};
use super::rack::{MOST_STEPS, PERSISTS};
use super::rate::RateSample;
use super::sender::Sender;
use crate::tcp::Shape;
use crate::wire::net::Net;

impl Sender {
    /// A segment with last number before `end` has arrived that left at `sent_us` (6.2, step 2).
    #[inline]
    pub(super) fn rack_advance(&mut self, ever_retrans: bool, end: u32, sent_us: u64, now: Time) {
        let rtt_us = us(now).saturating_sub(sent_us);
        if ever_retrans && rtt_us < u64::from(self.estimator.least_us()) {
            // Too soon for the repeated copy: the first one has arrived.
            return;
        }
        self.rack.advanced = true;
        self.rack.rtt_us = rtt_us;
        if sent_us > self.rack.sent_us || sent_us == self.rack.sent_us && end > self.rack.end {
            (self.rack.sent_us, self.rack.end) = (sent_us, end);
        }
    }

    /// Time that reordering may take, microseconds (6.2, step 4): none while a loss is being repaired, or when three have
    /// arrived, before any reordering was seen.
    fn reordering_window_us(&self) -> u64 {
        if self.reord_seen == 0 && (self.state >= State::Recovery || self.sacked_out >= self.reordering) {
            return 0;
        }
        let quarter = u64::from(self.estimator.least_us() >> 2);
        (quarter * u64::from(self.rack.steps)).min(u64::from(self.estimator.srtt_us >> 3))
    }

    /// Microseconds until `seq` counts as lost with a reordering window of `window_us`; 0 or less: it does.
    pub(super) fn rack_remaining_us(&self, seq: u32, window_us: u64, now: Time) -> i64 {
        (self.rack.rtt_us + window_us) as i64 - (us(now) - self.queue.get(seq).sent_us) as i64
    }

    /// Marks what is lost, and gives the time until the next of those that may be (6.2, step 5).
    pub(super) fn rack_detect(&mut self, now: Time) -> Option<u64> {
        let window = self.reordering_window_us();
        let mut wait = None;
        let mut next = self.queue.oldest();
        while let Some(seq) = next {
            next = self.queue.newer(seq);
            let segment = *self.queue.get(seq);
            if segment.lost && !segment.retrans {
                continue;
            }
            let newer =
                self.rack.sent_us > segment.sent_us || self.rack.sent_us == segment.sent_us && self.rack.end > seq + 1;
            if !newer {
                break;
            }
            let remaining = self.rack_remaining_us(seq, window, now);
            if remaining <= 0 {
                self.mark_lost(seq, now);
                self.queue.unlist(seq);
            } else {
                wait = wait.max(Some(remaining as u64));
            }
        }
        wait
    }

    /// Looks for losses after an acknowledgement; whether the timer is set to look again.
    pub(super) fn rack_mark_lost(&mut self, shape: &Shape, net: &mut Net) -> bool {
        if !std::mem::take(&mut self.rack.advanced) {
            return false;
        }
        let wait = self.rack_detect(net.now);
        if let Some(us) = wait {
            let jiffies = self.clock.in_jiffies(us + MIN_TIMEOUT_US).min(self.rto);
            self.set_timer(Pending::Reordering, jiffies, shape, net);
        }
        wait.is_some()
    }

    /// Widens the reordering window once a round trip in which a needless retransmission was told (6.2, step 4).
    pub(super) fn rack_widen(&mut self, sample: &RateSample) {
        if sample.prior_delivered == 0 {
            return;
        }
        if sample.prior_delivered < self.rack.last_delivered {
            self.rack.dsack_seen = false;
        }
        if self.rack.dsack_seen {
            self.rack.steps = MOST_STEPS.min(self.rack.steps + 1);
            self.rack.dsack_seen = false;
            self.rack.last_delivered = self.delivered;
            self.rack.persist = PERSISTS;
        } else if self.rack.persist == 0 {
            self.rack.steps = 1;
        }
    }
}
