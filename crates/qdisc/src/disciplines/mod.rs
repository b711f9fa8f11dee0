//! Every discipline: one file here, one `mod` and one row of `disciplines!` below. The command line, Python, reports,
//! docs, the conformance suite and the benches read this list and no other.

use units::Stream;

use crate::base::{Discipline, Env, Nonresponsive};
use crate::packet::Packet;
use crate::spec::{OptionError, Options, Spec};

pub mod cake;
pub mod choke;
pub mod codel;
pub mod dqfq;
pub mod drr;
pub mod dualpi2;
pub mod efd;
pub mod efdack;
pub mod estmred;
pub mod fifo;
pub mod fq;
pub mod fq_codel;
pub mod fq_pie;
pub mod lars;
pub mod las;
pub mod lasack;
pub mod lfq;
pub mod passport;
pub mod pefd;
pub mod pias;
pub mod pie;
pub mod ranked;
pub mod red;
pub mod run2c;
pub mod run2cack;
pub mod scfq;
pub mod sfq;
pub mod sift;
pub mod srpt;
pub mod xprotect;

macro_rules! disciplines {
    ($($variant:ident($path:path)),* $(,)?) => {
        /// Any registered discipline: an enum, so that a packet costs a branch and no virtual call.
        // There is one of a port: the largest may be as large as it is.
        #[allow(clippy::large_enum_variant)]
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
                let known: Vec<_> = SPECS.iter().map(|spec| spec.id).collect();
                Err(OptionError::UnknownDiscipline(id.to_owned(), known.join(", ")))
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
    Fifo(fifo::Fifo),
    Red(red::Red),
    EstmRed(estmred::EstmRed),
    Choke(choke::Choke),
    Codel(codel::Codel),
    Pie(pie::Pie),
    Dualpi2(dualpi2::Dualpi2),
    Drr(drr::Drr),
    Sfq(sfq::Sfq),
    Scfq(scfq::Scfq),
    Fq(fq::Fq),
    FqCodel(fq_codel::FqCodel),
    FqPie(fq_pie::FqPie),
    Dqfq(dqfq::Dqfq),
    Cake(cake::Cake),
    Lfq(lfq::Lfq),
    Las(las::Las),
    LasAck(lasack::LasAck),
    Lars(lars::Lars),
    Run2c(run2c::Run2c),
    Run2cAck(run2cack::Run2cAck),
    Sift(sift::Sift),
    XProtect(xprotect::XProtect),
    Pias(pias::Pias),
    Efd(efd::Efd),
    Pefd(pefd::Pefd),
    EfdAck(efdack::EfdAck),
    Passport(passport::Passport),
    Srpt(srpt::Srpt),
    Ranked(ranked::Ranked),
}

/// Descriptions of all disciplines, in the order of the registry.
pub fn specs() -> &'static [&'static Spec] {
    SPECS
}
