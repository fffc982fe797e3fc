//! The networks within nodes: messages that ranks of a job pass to each other beside the network.
//!
//! A rank has a port that sends a message at a time and receives one at a time, and nothing else is in the way. So a
//! message leaves when those before it have left; its first phit is there after the latency, and when the port of
//! the receiver has taken all that began to arrive before, the rest follows at the bandwidth.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::ids::Cycle;
use crate::kernel::core::mail::Passing;
use crate::workload::Seat;
use crate::workload::process::{Descriptor, Kind};

/// Where the order of messages comes from: first phit, job, receiver, sender, kind and number.
pub(super) type Place = (Cycle, u32, u32, u32, Kind, u32);

pub(super) fn place(passing: &Passing) -> Place {
    let Passing { to, at, descriptor: Descriptor { key, kind, sequence, .. }, .. } = *passing;
    (at, to.job, to.rank, key.from, kind, sequence)
}

/// The port of a rank.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Port {
    /// Its interface in the partition, and which of its ranks it is.
    pub(super) nic: u32,
    pub(super) worker: u32,
    /// It sends, and receives, until these cycles.
    pub(super) sends_until: Cycle,
    pub(super) receives_until: Cycle,
}

/// The networks within nodes, as far as their ranks are in a partition.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct ScaleUp {
    /// Ports by job and rank.
    ports: BTreeMap<(u32, u32), Port>,
    /// What ranks have sent in this cycle.
    pub(super) sent: Vec<Passing>,
    /// What is on its way to them.
    pub(super) coming: BTreeMap<Place, Passing>,
}

impl ScaleUp {
    /// Bytes for so many ranks: the nodes of a tree may be half full.
    pub(crate) fn bytes(ranks: u64) -> u64 {
        2 * ranks * (size_of::<((u32, u32), Port)>() as u64 + 8)
    }

    /// A rank has a port.
    pub(super) fn add(&mut self, seat: Seat, nic: u32, worker: u32) {
        let port = Port { nic, worker, sends_until: 0, receives_until: 0 };
        self.ports.insert((seat.job, seat.rank), port);
    }

    pub(super) fn port(&mut self, seat: Seat) -> Option<&mut Port> {
        self.ports.get_mut(&(seat.job, seat.rank))
    }
}
