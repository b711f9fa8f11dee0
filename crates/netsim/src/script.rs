//! Scripts: what the two ends of a connection say to each other, in turn.

use tables::record;
use units::Time;

use crate::error::ConfigError;
use crate::flow::FlowSpec;

/// Longest wait before a train and longest time between two of its packets: 1 day.
const LONGEST_WAIT: Time = Time(86_400_000_000_000);
/// Trains of one script at most.
const MOST_TRAINS: usize = 1_000_000;
/// Payload of one train at most, bytes.
const MOST_BYTES: u64 = 1 << 40;

/// Data that one end sends without waiting for the other; its last segment is as short as need be (no Nagle
/// algorithm).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Train {
    /// From the sender to the receiver of the flow.
    pub forward: bool,
    /// Payload, bytes.
    pub bytes: u64,
    /// Time since the last byte of the train before came in at this end; when this end sent that one too, since
    /// its last acknowledgement; for the first train, since this end is connected.
    pub wait: Time,
    /// Time from one packet of the train to the next; zero sends what the window allows.
    pub pace: Time,
}

/// Part of a train whose arrival is recorded, such as an object of a page. Parts may overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Place of the train in the script, from 0.
    pub train: u32,
    /// Bytes of the train up to the end of the part.
    pub end: u64,
    /// Name of the part, at least 1.
    pub number: u32,
}

/// The scripts of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scripts {
    /// Each as a list of trains in order; several flows may follow one.
    pub list: Vec<Vec<Train>>,
    /// Parts of each script, ascending by train and end; scripts beyond the end of the list have none.
    pub parts: Vec<Vec<Part>>,
    /// Trains of each script whose parts are streams of their own, one behind the other in the count of bytes, ascending;
    /// scripts beyond the end of the list have none. They need QUIC.
    pub streams: Vec<Vec<u32>>,
    /// Whether those that wait for a flow with this script (its stage) wait for its last train only, not for its connection
    /// to be closed; scripts beyond the end of the list: for its close.
    pub done: Vec<bool>,
}

record! {
    /// When a train was under way.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct TrainRecord in "trains" {
        /// The flow; here its place in the list.
        pub flow: u32 => "flow_id";
        /// Place in the script, from 0.
        pub train: u32 => "train";
        /// Number of the part in the list of the train, from 1; null for all of the train.
        pub part: u32 => "part", "", as |&part: &u32| (part > 0).then_some(u64::from(part));
        /// Whether it goes from the sender to the receiver of the flow.
        pub forward: bool => "forward";
        /// When its first data was handed to TCP.
        pub start: Time => "start_s", "s";
        /// When its last byte had come in, and all before it; null when it has not.
        pub end: Time => "end_s", "s";
    }
}

impl Scripts {
    /// Parts of the script with this index.
    pub(crate) fn parts_of(&self, script: u32) -> &[Part] {
        self.parts.get(script as usize).map_or(&[], Vec::as_slice)
    }

    /// Trains of the script with this index whose parts are streams.
    pub(crate) fn streams_of(&self, script: u32) -> &[u32] {
        self.streams.get(script as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether a flow counts as over for others once its last train has come in.
    pub(crate) fn is_done_with_data(&self, script: Option<u32>) -> bool {
        script.is_some_and(|script| self.done.get(script as usize).is_some_and(|&done| done))
    }

    /// # Errors
    /// Streams that make no sense for the flow with this index.
    pub(crate) fn check_streams(&self, index: usize, script: u32, quic: bool) -> Result<(), ConfigError> {
        let (streams, parts) = (self.streams_of(script), self.parts_of(script));
        if !streams.is_empty() && !quic {
            return Err(ConfigError::Flow(index, "streams of their own without tcp.recovery = quic"));
        }
        let trains = self.list.get(script as usize).map_or(&[][..], Vec::as_slice);
        let fits = |&train: &u32| {
            let own = parts.iter().filter(|part| part.train == train).map(|part| part.end);
            let whole = trains.get(train as usize);
            whole.is_some_and(|whole| whole.pace == Time::ZERO && own.clone().next_back() == Some(whole.bytes))
                && own.clone().zip(own.skip(1)).all(|(end, next)| end < next)
        };
        if streams.iter().all(fits) && streams.is_sorted_by(|first, second| first < second) {
            return Ok(());
        }
        Err(ConfigError::Flow(index, "streams that do not make up their train"))
    }

    /// # Errors
    /// A script that makes no sense for `flow`, the flow with this index.
    pub(crate) fn check(&self, index: usize, flow: &FlowSpec, mss: u32, most_segments: u64) -> Result<(), ConfigError> {
        let Some(script) = flow.script else {
            return Ok(());
        };
        let refused = |reason| Err(ConfigError::Flow(index, reason));
        let Some(trains) = self.list.get(script as usize) else {
            return refused("script that is not listed");
        };
        let Some(first) = trains.first() else {
            return refused("script without trains");
        };
        let segments = |forward: bool| -> u64 {
            trains.iter().filter(|train| train.forward == forward).map(|train| train.bytes.div_ceil(mss.into())).sum()
        };
        if trains.len() > MOST_TRAINS {
            return refused("script of more than 1000000 trains");
        }
        if trains.iter().any(|train| !(1..=MOST_BYTES).contains(&train.bytes)) {
            return refused("train outside 1 to 2^40 bytes");
        }
        if trains.iter().any(|train| train.wait > LONGEST_WAIT || train.pace > LONGEST_WAIT) {
            return refused("wait or pace above 1 day");
        }
        if flow.udp.is_some() {
            return refused("datagrams with a script");
        }
        // The receiver would have to repeat its SYN-ACK until it is answered.
        if !first.forward && !flow.receiver_opens {
            return refused("script that begins with the receiver while the sender opens the connection");
        }
        if segments(true).max(segments(false)) > most_segments {
            return refused("more than 4292870144 segments");
        }
        let parts = self.parts_of(script);
        let known = |part: &Part| trains.get(part.train as usize).is_some_and(|train| part.end <= train.bytes);
        if !parts.iter().all(|part| known(part) && part.end > 0 && part.number > 0) {
            return refused("part outside 1 to the bytes of its train");
        }
        if !parts.is_sorted_by_key(|part| (part.train, part.end)) {
            return refused("parts not in order");
        }
        if trains.iter().map(|train| train.bytes).sum::<u64>() != flow.size_bytes {
            return refused("size is not that of its script");
        }
        Ok(())
    }
}

/// How far a connection that follows a script has come, whatever its transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The end that speaks first is not connected.
    Opening,
    /// The next train waits for its time.
    Waiting,
    /// A train is under way.
    Sending,
    /// The end that sent the last train and sends the next waits for its acknowledgement.
    Settling,
    /// All trains have come in.
    Closing,
}
