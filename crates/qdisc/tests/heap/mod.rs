//! A heap that counts, and what disciplines hold by that count.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use qdisc::{Ecn, Kind, Limit, Packet, Qdisc};
use units::{FlowKey, Stream, Time};

struct Counting;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator as it came; the count is kept apart, in a
// cell that allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.set(HELD.get().wrapping_add(layout.size()));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        HELD.set(HELD.get().wrapping_sub(layout.size()));
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static HEAP: Counting = Counting;

/// Bytes this thread has asked for and not given back; what it gives back for others takes this below zero.
fn held() -> usize {
    HELD.get()
}

/// What a queue holds, bytes.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// In all, as the allocator counts.
    pub bytes: usize,
    /// For flows, as the queue says.
    pub for_flows: usize,
    /// Flows in its table.
    pub entries: usize,
}

impl Held {
    /// Held for anything but flows: packets, mostly.
    pub fn rest(self) -> f64 {
        self.bytes as f64 - self.for_flows as f64
    }
}

/// Packets that wait when a queue is filled.
pub const PACKETS: u64 = 10_000;

/// Flows they are of when these are few: queues per flow that hold 100 packets each have room for them.
pub const FEW: u64 = 500;

fn queue(id: &str) -> Qdisc {
    // So long that disciplines which go by the length of the buffer drop nothing at a twentieth of it.
    Qdisc::from_options(id, &[], Limit::Packets(20 * PACKETS as u32), Stream::named(1, id)).expect("defaults")
}

/// What discipline `id` holds with no packet.
pub fn empty(id: &str) -> Held {
    fill(id, 0, 1)
}

/// What it holds with [`PACKETS`] packets of `flows` flows waiting.
pub fn filled(id: &str, flows: u64) -> Held {
    fill(id, PACKETS, flows)
}

fn fill(id: &str, packets: u64, flows: u64) -> Held {
    let before = held();
    let mut queue = queue(id);
    for n in 0..packets {
        let flow = n % flows;
        let packet = Packet {
            flow: FlowKey(flow << 1),
            handle: n,
            progress: 0,
            remaining: 1_000_000,
            arrival: Time::ZERO,
            len: 1500,
            src: flow as u32,
            dst: (flow % 100) as u32,
            options: 0,
            mark: 0,
            // Not TCP: a discipline may take the state of a transfer from its sequence numbers.
            kind: Kind::Udp,
            ecn: Ecn::NotEct,
        };
        queue.enqueue(packet, Time(n));
    }
    assert_eq!(queue.backlog(), packets, "{id} drops some");
    Held { bytes: held().wrapping_sub(before), for_flows: queue.flow_table_bytes(), entries: queue.flow_table_len() }
}
