//! What a run found, as a Python dictionary of columns.

use netsim::Output;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::columns::{floats, integers};
use crate::{scripts, trace, waits, wlan};

pub(crate) fn as_dictionary<'py>(py: Python<'py>, output: &Output) -> PyResult<Bound<'py, PyDict>> {
    let records = PyDict::new(py);
    let of = || output.records.iter();
    records.set_item("start_ns", integers(py, of().map(|r| r.start.0)))?;
    records.set_item("finish_ns", integers(py, of().map(|r| r.finish.0)))?;
    records.set_item("first_data_ns", integers(py, of().map(|r| r.first_data.0)))?;
    records.set_item("back_bytes", integers(py, of().map(|r| r.back_bytes)))?;
    records.set_item("delivered_bytes", integers(py, of().map(|r| r.delivered_bytes)))?;
    records.set_item("warm_up_bytes", integers(py, of().map(|r| r.warm_up_bytes)))?;
    records.set_item("packets_sent", integers(py, of().map(|r| r.packets_sent)))?;
    records.set_item("retransmits", integers(py, of().map(|r| r.retransmits)))?;
    records.set_item("timeouts", integers(py, of().map(|r| u64::from(r.timeouts))))?;
    records.set_item("drops", integers(py, of().map(|r| r.drops)))?;
    records.set_item("lost", integers(py, of().map(|r| r.lost)))?;
    records.set_item("marks", integers(py, of().map(|r| r.marks)))?;
    records.set_item("gave_up", integers(py, of().map(|r| u64::from(r.gave_up))))?;
    records.set_item("high_packets", integers(py, of().map(|r| r.high_packets)))?;
    records.set_item("sorted_packets", integers(py, of().map(|r| r.sorted_packets)))?;
    records.set_item("fragments", integers(py, of().map(|r| r.fragments)))?;
    records.set_item("rtt_mean_s", floats(py, of().map(|r| r.rtt_mean_s)))?;
    records.set_item("cwnd_mean_packets", floats(py, of().map(|r| r.cwnd_mean_packets)))?;
    records.set_item("first_sent_ns", integers(py, of().map(|r| r.first_sent.0)))?;
    records.set_item("last_data_ns", integers(py, of().map(|r| r.last_data.0)))?;
    records.set_item("presence_ns", integers(py, of().map(|r| r.presence.0)))?;

    let from = &output.samples;
    let samples = PyDict::new(py);
    let column = |values: &[u64]| integers(py, values.iter().copied());
    samples.set_item("time_ns", integers(py, from.time.iter().map(|time| time.0)))?;
    samples.set_item("backlog_packets", column(&from.backlog_packets))?;
    samples.set_item("backlog_bytes", column(&from.backlog_bytes))?;
    samples.set_item("high_backlog_packets", column(&from.high_backlog_packets))?;
    samples.set_item("flow_table", column(&from.flow_table))?;
    samples.set_item("arrivals", column(&from.arrivals))?;
    samples.set_item("drops", column(&from.drops))?;
    samples.set_item("queue_mean_packets", floats(py, from.queue_mean_packets.iter().copied()))?;
    samples.set_item(
        "nonresponsive_estimate",
        floats(py, from.nonresponsive_estimate.iter().map(|share| share.unwrap_or(f64::NAN))),
    )?;
    samples.set_item("nonresponsive_doubt", PyList::new(py, &from.nonresponsive_doubt)?)?;
    samples.set_item("nonresponsive_arrivals", column(&from.nonresponsive_arrivals))?;
    samples.set_item("nonresponsive_drops", column(&from.nonresponsive_drops))?;
    samples.set_item("progress", PyList::new(py, from.progress.iter().map(|series| column(series)))?)?;

    let drops = PyDict::new(py);
    let of = || output.drops.iter();
    drops.set_item("time_ns", integers(py, of().map(|d| d.time.0)))?;
    drops.set_item("flow", integers(py, of().map(|d| u64::from(d.flow))))?;
    drops.set_item("reverse", integers(py, of().map(|d| u64::from(d.reverse))))?;
    drops.set_item("len", integers(py, of().map(|d| u64::from(d.len))))?;
    let reasons: Vec<String> = of().map(|d| format!("{:?}", d.reason).to_lowercase()).collect();
    drops.set_item("reason", reasons)?;

    let all = PyDict::new(py);
    all.set_item("packets", trace::packets(py, output)?)?;
    all.set_item("timeouts", trace::timeouts(py, output)?)?;
    all.set_item("subflows", trace::subflows(py, output)?)?;
    all.set_item("records", records)?;
    all.set_item("trains", scripts::trains(py, output)?)?;
    all.set_item("samples", samples)?;
    all.set_item("drops", drops)?;
    all.set_item("counters", counters(py, output)?)?;
    all.set_item("interfaces", interfaces(py, output)?)?;
    all.set_item("wlan", wlan::counts(py, output)?)?;
    all.set_item("classes", classes(py, output)?)?;
    all.set_item("flow_waits", waits::columns(py, output.records.iter().map(|record| record.waits))?)?;
    all.set_item("class_waits", waits::columns(py, output.classes.iter().map(|count| count.waits))?)?;
    all.set_item("all_waits", waits::columns(py, std::iter::once(output.counters.waits))?)?;
    Ok(all)
}

/// Counts at the forward queue, a column of one value per class.
fn classes<'py>(py: Python<'py>, output: &Output) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let of = || output.classes.iter();
    columns.set_item("arrivals", integers(py, of().map(|count| count.arrivals)))?;
    columns.set_item("drops", integers(py, of().map(|count| count.drops)))?;
    columns.set_item("marks", integers(py, of().map(|count| count.marks)))?;
    columns.set_item("sent", integers(py, of().map(|count| count.sent)))?;
    columns.set_item("sent_bytes", integers(py, of().map(|count| count.sent_bytes)))?;
    Ok(columns)
}

fn counters<'py>(py: Python<'py>, output: &Output) -> PyResult<Bound<'py, PyDict>> {
    let from = &output.counters;
    let counters = PyDict::new(py);
    for (name, value) in [
        ("begin_ns", from.begin.0),
        ("end_ns", from.end.0),
        ("arrivals", from.arrivals),
        ("drops", from.drops),
        ("sent", from.sent),
        ("sent_bytes", from.sent_bytes),
        ("lost", from.lost),
        ("reverse_drops", from.reverse_drops),
        ("reverse_sent", from.reverse_sent),
        ("reverse_sent_bytes", from.reverse_sent_bytes),
        ("reverse_lost", from.reverse_lost),
        ("flow_table_max", from.flow_table_max),
        ("flow_table_bytes", from.flow_table_bytes),
        ("marks", from.marks),
        ("beyond_trace", output.beyond_trace),
        ("beyond_subflows", output.beyond_subflows),
        ("packet_hops", from.packet_hops),
        ("events", from.events),
    ] {
        counters.set_item(name, value)?;
    }
    counters.set_item("queue_mean_packets", from.queue_mean_packets)?;
    counters.set_item("reverse_queue_mean_packets", from.reverse_queue_mean_packets)?;
    counters.set_item("flow_table_mean", from.flow_table_mean)?;
    Ok(counters)
}

/// Totals of each interface, link by link.
fn interfaces<'py>(py: Python<'py>, output: &Output) -> PyResult<Bound<'py, PyList>> {
    let rows = PyList::empty(py);
    for from in &output.interfaces {
        let row = PyDict::new(py);
        for (name, value) in [
            ("arrivals", from.arrivals),
            ("drops", from.drops),
            ("marks", from.marks),
            ("lost", from.lost),
            ("sent", from.sent),
            ("sent_bytes", from.sent_bytes),
        ] {
            row.set_item(name, value)?;
        }
        row.set_item("queue_mean_packets", from.queue_mean_packets)?;
        row.set_item("nonresponsive_estimate", from.nonresponsive_estimate)?;
        rows.append(row)?;
    }
    Ok(rows)
}
