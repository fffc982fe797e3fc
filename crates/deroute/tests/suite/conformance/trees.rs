//! What every entry of the catalogue must do on a fat tree.

use std::collections::BTreeSet;

use deroute::Simulation;
use deroute::ids::{HostId, PortId, RouterId, VcId};
use deroute::rng::{Owner, Stream};
use deroute::routing::{Header, Hop, Queues, RouterView};
use deroute::spec::{Spec, Warmup};
use deroute::topology::Peer;

use crate::support::catalogue::{HOTSPOTS, INJECTIONS, QUEUINGS, SIZES, TREE_ROUTINGS, TREES};
use crate::support::{self, value};

fn dressed(tree: &str, routing: &str, turn: usize) -> Spec {
    let mut spec = support::network(tree);
    spec.routing = value(routing);
    spec.network.queuing = QUEUINGS[turn % QUEUINGS.len()].map(value);
    support::switch(&mut spec, turn);
    spec.traffic.hotspots = value(HOTSPOTS[turn % HOTSPOTS.len()]);
    spec.traffic.packet_size = value(SIZES[turn % SIZES.len()]);
    spec.traffic.injection = value(INJECTIONS[turn % INJECTIONS.len()]);
    spec.traffic.load = [0.05, 0.3, 0.6, 0.97][turn % 4];
    spec.network.nic.latency = [0, 5][turn % 2].into();
    spec.run.seed = turn as u64;
    spec.run.warmup = Warmup::Fixed(500.into());
    spec.run.measure = 2_000.into();
    spec.checks.full = true;
    spec.checks.dependencies = true;
    spec.checks.watchdog = Some(600.into());
    spec
}

/// Does the combination exist? A tree of one level has no way up, and no way for the hot spots on it.
fn exists(spec: &Spec) -> bool {
    match Simulation::build(spec) {
        Ok(_) => true,
        Err(error) => {
            let known = ["routing.up_adaptive", "traffic.hotspots"];
            assert!(known.iter().any(|path| error.path.starts_with(path)), "{error}");
            false
        }
    }
}

/// Conservation, an acyclic dependency graph, a silent watchdog, and the same bytes however the run
/// is divided: every tree with every routing, queuing schemes, hot spots and switches in turn.
#[test]
fn every_entry_is_sound_and_deterministic() {
    let mut runs = 0;
    for (t, tree) in TREES.into_iter().enumerate() {
        for (r, routing) in TREE_ROUTINGS.into_iter().enumerate() {
            for turn in [t + 3 * r, 2 + 5 * t + r] {
                let spec = dressed(tree, routing, turn);
                if !exists(&spec) {
                    continue;
                }
                runs += 1;
                super::sound(&spec, runs, 2);
            }
        }
    }
    assert!(runs > 190, "{runs}");
}

/// Every wire has two ends, every host one port; a link leads one level up or down.
#[test]
fn wiring_is_consistent() {
    for tree in TREES {
        let topology = Simulation::build(&support::network(tree)).unwrap().topology();
        super::graphs::wired(&*topology, tree);
        let levels = topology.tree().unwrap();
        for router in (0..topology.routers()).map(RouterId) {
            for port in (0..topology.radix(router)).map(PortId) {
                if let Peer::Router { router: other, class, .. } = topology.peer(router, port) {
                    let (low, high) = (levels.level(router), levels.level(other));
                    assert_eq!(low.abs_diff(high), 1, "{tree}");
                    assert_eq!(usize::from(class) + 1, low.min(high), "{tree}");
                }
            }
        }
    }
}

/// Why RVLB (thesis 5.2) in a tree is `up_oblivious`, and ACOR finds no detour that is longer there. Below a switch, every host
/// is below one child only. So a packet that could turn in a switch, since its destination is below it, and goes on to a
/// parent comes back through the same switch: the turn-around that RVLB leaves out.
#[test]
fn above_a_common_ancestor_there_is_no_other_way_down() {
    for tree in TREES {
        let topology = Simulation::build(&support::network(tree)).unwrap().topology();
        let levels = topology.tree().unwrap();
        let level = |router| levels.level(router);
        let mut routers: Vec<_> = (0..topology.routers()).map(RouterId).collect();
        routers.sort_by_key(|&router| level(router));
        let mut below: Vec<BTreeSet<HostId>> = vec![BTreeSet::new(); routers.len()];
        for router in routers {
            let mut children = BTreeSet::new();
            for port in (0..topology.radix(router)).map(PortId) {
                match topology.peer(router, port) {
                    Peer::Host(host) => _ = below[router.index()].insert(host),
                    Peer::Router { router: other, .. } if level(other) < level(router) => {
                        children.insert(other);
                    }
                    _ => {}
                }
            }
            for child in children {
                for host in below[child.index()].clone() {
                    assert!(below[router.index()].insert(host), "{tree}: {host:?} {router:?}");
                }
            }
        }
    }
}

/// Paths through the empty network are shortest ones: up as far as the hosts share no switch, and down.
#[test]
fn paths_of_an_empty_network() {
    for tree in TREES {
        for routing in TREE_ROUTINGS {
            for queuing in QUEUINGS {
                let mut spec = support::network(tree);
                spec.routing = value(routing);
                spec.network.queuing = queuing.map(value);
                if !exists(&spec) {
                    continue;
                }
                let simulation = Simulation::build(&spec).unwrap();
                let topology = simulation.topology();
                for (from, to) in (0..topology.hosts()).flat_map(|a| [(a, 0), (0, a)]) {
                    let path = simulation.trace(HostId(from), HostId(to), 1);
                    let path = path.unwrap_or_else(|| panic!("{routing} {from} {to}"));
                    let ends = [from, to].map(|host| topology.router_of(HostId(host)));
                    let distance = topology.distance(ends[0], ends[1]) as usize;
                    assert_eq!(path.len() - 1, distance, "{tree} {routing} {from} {to}");
                    let hops = &path[..distance];
                    assert!(hops.is_sorted_by(|a, b| a.1.position < b.1.position));
                    assert!(hops.iter().all(|(_, hop)| hop.vc == hops[0].1.vc), "{routing}");
                }
            }
        }
    }
}

/// Packets that never wait: every routing, between all pairs of hosts of a small tree.
#[test]
fn zero_load_latency() {
    for (r, routing) in TREE_ROUTINGS.into_iter().enumerate() {
        let mut spec = support::network(TREES[[5, 4][r % 2]]);
        spec.routing = value(routing);
        spec.network.queuing = QUEUINGS[r % QUEUINGS.len()].map(value);
        support::switch(&mut spec, r);
        spec.network.nic.latency = [0, 5][r % 2].into();
        spec.run.measure = 600_000.into();
        let hosts = Simulation::build(&spec).unwrap().topology().hosts();
        spec.traffic.load = super::zero_load::sparse(hosts, 4.0);
        let pairs = super::zero_load::check(&spec).len();
        assert!(pairs > 100, "{routing}: {pairs}");
    }
}

/// By hand, in a tree of three levels of 4-port switches, whose links take 3 and 7 cycles: one switch,
/// three and two links, five and four.
#[test]
fn zero_load_by_hand() {
    let simulation = Simulation::build(&support::network(TREES[0])).unwrap();
    let topology = simulation.topology();
    for (to, switches, links) in [(1, 1, 0), (2, 3, 2 * 3), (15, 5, 2 * 3 + 2 * 7)] {
        let path = simulation.trace(HostId(0), HostId(to), 1).unwrap();
        let latency = |(at, hop): &(RouterId, Hop)| match topology.peer(*at, hop.port) {
            Peer::Router { class, .. } => [3, 7][usize::from(class)],
            _ => 0,
        };
        assert_eq!((path.len(), path.iter().map(latency).sum()), (switches, links), "to {to}");
    }
}

/// What the adaptive routing does with its queues, as Algorithm 1 says.
#[test]
fn adaptive_choices() {
    // Host 0 of a tree with 6 ports up, to host 40: D mod 6 = 4, level 2 would be 0.
    let choices = |routing: &str, queues: &[[u32; 6]]| -> Vec<u16> {
        let mut spec = support::network("{ rlft = { ports = 12, stages = 2 } }");
        spec.routing = value(routing);
        let topology = Simulation::build(&spec).unwrap().topology();
        let fabric = super::zero_load::fabric(&spec, &topology);
        let mut agent = (deroute::routing::build(&spec.routing, &fabric).unwrap().agent)(
            RouterId(0),
            topology.routers(),
        );
        let mut rng = Stream::new(1, Owner::Router(0));
        let choose = |queues: &[u32; 6]| {
            let mut header = Header::new(topology.router_of(HostId(40)));
            let mut view = RouterView {
                router: RouterId(0),
                input: PortId(0),
                vc: VcId(0),
                port: topology.port_of(HostId(40)),
                class: 0,
                now: 0,
                size: 4,
                queues: &Fixed(*queues),
                rng: &mut rng,
            };
            agent.route(&mut view, &mut header).port.0 - 6
        };
        queues.iter().map(choose).collect()
    };
    // The buffer has 20 phits: 5 are the low threshold, 10 the high one.
    let full = [20; 6];
    let fourth = |queue| [9, 3, 3, 8, queue, 7];
    assert_eq!(choices("{ minimal = {} }", &[full, fourth(20)]), [4, 4]);
    // Equal ports in a circle from 4 on.
    let free = [full, fourth(3), fourth(4), [0; 6]];
    assert_eq!(choices("{ up_adaptive = {} }", &free), [4, 4, 1, 4]);
    let first = "{ up_adaptive = { ties = 'first' } }";
    assert_eq!(choices(first, &[full, fourth(3), [0; 6]]), [4, 1, 0]);
    let th = "{ up_adaptive = { trigger = 'TH' } }";
    assert_eq!(choices(th, &[fourth(15), fourth(16), fourth(15)]), [4, 1, 4]);
    // Without an alternative above the threshold it stays.
    assert_eq!(choices(th, &[[15, 15, 15, 15, 18, 15]]), [4]);
    let two = "{ up_adaptive = { trigger = '2TH' } }";
    assert_eq!(choices(two, &[15, 16, 15, 11, 10, 15].map(fourth)), [4, 1, 1, 1, 4, 4]);
    // Every third port from that of D-mod-K: 1 and 4.
    let third = "{ up_adaptive = { ties = 'first', delta = 3 } }";
    assert_eq!(choices(third, &[[0, 9, 0, 0, 8, 0], [0, 9, 0, 0, 9, 0]]), [4, 1]);
    // Equal ports in a circle from 4 on.
    let circle = "{ up_adaptive = { ties = 'mod-k' } }";
    assert_eq!(choices(circle, &[[0; 6], fourth(3), fourth(4), [0, 9, 9, 0, 9, 9]]), [4, 4, 1, 0]);
    let circle = "{ up_adaptive = { ties = 'mod-k', delta = 2 } }";
    let busy = [[0; 6], [3, 0, 0, 0, 4, 0], [3, 0, 3, 0, 4, 0]];
    assert_eq!(choices(circle, &busy), [4, 2, 0]);
    let never = "{ up_adaptive = { stages = [] } }";
    assert_eq!(choices(never, &[fourth(20)]), [4]);
}

/// Queues of the ports that lead up.
struct Fixed([u32; 6]);

impl Queues for Fixed {
    fn port(&self, port: PortId) -> u32 {
        self.vc(port, VcId(0))
    }

    fn vc(&self, port: PortId, vc: VcId) -> u32 {
        assert_eq!(vc.0, 0);
        self.0[usize::from(port.0) - 6]
    }
}

/// The classes of the queuing schemes, by hand: 18 hosts on 6 switches.
#[test]
fn classes_of_flows() {
    let class = |queuing: &str, from: u32, to: u32| {
        let mut spec = support::network("{ rlft = { ports = 6, stages = 2 } }");
        spec.network.queuing = Some(value(queuing));
        spec.network.links.get_mut("level1").unwrap().vcs = 18.into();
        let path = Simulation::build(&spec).unwrap().trace(HostId(from), HostId(to), 1).unwrap();
        path[0].1.vc.0
    };
    for (from, to) in (0..18).flat_map(|a| (0..18).map(move |b| (a, b))) {
        if from / 3 == to / 3 {
            continue;
        }
        assert_eq!(u32::from(class("{ dbbm = {} }", from, to)), to % 3);
        assert_eq!(u32::from(class("{ vftree = {} }", from, to)), (from / 3 + to / 3) % 3);
        assert_eq!(u32::from(class("{ flow2sl = {} }", from, to)), (from / 6 + to / 6) % 3);
        assert_eq!(u32::from(class("{ blocks = {} }", from, to)), to / 3 % 3);
        let blocks = "{ blocks = { queues = 4, block = 2 } }";
        assert_eq!(u32::from(class(blocks, from, to)), to / 2 % 4);
        assert_eq!(u32::from(class("{ voqnet = {} }", from, to)), to);
    }
}

/// Destinations through the ports of each level of the paper's network with arity 6 (its Table 1).
#[test]
fn destinations_of_ports() {
    let (k, n) = (6.0, 432.0);
    let sums = |routing: &str, waiting| {
        let mut spec = support::network("{ rlft = { ports = 12, stages = 3 } }");
        spec.routing = value(routing);
        let simulation = Simulation::build(&spec).unwrap();
        let (topology, counts) = (simulation.topology(), simulation.destinations(waiting));
        let tree = topology.tree().unwrap();
        let mut sums = [(0, 0); 5];
        let mut rest = counts.iter();
        for router in (0..topology.routers()).map(RouterId) {
            for (port, count) in (0..topology.radix(router)).zip(&mut rest) {
                let level = tree.level(router);
                let up = u32::from(port) >= tree.downs(level);
                let column = [level - 1, 5 - level][usize::from(!up)];
                sums[column] = (sums[column].0 + count, sums[column].1 + 1);
            }
        }
        sums
    };
    let means =
        |routing: &str| sums(routing, None).map(|(sum, ports)| f64::from(sum) / f64::from(ports));
    let square = k * k;
    let fixed = [(n - k) / k, (n - square) / square, 1.0, 1.0, 1.0];
    assert_eq!(means("{ minimal = {} }"), fixed);
    let free = [n - k, n - square, square, k, 1.0];
    assert_eq!(means("{ up_adaptive = {} }"), free);
    assert_eq!(means("{ up_adaptive = { trigger = '2TH' } }"), free);
    assert_eq!(means("{ up_oblivious = { draw = 'round-robin' } }"), free);
    let first = [n - k, (n - square) / k, k, k, 1.0];
    assert_eq!(means("{ up_adaptive = { stages = [1] } }"), first);
    let second = [(n - k) / k, (n - square) / k, k, 1.0, 1.0];
    assert_eq!(means("{ up_adaptive = { stages = [2] } }"), second);
    let third = [(n - k) / 3.0, (n - square) / 9.0, square / 9.0, k / 3.0, 1.0];
    assert_eq!(means("{ up_adaptive = { delta = 3 } }"), third);
}
