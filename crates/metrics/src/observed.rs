//! What one run has for its users to feel, taken out of it once: several runs of a discipline are measured as one.

use netsim::ProbePacket;

use crate::busy::Busy;
use crate::conference::{self, Stills};
use crate::context::{FactsError, ProbeName};
use crate::film::{self, Segment};
use crate::games::{self, Lags};
use crate::over_time::{Course, OverTime};
use crate::pages;
use crate::playout::Pair;
use crate::run_view::Ran;
use crate::speech;
use crate::stream::{self, Film};
use crate::streams::{self, Stream};
use crate::transfers::{self, Transfer};

/// What one run has for its users to feel. It holds no more of the run than the figures take.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    pub(crate) transfers: Vec<Transfer>,
    /// Whether the list has a transfer above 1 MB, be it begun or not.
    pub(crate) brings_long: bool,
    pub(crate) pings: Vec<ProbePacket>,
    pub(crate) busy: Busy,
    pub(crate) captured_calls: Vec<Pair>,
    pub(crate) workload_calls: Vec<Pair>,
    pub(crate) synthetic_call: Pair,
    pub(crate) pages: pages::Found,
    pub(crate) captured_films: Vec<Film>,
    /// With their groups.
    pub(crate) workload_films: Vec<(u32, Vec<Segment>)>,
    pub(crate) streams: Vec<Stream>,
    pub(crate) conferences: Vec<Stills>,
    pub(crate) games: Vec<Lags>,
    pub(crate) course: Course,
}

impl Observed {
    /// # Errors
    /// Facts that do not fit the flows.
    pub fn of(ran: &Ran<'_>) -> Result<Observed, FactsError> {
        ran.check()?;
        let streaming = streams::streaming(ran);
        Ok(Observed {
            transfers: transfers::transfers(ran),
            brings_long: ran.brings_long(),
            pings: ran.probe(ProbeName::Ping).copied().collect(),
            busy: Busy::of(ran.output),
            captured_calls: speech::of_capture(ran),
            workload_calls: speech::of_workload(ran),
            synthetic_call: speech::synthetic(ran),
            pages: pages::of_run(ran),
            captured_films: stream::of_run(ran),
            workload_films: film::of_run(ran),
            streams: streams::of_run(ran, &streaming),
            conferences: conference::of_run(&streaming, ran.span_s().1),
            games: games::of_run(&streaming),
            course: Course::of(ran.run, ran.output),
        })
    }

    /// The run over time up to `until_s`, seconds; `None` of a link that varies, of a network that is no link, and of a run
    /// that was not looked at by the second.
    pub fn over_time(&self, until_s: f64) -> Option<OverTime> {
        self.course.over_time(&self.pings, until_s)
    }
}
