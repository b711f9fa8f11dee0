//! The ends of the connections of a capture, numbered in the order of their addresses as text.

use std::collections::BTreeMap;
use std::net::IpAddr;

/// Addresses, and those of both ends of each connection by number.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    /// Ascending by their text.
    pub addresses: Vec<IpAddr>,
    /// Of each connection, the number of the address that opened it.
    pub opener: Vec<u32>,
    /// Of each connection, the number of the other one.
    pub responder: Vec<u32>,
}

impl Ends {
    /// Of connections between these, the opener first.
    pub fn of(connections: impl Iterator<Item = [IpAddr; 2]> + Clone) -> Ends {
        let mut numbers: BTreeMap<IpAddr, u32> = BTreeMap::new();
        for address in connections.clone().flatten() {
            numbers.insert(address, 0);
        }
        let mut named: Vec<(String, IpAddr)> = numbers.keys().map(|address| (address.to_string(), *address)).collect();
        named.sort_unstable();
        for (number, (_, address)) in (0..).zip(&named) {
            numbers.insert(*address, number);
        }
        let of = |address: IpAddr| numbers.get(&address).copied().unwrap_or(0);
        Ends {
            opener: connections.clone().map(|[opener, _]| of(opener)).collect(),
            responder: connections.map(|[_, responder]| of(responder)).collect(),
            addresses: named.into_iter().map(|(_, address)| address).collect(),
        }
    }

    /// Number of the end that sent something.
    pub fn sender(&self, connection: usize, from_opener: bool) -> u32 {
        if from_opener { self.opener[connection] } else { self.responder[connection] }
    }
}
