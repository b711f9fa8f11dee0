//! Which hosts are of the site, and what each is for.

use std::collections::hash_map::RandomState;
use std::net::IpAddr;
use std::{fmt, io};

use hashbrown::HashMap;
use units::grouped;

use crate::classes::{Class, Kind, class_of};
use crate::counts::Host;
use crate::network::{Network, Networks, is_nobody, is_private};
use crate::pairs::{LEADING, Pairs, WIDTHS};
use crate::tally::Tally;

/// Share of the connections that must touch a network for it to be the site.
const COVERED: f64 = 0.99;
/// Shortest prefix that is still one site, of IPv4 and IPv6: a shorter one does not identify a site.
const SHORTEST: [u32; 2] = [8, 16];
/// Longest prefix that is looked for: a site is at least one subnet.
const LONGEST: [u32; 2] = [24, 64];
/// Networks that a refusal names.
const MOST_NAMED: usize = 4;

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
    given: Networks,
    /// Networks of the size of a subnet that were seen, the busiest first.
    seen: Vec<String>,
    /// How many more.
    more: usize,
}

impl fmt::Display for NoHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given: Vec<String> = self.given.iter().map(Network::to_string).collect();
        let given = if given.is_empty() { "nothing".to_owned() } else { given.join(", ") };
        write!(f, "internal = {given}: no host is in it; seen are {}", self.seen.join(", "))?;
        if self.more > 0 { write!(f, ", {} more", grouped(self.more as u64)) } else { Ok(()) }
    }
}

/// Why the hosts of a site are not known.
#[derive(Debug)]
pub enum Unsited {
    /// None is in the networks that were given.
    NoHost(NoHost),
    /// Files of hosts cannot be read.
    File(io::Error),
}

impl fmt::Display for Unsited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsited::NoHost(none) => none.fmt(f),
            Unsited::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Unsited {}

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
    /// How the site was found.
    pub found_by: FoundBy,
    /// Its networks, where it was found by such.
    pub networks: Networks,
    /// Hosts of the site by role.
    pub roles: Roles,
    /// Other hosts.
    pub remote: u64,
}

impl Sites {
    /// Separates the hosts of a site from the others: by `given` networks; else private addresses are the site; where there is
    /// none (public or anonymised addresses), the longest prefix that 99 % of the connections touch, separately for IPv4 and
    /// IPv6; where there is none either, the hosts that opened more connections than they were asked for.
    ///
    /// An anonymisation that keeps prefixes keeps the answer (Chen 2012, 8.2: the LBNL traces): every connection that is seen
    /// at the edge of a site has an end there, while the other ends are spread.
    ///
    /// # Errors
    /// [`NoHost`] when none is in the `given` networks; hosts in files cannot be read.
    pub fn of(tally: &Tally, given: Option<&Networks>) -> Result<Sites, Unsited> {
        let (found_by, networks) = match (given, &tally.pairs) {
            (Some(given), _) => (FoundBy::Given, given.clone()),
            (None, None) => (FoundBy::Private, Networks::default()),
            (None, Some([four, six])) => {
                let found = [common_network(four, 0)?, common_network(six, 1)?];
                if tally.there.contains(&true) && found.each_ref().map(Option::is_some) == tally.there {
                    (FoundBy::Network, found.into_iter().flatten().collect())
                } else {
                    (FoundBy::Openers, Networks::default())
                }
            }
        };
        let inside = |address: IpAddr, host: &Host| match found_by {
            FoundBy::Private => is_private(address),
            FoundBy::Given | FoundBy::Network => networks.contain(address),
            FoundBy::Openers => host.opened > host.asked,
        };
        let (mut roles, mut remote, mut all, mut held) = (Roles::default(), 0, 0_u64, false);
        let mut local = HashMap::with_hasher(RandomState::new());
        tally.hosts.each(|address, host| {
            all += 1;
            held |= given.is_some() && networks.contain(address);
            if is_nobody(address) {
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
            return Err(no_host(tally, networks)?.into());
        }
        Ok(Sites { local, found_by, networks, roles, remote })
    }

    /// The class of a connection between two of its hosts.
    pub fn class_of(&self, opener: IpAddr, responder: IpAddr) -> Class {
        class_of(self.kind_of(opener), self.kind_of(responder))
    }

    /// Whether an address is a host of the site.
    pub fn holds(&self, address: IpAddr) -> bool {
        self.local.contains_key(&address)
    }

    /// What one of its hosts is.
    pub fn kind_of(&self, address: IpAddr) -> Kind {
        match self.local.get(&address) {
            Some(kind) => *kind,
            None if is_nobody(address) => Kind::Nobody,
            None => Kind::Remote,
        }
    }

    /// Hosts of the site.
    pub fn local(&self) -> u64 {
        self.roles.server + self.roles.client + self.roles.unknown
    }
}

/// Longest prefix that nearly all connections of an IP version touch, IPv4 being 0; the leading 64 bits are looked at.
fn common_network(pairs: &Pairs, version: usize) -> io::Result<Option<Network>> {
    let width = WIDTHS[version];
    let kept = width.min(LEADING);
    if pairs.len() == 0 {
        return Ok(None);
    }
    let (mut prefix, mut length) = (0_u64, 0);
    while length < LONGEST[version] {
        let shift = kept - length - 1;
        // Of each half: connections that touch it, and those that are opened from it.
        let (mut touched, mut opened) = ([0_u64; 2], [0_u64; 2]);
        pairs.each(|opener, responder| {
            for half in 0..2 {
                let child = 2 * prefix + half as u64;
                let opens = opener >> shift == child;
                opened[half] += u64::from(opens);
                touched[half] += u64::from(opens || responder >> shift == child);
            }
        })?;
        let covered = touched.map(|touched| touched as f64 / pairs.len() as f64 >= COVERED);
        // Of two halves that all connections touch, the site is the one that opens more of them.
        let best = usize::from((covered[1], opened[1]) > (covered[0], opened[0]));
        if !covered[best] {
            break;
        }
        (prefix, length) = (2 * prefix + best as u64, length + 1);
    }
    if length < SHORTEST[version] {
        return Ok(None);
    }
    let first = u128::from(prefix) << (width - length);
    let address = if width == 32 { IpAddr::V4((first as u32).into()) } else { IpAddr::V6(first.into()) };
    Ok(Some(Network::around(address, length)))
}

/// The refusal, with the networks of the size of a subnet that have the most connections.
fn no_host(tally: &Tally, given: Networks) -> io::Result<NoHost> {
    let mut counts: HashMap<Network, u64, RandomState> = HashMap::with_hasher(RandomState::new());
    tally.hosts.each(|address, host| {
        if !is_nobody(address) {
            let bits = LONGEST[usize::from(address.is_ipv6())];
            *counts.entry(Network::around(address, bits)).or_default() += host.opened + host.asked;
        }
    })?;
    let mut ordered: Vec<_> = counts.into_iter().map(|(network, count)| (network.to_string(), count)).collect();
    ordered.sort_by(|one, two| two.1.cmp(&one.1).then_with(|| one.0.cmp(&two.0)));
    let more = ordered.len().saturating_sub(MOST_NAMED);
    Ok(NoHost { given, seen: ordered.into_iter().take(MOST_NAMED).map(|(network, _)| network).collect(), more })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn tally(connections: &[(String, String)]) -> Tally {
        let mut tally = Tally::default();
        for (one, two) in connections {
            tally.add_hosts([parsed(one), parsed(two)], true).expect("in memory");
        }
        tally
    }

    fn site(connections: &[(String, String)]) -> (FoundBy, Vec<String>) {
        let sites = Sites::of(&tally(connections), None).expect("in memory");
        (sites.found_by, sites.networks.iter().map(Network::to_string).collect())
    }

    fn pairs(count: u32, of: impl Fn(u32) -> (String, String)) -> Vec<(String, String)> {
        (0..count).map(of).collect()
    }

    fn spread(n: u32) -> (String, String) {
        (format!("131.7.0.{n}"), format!("{}.{n}.1.1", 40 + n % 60))
    }

    #[test]
    fn private_addresses_are_the_site_whatever_else_there_is() {
        for private in ["10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.1.1", "fd00::1", "fe80::1"] {
            let other = if private.contains(':') { "2001:db8::1" } else { "192.0.2.1" };
            let mut connections = pairs(40, spread);
            connections.push((private.to_owned(), other.to_owned()));
            let sites = Sites::of(&tally(&connections), None).expect("in memory");
            assert_eq!((sites.found_by, sites.local()), (FoundBy::Private, 1), "{private}");
            assert!(sites.holds(parsed(private)) && !sites.holds(parsed(other)));
        }
    }

    #[test]
    fn the_site_is_the_shortest_network_that_holds_its_subnets() {
        let mut connections = pairs(40, |n| (format!("131.7.{}.{n}", 32 * (n % 2)), format!("{}.{n}.1.1", 40 + n)));
        connections.extend(pairs(10, |n| (format!("131.7.0.{}", 2 * n), format!("131.7.32.{}", 2 * n + 1))));
        assert_eq!(site(&connections), (FoundBy::Network, vec!["131.7.0.0/18".to_owned()]));
    }

    #[test]
    fn of_a_hundred_connections_one_may_stray_and_two_may_not() {
        let stray = ("200.1.1.1".to_owned(), "60.1.1.1".to_owned());
        let mut connections = pairs(99, spread);
        connections.push(stray.clone());
        assert_eq!(site(&connections), (FoundBy::Network, vec!["131.7.0.0/24".to_owned()]));
        connections[0] = stray;
        assert_eq!(site(&connections), (FoundBy::Openers, vec![]));
    }

    #[test]
    fn networks_of_both_versions_are_found_or_none() {
        let six = |n: u32| (format!("2001:db8:5:1::{n:x}"), format!("2a{n:02x}:1::1"));
        assert_eq!(site(&pairs(29, six)), (FoundBy::Network, vec!["2001:db8:5:1::/64".to_owned()]));
        let both: Vec<_> = pairs(99, spread).into_iter().chain(pairs(29, six)).collect();
        let networks = ["131.7.0.0/24", "2001:db8:5:1::/64"].map(str::to_owned).to_vec();
        assert_eq!(site(&both), (FoundBy::Network, networks));
        let apart = |n: u32| (format!("2{n:03x}:1::1"), format!("3{n:03x}:1::1"));
        let one: Vec<_> = pairs(99, spread).into_iter().chain(pairs(29, apart)).collect();
        assert_eq!(site(&one), (FoundBy::Openers, vec![]));
        assert_eq!(site(&[]), (FoundBy::Openers, vec![]));
    }

    #[test]
    fn roles_follow_from_what_a_host_took_and_opened() {
        let mut tally = Tally::default();
        let connections =
            [("10.0.0.1", "10.0.0.8", true), ("10.0.0.8", "10.0.0.1", true), ("10.0.0.8", "10.0.0.3", false)];
        for (one, two, taken) in connections.into_iter().chain([("10.0.0.3", "10.0.0.9", true)]) {
            tally.add_hosts([parsed(one), parsed(two)], taken).expect("in memory");
        }
        tally.add_hosts([parsed("10.0.0.1"), parsed("10.0.0.4")], false).expect("in memory");
        tally.add_hosts([parsed("10.0.0.1"), parsed("224.0.0.1")], false).expect("in memory");
        tally.add_hosts([parsed("10.0.0.1"), parsed("192.0.2.1")], true).expect("in memory");
        let sites = Sites::of(&tally, None).expect("in memory");
        let hosts = ["10.0.0.1", "10.0.0.8", "10.0.0.3", "10.0.0.9", "10.0.0.4", "224.0.0.1", "192.0.2.1"];
        let kinds = [Kind::Client, Kind::Client, Kind::Client, Kind::Server, Kind::Unknown, Kind::Nobody, Kind::Remote];
        assert_eq!(hosts.map(|host| sites.kind_of(parsed(host))), kinds);
        assert_eq!((sites.roles, sites.remote), (Roles { server: 1, client: 3, unknown: 1 }, 1));
        assert_eq!(sites.class_of(parsed("10.0.0.9"), parsed("192.0.2.1")).class, "ls-rp");
    }

    #[test]
    fn a_site_without_a_host_is_refused_by_the_networks_that_were_seen() {
        let connections = pairs(9, |n| (format!("10.{n}.0.1"), "192.0.2.1".to_owned()));
        let given = Networks::parse(["10.99.0.0/16", "2001:db8::/32"]).expect("networks");
        let said = Sites::of(&tally(&connections), Some(&given)).map(|_| ()).map_err(|none| none.to_string());
        let line = "internal = 10.99.0.0/16, 2001:db8::/32: no host is in it; seen are 192.0.2.0/24, 10.0.0.0/24, \
                    10.1.0.0/24, 10.2.0.0/24, 6 more";
        assert_eq!(said, Err(line.to_owned()));
        assert!(Sites::of(&Tally::default(), Some(&given)).is_ok());
    }
}
