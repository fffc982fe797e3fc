//! The queues of the outputs of a partition, and of the links of its hosts.

use super::looks::Looks;
use super::port::{DIRECTIONS, Departure, Fifo, Owner, Port, Waiting};
use super::schedule::Turns;
use crate::ids::Cycle;
use crate::kernel::control::Control;
use crate::kernel::core::Core;
use crate::kernel::core::fetch::{members, touch};
use crate::kernel::core::grant::Grant;
use crate::kernel::core::packet::{NONE, Packet};
use crate::kernel::core::ports::{Output, OutputRequest, PortKind};
use crate::kernel::model::{EgressModel, Model};
use crate::state::{State, state};
use std::hint::select_unpredictable;

/// What waits at each output, and at each link of a host after them, and when they are to be looked at.
pub(super) struct OutputQueues {
    pub(super) plan: EgressModel,
    /// Outputs of switches: what follows are hosts.
    pub(super) outputs: u32,
    pub(super) ports: Vec<Port>,
    /// Those of a port are together: so many.
    pub(super) fifos: Vec<Fifo>,
    pub(super) count: u8,
    /// What packets wait for, by their place in the pool, where that is more than their queue says.
    pub(super) waiting: Option<Vec<Waiting>>,
    /// Queues of each port that have been told to be silent, once one of them has been.
    paused: Vec<u64>,
    /// The turns of their classes.
    pub(super) turns: Turns,
    /// Packets in the queues of outputs that lead to hosts.
    pub(super) ejecting: u64,
    pub(super) looks: Looks,
}

/// When a packet that is granted now can begin to leave: the last phit that comes over a slower link must be there
/// when a faster one needs it, to its end.
#[inline(always)]
pub(super) fn ready(core: &Core, grant: &Grant) -> Cycle {
    if core.periods.is_empty() {
        return core.now + core.model.pipeline;
    }
    let (from, to) = (core.period(grant.input), core.period(grant.out));
    let last = u32::from(grant.request.size) * from.saturating_sub(to);
    core.now.max(grant.arrival + last) + core.model.pipeline
}

impl State for OutputQueues {
    state! { keep ports, fifos, paused, turns, ejecting, looks; each waiting; leave plan, outputs, count; }
}

impl OutputQueues {
    /// All empty.
    pub(super) fn new(model: &Model, core: &Core) -> Self {
        let plan = model.egress.clone();
        let apart_at_hosts = apart(model, u8::MAX);
        let hosts = plan.nic.iter().flat_map(|nic| core.hosts.iter().map(|_| nic.period));
        let owner = Owner::new(DIRECTIONS - 1, apart_at_hosts, false);
        let hosts = hosts.map(|period| (period, owner));
        let (total, count) = (core.outputs.len() + hosts.clone().count(), queues(model));
        let (mut ports, mut fifos) = (Vec::with_capacity(total), Vec::with_capacity(total * count));
        let outputs = (0..).zip(&core.outputs);
        let outputs = outputs.map(|(out, output)| {
            let apart = apart(model, output.class);
            let alone = apart && output.kind == PortKind::Link;
            let alone = alone || plan.flows == 1 && output.kind != PortKind::Link;
            (core.period(out), Owner::new(output.leads_to as usize, apart, alone))
        });
        for (period, owner) in outputs.chain(hosts) {
            ports.push(Port {
                free_at: 0,
                left_at: 0,
                wakeup_at: Cycle::MAX,
                phits: 0,
                occupied: 0,
                period,
                leaving: 0,
                silenced: false,
                owner,
            });
            fifos.extend((0..count).map(|_| Fifo { head: NONE, tail: NONE, phits: 0, ready: 0 }));
        }
        Self {
            outputs: core.outputs.len() as u32,
            turns: Turns::new(&plan.schedule, plan.classes(), ports.len()),
            looks: Looks::new(ports.len(), model.horizon()),
            waiting: waits_for_more(model).then(Vec::new),
            paused: Vec::new(),
            ejecting: 0,
            count: count as u8,
            plan,
            ports,
            fifos,
        }
    }

    /// The place of the first queue of a port.
    #[inline(always)]
    pub(super) fn first(&self, port: u32) -> usize {
        port as usize * usize::from(self.count)
    }

    /// The place of a queue of a port.
    #[inline(always)]
    pub(super) fn place(&self, port: u32, queue: u8) -> usize {
        self.first(port) + usize::from(queue)
    }

    /// The queue of a port for packets of a VC at its other end.
    #[inline(always)]
    pub(super) fn queue_of(&self, port: u32, vc: u8) -> u8 {
        if self.ports[port as usize].owner.queue_per_vc() { vc } else { self.plan.class_of(vc) }
    }

    /// The class of service of a queue of a port.
    #[inline]
    pub(super) fn class_of(&self, port: u32, queue: u8) -> u8 {
        if self.ports[port as usize].owner.queue_per_vc() {
            self.plan.class_of(queue)
        } else {
            queue
        }
    }

    /// Queues of a port that have been told to be silent.
    #[inline(always)]
    pub(super) fn paused(&self, port: u32) -> u64 {
        if self.ports[port as usize].silenced { self.paused[port as usize] } else { 0 }
    }

    /// These queues of a port are told to be silent, and no others.
    pub(super) fn pause(&mut self, port: u32, queues: u64) {
        if self.paused.is_empty() {
            self.paused = vec![0; self.ports.len()];
        }
        self.paused[port as usize] = queues;
        self.ports[port as usize].silenced = queues != 0;
    }

    /// What a packet that leaves has requested of its port, and the input and VC whose memory it has.
    #[inline(always)]
    pub(super) fn requested(
        &self,
        core: &Core,
        Departure { packet, queue, owner, .. }: &Departure,
    ) -> (OutputRequest, Option<(u32, u8)>) {
        let Packet { header, size, .. } = core.pool[*packet].packet;
        let (vc, held) = self.waits_for((*owner, *queue), *packet);
        let request =
            OutputRequest { vc, hop_position: header.position, size, ..OutputRequest::default() };
        (request, held)
    }

    /// The VC that a packet in a queue of such a port has requested, and the input and VC whose memory it has.
    #[inline(always)]
    pub(super) fn waits_for(
        &self,
        (owner, queue): (Owner, u8),
        packet: u32,
    ) -> (u8, Option<(u32, u8)>) {
        match &self.waiting {
            Some(waiting) => {
                let waiting = waiting[packet as usize];
                (waiting.vc, waiting.held())
            }
            // A host has no VCs.
            None => (if owner.to_host() { 0 } else { queue }, None),
        }
    }

    /// Nobody needs the memory of packets any more.
    pub(super) fn let_go(&mut self) {
        self.waiting.iter_mut().flatten().for_each(Waiting::let_go);
    }

    /// A packet is granted an output, which it may leave from `ready` on: when the link would be free, if that counts.
    #[inline(always)]
    pub(super) fn lengthen(&self, output: &mut Output, (port, ready): (u32, Cycle), size: u32) {
        if self.plan.times_links {
            let period = self.ports[port as usize].period;
            output.link_free = output.link_free.max(ready) + size * period;
        }
    }

    /// The same when one has left: the link is not free before all of them have.
    #[inline(always)]
    pub(super) fn left(&self, output: &mut Output, port: u32) {
        if self.plan.times_links {
            let state = &self.ports[port as usize];
            output.link_free = output.link_free.max(state.free_at + state.phits * state.period);
        }
    }

    /// Fetches the state.
    pub(super) fn sweep(&self, packets: bool) {
        touch(self.ports.iter().step_by(2).map(|port| port.free_at));
        touch(self.fifos.iter().step_by(4).map(|fifo| fifo.head));
        let waiting = self.waiting.iter().filter(|_| packets);
        touch(waiting.flat_map(|all| all.iter().step_by(8)).map(|one| one.vc.into()));
        touch(self.turns.lines());
        touch(self.looks.lines());
    }

    /// The queues of a class of service at a port that hold packets.
    pub(super) fn queues_of_class(&self, port: u32, class: u8) -> impl Iterator<Item = &Fifo> {
        let state = &self.ports[port as usize];
        let own =
            members(state.occupied).filter(move |queue| self.class_of(port, *queue as u8) == class);
        own.map(move |queue| &self.fifos[self.first(port) + queue as usize])
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
        let queue = self.place(out, self.queue_of(out, vc));
        let phits = self.fifos[queue].phits.saturating_add(request.size.into());
        phits <= model.output_buffer && (!onward || C::has_room(model, output, credits, request))
    }

    /// Notes the VC that a packet has requested, and where its memory is, if its queue does not say so.
    #[inline(always)]
    pub(super) fn note(&mut self, core: &Core, packet: u32, vc: u8, held: Option<(u32, u8)>) {
        let Some(waiting) = &mut self.waiting else { return };
        if waiting.len() < core.pool.slots() {
            waiting.resize(core.pool.slots(), Waiting::default());
        }
        waiting[packet as usize] = Waiting::new(vc, held);
    }

    /// A port is to be looked at: in this cycle, or in a later one unless it is to be earlier anyway.
    #[inline(always)]
    pub(super) fn schedule(&mut self, port: u32, now: Cycle, at: Cycle) {
        self.looks.plan(&mut self.ports[port as usize], (port, at), now);
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
    pub(super) fn add(
        &mut self,
        core: &mut Core,
        (port, queue): (u32, u8),
        packet: u32,
        ready: Cycle,
    ) {
        let place = self.place(port, queue);
        let (state, fifo) = (&mut self.ports[port as usize], &mut self.fifos[place]);
        let size = u32::from(core.pool[packet].packet.size);
        state.phits += size;
        state.occupied |= 1 << queue;
        fifo.phits += size;
        // Without branches: hardly predictable. The first packet is its own predecessor for a moment.
        let first = fifo.head == NONE;
        let last = select_unpredictable(first, packet, fifo.tail);
        fifo.head = select_unpredictable(first, packet, fifo.head);
        fifo.ready = select_unpredictable(first, ready, fifo.ready);
        fifo.tail = packet;
        let before = &mut core.pool[last];
        (before.next, before.arrival) = (packet, ready);
        core.pool[packet].next = NONE;
        let at = ready.max(state.free_at);
        self.looks.plan(state, (port, at), core.now);
    }
}

/// Does the queue of a packet not say everything that it waits for?
fn waits_for_more(model: &Model) -> bool {
    let links = (0..model.classes.len() as u8).all(|class| apart(model, class));
    let hosts = model.egress.nic.is_none() || apart(model, u8::MAX);
    model.egress.holds_input || !(links && hosts)
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
