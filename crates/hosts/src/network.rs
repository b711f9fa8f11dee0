//! Networks of addresses: those that a user gives, private ones, and those of addresses that are no host.
//!
//! Source of the private networks: RFC 1918, RFC 4193, RFC 3927, RFC 4291.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use capture::number_of;

/// Addresses with the same leading bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

/// The text of a site's network that is none; displayed, the line that refuses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotNetwork(pub String);

impl fmt::Display for NotNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.escape_debug().to_string().replace("\\'", "'");
        write!(f, "internal = '{shown}': must be a network such as 10.0.0.0/8 or 2001:db8::/32")
    }
}

impl std::error::Error for NotNetwork {}

/// The networks of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(Vec<Network>);

impl Networks {
    /// Networks in the notation `10.0.0.0/8`, `2001:db8::/32`.
    ///
    /// # Errors
    /// The first text that is none, or has bits behind its prefix.
    pub fn parse<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Networks, NotNetwork> {
        texts.into_iter().map(|text| text.as_ref().parse()).collect::<Result<_, _>>().map(Networks)
    }

    /// Whether an address is in one of them.
    pub fn contain(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Network> {
        self.0.iter()
    }
}

impl FromIterator<Network> for Networks {
    fn from_iter<T: IntoIterator<Item = Network>>(networks: T) -> Networks {
        Networks(networks.into_iter().collect())
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

    /// What Python's `ipaddress.ip_network` takes: an address alone is a network, and a mask may stand for the prefix.
    fn parsed(text: &str) -> Option<Network> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        // A zone says on which link an address of IPv6 is, not which it is.
        let bare = match address.split_once('%') {
            Some((bare, zone)) if bare.contains(':') && !zone.is_empty() => bare,
            _ => address,
        };
        let address: IpAddr = bare.parse().ok()?;
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
    pub fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.address.is_ipv4() && Network::around(address, self.bits).address == self.address
    }
}

impl FromStr for Network {
    type Err = NotNetwork;

    fn from_str(text: &str) -> Result<Network, NotNetwork> {
        Network::parsed(text).ok_or_else(|| NotNetwork(text.to_owned()))
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

/// Addresses that are no host: unspecified, multicast, broadcast.
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

/// Whether an address is no host: unspecified, multicast or broadcast.
pub(crate) fn is_nobody(address: IpAddr) -> bool {
    NOBODY.iter().any(|network| network.contains(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_read_as_python_reads_them() {
        let read = |text: &str| Network::parsed(text).map(|network| network.to_string());
        assert_eq!(read("10.0.0.0/8").as_deref(), Some("10.0.0.0/8"));
        assert_eq!(read("10.0.0.0/08").as_deref(), Some("10.0.0.0/8"));
        assert_eq!(read("10.0.0.0/255.0.0.0").as_deref(), Some("10.0.0.0/8"));
        assert_eq!(read("10.0.0.0/0.255.255.255").as_deref(), Some("10.0.0.0/8"));
        assert_eq!(read("192.0.2.1").as_deref(), Some("192.0.2.1/32"));
        assert_eq!(read("0.0.0.0/0").as_deref(), Some("0.0.0.0/0"));
        assert_eq!(read("fe80::%eth0/64").as_deref(), Some("fe80::/64"));
        assert_eq!(read("10.0.0.0%eth0/8"), None);
        assert_eq!(read("2001:db8::/32").as_deref(), Some("2001:db8::/32"));
        assert_eq!(read("::/0").as_deref(), Some("::/0"));
        assert_eq!(read("10.0.0.0").as_deref(), Some("10.0.0.0/32"));
        let wrong =
            ["10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/+8", "10.0.0.0/-1", "10.0.0.0/", "10/8", "10.0.0.0/8/8", "x"];
        for wrong in wrong.into_iter().chain(["", "2001:db8::/129", "::/0.0.0.0", "::1/0", "10.0.0.0/255.0.255.0"]) {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        let refusal = Networks::parse(["10.0.0.0/8", "192.168.1.0/33"]).map_err(|refused| refused.to_string());
        let line = "internal = '192.168.1.0/33': must be a network such as 10.0.0.0/8 or 2001:db8::/32";
        assert_eq!(refusal, Err(line.to_owned()));
    }

    #[test]
    fn an_address_is_in_its_network_and_in_no_other() {
        let inside = |network: &str, address: &str| {
            Network::parsed(network).expect("a network").contains(address.parse().expect("an address"))
        };
        assert!(inside("10.0.0.0/8", "10.255.1.2") && !inside("10.0.0.0/8", "11.0.0.0"));
        assert!(inside("::/0", "ff02::1") && !inside("::/0", "1.2.3.4"));
        assert!(inside("fe80::/10", "febf::1") && !inside("fe80::/10", "fec0::1"));
        assert!(inside("192.0.2.7/32", "192.0.2.7") && !inside("192.0.2.7/32", "192.0.2.6"));
        assert!(is_private(IpAddr::from([172, 31, 0, 1])) && !is_private(IpAddr::from([172, 32, 0, 1])));
        assert!(is_nobody("ff02::1".parse().expect("an address")) && is_nobody(IpAddr::from([239, 1, 1, 1])));
    }
}
