//! Captures split by connection into shards, each of which is read into a table of its own.
//!
//! Principle: one pass frames and decodes every record as any reading does, fragments and tunnels with it, and counts what
//! is left out. What the table of connections takes of a packet (its number, its time and tap, and its decoded headers)
//! goes to the shard of its connection, in the order of the capture; payload goes nowhere. All that a table knows of
//! packets beyond those of one connection is their order and the time of the first one, and both are told. So the tables
//! of all shards together are that of one process, but for what the limits of a table make it give up.
//!
//! Both directions of a connection have one key, fragments that of their first one, and ICMP messages are connections of
//! their own. The hash of the key has a secret of the pass: nobody can send traffic that fills one shard.

pub(crate) mod read;
pub(crate) mod split;
mod wire;
