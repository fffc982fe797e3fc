//! Permutation of flows.
//!
//! # What it does
//! Each rank sends a flow to one other rank, and receives one; drawn uniformly among the permutations without a
//! fixed point. All begin at once.
//!
//! # Source
//! Dally and Towles, Principles and Practices of Interconnection Networks, 3.2.
//!
//! # Parameters
//! `size`; `seed` (default that of the run).
//!
//! # Example
//! ```toml
//! [workload.jobs.flows.permutation]
//! size = "10 MB"
//! ```

use super::spec::PermutationSpec;
use super::{Flow, Site};
use crate::rng::{Owner, Stream};
use crate::spec::SpecError;
use crate::traffic::derangement;

pub(super) fn build(spec: &PermutationSpec, site: &Site<'_>) -> Result<Vec<Flow>, SpecError> {
    site.others("permutation")?;
    let phits = site.size("permutation.size", &spec.size)?;
    let mut rng = Stream::new(spec.seed.unwrap_or(site.seed), Owner::Flows(0));
    let to = derangement(site.ranks, &mut rng);
    let flow = |(from, to)| Flow { from, to, phits, start: 0, class: site.class };
    Ok((0..).zip(to).map(flow).collect())
}
