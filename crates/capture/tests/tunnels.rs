//! What is inside tunnels, and fragments.

use std::net::IpAddr;

use capture::{Capture, FRAGMENT, Options, Protocol, Tunnel, read};

use crate::wire::*;

const INNER: [u8; 4] = [10, 1, 1, 1];

fn inside(frames: &[Frame], link_type: u32) -> Capture {
    let options = Options { tunnels: true, ..Options::default() };
    read(&pcap(frames, link_type, false, false)[..], &options, &mut || true).expect("a capture")
}

/// A segment of 10 bytes between hosts that only the tunnel knows: 50 bytes.
fn packet() -> Vec<u8> {
    tcp_packet((INNER, 40_000), SERVER, 100, 0, ACK, 10)
}

fn datagram(port: u16, parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    ipv4([1; 4], [2; 4], 17, &[&udp_header((5000, port), body.len())[..], &body].concat(), None, 0)
}

fn gre(header: &[u8], body: &[u8]) -> Vec<u8> {
    ipv4([1; 4], [2; 4], 47, &[header, body].concat(), None, 0)
}

#[test]
fn every_tunnel_leads_to_the_packet_inside() {
    let inner = packet();
    let framed = ethernet(0x0800, &inner);
    let outer6 = |protocol: u8| ipv6(protocol, &inner, inner.len() as u16);
    let gtp_extended = [0x34, 255, 0, 58, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0];
    let pptp = [&[0x30, 0x81, 0x88, 0x0b, 0, 54, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0xff, 3, 0, 0x21][..], &inner].concat();
    let cases = [
        ("gre", gre(&[0, 0, 8, 0], &inner)),
        ("gre", gre(&[0xb0, 0, 8, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3], &inner)),
        ("gre", gre(&[0, 0, 0x65, 0x58], &framed)),
        ("gre", gre(&[0, 0, 0x88, 0xbe], &framed)),
        ("gre", gre(&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 0, 0, 0, 0, 0, 0, 0], &framed)),
        ("gre", gre(&[0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &framed)),
        ("gre", gre(&pptp, &[])),
        ("ip_in_ip", ipv4([1; 4], [2; 4], 4, &inner, None, 0)),
        ("ip_in_ip", outer6(4)),
        ("vxlan", datagram(4789, &[&[8, 0, 0, 0, 0, 0, 7, 0], &framed])),
        ("vxlan", datagram(8472, &[&[8, 0, 0, 0, 0, 0, 7, 0], &framed])),
        ("geneve", datagram(6081, &[&[1, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 2, 3, 4], &framed])),
        ("geneve", datagram(6081, &[&[0, 0, 8, 0, 0, 0, 7, 0], &inner])),
        ("gtp", datagram(2152, &[&[0x30, 255, 0, 50, 0, 0, 0, 1], &inner])),
        ("gtp", datagram(2152, &[&gtp_extended, &inner])),
    ];
    for (name, outer) in cases {
        // What passed the link.
        let length = outer.len() as u64;
        let read = inside(&[at(0, outer)], 101);
        assert_eq!(read.connections.len(), 1, "{name}");
        let row = &read.connections[0];
        assert_eq!((row.opener.address, row.from_opener.wire_bytes), (INNER.into(), length), "{name}");
        assert_eq!(row.from_opener.payload_bytes, 10, "{name}");
        let (kind, _) = Tunnel::NAMES.into_iter().find(|(_, known)| *known == name).expect("a kind");
        assert_eq!(read.counts.tunnelled.iter().sum::<u64>(), 1, "{name}");
        assert_eq!(read.counts.tunnelled[kind as usize], 1, "{name}");
    }
}

#[test]
fn tunnels_inside_each_other_are_passed_up_to_a_depth() {
    let nested = |levels: usize| (0..levels).fold(packet(), |inner, _| gre(&[0, 0, 8, 0], &inner));
    let read = inside(&[at(0, nested(8)), at(1, nested(9))], 101);
    let found: Vec<_> = read.connections.iter().map(|row| (row.ip_protocol, row.from_opener.wire_bytes)).collect();
    // What lies deeper is load all the same.
    assert_eq!(found, [(6, 50 + 8 * 24), (47, 50 + 9 * 24)]);
}

#[test]
fn a_datagram_that_only_looks_like_a_tunnel_is_a_datagram() {
    let frames = [
        at(0, datagram(4789, &[&[0; 30]])),
        at(1, datagram(2152, &[&[0x32, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0]])),
        at(2, datagram(6081, &[&[0, 0, 8, 6, 0, 0, 7, 0], &[0; 28]])),
    ];
    let read = inside(&frames, 101);
    assert_eq!((read.counts.decoded, read.connections.len()), (3, 3));
    assert_eq!(read.counts.tunnelled.iter().sum::<u64>(), 0);
}

#[test]
fn the_outer_packet_counts_unless_asked_otherwise() {
    let vxlan = at(0, datagram(4789, &[&[8, 0, 0, 0, 0, 0, 7, 0], &ethernet(0x0800, &packet())]));
    let read = read_bytes(&pcap(&[vxlan, at(1, gre(&[0, 0, 8, 0], &packet()))], 101, false, false));
    let found: Vec<_> = read.connections.iter().map(|row| (row.ip_protocol, row.from_opener.wire_bytes)).collect();
    assert_eq!(found, [(17, 100), (47, 74)]);
}

#[test]
fn a_protocol_that_is_not_read_is_one_row_for_two_addresses() {
    let (near, far) = ([10, 0, 0, 5], [192, 0, 2, 9]);
    let packet = |time_us, from: [u8; 4], to: [u8; 4], protocol: u8, body: &[u8]| {
        at(time_us, ethernet(0x0800, &ipv4(from, to, protocol, body, None, 0)))
    };
    // The parameter index of ESP, its first four bytes, is another one in each direction.
    let frames = [
        packet(0, near, far, 50, &[1; 80]),
        packet(10, far, near, 50, &[2; 1400]),
        packet(20, near, far, 50, &[3; 80]),
        packet(30, near, far, 132, &[4; 30]),
        // IPv6 in IPv4 is not looked into.
        packet(40, near, far, 41, &[0x60; 60]),
        packet(50, near, [192, 0, 2, 10], 50, &[5; 8]),
    ];
    let read = read_frames(&frames);
    let seen: Vec<_> = read
        .connections
        .iter()
        .map(|row| {
            assert_eq!((row.protocol, row.opener.port, row.responder.port), (Protocol::Other, 0, 0));
            let side = |side: &capture::Side| (side.packets, side.wire_bytes, side.payload_bytes, side.distinct_bytes);
            (
                row.ip_protocol,
                row.opener.address == IpAddr::from(near),
                side(&row.from_opener),
                side(&row.from_responder),
            )
        })
        .collect();
    let none = (0, 0, 0, 0);
    assert_eq!(
        seen,
        [
            (50, true, (2, 200, 160, 160), (1, 1420, 1400, 1400)),
            (132, true, (1, 50, 30, 30), none),
            (41, true, (1, 80, 60, 60), none),
            (50, true, (1, 28, 8, 8), none),
        ]
    );
    assert_eq!((read.counts.packets, read.counts.decoded), (6, 6));
}

#[test]
fn fragments_belong_to_the_ports_of_the_first_one() {
    let fragment = |time_us, identification: u16, offset: u16, more: bool, body: &[u8]| {
        let mut packet = ipv4(CLIENT.0, SERVER.0, 17, body, None, (offset / 8) | (u16::from(more) << 13));
        packet[4..6].copy_from_slice(&identification.to_be_bytes());
        at(time_us, ethernet(0x0800, &packet))
    };
    let head = [&udp_header((40_000, 443), 3000)[..], &[0; 1472]].concat();
    let minute = 60_000_000;
    let frames = [
        fragment(0, 7, 1480, true, &[0; 1480]),
        fragment(1, 7, 0, true, &head),
        fragment(2, 7, 1480, true, &[0; 1480]),
        fragment(3, 7, 2960, false, &[0; 48]),
        fragment(4, 8, 1480, false, &[0; 1480]),
        fragment(minute + 1, 7, 1480, true, &[0; 8]),
        fragment(minute + 2, 7, 1480, true, &[0; 8]),
    ];
    let read = read_frames(&frames);
    // Those without ports are rows of their own: 1 before its first fragment, 1 without one, 1 too late.
    let [orphans, connection] = &read.connections[..] else { panic!("two rows") };
    assert_eq!((orphans.protocol, orphans.ip_protocol, orphans.from_opener.packets), (Protocol::Other, FRAGMENT, 3));
    assert_eq!(orphans.from_opener.wire_bytes, 1500 + 1500 + 28);
    let side = &connection.from_opener;
    assert_eq!((side.packets, side.payload_bytes, side.data_packets), (4, 3000, 1));
    assert_eq!(side.wire_bytes, 1500 + 1500 + 68 + 28);
    assert_eq!((read.counts.fragments, read.counts.other_protocols[&FRAGMENT].packets), (3, 3));
}

#[test]
fn fragments_of_a_segment_carry_its_sequence_numbers_on() {
    let whole = [&tcp_header((40_000, 443), 1000, 1, ACK)[..], &[0; 1180]].concat();
    let part = |at_us, offset: usize, bytes: usize| {
        let more = u16::from(offset + bytes < whole.len()) << 13;
        let body = &whole[offset..offset + bytes];
        at(at_us, ethernet(0x0800, &ipv4(CLIENT.0, SERVER.0, 6, body, None, (offset / 8) as u16 | more)))
    };
    let read = read_frames(&[part(0, 0, 400), part(1, 800, 400), part(2, 400, 400)]);
    let side = &read.connections[0].from_opener;
    assert_eq!((side.distinct_bytes, side.missing_bytes, side.packets), (1180, 0, 3));
    let version6 = |time_us, offset: u16, body: &[u8]| {
        let header =
            [6, 0, (offset | u16::from(offset == 0)).to_be_bytes()[0], (offset | u16::from(offset == 0)) as u8];
        let body = [&header[..], &[0, 0, 0, 9], body].concat();
        at(time_us, ethernet(0x86dd, &ipv6(44, &body, body.len() as u16)))
    };
    let read = read_frames(&[version6(0, 0, &whole[..400]), version6(1, 400, &whole[400..])]);
    assert_eq!(read.connections[0].from_opener.distinct_bytes, 1180);
}

#[test]
fn icmp_is_paired_as_a_request_and_its_reply() {
    let icmp = |time_us, from, to, kind: u8, code: u8| {
        at(
            time_us,
            ethernet(0x0800, &ipv4(from, to, 1, &[&[kind, code, 0, 0, 0, 7, 0, 1][..], &[0; 56]].concat(), None, 0)),
        )
    };
    let (one, two) = (CLIENT.0, SERVER.0);
    let frames =
        [icmp(0, one, two, 8, 0), icmp(1, two, one, 0, 0), icmp(2, two, one, 3, 1), icmp(3, [9; 4], one, 0, 0)];
    let read = read_frames(&frames);
    let rows: Vec<_> = read.connections.iter().map(|row| (row.opener.port, row.responder.port, row.state)).collect();
    use capture::State::{OneWay, TwoWay};
    assert_eq!(rows, [(8, 0, TwoWay), (3, 1, OneWay), (8, 0, OneWay)]);
    assert_eq!(read.connections[2].opener.address, std::net::IpAddr::from(one));
    assert_eq!(read.connections[0].from_opener.payload_bytes, 56);
}
