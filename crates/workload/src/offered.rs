//! The load that a flow list offers a link: data packets with their headers, as the papers count it. Acknowledgements,
//! SYN and FIN come on top. Source: Chen 2012, 4.4.2.

use units::ENDLESS_BYTES;

use crate::Volume;

/// IPv4 and UDP header, bytes.
const UDP_HEADER_BYTES: u64 = 28;

/// How the payload of TCP becomes packets.
#[derive(Clone, Copy, Debug)]
pub struct Segments {
    /// Payload of a full packet, bytes.
    pub mss: u64,
    /// Headers of each packet, bytes.
    pub header_bytes: u64,
}

impl Segments {
    /// Bytes on the wire of so many bytes of payload.
    pub fn on_wire(self, payload_bytes: u64) -> u64 {
        payload_bytes.saturating_add(payload_bytes.div_ceil(self.mss).saturating_mul(self.header_bytes))
    }

    /// Bytes on the wire, down and up, of trains: whether each goes up, and its payload in bytes.
    pub fn of_trains(self, trains: impl IntoIterator<Item = (bool, u64)>) -> [u64; 2] {
        let mut bytes = [0_u64; 2];
        for (up, payload_bytes) in trains {
            let way = &mut bytes[usize::from(up)];
            *way = way.saturating_add(self.on_wire(payload_bytes));
        }
        bytes
    }
}

/// A flow, as far as the load that it offers depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Offering {
    /// Whether its data goes up.
    pub up: bool,
    /// Whether it sends datagrams; else it is a flow of TCP.
    pub udp: bool,
    /// Whether an application decides what it sends.
    pub application: bool,
    /// Start, s.
    pub start_s: f64,
    /// Payload, bytes.
    pub size_bytes: u64,
    /// Length of its datagrams on the wire, bytes; that of a full packet of TCP without one.
    pub packet_bytes: Option<u64>,
    /// Rate of its datagrams, bit/s.
    pub rate_bps: Option<f64>,
    /// Its bursts, where it has some.
    pub bursts: Option<Volume>,
    /// Bytes on the wire of its trains, down and up, where it has some ([`Segments::of_trains`]).
    pub trains: Option<[u64; 2]>,
}

/// What the flows of one direction offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// Flows, or the scripts that bring something in this direction.
    pub flows: u64,
    /// Data packets with their headers, bytes.
    pub wire_bytes: u64,
}

/// What the flows of a list offer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// From the first start to the last one, or to the last datagram if later, s.
    pub span_s: f64,
    /// Flows of TCP that never end, and applications: nothing else counts them.
    pub endless_flows: u64,
    /// Down, and up.
    pub ways: [Offered; 2],
}

/// What `flows` offer, in packets of TCP as `segments` makes them.
pub fn offered(flows: impl IntoIterator<Item = Offering>, segments: Segments) -> Load {
    let mut load = Load::default();
    let (mut first_s, mut last_s) = (f64::INFINITY, f64::NEG_INFINITY);
    for flow in flows {
        if flow.application || (!flow.udp && flow.size_bytes == ENDLESS_BYTES) {
            load.endless_flows += 1;
            continue;
        }
        // Every packet of a UDP flow has the same length; the last one of a TCP flow is as long as what is left.
        let wire = flow.bursts.map(|bursts| bursts.wire_bytes).unwrap_or_else(|| {
            if !flow.udp {
                return segments.on_wire(flow.size_bytes);
            }
            let packet = flow.packet_bytes.unwrap_or(segments.mss + segments.header_bytes);
            let payload = packet.saturating_sub(UDP_HEADER_BYTES).max(1);
            flow.size_bytes.div_ceil(payload).saturating_mul(packet)
        });
        let lasts_s = match (flow.bursts, flow.rate_bps) {
            (Some(bursts), _) => bursts.end_s,
            (None, Some(rate_bps)) => wire as f64 * 8.0 / rate_bps,
            (None, None) => 0.0,
        };
        let mut add = |up: bool, bytes: u64| {
            let way = &mut load.ways[usize::from(up)];
            way.flows += 1;
            way.wire_bytes = way.wire_bytes.saturating_add(bytes);
            first_s = first_s.min(flow.start_s);
            last_s = last_s.max(flow.start_s + lasts_s);
        };
        let Some(trains) = flow.trains else {
            add(flow.up, wire);
            continue;
        };
        for (up, bytes) in [false, true].into_iter().zip(trains) {
            if bytes > 0 {
                add(up, bytes);
            }
        }
    }
    load.span_s = if last_s >= first_s { last_s - first_s } else { 0.0 };
    load
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Script;

    const SEGMENTS: Segments = Segments { mss: 1460, header_bytes: 40 };
    const TCP: Offering = Offering {
        up: false,
        udp: false,
        application: false,
        start_s: 0.0,
        size_bytes: 3000,
        packet_bytes: None,
        rate_bps: None,
        bursts: None,
        trains: None,
    };

    #[test]
    fn the_last_packet_of_a_tcp_flow_is_as_long_as_what_is_left() {
        let load = offered([TCP, Offering { start_s: 2.0, ..TCP }], SEGMENTS);
        let down = Offered { flows: 2, wire_bytes: 2 * (3000 + 3 * 40) };
        assert_eq!(load, Load { span_s: 2.0, endless_flows: 0, ways: [down, Offered::default()] });
    }

    #[test]
    fn datagrams_are_full_and_last_until_their_rate_has_sent_them() {
        let udp =
            Offering { udp: true, up: true, packet_bytes: Some(228), rate_bps: Some(800.0), size_bytes: 401, ..TCP };
        let load = offered([udp], SEGMENTS);
        assert_eq!(load.ways[1], Offered { flows: 1, wire_bytes: 3 * 228 });
        assert_eq!(load.span_s, 3.0 * 228.0 * 8.0 / 800.0);
    }

    #[test]
    fn flows_without_an_end_and_applications_are_counted_apart() {
        let endless = Offering { size_bytes: ENDLESS_BYTES, ..TCP };
        let load = offered([endless, Offering { application: true, ..TCP }], SEGMENTS);
        assert_eq!(load, Load { endless_flows: 2, ..Load::default() });
    }

    #[test]
    fn a_script_offers_both_directions_what_its_trains_bring() {
        let script = Script::parse("up 400 | wait 20ms | down 3000").expect("a script");
        let trains = SEGMENTS.of_trains(script.trains.iter().map(|train| (train.up, train.bytes)));
        let load = offered([Offering { trains: Some(trains), ..TCP }], SEGMENTS);
        assert_eq!(load.ways, [Offered { flows: 1, wire_bytes: 3120 }, Offered { flows: 1, wire_bytes: 440 }]);
    }
}
