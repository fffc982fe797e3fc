//! Ranks that a network of their own joins, on networks with and without rails.

use std::ops::ControlFlow;

use deroute::outcome::JobOutcome;
use deroute::spec::{Scale, Spec, Workload};
use deroute::topology;
use deroute::traffic::Setting;
use deroute::workload::Jobs;
use deroute::{Progress, RunError, RunOptions, Simulation};

use super::{Written, completed, job, with_job};
use crate::support::{self, value};

/// A message of `s` bytes takes `A + s` ns over one switch, and `L + s / 9` within a node.
const A: u64 = 500;
const L: u64 = 700;
const NODE: &str = "node = { ranks = 8, bandwidth = '9 GB/s', latency = '700 ns' }";

/// Eight leaf switches of four hosts: a group of rails for four nodes of eight; with so many switches above them.
fn tree(spines: u32, job: &str) -> Spec {
    let mut spec = with_job(32, A as u32, job);
    let text = format!("{{ children = [4, 8], parents = [1, {spines}], parallel = [1, 1] }}");
    spec.network.topology = value(&format!("{{ fat_tree = {text} }}"));
    spec.network.links = value("{ level1 = { latency = 100, vcs = 1, buffer = 1000000 } }");
    spec.routing = value("{ mod_k = {} }");
    spec
}

/// The same with buffers of a few packets.
fn shallow_tree(job: &str) -> Spec {
    let mut spec = tree(2, job);
    spec.network.links = value("{ level1 = { latency = 100, vcs = 1, buffer = 40000 } }");
    spec
}

fn collective(ranks: u32, text: &str, more: &str) -> String {
    format!("ranks = {ranks}\nsteps = [{{ collective = {text} }}]\n{more}")
}

fn run(spec: &Spec) -> JobOutcome {
    job(&completed(spec)).clone()
}

fn bus_bandwidth(job: &JobOutcome) -> f64 {
    job.replay.as_ref().expect("a named collective").collectives[0].bus_bandwidth
}

const HIERARCHICAL: &str = "algorithm = { hierarchical = { group = 8 } }";

/// The ring of a node is as fast as its network, to the nanosecond.
#[test]
fn a_ring_within_a_node() {
    for s in [72_u64, 7_200, 720_000] {
        let text = format!("{{ kind = 'allreduce', size = {s}, algorithm = {{ ring = {{}} }} }}");
        let found = run(&tree(4, &collective(8, &text, NODE)));
        let time = 14 * (L + s / 8 / 9);
        assert_eq!(found.time, time);
        let formula = s as f64 / time as f64 * 2.0 * 7.0 / 8.0;
        assert!((bus_bandwidth(&found) / formula - 1.0).abs() < 1e-9);
        assert_eq!((found.messages.packets, found.messages.received), (0, 14 * 8));
    }
}

/// Reduce-scatter within nodes, a ring on each rail, all-gather within nodes: four nodes of eight GPUs.
#[test]
fn hierarchical_allreduce_over_rails_is_its_closed_form() {
    for s in [1_u64 << 12, 1 << 18] {
        let text = format!("{{ kind = 'allreduce', size = {s}, {HIERARCHICAL} }}");
        let more = format!("{NODE}\nplacement = 'rails'");
        // One switch above: no rail needs it.
        let found = run(&tree(1, &collective(32, &text, &more)));
        let near = 7.0 * (L as f64 + s as f64 / 8.0 / 9.0);
        let far = 6.0 * (A as f64 + s as f64 / 32.0);
        let formula = s as f64 / (2.0 * near + far) * 2.0 * 31.0 / 32.0;
        let off = bus_bandwidth(&found) / formula - 1.0;
        assert!(off.abs() < 0.02, "{s} bytes: {off}");
        // But for parts of cycles, of which a message takes whole ones.
        let whole = 14 * (L + (s / 8).div_ceil(9)) + 6 * (A + s / 32);
        assert_eq!(found.time, whole, "{s} bytes");
    }
}

/// With the hosts of a node on two leaf switches every rail crosses the one switch above.
#[test]
fn rails_keep_away_from_the_spine() {
    let text = format!("{{ kind = 'allreduce', size = 131072, {HIERARCHICAL} }}");
    let time = |spines: u32, placement: &str| {
        let more = format!("{NODE}\nplacement = '{placement}'");
        run(&tree(spines, &collective(32, &text, &more))).time
    };
    let rails = time(1, "rails");
    assert_eq!(rails, time(4, "rails"));
    assert!(time(4, "linear") > rails);
    // Four hosts of a leaf share a link: the ring between nodes takes four times as long.
    let far = 6 * 131_072 / 32;
    assert!(time(1, "linear") > rails + 2 * far, "{rails}");
}

/// A ring that leaves a leaf switch once for each of its hosts takes their share of the one switch above; in the order of the
/// leaf switches it leaves each once.
#[test]
fn rings_have_an_order() {
    // Rank i is on leaf switch i mod 8.
    let hosts: Vec<String> = (0..32).map(|rank| (rank % 8 * 4 + rank / 8).to_string()).collect();
    let scattered = format!("placement = {{ hosts = [{}] }}", hosts.join(", "));
    let by_leaf: Vec<String> =
        (0..32).map(|place| (place % 4 * 8 + place / 4).to_string()).collect();
    let by_leaf = format!("order = {{ members = [[{}]] }}, ", by_leaf.join(", "));
    for (kind, size) in [("allreduce", 16_384), ("reduce_scatter", 512), ("broadcast", 2_048)] {
        let time = |order: &str, placement: &str| {
            let ring = format!("algorithm = {{ ring = {{ {order}chunks = 2 }} }}");
            let text = format!("{{ kind = '{kind}', size = {size}, {ring} }}");
            run(&tree(1, &collective(32, &text, placement))).time
        };
        let linear = time("", "placement = 'linear'");
        assert_eq!(time(&by_leaf, &scattered), linear, "{kind}");
        if kind != "broadcast" {
            assert!(time("", &scattered) > linear + linear / 2, "{kind}");
        }
    }
}

/// All-to-all: what is for ranks of the node does not take the link of a host.
#[test]
fn all_to_all_takes_both_networks() {
    let s = 90_000_u64;
    let text = format!("{{ kind = 'alltoall', size = {s}, algorithm = 'linear' }}");
    let with = |more: &str| run(&with_job(16, A as u32, &collective(16, &text, more))).time;
    assert_eq!(with(""), A + 15 * s);
    // Ranks of a node send to the ranks of the other one in the same order, and so together to each.
    let found = with(NODE);
    assert!(found >= A + 8 * s && found <= A + 15 * s, "{found}");
    let node = run(&with_job(8, A as u32, &collective(8, &text, NODE)));
    assert_eq!(node.time, L + 7 * s / 9);
}

/// A rank sends a message after the other, and receives a message after the other.
#[test]
fn ports_take_turns() {
    let exchange = |messages: &str| {
        let steps = format!("ranks = 8\nsteps = [{{ exchange = {{ messages = {messages} }} }}]");
        let job = run(&with_job(8, A as u32, &format!("{steps}\n{NODE}")));
        job.arrays.rank_end
    };
    let (time, none) = (L + 1_000, 0);
    let ends = exchange("[[0, 1, 9000], [0, 2, 9000], [0, 3, 90]]");
    assert_eq!(ends[..5], [none, time, time + 1_000, time + 1_010, none]);
    // The short one of rank 2 is there first, and is received whole after the one of rank 1.
    let ends = exchange("[[1, 0, 9000], [2, 0, 90]]");
    assert_eq!(ends[0], time + 10);
    // Less than what a cycle brings takes a cycle.
    assert_eq!(exchange("[[4, 5, 1]]")[5], L + 1);
}

/// The send of what is not buffered ends when it has left, and what asks first asks within the node.
#[test]
fn protocols_hold_within_nodes() {
    let trace = Written::new(
        "num_ranks 2\nrank 0 {\na: send 9000b to 1\n}\nrank 1 {\na: recv 9000b from 0\n}\n",
    );
    let ends = |protocol: &str| {
        let text = format!("trace.file = '{}'\n{NODE}\n{protocol}", trace.path());
        run(&with_job(8, A as u32, &text)).arrays.rank_end
    };
    assert_eq!(ends(""), [0, L + 1_000]);
    assert_eq!(ends("protocol = { send_ends = 'injected' }"), [1_000, L + 1_000]);
    let asked = 2 * (L + 1);
    assert_eq!(ends("protocol = { eager_limit = 0 }"), [asked + 1_000, asked + L + 1_000]);
}

/// Hosts of the ranks of a job.
fn hosts(topology: &str, job: &str) -> Vec<u32> {
    let topology = topology::build(&value(topology)).unwrap();
    let setting = Setting { topology: &*topology, seed: 5 };
    let spec: Workload = value(&format!(
        "{{ packet_size = 4, jobs = [{{ steps = [{{ compute = 1 }}], placement = 'rails', \
         node = {{ ranks = 4, bandwidth = '200%', latency = 5 }}, {job} }}] }}"
    ));
    let scale = Scale::new("1 ns", "25 B").unwrap();
    let jobs = Jobs::build(&spec, &scale, &setting).unwrap_or_else(|error| panic!("{error}"));
    jobs.jobs[0].hosts.iter().map(|host| host.0).collect()
}

#[test]
fn hosts_of_a_node_are_on_rails() {
    // Eight leaf switches of two hosts.
    let tree = "{ fat_tree = { children = [2, 8], parents = [1, 2], parallel = [1, 1] } }";
    let twelve = [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14];
    assert_eq!(hosts(tree, "ranks = 12"), twelve);
    // Two ranks share a host: two rails.
    assert_eq!(hosts(tree, "ranks = 8, ranks_per_host = 2"), [0, 0, 2, 2, 1, 1, 3, 3]);
    // Fewer switches than hosts of a node: two hosts of it on each, or one on the last.
    let two = "{ fat_tree = { children = [4, 2], parents = [1, 2], parallel = [1, 1] } }";
    assert_eq!(hosts(two, "ranks = 8"), [0, 4, 1, 5, 2, 6, 3, 7]);
    let three = "{ fat_tree = { children = [4, 3], parents = [1, 2], parallel = [1, 1] } }";
    assert_eq!(hosts(three, "ranks = 8"), [0, 4, 8, 1, 2, 5, 9, 3]);
    assert_eq!(hosts("{ crossbar = { hosts = 9 } }", "ranks = 7"), [0, 1, 2, 3, 4, 5, 6]);
}

/// Nodes whose hosts are in several partitions: the same for any number of threads and partitions.
#[test]
fn the_division_changes_nothing() {
    let lanes = "{ kind = 'allreduce', size = 65536, algorithm = { ring = { channels = 3 } } }";
    for placement in ["rails", "linear", "random = {}"] {
        let placement = match placement.split_once(" = ") {
            Some((name, value)) => format!("{{ {name} = {value} }}"),
            None => format!("'{placement}'"),
        };
        let more = format!(
            "{{ collective = {{ kind = 'alltoall', size = 900, algorithm = 'linear' }} }}]\n{NODE}\n\
             placement = {placement}\nprotocol = {{ eager_limit = 4000 }}\ntimeline = true"
        );
        let text = format!("ranks = 32\nsteps = [{{ collective = {lanes} }}, {more}");
        let simulation = Simulation::build(&shallow_tree(&text)).unwrap_or_else(|e| panic!("{e}"));
        let run = |threads, partitions| {
            let partitions = Some(partitions);
            let options = RunOptions { threads, partitions, ..RunOptions::default() };
            simulation.run(&options, &mut |_| ControlFlow::Continue(())).expect("it ends")
        };
        let one = run(1, 1);
        assert!(job(&one).finished);
        for (threads, partitions) in [(1, 10), (2, 5)] {
            assert_eq!(run(threads, partitions), one, "{placement}");
        }
    }
}

/// Pairs, chunks, chains and a smaller group: the same for any number of threads and partitions.
#[test]
fn the_division_changes_no_algorithm() {
    let steps = [
        "'allgather', size = 90, algorithm = 'recursive_doubling'",
        "'reduce_scatter', size = 90, algorithm = 'halving_doubling'",
        "'allreduce', size = 9000, algorithm = { ring = { channels = 2, chunks = 3 } }",
        "'broadcast', size = 9000, root = 9, algorithm = { ring = { chunks = 5 } }",
        "'allreduce', size = 9000, algorithm = { hierarchical = { group = 5 } }",
    ];
    let steps = steps.map(|step| format!("{{ collective = {{ kind = {step} }} }}")).join(", ");
    let text = format!("ranks = 28\nsteps = [{steps}]\nplacement = {{ random = {{}} }}");
    let simulation = Simulation::build(&shallow_tree(&text)).unwrap_or_else(|e| panic!("{e}"));
    let run = |threads, partitions| {
        let options = RunOptions { threads, partitions: Some(partitions), ..RunOptions::default() };
        simulation.run(&options, &mut |_| ControlFlow::Continue(())).expect("it ends")
    };
    let one = run(1, 1);
    assert!(job(&one).finished);
    assert_eq!(job(&one).replay.as_ref().map(|replay| replay.collectives.len()), Some(5));
    for (threads, partitions) in [(1, 10), (2, 5)] {
        assert_eq!(run(threads, partitions), one);
    }
}

/// A run that breaks off while messages are on their way within nodes goes on as if it had not.
#[test]
fn a_break_changes_nothing() {
    let text = "{ kind = 'allreduce', size = 65536, algorithm = { ring = { channels = 3 } } }";
    let more = format!(
        "{NODE}\nplacement = 'rails'\nprotocol = {{ eager_limit = 4000 }}\ntimeline = true\n\
         critical_path = true"
    );
    let spec = shallow_tree(&collective(32, text, &more));
    let simulation = Simulation::build(&spec).unwrap_or_else(|error| panic!("{error}"));
    let whole = completed(&spec);
    assert!(job(&whole).critical_path.is_some());
    for partitions in [1, 5] {
        let options = RunOptions { partitions: Some(partitions), ..RunOptions::default() };
        for part in [2, 5] {
            let cycle = job(&whole).time * part / 8;
            let mut kept = None;
            let broken = simulation.run(&options, &mut |progress| {
                if progress.cycle < cycle {
                    return ControlFlow::Continue(());
                }
                kept = Some(progress.checkpoint());
                ControlFlow::Break(())
            });
            assert_eq!(broken.err(), Some(RunError::Interrupted));
            let kept = kept.expect("it breaks off").expect("all is kept");
            let mut go_on = |_: Progress<'_>| ControlFlow::Continue(());
            assert_eq!(simulation.resume(&kept, &options, &mut go_on), Ok(whole.clone()));
        }
    }
}

/// The reference of an experiment, a switch of the same hosts, has the same nodes.
#[test]
fn a_crossbar_of_rails_is_no_slower() {
    let text = format!("{{ kind = 'allreduce', size = 65536, {HIERARCHICAL} }}");
    let spec = tree(1, &collective(32, &text, &format!("{NODE}\nplacement = 'rails'")));
    let mut reference = spec.clone();
    reference.network.topology = value(
        "{ crossbar_of = { fat_tree = { children = [4, 8], parents = [1, 1], parallel = [1, 1] } } }",
    );
    reference.network.links.clear();
    reference.routing = value("{ minimal = {} }");
    assert_eq!(run(&spec).time, run(&reference).time);
    assert_eq!(support::run(&spec), support::run(&spec));
}
