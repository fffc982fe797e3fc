//! Engine errors as Python exceptions.

use deroute::spec;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    deroute._engine,
    SpecError,
    PyValueError,
    "A spec is wrong: where, what, and what is allowed there."
);
pyo3::create_exception!(
    deroute._engine,
    SimulationError,
    PyRuntimeError,
    "A simulation stopped because of what it found: a deadlock or a broken invariant."
);

/// The exception for a spec error of the engine.
pub fn spec_error(py: Python<'_>, error: &spec::SpecError) -> PyErr {
    let exception = SpecError::new_err(error.to_string());
    let value = exception.value(py);
    let filled = value
        .setattr("path", &error.path)
        .and_then(|()| value.setattr("message", &error.message))
        .and_then(|()| value.setattr("choices", &error.choices));
    match filled {
        Ok(()) => exception,
        Err(other) => other,
    }
}

/// Reads a spec from JSON; a mistake is reported with its path and the allowed keys.
pub fn parse(json: &str) -> Result<spec::Spec, spec::SpecError> {
    let mut reader = serde_json::Deserializer::from_str(json);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        explain(&path, &error.into_inner().to_string())
    })
}

/// Splits serde's message into what is wrong and what was expected.
fn explain(path: &str, text: &str) -> spec::SpecError {
    // serde_json adds its own position, which means nothing for a spec that was a table.
    let text = text.rfind(" at line ").map_or(text, |end| &text[..end]);
    if text.starts_with("expected value") {
        // What serde_json says of an externally tagged enum without exactly one key.
        return spec::SpecError::new(path, "must name exactly one alternative");
    }
    let missing = text.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    if let Some(field) = missing {
        let full = if path == "." { field.to_owned() } else { format!("{path}.{field}") };
        return spec::SpecError::new(full, "is missing");
    }
    match text.split_once(", expected ") {
        Some((problem, expected)) if expected.contains('`') => {
            let choices = expected.split('`').skip(1).step_by(2);
            spec::SpecError::new(path, problem).choices(choices)
        }
        _ => spec::SpecError::new(path, text),
    }
}
