//! Rates and windows of hosts: the reaction points of a partition.
//!
//! The packets of a flow with a limit wait in a queue of their own. One of each queue at a time is put before all
//! others that wait for the link of the host, when it may leave, and after it one of those has its turn.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::output_queues::{self, OutputQueues};
use super::paced::{Flow, FlowId, PacedHost};
use super::resending::Resending;
use crate::congestion::Trail;
use crate::ids::{Cycle, PortId, RouterId};
use crate::kernel::core::Core;
use crate::kernel::core::cargo::{Notice, Slab, Told};
use crate::kernel::core::numbers::Numbers;
use crate::kernel::core::packet::{NONE, Packet};
use crate::kernel::hosts::Hosts;
use crate::kernel::machine::Departing;
use crate::kernel::model::Model;
use crate::probe::limits::{LimitRecord, Limits};
use crate::reaction::{Limit, ReactionPlan, Receipt, Report, RetransmissionPlan};
use crate::rng::{Owner, Stream};
use crate::state::{State, state};

/// The limits of the flows of the hosts of a partition.
pub(super) struct Pacing {
    pub(super) plan: ReactionPlan,
    /// What is sent again, if anything is.
    pub(super) resends: Option<RetransmissionPlan>,
    /// Cycles that a phit takes on the link of a host.
    pub(super) period: f64,
    /// By their index in `Core::hosts`.
    pub(super) hosts: Vec<PacedHost>,
    pub(super) events: BinaryHeap<Reverse<(Cycle, u32, Event)>>,
    /// What packets have met that these tell of, where switches write it.
    trails: Slab<Trail>,
    pub(super) record: LimitRecord,
}

/// What happens at a host, in this order within a cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Event {
    /// A notification is there.
    Heard { flow: FlowId, report: Report },
    /// The time of a cycle of a limiter is over.
    Expired { flow: FlowId, timer: u32 },
    /// A packet of a queue may be due.
    Due { queue: u8 },
    /// Packets of a flow may have been under way for too long.
    Late { flow: FlowId },
}

impl State for Pacing {
    state! { keep hosts, events, trails, record; leave plan, resends, period; }
}

impl Limits for Pacing {
    fn record(&self) -> LimitRecord {
        self.record
    }

    fn least(&self, host: u32, to: Option<(RouterId, PortId)>) -> (f64, Option<f64>) {
        let own = self.hosts[host as usize].flows.iter().filter(|((_, router, port), _)| {
            self.plan.by_source || to.is_none_or(|to| to == (RouterId(*router), PortId(*port)))
        });
        let limits = || own.clone().map(|(_, flow)| &flow.limit);
        // That of a flow which has sent nothing.
        let first = self.plan.law.begin().window();
        let windows = || limits().filter_map(Limit::window);
        let window = first.map(|first| windows().reduce(f64::min).unwrap_or(first));
        (limits().map(Limit::rate).fold(1.0, f64::min), window)
    }
}

impl Pacing {
    /// For the hosts of a partition.
    pub(super) fn new(plan: ReactionPlan, model: &Model, core: &Core) -> Self {
        let queues = output_queues::queues(model);
        let host = |host: &crate::kernel::core::ports::Host| {
            PacedHost::new(Stream::new(model.times.seed, Owner::Limiters(host.id.0)), queues)
        };
        Self {
            plan,
            resends: model.egress.retransmission,
            period: model.egress.nic.map_or(1.0, |nic| nic.period.into()),
            hosts: core.hosts.iter().map(host).collect(),
            events: BinaryHeap::new(),
            trails: Slab::new(),
            record: LimitRecord::default(),
        }
    }

    /// Bytes of so many hosts.
    pub(super) fn bytes(model: &Model, hosts: u64) -> u64 {
        let looks = (output_queues::queues(model) * size_of::<Cycle>()) as u64;
        hosts * (size_of::<PacedHost>() as u64 + looks)
    }

    /// Bytes besides, at the most, where hosts hear so many notifications, each of which begins a limit and a timer,
    /// and so many packets are under way, which begin limits that are there from the start.
    pub(super) fn most_bytes(
        model: &Model,
        reaction: &ReactionPlan,
        (notices, packets): (u64, u64),
        hosts: u64,
    ) -> u64 {
        // Entries of trees whose nodes may be half full; a heap that grows.
        const FLOW: u64 = 2 * (size_of::<(FlowId, Flow)>() + size_of::<(u8, u64, FlowId)>()) as u64;
        const EVENT: u64 = 2 * size_of::<Reverse<(Cycle, u32, Event)>>() as u64;
        let classes = u64::from(model.egress.classes()) - 1;
        let destinations = if reaction.by_source { 1 } else { hosts };
        let all = hosts.saturating_mul(destinations).saturating_mul(classes);
        let (flows, heard) = match reaction.law.limits_at_once() {
            true => (all, packets),
            // A timer that does not count any more stays until it is over.
            false => (all.min(notices), notices),
        };
        // And two looks and a notification of a host.
        let events = heard.saturating_add(hosts.saturating_mul(3 * classes));
        let met = if model.egress.records() { 2 * size_of::<Trail>() as u64 } else { 0 };
        let (kept, again) = match model.egress.retransmission {
            // A packet may be kept and wait to be sent again.
            Some(_) => (Resending::BYTES, size_of::<Resending>() as u64 + EVENT),
            None => (0, 0),
        };
        let own = FLOW + 32 + reaction.law.boxed_bytes() + again;
        let flows = flows.saturating_mul(own).saturating_add(packets.saturating_mul(kept));
        flows.saturating_add(events.saturating_mul(EVENT + met))
    }

    fn flow_id(&self, queue: u8, (router, port): (RouterId, PortId)) -> FlowId {
        if self.plan.by_source { (queue, 0, 0) } else { (queue, router.0, port.0) }
    }

    pub(super) fn flow_of(&self, queue: u8, packet: &Packet) -> FlowId {
        self.flow_id(queue, (packet.header.destination, packet.port))
    }

    /// A notification of the packets of a queue reaches a host in a cycle to come, with what a packet has met.
    pub(super) fn hear(
        &mut self,
        (host, queue): (u32, u8),
        at: Cycle,
        notice: &Notice,
        trail: Option<Trail>,
    ) {
        let flow = self.flow_id(queue, notice.to);
        let report = match notice.told {
            Told::Feedback { endpoint: false, .. } if self.plan.endpoint_only => return,
            Told::Feedback { feedback, .. } => Report::Feedback(feedback),
            // As much as there can be.
            Told::Marked { .. } => Report::Feedback(u8::MAX),
            Told::Received { receipt, .. } => {
                let trail = trail.map_or(NONE, |trail| self.trails.insert(trail));
                Report::Received(Receipt { trail, ..receipt })
            }
            Told::Missing { number, left } => Report::Missing { number, left },
        };
        self.events.push(Reverse((at, host, Event::Heard { flow, report })));
    }

    /// A packet of the traffic is to enter a queue of a host. If its flow has a limit, it waits for that instead.
    pub(super) fn enter(
        &mut self,
        core: &mut Core,
        (queues, numbers): (&mut OutputQueues, Option<&mut Numbers>),
        (host, queue): (u32, u8),
        packet: u32,
    ) -> bool {
        let at_once = self.plan.law.limits_at_once();
        if self.hosts[host as usize].flows.is_empty() && !at_once {
            return false;
        }
        let id = self.flow_of(queue, &core.pool[packet].packet);
        if at_once && !self.hosts[host as usize].flows.contains_key(&id) {
            self.begin((host, id), (NONE, NONE), core.now);
        }
        let own = &mut self.hosts[host as usize];
        let Some(flow) = own.flows.get_mut(&id) else { return false };
        if let (Some(again), Some(numbers)) = (&mut flow.again, numbers) {
            numbers.set(core.pool[packet].packet.host_word, again.number());
        }
        flow.add(core, packet);
        own.list(core, (id, self.period), &mut self.record);
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
                flow.leaves(packet.size, (now, self.period));
                let rng = &mut own.rng;
                self.plan.law.send(&mut flow.limit, packet.size, || rng.unit());
                if flow.limit.window().is_some() {
                    let most = &mut self.record.windows.under_way;
                    *most = flow.under_way().max(*most);
                }
                own.list(core, (id, self.period), &mut self.record);
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
    pub(super) fn advance(
        &mut self,
        core: &mut Core,
        queues: &mut OutputQueues,
        hosts: &mut impl Hosts,
    ) {
        while let Some(Reverse((at, host, event))) = self.events.peek().copied()
            && at <= core.now
        {
            self.events.pop();
            let queue = match event {
                Event::Heard { flow, report } => {
                    self.heard(core, (queues, hosts), (host, flow), report);
                    flow.0
                }
                Event::Expired { flow, timer } => {
                    self.expire(core, queues, (host, flow), timer);
                    flow.0
                }
                Event::Due { queue } => queue,
                Event::Late { flow } => {
                    self.look(core, (queues, hosts), (host, flow));
                    flow.0
                }
            };
            self.stage(core, queues, (host, queue));
        }
    }

    /// A flow has a limit from now on, and these packets wait for it.
    fn begin(&mut self, (host, id): (u32, FlowId), packets: (u32, u32), now: Cycle) {
        let own = &mut self.hosts[host as usize];
        let mut flow = Flow::new(own.limit(&self.plan.law, id), packets, now);
        flow.again = self.resends.map(|_| Box::default());
        self.record.note(&flow.limit);
        own.flows.insert(id, flow);
        self.record.begun += 1;
        self.record.most = self.record.most.max(own.flows.len() as u32);
    }

    /// A host hears of a flow. If that has no limit, it gets one, and its packets leave the common queue.
    fn heard(
        &mut self,
        core: &mut Core,
        (queues, hosts): (&mut OutputQueues, &mut impl Hosts),
        (host, id): (u32, FlowId),
        report: Report,
    ) {
        if let Report::Missing { number, left } = report {
            self.asked(core, (queues, hosts), (host, id), (number, left));
            return;
        }
        let trail = match report {
            Report::Received(Receipt { trail, .. }) if trail != NONE => {
                Some(self.trails.remove(trail))
            }
            _ => None,
        };
        if !self.hosts[host as usize].flows.contains_key(&id) {
            if matches!(report, Report::Received(_)) {
                return;
            }
            let (skip, own) = (self.hosts[host as usize].staged >> id.0 & 1 == 1, |of: &Packet| {
                self.flow_of(id.0, of) == id
            });
            let packets = queues.extract(core, (host, id.0), skip, own);
            self.begin((host, id), packets, core.now);
        }
        let heard = match report {
            Report::Received(of) => self.comes(core, hosts, (host, id), (of, trail.as_ref())),
            _ => None,
        };
        let own = &mut self.hosts[host as usize];
        let Some(flow) = own.flows.get_mut(&id) else { return };
        let length = match (report, heard) {
            (_, Some(heard)) => {
                let before = (flow.limit.rate(), flow.limit.window());
                self.plan.law.hear(&mut flow.limit, &heard);
                self.record.follow(before, &flow.limit);
                None
            }
            (Report::Feedback(feedback), None) => {
                let length = self.plan.law.cut(&mut flow.limit, feedback, core.now);
                self.record.cuts += 1;
                self.record.note(&flow.limit);
                length
            }
            _ => None,
        };
        if let Some(length) = length {
            own.timers += 1;
            flow.timer = own.timers;
            let expired = Event::Expired { flow: id, timer: flow.timer };
            self.events.push(Reverse((after(core.now, length), host, expired)));
        }
        own.list(core, (id, self.period), &mut self.record);
    }

    /// The time of a cycle of a limiter is over, if it is the timer that counts.
    fn expire(
        &mut self,
        core: &mut Core,
        queues: &mut OutputQueues,
        (host, id): (u32, FlowId),
        timer: u32,
    ) {
        let own = &mut self.hosts[host as usize];
        let Some(flow) = own.flows.get_mut(&id).filter(|flow| flow.timer == timer) else { return };
        let length = self.plan.law.expire(&mut flow.limit, own.rng.unit());
        let expired = Event::Expired { flow: id, timer };
        self.events.push(Reverse((after(core.now, length), host, expired)));
        own.list(core, (id, self.period), &mut self.record);
        self.end(core, queues, host, id);
    }

    /// A limit that limits nothing goes, and its packets join the others.
    fn end(&mut self, core: &mut Core, queues: &mut OutputQueues, host: u32, id: FlowId) {
        let own = &mut self.hosts[host as usize];
        if !own.flows.get(&id).is_some_and(|flow| flow.limit.is_over()) {
            return;
        }
        let Some(mut flow) = own.remove(&self.plan.law, id) else { return };
        self.record.ended += 1;
        while let Some(packet) = flow.take(core) {
            queues.append_at_host(core, (host, id.0), packet);
        }
    }

    /// Puts a packet with a limit before the others of its queue, if it may leave.
    fn stage(&mut self, core: &mut Core, queues: &mut OutputQueues, at: (u32, u8)) {
        let (host, queue) = at;
        let own = &mut self.hosts[host as usize];
        let others_turn = own.served >> queue & 1 == 1 && queues.waits_at_host(at);
        if own.staged >> queue & 1 == 1 || others_turn {
            return;
        }
        let Some((due, id)) = own.first(queue) else { return };
        let at_cycle = due.ceil() as Cycle;
        if at_cycle > core.now {
            let look = &mut own.looks[usize::from(queue)];
            if *look <= core.now || at_cycle < *look {
                *look = at_cycle;
                self.events.push(Reverse((at_cycle, host, Event::Due { queue })));
            }
        } else if let Some(packet) = own.flows.get_mut(&id).and_then(|flow| flow.take(core)) {
            own.staged |= 1 << queue;
            own.list(core, (id, self.period), &mut self.record);
            queues.put_first(core, at, packet);
        }
    }

    /// Packets that wait for their limits; links of hosts come after so many outputs.
    pub(super) fn departing(&self, core: &Core, outputs: u32) -> Vec<Departing> {
        let mut departing = Vec::new();
        for (host, own) in (0..).zip(&self.hosts) {
            for ((queue, ..), flow) in &own.flows {
                let (out, vc) = (outputs + host, *queue);
                let mut packet = flow.head;
                while packet != NONE {
                    departing.push(Departing { out, vc, packet, held: None });
                    packet = core.pool[packet].next;
                }
                let again = flow.again.iter().flat_map(|again| again.places());
                departing.extend(again.map(|packet| Departing { out, vc, packet, held: None }));
            }
        }
        departing
    }
}

/// A time from now on; a time that never comes if it is too far.
pub(super) fn after(now: Cycle, length: f64) -> Cycle {
    now.saturating_add((length.ceil() as Cycle).max(1))
}
