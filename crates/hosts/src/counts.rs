//! Hosts with the connections of each: in memory, and beyond what that may hold in sorted files.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::hash_map::RandomState;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::net::{IpAddr, Ipv6Addr};
use std::path::PathBuf;

use hashbrown::HashMap;

/// What a host did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Host {
    /// Connections that it opened.
    pub(crate) opened: u64,
    /// That were opened to it.
    pub(crate) asked: u64,
    /// Of these, those that it took.
    pub(crate) taken: u64,
}

impl Host {
    fn add(&mut self, other: Host) {
        self.opened += other.opened;
        self.asked += other.asked;
        self.taken += other.taken;
    }
}

/// Where hosts go that memory does not hold.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    /// Hosts that are held at once.
    pub(crate) most: usize,
    /// Folder for the others.
    pub(crate) folder: PathBuf,
}

/// Hosts by address. Addresses come from strangers: their hash has a key.
#[derive(Default)]
pub(crate) struct Hosts {
    held: HashMap<IpAddr, Host, RandomState>,
    room: Option<Room>,
    /// Files of hosts in the order of their addresses, each at most once in a file.
    files: Vec<PathBuf>,
}

/// Version, address, and what the host did.
const RECORD: usize = 1 + 16 + 3 * 8;

impl Hosts {
    pub(crate) fn within(room: Option<Room>) -> Hosts {
        Hosts { room, ..Hosts::default() }
    }

    /// Counts for a host.
    ///
    /// # Errors
    /// Those before cannot be written.
    pub(crate) fn count(&mut self, address: IpAddr, change: impl FnOnce(&mut Host)) -> io::Result<()> {
        change(self.held.entry(address).or_default());
        match &self.room {
            Some(room) if self.held.len() >= room.most => self.put_away(),
            _ => Ok(()),
        }
    }

    /// Hosts that are held, in the order of their addresses.
    fn ordered(&self) -> Vec<(IpAddr, Host)> {
        let mut ordered: Vec<_> = self.held.iter().map(|(address, host)| (*address, *host)).collect();
        ordered.sort_unstable_by_key(|(address, _)| *address);
        ordered
    }

    fn put_away(&mut self) -> io::Result<()> {
        let Some(room) = &self.room else { return Ok(()) };
        let path = room.folder.join(format!("hosts-{}", self.files.len()));
        let mut file = BufWriter::new(File::create_new(&path)?);
        for (address, host) in self.ordered() {
            file.write_all(&record(address, host))?;
        }
        file.into_inner().map_err(io::IntoInnerError::into_error)?;
        self.files.push(path);
        self.held.clear();
        Ok(())
    }

    /// Every host once, in any order.
    ///
    /// # Errors
    /// Those that were written cannot be read.
    pub(crate) fn each(&self, mut see: impl FnMut(IpAddr, Host)) -> io::Result<()> {
        if self.files.is_empty() {
            self.held.iter().for_each(|(address, host)| see(*address, *host));
            return Ok(());
        }
        let mut sources: Vec<Box<Ordered>> = vec![Box::new(self.ordered().into_iter().map(Ok))];
        for path in &self.files {
            sources.push(Box::new(Records(BufReader::new(File::open(path)?))));
        }
        let mut next = BinaryHeap::new();
        let mut current = Vec::new();
        for (place, source) in sources.iter_mut().enumerate() {
            let first = source.next().transpose()?;
            next.extend(first.map(|(address, _)| Reverse((address, place))));
            current.push(first);
        }
        let mut before: Option<(IpAddr, Host)> = None;
        while let Some(Reverse((address, place))) = next.pop() {
            let following = sources[place].next().transpose()?;
            next.extend(following.map(|(address, _)| Reverse((address, place))));
            let Some((_, host)) = std::mem::replace(&mut current[place], following) else { continue };
            match &mut before {
                Some((known, sum)) if *known == address => sum.add(host),
                _ => {
                    if let Some((known, sum)) = before.replace((address, host)) {
                        see(known, sum);
                    }
                }
            }
        }
        if let Some((known, sum)) = before {
            see(known, sum);
        }
        Ok(())
    }
}

type Ordered = dyn Iterator<Item = io::Result<(IpAddr, Host)>>;

fn record(address: IpAddr, host: Host) -> [u8; RECORD] {
    let (version, bits) = match address {
        IpAddr::V4(address) => (4, u128::from(address.to_bits())),
        IpAddr::V6(address) => (6, address.to_bits()),
    };
    let mut record = [0; RECORD];
    record[0] = version;
    record[1..17].copy_from_slice(&bits.to_le_bytes());
    for (place, count) in [host.opened, host.asked, host.taken].into_iter().enumerate() {
        record[17 + 8 * place..25 + 8 * place].copy_from_slice(&count.to_le_bytes());
    }
    record
}

/// What a file of hosts holds.
struct Records<R>(R);

impl<R: Read> Iterator for Records<R> {
    type Item = io::Result<(IpAddr, Host)>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut record = [0; RECORD];
        match self.0.read(&mut record[..1]) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) => return Some(Err(error)),
        }
        if let Err(error) = self.0.read_exact(&mut record[1..]) {
            return Some(Err(error));
        }
        let (bits, counts) = record[1..].split_at(16);
        let bits = bits.iter().rev().fold(0, |bits, byte| bits << 8 | u128::from(*byte));
        let count = |place: usize| {
            counts[8 * place..8 * place + 8].iter().rev().fold(0, |count, byte| count << 8 | u64::from(*byte))
        };
        let address = if record[0] == 4 { IpAddr::V4((bits as u32).into()) } else { Ipv6Addr::from(bits).into() };
        Some(Ok((address, Host { opened: count(0), asked: count(1), taken: count(2) })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_the_same_wherever_they_are() {
        let folder = std::env::temp_dir().join(format!("mayfly-hosts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut whole = Hosts::default();
        let mut parts = Hosts::within(Some(Room { most: 10, folder: folder.clone() }));
        for at in 0..1_000_u32 {
            let number = at.wrapping_mul(2_654_435_761) % 97;
            let address: IpAddr = if number % 3 == 0 {
                Ipv6Addr::from(u128::from(number) << 100).into()
            } else {
                IpAddr::V4(number.into())
            };
            for hosts in [&mut whole, &mut parts] {
                let change = |host: &mut Host| {
                    host.opened += u64::from(at);
                    host.asked += 1;
                    host.taken += u64::from(at % 2);
                };
                hosts.count(address, change).expect("a file");
            }
        }
        assert!(parts.files.len() > 50 && whole.files.is_empty());
        let all = |hosts: &Hosts| {
            let mut all = Vec::new();
            hosts.each(|address, host| all.push((address, host))).expect("files");
            all.sort_unstable_by_key(|(address, _)| *address);
            all
        };
        assert_eq!(all(&whole), all(&parts));
        assert_eq!(all(&whole).len(), whole.held.len());
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
