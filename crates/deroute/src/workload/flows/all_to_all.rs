//! All-to-all.
//!
//! # What it does
//! Each rank sends a flow to each other rank, all at once: the one to the next rank is cut first.
//!
//! # Source
//! Usual: the shuffle of map-reduce, the exchange of experts.
//!
//! # Parameters
//! `size` of each flow.
//!
//! # Example
//! ```toml
//! [workload.jobs.flows.all_to_all]
//! size = "100 KB"
//! ```

use super::spec::AllToAllSpec;
use super::{Flow, MOST, Site};
use crate::spec::SpecError;

pub(super) fn build(spec: &AllToAllSpec, site: &Site<'_>) -> Result<Vec<Flow>, SpecError> {
    site.others("all_to_all")?;
    let phits = site.size("all_to_all.size", &spec.size)?;
    let ranks = site.ranks;
    let all = u64::from(ranks) * u64::from(ranks - 1);
    if all > MOST as u64 {
        let message = format!("{all} flows of {ranks} ranks are too many");
        let error = SpecError::new(format!("{}.all_to_all", site.path), message);
        return Err(error.choices([format!("at most {MOST}")]));
    }
    let of = |from: u32| {
        let flow = move |by: u32| (from, (from + by) % ranks);
        (1..ranks).map(flow)
    };
    let flow = |(from, to)| Flow { from, to, phits, start: 0, class: site.class };
    Ok((0..ranks).flat_map(of).map(flow).collect())
}
