//! The queues at the links of hosts, in which packets with rate limiters come first, or wait apart.

use super::output_queues::OutputQueues;
use super::port::Fifo;
use crate::kernel::core::Core;
use crate::kernel::core::packet::{NONE, Packet};

impl OutputQueues {
    /// The place of a queue of a host among all, and its port.
    fn queue_at_host(&self, (host, queue): (u32, u8)) -> (usize, u32) {
        let port = self.outputs + host;
        (self.place(port, queue), port)
    }

    /// Does a packet wait in a queue of a host?
    pub(super) fn waits_at_host(&self, at: (u32, u8)) -> bool {
        self.fifos[self.queue_at_host(at).0].head != NONE
    }

    /// Puts a packet at the end of a queue of a host.
    pub(super) fn append_at_host(&mut self, core: &mut Core, at: (u32, u8), packet: u32) {
        let (port, now) = (self.outputs + at.0, core.now);
        self.add(core, (port, at.1), packet, now);
    }

    /// Puts a packet before all others of a queue of a host.
    pub(super) fn put_first(&mut self, core: &mut Core, at: (u32, u8), packet: u32) {
        let (place, port) = self.queue_at_host(at);
        let rest = self.fifos[place];
        if rest.head == NONE {
            self.append_at_host(core, at, packet);
            return;
        }
        let (state, now) = (&mut self.ports[port as usize], core.now);
        let slot = &mut core.pool[packet];
        (slot.next, slot.arrival) = (rest.head, rest.ready);
        let size = u32::from(slot.packet.size);
        state.phits += size;
        debug_assert!(state.occupied >> at.1 & 1 == 1, "something is behind it");
        self.fifos[place] = Fifo { head: packet, ready: now, phits: rest.phits + size, ..rest };
        let at = now.max(state.free_at);
        self.schedule(port, now, at);
    }

    /// Takes those packets out of a queue of a host that belong together, but perhaps not the first
    /// one: the first and the last of them.
    pub(super) fn extract(
        &mut self,
        core: &mut Core,
        at: (u32, u8),
        skip: bool,
        belongs: impl Fn(&Packet) -> bool,
    ) -> (u32, u32) {
        let (place, port) = self.queue_at_host(at);
        let Fifo { head: mut next, ready: mut leaves, .. } = self.fifos[place];
        let mut first = skip;
        // First and last packet of those that stay, and of those that do not, and when the first may leave.
        let mut lists = [(NONE, NONE, 0); 2];
        let mut phits = 0;
        while next != NONE {
            let packet = next;
            let slot = &mut core.pool[packet];
            let ready = std::mem::replace(&mut leaves, slot.arrival);
            next = std::mem::replace(&mut slot.next, NONE);
            let out = !first && belongs(&slot.packet);
            first = false;
            phits += if out { u32::from(slot.packet.size) } else { 0 };
            let (head, tail, from) = &mut lists[usize::from(out)];
            if *head == NONE {
                (*head, *from) = (packet, ready);
            } else {
                let before = &mut core.pool[*tail];
                (before.next, before.arrival) = (packet, ready);
            }
            *tail = packet;
        }
        let [(head, tail, ready), (first, last, _)] = lists;
        let fifo = &mut self.fifos[place];
        *fifo = Fifo { head, tail, phits: fifo.phits - phits, ready };
        let state = &mut self.ports[port as usize];
        state.phits -= phits;
        if head == NONE {
            state.occupied &= !(1 << at.1);
        }
        (first, last)
    }
}
