//! What the rule is asked: rows of a summary (`docs/tables.md`) with what the rule reads of them.

use std::collections::BTreeMap;

use qdisc::RunsOn;
use serde::{Deserialize, Deserializer, Serialize};

use crate::recommendation::unknown::Unknown;

/// Disciplines that ran the same workload over one link. The fields are those of `summary.json`, and others are ignored.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Question {
    /// `whatif` of a capture; any other command runs a synthetic workload.
    #[serde(default)]
    pub command: String,
    /// Both directions; `None` for a network that is not one link.
    #[serde(default)]
    pub links: Option<Links>,
    /// Resampled hours.
    #[serde(default)]
    pub hours: u32,
    /// Independent runs.
    #[serde(default = "one")]
    pub replications: u32,
    /// Rates and buffers are guesses, of which three digits say all.
    #[serde(default)]
    pub guessed: bool,
    /// What the replay of a capture cannot say.
    #[serde(default)]
    pub unknown: Option<Unknown>,
    /// What a capture shows of its link next to the traffic.
    #[serde(default)]
    pub framing: Option<Framing>,
    /// In the order in which they were named.
    pub disciplines: Vec<Row>,
    /// Of some of these, by their labels, what the command gives.
    #[serde(default)]
    pub loaded: Vec<LoadedRow>,
}

/// One run of the capture with a discipline where the command puts it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct LoadedRow {
    /// With `resampled` where hours ran there.
    #[serde(flatten)]
    pub row: Row,
    /// Values in the same hours of what is there, at the link; `None` without hours.
    #[serde(default)]
    pub there: Option<Draws>,
}

impl From<Row> for LoadedRow {
    fn from(row: Row) -> LoadedRow {
        LoadedRow { row, there: None }
    }
}

/// What a capture shows of its link, for the words of a command.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Framing {
    /// Bytes that the link has around each packet of IP; 0 where nothing is to be said.
    pub overhead_bytes: u64,
    /// Whether addresses of the near side may be translated on their way.
    pub translated: bool,
}

fn one() -> u32 {
    1
}

/// Both directions of the link.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Links {
    /// Toward the users.
    pub down: Way,
    /// From them.
    pub up: Way,
}

/// One direction of the link.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Way {
    /// Rate, bit/s; the mean where it varies.
    pub rate_bps: f64,
    /// Limit of its queue.
    pub buffer: Buffer,
    /// What is offered to it, as a share of its rate.
    #[serde(default)]
    pub load: Option<f64>,
    /// Whether its rate varies.
    #[serde(default)]
    pub varies: bool,
    /// To what the runs shape it, bit/s; `None` where they do not.
    #[serde(default)]
    pub shaped_bps: Option<f64>,
}

/// Limit of a queue, and its unit.
pub type Buffer = (u64, Unit);

/// What a limit counts.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "BufferUnit"))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
}

/// Values of a criterion in other runs, by its id; null where the value is infinite.
pub type Draws = BTreeMap<String, Vec<Option<f64>>>;

/// One discipline.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Row {
    /// Of the registry.
    pub id: String,
    /// As it was written.
    pub label: String,
    /// Options that are not as they come, by name.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// Flows that finished, and that did not, those without an end among these.
    #[serde(default)]
    pub flows_completed: Option<u64>,
    /// See `flows_completed`.
    #[serde(default)]
    pub flows_unfinished: Option<u64>,
    /// Unfinished flows that have no end.
    #[serde(default)]
    pub flows_endless: Option<u64>,
    /// What users feel.
    #[serde(default)]
    pub users: Option<Users>,
    /// What both queues did.
    #[serde(default)]
    pub links: Option<Queues>,
    /// Datagrams.
    #[serde(default)]
    pub udp: Option<Udp>,
    /// Values in resampled hours, next to those of the capture itself.
    #[serde(default)]
    pub resampled: Option<Draws>,
    /// Values in each of the runs that the row is made of.
    #[serde(default)]
    pub replicated: Option<Draws>,
    /// Whether the kernel's discipline has the options of this one.
    #[serde(default = "yes")]
    pub in_kernel: bool,
}

fn yes() -> bool {
    true
}

/// What users feel: parts of it by their names in the summary, `None` of those without traffic.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Users(BTreeMap<String, Option<Part>>);

impl Users {
    /// A part; `None` where the run has no traffic for it.
    pub fn part(&self, name: &str) -> Option<&Part> {
        self.0.get(name)?.as_ref()
    }

    /// The same with another part.
    pub fn with(mut self, name: &str, part: Part) -> Users {
        self.0.insert(name.to_owned(), Some(part));
        self
    }
}

impl<const N: usize> From<[(&str, Part); N]> for Users {
    fn from(parts: [(&str, Part); N]) -> Users {
        Users(parts.into_iter().map(|(name, part)| (name.to_owned(), Some(part))).collect())
    }
}

/// Figures of one thing that users feel, by their names in the summary, 1 and 0 for what is or is not so; the rest is left
/// out. A percentile is absent where it falls on what never ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Part(BTreeMap<String, f64>);

impl Part {
    /// A figure.
    pub fn get(&self, field: &str) -> Option<f64> {
        self.0.get(field).copied()
    }

    /// How many transfers, pages or pings it is of; `None` where that is not known.
    pub fn count(&self) -> Option<f64> {
        ["flows", "pages", "probes"].into_iter().find_map(|name| self.get(name))
    }
}

impl<const N: usize> From<[(&str, f64); N]> for Part {
    fn from(figures: [(&str, f64); N]) -> Part {
        Part(figures.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Part, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Value {
            Number(f64),
            Flag(bool),
            Other(serde::de::IgnoredAny),
        }
        let all = BTreeMap::<String, Value>::deserialize(from)?;
        let number = |(name, value)| match value {
            Value::Number(number) => Some((name, number)),
            Value::Flag(flag) => Some((name, f64::from(u8::from(flag)))),
            Value::Other(_) => None,
        };
        Ok(Part(all.into_iter().filter_map(number).collect()))
    }
}

/// What the queues of both directions did.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Queues {
    /// Toward the users.
    #[serde(default)]
    pub down: Option<Queue>,
    /// From them.
    #[serde(default)]
    pub up: Option<Queue>,
}

/// What the queue of one direction did.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Queue {
    /// Share of the time for which the link sent.
    #[serde(default)]
    pub utilisation: Option<f64>,
    /// The same in its busiest second.
    #[serde(default)]
    pub peak_utilisation: Option<f64>,
    /// Packets that were dropped.
    #[serde(default)]
    pub drops: Option<u64>,
}

/// Datagrams of the workload.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Udp {
    /// Share that was lost.
    #[serde(default)]
    pub loss: Option<f64>,
}

/// Where a discipline can be switched on, the simplest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// In Linux as it comes.
    Kernel,
    /// With a module of ours.
    Module,
}

impl Row {
    /// Where it runs, by the registry.
    pub(crate) fn runs_on(&self) -> Option<RunsOn> {
        qdisc::disciplines::specs().iter().find(|spec| spec.id == self.id).map(|spec| spec.runs_on)
    }

    /// The simplest place where it can be switched on; `None` of what runs in simulation only, and of bounds.
    pub(crate) fn place(&self) -> Option<Place> {
        match self.runs_on()? {
            RunsOn::Kernel { .. } => Some(Place::Kernel),
            RunsOn::Module { .. } => Some(Place::Module),
            RunsOn::Simulation | RunsOn::Bound => None,
        }
    }

    /// Share of transfers that had not finished at the end, those without an end aside.
    pub(crate) fn unfinished_share(&self) -> Option<f64> {
        let ended = self.flows_completed.unwrap_or(0);
        let open = self.flows_unfinished.unwrap_or(0).saturating_sub(self.flows_endless.unwrap_or(0));
        (ended + open > 0).then(|| open as f64 / (ended + open) as f64)
    }

    /// Both queues, down before up.
    pub(crate) fn queues(&self) -> impl Iterator<Item = (&'static str, &Queue)> {
        let links = self.links.as_ref();
        let down = links.and_then(|links| links.down.as_ref()).map(|queue| ("down", queue));
        let up = links.and_then(|links| links.up.as_ref()).map(|queue| ("up", queue));
        [down, up].into_iter().flatten()
    }

    /// What users feel of one thing.
    pub(crate) fn part(&self, name: &str) -> Option<&Part> {
        self.users.as_ref()?.part(name)
    }
}

impl Question {
    /// Whether there is one run of each discipline alone, which cannot show chance.
    pub(crate) fn is_single(&self) -> bool {
        // One hour next to the run forms no interval.
        self.hours < 2 && self.replications <= 1
    }

    /// Whether it is about a link of its own: a capture, not a synthetic workload.
    pub(crate) fn is_of_a_link(&self) -> bool {
        self.command == "whatif"
    }
}
