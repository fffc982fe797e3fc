//! The VCs that the hops of foreign code take.

use super::Paths;
use crate::ids::{PortId, VcId};
use crate::routing::{Fabric, Hop, Ladder, ValiantPhase, VcNeed};
use crate::spec::SpecError;
use crate::topology::Step;

/// Where a rung is: its link class, and its VC there.
type Place = (u8, VcId);

/// Which VC a hop takes.
pub(super) enum Rungs {
    /// That of a ladder.
    Ladder {
        ladder: Ladder,
        /// The link class of every kind of hop.
        kinds: Vec<u8>,
        /// The rung at every position; none at position 0.
        places: Vec<Option<Place>>,
    },
    /// The one with its number, of so many.
    Counted(u8),
}

impl Rungs {
    /// With the VCs that they need; `at` is where the routing stands in the spec.
    pub(super) fn new(
        paths: Paths,
        fabric: &Fabric,
        at: &str,
    ) -> Result<(Self, Vec<VcNeed>), SpecError> {
        let topology = &*fabric.topology;
        let ladder = match paths {
            Paths::Minimal => Ladder::minimal(topology, at)?,
            Paths::Valiant => Ladder::valiant(topology, at)?,
            Paths::Progressive => Ladder::progressive(topology, at)?,
            Paths::Counted(hops) => {
                let why = format!("a path has up to {hops} hops, and each takes the next VC");
                let need = |class: &&'static str| VcNeed { class, vcs: hops, why: why.clone() };
                return Ok((Self::Counted(hops), topology.classes().iter().map(need).collect()));
            }
        };
        let kinds: Vec<u8> = topology.hop_kinds().iter().map(|kind| kind.class).collect();
        let mut places = vec![None; 1 << 8];
        for from in 0..u8::MAX {
            for phase in ValiantPhase::ALL {
                for (kind, class) in kinds.iter().enumerate() {
                    let step = Step { port: PortId(0), kind: kind as u8 };
                    if let Some(hop) = ladder.find(step, phase, from) {
                        places[usize::from(hop.position)] = Some((*class, hop.vc));
                    }
                }
            }
        }
        let vcs = ladder.needs();
        Ok((Self::Ladder { ladder, kinds, places }, vcs))
    }

    /// The ladder, if it is one.
    pub(super) fn ladder(&self) -> Option<&Ladder> {
        match self {
            Self::Ladder { ladder, .. } => Some(ladder),
            Self::Counted(_) => None,
        }
    }

    /// The hop of a packet that stands at a position, in a phase.
    #[inline]
    pub(super) fn hop(&self, step: Step, phase: ValiantPhase, position: u8) -> Option<Hop> {
        match self {
            Self::Ladder { ladder, .. } => ladder.find(step, phase, position),
            Self::Counted(hops) => counted(step.port, position, *hops),
        }
    }

    /// The same over a link of a class: the lowest rung for it.
    pub(super) fn over(
        &self,
        (port, class): (PortId, u8),
        phase: ValiantPhase,
        position: u8,
    ) -> Option<Hop> {
        match self {
            Self::Ladder { ladder, kinds, .. } => {
                let alike = (0u8..).zip(kinds).filter(|(_, other)| **other == class);
                let hops =
                    alike.filter_map(|(kind, _)| ladder.find(Step { port, kind }, phase, position));
                hops.min_by_key(|hop| hop.position)
            }
            Self::Counted(hops) => counted(port, position, *hops),
        }
    }

    /// Is there such a rung over a link of a class?
    #[inline]
    pub(super) fn has(&self, hop: Hop, class: u8) -> bool {
        match self {
            Self::Ladder { places, .. } => {
                places[usize::from(hop.position)] == Some((class, hop.vc))
            }
            Self::Counted(hops) => hop.position <= *hops && hop.vc.0 + 1 == hop.position,
        }
    }
}

/// The hop after so many.
fn counted(port: PortId, before: u8, hops: u8) -> Option<Hop> {
    (before < hops).then_some(Hop { port, vc: VcId(before), position: before + 1 })
}
