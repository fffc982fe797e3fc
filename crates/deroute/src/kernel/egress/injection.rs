//! Injection queues of hosts with links of their own, where a class has several: they take turns.
//!
//! Of those of a queue of the link one packet at a time waits there; when it begins to leave, the next one is put
//! into its place.

use super::output_queues::{self, OutputQueues};
use crate::kernel::core::Core;
use crate::kernel::core::fetch::members;
use crate::kernel::core::packet::NONE;
use crate::kernel::machine::Departing;
use crate::kernel::model::Model;
use crate::state::{State, state};

/// What waits at the hosts of a partition behind the packets that are next.
pub(super) struct InjectionQueues {
    /// Injection queues of a host, and queues of its link.
    count: usize,
    onward: usize,
    /// First and last packet, by host and injection queue.
    lists: Box<[(u32, u32)]>,
    /// Injection queues that hold packets, by host.
    occupied: Box<[u64]>,
    /// The injection queue that comes first, by host and queue of its link.
    turns: Box<[u8]>,
}

impl State for InjectionQueues {
    state! { keep lists, occupied, turns; leave count, onward; }
}

impl InjectionQueues {
    /// For the hosts of a partition, if they have several queues for a class and links of their own.
    pub(super) fn new(model: &Model, core: &Core) -> Option<Box<Self>> {
        let (count, onward) = sizes(model)?;
        let hosts = core.hosts.len();
        Some(Box::new(Self {
            count,
            onward,
            lists: vec![(NONE, NONE); hosts * count].into(),
            occupied: vec![0; hosts].into(),
            turns: vec![0; hosts * onward].into(),
        }))
    }

    /// Bytes of so many hosts.
    pub(super) fn bytes(model: &Model, hosts: u64) -> u64 {
        let each = sizes(model).map_or(0, |(count, onward)| {
            count * size_of::<(u32, u32)>() + size_of::<u64>() + onward
        });
        hosts * each as u64
    }

    /// A packet enters an injection queue of a host. If another one is next at that queue of the link, it waits.
    pub(super) fn enter(
        &mut self,
        core: &mut Core,
        queues: &OutputQueues,
        (host, queue, number): (u32, u8, u8),
        packet: u32,
    ) -> bool {
        if !queues.waits_at_host((host, queue)) {
            self.turns[host as usize * self.onward + usize::from(queue)] = number + 1;
            return false;
        }
        core.pool[packet].next = NONE;
        let (head, tail) = &mut self.lists[host as usize * self.count + usize::from(number)];
        if *head == NONE {
            *head = packet;
        } else {
            core.pool[*tail].next = packet;
        }
        *tail = packet;
        self.occupied[host as usize] |= 1 << number;
        true
    }

    /// A packet of a queue of the link of a host leaves: the first of those whose turn it is is next.
    pub(super) fn advance(
        &mut self,
        core: &mut Core,
        queues: &mut OutputQueues,
        (host, queue): (u32, u8),
    ) {
        let turn = &mut self.turns[host as usize * self.onward + usize::from(queue)];
        let (port, flows) = (queues.outputs + host, queues.plan.flows);
        let occupied = self.occupied[host as usize];
        let own = || {
            let all = members(occupied).map(|number| number as u8);
            all.filter(|number| queues.queue_of(port, number % flows) == queue)
        };
        let number = own().find(|number| *number >= *turn).or_else(|| own().next());
        let Some(number) = number else { return };
        *turn = number + 1;
        let (head, _) = &mut self.lists[host as usize * self.count + usize::from(number)];
        let packet = *head;
        *head = core.pool[packet].next;
        if *head == NONE {
            self.occupied[host as usize] &= !(1 << number);
        }
        queues.append_at_host(core, (host, queue), packet);
    }

    /// Packets that wait; links of hosts come after so many outputs.
    pub(super) fn departing(&self, core: &Core, queues: &OutputQueues) -> Vec<Departing> {
        let mut departing = Vec::new();
        for (list, (head, _)) in self.lists.iter().enumerate() {
            let (host, number) = (list / self.count, list % self.count);
            let vc = number as u8 % queues.plan.flows;
            let mut packet = *head;
            while packet != NONE {
                let out = queues.outputs + host as u32;
                departing.push(Departing { out, vc, packet, held: None });
                packet = core.pool[packet].next;
            }
        }
        departing
    }
}

/// Injection queues of a host, and queues of its link, if it has a link and several queues for a class.
fn sizes(model: &Model) -> Option<(usize, usize)> {
    let (count, classes) = (model.flows.injection_queues(), model.flows.classes());
    (model.egress.nic.is_some() && count > classes)
        .then(|| (usize::from(count), output_queues::queues(model)))
}
