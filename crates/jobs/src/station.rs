//! What a level does with the jobs it has: one of several orders of service.

use super::in_turn::{Arrival, InTurn, LatestFirst, Remaining, Smallest, SmallestNext};
use super::least_attained::LeastAttained;
use super::serve::{Part, Serve};
use super::sharing::Sharing;

/// In which order a level serves its jobs; first come, first served among equals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// First come, first served.
    Fcfs,
    /// Last come, first served, at once; who is interrupted goes on later.
    Lcfs,
    /// All jobs at once, each with the same share of the server.
    Ps,
    /// The jobs of least attained service, all of them at the same age.
    Las,
    /// The job of least remaining work, at once.
    Srpt,
    /// The job that brought the least work to the level, at once.
    Psjf,
    /// The job that brought the least work to the level, once the one that has begun is over.
    Sjf,
}

impl Order {
    /// All orders and their names.
    pub const NAMES: [(&str, Order); 7] = [
        ("fcfs", Order::Fcfs),
        ("lcfs", Order::Lcfs),
        ("ps", Order::Ps),
        ("las", Order::Las),
        ("srpt", Order::Srpt),
        ("psjf", Order::Psjf),
        ("sjf", Order::Sjf),
    ];

    /// The order of that name.
    pub fn named(name: &str) -> Option<Order> {
        Order::NAMES.iter().find(|(known, _)| *known == name).map(|&(_, order)| order)
    }
}

/// A level of any order, told apart by `match`.
#[derive(Debug)]
pub(crate) enum Station {
    Fcfs(InTurn<Arrival>),
    Lcfs(InTurn<LatestFirst>),
    Ps(Sharing),
    Las(LeastAttained),
    Srpt(InTurn<Remaining>),
    Psjf(InTurn<Smallest>),
    Sjf(InTurn<SmallestNext>),
}

impl Station {
    pub fn of(order: Order) -> Station {
        match order {
            Order::Fcfs => Station::Fcfs(InTurn::default()),
            Order::Lcfs => Station::Lcfs(InTurn::default()),
            Order::Ps => Station::Ps(Sharing::default()),
            Order::Las => Station::Las(LeastAttained::default()),
            Order::Srpt => Station::Srpt(InTurn::default()),
            Order::Psjf => Station::Psjf(InTurn::default()),
            Order::Sjf => Station::Sjf(InTurn::default()),
        }
    }
}

macro_rules! of_each {
    ($station:expr, $inner:ident => $call:expr) => {
        match $station {
            Station::Fcfs($inner) => $call,
            Station::Lcfs($inner) => $call,
            Station::Ps($inner) => $call,
            Station::Las($inner) => $call,
            Station::Srpt($inner) => $call,
            Station::Psjf($inner) => $call,
            Station::Sjf($inner) => $call,
        }
    };
}

impl Serve for Station {
    #[inline]
    fn insert(&mut self, part: Part) {
        of_each!(self, inner => inner.insert(part))
    }

    #[inline]
    fn due(&self) -> f64 {
        of_each!(self, inner => inner.due())
    }

    #[inline]
    fn serve(&mut self, work: f64) {
        of_each!(self, inner => inner.serve(work))
    }

    #[inline]
    fn step(&mut self) -> Option<u32> {
        of_each!(self, inner => inner.step())
    }
}
