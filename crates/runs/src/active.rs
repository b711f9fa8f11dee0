//! Flows in the network at once, over time.

use summary::ActiveFlows;

/// Of flows from `starts`, ascending, to `ends`, infinite when unfinished, between `begin_s` and `end_s`, seconds.
/// `None` without time between.
pub(crate) fn active(starts: &[f64], ends: &[f64], begin_s: f64, end_s: f64) -> Option<ActiveFlows> {
    if end_s <= begin_s {
        return None;
    }
    let edges = [begin_s, begin_s + (end_s - begin_s)];
    // At one instant flows end before others start.
    let mut steps: Vec<(f64, i64)> = starts.iter().map(|&at| (at, 1)).chain(ends.iter().map(|&at| (at, -1))).collect();
    steps.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    steps.truncate(steps.partition_point(|step| step.0 < edges[1]));
    let mut at = vec![steps.first().map_or(edges[0], |first| edges[0].min(first.0))];
    at.extend(steps.iter().map(|step| step.0));
    at.push(edges[1]);
    let (mut level, mut area) = (vec![0], vec![0.0]);
    for step in &steps {
        level.push(level[level.len() - 1] + step.1);
    }
    for (between, &level) in at.windows(2).zip(&level) {
        area.push(area[area.len() - 1] + level as f64 * (between[1] - between[0]));
    }
    let mean = (interpolated(edges[1], &at, &area) - interpolated(edges[0], &at, &area)) / (edges[1] - edges[0]);
    let first = steps.partition_point(|step| step.0 < edges[0]);
    let mut max = level[first];
    if let Some(inside) = level[first + 1..].iter().copied().max() {
        // The end of a flow at the very start comes before the level found there.
        let opening = if steps[first].0 > edges[0] { max } else { level[first + 1] };
        max = opening.max(inside);
    }
    Some(ActiveFlows { mean: Some(mean), max: u64::try_from(max).ok() })
}

/// Value at `x` of the line through the points, ascending, as `numpy.interp` has it.
fn interpolated(x: f64, at: &[f64], values: &[f64]) -> f64 {
    let place = at.partition_point(|&other| other <= x);
    if place == 0 {
        return values[0];
    }
    let before = place - 1;
    if place == at.len() || at[before] == x {
        return values[before];
    }
    let slope = (values[place] - values[before]) / (at[place] - at[before]);
    slope * (x - at[before]) + values[before]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_flows_are_counted_over_time() {
        let of = |mean, max| ActiveFlows { mean: Some(mean), max: Some(max) };
        let infinite = f64::INFINITY;
        let found = active(&[0.0, 1.0], &[2.0, infinite], 0.0, 4.0).expect("time");
        assert_eq!(found, of(1.25, 2));
        assert_eq!(active(&[0.0, 1.0], &[2.0, infinite], 2.0, 4.0), Some(of(1.0, 1)));
        assert_eq!(active(&[0.0], &[1.0], 3.0, 4.0), Some(of(0.0, 0)));
        assert_eq!(active(&[0.0], &[1.0], 4.0, 4.0), None);
    }
}
