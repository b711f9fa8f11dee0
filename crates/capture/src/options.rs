//! How captures are read.

use std::path::PathBuf;

use crate::connections::transfer::Ideal;
use crate::read::duplicates::Duplicates;
use crate::read::sieve::Sieve;

/// Limits and choices of one reading.
#[derive(Clone, Debug)]
pub struct Options {
    /// Connections that are open at once, at least 1; beyond, the one silent for longest is evicted and counted. A connection
    /// that both ends closed, that was reset, or that is silent for [`QUIET_NS`](crate::QUIET_NS) does not count.
    pub max_flows: usize,
    /// Connections held at once, open or not, at least 1, less than 1 kB each; beyond, as before.
    pub max_held: usize,
    /// The packet inside a tunnel counts instead of the one outside.
    pub tunnels: bool,
    /// A file may be out of the order of time by this, in nanoseconds; 0 for a single file keeps its order.
    pub window_ns: u64,
    /// Which copies of a packet are left out.
    pub duplicates: Duplicates,
    /// Copies are no further apart than this, in nanoseconds.
    pub duplicate_ns: u64,
    /// The clocks of several files are estimated, in a pass of its own over each, and corrected.
    pub clocks: bool,
    /// Several files that follow one another are read as one file, in the order of their first packets, whatever
    /// `window_ns`, `duplicates` and `clocks` say; where one goes on when the next has begun, they are merged as these say.
    pub series: bool,
    /// Trains kept, see [`Capture::trains`].
    pub max_trains: usize,
    /// A train ends also where its side, all of its data being acknowledged, sends nothing for a round-trip time.
    pub pauses: bool,
    /// Packets kept, see [`Capture::packets`].
    pub max_packets: usize,
    /// Data packets of TCP are among these.
    pub packets_of_tcp: bool,
    /// Rows kept of what was carried when, see [`Capture::volumes`].
    pub max_volumes: usize,
    /// New file for rows of volumes beyond these, where connections leave as well ([`Leaving`](crate::Leaving)): so that of
    /// a capture with more directions of connections all packets are in one, too
    /// ([`Capture::stored_volumes`](crate::Capture::stored_volumes)).
    pub volumes_to: Option<PathBuf>,
    /// Volumes stand in the order of time where they come so, which saves dealing them out by connection.
    pub volumes_in_time: bool,
    /// What a transfer is compared with.
    pub ideal: Ideal,
    /// Packets that count, and the addresses they get.
    pub sieve: Sieve,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            max_flows: 1_000_000,
            max_held: usize::MAX,
            tunnels: false,
            window_ns: 0,
            duplicates: Duplicates::Keep,
            duplicate_ns: 100_000_000,
            clocks: false,
            series: false,
            max_trains: 0,
            pauses: false,
            max_packets: 0,
            packets_of_tcp: true,
            max_volumes: 0,
            volumes_to: None,
            volumes_in_time: false,
            ideal: Ideal::default(),
            sieve: Sieve::default(),
        }
    }
}
