//! Incast.
//!
//! # What it does
//! So many ranks send a flow each to one rank, all at once; again in every round.
//!
//! # Source
//! Phanishayee et al., Measurement and analysis of TCP throughput collapse in cluster-based storage systems,
//! FAST 2008.
//!
//! # Parameters
//! `senders` (default all others; fewer are drawn with the seed of the run), `to` (default 0), `size`, `rounds`
//! (default 1), `every` (default 0).
//!
//! # Example
//! ```toml
//! [workload.jobs.flows.incast]
//! senders = 64
//! size = "1 MB"
//! ```

use super::spec::IncastSpec;
use super::{Flow, MOST, Site};
use crate::rng::{Owner, Stream};
use crate::spec::SpecError;

pub(super) fn build(spec: &IncastSpec, site: &Site<'_>) -> Result<Vec<Flow>, SpecError> {
    site.others("incast")?;
    let to = site.rank("incast.to", spec.to)?;
    let (phits, every) =
        (site.size("incast.size", &spec.size)?, site.time("incast.every", &spec.every)?);
    let others = site.ranks - 1;
    let senders = spec.senders.unwrap_or(others);
    if senders == 0 || senders > others {
        let message = format!("{senders} senders, where {others} ranks are not `to`");
        let error = SpecError::new(format!("{}.incast.senders", site.path), message);
        return Err(error.choices([format!("1 to {others}")]));
    }
    if spec.rounds == 0 {
        let error = SpecError::new(format!("{}.incast.rounds", site.path), "0 rounds send nothing");
        return Err(error.choices(["1 or more"]));
    }
    let all = u64::from(senders) * u64::from(spec.rounds);
    if all > MOST as u64 {
        let message = format!("{all} flows of {senders} senders are too many");
        let error = SpecError::new(format!("{}.incast.rounds", site.path), message);
        return Err(error.choices([format!("up to {}", MOST as u64 / u64::from(senders))]));
    }
    let mut from: Vec<u32> = (0..site.ranks).filter(|rank| *rank != to).collect();
    let mut rng = Stream::new(site.seed, Owner::Flows(to));
    for place in 0..senders.min(others - 1) {
        from.swap(place as usize, (place + rng.below(others - place)) as usize);
    }
    from.truncate(senders as usize);
    from.sort_unstable();
    let round = |round: u32| {
        let start = every.saturating_mul(round);
        from.iter().map(move |from| Flow { from: *from, to, phits, start, class: site.class })
    };
    Ok((0..spec.rounds).flat_map(round).collect())
}
