//! What a packet-hop costs in CPU time: the engine against a floor, adaptive routing against VLB, a
//! HyperX against a Dragonfly, and what a millisecond of a large fat tree costs.
//!
//! `cargo bench -p deroute --bench hops [-- FILTER ...]`
//!
//! The floor moves the same data without deciding anything: a packet leaves a buffer for the next
//! one, a credit goes back, both as events; the state is as large as that of one partition, which
//! fits a cache of 1 MiB.
//! Engine and floor are measured in turn, so that the ratio holds on a machine whose speed drifts.
//! A packet-hop is one traversal of a switch, the last one to the host included.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

use cpu_time::ProcessTime;
use deroute::spec::Spec;
use deroute::{RunOptions, Simulation};

/// A simulation whose speed is measured.
struct Case {
    name: String,
    spec: Spec,
}

const MIN: &str = "minimal = {}";
const VLB: &str = "valiant = {}";
const UGAL: &str = "ugal = {}";
const PB: &str = "piggyback = {}";
const UN: &str = "\"uniform\"";
const ADV: &str = "{ adversarial = { offset = 1 } }";
const BC: &str = "\"bit_complement\"";

/// What a routing and a pattern are called in the table.
fn label(routing: &str, pattern: &str, load: f64) -> String {
    let routing = routing.split(' ').next().unwrap_or_default();
    let pattern = match pattern {
        UN => "UN",
        BC => "BC",
        _ => "ADV+1",
    };
    format!("{routing} {pattern} {load}")
}

fn parse(text: &str) -> Spec {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A balanced Dragonfly with the switch of thesis Table 3-1, for fewer cycles.
fn dragonfly(h: u32, routing: &str, pattern: &str, load: f64) -> Case {
    let a = 2 * h;
    let (vl, vg) = if routing == MIN { (2, 1) } else { (4, 2) };
    let cycles = match h {
        // Enough that what the memory costs at first does not count.
        8 | 16 => 2_000,
        6 => 6_000,
        _ => 25_000,
    };
    let spec = parse(&format!(
        "[network.topology.dragonfly]\np = {h}\na = {a}\nh = {h}\n\
         [network.links]\n\
         local = {{ latency = 15, vcs = {vl}, buffer = 720 }}\n\
         global = {{ latency = 150, vcs = {vg}, buffer = 1800 }}\n\
         [network.nic]\ninjection_queue = 5040\n\
         [network.switch.combined_queued]\npipeline = 90\noutput_buffer = 630\n\
         [routing]\n{routing}\n\
         [traffic]\nload = {load}\npacket_size = 10\npattern = {pattern}\n\
         [run]\nwarmup = 1000\nmeasure = {cycles}\n"
    ));
    Case { name: format!("h{h} {}", label(routing, pattern, load)), spec }
}

/// A network with the switch, links and packets of McDonald et al., SC 2019, section 6, as in
/// `reproduce/hyperx/paper.toml`.
fn mcdonald(topology: &str, classes: &[&str], routing: &str, (pattern, load): (&str, f64)) -> Spec {
    let link = |class: &&str| format!("{class} = {{ latency = 50, vcs = 8, buffer = 180 }}\n");
    let links: String = classes.iter().map(link).collect();
    parse(&format!(
        "[network]\nsensing = \"waiting\"\nspare_vcs = \"emptiest\"\n\
         topology = {topology}\n\
         [network.links]\n{links}\
         [network.nic]\nlatency = 5\n\
         [network.switch.combined_queued]\npipeline = 50\nspeedup = 8\noutput_buffer = 512\n\
         allocator = {{ arbiter = \"age\" }}\n\
         [routing]\n{routing}\n\
         [traffic]\nload = {load}\npacket_size = {{ min = 1, max = 16 }}\npattern = {pattern}\n\
         injection = \"paced\"\n\
         [run]\nwarmup = 1000\nmeasure = 3000\n"
    ))
}

/// The HyperX of that paper.
fn hyperx(routing: &str, pattern: &str, load: f64) -> Case {
    let topology = "{ hyperx = { widths = [8, 8, 8], hosts = 8 } }";
    let spec = mcdonald(topology, &["dim1", "dim2", "dim3"], routing, (pattern, load));
    Case { name: format!("HyperX {}", label(routing, pattern, load)), spec }
}

/// A Dragonfly with the switches of the HyperX: what differs is the routing.
fn dragonfly_alike(routing: &str, pattern: &str, load: f64) -> Case {
    let topology = "{ dragonfly = { p = 6, a = 12, h = 6 } }";
    let spec = mcdonald(topology, &["local", "global"], routing, (pattern, load));
    Case { name: format!("h6 alike {}", label(routing, pattern, load)), spec }
}

/// A tenth of a millisecond of the network of Rocher-Gonzalez et al., section 5.1, under HS10-1 at full load,
/// as in `reproduce/fat-tree/paper.toml`.
fn fat_tree(name: &str, switch: &str, queuing: &str, routing: &str) -> Case {
    let link = "{ latency = \"6 ns\", vcs = 3, buffer = \"64 KB\" }";
    let spec = parse(&format!(
        "[units]\ncycle = \"1 ns\"\nphit = \"12.5 B\"\n\
         [network.topology.rlft]\nports = 36\nstages = 3\n\
         [network.links]\nlevel1 = {link}\nlevel2 = {link}\n\
         [network.queuing.{queuing}]\nqueues = 3\n\
         [network.nic]\nlatency = \"6 ns\"\ninjection_queue = \"64 KB\"\n\
         [network.switch]\n{switch}\n\
         [routing]\n{routing}\n\
         [traffic]\nload = 1.0\npacket_size = \"4 KB\"\npattern = \"uniform\"\n\
         [[traffic.hotspots]]\nsources = {{ random = {{ share = 0.1 }} }}\n\
         destinations = {{ scattered = 1 }}\n\
         [run]\nwarmup = \"60 us\"\nmeasure = \"40 us\"\n"
    ));
    Case { name: format!("11,664 hosts, {name}"), spec }
}

/// The cases that are compared with the floor, and at most how often its time they may take.
fn cases() -> Vec<(Case, Option<f64>)> {
    let mut cases = Vec::new();
    for h in [4, 6, 8, 16] {
        let (oblivious, adaptive) = if h == 6 { (Some(6.0), Some(9.0)) } else { (None, None) };
        let mut case = |routing, pattern, load, bar| {
            cases.push((dragonfly(h, routing, pattern, load), bar));
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

/// What one run took.
struct Cost {
    ns_per_hop: f64,
    cycles_per_s: f64,
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
        bytes_per_host: fixed as f64 / f64::from(outcome.size.hosts),
    }
}

/// The floor's ports: as many, and as wide, as those of a partition at h=6.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Input {
    head: u32,
    tail: u32,
    busy_until: u32,
    upstream: u32,
}

#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Output {
    link_free: u32,
    queued: u32,
    sent: u32,
    credits: [u32; 4],
}

#[derive(Clone, Copy, Default)]
struct Packet {
    next: u32,
    arrival: u32,
    hops: u32,
    rest: [u32; 5],
}

/// 48 routers of 23 ports.
const PORTS: u32 = 1104;
/// Packets in such a partition at half load.
const PACKETS: u32 = 8_000;
const SLOTS: usize = 512;
const NONE: u32 = u32::MAX;

/// Moves packets between ports, by the engine's events, with nothing to decide: where a packet goes
/// is computed from its number. Returns CPU nanoseconds per hop.
fn floor() -> f64 {
    let port = |n: u32| Input { head: NONE, tail: NONE, upstream: n * 31 % PORTS, busy_until: 0 };
    let mut inputs: Vec<Input> = (0..PORTS).map(port).collect();
    let mut outputs = vec![Output { credits: [1 << 30; 4], ..Output::default() }; PORTS as usize];
    let mut pool = vec![Packet::default(); 64];
    let mut free: Vec<u32> = (0..64).collect();
    let mut flights: Vec<Vec<(u32, Packet)>> = vec![Vec::new(); SLOTS];
    let mut returns: Vec<Vec<u32>> = vec![Vec::new(); SLOTS];
    for n in 0..PACKETS {
        let packet = Packet { rest: [n.wrapping_mul(2_654_435_761); 5], ..Packet::default() };
        flights[1 + n as usize % 240].push((n % PORTS, packet));
    }
    let start = ProcessTime::now();
    let (mut hops, mut now) = (0u64, 0u32);
    while hops < 4_000_000 {
        now += 1;
        let slot = now as usize % SLOTS;
        let mut due = std::mem::take(&mut returns[slot]);
        for index in due.drain(..) {
            let output = &mut outputs[index as usize];
            (output.credits[0], output.queued) = (output.credits[0] + 10, output.queued - 10);
        }
        returns[slot] = due;
        let mut due = std::mem::take(&mut flights[slot]);
        for (index, mut packet) in due.drain(..) {
            // Into a buffer ...
            (packet.next, packet.arrival) = (NONE, now);
            let place = free.pop().unwrap_or(0);
            pool[place as usize] = packet;
            let input = &mut inputs[index as usize];
            (input.head, input.tail) = (place, place);
            // ... out of it, with a credit for the sender ...
            let mut packet = pool[input.head as usize];
            free.push(input.head);
            (input.head, input.busy_until) = (packet.next, now + 10);
            outputs[input.upstream as usize].queued += 10;
            returns[(now as usize + 15) % SLOTS].push(input.upstream);
            // ... and to the next buffer.
            packet.hops += 1;
            packet.rest[0] = packet.rest[0].wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let to = ((u64::from(packet.rest[0]) * u64::from(PORTS)) >> 32) as u32;
            let output = &mut outputs[to as usize];
            output.link_free = output.link_free.max(now + 90) + 10;
            output.credits[0] -= 10;
            output.sent += 10;
            let delay = (output.link_free - now).min(260) + 15;
            flights[(now + delay) as usize % SLOTS].push((to, packet));
            hops += 1;
        }
        flights[slot] = due;
    }
    black_box((&pool, &inputs));
    start.elapsed().as_secs_f64() * 1e9 / hops as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Rounds of engine and floor in turn; the medians are printed.
const ROUNDS: usize = 5;

fn main() {
    let filters: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted =
        |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter));
    println!(
        "{:<28} {:>8} {:>8} {:>6} {:>5} {:>12} {:>9}",
        "case", "ns/hop", "floor", "ratio", "bar", "cycles/s", "B/host"
    );
    for (case, bar) in cases().into_iter().filter(|(case, _)| wanted(&case.name)) {
        let rounds = if case.name.starts_with("h16") { 1 } else { ROUNDS };
        let samples: Vec<(f64, Cost)> = (0..rounds).map(|_| (floor(), run(&case))).collect();
        let ratio = median(samples.iter().map(|(floor, cost)| cost.ns_per_hop / floor).collect());
        let bar = bar.map_or(String::new(), |bar| format!("{bar:.0}"));
        println!(
            "{:<28} {:>8.1} {:>8.1} {ratio:>6.2} {bar:>5} {:>12.0} {:>9.0}",
            case.name,
            median(samples.iter().map(|(_, cost)| cost.ns_per_hop).collect()),
            median(samples.iter().map(|(floor, _)| *floor).collect()),
            median(samples.iter().map(|(_, cost)| cost.cycles_per_s).collect()),
            samples[0].1.bytes_per_host,
        );
    }
    compare(&["VLB"], &adaptive(), &wanted);
    compare(&["h6 alike", "h6"], &lattices(), &wanted);
    cells(&wanted);
    println!();
    if wanted("threads") {
        threads();
    }
}

/// A case beside others: the time per hop is to be at most `bar` times that of the first of these.
struct Comparison {
    own: Case,
    others: Vec<Case>,
    bar: f64,
}

/// The time per hop of each case over that of the others, measured in turn.
fn compare(titles: &[&str], comparisons: &[Comparison], wanted: &dyn Fn(&str) -> bool) {
    print!("\n{:<28} {:>8}", "case", "ns/hop");
    for (index, title) in titles.iter().enumerate() {
        print!(" {title:>8} {:>6} {:>5}", "ratio", if index == 0 { "bar" } else { "" });
    }
    println!();
    for Comparison { own, others, bar } in comparisons.iter().filter(|c| wanted(&c.own.name)) {
        let mut costs = vec![Vec::new(); others.len()];
        for _ in 0..ROUNDS {
            let times: Vec<f64> = others.iter().map(|other| run(other).ns_per_hop).collect();
            let own = run(own).ns_per_hop;
            costs.iter_mut().zip(times).for_each(|(costs, time)| costs.push((own, time)));
        }
        let middle = |costs: &[(f64, f64)], value: fn(&(f64, f64)) -> f64| {
            median(costs.iter().map(value).collect())
        };
        print!("{:<28} {:>8.1}", own.name, middle(&costs[0], |(own, _)| *own));
        for (index, costs) in costs.iter().enumerate() {
            let bar = if index == 0 { format!("{bar:.1}") } else { String::new() };
            let (time, ratio) =
                (middle(costs, |(_, time)| *time), middle(costs, |(own, t)| own / t));
            print!(" {time:>8.1} {ratio:>6.2} {bar:>5}");
        }
        println!();
    }
}

/// Routings that adapt, two of which count every blocked attempt, over VLB at the same load, below
/// saturation.
fn adaptive() -> Vec<Comparison> {
    let routings = [
        ("RVLB, recomputed", "valiant = { restricted = true, recompute = true }"),
        ("ACOR-Switch", "valiant = { phase_a = { acor = {} } }"),
        ("ACOR-Packet", "valiant = { phase_a = { acor = { per = 'packet' } } }"),
        ("UGAL, recomputed", "ugal = { restricted = true, recompute = true }"),
        ("PB", PB),
        ("PB, recomputed", "piggyback = { ugal = { restricted = true, recompute = true } }"),
        ("PB-ACOR", "piggyback = { ugal = { phase_a = { acor = {} } } }"),
        ("TPR", "tpr = { ugal = { restricted = true, recompute = true } }"),
        ("LIAN", "lian = {}"),
    ];
    let mut comparisons = Vec::new();
    for (pattern, load) in [(UN, 0.3), (ADV, 0.3)] {
        for (name, routing) in routings {
            let vlb = dragonfly(6, VLB, pattern, load);
            let name = vlb.name.replace("valiant", name);
            let own = Case { name, ..dragonfly(6, routing, pattern, load) };
            comparisons.push(Comparison { own, others: vec![vlb], bar: 1.6 });
        }
    }
    comparisons
}

/// Threshold and offset of `reproduce/hyperx/paper.toml`.
const HYPERX_UGAL: &str = "ugal = { threshold = 48 }";
const CLOS_AD: &str = "clos_ad = { offset = 16 }";
const MIN_AD: &str = "min_ad = {}";
const DIMWAR: &str = "dimwar = { offset = 16 }";
const OMNIWAR: &str = "omniwar = { offset = 16 }";

/// The routings of a HyperX over their like in a Dragonfly, with the same switch and with that of the
/// thesis: by the first the routing algorithms are compared, the second shows what the switch adds. No
/// load is beyond saturation: shortest paths carry 1/8 under bit complement, and so does Clos-AD.
fn lattices() -> Vec<Comparison> {
    let case = |own, (pattern, load), like, (reference, others)| Comparison {
        own: hyperx(own, pattern, load),
        others: vec![
            dragonfly_alike(like, reference, others),
            dragonfly(6, like, reference, others),
        ],
        bar: 1.3,
    };
    let uniform = (UN, 0.5);
    let mut comparisons = vec![
        case(MIN, uniform, MIN, uniform),
        case(VLB, (UN, 0.3), VLB, (UN, 0.3)),
        case(VLB, (BC, 0.3), VLB, (ADV, 0.3)),
        case(MIN, (BC, 0.1), MIN, (UN, 0.1)),
    ];
    for own in [HYPERX_UGAL, MIN_AD, CLOS_AD, DIMWAR, OMNIWAR] {
        comparisons.push(case(own, uniform, UGAL, uniform));
    }
    for (own, load) in
        [(MIN_AD, 0.1), (CLOS_AD, 0.1), (HYPERX_UGAL, 0.3), (DIMWAR, 0.3), (OMNIWAR, 0.3)]
    {
        comparisons.push(case(own, (BC, load), UGAL, (ADV, load.min(0.2))));
    }
    comparisons
}

/// CPU time of a millisecond of a large fat tree; it is to be less than two minutes.
fn cells(wanted: &dyn Fn(&str) -> bool) {
    const FIFO: &str = "input_queued = { routed = \"arrival\", \
                        allocator = { iterations = 3, pointer = \"on-grant\" } }";
    const VOQS: &str = "virtual_output_queued = { iterations = 3 }";
    const ADAPTIVE: &str = "up_adaptive = { ties = \"mod-k\", trigger = \"TH\" }";
    let cases = [
        fat_tree("DBBM, oblivious", FIFO, "dbbm", "up_oblivious = {}"),
        fat_tree("DBBM, TH-*S-K", FIFO, "dbbm", ADAPTIVE),
        fat_tree("vFtree, VOQs, D-mod-K", VOQS, "vftree", "mod_k = {}"),
        fat_tree("vFtree, VOQs, TH-*S-K", VOQS, "vftree", ADAPTIVE),
    ];
    println!("\n{:<36} {:>8} {:>12} {:>5}", "case", "ns/hop", "CPU s per ms", "bar");
    for case in cases.into_iter().filter(|case| wanted(&case.name)) {
        let cost = run(&case);
        let seconds = 1e6 / cost.cycles_per_s;
        println!("{:<36} {:>8.1} {seconds:>12.0} {:>5}", case.name, cost.ns_per_hop, 120);
    }
}

/// Speed-up of two threads over one, in wall time, and what the machine allows: that of two runs side by side
/// over one after the other.
fn threads() {
    let case = dragonfly(6, MIN, UN, 0.5);
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
    let ratio = median(rounds.iter().map(|(ratio, _)| *ratio).collect());
    let room = median(rounds.iter().map(|(_, room)| *room).collect());
    println!(
        "two threads over one, h6 minimal UN 0.5: {ratio:.2} times as fast (wall); \
         two runs side by side: {room:.2}"
    );
}
