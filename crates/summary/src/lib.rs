//! The types of `summary.json`, which `mayfly compare`, `whatif` and `simulate` write and print with `--json`.
//!
//! * A struct is an object of the document, a field a key of it; the doc comment is the meaning of the key, and ends its
//!   first sentence with the unit.
//! * An `Option` is a key that may be null. With `skip_serializing_if` it is a key that may be absent, and is not null
//!   where it is there unless it says so ([`NULLABLE`]).
//! * [`schema`] is the JSON Schema of all. `docs/_ext/summary_types.py` makes of it the types of Python and TypeScript and
//!   the tables of the documentation.
//!
//! Figures that other crates measure have their struct there: those of users in [`metrics`], with its feature `schema`.

mod capture;
mod cell;
mod group;
mod link;
mod media;
mod models;
mod recommendation;
mod row;
mod shared;
mod stream;
mod top;
mod worst;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

pub use account::{Accounted, Amount, Unit};
pub use capture::{Capture, DirectionGuess, ErrorShares, Guess, Resampling};
pub use cell::{
    AccessPoint, Cell, CellClass, CellDirection, CellDirections, CellGoodput, CellJain, Mac, MeanOfRuns, QueueLosses,
    Station, TcpLoad,
};
pub use group::{ClassRow, Group, GroupTransfers};
pub use link::{Direction, LinkDirection, LinkTrace, LinkUse, Links, LinksUse};
pub use media::{CallGroup, FilmGroup, GameGroup, Media};
pub use models::{Model, ModelClass, ModelCurve, ModelQueue, ModelSizes, Thresholds};
pub use recommendation::{AsLoaded, Commands, Recommendation};
pub use row::{Criteria, Datagrams, DisciplineRow, Interface, Loss, Nonresponsive, PageGroup};
pub use shared::{ActiveFlows, FlowTable, MeanTimes, QueueDelay, ResponseTimes, Slowdown, Throughput};
pub use stream::{
    FluidError, Seam, Sketch, StreamAll, StreamRow, StreamSummary, StreamWorkload, WindowMeans, WindowSizes, Windows,
    WindowsSummary,
};
pub use top::{EngineRatios, OtherHosts, Summary, Transport, Workload};
pub use worst::{Course, Worst, WorstExchange};

/// Name of the word of a schema that says of a key which may be absent that it may be null, too.
pub const NULLABLE: &str = "x-nullable";

/// JSON Schema of every document: an object with their definitions by name, in the order of declaration.
///
/// It is that of what is written: a key is required where it is always there.
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.subschema_for::<Summary>();
    generator.subschema_for::<StreamSummary>();
    generator.subschema_for::<WindowsSummary>();
    generator.subschema_for::<Accounted>();
    let mut definitions = Map::new();
    for (name, definition) in generator.take_definitions(true) {
        definitions.insert(name, without_null(definition));
    }
    Value::Object(definitions)
}

/// A definition in which keys that may be absent are not null.
fn without_null(mut definition: Value) -> Value {
    let required = definition.get("required").cloned().unwrap_or_default();
    let is_required = |key: &str| required.as_array().is_some_and(|keys| keys.iter().any(|known| known == key));
    if let Some(properties) = definition.get_mut("properties").and_then(Value::as_object_mut) {
        for (key, property) in properties.iter_mut().filter(|(key, _)| !is_required(key)) {
            if property.get(NULLABLE).is_none() {
                *property = not_null(property.take(), key);
            }
        }
    }
    definition
}

fn not_null(mut property: Value, key: &str) -> Value {
    let null = |value: &Value| value == "null" || value.get("type").is_some_and(|kind| kind == "null");
    let found = property.as_object_mut().unwrap_or_else(|| unreachable!("the schema of {key} is an object"));
    if let Some(Value::Array(kinds)) = found.get_mut("type") {
        kinds.retain(|kind| !null(kind));
        if let [only] = &mut kinds[..] {
            found["type"] = only.take();
        }
    }
    if let Some(Value::Array(choices)) = found.get_mut("anyOf") {
        choices.retain(|choice| !null(choice));
        if let [Value::Object(only)] = &mut choices[..] {
            let only = std::mem::take(only);
            found.remove("anyOf");
            found.extend(only);
        }
    }
    property
}
