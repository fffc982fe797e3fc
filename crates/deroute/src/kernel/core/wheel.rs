//! Timing wheel: events in buckets, one bucket per cycle.
//!
//! A bucket is a list of chunks from one pool, so that only live events occupy cache lines and
//! nothing is allocated once the pool has reached its working size. What is looked at to find a place
//! for an event is dense: four bytes for each bucket, and four for each chunk.

use serde::{Deserialize, Serialize};
use std::ops::Range;

use crate::ids::Cycle;

/// End of the list of free chunks.
const NONE: u32 = u32::MAX;

/// Events of type `T` in the next `horizon` cycles.
#[derive(Serialize, Deserialize)]
pub(crate) struct Wheel<T> {
    /// Where the next event of each bucket goes, if the chunk of the event before it has room;
    /// 0 if there is none.
    ends: Vec<u32>,
    mask: u32,
    chunks: Chunks<T>,
}

/// A pool of chunks.
#[derive(Serialize, Deserialize)]
struct Chunks<T> {
    events: Vec<T>,
    /// For each chunk of a bucket: the end of the one before it, which is full; 0 if there is none. For
    /// others: the next free chunk.
    before: Vec<u32>,
    free: u32,
}

/// Some events that are due, taken off the wheel but not yet given back to its pool.
#[derive(Clone, Copy)]
pub(crate) struct Due {
    first: u32,
    end: u32,
}

impl Due {
    /// Number of events.
    #[inline]
    pub(crate) fn len(self) -> usize {
        (self.end - self.first) as usize
    }

    /// Where the events are among those that are lent.
    #[inline]
    pub(crate) fn range(self) -> Range<usize> {
        self.first as usize..self.end as usize
    }
}

impl<T: Copy + Default> Chunks<T> {
    /// Events in a chunk: one to four cache lines.
    const SIZE: u32 = if size_of::<T>() > 16 { 8 } else { 16 };

    /// The first place of a chunk for a bucket that has none with room, and ends here.
    #[inline(never)]
    fn take(&mut self, end: u32) -> u32 {
        if self.free == NONE {
            self.free = self.before.len() as u32;
            self.before.push(NONE);
            self.events.resize(self.events.len() + Self::SIZE as usize, T::default());
        }
        let chunk = self.free;
        self.free = std::mem::replace(&mut self.before[chunk as usize], end);
        chunk * Self::SIZE
    }
}

/// The first bucket that is not empty.
fn used(ends: &[u32]) -> Option<usize> {
    const AT_ONCE: usize = 64;
    let any = |ends: &[u32]| ends.iter().fold(0, |any, end| any | end) != 0;
    let first = AT_ONCE * ends.chunks(AT_ONCE).position(any)?;
    ends[first..].iter().position(|end| *end != 0).map(|within| first + within)
}

/// Cycles that a wheel has a bucket for.
fn slots(horizon: Cycle) -> Cycle {
    (horizon + 2).next_power_of_two()
}

impl<T: Copy + Default> Wheel<T> {
    /// Bytes of a wheel without events.
    pub(crate) fn bytes(horizon: Cycle) -> u64 {
        4 * u64::from(slots(horizon))
    }

    /// Bytes that so many events take besides in all of some wheels, at the most: a chunk for each bucket is
    /// not full, and there is room for twice as many chunks.
    pub(crate) fn most_bytes(wheels: u64, horizon: Cycle, events: u64) -> u64 {
        let size = u64::from(Chunks::<T>::SIZE);
        let chunks = events.min(wheels * u64::from(slots(horizon))) + events / size;
        (2 * chunks).saturating_mul(size * size_of::<T>() as u64 + 4)
    }

    /// Bytes that so many events in the next cycles take besides in all of some wheels, if half of the last
    /// chunk of each bucket is used.
    pub(crate) fn likely_bytes(wheels: u64, cycles: u64, events: u64) -> u64 {
        let begun = events.min(wheels * cycles) * u64::from(Chunks::<T>::SIZE / 2);
        (events + begun) * size_of::<T>() as u64
    }

    /// A wheel for events at most `horizon` cycles ahead.
    pub(crate) fn new(horizon: Cycle) -> Self {
        let slots = slots(horizon);
        let chunks = Chunks { events: Vec::new(), before: Vec::new(), free: NONE };
        Self { ends: vec![0; slots as usize], mask: slots - 1, chunks }
    }

    /// The farthest an event may be scheduled ahead.
    pub(crate) fn horizon(&self) -> Cycle {
        self.mask
    }

    /// Schedules an event: `at` is after the current cycle and within the horizon.
    #[inline]
    pub(crate) fn push(&mut self, at: Cycle, event: T) {
        *self.place(at) = event;
    }

    /// The place of an event that is scheduled, to be filled: `at` is as in [`Wheel::push`].
    #[inline]
    pub(crate) fn place(&mut self, at: Cycle) -> &mut T {
        let end = &mut self.ends[(at & self.mask) as usize];
        if end.is_multiple_of(Chunks::<T>::SIZE) {
            *end = self.chunks.take(*end);
        }
        let event = &mut self.chunks.events[*end as usize];
        *end += 1;
        event
    }

    /// Takes some events of `now`; `None` when all are taken. To be followed by
    /// [`Wheel::events`] and [`Wheel::done`].
    #[inline]
    pub(crate) fn take(&mut self, now: Cycle) -> Option<Due> {
        let bucket = &mut self.ends[(now & self.mask) as usize];
        let end = *bucket;
        let chunk = end.checked_sub(1)? / Chunks::<T>::SIZE;
        *bucket = self.chunks.before[chunk as usize];
        Some(Due { first: chunk * Chunks::<T>::SIZE, end })
    }

    /// Takes all events of `now`, some at a time; `look` schedules nothing here.
    #[inline(always)]
    pub(crate) fn drain(&mut self, now: Cycle, mut look: impl FnMut(&[T])) {
        while let Some(due) = self.take(now) {
            look(self.events(due));
            self.done(due);
        }
    }

    /// Lends all events, those that were taken among them, until [`Wheel::restore`]: meanwhile nothing can be
    /// scheduled.
    #[inline]
    pub(crate) fn lend(&mut self) -> Vec<T> {
        std::mem::take(&mut self.chunks.events)
    }

    /// Takes the events back that were lent.
    #[inline]
    pub(crate) fn restore(&mut self, events: Vec<T>) {
        self.chunks.events = events;
    }

    /// All events that were taken.
    #[inline]
    pub(crate) fn events(&self, due: Due) -> &[T] {
        &self.chunks.events[due.range()]
    }

    /// Gives the room of the events back.
    #[inline]
    pub(crate) fn done(&mut self, due: Due) {
        let chunk = due.first / Chunks::<T>::SIZE;
        self.chunks.before[chunk as usize] = self.chunks.free;
        self.chunks.free = chunk;
    }

    /// Something of each cache line, events by `word`.
    pub(crate) fn lines(&self, word: impl Fn(&T) -> u32) -> impl Iterator<Item = u32> {
        let dense = self.ends.iter().step_by(16).chain(self.chunks.before.iter().step_by(16));
        dense.copied().chain(self.chunks.events.iter().step_by(64 / size_of::<T>()).map(word))
    }

    /// The first cycle of `from..to` for which an event is scheduled, or `to`; `from` is not taken yet.
    pub(crate) fn next(&self, from: Cycle, to: Cycle) -> Cycle {
        let (before, after) = self.ends.split_at((from & self.mask) as usize);
        let most = (to - from).min(self.mask + 1) as usize;
        let first = &after[..after.len().min(most)];
        let second = &before[..most - first.len()];
        let found = used(first).or_else(|| Some(first.len() + used(second)?));
        found.map_or(to, |cycles| from + cycles as Cycle)
    }

    /// Number of events that are scheduled.
    pub(crate) fn len(&self) -> u32 {
        self.pending().count() as u32
    }

    /// Every event that is scheduled.
    pub(crate) fn pending(&self) -> impl Iterator<Item = T> + '_ {
        let places = self.ends.iter().flat_map(|end| {
            let lasts = std::iter::successors(end.checked_sub(1), |last| {
                self.chunks.before[(last / Chunks::<T>::SIZE) as usize].checked_sub(1)
            });
            lasts.flat_map(|last| last / Chunks::<T>::SIZE * Chunks::<T>::SIZE..=last)
        });
        places.map(|place| self.chunks.events[place as usize])
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::Wheel;

    proptest! {
        #[test]
        fn the_next_event_is_found(
            events in btree_set(0_u32..300, 0..4),
            (from, length) in (1_u32..5_000, 0_u32..2_000),
        ) {
            let mut wheel = Wheel::new(298);
            events.iter().for_each(|after| wheel.push(from + after, *after));
            let first = events.first().map_or(u32::MAX, |after| from + after);
            prop_assert_eq!(wheel.next(from, from + length), first.min(from + length));
        }
    }
}
