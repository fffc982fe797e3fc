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

const CLASSES: (&str, &str) = ("network.classes", "{ count = 2 }");
const QCN: &str = "network.congestion_point.qcn";
const POINT: (&str, &str) = (QCN, "{ q_eq = 9 }");

const NOTIFICATIONS: &[Row<'_>] = &[
    (
        &[("routing", "{ qcn_switch = {} }")],
        "network.congestion_point",
        &["nobody sends any", "network.congestion_point.qcn"],
    ),
    (
        &[
            ("routing", "{ qcn_switch = {} }"),
            ("network.congestion_point", "{ ecn = { kmin = 1, kmax = 2 } }"),
        ],
        "network.congestion_point",
        &["nobody sends any"],
    ),
    (
        &[("routing", "{ switch_ar = {} }"), POINT, CLASSES],
        "routing.switch_ar",
        &["no fat tree", "kary_tree"],
    ),
    (
        &[("routing", "{ switch_ar = { share = 1.5 } }"), POINT, CLASSES],
        "routing.switch_ar.share",
        &["1.5 is no share", "0 to 1"],
    ),
    (
        &[("routing", "{ switch_ar = { timer = 0 } }"), POINT, CLASSES],
        "routing.switch_ar.timer",
        &["0"],
    ),
    (
        &[("routing", "{ qcn_switch = { limit = 0.0 } }"), POINT, CLASSES],
        "routing.qcn_switch.limit",
        &["0 is out of range"],
    ),
    (
        &[("routing", "{ qcn_switch = { increase = 101.0 } }"), POINT, CLASSES],
        "routing.qcn_switch.increase",
        &["101 is out of range", "0 to 100"],
    ),
    (
        &[("routing", "{ qcn_switch = { upper = nan } }"), POINT, CLASSES],
        "routing.qcn_switch.upper",
        &["NaN is out of range", "0 to 63"],
    ),
    (
        &[("routing", "{ qcn_switch = { packets = 0 } }"), POINT, CLASSES],
        "routing.qcn_switch.packets",
        &["0 is none", "1 and more"],
    ),
    (
        &[("routing", "{ qcn_switch = { alternatives = 0 } }"), POINT, CLASSES],
        "routing.qcn_switch.alternatives",
        &["0 is none"],
    ),
    (
        &[("routing", "{ qcn_switch = { alternatives = 2, phase_a = '-gl' } }"), POINT, CLASSES],
        "routing.qcn_switch.alternatives",
        &["drawn by phase_a", "1"],
    ),
    (
        &[("routing", "{ qcn_switch = { phase_a = { acor = {} } } }"), POINT, CLASSES],
        "routing.qcn_switch.phase_a.acor.trigger",
        &["show credits", "notifications"],
    ),
    (
        &[("routing", "{ qcn_switch = { phase_a = { lian = { window = 0 } } } }"), POINT, CLASSES],
        "routing.qcn_switch.phase_a.lian.window",
        &["0 cycles"],
    ),
    (
        &[("routing", "{ valiant = { phase_a = { acor = { trigger = 'notifications' } } } }")],
        "routing.valiant.phase_a.acor.raise",
        &["no usual thresholds", "[2, 2]"],
    ),
    (
        &[(
            "routing",
            "{ valiant = { phase_a = { acor = { trigger = 'notifications', raise = [1, 1] } } } }",
        )],
        "routing.valiant.phase_a.acor.lower",
        &["[5, 15]", "up to [2, 2]"],
    ),
    (
        &[(
            "routing",
            "{ valiant = { phase_a = { acor = { trigger = 'notifications', per = 'packet' } } } }",
        )],
        "routing.valiant.phase_a.acor.per",
        &["packets that have left", "switch"],
    ),
    (
        &[(
            "routing",
            "{ valiant = { phase_a = { acor = { trigger = 'notifications', raise = [1, 1], \
               lower = [1, 1] } } } }",
        )],
        "network.congestion_point",
        &["nobody sends any"],
    ),
    (
        &[(QCN, "{ q_eq = 9, queue = 'input' }"), CLASSES],
        "network.congestion_point.qcn.queue",
        &["nobody counts", "output", "pfc"],
    ),
];

#[test]
fn notifications() {
    check(NOTIFICATIONS);
}
