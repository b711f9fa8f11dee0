//! Addresses under a key, with shared prefixes shared still: Crypto-PAn.
//!
//! Principle: a bit of the address is flipped or not, as a bit of AES under the key of all bits before it says. So two
//! addresses that share their first n bits share the first n bits of their images, and of no more. Special-purpose prefixes
//! stay: bits are not flipped on the way to them. A private address has a private image, a multicast address one of
//! multicast, and no other address has either; who is local and who is not is the same in both, and so is all that follows
//! from it. This gives away which addresses are special-purpose, and of the others the bits that they share with such a
//! prefix (of IPv4 the first 3 or 4 bits of nearly all addresses, of IPv6 that a global address is one).
//!
//! Cost: one block of AES per bit of each address that was not met before.
//!
//! Source: J. Xu, J. Fan, M. Ammar, S. Moon, Prefix-preserving IP address anonymization, ICNP 2002, and its program
//! (Crypto-PAn 1.0); prefixes of the IANA IPv4 and IPv6 special-purpose address registries (RFC 6890).

use std::fmt;
use std::net::IpAddr;

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};

use crate::prefix::{Prefix, address_of, mask, number_of};

/// Bytes of a key: 16 of AES, 16 of the pad.
pub const KEY_BYTES: usize = 32;

/// Prefixes that stay what they are.
const SPECIAL: [(&str, u32); 15] = [
    ("0.0.0.0", 32),
    ("10.0.0.0", 8),
    ("100.64.0.0", 10),
    ("127.0.0.0", 8),
    ("169.254.0.0", 16),
    ("172.16.0.0", 12),
    ("192.168.0.0", 16),
    ("224.0.0.0", 4),
    ("255.255.255.255", 32),
    ("::", 128),
    ("::1", 128),
    ("fc00::", 7),
    ("fe80::", 10),
    ("ff00::", 8),
    ("::ffff:0.0.0.0", 96),
];

/// Maps addresses, each to one and no two to the same.
#[derive(Clone)]
pub struct Anonymizer {
    cipher: Aes128,
    pad: u128,
    special: Vec<Prefix>,
}

impl fmt::Debug for Anonymizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Anonymizer")
    }
}

impl Anonymizer {
    /// Under this key.
    pub fn with(key: &[u8; KEY_BYTES]) -> Anonymizer {
        let mut bare = Anonymizer::bare(key);
        bare.special = SPECIAL
            .iter()
            .filter_map(|&(text, bits)| text.parse().ok().and_then(|address| Prefix::of(address, bits)))
            .collect();
        bare
    }

    /// Crypto-PAn as published, without special-purpose prefixes.
    fn bare(key: &[u8; KEY_BYTES]) -> Anonymizer {
        let (mut half, mut pad) = ([0; 16], [0; 16]);
        half.copy_from_slice(&key[..16]);
        pad.copy_from_slice(&key[16..]);
        let cipher = Aes128::new(&half.into());
        let mut block = pad.into();
        cipher.encrypt_block(&mut block);
        Anonymizer { cipher, pad: u128::from_be_bytes(block.into()), special: Vec::new() }
    }

    /// The image of an address.
    pub fn address(&self, address: IpAddr) -> IpAddr {
        self.network(address, number_of(address).1)
    }

    /// The image of the network that has the first `bits` of an address: the network of the images of its hosts.
    pub fn network(&self, address: IpAddr, bits: u32) -> IpAddr {
        let (number, width) = number_of(address);
        let flips = (0..bits).filter(|&place| self.flips(number, width, place));
        let flipped = flips.fold(0, |flipped, place| flipped | 1_u128 << (width - 1 - place));
        address_of((number ^ flipped) & mask(bits, width), width)
    }

    /// Whether the bit behind the first `place` of them is flipped.
    fn flips(&self, number: u128, width: u32, place: u32) -> bool {
        let leads_to = |prefix: &Prefix| prefix.is_of(width) && prefix.bits > place && prefix.shares(number, place);
        if self.special.iter().any(leads_to) {
            return false;
        }
        let shift = 128 - width;
        let before = mask(place, width) << shift;
        let mut block = ((number << shift) & before | self.pad & !before).to_be_bytes().into();
        self.cipher.encrypt_block(&mut block);
        block[0] & 0x80 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Key and addresses of `sample.cpp` and `sample_trace_raw.dat` of Crypto-PAn 1.0.
    const KEY: [u8; KEY_BYTES] = [
        21, 34, 23, 141, 51, 164, 207, 128, 19, 10, 91, 22, 73, 144, 125, 16, 216, 152, 143, 131, 121, 121, 101, 39,
        98, 87, 76, 45, 42, 132, 34, 2,
    ];

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn shared(a: IpAddr, b: IpAddr) -> u32 {
        let ((one, width), (two, _)) = (number_of(a), number_of(b));
        (one ^ two).leading_zeros().saturating_sub(128 - width)
    }

    #[test]
    fn addresses_of_the_published_sample_have_the_published_images() {
        let bare = Anonymizer::bare(&KEY);
        let sample = "128.11.68.132 135.242.180.132, 129.118.74.4 134.136.186.123, 130.132.252.244 133.68.164.234, \
             141.223.7.43 141.167.8.160, 141.233.145.108 141.129.237.235, 152.163.225.39 151.140.114.167, \
             156.29.3.236 147.225.12.42, 165.247.96.84 162.9.99.234, 166.107.77.190 160.132.178.185, \
             192.102.249.13 252.138.62.131, 192.215.32.125 252.43.47.189, 192.233.80.103 252.25.108.8, \
             192.41.57.43 252.222.221.184, 193.150.244.223 253.169.52.216, 195.205.63.100 255.186.223.5, \
             198.200.171.101 249.199.68.213, 198.26.132.101 249.36.123.202, 202.49.198.20 245.206.7.234, \
             203.12.160.252 244.248.163.4, 204.184.162.189 243.192.77.90, 207.105.49.5 241.118.205.138, \
             212.120.124.31 228.135.163.231, 216.148.237.145 235.84.194.111, 24.0.250.221 100.15.198.226, \
             38.15.67.68 64.3.66.187, 4.3.88.225 124.60.155.63, 63.195.241.44 95.179.238.44, \
             64.39.15.238 0.219.7.41, 10.185.25.118 117.161.29.118";
        for pair in sample.split(", ") {
            let (one, image) = pair.split_once(' ').expect("two addresses");
            assert_eq!(bare.address(address(one)), address(image), "{one}");
        }
    }

    /// Images that other programs have for IPv6, which the published one does not take.
    #[test]
    fn addresses_of_ipv6_have_the_images_of_other_programs() {
        let bare = Anonymizer::bare(&KEY);
        for (one, image) in [
            ("::1", "78ff:f001:9fc0:20df:8380:b1f1:704:ed"),
            ("::ffff", "78ff:f001:9fc0:20df:8380:b1f1:704:f838"),
            ("2001:db8::1", "4401:2bc:603f:d91d:27f:ff8e:e6f1:dc1e"),
            ("2001:db8::2", "4401:2bc:603f:d91d:27f:ff8e:e6f1:dc1c"),
        ] {
            assert_eq!(bare.address(address(one)), address(image), "{one}");
        }
    }

    #[test]
    fn special_purpose_prefixes_stay_and_nobody_stays_whole() {
        let found = Anonymizer::with(&KEY);
        for whole in ["0.0.0.0", "255.255.255.255", "::", "::1"] {
            assert_eq!(found.address(address(whole)), address(whole));
        }
        let image = found.address(address("10.10.0.2"));
        assert!(image != address("10.10.0.2") && image.to_string().starts_with("10."), "{image}");
        let image = found.address(address("2001:db8::1"));
        assert_eq!((shared(image, address("2000::")) >= 3, image == address("2001:db8::1")), (true, false));
    }

    proptest! {
        #[test]
        fn images_share_the_prefixes_of_addresses_of_ipv4(one: [u8; 4], other: [u8; 4], bits in 0_u32..33, key: [u8; 32]) {
            let (found, one, other) = (Anonymizer::with(&key), IpAddr::from(one), IpAddr::from(other));
            let near = address_of(number_of(one).0 ^ (1 << 31 >> bits.min(31)), 32);
            for other in [other, near] {
                prop_assert_eq!(shared(found.address(one), found.address(other)), shared(one, other));
            }
            prop_assert!(shared(found.network(one, bits), found.address(one)) >= bits);
        }

        #[test]
        fn images_share_the_prefixes_of_addresses_of_ipv6(one: [u8; 16], place in 0_u32..128, key: [u8; 32]) {
            let (found, one) = (Anonymizer::with(&key), IpAddr::from(one));
            let other = address_of(number_of(one).0 ^ (1 << 127 >> place), 128);
            prop_assert_eq!(shared(found.address(one), found.address(other)), place);
        }

        #[test]
        fn an_address_is_special_purpose_as_its_image_is(one: [u8; 4], six: [u8; 16], place in 0_usize..15) {
            let found = Anonymizer::with(&KEY);
            let (special, bits) = SPECIAL[place];
            let prefix = Prefix::of(address(special), bits).expect("a prefix");
            for one in [IpAddr::from(one), IpAddr::from(six), address(special)] {
                prop_assert_eq!(prefix.contains(one), prefix.contains(found.address(one)));
            }
        }
    }
}
