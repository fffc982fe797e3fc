//! Hosts whose links have credits that come back in messages: a queue is silent while the credits of its class do not
//! cover the largest packet.

use super::output_queues::OutputQueues;
use super::silence::Silences;
use crate::control::MessagePlan;
use crate::kernel::core::Core;
use crate::kernel::core::mail::Signal;
use crate::kernel::model::Model;
use crate::state::{State, state};

/// What the hosts of a partition know of the buffers of their routers.
pub(super) struct HostCredits {
    plan: MessagePlan,
    /// Phits that are free, by host and class.
    left: Vec<u32>,
    classes: usize,
}

impl State for HostCredits {
    state! { keep left; leave plan, classes; }
}

impl HostCredits {
    /// For the hosts of a partition, if their links have such credits.
    pub(super) fn new(model: &Model, core: &Core) -> Option<Box<Self>> {
        let plan = *model.messages.as_ref()?.host()?;
        let classes = usize::from(model.flows.classes());
        let left = vec![plan.buffer; core.hosts.len() * classes];
        Some(Box::new(Self { plan, left, classes }))
    }

    /// Bytes of so many hosts.
    pub(super) fn bytes(model: &Model, hosts: u64) -> u64 {
        let counts = model.messages.as_ref().is_some_and(|messages| messages.host().is_some());
        if counts { hosts * u64::from(model.flows.classes()) * size_of::<u32>() as u64 } else { 0 }
    }

    /// A packet of so many phits has left a queue of a host.
    pub(super) fn spend(
        &mut self,
        core: &Core,
        (queues, silences): (&mut OutputQueues, &mut Silences),
        (host, queue): (u32, u8),
        size: u16,
    ) {
        let left = &mut self.left[host as usize * self.classes + usize::from(queue)];
        *left -= self.plan.charge(size.into());
        if *left < self.plan.largest {
            let port = queues.outputs + host;
            queues.pause(port, queues.paused(port) | 1 << queue);
            silences.begin(queues.place(port, queue), core.now);
        }
    }

    /// Credits have come back to a host, if the signal is for one.
    pub(super) fn earn(
        &mut self,
        core: &Core,
        (queues, silences): (&mut OutputQueues, &mut Silences),
        signal: Signal,
    ) -> bool {
        let (port, queue) = (signal.port(), signal.vc());
        let Some(host) = port.checked_sub(queues.outputs) else { return false };
        let left = &mut self.left[host as usize * self.classes + usize::from(queue)];
        *left += signal.content();
        let paused = queues.paused(port);
        if paused >> queue & 1 == 1 && *left >= self.plan.largest {
            queues.pause(port, paused & !(1 << queue));
            silences.end(core, queues.place(port, queue), core.now);
            let state = &queues.ports[port as usize];
            if state.occupied >> queue & 1 == 1 {
                let free_at = state.free_at;
                queues.schedule(port, core.now, free_at);
            }
        }
        true
    }
}
