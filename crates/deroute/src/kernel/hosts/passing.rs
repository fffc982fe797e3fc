//! Messages between ranks of a host, or of a node.

use super::Interfaces;
use super::interface::{News, What};
use super::scale_up::{Port, place};
use crate::ids::Cycle;
use crate::kernel::core::Core;
use crate::kernel::core::mail::Passing;
use crate::kernel::model::Model;
use crate::probe::messages::Message;
use crate::workload::process::Descriptor;
use crate::workload::{Jobs, Node, Seat};

impl Interfaces {
    /// Messages to ranks of the same host or node are on their way.
    pub(super) fn deliver_within(&mut self, index: u32, jobs: &Jobs, now: Cycle) {
        let mut all = std::mem::take(&mut self.nics[index as usize].within);
        for (job, descriptor) in all.drain(..) {
            let Descriptor { to, key, kind, sequence, phits, left } = descriptor;
            if let Some(node) = jobs.jobs[job as usize].node
                && node.joins(key.from, to)
            {
                self.pass(&node, (job, index), descriptor, now);
                continue;
            }
            let at = now.saturating_add(jobs.jobs[job as usize].within.time(phits));
            let nic = &self.nics[index as usize];
            let (receiver, sender) = (nic.worker(to), nic.worker(key.from));
            let message = Message { issued: now, arrived: at, phits };
            let arrives = What::Arrives { kind, key, sequence, begun: false, message };
            self.tell(News { nic: index, worker: receiver, at, what: arrives }, now);
            if let Some(waiter) = left {
                let what = What::Left(waiter);
                self.tell(News { nic: index, worker: sender, at, what }, now);
            }
        }
        self.nics[index as usize].within = all;
    }

    /// A rank of a host sends a message to another one of its node.
    fn pass(&mut self, node: &Node, (job, nic): (u32, u32), descriptor: Descriptor, now: Cycle) {
        let Some(scale_up) = &mut self.scale_up else { return };
        let Some(port) = scale_up.port(Seat { job, rank: descriptor.key.from }) else { return };
        let (begin, worker) = (port.sends_until.max(now), port.worker);
        let gone = begin.saturating_add(node.time(descriptor.phits));
        port.sends_until = gone;
        let (to, at) = (Seat { job, rank: descriptor.to }, begin.saturating_add(node.latency));
        scale_up.sent.push(Passing { to, at, issued: now, descriptor });
        if let Some(waiter) = descriptor.left {
            self.tell(News { nic, worker, at: gone, what: What::Left(waiter) }, now);
        }
    }

    /// What ranks have sent in this cycle is on its way, to this partition or others.
    pub(super) fn send_within_nodes(&mut self, core: &mut Core) {
        let Some(mut sent) = self.scale_up.as_mut().map(|own| std::mem::take(&mut own.sent)) else {
            return;
        };
        for passing in sent.drain(..) {
            let Some(jobs) = &core.model.jobs else { continue };
            let host = jobs.jobs[passing.to.job as usize].hosts[passing.to.rank as usize];
            let router = core.model.topology.router_of(host);
            let partition = core.firsts.partition_point(|first| *first <= router.0) as u32 - 1;
            if partition == core.index {
                self.await_message(passing, core.now);
            } else {
                core.outbox[partition as usize].passing.push(passing);
            }
        }
        if let Some(own) = &mut self.scale_up {
            own.sent = sent;
        }
    }

    /// A message is on its way to a rank that is in the partition.
    pub(super) fn await_message(&mut self, passing: Passing, now: Cycle) {
        let Some(scale_up) = &mut self.scale_up else { return };
        let Some(&mut Port { nic, worker, .. }) = scale_up.port(passing.to) else { return };
        scale_up.coming.insert(place(&passing), passing);
        self.tell(News { nic, worker, at: passing.at, what: What::Passes }, now);
    }

    /// Messages whose first phits arrive in this cycle, those for a rank in the order of their senders.
    pub(super) fn receive_within_nodes(&mut self, model: &Model, now: Cycle) {
        let (Some(mut own), Some(jobs)) = (self.scale_up.take(), &model.jobs) else { return };
        while let Some(first) = own.coming.first_entry().filter(|first| first.key().0 <= now) {
            let Passing { to, issued, descriptor, .. } = first.remove();
            let Some(node) = jobs.jobs[to.job as usize].node else { continue };
            let Some(port) = own.port(to) else { continue };
            let Descriptor { key, kind, sequence, phits, .. } = descriptor;
            let arrived = port.receives_until.max(now).saturating_add(node.time(phits));
            port.receives_until = arrived;
            let message = Message { issued, arrived, phits };
            let what = What::Arrives { kind, key, sequence, begun: false, message };
            self.tell(News { nic: port.nic, worker: port.worker, at: arrived, what }, now);
        }
        self.scale_up = Some(own);
    }
}
