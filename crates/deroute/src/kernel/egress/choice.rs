//! Which packet leaves an output, and when it is looked at again.

use super::looks::Looks;
use super::output_queues::OutputQueues;
use super::port::{Departure, Fifo, Port};
use super::queued::Queued;
use super::schedule::{Ready, Schedule, Turns};
use crate::ids::Cycle;
use crate::kernel::control::PauseFrame;
use crate::kernel::core::Core;
use crate::kernel::core::fetch::{members, touch};
use crate::kernel::core::mail::Signal;
use crate::kernel::core::packet::{NONE, Pool};
use crate::kernel::model::EgressModel;
use std::hint::select_unpredictable;

/// A queue whose first packet leaves, and when one of the others of its port may, as far as is known.
#[derive(Clone, Copy)]
struct Chosen {
    queue: u8,
    others: Cycle,
}

/// So many queues are looked at one by one, whether they hold packets or not.
const FEW: usize = 4;

/// A look at a port: what is there.
pub(super) struct Look<'a> {
    port: u32,
    now: Cycle,
    state: &'a mut Port,
    fifos: &'a mut [Fifo],
    /// Queues that have been told to be silent.
    paused: u64,
    turns: &'a mut Turns,
    looks: &'a mut Looks,
    plan: &'a EgressModel,
}

impl OutputQueues {
    /// Looks at a port.
    #[inline(always)]
    fn look(&mut self, port: u32, now: Cycle) -> Look<'_> {
        let (first, paused) = (self.first(port), self.paused(port));
        let Self { ports, fifos, turns, looks, plan, count, .. } = self;
        let (state, fifos) = (&mut ports[port as usize], &mut fifos[first..]);
        let fifos = &mut fifos[..usize::from(*count)];
        Look { port, now, state, fifos, paused, turns, looks, plan }
    }
}

impl Look<'_> {
    /// The queue whose first packet leaves in this cycle. If there is none, sees to it that the port is looked at when one
    /// may, and in the cycle `next`, when a silence ends.
    #[inline(always)]
    fn choose(&mut self, pool: &Pool, mut next: Cycle) -> Option<Chosen> {
        let Self { port, now, state, fifos, paused, turns, looks, plan } = self;
        let (port, now) = (*port, *now);
        if state.free_at > now {
            looks.plan(state, (port, state.free_at), now);
            return None;
        }
        // Of those that may not leave yet the first that may.
        let (open, mut ready) = (state.occupied & !*paused, 0_u64);
        // Without branches: which queues hold packets, and whether these may leave, is hardly predictable.
        let mut look = |queue: u32, at: Cycle| {
            let here = open >> queue & 1;
            let ripe = u64::from(at <= now);
            ready |= (here & ripe) << queue;
            next = next.min(select_unpredictable(here > ripe, at, Cycle::MAX));
        };
        if fifos.len() <= FEW {
            (0..).zip(fifos.iter()).for_each(|(queue, fifo)| look(queue, fifo.ready));
        } else {
            members(open).for_each(|queue| look(queue, fifos[queue as usize].ready));
        }
        if ready == 0 {
            if next != Cycle::MAX {
                looks.plan(state, (port, next), now);
            }
            return None;
        }
        let queue_per_vc = state.owner.queue_per_vc();
        let queue = if ready.is_power_of_two() && matches!(plan.schedule, Schedule::Strict) {
            let queue = ready.trailing_zeros() as u8;
            turns.pass(port, queue, if queue_per_vc { plan.class_of(queue) } else { queue });
            queue
        } else {
            let of_class = |class| if queue_per_vc { plan.vcs_of(class) } else { 1 << class };
            let size = |queue| pool[fifos[usize::from(queue)].head].packet.size;
            turns.choose(port, &plan.schedule, &Ready { queues: ready, of_class }, size)
        };
        Some(Chosen { queue, others: if ready.is_power_of_two() { next } else { now } })
    }

    /// Takes the first packet off the queue that has been chosen; the link is busy with it from now on.
    #[inline(always)]
    fn pop(&mut self, pool: &mut Pool, Chosen { queue, others }: Chosen) -> Departure {
        let Self { port, now, state, fifos, looks, plan, .. } = self;
        let fifo = &mut fifos[usize::from(queue)];
        let packet = fifo.head;
        let (next, ready, size) = pool.take(packet);
        (fifo.head, fifo.ready) = (next, ready);
        // Without branches: hardly predictable.
        let last = next == NONE;
        state.occupied &= !(u64::from(last) << queue);
        let mut at = others.min(select_unpredictable(last, Cycle::MAX, ready));
        let size = u32::from(size);
        fifo.phits -= size;
        let duration = size * state.period;
        state.phits -= size;
        state.free_at = *now + duration;
        (state.left_at, state.leaving) = (state.free_at, queue);
        // Silences that end by themselves are looked at as soon as the link is free.
        if plan.silence_ends && state.occupied != 0 {
            at = *now;
        }
        if at != Cycle::MAX {
            let at = at.max(state.free_at);
            looks.plan(state, (*port, at), *now);
        }
        Departure { packet, queue, owner: state.owner, duration }
    }
}

impl Queued {
    /// Fetches the ports that are looked at in this cycle, and their first packets.
    pub(super) fn fetch_due(&self, core: &Core) {
        let queues = &self.queues;
        let due = || self.due.iter().flatten().copied();
        let outputs = || due().filter_map(|port| core.outputs.get(port as usize));
        touch(outputs().map(|output| output.queued));
        let heads = || {
            due().map(|port| {
                let open = queues.ports[port as usize].occupied & !queues.paused(port);
                // The first queue if none may send.
                let queue = if open == 0 { 0 } else { open.trailing_zeros() as u8 };
                (port, queue, queues.fifos[queues.place(port, queue)].head)
            })
        };
        touch(heads().map(|(.., head)| head));
        touch(heads().map(|(.., head)| core.after(head)));
        let packets = heads().filter(|(.., head)| *head != NONE);
        let owner = |port| queues.ports[port as usize].owner;
        let waits = |(port, queue, head)| queues.waits_for((owner(port), queue), head).0.into();
        touch(packets.map(waits));
    }

    /// Lets queues of a port send again whose time of silence is over; says when the next one is.
    #[cold]
    pub(super) fn end_silences(&mut self, core: &Core, port: u32) -> Cycle {
        let occupied = self.queues.ports[port as usize].occupied;
        let paused = self.queues.paused(port);
        let (mut next, mut left) = (Cycle::MAX, paused);
        for queue in members(paused) {
            let index = self.queues.place(port, queue as u8);
            let until = self.silences.until(index);
            if until <= core.now {
                self.silences.end(core, index, until);
                left &= !(1 << queue);
            } else if occupied >> queue & 1 == 1 {
                next = next.min(until);
            }
        }
        if left != paused {
            self.queues.pause(port, left);
        }
        next
    }

    /// The packet of a port that leaves in this cycle, if one can, taken off its queue. If not, sees to it that the port
    /// is looked at when one may, unless a signal will tell.
    #[inline(always)]
    pub(super) fn next(&mut self, core: &mut Core, port: u32) -> Option<Departure> {
        if self.retry.is_some() { self.next_kept(core, port) } else { self.leave(core, port) }
    }

    /// The same whether frames may break or not.
    #[inline(always)]
    pub(super) fn leave(&mut self, core: &mut Core, port: u32) -> Option<Departure> {
        let (mut look, chosen) = self.choose(core, port)?;
        Some(look.pop(&mut core.pool, chosen))
    }

    /// The same where frames may break, or must be kept until they are acknowledged.
    #[inline(never)]
    fn next_kept(&mut self, core: &mut Core, port: u32) -> Option<Departure> {
        let retry = self.retry.as_ref()?;
        if let Some(until) = retry.waits_until(port, core.now) {
            self.queues.schedule(port, core.now, until);
            return None;
        }
        let (look, chosen) = self.choose(core, port)?;
        let head = look.fifos[usize::from(chosen.queue)].head;
        let frame = (core.pool[head].packet.size.into(), look.state.period);
        let retry = self.retry.as_mut()?;
        if let Some(until) = retry.refuses(port, frame, core.now) {
            self.queues.schedule(port, core.now, until);
            return None;
        }
        Some(self.queues.look(port, core.now).pop(&mut core.pool, chosen))
    }

    /// The queue of a port whose first packet leaves in this cycle, as [`Queued::next`].
    #[inline(always)]
    fn choose(&mut self, core: &Core, port: u32) -> Option<(Look<'_>, Chosen)> {
        let mut next = Cycle::MAX;
        if self.queues.plan.silence_ends && self.queues.ports[port as usize].free_at <= core.now {
            next = self.end_silences(core, port);
        }
        let mut look = self.queues.look(port, core.now);
        let chosen = look.choose(&core.pool, next)?;
        Some((look, chosen))
    }

    /// Queues of an output are told to be silent, or to go on.
    pub(super) fn silence(&mut self, core: &Core, signal: Signal, pause: PauseFrame) {
        let port = signal.port();
        if self.queues.plan.silence_ends {
            self.end_silences(core, port);
        }
        let queues =
            if pause.whole_link { u64::MAX } else { 1 << self.queues.queue_of(port, signal.vc()) };
        let (first, paused) = (self.queues.first(port), self.queues.paused(port));
        let all = u64::MAX >> (64 - self.queues.count);
        let changed = queues & all & if pause.stops { !paused } else { paused };
        for queue in members(changed) {
            let queue = first + queue as usize;
            if pause.stops {
                self.silences.begin(queue, core.now);
            } else {
                self.silences.end(core, queue, core.now);
            }
        }
        if self.queues.plan.silence_ends && pause.stops {
            let until = pause.duration.map_or(Cycle::MAX, |duration| core.now + duration);
            members(queues & all)
                .for_each(|queue| self.silences.last_until(first + queue as usize, until));
        }
        self.queues.pause(port, paused ^ changed);
        let state = &self.queues.ports[port as usize];
        let at = match pause.duration {
            Some(duration) if pause.stops => Some(core.now + duration),
            _ if pause.stops => None,
            _ => Some(state.free_at),
        };
        if let Some(at) = at
            && state.occupied & queues != 0
        {
            self.queues.schedule(port, core.now, at);
        }
    }
}
