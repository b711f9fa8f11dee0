//! What a host remembers of a path when a connection over it ends, for those that begin later (`tcp_metrics.c`).
//!
//! The round-trip time makes the first timeout longer where the handshake was quicker than data was before; reordering that
//! was seen is expected from the start; the slow-start threshold, which Linux no longer keeps by default
//! (`tcp_no_ssthresh_metrics_save`), ends slow start where it ended before. An entry is forgotten after an hour.

use units::Time;

/// For how long an entry counts (`TCP_METRICS_TIMEOUT`).
pub(super) const LASTS: Time = Time(3_600_000_000_000);

/// What is known of a path; zeros where nothing is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Metrics {
    /// Eight times the smoothed round-trip time, microseconds.
    pub(super) rtt_us: u32,
    pub(super) reordering: u32,
    pub(super) ssthresh: u32,
    /// When it was last written.
    pub(super) written: Time,
}

impl Metrics {
    /// Whether it counts for a connection that begins at `now`.
    pub(crate) fn counts(&self, now: Time) -> bool {
        now - self.written <= LASTS
    }
}
