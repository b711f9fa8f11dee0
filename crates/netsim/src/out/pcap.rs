//! A run as a packet capture: the headers of every packet that passes the interfaces of one side's hosts.
//!
//! Format: pcap with nanoseconds, Ethernet, IPv4; a packet is cut after its headers, its lengths tell the rest. Segment
//! numbers become bytes: the SYN has the initial number, payload comes behind it. What a packet of the simulator does
//! not say, because its ends know it, is kept per flow: what either end has heard and acknowledged. An MSS option is on
//! every SYN, timestamps (RFC 7323) where the run has them, in milliseconds, and SACK blocks (RFC 2018) but in scripted
//! connections. QUIC has its headers, with connection ids of 8 bytes (RFC 9000, 17). A window that moves stands there with its scale (RFC 7323) on every SYN; of one
//! that does not the scale is left out. Cost: nothing while no run is recorded, else O(1) per packet and a fixed state per flow.

use std::fmt;
use std::io::{BufWriter, Write};

use qdisc::{Ecn, Kind, Packet};
use units::{Direction, Time};

use crate::flow::FlowSpec;
use crate::options::{Contents, SegmentOptions, UNTOLD};
use crate::tcp::linux::buffer::window_scale;
use crate::tcp::settings::Tcp;
use crate::wire::frames::{Frames, Space};
use crate::wire::handle::{Handle, Mark};

const FIN: u8 = 1;
const SYN: u8 = 2;
const ACK: u8 = 16;
const ECE: u8 = 64;
const CWR: u8 = 128;
/// Options: padding, and the byte counts of accurate ECN, in both orders.
const NOP: u8 = 1;
const ACCURATE_0: u8 = 172;
const ACCURATE_1: u8 = 174;
const MAGIC_NS: u32 = 0xa1b2_3c4d;
const ETHERNET: u32 = 1;
/// Ethernet, IPv4 and the longest TCP header.
const SNAPLEN: u32 = 14 + 20 + 60;
const IP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
const WIDEST_WINDOW: u64 = 65_535;
/// Time stamps are in milliseconds; 0 would mean that there is none.
const TICK_NS: u64 = 1_000_000;

/// Address and port of an end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// IPv4 address.
    pub address: [u8; 4],
    /// TCP or UDP port.
    pub port: u16,
}

/// Whose interfaces are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Of the hosts that send what goes down.
    Server,
    /// Of the hosts that receive it.
    Client,
}

/// Where and how a run is recorded.
pub struct Recording {
    /// Takes the capture.
    pub sink: Box<dyn Write + Send>,
    /// Whose interfaces.
    pub side: Side,
    /// Sender and receiver of each flow.
    pub ends: Vec<[End; 2]>,
}

/// What the ends of one flow know, each of the other; sequence numbers in bytes from the initial one on.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Behind the highest number sent.
    sent: [u64; 2],
    /// Next number expected of the other end, as far as it was told.
    acknowledged: [u64; 2],
    /// Number behind the FIN, once sent.
    fin_end: [Option<u64>; 2],
    /// Segment of the sender that is the FIN, once sent.
    fin_segment: Option<u32>,
    /// A segment behind the SYN has reached the receiver.
    data_heard: bool,
}

/// Sequence and acknowledgement number, flags and payload of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    seq: u64,
    ack: u64,
    flags: u8,
    payload: u32,
}

/// What the transport of one flow writes into its headers.
#[derive(Clone, Copy, Debug)]
struct Format {
    headers: u32,
    mss: u32,
    window: u16,
    /// Scale of a window that moves.
    scale: Option<u32>,
    timestamps: bool,
    fin_on_data: bool,
    quic: bool,
    /// Payload of a full segment.
    payload: u32,
}

impl Format {
    fn of(tcp: &Tcp) -> Format {
        Format {
            headers: tcp.headers(),
            // The option does not reckon with other options (RFC 6691): a segment with timestamps holds that much less.
            mss: tcp.mss + tcp.reserved + tcp.headers() - tcp.header,
            window: (u64::from(tcp.receiver_window) * u64::from(tcp.mss)).min(WIDEST_WINDOW) as u16,
            scale: window_scale(tcp),
            timestamps: tcp.timestamps,
            fin_on_data: tcp.fin_on_data,
            quic: tcp.recovery.is_quic(),
            payload: tcp.mss,
        }
    }
}

/// A recording under way.
pub(crate) struct Tape {
    sink: BufWriter<Box<dyn Write + Send>>,
    /// Sender (0) or receiver (1) of each flow is at the recorded side.
    near: Vec<u8>,
    ends: Vec<[End; 2]>,
    sizes: Vec<u64>,
    receiver_opens: Vec<bool>,
    known: Vec<Known>,
    formats: Vec<Format>,
    identification: u16,
    failed: Option<String>,
}

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tape").field("failed", &self.failed).finish_non_exhaustive()
    }
}

impl Tape {
    /// Of a run of `flows`, each with the transport that comes in its place.
    pub(crate) fn of<'t>(recording: Recording, flows: &[FlowSpec], transports: impl Iterator<Item = &'t Tcp>) -> Tape {
        let far_end = |up: bool| (recording.side == Side::Client) != up;
        let mut tape = Tape {
            sink: BufWriter::new(recording.sink),
            near: flows.iter().map(|flow| u8::from(far_end(flow.up))).collect(),
            ends: recording.ends,
            sizes: flows.iter().map(|flow| if flow.script.is_some() { u64::MAX } else { flow.size_bytes }).collect(),
            receiver_opens: flows.iter().map(|flow| flow.receiver_opens).collect(),
            known: vec![Known::default(); flows.len()],
            formats: transports.map(Format::of).collect(),
            identification: 0,
            failed: None,
        };
        let mut header = Vec::with_capacity(24);
        header.extend(MAGIC_NS.to_le_bytes());
        header.extend([2, 0, 4, 0]);
        header.extend([0; 8]);
        header.extend(SNAPLEN.to_le_bytes());
        header.extend(ETHERNET.to_le_bytes());
        tape.write(&header);
        tape
    }

    /// A host sends `packet`.
    pub(crate) fn sent(&mut self, packet: &Packet, contents: Contents<'_>, now: Time) {
        let (flow, from) = place(packet);
        let tcp = packet.kind != Kind::Udp && !self.formats[flow].quic;
        let segment = tcp.then(|| self.segment(flow, packet, contents.options));
        if usize::from(self.near[flow]) == from {
            self.record(flow, from, packet, segment, contents, now);
        }
        if let Some(segment) = segment {
            let known = &mut self.known[flow];
            known.sent[from] = known.sent[from].max(segment.behind());
            known.acknowledged[from] = known.acknowledged[from].max(segment.ack);
        }
    }

    /// `packet` reaches its host.
    pub(crate) fn received(&mut self, packet: &Packet, contents: Contents<'_>, now: Time) {
        let (flow, from) = place(packet);
        let tcp = packet.kind != Kind::Udp && !self.formats[flow].quic;
        let segment = tcp.then(|| self.segment(flow, packet, contents.options));
        if usize::from(self.near[flow]) != from {
            self.record(flow, from, packet, segment, contents, now);
        }
        let Some(segment) = segment else { return };
        let known = &mut self.known[flow];
        if segment.flags & SYN != 0 {
            known.acknowledged[1 - from] = known.acknowledged[1 - from].max(1);
        } else if from == 0 && (segment.payload > 0 || segment.flags & FIN != 0) {
            known.data_heard = true;
        }
        if from == 1 && segment.flags & FIN != 0 {
            // All of the receiver's data has come before it closes.
            known.acknowledged[0] = segment.behind();
        }
    }

    /// The headers of a segment that its sender sends, or has sent.
    fn segment(&mut self, flow: usize, packet: &Packet, options: Option<&SegmentOptions>) -> Segment {
        let (_, from) = place(packet);
        let Handle { mark, number, echo, .. } = Handle::unpack(packet.handle);
        let format = self.formats[flow];
        let known = &mut self.known[flow];
        let riding = options.filter(|options| options.ack > 0).map_or(0, |options| 1 + options.ack_bytes);
        let told = known.acknowledged[from];
        let fin_heard = known.fin_segment.is_some_and(|fin| number > fin);
        let bare = |flags, seq, ack| Segment { seq, ack, flags, payload: 0 };
        let mut segment = match (packet.kind, mark, from) {
            (Kind::Data, Mark::Open, _) => bare(SYN, 0, 0),
            (Kind::Data, Mark::Close, _) => {
                let seq = *known.fin_end[1].get_or_insert(known.sent[1].max(1) + 1) - 1;
                bare(FIN | ACK, seq, known.fin_end[0].unwrap_or(told))
            }
            (Kind::Data, Mark::Plain, 0) if number == 0 => match self.receiver_opens[flow] {
                true => bare(SYN | ACK, 0, 1),
                false => bare(SYN, 0, 0),
            },
            (Kind::Data, Mark::Plain, _) => {
                // The option of accurate ECN is in the length of the packet.
                let accurate = options.and_then(|options| options.told);
                let payload = accurate.map_or(packet.len - format.headers, |told| told.payload);
                let seq = 1 + packet.progress;
                let last = format.fin_on_data && packet.progress + u64::from(payload) == self.sizes[flow];
                let fin = from == 0 && (payload == 0 || last);
                let segment = Segment { seq, ack: told.max(riding), flags: ACK | if fin { FIN } else { 0 }, payload };
                if fin {
                    (known.fin_segment, known.fin_end[0]) = (Some(number), Some(segment.behind()));
                }
                segment
            }
            // The receiver's answer to a SYN, as long as nothing else can have asked for one.
            (_, Mark::Plain, 1) if number <= 1 && !known.data_heard && !self.receiver_opens[flow] => {
                bare(SYN | ACK, 0, 1)
            }
            (_, Mark::Plain, 1) => bare(ACK, known.sent[1].max(1), 1 + packet.progress + u64::from(fin_heard)),
            (_, Mark::Plain, _) => bare(ACK, known.sent[0].max(1), 1 + packet.progress),
            (_, _, _) => bare(ACK, known.sent[from].max(1), told),
        };
        if echo {
            segment.flags |= if packet.kind == Kind::Data { CWR } else { ECE };
        }
        segment
    }

    fn record(
        &mut self,
        flow: usize,
        from: usize,
        packet: &Packet,
        segment: Option<Segment>,
        contents: Contents<'_>,
        now: Time,
    ) {
        let mut ends = self.ends[flow];
        if from == 1 {
            ends.swap(0, 1);
        }
        let (transport, payload) = match segment {
            Some(segment) => (self.tcp_header(flow, from, ends, segment, contents.options, now), segment.payload),
            None => {
                let length = packet.len.saturating_sub(IP_HEADER as u32);
                let payload = length.saturating_sub(UDP_HEADER as u32);
                let mut header = udp_header(ends, length);
                let begins = contents.frames.map_or(Vec::new(), |frames| {
                    let client = (from == 1) == self.receiver_opens[flow];
                    quic_header(flow, from, client, frames, payload)
                });
                let shown = begins.len().min(payload as usize);
                header.extend(&begins[..shown]);
                (header, payload - shown as u32)
            }
        };
        let protocol = if segment.is_some() { 6 } else { 17 };
        let ip_bytes = (IP_HEADER + transport.len()) as u32 + payload;
        self.identification = self.identification.wrapping_add(1);
        let mut frame = Vec::with_capacity(SNAPLEN as usize);
        for end in [ends[1], ends[0]] {
            frame.extend([2, 0]);
            frame.extend(end.address);
        }
        frame.extend([8, 0]);
        frame.extend(ip_header(ip_bytes, self.identification, protocol, packet.ecn, ends));
        frame.extend(transport);
        let (seconds, rest) = (now.0 / 1_000_000_000, now.0 % 1_000_000_000);
        let mut record = Vec::with_capacity(16 + frame.len());
        for field in [seconds as u32, rest as u32, frame.len() as u32, 14 + ip_bytes] {
            record.extend(field.to_le_bytes());
        }
        record.extend(frame);
        self.write(&record);
    }

    fn tcp_header(
        &self,
        flow: usize,
        from: usize,
        ends: [End; 2],
        segment: Segment,
        options: Option<&SegmentOptions>,
        now: Time,
    ) -> Vec<u8> {
        let Segment { seq, ack, flags, .. } = segment;
        let format = self.formats[flow];
        let mut more = Vec::new();
        if flags & SYN != 0 {
            more.extend([2, 4]);
            more.extend((format.mss as u16).to_be_bytes());
            if let Some(scale) = format.scale {
                more.extend([1, 3, 3, scale as u8]);
            }
        }
        if format.timestamps {
            more.extend([1, 1, 8, 10]);
            let echoed =
                options.filter(|options| options.echoed > Time::ZERO).map_or(0, |options| ticks(options.echoed));
            for stamp in [ticks(now), echoed] {
                more.extend(stamp.to_be_bytes());
            }
        }
        let number = |end: usize, relative: u64| initial(flow, end).wrapping_add(relative as u32);
        let blocks = options.filter(|_| from == 1 && self.sizes[flow] < u64::MAX).map_or(&[][..], |one| one.blocks());
        let told = options.and_then(|options| options.told);
        if let Some(counts) = told.and_then(|told| told.counts) {
            let fields = &counts.values[..usize::from(counts.fields)];
            more.extend([if counts.ect1_first { ACCURATE_1 } else { ACCURATE_0 }, 2 + 3 * fields.len() as u8]);
            more.extend(fields.iter().flat_map(|count| count.to_be_bytes()[1..].to_vec()));
        }
        if !blocks.is_empty() {
            // Blocks are aligned; where an option before them is not, it takes the place of the padding.
            more.resize(more.len() + (6 - more.len() % 4) % 4, NOP);
            more.extend([5, 2 + 8 * blocks.len() as u8]);
            for edge in blocks.iter().flat_map(|&(left, right)| [left, right]) {
                more.extend(number(0, self.edge(flow, edge)).to_be_bytes());
            }
        }
        more.resize(more.len().next_multiple_of(4), NOP);
        let ace = told.map_or(0, |told| told.ace);
        let flags = flags | (ace & 3) << 6;
        let ack = if flags & ACK != 0 { number(1 - from, ack) } else { 0 };
        let mut header = Vec::with_capacity(60);
        header.extend(ends[0].port.to_be_bytes());
        header.extend(ends[1].port.to_be_bytes());
        header.extend(number(from, seq).to_be_bytes());
        header.extend(ack.to_be_bytes());
        header.extend([((5 + more.len() / 4) as u8) << 4 | ace >> 2, flags]);
        let told = options.map_or(UNTOLD, |options| options.window);
        let scale = format.scale.filter(|_| flags & SYN == 0).unwrap_or(0);
        let window = if told == UNTOLD { format.window } else { (told >> scale).min(WIDEST_WINDOW as u32) as u16 };
        header.extend(window.to_be_bytes());
        header.extend([0; 4]);
        header.extend(more);
        header
    }

    /// Sequence number at which a segment begins, in bytes from the initial one on.
    fn edge(&self, flow: usize, segment: u32) -> u64 {
        let (format, size) = (self.formats[flow], self.sizes[flow]);
        let before = u64::from(segment.saturating_sub(1)) * u64::from(format.payload);
        let fin_is_behind = format.fin_on_data || before >= size + u64::from(format.payload);
        1 + if before < size || !fin_is_behind { before.min(size) } else { size + 1 }
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.failed.is_none()
            && let Err(error) = self.sink.write_all(bytes)
        {
            self.failed = Some(error.to_string());
        }
    }

    /// Why the recording could not be written, if so.
    pub(crate) fn failure(&self) -> Option<String> {
        self.failed.clone()
    }

    /// Writes what is left.
    pub(crate) fn finish(&mut self) -> Option<String> {
        let rest = self.sink.flush().err().map(|error| error.to_string());
        self.failure().or(rest)
    }
}

impl Segment {
    /// Number behind it.
    fn behind(self) -> u64 {
        self.seq + u64::from(self.payload) + u64::from(self.flags & (SYN | FIN) != 0)
    }
}

/// Flow of a packet, and which of its ends sent it.
fn place(packet: &Packet) -> (usize, usize) {
    (packet.flow.connection() as usize, usize::from(packet.flow.direction() == Direction::Reverse))
}

/// Initial sequence numbers that wrap in some flows, and differ between those of one pair of ports.
fn initial(flow: usize, end: usize) -> u32 {
    (2 * flow as u32 + end as u32).wrapping_mul(2_654_435_761)
}

fn ticks(time: Time) -> u32 {
    (time.0 / TICK_NS) as u32 + 1
}

/// Bytes of a connection id.
const ID_BYTES: u8 = 8;

/// The header of a packet of `bytes` of QUIC version 1 (RFC 9000, 17) from an end: of the first flight of a client an Initial
/// packet, of the rest of the handshake a Handshake packet, else a short header, whose protected bits look random.
fn quic_header(flow: usize, from: usize, client: bool, frames: &Frames, bytes: u32) -> Vec<u8> {
    let id = |end: usize| (flow as u64 * 2 + end as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    let (own, its) = (id(from), id(1 - from));
    if frames.space == Space::Data {
        // Protected by a mask that only the ends know (RFC 9001, 5.4).
        let mask = (frames.number + 1).wrapping_mul(u64::from_be_bytes(own) | 1) >> 59;
        return [&[0x40 | mask as u8][..], &its].concat();
    }
    let initial = client && !frames.validates;
    let kind = if initial { 0xc1 } else { 0xe1 };
    let token: &[u8] = if initial { &[0] } else { &[] };
    let mut header = [&[kind, 0, 0, 0, 1, ID_BYTES][..], &its, &[ID_BYTES], &own, token].concat();
    let rest = (bytes as usize).saturating_sub(header.len() + 2) as u16 & 0x3fff;
    header.extend((0x4000 | rest).to_be_bytes());
    header
}

fn udp_header(ends: [End; 2], length: u32) -> Vec<u8> {
    [ends[0].port, ends[1].port, length as u16, 0].iter().flat_map(|field| field.to_be_bytes()).collect()
}

fn ip_header(bytes: u32, identification: u16, protocol: u8, ecn: Ecn, ends: [End; 2]) -> Vec<u8> {
    let ecn = match ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    };
    let mut header = vec![0x45, ecn];
    header.extend((bytes.min(65_535) as u16).to_be_bytes());
    header.extend(identification.to_be_bytes());
    // Not to be fragmented; 64 hops.
    header.extend([0x40, 0, 64, protocol, 0, 0]);
    header.extend(ends[0].address);
    header.extend(ends[1].address);
    let sum: u32 = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let checksum = !(((folded & 0xffff) + (folded >> 16)) as u16);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    header
}
