//! The critical path of a job: what its time is made of. A message of `s` bytes takes `A + s` ns here.

use std::ops::ControlFlow;

use deroute::outcome::{CriticalPath, JobOutcome};
use deroute::{RunOptions, Simulation};

use super::{Written, completed, data, ideal, job, with_job};

const A: u64 = 999;

/// What the outcome says, and its parts: what, rank, sender, begin, end.
type Found = (CriticalPath, Vec<(u8, u32, u32, u64, u64)>);

fn parts(job: &JobOutcome) -> Vec<(u8, u32, u32, u64, u64)> {
    let all = &job.arrays;
    let ranks = all.path_rank.iter().zip(&all.path_from);
    let times = all.path_begin.iter().zip(&all.path_end);
    let each = all.path_what.iter().zip(ranks).zip(times);
    each.map(|((what, (rank, from)), (begin, end))| (*what, *rank, *from, *begin, *end)).collect()
}

/// The path of a job, whose parts follow each other from its start to its end.
fn path(job: &JobOutcome) -> Found {
    let found = job.critical_path.clone().expect("it is asked for");
    let parts = parts(job);
    assert_eq!(found.parts, parts.len() as u64);
    let mut until = 0;
    for (_, _, _, begin, end) in &parts {
        assert_eq!(*begin, until, "{parts:?}");
        until = *end;
    }
    let CriticalPath { compute, send, network, handshake, wait, .. } = found;
    assert_eq!(compute + send + network + handshake + wait, job.time);
    assert_eq!(until, job.time);
    (found, parts)
}

/// GOAL of two ranks.
fn of(ranks: [&str; 2], more: &str) -> Found {
    let [first, second] = ranks;
    let trace =
        Written::new(format!("num_ranks 2\nrank 0 {{\n{first}\n}}\nrank 1 {{\n{second}\n}}\n"));
    let more = format!("critical_path = true\n{more}");
    path(job(&completed(&ideal(2, A as u32, trace.path(), &more))))
}

const SENDER: &str = "a: calc 1000\nb: send 10000b to 1\nb requires a";
const RECEIVER: &str =
    "a: calc 400\nb: recv 10000b from 0\nb requires a\nc: calc 500\nc requires b";

#[test]
fn a_receiver_waits_for_its_sender() {
    let (found, parts) = of([SENDER, RECEIVER], "");
    let there = 1_000 + A + 10_000;
    let expected = [(0, 0, 0, 0, 1_000), (2, 1, 0, 1_000, there), (0, 1, 1, there, there + 500)];
    assert_eq!(parts, expected);
    assert_eq!((found.compute, found.network), (1_500, A + 10_000));
    let message = &found.longest[0];
    assert_eq!((message.what.as_str(), message.rank, message.from), ("network", 1, 0));
    assert_eq!((message.begin, message.cycles, message.phits), (1_000, A + 10_000, 10_000));
    assert!(message.call.starts_with("send, line 4 of "), "{}", message.call);
    assert!(found.longest[2].call.starts_with("compute, line 11 of "), "{:?}", found.longest[2]);
}

#[test]
fn a_sender_waits_for_its_receiver() {
    let ask = "protocol = { eager_limit = 0 }";
    let (control, data) = (A + 1, A + 10_000);
    let (found, _) = of([SENDER, RECEIVER], ask);
    assert_eq!((found.compute, found.handshake, found.network), (1_500, 2 * control, data));
    // The receive is posted late: the path is the receiver's own, until it says that data may come.
    let late = RECEIVER.replace("400", "50000");
    let (found, parts) = of([SENDER, &late], ask);
    assert_eq!((found.compute, found.handshake, found.network), (50_500, control, data));
    assert_eq!(parts[0], (0, 1, 1, 0, 50_000));
    assert_eq!(parts[1], (3, 0, 1, 50_000, 50_000 + control));
    // What is there when it is received does not count.
    let (found, _) = of([SENDER, &late], "");
    assert_eq!((found.compute, found.network, found.parts), (50_500, 0, 2));
}

#[test]
fn a_sender_waits_until_its_message_has_left() {
    let first = "a: send 10000b to 1\nb: calc 20000\nb requires a";
    let (found, _) = of([first, "a: recv 10000b from 0"], "protocol = { send_ends = 'injected' }");
    assert_eq!((found.send, found.compute, found.network), (10_000, 20_000, 0));
}

/// Two streams, of which one computes longer.
#[test]
fn the_longer_of_two_streams_counts() {
    let two = "a: calc 300 cpu 0\nb: calc 200 cpu 1\nc: calc 50 cpu 1\nc requires b\n\
               d: send 10b to 1\nd requires a\nd requires c";
    let (found, parts) = of([two, "a: recv 10b from 0"], "");
    assert_eq!((found.compute, found.network), (300, A + 10));
    assert_eq!(parts.len(), 2);
}

/// Collectives of a program of steps, and a recorded program, for any division.
#[test]
fn paths_of_programs_add_up() {
    let steps = "ranks = 8\nsteps = [{ compute = 50 }, { collective = { kind = 'allreduce', \
                 size = 8000, algorithm = { ring = {} } } }]\niterations = 3\ncritical_path = true";
    let (found, _) = path(job(&completed(&with_job(8, A as u32, steps))));
    assert_eq!((found.compute, found.network), (3 * 50, 3 * 14 * (A + 1_000)));
    assert_eq!(found.longest[0].call, "iteration 1 of 3, allreduce, ring");
    let file = data("mpi-trace/lammps-melt-16.tar.gz");
    let more = "critical_path = true\nprotocol = { eager_limit = 2000 }\ntrace.compute = 0.1";
    let spec = ideal(16, A as u32, &file, more);
    let simulation = Simulation::build(&spec).unwrap_or_else(|error| panic!("{error}"));
    let run = |threads| {
        let options = RunOptions { threads, ..RunOptions::default() };
        simulation.run(&options, &mut |_| ControlFlow::Continue(())).expect("it ends")
    };
    let one = run(1);
    let (found, _) = path(job(&one));
    assert!(found.compute > 0 && found.handshake > 0 && found.network > 0, "{found:?}");
    assert_eq!(run(2), one);
    // It changes nothing else.
    let mut without = spec.clone();
    without.workload.as_mut().unwrap().jobs[0].critical_path = false;
    let plain = completed(&without);
    assert_eq!(job(&plain).arrays.rank_end, job(&one).arrays.rank_end);
    assert!(job(&plain).critical_path.is_none() && job(&plain).arrays.path_what.is_empty());
}
