//! Queues at the outputs: a packet leaves when the link is free, the schedule of the classes chooses it, and nothing
//! has told the output to be silent.
//!
//! With one class and credits this gives what [`super::Fixed`] gives, to the bit; the tests hold it to that.

use super::schedule::{Candidate, Turn};
use super::{Departing, Egress, fixed};
use crate::ids::Cycle;
use crate::kernel::books::Books;
use crate::kernel::control::{Control, PauseFrame};
use crate::kernel::core::Core;
use crate::kernel::core::fetch::members;
use crate::kernel::core::mail::Signal;
use crate::kernel::core::packet::{BufferId, Flight, NONE};
use crate::kernel::core::port_set::PortSet;
use crate::kernel::core::ports::{Output, OutputRequest, PortKind};
use crate::kernel::core::wheel::Wheel;
use crate::kernel::datapath::{Datapath, Grant, Room};
use crate::kernel::hosts::{Entering, Hosts};
use crate::kernel::machine::Machine;
use crate::kernel::model::{EgressModel, Model};

/// The outputs of a partition, and the links of its hosts after them.
pub(crate) struct Queued {
    plan: EgressModel,
    /// Outputs of switches: what follows are hosts.
    outputs: u32,
    ports: Vec<Port>,
    /// First and last packet of every queue; those of a port are together.
    queues: Vec<(u32, u32)>,
    /// What packets wait for, by their place in the pool.
    waiting: Vec<Waiting>,
    /// Ports that are to be looked at in this cycle.
    schedulable: PortSet,
    /// The same, while they are looked at.
    due: Vec<u32>,
    wakeups: Wheel<u32>,
    candidates: Vec<Candidate>,
    /// By queue: silent since then, and until then if it was told how long.
    silences: Vec<Silence>,
}

/// When a queue was told to be silent.
#[derive(Clone, Copy, Default)]
struct Silence {
    since: Cycle,
    until: Cycle,
    /// Cycles of the measurement in which it was.
    measured: u64,
}

/// An output, or the link of a host.
#[derive(Clone, Debug)]
struct Port {
    /// Its first queue.
    queues: u32,
    /// Cycles that a phit takes on its link.
    period: u32,
    /// The link is free from this cycle on.
    free_at: Cycle,
    /// Earliest cycle of a wake-up that is scheduled; in the past if none is.
    wakeup_at: Cycle,
    /// Queues that hold packets, and those that have been told to be silent.
    occupied: u64,
    paused: u64,
    /// Phits in its queues.
    phits: u32,
    turn: Turn,
}

/// A packet in a queue.
#[derive(Clone, Copy, Default)]
struct Waiting {
    request: OutputRequest,
    /// Where its memory is that it gives back when it leaves: input and VC.
    held: Option<(u32, u8)>,
}

impl Silence {
    /// It ends in this cycle.
    fn end(&mut self, core: &Core, at: Cycle) {
        self.measured += u64::from(core.collector.overlap(self.since, at - self.since));
    }
}

impl Queued {
    /// Bytes of so many outputs and hosts.
    pub(crate) fn bytes(model: &Model, ports: u64) -> u64 {
        let queue = size_of::<(u32, u32)>() + size_of::<Silence>();
        let port = size_of::<Port>() + queues(model) * queue;
        ports * port as u64 + ports / 8 + Wheel::<u32>::bytes(model.horizon())
    }

    /// The queues that every port has.
    #[inline]
    fn queues_of_a_port(&self) -> usize {
        self.queues.len() / self.ports.len()
    }

    /// Lets queues of a port send again whose time of silence is over; says when the next one is.
    #[cold]
    fn end_silences(&mut self, core: &Core, port: u32) -> Cycle {
        let state = &mut self.ports[port as usize];
        let mut next = Cycle::MAX;
        for queue in members(state.paused) {
            let silence = &mut self.silences[(state.queues + queue) as usize];
            if silence.until <= core.now {
                silence.end(core, silence.until);
                state.paused &= !(1 << queue);
            } else if state.occupied >> queue & 1 == 1 {
                next = next.min(silence.until);
            }
        }
        next
    }

    /// The queue of a port for packets of a VC at its other end.
    #[inline]
    fn queue_of(&self, vc: u8) -> u8 {
        if self.plan.queue_per_vc { vc } else { self.class_of(vc) }
    }

    /// The class of service of a VC.
    #[inline]
    fn class_of(&self, vc: u8) -> u8 {
        vc % self.plan.flows / self.plan.schemes
    }

    /// A port is to be looked at: in this cycle, or in a later one unless it is to be earlier anyway.
    #[inline]
    fn schedule(&mut self, port: u32, now: Cycle, at: Cycle) {
        if at <= now {
            self.schedulable.insert(port);
            return;
        }
        // The end of a long silence is looked for again on the way.
        let at = at.min(now + self.wakeups.horizon());
        let state = &mut self.ports[port as usize];
        if state.wakeup_at <= now || at < state.wakeup_at {
            state.wakeup_at = at;
            self.wakeups.push(at, port);
        }
    }

    /// Puts a packet at the end of a queue of a port, from which it may leave from `ready` on.
    fn append(&mut self, core: &mut Core, (port, vc): (u32, u8), packet: u32, ready: Cycle) {
        let queue = self.queue_of(vc);
        let state = &mut self.ports[port as usize];
        let slot = &mut core.pool[packet];
        (slot.next, slot.arrival) = (NONE, ready);
        state.phits += u32::from(slot.packet.size);
        state.occupied |= 1 << queue;
        let (head, tail) = &mut self.queues[state.queues as usize + usize::from(queue)];
        if *head == NONE {
            *head = packet;
        } else {
            core.pool[*tail].next = packet;
        }
        *tail = packet;
        let at = ready.max(state.free_at);
        self.schedule(port, core.now, at);
    }

    /// The packet of a port that leaves in this cycle, if one can. If not, sees to it that the port is looked at
    /// when one may, unless a signal will tell.
    fn choose(&mut self, core: &Core, port: u32) -> Option<u8> {
        let (now, free_at) = (core.now, self.ports[port as usize].free_at);
        if free_at > now {
            self.schedule(port, now, free_at);
            return None;
        }
        let expires =
            if self.plan.silence_ends { self.end_silences(core, port) } else { Cycle::MAX };
        let state = &self.ports[port as usize];
        self.candidates.clear();
        let mut ready_at = expires;
        for queue in members(state.occupied & !state.paused) {
            let (head, _) = self.queues[(state.queues + queue) as usize];
            let slot = &core.pool[head];
            if slot.arrival > now {
                ready_at = ready_at.min(slot.arrival);
                continue;
            }
            let queue = queue as u8;
            let class = if self.plan.queue_per_vc { self.class_of(queue) } else { queue };
            self.candidates.push(Candidate { queue, class, size: slot.packet.size });
        }
        if self.candidates.is_empty() {
            if ready_at != Cycle::MAX {
                self.schedule(port, now, ready_at);
            }
            return None;
        }
        let turn = &mut self.ports[port as usize].turn;
        Some(turn.choose(&self.plan.schedule, &self.candidates).queue)
    }

    /// Takes the first packet off a queue of a port, whose link is busy with it from now on.
    fn pop(&mut self, core: &mut Core, port: u32, queue: u8) -> (u32, u32) {
        let state = &mut self.ports[port as usize];
        let (head, _) = &mut self.queues[state.queues as usize + usize::from(queue)];
        let packet = *head;
        let (next, _) = core.pool.remove(packet);
        *head = next;
        state.occupied &= !(u64::from(next == NONE) << queue);
        let size = u32::from(core.pool[packet].packet.size);
        let duration = size * state.period;
        state.phits -= size;
        state.free_at = core.now + duration;
        if state.occupied != 0 {
            let at = state.free_at;
            self.schedule(port, core.now, at);
        }
        (packet, duration)
    }

    /// A packet leaves a host.
    fn send_from_host<M: Machine<Egress = Self>>(path: &mut Datapath<M>, port: u32, queue: u8) {
        let Datapath { core, egress, hosts, .. } = path;
        let host = port - egress.outputs;
        let (packet, _) = egress.pop(core, port, queue);
        let class = egress.waiting[packet as usize].request.vc;
        let (now, latency) = (core.now, core.model.host_latency);
        hosts.injected(&mut core.pool[packet].packet, now);
        let packet = core.pool[packet].packet;
        core.count_injected(host, class, packet.size);
        let to = BufferId::new(core.hosts[host as usize].port, class);
        core.arrivals.push(now + latency, Flight { packet, to, at: now + latency });
        hosts.refill(core, host);
    }

    /// A packet leaves through an output.
    fn send<M: Machine<Egress = Self>>(path: &mut Datapath<M>, port: u32, queue: u8) {
        let Datapath { core, egress, control, books, agents, .. } = path;
        let (packet, duration) = egress.pop(core, port, queue);
        let Waiting { request, held } = egress.waiting[packet as usize];
        let now = core.now;
        let state = &egress.ports[port as usize];
        let output = &mut core.outputs[port as usize];
        output.link_free = output.link_free.max(state.free_at + state.phits * state.period);
        output.sent += core.collector.overlap(now, duration);
        let (kind, downstream) = (output.kind, output.downstream);
        control.departed(core, port, request);
        if let Some((input, vc)) = held {
            let upstream = core.inputs[input as usize].upstream;
            control.release(core, (input, upstream), vc, request.size);
        }
        books.departed(core, agents, port);
        let arrival = now + downstream.latency;
        if kind == PortKind::Host {
            path.eject(downstream.port, packet, arrival + duration);
        } else {
            path.depart(packet, request, downstream, arrival);
        }
    }
}

/// Queues of a port.
fn queues(model: &Model) -> usize {
    let EgressModel { queue_per_vc, flows, schemes, .. } = model.egress;
    usize::from(if queue_per_vc { model.most_vcs().max(flows) } else { flows / schemes })
}

/// When a packet that is granted now can begin to leave: the last phit that comes over a slower link must be there
/// when a faster one needs it.
fn ready(core: &Core, grant: &Grant) -> Cycle {
    let (from, to) = (core.period(grant.input), core.period(grant.out));
    let last = (u32::from(grant.request.size) - 1) * from.saturating_sub(to);
    core.now.max(grant.arrival + last) + core.model.pipeline
}

impl Egress for Queued {
    const QUEUED: bool = true;

    fn new(model: &Model, core: &Core) -> Self {
        let plan = model.egress.clone();
        let (mut ports, mut queues, count) = (Vec::new(), Vec::new(), queues(model));
        let hosts = plan.nic.iter().flat_map(|nic| core.hosts.iter().map(|_| nic.period));
        let periods = (0..core.outputs.len()).map(|out| core.period(out as u32));
        for period in periods.chain(hosts) {
            ports.push(Port {
                queues: queues.len() as u32,
                period,
                free_at: 0,
                wakeup_at: 0,
                occupied: 0,
                paused: 0,
                phits: 0,
                turn: Turn::new(&plan.schedule),
            });
            queues.extend((0..count).map(|_| (NONE, NONE)));
        }
        Self {
            outputs: core.outputs.len() as u32,
            schedulable: PortSet::new(ports.len()),
            wakeups: Wheel::new(model.horizon()),
            due: Vec::new(),
            waiting: Vec::new(),
            candidates: Vec::new(),
            silences: vec![Silence::default(); queues.len()],
            plan,
            ports,
            queues,
        }
    }

    #[inline]
    fn space(&self, model: &Model, output: &Output, (out, now): (u32, Cycle), size: u16) -> Room {
        if !self.plan.counts_phits {
            return fixed::space(model, output, now, size);
        }
        let phits = self.ports[out as usize].phits;
        if phits.saturating_add(u32::from(size)) <= model.output_buffer {
            return Room::Enough;
        }
        Room::WithCredits
    }

    fn take<M: Machine<Egress = Self>>(path: &mut Datapath<M>, grant: &Grant) -> Cycle {
        let Datapath { core, control, egress, .. } = path;
        let ready = ready(core, grant);
        let Core { outputs, credits, model, collector, .. } = &mut *core;
        let output = &mut outputs[grant.out as usize];
        let size = u32::from(grant.request.size);
        output.busy_until = grant.write_until;
        if grant.turn {
            output.pointer = grant.in_port + 1;
        }
        let period = egress.ports[grant.out as usize].period;
        let departure = output.link_free.max(ready);
        output.link_free = departure + size * period;
        collector.grants += 1;
        let to_host = output.kind == PortKind::Host;
        collector.delivered += u64::from(to_host);
        let taken = if to_host { 0 } else { size };
        control.take(model, output, credits, (grant.out, grant.request.vc, taken));
        // At its host a packet has no VC, but it has a class.
        let vc = if to_host { grant.in_vc % egress.plan.flows } else { grant.request.vc };
        let held =
            (egress.plan.holds_input && !grant.injection).then_some((grant.input, grant.in_vc));
        if egress.waiting.len() < core.pool.slots() {
            egress.waiting.resize(core.pool.slots(), Waiting::default());
        }
        egress.waiting[grant.packet as usize] = Waiting { request: grant.request, held };
        egress.append(core, (grant.out, vc), grant.packet, ready);
        if core.inputs[grant.input as usize].kind == PortKind::Host && !grant.injection {
            let kind = core.pool[grant.packet].packet.header.kind();
            core.count_path(grant.router, kind, grant.blocked);
        }
        if held.is_none() {
            path.leave_input(grant);
        }
        departure
    }

    fn inject<M: Machine<Egress = Self>>(path: &mut Datapath<M>, (packet, to): Entering) {
        let Datapath { core, egress, .. } = path;
        let port = egress.outputs + core.inputs[to.port() as usize].upstream.port;
        let now = core.now;
        let index = core.pool.insert(packet, now);
        if egress.waiting.len() < core.pool.slots() {
            egress.waiting.resize(core.pool.slots(), Waiting::default());
        }
        let request = OutputRequest { vc: to.vc(), size: packet.size, ..OutputRequest::default() };
        egress.waiting[index as usize] = Waiting { request, held: None };
        egress.append(core, (port, to.vc()), index, now);
    }

    fn hear(&mut self, core: &mut Core, signal: Signal) -> bool {
        let Some(pause) = PauseFrame::read(signal) else { return false };
        let port = signal.port();
        let state = &self.ports[port as usize];
        let queues = if pause.whole_link { u64::MAX } else { 1 << self.queue_of(signal.vc()) };
        let first = state.queues as usize;
        let all = u64::MAX >> (64 - self.queues_of_a_port());
        let changed = queues & all & if pause.stops { !state.paused } else { state.paused };
        for queue in members(changed) {
            let silence = &mut self.silences[first + queue as usize];
            if pause.stops {
                silence.since = core.now;
            } else {
                silence.end(core, core.now);
            }
        }
        if let Some(duration) = pause.duration {
            let until = core.now + duration;
            members(queues & all)
                .for_each(|queue| self.silences[first + queue as usize].until = until);
        }
        let state = &mut self.ports[port as usize];
        state.paused ^= changed;
        let at = match pause.duration {
            Some(duration) if pause.stops => Some(core.now + duration),
            _ if pause.stops => None,
            _ => Some(state.free_at),
        };
        if let Some(at) = at
            && state.occupied & queues != 0
        {
            self.schedule(port, core.now, at);
        }
        true
    }

    fn send_frame(&mut self, core: &Core, port: u32, phits: u32) -> Cycle {
        let outputs = self.outputs;
        let state = &mut self.ports[port as usize];
        state.free_at = state.free_at.max(core.now) + phits * state.period;
        debug_assert!(port < outputs, "hosts pause nobody");
        state.free_at
    }

    fn silence(&self, core: &Core, port: u32, vcs: u8) -> (u64, u64) {
        let state = &self.ports[port as usize];
        let count = if self.plan.queue_per_vc { usize::from(vcs) } else { self.queues_of_a_port() };
        let first = state.queues as usize;
        let mut measured = 0;
        for (queue, silence) in self.silences[first..first + count].iter().enumerate() {
            let mut silence = *silence;
            if state.paused >> queue & 1 == 1 {
                silence.end(core, core.now);
            }
            measured += silence.measured;
        }
        (measured, count as u64)
    }

    fn run<M: Machine<Egress = Self>>(path: &mut Datapath<M>, mut freed: impl FnMut(&Core, u32)) {
        let Datapath { core, egress, .. } = path;
        let Queued { schedulable, wakeups, due, .. } = egress;
        wakeups.drain(core.now, |ports| ports.iter().for_each(|port| schedulable.insert(*port)));
        schedulable.drain(|port| due.push(port));
        for index in 0..path.egress.due.len() {
            let port = path.egress.due[index];
            let Some(queue) = path.egress.choose(&path.core, port) else { continue };
            if port >= path.egress.outputs {
                Self::send_from_host(path, port, queue);
                continue;
            }
            Self::send(path, port, queue);
            let output = &mut path.core.outputs[port as usize];
            if path.egress.plan.counts_phits && output.awaited {
                output.awaited = false;
                freed(&path.core, port);
            }
        }
        path.egress.due.clear();
    }

    fn finish<M: Machine<Egress = Self>>(path: &mut Datapath<M>) {
        let end = path.core.now;
        for port in 0..path.egress.outputs {
            let to_host = path.core.outputs[port as usize].kind == PortKind::Host;
            while path.egress.ports[port as usize].occupied != 0 {
                let state = &path.egress.ports[port as usize];
                let heads = members(state.occupied)
                    .map(|queue| path.egress.queues[(state.queues + queue) as usize].0);
                let ready = heads.map(|head| path.core.pool[head].arrival).min().unwrap_or(end);
                path.core.now = end.max(ready).max(state.free_at);
                match path.egress.choose(&path.core, port) {
                    Some(queue) if to_host => Self::send(path, port, queue),
                    // Of what is left of the others only the use of the link counts.
                    Some(queue) => {
                        let Datapath { core, egress, .. } = &mut *path;
                        let (_, duration) = egress.pop(core, port, queue);
                        core.outputs[port as usize].sent +=
                            core.collector.overlap(core.now, duration);
                    }
                    None => break,
                }
            }
        }
        path.core.now = end;
    }

    fn departing(&self, core: &Core) -> Vec<Departing> {
        let mut departing = Vec::new();
        for (out, port) in (0..).zip(&self.ports) {
            for queue in members(port.occupied) {
                let mut packet = self.queues[(port.queues + queue) as usize].0;
                while packet != NONE {
                    let Waiting { request, held } = self.waiting[packet as usize];
                    departing.push(Departing { out, vc: request.vc, packet, held });
                    packet = core.pool[packet].next;
                }
            }
        }
        departing
    }
}
