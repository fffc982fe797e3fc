//! Hosts that send again what does not come.

use std::cmp::Reverse;

use super::output_queues::OutputQueues;
use super::paced::FlowId;
use super::pacing::{Event, Pacing, after};
use super::resending::{Came, Kept, Leaves};
use crate::congestion::Trail;
use crate::ids::Cycle;
use crate::kernel::core::Core;
use crate::kernel::core::packet::Packet;
use crate::kernel::hosts::Hosts;
use crate::reaction::{Acknowledged, Lost, Receipt};
use crate::routing::Header;

impl Pacing {
    /// A packet of a queue leaves its host, which keeps it. Says whether it has left before.
    pub(super) fn keep(
        &mut self,
        core: &Core,
        hosts: &mut impl Hosts,
        (host, queue): (u32, u8),
        (packet, of): (&Packet, (u8, u8)),
    ) -> bool {
        let Some(plan) = self.resends else { return false };
        let id = self.flow_of(queue, packet);
        let number = hosts.numbers_mut().map_or(0, |numbers| numbers.of(packet.host_word));
        let Some(flow) = self.hosts[host as usize].flows.get_mut(&id) else { return false };
        let (Some(again), Some(cargo)) = (&mut flow.again, hosts.cargo_mut()) else { return false };
        let cargo = cargo.get(packet.host_word);
        let leaves = again.leaves(number, (packet, cargo, of), core.now);
        if again.look.is_none() {
            let at = after(core.now, plan.timeout(&again.trips));
            again.look = Some(at);
            self.events.push(Reverse((at, host, Event::Late { flow: id })));
        }
        if leaves == Leaves::InVain {
            // It is under way no more than before.
            flow.sent = flow.sent.wrapping_sub(packet.size.into());
        }
        leaves != Leaves::First
    }

    /// A packet of a flow is acknowledged, and perhaps for the first time.
    pub(super) fn comes<'a>(
        &mut self,
        core: &mut Core,
        hosts: &mut impl Hosts,
        (host, id): (u32, FlowId),
        (receipt, met): (Receipt, Option<&'a Trail>),
    ) -> Option<Acknowledged<'a>> {
        let flow = self.hosts[host as usize].flows.get_mut(&id)?;
        let Some(again) = &mut flow.again else {
            return Some(Acknowledged { met, ..flow.comes(receipt, core.now) });
        };
        let came = again.acknowledge(receipt.number);
        if came != Came::Before {
            again.trips.hear(f64::from(core.now - receipt.left));
        }
        if let Came::Waiting(place) = came {
            flow.sent = flow.sent.wrapping_add(receipt.phits.into());
            if let Some(place) = place {
                let word = core.pool[place].packet.host_word;
                core.pool.remove(place);
                core.collector.retransmission.spared += 1;
                hosts.cargo_mut().map(|cargo| cargo.remove(word));
            }
        }
        let newly = if came == Came::Before { 0 } else { receipt.phits };
        Some(Acknowledged { met, ..flow.comes_once(receipt, newly, core.now) })
    }

    /// A receiver asks for a packet that left in a cycle.
    pub(super) fn asked(
        &mut self,
        core: &mut Core,
        (queues, hosts): (&mut OutputQueues, &mut impl Hosts),
        at: (u32, FlowId),
        (number, left): (u32, Cycle),
    ) {
        if self.lose(core, (queues, hosts), at, (number, left), false) {
            self.hosts[at.0 as usize].list(core, (at.1, self.period), &mut self.record);
        }
    }

    /// It is time to look for packets of a flow that have been under way for too long.
    pub(super) fn look(
        &mut self,
        core: &mut Core,
        (queues, hosts): (&mut OutputQueues, &mut impl Hosts),
        at: (u32, FlowId),
    ) {
        let Some(plan) = self.resends else { return };
        let (host, id) = at;
        let timeout = match self.again_of(at) {
            Some(again) => plan.timeout(&again.trips),
            None => return,
        };
        let mut lost = false;
        while let Some((left, number)) = self.again_of(at).and_then(|again| again.oldest())
            && after(left, timeout) <= core.now
        {
            core.collector.retransmission.timeouts += 1;
            lost = true;
            self.lose(core, (queues, &mut *hosts), at, (number, left), true);
        }
        let Some(again) = self.again_of(at) else { return };
        if lost {
            again.trips.expire();
        }
        let timeout = plan.timeout(&again.trips);
        again.look = again.oldest().map(|(left, _)| after(left, timeout).max(core.now + 1));
        if let Some(at) = again.look {
            self.events.push(Reverse((at, host, Event::Late { flow: id })));
        }
        self.hosts[host as usize].list(core, (id, self.period), &mut self.record);
    }

    fn again_of(&mut self, (host, id): (u32, FlowId)) -> Option<&mut super::resending::Resending> {
        self.hosts[host as usize].flows.get_mut(&id)?.again.as_deref_mut()
    }

    /// A packet that left in a cycle is lost, if it is still under way: it is to be sent again.
    fn lose(
        &mut self,
        core: &mut Core,
        (queues, hosts): (&mut OutputQueues, &mut impl Hosts),
        (host, id): (u32, FlowId),
        (number, left): (u32, Cycle),
        late: bool,
    ) -> bool {
        let Some(flow) = self.hosts[host as usize].flows.get_mut(&id) else { return false };
        let Some(again) = &mut flow.again else { return false };
        let Some(Kept { mut packet, cargo, queue: (vc, injection), .. }) = again.lose(number, left)
        else {
            return false;
        };
        let class = cargo.class;
        if late {
            hosts.late((host, core.now), &packet);
        }
        let Some(all) = hosts.cargo_mut() else { return false };
        packet.host_word = all.insert(cargo);
        packet.header = Header::new(packet.header.destination);
        if let Some(numbers) = hosts.numbers_mut() {
            numbers.set(packet.host_word, number);
        }
        hosts.entered((host, class), core.now, &mut packet);
        let place = core.pool.insert(packet, core.now);
        queues.note(core, place, vc, None);
        core.pool[place].packet.header.position = injection;
        again.repeat(number, place);
        core.collector.retransmission.resent += 1;
        flow.sent = flow.sent.wrapping_sub(packet.size.into());
        let before = (flow.limit.rate(), flow.limit.window());
        let under_way = f64::from(flow.under_way());
        let lost = Lost { phits: packet.size, under_way, now: core.now, late };
        self.plan.law.lose(&mut flow.limit, &lost);
        self.record.follow(before, &flow.limit);
        true
    }
}
