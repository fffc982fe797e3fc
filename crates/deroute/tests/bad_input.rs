//! What is wrong with a spec is said with its path, the value found, and what would be accepted.

mod support;

use deroute::Simulation;
use deroute::spec::{Spec, SpecError};
use toml::{Table, Value};

/// A spec that is accepted, as a table to break.
fn good() -> Table {
    Table::try_from(support::dragonfly(2, 4, 2)).unwrap()
}

/// Replaces what is at a dotted path; `None` removes it. Missing tables are made.
fn set(table: &mut Table, path: &str, value: Option<Value>) {
    match path.split_once('.') {
        None => match value {
            Some(value) => drop(table.insert(path.into(), value)),
            None => drop(table.remove(path)),
        },
        Some((head, rest)) => {
            let inner = table.entry(head).or_insert_with(|| Value::Table(Table::new()));
            set(inner.as_table_mut().unwrap(), rest, value);
        }
    }
}

/// The good spec with changes, each `path = value`; a value of `-` removes the key.
fn changed(changes: &[(&str, &str)]) -> Table {
    let mut table = good();
    for (path, text) in changes {
        let value = (*text != "-").then(|| support::value(text));
        set(&mut table, path, value);
    }
    table
}

/// The error of building a spec that parses.
fn refusal(changes: &[(&str, &str)]) -> SpecError {
    let table = changed(changes);
    let spec: Spec = table.clone().try_into().unwrap_or_else(|e| panic!("{e}\n{table}"));
    match Simulation::build(&spec) {
        Ok(_) => panic!("accepted\n{table}"),
        Err(error) => error,
    }
}

/// One row: the changes, the path of the error, and what its text contains.
type Row<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a [&'a str]);
type LatticeRow<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, &'a [&'a str]);

fn check(rows: &[Row<'_>]) {
    for (changes, path, fragments) in rows {
        let error = refusal(changes);
        assert_eq!(error.path, *path, "{changes:?}: {error}");
        let text = error.to_string();
        assert!(text.starts_with(path) && !text.contains('\n'), "{text}");
        for fragment in *fragments {
            assert!(text.contains(fragment), "{changes:?}: {fragment:?} is not in {text:?}");
        }
    }
}

#[test]
fn the_good_spec_is_good() {
    let spec: Spec = good().try_into().unwrap();
    assert!(Simulation::build(&spec).is_ok());
}

#[test]
fn impossible_geometry() {
    const FLY: &str = "network.topology.dragonfly";
    let at = |key: &str| format!("{FLY}.{key}");
    let (p, a, h) = (at("p"), at("a"), at("h"));
    let (groups, trunk) = (at("groups"), at("trunk"));
    check(&[
        (
            &[(&p, "6"), (&a, "12"), (&h, "6"), (&groups, "74")],
            &groups,
            &["74 is more than a*h+1 = 73", "2 to 73"],
        ),
        (&[(&groups, "1")], &groups, &["1 group", "2 to 9"]),
        (&[(&groups, "0")], &groups, &["0 group", "2 to 9"]),
        (&[(&trunk, "2"), (&groups, "6")], &groups, &["6", "a*h/trunk+1 = 5", "2 to 5"]),
        (&[(&trunk, "9")], &trunk, &["9", "a*h = 8", "1 to 8"]),
        (&[(&trunk, "0")], &trunk, &["0 is out of range", "1 to"]),
        (&[(&p, "0")], &p, &["0 is out of range", "1 to 1024"]),
        (&[(&a, "4294967295")], &a, &["4294967295", "1 to 1024"]),
        (&[(&h, "0")], &h, &["0 is out of range"]),
        (&[(&p, "1024"), (&a, "1024"), (&h, "1024")], &p, &["hosts", "at most"]),
        (
            &[("network.topology", "{ crossbar = { hosts = 0 } }"), ("network.links", "{}")],
            "network.topology.crossbar.hosts",
            &["0 hosts", "1 to 65535"],
        ),
    ]);
}

#[test]
fn links_and_virtual_channels() {
    let rows: &[Row<'_>] = &[
        (
            &[("network.links.local.vcs", "1")],
            "network.links.local.vcs",
            &["1 is too few", "needs 2", "l1 g1 l2", "2 to 64"],
        ),
        (
            &[("routing", "{ valiant = {} }"), ("network.links.local.vcs", "3")],
            "network.links.local.vcs",
            &["3 is too few", "needs 4", "l1 g1 l2 - l3 g2 l4", "4 to 64"],
        ),
        (
            &[("routing", "{ piggyback = {} }"), ("network.links.global.vcs", "1")],
            "network.links.global.vcs",
            &["1 is too few", "needs 2", "2 to 64"],
        ),
        (&[("network.links.local.vcs", "0")], "network.links.local.vcs", &["0", "1 to 64"]),
        (&[("network.links.local.vcs", "65")], "network.links.local.vcs", &["65", "1 to 64"]),
        (
            &[("network.links.local.buffer", "3")],
            "network.links.local.buffer",
            &["3 phits cannot hold a packet of 4 phits", "at least 4"],
        ),
        (
            &[
                ("network.links.local", "{ latency = 1, vcs = 64, buffer = 1073741823 }"),
                ("network.switch", "{ input_queued = {} }"),
            ],
            "network.links.local.buffer",
            &["64 VCs of 1073741823 phits", "at most 524288 phits"],
        ),
        (&[("network.links.local", "-")], "network.links.local", &["missing", "latency"]),
        (
            &[("network.links.optical", "{ latency = 1, vcs = 1, buffer = 9 }")],
            "network.links.optical",
            &["no link class \"optical\"", "local, global"],
        ),
        (
            &[("network.links.global.latency", "0")],
            "network.links.global.latency",
            &["0 cycles", "1 to"],
        ),
        (
            &[("network.links.global.latency", "'15 KB'")],
            "network.links.global.latency",
            &["\"15 KB\"", "ns", "m of cable"],
        ),
        (
            &[("network.links.global.latency", "'0.5 ns'")],
            "network.links.global.latency",
            &["\"0.5 ns\" is 0.5 cycles", "not a whole number"],
        ),
        (
            &[("network.links.global.buffer", "'9 ns'")],
            "network.links.global.buffer",
            &["\"9 ns\"", "KB"],
        ),
    ];
    check(rows);
}

#[test]
fn switches_and_interfaces() {
    let rows: &[Row<'_>] = &[
        (
            &[("network.switch.combined_queued.output_buffer", "3")],
            "network.switch.combined_queued.output_buffer",
            &["3 phits", "packet of 4 phits"],
        ),
        (
            &[("network.switch", "{ output_queued = { output_buffer = 2 } }")],
            "network.switch.output_queued.output_buffer",
            &["2 phits", "packet of 4 phits"],
        ),
        (
            &[("network.switch.combined_queued.speedup", "0")],
            "network.switch.combined_queued.speedup",
            &["0", "1 to 64"],
        ),
        (
            &[("network.switch.combined_queued.allocator.iterations", "17")],
            "network.switch.combined_queued.allocator.iterations",
            &["17", "1 to 16"],
        ),
        (
            &[("network.switch", "{ input_queued = { pipeline = 99999999 } }")],
            "network.switch.input_queued.pipeline",
            &["99999999 cycles", "0 to"],
        ),
        (
            &[("network.nic.injection_queue", "3")],
            "network.nic.injection_queue",
            &["3 phits", "packet of 4 phits"],
        ),
        (&[("network.nic.latency", "'3 B'")], "network.nic.latency", &["\"3 B\"", "cycles"]),
        (
            &[
                ("routing", "{ ugal = {} }"),
                ("network.topology", "{ crossbar = { hosts = 4 } }"),
                ("network.links", "{}"),
                ("traffic.pattern", "'uniform'"),
            ],
            "routing.ugal",
            &["no intermediate routers", "routing.minimal"],
        ),
    ];
    check(rows);
}

#[test]
fn traffic() {
    let rows: &[Row<'_>] = &[
        (&[("traffic.load", "1.01")], "traffic.load", &["1.01", "0.0 to 1.0"]),
        (&[("traffic.load", "-0.5")], "traffic.load", &["-0.5", "0.0 to 1.0"]),
        (&[("traffic.load", "nan")], "traffic.load", &["NaN", "0.0 to 1.0"]),
        (&[("traffic.packet_size", "0")], "traffic.packet_size", &["0 phits", "1 to 65535"]),
        (&[("traffic.packet_size", "70000")], "traffic.packet_size", &["70000", "1 to 65535"]),
        (
            &[("traffic.packet_size", "{ min = 4, max = 2 }")],
            "traffic.packet_size.max",
            &["2 phits", "min = 4"],
        ),
        (
            &[("traffic.packet_size", "[{ size = 2, weight = 0 }]")],
            "traffic.packet_size[0].weight",
            &["0", "at least 1"],
        ),
        (&[("traffic.packet_size", "[]")], "traffic.packet_size", &["empty"]),
        (
            &[("traffic.pattern", "{ adversarial = { offset = 9 } }")],
            "traffic.pattern.adversarial.offset",
            &["9", "1 to 8"],
        ),
        (
            &[("traffic.pattern", "{ adversarial_consecutive = { groups = 9 } }")],
            "traffic.pattern.adversarial_consecutive.groups",
            &["9", "1 to 8"],
        ),
        (
            &[("traffic.pattern", "{ mix = [{ weight = 1, pattern = { mix = [] } }] }")],
            "traffic.pattern.mix[0].pattern",
            &["mix within a mix"],
        ),
        (&[("traffic.pattern", "{ mix = [] }")], "traffic.pattern.mix", &["empty"]),
        (
            &[("traffic.injection", "{ on_off = { burst = 0.5 } }")],
            "traffic.injection.on_off.burst",
            &["0.5", "1.0 to"],
        ),
        (
            &[("traffic.injection", "{ on_off = { burst = 2.0, peak = 0.1 } }")],
            "traffic.injection.on_off.peak",
            &["0.1", "0.3 to 1.0"],
        ),
        (
            &[("traffic.then", "[{ at = 9, load = 2.0 }]")],
            "traffic.then[0].load",
            &["2", "0.0 to 1.0"],
        ),
        (
            &[("traffic.then", "[{ at = 9 }, { at = 8 }]")],
            "traffic.then[1].at",
            &["8", "before the previous change"],
        ),
        (
            &[("traffic.then", "[{ at = 9 }]"), ("run.warmup", "{ interval = 100 }")],
            "traffic.then[0]",
            &["warm-up of fixed length", "run.warmup"],
        ),
        (
            &[
                ("network.topology", "{ crossbar = { hosts = 4 } }"),
                ("network.links", "{}"),
                ("traffic.pattern", "'adversarial_local'"),
            ],
            "traffic.pattern",
            &["no second router", "uniform"],
        ),
    ];
    check(rows);
}

#[test]
fn traffic_counters() {
    let rows: &[Row<'_>] = &[
        (
            &[("routing", "{ tpr = { ugal = { threshold = 8 } } }")],
            "routing.tpr.ugal.threshold",
            &["8 has no effect", "thresholds", "0"],
        ),
        (
            &[("routing", "{ tpr = { window = 0 } }")],
            "routing.tpr.window",
            &["0 cycles", "1 to 4294967295 cycles"],
        ),
        (
            &[("routing", "{ lian = { window = '7 phits' } }")],
            "routing.lian.window",
            &["\"7 phits\"", "ns"],
        ),
        (
            &[("routing", "{ lian = { low = 6 } }")],
            "routing.lian.low",
            &["6 is more than high = 5", "0 to 5"],
        ),
        (
            &[("routing", "{ tpr = { stored_percent = 1001 } }")],
            "routing.tpr.stored_percent",
            &["1001", "0 to 1000"],
        ),
        (
            &[
                ("network.topology", "{ crossbar = { hosts = 4 } }"),
                ("network.links", "{}"),
                ("routing", "{ lian = {} }"),
            ],
            "routing.lian",
            &["no intermediate routers", "routing.minimal"],
        ),
    ];
    check(rows);
}

#[test]
fn durations_and_units() {
    let rows: &[Row<'_>] = &[
        (&[("run.measure", "0")], "run.measure", &["0 cycles", "1 to"]),
        (&[("run.measure", "4294967296")], "run.measure", &["4294967296", "1 to"]),
        (&[("run.warmup", "'7 phits'")], "run.warmup", &["\"7 phits\"", "ns"]),
        (&[("run.warmup", "{ interval = 0 }")], "run.warmup.interval", &["0 cycles", "1 to"]),
        (
            &[("run.warmup", "{ rule = 'stops-growing', window = 4 }")],
            "run.warmup.window",
            &["4 observations", "5 to 1000"],
        ),
        (&[("probes.series", "0")], "probes.series", &["0 cycles", "1 to"]),
        (&[("probes.agents.every", "100")], "probes.agents", &["no state"]),
        (
            &[
                ("probes.agents", "{ every = 100, domain = 9 }"),
                ("routing", "{ valiant = { phase_a = { acor = {} } } }"),
            ],
            "probes.agents.domain",
            &["no domain 9", "0 to 8"],
        ),
        (
            &[
                ("probes.agents.every", "1"),
                ("run.measure", "100000000"),
                ("routing", "{ valiant = { phase_a = { acor = {} } } }"),
            ],
            "probes.agents.every",
            &["too many", "60 cycles or more"],
        ),
        (
            &[("routing", "{ ugal = { phase_a = { acor = { interval = 0 } } } }")],
            "routing.ugal.phase_a.acor.interval",
            &["0 is 0 cycles", "1 to"],
        ),
        (&[("probes.series_before", "9")], "probes.series_before", &["no series", "probes.series"]),
        (
            &[("probes.series", "10"), ("probes.series_before", "501")],
            "probes.series_before",
            &["501", "0 to 500"],
        ),
        (&[("checks.watchdog", "0")], "checks.watchdog", &["0 cycles", "1 to"]),
        (&[("units.cycle", "'1 B'")], "units.cycle", &["\"1 B\"", "1 ns"]),
        (&[("units.phit", "'0 B'")], "units.phit", &["\"0 B\"", "25 B"]),
    ];
    check(rows);
}

/// Errors of form are found by the parser, which names the line, the key and the choices.
#[test]
fn wrong_form() {
    for (path, text, fragments) in [
        ("network.topology.dragonfly.q", "1", &["unknown field `q`", "`p`", "`trunk`"][..]),
        ("traffic.lod", "0.5", &["unknown field `lod`", "`load`"]),
        ("traffic.pattern", "'unifrom'", &["unknown variant `unifrom`", "`uniform`"]),
        ("routing", "{ valiant = { phase_a = 'gl' } }", &["`gl`", "`-gl`", "`lgl`"]),
        ("routing", "{ minimum = {} }", &["unknown variant `minimum`", "`minimal`"]),
        ("network.topology.dragonfly.p", "-1", &["-1", "u32"]),
        ("network.topology.dragonfly.p", "2.5", &["2.5", "u32"]),
        ("network.links.local.vcs", "256", &["256", "u8"]),
        ("network.links.local.latency", "1.5", &["whole number", "15 ns"]),
        ("traffic.packet_size", "-4", &["expected a size", "weight"]),
        ("traffic.load", "'half'", &["\"half\"", "f64"]),
        ("run.warmup", "{ interval = 1, until = 2 }", &["expected a duration", "interval"]),
        ("network.switch", "-", &["missing field `switch`"]),
    ] {
        let written = toml::to_string(&changed(&[(path, text)])).unwrap();
        let error = toml::from_str::<Spec>(&written).unwrap_err().to_string();
        for fragment in fragments {
            assert!(error.contains(fragment), "{path}: {fragment:?} is not in\n{error}");
        }
        let key = path.rsplit('.').next().unwrap();
        let line = error.lines().next().unwrap();
        assert!(line.contains("line"), "{key}: no line number in\n{error}");
    }
}

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

#[test]
fn lattices() {
    const CUBE: &str = "{ widths = [4, 4, 4], hosts = 4 }";
    const ODD: &str = "{ widths = [3, 3], hosts = 1 }";
    let rows: [LatticeRow<'_>; 17] = [
        (
            CUBE,
            &[("network.topology.hyperx.widths", "[]")],
            "network.topology.hyperx.widths",
            &["0"],
        ),
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
    ];
    for (lattice, changes, path, fragments) in rows {
        let error = lattice_refusal(lattice, changes);
        assert_eq!(error.path, path, "{changes:?}: {error}");
        for fragment in fragments {
            let text = error.to_string();
            assert!(text.contains(fragment), "{changes:?}: {fragment:?} is not in {text:?}");
        }
    }
    for name in ["dimwar", "omniwar", "min_ad", "o1turn", "clos_ad", "dal"] {
        let error = refusal(&[("routing", &format!("{{ {name} = {{}} }}"))]);
        assert_eq!(error.path, format!("routing.{name}"));
    }
    let error = refusal(&[("traffic.pattern", "'bit_complement'")]);
    assert_eq!(error.path, "traffic.pattern");
}

#[test]
fn trees_graphs_queues_and_hot_spots() {
    const TREE: &str = "{ rlft = { ports = 4, stages = 3 } }";
    let graph = |text: &str| format!("{{ graph = {text} }}");
    let rows: &[(&str, &str, &str, &str, &[&str])] = &[
        (
            TREE,
            "network.topology.rlft.ports",
            "7",
            "network.topology.rlft.ports",
            &["half", "even"],
        ),
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
        (
            TREE,
            "routing",
            "{ up_adaptive = { low = 2.0 } }",
            "routing.up_adaptive.low",
            &["0.0 to"],
        ),
        (
            TREE,
            "network.queuing",
            "{ dbbm = { queues = 10 } }",
            "network.links.level1.vcs",
            &["9 is too few", "10 classes"],
        ),
        (
            TREE,
            "network.queuing",
            "{ dbbm = { queues = 0 } }",
            "network.queuing.dbbm.queues",
            &["64"],
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
            &graph("{ hosts = 1, edges = [[0, 1]] }"),
            "network.topology.graph.edges",
            "[[0, 1], [2, 3]]",
            "network.topology.graph.edges",
            &["no path"],
        ),
        (
            &graph("{ hosts = 1, edges = [[0, 1]] }"),
            "network.topology.graph.edges",
            "[[0, 0], [0, 1]]",
            "network.topology.graph.edges[0]",
            &["itself"],
        ),
        (
            &graph("{ hosts = 1, edges = [[0, 1]] }"),
            "network.topology.graph.hosts",
            "[3]",
            "network.topology.graph.hosts",
            &["1 numbers for 2 routers"],
        ),
        (
            &graph("{ hosts = 1, edges = [[0, 1]] }"),
            "network.topology.graph.file",
            "'net.csv'",
            "network.topology.graph.file",
            &["reads no files"],
        ),
        (
            &graph("{ hosts = 1, edges = [[0, 1], [1, 2], [2, 3]] }"),
            "network.links.link.vcs",
            "2",
            "network.links.link.vcs",
            &["needs 3", "each hop"],
        ),
        (
            &graph("{ hosts = 1, edges = [[0, 1]] }"),
            "routing",
            "{ mod_k = {} }",
            "routing.mod_k",
            &["no fat tree", "network.topology.rlft"],
        ),
    ];
    for (topology, path, text, place, fragments) in rows {
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

/// A workload with one job of 8 ranks, with changes.
fn with_job(changes: &[(&str, &str)]) -> Vec<(String, String)> {
    let job = [("ranks", "8"), ("steps", "[{ dissemination = { size = 1 } }]")];
    let mut table = Table::new();
    for (key, text) in job.iter().chain(changes) {
        set(&mut table, key, (*text != "-").then(|| support::value(text)));
    }
    let jobs = Value::Array(vec![Value::Table(table)]).to_string();
    let keys = ["traffic", "run", "workload.packet_size", "workload.jobs"];
    let texts = ["-", "-", "4", jobs.as_str()];
    keys.into_iter().zip(texts).map(|(key, text)| (key.to_owned(), text.to_owned())).collect()
}

/// The refusal of a spec with such a job, and with further changes of the spec.
fn job_refusal(job: &[(&str, &str)], changes: &[(&str, &str)]) -> SpecError {
    let base = with_job(job);
    let all: Vec<(&str, &str)> = base.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    refusal(&[&all[..], changes].concat())
}

#[test]
fn neither_traffic_nor_a_workload() {
    let error = refusal(&[("traffic", "-")]);
    assert_eq!((error.path.as_str(), error.message.as_str()), ("traffic", "is missing"));
    assert!(error.to_string().contains("workload"), "{error}");
}

#[test]
fn workloads() {
    const JOB: &str = "workload.jobs[0]";
    type Row<'a> = (&'a [(&'a str, &'a str)], &'a [(&'a str, &'a str)], &'a str, &'a str);
    let rows: &[Row<'_>] = &[
        (&[], &[("workload.packet_size", "0")], "workload.packet_size", "1 to 65535 phits"),
        (
            &[],
            &[("workload.packet_size", "25")],
            "network.links.local.buffer",
            "a packet of 25 phits",
        ),
        (&[], &[("workload.limit", "0")], "workload.limit", "at least 1 cycle"),
        (&[], &[("workload.limit", "'9 KB'")], "workload.limit", "\"9 KB\""),
        (&[], &[("workload.jobs", "[]")], "workload.jobs", "is empty"),
        (&[], &[("run.measure", "500")], "run.measure", "first cycle to its end"),
        (&[], &[("run.warmup", "500")], "run.warmup", "first cycle to its end"),
        (&[("ranks", "0")], &[], "ranks", "1 to 72"),
        (&[("ranks", "73")], &[], "ranks", "73 ranks need a host each, and 72 of 72 are left"),
        (&[("iterations", "0")], &[], "iterations", "1 to 1048576"),
        (&[("steps", "[]")], &[], "steps", "does nothing"),
        (&[("name", "'a b'")], &[], "name", "letters, digits"),
        (&[("start", "'1 B'")], &[], "start", "\"1 B\""),
        (&[("placement", "{ hosts = [1, 2] }")], &[], "placement.hosts", "2 hosts for 8 ranks"),
        (
            &[("placement", "{ hosts = [1, 2, 3, 4, 5, 6, 7, 72] }")],
            &[],
            "placement.hosts[7]",
            "no host 72 (allowed: 0 to 71)",
        ),
        (
            &[("placement", "{ hosts = [1, 2, 3, 4, 5, 6, 7, 2] }")],
            &[],
            "placement.hosts[7]",
            "host 2 has a rank already",
        ),
        (&[("placement", "{ file = 'a.txt' }")], &[], "placement.file", "reads no files"),
        (
            &[("placement", "{ blocked = { block = [2] } }")],
            &[],
            "placement.blocked.block",
            "no stencil",
        ),
        (
            &[
                ("placement", "{ blocked = { block = [3, 1] } }"),
                ("steps", "[{ stencil = { shape = [4, 2], messages = { equal = 9 } } }]"),
            ],
            &[],
            "placement.blocked.block",
            "[3, 1] does not divide the shape [4, 2]",
        ),
    ];
    for (job, changes, path, text) in rows {
        let error = job_refusal(job, changes);
        let path = if changes.is_empty() { format!("{JOB}.{path}") } else { (*path).to_owned() };
        assert_eq!(error.path, path, "{error}");
        assert!(error.to_string().contains(text), "{text:?} is not in {error}");
    }
}

#[test]
fn steps_of_programs() {
    let rows = [
        ("{ stencil = { shape = [3, 3], messages = { equal = 9 } } }", "stencil.shape", "8 ranks"),
        ("{ stencil = { shape = [], messages = { equal = 9 } } }", "stencil.shape", "1 to 3"),
        (
            "{ stencil = { shape = [8], messages = { equal = 0 } } }",
            "stencil.messages.equal",
            "0 phits",
        ),
        (
            "{ stencil = { shape = [8], messages = { weighted = \
             { total = 9, face = 0, edge = 1, corner = 1 } } } }",
            "stencil.messages.weighted.face",
            "at least 1",
        ),
        ("{ ring = { size = '3 ns' } }", "ring.size", "\"3 ns\""),
        ("{ ring = { size = 1073741824 } }", "ring.size", "1 to 1073741823"),
        ("{ bruck = { size = 1073741823 } }", "bruck.size", "too long"),
        ("{ broadcast = { size = 1, root = 8 } }", "broadcast.root", "0 to 7"),
        ("{ reduce = { size = 1, root = 9 } }", "reduce.root", "no rank 9"),
        ("{ compute = '3 B' }", "compute", "\"3 B\""),
        ("{ exchange = {} }", "exchange.messages", "exchanges nothing"),
        ("{ exchange = { file = 'm.txt' } }", "exchange.file", "reads no files"),
        ("{ exchange = { messages = [[0, 8, 1]] } }", "exchange.messages[0][1]", "no rank 8"),
        ("{ exchange = { messages = [[0, 1, 1], [3, 3, 1]] } }", "exchange.messages[1]", "itself"),
    ];
    for (step, path, text) in rows {
        let step = step.replace("\\\n", "");
        let steps = format!("[{{ compute = 1 }}, {step}]");
        let error = job_refusal(&[("steps", &steps)], &[]);
        assert_eq!(error.path, format!("workload.jobs[0].steps[1].{path}"), "{error}");
        assert!(error.to_string().contains(text), "{text:?} is not in {error}");
    }
}

#[test]
fn jobs_beside_each_other() {
    let two = |second: &str| {
        let jobs = format!(
            "[{{ name = 'a', ranks = 70, steps = [{{ compute = 1 }}] }}, {{ {second}, \
             steps = [{{ compute = 1 }}] }}]"
        );
        let changes = [("traffic", "-"), ("run", "-"), ("workload.packet_size", "4")];
        refusal(&[&changes[..], &[("workload.jobs", jobs.as_str())]].concat())
    };
    let error = two("ranks = 3");
    assert_eq!(error.path, "workload.jobs[1].ranks");
    assert!(error.to_string().contains("2 of 72 are left (allowed: 1 to 2)"), "{error}");
    let error = two("name = 'a', ranks = 1");
    assert_eq!(error.path, "workload.jobs[1].name");
    let error = two("ranks = 1, placement = { hosts = [69] }");
    assert_eq!(error.path, "workload.jobs[1].placement.hosts[0]");
}
