//! Collectives with messages that take no time: who hears of whom, and what is sent.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::spec::{Algorithm, CollectiveKind as Kind, RingOrder};
use super::*;
use crate::workload::step::Op;

/// What happened: whom each member has heard of, and the phits that each has sent.
struct Run {
    heard: Vec<BTreeSet<u32>>,
    sent: Vec<u64>,
}

fn run(plan: &Schedule, n: u32) -> Run {
    let mut heard: Vec<BTreeSet<u32>> = (0..n).map(|member| BTreeSet::from([member])).collect();
    let mut sent = vec![0; n as usize];
    let mut mail: BTreeMap<(u32, u32, u32), VecDeque<BTreeSet<u32>>> = BTreeMap::new();
    // Where each lane of each member is: the part, and the operation in it.
    let mut at = vec![vec![(0, 0); plan.lanes() as usize]; n as usize];
    let mut moved = true;
    while moved {
        moved = false;
        for member in 0..n {
            let me = member as usize;
            for lane in 0..plan.lanes() {
                loop {
                    let (part, index) = at[me][lane as usize];
                    if part == plan.parts(lane) {
                        break;
                    }
                    let op = plan.op(member, (lane, part), index);
                    match op {
                        Some(Op::Send { to, phits, tag }) => {
                            assert!(to < n && to != member && phits > 0, "{op:?} of {member}");
                            sent[me] += u64::from(phits);
                            mail.entry((member, to, tag)).or_default().push_back(heard[me].clone());
                        }
                        Some(Op::Wait { from, tag }) => {
                            let box_of = mail.get_mut(&(from, member, tag));
                            let Some(news) = box_of.and_then(VecDeque::pop_front) else { break };
                            heard[me].extend(news);
                        }
                        Some(Op::Compute { .. }) | None => {}
                    }
                    at[me][lane as usize] =
                        if op.is_some() { (part, index + 1) } else { (part + 1, 0) };
                    moved = true;
                }
            }
        }
    }
    let ended = |lane: &(u32, u32), parts: u32| lane.0 == parts;
    for (member, lanes) in at.iter().enumerate() {
        let all = (0..).zip(lanes).all(|(lane, place)| ended(place, plan.parts(lane)));
        assert!(all, "{}: member {member} of {n} waits for a message that nobody sends", plan.name);
    }
    assert!(mail.values().all(VecDeque::is_empty), "{}: a message that nobody wants", plan.name);
    Run { heard, sent }
}

/// Along rings of so many members: as they are, or the other way round and then by threes.
fn ring(channels: u32, chunks: u32, n: Option<u32>) -> Algorithm {
    let order = n.map(|n| {
        let by_threes = (0..3).flat_map(|first| (first..n).step_by(3)).collect();
        RingOrder::Members(vec![(0..n).rev().collect(), by_threes])
    });
    Algorithm::Ring { channels, chunks, order }
}

fn all_algorithms(n: u32) -> Vec<Algorithm> {
    vec![
        Algorithm::Dissemination,
        Algorithm::Binomial,
        Algorithm::RecursiveDoubling,
        Algorithm::HalvingDoubling,
        Algorithm::RING,
        ring(3, 1, None),
        ring(1, 2, None),
        ring(1, 7, Some(n)),
        ring(3, 4, Some(n)),
        Algorithm::DoubleBinaryTree { chunks: 1 },
        Algorithm::DoubleBinaryTree { chunks: 4 },
        Algorithm::Bruck,
        Algorithm::Pairwise,
        Algorithm::Linear,
        Algorithm::Hierarchical { group: 2 },
        Algorithm::Hierarchical { group: 4 },
        Algorithm::Hierarchical { group: 5 },
    ]
}

/// The last member hears of what the kind says, whatever the algorithm and the number of members.
fn check(kind: Kind, n: u32, root: u32, run: &Run) {
    let everybody: BTreeSet<u32> = (0..n).collect();
    for (member, heard) in (0..).zip(&run.heard) {
        let right = match kind {
            Kind::Broadcast | Kind::Scatter => heard.contains(&root),
            Kind::Reduce | Kind::Gather => member != root || *heard == everybody,
            Kind::Scan => (0..=member).all(|before| heard.contains(&before)),
            _ => *heard == everybody,
        };
        assert!(right, "{kind:?}: member {member} of {n} heard of {heard:?}");
    }
}

#[test]
fn every_algorithm_does_what_its_collective_says() {
    let mut count = 0;
    for n in 1..=33 {
        for kind in Kind::ALL {
            for asked in all_algorithms(n).into_iter().map(Some).chain([None]) {
                let root = (n - 1) / 2;
                let sizes = Sizes::Same(48);
                let call = Call { kind, members: n, root, sizes, bytes: 48 };
                let Ok(plan) = build(&call, asked.as_ref()) else {
                    let fits = asked.is_some_and(|asked| !takes(kind, &asked));
                    assert!(fits, "{kind:?} of {n} goes by default, and by what fits some members");
                    continue;
                };
                check(kind, n, root, &run(&plan, n));
                count += 1;
            }
        }
    }
    assert!(count > 1_500, "{count}");
}

/// All blocks come to all, or their sums to each, whatever their sizes, and nobody sends one without need.
#[test]
fn blocks_have_sizes_of_their_own() {
    for n in 1..=33_u32 {
        let blocks: Box<[u32]> = (0..n).map(|member| 1 + member * member % 23).collect();
        let all: u64 = blocks.iter().map(|phits| u64::from(*phits)).sum();
        for kind in [Kind::Allgather, Kind::ReduceScatter] {
            for asked in all_algorithms(n) {
                let sizes = Sizes::Blocks(blocks.clone());
                let call = Call { kind, members: n, root: 0, sizes, bytes: 0 };
                let Ok(plan) = build(&call, Some(&asked)) else {
                    assert!(!takes(kind, &asked), "{kind:?} of {n} by {asked:?}");
                    continue;
                };
                let found = run(&plan, n);
                check(kind, n, 0, &found);
                if let (Algorithm::Ring { .. }, 2..) = (&asked, n) {
                    let sent: u64 = found.sent.iter().sum();
                    assert_eq!(sent, all * u64::from(n - 1), "{kind:?} of {n} by {asked:?}");
                }
            }
        }
    }
}

/// Of a number that is no power of two, the first ones hand over what they have, and get the result.
#[test]
fn pairs_send_what_the_formulas_say() {
    for n in 2..=33_u32 {
        let (pairs, left) = (n - (1 << n.ilog2()), 1_u64 << n.ilog2());
        let sent = |kind, algorithm: Algorithm| {
            let call = Call { kind, members: n, root: 0, sizes: Sizes::Same(5), bytes: 0 };
            run(&build(&call, Some(&algorithm)).unwrap(), n).sent.iter().sum::<u64>()
        };
        let (n, pairs, rounds) = (u64::from(n), u64::from(pairs), n.ilog2());
        // Each number gets the blocks of the others; the first of a pair hands over one, and gets n - 1.
        let gathered = 5 * (n * (left - 1) + pairs + pairs * (n - 1));
        assert_eq!(sent(Kind::Allgather, Algorithm::RecursiveDoubling), gathered, "{n}");
        // Each number gets its own blocks from the others; the first of a pair hands over n, and gets one.
        let scattered = 5 * (n * (left - 1) + pairs * n + pairs);
        assert_eq!(sent(Kind::ReduceScatter, Algorithm::HalvingDoubling), scattered, "{n}");
        let doubled = 5 * (left * u64::from(rounds) + 2 * pairs);
        assert_eq!(sent(Kind::Allreduce, Algorithm::RecursiveDoubling), doubled, "{n}");
    }
}

/// The members of the last group have several pieces each, and no other sends more because of them.
#[test]
fn the_last_group_may_be_smaller() {
    for n in 1..=33_u32 {
        for group in 1..=9 {
            let call = Call {
                kind: Kind::Allreduce,
                members: n,
                root: 0,
                sizes: Sizes::Same(2520),
                bytes: 0,
            };
            let plan = build(&call, Some(&Algorithm::Hierarchical { group })).unwrap();
            let found = run(&plan, n);
            check(Kind::Allreduce, n, 0, &found);
            let (full, rest) = (n / group, n % group);
            let (groups, group) = (u64::from(full + u32::from(rest > 0)), u64::from(group));
            if full > 0 && 2520 % (group * groups) == 0 {
                let own = 2 * 2520 * (group - 1) / group + 2 * 2520 * (groups - 1) / groups / group;
                assert!(
                    found.sent[..(full as usize) * group as usize].iter().all(|sent| *sent == own)
                );
                let last: u64 = found.sent[(full as usize) * group as usize..].iter().sum();
                let rest = u64::from(rest);
                let across = 2 * 2520 * (groups - 1) / groups;
                assert_eq!(last, if rest == 0 { 0 } else { 2 * 2520 * (rest - 1) + across });
            }
        }
    }
}

#[test]
fn large_defaults_go_as_well() {
    for n in [2, 5, 8, 12] {
        for kind in Kind::ALL {
            let call = Call { kind, members: n, root: 0, sizes: Sizes::Same(4096), bytes: 1 << 20 };
            check(kind, n, 0, &run(&build(&call, None).unwrap(), n));
        }
    }
}

/// What a member sends at least, and does.
#[test]
fn the_best_algorithms_send_no_more_than_needed() {
    let n = 8;
    let sent = |kind, phits, algorithm: Algorithm| {
        let call = Call { kind, members: n, root: 0, sizes: Sizes::Same(phits), bytes: 0 };
        let run = run(&build(&call, Some(&algorithm)).unwrap(), n);
        assert!(run.sent.iter().all(|own| *own == run.sent[0]), "{algorithm:?}");
        run.sent[0]
    };
    for algorithm in [
        Algorithm::RING,
        ring(4, 1, None),
        ring(1, 4, None),
        ring(2, 3, Some(8)),
        Algorithm::HalvingDoubling,
        Algorithm::Hierarchical { group: 4 },
    ] {
        assert_eq!(sent(Kind::Allreduce, 64, algorithm), 2 * 7 * 8);
    }
    assert_eq!(sent(Kind::Allreduce, 64, Algorithm::RecursiveDoubling), 3 * 64);
    assert_eq!(sent(Kind::Allgather, 5, Algorithm::RING), 7 * 5);
    for kind in [Kind::Allgather, Kind::ReduceScatter] {
        assert_eq!(sent(kind, 5, ring(4, 1, None)), 7 * 5);
    }
    assert_eq!(sent(Kind::Allgather, 5, Algorithm::Bruck), 7 * 5);
    assert_eq!(sent(Kind::ReduceScatter, 5, Algorithm::HalvingDoubling), 7 * 5);
    assert_eq!(sent(Kind::Alltoall, 5, Algorithm::Linear), 7 * 5);
    assert_eq!(sent(Kind::Alltoall, 5, Algorithm::Bruck), 3 * 4 * 5);
}

/// Two trees in which nobody is the root of both, and, if there is an even number, nobody is a leaf of both.
#[test]
fn double_trees_share_the_work() {
    for n in [4, 6, 16] {
        let call =
            Call { kind: Kind::Allreduce, members: n, root: 0, sizes: Sizes::Same(60), bytes: 0 };
        let plan = build(&call, Some(&Algorithm::DoubleBinaryTree { chunks: 1 })).unwrap();
        let is_leaf = |member, lane| {
            let first = plan.op(member, (lane, 0), 0);
            matches!(first, Some(Op::Send { .. }))
        };
        for member in 0..n {
            assert!(!(is_leaf(member, 0) && is_leaf(member, 1)), "{member} of {n}");
        }
    }
}

#[test]
fn what_does_not_go_is_refused() {
    let call = |kind, sizes, members| Call { kind, members, root: 0, sizes, bytes: 0 };
    let refusals = [
        (call(Kind::Barrier, Sizes::Same(1), 4), Algorithm::Bruck, "barrier does not go by bruck"),
        (
            call(Kind::Allreduce, Sizes::Same(9), 6),
            ring(1, 1, Some(8)),
            "a ring of 8 members is not one of 6",
        ),
        (
            call(Kind::ReduceScatter, Sizes::Same(1 << 28), 6),
            Algorithm::HalvingDoubling,
            "the blocks of 6 members are too many phits",
        ),
        (
            call(Kind::Alltoall, Sizes::Row([1, 2].into()), 2),
            Algorithm::Bruck,
            "of different sizes does not go by bruck",
        ),
    ];
    for (call, algorithm, told) in refusals {
        let error = build(&call, Some(&algorithm)).err().unwrap_or_default();
        assert!(error.contains(told), "{error}");
        // In a trace the usual one stands for what fits other members.
        let fitting = build_fitting(&call, Some(&algorithm));
        assert_eq!(fitting.is_err(), call.kind == Kind::Barrier, "{told}");
        if let Ok(plan) = fitting {
            assert_eq!(plan.asked(), Some(algorithm.name()));
            assert_eq!(plan.name, build(&call, None).unwrap().name);
        }
    }
    let none = Algorithm::Hierarchical { group: 0 };
    assert!(build_fitting(&call(Kind::Allreduce, Sizes::Same(9), 6), Some(&none)).is_err());
}
