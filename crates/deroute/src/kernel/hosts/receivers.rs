//! Notification points: what receiving hosts tell the sources of packets.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::Entering;
use super::come::Come;
use crate::congestion::Trail;
use crate::ids::{Cycle, HostId};
use crate::kernel::core::Core;
use crate::kernel::core::cargo::{Cargo, Load, Notice, PartOf, Slab, Told};
use crate::kernel::core::packet::{BufferId, Packet};
use crate::kernel::core::trails::Trails;
use crate::kernel::model::Model;
use crate::notification::{NotificationPlan, Tells};
use crate::probe::PathKind;
use crate::probe::collect::Delivery;
use crate::reaction::Receipt;
use crate::routing::Header;
use crate::state::{State, state};

/// A flow that a host, by its index, receives: its source and its class.
type FlowId = (u32, u32, u8);

/// What a host is about to tell, when, and to whom: of packets of a class.
type Reply = (Cycle, u32, u32, u8, Told);

/// The receiving hosts of a partition.
pub(crate) struct Receivers {
    plan: NotificationPlan,
    /// When each flow was told of a mark.
    told: BTreeMap<FlowId, Cycle>,
    /// Phits of each flow that have come, where sources have windows.
    come: Option<BTreeMap<FlowId, u32>>,
    /// Packets of each flow that have come, where sources send again.
    once: BTreeMap<FlowId, Come>,
    due: BinaryHeap<Reverse<Reply>>,
}

impl State for Receivers {
    state! { keep told, come, once, due; leave plan; }
}

impl Receivers {
    /// Those of a partition; none if hosts tell nothing.
    pub(super) fn new(model: &Model) -> Option<Self> {
        let plan = model.notification_point?;
        let reaction = model.egress.reaction_point;
        Some(Self {
            plan,
            told: BTreeMap::new(),
            come: reaction.filter(|plan| plan.law.limits_at_once()).map(|_| BTreeMap::new()),
            once: BTreeMap::new(),
            due: BinaryHeap::new(),
        })
    }

    /// Bytes at the most, where hosts send so many flows and so many packets are under way.
    pub(crate) fn most_bytes(model: &Model, flows: u64, packets: u64) -> u64 {
        let reply = 2 * size_of::<Reverse<Reply>>() as u64;
        // An entry of a tree whose nodes may be half full; a heap that grows.
        let told = 2 * size_of::<(FlowId, Cycle)>() as u64 + 16;
        match model.notification_point.map(|plan| plan.tells) {
            None => 0,
            Some(Tells::Packets) => {
                let counted =
                    model.egress.reaction_point.is_some_and(|own| own.law.limits_at_once());
                let flows = if counted { flows } else { 0 };
                // What packets have met is kept until it is told.
                let met = if model.egress.records() { 2 * Trails::bytes(1) } else { 0 };
                // What is there of packets that are not next.
                let (once, beyond) = match model.egress.retransmission {
                    Some(_) => (2 * size_of::<(FlowId, Come)>() as u64 + 16, 16),
                    None => (0, 0),
                };
                let packets = packets.saturating_mul(reply + met + beyond);
                packets.saturating_add(flows.saturating_mul(told + once))
            }
            Some(Tells::Marks(_)) => flows.saturating_mul(told + reply),
        }
    }

    /// A packet reaches a host, which tells its source when the last phit has come; what it has met was kept in a place. It
    /// has a number where sources send again. Says whether it had not come before.
    pub(super) fn receive(
        &mut self,
        host: u32,
        packet: &Delivery,
        (cargo, trail, number): (&Cargo, u32, Option<u32>),
    ) -> bool {
        let Cargo { source, class, entropy, injected, .. } = *cargo;
        let at = packet.delivered;
        let flow = (host, source.0, class);
        let new = number.is_none_or(|number| self.once.entry(flow).or_default().add(number));
        let told = match self.plan.tells {
            Tells::Packets => {
                let mut come = if new { u32::from(packet.size) } else { 0 };
                if let Some(counts) = &mut self.come {
                    let count = counts.entry(flow).or_insert(0);
                    *count = count.wrapping_add(come);
                    come = *count;
                }
                let Delivery { size: phits, marked, hops, .. } = *packet;
                let (left, number) = (injected, number.unwrap_or(0));
                let receipt = Receipt { phits, come, left, marked, hops, trail, number };
                Told::Received { entropy, receipt }
            }
            Tells::Marks(_) if !packet.marked => return new,
            Tells::Marks(interval) => {
                let next = self.told.entry(flow).or_insert(0);
                if at < *next {
                    return new;
                }
                *next = at.saturating_add(interval);
                Told::Marked { diverted: packet.kind != PathKind::Minimal }
            }
        };
        self.due.push(Reverse((at, host, source.0, class, told)));
        new
    }

    /// The header of a packet reaches a host, which asks for the packet when the last phit has come.
    pub(super) fn reject(&mut self, (host, at): (u32, Cycle), cargo: &Cargo, number: u32) {
        let Cargo { source, class, injected: left, .. } = *cargo;
        self.due.push(Reverse((at, host, source.0, class, Told::Missing { number, left })));
    }

    /// Cycle in which a host tells something next.
    pub(super) fn next(&self) -> Option<Cycle> {
        self.due.peek().map(|Reverse((at, ..))| *at)
    }

    /// Hosts tell what is due.
    #[inline]
    pub(super) fn reply(
        &mut self,
        core: &mut Core,
        (cargo, mut trails): (&mut Slab<Cargo>, Option<&mut Trails>),
        entering: &mut Vec<Entering>,
    ) {
        while let Some(Reverse((at, host, source, class, told))) = self.due.peek().copied()
            && at <= core.now
        {
            self.due.pop();
            let Core { model, hosts, collector, now, .. } = core;
            let own = &hosts[host as usize];
            let notice = Notice { to: model.topology.home_of(own.id), class, told };
            let source = HostId(source);
            let (router, port) = model.topology.home_of(source);
            let plan = self.plan.notices;
            let loaded = Cargo::new(source, PartOf::Notice(notice), model.host_latency);
            let host_word = cargo.insert(loaded);
            match (&mut trails, told) {
                (Some(trails), Told::Received { receipt, .. }) => {
                    trails.give(receipt.trail, host_word);
                }
                (Some(trails), _) => trails.set(host_word, Trail::default()),
                (None, _) => {}
            }
            let packet = Packet {
                generated: *now,
                host_word,
                header: Header::new(router),
                port,
                size: plan.size,
            };
            collector.notices.sent += 1;
            collector.retransmission.nacks += u64::from(matches!(told, Told::Missing { .. }));
            entering.push((packet, BufferId::new(own.port, plan.class * model.egress.schemes)));
        }
    }
}
