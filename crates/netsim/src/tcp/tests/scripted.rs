//! Scripted connections by lists of steps: a client, the receiver of the flow, asks; a server, its sender, answers.
//! The wire is that of the other step lists: 50 ms one way, no sending time.

use std::fmt::Write;

use qdisc::Packet;
use units::{BitRate, Direction, Time};

use super::tcp;
use crate::event::{Events, Key, Kind};
use crate::flow::FlowSpec;
use crate::options::Options;
use crate::out::accounting::Ledger;
use crate::out::records::FlowRecord;
use crate::out::trace::Trace;
use crate::script::{Train, TrainRecord};
use crate::tcp::accurate::Hosts;
use crate::tcp::scripted::{Scene, Scripted};
use crate::tcp::settings::Tcp;
use crate::tcp::{History, Life};
use crate::wire::handle::{Handle, Mark, Owner};
use crate::wire::net::Net;
use crate::wire::pipe::{End, Lane, Pipe};
use Said::*;
use Step::*;

/// What is on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    /// SYN of the client.
    Open,
    /// SYN-ACK of the server.
    Accept,
    /// Data of the client, from 1, and the acknowledgement of the server's data that rides on it.
    Ask(u32, u32),
    /// Data of the server, and the acknowledgement that rides on it.
    Answer(u32, u32),
    /// Acknowledgement by the client, with nothing else.
    ClientAck(u32),
    /// Acknowledgement by the server, with nothing else.
    ServerAck(u32),
    /// FIN of the server, of the client, and the last acknowledgement.
    Fin,
    FinAck,
    Bare,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Time passes up to this many milliseconds, and nothing is sent on the way.
    At(u64),
    /// Time passes up to this many milliseconds, whatever is sent.
    Skip(u64),
    /// This and nothing else was sent at this instant, in this order.
    Sends(&'static [Said]),
    /// The next copy of this is lost.
    Lose(Said),
}

struct Bench {
    tcp: Tcp,
    script: Vec<Train>,
    net: Net,
    trains: Vec<TrainRecord>,
    /// Until the server has opened.
    scripted: Option<Scripted>,
    answers: u32,
    over: bool,
    lose: Vec<Said>,
    sent: Vec<(Time, Said)>,
    next: Option<Key>,
    log: String,
}

fn train(forward: bool, bytes: u64, wait: u64, pace: u64) -> Train {
    Train { forward, bytes, wait: Time::from_millis(wait), pace: Time::from_millis(pace) }
}

fn ask(segments: u64, wait: u64) -> Train {
    train(false, segments * 1460, wait, 0)
}

fn answer(segments: u64, wait: u64) -> Train {
    train(true, segments * 1460, wait, 0)
}

/// Executes `steps` on a connection that the client opens; what was sent is printed when one fails.
fn play(script: &[Train], restart_after_idle: bool, change: impl FnOnce(&mut Tcp), steps: &[Step]) {
    let mut bench = Bench::open(script, restart_after_idle, change);
    for step in steps {
        writeln!(bench.log, "{step:?}").expect("strings grow");
        if let Err(why) = bench.execute(step) {
            panic!("{why}\nsteps so far:\n{}", bench.log);
        }
    }
    assert!(bench.sent.is_empty(), "sent, but not expected: {:?}\nsteps:\n{}", bench.sent, bench.log);
}

impl Bench {
    fn open(script: &[Train], restart_after_idle: bool, change: impl FnOnce(&mut Tcp)) -> Bench {
        let mut tcp = Tcp { min_rto: Time::from_millis(1000), delayed_ack: Time::from_millis(200), ..tcp() };
        tcp.restart_after_idle = restart_after_idle;
        change(&mut tcp);
        let instant = BitRate::from_bps(10_u64.pow(18)).expect("non-zero");
        // Of each direction the host's own pipe and the wire behind it.
        let pipes = [0, 0, 50, 50].into_iter().enumerate();
        let net = Net {
            now: Time::ZERO,
            events: Events::default(),
            pipes: pipes.map(|(index, ms)| Pipe::into(index, instant, Time::from_millis(ms))).collect(),
            lanes: (0..4).map(|_| Lane::to(End::Host)).collect(),
            flights: crate::slab::Slab::empty(),
            hops: 0,
            ledger: Ledger::of(1),
            outbox: std::collections::VecDeque::new(),
            options: Options::none(),
            deliveries: None,
            trace: Trace::default(),
            tape: None,
            hosts: Hosts::default(),
        };
        let size_bytes = script.iter().map(|train| train.bytes).sum();
        let spec = FlowSpec { size_bytes, receiver_opens: true, script: Some(0), ..FlowSpec::default() };
        let owner = Owner { flow: 0, slot: 0, src: 0, dst: 1, mark: 0 };
        let history = History { clock_phase: Time::ZERO, syn_lost: false, known: [None; 2] };
        let answers = script.iter().filter(|train| train.forward).map(|train| train.bytes.div_ceil(1460) as u32).sum();
        let mut bench = Bench {
            tcp,
            script: script.to_vec(),
            net,
            trains: Vec::new(),
            scripted: None,
            answers,
            over: false,
            lose: Vec::new(),
            sent: Vec::new(),
            next: None,
            log: String::new(),
        };
        let (_, mut scene) = bench.split();
        let scripted = Scripted::open(owner, [0, 1], &spec, (0, 1), history, None, &mut scene);
        bench.scripted = Some(scripted);
        bench
    }

    fn split(&mut self) -> (Option<&mut Scripted>, Scene<'_>) {
        let scene =
            Scene { script: &self.script, parts: &[], tcp: &self.tcp, net: &mut self.net, trains: &mut self.trains };
        (self.scripted.as_mut(), scene)
    }

    fn execute(&mut self, step: &Step) -> Result<(), String> {
        match *step {
            At(_) if !self.sent.is_empty() => return Err(format!("sent, but not expected: {:?}", self.sent)),
            At(ms) => {
                self.pass(Time::from_millis(ms));
                if let Some((time, said)) = self.sent.iter().find(|(time, _)| *time < self.net.now) {
                    return Err(format!("{said:?} sent on the way, at {} s", time.as_secs_f64()));
                }
            }
            Skip(ms) => {
                self.pass(Time::from_millis(ms));
                self.sent.clear();
            }
            Sends(expected) => {
                let sent: Vec<Said> = self.sent.drain(..).map(|(_, said)| said).collect();
                if sent != expected {
                    return Err(format!("sent {sent:?}"));
                }
            }
            Lose(said) => self.lose.push(said),
        }
        Ok(())
    }

    fn pass(&mut self, end: Time) {
        while let Some(key) = self.next.take().or_else(|| self.net.events.pop()) {
            if key.time() > end {
                self.next = Some(key);
                break;
            }
            self.net.now = key.time();
            if key.kind() != Kind::Lane {
                if let (Some(scripted), mut scene) = self.split() {
                    scripted.on_timer(key.index(), key.kind(), &mut scene);
                }
            } else if let Some(packet) = self.net.arrive(key) {
                if key.index() < 2 { self.on_wire(packet) } else { self.deliver(&packet) }
            }
        }
        self.net.now = end;
    }

    /// A host has just sent `packet`.
    fn on_wire(&mut self, packet: Packet) {
        let said = self.said(&packet);
        let lost = self.lose.iter().position(|&given| given == said).map(|found| self.lose.remove(found)).is_some();
        let forward = packet.flow.direction() == Direction::Forward;
        let (arrow, fate) = (if forward { "->" } else { "<-" }, if lost { " lost" } else { "" });
        writeln!(self.log, "    {:9.3} {arrow} {said:?}{fate}", self.net.now.as_secs_f64()).expect("strings grow");
        self.sent.push((self.net.now, said));
        if lost {
            self.net.options.release(packet.options);
        } else {
            self.net.send(if forward { 2 } else { 3 }, packet);
        }
    }

    fn deliver(&mut self, packet: &Packet) {
        let handle = Handle::unpack(packet.handle);
        let forward = packet.flow.direction() == Direction::Forward;
        if !self.over {
            let (Some(scripted), mut scene) = self.split() else { return };
            let at_receiver = forward == (handle.slot == 0);
            let life = scripted.on_packet(handle.slot, at_receiver, handle, packet.options, false, &mut scene);
            self.net.options.release(packet.options);
            if life == Life::Over {
                self.over = true;
                let mut record = FlowRecord::default();
                let tcp = self.tcp.clone();
                self.split().0.expect("open").close(&mut record, &tcp);
            }
        } else {
            self.net.options.release(packet.options);
        }
    }

    fn said(&mut self, packet: &Packet) -> Said {
        let Handle { slot, mark, number, .. } = Handle::unpack(packet.handle);
        let riding = self.net.options.of(packet.options).map_or(0, |options| options.ack);
        let forward = packet.flow.direction() == Direction::Forward;
        match (slot, forward, mark) {
            (0, true, Mark::Plain) if number == 0 => Accept,
            (0, true, Mark::Plain) if number > self.answers => Fin,
            (0, true, Mark::Plain) => Answer(number, riding),
            (0, true, _) => Bare,
            (0, false, Mark::Plain) => ClientAck(number),
            (0, false, Mark::Close) => FinAck,
            (0, false, Mark::Open) => Open,
            (_, false, _) => Ask(number, riding),
            (_, true, _) => ServerAck(number),
        }
    }
}

const SET_UP: [Step; 5] = [At(0), Sends(&[Open]), At(50), Sends(&[Accept]), At(100)];

/// `SET_UP` and `steps`.
fn then(steps: &[Step]) -> Vec<Step> {
    SET_UP.iter().chain(steps).copied().collect()
}

#[test]
fn acknowledgements_ride_on_the_answer_and_on_the_next_request() {
    let script = [train(false, 400, 0, 0), answer(3, 20), train(false, 400, 30, 0), answer(1, 20)];
    let steps = then(&[
        Sends(&[ClientAck(1), Ask(1, 1)]),
        // The request waits for its acknowledgement no longer than the server thinks.
        At(170),
        Sends(&[Answer(1, 2), Answer(2, 2)]),
        // The second segment is acknowledged at once, the third with the next request, 30 ms later.
        At(220),
        Sends(&[ClientAck(3)]),
        At(270),
        Sends(&[Answer(3, 2)]),
        At(350),
        Sends(&[Ask(2, 4)]),
        // FIN follows the last answer; a FIN is answered at once.
        At(420),
        Sends(&[Answer(4, 3), Fin]),
        At(470),
        Sends(&[FinAck]),
        At(520),
        Sends(&[Bare]),
        At(5000),
    ]);
    play(&script, false, |_| {}, &steps);
}

#[test]
fn an_acknowledgement_goes_alone_when_the_answer_takes_longer_than_the_delay() {
    let script = [train(false, 400, 0, 0), answer(1, 250), train(false, 400, 250, 0), answer(1, 0)];
    let steps = then(&[
        Sends(&[ClientAck(1), Ask(1, 1)]),
        At(350),
        Sends(&[ServerAck(2)]),
        At(400),
        Sends(&[Answer(1, 2)]),
        At(650),
        Sends(&[ClientAck(2)]),
        At(700),
        Sends(&[Ask(2, 2)]),
        At(750),
        Sends(&[Answer(2, 3), Fin]),
        At(800),
        Sends(&[FinAck]),
        At(850),
        Sends(&[Bare]),
    ]);
    play(&script, false, |_| {}, &steps);
}

/// The answer to a second request, 5 s after the first, whose four segments have opened the window to 6.
fn after_a_pause(restart_after_idle: bool, second_answer: &[Step]) {
    let script = [train(false, 400, 0, 0), answer(4, 0), train(false, 400, 5000, 0), answer(5, 0)];
    let mut steps = then(&[
        Sends(&[ClientAck(1), Ask(1, 1)]),
        At(150),
        Sends(&[ServerAck(2), Answer(1, 2), Answer(2, 2)]),
        At(200),
        Sends(&[ClientAck(2), ClientAck(3)]),
        At(250),
        Sends(&[Answer(3, 2), Answer(4, 2)]),
        At(300),
        Sends(&[ClientAck(4), ClientAck(5)]),
        At(5300),
        Sends(&[Ask(2, 5)]),
        At(5350),
    ]);
    steps.extend(second_answer);
    play(&script, restart_after_idle, |tcp| tcp.delayed_ack = Time::ZERO, &steps);
}

#[test]
fn after_a_think_time_the_window_is_that_of_before() {
    after_a_pause(
        false,
        &[
            Sends(&[ServerAck(3), Answer(5, 3), Answer(6, 3), Answer(7, 3), Answer(8, 3), Answer(9, 3), Fin]),
            Skip(9000),
        ],
    );
}

#[test]
fn after_a_think_time_the_window_is_the_initial_one_where_idle_ends_restart() {
    after_a_pause(
        true,
        &[
            Sends(&[ServerAck(3), Answer(5, 3), Answer(6, 3)]),
            At(5400),
            Sends(&[ClientAck(6), ClientAck(7)]),
            At(5450),
            Sends(&[Answer(7, 3), Answer(8, 3), Answer(9, 3), Fin]),
            Skip(9000),
        ],
    );
}

#[test]
fn the_segments_of_a_paced_train_leave_at_their_pace_while_the_window_allows() {
    let script = [train(false, 400, 0, 0), train(true, 5 * 1460, 10, 30)];
    let steps = then(&[
        Sends(&[ClientAck(1), Ask(1, 1)]),
        At(160),
        Sends(&[Answer(1, 2)]),
        At(190),
        Sends(&[Answer(2, 2)]),
        // The window of 2 is out: segments 3 and 4 have been handed over and wait.
        At(240),
        Sends(&[ClientAck(3)]),
        At(290),
        Sends(&[Answer(3, 2), Answer(4, 2), Answer(5, 2)]),
        Skip(9000),
    ]);
    // The last segment was handed over at 280 ms, and the FIN with it: the window of 3 has no room for that.
    play(&script, false, |_| {}, &steps);
    let wide = then(&[
        Sends(&[ClientAck(1), Ask(1, 1)]),
        At(160),
        Sends(&[Answer(1, 2)]),
        At(190),
        Sends(&[Answer(2, 2)]),
        At(220),
        Sends(&[Answer(3, 2)]),
        At(240),
        Sends(&[ClientAck(3)]),
        At(250),
        Sends(&[Answer(4, 2)]),
        At(280),
        Sends(&[Answer(5, 2), Fin]),
        Skip(9000),
    ]);
    play(&script, false, |tcp| tcp.initial_window = 10, &wide);
}

#[test]
fn the_client_begins_with_one_segment_after_a_lost_syn() {
    let steps = [
        Lose(Open),
        At(0),
        Sends(&[Open]),
        At(3000),
        Sends(&[Open]),
        At(3050),
        Sends(&[Accept]),
        At(3100),
        Sends(&[ClientAck(1), Ask(1, 1)]),
        Skip(9000),
    ];
    play(&[ask(3, 0), answer(3, 0)], false, |_| {}, &steps);
}

#[test]
fn both_ends_begin_with_one_segment_after_a_lost_syn_ack() {
    let steps = [
        Lose(Accept),
        At(0),
        Sends(&[Open]),
        At(50),
        Sends(&[Accept]),
        At(3000),
        Sends(&[Open]),
        // The server's own timer goes off when the SYN comes again.
        At(3050),
        Sends(&[Accept, Accept]),
        At(3100),
        Sends(&[ClientAck(1), Ask(1, 1), ClientAck(1)]),
        At(3150),
        Sends(&[ServerAck(2)]),
        At(3200),
        Sends(&[Ask(2, 1), Ask(3, 1)]),
        At(3250),
        Sends(&[ServerAck(3), ServerAck(4), Answer(1, 4)]),
        At(3300),
        Sends(&[ClientAck(2)]),
        At(3350),
        Sends(&[Answer(2, 4), Answer(3, 4)]),
        Skip(9000),
    ];
    play(&[ask(3, 0), answer(3, 0)], false, |tcp| tcp.delayed_ack = Time::ZERO, &steps);
}

#[test]
fn a_server_that_speaks_first_waits_for_the_answer_to_its_syn() {
    let script = [train(true, 80, 0, 0), train(false, 40, 0, 0), train(true, 60, 0, 0)];
    let steps = then(&[
        Sends(&[ClientAck(1)]),
        At(150),
        Sends(&[Answer(1, 1)]),
        At(200),
        Sends(&[Ask(1, 2)]),
        At(250),
        Sends(&[Answer(2, 2), Fin]),
        At(300),
        Sends(&[FinAck]),
        At(350),
        Sends(&[Bare]),
        At(5000),
    ]);
    play(&script, false, |_| {}, &steps);
    // When that is lost the server repeats its SYN-ACK.
    let mut lost = vec![Lose(ClientAck(1))];
    lost.extend(then(&[
        Sends(&[ClientAck(1)]),
        At(3050),
        Sends(&[Accept]),
        At(3100),
        Sends(&[ClientAck(1)]),
        At(3150),
        Sends(&[Answer(1, 1)]),
        Skip(9000),
    ]));
    play(&script, false, |_| {}, &lost);
}
