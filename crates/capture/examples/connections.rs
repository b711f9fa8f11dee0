//! Reads captures as `mayfly` does, with every train, and prints what was found as a line of JSON: for benchmarks.
//!
//! `connections FILE...`

#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use std::process::ExitCode;

use capture::{Options, Protocol, read_files};

fn main() -> ExitCode {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let options = Options { max_trains: usize::MAX, ..Options::default() };
    match read_files(&paths, &options, &mut || true) {
        Ok(read) => {
            let (packets, decoded) = (read.counts.packets, read.counts.decoded);
            let (connections, trains) = (read.connections.len(), read.trains.len());
            let tcp = read.connections.iter().filter(|c| c.protocol == Protocol::Tcp).count();
            println!(
                "{{\"packets\": {packets}, \"decoded\": {decoded}, \"connections\": {connections}, \"tcp\": {tcp}, \"trains\": {trains}}}"
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
