/// Size of a flow that never ends, bytes.
pub const ENDLESS_BYTES: u64 = 1 << 40;

/// Which way a packet travels inside its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the sender of the data to its receiver.
    Forward,
    /// From the receiver back to the sender.
    Reverse,
}

/// Identity of a flow: an interned 5-tuple (source and destination address and port, protocol).
///
/// The two directions of a connection share `connection()` and differ in the lowest bit, so a
/// discipline that accounts for both directions (LASACK, EFDACK, Run2CACK) uses `connection()` as
/// its key and every other one the whole value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowKey(pub u64);

impl FlowKey {
    /// Key of one direction of connection `connection`.
    #[inline]
    pub fn of(connection: u64, direction: Direction) -> Self {
        FlowKey(connection << 1 | u64::from(direction == Direction::Reverse))
    }

    /// The unordered pair of endpoints: equal for both directions.
    #[inline]
    pub fn connection(self) -> u64 {
        self.0 >> 1
    }

    /// Direction of this half of the connection.
    #[inline]
    pub fn direction(self) -> Direction {
        if self.0 & 1 == 0 { Direction::Forward } else { Direction::Reverse }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_share_the_connection() {
        let forward = FlowKey::of(7, Direction::Forward);
        let reverse = FlowKey::of(7, Direction::Reverse);
        assert_ne!(forward, reverse);
        assert_eq!(forward.connection(), reverse.connection());
        assert_eq!(reverse.direction(), Direction::Reverse);
    }
}
