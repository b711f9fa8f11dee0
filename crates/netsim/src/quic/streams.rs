//! Streams: what one end has to send, and what has come in at the other (RFC 9000, 2).
//!
//! Principle: each stream has bytes that were never sent and ranges that were lost, which go first. Packet by packet the
//! streams have turns, or the first one goes on until it has sent all (RFC 9218, 10: incremental or not); none waits for
//! bytes that another has lost. Cost: O(1) per frame without losses.

use std::collections::{BTreeMap, VecDeque};

use super::ranges::Ranges;
use crate::tcp::settings::StreamOrder;
use crate::wire::frames::{StreamFrame, stream_header};

/// A frame is not worth its header below so many bytes of payload, unless they are the last.
const SMALLEST_FRAME: u32 = 16;

/// One stream of a sending end.
#[derive(Debug, Default)]
struct Outgoing {
    /// Handed over by the application.
    handed: u64,
    /// First byte never sent.
    fresh: u64,
    lost: Ranges,
    /// Taken out of `lost` from its front so far: what is below was sent again.
    lost_from: u64,
    acked: Ranges,
    /// It is in the line of those that have something to send.
    in_line: bool,
}

/// All streams of a sending end.
#[derive(Debug, Default)]
pub(super) struct Sending {
    streams: BTreeMap<u32, Outgoing>,
    line: VecDeque<u32>,
    /// Bytes handed over, sent at least once, and acknowledged, in all.
    pub(super) handed: u64,
    pub(super) fresh: u64,
    pub(super) acked: u64,
}

impl Sending {
    /// The application hands `bytes` more over on `stream`.
    pub(super) fn hand(&mut self, stream: u32, bytes: u64) {
        self.streams.entry(stream).or_default().handed += bytes;
        self.handed += bytes;
        self.queue(stream);
    }

    fn queue(&mut self, stream: u32) {
        if let Some(own) = self.streams.get_mut(&stream)
            && !std::mem::replace(&mut own.in_line, true)
        {
            self.line.push_back(stream);
        }
    }

    /// Whether all that was handed over is acknowledged.
    pub(super) fn is_acknowledged(&self) -> bool {
        self.acked == self.handed
    }

    /// Whether something could be sent, when `credit` bytes never sent before may be (RFC 9000, 4.1).
    pub(super) fn has_more(&self, credit: u64) -> bool {
        self.line.iter().any(|stream| {
            let own = &self.streams[stream];
            own.has_lost() || credit > 0 && own.fresh < own.handed
        })
    }

    /// Puts frames into a packet with `room` bytes left: what is left then, whether any was sent before, and how much was
    /// not.
    pub(super) fn fill(
        &mut self,
        mut room: u32,
        mut credit: u64,
        order: StreamOrder,
        frames: &mut Vec<StreamFrame>,
    ) -> Filled {
        let mut filled = Filled { room, repeated: false, fresh: 0 };
        let mut passed = 0;
        while passed < self.line.len() {
            let stream = self.line[passed];
            let Some(own) = self.streams.get_mut(&stream) else { break };
            let next = own.next(credit);
            let header = stream_header(stream, next.map_or(0, |(start, _)| start));
            let least = next.map_or(0, |(start, end)| (end - start).min(SMALLEST_FRAME.into()) as u32);
            let Some((start, end)) = next else {
                // Nothing that may be sent now: out of the line, unless only the peer's credit is wanting.
                if own.fresh < own.handed {
                    passed += 1;
                } else {
                    own.in_line = false;
                    self.line.remove(passed);
                }
                continue;
            };
            if room < header + least {
                break;
            }
            let end = end.min(start + u64::from(room - header));
            frames.push(StreamFrame { stream, start, end });
            room -= header + (end - start) as u32;
            if start == own.fresh {
                own.fresh = end;
                self.fresh += end - start;
                filled.fresh += end - start;
                credit -= end - start;
            } else {
                own.lost_from = end;
                filled.repeated = true;
            }
        }
        // The stream that filled the packet has had its turn.
        if order == StreamOrder::Incremental
            && let (Some(&first), Some(last)) = (self.line.front(), frames.last())
            && first == last.stream
        {
            self.line.rotate_left(1);
        }
        filled.room = room;
        filled
    }

    /// The packet with `frame` is acknowledged: how many bytes were not before.
    pub(super) fn acknowledge(&mut self, frame: StreamFrame) -> u64 {
        let fresh = self.streams.get_mut(&frame.stream).map_or(0, |own| own.acked.insert(frame.start, frame.end));
        self.acked += fresh;
        fresh
    }

    /// The packet with `frame` is lost, or its data is to be sent again as a probe.
    pub(super) fn lose(&mut self, frame: StreamFrame) {
        let Some(own) = self.streams.get_mut(&frame.stream) else { return };
        let gaps: Vec<(u64, u64)> = own.acked.gaps(frame.start, frame.end).collect();
        if gaps.is_empty() {
            return;
        }
        own.lose(&gaps);
        if !std::mem::replace(&mut own.in_line, true) {
            // What was lost goes first: others wait for it least if it is repaired at once.
            self.line.push_front(frame.stream);
        }
    }
}

impl Outgoing {
    /// Adds ranges to those that are to be sent again.
    fn lose(&mut self, gaps: &[(u64, u64)]) {
        let mut lost = Ranges::default();
        for &(start, end) in self.lost.list() {
            lost.insert(start.max(self.lost_from), end);
        }
        for &(start, end) in gaps {
            lost.insert(start, end);
        }
        (self.lost, self.lost_from) = (lost, 0);
    }

    /// The first range to be sent again that was not acknowledged meanwhile.
    fn lost(&self) -> Option<(u64, u64)> {
        let open = self.lost.list().iter().filter(|range| range.1 > self.lost_from);
        open.flat_map(|&(start, end)| self.acked.gaps(start.max(self.lost_from), end)).next()
    }

    fn has_lost(&self) -> bool {
        self.lost().is_some()
    }

    /// What to send next, when `credit` bytes never sent before may be.
    fn next(&self, credit: u64) -> Option<(u64, u64)> {
        let fresh = (self.fresh, self.handed.min(self.fresh.saturating_add(credit)));
        self.lost().or((fresh.0 < fresh.1).then_some(fresh))
    }
}

/// What [`Sending::fill`] has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Filled {
    pub(super) room: u32,
    /// Some of it had been sent before.
    pub(super) repeated: bool,
    /// Bytes that had not.
    pub(super) fresh: u64,
}

/// All streams of a receiving end.
#[derive(Debug, Default)]
pub(super) struct Receiving {
    streams: BTreeMap<u32, Ranges>,
    /// Bytes that have come in, in order within their stream.
    pub(super) in_order: u64,
}

impl Receiving {
    /// Takes a frame: how many bytes its stream now has in order, if that is more than before.
    pub(super) fn take(&mut self, frame: StreamFrame) -> Option<u64> {
        let ranges = self.streams.entry(frame.stream).or_default();
        let before = ranges.in_order();
        ranges.insert(frame.start, frame.end);
        let after = ranges.in_order();
        self.in_order += after - before;
        (after > before).then_some(after)
    }

    /// Bytes of `stream` that have come in, in order.
    pub(super) fn of(&self, stream: u32) -> u64 {
        self.streams.get(&stream).map_or(0, Ranges::in_order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets(sending: &mut Sending, room: u32, order: StreamOrder, most: usize) -> Vec<Vec<(u32, u64, u64)>> {
        let mut all = Vec::new();
        while sending.has_more(u64::MAX) && all.len() < most {
            let mut frames = Vec::new();
            sending.fill(room, u64::MAX, order, &mut frames);
            all.push(frames.iter().map(|frame| (frame.stream, frame.start, frame.end)).collect());
        }
        all
    }

    /// Rooms of 104 bytes hold 100 at offset 0, and 98 or 99 beyond it.
    #[test]
    fn streams_have_turns_packet_by_packet_or_one_after_the_other() {
        let two = || {
            let mut sending = Sending::default();
            (0..2).for_each(|stream| sending.hand(stream, 198));
            sending
        };
        let turns = packets(&mut two(), 104, StreamOrder::Incremental, 9);
        assert_eq!(turns, [[(0, 0, 100)], [(1, 0, 100)], [(0, 100, 198)], [(1, 100, 198)]]);
        let row = packets(&mut two(), 104, StreamOrder::Sequential, 9);
        assert_eq!(row, [[(0, 0, 100)], [(0, 100, 198)], [(1, 0, 100)], [(1, 100, 198)]]);
    }

    #[test]
    fn short_streams_share_a_packet() {
        let mut sending = Sending::default();
        (0..3).for_each(|stream| sending.hand(stream, 40));
        let found = packets(&mut sending, 104, StreamOrder::Incremental, 9);
        assert_eq!(found, [vec![(0, 0, 40), (1, 0, 40)], vec![(2, 0, 40)]]);
    }

    #[test]
    fn what_was_lost_goes_first_and_once() {
        let mut sending = Sending::default();
        sending.hand(0, 300);
        let first = packets(&mut sending, 104, StreamOrder::Incremental, 2);
        assert_eq!(first, [[(0, 0, 100)], [(0, 100, 198)]]);
        sending.lose(StreamFrame { stream: 0, start: 0, end: 100 });
        assert_eq!(sending.acknowledge(StreamFrame { stream: 0, start: 50, end: 198 }), 148);
        let then = packets(&mut sending, 104, StreamOrder::Incremental, 9);
        assert_eq!(then, [vec![(0, 0, 50), (0, 198, 242)], vec![(0, 242, 300)]]);
        assert_eq!(sending.acknowledge(StreamFrame { stream: 0, start: 0, end: 300 }), 152);
        assert!(sending.is_acknowledged());
    }

    #[test]
    fn a_peer_without_credit_holds_new_data_up_and_not_what_was_lost() {
        let mut sending = Sending::default();
        sending.hand(0, 500);
        let mut frames = Vec::new();
        let filled = sending.fill(1000, 120, StreamOrder::Incremental, &mut frames);
        assert_eq!((filled.fresh, sending.has_more(0), sending.has_more(1)), (120, false, true));
        sending.lose(frames[0]);
        assert!(sending.has_more(0));
    }

    #[test]
    fn a_gap_holds_up_its_own_stream_only() {
        let mut receiving = Receiving::default();
        let frame = |stream, start, end| StreamFrame { stream, start, end };
        assert_eq!(receiving.take(frame(0, 100, 200)), None);
        assert_eq!(receiving.take(frame(1, 0, 100)), Some(100));
        assert_eq!((receiving.of(0), receiving.of(1), receiving.in_order), (0, 100, 100));
        assert_eq!(receiving.take(frame(0, 0, 100)), Some(200));
    }
}
