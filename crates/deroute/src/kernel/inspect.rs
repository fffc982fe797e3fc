//! What checks, samples and results look at: every stage says it in the same words, whatever machine runs.

use super::agents::Agents;
use super::books::{Books, Observed};
use super::control::{Control, PauseRecord};
use super::core::Core;
use super::core::ports::{OutputRequest, Queue};
use super::egress::{Departing, Egress};
use super::hosts::{Hosts, Interfaces};
use super::machine::Machine;
use super::matching::Matching;
use super::model::Model;
use super::partition::Partition;
use crate::ids::Cycle;
use crate::routing::Queues;

/// One partition.
pub(crate) trait Inspect {
    fn core(&self) -> &Core;
    fn agents_mut(&mut self) -> &mut Agents;
    /// The interfaces of hosts that run ranks.
    fn interfaces(&self) -> Option<&Interfaces>;
    /// Dependencies between channels, if they are recorded.
    fn dependencies(&self) -> Option<&Observed>;
    /// The queues of a router, as its agent sees them.
    fn sensed(&self, router: u32) -> Box<dyn Queues + '_>;
    /// The queues of one VC of an input port: one, or one for each output.
    fn vc_queues(&self, input: usize, vc: u8) -> Vec<&Queue>;
    /// What a packet in a queue has requested, if packets do so when they arrive.
    fn decided(&self, packet: u32) -> Option<OutputRequest>;
    /// What the packet has requested that an input port sends, or sent last; or what the one after it has, once it
    /// has been looked at.
    fn sending(&self, input: usize) -> OutputRequest;
    /// Does a head that has been routed lack credits? `base` is the first port of its router.
    fn credit_blocked(&self, base: u32, request: &OutputRequest) -> bool;
    /// Packets that have been granted and have not left, or that have not left their hosts.
    fn departing(&self) -> Vec<Departing>;
    /// What was recorded of the pauses of an input.
    fn pauses(&self, input: u32) -> Option<PauseRecord>;
    /// Cycles of the measurement in which the queues of an output, or of a host after all outputs, were told to be
    /// silent, and how many they are; there are so many VCs.
    fn silence(&self, port: u32, vcs: u8) -> (u64, u64);
    /// Recounts what the switch allocation knows of a router. Says what is wrong.
    fn check(&self, router: u32) -> Result<(), String>;
}

impl<M: Machine> Inspect for Partition<M> {
    fn core(&self) -> &Core {
        &self.path.core
    }

    fn agents_mut(&mut self) -> &mut Agents {
        &mut self.path.agents
    }

    fn interfaces(&self) -> Option<&Interfaces> {
        self.path.hosts.interfaces()
    }

    fn dependencies(&self) -> Option<&Observed> {
        self.path.books.dependencies()
    }

    fn sensed(&self, router: u32) -> Box<dyn Queues + '_> {
        Box::new(self.path.sensed(router))
    }

    fn vc_queues(&self, input: usize, vc: u8) -> Vec<&Queue> {
        let core = &self.path.core;
        let (ports, input) = (core.ports(core.inputs[input].router).len(), &core.inputs[input]);
        let count = if <M::Matching as Matching<M>>::VOQS { ports } else { 1 };
        let first = input.queues as usize + usize::from(vc);
        (0..count).map(|voq| &core.queues[first + voq * usize::from(input.vcs)]).collect()
    }

    fn decided(&self, packet: u32) -> Option<OutputRequest> {
        self.matching.decided(packet)
    }

    fn sending(&self, input: usize) -> OutputRequest {
        let core = &self.path.core;
        let request = self.matching.sending(core, input).request;
        if request.seen || <M::Matching as Matching<M>>::VOQS {
            return request;
        }
        core.inputs[input].sent
    }

    fn credit_blocked(&self, base: u32, request: &OutputRequest) -> bool {
        self.path.credit_blocked(base, request)
    }

    fn departing(&self) -> Vec<Departing> {
        self.path.egress.departing(&self.path.core)
    }

    fn pauses(&self, input: u32) -> Option<PauseRecord> {
        self.path.control.record(input)
    }

    fn silence(&self, port: u32, vcs: u8) -> (u64, u64) {
        self.path.egress.silence(&self.path.core, port, vcs)
    }

    fn check(&self, router: u32) -> Result<(), String> {
        self.matching.check(&self.path.core, router)
    }
}

/// A network in motion: its partitions, and where each of them begins.
pub(crate) struct Network<'a> {
    pub(crate) model: &'a Model,
    pub(crate) partitions: Vec<&'a dyn Inspect>,
    /// First router of each partition, and the total.
    pub(crate) firsts: &'a [u32],
    pub(crate) now: Cycle,
}

impl<'a> Network<'a> {
    /// The partitions, each with the number of its first router.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&'a dyn Inspect, u32)> + '_ {
        self.partitions.iter().copied().zip(self.firsts.iter().copied())
    }

    /// What partitions share.
    pub(crate) fn cores(&self) -> impl Iterator<Item = &'a Core> + '_ {
        self.partitions.iter().map(|partition| partition.core())
    }
}
