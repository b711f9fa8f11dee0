//! Receive buffer of Linux, and the window that follows from it.
//!
//! Principle: half of the buffer is window, the other half is for what the kernel's structures take next to the
//! payload. Since Linux 6.6 it is the share that payload has of the memory of the first full segment. Of that window a
//! threshold is advertised, which grows by two segments with each one that arrives, so that a sender has room before it
//! needs it; a window that was advertised is never taken back. Where the buffer is tuned it follows what the application
//! has read in a round-trip time (dynamic right-sizing: Fisk and Feng 2001), up to a maximum.
//!
//! The application reads what is in order at once, so that only data above a gap takes memory for longer than an instant.
//! Bytes are counted as segments of full size. Cost: O(1) per segment. Source: Linux 6.1 and 7.3,
//! net/ipv4/tcp_input.c (`tcp_grow_window`, `tcp_init_buffer_space`, `tcp_measure_rcv_mss`, `tcp_rcv_rtt_measure`,
//! `tcp_rcv_space_adjust`, `tcp_rcvbuf_grow`), tcp_output.c (`tcp_select_initial_window`, `__tcp_select_window`).
//!
//! Left out: what is above a gap is not copied into fewer, fuller packets when memory is short, and none of it is thrown
//! away again; packets in one piece, as of most drivers without scatter and gather.

use units::Time;

use super::clock::us;
use crate::tcp::settings::{Kernel, ReceiveBuffer, Tcp};

/// A buffer that is tuned begins with so much (`tcp_rmem[1]`), bytes.
const FIRST_SIZE: u32 = 131_072;
/// Largest buffer of a host with its defaults (`tcp_rmem[2]`), bytes.
fn most_of(kernel: Kernel) -> u32 {
    match kernel {
        Kernel::V6_1 => 6 << 20,
        Kernel::V7_3 => 32 << 20,
    }
}
/// `struct sk_buff` and `struct skb_shared_info` in whole cache lines, bytes.
const PACKET: u32 = 256;
const SHARED: u32 = 320;
/// Cache line, bytes.
const LINE: u32 = 64;
/// Headers that a packet to be sent leaves room for, of a kernel without wireless networks (`MAX_TCP_HEADER`), bytes.
pub(super) const MOST_HEADERS: u32 = 256;
/// Ethernet's header and what is left before it to align that of IP, bytes.
const LINK_HEADER: u32 = 30;
/// Segments that the first round trip is taken to bring (`TCP_INIT_CWND`).
const INITIAL: u32 = 10;
/// Payload below which a segment does not open the window, and what is taken for a full one before the first, bytes.
const SMALL: u32 = 128;
const UNKNOWN_MSS: u32 = 536;
/// Widest window without scale, and the largest scale.
const WIDEST: u32 = 65_535;
const MOST_SCALE: u32 = 14;
/// Bytes by which memory grows while it is too little for a segment.
const STEP: u32 = 128;

/// Memory that a packet with `bytes` takes (`skb->truesize`): its data is in a block of a power of two.
fn truesize(bytes: u32) -> u32 {
    PACKET + ((bytes + LINK_HEADER).next_multiple_of(LINE) + SHARED).next_power_of_two()
}

/// Share before a segment was seen (`TCP_DEFAULT_SCALING_RATIO`), and its scale (`TCP_RMEM_TO_WIN_SCALE`).
const FIRST_SHARE: u32 = 128;
const SHARE_BITS: u32 = 8;
/// Round trip below which a buffer grows more slowly (`tcp_rcvbuf_low_rtt`), microseconds.
const LOW_RTT_US: u64 = 1000;

/// Window that so much memory gives (`tcp_win_from_space`): half of it, rounded up, in Linux 6.1 (`tcp_adv_win_scale` 1), and
/// `share` of 256 in 7.3 (`scaling_ratio`).
fn window_of(kernel: Kernel, share: u32, space: i64) -> i64 {
    match kernel {
        Kernel::V6_1 => space - (space >> 1),
        Kernel::V7_3 => (space * i64::from(share)) >> SHARE_BITS,
    }
}

/// Power of two in which a window that moves is sent.
pub(crate) fn window_scale(tcp: &Tcp) -> Option<u32> {
    Some(Buffer::of(tcp, false)).filter(|buffer| buffer.moves()).map(|buffer| buffer.scale)
}

/// The window one end tells the other, and the memory behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    kind: ReceiveBuffer,
    kernel: Kernel,
    /// Share of memory that is window, of 256.
    share: u32,
    /// Payload of a full segment, and the largest that a segment had (`rcv_mss`), bytes.
    mss: u32,
    seen_mss: u32,
    /// Memory of a full segment; of all that has not been read; how much there may be, now and at most. Bytes.
    segment: u32,
    allocated: u32,
    size: u32,
    most: u32,
    /// Bounds of the window, the nearer one growing (`window_clamp`, `rcv_ssthresh`).
    clamp: u32,
    threshold: u32,
    /// What was told last, at which number (`rcv_wnd`, `rcv_wup`), and its scale.
    window: u32,
    told_at: u32,
    scale: u32,
    /// Whether the connection is set up.
    ready: bool,
    /// Eight times the round-trip time as the receiver knows it, microseconds; what ends a measurement of it, bytes, and
    /// when that began; the last timestamp that was echoed.
    rtt_us8: u32,
    measured_to: u64,
    measured_since: Option<u64>,
    echo: Option<u64>,
    /// What was read in the last round trip; what had been read when this one began, and when that was.
    space: u32,
    read: u32,
    read_before: u32,
    since_us: u64,
}

impl Buffer {
    /// Of a receiver that `opens` the connection, or waits for the other to do so.
    pub(super) fn of(tcp: &Tcp, opens: bool) -> Buffer {
        let kind = tcp.receive_buffer();
        let (size, most) = match kind {
            ReceiveBuffer::Fixed => (tcp.receive_memory, most_of(tcp.kernel)),
            _ => (FIRST_SIZE.min(tcp.receive_memory), tcp.receive_memory),
        };
        let full = window_of(tcp.kernel, FIRST_SHARE, size.into()) as u32;
        let any = WIDEST << MOST_SCALE;
        let mut clamp = if kind == ReceiveBuffer::Fixed { full } else { any };
        let advertised = tcp.mss + tcp.reserved;
        let mss = if opens { advertised + tcp.headers() - tcp.header } else { advertised };
        let mut space = clamp.min(full);
        space -= if space > mss { space % mss } else { 0 };
        let widest = space.max(most).max(1).min(clamp);
        let scale = widest.ilog2().saturating_sub(15).min(MOST_SCALE);
        clamp = clamp.min(WIDEST << scale);
        let window = match kind {
            // Since Linux 6.7 the window is wider than the field of a SYN.
            ReceiveBuffer::Fixed | ReceiveBuffer::Tuned if tcp.kernel == Kernel::V7_3 => space,
            ReceiveBuffer::Fixed | ReceiveBuffer::Tuned => space.min(WIDEST),
            _ => tcp.receiver_window.saturating_mul(tcp.mss),
        };
        Buffer {
            kind,
            kernel: tcp.kernel,
            share: FIRST_SHARE,
            mss: tcp.mss,
            seen_mss: tcp.mss.min(window / 2).clamp(88, UNKNOWN_MSS),
            segment: truesize(tcp.headers() + advertised),
            allocated: 0,
            size,
            most,
            clamp,
            threshold: window,
            window,
            told_at: 0,
            scale,
            ready: false,
            rtt_us8: 0,
            measured_to: 0,
            measured_since: None,
            echo: None,
            space: 0,
            read: 0,
            read_before: 0,
            since_us: 0,
        }
    }

    /// The window of a SYN, bytes.
    pub(super) fn first_window(&self) -> u32 {
        if self.moves() { self.window.min(WIDEST) } else { self.window }
    }

    fn window_of(&self, space: i64) -> i64 {
        window_of(self.kernel, self.share, space)
    }

    /// Whether the window follows the memory.
    fn moves(&self) -> bool {
        matches!(self.kind, ReceiveBuffer::Fixed | ReceiveBuffer::Tuned)
    }

    /// The connection is set up, and all before `next` has been read (`tcp_init_buffer_space`): whether that is new.
    pub(super) fn begin(&mut self, next: u32, now: Time) -> bool {
        if self.ready {
            return false;
        }
        self.ready = true;
        // The window of the handshake was told with the SYN acknowledged.
        self.told_at = self.told_at.max(1);
        let (mss, full) = (self.mss, self.window_of(self.size.into()) as u32);
        self.clamp = self.clamp.min(full);
        if self.clamp > 2 * mss && self.clamp + mss > full {
            self.clamp = (2 * mss).max(full - mss);
        }
        self.threshold = self.threshold.min(self.clamp);
        self.space = self.threshold.min(self.window).min(INITIAL * mss);
        (self.read, self.read_before, self.since_us) = (next, next, us(now));
        true
    }

    /// Segment number as bytes.
    fn bytes(&self, number: u32) -> u64 {
        u64::from(number) * u64::from(self.mss)
    }

    /// A segment of `payload` bytes echoes timestamp `echo`, now `stamp`, both in milliseconds (`tcp_rcv_rtt_measure_ts`).
    pub(super) fn on_echo(&mut self, echo: u64, stamp: u64, payload: u32) {
        if self.echo == Some(echo) {
            return;
        }
        self.echo = Some(echo);
        let least = u64::from(self.kernel == Kernel::V6_1);
        let ms = stamp.saturating_sub(echo).max(least);
        if payload >= self.seen_mss && ms > 0 {
            self.take_rtt((ms * 1000) as u32, false);
        }
    }

    /// The round-trip time: smoothed, or by the window only what is less than before.
    fn take_rtt(&mut self, us: u32, by_window: bool) {
        let sample = us.saturating_mul(8);
        if self.rtt_us8 == 0 || sample < self.rtt_us8 {
            self.rtt_us8 = sample;
        } else if !by_window {
            self.rtt_us8 = self.rtt_us8 - (self.rtt_us8 >> 3) + us;
        }
    }

    /// Eight times the round-trip time, microseconds; 0 where it is not known.
    pub(super) fn rtt_us8(&self) -> u32 {
        self.rtt_us8
    }

    /// `payload` bytes have come in order, in `segments`, up to `next`: whether the sender may be in need of an
    /// acknowledgement, because the window opens.
    pub(super) fn on_data(&mut self, payload: u32, segments: u32, next: u32, now: Time) -> bool {
        self.allocated += segments * self.segment;
        self.measure(payload, segments);
        if self.measured_since.is_none_or(|_| self.bytes(next) >= self.measured_to) {
            if let Some(since) = self.measured_since {
                self.take_rtt((us(now) - since).max(1) as u32, true);
            }
            self.measured_to = self.bytes(next) + u64::from(self.window);
            self.measured_since = Some(us(now));
        }
        payload >= SMALL && self.grow(payload, segments)
    }

    /// The largest segment, and since Linux 6.6 the share of payload in its memory (`tcp_measure_rcv_mss`).
    fn measure(&mut self, payload: u32, segments: u32) {
        let each = payload / segments;
        if each < self.seen_mss {
            return;
        }
        if self.kernel == Kernel::V7_3 && each != self.seen_mss && self.moves() {
            let memory = u64::from(segments * self.segment);
            self.share = ((u64::from(payload) << SHARE_BITS) / memory).max(1) as u32;
            self.clamp = self.window_of(self.size.into()) as u32;
            self.space = self.space.min(self.clamp);
        }
        self.seen_mss = each.min(self.mss);
    }

    /// Data above a gap has come: whether there is room, which is made as far as the buffer may grow
    /// (`tcp_try_rmem_schedule`), and whether acknowledgements stay quick.
    pub(super) fn has_room(&mut self, quick: &mut u32) -> bool {
        if !self.moves() || self.allocated <= self.size {
            return true;
        }
        *quick = 0;
        if self.kind == ReceiveBuffer::Tuned && self.size < self.most {
            self.size = self.allocated.min(self.most);
        }
        if self.allocated > self.size {
            self.threshold = self.clamp.min(2 * self.mss);
        }
        self.allocated <= self.size
    }

    /// Data above a gap is stored, which ends `above` segments behind what is expected; as [`Buffer::on_data`], where the
    /// sender hears of it `selectively`. Since Linux 6.18 a buffer that is tuned makes room for it (`tcp_data_queue_ofo`).
    pub(super) fn on_data_above(&mut self, payload: u32, segments: u32, selectively: bool, above: u32) -> bool {
        if self.kernel == Kernel::V7_3 {
            self.measure(payload, segments);
        }
        let opens = selectively && self.grow(payload, segments);
        self.allocated += segments * self.segment;
        if self.kernel == Kernel::V7_3 && self.kind == ReceiveBuffer::Tuned {
            self.widen(self.size_by_share(self.space, above * self.mss));
        }
        opens
    }

    /// A segment makes the window wider, as far as there is memory (`tcp_grow_window`).
    fn grow(&mut self, payload: u32, segments: u32) -> bool {
        if !self.moves() {
            return false;
        }
        let free = self.window_of(i64::from(self.size) - i64::from(self.allocated));
        let room = free.min(self.clamp.into()) - i64::from(self.threshold);
        if room <= 0 {
            return false;
        }
        let memory = self.window_of((segments * self.segment).into());
        let more = if memory <= i64::from(payload) { 2 * self.mss } else { self.cautious(memory >> 1, payload) };
        if more > 0 {
            self.threshold += room.min(more.max(2 * payload).into()) as u32;
        }
        more > 0
    }

    /// By how much it grows where a segment takes more memory than there is window for it, bytes.
    fn cautious(&self, mut memory: i64, payload: u32) -> u32 {
        let mut window = self.window_of(self.most.into()) >> 1;
        while i64::from(self.threshold) <= window {
            if memory <= i64::from(payload) {
                return 2 * self.seen_mss;
            }
            memory >>= 1;
            window >>= 1;
        }
        0
    }

    /// What is left of the window that was told, while `next` is expected, bytes.
    fn left(&self, next: u32) -> u32 {
        let beyond = self.bytes(self.told_at) + u64::from(self.window);
        beyond.saturating_sub(self.bytes(next)) as u32
    }

    /// The window that could be told now, and whether memory is so short that acknowledgements are quick no more
    /// (`__tcp_select_window`).
    fn selected(&self) -> (u32, bool) {
        if !self.moves() {
            return (self.window, false);
        }
        let allowed = self.window_of(self.size.into());
        let mut free = self.window_of(i64::from(self.size) - i64::from(self.allocated));
        let full = allowed.min(self.clamp.into());
        let mss = i64::from(self.seen_mss).min(full);
        let unit = 1_i64 << self.scale;
        let short = free < full >> 1;
        if short {
            free = free.max(0) / unit * unit;
            if free < allowed >> 4 || free < mss {
                return (0, true);
            }
        }
        free = free.min(self.threshold.into());
        let window = if self.scale > 0 {
            (free + unit - 1) / unit * unit
        } else {
            let window = i64::from(self.window);
            if window <= free - mss || window > free {
                free / mss * mss
            } else if mss == full && free > window + (full >> 1) {
                free
            } else {
                window
            }
        };
        (window as u32, short)
    }

    /// Whether the right edge of the window moves on with what has come (`__tcp_ack_snd_check`).
    pub(super) fn advances(&self, quick: &mut u32) -> bool {
        let (window, short) = self.selected();
        if short {
            *quick = 0;
        }
        window >= self.window
    }

    /// The window that an acknowledgement of all before `next` would tell, as its own end knows it and as the other
    /// reads it, and whether memory is short.
    fn would_tell(&self, next: u32) -> (u32, u32, bool) {
        let (mut window, short) = self.selected();
        let left = self.left(next);
        if self.moves() && window < left {
            window = left.next_multiple_of(1 << self.scale);
        }
        let read = window.min(WIDEST << self.scale) >> self.scale << self.scale;
        (window, if self.moves() { read } else { window }, short)
    }

    /// What data that acknowledges all before `next` tells, bytes.
    pub(super) fn told_by_data(&self, next: u32) -> u32 {
        self.would_tell(next).1
    }

    /// Tells the window with an acknowledgement of all before `next`, bytes (`tcp_select_window`).
    pub(super) fn tell(&mut self, next: u32, quick: &mut u32) -> u32 {
        let (window, read, short) = self.would_tell(next);
        if short {
            *quick = 0;
        }
        (self.window, self.told_at) = (window, next);
        read
    }

    /// The application reads all before `next`, segment by segment, while data up to `beyond` has come: whether the window
    /// could be twice as wide.
    pub(super) fn read(&mut self, next: u32, beyond: u32, now: Time) -> bool {
        if next <= self.read {
            return false;
        }
        while self.read < next {
            self.read += 1;
            self.adjust(next, beyond, now);
            self.allocated = self.allocated.saturating_sub(self.segment);
        }
        let left = self.left(next);
        if !self.moves() || 2 * u64::from(left) > u64::from(self.clamp) {
            return false;
        }
        let (window, _) = self.selected();
        window > 0 && window >= 2 * left
    }

    /// Whether all that has come has been read.
    pub(super) fn is_read(&self) -> bool {
        self.allocated == 0
    }

    /// The buffer follows what was read in a round trip (`tcp_rcv_space_adjust`).
    fn adjust(&mut self, next: u32, beyond: u32, now: Time) {
        let since = us(now) - self.since_us;
        if self.rtt_us8 == 0 || since < u64::from(self.rtt_us8 >> 3) {
            return;
        }
        let read = self.read - self.read_before;
        let copied = match self.kernel {
            Kernel::V6_1 => read,
            // Less what waits to be read.
            Kernel::V7_3 => read.saturating_sub(next - self.read),
        } * self.mss;
        if copied > self.space {
            if self.kind == ReceiveBuffer::Tuned {
                let size = match self.kernel {
                    Kernel::V6_1 => self.size_for(copied),
                    Kernel::V7_3 => self.size_by_share(copied, beyond.saturating_sub(next) * self.mss),
                };
                self.widen(size);
            }
            self.space = copied;
        }
        (self.read_before, self.since_us) = (self.read, us(now));
    }

    /// The buffer takes `size` bytes, where that is more than it has.
    fn widen(&mut self, size: u32) {
        if size > self.size {
            self.size = size;
            self.clamp = self.window_of(size.into()) as u32;
        }
    }

    /// Twice what was read in a round trip, for losses, and as much more as that grew, for slow start.
    fn size_for(&self, copied: u32) -> u32 {
        let mut window = 2 * u64::from(copied) + 16 * u64::from(self.mss);
        window += 2 * (window * u64::from(copied - self.space) / u64::from(self.space));
        let mut memory = self.mss + MOST_HEADERS + PACKET + SHARED;
        while self.window_of(memory.into()) < self.mss.into() {
            memory += STEP;
        }
        (window / u64::from(self.mss) * u64::from(memory)).min(self.most.into()) as u32
    }

    /// The same since Linux 6.18 (`tcp_rcvbuf_grow`), with `above` bytes of data above a gap: in round trips below a millisecond
    /// it grows by a share of them.
    fn size_by_share(&self, copied: u32, above: u32) -> u32 {
        let twice = 2 * u64::from(copied);
        let rtt_us = u64::from(self.rtt_us8 >> 3);
        let more = if rtt_us < LOW_RTT_US {
            twice * rtt_us / LOW_RTT_US
        } else {
            2 * twice * u64::from(copied - self.space) / u64::from(self.space)
        };
        let window = twice + more + u64::from(above);
        ((window << SHARE_BITS) / u64::from(self.share)).min(self.most.into()) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::sender::tests::tcp;
    use crate::tcp::settings::Recovery;

    const MSS: u32 = 1448;

    fn settings(receive_buffer: ReceiveBuffer, receive_memory: u32) -> Tcp {
        Tcp {
            mss: MSS,
            header: 40,
            timestamps: true,
            recovery: Recovery::Linux,
            receiver_window: 50,
            receive_buffer,
            receive_memory,
            ..tcp()
        }
    }

    fn begun(tcp: &Tcp) -> Buffer {
        let mut buffer = Buffer::of(tcp, false);
        buffer.begin(1, Time::from_millis(60));
        buffer
    }

    /// One segment comes in order, is acknowledged and read: whether the acknowledgement may be in a hurry, and the window.
    fn take(buffer: &mut Buffer, number: u32, now: Time) -> (bool, u32) {
        let opens = buffer.on_data(MSS, 1, number + 1, now);
        let window = buffer.tell(number + 1, &mut 0);
        buffer.read(number + 1, number + 1, now);
        (opens, window)
    }

    /// What Linux 6.1 told in the guest: a SYN-ACK of 65160 bytes, then 64128; with SO_RCVBUF of 16 MB 65535, then two
    /// segments more with each, in units of 256 bytes.
    #[test]
    fn the_first_windows_are_those_of_linux() {
        let tuned = settings(ReceiveBuffer::Tuned, 6_291_456);
        let mut buffer = begun(&tuned);
        assert_eq!((Buffer::of(&tuned, false).first_window(), buffer.scale), (65_160, 7));
        assert_eq!(take(&mut buffer, 1, Time::from_millis(61)), (false, 64_128));
        let fixed = settings(ReceiveBuffer::Fixed, 32 << 20);
        let mut buffer = begun(&fixed);
        assert_eq!((Buffer::of(&fixed, false).first_window(), buffer.scale), (65_535, 8));
        for number in 1..5 {
            let window = (65_535 + number * 2 * MSS).next_multiple_of(256);
            assert_eq!(take(&mut buffer, number, Time::from_millis(61)), (true, window));
        }
    }

    /// The end that opens leaves room for a header with more options.
    #[test]
    fn a_syn_tells_whole_segments_without_timestamps() {
        assert_eq!(Buffer::of(&settings(ReceiveBuffer::Tuned, 6_291_456), true).first_window(), 64_240);
    }

    /// 19 segments wait unread in Linux' buffer of 128 kB: half of what is left is told (seen in the guest), and with
    /// less than half of the window acknowledgements are quick no more.
    #[test]
    fn what_waits_above_a_gap_takes_from_the_window_but_what_was_told_stays() {
        let mut buffer = begun(&settings(ReceiveBuffer::Tuned, 6_291_456));
        take(&mut buffer, 1, Time::from_millis(61));
        for _ in 0..18 {
            assert!(!buffer.on_data_above(MSS, 1, true, 1));
        }
        let mut quick = 5;
        assert_eq!((buffer.tell(2, &mut quick), quick), (64_128, 5), "what was told is not taken back");
        buffer.on_data(MSS, 1, 21, Time::from_millis(62));
        assert_eq!((buffer.tell(21, &mut quick), quick), ((131_072 - 19 * 2304) / 2, 5));
        for _ in 0..20 {
            buffer.on_data_above(MSS, 1, true, 1);
        }
        buffer.tell(21, &mut quick);
        assert_eq!(quick, 0);
    }

    /// Dynamic right-sizing, by its formula: what was read in a round trip twice, 16 segments, and twice the part by which
    /// it grew; in units of what a segment takes.
    #[test]
    fn the_buffer_follows_what_is_read_in_a_round_trip_up_to_its_maximum() {
        let mut buffer = begun(&settings(ReceiveBuffer::Tuned, 300_000));
        buffer.on_echo(20, 61, MSS);
        assert_eq!(buffer.rtt_us8(), 8 * 41_000);
        for number in 1..12 {
            take(&mut buffer, number, Time::from_millis(90));
        }
        assert_eq!(buffer.size, 131_072, "a round trip is not over");
        let copied = 12 * MSS;
        let window = 2 * copied + 16 * MSS;
        let expected = (window + 2 * (window * (copied - 10 * MSS) / (10 * MSS))) / MSS * 2920;
        take(&mut buffer, 12, Time::from_millis(101));
        assert_eq!((buffer.size, buffer.clamp), (expected, expected / 2));
        for number in 13..60 {
            take(&mut buffer, number, Time::from_millis(120));
        }
        take(&mut buffer, 60, Time::from_millis(143));
        assert_eq!(buffer.size, 300_000);
    }

    #[test]
    fn a_window_of_its_own_does_not_move() {
        let mut buffer = begun(&settings(ReceiveBuffer::Window, 6_291_456));
        for number in 1..100 {
            assert_eq!(take(&mut buffer, number, Time::from_millis(61 + u64::from(number))), (false, 50 * MSS));
        }
        assert!(buffer.has_room(&mut 0));
    }

    /// Memory of a fixed buffer runs out above a gap; a tuned one grows to what is there, up to its maximum.
    #[test]
    fn what_finds_no_memory_is_dropped() {
        let kept = |kind, most| {
            let mut buffer = begun(&settings(kind, most));
            let mut count = 0;
            while count < 1000 && buffer.has_room(&mut 0) {
                buffer.on_data_above(MSS, 1, true, 1);
                count += 1;
            }
            count
        };
        assert_eq!(kept(ReceiveBuffer::Fixed, 131_072), 131_072 / 2304 + 1);
        assert_eq!(kept(ReceiveBuffer::Tuned, 262_144), 262_144 / 2304 + 1);
    }
}
