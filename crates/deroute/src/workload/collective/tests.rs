//! Collectives with messages that take no time: who hears of whom, and what is sent.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::spec::{Algorithm, CollectiveKind as Kind};
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

fn all_algorithms() -> Vec<Algorithm> {
    vec![
        Algorithm::Dissemination,
        Algorithm::Binomial,
        Algorithm::RecursiveDoubling,
        Algorithm::HalvingDoubling,
        Algorithm::Ring { channels: 1 },
        Algorithm::Ring { channels: 3 },
        Algorithm::DoubleBinaryTree { chunks: 1 },
        Algorithm::DoubleBinaryTree { chunks: 4 },
        Algorithm::Bruck,
        Algorithm::Pairwise,
        Algorithm::Linear,
        Algorithm::Hierarchical { group: 2 },
        Algorithm::Hierarchical { group: 4 },
    ]
}

const KINDS: [Kind; 10] = [
    Kind::Barrier,
    Kind::Broadcast,
    Kind::Reduce,
    Kind::Allreduce,
    Kind::Gather,
    Kind::Scatter,
    Kind::Allgather,
    Kind::Alltoall,
    Kind::ReduceScatter,
    Kind::Scan,
];

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
    for n in 1..=17 {
        for kind in KINDS {
            for asked in all_algorithms().into_iter().map(Some).chain([None]) {
                let root = (n - 1) / 2;
                let sizes = Sizes::Same(48);
                let call = Call { kind, members: n, root, sizes, bytes: 48 };
                let Ok(plan) = build(&call, asked.as_ref()) else {
                    assert!(asked.is_some(), "{kind:?} of {n} goes by default");
                    continue;
                };
                check(kind, n, root, &run(&plan, n));
                count += 1;
            }
        }
    }
    assert!(count > 400, "{count}");
}

#[test]
fn large_defaults_go_as_well() {
    for n in [2, 5, 8, 12] {
        for kind in KINDS {
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
        Algorithm::Ring { channels: 1 },
        Algorithm::Ring { channels: 4 },
        Algorithm::HalvingDoubling,
        Algorithm::Hierarchical { group: 4 },
    ] {
        assert_eq!(sent(Kind::Allreduce, 64, algorithm), 2 * 7 * 8);
    }
    assert_eq!(sent(Kind::Allreduce, 64, Algorithm::RecursiveDoubling), 3 * 64);
    assert_eq!(sent(Kind::Allgather, 5, Algorithm::Ring { channels: 1 }), 7 * 5);
    for kind in [Kind::Allgather, Kind::ReduceScatter] {
        assert_eq!(sent(kind, 5, Algorithm::Ring { channels: 4 }), 7 * 5);
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
            Algorithm::Hierarchical { group: 4 },
            "groups of 4 do not divide 6 members",
        ),
        (
            call(Kind::Allgather, Sizes::Same(9), 6),
            Algorithm::RecursiveDoubling,
            "power of two, not 6",
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
