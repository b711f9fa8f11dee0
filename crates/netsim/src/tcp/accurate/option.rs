//! The option: byte counts of the three code points, as far as they fit (RFC 9768, 3.2.3).

use qdisc::Ecn;

/// Counts are told and read modulo this.
const WRAP: u32 = 1 << 24;
/// Kind and length; a field.
const BASE: u32 = 2;
const FIELD: u32 = 3;
/// Room for options in a segment, bytes, and what a timestamp and blocks take, aligned.
const SPACE: u32 = 40;
const STAMP: u32 = 12;
const BLOCKS: u32 = 4;
const BLOCK: u32 = 8;
/// Bytes that pad the blocks, which the end of the option can take the place of.
const PADDING: u32 = 2;
/// Fields of the full option.
const FIELDS: u32 = 3;

/// An option as it is sent: counts in bytes, 24 bits of each, the first `fields` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// ECT(1) comes first, and ECT(0) last; else the other way round. CE stands between them.
    pub(crate) ect1_first: bool,
    pub(crate) fields: u8,
    pub(crate) values: [u32; 3],
}

/// The count of `ecn` in a table of counts: ECT(1), CE, ECT(0).
pub(super) fn place(ecn: Ecn) -> Option<usize> {
    match ecn {
        Ecn::NotEct => None,
        Ecn::Ect1 => Some(0),
        Ecn::Ce => Some(1),
        Ecn::Ect0 => Some(2),
    }
}

/// What counts begin with, so that a middlebox that clears them is found out (3.2.3.2.4): 1, 0 and 1.
const BEGIN: [u32; 3] = [1, 0, 1];

impl Counts {
    /// `fields` of `received`, bytes of ECT(1), CE and ECT(0).
    pub(super) fn of(received: [u32; 3], fields: u32) -> Counts {
        let values = std::array::from_fn(|at| received[at].wrapping_add(BEGIN[at]) % WRAP);
        Counts { ect1_first: true, fields: fields as u8, values }
    }

    /// The fields, with their places in a table of counts.
    fn fields(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let ect1_first = self.ect1_first;
        let at = move |field: usize| if ect1_first { field } else { 2 - field };
        self.values[..usize::from(self.fields)].iter().enumerate().map(move |(field, &value)| (at(field), value))
    }

    /// Whether a middlebox has cleared it: neither end field may be 0 at the beginning.
    pub(super) fn is_cleared(&self) -> bool {
        self.fields >= 1 && self.values[0] == 0 || self.fields >= 3 && self.values[2] == 0
    }

    /// Takes what it says into `delivered`: the changes, by place, in the order of the fields.
    pub(super) fn take(&self, delivered: &mut [u32; 3]) -> Vec<(usize, i32)> {
        let mut changes = Vec::with_capacity(3);
        for (at, value) in self.fields() {
            let told = value.wrapping_sub(BEGIN[at]) % WRAP;
            let ahead = told.wrapping_sub(delivered[at]) % WRAP;
            // The upper half are counts from before.
            let change = if ahead >= WRAP / 2 { ahead as i32 - WRAP as i32 } else { ahead as i32 };
            delivered[at] = delivered[at].wrapping_add_signed(change);
            changes.push((at, change));
        }
        changes
    }
}

/// How an option of at least `least` fields fits beside `blocks` SACK blocks: its fields, the blocks that are left, and
/// the bytes it takes beside them. One block makes room where otherwise fewer than `least` would fit, if three were there
/// (`tcp_options_fit_accecn`).
pub(super) fn fitted(least: u32, mut blocks: u32, stamped: bool) -> Option<(u32, u32, u32)> {
    let saving = if blocks > 0 { PADDING } else { 0 };
    let taken = |blocks: u32| if blocks > 0 { BLOCKS + BLOCK * blocks } else { 0 };
    let stamp = if stamped { STAMP } else { 0 };
    let mut fields = FIELDS;
    loop {
        let size = BASE + FIELD * fields;
        let aligned = if size & 3 > saving { size.next_multiple_of(4) } else { size & !3 };
        if SPACE - stamp - taken(blocks) >= aligned {
            return Some((fields, blocks, aligned));
        }
        if fields == least && blocks > 2 && least > 0 {
            blocks -= 1;
            fields = FIELDS;
        } else if fields == least {
            return None;
        } else {
            fields -= 1;
        }
    }
}
