//! How much of a capture is QUIC, other UDP and packets of other IP protocols, and what a replay does with it.
//!
//! TCP and QUIC are replayed as transfers whose senders slow down when packets wait or are lost; packets of other UDP each at
//! its time, since nothing in them says what their senders would do: true of calls, and wrong of VPNs, most of whose inside
//! is TCP and QUIC, as that of ESP and GRE is.

use std::collections::BTreeMap;

use capture::{Connection, Protocol, Quic};
use netsim::Burst;

use crate::datagrams::Datagrams;

/// Share of the bytes from which on UDP is worth a word.
const SAID_FROM: f64 = 0.01;
/// Share that one digit behind the point shows.
const LEAST_TOLD: f64 = 0.0005;
const HTTPS: u16 = 443;

/// Shares of the bytes of all IP packets in a table of connections, each 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UdpShare {
    /// QUIC, whose senders slow down in a replay.
    pub quic: f64,
    /// Of `quic`, connections whose beginning was not captured.
    pub probably: f64,
    /// Other UDP.
    pub other: f64,
    /// Of `other`, to or from port 443.
    pub at_443: f64,
    /// Of `other`, calls, which do not slow down anywhere.
    pub calls: f64,
    /// Of `other`, video calls and games, which send at their own pace for the seconds that a queue lasts; those at port 443
    /// may be QUIC.
    pub media: f64,
    /// Packets of IP protocols whose headers are not read, such as ESP, GRE and SCTP.
    pub opaque: f64,
}

impl UdpShare {
    /// `calls` are the rows of calls, and `media` those of video calls and games.
    pub(crate) fn of(connections: &[Connection], calls: &[u32], media: &[u32]) -> UdpShare {
        let bytes = |row: &Connection| row.from_opener.wire_bytes.saturating_add(row.from_responder.wire_bytes);
        let all = connections.iter().map(bytes).fold(0_u64, u64::saturating_add);
        if all == 0 {
            return UdpShare::default();
        }
        let of_rows = |rows: &[u32]| {
            let mut found = vec![false; connections.len()];
            rows.iter().for_each(|&row| found[row as usize] = true);
            found
        };
        let (called, shown) = (of_rows(calls), of_rows(media));
        let share = |counts: &dyn Fn(usize, &Connection) -> bool| {
            let rows = connections.iter().enumerate();
            let udp = rows.filter(|&(at, row)| row.protocol == Protocol::Udp && counts(at, row));
            udp.map(|(_, row)| bytes(row)).fold(0_u64, u64::saturating_add) as f64 / all as f64
        };
        let opaque = connections.iter().filter(|row| row.protocol == Protocol::Other).map(bytes);
        let https = |row: &Connection| row.opener.port == HTTPS || row.responder.port == HTTPS;
        UdpShare {
            quic: share(&|_, row| row.quic.is()),
            probably: share(&|_, row| row.quic == Quic::Probably),
            other: share(&|_, row| !row.quic.is()),
            at_443: share(&|_, row| !row.quic.is() && https(row)),
            calls: share(&|at, _| called[at]),
            media: share(&|at, row| shown[at] && !called[at] && !row.quic.is() && !https(row)),
            opaque: opaque.fold(0_u64, u64::saturating_add) as f64 / all as f64,
        }
    }

    /// Of all that is replayed as captured, what may slow down when it meets a queue: all but calls, video calls and games.
    pub fn doubtful(&self) -> f64 {
        self.other - self.calls - self.media + self.opaque
    }

    /// What share is QUIC, what share other UDP, and what share of other protocols, without an end.
    pub fn text(&self) -> String {
        match (self.quic < LEAST_TOLD, self.other + self.opaque < LEAST_TOLD) {
            (true, _) => self.rest_text(),
            (false, true) => self.quic_text(),
            (false, false) => format!("{}, and {}", self.quic_text(), self.rest_text()),
        }
    }

    fn quic_text(&self) -> String {
        let quic = format!("{:.1} % of the bytes are QUIC", 100.0 * self.quic);
        if self.probably < LEAST_TOLD {
            return quic;
        }
        format!(
            "{quic} ({:.1} % probably: the beginning of these connections is not in the capture)",
            100.0 * self.probably
        )
    }

    /// What share is replayed as captured: other UDP and other protocols, without an end.
    pub fn rest_text(&self) -> String {
        let opaque = format!("{:.1} % are of IP protocols that are not looked into", 100.0 * self.opaque);
        match (self.opaque < LEAST_TOLD, self.other < LEAST_TOLD) {
            (true, _) => self.udp_text(),
            (false, true) => opaque.replacen('%', "% of the bytes", 1),
            (false, false) => format!("{}, and {opaque}", self.udp_text()),
        }
    }

    fn udp_text(&self) -> String {
        let UdpShare { quic, other, at_443, .. } = *self;
        let port = if at_443 < SAID_FROM {
            String::new()
        } else {
            format!(" ({:.1} % at port 443, of which nothing shows that it is QUIC)", 100.0 * at_443)
        };
        let kind = if quic < LEAST_TOLD { "UDP that is not QUIC" } else { "other UDP" };
        format!("{:.1} % of the bytes are {kind}{port}", 100.0 * other)
    }

    /// What a replay does with it; None of a hundredth of the bytes or less.
    pub fn replay_sentence(&self) -> Option<String> {
        let quic = (self.quic >= SAID_FROM).then(|| {
            format!(
                "{}: they are replayed by QUIC as transfers, whose senders slow down when packets wait or are lost (RFC 9002, \
                 CUBIC)",
                self.quic_text()
            )
        });
        let rest = (self.other + self.opaque >= SAID_FROM).then(|| {
            format!(
                "{}: these packets are replayed as captured and do not slow down when they meet a queue, so the answer is \
                 about the rest",
                self.rest_text()
            )
        });
        let found: Vec<String> = [quic, rest].into_iter().flatten().collect();
        (!found.is_empty()).then(|| found.join("; "))
    }
}

/// Payload of the datagrams that carry most of the bytes of QUIC; None without any.
pub(crate) fn quic_datagram_bytes(connections: &[Connection]) -> Option<u16> {
    let mut by_length = BTreeMap::<u16, u64>::new();
    for row in connections.iter().filter(|row| row.quic.is()) {
        let sum = by_length.entry(row.mss_bytes?).or_default();
        *sum = sum.saturating_add(row.from_opener.wire_bytes).saturating_add(row.from_responder.wire_bytes);
    }
    by_length.into_iter().max_by_key(|&(_, bytes)| bytes).map(|(length, _)| length)
}

/// Rows of the connections that are video calls or games, by their packets.
pub(crate) fn media(connections: &[Connection], datagrams: &[Datagrams], bursts: &[Burst]) -> Vec<u32> {
    let is_udp = |one: &&[Datagrams]| {
        one.first().is_some_and(|first| connections[first.connection as usize].protocol == Protocol::Udp)
    };
    let packets = |one: &Datagrams| {
        let burst = |burst: &Burst| {
            let (at_s, gap_s, len) = (one.start_s + burst.at.as_secs_f64(), burst.gap.as_secs_f64(), burst.len);
            (0..burst.packets).map(move |number| (at_s + number as f64 * gap_s, len))
        };
        (one.from_opener, bursts[one.bursts.clone()].iter().flat_map(burst).collect())
    };
    let all = datagrams.chunk_by(|one, next| one.connection == next.connection).filter(is_udp);
    let found = all.filter(|own| metrics::is_video_call_or_game(own.iter().map(packets)));
    found.filter_map(|own| own.first()).map(|one| one.connection).collect()
}
