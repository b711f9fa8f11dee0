//! The account of an input: how much of it was seen, how much was used, and what was left out for which reason.
//!
//! Readers of captures, flow lists and logs fill one in while they read; a command that uses less than they passed on moves
//! the rest to a reason ([`Account::withdraw`]). What was seen is counted where a record is read, what became of it where that
//! is decided, so that [`Account::is_exact`] can fail where one of the two is forgotten.
//!
//! A packet is counted with the length of its IP packet; where it has none that can be believed, with the length of its
//! frame on the wire. A row of a list or a log is counted with the bytes that it stands for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A number of packets or rows, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Amount {
    /// How many packets or rows.
    pub count: u64,
    /// Their length, bytes.
    pub bytes: u64,
}

impl Amount {
    /// So many packets or rows of so many bytes.
    pub const fn of(count: u64, bytes: u64) -> Amount {
        Amount { count, bytes }
    }

    /// One of so many bytes.
    pub const fn one(bytes: u64) -> Amount {
        Amount { count: 1, bytes }
    }

    /// Whether there is nothing.
    pub fn is_none(self) -> bool {
        self == Amount::default()
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Amount) -> Amount {
        // Lengths that a file claims may be anything: they wrap alike in every sum.
        Amount { count: self.count.wrapping_add(other.count), bytes: self.bytes.wrapping_add(other.bytes) }
    }

    /// This without `other`.
    #[must_use]
    pub fn without(self, other: Amount) -> Amount {
        Amount { count: self.count.wrapping_sub(other.count), bytes: self.bytes.wrapping_sub(other.bytes) }
    }
}

/// What the records of an input are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Packets of a capture.
    #[default]
    Packets,
    /// Rows of a list or a log, or connections of a table.
    Rows,
}

/// Why something was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The link type is not decoded.
    LinkType,
    /// Neither IPv4 nor IPv6.
    NotIp,
    /// A protocol that a list or a log does not have.
    Protocol,
    /// Cut off within the headers when it was captured.
    CutHeader,
    /// A header contradicts itself, or the record does not say when and where it was captured, or is too long to hold.
    Damaged,
    /// The file ends within its record.
    CutRecord,
    /// The filter of the user leaves it out.
    Filter,
    /// A copy of a packet that was seen before.
    Duplicate,
    /// Of connections given up since too many were open at once.
    Evicted,
    /// Read, and given up since the memory or the time of the command was reached.
    Budget,
    /// Read, and not part of the answer: handshakes without data, ICMP in a flow list, messages that a form of the replay
    /// leaves aside.
    Aside,
}

impl Reason {
    /// Every reason with its name in documents.
    pub const NAMES: [(Reason, &'static str); 11] = [
        (Reason::LinkType, "link_type"),
        (Reason::NotIp, "not_ip"),
        (Reason::Protocol, "protocol"),
        (Reason::CutHeader, "cut_header"),
        (Reason::Damaged, "damaged"),
        (Reason::CutRecord, "cut_record"),
        (Reason::Filter, "filter"),
        (Reason::Duplicate, "duplicate"),
        (Reason::Evicted, "evicted"),
        (Reason::Budget, "budget"),
        (Reason::Aside, "aside"),
    ];

    /// Its name in documents.
    pub fn name(self) -> &'static str {
        Reason::NAMES[self as usize].1
    }

    /// Of a name.
    pub fn named(name: &str) -> Option<Reason> {
        Reason::NAMES.into_iter().find(|&(_, known)| known == name).map(|(reason, _)| reason)
    }
}

/// What became of an input: `seen` is `used` and all that was left out.
#[must_use = "what was left out must reach the user"]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    unit: Unit,
    seen: Amount,
    used: Amount,
    left_out: [Amount; Reason::NAMES.len()],
}

impl Account {
    /// An empty one.
    pub fn of(unit: Unit) -> Account {
        Account { unit, ..Account::default() }
    }

    /// What its records are.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// All that was read.
    pub fn seen(&self) -> Amount {
        self.seen
    }

    /// What the answer is about.
    pub fn used(&self) -> Amount {
        self.used
    }

    /// What was left out for `reason`.
    pub fn left_out(&self, reason: Reason) -> Amount {
        self.left_out[reason as usize]
    }

    /// What was left out for any reason.
    pub fn left_out_total(&self) -> Amount {
        self.left_out.iter().fold(Amount::default(), |sum, &amount| sum.and(amount))
    }

    /// Counts what is read; what becomes of it is said by [`Account::take`] and [`Account::leave_out`].
    #[inline]
    pub fn see(&mut self, amount: Amount) {
        self.seen = self.seen.and(amount);
    }

    /// Counts what is used of what was seen.
    #[inline]
    pub fn take(&mut self, amount: Amount) {
        self.used = self.used.and(amount);
    }

    /// Counts what is left out of what was seen.
    #[inline]
    pub fn leave_out(&mut self, reason: Reason, amount: Amount) {
        let of = &mut self.left_out[reason as usize];
        *of = of.and(amount);
    }

    /// Leaves out what had been used.
    pub fn withdraw(&mut self, reason: Reason, amount: Amount) {
        self.used = self.used.without(amount);
        self.leave_out(reason, amount);
    }

    /// Adds another part of the same input.
    pub fn add(&mut self, other: &Account) {
        self.see(other.seen);
        self.take(other.used);
        for (reason, _) in Reason::NAMES {
            self.leave_out(reason, other.left_out(reason));
        }
    }

    /// Whether all that was seen was used or left out for a reason.
    pub fn is_exact(&self) -> bool {
        self.seen == self.used.and(self.left_out_total())
    }

    /// Numbers for a document.
    pub fn sums(&self) -> Sums {
        let named = Reason::NAMES.into_iter().map(|(reason, name)| (name.to_owned(), self.left_out(reason)));
        let left_out = named.filter(|(_, amount)| !amount.is_none()).collect();
        Sums { unit: self.unit, seen: self.seen, used: self.used, left_out }
    }
}

/// The numbers of an account.
#[must_use = "what was left out must reach the user"]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sums {
    /// What is counted.
    pub unit: Unit,
    /// All that was read.
    pub seen: Amount,
    /// What the answer is about.
    pub used: Amount,
    /// What was left out, by reason; reasons without anything are absent.
    pub left_out: BTreeMap<String, Amount>,
}

impl Sums {
    /// The account of these files, of which `partial` says what is missing, a sentence each, and `cannot_answer` what they
    /// do not show.
    pub fn of(self, source: Vec<String>, partial: Vec<String>, cannot_answer: Option<String>) -> Accounted {
        let Sums { unit, seen, used, left_out } = self;
        Accounted { source, unit, seen, used, left_out, partial, cannot_answer }
    }
}

/// What became of captures or a list that were read. `seen` is the sum of `used` and of all amounts of `left_out`, in number and in
/// bytes. A document has a list of these, one for each input, under the key `account`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Accounted {
    /// Names of the files that were read as one.
    pub source: Vec<String>,
    /// What is counted: `packets` of captures, `rows` of lists and logs.
    pub unit: Unit,
    /// All that was read. A packet has the bytes of its IP packet, and of its frame where there is none; a row those that it stands for.
    pub seen: Amount,
    /// What the answer is about.
    pub used: Amount,
    /// What was left out, by reason: `link_type`, `not_ip`, `protocol` (that a list or a log does not have), `cut_header`, `damaged`, `cut_record` (the file
    /// ends within it), `filter`, `duplicate`, `evicted` (of connections given up since too many were open at once), `budget` (given up for memory or time), `aside`
    /// (not part of this answer). Reasons without anything are absent.
    pub left_out: BTreeMap<String, Amount>,
    /// Which part of the input is missing because a limit was reached, a sentence each; empty where none was.
    pub partial: Vec<String>,
    /// What the input cannot answer, in a sentence; null where it shows nothing of the kind.
    pub cannot_answer: Option<String>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_in_the_order_of_the_reasons() {
        for (index, (reason, name)) in Reason::NAMES.into_iter().enumerate() {
            assert_eq!(reason as usize, index);
            assert_eq!(Reason::named(name), Some(reason));
        }
        assert_eq!(Reason::named("because"), None);
    }

    #[test]
    fn what_is_forgotten_shows() {
        let mut account = Account::default();
        account.see(Amount::of(2, 100));
        account.take(Amount::one(60));
        assert!(!account.is_exact());
        account.leave_out(Reason::NotIp, Amount::one(39));
        assert!(!account.is_exact());
        account.leave_out(Reason::CutHeader, Amount::of(0, 1));
        assert!(account.is_exact());
    }

    proptest! {
        #[test]
        fn parts_and_their_sum_are_exact(
            parts in proptest::collection::vec((0..Reason::NAMES.len(), any::<bool>(), 0..9_u64, any::<u64>()), 0..50),
        ) {
            let (mut whole, mut sum) = (Account::default(), Account::default());
            for (reason, withdrawn, count, bytes) in parts {
                let (reason, amount) = (Reason::NAMES[reason].0, Amount::of(count, bytes));
                let mut part = Account::default();
                part.see(amount);
                if withdrawn {
                    part.take(amount);
                    part.withdraw(reason, amount);
                } else {
                    part.leave_out(reason, amount);
                }
                prop_assert!(part.is_exact());
                prop_assert_eq!(part.left_out(reason), amount);
                whole.add(&part);
                sum.see(amount);
                sum.take(amount);
            }
            prop_assert!(whole.is_exact() && sum.is_exact());
            prop_assert_eq!(whole.seen(), sum.used());
            prop_assert_eq!(whole.left_out_total(), sum.used());
        }
    }
}
