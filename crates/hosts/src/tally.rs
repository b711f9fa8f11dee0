//! Connections counted by host.

use std::io;
use std::net::IpAddr;
use std::path::Path;

use capture::{Connection, Protocol, State};

use crate::counts::{Hosts, Room};
use crate::network::{is_nobody, is_private};
use crate::pairs::Pairs;

/// States of a connection that nobody took, whatever was answered.
pub const UNANSWERED: [State; 3] = [State::Rejected, State::HalfOpen, State::OneWay];

/// Connections counted one by one, in any order.
pub struct Tally {
    pub(crate) hosts: Hosts,
    /// Ends of the connections over IPv4 and IPv6, in which a network of the site is looked for; none once a host is private.
    pub(crate) pairs: Option<[Pairs; 2]>,
    /// Whether there is any host of IPv4 and IPv6, as long as none is private.
    pub(crate) there: [bool; 2],
    room: Option<Room>,
    /// Connections by protocol.
    pub by_protocol: [u64; Protocol::NAMES.len()],
    /// Length of their IP packets.
    pub bytes: u64,
    /// These packets.
    pub packets: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Tally::within(None)
    }
}

impl Tally {
    /// Holds at most so many hosts in memory, and others in new files of a folder; all of them where there is no limit.
    pub fn within(limit: Option<(usize, &Path)>) -> Tally {
        let room = limit.map(|(most, folder)| Room { most: most.max(1), folder: folder.to_owned() });
        Tally {
            hosts: Hosts::within(room.clone()),
            pairs: Some(Default::default()),
            there: [false; 2],
            room,
            by_protocol: [0; Protocol::NAMES.len()],
            bytes: 0,
            packets: 0,
        }
    }

    /// Counts a connection.
    ///
    /// # Errors
    /// As [`Tally::add_ends`].
    pub fn add(&mut self, connection: &Connection) -> io::Result<()> {
        let ends = [connection.opener.address, connection.responder.address];
        let taken = connection.from_responder.packets > 0 && !UNANSWERED.contains(&connection.state);
        let sides = [&connection.from_opener, &connection.from_responder];
        let bytes = sides.map(|side| side.wire_bytes).iter().sum();
        let packets = sides.map(|side| side.packets).iter().sum();
        self.add_ends(ends, taken, connection.protocol as usize, bytes, packets)
    }

    /// Counts a connection by its ends, the opener first, by whether the other one took it, by the place of its protocol in
    /// [`Protocol::NAMES`], and by what both directions carried.
    ///
    /// # Errors
    /// Hosts that memory does not hold cannot be written.
    pub fn add_ends(
        &mut self,
        ends: [IpAddr; 2],
        taken: bool,
        protocol: usize,
        bytes: u64,
        packets: u64,
    ) -> io::Result<()> {
        self.by_protocol[protocol] += 1;
        self.bytes += bytes;
        self.packets += packets;
        self.add_hosts(ends, taken)
    }

    /// Counts a connection for its hosts alone, the opener first, by whether the other one took it.
    ///
    /// # Errors
    /// As [`Tally::add_ends`].
    pub fn add_hosts(&mut self, ends: [IpAddr; 2], taken: bool) -> io::Result<()> {
        let [opener, responder] = ends;
        self.add_to_networks(ends)?;
        self.hosts.count(opener, |host| host.opened += 1)?;
        self.hosts.count(responder, |host| {
            host.asked += 1;
            host.taken += u64::from(taken);
        })
    }

    fn add_to_networks(&mut self, ends: [IpAddr; 2]) -> io::Result<()> {
        let Some(of_versions) = &mut self.pairs else { return Ok(()) };
        if ends.into_iter().any(is_private) {
            self.pairs = None;
            return Ok(());
        }
        let named = ends.map(|end| !is_nobody(end));
        for (end, named) in ends.iter().zip(named) {
            self.there[usize::from(end.is_ipv6())] |= named;
        }
        match ends.map(|end| end.is_ipv6()) {
            [one, two] if one == two && named == [true; 2] => {
                of_versions[usize::from(one)].add(ends, self.room.as_ref())
            }
            _ => Ok(()),
        }
    }
}
