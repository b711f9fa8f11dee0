//! Networks of several links, as dictionaries.

use netsim::{ConfigError, Graph, Hosts, Interface, Link};
use pyo3::prelude::*;
use qdisc::Limit;
use units::{BitRate, Time};

/// A network in place of the dumbbell.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct GraphSettings {
    routers: u32,
    links: Vec<LinkSettings>,
    hosts: Vec<HostsSettings>,
    watched: u32,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct LinkSettings {
    from_router: u32,
    to_router: u32,
    forward: InterfaceSettings,
    reverse: InterfaceSettings,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct InterfaceSettings {
    rate_bps: u64,
    delay_ns: u64,
    limit: u64,
    limit_in_bytes: bool,
    discipline: (String, Vec<(String, String)>),
    loss: f64,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
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
        let limit = if self.limit_in_bytes {
            Limit::Bytes(self.limit)
        } else {
            Limit::Packets(u32::try_from(self.limit).map_err(|_| crate::simulate::too_large(self.limit))?)
        };
        let (rate, delay) = (rate(self.rate_bps)?, Time(self.delay_ns));
        Ok(Interface { rate, delay, limit, discipline: self.discipline, loss: self.loss })
    }
}

impl HostsSettings {
    fn into_hosts(self) -> Result<Hosts, ConfigError> {
        let (up, down) = (rate(self.up_bps)?, rate(self.down_bps)?);
        Ok(Hosts { at: self.at, count: self.count, up, down, delay: Time(self.delay_ns) })
    }
}
