//! Tables of RFC 9768, and two hosts that tell each other of what a network does.

use qdisc::Ecn;
use units::Time;

use super::option::fitted;
use super::report::AccEcnReport;
use super::{Counts, Habits, Host, Marks, Mode, News};

fn told(ecn: Ecn, payload: u32, ace: u8) -> AccEcnReport {
    AccEcnReport { ecn, payload, ace, counts: None, selective: false, bare: payload == 0 }
}

/// An acknowledgement of so many segments of 1000 bytes.
fn news(segments: u32) -> News {
    News { segments, bytes: 1000 * segments, progress: segments > 0, syn: false, mss: 1000, sent_bytes: 0, exact: true }
}

/// A client and a server after a handshake in which the network made `syn` of the SYN and `answer` of its answer.
fn connected(syn: Ecn, answer: Ecn) -> [Host; 2] {
    let [mut client, mut server] = [Host::default(); 2];
    let ace = client.syn(0);
    server.on_opening(&told(syn, 0, ace));
    let (ace, counts) = server.syn_ack(0, false);
    client.on_opening(&AccEcnReport { counts, ..told(answer, 0, ace) });
    let (counts, ..) = client.option(0, false, None, Time::ZERO, 0);
    let ace = client.ace();
    server.on_arrival(&AccEcnReport { counts, ..told(Ecn::Ect0, 0, ace) }, None, true);
    [client, server]
}

/// RFC 9768, table 2: what a client that asks for AccECN makes of the flags of a SYN-ACK, and a server of those of a SYN.
#[test]
fn the_flags_of_the_handshake_settle_what_both_speak() {
    let answered = |ace| {
        let mut client = Host::default();
        assert_eq!(client.syn(0), 7);
        client.on_opening(&told(Ecn::NotEct, 0, ace));
        client.mode
    };
    let client = [Mode::Off, Mode::Classic, Mode::Accurate, Mode::Accurate];
    assert_eq!([0, 1, 2, 3].map(answered), client);
    assert_eq!([4, 5, 6, 7].map(answered), [Mode::Accurate, Mode::Accurate, Mode::Accurate, Mode::Off]);
    let asked = |ace| {
        let mut server = Host::default();
        server.on_opening(&told(Ecn::NotEct, 0, ace));
        server.mode
    };
    // 3.1.2: all but 000 and 011 ask for it.
    assert_eq!([0, 3].map(asked), [Mode::Off, Mode::Classic]);
    assert_eq!([1, 2, 4, 5, 6, 7].map(asked), [Mode::Accurate; 6]);
}

/// RFC 9768, table 2, first block, and the option with its beginnings 1, 0 and 1 (3.2.3.2.4).
#[test]
fn a_syn_ack_tells_how_the_syn_came() {
    for (ecn, ace) in [(Ecn::NotEct, 2), (Ecn::Ect1, 3), (Ecn::Ect0, 4), (Ecn::Ce, 6)] {
        let mut server = Host::default();
        server.on_opening(&told(ecn, 0, 7));
        let full = Counts { ect1_first: true, fields: 3, values: [1, 0, 1] };
        assert_eq!(server.syn_ack(0, false), (ace, Some(full)));
        // 3.1.4.2: without the option first, then without the flags.
        assert_eq!([1, 2].map(|timeouts| server.syn_ack(timeouts, true)), [(ace, None), (0, None)]);
        assert_eq!(server.codepoint(Ecn::Ect0), Ecn::NotEct, "whose flags may be dropped sends no ECT");
        let [mut client, _] = connected(Ecn::NotEct, ecn);
        client.on_opening(&told(ecn, 0, 2));
        assert_eq!(client.ace(), ace, "so does what answers a SYN that comes late");
    }
}

/// RFC 9768, table 4, and 3.2.2.4: a zero field is no value; feedback that no network can cause ends ECT, not AccECN.
#[test]
fn mangled_fields_end_what_cannot_be_relied_upon() {
    let third = |ace: u8, fallback| {
        let mut server = Host::default();
        server.habits = Habits { fallback, ..Habits::default() };
        server.on_opening(&told(Ecn::NotEct, 0, 7));
        server.syn_ack(0, false);
        server.on_arrival(&told(Ecn::Ect0, 0, ace), None, true);
        assert_eq!(server.mode, Mode::Accurate);
        (server.codepoint(Ecn::Ect0), server.delivered().0)
    };
    let sent = [0, 1, 2, 3, 4, 5, 6, 7].map(|ace| third(ace, true).0 == Ecn::Ect0);
    assert_eq!(sent, [false, true, true, false, false, true, false, true]);
    // Without the check the mark of the SYN-ACK counts.
    assert_eq!(([6, 4].map(|ace| third(ace, false))), [(Ecn::Ect0, 1), (Ecn::Ect0, 0)]);
}

#[test]
fn a_syn_asks_twice_and_then_for_nothing() {
    let mut client = Host::default();
    assert_eq!([0, 1, 2, 3].map(|timeouts| client.syn(timeouts)), [7, 7, 0, 0]);
    client.on_opening(&told(Ecn::NotEct, 0, 2));
    assert_eq!(client.mode, Mode::Accurate, "an answer to one of the first two says what it says");
}

/// Bytes that are left for the option, and what fits (RFC 9768, 3.2.3.3; tcp_options_fit_accecn): the end of an option takes
/// the place of the padding before SACK blocks.
#[test]
fn the_option_takes_the_room_that_blocks_leave() {
    let none = fitted(0, 0, false);
    assert_eq!(none, Some((3, 0, 12)));
    assert_eq!(fitted(0, 3, false), Some((3, 3, 12)));
    assert_eq!(fitted(0, 4, false), Some((1, 4, 4)));
    assert_eq!([1, 2, 3].map(|blocks| fitted(0, blocks, true)), [Some((3, 1, 12)), Some((2, 2, 8)), Some((0, 3, 0)),]);
    // Counts that have changed are worth a block, one at most.
    assert_eq!(fitted(2, 3, true), Some((2, 2, 8)));
    assert_eq!((fitted(3, 3, true), fitted(3, 2, true)), (None, None));
}

/// A network that marks at random, acknowledgements of one to seven segments, some lost: the field alone tells every mark, as
/// the whole count of the RFCs' ends does.
#[test]
fn the_field_tells_what_the_whole_count_tells() {
    let [mut sender, mut receiver] = connected(Ecn::NotEct, Ecn::NotEct);
    let (mut count, mut seen) = (Marks::default(), Marks::default());
    let mut state = 1_u32;
    let mut next = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    let (mut covered, mut marks) = (0, 0);
    for _ in 0..2000 {
        let segments = 1 + next(3);
        for _ in 0..segments {
            let marked = next(3) == 0;
            receiver.on_arrival(&told(if marked { Ecn::Ce } else { Ecn::Ect0 }, 1000, 5), None, true);
            count.count(marked);
            marks += u32::from(marked);
        }
        covered += segments;
        let ace = receiver.ace();
        let whole = count.whole();
        // One of three acknowledgements is lost, unless the next one would cover more than seven segments.
        if covered <= 4 && next(3) == 0 {
            continue;
        }
        assert_eq!(sender.take(&told(Ecn::Ect0, 0, ace), &news(covered)), seen.take(whole));
        covered = 0;
    }
    assert_eq!((sender.delivered().0, receiver.received().0), (seen.whole(), marks));
    assert!(marks > 1000);
}

/// Acknowledgements of more than seven segments: with an option its bytes say how often the field has wrapped (RFC 9768,
/// A.2.1); without one the more careful reading holds, unless acknowledgements are always that thin.
#[test]
fn the_option_decides_what_the_field_leaves_open() {
    // Of 20 segments so many are marked.
    for (marked, option) in [(0, true), (1, true), (9, true), (17, true), (20, true), (1, false)] {
        let [mut sender, mut receiver] = connected(Ecn::NotEct, Ecn::NotEct);
        let mut tell = |sender: &mut Host, segments: u32, marked: u32| {
            for n in 0..segments {
                receiver.on_arrival(&told(if n < marked { Ecn::Ce } else { Ecn::Ect0 }, 1000, 5), None, true);
            }
            let (counts, ..) = receiver.option(0, false, None, Time::ZERO, 0);
            let ace = receiver.ace();
            sender.take(&AccEcnReport { counts: counts.filter(|_| option), ..told(Ecn::Ect0, 0, ace) }, &news(segments))
        };
        // The first option only begins the counts.
        tell(&mut sender, 1, 0);
        let found = tell(&mut sender, 20, marked);
        let careful = 20 - (20 - marked) % 8;
        assert_eq!(found, if option { marked } else { careful }, "{marked} {option}");
        if option {
            assert_eq!(sender.delivered().1, [0, 1000 * marked, 1000 * (21 - marked)]);
        }
    }
}

#[test]
fn counts_of_24_bits_go_on_beyond_them_and_old_ones_take_back_nothing() {
    let mut delivered = [0; 3];
    let steps = [5_000_000_u32, 10_000_000, 15_000_000, 20_000_000, 40_000_000 - 16_777_216];
    for sum in steps {
        Counts::of([0, 0, sum], 3).take(&mut delivered);
        assert_eq!(delivered, [0, 0, sum]);
    }
    let [mut sender, mut receiver] = connected(Ecn::NotEct, Ecn::NotEct);
    for _ in 0..3 {
        receiver.on_arrival(&told(Ecn::Ect0, 1000, 5), None, true);
    }
    let (counts, ..) = receiver.option(0, false, None, Time::ZERO, 0);
    let late = AccEcnReport { counts, ..told(Ecn::Ect0, 0, 6) };
    // No news: it may be older than another one.
    assert_eq!(sender.take(&late, &news(0)), 0);
    assert_eq!(sender.delivered(), (0, [0; 3]));
    assert_eq!(sender.take(&late, &news(3)), 1);
    assert_eq!(sender.delivered(), (1, [0, 0, 3000]));
}

/// `tcp_ecn_option`: 0 never, 1 when something has changed or a third of a round trip has passed, 2 always, 3 also on a path that
/// seems to drop the option.
#[test]
fn the_option_leaves_as_often_as_a_host_is_set_to() {
    let options = |option, drops| {
        let [_, mut server] = connected(Ecn::NotEct, Ecn::NotEct);
        server.habits.option = option;
        let at = |server: &mut Host, ms| server.option(0, false, None, Time::from_millis(ms), 30_000).0.is_some();
        let mut left = Vec::new();
        for (ms, ecn) in [(100, Ecn::Ect0), (101, Ecn::Ect0), (102, Ecn::Ect0), (104, Ecn::Ce)] {
            server.on_arrival(&told(ecn, 1000, 5), None, true);
            left.push(at(&mut server, ms));
        }
        left.extend([106, 107, 118].map(|ms| at(&mut server, ms)));
        if drops {
            server.option(1, false, Some(4), Time::from_millis(200), 30_000);
            server.on_twice(4);
            left.push(at(&mut server, 300));
        }
        left
    };
    assert_eq!(options(0, false), [false; 7]);
    // The first code point after the handshake is another one, and each change is told twice.
    assert_eq!(options(1, false), [true, true, false, true, true, false, true]);
    assert_eq!(options(2, false), [true; 7]);
    assert_eq!([2, 3].map(|option| options(option, true)[7]), [false, true]);
}

#[test]
fn a_change_of_code_point_and_six_marks_are_acknowledged_at_once() {
    let [mut client, mut server] = connected(Ecn::NotEct, Ecn::NotEct);
    server.ace();
    let mut hurries = |ecn| {
        server.on_arrival(&told(ecn, 1000, 5), None, true);
        let hurries = server.hurries;
        server.ace();
        hurries
    };
    let seen = [Ecn::Ect0, Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ect0, Ecn::Ect1].map(&mut hurries);
    assert_eq!(seen, [false, false, true, false, true, true], "the end of the handshake was ECT(0)");
    for marks in 1..=6 {
        client.on_arrival(&told(Ecn::Ce, 0, 5), None, true);
        client.hurries = false;
        client.take(&told(Ecn::Ect0, 0, 5), &news(1));
        assert_eq!(client.hurries, marks == 6);
    }
}

/// `AccEcnReport` is copied with every packet that has options.
#[test]
fn what_a_segment_tells_is_small() {
    assert!(size_of::<Option<AccEcnReport>>() <= 36, "{}", size_of::<Option<AccEcnReport>>());
}
