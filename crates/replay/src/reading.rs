//! What is read of a capture for a replay.

use capture::{Capture, Duplicates, Ideal, Sieve};

use crate::refused::Refused;

/// Trains and packets read of a capture at most, those of the largest workload.
const MOST_TRAINS: usize = 200_000_000;
/// Rows of what was carried when.
const MOST_VOLUMES: usize = 1 << 20;
/// Connections that are open at once.
const MOST_FLOWS: usize = 1_000_000;

/// Limits and choices of a reading.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Packets of the first flight of the TCP that replays the capture, at least 1.
    pub initial_window: u32,
    /// Whether its receivers acknowledge every second packet.
    pub delayed_ack: bool,
    /// Connections that are open at once, at least 1; beyond, the one silent for longest is given up.
    pub max_flows: usize,
    /// Connections held at once, open or not, at least 1; beyond, as before.
    pub max_held: usize,
    /// Trains kept; a capture with more is refused.
    pub max_trains: usize,
    /// Packets kept; a capture with more is refused.
    pub max_packets: usize,
    /// Rows kept of what was carried when; beyond, they become coarser.
    pub max_volumes: usize,
    /// The packet inside a tunnel counts instead of the one outside.
    pub tunnels: bool,
    /// Packets that count, and the addresses they get.
    pub sieve: Sieve,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            initial_window: 10,
            delayed_ack: true,
            max_flows: MOST_FLOWS,
            max_held: usize::MAX,
            max_trains: MOST_TRAINS,
            max_packets: MOST_TRAINS,
            max_volumes: MOST_VOLUMES,
            tunnels: false,
            sieve: Sieve::default(),
        }
    }
}

/// A capture, read for a replay.
#[derive(Clone, Debug)]
pub struct Reading {
    /// What messages call it.
    pub(crate) name: String,
    pub(crate) capture: Capture,
}

impl Reading {
    /// A capture that was read, which messages call `name`.
    pub fn of(name: &str, capture: Capture) -> Reading {
        Reading { name: name.to_owned(), capture }
    }

    /// What was read.
    pub fn capture(&self) -> &Capture {
        &self.capture
    }

    /// Reads a capture (pcap, pcapng, plain, in gzip, Zstandard or LZ4, told by its first bytes) that messages call `name`.
    ///
    /// # Errors
    /// The bytes are empty or no capture.
    pub fn from_bytes(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Reading, Refused> {
        // Messages are one line, whatever a file is called.
        let name = name.replace(char::is_control, " ");
        let ideal = Ideal { initial_window: options.initial_window, delayed_ack: options.delayed_ack };
        let options = capture::Options {
            max_flows: options.max_flows,
            max_held: options.max_held,
            tunnels: options.tunnels,
            window_ns: 0,
            duplicates: Duplicates::Auto,
            max_trains: options.max_trains.min(MOST_TRAINS),
            pauses: true,
            max_packets: options.max_packets.min(MOST_TRAINS),
            max_volumes: options.max_volumes.max(1),
            ideal,
            sieve: options.sieve.clone(),
            ..capture::Options::default()
        };
        let capture = capture::read_bytes(bytes, &options, &mut || true).map_err(|error| {
            let line = format!("{name}: {error}");
            Refused(line.split_whitespace().collect::<Vec<_>>().join(" "))
        })?;
        Ok(Reading { name, capture })
    }
}
