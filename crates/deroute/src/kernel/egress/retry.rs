//! Links that send broken frames again, and what their senders keep until the other ends have them.
//!
//! A frame that breaks costs its sender the time until it is told, in which all that it sends is in vain: that frame stays at
//! the head of its queue, and nothing leaves for good until the answer has come. Flow control does not wait for that.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use super::output_queues::OutputQueues;
use crate::control::RetryPlan;
use crate::ids::{Cycle, PortId};
use crate::kernel::core::Core;
use crate::kernel::core::ports::PortKind;
use crate::kernel::model::Model;
use crate::probe::retry::RetryRecord;
use crate::rng::{Owner, Stream};

/// The sender of a link with errors.
#[derive(Serialize, Deserialize)]
struct Sender {
    plan: RetryPlan,
    stream: Stream,
    /// Frames that are not acknowledged: when they will be, and their phits.
    kept: VecDeque<(Cycle, u32)>,
    phits: u32,
    /// Until this cycle all that is sent is in vain, or there is no room to keep what the schedule has chosen.
    waits_until: Cycle,
    record: RetryRecord,
}

/// The senders of a partition: outputs, and hosts with links of their own after them.
#[derive(Serialize, Deserialize)]
pub(super) struct Retry {
    senders: Vec<Option<Sender>>,
}

impl Retry {
    /// For the links of a partition, if some of the network have errors.
    pub(super) fn new(model: &Model, core: &Core, queues: &OutputQueues) -> Option<Box<Self>> {
        let plans = model.egress.retry.as_ref()?;
        let seed = model.times.seed;
        let outputs = core.outputs.iter().enumerate().map(|(port, output)| {
            let router = &core.routers[output.router as usize];
            let local = PortId((port as u32 - router.port_base) as u16);
            let plan = plans.of(output.class).filter(|_| output.kind != PortKind::Unused)?;
            Some(Sender::new(*plan, Stream::new(seed, Owner::Errors(router.id, local))))
        });
        let hosts = core.hosts.iter().map(|host| {
            let plan = plans.of(u8::MAX)?;
            Some(Sender::new(*plan, Stream::new(seed, Owner::HostErrors(host.id.0))))
        });
        let senders: Vec<_> = outputs.chain(hosts).take(queues.ports.len()).collect();
        Some(Box::new(Self { senders }))
    }

    /// Bytes of so many outputs and hosts.
    pub(super) fn bytes(model: &Model, ports: u64) -> u64 {
        let any = model.egress.retry.is_some();
        if any { ports * size_of::<Option<Sender>>() as u64 } else { 0 }
    }

    /// Bytes besides, at the most: frames that follow each other until they are acknowledged.
    pub(super) fn most_bytes(model: &Model, ports: u64) -> u64 {
        let Some(plans) = &model.egress.retry else { return 0 };
        let frames = plans.answer() / u32::from(model.packet_sizes().0) + 2;
        let frame = size_of::<(Cycle, u32)>() as u64;
        ports.saturating_mul(frame * u64::from(frames.next_power_of_two().max(4)))
    }

    /// Until when nothing leaves a port for good, because a frame broke or could not be kept.
    pub(super) fn waits_until(&self, port: u32, now: Cycle) -> Option<Cycle> {
        let sender = self.senders[port as usize].as_ref()?;
        (sender.waits_until > now).then_some(sender.waits_until)
    }

    /// A frame of so many phits, each of which takes a period, begins to leave a port: if it must not, or leaves
    /// broken, says when the port may send again.
    pub(super) fn refuses(
        &mut self,
        port: u32,
        (size, period): (u32, u32),
        now: Cycle,
    ) -> Option<Cycle> {
        let sender = self.senders[port as usize].as_mut()?;
        while let Some((_, phits)) = sender.kept.front().filter(|(at, _)| *at <= now) {
            sender.phits -= phits;
            sender.kept.pop_front();
        }
        if size > sender.plan.replay - sender.phits {
            let (acknowledged, _) = *sender.kept.front()?;
            sender.waits_until = acknowledged;
            return Some(acknowledged);
        }
        let answered = now + size * period + sender.plan.answer;
        let record = &mut sender.record;
        record.frames += 1;
        let error = sender.plan.error(size);
        if error > 0.0 && sender.stream.unit() < error {
            record.errors += 1;
            record.vain += u64::from(answered - now);
            record.most = record.most.max(sender.phits + size);
            sender.waits_until = answered;
            return Some(answered);
        }
        sender.phits += size;
        record.most = record.most.max(sender.phits);
        record.used += u64::from(size * period);
        sender.kept.push_back((answered, size));
        None
    }

    /// What was recorded of a port, if its link has errors.
    pub(super) fn record(&self, port: u32) -> Option<RetryRecord> {
        self.senders.get(port as usize)?.as_ref().map(|sender| sender.record)
    }
}

impl Sender {
    fn new(plan: RetryPlan, stream: Stream) -> Self {
        let record = RetryRecord::default();
        Self { plan, stream, kept: VecDeque::new(), phits: 0, waits_until: 0, record }
    }
}
