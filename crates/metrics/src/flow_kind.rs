//! What a flow is to its user, for colours and for sentences.

use netsim::Application;
use serde::Serialize;

use crate::context::ProbeName;
use crate::run_view::Ran;
use crate::sizes::{LONG_BYTES, SHORT_BYTES};

/// What a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A transfer of at most 100 kB.
    Short,
    /// A transfer of more than that, up to 1 MB.
    Medium,
    /// A transfer above 1 MB, or one without end.
    Long,
    /// Part of a page.
    Page,
    /// A direction of a call.
    Call,
    /// The video of a game.
    Game,
    /// A film in segments.
    Film,
    /// Other datagrams.
    Datagrams,
    /// A ping.
    Ping,
    /// Somebody who games the discipline.
    Attacker,
}

impl Kind {
    /// All kinds in the order of their places.
    pub const ALL: [Kind; 10] = [
        Kind::Short,
        Kind::Medium,
        Kind::Long,
        Kind::Page,
        Kind::Call,
        Kind::Game,
        Kind::Film,
        Kind::Datagrams,
        Kind::Ping,
        Kind::Attacker,
    ];

    /// Its name in tables and answers.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Short => "short",
            Kind::Medium => "medium",
            Kind::Long => "long",
            Kind::Page => "page",
            Kind::Call => "call",
            Kind::Game => "game",
            Kind::Film => "film",
            Kind::Datagrams => "datagrams",
            Kind::Ping => "ping",
            Kind::Attacker => "attacker",
        }
    }

    /// Flows of it, in a sentence.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            Kind::Short => "short transfers",
            Kind::Medium => "transfers of up to 1 MB",
            Kind::Long => "long transfers",
            Kind::Page => "pages",
            Kind::Call => "calls",
            Kind::Game => "games",
            Kind::Film => "films",
            Kind::Datagrams => "datagrams",
            Kind::Ping => "pings",
            Kind::Attacker => "the attacker",
        }
    }

    /// Its place in [`Kind::ALL`].
    pub fn place(self) -> usize {
        self as usize
    }
}

/// Kind of each flow of the list that ran, probes included; flows of the groups `attackers` attack.
///
/// # Errors
/// Facts that do not fit the flows.
pub fn kinds(ran: &Ran<'_>, attackers: &[u32]) -> Result<Vec<Kind>, crate::FactsError> {
    ran.check()?;
    let before = ran.facts.before();
    let capture = ran.facts.capture.as_ref();
    let mut found: Vec<Kind> = (0..ran.flows.len())
        .map(|row| match (ran.facts.probes.get(row), row.checked_sub(before)) {
            (Some(ProbeName::Ping | ProbeName::Autorate), _) => Kind::Ping,
            (Some(_), _) | (None, None) => Kind::Call,
            (None, Some(own)) if attackers.contains(&ran.facts.group(own)) && !ran.facts.groups.is_empty() => {
                Kind::Attacker
            }
            (None, Some(own)) => of_flow(ran, row, own, capture.is_some()),
        })
        .collect();
    for &row in capture.iter().flat_map(|capture| &capture.calls) {
        found[before + row as usize] = Kind::Call;
    }
    Ok(found)
}

fn of_flow(ran: &Ran<'_>, row: usize, own: usize, captured: bool) -> Kind {
    let flow = &ran.flows[row];
    let application = usize::from(flow.application).checked_sub(1).and_then(|place| ran.run.applications.get(place));
    match application {
        Some(Application::Call(_)) => Kind::Call,
        Some(Application::Gaming(_)) => Kind::Game,
        Some(Application::Video(_)) => Kind::Film,
        None if flow.udp.is_some() => Kind::Datagrams,
        // Of a capture stages are users who wait, not pages.
        None if !captured && ran.facts.stage(own, flow).is_some() => Kind::Page,
        None if flow.size_bytes <= SHORT_BYTES => Kind::Short,
        None if flow.size_bytes <= LONG_BYTES => Kind::Medium,
        None => Kind::Long,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_at_its_place() {
        assert!(Kind::ALL.iter().enumerate().all(|(place, kind)| kind.place() == place));
    }
}
