//! What checks, samples and results look at: every stage says it in the same words, whatever machine runs.

use super::agents::Agents;
use super::books::{Books, Observed};
use super::control::{Control, MessageRecord, PauseRecord};
use super::core::Core;
use super::core::ports::{OutputRequest, Queue};
use super::egress::SilenceRecord;
use super::hosts::{Hosts, Interfaces};
use super::machine::{Departing, Egress, Machine, Matching};
use super::model::Model;
use super::partition::Partition;
use crate::ids::{Cycle, PortId, RouterId};
use crate::probe::entropies::EntropyRecord;
use crate::probe::limits::LimitRecord;
use crate::probe::marks::MarkRecord;
use crate::probe::notices::NoticeRecord;
use crate::probe::order::OrderRecord;
use crate::probe::retry::RetryRecord;
use crate::probe::streams::StreamRecord;
use crate::routing::{Fault, Queues};

/// One partition.
pub(crate) trait Inspect {
    fn core(&self) -> &Core;
    fn agents_mut(&mut self) -> &mut Agents;
    /// The interfaces of hosts that run ranks.
    fn interfaces(&self) -> Option<&Interfaces>;
    /// Packets whose cargo is kept, if packets have any.
    fn cargo(&self) -> Option<u32>;
    /// What was recorded of each stream.
    fn streams(&self) -> &[StreamRecord];
    /// In which order packets have arrived until a cycle, where hosts put them in order.
    fn order(&self, until: Cycle) -> Option<OrderRecord>;
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
    /// Is the output full that a head has requested?
    fn output_full(&self, base: u32, request: &OutputRequest) -> bool;
    /// What the routing did so far.
    fn deeds(&self) -> Vec<(&'static str, u64)>;
    /// Why its routing cannot go on, if that is so.
    fn fault(&self) -> Option<&Fault>;
    /// Has the sender of a VC of an input been told to be silent?
    fn has_stopped(&self, input: u32, vc: u8) -> bool;
    /// Since when the queue of an output for a VC at its other end has been told to be silent, if it has.
    fn silent_since(&self, output: u32, vc: u8) -> Option<Cycle>;
    /// Packets that have been granted the output to their host and have not left.
    fn leaving(&self) -> u64;
    /// Packets that have been granted and have not left, or that have not left their hosts.
    fn departing(&self) -> Vec<Departing>;
    /// Most phits that the ports of a switch share, and most of them in use at once in one, if they share any.
    fn shared_memory(&self) -> Option<(u32, u32)>;
    /// Phits that a VC of an input buffer holds, if flow control counts them.
    fn buffered(&self, input: u32, vc: u8) -> Option<u32>;
    /// Phits of a VC of an input that are free and whose sender does not know it yet.
    fn owed(&self, input: u32, vc: u8) -> u32;
    /// What was recorded of the messages of an input, if it sends any.
    fn messages(&self, input: u32) -> Option<MessageRecord>;
    /// Phits in a queue of an output.
    fn outgoing(&self, output: u32, queue: u8) -> u32;
    /// What was recorded of the pauses of an input: of each VC, of all together, or nothing.
    fn pauses(&self, input: u32) -> Vec<PauseRecord>;
    /// When each queue of an output, or of a host after all outputs, was told to be silent; there are so many VCs.
    fn silences(&self, port: u32, vcs: u8) -> Vec<SilenceRecord>;
    /// What was recorded of the frames of an output, or of a host after all outputs, if they can break.
    fn retry(&self, port: u32) -> Option<RetryRecord>;
    /// What left an output by class, where there are congestion points.
    fn marks(&self, output: u32) -> &[MarkRecord];
    /// What the samples of an output found by class, where congestion points send notifications.
    fn notices(&self, output: u32) -> Vec<NoticeRecord>;
    /// Which entropies its hosts gave, if they give any.
    fn entropies(&self) -> Option<EntropyRecord>;
    /// What the rate limiters of its hosts did, if there are any.
    fn limits(&self) -> Option<LimitRecord>;
    /// The least rate of a host, to all or to one destination, as a share of its link; and the smallest window in phits, if
    /// flows have windows.
    fn least(&self, host: u32, to: Option<(RouterId, PortId)>) -> (f64, Option<f64>);
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

    fn cargo(&self) -> Option<u32> {
        self.path.hosts.cargo()
    }

    fn streams(&self) -> &[StreamRecord] {
        self.path.hosts.streams()
    }

    fn order(&self, until: Cycle) -> Option<OrderRecord> {
        self.path.hosts.order(until)
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

    fn output_full(&self, base: u32, request: &OutputRequest) -> bool {
        self.path.output_full(base, request)
    }

    fn deeds(&self) -> Vec<(&'static str, u64)> {
        self.path.agents.routing.deeds()
    }

    fn fault(&self) -> Option<&Fault> {
        self.path.agents.routing.fault()
    }

    fn has_stopped(&self, input: u32, vc: u8) -> bool {
        self.path.control.has_stopped(input, vc)
    }

    fn silent_since(&self, output: u32, vc: u8) -> Option<Cycle> {
        self.path.egress.silent_since(output, vc)
    }

    fn leaving(&self) -> u64 {
        self.path.egress.leaving()
    }

    fn departing(&self) -> Vec<Departing> {
        self.path.egress.departing(&self.path.core)
    }

    fn shared_memory(&self) -> Option<(u32, u32)> {
        self.path.control.shared_memory()
    }

    fn buffered(&self, input: u32, vc: u8) -> Option<u32> {
        self.path.control.buffered(&self.path.core, input, vc)
    }

    fn owed(&self, input: u32, vc: u8) -> u32 {
        self.path.control.owed(input, vc)
    }

    fn messages(&self, input: u32) -> Option<MessageRecord> {
        self.path.control.messages(input)
    }

    fn outgoing(&self, output: u32, queue: u8) -> u32 {
        self.path.egress.length(&self.path.core, output, queue)
    }

    fn pauses(&self, input: u32) -> Vec<PauseRecord> {
        self.path.control.records(input)
    }

    fn silences(&self, port: u32, vcs: u8) -> Vec<SilenceRecord> {
        self.path.egress.silences(&self.path.core, port, vcs)
    }

    fn retry(&self, port: u32) -> Option<RetryRecord> {
        self.path.egress.retry(port)
    }

    fn marks(&self, output: u32) -> &[MarkRecord] {
        self.path.egress.marks(output)
    }

    fn notices(&self, output: u32) -> Vec<NoticeRecord> {
        self.path.egress.notices(output)
    }

    fn entropies(&self) -> Option<EntropyRecord> {
        self.path.hosts.entropies()
    }

    fn limits(&self) -> Option<LimitRecord> {
        self.path.egress.limits().map(|limits| limits.record())
    }

    fn least(&self, host: u32, to: Option<(RouterId, PortId)>) -> (f64, Option<f64>) {
        self.path.egress.limits().map_or((1.0, None), |limits| limits.least(host, to))
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
