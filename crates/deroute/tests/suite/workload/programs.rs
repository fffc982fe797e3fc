//! Programs: what their steps say.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use deroute::spec::{CrossbarSpec, Scale, Topology, Workload};
use deroute::topology::{self};
use deroute::traffic::Setting;
use deroute::workload::{Jobs, Op};

use crate::support::value;

/// The jobs of a workload on a switch with so many hosts.
fn jobs(hosts: u32, workload: &str) -> Jobs {
    let topology = topology::build(&Topology::Crossbar(CrossbarSpec { hosts })).unwrap();
    let scale = Scale::new("1 ns", "25 B").unwrap();
    let setting = Setting { topology: &*topology, seed: 5 };
    let spec: Workload = value(workload);
    Jobs::build(&spec, &scale, &setting).unwrap_or_else(|error| panic!("{error}"))
}

/// One job with these steps.
fn job(ranks: u32, steps: &str) -> Jobs {
    let text = format!("{{ packet_size = 4, jobs = [{{ ranks = {ranks}, steps = {steps} }}] }}");
    jobs(ranks.max(2), &text)
}

/// A message of a program.
type Sent = (u32, u32, u32);

/// What happened when a program ran with messages that take no time.
struct Run {
    /// Ranks that each rank has heard of, through others as well.
    heard: Vec<BTreeSet<u32>>,
    /// Receiver and phits of what each rank sent.
    sent: Vec<Vec<(u32, u32)>>,
}

/// Runs the first iteration of the first job.
fn run_program(jobs: &Jobs) -> Run {
    let job = &jobs.jobs[0];
    let ranks = job.ranks();
    let ops = |rank| {
        (0..job.steps()).flat_map(move |step| {
            (0..).map_while(move |index| job.op(rank, 0, step, index)).collect::<Vec<_>>()
        })
    };
    let mut left: Vec<VecDeque<Op>> = (0..ranks).map(|rank| ops(rank).collect()).collect();
    let mut heard: Vec<BTreeSet<u32>> = (0..ranks).map(|rank| BTreeSet::from([rank])).collect();
    let mut mail: BTreeMap<Sent, VecDeque<BTreeSet<u32>>> = BTreeMap::new();
    let mut sent = vec![Vec::new(); ranks as usize];
    let mut moved = true;
    while moved {
        moved = false;
        for rank in 0..ranks {
            let me = rank as usize;
            while let Some(op) = left[me].front().copied() {
                match op {
                    Op::Send { to, phits, tag } => {
                        assert!(to < ranks && to != rank && phits > 0, "{op:?} of rank {rank}");
                        sent[me].push((to, phits));
                        mail.entry((rank, to, tag)).or_default().push_back(heard[me].clone());
                    }
                    Op::Wait { from, tag } => {
                        let Some(news) =
                            mail.get_mut(&(from, rank, tag)).and_then(VecDeque::pop_front)
                        else {
                            break;
                        };
                        heard[me].extend(news);
                    }
                    Op::Compute { .. } => {}
                }
                left[me].pop_front();
                moved = true;
            }
        }
    }
    assert!(left.iter().all(VecDeque::is_empty), "a rank waits for a message that nobody sends");
    assert!(mail.values().all(VecDeque::is_empty), "a message that nobody waits for");
    Run { heard, sent }
}

fn messages(run: &Run) -> Vec<usize> {
    run.sent.iter().map(Vec::len).collect()
}

/// Rounds of an algorithm whose reach doubles.
fn rounds(ranks: u32) -> usize {
    f64::from(ranks).log2().ceil() as usize
}

const SIZES: [u32; 12] = [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 33];

#[test]
fn after_a_collective_every_rank_has_heard_of_every_other() {
    for ranks in SIZES {
        for steps in [
            "[{ dissemination = { size = 3 } }]",
            "[{ recursive_doubling = { size = 3 } }]",
            "[{ ring = { size = 3 } }]",
            "[{ bruck = { size = 3 } }]",
            "[{ reduce = { size = 3 } }, { broadcast = { size = 3 } }]",
        ] {
            let run = run_program(&job(ranks, steps));
            for (rank, heard) in run.heard.iter().enumerate() {
                assert_eq!(heard.len() as u32, ranks, "{steps}: rank {rank} of {ranks}");
            }
        }
    }
}

#[test]
fn collectives_send_as_many_messages_as_they_should() {
    for ranks in SIZES {
        let (n, log) = (ranks as usize, rounds(ranks));
        let count = |steps| messages(&run_program(&job(ranks, steps)));
        assert_eq!(count("[{ dissemination = { size = 3 } }]"), vec![log; n]);
        assert_eq!(count("[{ bruck = { size = 3 } }]"), vec![log; n]);
        assert_eq!(count("[{ ring = { size = 3 } }]"), vec![2 * (n - 1); n]);
        let all: usize = count("[{ recursive_doubling = { size = 3 } }]").iter().sum();
        let whole = 1usize << ranks.ilog2();
        assert_eq!(all, whole * whole.ilog2() as usize + 2 * (n - whole));
        for steps in ["[{ reduce = { size = 3 } }]", "[{ broadcast = { size = 3 } }]"] {
            assert_eq!(count(steps).iter().sum::<usize>(), n - 1, "{steps}");
        }
    }
}

#[test]
fn trees_begin_and_end_at_their_root() {
    for ranks in SIZES {
        for root in [0, ranks / 2, ranks - 1] {
            let down = format!("[{{ broadcast = {{ size = 3, root = {root} }} }}]");
            let run = run_program(&job(ranks, &down));
            assert!(run.heard.iter().all(|heard| heard.contains(&root)), "{ranks}, {root}");
            assert!(run.sent[root as usize].len() == rounds(ranks), "{ranks}, {root}");
            let up = format!("[{{ reduce = {{ size = 3, root = {root} }} }}]");
            let run = run_program(&job(ranks, &up));
            assert_eq!(run.heard[root as usize].len() as u32, ranks);
            assert!(run.sent[root as usize].is_empty());
        }
    }
}

#[test]
fn collectives_move_as_much_data_as_they_should() {
    for ranks in SIZES.into_iter().filter(|n| *n > 1) {
        let phits = |steps: &str| -> Vec<u64> {
            let run = run_program(&job(ranks, steps));
            run.sent.iter().map(|sent| sent.iter().map(|(_, p)| u64::from(*p)).sum()).collect()
        };
        // 2 (n - 1) / n of the data, where it can be divided.
        let data = 5 * ranks;
        let ring = phits(&format!("[{{ ring = {{ size = {data} }} }}]"));
        assert!(ring.iter().all(|&sent| sent == u64::from(10 * (ranks - 1))), "{ring:?}");
        // Each block travels as many hops as its distance has bits.
        let bits: u64 = (1..ranks).map(|distance| u64::from(distance.count_ones())).sum();
        let bruck = phits("[{ bruck = { size = 3 } }]");
        assert!(bruck.iter().all(|&sent| sent == 3 * bits), "{bruck:?}");
    }
}

/// Neighbours of each rank in a stencil.
fn neighbours(shape: &str, ranks: u32, periodic: bool) -> Vec<BTreeMap<u32, usize>> {
    let sizes = "sizes = { face = 4, edge = 2, corner = 1 }";
    let steps = format!(
        "[{{ stencil = {{ shape = {shape}, periodic = {periodic}, messages = {{ {sizes} }} }} }}]"
    );
    let run = run_program(&job(ranks, &steps));
    let count = |sent: &Vec<(u32, u32)>| {
        let mut counts = BTreeMap::new();
        sent.iter().for_each(|(_, phits)| *counts.entry(*phits).or_insert(0) += 1);
        counts
    };
    run.sent.iter().map(count).collect()
}

#[test]
fn a_stencil_has_its_neighbours() {
    // Faces, edges, corners.
    let counts = |list: [(u32, usize); 3]| -> BTreeMap<u32, usize> {
        list.into_iter().filter(|(_, n)| *n > 0).collect()
    };
    let all = counts([(4, 6), (2, 12), (1, 8)]);
    assert!(neighbours("[4, 3, 5]", 60, true).iter().all(|found| *found == all));
    let open = neighbours("[4, 3, 5]", 60, false);
    assert_eq!(open[0], counts([(4, 3), (2, 3), (1, 1)]), "a corner");
    assert_eq!(open[1], counts([(4, 4), (2, 5), (1, 2)]), "an edge");
    assert_eq!(open[5], counts([(4, 5), (2, 8), (1, 4)]), "a face");
    assert_eq!(open[5 + 12], all, "inside");
    let flat = counts([(4, 4), (2, 4), (1, 0)]);
    assert!(neighbours("[4, 3]", 12, true).iter().all(|found| *found == flat));
    // Two wide, the neighbour on both sides is the same; one wide, it is the rank itself.
    assert!(neighbours("[2, 3, 3]", 18, true).iter().all(|found| *found == all));
    assert!(
        neighbours("[1, 3, 3]", 9, true).iter().all(|found| found.values().sum::<usize>() == 24),
        "three ranks deep in two dimensions"
    );
    assert_eq!(neighbours("[5]", 5, false)[0], counts([(4, 1), (2, 0), (1, 0)]));
}

#[test]
fn a_stencil_divides_its_data() {
    let phits = |messages: &str| -> u32 {
        let steps = format!("[{{ stencil = {{ shape = [3, 3, 3], messages = {messages} }} }}]");
        run_program(&job(27, &steps)).sent[13].iter().map(|(_, phits)| phits).sum()
    };
    // 100 KB of 25 B are 4,000 phits; every message is rounded up.
    assert_eq!(phits("{ equal = '100 KB' }"), 26 * 154);
    // 6 x 100 + 12 x 10 + 8 = 728 parts.
    let weighted = "{ weighted = { total = 728, face = 100, edge = 10, corner = 1 } }";
    assert_eq!(phits(weighted), 728);
    assert_eq!(phits("{ sizes = { face = '26 B', edge = 1, corner = 3 } }"), 12 + 12 + 24);
}

#[test]
fn a_matrix_is_exchanged() {
    let steps = "[{ exchange = { messages = [[2, 0, 3], [0, 1, '30 B'], [0, 2, 1], [2, 0, 4]] } }]";
    let run = run_program(&job(3, steps));
    assert_eq!(run.sent, [vec![(1, 2), (2, 1)], vec![], vec![(0, 3), (0, 4)]]);
}

#[test]
fn ranks_are_placed() {
    let hosts = |placement: &str, ranks: u32, steps: &str| -> Vec<u32> {
        let text = format!(
            "{{ packet_size = 4, jobs = [
                {{ ranks = 3, steps = [{{ compute = 1 }}] }},
                {{ ranks = {ranks}, placement = {placement}, steps = {steps} }}] }}"
        );
        jobs(20, &text).jobs[1].hosts.iter().map(|host| host.0).collect()
    };
    let compute = "[{ compute = 1 }]";
    assert_eq!(hosts("'linear'", 4, compute), [3, 4, 5, 6]);
    assert_eq!(hosts("{ hosts = [19, 4, 7] }", 3, compute), [19, 4, 7]);
    let random = hosts("{ random = {} }", 17, compute);
    assert_ne!(random, hosts("{ random = { seed = 6 } }", 17, compute));
    assert_eq!(random, hosts("{ random = { seed = 5 } }", 17, compute), "the seed of the run");
    assert_eq!(BTreeSet::from_iter(random), BTreeSet::from_iter(3..20));
    let grid = "[{ stencil = { shape = [4, 2], messages = { equal = 9 } } }]";
    // Two blocks of two by two: ranks 0, 1, 4, 5 and 2, 3, 6, 7.
    let blocked = hosts("{ blocked = { block = [2, 2] } }", 8, grid);
    assert_eq!(blocked, [3, 4, 7, 8, 5, 6, 9, 10]);
}
