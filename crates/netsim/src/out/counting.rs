//! What is counted at the forward queue from the end of the warm-up on, in total and by class of flow.
//!
//! One addition per packet and event where flows have classes, nothing where they have none.

use qdisc::{Ecn, Packet};
use units::Time;

use crate::error::ConfigError;
use crate::out::queue_delay::QueueDelay;
use crate::out::records::{ClassCount, Counters};

/// From when the forward queue is counted, and which flows are counted together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counting {
    /// Counters begin here; zero counts everything.
    pub warm_up: Time,
    /// Class of each flow, by index in the list, from 0 without gaps; empty for no classes.
    pub classes: Vec<u16>,
    /// Which flows do not respond to drops, by index in the list: samples count their packets apart. Empty for none.
    pub nonresponsive: Vec<bool>,
}

impl Counting {
    /// # Errors
    /// A warm-up that lasts to the end, or classes of another list.
    pub(crate) fn check(&self, duration: Time, flows: usize) -> Result<(), ConfigError> {
        if self.warm_up >= duration {
            let value = format!("{} ns", self.warm_up.0);
            return Err(ConfigError::Value("warm_up", value, "below the duration of the run"));
        }
        if !self.classes.is_empty() && self.classes.len() != flows {
            return Err(ConfigError::Value("classes", self.classes.len().to_string(), "one per flow"));
        }
        if !self.nonresponsive.is_empty() && self.nonresponsive.len() != flows {
            return Err(ConfigError::Value("nonresponsive", self.nonresponsive.len().to_string(), "one per flow"));
        }
        Ok(())
    }
}

/// Counts by class since the end of the warm-up.
#[derive(Debug)]
pub(crate) struct Tally<'a> {
    classes: &'a [u16],
    nonresponsive: &'a [bool],
    pub(crate) counts: Vec<ClassCount>,
    /// Packets of flows that do not respond since the run began: offered and dropped.
    pub(crate) nonresponsive_arrivals: u64,
    pub(crate) nonresponsive_drops: u64,
    /// At the last sample: packets offered and dropped, of all flows and of those that do not respond.
    sampled: [u64; 4],
    /// Waiting times of all packets sent after a warm-up; without one those of the flows add up to them.
    queue_delay: Option<QueueDelay>,
    /// What the counters held at the end of the warm-up, and when that was.
    pub(crate) before: Counters,
}

impl<'a> Tally<'a> {
    pub(crate) fn of(counting: &'a Counting) -> Tally<'a> {
        let classes = counting.classes.iter().max().map_or(0, |&last| usize::from(last) + 1);
        let counts = vec![ClassCount::default(); classes];
        Tally {
            classes: &counting.classes,
            nonresponsive: &counting.nonresponsive,
            counts,
            nonresponsive_arrivals: 0,
            nonresponsive_drops: 0,
            sampled: [0; 4],
            queue_delay: None,
            before: Counters::default(),
        }
    }

    /// What has come since the last sample, when `offered` packets and `dropped` ones have since the run began: offered
    /// and dropped packets, then those of flows that do not respond.
    pub(crate) fn since_sample(&mut self, offered: u64, dropped: u64) -> [u64; 4] {
        let now = [offered, dropped, self.nonresponsive_arrivals, self.nonresponsive_drops];
        let before = std::mem::replace(&mut self.sampled, now);
        std::array::from_fn(|at| now[at] - before[at])
    }

    /// 1 for a packet of a flow that does not respond.
    #[inline]
    fn nonresponsive(&self, packet: &Packet) -> u64 {
        u64::from(self.nonresponsive.get(packet.flow.connection() as usize) == Some(&true))
    }

    #[inline]
    fn class(&mut self, packet: &Packet) -> Option<&mut ClassCount> {
        let class = *self.classes.get(packet.flow.connection() as usize)?;
        self.counts.get_mut(usize::from(class))
    }

    #[inline]
    pub(crate) fn on_arrival(&mut self, packet: &Packet) {
        self.nonresponsive_arrivals += self.nonresponsive(packet);
        if let Some(count) = self.class(packet) {
            count.arrivals += 1;
        }
    }

    #[inline]
    pub(crate) fn on_departure(&mut self, packet: &Packet, wait: Time) {
        if let Some(delay) = &mut self.queue_delay {
            delay.add(wait);
        }
        if let Some(count) = self.class(packet) {
            count.marks += u64::from(packet.ecn == Ecn::Ce);
            count.sent += 1;
            count.sent_bytes += u64::from(packet.len);
            count.queue_delay.add(wait);
        }
    }

    pub(crate) fn on_drop(&mut self, packet: &Packet) {
        self.nonresponsive_drops += self.nonresponsive(packet);
        if let Some(count) = self.class(packet) {
            count.drops += 1;
        }
    }

    /// Forgets what was counted: the warm-up is over, and the counters stand `before`.
    pub(crate) fn restart(&mut self, before: Counters, now: Time) {
        self.before = Counters { begin: now, ..before };
        self.counts.fill(ClassCount::default());
        self.queue_delay = Some(QueueDelay::default());
    }

    /// Waiting times of all packets counted, given those of the flows in the whole run.
    pub(crate) fn all_waits(&self, flows: impl Iterator<Item = QueueDelay>) -> QueueDelay {
        self.queue_delay.unwrap_or_else(|| flows.fold(QueueDelay::default(), QueueDelay::and))
    }
}

impl Counters {
    /// The counts since those of `before`; the averages, the table's size and the simulator's own work stay.
    pub(crate) fn since(self, before: &Counters) -> Counters {
        Counters {
            arrivals: self.arrivals - before.arrivals,
            drops: self.drops - before.drops,
            sent: self.sent - before.sent,
            sent_bytes: self.sent_bytes - before.sent_bytes,
            lost: self.lost - before.lost,
            reverse_lost: self.reverse_lost - before.reverse_lost,
            reverse_arrivals: self.reverse_arrivals - before.reverse_arrivals,
            reverse_drops: self.reverse_drops - before.reverse_drops,
            reverse_marks: self.reverse_marks - before.reverse_marks,
            reverse_sent: self.reverse_sent - before.reverse_sent,
            reverse_sent_bytes: self.reverse_sent_bytes - before.reverse_sent_bytes,
            marks: self.marks - before.marks,
            begin: before.begin,
            ..self
        }
    }
}
