//! Two classes with strict priority: what EFD and Run2C have in common.
//!
//! Principle: the low class is served only while the high one is empty, each in order of arrival;
//! room for a high packet is made at the tail of the low class. Cost per packet: O(1), and O(1) per
//! victim. Source: Chen 2012, 4.3 and Algorithm 3.

use std::collections::VecDeque;

use crate::base::{DropReason, Env};
use crate::packet::Packet;

/// A high and a low class of waiting packets.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    high: VecDeque<Packet>,
    low: VecDeque<Packet>,
    low_bytes: u64,
}

impl Classes {
    /// Appends `packet` to its class.
    #[inline]
    pub(crate) fn push(&mut self, packet: Packet, high: bool) {
        if high {
            self.high.push_back(packet);
        } else {
            self.low_bytes += u64::from(packet.len);
            self.low.push_back(packet);
        }
    }

    /// Takes the next packet to send.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        self.high.pop_front().or_else(|| {
            let packet = self.low.pop_front()?;
            self.low_bytes -= u64::from(packet.len);
            Some(packet)
        })
    }

    /// Makes room for a high packet of `len` bytes: discards from the tail of the low class, telling
    /// `forget` of each victim. Discards nothing and returns false when the whole low class would not
    /// be enough.
    pub(crate) fn make_room(&mut self, len: u32, env: &mut Env, mut forget: impl FnMut(&Packet)) -> bool {
        if env.is_full_without(len, self.low.len() as u64, self.low_bytes) {
            return false;
        }
        while env.is_full(len) {
            let victim = self.low.pop_back().expect("there is room without the low class");
            self.low_bytes -= u64::from(victim.len);
            forget(&victim);
            env.discard(victim, DropReason::PushedOut);
        }
        true
    }

    /// The packet `pop` would take.
    pub(crate) fn peek(&self) -> Option<&Packet> {
        self.high.front().or_else(|| self.low.front())
    }

    /// Packets waiting with high priority.
    pub(crate) fn high_backlog(&self) -> usize {
        self.high.len()
    }
}
