//! What a departure and a delivery add to the sample of the delivery rate.

use units::Time;

use super::clock::us;
use super::rate::RateSample;
use super::sender::Sender;

impl Sender {
    /// `seq` leaves: it takes along what had been delivered by then.
    #[inline]
    pub(super) fn note_departure(&mut self, seq: u32, at: Time) {
        if self.packets_out == 0 {
            (self.rate.first_sent_us, self.rate.delivered_us) = (us(at), us(at));
        }
        let (rate, delivered) = (self.rate, self.delivered);
        let segment = self.queue.at(seq);
        segment.first_sent_us = rate.first_sent_us;
        segment.delivered_us = rate.delivered_us;
        segment.delivered = delivered;
        segment.app_limited = rate.app_limited != 0;
    }

    /// `seq` is delivered, by a selective acknowledgement or not: the newest departure counts.
    #[inline]
    pub(super) fn note_delivery(&mut self, seq: u32, sample: &mut RateSample, now: Time) {
        if let Some(path) = self.controller.path() {
            path.deliver(seq, now);
        }
        let first_sent_us = self.rate.first_sent_us;
        let segment = self.queue.at(seq);
        if segment.delivered_us == 0 {
            return;
        }
        let newer = segment.sent_us > first_sent_us || segment.sent_us == first_sent_us && seq + 1 > sample.last_end;
        if sample.prior_delivered == 0 || newer {
            sample.prior_delivered = segment.delivered;
            sample.prior_us = segment.delivered_us;
            sample.app_limited = segment.app_limited;
            sample.last_end = seq + 1;
            sample.interval_us = segment.sent_us - segment.first_sent_us;
            self.rate.first_sent_us = segment.sent_us;
        }
        if segment.sacked {
            segment.delivered_us = 0;
        }
    }

    /// The acknowledgement is read: completes its sample.
    pub(super) fn complete_sample(&mut self, acked: u32, losses: u32, sample: &mut RateSample, now: Time) {
        if self.rate.app_limited != 0 && self.delivered > self.rate.app_limited {
            self.rate.app_limited = 0;
        }
        if acked > 0 {
            self.rate.delivered_us = us(now);
        }
        (sample.acked, sample.losses) = (acked, losses);
        if sample.prior_us == 0 {
            return;
        }
        sample.interval_us = sample.interval_us.max(us(now) - sample.prior_us);
        sample.delivered = Some(self.delivered - sample.prior_delivered);
        sample.too_short = sample.interval_us < u64::from(self.estimator.least_us());
    }
}
