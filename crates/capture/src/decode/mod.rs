//! Headers: from the link layer to the transport, out of tunnels and fragments.

pub(crate) mod decoder;
pub(crate) mod fragments;
pub(crate) mod identity;
pub(crate) mod key;
pub(crate) mod link;
pub(crate) mod options;
pub(crate) mod quic;
pub(crate) mod segment;
pub(crate) mod skip;
pub(crate) mod tunnel;
