//! The queues of the outputs of a partition, and of the links of its hosts.

use super::schedule::Turns;
use crate::ids::Cycle;
use crate::kernel::control::Control;
use crate::kernel::core::Core;
use crate::kernel::core::fetch::members;
use crate::kernel::core::grant::Grant;
use crate::kernel::core::packet::{BufferId, NONE, Packet};
use crate::kernel::core::port_set::PortSet;
use crate::kernel::core::ports::{OutputRequest, PortKind};
use crate::kernel::core::wheel::Wheel;
use crate::kernel::model::{EgressModel, Model};
use crate::state::{State, state};
use serde::{Deserialize, Serialize};

/// What waits at each output, and at each link of a host after them, and when they are to be looked at.
pub(super) struct OutputQueues {
    pub(super) plan: EgressModel,
    /// Outputs of switches: what follows are hosts.
    pub(super) outputs: u32,
    pub(super) ports: Vec<Port>,
    /// Those of a port are together: so many.
    pub(super) fifos: Vec<Fifo>,
    pub(super) count: u8,
    /// What packets wait for, by their place in the pool.
    pub(super) waiting: Vec<Waiting>,
    /// The turns of their classes.
    pub(super) turns: Turns,
    /// Packets in the queues of outputs that lead to hosts.
    pub(super) ejecting: u64,
    /// Ports that are to be looked at in this cycle.
    pub(super) schedulable: PortSet,
    pub(super) wakeups: Wheel<u32>,
}

/// An output, or the link of a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Port {
    /// Its first queue.
    pub(super) queues: u32,
    /// Cycles that a phit takes on its link.
    pub(super) period: u32,
    /// The link is free from this cycle on, and the last packet has left.
    pub(super) free_at: Cycle,
    pub(super) left_at: Cycle,
    /// The queue that it was in.
    pub(super) leaving: u8,
    /// Each VC at the other end has a queue, and not each class of service.
    pub(super) queue_per_vc: bool,
    /// Earliest cycle of a wake-up that is scheduled; in the past if none is.
    pub(super) wakeup_at: Cycle,
    /// Queues that hold packets, and those that have been told to be silent.
    pub(super) occupied: u64,
    pub(super) paused: u64,
    /// Phits in its queues.
    pub(super) phits: u32,
}

/// A queue of an output: first and last packet, its phits, and when the first may leave.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Fifo {
    pub(super) head: u32,
    pub(super) tail: u32,
    pub(super) phits: u32,
    pub(super) ready: Cycle,
}

/// A packet in a queue: what it has requested of its output, and where its memory is that it gives back when it leaves.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub(super) vc: u8,
    hop_position: u8,
    size: u16,
    /// `NOWHERE` if it has none.
    held: BufferId,
}

impl Waiting {
    pub(super) fn new(request: OutputRequest, held: Option<(u32, u8)>) -> Self {
        let OutputRequest { vc, hop_position, size, .. } = request;
        let held = held.map_or(BufferId::NOWHERE, |(port, vc)| BufferId::new(port, vc));
        Self { vc, hop_position, size, held }
    }

    /// What it has requested of an output.
    pub(super) fn request(self) -> OutputRequest {
        let Self { vc, hop_position, size, .. } = self;
        OutputRequest { vc, hop_position, size, ..OutputRequest::default() }
    }

    /// Input and VC whose memory it has.
    pub(super) fn held(self) -> Option<(u32, u8)> {
        (self.held != BufferId::NOWHERE).then(|| (self.held.port(), self.held.vc()))
    }

    /// Nobody needs its memory any more.
    pub(super) fn let_go(&mut self) {
        self.held = BufferId::NOWHERE;
    }
}

/// When a packet that is granted now can begin to leave: the last phit that comes over a slower link must be there
/// when a faster one needs it, to its end.
pub(super) fn ready(core: &Core, grant: &Grant) -> Cycle {
    let (from, to) = (core.period(grant.input), core.period(grant.out));
    let last = u32::from(grant.request.size) * from.saturating_sub(to);
    core.now.max(grant.arrival + last) + core.model.pipeline
}

impl State for OutputQueues {
    state! { keep ports, fifos, waiting, turns, ejecting, schedulable, wakeups; leave plan, outputs, count; }
}

impl OutputQueues {
    /// All empty.
    pub(super) fn new(model: &Model, core: &Core) -> Self {
        let plan = model.egress.clone();
        let apart_at_hosts = apart(model, u8::MAX);
        let hosts = plan.nic.iter().flat_map(|nic| core.hosts.iter().map(|_| nic.period));
        let hosts = hosts.map(|period| (period, apart_at_hosts));
        let (total, count) = (core.outputs.len() + hosts.clone().count(), queues(model));
        let (mut ports, mut fifos) = (Vec::with_capacity(total), Vec::with_capacity(total * count));
        let outputs = (0..).zip(&core.outputs);
        let outputs = outputs.map(|(out, output)| (core.period(out), apart(model, output.class)));
        for (period, apart) in outputs.chain(hosts) {
            ports.push(Port {
                queues: fifos.len() as u32,
                period,
                free_at: 0,
                left_at: 0,
                leaving: 0,
                queue_per_vc: apart,
                wakeup_at: 0,
                occupied: 0,
                paused: 0,
                phits: 0,
            });
            fifos.extend((0..count).map(|_| Fifo { head: NONE, tail: NONE, phits: 0, ready: 0 }));
        }
        Self {
            outputs: core.outputs.len() as u32,
            turns: Turns::new(&plan.schedule, plan.classes(), ports.len()),
            schedulable: PortSet::new(ports.len()),
            wakeups: Wheel::new(model.horizon()),
            waiting: Vec::new(),
            ejecting: 0,
            count: count as u8,
            plan,
            ports,
            fifos,
        }
    }

    /// The queue of a port for packets of a VC at its other end.
    #[inline(always)]
    pub(super) fn queue_of(&self, port: u32, vc: u8) -> u8 {
        if self.ports[port as usize].queue_per_vc { vc } else { self.plan.class_of(vc) }
    }

    /// The class of service of a queue of a port.
    #[inline]
    pub(super) fn class_of(&self, port: u32, queue: u8) -> u8 {
        if self.ports[port as usize].queue_per_vc { self.plan.class_of(queue) } else { queue }
    }

    /// The queues of a class of service at a port that hold packets.
    pub(super) fn queues_of_class(&self, port: u32, class: u8) -> impl Iterator<Item = &Fifo> {
        let state = &self.ports[port as usize];
        let own =
            members(state.occupied).filter(move |queue| self.class_of(port, *queue as u8) == class);
        own.map(|queue| &self.fifos[(state.queues + queue) as usize])
    }

    /// Phits that wait in the queues of a class of service at a port.
    pub(super) fn waiting_phits(&self, port: u32, class: u8) -> u32 {
        self.queues_of_class(port, class).map(|queue| queue.phits).sum()
    }

    /// Is there room in the queue of a VC at an output, and at the other end, for a packet of the switch itself?
    pub(super) fn has_room<C: Control>(
        &self,
        core: &Core,
        (out, vc): (u32, u8),
        request: OutputRequest,
    ) -> bool {
        let Core { model, outputs, credits, .. } = core;
        let output = &outputs[out as usize];
        let onward = output.kind == PortKind::Link;
        let queue = self.ports[out as usize].queues + u32::from(self.queue_of(out, vc));
        let phits = self.fifos[queue as usize].phits.saturating_add(request.size.into());
        phits <= model.output_buffer && (!onward || C::has_room(model, output, credits, request))
    }

    /// As many places as there are in the pool.
    #[inline(always)]
    pub(super) fn make_room(&mut self, slots: usize) {
        if self.waiting.len() < slots {
            self.grow(slots);
        }
    }

    #[cold]
    fn grow(&mut self, slots: usize) {
        self.waiting.resize(slots, Waiting::default());
    }

    /// A port is to be looked at: in this cycle, or in a later one unless it is to be earlier anyway.
    #[inline(always)]
    pub(super) fn schedule(&mut self, port: u32, now: Cycle, at: Cycle) {
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

    /// Puts a packet at the end of the queue of a VC at a port, from which it may leave from `ready` on.
    #[inline(always)]
    pub(super) fn append(
        &mut self,
        core: &mut Core,
        (port, vc): (u32, u8),
        packet: u32,
        ready: Cycle,
    ) {
        let queue = self.queue_of(port, vc);
        self.add(core, (port, queue), packet, ready);
    }

    /// The same by the queue.
    #[inline(always)]
    fn add(&mut self, core: &mut Core, (port, queue): (u32, u8), packet: u32, ready: Cycle) {
        let state = &mut self.ports[port as usize];
        let slot = &mut core.pool[packet];
        (slot.next, slot.arrival) = (NONE, ready);
        let size = u32::from(slot.packet.size);
        state.phits += size;
        state.occupied |= 1 << queue;
        let fifo = &mut self.fifos[state.queues as usize + usize::from(queue)];
        fifo.phits += size;
        if fifo.head == NONE {
            (fifo.head, fifo.ready) = (packet, ready);
        } else {
            core.pool[fifo.tail].next = packet;
        }
        fifo.tail = packet;
        let at = ready.max(state.free_at);
        self.schedule(port, core.now, at);
    }

    /// The place of a queue of a host among all, and its port.
    fn queue_at_host(&self, (host, queue): (u32, u8)) -> (usize, u32) {
        let port = self.outputs + host;
        (self.ports[port as usize].queues as usize + usize::from(queue), port)
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
        (slot.next, slot.arrival) = (rest.head, now);
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
        let (mut next, mut first) = (self.fifos[place].head, skip);
        let mut lists = [(NONE, NONE); 2];
        let mut phits = 0;
        while next != NONE {
            let packet = next;
            let slot = &mut core.pool[packet];
            next = std::mem::replace(&mut slot.next, NONE);
            let out = !first && belongs(&slot.packet);
            first = false;
            phits += if out { u32::from(slot.packet.size) } else { 0 };
            let (head, tail) = &mut lists[usize::from(out)];
            if *head == NONE {
                *head = packet;
            } else {
                core.pool[*tail].next = packet;
            }
            *tail = packet;
        }
        let [(head, tail), taken] = lists;
        let fifo = &mut self.fifos[place];
        let ready = if head == NONE { 0 } else { core.pool[head].arrival };
        *fifo = Fifo { head, tail, phits: fifo.phits - phits, ready };
        let state = &mut self.ports[port as usize];
        state.phits -= phits;
        if head == NONE {
            state.occupied &= !(1 << at.1);
        }
        taken
    }
}

/// Has an output that leads over links of a class a queue for each VC?
fn apart(model: &Model, class: u8) -> bool {
    let credits = || model.messages.as_ref().is_some_and(|messages| messages.host().is_some());
    let host = usize::from(class) >= model.classes.len();
    model.pause.as_ref().is_some_and(|pauses| pauses.queue_per_vc(class)) || host && credits()
}

/// Queues of a port.
pub(super) fn queues(model: &Model) -> usize {
    let EgressModel { queue_per_vc, flows, schemes, .. } = model.egress;
    usize::from(if queue_per_vc { model.most_vcs().max(flows) } else { flows / schemes })
}
