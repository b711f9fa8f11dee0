//! Every discipline, one row each: the command line, Python, reports, docs, the conformance suite and
//! the benches read this list and no other.

use units::Stream;

use crate::base::{Discipline, Env, Nonresponsive};
use crate::packet::Packet;
use crate::spec::{OptionError, Options, Spec};

macro_rules! disciplines {
    ($($variant:ident($path:path)),* $(,)?) => {
        /// Any registered discipline: an enum, so that a packet costs a branch and no virtual call.
        #[derive(Debug)]
        pub(crate) enum AnyDiscipline {
            $($variant($path)),*
        }

        static SPECS: &[&Spec] = &[$(&<$path as Discipline>::SPEC),*];

        impl AnyDiscipline {
            pub(crate) fn from_id(
                id: &str,
                given: &[(String, String)],
                rng: &mut Stream,
            ) -> Result<(Self, Options), OptionError> {
                $({
                    static SPEC: Spec = <$path as Discipline>::SPEC;
                    if id == SPEC.id {
                        let options = Options::parse(&SPEC, given)?;
                        let discipline = AnyDiscipline::$variant(Discipline::with_options(&options, rng)?);
                        return Ok((discipline, options));
                    }
                })*
                Err(OptionError::UnknownDiscipline(id.to_owned()))
            }

            /// The same discipline, empty, with options that were taken before.
            pub(crate) fn afresh(&self, options: &Options, rng: &mut Stream) -> Self {
                match self {
                    $(AnyDiscipline::$variant(_) => AnyDiscipline::$variant(
                        Discipline::with_options(options, rng).expect("the options were taken before"),
                    )),*
                }
            }

            pub(crate) fn spec(&self) -> &'static Spec {
                match self { $(AnyDiscipline::$variant(_) => &<$path as Discipline>::SPEC),* }
            }

            #[inline]
            pub(crate) fn enqueue(&mut self, packet: Packet, env: &mut Env) {
                match self { $(AnyDiscipline::$variant(d) => d.enqueue(packet, env)),* }
            }

            #[inline]
            pub(crate) fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
                match self { $(AnyDiscipline::$variant(d) => d.dequeue(env)),* }
            }

            pub(crate) fn peek(&self) -> Option<&Packet> {
                match self { $(AnyDiscipline::$variant(d) => d.peek()),* }
            }

            #[inline]
            pub(crate) fn flow_table_len(&self) -> usize {
                match self { $(AnyDiscipline::$variant(d) => d.flow_table_len()),* }
            }

            pub(crate) fn flow_table_bytes(&self) -> usize {
                match self { $(AnyDiscipline::$variant(d) => d.flow_table_bytes()),* }
            }

            pub(crate) fn high_backlog(&self) -> Option<usize> {
                match self { $(AnyDiscipline::$variant(d) => d.high_backlog()),* }
            }

            pub(crate) fn nonresponsive(&self) -> Option<Nonresponsive> {
                match self { $(AnyDiscipline::$variant(d) => d.nonresponsive()),* }
            }

            #[inline]
            pub(crate) fn poll_at(&self) -> Option<units::Time> {
                match self { $(AnyDiscipline::$variant(d) => d.poll_at()),* }
            }
        }
    };
}

disciplines! {
    Fifo(crate::fifo::Fifo),
    Red(crate::red::Red),
    EstmRed(crate::estmred::EstmRed),
    Choke(crate::choke::Choke),
    Codel(crate::codel::Codel),
    Pie(crate::pie::Pie),
    Dualpi2(crate::dualpi2::Dualpi2),
    Drr(crate::drr::Drr),
    Sfq(crate::sfq::Sfq),
    Scfq(crate::scfq::Scfq),
    Fq(crate::fq::Fq),
    FqCodel(crate::fq_codel::FqCodel),
    FqPie(crate::fq_pie::FqPie),
    Cake(crate::cake::Cake),
    Las(crate::las::Las),
    LasAck(crate::lasack::LasAck),
    Lars(crate::lars::Lars),
    Run2c(crate::run2c::Run2c),
    Run2cAck(crate::run2cack::Run2cAck),
    Sift(crate::sift::Sift),
    XProtect(crate::xprotect::XProtect),
    Pias(crate::pias::Pias),
    Efd(crate::efd::Efd),
    Pefd(crate::pefd::Pefd),
    EfdAck(crate::efdack::EfdAck),
    Srpt(crate::srpt::Srpt),
}

/// Descriptions of all disciplines, in the order of the registry.
pub fn specs() -> &'static [&'static Spec] {
    SPECS
}
