//! What a capture cannot answer, in one line: the words are decided here for every command.

use capture::{Amount, Counts, FRAGMENT, Reason, Shown, TUNNEL_PROTOCOLS};

use crate::doubts::{CUT_HEADER, LEAST_ONE_WAY, LEAST_SAID, LINK_TYPE, protocol_text};
use crate::text;

/// Protocols of tunnels that `--tunnels` looks into: IP in IP, 6in4, GRE.
const ENTERED: [u8; 3] = [4, 41, 47];

/// What a capture with these counts cannot answer; None where it shows nothing of the kind.
pub fn cannot_answer(counts: &Counts) -> Option<String> {
    let [tunnels, others, fragments] = opaque_clauses(counts);
    let found = [
        tunnels,
        others,
        fragments,
        left_out(counts, Reason::LinkType).map(|share| format!("what packets {LINK_TYPE} carry ({share})")),
        lost_by_the_tap(counts),
        dropped(counts),
        stopped(counts),
        by_bytes(counts, Reason::NotIp).map(|share| format!("what frames that are not IP carry ({share})")),
        left_out(counts, Reason::CutHeader).map(|share| format!("what packets {CUT_HEADER} carry ({share})")),
        left_out(counts, Reason::Damaged).map(|share| format!("what damaged packets carry ({share})")),
        round_trips(counts),
        copies(counts),
    ];
    in_one(&found)
}

/// The same of what has no sentence of its own in a replay: IP protocols whose headers are not read load the link, but nobody
/// knows what is in them, and what the tap lost loads none.
pub(crate) fn not_known(counts: &Counts) -> Option<String> {
    let [tunnels, others, fragments] = opaque_clauses(counts);
    in_one(&[tunnels, others, fragments, lost_by_the_tap(counts), dropped(counts), stopped(counts)])
}

fn in_one(clauses: &[Option<String>]) -> Option<String> {
    let clauses: Vec<&str> = clauses.iter().flatten().map(String::as_str).collect();
    (!clauses.is_empty()).then(|| format!("What this capture cannot answer: {}", clauses.join("; ")))
}

fn opaque_clauses(counts: &Counts) -> [Option<String>; 3] {
    [
        opaque(counts, |number| TUNNEL_PROTOCOLS.contains(&number)).map(|(names, share)| {
            let inside = if may_be_entered(counts) { ": --tunnels looks inside" } else { "" };
            format!("who sends what inside {names} ({share}{inside})")
        }),
        opaque(counts, |number| number != FRAGMENT && !TUNNEL_PROTOCOLS.contains(&number))
            .map(|(names, share)| format!("what packets {names} carry ({share})")),
        opaque(counts, |number| number == FRAGMENT)
            .map(|(_, share)| format!("whose the fragments without their first are ({share})")),
    ]
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The larger share of what was left out for `reason`, where it is worth a word.
fn left_out(counts: &Counts, reason: Reason) -> Option<String> {
    share_of(counts.account.left_out(reason), counts.account.seen())
}

fn share_of(part: Amount, seen: Amount) -> Option<String> {
    if part.count == 0 {
        return None;
    }
    let of_packets = part.count as f64 / seen.count as f64;
    in_bytes(part, seen)
        .filter(|_| of_bytes(part, seen) >= of_packets)
        .or_else(|| (of_packets >= LEAST_SAID).then(|| format!("{} of the packets", percent(of_packets))))
}

fn by_bytes(counts: &Counts, reason: Reason) -> Option<String> {
    in_bytes(counts.account.left_out(reason), counts.account.seen())
}

fn in_bytes(part: Amount, seen: Amount) -> Option<String> {
    let share = of_bytes(part, seen);
    (share >= LEAST_SAID).then(|| format!("{} of the bytes", percent(share)))
}

fn of_bytes(left: Amount, seen: Amount) -> f64 {
    if seen.bytes == 0 { 0.0 } else { left.bytes as f64 / seen.bytes as f64 }
}

/// The IP protocols of these numbers whose headers are not read, those with most bytes first, and their share, where it is
/// worth a word. They load the link.
fn opaque(counts: &Counts, counted: impl Fn(u8) -> bool) -> Option<(String, String)> {
    let mut found: Vec<_> = counts.other_protocols.iter().filter(|(number, _)| counted(**number)).collect();
    let all = found.iter().fold(Amount::default(), |sum, (_, of)| sum.and(Amount::of(of.packets, of.bytes)));
    let share = share_of(all, counts.account.seen())?;
    found.sort_by_key(|(_, of)| std::cmp::Reverse(of.bytes));
    let names: Vec<_> = found.into_iter().take(3).map(|(&number, _)| protocol_text(number)).collect();
    Some((names.join(", "), share))
}

/// Whether one of the tunnels that were not looked into is of a kind that can be.
fn may_be_entered(counts: &Counts) -> bool {
    !counts.inside && ENTERED.iter().any(|number| counts.other_protocols.contains_key(number))
}

fn lost_by_the_tap(counts: &Counts) -> Option<String> {
    let Shown { passed_bytes, lost_bytes, .. } = counts.shown;
    let share = lost_bytes as f64 / (passed_bytes as f64 + lost_bytes as f64);
    (lost_bytes > 0 && share >= LEAST_SAID).then(|| {
        format!("what the tap lost ({} of the TCP payload was acknowledged and never captured)", percent(share))
    })
}

/// Packets that the capturing program counted as dropped: they are in no figure, and a filter does not know of them.
fn dropped(counts: &Counts) -> Option<String> {
    let (dropped, captured) = (counts.dropped as f64, (counts.packets + counts.filtered) as f64);
    let share = dropped / (dropped + captured);
    (counts.dropped > 0 && share >= LEAST_SAID).then(|| {
        format!(
            "what the capturing program dropped ({} packets by its own count, {} of all)",
            text::grouped(counts.dropped),
            percent(share)
        )
    })
}

/// The longest silence in which traffic that was under way stopped; through a filter silences are usual.
fn stopped(counts: &Counts) -> Option<String> {
    let longest = counts.stops.iter().max_by_key(|stop| stop.lasted_ns).filter(|_| counts.filtered == 0)?;
    let from_ns = longest.from_ns.saturating_sub(counts.first_ns.unwrap_or(longest.from_ns));
    let more = match counts.stops.len() {
        1 => String::new(),
        2 => ", and one shorter silence is of this kind".to_owned(),
        count => format!(", and {} shorter silences are of this kind", text::grouped(count as u64 - 1)),
    };
    Some(format!(
        "what happened in the {} from {} on (nothing passes, while {} pairs of hosts had packets before and after: the \
         capture was interrupted, its clock jumped, or the link was down{more})",
        text::time(longest.lasted_ns as f64 * 1e-9),
        text::time(from_ns as f64 * 1e-9),
        text::grouped(longest.pairs),
    ))
}

fn round_trips(counts: &Counts) -> Option<String> {
    let shown = counts.shown;
    if shown.one_way > 0 && shown.one_way as f64 >= LEAST_ONE_WAY * shown.tcp as f64 {
        return Some(format!(
            "round trips and the load of the other direction ({} of {} TCP connections were captured in one direction only)",
            text::grouped(shown.one_way),
            text::grouped(shown.tcp)
        ));
    }
    (shown.tcp > 0 && shown.timed == 0)
        .then(|| format!("round trips (none of its {} TCP connections shows one)", text::grouped(shown.tcp)))
}

/// Copies that count.
fn copies(counts: &Counts) -> Option<String> {
    let share = counts.copies as f64 / counts.packets.max(1) as f64;
    let counted = counts.account.left_out(Reason::Duplicate).count == 0;
    (counted && share >= LEAST_SAID).then(|| {
        format!(
            "how much was sent once ({} of the packets are copies, which count: --duplicates leave-out)",
            percent(share)
        )
    })
}

#[cfg(test)]
mod tests {
    use capture::{Carried, Stop};

    use super::*;

    fn counts(reason: Reason, left: u64, shown: Shown) -> Counts {
        let mut counts = Counts::default();
        (counts.packets, counts.shown) = (100, shown);
        counts.account.see(Amount::of(100, 10_000));
        counts.account.take(Amount::of(100 - left, 10_000 - 100 * left));
        counts.account.leave_out(reason, Amount::of(left, 100 * left));
        counts
    }

    #[test]
    fn what_is_said_is_what_the_account_has() {
        let usual = Shown { tcp: 9, timed: 9, ..Shown::default() };
        assert_eq!(cannot_answer(&counts(Reason::NotIp, 0, usual)), None);
        let mut esp = counts(Reason::NotIp, 0, usual);
        esp.other_protocols.insert(50, Carried { packets: 94, bytes: 9_400 });
        let said = "What this capture cannot answer: who sends what inside ESP (IP protocol 50) (94.0 % of the bytes)";
        assert_eq!(cannot_answer(&esp).as_deref(), Some(said));
        let mut gre = counts(Reason::NotIp, 0, usual);
        gre.other_protocols.insert(47, Carried { packets: 94, bytes: 9_400 });
        gre.other_protocols.insert(FRAGMENT, Carried { packets: 2, bytes: 200 });
        let said = "What this capture cannot answer: who sends what inside GRE (IP protocol 47) (94.0 % of the bytes: \
                    --tunnels looks inside); whose the fragments without their first are (2.0 % of the bytes)";
        assert_eq!(cannot_answer(&gre).as_deref(), Some(said));
        let lossy = Shown { passed_bytes: 950, lost_bytes: 50, ..usual };
        let said = "What this capture cannot answer: what the tap lost (5.0 % of the TCP payload was acknowledged and never \
                    captured)";
        assert_eq!(cannot_answer(&counts(Reason::NotIp, 0, lossy)).as_deref(), Some(said));
        let mut dropping = counts(Reason::NotIp, 0, usual);
        dropping.dropped = 25;
        let said = "What this capture cannot answer: what the capturing program dropped (25 packets by its own count, 20.0 % of all)";
        assert_eq!(cannot_answer(&dropping).as_deref(), Some(said));
        dropping.dropped = 1;
        assert_eq!(cannot_answer(&dropping), None);
        let mut stopping = counts(Reason::NotIp, 0, usual);
        let stop = Stop { from_ns: 45_600_000_000, lasted_ns: 12_000_000_000, pairs: 9 };
        (stopping.first_ns, stopping.stops) = (Some(600_000_000), vec![stop]);
        let said = "What this capture cannot answer: what happened in the 12.0 s from 45.0 s on (nothing passes, while 9 pairs of \
                    hosts had packets before and after: the capture was interrupted, its clock jumped, or the link was down)";
        assert_eq!(cannot_answer(&stopping).as_deref(), Some(said));
        stopping.filtered = 1;
        assert_eq!(cannot_answer(&stopping), None);
        gre.inside = true;
        assert!(cannot_answer(&gre).is_some_and(|said| !said.contains("--tunnels")));
        let one_way = cannot_answer(&counts(Reason::CutHeader, 2, Shown { tcp: 9, one_way: 9, ..Shown::default() }));
        let said = "What this capture cannot answer: what packets cut within their headers carry (2.0 % of the bytes); round \
                    trips and the load of the other direction (9 of 9 TCP connections were captured in one direction only)";
        assert_eq!(one_way.as_deref(), Some(said));
        let timeless = cannot_answer(&counts(Reason::NotIp, 0, Shown { tcp: 9, ..Shown::default() }));
        assert!(timeless.is_some_and(|said| said.ends_with("round trips (none of its 9 TCP connections shows one)")));
    }
}
