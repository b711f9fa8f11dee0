//! From the start of a captured frame to its IP header: Ethernet with VLAN tags, MPLS and PPPoE; PPP; raw IP; BSD
//! loopback; Linux cooked.

use crate::decode::skip::Skip;
use crate::read::reader::Record;

const VLAN_TAGS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
const MPLS: [u16; 2] = [0x8847, 0x8848];
/// The two addresses that an Ethernet frame begins with, bytes.
const ADDRESSES_BYTES: usize = 12;
const PPPOE_SESSION: u16 = 0x8864;
/// AF_INET, and AF_INET6 of NetBSD/OpenBSD, FreeBSD, macOS and Linux.
const ADDRESS_FAMILIES: [u32; 5] = [2, 24, 28, 30, 10];

/// Where the IP header of a frame begins.
pub(crate) fn ip_offset(record: &Record<'_>) -> Result<usize, Skip> {
    let data = record.data;
    match record.link_type {
        1 => after_ether_type(data, 12),
        9 | 50 => after_ppp(data, 0),
        12 | 14 | 101 | 228 | 229 => Ok(0),
        0 | 108 => {
            let family = u32::from(be16(data, 0)?) << 16 | u32::from(be16(data, 2)?);
            // LINKTYPE_NULL is in the byte order of the capturing machine, which no field tells.
            let known = ADDRESS_FAMILIES.contains(&family) || ADDRESS_FAMILIES.contains(&family.swap_bytes());
            if known { Ok(4) } else { Err(Skip::NotIp) }
        }
        113 => after_ether_type(data, 14),
        276 => match be16(data, 0)? {
            0x0800 | 0x86dd => Ok(20),
            tag if VLAN_TAGS.contains(&tag) => after_ether_type(data, 22),
            _ => Err(Skip::NotIp),
        },
        _ => Err(Skip::LinkType),
    }
}

/// Offset of the IP header behind the EtherType at `at`.
pub(crate) fn after_ether_type(data: &[u8], at: usize) -> Result<usize, Skip> {
    let mut at = at;
    loop {
        match be16(data, at)? {
            0x0800 | 0x86dd => return Ok(at + 2),
            tag if VLAN_TAGS.contains(&tag) => at += 4,
            label if MPLS.contains(&label) => return after_mpls(data, at + 2),
            PPPOE_SESSION => return after_ppp(data, at + 8),
            _ => return Err(Skip::NotIp),
        }
    }
}

/// Bytes of the VLAN tags of an Ethernet frame.
pub(crate) fn vlan_bytes(data: &[u8]) -> usize {
    let mut at = ADDRESSES_BYTES;
    while be16(data, at).is_ok_and(|tag| VLAN_TAGS.contains(&tag)) {
        at += 4;
    }
    at - ADDRESSES_BYTES
}

/// Identifiers of the VLANs of a frame, the outermost first.
pub(crate) fn vlan_ids(record: &Record<'_>) -> impl Iterator<Item = u16> {
    let (data, ethertype) = (
        record.data,
        match record.link_type {
            1 => Some(ADDRESSES_BYTES),
            113 => Some(14),
            _ => None,
        },
    );
    // The cooked header of version 2 has its EtherType first, and what it is of behind its 20 bytes.
    let cooked = record.link_type == 276 && be16(data, 0).is_ok_and(|tag| VLAN_TAGS.contains(&tag));
    let first = if cooked { be16(data, 20).ok() } else { None };
    let mut at = if cooked { Some(22) } else { ethertype };
    let others = std::iter::from_fn(move || {
        let place = at.filter(|&place| be16(data, place).is_ok_and(|tag| VLAN_TAGS.contains(&tag)))?;
        at = Some(place + 4);
        be16(data, place + 2).ok()
    });
    first.into_iter().chain(others).map(|tag| tag & 0x0fff)
}

/// RFC 1661, 2 and RFC 1662, 3.1: address and control field and the first byte of the protocol may be left out.
pub(crate) fn after_ppp(data: &[u8], at: usize) -> Result<usize, Skip> {
    let at = if be16(data, at)? == 0xff03 { at + 2 } else { at };
    let short = u16::from(*data.get(at).ok_or(Skip::Short)?);
    let (protocol, after) = if short & 1 == 1 { (short, at + 1) } else { (be16(data, at)?, at + 2) };
    match protocol {
        0x0021 | 0x0057 => Ok(after),
        _ => Err(Skip::NotIp),
    }
}

/// RFC 3032: 4-byte entries, the last has the bottom-of-stack bit; IP is recognised by its version.
fn after_mpls(data: &[u8], at: usize) -> Result<usize, Skip> {
    let mut at = at;
    while be16(data, at + 2)? & 0x0100 == 0 {
        at += 4;
    }
    match data.get(at + 4).ok_or(Skip::Short)? >> 4 {
        4 | 6 => Ok(at + 4),
        _ => Err(Skip::NotIp),
    }
}

#[inline]
pub(crate) fn be16(data: &[u8], at: usize) -> Result<u16, Skip> {
    let bytes = data.get(at..at + 2).ok_or(Skip::Short)?;
    Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
}

pub(crate) fn be32(data: &[u8], at: usize) -> Result<u32, Skip> {
    Ok(u32::from(be16(data, at)?) << 16 | u32::from(be16(data, at + 2)?))
}
