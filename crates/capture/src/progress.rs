//! Who looks on while captures are read, and may end it.

/// Records between two calls of a [`Watch`].
pub(crate) const POLL_EVERY: u64 = 16_384;

/// How far a reading has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Packet records read.
    pub packets: u64,
    /// Connections and flows found.
    pub connections: u64,
    /// Bytes read of the files, as they are stored.
    pub bytes: u64,
}

/// Whether a reading goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// To the next packets.
    On,
    /// To the next packets, with fewer connections held from now on; where that cannot be, as [`Go::Stop`].
    Tighter,
    /// Not beyond the packets read so far: they are the capture ([`Counts::stopped`](crate::Counts::stopped)).
    Stop,
    /// It was in vain.
    Cancel,
}

/// Asked every few thousand records whether to go on.
pub trait Watch {
    /// Looks at how far it has come.
    fn look(&mut self, seen: Seen) -> Go;
}

/// A closure that answers whether to go on, or else to cancel.
impl<F: FnMut() -> bool> Watch for F {
    fn look(&mut self, _: Seen) -> Go {
        if self() { Go::On } else { Go::Cancel }
    }
}
