//! Rate limiters of hosts: the reaction points of a partition.
//!
//! The packets of a flow with a limiter wait in a queue of their own. One of each queue at a time is put before all
//! others that wait for the link of the host, when its time has come, and after it one of those has its turn.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::output_queues::{self, OutputQueues};
use crate::ids::{Cycle, PortId, RouterId};
use crate::kernel::core::Core;
use crate::kernel::core::cargo::{Notice, Told};
use crate::kernel::core::packet::{NONE, Packet};
use crate::kernel::machine::Departing;
use crate::kernel::model::Model;
use crate::probe::limits::{LimitRecord, Limits};
use crate::reaction::{RateLimiter, ReactionPlan};
use crate::rng::{Owner, Stream};
use crate::state::{State, state};

/// The limiters of the hosts of a partition.
pub(super) struct Pacing {
    plan: ReactionPlan,
    /// Cycles that a phit takes on the link of a host.
    period: f64,
    /// By their index in `Core::hosts`.
    hosts: Vec<PacedHost>,
    events: BinaryHeap<Reverse<(Cycle, u32, Event)>>,
    record: LimitRecord,
}

#[derive(Serialize, Deserialize)]
struct PacedHost {
    flows: BTreeMap<FlowId, Flow>,
    rng: Stream,
    /// Queues in which a packet with a limiter is put before all others.
    staged: u64,
    /// Queues from which such a packet was sent last.
    served: u64,
    /// For each queue, the cycle of the next look at its limiters.
    looks: Box<[Cycle]>,
    /// Timers that were begun.
    timers: u32,
}

/// What has a limiter: a queue of a host, and router and port of the destination if these matter.
type FlowId = (u8, u32, u16);

/// A flow with a limiter, and the queue of its packets.
#[derive(Serialize, Deserialize)]
struct Flow {
    limiter: RateLimiter,
    head: u32,
    tail: u32,
    /// When its last packet was due, and the phits of that packet.
    last: f64,
    size: u16,
    /// Which timer counts.
    timer: u32,
}

/// What happens at a host, in this order within a cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Event {
    /// A notification is there.
    Heard { flow: FlowId, feedback: u8 },
    /// The time of a cycle of a limiter is over.
    Expired { flow: FlowId, timer: u32 },
    /// A packet of a queue may be due.
    Due { queue: u8 },
}

impl Flow {
    /// When its next packet may leave.
    fn due(&self, period: f64) -> f64 {
        self.last + f64::from(self.size) * period / self.limiter.rate()
    }
}

impl State for Pacing {
    state! { keep hosts, events, record; leave plan, period; }
}

impl Limits for Pacing {
    fn record(&self) -> LimitRecord {
        self.record
    }

    fn rate(&self, host: u32, to: Option<(RouterId, PortId)>) -> f64 {
        let own = self.hosts[host as usize].flows.iter().filter(|((_, router, port), _)| {
            self.plan.by_source || to.is_none_or(|to| to == (RouterId(*router), PortId(*port)))
        });
        own.map(|(_, flow)| flow.limiter.rate()).fold(1.0, f64::min)
    }
}

impl Pacing {
    /// For the hosts of a partition.
    pub(super) fn new(plan: ReactionPlan, model: &Model, core: &Core) -> Self {
        let queues = output_queues::queues(model);
        let host = |host: &crate::kernel::core::ports::Host| PacedHost {
            flows: BTreeMap::new(),
            rng: Stream::new(model.times.seed, Owner::Limiters(host.id.0)),
            staged: 0,
            served: 0,
            looks: vec![0; queues].into(),
            timers: 0,
        };
        Self {
            plan,
            period: model.egress.nic.map_or(1.0, |nic| nic.period.into()),
            hosts: core.hosts.iter().map(host).collect(),
            events: BinaryHeap::new(),
            record: LimitRecord::default(),
        }
    }

    /// Bytes of so many hosts.
    pub(super) fn bytes(model: &Model, hosts: u64) -> u64 {
        let looks = (output_queues::queues(model) * size_of::<Cycle>()) as u64;
        hosts * (size_of::<PacedHost>() as u64 + looks)
    }

    /// Bytes besides, at the most, where hosts hear so many notifications: each begins a limiter and a timer.
    pub(super) fn most_bytes(
        model: &Model,
        reaction: &ReactionPlan,
        notices: u64,
        hosts: u64,
    ) -> u64 {
        // An entry of a tree whose nodes may be half full; a heap that grows.
        const FLOW: u64 = 2 * size_of::<(FlowId, Flow)>() as u64 + 16;
        const EVENT: u64 = 2 * size_of::<Reverse<(Cycle, u32, Event)>>() as u64;
        let classes = u64::from(model.egress.classes()) - 1;
        let destinations = if reaction.by_source { 1 } else { hosts };
        let flows = hosts.saturating_mul(destinations).saturating_mul(classes).min(notices);
        // A timer that does not count any more stays until it is over; and two looks and a notification of a host.
        let events = notices.saturating_add(hosts.saturating_mul(3 * classes));
        flows.saturating_mul(FLOW).saturating_add(events.saturating_mul(EVENT))
    }

    fn flow_id(&self, queue: u8, (router, port): (RouterId, PortId)) -> FlowId {
        if self.plan.by_source { (queue, 0, 0) } else { (queue, router.0, port.0) }
    }

    fn flow_of(&self, queue: u8, packet: &Packet) -> FlowId {
        self.flow_id(queue, (packet.header.destination, packet.port))
    }

    /// A notification of the packets of a queue reaches a host in a cycle to come.
    pub(super) fn hear(&mut self, (host, queue): (u32, u8), at: Cycle, notice: &Notice) {
        let flow = self.flow_id(queue, notice.to);
        let feedback = match notice.told {
            Told::Feedback { endpoint: false, .. } if self.plan.endpoint_only => return,
            Told::Feedback { feedback, .. } => feedback,
            // As much as there can be.
            Told::Marked { .. } => u8::MAX,
            Told::Received { .. } => return,
        };
        self.events.push(Reverse((at, host, Event::Heard { flow, feedback })));
    }

    /// A packet is to enter a queue of a host. If its flow has a limiter, it waits for that instead.
    pub(super) fn enter(
        &mut self,
        core: &mut Core,
        queues: &mut OutputQueues,
        (host, queue): (u32, u8),
        packet: u32,
    ) -> bool {
        if self.hosts[host as usize].flows.is_empty() {
            return false;
        }
        let id = self.flow_of(queue, &core.pool[packet].packet);
        let Some(flow) = self.hosts[host as usize].flows.get_mut(&id) else { return false };
        flow.add(core, packet);
        self.stage(core, queues, (host, queue));
        true
    }

    /// A packet of a queue leaves its host.
    pub(super) fn sent(
        &mut self,
        core: &mut Core,
        queues: &mut OutputQueues,
        (host, queue): (u32, u8),
        packet: &Packet,
    ) {
        let id = self.flow_of(queue, packet);
        let (own, bit, now) = (&mut self.hosts[host as usize], 1 << queue, core.now);
        if own.staged & bit == 0 {
            own.served &= !bit;
        } else {
            own.staged &= !bit;
            own.served |= bit;
            if let Some(flow) = own.flows.get_mut(&id) {
                // Who waits for others may make up for a packet.
                let duration = f64::from(packet.size) * self.period;
                flow.last = flow.due(self.period).max(f64::from(now) - duration);
                flow.size = packet.size;
                let rng = &mut own.rng;
                self.plan.law.send(&mut flow.limiter, packet.size, || rng.unit());
                self.end(core, queues, host, id);
            }
        }
        self.stage(core, queues, (host, queue));
    }

    /// Cycle in which something is due next.
    pub(super) fn next(&self) -> Option<Cycle> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }

    /// What is due in this cycle.
    pub(super) fn advance(&mut self, core: &mut Core, queues: &mut OutputQueues) {
        while let Some(Reverse((at, host, event))) = self.events.peek().copied()
            && at <= core.now
        {
            self.events.pop();
            let queue = match event {
                Event::Heard { flow, feedback } => {
                    self.cut(core, queues, (host, flow), feedback);
                    flow.0
                }
                Event::Expired { flow, timer } => {
                    self.expire(core, queues, (host, flow), timer);
                    flow.0
                }
                Event::Due { queue } => queue,
            };
            self.stage(core, queues, (host, queue));
        }
    }

    /// A flow is to send more slowly: if it has no limiter, it gets one, and its packets leave the common queue.
    fn cut(&mut self, core: &mut Core, queues: &mut OutputQueues, at: (u32, FlowId), feedback: u8) {
        let (host, id) = at;
        if !self.hosts[host as usize].flows.contains_key(&id) {
            let (skip, own) = (self.hosts[host as usize].staged >> id.0 & 1 == 1, |of: &Packet| {
                self.flow_of(id.0, of) == id
            });
            let (head, tail) = queues.extract(core, (host, id.0), skip, own);
            let limiter = self.plan.law.limiter();
            let last = f64::from(core.now);
            let flow = Flow { limiter, head, tail, last, size: 0, timer: 0 };
            let flows = &mut self.hosts[host as usize].flows;
            flows.insert(id, flow);
            self.record.begun += 1;
            self.record.most = self.record.most.max(flows.len() as u32);
        }
        let own = &mut self.hosts[host as usize];
        let Some(flow) = own.flows.get_mut(&id) else { return };
        let length = self.plan.law.cut(&mut flow.limiter, feedback, core.now.into());
        own.timers += 1;
        flow.timer = own.timers;
        let expired = Event::Expired { flow: id, timer: flow.timer };
        self.record.cuts += 1;
        self.record.lowest = self.record.lowest.min(flow.limiter.rate());
        self.events.push(Reverse((after(core.now, length), host, expired)));
    }

    /// The time of a cycle of a limiter is over, if it is the timer that counts.
    fn expire(
        &mut self,
        core: &mut Core,
        queues: &mut OutputQueues,
        at: (u32, FlowId),
        timer: u32,
    ) {
        let (host, id) = at;
        let own = &mut self.hosts[host as usize];
        let Some(flow) = own.flows.get_mut(&id).filter(|flow| flow.timer == timer) else { return };
        let length = self.plan.law.expire(&mut flow.limiter, own.rng.unit());
        let expired = Event::Expired { flow: id, timer };
        self.events.push(Reverse((after(core.now, length), host, expired)));
        self.end(core, queues, host, id);
    }

    /// A limiter that limits nothing goes, and its packets join the others.
    fn end(&mut self, core: &mut Core, queues: &mut OutputQueues, host: u32, id: FlowId) {
        let flows = &mut self.hosts[host as usize].flows;
        if !flows.get(&id).is_some_and(|flow| flow.limiter.is_over()) {
            return;
        }
        let Some(mut flow) = flows.remove(&id) else { return };
        self.record.ended += 1;
        while let Some(packet) = flow.take(core) {
            queues.append_at_host(core, (host, id.0), packet);
        }
    }

    /// Puts a packet with a limiter before the others of its queue, if it is time.
    fn stage(&mut self, core: &mut Core, queues: &mut OutputQueues, at: (u32, u8)) {
        let (host, queue) = at;
        let own = &mut self.hosts[host as usize];
        let others_turn = own.served >> queue & 1 == 1 && queues.waits_at_host(at);
        if own.staged >> queue & 1 == 1 || others_turn {
            return;
        }
        let flows = own.flows.range_mut((queue, 0, 0)..=(queue, u32::MAX, u16::MAX));
        let waiting = flows.map(|(_, flow)| flow).filter(|flow| flow.head != NONE);
        let due = waiting.map(|flow| (flow.due(self.period), flow));
        let Some((due, flow)) = due.min_by(|(one, _), (other, _)| one.total_cmp(other)) else {
            return;
        };
        let at_cycle = due.ceil() as Cycle;
        if at_cycle > core.now {
            let look = &mut own.looks[usize::from(queue)];
            if *look <= core.now || at_cycle < *look {
                *look = at_cycle;
                self.events.push(Reverse((at_cycle, host, Event::Due { queue })));
            }
        } else if let Some(packet) = flow.take(core) {
            own.staged |= 1 << queue;
            queues.put_first(core, at, packet);
        }
    }

    /// Packets that wait for their limiters; links of hosts come after so many outputs.
    pub(super) fn departing(&self, core: &Core, outputs: u32) -> Vec<Departing> {
        let mut departing = Vec::new();
        for (host, own) in (0..).zip(&self.hosts) {
            for ((queue, ..), flow) in &own.flows {
                let mut packet = flow.head;
                while packet != NONE {
                    departing.push(Departing {
                        out: outputs + host,
                        vc: *queue,
                        packet,
                        held: None,
                    });
                    packet = core.pool[packet].next;
                }
            }
        }
        departing
    }
}

impl Flow {
    fn add(&mut self, core: &mut Core, packet: u32) {
        core.pool[packet].next = NONE;
        if self.head == NONE {
            self.head = packet;
        } else {
            core.pool[self.tail].next = packet;
        }
        self.tail = packet;
    }

    fn take(&mut self, core: &Core) -> Option<u32> {
        let packet = self.head;
        if packet == NONE {
            return None;
        }
        self.head = core.pool[packet].next;
        Some(packet)
    }
}

/// A time from now on; a time that never comes if it is too far.
fn after(now: Cycle, length: f64) -> Cycle {
    now.saturating_add((length.ceil() as Cycle).max(1))
}
