//! What a sender knows, by the names of Linux' `struct tcp_info`.

use crate::tcp::sender::Sender;
use crate::tcp::settings::Tcp;

/// `tcpi_ca_state`.
const OPEN: f64 = 0.0;
const DISORDER: f64 = 1.0;
const CWR: f64 = 2.0;
const RECOVERY: f64 = 3.0;
const LOSS: f64 = 4.0;

impl Sender {
    /// Names without `tcpi_`, and values; windows and counts in segments, times in microseconds. What a sender does not
    /// know is not among them.
    pub(in crate::tcp) fn state(&self, tcp: &Tcp) -> Vec<(&'static str, f64)> {
        let is_sacked = |seq: &u32| self.board.is_sacked(*seq);
        let (sacked, lost_below) = ((self.una..self.max).filter(is_sacked).count(), self.board.lost_below());
        let lost = (self.una..lost_below.min(self.max)).filter(|seq| !is_sacked(seq)).count();
        let unacked = (self.max - self.una) as usize;
        let in_loss = !self.recovering && self.una < self.recover;
        let repeated = self.board.pipe(self.una, self.max) as usize - (unacked - sacked - lost);
        let ca_state = match () {
            () if self.recovering => RECOVERY,
            () if in_loss => LOSS,
            () if self.una > 1 && self.una < self.marked_below => CWR,
            () if self.dup_acks > 0 || sacked > 0 => DISORDER,
            () => OPEN,
        };
        let us = |s: f64| s * 1e6;
        vec![
            ("snd_cwnd", (self.control.cwnd + f64::from(self.inflation)).floor()),
            ("snd_ssthresh", self.control.ssthresh.floor()),
            ("ca_state", ca_state),
            ("unacked", unacked as f64),
            ("sacked", sacked as f64),
            ("lost", lost as f64),
            ("retrans", repeated as f64),
            ("total_retrans", self.retransmits as f64),
            ("rto", us(self.rtt.timeout(tcp).as_secs_f64())),
            ("rtt", us(self.rtt.smoothed_s(tcp))),
        ]
    }
}
