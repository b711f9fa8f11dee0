//! The flows of a capture over a link of so many Mbit/s, and how long it took to find them.
//!
//! `cargo run --release -p mayfly-replay --example flows -- captures/office.pcap.gz 10`
#![allow(clippy::print_stdout, reason = "an example tells what it found")]

use std::error::Error;
use std::time::Instant;

use replay::{Form, Options, Probes, Rates, ReadOptions, Reading, Replay};

fn main() -> Result<(), Box<dyn Error>> {
    let mut given = std::env::args().skip(1);
    let path = given.next().ok_or("which capture?")?;
    let mbps: f64 = given.next().as_deref().unwrap_or("10").parse()?;
    let bytes = std::fs::read(&path)?;
    let mut begun = Instant::now();
    let mut told = |what: &str| {
        println!("{what}: {:.2} ms", begun.elapsed().as_secs_f64() * 1e3);
        begun = Instant::now();
    };
    let reading = Reading::from_bytes(&path, &bytes, &ReadOptions::default())?;
    told("read");
    let options = Options { networks: None, mss: 1448, header_bytes: 52, form: Form::Users, tcp_only: false };
    let replay = Replay::of(&reading, options)?;
    told("whatever the link");
    for share in [1.0, 0.9, 1.1, 2.0, 10.0] {
        let rate = mbps * share * 1e6;
        let list = replay.list(Rates { down: rate, up: rate }, None)?;
        told(&format!("list of {} flows at {} Mbit/s", list.flows.len(), rate * 1e-6));
        let probes = Probes { ping: true, interval_s: 0.1, call: list.calls.is_empty(), seed: 1 };
        let probed = list.with_probes(&probes);
        told(&format!("with {} probes", probed.names.len()));
    }
    Ok(())
}
