//! Bytes of a capture: plain, gzip or Zstandard, told apart by their first bytes.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
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
        if is_zstd(start) {
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
            Input::Ahead(_, input) => input.read(into),
        }
    }
}

fn damaged(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput)
}

/// A frame, or a skippable one as the seekable format begins with (RFC 8878, 3.1).
fn is_zstd(start: &[u8]) -> bool {
    let Some(magic) = start.first_chunk::<4>() else { return false };
    matches!(u32::from_le_bytes(*magic), 0xfd2f_b528 | 0x184d_2a50..=0x184d_2a5f)
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
