use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use units::Time;

/// What a discipline goes by when it chooses the next packet, or the one to drop: the groups of lists
/// and reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Order of arrival, no choice of victims.
    Plain,
    /// What a flow has sent, or has left to send.
    SizeBased,
    /// Equal shares of flows or hosts.
    FairQueueing,
    /// Length or delay of one queue.
    QueueManagement,
}

impl Family {
    /// Name in lists and reports.
    pub fn name(self) -> &'static str {
        match self {
            Family::Plain => "plain",
            Family::SizeBased => "size-based",
            Family::FairQueueing => "fair queueing",
            Family::QueueManagement => "queue management",
        }
    }
}

impl Serialize for Family {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Where a discipline can run, beside the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunsOn {
    /// In Linux as it comes.
    Kernel {
        /// Its name for tc.
        qdisc: &'static str,
        /// The first release of Linux that has it; empty where every kernel in use does.
        since: &'static str,
    },
    /// In Linux with a module of this project (`kernel/`).
    Module {
        /// Its name for tc, which is that of the module without `sch_`.
        qdisc: &'static str,
        /// Options of tc that make the module this discipline.
        options: &'static str,
        /// Whether there is a BPF qdisc of it, too.
        bpf: bool,
    },
    /// In the simulator only: nobody has written it for a kernel.
    Simulation,
    /// In the simulator only, for good: it knows what no queue can know, and bounds what others can reach.
    Bound,
}

impl RunsOn {
    /// Names of the places in lists and summaries.
    pub fn places(self) -> &'static [&'static str] {
        match self {
            RunsOn::Kernel { .. } => &["kernel"],
            RunsOn::Module { bpf: false, .. } => &["module"],
            RunsOn::Module { bpf: true, .. } => &["module", "bpf"],
            RunsOn::Simulation => &["simulation"],
            RunsOn::Bound => &["bound"],
        }
    }
}

impl Serialize for RunsOn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (qdisc, options, since) = match *self {
            RunsOn::Kernel { qdisc, since } => (qdisc, "", since),
            RunsOn::Module { qdisc, options, .. } => (qdisc, options, ""),
            RunsOn::Simulation | RunsOn::Bound => ("", "", ""),
        };
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("places", self.places())?;
        map.serialize_entry("qdisc", qdisc)?;
        map.serialize_entry("options", options)?;
        map.serialize_entry("since", since)?;
        map.end()
    }
}

/// Static description of a discipline: everything lists, help texts and reports say about it.
#[derive(Debug, Serialize)]
pub struct Spec {
    /// Id on the command line and in tables.
    pub id: &'static str,
    /// Group in lists and reports.
    pub family: Family,
    /// One-line description.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Which packet goes when the buffer is full.
    pub when_full: &'static str,
    /// Whether a packet may wait while the link idles.
    pub time_driven: bool,
    /// Whether packets of one flow leave in the order they came.
    pub keeps_flow_order: bool,
    /// Where it can run, beside the simulator.
    pub runs_on: RunsOn,
    /// Parameters.
    pub params: &'static [Param],
}

/// One parameter of a discipline.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Param {
    /// Name on the command line and in scenario files.
    pub name: &'static str,
    /// Unit of a number; empty for a choice.
    pub unit: &'static str,
    /// Meaning, with the symbol of the paper.
    pub about: &'static str,
    /// Default and bounds.
    #[serde(flatten)]
    pub value: Value,
}

/// Default and bounds of a parameter.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number in `[min, max]`.
    Number {
        /// Default.
        default: f64,
        /// Smallest value taken.
        min: f64,
        /// Largest value taken.
        max: f64,
    },
    /// A whole number in `[min, max]`.
    Whole {
        /// Default.
        default: u64,
        /// Smallest value taken.
        min: u64,
        /// Largest value taken.
        max: u64,
    },
    /// Ascending numbers in `[min, max]`, written with colons between them: `10000:100000`.
    Numbers {
        /// Default.
        default: &'static [f64],
        /// Smallest value taken.
        min: f64,
        /// Largest value taken.
        max: f64,
        /// Longest list taken; the shortest has one number.
        most: usize,
    },
    /// One of a few words; the first is the default.
    #[serde(serialize_with = "choices")]
    Choice(&'static [&'static str]),
}

/// The words, and the first of them as the default.
fn choices<S: Serializer>(words: &&'static [&'static str], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(2))?;
    map.serialize_entry("default", words[0])?;
    map.serialize_entry("choices", words)?;
    map.end()
}

/// Why a queue could not be set up.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionError {
    /// No discipline of that id; holds the id and the ids there are.
    UnknownDiscipline(String, String),
    /// No such parameter; holds discipline, name and the names there are.
    UnknownParam(&'static str, String, String),
    /// A value that is not a number, out of bounds or at odds with another; holds parameter, value
    /// and what is taken.
    BadValue(&'static str, String, String),
    /// A buffer limit of zero.
    ZeroLimit,
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::UnknownDiscipline(id, known) => write!(f, "unknown discipline '{id}': choose from {known}"),
            OptionError::UnknownParam(id, name, known) if known.is_empty() => {
                write!(f, "{id} has no option '{name}': it takes none")
            }
            OptionError::UnknownParam(id, name, known) => {
                write!(f, "{id} has no option '{name}': choose from {known}")
            }
            OptionError::BadValue(name, value, bounds) => write!(f, "{name} = '{value}': must be {bounds}"),
            OptionError::ZeroLimit => write!(f, "buffer limit 0: must be at least 1 packet or 1 byte"),
        }
    }
}

impl std::error::Error for OptionError {}

/// Options of one discipline, checked against its [`Spec`], defaults filled in.
#[derive(Debug)]
pub struct Options {
    values: Vec<(&'static str, Given)>,
    given: Vec<&'static str>,
}

#[derive(Debug)]
enum Given {
    Number(f64),
    Whole(u64),
    Numbers(Vec<f64>),
    Choice(&'static str),
}

impl Param {
    /// The value `text` stands for, the default when it is not given.
    fn read(&self, text: Option<&str>) -> Result<Given, OptionError> {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        let refuse = |what: String| OptionError::BadValue(self.name, text.unwrap_or_default().to_owned(), what);
        match self.value {
            Value::Number { default, min, max } => {
                let number = text.map_or(Ok(default), str::parse);
                let number = number.ok().filter(|number| (min..=max).contains(number));
                number.map(Given::Number).ok_or_else(|| refuse(format!("a number from {min} to {max}{unit}")))
            }
            Value::Whole { default, min, max } => {
                let number = text.map_or(Some(default), whole);
                let number = number.filter(|number| (min..=max).contains(number));
                number.map(Given::Whole).ok_or_else(|| refuse(format!("a whole number from {min} to {max}{unit}")))
            }
            Value::Numbers { default, min, max, most } => {
                let read = |text: &str| text.split(':').map(|part| part.trim().parse().ok()).collect();
                let numbers: Option<Vec<f64>> = text.map_or_else(|| Some(default.to_vec()), read);
                let fits = |numbers: &Vec<f64>| {
                    let ascend = numbers.windows(2).all(|pair| pair[0] < pair[1]);
                    numbers.len() <= most && ascend && numbers.iter().all(|number| (min..=max).contains(number))
                };
                let what = || format!("1 to {most} ascending numbers from {min} to {max}{unit}, such as 1:2");
                numbers.filter(fits).map(Given::Numbers).ok_or_else(|| refuse(what()))
            }
            Value::Choice(words) => {
                let word = text.map_or(Some(&words[0]), |text| words.iter().find(|word| **word == text));
                word.map(|word| Given::Choice(word)).ok_or_else(|| refuse(format!("one of {}", words.join(", "))))
            }
        }
    }
}

/// A whole number, also one written as `1e6` or `300.0`.
fn whole(text: &str) -> Option<u64> {
    let number = || text.parse().ok().filter(|n: &f64| n.fract() == 0.0 && (0.0..1.8e19).contains(n));
    text.parse().ok().or_else(|| number().map(|n| n as u64))
}

impl Options {
    /// Checks `given` (name, value) against `spec` and fills in the defaults.
    ///
    /// # Errors
    /// An unknown name, or a value that is not a number or out of bounds. Never clamps.
    pub fn parse(spec: &'static Spec, given: &[(String, String)]) -> Result<Options, OptionError> {
        if let Some((name, _)) = given.iter().find(|(name, _)| spec.params.iter().all(|p| p.name != name)) {
            let known: Vec<_> = spec.params.iter().map(|p| p.name).collect();
            return Err(OptionError::UnknownParam(spec.id, name.clone(), known.join(", ")));
        }
        let text = |param: &Param| given.iter().rev().find(|(name, _)| name == param.name).map(|(_, text)| &**text);
        let read = |param: &'static Param| Ok((param.name, param.read(text(param))?));
        let given = spec.params.iter().filter(|param| text(param).is_some()).map(|param| param.name).collect();
        Ok(Options { values: spec.params.iter().map(read).collect::<Result<_, OptionError>>()?, given })
    }

    fn value(&self, name: &str) -> &Given {
        self.values.iter().find(|(n, _)| *n == name).map(|(_, value)| value).expect("declared in SPEC")
    }

    /// Whether `name` was given, be it with its default.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.contains(&name)
    }

    /// Value of the number `name`.
    ///
    /// # Panics
    /// When the spec has no such number: a mistake in the discipline's own file.
    pub fn number(&self, name: &str) -> f64 {
        let Given::Number(number) = *self.value(name) else { panic!("{name} is not a number") };
        number
    }

    /// Value of the number of seconds `name`, as a time.
    ///
    /// # Panics
    /// When the spec has no such number, or lets it be negative.
    pub fn time(&self, name: &str) -> Time {
        Time::from_secs_f64(self.number(name)).expect("within the bounds of SPEC")
    }

    /// Value of the whole number `name`.
    ///
    /// # Panics
    /// When the spec has no such whole number.
    pub fn whole(&self, name: &str) -> u64 {
        let Given::Whole(number) = *self.value(name) else { panic!("{name} is not a whole number") };
        number
    }

    /// Value of the list of numbers `name`, ascending.
    ///
    /// # Panics
    /// When the spec has no such list.
    pub fn numbers(&self, name: &str) -> &[f64] {
        let Given::Numbers(numbers) = self.value(name) else { panic!("{name} is not a list of numbers") };
        numbers
    }

    /// Value of the choice `name`.
    ///
    /// # Panics
    /// When the spec has no such choice: a mistake in the discipline's own file.
    pub fn choice(&self, name: &str) -> &'static str {
        let Given::Choice(word) = *self.value(name) else { panic!("{name} is not a choice") };
        word
    }

    /// Refuses the value of `name`, which is within its bounds but does not go together with others:
    /// "must be `bound`".
    pub fn refuse(&self, name: &'static str, bound: &str) -> OptionError {
        let text = match self.value(name) {
            Given::Number(number) => number.to_string(),
            Given::Whole(number) => number.to_string(),
            Given::Numbers(numbers) => numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(":"),
            Given::Choice(word) => (*word).to_owned(),
        };
        OptionError::BadValue(name, text, bound.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static SPEC: Spec = Spec {
        id: "example",
        family: Family::Plain,
        about: "",
        source: "",
        when_full: "",
        time_driven: false,
        keeps_flow_order: true,
        runs_on: RunsOn::Simulation,
        params: &[
            Param {
                name: "threshold",
                unit: "bytes",
                about: "",
                value: Value::Number { default: 30_000.0, min: 1.0, max: 1e9 },
            },
            Param { name: "high", unit: "", about: "", value: Value::Choice(&["fifo", "las"]) },
            Param { name: "flows", unit: "queues", about: "", value: Value::Whole { default: 8, min: 1, max: 64 } },
            Param {
                name: "levels",
                unit: "bytes",
                about: "",
                value: Value::Numbers { default: &[10.0, 20.0], min: 1.0, max: 100.0, most: 3 },
            },
        ],
    };

    fn parse(name: &str, value: &str) -> Result<Options, String> {
        Options::parse(&SPEC, &[(name.to_owned(), value.to_owned())]).map_err(|e| e.to_string())
    }

    #[test]
    fn defaults_fill_what_is_not_given() {
        let options = parse("high", "las").expect("valid");
        assert_eq!(options.number("threshold"), 30_000.0);
        assert_eq!(options.choice("high"), "las");
        assert_eq!((options.whole("flows"), options.numbers("levels")), (8, &[10.0, 20.0][..]));
    }

    #[test]
    fn whole_numbers_and_lists_are_read_as_people_write_them() {
        for text in ["64", "64.0", "6.4e1"] {
            assert_eq!(parse("flows", text).expect("valid").whole("flows"), 64);
        }
        assert_eq!(parse("levels", "5: 6e0 :7").expect("valid").numbers("levels"), [5.0, 6.0, 7.0]);
    }

    #[test]
    fn errors_name_the_value_and_the_bound() {
        let message = |name, value| parse(name, value).map(|_| ()).expect_err("refused");
        assert_eq!(message("threshold", "0"), "threshold = '0': must be a number from 1 to 1000000000 bytes");
        assert_eq!(message("threshold", "NaN"), "threshold = 'NaN': must be a number from 1 to 1000000000 bytes");
        assert_eq!(message("high", "srpt"), "high = 'srpt': must be one of fifo, las");
        assert_eq!(message("flows", "1.5"), "flows = '1.5': must be a whole number from 1 to 64 queues");
        assert_eq!(message("flows", "-1"), "flows = '-1': must be a whole number from 1 to 64 queues");
        let levels = "must be 1 to 3 ascending numbers from 1 to 100 bytes, such as 1:2";
        for value in ["5:4", "5:5", "0:4", "5:101", "1:2:3:4", "", "5:", "a", "1:NaN"] {
            assert_eq!(message("levels", value), format!("levels = '{value}': {levels}"));
        }
        assert_eq!(message("limit", "1"), "example has no option 'limit': choose from threshold, high, flows, levels");
    }
}
