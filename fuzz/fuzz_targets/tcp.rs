//! Any exchange of segments on a few connections: the table neither panics nor loses a byte, and the parts of every
//! transfer add up.
//!
//! Sixteen bytes are one segment: time, ends and tap, flags, numbers, window and payload, timestamps.
#![no_main]

use capture::{Endpoint, Ideal, Segment, Table, TcpHeader, TcpOptions, Transport};
use libfuzzer_sys::fuzz_target;

fn segment(bytes: &[u8; 16]) -> (Segment, u32, i64) {
    let [ends, flags, a, b, c, d, e, f, g, h, window, payload, times, spread, value, echo] = *bytes;
    let end = |host: u8, port: u8| Endpoint { address: [10, 0, 0, host].into(), port: 1000 + u16::from(port) };
    let (one, two) = (end(1, ends >> 1 & 3), end(2, 0));
    let (source, destination) = if ends & 1 == 0 { (one, two) } else { (two, one) };
    let payload_bytes = u64::from(payload) << (window & 15);
    let options = TcpOptions {
        mss: (window & 16 != 0).then_some(u16::from(payload)),
        window_shift: None,
        timestamps: (window & 32 != 0).then_some((value.into(), echo.into())),
    };
    let header = TcpHeader {
        seq: u32::from_be_bytes([a, b, c, d]),
        ack: u32::from_be_bytes([e, f, g, h]),
        flags,
        window: window.into(),
        options,
    };
    let segment = Segment {
        source,
        destination,
        wire_bytes: payload_bytes + 40,
        payload_bytes,
        transport: Transport::Tcp(header),
        identity: 0,
        place: 0,
        fragment: false,
    };
    let time_ns = i64::from(times as i8) << (spread % 56);
    (segment, u32::from(ends >> 3), time_ns)
}

fuzz_target!(|data: &[u8]| {
    let mut table = Table::with_limits(3, 1000);
    let mut added = 0_u64;
    for bytes in data.as_chunks().0 {
        let (segment, tap, time_ns) = segment(bytes);
        table.add(&segment, tap, time_ns);
        added += 1;
    }
    let evicted = table.evicted();
    let finished = table.finish(0, &Ideal::default(), false);
    assert!(finished.connections.len() <= 3 && finished.trains.len() <= 1000);
    let mut packets = 0;
    for row in &finished.connections {
        let mut parts = 0;
        for side in [&row.from_opener, &row.from_responder] {
            packets += side.packets;
            parts += i128::from(side.warm_up_ns) + i128::from(side.transfer_ns);
            assert!(side.distinct_bytes <= side.payload_bytes && side.distinct_packets <= side.data_packets);
            assert!(side.spurious <= side.retransmits);
        }
        // Times are less than 2^62 apart, so no sum saturates.
        assert_eq!(row.data_ns.map_or(0, i128::from), parts);
    }
    assert!(evicted > 0 || packets == added);
});
