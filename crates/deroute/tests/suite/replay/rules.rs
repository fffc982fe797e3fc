//! How a trace is replayed, rule by rule. A message of `s` bytes takes `A + s` ns here.

use std::ops::ControlFlow;

use deroute::spec::Spec;
use deroute::{RunError, RunOptions, Simulation};

use super::{Written, completed, data, ideal, job, mpi};
use crate::support::{self, value};

const A: u64 = 999;

/// GOAL of two ranks.
fn goal(first: &str, second: &str) -> Written {
    Written::new(format!("num_ranks 2\nrank 0 {{\n{first}\n}}\nrank 1 {{\n{second}\n}}\n"))
}

fn spec(trace: &Written, more: &str) -> Spec {
    ideal(8, A as u32, trace.path(), more)
}

fn time(trace: &Written, more: &str) -> u64 {
    job(&completed(&spec(trace, more))).time
}

fn ends(trace: &Written, more: &str) -> Vec<u64> {
    job(&completed(&spec(trace, more))).arrays.rank_end.clone()
}

fn failure(spec: &Spec) -> RunError {
    let simulation = Simulation::build(spec).unwrap_or_else(|error| panic!("{error}"));
    let run = simulation.run(&RunOptions::default(), &mut |_| ControlFlow::Continue(()));
    run.expect_err("it cannot end")
}

const RENDEZVOUS: &str = "protocol = { eager_limit = 0 }";

/// The second message is short and would be there first by another way; it is not what is received first.
#[test]
fn messages_match_in_the_order_in_which_they_were_sent() {
    let found = time(
        &goal(
            "a: send 100000b to 1 tag 7\nb: send 1000b to 1 tag 7\nb requires a",
            "a: recv 100000b from 0 tag 7\nb: calc 5000\nb requires a\n\
         c: recv 1000b from 0 tag 7\nc requires b\nd: calc 1\nd requires c",
        ),
        "",
    );
    assert_eq!(found, A + 100_000 + 5_000 + 1);
    // Over many ways, by which packets overtake each other: the same messages for any division.
    let mut spec = support::dragonfly(2, 4, 2);
    spec.traffic = deroute::spec::Traffic::default();
    spec.run = deroute::spec::Run::default();
    spec.routing = value("{ valiant = {} }");
    spec.workload = Some(value(&format!(
        "{{ packet_size = 4, jobs = [{{ placement = {{ hosts = [0, 60] }},
           trace = {{ file = '{}' }} }}] }}",
        data("goal/non-overtaking.goal")
    )));
    let outcome = completed(&spec);
    assert!(job(&outcome).messages.resequenced > 0, "packets overtake each other");
    let ends = &job(&outcome).arrays.rank_end;
    assert!(ends[1] > 4000 + 5_000, "the long message of 4,000 phits comes first");
}

/// Recorded: what a receive got. Arrival: what comes first.
#[test]
fn wildcards_take_what_was_recorded_or_what_arrives() {
    let trace = mpi(&[
        "0 0 recv -1 8 -1 0 <2,5,8\n90000 0 recv -1 8 -1 0 <1,5,8",
        "0 0 send 0 8 5 0",
        "50000 0 send 0 8 5 0",
    ]);
    let first = |wildcards: &str| {
        let more = format!("trace.wildcards = '{wildcards}'");
        job(&completed(&spec(&trace, &more))).clone()
    };
    // After the message of rank 2, or of rank 1, the rank computes.
    let (recorded, arrival) = (first("recorded"), first("arrival"));
    assert_eq!(recorded.time, 50_000 + A + 8 + 90_000);
    assert_eq!(arrival.time, A + 8 + 90_000);
    let says = |job: &deroute::outcome::JobOutcome| job.replay.as_ref().unwrap().says.join("; ");
    assert!(says(&recorded).contains("that the program names"));
    assert!(says(&arrival).contains("arrives first"));
}

/// Request, ready and data travel, and the data only when its receive is posted.
#[test]
fn large_messages_ask_first() {
    let trace = goal("a: send 10000b to 1\nb: calc 7\nb requires a", "a: recv 10000b from 0");
    assert_eq!(ends(&trace, ""), [7, A + 10_000]);
    let outcome = completed(&spec(&trace, RENDEZVOUS));
    let (control, data) = (A + 1, A + 10_000);
    // The send ends when its last byte has left the host.
    assert_eq!(job(&outcome).arrays.rank_end, [2 * control + 10_000 + 7, 2 * control + data]);
    assert_eq!(job(&outcome).replay.as_ref().unwrap().control_messages, 2);
    assert_eq!(job(&outcome).messages.received, 1);
    let larger = "protocol = { eager_limit = 9999, control = 64 }";
    assert_eq!(time(&trace, larger), 2 * (A + 64) + data);
    assert_eq!(time(&trace, "protocol = { eager_limit = 10000 }"), data);
    // A late receiver.
    let late = goal("a: send 10000b to 1", "a: calc 50000\nb: recv 10000b from 0\nb requires a");
    assert_eq!(time(&late, RENDEZVOUS), 50_000 + control + data);
    assert_eq!(time(&late, ""), 50_000);
}

/// An eager send ends at once, or when its last byte has left.
#[test]
fn sends_end_as_the_spec_says() {
    let trace = goal("a: send 10000b to 1\nb: calc 7\nb requires a", "a: recv 10000b from 0");
    let injected = "protocol = { send_ends = 'injected' }";
    assert_eq!(ends(&trace, injected)[0], 10_000 + 7);
    let mut slow = spec(&trace, injected);
    slow.network.nic.link = Some(value("{ buffer = 1000000, rate = '1/4' }"));
    assert_eq!(job(&completed(&slow)).arrays.rank_end[0], 40_000 + 7);
}

#[test]
fn synchronous_sends_ask_always() {
    let trace = mpi(&["0 0 ssend 1 100 0 0", "9000 0 recv 0 100 0 0"]);
    assert_eq!(time(&trace, ""), 9_000 + (A + 1) + A + 100);
}

/// What the program has buffered asks and goes in the background, whatever its size; its host has it until it has left.
#[test]
fn buffered_sends_end_at_once() {
    let limit = "protocol = { eager_limit = 100 }";
    for (send, wait) in [("bsend 1 800 0 0", ""), ("ibsend 1 800 0 0 5", "0 0 wait 5\n")] {
        let calls = |other: u32| {
            let send = send.replacen('1', &other.to_string(), 1);
            format!("0 0 {send}\n{wait}0 0 recv {other} 800 0 0")
        };
        let trace = mpi(&[&calls(1), &calls(0)]);
        assert_eq!(time(&trace, limit), 2 * (A + 1) + A + 800, "{send}");
    }
    let trace =
        mpi(&["0 0 bsend 1 800 0 0\n5 0 send 1 8 0 0", "0 0 recv 0 800 0 0\n0 0 recv 0 8 0 0"]);
    let injected = "protocol = { send_ends = 'injected' }";
    assert_eq!(job(&completed(&spec(&trace, injected))).arrays.rank_computed[0], 5);
    assert_eq!(ends(&trace, injected), [808, A + 808]);
    let late =
        mpi(&["0 0 bsend 1 800 0 0\n5 0 send 1 8 1 0", "0 0 recv 0 8 1 0\n0 0 recv 0 800 0 0"]);
    assert_eq!(ends(&late, limit)[1], 5 + (A + 8) + (A + 1) + (A + 800));
}

/// Two ranks that both send first.
#[test]
fn a_deadlock_names_ranks_and_calls() {
    let both = |other: u32| format!("0 0 send {other} 100 3 0\n0 0 recv {other} 100 3 0");
    let trace = mpi(&[&both(1), &both(0)]);
    assert_eq!(time(&trace, ""), A + 100);
    let error = failure(&spec(&trace, RENDEZVOUS)).to_string();
    for part in [
        "rank 0 of job1 waits until rank 1 receives what it sends (send, line 3 of rank0.txt)",
        "rank 1 of job1 waits until rank 0 receives what it sends (send, line 3 of rank1.txt)",
    ] {
        assert!(error.contains(part), "{error}");
    }
    // A receive that waits in a circle.
    let trace = mpi(&["0 0 recv 1 8 0 0\n0 0 send 1 8 0 0", "0 0 recv 0 8 0 0\n0 0 send 0 8 0 0"]);
    let error = failure(&spec(&trace, "")).to_string();
    let part =
        "rank 0 of job1 waits for a message from rank 1 with tag 0 (receive, line 3 of rank0";
    assert!(error.contains(part), "{error}");
}

/// What is begun goes on while the rank computes, and the order of waits changes nothing.
#[test]
fn what_is_begun_overlaps() {
    let trace = mpi(&[
        "0 0 isend 1 5000 1 0 0\n0 0 isend 1 600 1 0 1\n20000 0 wait 1 0",
        "0 0 irecv 0 5000 1 0 0\n0 0 irecv 0 600 1 0 1\n0 0 wait 1<0,1,600\n400 0 wait 0<0,1,5000",
    ]);
    let outcome = completed(&spec(&trace, ""));
    assert_eq!(job(&outcome).arrays.rank_end, [20_000, A + 5_600 + 400]);
    assert_eq!(job(&outcome).arrays.rank_wait, [0, A + 5_600]);
    assert_eq!(job(&outcome).arrays.rank_computed, [20_000, 400]);
}

/// Where the time of each rank goes.
#[test]
fn the_time_of_a_rank_is_divided() {
    let trace = mpi(&["100 0 recv 1 50 0 0\n0 0 barrier 0", "900 0 ssend 0 50 0 0\n0 0 barrier 0"]);
    let outcome = completed(&spec(&trace, ""));
    let arrays = &job(&outcome).arrays;
    let asked = (A + 1) * 2;
    assert_eq!(arrays.rank_computed, [100, 900]);
    assert_eq!(arrays.rank_receive, [800 + asked + A + 50, 0]);
    assert_eq!(arrays.rank_send, [0, asked + 50]);
    for rank in 0..2 {
        let parts = [&arrays.rank_collective, &arrays.rank_receive, &arrays.rank_send];
        let sum: u64 = parts.iter().map(|part| part[rank]).sum();
        assert_eq!(
            sum + arrays.rank_computed[rank] + arrays.rank_wait[rank],
            arrays.rank_end[rank]
        );
    }
}

/// When each rank does what, if that is asked for.
#[test]
fn the_course_of_a_rank_is_kept() {
    let trace = mpi(&["100 0 recv 1 50 0 0\n0 0 barrier 0", "900 0 ssend 0 50 0 0\n0 0 barrier 0"]);
    let outcome = completed(&spec(&trace, "timeline = true"));
    let arrays = &job(&outcome).arrays;
    let asked = (A + 1) * 2;
    let (sent, received) = (900 + asked + 50, 900 + asked + A + 50);
    assert_eq!(arrays.timeline_ranks, [0, 3, 6]);
    assert_eq!(arrays.timeline_activity, [0, 2, 1, 0, 3, 1]);
    assert_eq!(arrays.timeline_begin, [0, 100, received, 0, 900, sent]);
    // What lasts until the next one begins, and at last until the rank ends, is what was counted.
    let begin = |at: usize| arrays.timeline_begin[at];
    assert_eq!(begin(2) - begin(1), arrays.rank_receive[0]);
    assert_eq!(arrays.rank_end[0] - begin(2), arrays.rank_collective[0]);
    assert!(job(&completed(&spec(&trace, ""))).arrays.timeline_ranks.is_empty());
}

#[test]
fn nothing_is_a_message_as_well() {
    let trace = mpi(&["0 0 send 1 0 0 0", "0 0 recv 0 0 0 0"]);
    let outcome = completed(&spec(&trace, "trace.messages = 50.0"));
    assert_eq!((job(&outcome).time, job(&outcome).messages.phits), (A + 1, 1));
}

#[test]
fn computations_and_messages_are_scaled() {
    let trace = mpi(&["1000 0 send 1 333 0 0", "10 0 recv 0 333 0 0\n500 0 barrier 0"]);
    let broken = Simulation::build(&spec(&trace, "")).err().map(|error| error.to_string());
    assert!(broken.is_some_and(|error| error.contains("takes part in a barrier")));
    let trace = mpi(&["1000 0 send 1 333 0 0", "10 0 recv 0 333 0 0\n500 0 nothing"]);
    assert_eq!(time(&trace, ""), 1_000 + A + 333 + 500);
    assert_eq!(time(&trace, "trace.compute = 0.0"), A + 333);
    assert_eq!(time(&trace, "trace.compute = 0.5"), 500 + A + 333 + 250);
    assert_eq!(time(&trace, "trace.compute_of_rank = [2.0, 1.0]"), 2_000 + A + 333 + 500);
    for (messages, bytes) in [("1.5", 500), ("0.1", 34), ("1.001", 334), ("3.0", 999)] {
        let more = format!("trace.messages = {messages}");
        assert_eq!(time(&trace, &more), 1_000 + A + bytes + 500);
    }
    // No product that is exact is rounded up.
    let hundred = mpi(&["0 0 send 1 100 0 0", "0 0 recv 0 100 0 0"]);
    for (messages, bytes) in [("1.1", 110), ("0.07", 7), ("0.29", 29), ("1e-9", 1), ("0.0", 1)] {
        assert_eq!(time(&hundred, &format!("trace.messages = {messages}")), A + bytes);
    }
    for (factors, told) in [
        ("[1.0, -2.0]", "compute_of_rank[1]: -2 is no factor"),
        ("[1.0, 2.0, 3.0]", "2 ranks, but compute_of_rank has 3 factors"),
        ("[2.0]", "2 ranks, but compute_of_rank has 1 factors"),
        ("{ file = 'slow.txt' }", "compute_of_rank.file: \"slow.txt\": the engine reads no files"),
    ] {
        let spec = spec(&trace, &format!("trace.compute_of_rank = {factors}"));
        let error = Simulation::build(&spec).err().expect("not that").to_string();
        assert!(error.contains(told), "{error}");
    }
}

/// Collectives of some ranks in an order of their own, and one with a size for each pair of ranks.
#[test]
fn communicators_and_sizes_of_members() {
    let calls = |rank: u32| {
        let (comm, members, root) = if rank % 2 == 1 { (3, "3,1", 3) } else { (5, "0,2", 2) };
        let row: Vec<String> = (0..4).map(|to| (10 * (rank + 1) + to).to_string()).collect();
        format!(
            "comm {comm} {members}\n0 0 bcast {comm} {root} 100\n0 0 allreduce {comm} 200\n\
             0 0 alltoallv 0 {}",
            row.join(",")
        )
    };
    let ranks: Vec<String> = (0..4).map(calls).collect();
    let ranks: Vec<&str> = ranks.iter().map(String::as_str).collect();
    let trace = mpi(&ranks);
    let run = |more: &str| {
        let outcome = completed(&spec(&trace, more));
        let job = job(&outcome).clone();
        (job.time, job.messages.sent, job.messages.phits)
    };
    // Two broadcasts, two all-reduces of two messages each, and 10 (r + 1) + k bytes from r to k.
    let blocks: u64 = (0..4).map(|rank| 3 * 10 * (rank + 1) + 6 - rank).sum();
    let phits = 2 * 100 + 4 * 200 + blocks;
    // Roots wait for what was sent after their broadcast had come. The rounds of the pairwise exchange have at least
    // 31 bytes (from 2 to 1), 32 and 31.
    assert_eq!(run(""), (2 * (A + 150) + 3 * A + 94, 18, phits));
    // All at once, after the same.
    let linear = run("trace.collectives.alltoall = 'linear'");
    assert_eq!(linear, (2 * (A + 150) + A + 123, 18, phits));
    assert_eq!(run("trace.messages = 2.0"), (2 * (A + 300) + 3 * A + 188, 18, 2 * phits));
    // Rings of four are not ones of two members, who take the usual algorithm.
    let grouped =
        "trace.collectives.allreduce = { ring = { order = { members = [[0, 2, 1, 3]] } } }";
    assert_eq!(run(grouped), run(""));
    let outcome = completed(&spec(&trace, grouped));
    let used = &job(&outcome).replay.as_ref().expect("it follows a trace").collectives;
    let instead: Vec<_> = used.iter().filter(|used| used.asked.is_some()).collect();
    let [all] = instead.as_slice() else { panic!("{used:?}") };
    assert_eq!((all.name.as_str(), all.members), ("allreduce, recursive_doubling", 2));
    assert_eq!(all.asked.as_deref(), Some("ring"));
    // Two members are one group of up to four: a reduce-scatter and an all-gather of two halves.
    let grouped = run("trace.collectives.allreduce = { hierarchical = { group = 4 } }");
    assert_eq!((grouped.1, grouped.2), (22, phits));
    // What never goes is refused.
    let never = spec(&trace, "trace.collectives.broadcast = 'bruck'");
    let error = Simulation::build(&never).err().expect("not that").to_string();
    assert!(error.contains("trace.collectives.broadcast"), "{error}");
    assert!(error.contains("broadcast does not go by bruck"), "{error}");
    assert!(error.contains("binomial, ring"), "{error}");
}

/// Rounding the parts of a long computation does not add up.
#[test]
fn rounding_does_not_add_up() {
    let calls = "3 0 nothing\n".repeat(1_000);
    let trace = mpi(&[&calls]);
    let mut spec = spec(&trace, "");
    spec.units = value("{ cycle = '8 ns', phit = '8 B' }");
    assert_eq!(job(&completed(&spec)).time, 3_000 / 8);
}

/// Two jobs with start times of their own, on hosts that take turns over the routers, two ranks to a host.
#[test]
fn several_jobs_and_several_ranks_on_a_host() {
    let pair = mpi(&["0 0 send 1 100 0 0", "0 0 recv 0 100 0 0"]);
    let more = format!(
        "ranks_per_host = 2
         within_host = {{ latency = 40, phits_per_cycle = 10 }}
         [[workload.jobs]]
         start = 5000
         placement = 'round_robin'
         trace = {{ file = '{}' }}",
        pair.path()
    );
    let outcome = completed(&spec(&pair, &more));
    let jobs = &outcome.workload.as_ref().unwrap().jobs;
    assert_eq!((jobs[0].time, jobs[1].time), (40 + 10, A + 100));
    assert_eq!(jobs[1].start, 5_000);
    assert_eq!(outcome.workload.as_ref().unwrap().makespan, 5_000 + A + 100);
    // Beyond what there is.
    let mut spec = spec(&pair, "");
    spec.network.topology = value("{ crossbar = { hosts = 2 } }");
    spec.workload.as_mut().unwrap().jobs.push(value(&format!("{{ ranks = 1, {STEP} }}")));
    let error = Simulation::build(&spec).err().expect("too many ranks").to_string();
    assert!(error.contains("1 ranks need a host each, and 0 of 2 are left"), "{error}");
}

const STEP: &str = "steps = [{ compute = 5 }]";

/// Hosts of the first job on a Dragonfly, in the order in which their ranks send.
#[test]
fn ranks_take_turns_over_routers() {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.traffic = deroute::spec::Traffic::default();
    spec.run = deroute::spec::Run::default();
    spec.workload = Some(value(
        "{ packet_size = 4, jobs = [{ ranks = 40, placement = 'round_robin',
           steps = [{ exchange = { messages = [[0, 1, 4], [36, 39, 4]] } }] }] }",
    ));
    let outcome = completed(&spec);
    let sends = |host: usize| outcome.arrays.injected_by_host[host] > 0.0;
    // 36 routers of 2 hosts: rank 36 is the second one on the first router.
    assert_eq!((0..72).filter(|host| sends(*host)).collect::<Vec<_>>(), [0, 1]);
}

/// A recorded program over an adaptive network, for any number of threads and partitions.
#[test]
fn the_division_changes_nothing() {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.traffic = deroute::spec::Traffic::default();
    spec.run = deroute::spec::Run::default();
    spec.units = value("{ cycle = '10 ns', phit = '100 B' }");
    spec.routing = value("{ ugal = {} }");
    spec.workload = Some(value(&format!(
        "{{ packet_size = 4, jobs = [{{ placement = {{ random = {{}} }},
           protocol = {{ eager_limit = '2 KB' }},
           trace = {{ file = '{}', compute = 0.01, wildcards = 'arrival' }} }}] }}",
        data("mpi-trace/lammps-melt-16.tar.gz")
    )));
    let simulation = Simulation::build(&spec).unwrap_or_else(|error| panic!("{error}"));
    let run = |threads, partitions| {
        let options = RunOptions { threads, partitions: Some(partitions), ..RunOptions::default() };
        simulation.run(&options, &mut |_| ControlFlow::Continue(())).expect("it ends")
    };
    let one = run(1, 1);
    assert!(job(&one).finished && job(&one).messages.received > 4_480);
    assert!(job(&one).replay.as_ref().unwrap().control_messages > 0);
    for (threads, partitions) in [(1, 9), (2, 4)] {
        assert_eq!(run(threads, partitions), one);
    }
}
