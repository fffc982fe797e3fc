//! Dragonfly.
//!
//! # What it does
//! Groups of `a` fully connected routers; every two groups are connected by `trunk` global links.
//! Ports of a router: `p` hosts, then `a - 1` local links in the order of the other routers, then
//! `h` global links.
//!
//! # Source
//! Thesis 2.2.1; the palmtree orientation in which the first router of a group reaches the
//! preceding groups is the one of its results (and of FOGSim), `mirror` gives the other.
//!
//! # Parameters
//! `p` hosts, `a` routers a group, `h` global links a router, `groups` (default: as many as
//! possible), `arrangement` (default `palmtree`), `mirror` (default false), `trunk` (default 1).
//!
//! # Deadlock freedom
//! A shortest path takes a local hop, a global one and another local one at most. The VC of a hop is its
//! number among the hops of its class on l1 g1 l2 - l3 g2 l4: 2 local and 1 global VC for minimal paths, 4
//! and 2 through an intermediate router.
//!
//! # Limits
//! With fewer than the largest number of groups, the unused global ports are spread evenly. With
//! trunking, a shortest path uses a fixed one of the parallel links: the source router's own if it
//! has one, otherwise by the destination router's position.
//!
//! # Example
//! ```toml
//! [network.topology.dragonfly]
//! p = 6
//! a = 12
//! h = 6
//! ```

use std::hint::select_unpredictable;
use std::ops::Range;

use super::spec::{Arrangement, DragonflySpec};
use super::{HopKind, Peer, Step, Topology};
use crate::ids::{HostId, PortId, RouterId};
use crate::rng::Stream;
use crate::spec::{PhaseA, SpecError};

/// A global link as seen from one group.
#[derive(Clone, Copy, Debug, Default)]
struct Gateway {
    /// Router of the group that owns the link.
    router: u16,
    /// Its global port, 0 to h-1.
    port: u16,
    /// Router of the other group on which the link lands.
    lands: u16,
}

/// One entry per global port of a group.
#[derive(Clone, Copy, Debug)]
struct Landing {
    group: u32,
    router: u32,
    port: u32,
}

/// A Dragonfly network.
#[derive(Clone, Debug)]
pub struct Dragonfly {
    p: u32,
    a: u32,
    h: u32,
    groups: u32,
    trunk: u32,
    arrangement: Arrangement,
    mirror: bool,
    /// By how far ahead a group is, and copy: see [`Dragonfly::cell`]. A small table stays in the cache.
    gateways: Vec<Gateway>,
    /// Entries of a group that are its own; none where all groups are wired alike.
    row: u32,
    /// Group and index in it of every router: cheaper than dividing.
    coordinates: Vec<(u16, u16)>,
    /// Where every global port leads, `[router][port]`; the landing router is in the whole network.
    landings: Vec<Option<(RouterId, u16)>>,
}

/// Kinds of hops: local before the global hop, global, and local within the group of the destination.
const KINDS: [u8; 3] = [0, 1, 0];

impl Dragonfly {
    /// Checks the geometry and wires the groups.
    ///
    /// # Errors
    /// Parameters out of range, more groups or trunks than a group has links for, and a consecutive
    /// arrangement to be mirrored.
    pub fn new(spec: &DragonflySpec) -> Result<Self, SpecError> {
        let at = |key: &str| format!("network.topology.dragonfly.{key}");
        for (key, value, least) in
            [("p", spec.p, 1), ("a", spec.a, 1), ("h", spec.h, 1), ("trunk", spec.trunk, 1)]
        {
            if value < least || value > 1024 {
                let message = format!("{value} is out of range");
                return Err(SpecError::new(at(key), message).choices([format!("{least} to 1024")]));
            }
        }
        if spec.mirror && spec.arrangement == Arrangement::Consecutive {
            let message = "a consecutive arrangement has no mirror image";
            return Err(SpecError::new(at("mirror"), message).choices(["false"]));
        }
        let links = spec.a * spec.h;
        let most = links / spec.trunk + 1;
        if most < 2 {
            let message = format!("{} is more than a*h = {links} links of a group", spec.trunk);
            return Err(SpecError::new(at("trunk"), message).choices([format!("1 to {links}")]));
        }
        let groups = spec.groups.unwrap_or(most);
        if groups > most {
            let bound = if spec.trunk == 1 { "a*h+1" } else { "a*h/trunk+1" };
            let message = format!("{groups} is more than {bound} = {most}");
            return Err(SpecError::new(at("groups"), message).choices([format!("2 to {most}")]));
        }
        if groups < 2 {
            let message = format!("{groups} group has no global links");
            return Err(SpecError::new(at("groups"), message).choices([format!("2 to {most}")]));
        }
        let mut network = Self {
            p: spec.p,
            a: spec.a,
            h: spec.h,
            groups,
            trunk: spec.trunk,
            arrangement: spec.arrangement,
            mirror: spec.mirror,
            gateways: Vec::new(),
            row: match spec.arrangement {
                Arrangement::Palmtree => 0,
                Arrangement::Consecutive => groups,
            },
            coordinates: Vec::new(),
            landings: Vec::new(),
        };
        network.check_size()?;
        let group = |g: u32| (0..spec.a).map(move |i| (g as u16, i as u16));
        network.coordinates = (0..groups).flat_map(group).collect();
        network.wire();
        Ok(network)
    }

    fn check_size(&self) -> Result<(), SpecError> {
        let refuse = |key: &str, message: String, most: String| {
            let path = format!("network.topology.dragonfly.{key}");
            Err(SpecError::new(path, message).choices([most]))
        };
        let hosts = u64::from(self.p) * u64::from(self.a) * u64::from(self.groups);
        if hosts > 1 << 24 {
            let message = format!("{hosts} hosts are too many");
            return refuse("p", message, "at most 16777216 hosts".into());
        }
        let ports = u64::from(self.groups) * u64::from(self.a) * u64::from(self.h);
        if ports > Self::MOST_LINKS {
            let message = format!("{ports} global ports are too many");
            let most = Self::MOST_LINKS / (u64::from(self.groups) * u64::from(self.a));
            return refuse("h", message, format!("at most {most}"));
        }
        let (groups, trunk) = (self.groups, u64::from(self.trunk));
        if u64::from(groups).pow(2) * trunk > Self::MOST_LINKS {
            let message = format!("the links between any two of {groups} groups are too many");
            let most = (Self::MOST_LINKS / trunk).isqrt();
            return refuse("groups", message, format!("at most {most}"));
        }
        Ok(())
    }

    /// Links between any two groups, and global ports, at most.
    const MOST_LINKS: u64 = 1 << 26;

    /// Where the links from a group to another one are in the table of gateways, if there is one each.
    #[inline]
    fn pair(&self, from: u32, to: u32) -> u32 {
        // Without a branch: hardly predictable.
        let ahead = to.wrapping_sub(from);
        let ahead = select_unpredictable(to < from, ahead.wrapping_add(self.groups), ahead);
        from * self.row + ahead
    }

    /// The same, if there are `trunk` each.
    #[inline]
    fn cell(&self, from: u32, to: u32) -> u32 {
        self.pair(from, to) * self.trunk
    }

    /// Global links of a group that are in use.
    fn links(&self) -> u32 {
        (self.groups - 1) * self.trunk
    }

    /// The global port (router * h + port) that carries link `n` of a group.
    fn slot(&self, n: u32) -> u32 {
        (u64::from(n) * u64::from(self.a * self.h) / u64::from(self.links())) as u32
    }

    /// Where link `n` of group `g` lands.
    fn landing(&self, g: u32, n: u32) -> Landing {
        let others = self.groups - 1;
        let (copy, index) = (n / others, n % others);
        let (group, back) = match self.arrangement {
            Arrangement::Palmtree => {
                let distance = index + 1;
                let ahead = if self.mirror { distance } else { self.groups - distance };
                ((g + ahead) % self.groups, self.links() - 1 - n)
            }
            Arrangement::Consecutive => {
                let group = if index < g { index } else { index + 1 };
                (group, copy * others + if g < group { g } else { g - 1 })
            }
        };
        let slot = self.slot(back);
        Landing { group, router: slot / self.h, port: slot % self.h }
    }

    fn wire(&mut self) {
        // The last entry of the last group, and one more.
        let cells = self.cell(self.groups - 1, self.groups - 2) + self.trunk;
        self.gateways = vec![Gateway::default(); cells as usize];
        self.landings = vec![None; (self.groups * self.a * self.h) as usize];
        for g in 0..self.groups {
            for n in 0..self.links() {
                let (slot, landing) = (self.slot(n), self.landing(g, n));
                let router = RouterId(landing.group * self.a + landing.router);
                self.landings[(g * self.a * self.h + slot) as usize] =
                    Some((router, landing.port as u16));
                let copy = n / (self.groups - 1);
                let cell = self.cell(g, landing.group) + copy;
                self.gateways[cell as usize] = Gateway {
                    router: (slot / self.h) as u16,
                    port: (slot % self.h) as u16,
                    lands: landing.router as u16,
                };
            }
        }
    }

    #[inline]
    fn split(&self, router: RouterId) -> (u32, u32) {
        let (group, index) = self.coordinates[router.index()];
        (u32::from(group), u32::from(index))
    }

    /// The global link that a shortest path from `from` takes to `to`'s group.
    #[inline]
    fn gateway(&self, from: (u32, u32), to: (u32, u32)) -> Gateway {
        if self.trunk == 1 {
            return self.gateways[self.pair(from.0, to.0) as usize];
        }
        self.gateway_of_trunk(self.cell(from.0, to.0), from.1, to.1)
    }

    /// The next hop of a shortest path.
    #[inline(always)]
    fn step(&self, here: (u32, u32), there: (u32, u32), gateway: Gateway) -> Step {
        // Without branches: whether the next hop is local is hardly predictable. Within a group, the
        // gateway is that of another group and not used.
        let same = here.0 == there.0;
        let owner = u32::from(gateway.router);
        let global = !same & (owner == here.1);
        let local = self.local_port(here.1, select_unpredictable(same, there.1, owner));
        let port = select_unpredictable(global, self.global_port(gateway.port), local);
        Step { port, kind: u8::from(same) << 1 | u8::from(global) }
    }

    /// The one of several parallel links that a shortest path takes.
    #[cold]
    fn gateway_of_trunk(&self, cell: u32, from: u32, to: u32) -> Gateway {
        let links = &self.gateways[cell as usize..(cell + self.trunk) as usize];
        let own = links.iter().find(|link| u32::from(link.router) == from);
        *own.unwrap_or(&links[(to % self.trunk) as usize])
    }

    #[inline]
    fn local_port(&self, from: u32, to: u32) -> PortId {
        PortId((self.p + to - u32::from(to > from)) as u16)
    }

    #[inline]
    fn global_port(&self, port: u16) -> PortId {
        PortId((self.p + self.a - 1) as u16 + port)
    }

    /// Landing router and its global port behind a global port; `None` if the port is unused.
    #[inline]
    fn behind(&self, router: RouterId, port: u32) -> Option<(RouterId, u16)> {
        self.landings[(router.0 * self.h + port) as usize]
    }

    fn hosts_of_group(&self, g: u32) -> Range<u32> {
        let size = self.a * self.p;
        g * size..(g + 1) * size
    }
}

impl Topology for Dragonfly {
    fn routers(&self) -> u32 {
        self.groups * self.a
    }

    fn hosts(&self) -> u32 {
        self.groups * self.a * self.p
    }

    fn radix(&self, _router: RouterId) -> u16 {
        (self.p + self.a - 1 + self.h) as u16
    }

    fn peer(&self, router: RouterId, port: PortId) -> Peer {
        let (g, i) = self.split(router);
        let port = u32::from(port.0);
        if port < self.p {
            return Peer::Host(HostId(router.0 * self.p + port));
        }
        if port < self.p + self.a - 1 {
            let other = port - self.p;
            let other = if other < i { other } else { other + 1 };
            let router = RouterId(g * self.a + other);
            return Peer::Router { router, port: self.local_port(other, i), class: 0 };
        }
        match self.behind(router, port - (self.p + self.a - 1)) {
            None => Peer::Unused,
            Some((router, port)) => Peer::Router { router, port: self.global_port(port), class: 1 },
        }
    }

    fn router_of(&self, host: HostId) -> RouterId {
        RouterId(host.0 / self.p)
    }

    fn port_of(&self, host: HostId) -> PortId {
        PortId((host.0 % self.p) as u16)
    }

    fn classes(&self) -> &'static [&'static str] {
        &["local", "global"]
    }

    fn hop_kinds(&self) -> Vec<HopKind> {
        KINDS.map(HopKind::once).into()
    }

    fn phase_a_kinds(&self, policy: PhaseA, restricted: bool) -> u16 {
        // Which of parallel links a path takes is not the policy's choice, nor is where it lands.
        let lands_elsewhere = self.trunk > 1;
        let last = matches!(policy, PhaseA::Lgl | PhaseA::Gl) || restricted || lands_elsewhere;
        let first = matches!(policy, PhaseA::Lgl | PhaseA::Lg);
        u16::from(first) | 1 << 1 | u16::from(last) << 2
    }

    #[inline]
    fn next_hop(&self, at: RouterId, to: RouterId) -> Step {
        let (here, there) = (self.split(at), self.split(to));
        self.step(here, there, self.gateway(here, there))
    }

    fn distance(&self, from: RouterId, to: RouterId) -> u32 {
        let (here, there) = (self.split(from), self.split(to));
        if here.0 == there.0 {
            return u32::from(here.1 != there.1);
        }
        let mut gateway = self.gateway(here, there);
        let owner = u32::from(gateway.router);
        if self.trunk > 1 && owner != here.1 {
            // The owner may prefer another of its parallel links.
            gateway = self.gateway((here.0, owner), there);
        }
        1 + u32::from(owner != here.1) + u32::from(u32::from(gateway.lands) != there.1)
    }

    fn consecutive_distance(&self, from: RouterId, to: RouterId) -> u32 {
        let (here, there) = (self.split(from), self.split(to));
        if here.0 == there.0 {
            return u32::from(here.1 != there.1);
        }
        let link = |g: u32, to: u32| self.slot(if to < g { to } else { to - 1 }) / self.h;
        1 + u32::from(link(here.0, there.0) != here.1) + u32::from(link(there.0, here.0) != there.1)
    }

    fn policies(&self) -> &'static [PhaseA] {
        &[PhaseA::Lgl, PhaseA::Lg, PhaseA::Gl, PhaseA::G]
    }

    fn intermediate(
        &self,
        policy: PhaseA,
        own_group: bool,
        from: RouterId,
        rng: &mut Stream,
    ) -> Option<RouterId> {
        let (g, _) = self.split(from);
        if policy == PhaseA::Lgl && own_group {
            return Some(RouterId(rng.below(self.groups * self.a)));
        }
        match policy {
            PhaseA::Lgl | PhaseA::Lg => {
                let other = rng.below(self.groups - 1);
                let group = if other < g { other } else { other + 1 };
                if policy == PhaseA::Lgl {
                    return Some(RouterId(group * self.a + rng.below(self.a)));
                }
                let cell = self.cell(g, group);
                let copy = if self.trunk == 1 { 0 } else { rng.below(self.trunk) };
                let lands = self.gateways[(cell + copy) as usize].lands;
                Some(RouterId(group * self.a + u32::from(lands)))
            }
            PhaseA::Gl | PhaseA::G => {
                let mut port = rng.below(self.h);
                // With spare global ports, take the next one that is in use.
                let (landing, _) = (0..self.h).find_map(|_| {
                    let landing = self.behind(from, port);
                    port = (port + 1) % self.h;
                    landing
                })?;
                if policy == PhaseA::G {
                    return Some(landing);
                }
                let (group, _) = self.split(landing);
                Some(RouterId(group * self.a + rng.below(self.a)))
            }
        }
    }

    fn shared_partition(
        &self,
        _policy: PhaseA,
        (from, to): (RouterId, RouterId),
        rng: &mut Stream,
    ) -> Option<RouterId> {
        let (group, other) = (self.split(from).0, self.split(to).0);
        (group == other).then(|| RouterId(group * self.a + rng.below(self.a)))
    }

    #[inline]
    fn domain(&self, router: RouterId) -> u32 {
        self.split(router).0
    }

    fn minimal_global_port(&self, from: RouterId, to: RouterId) -> Option<(RouterId, PortId)> {
        let (here, there) = (self.split(from), self.split(to));
        if here.0 == there.0 {
            return None;
        }
        let gateway = self.gateway(here, there);
        let router = RouterId(here.0 * self.a + u32::from(gateway.router));
        Some((router, self.global_port(gateway.port)))
    }

    fn global_ports(&self, _router: RouterId) -> Range<u16> {
        let first = (self.p + self.a - 1) as u16;
        first..first + self.h as u16
    }

    fn hosts_ahead(&self, from: HostId, offset: i64) -> Option<Range<u32>> {
        let group = i64::from(from.0 / (self.a * self.p));
        let groups = i64::from(self.groups);
        let target = ((group + offset.rem_euclid(groups)) % groups) as u32;
        Some(self.hosts_of_group(target))
    }

    fn groups(&self) -> u32 {
        self.groups
    }

    fn parallel_links(&self) -> u32 {
        self.trunk
    }

    fn hosts_of_next_router(&self, from: HostId) -> Option<Range<u32>> {
        let (g, i) = self.split(self.router_of(from));
        let next = g * self.a + (i + 1) % self.a;
        (self.a > 1).then(|| next * self.p..(next + 1) * self.p)
    }

    fn global_links(&self) -> u32 {
        self.h
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(p: u32, a: u32, h: u32) -> Dragonfly {
        let (arrangement, mirror) = (Arrangement::Palmtree, false);
        Dragonfly::new(&DragonflySpec { p, a, h, groups: None, arrangement, mirror, trunk: 1 })
            .unwrap()
    }

    #[test]
    fn palmtree_of_the_thesis() {
        let net = network(6, 12, 6);
        assert_eq!((net.hosts(), net.routers(), net.groups()), (5256, 876, 73));
        for (g, i, k) in [(0, 0, 0), (5, 3, 2), (72, 11, 5)] {
            let router = RouterId(g * 12 + i);
            let Peer::Router { router: peer, port, class } = net.peer(router, PortId(17 + k))
            else {
                panic!("global port {k} of {router} leads nowhere")
            };
            let group = (g + 73 - (i * 6 + u32::from(k) + 1)) % 73;
            assert_eq!((peer.0 / 12, peer.0 % 12, port.0, class), (group, 11 - i, 17 + 5 - k, 1));
        }
        // R_OUT of ADV+1 is the last router.
        assert_eq!(net.minimal_global_port(RouterId(0), RouterId(12)).unwrap().0, RouterId(11));
    }
}
