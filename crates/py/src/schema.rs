//! The columns of every table.

use pyo3::prelude::*;

use crate::table::as_json;

/// Names, types, units and meanings of the columns of every table, as JSON.
///
/// # Errors
/// `RuntimeError` when they cannot be written as JSON.
#[pyfunction]
pub fn table_schema() -> PyResult<String> {
    as_json(&[
        tables::Table::of::<netsim::FlowRecord>(),
        tables::Table::of::<netsim::Sample>(),
        tables::Table::of::<netsim::Drop>(),
        tables::Table::of::<netsim::PacketTrace>(),
        tables::Table::of::<netsim::Timeout>(),
        tables::Table::of::<netsim::Subflow>(),
        tables::Table::of::<netsim::ProbePacket>(),
        tables::Table::of::<netsim::LinkSecond>(),
        tables::Table::of::<netsim::TrainRecord>(),
        tables::Table::of::<netsim::FrameRecord>(),
        tables::Table::of::<netsim::SegmentRecord>(),
        tables::Table::of::<netsim::Counters>(),
        tables::Table::of::<netsim::ClassCount>(),
        tables::Table::of::<netsim::InterfaceCounts>(),
        tables::Table::of::<netsim::TreeClassCounts>(),
        tables::Table::of::<netsim::Departures>(),
        tables::Table::of::<netsim::wlan::CellCounts>(),
        tables::Table::of::<netsim::wlan::NodeCounts>(),
        tables::Table::of::<capture::Connection>(),
        tables::Table::of::<capture::Train>(),
        tables::Table::of::<capture::Packet>(),
        tables::Table::of::<capture::Volume>(),
        tables::Table::of::<crate::estimate::Row>(),
        tables::Table::of::<jobs::Finished>(),
        tables::Table::of::<jobs::Passage>(),
        tables::Table::of::<crate::simulate::Arrival>(),
        tables::Table::of::<crate::simulate::Alone>(),
    ])
}

/// JSON Schema of `summary.json` and of the outcomes of `mayfly explore`: an object of definitions by name, JSON.
///
/// # Errors
/// `RuntimeError` when it cannot be written as JSON.
#[pyfunction]
pub fn summary_schema() -> PyResult<String> {
    as_json(&[::summary::schema(), ::explore::schema()])
}
