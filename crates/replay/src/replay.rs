//! A capture, ready to be replayed over any link.

use std::borrow::Cow;
use std::sync::Arc;

use capture::{Amount, Capture, Connection, Counts, Packet, Protocol, Train, Volume};
use hosts::{Ends, Networks, Seen, Sites, Tally, Unsited};

use crate::calls::calls;
use crate::datagrams::datagrams;
use crate::doubts::{clocks_of, doubts, why_nothing};
use crate::flows::{Captured, carries};
use crate::form::Form;
use crate::known::{Known, KnownCall, Sizes};
use crate::link::Tap;
use crate::list::List;
use crate::missing::{Framing, framing, left_out_share, missing, partial};
use crate::numbers::seconds;
use crate::paths::paths;
use crate::rates::Rates;
use crate::reading::Reading;
use crate::refused::{Refused, refused};
use crate::span::lasted_s;
use crate::trains::{Step, pieces};
use crate::transfers::{Exchange, Transfer, transfers};
use crate::udp_share::{UdpShare, media, quic_datagram_bytes};

/// Choices of a replay.
#[derive(Clone, Debug)]
pub struct Options {
    /// The near side of the link; inferred when None.
    pub networks: Option<Networks>,
    /// Payload of a full packet of the replay, bytes, at least 1.
    pub mss: u32,
    /// Header of every TCP packet, bytes.
    pub header_bytes: u32,
    /// What becomes of the packets.
    pub form: Form,
    /// UDP is left out.
    pub tcp_only: bool,
}

/// A capture, ready to be replayed over any link: what does not depend on its rates.
#[derive(Clone, Debug)]
pub struct Replay {
    known: Known,
    tap: Tap,
    doubts: Vec<String>,
    partial: Option<String>,
    missing: Vec<String>,
    udp: UdpShare,
    quic_datagram_bytes: Option<u16>,
    left_out_share: f64,
    framing: Framing,
}

fn tally(connections: &[Connection]) -> std::io::Result<Tally> {
    let mut tally = Tally::default();
    connections.iter().try_for_each(|connection| tally.add(connection))?;
    Ok(tally)
}

/// Whether a connection is of a protocol whose headers are not read, its packets and their IP bytes.
fn carried(one: &Connection) -> (bool, Amount) {
    let sides = [&one.from_opener, &one.from_responder].map(|side| Amount::of(side.packets, side.wire_bytes));
    (one.protocol == Protocol::Other, sides[0].and(sides[1]))
}

fn exchanged(connections: &[Connection]) -> Vec<Transfer> {
    transfers(&connections.iter().map(Exchange::from).collect::<Vec<_>>())
}

impl Replay {
    /// A capture, ready to be replayed over any link.
    ///
    /// # Errors
    /// Networks without a host, nothing to replay, or more trains or packets than were kept.
    pub fn of(reading: &Reading, options: Options) -> Result<Replay, Refused> {
        let Reading { name, capture } = reading;
        let Capture { connections, trains, packets, volumes, counts, .. } = capture;
        Replay::of_parts(name, connections.into(), trains, packets.into(), volumes.into(), counts, options)
    }

    /// The same of a reading that nobody needs any more: what it holds is given back as soon as it is used.
    ///
    /// # Errors
    /// As [`Replay::of`].
    pub fn of_all(reading: Reading, options: Options) -> Result<Replay, Refused> {
        let Reading { name, capture } = reading;
        let Capture { connections, trains, packets, volumes, counts, .. } = capture;
        Replay::of_parts(&name, connections.into(), &trains, packets.into(), volumes.into(), &counts, options)
    }

    fn of_parts(
        name: &str,
        connections: Cow<'_, [Connection]>,
        trains: &[Train],
        packets: Cow<'_, [Packet]>,
        volumes: Cow<'_, [Volume]>,
        counts: &Counts,
        options: Options,
    ) -> Result<Replay, Refused> {
        let form = options.form;
        let ends = Ends::of(connections.iter().map(|one| [one.opener.address, one.responder.address]));
        let networks = options.networks.as_ref();
        if networks.is_some() {
            Sites::of(&tally(&connections).map_err(Unsited::from)?, networks)?;
        }
        if !carries(&connections) {
            let why = why_nothing(&connections, counts);
            return refused(format!("{name}: no TCP connection with payload and no UDP flow to replay{why}"));
        }
        for (what, kept, left_out) in
            [("trains", trains.len(), counts.trains_left_out), ("packets", packets.len(), counts.packets_left_out)]
        {
            if left_out > 0 && form != Form::Transfers {
                let found = left_out.saturating_add(kept as u64);
                return refused(format!("{what} = {found}: must be at most {kept} to replay a capture by its {what}"));
            }
        }
        let bytes = |one: &Connection| one.from_opener.wire_bytes.saturating_add(one.from_responder.wire_bytes);
        let wire_bytes: Vec<u64> = connections.iter().map(bytes).collect();
        let of_rows = |rows: Vec<usize>| Seen { ends: &ends, wire_bytes: &wire_bytes, rows: &rows }.near(networks);
        let all = 0..connections.len();
        let carrying = all.clone().filter(|&row| connections[row].protocol != Protocol::Icmp).collect();
        let (near, of_all) = (of_rows(carrying).inside, of_rows(all.collect()));
        drop(wire_bytes);
        let width_s = counts.volume_width_ns as f64 * 1e-9;
        let called = calls(&connections, &volumes, width_s);
        let mut said = clocks_of(&volumes, counts);
        said.extend(missing(&connections, counts, &ends, &of_all.inside));
        let left_out_share = left_out_share(counts);
        let framing = framing(&connections, counts, &ends, &of_all.inside);
        let tap = Tap::of(&connections, &volumes, &ends, &near);
        drop(volumes);
        let paths = paths(&connections, &ends, &near);
        let (datagrams, bursts) = match form {
            Form::Transfers => Default::default(),
            _ => datagrams(&packets, &paths, form == Form::Packets),
        };
        drop(packets);
        let udp = UdpShare::of(&connections, &called, &media(&connections, &datagrams, &bursts));
        let doubts = doubts(&udp, counts, of_all.crossing);
        let transfers = if form == Form::Transfers { exchanged(&connections) } else { Vec::new() };
        let call = |row: u32| KnownCall {
            connection: row,
            opener_packets: connections[row as usize].from_opener.packets,
            responder_packets: connections[row as usize].from_responder.packets,
        };
        let calls = called.into_iter().map(call).collect();
        let mut begun_s: Vec<f64> = connections.iter().map(|one| seconds(one.start_ns)).collect();
        begun_s.sort_by(f64::total_cmp);
        let lasted_s = lasted_s(&connections);
        let carried = Arc::new(connections.iter().map(carried).collect());
        let partial = partial(counts, connections.len());
        let quic_datagram_bytes = quic_datagram_bytes(&connections);
        // Most of what a long capture takes.
        drop(connections);
        let pieces = match form {
            Form::Users | Form::Trains => pieces(trains, &paths, &ends, &near, &tap),
            Form::Packets | Form::Transfers => Vec::new(),
        };
        let known = Known {
            form,
            tcp_only: options.tcp_only,
            begun_s,
            sizes: Sizes { mss: options.mss, header_bytes: options.header_bytes },
            pieces,
            transfers,
            calls,
            carried,
            lasted_s,
            name: name.to_owned(),
            ends,
            paths,
            datagrams,
            bursts,
        };
        Ok(Replay { known, tap, doubts, partial, missing: said, udp, quic_datagram_bytes, left_out_share, framing })
    }

    /// What becomes of the packets.
    pub fn form(&self) -> Form {
        self.known.form
    }

    /// That connections were given up since there were too many, in a sentence.
    pub fn partial(&self) -> Option<&str> {
        self.partial.as_deref()
    }

    /// From the first packet of the connections to the last one, s.
    pub fn lasted_s(&self) -> f64 {
        self.known.lasted_s
    }

    /// What to doubt in the times of the capture, and what of it no list has, in sentences; what a list lacks is in [`List::missing`].
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// How much of the capture is QUIC and other UDP.
    pub fn udp(&self) -> UdpShare {
        self.udp
    }

    /// Payload of the datagrams that carry most of the bytes of QUIC; None without any.
    pub fn quic_datagram_bytes(&self) -> Option<u16> {
        self.quic_datagram_bytes
    }

    /// Share of the packets of the capture that are in no connection.
    pub fn left_out_share(&self) -> f64 {
        self.left_out_share
    }

    /// What the capture shows of its link next to the traffic.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// What to doubt in the capture, in sentences.
    pub fn doubts(&self) -> &[String] {
        &self.doubts
    }

    /// Most that each direction carried in a second of the capture.
    pub fn peak_bps(&self) -> Rates {
        self.tap.peak_bps()
    }

    /// The flows at their times in the capture, over a link of these rates, before users wait; with `rtt_s` as
    /// [`Replay::list`] has it. `scaled` says that their times will be multiplied, so that they may span years.
    ///
    /// # Errors
    /// A value that a flow list cannot hold, or flows that span years.
    pub fn flows(&self, rates: Rates, rtt_s: Option<f64>, scaled: bool) -> Result<Captured<'_>, Refused> {
        Captured::of(&self.known, &self.tap.link(rates), rtt_s, scaled)
    }

    /// The trains of the connections, each with what its side adds to the time that the path takes.
    pub fn steps(&self, rates: Rates) -> Vec<Step> {
        self.known.steps(&self.tap.link(rates)).0
    }

    /// The flows of [`Form::Users`] over a link of these rates, whose users wait; with `rtt_s` all round-trip times are multiplied by one factor, so that the
    /// median over the TCP connections is this, s, above 0.
    ///
    /// # Errors
    /// Another form, a wait above a day, or flows that span years.
    pub fn list(&self, rates: Rates, rtt_s: Option<f64>) -> Result<List, Refused> {
        List::of(&self.flows(rates, rtt_s, false)?)
    }
}
