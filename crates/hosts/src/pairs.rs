//! Ends of connections, in which a network of the site is looked for: in memory, and beyond what that may hold in a file.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::net::IpAddr;
use std::path::PathBuf;

use capture::number_of;

use crate::counts::Room;

/// Bits of an address that are looked at.
pub(crate) const LEADING: u32 = 64;
/// Widths of addresses, IPv4 first.
pub(crate) const WIDTHS: [u32; 2] = [32, 128];
/// Two times the leading bits of an address.
const RECORD: usize = 16;

/// The ends of one version of IP.
#[derive(Default)]
pub(crate) struct Pairs {
    /// Leading bits of the opener and of the responder of each connection.
    held: Vec<[u64; 2]>,
    /// Those before, and how many.
    file: Option<(File, PathBuf)>,
    put_away: u64,
}

impl Pairs {
    /// Adds a connection.
    ///
    /// # Errors
    /// Those before cannot be written.
    pub(crate) fn add(&mut self, ends: [IpAddr; 2], room: Option<&Room>) -> io::Result<()> {
        let leading = |address| {
            let (bits, width) = number_of(address);
            (bits >> (width - width.min(LEADING))) as u64
        };
        self.held.push(ends.map(leading));
        match room {
            Some(room) if self.held.len() >= room.most => self.write(room, ends[0].is_ipv4()),
            _ => Ok(()),
        }
    }

    fn write(&mut self, room: &Room, four: bool) -> io::Result<()> {
        let (file, _) = match &mut self.file {
            Some(file) => file,
            None => {
                let path = room.folder.join(if four { "ends-4" } else { "ends-6" });
                self.file.insert((File::create_new(&path)?, path))
            }
        };
        let mut bytes = Vec::with_capacity(RECORD << 12);
        for ends in self.held.chunks(1 << 12) {
            bytes.clear();
            ends.iter().flatten().for_each(|end| bytes.extend(end.to_le_bytes()));
            file.write_all(&bytes)?;
        }
        self.put_away += self.held.len() as u64;
        self.held.clear();
        Ok(())
    }

    /// How many connections.
    pub(crate) fn len(&self) -> u64 {
        self.put_away + self.held.len() as u64
    }

    /// Every connection once.
    ///
    /// # Errors
    /// Those that were written cannot be read.
    pub(crate) fn each(&self, mut see: impl FnMut(u64, u64)) -> io::Result<()> {
        if let Some((_, path)) = &self.file {
            let mut file = BufReader::with_capacity(RECORD << 12, File::open(path)?);
            let mut record = [0; RECORD];
            let end = |bytes: &[u8]| bytes.iter().rev().fold(0, |end, byte| end << 8 | u64::from(*byte));
            for _ in 0..self.put_away {
                file.read_exact(&mut record)?;
                see(end(&record[..8]), end(&record[8..]));
            }
        }
        self.held.iter().for_each(|[opener, responder]| see(*opener, *responder));
        Ok(())
    }
}
