//! A capture as a workload: its flows follow from what the link is ([`replay`]).

use std::sync::Arc;

use account::Accounted;
use capture::{Account, Anonymizer, Filter, KEY_BYTES, Sieve};
use hosts::Networks;
use metrics::{CaptureFacts, Offering, ProbeName, Unknown};
use netsim::Run;
use replay::{Form, List, Options, Probes, Rates, ReadOptions, Reading, Replay};
use serde::Deserialize;
use serde_json::value::RawValue;
use settings::{FlowList, Settings};

use crate::attack::Offered;
use crate::document::Document;
use crate::drawn::Drawn;
use crate::error::ExploreError;
use crate::request::Request;
use crate::workload::{Of, Prepared, prepared};

/// Connections, trains and packets that are read of a capture at most: some 500 MB.
const MOST_FLOWS: usize = 300_000;
const MOST_TRAINS: usize = 2_000_000;
const MOST_PACKETS: usize = 3_000_000;
const MOST_VOLUMES: usize = 3_000_000;

/// How a capture is opened.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Opening {
    /// Networks on the near side; found in the capture when null.
    internal: Option<Vec<String>>,
    /// Expression of the packets that count; all when null or absent.
    #[serde(default)]
    filter: Option<String>,
    /// Key of Crypto-PAn, 32 bytes, under which addresses get their images; as captured when null or absent. Networks are images then.
    #[serde(default)]
    key: Option<Vec<u8>>,
    /// The packet inside a tunnel counts.
    #[serde(default)]
    tunnels: bool,
    /// Document of the scenario around captures.
    template: Box<RawValue>,
}

/// A capture.
pub struct Captured {
    pub(crate) name: String,
    pub(crate) replay: Replay,
    pub(crate) run: Run,
    /// What a filter left out, in a sentence.
    pub(crate) filtered: Option<String>,
    /// What was read, before a list leaves something aside.
    read: Account,
    cannot_answer: Option<String>,
    reverse_same: bool,
    ping_interval_s: f64,
    attacks: Vec<Offered>,
}

fn anonymizer(key: Vec<u8>) -> Result<Arc<Anonymizer>, ExploreError> {
    let refused = |key: Vec<u8>| ExploreError(format!("key = {} bytes: must be {KEY_BYTES}", key.len()));
    Ok(Arc::new(Anonymizer::with(&<[u8; KEY_BYTES]>::try_from(key).map_err(refused)?)))
}

impl Captured {
    /// The capture in `bytes`.
    ///
    /// # Errors
    /// No capture, one without anything to replay, one that is too large, or networks that are none of its own.
    pub fn open(name: &str, bytes: &[u8], options: &str) -> Result<Captured, ExploreError> {
        let opening: Opening = settings::read(options)?;
        let template: Document = settings::read(opening.template.get())?;
        let run = settings::read::<Settings>(template.settings.get())?.into_run()?;
        let networks = opening.internal.map(Networks::parse).transpose()?;
        let expression = opening.filter;
        let filter = expression.as_deref().map(Filter::parse).transpose()?;
        let sieve =
            Sieve { span_ns: None, filter: filter.map(Arc::new), anonymizer: opening.key.map(anonymizer).transpose()? };
        let reading = Reading::from_bytes(
            name,
            bytes,
            &ReadOptions {
                initial_window: run.tcp.initial_window,
                delayed_ack: run.tcp.delayed_ack > units::Time::ZERO,
                max_flows: MOST_FLOWS,
                max_held: MOST_FLOWS,
                max_trains: MOST_TRAINS,
                max_packets: MOST_PACKETS,
                max_volumes: MOST_VOLUMES,
                tunnels: opening.tunnels,
                sieve,
            },
        )?;
        let mut run = run;
        run.tcp.header += replay::tunnel_bytes(&reading.capture().counts);
        let options =
            Options { networks, mss: run.tcp.mss, header_bytes: run.tcp.headers(), form: Form::Users, tcp_only: false };
        let counts = &reading.capture().counts;
        let filtered = expression.map(|text| replay::filtered(&text, counts.filtered, counts.packets));
        let (read, cannot_answer) = (counts.account.clone(), replay::cannot_answer(counts));
        let replay = Replay::of(&reading, options)?;
        let reverse_same = template.reverse_discipline == "same";
        let (ping_interval_s, attacks) = (template.ping_interval_s, template.attacks);
        let name = name.to_owned();
        Ok(Captured { name, replay, run, filtered, read, cannot_answer, reverse_same, ping_interval_s, attacks })
    }

    /// What became of the capture in a list of its flows.
    pub(crate) fn account(&self, list: &List) -> Accounted {
        let mut used: Vec<u64> = list.origins.iter().map(|origin| origin.connection).collect();
        used.sort_unstable();
        let mut account = self.read.clone();
        list.asides.withdraw(&mut account, |connection| used.binary_search(&connection.into()).is_ok());
        let partial = self.replay.partial().map(str::to_owned).into_iter().collect();
        account.sums().of(vec![self.name.clone()], partial, self.cannot_answer.clone())
    }

    /// Rates that its busiest seconds need, rounded up to two digits, bit/s.
    pub fn rates(&self) -> [u64; 2] {
        let peak = self.replay.peak_bps();
        [peak.down, peak.up].map(rounded_up)
    }

    /// The run that is asked for.
    ///
    /// # Errors
    /// A value out of its bounds.
    pub fn prepare(&self, request: &Request) -> Result<Prepared, ExploreError> {
        let link = &request.link;
        let up = link.reverse_rate_bps.unwrap_or(link.rate_bps);
        let list = self.replay.list(Rates { down: link.rate_bps as f64, up: up as f64 }, link.rtt_s)?;
        let mut run = self.run.clone();
        run.duration = list.duration;
        if let (Some(own), Some(bytes)) = (run.transports.first_mut(), self.replay.quic_datagram_bytes()) {
            own.tcp.mss = u32::from(bytes) + UDP_BYTES - own.tcp.header;
        }
        run.sample_interval = units::Time((list.duration.0 / 1000).max(1000));
        let seed = request.seed.unwrap_or(run.seed);
        let probed = list.with_probes(&Probes {
            interval_s: self.ping_interval_s,
            ping: true,
            call: list.calls.is_empty(),
            seed,
        });
        run.probes = probed.probes;
        let named = |name: &&str| match *name {
            "ping" => Ok(ProbeName::Ping),
            "call_down" => Ok(ProbeName::CallDown),
            "call_up" => Ok(ProbeName::CallUp),
            other => Err(ExploreError(format!("probe {other}: must be ping or call"))),
        };
        let probes: Vec<_> = probed.names.iter().map(named).collect::<Result<_, _>>()?;
        let capture = CaptureFacts {
            clients: list.origins.iter().map(|origin| origin.client).collect(),
            connections: list.origins.iter().map(|origin| origin.connection as u32).collect(),
            calls: list.calls.iter().map(|call| call.row).collect(),
            begun_s: list.origins.iter().map(|origin| origin.begun_s).collect(),
            lasted_s: list.origins.iter().map(|origin| origin.lasted_s).collect(),
        };
        run.trace_limit += list.call_trace_limit();
        let flows = FlowList {
            nonresponsive: probed.flows.iter().map(|flow| flow.udp.is_some()).collect(),
            flows: probed.flows,
            scripts: probed.scripts.into(),
            bursts: probed.bursts,
            classes: Vec::new(),
        };
        let udp = self.replay.udp();
        let unknown = Unknown {
            left_out_share: self.replay.left_out_share(),
            udp_share: udp.doubtful(),
            udp_text: udp.rest_text(),
            opaque_share: udp.opaque,
        };
        let seen = self.replay.framing();
        let framing = metrics::Framing { overhead_bytes: seen.overhead_bytes, translated: seen.translated };
        let of = Of {
            command: "whatif",
            span_s: list.span_s,
            offering: Offering::All,
            unknown: Some(unknown),
            framing: Some(framing),
        };
        let drawn = Drawn::of(flows, probes, Some(capture));
        prepared(run, drawn, probed.alone, request, &self.attacks, self.reverse_same, of)
    }
}

/// Headers of IP and UDP, bytes.
const UDP_BYTES: u32 = 28;

/// The next rate of two digits, at least 8 kbit/s.
fn rounded_up(bps: f64) -> u64 {
    let bps = bps.max(8e3);
    let mut step = 1.0;
    while step * 100.0 < bps {
        step *= 10.0;
    }
    ((bps / step).ceil() * step) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_rounded_up_to_two_digits() {
        assert_eq!([9_412_345.0, 10e6, 123.0, 1_010_000.0].map(rounded_up), [9_500_000, 10_000_000, 8_000, 1_100_000]);
    }
}
