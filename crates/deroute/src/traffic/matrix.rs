//! Traffic matrix.
//!
//! # What it does
//! Each source sends to the destinations of its row, drawn for every packet by their weights. All
//! sources offer the same load, whatever their weights are in total. A host whose row is 0 sends nothing.
//!
//! # Source
//! Dally and Towles, Principles and Practices of Interconnection Networks, 3.2.
//!
//! # Parameters
//! `rows`: one for each source, with the weight of each destination, a whole number. Or in the lab a `file`
//! of them: CSV, or numbers with spaces between them, a row in each line.
//!
//! # Limits
//! As many rows and columns as hosts; 0 on the diagonal. The weights of a row are below 2^64 in total.
//!
//! # Example
//! ```toml
//! pattern = { matrix = { rows = [[0, 1, 1], [2, 0, 1], [0, 1, 0]] } }
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::weighted::{Entry, Weighted};
use super::{Pattern, Setting};
use crate::spec::SpecError;

/// A traffic matrix.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatrixSpec {
    /// The weights of all destinations, for each source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Vec<u64>>,
    /// A CSV or text file with a row in each line; `#` begins a comment, and weights may have decimals. Its
    /// path is relative to the experiment file. The lab reads it and hands `rows` to the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

pub(super) fn build(
    spec: &MatrixSpec,
    path: &str,
    setting: &Setting<'_>,
) -> Result<Box<dyn Pattern>, SpecError> {
    let path = format!("{path}.matrix");
    if let Some(file) = &spec.file {
        let message = format!("{file:?}: the engine reads no files");
        return Err(SpecError::new(format!("{path}.file"), message).choices(["rows"]));
    }
    let hosts = setting.topology.hosts();
    let all = |at: String, found: usize, what: &str| {
        if found == hosts as usize {
            return Ok(());
        }
        let message = format!("{found} {what} for {hosts} hosts");
        Err(SpecError::new(at, message).choices([hosts.to_string()]))
    };
    all(format!("{path}.rows"), spec.rows.len(), "rows")?;
    let mut entries = Vec::new();
    for (source, row) in (0..).zip(&spec.rows) {
        all(format!("{path}.rows[{source}]"), row.len(), "weights")?;
        let there = (0..).zip(row).filter(|(_, weight)| **weight > 0);
        entries.extend(there.map(|(destination, weight)| Entry {
            source,
            destination,
            weight: *weight,
            place: destination as usize,
        }));
    }
    let path_of = |entry: &Entry| format!("{path}.rows[{}][{}]", entry.source, entry.place);
    Weighted::build(entries, &format!("{path}.rows"), &path_of, setting)
}
