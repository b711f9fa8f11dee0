//! Response time of a transfer alone on its path, as `mayfly.simulate.isolated` finds it for transfers of one path.

use netsim::{ConfigError, FlowSpec, Run};
use units::Time;

/// Longest transfers of which each size is simulated, segments.
const SIMULATED_SEGMENTS: i64 = 300;
/// Most distinct sizes; of more, sizes are rounded, which is left to Python.
pub(crate) const MOST_TRANSFERS: usize = 20_000;

/// Time alone of each of the distinct sizes, ascending, seconds; NaN for those that do not end.
///
/// # Errors
/// A value of `run` is refused.
pub(crate) fn alone(run: &Run, sizes: &[i64]) -> Result<Vec<f64>, ConfigError> {
    let mss = i64::from(run.tcp.payload());
    let segments = |size: i64| (size + mss - 1) / mss;
    let flow = |size: i64| FlowSpec { start: Time(0), size_bytes: size as u64, src: 0, dst: 0, ..FlowSpec::default() };
    let mut found = vec![f64::NAN; sizes.len()];
    let mut exact: Vec<bool> = sizes.iter().map(|&size| segments(size) <= SIMULATED_SEGMENTS).collect();
    if let Some(&largest) = sizes.last().filter(|&&size| segments(size) > SIMULATED_SEGMENTS) {
        let own = netsim::alone(run, &flow(largest))?;
        let arrivals = &own.arrivals;
        // What was lost arrives in order at one instant with all that waited behind it.
        if own.finish == Time::NEVER
            || (arrivals.len() as i64) < segments(largest)
            || arrivals.windows(2).any(|pair| pair[0] == pair[1])
        {
            exact.fill(true);
        } else {
            let last = arrivals[arrivals.len() - 1];
            let byte_ns = 8e9 / run.network.rate.bps() as f64;
            for (place, &size) in sizes.iter().enumerate().filter(|&(place, _)| !exact[place]) {
                let short = (segments(size) * mss - size) as f64;
                let reached = arrivals[segments(size) as usize - 1].0 as f64 - short * byte_ns;
                found[place] = reached + (own.finish.0 as f64 - last.0 as f64);
            }
            found[sizes.len() - 1] = own.finish.0 as f64;
        }
    }
    for (place, &size) in sizes.iter().enumerate().filter(|&(place, _)| exact[place]) {
        let own = netsim::alone(run, &flow(size))?;
        if own.finish != Time::NEVER {
            found[place] = own.finish.0 as f64;
        }
    }
    found.iter_mut().for_each(|time| *time *= 1e-9);
    Ok(found)
}
