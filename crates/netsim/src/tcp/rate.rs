//! Delivery rate: how fast the path delivers what was sent, measured with every acknowledgement.
//!
//! Principle: a segment carries away how much had been delivered when it left, and when; the difference at its own
//! delivery, over the longer of the time it took to send that much and to acknowledge it, is a rate that neither a burst
//! of data nor one of acknowledgements can raise above that of the bottleneck. It also carries away what was lost and marked
//! until then and what was in flight, which says how much of its flight the path did not take. Memory: 64 bytes per segment
//! of the largest flight. Cost: O(1) per segment sent and per segment delivered. Source:
//! draft-cheng-iccrg-delivery-rate-estimation-00, section 3; draft-ietf-ccwg-bbr, 4.1.

use units::Time;

/// State of the connection when a segment left (3.1.2).
#[derive(Clone, Copy, Debug)]
struct Departure {
    sent: Time,
    /// When the oldest segment of the sample this one may close was sent.
    first_sent: Time,
    delivered: u64,
    delivered_at: Time,
    /// Segments found to be lost, and told to be marked, when it left.
    lost: u64,
    marked: u64,
    /// Segments in flight with it.
    in_flight: u32,
    app_limited: bool,
    repeated: bool,
    /// It is known to have arrived: one that is sent again nevertheless does not count twice.
    arrived: bool,
}

const NEVER_SENT: Departure = Departure {
    sent: Time::ZERO,
    first_sent: Time::ZERO,
    delivered: 0,
    delivered_at: Time::ZERO,
    lost: 0,
    marked: 0,
    in_flight: 0,
    app_limited: false,
    repeated: false,
    arrived: false,
};

/// What one acknowledgement says of the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// Segments delivered since the connection began, by this acknowledgement and before.
    pub(crate) delivered: u64,
    /// Segments that had been delivered when the newest of those now delivered was sent.
    pub(crate) prior_delivered: u64,
    /// Delivery rate, segments per second; `None` when the interval was shorter than any round trip.
    pub(crate) rate: Option<f64>,
    /// The sender had nothing to send when it sent that one.
    pub(crate) app_limited: bool,
    /// Round-trip time of a segment that was sent once.
    pub(crate) rtt: Option<Time>,
    /// Segments delivered by this acknowledgement.
    pub(crate) acked: u32,
    /// Segments found to be lost by it.
    pub(crate) lost: u32,
    /// Marked segments that it tells of.
    pub(crate) marked: u32,
    /// Of the newest segment now delivered: what was in flight with it when it left, and the segments found to be lost and
    /// told to be marked since.
    pub(crate) sent_in_flight: u32,
    pub(crate) lost_since: u64,
    pub(crate) marked_since: u64,
    /// The window has held the sender back in the last round trip.
    pub(crate) window_limited: bool,
    /// Segments in flight before.
    pub(crate) prior_in_flight: u32,
    /// Segments in flight after.
    pub(crate) in_flight: u32,
    /// Segments that the sender lets leave together.
    pub(crate) quantum: u32,
}

/// A segment that is found to be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    /// Segments in flight with it when it left.
    pub(crate) sent_in_flight: u32,
    /// Segments found to be lost since it left, with it.
    pub(crate) lost_since: u64,
    /// The sender had nothing to send when it left.
    pub(crate) app_limited: bool,
    /// Segments delivered since the connection began.
    pub(crate) delivered: u64,
}

/// Departures of the segments in flight, and the sample under way.
#[derive(Debug)]
pub(crate) struct Rate {
    /// Ring by sequence number, grown to the largest flight.
    departures: Vec<Departure>,
    delivered: u64,
    lost: u64,
    marked: u64,
    delivered_at: Time,
    first_sent: Time,
    /// Until so much is delivered the sender counts as limited by its application.
    app_limited_until: u64,
    /// Of the acknowledgement being read: the newest segment it delivers, and how many.
    newest: Option<Departure>,
    rtt: Option<Time>,
    acked: u32,
    shortest: Time,
}

impl Rate {
    pub(crate) fn unknown() -> Rate {
        Rate {
            departures: vec![NEVER_SENT; 64],
            delivered: 0,
            lost: 0,
            marked: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            app_limited_until: 0,
            newest: None,
            rtt: None,
            acked: 0,
            shortest: Time::NEVER,
        }
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Segment `seq` leaves while `una` is the first not acknowledged and `in_flight` are in the network (3.2).
    #[inline]
    pub(crate) fn on_send(&mut self, seq: u32, una: u32, in_flight: u32, repeated: bool, now: Time) {
        if in_flight == 0 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        while (seq - una) as usize >= self.departures.len() {
            self.grow(una);
        }
        let departure = Departure {
            sent: now,
            first_sent: self.first_sent,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            lost: self.lost,
            marked: self.marked,
            // One that is sent again stands among those in flight already, but for the first of a recovery.
            in_flight: in_flight.max(1) + u32::from(!repeated && in_flight > 0),
            app_limited: self.is_app_limited(),
            repeated,
            arrived: repeated && self.departure(seq).arrived,
        };
        *self.departure(seq) = departure;
    }

    /// Whether `seq`, sent and not yet acknowledged, is known to have arrived.
    pub(crate) fn has_arrived(&self, seq: u32) -> bool {
        self.departures[seq as usize & (self.departures.len() - 1)].arrived
    }

    /// Segment `seq` is found to be lost.
    pub(crate) fn lose(&mut self, seq: u32) -> Loss {
        self.lost += 1;
        let Departure { lost, in_flight, app_limited, .. } = *self.departure(seq);
        Loss { sent_in_flight: in_flight, lost_since: self.lost - lost, app_limited, delivered: self.delivered }
    }

    /// Segments delivered by the acknowledgement being read.
    pub(crate) fn acked(&self) -> u32 {
        self.acked
    }

    fn departure(&mut self, seq: u32) -> &mut Departure {
        let mask = self.departures.len() - 1;
        &mut self.departures[seq as usize & mask]
    }

    /// Twice the ring, for segments from `una` on.
    fn grow(&mut self, una: u32) {
        let old = std::mem::take(&mut self.departures);
        self.departures = vec![NEVER_SENT; 2 * old.len()];
        for seq in una..una + old.len() as u32 {
            *self.departure(seq) = old[seq as usize & (old.len() - 1)];
        }
    }

    /// Whether what is sent now gives samples that are limited by the application.
    pub(crate) fn is_app_limited(&self) -> bool {
        self.delivered < self.app_limited_until
    }

    /// The application has nothing more to send while `in_flight` are in the network (3.4).
    pub(crate) fn on_idle(&mut self, in_flight: u32) {
        self.app_limited_until = self.delivered + u64::from(in_flight.max(1));
    }

    /// The acknowledgement being read says that `seq` has arrived (3.3).
    #[inline]
    pub(crate) fn deliver(&mut self, seq: u32, now: Time) {
        let departure = *self.departure(seq);
        if std::mem::replace(&mut self.departure(seq).arrived, true) {
            return;
        }
        self.delivered += 1;
        self.delivered_at = now;
        self.acked += 1;
        if !departure.repeated {
            self.rtt = Some(now - departure.sent);
        }
        if self.newest.is_none_or(|newest| departure.delivered >= newest.delivered) {
            self.newest = Some(departure);
            self.first_sent = departure.sent;
        }
    }

    /// The acknowledgement is read: its sample, with `lost` segments newly lost and `marked` ones told; `None` when it
    /// delivered nothing.
    pub(crate) fn sample(
        &mut self,
        (lost, marked): (u32, u32),
        (prior_in_flight, in_flight): (u32, u32),
        window_limited: bool,
    ) -> Option<Sample> {
        self.marked += u64::from(marked);
        let newest = self.newest.take()?;
        let rtt = self.rtt.take();
        self.shortest = self.shortest.min(rtt.unwrap_or(Time::NEVER));
        let sending = newest.sent.saturating_sub(newest.first_sent);
        let interval = sending.max(self.delivered_at.saturating_sub(newest.delivered_at));
        let known = interval > Time::ZERO && (self.shortest == Time::NEVER || interval >= self.shortest);
        let rate = known.then(|| (self.delivered - newest.delivered) as f64 / interval.as_secs_f64());
        Some(Sample {
            delivered: self.delivered,
            prior_delivered: newest.delivered,
            rate,
            app_limited: newest.app_limited,
            rtt,
            acked: std::mem::take(&mut self.acked),
            lost,
            marked,
            sent_in_flight: newest.in_flight,
            lost_since: self.lost - newest.lost,
            marked_since: self.marked - newest.marked,
            window_limited,
            prior_in_flight,
            in_flight,
            quantum: 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// Ten segments sent at once and delivered 1 ms apart after 100 ms: the rate is that of the deliveries, though the
    /// acknowledgements of the last five come together.
    #[test]
    fn the_longer_of_sending_and_delivering_counts() {
        let mut rate = Rate::unknown();
        for seq in 0..10 {
            rate.on_send(seq, 0, seq, false, Time::ZERO);
        }
        let mut rates = Vec::new();
        for seq in 0..5 {
            rate.deliver(seq, ms(100 + u64::from(seq)));
            rate.on_send(10 + seq, seq + 1, 9, false, ms(100 + u64::from(seq)));
            rates.push(rate.sample((0, 0), (10, 9), false).expect("delivers").rate.expect("long enough"));
        }
        // 1 in 100 ms, 2 in 101 ms, ...
        for (index, rate) in rates.iter().enumerate() {
            let expected = (index + 1) as f64 / (0.1 + 0.001 * index as f64);
            assert!((rate - expected).abs() < 1e-9, "{index}: {rate} not {expected}");
        }
        for seq in 5..10 {
            rate.deliver(seq, ms(109));
        }
        let sample = rate.sample((0, 0), (10, 5), false).expect("delivers");
        assert_eq!((sample.acked, sample.delivered, sample.rtt), (5, 10, Some(ms(109))));
        assert!((sample.rate.expect("long enough") - 10.0 / 0.109).abs() < 1e-9);
        // Segment 10 left when one was delivered, at 100 ms, and closes a sample of ten deliveries in 100 ms.
        rate.deliver(10, ms(200));
        let sample = rate.sample((0, 0), (5, 4), false).expect("delivers");
        assert_eq!((sample.prior_delivered, sample.delivered), (1, 11));
        assert!((sample.rate.expect("long enough") - 100.0).abs() < 1e-9);
    }

    #[test]
    fn a_repeated_segment_has_no_round_trip_time_and_the_ring_grows() {
        let mut rate = Rate::unknown();
        for seq in 0..1000 {
            rate.on_send(seq, 0, seq, false, Time(u64::from(seq)));
        }
        rate.on_send(3, 0, 999, true, ms(50));
        rate.deliver(3, ms(100));
        rate.deliver(3, ms(100));
        assert_eq!(rate.sample((0, 0), (1000, 999), false).expect("delivers").rtt, None);
        rate.deliver(999, ms(101));
        assert_eq!(rate.sample((0, 0), (1000, 999), false).expect("delivers").rtt, Some(Time(101_000_000 - 999)));
        assert_eq!(rate.sample((0, 0), (1000, 999), false), None);
    }

    #[test]
    fn samples_of_an_idle_sender_say_so_until_its_flight_is_delivered() {
        let mut rate = Rate::unknown();
        rate.on_send(0, 0, 0, false, ms(0));
        rate.on_idle(1);
        rate.on_send(1, 0, 1, false, ms(1));
        rate.deliver(0, ms(100));
        assert!(!rate.sample((0, 0), (2, 1), false).expect("delivers").app_limited);
        rate.on_send(2, 1, 1, false, ms(100));
        rate.deliver(1, ms(101));
        assert!(rate.sample((0, 0), (2, 1), false).expect("delivers").app_limited);
        rate.deliver(2, ms(200));
        assert!(!rate.sample((0, 0), (1, 0), false).expect("delivers").app_limited);
    }
}
