//! Whole runs of the simulator.

mod applications;
mod bursts;
mod cell;
mod closed_forms;
mod conservation;
mod controls;
mod dumbbell;
mod graph;
mod invariants;
mod linux_hosts;
mod long_run;
mod loss;
mod queueing;
mod quic;
mod refusals;
mod script_transports;
mod scripts;
mod snapshots;
mod streams;
mod transport;
mod transports;
mod varying;
mod wlan;
mod wlan_random;
