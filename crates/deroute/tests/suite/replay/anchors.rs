//! What other simulators say of the same traces, and what formulas say. A message of `s` bytes takes `A + s / B` on an
//! ideal switch. LogGOPSim takes `L + (s - 1) G`: `A = L - G`. It lets a sender wait for its receiver without a message
//! in between (`S = 1`); what stands for that is a message that does not ask, which takes as long.

use deroute::spec::Spec;

use super::{completed, data, ideal, job};
use crate::support::value;

/// Trace, hosts, and what LogGOPSim says for `L = 1000`, `G = 1` and for `L = 2500`, `G = 6`.
const LOGGOPSIM: [(&str, u32, u64, u64); 5] = [
    ("one", 2, 1_049_575, 6_293_950),
    ("allreduce-ring-8", 8, 1_848_994, 11_044_964),
    ("allreduce-halving-doubling-16", 16, 130_872, 757_232),
    ("dissemination-16", 16, 20_380, 108_280),
    ("bcast-binomial-32", 32, 332_675, 1_978_550),
];

fn time(spec: &Spec) -> u64 {
    job(&completed(spec)).time
}

#[test]
fn loggopsim_with_a_byte_a_nanosecond() {
    for (name, hosts, expected, _) in LOGGOPSIM {
        let spec = ideal(hosts, 999, &data(&format!("goal/{name}.goal")), "");
        assert_eq!(time(&spec), expected, "{name}");
    }
}

/// A byte takes 6 ns on the links of the hosts.
#[test]
fn loggopsim_with_a_byte_in_six_nanoseconds() {
    for (name, hosts, _, expected) in LOGGOPSIM {
        let mut spec = ideal(hosts, 1_247, &data(&format!("goal/{name}.goal")), "");
        // A phit of 1 KiB takes 3,072 cycles of 2 ns.
        spec.units = value("{ cycle = '2 ns', phit = '1 KiB' }");
        spec.network.nic = value("{ latency = 1, link = { buffer = 1000, rate = '1/3072' } }");
        spec.workload.as_mut().unwrap().packet_size = 4.into();
        assert_eq!(2 * time(&spec), expected, "{name}");
    }
}

/// The compiled form says the same.
#[test]
fn goal_in_both_forms() {
    for name in ["one", "allreduce-ring-8"] {
        let outcomes = ["goal", "bin"]
            .map(|end| completed(&ideal(8, 999, &data(&format!("goal/{name}.{end}")), "")));
        let [text, compiled] = outcomes.each_ref().map(job);
        assert_eq!(text, compiled, "{name}");
    }
}

/// The closed form to the nanosecond; SMPI says 1,849,230 ns, which it prints to 10 ns.
#[test]
fn smpi() {
    let spec = ideal(8, 1_000, &data("ti/allreduce-ring-8.tar.gz"), "");
    let found = time(&spec);
    assert_eq!(found, 14 * (1_000 + 131_072));
    assert!(found.abs_diff(1_849_230) * 10_000 < 2 * found);
}

/// Dimemas with one link for each node and direction, no limit of the network, and everything eager.
#[test]
fn dimemas() {
    for (name, hosts, expected) in [
        ("one", 2, 1_049_576),
        ("allreduce-ring-8", 8, 1_849_008),
        ("dissemination-16", 16, 20_384),
        ("bcast-binomial-32", 32, 332_680),
        ("allreduce-halving-doubling-16", 16, 130_880),
    ] {
        let spec = ideal(hosts, 1_000, &data(&format!("dim/{name}.dim")), "");
        assert_eq!(time(&spec), expected, "{name}");
    }
}

/// What the others say differently, and what it is here: in LogGOPSim a reception keeps the processor busy, in Dimemas a
/// receive of what is there takes the latency once more.
#[test]
fn receiving_is_free_here() {
    for (file, rest, other, expected) in [
        // Computes 500,000 ns while 100,000 bytes arrive; then 10 ns.
        ("goal/late-receiver.goal", 999, 600_009, 500_010),
        ("dim/late-receiver.dim", 1_000, 501_010, 500_010),
        // Both messages follow each other; 5,000 ns and 1 ns of computation come after the first.
        ("goal/non-overtaking.goal", 999, 106_999, 999 + 100_000 + 5_001),
        ("dim/non-overtaking.dim", 1_000, 107_001, 1_000 + 100_000 + 5_001),
        // A message of 100,000 bytes, and one of 8 back: the same, because nobody receives late.
        ("goal/irequires.goal", 999, 102_006, 2 * 999 + 100_008),
        // Two senders at one link: both messages one after the other, and 500 ns.
        ("goal/incast.goal", 999, 71_130, 999 + 65_536 + 4_096 + 500),
    ] {
        let found = time(&ideal(3, rest, &data(file), ""));
        assert_eq!(found, expected, "{file}");
        assert!(found <= other + 1, "{file}: {other}");
    }
    // Seven messages of 65,536 bytes leave a host one after the other, and others come meanwhile: the formula of a
    // full-duplex network is a bound.
    let found = time(&ideal(8, 999, &data("goal/alltoall-linear-8.goal"), ""));
    assert!(found >= 999 + 7 * 65_536, "{found}");
}
