//! A shaper in place of the bottleneck link of a dumbbell: a tree of classes ([`qdisc::htb`]) in each direction, with a
//! queue for each circuit.
//!
//! The hosts of the receivers' side are in circuits. The tree says when packets leave; the wire behind it takes no time of
//! its own, so that circuits meet in the classes they share and nowhere else. A circuit sees its flows and hosts by
//! numbers of its own, and has random numbers of its own: what it does does not depend on which others are simulated.

use std::collections::HashMap;
use std::sync::Arc;

use qdisc::Limit;
use qdisc::htb::{Class, Htb, Leaf, Written};
use units::{BitRate, Stream, Time};

use crate::error::ConfigError;
use crate::flow::FlowSpec;

/// What a class has in one direction; as [`qdisc::htb::Class`].
#[derive(Clone, Debug)]
pub struct Share {
    /// What it has for sure.
    pub rate: BitRate,
    /// What it may reach by borrowing.
    pub ceil: BitRate,
    /// Bytes it may send at once by its rate; what `tc` chooses when absent.
    pub burst: Option<u64>,
    /// Bytes it may send at once by its ceiling.
    pub cburst: Option<u64>,
    /// Bytes of a turn; from the rate when absent.
    pub quantum: Option<u32>,
    /// The lower goes first.
    pub prio: u8,
}

/// Queue of a circuit in one direction.
#[derive(Clone, Debug)]
pub struct CircuitQueue {
    /// Discipline and its options.
    pub discipline: (String, Vec<(String, String)>),
    /// Buffer limit.
    pub limit: Limit,
}

/// A node of the tree, the same in both directions.
#[derive(Clone, Debug)]
pub struct TreeClass {
    /// Names its random numbers.
    pub name: String,
    /// The node it is in: one listed before it.
    pub parent: Option<u32>,
    /// Towards the receivers' side.
    pub down: Share,
    /// From it.
    pub up: Share,
    /// Queues of a circuit, down and up; none for a node with others in it.
    pub queues: Option<[CircuitQueue; 2]>,
}

/// A shaper and who is behind it.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Each behind the one it is in.
    pub classes: Vec<TreeClass>,
    /// Class of each host of the receivers' side, by its number; none for a host whose packets pass unshaped.
    pub circuit_of: Vec<Option<u32>>,
    /// Length of the intervals in which departures are counted; zero for none.
    pub bin: Time,
}

/// Most circuits and nodes of a run.
const MOST_CLASSES: usize = 1 << 24;

impl Tree {
    /// The tree of one direction.
    ///
    /// # Errors
    /// A tree that cannot be.
    pub(crate) fn htb<'a>(&'a self, up: bool, seed: u64) -> Result<Htb, ConfigError> {
        let way = ["forward", "reverse"][usize::from(up)];
        let mut known: HashMap<&'a Written, Arc<Written>> = HashMap::new();
        let class = |class: &'a TreeClass| -> Class {
            let TreeClass { name, parent, down, up: back, queues } = class;
            let share = if up { back } else { down };
            let leaf = queues.as_ref().map(|queues| {
                let CircuitQueue { discipline, limit } = &queues[usize::from(up)];
                let discipline = known.entry(discipline).or_insert_with(|| Arc::new(discipline.clone()));
                let rng = Stream::named(seed, &format!("qdisc.{way}.circuit.{name}"));
                Leaf { discipline: Arc::clone(discipline), limit: *limit, rng }
            });
            Class {
                parent: *parent,
                rate: share.rate,
                ceil: share.ceil,
                burst: share.burst,
                cburst: share.cburst,
                quantum: share.quantum,
                prio: share.prio,
                leaf,
            }
        };
        let classes: Vec<Class> = self.classes.iter().map(class).collect();
        Htb::of(&classes).map_err(|error| ConfigError::Graph(error.to_string()))
    }

    /// # Errors
    /// A host of a circuit there is not.
    pub(crate) fn check(&self, flows: &[FlowSpec]) -> Result<(), ConfigError> {
        if self.classes.len() > MOST_CLASSES {
            return Err(ConfigError::Value("tree", self.classes.len().to_string(), "of at most 16777216 classes"));
        }
        for class in self.circuit_of.iter().flatten() {
            if self.classes.get(*class as usize).is_none_or(|class| class.queues.is_none()) {
                return Err(ConfigError::Value("tree.circuit_of", class.to_string(), "a class with queues"));
            }
        }
        for (index, flow) in flows.iter().enumerate() {
            if far(flow) as usize >= self.circuit_of.len() {
                return Err(ConfigError::Flow(index, "a host of which the tree says nothing"));
            }
        }
        Ok(())
    }

    /// Class of the circuit that `flow` is of.
    pub(crate) fn circuit(&self, flow: &FlowSpec) -> Option<u32> {
        self.circuit_of[far(flow) as usize]
    }
}

/// Host of a flow on the receivers' side, and on the senders'.
fn far(flow: &FlowSpec) -> u32 {
    if flow.up { flow.src } else { flow.dst }
}

fn near(flow: &FlowSpec) -> u32 {
    if flow.up { flow.dst } else { flow.src }
}

/// What a flow is called in its circuit, and where it really is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Local {
    /// Class of the circuit.
    pub(crate) circuit: Option<u32>,
    /// Number of the flow among those of its circuit.
    pub(crate) flow: u32,
    /// Numbers of its hosts among those of its circuit, on the senders' side and on the other.
    pub(crate) hosts: [u32; 2],
    /// The numbers they have in the run.
    pub(crate) global: [u32; 2],
}

/// What each flow is called in its circuit, and the flows of each class in order.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) of: Vec<Local>,
    pub(crate) flows: Vec<Vec<u32>>,
}

impl Names {
    /// In the order of the list, which is the same whichever other circuits have flows in it.
    pub(crate) fn of(tree: &Tree, flows: &[FlowSpec]) -> Names {
        let mut names = Names { of: Vec::with_capacity(flows.len()), flows: vec![Vec::new(); tree.classes.len()] };
        let mut hosts: HashMap<(Option<u32>, bool, u32), u32> = HashMap::new();
        let mut counts: HashMap<(Option<u32>, bool), u32> = HashMap::new();
        for (index, flow) in flows.iter().enumerate() {
            let circuit = tree.circuit(flow);
            let own = [(false, near(flow)), (true, far(flow))].map(|(side, host)| {
                *hosts.entry((circuit, side, host)).or_insert_with(|| {
                    let count = counts.entry((circuit, side)).or_default();
                    *count += 1;
                    *count - 1
                })
            });
            let number = circuit.map_or(index as u32, |class| {
                let list = &mut names.flows[class as usize];
                list.push(index as u32);
                list.len() as u32 - 1
            });
            let [left, right] = own;
            names.of.push(Local {
                circuit,
                flow: number,
                hosts: [2 * left, 2 * right + 1],
                global: [2 * near(flow), 2 * far(flow) + 1],
            });
        }
        names
    }
}
