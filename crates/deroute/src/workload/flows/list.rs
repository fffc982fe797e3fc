//! Flows one by one.
//!
//! # What it does
//! Each flow of the list begins at its time.
//!
//! # Source
//! Usual.
//!
//! # Parameters
//! Of each flow `source`, `destination`, `size`, `start` (default 0), `class` (default that of all).
//!
//! # Example
//! ```toml
//! [[workload.jobs.flows.list]]
//! source = 0
//! destination = 5
//! size = "1 MB"
//! start = "10 us"
//! ```

use super::spec::FlowEntry;
use super::{Flow, Site};
use crate::spec::SpecError;

pub(super) fn build(spec: &[FlowEntry], site: &Site<'_>) -> Result<Vec<Flow>, SpecError> {
    let mut flows = Vec::with_capacity(spec.len());
    for (index, flow) in spec.iter().enumerate() {
        let at = |key: &str| format!("list[{index}].{key}");
        let from = site.rank(&at("source"), flow.source)?;
        let to = site.rank(&at("destination"), flow.destination)?;
        if from == to {
            let message = format!("rank {from} sends to itself");
            let error = SpecError::new(format!("{}.list[{index}].destination", site.path), message);
            return Err(error.choices(["another rank"]));
        }
        flows.push(Flow {
            from,
            to,
            phits: site.size(&at("size"), &flow.size)?,
            start: site.time(&at("start"), &flow.start)?,
            class: flow.class.unwrap_or(site.class),
        });
    }
    Ok(flows)
}
