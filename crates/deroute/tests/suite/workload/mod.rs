//! What becomes of the messages of programs in a network.

mod programs;

use std::collections::BTreeSet;

use deroute::outcome::{JobOutcome, Outcome, State};
use deroute::spec::Spec;
use deroute::{RunOptions, Simulation};
use proptest::prelude::*;
use proptest::sample::select;

use crate::support::{self, value};

/// A small network, and jobs on it.
fn network(workload: &str) -> Spec {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.traffic = deroute::spec::Traffic::default();
    spec.run = deroute::spec::Run::default();
    spec.checks = value("{ full = true, dependencies = true }");
    spec.workload = Some(value(workload));
    spec
}

fn completed(spec: &Spec) -> Outcome {
    let outcome = support::run(spec);
    assert_eq!(outcome.verdict.state, State::Completed, "{:?}", outcome.verdict.reasons);
    outcome
}

fn job_of(outcome: &Outcome, index: usize) -> &JobOutcome {
    &outcome.workload.as_ref().unwrap().jobs[index]
}

/// A run learns how far it is from what has arrived, and is not at its end while that is nothing.
#[test]
fn progress_of_a_program() {
    let spec = network(
        "{ packet_size = 10, jobs = [{ ranks = 72, steps = [{ collective = { kind = 'alltoall', size = 200, algorithm = 'linear' } }] }] }",
    );
    let mut seen = Vec::new();
    let outcome = Simulation::build(&spec).unwrap().run(&RunOptions::default(), &mut |progress| {
        seen.push((progress.cycle, progress.of));
        std::ops::ControlFlow::Continue(())
    });
    let time = job_of(&outcome.unwrap(), 0).time;
    assert!(seen.len() > 20 && seen.iter().all(|(cycle, of)| cycle <= of), "{seen:?}");
    assert!(seen[0].1 > 10 * time, "{seen:?}, {time}");
    for (cycle, of) in &seen[seen.len() / 4..] {
        assert!((time / 2..2 * time).contains(of), "{of} expected at {cycle}, {time}");
    }
}

/// One message over an empty network, and back; by hand from `docs/kernel.md`.
#[test]
fn a_message_takes_as_long_as_it_should() {
    // Between hosts of neighbouring routers: pipeline 3 at two switches, a local link of 3, an
    // interface of 5 at both ends.
    let base = 3 * 2 + 3 + 2 * 5;
    let exchange = |phits: u32, back: bool| {
        let back = if back { ", { exchange = { messages = [[1, 0, 4]] } }" } else { "" };
        let mut spec = network(&format!(
            "{{ packet_size = 4, jobs = [{{ ranks = 2, placement = {{ hosts = [0, 2] }},
               steps = [{{ exchange = {{ messages = [[0, 1, {phits}]] }} }}{back}] }}] }}"
        ));
        spec.network.nic.latency = 5.into();
        completed(&spec)
    };
    for phits in [1, 4] {
        let outcome = exchange(phits, false);
        let job = job_of(&outcome, 0);
        assert_eq!(job.time, u64::from(base + phits), "{phits} phits");
        assert_eq!(job.messages.latency.mean, f64::from(base + phits));
        assert_eq!(outcome.latency.max, u64::from(base + phits));
    }
    // Packets follow each other without a gap: the link is the bottleneck.
    assert_eq!(job_of(&exchange(11, false), 0).time, u64::from(base + 11));
    assert_eq!(job_of(&exchange(4, true), 0).time, u64::from(2 * (base + 4)), "there and back");
}

#[test]
fn computing_takes_its_time() {
    let outcome = completed(&network(
        "{ packet_size = 4, jobs = [{ ranks = 2, start = 7, iterations = 3,
           steps = [{ compute = 100000 }, { compute = 5 }] }] }",
    ));
    let job = job_of(&outcome, 0);
    assert_eq!((job.start, job.time, job.iterations), (7, 300_015, 3));
    assert_eq!(job.arrays.iteration_end, [100_005, 200_010, 300_015]);
    assert_eq!((job.compute_mean, job.communication_mean), (300_015.0, 0.0));
    assert_eq!(outcome.workload.as_ref().unwrap().makespan, 300_022);
    assert_eq!(outcome.measured_cycles, 300_022);
}

/// What arrives is what was sent, in full packets and a rest.
#[test]
fn messages_are_cut_and_put_together() {
    for (routing, packet) in [("{ minimal = {} }", 4), ("{ valiant = {} }", 3)] {
        let mut spec = network(&format!(
            "{{ packet_size = {packet}, jobs = [{{ ranks = 72, placement = {{ random = {{}} }},
               iterations = 2, steps = [
                 {{ stencil = {{ shape = [6, 4, 3], messages = {{ equal = 600 }} }} }},
                 {{ dissemination = {{ size = 2 }} }}] }}] }}"
        ));
        spec.routing = value(routing);
        let outcome = completed(&spec);
        let messages = &job_of(&outcome, 0).messages;
        let halo = 600u64.div_ceil(26);
        assert_eq!(messages.sent, 2 * 72 * (26 + 7));
        assert_eq!(messages.received, messages.sent);
        assert_eq!(messages.phits, 2 * 72 * (26 * halo + 7 * 2));
        assert_eq!(messages.packets, 2 * 72 * (26 * halo.div_ceil(packet) + 7));
        assert_eq!(outcome.packets.delivered, messages.packets);
        assert_eq!(outcome.packets.measured, messages.packets);
        assert_eq!(messages.resequenced > 0, routing.contains("valiant"));
        assert_eq!(messages.resequencing_buffer_max > 0, routing.contains("valiant"));
    }
}

/// Workloads that join everything.
pub const WORKLOADS: [&str; 6] = [
    "{ packet_size = 4, jobs = [{ ranks = 72, placement = { random = {} }, iterations = 2, steps = [
       { stencil = { shape = [6, 4, 3], messages = { equal = 300 } } },
       { dissemination = { size = 2 } }] }] }",
    "{ packet_size = 7, jobs = [{ ranks = 30, placement = { random = { seed = 3 } }, steps = [
       { bruck = { size = 3 } }, { compute = 40 }, { recursive_doubling = { size = 20 } }] }] }",
    "{ packet_size = 5, jobs = [
       { ranks = 20, steps = [{ ring = { size = 200 } }] },
       { ranks = 27, start = 100, placement = { random = {} }, iterations = 3, steps = [
         { stencil = { shape = [3, 3, 3], periodic = false, messages = { equal = 99 } } }] }] }",
    "{ packet_size = 16, jobs = [{ ranks = 64, placement = { blocked = { block = [2, 2, 1] } },
       iterations = 2, steps = [
         { stencil = { shape = [4, 4, 4], messages =
           { sizes = { face = 30, edge = 9, corner = 1 } } } },
         { reduce = { size = 3, root = 9 } }, { broadcast = { size = 40, root = 9 } }] }] }",
    "{ packet_size = 1, jobs = [{ ranks = 5, steps = [{ broadcast = { size = 9 } }] },
       { ranks = 1, steps = [{ compute = 900 }, { dissemination = { size = 1 } }] }] }",
    "{ packet_size = 4, jobs = [{ ranks = 3, placement = { hosts = [70, 5, 33] }, iterations = 9,
       steps = [{ exchange = { messages = [[0, 1, 17], [1, 2, 40], [2, 0, 3]] } }] }] }",
];

const ROUTINGS: [&str; 5] = [
    "{ minimal = {} }",
    "{ valiant = { recompute = true } }",
    "{ ugal = {} }",
    "{ piggyback = { ugal = { phase_a = { acor = {} } } } }",
    "{ tpr = { count = 'stored', low = 1, high = 1, thresholds = [5, 0, -9] } }",
];

/// The same result for any number of partitions and threads, with synthetic traffic or without.
#[test]
fn the_division_changes_nothing() {
    let parts = (
        select(&WORKLOADS[..]),
        select(&ROUTINGS[..]),
        any::<bool>(),
        proptest::option::of(20..90u64),
        0..12u64,
        (1..9usize, 1..4usize),
    );
    let same = |(workload, routing, background, queue, latency, (partitions, threads)): (
        &str,
        &str,
        bool,
        Option<u64>,
        u64,
        (usize, usize),
    )| {
        let mut spec = network(workload);
        spec.routing = value(routing);
        spec.network.nic.latency = latency.into();
        spec.network.nic.injection_queue = queue.map(Into::into);
        if background && !workload.contains("ranks = 72") {
            spec.traffic = value("{ load = 0.2, packet_size = 4, pattern = 'uniform' }");
        }
        let one = RunOptions { partitions: Some(1), ..RunOptions::default() };
        let alone = support::attempt(&spec, &one).unwrap();
        prop_assert_eq!(alone.verdict.state, State::Completed);
        let options = RunOptions { threads, partitions: Some(partitions), ..RunOptions::default() };
        prop_assert_eq!(&alone, &support::attempt(&spec, &options).unwrap());
        Ok(())
    };
    support::runner(60).run(&parts, same).unwrap_or_else(|error| panic!("{error}"));
}

/// Jobs do not exist for each other unless their packets meet.
#[test]
fn an_idle_job_changes_nothing() {
    for workload in [WORKLOADS[1], WORKLOADS[4]] {
        let alone = completed(&network(workload));
        let beside = workload
            .replace("] }] }", "] }, { name = 'idle', ranks = 20, steps = [{ compute = 1 }] }] }");
        assert_ne!(beside, workload);
        let both = completed(&network(&beside));
        assert_eq!(job_of(&both, 0), job_of(&alone, 0));
    }
}

/// As many ranks on a host as short cargo tells apart, and one more: each message finds its rank.
#[test]
fn many_ranks_share_a_host() {
    for ranks in [256, 257] {
        let pairs: Vec<String> =
            (0..ranks).map(|rank| format!("[{rank}, {}, 6]", 2 * ranks - 1 - rank)).collect();
        let outcome = completed(&network(&format!(
            "{{ packet_size = 4, jobs = [{{ ranks = {}, ranks_per_host = {ranks}, steps = [\
               {{ exchange = {{ messages = [{}] }} }}] }}] }}",
            2 * ranks,
            pairs.join(", ")
        )));
        let messages = &job_of(&outcome, 0).messages;
        assert_eq!((messages.received, messages.packets), (ranks, 2 * ranks));
    }
}

/// Two jobs on one network disturb each other, and nobody else.
#[test]
fn jobs_share_the_network() {
    let job = |name: &str, hosts: &[u32]| {
        format!(
            "{{ name = '{name}', ranks = {}, placement = {{ hosts = {hosts:?} }}, \
             steps = [{{ bruck = {{ size = 40 }} }}] }}",
            hosts.len()
        )
    };
    let run = |jobs: &[String]| {
        let list = jobs.join(", ");
        completed(&network(&format!("{{ packet_size = 4, jobs = [{list}] }}")))
    };
    let evens: Vec<u32> = (0..72).step_by(2).collect();
    let odds: Vec<u32> = (1..72).step_by(2).collect();
    let (first, second) = (job("a", &evens), job("b", &odds));
    let (alone, both) = (run(std::slice::from_ref(&first)), run(&[first, second]));
    let (quiet, disturbed) = (job_of(&alone, 0).time, job_of(&both, 0).time);
    assert!(disturbed > quiet + quiet / 10, "{disturbed} after {quiet}");
}

/// Traffic of the other hosts slows a job down.
#[test]
fn background_traffic_disturbs() {
    let mut spec = network(WORKLOADS[1]);
    let quiet = job_of(&completed(&spec), 0).time;
    spec.traffic = value("{ load = 0.4, packet_size = 4, pattern = 'uniform' }");
    let outcome = completed(&spec);
    assert!(job_of(&outcome, 0).time > quiet, "{} after {quiet}", job_of(&outcome, 0).time);
    let job: BTreeSet<usize> = {
        let jobs = Simulation::build(&spec).unwrap();
        let placed = jobs.spec().workload.is_some();
        assert!(placed);
        (0..72).filter(|&host| outcome.arrays.injected_by_host[host] > 0.0).collect()
    };
    assert_eq!(job.len(), 72, "all hosts send: 30 for the job, the others at random");
}

#[test]
fn a_run_that_does_not_end_says_what_waits() {
    let mut spec = network(WORKLOADS[0]);
    spec.workload.as_mut().unwrap().limit = 400.into();
    let outcome = support::run(&spec);
    assert_eq!(outcome.verdict.state, State::Unfinished);
    let reason = &outcome.verdict.reasons[0];
    for part in ["after 400 cycles (workload.limit)", "of 72 ranks", "waits for a message from"] {
        assert!(reason.contains(part), "{reason}");
    }
    assert!(reason.contains("rank 0 of job1") && reason.contains("(iteration 1 of 2, stencil)"));
    let job = job_of(&outcome, 0);
    assert!(!job.finished && job.time == 400 && job.messages.received < job.messages.sent);
    assert_eq!(outcome.measured_cycles, 400);
}
