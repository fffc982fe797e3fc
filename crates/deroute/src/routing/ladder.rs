//! Ladders of VCs: which VC a hop takes follows from how far along its path the packet is.
//!
//! No set of packets can wait for each other for ever if all channels can be put in an order in which
//! every path goes up (Günther 1981; Dally and Seitz 1987). A ladder is such an order: a row of rungs,
//! each of which is the next VC of its link class. A hop takes a rung above the one that its packet stands
//! on, and the number of that rung is its *position*. A topology says of which kind the next hop is
//! ([`Topology::next_hop`]), a routing names its ladder, and which rungs are for minimal paths, for phase A
//! and for phase B. In a Dragonfly, with a local, a global and a local hop on its longest shortest path:
//!
//! | VCs (local + global) | rungs | minimal paths | phase A | phase B |
//! |---|---|---|---|---|
//! | 2+1, minimal | `l g l` | all | | |
//! | 4+2, Valiant | `l g l - l g l` | first three | first three | last three |
//! | 2+2, Valiant with `-g-` | `g - l g l` | last three | the first | last three |
//! | 5+2, diverted after a minimal hop (PAR) | `l - l g l - l g l` | first four | first four | last three |
//!
//! That every path finds its rungs is proved when a ladder is made.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::ValiantPhase;
use crate::ids::{PortId, VcId};
use crate::spec::{SpecError, VcUse};
use crate::topology::{HopKind, Step, Topology};

/// A hop that a packet takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Output port.
    pub port: PortId,
    /// Virtual channel at the other end of the port.
    pub vc: VcId,
    /// Position on the path, counted from 1; 0 is the injection queue. It grows with every hop.
    pub position: u8,
}

/// Virtual channels that a set of paths needs in a link class, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VcNeed {
    /// Link class name.
    pub class: &'static str,
    /// Virtual channels.
    pub vcs: u8,
    /// Why that many.
    pub why: String,
}

/// The rungs of a ladder that a phase may take, and which of those above it a hop takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    rungs: Range<u8>,
    by_kind: bool,
}

impl Section {
    /// Of the rungs in a range, counted from 0, a hop takes the next one of its link class.
    pub fn by_class(rungs: Range<u8>) -> Self {
        Self { rungs, by_kind: false }
    }

    /// Of the rungs in a range, counted from 0, a hop takes the next one of its kind, whatever other
    /// ones of its link class it passes over.
    pub fn by_kind(rungs: Range<u8>) -> Self {
        Self { rungs, by_kind: true }
    }
}

/// A way that packets may go: the phases that they pass, each with the kinds of its hops in order. A
/// path may leave out any hop.
pub type Walk<'a> = &'a [(ValiantPhase, &'a [u8])];

/// A rung: a VC, and the position on it. Position 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Rung {
    vc: VcId,
    position: u8,
}

/// Kinds of hops that a topology may have.
const KINDS: usize = 16;

/// Phases, rounded up to a power of two.
const PHASES: usize = 4;

/// Every position, phase and kind that a byte can hold have a cell, so that nothing has to be checked.
const CELLS: usize = (1 << 8) * PHASES * KINDS + (1 << 8);

/// Which VC a hop takes. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Ladder {
    /// The rung that the next hop takes: `[position][phase][kind]`.
    table: Arc<[Rung; CELLS]>,
    needs: Arc<[VcNeed]>,
}

impl Ladder {
    /// A ladder of rungs for these kinds of hops ([`Topology::hop_kinds`]), with sections for minimal
    /// paths, phase A and phase B. Packets may go any of the `walks`. `at` is where the routing stands in
    /// the spec.
    ///
    /// # Errors
    /// A hop of a walk without a rung, and more than 255 rungs.
    pub fn new(
        topology: &dyn Topology,
        at: &str,
        rungs: &[u8],
        sections: [Section; 3],
        walks: &[Walk<'_>],
    ) -> Result<Self, SpecError> {
        if rungs.len() > usize::from(u8::MAX) {
            let message = format!("a ladder of {} VCs is too long", rungs.len());
            return Err(SpecError::new(at, message).choices(["at most 255 hops"]));
        }
        let sketch = Sketch::new(topology, rungs, &sections);
        let mut table = Arc::new([Rung::default(); CELLS]);
        let cells = Arc::make_mut(&mut table);
        for position in 0..=rungs.len() {
            for phase in ValiantPhase::ALL {
                for kind in 0..sketch.kinds.len() {
                    let next = sketch.next(position, &sections[phase as usize], kind);
                    cells[cell(position as u8, phase, kind as u8)] = next.unwrap_or_default();
                }
            }
        }
        let ladder = Self { table, needs: sketch.needs().into() };
        walks.iter().try_for_each(|walk| ladder.prove(&sketch, walk, at))?;
        Ok(ladder)
    }

    /// For minimal paths: a rung for each hop.
    ///
    /// # Errors
    /// As [`Ladder::new`].
    pub fn minimal(topology: &dyn Topology, at: &str) -> Result<Self, SpecError> {
        let hops = hops(topology);
        let all = || Section::by_class(0..hops.len() as u8);
        let walk: Walk<'_> = &[(ValiantPhase::Minimal, &hops)];
        Self::new(topology, at, &hops, [all(), all(), all()], &[walk])
    }

    /// For minimal paths, and for paths through any intermediate router: a rung for each hop of phase A
    /// or of a minimal path, and one for each hop of phase B.
    ///
    /// # Errors
    /// As [`Ladder::new`].
    pub fn valiant(topology: &dyn Topology, at: &str) -> Result<Self, SpecError> {
        Self::detour(topology, at, u16::MAX, VcUse::PathPosition)
    }

    /// For paths that may be diverted at their source or after a minimal hop of the first kind (PAR): a rung
    /// for that hop, and those of [`Ladder::valiant`] above it.
    ///
    /// # Errors
    /// As [`Ladder::new`].
    pub fn progressive(topology: &dyn Topology, at: &str) -> Result<Self, SpecError> {
        let hops = hops(topology);
        let rungs = [&hops[..hops.len().min(1)], &hops, &hops].concat();
        let (middle, end) = (rungs.len() as u8 - hops.len() as u8, rungs.len() as u8);
        let lower = |first| Section::by_class(first..middle);
        let sections = [lower(0), lower(1), Section::by_kind(middle..end)];
        let (minimal, a, b) = (ValiantPhase::Minimal, ValiantPhase::A, ValiantPhase::B);
        let walks: [Walk<'_>; 2] =
            [&[(minimal, &hops)], &[(minimal, &rungs[..1]), (a, &hops), (b, &hops)]];
        Self::new(topology, at, &rungs, sections, &walks)
    }

    /// As [`Ladder::valiant`], if phase A takes but hops of some kinds (one bit each), with a choice of the rungs.
    pub(super) fn detour(
        topology: &dyn Topology,
        at: &str,
        first: u16,
        vc_use: VcUse,
    ) -> Result<Self, SpecError> {
        let (kinds, second) = (topology.hop_kinds(), hops(topology));
        let first: Vec<u8> = second.iter().copied().filter(|kind| first >> kind & 1 == 1).collect();
        let before = if vc_use == VcUse::Compact { &first } else { &second };
        let rungs = [&before[..], &second].concat();
        let (middle, end) = (before.len() as u8, rungs.len() as u8);
        // Where hops are only counted, there is nothing but their number.
        let counted = kinds.iter().any(|kind| kind.most > 1);
        let repeats =
            |(n, kind): (usize, &HopKind)| kinds[..n].iter().any(|other| other.class == kind.class);
        let feasible = vc_use == VcUse::NextFeasible && kinds.iter().enumerate().any(repeats);
        let (lower, upper) = (Section::by_class(0..middle), Section::by_kind(middle..end));
        let sections = match vc_use {
            _ if counted || feasible => [0; 3].map(|begin| Section::by_class(begin..end)),
            VcUse::Compact => [upper.clone(), lower, upper],
            _ => [lower.clone(), lower, upper],
        };
        let minimal: Walk<'_> = &[(ValiantPhase::Minimal, &second)];
        let through: Walk<'_> = &[(ValiantPhase::A, &first), (ValiantPhase::B, &second)];
        Self::new(topology, at, &rungs, sections, &[minimal, through])
    }

    /// The virtual channels that it needs, by link class.
    pub fn needs(&self) -> Vec<VcNeed> {
        self.needs.to_vec()
    }

    /// The hop of a packet that stands at a position, in a phase.
    #[inline]
    pub fn hop(&self, step: Step, phase: ValiantPhase, position: u8) -> Hop {
        let Rung { vc, position } = self.table[cell(position, phase, step.kind)];
        debug_assert!(position > 0, "{step:?} has no rung in {phase:?}");
        Hop { port: step.port, vc, position }
    }

    /// The same, if there is a rung.
    pub(super) fn find(&self, step: Step, phase: ValiantPhase, position: u8) -> Option<Hop> {
        let Rung { vc, position } = self.table[cell(position, phase, step.kind)];
        (position > 0).then_some(Hop { port: step.port, vc, position })
    }

    /// Whatever hops of a walk a path leaves out, the others have rungs.
    fn prove(&self, sketch: &Sketch<'_>, walk: Walk<'_>, at: &str) -> Result<(), SpecError> {
        let mut reached = BTreeSet::from([0]);
        for &(phase, hops) in walk {
            for &kind in hops {
                for position in reached.clone() {
                    let Rung { position: next, .. } = self.table[cell(position, phase, kind)];
                    if next == 0 {
                        return Err(sketch.too_short(at, walk, phase, (kind, position)));
                    }
                    reached.insert(next);
                }
            }
        }
        Ok(())
    }
}

/// Where the table has the next rung.
#[inline]
fn cell(position: u8, phase: ValiantPhase, kind: u8) -> usize {
    debug_assert!(usize::from(kind) < KINDS);
    (usize::from(position) * PHASES + phase as usize) * KINDS + usize::from(kind)
}

/// The kinds of the hops of the longest shortest path, in order.
fn hops(topology: &dyn Topology) -> Vec<u8> {
    let kinds = topology.hop_kinds();
    let each = |(n, kind): (usize, &HopKind)| std::iter::repeat_n(n as u8, kind.most.into());
    kinds.iter().enumerate().flat_map(each).collect()
}

/// A ladder while it is made.
struct Sketch<'a> {
    rungs: &'a [u8],
    kinds: Vec<HopKind>,
    classes: &'static [&'static str],
    /// VCs among which hops are numbered, if there is a limit.
    limit: Option<u8>,
    /// The rungs in words: `l1 g1 l2 - l3 g2 l4`.
    outline: String,
}

impl<'a> Sketch<'a> {
    fn new(topology: &dyn Topology, rungs: &'a [u8], sections: &[Section]) -> Self {
        let (kinds, classes) = (topology.hop_kinds(), topology.classes());
        assert!(kinds.len() <= KINDS, "a topology has at most {KINDS} kinds of hops");
        let limit = topology.hop_vcs();
        let mut sketch = Self { rungs, kinds, classes, limit, outline: String::new() };
        let begins = |rung| sections.iter().any(|section| usize::from(section.rungs.start) == rung);
        sketch.outline = sketch.describe(begins);
        sketch
    }

    fn class(&self, kind: u8) -> u8 {
        self.kinds[usize::from(kind)].class
    }

    /// Rungs of the same class before one.
    fn before(&self, rung: usize) -> usize {
        let class = self.class(self.rungs[rung]);
        self.rungs[..rung].iter().filter(|kind| self.class(**kind) == class).count()
    }

    /// The rung above a position that a hop takes.
    fn next(&self, position: usize, section: &Section, kind: usize) -> Option<Rung> {
        let (first, end) = (usize::from(section.rungs.start), usize::from(section.rungs.end));
        let suits = |rung: &usize| match section.by_kind {
            true => usize::from(self.rungs[*rung]) == kind,
            false => self.class(self.rungs[*rung]) == self.class(kind as u8),
        };
        let rung = (first.max(position)..end.min(self.rungs.len())).find(suits)?;
        let last = self.limit.map_or(usize::MAX, |vcs| usize::from(vcs) - 1);
        let vc = VcId(self.before(rung).min(last) as u8);
        Some(Rung { vc, position: rung as u8 + 1 })
    }

    /// VCs of a class.
    fn vcs(&self, class: u8) -> u8 {
        let rungs = self.rungs.iter().filter(|kind| self.class(**kind) == class).count();
        self.limit.map_or(rungs, |vcs| rungs.min(vcs.into())) as u8
    }

    fn needs(&self) -> Vec<VcNeed> {
        let how = match self.limit {
            Some(vcs) => format!("hops are numbered among {vcs} VCs"),
            None => "each hop of a class takes the next VC".into(),
        };
        let why = format!("the longest path is {}, and {how}", self.outline);
        let need = |(n, &class): (usize, &&'static str)| {
            let vcs = self.vcs(n as u8);
            (vcs > 0).then(|| VcNeed { class, vcs, why: why.clone() })
        };
        self.classes.iter().enumerate().filter_map(need).collect()
    }

    /// A rung in words: the initial of its class and its number there, or the class where that says it
    /// all.
    fn name(&self, rung: usize) -> String {
        let name = self.classes[usize::from(self.class(self.rungs[rung]))];
        let initial = &name[..1];
        let alike = self.classes.iter().filter(|other| other.starts_with(initial)).count();
        if alike > 1 { name.into() } else { format!("{initial}{}", self.before(rung) + 1) }
    }

    /// All rungs in words, parted where a section begins; of several alike the first and the last.
    fn describe(&self, begins: impl Fn(usize) -> bool) -> String {
        let mut words: Vec<String> = Vec::new();
        let mut rung = 0;
        while rung < self.rungs.len() {
            if rung > 0 && begins(rung) {
                words.push("-".into());
            }
            let like = |next: &usize| self.rungs[*next] == self.rungs[rung] && !begins(*next);
            let end = (rung + 1..self.rungs.len()).take_while(like).last().unwrap_or(rung);
            words.push(self.name(rung));
            if end > rung + 1 {
                words.push("...".into());
            }
            if end > rung {
                words.push(self.name(end));
            }
            rung = end + 1;
        }
        words.join(" ")
    }

    /// A hop of a walk has no rung above a position.
    fn too_short(
        &self,
        at: &str,
        walk: Walk<'_>,
        phase: ValiantPhase,
        (kind, position): (u8, u8),
    ) -> SpecError {
        let class = self.classes[usize::from(self.class(kind))];
        let part = |(phase, hops): &(ValiantPhase, &[u8])| {
            let names = hops.iter().map(|kind| self.classes[usize::from(self.class(*kind))]);
            format!("{} {}", phase.name(), names.collect::<Vec<_>>().join(" "))
        };
        let path = walk.iter().map(part).collect::<Vec<_>>().join(", ");
        let (have, want) = (self.vcs(self.class(kind)), self.vcs(self.class(kind)) + 1);
        let after = match position {
            0 => "at its beginning".into(),
            _ => format!("after {}", self.name(usize::from(position) - 1)),
        };
        let message = format!(
            "{have} {class} VCs are too few in the ladder {}: a {class} hop of {} {after} needs \
             another, because a path is {path}",
            self.outline,
            phase.name()
        );
        SpecError::new(at, message).choices([format!("{want} {class} VCs or more")])
    }
}
