//! Connections counted by host.

use std::collections::hash_map::RandomState;
use std::net::IpAddr;

use capture::{Connection, Protocol, State};
use hashbrown::HashMap;

use crate::networks::{Network, PRIVATE, known};

/// States of a connection that nobody took, whatever was answered.
pub const UNANSWERED: [State; 3] = [State::Rejected, State::HalfOpen, State::OneWay];

/// What a host did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Host {
    /// Connections that it opened.
    pub(crate) opened: u64,
    /// That were opened to it.
    pub(crate) asked: u64,
    /// Of these, those that it took.
    pub(crate) taken: u64,
}

/// Connections counted one by one, in any order. Addresses come from strangers: their hash has a key.
pub struct Tally {
    pub(crate) hosts: HashMap<IpAddr, Host, RandomState>,
    /// Ends of each connection, opener first, as long as no host is private: what a network of the site is looked for in.
    pub(crate) ends: Option<Vec<[IpAddr; 2]>>,
    private: Vec<Network>,
    /// Connections by protocol.
    pub by_protocol: [u64; Protocol::NAMES.len()],
    /// Length of their IP packets.
    pub bytes: u64,
    /// These packets.
    pub packets: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Tally {
            hosts: HashMap::with_hasher(RandomState::new()),
            ends: Some(Vec::new()),
            private: known(&PRIVATE),
            by_protocol: [0; Protocol::NAMES.len()],
            bytes: 0,
            packets: 0,
        }
    }
}

impl Tally {
    /// Counts a connection.
    pub fn add(&mut self, connection: &Connection) {
        let ends = [connection.opener.address, connection.responder.address];
        let taken = connection.from_responder.packets > 0 && !UNANSWERED.contains(&connection.state);
        let sides = [&connection.from_opener, &connection.from_responder];
        let bytes = sides.map(|side| side.wire_bytes).iter().sum();
        let packets = sides.map(|side| side.packets).iter().sum();
        self.add_ends(ends, taken, connection.protocol as usize, bytes, packets);
    }

    /// Counts a connection by its ends, the opener first, by whether the other one took it, by the place of its protocol in
    /// [`Protocol::NAMES`], and by what both directions carried.
    pub fn add_ends(&mut self, ends: [IpAddr; 2], taken: bool, protocol: usize, bytes: u64, packets: u64) {
        let [opener, responder] = ends;
        self.hosts.entry(opener).or_default().opened += 1;
        let asked = self.hosts.entry(responder).or_default();
        asked.asked += 1;
        asked.taken += u64::from(taken);
        if let Some(ends) = &mut self.ends {
            ends.push([opener, responder]);
            if [opener, responder].iter().any(|end| self.private.iter().any(|network| network.holds(*end))) {
                self.ends = None;
            }
        }
        self.by_protocol[protocol] += 1;
        self.bytes += bytes;
        self.packets += packets;
    }
}
