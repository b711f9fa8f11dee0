//! What a model expects of the transfers of a run: a server of the same rate that is given the same transfers as jobs,
//! without packets (crate [`jobs`]), and round trips of slow start beside it.
//!
//! `docs/models` describes the policies; which one stands for a discipline follows `mayfly.models.queue.disciplines`. A
//! transfer takes its time at the server and the round trips that slow start needs for its bytes, from the initial window
//! on. Losses, timeouts, datagrams and what waits in a buffer are left out: what the run has beyond the model is theirs.

use jobs::{Finished, Lagged, Lags, Level, Order, Server};
use metrics::{Ran, Transfer, percentile};
use qdisc::disciplines::specs;
use serde::Serialize;
use units::ENDLESS_BYTES;

use crate::request::Discipline;

const SHORT_BYTES: u64 = 100_000;
const LONG_BYTES: u64 = 1_000_000;
/// Transfers that a model of users is given at most: its time grows with the number that is there.
const MOST_OF_USERS: usize = 5_000;

/// Beside the run: the same transfers, those that finished in both.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Model"))]
pub(crate) struct Expected {
    /// `ps`, `las` or `lfq`.
    policy: &'static str,
    /// Of the documentation.
    page: &'static str,
    /// `down` or `up`: the way that carries more.
    direction: &'static str,
    short: Option<Beside>,
    long: Option<Beside>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Beside {
    transfers: usize,
    model_p50_s: Option<f64>,
    run_p50_s: Option<f64>,
    model_p95_s: Option<f64>,
    run_p95_s: Option<f64>,
}

enum Policy {
    Levels(&'static str, Order),
    Lagged(Lags),
}

/// A transfer as a job, in order of arrival.
struct Job {
    start_s: f64,
    wire_s: f64,
    user: u32,
    transfer: Option<usize>,
}

/// What the model of a discipline expects; `None` where it has no model, or there is no transfer.
pub(crate) fn expected(discipline: &Discipline, ran: &Ran<'_>, transfers: &[Transfer]) -> Option<Expected> {
    let bytes = |up: bool| transfers.iter().filter(|one| one.up == up).map(|one| one.size_bytes as f64).sum::<f64>();
    let up = bytes(true) > bytes(false);
    let network = &ran.run.network;
    let rate = if up { network.reverse_rate.unwrap_or(network.rate) } else { network.rate };
    let byte_s = 8.0 / rate.bps() as f64;
    let policy = policy(discipline, byte_s)?;
    let jobs = jobs_of(ran, transfers, up, byte_s);
    let took = served(&policy, &jobs)?;
    let mut rows: Vec<(u64, f64, f64)> = Vec::new();
    for (job, took) in jobs.iter().zip(took) {
        let (Some(place), Some(took)) = (job.transfer, took) else { continue };
        let transfer = &transfers[place];
        if let Some(response_s) = transfer.response_s {
            rows.push((transfer.size_bytes, took + path_s(ran, transfer), response_s));
        }
    }
    let (name, page) = match policy {
        Policy::Levels(name, _) => (name, "models/mg1"),
        Policy::Lagged(_) => ("lfq", "models/lfq"),
    };
    Some(Expected {
        policy: name,
        page,
        direction: if up { "up" } else { "down" },
        short: Beside::of(&rows, |bytes| bytes <= SHORT_BYTES),
        long: Beside::of(&rows, |bytes| bytes > LONG_BYTES),
    })
}

impl Beside {
    fn of(rows: &[(u64, f64, f64)], fits: impl Fn(u64) -> bool) -> Option<Beside> {
        let own: Vec<_> = rows.iter().filter(|row| fits(row.0)).collect();
        let ordered = |of: fn(&(u64, f64, f64)) -> f64| {
            let mut values: Vec<f64> = own.iter().map(|row| of(row)).collect();
            values.sort_unstable_by(f64::total_cmp);
            values
        };
        let (model, run) = (ordered(|row| row.1), ordered(|row| row.2));
        (!own.is_empty()).then(|| Beside {
            transfers: own.len(),
            model_p50_s: percentile(&model, 0.5),
            run_p50_s: percentile(&run, 0.5),
            model_p95_s: percentile(&model, 0.95),
            run_p95_s: percentile(&run, 0.95),
        })
    }
}

fn policy(discipline: &Discipline, byte_s: f64) -> Option<Policy> {
    let spec = specs().iter().find(|spec| spec.id == discipline.id)?;
    match spec.id {
        "fifo" => Some(Policy::Levels("ps", Order::Ps)),
        "las" | "lasack" => Some(Policy::Levels("las", Order::Las)),
        "lfq" => Some(Policy::Lagged(lags(discipline, byte_s)?)),
        _ => (spec.family == qdisc::Family::FairQueueing).then_some(Policy::Levels("ps", Order::Ps)),
    }
}

/// Lags of `lfq` on this link, as times.
fn lags(discipline: &Discipline, byte_s: f64) -> Option<Lags> {
    let spec = specs().iter().find(|spec| spec.id == "lfq")?;
    let option = |name: &str| match discipline.options.get(name) {
        Some(serde_json::Value::Number(number)) => number.as_f64(),
        Some(serde_json::Value::String(text)) => text.parse().ok(),
        _ => spec.params.iter().find(|param| param.name == name).and_then(default),
    };
    let (user, job, pace) = (option("user_lag")?, option("flow_lag")?, option("pace")?);
    // No more than the link sends in that time.
    let share = (option("lag_time")? / byte_s / user).min(1.0);
    Some(Lags { user: user * share * byte_s, job: job * share * byte_s, pace })
}

/// Default of a parameter that is a number.
fn default(param: &qdisc::Param) -> Option<f64> {
    match param.value {
        qdisc::Value::Number { default, .. } => Some(default),
        qdisc::Value::Whole { default, .. } => Some(default as f64),
        _ => None,
    }
}

/// Bytes on the wire of a transfer, as a time.
fn wire_s(ran: &Ran<'_>, bytes: u64, byte_s: f64) -> f64 {
    let tcp = &ran.run.tcp;
    let packets = bytes.div_ceil(tcp.mss.into());
    (bytes + packets * u64::from(tcp.headers())) as f64 * byte_s
}

fn jobs_of(ran: &Ran<'_>, transfers: &[Transfer], up: bool, byte_s: f64) -> Vec<Job> {
    let mut users: Vec<(u32, u32)> = ran.flows.iter().map(|flow| (flow.src, flow.dst)).collect();
    users.sort_unstable();
    users.dedup();
    let user = |row: usize| {
        let flow = &ran.flows[row];
        users.binary_search(&(flow.src, flow.dst)).unwrap_or_default() as u32
    };
    let longest_s = ran.run.duration.as_secs_f64();
    let mut jobs: Vec<Job> = transfers
        .iter()
        .enumerate()
        .filter(|(_, one)| one.up == up && one.size_bytes > 0)
        .map(|(place, one)| Job {
            start_s: one.start_s,
            wire_s: wire_s(ran, one.size_bytes, byte_s),
            user: user(one.row as usize),
            transfer: Some(place),
        })
        .collect();
    let endless = ran.flows.iter().enumerate().filter(|(_, flow)| {
        flow.udp.is_none() && flow.up == up && flow.size_bytes >= ENDLESS_BYTES && flow.application == 0
    });
    jobs.extend(endless.map(|(row, flow)| Job {
        start_s: flow.start.as_secs_f64(),
        wire_s: longest_s,
        user: user(row),
        transfer: None,
    }));
    jobs.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    jobs
}

/// How long each job is at the server; `None` where the policy cannot be, or has too many.
fn served(policy: &Policy, jobs: &[Job]) -> Option<Vec<Option<f64>>> {
    let mut took = vec![None; jobs.len()];
    let mut left = |job: Finished| took[job.job as usize] = Some(job.response_time);
    match policy {
        Policy::Levels(_, order) => {
            let mut server = Server::new(&[Level { order: *order, upto: f64::INFINITY }]).ok()?;
            jobs.iter().for_each(|job| server.arrive(job.start_s, job.wire_s, 1.0, &mut left));
            server.drain(&mut left);
        }
        Policy::Lagged(lags) => {
            if jobs.len() > MOST_OF_USERS {
                return None;
            }
            let mut server = Lagged::new(*lags, &[]).ok()?;
            for job in jobs {
                server.arrive(job.start_s, job.wire_s, Some(job.user), &mut left, &mut |_| ());
            }
            server.drain(&mut left, &mut |_| ());
        }
    }
    Some(took)
}

/// Round trips of a transfer beside its time at the server: the handshake of a connection of its own, and as many as
/// slow start needs, the last one half.
fn path_s(ran: &Ran<'_>, transfer: &Transfer) -> f64 {
    let (flow, network, tcp) = (&ran.flows[transfer.row as usize], &ran.run.network, &ran.run.tcp);
    let back = network.reverse_delay.unwrap_or(network.delay);
    let own = units::Time(2 * (network.access_delay.0 + network.exit_delay.0) + network.delay.0 + back.0);
    let rtt_s = flow.rtt.unwrap_or(own).as_secs_f64();
    let packets = transfer.size_bytes.div_ceil(tcp.mss.into());
    let (mut rounds, mut sent, mut window) = (1_u32, u64::from(tcp.initial_window), u64::from(tcp.initial_window));
    while sent < packets && rounds < 64 {
        window *= 2;
        sent += window;
        rounds += 1;
    }
    let handshake = if flow.script.is_none() { 1.0 } else { 0.0 };
    rtt_s * (handshake + f64::from(rounds) - 0.5)
}
