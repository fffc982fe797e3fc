//! Collectives by named algorithms on an ideal switch, against their closed forms. A message of `s` bytes takes
//! `A + s` ns.

use super::{completed, data, ideal, job, with_job};

const A: u64 = 1_000;

fn of(n: u32, collective: &str) -> deroute::outcome::JobOutcome {
    let text = format!("ranks = {n}\nsteps = [{{ collective = {collective} }}]");
    job(&completed(&with_job(n.max(2), A as u32, &text))).clone()
}

fn time(n: u32, kind: &str, size: u64, algorithm: &str) -> u64 {
    let text = format!("{{ kind = '{kind}', size = {size}, algorithm = {algorithm} }}");
    of(n, &text).time
}

#[test]
fn closed_forms_without_contention() {
    let s = 65_536;
    for n in [2u64, 4, 8, 16] {
        let (ranks, k) = (n as u32, u64::from(n.ilog2()));
        let ring = |rounds: u64| rounds * (A + s / n);
        assert_eq!(time(ranks, "allreduce", s, "{ ring = {} }"), ring(2 * (n - 1)));
        let halves = 2 * k * A + 2 * (n - 1) * s / n;
        assert_eq!(time(ranks, "allreduce", s, "'halving_doubling'"), halves);
        assert_eq!(time(ranks, "allreduce", s, "'recursive_doubling'"), k * (A + s));
        assert_eq!(time(ranks, "broadcast", s, "'binomial'"), k * (A + s));
        assert_eq!(time(ranks, "allgather", s / n, "{ ring = {} }"), ring(n - 1));
        assert_eq!(time(ranks, "allgather", s / n, "'bruck'"), k * A + (n - 1) * s / n);
        assert_eq!(time(ranks, "reduce_scatter", s / n, "{ ring = {} }"), ring(n - 1));
        assert_eq!(
            time(ranks, "reduce_scatter", s / n, "'halving_doubling'"),
            k * A + (n - 1) * s / n
        );
        assert_eq!(time(ranks, "alltoall", s / n, "'pairwise'"), ring(n - 1));
        assert_eq!(time(ranks, "alltoall", s / n, "'linear'"), A + (n - 1) * s / n);
        assert_eq!(time(ranks, "barrier", 1, "'dissemination'"), k * (A + 1));
        assert_eq!(time(ranks, "scan", s, "'linear'"), (n - 1) * (A + s));
    }
    // Rank 15 is the last: by way of 8, to which the root sends second, 12 and 14.
    assert_eq!(time(20, "broadcast", 64, "'binomial'"), 4 * A + 5 * 64);
    // Two nodes of four, all of one bandwidth.
    let sum = 2 * 3 * (A + s / 4) + 2 * (A + s / 8);
    assert_eq!(time(8, "allreduce", s, "{ hierarchical = { group = 4 } }"), sum);
}

/// Channels share the data, and each of them takes its latency: together they hide it.
#[test]
fn channels_and_chunks_hide_latency() {
    let ring = |channels: u32| {
        time(8, "allreduce", 8_000, &format!("{{ ring = {{ channels = {channels} }} }}"))
    };
    assert_eq!(ring(1), 14 * (A + 1_000));
    assert_eq!(ring(2), 14 * (A + 500) + 500);
    assert!(ring(4) < ring(2));
    for kind in ["allgather", "reduce_scatter"] {
        let ring = |channels: u32| {
            time(8, kind, 1_000, &format!("{{ ring = {{ channels = {channels} }} }}"))
        };
        assert_eq!(ring(1), 7 * (A + 1_000));
        assert_eq!(ring(2), 7 * (A + 500) + 500);
    }
    let tree = |chunks: u32| {
        time(
            16,
            "allreduce",
            160_000,
            &format!("{{ double_binary_tree = {{ chunks = {chunks} }} }}"),
        )
    };
    assert!(tree(8) < tree(1) && tree(8) > 160_000);
}

/// As nccl-tests define it: near the rate of a link where latency does not count.
#[test]
fn bus_bandwidth_is_told() {
    for (kind, size, algorithm, exact) in [
        ("allreduce", 1 << 20, "{ ring = {} }", 1 << 20),
        ("allreduce", 1 << 20, "'halving_doubling'", 1 << 20),
        ("allgather", 1 << 17, "{ ring = {} }", 1 << 20),
        ("alltoall", 1 << 17, "'linear'", 1 << 20),
    ] {
        let text = format!("{{ kind = '{kind}', size = {size}, algorithm = {algorithm} }}");
        let job = of(8, &text);
        let used = &job.replay.as_ref().expect("a named collective").collectives[0];
        assert_eq!((used.members, used.phits, used.parts), (8, exact, 8));
        assert!(used.bus_bandwidth < 1.0 && used.bus_bandwidth > 0.98, "{used:?}");
        let factor = if kind == "allreduce" { 2.0 } else { 1.0 } * 7.0 / 8.0;
        assert!((used.algorithm_bandwidth * factor - used.bus_bandwidth).abs() < 1e-12);
    }
}

/// NAS programs as they were recorded: every collective of them goes by the usual algorithm, or another.
#[test]
fn nas_programs_are_replayed() {
    for (name, algorithm) in
        [("ft-W", "alltoall = 'pairwise'"), ("is-A", "allreduce = { ring = {} }")]
    {
        let file = data(&format!("ti/npb-{name}-16.tar.gz"));
        let run = |more: &str| {
            let mut spec = ideal(16, 1_000, &file, &format!("trace.compute = 0.0\n{more}"));
            spec.units = crate::support::value("{ cycle = '8 ns', phit = '8 B' }");
            spec.workload.as_mut().unwrap().jobs[0].trace.as_mut().unwrap().flops = Some(1e9);
            completed(&spec)
        };
        let usual = run("");
        let asked = run(&format!("trace.collectives.{algorithm}"));
        let names = |outcome: &deroute::outcome::Outcome| {
            let collectives = &job(outcome).replay.as_ref().unwrap().collectives;
            collectives.iter().map(|used| used.name.clone()).collect::<Vec<_>>()
        };
        assert_ne!(names(&usual), names(&asked), "{name}");
        assert_eq!(job(&usual).replay.as_ref().unwrap().unreceived, 0);
        assert!(job(&usual).arrays.rank_end.iter().all(|end| *end > 0));
    }
}
