//! Why packets are left out.

use account::Reason;

/// IP protocols that carry packets of others: IP in IP, 6in4, GRE, ESP, Ethernet in IP, IPComp, L2TP, MPLS in IP.
pub const TUNNEL_PROTOCOLS: [u8; 8] = [4, 41, 47, 50, 97, 108, 115, 137];

/// Why a packet is not in the connection table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// The link type of its interface is not decoded.
    LinkType,
    /// The frame carries something else than IPv4 or IPv6.
    NotIp,
    /// The captured bytes end before the ports and flags.
    Short,
    /// A header contradicts itself.
    Malformed,
    /// A pcapng packet block without a known interface or without a time.
    NoInterface,
    /// A block longer than the reader holds.
    Oversized,
    /// The file ends within the record.
    CutRecord,
    /// A packet that another tap, or the same one, had captured before.
    Duplicate,
}

impl Skip {
    /// Every reason with its name in tables.
    pub const NAMES: [(Skip, &'static str); 8] = [
        (Skip::LinkType, "link_type"),
        (Skip::NotIp, "not_ip"),
        (Skip::Short, "cut_header"),
        (Skip::Malformed, "malformed"),
        (Skip::NoInterface, "no_interface"),
        (Skip::Oversized, "oversized"),
        (Skip::CutRecord, "cut_record"),
        (Skip::Duplicate, "duplicate"),
    ];

    /// The same in an account.
    pub(crate) fn reason(self) -> Reason {
        match self {
            Skip::LinkType => Reason::LinkType,
            Skip::NotIp => Reason::NotIp,
            Skip::Short => Reason::CutHeader,
            Skip::Malformed | Skip::NoInterface | Skip::Oversized => Reason::Damaged,
            Skip::CutRecord => Reason::CutRecord,
            Skip::Duplicate => Reason::Duplicate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_the_reasons() {
        for (index, (reason, _)) in Skip::NAMES.iter().enumerate() {
            assert_eq!(*reason as usize, index);
        }
    }
}
