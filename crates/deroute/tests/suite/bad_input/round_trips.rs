//! TIMELY, HPCC, and in-band telemetry.

use super::{Row, check};

const CLASSES: (&str, &str) = ("network.classes", "{ count = 2 }");
const INT: (&str, &str) = ("network.congestion_point", "{ int = {} }");
const POINT: &str = "network.nic.notification_point";
const ACKS: (&str, &str) = (POINT, "{ acknowledgement = {} }");
const GUARDED: (&str, &str) = (
    "network.nic",
    "{ latency = 3, link = { buffer = 900, flow_control = { pfc = { response = 0 } } } }",
);
const TIMELY: &str = "network.nic.reaction_point.timely";
const HPCC: &str = "network.nic.reaction_point.hpcc";
const DCTCP: &str = "network.nic.reaction_point.dctcp";

/// A reaction point with a parameter that is wrong.
fn each(reaction: &'static str, wrong: &[(&'static str, &str, &[&str])]) {
    for (text, key, fragments) in wrong {
        let path = format!("{reaction}.{key}");
        check(&[(&[CLASSES, INT, GUARDED, ACKS, (reaction, text)], &path, fragments)]);
    }
}

#[test]
fn timely() {
    check(&[
        (&[CLASSES, ACKS, (TIMELY, "{}")], TIMELY, &["link of a host", "network.nic.link"]),
        (&[GUARDED, (TIMELY, "{}")], TIMELY, &["no host would ever learn", "acknowledgement"]),
    ]);
    each(
        TIMELY,
        &[
            ("{ segment = 0 }", "segment", &["no cycle", "1 phit"]),
            ("{ low = 0 }", "low", &["0 cycles"]),
            ("{ low = 90, high = 80 }", "high", &["80 is less than low, 90"]),
            ("{ least_time = 0 }", "least_time", &["0 cycles"]),
            ("{ increase = 7 }", "increase", &["7 is no rate"]),
            ("{ decrease = 1.5 }", "decrease", &["1.5 is no share", "0 to 1"]),
            ("{ weight = -0.5 }", "weight", &["-0.5 is no share"]),
            ("{ least_rate = '300 Gb/s' }", "least_rate", &["300 Gb/s", "up to 200 Gb/s"]),
        ],
    );
}

#[test]
fn hpcc() {
    const GOOD: &str = "{ base_rtt = 100, increase = 1 }";
    let rows: &[Row<'_>] = &[
        (&[CLASSES, INT, ACKS, (HPCC, GOOD)], HPCC, &["link of a host", "network.nic.link"]),
        (
            &[CLASSES, GUARDED, ACKS, (HPCC, GOOD)],
            HPCC,
            &["no switch writes", "congestion_point.int"],
        ),
        (
            &[CLASSES, INT, GUARDED],
            "network.congestion_point.int",
            &["nobody brings back", "acknowledgement"],
        ),
        (
            &[CLASSES, INT, ACKS, ("network.switch", "{ input_queued = { pipeline = 3 } }")],
            "network.congestion_point.int",
            &["this switch has none", "combined_queued"],
        ),
    ];
    check(rows);
    each(
        HPCC,
        &[
            ("{ base_rtt = 0, increase = 1 }", "base_rtt", &["0 cycles"]),
            ("{ base_rtt = 100, increase = 0 }", "increase", &["no cycle"]),
            ("{ base_rtt = 100, increase = 101 }", "increase", &["101 phits", "up to 100"]),
            (
                "{ base_rtt = 100, increase = 1, utilisation = 1.5 }",
                "utilisation",
                &["1.5 is no use", "above 0, up to 1"],
            ),
        ],
    );
}

#[test]
fn dctcp() {
    const ECN: (&str, &str) = ("network.congestion_point", "{ ecn = { kmin = 40, kmax = 40 } }");
    const GOOD: &str = "{ largest_window = 100 }";
    check(&[
        (&[CLASSES, ECN, ACKS, (DCTCP, GOOD)], DCTCP, &["link of a host", "network.nic.link"]),
        (&[CLASSES, ECN, GUARDED, (DCTCP, GOOD)], DCTCP, &["ever learn", "acknowledgement"]),
        (&[CLASSES, GUARDED, ACKS, (DCTCP, GOOD)], DCTCP, &["no packet", "congestion_point.ecn"]),
    ]);
    let rows: [(&str, &str, &[&str]); 6] = [
        (
            "{ largest_window = 3 }",
            "largest_window",
            &["3 phits hold no packet of 4", "at least 4"],
        ),
        ("{ largest_window = '900 GB' }", "largest_window", &["under way", "up to"]),
        ("{ largest_window = 9, initial_window = 10 }", "initial_window", &["10 phits", "4 to 9"]),
        ("{ largest_window = 9, initial_window = 3 }", "initial_window", &["no packet of 4"]),
        ("{ largest_window = 9, gain = 0.0 }", "gain", &["0 is no share", "above 0, up to 1"]),
        ("{ largest_window = 9, gain = 1.5 }", "gain", &["1.5 is no share"]),
    ];
    for (text, key, fragments) in rows {
        let path = format!("{DCTCP}.{key}");
        check(&[(&[CLASSES, ECN, GUARDED, ACKS, (DCTCP, text)], &path, fragments)]);
    }
}

#[test]
fn retransmission() {
    const WINDOW: (&str, &str) = ("network.nic.reaction_point", "{ window = { size = 100 } }");
    const AGAIN: &str = "network.nic.retransmission";
    const LINK: (&str, &str) = ("network.nic", "{ latency = 3, link = { buffer = 900 } }");
    const TRIM: (&str, &str) = ("network.flow_control", "{ trim = { header = 1 } }");
    const LOSSY: (&str, &str) = ("network.flow_control", "{ lossy = {} }");
    let rows: &[Row<'_>] = &[
        (
            &[CLASSES, LOSSY, LINK, ACKS, WINDOW],
            "network.nic.reaction_point.window",
            &["wait for ever", "loses nothing", AGAIN],
        ),
        (&[CLASSES, TRIM, LINK, ACKS, WINDOW], AGAIN, &["nobody sends again", "{}"]),
        (
            &[CLASSES, LOSSY, LINK, (AGAIN, "{}")],
            AGAIN,
            &["flows have none", "reaction_point.nscc"],
        ),
        (
            &[CLASSES, LOSSY, LINK, ACKS, WINDOW, (AGAIN, "{ timeout = 9 }")],
            "network.nic.retransmission.timeout",
            &["9 cycles", "takes 75", "at least 75"],
        ),
        (
            &[CLASSES, ("network.flow_control", "{ trim = { header = '1 KB' } }"), LINK],
            "network.flow_control.trim.header",
            &["40 phits", "a packet of 4", "1 to 3"],
        ),
        (
            &[CLASSES, ("network.flow_control", "{ trim = { header = 0 } }"), LINK],
            "network.flow_control.trim.header",
            &["0 phits"],
        ),
    ];
    check(rows);
}
