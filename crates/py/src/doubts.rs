//! What to doubt in a capture, in sentences.

use pyo3::prelude::*;
use replay::UdpShare;

/// Of a capture of more than a day in which next to nothing passes; the longest time without anything, and from the first
/// packet to the last, s.
#[pyfunction]
pub fn clock_jump_sentence(silence_s: Option<f64>, duration_s: f64) -> Option<String> {
    replay::clock_jump(silence_s, duration_s)
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

/// Of a capture of which so many of its packets are copies, left out or not, seen at interfaces of these numbers and names.
#[pyfunction]
pub fn copies_sentence(copies: u64, packets: u64, left_out: bool, taps: Vec<(u32, Option<String>)>) -> Option<String> {
    let taps = taps.iter().map(|(interface, name)| (*interface, name.as_deref()));
    replay::copies(copies, packets, left_out, taps)
}

/// What share of the bytes is QUIC, what share other UDP, some of it at port 443, and what share of other IP protocols; and
/// what a replay does with it.
#[pyfunction]
pub fn udp_sentences(quic: f64, other: f64, at_443: f64, opaque: f64) -> (String, Option<String>) {
    let share = UdpShare { quic, other, at_443, opaque, ..UdpShare::default() };
    (share.text(), share.replay_sentence())
}
