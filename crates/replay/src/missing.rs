//! What of a capture its replay leaves out or had to assume, in words.
//!
//! An answer about a part of the traffic says so before anything else.

use std::collections::BTreeMap;
use std::net::IpAddr;

use capture::{Connection, Counts, Protocol};

use crate::doubts::{CUT_HEADER, LEAST_ONE_WAY, LEAST_SAID, LINK_TYPE, first_of, reasons};
use crate::text;
use crate::unanswerable::not_known;
use hosts::Ends;

/// Share of the connections of a side that one address has where it may stand for many hosts ...
const MOSTLY_ONE: f64 = 0.9;
/// ... of so many connections at least.
const LEAST_CONNECTIONS: usize = 100;
/// Round-trip time of all flows where the capture tells none, s: that of a path of some 4,000 km.
pub(crate) const ASSUMED_RTT_S: f64 = 0.04;

/// What of a capture no replay has; `near` says of each address whether it is on the near side.
pub(crate) fn missing(connections: &[Connection], counts: &Counts, ends: &Ends, near: &[bool]) -> Vec<String> {
    let found = [not_known(counts), left_out(counts), one_way(connections), one_host(connections, ends, near)];
    found.into_iter().flatten().collect()
}

/// Connections that were given up.
pub(crate) fn partial(counts: &Counts, held: usize) -> Option<String> {
    (counts.evicted > 0).then(|| {
        format!(
            "Partial: {} connections that were silent for longest are left out, since {} are all that are held: cut the \
             capture into parts (editcap -A and -B, or -c) and read each",
            text::grouped(counts.evicted),
            text::grouped(held as u64)
        )
    })
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Share of the packets of a capture that are in no connection.
pub(crate) fn left_out_share(counts: &Counts) -> f64 {
    let left: u64 = reasons(counts).iter().map(|(count, _)| count).sum();
    if counts.packets == 0 { 0.0 } else { left as f64 / counts.packets as f64 }
}

fn left_out(counts: &Counts) -> Option<String> {
    let found = reasons(counts);
    let (_, why) = found.first()?;
    let share = left_out_share(counts);
    if share < LEAST_SAID {
        return None;
    }
    let told = format!(
        "{} of {} packets are left out: {}. The answer is about the other {}: the load of the packets left \
         out is missing from it",
        percent(share),
        text::grouped(counts.packets),
        first_of(&found),
        percent(1.0 - share)
    );
    let advice = match why.as_str() {
        CUT_HEADER => Some("capture more of each packet (tcpdump -s 128)"),
        LINK_TYPE => Some("capture where frames are of Ethernet or IP, on the wire behind an access point"),
        _ => None,
    };
    Some(advice.map_or(told.clone(), |advice| format!("{told}; {advice}")))
}

fn carries(one: &&Connection) -> bool {
    one.has_trains() && one.from_opener.distinct_bytes.saturating_add(one.from_responder.distinct_bytes) > 0
}

fn one_way(connections: &[Connection]) -> Option<String> {
    let tcp = connections.iter().filter(carries).filter(|one| one.protocol == Protocol::Tcp).count();
    let silent = |one: &&Connection| one.from_opener.packets == 0 || one.from_responder.packets == 0;
    let found = connections.iter().filter(carries).filter(|one| one.protocol == Protocol::Tcp).filter(silent).count();
    (found > 0 && found as f64 >= LEAST_ONE_WAY * tcp as f64).then(|| {
        format!(
            "{} of {} TCP connections were captured in one direction only: the data, the load and the round trips of the \
             other direction are missing, and times of the answer are too short: capture where both directions pass",
            text::grouped(found as u64),
            text::grouped(tcp as u64)
        )
    })
}

fn one_host(connections: &[Connection], ends: &Ends, near: &[bool]) -> Option<String> {
    let tcp = connections.iter().filter(carries).count();
    let mut by_host = BTreeMap::<u32, usize>::new();
    for (row, _) in connections.iter().enumerate().filter(|(_, one)| carries(one)) {
        if near[ends.opener[row] as usize] {
            *by_host.entry(ends.opener[row]).or_default() += 1;
        }
    }
    let own: usize = by_host.values().sum();
    let (&host, &most) = by_host.iter().max_by_key(|(_, count)| **count)?;
    let enough = own >= LEAST_CONNECTIONS && own as f64 >= tcp as f64 / 2.0;
    (enough && most as f64 >= MOSTLY_ONE * own as f64).then(|| {
        format!(
            "{} of {} connections of the near side are of one address, {}: if many hosts stand behind it (address \
             translation), they are taken for one user and times of pages are too long: capture on their side of the \
             translation",
            text::grouped(most as u64),
            text::grouped(own as u64),
            ends.addresses[host as usize]
        )
    })
}

/// What a capture shows of its link next to the traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Framing {
    /// Bytes that the link has in front of and behind each packet of IP: VLAN tags, with Ethernet's own header and
    /// checksum; 0 where it has no tags. Linux counts PPPoE's header and labels of MPLS with the packet.
    pub overhead_bytes: u64,
    /// Whether addresses of the near side may be translated on their way: some are private, one may stand for many, or
    /// none opens a connection.
    pub translated: bool,
}

/// Header and checksum of a frame, bytes, and what a shaper adds to a packet at most (tc-cake(8), `overhead`).
const ETHERNET_BYTES: u64 = 18;
const MOST_OVERHEAD_BYTES: u64 = 256;

/// The framing of most packets, and whether any near host that opens a TCP connection has a private address.
pub(crate) fn framing(connections: &[Connection], counts: &Counts, ends: &Ends, near: &[bool]) -> Framing {
    let most = counts.framed.iter().max_by_key(|(_, packets)| **packets);
    let most = most.filter(|(_, packets)| **packets > counts.decoded / 2);
    let rows = connections.iter().enumerate().filter(|(_, one)| carries(one)).map(|(row, _)| row);
    let openers = rows.map(|row| ends.opener[row] as usize).filter(|&end| near[end]);
    let mut openers = openers.map(|end| ends.addresses[end]).peekable();
    Framing {
        overhead_bytes: most
            .map(|(&bytes, _)| ETHERNET_BYTES + bytes as u64)
            .filter(|&bytes| bytes <= MOST_OVERHEAD_BYTES)
            .unwrap_or(0),
        translated: openers.peek().is_none() || one_host(connections, ends, near).is_some() || openers.any(is_private),
    }
}

/// Addresses that routers translate: of RFC 1918, and of carriers (RFC 6598). IPv6 has none in practice.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            address.is_private() || first == 100 && second & 0xc0 == 64
        }
        IpAddr::V6(_) => false,
    }
}

/// What a list leaves out of connections, of so many bytes of TCP payload down and up.
pub(crate) fn asides(left: [u64; 2], all: [u64; 2]) -> Option<String> {
    let said: Vec<String> = ["down", "up"]
        .into_iter()
        .zip(left.into_iter().zip(all))
        .filter(|&(_, (_, all))| all > 0)
        .map(|(way, (left, all))| (way, left as f64 / all as f64))
        .filter(|&(_, share)| share >= LEAST_SAID)
        .map(|(way, share)| format!("{} of the TCP bytes {way}", percent(share)))
        .collect();
    (!said.is_empty()).then(|| {
        format!(
            "{} are short messages that an end sends while the other goes on: --replay users leaves them out, --replay \
             trains has them",
            said.join(" and ")
        )
    })
}

/// That no round-trip time is known.
pub(crate) fn assumed_rtt() -> String {
    format!(
        "No round-trip time can be measured in the capture: {} is assumed for every flow; --rtt TIME sets another",
        text::time(ASSUMED_RTT_S)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asides_are_a_share_of_the_bytes_of_each_way() {
        assert_eq!(asides([0, 0], [0, 0]), None);
        assert_eq!(asides([1, 0], [900, 127]), None);
        let said = "1.0 % of the TCP bytes down and 44.9 % of the TCP bytes up are short messages that an end sends while the \
                    other goes on: --replay users leaves them out, --replay trains has them";
        assert_eq!(asides([9, 57], [900, 127]).as_deref(), Some(said));
    }
}
