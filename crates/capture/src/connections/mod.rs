//! The table: connections, their two sides, their trains, and the columns of it all.

pub(crate) mod columns;
pub(crate) mod connection;
pub(crate) mod entry;
pub(crate) mod half;
pub(crate) mod quic;
pub(crate) mod rtt;
pub(crate) mod sequence;
pub(crate) mod state;
pub(crate) mod table;
pub(crate) mod transfer;
pub(crate) mod volume;
pub(crate) mod volume_file;
pub(crate) mod volumes;
