//! Which destinations are routed through which port.

use super::{Header, Memo, Plan, Queues, RouterView};
use crate::ids::{HostId, PortId, RouterId, VcId};
use crate::queuing::Flows;
use crate::rng::{Owner, Stream};
use crate::topology::{Peer, Topology};

/// All queues have the same length but those of one port, which are empty.
struct OneEmpty {
    port: PortId,
    others: u32,
}

impl Queues for OneEmpty {
    fn port(&self, port: PortId) -> u32 {
        if port == self.port { 0 } else { self.others }
    }

    fn vc(&self, port: PortId, _vc: VcId) -> u32 {
        self.port(port)
    }
}

/// A packet at a router.
#[derive(Clone, Copy)]
struct Visit {
    router: RouterId,
    input: PortId,
    vc: VcId,
    header: Header,
}

struct Search<'a> {
    topology: &'a dyn Topology,
    flows: &'a Flows,
    agent: Box<dyn super::Routing>,
    streams: Vec<Stream>,
    /// First port of every router.
    bases: Vec<usize>,
    counts: Vec<u32>,
    /// By port: the last destination that was counted.
    counted: Vec<u32>,
    /// By router: memo and position of packets to this destination that were followed.
    seen: Vec<Vec<(Memo, u8)>>,
    /// Routers in `seen`.
    touched: Vec<RouterId>,
    todo: Vec<Visit>,
    others: u32,
}

/// For every router and port, in order: the number of destination hosts to which packets leave through it,
/// if packets of one host of each router go to all hosts.
///
/// Found by asking the routing: at every router that a packet reaches, with each port in turn as the only
/// one with an empty queue while `others` phits wait on all others. With more than any buffer holds,
/// everything is found that an algorithm can choose by its queues or in turn, last resorts included; of
/// what it draws, as much as so many draws show. A routing whose choice depends on the source host is
/// followed from the first host of each router only.
pub fn destinations(
    (plan, flows): (&Plan, &Flows),
    topology: &dyn Topology,
    others: u32,
) -> Vec<u32> {
    let mut bases = vec![0];
    for router in (0..topology.routers()).map(RouterId) {
        bases.push(bases[router.index()] + usize::from(topology.radix(router)));
    }
    let ports = bases[bases.len() - 1];
    let stream = |router| Stream::new(1, Owner::Router(router));
    let mut search = Search {
        topology,
        flows,
        agent: (plan.agent)(RouterId(0), topology.routers()),
        streams: (0..topology.routers()).map(stream).collect(),
        bases,
        counts: vec![0; ports],
        counted: vec![u32::MAX; ports],
        seen: vec![Vec::new(); topology.routers() as usize],
        touched: Vec::new(),
        todo: Vec::new(),
        others,
    };
    for to in (0..topology.hosts()).map(HostId) {
        search.follow_all(to);
    }
    search.counts
}

impl Search<'_> {
    fn follow_all(&mut self, to: HostId) {
        for router in self.touched.drain(..) {
            self.seen[router.index()].clear();
        }
        let home = self.topology.router_of(to);
        for router in (0..self.topology.routers()).map(RouterId) {
            let Peer::Host(from) = self.topology.peer(router, PortId(0)) else { continue };
            if router != home {
                let (header, vc) = (Header::new(home), VcId(self.flows.class(from, to)));
                self.visit(Visit { router, input: PortId(0), vc, header });
            }
        }
        while let Some(visit) = self.todo.pop() {
            self.leave(visit, to);
        }
    }

    fn visit(&mut self, visit: Visit) {
        let key = (visit.header.memo(), visit.header.position);
        let seen = &mut self.seen[visit.router.index()];
        if !seen.contains(&key) {
            seen.push(key);
            self.touched.push(visit.router);
            self.todo.push(visit);
        }
    }

    fn count(&mut self, router: RouterId, port: PortId, to: HostId) {
        let index = self.bases[router.index()] + port.index();
        if self.counted[index] != to.0 {
            self.counted[index] = to.0;
            self.counts[index] += 1;
        }
    }

    fn leave(&mut self, visit: Visit, to: HostId) {
        let Visit { router, input, vc, mut header } = visit;
        header.arrive(router);
        if header.ends_at(router) {
            self.count(router, self.topology.port_of(to), to);
            return;
        }
        for port in (0..self.topology.radix(router)).map(PortId) {
            let mut header = header;
            let mut view = RouterView {
                router,
                input,
                vc,
                port: self.topology.port_of(to),
                class: 0,
                now: 0,
                size: 1,
                queues: &OneEmpty { port, others: self.others },
                rng: &mut self.streams[router.index()],
            };
            let hop = self.agent.route(&mut view, &mut header);
            self.count(router, hop.port, to);
            header.position = hop.position;
            if let Peer::Router { router, port, .. } = self.topology.peer(router, hop.port) {
                self.visit(Visit { router, input: port, vc: hop.vc, header });
            }
        }
    }
}
