//! Traces of which nothing is kept in memory have the same outcomes.

use std::fmt::Write;

use deroute::Simulation;
use deroute::outcome::Outcome;
use deroute::spec::Spec;

use super::{Written, data, job};
use crate::support;

/// More than any trace has.
const ALL: u64 = 1 << 40;

/// A Dragonfly of 72 hosts whose first ones follow a trace, with more keys of its own.
fn dragonfly(file: &str, more: &str, kept: u64) -> Spec {
    let mut spec = support::dragonfly(2, 4, 2);
    (spec.traffic, spec.run) = (Default::default(), Default::default());
    spec.units = support::value("{ cycle = '10 ns', phit = '100 B' }");
    spec.workload = Some(support::value(&format!(
        "{{ packet_size = 16, limit = 500_000_000, jobs = [{{ critical_path = true, placement = {{ random = {{}} }}, trace = {{ \
         file = '{file}', kept = {kept}{more} }} }}] }}"
    )));
    spec
}

/// The outcome in one part, in many on two threads, and with a break; and the bytes of the temporary file.
fn replay(file: &str, more: &str, kept: u64) -> (Outcome, u64) {
    let spec = dragonfly(file, more, kept);
    let file_bytes = Simulation::build(&spec).expect("a trace").footprint().file_bytes;
    (support::run_divided(&spec, file), file_bytes)
}

/// A trace has the same outcome when all of its longer ranks are in the file, and when some are.
fn check(file: &str, more: &str) {
    let (whole, none) = replay(file, more, ALL);
    assert!(job(&whole).messages.received > 0, "{file}");
    let (paged, all) = replay(file, more, 0);
    let (mixed, some) = replay(file, more, 3_000);
    assert!(none == 0 && all > 0 && some <= all, "{file}: {none} {some} {all}");
    assert!(whole == paged && whole == mixed, "{file}: where the trace is matters");
}

#[test]
fn lists_of_calls() {
    check(&data("mpi-trace/lammps-melt-16.tar.gz"), ", messages = 0.1");
    check(&data("ti/npb-cg-A-16.tar.gz"), ", flops = 1e9, messages = 0.01");
}

#[test]
fn files_in_which_ranks_take_turns() {
    let few = ", compute = 1e-4, messages = 0.001";
    check(&data("dim/epoch-4.dim.gz"), few);
    check(&data("prv/epoch-4.prv.gz"), few);
}

#[test]
fn graphs() {
    check(&data("goal/lammps-melt-16.goal.gz"), ", compute = 1e-3, messages = 0.1");
    let file = Written::new(backwards(1_000));
    check(file.path(), ", format = 'goal'");
}

/// Two ranks send each other messages, one after the other, which stand in the file from the last to the first.
fn backwards(messages: u32) -> String {
    let mut text = "num_ranks 2\n".to_owned();
    let (send, receive) = ("send 8b to", "recv 8b from");
    for (rank, peer, first, other) in [(0, 1, send, receive), (1, 0, receive, send)] {
        writeln!(text, "rank {rank} {{").expect("a string");
        for index in (0..messages).rev() {
            let what = if index % 2 == 0 { first } else { other };
            writeln!(text, "m{index}: {what} {peer} tag {index}").expect("a string");
        }
        for index in 1..messages {
            writeln!(text, "m{index} requires m{}", index - 1).expect("a string");
        }
        text.push_str("}\n");
    }
    text
}

/// What is refused in memory is refused in the file, in the same words.
#[test]
fn mistakes() {
    let text = backwards(300);
    let round = text.replacen("m1 requires m0", "m1 requires m0\nm0 requires m299", 1);
    let more = text.replacen("tag 150", "tag 151", 1);
    for (text, says) in [(round, "needs itself"), (more, "than there are")] {
        let file = Written::new(text);
        let told = [ALL, 0].map(|kept| {
            let spec = dragonfly(file.path(), ", format = 'goal'", kept);
            Simulation::build(&spec).map(drop).expect_err("it is wrong").to_string()
        });
        assert!(told[0].contains(says), "{}", told[0]);
        assert_eq!(told[0], told[1]);
    }
}
