//! Delivery rate: how fast the path delivers, measured with every acknowledgement.
//!
//! Source: Linux, net/ipv4/tcp_rate.c; draft-cheng-iccrg-delivery-rate-estimation-00.

use units::Time;

use super::clock::us;
use super::sender::Sender;

/// What the sender keeps between acknowledgements.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateMeter {
    /// When the oldest segment of the next sample left, and when a delivery was last seen, microseconds.
    pub(super) first_sent_us: u64,
    pub(super) delivered_us: u64,
    /// Until so much is delivered samples count as limited by the application; 0 for never.
    pub(super) app_limited: u32,
}

impl RateMeter {
    /// The application hands over data while `in_flight` segments are under way and none wait.
    pub(super) fn on_write(&mut self, delivered: u32, in_flight: u32) {
        self.app_limited = (delivered + in_flight).max(1);
    }
}

/// The sample of one acknowledgement, while it is read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateSample {
    /// When a delivery was last seen before the newest delivered segment left, microseconds; 0 for no sample.
    pub(super) prior_us: u64,
    pub(super) prior_delivered: u32,
    pub(super) prior_delivered_ce: u32,
    /// Segments delivered in the interval; `None` without a valid interval.
    pub(super) delivered: Option<u32>,
    pub(super) delivered_ce: u32,
    pub(super) interval_us: u64,
    /// Round-trip time of the newest segment delivered, microseconds.
    pub(super) rtt_us: Option<u32>,
    /// Segments newly lost, and newly delivered.
    pub(super) losses: u32,
    pub(super) acked: u32,
    pub(super) prior_in_flight: u32,
    pub(super) last_end: u32,
    pub(super) app_limited: bool,
    pub(super) ack_delayed: bool,
}

impl Sender {
    /// `seq` leaves: it takes along what had been delivered by then.
    #[inline]
    pub(super) fn note_departure(&mut self, seq: u32, at: Time) {
        if self.packets_out == 0 {
            (self.rate.first_sent_us, self.rate.delivered_us) = (us(at), us(at));
        }
        let (rate, delivered, delivered_ce) = (self.rate, self.delivered, self.delivered_ce);
        let segment = self.queue.at(seq);
        segment.first_sent_us = rate.first_sent_us;
        segment.delivered_us = rate.delivered_us;
        (segment.delivered, segment.delivered_ce) = (delivered, delivered_ce);
        segment.app_limited = rate.app_limited != 0;
    }

    /// `seq` is delivered, by a selective acknowledgement or not: the newest departure counts.
    #[inline]
    pub(super) fn note_delivery(&mut self, seq: u32, sample: &mut RateSample) {
        let first_sent_us = self.rate.first_sent_us;
        let segment = self.queue.at(seq);
        if segment.delivered_us == 0 {
            return;
        }
        let newer = segment.sent_us > first_sent_us || segment.sent_us == first_sent_us && seq + 1 > sample.last_end;
        if sample.prior_delivered == 0 || newer {
            sample.prior_delivered = segment.delivered;
            sample.prior_delivered_ce = segment.delivered_ce;
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
        sample.delivered_ce = self.delivered_ce - sample.prior_delivered_ce;
        sample.interval_us = sample.interval_us.max(us(now) - sample.prior_us);
        if sample.interval_us >= u64::from(self.estimator.least_us()) {
            sample.delivered = Some(self.delivered - sample.prior_delivered);
        }
    }
}
