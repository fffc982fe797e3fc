//! Hosts that generate synthetic traffic, whatever happens to it.

use super::{Entering, Hosts};
use crate::ids::Cycle;
use crate::kernel::core::Core;
use crate::kernel::core::mail::Mail;
use crate::kernel::core::packet::{BufferId, Packet};
use crate::kernel::extent::Extent;
use crate::kernel::model::Model;
use crate::probe::collect::Delivery;
use crate::routing::Header;
use serde::{Deserialize, Serialize};

/// Nothing but synthetic traffic: a packet's word is the cycle in which it left its injection queue.
#[derive(Serialize, Deserialize)]
pub(crate) struct Open;

/// Generates a packet of the synthetic traffic, if it is time and if the injection queue has room.
#[inline(always)]
pub(crate) fn generate(
    core: &mut Core,
    index: u32,
    host_word: impl FnOnce() -> u32,
) -> Option<Entering> {
    let Core { model, hosts, queued, collector, generations, now, .. } = core;
    let now = *now;
    let host = &mut hosts[index as usize];
    if host.next > now {
        let at = host.next.min(now + generations.horizon());
        generations.push(at, index);
        return None;
    }
    let traffic = &model.traffic;
    let demand = traffic.demand(host.id, &mut host.source, now);
    host.next = traffic.next(host.id, &mut host.source, Some(now));
    if host.next != Cycle::MAX {
        let at = host.next.min(now + generations.horizon());
        generations.push(at, index);
    }
    let size = u32::from(demand.size);
    let measured = collector.covers(now);
    collector.attempted_phits += u64::from(measured) * u64::from(size);
    let queue = model.flows.queue(0, (host.id, demand.destination), 0);
    let waiting = host.queued_mut(queued, queue);
    if model.injection_queue - *waiting < size {
        collector.refused += 1;
        return None;
    }
    *waiting += size;
    collector.generated += 1;
    collector.generated_phits += u64::from(measured) * u64::from(size);
    let (router, port) = model.topology.home_of(demand.destination);
    let header = Header::new(router);
    let packet = Packet { generated: now, host_word: host_word(), header, port, size: demand.size };
    Some((packet, BufferId::new(host.port, queue)))
}

impl Hosts for Open {
    const NOTIFY: bool = false;
    const RANKS: bool = false;

    fn new(_model: &Model, _horizon: Cycle, _extent: &Extent) -> Self {
        Self
    }

    #[inline(always)]
    fn generate(&mut self, core: &mut Core, host: u32) -> Option<Entering> {
        generate(core, host, || 0)
    }

    #[inline(always)]
    fn injected(&mut self, packet: &mut Packet, now: Cycle) {
        packet.host_word = now;
    }

    fn lose(&mut self, _packet: &Packet) -> bool {
        true
    }

    #[inline(always)]
    fn deliver(
        &mut self,
        _at: (u32, Cycle),
        _host_word: u32,
        packet: Delivery,
        mut record: impl FnMut(&Delivery),
    ) -> bool {
        record(&packet);
        true
    }

    fn post(&mut self, _core: &mut Core, _partition: u32, _tag: u32) {}

    fn receive(&mut self, _mail: &mut Mail, _now: Cycle) {}
}
