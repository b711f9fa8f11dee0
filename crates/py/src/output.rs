//! What a run found, as a Python dictionary of tables.

use netsim::Output;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::table::Table;

pub(crate) fn as_dictionary(py: Python<'_>, mut output: Output) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    // Of a long list records and trains are given back as soon as their columns are there.
    all.set_item("flows", Table::of(&std::mem::take(&mut output.records))?)?;
    all.set_item("samples", Table::of(&output.samples)?)?;
    all.set_item("drops", Table::of(&output.drops)?)?;
    all.set_item("packets", Table::of(&output.packets)?)?;
    all.set_item("probes", Table::of(&output.probes)?)?;
    all.set_item("seconds", Table::of(&output.seconds)?)?;
    all.set_item("timeouts", Table::of(&output.timeouts)?)?;
    all.set_item("subflows", Table::of(&output.subflows)?)?;
    all.set_item("trains", Table::of(&std::mem::take(&mut output.trains))?)?;
    all.set_item("frames", Table::of(&output.frames)?)?;
    all.set_item("segments", Table::of(&output.segments)?)?;
    all.set_item("counters", Table::of(&[output.counters])?)?;
    all.set_item("classes", Table::of(&output.classes)?)?;
    all.set_item("interfaces", Table::of(&output.interfaces)?)?;
    all.set_item("tree_classes", Table::of(&output.tree_classes)?)?;
    all.set_item("departures", Table::of(&output.departures)?)?;
    all.set_item("cell", output.wlan.as_ref().map(|cell| Table::of(std::slice::from_ref(cell))).transpose()?)?;
    all.set_item("nodes", output.wlan.as_ref().map(|cell| Table::of(&cell.nodes)).transpose()?)?;
    Ok(all)
}
