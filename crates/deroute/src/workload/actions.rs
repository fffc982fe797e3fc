//! What a rank does: its nodes, and which of them makes which others possible.

use serde::{Deserialize, Serialize};

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
        /// Rank that sends it, or [`ANY`](super::matching::ANY).
        from: u32,
        /// Its tag, or [`ANY`](super::matching::ANY).
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Edge(u32);

impl Edge {
    const AT_BEGIN: u32 = 1 << 31;

    /// To a node, by the beginning of another, or its end.
    pub fn new(to: u32, begun: bool) -> Self {
        Self(to | if begun { Self::AT_BEGIN } else { 0 })
    }

    /// As it stands in a file.
    pub(super) fn word(self) -> u32 {
        self.0
    }

    /// The same, read.
    pub(super) fn of_word(word: u32) -> Self {
        Self(word)
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
