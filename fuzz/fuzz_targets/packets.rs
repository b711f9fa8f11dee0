//! Captures whose layers are valid: frames with tags and tunnels around conversations, in both formats, cut and with
//! odd clocks. The reader counts every packet, and what it makes of a file does not depend on how the bytes come.
#![no_main]

use std::io::Read;

use arbitrary::Arbitrary;
use capture::{Duplicates, Options, read};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Capture {
    ng: bool,
    big: bool,
    nano: bool,
    link: Link,
    resolution: u8,
    offset: Option<i64>,
    packets: Vec<Packet>,
    tunnels: bool,
    window: u8,
    duplicates: u8,
    chunk: u8,
    cut: u16,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Link {
    Ethernet,
    Raw,
    Null,
    Sll,
    Sll2,
    Ppp,
    Other(u16),
}

#[derive(Arbitrary, Debug)]
struct Packet {
    gap: i16,
    shift: u8,
    /// Which conversation, and which of its ends sends.
    ends: u8,
    tags: [Tag; 2],
    tunnels: Vec<Tunnel>,
    ip: Ip,
    snap: u8,
    transport: Transport,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Tag {
    None,
    Vlan,
    Mpls,
    Pppoe,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Tunnel {
    IpInIp,
    Gre,
    GreBridge,
    Erspan,
    Vxlan,
    Geneve,
    Gtp,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Ip {
    six: bool,
    words: u8,
    fragment: u16,
    identity: u8,
    extension: u8,
    length: i8,
}

#[derive(Arbitrary, Debug)]
enum Transport {
    Tcp { seq: u16, ack: u16, high: u8, flags: u8, window: u16, options: Vec<u8>, payload: u8 },
    Udp { payload: u8, length: i8 },
    Icmp { kind: u8, payload: u8 },
    Other { protocol: u8, payload: u8 },
}

fn udp(ports: (u16, u16), body: &[u8], length: i8) -> Vec<u8> {
    let mut bytes = [ports.0.to_be_bytes(), ports.1.to_be_bytes()].concat();
    bytes.extend((8 + body.len() as i32 + i32::from(length)).to_be_bytes()[2..].iter());
    bytes.extend([0, 0]);
    bytes.extend(body);
    bytes
}

fn ip(ends: (u8, u8), protocol: u8, body: &[u8], how: Ip) -> Vec<u8> {
    let total = |header: usize| ((header + body.len()) as i32 + i32::from(how.length)).to_be_bytes();
    let mut bytes = Vec::new();
    if how.six {
        let extended = how.extension % 4;
        let next = [protocol, 0, 44, 60][usize::from(extended)];
        let length = total(if extended > 0 { 8 } else { 0 });
        bytes.extend([0x60, 0, 0, 0, length[2], length[3], next, 64]);
        for end in [ends.0, ends.1] {
            bytes.extend([0x20, 1, 0xd, 0xb8]);
            bytes.extend([0; 11]);
            bytes.push(end);
        }
        if extended > 0 {
            let [a, b] = how.fragment.to_be_bytes();
            bytes.extend([protocol, how.words / 200, a, b, 0, 0, 0, how.identity]);
        }
    } else {
        let words = if how.words < 200 { 5 } else { how.words % 16 };
        let length = total(20);
        let [a, b] = if how.words % 4 == 3 { how.fragment.to_be_bytes() } else { [0x40, 0] };
        bytes.extend([0x40 | words, 0, length[2], length[3], 0, how.identity, a, b, 64, protocol, 0, 0]);
        bytes.extend([10, 0, 0, ends.0, 10, 0, 0, ends.1]);
        bytes.resize(bytes.len().max(usize::from(words) * 4), 1);
    }
    bytes.extend(body);
    bytes
}

impl Packet {
    fn frame(&self, link: Link) -> Vec<u8> {
        let (host, back) = (self.ends >> 1 & 7, self.ends & 1 == 1);
        let ends = if back { (200, host) } else { (host, 200) };
        let ports = if back { (80, 1000 + u16::from(host)) } else { (1000 + u16::from(host), 80) };
        let (protocol, body) = match &self.transport {
            Transport::Tcp { seq, ack, high, flags, window, options, payload } => {
                let options: Vec<u8> = options.iter().copied().take(40).collect();
                let words = 5 + options.len().div_ceil(4);
                let mut bytes = [ports.0.to_be_bytes(), ports.1.to_be_bytes()].concat();
                bytes.extend((u32::from(*seq) + (u32::from(high & 15) << 28)).to_be_bytes());
                bytes.extend((u32::from(*ack) + (u32::from(high >> 4) << 28)).to_be_bytes());
                bytes.extend([(words as u8) << 4, *flags]);
                bytes.extend(window.to_be_bytes());
                bytes.extend([0; 4]);
                bytes.extend(&options);
                bytes.resize(words * 4 + usize::from(*payload) * 8, 0);
                (6, bytes)
            }
            Transport::Udp { payload, length } => (17, udp(ports, &vec![0; usize::from(*payload) * 8], *length)),
            Transport::Icmp { kind, payload } => {
                let mut bytes = vec![*kind, 0, 0, 0, 0, 7, 0, *payload];
                bytes.resize(8 + usize::from(*payload), 0);
                (if self.ip.six { 58 } else { 1 }, bytes)
            }
            Transport::Other { protocol, payload } => (*protocol, vec![0; usize::from(*payload)]),
        };
        let mut packet = ip(ends, protocol, &body, self.ip);
        let plain = Ip { six: false, words: 0, fragment: 0, identity: 1, extension: 0, length: 0 };
        for tunnel in self.tunnels.iter().take(10) {
            let six = packet[0] >> 4 == 6;
            let ether = if six { [0x86, 0xdd] } else { [0x08, 0x00] };
            let bridged = [&[0; 12][..], &ether, &packet].concat();
            let (protocol, body) = match tunnel {
                Tunnel::IpInIp => (if six { 41 } else { 4 }, packet),
                Tunnel::Gre => (47, [&[0, 0][..], &ether, &packet].concat()),
                Tunnel::GreBridge => (47, [&[0, 0, 0x65, 0x58][..], &bridged].concat()),
                Tunnel::Erspan => (47, [&[0x10, 0, 0x88, 0xbe][..], &[0; 12], &bridged].concat()),
                Tunnel::Vxlan => (17, udp((40000, 4789), &[&[8, 0, 0, 0, 0, 0, 0, 0][..], &bridged].concat(), 0)),
                Tunnel::Geneve => {
                    (17, udp((40000, 6081), &[&[1, 0, 0x65, 0x58, 0, 0, 0, 0, 0, 0, 0, 0][..], &bridged].concat(), 0))
                }
                Tunnel::Gtp => {
                    let length = (packet.len() as u16).to_be_bytes();
                    (17, udp((2152, 2152), &[&[0x30, 0xff][..], &length, &[0, 0, 0, 1], &packet].concat(), 0))
                }
            };
            packet = ip((1, 2), protocol, &body, plain);
        }
        let mut ether = if packet[0] >> 4 == 6 { [0x86, 0xdd] } else { [0x08, 0x00] };
        let mut head = Vec::new();
        for tag in self.tags.iter().rev() {
            match tag {
                Tag::None => {}
                Tag::Vlan => {
                    head = [&[0, 5][..], &ether, &head].concat();
                    ether = [0x81, 0x00];
                }
                Tag::Mpls => {
                    head = [&[0, 1, 1, 64][..], &head].concat();
                    ether = [0x88, 0x47];
                }
                Tag::Pppoe => {
                    head = [&[0x11, 0, 0, 1, 0, 0, 0, 0x21][..], &head].concat();
                    ether = [0x88, 0x64];
                }
            }
        }
        let outer = match link {
            Link::Ethernet => [&[0; 12][..], &ether].concat(),
            Link::Sll => [&[0; 14][..], &ether].concat(),
            Link::Sll2 => [&ether[..], &[0; 18]].concat(),
            Link::Null => vec![if packet[0] >> 4 == 6 { 30 } else { 2 }, 0, 0, 0],
            Link::Ppp => vec![0xff, 3, 0, 0x21],
            Link::Raw | Link::Other(_) => Vec::new(),
        };
        [outer, head, packet].concat()
    }
}

struct Writer {
    big: bool,
    bytes: Vec<u8>,
}

impl Writer {
    fn put<const N: usize>(&mut self, little: [u8; N]) {
        let start = self.bytes.len();
        self.bytes.extend(little);
        if self.big {
            self.bytes[start..].reverse();
        }
    }

    fn block(&mut self, kind: u32, fill: impl FnOnce(&mut Writer)) {
        let start = self.bytes.len();
        self.put(kind.to_le_bytes());
        self.put([0; 4]);
        fill(self);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let length = (self.bytes.len() - start + 4) as u32;
        self.put(length.to_le_bytes());
        let written = if self.big { length.to_be_bytes() } else { length.to_le_bytes() };
        self.bytes[start + 4..start + 8].copy_from_slice(&written);
    }
}

impl Capture {
    fn bytes(&self) -> Vec<u8> {
        let number: u16 = match self.link {
            Link::Ethernet => 1,
            Link::Raw => 101,
            Link::Null => 0,
            Link::Sll => 113,
            Link::Sll2 => 276,
            Link::Ppp => 9,
            Link::Other(other) => other,
        };
        let mut out = Writer { big: self.big, bytes: Vec::new() };
        if self.ng {
            out.block(0x0a0d_0d0a, |out| {
                out.put(0x1a2b_3c4d_u32.to_le_bytes());
                out.put(1_u16.to_le_bytes());
                out.put(0_u16.to_le_bytes());
                out.put((-1_i64).to_le_bytes());
            });
            out.block(1, |out| {
                out.put(number.to_le_bytes());
                out.put([0; 2]);
                out.put(65535_u32.to_le_bytes());
                out.put(9_u16.to_le_bytes());
                out.put(1_u16.to_le_bytes());
                out.bytes.extend([self.resolution, 0, 0, 0]);
                if let Some(offset) = self.offset {
                    out.put(14_u16.to_le_bytes());
                    out.put(8_u16.to_le_bytes());
                    out.put(offset.to_le_bytes());
                }
                out.put([0; 4]);
            });
        } else {
            out.put(if self.nano { 0xa1b2_3c4d_u32 } else { 0xa1b2_c3d4 }.to_le_bytes());
            out.put(2_u16.to_le_bytes());
            out.put(4_u16.to_le_bytes());
            out.put([0; 8]);
            out.put(65535_u32.to_le_bytes());
            out.put(u32::from(number).to_le_bytes());
        }
        let mut clock = 1_700_000_000_i64 * if self.ng { 1_000_000 } else { 1 };
        for packet in self.packets.iter().take(200) {
            clock = clock.wrapping_add(i64::from(packet.gap) << (packet.shift % 48));
            let frame = packet.frame(self.link);
            let kept =
                &frame[..frame.len().min(if packet.snap < 128 { 65535 } else { usize::from(packet.snap) - 108 })];
            let lengths = [kept.len() as u32, frame.len() as u32];
            if self.ng {
                out.block(6, |out| {
                    out.put([0; 4]);
                    out.put(((clock as u64 >> 32) as u32).to_le_bytes());
                    out.put((clock as u32).to_le_bytes());
                    for length in lengths {
                        out.put(length.to_le_bytes());
                    }
                    out.bytes.extend(kept);
                });
            } else {
                let unit = if self.nano { 1_000_000_000 } else { 1_000_000 };
                out.put((clock.div_euclid(unit) as u32).to_le_bytes());
                out.put((clock.rem_euclid(unit) as u32).to_le_bytes());
                for length in lengths {
                    out.put(length.to_le_bytes());
                }
                out.bytes.extend(kept);
            }
        }
        if self.cut > 60_000 {
            out.bytes.truncate(out.bytes.len() - usize::from(self.cut - 60_000).min(out.bytes.len()));
        }
        out.bytes
    }
}

/// A source that gives few bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = into.len().min(self.1);
        self.0.read(&mut into[..count])
    }
}

fuzz_target!(|given: Capture| {
    let bytes = given.bytes();
    let options = Options {
        max_flows: 3,
        max_held: 5,
        tunnels: given.tunnels,
        window_ns: u64::from(given.window) * 1_000_000,
        duplicates: [Duplicates::Keep, Duplicates::Auto, Duplicates::Places, Duplicates::Taps, Duplicates::All]
            [usize::from(given.duplicates) % 5],
        max_trains: 50,
        max_packets: 50,
        max_volumes: 50,
        ..Options::default()
    };
    let found = read(bytes.as_slice(), &options, &mut || true);
    let Ok(found) = found else { return };
    assert_eq!(found.counts.packets, found.counts.decoded + found.counts.skipped_total());
    assert!(found.connections.len() <= 5 && found.trains.len() <= 50);
    assert!(found.counts.packets <= given.packets.len() as u64);
    for flow in &found.connections {
        for side in [&flow.from_opener, &flow.from_responder] {
            assert!(side.distinct_bytes <= side.payload_bytes && side.distinct_packets <= side.data_packets);
        }
    }
    let slowly = read(Slow(&bytes, usize::from(given.chunk) + 1), &options, &mut || true).expect("read a moment ago");
    assert_eq!(found.counts.packets, slowly.counts.packets);
    assert_eq!(found.counts.decoded, slowly.counts.decoded);
});
