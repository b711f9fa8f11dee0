//! Losses found by time (RFC 8985): a segment is lost when one that left later has arrived and, with it, the round-trip time
//! and the time that reordering may take have passed.

/// Recoveries for which a widened reordering window stays (RFC 8985, 6.2, step 4).
pub(super) const PERSISTS: u32 = 16;
/// Steps of the reordering window at most.
pub(super) const MOST_STEPS: u32 = 255;

/// State of RACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    /// Departure of the newest segment that arrived, microseconds, the number after it, and its round-trip time.
    pub(super) sent_us: u64,
    pub(super) end: u32,
    pub(super) rtt_us: u64,
    /// Something newer has arrived since the queue was last searched.
    pub(super) advanced: bool,
    /// A needless retransmission was told since the window was last widened.
    pub(super) dsack_seen: bool,
    /// The reordering window is so many quarters of the least round-trip time.
    pub(super) steps: u32,
    pub(super) persist: u32,
    /// Delivered when the window was last widened.
    pub(super) last_delivered: u32,
}

impl Rack {
    pub(super) fn new() -> Rack {
        Rack {
            sent_us: 0,
            end: 0,
            rtt_us: 0,
            advanced: false,
            dsack_seen: false,
            steps: 1,
            persist: 0,
            last_delivered: 0,
        }
    }

    /// Needless retransmissions had the reduction taken back: the window stays as it is for longer.
    pub(super) fn persist_longer(&mut self) {
        self.persist = PERSISTS.min(self.persist + 1);
    }
}
