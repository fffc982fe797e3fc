//! The memory of switches.

use super::Model;
use crate::ids::{PortId, RouterId};
use crate::spec::SpecError;
use crate::topology::Peer;

impl Model {
    /// Phits of the buffers of a switch's own ports, where links are paused.
    fn own_buffers(&self, router: RouterId) -> u64 {
        let Some(plan) = &self.pause else { return 0 };
        let buffers = |vcs: u8| if plan.whole_link { 1 } else { u64::from(vcs) };
        let of = |port| match self.topology.peer(router, PortId(port)) {
            Peer::Router { class, .. } => {
                let class = usize::from(class);
                u64::from(plan.limits[class].capacity) * buffers(self.classes[class].vcs)
            }
            Peer::Host(_) => plan
                .host
                .map_or(0, |limits| u64::from(limits.capacity) * buffers(self.flows.classes())),
            Peer::Unused => 0,
        };
        (0..self.topology.radix(router)).map(of).sum()
    }

    /// Phits that a switch holds at the most beyond the buffers behind its links, where these are paused: from hosts'
    /// links, what its ports share, and at its outputs.
    pub(crate) fn other_memory(&self, router: RouterId) -> u64 {
        let Some(plan) = &self.pause else { return 0 };
        let from_hosts = self.egress.nic.is_some();
        if self.output_buffer == u32::MAX && !(self.egress.holds_input && from_hosts) {
            return u64::MAX;
        }
        let host = plan.host.map_or(0, |limits| {
            let buffers = if plan.whole_link { 1 } else { self.flows.classes() };
            u64::from(limits.capacity) * u64::from(buffers)
        });
        let output = if self.egress.holds_input { 0 } else { u64::from(self.output_buffer) };
        let of = |port| match self.topology.peer(router, PortId(port)) {
            Peer::Router { .. } if plan.whole_link => output,
            Peer::Router { class, .. } => output * u64::from(self.classes[usize::from(class)].vcs),
            Peer::Host(_) => output + host,
            Peer::Unused => 0,
        };
        let ports: u64 = (0..self.topology.radix(router)).map(of).sum();
        ports + u64::from(self.shared_memory(router).unwrap_or(0))
    }

    /// Phits of a switch that its ports share, if they do.
    pub(crate) fn shared_memory(&self, router: RouterId) -> Option<u32> {
        let shared = self.pause.as_ref()?.shared?;
        Some(u64::from(shared.size).saturating_sub(self.own_buffers(router)) as u32)
    }

    /// The memory of every switch holds the buffers of its ports.
    pub(super) fn shared_memory_fits(&self) -> Result<(), SpecError> {
        let Some((plan, shared)) = self.pause.as_ref().and_then(|plan| Some((plan, plan.shared?)))
        else {
            return Ok(());
        };
        let routers = (0..self.topology.routers()).map(RouterId);
        let most = routers.map(|router| (self.own_buffers(router), router.0)).max();
        let (own, router) = most.unwrap_or_default();
        let Some(missing) = own.checked_sub(shared.size.into()).filter(|missing| *missing > 0)
        else {
            return Ok(());
        };
        let bytes = missing as f64 * self.scale.phit_bytes();
        let control = if plan.whole_link { "pause" } else { "pfc" };
        let message = format!(
            "{} phits do not hold the buffers of the ports of router {router}, reserves and headroom: \
             {missing} phits ({bytes} B) are missing",
            shared.size
        );
        let path = format!("network.flow_control.{control}.shared_buffer.size");
        Err(SpecError::new(path, message).choices([format!("at least {own} phits")]))
    }
}
