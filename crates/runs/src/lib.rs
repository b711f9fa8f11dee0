//! One run from files to files: a flow list as CSV in, records and samples as Parquet and the figures of the summary out.
//!
//! The command line takes this way for a list of plain transfers, without the libraries for tables in Python, which take
//! longer to load than such a run. What it takes is less than what `mayfly.workload.lists` reads: whatever else stands
//! in a list, right or wrong, is left to that. A test holds both ways to the same files and figures.

mod active;
mod alone;
mod arrays;
mod figures;
mod files;
mod list;
mod run;
mod sums;
pub mod table_file;

pub use arrays::{batch, batch_of};
pub use figures::Figures;
pub use files::{Labels, Numbers, Written};
pub use list::List;
pub use run::{Ran, Seconds, run};
