//! What to doubt in a capture, in sentences.

use capture::{Connection, Counts, Skip, Volume};

use crate::numbers::seconds;
use crate::text;

/// Share of the bytes that crosses from which on the rest is not worth a word.
const MOSTLY_CROSSING: f64 = 0.9;
/// Only of a capture longer than this is a silence doubtful, s ...
const GAP_OF_S: f64 = 86_400.0;
/// ... that lasts for this share of it.
const GAP_SHARE: f64 = 0.9;

/// What to doubt in a capture of which `crossing` is the share of the bytes that passes between both sides.
pub(crate) fn doubts(volumes: &[Volume], counts: &Counts, crossing: f64) -> Vec<String> {
    let duration_s = counts.duration_ns() as f64 * 1e-9;
    let silence_s = longest_silence_s(volumes).filter(|&silence_s| silence_s > GAP_SHARE * duration_s);
    let jump = silence_s.filter(|_| duration_s > GAP_OF_S).map(|silence_s| {
        format!(
            "nothing passes for {} of {}: two captures in one file, or a clock that jumped; shares of time and mean loads \
             mean nothing: cut it there (editcap -A and -B)",
            text::time(silence_s),
            text::time(duration_s)
        )
    });
    let one_sided = (crossing < MOSTLY_CROSSING).then(|| {
        format!(
            "{:.1} % of the bytes pass between hosts of one side: they are taken to pass the link, as all in the capture, and \
             down is toward who opened the connection; name the near side by --internal, or cut them out",
            100.0 * (1.0 - crossing)
        )
    });
    jump.into_iter().chain(one_sided).collect()
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
        return String::new();
    }
    if counts.packets == 0 {
        return ": no packet in it".to_owned();
    }
    let told = |(reason, name): (Skip, &'static str)| (counts.skipped(reason), name);
    let mut reasons: Vec<(u64, &str)> = Skip::NAMES.into_iter().map(told).filter(|&(count, _)| count > 0).collect();
    if reasons.is_empty() {
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
    reasons.sort_by_key(|&(count, _)| std::cmp::Reverse(count));
    let one = |&(count, name): &(u64, &str)| {
        let words = SKIPPED.iter().find(|(known, _)| *known == name).map_or(name, |(_, words)| words);
        format!("{} {words}", text::grouped(count))
    };
    format!(": no packet decoded: {}", reasons.iter().take(3).map(one).collect::<Vec<_>>().join(", "))
}

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

/// Why packets are left out, in words.
const SKIPPED: [(&str, &str); 9] = [
    ("link_type", "of a link type that is not decoded"),
    ("not_ip", "neither IPv4 nor IPv6"),
    ("fragment", "fragments without their first one"),
    ("other_protocol", "neither TCP nor UDP nor ICMP"),
    ("cut_header", "cut within their headers"),
    ("malformed", "malformed"),
    ("no_interface", "without a known interface or time"),
    ("oversized", "too long"),
    ("duplicate", "copies"),
];
