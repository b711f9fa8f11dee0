//! Replays of captures made byte by byte.

mod arbitrary;
mod by_hand;
#[path = "../../capture/tests/wire/mod.rs"]
mod wire;
