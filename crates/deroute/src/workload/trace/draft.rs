//! A program while it is read.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::amounts::{Amounts, Clock};
use super::calls::Calls;
use super::check::Books;
use super::fault::{Fault, Place};
use super::files::Files;
use super::nodes::Nodes;
use crate::workload::actions::{Action, Node, Then};
use crate::workload::collective::spec::CollectiveChoices;
use crate::workload::comms::Comms;
use crate::workload::matching::ANY;
use crate::workload::packed::Packed;
use crate::workload::program::{MOST_NODES, RankProgram, Trace};
use crate::workload::schedule::Schedule;
use crate::workload::spill::{Long, Spill};
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
    /// Where what has no room in memory is.
    pub(super) spill: Arc<Spill>,
}

/// What was read.
pub(super) struct Read {
    pub(super) trace: Trace,
    pub(super) schedules: Vec<Schedule>,
    pub(super) comms: Comms,
    pub(super) uses: Uses,
    pub(super) files: Vec<String>,
    /// Messages and phits.
    pub(super) work: (u64, u64),
    /// Some receive takes more than one source or tag.
    pub(super) wildcards: bool,
}

/// One rank while it is read.
pub(super) struct RankDraft {
    pub(super) rank: u32,
    pub(super) clock: Clock,
    nodes: Nodes,
}

impl<'a> Draft<'a> {
    /// With room for so many nodes in memory.
    pub(super) fn new(amounts: Amounts, choices: &'a CollectiveChoices, kept: u64) -> Self {
        let spill = Arc::new(Spill::new(kept.saturating_mul(Packed::BYTES as u64)));
        let (ranks, files) = (Vec::new(), Vec::new());
        Self { amounts, calls: Calls::new(choices), ranks, files, spill }
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
        if let Some(own) = self.amounts.ranks.filter(|own| *own as u64 != ranks) {
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
        Ok(RankDraft::new(rank, &self.spill))
    }

    /// A rank has been read.
    pub(super) fn end(&mut self, rank: RankDraft, file: &str) -> Result<(), String> {
        let index = rank.rank as usize;
        let program = rank.finish()?;
        self.ranks[index] = Some(program);
        self.files[index] = file.to_owned();
        Ok(())
    }

    /// Everything has been read, of nodes at such places. Ranks that were not there do nothing if they may.
    pub(super) fn finish(self, files: &Files, place: fn(u64) -> Place) -> Result<Read, Fault> {
        let Self { calls, ranks, files: mut names, spill, .. } = self;
        if ranks.is_empty() {
            return Err(Fault::file(&files.name, "there is no rank in it"));
        }
        let ranks: Vec<RankProgram> = ranks.into_iter().map(Option::unwrap_or_default).collect();
        calls.check(&names, place)?;
        let (schedules, comms, uses) = calls.finish();
        let told = |message: String| Fault::file(&files.name, message);
        let books = Books::of(&ranks, &schedules).map_err(told)?;
        books.check(&ranks, (&files.name, &names), place)?;
        if names.windows(2).all(|pair| pair[0] == pair[1]) {
            names.truncate(1);
        }
        let Books { work, .. } = books;
        let wildcards = books.wildcards();
        let trace = Trace { ranks, spill };
        Ok(Read { trace, schedules, comms, uses, files: names, work, wildcards })
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
    fn new(rank: u32, spill: &Arc<Spill>) -> Self {
        Self { rank, clock: Clock::default(), nodes: Nodes::new(spill) }
    }

    /// Adds a node that stands at a place of the file.
    pub(super) fn push(&mut self, action: Action, then: Then, place: u32) -> Result<u32, String> {
        let id = self.len();
        if id >= MOST_NODES {
            return Err(format!("rank {} has more than {MOST_NODES} nodes", self.rank));
        }
        self.nodes.push(Packed::new(action, then, place))?;
        Ok(id)
    }

    /// Adds a send that the rank never waits for (`MPI_Bsend`): its data goes in the background. Returns a node that has ended
    /// when it has begun.
    pub(super) fn push_buffered(&mut self, send: Action, place: u32) -> Result<u32, String> {
        self.push(send, Then::Begun, place)?;
        self.push(Action::Join, Then::Ended, place)
    }

    /// Number of nodes so far.
    pub(super) fn len(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// A node does something else than what was said.
    pub(super) fn set(&mut self, node: u32, action: Action) -> Result<(), String> {
        let Node { then, place, .. } = self.nodes.get(node)?.node();
        self.nodes.set(node, Packed::new(action, then, place))
    }

    /// A receive that would take anything takes what it got.
    pub(super) fn fix(&mut self, node: u32, source: u32, label: u32) -> Result<(), String> {
        let Action::Receive { from, tag, comm } = self.nodes.get(node)?.node().action else {
            return Ok(());
        };
        if from != ANY && tag != ANY {
            return Ok(());
        }
        let from = if from == ANY { source } else { from };
        let tag = if tag == ANY { label } else { tag };
        self.set(node, Action::Receive { from, tag, comm })
    }

    /// Whether a node is a receive that would take more than one source or tag.
    pub(super) fn is_wild(&mut self, node: u32) -> Result<bool, String> {
        let Action::Receive { from, tag, .. } = self.nodes.get(node)?.node().action else {
            return Ok(false);
        };
        Ok(from == ANY || tag == ANY)
    }

    /// A node needs the end of another, or its beginning.
    pub(super) fn need(&mut self, node: u32, other: u32, begun: bool) -> Result<(), String> {
        self.nodes.need(node, other, begun)
    }

    /// Adds a member to a list, where there is room for it.
    pub(super) fn add_to<T: Serialize + DeserializeOwned>(
        &self,
        list: &mut Long<T>,
        member: T,
    ) -> Result<(), String> {
        list.push(member, &self.nodes.spill)
    }

    /// Nodes as they are kept.
    fn finish(self) -> Result<RankProgram, String> {
        let rank = self.rank;
        self.nodes.finish()?.map_err(|place| {
            format!("what rank {rank} does needs itself: a cycle with the node of {place}")
        })
    }
}
