//! How far a connection got: one machine over what each end sent.

/// How far a connection got. The first row that applies:
///
/// | state | condition |
/// |---|---|
/// | `one_way`, `two_way` | UDP, ICMP and other protocols: packets in one, in both directions |
/// | `rejected` | the responder answered the SYN with RST instead of SYN-ACK |
/// | `reset` | RST before both directions sent FIN |
/// | `complete` | FIN in both directions |
/// | `half_closed` | FIN in one direction |
/// | `established` | SYN-ACK, then anything but SYN from the opener |
/// | `half_open` | SYN or SYN-ACK only |
/// | `midstream` | neither SYN nor SYN-ACK captured |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// SYN without completed handshake.
    HalfOpen,
    /// SYN refused with RST.
    Rejected,
    /// Handshake completed, not closed.
    Established,
    /// FIN in one direction.
    HalfClosed,
    /// FIN in both directions.
    Complete,
    /// Ended by RST.
    Reset,
    /// Begun before the capture, not closed.
    Midstream,
    /// UDP, ICMP or another protocol in one direction.
    OneWay,
    /// The same in both directions.
    TwoWay,
}

impl State {
    /// Names, in the order of the variants.
    pub const NAMES: [&'static str; 9] =
        ["half_open", "rejected", "established", "half_closed", "complete", "reset", "midstream", "one_way", "two_way"];
}

/// `conn_state` of Zeek's conn.log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ZeekState {
    S0,
    S1,
    Sf,
    Rej,
    S2,
    S3,
    Rsto,
    Rstr,
    Rstos0,
    Rstrh,
    Sh,
    Shr,
    Oth,
}

impl ZeekState {
    /// Names, in the order of the variants.
    pub const NAMES: [&'static str; 13] =
        ["S0", "S1", "SF", "REJ", "S2", "S3", "RSTO", "RSTR", "RSTOS0", "RSTRH", "SH", "SHR", "OTH"];
}

/// What one end of a TCP connection sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub(crate) syn: bool,
    pub(crate) syn_ack: bool,
    pub(crate) fin: bool,
    pub(crate) rst: bool,
}

/// What a TCP connection is labelled by; `ends` are opener and responder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence {
    pub(crate) ends: [Sent; 2],
    /// The SYN of the opener was answered by RST.
    pub(crate) rejected: bool,
    /// RST before both FINs.
    pub(crate) reset: bool,
    /// SYN-ACK, then something of the opener.
    pub(crate) answered: bool,
    /// A SYN or SYN-ACK passed, or an initial number was told by one.
    pub(crate) begun: bool,
}

impl Evidence {
    pub(crate) fn state(&self) -> State {
        let fins = self.ends.iter().filter(|end| end.fin).count();
        match () {
            () if self.rejected => State::Rejected,
            () if self.reset => State::Reset,
            () if fins == 2 => State::Complete,
            () if fins == 1 => State::HalfClosed,
            () if self.answered => State::Established,
            () if self.begun => State::HalfOpen,
            () => State::Midstream,
        }
    }

    /// Zeek 6, `scripts/base/protocols/conn/main.zeek`, on the evidence of this machine: an end is active that sent SYN or
    /// SYN-ACK. An RST that comes after both FINs changes nothing, as in [`State`].
    pub(crate) fn zeek(&self) -> ZeekState {
        let [opener, responder] = self.ends;
        let [opened, answered] = self.ends.map(|end| end.syn || end.syn_ack);
        match () {
            () if self.rejected => ZeekState::Rej,
            () if self.reset && responder.rst && !opened => ZeekState::Rstrh,
            () if self.reset && responder.rst => ZeekState::Rstr,
            () if self.reset && !answered => ZeekState::Rstos0,
            () if self.reset => ZeekState::Rsto,
            () if opener.fin && responder.fin => ZeekState::Sf,
            () if opener.fin => {
                if answered {
                    ZeekState::S2
                } else {
                    ZeekState::Sh
                }
            }
            () if responder.fin => {
                if opened {
                    ZeekState::S3
                } else {
                    ZeekState::Shr
                }
            }
            () if opener.syn && !answered => ZeekState::S0,
            () if opened && answered && self.answered => ZeekState::S1,
            () => ZeekState::Oth,
        }
    }
}
