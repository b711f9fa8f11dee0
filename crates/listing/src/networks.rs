//! Networks of addresses.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// A network in the notation of RFC 4632.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network {
    first: IpAddr,
    length: u8,
}

/// What is no network; holds the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotNetwork(pub String);

/// RFC 1918, RFC 4193 and link-local addresses.
pub(crate) const PRIVATE: [&str; 6] =
    ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10"];
/// Addresses that tell nothing about the side of a host: unspecified, multicast, broadcast.
pub(crate) const NOBODY: [&str; 5] = ["0.0.0.0/32", "224.0.0.0/4", "255.255.255.255/32", "::/128", "ff00::/8"];

/// Those of a list above.
pub(crate) fn known(texts: &[&str]) -> Vec<Network> {
    texts.iter().filter_map(|text| text.parse().ok()).collect()
}

/// An address as a number, and how many bits it has.
pub(crate) fn number(address: IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    }
}

impl Network {
    /// The network of `length` leading bits that `address` is in.
    pub fn around(address: IpAddr, length: u8) -> Network {
        let (bits, width) = number(address);
        let length = length.min(width);
        let kept = bits.checked_shr(u32::from(width - length)).unwrap_or(0);
        let first = kept.checked_shl(u32::from(width - length)).unwrap_or(0);
        Network { first: of_number(first, width), length }
    }

    /// Whether `address` is in it.
    pub fn holds(&self, address: IpAddr) -> bool {
        self.first.is_ipv4() == address.is_ipv4() && Network::around(address, self.length).first == self.first
    }
}

fn of_number(bits: u128, width: u8) -> IpAddr {
    if width == 32 { IpAddr::V4((bits as u32).into()) } else { IpAddr::V6(bits.into()) }
}

impl FromStr for Network {
    type Err = NotNetwork;

    fn from_str(text: &str) -> Result<Network, NotNetwork> {
        let refused = || NotNetwork(text.to_owned());
        let (address, length) = text.split_once('/').ok_or_else(refused)?;
        let address: IpAddr = address.parse().map_err(|_| refused())?;
        let length: u8 = length.parse().map_err(|_| refused())?;
        let network = Network::around(address, length);
        if length > number(address).1 || network.first != address { Err(refused()) } else { Ok(network) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_holds_what_has_its_leading_bits() {
        let holds = |network: &str, address: &str| {
            network.parse::<Network>().expect("a network").holds(address.parse().expect("an address"))
        };
        assert!(holds("10.0.0.0/8", "10.255.0.1") && !holds("10.0.0.0/8", "11.0.0.0"));
        assert!(holds("0.0.0.0/0", "255.1.2.3") && !holds("0.0.0.0/0", "::1"));
        assert!(holds("::/0", "2001:db8::1") && holds("fe80::/10", "febf::1") && !holds("fe80::/10", "fec0::1"));
        assert!(holds("192.0.2.7/32", "192.0.2.7") && !holds("192.0.2.7/32", "192.0.2.6"));
        assert_eq!(known(&PRIVATE).len() + known(&NOBODY).len(), PRIVATE.len() + NOBODY.len());
    }

    #[test]
    fn what_has_bits_behind_its_prefix_is_none() {
        for text in ["10.0.0.1/8", "10.0.0.0/33", "10.0.0.0", "10/8", "::1/0", "x/8", "10.0.0.0/-1"] {
            assert_eq!(text.parse::<Network>(), Err(NotNetwork(text.to_owned())));
        }
        assert_eq!("2001:db8::/32".parse::<Network>().map(|network| network.to_string()), Ok("2001:db8::/32".into()));
    }
}
