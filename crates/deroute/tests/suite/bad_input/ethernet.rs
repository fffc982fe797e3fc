//! Congestion points, and flow control that pauses.

use super::{Row, check};

const ECN: &str = "network.congestion_point.ecn";

const CONGESTION_POINTS: &[Row<'_>] = &[
    (
        &[(ECN, "{ kmin = 9, kmax = 8 }")],
        "network.congestion_point.ecn.kmin",
        &["9 phits", "kmax = 8", "at most 8"],
    ),
    (
        &[(ECN, "{ kmin = 9, kmax = 10, pmax = 1.5 }")],
        "network.congestion_point.ecn.pmax",
        &["1.5", "0 to 1"],
    ),
    (
        &[(ECN, "{ kmin = 9, kmax = 10, pmax = -0.1 }")],
        "network.congestion_point.ecn.pmax",
        &["-0.1"],
    ),
    (
        &[(ECN, "{ kmin = 9, kmax = 10, pmax = nan }")],
        "network.congestion_point.ecn.pmax",
        &["NaN"],
    ),
    (&[(ECN, "{ kmin = '5 us', kmax = 10 }")], "network.congestion_point.ecn.kmin", &["5 us"]),
    (
        &[(ECN, "{ kmin = 5, kmax = 2000000000 }")],
        "network.congestion_point.ecn.kmax",
        &["2000000000", "1073741823"],
    ),
    (
        &[(ECN, "{ kmin = 1, kmax = 2 }"), ("network.switch", "{ input_queued = {} }")],
        ECN,
        &["switch has none", "combined_queued"],
    ),
    (
        &[(ECN, "{ kmin = 1, kmax = 2 }"), ("network.switch", "{ virtual_output_queued = {} }")],
        ECN,
        &["switch has none"],
    ),
];

const PFC: &str = "network.flow_control";

/// The good spec has switches of 3 local and 2 global ports with 4 and 2 VCs of 24 and 48 phits.
const SHARED_BUFFERS: &[Row<'_>] = &[
    (
        &[(
            PFC,
            "{ pfc = { response = 0, frame = 1, lossy = true, shared_buffer = { size = 400, alpha = 1.0 } } }",
        )],
        "network.flow_control.pfc.shared_buffer.size",
        &["400 phits", "80 phits (2000 B) are missing", "at least 480"],
    ),
    (
        &[(
            PFC,
            "{ pause = { response = 0, frame = 1, lossy = true, shared_buffer = { size = 479, limit = 9 } } }",
        )],
        "network.flow_control.pause.shared_buffer.size",
        &["1 phits (25 B) are missing"],
    ),
    (
        &[(PFC, "{ pfc = { lossy = true, shared_buffer = { size = 4000 } } }")],
        "network.flow_control.pfc.shared_buffer",
        &["neither is given", "alpha, limit"],
    ),
    (
        &[(
            PFC,
            "{ pfc = { lossy = true, shared_buffer = { size = 4000, alpha = 1.0, limit = 3 } } }",
        )],
        "network.flow_control.pfc.shared_buffer",
        &["both are given"],
    ),
    (
        &[(PFC, "{ pfc = { lossy = true, shared_buffer = { size = 4000, alpha = 0.0 } } }")],
        "network.flow_control.pfc.shared_buffer.alpha",
        &["0 is out of range", "1/1024 to 1024"],
    ),
    (
        &[(PFC, "{ pause = { lossy = true, shared_buffer = { size = 4000, alpha = nan } } }")],
        "network.flow_control.pause.shared_buffer.alpha",
        &["NaN"],
    ),
    (
        &[(PFC, "{ pause = { lossy = true, shared_buffer = { size = '3 us', alpha = 1.0 } } }")],
        "network.flow_control.pause.shared_buffer.size",
        &["3 us"],
    ),
    (
        &[(
            PFC,
            "{ pfc = { lossy = true, xoff = 22, shared_buffer = { size = 4000, alpha = 1.0 } } }",
        )],
        "network.flow_control.pfc.xoff",
        &["22 phits leave too little of the 24 phits", "at most 20 phits"],
    ),
];

/// A sender that would be told to go on before it has been told to be silent.
const LIMITS: &[Row<'_>] = &[
    (
        &[(PFC, "{ pfc = { response = 0, frame = 1, lossy = true, xoff = 9, xon = 10 } }")],
        "network.flow_control.pfc.xon",
        &["10 phits are more than xoff = 9"],
    ),
    (
        &[(PFC, "{ pause = { response = 0, frame = 1, lossy = true, xoff = 9, xon = 10 } }")],
        "network.flow_control.pause.xon",
        &["10 phits are more than xoff = 9"],
    ),
];

/// A packet of 4 phits and 3 frames of other VCs take 13 cycles, and a quantum 2.56.
const QUANTA: &[Row<'_>] = &[(
    &[
        (PFC, "{ pfc = { response = 0, frame = 3, quanta = 9 } }"),
        ("network.links.local.buffer", "100"),
    ],
    "network.flow_control.pfc.quanta",
    &["9 quanta (23 cycles)", "wait for 13 cycles", "at least 11", "lossy"],
)];

const LOCAL: &str = "network.links.local.flow_control";
const HOST: &str = "network.nic.link";

/// Flow control of a class of links.
const CLASSES_OF_LINKS: &[Row<'_>] = &[
    (
        &[(LOCAL, "{ pfc = { response = 0, frame = 1, xoff = 20 } }")],
        "network.links.local.flow_control.pfc.xoff",
        &["20 phits leave too little of the 24 phits of network.links.local.buffer", "lossy"],
    ),
    (
        &[
            (LOCAL, "{ pfc = { lossy = true, shared_buffer = { size = 4000, alpha = 1.0 } } }"),
            (PFC, "{ pfc = { lossy = true, shared_buffer = { size = 5000, alpha = 1.0 } } }"),
        ],
        "network.links.local.flow_control.pfc.shared_buffer.size",
        &["4000 phits", "says 5000", "one memory"],
    ),
    (
        &[("network.nic.latency", "5"), (HOST, "{ buffer = 90, flow_control = { credits = {} } }")],
        HOST,
        &["credits do not guard the links of hosts", "network.nic.link.flow_control.pfc"],
    ),
    (
        &[(LOCAL, "{ lossy = {} }"), ("network.links.local.shared", "8")],
        "network.links.local.shared",
        &["needs credits"],
    ),
];

const CLASSES: &str = "network.classes";
const SHARES: &str = "network.classes.schedule.ets";
const RATE: &str = "network.links.local.rate";

/// Classes of service, the links that they share, and rates.
const CLASSES_AND_RATES: &[Row<'_>] = &[
    (&[(CLASSES, "{ count = 0 }")], "network.classes.count", &["0 classes", "1 to 16"]),
    (&[(CLASSES, "{ count = 17 }")], "network.classes.count", &["17 classes", "1 to 16"]),
    (
        &[(CLASSES, "{ count = 2, schedule = { ets = [100] } }")],
        SHARES,
        &["1 shares for 2 classes", "2 shares"],
    ),
    (
        &[(CLASSES, "{ count = 2, schedule = { ets = [50, 40] } }")],
        SHARES,
        &["90 percent in all", "100 in all"],
    ),
    (
        &[(CLASSES, "{ count = 2, schedule = { ets = [0, 100] } }")],
        "network.classes.schedule.ets[0]",
        &["class 0 would never send", "1 to 100"],
    ),
    (
        &[(CLASSES, "{ count = 3 }")],
        "network.links.global.vcs",
        &["2 is too few", "network.classes has 3 classes", "3 to 64"],
    ),
    (&[(RATE, "'0 Gb/s'")], RATE, &["a link of no rate carries nothing", "up to 200 Gb/s"]),
    (&[(RATE, "'0%'")], RATE, &["a link of no rate carries nothing"]),
    (&[(RATE, "'60 Gb/s'")], RATE, &["does not fit the cycle", "1/3", "1/4"]),
    (
        &[("network.slow_links", "[{ routers = [0, 1], rate = '0/3' }]")],
        "network.slow_links[0].rate",
        &["a link of no rate carries nothing"],
    ),
];

#[test]
fn classes_and_rates() {
    check(CLASSES_AND_RATES);
}

#[test]
fn flow_control_by_class_of_links() {
    check(CLASSES_OF_LINKS);
}

#[test]
fn limits_shared_buffers_and_quanta() {
    check(LIMITS);
    check(SHARED_BUFFERS);
    check(QUANTA);
}

#[test]
fn congestion_points() {
    check(CONGESTION_POINTS);
}
