//! What a run takes of memory, counted by the allocator, beside what [`Simulation::footprint`] says.

#[allow(dead_code)] // It lists more than is needed here.
#[path = "suite/support/catalogue.rs"]
mod catalogue;
#[path = "memory/paged.rs"]
mod paged;
#[path = "memory/pausing.rs"]
mod pausing;
#[path = "memory/series.rs"]
mod series;
#[path = "memory/told.rs"]
mod told;

use std::alloc::System;
use std::fmt::Write;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use cap::Cap;
use catalogue::{LATTICE_ROUTINGS, ROUTINGS, TREE_ROUTINGS};
use deroute::spec::{Spec, Warmup};
use deroute::{Footprint, Progress, RunError, RunOptions, Simulation};
use pausing::{pausing_networks, unlimited_outputs};
use told::{notified, round_trip_networks};

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

/// One test at a time, because what others allocate would be counted.
static ALONE: Mutex<()> = Mutex::new(());

/// Bytes that are allocated at the most meanwhile, beyond what is now.
fn most<T>(work: impl FnOnce() -> T) -> (u64, T) {
    // The allocator knows the most that ever was: as much is allocated before, and not used.
    let ballast = Vec::<u8>::with_capacity(MEMORY.max_allocated() - MEMORY.allocated());
    let before = MEMORY.allocated();
    let result = work();
    let most = MEMORY.max_allocated() - before;
    black_box(&ballast);
    (most as u64, result)
}

fn value<T: serde::de::DeserializeOwned>(text: &str) -> T {
    #[derive(serde::Deserialize)]
    struct Line<T> {
        value: T,
    }
    toml::from_str::<Line<T>>(&format!("value = {text}")).unwrap_or_else(|e| panic!("{e}")).value
}

/// A network with so many VCs on every link.
fn network(topology: &str, vcs: u8, routing: &str) -> Spec {
    let text = format!(
        "
        routing = {routing}
        [network]
        topology = {topology}
        switch = {{ combined_queued = {{ pipeline = 3, output_buffer = 64 }} }}
        nic = {{ injection_queue = 64 }}
        [traffic]
        load = 0.0
        packet_size = 4
        pattern = 'uniform'
        "
    );
    let mut spec: Spec = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
    let wired = deroute::topology::build(&spec.network.topology).unwrap();
    let link = format!("{{ latency = 40, vcs = {vcs}, buffer = 64 }}");
    let links = wired.classes().iter().map(|class| ((*class).to_owned(), value(&link)));
    spec.network.links = links.collect();
    spec
}

/// The spec with changes.
fn with(mut spec: Spec, change: impl FnOnce(&mut Spec)) -> Spec {
    change(&mut spec);
    spec
}

const TREE: &str = "{ rlft = { ports = 8, stages = 3 } }";
const SMALL: &str = "{ rlft = { ports = 6, stages = 2 } }";
const VOQ: &str = "{ virtual_output_queued = {} }";

fn dragonfly(h: u32, routing: &str) -> Spec {
    let topology = format!("{{ dragonfly = {{ p = {h}, a = {}, h = {h} }} }}", 2 * h);
    network(&topology, 4, routing)
}

fn crossbar(hosts: u32) -> Spec {
    network(&format!("{{ crossbar = {{ hosts = {hosts} }} }}"), 1, "{ minimal = {} }")
}

/// What has no end for a packet has one for a run.
#[test]
fn unlimited_outputs_have_a_bound() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, spec) in unlimited_outputs() {
        let spec = overloaded(&spec);
        let simulation = Simulation::build(&spec).unwrap_or_else(|error| panic!("{error}"));
        // 342 hosts, 2,000 cycles, and no more than a packet a cycle, for which there is room twice.
        let worst = simulation.footprint().worst_bytes;
        assert!(worst < 342 * 2_000 * 1_000, "{name}: {worst}");
        // A long run at a low load: packets of at least 4 phits, each with room for two, and twice as many.
        let mut long = spec;
        (long.traffic.load, long.run.measure) = (0.05, 10_000_000.into());
        let simulation = Simulation::build(&long).unwrap_or_else(|error| panic!("{error}"));
        let (packets, worst) = (342 * 10_000_000 / 20 / 4, simulation.footprint().worst_bytes);
        assert!(worst < 2 * packets * 500, "{name}: {worst}");
    }
}

/// A network with registers before the crossbars.
fn registers() -> Spec {
    with(dragonfly(3, "{ minimal = {} }"), |spec| {
        let switch = "{ input_queued = { routed = 'arrival', registers = true } }";
        spec.network.switch = value(switch);
    })
}

/// A network whose pauses are recorded in time.
fn sampled_pfc() -> Spec {
    with(dragonfly(3, "{ minimal = {} }"), |spec| {
        spec.network.flow_control = value("{ pfc = { response = 0, frame = 4, lossy = true } }");
        spec.probes.pauses = true;
    })
}

/// The spec with several injection queues for each host.
fn injection_queues(spec: Spec) -> Spec {
    with(spec, |spec| spec.network.nic.queues = Some(value("{ destination = { count = 8 } }")))
}

/// The same with streams.
fn streams(spec: Spec) -> Spec {
    with(spec, |spec: &mut Spec| {
        let each = |name| format!("{{ name = '{name}', hosts = 'all', load = 0.0, pattern = ");
        let one = format!("{} 'uniform' }}", each("one"));
        let two = format!("{} {{ shift = {{}} }} }}", each("two"));
        let three =
            "{ name = 'three', hosts = [2, 3, 5], load = 0.0, destinations = { any = [9] } }";
        spec.traffic.streams = value(&format!("[{one}, {two}, {three}]"));
    })
}

/// Networks of every kind, with everything that a run may keep for each port, VC or host.
fn networks() -> Vec<(String, Spec)> {
    let minimal = "{ minimal = {} }";
    let lattice = "{ hyperx = { widths = [4, 4, 4], hosts = 4 } }";
    let queuing = |vcs, scheme: &str| {
        with(network(TREE, vcs, minimal), |spec| spec.network.queuing = Some(value(scheme)))
    };
    let voqs = |spec| with(spec, |spec: &mut Spec| spec.network.switch = value(VOQ));
    let sensing = |way: &str, spare: &str| {
        with(dragonfly(3, "{ ugal = {} }"), |spec| {
            spec.network.sensing = value(way);
            spec.network.spare_vcs = value(spare);
        })
    };
    let shared = |spec| {
        with(spec, |spec: &mut Spec| {
            spec.network.links.values_mut().for_each(|link| link.shared = Some(64.into()));
        })
    };
    let workload = |jobs: u32| {
        with(dragonfly(3, minimal), |spec| {
            let steps = "steps = [{ compute = 9 }]";
            let job = format!("{{ ranks = {}, {steps} }}", 342 / jobs);
            let list = vec![job; jobs as usize].join(", ");
            spec.workload = Some(value(&format!("{{ packet_size = 4, jobs = [{list}] }}")));
            spec.traffic = Default::default();
        })
    };
    let mut networks = vec![
        ("Dragonfly h=2".to_owned(), dragonfly(2, minimal)),
        ("Dragonfly h=3".to_owned(), dragonfly(3, minimal)),
        ("Dragonfly h=4".to_owned(), dragonfly(4, minimal)),
        ("HyperX".to_owned(), network(lattice, 2, minimal)),
        ("HyperX, 9 VCs".to_owned(), network(lattice, 9, "{ omniwar = {} }")),
        ("fat tree".to_owned(), network(TREE, 1, minimal)),
        ("DBBM".to_owned(), queuing(8, "{ dbbm = { queues = 8 } }")),
        ("vFtree".to_owned(), queuing(4, "{ vftree = { queues = 4 } }")),
        ("VOQs".to_owned(), voqs(crossbar(256))),
        ("VOQs in a Dragonfly".to_owned(), voqs(dragonfly(3, minimal))),
        ("VOQs in a fat tree".to_owned(), voqs(queuing(6, "{ dbbm = { queues = 6 } }"))),
        ("registers".to_owned(), registers()),
        ("shared memory".to_owned(), shared(dragonfly(3, minimal))),
        ("injection queues".to_owned(), injection_queues(dragonfly(3, minimal))),
        ("late phits".to_owned(), sensing("'waiting'", "'unused'")),
        ("phits downstream".to_owned(), sensing("'downstream'", "'emptiest'")),
        ("spare VCs".to_owned(), sensing("'both'", "'emptiest'")),
        ("streams".to_owned(), streams(dragonfly(3, minimal))),
        ("streams in a fat tree".to_owned(), streams(network(TREE, 1, minimal))),
        (
            "packets in order".to_owned(),
            with(streams(dragonfly(3, minimal)), |spec| {
                spec.network.nic.resequencing = Some(value("{}"));
            }),
        ),
        ("a program".to_owned(), workload(1)),
        ("many programs".to_owned(), workload(18)),
    ];
    let dbbm = with(voqs(crossbar(128)), |spec| {
        spec.network.queuing = Some(value("{ dbbm = { queues = 64 } }"));
    });
    networks.push(("VOQs with DBBM".to_owned(), dbbm));
    let voqnet = with(network(SMALL, 64, minimal), |spec| {
        spec.network.queuing = Some(value("{ voqnet = {} }"));
    });
    networks.push(("VOQnet".to_owned(), voqnet));
    networks.extend(pausing_networks());
    networks.push(("notifications".to_owned(), notified(dragonfly(3, minimal), false)));
    let tree = network(TREE, 2, minimal);
    networks.push(("notifications in a fat tree".to_owned(), notified(tree.clone(), false)));
    networks.extend(round_trip_networks(tree));
    networks.extend(probed(workload(2)));
    networks
}

/// Networks whose queues and pauses are recorded, and a program's.
fn probed(program: Spec) -> Vec<(String, Spec)> {
    let minimal = "{ minimal = {} }";
    let samples = |spec, series: u64| {
        with(spec, |spec: &mut Spec| {
            let record = "{ every = 50, ports = { classes = ['global'] } }";
            spec.probes.queues = Some(value(record));
            spec.probes.series = Some(series.into());
        })
    };
    let program = with(program, |spec| {
        spec.workload.as_mut().expect("a program").limit = 100_000.into();
    });
    vec![
        ("queues in time".to_owned(), samples(dragonfly(3, minimal), 1_000)),
        ("pauses and queues in time".to_owned(), samples(sampled_pfc(), 100)),
        ("queues of a program".to_owned(), samples(program, 500)),
        (
            "rates in time".to_owned(),
            with(notified(dragonfly(3, minimal), false), |spec| {
                let hosts: Vec<u32> = (0..300).collect();
                let record = format!("{{ every = 20, flows = {{ hosts = {hosts:?} }} }}");
                spec.probes.rates = Some(value(&record));
            }),
        ),
    ]
}

/// The footprint, and what a run without a packet takes before its first cycles are over.
fn empty(spec: &Spec) -> (Footprint, u64) {
    let spec = with(spec.clone(), |spec| {
        if spec.workload.is_none() {
            spec.run.warmup = Warmup::Fixed(1.into());
        }
    });
    let simulation = Simulation::build(&spec).unwrap_or_else(|error| panic!("{error}"));
    let mut stop = |_: Progress<'_>| ControlFlow::Break(());
    let (bytes, result) = most(|| simulation.run(&RunOptions::default(), &mut stop));
    assert_eq!(result, Err(RunError::Interrupted));
    (simulation.footprint(), bytes)
}

/// What is predicted is what is taken, within -5% and +10%.
fn check_fixed(networks: &[(String, Spec)]) {
    let (mut table, mut wrong) = (String::new(), 0);
    for (name, spec) in networks {
        let (footprint, bytes) = empty(spec);
        let percent = 100.0 * (footprint.fixed_bytes as f64 / bytes as f64 - 1.0);
        wrong += u32::from(!(-5.0..=10.0).contains(&percent));
        let predicted = footprint.fixed_bytes;
        writeln!(table, "{percent:+7.1}%: {predicted:9} of {bytes:9}: {name}").unwrap();
    }
    assert_eq!(wrong, 0, "predicted of taken\n{table}");
}

/// The spec beyond saturation, with every injection queue full.
fn overloaded(spec: &Spec) -> Spec {
    with(spec.clone(), |spec| {
        for stream in &mut spec.traffic.streams {
            stream.load = 0.33;
        }
        if spec.traffic.streams.is_empty() {
            spec.traffic.load = 1.0;
        }
        (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(1_500.into()), 500.into());
        spec.traffic.hotspots =
            value("[{ destinations = { any = [1, 4] }, sources = { random = { share = 0.5 } } }]");
    })
}

/// Programs that have a lot under way at once, in order and out of order.
fn busy_programs() -> Vec<(String, Spec)> {
    let programs = [
        "{ ranks = 300, placement = { random = {} }, iterations = 2, steps = [
           { stencil = { shape = [10, 6, 5], messages = { equal = 6000 } } },
           { dissemination = { size = 30 } }] }",
        "{ ranks = 64, iterations = 3, steps = [{ bruck = { size = 80 } }, { compute = 5 },
           { ring = { size = 6400 } }] }",
        "{ ranks = 3, iterations = 5, steps = [
           { exchange = { messages = [[0, 1, 5000], [2, 1, 5000], [1, 0, 1], [1, 2, 30]] } }] }",
        "{ ranks = 200, iterations = 2, node = { ranks = 8, bandwidth = '300%', latency = 70 },
           placement = 'rails', critical_path = true, steps = [{ compute = 9 },
           { collective = { kind = 'alltoall', size = 8, algorithm = 'linear' } }] }",
    ];
    let named = |(program, routing): (&str, &str)| {
        let mut spec = dragonfly(3, routing);
        spec.traffic = Default::default();
        spec.workload =
            Some(value(&format!("{{ packet_size = 4, limit = 2500, jobs = [{program}] }}")));
        (format!("{routing}: {program}"), spec)
    };
    let routings = ["{ minimal = {} }", "{ valiant = {} }"];
    programs.iter().flat_map(|program| routings.map(|routing| named((program, routing)))).collect()
}

/// Tables of the paths between all routers of a graph, which are there before the run, count.
#[test]
fn tables_of_a_graph_count() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let edges =
        |router: u32| [1, 7, 31].map(|step| format!("[{router}, {}]", (router + step) % 999));
    let edges: Vec<String> = (0..999).flat_map(edges).collect();
    let graph = format!("{{ graph = {{ hosts = 2, edges = [{}] }} }}", edges.join(", "));
    let spec = network(&graph, 30, "{ minimal = {} }");
    let before = MEMORY.allocated();
    let simulation = Simulation::build(&spec).unwrap_or_else(|error| panic!("{error}"));
    let built = (MEMORY.allocated() - before) as u64;
    let (footprint, bytes) = empty(&spec);
    let percent = 100.0 * (footprint.fixed_bytes as f64 / (built + bytes) as f64 - 1.0);
    assert!((-5.0..=10.0).contains(&percent), "{footprint:?} of {built} and {bytes}");
    assert!(built > bytes / 4, "{built}, {bytes}");
    drop(simulation);
}

/// However full it gets.
#[test]
fn a_full_network_takes_no_more_than_the_worst() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let full = |(name, spec): &(String, Spec)| match spec.workload {
        None => (name.clone(), overloaded(spec)),
        Some(_) => (name.clone(), spec.clone()),
    };
    let mut networks: Vec<_> = networks().iter().map(full).collect();
    networks.extend(busy_programs());
    networks.extend(unlimited_outputs().iter().map(full));
    let (mut table, mut wrong) = (String::new(), 0);
    for (name, spec) in networks {
        let simulation = Simulation::build(&spec).unwrap_or_else(|error| panic!("{error}"));
        let options = RunOptions::default();
        let mut go_on = |_: Progress<'_>| ControlFlow::Continue(());
        let (bytes, result) = most(|| simulation.run(&options, &mut go_on).map(drop));
        assert_eq!(result, Ok(()));
        let Footprint { fixed_bytes, worst_bytes, .. } = simulation.footprint();
        wrong += u32::from(bytes > worst_bytes);
        let share = 100.0 * bytes as f64 / worst_bytes as f64;
        writeln!(table, "{share:6.1}% of {worst_bytes:9}; empty {fixed_bytes:9}: {name}").unwrap();
    }
    assert_eq!(wrong, 0, "taken of the worst\n{table}");
}

/// Queues of every class of a queuing scheme count, at hosts as elsewhere.
#[test]
fn what_cannot_fit_is_refused() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let voqs = |hosts| {
        with(crossbar(hosts), |spec| {
            spec.network.switch = value(VOQ);
            spec.network.queuing = Some(value("{ dbbm = { queues = 64 } }"));
        })
    };
    let large = Simulation::build(&voqs(512)).map(|simulation| simulation.footprint());
    let predicted = large.unwrap_or_else(|error| panic!("{error}")).fixed_bytes;
    assert!((280_000_000..320_000_000).contains(&predicted), "{predicted}");
    let Err(error) = Simulation::build(&voqs(8192)) else { panic!("69 GB of queues") };
    assert_eq!(error.path, "network.switch.virtual_output_queued");
    assert!(error.message.contains("4294967296 virtual output queues"), "{error}");
}

#[test]
fn an_empty_network_takes_what_its_footprint_says() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    check_fixed(&networks());
}

/// What routing agents keep counts.
#[test]
fn routings_take_what_the_footprint_says() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let lattice = "{ hyperx = { widths = [4, 4], hosts = 4 } }";
    let dragonflies = ROUTINGS.map(|routing| (routing.to_owned(), dragonfly(4, routing)));
    let lattices =
        LATTICE_ROUTINGS.map(|routing| (routing.to_owned(), network(lattice, 9, routing)));
    let trees = TREE_ROUTINGS.map(|routing| (routing.to_owned(), network(TREE, 1, routing)));
    check_fixed(&[&dragonflies[..], &lattices[..], &trees[..]].concat());
}
