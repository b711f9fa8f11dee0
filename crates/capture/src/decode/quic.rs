//! Whether a datagram begins with a long header of QUIC.

/// RFC 9000, 17.2: the form of the header, and the fixed bit, which RTP and STUN do not have both.
const LONG: u8 = 0x80;
const LONG_AND_FIXED: u8 = 0xc0;
/// Longest connection id of the versions in use.
const MOST_ID_BYTES: usize = 20;
/// Header with two empty connection ids and no more: what the versions have behind it is longer.
const LEAST_BYTES: u64 = 20;

/// Whether `payload`, as far as it was captured, is that of a datagram of `payload_bytes` that begins with a long header of
/// QUIC with a version in use (RFC 9000, RFC 9369, drafts, reserved ones, Facebook's and Google's), or negotiates versions. A
/// port proves nothing.
#[inline]
pub(crate) fn has_long_header(payload: &[u8], payload_bytes: u64) -> bool {
    payload.first().is_some_and(|first| first & LONG != 0 || first & 0xc9 == 0x09) && begins(payload, payload_bytes)
}

#[inline(never)]
fn begins(payload: &[u8], payload_bytes: u64) -> bool {
    let Some([first, version @ ..]) = payload.first_chunk::<5>() else { return false };
    if first & LONG == 0 {
        // Google's before version 44: flags, a connection id of 8 bytes, the version.
        return payload.get(9..13).is_some_and(is_google);
    }
    // An id that the captured bytes cut off may be anything.
    let id_bytes = |at: usize| payload.get(at).map_or(0, |length| usize::from(*length));
    let destination = id_bytes(5);
    let source = id_bytes(6 + destination);
    if payload_bytes < LEAST_BYTES || payload.len() < 6 || destination > MOST_ID_BYTES || source > MOST_ID_BYTES {
        return false;
    }
    let after = (7 + destination + source) as u64;
    match u32::from_be_bytes(*version) {
        // A list of versions follows.
        0 => payload.len() > 6 + destination && payload_bytes > after && (payload_bytes - after).is_multiple_of(4),
        number => first & LONG_AND_FIXED == LONG_AND_FIXED && is_in_use(number) && payload_bytes > after,
    }
}

fn is_in_use(version: u32) -> bool {
    let reserved = version & 0x0f0f_0f0f == 0x0a0a_0a0a;
    let facebook = version & 0xffff_fff0 == 0xface_b000;
    let standard = matches!(version, 1 | 0x6b33_43cf) || version & 0xffff_ff00 == 0xff00_0000;
    standard || reserved || facebook || is_google(&version.to_be_bytes())
}

/// `Q046`, `T051`.
fn is_google(version: &[u8]) -> bool {
    matches!(version, [b'Q' | b'T', b'0', tens, ones] if tens.is_ascii_digit() && ones.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(first: u8, version: u32, ids: [u8; 2], bytes: usize) -> Vec<u8> {
        let mut payload = vec![first];
        payload.extend(version.to_be_bytes());
        for id in ids {
            payload.push(id);
            payload.extend(vec![7; usize::from(id)]);
        }
        payload.resize(bytes.max(payload.len()), 0);
        payload
    }

    fn is_quic(payload: &[u8]) -> bool {
        has_long_header(payload, payload.len() as u64)
    }

    #[test]
    fn the_versions_in_use_are_recognised_and_no_others() {
        for version in [1, 0x6b33_43cf, 0xff00_001d, 0x1a2a_3a4a, 0xface_b002, u32::from_be_bytes(*b"Q046")] {
            assert!(is_quic(&long(0xc3, version, [8, 0], 1200)), "{version:#x}");
            // RTP has the form and not the fixed bit.
            assert!(!is_quic(&long(0x80, version, [8, 0], 1200)), "{version:#x}");
            assert!(!is_quic(&long(0x43, version, [8, 0], 1200)), "{version:#x}");
        }
        for version in [2, 0x0100, 0xfeff_0001, u32::from_be_bytes(*b"QUIC")] {
            assert!(!is_quic(&long(0xc3, version, [8, 8], 1200)), "{version:#x}");
        }
        assert!(is_quic(&[&[0x0d, 1, 2, 3, 4, 5, 6, 7, 8][..], b"Q043", &[0; 40]].concat()));
        assert!(!is_quic(&[&[0x0d, 1, 2, 3, 4, 5, 6, 7, 8][..], b"query", &[0; 40]].concat()));
    }

    #[test]
    fn an_id_of_more_than_20_bytes_or_a_datagram_without_room_is_no_quic() {
        assert!(is_quic(&long(0xe0, 1, [20, 20], 1200)));
        assert!(!is_quic(&long(0xe0, 1, [21, 0], 1200)));
        assert!(!is_quic(&long(0xe0, 1, [8, 21], 1200)));
        assert!(!is_quic(&long(0xe0, 1, [0, 0], 0)));
        assert!(!is_quic(&[0xc3, 0, 0]));
        assert!(!is_quic(&[]));
    }

    #[test]
    fn a_version_negotiation_lists_versions() {
        let mut payload = long(0x80, 0, [8, 8], 0);
        payload.extend([0, 0, 0, 1]);
        assert!(is_quic(&payload));
        payload.push(0);
        assert!(!is_quic(&payload));
        // RTP of a stream that counts from 0: no list behind the ids.
        assert!(!is_quic(&[0x80, 0, 0, 0, 0, 0, 0, 160, 1, 2, 3, 4]));
    }

    #[test]
    fn a_cut_datagram_is_told_by_what_was_captured() {
        let payload = long(0xc3, 1, [8, 8], 1200);
        assert!(has_long_header(&payload[..7], 1200));
        assert!(!has_long_header(&payload[..5], 1200));
    }
}
