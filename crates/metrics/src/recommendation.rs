//! What to use: one discipline chosen by the rule of `docs/recommendation.md`, or why none is worth it.
//!
//! The rule is over what users feel, never over one mean. A difference counts when it is noticed and when the same
//! resampled hours say that it is no chance. The commands of the Python package and the page of `mayfly explore` both
//! ask here.

mod asked;
mod choice;
mod criteria;
mod difference;
mod load;
mod settled;
mod unknown;
mod words;

use serde::Serialize;

pub use asked::{Buffer, Draws, Framing, Links, LoadedRow, Part, Question, Queue, Queues, Row, Udp, Unit, Users, Way};
pub use choice::Choice;
pub use load::{BELOW_THE_LINK, FULL_PACKET_BYTES, Shape, Shapes};
pub use settled::{Hour, is_a_look, settled};
pub use unknown::Unknown;

use asked::Place;
use choice::By;
use criteria::CRITERIA;
use difference::{Difference, differences, moved_differences};
use words::{capital, listed};

/// Share of its rate that a link must send in some second to be full at times.
pub(crate) const FULL: f64 = 0.8;

/// Ping under load above the idle one, below which a queue is not felt, ms.
const CALM_MS: f64 = 10.0;

/// Share of transfers that never finish, or of UDP packets where there are none, from which on more comes than fits.
const LOST: f64 = 0.01;

/// What is recommended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recommendation {
    /// In one word.
    pub kind: Kind,
    /// Label of the discipline; `None` where none is better than what is there.
    pub discipline: Option<String>,
    /// Labels of those that do as well.
    pub equal: Vec<String>,
    /// Labels of the disciplines to run where the command puts them, before it is asked again: the chosen one and the simplest
    /// of those that do as well. Empty where there is no command that shapes, and where it was asked with such runs.
    pub to_load: Vec<String>,
    /// Of what hours are to be run where the command puts it, before it is asked again; `None` where there are no hours at the
    /// link, and where it was asked with them.
    pub to_resample: Option<ToResample>,
    /// Where it runs, by the registry.
    pub runs_on: Vec<&'static str>,
    /// What gets better, a clause each.
    pub gives: Vec<String>,
    /// What gets worse.
    pub costs: Vec<String>,
    /// What the answer cannot know; empty where there is nothing.
    pub doubt: String,
    /// All in words, with the command at its end where it says what to use. Gains and prices are those of the command where
    /// it was asked with what this gives.
    pub sentence: String,
    /// What the discipline gives at the link itself, in words; empty where `sentence` says so.
    pub at_the_link: String,
    /// The command of Mayfly that switches it on in both directions; `None` where there is none.
    pub load: Option<String>,
    /// To what it shapes; `None` where no discipline is named, and for a link that varies.
    pub shapes: Option<Shapes>,
}

/// A discipline of which the rule takes hours as loaded, the ones that ran at the link.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToResample {
    /// Label of the discipline.
    pub discipline: String,
    /// Label of what is there, whose hours at the link each of its hours is compared with.
    pub reference: String,
}

/// Kind of a recommendation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize))]
#[cfg_attr(feature = "schema", schemars(rename = "RecommendationKind"))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Of a link that was captured: use it.
    Use,
    /// Of a synthetic workload: it is the fastest there.
    Fastest,
    /// None is better than what is there.
    NoDifference,
    /// No queue forms.
    NeverFull,
    /// More comes than fits.
    Overloaded,
    /// What the replay does not know is too much for an answer.
    Unanswered,
}

/// What the disciplines of a summary come to; `None` with fewer than two that can be switched on, without what users
/// feel, or for a network that is not one link.
pub fn recommendation(asked: &Question) -> Option<Recommendation> {
    let links = asked.links.as_ref()?;
    let rows: Vec<&Row> = asked.disciplines.iter().filter(|row| may_be_chosen(row, asked.is_of_a_link())).collect();
    let felt = |row: &&Row| CRITERIA[1..].iter().any(|criterion| criterion.value(row).is_some());
    if rows.len() < 2 || !rows.iter().any(felt) {
        return None;
    }
    let by = By { single: asked.is_single(), to_use: asked.is_of_a_link() };
    let (at, choice) = (choice::baseline(&rows)?, choice::choose(&rows, by)?);
    let reference = rows[at];
    let loaded = Loaded::of(asked, &rows, reference, &choice, by);
    let best = loaded.as_ref().map_or(rows[choice.best], |loaded| loaded.best);
    let found = differences(best, reference);
    let answer = Answer { asked, links, rows: &rows, best, reference, found, choice, loaded };
    let found = answer.told(at);
    let withheld = asked.unknown.as_ref().and_then(|unknown| unknown.withholds(found.kind, answer.load()));
    Some(match withheld {
        Some(sentence) => answer.made(Kind::Unanswered, None, Vec::new(), sentence),
        None => found,
    })
}

/// The discipline that the rule takes of rows that were measured, each in one run, and those that are as good: places in
/// `rows`. `None` without rows that can be switched on.
pub fn chosen(rows: &[Row]) -> Option<Choice> {
    let places: Vec<usize> = (0..rows.len()).filter(|&at| may_be_chosen(&rows[at], true)).collect();
    let known: Vec<&Row> = places.iter().map(|&at| &rows[at]).collect();
    let choice = choice::choose(&known, By { single: true, to_use: true })?;
    let back = |found: Vec<usize>| found.into_iter().map(|at| places[at]).collect();
    Some(Choice { best: places[choice.best], equal: back(choice.equal), near: back(choice.near) })
}

/// The command of Mayfly that switches on the first discipline that is asked about, in both directions of its link; `None`
/// where there is none.
pub fn load(asked: &Question) -> Option<String> {
    let (row, links) = (asked.disciplines.first()?, asked.links.as_ref()?);
    load::line(row, links, &Shapes::of(row, links, asked.guessed), asked.framing)
}

/// Values of all criteria that a row has, by id; infinite where they fall on what never ends.
pub fn criteria(row: &Row) -> Vec<(&'static str, f64)> {
    CRITERIA.iter().filter_map(|criterion| Some((criterion.measure.id, criterion.value(row)?))).collect()
}

fn may_be_chosen(row: &Row, to_use: bool) -> bool {
    row.place().is_some() && !(to_use && choice::is_bound(row))
}

/// Disciplines where the command puts them.
struct Loaded<'a> {
    /// The one to choose by what they give there; its row at the link.
    best: &'a Row,
    /// Of the best from the reference.
    found: Vec<Difference>,
    /// Labels of those that do not differ from it in anything that counts.
    equal: Vec<&'a str>,
    /// Whether its hours ran there.
    has_hours: bool,
}

impl<'a> Loaded<'a> {
    /// `None` where none ran.
    fn of(asked: &'a Question, rows: &[&'a Row], reference: &Row, choice: &Choice, by: By) -> Option<Loaded<'a>> {
        let good: Vec<&Row> = [&choice.best].into_iter().chain(&choice.equal).map(|&at| rows[at]).collect();
        let at_link = |own: &Row| good.iter().find(|row| row.label == own.label).copied();
        let known: Vec<&LoadedRow> = asked.loaded.iter().filter(|own| at_link(&own.row).is_some()).collect();
        let ran: Vec<(&Row, &Row)> = known.iter().filter_map(|own| Some((&own.row, at_link(&own.row)?))).collect();
        let found = |&(own, link): &(&'a Row, &'a Row)| (link, moved_differences((own, link), (reference, reference)));
        let mut all: Vec<(&Row, Vec<Difference>)> = ran.iter().map(found).collect();
        // Hours are those of the one that was chosen without them.
        let resampled = known.iter().position(|own| own.there.is_some());
        let best = resampled.or_else(|| choice::best(&all, by))?;
        let alike = |&(at, pair): &(usize, &(&'a Row, &'a Row))| {
            at != best && !moved_differences(*pair, ran[best]).iter().any(Difference::counts)
        };
        let equal = ran.iter().enumerate().filter(alike).map(|(_, (_, link))| link.label.as_str()).collect();
        let there = known[best].there.clone();
        let (row, moved) = all.swap_remove(best);
        let found = match there {
            Some(there) => differences(&known[best].row, &Row { resampled: Some(there), ..reference.clone() }),
            None => moved,
        };
        Some(Loaded { best: row, found, equal, has_hours: resampled.is_some() })
    }
}

/// Disciplines that are run where the command puts them, at most.
const MOST_LOADED: usize = 3;

/// All that an answer is made of.
struct Answer<'a> {
    asked: &'a Question,
    links: &'a Links,
    rows: &'a [&'a Row],
    best: &'a Row,
    reference: &'a Row,
    /// Of the best from the reference, at the link itself.
    found: Vec<Difference>,
    choice: Choice,
    /// What the command gives, where that is known.
    loaded: Option<Loaded<'a>>,
}

impl Answer<'_> {
    /// `at` is the place of the reference.
    fn told(&self, at: usize) -> Recommendation {
        // The reference may be as good as the best, though neither is the other.
        let same = self.choice.best == at || self.choice.equal.contains(&at);
        if let Some(never) = self.never_full().filter(|_| same) {
            let sentence = format!("{never} No discipline will help.{}", self.overflows());
            return self.made(Kind::NeverFull, None, Vec::new(), sentence);
        }
        if let Some((load, lost)) = self.overload() {
            let sentence = format!(
                "This link is overloaded: {load:.1} times its rate comes, and {lost} whatever the discipline. Buy rate \
                 or shed load first."
            );
            if same {
                return self.made(Kind::Overloaded, None, Vec::new(), sentence);
            }
            let sentence = format!("{sentence} Until then {} does least harm: {}.", self.best.label, self.clauses());
            return self.made(Kind::Overloaded, Some(self.best), Vec::new(), sentence);
        }
        if same {
            self.no_difference()
        } else if self.gives_nothing() {
            self.keep()
        } else {
            self.better()
        }
    }

    /// Whether the command gives nothing that is noticed, be it chance or not.
    fn gives_nothing(&self) -> bool {
        self.loaded.as_ref().is_some_and(|loaded| !loaded.found.iter().any(Difference::is_noticed_as_better))
    }

    /// The chosen one is better at the link, and its command gives nothing: bursts wait at the provider either way.
    fn keep(&self) -> Recommendation {
        let (label, reference) = (&self.best.label, self.reference.label.as_str());
        let (_, costs) = sides(self.given());
        let price = if costs.is_empty() { String::new() } else { format!(", and costs: {}", costs.join(", ")) };
        let sentence =
            format!("Keep {reference}: a shaper with {label} in front of the link gives nothing that is felt{price}.");
        let found = self.made(Kind::NoDifference, None, vec![reference.to_owned()], sentence);
        Recommendation { at_the_link: self.at_the_link(), ..found }
    }

    /// Why no queue forms, where none does.
    fn never_full(&self) -> Option<String> {
        let peaks: Option<Vec<f64>> = self.reference.queues().map(|(_, queue)| queue.peak_utilisation).collect();
        let peaks = peaks.filter(|peaks| !peaks.is_empty() && peaks.iter().all(|&peak| peak < FULL))?;
        let ping = self.reference.part("ping");
        let waits_ms = ping.and_then(|ping| Some(ping.get("p95_ms")? - ping.get("idle_ms")?));
        if waits_ms.is_some_and(|ms| ms > CALM_MS) {
            return None;
        }
        let used = self.reference.queues().map(|(_, queue)| queue.utilisation.unwrap_or(0.0)).fold(0.0, f64::max);
        let peak = peaks.into_iter().fold(0.0, f64::max);
        let (used, peak) = (words::share(used), words::share(peak));
        Some(format!("This link is never full ({used} used, {peak} in its busiest second)."))
    }

    /// A sentence where short bursts overflow the buffer of a link that is never full, with a space before it.
    fn overflows(&self) -> String {
        let drops = self.reference.queues().map(|(way, queue)| (queue.drops.unwrap_or(0), way));
        let mut drops: Vec<_> = drops.filter(|(count, _)| *count > 0).collect();
        drops.sort_by_key(|(count, way)| (std::cmp::Reverse(*count), *way));
        if drops.is_empty() {
            return String::new();
        }
        let counted = drops.iter().map(|(count, way)| format!("{} {way}", words::grouped(*count as i64)));
        let counted: Vec<_> = counted.collect();
        format!(
            " Bursts shorter than a second overflow its buffer all the same (packets dropped under {}: {}): a larger \
             one would hold them.",
            self.reference.label,
            counted.join(" and ")
        )
    }

    /// Offered load of the busier direction, as a share of its rate.
    fn load(&self) -> f64 {
        [self.links.down.load, self.links.up.load].into_iter().flatten().fold(0.0, f64::max)
    }

    /// Offered load of the busier direction, and what is lost under every discipline, where more comes than fits.
    fn overload(&self) -> Option<(f64, String)> {
        let load = self.load();
        if load <= 1.0 {
            return None;
        }
        let least = |lost: Vec<f64>| {
            let least = lost.iter().copied().fold(f64::INFINITY, f64::min);
            (!lost.is_empty() && least >= LOST).then(|| words::share(least))
        };
        let open: Vec<f64> = self.rows.iter().filter_map(|row| row.unfinished_share()).collect();
        if let Some(share) = least(open) {
            return Some((load, format!("{share} of transfers or more never finish")));
        }
        // Without transfers it is the packets of UDP that nobody sends again.
        let transfers = self.rows.iter().any(|row| row.part("transfers").is_some());
        let udp: Vec<f64> = self.rows.iter().filter_map(|row| row.udp.as_ref()?.loss).collect();
        let share = least(udp).filter(|_| !transfers)?;
        Some((load, format!("{share} of UDP packets or more are lost")))
    }

    fn no_difference(&self) -> Recommendation {
        let reference = self.reference.label.as_str();
        let label = |&at: &usize| self.rows[at].label.as_str();
        let chosen = [&self.choice.best].into_iter().chain(&self.choice.equal);
        let alike: Vec<&str> = chosen.map(label).filter(|&one| one != reference).collect();
        let near: Vec<&str> = self.choice.near.iter().map(label).collect();
        let others = self.rows.iter().map(|row| row.label.as_str()).filter(|&one| one != reference);
        let worse: Vec<&str> = others.filter(|one| !alike.contains(one) && !near.contains(one)).collect();
        let advises = self.asked.is_of_a_link();
        let mut sentence = match (alike.is_empty(), near.is_empty()) {
            (false, _) if advises => {
                format!("No measurable difference between {reference} and {}: keep what is there.", listed(&alike))
            }
            (false, _) => format!("No measurable difference between {reference} and {} here.", listed(&alike)),
            (true, true) if advises => format!("Keep {reference}: nothing tried does better."),
            (true, true) => format!("Fastest here: {reference}. Nothing tried does better."),
            (true, false) => format!("Keep {reference}."),
        };
        if !worse.is_empty() && !alike.is_empty() {
            let do_worse = if worse.len() == 1 { "does worse" } else { "do worse" };
            sentence += &format!(" {} {do_worse}.", capital(&listed(&worse)));
        }
        sentence += &self.near();
        let mut equal = vec![reference.to_owned()];
        equal.extend(alike.iter().map(|&label| label.to_owned()));
        self.made(Kind::NoDifference, None, equal, sentence)
    }

    /// The chosen one is better than the reference.
    fn better(&self) -> Recommendation {
        let (label, clauses) = (&self.best.label, self.clauses());
        let names = match &self.loaded {
            Some(loaded) => loaded.equal.clone(),
            None => self.equal(),
        };
        let (kind, mut sentence) = if self.asked.is_of_a_link() {
            let given = if self.loaded.is_some() { format!("With this command: {clauses}") } else { capital(&clauses) };
            (Kind::Use, format!("Use {label}: {}. {given}.", self.where_it_is()))
        } else {
            (Kind::Fastest, format!("Fastest here: {label}. {}.", capital(&clauses)))
        };
        if !names.is_empty() {
            sentence += &format!(" {} {}.", capital(&listed(&names)), do_as_well(&names));
        }
        if self.loaded.is_none() {
            sentence += &self.near();
        }
        if choice::is_bound(self.best) {
            sentence += &format!(
                " {} remembers every flow: take it as a bound, not as a candidate.",
                capital(&self.best.label)
            );
        }
        let equal = names.iter().map(|&label| label.to_owned()).collect();
        self.made(kind, Some(self.best), equal, sentence)
    }

    /// Sentences about those that do better by less than they have to, with a space before each.
    fn near(&self) -> String {
        let (modules, others): (Vec<usize>, Vec<usize>) =
            self.choice.near.iter().partition(|&&at| self.rows[at].place() > Some(Place::Kernel));
        let mut sentences = String::new();
        for (places, one, several) in [(modules, "worth a module", "worth modules"), (others, "preferred", "preferred")]
        {
            let names: Vec<&str> = places.iter().map(|&at| self.rows[at].label.as_str()).collect();
            let (does, worth) = if names.len() == 1 { ("does", one) } else { ("do", several) };
            if !names.is_empty() {
                sentences += &format!(" {} {does} better by too little to be {worth}.", capital(&listed(&names)));
            }
        }
        sentences
    }

    fn where_it_is(&self) -> &'static str {
        match (self.best.id.as_str(), self.best.place()) {
            ("dualpi2", _) => {
                "Linux has it since 6.17, but many distributions build their kernels without it: `modinfo sch_dualpi2` \
                 says whether yours does"
            }
            (_, Some(Place::Kernel)) => "it is in your kernel",
            _ => "it comes with Mayfly's kernel module",
        }
    }

    /// Labels of those that are as good as the best at the link itself.
    fn equal(&self) -> Vec<&str> {
        let good = [&self.choice.best].into_iter().chain(&self.choice.equal).map(|&at| self.rows[at].label.as_str());
        good.filter(|&label| label != self.best.label).collect()
    }

    /// What the best gives at the link itself, where the answer says what its command gives.
    fn at_the_link(&self) -> String {
        if self.loaded.is_none() {
            return String::new();
        }
        let names = self.equal();
        let equal = match names.as_slice() {
            [] => String::new(),
            names => format!(" {} {} there.", capital(&listed(names)), do_as_well(names)),
        };
        let (clauses, near) = (clauses(&self.found, false), self.near());
        format!("Where eth0 is itself the bottleneck, {} gives: {clauses}.{equal}{near}", self.best.label)
    }

    /// Labels of what to run where the command puts it.
    fn to_load(&self) -> Vec<String> {
        let good = [&self.choice.best].into_iter().chain(&self.choice.equal).map(|&at| self.rows[at]);
        let may_be_loaded = |row: &&Row| row.place().is_some() && !choice::is_bound(row);
        let good: Vec<&Row> = good.filter(may_be_loaded).collect();
        let (first, rest) = match good.split_first() {
            Some((first, rest)) => (first, rest),
            None => return Vec::new(),
        };
        let others = choice::by_simplicity(rest).into_iter().map(|at| &rest[at]);
        [first].into_iter().chain(others).take(MOST_LOADED).map(|row| row.label.clone()).collect()
    }

    /// What to run hours of where the command puts it.
    fn to_resample(&self) -> Option<ToResample> {
        let lacks = self.asked.hours >= 2 && self.loaded.as_ref().is_some_and(|loaded| !loaded.has_hours);
        let (discipline, reference) = (self.best.label.clone(), self.reference.label.clone());
        lacks.then_some(ToResample { discipline, reference })
    }

    /// What gets better, and what it costs: of the command where that is known.
    fn clauses(&self) -> String {
        clauses(self.given(), self.loaded.is_some())
    }

    /// Differences from what is there: of the command where that is known.
    fn given(&self) -> &[Difference] {
        self.loaded.as_ref().map_or(&self.found, |loaded| &loaded.found)
    }

    fn made(&self, kind: Kind, row: Option<&Row>, equal: Vec<String>, sentence: String) -> Recommendation {
        let (gives, costs) = if row.is_some() { sides(self.given()) } else { Default::default() };
        let sure = !self.asked.is_single() || matches!(kind, Kind::NeverFull | Kind::Unanswered);
        let doubt = if sure { "" } else { DOUBT };
        let switched = row.filter(|row| !choice::is_bound(row));
        let shapes = switched.map(|row| Shapes::of(row, self.links, self.asked.guessed));
        let load = switched
            .zip(shapes.as_ref())
            .and_then(|(row, shapes)| load::line(row, self.links, shapes, self.asked.framing));
        let says = load.as_ref().filter(|_| self.asked.is_of_a_link());
        let varies = self.links.down.varies || self.links.up.varies;
        Recommendation {
            kind,
            discipline: row.map(|row| row.label.clone()),
            equal,
            to_load: if shapes.is_some() && !varies && self.loaded.is_none() { self.to_load() } else { Vec::new() },
            to_resample: self.to_resample(),
            runs_on: row.and_then(Row::runs_on).map_or(Vec::new(), |at| at.places().to_vec()),
            gives,
            costs,
            doubt: doubt.to_owned(),
            sentence: says.map_or(sentence.clone(), |line| format!("{sentence} `{line}`")),
            at_the_link: row.map_or(String::new(), |_| self.at_the_link()),
            load,
            shapes: shapes.filter(|_| !varies),
        }
    }
}

/// What gets better, and what it costs; `doubtful` also lists gains that may be chance.
fn clauses(found: &[Difference], doubtful: bool) -> String {
    let (gives, costs) = sides(found);
    let perhaps = found.iter().filter(|one| doubtful && one.is_noticed_as_better() && one.worse_by() >= 0.0);
    let perhaps: Vec<_> = perhaps.map(Difference::text).collect();
    let perhaps = perhaps.join(", ");
    let text = match (gives.is_empty(), perhaps.is_empty()) {
        (true, true) => "nothing that is felt".to_owned(),
        (true, false) => format!("no gain that is more than chance ({perhaps})"),
        (false, true) => gives.join(", "),
        (false, false) => format!("{} (and, but it may be chance, {perhaps})", gives.join(", ")),
    };
    if !costs.is_empty() {
        return format!("{text}; the price: {}", costs.join(", "));
    }
    // What would be felt, but may be chance, is no price; to call it nothing would hide it.
    let doubtful = found.iter().filter(|one| one.is_noticed_as_worse()).map(Difference::text);
    let doubtful: Vec<_> = doubtful.collect();
    if doubtful.is_empty() {
        format!("{text}; it costs nothing that is felt")
    } else {
        format!("{text}; no price that is more than chance ({})", doubtful.join(", "))
    }
}

fn sides(found: &[Difference]) -> (Vec<String>, Vec<String>) {
    let better = found.iter().filter(|one| one.worse_by() < 0.0);
    let worse = found.iter().filter(|one| one.worse_by() > 0.0);
    (better.map(Difference::text).collect(), worse.map(Difference::text).collect())
}

fn do_as_well(names: &[&str]) -> &'static str {
    if names.len() == 1 { "does as well" } else { "do as well" }
}

const DOUBT: &str = "One run: its intervals are of its flows alone, so differences count from a fifth on.";

#[cfg(test)]
mod tests;
