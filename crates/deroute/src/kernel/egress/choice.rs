//! Which packet leaves an output, and when it is looked at again.

use super::output_queues::{OutputQueues, Port};
use super::queued::Queued;
use super::schedule::{Ready, Schedule};
use crate::ids::Cycle;
use crate::kernel::control::PauseFrame;
use crate::kernel::core::Core;
use crate::kernel::core::fetch::{members, touch};
use crate::kernel::core::mail::Signal;
use crate::kernel::core::packet::NONE;

/// A queue whose first packet leaves, and when one of the others of its port may, as far as is known.
#[derive(Clone, Copy)]
pub(super) struct Chosen {
    pub(super) queue: u8,
    others: Cycle,
}

impl Queued {
    /// Fetches the ports that are looked at in this cycle, and their first packets.
    pub(super) fn fetch_due(&self, core: &Core) {
        let OutputQueues { ports, fifos, waiting, .. } = &self.queues;
        let due = || self.due.iter().map(|port| *port as usize);
        touch(due().map(|port| ports[port].free_at));
        touch(due().filter_map(|port| core.outputs.get(port)).map(|output| output.queued));
        let heads = || {
            due().map(|port| {
                let Port { queues, occupied, paused, .. } = &ports[port];
                let open = (occupied & !paused).trailing_zeros() as usize;
                // The first queue if none may send.
                let queue = if open == 64 { 0 } else { open };
                fifos[*queues as usize + queue].head
            })
        };
        touch(heads());
        touch(heads().map(|head| core.after(head)));
        let waits = |head: u32| waiting.get(head as usize).map_or(0, |waiting| waiting.vc.into());
        touch(heads().map(waits));
    }

    /// Lets queues of a port send again whose time of silence is over; says when the next one is.
    #[cold]
    pub(super) fn end_silences(&mut self, core: &Core, port: u32) -> Cycle {
        let state = &mut self.queues.ports[port as usize];
        let mut next = Cycle::MAX;
        for queue in members(state.paused) {
            let index = (state.queues + queue) as usize;
            let until = self.silences.until(index);
            if until <= core.now {
                self.silences.end(core, index, until);
                state.paused &= !(1 << queue);
            } else if state.occupied >> queue & 1 == 1 {
                next = next.min(until);
            }
        }
        next
    }

    /// The packet of a port that leaves in this cycle, if one can. If not, sees to it that the port is looked at
    /// when one may, unless a signal will tell.
    #[inline(always)]
    pub(super) fn choose(&mut self, core: &Core, port: u32) -> Option<Chosen> {
        let (now, free_at) = (core.now, self.queues.ports[port as usize].free_at);
        if free_at > now {
            self.queues.schedule(port, now, free_at);
            return None;
        }
        // Of those that may not leave yet the first that may.
        let mut next =
            if self.queues.plan.silence_ends { self.end_silences(core, port) } else { Cycle::MAX };
        let OutputQueues { ports, fifos, turns, plan, .. } = &mut self.queues;
        let state = &ports[port as usize];
        let first = state.queues as usize;
        let mut ready = 0_u64;
        for queue in members(state.occupied & !state.paused) {
            let at = fifos[first + queue as usize].ready;
            if at <= now {
                ready |= 1 << queue;
            } else {
                next = next.min(at);
            }
        }
        if ready == 0 {
            if next != Cycle::MAX {
                self.queues.schedule(port, now, next);
            }
            return None;
        }
        let queue_per_vc = state.queue_per_vc;
        let queue = if ready.is_power_of_two() && matches!(plan.schedule, Schedule::Strict) {
            let queue = ready.trailing_zeros() as u8;
            turns.pass(port, queue, if queue_per_vc { plan.class_of(queue) } else { queue });
            queue
        } else {
            let of_class = |class| if queue_per_vc { plan.vcs_of(class) } else { 1 << class };
            let size = |queue| core.pool[fifos[first + usize::from(queue)].head].packet.size;
            turns.choose(port, &plan.schedule, &Ready { queues: ready, of_class }, size)
        };
        let others = if ready.is_power_of_two() { next } else { now };
        Some(Chosen { queue, others })
    }

    /// The same where frames may break, or must be kept until they are acknowledged.
    #[inline(always)]
    pub(super) fn next(&mut self, core: &Core, port: u32) -> Option<Chosen> {
        if self.retry.is_some() { self.next_kept(core, port) } else { self.choose(core, port) }
    }

    #[inline(never)]
    fn next_kept(&mut self, core: &Core, port: u32) -> Option<Chosen> {
        let retry = self.retry.as_ref()?;
        if let Some(until) = retry.waits_until(port, core.now) {
            self.queues.schedule(port, core.now, until);
            return None;
        }
        let chosen = self.choose(core, port)?;
        let state = &self.queues.ports[port as usize];
        let head = self.queues.fifos[state.queues as usize + usize::from(chosen.queue)].head;
        let frame = (core.pool[head].packet.size.into(), state.period);
        let retry = self.retry.as_mut()?;
        let Some(until) = retry.refuses(port, frame, core.now) else { return Some(chosen) };
        self.queues.schedule(port, core.now, until);
        None
    }

    /// Takes the first packet off the queue of a port that has been chosen, whose link is busy with it from now on;
    /// returns it, and for how long.
    #[inline(always)]
    pub(super) fn pop(&mut self, core: &mut Core, port: u32, chosen: Chosen) -> (u32, u32) {
        let Chosen { queue, others } = chosen;
        let OutputQueues { ports, fifos, plan, .. } = &mut self.queues;
        let state = &mut ports[port as usize];
        let fifo = &mut fifos[state.queues as usize + usize::from(queue)];
        let packet = fifo.head;
        let (next, size) = core.pool.take(packet);
        let mut at = others;
        fifo.head = next;
        if next == NONE {
            state.occupied &= !(1 << queue);
        } else {
            fifo.ready = core.pool[next].arrival;
            at = at.min(fifo.ready);
        }
        let size = u32::from(size);
        fifo.phits -= size;
        let duration = size * state.period;
        state.phits -= size;
        state.free_at = core.now + duration;
        (state.left_at, state.leaving) = (state.free_at, queue);
        // Silences that end by themselves are looked at as soon as the link is free.
        if plan.silence_ends && state.occupied != 0 {
            at = core.now;
        }
        if at != Cycle::MAX {
            let at = at.max(state.free_at);
            self.queues.schedule(port, core.now, at);
        }
        (packet, duration)
    }

    /// Queues of an output are told to be silent, or to go on.
    pub(super) fn silence(&mut self, core: &Core, signal: Signal, pause: PauseFrame) {
        let port = signal.port();
        if self.queues.plan.silence_ends {
            self.end_silences(core, port);
        }
        let state = &self.queues.ports[port as usize];
        let queues =
            if pause.whole_link { u64::MAX } else { 1 << self.queues.queue_of(port, signal.vc()) };
        let first = state.queues as usize;
        let all = u64::MAX >> (64 - self.queues.count);
        let changed = queues & all & if pause.stops { !state.paused } else { state.paused };
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
        let state = &mut self.queues.ports[port as usize];
        state.paused ^= changed;
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
