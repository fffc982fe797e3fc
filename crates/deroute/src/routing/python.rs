//! Routing in Python.
//!
//! # What it does
//! What a file of Python says: a function `route(view, header)`, and hooks beside it. The lab compiles them
//! with numba, and the engine calls the machine code without Python.
//!
//! # Source
//! The user's own; `docs/routing-in-python.md` is the guide.
//!
//! # Parameters
//! `file` of the functions, whose text the lab puts in `source`, and its name in `name`; `parameters`:
//! values in place of those that the file gives to names of its own.
//!
//! # Deadlock freedom
//! The file names its ladder of VCs: that of minimal paths, of Valiant's, of paths that are diverted after
//! a minimal hop, or a VC for each of so many hops. Every answer is checked: its port must be wired and its
//! position above that of the packet, or the run ends with an error.
//!
//! # Limits
//! What numba compiles: numbers, and the functions of `view` and `header`. Needs the lab, and numba there;
//! the engine alone refuses it. A spec that has it is a program: whoever runs the spec runs the program.
//!
//! # Example
//! ```toml
//! [routing.python]
//! file = "par.py"
//! parameters = { THRESHOLD = 20 }
//! ```

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fabric, Plan};
use crate::spec::SpecError;

/// Parameters of a routing in Python.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PythonSpec {
    /// A file of Python, whose path is relative to the experiment file. The lab reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The text of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What messages call the file. Default `routing.py`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Values in place of those that the file gives to its own names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Value>,
}

/// A number, or true or false.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, true or false")]
pub enum Value {
    /// True or false.
    Truth(bool),
    /// A whole number.
    Whole(i64),
    /// Any number.
    Number(f64),
}

/// Refuses: the engine has no Python.
///
/// # Errors
/// Always.
pub fn plan(_spec: &PythonSpec, _fabric: &Fabric) -> Result<Plan, SpecError> {
    let message = "the engine alone runs no Python";
    let choices =
        ["the Python package `deroute`", "`Simulation::build_with` and `routing::foreign`"];
    Err(SpecError::new("routing.python", message).choices(choices))
}
