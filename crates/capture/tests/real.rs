//! Real captures, where the shared data is present: counts of tshark 4.0.17, and every file of the
//! malformed collections.

use std::io::Read;
use std::path::PathBuf;

use capture::{CaptureError, Connection, Counts, Duplicates, Options, Protocol, Skip, State, Train, read, read_file};

fn shared(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/pcap").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {name} is not beside the checkout");
    None
}

struct Totals {
    tcp: usize,
    udp: usize,
    complete: usize,
    counts: Counts,
}

fn totals(name: &str) -> Option<Totals> {
    let read = read_file(&shared(name)?, &Options::default(), &mut || true).expect("a capture");
    let of = |protocol| read.connections.iter().filter(|row| row.protocol == protocol).count();
    let complete = read.connections.iter().filter(|row| row.state == State::Complete).count();
    Some(Totals { tcp: of(Protocol::Tcp), udp: of(Protocol::Udp), complete, counts: read.counts })
}

#[test]
fn conversations_agree_with_tshark() {
    let expected = [
        ("enterprise_ad_lab.pcap.gz", 34_391, 305, 290),
        ("access_home_alexa.pcap.gz", 3_435, 121, 33),
        ("smb_scanner.pcap.gz", 3_328, 324, 4),
        ("ndt_speedtest_v4.pcap.gz", 18_240, 1, 0),
        ("ndt_speedtest_v6.pcap.gz", 5_180, 1, 0),
        ("tcptrace_dsack.dmp.gz", 15_712, 1, 0),
        ("tcptrace_zwnd.dmp.gz", 26_690, 1, 1),
        ("tcptrace_urgent.dmp.gz", 9_476, 2, 0),
        ("tcptrace_http.dmp.gz", 1_270, 61, 0),
        ("echo_connections.pcap.gz", 82_582, 500, 0),
        ("oddities/vlan.pcap", 395, 2, 13),
        ("oddities/ip-in-mpls.pcap.gz", 10_507, 1, 0),
    ];
    for (name, packets, tcp, udp) in expected {
        let Some(totals) = totals(name) else { continue };
        assert_eq!((totals.counts.packets, totals.tcp, totals.udp), (packets, tcp, udp), "{name}");
    }
}

#[test]
fn a_mix_with_tunnels_differs_from_tshark_by_the_tunnels() {
    let Some(totals) = totals("access_app_mix.pcap.gz") else { return };
    assert_eq!(totals.counts.packets, 100_720);
    // tshark: 4,862 and 3,231, counting conversations inside tunnels and those its dissectors make up.
    assert_eq!((totals.tcp, totals.udp), (4_846, 3_199));
}

#[test]
fn every_echo_connection_is_complete_and_carries_its_52_bytes() {
    let Some(path) = shared("echo_connections.pcap.gz") else { return };
    let read = read_file(&path, &Options::default(), &mut || true).expect("a capture");
    assert!(read.connections.iter().all(|row| row.state == State::Complete));
    assert!(read.connections.iter().all(|row| row.from_opener.distinct_bytes == 52));
    assert!(read.connections.iter().all(|row| row.from_responder.distinct_bytes == 52));
    // tshark: the SYN or SYN-ACK of 158 connections was repeated.
    assert_eq!(read.connections.iter().filter(|row| row.rtt_ns.is_some()).count(), 500 - 158);
}

/// The direction of packets that bring new bytes, from tshark's fields (`tcp.stream`, `tcp.seq_raw`, `tcp.len`).
#[test]
fn trains_are_those_counted_from_the_packets() {
    let expected = [("echo_connections.pcap.gz", 52_000), ("tcptrace_http.dmp.gz", 212), ("smb_scanner.pcap.gz", 772)];
    for (name, trains) in expected {
        let Some(path) = shared(name) else { continue };
        let options = Options { max_trains: usize::MAX, ..Options::default() };
        let read = read_file(&path, &options, &mut || true).expect("a capture");
        assert_eq!(read.trains.len(), trains, "{name}");
        let sides = |row: &Connection| u64::from(row.from_opener.trains + row.from_responder.trains);
        assert_eq!(read.connections.iter().map(sides).sum::<u64>(), trains as u64, "{name}");
        if name.starts_with("echo") {
            let each = |train: &Train| (train.packets, train.bytes) == (1, 1);
            assert!(read.connections.iter().all(|row| (row.from_opener.trains, row.from_responder.trains) == (52, 52)));
            assert!(read.trains.iter().all(each));
        }
    }
}

#[test]
fn the_parts_of_every_transfer_add_up_to_the_nanosecond() {
    for name in
        ["access_app_mix.pcap.gz", "enterprise_ad_lab.pcap.gz", "tcptrace_urgent.dmp.gz", "ndt_speedtest_v6.pcap.gz"]
    {
        let Some(path) = shared(name) else { continue };
        let read = read_file(&path, &Options::default(), &mut || true).expect("a capture");
        let mut transfers = 0;
        for row in &read.connections {
            let Some(data_ns) = row.data_ns else { continue };
            let parts = [&row.from_opener, &row.from_responder].map(|side| {
                assert_eq!(
                    side.pacing_ns().zip(side.theoretical_ns).map(|(one, two)| one + two).unwrap_or(side.transfer_ns),
                    side.transfer_ns
                );
                side.warm_up_ns + side.transfer_ns
            });
            assert_eq!(parts.iter().sum::<i64>(), data_ns, "{name}: {row:?}");
            if let (Some(setup_ns), Some(teardown_ns)) = (row.setup_ns, row.teardown_ns) {
                assert_eq!(setup_ns + data_ns + teardown_ns, row.end_ns - row.start_ns, "{name}");
            }
            transfers += 1;
        }
        assert!(transfers > 0, "{name}");
    }
}

#[test]
fn segments_of_offload_count_as_packets() {
    let Some(path) = shared("ndt_speedtest_v6.pcap.gz") else { return };
    let read = read_file(&path, &Options::default(), &mut || true).expect("a capture");
    let row = &read.connections[0];
    let sides = [&row.from_opener, &row.from_responder];
    assert_eq!(row.mss_bytes, Some(1_440));
    // tshark: tcp.len over 1,428 (12 bytes of timestamps), rounded up, of every frame.
    let packets: u64 = sides.iter().map(|side| side.data_packets).sum();
    let supers: u32 = sides.iter().map(|side| side.super_segments).sum();
    assert_eq!((sides[0].packets + sides[1].packets, packets, supers), (5_180, 57_580, 3_275));
}

#[test]
fn tunnels_lead_to_the_conversations_that_tshark_finds_inside() {
    let Some(path) = shared("access_app_mix.pcap.gz") else { return };
    let read = read_file(&path, &Options { tunnels: true, ..Options::default() }, &mut || true).expect("a capture");
    // tshark: 4,862. Its UDP conversations are those of both layers.
    assert_eq!(read.connections.iter().filter(|row| row.protocol == Protocol::Tcp).count(), 4_862);
}

#[test]
fn copies_of_two_hosts_are_left_out() {
    let Some(path) = shared("enterprise_ad_lab.pcap.gz") else { return };
    let options = Options { duplicates: Duplicates::All, ..Options::default() };
    let read = read_file(&path, &options, &mut || true).expect("a capture");
    // tshark: 1,010 of IPv4 with equal addresses, identification, length, ports, numbers, window and options.
    assert_eq!(read.counts.skipped(Skip::Duplicate), 1_020);
}

#[test]
fn payload_of_bulk_transfers_agrees_with_tshark() {
    let expected = [
        ("ndt_speedtest_v6.pcap.gz", 81_242_542),
        ("tcptrace_dsack.dmp.gz", 16_777_216),
        ("smb_scanner.pcap.gz", 132_864),
    ];
    for (name, bytes) in expected {
        let Some(path) = shared(name) else { continue };
        let read = read_file(&path, &Options::default(), &mut || true).expect("a capture");
        let tcp = read.connections.iter().filter(|row| row.protocol == Protocol::Tcp);
        let sum: u64 = tcp.map(|row| row.from_opener.distinct_bytes + row.from_responder.distinct_bytes).sum();
        assert_eq!(sum, bytes, "{name}");
    }
}

#[test]
fn radio_frames_are_counted_and_not_lost() {
    let Some(totals) = totals("oddities/wpa-Induction.pcap.gz") else { return };
    assert_eq!(totals.counts.skipped(Skip::LinkType), 1_093);
    assert_eq!(totals.complete, 0);
}

/// Members of a tar archive (POSIX.1-1988 headers of 512 bytes).
fn members(name: &str) -> Vec<(String, Vec<u8>)> {
    let Some(path) = shared(name) else { return Vec::new() };
    let file = std::fs::File::open(path).expect("readable");
    let mut tar = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut tar).expect("gzip");
    let mut found = Vec::new();
    let mut at = 0;
    while at + 512 <= tar.len() && tar[at] != 0 {
        let field = |from: usize, to: usize| String::from_utf8_lossy(&tar[at + from..at + to]).into_owned();
        let size = usize::from_str_radix(field(124, 136).trim_matches(['\0', ' ']), 8).expect("size");
        found.push((field(0, 100).trim_matches('\0').to_owned(), tar[at + 512..at + 512 + size].to_vec()));
        at += 512 + size.next_multiple_of(512);
    }
    found
}

#[test]
fn no_malformed_file_panics_or_loses_packets() {
    for (archive, least) in [("tcpdump_tests.tar.gz", 800), ("ndpi_fuzz.tar.gz", 13)] {
        let files = members(archive);
        assert!(files.is_empty() || files.len() >= least, "{archive}: {} files", files.len());
        for (name, bytes) in files {
            match read(&bytes[..], &Options { max_flows: 100, ..Options::default() }, &mut || true) {
                Ok(read) => {
                    let counts = read.counts;
                    assert_eq!(counts.packets, counts.decoded + counts.skipped_total(), "{name}");
                }
                Err(CaptureError::Empty | CaptureError::NotCapture { .. }) => {}
                Err(error) => panic!("{name}: {error}"),
            }
        }
    }
}
