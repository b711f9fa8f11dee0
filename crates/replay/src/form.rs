//! The forms in which a capture is replayed.

/// What becomes of the packets of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Connections as scripts of users who wait, without what the captured link did; UDP packet by packet.
    #[default]
    Users,
    /// Connections as scripts, each at its time, with what the captured link did (Chen 2012, 9.2.1).
    Trains,
    /// Every packet when it was captured, as UDP (Chen 2012, 9.3.2).
    Packets,
    /// A transfer for each direction of a connection, with all its data at once.
    Transfers,
}

impl Form {
    /// The forms and their names.
    pub const NAMES: [(Form, &'static str); 4] =
        [(Form::Users, "users"), (Form::Trains, "trains"), (Form::Packets, "packets"), (Form::Transfers, "transfers")];
}
