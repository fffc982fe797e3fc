//! How much of everything some routers consist of.

use std::ops::Range;

use super::core::ports::NEAR;
use super::model::Model;
use crate::ids::{HostId, PortId, RouterId};
use crate::topology::Peer;

/// Numbers of things of some routers, as a partition is built of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) routers: u64,
    pub(crate) hosts: u64,
    /// Generators of packets in a run with streams: one of the other traffic, and one for each stream of a host.
    pub(crate) generators: u64,
    pub(crate) ports: u64,
    /// Ports that lead to routers.
    pub(crate) links: u64,
    /// Phits that the buffers at the other ends of the links hold, and switches beside them.
    pub(crate) memory: u64,
    /// Queues of the input ports.
    pub(crate) queues: u64,
    /// Credits of the VCs beyond the first ones of an output.
    pub(crate) credits: u64,
}

impl Extent {
    /// That of consecutive routers.
    pub(crate) fn of(model: &Model, routers: Range<u32>) -> Self {
        let mut all = Self::default();
        for router in routers.map(RouterId) {
            all.routers += 1;
            all.queues += model.queues(router);
            all.memory = all.memory.saturating_add(model.other_memory(router));
            for port in 0..model.topology.radix(router) {
                all.ports += 1;
                match model.topology.peer(router, PortId(port)) {
                    Peer::Unused => {}
                    Peer::Host(host) => {
                        all.hosts += 1;
                        all.generators += generators(model, host);
                    }
                    Peer::Router { class, .. } => {
                        let class = &model.classes[usize::from(class)];
                        all.links += 1;
                        all.memory = all.memory.saturating_add(class.memory());
                        all.credits += usize::from(class.vcs).saturating_sub(NEAR) as u64;
                    }
                }
            }
        }
        all
    }
}

/// Generators of a host where packets have numbers.
fn generators(model: &Model, host: HostId) -> u64 {
    if !model.numbers_packets() {
        return 0;
    }
    let own =
        model.traffic.streams().iter().filter(|stream| stream.hosts().binary_search(&host).is_ok());
    1 + own.count() as u64
}
