//! Scripts of connections and bursts of UDP flows as a flow list has them: their values, their bounds and their text;
//! and the load that a list offers.
//!
//! Both are data where flows are made, moved or run. Text is what a user reads and writes; it is parsed and written
//! here alone, and a script or burst is refused here alone, whether it came as text or as data.

mod bursts;
mod offered;
mod scan;
mod script;

pub use bursts::{
    Burst, BurstError, Volume, WrongBurst, check as check_bursts, parse as parse_bursts, text as burst_text,
};
pub use offered::{Load, Offered, Offering, Segments, offered};
pub use script::{MOST_BYTES, Script, Train, Wrong};

/// A time in seconds as a decimal number, to the nanosecond.
fn decimal(ns: u64) -> String {
    let (whole, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
    if rest == 0 { whole.to_string() } else { format!("{whole}.{rest:09}").trim_end_matches('0').to_owned() }
}
