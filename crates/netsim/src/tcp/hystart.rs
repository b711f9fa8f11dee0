//! HyStart: slow start ends when the queue begins to fill, not when it overflows.
//!
//! Principle: a round is a window of segments and their acknowledgements. The smallest RTT of the first ones of a
//! round tells how long the queue was when its first segments came; acknowledgements that follow each other
//! closely are a train as long as the window that was sent. Cost per segment and acknowledgement: O(1). Sources:
//! Ha and Rhee 2011 (Taming the elephants: New TCP slow start, Computer Networks 55): trains and delay; number of
//! samples and bounds of the increase: RFC 9406, 4.3. Slow start ends for good, as in Linux; the conservative
//! slow start of RFC 9406 is not there.

use units::Time;

/// No end of slow start below this window, segments (low_ssthresh).
const LOW_WINDOW: f64 = 16.0;
/// Acknowledgements that are enough to know the RTT of a round (N_RTT_SAMPLE).
const SAMPLES: u32 = 8;
/// Bounds of the increase that ends slow start, an eighth of the smallest RTT (MIN_RTT_THRESH, MAX_RTT_THRESH).
const INCREASE: (Time, Time) = (Time::from_millis(4), Time::from_millis(16));
/// Acknowledgements of a train are no further apart.
const TRAIN_GAP: Time = Time::from_millis(2);
/// Segments at the start of a round whose departures are remembered: more than 8 acknowledgements of two.
const REMEMBERED: u32 = 32;

/// Departures of the first segments of a round.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// First segment sent in it.
    first: u32,
    sent: [Time; REMEMBERED as usize],
}

impl Round {
    fn from(first: u32) -> Round {
        Round { first, sent: [Time::NEVER; REMEMBERED as usize] }
    }

    /// When `seq` was sent, if that is remembered.
    #[inline]
    fn sent(&self, seq: u32) -> Option<Time> {
        let place = seq.wrapping_sub(self.first);
        (place < REMEMBERED).then(|| self.sent[place as usize]).filter(|&sent| sent != Time::NEVER)
    }
}

/// What a sender in slow start remembers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HyStart {
    /// Segments being sent; the acknowledgement of the first one begins the next round.
    under_way: Round,
    /// Segments being acknowledged.
    answered: Round,
    /// Since the connection began.
    smallest: Time,
    /// Of this round.
    smallest_now: Time,
    samples: u32,
    /// First acknowledgement of this round, and the last one of the train that began with it.
    train: (Time, Time),
}

impl HyStart {
    /// Before the first segment `first`.
    pub(crate) fn from(first: u32) -> HyStart {
        HyStart {
            under_way: Round::from(first),
            answered: Round::from(first),
            smallest: Time::NEVER,
            smallest_now: Time::NEVER,
            samples: 0,
            train: (Time::ZERO, Time::ZERO),
        }
    }

    /// Segment `seq` is sent for the first time.
    #[inline]
    pub(crate) fn on_send(&mut self, seq: u32, now: Time) {
        let place = seq.wrapping_sub(self.under_way.first);
        if place < REMEMBERED {
            self.under_way.sent[place as usize] = now;
        }
    }

    /// After a loss: what is sent again tells no RTT (Karn); the next round begins with segment `next`, the first
    /// never sent.
    pub(crate) fn on_loss(&mut self, next: u32) {
        *self = HyStart { smallest: self.smallest, ..HyStart::from(next) };
    }

    /// An acknowledgement of all before `ack` in slow start with a window of `cwnd`, while `next` is the first segment
    /// not yet sent: whether slow start is over.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: u32, next: u32, cwnd: f64, now: Time) -> bool {
        if ack > self.under_way.first {
            self.answered = self.under_way;
            self.under_way = Round::from(next);
            (self.smallest_now, self.samples) = (Time::NEVER, 0);
            self.train = (now, now);
        }
        let rtt = self.answered.sent(ack - 1).map(|sent| now - sent);
        if let Some(rtt) = rtt {
            self.smallest = self.smallest.min(rtt);
        }
        if cwnd < LOW_WINDOW || self.smallest == Time::NEVER {
            return false;
        }
        let long_train = self.in_train(now) && now - self.train.0 > Time(self.smallest.0 / 2);
        rtt.is_some_and(|rtt| self.is_delayed(rtt)) || long_train
    }

    fn in_train(&mut self, now: Time) -> bool {
        let close = now - self.train.1 <= TRAIN_GAP;
        if close {
            self.train.1 = now;
        }
        close
    }

    /// Takes a sample of this round: whether its smallest RTT is above the smallest ever by more than an eighth.
    fn is_delayed(&mut self, rtt: Time) -> bool {
        self.smallest_now = self.smallest_now.min(rtt);
        self.samples += 1;
        let increase = Time(self.smallest.0 / 8).clamp(INCREASE.0, INCREASE.1);
        self.samples > SAMPLES && self.smallest_now > self.smallest + increase
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Rounds of `windows` segments, acknowledged one by one `gap` ns apart; the RTT of each round's first one from
    /// `rtts_ms`. The round and the acknowledgement in it with which slow start ended.
    fn ended(windows: &[u32], rtts_ms: &[u64], gap: u64) -> Option<(usize, u32)> {
        let mut hystart = HyStart::from(1);
        let (mut first, mut now) = (1, Time::ZERO);
        for seq in 1..=windows[0] {
            hystart.on_send(seq, now);
        }
        for (round, (&window, &rtt)) in windows.iter().zip(rtts_ms).enumerate() {
            let next = first + window;
            let (mut sent, start) = (next, now + Time(rtt * MS));
            for n in 0..window {
                now = start + Time(u64::from(n) * gap);
                let cwnd = f64::from(window + n);
                if hystart.on_ack(first + n + 1, sent, cwnd, now) {
                    return Some((round, n));
                }
                for _ in 0..2 {
                    hystart.on_send(sent, start);
                    sent += 1;
                }
            }
            now = start;
            first = next;
        }
        None
    }

    #[test]
    fn slow_start_goes_on_while_the_round_trip_time_stays() {
        assert_eq!(ended(&[10, 20, 40, 80], &[40, 40, 43, 43], 100_000), None);
    }

    /// An eighth of 40 ms is 5 ms: 45 ms is not above it, 46 is, and the ninth acknowledgement tells.
    #[test]
    fn an_rtt_longer_by_an_eighth_ends_slow_start_with_the_ninth_acknowledgement() {
        assert_eq!(ended(&[10, 20, 40, 80], &[40, 40, 45, 45], 1), None);
        assert_eq!(ended(&[10, 20, 40, 80], &[40, 40, 46, 46], 1), Some((2, 8)));
    }

    /// An eighth of 8 ms is 1 ms, but 4 ms are needed; an eighth of 400 ms is 50 ms, but 16 are enough.
    #[test]
    fn the_increase_is_at_least_4_and_at_most_16_ms() {
        assert_eq!(ended(&[20, 40], &[8, 12], 1), None);
        assert_eq!(ended(&[20, 40], &[8, 13], 1), Some((1, 8)));
        assert_eq!(ended(&[20, 40], &[400, 416], 1), None);
        assert_eq!(ended(&[20, 40], &[400, 417], 1), Some((1, 8)));
    }

    /// A window of 10 becomes 16 with the sixth acknowledgement; no sooner is a sample taken.
    #[test]
    fn a_window_below_16_does_not_end_slow_start() {
        assert_eq!(ended(&[10], &[40], 4 * MS), None);
        assert_eq!(ended(&[4, 8], &[40, 400], 1), None);
        assert_eq!(ended(&[8, 16], &[40, 400], 1), Some((1, 8)));
    }

    /// Half of 40 ms have passed since the first acknowledgement with the one after 20 gaps of 1 ms; gaps of more than
    /// 2 ms are no train.
    #[test]
    fn a_train_of_acknowledgements_as_long_as_half_the_rtt_ends_slow_start() {
        assert_eq!(ended(&[20, 40], &[40, 40], MS), Some((1, 21)));
        assert_eq!(ended(&[20, 40], &[40, 40], MS / 4), None);
        assert_eq!(ended(&[20, 40], &[40, 40], 2 * MS + 1), None);
    }

    #[test]
    fn what_is_sent_again_gives_no_sample() {
        let mut hystart = HyStart::from(1);
        for seq in 1..=40 {
            hystart.on_send(seq, Time::ZERO);
        }
        assert!(!hystart.on_ack(2, 41, 20.0, Time(40 * MS)));
        hystart.on_loss(41);
        for seq in 2..=41 {
            assert!(!hystart.on_ack(seq, 41, 20.0, Time(900 * MS)), "{seq}");
        }
    }
}
