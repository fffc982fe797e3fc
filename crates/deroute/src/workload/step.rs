//! A step of a program: what each rank sends and waits for.

use crate::ids::Cycle;
use crate::spec::{Quantity, Scale, SpecError};

/// One operation of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Hands a message to the network interface and goes on.
    Send {
        /// Rank that it is for.
        to: u32,
        /// Phits, at least 1.
        phits: u32,
        /// What the receiver waits for.
        tag: u32,
    },
    /// Goes on when a message has arrived whole. As many waits for the same sender and tag take as
    /// many messages.
    Wait {
        /// Rank that sends it.
        from: u32,
        /// The sender's tag.
        tag: u32,
    },
    /// Goes on after so many cycles.
    Compute {
        /// Cycles; 0 does nothing.
        cycles: Cycle,
    },
}

impl Op {
    /// An operation that does nothing.
    pub const NOTHING: Self = Self::Compute { cycles: 0 };
}

/// What every rank of a job does in one step of its program.
pub trait Step: Send + Sync {
    /// Its name in messages.
    fn name(&self) -> &'static str;

    /// Operation `index` of a rank, counted from 0; `None` after the last one. Tags are below
    /// [`Step::tags`].
    fn op(&self, rank: u32, index: u32) -> Option<Op>;

    /// Number of tags.
    fn tags(&self) -> u32;

    /// Every rank sends as much as the others.
    fn uniform(&self) -> bool;
}

/// What a step is built from.
pub(super) struct Site<'a> {
    pub(super) ranks: u32,
    /// Of the step in the spec.
    pub(super) path: String,
    pub(super) scale: &'a Scale,
}

impl Site<'_> {
    /// A size in phits, rounded up.
    pub(super) fn phits(&self, key: &str, size: &Quantity) -> Result<u32, SpecError> {
        let path = format!("{}.{key}", self.path);
        let value = self.scale.phits_up(&path, size)?;
        u32::try_from(value).ok().filter(|v| (1..1 << 30).contains(v)).ok_or_else(|| {
            let message = format!("{value} phits is no size of a message");
            SpecError::new(path, message).choices(["1 to 1073741823 phits"])
        })
    }

    /// A rank of the job.
    pub(super) fn root(&self, root: u32) -> Result<u32, SpecError> {
        if root < self.ranks {
            return Ok(root);
        }
        let message = format!("there is no rank {root}");
        let path = format!("{}.root", self.path);
        Err(SpecError::new(path, message).choices([format!("0 to {}", self.ranks - 1)]))
    }
}

/// A time of the program in cycles.
pub(super) fn duration(scale: &Scale, path: &str, time: &Quantity) -> Result<Cycle, SpecError> {
    let value = scale.cycles(path, time)?;
    u32::try_from(value).ok().filter(|v| *v < 1 << 31).ok_or_else(|| {
        let message = format!("{value} cycles is out of range");
        SpecError::new(path, message).choices(["0 to 2147483647 cycles"])
    })
}
