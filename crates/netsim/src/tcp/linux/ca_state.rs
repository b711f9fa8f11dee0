//! The state of congestion control, on which nearly all that a sender does depends.

/// How the sender takes the state of the network (`icsk_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// Nothing is dubious.
    Open,
    /// Something arrived out of order, or twice.
    Disorder,
    /// The window shrinks for a mark.
    Cwr,
    /// The window shrinks for a loss, which is being repaired.
    Recovery,
    /// The retransmission timer went off.
    Loss,
}
