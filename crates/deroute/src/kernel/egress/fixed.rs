//! The departure is computed at the grant: packets leave in the order of their grants, since nothing can hold
//! them once room downstream is theirs.

use super::silence::{SilenceBins, SilenceRecord};
use crate::ids::Cycle;
use crate::kernel::control::Control;
use crate::kernel::core::Core;
use crate::kernel::core::grant::{Grant, Room};
use crate::kernel::core::mail::Signal;
use crate::kernel::core::ports::{LeadsTo, Output, OutputRequest};
use crate::kernel::hosts::Entering;
use crate::kernel::machine::{Datapath, Departing, Egress, Machine};
use crate::kernel::model::Model;
use crate::probe::marks::MarkRecord;
use crate::probe::notices::NoticeRecord;
use serde::{Deserialize, Serialize};

/// Has no state but the cycle in which the link of each output is free.
#[derive(Serialize, Deserialize)]
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

/// No packet of so many phits can be granted such an output before this cycle.
#[inline(always)]
fn not_before(model: &Model, output: &Output, size: u16) -> Cycle {
    let end = output.link_free + u32::from(size);
    output.busy_until.max(end.saturating_sub(model.output_buffer))
}

/// Cycles until the link of an output would be free.
pub(super) fn backlog(core: &Core, port: u32) -> u32 {
    core.outputs[port as usize].link_free.saturating_sub(core.now)
}

impl Egress for Fixed {
    const QUEUED: bool = false;

    fn new(_model: &Model, _core: &Core) -> Self {
        Self
    }

    #[inline(always)]
    fn sweep(&self, _packets: bool) {}

    #[inline(always)]
    fn space(
        &self,
        model: &Model,
        output: &Output,
        (_, now): (u32, Cycle),
        request: OutputRequest,
    ) -> Room {
        space(model, output, now, request.size)
    }

    #[inline(always)]
    fn not_before(model: &Model, output: &Output, size: u16) -> Cycle {
        not_before(model, output, size)
    }

    #[inline(always)]
    fn take<M: Machine<Egress = Self>>(path: &mut Datapath<M>, grant: &Grant) -> Option<Cycle> {
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
        Some(departure)
    }

    fn inject<M: Machine<Egress = Self>>(_path: &mut Datapath<M>, _entering: Entering) {}

    #[inline(always)]
    fn hear(&mut self, _core: &mut Core, _signal: Signal) -> bool {
        false
    }

    fn send_frame(&mut self, core: &Core, _port: u32, _phits: u32) -> Option<Cycle> {
        Some(core.now)
    }

    fn length(&self, core: &Core, port: u32, _queue: u8) -> u32 {
        backlog(core, port)
    }

    fn forget(&mut self) {}

    fn record_silences(&mut self, _bins: SilenceBins) {}

    fn silences(&self, _core: &Core, _port: u32, _vcs: u8) -> Vec<SilenceRecord> {
        Vec::new()
    }

    fn is_silent(&self, _port: u32, _vc: u8, _now: Cycle) -> bool {
        false
    }

    fn silent_since(&self, _port: u32, _vc: u8) -> Option<Cycle> {
        None
    }

    fn marks(&self, _port: u32) -> &[MarkRecord] {
        &[]
    }

    fn notices(&self, _port: u32) -> Vec<NoticeRecord> {
        Vec::new()
    }

    #[inline(always)]
    fn run<M: Machine<Egress = Self>>(_path: &mut Datapath<M>, _freed: impl FnMut(&Core, u32)) {}

    fn finish<M: Machine<Egress = Self>>(_path: &mut Datapath<M>) {}

    fn leaving(&self) -> u64 {
        0
    }

    fn departing(&self, _core: &Core) -> Vec<Departing> {
        Vec::new()
    }
}
