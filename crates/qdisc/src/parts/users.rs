//! Whom a packet is for: what a fair share is a share of.

use crate::packet::Packet;
use crate::spec::{Options, Param, Value};

/// Parameter: what a user is.
pub(crate) const USER: Param = Param {
    name: "user",
    unit: "",
    about: "what a user is: pair of hosts, destination host, source host, flow, or mark",
    value: Value::Choice(&["pair", "dst", "src", "flow", "mark"]),
};

/// The same for who can weigh pairs by their hosts.
pub(crate) const USER_OR_TRIPLE: Param = Param {
    about: "what a user is: pair of hosts, alone or beside the other pairs of both (triple), one host, flow, or mark",
    value: Value::Choice(&["pair", "triple", "dst", "src", "flow", "mark"]),
    ..USER
};

/// What a user is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Pair,
    /// A pair of hosts beside the other pairs of both.
    Triple,
    Destination,
    Source,
    Flow,
    Mark,
}

impl By {
    /// From [`USER`] or [`USER_OR_TRIPLE`].
    pub(crate) fn with_options(options: &Options) -> By {
        match options.choice(USER.name) {
            "dst" => By::Destination,
            "src" => By::Source,
            "flow" => By::Flow,
            "mark" => By::Mark,
            "triple" => By::Triple,
            _ => By::Pair,
        }
    }

    /// The number of the user of `packet`: of a pair of hosts the same in both directions. Hosts are told apart by their
    /// leading `prefix` bits, 1 to 32.
    #[inline]
    pub(crate) fn key(self, packet: &Packet, prefix: u32) -> u64 {
        let net = |host: u32| u64::from(host) >> (32 - prefix);
        if self == By::Pair {
            let (one, other) = (net(packet.src), net(packet.dst));
            return one.min(other) << 32 | one.max(other);
        }
        match self {
            By::Pair | By::Triple => net(packet.src) << 32 | net(packet.dst),
            By::Destination => net(packet.dst),
            By::Source => net(packet.src),
            By::Flow => packet.flow.0,
            By::Mark => packet.mark.into(),
        }
    }
}
