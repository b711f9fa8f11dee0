//! Builds frames and capture files byte by byte, so that the tests do not trust the code they test.
#![allow(dead_code)]

pub mod script;

use capture::{Capture, Options, read};

pub const FIN: u8 = 1;
pub const SYN: u8 = 2;
pub const RST: u8 = 4;
pub const ACK: u8 = 16;

/// A host and its port.
pub type End = ([u8; 4], u16);
pub const CLIENT: End = ([192, 168, 0, 2], 40_000);
pub const SERVER: End = ([198, 51, 100, 7], 443);

/// A frame and the time it was captured, in microseconds.
#[derive(Clone, Debug)]
pub struct Frame {
    pub time_us: u64,
    pub bytes: Vec<u8>,
    pub captured: usize,
}

pub fn at(time_us: u64, bytes: Vec<u8>) -> Frame {
    Frame { time_us, captured: bytes.len(), bytes }
}

pub fn tcp_header(ports: (u16, u16), seq: u32, ack: u32, flags: u8) -> Vec<u8> {
    let mut header = Vec::new();
    header.extend(ports.0.to_be_bytes());
    header.extend(ports.1.to_be_bytes());
    header.extend(seq.to_be_bytes());
    header.extend(ack.to_be_bytes());
    header.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    header
}

pub fn udp_header(ports: (u16, u16), payload: usize) -> Vec<u8> {
    [ports.0, ports.1, payload as u16 + 8, 0].iter().flat_map(|field| field.to_be_bytes()).collect()
}

/// IPv4 packet; `length` overrides the total length, `fragment` is the flags and offset field.
pub fn ipv4(from: [u8; 4], to: [u8; 4], protocol: u8, body: &[u8], length: Option<u16>, fragment: u16) -> Vec<u8> {
    let mut packet = vec![0x45, 0];
    packet.extend(length.unwrap_or(20 + body.len() as u16).to_be_bytes());
    packet.extend([0, 1]);
    packet.extend(fragment.to_be_bytes());
    packet.extend([64, protocol, 0, 0]);
    packet.extend(from);
    packet.extend(to);
    packet.extend(body);
    packet
}

pub fn ipv6(next_header: u8, body: &[u8], length: u16) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend(length.to_be_bytes());
    packet.extend([next_header, 64]);
    packet.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    packet.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    packet.extend(body);
    packet
}

pub fn ethernet(ether_type: u16, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend(ether_type.to_be_bytes());
    frame.extend(body);
    frame
}

pub fn tcp_packet(from: End, to: End, seq: u32, ack: u32, flags: u8, payload: usize) -> Vec<u8> {
    let mut body = tcp_header((from.1, to.1), seq, ack, flags);
    body.resize(20 + payload, 7);
    ipv4(from.0, to.0, 6, &body, None, 0)
}

pub fn tcp(time_us: u64, from: End, to: End, seq: u32, ack: u32, flags: u8, payload: usize) -> Frame {
    at(time_us, ethernet(0x0800, &tcp_packet(from, to, seq, ack, flags, payload)))
}

pub fn udp(time_us: u64, from: End, to: End, payload: usize) -> Frame {
    let mut body = udp_header((from.1, to.1), payload);
    body.resize(8 + payload, 7);
    at(time_us, ethernet(0x0800, &ipv4(from.0, to.0, 17, &body, None, 0)))
}

fn order(value: u32, big_endian: bool) -> [u8; 4] {
    if big_endian { value.to_be_bytes() } else { value.to_le_bytes() }
}

fn order16(value: u16, big_endian: bool) -> [u8; 2] {
    if big_endian { value.to_be_bytes() } else { value.to_le_bytes() }
}

/// pcap file; with `nanoseconds` the fraction of the time stamp is in nanoseconds.
pub fn pcap(frames: &[Frame], link_type: u32, big_endian: bool, nanoseconds: bool) -> Vec<u8> {
    let mut file = Vec::new();
    let magic = if nanoseconds { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
    file.extend(order(magic, big_endian));
    file.extend(order16(2, big_endian));
    file.extend(order16(4, big_endian));
    for field in [0, 0, 65_535, link_type] {
        file.extend(order(field, big_endian));
    }
    for frame in frames {
        let fraction = (frame.time_us % 1_000_000) as u32 * if nanoseconds { 1000 } else { 1 };
        let seconds = (frame.time_us / 1_000_000) as u32;
        for field in [seconds, fraction, frame.captured as u32, frame.bytes.len() as u32] {
            file.extend(order(field, big_endian));
        }
        file.extend(&frame.bytes[..frame.captured]);
    }
    file
}

pub fn block(kind: u32, body: &[u8], big_endian: bool) -> Vec<u8> {
    let length = order(body.len() as u32 + 12, big_endian);
    [&order(kind, big_endian)[..], &length[..], body, &length[..]].concat()
}

/// pcapng section with one interface whose clock ticks `10^-exponent` seconds from `offset_s` on.
pub fn pcapng(frames: &[Frame], link_type: u16, big_endian: bool, exponent: u8, offset_s: i64) -> Vec<u8> {
    let mut section = order(0x1a2b_3c4d, big_endian).to_vec();
    section.extend(order16(1, big_endian));
    section.extend(order16(0, big_endian));
    section.extend([0xff; 8]);
    let mut interface = order16(link_type, big_endian).to_vec();
    interface.extend([0; 6]);
    interface.extend(order16(9, big_endian));
    interface.extend(order16(1, big_endian));
    interface.extend([exponent, 0, 0, 0]);
    interface.extend(order16(14, big_endian));
    interface.extend(order16(8, big_endian));
    interface.extend(if big_endian { offset_s.to_be_bytes() } else { offset_s.to_le_bytes() });
    interface.extend([0; 4]);
    let mut file = [block(0x0a0d_0d0a, &section, big_endian), block(1, &interface, big_endian)].concat();
    for frame in frames {
        let ticks = (u128::from(frame.time_us) * 10_u128.pow(u32::from(exponent)) / 1_000_000) as u64;
        let mut packet = Vec::new();
        for field in [0, (ticks >> 32) as u32, ticks as u32, frame.captured as u32, frame.bytes.len() as u32] {
            packet.extend(order(field, big_endian));
        }
        packet.extend(&frame.bytes[..frame.captured]);
        packet.resize(packet.len().next_multiple_of(4), 0);
        file.extend(block(6, &packet, big_endian));
    }
    file
}

pub fn read_bytes(file: &[u8]) -> Capture {
    read(file, &Options::default(), &mut || true).expect("a capture")
}

pub fn read_frames(frames: &[Frame]) -> Capture {
    read_bytes(&pcap(frames, 1, false, false))
}
