//! The rule, on constructed rows; `tests/comparison/test_recommendation.py` has its branches in the words of a summary.

use proptest::prelude::*;

use super::*;

/// Figures of a discipline in one run: short transfers (s), ping (ms) and long transfers (s).
fn row(id: &str, short_s: f64, ping_ms: f64, long_s: f64) -> Row {
    let transfers =
        |flows: f64, p50_s: f64, p95_s: f64| Part::from([("flows", flows), ("p50_s", p50_s), ("p95_s", p95_s)]);
    let queue = || Some(Queue { utilisation: Some(0.6), peak_utilisation: Some(1.0), drops: Some(10) });
    Row {
        id: id.into(),
        label: id.into(),
        flows_completed: Some(100),
        users: Some(Users::from([
            ("short", transfers(90.0, short_s, short_s)),
            ("long", transfers(10.0, long_s, long_s)),
            ("ping", Part::from([("probes", 100.0), ("p95_ms", ping_ms), ("idle_ms", 5.0)])),
        ])),
        links: Some(Queues { down: queue(), up: queue() }),
        in_kernel: true,
        ..Row::default()
    }
}

/// The same with hours in which all of its figures vary by the same factors.
fn with_hours(mut row: Row) -> Row {
    let factors = [0.95, 1.02, 0.99, 1.04, 0.97, 1.01, 1.03, 0.98];
    let own = criteria(&row);
    let draws = own.into_iter().map(|(id, value)| (id.to_owned(), factors.map(|factor| Some(value * factor)).to_vec()));
    row.resampled = Some(draws.collect());
    row
}

fn question(command: &str, rows: &[Row]) -> Question {
    let way = |rate_bps: f64| Way {
        rate_bps,
        buffer: (300, Unit::Packets),
        load: Some(0.6),
        varies: false,
        shaped_bps: None,
    };
    Question {
        command: command.into(),
        links: Some(Links { down: way(20e6), up: way(5e6) }),
        hours: if rows.iter().any(|row| row.resampled.is_some()) { 8 } else { 0 },
        replications: 1,
        guessed: false,
        unknown: None,
        framing: None,
        disciplines: rows.to_vec(),
        loaded: Vec::new(),
    }
}

fn asked(rows: &[Row]) -> Recommendation {
    recommendation(&question("whatif", rows)).expect("it is there")
}

#[test]
fn the_answer_of_a_capture_has_its_command_and_that_of_a_workload_has_none_in_words() {
    let rows = [row("fifo", 0.4, 100.0, 5.0), row("fq_codel", 0.15, 11.0, 5.0)];
    let found = asked(&rows);
    let load = "mayfly qdisc load eth0 --both-ways --down 19mbit --up 4750kbit --discipline fq_codel --buffer 300";
    assert_eq!((found.kind, found.load.as_deref()), (Kind::Use, Some(load)));
    assert_eq!(
        found.sentence,
        format!(
            "Use fq_codel: it is in your kernel. Short transfers (95th percentile) 400 -> 150 ms, ping under load 100 -> \
             11.0 ms; it costs nothing that is felt. `{load}`"
        )
    );
    let found = recommendation(&question("compare", &rows)).expect("it is there");
    assert_eq!((found.kind, found.load.as_deref()), (Kind::Fastest, Some(load)));
    assert!(found.sentence.starts_with("Fastest here: fq_codel. Short transfers"), "{}", found.sentence);
    assert!(found.sentence.ends_with("it costs nothing that is felt."), "{}", found.sentence);
}

#[test]
fn a_third_discipline_does_not_decide_between_two_others() {
    // Each third is better than all in one thing, so that the best of a criterion moves.
    let two = [row("fifo", 1.0, 200.0, 9.0), row("fq_codel", 0.16, 13.0, 3.7), row("cake", 0.09, 14.0, 5.0)];
    let alone = asked(&two).discipline.expect("it is there");
    for third in [row("pie", 0.05, 200.0, 9.0), row("red", 3.0, 200.0, 1.0), row("codel", 2.0, 5.0, 20.0)] {
        let with: Vec<Row> = [third.clone()].into_iter().chain(two.clone()).collect();
        let found = asked(&with);
        assert_eq!(found.discipline.as_deref(), Some(alone.as_str()), "{}", third.id);
    }
}

/// Seconds, milliseconds, seconds, MOS and share of a row.
type Drawn = (f64, f64, f64, f64, f64);

/// Rows of disciplines, the first of which is what is there, with figures as they come, some with hours that vary.
fn any_rows() -> impl Strategy<Value = Vec<Row>> {
    let all = || qdisc::disciplines::specs().iter().map(|spec| spec.id);
    // A fifo that is added would be what the others are compared with.
    let (firsts, ids): (Vec<&str>, Vec<&str>) = (all().collect(), all().filter(|&id| id != "fifo").collect());
    let figures = (0.05..5.0, 5.0..500.0, 0.5..20.0, 1.0..4.5, 0.0..0.1);
    let rows = prop::collection::vec((prop::sample::select(ids), figures), 2..7);
    let first = prop_oneof![Just("fifo"), prop::sample::select(firsts)];
    (first, rows, any::<bool>(), prop::collection::vec(0.5..2.0, 56)).prop_map(|(first, rows, hours, factors)| {
        let made = |(at, (id, (short_s, ping_ms, long_s, mos, loss))): (usize, (&str, Drawn))| {
            let mut own = row(id, short_s, ping_ms, long_s);
            let users = own.users.take().map(|users| users.with("call", Part::from([("mos", mos)])));
            own.users = users.map(|users| users.with("streams", Part::from([("missing", loss)])));
            own.options = [("n".to_owned(), at.to_string())].into();
            own.label = format!("{id}(n={at})");
            if hours {
                let own_values = criteria(&own).into_iter();
                let draws = |(id, value): (&str, f64)| {
                    (id.to_owned(), factors[8 * at..8 * (at + 1)].iter().map(|by| Some(value * by)).collect())
                };
                own.resampled = Some(own_values.map(draws).collect());
            }
            own
        };
        let first = (0, (first, (1.0, 100.0, 5.0, 3.0, 0.02)));
        let others = rows.into_iter().enumerate().map(|(at, row)| (at + 1, row));
        [first].into_iter().chain(others).map(made).collect()
    })
}

proptest! {
    /// Whatever is added to a list, the answer stays or becomes what was added.
    #[test]
    fn a_longer_list_changes_the_answer_to_what_was_added_only(rows in any_rows(), command in 0..2_usize) {
        let command = ["whatif", "compare"][command];
        let answer = |rows: &[Row]| {
            let found = recommendation(&question(command, rows))?;
            // Where none is named, it is what is there: the first that may be chosen.
            let there = rows.iter().find(|row| may_be_chosen(row, command == "whatif"))?;
            Some(found.discipline.unwrap_or_else(|| there.label.clone()))
        };
        let (added, before) = rows.split_last().expect("there are some");
        if let (Some(old), Some(new)) = (answer(before), answer(&rows)) {
            prop_assert!(new == old || new == added.label, "{} -> {}, added {}", old, new, added.label);
        }
    }

    /// Nothing is recommended that gains nothing.
    #[test]
    fn what_is_recommended_gains_something(rows in any_rows()) {
        if let Some(found) = recommendation(&question("whatif", &rows)) {
            prop_assert!(found.kind != Kind::Use || !found.gives.is_empty(), "{}", found.sentence);
        }
    }
}

#[test]
fn one_run_alone_is_no_reason_to_install_a_module() {
    let fair = row("fq_codel", 0.15, 11.0, 4.0);
    // By 0.9 doublings.
    let found = asked(&[row("fifo", 0.4, 100.0, 4.0), fair.clone(), row("efd", 0.08, 11.0, 4.0)]);
    assert_eq!((found.discipline.as_deref(), found.equal.len()), (Some("fq_codel"), 0));
    assert!(found.sentence.contains(" Efd does better by too little to be worth a module."), "{}", found.sentence);
    // By 1.3.
    let found = asked(&[row("fifo", 0.4, 100.0, 4.0), fair, row("efd", 0.06, 11.0, 4.0)]);
    assert_eq!(found.discipline.as_deref(), Some("efd"));
}

#[test]
fn what_sixteen_hours_agree_on_needs_half_a_doubling_for_a_module() {
    let rows = |short_s| {
        let own = [row("fifo", 0.6, 100.0, 4.0), row("fq_codel", 0.3, 11.0, 4.0), row("efd", short_s, 11.0, 4.0)];
        own.map(with_hours)
    };
    assert_eq!(asked(&rows(0.24)).discipline.as_deref(), Some("fq_codel"));
    assert_eq!(asked(&rows(0.2)).discipline.as_deref(), Some("efd"));
}

#[test]
fn the_fastest_of_a_workload_may_be_a_module_that_is_little_better() {
    let rows = [row("fifo", 0.4, 100.0, 4.0), row("fq_codel", 0.15, 11.0, 4.0), row("efd", 0.08, 11.0, 4.0)];
    let found = recommendation(&question("compare", &rows)).expect("it is there");
    assert_eq!(found.discipline.as_deref(), Some("efd"));
}

#[test]
fn what_remembers_every_flow_is_never_what_to_use() {
    let rows = [row("fifo", 0.4, 100.0, 4.0), row("fq_codel", 0.15, 11.0, 4.0), row("las", 0.01, 11.0, 4.0)];
    let found = asked(&rows);
    assert_eq!(found.discipline.as_deref(), Some("fq_codel"));
    assert!(!found.sentence.contains("las"), "{}", found.sentence);
    let found = recommendation(&question("compare", &rows)).expect("it is there");
    assert_eq!((found.discipline.as_deref(), found.load), (Some("las"), None));
    assert!(found.sentence.ends_with(" Las remembers every flow: take it as a bound, not as a candidate."));
    // Alone with fifo there is no choice.
    assert_eq!(recommendation(&question("whatif", &[rows[0].clone(), rows[2].clone()])), None);
}

#[test]
fn a_fifo_that_a_module_beats_by_little_is_kept_and_says_so() {
    let found = asked(&[row("fifo", 0.4, 20.0, 4.0), row("efd", 0.25, 20.0, 4.0)]);
    assert_eq!((found.kind, found.discipline, found.equal), (Kind::NoDifference, None, vec!["fifo".to_owned()]));
    assert_eq!(found.sentence, "Keep fifo. Efd does better by too little to be worth a module.");
}

#[test]
fn what_is_there_asks_for_nothing_and_is_kept_where_nothing_gains() {
    let rows = [with_hours(row("cake", 0.2, 20.0, 4.0)), with_hours(row("fq_codel", 0.2, 31.0, 4.0))];
    let found = asked(&rows);
    assert_eq!((found.kind, found.discipline), (Kind::NoDifference, None), "{}", found.sentence);
}

#[test]
fn what_few_values_cost_counts_against_a_module() {
    let few = |row: Row, long_s: f64| Row {
        users: row
            .users
            .map(|users| users.with("long", Part::from([("flows", 5.0), ("p50_s", long_s), ("p95_s", long_s)]))),
        ..row
    };
    let rows = [("fifo", 0.8, 2.0), ("fq_codel", 0.3, 2.0), ("efd", 0.1, 60.0)];
    let rows = rows.map(|(id, short_s, long_s)| few(row(id, short_s, 20.0, long_s), long_s));
    assert_eq!(asked(&rows).discipline.as_deref(), Some("fq_codel"));
}

#[test]
fn one_hour_makes_no_interval() {
    let rows = [row("fifo", 0.4, 20.0, 4.0), row("efd", 0.25, 20.0, 4.0)];
    let found = recommendation(&Question { hours: 1, ..question("whatif", &rows) }).expect("it is there");
    assert_eq!((found.kind, found.doubt.is_empty()), (Kind::NoDifference, false));
}

#[test]
fn a_criterion_that_too_few_hours_have_is_no_reason() {
    let mut rows = [row("fifo", 0.2, 20.0, 20.0), row("fq_codel", 0.8, 20.0, 1.2)].map(with_hours);
    for row in &mut rows {
        row.resampled.as_mut().expect("it is there").retain(|id, _| !id.starts_with("long"));
    }
    assert_eq!(asked(&rows).kind, Kind::NoDifference);
}

#[test]
fn endless_hours_count_only_where_enough_agree_with_the_run() {
    let with = |id: &str, own_s: f64, hours: [f64; 8]| {
        let mut found = with_hours(row(id, own_s, 20.0, 4.0));
        let draws = hours.map(|value| Some(value).filter(|value: &f64| value.is_finite())).to_vec();
        found.resampled.as_mut().expect("it is there").insert("short_p95".into(), draws);
        found
    };
    let never = f64::INFINITY;
    let slow = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, never];
    for (hours, expected) in [
        ([0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2], Kind::Use),
        // Against what the run says.
        ([3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, never], Kind::NoDifference),
        // One hour that differs.
        ([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.2], Kind::NoDifference),
    ] {
        let found = asked(&[with("fifo", 2.0, slow), with("fq_codel", 0.2, hours)]);
        assert_eq!(found.kind, expected, "{}", found.sentence);
    }
}

#[test]
fn lost_datagrams_count() {
    let with = |row: Row, loss: f64| Row {
        users: row.users.map(|users| users.with("streams", Part::from([("missing", loss)]))),
        ..row
    };
    let rows = [with(row("fifo", 0.4, 20.0, 4.0), 0.05), with(row("fq_codel", 0.4, 20.0, 4.0), 0.0)];
    let found = asked(&rows);
    assert_eq!(found.gives, ["lost or late packets of UDP streams 5.0 -> 0.0 %"]);
    let rows = [with(row("fifo", 0.4, 20.0, 4.0), 0.009), with(row("fq_codel", 0.4, 20.0, 4.0), 0.0)];
    assert_eq!(asked(&rows).kind, Kind::NoDifference);
}

/// The case that EFD was made for (Chen 2012, 4.6.4): fair to TCP, a scheduler by size loses packets of a stream.
#[test]
fn a_stream_that_loses_three_times_as_much_is_a_price() {
    let with = |row: Row, missing: f64| Row {
        users: row.users.map(|users| users.with("streams", Part::from([("missing", missing)]))),
        ..row
    };
    let fifo = with(row("fifo", 0.4, 20.0, 4.0), 0.006);
    let found = asked(&[fifo.clone(), with(row("run2c", 0.05, 20.0, 4.0), 0.018)]);
    assert_eq!(found.costs, ["lost or late packets of UDP streams 0.6 -> 1.8 %"], "{}", found.sentence);
    assert!(!found.sentence.contains("costs nothing that is felt"), "{}", found.sentence);
    let efd = with(row("efd", 0.05, 20.0, 4.0), 0.0);
    let found = asked(&[fifo, with(row("run2c", 0.05, 20.0, 4.0), 0.018), efd]);
    assert_eq!(found.discipline.as_deref(), Some("efd"), "{}", found.sentence);
}

#[test]
fn video_calls_and_games_count() {
    let with = |row: Row, frozen: f64, lag_ms: f64| Row {
        users: row.users.map(|users| {
            let users = users.with("conferences", Part::from([("count", 2.0), ("frozen", frozen)]));
            users.with("games", Part::from([("count", 1.0), ("lag_p95_ms", lag_ms)]))
        }),
        ..row
    };
    let found =
        asked(&[with(row("fifo", 0.4, 20.0, 4.0), 0.05, 190.0), with(row("fq_codel", 0.4, 20.0, 4.0), 0.0, 42.0)]);
    assert_eq!(found.gives, ["lag of games 190 -> 42.0 ms", "video calls at a standstill 5.0 -> 0.0 %"]);
    let found =
        asked(&[with(row("fifo", 0.4, 20.0, 4.0), 0.005, 49.0), with(row("fq_codel", 0.4, 20.0, 4.0), 0.0, 42.0)]);
    assert_eq!(found.kind, Kind::NoDifference, "{}", found.sentence);
}

#[test]
fn dualpi2_says_that_a_kernel_may_lack_it() {
    let found = asked(&[row("fifo", 0.4, 100.0, 4.0), row("dualpi2", 0.1, 11.0, 4.0)]);
    assert!(found.sentence.contains("`modinfo sch_dualpi2` says whether yours does"), "{}", found.sentence);
    assert_eq!(found.load, None);
    assert_eq!(found.shapes.expect("it is there").up.rate_bps, 4_750_000);
}

#[test]
fn no_fixed_rate_is_recommended_for_a_link_that_varies() {
    let mut question = question("whatif", &[row("fifo", 0.4, 100.0, 4.0), row("fq_codel", 0.1, 11.0, 4.0)]);
    question.links.as_mut().expect("it is there").down.varies = true;
    let found = recommendation(&question).expect("it is there");
    assert_eq!(found.load.as_deref(), Some("mayfly qdisc load eth0 --discipline fq_codel --buffer 300"));
    assert_eq!(found.shapes, None);
}

#[test]
fn a_summary_is_a_question() {
    let text = r#"{"command": "whatif", "links": {"busier": "down",
        "down": {"rate_bps": 20000000, "buffer": [300, "packets"], "load": 0.5, "offered_mbps": 10.0},
        "up": {"rate_bps": 5000000.5, "buffer": [150000, "bytes"], "load": null}},
        "disciplines": [{"id": "fifo", "label": "fifo", "options": {}, "utilisation": 0.5, "users": {"transfers": {"all": []},
            "short": {"flows": 3, "unfinished": 0, "p95_s": null}, "ping": null, "streams": null}}]}"#;
    let found: Question = serde_json::from_str(text).expect("it is there");
    assert!(found.is_single() && found.disciplines[0].in_kernel && found.disciplines[0].part("transfers").is_some());
    assert_eq!(criteria(&found.disciplines[0]), [("short_p95", f64::INFINITY)]);
    let again: Question =
        serde_json::from_str(&serde_json::to_string(&found).expect("it is there")).expect("it is there");
    assert_eq!(again, found);
}

#[test]
fn the_sentence_says_what_the_command_gives_and_a_later_one_what_the_link_would() {
    let rows = [row("fifo", 0.4, 100.0, 5.0), row("fq_codel", 0.15, 11.0, 5.0), row("cake", 0.15, 11.0, 5.0)];
    let first = asked(&rows);
    assert_eq!((first.to_load, first.at_the_link.as_str()), (vec!["fq_codel".to_owned(), "cake".to_owned()], ""));
    let loaded = [row("fq_codel", 0.35, 60.0, 5.0), row("cake", 0.34, 58.0, 5.0)].map(LoadedRow::from).to_vec();
    let found = recommendation(&Question { loaded, ..question("whatif", &rows) }).expect("it is there");
    let load = "mayfly qdisc load eth0 --both-ways --down 19mbit --up 4750kbit --discipline fq_codel --buffer 300";
    assert_eq!(
        found.sentence,
        format!(
            "Use fq_codel: it is in your kernel. With this command: ping under load 100 -> 60.0 ms; it costs nothing that \
             is felt. Cake does as well. `{load}`"
        )
    );
    assert_eq!(
        found.at_the_link,
        "Where eth0 is itself the bottleneck, fq_codel gives: short transfers (95th percentile) 400 -> 150 ms, ping under \
         load 100 -> 11.0 ms; it costs nothing that is felt. Cake does as well there."
    );
    assert_eq!(found.gives, ["ping under load 100 -> 60.0 ms"]);
}

#[test]
fn the_command_decides_between_those_that_are_as_good_at_the_link() {
    let rows = [row("fifo", 0.4, 100.0, 5.0), row("fq_codel", 0.15, 11.0, 5.0), row("cake", 0.15, 11.0, 5.0)];
    let of = |loaded: [Row; 2]| {
        let asked = Question { loaded: loaded.map(LoadedRow::from).to_vec(), ..question("whatif", &rows) };
        recommendation(&asked).expect("it is there")
    };
    let found = of([row("fq_codel", 0.39, 80.0, 5.0), row("cake", 0.2, 20.0, 5.0)]);
    assert_eq!((found.discipline.as_deref(), found.equal.len()), (Some("cake"), 0), "{}", found.sentence);
    assert!(found.load.is_some_and(|line| line.contains("cake")));
    assert!(found.at_the_link.contains("cake gives: ") && found.at_the_link.ends_with(" Fq_codel does as well there."));
    // Alike: what distributions take without being asked.
    let found = of([row("fq_codel", 0.3, 60.0, 5.0), row("cake", 0.29, 58.0, 5.0)]);
    assert_eq!((found.discipline.as_deref(), found.equal), (Some("fq_codel"), vec!["cake".to_owned()]));
    // A command that gives nothing is no advice, whatever the discipline gives at the link.
    let found = of([row("fq_codel", 0.4, 100.0, 9.0), row("cake", 0.4, 101.0, 9.1)]);
    assert_eq!((found.kind, found.discipline, found.load), (Kind::NoDifference, None, None));
    assert_eq!(
        found.sentence,
        "Keep fifo: a shaper with fq_codel in front of the link gives nothing that is felt, and costs: long transfers \
         (median) 5.00 -> 9.00 s, long transfers (95th percentile) 5.00 -> 9.00 s."
    );
    assert!(
        found.at_the_link.starts_with("Where eth0 is itself the bottleneck, fq_codel gives: "),
        "{}",
        found.at_the_link
    );
}

#[test]
fn three_are_loaded_at_most_and_the_simplest_of_those_that_are_as_good() {
    let rows = ["fifo", "lfq", "efd", "cake", "pie", "fq_codel"]
        .map(|id| if id == "fifo" { row(id, 0.4, 100.0, 5.0) } else { row(id, 0.15, 11.0, 5.0) });
    assert_eq!(asked(&rows).to_load, ["fq_codel", "pie", "cake"]);
    assert_eq!(asked(&rows[..3]).to_load.len(), 2);
    let none = asked(&[row("fifo", 0.4, 20.0, 4.0), row("efd", 0.39, 20.0, 4.0)]);
    assert!(none.to_load.is_empty());
}

#[test]
fn chance_of_the_command_is_that_of_the_hours_at_the_link() {
    // Hours in which the long transfers differ either way, and those in which they never do.
    let with = |mut own: Row, by: [f64; 8]| {
        own = with_hours(own);
        let draws = by.map(|by| Some(4.0 * by)).to_vec();
        let resampled = own.resampled.as_mut().expect("hours");
        resampled.insert("long_p50".into(), draws.clone());
        resampled.insert("long_p95".into(), draws);
        own
    };
    let steady = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.01, 1.0];
    let wild = [1.0, 3.0, 0.4, 2.0, 0.5, 1.5, 0.6, 1.0];
    for (by, expected) in [(steady, "the price: long transfers (median)"), (wild, "no price that is more than chance")]
    {
        let rows = [with(row("fifo", 0.4, 100.0, 4.0), steady), with(row("fq_codel", 0.1, 11.0, 4.0), by)];
        let asked = Question { loaded: vec![row("fq_codel", 0.2, 60.0, 6.0).into()], ..question("whatif", &rows) };
        let found = recommendation(&asked).expect("it is there");
        assert!(found.sentence.contains(expected), "{}", found.sentence);
    }
}

#[test]
fn a_ping_of_a_link_without_a_busy_second_is_not_one_under_load() {
    let calm = |row: Row, p95_ms: f64| Row {
        users: row.users.map(|users| users.with("ping", Part::from([("p95_ms", p95_ms), ("while_busy", 0.0)]))),
        ..row
    };
    let found = asked(&[calm(row("fifo", 0.4, 100.0, 5.0), 100.0), calm(row("fq_codel", 0.4, 11.0, 5.0), 11.0)]);
    assert_eq!(found.gives, ["ping over the whole time 100 -> 11.0 ms"]);
}

#[test]
fn gains_of_the_command_that_may_be_chance_are_said_to_be() {
    // In the hours at the link the ping is better in most, and as bad in some.
    let with = |own: Row, by: [f64; 8], ping_ms: f64| {
        let mut own = with_hours(own);
        let draws = by.map(|by| Some(ping_ms * by)).to_vec();
        own.resampled.as_mut().expect("hours").insert("ping_p95".into(), draws);
        own
    };
    let (steady, wild) = ([1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.01, 1.0], [1.0, 6.0, 0.5, 4.0, 0.6, 1.5, 0.9, 1.0]);
    let rows = [with(row("fifo", 0.4, 100.0, 5.0), steady, 100.0), with(row("fq_codel", 0.15, 11.0, 5.0), wild, 11.0)];
    let loaded = vec![row("fq_codel", 0.16, 40.0, 5.0).into()];
    let found = recommendation(&Question { loaded, ..question("whatif", &rows) }).expect("it is there");
    assert!(found.gives.iter().all(|one| !one.starts_with("ping")), "{:?}", found.gives);
    assert!(
        found.sentence.contains("(and, but it may be chance, ping under load 100 -> 40.0 ms"),
        "{}",
        found.sentence
    );
}

#[test]
fn hours_of_the_command_say_what_is_chance_where_they_ran() {
    let ping = |mut own: Row, draws: [f64; 8]| {
        own.resampled.as_mut().expect("hours").insert("ping_p95".into(), draws.map(Some).to_vec());
        own
    };
    let (fifo, fair) = (with_hours(row("fifo", 0.4, 100.0, 5.0)), with_hours(row("fq_codel", 0.15, 11.0, 5.0)));
    // At the link the ping varies without regard to that of fifo, and as loaded it goes with it.
    let (slow, wild) =
        ([100.0, 300.0, 70.0, 240.0, 60.0, 150.0, 90.0, 80.0], [11.0, 200.0, 5.0, 9.0, 70.0, 8.0, 90.0, 7.0]);
    let rows = [ping(fifo, slow), ping(fair.clone(), wild)];
    let asked_with = |loaded: LoadedRow| {
        recommendation(&Question { loaded: vec![loaded], ..question("whatif", &rows) }).expect("it is there")
    };
    let first = recommendation(&question("whatif", &rows)).expect("it is there");
    assert_eq!((first.to_load, first.to_resample), (vec!["fq_codel".to_owned()], None));
    let loaded = row("fq_codel", 0.16, 40.0, 5.0);
    let found = asked_with(loaded.clone().into());
    let pair = ToResample { discipline: "fq_codel".into(), reference: "fifo".into() };
    assert_eq!((found.to_load.len(), found.to_resample), (0, Some(pair)));
    assert!(found.sentence.contains("it may be chance, ping under load 100 -> 40.0 ms)"), "{}", found.sentence);
    let own = ping(with_hours(loaded), slow.map(|ms| 0.4 * ms));
    let there = rows[0].resampled.clone();
    let found = asked_with(LoadedRow { row: own, there });
    assert_eq!(found.to_resample, None);
    assert!(found.gives.contains(&"ping under load 100 -> 40.0 ms [-60, -60 %]".to_owned()), "{:?}", found.gives);
    assert!(!found.sentence.contains("may be chance"), "{}", found.sentence);
}

#[test]
fn the_one_whose_hours_ran_stays_the_one_that_is_named() {
    let rows =
        [row("fifo", 0.4, 100.0, 5.0), row("fq_codel", 0.15, 11.0, 5.0), row("cake", 0.15, 11.0, 5.0)].map(with_hours);
    let mut loaded = [row("fq_codel", 0.2, 40.0, 5.0), row("cake", 0.21, 41.0, 5.0)].map(LoadedRow::from);
    let ask = |loaded: &[LoadedRow]| {
        recommendation(&Question { loaded: loaded.to_vec(), ..question("whatif", &rows) }).expect("it is there")
    };
    assert_eq!(ask(&loaded).discipline.as_deref(), Some("fq_codel"));
    // Its own hours are wild; the other has the spread of the link.
    loaded[0].row = with_hours(loaded[0].row.clone());
    let wild = [0.1, 0.9, 0.05, 0.5, 0.3, 0.7, 0.2, 0.6].map(Some).to_vec();
    loaded[0].row.resampled.as_mut().expect("hours").insert("short_p95".into(), wild);
    loaded[0].there = rows[0].resampled.clone();
    let found = ask(&loaded);
    assert_eq!((found.discipline.as_deref(), found.to_resample), (Some("fq_codel"), None));
    assert!(found.sentence.contains("it may be chance, short transfers"), "{}", found.sentence);
}
