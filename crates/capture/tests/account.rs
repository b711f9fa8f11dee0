//! The account of a reading: what was seen is what was used and what was left out, in packets and bytes.

use capture::{Account, Amount, Capture, Go, Options, Reason, Seen, Unit, Watch, read, read_merged};

use crate::wire::*;

/// IP bytes of a frame of Ethernet over IPv4 without tags.
fn ip_bytes(frame: &Frame) -> u64 {
    u64::from(u16::from_be_bytes([frame.bytes[16], frame.bytes[17]]))
}

fn sum(frames: &[Frame]) -> Amount {
    frames.iter().map(|frame| Amount::of(1, ip_bytes(frame))).fold(Amount::default(), Amount::and)
}

fn in_table(read: &Capture) -> Amount {
    let sides = read.connections.iter().flat_map(|one| [&one.from_opener, &one.from_responder]);
    sides.map(|side| Amount::of(side.packets, side.wire_bytes)).fold(Amount::default(), Amount::and)
}

fn read_with(frames: &[Frame], options: &Options) -> Capture {
    read(&pcap(frames, 1, false, false)[..], options, &mut || true).expect("a capture")
}

/// Each of so many clients sends a datagram, one after another.
fn clients(count: u64, payload: usize) -> Vec<Frame> {
    let one = |index: u64| udp(index * 1_000, ([10, 0, (index >> 8) as u8, index as u8], 4_000), SERVER, payload);
    (0..count).map(one).collect()
}

#[test]
fn every_reason_has_its_packets_and_bytes() {
    let good = clients(3, 100);
    let protocol =
        |number: u8| at(9_000, ethernet(0x0800, &ipv4([10, 0, 0, 9], [192, 0, 2, 1], number, &[7; 60], None, 0)));
    let mut arp = ethernet(0x0806, &[0; 28]);
    arp.resize(60, 0);
    let mut cut = udp(9_100, CLIENT, SERVER, 100);
    cut.captured = 36;
    let mut frames = good.clone();
    frames.extend([protocol(50), protocol(47), protocol(89), at(9_050, arp), cut]);
    let file = pcap(&frames, 1, false, false);
    let read = read(&file[..], &Options::default(), &mut || true).expect("a capture");
    let account = &read.counts.account;
    assert!(account.is_exact());
    // Protocols whose headers are not read are load.
    assert_eq!((account.unit(), account.used()), (Unit::Packets, sum(&good).and(Amount::of(3, 240))));
    assert_eq!(account.used(), in_table(&read));
    assert_eq!(account.left_out(Reason::NotIp), Amount::of(1, 60));
    assert_eq!(account.seen().count, 8);
    assert_eq!(account.left_out(Reason::CutHeader), Amount::of(1, 128));
}

#[test]
fn headers_around_a_tunnel_are_load() {
    let inner = ipv4([10, 1, 0, 1], [10, 1, 0, 2], 17, &[&[0, 9, 0, 9, 0, 28, 0, 0][..], &[1; 20]].concat(), None, 0);
    let frames = [at(1_000, ethernet(0x0800, &ipv4([10, 0, 0, 9], [192, 0, 2, 1], 4, &inner, None, 0)))];
    let [outside, inside] = [false, true].map(|tunnels| read_with(&frames, &Options { tunnels, ..Options::default() }));
    let accounts = [&outside.counts.account, &inside.counts.account];
    assert_eq!(accounts.map(Account::seen), [Amount::of(1, 68); 2]);
    assert_eq!(accounts.map(Account::used), [Amount::of(1, 68); 2]);
    assert_eq!([&outside, &inside].map(in_table), [Amount::of(1, 68); 2]);
    assert_eq!([&outside, &inside].map(|read| read.connections[0].ip_protocol), [4, 17]);
}

#[test]
fn connections_given_up_are_left_out_by_the_bound_that_was_reached() {
    let frames = clients(100, 50);
    for (options, reason) in [
        (Options { max_flows: 10, ..Options::default() }, Reason::Evicted),
        (Options { max_held: 10, ..Options::default() }, Reason::Budget),
    ] {
        let read = read_with(&frames, &options);
        let account = &read.counts.account;
        assert!(account.is_exact());
        assert_eq!((account.seen(), account.used()), (sum(&frames), in_table(&read)));
        assert_eq!(account.left_out(reason), sum(&frames[..90]));
        assert_eq!(account.left_out_total(), sum(&frames[..90]));
    }
}

/// Ends the reading at its third look.
struct Impatient(u32);

impl Watch for Impatient {
    fn look(&mut self, _: Seen) -> Go {
        self.0 += 1;
        if self.0 < 3 { Go::On } else { Go::Stop }
    }
}

#[test]
fn packets_that_wait_for_other_files_when_the_reading_ends_are_left_out() {
    // The second file begins when the first is over: packets of the first wait within the window.
    let first = clients(20_000, 20);
    let files = [pcap(&first, 1, false, false), pcap(&first, 1, false, false)];
    let options = Options { window_ns: 10_000_000_000, ..Options::default() };
    let read =
        read_merged(files.iter().map(|file| &file[..]).collect(), &options, &mut Impatient(0)).expect("captures");
    let account = &read.counts.account;
    assert!(read.counts.stopped && account.is_exact(), "{account:?}");
    assert!(account.left_out(Reason::Budget).count > 0);
    assert_eq!(account.used(), in_table(&read));
}
