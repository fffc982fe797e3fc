//! Forwarding tables: what an algorithm does, as rules, gives the same bytes.

mod bad;

use std::collections::BTreeMap;
use std::fmt::Write;

use deroute::Simulation;
use deroute::ids::{HostId, PortId, RouterId};
use deroute::spec::{Routing, Spec, TableSpec, Topology};
use deroute::topology::Peer;

use crate::support::catalogue::{
    DRAGONFLIES, GRAPHS, LATTICES, SIXTEEN, SWITCHES, TABLE_NETWORK, TABLE_ROUTINGS, TREES,
};
use crate::support::{self, value};

/// The rules of an algorithm, hosts by their numbers: those of all paths through the empty network. With
/// `sources`, a rule for each pair of hosts, since paths depend on both.
fn rules_of(simulation: &Simulation, sources: bool, named: bool) -> String {
    let hosts = simulation.topology().hosts();
    let mut exits = BTreeMap::new();
    for (from, to) in (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to))) {
        let path = simulation.trace(HostId(from), HostId(to), 1).expect("it arrives");
        for (router, hop) in path {
            let source = sources.then_some(from);
            let vc = named.then_some(hop.vc.0);
            let before = exits.insert((router.0, to, source), (hop.port.0, vc));
            assert!(before.is_none_or(|before| before == (hop.port.0, vc)), "one port each");
        }
    }
    let mut text = String::from("router,destination,source,ports\n");
    for ((router, to, source), (port, vc)) in exits {
        let source = source.map_or(String::new(), |source| source.to_string());
        let vc = vc.map_or(String::new(), |vc| format!(":{vc}"));
        writeln!(text, "{router},{to},{source},{port}{vc}").unwrap();
    }
    text
}

fn table(rules: String) -> Routing {
    Routing::Table(TableSpec { rules: Some(rules), ..TableSpec::default() })
}

/// A spec, and the same with tables in place of its routing, give the same bytes.
fn equal(spec: &Spec, sources: bool, turn: usize) {
    let simulation = Simulation::build(spec).unwrap_or_else(|error| panic!("{error}"));
    let rules = rules_of(&simulation, sources, false);
    let mut spec = spec.clone();
    spec.run.seed = turn as u64;
    spec.traffic.load = [0.2, 0.5, 0.9][turn % 3];
    spec.network.switch = value(SWITCHES[(5 * turn) % SWITCHES.len()]);
    let expected = support::run(&spec);
    assert!(simulation.topology().hosts() < 2 || expected.packets.delivered > 0);
    let name = spec.routing.name();
    spec.routing = table(rules);
    let found = support::run(&spec);
    assert!(found == expected, "{name}\n{}", support::show(&spec));
}

/// Of every topology: minimal routing, in a fat tree also S-mod-K.
#[test]
fn tables_give_the_bytes_of_the_algorithm() {
    let dragonfly = |text: &&str| {
        let mut spec = support::dragonfly(1, 2, 1);
        spec.network.topology = Topology::Dragonfly(value(text));
        spec
    };
    let graphs = GRAPHS.map(|text| support::network(&format!("{{ graph = {text} }}")));
    let lattices = LATTICES.map(support::lattice);
    let others = SIXTEEN.iter().chain(&TREES).map(|text| support::network(text));
    let all = DRAGONFLIES.iter().map(dragonfly).chain(lattices).chain(graphs).chain(others);
    let mut trees = 0;
    for (turn, mut spec) in all.enumerate() {
        equal(&spec, false, turn);
        let topology = Simulation::build(&spec).unwrap().topology();
        if topology.tree().is_some() {
            trees += 1;
            spec.routing = value("{ mod_k = { of = 'source' } }");
            equal(&spec, true, turn);
            spec.routing = value("{ mod_k = {} }");
            equal(&spec, false, turn + 1);
        }
    }
    assert_eq!(trees, TREES.len() + 2);
}

/// Among several ports the hash of `ecmp` chooses.
#[test]
fn several_ports_are_ecmp() {
    let mut spec = support::network("{ rlft = { ports = 6, stages = 2 } }");
    spec.routing = value("{ ecmp = {} }");
    let expected = support::run(&spec);
    // Six leaves of three hosts below three switches of level 2, each leaf on port `leaf` of all of these.
    let mut text = String::from("router,destination,priority,ports\n");
    for leaf in 0..6 {
        for port in 0..3 {
            writeln!(text, "{leaf},{},1,{port}", 3 * leaf + port).unwrap();
        }
        writeln!(text, "{leaf},,0,3 4 5").unwrap();
    }
    for top in 6..9 {
        for host in 0..18 {
            writeln!(text, "{top},{host},,{}", host / 3).unwrap();
        }
    }
    spec.routing = table(text);
    assert!(support::run(&spec) == expected);
}

/// Rules with VCs are followed to the letter; packed rules are the same rules; blocks stand for their hosts.
#[test]
fn vcs_packing_and_blocks() {
    let mut spec = support::dragonfly(2, 4, 2);
    let simulation = Simulation::build(&spec).unwrap();
    let plain = support::run(&spec);
    let text = "router,destination,ports\n0,0,0\n0,1,1\n0,2,2\n0,3,2\n1,2,0\n1,3,1\n1,0,2\n1,1,2\n";
    // Written by gzip.
    let packed = "H4sIAAAAAAACAxXKMQoAIQxE0d6zTGH0RMJa2BiJ2fvvXwKP8JnwN2fomTfXHrl863jkLVUcmgybGnY0\
                  /oqdbmz+QisfreyHsUkAAAA=";
    let mut two = support::network("{ graph = { hosts = 2, edges = [[0, 1]] } }");
    two.routing = table(text.into());
    let blocks = "router,destination,destination_mask,priority,ports\n\
                  0,0,,1,0\n0,1,,1,1\n0,2,0xfe,0,2\n1,2,,1,0\n1,3,,1,1\n1,0,2,0,2\n";
    let expected = support::run(&two);
    let packed = TableSpec { packed: Some(packed.into()), ..TableSpec::default() };
    two.routing = Routing::Table(packed);
    assert!(support::run(&two) == expected);
    two.routing = table(blocks.into());
    assert!(support::run(&two) == expected);
    // The last local hop of a Dragonfly has its own VC, which the table names.
    let named = Simulation::build(&spec).map(|built| {
        let rules = rules_by_hops(&built);
        table(rules)
    });
    assert!(simulation.topology().hosts() == 72 && plain.packets.delivered > 0);
    spec.routing = named.unwrap();
    assert!(support::run(&spec) == plain);
}

/// Minimal routing of a Dragonfly with a rule for every input port: those of local ports lead to the last VC.
fn rules_by_hops(simulation: &Simulation) -> String {
    let topology = simulation.topology();
    let mut exits = BTreeMap::new();
    for (from, to) in (0..72).flat_map(|from| (0..72).map(move |to| (from, to))) {
        let mut input = topology.port_of(HostId(from));
        for (router, hop) in simulation.trace(HostId(from), HostId(to), 1).unwrap() {
            exits.insert((router.0, input.0, to), (hop.port.0, hop.vc.0));
            if let Peer::Router { port, .. } = topology.peer(router, hop.port) {
                input = port;
            }
        }
    }
    let mut text = String::from("router,in_port,destination,ports\n");
    for ((router, input, to), (port, vc)) in exits {
        writeln!(text, "{router},{input},{to},{port}:{vc}").unwrap();
    }
    text
}

/// Rules that say what MAR-bP does on minimal paths of a lattice: the first dimension first, the last one without
/// a condition.
fn rules_of_dimensions(simulation: &Simulation) -> String {
    let topology = simulation.topology();
    let lattice = topology.lattice().unwrap();
    let mut text = String::from(
        "router,destination,destination_mask,priority,condition,condition_port,ports\n",
    );
    for router in (0..topology.routers()).map(RouterId) {
        for host in (0..topology.hosts()).map(HostId) {
            let home = topology.router_of(host);
            if home == router {
                writeln!(text, "{router},{host},,0,,,{}", topology.port_of(host)).unwrap();
            }
            let coordinates =
                |dim| (lattice.coordinate(router, dim), lattice.coordinate(home, dim));
            let apart =
                (0..lattice.dims()).filter(|dim| coordinates(*dim).0 != coordinates(*dim).1);
            for (turn, dim) in apart.rev().enumerate() {
                let (from, to) = coordinates(dim);
                let port = lattice.port(dim, from, to, home.0 % lattice.trunk());
                let condition = if turn == 0 { ",".into() } else { format!("not-paused,{port}") };
                writeln!(text, "{router},{host},,{turn},{condition},{port}").unwrap();
            }
        }
    }
    text
}

/// Rules that say what MAR-bP does: where it takes detours, and up a fat tree.
fn rules_of_mar_bp(simulation: &Simulation) -> String {
    let topology = simulation.topology();
    let mut text =
        String::from("router,in_port,destination,source,priority,condition,condition_port,ports\n");
    for router in (0..topology.routers()).map(RouterId) {
        let mut ups = 0;
        for to in (0..topology.hosts()).map(HostId) {
            let home = topology.router_of(to);
            let (port, condition) = match topology.tree() {
                _ if home == router => (topology.port_of(to), false),
                Some(tree) if tree.is_below(to.0, router) => (tree.down(router, to.0), false),
                Some(tree) => {
                    ups = tree.ups(tree.level(router));
                    continue;
                }
                None => {
                    let far = topology.lattice().map_or_else(
                        || topology.domain(router) != topology.domain(home),
                        |lattice| lattice.coordinate(router, 0) != lattice.coordinate(home, 0),
                    );
                    (topology.next_hop(router, home).port, far)
                }
            };
            let condition = if condition { format!("not-paused,{port}") } else { ",".into() };
            writeln!(text, "{router},,{to},,1000,{condition},{port}").unwrap();
        }
        for (source, turn) in (0..topology.hosts()).flat_map(|s| (0..ups).map(move |t| (s, t))) {
            let tree = topology.tree().unwrap();
            let level = tree.level(router);
            let port = tree.up(level, (tree.share(level, source) + turn) % ups);
            writeln!(text, "{router},,,{source},{},not-paused,{port},{port}", 900 - turn).unwrap();
        }
        for host in 0..topology.hosts() / topology.routers() {
            let landing = match (topology.tree(), topology.lattice()) {
                (Some(_), _) => continue,
                (_, Some(lattice)) => {
                    let to = host % lattice.width(0);
                    let own = to == lattice.coordinate(router, 0);
                    (!own).then(|| lattice.moved(router, 0, to))
                }
                _ => {
                    // Where ports are spare, the next one that is in use.
                    let ports: Vec<_> = topology.global_ports(router).collect();
                    let own = ports.iter().cycle().skip(host as usize % ports.len());
                    own.take(ports.len()).find_map(|port| {
                        match topology.peer(router, PortId(*port)) {
                            Peer::Router { router, .. } => Some(router),
                            _ => None,
                        }
                    })
                }
            };
            if let Some(landing) = landing {
                let port = topology.next_hop(router, landing).port;
                writeln!(text, "{router},{host},,,1,,,{port}").unwrap();
            }
        }
    }
    text
}

/// A spec under pauses.
fn paused(mut spec: Spec, pattern: &str) -> Spec {
    for link in spec.network.links.values_mut() {
        (link.buffer, link.vcs) = (150.into(), 5.into());
    }
    spec.network.flow_control = value("{ pfc = { response = 0, frame = 4, xoff = 40, xon = 20 } }");
    spec.traffic.pattern = value(pattern);
    spec.traffic.load = 0.9;
    spec
}

/// MAR-bP, as conditional rules, in all networks that have alternatives: the same bytes, whatever is paused.
#[test]
fn conditional_rules_are_mar_bp() {
    let dragonfly = |text: &&str| {
        let mut spec = support::dragonfly(1, 2, 1);
        spec.network.topology = Topology::Dragonfly(value(text));
        spec
    };
    let lattices = LATTICES.map(support::lattice);
    let trees = SIXTEEN.iter().chain(&TREES).map(|text| support::network(text));
    let all = DRAGONFLIES.iter().map(dragonfly).chain(lattices).chain(trees);
    let (mut diverted, mut networks) = ([0; 3], [0; 3]);
    for spec in all {
        let topology = Simulation::build(&spec).unwrap().topology();
        let kind =
            if topology.tree().is_some() { 2 } else { usize::from(topology.lattice().is_some()) };
        if topology.groups() < 2 && kind == 0 {
            continue;
        }
        networks[kind] += 1;
        let pattern = ["{ adversarial = { offset = 1 } }", "{ permutation = { seed = 3 } }"];
        let spec = paused(spec, pattern[usize::from(kind > 0)]);
        diverted[kind] += usize::from(agrees(&spec, "{ mar_bp = {} }", kind < 2));
        if kind == 1 {
            agrees(&spec, "{ mar_bp = { alternatives = 'minimal' } }", false);
        }
    }
    let known = [DRAGONFLIES.len() + 1, LATTICES.len() + 1, TREES.len() + 2];
    assert_eq!(networks, known);
    assert!(diverted.iter().zip(networks).all(|(some, all)| 2 * some > all), "{diverted:?}");
}

/// A routing and its rules give the same bytes. Is anything paused?
fn agrees(spec: &Spec, routing: &str, detours: bool) -> bool {
    let mut spec = spec.clone();
    spec.routing = value(routing);
    let mut expected = support::run(&spec);
    let simulation = Simulation::build(&spec).unwrap();
    let count_hops = routing.contains("minimal");
    let rules = match count_hops {
        true => rules_of_dimensions(&simulation),
        false => rules_of_mar_bp(&simulation),
    };
    if !rules.contains("not-paused") {
        // A table without conditions has nothing to say of them.
        let used = expected.adaptation.take().unwrap();
        assert_eq!(used.counts["decided"], 0);
    }
    let rules = Some(rules);
    spec.routing = Routing::Table(TableSpec { rules, detours, count_hops, ..TableSpec::default() });
    let found = support::run(&spec);
    assert_eq!(found.adaptation, expected.adaptation, "{}", support::show(&spec));
    assert!(found == expected, "{}", support::show(&spec));
    expected.adaptation.is_some_and(|used| used.counts["diverted"] > 0)
}

#[test]
fn the_catalogue_has_a_table() {
    for routing in TABLE_ROUTINGS {
        let mut spec = support::network(TABLE_NETWORK);
        spec.routing = value(routing);
        assert!(support::run(&spec).packets.delivered > 0);
    }
}
