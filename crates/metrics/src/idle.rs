//! A link on which nobody else is, and the round-trip time of one ping there.

use std::sync::Arc;

use netsim::{Bursts, ConfigError, Control, Counting, FlowSpec, Probe, Run, Shaping};
use units::Time;

/// Length of a ping on the wire, bytes.
const PING_BYTES: u64 = 64;
/// Headers of IP and UDP, bytes.
const UDP_HEADER_BYTES: u64 = 28;

/// The link of a run, first in, first out and without losses from outside, for a flow that is alone on it: without what
/// names or looks at flows of the run.
pub(crate) fn quiet(run: &Run) -> Run {
    let mut quiet = Run {
        scripts: Arc::default(),
        bursts: Bursts::default(),
        probes: Vec::new(),
        applications: Vec::new(),
        traced: Vec::new(),
        heard: Vec::new(),
        watched: Vec::new(),
        counting: Counting::default(),
        ..run.clone()
    };
    quiet.network.discipline = ("fifo".to_owned(), Vec::new());
    quiet.network.reverse_discipline = ("fifo".to_owned(), Vec::new());
    quiet.network.loss = 0.0;
    quiet.network.impairments = Vec::new();
    quiet.network.shaping = Shaping::default();
    quiet.sample_interval = Time::ZERO;
    quiet.trace_drops = false;
    quiet.subflows = false;
    quiet.stop_when_idle = true;
    quiet
}

/// Round-trip time that `ping`, the first probe of a run, has for one packet when nobody else is on the link; `None` when
/// it did not come back before the end of the run.
///
/// # Errors
/// As [`netsim::run`].
pub fn idle_rtt(run: &Run, ping: &FlowSpec) -> Result<Option<Time>, ConfigError> {
    let mut quiet = quiet(run);
    quiet.network.traces = [None, None];
    quiet.probes = vec![Probe { flow: 0, echo: true }];
    let alone = FlowSpec { size_bytes: PING_BYTES - UDP_HEADER_BYTES, start: Time::ZERO, ..*ping };
    let found = netsim::run(&quiet, &[alone], &Control::default())?;
    let back = found.probes.first().filter(|packet| packet.returned != Time::NEVER);
    Ok(back.map(|packet| packet.returned - packet.sent))
}
