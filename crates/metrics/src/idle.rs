//! Round-trip time of one ping on an idle link.

use netsim::{Bursts, Scripts, Shaping};
use netsim::{ConfigError, Control, FlowSpec, Probe, Run};
use units::Time;

/// Length of a ping on the wire, bytes.
const PING_BYTES: u64 = 64;
/// Headers of IP and UDP, bytes.
const UDP_HEADER_BYTES: u64 = 28;

/// Round-trip time that `ping`, the first probe of a run, has for one packet when nobody else is on the link; `None` when
/// it did not come back before the end of the run.
///
/// # Errors
/// As [`netsim::run`].
pub fn idle_rtt(run: &Run, ping: &FlowSpec) -> Result<Option<Time>, ConfigError> {
    let mut quiet = run.clone();
    quiet.network.discipline = ("fifo".to_owned(), Vec::new());
    quiet.network.reverse_discipline = ("fifo".to_owned(), Vec::new());
    quiet.network.loss = 0.0;
    quiet.network.impairments = Vec::new();
    quiet.network.traces = [None, None];
    quiet.network.shaping = Shaping::default();
    quiet.counting = Default::default();
    quiet.watched = Vec::new();
    quiet.traced = Vec::new();
    quiet.heard = Vec::new();
    quiet.trace_drops = false;
    quiet.subflows = false;
    quiet.sample_interval = Time::ZERO;
    quiet.stop_when_idle = true;
    quiet.scripts = Scripts::default();
    quiet.bursts = Bursts::default();
    quiet.probes = vec![Probe { flow: 0, echo: true }];
    let alone = FlowSpec { size_bytes: PING_BYTES - UDP_HEADER_BYTES, start: Time::ZERO, ..*ping };
    let found = netsim::run(&quiet, &[alone], &Control::default())?;
    let back = found.probes.first().filter(|packet| packet.returned != Time::NEVER);
    Ok(back.map(|packet| packet.returned - packet.sent))
}
