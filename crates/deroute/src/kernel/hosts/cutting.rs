//! How interfaces cut messages into packets, one by one.

use super::Entering;
use super::interface::{News, SendQueues, What};
use super::later::Item;
use super::messages::Interfaces;
use super::outgoing::Outgoing;
use crate::ids::Cycle;
use crate::kernel::core::Core;
use crate::kernel::core::cargo::{Fragment, Load, PartOf, Slab};
use crate::kernel::core::packet::{BufferId, Packet};
use crate::kernel::model::Model;
use crate::routing::Header;
use crate::workload::Job;
use crate::workload::process::{Descriptor, Process};

impl Interfaces {
    /// Lets the ranks of a host go on, if they can, and cuts a packet.
    pub(super) fn step<C: Load>(
        &mut self,
        core: &mut Core,
        cargo: &mut Slab<C>,
        index: u32,
    ) -> Option<Entering> {
        let nic = &self.nics[index as usize];
        if nic.told || nic.wakes <= core.now {
            let host = nic.host;
            if let Some(at) = self.work(index, &core.model, core.now, core.generations.horizon()) {
                core.generations.push(at, host);
            }
            if self.scale_up.is_some() {
                self.send_within_nodes(core);
            }
        }
        let packet = self.cut(core, cargo, index);
        self.refill(core, index);
        packet
    }

    /// Lets the ranks of a host go on. Returns the cycle of an event that is needed to end a computation, if the
    /// timing wheel reaches so far.
    fn work(&mut self, index: u32, model: &Model, now: Cycle, horizon: Cycle) -> Option<Cycle> {
        for worker in 0..self.nics[index as usize].workers.len() as u32 {
            let act = |process: &mut Process, job: &Job, services: &mut SendQueues<'_>| {
                process.advance(job, now, services);
            };
            self.with((index, worker), (model, now), act);
        }
        let nic = &mut self.nics[index as usize];
        nic.told = false;
        let at = nic.workers.iter().filter_map(|worker| worker.process.next_timer()).min();
        nic.wakes = at.unwrap_or(Cycle::MAX);
        let at = at?;
        let far = at - now > horizon;
        let known = if far { &mut nic.later } else { &mut nic.timer };
        if *known > now && *known <= at {
            return None;
        }
        *known = at;
        if far {
            self.later.add(at, Item::Host(nic.host));
            return None;
        }
        Some(at)
    }

    /// Cuts the next packet of a host, if its injection queue has room for it: at most one a cycle, so
    /// that no two arrive at their router at once.
    fn cut<C: Load>(
        &mut self,
        core: &mut Core,
        cargo: &mut Slab<C>,
        index: u32,
    ) -> Option<Entering> {
        let Core { model, hosts, queued, collector, now, .. } = core;
        let jobs = model.jobs.as_ref()?;
        let largest = jobs.packet;
        let nic = &mut self.nics[index as usize];
        if nic.next_cut > *now || nic.is_idle() {
            return None;
        }
        let host = &mut hosts[nic.host as usize];
        let room = |queue| self.queue - host.queued(queued, queue);
        let queue = nic.next_queue(largest, room);
        let cut = queue.and_then(|queue| nic.take(queue, largest));
        let queue = queue.unwrap_or(0);
        if let Some((_, size)) = cut {
            nic.next_cut = *now + 1;
            *host.queued_mut(queued, queue) += size;
            collector.generated += 1;
            let phits = u64::from(collector.covers(*now)) * u64::from(size);
            collector.attempted_phits += phits;
            collector.generated_phits += phits;
        }
        let ahead = if nic.next_made > *now { 0 } else { self.ahead };
        let (message, size) = nic.make(cut, (host.queued(queued, queue), ahead), largest)?;
        nic.next_made = *now + 1;
        let Outgoing { descriptor, to, cut: offset, issued, .. } = message;
        let Descriptor { to: rank, key, kind, sequence, phits: length, left } = descriptor;
        let (last, worker) = (offset + size == length, jobs.worker(to, rank));
        let left = left.filter(|_| last);
        let fragment = Fragment { kind, worker, key, sequence, offset, last, told: left.is_some() };
        let host_word =
            cargo.insert(C::new(host.id, PartOf::Message(fragment), model.host_latency));
        if let Some(waiter) = left {
            let (worker, what) = (nic.worker(key.from), What::Left(waiter));
            let slot = self.news.insert(News { nic: index, worker, at: Cycle::MAX, what });
            self.leaving.insert(host_word, slot);
        }
        let (router, port) = model.topology.home_of(to);
        let packet = Packet {
            generated: issued,
            host_word,
            header: Header::new(router),
            port,
            size: size as u16,
        };
        Some((packet, BufferId::new(host.port, queue)))
    }

    /// Sees to it that a packet is cut in the next cycle, if there is one and room for it.
    #[inline]
    pub(super) fn refill(&mut self, core: &mut Core, index: u32) {
        let Core { model, hosts, queued, generations, now, .. } = core;
        let Some(jobs) = &model.jobs else { return };
        let (nic, soon) = (&mut self.nics[index as usize], *now + 1);
        if nic.refill_at == soon || nic.is_idle() {
            return;
        }
        let host = &hosts[nic.host as usize];
        let room = |queue| self.queue - host.queued(queued, queue);
        let next = nic.behind.first(jobs.packet);
        let there = next.map(|size| host.queued(queued, 0) - nic.behind.phits() + size);
        if there.is_some_and(|there| there <= self.ahead)
            || nic.next_queue(jobs.packet, room).is_some()
        {
            nic.refill_at = soon;
            generations.push(soon, nic.host);
        }
    }
}
