//! Which mechanism made the difference: what the counters of a run say that its queues did, as figures and one sentence
//! each. Nothing is said that has no figure, and nothing that stays below its threshold.

use netsim::PacketTrace;
use qdisc::{DropReason, Family};
use serde::Serialize;

use crate::context::FactsError;
use crate::flow_kind::Kind;
use crate::overtaking::Passing;
use crate::recommendation::FULL;
use crate::run_view::Ran;
use crate::waits::{goes_up, waits};

/// Waits below this are not spoken of, seconds: an increase of the ping by less has the best grade (docs/users.md).
const NOTICED_S: f64 = 0.005;
/// From this share of the long transfers' packets ahead on it is one queue: in order of arrival it is all of them.
const IN_ORDER: f64 = 0.95;
/// Up to this share of them ahead short transfers pass long ones: the most do not go before.
const PASSES: f64 = 0.5;
/// Shares of drops and marks below this are not spoken of: one packet in 10,000 is less than one in a transfer of 10 MB.
const SHARE: f64 = 1e-4;

/// Places of the documentation, `PAGE#HEADING`; the others are pages of disciplines.
const LINKS: &str = "mechanisms#links-and-queues";
const TCP: &str = "mechanisms#what-tcp-does";
const NEVER_FULL: &str = "how-to/choose#a-link-that-is-never-full";

/// A mechanism at work in a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mechanism {
    /// Its name.
    pub id: &'static str,
    /// `down` or `up`, whose queue it is; `both` where it is not told.
    pub direction: &'static str,
    /// Page of the documentation that explains it, and the place there, as in `mechanisms#links-and-queues`.
    pub page: String,
    /// Figures by name, with their units, in the order of the sentence.
    #[serde(serialize_with = "as_object")]
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, f64>"))]
    pub values: Vec<(&'static str, f64)>,
    /// What happened, in one sentence with these figures.
    pub sentence: String,
}

fn as_object<S: serde::Serializer>(values: &[(&'static str, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(values.iter().copied())
}

/// The mechanisms at work in `ran`, `kinds` being those of the flows of the list that ran ([`crate::kinds`]). Who lost
/// what is told where drops were traced ([`netsim::Run::trace_drops`]), who goes before whom where all flows were
/// ([`netsim::Run::traced`]).
///
/// # Errors
/// Facts that do not fit the flows, or kinds of another list.
pub fn mechanisms(ran: &Ran<'_>, kinds: &[Kind]) -> Result<Vec<Mechanism>, FactsError> {
    ran.check()?;
    if kinds.len() != ran.flows.len() {
        return Err(FactsError::records(kinds.len(), ran.flows.len()));
    }
    let mut found = Vec::new();
    found.extend(idle(ran));
    found.extend(who_waits(ran, kinds));
    for up in [false, true] {
        found.extend(drops(ran, kinds, up));
        found.extend(marks(ran, up));
    }
    found.extend(timeouts(ran, kinds));
    found.extend(slow_acknowledgements(ran));
    Ok(found)
}

const WAYS: [&str; 2] = ["down", "up"];

/// Three digits of a time.
fn time(seconds: f64) -> String {
    let ms = 1e3 * seconds;
    let digits = if ms < 10.0 { 2 } else { usize::from(ms < 100.0) };
    if ms < 1000.0 { format!("{ms:.digits$} ms") } else { format!("{:.2} s", seconds) }
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let digits = if percent < 1.0 { 2 } else { usize::from(percent < 10.0) };
    format!("{percent:.digits$} %")
}

fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

/// Discipline of a queue, and its page.
fn discipline<'a>(ran: &Ran<'a>, up: bool) -> (Option<Family>, String) {
    let network = &ran.run.network;
    let (id, _) = if up { &network.reverse_discipline } else { &network.discipline };
    let family = qdisc::disciplines::specs().iter().find(|spec| spec.id == id).map(|spec| spec.family);
    (family, format!("disciplines/{id}"))
}

/// No second of the downward link is full.
fn idle(ran: &Ran<'_>) -> Option<Mechanism> {
    let counters = &ran.output.counters;
    let peaks = [counters.peak_utilisation, counters.reverse_peak_utilisation];
    let busier = usize::from(peaks[1] > peaks[0]);
    (peaks[busier] < FULL).then(|| Mechanism {
        id: "link-idle",
        direction: WAYS[busier],
        page: NEVER_FULL.to_owned(),
        values: vec![("peak_utilisation", peaks[busier])],
        sentence: format!(
            "The link is never full: in its busiest second it sends for {} of the time, on the way {}.",
            percent(peaks[busier]),
            WAYS[busier]
        ),
    })
}

/// Transfers that users call short.
const SHORT: [Kind; 2] = [Kind::Short, Kind::Page];

/// Short transfers stand in one queue with the long ones, or pass them.
fn who_waits(ran: &Ran<'_>, kinds: &[Kind]) -> Option<Mechanism> {
    let comes = |packet: &PacketTrace| match kinds[packet.flow as usize] {
        _ if goes_up(ran, packet) => None,
        kind if SHORT.contains(&kind) => Some(true),
        Kind::Long => Some(false),
        _ => None,
    };
    let ahead = Passing::of(&ran.output.packets, comes).share()?;
    let waits = waits(ran, kinds, false);
    let sum = |ns: &dyn Fn(usize) -> u64| SHORT.iter().map(|kind| ns(kind.place())).sum::<u64>();
    let packets = sum(&|place| waits.packets[place]);
    let mean = |ns: u64| ns as f64 * 1e-9 / packets as f64;
    let wait = mean(sum(&|place| waits.wait_ns[place]));
    let for_long = mean(sum(&|place| waits.for_ns[place][Kind::Long.place()]));
    if wait < NOTICED_S && ahead > PASSES {
        return None;
    }
    let (family, page) = discipline(ran, false);
    let values = vec![("long_ahead", ahead), ("short_wait_s", wait), ("short_wait_for_long_s", for_long)];
    let (one, many) = match SHORT.map(|kind| waits.packets[kind.place()] > 0) {
        [true, true] => ("short transfer or page", "Short transfers and pages"),
        [_, false] => ("short transfer", "Short transfers"),
        [false, true] => ("page", "Pages"),
    };
    let (id, begins) = match family? {
        _ if ahead >= IN_ORDER => ("one-queue", format!("{many} stand in one queue with long transfers")),
        Family::SizeBased if ahead <= PASSES => ("short-first", format!("{many} pass long transfers")),
        Family::FairQueueing => ("own-queue", "Flows take turns".to_owned()),
        _ => return None,
    };
    let figures = format!(
        "of the packets of long transfers that one of a {one} finds waiting, {} go before it; it waits {} on average, {} \
         of that for long transfers",
        percent(ahead),
        time(wait),
        time(for_long)
    );
    Some(Mechanism { id, direction: "down", page, values, sentence: format!("{begins}: {figures}.") })
}

/// Who lost packets in the queue of a direction, and why.
fn drops(ran: &Ran<'_>, kinds: &[Kind], up: bool) -> Option<Mechanism> {
    let counters = &ran.output.counters;
    let (arrivals, drops) = match up {
        false => (counters.arrivals, counters.drops),
        true => (counters.reverse_arrivals, counters.reverse_drops),
    };
    let share = drops as f64 / arrivals.max(1) as f64;
    if drops == 0 || share < SHARE {
        return None;
    }
    let mut by_reason = [0_u64; 4];
    let mut by_kind = [0_u64; Kind::ALL.len()];
    let counts = |row: usize| row >= ran.facts.before();
    for drop in ran.output.drops.iter().filter(|drop| drop.time >= counters.begin) {
        let row = drop.flow as usize;
        if counts(row) && (ran.flows[row].up != drop.reverse) == up {
            let reason = match drop.reason {
                DropReason::Full => 0,
                DropReason::PushedOut => 1,
                DropReason::FlowFull => 2,
                DropReason::Early => 3,
            };
            by_reason[reason] += 1;
            by_kind[kinds[row].place()] += 1;
        }
    }
    let traced: u64 = by_reason.iter().sum();
    let most = (0..4).max_by_key(|&reason| (by_reason[reason], 3 - reason))?;
    let (_, page) = discipline(ran, up);
    let way = WAYS[usize::from(up)];
    let all = if by_reason[most] == traced { "all" } else { "most" };
    let (id, page, why) = match most {
        _ if traced == 0 => ("drops", page, String::new()),
        0 => {
            let why = format!(", {all} of them because the buffer was full when they came");
            ("drops-at-the-tail", LINKS.to_owned(), why)
        }
        1 => {
            ("drops-pushed-out", page, format!(", {all} of them pushed out of the full buffer to make room for others"))
        }
        2 => {
            let why = format!(", {all} of them because their flow had as many packets waiting as it may");
            ("drops-of-the-flow", page, why)
        }
        _ => ("drops-early", page, format!(", {all} of them by the discipline before the buffer was full")),
    };
    let mut values = vec![("drops", drops as f64), ("share", share)];
    let mut sentence = format!(
        "On the way {way} {} ({} of those that come) {} dropped{why}",
        counted(drops, "packet", "packets"),
        percent(share),
        if drops == 1 { "is" } else { "are" }
    );
    let names = ["lost_short", "lost_medium", "lost_long", "lost_page", "lost_call", "lost_game", "lost_film"];
    let names = names.into_iter().chain(["lost_datagrams", "lost_ping", "lost_attacker"]);
    let mut losers: Vec<(u64, Kind, &'static str)> =
        Kind::ALL.iter().zip(names).map(|(&kind, name)| (by_kind[kind.place()], kind, name)).collect();
    losers.retain(|&(lost, _, _)| lost > 0);
    losers.sort_by_key(|&(lost, kind, _)| (std::cmp::Reverse(lost), kind));
    let who: Vec<String> = losers
        .iter()
        .map(|&(lost, kind, name)| {
            values.push((name, lost as f64));
            format!("{lost} of {}", kind.plural())
        })
        .collect();
    if !who.is_empty() {
        sentence += &format!(": {}", who.join(", "));
    }
    Some(Mechanism { id, direction: way, page, values, sentence: sentence + "." })
}

/// The queue of a direction marks packets.
fn marks(ran: &Ran<'_>, up: bool) -> Option<Mechanism> {
    let counters = &ran.output.counters;
    let (sent, marks) = match up {
        false => (counters.sent, counters.marks),
        true => (counters.reverse_sent, counters.reverse_marks),
    };
    let share = marks as f64 / sent.max(1) as f64;
    let way = WAYS[usize::from(up)];
    (marks > 0 && share >= SHARE).then(|| Mechanism {
        id: "marks",
        direction: way,
        page: TCP.to_owned(),
        values: vec![("marks", marks as f64), ("share", share)],
        sentence: format!(
            "On the way {way} {} ({} of those sent) are marked instead of dropped, and their senders slow down without a loss.",
            counted(marks, "packet", "packets"),
            percent(share)
        ),
    })
}

/// Short transfers that waited for their retransmission timer.
fn timeouts(ran: &Ran<'_>, kinds: &[Kind]) -> Option<Mechanism> {
    let short = || ran.begun().filter(|&(row, flow)| SHORT.contains(&kinds[row]) && flow.udp.is_none());
    let hit = short().filter(|&(row, _)| ran.output.records[row].timeouts > 0).count() as u64;
    let all = short().count() as u64;
    (hit > 0).then(|| Mechanism {
        id: "timeouts",
        direction: "both",
        page: TCP.to_owned(),
        values: vec![("hit", hit as f64), ("short_transfers", all as f64)],
        sentence: format!(
            "{hit} of {} waited for the retransmission timer at least once.",
            counted(all, "short transfer", "short transfers")
        ),
    })
}

/// Acknowledgements of what comes down wait in the queue of the way up.
fn slow_acknowledgements(ran: &Ran<'_>) -> Option<Mechanism> {
    let waits = ran.output.counters.reverse_queue_delay;
    let acknowledged = ran.begun().any(|(_, flow)| !flow.up && flow.udp.is_none());
    let mean = waits.mean_s();
    (acknowledged && waits.packets > 0 && mean >= NOTICED_S).then(|| Mechanism {
        id: "slow-acknowledgements",
        direction: "up",
        page: LINKS.to_owned(),
        values: vec![("up_wait_s", mean)],
        sentence: format!(
            "Packets on the way up wait {} on average, and with them the acknowledgements of what comes down.",
            time(mean)
        ),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// The name that a heading has in the address of its page.
    fn anchor(heading: &str) -> String {
        let lower = heading.to_lowercase();
        let kept: String = lower.chars().filter(|letter| letter.is_alphanumeric() || " -".contains(*letter)).collect();
        kept.replace(' ', "-")
    }

    #[test]
    fn the_pages_that_explain_exist_and_have_the_place() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for place in [LINKS, TCP, NEVER_FULL] {
            let (page, heading) = place.split_once('#').expect("a page and a heading");
            let text = std::fs::read_to_string(root.join(format!("docs/{page}.md"))).expect(page);
            let mut headings = text.lines().filter(|line| line.starts_with("## ") || line.starts_with("### "));
            assert!(headings.any(|line| anchor(line.trim_start_matches('#').trim()) == heading), "{place}");
        }
        // The page of a discipline is the head of its file.
        for spec in qdisc::disciplines::specs() {
            let file = root.join(format!("crates/qdisc/src/disciplines/{}.rs", spec.id));
            let text = std::fs::read_to_string(&file).expect(spec.id);
            assert!(text.starts_with("//! # "), "{}", spec.id);
        }
    }

    #[test]
    fn figures_have_three_digits_or_so() {
        let times = [0.0000004, 0.00512, 0.0512, 0.512, 5.12].map(time);
        assert_eq!(times, ["0.00 ms", "5.12 ms", "51.2 ms", "512 ms", "5.12 s"]);
        assert_eq!([0.0004, 0.025, 0.25, 1.0].map(percent), ["0.04 %", "2.5 %", "25 %", "100 %"]);
    }
}
