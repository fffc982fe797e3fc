//! What the network does, pinned: a hash of the outcome of every spec of [`specs::all`], to the last bit,
//! in `outcomes.txt`. It finds a changed result that was not meant to change, wherever it came from; it
//! does not say which one is right, as the phit-by-phit model and the anchors do.
//!
//! On purpose: raise the version, write a line under "Results that change" in `CHANGELOG.md`, and
//! run the test with `DEROUTE_BLESS=1`, which writes the file anew.

mod heads;
mod hosts;
mod round_trips;
mod specs;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use deroute::outcome::Outcome;
use deroute::spec::Spec;
use deroute::{RunOptions, Simulation};
use serde_json::Value;
use specs::Pin;

use crate::support;

/// Keys that the hash leaves out, at any depth: what is estimated from the outcome, which has
/// tests of its own. A field that is added to the outcome is named here until the file is next written
/// for another reason, so that no other change hides behind it.
const LEFT_OUT: [&str; 9] = [
    "verdict",
    "ci95",
    "accepted_ci95",
    "correlation_times",
    "trend",
    "rank_collective",
    "rank_receive",
    "rank_send",
    "rank_wait",
];

/// Ways to divide a run: threads and partitions.
const DIVISIONS: [[(usize, usize); 3]; 3] = [
    [(1, 1), (1, 2), (1, usize::MAX)],
    [(1, 1), (2, 2), (1, usize::MAX)],
    [(1, 1), (1, 2), (2, usize::MAX)],
];

const HOW: &str = "A result that changes on purpose needs a raised version and a line under \
    'Results that change' in CHANGELOG.md; then DEROUTE_BLESS=1 cargo test -p deroute --test suite \
    pinned writes crates/deroute/tests/suite/pinned/outcomes.txt anew.";

#[test]
fn outcomes_are_as_pinned() {
    let pins = specs::all();
    let (found, failures) = hashes(&pins);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(found.len(), pins.len(), "two specs have the same name");
    if std::env::var("DEROUTE_BLESS").is_ok_and(|value| value == "1") {
        let lines: String =
            pins.iter().map(|pin| format!("{:016x} {}\n", found[&pin.name], pin.name)).collect();
        std::fs::write(file(), lines).expect("the file of outcomes can be written");
        return;
    }
    let text = std::fs::read_to_string(file()).expect("the file of outcomes can be read");
    let pinned: BTreeMap<&str, u64> = text.lines().map(line).collect();
    let report = differences(&pinned, &found);
    assert!(report.is_empty(), "{report}{HOW}");
}

fn file() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/suite/pinned/outcomes.txt"].iter().collect()
}

/// The name and hash in a line of the file.
fn line(line: &str) -> (&str, u64) {
    let (hash, name) = line.split_once(' ').unwrap_or_else(|| panic!("no name: {line}"));
    let hash = u64::from_str_radix(hash, 16).unwrap_or_else(|error| panic!("{error}: {line}"));
    (name, hash)
}

/// The names that differ, a line each; empty if none does.
fn differences(pinned: &BTreeMap<&str, u64>, found: &BTreeMap<String, u64>) -> String {
    let mut report = String::new();
    for (name, hash) in found {
        match pinned.get(name.as_str()) {
            Some(old) if old == hash => {}
            Some(_) => writeln!(report, "changed:    {name}").expect("text"),
            None => writeln!(report, "not pinned: {name}").expect("text"),
        }
    }
    for name in pinned.keys().filter(|name| !found.contains_key(**name)) {
        writeln!(report, "gone:       {name}").expect("text");
    }
    report
}

/// The hash of every outcome, and what went wrong instead.
fn hashes(pins: &[Pin]) -> (BTreeMap<String, u64>, Vec<String>) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(pin) = pins.get(n) else { return done };
            done.push((pin.name.clone(), undivided(&pin.spec, DIVISIONS[n % DIVISIONS.len()])));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let done = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter().flat_map(|worker| worker.join().expect("the runs end"));
        done.collect::<Vec<_>>()
    });
    let (mut found, mut failures) = (BTreeMap::new(), Vec::new());
    for (name, result) in done {
        match result {
            Ok(hash) => drop(found.insert(name, hash)),
            Err(error) => failures.push(format!("{name}: {error}")),
        }
    }
    (found, failures)
}

/// The hash of an outcome, which must not depend on the division, nor on breaks, nor on whether packets wait in queues
/// at the outputs or their departures are known when they are granted, nor on whether cycles in which nothing can
/// happen are simulated.
fn undivided(spec: &Spec, divisions: [(usize, usize); 3]) -> Result<u64, String> {
    let simulation = Simulation::build(spec).map_err(|error| error.to_string())?;
    let mut first = None;
    for (n, (threads, partitions)) in (0..).zip(divisions) {
        let options = RunOptions { threads, partitions: Some(partitions), ..RunOptions::default() };
        let outcome = match n {
            0 => simulation.run(&options, &mut |_| ControlFlow::Continue(())),
            n => support::interrupted(&simulation, &options, (n, 3)),
        };
        let outcome = outcome.map_err(|error| error.to_string())?;
        if outcome.packets.delivered == 0 {
            return Err("nothing arrived".to_owned());
        }
        let hash = hash(&outcome);
        if *first.get_or_insert(hash) != hash {
            return Err(format!(
                "{threads} threads, {partitions} partitions and a break change the result"
            ));
        }
    }
    let first = first.expect("there are divisions");
    let slow = RunOptions { queued_outputs: true, every_cycle: true, ..RunOptions::default() };
    let options = RunOptions { partitions: Some(2), ..slow };
    let outcome = support::interrupted(&simulation, &options, (1, 2));
    if hash(&outcome.map_err(|error| format!("with queues at the outputs: {error}"))?) != first {
        return Err(
            "queues at the outputs, or cycles that are skipped, change the result".to_owned()
        );
    }
    Ok(first)
}

fn hash(outcome: &Outcome) -> u64 {
    let mut value = serde_json::to_value(outcome).expect("an outcome is JSON");
    leave_out(&mut value);
    // FNV-1a, 64 bits.
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    value.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, fold)
}

fn leave_out(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| !LEFT_OUT.contains(&key.as_str()));
            map.values_mut().for_each(leave_out);
        }
        Value::Array(list) => list.iter_mut().for_each(leave_out),
        _ => {}
    }
}

/// The hash sees what the network did, and nothing else.
#[test]
fn the_hash_covers_what_the_network_did() {
    let mut outcome = support::run(&specs::all()[0].spec);
    let whole = hash(&outcome);
    (outcome.latency.ci95, outcome.load.accepted_ci95) = (7.0, 8.0);
    outcome.verdict.reasons.push("another".to_owned());
    assert_eq!(hash(&outcome), whole);
    outcome.arrays.accepted_by_host[0] += 1e-12;
    assert_ne!(hash(&outcome), whole);
}
