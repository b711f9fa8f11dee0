//! Laws of positive values: fitted by likelihood, and tested by parametric bootstrap.
//!
//! Principle: laws are fitted to ordered values in units of their mean. The tables of Kolmogorov and Smirnov and of
//! Anderson and Darling hold for a law fixed beforehand, not for one fitted to the same values, so samples are drawn from
//! the fitted law, the law is fitted to each of them again, and p is the share of them that lie at least as far away
//! (Stute, Gonzalez Manteiga and Presedo Quindimil 1993). A hundred samples of a thousand values under six laws are
//! millions of logarithms: that is why it is here and not in Python.

mod bootstrap;
mod distance;
mod fit;
mod ks_bounds;
mod law;
mod mixtures;
mod normal;
mod vector_math;

pub use bootstrap::bootstrap_p;
pub use distance::distances;
pub use fit::fit;
pub use law::{Kind, Law};
pub use normal::{normal_cdf, normal_quantile};

/// Why a law cannot be fitted to values; one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFitted(pub String);
