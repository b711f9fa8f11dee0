//! Sizes that divide transfers.

/// Short transfers have at most so many bytes.
pub(crate) const SHORT_BYTES: u64 = 100_000;
/// Long ones have more than so many.
pub(crate) const LONG_BYTES: u64 = 1_000_000;
