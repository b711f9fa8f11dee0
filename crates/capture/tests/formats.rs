//! File formats, link types and what is counted instead of decoded.

use std::io::Write;

use capture::{Amount, Capture, CaptureError, FRAGMENT, Options, Reason, Skip, read};

use crate::wire::*;

fn exchange() -> Vec<Frame> {
    vec![
        tcp(1_000_000, CLIENT, SERVER, 99, 0, SYN, 0),
        tcp(1_020_000, SERVER, CLIENT, 499, 100, SYN | ACK, 0),
        tcp(1_050_000, CLIENT, SERVER, 100, 500, ACK, 0),
        tcp(1_060_000, CLIENT, SERVER, 100, 500, ACK, 300),
    ]
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// Frames of raw blocks (RFC 8878, 3.1.1) of at most `part` bytes, and a skippable frame in front.
fn zstd(bytes: &[u8], part: usize) -> Vec<u8> {
    let mut file = [&0x184d_2a51_u32.to_le_bytes()[..], &[3, 0, 0, 0, 9, 9, 9]].concat();
    for frame in bytes.chunks(part * 2) {
        // No checksum, no size; a window of 128 KiB.
        file.extend([0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3]);
        let blocks = frame.len().div_ceil(part);
        for (index, block) in frame.chunks(part).enumerate() {
            let header = (block.len() << 3 | usize::from(index + 1 == blocks)) as u32;
            file.extend(&header.to_le_bytes()[..3]);
            file.extend(block);
        }
    }
    file
}

/// A frame to be skipped before, between and behind two frames of LZ4, whose blocks of 64 KiB are `linked` or not.
fn lz4(bytes: &[u8], linked: bool) -> Vec<u8> {
    use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};

    let frame = |bytes: &[u8]| {
        let mode = if linked { BlockMode::Linked } else { BlockMode::Independent };
        let info = FrameInfo::new().block_mode(mode).block_size(BlockSize::Max64KB).content_checksum(true);
        let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
        encoder.write_all(bytes).expect("memory");
        encoder.finish().expect("memory")
    };
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let skipped = [&0x184d_2a53_u32.to_le_bytes()[..], &[3, 0, 0, 0, 9, 9, 9]].concat();
    [skipped.clone(), frame(first), skipped.clone(), frame(second), skipped].concat()
}

fn refusal(file: &[u8]) -> String {
    read(file, &Options::default(), &mut || true).expect_err("no capture").to_string()
}

fn assert_is_exchange(capture: &Capture, label: &str) {
    assert_eq!(capture.counts.packets, 4, "{label}");
    assert_eq!(capture.connections.len(), 1, "{label}");
    let connection = &capture.connections[0];
    assert_eq!((connection.start_ns, connection.end_ns), (0, 60_000_000), "{label}");
    assert_eq!(connection.rtt_ns, Some(50_000_000), "{label}");
    assert_eq!(connection.from_opener.distinct_bytes, 300, "{label}");
    assert!(!capture.counts.truncated, "{label}");
}

#[test]
fn every_pcap_and_pcapng_variant_reads_the_same() {
    for big_endian in [false, true] {
        for nanoseconds in [false, true] {
            let file = pcap(&exchange(), 1, big_endian, nanoseconds);
            let label = format!("pcap, big-endian {big_endian}, nanoseconds {nanoseconds}");
            assert_is_exchange(&read_bytes(&file), &label);
            assert_is_exchange(&read_bytes(&gzip(&file)), &label);
            assert_is_exchange(&read_bytes(&zstd(&file, 33)), &label);
            for linked in [false, true] {
                assert_is_exchange(&read_bytes(&lz4(&file, linked)), &label);
            }
        }
        for exponent in [3, 6, 9, 12] {
            let file = pcapng(&exchange(), 1, big_endian, exponent, 1_000);
            let read = read_bytes(&file);
            assert_is_exchange(&read, &format!("pcapng, big-endian {big_endian}, 10^-{exponent}"));
            assert_eq!(read.counts.first_ns, Some(1_001_000_000_000));
            assert_is_exchange(&read_bytes(&gzip(&file)), "pcapng in gzip");
        }
    }
}

/// More than a block, compressed; cut off or damaged anywhere it ends where it stops being readable.
#[test]
fn frames_of_lz4_are_read_up_to_where_they_break() {
    let frames: Vec<Frame> = (0..4000).map(|at| tcp(at, CLIENT, SERVER, 100 + 10 * at as u32, 0, ACK, 10)).collect();
    let file = pcap(&frames, 1, false, false);
    assert!(file.len() > 3 << 16, "{}", file.len());
    for linked in [false, true] {
        let zipped = lz4(&file, linked);
        assert!(2 * zipped.len() < file.len());
        assert_eq!(read_bytes(&zipped).counts.packets, 4000);
        let cut = read_bytes(&zipped[..zipped.len() * 2 / 3]).counts.packets;
        assert!((1000..4000).contains(&cut), "{cut}");
        let mut damaged = zipped.clone();
        damaged[zipped.len() / 2..][..9].fill(0xa5);
        let found = read(damaged.as_slice(), &Options::default(), &mut || true).map_or(0, |read| read.counts.packets);
        assert!(found < 4000, "{found}");
    }
}

#[test]
fn every_link_type_leads_to_the_same_packet() {
    let packet = tcp_packet(CLIENT, SERVER, 100, 0, ACK, 10);
    let cooked = |protocol_at: usize, header: usize, ether_type: u16| {
        let mut frame = vec![0; header];
        frame[protocol_at..protocol_at + 2].copy_from_slice(&ether_type.to_be_bytes());
        [frame, packet.clone()].concat()
    };
    let tag = |inner: u16| [0, 5, (inner >> 8) as u8, inner as u8];
    let frames = [
        (1, ethernet(0x0800, &packet)),
        (1, ethernet(0x8100, &[&tag(0x0800)[..], &packet].concat())),
        (1, ethernet(0x88a8, &[&tag(0x8100)[..], &tag(0x0800), &packet].concat())),
        (1, ethernet(0x8847, &[&[0, 1, 0, 64][..], &[0, 2, 1, 64], &packet].concat())),
        (1, ethernet(0x8864, &[&[0x11, 0, 0, 1, 0, 52, 0, 0x21][..], &packet].concat())),
        (1, ethernet(0x8864, &[&[0x11, 0, 0, 1, 0, 51, 0x21][..], &packet].concat())),
        (9, [&[0xff, 3, 0, 0x21][..], &packet].concat()),
        (101, packet.clone()),
        (228, packet.clone()),
        (12, packet.clone()),
        (0, [&[2, 0, 0, 0][..], &packet].concat()),
        (0, [&[0, 0, 0, 2][..], &packet].concat()),
        (108, [&[0, 0, 0, 2][..], &packet].concat()),
        (113, cooked(14, 16, 0x0800)),
        (276, cooked(0, 20, 0x0800)),
    ];
    for (link_type, frame) in frames {
        let read = read_bytes(&pcap(&[at(0, frame)], link_type, false, false));
        assert_eq!(read.connections.len(), 1, "link type {link_type}");
        let side = &read.connections[0].from_opener;
        assert_eq!((side.wire_bytes, side.payload_bytes), (50, 10), "link type {link_type}");
    }
}

#[test]
fn what_is_not_decoded_is_counted_by_reason() {
    let body = tcp_header((1, 2), 0, 0, ACK);
    let mut cut = tcp(0, CLIENT, SERVER, 1, 0, ACK, 0);
    cut.captured = 40;
    let frames = [
        at(0, ethernet(0x0806, &[0; 28])),
        at(0, ethernet(0x0800, &ipv4([1; 4], [2; 4], 6, &body, None, 0x0001))),
        at(0, ethernet(0x86dd, &ipv6(44, &[&[6, 0, 0, 8, 0, 0, 0, 1][..], &body].concat(), 28))),
        at(0, ethernet(0x0800, &ipv4([1; 4], [2; 4], 50, &[8; 8], None, 0))),
        at(0, ethernet(0x0800, &ipv4([1; 4], [2; 4], 6, &body, Some(10), 0))),
        at(0, ethernet(0x0800, &[0x41; 30])),
        cut,
    ];
    let counts = read_frames(&frames).counts;
    let expected = [(Skip::NotIp, 1), (Skip::Malformed, 2), (Skip::Short, 1), (Skip::LinkType, 0)];
    for (reason, count) in expected {
        assert_eq!(counts.skipped(reason), count, "{reason:?}");
    }
    // Fragments without a first one and ESP have addresses.
    assert_eq!((counts.packets, counts.decoded), (7, 3));
    let others: Vec<_> = counts.other_protocols.iter().map(|(&number, of)| (number, of.packets)).collect();
    assert_eq!(others, [(FRAGMENT, 2), (50, 1)]);
    let wireless = read_bytes(&pcap(&frames, 127, false, false)).counts;
    assert_eq!(wireless.skipped(Skip::LinkType), 7);
}

#[test]
fn lengths_come_from_the_ip_header_and_not_from_the_snapshot() {
    let mut short = tcp(0, CLIENT, SERVER, 1, 0, ACK, 1000);
    short.captured = 60;
    let padded = at(1, [tcp(0, CLIENT, SERVER, 1001, 0, ACK, 1).bytes, vec![0; 5]].concat());
    let body = [tcp_header((CLIENT.1, SERVER.1), 1002, 0, ACK), vec![0; 500]].concat();
    let offload = at(2, ethernet(0x0800, &ipv4(CLIENT.0, SERVER.0, 6, &body, Some(0), 0)));
    let side = read_frames(&[short, padded, offload]).connections[0].from_opener.clone();
    assert_eq!((side.distinct_bytes, side.wire_bytes), (1501, 1040 + 41 + 540));
}

#[test]
fn ipv6_extension_headers_are_walked() {
    let body = [tcp_header((40_000, 443), 1, 0, ACK), vec![0; 100]].concat();
    let options = [6, 0, 1, 4, 0, 0, 0, 0];
    let packet = ipv6(0, &[&options[..], &body].concat(), 128);
    let read = read_frames(&[at(0, ethernet(0x86dd, &packet))]);
    let connection = &read.connections[0];
    assert_eq!(connection.opener.address.to_string(), "2001:db8::1");
    assert_eq!((connection.from_opener.payload_bytes, connection.from_opener.wire_bytes), (100, 168));
}

/// IPv6 of BIG TCP in Linux 7.2: a length of 0 without a hop-by-hop option; the frame tells the length.
#[test]
fn super_segments_of_ipv6_have_the_length_of_their_frame() {
    let body = [tcp_header((CLIENT.1, SERVER.1), 1, 0, ACK), vec![0; 198_504]].concat();
    let mut packet = ipv6(6, &body, 96);
    packet[4..6].fill(0);
    let mut frame = at(0, ethernet(0x86dd, &packet));
    frame.captured = 96;
    let side = read_frames(&[frame]).connections[0].from_opener.clone();
    assert_eq!((side.payload_bytes, side.wire_bytes), (198_504, 198_564));
}

#[test]
fn a_file_cut_anywhere_gives_what_was_whole() {
    for file in [pcap(&exchange(), 1, false, false), pcapng(&exchange(), 1, true, 6, 0)] {
        let mut seen = Vec::new();
        for length in 28..file.len() {
            let read = read_bytes(&file[..length]);
            seen.push(read.counts.decoded);
            assert_eq!(read.counts.packets, read.counts.decoded + read.counts.skipped(Skip::CutRecord));
            let ends = [read_bytes(&[&file[..length], &[0; 7][..]].concat()).counts.truncated, read.counts.truncated];
            assert!(ends[0] || ends[1], "length {length}");
        }
        assert!(seen.is_sorted(), "{seen:?}");
        assert_eq!(*seen.last().expect("lengths"), 3);
    }
    let zipped = gzip(&pcap(&exchange(), 1, false, false));
    assert!(read_bytes(&zipped[..zipped.len() - 30]).counts.truncated);
    let zipped = zstd(&pcap(&exchange(), 1, false, false), 50);
    assert!(read_bytes(&zipped[..zipped.len() - 30]).counts.truncated);
}

#[test]
fn an_absurd_length_ends_or_is_passed_over() {
    let mut file = pcap(&exchange(), 1, false, false);
    let last = file.len() - 354 - 16;
    file[last + 8..last + 12].copy_from_slice(&0xffff_fff0_u32.to_le_bytes());
    let read = read_bytes(&file);
    assert_eq!((read.counts.decoded, read.counts.skipped(Skip::CutRecord), read.counts.truncated), (3, 1, true));

    let mut long = pcap(&exchange()[..1], 1, false, false);
    let bytes = capture::MAX_BLOCK_BYTES + 1;
    for field in [2, 0, bytes as u32, bytes as u32] {
        long.extend(field.to_le_bytes());
    }
    long.resize(long.len() + bytes, 0);
    long.extend(&pcap(&exchange(), 1, false, false)[24..]);
    let read = read_bytes(&long);
    assert_eq!(read.counts.skipped(Skip::Oversized), 1);
    assert_eq!((read.counts.packets, read.counts.truncated), (6, false));
}

/// The account has the record within which a file ends, with its bytes on the wire as far as its header is there.
#[test]
fn the_record_that_a_file_cuts_is_in_the_account() {
    let whole = exchange();
    let last = whole.last().expect("a frame").bytes.len() as u64;
    for (file, header, kind) in [
        (pcap(&whole, 1, false, false), 16, "pcap"),
        (pcap(&whole, 1, true, true), 16, "pcap"),
        (pcapng(&whole, 1, false, 6, 0), 28, "pcapng"),
        (pcapng(&whole, 1, true, 9, 0), 28, "pcapng"),
    ] {
        let record = header + whole.last().expect("a frame").captured;
        let record = if kind == "pcapng" { record.next_multiple_of(4) + 4 } else { record };
        let begins = file.len() - record;
        let before = read_bytes(&file[..begins]).counts;
        assert!(!before.truncated);
        for held in 0..=record {
            let counts = read_bytes(&file[..begins + held]).counts;
            assert!(counts.account.is_exact());
            let left = counts.account.left_out(Reason::CutRecord);
            // The type of a block is its first word.
            let known = held > if kind == "pcapng" { 3 } else { 0 };
            let expected = match held {
                _ if held == record || !known => Amount::default(),
                _ if held < header => Amount::of(1, 0),
                _ => Amount::of(1, last),
            };
            assert_eq!(left, expected, "{kind}: {held} of {record} bytes");
            assert_eq!(
                counts.account.used(),
                if held == record { read_bytes(&file).counts.account.used() } else { before.account.used() }
            );
            assert_eq!(counts.truncated, held > 0 && held < record);
        }
    }
}

/// Statistics of an interface, with these counts of what it and the operating system dropped.
fn statistics(interface: u32, dropped: [u64; 2], big_endian: bool) -> Vec<u8> {
    let half = |value: u16| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let word = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut body = [word(interface), [0; 4], [0; 4]].concat();
    for (code, count) in [5, 7].into_iter().zip(dropped) {
        body.extend([half(code), half(8)].concat());
        body.extend(if big_endian { count.to_be_bytes() } else { count.to_le_bytes() });
    }
    body.extend([0; 4]);
    block(5, &body, big_endian)
}

#[test]
fn what_interfaces_dropped_is_their_latest_count() {
    for big_endian in [false, true] {
        let of = |dropped| statistics(0, dropped, big_endian);
        let section = pcapng(&exchange(), 1, big_endian, 6, 0);
        let dropped = |parts: &[Vec<u8>]| read_bytes(&parts.concat()).counts.dropped;
        assert_eq!(dropped(std::slice::from_ref(&section)), 0);
        // Counts run on; a second section counts anew; of an interface that is not there nothing is known.
        assert_eq!(dropped(&[section.clone(), of([3, 1]), of([40, 2])]), 42);
        assert_eq!(dropped(&[section.clone(), of([40, 2]), section.clone(), of([5, 0])]), 47);
        assert_eq!(dropped(&[section.clone(), statistics(7, [5, 0], big_endian)]), 0);
        assert_eq!(dropped(&[section.clone(), of([u64::MAX, 9])]), u64::MAX);
    }
}

#[test]
fn pcapng_packets_without_interface_or_time_are_counted() {
    let empty = pcapng(&[], 1, false, 6, 0);
    let section = empty[..28].to_vec();
    let packets = &pcapng(&exchange(), 1, false, 6, 0)[empty.len()..];
    let read = read_bytes(&[&section, packets].concat());
    assert_eq!((read.counts.packets, read.counts.skipped(Skip::NoInterface)), (4, 4));
    let simple = block(3, &[&60_u32.to_le_bytes()[..], &[0; 60]].concat(), false);
    assert_eq!(read_bytes(&[empty, simple].concat()).counts.skipped(Skip::NoInterface), 1);
}

#[test]
fn what_is_no_capture_is_refused_in_one_line() {
    let expected = ", expected pcap or pcapng, plain or in gzip, Zstandard or LZ4";
    let mut erf = vec![0; 88];
    (erf[8], erf[11], erf[15]) = (0x9b, 88, 60);
    let argus = [&[0x83, 0x10, 0, 0x20, 0, 0, 0, 0, 0xe5, 0x71, 0x2d, 0xcb][..], &[0; 100]].concat();
    let cases: [(&[u8], &str); 19] = [
        (b"start_s,size_bytes\n", "a flow list of Mayfly (use it with compare --flows)"),
        (b"#separator \\x09\n", "a log of Zeek (use it with compare --flows)"),
        (b"{\"ts\":1,\"id.orig_h\":\"10.0.0.1\"}\n", "a log of Zeek (use it with compare --flows)"),
        (b"firstSeen,duration,proto,srcAddr,srcPort\n", "NetFlow of nfdump (use it with compare --flows)"),
        (b"ts,te,td,sa,da,sp,dp,pr\n", "NetFlow of nfdump (use it with compare --flows)"),
        (b"[\n {\n  \"cnt\": 1,\n  \"in_packets\": 1", "NetFlow of nfdump (use it with compare --flows)"),
        (
            &[0x0c, 0xa5, 2, 0, 0, 1, 7, 1],
            "NetFlow of nfcapd (write it by nfdump -r FILE -o csv; compare --flows reads that)",
        ),
        (&argus, "records of Argus (they are not read: use the capture, or NetFlow of nfdump)"),
        (
            b"{\"metadata\": {\"DATA_FILENAME\": \"rrul.flent.gz\"}}",
            "a result of flent (it has no packets: use the capture of its test)",
        ),
        (b"words, and more", "text starting \"words, a\""),
        (b"\x00\x01\x02\x03", "bytes 00 01 02 03"),
        (b"PK\x03\x04zip", "a zip archive"),
        (b"\x02\x21\x4c\x18\x64\x40\xa7", "LZ4 data of the legacy format (decompress it: lz4 -d)"),
        (b"\xfd7zXZ\0", "xz data (decompress it: xz -d)"),
        (b"BZh91AY", "bzip2 data (decompress it: bzip2 -d)"),
        (b"snoop\0\0\0\0\0\0\x02", "a snoop capture (convert it: editcap -F pcap)"),
        (b"GMBU\0\x02", "a Network Monitor 2 capture (convert it: editcap -F pcap)"),
        (&erf, "records of ERF (convert it: editcap -F pcap)"),
        (&[0xd4, 0xc3, 0xb2, 0xa1, 2, 0], "a pcap header cut off after 6 bytes"),
    ];
    assert_eq!(refusal(b""), "empty file, not a capture");
    for (file, found) in cases {
        assert_eq!(refusal(file), format!("not a capture: found {found}{expected}"));
    }
    assert!(refusal(&gzip(&gzip(b"x"))).contains("found gzip inside gzip"));
    assert!(refusal(&gzip(b"hello, w")).contains("inside gzip"));
    assert!(refusal(&zstd(b"hello, w", 8)).contains("text starting \"hello, w\" inside Zstandard"));
    assert!(refusal(&[0x28, 0xb5, 0x2f, 0xfd, 0xff]).contains("nothing readable inside Zstandard"));
    assert!(refusal(&lz4(b"hello, w", false)).contains("text starting \"hello, w\" inside LZ4"));
    // A frame to be skipped, cut off in its head: nothing says what would have come.
    assert!(refusal(&[0x53, 0x2a, 0x4d, 0x18, 3]).contains("Zstandard"));
    assert!(refusal(b"\x04\x22\x4d\x18\x64\x40\xa8").contains("nothing readable inside LZ4"));
    assert!(refusal(b"\n\r\r\nplain text").contains("broken pcapng section header"));
}

/// Some programs wrote longer record headers under the magic of others: Red Hat 6.1 24 bytes, Nokia 20, SuSE 6.3 28.
#[test]
fn record_headers_of_other_programs_are_named() {
    let with = |magic: u32, extra: usize| {
        let mut file = pcap(&[], 1, false, false);
        file[..4].copy_from_slice(&magic.to_le_bytes());
        for frame in exchange() {
            let bytes = frame.bytes.len() as u32;
            for field in [1_700_000_000, (frame.time_us % 1_000_000) as u32, bytes, bytes] {
                file.extend(field.to_le_bytes());
            }
            file.extend(vec![0; extra]);
            file.extend(&frame.bytes);
        }
        file
    };
    for (magic, extra, whose) in
        [(0xa1b2_c3d4, 8, "Red Hat 6.1"), (0xa1b2_c3d4, 4, "Nokia"), (0xa1b2_cd34, 12, "SuSE 6.3")]
    {
        let found = format!("found a pcap with the record headers of {whose} (convert it: editcap -F pcap)");
        assert!(refusal(&with(magic, extra)).contains(&found), "{}", refusal(&with(magic, extra)));
    }
    assert_is_exchange(&read_bytes(&with(0xa1b2_c3d4, 0)), "standard");
    assert_is_exchange(&read_bytes(&with(0xa1b2_cd34, 8)), "modified");
}

#[test]
fn nanoseconds_in_a_file_of_microseconds_are_read_as_such() {
    let mut file = pcap(&exchange(), 1, false, true);
    assert!(!read_bytes(&file).counts.nanoseconds);
    file[..4].copy_from_slice(&0xa1b2_c3d4_u32.to_le_bytes());
    let read = read_bytes(&file);
    assert_is_exchange(&read, "nanoseconds");
    assert!(read.counts.nanoseconds);
    assert!(!read_bytes(&pcap(&exchange(), 1, false, false)).counts.nanoseconds);
    // One number that is damaged makes no nanoseconds of the others.
    let mut file = pcap(&exchange(), 1, false, false);
    let second = 24 + 16 + exchange()[0].captured;
    file[second + 4..second + 8].copy_from_slice(&2_000_000_u32.to_le_bytes());
    let read = read_bytes(&file);
    assert!(!read.counts.nanoseconds);
    assert_eq!(read.connections[0].end_ns, 60_000_000);
}

/// A damaged length field does not make bytes that were not on the wire; but some programs cut packets and write what is
/// left as the length of the frame, and there IP knows better.
#[test]
fn an_ip_length_beyond_the_frame_is_damage_where_the_frame_is_whole() {
    let segment = |seq: u32| tcp(u64::from(seq), CLIENT, SERVER, seq, 0, ACK, 1448);
    let mut damaged = segment(1449);
    damaged.bytes[16..18].copy_from_slice(&29_492_u16.to_be_bytes());
    let short = |seq: u32| {
        let mut frame = segment(seq);
        frame.bytes.truncate(200);
        frame.captured = 200;
        frame
    };
    let read = read_frames(&[segment(1), damaged, segment(2897)]);
    assert_eq!((read.counts.packets, read.counts.decoded, read.counts.skipped(Skip::Malformed)), (3, 2, 1));
    assert_eq!(read.connections[0].from_opener.payload_bytes, 2 * 1448);
    // No longer than another: some programs cut the packets of some protocols.
    let one = read_frames(&[segment(1), short(1449)]);
    assert_eq!((one.counts.decoded, one.connections[0].from_opener.payload_bytes), (2, 2 * 1448));
    // Nothing longer is there: cut by a program that did not write the length.
    let cut = read_frames(&[short(1), short(1449), short(2897)]);
    assert_eq!((cut.counts.decoded, cut.connections[0].from_opener.payload_bytes), (3, 3 * 1448));
    // Cut by the snapshot length.
    let mut file = pcap(&[segment(1), short(1449)], 1, false, false);
    file[16..20].copy_from_slice(&200_u32.to_le_bytes());
    assert_eq!(read_bytes(&file).counts.decoded, 2);
}

#[test]
fn no_length_field_is_believed_beyond_a_whole_frame() {
    let big = tcp(0, CLIENT, SERVER, 1, 0, ACK, 1448);
    let whole = |packet: Vec<u8>, ether_type: u16| at(10, ethernet(ether_type, &packet));
    let datagram = |ports: (u16, u16)| [&udp_header(ports, 100)[..], &[5; 100]].concat();
    let lying = |mut body: Vec<u8>| {
        body[4..6].copy_from_slice(&60_000_u16.to_be_bytes());
        body
    };
    // A total length of IPv4 and a payload length of IPv6 of another packet, also where the protocol is not read.
    for (bytes, ether_type) in [
        (ipv4([1; 4], [2; 4], 17, &datagram((1, 2)), Some(30_000), 0), 0x0800),
        (ipv4([1; 4], [2; 4], 50, &datagram((1, 2)), Some(30_000), 0), 0x0800),
        (ipv6(17, &datagram((1, 2)), 30_000), 0x86dd),
    ] {
        let read = read_frames(&[big.clone(), whole(bytes, ether_type)]);
        assert_eq!((read.counts.decoded, read.counts.skipped(Skip::Malformed)), (1, 1));
    }
    // The length of UDP says nothing that IP does not, and 0 in that of IP is the length of the frame.
    for (bytes, ether_type) in [
        (ipv4([1; 4], [2; 4], 17, &lying(datagram((1, 2))), None, 0), 0x0800),
        (ipv4([1; 4], [2; 4], 17, &datagram((1, 2)), Some(0), 0), 0x0800),
        (ipv6(17, &lying(datagram((1, 2))), 108), 0x86dd),
        (ipv6(17, &datagram((1, 2)), 0), 0x86dd),
    ] {
        let length = bytes.len() as u64;
        let read = read_frames(&[big.clone(), whole(bytes, ether_type)]);
        let side = &read.connections[1].from_opener;
        assert_eq!((side.wire_bytes, side.payload_bytes), (length, 100));
    }
}

#[test]
fn the_caller_can_stop_the_reading_and_bounds_are_checked() {
    let file = pcap(&exchange(), 1, false, false);
    let stopped = read(&file[..], &Options::default(), &mut || false);
    assert!(matches!(stopped, Err(CaptureError::Cancelled)));
    let none = read(&file[..], &Options { max_flows: 0, ..Options::default() }, &mut || true);
    assert_eq!(none.expect_err("bound").to_string(), "max_flows is 0, must be at least 1");
}
