//! The random words of a stream: what hashes are seeded with, and what chance decides by.
//!
//! `words SEED NAME COUNT`: that many 64-bit words of the stream of that name, little-endian, to standard output.

use std::error::Error;
use std::io::{BufWriter, Write, stdout};

use units::Stream;

const USAGE: &str = "words SEED NAME COUNT";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [seed, name, count] = &arguments[..] else { return Err(USAGE.into()) };
    let mut stream = Stream::named(seed.parse()?, name);
    let mut out = BufWriter::new(stdout().lock());
    for _ in 0..count.parse::<u64>()? {
        out.write_all(&stream.bits().to_le_bytes())?;
    }
    Ok(out.flush()?)
}
