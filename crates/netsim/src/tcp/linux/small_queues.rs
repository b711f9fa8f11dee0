//! What a sender has in the queue of its host (TCP small queues): two buffers, or what a millisecond of the pace takes, so that
//! what waits for a slow access link waits in the sender, where what is lost can be put before it.

use units::Time;

use super::burst::PACING_SHIFT;
use super::sender::Sender;
use crate::event::Kind;
use crate::tcp::Shape;
use crate::tcp::settings::Tcp;
use crate::wire::net::Net;

/// Memory that a buffer takes beside its data, bytes.
const OVERHEAD: u32 = 1280;

impl Sender {
    /// A buffer with `bytes` has gone to the access link.
    #[inline]
    pub(super) fn note_queued(&mut self, bytes: u32, shape: &Shape, net: &Net) {
        self.host.drain(net.now);
        let leaves = net.leaves(shape.out as usize);
        if leaves > net.now {
            self.host.add(leaves, bytes + OVERHEAD);
        }
    }

    /// Whether a buffer of `segments` must wait, because enough of this sender is in the host's queue; then the timer will ask
    /// for it when a buffer has left (`tcp_small_queue_check`). Buffers sent again may be twice as many.
    #[inline]
    pub(super) fn is_throttled(&mut self, segments: u32, again: bool, tcp: &Tcp, shape: &Shape, net: &mut Net) -> bool {
        if self.host.memory == 0 {
            return false;
        }
        self.host.drain(net.now);
        let most = tcp.kernel.limit_output_bytes(self.is_paced(tcp));
        let memory = 2 * u64::from(segments * self.mss + OVERHEAD);
        let limit = memory.max(self.pacing_rate >> PACING_SHIFT).min(most);
        if self.host.memory < limit << u32::from(again) || self.queue.buffer_end(self.una, self.nxt) >= self.nxt {
            return false;
        }
        if self.pace_event == Time::NEVER
            && let Some(&(leaves, _)) = self.host.buffers.front()
        {
            self.pace_event = leaves;
            net.events.schedule(leaves, Kind::Pace, shape.owner.slot as usize);
        }
        true
    }
}
