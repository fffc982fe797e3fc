//! The latency of a packet that never waits, packet by packet:
//! `pipeline (H + 1) + link latencies + 2 nic.latency + size`.
//!
//! The test replays what every host generates and what every router draws, walks each packet along
//! its path, and compares the sum with the engine's time series, whose bins are so narrow that each
//! holds one packet.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use deroute::Simulation;
use deroute::ids::{HostId, PortId, RouterId, VcId};
use deroute::queuing::{self, Asked, Flows};
use deroute::rng::{Owner, Stream};
use deroute::routing::{self, Fabric, Header, Injection, Queue, Queues, RouterView, ValiantPhase};
use deroute::spec::{Quantity, Scale, Spec, Switch, Topology};
use deroute::topology::Peer;
use deroute::traffic::{Setting, Workload};

use crate::support::catalogue::{DRAGONFLIES, LATTICE_ROUTINGS, ROUTINGS, SWITCHES};
use crate::support::{self, value};

/// A packet that a host generates.
#[derive(Clone, Copy)]
struct Planned {
    generated: u32,
    from: HostId,
    to: HostId,
    size: u32,
}

struct Empty;

impl Queues for Empty {
    fn port(&self, _port: PortId) -> u32 {
        0
    }

    fn vc(&self, _port: PortId, _vc: VcId) -> u32 {
        0
    }
}

fn number(quantity: &Quantity) -> u32 {
    let Quantity::Number(number) = quantity else { panic!("{quantity} is no bare number") };
    u32::try_from(*number).unwrap()
}

/// Every switch has the key.
fn pipeline(switch: &Switch) -> u32 {
    let table = toml::Table::try_from(switch).unwrap();
    let parameters = table.values().next().unwrap();
    u32::try_from(parameters["pipeline"].as_integer().unwrap()).unwrap()
}

/// Everything that is generated before `end`, in order.
fn plan(spec: &Spec, end: u32) -> Vec<Planned> {
    let topology = deroute::topology::build(&spec.network.topology).unwrap();
    let scale = Scale::new("1 ns", "25 B").unwrap();
    let setting = Setting { topology: &*topology, seed: spec.run.seed };
    let workload = Workload::build(&spec.traffic, &scale, &setting, Some(0)).unwrap();
    let mut packets = Vec::new();
    for from in (0..topology.hosts()).map(HostId) {
        let (mut source, mut next) = workload.source(from, spec.run.seed);
        while next < end {
            let demand = workload.demand(from, &mut source, next);
            let (to, size) = (demand.destination, u32::from(demand.size));
            packets.push(Planned { generated: next, from, to, size });
            next = workload.next(from, &mut source, Some(next));
        }
    }
    packets.sort_by_key(|packet| (packet.generated, packet.from));
    packets
}

pub fn fabric(spec: &Spec, topology: &Arc<dyn deroute::topology::Topology>) -> Fabric {
    let link = |name: &&str| number(&spec.network.links[*name].latency);
    let latency = topology.classes().iter().map(link).collect();
    let scale = spec.units.scale().unwrap();
    let vcs =
        topology.classes().iter().map(|name| support::vcs(&spec.network.links[*name])).collect();
    let link = |name: &&str| number(&spec.network.links[*name].buffer);
    let buffers = topology.classes().iter().map(link).collect();
    let topology = Arc::clone(topology);
    Fabric { topology, latency, vcs, buffers, classes: 1, queues: 1, scale }
}

fn agents(spec: &Spec, fabric: Fabric) -> (Flows, routing::AgentFactory) {
    let planner = |fabric: &Fabric| routing::build(&spec.routing, fabric);
    let (queuing, queues) = (&spec.network.queuing, &spec.network.nic.queues);
    let asked = Asked { queuing, queues, service: 1 };
    let (flows, plan) = queuing::plan(asked, fabric, &planner).unwrap();
    (flows, plan.agent)
}

/// Closed form of the latency of each packet, on the path that the routing chooses in an empty
/// network. Routers draw in the order of generation, and see every packet leave at once.
fn closed_forms(spec: &Spec, packets: &[Planned]) -> Vec<u32> {
    let topology = deroute::topology::build(&spec.network.topology).unwrap();
    let fabric = fabric(spec, &topology);
    let (flows, agents) = agents(spec, fabric.clone());
    let mut agent = agents(RouterId(0), topology.routers());
    let mut streams: Vec<Stream> = (0..topology.routers())
        .map(|router| Stream::new(spec.run.seed, Owner::Router(router)))
        .collect();
    let (nic, pipeline) = (number(&spec.network.nic.latency), pipeline(&spec.network.switch));
    let mut walk = |packet: &Planned| {
        let mut header = Header::new(topology.router_of(packet.to));
        let mut at = topology.router_of(packet.from);
        let mut input = topology.port_of(packet.from);
        let class = flows.class(packet.from, packet.to);
        let mut vc = VcId(class);
        let mut total = 2 * nic + packet.size + pipeline;
        let now = packet.generated + nic;
        let source = Queue { router: at, port: input, number: class, now };
        let watched = agent.watches().injections;
        if watched {
            agent.injection(source, Injection::Entered, &header);
        }
        loop {
            if header.phase == ValiantPhase::A && header.intermediate() == Some(at) {
                header.phase = ValiantPhase::B;
            }
            if header.destination == at && header.phase != ValiantPhase::A {
                return total;
            }
            let rng = &mut streams[at.index()];
            let mut view = RouterView {
                router: at,
                input,
                vc,
                port: topology.port_of(packet.to),
                class: 0,
                now,
                size: packet.size as u16,
                queues: &Empty,
                rng,
            };
            let hop = agent.route(&mut view, &mut header);
            vc = hop.vc;
            if watched && header.position == 0 {
                agent.injection(source, Injection::Left, &header);
            }
            header.position = hop.position;
            let Peer::Router { router, port, class } = topology.peer(at, hop.port) else {
                panic!("a path into nowhere")
            };
            (at, input) = (router, port);
            total += pipeline + fabric.latency[usize::from(class)];
        }
    };
    packets.iter().map(&mut walk).collect()
}

/// Compares every packet that met no other with its closed form. Returns the pairs of hosts seen.
///
/// A routing that draws again while a packet waits, or counts the packets that do, uses other
/// random numbers after the first packet that did, so its runs are many short ones, of which those
/// count in which none waited.
pub fn check(spec: &Spec) -> BTreeSet<(HostId, HostId)> {
    const PIECES: u64 = 40;
    if !minds_waiting(spec) {
        return check_run(spec, false);
    }
    let mut piece = spec.clone();
    piece.run.measure = (u64::from(number(&spec.run.measure)) / PIECES).into();
    let seeds = spec.run.seed..spec.run.seed + 2 * PIECES;
    seeds.fold(BTreeSet::new(), |mut pairs, seed| {
        piece.run.seed = seed;
        pairs.append(&mut check_run(&piece, true));
        pairs
    })
}

fn minds_waiting(spec: &Spec) -> bool {
    let topology = deroute::topology::build(&spec.network.topology).unwrap();
    let watches = agents(spec, fabric(spec, &topology)).1(RouterId(0), 1).watches();
    watches.reconsiders || watches.injections
}

fn check_run(spec: &Spec, undisturbed: bool) -> BTreeSet<(HostId, HostId)> {
    const WIDTH: u32 = 4;
    let mut spec = spec.clone();
    let end = number(&spec.run.measure);
    spec.run.warmup = deroute::spec::Warmup::Fixed(0.into());
    spec.probes.series = Some(u64::from(WIDTH).into());
    let packets = plan(&spec, end);
    let expected = closed_forms(&spec, &packets);
    let outcome = support::run(&spec);
    if undisturbed && outcome.blocked_attempts_mean > 0.0 {
        return BTreeSet::new();
    }
    let series = outcome.series.unwrap().by_generation;
    let mut in_bin: HashMap<u32, u32> = HashMap::new();
    for packet in &packets {
        *in_bin.entry(packet.generated / WIDTH).or_default() += 1;
    }
    let mut pairs = BTreeSet::new();
    let mut latest = 0;
    for (n, (packet, latency)) in packets.iter().zip(&expected).enumerate() {
        let arrives = packet.generated + latency;
        let before = latest;
        latest = latest.max(arrives);
        // Alone: all before have arrived, and none follows until this one has.
        let next = packets.get(n + 1).map_or(u32::MAX, |next| next.generated);
        let bin = packet.generated / WIDTH;
        if packet.generated < before || next <= arrives || in_bin[&bin] > 1 || arrives > end {
            continue;
        }
        let measured = series.latency_sum[bin as usize];
        let Planned { from, to, .. } = packet;
        let place = || format!("{from} to {to} at {}\n{}", packet.generated, support::show(&spec));
        assert_eq!(series.packets[bin as usize], 1, "{}", place());
        assert_eq!(measured, u64::from(*latency), "{}", place());
        pairs.insert((*from, *to));
    }
    pairs
}

/// A load that has about one packet of `size` phits in a thousand cycles.
pub fn sparse(hosts: u32, size: f64) -> f64 {
    size / (1_000.0 * f64::from(hosts))
}

/// Every routing between all 30 pairs of hosts of the smallest Dragonfly.
#[test]
fn every_pair_and_routing() {
    for (r, routing) in ROUTINGS.into_iter().enumerate() {
        let mut spec = support::dragonfly(1, 2, 1);
        spec.routing = value(routing);
        support::switch(&mut spec, r);
        spec.network.nic.latency = [0, 5][r % 2].into();
        spec.traffic.load = sparse(6, 4.0);
        spec.run.measure = 400_000.into();
        assert_eq!(check(&spec).len(), 30, "{routing}");
    }
}

/// Every routing of a lattice between all 30 pairs of hosts of a small one.
#[test]
fn every_lattice_routing() {
    for (r, routing) in LATTICE_ROUTINGS.into_iter().enumerate() {
        let mut spec = support::lattice("{ widths = [3, 2], hosts = 1 }");
        spec.routing = value(routing);
        support::switch(&mut spec, r);
        spec.network.nic.latency = [0, 5][r % 2].into();
        spec.traffic.load = sparse(6, 4.0);
        spec.run.measure = 400_000.into();
        support::vary(&mut spec, r);
        assert_eq!(check(&spec).len(), 30, "{routing}");
    }
}

/// Every switch, with mixed packet sizes, in every wiring.
#[test]
fn every_switch_and_wiring() {
    for s in 0..SWITCHES.len() {
        for (d, dragonfly) in DRAGONFLIES.into_iter().enumerate() {
            let mut spec = support::dragonfly(1, 2, 1);
            spec.network.topology = Topology::Dragonfly(value(dragonfly));
            spec.network.nic.latency = [5, 0, 1][d % 3].into();
            spec.traffic.packet_size = value("{ min = 1, max = 16 }");
            spec.routing = value(ROUTINGS[(s + 7 * d) % ROUTINGS.len()]);
            support::switch(&mut spec, s);
            let hosts = Simulation::build(&spec).unwrap().topology().hosts();
            spec.traffic.load = sparse(hosts, 8.5);
            spec.run.measure = 60_000.into();
            let pairs = check(&spec).len();
            assert!(pairs >= 12.min(hosts as usize * (hosts as usize - 1) / 2), "{pairs} pairs");
        }
    }
}

/// A single switch, between all pairs of its hosts.
#[test]
fn single_switch() {
    for (s, switch) in SWITCHES.into_iter().enumerate() {
        let mut spec = support::crossbar(8);
        spec.network.switch = value(switch);
        spec.network.nic.latency = [0, 7][s % 2].into();
        spec.traffic.packet_size = value("{ min = 1, max = 16 }");
        spec.traffic.load = sparse(8, 8.5);
        spec.run.measure = 600_000.into();
        assert_eq!(check(&spec).len(), 56);
    }
}
