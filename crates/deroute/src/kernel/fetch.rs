//! Fetching what is going to be looked at into the cache, all of it together.
//!
//! A look at memory that is far away takes as long as hundreds of instructions, and the next look often
//! depends on it. Looks that do not depend on each other overlap, if they follow each other closely.

use std::hint::select_unpredictable;

use super::packet::{Flight, NONE};
use super::partition::Partition;
use super::state::Queue;

/// Ports of a partition whose state no cache near a core holds.
pub(super) const FAR: usize = 16_384;

/// Reads something of each of several things, so that their cache lines are fetched together and
/// not one after the other by what follows.
#[inline]
pub(super) fn touch(things: impl Iterator<Item = u32>) {
    std::hint::black_box(things.fold(0, |all, one| all ^ one));
}

impl Partition {
    /// Something of the packet after the one at `index`.
    #[inline]
    pub(super) fn after(&self, index: u32) -> u32 {
        if index == NONE { NONE } else { self.pool[index].next }
    }

    /// The queues in which packets arrive, and their last packets.
    pub(super) fn fetch_tails(&self, flights: &[Flight]) {
        let queue = |flight: &Flight| {
            let first = self.inputs[flight.to.port() as usize].queues;
            &self.queues[first as usize + usize::from(flight.to.vc())]
        };
        touch(flights.iter().map(|flight| queue(flight).head));
        touch(flights.iter().map(|flight| {
            let Queue { head, tail, .. } = *queue(flight);
            self.after(if head == NONE { NONE } else { tail })
        }));
    }

    /// The heads that are looked at in this cycle, and what they want.
    pub(super) fn fetch_heads(&mut self) {
        let mut heads = std::mem::take(&mut self.heads);
        heads.extend(self.ripe.iter().map(|port| (0, port)));
        touch(heads.iter().map(|(_, port)| self.inputs[*port as usize].queues));
        for index in 0..heads.len() {
            let input = &self.inputs[heads[index].1 as usize];
            let base = input.base;
            heads[index].0 = base;
            let mut vcs = members(input.occupied).map(|vc| input.queues + vc);
            heads[index].1 = vcs.next().unwrap_or(input.queues);
            heads.extend(vcs.map(|queue| (base, queue)));
        }
        let queue = |(_, queue): (u32, u32)| &self.queues[queue as usize];
        touch(heads.iter().map(|head| queue(*head).head));
        let decided = |head| self.decided.get(queue(head).head as usize);
        if self.on_arrival {
            touch(heads.iter().map(|head| decided(*head).map_or(0, |wish| u32::from(wish.out))));
        }
        let output = |head: (u32, u32)| {
            let wish = &queue(head).wish;
            let wish = if wish.routed { wish } else { decided(head).unwrap_or(wish) };
            &self.outputs[(head.0 + u32::from(wish.out)) as usize]
        };
        touch(heads.iter().map(|head| output(*head).queued));
        if let Some(first) = heads.first() {
            let first = queue(*first).head;
            touch(heads.iter().map(|head| {
                let free = output(*head).busy_until <= self.now;
                // Without a branch: hardly predictable.
                self.after(select_unpredictable(free, queue(*head).head, first))
            }));
        }
        heads.clear();
        self.heads = heads;
    }
}

/// The members of a set, from the least on.
#[inline]
pub(super) fn members(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let member = (set != 0).then(|| set.trailing_zeros());
        set &= set.wrapping_sub(1);
        member
    })
}
