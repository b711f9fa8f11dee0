//! Which hosts are on the near side of the link that a capture was taken at.
//!
//! The hosts of the site are; but a link may lie inside a site, where next to nothing crosses between the site and others.
//! Then the side that opens connections is near.

use std::net::IpAddr;

use crate::ends::Ends;
use crate::network::{Networks, is_nobody};
use crate::sites::{FoundBy, Sites};
use crate::tally::Tally;

/// Share of the bytes that crosses between a site and the rest; of less, the link is somewhere else.
pub const LEAST_CROSSING: f64 = 0.05;

/// Connections of a capture, some of which count.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// Ends of all of them.
    pub ends: &'a Ends,
    /// Bytes of IP packets of each, in both directions.
    pub wire_bytes: &'a [u64],
    /// Those that count.
    pub rows: &'a [usize],
}

/// The near side of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// Of each address whether it is there.
    pub inside: Vec<bool>,
    /// How the side was found.
    pub found_by: NearBy,
    /// Share of the bytes that passes between the two sides.
    pub crossing: f64,
}

/// How the near side was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NearBy {
    /// By networks that were given.
    Given,
    /// It is the site.
    Site,
    /// By who opens more connections than it is asked for.
    Openers,
}

impl NearBy {
    /// Names, in the order of the variants.
    pub const NAMES: [&'static str; 3] = ["given", "site", "openers"];
}

impl Seen<'_> {
    fn pairs(&self) -> impl Iterator<Item = [usize; 2]> {
        self.rows.iter().map(|&row| [self.ends.opener[row] as usize, self.ends.responder[row] as usize])
    }

    fn marked(&self, is_one: impl Fn(IpAddr) -> bool) -> Vec<bool> {
        self.ends.addresses.iter().map(|&address| is_one(address)).collect()
    }

    /// The near side of the link: hosts in the `given` networks, of which none need be there; else the side is found.
    pub fn near(&self, given: Option<&Networks>) -> Near {
        if let Some(networks) = given {
            let mut there = vec![false; self.ends.addresses.len()];
            self.pairs().flatten().for_each(|end| there[end] = true);
            let inside = self.marked(|address| networks.contain(address) && !is_nobody(address));
            return self.near_of(FoundBy::Given, inside.into_iter().zip(there).map(|(one, two)| one && two).collect());
        }
        let mut tally = Tally::default();
        let address = |end: usize| self.ends.addresses[end];
        let counted = self.pairs().try_for_each(|ends| tally.add_hosts(ends.map(address), false));
        // A tally in memory writes no file that could fail.
        match counted.and_then(|()| Sites::of(&tally, None).map_err(std::io::Error::other)) {
            Ok(sites) => self.near_of(sites.found_by, self.marked(|address| sites.holds(address))),
            Err(_) => self.near_of(FoundBy::Openers, Vec::new()),
        }
    }

    /// The near side of the link, where the addresses `inside` are the hosts of the site and were found so.
    pub fn near_of(&self, found_by: FoundBy, inside: Vec<bool>) -> Near {
        if found_by != FoundBy::Openers {
            let crossing = self.crossing_share(&inside);
            if found_by == FoundBy::Given {
                return Near { inside, found_by: NearBy::Given, crossing };
            }
            if crossing >= LEAST_CROSSING {
                return Near { inside, found_by: NearBy::Site, crossing };
            }
        }
        let inside = self.openers();
        let crossing = self.crossing_share(&inside);
        Near { inside, found_by: NearBy::Openers, crossing }
    }

    /// Share of the bytes that passes between these addresses and others; of connections, without bytes. Multicast, broadcast
    /// and unspecified addresses are no others.
    pub fn crossing_share(&self, inside: &[bool]) -> f64 {
        let nobody = self.marked(is_nobody);
        let (mut whole, mut crossing, mut count, mut crossing_count) = (0_u128, 0_u128, 0_u64, 0_u64);
        for ([opener, responder], &row) in self.pairs().zip(self.rows) {
            let bytes = self.wire_bytes[row];
            let crosses = inside[opener] != inside[responder] && !nobody[opener] && !nobody[responder];
            whole += u128::from(bytes);
            count += 1;
            if crosses {
                crossing += u128::from(bytes);
                crossing_count += 1;
            }
        }
        match (whole, count) {
            (0, 0) => 0.0,
            (0, _) => crossing_count as f64 / count as f64,
            _ => crossing as f64 / whole as f64,
        }
    }

    /// Hosts that opened more connections than they were asked for.
    fn openers(&self) -> Vec<bool> {
        let mut balance = vec![0_i64; self.ends.addresses.len()];
        for [opener, responder] in self.pairs() {
            balance[opener] += 1;
            balance[responder] -= 1;
        }
        balance.iter().zip(&self.ends.addresses).map(|(&balance, &one)| balance > 0 && !is_nobody(one)).collect()
    }
}

/// Whether the opener of a connection is on the near side: every connection of a capture is taken to pass the link, and
/// between two hosts of one side the opener is near.
pub fn opener_is_near(opener: bool, responder: bool) -> bool {
    opener || !responder
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(connections: &[(&str, &str, u64)], given: Option<&str>) -> (Vec<String>, NearBy, f64) {
        let parsed = |text: &str| text.parse::<IpAddr>().expect("an address");
        let ends = Ends::of(connections.iter().map(|(one, two, _)| [parsed(one), parsed(two)]));
        let wire_bytes: Vec<u64> = connections.iter().map(|(_, _, bytes)| *bytes).collect();
        let rows: Vec<usize> = (0..connections.len()).collect();
        let given = given.map(|network| Networks::parse([network]).expect("a network"));
        let near = Seen { ends: &ends, wire_bytes: &wire_bytes, rows: &rows }.near(given.as_ref());
        let hosts = ends.addresses.iter().zip(near.inside).filter(|(_, inside)| *inside);
        (hosts.map(|(address, _)| address.to_string()).collect(), near.found_by, near.crossing)
    }

    #[test]
    fn the_site_is_near_where_a_twentieth_of_the_bytes_crosses_to_others() {
        let connections = |crossing| [("10.0.0.1", "10.0.0.9", 95), ("10.0.0.2", "192.0.2.1", crossing)];
        let site = ["10.0.0.1", "10.0.0.2", "10.0.0.9"].map(str::to_owned).to_vec();
        assert_eq!(seen(&connections(5), None), (site, NearBy::Site, 0.05));
        // Of less, who opens connections is near, and all of them pass the link.
        let openers = ["10.0.0.1", "10.0.0.2"].map(str::to_owned).to_vec();
        assert_eq!(seen(&connections(4), None), (openers, NearBy::Openers, 1.0));
    }

    #[test]
    fn what_goes_to_nobody_does_not_cross() {
        let connections = [("10.0.0.1", "224.0.0.251", 900), ("10.0.0.1", "192.0.2.1", 100)];
        assert_eq!(seen(&connections, None), (vec!["10.0.0.1".to_owned()], NearBy::Site, 0.1));
        let given = seen(&connections, Some("0.0.0.0/0"));
        assert_eq!(given, (["10.0.0.1", "192.0.2.1"].map(str::to_owned).to_vec(), NearBy::Given, 0.0));
        assert_eq!(seen(&connections, Some("8.8.8.0/24")), (vec![], NearBy::Given, 0.0));
    }

    #[test]
    fn bytes_are_those_of_the_rows_that_count() {
        let parsed = |text: &str| text.parse::<IpAddr>().expect("an address");
        let pairs = [["10.0.0.1", "10.0.0.9"], ["10.0.0.1", "192.0.2.1"], ["10.0.0.2", "10.0.0.9"]];
        let ends = Ends::of(pairs.into_iter().map(|two| two.map(parsed)));
        let seen = Seen { ends: &ends, wire_bytes: &[1, 300, 700], rows: &[1, 2] };
        let inside: Vec<bool> = ends.addresses.iter().map(|one| one.to_string().starts_with("10.")).collect();
        assert_eq!(seen.crossing_share(&inside), 0.3);
    }

    #[test]
    fn connections_count_where_there_are_no_bytes() {
        let connections = [("10.0.0.1", "10.0.0.9", 0), ("10.0.0.1", "192.0.2.1", 0)];
        assert_eq!(seen(&connections, None).2, 0.5);
        assert_eq!(seen(&[], None), (vec![], NearBy::Openers, 0.0));
    }

    #[test]
    fn an_opener_is_near_unless_it_asks_from_the_far_side() {
        let cases = [[true, true], [true, false], [false, false], [false, true]];
        assert_eq!(cases.map(|[opener, responder]| opener_is_near(opener, responder)), [true, true, true, false]);
    }
}
