//! Any network, as a list of its links.
//!
//! # What it does
//! Connects routers as a list of pairs says. Ports of a router: hosts, then its links in the order of the
//! list. Shortest paths are computed once, for every pair of routers.
//!
//! # Source
//! VCs by the hops taken: Günther, IEEE Transactions on Communications 1981; thesis 2.5.
//!
//! # Parameters
//! `edges`, or in the lab a `file` of them (CSV with a line for each link, or GraphML); `hosts` of the
//! routers; `ties` (default `next`): which of several shortest paths is taken; `hop_vcs`.
//!
//! # Deadlock freedom
//! The n-th hop of a path takes the n-th VC: as many VCs as the longest of the
//! shortest paths has hops, twice as many through an intermediate router. With fewer `hop_vcs` the last
//! VC serves all further hops, and packets may wait for each other for ever.
//!
//! # Limits
//! At most 8192 routers, all connected; paths of at most 127 hops. All links are of one class.
//!
//! # Example
//! ```toml
//! [network.topology.graph]
//! hosts = 1
//! edges = [[0, 1], [1, 2], [2, 3], [3, 0]]
//! ```

use std::collections::VecDeque;
use std::ops::Range;

use super::spec::{GraphHosts, GraphSpec, Ties};
use super::{HopKind, Peer, Step, Topology};
use crate::ids::{HostId, PortId, RouterId};
use crate::rng::{Stream, mix};
use crate::spec::{PhaseA, SpecError};

/// A network given by its links.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Routers and ports at the other ends, by router and link port.
    links: Vec<Vec<(RouterId, PortId)>>,
    /// First host of every router, and their number.
    hosts: Vec<u32>,
    /// Router of every host.
    homes: Vec<RouterId>,
    /// Next link port of a shortest path, `[at * routers + to]`.
    next: Vec<u16>,
    /// Links of a shortest path, `[from * routers + to]`.
    distance: Vec<u8>,
    /// Largest distance.
    diameter: u8,
    hop_vcs: Option<u8>,
}

/// The largest tables of paths have 64 million entries.
const MOST_ROUTERS: usize = 8192;
const MOST_HOPS: u8 = 127;
const FAR: u8 = u8::MAX;

fn at(key: &str) -> String {
    format!("network.topology.graph.{key}")
}

impl Graph {
    /// Checks the links and finds the shortest paths.
    ///
    /// # Errors
    /// Links or hosts that are impossible, and routers that are not connected.
    pub fn new(spec: &GraphSpec) -> Result<Self, SpecError> {
        if let Some(file) = &spec.file {
            let message = format!("the engine reads no files, and the lab has not read {file:?}");
            return Err(
                SpecError::new(at("file"), message).choices(["network.topology.graph.edges"])
            );
        }
        if spec.hop_vcs.is_some_and(|vcs| !(1..=64).contains(&vcs)) {
            let message = format!("{} VCs are out of range", spec.hop_vcs.unwrap_or(0));
            return Err(SpecError::new(at("hop_vcs"), message).choices(["1 to 64"]));
        }
        let hosts = hosts(spec)?;
        let mut graph = Self {
            links: vec![Vec::new(); hosts.len() - 1],
            homes: Vec::new(),
            hosts,
            next: Vec::new(),
            distance: Vec::new(),
            diameter: 0,
            hop_vcs: spec.hop_vcs,
        };
        for (router, range) in graph.hosts.windows(2).enumerate() {
            graph.homes.extend((range[0]..range[1]).map(|_| RouterId(router as u32)));
        }
        graph.wire(&spec.edges)?;
        graph.find_paths(spec.ties)?;
        Ok(graph)
    }

    fn hosts_of(&self, router: RouterId) -> u32 {
        self.hosts[router.index() + 1] - self.hosts[router.index()]
    }

    fn wire(&mut self, edges: &[[u32; 2]]) -> Result<(), SpecError> {
        for (i, &[a, b]) in edges.iter().enumerate() {
            let [a, b] = [a, b].map(RouterId);
            if a == b {
                let message = format!("router {a} is connected to itself");
                return Err(SpecError::new(at(&format!("edges[{i}]")), message));
            }
            let port = |router: RouterId| {
                PortId((self.hosts_of(router) as usize + self.links[router.index()].len()) as u16)
            };
            let (here, there) = (port(a), port(b));
            if here.0.max(there.0) >= 1024 {
                let message = "a router would have more than 1024 ports";
                return Err(SpecError::new(at(&format!("edges[{i}]")), message));
            }
            self.links[a.index()].push((b, there));
            self.links[b.index()].push((a, here));
        }
        Ok(())
    }

    fn find_paths(&mut self, ties: Ties) -> Result<(), SpecError> {
        let routers = self.links.len();
        self.distance = vec![FAR; routers * routers];
        self.next = vec![0; routers * routers];
        for to in 0..routers {
            // Links lead both ways: the row of `to` has the distances to it as well.
            let row = &mut self.distance[to * routers..(to + 1) * routers];
            row[to] = 0;
            let mut queue = VecDeque::from([to]);
            while let Some(router) = queue.pop_front() {
                let steps = row[router] + 1;
                for (peer, _) in &self.links[router] {
                    if row[peer.index()] == FAR && steps <= MOST_HOPS {
                        row[peer.index()] = steps;
                        queue.push_back(peer.index());
                    }
                }
            }
            if let Some(lost) = row.iter().position(|&steps| steps == FAR) {
                let message =
                    format!("no path of {MOST_HOPS} hops leads from router {lost} to {to}");
                return Err(SpecError::new(at("edges"), message));
            }
            self.diameter = self.diameter.max(row.iter().copied().max().unwrap_or(0));
        }
        for from in 0..routers {
            for to in (0..routers).filter(|&to| to != from) {
                self.next[from * routers + to] = self.choose(from, to, ties);
            }
        }
        Ok(())
    }

    /// The link port of a shortest path.
    fn choose(&self, from: usize, to: usize, ties: Ties) -> u16 {
        let routers = self.links.len();
        let steps = self.distance[to * routers + from];
        let nearer = |(_, (peer, _)): &(usize, &(RouterId, PortId))| {
            self.distance[to * routers + peer.index()] + 1 == steps
        };
        let mut best = self.links[from].iter().enumerate().filter(nearer);
        let chosen = match ties {
            Ties::Next => best
                .min_by_key(|(port, (peer, _))| ((peer.index() + routers - from) % routers, *port)),
            Ties::Hash { seed } => {
                let count = best.clone().count() as u64;
                let hash = mix(seed ^ mix((from * routers + to) as u64));
                best.nth((hash % count.max(1)) as usize)
            }
        };
        self.hosts_of(RouterId(from as u32)) as u16 + chosen.map_or(0, |(port, _)| port as u16)
    }
}

/// First host of every router, and the number of hosts.
fn hosts(spec: &GraphSpec) -> Result<Vec<u32>, SpecError> {
    let named = spec.edges.iter().flatten().max().map_or(1, |&last| last as usize + 1);
    let counts = match &spec.hosts {
        GraphHosts::Every(_) if named > MOST_ROUTERS => {
            let message = format!("there is a router {}", named - 1);
            let choices = [format!("0 to {}", MOST_ROUTERS - 1)];
            return Err(SpecError::new(at("edges"), message).choices(choices));
        }
        GraphHosts::Every(hosts) => vec![*hosts; named],
        GraphHosts::Each(list) if list.len() < named || list.len() > MOST_ROUTERS => {
            let message = format!("{} numbers for {named} routers", list.len());
            let choices = [format!("{named} to {MOST_ROUTERS}")];
            return Err(SpecError::new(at("hosts"), message).choices(choices));
        }
        GraphHosts::Each(list) => list.clone(),
    };
    if let Some(most) = counts.iter().find(|&&count| count > 1024) {
        let message = format!("{most} hosts are too many for a router");
        return Err(SpecError::new(at("hosts"), message).choices(["0 to 1024"]));
    }
    let mut firsts = vec![0];
    firsts.extend(counts.iter().scan(0, |sum, &count| {
        *sum += count;
        Some(*sum)
    }));
    if firsts.last() == Some(&0) {
        return Err(SpecError::new(at("hosts"), "there is no host"));
    }
    Ok(firsts)
}

impl Topology for Graph {
    fn table_bytes(&self) -> usize {
        size_of_val(&*self.next) + size_of_val(&*self.distance)
    }

    fn routers(&self) -> u32 {
        self.links.len() as u32
    }

    fn hosts(&self) -> u32 {
        self.homes.len() as u32
    }

    fn radix(&self, router: RouterId) -> u16 {
        self.hosts_of(router) as u16 + self.links[router.index()].len() as u16
    }

    fn peer(&self, router: RouterId, port: PortId) -> Peer {
        let hosts = self.hosts_of(router);
        match u32::from(port.0).checked_sub(hosts) {
            None => Peer::Host(HostId(self.hosts[router.index()] + u32::from(port.0))),
            Some(link) => {
                let (router, port) = self.links[router.index()][link as usize];
                Peer::Router { router, port, class: 0 }
            }
        }
    }

    fn router_of(&self, host: HostId) -> RouterId {
        self.homes[host.index()]
    }

    fn port_of(&self, host: HostId) -> PortId {
        PortId((host.0 - self.hosts[self.homes[host.index()].index()]) as u16)
    }

    fn classes(&self) -> &'static [&'static str] {
        if self.links.len() > 1 { &["link"] } else { &[] }
    }

    fn hop_kinds(&self) -> Vec<HopKind> {
        vec![HopKind { class: 0, most: self.diameter }]
    }

    fn hop_vcs(&self) -> Option<u8> {
        self.hop_vcs
    }

    #[inline]
    fn next_hop(&self, at: RouterId, to: RouterId) -> Step {
        Step { port: PortId(self.next[at.index() * self.links.len() + to.index()]), kind: 0 }
    }

    fn distance(&self, from: RouterId, to: RouterId) -> u32 {
        u32::from(self.distance[from.index() * self.links.len() + to.index()])
    }

    fn policies(&self) -> &'static [PhaseA] {
        if self.links.len() > 1 { &[PhaseA::Lgl] } else { &[] }
    }

    fn intermediate(
        &self,
        policy: PhaseA,
        _own_group: bool,
        _from: RouterId,
        rng: &mut Stream,
    ) -> Option<RouterId> {
        (policy == PhaseA::Lgl).then(|| RouterId(rng.below(self.routers())))
    }

    /// Every router is its own: nothing is broadcast.
    fn domain(&self, router: RouterId) -> u32 {
        router.0
    }

    fn minimal_global_port(&self, from: RouterId, to: RouterId) -> Option<(RouterId, PortId)> {
        let port = self.next[from.index() * self.links.len() + to.index()];
        (from != to).then_some((from, PortId(port)))
    }

    fn global_ports(&self, router: RouterId) -> Range<u16> {
        self.hosts_of(router) as u16..self.radix(router)
    }

    fn global_links(&self) -> u32 {
        0
    }
}
