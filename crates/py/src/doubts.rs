//! What to doubt in a capture, in sentences.

use pyo3::prelude::*;
use replay::UdpShare;

/// Of the times of a capture: the longest time without anything, from the first packet to the last, and the longest step
/// back, s; whether it has nanoseconds in place of microseconds.
#[pyfunction]
pub fn clock_sentences(silence_s: Option<f64>, duration_s: f64, set_back_s: f64, nanoseconds: bool) -> Vec<String> {
    replay::clocks(silence_s, duration_s, set_back_s, nanoseconds)
}

/// Of a capture of which much passes between hosts of one side: less than this share of the bytes crosses.
#[pyfunction]
pub fn one_sided_sentence(crossing: f64) -> Option<String> {
    replay::one_sided(crossing)
}

/// Of a capture that was read through a filter, which left out so many packets and let so many through.
#[pyfunction]
pub fn filtered_sentence(expression: &str, left_out: u64, packets: u64) -> String {
    replay::filtered(expression, left_out, packets)
}

/// Of a capture of which so many of its packets are copies, left out or not, seen at interfaces of these numbers and names;
/// so many connections are left out as sides of others.
#[pyfunction]
pub fn copies_sentence(
    copies: u64,
    packets: u64,
    left_out: bool,
    translated: u64,
    taps: Vec<(u32, Option<String>)>,
) -> Option<String> {
    let taps = taps.iter().map(|(interface, name)| (*interface, name.as_deref()));
    replay::copies(copies, packets, left_out, translated, taps)
}

/// What share of the bytes is QUIC, some of it probably, what share other UDP, some of it at port 443, and what share of other IP protocols; and
/// what a replay does with it.
#[pyfunction]
pub fn udp_sentences(quic: f64, probably: f64, other: f64, at_443: f64, opaque: f64) -> (String, Option<String>) {
    let share = UdpShare { quic, probably, other, at_443, opaque, ..UdpShare::default() };
    (share.text(), share.replay_sentence())
}
