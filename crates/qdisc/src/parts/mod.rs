//! What several disciplines share: laws, orders, tables. A part never imports a discipline, nor does a discipline another.

pub(crate) mod classes;
pub(crate) mod cobalt;
pub(crate) mod codel;
pub(crate) mod decay;
pub(crate) mod early_discard;
pub(crate) mod flow_table;
pub(crate) mod hash;
pub(crate) mod least_attained;
pub(crate) mod lobby;
pub(crate) mod longest_queue;
pub(crate) mod order;
pub(crate) mod packet_lists;
pub(crate) mod pie;
pub(crate) mod red;
pub(crate) mod red_fixed;
pub(crate) mod regulator;
pub(crate) mod sampler;
pub(crate) mod set_associative;
pub(crate) mod standing_table;
pub(crate) mod tag_ring;
pub(crate) mod turn_taking;
pub(crate) mod volume;
