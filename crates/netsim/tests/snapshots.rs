//! One minute of the wired workload under every discipline, as tables to see results move. Where they were
//! meant to: `INSTA_UPDATE=always cargo test -p mayfly-netsim --test main snapshots`, and a commit of its own.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use netsim::{FlowRecord, FlowSpec, Output, Run};
use units::{Stream, Time};

use crate::dumbbell::{disciplines, go, poisson, transfer, wired};

const SNAPSHOTS: &str = "tests/snapshots";

/// About 8 Mb/s for a minute: 1000 transfers of 6 to 12121 segments, P(size >= x) = 6 / x, a tenth of them
/// upwards. Neither logarithms nor powers, so that every platform draws the same.
fn workload() -> Vec<FlowSpec> {
    let mut draws = Stream::named(1, "workload");
    let mut pick = |choices: f64| (draws.uniform() * choices) as u32;
    let mut sizes = Stream::named(1, "sizes");
    let mut size = || loop {
        let segments = 6.0 / (1.0 - sizes.uniform());
        if segments < 12_122.0 {
            return segments as u64;
        }
    };
    let flow =
        |start| FlowSpec { src: pick(5.0), dst: pick(5.0), up: pick(10.0) == 0, ..transfer(start, 1460 * size()) };
    poisson(1, 1000, Time::from_millis(60_000)).into_iter().map(flow).collect()
}

/// A row for the transfers of one class: number, mean and largest response time, what they lost.
fn class(table: &mut String, name: &str, flows: &[(FlowSpec, FlowRecord)]) {
    let responses: Vec<f64> = flows.iter().map(|(flow, record)| (record.finish - flow.start).as_secs_f64()).collect();
    let mean = responses.iter().sum::<f64>() / responses.len() as f64;
    let largest = responses.iter().copied().fold(0.0, f64::max);
    let sum = |of: fn(&FlowRecord) -> u64| flows.iter().map(|(_, record)| of(record)).sum::<u64>();
    let (retransmits, timeouts) = (sum(|record| record.retransmits), sum(|record| record.timeouts.into()));
    let size = flows.iter().map(|(flow, _)| flow.size_bytes).sum::<u64>() as f64 / 1460.0 / flows.len() as f64;
    let count = flows.len();
    writeln!(table, "{name:<6} {count:>5} {size:>10.1} {mean:>8.3} {largest:>8.3} {retransmits:>11} {timeouts:>8}")
        .expect("strings grow");
}

fn table(run: &Run, flows: &[FlowSpec], output: &Output) -> String {
    let mut ended: Vec<(FlowSpec, FlowRecord)> = flows.iter().copied().zip(output.records.iter().copied()).collect();
    ended.retain(|(_, record)| record.finish != Time::NEVER);
    ended.sort_by_key(|(flow, _)| flow.size_bytes);
    let bytes: u64 = ended.iter().map(|(flow, _)| flow.size_bytes).sum();
    let mut below = 0;
    // Long: the largest that together carry half of the bytes (Chen 2012, 4.6.2).
    let short = ended.iter().take_while(|(flow, _)| {
        below += flow.size_bytes;
        2 * below <= bytes
    });
    let (short, long) = ended.split_at(short.count());
    let mut table = "class  flows   segments   mean_s    max_s retransmits timeouts\n".to_owned();
    class(&mut table, "short", short);
    class(&mut table, "long", long);
    let c = &output.counters;
    let utilisation = |bytes: u64| bytes as f64 * 8.0 / run.network.rate.bps() as f64 / c.end.as_secs_f64();
    let (forward, reverse) = (utilisation(c.sent_bytes), utilisation(c.reverse_sent_bytes));
    let unfinished = flows.len() - ended.len();
    let sum = |of: fn(&FlowRecord) -> u64| output.records.iter().map(of).sum::<u64>();
    let (sorted, high) = (sum(|record| record.sorted_packets), sum(|record| record.high_packets));
    let rows = [
        format!("unfinished {unfinished}"),
        format!("forward    arrivals {}, drops {}, utilisation {forward:.4}", c.arrivals, c.drops),
        format!("           mean queue {:.3}, sorted {sorted}, high {high}", c.queue_mean_packets),
        format!("flow table mean {:.3}, max {}", c.flow_table_mean, c.flow_table_max),
        format!("reverse    drops {}, utilisation {reverse:.4}", c.reverse_drops),
        format!("           mean queue {:.3}", c.reverse_queue_mean_packets),
    ];
    table + &rows.join("\n")
}

#[test]
fn a_minute_of_the_wired_workload_has_not_moved() {
    let flows = workload();
    let mut moved = Vec::new();
    for id in disciplines() {
        // A discipline may come before its table; whoever adds it need not touch this crate.
        let known = Path::new(env!("CARGO_MANIFEST_DIR")).join(SNAPSHOTS).join(format!("{id}.snap")).exists();
        if !known && !std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
            eprintln!("{id}: no table yet, run with INSTA_UPDATE=always");
            continue;
        }
        let run = wired(id);
        let output = go(&run, &flows);
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(SNAPSHOTS.trim_start_matches("tests/"));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        let text = table(&run, &flows, &output);
        let outcome = catch_unwind(AssertUnwindSafe(|| settings.bind(|| insta::assert_snapshot!(id, text))));
        moved.extend(outcome.is_err().then_some(id));
    }
    assert!(moved.is_empty(), "moved: {}", moved.join(", "));
}
