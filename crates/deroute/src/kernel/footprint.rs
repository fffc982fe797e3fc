//! What a run needs of memory.

use super::core::packet::Slot;
use super::core::ports;
use super::hosts::Cargo;
use super::matching::islip_footprint;
use super::model::Model;
use super::run::jobs_footprint;
use crate::control::LinkClass;
use crate::probe::PathKind;
use crate::spec::Sensing;

/// Memory that a simulation needs, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Before the first packet.
    pub fixed_bytes: u64,
    /// With every injection queue and buffer full; `u64::MAX` if injection queues are unlimited.
    pub worst_bytes: u64,
    /// Phits of all messages of the workload: what the time of a run follows.
    pub message_phits: u64,
}

/// The memory that a run of this model needs.
pub(crate) fn of(model: &Model) -> Footprint {
    use size_of as bytes;
    let topology = &*model.topology;
    let ports = u64::from(*model.port_bases().last().unwrap_or(&0));
    let (hosts, routers) = (u64::from(topology.hosts()), u64::from(topology.routers()));
    let links = u64::from(model.links());
    let injection_queues = hosts * u64::from(model.flows.classes());
    let vcs = model.classes.iter().map(|c| u64::from(c.vcs)).max().unwrap_or(1);
    // And a place on the list of requested outputs.
    let per_port = bytes::<ports::Input>() + bytes::<ports::Output>() + bytes::<u32>();
    let rows = vcs * (u64::from(model.lengths) + u64::from(model.shares()))
        + u64::from(model.sensing == Sensing::Waiting);
    let fixed = ports * (per_port as u64 + rows * bytes::<u32>() as u64)
        + model.queues() * bytes::<ports::Queue>() as u64
        + (links * vcs + injection_queues) * bytes::<u32>() as u64
        + if model.voqs { islip_footprint(model) } else { 0 }
        + hosts * bytes::<ports::Host>() as u64
        + routers * (bytes::<ports::Router>() + bytes::<[u32; PathKind::ALL.len()]>()) as u64
        + 4 * u64::from(model.horizon());
    let smallest = u64::from(model.packet_sizes().0);
    let decided = if model.on_arrival { bytes::<ports::OutputRequest>() } else { 0 };
    let packet = (bytes::<Slot>() + decided) as u64;
    let deepest = model.classes.iter().map(LinkClass::memory).max();
    let in_network = (links * deepest.unwrap_or(0)).div_ceil(smallest);
    let host_queues = injection_queues * u64::from(model.nic_queue()).div_ceil(smallest);
    let Some((ranks, packets)) = jobs_footprint(model, in_network + host_queues) else {
        let worst = match model.injection_queue {
            u32::MAX => u64::MAX,
            queue => {
                let injecting = injection_queues * u64::from(queue).div_ceil(smallest);
                fixed + (in_network + injecting) * packet
            }
        };
        return Footprint { fixed_bytes: fixed, worst_bytes: worst, message_phits: 0 };
    };
    let fixed = fixed + ranks;
    let packet = packet + bytes::<Cargo>() as u64;
    let worst = fixed.saturating_add(packets.saturating_mul(packet));
    let message_phits = model.jobs.as_ref().map_or(0, |jobs| jobs.work().1);
    Footprint { fixed_bytes: fixed, worst_bytes: worst, message_phits }
}
