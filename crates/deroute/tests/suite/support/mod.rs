//! Specs that the suites start from, and how to run them.

pub mod catalogue;
pub mod controls;
pub mod incast;

use std::ops::ControlFlow;

use deroute::ids::RouterId;
use deroute::outcome::Outcome;
use deroute::routing::{self, Fabric, Plan, Routing};
use deroute::spec::{CrossbarSpec, DragonflySpec, Link, Sensing, SpareVcs, Spec, Topology};
use deroute::{RunError, RunOptions, Simulation};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The spec in a piece of TOML.
pub fn parse(text: &str) -> Spec {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The value in a line of TOML, such as `"{ uniform = {} }"`.
pub fn value<T: serde::de::DeserializeOwned>(text: &str) -> T {
    #[derive(serde::Deserialize)]
    struct Line<T> {
        value: T,
    }
    let line = format!("value = {text}");
    toml::from_str::<Line<T>>(&line).unwrap_or_else(|error| panic!("{error}\n{line}")).value
}

/// The spec with a routing around each agent of its own.
pub fn wrapped<R: Routing + 'static>(
    spec: &Spec,
    wrap: impl Fn(Box<dyn Routing>) -> R + Send + Sync + Copy + 'static,
) -> Simulation {
    let plan = |fabric: &Fabric| {
        let Plan { agent, vcs } = routing::build(&spec.routing, fabric)?;
        let around = move |first: RouterId, count: u32| -> Box<dyn Routing> {
            Box::new(wrap(agent(first, count)))
        };
        Ok(Plan { agent: Box::new(around), vcs })
    };
    Simulation::build_with(spec, &plan).unwrap()
}

/// A spec as TOML, to reproduce a failure with.
pub fn show(spec: &Spec) -> String {
    toml::to_string(spec).unwrap_or_else(|error| format!("{spec:?} ({error})"))
}

/// A network that every routing can run on: minimal routing, uniform traffic, packets of 4 phits.
pub fn dragonfly(p: u32, a: u32, h: u32) -> Spec {
    let mut spec = parse(
        r#"
        [network.topology.dragonfly]
        p = 1
        a = 2
        h = 1
        [network.links]
        local = { latency = 3, vcs = 4, buffer = 24 }
        global = { latency = 11, vcs = 2, buffer = 48 }
        [network.switch.combined_queued]
        pipeline = 3
        output_buffer = 16
        [network.nic]
        injection_queue = 40
        [routing.minimal]
        [traffic]
        load = 0.3
        packet_size = 4
        pattern = "uniform"
        [run]
        warmup = 500
        measure = 1500
        "#,
    );
    let wiring = DragonflySpec { p, a, h, ..wiring(&mut spec).clone() };
    *self::wiring(&mut spec) = wiring;
    spec
}

/// A lattice: as [`dragonfly`], with 9 VCs in every dimension.
pub fn lattice(text: &str) -> Spec {
    let mut spec = dragonfly(1, 2, 1);
    spec.network.topology = Topology::Hyperx(value(text));
    let link = |dim: u32| {
        let latency = 3 + 4 * dim;
        let link = format!("{{ latency = {latency}, vcs = 9, buffer = {} }}", 16 + 4 * dim);
        (format!("dim{dim}"), value(&link))
    };
    let Topology::Hyperx(lattice) = &spec.network.topology else { unreachable!() };
    spec.network.links = (1..=lattice.widths.len() as u32).map(link).collect();
    spec
}

/// Any topology: as [`dragonfly`], with 9 VCs on every link.
pub fn network(topology: &str) -> Spec {
    let mut spec = dragonfly(1, 2, 1);
    spec.network.topology = value(topology);
    let wired = deroute::topology::build(&spec.network.topology);
    let wired = wired.unwrap_or_else(|error| panic!("{error}\n{topology}"));
    let link = |(n, name): (usize, &&str)| {
        let link = format!("{{ latency = {}, vcs = 9, buffer = {} }}", 3 + 4 * n, 20 + 4 * n);
        ((*name).to_owned(), value(&link))
    };
    spec.network.links = wired.classes().iter().enumerate().map(link).collect();
    spec
}

/// Another way to measure queues, to use spare VCs and to share memory for every turn; the first is the
/// usual one.
pub fn vary(spec: &mut Spec, turn: usize) {
    let sensing = [Sensing::Both, Sensing::Waiting, Sensing::Output, Sensing::Downstream];
    spec.network.sensing = sensing[turn % 4];
    spec.network.spare_vcs = [SpareVcs::Unused, SpareVcs::Emptiest][turn / 4 % 2];
    // An algorithm that is told of changed queues refuses what changes in every cycle.
    if Simulation::build(spec).is_err_and(|error| error.path == "network.sensing") {
        spec.network.sensing = Sensing::Output;
    }
    if turn % 3 == 1 {
        share(spec, 2 + turn as u32 % 20);
    }
}

/// The VCs that a spec gives a link.
pub fn vcs(link: &Link) -> u8 {
    link.vcs.count().expect("a number of VCs")
}

/// VCs share so many phits of memory, unless the routing refuses it.
pub fn share(spec: &mut Spec, phits: u32) {
    let shared = |spec: &mut Spec, shared: Option<u32>| {
        spec.network
            .links
            .values_mut()
            .for_each(|link| link.shared = shared.map(|phits| u64::from(phits).into()));
    };
    shared(spec, Some(phits));
    if Simulation::build(spec).is_err_and(|error| error.path.ends_with(".shared")) {
        shared(spec, None);
    }
}

/// Another switch for every turn; the next one where the routing of the spec refuses it.
pub fn switch(spec: &mut Spec, turn: usize) {
    spec.network.switch = value(catalogue::SWITCHES[turn % catalogue::SWITCHES.len()]);
    if routes_too_early(spec) {
        switch(spec, turn + 1);
    }
}

/// The switch of the spec routes packets on arrival, and its routing decides again.
pub fn routes_too_early(spec: &Spec) -> bool {
    let paths = ["network.switch.virtual_output_queued", "network.switch.input_queued.routed"];
    Simulation::build(spec).is_err_and(|error| paths.contains(&error.path.as_str()))
}

/// The wiring of a Dragonfly's spec.
pub fn wiring(spec: &mut Spec) -> &mut DragonflySpec {
    match &mut spec.network.topology {
        Topology::Dragonfly(dragonfly) => dragonfly,
        _ => panic!("not a Dragonfly"),
    }
}

/// A single switch under uniform traffic.
pub fn crossbar(hosts: u32) -> Spec {
    let mut spec = dragonfly(1, 2, 1);
    spec.network.topology = Topology::Crossbar(CrossbarSpec { hosts });
    spec.network.links.clear();
    spec
}

/// Builds and runs a spec. A run that is divided is interrupted as well, and goes on from a checkpoint: neither may
/// change its result.
pub fn attempt(spec: &Spec, options: &RunOptions) -> Result<Outcome, RunError> {
    let simulation =
        Simulation::build(spec).unwrap_or_else(|error| panic!("{error}\n{}", show(spec)));
    if options.partitions.is_some() {
        let part = spec.run.seed + u64::from(simulation.topology().routers());
        return interrupted(&simulation, options, (part % 4, 4));
    }
    simulation.run(options, &mut |_| ControlFlow::Continue(()))
}

/// The result of a spec that must run, and that must have the same one in nine parts on two threads.
pub fn run_divided(spec: &Spec, what: &str) -> Outcome {
    let one = attempt(spec, &RunOptions::default());
    let one = one.unwrap_or_else(|error| panic!("{what}: {error}"));
    let options = RunOptions { threads: 2, partitions: Some(9), ..RunOptions::default() };
    let other = attempt(spec, &options).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(one == other, "{what}: the division matters");
    one
}

/// Runs a simulation that is interrupted when a part of its cycles is over, and goes on from its state then.
pub fn interrupted(
    simulation: &Simulation,
    options: &RunOptions,
    (part, of): (u64, u64),
) -> Result<Outcome, RunError> {
    let mut kept = None;
    let first = simulation.run(options, &mut |progress| {
        if progress.cycle * of < progress.of * part {
            return ControlFlow::Continue(());
        }
        kept = Some(progress.checkpoint());
        ControlFlow::Break(())
    });
    match kept {
        None => first,
        Some(kept) => simulation.resume(&kept?, options, &mut |_| ControlFlow::Continue(())),
    }
}

/// The result of a spec that must run.
pub fn run(spec: &Spec) -> Outcome {
    attempt(spec, &RunOptions::default()).unwrap_or_else(|error| panic!("{error}\n{}", show(spec)))
}

/// A test runner whose cases are the same in every run. `PROPTEST_CASES` replaces their number.
pub fn runner(cases: u32) -> TestRunner {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    let config = Config {
        cases: asked.unwrap_or(cases),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}
