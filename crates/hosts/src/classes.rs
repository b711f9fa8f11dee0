//! Classes of connections: who talks to whom (Chen 2012, 8.2). Each connection gets exactly one, so that they add up to the
//! table; the four classes of the paper do not, and what is in none of them is `other` here, by reason.

/// What a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Beyond the site.
    Remote,
    /// Multicast, broadcast or unspecified.
    Nobody,
    /// Of the site.
    Server,
    /// Of the site.
    Client,
    /// Of the site, and it did nothing that tells.
    Unknown,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [Kind::Remote, Kind::Nobody, Kind::Server, Kind::Client, Kind::Unknown];

    /// Its name.
    pub fn name(self) -> &'static str {
        ["remote", "nobody", "server", "client", "unknown"][self as usize]
    }
}

/// Class of a connection, side of the site that it is on, and why it is in none of the four classes of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// `lc-rp`, `ls-rp`, `lc-ls`, `ls-ls` or `other`.
    pub class: &'static str,
    /// `external`, `internal` or `neither`.
    pub side: &'static str,
    /// Of `other`.
    pub reason: Option<&'static str>,
}

/// The class of a connection between two hosts, whichever opened it.
pub fn class_of(one: Kind, two: Kind) -> Class {
    use Kind::{Client, Nobody, Remote, Server, Unknown};
    let (class, side, reason) = match (one, two) {
        (Nobody, _) | (_, Nobody) => ("other", "neither", Some("multicast, broadcast or unspecified")),
        (Remote, Remote) => ("other", "neither", Some("two remote hosts")),
        (Remote, Client) | (Client, Remote) => ("lc-rp", "external", None),
        (Remote, Server) | (Server, Remote) => ("ls-rp", "external", None),
        (Remote, Unknown) | (Unknown, Remote) => ("other", "external", Some("role unknown")),
        (Unknown, _) | (_, Unknown) => ("other", "internal", Some("role unknown")),
        (Client, Server) | (Server, Client) => ("lc-ls", "internal", None),
        (Server, Server) => ("ls-ls", "internal", None),
        (Client, Client) => ("other", "internal", Some("two clients")),
    };
    Class { class, side, reason }
}
