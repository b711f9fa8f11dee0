//! What a tunnel carries: GRE (RFC 2784, 2890; PPTP's of RFC 2637; ERSPAN), VXLAN (RFC 7348), Geneve (RFC 8926), GTP-U
//! (3GPP TS 29.281) and IP in IP (RFC 2003, 2473).

use crate::decode::link::{after_ether_type, after_ppp, be16};
use crate::decode::skip::Skip;

/// Headers of tunnels inside each other that are passed.
pub(crate) const DEPTH_MAX: usize = 8;

const GRE: u8 = 47;
const IPV4: u8 = 4;
const IPV6: u8 = 41;

/// Kinds of tunnel that are entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tunnel {
    /// Generic routing encapsulation.
    Gre,
    /// IPv4 or IPv6 in either.
    IpInIp,
    /// Virtual extensible LAN.
    Vxlan,
    /// Generic network virtualisation encapsulation.
    Geneve,
    /// User plane of a mobile network.
    Gtp,
}

impl Tunnel {
    /// Every kind with its name in tables.
    pub const NAMES: [(Tunnel, &'static str); 5] = [
        (Tunnel::Gre, "gre"),
        (Tunnel::IpInIp, "ip_in_ip"),
        (Tunnel::Vxlan, "vxlan"),
        (Tunnel::Geneve, "geneve"),
        (Tunnel::Gtp, "gtp"),
    ];
}

/// Kind of tunnel and offset of the inner IP header in `payload`, the payload of an IP packet; None when its protocol is
/// no tunnel.
pub(crate) fn inside(protocol: u8, payload: &[u8]) -> Option<(Tunnel, Result<usize, Skip>)> {
    match protocol {
        IPV4 | IPV6 => Some((Tunnel::IpInIp, Ok(0))),
        GRE => Some((Tunnel::Gre, gre(payload))),
        17 => {
            // VXLAN of Linux before the port was assigned: 8472.
            let (kind, offset) = match be16(payload, 2).ok()? {
                4789 | 8472 => (Tunnel::Vxlan, vxlan(payload)),
                6081 => (Tunnel::Geneve, geneve(payload)),
                2152 => (Tunnel::Gtp, gtp(payload)),
                _ => return None,
            };
            Some((kind, offset))
        }
        _ => None,
    }
}

fn gre(payload: &[u8]) -> Result<usize, Skip> {
    let (flags, protocol) = (be16(payload, 0)?, be16(payload, 2)?);
    let present = |bit: u16| usize::from(flags & bit != 0) * 4;
    if flags & 7 == 1 {
        let at = 8 + present(0x1000) + present(0x0080);
        // Without payload it acknowledges (RFC 2637, 4.1).
        return if protocol == 0x880b && be16(payload, 4)? > 0 { after_ppp(payload, at) } else { Err(Skip::NotIp) };
    }
    // A routing header (RFC 1701) is not walked.
    if flags & 0x4007 != 0 {
        return Err(Skip::NotIp);
    }
    let at = 4 + present(0x8000) + present(0x2000) + present(0x1000);
    match protocol {
        0x0800 | 0x86dd => Ok(at),
        0x6558 => after_ether_type(payload, at + 12),
        // ERSPAN: type I has no header of its own and no sequence number, type II 8 bytes, type III 12 and perhaps 8 more.
        0x88be => after_ether_type(payload, at + 12 + if flags & 0x1000 != 0 { 8 } else { 0 }),
        0x22eb => {
            let more = if be16(payload, at + 10)? & 1 == 1 { 8 } else { 0 };
            after_ether_type(payload, at + 12 + 12 + more)
        }
        _ => Err(Skip::NotIp),
    }
}

fn vxlan(payload: &[u8]) -> Result<usize, Skip> {
    if payload.get(8).ok_or(Skip::Short)? & 0x08 == 0 {
        return Err(Skip::Malformed);
    }
    after_ether_type(payload, 16 + 12)
}

fn geneve(payload: &[u8]) -> Result<usize, Skip> {
    let options = usize::from(payload.get(8).ok_or(Skip::Short)? & 0x3f) * 4;
    match be16(payload, 10)? {
        0x0800 | 0x86dd => Ok(16 + options),
        0x6558 => after_ether_type(payload, 16 + options + 12),
        _ => Err(Skip::NotIp),
    }
}

fn gtp(payload: &[u8]) -> Result<usize, Skip> {
    let (flags, message) = (payload.get(8).ok_or(Skip::Short)?, payload.get(9).ok_or(Skip::Short)?);
    // Version 1, GTP and not GTP', a packet of the user.
    if flags & 0xf0 != 0x30 || *message != 255 {
        return Err(Skip::NotIp);
    }
    let mut at = 16;
    if flags & 0x07 != 0 {
        at += 4;
        // Extension headers: a length in units of 4 bytes, the type of the next one last.
        while *payload.get(at - 1).ok_or(Skip::Short)? != 0 && flags & 0x04 != 0 {
            let length = usize::from(*payload.get(at).ok_or(Skip::Short)?) * 4;
            if length == 0 {
                return Err(Skip::Malformed);
            }
            at += length;
        }
    }
    match payload.get(at).ok_or(Skip::Short)? >> 4 {
        4 | 6 => Ok(at),
        _ => Err(Skip::NotIp),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_the_kinds() {
        for (index, (kind, _)) in Tunnel::NAMES.iter().enumerate() {
            assert_eq!(*kind as usize, index);
        }
    }

    #[test]
    fn no_header_of_a_tunnel_goes_beyond_what_was_captured() {
        for protocol in [GRE, 17] {
            for filler in [0, 0x30, 0x34, 0xff] {
                for length in 0..64 {
                    let mut payload = vec![filler; length];
                    for port in [4789_u16, 6081, 2152] {
                        if length >= 4 && protocol == 17 {
                            payload[2..4].copy_from_slice(&port.to_be_bytes());
                        }
                        std::hint::black_box(inside(protocol, &payload));
                    }
                }
            }
        }
    }
}
