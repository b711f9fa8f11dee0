//! Captures split into shards: nothing is lost, and the connections of all shards are those of one process.

use std::path::{Path, PathBuf};

use capture::{
    Capture, CaptureError, Connection, Counts, FRAGMENT, Options, Skip, Volumes, read_files, read_shard, split_files,
};

use crate::wire::*;

const LIMITS: Options = Options {
    max_flows: 100_000,
    max_held: 100_000,
    tunnels: false,
    window_ns: 0,
    duplicates: capture::Duplicates::Keep,
    duplicate_ns: 0,
    clocks: false,
    series: true,
    max_trains: 1_000_000,
    pauses: false,
    max_packets: 1_000_000,
    packets_of_tcp: true,
    max_volumes: 1 << 20,
    volumes_to: None,
    volumes_in_time: false,
    ideal: capture::Ideal { initial_window: 1, delayed_ack: true },
    sieve: capture::Sieve::NONE,
};

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("mayfly-shards-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Folder(folder)
    }

    fn written(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    }

    fn shards(&self, count: usize) -> Vec<PathBuf> {
        (0..count).map(|place| self.0.join(format!("{count}-{place}.shard"))).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn of_shard(path: &Path, options: &Options, counts: &Counts) -> Capture {
    read_shard(path, options, counts.first_ns, &mut || true, None).expect("a shard")
}

/// All that a reading found, with rows numbered by the first packets of their connections.
fn together(shards: &[Capture], options: &Options, mut counts: Counts) -> Capture {
    let mut numbers: Vec<u64> = shards.iter().flat_map(|shard| shard.serials.iter().copied()).collect();
    numbers.sort_unstable();
    let row_of = |shard: &Capture, row: u64| numbers.binary_search(&shard.serials[row as usize]).expect("a row") as u64;
    let mut rows: Vec<(u64, Connection)> = Vec::new();
    let mut all = Capture::default();
    let mut volumes = Volumes::with_limit(options.max_volumes);
    for shard in shards {
        counts.add_shard(&shard.counts);
        rows.extend(shard.serials.iter().copied().zip(shard.connections.iter().cloned()));
        all.trains.extend(
            shard.trains.iter().map(|&train| capture::Train { connection: row_of(shard, train.connection), ..train }),
        );
        all.packets.extend(
            shard
                .packets
                .iter()
                .map(|&packet| capture::Packet { connection: row_of(shard, packet.connection), ..packet }),
        );
        let (width_ns, first_ns) = (shard.counts.volume_width_ns, counts.first_ns.unwrap_or(0));
        let windows = shard.volumes.iter().map(|&volume| capture::Volume {
            connection: row_of(shard, volume.connection),
            start_ns: (volume.start_ns + first_ns).div_euclid(width_ns),
            ..volume
        });
        volumes.add_rows(width_ns, windows, shard.counts.volumes_left_out);
    }
    rows.sort_by_key(|(number, _)| *number);
    all.connections = rows.into_iter().map(|(_, row)| row).collect();
    all.serials = (0..all.connections.len() as u64).collect();
    all.trains.sort_by_key(|train| (train.connection, train.start_ns, train.end_ns));
    all.packets.sort_by_key(|packet| packet.connection);
    (all.volumes, counts.volume_width_ns, counts.volumes_left_out) = volumes.finish();
    for volume in &mut all.volumes {
        volume.start_ns = volume.start_ns * counts.volume_width_ns - counts.first_ns.unwrap_or(0);
    }
    all.counts = counts;
    all
}

fn same(folder: &Folder, captures: &[PathBuf], options: &Options) -> Capture {
    let whole = read_files(captures, options, &mut || true).expect("captures");
    for count in [1, 2, 5, 16] {
        let paths = folder.shards(count);
        let counts = split_files(captures, options, &mut || true, &paths).expect("shards");
        let shards: Vec<Capture> = paths.iter().map(|path| of_shard(path, options, &counts)).collect();
        let kept: u64 = shards.iter().map(|shard| shard.counts.packets).sum();
        assert_eq!(kept, counts.decoded, "{count} shards");
        let found = together(&shards, options, counts);
        assert_eq!(format!("{:?}", found.connections), format!("{:?}", whole.connections), "{count} shards");
        assert_eq!(found.trains, whole.trains);
        assert_eq!(found.packets, whole.packets);
        assert_eq!(found.volumes, whole.volumes);
        assert_eq!(found.counts, whole.counts);
        assert_eq!(found.serials, whole.serials);
    }
    whole
}

fn repository(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

#[test]
fn an_office_is_the_same_from_shards() {
    let folder = Folder::new("office");
    let office = [repository("captures/office.pcap.gz")];
    let whole = same(&folder, &office, &LIMITS);
    assert_eq!((whole.connections.len(), whole.counts.packets, whole.counts.decoded), (707, 71_394, 71_390));
    // More rows than are allowed: wider windows, and the same ones.
    let few = Options { max_volumes: 3_000, ..LIMITS };
    assert!(same(&folder, &office, &few).counts.volume_width_ns > 1_000_000);
    assert!(same(&folder, &office, &Options { max_volumes: 500, ..LIMITS }).counts.account.is_exact());
}

#[test]
fn captures_with_oddities_are_the_same_from_shards() {
    let folder = Folder::new("oddities");
    let shared = repository("../shared/data/pcap");
    let names = ["enterprise_ad_lab.pcap.gz", "access_app_mix.pcap.gz", "ndt_speedtest_v6.pcap.gz"];
    let present: Vec<PathBuf> = names.iter().map(|name| shared.join(name)).filter(|path| path.exists()).collect();
    for path in present.into_iter().chain([repository("tests/data/tiny.pcapng.gz")]) {
        for tunnels in [false, true] {
            let read = same(&folder, std::slice::from_ref(&path), &Options { tunnels, ..LIMITS });
            assert!(read.counts.account.is_exact());
        }
    }
}

/// Connections of many hosts, datagrams in fragments, echoes, errors about them, and what is skipped.
fn mixed() -> Vec<Frame> {
    let mut frames = Vec::new();
    for index in 0..200_u64 {
        let client: End = ([10, 0, (index % 7) as u8, (index % 50) as u8], 5_000 + index as u16);
        let begin = index * 1_500;
        frames.extend([
            tcp(begin, client, SERVER, 9, 0, SYN, 0),
            tcp(begin + 2_000, SERVER, client, 99, 10, SYN | ACK, 0),
            tcp(begin + 4_000, client, SERVER, 10, 100, ACK, 50),
            tcp(begin + 6_000, SERVER, client, 100, 60, ACK | FIN, 200),
            tcp(begin + 8_000, client, SERVER, 60, 301, ACK | FIN, 0),
        ]);
        let mut first = udp_header((client.1, 53), 3_000);
        first.resize(1_480, 7);
        let fragment = |body: &[u8], offset: u16, time: u64| {
            let mut packet = ipv4(client.0, SERVER.0, 17, body, None, offset);
            packet[4..6].copy_from_slice(&(index as u16).to_be_bytes());
            at(begin + time, ethernet(0x0800, &packet))
        };
        frames.extend([
            fragment(&first, 0x2000, 1),
            fragment(&[7; 1_480], 0x2000 | 185, 3),
            fragment(&[7; 48], 370, 7),
        ]);
        let icmp = |from: End, to: End, kind: u8, time: u64| {
            at(begin + time, ethernet(0x0800, &ipv4(from.0, to.0, 1, &[kind, 3, 0, 0, 0, 0, 0, 0], None, 0)))
        };
        frames.extend([icmp(client, SERVER, 8, 11), icmp(SERVER, client, 0, 900), icmp(SERVER, client, 3, 950)]);
        frames.push(at(begin + 20, ethernet(0x0806, &[0; 28])));
        // Of a datagram whose first fragment nobody saw.
        frames.push(at(begin + 30, ethernet(0x0800, &ipv4([10, 9, 9, 9], client.0, 17, &[7; 40], None, 185))));
    }
    frames.sort_by_key(|frame| frame.time_us);
    // A clock that was set back.
    let last = frames.len() - 300;
    frames[last].time_us -= 10_000;
    frames
}

#[test]
fn both_directions_fragments_and_echoes_are_in_one_shard() {
    let folder = Folder::new("mixed");
    let capture = [folder.written("mixed.pcap", &pcap(&mixed(), 1, false, false))];
    let whole = same(&folder, &capture, &LIMITS);
    assert_eq!(whole.counts.skipped(Skip::NotIp), 200);
    assert_eq!((whole.counts.other_protocols[&FRAGMENT].packets, whole.counts.fragments), (200, 400));
    let paths = folder.shards(5);
    let counts = split_files(&capture, &LIMITS, &mut || true, &paths).expect("shards");
    let shards: Vec<Capture> = paths.iter().map(|path| of_shard(path, &LIMITS, &counts)).collect();
    // None is empty, and none has half of all.
    for shard in &shards {
        assert!((1..whole.connections.len() / 2).contains(&shard.connections.len()));
        let two_way = |row: &&Connection| row.from_opener.packets > 0 && row.from_responder.packets > 0;
        let tcp = |row: &&Connection| row.protocol == capture::Protocol::Tcp;
        assert!(shard.connections.iter().filter(tcp).all(|row| two_way(&row)));
    }
    let rows: usize = shards.iter().map(|shard| shard.connections.len()).sum();
    assert_eq!(rows, whole.connections.len());
}

#[test]
fn files_that_follow_one_another_are_split_as_one() {
    let folder = Folder::new("series");
    let frames = mixed();
    let parts = [2, 0, 1].map(|part| {
        let from = part * frames.len() / 3;
        let until = (part + 1) * frames.len() / 3;
        folder.written(&format!("{part}.pcap"), &pcap(&frames[from..until], 1, part == 1, false))
    });
    let whole = same(&folder, &parts, &LIMITS);
    assert_eq!(whole.counts.packets, frames.len() as u64);
}

#[test]
fn what_must_be_merged_is_refused() {
    let folder = Folder::new("overlap");
    let one = folder.written("one.pcap", &pcap(&mixed(), 1, false, false));
    let two = folder.written("two.pcap", &pcap(&mixed(), 1, false, false));
    for paths in [[one.clone(), two], [one, PathBuf::from("-")]] {
        let found = split_files(&paths, &LIMITS, &mut || true, &folder.shards(2));
        assert!(matches!(found, Err(CaptureError::NoSeries)), "{found:?}");
    }
}

#[test]
fn a_shard_that_is_not_whole_is_refused() {
    let folder = Folder::new("damaged");
    let capture = [folder.written("mixed.pcap", &pcap(&mixed(), 1, false, false))];
    let paths = folder.shards(1);
    let counts = split_files(&capture, &LIMITS, &mut || true, &paths).expect("a shard");
    assert!(counts.account.is_exact());
    let whole = std::fs::read(&paths[0]).expect("a shard");
    for length in [0, 7, 8, 9, whole.len() / 2, whole.len() - 1] {
        let path = folder.written("cut.shard", &whole[..length]);
        let found = read_shard(&path, &LIMITS, None, &mut || true, None);
        assert!(matches!(found, Err(CaptureError::Shard)), "{length}");
    }
    for at in (0..whole.len()).step_by(97) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x5a;
        // It may pass for another capture; it does no harm.
        drop(read_shard(&folder.written("damaged.shard", &damaged), &LIMITS, None, &mut || true, None));
    }
    let stopped = read_shard(&paths[0], &LIMITS, None, &mut || false, None);
    assert!(matches!(stopped, Err(CaptureError::Cancelled)));
}
