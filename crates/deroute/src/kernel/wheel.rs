//! Timing wheel: events in buckets, one bucket per cycle.
//!
//! A bucket is a list of chunks from one pool, so that only live events occupy cache lines and
//! nothing is allocated once the pool has reached its working size.

use crate::ids::Cycle;

const NONE: u32 = u32::MAX;

/// `N` events in consecutive cache lines.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Chunk<T, const N: usize> {
    next: u32,
    len: u32,
    events: [T; N],
}

/// Events of type `T` in the next `horizon` cycles, in chunks of `N`.
pub(super) struct Wheel<T, const N: usize> {
    heads: Vec<u32>,
    mask: u32,
    chunks: Vec<Chunk<T, N>>,
    free: u32,
    pending: u32,
}

/// Some events that are due, taken off the wheel but not yet given back to its pool.
#[derive(Clone, Copy)]
pub(super) struct Due {
    chunk: u32,
    len: u32,
}

impl Due {
    /// Number of events.
    #[inline]
    pub(super) fn len(self) -> usize {
        self.len as usize
    }
}

impl<T: Copy, const N: usize> Wheel<T, N> {
    /// A wheel for events at most `horizon` cycles ahead.
    pub(super) fn new(horizon: Cycle) -> Self {
        let slots = (horizon + 2).next_power_of_two();
        let heads = vec![NONE; slots as usize];
        Self { heads, mask: slots - 1, chunks: Vec::new(), free: NONE, pending: 0 }
    }

    /// The farthest an event may be scheduled ahead.
    pub(super) fn horizon(&self) -> Cycle {
        self.mask
    }

    /// Schedules an event: `at` is after the current cycle and within the horizon.
    #[inline]
    pub(super) fn push(&mut self, at: Cycle, event: T) {
        self.pending += 1;
        let slot = (at & self.mask) as usize;
        let head = self.heads[slot];
        if head != NONE {
            let chunk = &mut self.chunks[head as usize];
            if let Some(place) = chunk.events.get_mut(chunk.len as usize) {
                *place = event;
                chunk.len += 1;
                return;
            }
        }
        self.grow(slot, event);
    }

    #[inline(never)]
    fn grow(&mut self, slot: usize, event: T) {
        let next = self.heads[slot];
        let index = if self.free == NONE {
            self.chunks.push(Chunk { next, len: 1, events: [event; N] });
            self.chunks.len() as u32 - 1
        } else {
            self.free
        };
        let chunk = &mut self.chunks[index as usize];
        if index == self.free {
            self.free = chunk.next;
        }
        (chunk.next, chunk.len, chunk.events[0]) = (next, 1, event);
        self.heads[slot] = index;
    }

    /// Takes some events of `now`; `None` when all are taken. To be followed by
    /// [`Wheel::event`] and [`Wheel::done`].
    #[inline]
    pub(super) fn take(&mut self, now: Cycle) -> Option<Due> {
        let slot = (now & self.mask) as usize;
        let chunk = self.heads[slot];
        if chunk == NONE {
            return None;
        }
        let &Chunk { next, len, .. } = &self.chunks[chunk as usize];
        self.heads[slot] = next;
        self.pending -= len;
        Some(Due { chunk, len })
    }

    /// One of the events that were taken.
    #[inline]
    pub(super) fn event(&self, due: Due, index: usize) -> T {
        self.chunks[due.chunk as usize].events[index]
    }

    /// Gives the room of the events back.
    #[inline]
    pub(super) fn done(&mut self, due: Due) {
        self.chunks[due.chunk as usize].next = self.free;
        self.free = due.chunk;
    }

    /// Number of events that are scheduled.
    pub(super) fn len(&self) -> u32 {
        self.pending
    }

    /// Every event that is scheduled.
    pub(super) fn pending(&self) -> impl Iterator<Item = T> + '_ {
        let chunks = self.heads.iter().flat_map(move |&head| {
            std::iter::successors((head != NONE).then_some(head), move |&i| {
                let next = self.chunks[i as usize].next;
                (next != NONE).then_some(next)
            })
        });
        chunks.flat_map(move |i| {
            let chunk = &self.chunks[i as usize];
            chunk.events[..chunk.len as usize].iter().copied()
        })
    }
}
