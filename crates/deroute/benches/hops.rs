//! What a packet-hop costs: the engine against a floor, in CPU time.
//!
//! `cargo bench -p deroute --bench hops [-- FILTER ...]`
//!
//! The floor moves the same data without deciding anything: a packet leaves a queue for the next
//! one, a credit goes back, two events are scheduled and taken, all in a state that fits the cache.
//! Engine and floor are measured in turn, so that the ratio holds on a machine whose speed drifts.
//! A packet-hop is one traversal of a switch, the last one to the host included.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

use cpu_time::ProcessTime;
use deroute::spec::Spec;
use deroute::{RunOptions, Simulation};

/// One line of the table.
struct Case {
    h: u32,
    routing: &'static str,
    pattern: &'static str,
    load: f64,
    /// Most times the floor, where there is a bar.
    bar: Option<f64>,
}

const MIN: &str = "minimal = {}";
const VLB: &str = "valiant = {}";
const UGAL: &str = "ugal = {}";
const PB: &str = "piggyback = {}";
const UN: &str = "\"uniform\"";
const ADV: &str = "{ adversarial = { offset = 1 } }";

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for h in [4, 6, 8, 16] {
        let (oblivious, adaptive) = if h == 6 { (Some(6.0), Some(9.0)) } else { (None, None) };
        let mut case = |routing, pattern, load, bar| {
            cases.push(Case { h, routing, pattern, load, bar });
        };
        for load in [0.1, 0.5, 0.9] {
            case(MIN, UN, load, oblivious);
        }
        case(VLB, ADV, 0.4, oblivious);
        case(PB, UN, 0.5, adaptive);
        case(UGAL, UN, 0.5, adaptive);
    }
    cases
}

impl Case {
    fn name(&self) -> String {
        let routing = self.routing.split(' ').next().unwrap_or_default();
        let pattern = if self.pattern == UN { "UN" } else { "ADV+1" };
        format!("h{} {routing} {pattern} {}", self.h, self.load)
    }

    /// Thesis Table 3-1, at another size, for fewer cycles.
    fn spec(&self) -> Spec {
        let (h, a) = (self.h, 2 * self.h);
        let (vl, vg) = if self.routing == MIN { (2, 1) } else { (4, 2) };
        let (local, global) = (720 / vl, 1800 / vg);
        let cycles = match h {
            16 => 500,
            8 => 2_000,
            6 => 6_000,
            _ => 25_000,
        };
        let (routing, pattern, load) = (self.routing, self.pattern, self.load);
        let text = format!(
            "[network.topology.dragonfly]\np = {h}\na = {a}\nh = {h}\n\
             [network.links]\n\
             local = {{ latency = 15, vcs = {vl}, buffer = {local} }}\n\
             global = {{ latency = 150, vcs = {vg}, buffer = {global} }}\n\
             [network.nic]\ninjection_queue = 5040\n\
             [network.switch.combined_queued]\npipeline = 90\noutput_buffer = 630\n\
             [routing]\n{routing}\n\
             [traffic]\nload = {load}\npacket_size = 10\npattern = {pattern}\n\
             [run]\nwarmup = 1000\nmeasure = {cycles}\n"
        );
        toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }
}

/// What one run took.
struct Cost {
    ns_per_hop: f64,
    cycles_per_s: f64,
    bytes_per_host: f64,
}

fn run(case: &Case) -> Cost {
    let simulation = Simulation::build(&case.spec()).unwrap_or_else(|error| panic!("{error}"));
    let fixed = simulation.footprint().fixed_bytes;
    let start = ProcessTime::now();
    let outcome = simulation
        .run(&RunOptions::default(), &mut |_| ControlFlow::Continue(()))
        .unwrap_or_else(|error| panic!("{error}"));
    let seconds = start.elapsed().as_secs_f64();
    Cost {
        ns_per_hop: seconds * 1e9 / outcome.work.grants as f64,
        cycles_per_s: outcome.work.cycles as f64 / seconds,
        bytes_per_host: fixed as f64 / f64::from(outcome.size.hosts),
    }
}

/// A port of the floor, as wide as the engine's.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Port {
    head: u32,
    tail: u32,
    busy_until: u32,
    link_free: u32,
    credits: [u32; 4],
    next_port: u32,
    sent: u64,
}

#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Packet {
    next: u32,
    arrival: u32,
    destination: u32,
    rest: [u32; 5],
}

const PORTS: usize = 256;
const SLOTS: usize = 256;
const NONE: u32 = u32::MAX;

/// Moves packets around a ring of ports; returns CPU nanoseconds per hop.
fn floor() -> f64 {
    let mut ports = vec![Port { head: NONE, tail: NONE, ..Port::default() }; PORTS];
    for (index, port) in ports.iter_mut().enumerate() {
        (port.credits, port.next_port) = ([1 << 20; 4], ((index * 97 + 31) % PORTS) as u32);
    }
    let mut packets = vec![Packet::default(); 2 * PORTS];
    let mut wheel: Vec<Vec<(u32, u32)>> = (0..SLOTS).map(|_| Vec::with_capacity(64)).collect();
    for packet in 0..packets.len() {
        wheel[1 + packet % 100].push(((packet % PORTS) as u32, packet as u32));
    }
    let start = ProcessTime::now();
    let (mut hops, mut now) = (0u64, 0u32);
    while hops < 4_000_000 {
        now += 1;
        let slot = now as usize % SLOTS;
        let mut events = std::mem::take(&mut wheel[slot]);
        for (index, packet) in events.drain(..) {
            if packet == NONE {
                ports[index as usize].credits[0] += 10;
                continue;
            }
            // Into a queue ...
            let port = &mut ports[index as usize];
            (packets[packet as usize].next, packets[packet as usize].arrival) = (NONE, now);
            if port.head == NONE {
                port.head = packet;
            } else {
                packets[port.tail as usize].next = packet;
            }
            port.tail = packet;
            // ... and out of it, to the next port, with a credit back.
            let leaving = port.head;
            port.head = packets[leaving as usize].next;
            port.busy_until = now + 5;
            let to = port.next_port as usize;
            let next = &mut ports[to];
            next.link_free = next.link_free.max(now + 40) + 10;
            next.credits[0] -= 10;
            next.sent += 10;
            let moved = &mut packets[leaving as usize];
            (moved.destination, moved.rest[0]) = (moved.destination ^ to as u32, moved.rest[1]);
            let at = (next.link_free - now).min(200);
            wheel[(now + at) as usize % SLOTS].push((to as u32, leaving));
            wheel[(now + 15) as usize % SLOTS].push((to as u32, NONE));
            hops += 1;
        }
        wheel[slot] = events;
    }
    black_box(&packets);
    start.elapsed().as_secs_f64() * 1e9 / hops as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Rounds of engine and floor in turn; the medians are printed.
const ROUNDS: usize = 3;

fn main() {
    let filters: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    println!(
        "{:<28} {:>8} {:>8} {:>6} {:>5} {:>12} {:>9}",
        "case", "ns/hop", "floor", "ratio", "bar", "cycles/s", "B/host"
    );
    for case in cases() {
        let name = case.name();
        if !filters.is_empty() && !filters.iter().any(|filter| name.contains(filter.as_str())) {
            continue;
        }
        let rounds = if case.h == 16 { 1 } else { ROUNDS };
        let samples: Vec<(f64, Cost)> = (0..rounds).map(|_| (floor(), run(&case))).collect();
        let ratio = median(samples.iter().map(|(floor, cost)| cost.ns_per_hop / floor).collect());
        let bar = case.bar.map_or(String::new(), |bar| format!("{bar:.0}"));
        println!(
            "{name:<28} {:>8.1} {:>8.1} {ratio:>6.2} {bar:>5} {:>12.0} {:>9.0}",
            median(samples.iter().map(|(_, cost)| cost.ns_per_hop).collect()),
            median(samples.iter().map(|(floor, _)| *floor).collect()),
            median(samples.iter().map(|(_, cost)| cost.cycles_per_s).collect()),
            samples[0].1.bytes_per_host,
        );
    }
    threads();
}

/// Speed-up of two threads over one, in wall time.
fn threads() {
    let case = Case { h: 6, routing: MIN, pattern: UN, load: 0.5, bar: None };
    let simulation = Simulation::build(&case.spec()).unwrap_or_else(|error| panic!("{error}"));
    let wall = |threads| {
        let start = Instant::now();
        let options = RunOptions { threads, partitions: None };
        simulation
            .run(&options, &mut |_| ControlFlow::Continue(()))
            .unwrap_or_else(|error| panic!("{error}"));
        start.elapsed().as_secs_f64()
    };
    let ratio = median((0..ROUNDS).map(|_| wall(1) / wall(2)).collect());
    println!("two threads over one, h6 minimal UN 0.5: {ratio:.2} times as fast (wall)");
}
