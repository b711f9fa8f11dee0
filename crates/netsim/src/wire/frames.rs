//! What a packet of QUIC carries: its number and its frames, and how long they are on the wire (RFC 9000, 12, 16 and 19).

use units::Time;

/// IPv4 and UDP headers, bytes.
pub(crate) const IP_UDP: u32 = 28;
/// Header of a STREAM frame that `tcp.header` counts in, bytes; that of a
/// frame is what its numbers need.
pub(crate) const STREAM_HEADER: u32 = 8;
/// Long header with connection IDs of 8 bytes and a number of 2, and the tag (RFC 9000, 17.2), bytes.
pub(crate) const LONG_HEADER: u32 = 44;
/// Smallest datagram with an Initial packet of a client (RFC 9000, 14.1), without IP and UDP headers, bytes.
pub(crate) const SMALLEST_INITIAL: u32 = 1200;
/// Unit of the delay that an ACK frame tells, with the exponent 3 (RFC 9000, 18.2).
const DELAY_UNIT_NS: u64 = 8_000;

/// Packet-number space. Initial and Handshake packets share one here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Space {
    /// Initial and Handshake.
    #[default]
    Handshake,
    /// 0-RTT and 1-RTT.
    Data,
}

/// Bytes of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamFrame {
    pub(crate) stream: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// A packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames {
    pub(crate) space: Space,
    pub(crate) number: u64,
    /// It is a Handshake packet of a client: the server has its address proved (RFC 9000, 8.1).
    pub(crate) validates: bool,
    /// ACK frame: ranges of numbers received, the highest first.
    pub(crate) acks: Vec<(u64, u64)>,
    /// Time since the highest of them came.
    pub(crate) ack_delay: Time,
    /// Packets received with a mark of congestion.
    pub(crate) marks: u64,
    pub(crate) crypto: Option<(u64, u64)>,
    pub(crate) streams: Vec<StreamFrame>,
    pub(crate) max_data: Option<u64>,
    /// HANDSHAKE_DONE.
    pub(crate) done: bool,
    /// It has a frame beside ACK and PADDING, and is to be acknowledged.
    pub(crate) eliciting: bool,
}

/// Bytes of a number (RFC 9000, 16).
#[inline]
pub(crate) fn varint(value: u64) -> u32 {
    match value {
        0..64 => 1,
        64..16_384 => 2,
        16_384..1_073_741_824 => 4,
        _ => 8,
    }
}

/// Header of a STREAM frame (RFC 9000, 19.8): type, stream, offset unless it is 0, and a length of two bytes. Streams are
/// those that a client opens, for data both ways.
#[inline]
pub(crate) fn stream_header(stream: u32, offset: u64) -> u32 {
    1 + varint(4 * u64::from(stream)) + if offset > 0 { varint(offset) } else { 0 } + 2
}

/// CRYPTO frame without its data (RFC 9000, 19.6).
pub(crate) fn crypto_header(offset: u64) -> u32 {
    1 + varint(offset) + 2
}

/// ACK frame (RFC 9000, 19.3) of `ranges`, the highest first and not empty; with counts of marks where `counts` are given:
/// packets received as capable of ECN, and marked.
pub(crate) fn ack_length(ranges: &[(u64, u64)], delay: Time, counts: Option<(u64, u64)>) -> u32 {
    let (low, high) = ranges[0];
    let first = 1 + varint(high - 1) + varint(delay.0 / DELAY_UNIT_NS) + varint(ranges.len() as u64 - 1);
    let more: u32 = ranges
        .windows(2)
        .map(|pair| varint(pair[0].0.saturating_sub(pair[1].1 + 1)) + varint(pair[1].1 - pair[1].0 - 1))
        .sum();
    let ecn = counts.map_or(0, |(capable, marked)| 2 + varint(capable) + varint(marked));
    first + varint(high - 1 - low) + more + ecn
}

/// A delay as an ACK frame tells it.
#[inline]
pub(crate) fn told_delay(delay: Time) -> Time {
    Time(delay.0 / DELAY_UNIT_NS * DELAY_UNIT_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9000, Table 4 and appendix A.1: the largest number of each length, and one more.
    #[test]
    fn numbers_take_1_2_4_or_8_bytes() {
        let lengths = [0, 63, 64, 16_383, 16_384, 1_073_741_823, 1_073_741_824].map(varint);
        assert_eq!(lengths, [1, 1, 2, 2, 4, 4, 8]);
    }

    #[test]
    fn frames_are_as_long_as_their_numbers() {
        // Type, stream 0, no offset, length; then with an offset, and a stream number of two bytes.
        assert_eq!([stream_header(0, 0), stream_header(0, 100_000), stream_header(16, 70)], [4, 8, 7]);
        // Type, largest, delay of 25 ms in units of 8 us, no more ranges, first range.
        assert_eq!(ack_length(&[(0, 100)], Time::from_millis(25), None), 1 + 2 + 2 + 1 + 2);
        // A gap and a range more; counts of ECT(0), ECT(1) and CE.
        assert_eq!(ack_length(&[(50, 60), (0, 40)], Time::ZERO, Some((70, 3))), 5 + 2 + (2 + 2 + 1));
        assert_eq!(told_delay(Time(17_999)), Time(16_000));
    }
}
