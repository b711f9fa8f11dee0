//! The disciplines that rank packets by volume against a reference that keeps everything in plain lists, recounts every
//! volume from the packets that entered, and sorts all packets at each step: same fate, class, victims and order of
//! service on random traffic.

use proptest::prelude::*;
use qdisc::{Ecn, Fate, Kind, Limit, Packet, Qdisc};
use units::{FlowKey, Stream, Time};

/// 2^30 ns: whole half-lives make the fading of LARS exact in binary, here and there.
const HALF_LIFE: Time = Time(1 << 30);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Measure {
    Bytes,
    Packets,
    /// Both directions; whether the first acknowledgement tells the whole of its number.
    Connection {
        whole: bool,
    },
}

/// How long a flow is remembered.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Memory {
    /// While a packet of it waits.
    Subflow,
    /// Until it was idle for this long at a multiple of [`VISIT`].
    Idle(Time),
}

const VISIT: Time = Time(1 << 30);

/// What defines a discipline.
#[derive(Clone, Debug)]
struct Rule {
    id: &'static str,
    options: Vec<(String, String)>,
    measure: Measure,
    memory: Memory,
    /// Threshold of the high class, and whether the high and the low class are sorted; one sorted class without.
    classes: Option<(u128, bool, bool)>,
    /// Volumes fade.
    fades: bool,
}

fn rule(id: &'static str, options: &str, measure: Measure) -> Rule {
    let memory = if id.contains("efd") { Memory::Subflow } else { Memory::Idle(Time(4 << 30)) };
    let table = if memory == Memory::Subflow { "" } else { "visit=1.073741824,timeout=4.294967296" };
    let classes = match id {
        "pefd" => Some((3, options.contains("high=las"), options.contains("low=las"))),
        "efd" | "efdack" | "run2cack" => Some((3500, options.contains("high=las"), options.contains("low=las"))),
        _ => None,
    };
    let threshold = classes.map_or(String::new(), |(threshold, ..)| format!("threshold={threshold}"));
    let pairs = [options, table, &threshold].join(",");
    let options = pairs.split(',').filter_map(|pair| pair.split_once('='));
    let options = options.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Rule { id, options, measure, memory, classes, fades: id == "lars" }
}

fn rules() -> Vec<Rule> {
    let (whole, partial) = (Measure::Connection { whole: true }, Measure::Connection { whole: false });
    let mut rules = vec![
        rule("las", "", Measure::Bytes),
        rule("lasack", "", whole),
        rule("run2cack", "", whole),
        rule("lars", "half_life=1.073741824", Measure::Bytes),
        rule("lars", "half_life=1.073741824,count=acknowledged", partial),
    ];
    for (id, measure) in [("efd", Measure::Bytes), ("pefd", Measure::Packets), ("efdack", partial)] {
        for options in ["", "high=las", "low=las", "high=las,low=las"] {
            rules.push(rule(id, options, measure));
        }
    }
    rules
}

/// A packet that entered the queue.
struct Entered {
    packet: Packet,
    at: Time,
    /// Not taken back.
    counted: bool,
}

struct Flow {
    key: u64,
    history: Vec<Entered>,
    last: Time,
}

#[derive(Clone, Copy)]
struct Waiting {
    /// Class, mark within it, arrival: the order of service.
    place: (bool, u128, u64),
    packet: Packet,
}

struct Reference {
    rule: Rule,
    limit: Limit,
    flows: Vec<Flow>,
    waiting: Vec<Waiting>,
    visited: Time,
    arrivals: u64,
    dropped: Vec<u64>,
    sorted_high: Option<bool>,
}

impl Reference {
    fn of(rule: &Rule, limit: Limit) -> Reference {
        let (flows, waiting, dropped) = (Vec::new(), Vec::new(), Vec::new());
        let (rule, visited) = (rule.clone(), Time::ZERO);
        Reference { rule, limit, flows, waiting, visited, arrivals: 0, dropped, sorted_high: None }
    }

    fn key(&self, packet: &Packet) -> u64 {
        if let Measure::Connection { .. } = self.rule.measure { packet.flow.connection() } else { packet.flow.0 }
    }

    fn waits(&self, key: u64) -> bool {
        self.waiting.iter().any(|waiting| self.key(&waiting.packet) == key)
    }

    /// Forgets sub-flows that are over, or flows that are idle when a visit is due.
    fn forget(&mut self, now: Time) {
        let visit = Time(now.0 / VISIT.0 * VISIT.0);
        let due = self.rule.memory == Memory::Subflow || visit > self.visited;
        self.visited = visit;
        let flows = std::mem::take(&mut self.flows);
        let stays = |flow: &Flow| match self.rule.memory {
            _ if !due || self.waits(flow.key) => true,
            Memory::Subflow => false,
            Memory::Idle(timeout) => visit.saturating_sub(flow.last) < timeout,
        };
        self.flows = flows.into_iter().filter(stays).collect();
    }

    /// What `packet` adds to the volume of its flow after `history`.
    fn moved(&self, history: &[Entered], packet: &Packet) -> u128 {
        match self.rule.measure {
            Measure::Packets => 1,
            Measure::Connection { whole } if packet.kind == Kind::Ack => {
                let with = |kind, reverse| {
                    let of = move |entered: &&Entered| {
                        (entered.packet.kind == Kind::Ack) == (kind == Kind::Ack)
                            && (entered.packet.flow.direction() == packet.flow.direction()) != reverse
                    };
                    history.iter().filter(of).map(|entered| entered.packet.progress)
                };
                if with(Kind::Data, true).next().is_some() {
                    return 0;
                }
                let told = with(Kind::Ack, false).max().unwrap_or(if whole { 0 } else { packet.progress });
                u128::from(packet.progress.saturating_sub(told))
            }
            _ => u128::from(packet.len),
        }
    }

    /// Volume of the flow of `packet` that it ranks by.
    fn rank(&self, packet: &Packet, now: Time) -> u128 {
        let key = self.key(packet);
        let history = self.flows.iter().find(|flow| flow.key == key).map_or(&[][..], |flow| &flow.history);
        let worth = |at: Time| if self.rule.fades { 1 << (at.0 / HALF_LIFE.0) } else { 1 };
        let counted = (0..history.len()).filter(|&n| history[n].counted);
        let before: u128 = counted.map(|n| worth(history[n].at) * self.moved(&history[..n], &history[n].packet)).sum();
        let connection = matches!(self.rule.measure, Measure::Connection { .. });
        let told = if connection && packet.kind == Kind::Ack { worth(now) * self.moved(history, packet) } else { 0 };
        before + told
    }

    fn is_over(&self, waiting: &[Waiting]) -> bool {
        match self.limit {
            Limit::Packets(limit) => waiting.len() > limit as usize,
            Limit::Bytes(limit) => waiting.iter().map(|waiting| u64::from(waiting.packet.len)).sum::<u64>() > limit,
        }
    }

    fn enqueue(&mut self, packet: Packet, now: Time) {
        (self.dropped, self.sorted_high) = (Vec::new(), None);
        self.forget(now);
        let rank = self.rank(&packet, now);
        let (low, mark) = match self.rule.classes {
            None => (false, rank),
            Some((threshold, high_sorted, low_sorted)) => {
                let low = rank >= threshold;
                (low, if [high_sorted, low_sorted][usize::from(low)] { rank } else { 0 })
            }
        };
        self.arrivals += 1;
        let place = (low, mark, self.arrivals);
        let mut rest = self.waiting.clone();
        rest.push(Waiting { place, packet });
        rest.sort_by_key(|waiting| waiting.place);
        let mut victims = Vec::new();
        while self.is_over(&rest) {
            victims.extend(rest.pop());
        }
        if victims.iter().any(|victim| victim.place == place) {
            self.dropped.push(packet.handle);
            return;
        }
        self.waiting = rest;
        victims.iter().for_each(|victim| self.take_back(&victim.packet));
        self.sorted_high = self.rule.classes.map(|_| !low);
        self.forget(now);
        let key = self.key(&packet);
        if self.flows.iter().all(|flow| flow.key != key) {
            self.flows.push(Flow { key, history: Vec::new(), last: now });
        }
        let flow = self.flow(key);
        flow.history.push(Entered { packet, at: now, counted: true });
        flow.last = now;
    }

    fn flow(&mut self, key: u64) -> &mut Flow {
        self.flows.iter_mut().find(|flow| flow.key == key).expect("a flow with a packet waiting is known")
    }

    fn take_back(&mut self, victim: &Packet) {
        self.dropped.push(victim.handle);
        let connection = matches!(self.rule.measure, Measure::Connection { .. });
        if connection && victim.kind == Kind::Ack {
            return;
        }
        let (key, fades) = (self.key(victim), self.rule.fades);
        let history = &mut self.flow(key).history;
        let place = history.iter().position(|entered| entered.packet.handle == victim.handle).expect("it entered");
        history[place].counted = false;
        if fades {
            // LARS goes back to the stamp: acknowledgements that came later, all pushed out, go too.
            history[place..].iter_mut().for_each(|entered| entered.counted = false);
        }
    }

    fn dequeue(&mut self, now: Time) -> Option<Packet> {
        self.dropped.clear();
        self.forget(now);
        self.waiting.sort_by_key(|waiting| waiting.place);
        let packet = (!self.waiting.is_empty()).then(|| self.waiting.remove(0).packet)?;
        let key = self.key(&packet);
        self.flow(key).last = now;
        self.forget(now);
        Some(packet)
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive {
        flow: u64,
        kind: Kind,
        len: u32,
        progress: u64,
    },
    Serve,
    /// Half-lives.
    Wait(u64),
}

/// A queue beside the reference; panics at the first difference.
struct Pair {
    reference: Reference,
    queue: Qdisc,
    label: String,
    now: Time,
    handle: u64,
}

impl Pair {
    fn of(rule: &Rule, limit: Limit) -> Pair {
        let queue = Qdisc::from_options(rule.id, &rule.options, limit, Stream::named(1, "las")).expect("valid");
        let label = format!("{} {:?} {limit:?}", rule.id, rule.options);
        Pair { reference: Reference::of(rule, limit), queue, label, now: Time::ZERO, handle: 0 }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Arrive { flow, kind, len, progress } => self.arrive(flow, kind, len, progress),
            Step::Serve => self.serve(),
            // Up to here all sums of LARS are exact in 53 bits.
            Step::Wait(spans) => self.now = Time((self.now.0 + spans * HALF_LIFE.0).min(30 * HALF_LIFE.0)),
        }
        if self.reference.rule.memory == Memory::Subflow {
            assert_eq!(self.queue.flow_table_len(), self.reference.flows.len(), "{}", self.label);
            assert!(self.queue.flow_table_len() as u64 <= self.queue.backlog(), "{}", self.label);
        }
    }

    fn serve(&mut self) {
        let expected = self.reference.dequeue(self.now).map(|packet| packet.handle);
        assert_eq!(self.queue.peek().map(|packet| packet.handle), expected, "{}: next", self.label);
        assert_eq!(self.queue.dequeue(self.now).map(|packet| packet.handle), expected, "{}: served", self.label);
    }

    fn arrive(&mut self, flow: u64, kind: Kind, len: u32, progress: u64) {
        let (handle, arrival, ecn) = (self.handle, Time::ZERO, Ecn::NotEct);
        self.handle += 1;
        let flow = FlowKey(flow);
        let packet = Packet {
            flow,
            handle,
            progress,
            remaining: 0,
            arrival,
            len,
            src: 0,
            dst: 0,
            options: 0,
            mark: 0,
            kind,
            ecn,
        };
        self.reference.enqueue(packet, self.now);
        let fate = self.queue.enqueue(packet, self.now);
        let dropped: Vec<u64> = self.queue.dropped().iter().map(|(packet, _)| packet.handle).collect();
        let label = &self.label;
        assert_eq!(dropped, self.reference.dropped, "{label}: dropped by the arrival of {handle}");
        assert_eq!(fate == Fate::Queued, !dropped.contains(&handle), "{label}: fate of {handle}");
        let high = self.queue.sorted().map(|sorted| sorted.high);
        assert_eq!(high, self.reference.sorted_high, "{label}: class of {handle}");
    }

    fn drain(&mut self) {
        (0..=self.queue.backlog()).for_each(|_| self.step(Step::Serve));
    }
}

fn step() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![3 => Just(Kind::Data), 3 => Just(Kind::Ack), 1 => Just(Kind::Udp)];
    let len = prop_oneof![4 => Just(1500), 2 => Just(40), 1 => 1..1501_u32];
    let progress = prop_oneof![3 => 0..12_000_u64, 1 => 0..60_000_u64];
    let arrive = (0..8_u64, kind, len, progress);
    prop_oneof![
        20 => arrive.prop_map(|(flow, kind, len, progress)| Step::Arrive { flow, kind, len, progress }),
        12 => Just(Step::Serve),
        1 => (1..3_u64).prop_map(Step::Wait),
        1 => (1..10_u64).prop_map(Step::Wait),
    ]
}

fn limit() -> impl Strategy<Value = Limit> {
    let packets = prop_oneof![Just(1), 2..25_u32].prop_map(Limit::Packets);
    prop_oneof![packets, (1..25_000_u64).prop_map(Limit::Bytes)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_decision_is_that_of_the_reference(limit in limit(), steps in prop::collection::vec(step(), 0..200)) {
        for rule in rules() {
            let mut pair = Pair::of(&rule, limit);
            steps.iter().for_each(|&step| pair.step(step));
            pair.drain();
        }
    }
}

/// More packets than one ring of the sorted queue holds.
#[test]
fn a_long_queue_is_in_the_order_of_the_reference() {
    for rule in rules() {
        let mut pair = Pair::of(&rule, Limit::Packets(700));
        let mut draw = Stream::named(1, rule.id);
        for n in 0..2500_u64 {
            let flow = draw.bits() % 40;
            let (kind, len) = if draw.bits().is_multiple_of(3) { (Kind::Ack, 40) } else { (Kind::Data, 1500) };
            pair.step(Step::Arrive { flow, kind, len, progress: n * 20 + draw.bits() % 3000 });
            if draw.bits().is_multiple_of(3) {
                pair.step(Step::Serve);
            }
            if n % 100 == 0 {
                pair.step(Step::Wait(1));
            }
        }
        pair.drain();
    }
}
