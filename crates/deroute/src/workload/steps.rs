//! The steps that there are. The catalogue.

use super::collective::{self, Call, Sizes};
use super::schedule::Schedule;
use super::step::{Op, Site, Step, duration};
use super::{bruck, dissemination, exchange, recursive_doubling, ring, spec, stencil, tree};
use crate::ids::Cycle;
use crate::spec::{Scale, SpecError};

/// Computes, alone.
struct Compute(Cycle);

impl Step for Compute {
    fn name(&self) -> &'static str {
        "compute"
    }

    fn op(&self, _rank: u32, index: u32) -> Option<Op> {
        (index == 0).then_some(Op::Compute { cycles: self.0 })
    }

    fn tags(&self) -> u32 {
        0
    }

    fn uniform(&self) -> bool {
        true
    }
}

/// Builds a step. The catalogue.
pub(super) fn build(
    spec: &spec::Step,
    path: &str,
    ranks: u32,
    scale: &Scale,
) -> Result<Schedule, SpecError> {
    let site = |key: &str| Site { ranks, path: format!("{path}.{key}"), scale };
    let sized = |key: &str, all: &spec::Collective| site(key).phits("size", &all.size);
    let rooted = |key: &str, tree: &spec::Rooted| -> Result<_, SpecError> {
        Ok((site(key).root(tree.root)?, site(key).phits("size", &tree.size)?))
    };
    let step: Box<dyn Step> = match spec {
        spec::Step::Collective(call) => return named(call, &site("collective")),
        spec::Step::Compute(time) => {
            Box::new(Compute(duration(scale, &format!("{path}.compute"), time)?))
        }
        spec::Step::Stencil(grid) => stencil::build(grid, &site("stencil"))?,
        spec::Step::Exchange(matrix) => exchange::build(matrix, &site("exchange"))?,
        spec::Step::Dissemination(all) => dissemination::build(ranks, sized("dissemination", all)?),
        spec::Step::RecursiveDoubling(all) => {
            recursive_doubling::build(ranks, sized("recursive_doubling", all)?)
        }
        spec::Step::Ring(all) => ring::build(ranks, sized("ring", all)?),
        spec::Step::Bruck(all) => bruck::build(ranks, sized("bruck", all)?, &site("bruck"))?,
        spec::Step::Broadcast(tree) => tree::broadcast(ranks, rooted("broadcast", tree)?),
        spec::Step::Reduce(tree) => tree::reduce(ranks, rooted("reduce", tree)?),
    };
    Ok(Schedule::of(step))
}

/// A collective by a named algorithm.
fn named(spec: &spec::CollectiveSpec, site: &Site<'_>) -> Result<Schedule, SpecError> {
    let phits = site.phits("size", &spec.size)?;
    let bytes = (f64::from(phits) * site.scale.phit_bytes()) as u64;
    let root = site.root(spec.root)?;
    let (kind, members, sizes) = (spec.kind, site.ranks, Sizes::Same(phits));
    if let Some(asked) = &spec.algorithm {
        collective::asked::check(kind, asked, &format!("{}.algorithm", site.path))?;
    }
    let call = Call { kind, members, root, sizes, bytes };
    collective::build(&call, spec.algorithm.as_ref())
        .map_err(|message| SpecError::new(format!("{}.algorithm", site.path), message))
}
