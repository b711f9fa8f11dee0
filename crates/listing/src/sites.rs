//! Which hosts are of the site, and what each is for.

use std::collections::hash_map::RandomState;
use std::io;
use std::net::IpAddr;

use hashbrown::HashMap;

use crate::classes::{Class, Kind, class_of};
use crate::ends::{Ends, LEADING, WIDTHS};
use crate::hosts::Host;
use crate::networks::{NOBODY, Network, PRIVATE, known};
use crate::tally::Tally;

/// Share of the connections that must touch a network for it to be the site.
const COVERED: f64 = 0.99;
/// Networks that a refusal names.
const TOLD: usize = 4;

/// How the site was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// By networks that were given.
    Given,
    /// By private addresses.
    Private,
    /// By the network that nearly every connection touches.
    Network,
    /// By who opens more connections than it is asked for.
    Openers,
}

impl FoundBy {
    /// Names, in the order of the variants.
    pub const NAMES: [&'static str; 4] = ["given", "private", "network", "openers"];
}

/// Hosts of the site by role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    /// They take more connections than they open.
    pub server: u64,
    /// They open as many, or more.
    pub client: u64,
    /// They did neither.
    pub unknown: u64,
}

/// No host is in the networks that were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoHost {
    /// Networks that were seen, the busiest first.
    pub seen: Vec<String>,
    /// How many more.
    pub more: usize,
}

/// Why the hosts of a site are not known.
#[derive(Debug)]
pub enum Unsited {
    /// None is in the networks that were given.
    NoHost(NoHost),
    /// Files of hosts cannot be read.
    File(io::Error),
}

impl From<NoHost> for Unsited {
    fn from(none: NoHost) -> Unsited {
        Unsited::NoHost(none)
    }
}

impl From<io::Error> for Unsited {
    fn from(error: io::Error) -> Unsited {
        Unsited::File(error)
    }
}

/// The hosts of a capture.
pub struct Sites {
    /// Those of the site.
    local: HashMap<IpAddr, Kind, RandomState>,
    nobody: Vec<Network>,
    /// How the site was found.
    pub found_by: FoundBy,
    /// Its networks, where it was found by such.
    pub networks: Vec<Network>,
    /// Hosts of the site by role.
    pub roles: Roles,
    /// Other hosts.
    pub remote: u64,
}

impl Sites {
    /// Tells the hosts of a site from the others: by `given` networks; else private addresses are the site; where there is
    /// none, the longest prefix that 99 % of the connections touch; where there is none either, the hosts that opened more
    /// connections than they were asked for.
    ///
    /// # Errors
    /// [`NoHost`] when none is in the `given` networks; hosts in files cannot be read.
    pub fn of(tally: &Tally, given: Option<&[Network]>) -> Result<Sites, Unsited> {
        let (nobody, private) = (known(&NOBODY), known(&PRIVATE));
        let (found_by, networks) = match (given, &tally.ends) {
            (Some(given), _) => (FoundBy::Given, given.to_vec()),
            (None, None) => (FoundBy::Private, Vec::new()),
            (None, Some([four, six])) => {
                let found = [common_network(four, WIDTHS[0])?, common_network(six, WIDTHS[1])?];
                if tally.there.contains(&true) && found.each_ref().map(Option::is_some) == tally.there {
                    (FoundBy::Network, found.into_iter().flatten().collect())
                } else {
                    (FoundBy::Openers, Vec::new())
                }
            }
        };
        let inside = |address: IpAddr, host: &Host| match found_by {
            FoundBy::Private => within(address, &private),
            FoundBy::Given | FoundBy::Network => within(address, &networks),
            FoundBy::Openers => host.opened > host.asked,
        };
        let (mut roles, mut remote, mut all, mut held) = (Roles::default(), 0, 0_u64, false);
        let mut local = HashMap::with_hasher(RandomState::new());
        tally.hosts.each(|address, host| {
            all += 1;
            held |= given.is_some() && within(address, &networks);
            if within(address, &nobody) {
                return;
            }
            if !inside(address, &host) {
                remote += 1;
                return;
            }
            let (kind, count) = if host.taken > host.opened {
                (Kind::Server, &mut roles.server)
            } else if host.opened > 0 {
                (Kind::Client, &mut roles.client)
            } else {
                (Kind::Unknown, &mut roles.unknown)
            };
            *count += 1;
            local.insert(address, kind);
        })?;
        if given.is_some() && all > 0 && !held {
            return Err(networks_seen(tally, &nobody)?.into());
        }
        Ok(Sites { local, nobody, found_by, networks, roles, remote })
    }

    /// The class of a connection between two of its hosts.
    pub fn class_of(&self, opener: IpAddr, responder: IpAddr) -> Class {
        class_of(self.kind_of(opener), self.kind_of(responder))
    }

    /// What one of its hosts is.
    pub fn kind_of(&self, address: IpAddr) -> Kind {
        match self.local.get(&address) {
            Some(kind) => *kind,
            None if within(address, &self.nobody) => Kind::Nobody,
            None => Kind::Remote,
        }
    }

    /// Hosts of the site.
    pub fn local(&self) -> u64 {
        self.roles.server + self.roles.client + self.roles.unknown
    }
}

fn within(host: IpAddr, networks: &[Network]) -> bool {
    networks.iter().any(|network| network.holds(host))
}

/// Longest prefix that nearly all connections of an IP version touch, of which the leading 64 bits are looked at.
fn common_network(ends: &Ends, width: u8) -> io::Result<Option<Network>> {
    let (shortest, longest) = if width == 32 { (8, 24) } else { (16, 64) };
    let kept = width.min(LEADING);
    if ends.len() == 0 {
        return Ok(None);
    }
    let (mut prefix, mut length) = (0_u64, 0_u8);
    while length < longest {
        let shift = kept - length - 1;
        // Of each half: connections that touch it, and those that are opened from it.
        let (mut touched, mut opened) = ([0_u64; 2], [0_u64; 2]);
        ends.each(|opener, responder| {
            for half in 0..2 {
                let child = 2 * prefix + half as u64;
                let opens = opener >> shift == child;
                opened[half] += u64::from(opens);
                touched[half] += u64::from(opens || responder >> shift == child);
            }
        })?;
        let covered = touched.map(|touched| touched as f64 / ends.len() as f64 >= COVERED);
        // Of two halves that all connections touch, the site is the one that opens more of them.
        let best = usize::from((covered[1], opened[1]) > (covered[0], opened[0]));
        if !covered[best] {
            break;
        }
        (prefix, length) = (2 * prefix + best as u64, length + 1);
    }
    if length < shortest {
        return Ok(None);
    }
    let first = u128::from(prefix) << (width - length);
    let address = if width == 32 { IpAddr::V4((first as u32).into()) } else { IpAddr::V6(first.into()) };
    Ok(Some(Network::around(address, length)))
}

/// Networks of the size of a subnet with the most connections.
fn networks_seen(tally: &Tally, nobody: &[Network]) -> io::Result<NoHost> {
    let mut counts: HashMap<Network, u64, RandomState> = HashMap::with_hasher(RandomState::new());
    tally.hosts.each(|address, host| {
        if !within(address, nobody) {
            let length = if address.is_ipv4() { 24 } else { 64 };
            *counts.entry(Network::around(address, length)).or_default() += host.opened + host.asked;
        }
    })?;
    let mut ordered: Vec<_> = counts.into_iter().map(|(network, count)| (network.to_string(), count)).collect();
    ordered.sort_by(|one, two| two.1.cmp(&one.1).then_with(|| one.0.cmp(&two.0)));
    let more = ordered.len().saturating_sub(TOLD);
    Ok(NoHost { seen: ordered.into_iter().take(TOLD).map(|(network, _)| network).collect(), more })
}
