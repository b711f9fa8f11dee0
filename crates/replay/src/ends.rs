//! The ends of the connections of a capture, numbered in the order of their addresses as text.

use std::collections::BTreeMap;
use std::net::IpAddr;

use capture::Connection;

/// Addresses, and those of both ends of each connection by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends {
    /// Ascending by their text.
    pub(crate) addresses: Vec<IpAddr>,
    /// Of each connection.
    pub(crate) opener: Vec<u32>,
    /// Of each connection.
    pub(crate) responder: Vec<u32>,
}

impl Ends {
    pub(crate) fn of(connections: &[Connection]) -> Ends {
        let mut numbers: BTreeMap<IpAddr, u32> = BTreeMap::new();
        for connection in connections {
            numbers.insert(connection.opener.address, 0);
            numbers.insert(connection.responder.address, 0);
        }
        let mut named: Vec<(String, IpAddr)> = numbers.keys().map(|address| (address.to_string(), *address)).collect();
        named.sort_unstable();
        for (number, (_, address)) in (0..).zip(&named) {
            numbers.insert(*address, number);
        }
        let of = |address: IpAddr| numbers.get(&address).copied().unwrap_or(0);
        Ends {
            opener: connections.iter().map(|connection| of(connection.opener.address)).collect(),
            responder: connections.iter().map(|connection| of(connection.responder.address)).collect(),
            addresses: named.into_iter().map(|(_, address)| address).collect(),
        }
    }

    /// Number of the end that sent something.
    pub(crate) fn sender(&self, connection: usize, from_opener: bool) -> u32 {
        if from_opener { self.opener[connection] } else { self.responder[connection] }
    }

    /// For each address whether it is one of these.
    pub(crate) fn marked(&self, is_one: impl Fn(IpAddr) -> bool) -> Vec<bool> {
        self.addresses.iter().map(|&address| is_one(address)).collect()
    }
}
