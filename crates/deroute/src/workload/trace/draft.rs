//! A program while it is read.

use super::amounts::{Amounts, Clock};
use super::calls::Calls;
use super::check;
use super::fault::Fault;
use super::files::Files;
use crate::workload::collective::spec::CollectiveChoices;
use crate::workload::comms::Comms;
use crate::workload::matching::ANY;
use crate::workload::program::{Action, Edge, MOST_NODES, Node, Packed, RankProgram, Then};
use crate::workload::schedule::Schedule;
use crate::workload::uses::Uses;

/// Most ranks of a trace.
pub(super) const MOST_RANKS: u32 = 1 << 20;

/// All ranks while they are read.
pub(super) struct Draft<'a> {
    pub(super) amounts: Amounts,
    pub(super) calls: Calls<'a>,
    ranks: Vec<Option<RankProgram>>,
    /// The file of each rank.
    files: Vec<String>,
}

/// What was read.
pub(super) struct Read {
    pub(super) ranks: Vec<RankProgram>,
    pub(super) schedules: Vec<Schedule>,
    pub(super) comms: Comms,
    pub(super) uses: Uses,
    pub(super) files: Vec<String>,
    pub(super) work: (u64, u64),
}

/// One rank while it is read.
#[derive(Default)]
pub(super) struct RankDraft {
    pub(super) rank: u32,
    pub(super) clock: Clock,
    nodes: Vec<Packed>,
    /// By the node that they begin at, in the order in which they were read.
    edges: Vec<(u32, Edge)>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(amounts: Amounts, choices: &'a CollectiveChoices) -> Self {
        Self { amounts, calls: Calls::new(choices), ranks: Vec::new(), files: Vec::new() }
    }

    /// The trace has so many ranks. Says so again, or says what is wrong.
    pub(super) fn size(&mut self, ranks: u64) -> Result<(), String> {
        let known = self.ranks.len() as u64;
        if ranks == 0 || ranks > MOST_RANKS.into() {
            return Err(format!("{ranks} ranks; there may be 1 to {MOST_RANKS}"));
        }
        if known > 0 && known != ranks {
            return Err(format!("{ranks} ranks, but {known} in a file before"));
        }
        if let Some(own) = self.amounts.ranks().filter(|own| *own as u64 != ranks) {
            return Err(format!("{ranks} ranks, but compute_of_rank has {own} factors"));
        }
        self.ranks.resize_with(ranks as usize, || None);
        self.files.resize(ranks as usize, String::new());
        self.calls.set_ranks(ranks as u32);
        Ok(())
    }

    /// Number of ranks.
    pub(super) fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// A rank of the trace.
    pub(super) fn rank(&self, rank: u64) -> Result<u32, String> {
        match self.ranks.get(rank as usize) {
            Some(_) => Ok(rank as u32),
            None => Err(format!("there is no rank {rank}: there are {}", self.ranks.len())),
        }
    }

    /// A rank begins.
    pub(super) fn begin(&self, rank: u64) -> Result<RankDraft, String> {
        let rank = self.rank(rank)?;
        if self.ranks[rank as usize].is_some() {
            return Err(format!("rank {rank} is there twice"));
        }
        Ok(RankDraft { rank, ..RankDraft::default() })
    }

    /// A rank has been read.
    pub(super) fn end(&mut self, rank: RankDraft, file: &str) -> Result<(), String> {
        let index = rank.rank as usize;
        let program = rank.finish()?;
        self.ranks[index] = Some(program);
        self.files[index] = file.to_owned();
        Ok(())
    }

    /// Everything has been read. Ranks that were not there do nothing if they may.
    pub(super) fn finish(self, files: &Files) -> Result<Read, Fault> {
        let Self { calls, ranks, files: mut names, .. } = self;
        if ranks.is_empty() {
            return Err(Fault::file(&files.name, "there is no rank in it"));
        }
        let ranks: Vec<RankProgram> = ranks.into_iter().map(Option::unwrap_or_default).collect();
        calls.check(&names)?;
        let (schedules, comms, uses) = calls.finish();
        check::messages(&ranks, &names)?;
        let work = check::work(&ranks, &schedules);
        if names.windows(2).all(|pair| pair[0] == pair[1]) {
            names.truncate(1);
        }
        Ok(Read { ranks, schedules, comms, uses, files: names, work })
    }

    /// Every rank has to be there.
    pub(super) fn require_all(&self, files: &Files) -> Result<(), Fault> {
        match self.ranks.iter().position(Option::is_none) {
            None => Ok(()),
            Some(rank) => {
                let message = format!("rank {rank} of {} is missing", self.ranks.len());
                Err(Fault::file(&files.name, message))
            }
        }
    }
}

impl RankDraft {
    /// Adds a node that stands at a place of the file.
    pub(super) fn push(&mut self, action: Action, then: Then, place: u32) -> Result<u32, String> {
        let id = self.nodes.len() as u32;
        if id >= MOST_NODES {
            return Err(format!("rank {} has more than {MOST_NODES} nodes", self.rank));
        }
        self.nodes.push(Packed::new(action, then, place));
        Ok(id)
    }

    /// Number of nodes so far.
    pub(super) fn len(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// A node does something else than what was said.
    pub(super) fn set(&mut self, node: u32, action: Action) {
        let packed = &mut self.nodes[node as usize];
        let Node { then, place, .. } = packed.node();
        *packed = Packed::new(action, then, place);
    }

    /// Whether a node is a receive that would take more than one source or tag.
    pub(super) fn is_wild(&self, node: u32) -> bool {
        matches!(self.nodes[node as usize].node().action,
            Action::Receive { from, tag, .. } if from == ANY || tag == ANY)
    }

    /// A receive that would take anything takes what it got.
    pub(super) fn fix(&mut self, node: u32, source: u32, label: u32) {
        if let Action::Receive { from, tag, comm } = self.nodes[node as usize].node().action {
            let from = if from == ANY { source } else { from };
            let tag = if tag == ANY { label } else { tag };
            self.set(node, Action::Receive { from, tag, comm });
        }
    }

    /// A node needs the end of another, or its beginning.
    pub(super) fn need(&mut self, node: u32, other: u32, begun: bool) {
        self.edges.push((other, Edge::new(node, begun)));
    }

    /// Nodes as they are kept.
    fn finish(self) -> Result<RankProgram, String> {
        let Self { rank, mut nodes, mut edges, .. } = self;
        edges.sort_unstable();
        let count = nodes.len();
        for (_, edge) in &edges {
            nodes[edge.to() as usize].needs += 1;
        }
        for id in 1..count {
            let follows = nodes[id - 1].node().then != Then::Nothing;
            nodes[id].needs += u32::from(follows);
        }
        let mut end = 0;
        for (id, node) in (0..).zip(&mut nodes) {
            while edges.get(end).is_some_and(|(from, _)| *from == id) {
                end += 1;
            }
            node.edges_end = end as u32;
        }
        let edges: Box<[Edge]> = edges.into_iter().map(|(_, edge)| edge).collect();
        let program = RankProgram { nodes: nodes.into(), edges };
        match check::cycle(&program) {
            None => Ok(program),
            Some(place) => {
                Err(format!("what rank {rank} does needs itself: a cycle with the node of {place}"))
            }
        }
    }
}
