//! # CHOKe
//!
//! **Idea.** "Choose and keep for responsive flows, choose and kill for unresponsive ones". While the average queue is above the lower
//! threshold of RED, each arriving packet is compared with one drawn at random from the queue. If both belong to one flow, both are
//! dropped. A flow that fills the queue is met often, so it loses most, and no state per flow is needed. What passes is treated as by
//! [RED](red.md).
//!
//! **Scope and limits.**
//! - One draw per arrival, as in the basic scheme of the paper; its variants with several draws are left out.
//! - Flows are compared by their 5-tuple. A sender that splits its traffic over many connections is met as seldom as they are.
//! - Packets leave in order of arrival, those dropped from the middle excepted.
//! - The comparison comes before the buffer is looked at: a full queue is where a flow that fills it is to be caught. Linux does the same.
//! - The paper has the average of RED; so idle time, byte mode, spacing of drops and marks are those of [RED](red.md), with its
//!   deviations. A packet that finds at most one other is not compared.
//! - Both packets of a pair are dropped even if they understand ECN: they are evidence of a flow that does not slow down.
//!
//! **Parameters.** Those of [RED](red.md), with the same defaults.
//!
//! **When the buffer is full** the arriving packet is dropped, unless it meets one of its own flow: then both are.
//!
//! **Cost.** O(1) per packet, amortised: a packet dropped from the middle leaves a gap, and gaps are closed when they outnumber the packets
//! by 16, so a draw takes two tries on average at most in a long queue. 20 ns (FIFO 9 ns), 300 packets, 10 000 flows. No flow table.
//!
//! **Validation.** Unit tests: pairs go together and only above the threshold, every waiting packet is drawn alike, order and count with
//! gaps, and the share of a flow that offers half the load of two: 50 % under RED, less than 30 % here. Conformance suite.
//!
//! **References.** Pan, Prabhakar and Psounis 2000, "CHOKe: a stateless active queue management scheme for approximating fair bandwidth
//! allocation".

use std::collections::VecDeque;

use units::Stream;

use crate::base::{Discipline, DropReason, Env};
use crate::packet::Packet;
use crate::parts::red::{Detector, PARAMS};
use crate::spec::{Family, OptionError, Options, RunsOn, Spec};

/// Gaps that do not matter yet.
const FEW: usize = 16;

/// A queue that packets can be taken from the middle of.
#[derive(Debug, Default)]
struct Gapped {
    /// The first one is a packet, if there is any.
    places: VecDeque<Option<Packet>>,
    packets: usize,
}

impl Gapped {
    #[inline]
    fn push(&mut self, packet: Packet) {
        self.places.push_back(Some(packet));
        self.packets += 1;
    }

    #[inline]
    fn pop(&mut self) -> Option<Packet> {
        let packet = self.places.pop_front()?;
        self.close();
        packet
    }

    /// Place of a packet, each as likely. The queue is not empty.
    #[inline]
    fn draw(&self, rng: &mut Stream) -> usize {
        loop {
            let place = ((u128::from(rng.bits()) * self.places.len() as u128) >> 64) as usize;
            if self.places[place].is_some() {
                return place;
            }
        }
    }

    fn take(&mut self, place: usize) -> Option<Packet> {
        let packet = self.places[place].take()?;
        self.close();
        Some(packet)
    }

    /// A packet is gone: closes the gaps in front, and all of them when there are too many.
    #[inline]
    fn close(&mut self) {
        self.packets -= 1;
        while let Some(None) = self.places.front() {
            self.places.pop_front();
        }
        if self.places.len() > 2 * self.packets + FEW {
            self.places.retain(Option::is_some);
        }
    }
}

/// CHOKe.
#[derive(Debug)]
pub struct Choke {
    queue: Gapped,
    detector: Detector,
}

impl Choke {
    /// Drops a packet drawn from the queue if it is of the same flow as the arriving one.
    fn catch(&mut self, packet: &Packet, env: &mut Env) -> bool {
        let place = self.queue.draw(&mut env.rng);
        if self.queue.places[place].is_none_or(|drawn| drawn.flow != packet.flow) {
            return false;
        }
        if let Some(victim) = self.queue.take(place) {
            env.discard(victim, DropReason::Early);
        }
        true
    }
}

impl Discipline for Choke {
    const SPEC: Spec = Spec {
        id: "choke",
        family: Family::QueueManagement,
        about: "RED that drops an arriving packet and one drawn from the queue if both are of one flow",
        source: "Pan, Prabhakar and Psounis 2000",
        when_full: "the arriving packet",
        time_driven: false,
        keeps_flow_order: true,
        runs_on: RunsOn::Kernel { qdisc: "choke", since: "" },
        params: &PARAMS,
    };

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        Ok(Choke { queue: Gapped::default(), detector: Detector::with_options(options)? })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        self.detector.arrive(env);
        // Before the buffer is looked at: a full one is where a flow that fills it is to be caught.
        if self.detector.is_congested(env) && self.catch(&packet, env) {
            env.refuse(packet, DropReason::Early);
            return;
        }
        if let Some(packet) = self.detector.admit(packet, env) {
            self.queue.push(packet);
        }
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        let packet = self.queue.pop()?;
        self.detector.depart(packet.len, self.queue.packets > 0, env.now());
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.queue.places.front()?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use super::*;
    use crate::test_queue::{arrive, drain, dropped, packet, queue};
    use crate::{Fate, Limit};

    /// With weight 1 the average is the queue that a packet meets; drops by RED are out of the way.
    const ALWAYS: [&str; 3] = ["min_th=1", "max_th=1000", "weight=1"];

    #[test]
    fn a_packet_that_meets_one_of_its_flow_goes_with_it() {
        let mut choke = queue("choke", &ALWAYS, Limit::Packets(100));
        arrive(&mut choke, &[1, 1], 0, Time::ZERO);
        assert_eq!(choke.enqueue(packet(1, 2), Time::ZERO), Fate::Dropped(DropReason::Early));
        assert_eq!(dropped(&choke).len(), 2);
        assert_eq!((choke.backlog(), choke.stats().dropped_before, choke.stats().dropped_after), (1, 1, 1));
    }

    #[test]
    fn below_the_lower_threshold_nothing_is_compared() {
        let mut choke = queue("choke", &["min_th=50"], Limit::Packets(1000));
        arrive(&mut choke, &[1; 200], 0, Time::ZERO);
        assert_eq!(choke.backlog(), 200, "the average lags far behind");
    }

    #[test]
    fn every_waiting_packet_is_drawn_alike_and_gaps_never() {
        let mut queue = Gapped::default();
        (0..30).for_each(|handle| queue.push(packet(1, handle)));
        for place in [29, 0, 7, 8, 9, 20] {
            queue.take(place);
        }
        let mut rng = Stream::named(1, "draws");
        let mut counts = [0_u32; 30];
        for _ in 0..24_000 {
            let place = queue.draw(&mut rng);
            counts[queue.places[place].expect("a packet").handle as usize] += 1;
        }
        for (handle, &count) in counts.iter().enumerate() {
            let is_gone = [29, 0, 8, 9, 10, 21].contains(&handle);
            // The first place closed, so later ones moved. 1000 each, standard deviation 31.
            assert!(if is_gone { count == 0 } else { (875..=1125).contains(&count) }, "{handle}: {count}");
        }
    }

    #[test]
    fn gaps_are_never_many_more_than_packets() {
        let mut queue = Gapped::default();
        (0..1000).for_each(|handle| queue.push(packet(1, handle)));
        let mut rng = Stream::named(2, "draws");
        while queue.packets > 0 {
            let place = queue.draw(&mut rng);
            if queue.packets % 3 == 0 {
                queue.pop()
            } else {
                queue.take(place)
            };
            assert!(queue.places.len() <= 2 * queue.packets + FEW, "{} of {}", queue.places.len(), queue.packets);
            assert_eq!(queue.places.iter().flatten().count(), queue.packets);
            assert!(queue.places.front().is_none_or(Option::is_some));
        }
    }

    #[test]
    fn the_order_of_arrival_outlives_gaps() {
        let mut choke = queue("choke", &ALWAYS, Limit::Packets(2000));
        for handle in 0..4000 {
            choke.enqueue(packet(handle % 20, handle), Time::ZERO);
        }
        let left = choke.backlog();
        let order = drain(&mut choke, Time::ZERO);
        assert!(order.is_sorted() && order.len() as u64 == left && left < 2000, "{left}");
    }

    #[test]
    fn a_flow_that_fills_the_queue_gets_less_than_red_would_give_it() {
        let share = |id| {
            let mut queue = queue(id, &["min_th=20", "max_th=60"], Limit::Packets(100));
            let mut sent = [0_u32; 2];
            for n in 0..60_000 {
                // The link sends one packet while one flow offers one and 49 others one together.
                let now = Time(n * 1_000_000);
                queue.enqueue(packet(1, n), now);
                queue.enqueue(packet(2 + n % 49, n), now);
                let flow = queue.dequeue(now).map(|packet| packet.flow.0);
                sent[usize::from(flow != Some(1))] += 1;
            }
            f64::from(sent[0]) / 60_000.0
        };
        let (red, choke) = (share("red"), share("choke"));
        assert!((red - 0.5).abs() < 0.05 && choke < 0.3, "{red} {choke}");
    }
}
