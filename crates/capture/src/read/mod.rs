//! Files and their packets: opened, put into one order of time, without copies.

pub(crate) mod clocks;
pub(crate) mod copies;
pub(crate) mod decompress_thread;
pub(crate) mod duplicates;
pub(crate) mod input;
pub(crate) mod merge;
pub(crate) mod pass;
pub(crate) mod reader;
pub(crate) mod sieve;
pub(crate) mod stops;
