//! Networks of addresses: those that a user names, private ones, and those that tell nothing.
//!
//! Source of the private networks: RFC 1918, RFC 4193, RFC 3927, RFC 4291.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::refused::Refused;

/// Addresses with the same leading bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

/// The near side of a link, as a user names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(pub(crate) Vec<Network>);

impl Networks {
    /// Networks in the notation `10.0.0.0/8`, `2001:db8::/32`.
    ///
    /// # Errors
    /// The first text that is none, or has bits behind its prefix.
    pub fn parse<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Networks, Refused> {
        let one = |text: T| {
            let text = text.as_ref();
            Network::parse(text).ok_or_else(|| {
                let shown = text.escape_debug();
                Refused(format!("internal = '{shown}': must be a network such as 10.0.0.0/8 or 2001:db8::/32"))
            })
        };
        texts.into_iter().map(one).collect::<Result<_, _>>().map(Networks)
    }

    /// Whether an address is in one of them.
    pub(crate) fn contain(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }
}

/// An address as a number, its leading bit first, and how many bits it has.
pub(crate) fn number_of(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
        IpAddr::V6(address) => (u128::from(address), 128),
    }
}

/// The leading `bits` of a number of `width` bits; 0 for none of them.
fn leading(number: u128, bits: u32, width: u32) -> u128 {
    number.checked_shr(width - bits).unwrap_or(0)
}

impl Network {
    /// The network of an address whose leading bits are these.
    pub(crate) fn around(address: IpAddr, bits: u32) -> Network {
        let (number, width) = number_of(address);
        let number = leading(number, bits, width).checked_shl(width - bits).unwrap_or(0);
        let address = match address {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::from(number as u32)),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::from(number)),
        };
        Network { address, bits }
    }

    const fn v4(address: [u8; 4], bits: u32) -> Network {
        let [a, b, c, d] = address;
        Network { address: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), bits }
    }

    const fn v6(first: u16, bits: u32) -> Network {
        Network { address: IpAddr::V6(Ipv6Addr::new(first, 0, 0, 0, 0, 0, 0, 0)), bits }
    }

    fn parse(text: &str) -> Option<Network> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let width = number_of(address).1;
        let bits = match prefix {
            None => width,
            Some(digits) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().ok().filter(|&bits| bits <= width)?
            }
            Some(mask) => bits_of_mask(address, mask)?,
        };
        let network = Network::around(address, bits);
        (network.address == address).then_some(network)
    }

    /// Whether an address is in it.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.address.is_ipv4() && Network::around(address, self.bits).address == self.address
    }

    /// Of IPv4.
    pub(crate) fn is_ipv4(&self) -> bool {
        self.address.is_ipv4()
    }
}

/// A mask of a network or of its hosts (`255.0.0.0`, `0.255.255.255`), of IPv4 alone.
fn bits_of_mask(address: IpAddr, mask: &str) -> Option<u32> {
    let mask = u32::from(mask.parse::<Ipv4Addr>().ok()?);
    if !address.is_ipv4() {
        return None;
    }
    let bits = |mask: u32| (mask.leading_ones() + mask.trailing_zeros() == 32).then(|| mask.leading_ones());
    bits(mask).or_else(|| bits(!mask))
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

const PRIVATE: [Network; 6] = [
    Network::v4([10, 0, 0, 0], 8),
    Network::v4([172, 16, 0, 0], 12),
    Network::v4([192, 168, 0, 0], 16),
    Network::v4([169, 254, 0, 0], 16),
    Network::v6(0xfc00, 7),
    Network::v6(0xfe80, 10),
];

/// Addresses that tell nothing about the side of a host: unspecified, multicast, broadcast.
const NOBODY: [Network; 5] = [
    Network::v4([0; 4], 32),
    Network::v4([224, 0, 0, 0], 4),
    Network::v4([255; 4], 32),
    Network::v6(0, 128),
    Network::v6(0xff00, 8),
];

/// Whether an address is private, unique local or link-local.
pub(crate) fn is_private(address: IpAddr) -> bool {
    PRIVATE.iter().any(|network| network.contains(address))
}

/// Whether an address tells nothing about a host.
pub(crate) fn is_nobody(address: IpAddr) -> bool {
    NOBODY.iter().any(|network| network.contains(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_read_as_python_reads_them() {
        let read = |text: &str| Network::parse(text).map(|network| network.to_string());
        assert_eq!(read("10.0.0.0/8").as_deref(), Some("10.0.0.0/8"));
        assert_eq!(read("10.0.0.0/255.0.0.0").as_deref(), Some("10.0.0.0/8"));
        assert_eq!(read("10.0.0.0/0.255.255.255").as_deref(), Some("10.0.0.0/8"));
        assert_eq!(read("192.0.2.1").as_deref(), Some("192.0.2.1/32"));
        assert_eq!(read("0.0.0.0/0").as_deref(), Some("0.0.0.0/0"));
        assert_eq!(read("2001:db8::/32").as_deref(), Some("2001:db8::/32"));
        assert_eq!(read("::/0").as_deref(), Some("::/0"));
        for wrong in ["10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/+8", "10.0.0.0/", "x", "", "2001:db8::/129", "::/0.0.0.0"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        let refusal = Networks::parse(["192.168.1.0/33"]).map_err(|refused| refused.to_string());
        let line = "internal = '192.168.1.0/33': must be a network such as 10.0.0.0/8 or 2001:db8::/32";
        assert_eq!(refusal, Err(line.to_owned()));
    }

    #[test]
    fn an_address_is_in_its_network_and_in_no_other() {
        let inside = |network: &str, address: &str| {
            Network::parse(network).expect("a network").contains(address.parse().expect("an address"))
        };
        assert!(inside("10.0.0.0/8", "10.255.1.2") && !inside("10.0.0.0/8", "11.0.0.0"));
        assert!(inside("::/0", "ff02::1") && !inside("::/0", "1.2.3.4"));
        assert!(is_private(IpAddr::from([172, 31, 0, 1])) && !is_private(IpAddr::from([172, 32, 0, 1])));
        assert!(is_nobody("ff02::1".parse().expect("an address")) && is_nobody(IpAddr::from([239, 1, 1, 1])));
    }
}
