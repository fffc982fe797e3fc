//! What packets have met on their paths, where switches write it (INT).

use super::cargo::Slab;
use crate::congestion::{Met, Trail};
use serde::{Deserialize, Serialize};

/// Those of a partition.
#[derive(Serialize, Deserialize)]
pub(crate) struct Trails {
    /// By the words of packets, beside their cargo.
    of: Vec<Trail>,
    /// What is to be told.
    kept: Slab<Trail>,
}

impl Trails {
    pub(crate) fn new() -> Self {
        Self { of: Vec::new(), kept: Slab::new() }
    }

    /// Bytes of what so many packets have met, besides their cargo.
    pub(crate) fn bytes(packets: u64) -> u64 {
        packets.saturating_mul(size_of::<Trail>() as u64)
    }

    /// A packet has this word, and has met something.
    pub(crate) fn set(&mut self, word: u32, trail: Trail) {
        if self.of.len() <= word as usize {
            self.of.resize(word as usize + 1, Trail::default());
        }
        self.of[word as usize] = trail;
    }

    /// What a packet has met.
    pub(crate) fn of(&self, word: u32) -> &Trail {
        &self.of[word as usize]
    }

    /// A packet meets an output.
    pub(crate) fn add(&mut self, word: u32, met: Met) {
        self.of[word as usize].add(met);
    }

    /// Keeps what a packet has met after it has gone. Returns where.
    pub(crate) fn keep(&mut self, word: u32) -> u32 {
        self.kept.insert(self.of[word as usize])
    }

    /// A packet takes with it what was kept.
    pub(crate) fn give(&mut self, kept: u32, word: u32) {
        let trail = self.kept.remove(kept);
        self.set(word, trail);
    }
}
