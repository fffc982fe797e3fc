//! The part of a packet that routing reads and writes.

use crate::ids::{HostId, RouterId};
use crate::probe::PathKind;
use serde::{Deserialize, Serialize};

/// Where a packet is between its source, Valiant's intermediate router and its destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// What an algorithm remembers of a packet on its way. An algorithm keeps one thing at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memo {
    /// Nothing.
    Nothing,
    /// Valiant's intermediate router, drawn. Whether the packet goes there its phase says.
    Intermediate(RouterId),
    /// Which of the orders of dimensions it takes (O1TURN).
    DimensionOrder(u32),
    /// It has been derouted (DimWAR, OmniWAR).
    Derouted,
    /// The dimensions in which it has been derouted, one bit each (DAL).
    DeroutedIn(u32),
    /// The number of its way up a fat tree (oblivious routing that chooses at the source).
    WayUp(u32),
    /// A hash of its flow (ECMP).
    FlowHash(u32),
    /// Its source host (S-mod-K).
    Source(HostId),
}

impl Memo {
    /// As a number of its kind and a word.
    #[inline]
    fn pack(self) -> (u8, u32) {
        match self {
            Self::Nothing => (0, 0),
            Self::Intermediate(RouterId(router)) => (INTERMEDIATE, router),
            Self::DimensionOrder(order) => (2, order),
            Self::Derouted => (3, 0),
            Self::DeroutedIn(dimensions) => (4, dimensions),
            Self::WayUp(way) => (5, way),
            Self::FlowHash(hash) => (6, hash),
            Self::Source(HostId(host)) => (7, host),
        }
    }

    #[inline]
    fn unpack((kind, word): (u8, u32)) -> Self {
        match kind {
            INTERMEDIATE => Self::Intermediate(RouterId(word)),
            2 => Self::DimensionOrder(word),
            3 => Self::Derouted,
            4 => Self::DeroutedIn(word),
            5 => Self::WayUp(word),
            6 => Self::FlowHash(word),
            7 => Self::Source(HostId(word)),
            _ => Self::Nothing,
        }
    }
}

/// The kind of memo that every hop looks at.
const INTERMEDIATE: u8 = 1;

/// The bit of a mark.
const MARK: u8 = 0x80;

/// The part of a packet that routing reads and writes. Twelve bytes: a packet in a queue is half a cache
/// line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Router of the destination host.
    pub destination: RouterId,
    /// The word of the memo.
    word: u32,
    /// Position on the path of the last hop taken ([`super::Hop::position`]); 0 at the source.
    pub position: u8,
    /// Part of the path. In phase A, the memo is the intermediate router.
    pub phase: ValiantPhase,
    /// The kind of path in four bits, the kind of memo in three, and whether the packet is marked.
    labels: u8,
    /// Router-to-router hops taken.
    pub hops: u8,
}

const _: () = assert!(size_of::<Header>() == 12 && PathKind::ALL.len() <= 16);

impl Header {
    /// The header of a packet that has just been generated.
    pub fn new(destination: RouterId) -> Self {
        Self {
            destination,
            word: 0,
            position: 0,
            phase: ValiantPhase::Minimal,
            labels: PathKind::Minimal as u8,
            hops: 0,
        }
    }

    /// What the algorithm remembers of the packet: at first nothing.
    #[inline]
    pub fn memo(&self) -> Memo {
        Memo::unpack((self.labels >> 4 & 7, self.word))
    }

    /// Remembers something, in place of what was remembered before.
    #[inline]
    pub fn remember(&mut self, memo: Memo) {
        let (kind, word) = memo.pack();
        debug_assert!(kind < 8, "three bits");
        (self.labels, self.word) = (self.labels & !0x70 | kind << 4, word);
    }

    /// Kind of path, for the statistics.
    #[inline]
    pub fn kind(&self) -> PathKind {
        PathKind::ALL[usize::from(self.labels & 15)]
    }

    /// Says what kind of path the packet takes.
    #[inline]
    pub fn set_kind(&mut self, kind: PathKind) {
        self.labels = self.labels & !15 | kind as u8;
    }

    /// A switch has marked the packet, because its queue was long.
    #[inline]
    pub fn is_marked(&self) -> bool {
        self.labels & MARK != 0
    }

    /// A switch marks the packet.
    #[inline]
    pub(crate) fn mark(&mut self) {
        self.labels |= MARK;
    }

    /// Valiant's intermediate router, if one has been drawn.
    #[inline]
    pub fn intermediate(&self) -> Option<RouterId> {
        (self.labels & 0x70 == INTERMEDIATE << 4).then_some(RouterId(self.word))
    }

    /// Sends the packet at a router through an intermediate one, or minimally if that is its source or
    /// destination.
    #[inline]
    pub fn divert(&mut self, at: RouterId, intermediate: RouterId, kind: PathKind) {
        self.remember(Memo::Intermediate(intermediate));
        if intermediate == at || intermediate == self.destination {
            return self.go_minimally();
        }
        self.phase = ValiantPhase::A;
        self.set_kind(kind);
    }

    /// Sends the packet to its destination without a detour, whatever has been drawn.
    #[inline]
    pub fn go_minimally(&mut self) {
        self.phase = ValiantPhase::Minimal;
        self.set_kind(PathKind::Minimal);
    }

    /// Where the packet is going: to the intermediate router in phase A, to the destination otherwise.
    #[inline]
    pub fn target(&self) -> RouterId {
        let diverted = self.phase == ValiantPhase::A;
        debug_assert!(
            !diverted || self.intermediate().is_some(),
            "phase A has an intermediate router"
        );
        if diverted { RouterId(self.word) } else { self.destination }
    }

    /// The packet is at a router: phase B begins at the intermediate one.
    #[inline]
    pub fn arrive(&mut self, at: RouterId) {
        // Without a branch: hardly predictable.
        let arrived = (self.phase == ValiantPhase::A) & (self.word == at.0);
        self.phase = if arrived { ValiantPhase::B } else { self.phase };
    }

    /// Is the router the end of the path? A packet in phase A passes through its destination.
    #[inline]
    pub fn ends_at(&self, at: RouterId) -> bool {
        (self.destination == at) & (self.phase != ValiantPhase::A)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A memo, a kind of path and a mark share a byte, and do not disturb each other.
    #[test]
    fn what_is_remembered_is_found_again() {
        let memos = [
            Memo::Nothing,
            Memo::Intermediate(RouterId(u32::MAX)),
            Memo::DimensionOrder(7),
            Memo::Derouted,
            Memo::DeroutedIn(0b101),
            Memo::WayUp(0),
            Memo::FlowHash(0xDEAD_BEEF),
            Memo::Source(HostId(9)),
        ];
        let mut header = Header::new(RouterId(3));
        assert_eq!((header.memo(), header.kind()), (Memo::Nothing, PathKind::Minimal));
        for memo in memos {
            for kind in PathKind::ALL {
                header.remember(memo);
                header.set_kind(kind);
                assert_eq!((header.memo(), header.kind()), (memo, kind));
                header.remember(Memo::Derouted);
                assert_eq!((header.memo(), header.kind()), (Memo::Derouted, kind));
                let mut marked = header;
                marked.mark();
                assert!(marked.is_marked() && !header.is_marked());
                marked.remember(memo);
                marked.set_kind(kind);
                assert_eq!((marked.memo(), marked.kind(), marked.is_marked()), (memo, kind, true));
            }
        }
    }
}
