//! Framing of capture files: records where they lie in one reused buffer, which is filled by large blocks.
//!
//! The lengths in a file are read here before anything is allocated, so that a record is either
//! whole, longer than [`MAX_BLOCK_BYTES`] or cut off by the end of the file. The four numbers of a pcap
//! record are read here, too; what else there is, the header of the file and blocks of pcapng, pcap-parser parses. Cost per record: nothing is copied but what a block ends in. Files are read and not mapped into
//! memory: one that is cut while it is mapped kills the process. Formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.

use std::io::{self, Read};

use pcap_parser::pcapng::{Block, parse_block_be, parse_block_le};
use pcap_parser::{PcapHeader, parse_pcap_header};

use crate::decode::skip::Skip;
use crate::error::CaptureError;
use crate::read::input::Input;

/// Longest record held in memory, in bytes; longer ones are passed over.
pub const MAX_BLOCK_BYTES: usize = 8 << 20;

/// Read at once: as much as stays in the cache of a core.
const BLOCK_BYTES: usize = 1 << 18;
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
    /// Captured bytes, from the link header on.
    pub data: &'a [u8],
}

/// What the next stretch of a file holds.
#[derive(Debug)]
pub enum Item<'a> {
    /// A packet.
    Packet(Record<'a>),
    /// A packet whose time or interface cannot be known.
    Undated(Skip),
    /// A block that holds no packet.
    Other,
    /// No more records.
    End {
        /// The file ends inside a record, or what follows cannot be framed.
        truncated: bool,
    },
}

struct Interface {
    link_type: i32,
    units_per_s: u128,
    offset_s: i64,
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
}

impl Pcap {
    fn of(header: &PcapHeader) -> Self {
        Pcap {
            big_endian: header.is_bigendian(),
            header_bytes: if header.is_modified_format() { 24 } else { 16 },
            link_type: header.network.0 & LINK_TYPE_MASK,
            unit_ns: if header.is_nanosecond_precision() { 1 } else { 1000 },
        }
    }

    /// The packet of a whole record.
    #[inline(always)]
    fn record<'a>(&self, block: &'a [u8]) -> Record<'a> {
        let (header, data) = block.split_at(self.header_bytes);
        let [seconds, fraction, original_bytes] = [0, 4, 12].map(|at| word(header, at, self.big_endian));
        let time_ns = i64::from(seconds) * 1_000_000_000 + i64::from(fraction) * self.unit_ns;
        Record { link_type: self.link_type, interface: 0, time_ns, original_bytes, data }
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
        let mut reader = Reader { input, format, buffer: Vec::new(), at: 0, held: 0, ended: false };
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
            Ok((_, header)) => (reader.format, reader.at) = (Format::Pcap(Pcap::of(&header)), held),
            Err(error) => {
                let cut = error.is_incomplete() && held >= 4;
                let found = if cut {
                    format!("a pcap header cut off after {held} bytes")
                } else {
                    describe(start, compression)
                };
                return Err(CaptureError::NotCapture { found });
            }
        }
        Ok(reader)
    }

    /// Reads up to the next packet or block; [`Item::End`] for ever once the file has ended.
    ///
    /// # Errors
    /// [`CaptureError::Io`] when the operating system refuses.
    pub fn read_item(&mut self) -> Result<Item<'_>, CaptureError> {
        if self.ended {
            return Ok(Item::End { truncated: false });
        }
        match self.format {
            Format::Pcap(pcap) => self.read_pcap(pcap),
            Format::Pcapng { .. } => self.read_pcapng(),
        }
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
            return Ok(self.end(held > 0));
        }
        let captured = word(&self.buffer[self.at..], 8, pcap.big_endian) as usize;
        if captured > MAX_BLOCK_BYTES {
            return self.pass_over(header_bytes + captured);
        }
        let whole = header_bytes + captured;
        if self.fill(whole)? < whole {
            return Ok(self.end(true));
        }
        self.at += whole;
        Ok(Item::Packet(pcap.record(&self.buffer[self.at - whole..self.at])))
    }

    fn read_pcapng(&mut self) -> Result<Item<'_>, CaptureError> {
        let held = self.fill(12)?;
        if held < 12 {
            return Ok(self.end(held > 0));
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
        if length > MAX_BLOCK_BYTES {
            let passed = self.pass_over(length)?;
            return Ok(if matches!(kind, 2 | 3 | 6) || self.ended { passed } else { Item::Other });
        }
        if self.fill(length)? < length {
            return Ok(self.end(true));
        }
        let block = &self.buffer[self.at..self.at + length];
        self.at += length;
        let parsed = if big_endian { parse_block_be(block) } else { parse_block_le(block) };
        let Format::Pcapng { interfaces, .. } = &mut self.format else { return Ok(Item::Other) };
        match parsed {
            Ok((_, block)) => Ok(item_of(block, interfaces, big_endian)),
            Err(_) if is_section => {
                self.ended = true;
                Ok(Item::End { truncated: true })
            }
            Err(_) => Ok(unparsed(block, interfaces, big_endian)),
        }
    }

    #[cold]
    fn pass_over(&mut self, bytes: usize) -> Result<Item<'static>, CaptureError> {
        let there = bytes.min(self.held - self.at);
        self.at += there;
        let rest = (bytes - there) as u64;
        if io::copy(&mut (&mut self.input).take(rest), &mut io::sink())? < rest {
            return Ok(self.end(true));
        }
        Ok(Item::Undated(Skip::Oversized))
    }
}

/// Whether a section is big-endian, from its byte-order magic.
fn byte_order(magic: &[u8]) -> Option<bool> {
    match magic {
        [0x1a, 0x2b, 0x3c, 0x4d] => Some(true),
        [0x4d, 0x3c, 0x2b, 0x1a] => Some(false),
        _ => None,
    }
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
            interfaces.push(Interface { link_type: -1, units_per_s: 0, offset_s: 0 });
            Item::Other
        }
        2 | 3 | 6 => Item::Undated(Skip::Malformed),
        _ => Item::Other,
    }
}

fn item_of<'a>(block: Block<'a>, interfaces: &mut Vec<Interface>, big_endian: bool) -> Item<'a> {
    match block {
        Block::InterfaceDescription(description) => {
            if interfaces.len() < INTERFACES_MAX {
                // pcap-parser reads the offset little-endian in every section.
                let offset_s = description.if_tsoffset;
                interfaces.push(Interface {
                    link_type: description.linktype.0 & LINK_TYPE_MASK,
                    units_per_s: units_per_s(description.if_tsresol),
                    offset_s: if big_endian { offset_s.swap_bytes() } else { offset_s },
                });
            }
            Item::Other
        }
        Block::EnhancedPacket(packet) => {
            let Some(interface) = interfaces.get(packet.if_id as usize) else {
                return Item::Undated(Skip::NoInterface);
            };
            let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
            let Some(time_ns) = interface.time_ns(ticks) else {
                return Item::Undated(Skip::NoInterface);
            };
            let captured = packet.data.len().min(packet.caplen as usize);
            Item::Packet(Record {
                link_type: interface.link_type,
                interface: packet.if_id,
                time_ns,
                original_bytes: packet.origlen,
                data: &packet.data[..captured],
            })
        }
        // A simple packet block has no time.
        Block::SimplePacket(_) => Item::Undated(Skip::NoInterface),
        Block::Unknown(unknown) if unknown.block_type == 2 => Item::Undated(Skip::NoInterface),
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

fn describe(start: &[u8], compression: Option<&str>) -> String {
    const KNOWN: [(&[u8], &str); 7] = [
        (&[0x1f, 0x8b], "gzip"),
        (&[0x28, 0xb5, 0x2f, 0xfd], "Zstandard data"),
        (b"\xfd7zXZ", "xz data"),
        (b"BZh", "bzip2 data"),
        (b"PK\x03\x04", "a zip archive"),
        (b"PAR1", "a Parquet file"),
        (&[0x34, 0xcd, 0xb2, 0xa1], "a big-endian pcap of the 'modified' format"),
    ];
    let inside = compression.map_or_else(String::new, |name| format!(" inside {name}"));
    if let Some((_, name)) = KNOWN.iter().find(|(magic, _)| start.starts_with(magic)) {
        return format!("{name}{inside}");
    }
    if start.is_empty() {
        return format!("nothing readable{inside}");
    }
    let shown = &start[..start.len().min(8)];
    if shown.iter().all(|byte| (0x20..0x7f).contains(byte) || byte.is_ascii_whitespace()) {
        return format!("text starting {:?}{inside}", String::from_utf8_lossy(shown));
    }
    let hex: Vec<String> = shown.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("bytes {}{inside}", hex.join(" "))
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
