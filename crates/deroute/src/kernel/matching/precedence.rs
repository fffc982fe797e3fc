//! Who goes first at an arbiter that does not just go round.

use crate::ids::Cycle;
use crate::kernel::core::Core;
use crate::kernel::core::packet::NONE;
use crate::kernel::core::ports::{Input, PortKind};
use crate::kernel::model::Model;
use crate::spec::{Arbiter, Pointer};
use crate::switch::lot;
use serde::{Deserialize, Serialize};

/// The order of those that ask an arbiter.
#[derive(Serialize, Deserialize)]
pub(super) enum Precedence {
    /// From a pointer on.
    RoundRobin,
    /// By the cycle in which packets were generated.
    Age,
    /// By lot: the seed of the run.
    Random(u64),
    /// Who has waited longest for its turn.
    LeastRecentlyServed(Served),
}

/// Who was served when, at the arbiters of all switches of a partition.
#[derive(Serialize, Deserialize)]
pub(super) struct Served {
    /// VCs of input ports.
    inputs: Turns,
    /// Input ports of a router, for each output.
    outputs: Turns,
}

/// Lists of those that may ask each of many arbiters, the one first that was served least recently.
#[derive(Serialize, Deserialize)]
struct Turns {
    width: usize,
    lists: Vec<u16>,
}

impl Turns {
    fn new(arbiters: usize, width: u16) -> Self {
        let one = 0..width;
        Self {
            width: width.into(),
            lists: one.cycle().take(arbiters * usize::from(width)).collect(),
        }
    }

    fn list(&self, arbiter: u32) -> std::ops::Range<usize> {
        let first = arbiter as usize * self.width;
        first..first + self.width
    }

    /// How many go before.
    fn place(&self, arbiter: u32, who: u16) -> usize {
        let list = &self.lists[self.list(arbiter)];
        list.iter().position(|one| *one == who).unwrap_or(self.width)
    }

    /// Goes last from now on.
    fn serve(&mut self, arbiter: u32, who: u16) {
        let (range, place) = (self.list(arbiter), self.place(arbiter, who));
        if let Some(later) = self.lists[range].get_mut(place..) {
            later.rotate_left(1);
        }
    }
}

impl Precedence {
    pub(super) fn new(model: &Model, core: &Core) -> Self {
        match model.allocator.arbiter {
            Arbiter::RoundRobin => Self::RoundRobin,
            Arbiter::Age => Self::Age,
            Arbiter::Random => Self::Random(model.times.seed),
            Arbiter::LeastRecentlyServed => {
                let (vcs, ports) = widths(model);
                let inputs = Turns::new(core.inputs.len(), vcs);
                let outputs = Turns::new(core.outputs.len(), ports);
                Self::LeastRecentlyServed(Served { inputs, outputs })
            }
        }
    }

    /// The first VC from the pointer on goes first.
    pub(super) fn goes_round(&self) -> bool {
        matches!(self, Self::RoundRobin)
    }

    /// The rank of a VC of an input port: the lowest goes first, and those of the same rank go round.
    pub(super) fn rank_of_vc(&self, core: &Core, port: u32, vc: u8) -> u32 {
        match self {
            Self::RoundRobin => 0,
            Self::Age => {
                let queue = core.inputs[port as usize].queues as usize + usize::from(vc);
                generated(core, queue)
            }
            Self::Random(seed) => {
                lot(*seed, core.now, (router(core, port), true), (local(core, port), vc.into()))
            }
            Self::LeastRecentlyServed(served) => served.inputs.place(port, vc.into()) as u32,
        }
    }

    /// The same of an input port that requests an output.
    fn rank_of_port(&self, core: &Core, out: u32, port: u32) -> u32 {
        match self {
            Self::RoundRobin => 0,
            Self::Age => generated(core, requesting(core, port)),
            Self::Random(seed) => lot(
                *seed,
                core.now,
                (router(core, port), false),
                (local(core, out), local(core, port)),
            ),
            Self::LeastRecentlyServed(served) => {
                served.outputs.place(out, local(core, port)) as u32
            }
        }
    }

    /// A port requests an output for a VC.
    pub(super) fn requested(&mut self, model: &Model, port: u32, vc: u8) {
        if let Self::LeastRecentlyServed(served) = self
            && model.allocator.pointer == Pointer::OnRequest
        {
            served.inputs.serve(port, vc.into());
        }
    }

    /// A port is granted the output that it requested.
    pub(super) fn granted(&mut self, core: &Core, out: u32, port: u32) {
        let Self::LeastRecentlyServed(served) = self else { return };
        served.outputs.serve(out, local(core, port));
        if core.model.allocator.pointer == Pointer::OnGrant {
            served.inputs.serve(port, core.inputs[port as usize].requested_vc.into());
        }
    }

    /// The requester of an output with the highest priority: transit first if so asked, then by rank, then the first
    /// one from the pointer on.
    #[inline]
    pub(super) fn pick(&self, core: &Core, out: u32, first: u32) -> u32 {
        let transit_priority = core.model.allocator.transit_priority;
        let pointer = core.outputs[out as usize].pointer;
        let from = core.inputs[first as usize].base + u32::from(pointer);
        let (mut best, mut winner) = (u64::MAX, first);
        let mut port = first;
        while port != NONE {
            let input = &core.inputs[port as usize];
            let yields = transit_priority && input.kind == PortKind::Host;
            let rank = self.rank_of_port(core, out, port);
            // Those before the pointer are beyond all that are not.
            let turn = port.wrapping_sub(from) as u16;
            let rank = u64::from(yields) << 48 | u64::from(rank) << 16 | u64::from(turn);
            (best, winner) = if rank < best { (rank, port) } else { (best, winner) };
            port = input.next_request;
        }
        winner
    }
}

/// Bytes of the arbiters of so many ports.
pub(super) fn footprint(model: &Model, ports: u64) -> u64 {
    let (vcs, most_ports) = widths(model);
    let kept = model.allocator.arbiter == Arbiter::LeastRecentlyServed;
    let places = ports * (u64::from(vcs) + u64::from(most_ports));
    if kept { places * size_of::<u16>() as u64 } else { 0 }
}

/// Most VCs of an input port, and most ports of a router.
fn widths(model: &Model) -> (u16, u16) {
    let routers = (0..model.topology.routers()).map(crate::ids::RouterId);
    let radix = routers.map(|router| model.topology.radix(router)).max().unwrap_or(0);
    (model.most_vcs().max(model.host_vcs()).into(), radix)
}

fn generated(core: &Core, queue: usize) -> Cycle {
    core.pool[core.queues[queue].head].packet.generated
}

/// The number of a port's router in the network.
fn router(core: &Core, port: u32) -> u32 {
    core.first_router + core.inputs[port as usize].router
}

/// The number of a port in its router.
fn local(core: &Core, port: u32) -> u16 {
    (port - core.inputs[port as usize].base) as u16
}

/// The queue whose head an input port has requested an output for.
#[inline]
pub(super) fn requesting(core: &Core, port: u32) -> usize {
    let input: &Input = &core.inputs[port as usize];
    input.queues as usize + usize::from(input.requested_vc)
}
