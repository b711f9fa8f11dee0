//! Bytes of a capture: plain, gzip, Zstandard or LZ4, by its first bytes.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use lz4_flex::frame::FrameDecoder as Lz4Decoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::decompress_thread::Ahead;

const CHUNK_BYTES: usize = 1 << 16;
/// Largest window of a Zstandard frame, in bytes: what the reference program takes without an option (`--long=27`).
const ZSTD_WINDOW_BYTES: u64 = 1 << 27;

/// Decompressed bytes of a source.
pub(crate) enum Input<R: Read> {
    Plain(BufReader<R>),
    Gzip(Box<BufReader<MultiGzDecoder<BufReader<R>>>>),
    Zstd(Box<ZstdReader<R>>),
    Lz4(Box<Lz4Reader<R>>),
    /// Decompressed in a thread of its own; the name of the compression.
    Ahead(&'static str, Box<dyn Read + Send>),
}

impl<R: Read> Input<R> {
    /// Looks at the first bytes of `source`.
    pub(crate) fn open(source: R) -> io::Result<Self> {
        let mut plain = BufReader::with_capacity(CHUNK_BYTES, source);
        let start = plain.fill_buf()?;
        if start.starts_with(&[0x1f, 0x8b]) {
            let decoder = MultiGzDecoder::new(plain);
            return Ok(Input::Gzip(Box::new(BufReader::with_capacity(CHUNK_BYTES, decoder))));
        }
        // Frames to be skipped are of Zstandard and LZ4 alike: what follows them shows which of the two it is.
        let skipped = is_skippable(start);
        match skip_frames(&mut plain) {
            // One that is cut off is all there is.
            Err(error) if !damaged(&error) => return Err(error),
            _ => {}
        }
        let start = plain.fill_buf()?;
        if start.starts_with(&LZ4_MAGIC) {
            return Ok(Input::Lz4(Box::new(Lz4Reader::over(plain))));
        }
        if skipped || start.starts_with(&ZSTD_MAGIC) {
            return Ok(Input::Zstd(Box::new(ZstdReader::over(plain))));
        }
        Ok(Input::Plain(plain))
    }

    /// Name of the compression, if any.
    pub(crate) fn compression(&self) -> Option<&'static str> {
        match self {
            Input::Plain(_) => None,
            Input::Gzip(_) => Some("gzip"),
            Input::Zstd(_) => Some("Zstandard"),
            Input::Lz4(_) => Some("LZ4"),
            Input::Ahead(compression, _) => Some(compression),
        }
    }
}

impl<R: Read + Send + 'static> Input<R> {
    /// The same, decompressed ahead of who reads it.
    pub(crate) fn ahead(self) -> Self {
        match self.compression() {
            None => self,
            Some(compression) => Input::Ahead(compression, Box::new(Ahead::of(self))),
        }
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Input::Plain(input) => input.read(into),
            Input::Gzip(input) => match input.read(into) {
                // A damaged or cut gzip stream ends the capture where it stops being readable.
                Err(error) if damaged(&error) => Ok(0),
                outcome => outcome,
            },
            Input::Zstd(input) => Ok(input.read_some(into)),
            Input::Lz4(input) => Ok(input.read_some(into)),
            Input::Ahead(_, input) => input.read(into),
        }
    }
}

fn damaged(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput)
}

/// Of a frame of LZ4 (lz4_Frame_format.md, version 1.6).
const LZ4_MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// Of a frame of Zstandard (RFC 8878, 3.1.1).
const ZSTD_MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();

/// A frame to be skipped, of Zstandard and LZ4 alike: after its magic number comes its length.
fn is_skippable(start: &[u8]) -> bool {
    start.first_chunk().is_some_and(|magic| matches!(u32::from_le_bytes(*magic), 0x184d_2a50..=0x184d_2a5f))
}

/// Reads on behind the frames to be skipped that come next: whether more follows.
fn skip_frames(source: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let start = source.fill_buf()?;
        if !is_skippable(start) {
            return Ok(!start.is_empty());
        }
        let mut head = [0; 8];
        source.read_exact(&mut head)?;
        let [.., a, b, c, d] = head;
        let length = u64::from(u32::from_le_bytes([a, b, c, d]));
        if io::copy(&mut source.by_ref().take(length), &mut io::sink())? < length {
            return Ok(false);
        }
    }
}

/// Frames of LZ4 one after the other, as `lz4` and Wireshark write them.
pub(crate) struct Lz4Reader<R: Read> {
    decoder: Lz4Decoder<BufReader<R>>,
    ended: bool,
}

impl<R: Read> Lz4Reader<R> {
    fn over(source: BufReader<R>) -> Self {
        Lz4Reader { decoder: Lz4Decoder::new(source), ended: false }
    }

    /// Up to `into.len()` bytes; 0 at the end, and for ever behind damage.
    fn read_some(&mut self, into: &mut [u8]) -> usize {
        while !self.ended {
            match self.decoder.read(into) {
                // A frame ends, or a block of it is empty.
                Ok(0) => self.ended = into.is_empty() || !skip_frames(self.decoder.get_mut()).unwrap_or(false),
                Ok(bytes) => return bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.ended = true,
            }
        }
        0
    }
}

/// Frames one after the other, as `zstd` and `pzstd` write them.
pub(crate) struct ZstdReader<R: Read> {
    source: BufReader<R>,
    decoder: FrameDecoder,
    begun: bool,
    ended: bool,
}

impl<R: Read> ZstdReader<R> {
    fn over(source: BufReader<R>) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(ZSTD_WINDOW_BYTES);
        ZstdReader { source, decoder, begun: false, ended: false }
    }

    /// Up to `into.len()` bytes; 0 at the end, and for ever behind damage.
    fn read_some(&mut self, into: &mut [u8]) -> usize {
        while !self.ended {
            if self.begun && self.decoder.can_collect() > 0 {
                return self.decoder.read(into).unwrap_or(0);
            }
            let outcome = if !self.begun || self.decoder.is_finished() {
                self.begin_frame()
            } else {
                let strategy = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, strategy).map(|_| true)
            };
            self.ended = !outcome.unwrap_or(false);
        }
        0
    }

    /// Whether another frame follows.
    fn begin_frame(&mut self) -> Result<bool, FrameDecoderError> {
        loop {
            if self.source.fill_buf().map_or(true, <[u8]>::is_empty) {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.source) {
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let skipped = io::copy(&mut (&mut self.source).take(u64::from(length)), &mut io::sink());
                    if skipped.map_or(true, |bytes| bytes < u64::from(length)) {
                        return Ok(false);
                    }
                }
                outcome => {
                    self.begun = true;
                    return outcome.map(|()| true);
                }
            }
        }
    }
}
