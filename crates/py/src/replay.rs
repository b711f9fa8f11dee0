//! The flows of a capture as `crates/replay` makes them, for the tests that compare them with gold.

use netsim::{Bursts, FlowSpec, Scripts};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use replay::{Form, List, Networks, Options, Probed, Probes, Rates, ReadOptions, Reading, Refused, Replay};
use serde::{Deserialize, Serialize};

use crate::simulate::refused;
use crate::table::as_json;

/// How a capture is read, and the links that it is replayed over.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    name: String,
    #[serde(deserialize_with = "Option::deserialize")]
    internal: Option<Vec<String>>,
    mss: u32,
    header_bytes: u32,
    initial_window: u32,
    delayed_ack: bool,
    links: Vec<AskedLink>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedLink {
    down_bps: f64,
    up_bps: f64,
    #[serde(deserialize_with = "Option::deserialize")]
    rtt_s: Option<f64>,
    ping_interval_s: f64,
    seed: u64,
}

/// A capture, and its list over each link.
#[derive(Serialize)]
struct Told {
    doubts: Vec<String>,
    missing: Vec<String>,
    peak_bps: [f64; 2],
    links: Vec<ToldLink>,
}

#[derive(Serialize)]
struct ToldLink {
    span_s: f64,
    rtt_s: Option<f64>,
    missing: Vec<String>,
    duration_ns: u64,
    offered_bytes: [u64; 2],
    hosts: Vec<String>,
    /// Rows and packets.
    calls: Vec<(u32, u64)>,
    call_trace_limit: u64,
    connection: Vec<u64>,
    client: Vec<u32>,
    back_bytes: Vec<u64>,
    longest_wait_ns: Vec<u64>,
    flows: Columns,
    probes: Vec<&'static str>,
    probed: Columns,
    alone: Option<Columns>,
}

/// Columns as `mayfly.simulate.columns.native_flows` names them.
#[derive(Default, Serialize)]
struct Columns {
    start_ns: Vec<u64>,
    size_bytes: Vec<u64>,
    rtt_ns: Vec<Option<u64>>,
    src: Vec<u32>,
    dst: Vec<u32>,
    flags: Vec<u8>,
    packet_bytes: Vec<Option<u32>>,
    gap_ns: Vec<u64>,
    stage: Vec<Option<u32>>,
    after: Vec<Option<u32>>,
    bursts: BurstColumns,
    scripts: ScriptColumns,
}

#[derive(Default, Serialize)]
struct BurstColumns {
    flow: Vec<u32>,
    at_ns: Vec<u64>,
    gap_ns: Vec<u64>,
    packets: Vec<u64>,
    packet_bytes: Vec<u32>,
}

#[derive(Default, Serialize)]
struct ScriptColumns {
    flow: Vec<u32>,
    forward: Vec<u8>,
    bytes: Vec<u64>,
    wait_ns: Vec<u64>,
    pace_ns: Vec<u64>,
    done: Vec<u32>,
}

impl Columns {
    fn of(flows: &[FlowSpec], scripts: &Scripts, bursts: &Bursts) -> Columns {
        let flags = |flow: &FlowSpec| {
            u8::from(flow.up) + 2 * u8::from(flow.receiver_opens) + (4 + 8) * u8::from(flow.udp.is_some())
        };
        let mut columns = Columns {
            start_ns: flows.iter().map(|flow| flow.start.0).collect(),
            size_bytes: flows.iter().map(|flow| flow.size_bytes).collect(),
            rtt_ns: flows.iter().map(|flow| flow.rtt.map(|rtt| rtt.0)).collect(),
            src: flows.iter().map(|flow| flow.src).collect(),
            dst: flows.iter().map(|flow| flow.dst).collect(),
            flags: flows.iter().map(flags).collect(),
            packet_bytes: flows.iter().map(|flow| flow.udp.map(|(len, _)| len)).collect(),
            gap_ns: flows.iter().map(|flow| flow.udp.map_or(0, |(_, gap)| gap.0)).collect(),
            stage: flows.iter().map(|flow| flow.stage).collect(),
            after: flows.iter().map(|flow| flow.after).collect(),
            ..Columns::default()
        };
        for (flow, part) in &bursts.of {
            for burst in &bursts.list[part.clone()] {
                columns.bursts.flow.push(*flow);
                columns.bursts.at_ns.push(burst.at.0);
                columns.bursts.gap_ns.push(burst.gap.0);
                columns.bursts.packets.push(burst.packets);
                columns.bursts.packet_bytes.push(burst.len);
            }
        }
        for (row, script) in (0..).zip(flows).filter_map(|(row, flow)| Some((row, flow.script?))) {
            for train in &scripts.list[script as usize] {
                columns.scripts.flow.push(row);
                columns.scripts.forward.push(train.forward.into());
                columns.scripts.bytes.push(train.bytes);
                columns.scripts.wait_ns.push(train.wait.0);
                columns.scripts.pace_ns.push(train.pace.0);
            }
            if scripts.done[script as usize] {
                columns.scripts.done.push(row);
            }
        }
        columns
    }
}

impl ToldLink {
    fn of(list: &List, probed: &Probed) -> ToldLink {
        let origins = &list.origins;
        ToldLink {
            span_s: list.span_s,
            rtt_s: list.rtt_s,
            missing: list.missing.clone(),
            duration_ns: list.duration.0,
            offered_bytes: [list.offered.down_bytes, list.offered.up_bytes],
            hosts: list.hosts.clone(),
            calls: list.calls.iter().map(|call| (call.row, call.packets)).collect(),
            call_trace_limit: list.call_trace_limit(),
            connection: origins.iter().map(|origin| origin.connection).collect(),
            client: origins.iter().map(|origin| origin.client).collect(),
            back_bytes: origins.iter().map(|origin| origin.back_bytes).collect(),
            longest_wait_ns: origins.iter().map(|origin| origin.longest_wait.0).collect(),
            flows: Columns::of(&list.flows, &list.scripts, &list.bursts),
            probes: probed.names.clone(),
            probed: Columns::of(&probed.flows, &probed.scripts, &probed.bursts),
            alone: probed.alone.map(|alone| Columns::of(&[alone], &Scripts::default(), &Bursts::default())),
        }
    }
}

/// The flows of a capture over links, as `mayfly whatif` replays them; `asked` and the answer are JSON.
///
/// # Errors
/// `ValueError` with one line for what is no capture or cannot be replayed.
#[pyfunction]
pub fn replay_flows(py: Python<'_>, capture: &[u8], asked: &str) -> PyResult<String> {
    let asked = ::settings::read::<Asked>(asked).map_err(refused)?;
    let told = py.detach(|| told(capture, asked)).map_err(|refused| PyValueError::new_err(refused.to_string()))?;
    as_json(&told)
}

fn told(capture: &[u8], asked: Asked) -> Result<Told, Refused> {
    let networks = asked.internal.map(Networks::parse).transpose()?;
    let options =
        ReadOptions { initial_window: asked.initial_window, delayed_ack: asked.delayed_ack, ..ReadOptions::default() };
    let reading = Reading::from_bytes(&asked.name, capture, &options)?;
    let Asked { mss, header_bytes, .. } = asked;
    let options = Options { networks, mss, header_bytes, form: Form::Users, tcp_only: false };
    let replay = Replay::of(&reading, options)?;
    let link = |link: &AskedLink| -> Result<ToldLink, Refused> {
        let list = replay.list(Rates { down: link.down_bps, up: link.up_bps }, link.rtt_s)?;
        let call = list.calls.is_empty();
        let probes = Probes { ping: true, interval_s: link.ping_interval_s, call, seed: link.seed };
        let probed = list.with_probes(&probes);
        Ok(ToldLink::of(&list, &probed))
    };
    let links = asked.links.iter().map(link).collect::<Result<_, _>>()?;
    let peak = replay.peak_bps();
    Ok(Told {
        doubts: replay.doubts().to_vec(),
        missing: replay.partial().map(str::to_owned).into_iter().chain(replay.missing().iter().cloned()).collect(),
        peak_bps: [peak.down, peak.up],
        links,
    })
}
