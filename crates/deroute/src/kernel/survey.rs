//! Where the traffic of a network goes, from the paths of some packets through the empty network.

use super::model::Model;
use crate::ids::{Cycle, HostId};
use crate::routing::walk;
use crate::topology::Peer;

/// Hosts next to each other whose packets are followed, and packets of each.
const HOSTS: u32 = 512;
const EACH: u32 = 4;

/// What the paths have in common.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Survey {
    /// Links between routers on a path.
    pub(super) hops: f64,
    /// Their latency.
    pub(super) latency: f64,
    /// The share of the traffic that the links on its paths have room for. Links are shared by neighbours, and by
    /// others in the mean of their class.
    pub(super) accepted: f64,
}

impl Survey {
    /// Of a network whose hosts offer so many phits in a cycle each.
    pub(super) fn of(model: &Model, load: f64) -> Self {
        let topology = &*model.topology;
        let mut agent = (model.routing.agent)(crate::ids::RouterId(0), topology.routers());
        let bases = model.port_bases();
        let mut uses = vec![0_u32; bases[bases.len() - 1] as usize];
        let mut by_class = vec![0_u32; model.classes.len()];
        let (mut paths, mut latency) = (Vec::new(), 0);
        for number in 0..HOSTS.min(topology.hosts()) * EACH {
            let from = HostId(number / EACH);
            let Some(to) = destination(model, from, number) else { continue };
            let ends = (from, to);
            let Some(path) = walk(&mut *agent, &model.flows, topology, ends, number.into()) else {
                continue;
            };
            let mut ports = Vec::with_capacity(path.len());
            for (router, hop) in path {
                let mut period = 1;
                if let Peer::Router { class, .. } = topology.peer(router, hop.port) {
                    let class = usize::from(class);
                    by_class[class] += 1;
                    latency += u64::from(model.classes[class].latency);
                    period = model.classes[class].period;
                }
                let port = (bases[router.index()] + u32::from(hop.port.0)) as usize;
                uses[port] += 1;
                ports.push((port, f64::from(period)));
            }
            paths.push(ports);
        }
        if paths.is_empty() {
            return Self { accepted: 1.0, ..Self::default() };
        }
        let count = paths.len() as f64;
        // How often a link is used by chance is not counted as more than it is used in the mean.
        let used = |port: usize| {
            let uses = f64::from(uses[port]);
            (uses - uses.sqrt()) / f64::from(EACH)
        };
        let room = |ports: &Vec<(usize, f64)>| {
            let busiest = ports.iter().map(|(port, period)| used(*port) * load * period);
            1.0 / busiest.fold(1.0, f64::max)
        };
        let near = paths.iter().map(room).sum::<f64>() / count;
        let links = links_by_class(model);
        let everywhere = load * f64::from(topology.hosts()) / count;
        let busiest =
            by_class.iter().zip(&links).zip(&model.classes).map(|((uses, links), class)| {
                f64::from(*uses) * everywhere * f64::from(class.period) / f64::from((*links).max(1))
            });
        let far = 1.0 / busiest.fold(1.0, f64::max);
        let hops = f64::from(by_class.iter().sum::<u32>()) / count;
        Self { hops, latency: latency as f64 / count, accepted: near.min(far) }
    }
}

/// Links of each class, both directions of each.
fn links_by_class(model: &Model) -> Vec<u32> {
    let topology = &*model.topology;
    let mut links = vec![0; model.classes.len()];
    for router in (0..topology.routers()).map(crate::ids::RouterId) {
        for port in (0..topology.radix(router)).map(crate::ids::PortId) {
            if let Peer::Router { class, .. } = topology.peer(router, port) {
                links[usize::from(class)] += 1;
            }
        }
    }
    links
}

/// Whom a host sends its packet of this number to; any other if it runs a program.
fn destination(model: &Model, from: HostId, number: u32) -> Option<HostId> {
    let hosts = model.topology.hosts();
    if model.jobs.is_some() && model.traffic.is_silent() {
        return Some(HostId((from.0 + 1 + number * (hosts / EACH)) % hosts));
    }
    let stream = model.traffic.streams().iter().find(|each| each.hosts().contains(&from));
    let seed = u64::from(number);
    let (traffic, (mut source, at)) = match stream {
        Some(stream) => (stream.workload(), stream.source(from, seed)),
        None => (&model.traffic, model.traffic.source(from, seed)),
    };
    (at < Cycle::MAX).then(|| traffic.demand(from, &mut source, at).destination)
}
