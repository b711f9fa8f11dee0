//! Shapers in trees, as settings.

use netsim::{CircuitQueue, ConfigError, Share, Tree, TreeClass};
use qdisc::Limit;
use serde::Deserialize;
use units::{BitRate, Time};

/// A shaper in place of the bottleneck link.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeSettings {
    classes: Vec<ClassSettings>,
    circuit_of: Vec<Option<u32>>,
    bin_ns: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassSettings {
    name: String,
    parent: Option<u32>,
    down: ShareSettings,
    up: ShareSettings,
    queues: Option<[QueueSettings; 2]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShareSettings {
    rate_bps: u64,
    ceil_bps: u64,
    burst: Option<u64>,
    cburst: Option<u64>,
    quantum: Option<u32>,
    prio: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueueSettings {
    discipline: (String, Vec<(String, String)>),
    limit: Limit,
}

impl TreeSettings {
    /// # Errors
    /// A rate of 0.
    pub(crate) fn into_tree(self) -> Result<Tree, ConfigError> {
        let classes = self.classes.into_iter().map(ClassSettings::into_class).collect::<Result<_, _>>()?;
        Ok(Tree { classes, circuit_of: self.circuit_of, bin: Time(self.bin_ns) })
    }
}

impl ClassSettings {
    fn into_class(self) -> Result<TreeClass, ConfigError> {
        let queue = |queue: QueueSettings| CircuitQueue { discipline: queue.discipline, limit: queue.limit };
        let (down, up) = (self.down.into_share()?, self.up.into_share()?);
        Ok(TreeClass {
            name: self.name,
            parent: self.parent,
            down,
            up,
            queues: self.queues.map(|both| both.map(queue)),
        })
    }
}

impl ShareSettings {
    fn into_share(self) -> Result<Share, ConfigError> {
        let rate =
            |bps| BitRate::from_bps(bps).ok_or_else(|| ConfigError::Value("rate_bps", "0".into(), "at least 1 bit/s"));
        let (rate, ceil) = (rate(self.rate_bps)?, rate(self.ceil_bps)?);
        Ok(Share { rate, ceil, burst: self.burst, cburst: self.cburst, quantum: self.quantum, prio: self.prio })
    }
}
