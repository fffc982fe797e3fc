//! Packets that are routed when they arrive, and not when they become heads.
//!
//! All arrivals of a cycle are routed before anything is granted in it, ports in ascending order, so that
//! the order of events is irrelevant.

use crate::kernel::core::fetch::touch;
use crate::kernel::core::packet::BufferId;
use crate::kernel::core::ports::OutputRequest;
use crate::kernel::machine::{Datapath, Machine};
use serde::{Deserialize, Serialize};

/// A packet that has arrived and is yet to be routed.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Arrival {
    pub(crate) port: u32,
    pub(crate) packet: u32,
    pub(crate) vc: u8,
    /// Its virtual output queue, once it is routed.
    pub(crate) voq: u32,
}

/// What packets in queues request, and those that have just arrived.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct OnArrival {
    /// By the packet's place in the pool.
    pub(crate) decided: Vec<OutputRequest>,
    pub(crate) new_arrivals: Vec<Arrival>,
}

impl OnArrival {
    /// A packet has arrived in this cycle.
    pub(crate) fn add(&mut self, packet: u32, to: BufferId) {
        self.new_arrivals.push(Arrival { port: to.port(), packet, vc: to.vc(), voq: 0 });
    }

    /// Routes what has arrived in this cycle.
    pub(crate) fn route<M: Machine>(&mut self, path: &mut Datapath<M>) {
        let Self { decided, new_arrivals } = self;
        new_arrivals.sort_unstable_by_key(|arrival| arrival.port);
        decided.resize(path.core.pool.slots(), OutputRequest::default());
        touch(new_arrivals.iter().map(|new| u32::from(decided[new.packet as usize].out)));
        for &Arrival { port, packet, vc, .. } in &*new_arrivals {
            decided[packet as usize] = path.route((port as usize, vc), packet);
        }
    }
}
