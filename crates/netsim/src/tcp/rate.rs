//! Delivery rate: how fast the network has carried what was acknowledged.
//!
//! Principle: each segment remembers how much had been delivered when it left. Its acknowledgement tells how much has
//! been since, and in what time: the longer of the time it took to send and the time it took to acknowledge, so that
//! neither a burst nor bunched acknowledgements look like speed. Cost per segment: O(1); memory 40 bytes per segment of
//! the receiver window, only for rules that ask for it. Source: Cheng, Cardwell, Yeganeh, Jacobson,
//! draft-cheng-iccrg-delivery-rate-estimation-02, section 3.

use units::Time;

use crate::tcp::sender::Sender;

/// What a segment remembers from when it was sent last.
#[derive(Clone, Copy, Debug, Default)]
struct Departure {
    /// `P.delivered`, segments.
    delivered: u64,
    /// `P.delivered_time`.
    delivered_at: Time,
    /// `P.first_sent_time`.
    first_sent: Time,
    /// `P.sent_time`.
    sent: Time,
    /// `P.is_app_limited`.
    app_limited: bool,
}

/// Rate of delivery over the flight of one segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RateSample {
    /// Segments delivered in `interval`.
    pub(crate) delivered: u64,
    /// Time they took.
    pub(crate) interval: Time,
    /// Segments delivered when the segment left, and now: rounds are counted by them.
    pub(crate) prior_delivered: u64,
    pub(crate) total_delivered: u64,
    /// Segments that this acknowledgement delivered.
    pub(crate) acked: u32,
    /// Time since the segment was sent.
    pub(crate) rtt: Time,
    /// The sender had too little to send to find out what the network can carry.
    pub(crate) app_limited: bool,
}

/// Delivery rate of one connection.
#[derive(Debug)]
pub(crate) struct Rates {
    departures: Vec<Departure>,
    /// `C.delivered`, segments.
    delivered: u64,
    /// `C.delivered_time`.
    delivered_at: Time,
    /// `C.first_sent_time`.
    first_sent: Time,
    /// `C.app_limited`: what is delivered up to here is; 0 for not limited.
    app_limited_to: u64,
    /// Of the segments this acknowledgement delivered, the one sent last, and their number.
    latest: Option<Departure>,
    acked: u32,
}

impl Rates {
    /// For a receiver window of `window` segments.
    pub(crate) fn of(window: u32) -> Rates {
        Rates::over(vec![Departure::default(); (window as usize + 2).next_power_of_two()])
    }

    /// For connections whose window rule does not ask.
    pub(crate) fn none() -> Rates {
        Rates::over(Vec::new())
    }

    fn over(departures: Vec<Departure>) -> Rates {
        Rates {
            departures,
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            app_limited_to: 0,
            latest: None,
            acked: 0,
        }
    }

    /// Forgets everything but its memory.
    pub(crate) fn clear(&mut self) {
        *self = Rates::over(std::mem::take(&mut self.departures));
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !self.departures.is_empty()
    }

    /// Segment `seq` leaves; `idle` when nothing else is under way (3.2).
    #[inline]
    pub(crate) fn on_send(&mut self, seq: u32, idle: bool, now: Time) {
        if idle {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let place = seq as usize & (self.departures.len() - 1);
        self.departures[place] = Departure {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            sent: now,
            app_limited: self.app_limited_to > 0,
        };
    }

    /// Segment `seq` is acknowledged, or SACKed, for the first time (3.3, `UpdateRateSample`).
    #[inline]
    pub(crate) fn on_delivery(&mut self, seq: u32, now: Time) {
        let departure = self.departures[seq as usize & (self.departures.len() - 1)];
        self.delivered += 1;
        self.acked += 1;
        self.delivered_at = now;
        if self.latest.is_none_or(|latest| departure.delivered >= latest.delivered) {
            self.latest = Some(departure);
            self.first_sent = departure.sent;
        }
    }

    /// The sample of an acknowledgement whose deliveries have been told (3.3, `GenerateRateSample`); none if it
    /// delivered nothing, or in no time.
    pub(crate) fn sample(&mut self, now: Time) -> Option<RateSample> {
        if self.app_limited_to > 0 && self.delivered > self.app_limited_to {
            self.app_limited_to = 0;
        }
        let acked = std::mem::take(&mut self.acked);
        let latest = self.latest.take()?;
        let interval = (latest.sent - latest.first_sent).max(self.delivered_at - latest.delivered_at);
        (interval > Time::ZERO).then(|| RateSample {
            delivered: self.delivered - latest.delivered,
            interval,
            prior_delivered: latest.delivered,
            total_delivered: self.delivered,
            acked,
            rtt: now - latest.sent,
            app_limited: latest.app_limited,
        })
    }

    /// The sender has nothing to send, though `in_flight` segments leave room for it (3.4).
    pub(crate) fn on_nothing_to_send(&mut self, in_flight: u32) {
        self.app_limited_to = (self.delivered + u64::from(in_flight)).max(1);
    }
}

impl Sender {
    /// Counts what an acknowledgement up to `ack` delivers, before it is taken in and but for what it SACKs.
    pub(in crate::tcp) fn count_deliveries(&mut self, ack: u32, now: Time) {
        for seq in self.una..ack.min(self.max) {
            if !self.board.is_sacked(seq) {
                self.rates.on_delivery(seq, now);
            }
        }
    }

    /// Tells the window rule what the acknowledgement, counted in full, says of the path.
    #[inline]
    pub(in crate::tcp) fn on_counted(&mut self, now: Time) {
        if self.rates.is_on()
            && let Some(sample) = self.rates.sample(now)
        {
            self.control.path = Some(sample);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_burst_is_measured_at_the_rate_of_its_acknowledgements() {
        let mut rates = Rates::of(16);
        for seq in 0..4 {
            rates.on_send(seq, seq == 0, Time(100 * MS));
        }
        // Acknowledged 10 ms apart: the last one sees four in 130 ms, 30 ms after the first.
        for seq in 0..4 {
            let now = Time(100 * MS + 100 * MS + u64::from(seq) * 10 * MS);
            rates.on_delivery(seq, now);
            let sample = rates.sample(now).expect("delivered");
            let interval = Time((100 + u64::from(seq) * 10) * MS);
            assert_eq!((sample.delivered, sample.interval, sample.rtt), (u64::from(seq) + 1, interval, interval));
        }
        // One round on: sent as the acknowledgements came, measured against what had been delivered then.
        for seq in 4..8 {
            rates.on_send(seq, false, Time((200 + u64::from(seq - 4) * 10) * MS));
        }
        rates.on_delivery(4, Time(300 * MS));
        assert_eq!(rates.sample(Time(300 * MS)).map(|sample| sample.prior_delivered), Some(4));
    }

    #[test]
    fn bunched_acknowledgements_do_not_look_like_speed() {
        let mut rates = Rates::of(16);
        for seq in 0..5 {
            rates.on_send(seq, seq == 0, Time(u64::from(seq) * 10 * MS));
        }
        for seq in 0..5 {
            rates.on_delivery(seq, Time(140 * MS));
        }
        let sample = rates.sample(Time(140 * MS)).expect("delivered");
        assert_eq!((sample.delivered, sample.interval, sample.rtt), (5, Time(140 * MS), Time(100 * MS)));
        assert_eq!(rates.sample(Time(140 * MS)), None);
    }

    #[test]
    fn what_a_sender_without_data_sent_is_marked_until_it_is_through() {
        let mut rates = Rates::of(16);
        rates.on_send(0, true, Time(0));
        rates.on_nothing_to_send(1);
        rates.on_send(1, false, Time(MS));
        for (seq, limited) in [(0, false), (1, true)] {
            let now = Time(10 * MS + u64::from(seq) * MS);
            rates.on_delivery(seq, now);
            assert_eq!(rates.sample(now).map(|sample| sample.app_limited), Some(limited), "{seq}");
        }
        rates.on_send(2, true, Time(20 * MS));
        rates.on_delivery(2, Time(30 * MS));
        assert_eq!(rates.sample(Time(30 * MS)).map(|sample| sample.app_limited), Some(false));
    }
}
