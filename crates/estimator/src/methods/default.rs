//! What is taken when no method is named: `response`. The published methods depend on their start for longer than most
//! runs last (`docs/estimate/why-biased.md`).

use super::response::Response;
use super::{Loads, Method, MethodSpec};
use crate::config::Settings;
use crate::number::Number;
use crate::signals::Signals;

/// See the head of the file.
#[derive(Debug)]
pub(crate) struct Default<N>(Response<N>);

impl<N: Number> Method<N> for Default<N> {
    const SPEC: MethodSpec = MethodSpec {
        id: "default",
        about: "response: how arrivals answer drops",
        source: "Zhao 2004, Eq. 2.13, A.2 and A.8; Padhye et al. 1998",
    };

    fn with(settings: &Settings<N>) -> Self {
        Default(Response::with(settings))
    }

    #[inline]
    fn update(&mut self, signals: &Signals<N>, settings: &Settings<N>) -> Option<Loads<N>> {
        self.0.update(signals, settings)
    }
}
