//! What is wrong with a spec is said with its path, the value found, and what would be accepted.

mod adaptive;
mod ethernet;
mod fabrics;
mod networks;
mod probes;
mod qcn;
mod round_trips;
mod streams;
mod workloads;

use deroute::Simulation;
use deroute::spec::{Spec, SpecError};
use toml::{Table, Value};

use crate::support;

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
            &[(&p, "1"), (&a, "1024"), (&h, "1024"), (&groups, "8192")],
            &h,
            &["8589934592 global ports", "at most 8"],
        ),
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
            &["64 VCs with 68719476672 phits", "at most 524288 phits"],
        ),
        (
            &[("network.links.local", "{ latency = 1, vcs = 4, buffer = 3, shared = 90 }")],
            "network.links.local.buffer",
            &["3 phits cannot hold a packet of 4 phits", "at least 4"],
        ),
        (
            &[("network.links.local", "{ latency = 1, vcs = 4, buffer = 9, shared = 0 }")],
            "network.links.local.shared",
            &["0 phits is out of range", "1 to"],
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
fn switches() {
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
    ];
    check(rows);
}

#[test]
fn virtual_output_queues_and_interfaces() {
    let rows: &[Row<'_>] = &[
        (
            &[("network.switch", "{ virtual_output_queued = { iterations = 0 } }")],
            "network.switch.virtual_output_queued.iterations",
            &["0 rounds", "1 to 16"],
        ),
        (
            &[
                ("network.switch", "{ virtual_output_queued = {} }"),
                ("routing", "{ ugal = { redecide = true } }"),
            ],
            "network.switch.virtual_output_queued",
            &["decides again", "input_queued"],
        ),
        (
            &[
                ("network.switch", "{ input_queued = { routed = 'arrival' } }"),
                ("routing", "{ ugal = { redecide = true } }"),
            ],
            "network.switch.input_queued.routed",
            &["decides again", "head"],
        ),
        (
            &[("network.switch", "{ input_queued = { registers = true } }")],
            "network.switch.input_queued.registers",
            &["routed when they arrived", "routed = \"arrival\""],
        ),
        (
            &[
                ("network.switch", "{ virtual_output_queued = {} }"),
                ("network.topology", "{ crossbar = { hosts = 20000 } }"),
                ("network.links", "{}"),
            ],
            "network.switch.virtual_output_queued",
            &["400000000 virtual output queues", "at most 268435456"],
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

const PATTERN: &str = "traffic.pattern";

/// A single switch of so many hosts, under a pattern.
fn on<'a>(hosts: &'a str, pattern: &'a str) -> [(&'a str, &'a str); 4] {
    [
        ("network.topology.crossbar.hosts", hosts),
        ("network.topology.dragonfly", "-"),
        ("network.links", "{}"),
        (PATTERN, pattern),
    ]
}

/// Patterns that need other numbers of hosts than 72.
#[test]
fn patterns_of_hosts() {
    let rows: &[Row<'_>] = &[
        (&on("9", "'bit_complement'"), PATTERN, &["9 hosts", "middle", "even number"]),
        (
            &[(PATTERN, "'bit_reverse'")],
            PATTERN,
            &["72 hosts", "power of two", "64 or 128 hosts", "shift", "tornado"],
        ),
        (&on("1", "'shuffle'"), PATTERN, &["1 hosts", "2 or 4 hosts"]),
        (&on("2", "'shuffle'"), PATTERN, &["2 hosts", "itself", "larger"]),
        (&on("2", "'butterfly'"), PATTERN, &["2 hosts", "itself", "larger"]),
        (&on("1", "'transpose'"), PATTERN, &["1 hosts", "itself", "larger"]),
        (&on("1", "{ shift = {} }"), PATTERN, &["1 hosts", "itself"]),
        (
            &on("16", "{ bit_rotation = { by = 4 } }"),
            "traffic.pattern.bit_rotation.by",
            &["4 bits by 4", "1 to 3"],
        ),
        (
            &on("16", "{ bit_rotation = { by = 0 } }"),
            "traffic.pattern.bit_rotation.by",
            &["4 bits by 0", "1 to 3"],
        ),
        (&[(PATTERN, "'transpose'")], PATTERN, &["72 hosts", "64 or 81 hosts"]),
        (
            &on("32", "'transpose'"),
            PATTERN,
            &["32 hosts", "25 or 36 hosts", "{ bit_rotation = { by = 2 } }"],
        ),
    ];
    check(rows);
}

/// Rings of other lengths, other shifts, patterns within patterns, and hosts that are silent under a pattern.
#[test]
fn patterns_of_rings() {
    let rows: &[Row<'_>] = &[
        (
            &on("2", "{ tornado = {} }"),
            "traffic.pattern.tornado.ring",
            &["ring of 2 tornado does not move", "longer"],
        ),
        (
            &on("64", "{ tornado = { ring = { digits = 2 } } }"),
            "traffic.pattern.tornado.ring",
            &["ring of 2", "longer"],
        ),
        (
            &on("64", "{ tornado = { ring = { digits = 5 } } }"),
            "traffic.pattern.tornado.ring.digits",
            &["64 hosts are no power of 5", "2, 4, 8, 64"],
        ),
        (
            &[(PATTERN, "{ neighbour = { ring = { digits = 0 } } }")],
            "traffic.pattern.neighbour.ring.digits",
            &["72 hosts are no power of 0", "(allowed: 72)"],
        ),
        (
            &[(PATTERN, "{ neighbour = { ring = 'coordinates' } }")],
            "traffic.pattern.neighbour.ring",
            &["no lattice", "hosts", "hyperx"],
        ),
        (&on("1", "{ neighbour = {} }"), "traffic.pattern.neighbour.ring", &["ring of 1"]),
        (
            &[(PATTERN, "{ shift = { by = -144 } }")],
            "traffic.pattern.shift.by",
            &["-144 of 72 hosts", "1 to 71", "-1 to -71"],
        ),
        (
            &[(PATTERN, "{ mix = [{ weight = 1, pattern = 'shuffle' }] }")],
            "traffic.pattern.mix[0].pattern",
            &["72 hosts", "power of two"],
        ),
        (
            &[
                &on("16", "'butterfly'")[..],
                &[(
                    "traffic.hotspots",
                    "[{ destinations = { any = [3] }, sources = { hosts = [1, 6, 2] } }]",
                )],
            ]
            .concat(),
            "traffic.hotspots[0].sources.hosts[1]",
            &["host 6 sends nothing under the pattern"],
        ),
        (
            &[
                &on("4", "'transpose'")[..],
                &[("traffic.hotspots", "[{ destinations = { any = [1, 2] } }]")],
            ]
            .concat(),
            "traffic.hotspots[0].sources",
            &["no host is left"],
        ),
    ];
    check(rows);
}

/// Lists of pairs and matrices.
#[test]
fn traffic_matrices() {
    let pairs = |list: &str| format!("{{ pairs = {{ list = {list} }} }}");
    let matrix = |rows: &str| format!("{{ matrix = {{ rows = {rows} }} }}");
    let most = i64::MAX;
    let rows: [(String, &str, &[&str]); 13] = [
        (pairs("[]"), "pairs.list", &["no host would send"]),
        (pairs("[[0, 1, 0]]"), "pairs.list", &["no host would send"]),
        (pairs("[[0, 1], [2]]"), "pairs.list[1]", &["[2] is no pair", "[source, destination]"]),
        (pairs("[[0, 1, 2, 3]]"), "pairs.list[0]", &["[0, 1, 2, 3] is no pair", "weight]"]),
        (pairs("[[3, 0]]"), "pairs.list[0][0]", &["no host 3", "0 to 2"]),
        (pairs("[[0, 4294967296]]"), "pairs.list[0][1]", &["no host 4294967296", "0 to 2"]),
        (pairs("[[0, 1], [1, 1, 3]]"), "pairs.list[1]", &["host 1 would send to itself"]),
        (pairs("[[0, 1], [1, 0], [0, 1, 3]]"), "pairs.list[2]", &["0 to host 1", "two entries"]),
        (matrix(&format!("[[0, {most}, {most}], [0, 0, 0], [1, 0, 0]]")), "", &[]),
        (matrix("[[0, 1, 1], [0, 0, 0]]"), "matrix.rows", &["2 rows for 3 hosts", "allowed: 3"]),
        (
            matrix("[[0, 1, 1], [0, 0], [0, 0, 0]]"),
            "matrix.rows[1]",
            &["2 weights for 3 hosts", "allowed: 3"],
        ),
        (
            matrix("[[0, 0, 0], [0, 7, 0], [0, 0, 0]]"),
            "matrix.rows[1][1]",
            &["host 1 would send to itself"],
        ),
        (matrix("[[0, 0, 0], [0, 0, 0], [0, 0, 0]]"), "matrix.rows", &["no host would send"]),
    ];
    for (pattern, path, fragments) in &rows {
        let mut spec = support::crossbar(3);
        spec.traffic.pattern = support::value(pattern);
        match Simulation::build(&spec) {
            Ok(_) => assert_eq!(*path, "", "{pattern}"),
            Err(error) => {
                assert_eq!(error.path, format!("traffic.pattern.{path}"), "{error}");
                let text = error.to_string();
                assert!(fragments.iter().all(|part| text.contains(part)), "{text}");
            }
        }
    }
    // Three of the largest weights that TOML can write are too many for 64 bits.
    let row = format!("[0, {most}, {most}, {most}]");
    let mut spec = support::crossbar(4);
    let rest = "[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]";
    spec.traffic.pattern = support::value(&matrix(&format!("[{row}, {rest}]")));
    let error = Simulation::build(&spec).err().unwrap();
    assert_eq!(error.path, "traffic.pattern.matrix.rows[0][3]");
    assert!(error.message.contains("weights of host 0 exceed 2^64"), "{error}");
    for (key, list) in [("pairs", "list"), ("matrix", "rows")] {
        spec.traffic.pattern = support::value(&format!("{{ {key} = {{ file = 'a.csv' }} }}"));
        let error = Simulation::build(&spec).err().unwrap();
        assert_eq!(error.path, format!("traffic.pattern.{key}.file"));
        let text = error.to_string();
        assert!(text.contains("reads no files") && text.contains(list), "{text}");
    }
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
        (
            &[
                ("network.topology", "{ kary_tree = { k = 2, levels = 2 } }"),
                ("network.links", "{ level1 = { latency = 3, vcs = 2, buffer = 16 } }"),
                ("routing", "{ valiant = { restricted = true } }"),
            ],
            "routing.valiant",
            &["no intermediate routers", "routing.up_oblivious"],
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
        (
            &[("routing", "{ piggyback = { broadcast = 0 } }")],
            "routing.piggyback.broadcast",
            &["0 is 0 cycles", "1 to", "longest link"],
        ),
        (
            &[("routing", "{ piggyback = { broadcast = 100000 } }")],
            "routing.piggyback.broadcast",
            &["100000 cycles", "1 to"],
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
        (&[("units.link_rate", "'0 Gb/s'")], "units.link_rate", &["\"0 Gb/s\"", "200 Gb/s"]),
        (
            &[("units.link_rate", "'200 Gb/s'"), ("units.phit", "'25 B'")],
            "units.link_rate",
            &["`units.phit`"],
        ),
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
        ("network.links.local.vcs", "256", &["1 to 64", "auto"]),
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
