//! Which hosts are on the near side of the link: those that a user names, or else the site.
//!
//! The rules are those of `mayfly.workload.capture`.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use capture::Connection;

use crate::ends::Ends;
use crate::networks::{Network, Networks, is_nobody, is_private, number_of};
use crate::refused::{Refused, refused};

/// Share of the connections that must touch a network for it to be the site.
const COVERED: f64 = 0.99;
/// Shortest prefix that is still one site, of IPv4 and IPv6.
const SHORTEST: [u32; 2] = [8, 16];
/// Longest prefix that is looked for.
const LONGEST: [u32; 2] = [24, 64];
/// Share of the bytes that crosses between a site and the rest; of less, the link is somewhere else.
const LEAST_CROSSING: f64 = 0.05;
/// Networks that a refusal names.
const NETWORKS_TOLD: usize = 4;

/// Connections of a capture with the numbers of their ends; `rows` of them count.
pub(crate) struct Seen<'a> {
    pub(crate) connections: &'a [Connection],
    pub(crate) ends: &'a Ends,
    pub(crate) rows: &'a [usize],
}

impl Seen<'_> {
    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        self.rows.iter().map(|&row| (self.ends.opener[row], self.ends.responder[row]))
    }

    /// By address, whether some connection has it.
    fn present(&self) -> Vec<bool> {
        let mut present = vec![false; self.ends.addresses.len()];
        for (opener, responder) in self.pairs() {
            present[opener as usize] = true;
            present[responder as usize] = true;
        }
        present
    }

    /// Addresses on the near side: those within `networks`, or those that are inferred.
    pub(crate) fn near(&self, networks: Option<&Networks>) -> Vec<bool> {
        match networks {
            Some(networks) => {
                let within = self.ends.marked(|address| networks.contain(address));
                within.into_iter().zip(self.present()).map(|(within, present)| within && present).collect()
            }
            None => self.inferred(),
        }
    }

    /// Hosts of the site; where next to nothing crosses between them and others, the side that opens connections.
    fn inferred(&self) -> Vec<bool> {
        let (inside, from_site) = self.site();
        if !from_site || self.crossing_share(&inside) < LEAST_CROSSING { self.openers() } else { inside }
    }

    /// Share of the bytes that pass between these hosts and others; of connections, without bytes.
    pub(crate) fn crossing_share(&self, inside: &[bool]) -> f64 {
        let nobody = self.ends.marked(is_nobody);
        let (mut whole, mut crossing, mut count, mut crossing_count) = (0_u128, 0_u128, 0_u64, 0_u64);
        for (&row, (opener, responder)) in self.rows.iter().zip(self.pairs()) {
            let (opener, responder) = (opener as usize, responder as usize);
            let crosses = inside[opener] != inside[responder] && !nobody[opener] && !nobody[responder];
            let connection = &self.connections[row];
            let bytes =
                u128::from(connection.from_opener.wire_bytes) + u128::from(connection.from_responder.wire_bytes);
            whole += bytes;
            count += 1;
            if crosses {
                crossing += bytes;
                crossing_count += 1;
            }
        }
        match (whole, count) {
            (0, 0) => 0.0,
            (0, _) => crossing_count as f64 / count as f64,
            _ => crossing as f64 / whole as f64,
        }
    }

    /// Hosts of the site, and whether these are more than those that open connections.
    fn site(&self) -> (Vec<bool>, bool) {
        let present = self.present();
        let addresses = &self.ends.addresses;
        let named: Vec<bool> = addresses.iter().zip(&present).map(|(&one, &here)| here && !is_nobody(one)).collect();
        let private: Vec<bool> = addresses.iter().zip(&named).map(|(&one, &named)| named && is_private(one)).collect();
        if private.contains(&true) {
            return (private, true);
        }
        let found: Vec<Network> = [true, false].into_iter().filter_map(|v4| self.common_network(v4)).collect();
        let known = |v4: bool| found.iter().any(|network| network.is_ipv4() == v4);
        let seen = |v4: bool| addresses.iter().zip(&named).any(|(one, &named)| named && one.is_ipv4() == v4);
        if (seen(true) || seen(false)) && [true, false].iter().all(|&v4| known(v4) == seen(v4)) {
            let inside = |address: IpAddr| found.iter().any(|network| network.contains(address));
            return (addresses.iter().zip(&named).map(|(&one, &named)| named && inside(one)).collect(), true);
        }
        (self.openers(), false)
    }

    /// Hosts that opened more connections than they accepted.
    fn openers(&self) -> Vec<bool> {
        let mut balance = vec![0_i64; self.ends.addresses.len()];
        for (opener, responder) in self.pairs() {
            balance[opener as usize] += 1;
            balance[responder as usize] -= 1;
        }
        balance.iter().zip(&self.ends.addresses).map(|(&balance, &one)| balance > 0 && !is_nobody(one)).collect()
    }

    /// Longest prefix that nearly all connections of an IP version touch.
    fn common_network(&self, v4: bool) -> Option<Network> {
        let (bits, version) = if v4 { (32, 0) } else { (128, 1) };
        // The leading 64 bits are all that is looked at.
        let kept = bits.min(64);
        let number = |end: u32| {
            let address = self.ends.addresses[end as usize];
            let (number, width) = number_of(address);
            (width == bits && !is_nobody(address)).then(|| (number >> (bits - kept)) as u64)
        };
        let pairs: Vec<(u64, u64)> =
            self.pairs().filter_map(|(opener, responder)| number(opener).zip(number(responder))).collect();
        if pairs.is_empty() {
            return None;
        }
        let (mut prefix, mut length) = (0_u64, 0);
        while length < LONGEST[version] {
            let shift = kept - length - 1;
            let child = |child: u64| {
                let touched = pairs.iter().filter(|(from, to)| from >> shift == child || to >> shift == child).count();
                let opened = pairs.iter().filter(|(from, _)| from >> shift == child).count();
                (touched as f64 / pairs.len() as f64 >= COVERED, opened, child)
            };
            let (low, high) = (child(2 * prefix), child(2 * prefix + 1));
            // Of two halves that all connections touch, the site is the one that opens more of them.
            let best = if (high.0, high.1) > (low.0, low.1) { high } else { low };
            if !best.0 {
                break;
            }
            (prefix, length) = (best.2, length + 1);
        }
        if length < SHORTEST[version] {
            return None;
        }
        let number = u128::from(prefix) << (bits - length);
        let address = match v4 {
            true => IpAddr::V4(Ipv4Addr::from(number as u32)),
            false => IpAddr::V6(Ipv6Addr::from(number)),
        };
        Some(Network::around(address, length))
    }

    /// # Errors
    /// There are addresses, and none of them is in `networks`.
    pub(crate) fn check_site(&self, networks: &Networks) -> Result<(), Refused> {
        if self.rows.is_empty() || self.ends.addresses.iter().any(|&address| networks.contain(address)) {
            return Ok(());
        }
        let named: Vec<String> = networks.0.iter().map(Network::to_string).collect();
        let named = if named.is_empty() { "nothing".to_owned() } else { named.join(", ") };
        refused(format!("internal = {named}: no host is in it; seen are {}", self.networks_seen().join(", ")))
    }

    /// The networks of the size of a subnet with the most connections, and how many more there are.
    fn networks_seen(&self) -> Vec<String> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for end in self.pairs().flat_map(|(opener, responder)| [opener, responder]) {
            let address = self.ends.addresses[end as usize];
            if !is_nobody(address) {
                let bits = if address.is_ipv4() { 24 } else { 64 };
                *counts.entry(Network::around(address, bits).to_string()).or_default() += 1;
            }
        }
        let mut ordered: Vec<(String, u64)> = counts.into_iter().collect();
        ordered.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let more = ordered.len().saturating_sub(NETWORKS_TOLD);
        let mut told: Vec<String> = ordered.into_iter().take(NETWORKS_TOLD).map(|(network, _)| network).collect();
        if more > 0 {
            told.push(format!("{} more", crate::text::grouped(more as u64)));
        }
        told
    }
}

/// Whether the opener of a connection is on the near side; between two hosts of one side it is.
pub(crate) fn opener_is_near(opener: bool, responder: bool) -> bool {
    opener || !responder
}
