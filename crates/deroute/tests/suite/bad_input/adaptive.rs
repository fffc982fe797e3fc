//! Routings that adapt by what the flow control tells them.

use super::{Row, check};

const PFC: (&str, &str) =
    ("network.flow_control", "{ pfc = { response = 0, xoff = 9, lossy = true } }");
const TREE: &[(&str, &str)] = &[
    ("network.topology", "{ kary_tree = { k = 2, levels = 2 } }"),
    ("network.links", "{ level1 = { latency = 3, vcs = 2, buffer = 16 } }"),
    ("traffic.pattern", "'uniform'"),
];

const PAUSES: &[Row<'_>] = &[
    (
        &[("routing", "{ mar_bp = {} }")],
        "network.flow_control",
        &["credits know none", "pfc", "pause"],
    ),
    (
        &[("routing", "{ mar_bp = { paused = 'credits' } }"), PFC],
        "network.flow_control",
        &["decides by credits", "network.flow_control.credits"],
    ),
    (
        &[("routing", "{ mar_bp = { alternatives = 'minimal' } }"), PFC],
        "routing.mar_bp.alternatives",
        &["one minimal path", "non-minimal"],
    ),
    (
        &[
            ("routing", "{ mar_bp = {} }"),
            PFC,
            ("network.topology", "{ crossbar = { hosts = 4 } }"),
            ("network.links", "{}"),
            ("traffic.pattern", "'uniform'"),
        ],
        "routing.mar_bp",
        &["no groups", "dragonfly", "hyperx"],
    ),
    (
        &[("routing", "{ mar_bp = { alternatives = 'non-minimal' } }"), TREE[0], TREE[1], TREE[2]],
        "routing.mar_bp.alternatives",
        &["not free of deadlocks", "minimal"],
    ),
];

#[test]
fn pauses() {
    check(PAUSES);
}
