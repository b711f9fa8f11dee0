//! A connection under construction: who opened it, its handshake, and what each segment changes.

use crate::connections::connection::{Connection, HandshakeTimes, OpenerFrom, Protocol};
use crate::connections::half::{Data, Half};
use crate::connections::quic::{self, Quic, Shake};
use crate::connections::rtt::USUAL_PAUSE_NS;
use crate::connections::state::{Evidence, State, ZeekState};
use crate::connections::transfer::{Ideal, Train, Transfer};
use crate::decode::key::Key;
use crate::decode::quic::{Datagram, LongHeader};
use crate::decode::segment::{ACK, Endpoint, FIN, RST, SYN, Segment, TcpHeader, Transport};

/// Silence after which a SYN with another initial number begins a new connection: twice a maximum
/// segment lifetime of 60 s (RFC 9293, 3.4.2 says 2 min; the systems that reuse ports say 30 to 60 s).
pub const QUIET_NS: u64 = 120_000_000_000;

/// The same for what is no TCP and lasts less than [`STREAM_NS`]: as Linux tracks connections, `nf_conntrack_udp_timeout`.
const QUIET_DATAGRAMS_NS: u64 = 30_000_000_000;
/// UDP that lasts so long is a stream there.
const STREAM_NS: u64 = 2_000_000_000;

/// In place of the number of an entry: there is none.
pub(crate) const NONE: u32 = u32::MAX;
/// Lag behind which a segment that fills a gap counts as sent again where no round-trip time is known yet (tshark's).
const USUAL_NOTICE_NS: i64 = 3_000_000;
/// Taps are bits of a word; the last one stands for all from there on.
const TAPS_MAX: u32 = 63;

/// Times of the handshake, as long as no part of it was repeated.
#[derive(Clone, Copy, Debug, Default)]
struct Handshake {
    syn_ns: i64,
    syn_ack_ns: i64,
    ack_ns: i64,
    syn: bool,
    syn_ack: bool,
    answered: bool,
    spoiled: bool,
    whole: bool,
}

impl Handshake {
    /// Known when each part passed once and in order.
    fn times(&self) -> Option<HandshakeTimes> {
        self.whole.then(|| HandshakeTimes {
            to_responder_ns: self.syn_ack_ns - self.syn_ns,
            to_opener_ns: self.ack_ns - self.syn_ack_ns,
        })
    }

    fn rtt_ns(&self) -> Option<i64> {
        self.times().map(|times| times.to_responder_ns + times.to_opener_ns)
    }
}

/// Which recency list a connection stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// More packets may come.
    Open,
    /// It was closed, reset, or followed by another one of its key.
    Over,
    /// It was silent for long when room was needed.
    Silent,
}

pub(crate) struct Entry {
    pub(crate) key: Key,
    pub(crate) serial: u64,
    /// In the order of `key.ends`.
    halves: [Half; 2],
    transfer: Transfer,
    opener: u8,
    opener_from: OpenerFrom,
    last_ns: i64,
    handshake: Handshake,
    taps: u64,
    rejected: bool,
    reset: bool,
    /// Which recency list of the table it stands in.
    pub(crate) standing: Standing,
    quic: Option<Box<quic::Flow>>,
    /// Where the latest row of each end stands in the volumes.
    pub(crate) volumes: [u32; 2],
}

/// A train and which end of the key sent it.
pub(crate) type Ended = Option<(usize, Train)>;

/// What a segment brought beside its counts.
#[derive(Default)]
pub(crate) struct Brought {
    pub(crate) ended: Ended,
    /// Packets of the path with something new in them.
    pub(crate) packets: u64,
    /// Round-trip time between the tap and the sender that the segment ended.
    pub(crate) rtt_ns: Option<i64>,
    /// Payload of the other end that it acknowledged first.
    pub(crate) acked_bytes: u64,
}

impl Entry {
    pub(crate) fn begun_by(key: Key, segment: &Segment, from: usize, serial: u64, time_ns: i64) -> Self {
        let (opener, opener_from) = Entry::opener_of(segment, from);
        Entry {
            key,
            serial,
            halves: Default::default(),
            transfer: Transfer::default(),
            opener: opener as u8,
            opener_from,
            last_ns: time_ns,
            handshake: Handshake::default(),
            taps: 0,
            rejected: false,
            reset: false,
            standing: Standing::Open,
            quic: None,
            volumes: [NONE; 2],
        }
    }

    fn opener_of(segment: &Segment, from: usize) -> (usize, OpenerFrom) {
        let header = match segment.transport {
            Transport::Udp(datagram) => return Entry::datagram_opener(segment, &datagram, from),
            Transport::Icmp { reply: false, .. } | Transport::Other { .. } => return (from, OpenerFrom::FirstPacket),
            Transport::Icmp { reply: true, .. } => return (1 - from, OpenerFrom::Reply),
            Transport::Tcp(header) => header,
        };
        if header.flags & SYN != 0 {
            return if header.flags & ACK != 0 { (1 - from, OpenerFrom::SynAck) } else { (from, OpenerFrom::Syn) };
        }
        match segment.source.port.cmp(&segment.destination.port) {
            std::cmp::Ordering::Greater => (from, OpenerFrom::Port),
            std::cmp::Ordering::Less => (1 - from, OpenerFrom::Port),
            std::cmp::Ordering::Equal => (from, OpenerFrom::FirstPacket),
        }
    }

    /// Whether `segment` is the SYN (or SYN-ACK) of a later connection on the same 5-tuple.
    pub(crate) fn is_succeeded_by(&self, segment: &Segment, from: usize, time_ns: i64) -> bool {
        let Transport::Tcp(TcpHeader { seq, flags, .. }) = segment.transport else { return false };
        if flags & SYN == 0 || flags & RST != 0 {
            return false;
        }
        let half = &self.halves[from];
        let over =
            self.halves.iter().any(|half| half.sent.fin || half.sent.rst) || time_ns.abs_diff(self.last_ns) >= QUIET_NS;
        match (half.isn, half.first_seq) {
            (Some(isn), _) if isn == seq => false,
            (Some(_), _) => over || (from == self.opener() && self.halves[1 - self.opener()].packets == 0),
            // Reordered by the tap: a segment, then the SYN in front of it.
            (None, Some(first)) => first != seq.wrapping_add(1),
            (None, None) => over,
        }
    }

    /// Accounts a segment; with `pauses` they end trains, too.
    pub(crate) fn add(&mut self, segment: &Segment, from: usize, tap: u32, time_ns: i64, pauses: bool) -> Brought {
        self.passed(tap);
        self.last_ns = time_ns;
        self.halves[from].see(segment, time_ns);
        match &segment.transport {
            Transport::Tcp(header) => {
                let answered = self.handshake.answered;
                let acked_before = self.halves[from].highest_ack;
                self.add_flags(header, segment.payload_bytes, from, time_ns);
                let acked_bytes = acked_before
                    .zip(self.halves[from].highest_ack)
                    .map_or(0, |(before, now)| u64::from(now.wrapping_sub(before)));
                let shook_ns = self.handshake_part_ns(header.flags, from, answered);
                let brought = self.add_payload(segment, header, from, time_ns, pauses);
                let sample_ns = self.halves[1 - from].echoes.take_fresh();
                Brought { rtt_ns: shook_ns.into_iter().chain(sample_ns).min(), acked_bytes, ..brought }
            }
            Transport::Udp(datagram) => {
                self.halves[from].see_datagram(segment, time_ns);
                self.add_datagram(datagram, segment, from, time_ns, pauses)
            }
            Transport::Icmp { reply, echo: Some(number) } => {
                self.halves[from].see_datagram(segment, time_ns);
                Brought { packets: 1, rtt_ns: self.asked(*number, *reply, from, time_ns), ..Brought::default() }
            }
            Transport::Icmp { .. } | Transport::Other { .. } => {
                self.halves[from].see_datagram(segment, time_ns);
                Brought { packets: 1, ..Brought::default() }
            }
        }
    }

    /// A message that is answered at once, or the answer to one: a round trip of the end that answers.
    fn asked(&mut self, number: u32, answers: bool, from: usize, time_ns: i64) -> Option<i64> {
        if answers {
            return self.halves[1 - from].echoes.answer(number, time_ns);
        }
        self.halves[from].echoes.ask(number, time_ns);
        None
    }

    /// Accounts a datagram of UDP: the handshake, data and round trips, where it is of QUIC.
    fn add_datagram(
        &mut self,
        datagram: &Datagram,
        segment: &Segment,
        from: usize,
        time_ns: i64,
        pauses: bool,
    ) -> Brought {
        let packets = self.halves[from].packets;
        if segment.fragment {
            return Brought { packets: 1, ..Brought::default() };
        }
        if self.quic.is_none() {
            self.quic = quic::Flow::of(datagram, packets, [segment.source.port, segment.destination.port]);
        }
        let Some(flow) = &mut self.quic else {
            let rtt_ns = datagram.asked.and_then(|asked| self.asked(asked.number, asked.answer, from, time_ns));
            return Brought { packets: 1, rtt_ns, ..Brought::default() };
        };
        flow.shows(datagram, from, packets);
        let shakes = flow.has_begun() && !self.handshake.answered;
        let shook_ns = if shakes { self.shake(datagram.long, from, time_ns) } else { None };
        let Some(flow) = &mut self.quic else { return Brought::default() };
        // Of fragments the first one speaks for all of a datagram, which nothing has joined.
        let held_bytes = segment.payload_bytes.min(segment.wire_bytes);
        let brought = flow.add(datagram, held_bytes, from, time_ns, pauses, usize::from(self.opener));
        if let Some(rtt_ns) = brought.rtt_ns {
            self.halves[1 - from].echoes.acknowledged.add(rtt_ns);
        }
        let rtt_ns = shook_ns.into_iter().chain(brought.rtt_ns).min();
        if rtt_ns.is_some() {
            let parts_ns = [0, 1].map(|end| self.part_ns(end));
            self.quic.iter_mut().for_each(|flow| flow.parts_ns = parts_ns);
        }
        if brought.packets > 1 && self.quic().is() {
            self.halves[from].add_datagrams(brought.packets);
        }
        let Some(data) = brought.data else {
            return Brought { packets: brought.packets, rtt_ns, ..Brought::default() };
        };
        let counts = [data.bytes, brought.packets, segment.wire_bytes];
        let ended = self.transfer.see(from, time_ns, counts, data.paused, data.heard_ns);
        Brought { ended, packets: brought.packets, rtt_ns, acked_bytes: 0 }
    }

    /// A packet of QUIC in the handshake; the round trip between the tap and its sender that it ended.
    fn shake(&mut self, long: LongHeader, from: usize, time_ns: i64) -> Option<i64> {
        let handshake = &mut self.handshake;
        let begun_ns = handshake.syn.then_some(handshake.syn_ns);
        let Some(flow) = &mut self.quic else { return None };
        match Shake::of(from == usize::from(self.opener), long, begun_ns, flow.answer, time_ns) {
            Shake::Begins => (handshake.syn, handshake.syn_ns) = (true, time_ns),
            Shake::BeginsAgain => handshake.spoiled = true,
            Shake::Answers => {
                flow.answer = Some(long);
                (handshake.syn_ack, handshake.syn_ack_ns) = (true, time_ns);
                let known = handshake.syn && !handshake.spoiled;
                return known.then(|| time_ns.saturating_sub(handshake.syn_ns)).filter(|part_ns| *part_ns >= 0);
            }
            Shake::Ends => {
                (handshake.answered, handshake.ack_ns) = (true, time_ns);
                let ordered = handshake.syn_ns <= handshake.syn_ack_ns && handshake.syn_ack_ns <= time_ns;
                let near = time_ns.checked_sub(handshake.syn_ns).is_some();
                handshake.whole = handshake.syn && ordered && near && !handshake.spoiled;
                return handshake.whole.then(|| time_ns - handshake.syn_ack_ns);
            }
            Shake::Nothing => {}
        }
        None
    }

    /// Least round-trip time between the tap and an end.
    fn part_ns(&self, end: usize) -> Option<i64> {
        let times = self.handshake.times();
        let shook_ns = times.map(|times| if end == self.opener() { times.to_opener_ns } else { times.to_responder_ns });
        shook_ns.into_iter().chain(self.halves[1 - end].echoes.acknowledged.least_ns()).min()
    }

    /// The client of HTTP/3 opened a connection whose beginning was not captured; else who sent the first packet did.
    fn datagram_opener(segment: &Segment, datagram: &Datagram, from: usize) -> (usize, OpenerFrom) {
        let [source, destination] = [segment.source.port, segment.destination.port];
        let answers = quic::is_of_server(datagram, source, destination);
        if answers { (1 - from, OpenerFrom::Port) } else { (from, OpenerFrom::FirstPacket) }
    }

    /// Whether its packets make trains: those of TCP and QUIC do.
    pub(crate) fn has_trains(&self) -> bool {
        self.key.protocol == Protocol::Tcp || self.quic().is()
    }

    /// How it is known to be QUIC.
    pub(crate) fn quic(&self) -> Quic {
        self.quic.as_ref().map_or(Quic::No, |flow| flow.known())
    }

    pub(crate) fn passed(&mut self, tap: u32) {
        self.taps |= 1 << tap.min(TAPS_MAX);
    }

    fn add_flags(&mut self, header: &TcpHeader, bytes: u64, from: usize, time_ns: i64) {
        let TcpHeader { seq, ack, flags, .. } = *header;
        if flags & RST != 0 {
            let unheard = self.halves[from].sequence.first().is_none();
            self.rejected |= from != self.opener() && unheard && self.halves[self.opener()].isn.is_some();
            self.reset |= !self.halves.iter().all(|half| half.sent.fin);
            self.halves[from].sent.rst = true;
            return;
        }
        if flags & SYN != 0 {
            self.add_syn(header, from);
        } else {
            self.halves[from].first_seq.get_or_insert(seq);
        }
        self.halves[from].see_control(header, bytes);
        if flags & FIN != 0 {
            self.halves[from].sent.fin = true;
        }
        if flags & ACK != 0 {
            self.acknowledge(header, from, time_ns);
        }
        self.time_handshake(ack, flags, from, time_ns);
    }

    fn add_syn(&mut self, header: &TcpHeader, from: usize) {
        let TcpHeader { seq, ack, flags, .. } = *header;
        // A responder that kept no state (SYN cookies) may answer again with another number.
        let answers_again = flags & ACK != 0 && !self.handshake.answered;
        let half = &mut self.halves[from];
        if answers_again && half.sequence.distinct_bytes() == 0 {
            (half.isn, half.sequence) = (None, Default::default());
        }
        half.isn.get_or_insert(seq);
        half.sequence.anchor(seq.wrapping_add(1));
        half.mss = header.options.mss.unwrap_or(half.mss);
        half.sent.syn |= flags & ACK == 0;
        half.sent.syn_ack |= flags & ACK != 0;
        if flags & ACK != 0 {
            self.halves[1 - from].isn.get_or_insert(ack.wrapping_sub(1));
            self.halves[1 - from].sequence.anchor(ack);
        }
        self.name_opener(from, flags);
    }

    /// A SYN or SYN-ACK that comes late corrects an opener that was only inferred.
    fn name_opener(&mut self, from: usize, flags: u8) {
        let by_syn = matches!(self.opener_from, OpenerFrom::Syn | OpenerFrom::Simultaneous);
        if flags & ACK == 0 && !by_syn {
            (self.opener, self.opener_from) = (from as u8, OpenerFrom::Syn);
        } else if flags & ACK == 0 && from != self.opener() {
            self.opener_from = OpenerFrom::Simultaneous;
        } else if flags & ACK != 0 && matches!(self.opener_from, OpenerFrom::Port | OpenerFrom::FirstPacket) {
            (self.opener, self.opener_from) = (1 - from as u8, OpenerFrom::SynAck);
        }
    }

    fn acknowledge(&mut self, header: &TcpHeader, from: usize, time_ns: i64) {
        let [mine, theirs] = self.pair(from);
        if mine.highest_ack.is_none_or(|highest| header.ack.wrapping_sub(highest) as i32 > 0) {
            (mine.highest_ack, mine.highest_ack_ns) = (Some(header.ack), time_ns);
            theirs.echoes.acknowledge(header.ack, time_ns);
        }
        if let Some((_, echo)) = header.options.timestamps {
            theirs.echoes.echo(echo, time_ns);
        }
    }

    fn opener(&self) -> usize {
        usize::from(self.opener)
    }

    /// The direction `from` and the other one.
    fn pair(&mut self, from: usize) -> [&mut Half; 2] {
        let [one, two] = &mut self.halves;
        if from == 0 { [one, two] } else { [two, one] }
    }

    fn time_handshake(&mut self, ack: u32, flags: u8, from: usize, time_ns: i64) {
        let opener = self.opener();
        let answer_end = self.halves[1 - opener].isn.map(|isn| isn.wrapping_add(1));
        let handshake = &mut self.handshake;
        if flags & SYN != 0 {
            let (seen, at_ns) = match (from == opener, flags & ACK != 0) {
                (true, false) if !handshake.syn_ack => (&mut handshake.syn, &mut handshake.syn_ns),
                (false, true) => (&mut handshake.syn_ack, &mut handshake.syn_ack_ns),
                _ => {
                    handshake.spoiled = true;
                    return;
                }
            };
            handshake.spoiled |= std::mem::replace(seen, true);
            // One that comes again later takes nothing from the times of those that were answered.
            if !handshake.answered {
                *at_ns = time_ns;
            }
            return;
        }
        if from != opener || flags & ACK == 0 || handshake.answered || !handshake.syn_ack {
            return;
        }
        (handshake.answered, handshake.ack_ns) = (true, time_ns);
        let ordered = handshake.syn_ns <= handshake.syn_ack_ns && handshake.syn_ack_ns <= time_ns;
        // A span beyond 292 years has no place in a time stamp.
        let near = time_ns.checked_sub(handshake.syn_ns).is_some();
        handshake.whole = handshake.syn && ordered && near && !handshake.spoiled && answer_end == Some(ack);
    }

    /// The part of the handshake that a segment ended, as a round-trip time between the tap and its sender; `answered` says
    /// whether the handshake was over before.
    fn handshake_part_ns(&self, flags: u8, from: usize, answered: bool) -> Option<i64> {
        let Handshake { syn_ns, syn_ack_ns, ack_ns, syn, syn_ack, spoiled, whole, .. } = self.handshake;
        let part_ns = if flags & (SYN | ACK) == SYN | ACK && from != self.opener() {
            (syn && syn_ack && !spoiled).then(|| syn_ack_ns.saturating_sub(syn_ns))
        } else {
            (whole && !answered).then(|| ack_ns.saturating_sub(syn_ack_ns))
        };
        part_ns.filter(|part_ns| *part_ns >= 0)
    }

    fn add_payload(
        &mut self,
        segment: &Segment,
        header: &TcpHeader,
        from: usize,
        time_ns: i64,
        pauses: bool,
    ) -> Brought {
        let (bytes, flags) = (segment.payload_bytes, header.flags);
        // Payload of an RST is a diagnostic (RFC 9293, 3.5.3), not data.
        if flags & RST != 0 {
            return Brought::default();
        }
        let start = if flags & SYN != 0 { header.seq.wrapping_add(1) } else { header.seq };
        if flags & FIN != 0 {
            self.halves[from].fin_seq = Some(start.wrapping_add(bytes as u32));
        }
        if bytes == 0 {
            return Brought::default();
        }
        let (mss, notice_ns) = (self.mss(), self.notice_ns());
        let pause_ns = self.least_rtt_ns().unwrap_or(USUAL_PAUSE_NS);
        let [mine, theirs] = self.pair(from);
        if bytes == 1 && flags & (SYN | FIN) == 0 && mine.is_keep_alive(start, theirs.highest_ack) {
            mine.see_keep_alive();
            return Brought::default();
        }
        // TCP would have sent it before, a round-trip time after it had nothing under way any more.
        let settled = mine.sequence.next().zip(theirs.highest_ack).is_some_and(|(next, ack)| next == ack);
        let paused = pauses && settled && time_ns.saturating_sub(theirs.highest_ack_ns) >= pause_ns;
        let packets = mine.packets_in(segment, header, mss);
        let all = theirs.sequence.next().zip(mine.highest_ack).is_some_and(|(next, ack)| next == ack);
        let heard_ns = all.then_some(mine.highest_ack_ns);
        let data = Data { header, start, bytes, packets, time_ns };
        let fresh = mine.see_data(data, theirs.highest_ack, notice_ns);
        let ended = self.transfer.see(from, time_ns, [fresh, packets, segment.wire_bytes], paused, heard_ns);
        Brought { ended, packets: if fresh > 0 { packets } else { 0 }, ..Brought::default() }
    }

    fn mss(&self) -> Option<u16> {
        self.halves.iter().map(|half| half.mss).filter(|mss| *mss > 0).min()
    }

    /// A segment that follows a lost one passes the tap, its acknowledgement passes back, and the lost one comes again: a
    /// whole round-trip time.
    fn notice_ns(&self) -> i64 {
        self.least_rtt_ns().unwrap_or(USUAL_NOTICE_NS)
    }

    fn least_rtt_ns(&self) -> Option<i64> {
        let shook_ns = self.handshake.rtt_ns();
        let [one, two] = [0, 1].map(|index| self.halves[index].echoes.acknowledged.least_ns());
        let acknowledged_ns = one.zip(two).map(|(one, two)| one + two);
        shook_ns.into_iter().chain(acknowledged_ns).min()
    }

    /// Round-trip time of the whole path: of data, else of the handshake.
    pub(crate) fn rtt_ns(&self) -> Option<i64> {
        let [one, two] = [0, 1].map(|index| self.halves[index].echoes.acknowledged.mean_ns());
        let shook_ns = self.handshake.rtt_ns();
        one.zip(two).map(|(one, two)| (one + two).round() as i64).or(shook_ns)
    }

    /// Time of its latest packet, as the packets have it.
    pub(crate) fn last_ns(&self) -> i64 {
        self.last_ns
    }

    /// Silence after which it is over where room is needed.
    pub(crate) fn quiet_ns(&self) -> u64 {
        let first_ns = self.halves.iter().filter_map(|half| half.all.since(0).0).min();
        let lasted_ns = first_ns.map_or(0, |first_ns| self.last_ns.abs_diff(first_ns));
        let datagrams = self.key.protocol != Protocol::Tcp && lasted_ns < STREAM_NS;
        if datagrams { QUIET_DATAGRAMS_NS } else { QUIET_NS }
    }

    /// Whether it was closed by both ends, or reset.
    pub(crate) fn is_over(&self) -> bool {
        let [one, two] = &self.halves;
        (one.sent.fin && two.sent.fin) || one.sent.rst || two.sent.rst
    }

    /// Packets and their bytes, where one end never sent any: a scan, a flood, a host that is gone.
    pub(crate) fn unanswered(&self) -> Option<(u64, u64)> {
        let [one, two] = &self.halves;
        let silent = one.packets == 0 || two.packets == 0;
        silent.then(|| self.carried())
    }

    /// Packets of both directions, and their IP bytes.
    pub(crate) fn carried(&self) -> (u64, u64) {
        let [one, two] = &self.halves;
        (one.packets + two.packets, one.wire_bytes + two.wire_bytes)
    }

    /// The train that runs, as it stands.
    pub(crate) fn last_train(&self) -> Ended {
        self.transfer.last_train()
    }

    /// Whether end `side` of the key is the opener.
    pub(crate) fn is_opener(&self, side: usize) -> bool {
        side == self.opener()
    }

    fn evidence(&self) -> Evidence {
        Evidence {
            ends: [self.opener(), 1 - self.opener()].map(|end| self.halves[end].sent),
            rejected: self.rejected,
            reset: self.reset,
            answered: self.handshake.answered,
            begun: self.halves.iter().any(|half| half.isn.is_some()),
        }
    }

    fn states(&self) -> (State, ZeekState) {
        let both = self.halves.iter().all(|half| half.packets > 0);
        match (self.key.protocol, both) {
            (Protocol::Tcp, _) => (self.evidence().state(), self.evidence().zeek()),
            (Protocol::Udp, true) => (State::TwoWay, ZeekState::Sf),
            (Protocol::Udp, false) => (State::OneWay, ZeekState::S0),
            (Protocol::Icmp | Protocol::Other, both) => {
                (if both { State::TwoWay } else { State::OneWay }, ZeekState::Oth)
            }
        }
    }

    /// The row of the table; times relative to `first_ns`.
    pub(crate) fn connection(&self, first_ns: i64, ideal: &Ideal) -> Connection {
        let (state, zeek_state) = self.states();
        let [opener, responder] = [self.opener(), 1 - self.opener()];
        let ends: [Endpoint; 2] = self.key.ends();
        let (tcp, quic) = (self.key.protocol == Protocol::Tcp, self.quic());
        let side = |index: usize| {
            let half = &self.halves[index];
            let share = self.transfer.shares[index];
            let mut side = half.side(first_ns, tcp, self.halves[1 - index].highest_ack);
            if !tcp && !quic.is() {
                return side;
            }
            (side.trains, side.warm_up_ns, side.transfer_ns) = (share.trains, share.warm_up_ns, share.transfer_ns);
            if let Some(flow) = self.quic.as_ref().filter(|_| quic.is()) {
                side.distinct_bytes = flow.stream_bytes(index);
            }
            if self.transfer.span().is_some() {
                side.theoretical_ns = ideal.known_ns(half.distinct_packets, self.rtt_ns());
            }
            side
        };
        let (from_opener, from_responder) = (side(opener), side(responder));
        let start_ns = from_opener.first_ns.into_iter().chain(from_responder.first_ns).min().unwrap_or(0);
        let end_ns = from_opener.last_ns.into_iter().chain(from_responder.last_ns).max().unwrap_or(0);
        let span = self.transfer.span().filter(|_| tcp || quic.is());
        let data = span.map(|(first, last)| (first.saturating_sub(first_ns), last.saturating_sub(first_ns)));
        let begun = self.halves.iter().any(|half| half.sent.syn || half.sent.syn_ack) || self.handshake.syn;
        let closed = self.halves.iter().any(|half| half.sent.fin || half.sent.rst);
        Connection {
            protocol: self.key.protocol,
            ip_protocol: self.key.ip_protocol(),
            opener: ends[opener],
            responder: ends[responder],
            opener_from: self.opener_from,
            start_ns,
            end_ns,
            rtt_ns: self.handshake.rtt_ns(),
            handshake: self.handshake.times(),
            state,
            zeek_state,
            taps: self.taps,
            quic,
            mss_bytes: self.mss().or(self.quic.as_ref().filter(|_| quic.is()).map(|flow| flow.datagram_bytes())),
            setup_ns: data.filter(|_| begun).map(|(first, _)| first.saturating_sub(start_ns)),
            // Not from the times above: relative to a packet long before, they may have met their bound.
            data_ns: span.map(|(first, last)| last.saturating_sub(first)),
            teardown_ns: data.filter(|_| closed).map(|(_, last)| end_ns.saturating_sub(last)),
            from_opener,
            from_responder,
        }
    }
}
