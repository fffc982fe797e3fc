//! HyperX, fat trees and graphs, queuing schemes and hot spots.

use deroute::Simulation;
use deroute::spec::{Spec, SpecError};
use toml::Table;

use super::{refusal, set};
use crate::support;

/// A lattice, the changes, the path of the error, and what its text contains.
type LatticeRow<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, &'a [&'a str]);

/// The error of building a HyperX with changes.
fn lattice_refusal(lattice: &str, changes: &[(&str, &str)]) -> SpecError {
    let mut table = Table::try_from(support::lattice(lattice)).unwrap();
    for (path, text) in changes {
        set(&mut table, path, Some(support::value(text)));
    }
    let spec: Spec = table.clone().try_into().unwrap_or_else(|e| panic!("{e}\n{table}"));
    match Simulation::build(&spec) {
        Ok(_) => panic!("accepted\n{table}"),
        Err(error) => error,
    }
}

const CUBE: &str = "{ widths = [4, 4, 4], hosts = 4 }";
const ODD: &str = "{ widths = [3, 3], hosts = 1 }";

const LATTICES: &[LatticeRow<'_>] = &[
    (CUBE, &[("network.topology.hyperx.widths", "[]")], "network.topology.hyperx.widths", &["0"]),
    (
        CUBE,
        &[("network.topology.hyperx.widths", "[4, 1]")],
        "network.topology.hyperx.widths[1]",
        &["1 routers", "2 to 256"],
    ),
    (CUBE, &[("network.topology.hyperx.hosts", "0")], "network.topology.hyperx.hosts", &["0"]),
    (CUBE, &[("network.topology.hyperx.trunk", "0")], "network.topology.hyperx.trunk", &["0"]),
    (
        CUBE,
        &[("network.topology.hyperx.widths", "[256, 256, 256]")],
        "network.topology.hyperx.widths",
        &["too many", "16777216"],
    ),
    (
        CUBE,
        &[("network.topology.hyperx.hosts", "1024")],
        "network.topology.hyperx.hosts",
        &["1033 ports", "1024"],
    ),
    (
        CUBE,
        &[
            ("network.topology.hyperx.widths", "[64, 64, 64]"),
            ("network.topology.hyperx.hosts", "1"),
            ("network.topology.hyperx.trunk", "2"),
        ],
        "network.topology",
        &["99352576 ports", "67108863"],
    ),
    (
        CUBE,
        &[("network.links.dim2.vcs", "1"), ("routing", "{ dimwar = {} }")],
        "network.links.dim2.vcs",
        &["needs 2", "2 to 64"],
    ),
    (
        CUBE,
        &[("routing", "{ omniwar = { deroutes = 7 } }")],
        "network.links.dim1.vcs",
        &["needs 10", "N + M"],
    ),
    (
        CUBE,
        &[("routing", "{ omniwar = { deroutes = 62 } }")],
        "routing.omniwar.deroutes",
        &["too many hops", "0 to 61"],
    ),
    (
        CUBE,
        &[("routing", "{ valiant = { phase_a = 'lg-' } }")],
        "routing.valiant.phase_a",
        &["`lg-` has no meaning", "lgl", "-gl"],
    ),
    (
        CUBE,
        &[("routing", "{ dal = {} }"), ("network.links.dim3.vcs", "1")],
        "network.links.dim3.vcs",
        &["needs 2", "escape"],
    ),
    (
        CUBE,
        &[("routing", "{ dal = {} }"), ("network.links.dim2.shared", "8")],
        "network.links.dim2.shared",
        &["an empty VC for itself", "a larger `buffer`"],
    ),
    (
        "{ widths = [2, 2, 2, 2, 2], hosts = 1 }",
        &[("routing", "{ o1turn = { orders = 'all' } }")],
        "routing.o1turn.orders",
        &["120 orders", "two"],
    ),
    (
        CUBE,
        &[("routing", "{ piggyback = {} }"), ("network.sensing", "'waiting'")],
        "network.sensing",
        &["told when a queue changes", "both, output, downstream"],
    ),
    (CUBE, &[("routing", "{ lian = {} }")], "routing.lian", &["no groups"]),
    (
        CUBE,
        &[("traffic.pattern", "{ complement = { dimension = 4 } }")],
        "traffic.pattern.complement.dimension",
        &["no dimension 4", "1 to 3"],
    ),
    (ODD, &[("traffic.pattern", "'bit_complement'")], "traffic.pattern", &["itself", "even"]),
    (ODD, &[("traffic.pattern", "'swap2'")], "traffic.pattern", &["themselves", "even"]),
    (
        "{ widths = [4, 2], hosts = 1 }",
        &[("traffic.pattern", "'dimension_complement_reverse_fixed'")],
        "traffic.pattern",
        &["dimensions 1 and 2 have different widths", "equal widths"],
    ),
    (
        "{ widths = [4], hosts = 2 }",
        &[("traffic.pattern", "'swap2_shift'")],
        "traffic.pattern",
        &["one dimension is too few", "two dimensions"],
    ),
];

#[test]
fn lattices() {
    for (lattice, changes, path, fragments) in LATTICES {
        let error = lattice_refusal(lattice, changes);
        assert_eq!(error.path, *path, "{changes:?}: {error}");
        for fragment in *fragments {
            let text = error.to_string();
            assert!(text.contains(fragment), "{changes:?}: {fragment:?} is not in {text:?}");
        }
    }
    for name in ["dimwar", "omniwar", "min_ad", "o1turn", "clos_ad", "dal"] {
        let error = refusal(&[("routing", &format!("{{ {name} = {{}} }}"))]);
        assert_eq!(error.path, format!("routing.{name}"));
    }
    let error = refusal(&[("traffic.pattern", "'dimension_complement_reverse'")]);
    assert_eq!(error.path, "traffic.pattern");
}

const TREE: &str = "{ rlft = { ports = 4, stages = 3 } }";
const PAIR: &str = "{ graph = { hosts = 1, edges = [[0, 1]] } }";
const CHAIN: &str = "{ graph = { hosts = 1, edges = [[0, 1], [1, 2], [2, 3]] } }";

/// A topology, a path and a value to break it with, the path of the error, and what its text contains.
type NetworkRow<'a> = (&'a str, &'a str, &'a str, &'a str, &'a [&'a str]);

const NETWORKS: &[NetworkRow<'_>] = &[
    (TREE, "network.topology.rlft.ports", "7", "network.topology.rlft.ports", &["half", "even"]),
    (TREE, "network.topology.rlft.stages", "9", "network.topology.rlft.stages", &["1 to 8"]),
    (TREE, "routing", "{ valiant = {} }", "routing.valiant", &["intermediate"]),
    (TREE, "routing", "{ lian = {} }", "routing.lian", &["intermediate"]),
    (
        TREE,
        "routing",
        "{ up_adaptive = { delta = 3 } }",
        "routing.up_adaptive.delta",
        &["2 of a switch", "1 to 2"],
    ),
    (
        TREE,
        "routing",
        "{ up_adaptive = { stages = [1, 3] } }",
        "routing.up_adaptive.stages[1]",
        &["level 3", "1 to 2"],
    ),
    (
        TREE,
        "routing",
        "{ up_adaptive = { trigger = '2TH', low = 0.6 } }",
        "routing.up_adaptive.high",
        &["0.5", "0.6 to 1.0"],
    ),
    (TREE, "routing", "{ up_adaptive = { low = 2.0 } }", "routing.up_adaptive.low", &["0.0 to"]),
    (
        TREE,
        "network.queuing",
        "{ dbbm = { queues = 10 } }",
        "network.links.level1.vcs",
        &["9 is too few", "10 classes"],
    ),
    (TREE, "network.queuing", "{ dbbm = { queues = 0 } }", "network.queuing.dbbm.queues", &["64"]),
    (
        TREE,
        "network.queuing",
        "{ blocks = { block = 0 } }",
        "network.queuing.blocks.block",
        &["1 or more"],
    ),
    (
        TREE,
        "network.queuing",
        "{ voqnet = {} }",
        "network.links.level1.vcs",
        &["9 is too few", "16 classes"],
    ),
    (
        "{ crossbar = { hosts = 65 } }",
        "network.queuing",
        "{ voqnet = {} }",
        "network.queuing.voqnet",
        &["each of 65 hosts", "at most 64 hosts"],
    ),
    (
        TREE,
        "traffic.hotspots",
        "[{ destinations = { any = [16] } }]",
        "traffic.hotspots[0].destinations.any[0]",
        &["no host 16", "0 to 15"],
    ),
    (
        TREE,
        "traffic.hotspots",
        "[{ destinations = { each = [] } }]",
        "traffic.hotspots[0].destinations.each",
        &["empty"],
    ),
    (
        TREE,
        "traffic.hotspots",
        "[{ destinations = { any = [1] }, share = 0.0 }]",
        "traffic.hotspots[0].share",
        &["no share"],
    ),
    (
        TREE,
        "traffic.hotspots",
        "[{ destinations = { any = [1] }, start = 5, stop = 5 }]",
        "traffic.hotspots[0].stop",
        &["before it begins"],
    ),
    (
        TREE,
        "traffic.hotspots",
        "[{ destinations = { up_ports = { stage = 3 } } }]",
        "traffic.hotspots[0].destinations.up_ports.stage",
        &["level 3", "1 to 2"],
    ),
    (
        TREE,
        "traffic.hotspots",
        "[{ destinations = { scattered = 5 } }]",
        "traffic.hotspots[0].destinations.scattered",
        &["1 to 4"],
    ),
    (
        "{ fat_tree = { children = [2, 2], parents = [1, 2] } }",
        "network.topology.fat_tree.parents",
        "[2, 2]",
        "network.topology.fat_tree.parents[0]",
        &["links of a host"],
    ),
    (
        "{ fat_tree = { children = [2, 2], parents = [1, 2] } }",
        "network.topology.fat_tree.parallel",
        "[1, 1, 1]",
        "network.topology.fat_tree.parallel",
        &["3 levels, but 2"],
    ),
    (
        "{ folded_clos = { ports = 4, levels = 2 } }",
        "network.topology.folded_clos.groups",
        "5",
        "network.topology.folded_clos.groups",
        &["1 to 4"],
    ),
    (
        PAIR,
        "network.topology.graph.edges",
        "[[0, 1], [2, 3]]",
        "network.topology.graph.edges",
        &["no path"],
    ),
    (
        PAIR,
        "network.topology.graph.edges",
        "[[0, 0], [0, 1]]",
        "network.topology.graph.edges[0]",
        &["itself"],
    ),
    (
        PAIR,
        "network.topology.graph.hosts",
        "[3]",
        "network.topology.graph.hosts",
        &["1 numbers for 2 routers"],
    ),
    (
        PAIR,
        "network.topology.graph.file",
        "'net.csv'",
        "network.topology.graph.file",
        &["reads no files"],
    ),
    (CHAIN, "network.links.link.vcs", "2", "network.links.link.vcs", &["needs 3", "each hop"]),
    (PAIR, "routing", "{ mod_k = {} }", "routing.mod_k", &["no fat tree", "network.topology.rlft"]),
];

#[test]
fn trees_graphs_queues_and_hot_spots() {
    for (topology, path, text, place, fragments) in NETWORKS {
        let mut table = Table::try_from(support::network(topology)).unwrap();
        set(&mut table, path, Some(support::value(text)));
        let spec: Spec = table.clone().try_into().unwrap_or_else(|e| panic!("{e}\n{table}"));
        let Err(error) = Simulation::build(&spec) else { panic!("accepted\n{table}") };
        assert_eq!(error.path, *place, "{error}");
        for fragment in *fragments {
            let text = error.to_string();
            assert!(text.contains(fragment), "{fragment:?} is not in {text:?}");
        }
    }
}
