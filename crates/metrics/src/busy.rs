//! The seconds of a run in which its link was busy: a ping and a call under load are those sent in these.

use netsim::Output;

use crate::playout::Heard;

/// Share of a second from which on the link is busy in it, in either direction.
pub(crate) const BUSY: f64 = 0.8;

/// The busy seconds of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Busy {
    /// Whether the link was busy, by second.
    seconds: Vec<bool>,
    /// Busy seconds before each.
    before: Vec<u32>,
}

impl Busy {
    pub(crate) fn of(output: &Output) -> Busy {
        let mut found = Busy::default();
        let mut count = 0;
        for second in &output.seconds {
            let busy = second.forward.max(second.reverse) >= BUSY;
            found.seconds.push(busy);
            found.before.push(count);
            count += u32::from(busy);
        }
        found
    }

    /// Whether anything is known of the link.
    pub(crate) fn is_known(&self) -> bool {
        !self.seconds.is_empty()
    }

    /// Whether the link was busy in the second of an instant, seconds.
    pub(crate) fn at(&self, sent_s: f64) -> bool {
        self.seconds.get(sent_s as usize).copied().unwrap_or(false)
    }

    /// The packets that were sent while the link was busy, at the times that they have when busy seconds follow each other
    /// without a pause.
    pub(crate) fn joined(&self, packets: &[Heard]) -> Vec<Heard> {
        let busy = packets.iter().filter(|packet| self.at(packet.sent_s));
        busy.map(|packet| {
            let second = packet.sent_s as usize;
            let shift_s = second as f64 - f64::from(self.before[second]);
            Heard {
                sent_s: packet.sent_s - shift_s,
                received_s: packet.received_s.map(|received_s| received_s - shift_s),
            }
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use netsim::LinkSecond;

    use super::*;

    #[test]
    fn busy_seconds_follow_each_other() {
        let second = |second, forward, reverse| LinkSecond { second, forward, reverse };
        let seconds = vec![second(0, 0.1, 0.2), second(1, 0.8, 0.0), second(2, 0.79, 0.79), second(3, 0.0, 1.0)];
        let busy = Busy::of(&Output { seconds, ..Output::default() });
        assert!(busy.is_known() && !Busy::default().is_known());
        assert_eq!([0.9, 1.0, 1.9, 2.5, 3.0, 4.0].map(|at| busy.at(at)), [false, true, true, false, true, false]);
        let packet = |sent_s, received_s| Heard { sent_s, received_s };
        let packets = [packet(0.5, Some(0.6)), packet(1.5, Some(1.75)), packet(2.5, None), packet(3.25, None)];
        assert_eq!(busy.joined(&packets), [packet(0.5, Some(0.75)), packet(1.25, None)]);
    }
}
