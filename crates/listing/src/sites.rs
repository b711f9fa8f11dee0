//! Which hosts are of the site, and what each is for.

use std::collections::hash_map::RandomState;
use std::net::IpAddr;

use hashbrown::HashMap;

use crate::classes::{Class, Kind, class_of};
use crate::networks::{NOBODY, Network, PRIVATE, known, number};
use crate::tally::{Host, Tally};

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

/// The hosts of a capture.
pub struct Sites {
    kinds: HashMap<IpAddr, Kind, RandomState>,
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
    /// [`NoHost`] when none is in the `given` networks.
    pub fn of(tally: &Tally, given: Option<&[Network]>) -> Result<Sites, NoHost> {
        let (nobody, private) = (known(&NOBODY), known(&PRIVATE));
        let within = |host: IpAddr, networks: &[Network]| networks.iter().any(|network| network.holds(host));
        let named = || tally.hosts.keys().copied().filter(|host| !within(*host, &nobody));
        if let Some(given) = given
            && !tally.hosts.is_empty()
            && !tally.hosts.keys().any(|host| within(*host, given))
        {
            return Err(networks_seen(tally, &nobody));
        }
        let (found_by, networks) = match given {
            Some(given) => (FoundBy::Given, given.to_vec()),
            None if named().any(|host| within(host, &private)) => (FoundBy::Private, Vec::new()),
            None => {
                let ends = tally.ends.as_deref().unwrap_or_default();
                let found = [32, 128].map(|width| common_network(ends, width, &nobody));
                let there = [true, false].map(|four| named().any(|host| host.is_ipv4() == four));
                if there.contains(&true) && found.each_ref().map(Option::is_some) == there {
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
        let (mut roles, mut remote) = (Roles::default(), 0);
        let mut kinds = HashMap::with_capacity_and_hasher(tally.hosts.len(), RandomState::new());
        for (&address, host) in &tally.hosts {
            let (kind, count) = if within(address, &nobody) {
                (Kind::Nobody, None)
            } else if !inside(address, host) {
                (Kind::Remote, Some(&mut remote))
            } else if host.taken > host.opened {
                (Kind::Server, Some(&mut roles.server))
            } else if host.opened > 0 {
                (Kind::Client, Some(&mut roles.client))
            } else {
                (Kind::Unknown, Some(&mut roles.unknown))
            };
            if let Some(count) = count {
                *count += 1;
            }
            kinds.insert(address, kind);
        }
        Ok(Sites { kinds, found_by, networks, roles, remote })
    }

    /// The class of a connection between two of its hosts.
    pub fn class_of(&self, opener: IpAddr, responder: IpAddr) -> Class {
        let kind = |address: IpAddr| self.kinds.get(&address).copied().unwrap_or(Kind::Nobody);
        class_of(kind(opener), kind(responder))
    }

    /// Hosts of the site.
    pub fn local(&self) -> u64 {
        self.roles.server + self.roles.client + self.roles.unknown
    }
}

/// Longest prefix that nearly all connections of an IP version touch, of which the leading 64 bits are looked at.
fn common_network(ends: &[[IpAddr; 2]], width: u8, nobody: &[Network]) -> Option<Network> {
    let (shortest, longest) = if width == 32 { (8, 24) } else { (16, 64) };
    let kept = width.min(64);
    let leading = |address: IpAddr| {
        let (bits, its_width) = number(address);
        let counts = its_width == width && !nobody.iter().any(|network| network.holds(address));
        counts.then(|| (bits >> (width - kept)) as u64)
    };
    let ends: Vec<[u64; 2]> =
        ends.iter().filter_map(|[one, two]| leading(*one).zip(leading(*two))).map(|(one, two)| [one, two]).collect();
    if ends.is_empty() {
        return None;
    }
    let (mut prefix, mut length) = (0_u64, 0_u8);
    while length < longest {
        let shift = kept - length - 1;
        let counted = [2 * prefix, 2 * prefix + 1].map(|child| {
            let (mut touched, mut opened) = (0_u64, 0_u64);
            for [opener, responder] in &ends {
                let opens = opener >> shift == child;
                opened += u64::from(opens);
                touched += u64::from(opens || responder >> shift == child);
            }
            (child, touched as f64 / ends.len() as f64 >= COVERED, opened)
        });
        // Of two halves that all connections touch, the site is the one that opens more of them.
        let best = if (counted[1].1, counted[1].2) > (counted[0].1, counted[0].2) { counted[1] } else { counted[0] };
        if !best.1 {
            break;
        }
        (prefix, length) = (best.0, length + 1);
    }
    if length < shortest {
        return None;
    }
    let first = u128::from(prefix) << (width - length);
    let address = if width == 32 { IpAddr::V4((first as u32).into()) } else { IpAddr::V6(first.into()) };
    Some(Network::around(address, length))
}

/// Networks of the size of a subnet with the most connections.
fn networks_seen(tally: &Tally, nobody: &[Network]) -> NoHost {
    let mut counts: HashMap<String, u64, RandomState> = HashMap::with_hasher(RandomState::new());
    for (&address, host) in &tally.hosts {
        if !nobody.iter().any(|network| network.holds(address)) {
            let length = if address.is_ipv4() { 24 } else { 64 };
            *counts.entry(Network::around(address, length).to_string()).or_default() += host.opened + host.asked;
        }
    }
    let mut ordered: Vec<_> = counts.into_iter().collect();
    ordered.sort_by(|one, two| two.1.cmp(&one.1).then_with(|| one.0.cmp(&two.0)));
    let more = ordered.len().saturating_sub(TOLD);
    NoHost { seen: ordered.into_iter().take(TOLD).map(|(network, _)| network).collect(), more }
}
