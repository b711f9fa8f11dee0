//! The queue of a host, as a sender knows it: its buffers that have not left the access link.

use std::collections::VecDeque;

use units::Time;

/// Buffers that wait for the access link, or are on it.
#[derive(Debug, Default)]
pub(super) struct HostQueue {
    /// When each has left, and its memory, bytes.
    pub(super) buffers: VecDeque<(Time, u32)>,
    pub(super) memory: u64,
}

impl HostQueue {
    pub(super) fn clear(&mut self) {
        self.buffers.clear();
        self.memory = 0;
    }

    #[inline]
    pub(super) fn add(&mut self, leaves: Time, memory: u32) {
        self.buffers.push_back((leaves, memory));
        self.memory += u64::from(memory);
    }

    /// Takes out what has left by now.
    #[inline]
    pub(super) fn drain(&mut self, now: Time) {
        while let Some(&(leaves, memory)) = self.buffers.front()
            && leaves <= now
        {
            self.buffers.pop_front();
            self.memory -= u64::from(memory);
        }
    }
}
