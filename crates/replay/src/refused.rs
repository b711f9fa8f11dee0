//! Why a capture cannot be replayed.

use std::fmt;

/// Why a capture cannot be replayed, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub(crate) String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

impl From<hosts::NotNetwork> for Refused {
    fn from(none: hosts::NotNetwork) -> Refused {
        Refused(none.to_string())
    }
}

impl From<hosts::Unsited> for Refused {
    fn from(none: hosts::Unsited) -> Refused {
        Refused(none.to_string())
    }
}

/// Refuses with one line.
pub(crate) fn refused<T>(line: impl Into<String>) -> Result<T, Refused> {
    Err(Refused(line.into()))
}
