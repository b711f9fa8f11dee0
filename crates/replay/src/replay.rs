//! A capture, ready to be replayed over any link.

use capture::{Capture, Protocol};

use crate::calls::calls;
use crate::datagrams::datagrams;
use crate::doubts::{doubts, why_nothing};
use crate::ends::Ends;
use crate::known::{Known, KnownCall, Sizes};
use crate::link::Tap;
use crate::list::{List, carries};
use crate::networks::Networks;
use crate::paths::paths;
use crate::rates::Rates;
use crate::reading::Reading;
use crate::refused::{Refused, refused};
use crate::sides::Seen;
use crate::span::lasted_s;
use crate::trains::pieces;

/// Choices of a replay.
#[derive(Clone, Debug)]
pub struct Options {
    /// The near side of the link; inferred when None.
    pub networks: Option<Networks>,
    /// Payload of a full packet of the replay, bytes, at least 1.
    pub mss: u32,
    /// Header of every TCP packet, bytes.
    pub header_bytes: u32,
}

/// A capture, ready to be replayed over any link: what does not depend on its rates.
#[derive(Clone, Debug)]
pub struct Replay {
    known: Known,
    tap: Tap,
    doubts: Vec<String>,
}

impl Replay {
    /// A capture, ready to be replayed over any link.
    ///
    /// # Errors
    /// Networks without a host, nothing to replay, or more trains or packets than were kept.
    pub fn of(reading: Reading, options: Options) -> Result<Replay, Refused> {
        let Reading { name, capture } = reading;
        let Capture { connections, trains, packets, volumes, counts, .. } = capture;
        let ends = Ends::of(&connections);
        let networks = options.networks.as_ref();
        let all: Vec<usize> = (0..connections.len()).collect();
        let whole = Seen { connections: &connections, ends: &ends, rows: &all };
        if let Some(networks) = networks {
            whole.check_site(networks)?;
        }
        if !carries(&connections) {
            let why = why_nothing(&connections, &counts);
            return refused(format!("{name}: no TCP connection with payload and no UDP flow to replay{why}"));
        }
        for (what, kept, left_out) in
            [("trains", trains.len(), counts.trains_left_out), ("packets", packets.len(), counts.packets_left_out)]
        {
            if left_out > 0 {
                let found = left_out.saturating_add(kept as u64);
                return refused(format!("{what} = {found}: must be at most {kept} to replay a capture by its {what}"));
            }
        }
        let carrying: Vec<usize> =
            all.iter().copied().filter(|&row| connections[row].protocol != Protocol::Icmp).collect();
        let near = Seen { rows: &carrying, ..whole }.near(networks);
        let doubts = doubts(&volumes, &counts, whole.crossing_share(&whole.near(networks)));
        let tap = Tap::of(&connections, &volumes, &ends, &near);
        let paths = paths(&connections, &ends, &near);
        let (datagrams, bursts) = datagrams(&packets, &paths);
        let call = |row: u32| KnownCall {
            connection: row,
            opener_packets: connections[row as usize].from_opener.packets,
            responder_packets: connections[row as usize].from_responder.packets,
        };
        let width_s = counts.volume_width_ns as f64 * 1e-9;
        let known = Known {
            sizes: Sizes { mss: options.mss, header_bytes: options.header_bytes },
            pieces: pieces(&trains, &paths, &ends, &near, &tap),
            calls: calls(&connections, &volumes, width_s).into_iter().map(call).collect(),
            lasted_s: lasted_s(&connections),
            name,
            ends,
            paths,
            datagrams,
            bursts,
        };
        Ok(Replay { known, tap, doubts })
    }

    /// What to doubt in the capture, in sentences.
    pub fn doubts(&self) -> &[String] {
        &self.doubts
    }

    /// Most that each direction carried in a second of the capture.
    pub fn peak_bps(&self) -> Rates {
        self.tap.peak_bps()
    }

    /// The flows over a link of these rates; with `rtt_s` all round-trip times are multiplied so that their median is this,
    /// s, above 0.
    ///
    /// # Errors
    /// A wait above a day, or flows that span years.
    pub fn list(&self, rates: Rates, rtt_s: Option<f64>) -> Result<List, Refused> {
        List::of(&self.known, &self.tap.link(rates), rtt_s)
    }
}
