//! The part of a packet that routing reads and writes.

use crate::ids::RouterId;
use crate::probe::PathKind;

/// Where a packet is between its source, Valiant's intermediate router and its destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ValiantPhase {
    /// Towards the destination, never diverted.
    #[default]
    Minimal,
    /// Towards the intermediate router.
    A,
    /// From the intermediate router to the destination.
    B,
}

impl ValiantPhase {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Minimal, Self::A, Self::B];

    /// What it is called in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::A => "phase A",
            Self::B => "phase B",
        }
    }
}

/// The part of a packet that routing reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Router of the destination host.
    pub destination: RouterId,
    /// Valiant's intermediate router; [`Header::UNDRAWN`] until one is drawn.
    pub root: RouterId,
    /// Position on the path of the last hop taken ([`super::Hop::position`]); 0 at the source.
    pub position: u8,
    /// Part of the path.
    pub phase: ValiantPhase,
    /// Kind of path, for the statistics.
    pub kind: PathKind,
    /// Router-to-router hops taken.
    pub hops: u8,
}

impl Header {
    /// No intermediate router has been drawn.
    pub const UNDRAWN: RouterId = RouterId(u32::MAX);

    /// The header of a packet that has just been generated.
    pub fn new(destination: RouterId) -> Self {
        Self {
            destination,
            root: Self::UNDRAWN,
            position: 0,
            phase: ValiantPhase::Minimal,
            kind: PathKind::Minimal,
            hops: 0,
        }
    }

    /// The packet is at a router: phase B begins at the intermediate one.
    #[inline]
    pub fn arrive(&mut self, at: RouterId) {
        // Without a branch: hardly predictable.
        let arrived = (self.phase == ValiantPhase::A) & (self.root == at);
        self.phase = if arrived { ValiantPhase::B } else { self.phase };
    }

    /// Is the router the end of the path? A packet in phase A passes through its destination.
    #[inline]
    pub fn ends_at(&self, at: RouterId) -> bool {
        (self.destination == at) & (self.phase != ValiantPhase::A)
    }
}
