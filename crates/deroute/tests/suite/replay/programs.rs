//! Recorded programs on four networks, beside an ideal crossbar of the same hosts.

use deroute::RunOptions;
use deroute::outcome::{JobOutcome, Outcome};
use deroute::spec::Spec;

use super::{data, job};
use crate::support::{self, value};

/// Trace, its ranks, and how much of it is replayed: bytes of its messages.
const PROGRAMS: [(&str, u32, &str); 7] = [
    ("mpi-trace/lammps-melt-16.tar.gz", 16, "0.2"),
    ("mpi-trace/lammps-melt-64.tar.gz", 64, "0.1"),
    ("dim/epoch-4.dim.gz", 4, "0.001"),
    ("dim/epoch-16.dim.gz", 16, "0.001"),
    ("ti/npb-cg-A-16.tar.gz", 16, "0.01"),
    ("ti/npb-ft-W-16.tar.gz", 16, "0.02"),
    ("ti/npb-is-A-16.tar.gz", 16, "0.005"),
];

/// A network, and a routing of it.
type Network = (&'static str, &'static str);

/// Networks of 16 hosts or a few more.
const NETWORKS: [Network; 4] = [
    ("{ crossbar = { hosts = 16 } }", "{ minimal = {} }"),
    ("{ kary_tree = { k = 4, levels = 2 } }", "{ up_adaptive = { ties = 'random' } }"),
    ("{ dragonfly = { p = 2, a = 4, h = 2 } }", "{ ugal = {} }"),
    ("{ hyperx = { widths = [3, 3], hosts = 2 } }", "{ omniwar = {} }"),
];

/// The same of 64.
const LARGER: [Network; 4] = [
    ("{ crossbar = { hosts = 64 } }", "{ minimal = {} }"),
    ("{ kary_tree = { k = 8, levels = 2 } }", "{ up_adaptive = { ties = 'random' } }"),
    ("{ dragonfly = { p = 2, a = 4, h = 2 } }", "{ ugal = {} }"),
    ("{ hyperx = { widths = [4, 4], hosts = 4 } }", "{ omniwar = {} }"),
];

/// A phit of 100 bytes in 10 ns.
fn spec((topology, routing): (&str, &str), (file, bytes): (&str, &str), compute: &str) -> Spec {
    let mut spec = support::network(topology);
    spec.traffic = deroute::spec::Traffic::default();
    spec.run = deroute::spec::Run::default();
    spec.units = value("{ cycle = '10 ns', phit = '100 B' }");
    spec.routing = value(routing);
    spec.workload = Some(value(&format!(
        "{{ packet_size = 4, limit = 2000000000, jobs = [{{ placement = {{ random = {{}} }}, \
         trace = {{ file = '{}', compute = {compute}, messages = {bytes} }} }}] }}",
        data(file)
    )));
    if file.starts_with("ti/") {
        spec.workload.as_mut().expect("there is one").jobs[0].trace.as_mut().expect("one").flops =
            Some(1e9);
    }
    spec
}

/// The same on a switch that is never in the way.
fn ideal(spec: &Spec, topology: &str) -> Spec {
    let mut ideal = spec.clone();
    ideal.network.topology = value(&format!("{{ crossbar_of = {topology} }}"));
    ideal.network.links.clear();
    ideal.network.switch = value("{ output_queued = { pipeline = 3 } }");
    ideal.routing = value("{ minimal = {} }");
    ideal
}

fn run(spec: &Spec, threads: usize) -> Outcome {
    let options = RunOptions { threads, ..RunOptions::default() };
    support::attempt(spec, &options).unwrap_or_else(|error| panic!("{error}"))
}

/// Everything that is sent is received.
fn all_received(job: &JobOutcome, name: &str) {
    assert!(job.finished, "{name}");
    assert_eq!(job.messages.sent, job.messages.received, "{name}");
    assert_eq!(job.replay.as_ref().expect("it follows a trace").unreceived, 0, "{name}");
}

#[test]
fn no_network_is_faster_than_an_ideal_crossbar() {
    for (file, ranks, bytes) in PROGRAMS {
        for network in if ranks > 16 { LARGER } else { NETWORKS } {
            let spec = spec(network, (file, bytes), "0.0");
            let outcome = run(&spec, 1);
            let name = format!("{file} on {}", network.0);
            all_received(job(&outcome), &name);
            assert_eq!(job(&outcome).ranks, ranks);
            assert_eq!(run(&spec, 2), outcome, "{name}");
            let reference =
                if network.0.contains("crossbar") { spec } else { ideal(&spec, network.0) };
            assert!(job(&outcome).time >= job(&run(&reference, 1)).time, "{name}");
        }
    }
}

/// What `deroute trace info` says of LAMMPS on a network that takes no time, and has the same rules, in us.
#[test]
fn no_network_is_faster_than_none() {
    for (file, network, free) in [
        ("mpi-trace/lammps-melt-16.tar.gz", NETWORKS[0], 13_831),
        ("mpi-trace/lammps-melt-64.tar.gz", LARGER[0], 27_351),
    ] {
        // A phit takes 10 ns, and all messages together a hundredth of what they do otherwise.
        for messages in ["1.0", "0.01"] {
            let time = job(&run(&spec(network, (file, messages), "1.0"), 1)).time / 100;
            assert!((free..free * 2).contains(&time), "{file}, {messages}: {time} us");
        }
    }
}
