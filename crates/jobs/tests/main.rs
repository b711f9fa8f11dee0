//! The job-level simulations against their definitions.

mod by_rates;
mod lagged;
mod orders;
