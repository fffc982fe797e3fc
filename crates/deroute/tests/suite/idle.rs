//! Cycles in which nothing can happen are skipped, and nobody can tell.

use deroute::outcome::State;
use deroute::spec::{Run, Spec, Traffic};
use deroute::{RunOptions, Simulation};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestCaseError;

use crate::support::catalogue::{
    FLOW_CONTROLS, HOLDING_SWITCHES, LATTICE_ROUTINGS, NOTIFIED, PAUSES, ROUTINGS, TREE_ROUTINGS,
};
use crate::support::{self, value};

/// A workload; routing, sensing, flow control and probes; latency and queue of interfaces, and traffic; partitions and
/// threads.
type WithCredits =
    (String, (Index, usize, &'static str, usize), (u64, Option<u64>, usize), (usize, usize));
/// A workload; routing, switch and pauses; who is told, broken frames and probes; partitions and threads.
type WithEthernet =
    (String, (Index, &'static str, &'static str), (usize, bool, usize), (usize, usize));

/// Programs that mostly compute, a few cycles or longer than any timing wheel reaches; `C` and `D` are such times.
const JOBS: [&str; 7] = [
    "{ ranks = 8, placement = { random = {} }, iterations = 3, timeline = true, steps = [
       { compute = C }, { stencil = { shape = [2, 2, 2], messages = { equal = 90 } } },
       { compute = D }, { dissemination = { size = 2 } }] }",
    "{ ranks = 6, start = D, placement = { random = { seed = 3 } }, iterations = 2, steps = [
       { recursive_doubling = { size = 20 } }, { compute = C }, { ring = { size = 99 } }] }",
    "{ ranks = 8, ranks_per_host = 2, iterations = 3, within_host = { latency = 4000 }, steps = [
       { exchange = { messages = [[0, 1, 300], [2, 5, 40], [6, 7, 9], [3, 2, 200]] } },
       { compute = C }] }",
    "{ ranks = 5, protocol = { eager_limit = 16 }, iterations = 2, steps = [
       { compute = D }, { broadcast = { size = 64, root = 4 } }, { compute = C }] }",
    "{ ranks = 8, start = C, flows = { list = [
       { source = 0, destination = 7, size = 70, start = D },
       { source = 3, destination = 7, size = 300, start = 30000 },
       { source = 4, destination = 1, size = 9, start = 30001 }] } }",
    "{ ranks = 7, flows = { poisson = { load = 0.004, within = 30000, sizes = { fixed = 50 } } } }",
    "{ ranks = 6, iterations = 2, steps = [{ exchange = { messages = [
       [0, 5, 700], [1, 5, 700], [2, 5, 700], [3, 5, 700]] } }, { compute = C }] }",
];

/// A workload of one or two jobs.
fn workloads() -> impl Strategy<Value = String> {
    let times = || select(&[1_u32, 40, 900, 3_000, 15_000][..]);
    let job = (0..JOBS.len(), times(), times());
    proptest::collection::vec(job, 1..3).prop_map(|jobs| {
        let one = |(job, c, d): &(usize, u32, u32)| {
            JOBS[*job].replace(" C", &format!(" {c}")).replace(" D", &format!(" {d}"))
        };
        let jobs: Vec<String> = jobs.iter().map(one).collect();
        format!("{{ packet_size = 8, limit = 200_000, jobs = [{}] }}", jobs.join(", "))
    })
}

/// Probes that look again and again, and a watchdog with little patience.
fn watch(spec: &mut Spec, turn: usize) {
    spec.checks =
        value(["{ full = true }", "{ watchdog = 300 }", "{ dependencies = true }"][turn % 3]);
    spec.probes.queues = turn.is_multiple_of(2).then(|| value("{ every = 700, ports = 'all' }"));
    spec.probes.congestion = (turn % 5 == 1).then(|| value("{ every = 1100 }"));
    spec.probes.agents = (turn % 5 == 3).then(|| value("{ every = 901 }"));
    for path in ["probes.agents", "probes.congestion", "probes.queues", "checks.dependencies"] {
        if Simulation::build(spec).is_err_and(|error| error.path.starts_with(path)) {
            match path {
                "probes.agents" => spec.probes.agents = None,
                "probes.congestion" => spec.probes.congestion = None,
                "probes.queues" => spec.probes.queues = None,
                _ => spec.checks.dependencies = false,
            }
        }
    }
}

/// Runs it with every cycle, and without those in which nothing can happen; nothing to do if the spec is refused.
fn same(spec: &Spec, (partitions, threads): (usize, usize)) -> Result<bool, TestCaseError> {
    if Simulation::build(spec).is_err() {
        return Ok(false);
    }
    let every = RunOptions { every_cycle: true, partitions: Some(1), ..RunOptions::default() };
    let expected = support::attempt(spec, &every);
    for (partitions, threads) in [(1, 1), (partitions, threads)] {
        let partitions = Some(partitions);
        let options = RunOptions { threads, partitions, ..RunOptions::default() };
        let found = support::attempt(spec, &options);
        prop_assert!(expected == found, "{}\n{expected:?}\n{found:?}", support::show(spec));
    }
    Ok(true)
}

/// Counts the specs that are not refused: most of so many.
fn all_same<S: Strategy>(
    cases: u32,
    strategy: &S,
    test: impl Fn(S::Value) -> Result<bool, TestCaseError>,
) {
    let ran = std::cell::Cell::new(0);
    support::runner(cases)
        .run(strategy, |case| {
            ran.set(ran.get() + u32::from(test(case)?));
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(2 * ran.get() > cases, "{} of {cases} ran", ran.get());
}

/// Credits, at once or in messages that may be lost; any routing, sensing, and traffic beside the programs.
#[test]
fn with_credits() {
    let parts = (
        workloads(),
        (any::<Index>(), 0..24_usize, select(&FLOW_CONTROLS[..]), 0..30_usize),
        (0..9_u64, proptest::option::of(20..90_u64), 0..4_usize),
        (1..9_usize, 1..3_usize),
    );
    let test = |(workload, (routing, sensing, control, turn), nic, divided): WithCredits| {
        let mut spec = match turn % 3 {
            0 => support::lattice("{ widths = [4, 2], hosts = 2 }"),
            1 => support::network("{ kary_tree = { k = 2, levels = 3 } }"),
            _ => support::dragonfly(2, 4, 2),
        };
        let all = [&LATTICE_ROUTINGS[..], &TREE_ROUTINGS[..], &ROUTINGS[..]][turn % 3];
        spec.routing = value(routing.get::<&str>(all));
        (spec.traffic, spec.run) = (Traffic::default(), Run::default());
        spec.workload = Some(value(&workload));
        spec.network.nic.latency = nic.0.into();
        spec.network.nic.injection_queue = nic.1.map(Into::into);
        spec.network.flow_control = value(control);
        // Now and then, and for a time.
        match nic.2 {
            2 => spec.traffic = value("{ load = 0.001, packet_size = 4, pattern = 'uniform' }"),
            3 => {
                spec.traffic = value(
                    "{ load = 0.0, packet_size = 4, pattern = 'uniform', stream = [{ name = 'a', \
                     load = 0.1, \
                     hosts = 'all', pattern = 'uniform', start = 20000, stop = 21000 }] }",
                );
            }
            _ => {}
        }
        support::vary(&mut spec, sensing);
        watch(&mut spec, turn);
        same(&spec, divided)
    };
    all_same(40, &parts, test);
}

/// Tells sources of congestion, in one of five ways or in none.
fn tell(spec: &mut Spec, told: usize) {
    if told > 0 {
        spec.network.classes = value("{ count = 2 }");
    }
    let nic = &mut spec.network.nic;
    match told {
        1 => {
            spec.network.congestion_point = Some(value("{ ecn = { kmin = 8, kmax = 60 } }"));
            nic.notification_point = Some(value("{ cnp = { notifications = { size = 2 } } }"));
            nic.reaction_point = Some(value("{ dcqcn = {} }"));
        }
        2 | 3 => {
            let qcn =
                "{ qcn = { q_eq = 30, sample = { bytes = 100 }, notifications = { size = 2 } } }";
            spec.network.congestion_point = Some(value(qcn));
            nic.reaction_point = (told == 2).then(|| value("{ qcn = {} }"));
        }
        4 => {
            spec.network.congestion_point = Some(value("{ ecn = { kmin = 8, kmax = 60 } }"));
            let point = "{ acknowledgement = { notifications = { size = 2 } } }";
            nic.notification_point = Some(value(point));
            nic.entropy = Some(value("{ reps = {} }"));
            spec.routing = value("{ up_oblivious = {} }");
        }
        5 => {
            spec.network.congestion_point = Some(value("{ ecn = { kmin = 8, kmax = 60 } }"));
            let point = "{ acknowledgement = { notifications = { size = 2 } } }";
            nic.notification_point = Some(value(point));
            nic.reaction_point = Some(value("{ nscc = { base_rtt = 100 } }"));
        }
        _ => {}
    }
}

/// Pauses, congestion points, rate limiters with timers, windows, recycled entropies, links that break frames.
#[test]
fn with_ethernet() {
    let parts = (
        workloads(),
        (any::<Index>(), select(&HOLDING_SWITCHES[..]), select(&PAUSES[..4])),
        (0..6_usize, any::<bool>(), 0..30_usize),
        (1..9_usize, 1..3_usize),
    );
    let test = |(workload, (routing, switch, pauses), told, divided): WithEthernet| {
        let (told, retry, turn) = told;
        let mut spec = support::network("{ fat_tree = { children = [4, 4], parents = [1, 2] } }");
        let routings = [&TREE_ROUTINGS[..], &NOTIFIED[5..]][usize::from(told == 3)];
        spec.routing = value(routing.get::<&str>(routings));
        (spec.traffic, spec.run) = (Traffic::default(), Run::default());
        spec.workload = Some(value(&workload));
        for link in spec.network.links.values_mut() {
            link.buffer = 600.into();
        }
        spec.network.switch = value(switch);
        spec.network.flow_control = value(pauses);
        spec.network.nic.latency = 9.into();
        spec.network.nic.injection_queue = Some(200.into());
        spec.network.nic.link = Some(value("{ buffer = 600 }"));
        tell(&mut spec, told);
        if retry {
            let link = spec.network.links.values_mut().next().expect("a class of links");
            link.retry = Some(value("{ bit_error_rate = 1e-4 }"));
        }
        watch(&mut spec, turn);
        same(&spec, divided)
    };
    all_same(40, &parts, test);
}

/// A second of computing at a nanosecond a cycle, twice over, takes no time.
#[test]
fn computing_is_free() {
    let mut spec = support::dragonfly(2, 4, 2);
    (spec.traffic, spec.run) = (Traffic::default(), Run::default());
    let steps = "[{ compute = 1_000_000_000 }, { ring = { size = 99 } }]";
    spec.workload = Some(value(&format!(
        "{{ packet_size = 8, limit = 2_147_483_647, \
           jobs = [{{ ranks = 70, iterations = 2, steps = {steps} }}] }}"
    )));
    let begun = std::time::Instant::now();
    let outcome = support::run(&spec);
    assert_eq!(outcome.verdict.state, State::Completed, "{:?}", outcome.verdict.reasons);
    assert!(outcome.workload.expect("a workload").makespan > 2_000_000_000);
    // One by one, two billion cycles would take many times as long.
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}
