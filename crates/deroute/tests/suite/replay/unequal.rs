//! Collectives whose members have sizes of their own: one entry for what the program called once, as nccl-tests count it.

use std::ops::ControlFlow;

use deroute::outcome::CollectiveUse;
use deroute::{RunOptions, Simulation};

use super::{Written, completed, ideal, job, mpi};
use crate::support;

const A: u64 = 999;

/// A trace whose ranks have these lines.
fn trace(ranks: u32, calls: impl Fn(u32) -> String) -> Written {
    let calls: Vec<String> = (0..ranks).map(calls).collect();
    mpi(&calls.iter().map(String::as_str).collect::<Vec<_>>())
}

fn uses(trace: &Written, ranks: u32, more: &str) -> Vec<CollectiveUse> {
    let outcome = completed(&ideal(ranks, A as u32, trace.path(), more));
    job(&outcome).replay.as_ref().expect("it follows a trace").collectives.clone()
}

/// Lines of an all-to-all with unequal blocks: what rank r sends to k.
fn row(rank: u32, ranks: u32, bytes: impl Fn(u32, u32) -> u32) -> String {
    let row: Vec<String> = (0..ranks).map(|to| bytes(rank, to).to_string()).collect();
    format!("0 0 alltoallv 0 {}", row.join(","))
}

/// The most that a rank sends or receives, its own block included, as `AlltoAllvGetBw` of nccl-tests has it.
#[test]
fn an_all_to_all_is_as_large_as_its_busiest_member() {
    // Rank 3 sends most: 40 000 + 0 + 1 000 + 2 000 + 3 000.
    let sends = |rank: u32, to: u32| 10_000 * (rank + 1) / 4 * u32::from(rank != 9) + 1_000 * to;
    let of = trace(4, |rank| row(rank, 4, sends));
    let [one] = uses(&of, 4, "").try_into().unwrap_or_else(|all| panic!("{all:?}"));
    let sent = |rank: u32| (0..4).map(|to| u64::from(sends(rank, to))).sum::<u64>();
    let received = |rank: u32| (0..4).map(|from| u64::from(sends(from, rank))).sum::<u64>();
    assert!(sent(3) > received(3) && sent(3) > sent(2));
    assert_eq!((one.name.as_str(), one.members), ("alltoall, pairwise", 4));
    assert_eq!((one.phits, one.parts), (sent(3), 4));
    let algorithm = sent(3) as f64 / one.mean;
    assert!((one.algorithm_bandwidth / algorithm - 1.0).abs() < 1e-12);
    assert!((one.bus_bandwidth / (algorithm * 3.0 / 4.0) - 1.0).abs() < 1e-12);
    // Most go to rank 1: what it receives counts, and the other way round is another call.
    let popular = |_: u32, to: u32| if to == 1 { 9_000 } else { 10 };
    let of = trace(4, |rank| row(rank, 4, popular));
    let [one] = uses(&of, 4, "").try_into().unwrap_or_else(|all| panic!("{all:?}"));
    assert_eq!((one.phits, one.parts), (4 * 9_000, 4));
}

/// With equal blocks it is what it is without sizes of their own, and no faster than the links.
#[test]
fn equal_rows_are_an_ordinary_all_to_all() {
    let rows = trace(8, |rank| row(rank, 8, |_, _| 131_072));
    let same = trace(8, |_| "0 0 alltoall 0 131072".to_owned());
    let linear = "trace.collectives.alltoall = 'linear'";
    let (rows, same) = (uses(&rows, 8, linear), uses(&same, 8, linear));
    assert_eq!(rows, same);
    assert_eq!((rows[0].phits, rows[0].parts), (1 << 20, 8));
    assert!(rows[0].bus_bandwidth < 1.0 && rows[0].bus_bandwidth > 0.98);
}

/// Calls of one size are one entry, and the same row counts in calls of different sizes.
#[test]
fn a_row_may_be_a_part_of_several_sizes() {
    // Rank 0 sends the same in all three calls; rank 1 more in the last.
    let small = |rank: u32, to: u32| 100 + rank + to;
    let large = |rank: u32, to: u32| if rank == 1 { 5_000 } else { small(rank, to) };
    let of = trace(3, |rank| {
        let (small, large) = (row(rank, 3, small), row(rank, 3, large));
        format!("{small}\n{small}\n{large}\n0 0 allreduce 0 9000")
    });
    let found = uses(&of, 3, "");
    let sizes: Vec<(u64, u64)> = found.iter().map(|used| (used.phits, used.parts)).collect();
    // Rank 2: 102 + 103 + 104.
    assert_eq!(sizes, [(9_000, 3), (309, 6), (15_000, 3)]);
}

/// A gather of unequal blocks is as large as all of them, a scatter as what its root has.
#[test]
fn gathers_and_scatters_count_once() {
    let of = trace(4, |rank| format!("0 0 gatherv 0 2 {}\n0 0 scatterv 0 1 500", 100 * (rank + 1)));
    let found = uses(&of, 4, "");
    let told = |used: &CollectiveUse| (used.name.clone(), used.phits, used.parts);
    let mut found: Vec<_> = found.iter().map(told).collect();
    found.sort();
    assert_eq!(found, [("gather, linear".into(), 1_000, 4), ("scatter, linear".into(), 2_000, 4)]);
}

/// Roots do not count: a broadcast from another one is of the same algorithm, members and size.
#[test]
fn roots_do_not_count() {
    let of = trace(4, |_| "0 0 bcast 0 0 800\n0 0 bcast 0 3 800".to_owned());
    let [one] = uses(&of, 4, "").try_into().unwrap_or_else(|all| panic!("{all:?}"));
    assert_eq!((one.phits, one.parts), (800, 8));
}

#[test]
fn the_division_changes_nothing() {
    let of = trace(6, |rank| {
        let skewed = row(rank, 6, |rank, to| 1 + 977 * rank * to);
        format!("{skewed}\n0 0 gatherv 0 2 {}\n{skewed}", 100 * (rank + 1))
    });
    let mut spec = support::dragonfly(2, 4, 2);
    spec.traffic = deroute::spec::Traffic::default();
    spec.run = deroute::spec::Run::default();
    let text =
        format!("{{ packet_size = 4, jobs = [{{ trace = {{ file = '{}' }} }}] }}", of.path());
    spec.workload = Some(support::value(&text));
    let simulation = Simulation::build(&spec).unwrap_or_else(|error| panic!("{error}"));
    let run = |threads, partitions| {
        let options = RunOptions { threads, partitions: Some(partitions), ..RunOptions::default() };
        simulation.run(&options, &mut |_| ControlFlow::Continue(())).expect("it ends")
    };
    let one = run(1, 1);
    assert_eq!(job(&one).replay.as_ref().map(|replay| replay.collectives.len()), Some(2));
    for (threads, partitions) in [(2, 2), (2, 3)] {
        assert_eq!(run(threads, partitions), one);
    }
}
