//! The estimators against hand-made, random and damaged samples.

mod arbitrary;
mod fluid;
mod robust;
