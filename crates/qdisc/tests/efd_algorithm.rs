//! EFD against Algorithm 3 of Chen 2012, written down line by line, on random traffic: class, fate, victim, order of
//! service and table after every call.
//!
//! The text leaves two things open; [`Reading`] has both forms, and the tests say which one `efd` follows and that the
//! other differs.

use proptest::prelude::*;
use qdisc::{Ecn, Fate, Kind, Limit, Packet, Qdisc};
use units::{FlowKey, Stream, Time};

/// How the open places of Algorithm 3 are read.
#[derive(Clone, Copy, Debug)]
struct Reading {
    /// Line 19, "number of bytes already served": bytes of the sub-flow that entered the queue (4.3.1, "flow size
    /// counter"; 4.5.3), or bytes of it that left for the link.
    entered: bool,
    /// Lines 12 and 15 do not say "update the flow entry": the first packet of a sub-flow is counted all the same, or
    /// not.
    first: bool,
}

const EFD: Reading = Reading { entered: true, first: true };

/// R(F), the entry of a flow.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    flow: u64,
    bytes: u64,
}

/// The state Algorithm 3 speaks of, in plain lists.
struct Algorithm3 {
    reading: Reading,
    th: u64,
    limit: usize,
    high: Vec<Packet>,
    low: Vec<Packet>,
    table: Vec<Entry>,
    dropped: Vec<u64>,
    /// Class of the last packet that was inserted.
    sorted_high: Option<bool>,
}

impl Algorithm3 {
    fn of(reading: Reading, th: u64, limit: usize) -> Algorithm3 {
        let (high, low, table, dropped) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Algorithm3 { reading, th, limit, high, low, table, dropped, sorted_high: None }
    }

    fn is_full(&self) -> bool {
        self.high.len() + self.low.len() == self.limit
    }

    fn is_present(&self, flow: u64) -> bool {
        self.high.iter().chain(&self.low).any(|packet| packet.flow.0 == flow)
    }

    fn entry(&mut self, flow: u64) -> &mut Entry {
        self.table.iter_mut().find(|entry| entry.flow == flow).expect("a flow with a packet waiting has an entry")
    }

    fn update(&mut self, p: &Packet) {
        if self.reading.entered {
            self.entry(p.flow.0).bytes += u64::from(p.len);
        }
    }

    fn update_first(&mut self, p: &Packet) {
        if self.reading.first {
            self.update(p);
        }
    }

    fn insert_high(&mut self, p: Packet) {
        self.sorted_high = Some(true);
        self.high.push(p);
    }

    fn drop_arriving(&mut self, p: &Packet) {
        self.dropped.push(p.handle);
        // "Leaves due to the end of service or dropping": this takes the entry of line 4 away again.
        self.packet_departure(p, false);
    }

    fn drop_last_low(&mut self) {
        let victim = self.low.pop().expect("not only high priority packets in the queue");
        self.dropped.push(victim.handle);
        self.packet_departure(&victim, false);
    }

    /// 1: function packet_arrival(p)
    fn packet_arrival(&mut self, p: Packet) {
        self.dropped.clear();
        self.sorted_high = None;
        let flow = p.flow.0;
        // 2: a new packet p of flow F arrives
        // 3: if no packets of F are present in the queue then
        if !self.is_present(flow) {
            // 4: create a flow entry R(F) for F
            self.table.push(Entry { flow, bytes: 0 });
            // 5: p is a high priority packet
            // 6: if the queue is full then
            if self.is_full() {
                // 7: if only high priority packets in the queue then
                if self.low.is_empty() {
                    // 8: p is dropped; 9: return
                    self.drop_arriving(&p);
                // 10: else
                } else {
                    // 11: the last packet of low priority queue is dropped
                    self.drop_last_low();
                    // 12: p is inserted at the end of high priority queue
                    self.insert_high(p);
                    self.update_first(&p);
                } // 13: end if
            // 14: else
            } else {
                // 15: p is inserted at the end of high priority queue
                self.insert_high(p);
                self.update_first(&p);
            } // 16: end if
        // 17: else
        } else {
            // 18: at least one packet of F resides in the queue, so that a flow entry for F exists in the table
            // 19: if number of bytes already served of flow F < threshold th then
            if self.entry(flow).bytes < self.th {
                // 20: p is a high priority packet
                // 21: if the queue is full then
                if self.is_full() {
                    // 22: if only high priority packets in the queue then
                    if self.low.is_empty() {
                        // 23: p is dropped; 24: return
                        self.drop_arriving(&p);
                    // 25: else
                    } else {
                        // 26: the last packet of low priority queue is dropped
                        self.drop_last_low();
                        // 27: p is inserted at the end of high priority queue
                        self.insert_high(p);
                        // 28: update the flow entry R(F) in the table
                        self.update(&p);
                    } // 29: end if
                // 30: else
                } else {
                    // 31: p is inserted at the end of high priority queue
                    self.insert_high(p);
                    // 32: update the flow entry R(F) in the table
                    self.update(&p);
                } // 33: end if
            // 34: else
            } else {
                // 35: p is a low priority packet
                // 36: if the queue is full then
                if self.is_full() {
                    // 37: p is dropped; 38: return
                    self.drop_arriving(&p);
                // 39: else
                } else {
                    // 40: p is put at the end of low priority queue
                    self.sorted_high = Some(false);
                    self.low.push(p);
                    // 41: update the flow entry R(F) in the table
                    self.update(&p);
                } // 42: end if
            } // 43: end if
        } // 44: end if
    }

    /// 46: function packet_departure(p)
    fn packet_departure(&mut self, p: &Packet, served: bool) {
        let flow = p.flow.0;
        // 47: a packet p of flow F leaves due to the end of service or dropping
        // 48: if no more packets of flow F are in the queue after p leaves then
        if !self.is_present(flow) {
            // 49: the flow entry R(F) is deleted from the table
            self.table.retain(|entry| entry.flow != flow);
        // 50: else
        } else {
            // 51: update the flow entry R(F) in the table
            if !self.reading.entered && served {
                self.entry(flow).bytes += u64::from(p.len);
            }
        } // 52: end if
    }

    /// 4.3: "The low priority queue is served only if the high priority queue is empty. Both queues are drained in a
    /// FIFO manner."
    fn serve(&mut self) -> Option<Packet> {
        self.dropped.clear();
        let queue = if self.high.is_empty() { &mut self.low } else { &mut self.high };
        let p = (!queue.is_empty()).then(|| queue.remove(0))?;
        self.packet_departure(&p, true);
        Some(p)
    }
}

/// Some packets of a flow arrive, or some leave.
#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { flow: u64, len: u32, packets: u32 },
    Serve(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let len = prop_oneof![4 => Just(1500), 2 => Just(40), 1 => 1..1501_u32];
    let arrive = (0..8_u64, len, 1..8_u32).prop_map(|(flow, len, packets)| Step::Arrive { flow, len, packets });
    prop::collection::vec(prop_oneof![3 => arrive, 2 => (1..8_u32).prop_map(Step::Serve)], 0..150)
}

fn packet(flow: u64, handle: u64, len: u32) -> Packet {
    let (flow, arrival, kind, ecn) = (FlowKey(flow), Time::ZERO, Kind::Udp, Ecn::NotEct);
    Packet { flow, handle, progress: 0, remaining: 0, arrival, len, src: 0, dst: 0, options: 0, mark: 0, kind, ecn }
}

/// A queue beside the algorithm; panics at the first difference.
struct Pair {
    algorithm: Algorithm3,
    efd: Qdisc,
    handle: u64,
}

impl Pair {
    fn of(reading: Reading, th: u64, limit: u32) -> Pair {
        let options = [("threshold".to_owned(), th.to_string())];
        let efd = Qdisc::from_options("efd", &options, Limit::Packets(limit), Stream::named(1, "efd")).expect("valid");
        Pair { algorithm: Algorithm3::of(reading, th, limit as usize), efd, handle: 0 }
    }

    fn arrive(&mut self, flow: u64, len: u32) {
        let handle = self.handle;
        self.handle += 1;
        let p = packet(flow, handle, len);
        self.algorithm.packet_arrival(p);
        let fate = self.efd.enqueue(p, Time::ZERO);
        assert_eq!(fate == Fate::Queued, self.algorithm.sorted_high.is_some(), "fate of {handle}");
        assert_eq!(self.efd.sorted().map(|sorted| sorted.high), self.algorithm.sorted_high, "class of {handle}");
        self.check();
    }

    fn serve(&mut self) {
        let expected = self.algorithm.serve().map(|packet| packet.handle);
        assert_eq!(self.efd.dequeue(Time::ZERO).map(|packet| packet.handle), expected);
        self.check();
    }

    fn check(&self) {
        let dropped: Vec<u64> = self.efd.dropped().iter().map(|(packet, _)| packet.handle).collect();
        assert_eq!(dropped, self.algorithm.dropped);
        assert_eq!(self.efd.high_backlog(), Some(self.algorithm.high.len()));
        assert_eq!(self.efd.flow_table_len(), self.algorithm.table.len());
        // 4.3.1: "the flow table size is bounded by the physical queue size in packets".
        assert!(self.efd.flow_table_len() as u64 <= self.efd.backlog());
        assert!(self.efd.backlog() <= self.algorithm.limit as u64);
    }

    fn run(mut self, steps: &[Step]) {
        for &step in steps {
            match step {
                Step::Arrive { flow, len, packets } => (0..packets).for_each(|_| self.arrive(flow, len)),
                Step::Serve(packets) => (0..packets).for_each(|_| self.serve()),
            }
        }
        (0..=self.efd.backlog()).for_each(|_| self.serve());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_decision_is_that_of_algorithm_3(
        th in prop_oneof![Just(1), 1..12_000_u64],
        limit in prop_oneof![Just(1), 2..30_u32],
        steps in steps(),
    ) {
        Pair::of(EFD, th, limit).run(&steps);
    }
}

/// Packets that go in as high of a burst of 100 full ones that finds the queue empty.
fn high_of_a_burst(reading: Reading) -> usize {
    let mut algorithm = Algorithm3::of(reading, 30_000, 300);
    (0..100).for_each(|handle| algorithm.packet_arrival(packet(1, handle, 1500)));
    algorithm.high.len()
}

#[test]
fn the_other_readings_let_more_than_the_threshold_of_a_burst_in_as_high() {
    assert_eq!(high_of_a_burst(EFD), 20, "4.5.3: th of each sub-flow");
    assert_eq!(high_of_a_burst(Reading { first: false, ..EFD }), 21);
    assert_eq!(high_of_a_burst(Reading { entered: false, ..EFD }), 100, "nothing was served yet");
}
