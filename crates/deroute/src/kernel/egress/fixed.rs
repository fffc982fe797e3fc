//! The departure is computed at the grant: packets leave in the order of their grants, since nothing can hold
//! them once room downstream is theirs.

use super::Egress;
use crate::ids::Cycle;
use crate::kernel::control::Control;
use crate::kernel::core::Core;
use crate::kernel::core::ports::LeadsTo;
use crate::kernel::datapath::{Datapath, Grant};
use crate::kernel::machine::Machine;

/// Has no state but the cycle in which the link of each output is free.
pub(crate) struct Fixed;

impl Egress for Fixed {
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
            path.eject(downstream.port, grant.packet, arrival + size);
        } else {
            path.depart(grant, downstream, arrival);
        }
        departure
    }
}
