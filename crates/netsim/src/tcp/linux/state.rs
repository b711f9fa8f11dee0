//! What a sender knows, by the names of Linux' `struct tcp_info`.

use super::sender::{INFINITE, Sender};
use crate::tcp::settings::Tcp;

impl Sender {
    /// One above the highest number sent.
    pub(crate) fn nxt(&self) -> u32 {
        self.nxt
    }

    /// Names without `tcpi_`, and values; windows and counts in segments, times in microseconds.
    pub(crate) fn state(&self, tcp: &Tcp) -> Vec<(&'static str, f64)> {
        let least = self.estimator.least_us();
        vec![
            ("snd_cwnd", self.cwnd.into()),
            ("snd_ssthresh", self.ssthresh.min(INFINITE).into()),
            ("ca_state", f64::from(self.state as u8)),
            ("unacked", self.packets_out.into()),
            ("sacked", self.sacked_out.into()),
            ("lost", self.lost_out.into()),
            ("retrans", self.retrans_out.into()),
            ("retransmits", self.attempts.into()),
            ("total_retrans", self.retransmits as f64),
            ("reordering", self.reordering.into()),
            ("reord_seen", self.reord_seen.into()),
            ("delivered", self.delivered.into()),
            ("delivered_ce", self.delivered_ce.into()),
            ("dsack_dups", self.dsack_dups.into()),
            ("backoff", self.attempts.into()),
            ("probes", self.probes.into()),
            ("rto", self.clock.in_us(self.rto) as f64),
            ("rtt", f64::from(self.estimator.srtt_us >> 3)),
            ("rttvar", f64::from(self.estimator.deviation_us() >> 2)),
            ("min_rtt", least.into()),
            ("snd_mss", tcp.mss.into()),
        ]
    }
}
