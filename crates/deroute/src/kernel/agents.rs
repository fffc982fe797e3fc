//! The routing agents of a partition, and their messages.

use super::core::port_set::PortSet;
use super::core::wheel::Wheel;
use crate::ids::{Cycle, RouterId};
use crate::routing::{Follows, Header, Injection, Message, Queue, Queues, Routing, Watches};
use crate::state::{State, state};
use serde::{Deserialize, Serialize};

/// What happened to packets in injection queues, by input port and VC.
#[derive(Serialize, Deserialize)]
struct InjectionEvent {
    at: (u32, u8),
    queue: Queue,
    event: Injection,
    header: Header,
}

/// The routing algorithm with the state of its routers.
pub(crate) struct Agents {
    pub(crate) routing: Box<dyn Routing>,
    pub(crate) watches: Watches,
    /// Packets in transit follow their path: heads are routed when they become heads.
    pub(crate) follows: Option<Follows>,
    /// Messages on their way, by slot.
    deliveries: Wheel<u32>,
    messages: Vec<Underway>,
    free_messages: Vec<u32>,
    /// Messages that are scheduled again, as they take longer than the wheel reaches.
    later: Vec<u32>,
    /// Routers whose watched queues have changed.
    changed: PortSet,
    any_changed: bool,
    outgoing: Vec<Message>,
    /// What is to be told, in the order of ports.
    injections: Vec<InjectionEvent>,
}

/// A message on its way.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Underway {
    from: RouterId,
    content: u32,
    /// Cycle in which it arrives.
    at: Cycle,
}

impl State for Agents {
    state! { keep routing, deliveries, messages, free_messages, changed, any_changed, injections;
    leave watches, follows, outgoing, later; }
}

impl Agents {
    /// Agents of so many routers; `routed_early` says that heads can be routed when they become heads.
    pub(crate) fn new(
        routing: Box<dyn Routing>,
        routers: usize,
        horizon: Cycle,
        routed_early: bool,
    ) -> Self {
        Self {
            watches: routing.watches(),
            follows: routing.follows().filter(|_| routed_early),
            routing,
            deliveries: Wheel::new(horizon),
            messages: Vec::new(),
            free_messages: Vec::new(),
            later: Vec::new(),
            changed: PortSet::new(routers),
            any_changed: false,
            outgoing: Vec::new(),
            injections: Vec::new(),
        }
    }

    /// Queues of a router that its agent watches have changed.
    #[inline]
    pub(crate) fn mark_changed(&mut self, router: u32) {
        self.changed.insert(router);
        self.any_changed = true;
    }

    /// Shows changed queues to the routing algorithm, routers in ascending order; `queues` are those of a router
    /// of the partition, and `first` is the number of its first router.
    pub(crate) fn show_changed<'a, Q: Queues + 'a>(
        &mut self,
        (first, now): (u32, Cycle),
        queues: impl Fn(u32) -> Q,
    ) {
        if !self.any_changed {
            return;
        }
        self.any_changed = false;
        let Self { routing, changed, outgoing, deliveries, messages, free_messages, .. } = self;
        changed.drain(|router| {
            let id = RouterId(first + router);
            routing.queues_changed(id, &queues(router), outgoing);
            for Message { delay, content } in outgoing.drain(..) {
                let entry = Underway { from: id, content, at: now + delay };
                let slot = match free_messages.pop() {
                    Some(slot) => {
                        messages[slot as usize] = entry;
                        slot
                    }
                    None => {
                        messages.push(entry);
                        messages.len() as u32 - 1
                    }
                };
                deliveries.push(now + delay.min(deliveries.horizon()), slot);
            }
        });
    }

    /// Messages arrive.
    #[inline]
    pub(crate) fn receive_messages(&mut self, now: Cycle) {
        let Self { routing, deliveries, messages, free_messages, later, .. } = self;
        deliveries.drain(now, |slots| {
            for slot in slots {
                let Underway { from, content, at } = messages[*slot as usize];
                if at > now {
                    later.push(*slot);
                    continue;
                }
                free_messages.push(*slot);
                routing.message(from, content);
            }
        });
        for slot in later.drain(..) {
            let wait = messages[slot as usize].at - now;
            deliveries.push(now + wait.min(deliveries.horizon()), slot);
        }
    }

    /// The first cycle of `from..to` in which an agent is told or shown something, or `to`.
    pub(crate) fn due(&self, from: Cycle, to: Cycle) -> Cycle {
        match self.any_changed || !self.injections.is_empty() {
            true => from,
            false => self.deliveries.next(from, to),
        }
    }

    /// Something has happened to a packet in an injection queue, which is told later in this cycle.
    pub(crate) fn note_injection(
        &mut self,
        at: (u32, u8),
        queue: Queue,
        event: Injection,
        header: Header,
    ) {
        self.injections.push(InjectionEvent { at, queue, event, header });
    }

    /// Tells what has happened to packets in injection queues, ports and their VCs in ascending order.
    #[inline]
    pub(crate) fn tell_injections(&mut self) {
        if self.injections.is_empty() {
            return;
        }
        let Self { routing, injections, .. } = self;
        injections.sort_by_key(|told| told.at);
        for InjectionEvent { queue, event, header, .. } in injections.drain(..) {
            routing.injection(queue, event, &header);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::ids::{PortId, VcId};
    use crate::routing::{Hop, RouterView};

    /// Tells its group of every change, and keeps what it heard last.
    struct Talker {
        delay: Cycle,
        heard: Arc<AtomicU32>,
    }

    impl Routing for Talker {
        fn route(&mut self, _: &mut RouterView<'_>, _: &mut Header) -> Hop {
            Hop { port: PortId(0), vc: VcId(0), position: 0 }
        }

        fn queues_changed(&mut self, at: RouterId, _: &dyn Queues, mail: &mut Vec<Message>) {
            mail.push(Message { delay: self.delay, content: at.0 + 1 });
        }

        fn message(&mut self, _: RouterId, content: u32) {
            self.heard.store(content, Ordering::Relaxed);
        }
    }

    struct Empty;

    impl Queues for Empty {
        fn port(&self, _: PortId) -> u32 {
            0
        }

        fn vc(&self, _: PortId, _: VcId) -> u32 {
            0
        }
    }

    #[test]
    fn a_message_may_take_longer_than_the_wheel_reaches() {
        for delay in [1, 7, 8, 9, 16, 100] {
            let heard = Arc::new(AtomicU32::new(0));
            let talker = Talker { delay, heard: Arc::clone(&heard) };
            let mut agents = Agents::new(Box::new(talker), 1, 6, false);
            agents.mark_changed(0);
            agents.show_changed((0, 5), |_| Empty);
            let arrives = (6..200).find(|now| {
                agents.receive_messages(*now);
                heard.load(Ordering::Relaxed) == 1
            });
            assert_eq!(arrives, Some(5 + delay));
        }
    }
}
