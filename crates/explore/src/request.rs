//! What is asked for.

use qdisc::Limit;
use serde::{Deserialize, Serialize};

use crate::error::ExploreError;

/// One run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Name of a workload that was loaded or opened.
    pub workload: String,
    /// The bottleneck.
    pub link: LinkRequest,
    /// Of the bottleneck queue.
    pub discipline: Discipline,
    /// Of all that is random in the run; that of the workload when absent.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Who joins in.
    #[serde(default)]
    pub attack: Option<Attack>,
    /// The packets of this part of the run are wanted too.
    #[serde(default)]
    pub inside: Option<Inside>,
    /// The discipline is where the command of the recommendation puts it; at the link itself when absent.
    #[serde(default)]
    pub as_loaded: Option<AsLoaded>,
}

/// A router behind the link that shapes both directions to a little less than its rates.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AsLoaded {
    /// To what the router shapes what arrives, behind the queue of the link, bit/s.
    pub down_bps: u64,
    /// To what it shapes what is sent, before the queue of the link, bit/s.
    pub up_bps: u64,
    /// Whether ping and call are of the busy seconds, as in the runs at the link; decided by this run when null.
    #[serde(default)]
    pub while_busy: Option<bool>,
}

/// A bottleneck link.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LinkRequest {
    /// Speed, bit/s.
    pub rate_bps: u64,
    /// Speed of the way up; as `rate_bps` when null.
    #[serde(default)]
    pub reverse_rate_bps: Option<u64>,
    /// Limit of the queue of either way.
    pub buffer: Limit,
    /// Limit of the queue of the way up; as `buffer` when null.
    #[serde(default)]
    pub reverse_buffer: Option<Limit>,
    /// Round-trip time without queueing, s; that of the workload when null.
    #[serde(default)]
    pub rtt_s: Option<f64>,
}

/// A discipline, with the options that are not as they come.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Discipline {
    /// Of the registry.
    pub id: String,
    /// By name, as text.
    #[serde(default)]
    pub options: serde_json::Map<String, serde_json::Value>,
}

/// Somebody who bends his traffic to the scheduler.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attack {
    /// Id of a row of the registry of attacks.
    pub kind: String,
    /// Of UDP on the wire, bit/s; of no effect on a split transfer.
    pub rate_bps: u64,
    /// Over which a transfer is split; of no effect on UDP.
    pub connections: u32,
}

/// Part of a run that is shown packet by packet.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inside {
    /// From when on, s.
    pub from_s: f64,
    /// Until when, s.
    pub to_s: f64,
}

const RATES_BPS: std::ops::RangeInclusive<u64> = 8_000..=100_000_000_000;
const RTTS_S: std::ops::RangeInclusive<f64> = 1e-4..=10.0;

impl Request {
    /// # Errors
    /// A value out of its bounds.
    pub fn check(&self) -> Result<(), ExploreError> {
        let link = &self.link;
        let rates = [
            ("link.rate_bps", Some(link.rate_bps)),
            ("link.reverse_rate_bps", link.reverse_rate_bps),
            ("as_loaded.down_bps", self.as_loaded.map(|loaded| loaded.down_bps)),
            ("as_loaded.up_bps", self.as_loaded.map(|loaded| loaded.up_bps)),
        ];
        for (name, bps) in rates {
            if let Some(bps) = bps.filter(|bps| !RATES_BPS.contains(bps)) {
                return Err(ExploreError(format!("{name} = {bps}: must be from 8 kbit/s to 100 Gbit/s")));
            }
        }
        for (name, limit) in [("buffer", Some(link.buffer)), ("reverse_buffer", link.reverse_buffer)] {
            let (fits, told) = match limit {
                Some(Limit::Packets(packets)) => ((1..=10_000_000).contains(&packets), format!("{packets} packets")),
                Some(Limit::Bytes(bytes)) => ((1_514..=15_000_000_000).contains(&bytes), format!("{bytes} bytes")),
                None => continue,
            };
            if !fits {
                return Err(ExploreError(format!(
                    "link.{name} = {told}: must be from 1 to 10^7 packets, or from 1514 to 1.5 x 10^10 bytes"
                )));
            }
        }
        if let Some(rtt) = link.rtt_s.filter(|rtt| !RTTS_S.contains(rtt)) {
            return Err(ExploreError(format!("link.rtt_s = {rtt}: must be from 0.0001 to 10")));
        }
        if let Some(inside) = self.inside {
            let ascends = inside.from_s >= 0.0 && inside.to_s > inside.from_s && inside.to_s <= 1e6;
            if !ascends {
                let (from, to) = (inside.from_s, inside.to_s);
                return Err(ExploreError(format!("inside = {from} to {to} s: must ascend from at least 0")));
            }
        }
        Ok(())
    }
}

impl Discipline {
    /// Id and options as the simulator takes them.
    ///
    /// # Errors
    /// An option that is neither text nor a number.
    pub fn native(&self) -> Result<(String, Vec<(String, String)>), ExploreError> {
        let option = |(name, value): (&String, &serde_json::Value)| match value {
            serde_json::Value::String(text) => Ok((name.clone(), text.clone())),
            serde_json::Value::Number(number) => Ok((name.clone(), number.to_string())),
            other => Err(ExploreError(format!("discipline.options.{name} = {other}: must be text or a number"))),
        };
        Ok((self.id.clone(), self.options.iter().map(option).collect::<Result<_, _>>()?))
    }

    /// As lists and pages write it: `efd(threshold=40000)`.
    pub fn label(&self) -> String {
        let option = |(name, value): (&String, &serde_json::Value)| match value {
            serde_json::Value::String(text) => format!("{name}={text}"),
            other => format!("{name}={other}"),
        };
        let options: Vec<_> = self.options.iter().map(option).collect();
        if options.is_empty() { self.id.clone() } else { format!("{}({})", self.id, options.join(",")) }
    }
}
