use std::fmt;

/// Static description of a discipline: everything lists, help texts and reports say about it.
#[derive(Debug)]
pub struct Spec {
    /// Id on the command line and in tables.
    pub id: &'static str,
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
    /// Parameters.
    pub params: &'static [Param],
}

/// One parameter of a discipline.
#[derive(Debug)]
pub struct Param {
    /// Name on the command line and in scenario files.
    pub name: &'static str,
    /// Unit of a number; empty for a choice.
    pub unit: &'static str,
    /// Meaning, with the symbol of the paper.
    pub about: &'static str,
    /// Default and bounds.
    pub value: Value,
}

/// Default and bounds of a parameter.
#[derive(Debug)]
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
    /// One of a few words; the first is the default.
    Choice(&'static [&'static str]),
}

/// Why a queue could not be set up.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionError {
    /// No discipline of that id; holds the id.
    UnknownDiscipline(String),
    /// No such parameter; holds discipline, name and the names there are.
    UnknownParam(&'static str, String, String),
    /// A value that is not a number, or out of bounds; holds parameter, value and what is taken.
    BadValue(&'static str, String, String),
    /// A buffer limit of zero.
    ZeroLimit,
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::UnknownDiscipline(id) => {
                let known: Vec<_> = crate::registry::specs().iter().map(|spec| spec.id).collect();
                write!(f, "unknown discipline '{id}': choose from {}", known.join(", "))
            }
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
    numbers: Vec<(&'static str, f64)>,
    choices: Vec<(&'static str, &'static str)>,
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
        let mut options = Options { numbers: Vec::new(), choices: Vec::new() };
        for param in spec.params {
            let text = given.iter().rev().find(|(name, _)| name == param.name).map(|(_, text)| text);
            match param.value {
                Value::Number { default, min, max } => {
                    let bad = |text: &String| {
                        let bounds = format!("a number from {min} to {max} {}", param.unit);
                        OptionError::BadValue(param.name, text.clone(), bounds.trim_end().to_owned())
                    };
                    let number = match text {
                        None => default,
                        Some(text) => text.parse::<f64>().map_err(|_| bad(text))?,
                    };
                    if !(min..=max).contains(&number) {
                        return Err(bad(&number.to_string()));
                    }
                    options.numbers.push((param.name, number));
                }
                Value::Choice(words) => {
                    let word = match text {
                        None => words[0],
                        Some(text) => words.iter().find(|word| *word == text).ok_or_else(|| {
                            OptionError::BadValue(param.name, text.clone(), format!("one of {}", words.join(", ")))
                        })?,
                    };
                    options.choices.push((param.name, word));
                }
            }
        }
        Ok(options)
    }

    /// Value of the number `name`.
    ///
    /// # Panics
    /// When the spec has no such number: a mistake in the discipline's own file.
    pub fn number(&self, name: &str) -> f64 {
        self.numbers.iter().find(|(n, _)| *n == name).map(|(_, v)| *v).expect("declared in SPEC")
    }

    /// Value of the choice `name`.
    ///
    /// # Panics
    /// When the spec has no such choice: a mistake in the discipline's own file.
    pub fn choice(&self, name: &str) -> &'static str {
        self.choices.iter().find(|(n, _)| *n == name).map(|(_, v)| *v).expect("declared in SPEC")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static SPEC: Spec = Spec {
        id: "example",
        about: "",
        source: "",
        when_full: "",
        time_driven: false,
        keeps_flow_order: true,
        params: &[
            Param {
                name: "threshold",
                unit: "bytes",
                about: "",
                value: Value::Number { default: 30_000.0, min: 1.0, max: 1e9 },
            },
            Param { name: "high", unit: "", about: "", value: Value::Choice(&["fifo", "las"]) },
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
    }

    #[test]
    fn errors_name_the_value_and_the_bound() {
        let message = |name, value| parse(name, value).map(|_| ()).expect_err("refused");
        assert_eq!(message("threshold", "0"), "threshold = '0': must be a number from 1 to 1000000000 bytes");
        assert_eq!(message("threshold", "NaN"), "threshold = 'NaN': must be a number from 1 to 1000000000 bytes");
        assert_eq!(message("high", "srpt"), "high = 'srpt': must be one of fifo, las");
        assert_eq!(message("limit", "1"), "example has no option 'limit': choose from threshold, high");
    }
}
