//! Queues at the outputs: a packet leaves when the link is free, the schedule of the classes chooses it, and nothing
//! has told the output to be silent.
//!
//! With one class and credits this gives what [`super::Fixed`] gives, to the bit; the tests hold it to that.

use super::credited::HostCredits;
use super::fixed;
use super::injection::InjectionQueues;
use super::marking::Leaving;
use super::notify::{self, Switches};
use super::output_queues::{OutputQueues, ready};
use super::pacing::Pacing;
use super::port::{DIRECTIONS, Fifo};
use super::retry::Retry;
use super::sampling::Sampling;
use super::silence::{SilenceBins, SilenceRecord, Silences};
use crate::congestion::CongestionPlan;
use crate::ids::Cycle;
use crate::kernel::books::Books;
use crate::kernel::control::{Control, PauseFrame};
use crate::kernel::core::Core;
use crate::kernel::core::fetch::{members, touch};
use crate::kernel::core::grant::{Grant, Room};
use crate::kernel::core::mail::Signal;
use crate::kernel::core::packet::NONE;
use crate::kernel::core::ports::{Output, OutputRequest, PortKind};
use crate::kernel::hosts::{Entering, Hosts};
use crate::kernel::machine::{Datapath, Departing, Egress, Machine, Matching};
use crate::kernel::model::Model;
use crate::probe::limits::Limits;
use crate::probe::marks::MarkRecord;
use crate::probe::notices::NoticeRecord;
use crate::probe::retry::RetryRecord;
use crate::routing::Injection;
use crate::state::{State, state};

/// The outputs of a partition, and the links of its hosts after them.
pub(crate) struct Queued {
    pub(super) queues: OutputQueues,
    /// Ports that are looked at in this cycle, by where they lead: what is done for one is then done for the next, and
    /// branches are predictable. (What ports do commutes.)
    pub(super) due: [Vec<u32>; DIRECTIONS],
    pub(super) silences: Silences,
    /// The links that send broken frames again.
    pub(super) retry: Option<Box<Retry>>,
    /// What hosts know of the buffers of their routers, where they count them.
    pub(super) credits: Option<Box<HostCredits>>,
    /// The congestion points.
    pub(super) marking: Option<Box<Leaving>>,
    pub(super) sampling: Option<Box<Sampling>>,
    /// The reaction points.
    pub(super) pacing: Option<Box<Pacing>>,
    /// What waits at hosts that have several injection queues for a class.
    pub(super) injection: Option<Box<InjectionQueues>>,
}

impl State for Queued {
    state! { keep queues, silences; each retry, credits, marking, sampling, pacing, injection; leave due; }
}

impl Egress for Queued {
    const QUEUED: bool = true;

    fn new(model: &Model, core: &Core) -> Self {
        let (plan, queues) = (&model.egress, OutputQueues::new(model, core));
        let classes = plan.classes();
        let marking = Leaving::new(plan.congestion_point, core, classes);
        let sampling = match plan.congestion_point {
            Some(CongestionPlan::Sample(plan)) => {
                Some(Box::new(Sampling::new(plan, core, classes)))
            }
            _ => None,
        };
        Self {
            due: Default::default(),
            silences: Silences::new(queues.fifos.len()),
            retry: Retry::new(model, core, &queues),
            credits: HostCredits::new(model, core),
            marking,
            sampling,
            pacing: plan.reaction_point.map(|plan| Box::new(Pacing::new(plan, model, core))),
            injection: InjectionQueues::new(model, core),
            queues,
        }
    }

    fn sweep(&self, packets: bool) {
        self.queues.sweep(packets);
        if let Some(sampling) = &self.sampling {
            sampling.sweep();
        }
    }

    #[inline(always)]
    fn fetch(&self, core: &Core, requested: impl Iterator<Item = (u32, u8)> + Clone) {
        let OutputQueues { ports, fifos, .. } = &self.queues;
        touch(requested.clone().map(|(port, _)| ports[port as usize].free_at));
        let fifo =
            |(port, vc): (u32, u8)| &fifos[self.queues.place(port, self.queues.queue_of(port, vc))];
        touch(requested.clone().map(|at| fifo(at).head));
        touch(requested.map(|at| {
            let Fifo { head, tail, .. } = *fifo(at);
            core.after(if head == NONE { NONE } else { tail })
        }));
    }

    #[inline(always)]
    fn space(
        &self,
        model: &Model,
        output: &Output,
        (out, now): (u32, Cycle),
        OutputRequest { vc, size, .. }: OutputRequest,
    ) -> Room {
        if !self.queues.plan.counts_phits {
            return fixed::space(model, output, now, size);
        }
        let state = &self.queues.ports[out as usize];
        // What can be silent on its own must not fill what others need.
        let (phits, leaves) = match state.owner.room_by_queue() {
            true => (self.queues.fifos[self.queues.place(out, vc)].phits, state.leaving == vc),
            false => (state.phits, true),
        };
        let Some(rest) = model.output_buffer.checked_sub(phits + u32::from(size)) else {
            return Room::WithCredits;
        };
        // What is left on the wire of a packet that leaves is in the buffer, too. Mostly nothing would be too much.
        let from = state.left_at.saturating_sub(rest.saturating_mul(state.period));
        let stays = leaves & !self.queues.plan.leaves_at_once;
        if stays & (from > now) { Room::From(from) } else { Room::Enough }
    }

    #[inline(always)]
    fn take<M: Machine<Egress = Self>>(path: &mut Datapath<M>, grant: &Grant) -> Option<Cycle> {
        let Datapath { core, control, egress, agents, hosts, .. } = path;
        let ready = ready(core, grant);
        let Core { outputs, collector, .. } = &mut *core;
        let output = &mut outputs[grant.out as usize];
        let size = u32::from(grant.request.size);
        output.busy_until = grant.write_until;
        if grant.turn {
            output.pointer = grant.in_port + 1;
        }
        egress.queues.lengthen(output, (grant.out, ready), size);
        collector.grants += 1;
        let to_host = output.kind == PortKind::Host;
        egress.queues.ejecting += u64::from(to_host);
        // At its host a packet has no VC, but it has a class.
        let vc = if to_host { egress.queues.plan.flow_of(grant.in_vc) } else { grant.request.vc };
        let notifies = M::Hosts::NOTIFY && egress.queues.plan.notifies(vc);
        match notifies {
            true => collector.notices.received += u64::from(to_host),
            false => collector.delivered += u64::from(to_host),
        }
        if notifies && agents.watches.notifications {
            notify::pass(core, agents, &*hosts, (grant, to_host));
        }
        let Core { outputs, credits, model, .. } = &mut *core;
        let output = &mut outputs[grant.out as usize];
        let taken = if to_host { 0 } else { size };
        control.take(model, output, credits, (grant.out, grant.request.vc, taken));
        let held = (egress.queues.plan.holds_input && !grant.injection)
            .then_some((grant.input, grant.in_vc));
        egress.queues.note(core, grant.packet, grant.request.vc, held);
        egress.queues.append(core, (grant.out, vc), grant.packet, ready);
        if let Some(sampling) = &mut egress.sampling {
            sampling.enter(core, &egress.queues, (grant.out, vc), grant.packet);
        }
        if egress.queues.plan.nic.is_some()
            && core.inputs[grant.input as usize].kind == PortKind::Host
            && !(M::Hosts::NOTIFY && egress.queues.plan.notifies(grant.in_vc))
        {
            let kind = core.pool[grant.packet].packet.header.kind();
            core.count_path(grant.router, kind, grant.blocked);
            if M::Books::KEPT && agents.watches.injections {
                let at = (grant.input, grant.in_vc);
                let header = core.pool[grant.packet].packet.header;
                let queue = core.injection_queue(at.0, at.1);
                agents.note_injection(at, queue, Injection::Left, header);
            }
        }
        if held.is_none() {
            path.leave_input(grant);
        }
        path.core.pool[grant.packet].packet.header.position = grant.request.hop_position;
        None
    }

    fn arrived<M: Machine<Egress = Self>>(path: &mut Datapath<M>, at: (u32, u8), packet: u32) {
        let Datapath { core, control, egress, .. } = path;
        if let Some(sampling) = &mut egress.sampling {
            let voqs = <M::Matching as Matching<M>>::VOQS;
            sampling.arrive(core, &*control, (&egress.queues.plan, voqs), (at, packet));
        }
    }

    fn inject<M: Machine<Egress = Self>>(path: &mut Datapath<M>, (packet, to): Entering) {
        let Datapath { core, egress, hosts, .. } = path;
        let port = egress.queues.outputs + core.inputs[to.port() as usize].upstream.port;
        let now = core.now;
        let index = core.pool.insert(packet, now);
        let (vc, number) = (core.model.flows.class_of_queue(to.vc()), to.vc());
        egress.queues.note(core, index, vc, None);
        // It has no position yet, but an injection queue.
        core.pool[index].packet.header.position = number;
        let at = (port - egress.queues.outputs, egress.queues.queue_of(port, vc));
        if let Some(pacing) = &mut egress.pacing
            && !(M::Hosts::NOTIFY && egress.queues.plan.notifies(vc))
            && pacing.enter(core, (&mut egress.queues, hosts.numbers_mut()), at, index)
        {
            return;
        }
        if let Some(injection) = &mut egress.injection
            && injection.enter(core, &egress.queues, (at.0, at.1, number), index)
        {
            return;
        }
        egress.queues.append(core, (port, vc), index, now);
    }

    fn hear(&mut self, core: &mut Core, signal: Signal) -> bool {
        let Some(pause) = PauseFrame::read(signal) else {
            let Some(credits) = &mut self.credits else { return false };
            return credits.earn(core, (&mut self.queues, &mut self.silences), signal);
        };
        self.silence(core, signal, pause);
        true
    }

    fn send_frame(&mut self, core: &Core, port: u32, phits: u32) -> Option<Cycle> {
        debug_assert!(port < self.queues.outputs, "hosts pause nobody");
        let state = &mut self.queues.ports[port as usize];
        if state.free_at > core.now {
            return None;
        }
        state.free_at = core.now + phits * state.period;
        Some(state.free_at)
    }

    fn length(&self, core: &Core, port: u32, queue: u8) -> u32 {
        if !self.queues.plan.counts_phits {
            return fixed::backlog(core, port);
        }
        self.queues.fifos[self.queues.place(port, queue)].phits
    }

    fn forget(&mut self) {
        self.silences.forget();
        if let Some(marking) = &mut self.marking {
            marking.forget();
        }
    }

    fn record_silences(&mut self, bins: SilenceBins) {
        self.silences.record_bins(bins);
    }

    fn silences(&self, core: &Core, port: u32, vcs: u8) -> Vec<SilenceRecord> {
        let state = &self.queues.ports[port as usize];
        let count = if state.owner.queue_per_vc() {
            usize::from(vcs)
        } else {
            usize::from(self.queues.plan.classes())
        };
        let (first, paused) = (self.queues.first(port), self.queues.paused(port));
        let silent = |queue| (paused >> queue & 1 == 1, self.queues.plan.silence_ends);
        (0..count).map(|q| self.silences.record(core, first + q, silent(q))).collect()
    }

    fn marks(&self, port: u32) -> &[MarkRecord] {
        self.marking.as_ref().map_or(&[], |marking| marking.records(port))
    }

    fn notices(&self, port: u32) -> Vec<NoticeRecord> {
        self.sampling.as_ref().map_or(Vec::new(), |sampling| sampling.records(port).collect())
    }

    fn limits(&self) -> Option<&dyn Limits> {
        Some(self.pacing.as_deref()?)
    }

    fn retry(&self, port: u32) -> Option<RetryRecord> {
        self.retry.as_ref()?.record(port)
    }

    fn silent_since(&self, port: u32, vc: u8) -> Option<Cycle> {
        let queue = self.queues.queue_of(port, vc);
        let since = self.silences.since(self.queues.place(port, queue));
        (self.queues.paused(port) >> queue & 1 == 1).then_some(since)
    }

    fn is_silent(&self, port: u32, vc: u8, now: Cycle) -> bool {
        let queue = self.queues.queue_of(port, vc);
        let until = || self.silences.until(self.queues.place(port, queue));
        // Silences that end by themselves are ended when somebody looks.
        self.queues.paused(port) >> queue & 1 == 1
            && (!self.queues.plan.silence_ends || until() > now)
    }

    fn run<M: Machine<Egress = Self>>(path: &mut Datapath<M>, mut freed: impl FnMut(&Core, u32)) {
        let Datapath { core, agents, control, egress, hosts, books } = path;
        let Queued { queues, due, sampling, pacing, .. } = egress;
        if let Some(sampling) = sampling {
            notify::all(sampling, &mut Switches { core, agents, control, hosts, books, queues });
        }
        if let Some(pacing) = pacing {
            pacing.advance(core, queues, hosts);
        }
        queues.looks.list(&mut queues.ports, core.now, due);
        if path.core.exceeds_cache {
            path.egress.fetch_due(&path.core);
        }
        for leads_to in 0..DIRECTIONS {
            let mut due = std::mem::take(&mut path.egress.due[leads_to]);
            for port in due.drain(..) {
                let Some(departure) = path.egress.next(&mut path.core, port) else { continue };
                if port >= path.egress.queues.outputs {
                    Self::send_from_host(path, port, departure);
                    continue;
                }
                Self::send(path, port, departure);
                let output = &mut path.core.outputs[port as usize];
                if path.egress.queues.plan.counts_phits && output.awaited {
                    output.awaited = false;
                    freed(&path.core, port);
                }
            }
            path.egress.due[leads_to] = due;
        }
    }

    fn finish<M: Machine<Egress = Self>>(path: &mut Datapath<M>) {
        let end = path.core.now;
        // Nobody needs the memory any more.
        path.egress.queues.let_go();
        for port in 0..path.egress.queues.outputs {
            let to_host = path.core.outputs[port as usize].kind == PortKind::Host;
            while path.egress.queues.ports[port as usize].occupied != 0 {
                let state = &path.egress.queues.ports[port as usize];
                let first = path.egress.queues.first(port);
                let ready = members(state.occupied)
                    .map(|queue| path.egress.queues.fifos[first + queue as usize].ready);
                let ready = ready.min().unwrap_or(end);
                path.core.now = end.max(ready).max(state.free_at);
                match path.egress.leave(&mut path.core, port) {
                    Some(departure) if to_host => Self::send_last(path, port, departure),
                    // Of what is left of the others only the use of the link counts.
                    Some(departure) => {
                        let core = &mut path.core;
                        core.outputs[port as usize].sent +=
                            core.collector.overlap(core.now, departure.duration);
                    }
                    None => break,
                }
            }
        }
        path.core.now = end;
    }

    fn due(&self, from: Cycle, to: Cycle) -> Cycle {
        let Self { queues, sampling, pacing, .. } = self;
        if sampling.as_ref().is_some_and(|sampling| sampling.any_told()) {
            return from;
        }
        let timer = pacing.as_ref().and_then(|pacing| pacing.next());
        queues.looks.next(from, timer.map_or(to, |at| to.min(at.max(from))))
    }

    fn leaving(&self) -> u64 {
        self.queues.ejecting
    }

    fn departing(&self, core: &Core) -> Vec<Departing> {
        let paced = self.pacing.as_ref();
        let mut departing =
            paced.map_or(Vec::new(), |pacing| pacing.departing(core, self.queues.outputs));
        let own = self.injection.as_ref();
        departing.extend(own.iter().flat_map(|own| own.departing(core, &self.queues)));
        for (out, port) in (0..).zip(&self.queues.ports) {
            for queue in members(port.occupied) {
                let queue = queue as u8;
                let mut packet = self.queues.fifos[self.queues.place(out, queue)].head;
                while packet != NONE {
                    let (vc, held) = self.queues.waits_for((port.owner, queue), packet);
                    departing.push(Departing { out, vc, packet, held });
                    packet = core.pool[packet].next;
                }
            }
        }
        departing
    }
}
