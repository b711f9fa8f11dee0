//! Parameters of the estimator.

use std::fmt;

use serde::Serialize;

use crate::number::Number;

/// One parameter: what help texts, bindings and docs say of it.
#[derive(Debug, Serialize)]
pub struct Param {
    /// Name.
    pub name: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Meaning, with the symbol of the paper.
    pub about: &'static str,
    /// Default.
    pub default: f64,
    /// Smallest value taken.
    pub min: f64,
    /// Largest value taken.
    pub max: f64,
}

/// Every parameter beside the link itself, with the defaults of Zhao 2004, II.B and II.C, where it has one.
pub const PARAMS: [Param; 13] = [
    Param {
        name: "rtt",
        unit: "s",
        about: "round-trip time with the queue (R_0); 0: the propagation delay and the mean queue",
        default: 0.0,
        min: 0.0,
        max: 100.0,
    },
    Param {
        name: "sampling",
        unit: "s",
        about: "sampling interval (T), shorter than a round trip; 0: a third of the propagation delay",
        default: 0.0,
        min: 0.0,
        max: 100.0,
    },
    Param {
        name: "per_estimate",
        unit: "sampling intervals",
        about: "estimation interval",
        default: 20.0,
        min: 1.0,
        max: 1e6,
    },
    Param {
        name: "queue_filter",
        unit: "share of the old value",
        about: "forgetting factor of the queue (alpha)",
        default: 0.4,
        min: 0.0,
        max: 0.999,
    },
    Param {
        name: "drop_filter",
        unit: "share of the old value",
        about: "forgetting factor of the drop probability (alpha)",
        default: 0.6,
        min: 0.0,
        max: 0.999,
    },
    Param {
        name: "gamma_1",
        unit: "",
        about: "gain of the adaptation, added to the square of the regressor",
        default: 5.0,
        min: 0.0,
        max: 1e6,
    },
    Param { name: "gamma_2", unit: "", about: "gain of the adaptation, below 2", default: 0.45, min: 1e-4, max: 1.999 },
    Param {
        name: "drop_scale",
        unit: "",
        about: "what a drop probability of 1 counts as in the regressor: 100 for per cent; published methods",
        default: 1.0,
        min: 0.01,
        max: 1e3,
    },
    Param {
        name: "zero_intervals",
        unit: "sampling intervals",
        about: "without a drop until p = 0 is assumed (PZTHD); the paper prints no value",
        default: 3.0,
        min: 1.0,
        max: 1e6,
    },
    Param {
        name: "smoothing",
        unit: "share of the old value",
        about: "forgetting factor of the estimates (Zhao 2004, III.C: 0.975)",
        default: 0.0,
        min: 0.0,
        max: 0.999,
    },
    Param {
        name: "start_share",
        unit: "share",
        about: "share that does not respond, before anything is known",
        default: 0.5,
        min: 0.0,
        max: 0.99,
    },
    Param {
        name: "per_ack",
        unit: "packets",
        about: "packets that an acknowledgement covers (b): 2 with delayed acknowledgements; method response",
        default: 1.0,
        min: 1.0,
        max: 16.0,
    },
    Param {
        name: "start",
        unit: "s",
        about: "before this time only the filters run",
        default: 0.0,
        min: 0.0,
        max: 1e9,
    },
];

/// A parameter that cannot be taken: name, value and what is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigError {
    name: String,
    value: String,
    taken: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: must be {}", self.name, self.value, self.taken)
    }
}

impl std::error::Error for ConfigError {}

/// The link and the parameters, checked.
#[derive(Clone, Debug)]
pub struct Config {
    capacity: f64,
    propagation: f64,
    values: [f64; PARAMS.len()],
}

impl Config {
    /// A link of `capacity` packets per second on paths of `propagation` seconds there and back without queueing;
    /// `given` names some of [`PARAMS`].
    ///
    /// # Errors
    /// An unknown name, or a value that is not a number or out of bounds.
    pub fn with_options(capacity: f64, propagation: f64, given: &[(&str, f64)]) -> Result<Config, ConfigError> {
        let mut config = Config { capacity, propagation, values: PARAMS.map(|param| param.default) };
        bounded("capacity", "packets/s", capacity, 0.1, 1e9)?;
        bounded("propagation", "s", propagation, 1e-5, 100.0)?;
        for &(name, value) in given {
            let Some(place) = PARAMS.iter().position(|param| param.name == name) else {
                let known: Vec<_> = PARAMS.iter().map(|param| param.name).collect();
                let taken = format!("one of {}", known.join(", "));
                return Err(ConfigError { name: "parameter".to_owned(), value: name.to_owned(), taken });
            };
            bounded(name, PARAMS[place].unit, value, PARAMS[place].min, PARAMS[place].max)?;
            config.values[place] = value;
        }
        Ok(config)
    }

    /// Value of the parameter `name`.
    ///
    /// # Panics
    /// There is no such parameter.
    pub fn value(&self, name: &str) -> f64 {
        let place = PARAMS.iter().position(|param| param.name == name);
        self.values[place.expect("a name of PARAMS")]
    }

    /// Round-trip time without queueing, s.
    pub fn propagation_s(&self) -> f64 {
        self.propagation
    }

    /// Sampling interval, s.
    pub fn sampling_s(&self) -> f64 {
        let given = self.value("sampling");
        if given > 0.0 { given } else { self.propagation / 3.0 }
    }

    pub(crate) fn settings<N: Number>(&self) -> Settings<N> {
        let of = |name| N::from_f64(self.value(name));
        Settings {
            capacity: N::from_f64(self.capacity),
            propagation: N::from_f64(self.propagation),
            rtt: of("rtt"),
            per_estimate: self.value("per_estimate").round() as i64,
            queue_filter: of("queue_filter"),
            drop_filter: of("drop_filter"),
            gamma_1: of("gamma_1"),
            gamma_2: of("gamma_2"),
            drop_scale: Some(self.value("drop_scale")).filter(|&scale| scale != 1.0).map(N::from_f64),
            zero_intervals: self.value("zero_intervals").round() as u32,
            smoothing: of("smoothing"),
            start_share: of("start_share"),
            per_ack: of("per_ack"),
        }
    }
}

fn bounded(name: &str, unit: &str, value: f64, min: f64, max: f64) -> Result<(), ConfigError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    let taken = format!("a number from {min} to {max}{unit}");
    Err(ConfigError { name: name.to_owned(), value: value.to_string(), taken })
}

/// The configuration in the arithmetic of the estimator.
#[derive(Clone, Debug)]
pub struct Settings<N> {
    /// C, packets/s.
    pub capacity: N,
    /// T_p, s: there and back without queueing.
    pub propagation: N,
    /// R_0, s; 0: from the mean queue.
    pub rtt: N,
    /// Sampling intervals of an estimation interval.
    pub per_estimate: i64,
    /// Forgetting factor of the queue.
    pub queue_filter: N,
    /// Forgetting factor of the drop probability.
    pub drop_filter: N,
    /// γ₁.
    pub gamma_1: N,
    /// γ₂.
    pub gamma_2: N,
    /// Scale of p in the regressor; none for 1.
    pub drop_scale: Option<N>,
    /// PZTHD.
    pub zero_intervals: u32,
    /// Forgetting factor of the estimates.
    pub smoothing: N,
    /// Share that does not respond at the start.
    pub start_share: N,
    /// b.
    pub per_ack: N,
}
