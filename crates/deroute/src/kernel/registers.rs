//! Registers before the crossbar: a head that can go on has left its buffer already.

use super::control::Control;
use super::core::Core;
use super::core::grant::Room;
use super::core::ports::PortKind;
use super::machine::{Datapath, Egress, Machine};
use crate::ids::Cycle;

impl<M: Machine> Datapath<M> {
    /// The head of a queue, which has been routed, moves from its buffer into a register, if it has the credits that it
    /// needs: those of its own place go back. If it has none, they will tell.
    pub(crate) fn fill_register(&mut self, (port, vc): (u32, u8), queue: usize) -> Room {
        let input = &self.core.inputs[port as usize];
        let (base, upstream) = (input.base, input.upstream);
        if input.kind == PortKind::Host && !self.has_host_links() {
            return Room::Enough;
        }
        let packet = self.core.queues[queue].head;
        if self.core.registers.hold(packet) {
            return Room::Enough;
        }
        if let Some(at) = whole_from(self, port as usize, queue) {
            return Room::From(at);
        }
        if !self.core.model.shared_by.is_empty() {
            self.take_emptiest(base, queue);
        }
        let request = self.core.queues[queue].request;
        if self.credit_blocked(base, &request) {
            let out = base + u32::from(request.out);
            self.core.outputs[out as usize].awaited = true;
            return Room::WithCredits;
        }
        let Self { core, control, .. } = self;
        core.registers.insert(packet);
        control.release(core, (port, upstream), vc, request.size);
        Room::Enough
    }
}

/// The cycle from which on a head may go on that has not arrived whole, if switches store and forward.
#[inline(always)]
pub(crate) fn whole_from<M: Machine>(
    path: &Datapath<M>,
    input: usize,
    queue: usize,
) -> Option<Cycle> {
    let core: &Core = &path.core;
    if !M::Egress::QUEUED || !core.model.store_and_forward {
        return None;
    }
    if core.inputs[input].kind == PortKind::Host && !path.has_host_links() {
        return None;
    }
    let slot = &core.pool[core.queues[queue].head];
    let whole = slot.arrival + u32::from(slot.packet.size) * core.period(input as u32);
    (whole > core.now).then_some(whole)
}
