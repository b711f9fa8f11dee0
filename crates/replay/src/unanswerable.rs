//! What a capture cannot answer, in one line: the words are decided here for every command.

use capture::{Amount, Counts, Reason, TUNNEL_PROTOCOLS};

use crate::doubts::{CUT_HEADER, LINK_TYPE, protocol_text};
use crate::missing::{LEAST_ONE_WAY, LEAST_SAID};
use crate::text;

/// What a capture with these counts cannot answer; None where it shows nothing of the kind.
pub fn cannot_answer(counts: &Counts) -> Option<String> {
    let protocols = |tunnels: bool| named(counts, tunnels);
    let found = [
        left_out(counts, Reason::Tunnel).map(|share| format!("who sends what inside {} ({share})", protocols(true))),
        left_out(counts, Reason::Protocol).map(|share| format!("what packets {} carry ({share})", protocols(false))),
        left_out(counts, Reason::LinkType).map(|share| format!("what packets {LINK_TYPE} carry ({share})")),
        by_bytes(counts, Reason::NotIp).map(|share| format!("what frames that are not IP carry ({share})")),
        left_out(counts, Reason::CutHeader).map(|share| format!("what packets {CUT_HEADER} carry ({share})")),
        left_out(counts, Reason::Fragment)
            .map(|share| format!("whose the fragments without their first are ({share})")),
        left_out(counts, Reason::Damaged).map(|share| format!("what damaged packets carry ({share})")),
        round_trips(counts),
        copies(counts),
    ];
    let clauses: Vec<String> = found.into_iter().flatten().collect();
    (!clauses.is_empty()).then(|| format!("What this capture cannot answer: {}", clauses.join("; ")))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The larger share of what was left out for `reason`, where it is worth a word; headers around tunnels are no packets.
fn left_out(counts: &Counts, reason: Reason) -> Option<String> {
    let (left, seen) = (counts.account.left_out(reason), counts.account.seen());
    if left.count == 0 {
        return None;
    }
    let of_packets = left.count as f64 / seen.count as f64;
    by_bytes(counts, reason)
        .filter(|_| of_bytes(left, seen) >= of_packets)
        .or_else(|| (of_packets >= LEAST_SAID).then(|| format!("{} of the packets", percent(of_packets))))
}

fn by_bytes(counts: &Counts, reason: Reason) -> Option<String> {
    let share = of_bytes(counts.account.left_out(reason), counts.account.seen());
    (share >= LEAST_SAID).then(|| format!("{} of the bytes", percent(share)))
}

fn of_bytes(left: Amount, seen: Amount) -> f64 {
    if seen.bytes == 0 { 0.0 } else { left.bytes as f64 / seen.bytes as f64 }
}

/// The IP protocols that are not decoded, tunnels or others, those with most bytes first.
fn named(counts: &Counts, tunnels: bool) -> String {
    let protocols = counts.other_protocols.iter().filter(|(number, _)| TUNNEL_PROTOCOLS.contains(number) == tunnels);
    let mut protocols: Vec<_> = protocols.map(|(&number, of)| (of.bytes, protocol_text(number))).collect();
    protocols.sort_by_key(|&(bytes, _)| std::cmp::Reverse(bytes));
    protocols.into_iter().take(3).map(|(_, name)| name).collect::<Vec<_>>().join(", ")
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
    use capture::{Carried, Shown};

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
        let usual = Shown { tcp: 9, one_way: 0, timed: 9 };
        assert_eq!(cannot_answer(&counts(Reason::Tunnel, 0, usual)), None);
        let mut esp = counts(Reason::Tunnel, 94, usual);
        esp.other_protocols.insert(50, Carried { packets: 94, bytes: 9_400 });
        let said = "What this capture cannot answer: who sends what inside ESP (IP protocol 50) (94.0 % of the bytes)";
        assert_eq!(cannot_answer(&esp).as_deref(), Some(said));
        let one_way = cannot_answer(&counts(Reason::CutHeader, 2, Shown { tcp: 9, one_way: 9, timed: 0 }));
        let said = "What this capture cannot answer: what packets cut within their headers carry (2.0 % of the bytes); round \
                    trips and the load of the other direction (9 of 9 TCP connections were captured in one direction only)";
        assert_eq!(one_way.as_deref(), Some(said));
        let timeless = cannot_answer(&counts(Reason::Tunnel, 0, Shown { tcp: 9, one_way: 0, timed: 0 }));
        assert!(timeless.is_some_and(|said| said.ends_with("round trips (none of its 9 TCP connections shows one)")));
    }
}
