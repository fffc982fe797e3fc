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
    events: [T; N],
    next: u32,
}

/// The newest chunk of a bucket and the events in it; the others are full.
#[derive(Clone, Copy)]
struct Bucket {
    head: u32,
    len: u32,
}

/// Events of type `T` in the next `horizon` cycles, in chunks of `N`.
pub(super) struct Wheel<T, const N: usize> {
    buckets: Vec<Bucket>,
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

/// Stands in for a wheel while its events are looked at: nothing can be scheduled.
impl<T, const N: usize> Default for Wheel<T, N> {
    fn default() -> Self {
        Self { buckets: Vec::new(), mask: 0, chunks: Vec::new(), free: NONE, pending: 0 }
    }
}

impl<T: Copy + Default, const N: usize> Wheel<T, N> {
    /// A wheel for events at most `horizon` cycles ahead.
    pub(super) fn new(horizon: Cycle) -> Self {
        let slots = (horizon + 2).next_power_of_two();
        // A bucket without a chunk has no room for an event.
        let empty = Bucket { head: NONE, len: N as u32 };
        let buckets = vec![empty; slots as usize];
        Self { buckets, mask: slots - 1, chunks: Vec::new(), free: NONE, pending: 0 }
    }

    /// The farthest an event may be scheduled ahead.
    pub(super) fn horizon(&self) -> Cycle {
        self.mask
    }

    /// Schedules an event: `at` is after the current cycle and within the horizon.
    #[inline]
    pub(super) fn push(&mut self, at: Cycle, event: T) {
        self.pending += 1;
        let index = (at & self.mask) as usize;
        let bucket = &mut self.buckets[index];
        let chunk = self.chunks.get_mut(bucket.head as usize);
        let place = match chunk.and_then(|chunk| chunk.events.get_mut(bucket.len as usize)) {
            Some(place) => {
                bucket.len += 1;
                place
            }
            None => self.place_in_new_chunk(index),
        };
        *place = event;
    }

    /// A place in a bucket that has no chunk, or a full one. (Is not given the event, which would have
    /// to be put in memory for it.)
    #[inline(never)]
    fn place_in_new_chunk(&mut self, index: usize) -> &mut T {
        let bucket = &mut self.buckets[index];
        let next = std::mem::replace(bucket, Bucket { head: self.free, len: 1 }).head;
        if self.free == NONE {
            bucket.head = self.chunks.len() as u32;
            self.chunks.push(Chunk { next, events: [T::default(); N] });
        } else {
            self.free = std::mem::replace(&mut self.chunks[self.free as usize].next, next);
        }
        &mut self.chunks[bucket.head as usize].events[0]
    }

    /// Takes the events of `now`, some at a time.
    #[inline]
    pub(super) fn drain(&mut self, now: Cycle, mut look: impl FnMut(&[T])) {
        while let Some(due) = self.take(now) {
            look(self.events(due));
            self.done(due);
        }
    }

    /// Takes some events of `now`; `None` when all are taken. To be followed by
    /// [`Wheel::events`] and [`Wheel::done`].
    #[inline]
    pub(super) fn take(&mut self, now: Cycle) -> Option<Due> {
        let bucket = &mut self.buckets[(now & self.mask) as usize];
        let Bucket { head: chunk, len } = *bucket;
        if chunk == NONE {
            return None;
        }
        *bucket = Bucket { head: self.chunks[chunk as usize].next, len: N as u32 };
        self.pending -= len;
        Some(Due { chunk, len })
    }

    /// All events that were taken.
    #[inline]
    pub(super) fn events(&self, due: Due) -> &[T] {
        &self.chunks[due.chunk as usize].events[..due.len as usize]
    }

    /// Gives the room of the events back.
    #[inline]
    pub(super) fn done(&mut self, due: Due) {
        self.chunks[due.chunk as usize].next = self.free;
        self.free = due.chunk;
    }

    /// Some of all events, scheduled or not: about one from each cache line.
    pub(super) fn lines(&self) -> impl Iterator<Item = T> + '_ {
        self.chunks
            .iter()
            .flat_map(|chunk| chunk.events.iter().step_by((64 / size_of::<T>()).max(1)).copied())
    }

    /// Number of events that are scheduled.
    pub(super) fn len(&self) -> u32 {
        self.pending
    }

    /// Every event that is scheduled.
    pub(super) fn pending(&self) -> impl Iterator<Item = T> + '_ {
        let present = self.buckets.iter().filter(|bucket| bucket.head != NONE);
        let chunks = present.flat_map(move |&Bucket { head, len }| {
            std::iter::successors(Some((head, len)), move |&(chunk, _)| {
                let next = self.chunks[chunk as usize].next;
                (next != NONE).then_some((next, N as u32))
            })
        });
        chunks.flat_map(move |(chunk, len)| {
            self.chunks[chunk as usize].events[..len as usize].iter().copied()
        })
    }
}
