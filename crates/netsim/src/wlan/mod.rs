//! One cell of 802.11: an access point and its stations share a medium under the distributed coordination function.
//!
//! Every node hears every other, so that nothing is hidden. Settings are here, timing in [`phy`], contention in
//! `dcf`, frames and their exchange in `cell`.

use qdisc::{Kind, Packet};
use serde::Deserialize;
use tables::{Column, record};
use units::Time;

use crate::error::ConfigError;
use crate::flow::FlowSpec;

pub(crate) mod cell;
mod dcf;
pub mod phy;
mod station_queues;
#[cfg(test)]
mod tests;

use phy::Mode;

/// A cell. The access point's queue is the forward one of the run; stations are its hosts on the far side.
#[derive(Clone, Debug)]
pub struct Wlan {
    /// Stations, in the order of the hosts.
    pub stations: Vec<Station>,
    /// Slot.
    pub slot: Time,
    /// Short interframe space.
    pub sifs: Time,
    /// Time within which a node does not notice that another has begun to send.
    pub cca: Time,
    /// What a sender waits after its frame for the answer to begin.
    pub ack_timeout: Time,
    /// What a node waits after a frame it could not read beyond what it waits after one it could: EIFS less DIFS.
    pub eifs_extra: Time,
    /// Access categories, the one of highest priority last; one in plain DCF.
    pub categories: Vec<Category>,
    /// Category of each flow, by index in the list; empty when all are of the first.
    pub category_of: Vec<u8>,
    /// MAC header, LLC and frame check sequence around an IP packet, bytes.
    pub overhead: u32,
    /// Transmissions of a frame before it is given up; of one behind RTS and CTS in the second place.
    pub tries: [u32; 2],
    /// Longest frame, with its overhead, that goes out without RTS and CTS, bytes.
    pub rts_threshold: u32,
    /// Where 802.11 leaves, or simulators took, a choice.
    pub rules: Rules,
    /// Several frames in one, or one by one.
    pub aggregation: Option<Aggregation>,
    /// How the access point keeps its packets.
    pub placement: Placement,
    /// Every backoff takes its mean in place of a random number, and nothing collides: for responses alone.
    pub mean_backoff: bool,
}

/// A station and its link to the access point, the same both ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Station {
    /// Of data frames.
    pub data: Mode,
    /// Of the control frames that belong to them.
    pub control: Mode,
    /// Probability that a data frame, or a frame within an aggregate, arrives damaged without a collision.
    pub frame_error: f64,
}

/// How a category contends (802.11-2020, 10.22.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Category {
    /// Slots between SIFS and the first slot of backoff: 2 in plain DCF.
    pub aifsn: u32,
    /// Smallest and largest contention window, slots less one.
    pub windows: [u32; 2],
    /// How long a won medium may be kept; zero for one exchange.
    pub txop: Time,
}

/// Choices between the standard and what simulators do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether those who heard a collision wait EIFS after it.
    pub eifs_after_collision: bool,
    /// What a medium that turns busy does to a running backoff.
    pub decrement: Decrement,
    /// When the sender of a frame without answer contends again.
    pub after_failure: AfterFailure,
    /// When a frame goes out that finds the medium idle and no backoff running.
    pub immediate: Immediate,
    /// Whether such a frame draws a backoff when another is faster.
    pub overtaken_draws: bool,
    /// Whether the medium counts as idle for what a node hands over in the instant in which a frame for it ends, an
    /// answer to a request say: it then goes out without backoff (ns-3).
    pub reply_finds_idle: bool,
}

/// What a medium that turns busy does to a running backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decrement {
    /// Idle slots count, the busy one does not (802.11-2020, 10.3.4.3).
    IdleSlots,
    /// The busy one counts too: the chain of Bianchi 2000; EDCA (802.11-2020, 10.22.2.4).
    EverySlot,
}

/// When the sender of a frame without answer contends again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterFailure {
    /// After the timeout; the medium's idle time before it counts towards DIFS (802.11-2020, 10.3.2.11, 10.3.4.3).
    Timeout,
    /// DIFS after the timeout (ns-3).
    TimeoutAndDifs,
    /// With the others, DIFS after the collision (Bianchi 2000, Eq. 14).
    WithOthers,
    /// With the others, who keep silent for the time of the answer too: a collision lasts as long as a success.
    AfterAnswerTime,
}

/// When a frame goes out that finds the medium idle and no backoff running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Immediate {
    /// As soon as the medium has been idle for DIFS (802.11-2020, 10.3.4.2).
    Idle,
    /// DIFS after the frame's arrival (ns-3).
    Arrival,
    /// Never: every frame draws a backoff.
    Never,
}

/// Bounds of an aggregate (A-MPDU) to one receiver, acknowledged by a block acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// Frames.
    pub frames: u32,
    /// Bytes with delimiters and padding.
    pub bytes: u32,
    /// Time on the air.
    pub airtime: Time,
}

/// How the access point keeps its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// One queue for all stations.
    Shared,
    /// A queue per station, each with the discipline and the limit of the run, one frame or aggregate in turn.
    RoundRobin,
    /// A queue per station, served by deficit round robin over the time on the air both ways, so many of it a round
    /// (Høiland-Jørgensen et al. 2017, as in Linux mac80211).
    Airtime(Time),
}

record! {
    /// What happened in a cell since the end of the warm-up.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct CellCounts in "cell" {
        /// The access point, then the stations.
        pub nodes: Vec<NodeCounts>;
        /// Time during which the medium was taken, by frames, answers and the gaps between them.
        pub busy: Time => "busy_s", "s";
        /// Packets with sequence numbers or datagrams at the access point's queue.
        pub data: Offered;
        /// Bare acknowledgements at the access point's queue.
        pub acks: Offered;
    }
    also [Offered::columns("data", |cell| cell.data), Offered::columns("ack", |cell| cell.acks)].into_iter().flatten();
}

impl CellCounts {
    /// The counts of what `packet` is.
    pub(crate) fn of(&mut self, packet: &Packet) -> &mut Offered {
        if packet.kind == Kind::Ack { &mut self.acks } else { &mut self.data }
    }
}

/// Packets of a kind offered to a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// Offered.
    pub arrivals: u64,
    /// Of these, dropped by the queue.
    pub drops: u64,
}

impl Offered {
    /// Columns of the packets of `kind` that `of` picks.
    fn columns(kind: &str, of: fn(&CellCounts) -> Offered) -> Vec<Column<CellCounts>> {
        let packets = match kind {
            "ack" => "Bare acknowledgements",
            _ => "Packets with payload, SYN, FIN and datagrams",
        };
        let (offered, dropped) = (format!("{packets} offered to"), format!("{packets} dropped by"));
        let at = "the queue of the access point.";
        vec![
            Column::new(format!("{kind}_arrivals"), "packets", format!("{offered} {at}"), move |cell| {
                of(cell).arrivals
            }),
            Column::new(format!("{kind}_drops"), "packets", format!("{dropped} {at}"), move |cell| of(cell).drops),
        ]
    }
}

record! {
    /// What a node did.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct NodeCounts in "nodes" {
        /// Transmissions of data frames, each frame of an aggregate for itself; also RTS that no CTS answered.
        pub attempts: u64 => "attempts", "frames";
        /// Of these, the second and later ones of their frame.
        pub retries: u64 => "retries", "frames";
        /// Of these, those in collisions.
        pub collided: u64 => "collided", "frames";
        /// Of these, those damaged without a collision.
        pub damaged: u64 => "damaged", "frames";
        /// Frames that were acknowledged.
        pub acked: u64 => "acked", "frames";
        /// IP bytes in them.
        pub acked_bytes: u64 => "acked_bytes", "bytes";
        /// Frames given up after their last try.
        pub given_up: u64 => "given_up", "frames";
        /// Accesses to the medium: an aggregate, or a burst, is one.
        pub accesses: u64 => "accesses";
        /// Time on the air of exchanges with a station, either way, with answers, gaps between them, and failures; at
        /// the access point, of those it began.
        pub airtime: Time => "airtime_s", "s";
    }
}

impl Wlan {
    /// As [`crate::alone`] needs it: the mean of every backoff, and no damage.
    pub(crate) fn quiet(mut self) -> Wlan {
        self.mean_backoff = true;
        self.category_of = Vec::new();
        self.stations.iter_mut().for_each(|station| station.frame_error = 0.0);
        self
    }

    /// # Errors
    /// The first value out of its bounds.
    pub(crate) fn check(&self, flows: &[FlowSpec]) -> Result<(), ConfigError> {
        let refused = |name, value: String, bound| Err(ConfigError::Value(name, value, bound));
        if !(1..=MOST_STATIONS).contains(&self.stations.len()) {
            return refused("network.wlan.stations", self.stations.len().to_string(), "from 1 to 10000");
        }
        for station in &self.stations {
            if !(0.0..1.0).contains(&station.frame_error) {
                return refused("network.wlan.frame_error", station.frame_error.to_string(), "at least 0 and below 1");
            }
        }
        let longest = Time(1_000_000_000);
        for (name, time) in [("slot", self.slot), ("sifs", self.sifs), ("ack_timeout", self.ack_timeout)] {
            if time == Time::ZERO || time > longest {
                return refused("network.wlan timing", format!("{name} {} ns", time.0), "above 0 and at most 1 s");
            }
        }
        if !(1..=4).contains(&self.categories.len()) {
            return refused("network.wlan.categories", self.categories.len().to_string(), "from 1 to 4");
        }
        for category in &self.categories {
            let [least, most] = category.windows;
            if least > most || most > 32_767 || !(1..=32).contains(&category.aifsn) {
                let value = format!("windows {least} to {most}, aifsn {}", category.aifsn);
                return refused(
                    "network.wlan.categories",
                    value,
                    "windows ascending, at most 32767, aifsn from 1 to 32",
                );
            }
        }
        if !self.category_of.is_empty() && self.category_of.len() != flows.len() {
            return refused("network.wlan.category_of", self.category_of.len().to_string(), "one per flow");
        }
        if let Some(&category) = self.category_of.iter().find(|&&of| usize::from(of) >= self.categories.len()) {
            return refused("network.wlan.category_of", category.to_string(), "one of the categories");
        }
        for (index, flow) in flows.iter().enumerate() {
            if (if flow.up { flow.src } else { flow.dst }) as usize >= self.stations.len() {
                return Err(ConfigError::Flow(index, "station the cell does not have"));
            }
        }
        if self.tries.iter().any(|tries| !(1..=255).contains(tries)) {
            return refused("network.wlan.retry_limit", format!("{:?}", self.tries), "from 1 to 255");
        }
        if let Some(aggregation) = &self.aggregation
            && (!(1..=256).contains(&aggregation.frames) || aggregation.bytes == 0 || aggregation.airtime == Time::ZERO)
        {
            return refused(
                "network.wlan.aggregate",
                format!("{aggregation:?}"),
                "1 to 256 frames, bytes and time above 0",
            );
        }
        if self.placement == Placement::Airtime(Time::ZERO) {
            return refused("network.wlan.airtime_quantum", "0".into(), "above 0");
        }
        Ok(())
    }
}

const MOST_STATIONS: usize = 10_000;
