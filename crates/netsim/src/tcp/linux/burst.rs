//! How much leaves together: sizes that senders, their hosts' queues and BBR count with (`tcp_tso_autosize`).

/// Pace below which segments of a model leave one by one, bytes per second (`bbr_min_tso_rate`).
const LOW_PACE: u64 = 150_000;
/// Segments that leave together at least otherwise (`tcp_min_tso_segs`), and bytes at most (`sk_gso_max_size`).
pub(super) const LEAST_TOGETHER: u32 = 2;
pub(super) const MOST_TOGETHER: u64 = 65_215;
/// What leaves together is what the pace gives in 2^-10 s (`sk_pacing_shift`), and more where round trips are short: the most,
/// halved for each 2^9 us of the least round-trip time (`tcp_tso_rtt_log`).
pub(super) const PACING_SHIFT: u32 = 10;
pub(super) const RTT_SHIFT: u32 = 9;
/// Most segments of what leaves together as BBR counts with it.
const MOST_GOAL: u32 = 0x7f;

/// Segments that leave together at a pace of a model (`bbr_tso_segs_goal`).
pub(super) fn goal(pacing_rate: u64, mss: u32) -> u32 {
    let bytes = (pacing_rate >> PACING_SHIFT).min(MOST_TOGETHER);
    ((bytes / u64::from(mss)) as u32).max(least_together(pacing_rate)).min(MOST_GOAL)
}

/// Segments of it at least (`bbr_min_tso_segs`).
pub(super) fn least_together(pacing_rate: u64) -> u32 {
    if pacing_rate < LOW_PACE { 1 } else { LEAST_TOGETHER }
}
