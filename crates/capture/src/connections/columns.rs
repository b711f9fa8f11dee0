//! The tables of connections, trains and packets.

use tables::{Column, Record, SetBits};

use crate::connections::connection::{Connection, OpenerFrom, Protocol, Side, State, ZeekState};
use crate::connections::quic::Quic;
use crate::connections::rtt::Samples;
use crate::connections::table::Packet;
use crate::connections::transfer::Train;
use crate::connections::volumes::Volume;

fn seconds(ns: i64) -> f64 {
    ns as f64 * 1e-9
}

fn known(ns: Option<i64>) -> Option<f64> {
    ns.map(seconds)
}

fn side(from_opener: bool) -> &'static str {
    if from_opener { "opener" } else { "responder" }
}

impl Record for Connection {
    const TABLE: &'static str = "connections";
    const VERSION: u32 = 5;

    fn columns() -> Vec<Column<Connection>> {
        let mut columns = head();
        for (kind, way, samples) in ROUND_TRIPS {
            columns.extend(round_trip(kind, way, samples));
        }
        let phase = "of a TCP connection with data";
        columns.extend([
            Column::new(
                "setup_s",
                "s",
                format!("First packet to first data packet {phase}; null where the beginning was not captured."),
                |row: &Connection| known(row.setup_ns),
            ),
            Column::new("data_s", "s", format!("First to last data packet {phase}."), |row: &Connection| {
                known(row.data_ns)
            }),
            Column::new(
                "teardown_s",
                "s",
                format!("Last data packet to last packet {phase}; null where neither FIN nor RST was captured."),
                |row: &Connection| known(row.teardown_ns),
            ),
        ]);
        columns.extend(sent_by("opener", |row| &row.from_opener));
        columns.extend(sent_by("responder", |row| &row.from_responder));
        columns
    }
}

/// What does not belong to one direction.
fn head() -> Vec<Column<Connection>> {
    let bad_order =
        "null where the three packets are not in the order of time, as clocks of two hosts in one file put them";
    vec![
        Column::new("protocol", "", "`tcp`, `udp`, `icmp` or `other`.", |row: &Connection| {
            Protocol::NAMES[row.protocol as usize]
        }),
        Column::new(
            "ip_protocol",
            "",
            "Number of its protocol: 6 of TCP, 17 of UDP, 1 and 58 of ICMP, 50 of ESP, 47 of GRE; 44 of fragments whose first \
             one did not come before them.",
            |row: &Connection| u64::from(row.ip_protocol),
        )
        .since(4),
        Column::new("opener", "", "Address of the end that opened it.", |row: &Connection| {
            row.opener.address.to_string()
        }),
        Column::new("opener_port", "", "Its port; ICMP: the type; 0 of other protocols.", |row: &Connection| row.opener.port),
        Column::new("responder", "", "Address of the other end.", |row: &Connection| row.responder.address.to_string()),
        Column::new("responder_port", "", "Its port; ICMP: the code; 0 of other protocols.", |row: &Connection| row.responder.port),
        Column::new("opener_from", "", "What tells who opened it.", |row: &Connection| {
            OpenerFrom::NAMES[row.opener_from as usize]
        }),
        Column::new("state", "", "How far it got.", |row: &Connection| State::NAMES[row.state as usize]),
        Column::new("zeek_state", "", "The same in the terms of Zeek.", |row: &Connection| {
            ZeekState::NAMES[row.zeek_state as usize]
        }),
        Column::new(
            "taps",
            "",
            "Rows of `taps` in the counts: where its packets were captured; 63 stands for all from there on.",
            |row: &Connection| SetBits(row.taps),
        ),
        Column::new(
            "quic",
            "",
            "Whether it is QUIC: UDP, and one of the first 8 packets of an end has a long header of QUIC (RFC 9000, 17.2) with \
             a version in use. False where its beginning was not captured.",
            |row: &Connection| row.quic == Quic::Yes,
        )
        .since(3),
        Column::new(
            "quic_probably",
            "",
            "Whether it is probably QUIC: UDP of port 443 whose beginning was not captured, and whose first bytes are as those of \
             short headers (RFC 9001, 5.4): 16 packets of an end or more, with 8 values or more of the five bits that are \
             encrypted.",
            |row: &Connection| row.quic == Quic::Probably,
        )
        .since(5),
        Column::new("start_s", "s", "Earliest packet.", |row: &Connection| Some(seconds(row.start_ns))),
        Column::new("end_s", "s", "Latest packet.", |row: &Connection| Some(seconds(row.end_ns))),
        Column::new(
            "mss_bytes",
            "bytes",
            "Payload of a full packet: the smaller of both ends' limits, null without the option; of QUIC the longest datagram, \
             at least 1200.",
            |row: &Connection| row.mss_bytes.filter(|&bytes| bytes > 0).map(u64::from),
        ),
        Column::new(
            "rtt_s",
            "s",
            format!(
                "Round-trip time of the handshake, SYN to the ACK of the SYN-ACK; {bad_order}, or one was repeated."
            ),
            |row: &Connection| known(row.rtt_ns),
        ),
        Column::new("handshake_to_opener_s", "s", "The second part of it: SYN-ACK to its ACK.", |row: &Connection| {
            known(row.handshake.map(|times| times.to_opener_ns))
        }),
        Column::new("handshake_to_responder_s", "s", "The first part of it: SYN to SYN-ACK.", |row: &Connection| {
            known(row.handshake.map(|times| times.to_responder_ns))
        }),
    ]
}

type RoundTrips = (&'static str, &'static str, fn(&Connection) -> &Samples);

/// Data of the opener passes the tap on its way to the responder.
const ROUND_TRIPS: [RoundTrips; 4] = [
    ("data_ack", "opener", |row| &row.from_responder.data_ack),
    ("data_ack", "responder", |row| &row.from_opener.data_ack),
    ("timestamp", "opener", |row| &row.from_responder.timestamp),
    ("timestamp", "responder", |row| &row.from_opener.timestamp),
];

fn round_trip(kind: &str, end: &str, samples: fn(&Connection) -> &Samples) -> Vec<Column<Connection>> {
    let times = match kind {
        "data_ack" => {
            format!("the times from data passing the tap towards the {end} to its acknowledgement passing back")
        }
        _ => format!("the times from a timestamp passing the tap towards the {end} to its echo passing back"),
    };
    let name = |what: &str| format!("{kind}_to_{end}_{what}");
    vec![
        Column::new(name("samples"), "", format!("How many {} there are.", &times[4..]), move |row| samples(row).count),
        Column::new(name("min_s"), "s", format!("Smallest of {times}."), move |row| known(samples(row).least_ns())),
        Column::new(name("mean_s"), "s", format!("Mean of {times}."), move |row| {
            samples(row).mean_ns().map(|mean| mean * 1e-9)
        }),
        Column::new(name("max_s"), "s", format!("Largest of {times}."), move |row| known(samples(row).most_ns())),
    ]
}

/// What one end, of which `side` tells, has sent.
fn sent_by(end: &'static str, side: fn(&Connection) -> &Side) -> Vec<Column<Connection>> {
    let count = |name: &str, unit, meaning: &str, of: fn(&Side) -> u64| {
        Column::new(format!("{end}_{name}"), unit, format!("Sent by the {end}: {meaning}."), move |row| of(side(row)))
    };
    let time = |name: &str, meaning: &str, of: fn(&Side) -> Option<i64>| {
        let meaning = format!("Sent by the {end}: {meaning}.");
        Column::new(format!("{end}_{name}"), "s", meaning, move |row| known(of(side(row))))
    };
    let phase = |name: &str, meaning: &str, of: fn(&Side) -> i64| {
        let meaning = format!("Sent by the {end}: {meaning}; null where there is no data phase.");
        Column::new(format!("{end}_{name}"), "s", meaning, move |row: &Connection| {
            row.data_ns.map(|_| seconds(of(side(row))))
        })
    };
    let flag = |name: &str, meaning: &str, of: fn(&Side) -> bool| {
        Column::new(format!("{end}_{name}"), "", format!("The {end} sent {meaning}."), move |row| of(side(row)))
    };
    let per_packet = move |row: &Connection| match (side(row).pacing_ns(), side(row).distinct_packets) {
        (Some(pacing_ns), packets @ 1..) => Some(seconds(pacing_ns) / packets as f64),
        _ => None,
    };
    vec![
        count("packets", "packets", "packets as captured", |side| side.packets),
        count("wire_bytes", "bytes", "length of its IP packets", |side| side.wire_bytes),
        count("payload_bytes", "bytes", "payload, every copy", |side| side.payload_bytes),
        count("distinct_bytes", "bytes", "payload, each sequence number once", |side| side.distinct_bytes),
        count("missing_bytes", "bytes", "payload never captured, up to the last byte that was", |side| {
            side.missing_bytes
        }),
        count("unseen_bytes", "bytes", "payload acknowledged and never captured", |side| side.unseen_bytes),
        count("retransmitted_bytes", "bytes", "payload that had passed before", |side| side.retransmitted_bytes),
        count(
            "data_packets",
            "packets",
            "packets with payload, every copy, super-segments by the packets in them",
            |side| side.data_packets,
        ),
        count("distinct_packets", "packets", "of `data_packets`, those with new bytes", |side| side.distinct_packets),
        count("super_segments", "packets", "captured packets longer than those of the path", |side| {
            side.super_segments.into()
        }),
        count("acks", "packets", "captured packets that are nothing but an acknowledgement", |side| side.acks.into()),
        count("keep_alives", "packets", "keep-alive probes", |side| side.keep_alives.into()),
        count("zero_windows", "packets", "captured packets that announce a window of 0", |side| {
            side.zero_windows.into()
        }),
        count(
            "retransmits",
            "packets",
            "data packets with bytes that had passed before ([](captures.md#losses))",
            |side| side.retransmits.into(),
        ),
        count("spurious", "packets", "of `retransmits`, those acknowledged before they passed again", |side| {
            side.spurious.into()
        }),
        count("lost_before", "packets", "data packets lost before the tap and sent again", |side| {
            side.lost_before.into()
        }),
        count("reordered", "packets", "data packets that were overtaken", |side| side.reordered.into()),
        time("first_s", "the earliest packet", |side| side.first_ns),
        time("last_s", "the latest packet", |side| side.last_ns),
        time("first_data_s", "the earliest packet with payload", |side| side.first_data_ns),
        time("last_data_s", "the latest packet with payload", |side| side.last_data_ns),
        flag("fin", "a FIN", |side| side.fin),
        flag("rst", "an RST", |side| side.rst),
        count("trains", "", "trains: data packets until the other side sends data", |side| side.trains.into()),
        phase("warm_up_s", "part of `data_s` before its trains", |side| side.warm_up_ns),
        phase("transfer_s", "part of `data_s` within its trains", |side| side.transfer_ns),
        time(
            "theoretical_s",
            "what an ideal transfer of its distinct packets takes; null while no round-trip time is known",
            |side| side.theoretical_ns,
        ),
        time("pacing_s", "`transfer_s` less `theoretical_s`", Side::pacing_ns),
        Column::new(
            format!("{end}_pacing_per_packet_s"),
            "s",
            format!("`{end}_pacing_s` over `{end}_distinct_packets`; null without any."),
            per_packet,
        ),
    ]
}

const ITS_CONNECTION: &str = "Row of its connection.";
const ITS_SIDE: &str = "Who sent it, `opener` or `responder`.";

impl Record for Train {
    const TABLE: &'static str = "capture_trains";

    fn columns() -> Vec<Column<Train>> {
        vec![
            Column::new("connection_id", "", ITS_CONNECTION, |row: &Train| row.connection),
            Column::new("side", "", ITS_SIDE, |row: &Train| side(row.from_opener)),
            Column::new("start_s", "s", "First data packet.", |row: &Train| seconds(row.start_ns)),
            Column::new("end_s", "s", "Last data packet.", |row: &Train| seconds(row.end_ns)),
            Column::new("packets", "packets", "Data packets, each once.", |row: &Train| row.packets),
            Column::new("bytes", "bytes", "Payload, each sequence number once.", |row: &Train| row.bytes),
            Column::new(
                "warm_up_s",
                "s",
                "Time since the data packet before; 0 for the first train.",
                |row: &Train| seconds(row.warm_up_ns),
            ),
            Column::new(
                "theoretical_s",
                "s",
                "What an ideal transfer of its packets takes; null while no round-trip time is known.",
                |row: &Train| known(row.theoretical_ns),
            ),
            Column::new(
                "heard_s",
                "s",
                "Time since its side acknowledged all data of the other side, 0 where its first packet did; null for the \
                 first train and where something was not acknowledged.",
                |row: &Train| known(row.heard_ns),
            ),
        ]
    }
}

impl Record for Packet {
    const TABLE: &'static str = "capture_packets";

    fn columns() -> Vec<Column<Packet>> {
        vec![
            Column::new("connection_id", "", ITS_CONNECTION, |row: &Packet| row.connection),
            Column::new("side", "", ITS_SIDE, |row: &Packet| side(row.from_opener)),
            Column::new("time_s", "s", "When it passed.", |row: &Packet| seconds(row.time_ns)),
            Column::new("wire_bytes", "bytes", "Length of the IP packet as captured.", |row: &Packet| row.wire_bytes),
            Column::new("packets", "packets", "Packets of the path in it.", |row: &Packet| row.packets),
        ]
    }
}

impl Record for Volume {
    const TABLE: &'static str = "capture_volumes";

    fn columns() -> Vec<Column<Volume>> {
        vec![
            Column::new("connection_id", "", ITS_CONNECTION, |row: &Volume| row.connection),
            Column::new("side", "", ITS_SIDE, |row: &Volume| side(row.from_opener)),
            Column::new("start_s", "s", "Start of the window.", |row: &Volume| seconds(row.start_ns)),
            Column::new("wire_bytes", "bytes", "Lengths of the IP packets in it, as captured.", |row: &Volume| {
                row.wire_bytes
            }),
            Column::new("packets", "packets", "Packets as captured.", |row: &Volume| row.packets),
            Column::new(
                "acked_bytes",
                "bytes",
                "Payload of the other end that they acknowledged first.",
                |row: &Volume| row.acked_bytes,
            ),
            Column::new(
                "rtt_s",
                "s",
                "Least round-trip time between the tap and the sender of these packets that one of them ended; null \
                 where none did.",
                |row: &Volume| known(row.rtt_ns),
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_name_of_its_own_and_a_meaning() {
        assert_eq!(tables::check::<Connection>(), Ok(()));
        assert_eq!(tables::check::<Train>(), Ok(()));
        assert_eq!(tables::check::<Packet>(), Ok(()));
        assert_eq!(tables::check::<Volume>(), Ok(()));
    }
}
