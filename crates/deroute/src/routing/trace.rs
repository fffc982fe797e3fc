//! The path of a single packet through an empty network.

use super::{Header, Hop, Plan, Queues, RouterView, Routing};
use crate::ids::{HostId, PortId, RouterId, VcId};
use crate::queuing::Flows;
use crate::rng::{Owner, Stream};
use crate::topology::{Peer, Topology};

/// A network without traffic.
struct Empty;

impl Queues for Empty {
    fn port(&self, _port: PortId) -> u32 {
        0
    }

    fn vc(&self, _port: PortId, _vc: VcId) -> u32 {
        0
    }
}

/// A path longer than this is a livelock.
const LONGEST: usize = 255;

/// The hops of a packet from `from` to `to`, with the router that takes each; the last one is the
/// port of the destination host. `None` if it does not arrive.
pub fn trace(
    (plan, flows): (&Plan, &Flows),
    topology: &dyn Topology,
    (from, to): (HostId, HostId),
    seed: u64,
) -> Option<Vec<(RouterId, Hop)>> {
    let mut agent = (plan.agent)(RouterId(0), topology.routers());
    walk(&mut *agent, flows, topology, (from, to), seed)
}

/// The same with an agent that is there already.
pub(crate) fn walk(
    agent: &mut dyn Routing,
    flows: &Flows,
    topology: &dyn Topology,
    (from, to): (HostId, HostId),
    seed: u64,
) -> Option<Vec<(RouterId, Hop)>> {
    let mut header = Header::new(topology.router_of(to));
    let (mut at, mut input) = (topology.router_of(from), topology.port_of(from));
    let mut vc = VcId(flows.class(from, to));
    let mut path = Vec::new();
    while path.len() < LONGEST {
        header.arrive(at);
        if header.ends_at(at) {
            let (port, position) = (topology.port_of(to), header.position);
            path.push((at, Hop { port, vc: VcId(0), position }));
            return Some(path);
        }
        let mut rng = Stream::new(seed, Owner::Router(at.0));
        let mut view = RouterView {
            router: at,
            input,
            vc,
            port: topology.port_of(to),
            class: 0,
            now: 0,
            size: 1,
            queues: &Empty,
            rng: &mut rng,
        };
        let hop = agent.route(&mut view, &mut header);
        if agent.fault().is_some() {
            return None;
        }
        vc = hop.vc;
        path.push((at, hop));
        header.position = hop.position;
        match topology.peer(at, hop.port) {
            Peer::Router { router, port, .. } => (at, input) = (router, port),
            _ => return None,
        }
    }
    None
}
