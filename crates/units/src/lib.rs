//! Quantities every other crate shares: integer time, byte counts, bit rates, flow keys and named
//! random streams; and how a count is written in a sentence.
//!
//! Nothing here reads a clock or a global generator: `now` and the random stream are arguments
//! everywhere, so that one seed gives one result.

mod flow;
mod numpy_stream;
mod quantity;
mod stream;
mod text;

pub use flow::{Direction, ENDLESS_BYTES, FlowKey};
pub use numpy_stream::NumpyStream;
pub use quantity::{BitRate, Time};
pub use stream::Stream;
pub use text::grouped;
