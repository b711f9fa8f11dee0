//! Leading bits of addresses, as numbers: for the filter and for anonymization.

use std::net::IpAddr;

/// An address as a number, its leading bit first, and how many bits it has.
pub fn number_of(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
        IpAddr::V6(address) => (u128::from(address), 128),
    }
}

/// The address of a number of `width` bits.
pub(crate) fn address_of(number: u128, width: u32) -> IpAddr {
    if width == 32 { IpAddr::from((number as u32).to_be_bytes()) } else { IpAddr::from(number.to_be_bytes()) }
}

/// Addresses of one family with the same leading bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefix {
    /// These bits at their place, the others 0.
    number: u128,
    /// Bits of an address: 32 or 128.
    width: u32,
    /// How many lead.
    pub(crate) bits: u32,
}

impl Prefix {
    /// The first `bits` of an address; None where it has others that are not 0, or fewer than these.
    pub(crate) fn of(address: IpAddr, bits: u32) -> Option<Prefix> {
        let (number, width) = number_of(address);
        let prefix = Prefix { number, width, bits };
        (bits <= width && number & !prefix.mask(bits) == 0).then_some(prefix)
    }

    fn mask(&self, bits: u32) -> u128 {
        mask(bits, self.width)
    }

    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        let (number, width) = number_of(address);
        width == self.width && self.shares(number, self.bits)
    }

    /// Whether the first `bits` of a number of this width are those of the prefix.
    pub(crate) fn shares(&self, number: u128, bits: u32) -> bool {
        (number ^ self.number) & self.mask(bits) == 0
    }

    /// Whether it is of addresses of this many bits.
    pub(crate) fn is_of(&self, width: u32) -> bool {
        self.width == width
    }
}

/// The first `bits` of `width` set.
pub(crate) fn mask(bits: u32, width: u32) -> u128 {
    let all = u128::MAX >> (128 - width);
    all & !all.checked_shr(bits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_of_leading_bits() {
        assert_eq!(mask(0, 32), 0);
        assert_eq!(mask(8, 32), 0xff00_0000);
        assert_eq!(mask(32, 32), 0xffff_ffff);
        assert_eq!(mask(0, 128), 0);
        assert_eq!(mask(128, 128), u128::MAX);
    }
}
