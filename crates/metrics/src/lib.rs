//! What users of a link feel, and what the queue did to them: from a run of [`netsim`], without Python.
//!
//! * [`figures`] gives what `mayfly.metrics.users.users_row` of the Python package gives for the same run: the same
//!   definitions, figure by figure. `tests/explore/test_metrics_equal_python.py` holds the two together.
//! * [`waits`] says for whom a packet waits, [`mechanisms`] what made the difference.
//! * One run gives the same bits on every machine and in WebAssembly: functions that IEEE 754 does not round exactly
//!   come from the crate `libm`, sums are taken in the order of the flow list, and no order of a hash table shows.

mod call;
mod e_model;
mod facts;
mod figures;
mod film;
mod fluid;
mod goodput;
mod idle;
mod kinds;
mod mechanisms;
mod order;
mod pages;
mod passing;
mod ping;
mod playout;
mod ran;
mod speech;
mod stream;
mod streamed;
mod student;
mod times;
mod transfers;
mod waits;

pub use call::{Call, Origin, Way, call, mean_call};
pub use e_model::{Line, opinion, rating};
pub use facts::{CaptureFacts, Facts, FactsError, ProbeName};
pub use figures::{Figures, figures, of_transfers};
pub use film::{Segment, Watched, stalls_of};
pub use fluid::{Service, fluid};
pub use goodput::Goodput;
pub use idle::idle_rtt;
pub use kinds::{Kind, kinds};
pub use mechanisms::{Mechanism, mechanisms};
pub use order::{percentile, percentile_ci95};
pub use pages::Pages;
pub use passing::Passing;
pub use ping::{Ping, grade};
pub use playout::{Heard, Window, jitter_s, windows};
pub use ran::Ran;
pub use stream::{Video, played};
pub use streamed::{BinFigures, ClassFigures, MOST_SIZES, SIZE_STEP, SKETCH_BOUND, StreamFigures, Streamed};
pub use student::{student_ci95, student_t};
pub use times::Times;
pub use transfers::{Bin, Bins, Transfer, transfers};
pub use waits::{Waits, waits};
