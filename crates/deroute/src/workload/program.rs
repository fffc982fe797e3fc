//! What the ranks of a job do: the one form that built-in programs and traces come to.
//!
//! A rank has nodes, each of which is one [`Action`]. A node begins when all that it needs has happened: nodes
//! that must have ended, or begun, before it. A list of calls is a chain of nodes: what blocks is followed at its
//! end, what does not at its beginning, and a wait needs the ends of its requests. Built-in programs are
//! chains of collectives that are never written down.

use super::matching::ANY;
use crate::ids::Cycle;

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing: it ends when it begins.
    Join,
    /// Computes. What has the same stream does so one after the other.
    Compute {
        /// For so long.
        cycles: Cycle,
        /// The stream.
        stream: u8,
    },
    /// Waits, and does nothing.
    Idle {
        /// For so long.
        cycles: Cycle,
    },
    /// Sends a message.
    Send {
        /// Rank that it is for.
        to: u32,
        /// Phits, at least 1.
        phits: u32,
        /// Its tag.
        tag: u32,
        /// Its communicator.
        comm: u32,
        /// It ends only when its receive is posted, whatever its size.
        synchronous: bool,
    },
    /// Receives a message.
    Receive {
        /// Rank that sends it, or [`ANY`].
        from: u32,
        /// Its tag, or [`ANY`].
        tag: u32,
        /// Its communicator.
        comm: u32,
    },
    /// Takes part in a collective.
    Collective {
        /// Index of its schedule.
        schedule: u32,
        /// Its communicator.
        comm: u32,
        /// Which member of the communicator the rank is.
        member: u32,
        /// First of its tags.
        first_tag: u32,
    },
}

/// How the next node of a list follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It does not.
    Nothing,
    /// At the beginning of this one.
    Begun,
    /// At its end.
    Ended,
}

/// A node of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it does.
    pub action: Action,
    /// Whether the node after it needs it.
    pub then: Then,
    /// What must have happened before it begins.
    pub needs: u32,
    /// Where in the file it stands: line or byte; 0 in a built-in program.
    pub place: u32,
}

impl Node {
    /// The rank can do something else meanwhile, in its list.
    pub fn in_background(&self) -> bool {
        self.then == Then::Begun
    }
}

/// A node that another one makes possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge(u32);

impl Edge {
    const AT_BEGIN: u32 = 1 << 31;

    /// To a node, by the beginning of another, or its end.
    pub fn new(to: u32, begun: bool) -> Self {
        Self(to | if begun { Self::AT_BEGIN } else { 0 })
    }

    /// The node.
    pub fn to(self) -> u32 {
        self.0 & !Self::AT_BEGIN
    }

    /// It takes the beginning of the other, not its end.
    pub fn begun(self) -> bool {
        self.0 & Self::AT_BEGIN != 0
    }
}

/// Most nodes of a rank.
pub const MOST_NODES: u32 = (1 << 31) - 1;

/// A node as it is kept: 32 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed {
    kind: Kind,
    then: Then,
    stream: u8,
    /// Peer, or member.
    peer: u32,
    /// Phits, cycles, or schedule.
    amount: u32,
    tag: u32,
    comm: u32,
    pub(super) needs: u32,
    /// End of its edges, which begin where those of the node before it end.
    pub(super) edges_end: u32,
    place: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Join,
    Compute,
    Idle,
    Send,
    SendSynchronous,
    Receive,
    Collective,
}

impl Packed {
    pub(super) fn new(action: Action, then: Then, place: u32) -> Self {
        let (kind, stream, [peer, amount, tag, comm]) = match action {
            Action::Join => (Kind::Join, 0, [0; 4]),
            Action::Compute { cycles, stream } => (Kind::Compute, stream, [0, cycles, 0, 0]),
            Action::Idle { cycles } => (Kind::Idle, 0, [0, cycles, 0, 0]),
            Action::Send { to, phits, tag, comm, synchronous } => {
                let kind = if synchronous { Kind::SendSynchronous } else { Kind::Send };
                (kind, 0, [to, phits, tag, comm])
            }
            Action::Receive { from, tag, comm } => (Kind::Receive, 0, [from, 0, tag, comm]),
            Action::Collective { schedule, comm, member, first_tag } => {
                (Kind::Collective, 0, [member, schedule, first_tag, comm])
            }
        };
        Self { kind, then, stream, peer, amount, tag, comm, needs: 0, edges_end: 0, place }
    }

    pub(super) fn node(&self) -> Node {
        let Self { kind, then, stream, peer, amount, tag, comm, needs, place, .. } = *self;
        let action = match kind {
            Kind::Join => Action::Join,
            Kind::Compute => Action::Compute { cycles: amount, stream },
            Kind::Idle => Action::Idle { cycles: amount },
            Kind::Send | Kind::SendSynchronous => {
                let synchronous = kind == Kind::SendSynchronous;
                Action::Send { to: peer, phits: amount, tag, comm, synchronous }
            }
            Kind::Receive => Action::Receive { from: peer, tag, comm },
            Kind::Collective => {
                Action::Collective { schedule: amount, comm, member: peer, first_tag: tag }
            }
        };
        Node { action, then, needs, place }
    }
}

/// The nodes of one rank.
#[derive(Debug, Default)]
pub struct RankProgram {
    pub(super) nodes: Box<[Packed]>,
    pub(super) edges: Box<[Edge]>,
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
    /// What was read from a trace, by rank.
    Trace(Vec<RankProgram>),
}

impl Program {
    /// Nodes of a rank.
    pub fn size(&self, rank: u32) -> u32 {
        match self {
            Self::Steps { first_tags, iterations, .. } => {
                (first_tags.len() as u32).saturating_mul(*iterations)
            }
            Self::Trace(ranks) => ranks[rank as usize].nodes.len() as u32,
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
            Self::Trace(ranks) => ranks[rank as usize].nodes[id as usize].node(),
        }
    }

    /// What a node of a rank makes possible, beside the one after it in a list.
    pub fn edges(&self, rank: u32, id: u32) -> &[Edge] {
        let Self::Trace(ranks) = self else { return &[] };
        let RankProgram { nodes, edges } = &ranks[rank as usize];
        let first = id.checked_sub(1).map_or(0, |before| nodes[before as usize].edges_end);
        &edges[first as usize..nodes[id as usize].edges_end as usize]
    }

    /// Nodes of a rank that need nothing, in order.
    pub fn roots(&self, rank: u32) -> impl Iterator<Item = u32> + '_ {
        let (built_in, traced): (_, &[Packed]) = match self {
            Self::Steps { .. } => ((self.size(rank) > 0).then_some(0), &[]),
            Self::Trace(ranks) => (None, &ranks[rank as usize].nodes),
        };
        let free = (0..).zip(traced).filter(|(_, node)| node.needs == 0).map(|(id, _)| id);
        built_in.into_iter().chain(free)
    }

    /// The iteration that is over when a node ends, if one is.
    pub fn iteration_after(&self, id: u32) -> Option<u32> {
        let Self::Steps { first_tags, .. } = self else { return None };
        let steps = first_tags.len() as u32;
        (id + 1).is_multiple_of(steps).then(|| id / steps)
    }

    /// Some receive takes more than one source or tag.
    pub fn has_wildcards(&self) -> bool {
        let Self::Trace(ranks) = self else { return false };
        let wild =
            |node: &Packed| node.kind == Kind::Receive && (node.peer == ANY || node.tag == ANY);
        ranks.iter().any(|rank| rank.nodes.iter().any(wild))
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        let Self::Trace(ranks) = self else { return 0 };
        let one = |rank: &RankProgram| {
            size_of::<RankProgram>() + size_of_val(&*rank.nodes) + size_of_val(&*rank.edges)
        };
        ranks.iter().map(|rank| one(rank) as u64).sum()
    }
}
