//! Which packet leaves an output, and when it is looked at again.

use super::output_queues::{Fifo, OutputQueues};
use super::queued::Queued;
use super::schedule::{Candidate, Schedule};
use crate::ids::Cycle;
use crate::kernel::control::PauseFrame;
use crate::kernel::core::Core;
use crate::kernel::core::fetch::members;
use crate::kernel::core::mail::Signal;
use crate::kernel::core::packet::NONE;

impl Queued {
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
    #[inline]
    pub(super) fn choose(&mut self, core: &Core, port: u32) -> Option<u8> {
        let (now, free_at) = (core.now, self.queues.ports[port as usize].free_at);
        if free_at > now {
            self.queues.schedule(port, now, free_at);
            return None;
        }
        let expires =
            if self.queues.plan.silence_ends { self.end_silences(core, port) } else { Cycle::MAX };
        let state = &self.queues.ports[port as usize];
        let open = state.occupied & !state.paused;
        if matches!(self.queues.plan.schedule, Schedule::Strict) && open.is_power_of_two() {
            let queue = open.trailing_zeros();
            let ready = self.queues.of(state)[queue as usize].ready;
            if ready <= now {
                let (queue, class) = (queue as u8, self.queues.class_of(port, queue as u8));
                self.queues.turns.only(port, queue, class);
                return Some(queue);
            }
            self.queues.schedule(port, now, ready.min(expires));
            return None;
        }
        self.candidates.clear();
        let mut ready_at = expires;
        let fifos = self.queues.of(state);
        for queue in members(open) {
            let Fifo { head, ready, .. } = fifos[queue as usize];
            if ready > now {
                ready_at = ready_at.min(ready);
                continue;
            }
            let queue = queue as u8;
            let class = self.queues.class_of(port, queue);
            self.candidates.push(Candidate { queue, class, size: core.pool[head].packet.size });
        }
        if self.candidates.is_empty() {
            if ready_at != Cycle::MAX {
                self.queues.schedule(port, now, ready_at);
            }
            return None;
        }
        let OutputQueues { turns, plan, .. } = &mut self.queues;
        Some(turns.choose(port, &plan.schedule, &self.candidates).queue)
    }

    /// The same where frames may break, or must be kept until they are acknowledged.
    pub(super) fn next(&mut self, core: &Core, port: u32) -> Option<u8> {
        let Some(retry) = &self.retry else { return self.choose(core, port) };
        if let Some(until) = retry.waits_until(port, core.now) {
            self.queues.schedule(port, core.now, until);
            return None;
        }
        let queue = self.choose(core, port)?;
        let state = &self.queues.ports[port as usize];
        let head = self.queues.fifos[state.queues as usize + usize::from(queue)].head;
        let frame = (core.pool[head].packet.size.into(), state.period);
        let retry = self.retry.as_mut()?;
        let Some(until) = retry.refuses(port, frame, core.now) else { return Some(queue) };
        self.queues.schedule(port, core.now, until);
        None
    }

    /// When a port that holds packets can send next, as far as is known now.
    #[inline]
    fn next_chance(&self, port: u32) -> Cycle {
        let state = &self.queues.ports[port as usize];
        let open = state.occupied & !state.paused;
        if self.queues.plan.silence_ends || open == 0 {
            return state.free_at;
        }
        let fifos = self.queues.of(state);
        let ready = members(open).map(|queue| fifos[queue as usize].ready).min();
        ready.unwrap_or(0).max(state.free_at)
    }

    /// Takes the first packet off a queue of a port, whose link is busy with it from now on.
    #[inline]
    pub(super) fn pop(&mut self, core: &mut Core, port: u32, queue: u8) -> (u32, u32) {
        let state = &mut self.queues.ports[port as usize];
        let fifo = &mut self.queues.fifos[state.queues as usize + usize::from(queue)];
        let packet = fifo.head;
        let (next, _) = core.pool.remove(packet);
        fifo.head = next;
        if next != NONE {
            fifo.ready = core.pool[next].arrival;
        }
        state.occupied &= !(u64::from(next == NONE) << queue);
        let size = u32::from(core.pool[packet].packet.size);
        fifo.phits -= size;
        let duration = size * state.period;
        state.phits -= size;
        state.free_at = core.now + duration;
        (state.left_at, state.leaving) = (state.free_at, queue);
        if state.occupied != 0 {
            let at = self.next_chance(port);
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
