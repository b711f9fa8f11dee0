//! The Python module `mayfly._native`: conversion and error mapping, no algorithm.

mod applications;
mod capture;
mod disciplines;
mod endpoint;
mod estimate;
mod explore;
mod jobs;
mod laws;
mod listing;
mod metrics;
mod output;
mod profiled;
mod replay;
mod rows;
mod runs;
mod schema;
mod shards;
mod simulate;
mod streamed;
mod table;
mod wlan;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(schema::table_schema, module)?)?;
    module.add_class::<simulate::Control>()?;
    module.add_class::<runs::PlainRun>()?;
    module.add_function(wrap_pyfunction!(runs::run_plain, module)?)?;
    module.add_function(wrap_pyfunction!(runs::write_plain, module)?)?;
    module.add_class::<endpoint::TcpEndpoint>()?;
    module.add_function(wrap_pyfunction!(simulate::run, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::alone, module)?)?;
    module.add_function(wrap_pyfunction!(streamed::run_streamed, module)?)?;
    module.add_function(wrap_pyfunction!(streamed::run_fluid, module)?)?;
    module.add_class::<streamed::ParquetBatches>()?;
    module.add_function(wrap_pyfunction!(simulate::transport_schema, module)?)?;
    module.add_function(wrap_pyfunction!(applications::check_application, module)?)?;
    module.add_function(wrap_pyfunction!(applications::gcc_estimates, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::users_figures, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::queues_explained, module)?)?;
    module.add_function(wrap_pyfunction!(disciplines::disciplines, module)?)?;
    module.add_function(wrap_pyfunction!(disciplines::check_discipline, module)?)?;
    module.add_function(wrap_pyfunction!(wlan::wlan_airtimes, module)?)?;
    module.add_function(wrap_pyfunction!(wlan::wlan_standards, module)?)?;
    module.add_function(wrap_pyfunction!(capture::read_capture, module)?)?;
    module.add_class::<listing::CaptureListing>()?;
    module.add_function(wrap_pyfunction!(listing::list_capture, module)?)?;
    module.add_function(wrap_pyfunction!(listing::list_shards, module)?)?;
    module.add_class::<profiled::CaptureProfile>()?;
    module.add_class::<profiled::LinkTraffic>()?;
    module.add_function(wrap_pyfunction!(profiled::profile_capture, module)?)?;
    module.add_function(wrap_pyfunction!(profiled::write_columns, module)?)?;
    module.add_function(wrap_pyfunction!(shards::split_capture, module)?)?;
    module.add_function(wrap_pyfunction!(shards::read_shard, module)?)?;
    module.add_function(wrap_pyfunction!(replay::replay_flows, module)?)?;
    module.add_function(wrap_pyfunction!(estimate::estimate, module)?)?;
    module.add_function(wrap_pyfunction!(estimate::estimator_lists, module)?)?;
    module.add_class::<explore::Explorer>()?;
    module.add_function(wrap_pyfunction!(laws::fit_law, module)?)?;
    module.add_function(wrap_pyfunction!(laws::law_distances, module)?)?;
    module.add_function(wrap_pyfunction!(laws::bootstrap_law, module)?)?;
    module.add_function(wrap_pyfunction!(laws::normal_quantiles, module)?)?;
    module.add_function(wrap_pyfunction!(laws::normal_probabilities, module)?)?;
    module.add_class::<jobs::JobServer>()?;
    module.add_class::<jobs::LaggedServer>()?;
    module.add_function(wrap_pyfunction!(jobs::job_orders, module)?)?;
    Ok(())
}
