//! The departure is computed at the grant: packets leave in the order of their grants, since nothing can hold
//! them once room downstream is theirs.

use super::{Departing, Egress};
use crate::ids::Cycle;
use crate::kernel::control::Control;
use crate::kernel::core::Core;
use crate::kernel::core::mail::Signal;
use crate::kernel::core::ports::{LeadsTo, Output};
use crate::kernel::datapath::{Datapath, Grant, Room};
use crate::kernel::hosts::Entering;
use crate::kernel::machine::Machine;
use crate::kernel::model::Model;

/// Has no state but the cycle in which the link of each output is free.
pub(crate) struct Fixed;

/// Space for a packet in an output whose link is known to be free from `link_free` on: a head that would not wait
/// for its link fits, and the buffer holds the largest packet.
#[inline(always)]
pub(super) fn space(model: &Model, output: &Output, now: Cycle, size: u16) -> Room {
    let end = output.link_free.max(now) + u32::from(size);
    if end - now > model.output_buffer {
        return Room::From(end - model.output_buffer);
    }
    Room::Enough
}

impl Egress for Fixed {
    const QUEUED: bool = false;

    fn new(_model: &Model, _core: &Core) -> Self {
        Self
    }

    #[inline(always)]
    fn space(&self, model: &Model, output: &Output, (_, now): (u32, Cycle), size: u16) -> Room {
        space(model, output, now, size)
    }

    #[inline(always)]
    fn take<M: Machine<Egress = Self>>(path: &mut Datapath<M>, grant: &Grant) -> Cycle {
        let Datapath { core, control, .. } = path;
        let Core { outputs, credits, model, collector, now, .. } = core;
        let output = &mut outputs[grant.out as usize];
        let size = u32::from(grant.request.size);
        output.busy_until = grant.write_until;
        if grant.turn {
            output.pointer = grant.in_port + 1;
        }
        let departure = output.link_free.max(*now + model.pipeline);
        output.link_free = departure + size;
        output.sent += collector.overlap(departure, size);
        collector.grants += 1;
        // Without a branch: whether a packet stays in the network is hardly predictable.
        let taken = if output.leads_to == LeadsTo::Host { 0 } else { size };
        control.take(model, output, credits, (grant.out, grant.request.vc, taken));
        let (leads_to, downstream) = (output.leads_to, output.downstream);
        path.leave_input(grant);
        let arrival = departure + downstream.latency;
        if leads_to == LeadsTo::Host {
            path.core.collector.delivered += 1;
            path.eject(downstream.port, grant.packet, arrival + size);
        } else {
            path.depart(grant.packet, grant.request, downstream, arrival);
        }
        departure
    }

    fn inject<M: Machine<Egress = Self>>(_path: &mut Datapath<M>, _entering: Entering) {}

    #[inline(always)]
    fn hear(&mut self, _core: &mut Core, _signal: Signal) -> bool {
        false
    }

    fn send_frame(&mut self, core: &Core, _port: u32, _phits: u32) -> Cycle {
        core.now
    }

    fn silence(&self, _core: &Core, _port: u32, _vcs: u8) -> (u64, u64) {
        (0, 0)
    }

    #[inline(always)]
    fn run<M: Machine<Egress = Self>>(_path: &mut Datapath<M>, _freed: impl FnMut(&Core, u32)) {}

    fn finish<M: Machine<Egress = Self>>(_path: &mut Datapath<M>) {}

    fn departing(&self, _core: &Core) -> Vec<Departing> {
        Vec::new()
    }
}
