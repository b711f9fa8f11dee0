//! What to doubt in a capture, in sentences.

use capture::{Connection, Counts, Skip, Volume};

use crate::numbers::seconds;
use crate::text;
use crate::udp_share::UdpShare;

/// Share of the bytes that crosses from which on the rest is not worth a word.
const MOSTLY_CROSSING: f64 = 0.9;
/// Only of a capture longer than this is a silence doubtful, s ...
const GAP_OF_S: f64 = 3_600.0;
/// ... that lasts for this share of it.
const GAP_SHARE: f64 = 0.9;

/// Share of the packets or of the bytes from which on something of them is worth a word.
pub(crate) const LEAST_SAID: f64 = 0.01;
/// Share of the TCP connections with payload, captured in one direction, from which on that is said.
pub(crate) const LEAST_ONE_WAY: f64 = 0.1;
/// One packet of so many being a copy, copies are left out without being asked.
const LEFT_OUT_FROM: u64 = 5;
/// Headers of tunnels inside each other are no longer than this, bytes.
const MOST_TUNNEL_BYTES: u32 = 400;
/// Interfaces that are named, at most.
const MOST_NAMED: usize = 4;

/// What to doubt in a capture of which `crossing` is the share of the bytes that passes between both sides.
pub(crate) fn doubts(udp: &UdpShare, counts: &Counts, crossing: f64) -> Vec<String> {
    let taps = counts.taps.iter().zip(&counts.names).map(|(tap, name)| (tap.interface, name.as_deref()));
    let left_out = counts.skipped(Skip::Duplicate) > 0;
    let found = [
        one_sided(crossing),
        tunnelled(counts),
        copies(counts.copies, counts.packets, left_out, counts.translated, taps),
        udp.replay_sentence(),
    ];
    found.into_iter().flatten().collect()
}

/// Bytes that headers of tunnels add to a TCP packet on the link, in the mean over all TCP packets: what a replay of them adds.
pub fn tunnel_bytes(counts: &Counts) -> u32 {
    let around = counts.around_tcp;
    let mean = around.bytes as f64 / around.count.max(1) as f64;
    (mean.round() as u32).min(MOST_TUNNEL_BYTES)
}

fn tunnelled(counts: &Counts) -> Option<String> {
    let bytes = tunnel_bytes(counts);
    (bytes > 0).then(|| {
        format!("TCP packets are {bytes} bytes longer on the link by headers of tunnels, in the mean: those of the replay are, too")
    })
}

/// Of a capture that was read through a filter, which left out so many packets and let so many through.
pub fn filtered(expression: &str, left_out: u64, packets: u64) -> String {
    let whole = left_out + packets;
    let share = left_out as f64 / whole.max(1) as f64;
    format!(
        "the filter \"{expression}\" leaves out {} of {} packets ({:.1} %)",
        text::grouped(left_out),
        text::grouped(whole),
        100.0 * share
    )
}

/// What to doubt in the times of a capture of `duration_s`: the longest time without anything is `silence_s`, times go back by
/// `set_back_s` at most, and it has `nanoseconds` where its header says microseconds.
pub fn clocks(silence_s: Option<f64>, duration_s: f64, set_back_s: f64, nanoseconds: bool) -> Vec<String> {
    const WHY: &str = "two captures in one file, or a clock that jumped; shares of time and mean loads mean nothing: cut it there \
                       (editcap -A and -B)";
    let silence_s = silence_s.filter(|&silence_s| duration_s > GAP_OF_S && silence_s > GAP_SHARE * duration_s);
    let silence = silence_s
        .map(|silence_s| format!("nothing passes for {} of {}: {WHY}", text::time(silence_s), text::time(duration_s)));
    let back =
        (set_back_s > 0.0).then(|| format!("times go back by {} within the capture: {WHY}", text::time(set_back_s)));
    let fine = nanoseconds.then(|| {
        "the capture is a pcap of microseconds by its header and has nanoseconds: times are read as these".to_owned()
    });
    [silence, back, fine].into_iter().flatten().collect()
}

/// The same of what was read.
pub(crate) fn clocks_of(volumes: &[Volume], counts: &Counts) -> Vec<String> {
    let duration_s = counts.duration_ns() as f64 * 1e-9;
    clocks(longest_silence_s(volumes), duration_s, counts.set_back_ns as f64 * 1e-9, counts.nanoseconds)
}

/// Of a capture of which much passes between hosts of one side; `crossing` is the share of the bytes that does not.
pub fn one_sided(crossing: f64) -> Option<String> {
    (crossing < MOSTLY_CROSSING).then(|| {
        format!(
            "{:.1} % of the bytes pass between hosts of one side: they are taken to pass the link, as all in the capture, and \
             down is toward who opened the connection; name the near side by --internal, or cut them out",
            100.0 * (1.0 - crossing)
        )
    })
}

/// Of a capture of which so many of its packets are copies that were `left_out` or not, seen at interfaces of these numbers
/// and names.
pub fn copies<'a>(
    copies: u64,
    packets: u64,
    left_out: bool,
    translated: u64,
    taps: impl Iterator<Item = (u32, Option<&'a str>)>,
) -> Option<String> {
    let share = copies as f64 / packets as f64;
    if packets == 0 || share < LEAST_SAID {
        return None;
    }
    let mut names = Vec::new();
    for (interface, name) in taps {
        let name = name.filter(|name| !name.is_empty()).map_or_else(|| interface.to_string(), str::to_owned);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let places = match &names[..] {
        [most @ .., last] if !most.is_empty() && names.len() <= MOST_NAMED => {
            // Names are a stranger's.
            let most: Vec<String> = most.iter().map(|name| text::printable(name)).collect();
            format!("at interfaces {} and {}", most.join(", "), text::printable(last))
        }
        [_, _, ..] => format!("at {} interfaces", names.len()),
        _ => "by one tap (a mirror port, or -i any)".to_owned(),
    };
    let seen = format!("{:.1} % of the packets are copies of packets that were seen before, {places}", 100.0 * share);
    let many = copies > packets / LEFT_OUT_FROM;
    Some(match (left_out, many) {
        (true, _) => {
            let sides = match translated {
                0 => String::new(),
                1 => "; one connection was seen on both sides of address translation and counts with its inside addresses"
                    .to_owned(),
                more => format!(
                    "; {} connections were seen on both sides of address translation and count with their inside addresses",
                    text::grouped(more)
                ),
            };
            format!("{seen}: they are left out, so that each packet counts once{sides}; --duplicates keep counts them")
        }
        (false, true) => format!(
            "{seen}: they count as traffic and as retransmissions, and the figures are wrong by that; --duplicates \
             leave-out leaves them out"
        ),
        (false, false) => format!("{seen}: they count as traffic; --duplicates leave-out leaves them out"),
    })
}

/// Longest time in which nothing passes; None of fewer than two windows with traffic.
fn longest_silence_s(volumes: &[Volume]) -> Option<f64> {
    let mut starts_ns: Vec<i64> = volumes.iter().map(|one| one.start_ns).collect();
    starts_ns.sort_unstable();
    starts_ns.dedup();
    starts_ns.windows(2).map(|pair| seconds(pair[1]) - seconds(pair[0])).max_by(f64::total_cmp)
}

/// Why a capture gave nothing to replay, as far as its packets tell.
pub(crate) fn why_nothing(connections: &[Connection], counts: &Counts) -> String {
    if !connections.is_empty() {
        let plural = if connections.len() == 1 { "" } else { "s" };
        let number = text::grouped(connections.len() as u64);
        return format!(": none of its {number} connection{plural} carries TCP payload or UDP");
    }
    if counts.packets == 0 {
        return ": no packet in it".to_owned();
    }
    if counts.skipped_total() == 0 {
        return ": no connection in it".to_owned();
    }
    if !counts.link_types.is_empty() {
        let mut types: Vec<(i32, u64)> = counts.link_types.iter().map(|(&kind, &count)| (kind, count)).collect();
        types.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let one = |&(kind, count): &(i32, u64)| {
            let name = LINK_TYPES.iter().find(|(known, _)| *known == kind);
            let plural = if count == 1 { "" } else { "s" };
            let named = name.map_or(String::new(), |(_, name)| format!(" ({name})"));
            format!("{} packet{plural} of link type {kind}{named}", text::grouped(count))
        };
        let told: Vec<String> = types.iter().take(3).map(one).collect();
        return format!(": link type not decoded: {}", told.join(", "));
    }
    format!(": no packet decoded: {}", first_of(&reasons(counts)))
}

/// Packets that are left out and why, the most frequent reason first; copies are none of them.
pub(crate) fn reasons(counts: &Counts) -> Vec<(u64, String)> {
    let mut found = Vec::new();
    for (reason, name) in Skip::NAMES {
        if reason == Skip::Duplicate {
            continue;
        }
        let words = SKIPPED.iter().find(|(known, _)| *known == name).map_or(name, |(_, words)| words);
        found.push((counts.skipped(reason), words.to_owned()));
    }
    found.retain(|&(count, _)| count > 0);
    found.sort_by_key(|&(count, _)| std::cmp::Reverse(count));
    found
}

/// The three most frequent reasons in words.
pub(crate) fn first_of(reasons: &[(u64, String)]) -> String {
    let one = |(count, why): &(u64, String)| format!("{} {why}", text::grouped(*count));
    reasons.iter().take(3).map(one).collect::<Vec<_>>().join(", ")
}

/// An IP protocol in words.
pub(crate) fn protocol_text(number: u8) -> String {
    match PROTOCOLS.iter().find(|(known, _)| *known == number) {
        Some((_, name)) => format!("{name} (IP protocol {number})"),
        None => format!("of IP protocol {number}"),
    }
}

/// IP protocols that people capture and whose headers are not read.
const PROTOCOLS: [(u8, &str); 15] = [
    (2, "IGMP"),
    (4, "IP in IP"),
    (41, "6in4"),
    (46, "RSVP"),
    (47, "GRE"),
    (50, "ESP"),
    (88, "EIGRP"),
    (89, "OSPF"),
    (97, "Ethernet in IP"),
    (103, "PIM"),
    (108, "IPComp"),
    (112, "VRRP"),
    (115, "L2TP"),
    (132, "SCTP"),
    (137, "MPLS in IP"),
];

/// Link types that people capture and that are not decoded.
const LINK_TYPES: [(i32, &str); 12] = [
    (105, "IEEE 802.11"),
    (119, "IEEE 802.11 with a Prism header"),
    (127, "IEEE 802.11 with radiotap"),
    (147, "user 0"),
    (163, "IEEE 802.11 with AVS"),
    (187, "Bluetooth"),
    (189, "USB"),
    (192, "per-packet information"),
    (195, "IEEE 802.15.4"),
    (201, "Bluetooth"),
    (220, "USB"),
    (227, "CAN"),
];

pub(crate) const LINK_TYPE: &str = "of a link type that is not decoded";
pub(crate) const CUT_HEADER: &str = "cut within their headers";

/// Why packets are left out, in words.
const SKIPPED: [(&str, &str); 8] = [
    ("link_type", LINK_TYPE),
    ("not_ip", "neither IPv4 nor IPv6"),
    ("cut_header", CUT_HEADER),
    ("malformed", "malformed"),
    ("no_interface", "without a known interface or time"),
    ("oversized", "too long"),
    ("cut_record", "cut off by the end of the file"),
    ("duplicate", "copies"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn said(taps: &[(u32, Option<&str>)]) -> String {
        copies(50, 100, true, 0, taps.iter().copied()).unwrap_or_default()
    }

    #[test]
    fn interfaces_are_named_on_one_line_whatever_a_stranger_calls_them() {
        assert!(
            said(&[(0, Some("a\nb\u{1b}[31m")), (1, Some(""))]).contains("at interfaces a\\nb\\x1b[31m and 1: they")
        );
        assert!(said(&[(0, None), (0, None)]).contains("by one tap"));
        let five: Vec<_> = (0..5).map(|interface| (interface, None)).collect();
        assert!(said(&five).contains("at 5 interfaces"));
    }

    #[test]
    fn few_copies_and_short_silences_are_no_doubt() {
        assert_eq!(copies(9, 1_000, false, 0, std::iter::empty()), None);
        assert_eq!(copies(0, 0, false, 0, std::iter::empty()), None);
        assert_eq!(clocks(Some(60_000.0), 86_000.0, 0.0, false), Vec::<String>::new());
        assert_eq!(clocks(Some(3_400.0), 3_500.0, 0.0, false), Vec::<String>::new());
        let said = clocks(Some(10_800.0), 10_900.0, 7_200.0, true);
        let starts = [
            "nothing passes for 10,800 s of 10,900 s: two",
            "times go back by 7,200 s within",
            "the capture is a pcap",
        ];
        assert_eq!(said.len(), starts.len());
        assert!(said.iter().zip(starts).all(|(said, start)| said.starts_with(start)), "{said:?}");
        assert_eq!(one_sided(0.9), None);
    }
}
