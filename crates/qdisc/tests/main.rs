//! The disciplines against their standards, their papers and the promises of all.

mod audit;
mod cake;
mod codel_rfc;
mod conformance;
mod dualpi2_rfc;
mod efd_algorithm;
mod fq_codel_rfc;
mod heap;
mod htb;
mod las_family;
mod lfq;
mod memory;
mod pie_rfc;
mod red_rules;
mod sampling;
