//! Pairs.
//!
//! # What it does
//! Each source sends to the destinations that a list gives it, drawn for every packet by their weights: a
//! permutation, or a traffic matrix most of whose entries are 0. All sources offer the same load,
//! whatever their weights are in total. A host that is no source sends nothing.
//!
//! # Source
//! Permutations and traffic matrices: Dally and Towles, Principles and Practices of Interconnection
//! Networks, 3.2.
//!
//! # Parameters
//! `list`: source, destination and, if it is not 1, weight, a whole number; 0 is no traffic. Or in the
//! lab a `file` of them: CSV, or numbers with spaces between them, a pair in each line.
//!
//! # Limits
//! No pair twice, and none of a host and itself. The weights of a source are below 2^64 in total.
//!
//! # Example
//! ```toml
//! pattern = { pairs = { list = [[0, 5], [5, 0, 3], [5, 2, 1]] } }
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::weighted::{Entry, Weighted};
use super::{Pattern, Setting};
use crate::spec::SpecError;

/// Sources and their destinations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PairsSpec {
    /// Source, destination and weight of each pair; the weight is 1 when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<Vec<u64>>,
    /// A CSV or text file with a pair in each line; `#` begins a comment, and weights may have decimals.
    /// Its path is relative to the experiment file. The lab reads it and hands `list` to the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

pub(super) fn build(
    spec: &PairsSpec,
    path: &str,
    setting: &Setting<'_>,
) -> Result<Box<dyn Pattern>, SpecError> {
    let path = format!("{path}.pairs");
    if let Some(file) = &spec.file {
        let message = format!("{file:?}: the engine reads no files");
        return Err(SpecError::new(format!("{path}.file"), message).choices(["list"]));
    }
    let hosts = setting.topology.hosts();
    let (mut entries, at) = (Vec::new(), |i: usize| format!("{path}.list[{i}]"));
    for (i, pair) in spec.list.iter().enumerate() {
        let (source, destination, weight) = match pair[..] {
            [source, destination] => (source, destination, 1),
            [source, destination, weight] => (source, destination, weight),
            _ => {
                let message = format!("{pair:?} is no pair");
                let choices = ["[source, destination]", "[source, destination, weight]"];
                return Err(SpecError::new(at(i), message).choices(choices));
            }
        };
        let host = |place: usize, number: u64| {
            u32::try_from(number).ok().filter(|host| *host < hosts).ok_or_else(|| {
                let message = format!("there is no host {number}");
                SpecError::new(format!("{}[{place}]", at(i)), message)
                    .choices([format!("0 to {}", hosts - 1)])
            })
        };
        let (source, destination) = (host(0, source)?, host(1, destination)?);
        entries.push(Entry { source, destination, weight, place: i });
    }
    Weighted::build(entries, &format!("{path}.list"), &|entry| at(entry.place), setting)
}
