//! Runs of a stream: flows come from a feed one by one, and their records leave as soon as nothing of them is under way.
//!
//! Principle: the run is that of a list, event by event. What a list has by place in it (record, counters of the books,
//! the flow itself) a stream has by row ([`crate::out::rows`]), so that memory follows the flows that are there. Cost: two
//! loads per packet, and per flow a call of the feed and one of the sink.

use units::Time;

use super::{Control, Sim};
use crate::config::Run;
use crate::error::ConfigError;
use crate::event::{Events, Kind};
use crate::flow::FlowSpec;
use crate::out::accounting::Ledger;
use crate::out::queue_delay::QueueDelay;
use crate::out::records::{FlowRecord, Output};

/// Where the flows of a stream come from, ascending by start.
pub trait Feed {
    /// The next flow; none after the last.
    ///
    /// # Errors
    /// Why there is no answer, in one line.
    fn next_flow(&mut self) -> Result<Option<FlowSpec>, String>;
}

/// Who is told of the flows of a stream that are over.
pub trait Sink {
    /// Flow `place` of the stream, from 0, is over, or the run is: its record.
    ///
    /// # Errors
    /// Why it could not be taken, in one line.
    fn take(&mut self, place: u32, flow: &FlowSpec, record: &FlowRecord) -> Result<(), String>;
}

impl<I: Iterator<Item = FlowSpec>> Feed for I {
    fn next_flow(&mut self) -> Result<Option<FlowSpec>, String> {
        Ok(self.next())
    }
}

/// Runs the flows of `feed` on a dumbbell with so many hosts on its sides, those that send down first.
///
/// The output is that of a list with these flows, without the records, which `sink` is given: those of flows that are
/// over in the order in which the last of their packets ended, then those of the others in the order of the feed. Flows
/// that start after the end of the run are not asked for, but for the first.
///
/// # Errors
/// As [`super::run`]; a network or a flow that streams do not have; what feed or sink say.
pub fn run_streamed(
    run: &Run,
    hosts: [u32; 2],
    feed: &mut dyn Feed,
    sink: &mut dyn Sink,
    control: &Control,
) -> Result<Output, ConfigError> {
    run.check(&[])?;
    check(run, hosts)?;
    let run = &*run.with_room();
    let last = FlowSpec { src: hosts[0] - 1, dst: hosts[1] - 1, ..FlowSpec::default() };
    let mut sim = Sim::set_up_between(run, &[], &[last])?;
    sim.net.ledger = Ledger::of_stream();
    let mut streamed = Streamed {
        feed,
        sink,
        hosts,
        next: None,
        specs: Vec::new(),
        begun: 0,
        before: Time::ZERO,
        waits: QueueDelay::default(),
        failed: None,
    };
    streamed.schedule_next(run, Time::ZERO, &mut sim.net.events);
    streamed.failed.take().map_or(Ok(()), Err)?;
    sim.streamed = Some(Box::new(streamed));
    sim.handle_events(control)?;
    sim.finish()
}

/// # Errors
/// What belongs to single flows of a list, or grows with their number.
fn check(run: &Run, hosts: [u32; 2]) -> Result<(), ConfigError> {
    let shaping = &run.network.shaping;
    let refused = [
        (run.graph.is_some() || run.wlan.is_some() || run.tree.is_some(), "a graph, a cell or a tree"),
        (shaping.forward.is_some() || shaping.reverse.is_some() || shaping.controller.is_some(), "a shaper"),
        (run.trace_drops || run.subflows || !run.traced.is_empty(), "traces and sub-flows"),
        (!run.watched.is_empty(), "flows whose progress is sampled"),
        (!run.probes.is_empty() || !run.applications.is_empty(), "probes and applications"),
        (!run.counting.classes.is_empty() || !run.counting.nonresponsive.is_empty(), "classes of flows"),
        (run.tcp.recovery.is_quic() || run.transports.iter().any(|own| own.tcp.recovery.is_quic()), "QUIC"),
        (hosts.iter().any(|&count| count == 0 || count > 1 << 24), "sides without hosts, or of more than 16777216"),
    ];
    match refused.into_iter().find(|(given, _)| *given) {
        Some((_, what)) => Err(ConfigError::Stream(format!("a stream of flows: must be without {what}"))),
        None => Ok(()),
    }
}

/// What a run of a stream has beside that of a list.
pub(super) struct Streamed<'a> {
    feed: &'a mut dyn Feed,
    sink: &'a mut dyn Sink,
    hosts: [u32; 2],
    /// The flow that starts next; none when there is none, or after the end of the run.
    next: Option<FlowSpec>,
    /// By row.
    specs: Vec<FlowSpec>,
    /// Flows that have begun.
    begun: u32,
    before: Time,
    /// Of the flows that are gone.
    waits: QueueDelay,
    /// Why the run cannot go on.
    failed: Option<ConfigError>,
}

impl Streamed<'_> {
    /// Asks for the next flow, and schedules its start.
    fn schedule_next(&mut self, run: &Run, now: Time, events: &mut Events) {
        match self.asked(run) {
            Ok(Some(spec)) => {
                events.schedule(spec.start.max(now), Kind::Start, 0);
                self.next = Some(spec);
            }
            Ok(None) => self.next = None,
            Err(error) => (self.next, self.failed) = (None, Some(error)),
        }
    }

    fn asked(&mut self, run: &Run) -> Result<Option<FlowSpec>, ConfigError> {
        let Some(spec) = self.feed.next_flow().map_err(ConfigError::Stream)? else { return Ok(None) };
        let place = self.begun as usize + usize::from(self.next.is_some());
        let sides = if spec.up { [spec.dst, spec.src] } else { [spec.src, spec.dst] };
        let reason = match () {
            () if spec.start < self.before => "starts before the one listed before it",
            () if spec.udp.is_some() || spec.script.is_some() || spec.application > 0 => {
                "is no plain transfer: a stream must have none but these"
            }
            () if spec.stage.is_some() || spec.after.is_some() => "waits, or others wait for it: must not in a stream",
            () if sides[0] >= self.hosts[0] || sides[1] >= self.hosts[1] => "host the stream does not have",
            () if usize::from(spec.transport) > run.transports.len() => "a transport that is not listed",
            () if place >= u32::MAX as usize => "more than 4294967295 flows",
            () => {
                self.before = spec.start;
                return run.check_flow(place, &spec).map(|()| Some(spec));
            }
        };
        Err(ConfigError::Flow(place, reason))
    }

    /// The flow that starts now and its number; the next one is scheduled.
    pub(super) fn due(&mut self, run: &Run, now: Time, events: &mut Events) -> Option<(usize, FlowSpec)> {
        let due = self.next?;
        self.schedule_next(run, now, events);
        self.begun += 1;
        Some((self.begun as usize - 1, due))
    }

    /// Whether all flows have started.
    pub(super) fn is_dry(&self) -> bool {
        self.next.is_none()
    }

    /// Flow `spec` has `row`.
    pub(super) fn keep(&mut self, row: usize, spec: FlowSpec) {
        if row >= self.specs.len() {
            self.specs.resize(row + 1, FlowSpec::default());
        }
        self.specs[row] = spec;
    }

    pub(super) fn spec(&self, row: usize) -> FlowSpec {
        self.specs[row]
    }

    fn tell(&mut self, flow: u32, row: usize, record: &FlowRecord) -> Result<(), ConfigError> {
        self.waits = self.waits.and(record.queue_delay);
        self.sink.take(flow, &self.specs[row], record).map_err(ConfigError::Stream)
    }
}

impl Sim<'_> {
    /// Gives the records of the flows that are gone to the sink.
    ///
    /// # Errors
    /// Feed or sink failed, or packets of a flow do not add up.
    #[cold]
    pub(super) fn pass_records(&mut self) -> Result<(), ConfigError> {
        let Some(streamed) = &mut self.streamed else { return Ok(()) };
        streamed.failed.take().map_or(Ok(()), Err)?;
        while let Some((flow, row)) = self.net.ledger.gone().map_err(ConfigError::Unbalanced)? {
            streamed.tell(flow, row, &self.out.records[row])?;
            self.out.records[row] = FlowRecord::default();
        }
        Ok(())
    }

    /// Whether there is something for [`Sim::pass_records`] to do.
    #[inline]
    pub(super) fn has_to_pass(&self) -> bool {
        let gone = self.net.ledger.rows.as_ref().is_some_and(|rows| rows.is_any_gone());
        gone || self.streamed.as_ref().is_some_and(|streamed| streamed.failed.is_some())
    }

    /// The flows whose records have not left, and their rows.
    pub(super) fn rest(&self) -> Vec<(u32, usize)> {
        self.net.ledger.rows.as_ref().map(|rows| rows.rest()).unwrap_or_default()
    }

    /// Gives the records of all flows that are left to the sink, at the end of the run.
    ///
    /// # Errors
    /// As of the sink.
    pub(super) fn pass_the_rest(&mut self, rest: Vec<(u32, usize)>) -> Result<(), ConfigError> {
        let Some(streamed) = &mut self.streamed else { return Ok(()) };
        for (flow, row) in rest {
            streamed.tell(flow, row, &self.out.records[row])?;
        }
        self.out.records = Vec::new();
        Ok(())
    }

    /// Waiting times of the flows that are gone.
    pub(super) fn waits_of_gone(&self) -> QueueDelay {
        self.streamed.as_ref().map_or_else(QueueDelay::default, |streamed| streamed.waits)
    }
}
