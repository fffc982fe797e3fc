//! What a packet-hop costs in CPU time: the engine against a floor, adaptive routing against VLB, a HyperX against
//! a Dragonfly, Ethernet against credits, notifications of congestion against pauses alone, a full network against
//! one that is not, tables against minimal routing, programs against uniform traffic of their load and of their form, and
//! what a millisecond of a large fat tree costs.
//!
//! `cargo bench -p deroute --bench hops [-- FILTER ...]`
//!
//! The floor moves the same data without deciding anything: a packet leaves a buffer for the next
//! one, a credit goes back, both as events; the state is as large as that of one partition, which
//! fits a cache of 1 MiB.
//! What is compared is measured in turn, so that the ratio holds on a machine whose speed drifts.
//! A packet-hop is one traversal of a switch, the last one to the host included.
//! Whoever takes more than a bar allows is listed at the end, and the benchmark fails.

mod cases;
mod floor;
mod programs;

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

use cases::{Case, Comparison, MIN, UN};
use cpu_time::ProcessTime;
use deroute::{RunOptions, Simulation};

/// Rounds of what is compared, in turn; the medians are printed.
const ROUNDS: usize = 5;

/// What one run took.
struct Cost {
    ns_per_hop: f64,
    cycles_per_s: f64,
    /// CPU seconds for a simulated millisecond.
    seconds_per_ms: f64,
    bytes_per_host: f64,
}

fn run(case: &Case) -> Cost {
    let simulation = Simulation::build(&case.spec).unwrap_or_else(|error| panic!("{error}"));
    let fixed = simulation.footprint().fixed_bytes;
    let start = ProcessTime::now();
    let outcome = simulation
        .run(&RunOptions::default(), &mut |_| ControlFlow::Continue(()))
        .unwrap_or_else(|error| panic!("{error}"));
    let seconds = start.elapsed().as_secs_f64();
    Cost {
        ns_per_hop: seconds * 1e9 / outcome.work.grants as f64,
        cycles_per_s: outcome.work.cycles as f64 / seconds,
        seconds_per_ms: 1e6 * seconds / (outcome.work.cycles as f64 * outcome.cycle_ns),
        bytes_per_host: fixed as f64 / f64::from(outcome.size.hosts),
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> ExitCode {
    let filters = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let mut bench = Bench { filters, past: Vec::new() };
    bench.over_floor();
    bench.compare(&["VLB"], &cases::adaptive());
    bench.compare(&["h6 alike", "h6"], &cases::lattices());
    bench.compare(&["credits", "plain"], &cases::ethernet());
    bench.compare(&["PFC"], &cases::notified());
    bench.compare(&["not full"], &cases::full());
    bench.compare(&["MIN"], &cases::tables());
    bench.compare(&["uniform", "as full"], &programs::programs());
    bench.cells();
    println!();
    if bench.wants("threads") {
        threads();
    }
    bench.past.iter().for_each(|case| println!("past its bar: {case}"));
    if bench.past.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Bench {
    /// Parts of the names of the cases that are measured; all if there is none.
    filters: Vec<String>,
    /// What took more than its bar allows.
    past: Vec<String>,
}

impl Bench {
    fn wants(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| name.contains(filter))
    }

    fn judge(&mut self, name: &str, (what, value, bar): (&str, f64, f64)) {
        if value > bar {
            self.past.push(format!("{name}: {what} {value:.2}, at most {bar}"));
        }
    }

    /// The time per hop over that of the floor.
    fn over_floor(&mut self) {
        println!(
            "{:<28} {:>8} {:>8} {:>6} {:>5} {:>12} {:>9}",
            "case", "ns/hop", "floor", "ratio", "bar", "cycles/s", "B/host"
        );
        for (case, bar) in cases::cases() {
            if !self.wants(&case.name) {
                continue;
            }
            let rounds = if case.name.starts_with("h16") { 1 } else { ROUNDS };
            let samples: Vec<(f64, Cost)> =
                (0..rounds).map(|_| (floor::floor(), run(&case))).collect();
            let ratio = median(samples.iter().map(|(floor, cost)| cost.ns_per_hop / floor));
            println!(
                "{:<28} {:>8.1} {:>8.1} {ratio:>6.2} {:>5} {:>12.0} {:>9.0}",
                case.name,
                median(samples.iter().map(|(_, cost)| cost.ns_per_hop)),
                median(samples.iter().map(|(floor, _)| *floor)),
                bar.map_or(String::new(), |bar| format!("{bar:.0}")),
                median(samples.iter().map(|(_, cost)| cost.cycles_per_s)),
                samples[0].1.bytes_per_host,
            );
            self.judge(&case.name, ("over the floor", ratio, bar.unwrap_or(f64::MAX)));
        }
    }

    /// The time per hop of each case over that of the others, and its memory over that of the first of them.
    fn compare(&mut self, titles: &[&str], comparisons: &[Comparison]) {
        print!("\n{:<28} {:>8}", "case", "ns/hop");
        for (index, title) in titles.iter().enumerate() {
            print!(" {title:>8} {:>6} {:>5}", "ratio", if index == 0 { "bar" } else { "" });
        }
        println!(" {:>7}", "memory");
        for Comparison { own, others, bar, memory_bar } in comparisons {
            if !self.wants(&own.name) {
                continue;
            }
            let rounds: Vec<(Vec<Cost>, Cost)> =
                (0..ROUNDS).map(|_| (others.iter().map(run).collect(), run(own))).collect();
            print!(
                "{:<28} {:>8.1}",
                own.name,
                median(rounds.iter().map(|(_, own)| own.ns_per_hop))
            );
            for index in 0..others.len() {
                let time = median(rounds.iter().map(|(others, _)| others[index].ns_per_hop));
                let ratio = median(
                    rounds.iter().map(|(others, own)| own.ns_per_hop / others[index].ns_per_hop),
                );
                let text = if index == 0 { format!("{bar:.1}") } else { String::new() };
                print!(" {time:>8.1} {ratio:>6.2} {text:>5}");
                if index == 0 {
                    self.judge(&own.name, (&format!("over {}", titles[0]), ratio, *bar));
                }
            }
            let (others, own_cost) = &rounds[0];
            let memory = own_cost.bytes_per_host / others[0].bytes_per_host;
            println!(" {memory:>7.2}");
            self.judge(&own.name, ("memory", memory, memory_bar.unwrap_or(f64::MAX)));
        }
    }

    /// CPU time of a millisecond of whole networks.
    fn cells(&mut self) {
        println!("\n{:<36} {:>8} {:>12} {:>5}", "case", "ns/hop", "CPU s per ms", "bar");
        for (case, bar) in cases::cells() {
            if !self.wants(&case.name) {
                continue;
            }
            let cost = run(&case);
            println!(
                "{:<36} {:>8.1} {:>12.2} {bar:>5.1}",
                case.name, cost.ns_per_hop, cost.seconds_per_ms
            );
            self.judge(&case.name, ("CPU s per ms", cost.seconds_per_ms, bar));
        }
    }
}

/// Speed-up of two threads over one, in wall time, and what the machine allows: that of two runs side by side
/// over one after the other.
fn threads() {
    let case = cases::dragonfly(6, MIN, UN, 0.5);
    let simulation = Simulation::build(&case.spec).unwrap_or_else(|error| panic!("{error}"));
    let wall = |threads| {
        let start = Instant::now();
        let options = RunOptions { threads, ..RunOptions::default() };
        simulation
            .run(&options, &mut |_| ControlFlow::Continue(()))
            .unwrap_or_else(|error| panic!("{error}"));
        start.elapsed().as_secs_f64()
    };
    let side_by_side = || {
        let start = Instant::now();
        std::thread::scope(|scope| (0..2).for_each(|_| _ = scope.spawn(|| wall(1))));
        start.elapsed().as_secs_f64()
    };
    let rounds: Vec<_> = (0..ROUNDS)
        .map(|_| {
            let one = wall(1);
            (one / wall(2), 2.0 * one / side_by_side())
        })
        .collect();
    let ratio = median(rounds.iter().map(|(ratio, _)| *ratio));
    let room = median(rounds.iter().map(|(_, room)| *room));
    println!(
        "two threads over one, h6 minimal UN 0.5: {ratio:.2} times as fast (wall); \
         two runs side by side: {room:.2}"
    );
}
