//! Single crossbar.
//!
//! # What it does
//! One switch with every host on it. The reference without a network: what remains is the switch.
//!
//! # Source
//! Thesis 2.1; the CEE paper, section V, uses it to normalise throughput.
//!
//! # Parameters
//! `hosts`: ports of the switch, 1 to 65535. Or, as `crossbar_of`, a network: one switch with the hosts
//! of that network, whose groups, coordinates and levels patterns still see.
//!
//! # Deadlock freedom
//! There is no link between routers.
//!
//! # Limits
//! Patterns and policies that need groups or neighbours are refused, but for the patterns of a
//! `crossbar_of` a network that has them.
//!
//! # Example
//! ```toml
//! [network.topology.crossbar]
//! hosts = 32
//! ```
//! ```toml
//! [network.topology.crossbar_of.dragonfly]
//! p = 2
//! a = 4
//! h = 2
//! ```

use std::ops::Range;

use super::spec::CrossbarSpec;
use super::{HopKind, Peer, Step, Topology};
use crate::ids::{HostId, PortId, RouterId};
use crate::rng::Stream;
use crate::spec::{PhaseA, SpecError};

/// A single switch.
#[derive(Clone, Debug)]
pub struct Crossbar {
    hosts: u16,
}

impl Crossbar {
    /// Checks the spec.
    ///
    /// # Errors
    /// No host, and more than 65535.
    pub fn new(spec: &CrossbarSpec) -> Result<Self, SpecError> {
        Self::with(spec.hosts, "network.topology.crossbar.hosts")
    }

    /// A switch for the hosts of a network.
    ///
    /// # Errors
    /// More than 65535 hosts.
    pub fn of(network: &dyn Topology) -> Result<Self, SpecError> {
        Self::with(network.hosts(), "network.topology.crossbar_of")
    }

    fn with(hosts: u32, path: &str) -> Result<Self, SpecError> {
        let hosts = u16::try_from(hosts).ok().filter(|n| *n > 0).ok_or_else(|| {
            let message = format!("{hosts} hosts cannot share one switch");
            SpecError::new(path, message).choices(["1 to 65535"])
        })?;
        Ok(Self { hosts })
    }
}

impl Topology for Crossbar {
    fn routers(&self) -> u32 {
        1
    }

    fn hosts(&self) -> u32 {
        u32::from(self.hosts)
    }

    fn radix(&self, _router: RouterId) -> u16 {
        self.hosts
    }

    fn peer(&self, _router: RouterId, port: PortId) -> Peer {
        Peer::Host(HostId(u32::from(port.0)))
    }

    fn router_of(&self, _host: HostId) -> RouterId {
        RouterId(0)
    }

    fn port_of(&self, host: HostId) -> PortId {
        PortId(host.0 as u16)
    }

    fn classes(&self) -> &'static [&'static str] {
        &[]
    }

    fn hop_kinds(&self) -> Vec<HopKind> {
        Vec::new()
    }

    fn next_hop(&self, _at: RouterId, _to: RouterId) -> Step {
        Step { port: PortId(0), kind: 0 }
    }

    fn distance(&self, _from: RouterId, _to: RouterId) -> u32 {
        0
    }

    fn policies(&self) -> &'static [PhaseA] {
        &[]
    }

    fn intermediate(
        &self,
        _policy: PhaseA,
        _own_group: bool,
        _from: RouterId,
        _rng: &mut Stream,
    ) -> Option<RouterId> {
        None
    }

    fn domain(&self, _router: RouterId) -> u32 {
        0
    }

    fn minimal_global_port(&self, _from: RouterId, _to: RouterId) -> Option<(RouterId, PortId)> {
        None
    }

    fn global_ports(&self, _router: RouterId) -> Range<u16> {
        0..0
    }

    fn global_links(&self) -> u32 {
        0
    }
}
