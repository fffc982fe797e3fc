//! Probes of what is not there, or of too much.

use super::{Row, check};

#[test]
fn pauses() {
    check(&[
        (
            &[("probes.pauses", "true")],
            "probes.pauses",
            &["credits pause nobody", "network.flow_control.pfc"],
        ),
        (
            &[
                ("probes.pauses", "true"),
                ("network.flow_control", "{ lossy = {} }"),
                ("network.topology", "{ crossbar = { hosts = 4 } }"),
                ("network.links", "{}"),
            ],
            "probes.pauses",
            &["hosts without links", "network.nic.link"],
        ),
        // 72 hosts without links of their own; 108 local ports of 4 VCs, 72 global ones of 2.
        (
            &[
                ("probes.pauses", "true"),
                ("probes.series", "1"),
                ("run.measure", "100_000"),
                ("network.flow_control", "{ lossy = {} }"),
            ],
            "probes.pauses",
            &["100000 bins of 576 VCs", "at most 29127 bins in probes.series"],
        ),
    ]);
}

#[test]
fn queues() {
    const PORTS: &str = "probes.queues.ports";
    let record = |ports: &str| format!("{{ every = 100, ports = {ports} }}");
    let (class, host) = (record("{ classes = ['global', 'up'] }"), record("{ hosts = [3, 72] }"));
    let (router, port) = (record("{ list = [[0, 1], [36, 0]] }"), record("{ list = [[0, 7]] }"));
    let (twice, none) = (record("{ list = [[1, 1], [0, 2], [1, 1]] }"), record("{ hosts = [] }"));
    check(&[
        (
            &[("probes.queues", &class)],
            "probes.queues.ports.classes[1]",
            &["no link class \"up\"", "local, global, host"],
        ),
        (&[("probes.queues", &host)], "probes.queues.ports.hosts[1]", &["no host 72", "0 to 71"]),
        (
            &[("probes.queues", &router)],
            "probes.queues.ports.list[1]",
            &["no router 36", "0 to 35"],
        ),
        (
            &[("probes.queues", &port)],
            "probes.queues.ports.list[0]",
            &["router 0 has no port 7", "0 to 6"],
        ),
        (&[("probes.queues", &twice)], PORTS, &["port 1 of router 1", "twice"]),
        (&[("probes.queues", &none)], PORTS, &["no port", "all"]),
        (
            &[("probes.queues", "{ every = 0, ports = 'all' }")],
            "probes.queues.every",
            &["0 cycles", "1 to"],
        ),
        // 36 routers; inputs of 2 hosts, 3 local ports of 4 VCs and 2 global ones of 2, and 7 outputs.
        (
            &[("probes.queues", "{ every = 1, ports = 'all' }"), ("run.measure", "20_000_000")],
            "probes.queues.every",
            &["900 queues every 1 of 20000000 cycles", "16777216", "1073 cycles or more"],
        ),
    ]);
}

#[test]
fn precisions_that_cannot_be() {
    let asked = ("run.precision", "{ latency = '1%' }");
    let usual = ("run.warmup", "-");
    let rows: &[Row<'_>] = &[
        (&[("run.precision", "{}"), usual], "run.precision", &["nothing", "latency = \"1%\""]),
        (
            &[("run.precision", "{ latency = '0%' }"), usual],
            "run.precision.latency",
            &["\"0%\"", "0.1% to 50%"],
        ),
        (
            &[("run.precision", "{ accepted = 1 }"), usual],
            "run.precision.accepted",
            &["1 is no width", "0.1% to 50%"],
        ),
        (
            &[("run.precision", "{ accepted = '1%', warmup = 0 }"), usual],
            "run.precision.warmup",
            &["0 cycles", "1 to"],
        ),
        (&[asked], "run.warmup", &["finds its beginning", "run.precision.warmup"]),
        (&[asked, usual, ("probes.series", "10")], "probes.series", &["no run.precision"]),
        (
            &[asked, usual, ("probes.congestion.every", "10")],
            "probes.congestion",
            &["no run.precision"],
        ),
        (
            &[asked, usual, ("traffic.then", "[{ at = 9 }]")],
            "traffic.then[0]",
            &["warm-up of fixed length"],
        ),
    ];
    check(rows);
}
