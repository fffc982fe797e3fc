//! Entropies, notification points, and reaction points that live on them.

use super::{Row, check};

const CLASSES: (&str, &str) = ("network.classes", "{ count = 2 }");
const ECN: (&str, &str) = ("network.congestion_point", "{ ecn = { kmin = 4, kmax = 9 } }");
const PFC: (&str, &str) =
    ("network.flow_control", "{ pfc = { response = 0, xoff = 9, lossy = true } }");
const LINK: (&str, &str) = ("network.nic", "{ latency = 3, link = { buffer = 90 } }");
const VALIANT: (&str, &str) = ("routing", "{ valiant = { phase_a = '-g-' } }");
const WIDE: (&str, &str) = ("network.links.local.vcs", "12");
const GLOBAL: (&str, &str) = ("network.links.global.vcs", "6");
const POINT: &str = "network.nic.notification_point";
const ENTROPY: &str = "network.nic.entropy";
const CNP: (&str, &str) = (POINT, "{ cnp = {} }");
const DCQCN: &str = "network.nic.reaction_point.dcqcn";

const POINTS: &[Row<'_>] = &[
    (
        &[CLASSES, CNP],
        "network.nic.notification_point.cnp",
        &["no packet would ever be marked", "network.congestion_point.ecn"],
    ),
    (
        &[CLASSES, CNP, ("network.congestion_point", "{ qcn = { q_eq = 9 } }")],
        "network.nic.notification_point.cnp",
        &["hosts hear one of both", "network.congestion_point.ecn"],
    ),
    (
        &[ECN, CNP],
        "network.nic.notification_point.cnp",
        &["class of service of their own", "network.classes.count"],
    ),
    (
        &[CLASSES, ECN, (POINT, "{ cnp = { interval = 0 } }")],
        "network.nic.notification_point.cnp.interval",
        &["0 cycles"],
    ),
    (
        &[CLASSES, (POINT, "{ acknowledgement = { notifications = { class = 3 } } }")],
        "network.nic.notification_point.acknowledgement.notifications.class",
        &["no class 3", "1 to 1"],
    ),
    (
        &[CLASSES, (POINT, "{ acknowledgement = { notifications = { path = 'random-up' } } }")],
        "network.nic.notification_point.acknowledgement.notifications.path",
        &["no fat tree", "minimal"],
    ),
    (
        &[
            CLASSES,
            (POINT, "{ acknowledgement = {} }"),
            ("network.flow_control", "{ pause = { response = 0, xoff = 9, lossy = true } }"),
        ],
        "network.nic.notification_point.acknowledgement",
        &["pause of the whole link", "pfc"],
    ),
];

#[test]
fn notification_points() {
    check(POINTS);
}

const ENTROPIES: &[Row<'_>] = &[
    (&[(ENTROPY, "{ flow = {} }")], ENTROPY, &["paths of minimal", "routing.valiant"]),
    (&[("routing", "{ mar_bp = {} }"), PFC, (ENTROPY, "{ flow = {} }")], ENTROPY, &["of mar_bp"]),
    (
        &[VALIANT, (ENTROPY, "{ oblivious = { values = 0 } }")],
        "network.nic.entropy.oblivious.values",
        &["0 is no number", "1 to 65536"],
    ),
    (
        &[VALIANT, (ENTROPY, "{ reps = { recycled = 17 } }")],
        "network.nic.entropy.reps.recycled",
        &["17", "1 to 16"],
    ),
    (
        &[VALIANT, (ENTROPY, "{ reps = {} }")],
        "network.nic.entropy.reps",
        &["no host would ever learn", "notification_point.acknowledgement"],
    ),
    (
        &[
            VALIANT,
            CLASSES,
            WIDE,
            GLOBAL,
            (ENTROPY, "{ reps = {} }"),
            (POINT, "{ acknowledgement = {} }"),
        ],
        "network.nic.entropy.reps",
        &["no packet would ever be marked", "network.congestion_point.ecn"],
    ),
    (
        &[
            VALIANT,
            CLASSES,
            WIDE,
            GLOBAL,
            ECN,
            (ENTROPY, "{ reps = { freeze = '1 ms' } }"),
            (POINT, "{ acknowledgement = {} }"),
        ],
        "network.nic.entropy.reps.freeze",
        &["find that a packet is late", "network.nic.retransmission"],
    ),
];

#[test]
fn entropies() {
    check(ENTROPIES);
}

#[test]
fn dcqcn() {
    let row = |text: &'static str| [CLASSES, ECN, PFC, LINK, CNP, (DCQCN, text)];
    let keys: [(&str, &str, &[&str]); 8] = [
        ("{ least_rate = '300 Gb/s' }", "least_rate", &["300 Gb/s", "up to 200 Gb/s"]),
        ("{ active_increase = '300 Gb/s' }", "active_increase", &["300 Gb/s", "up to 200 Gb/s"]),
        ("{ hyper_increase = '5 us' }", "hyper_increase", &["no rate", "5 Mb/s"]),
        ("{ byte_counter = 0 }", "byte_counter", &["no cycle"]),
        ("{ timer = 0 }", "timer", &["0 cycles"]),
        ("{ alpha_timer = 0 }", "alpha_timer", &["0 cycles"]),
        ("{ recovery = 0 }", "recovery", &["no recovery", "at least 1"]),
        ("{ gain = 2.0 }", "gain", &["2 is no weight", "0 to 1"]),
    ];
    for (text, key, fragments) in keys {
        let path = format!("{DCQCN}.{key}");
        check(&[(&row(text), &path, fragments)]);
    }
    check(&[
        (&[CLASSES, ECN, CNP, (DCQCN, "{}")], DCQCN, &["link of a host", "network.nic.link"]),
        (
            &[CLASSES, ECN, PFC, LINK, (DCQCN, "{}")],
            DCQCN,
            &["nothing would ever tell", "notification_point.cnp"],
        ),
    ]);
}

const ACKS: (&str, &str) = (POINT, "{ acknowledgement = {} }");

/// Windows that follow delays.
#[test]
fn swift_and_nscc() {
    const GUARDED: (&str, &str) = (
        "network.nic",
        "{ latency = 3, link = { buffer = 900, flow_control = { pfc = { response = 0 } } } }",
    );
    const SWIFT: &str = "network.nic.reaction_point.swift";
    const NSCC: &str = "network.nic.reaction_point.nscc";
    let keys = |changed: &str, to: &str| {
        let all = [
            ("target", "90"),
            ("increase", "1.0"),
            ("decrease", "0.8"),
            ("most_cut", "0.5"),
            ("least_window", "2"),
            ("largest_window", "80"),
        ];
        let one = |(key, value): (&str, &str)| {
            format!("{key} = {}", if key == changed { to } else { value })
        };
        let own = all.map(one).join(", ");
        let more = all.iter().all(|(key, _)| *key != changed) && !changed.is_empty();
        if more { format!("{{ {own}, {changed} = {to} }}") } else { format!("{{ {own} }}") }
    };
    let rows: [(&str, &str, &str, &[&str]); 9] = [
        ("target", "0", "target", &["0 cycles"]),
        ("increase", "0.0", "increase", &["0 is no step", "above 0"]),
        ("decrease", "1.5", "decrease", &["1.5 is no share", "up to 1"]),
        ("most_cut", "0.0", "most_cut", &["0 is no share"]),
        ("largest_window", "3", "largest_window", &["3 phits hold no packet"]),
        ("least_window", "0", "least_window", &["0 phits are no smallest window", "1 to"]),
        ("least_window", "90", "least_window", &["90 phits", "the largest, 80"]),
        ("hop", "'fast'", "hop", &["fast"]),
        (
            "flow_scaling",
            "{ range = 9, least = 2.0, most = 1.0 }",
            "flow_scaling",
            &["2 to 1 packets are no range", "below most"],
        ),
    ];
    for (key, value, path, fragments) in rows {
        let text = keys(key, value);
        let path = format!("{SWIFT}.{path}");
        check(&[(&[CLASSES, GUARDED, ACKS, (SWIFT, &text)], &path, fragments)]);
    }
    let whole = keys("", "");
    check(&[
        (&[CLASSES, ACKS, (SWIFT, &whole)], SWIFT, &["link of a host"]),
        (&[CLASSES, GUARDED, (SWIFT, &whole)], SWIFT, &["no host would ever learn"]),
        (
            &[CLASSES, GUARDED, ACKS, (NSCC, "{ base_rtt = 90 }")],
            NSCC,
            &["no packet would ever be marked", "congestion_point.ecn"],
        ),
        (
            &[CLASSES, GUARDED, ACKS, ECN, (NSCC, "{ base_rtt = 0 }")],
            "network.nic.reaction_point.nscc.base_rtt",
            &["0 cycles"],
        ),
        (
            &[CLASSES, GUARDED, ACKS, ECN, (NSCC, "{ base_rtt = 9, target = 0 }")],
            "network.nic.reaction_point.nscc.target",
            &["0 cycles"],
        ),
        (
            &[CLASSES, GUARDED, ECN, (NSCC, "{ base_rtt = 90 }")],
            NSCC,
            &["no host would ever learn"],
        ),
    ]);
}

#[test]
fn windows() {
    const GUARDED: (&str, &str) = (
        "network.nic",
        "{ latency = 3, link = { buffer = 900, flow_control = { pfc = { response = 0 } } } }",
    );
    const WINDOW: &str = "network.nic.reaction_point.window";
    check(&[
        (&[CLASSES, ACKS, (WINDOW, "{ size = 50 }")], WINDOW, &["link of a host", "nic.link"]),
        (
            &[CLASSES, ECN, PFC, LINK, CNP, (WINDOW, "{ size = 50 }")],
            WINDOW,
            &["no host would ever learn", "notification_point.acknowledgement"],
        ),
        (
            &[CLASSES, PFC, LINK, ACKS, (WINDOW, "{ size = 50 }")],
            WINDOW,
            &["what is lost", "loses nothing"],
        ),
        (
            &[CLASSES, GUARDED, ACKS, (WINDOW, "{ size = 3 }")],
            "network.nic.reaction_point.window.size",
            &["3 phits hold no packet of", "at least"],
        ),
        (
            &[CLASSES, GUARDED, ACKS, (WINDOW, "{ size = '500 GB' }")],
            "network.nic.reaction_point.window.size",
            &["more than can be under way"],
        ),
    ]);
}
