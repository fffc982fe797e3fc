//! What happens when a packet leaves an output, or a host.

use super::marking::Leaving;
use super::notify;
use super::port::Departure;
use super::queued::Queued;
use crate::congestion::NoticePlan;
use crate::ids::{PortId, RouterId};
use crate::kernel::books::Books;
use crate::kernel::control::Control;
use crate::kernel::core::Core;
use crate::kernel::core::packet::{BufferId, Flight, Packet};
use crate::kernel::core::ports::{OutputRequest, PortKind};
use crate::kernel::hosts::Hosts;
use crate::kernel::machine::{Datapath, Machine};

impl Queued {
    /// The congestion point of an output sees a packet leave a queue, and may mark it, or give it something to take along.
    #[inline(always)]
    fn mark(&mut self, core: &mut Core, hosts: &mut impl Hosts, at: (u32, u8), packet: u32) {
        if self.marking.is_some() {
            self.act(core, hosts, at, packet);
        }
    }

    #[inline(never)]
    fn act(
        &mut self,
        core: &mut Core,
        hosts: &mut impl Hosts,
        (port, queue): (u32, u8),
        packet: u32,
    ) {
        let Some(point) = &mut self.marking else { return };
        let class = self.queues.class_of(port, queue);
        let own = |notices: NoticePlan| notices.class == class;
        let notifies = self.queues.plan.notices.is_some_and(own);
        let Packet { host_word, size, .. } = core.pool[packet].packet;
        match &mut **point {
            Leaving::Marks(marking) if !notifies => {
                let behind = self.queues.waiting_phits(port, class);
                if marking.marks(core, (port, class), behind) {
                    core.pool[packet].packet.header.mark();
                }
            }
            Leaving::Marks(_) => {}
            Leaving::Records(telemetry) => {
                let sent = telemetry.send(port, size.into());
                if let (false, Some(trails)) = (notifies, hosts.trails_mut()) {
                    let behind = self.queues.waiting_phits(port, class);
                    let period = self.queues.ports[port as usize].period;
                    let met = telemetry.meet(core, (port, class), (behind, sent, period));
                    trails.add(host_word, met);
                }
            }
        }
    }

    /// A packet leaves a host.
    #[inline]
    pub(super) fn send_from_host<M: Machine<Egress = Self>>(
        path: &mut Datapath<M>,
        port: u32,
        departure: Departure,
    ) {
        let Datapath { core, egress, hosts, .. } = path;
        let Departure { packet, queue, .. } = departure;
        let host = port - egress.queues.outputs;
        let (OutputRequest { vc: class, hop_position: number, .. }, _) =
            egress.queues.requested(core, &departure);
        let (now, latency) = (core.now, core.model.host_latency);
        let own = &mut core.pool[packet].packet;
        own.header.position = 0;
        hosts.injected(own, now);
        let packet = *own;
        let again = M::Hosts::NOTIFY
            && egress.pacing.as_mut().is_some_and(|pacing| {
                pacing.keep(core, hosts, (host, queue), (&packet, (class, number)))
            });
        if !(again || M::Hosts::NOTIFY && egress.queues.plan.notifies(class)) {
            core.count_injected(host, number, packet.size);
        }
        let to = BufferId::new(core.hosts[host as usize].port, class);
        if let Some(credits) = &mut egress.credits {
            let told = (&mut egress.queues, &mut egress.silences);
            credits.spend(core, told, (host, queue), packet.size);
        }
        core.arrivals.push(now + latency, Flight { packet, to, at: now + latency });
        if let Some(pacing) = &mut egress.pacing {
            pacing.sent(core, &mut egress.queues, (host, queue), &packet);
        }
        if let Some(injection) = &mut egress.injection {
            injection.advance(core, &mut egress.queues, (host, queue));
        }
        hosts.refill(core, host);
    }

    /// A packet leaves through an output.
    #[inline(always)]
    pub(super) fn send<M: Machine<Egress = Self>>(
        path: &mut Datapath<M>,
        port: u32,
        departure: Departure,
    ) {
        let Datapath { core, egress, control, hosts, books, agents, .. } = path;
        let Departure { packet, queue, duration, .. } = departure;
        let (request, held) = egress.queues.requested(core, &departure);
        egress.mark(core, hosts, (port, queue), packet);
        let now = core.now;
        let output = &mut core.outputs[port as usize];
        egress.queues.left(output, port);
        output.sent += core.collector.overlap(now, duration);
        let (kind, downstream) = (output.kind, output.downstream);
        egress.queues.ejecting -= u64::from(kind == PortKind::Host);
        control.departed(core, port, request);
        if let Some((input, vc)) = held {
            let upstream = core.inputs[input as usize].upstream;
            control.release(core, (input, upstream), vc, request.size);
        }
        books.departed(core, agents, (port, request));
        if kind == PortKind::Link && agents.watches.departures {
            let router = core.outputs[port as usize].router;
            let base = core.routers[router as usize].port_base;
            let id = RouterId(core.first_router + router);
            agents.routing.sent(id, PortId((port - base) as u16));
        }
        let arrival = now + downstream.latency;
        let notices = egress.queues.plan.notices;
        if M::Hosts::NOTIFY
            && kind == PortKind::Host
            && notices.is_some_and(|own| own.class == egress.queues.class_of(port, queue))
        {
            let word = path.core.pool[packet].packet.host_word;
            let (host, at) = (downstream.port, arrival + duration);
            if let Some(notice) = notify::unload(&mut path.hosts, (host, at), word) {
                path.hosts.hear((host, at), &notice);
                if let Some(pacing) = &mut path.egress.pacing {
                    let to = path.egress.queues.outputs + host;
                    let queue = path.egress.queues.queue_of(to, notice.class);
                    let trail = path.hosts.trails_mut().map(|trails| *trails.of(word));
                    pacing.hear((host, queue), at, &notice, trail);
                }
            }
        } else if kind == PortKind::Host {
            path.eject(downstream.port, packet, arrival + duration);
        } else {
            path.depart(packet, request, downstream, arrival);
        }
    }
    /// The same at the end of a run.
    #[inline(never)]
    pub(super) fn send_last<M: Machine<Egress = Self>>(
        path: &mut Datapath<M>,
        port: u32,
        departure: Departure,
    ) {
        Self::send(path, port, departure);
    }
}
