//! What a link carried, how long a ping took and how long the queue was, in bins of the same time: as plots of RRUL have
//! them (flent, `rrul.conf`).

use netsim::{Output, ProbePacket, Run};
use serde::Serialize;
use units::Time;

/// Bins at most.
const MOST_BINS: usize = 200;

/// Widths of a bin, seconds.
const WIDTHS_S: [f64; 12] = [1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0];

/// A run over time, in bins that begin at its start.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
pub struct OverTime {
    /// Width of a bin, seconds.
    pub bin_s: f64,
    /// What the link sends down in each bin, headers and probes included, Mbit/s.
    pub down_mbps: Vec<f64>,
    /// The same up, Mbit/s.
    pub up_mbps: Vec<f64>,
    /// Mean round-trip time of the pings that were sent in each bin and came back, milliseconds; null without any.
    pub ping_ms: Vec<Option<f64>>,
    /// How long a packet that comes waits for those before it in the queue down, mean of the samples of each bin,
    /// milliseconds; null without any.
    pub queue_ms: Vec<Option<f64>>,
}

/// What is taken of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Course {
    /// Rates down and up, bit/s; of a link that varies none.
    rates_bps: Option<[f64; 2]>,
    /// Shares of each second in which the link sent, down and up.
    seconds: Vec<[f64; 2]>,
    /// Times of samples, seconds, and bytes that waited.
    samples: Vec<(f64, u64)>,
}

impl Course {
    pub(crate) fn of(run: &Run, output: &Output) -> Course {
        let network = &run.network;
        let constant = network.traces.iter().all(Option::is_none) && run.wlan.is_none() && run.graph.is_none();
        let rates = [network.rate, network.reverse_rate.unwrap_or(network.rate)];
        Course {
            rates_bps: (constant && run.tree.is_none()).then(|| rates.map(|rate| rate.bps() as f64)),
            seconds: output.seconds.iter().map(|second| [second.forward, second.reverse]).collect(),
            samples: output.samples.iter().map(|one| (one.time.as_secs_f64(), one.backlog_bytes)).collect(),
        }
    }
}

/// Means of values by bin.
struct Means {
    bin_s: f64,
    sums: Vec<(f64, u64)>,
}

impl Means {
    fn add(&mut self, at_s: f64, value: f64) {
        if let Some((sum, count)) = self.sums.get_mut((at_s / self.bin_s) as usize) {
            *sum += value;
            *count += 1;
        }
    }

    fn each(&self) -> Vec<Option<f64>> {
        self.sums.iter().map(|&(sum, count)| (count > 0).then(|| sum / count as f64)).collect()
    }
}

impl Course {
    /// The run up to `until_s`, seconds, with its `pings`.
    pub(crate) fn over_time(&self, pings: &[ProbePacket], until_s: f64) -> Option<OverTime> {
        let rates_bps = self.rates_bps.filter(|_| !self.seconds.is_empty() && until_s > 0.0)?;
        let fits = |width: &&f64| until_s / **width <= MOST_BINS as f64;
        let bin_s = WIDTHS_S.iter().find(fits).copied().unwrap_or(until_s / MOST_BINS as f64);
        let bins = (until_s / bin_s).ceil() as usize;
        let means = || Means { bin_s, sums: vec![(0.0, 0); bins] };
        let [mut down, mut up, mut ping, mut queue] = [means(), means(), means(), means()];
        for (second, [forward, reverse]) in self.seconds.iter().enumerate() {
            down.add(second as f64, forward * rates_bps[0] * 1e-6);
            up.add(second as f64, reverse * rates_bps[1] * 1e-6);
        }
        for packet in pings {
            if packet.returned != Time::NEVER {
                ping.add(packet.sent.as_secs_f64(), (packet.returned - packet.sent).0 as f64 * 1e-6);
            }
        }
        for &(at_s, bytes) in &self.samples {
            queue.add(at_s, bytes as f64 * 8e3 / rates_bps[0]);
        }
        let all = |means: &Means| means.each().into_iter().map(|mean| mean.unwrap_or(0.0)).collect();
        let (down_mbps, up_mbps) = (all(&down), all(&up));
        Some(OverTime { bin_s, down_mbps, up_mbps, ping_ms: ping.each(), queue_ms: queue.each() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_what_was_sent_in_them() {
        let packet = |sent: u64, returned: u64| ProbePacket {
            flow: 0,
            number: 0,
            sent: Time(sent * 1_000_000),
            received: Time::NEVER,
            returned: if returned == 0 { Time::NEVER } else { Time(returned * 1_000_000) },
        };
        let course = Course {
            rates_bps: Some([10e6, 2e6]),
            seconds: vec![[1.0, 0.5], [0.5, 0.0], [0.2, 1.0]],
            samples: vec![(0.5, 12_500), (0.9, 37_500), (2.0, 1250)],
        };
        let pings = vec![packet(100, 150), packet(900, 1050), packet(1500, 0), packet(2500, 2520)];
        let seen = |until_s| course.over_time(&pings, until_s);
        let found = seen(3.0).expect("a link");
        assert_eq!(
            (found.bin_s, &found.down_mbps[..], &found.up_mbps[..]),
            (1.0, &[10.0, 5.0, 2.0][..], &[1.0, 0.0, 2.0][..])
        );
        assert_eq!(found.ping_ms, [Some(100.0), None, Some(20.0)]);
        assert_eq!(found.queue_ms, [Some(20.0), None, Some(1.0)]);
        // Of longer runs bins are wider, and what comes behind the end is in none.
        let coarse = seen(300.0).expect("a link");
        assert_eq!((coarse.bin_s, coarse.down_mbps.len(), coarse.down_mbps[0]), (2.0, 150, 7.5));
        assert_eq!(seen(2.0).expect("a link").ping_ms, [Some(100.0), None]);
        assert_eq!(Course::default().over_time(&pings, 3.0), None);
    }
}
