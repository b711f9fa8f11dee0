//! The run itself.

use std::collections::{BTreeMap, BTreeSet};

use netsim::{ConfigError, Control, FlowSpec, Run};
use units::Time;

use crate::alone::{MOST_TRANSFERS, alone};
use crate::figures::{Figures, Taken, figures};
use crate::files::{self, Labels, Written};
use crate::list::List;

/// What a run gives.
#[derive(Debug)]
pub struct Ran {
    /// For the summary.
    pub figures: Figures,
    /// For the files.
    pub tables: Written,
}

/// What the scenario says in seconds, which the run has in whole nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Seconds {
    /// End of the run; all flows start before it.
    pub duration: f64,
    /// Round-trip time without queueing.
    pub rtt: f64,
}

/// Runs the plain transfers of `list` on the one link of `run`. `None` where that is left to Python: transfers of too many sizes, an estimator in the queue.
///
/// # Errors
/// A value is refused, or the run is cancelled.
pub fn run(
    mut run: Run,
    list: &List,
    seconds: Seconds,
    labels: &Labels,
    control: &Control,
) -> Result<Option<Ran>, ConfigError> {
    let (mss, header) = (i64::from(run.tcp.mss), i64::from(run.tcp.headers()));
    let able = able(&run, list);
    let sizes: BTreeSet<i64> = (0..list.len()).filter(|&row| able[row]).map(|row| list.size_bytes[row]).collect();
    if sizes.len() > MOST_TRANSFERS {
        return Ok(None);
    }
    let sizes: Vec<i64> = sizes.into_iter().collect();
    run.watched = list.largest().into_iter().map(|row| row as u32).collect();
    let flows = specs(list);
    let output = netsim::run(&run, &flows, control)?;
    if output.samples.iter().any(|sample| sample.nonresponsive_estimate.is_some()) {
        return Ok(None);
    }
    let alone_s: BTreeMap<i64, f64> = sizes.iter().copied().zip(alone(&run, &sizes)?).collect();
    let finish_s = |row: usize| crate::figures::known(output.records[row].finish);
    let response_s: Vec<f64> =
        (0..list.len()).map(|row| finish_s(row).map_or(f64::NAN, |finish_s| finish_s - list.start_s[row])).collect();
    let slowdown: Vec<f64> = (0..list.len())
        .map(|row| match alone_s.get(&list.size_bytes[row]).filter(|_| able[row]) {
            Some(alone_s) => response_s[row] / alone_s,
            None => f64::NAN,
        })
        .collect();
    let of = Taken {
        list,
        records: &output.records,
        response_s: &response_s,
        slowdown: &slowdown,
        counters: &output.counters,
        mss,
        header,
        duration_s: seconds.duration,
        rtt_s: seconds.rtt,
    };
    let refused = |error: arrow_schema::ArrowError| ConfigError::Value("tables", error.to_string(), "of equal length");
    let tables = Written {
        flows: files::flows(list, &output.records, [&response_s, &slowdown], mss, labels).map_err(refused)?,
        samples: files::samples(&output.samples, labels).map_err(refused)?,
    };
    Ok(Some(Ran { figures: figures(&of), tables }))
}

/// Which flows can end in the time that they have, whatever the discipline.
fn able(run: &Run, list: &List) -> Vec<bool> {
    let (rate, end_s) = (run.network.rate.bps() as f64, run.duration.0 as f64 * 1e-9);
    let able = |row: usize| list.size_bytes[row] as f64 * 8.0 / rate <= end_s - list.start_s[row];
    (0..list.len()).map(able).collect()
}

/// The flows as the simulator takes them; hosts by their rank among those of their side, as text.
fn specs(list: &List) -> Vec<FlowSpec> {
    let ranks = |hosts: &[i64]| -> BTreeMap<String, u32> {
        let distinct: BTreeSet<i64> = hosts.iter().copied().collect();
        let texts: BTreeSet<String> = distinct.iter().map(i64::to_string).collect();
        texts.into_iter().zip(0..).collect()
    };
    let (senders, receivers) = (ranks(&list.src), ranks(&list.dst));
    let flow = |row: usize| FlowSpec {
        start: Time((list.start_s[row] * 1e9).round_ties_even() as u64),
        size_bytes: list.size_bytes[row] as u64,
        src: senders[&list.src[row].to_string()],
        dst: receivers[&list.dst[row].to_string()],
        ..FlowSpec::default()
    };
    (0..list.len()).map(flow).collect()
}
