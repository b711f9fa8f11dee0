//! Delivery rate: how fast the path delivers, measured with every acknowledgement.
//!
//! Source: Linux, net/ipv4/tcp_rate.c; draft-cheng-iccrg-delivery-rate-estimation-00.

/// What the sender keeps between acknowledgements.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateMeter {
    /// When the oldest segment of the next sample left, and when a delivery was last seen, microseconds.
    pub(super) first_sent_us: u64,
    pub(super) delivered_us: u64,
    /// Until so much is delivered samples count as limited by the application; 0 for never.
    pub(super) app_limited: u32,
}

impl RateMeter {
    /// The application hands over data while `in_flight` segments are under way and none wait.
    pub(super) fn on_write(&mut self, delivered: u32, in_flight: u32) {
        self.app_limited = (delivered + in_flight).max(1);
    }
}

/// The sample of one acknowledgement, while it is read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateSample {
    /// When a delivery was last seen before the newest delivered segment left, microseconds; 0 for no sample.
    pub(super) prior_us: u64,
    pub(super) prior_delivered: u32,
    /// Segments delivered in the interval; `None` without a sample.
    pub(super) delivered: Option<u32>,
    pub(super) interval_us: u64,
    /// The interval is shorter than the least round-trip time: the rate would be too high.
    pub(super) too_short: bool,
    /// Round-trip time of the newest segment delivered, microseconds.
    pub(super) rtt_us: Option<u32>,
    /// Segments newly lost, and newly delivered.
    pub(super) losses: u32,
    pub(super) acked: u32,
    pub(super) prior_in_flight: u32,
    pub(super) last_end: u32,
    pub(super) app_limited: bool,
}

impl RateSample {
    /// Segments delivered, where the interval is one that a rate can be taken from.
    #[inline]
    pub(super) fn valid_delivered(&self) -> Option<u32> {
        self.delivered.filter(|_| !self.too_short && self.interval_us > 0)
    }
}
