//! Traffic, and what routings count of it.

use super::{Row, check};

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

/// Rings of other lengths, other shifts, and patterns within patterns.
#[test]
fn rings_and_shifts() {
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
    ];
    check(rows);
}

/// Hosts that are silent under a pattern are no sources of hot spots.
#[test]
fn silent_sources() {
    let rows: &[Row<'_>] = &[
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
