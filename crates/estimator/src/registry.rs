//! Every method, one row each: the command line, Python and docs read this list and no other.

use crate::config::Settings;
use crate::methods::{Loads, Method, MethodSpec};
use crate::number::Number;
use crate::signals::Signals;

macro_rules! methods {
    ($($variant:ident($path:path)),* $(,)?) => {
        /// Any registered method.
        #[derive(Debug)]
        pub(crate) enum AnyMethod<N> {
            $($variant($path)),*
        }

        impl<N: Number> AnyMethod<N> {
            pub(crate) fn from_id(id: &str, settings: &Settings<N>) -> Option<Self> {
                $(if id == <$path as Method<N>>::SPEC.id {
                    return Some(AnyMethod::$variant(Method::with(settings)));
                })*
                None
            }

            #[inline]
            pub(crate) fn update(&mut self, signals: &Signals<N>, settings: &Settings<N>) -> Option<Loads<N>> {
                match self { $(AnyMethod::$variant(method) => method.update(signals, settings)),* }
            }

            pub(crate) const SPECS: &'static [MethodSpec] = &[$(<$path as Method<N>>::SPEC),*];
        }
    };
}

methods! {
    Default(crate::methods::default::Default<N>),
    Response(crate::methods::response::Response<N>),
    Basic(crate::methods::basic::Basic<N>),
    P0(crate::methods::p0::P0<N>),
    Loss(crate::methods::loss::Loss<N>),
    Multihop(crate::methods::multihop::Multihop<N>),
    Cbr(crate::methods::cbr::Cbr<N>),
}

/// Descriptions of all methods, the default first.
pub const fn methods() -> &'static [MethodSpec] {
    AnyMethod::<crate::number::Float>::SPECS
}
