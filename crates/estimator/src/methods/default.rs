//! What is taken when no method is named: `p0`, the form that Zhao 2004 uses from II.C.2 on.

use super::p0::P0;
use super::{Loads, Method, MethodSpec};
use crate::config::Settings;
use crate::number::Number;
use crate::signals::Signals;

/// See the head of the file.
#[derive(Debug)]
pub(crate) struct Default<N>(P0<N>);

impl<N: Number> Method<N> for Default<N> {
    const SPEC: MethodSpec =
        MethodSpec { id: "default", about: "p0: basic while packets are dropped", source: "Zhao 2004, II.C.2" };

    fn with(settings: &Settings<N>) -> Self {
        Default(P0::with(settings))
    }

    #[inline]
    fn update(&mut self, signals: &Signals<N>, settings: &Settings<N>) -> Option<Loads<N>> {
        self.0.update(signals, settings)
    }
}
