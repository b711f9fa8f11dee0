//! Networks of several links, as settings.

use std::sync::Arc;

use netsim::{ConfigError, Graph, Hosts, Interface, Link};
use qdisc::Limit;
use serde::Deserialize;
use units::{BitRate, Time};

use crate::shaping::TraceSettings;

/// A network in place of the dumbbell.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphSettings {
    routers: u32,
    links: Vec<LinkSettings>,
    hosts: Vec<HostsSettings>,
    watched: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkSettings {
    from_router: u32,
    to_router: u32,
    forward: InterfaceSettings,
    reverse: InterfaceSettings,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InterfaceSettings {
    rate_bps: u64,
    delay_ns: u64,
    limit: Limit,
    discipline: (String, Vec<(String, String)>),
    loss: f64,
    #[serde(default)]
    trace: Option<TraceSettings>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostsSettings {
    at: u32,
    count: u32,
    up_bps: u64,
    down_bps: u64,
    delay_ns: u64,
}

fn rate(bps: u64) -> Result<BitRate, ConfigError> {
    BitRate::from_bps(bps).ok_or_else(|| ConfigError::Value("rate_bps", "0".into(), "at least 1 bit/s"))
}

impl GraphSettings {
    /// # Errors
    /// A rate of 0, or a limit that no queue has.
    pub(crate) fn into_graph(self) -> Result<Graph, ConfigError> {
        let links = self.links.into_iter().map(LinkSettings::into_link).collect::<Result<_, _>>()?;
        let hosts = self.hosts.into_iter().map(HostsSettings::into_hosts).collect::<Result<_, _>>()?;
        Ok(Graph { routers: self.routers, links, hosts, watched: self.watched })
    }
}

impl LinkSettings {
    fn into_link(self) -> Result<Link, ConfigError> {
        let (forward, reverse) = (self.forward.into_interface()?, self.reverse.into_interface()?);
        Ok(Link { from: self.from_router, to: self.to_router, forward, reverse })
    }
}

impl InterfaceSettings {
    fn into_interface(self) -> Result<Interface, ConfigError> {
        let (rate, delay) = (rate(self.rate_bps)?, Time(self.delay_ns));
        let trace = self.trace.map(|trace| Arc::new(trace.into_trace()));
        Ok(Interface { rate, delay, limit: self.limit, discipline: self.discipline, loss: self.loss, trace })
    }
}

impl HostsSettings {
    fn into_hosts(self) -> Result<Hosts, ConfigError> {
        let (up, down) = (rate(self.up_bps)?, rate(self.down_bps)?);
        Ok(Hosts { at: self.at, count: self.count, up, down, delay: Time(self.delay_ns) })
    }
}
