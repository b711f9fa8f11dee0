//! Real captures, where the shared data is present: counts of tshark 4.0.17, and every file of the
//! malformed collections.

use std::io::Read;
use std::path::PathBuf;

use capture::{CaptureError, Counts, Options, Protocol, Skip, State, read, read_file};

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
