//! Engine errors as Python exceptions.

use deroute::spec;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::Value;
use serde_path_to_error::Segment;

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

pyo3::create_exception!(
    deroute._engine,
    CheckpointError,
    PyRuntimeError,
    "A simulation cannot go on from a checkpoint: it is damaged, or that of another one."
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

/// Reads a spec from JSON; a mistake is reported with its path, its value and what is allowed.
pub fn parse(json: &str) -> Result<spec::Spec, spec::SpecError> {
    let mut reader = serde_json::Deserializer::from_str(json);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let (path, found) = value_at(json, error.path());
        explain(&path, &error.into_inner().to_string(), found.as_ref())
    })
}

/// A path, and what stands there. Where a table on its way names several alternatives, that is the place: what follows is
/// the first of them.
fn value_at(json: &str, path: &serde_path_to_error::Path) -> (String, Option<Value>) {
    let mut value: Value = serde_json::from_str(json).unwrap_or_default();
    let mut way: Vec<String> = Vec::new();
    for segment in path {
        let several = value.as_object().is_some_and(|table| table.len() > 1);
        if several && matches!(segment, Segment::Enum { .. }) {
            return (way.concat().trim_start_matches('.').to_owned(), Some(value));
        }
        let next = match segment {
            Segment::Seq { index } => value.get_mut(index),
            Segment::Map { key } | Segment::Enum { variant: key } => value.get_mut(key),
            Segment::Unknown => None,
        };
        let Some(next) = next else { return (path.to_string(), None) };
        value = next.take();
        way.push(match segment {
            Segment::Seq { index } => format!("[{index}]"),
            other => format!(".{other}"),
        });
    }
    (path.to_string(), Some(value))
}

/// A value in a few words.
fn briefly(value: &Value) -> String {
    match value {
        Value::Object(_) => "a table".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        scalar => scalar.to_string(),
    }
}

/// Turns serde's message into what is wrong, and what was expected.
fn explain(path: &str, text: &str, found: Option<&Value>) -> spec::SpecError {
    // serde_json adds its own position, which means nothing for a spec that was a table.
    let text = text.rfind(" at line ").map_or(text, |end| &text[..end]);
    if text.starts_with("expected value") {
        // What serde_json says of an externally tagged enum without exactly one key.
        return spec::SpecError::new(path, one_alternative(found));
    }
    if let Some(error) = misspelt_alternative(path, text) {
        return error;
    }
    let missing = text.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    if let Some(field) = missing {
        let full = if path == "." { field.to_owned() } else { format!("{path}.{field}") };
        return spec::SpecError::new(full, "is missing");
    }
    let entries = text
        .strip_prefix("invalid length ")
        .and_then(|rest| rest.split_once(", expected a tuple of size "));
    if let Some((present, expected)) = entries {
        return spec::SpecError::new(path, format!("has {present} entries, not {expected}"));
    }
    if let (Some(expected), Some(found)) = (expected_type(text), found) {
        let (found, expected) = (briefly(found), in_words(expected));
        return spec::SpecError::new(path, format!("{found} is not {expected}"));
    }
    match text.split_once(", expected ") {
        Some((problem, expected)) if expected.contains('`') => {
            let choices = expected.split('`').skip(1).step_by(2);
            spec::SpecError::new(path, problem).choices(choices)
        }
        _ => spec::SpecError::new(path, text),
    }
}

/// What is wrong where one alternative of several is to be named.
fn one_alternative(found: Option<&Value>) -> String {
    let rule = "must name exactly one alternative";
    match found {
        Some(Value::Object(table)) if table.is_empty() => format!("{rule}, and names none"),
        Some(Value::Object(table)) => {
            let names: Vec<_> = table.keys().map(String::as_str).collect();
            format!("{rule}, and names {}", names.join(" and "))
        }
        Some(other) => format!("{rule}: {} is none", briefly(other)),
        None => rule.to_owned(),
    }
}

/// An alternative with parameters that is written as a text, or one without that is written as a table.
fn misspelt_alternative(path: &str, text: &str) -> Option<spec::SpecError> {
    let (place, name) = path.rsplit_once('.')?;
    let told = if text.starts_with("invalid type: unit variant, expected ") {
        format!("\"{name}\" is written as a table: {{ {name} = {{}} }}")
    } else if text.starts_with("invalid type: map, expected unit") {
        format!("a table is not how {name} is written: \"{name}\"")
    } else {
        return None;
    };
    Some(spec::SpecError::new(place, told))
}

/// What serde expected, where a value has the wrong type or is out of its range.
fn expected_type(text: &str) -> Option<&str> {
    if text.starts_with("invalid type: ") || text.starts_with("invalid value: ") {
        return text.rsplit_once(", expected ").map(|(_, expected)| expected);
    }
    text.strip_prefix("expected ")
}

/// A type of serde in words that users of TOML know.
fn in_words(expected: &str) -> &str {
    match expected {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number from 0 on",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "string or map" => "a text",
        "a sequence" => "a list",
        "a map" => "a table",
        record if record.starts_with("struct ") => "a table",
        other => other,
    }
}
