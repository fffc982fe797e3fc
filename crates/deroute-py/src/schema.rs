//! JSON Schemas of what goes into the engine and what comes out.

use deroute::{outcome::Outcome, spec::Spec};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use schemars::schema_for;

/// JSON Schema, as text, of a `spec` (one simulation point) or of an `outcome`.
#[pyfunction]
#[pyo3(signature = (kind="spec"))]
pub fn schema(kind: &str) -> PyResult<String> {
    let schema = match kind {
        "spec" => schema_for!(Spec),
        "outcome" => schema_for!(Outcome),
        other => {
            let message = format!("kind: {other:?} is not one of \"spec\", \"outcome\"");
            return Err(PyValueError::new_err(message));
        }
    };
    serde_json::to_string_pretty(&schema).map_err(|error| PyValueError::new_err(error.to_string()))
}
