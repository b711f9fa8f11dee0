//! Rates of a link.

/// Rates of a link, bit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Toward the near side.
    pub down: f64,
    /// From the near side.
    pub up: f64,
}
