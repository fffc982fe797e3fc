//! Quantized congestion notification.

use super::{Row, check};

const QCN: &str = "network.congestion_point.qcn";
const CLASSES: (&str, &str) = ("network.classes", "{ count = 2 }");
const REACTION: &str = "network.nic.reaction_point.qcn";
const PFC: (&str, &str) =
    ("network.flow_control", "{ pfc = { response = 0, xoff = 9, lossy = true } }");
const LINK: (&str, &str) = ("network.nic", "{ latency = 3, link = { buffer = 90 } }");

const NOTIFICATIONS: &[Row<'_>] = &[
    (&[(QCN, "{ q_eq = 9 }")], QCN, &["class of service of their own", "network.classes.count"]),
    (
        &[(QCN, "{ q_eq = 9, notifications = { class = 2 } }"), CLASSES],
        "network.congestion_point.qcn.notifications.class",
        &["no class 2", "count is 2", "1 to 1"],
    ),
    (
        &[(QCN, "{ q_eq = 9, notifications = { class = 0 } }"), CLASSES],
        "network.congestion_point.qcn.notifications.class",
        &["class 0 is that of other traffic"],
    ),
    (
        &[(QCN, "{ q_eq = 9, notifications = { size = 0 } }"), CLASSES],
        "network.congestion_point.qcn.notifications.size",
        &["0 phits", "1 to 65535"],
    ),
    (
        &[(QCN, "{ q_eq = 9, notifications = { path = 'random-up' } }"), CLASSES],
        "network.congestion_point.qcn.notifications.path",
        &["no fat tree", "minimal"],
    ),
    (
        &[
            (QCN, "{ q_eq = 9 }"),
            CLASSES,
            (
                "traffic.stream",
                "[{ name = 'a', hosts = [0], load = 0.1, destinations = { any = [3] }, class = 1 }]",
            ),
        ],
        "traffic.stream[0].class",
        &["notifications have this class", "another class"],
    ),
    (
        &[(QCN, "{ q_eq = 9 }"), CLASSES, ("network.links.local.vcs", "3")],
        "network.links.local.vcs",
        &["3 is too few", "needs 4"],
    ),
    (
        &[
            (QCN, "{ q_eq = 9 }"),
            CLASSES,
            ("network.flow_control", "{ pause = { response = 0, xoff = 9, lossy = true } }"),
        ],
        QCN,
        &["pause of the whole link", "pfc"],
    ),
    (
        &[(QCN, "{ q_eq = 9 }"), CLASSES, ("network.switch", "{ input_queued = {} }")],
        QCN,
        &["switch has none", "combined_queued"],
    ),
    (
        &[(QCN, "{ q_eq = 0 }"), CLASSES],
        "network.congestion_point.qcn.q_eq",
        &["empty queue", "1 to 16 phits"],
    ),
    (
        &[(QCN, "{ q_eq = 17 }"), CLASSES],
        "network.congestion_point.qcn.q_eq",
        &["17 phits", "memory is 16 phits"],
    ),
    (
        &[(QCN, "{ q_eq = 9, w = -1.0 }"), CLASSES],
        "network.congestion_point.qcn.w",
        &["-1 is no weight", "0 to 16"],
    ),
    (
        &[(QCN, "{ q_eq = 9, jitter = 1.5 }"), CLASSES],
        "network.congestion_point.qcn.jitter",
        &["1.5", "0 to 1"],
    ),
    (
        &[(QCN, "{ q_eq = 9, notification_share = nan }"), CLASSES],
        "network.congestion_point.qcn.notification_share",
        &["NaN"],
    ),
    (
        &[(QCN, "{ q_eq = 9, sample = { bytes = 0 } }"), CLASSES],
        "network.congestion_point.qcn.sample.bytes",
        &["0 is no interval"],
    ),
    (
        &[(QCN, "{ q_eq = 9, sample = { packets = 0 } }"), CLASSES],
        "network.congestion_point.qcn.sample.packets",
        &["0 is no interval"],
    ),
    (
        &[(QCN, "{ q_eq = 9, sample = { cycles = '0 us' } }"), CLASSES],
        "network.congestion_point.qcn.sample.cycles",
        &["0 is no interval"],
    ),
];

#[test]
fn notifications() {
    check(NOTIFICATIONS);
}

#[test]
fn records_of_rates() {
    const RATES: &str = "probes.rates";
    let limited = [(QCN, "{ q_eq = 9 }"), CLASSES, PFC, LINK, (REACTION, "{}")];
    let with = |record: &'static str| [limited.as_slice(), &[(RATES, record)]].concat();
    check(&[
        (
            &[(RATES, "{ every = 9, flows = { hosts = [0] } }")],
            RATES,
            &["nothing limits", "network.nic.reaction_point"],
        ),
        (
            &with("{ every = 9, flows = { hosts = [0, 72] } }"),
            "probes.rates.flows.hosts[1]",
            &["no host 72", "0 to 71"],
        ),
        (
            &with("{ every = 9, flows = { pairs = [[0, 1], [1, 72]] } }"),
            "probes.rates.flows.pairs[1]",
            &["no host 72", "0 to 71"],
        ),
        (
            &with("{ every = 9, flows = { pairs = [[0, 1], [0, 2], [0, 1]] } }"),
            "probes.rates.flows",
            &["host 0 to host 1 is there twice", "each flow once"],
        ),
        (&with("{ every = 9, flows = { hosts = [] } }"), "probes.rates.flows", &["no flow"]),
        (&with("{ every = 0, flows = { hosts = [1] } }"), "probes.rates.every", &["0 cycles"]),
        (
            &[
                with("{ every = 1, flows = { hosts = [1, 2] } }"),
                vec![("run.measure", "20_000_000")],
            ]
            .concat(),
            "probes.rates.every",
            &["2 rates every 1 of 20000000 cycles", "16777216", "3 cycles or more"],
        ),
    ]);
}

#[test]
fn reaction_points() {
    let row = |text: &'static str| [(QCN, "{ q_eq = 9 }"), CLASSES, PFC, LINK, (REACTION, text)];
    let keys: [(&str, &str, &[&str]); 9] = [
        ("{ least_rate = '300 Gb/s' }", "least_rate", &["300 Gb/s", "up to 200 Gb/s"]),
        ("{ least_rate = '0 b/s' }", "least_rate", &["no rate"]),
        ("{ active_increase = '5 us' }", "active_increase", &["no rate", "5 Mb/s"]),
        ("{ hyper_increase = 5 }", "hyper_increase", &["5 is no rate"]),
        ("{ byte_counter = 0 }", "byte_counter", &["no cycle"]),
        ("{ timer = 0 }", "timer", &["0 cycles"]),
        ("{ gain = 2.0 }", "gain", &["2 is no share"]),
        ("{ least_share = -0.5 }", "least_share", &["-0.5"]),
        ("{ jitter = nan }", "jitter", &["NaN"]),
    ];
    for (text, key, fragments) in keys {
        let path = format!("{REACTION}.{key}");
        check(&[(&row(text), &path, fragments)]);
    }
    check(&[
        (
            &[(QCN, "{ q_eq = 9 }"), CLASSES, (REACTION, "{}")],
            REACTION,
            &["link of a host", "network.nic.link"],
        ),
        (&[PFC, LINK, (REACTION, "{}")], REACTION, &["nothing would ever tell", QCN]),
        (
            &[
                (QCN, "{ q_eq = 9, ejection = false }"),
                CLASSES,
                PFC,
                LINK,
                (REACTION, "{ follows = 'endpoint' }"),
            ],
            "network.nic.reaction_point.qcn.follows",
            &["no queue to a host", "ejection = true"],
        ),
    ]);
}
