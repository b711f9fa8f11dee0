//! Framing of capture files: records where they lie in one reused buffer, which is filled by large blocks.
//!
//! The lengths in a file are read here before anything is allocated, so that a record is either
//! whole, longer than [`MAX_BLOCK_BYTES`] or cut off by the end of the file. The four numbers of a pcap
//! record are read here, too; what else there is, the header of the file and blocks of pcapng, pcap-parser parses. Cost per record: nothing is copied but what a block ends in. Files are read and not mapped into
//! memory: one that is cut while it is mapped kills the process. Formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.

use std::io::{self, Read};

use pcap_parser::pcapng::{
    Block, InterfaceDescriptionBlock, InterfaceStatisticsBlock, PcapNGOptionError, parse_block_be, parse_block_le,
};
use pcap_parser::{PcapHeader, parse_pcap_header};

use crate::decode::skip::Skip;
use crate::error::CaptureError;
use crate::read::input::Input;

/// Longest record held in memory, in bytes; longer ones are passed over.
pub const MAX_BLOCK_BYTES: usize = 8 << 20;

/// Read at once: as much as stays in the cache of a core.
const BLOCK_BYTES: usize = 1 << 18;
/// Longest frame that a record of a known form may tell of: super-segments of BIG TCP have 512 KiB.
const MAX_ORIGINAL: u32 = 16 << 20;
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACES_MAX: usize = 1 << 16;
/// The upper bits of the link-type field hold the length of a frame check sequence.
const LINK_TYPE_MASK: i32 = 0x03ff_ffff;

/// One captured packet.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// LINKTYPE_ number of the frame.
    pub link_type: i32,
    /// Number of the interface in its section of a pcapng file, 0 in pcap.
    pub interface: u32,
    /// Nanoseconds since 1970.
    pub time_ns: i64,
    /// Bytes the frame had on the wire.
    pub original_bytes: u32,
    /// The snapshot length would have let more bytes in than were captured: the frame was not cut by it.
    pub below_snap: bool,
    /// Captured bytes, from the link header on.
    pub data: &'a [u8],
}

/// What the next stretch of a file holds.
#[derive(Debug)]
pub enum Item<'a> {
    /// A packet.
    Packet(Record<'a>),
    /// A packet whose time or interface cannot be known, or within which the file ends, and the bytes that its frame had on the
    /// wire as far as the file says.
    Undated(Skip, u64),
    /// A block that holds no packet.
    Other,
    /// No more records.
    End {
        /// The file ends inside a record, or what follows cannot be framed.
        truncated: bool,
    },
}

struct Interface {
    name: Option<String>,
    link_type: i32,
    units_per_s: u128,
    offset_s: i64,
    snap_bytes: u32,
    /// Packets that the capturing program dropped there, by its latest count.
    dropped: u64,
}

enum Format {
    Pcap(Pcap),
    Pcapng { big_endian: bool, interfaces: Vec<Interface> },
}

/// What the header of a pcap file says of its records.
#[derive(Clone, Copy)]
struct Pcap {
    big_endian: bool,
    header_bytes: usize,
    link_type: i32,
    unit_ns: i64,
    snap_bytes: u32,
}

/// Microseconds of a second: a fraction from here on is one of nanoseconds.
const MICROSECONDS: u32 = 1_000_000;
const YEAR_S: u32 = 31_557_600;
/// Records at the start of a file by which its form is recognised.
const RECORDS_SEEN: usize = 64;

impl Pcap {
    fn of(header: &PcapHeader) -> Self {
        Pcap {
            big_endian: header.is_bigendian(),
            header_bytes: if header.is_modified_format() { 24 } else { 16 },
            link_type: header.network.0 & LINK_TYPE_MASK,
            unit_ns: if header.is_nanosecond_precision() { 1 } else { 1000 },
            snap_bytes: header.snaplen,
        }
    }

    /// Fractions of a second of the first records in `start`, which begins behind the header of the file; whether all of
    /// them can be records, and whether they end where `start` does. The length of record headers may be `guessed`.
    fn first_records(&self, start: &[u8], guessed: bool) -> (Vec<u32>, bool, bool) {
        let (mut fractions, mut at, mut began) = (Vec::new(), 0, None);
        while fractions.len() < RECORDS_SEEN {
            let Some(header) = start.get(at..at + self.header_bytes) else {
                return (fractions, true, at == start.len());
            };
            let [seconds, fraction, captured, original] = [0, 4, 8, 12].map(|at| word(header, at, self.big_endian));
            if captured as usize > MAX_BLOCK_BYTES || original > MAX_ORIGINAL || fraction >= 1_000_000_000 {
                return (fractions, false, false);
            }
            // What odd files may have makes a guess wrong.
            let began = *began.get_or_insert(seconds);
            if guessed && (captured == 0 || captured > original || seconds.abs_diff(began) > YEAR_S) {
                return (fractions, false, false);
            }
            fractions.push(fraction);
            at += self.header_bytes + captured as usize;
        }
        (fractions, true, true)
    }

    /// Whose longer record headers the file has, which its first bytes do not say: the first records are none in the known
    /// form, and are some with these headers.
    fn variant(&self, start: &[u8]) -> Option<&'static str> {
        if self.first_records(start, false).1 {
            return None;
        }
        let known: &[(usize, &str)] = match self.header_bytes {
            24 => &[(28, "SuSE 6.3")],
            _ => &[(24, "Red Hat 6.1"), (20, "Nokia")],
        };
        known.iter().find_map(|&(header_bytes, name)| {
            let (found, fits, ends) = Pcap { header_bytes, ..*self }.first_records(start, true);
            (fits && (ends || found.len() >= 2)).then_some(name)
        })
    }

    /// Whether a file of microseconds has fractions of a second that are nanoseconds: most of its first records are beyond
    /// a million.
    fn has_nanoseconds(&self, start: &[u8]) -> bool {
        let (fractions, ..) = self.first_records(start, false);
        let [beyond, any] = [MICROSECONDS, 1].map(|least| fractions.iter().filter(|&&one| one >= least).count());
        self.unit_ns == 1000 && 2 * beyond > any
    }

    /// The packet of a whole record.
    #[inline(always)]
    fn record<'a>(&self, block: &'a [u8]) -> Record<'a> {
        let (header, data) = block.split_at(self.header_bytes);
        // Never shorter; as one number it is read at once.
        let words = u128::from_le_bytes(header.first_chunk().copied().unwrap_or_default());
        let word = |at: u32| if self.big_endian { ((words >> at) as u32).swap_bytes() } else { (words >> at) as u32 };
        let (seconds, fraction, original_bytes) = (word(0), word(32), word(96));
        // No second has so many microseconds.
        let unit_ns = if fraction < MICROSECONDS { self.unit_ns } else { 1 };
        let time_ns = i64::from(seconds) * 1_000_000_000 + i64::from(fraction) * unit_ns;
        let below_snap = is_below(data, self.snap_bytes);
        Record { link_type: self.link_type, interface: 0, time_ns, original_bytes, below_snap, data }
    }
}

/// Streaming reader of a capture.
pub struct Reader<R: Read> {
    input: Input<R>,
    format: Format,
    buffer: Vec<u8>,
    /// What is not parsed yet: `buffer[at..held]`.
    at: usize,
    held: usize,
    ended: bool,
    /// The file ended within a packet, which was returned: [`Item::End`] says so next.
    cut: bool,
    nanoseconds: bool,
    dropped: u64,
}

impl<R: Read + Send + 'static> Reader<R> {
    /// The same as [`Reader::open`], which decompresses in a thread of its own.
    pub(crate) fn open_ahead(source: R) -> Result<Self, CaptureError> {
        Reader::over(Input::open(source)?.ahead())
    }
}

impl<R: Read> Reader<R> {
    /// Recognises the format of `source`.
    ///
    /// # Errors
    /// [`CaptureError`] when `source` cannot be read, is empty or is no capture.
    pub fn open(source: R) -> Result<Self, CaptureError> {
        Reader::over(Input::open(source)?)
    }

    fn over(input: Input<R>) -> Result<Self, CaptureError> {
        let compression = input.compression();
        let format = Format::Pcapng { big_endian: false, interfaces: Vec::new() };
        let mut reader = Reader {
            input,
            format,
            buffer: Vec::new(),
            at: 0,
            held: 0,
            ended: false,
            cut: false,
            nanoseconds: false,
            dropped: 0,
        };
        let held = reader.fill(24)?;
        let start = &reader.buffer[..held];
        if held == 0 && compression.is_none() {
            return Err(CaptureError::Empty);
        }
        if start.starts_with(&SECTION_HEADER.to_be_bytes()) {
            if held < 12 || byte_order(&start[8..12]).is_none() {
                return Err(CaptureError::NotCapture { found: "a broken pcapng section header".into() });
            }
            return Ok(reader);
        }
        match parse_pcap_header(start) {
            Ok((_, header)) => {
                let mut pcap = Pcap::of(&header);
                // What the first read brought, of more than the header.
                let first = &reader.buffer[held..reader.held];
                if let Some(name) = pcap.variant(first) {
                    let found = format!("a pcap with the record headers of {name} (convert it: editcap -F pcap)");
                    return Err(CaptureError::NotCapture { found });
                }
                reader.nanoseconds = pcap.has_nanoseconds(first);
                if reader.nanoseconds {
                    pcap.unit_ns = 1;
                }
                (reader.format, reader.at) = (Format::Pcap(pcap), held);
            }
            Err(error) => {
                let cut = error.is_incomplete() && held >= 4;
                let found = if cut {
                    format!("a pcap header cut off after {held} bytes")
                } else {
                    describe(&reader.buffer[..reader.held], compression)
                };
                return Err(CaptureError::NotCapture { found });
            }
        }
        Ok(reader)
    }

    /// Whether the file says microseconds and has nanoseconds, as which they are read.
    pub(crate) fn has_nanoseconds(&self) -> bool {
        self.nanoseconds
    }

    /// Packets that the capturing program dropped, as far as statistics of interfaces were read that say so.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Reads up to the next packet or block; [`Item::End`] for ever once the file has ended.
    ///
    /// # Errors
    /// [`CaptureError::Io`] when the operating system refuses.
    pub fn read_item(&mut self) -> Result<Item<'_>, CaptureError> {
        if self.ended {
            return Ok(Item::End { truncated: std::mem::take(&mut self.cut) });
        }
        match self.format {
            Format::Pcap(pcap) => self.read_pcap(pcap),
            Format::Pcapng { .. } => self.read_pcapng(),
        }
    }

    /// Name of an interface of the section that is read, where its file has one.
    pub(crate) fn interface_name(&self, interface: u32) -> Option<&str> {
        let Format::Pcapng { interfaces, .. } = &self.format else { return None };
        interfaces.get(interface as usize)?.name.as_deref()
    }

    /// Sees to it that `bytes` bytes from `at` on are there; returns how many are, fewer only where the file ends.
    #[inline]
    fn fill(&mut self, bytes: usize) -> io::Result<usize> {
        let there = self.held - self.at;
        if there >= bytes { Ok(bytes) } else { self.refill(bytes) }
    }

    #[cold]
    fn refill(&mut self, bytes: usize) -> io::Result<usize> {
        self.buffer.copy_within(self.at..self.held, 0);
        (self.at, self.held) = (0, self.held - self.at);
        while self.held < bytes {
            // Grown by what arrives, not by what the length field promises.
            if self.held == self.buffer.len() {
                self.buffer.resize(self.held + BLOCK_BYTES, 0);
            }
            match self.input.read(&mut self.buffer[self.held..]) {
                Ok(0) => break,
                Ok(count) => self.held += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(bytes.min(self.held))
    }

    fn end(&mut self, truncated: bool) -> Item<'static> {
        self.ended = true;
        Item::End { truncated }
    }

    /// The file ends within the record of a packet of so many bytes on the wire, as far as the file says; what cannot be is not
    /// believed.
    fn cut(&mut self, original_bytes: u64) -> Item<'static> {
        (self.ended, self.cut) = (true, true);
        let believed = original_bytes <= u64::from(MAX_ORIGINAL);
        Item::Undated(Skip::CutRecord, if believed { original_bytes } else { 0 })
    }

    /// The next packet, of a pcap file of which all of it is in the buffer; else [`Reader::read_item`] has what comes.
    #[inline]
    pub(crate) fn held_record(&mut self) -> Option<Record<'_>> {
        let Format::Pcap(pcap) = self.format else { return None };
        let rest = self.buffer.get(self.at..self.held)?;
        let captured = word(rest.first_chunk::<16>()?, 8, pcap.big_endian) as usize;
        let whole = if captured <= MAX_BLOCK_BYTES { pcap.header_bytes + captured } else { usize::MAX };
        let block = rest.get(..whole)?;
        self.at += whole;
        Some(pcap.record(block))
    }

    fn read_pcap(&mut self, pcap: Pcap) -> Result<Item<'_>, CaptureError> {
        let header_bytes = pcap.header_bytes;
        let held = self.fill(header_bytes)?;
        if held < header_bytes {
            return Ok(if held > 0 { self.cut(0) } else { self.end(false) });
        }
        let captured = word(&self.buffer[self.at..], 8, pcap.big_endian) as usize;
        let original_bytes = u64::from(word(&self.buffer[self.at..], 12, pcap.big_endian));
        if captured > MAX_BLOCK_BYTES {
            let passed = self.pass_over(header_bytes + captured)?;
            return Ok(if passed { Item::Undated(Skip::Oversized, original_bytes) } else { self.cut(original_bytes) });
        }
        let whole = header_bytes + captured;
        if self.fill(whole)? < whole {
            return Ok(self.cut(original_bytes));
        }
        self.at += whole;
        Ok(Item::Packet(pcap.record(&self.buffer[self.at - whole..self.at])))
    }

    fn read_pcapng(&mut self) -> Result<Item<'_>, CaptureError> {
        let held = self.fill(12)?;
        if held < 12 {
            let start = &self.buffer[self.at..self.at + held];
            let big_endian = matches!(self.format, Format::Pcapng { big_endian: true, .. });
            let packet = held >= 4 && is_packet(word(start, 0, big_endian));
            return Ok(if packet { self.cut(0) } else { self.end(held > 0) });
        }
        let start = &self.buffer[self.at..self.at + 12];
        let Format::Pcapng { big_endian, interfaces } = &mut self.format else { return Ok(Item::Other) };
        let is_section = start.starts_with(&SECTION_HEADER.to_be_bytes());
        if is_section {
            let Some(order) = byte_order(&start[8..12]) else { return Ok(self.end(true)) };
            *big_endian = order;
            interfaces.clear();
        }
        let big_endian = *big_endian;
        let (kind, length) = (word(start, 0, big_endian), word(start, 4, big_endian) as usize);
        // A section header has at least 28 bytes.
        if length < 12 || !length.is_multiple_of(4) || (is_section && length < 28) {
            return Ok(self.end(true));
        }
        let head = self.fill(PACKET_HEAD_BYTES.min(length))?;
        let original_bytes = original_bytes(&self.buffer[self.at..self.at + head], kind, big_endian);
        let whole = if length > MAX_BLOCK_BYTES { self.pass_over(length)? } else { self.fill(length)? == length };
        if !whole {
            return Ok(if is_packet(kind) { self.cut(original_bytes) } else { self.end(true) });
        }
        if length > MAX_BLOCK_BYTES {
            return Ok(if is_packet(kind) { Item::Undated(Skip::Oversized, original_bytes) } else { Item::Other });
        }
        let block = &self.buffer[self.at..self.at + length];
        self.at += length;
        let parsed = if big_endian { parse_block_be(block) } else { parse_block_le(block) };
        let Format::Pcapng { interfaces, .. } = &mut self.format else { return Ok(Item::Other) };
        match parsed {
            Ok((_, Block::InterfaceStatistics(statistics))) => {
                if let Some(interface) = interfaces.get_mut(statistics.if_id as usize) {
                    let dropped = dropped_of(&statistics, big_endian).max(interface.dropped);
                    self.dropped = self.dropped.saturating_add(dropped - interface.dropped);
                    interface.dropped = dropped;
                }
                Ok(Item::Other)
            }
            Ok((_, block)) => Ok(item_of(block, interfaces, big_endian)),
            Err(_) if is_section => {
                self.ended = true;
                Ok(Item::End { truncated: true })
            }
            Err(_) => Ok(unparsed(block, interfaces, big_endian)),
        }
    }

    /// Reads so many bytes and drops them; whether there were as many.
    #[cold]
    fn pass_over(&mut self, bytes: usize) -> io::Result<bool> {
        let there = bytes.min(self.held - self.at);
        self.at += there;
        let rest = (bytes - there) as u64;
        Ok(io::copy(&mut (&mut self.input).take(rest), &mut io::sink())? == rest)
    }
}

/// Bytes of a pcapng block up to the end of the lengths of its packet.
const PACKET_HEAD_BYTES: usize = 28;

/// Whether a block of pcapng of this type is a packet.
fn is_packet(kind: u32) -> bool {
    matches!(kind, 2 | 3 | 6)
}

/// What the block of a packet says of the length of its frame on the wire; 0 where it ends before.
fn original_bytes(block: &[u8], kind: u32, big_endian: bool) -> u64 {
    let at = match kind {
        2 | 6 => 24,
        3 => 8,
        _ => return 0,
    };
    block.get(at..at + 4).map_or(0, |four| u64::from(word(four, 0, big_endian)))
}

/// Whether a section is big-endian, from its byte-order magic.
fn byte_order(magic: &[u8]) -> Option<bool> {
    match magic {
        [0x1a, 0x2b, 0x3c, 0x4d] => Some(true),
        [0x4d, 0x3c, 0x2b, 0x1a] => Some(false),
        _ => None,
    }
}

/// Whether a snapshot length, 0 for none, would have let in more.
#[inline]
fn is_below(data: &[u8], snap_bytes: u32) -> bool {
    snap_bytes == 0 || data.len() < snap_bytes as usize
}

#[inline]
fn word(block: &[u8], at: usize, big_endian: bool) -> u32 {
    let bytes = [block[at], block[at + 1], block[at + 2], block[at + 3]];
    if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}

/// An interface block that does not parse still takes its number; packet blocks are counted.
fn unparsed<'a>(block: &[u8], interfaces: &mut Vec<Interface>, big_endian: bool) -> Item<'a> {
    match word(block, 0, big_endian) {
        1 if interfaces.len() < INTERFACES_MAX => {
            let (link_type, units_per_s) = (-1, 0);
            interfaces.push(Interface { name: None, link_type, units_per_s, offset_s: 0, snap_bytes: 0, dropped: 0 });
            Item::Other
        }
        kind @ (2 | 3 | 6) => Item::Undated(Skip::Malformed, original_bytes(block, kind, big_endian)),
        _ => Item::Other,
    }
}

/// Packets that the interface and the operating system dropped since the capture began (draft-ietf-opsawg-pcapng, 4.6).
fn dropped_of(statistics: &InterfaceStatisticsBlock<'_>, big_endian: bool) -> u64 {
    // pcap-parser reads the counts little-endian in every section.
    let count = |found: Option<Result<u64, _>>| {
        let count = found.and_then(|count: Result<u64, PcapNGOptionError>| count.ok()).unwrap_or(0);
        if big_endian { count.swap_bytes() } else { count }
    };
    count(statistics.isb_ifdrop()).saturating_add(count(statistics.isb_osdrop()))
}

/// Longest name of an interface that is kept, in bytes: a file may have 65,536 of them.
const MOST_NAME_BYTES: usize = 64;

fn name_of(description: &InterfaceDescriptionBlock<'_>) -> Option<String> {
    let name = description.if_name()?.ok()?;
    (!name.is_empty() && name.len() <= MOST_NAME_BYTES).then(|| name.to_owned())
}

fn item_of<'a>(block: Block<'a>, interfaces: &mut Vec<Interface>, big_endian: bool) -> Item<'a> {
    match block {
        Block::InterfaceDescription(description) => {
            if interfaces.len() < INTERFACES_MAX {
                // pcap-parser reads the offset little-endian in every section.
                let offset_s = description.if_tsoffset;
                interfaces.push(Interface {
                    name: name_of(&description),
                    link_type: description.linktype.0 & LINK_TYPE_MASK,
                    units_per_s: units_per_s(description.if_tsresol),
                    offset_s: if big_endian { offset_s.swap_bytes() } else { offset_s },
                    snap_bytes: description.snaplen,
                    dropped: 0,
                });
            }
            Item::Other
        }
        Block::EnhancedPacket(packet) => {
            let Some(interface) = interfaces.get(packet.if_id as usize) else {
                return Item::Undated(Skip::NoInterface, packet.origlen.into());
            };
            let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
            let Some(time_ns) = interface.time_ns(ticks) else {
                return Item::Undated(Skip::NoInterface, packet.origlen.into());
            };
            let captured = packet.data.len().min(packet.caplen as usize);
            let data = &packet.data[..captured];
            Item::Packet(Record {
                link_type: interface.link_type,
                interface: packet.if_id,
                time_ns,
                original_bytes: packet.origlen,
                below_snap: is_below(data, interface.snap_bytes),
                data,
            })
        }
        // A simple packet block has no time.
        Block::SimplePacket(packet) => Item::Undated(Skip::NoInterface, packet.origlen.into()),
        Block::Unknown(unknown) if unknown.block_type == 2 => {
            // Its data begin behind type and length.
            let bytes = unknown.data.get(16..20).map_or(0, |four| word(four, 0, big_endian));
            Item::Undated(Skip::NoInterface, bytes.into())
        }
        _ => Item::Other,
    }
}

/// Ticks per second of an if_tsresol option, 0 when it is beyond 128 bits.
fn units_per_s(resolution: u8) -> u128 {
    let exponent = u32::from(resolution & 0x7f);
    let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
    base.checked_pow(exponent).unwrap_or(0)
}

impl Interface {
    fn time_ns(&self, ticks: u64) -> Option<i64> {
        let since_offset = (u128::from(ticks) * 1_000_000_000).checked_div(self.units_per_s)?;
        let offset = i128::from(self.offset_s) * 1_000_000_000;
        i64::try_from(i128::try_from(since_offset).ok()?.checked_add(offset)?).ok()
    }
}

/// What a file is that begins with `start` and is no capture that is read, and how to get one.
fn describe(start: &[u8], compression: Option<&str>) -> String {
    const KNOWN: [(&[u8], &str); 16] = [
        (&[0x1f, 0x8b], "gzip"),
        (&[0x28, 0xb5, 0x2f, 0xfd], "Zstandard data"),
        (&[0x04, 0x22, 0x4d, 0x18], "LZ4 data"),
        (&[0x02, 0x21, 0x4c, 0x18], "LZ4 data of the legacy format (decompress it: lz4 -d)"),
        (b"\xfd7zXZ", "xz data (decompress it: xz -d)"),
        (b"BZh", "bzip2 data (decompress it: bzip2 -d)"),
        (b"PK\x03\x04", "a zip archive"),
        (b"PAR1", "a Parquet file"),
        (&[0x34, 0xcd, 0xb2, 0xa1], "a big-endian pcap of the 'modified' format"),
        (b"snoop\0\0\0", "a snoop capture (convert it: editcap -F pcap)"),
        (b"RTSS", "a Network Monitor 1 capture (convert it: editcap -F pcap)"),
        (b"GMBU", "a Network Monitor 2 capture (convert it: editcap -F pcap)"),
        (&[0x0c, 0xa5], "NetFlow of nfcapd (write it by nfdump -r FILE -o csv; compare --flows reads that)"),
        (&[0xa5, 0x0c], "NetFlow of nfcapd (write it by nfdump -r FILE -o csv; compare --flows reads that)"),
        (b"#separator", "a log of Zeek (use it with compare --flows)"),
        (b"#fields", "a log of Zeek (use it with compare --flows)"),
    ];
    let inside = compression.map_or_else(String::new, |name| format!(" inside {name}"));
    if let Some((_, name)) = KNOWN.iter().find(|(magic, _)| start.starts_with(magic)) {
        return format!("{name}{inside}");
    }
    if start.is_empty() {
        return format!("nothing readable{inside}");
    }
    if is_argus(start) || start.starts_with(b"StartTime,LastTime,") {
        return format!("records of Argus (they are not read: use the capture, or NetFlow of nfdump){inside}");
    }
    if start.starts_with(b"{") && start.windows(15).any(|some| some == b"\"DATA_FILENAME\"") {
        return format!("a result of flent (it has no packets: use the capture of its test){inside}");
    }
    if let Some(name) = flow_list(start) {
        return format!("{name} (use it with compare --flows){inside}");
    }
    if is_erf(start) {
        return format!("records of ERF (convert it: editcap -F pcap){inside}");
    }
    let shown = &start[..start.len().min(8)];
    if shown.iter().all(|byte| (0x20..0x7f).contains(byte) || byte.is_ascii_whitespace()) {
        return format!("text starting {:?}{inside}", String::from_utf8_lossy(shown));
    }
    let hex: Vec<String> = shown.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("bytes {}{inside}", hex.join(" "))
}

/// The management record with which a file of Argus begins has one of its cookies.
fn is_argus(start: &[u8]) -> bool {
    const COOKIES: [&[u8]; 2] = [&[0xe5, 0x71, 0x2d, 0xcb], &[0xe5, 0x61, 0x7a, 0xcb]];
    start[0] & 0xf0 == 0x80 && start[..start.len().min(64)].windows(4).any(|four| COOKIES.contains(&four))
}

/// A flow list that other commands read, by what it begins with.
fn flow_list(start: &[u8]) -> Option<&'static str> {
    let begin = &start[..start.len().min(2048)];
    let has = |name: &str| begin.windows(name.len()).any(|some| some == name.as_bytes());
    if has("\"id.orig_h\"") {
        Some("a log of Zeek")
    } else if has("start_s,") || has(",start_s") {
        Some("a flow list of Mayfly")
    } else if has("firstSeen") && has("srcAddr") || has("ts,te,td,sa,da") || has("\"in_packets\"") {
        Some("NetFlow of nfdump")
    } else {
        None
    }
}

/// Whether the first record can be one of ERF, which has no magic: a type that exists, lengths that agree, and the next
/// record, if it is there, too.
fn is_erf(start: &[u8]) -> bool {
    let record = |at: usize| {
        let header = start.get(at..at + 16)?;
        let half = |at: usize| usize::from(u16::from_be_bytes([header[at], header[at + 1]]));
        let (kind, length) = (header[8] & 0x7f, half(10));
        let known = (1..=48).contains(&kind) && length >= 16 && half(12) == 0;
        known.then_some(at + length)
    };
    // Without a loss counter two fit by chance in one of a million.
    record(0).is_some_and(|next| next >= start.len() || record(next).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times, lengths and data of all packets, by one of the two ways.
    fn packets(file: &[u8], held: bool) -> Vec<(i64, u32, i32, Vec<u8>)> {
        let mut reader = Reader::open(file).expect("a capture");
        let mut found = Vec::new();
        loop {
            let mut see = |record: Record<'_>| {
                found.push((record.time_ns, record.original_bytes, record.link_type, record.data.to_vec()));
            };
            if held && let Some(record) = reader.held_record() {
                see(record);
                continue;
            }
            match reader.read_item().expect("bytes in memory") {
                Item::Packet(record) => see(record),
                Item::End { .. } => return found,
                _ => {}
            }
        }
    }

    #[test]
    fn records_in_the_buffer_are_those_that_are_read() {
        let magics = [(0xa1b2_c3d4_u32, 16), (0xa1b2_3c4d, 16), (0xa1b2_cd34, 24)];
        for (magic, header_bytes) in magics {
            for big_endian in [false, true] {
                if big_endian && header_bytes == 24 {
                    continue;
                }
                let word = |number: u32| if big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
                let mut file: Vec<u8> = [magic, 0x0004_0002, 0, 0, 65_535, 1].into_iter().flat_map(&word).collect();
                for number in 0..40_000_u32 {
                    let bytes = number % 61;
                    let mut header: Vec<u8> =
                        [number, number % 1_000_000, bytes, bytes + 9].into_iter().flat_map(&word).collect();
                    header.resize(header_bytes, 7);
                    file.extend(header);
                    file.extend(std::iter::repeat_n(number as u8, bytes as usize));
                }
                // The last one is cut.
                file.truncate(file.len() - 1);
                let found = packets(&file, true);
                assert_eq!(found.len(), 39_999);
                assert_eq!(found, packets(&file, false));
                let unit_ns = if magic == 0xa1b2_3c4d { 1 } else { 1000 };
                assert_eq!((found[70].0, found[70].1, found[70].2), (70 * 1_000_000_000 + 70 * unit_ns, 9 + 9, 1));
            }
        }
    }
}
