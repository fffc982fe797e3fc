//! Timing wheel: events in buckets, one bucket per cycle.
//!
//! A bucket is a list of chunks from one pool, so that only live events occupy cache lines and
//! nothing is allocated once the pool has reached its working size.

use crate::ids::Cycle;

const NONE: u32 = u32::MAX;
const EVENTS: usize = 15;

/// One cache-line pair of events.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Chunk {
    next: u32,
    len: u32,
    events: [u64; EVENTS],
}

impl Chunk {
    #[inline]
    pub(super) fn events(&self) -> &[u64] {
        &self.events[..self.len as usize]
    }
}

/// Events of the next `horizon` cycles.
pub(super) struct Wheel {
    heads: Vec<u32>,
    mask: u32,
    chunks: Vec<Chunk>,
    free: u32,
}

impl Wheel {
    /// A wheel for events at most `horizon` cycles ahead.
    pub(super) fn new(horizon: Cycle) -> Self {
        let slots = (horizon + 2).next_power_of_two();
        Self { heads: vec![NONE; slots as usize], mask: slots - 1, chunks: Vec::new(), free: NONE }
    }

    /// The farthest an event may be scheduled ahead.
    pub(super) fn horizon(&self) -> Cycle {
        self.mask
    }

    /// Schedules an event: `at` is after the current cycle and within the horizon.
    #[inline]
    pub(super) fn push(&mut self, at: Cycle, event: u64) {
        let slot = (at & self.mask) as usize;
        let head = self.heads[slot];
        if head != NONE {
            let chunk = &mut self.chunks[head as usize];
            if (chunk.len as usize) < EVENTS {
                chunk.events[chunk.len as usize] = event;
                chunk.len += 1;
                return;
            }
        }
        self.grow(slot, event);
    }

    #[inline(never)]
    fn grow(&mut self, slot: usize, event: u64) {
        let mut chunk = Chunk { next: self.heads[slot], len: 1, events: [0; EVENTS] };
        chunk.events[0] = event;
        if self.free == NONE {
            self.heads[slot] = self.chunks.len() as u32;
            self.chunks.push(chunk);
        } else {
            let index = self.free;
            self.free = self.chunks[index as usize].next;
            self.heads[slot] = index;
            self.chunks[index as usize] = chunk;
        }
    }

    /// Removes a chunk of the events of `now`; `None` when all are taken.
    #[inline]
    pub(super) fn take(&mut self, now: Cycle) -> Option<Chunk> {
        let slot = (now & self.mask) as usize;
        let index = self.heads[slot];
        if index == NONE {
            return None;
        }
        let chunk = self.chunks[index as usize];
        self.heads[slot] = chunk.next;
        self.chunks[index as usize].next = self.free;
        self.free = index;
        Some(chunk)
    }

    /// Every event that is scheduled.
    pub(super) fn pending(&self) -> impl Iterator<Item = u64> + '_ {
        self.heads.iter().flat_map(move |&head| {
            std::iter::successors((head != NONE).then_some(head), move |&i| {
                let next = self.chunks[i as usize].next;
                (next != NONE).then_some(next)
            })
            .flat_map(move |i| self.chunks[i as usize].events().iter().copied())
        })
    }
}
