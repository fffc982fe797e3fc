//! Queues at the outputs: rates of links, store-and-forward, hosts with links, pauses, classes, and switches that keep
//! their memory.

use deroute::Simulation;
use deroute::ids::{PortId, RouterId};
use deroute::outcome::Outcome;
use deroute::spec::{Forwarding, Quantity, SlowLink, Spec, Switch, Topology, Warmup};
use deroute::topology::Peer;

use super::{WORKLOADS, agree};
use crate::support::catalogue::{
    DRAGONFLIES, GRAPH_ROUTINGS, GRAPHS, HOLDING_SWITCHES, HOTSPOTS, INJECTION_QUEUES, INJECTIONS,
    LATTICE_ROUTINGS, LATTICES, PAUSES, QUEUINGS, ROUTINGS, SIZES, SWITCHES, TREE_ROUTINGS, TREES,
};
use crate::support::{self, value};

/// Networks of every kind, each with every routing that it has.
pub fn networks() -> Vec<Spec> {
    let pairs = |kind: &str, topologies: &[&str], routings: &[&str]| {
        let spec = |(n, routing): (usize, &&str)| {
            let topology = topologies[n % topologies.len()];
            let mut spec = support::network(&format!("{{ {kind} = {topology} }}"));
            spec.routing = value(routing);
            spec
        };
        routings.iter().enumerate().map(spec).collect::<Vec<_>>()
    };
    let mut specs = pairs("dragonfly", &DRAGONFLIES[..9], &ROUTINGS);
    specs.extend(pairs("hyperx", &LATTICES, &LATTICE_ROUTINGS));
    specs.extend(pairs("graph", &GRAPHS, &GRAPH_ROUTINGS));
    for (n, routing) in TREE_ROUTINGS.into_iter().enumerate() {
        let mut spec = support::network(TREES[n % TREES.len()]);
        spec.routing = value(routing);
        specs.push(spec);
    }
    specs.extend([2, 3, 5, 9].map(support::crossbar));
    specs
}

/// Traffic, sizes and lengths for the nth case.
fn vary(spec: &mut Spec, n: usize) {
    spec.traffic.packet_size = value(SIZES[n % SIZES.len()]);
    spec.traffic.injection = value(INJECTIONS[n / 3 % INJECTIONS.len()]);
    spec.traffic.load = [0.3, 0.6, 1.0][n % 3];
    spec.network.nic.latency = [1, 5, 2][n % 3].into();
    spec.network.nic.injection_queue = [None, Some(Quantity::from(33))][n / 2 % 2].clone();
    spec.network.nic.queues = (n % 3 == 2).then(|| value(INJECTION_QUEUES[n / 3 % 2]));
    spec.run.warmup = Warmup::Fixed(80.into());
    spec.run.measure = 300.into();
    spec.run.seed = n as u64;
    spec.probes.series = Some(40.into());
}

/// A switch of the catalogue, or one that keeps its memory; the next one where the routing refuses it.
fn switch(spec: &mut Spec, turn: usize) {
    let all: Vec<&str> = SWITCHES.into_iter().chain(HOLDING_SWITCHES).collect();
    spec.network.switch = value(all[turn % all.len()]);
    if support::routes_too_early(spec) {
        switch(spec, turn + 1);
    }
}

/// Slow classes of links, and slow links in them.
pub fn rates(spec: &mut Spec, turn: usize) {
    let rates = ["1/2", "25%", "1/3"];
    for (n, link) in spec.network.links.values_mut().enumerate() {
        if (turn + n).is_multiple_of(2) {
            link.rate = Some(rates[(turn + n) / 2 % 3].into());
        }
    }
    let topology = deroute::topology::build(&spec.network.topology).expect("a topology");
    let router = RouterId(turn as u32 % topology.routers());
    for port in (0..topology.radix(router)).skip(turn % 2).step_by(3) {
        if let Peer::Router { router: other, .. } = topology.peer(router, PortId(port)) {
            let rate = rates[(turn + usize::from(port)) % 3].into();
            spec.network.slow_links.push(SlowLink { routers: [router.0, other.0], rate });
        }
    }
}

/// Every other switch stores and forwards, if it can.
fn store_and_forward(spec: &mut Spec, turn: usize) {
    if turn.is_multiple_of(2) && !matches!(spec.network.switch, Switch::VirtualOutputQueued(_)) {
        spec.network.forwarding = Forwarding::StoreAndForward;
    }
}

/// What flow control did in some runs.
#[derive(Debug, Default)]
struct Seen {
    runs: u32,
    paused: u32,
    lost: u32,
    both: u32,
}

impl Seen {
    fn add(&mut self, outcome: &Outcome) {
        let links = outcome.flow_control.as_ref().map_or(&[][..], |used| &used.links);
        let paused = links.iter().any(|link| link.paused_max > 0.0 && link.frames > link.stops);
        let lost = outcome.packets.lost > 0;
        self.runs += 1;
        self.paused += u32::from(paused);
        self.lost += u32::from(lost);
        self.both += u32::from(paused && lost);
    }
}

/// Links that are slower than others, switches that store and forward, and ways to measure queues.
#[test]
fn rates_and_forwarding() {
    let mut agreed = 0;
    for (n, mut spec) in networks().into_iter().enumerate() {
        vary(&mut spec, n);
        switch(&mut spec, 5 * n + 1);
        if n % 4 > 0 {
            rates(&mut spec, n);
        }
        store_and_forward(&mut spec, n / 3);
        spec.network.queuing = QUEUINGS[n % QUEUINGS.len()].map(value);
        support::vary(&mut spec, n);
        if Simulation::build(&spec).is_ok() {
            agree(&spec);
            agreed += 1;
        }
    }
    assert!(agreed > 60, "{agreed}");
}

/// Flow controls that pause, or lose packets, in every network.
#[test]
fn pauses() {
    let mut seen = Seen::default();
    for (n, mut spec) in networks().into_iter().enumerate() {
        vary(&mut spec, n);
        for link in spec.network.links.values_mut() {
            link.buffer = [120, 150, 250][n % 3].into();
        }
        spec.network.flow_control = value(PAUSES[n % PAUSES.len()]);
        if n / 2 % 3 > 0 {
            let buffer = [90, 130, 200][n / 3 % 3];
            spec.network.nic.link = Some(value(&format!("{{ buffer = {buffer} }}")));
        }
        if n % 5 == 1 {
            rates(&mut spec, n);
        }
        switch(&mut spec, 5 * n + 1);
        store_and_forward(&mut spec, n / 3);
        spec.traffic.hotspots = match spec.network.topology {
            Topology::Dragonfly(_) => Vec::new(),
            _ => value(HOTSPOTS[n % 4]),
        };
        if Simulation::build(&spec).is_ok() {
            seen.add(&agree(&spec));
        }
    }
    assert!(seen.runs > 60, "{seen:?}");
}

/// Several senders to one receiver: pauses of every kind begin and end, and packets are lost, in every switch.
#[test]
fn hot_spots() {
    let controls = [
        "{ pfc = { response = 0, frame = 4, xoff = 40, xon = 20, lossy = true } }",
        "{ pfc = { response = 7, phy_delay = 1, frame = 3, xoff = 20, lossy = true } }",
        "{ pfc = { response = 2, frame = 0, xoff = 30, xon = 29, quanta = 30, lossy = true } }",
        "{ pfc = { response = 2, frame = 2, xoff = 60, xon = 2, quanta = 9, lossy = true } }",
        "{ pause = { response = 0, frame = 1, xoff = 50, xon = 40, lossy = true } }",
        "{ pause = { response = 9, frame = 5, xoff = 70, quanta = 25, lossy = true } }",
        "{ lossy = {} }",
    ];
    let topologies = [
        "{ crossbar = { hosts = 6 } }",
        "{ hyperx = { widths = [3], hosts = 3 } }",
        "{ rlft = { ports = 4, stages = 2 } }",
    ];
    let mut seen = Seen::default();
    for n in 0..SWITCHES.len() + HOLDING_SWITCHES.len() {
        for (c, control) in controls.iter().enumerate() {
            let mut spec = support::network(topologies[(n + c) % 3]);
            vary(&mut spec, n + c / 2);
            switch(&mut spec, n);
            for link in spec.network.links.values_mut() {
                link.buffer = [60, 90, 110][(n + c) % 3].into();
                link.vcs = (1 + (c % 3) as u8).into();
            }
            spec.network.flow_control = value(control);
            spec.network.nic.link = Some(value("{ buffer = 100, rate = '1/1' }"));
            spec.network.queuing = [None, Some(value("{ dbbm = { queues = 2 } }"))][n % 2].clone();
            if n % 3 == 0 {
                rates(&mut spec, c);
            }
            store_and_forward(&mut spec, c);
            spec.traffic.load = 0.9;
            spec.traffic.hotspots = value("[{ destinations = { any = [0, 1] } }]");
            spec.run.measure = 500.into();
            if Simulation::build(&spec).is_ok() {
                seen.add(&agree(&spec));
            }
        }
    }
    assert!(seen.runs > 140 && seen.paused > 80 && seen.lost > 10, "{seen:?}");
}

/// Every class of links has a flow control of its own, and so have hosts: credits beside pauses of every kind.
#[test]
fn each_class_its_own() {
    let controls = [
        "{ credits = {} }",
        "{ pfc = { response = 3, frame = 3, xoff = 40, xon = 20, lossy = true } }",
        "{ pause = { response = 5, frame = 2, xoff = 60, quanta = 25, lossy = true } }",
        "{ lossy = {} }",
        "{ pfc = { response = 1, frame = 1, xoff = 30, xon = 29, quanta = 30, lossy = true } }",
    ];
    let mut seen = Seen::default();
    for n in 0..2 * controls.len() * controls.len() {
        let (one, other) = (n % controls.len(), n / controls.len() % controls.len());
        let mut spec = support::dragonfly(1, 2, 1);
        spec.network.topology = Topology::Dragonfly(value(DRAGONFLIES[n % 3]));
        spec.routing = value(ROUTINGS[5 * n % ROUTINGS.len()]);
        vary(&mut spec, n);
        switch(&mut spec, n);
        spec.network.flow_control = value(controls[other]);
        let third = controls[(one + n / 7) % controls.len()];
        for (name, link) in &mut spec.network.links {
            let vcs = link.vcs.count().expect("a number") + 1;
            (link.buffer, link.vcs) = ([60, 90, 110][n % 3].into(), vcs.into());
            link.flow_control = (name == "local").then(|| value(controls[one]));
        }
        let host = format!("{{ buffer = 100, flow_control = {third} }}");
        spec.network.nic.link = (!third.contains("credits")).then(|| value(&host));
        spec.traffic.load = 0.9;
        if Simulation::build(&spec).is_ok() {
            seen.add(&agree(&spec));
        }
    }
    assert!(seen.runs > 30 && seen.paused > 15 && seen.lost > 5, "{seen:?}");
}

/// Messages over links that pause.
#[test]
fn messages() {
    let mut seen = Seen::default();
    let controls = PAUSES.into_iter().filter(|control| !control.contains("loss"));
    for (c, control) in controls.enumerate() {
        for (w, workload) in WORKLOADS.into_iter().enumerate() {
            let n = 5 * c + w;
            let mut spec = support::network([TREES[0], TREES[3]][n % 2]);
            spec.routing = value(TREE_ROUTINGS[n % TREE_ROUTINGS.len()]);
            vary(&mut spec, n);
            switch(&mut spec, 5 * n + 3);
            for link in spec.network.links.values_mut() {
                link.buffer = 150.into();
            }
            spec.network.flow_control = value(control);
            spec.network.nic.link = (n % 3 > 0).then(|| value("{ buffer = 120, rate = '1/2' }"));
            (spec.traffic, spec.run) = Default::default();
            (spec.probes.series, spec.run.seed) = (None, n as u64);
            spec.workload = Some(value(workload));
            if Simulation::build(&spec).is_ok() {
                seen.add(&agree(&spec));
            }
        }
    }
    assert!(seen.runs > 12, "{seen:?}");
}
