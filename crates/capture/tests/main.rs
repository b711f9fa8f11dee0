//! Captures made byte by byte or read from a file, and what the library reads of them.

mod account;
mod arbitrary;
mod connections;
mod copies;
mod formats;
mod merging;
mod metrics;
mod real;
mod sharding;
mod stops;
mod tunnels;
mod wire;
