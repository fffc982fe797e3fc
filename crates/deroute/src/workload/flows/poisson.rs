//! Flows that begin at random.
//!
//! # What it does
//! At each rank a flow begins in a cycle with the same probability, whatever was before: the limit of a Poisson
//! process that whole cycles allow. Its size is drawn, and its destination is each other rank with equal
//! probability. The probability follows from the load and the mean size.
//!
//! # Source
//! Usual since Alizadeh et al., pFabric, SIGCOMM 2013, 5.
//!
//! # Parameters
//! `load` in phits per rank and cycle; `within` which time flows begin; `sizes`; `seed` (default that of the run).
//!
//! # Limits
//! No two flows of a rank begin in one cycle. What is offered within a short time differs from the load, all the
//! more where few flows have most of the data.
//!
//! # Example
//! ```toml
//! [workload.jobs.flows.poisson]
//! load = 0.5
//! within = "1 ms"
//! sizes = "web_search"
//! ```

use super::sizes::Sizes;
use super::spec::PoissonSpec;
use super::{Flow, MOST, Site};
use crate::ids::Cycle;
use crate::rng::{Geometric, Owner, Stream};
use crate::spec::SpecError;

pub(super) fn build(spec: &PoissonSpec, site: &Site<'_>) -> Result<Vec<Flow>, SpecError> {
    site.others("poisson")?;
    let wrong = |key: &str, message: String, choices: &str| {
        let error = SpecError::new(format!("{}.poisson.{key}", site.path), message);
        Err(error.choices([choices]))
    };
    if !(spec.load > 0.0 && spec.load.is_finite()) {
        return wrong("load", format!("{} is no load", spec.load), "more than 0");
    }
    let sizes = Sizes::build(&spec.sizes, site)?;
    let end = site.time("poisson.within", &spec.within)?;
    let each = spec.load / sizes.mean();
    let Some(gaps) = Geometric::new(each).filter(|_| each <= 1.0) else {
        let message = format!("{each} flows would begin in a cycle at a rank");
        return wrong("load", message, "at most 1: a lower load, or larger sizes");
    };
    let mut flows = Vec::new();
    for from in 0..site.ranks {
        let mut rng = Stream::new(spec.seed.unwrap_or(site.seed), Owner::Flows(from));
        let mut start: Cycle = gaps.draw(&mut rng) - 1;
        while start < end {
            let other = rng.below(site.ranks - 1);
            let to = other + u32::from(other >= from);
            let phits = sizes.draw(&mut rng);
            flows.push(Flow { from, to, phits, start, class: site.class });
            if flows.len() > MOST {
                return wrong("within", "too many flows begin".into(), "a shorter time");
            }
            start = start.saturating_add(gaps.draw(&mut rng));
        }
    }
    if flows.is_empty() {
        return wrong("within", format!("no flow begins within {end} cycles"), "a longer time");
    }
    flows.sort_by_key(|flow| (flow.start, flow.from));
    Ok(flows)
}
