//! Whatever a run asks for: lengths of queues, dependencies between channels, changes that agents watch.

use super::occupancy::Occupancy;
use super::{Books, Observed};
use crate::ids::Cycle;
use crate::kernel::agents::Agents;
use crate::kernel::core::Core;
use crate::kernel::core::grant::Grant;
use crate::kernel::core::mail::Signal;
use crate::kernel::core::ports::{Output, OutputRequest, PortKind};
use crate::kernel::model::Model;
use serde::{Deserialize, Serialize};

/// Each book is kept if the run asks for it.
#[derive(Serialize, Deserialize)]
pub(crate) struct AllBooks {
    occupancy: Option<Box<Occupancy>>,
    dependencies: Option<Box<Observed>>,
    /// One of the two.
    any: bool,
}

impl AllBooks {
    /// Does what some runs need when a packet is granted.
    #[inline(never)]
    fn book(&mut self, core: &Core, grant: &Grant, departure: Option<Cycle>) {
        let output = &core.outputs[grant.out as usize];
        let onward = output.kind == PortKind::Link;
        if let Some(observed) = &mut self.dependencies {
            let request = grant.request;
            let to = onward.then_some((request.out, request.vc));
            let from = (!grant.injection).then_some((grant.in_port, grant.in_vc));
            // Nobody escapes through a VC of a link that is paused as a whole.
            let whole_link = core.model.pauses_whole_link(output.class);
            let escape = core.model.escape.filter(|_| !whole_link);
            if escape.is_none_or(|escape| escape.0 == request.vc) {
                observed.add(output.router, from, to);
            }
        }
        if let Some(occupancy) = &mut self.occupancy
            && onward
        {
            let size = core.model.charge(output.class, grant.request.size.into()) as u16;
            let at = (grant.out, OutputRequest { size, ..grant.request });
            occupancy.lengthen(at, output.link_free);
            if let Some(departure) = departure {
                let whole = u32::from(grant.request.size) * core.period(grant.out);
                occupancy.depart((output.downstream.latency, whole), at, departure);
            }
        }
    }
}

impl Books for AllBooks {
    const KEPT: bool = true;

    fn new(model: &Model, outputs: usize, record: bool) -> Self {
        let occupancy = model.lengths.then(|| Box::new(Occupancy::new(model, outputs)));
        let dependencies = record.then(Box::default);
        let any = occupancy.is_some() || dependencies.is_some();
        Self { occupancy, dependencies, any }
    }

    #[inline]
    fn begin(&mut self, core: &Core, agents: &mut Agents) {
        let Some(occupancy) = &mut self.occupancy else { return };
        let watched = agents.watches.queues;
        occupancy.update(core.now, |port| {
            let Output { router, global, .. } = core.outputs[port as usize];
            if watched && global {
                agents.mark_changed(router);
            }
        });
    }

    #[inline(always)]
    fn granted(
        &mut self,
        core: &Core,
        agents: &mut Agents,
        grant: &Grant,
        departure: Option<Cycle>,
    ) {
        if agents.watches.queues {
            let Output { router, global, .. } = core.outputs[grant.out as usize];
            if global {
                agents.mark_changed(router);
            }
        }
        if self.any {
            self.book(core, grant, departure);
        }
    }

    #[inline(always)]
    fn credited(&mut self, core: &Core, agents: &mut Agents, signal: Signal) {
        if agents.watches.queues {
            let Output { router, global, .. } = core.outputs[signal.port() as usize];
            if global {
                agents.mark_changed(router);
            }
        }
        if let Some(occupancy) = &mut self.occupancy {
            occupancy.shorten(signal);
        }
    }

    #[inline(always)]
    fn departed(&mut self, core: &Core, agents: &mut Agents, sent: (u32, OutputRequest)) {
        if agents.watches.queues || self.occupancy.is_some() {
            self.note_departure(core, agents, sent);
        }
    }

    fn due(&self, from: Cycle, to: Cycle) -> Cycle {
        self.occupancy.as_ref().map_or(to, |occupancy| occupancy.due(from, to))
    }

    #[inline(always)]
    fn occupancy(&self) -> Option<&Occupancy> {
        self.occupancy.as_deref()
    }

    fn dependencies(&self) -> Option<&Observed> {
        self.dependencies.as_deref()
    }
}

impl AllBooks {
    #[inline(never)]
    fn note_departure(&mut self, core: &Core, agents: &mut Agents, sent: (u32, OutputRequest)) {
        let Output { router, global, kind, downstream, class, .. } = core.outputs[sent.0 as usize];
        let pauses = core.model.replaces_credits(class);
        if agents.watches.queues && global && pauses {
            agents.mark_changed(router);
        }
        let Some(occupancy) = self.occupancy.as_mut().filter(|_| kind == PortKind::Link) else {
            return;
        };
        if pauses {
            let (port, request) = sent;
            occupancy.shorten(Signal::new(port, request.vc, request.size.into()));
        } else {
            let (port, request) = sent;
            let size = core.model.charge(class, request.size.into()) as u16;
            let sent = (port, OutputRequest { size, ..request });
            let whole = u32::from(request.size) * core.period(port);
            occupancy.depart((downstream.latency, whole), sent, core.now);
        }
    }
}
