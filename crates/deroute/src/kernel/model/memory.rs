//! The memory of switches.

use super::Model;
use crate::ids::{PortId, RouterId};
use crate::spec::SpecError;
use crate::topology::Peer;

impl Model {
    /// Phits of the buffers of a switch's own ports, where links are paused.
    fn own_buffers(&self, router: RouterId) -> u64 {
        let Some(pauses) = &self.pause else { return 0 };
        let of = |port| {
            let peer = self.topology.peer(router, PortId(port));
            match (pauses.at(peer), peer) {
                (Some(plan), Peer::Router { class, .. }) => {
                    plan.memory(self.classes[usize::from(class)].vcs)
                }
                (Some(plan), _) => plan.memory(self.flows.classes()),
                (None, Peer::Router { class, .. }) => self.classes[usize::from(class)].memory(),
                (None, _) => 0,
            }
        };
        (0..self.topology.radix(router)).map(of).sum()
    }

    /// Phits that a switch holds at the most beyond the buffers behind its links, where some are paused: from hosts'
    /// links, what its ports share, and at its outputs.
    pub(crate) fn other_memory(&self, router: RouterId) -> u64 {
        let from_hosts = self.egress.nic.is_some();
        let Some(pauses) = &self.pause else {
            // Hosts' links have credits as others do, if they are links at all.
            let host = self.egress.nic.map_or(0, |nic| nic.memory());
            let ports = (0..self.topology.radix(router)).map(PortId);
            let hosts =
                ports.filter(|port| matches!(self.topology.peer(router, *port), Peer::Host(_)));
            return host * hosts.count() as u64;
        };
        if self.output_buffer == u32::MAX && !(self.egress.holds_input && from_hosts) {
            return u64::MAX;
        }
        let host = pauses.host().map_or(0, |plan| plan.memory(self.flows.classes()));
        let output = if self.egress.holds_input { 0 } else { u64::from(self.output_buffer) };
        let of = |port| match self.topology.peer(router, PortId(port)) {
            Peer::Router { class, .. } if pauses.queue_per_vc(class) => {
                output * u64::from(self.classes[usize::from(class)].vcs)
            }
            Peer::Router { .. } => output,
            Peer::Host(_) => output + host,
            Peer::Unused => 0,
        };
        let ports: u64 = (0..self.topology.radix(router)).map(of).sum();
        ports + u64::from(self.shared_memory(router).unwrap_or(0))
    }

    /// Phits of a switch that its ports share, if they do.
    pub(crate) fn shared_memory(&self, router: RouterId) -> Option<u32> {
        let (size, _) = self.pause.as_ref()?.shared.as_ref()?;
        Some(u64::from(*size).saturating_sub(self.own_buffers(router)) as u32)
    }

    /// The memory of every switch holds the buffers of its ports.
    pub(super) fn shared_memory_fits(&self) -> Result<(), SpecError> {
        let Some((size, path)) = self.pause.as_ref().and_then(|plan| plan.shared.as_ref()) else {
            return Ok(());
        };
        let routers = (0..self.topology.routers()).map(RouterId);
        let most = routers.map(|router| (self.own_buffers(router), router.0)).max();
        let (own, router) = most.unwrap_or_default();
        let Some(missing) = own.checked_sub(u64::from(*size)).filter(|missing| *missing > 0) else {
            return Ok(());
        };
        let bytes = missing as f64 * self.scale.phit_bytes();
        let message = format!(
            "{size} phits do not hold the buffers of the ports of router {router}, reserves and headroom: \
             {missing} phits ({bytes} B) are missing"
        );
        Err(SpecError::new(path.clone(), message).choices([format!("at least {own} phits")]))
    }
}
