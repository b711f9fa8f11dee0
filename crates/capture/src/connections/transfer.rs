//! A transfer in its parts: set-up, data phase, tear-down, and within the data phase trains, warm-ups and pacing.
//!
//! Source: Chen 2012, 9.2.1, after Hafsaoui, Collange and Urvoy-Keller 2009. Every nanosecond between the first and the
//! last data packet is given to exactly one side, so that the parts add up without remainder. Cost per packet: O(1).

/// One train: data packets of one side, until the other side sends data or, on request, until a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Train {
    /// Row of the connection in the table.
    pub connection: u64,
    /// Sent by the opener of the connection.
    pub from_opener: bool,
    /// First data packet, nanoseconds since the first packet of the capture.
    pub start_ns: i64,
    /// Last data packet.
    pub end_ns: i64,
    /// Data packets, each once, super-segments by the packets in them.
    pub packets: u64,
    /// Distinct payload.
    pub bytes: u64,
    /// Captured packets that brought it, as far as 16 bits hold them, and their IP bytes, as far as 32 do: of short messages, all.
    pub captured: (u16, u32),
    /// Since the last data packet before the train; 0 for the first train.
    pub warm_up_ns: i64,
    /// What an ideal transfer of its packets takes; None while no round-trip time is known.
    pub theoretical_ns: Option<i64>,
    /// Since its side acknowledged the last data of the other side, as this passed the tap; None where it had not, or there was
    /// none.
    pub heard_ns: Option<i64>,
}

/// One side of the data phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) trains: u32,
    /// The train that runs is of this side: here, where the struct has room.
    runs: bool,
    /// Its packets, as captured.
    captured: u16,
    /// Between the other side's last data packet and the first of a train.
    pub(crate) warm_up_ns: i64,
    /// Between data packets of a train, and before retransmissions into the other side's.
    pub(crate) transfer_ns: i64,
}

impl Share {
    /// Time stamps of strangers may span more than a sum holds.
    fn move_on(&mut self, transfer_ns: i64, warm_up_ns: i64) {
        self.transfer_ns = self.transfer_ns.saturating_add(transfer_ns);
        self.warm_up_ns = self.warm_up_ns.saturating_add(warm_up_ns);
    }
}

/// The data phase of a connection under construction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Transfer {
    /// In the order of the table's key.
    pub(crate) shares: [Share; 2],
    first_ns: i64,
    last_ns: i64,
    train: Running,
}

#[derive(Clone, Copy, Debug, Default)]
struct Running {
    start_ns: i64,
    end_ns: i64,
    // As far as 32 bits hold them: every connection has one of these.
    packets: u32,
    wire_bytes: u32,
    bytes: u64,
    warm_up_ns: i64,
    /// [`UNHEARD`] for none: an option would take twice the room, in every connection.
    heard_ns: i64,
}

/// In place of a time.
const UNHEARD: i64 = i64::MIN;

impl Transfer {
    /// A data packet of `side` of `wire_bytes`, with `fresh` bytes that were not seen before in `packets` packets; `paused` when it is cut
    /// off from the side's packets before it; at `heard_ns` its side acknowledged all data of the other. Returns the train it ended, if any; `connection` and `from_opener` of it are for the caller to fill in, the latter from the side.
    pub(crate) fn see(
        &mut self,
        side: usize,
        time_ns: i64,
        [fresh, packets, wire_bytes]: [u64; 3],
        paused: bool,
        heard_ns: Option<i64>,
    ) -> Option<(usize, Train)> {
        if !self.has_begun() {
            (self.first_ns, self.last_ns) = (time_ns, time_ns);
            self.shares[side].trains = 1;
            self.begin(side, time_ns, 0, None);
            self.grow(fresh, packets, wire_bytes, time_ns);
            return None;
        }
        let (first_ns, last_ns, current) = (self.first_ns, self.last_ns, self.side());
        // Packets out of the order of time widen the phase but never count time twice.
        let (before_ns, after_ns) = (first_ns.saturating_sub(time_ns).max(0), time_ns.saturating_sub(last_ns).max(0));
        (self.first_ns, self.last_ns) = (first_ns.min(time_ns), last_ns.max(time_ns));
        let mut ended = None;
        if side == current || fresh == 0 {
            self.shares[side].move_on(before_ns.saturating_add(after_ns), 0);
            if paused && fresh > 0 {
                ended = Some((current, self.train_of()));
                self.begin(side, time_ns.max(last_ns), after_ns, heard_ns);
            }
        } else {
            ended = Some((current, self.train_of()));
            self.shares[side].move_on(before_ns, after_ns);
            self.shares[side].trains = self.shares[side].trains.saturating_add(1);
            self.begin(side, time_ns.max(last_ns), after_ns, heard_ns);
        }
        if side == self.side() {
            self.grow(fresh, packets, wire_bytes, time_ns);
        }
        ended
    }

    /// The train that runs, as it stands.
    pub(crate) fn last_train(&self) -> Option<(usize, Train)> {
        self.has_begun().then(|| (self.side(), self.train_of()))
    }

    /// First and last data packet.
    pub(crate) fn span(&self) -> Option<(i64, i64)> {
        self.has_begun().then_some((self.first_ns, self.last_ns))
    }

    fn has_begun(&self) -> bool {
        self.shares.iter().any(|share| share.runs)
    }

    /// Whose train runs.
    fn side(&self) -> usize {
        usize::from(self.shares[1].runs)
    }

    fn begin(&mut self, side: usize, start_ns: i64, warm_up_ns: i64, heard_ns: Option<i64>) {
        (self.shares[side].runs, self.shares[1 - side].runs) = (true, false);
        let heard_ns = heard_ns.map_or(UNHEARD, |heard_ns| start_ns.saturating_sub(heard_ns).max(0));
        self.train = Running { start_ns, end_ns: start_ns, warm_up_ns, packets: 0, wire_bytes: 0, bytes: 0, heard_ns };
        self.shares[side].captured = 0;
    }

    fn grow(&mut self, fresh: u64, packets: u64, wire_bytes: u64, time_ns: i64) {
        self.train.end_ns = self.train.end_ns.max(time_ns);
        self.train.bytes += fresh;
        if fresh > 0 {
            let [packets, wire_bytes] = [packets, wire_bytes].map(|more| u32::try_from(more).unwrap_or(u32::MAX));
            self.train.packets = self.train.packets.saturating_add(packets);
            self.train.wire_bytes = self.train.wire_bytes.saturating_add(wire_bytes);
            let captured = &mut self.shares[self.side()].captured;
            *captured = captured.saturating_add(1);
        }
    }

    fn train_of(&self) -> Train {
        let Running { start_ns, end_ns, packets, wire_bytes, bytes, warm_up_ns, heard_ns } = self.train;
        let (packets, captured) = (packets.into(), (self.shares[self.side()].captured, wire_bytes));
        let (connection, from_opener, theoretical_ns) = (0, false, None);
        let heard_ns = (heard_ns != UNHEARD).then_some(heard_ns);
        Train {
            connection,
            from_opener,
            start_ns,
            end_ns,
            packets,
            bytes,
            captured,
            warm_up_ns,
            theoretical_ns,
            heard_ns,
        }
    }
}

/// The ideal transfer beside which pacing is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ideal {
    /// Packets of the first flight, at least 1.
    pub initial_window: u32,
    /// The receiver acknowledges every second packet: windows grow as Chen 2012, Eq. 5.10, else they double.
    pub delayed_ack: bool,
}

impl Default for Ideal {
    /// Chen 2012, 9.2.1.
    fn default() -> Self {
        Ideal { initial_window: 1, delayed_ack: true }
    }
}

impl Ideal {
    /// Flights that `packets` packets take; 0 for none.
    ///
    /// After the first flight come the windows of Eq. 5.10 above it: 1, 2, 3, 4, 6, 9, 13, ... and 10, 13, 19, ...
    pub fn flights(&self, packets: u64) -> u32 {
        let mut window = u64::from(self.initial_window.max(1));
        let (mut sent, mut flights, mut step) = (0_u64, 0, 1);
        while sent < packets {
            sent = sent.saturating_add(window);
            flights += 1;
            if sent >= packets {
                break;
            }
            if !self.delayed_ack {
                window = window.saturating_mul(2);
                continue;
            }
            let mut next = WINDOWS[step];
            while next <= window && step < STEPS_MAX {
                step += 1;
                next = WINDOWS[step];
            }
            window = window.max(next);
        }
        flights
    }

    /// From the first to the last packet of an ideal transfer of `packets` packets over a path of infinite capacity: a
    /// round-trip time between flights. At the tap the first and the last packet of a real one are seen the same way.
    pub fn time_ns(&self, packets: u64, rtt_ns: i64) -> i64 {
        i64::from(self.flights(packets).saturating_sub(1)).saturating_mul(rtt_ns)
    }

    /// [`Ideal::time_ns`] as far as it can be told: a single flight needs no round-trip time.
    pub(crate) fn known_ns(&self, packets: u64, rtt_ns: Option<i64>) -> Option<i64> {
        let single = packets <= u64::from(self.initial_window);
        rtt_ns.or(single.then_some(0)).map(|rtt_ns| self.time_ns(packets, rtt_ns))
    }
}

/// Where windows stop to grow: 2^50 packets hold any capture.
const STEPS_MAX: usize = 100;
/// [`eq_5_10`] by its n; of 0 there is none.
const WINDOWS: [u64; STEPS_MAX + 1] = {
    let (mut windows, mut n) = ([0; STEPS_MAX + 1], 1);
    while n <= STEPS_MAX {
        windows[n] = eq_5_10(n as u32);
        n += 1;
    }
    windows
};

/// floor(2^((n-1)/2) + 2^((n-2)/2)) for n from 1 to 127. One of the two is a whole number, and of the other, the root of an
/// odd power of 2, the floor is that of a whole root.
const fn eq_5_10(n: u32) -> u64 {
    const fn root(power: u32) -> u64 {
        (1_u128 << power).isqrt() as u64
    }
    // 2^(-1/2) is below 1.
    root(n - 1) + if n < 2 { 0 } else { root(n - 2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_the_floor_of_eq_5_10_up_to_the_last_step() {
        for n in 2..=STEPS_MAX as u32 {
            // One term is a power of 2; what is left is the floor of the root of an odd power.
            let (even, odd) = if n % 2 == 1 { (n - 1, n - 2) } else { (n - 2, n - 1) };
            let rest = u128::from(eq_5_10(n) - (1 << (even / 2)));
            assert!(rest * rest < 1 << odd && 1 << odd < (rest + 1) * (rest + 1), "{n}");
        }
    }

    #[test]
    fn windows_are_those_printed_with_eq_5_10() {
        let printed = [1, 2, 3, 4, 6, 9, 13, 19, 27, 38, 54];
        assert_eq!(printed.to_vec(), (1..=11).map(eq_5_10).collect::<Vec<u64>>());
    }

    /// Whole numbers w with w <= sqrt(2a) + sqrt(a) < w + 1, where a = 2^(n-2): (sqrt(2a) + sqrt(a))^2 = 3a + sqrt(8a^2).
    #[test]
    fn windows_are_exact() {
        for n in 2..60 {
            let a = 1_u128 << (n - 2);
            let below = |w: u128| w * w <= 3 * a || (w * w - 3 * a).pow(2) <= 8 * a * a;
            let window = u128::from(eq_5_10(n));
            assert!(below(window) && !below(window + 1), "{n}");
        }
    }

    #[test]
    fn flights_are_counted_from_every_initial_window() {
        let cases = [
            (1, true, [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (6, 3), (7, 4), (10, 4), (11, 5)].to_vec()),
            (2, true, [(2, 1), (3, 2), (5, 2), (6, 3), (9, 3), (10, 4)].to_vec()),
            (4, true, [(4, 1), (5, 2), (10, 2), (11, 3), (19, 3), (20, 4)].to_vec()),
            (10, true, [(10, 1), (11, 2), (23, 2), (24, 3), (42, 3), (43, 4)].to_vec()),
            (1, false, [(1, 1), (3, 2), (7, 3), (8, 4)].to_vec()),
            (10, false, [(10, 1), (30, 2), (31, 3)].to_vec()),
        ];
        for (initial_window, delayed_ack, expected) in cases {
            let ideal = Ideal { initial_window, delayed_ack };
            for (packets, flights) in expected {
                assert_eq!(ideal.flights(packets), flights, "{ideal:?}, {packets}");
            }
        }
        assert_eq!(Ideal::default().flights(u64::MAX), Ideal::default().flights(u64::MAX - 1));
    }

    #[test]
    fn the_ideal_time_is_a_round_trip_between_flights() {
        assert_eq!(Ideal::default().time_ns(0, 50), 0);
        assert_eq!(Ideal::default().time_ns(1, 50), 0);
        assert_eq!(Ideal::default().time_ns(10, 50), 150);
    }

    fn parts(share: &Share) -> (u32, i64, i64, bool) {
        (share.trains, share.warm_up_ns, share.transfer_ns, share.runs)
    }

    #[test]
    fn every_moment_of_the_data_phase_is_given_to_one_side() {
        let mut transfer = Transfer::default();
        // Side 0 asks twice, side 1 answers, side 0 repeats itself into the answer.
        let packets = [(0, 0, 10), (0, 5, 10), (1, 25, 100), (0, 30, 0), (1, 45, 100), (0, 65, 1), (1, 60, 1)];
        let ended: Vec<_> = packets
            .iter()
            .filter_map(|&(side, at, fresh)| transfer.see(side, at, [fresh, 1, fresh + 40], false, None))
            .collect();
        let shares = transfer.shares;
        assert_eq!(parts(&shares[0]), (2, 20, 5 + 5, false));
        assert_eq!(parts(&shares[1]), (2, 20, 15, true));
        assert_eq!(transfer.span(), Some((0, 65)));
        let sum: i64 = shares.iter().map(|share| share.warm_up_ns + share.transfer_ns).sum();
        assert_eq!(sum, 65);
        let sizes: Vec<_> = ended.iter().map(|(side, train)| (*side, train.packets, train.bytes)).collect();
        assert_eq!(sizes, [(0, 2, 20), (1, 2, 200), (0, 1, 1)]);
    }

    #[test]
    fn a_pause_cuts_a_train_and_leaves_the_sums_as_they_are() {
        let mut transfer = Transfer::default();
        let packets = [(0, 0, 10, true), (0, 5, 10, false), (0, 65, 7, true), (0, 70, 0, true), (1, 90, 1, true)];
        let ended: Vec<_> = packets
            .iter()
            .filter_map(|&(side, at, fresh, cut)| transfer.see(side, at, [fresh, 1, fresh + 40], cut, None))
            .collect();
        let told = |(_, train): &(usize, Train)| (train.bytes, train.start_ns, train.end_ns, train.warm_up_ns);
        assert_eq!(ended.iter().map(told).collect::<Vec<_>>(), [(20, 0, 5, 0), (7, 65, 70, 60)]);
        assert_eq!(parts(&transfer.shares[0]), (1, 0, 70, false));
        assert_eq!(parts(&transfer.shares[1]), (1, 20, 0, true));
    }
}
