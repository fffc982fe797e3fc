//! `deroute._engine`: the engine as a Python module. Translation only: types, errors, the GIL,
//! Ctrl-C. The lab (`python/deroute`) wraps every function here.

mod arrays;
mod errors;
mod foreign;
mod locate;
mod point;
mod schema;
mod topology;

use pyo3::prelude::*;

/// The Deroute engine.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", deroute::VERSION)?;
    module.add("SpecError", module.py().get_type::<errors::SpecError>())?;
    module.add("SimulationError", module.py().get_type::<errors::SimulationError>())?;
    module.add("CheckpointError", module.py().get_type::<errors::CheckpointError>())?;
    module.add("ROUTING_FUNCTIONS", foreign::NAMES)?;
    module.add_function(wrap_pyfunction!(point::check, module)?)?;
    module.add_function(wrap_pyfunction!(point::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(point::warm_up, module)?)?;
    module.add_function(wrap_pyfunction!(topology::topology, module)?)?;
    module.add_function(wrap_pyfunction!(topology::path, module)?)?;
    module.add_function(wrap_pyfunction!(topology::paths, module)?)?;
    module.add_function(wrap_pyfunction!(topology::destinations, module)?)?;
    module.add_function(wrap_pyfunction!(schema::schema, module)?)?;
    module.add_function(wrap_pyfunction!(locate::locate, module)?)?;
    Ok(())
}
