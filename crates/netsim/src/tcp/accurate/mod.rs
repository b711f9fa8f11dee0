//! Accurate ECN (RFC 9768): how often, and in how many bytes, the network marked what arrives, told by every segment.
//!
//! Principle: each end counts the marked packets and the bytes of each code point that it has received. The lowest three
//! bits of the first count are the ACE field, the flags AE, CWR and ECE of every segment; the others are 24 bits each in an
//! option, where that fits. The other end takes what is new of both: the field tells up to seven marks at a time, and where
//! an acknowledgement is of more segments than that the option, or else the more careful of the two readings, decides. The
//! handshake says whether both understand this, and feeds back what the network did to the SYN and to its answer. Cost
//! per segment: O(1). Source: RFC 9768, of which sections stand at the lines; Linux 7.2, include/net/tcp_ecn.h and
//! tcp_input.c, for its choices.
//!
//! Ends of Linux have a [`Host`] each, and send the field and the option. Those of the RFCs tell the count of marks whole
//! ([`Marks`]): on a path that changes nothing it is what field and option make known.

mod host;
mod option;
pub(crate) mod report;
#[cfg(test)]
mod tests;

use crate::tcp::settings::{EcnMode, Tcp};

pub(crate) use host::{Habits, Host, Mode, News};
pub(crate) use option::Counts;
use report::AccEcnReport;

/// Ends of Linux that know this, two of each connection that has it: hosts are where both of its directions meet.
#[derive(Debug, Default)]
pub(crate) struct Hosts(Vec<Host>);

impl Hosts {
    /// The host at `index`; a new one is at rest.
    #[inline]
    pub(crate) fn of(&mut self, index: u32) -> &mut Host {
        let index = index as usize;
        if index >= self.0.len() {
            self.0.resize_with(index + 1, Host::default);
        }
        &mut self.0[index]
    }

    /// The host at `index`, if it ever was asked for.
    pub(crate) fn known(&self, index: u32) -> Option<&Host> {
        self.0.get(index as usize)
    }

    /// A connection with settings `tcp` begins between two hosts.
    pub(crate) fn restart(&mut self, (one, other): (u32, u32), tcp: &Tcp) {
        if tcp.ecn.counts() && tcp.recovery.is_linux() {
            self.of(one).restart();
            self.of(other).restart();
        }
    }

    /// A SYN, or an answer to one, reaches the host at `index`.
    pub(crate) fn on_opening(&mut self, index: u32, told: Option<AccEcnReport>) {
        if let Some(told) = told {
            self.of(index).on_opening(&told);
        }
    }

    /// What the host at `index` speaks, with settings `tcp`.
    #[inline]
    pub(crate) fn mode(&mut self, index: u32, tcp: &Tcp) -> Mode {
        match tcp.ecn {
            EcnMode::Off => Mode::Off,
            EcnMode::Classic | EcnMode::Dctcp => Mode::Classic,
            EcnMode::Accurate | EcnMode::L4s => self.of(index).mode,
        }
    }
}

/// Marks that have been received, or told of: the whole count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(u32);

impl Marks {
    /// A segment arrives.
    #[inline]
    pub(crate) fn count(&mut self, marked: bool) {
        self.0 += u32::from(marked);
    }

    /// What an acknowledgement tells.
    #[inline]
    pub(crate) fn whole(self) -> u32 {
        self.0
    }

    /// An acknowledgement tells of `whole` marks: those that are new. Older ones that arrive late tell nothing.
    #[inline]
    pub(crate) fn take(&mut self, whole: u32) -> u32 {
        let fresh = whole.saturating_sub(self.0);
        self.0 += fresh;
        fresh
    }
}
