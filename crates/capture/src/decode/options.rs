//! Options of a TCP header (RFC 9293, 3.2).

/// What a segment says beside the fixed header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// Largest segment its sender takes, in bytes.
    pub mss: Option<u16>,
    /// Power of two by which the windows of its sender count (RFC 7323, 2.2).
    pub window_shift: Option<u8>,
    /// TSval and TSecr (RFC 7323, 3.2).
    pub timestamps: Option<(u32, u32)>,
}

/// Length of the timestamps in front of data: the option and two paddings (RFC 7323, appendix A).
pub(crate) const TIMESTAMP_BYTES: u16 = 12;

impl TcpOptions {
    /// Reads the captured part of the options; what contradicts itself ends the list.
    #[inline]
    pub(crate) fn parse(options: &[u8]) -> Self {
        match options {
            [] => TcpOptions::default(),
            // What nearly all segments have that have any (RFC 7323, appendix A).
            [1, 1, 8, 10, a, b, c, d, e, f, g, h] => {
                let timestamps = (u32::from_be_bytes([*a, *b, *c, *d]), u32::from_be_bytes([*e, *f, *g, *h]));
                TcpOptions { timestamps: Some(timestamps), ..TcpOptions::default() }
            }
            _ => TcpOptions::any(options),
        }
    }

    #[inline(never)]
    fn any(options: &[u8]) -> Self {
        let mut found = TcpOptions::default();
        let mut rest = options;
        while let [kind, after @ ..] = rest {
            match (kind, after) {
                (0, _) => break,
                (1, _) => {
                    rest = after;
                    continue;
                }
                (2, [4, a, b, ..]) => found.mss = Some(u16::from_be_bytes([*a, *b])),
                // RFC 7323, 2.3: a larger shift counts as 14.
                (3, [3, shift, ..]) => found.window_shift = Some((*shift).min(14)),
                (8, [10, a, b, c, d, e, f, g, h, ..]) => {
                    let value = u32::from_be_bytes([*a, *b, *c, *d]);
                    found.timestamps = Some((value, u32::from_be_bytes([*e, *f, *g, *h])));
                }
                _ => {}
            }
            let length = after.first().map_or(0, |length| usize::from(*length));
            match rest.get(length..) {
                Some(next) if length >= 2 => rest = next,
                _ => break,
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linux_syn_is_read_whole() {
        let syn = [2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 7, 0, 0, 0, 0, 1, 3, 3, 9];
        let expected = TcpOptions { mss: Some(1460), window_shift: Some(9), timestamps: Some((7, 0)) };
        assert_eq!(TcpOptions::parse(&syn), expected);
    }

    #[test]
    fn timestamps_alone_are_read_as_among_others() {
        let options = [1, 1, 8, 10, 0, 0, 0, 7, 0, 1, 0, 9];
        assert_eq!(TcpOptions::parse(&options), TcpOptions::any(&options));
        assert_eq!(TcpOptions::parse(&[]), TcpOptions::any(&[]));
    }

    #[test]
    fn a_list_that_is_cut_or_contradicts_itself_ends_there() {
        assert_eq!(TcpOptions::parse(&[2, 4, 5]), TcpOptions::default());
        assert_eq!(TcpOptions::parse(&[5, 0, 2, 4, 5, 0xb4]), TcpOptions::default());
        assert_eq!(TcpOptions::parse(&[0, 2, 4, 5, 0xb4]), TcpOptions::default());
        assert_eq!(TcpOptions::parse(&[1, 3, 3, 200]).window_shift, Some(14));
        assert_eq!(TcpOptions::parse(&[253, 4, 0, 0, 2, 4, 1, 0]).mss, Some(256));
    }
}
