//! What the timer of the sending end is set for.

/// Added to times that would be too short for a timer, microseconds (`TCP_TIMEOUT_MIN_US`).
pub(super) const MIN_TIMEOUT_US: u64 = 2000;

/// What the timer is set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    Nothing,
    /// The retransmission timeout.
    Retransmit,
    /// A probe for a loss at the tail.
    LossProbe,
    /// A probe of a window that is closed.
    WindowProbe,
    /// The end of the time that reordering may take.
    Reordering,
}
