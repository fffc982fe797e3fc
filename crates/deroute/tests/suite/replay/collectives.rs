//! Collectives by named algorithms on an ideal switch, against their closed forms. A message of `s` bytes takes
//! `A + s` ns.

use super::{completed, data, ideal, job, mpi, with_job};

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

/// Of three times a power of two, a third are the first ones of pairs: they hand over what they have, and get the result
/// behind what their partner sends last.
#[test]
fn pairs_are_closed_forms() {
    for (m, s) in [(1, 16), (2, 16), (3, 16), (1, 100), (2, 100), (3, 100)] {
        let n = 3 << m;
        let halving = (m + 2) * A + (2 * n - 1) * s;
        assert_eq!(time(n as u32, "reduce_scatter", s, "'halving_doubling'"), halving, "{n}");
        // Those without a pair are early: what they send in the last round comes at once with that of the round before.
        let doubling = (m + 2) * A + ((4 << m) + n - 2 + (1 << m)) * s;
        assert_eq!(time(n as u32, "allgather", s, "'recursive_doubling'"), doubling, "{n}");
    }
    // The pair's data and that of the third member come at once.
    assert_eq!(time(3, "reduce_scatter", 100, "'halving_doubling'"), 2 * A + 6 * 100);
    assert_eq!(time(3, "allgather", 100, "'recursive_doubling'"), 2 * A + 5 * 100);
}

/// Groups of four of six members: the two of the last one have two pieces of four each, a rail after the other.
#[test]
fn a_smaller_group_takes_its_rails_in_turn() {
    let grouped = |n: u32, s: u64| time(n, "allreduce", s, "{ hierarchical = { group = 4 } }");
    // Three rounds; two rings of two, of which the second waits for the first on one side only; three rounds. Members 0 and
    // 2 send half a piece to member 4 at once.
    for q in [10, 100, 400] {
        assert_eq!(grouped(6, 4 * q), 8 * A + 8 * q + q / 2);
    }
    // All are in the last group.
    let s = 65_536;
    assert_eq!(grouped(2, s), 2 * (A + s / 2));
    assert_eq!(grouped(3, s), 4 * (A + 21_846));
}

/// A chunk is passed on when it has come: either the links are never idle, or a chunk goes round as fast as it can.
#[test]
fn chunks_without_contention() {
    for (n, s) in [(4_u64, 65_536_u64), (8, 65_536), (8, 8_192), (6, 12_288)] {
        for c in [1, 2, 4, 8, 16] {
            let q = s / n / c;
            let ring = |rounds: u64| (rounds - 1) * (A + q).max(c * q) + c * q + A;
            let own = format!("{{ ring = {{ chunks = {c} }} }}");
            let time = |kind: &str, size: u64| time(n as u32, kind, size, &own);
            if s % (n * c) == 0 {
                assert_eq!(time("allreduce", s), ring(2 * (n - 1)), "{n}, {s}, {c}");
                assert_eq!(time("allgather", s / n), ring(n - 1), "{n}, {s}, {c}");
                assert_eq!(time("reduce_scatter", s / n), ring(n - 1), "{n}, {s}, {c}");
            }
            let chain = (n - 1) * (A + s / c) + (c - 1) * s / c;
            assert_eq!(time("broadcast", s), chain, "{n}, {s}, {c}");
            assert_eq!(time("reduce", s), chain, "{n}, {s}, {c}");
        }
    }
    // Without a chunk for every member nothing is missing: 3 phits in pieces of one.
    let tiny = time(4, "allgather", 3, "{ ring = { chunks = 8 } }");
    assert_eq!(tiny, 2 * (A + 1) + 3 + A);
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

/// Bytes choose the algorithm, not what was called before with as many phits, and they are those that `messages` leaves.
#[test]
fn algorithms_follow_from_scaled_bytes() {
    let run = |calls: &str, more: &str| {
        let file = mpi(&[calls; 8]);
        let mut spec = ideal(8, A as u32, file.path(), more);
        spec.units = crate::support::value("{ cycle = '1 ns', phit = '50 B' }");
        job(&completed(&spec)).clone()
    };
    // 41 phits each.
    let (few, more) = ("0 0 allreduce 0 2010\n", "0 0 allreduce 0 2049\n");
    let (first, last) = (format!("{few}{more}"), format!("{more}{few}"));
    assert_eq!(run(&first, "").time, run(&last, "").time);
    let names = |calls: &str, more: &str| -> Vec<String> {
        let used = run(calls, more).replay.expect("it follows a trace").collectives;
        used.into_iter().map(|used| used.name).collect()
    };
    let both = ["allreduce, recursive_doubling", "allreduce, halving_doubling"];
    assert_eq!(names(&first, ""), both);
    assert_eq!(names("0 0 allreduce 0 2000", ""), [both[0]]);
    assert_eq!(names("0 0 allreduce 0 2000", "trace.messages = 16.0"), [both[1]]);
    let none = names("0 0 alltoall 0 100000\n0 0 alltoall 0 8", "trace.messages = 0.001");
    assert_eq!(none, ["alltoall, bruck"; 2]);
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
