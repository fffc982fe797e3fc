//! What the ranks of a job do: the one form that built-in programs and traces come to.
//!
//! A rank has nodes, each of which is one [`Action`]. A node begins when all that it needs has happened: nodes
//! that must have ended, or begun, before it. A list of calls is a chain of nodes: what blocks is followed at its
//! end, what does not at its beginning, and a wait needs the ends of its requests. Built-in programs are
//! chains of collectives that are never written down.

use std::borrow::Cow;
use std::sync::Arc;

use super::actions::{Action, Edge, Node, Then};
use super::packed::Packed;
use super::pages::Pages;
use super::spill::Spill;

/// Most nodes of a rank.
pub const MOST_NODES: u32 = (1 << 31) - 1;

/// The nodes of one rank.
#[derive(Debug)]
pub enum RankProgram {
    /// In memory.
    Kept {
        /// All of them.
        nodes: Box<[Packed]>,
        /// Those of the first node, of the second one, ...
        edges: Box<[Edge]>,
    },
    /// In a file.
    Paged(Box<Pages>),
}

impl Default for RankProgram {
    fn default() -> Self {
        Self::Kept { nodes: Box::default(), edges: Box::default() }
    }
}

impl RankProgram {
    /// Number of nodes.
    fn len(&self) -> u32 {
        match self {
            Self::Kept { nodes, .. } => nodes.len() as u32,
            Self::Paged(pages) => pages.len(),
        }
    }

    pub(super) fn node(&self, id: u32) -> Node {
        match self {
            Self::Kept { nodes, .. } => nodes[id as usize].node(),
            Self::Paged(pages) => pages.node(id),
        }
    }

    pub(super) fn edges(&self, id: u32) -> Cow<'_, [Edge]> {
        match self {
            Self::Kept { nodes, edges } => {
                let first = id.checked_sub(1).map_or(0, |before| nodes[before as usize].edges_end);
                Cow::Borrowed(&edges[first as usize..nodes[id as usize].edges_end as usize])
            }
            Self::Paged(pages) => Cow::Owned(pages.edges(id)),
        }
    }

    pub(super) fn roots(&self) -> Cow<'_, [u32]> {
        match self {
            Self::Kept { nodes, .. } => {
                let free = (0..).zip(nodes).filter(|(_, node)| node.needs == 0);
                Cow::Owned(free.map(|(id, _)| id).collect())
            }
            Self::Paged(pages) => Cow::Borrowed(pages.roots()),
        }
    }

    /// Shows all nodes, in order.
    ///
    /// # Errors
    /// What went wrong with the file.
    pub fn each(&self, mut see: impl FnMut(Node)) -> Result<(), String> {
        match self {
            Self::Kept { nodes, .. } => {
                nodes.iter().for_each(|node| see(node.node()));
                Ok(())
            }
            Self::Paged(pages) => pages.each(see),
        }
    }

    /// Bytes of memory that it takes.
    fn bytes(&self) -> usize {
        let more = match self {
            Self::Kept { nodes, edges } => size_of_val(&**nodes) + size_of_val(&**edges),
            Self::Paged(pages) => pages.bytes(),
        };
        size_of::<Self>() + more
    }
}

/// What was read from a trace.
pub struct Trace {
    /// By rank.
    pub(super) ranks: Vec<RankProgram>,
    /// Where pages are.
    pub(super) spill: Arc<Spill>,
}

/// What all ranks of a job do.
pub enum Program {
    /// Collectives of all ranks, one after the other, over and over.
    Steps {
        /// First tag of each collective in an iteration.
        first_tags: Vec<u32>,
        /// Tags of an iteration.
        tags: u32,
        /// How often they are taken.
        iterations: u32,
    },
    /// What was read from a trace.
    Trace(Trace),
}

impl Program {
    /// Of nodes in memory.
    pub(super) fn kept(ranks: impl Iterator<Item = Vec<Packed>>) -> Self {
        let kept =
            |nodes: Vec<Packed>| RankProgram::Kept { nodes: nodes.into(), edges: Box::default() };
        Self::Trace(Trace { ranks: ranks.map(kept).collect(), spill: Arc::new(Spill::new(0)) })
    }

    fn of_rank(&self, rank: u32) -> Option<&RankProgram> {
        let Self::Trace(Trace { ranks, .. }) = self else { return None };
        Some(&ranks[rank as usize])
    }

    /// Nodes of a rank.
    pub fn size(&self, rank: u32) -> u32 {
        match self {
            Self::Steps { first_tags, iterations, .. } => {
                (first_tags.len() as u32).saturating_mul(*iterations)
            }
            Self::Trace(trace) => trace.ranks[rank as usize].len(),
        }
    }

    /// A node of a rank.
    pub fn node(&self, rank: u32, id: u32) -> Node {
        match self {
            Self::Steps { first_tags, tags, .. } => {
                let steps = first_tags.len() as u32;
                let (iteration, schedule) = (id / steps, id % steps);
                let first_tag = iteration * tags + first_tags[schedule as usize];
                let action = Action::Collective { schedule, comm: 0, member: rank, first_tag };
                Node { action, then: Then::Ended, needs: u32::from(id > 0), place: 0 }
            }
            Self::Trace(trace) => trace.ranks[rank as usize].node(id),
        }
    }

    /// What a node of a rank makes possible, beside the one after it in a list.
    pub fn edges(&self, rank: u32, id: u32) -> Cow<'_, [Edge]> {
        self.of_rank(rank).map_or(Cow::Borrowed(&[]), |own| own.edges(id))
    }

    /// Nodes of a rank that need nothing, in order.
    pub fn roots(&self, rank: u32) -> Cow<'_, [u32]> {
        match self.of_rank(rank) {
            Some(own) => own.roots(),
            None => Cow::Borrowed(if self.size(rank) > 0 { &[0] } else { &[] }),
        }
    }

    /// The iteration that is over when a node ends, if one is.
    pub fn iteration_after(&self, id: u32) -> Option<u32> {
        let Self::Steps { first_tags, .. } = self else { return None };
        let steps = first_tags.len() as u32;
        (id + 1).is_multiple_of(steps).then(|| id / steps)
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> u64 {
        let Self::Trace(trace) = self else { return 0 };
        trace.ranks.iter().map(|rank| rank.bytes() as u64).sum()
    }

    /// Bytes of what of it is in a temporary file.
    pub fn file_bytes(&self) -> u64 {
        let Self::Trace(trace) = self else { return 0 };
        trace.spill.bytes()
    }

    /// The file is cut off.
    #[cfg(test)]
    pub(crate) fn lose(&self) {
        if let Self::Trace(trace) = self {
            trace.spill.lose();
        }
    }

    /// What went wrong first while the file was read in a run.
    pub fn fault(&self) -> Option<&str> {
        let Self::Trace(trace) = self else { return None };
        trace.spill.fault()
    }
}
