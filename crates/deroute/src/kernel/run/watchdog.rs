//! The deadlock watchdog.
//!
//! A buffer waits for what its packets wait for: for room in the buffer at the other end of a link, which without
//! credits is a wait for a queue of an output that was told to be silent, and that for the buffer whose receiver
//! said so. A place is stuck when everything that could make room in it is.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};

use super::checks::far_end;
use crate::ids::Cycle;
use crate::kernel::RunError;
use crate::kernel::books::{Channel, name};
use crate::kernel::core::Core;
use crate::kernel::core::packet::NONE;
use crate::kernel::core::ports::{Input, PortKind, Queue};
use crate::kernel::inspect::{Inspect, Network};

/// Finds packets that wait for each other.
#[derive(Serialize, Deserialize)]
pub(crate) struct Watchdog {
    patience: Cycle,
    next: Cycle,
}

/// Where packets wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Place {
    /// The buffer of an input.
    Buffer(Channel),
    /// The queue of an output for a VC, or those for all VCs where the whole link is paused: router, port, VC.
    Silent(u32, u16, Option<u8>),
}

/// For each place from which nothing has moved, the places of which one must move before anything can.
type Waits = HashMap<Place, Vec<Place>>;

/// What waits at the outputs of a partition.
#[derive(Default)]
struct AtOutputs {
    /// The queues of each output that hold packets.
    occupied: BTreeMap<u32, Vec<Place>>,
    /// The queues in which packets wait that still have memory of an input and VC.
    held: BTreeMap<(u32, u8), Vec<Place>>,
}

impl Watchdog {
    pub(crate) fn new(patience: Cycle) -> Self {
        Self { patience, next: patience }
    }

    /// Looks at what has not moved for longer than the patience, and follows what it waits for. A cycle of such
    /// waits is a deadlock.
    pub(crate) fn look(&mut self, network: &Network<'_>) -> Result<(), RunError> {
        self.next = network.now.saturating_add(self.patience / 2);
        let mut waits = Waits::new();
        for (partition, first) in network.parts() {
            let looked = Look { partition, first, now: network.now, patience: self.patience };
            let outputs = looked.outputs(&mut waits);
            looked.inputs(&outputs, &mut waits);
        }
        match find_cycle(&doomed(waits)) {
            None => Ok(()),
            Some(cycle) => Err(RunError::Deadlock(format!(
                "at cycle {}, packets that have not moved for {} cycles wait for each other: {}",
                network.now,
                self.patience,
                describe(&cycle)
            ))),
        }
    }

    /// Cycle from which on it is to look again.
    pub(crate) fn next(&self) -> Cycle {
        self.next
    }

    /// Is it time to look?
    pub(crate) fn is_due(&self, now: Cycle) -> bool {
        now >= self.next
    }
}

/// A look at a partition.
struct Look<'a> {
    partition: &'a dyn Inspect,
    /// Its first router.
    first: u32,
    now: Cycle,
    patience: Cycle,
}

impl Look<'_> {
    /// A VC of links of a class is a channel of its own, or not.
    fn own(&self, class: u8, vc: u8) -> Option<u8> {
        (!self.partition.core().model.pauses_whole_link(class)).then_some(vc)
    }

    /// The packets that have been granted and have not left. Adds the queues that have been silent for long, which
    /// wait for the buffers at the other ends of their links.
    fn outputs(&self, waits: &mut Waits) -> AtOutputs {
        let core = self.partition.core();
        let mut found = AtOutputs::default();
        for departing in self.partition.departing() {
            let Some(output) = core.outputs.get(departing.out as usize) else { continue };
            let base = core.routers[output.router as usize].port_base;
            let (router, port) = (self.first + output.router, (departing.out - base) as u16);
            let place = Place::Silent(router, port, self.own(output.class, departing.vc));
            let places = found.occupied.entry(departing.out).or_default();
            if !places.contains(&place) {
                places.push(place);
            }
            if let Some(held) = departing.held {
                let places = found.held.entry(held).or_default();
                if !places.contains(&place) {
                    places.push(place);
                }
            }
            let silent = self.partition.silent_since(departing.out, departing.vc);
            if output.kind == PortKind::Link
                && silent.is_some_and(|since| self.now - since >= self.patience)
            {
                let (router, port, _) = far_end(core, self.first, departing.out, departing.vc);
                let buffer = Place::Buffer((router, port, self.own(output.class, departing.vc)));
                waits.insert(place, vec![buffer]);
            }
        }
        found
    }

    /// Adds the buffers that hold up a sender and from which nothing has left for long.
    fn inputs(&self, outputs: &AtOutputs, waits: &mut Waits) {
        let core = self.partition.core();
        for (index, input) in (0..).zip(&core.inputs) {
            if input.kind != PortKind::Link
                || self.now - input.busy_until.min(self.now) < self.patience
            {
                continue;
            }
            let class = core.outputs[index as usize].class;
            let mut together = Some(Vec::new());
            for vc in 0..input.vcs {
                let ends = self.ends((index, vc), outputs);
                if self.own(class, vc).is_some() {
                    self.add((index, Some(vc)), ends, waits);
                } else {
                    together = together.zip(ends).map(|(all, ends)| [all, ends].concat());
                }
            }
            if self.own(class, 0).is_none() {
                self.add((index, None), together, waits);
            }
        }
    }

    /// Adds a buffer, if all of its packets are stuck and that holds up somebody.
    fn add(&self, (index, vc): (u32, Option<u8>), ends: Option<Vec<Place>>, waits: &mut Waits) {
        let core = self.partition.core();
        let Input { router, base, .. } = core.inputs[index as usize];
        let pauses = core.model.replaces_credits(core.outputs[index as usize].class);
        let Some(ends) = ends.filter(|ends| !ends.is_empty()) else { return };
        if !pauses || self.partition.has_stopped(index, vc.unwrap_or(0)) {
            let channel = (self.first + router, (index - base) as u16, vc);
            waits.insert(Place::Buffer(channel), ends);
        }
    }

    /// What the packets of a VC of an input wait for; nothing if one of its heads has no need to wait.
    fn ends(&self, (index, vc): (u32, u8), outputs: &AtOutputs) -> Option<Vec<Place>> {
        let mut ends = outputs.held.get(&(index, vc)).cloned().unwrap_or_default();
        for queue in self.partition.vc_queues(index as usize, vc) {
            if queue.head != NONE {
                ends.extend(self.waits_for(index, queue, outputs)?);
            }
        }
        Some(ends)
    }

    /// What the head of a queue waits for, if it has waited for long.
    fn waits_for(&self, index: u32, queue: &Queue, outputs: &AtOutputs) -> Option<Vec<Place>> {
        let core: &Core = self.partition.core();
        let (base, request) = (core.inputs[index as usize].base, &queue.request);
        let out = base + u32::from(request.out);
        let late = self.now - core.pool[queue.head].arrival >= self.patience;
        if !request.routed || !late {
            return None;
        }
        if self.partition.credit_blocked(base, request) {
            return Some(vec![Place::Buffer(far_end(core, self.first, out, request.vc))]);
        }
        let full = self.partition.output_full(base, request);
        full.then(|| outputs.occupied.get(&out).cloned().unwrap_or_default())
    }
}

/// Of places and those that they wait for, the places that nothing can leave: each waits only for others
/// of them. For each of them, one of those that it waits for.
fn doomed(mut waits: Waits) -> HashMap<Place, Place> {
    loop {
        let all: HashSet<Place> = waits.keys().copied().collect();
        waits.retain(|_, ends| ends.iter().all(|end| all.contains(end)));
        if waits.len() == all.len() {
            return waits.into_iter().map(|(place, ends)| (place, ends[0])).collect();
        }
    }
}

/// A cycle in a graph in which every node has at most one successor. The result does not depend on
/// the order of the map.
fn find_cycle(waits: &HashMap<Place, Place>) -> Option<Vec<Place>> {
    let mut starts: Vec<_> = waits.keys().copied().collect();
    starts.sort_unstable();
    let mut done = HashSet::new();
    for start in starts {
        let mut walk = Vec::new();
        let mut here = Some(start);
        while let Some(place) = here
            && !done.contains(&place)
        {
            if let Some(begin) = walk.iter().position(|&seen| seen == place) {
                return Some(walk.split_off(begin));
            }
            walk.push(place);
            here = waits.get(&place).copied();
        }
        done.extend(walk);
    }
    None
}

/// A cycle of places as a sentence fragment.
fn describe(cycle: &[Place]) -> String {
    let name = |place: &Place| match place {
        Place::Buffer(channel) => name(channel),
        Place::Silent(router, port, vc) => {
            let vc = vc.map_or(String::new(), |vc| format!(", VC {vc},"));
            format!("output {port} of router {router}{vc} paused")
        }
    };
    cycle.iter().map(name).collect::<Vec<_>>().join(" -> ")
}
