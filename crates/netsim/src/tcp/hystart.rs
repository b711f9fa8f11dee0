//! HyStart and HyStart++: slow start ends when the queue begins to fill, not when it overflows.
//!
//! Principle: a round is a window of segments and their acknowledgements. The smallest RTT of the first ones of a
//! round tells how long the queue was when its first segments came. Two laws say what follows from it.
//! *Linux*: acknowledgements that follow each other closely are a train as long as the window that was sent; a train of
//! half the smallest RTT, or an RTT above the smallest ever by an eighth, ends slow start for good (Ha and Rhee 2011,
//! Taming the elephants: New TCP slow start, Computer Networks 55). *RFC 9406*: an RTT above that of the round before
//! by an eighth makes the window grow at a quarter of the speed for five rounds; slow start goes on if the RTT falls
//! again, and is over otherwise. It acts in the first slow start only. Cost per segment and acknowledgement: O(1).
//! The RTT of a round is that of its first 32 segments.

use units::Time;

use crate::tcp::settings::Hystart;

/// Linux: no end of slow start below this window, segments (low_ssthresh).
const LOW_WINDOW: f64 = 16.0;
/// Acknowledgements that are enough to know the RTT of a round (RFC 9406, 4.3: N_RTT_SAMPLE).
const SAMPLES: u32 = 8;
/// Bounds of the increase that matters, an eighth of an RTT (RFC 9406, 4.3: MIN_RTT_THRESH, MAX_RTT_THRESH).
const INCREASE: (Time, Time) = (Time::from_millis(4), Time::from_millis(16));
/// Acknowledgements of a train are no further apart.
const TRAIN_GAP: Time = Time::from_millis(2);
/// Segments at the start of a round whose departures are remembered: more than 8 acknowledgements of two.
const REMEMBERED: u32 = 32;
/// Rounds of conservative slow start (RFC 9406, 4.3: CSS_ROUNDS).
const CONSERVATIVE_ROUNDS: u32 = 5;
/// What a segment adds to the window in them (RFC 9406, 4.3: CSS_GROWTH_DIVISOR), segments.
pub(crate) const CONSERVATIVE: f32 = 0.25;
/// Segments of one acknowledgement that open the window in slow start, where segments are not paced (RFC 9406, 4.3: L).
pub(crate) const LIMIT: u32 = 8;

/// How the window grows from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// By a segment for each that arrived.
    Doubling,
    /// By a part of it.
    Conservative,
    /// Slow start is over.
    Over,
}

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

/// When an increase of the RTT matters.
#[derive(Clone, Copy, Debug)]
enum Law {
    Linux {
        /// RTT since the connection began.
        smallest: Time,
        /// First acknowledgement of this round, and the last one of the train that began with it.
        train: (Time, Time),
    },
    Rfc9406 {
        /// Smallest RTT of the round before (lastRoundMinRTT).
        before: Time,
        /// While growth is conservative: the RTT below which it was for nothing (cssBaselineMinRtt), and the round of it.
        baseline: Option<(Time, u32)>,
        /// The first slow start is over.
        spent: bool,
    },
}

/// What a sender in slow start remembers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HyStart {
    /// Segments being sent; the acknowledgement of the first one begins the next round.
    under_way: Round,
    /// Segments being acknowledged.
    answered: Round,
    /// Of this round.
    smallest_now: Time,
    samples: u32,
    law: Law,
}

impl HyStart {
    /// Before the first segment `first`; nothing for a sender without it.
    pub(crate) fn of(choice: Hystart, first: u32) -> Option<HyStart> {
        let law = match choice {
            Hystart::Off => return None,
            Hystart::Linux => Law::Linux { smallest: Time::NEVER, train: (Time::ZERO, Time::ZERO) },
            Hystart::Rfc9406 => Law::Rfc9406 { before: Time::NEVER, baseline: None, spent: false },
        };
        Some(HyStart::with(law, first))
    }

    fn with(law: Law, first: u32) -> HyStart {
        HyStart {
            under_way: Round::from(first),
            answered: Round::from(first),
            smallest_now: Time::NEVER,
            samples: 0,
            law,
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
        let law = match self.law {
            Law::Linux { smallest, .. } => Law::Linux { smallest, train: (Time::ZERO, Time::ZERO) },
            Law::Rfc9406 { before, .. } => Law::Rfc9406 { before, baseline: None, spent: true },
        };
        *self = HyStart::with(law, next);
    }

    /// An acknowledgement of all before `ack` in slow start with a window of `cwnd`, while `next` is the first segment
    /// not yet sent.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: u32, next: u32, cwnd: f64, now: Time) -> Growth {
        let new_round = ack > self.under_way.first;
        let last_round = self.smallest_now;
        if new_round {
            self.answered = self.under_way;
            self.under_way = Round::from(next);
            (self.smallest_now, self.samples) = (Time::NEVER, 0);
        }
        let rtt = self.answered.sent(ack - 1).map(|sent| now - sent);
        match &mut self.law {
            Law::Linux { smallest, train } => {
                if new_round {
                    *train = (now, now);
                }
                if let Some(rtt) = rtt {
                    *smallest = (*smallest).min(rtt);
                }
                if cwnd < LOW_WINDOW || *smallest == Time::NEVER {
                    return Growth::Doubling;
                }
                let (smallest, close) = (*smallest, now - train.1 <= TRAIN_GAP);
                if close {
                    train.1 = now;
                }
                let long_train = close && now - train.0 > Time(smallest.0 / 2);
                let delayed = rtt.is_some_and(|rtt| {
                    self.take(rtt);
                    self.samples > SAMPLES && self.smallest_now > raised(smallest)
                });
                if delayed || long_train { Growth::Over } else { Growth::Doubling }
            }
            Law::Rfc9406 { spent: true, .. } => Growth::Doubling,
            Law::Rfc9406 { before, baseline, spent } => {
                if new_round {
                    *before = last_round;
                    if let Some((_, round)) = baseline {
                        *round += 1;
                        if *round > CONSERVATIVE_ROUNDS {
                            (*baseline, *spent) = (None, true);
                            return Growth::Over;
                        }
                    }
                }
                let before = *before;
                if let Some(rtt) = rtt {
                    self.take(rtt);
                }
                self.judge(before)
            }
        }
    }

    /// Takes a sample of this round.
    #[inline]
    fn take(&mut self, rtt: Time) {
        self.smallest_now = self.smallest_now.min(rtt);
        self.samples += 1;
    }

    /// RFC 9406, 4.2: whether growth becomes conservative or is so for nothing, `before` being the RTT of the round before.
    fn judge(&mut self, before: Time) -> Growth {
        let (known, now) = (self.samples >= SAMPLES, self.smallest_now);
        let Law::Rfc9406 { baseline, .. } = &mut self.law else { return Growth::Doubling };
        match *baseline {
            None if known && before != Time::NEVER && now >= raised(before) => *baseline = Some((now, 1)),
            Some((base, _)) if known && now < base => *baseline = None,
            _ => {}
        }
        if baseline.is_some() { Growth::Conservative } else { Growth::Doubling }
    }
}

/// The RTT that is above `rtt` by an increase that matters.
fn raised(rtt: Time) -> Time {
    rtt + Time(rtt.0 / 8).clamp(INCREASE.0, INCREASE.1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Rounds of `windows` segments, acknowledged one by one `gap` ns apart; the RTT of each round's first one from
    /// `rtts_ms`. The round and the acknowledgement in it with which slow start ended.
    fn ended(windows: &[u32], rtts_ms: &[u64], gap: u64) -> Option<(usize, u32)> {
        changes(Hystart::Linux, windows, rtts_ms, gap).first().map(|&(round, ack, _)| (round, ack))
    }

    /// The same, but all that changes, up to the end of slow start: round, acknowledgement in it and growth from there on.
    fn changes(law: Hystart, windows: &[u32], rtts_ms: &[u64], gap: u64) -> Vec<(usize, u32, Growth)> {
        let mut hystart = HyStart::of(law, 1).unwrap();
        let (mut found, mut growth) = (Vec::new(), Growth::Doubling);
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
                let told = hystart.on_ack(first + n + 1, sent, cwnd, now);
                if told != growth {
                    found.push((round, n, told));
                    growth = told;
                }
                if growth == Growth::Over {
                    return found;
                }
                for _ in 0..2 {
                    hystart.on_send(sent, start);
                    sent += 1;
                }
            }
            now = start;
            first = next;
        }
        found
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
        let mut hystart = HyStart::of(Hystart::Linux, 1).unwrap();
        for seq in 1..=40 {
            hystart.on_send(seq, Time::ZERO);
        }
        assert_eq!(hystart.on_ack(2, 41, 20.0, Time(40 * MS)), Growth::Doubling);
        hystart.on_loss(41);
        for seq in 2..=41 {
            assert_eq!(hystart.on_ack(seq, 41, 20.0, Time(900 * MS)), Growth::Doubling, "{seq}");
        }
    }

    /// RFC 9406, 4.2: an RTT of 45 ms is that of the round before, 40 ms, and an eighth more. The eighth sample tells.
    #[test]
    fn hystart_plus_plus_slows_down_for_five_rounds_and_ends() {
        let told = changes(Hystart::Rfc9406, &[10, 20, 40, 50, 60, 70, 80], &[40, 40, 45, 46, 46, 46, 46, 46], 1);
        assert_eq!(told, [(2, 7, Growth::Conservative)]);
        let told = changes(Hystart::Rfc9406, &[10, 20, 40, 50, 60, 70, 80, 90], &[40, 40, 45, 46, 46, 46, 46, 46], 1);
        assert_eq!(told, [(2, 7, Growth::Conservative), (7, 0, Growth::Over)]);
        assert_eq!(changes(Hystart::Rfc9406, &[10, 20, 40], &[40, 40, 44], 1), []);
    }

    /// The RTT that was longer falls below what it was when growth slowed down: the queue was a burst of others.
    #[test]
    fn hystart_plus_plus_goes_on_when_the_round_trip_time_falls_again() {
        let told = changes(Hystart::Rfc9406, &[10, 20, 40, 50], &[40, 40, 45, 44], 1);
        assert_eq!(told, [(2, 7, Growth::Conservative), (3, 7, Growth::Doubling)]);
    }

    /// Each round is measured against the one before, and not against the smallest ever as in Linux.
    #[test]
    fn hystart_plus_plus_does_not_see_an_rtt_that_grows_slowly() {
        let rtts = [40, 43, 46, 49, 52];
        assert_eq!(changes(Hystart::Rfc9406, &[10, 20, 40, 80, 160], &rtts, 1), []);
        assert!(ended(&[10, 20, 40, 80, 160], &rtts, 1).is_some());
    }

    #[test]
    fn hystart_plus_plus_acts_before_the_first_loss_only() {
        let mut hystart = HyStart::of(Hystart::Rfc9406, 1).unwrap();
        hystart.on_loss(1);
        for seq in 1..=60 {
            hystart.on_send(seq, Time::ZERO);
            assert_eq!(hystart.on_ack(seq + 1, seq + 1, 60.0, Time(u64::from(seq) * 20 * MS)), Growth::Doubling);
        }
    }
}
