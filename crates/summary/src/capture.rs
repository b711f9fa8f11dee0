//! What `mayfly whatif` adds: the capture, the guess of its link, the hours that were resampled.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::link;

/// The capture that was replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// Its file.
    pub path: String,
    /// From its first packet to its last, seconds.
    pub span_s: f64,
    /// Offered toward the internal side, Mbit/s.
    pub offered_down_mbps: Option<f64>,
    /// Offered the other way, Mbit/s.
    pub offered_up_mbps: Option<f64>,
    /// Load of the busier direction, as a share of its rate.
    pub load: Option<f64>,
    /// The load that was asked for; null without one.
    pub scaled_to_load: Option<f64>,
    /// Form of the replay: `users`, `trains`, `packets` or `transfers`.
    pub replay: String,
    /// The median round-trip time that was asked for, seconds; null without one.
    pub scaled_to_rtt_s: Option<f64>,
    /// QUIC, as a share of the bytes: it is replayed by QUIC.
    pub quic_share: f64,
    /// Of it, connections whose beginning was not captured, as a share of the bytes.
    pub quic_probably_share: f64,
    /// UDP that is neither QUIC nor a call, as a share of the bytes.
    pub other_udp_share: f64,
    /// UDP of port 443 of which nothing shows that it is QUIC, as a share of the bytes.
    pub udp_443_share: f64,
    /// Calls, as a share of the bytes.
    pub calls_share: f64,
    /// Video calls and games of UDP, as a share of the bytes ([](users.md#streams-of-udp)).
    pub media_share: f64,
    /// IP protocols other than TCP, UDP and ICMP (ESP, GRE, SCTP), as a share of the bytes.
    pub opaque_share: f64,
    /// Packets in no connection, as a share of the packets.
    pub left_out_share: f64,
    /// What most frames of the capture have around a packet of IP, bytes: VLAN tags with the header and checksum of Ethernet; 0 where
    /// they have no tags, and where those are more than a shaper counts.
    pub overhead_bytes: u64,
    /// Whether addresses of the near side may be translated on their way.
    pub translated: bool,
}

/// Hours that were drawn from the sessions of the capture ([](recommendation.md#intervals)). With hours every `ci95` of `short`, `long`
/// and `users` is of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resampling {
    /// How many ran.
    pub hours: u64,
    /// How many there could be.
    pub most: u64,
    /// Whether they ended because more of them would hardly change what is recommended ([](recommendation.md#settled)).
    pub settled: bool,
    /// Sessions they were drawn from.
    pub sessions: u64,
    /// Hosts with these sessions.
    pub hosts: u64,
    /// Least time between two sessions of a user, seconds.
    pub gap_s: f64,
    /// Why there are none, or why time or memory ended them; null else.
    pub why_none: Option<String>,
}

/// Errors of a kind of figure in predictions ([](verification.md)), as shares of what real programs had.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorShares {
    /// The median.
    pub median: f64,
    /// Nine of ten stay below.
    pub p90: f64,
}

/// The link that the capture shows, where none was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Guess {
    /// The direction that is full for longer.
    pub busier: link::Direction,
    /// Toward the internal side.
    pub down: DirectionGuess,
    /// The other way.
    pub up: DirectionGuess,
}

/// What one direction of the link shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DirectionGuess {
    /// Its name.
    pub direction: link::Direction,
    /// Load of its busiest second, bit/s.
    pub busiest_bps: Option<f64>,
    /// The guess of the rate, bit/s; null where there is none.
    pub rate_bps: Option<f64>,
    /// 90 % of the windows of the plateau lie above, bit/s.
    pub rate_low_bps: Option<f64>,
    /// And below this, bit/s.
    pub rate_high_bps: Option<f64>,
    /// Length of the windows of the plateau, seconds.
    pub width_s: Option<f64>,
    /// Time at the plateau, seconds.
    pub full_s: f64,
    /// The same as a share of the capture.
    pub full_share: f64,
    /// The guess of the buffer, bytes; null where no round-trip time shows one.
    pub buffer_bytes: Option<f64>,
    /// From the wait that 75 % of the windows stay within, bytes.
    pub buffer_low_bytes: Option<f64>,
    /// To the longest wait, bytes.
    pub buffer_high_bytes: Option<f64>,
    /// The wait that stands for a full buffer, seconds.
    pub wait_s: Option<f64>,
    /// Share of the TCP data packets of the direction that were sent again.
    pub lost: Option<f64>,
    /// Time at a plateau of which nothing says whether packets wait or are lost there, seconds; 0 where there is a guess, and where
    /// something says that none do.
    pub perhaps_full_s: f64,
    /// Rate of that plateau, bit/s.
    pub perhaps_bps: Option<f64>,
    /// What the guess rests on, what to doubt in it, or why there is none.
    pub why: String,
    /// The same of the buffer.
    pub buffer_why: String,
}
