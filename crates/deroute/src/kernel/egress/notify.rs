//! Notifications of congestion: packets that switches make and hosts hear.

use std::sync::Arc;

use super::Fixed;
use super::output_queues::OutputQueues;
use super::sampling::{Found, Sampling};
use crate::ids::{Cycle, PortId, RouterId, VcId};
use crate::kernel::agents::Agents;
use crate::kernel::books::Books;
use crate::kernel::control::Control;
use crate::kernel::core::Core;
use crate::kernel::core::cargo::{Notice, Told};
use crate::kernel::core::grant::Grant;
use crate::kernel::core::packet::Packet;
use crate::kernel::core::ports::{Link, OutputRequest, PortKind};
use crate::kernel::hosts::Hosts;
use crate::kernel::sensed::SensedQueues;
use crate::probe::PathKind;
use crate::routing::{About, Header, Hop, Made, Notification, Place, RouterView};

/// The switches of a partition, as far as one takes part that makes a packet.
pub(super) struct Switches<'a, C, H, B> {
    pub(super) core: &'a mut Core,
    pub(super) agents: &'a mut Agents,
    pub(super) control: &'a mut C,
    pub(super) hosts: &'a mut H,
    pub(super) books: &'a mut B,
    pub(super) queues: &'a mut OutputQueues,
}

/// Tells sources of packets what the samples of this cycle found.
#[inline]
pub(super) fn all<C: Control, H: Hosts, B: Books>(
    sampling: &mut Sampling,
    switches: &mut Switches<'_, C, H, B>,
) {
    if sampling.any_told() {
        let told = sampling.take_told();
        told.iter().for_each(|told| switches.send(sampling, told));
        sampling.told(told);
    }
}

/// What a packet, by its word, tells its host when it has come, if it is a notification. The host of a header asks for the
/// packet.
pub(super) fn unload(hosts: &mut impl Hosts, at: (u32, Cycle), host_word: u32) -> Option<Notice> {
    let notice = hosts.notice(host_word);
    match notice {
        Some(_) => hosts.told(host_word),
        None => hosts.reject(at, host_word),
    }
    notice
}

/// The agent of a router learns of a notification that has been granted an output there, to its host or not.
pub(super) fn pass(
    core: &Core,
    agents: &mut Agents,
    hosts: &impl Hosts,
    (grant, ends): (&Grant, bool),
) {
    let word = core.pool[grant.packet].packet.host_word;
    let Some(notice) = hosts.notice(word) else { return };
    let Notice { to, told, .. } = notice;
    let (feedback, about) = match told {
        Told::Feedback { feedback, endpoint, diverted } => (feedback, about(endpoint, diverted)),
        Told::Marked { diverted } => (63, About { diverted, place: Place::Unknown }),
        Told::Received { .. } | Told::Missing { .. } => return,
    };
    agents.routing.notified(&Notification {
        router: RouterId(core.first_router + grant.router),
        port: PortId(grant.in_port),
        made: None,
        ends,
        to,
        feedback,
        about,
        now: core.now,
    });
}

/// What a notification of a congestion point is about.
fn about(endpoint: bool, diverted: bool) -> About {
    About { diverted, place: if endpoint { Place::Endpoint } else { Place::Network } }
}

impl<C: Control, H: Hosts, B: Books> Switches<'_, C, H, B> {
    /// Puts a notification into the queue of its path, if there is room.
    fn send(&mut self, sampling: &mut Sampling, told: &Found) {
        let model = Arc::clone(&self.core.model);
        let Packet { host_word, header, port, .. } = self.core.pool[told.victim].packet;
        let (Some(plan), Some(source)) = (model.egress.notices, self.hosts.source(host_word))
        else {
            return;
        };
        let to = (header.destination, port);
        let (feedback, diverted) = (told.feedback, header.kind() != PathKind::Minimal);
        let kind = self.core.outputs[told.port as usize].kind;
        let endpoint = told.made == Made::AtOutput && kind == PortKind::Host;
        let says = Told::Feedback { feedback, endpoint, diverted };
        let notice = Notice { to, class: told.class, told: says };
        let (home, port) = model.topology.home_of(source);
        if self.agents.watches.notifications {
            let state = &self.core.routers[self.core.outputs[told.port as usize].router as usize];
            self.agents.routing.notified(&Notification {
                router: state.id,
                port: PortId((told.port - state.port_base) as u16),
                made: Some(told.made),
                ends: state.id == home,
                to,
                feedback,
                about: about(endpoint, diverted),
                now: self.core.now,
            });
        }
        let mut header = Header::new(home);
        let vc = plan.class * self.queues.plan.schemes;
        let hop = self.next_hop((sampling, told.port), (&mut header, port), (vc, plan.size));
        let core = &*self.core;
        let router = core.outputs[told.port as usize].router;
        let out = core.routers[router as usize].port_base + u32::from(hop.port.0);
        let request = OutputRequest::new(plan.size, hop);
        let at = if core.outputs[out as usize].kind == PortKind::Host { vc } else { hop.vc.0 };
        let fits = self.queues.has_room::<C>(core, (out, at), request);
        sampling.count((told.port, self.queues.plan.class_of(told.class)), fits);
        if fits && let Some(host_word) = self.hosts.tell(source, notice) {
            let generated = self.core.now;
            let packet = Packet { generated, host_word, header, port, size: plan.size };
            self.enqueue(packet, (out, at), request);
        }
    }

    /// Where a notification goes from the switch of an output, in the VC of a host.
    fn next_hop(
        &mut self,
        (sampling, out): (&mut Sampling, u32),
        (header, port): (&mut Header, PortId),
        (vc, size): (u8, u16),
    ) -> Hop {
        let Self { core, agents, control, books, .. } = self;
        let Core { model, outputs, credits, routers, now, .. } = &**core;
        let state = &routers[outputs[out as usize].router as usize];
        let (base, now) = (state.port_base, *now);
        if header.ends_at(state.id) {
            return Hop { port, vc: VcId(0), position: 0 };
        }
        let (control, occupancy) = (&**control, books.occupancy());
        let egress = None::<&Fixed>;
        let queues =
            SensedQueues { model, outputs, credits, control, egress, occupancy, base, now };
        let mut view = RouterView {
            router: state.id,
            input: PortId((out - base) as u16),
            vc: VcId(vc),
            port,
            class: 0,
            now,
            size,
            queues: &queues,
            rng: sampling.stream(out),
        };
        agents.routing.route(&mut view, header)
    }

    /// Puts a packet that a switch has made into an output queue.
    fn enqueue(&mut self, packet: Packet, (out, vc): (u32, u8), request: OutputRequest) {
        let Self { core, agents, control, books, queues, .. } = self;
        let index = core.pool.insert(packet, core.now);
        let Core { outputs, credits, model, collector, now, .. } = &mut **core;
        let output = &mut outputs[out as usize];
        let size = u32::from(request.size);
        let (to_host, ready) = (output.kind == PortKind::Host, *now + model.pipeline);
        queues.lengthen(output, (out, ready), size);
        collector.notices.sent += 1;
        collector.notices.received += u64::from(to_host);
        queues.ejecting += u64::from(to_host);
        let taken = if to_host { 0 } else { size };
        control.take(model, output, credits, (out, request.vc, taken));
        queues.note(core, index, request.vc, None);
        queues.append(core, (out, vc), index, ready);
        core.pool[index].packet.header.position = request.hop_position;
        // As if it came from a host.
        let grant = Grant {
            input: out,
            upstream: Link::default(),
            router: core.outputs[out as usize].router,
            in_vc: vc,
            in_port: 0,
            out,
            packet: index,
            request,
            injection: true,
            registered: false,
            arrival: core.now,
            blocked: 0,
            write_until: core.now,
            turn: false,
        };
        books.granted(core, agents, &grant, None);
    }
}
