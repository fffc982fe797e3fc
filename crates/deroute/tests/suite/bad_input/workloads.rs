//! Programs and their placement.

use deroute::spec::SpecError;
use toml::{Table, Value};

use super::{refusal, set};
use crate::support;

/// A workload with one job of 8 ranks, with changes.
fn with_job(changes: &[(&str, &str)]) -> Vec<(String, String)> {
    let job = [("ranks", "8"), ("steps", "[{ dissemination = { size = 1 } }]")];
    let mut table = Table::new();
    for (key, text) in job.iter().chain(changes) {
        set(&mut table, key, (*text != "-").then(|| support::value(text)));
    }
    let jobs = Value::Array(vec![Value::Table(table)]).to_string();
    let keys = ["traffic", "run", "workload.packet_size", "workload.jobs"];
    let texts = ["-", "-", "4", jobs.as_str()];
    keys.into_iter().zip(texts).map(|(key, text)| (key.to_owned(), text.to_owned())).collect()
}

/// The refusal of a spec with such a job, and with further changes of the spec.
fn job_refusal(job: &[(&str, &str)], changes: &[(&str, &str)]) -> SpecError {
    let base = with_job(job);
    let all: Vec<(&str, &str)> = base.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    refusal(&[&all[..], changes].concat())
}

/// Changes of the job and of the spec, the path of the refusal (within the job if only that has changed), and what it
/// says.
type Row<'a> = (&'a [(&'a str, &'a str)], &'a [(&'a str, &'a str)], &'a str, &'a str);

fn refused(rows: &[Row<'_>]) {
    for (job, changes, path, text) in rows {
        let error = job_refusal(job, changes);
        let within = if changes.is_empty() { "workload.jobs[0]." } else { "" };
        assert_eq!(error.path, format!("{within}{path}"), "{error}");
        assert!(error.to_string().contains(text), "{text:?} is not in {error}");
    }
}

#[test]
fn neither_traffic_nor_a_workload() {
    let error = refusal(&[("traffic", "-")]);
    assert_eq!((error.path.as_str(), error.message.as_str()), ("traffic", "is missing"));
    assert!(error.to_string().contains("workload"), "{error}");
}

#[test]
fn workloads() {
    refused(&[
        (&[], &[("workload.packet_size", "0")], "workload.packet_size", "1 to 65535 phits"),
        (
            &[],
            &[("workload.packet_size", "25")],
            "network.links.local.buffer",
            "a packet of 25 phits",
        ),
        (&[], &[("workload.limit", "0")], "workload.limit", "at least 1 cycle"),
        (&[], &[("workload.limit", "'9 KB'")], "workload.limit", "\"9 KB\""),
        (&[], &[("workload.jobs", "[]")], "workload.jobs", "is empty"),
        (&[], &[("run.measure", "500")], "run.measure", "first cycle to its end"),
        (&[], &[("run.warmup", "500")], "run.warmup", "first cycle to its end"),
        (&[("ranks", "0")], &[], "ranks", "1 to 72"),
        (&[("ranks", "73")], &[], "ranks", "73 ranks need a host each, and 72 of 72 are left"),
        (&[("iterations", "0")], &[], "iterations", "1 to 1048576"),
        (&[("steps", "[]")], &[], "steps", "does nothing"),
        (&[("name", "'a b'")], &[], "name", "letters, digits"),
        (&[("start", "'1 B'")], &[], "start", "\"1 B\""),
        (&[("placement", "{ hosts = [1, 2] }")], &[], "placement.hosts", "2 hosts for 8 ranks"),
        (
            &[("placement", "{ hosts = [1, 2, 3, 4, 5, 6, 7, 72] }")],
            &[],
            "placement.hosts[7]",
            "no host 72 (allowed: 0 to 71)",
        ),
        (
            &[("placement", "{ hosts = [1, 2, 3, 4, 5, 6, 7, 2] }")],
            &[],
            "placement.hosts[7]",
            "host 2 has a rank already",
        ),
        (&[("placement", "{ file = 'a.txt' }")], &[], "placement.file", "reads no files"),
        (
            &[("placement", "{ blocked = { block = [2] } }")],
            &[],
            "placement.blocked.block",
            "no stencil",
        ),
        (
            &[
                ("placement", "{ blocked = { block = [3, 1] } }"),
                ("steps", "[{ stencil = { shape = [4, 2], messages = { equal = 9 } } }]"),
            ],
            &[],
            "placement.blocked.block",
            "[3, 1] does not divide the shape [4, 2]",
        ),
    ]);
}

#[test]
fn nodes() {
    refused(&[
        (&[("placement", "'rails'")], &[], "placement", "`node` of the job"),
        (
            &[("node", "{ ranks = 1, bandwidth = '200%', latency = 5 }")],
            &[],
            "node.ranks",
            "1 ranks are no node of whole hosts (allowed: at least 2)",
        ),
        (
            &[("node", "{ ranks = 3, bandwidth = '200%', latency = 5 }"), ("ranks_per_host", "2")],
            &[],
            "node.ranks",
            "a multiple of 2",
        ),
        (
            &[("node", "{ ranks = 4, bandwidth = '0%', latency = 5 }")],
            &[],
            "node.bandwidth",
            "at least a phit in 4096 cycles",
        ),
        (
            &[("node", "{ ranks = 4, bandwidth = 7, latency = 5 }")],
            &[],
            "node.bandwidth",
            "450 GB/s",
        ),
        (
            &[("node", "{ ranks = 4, bandwidth = '200%', latency = 0 }")],
            &[],
            "node.latency",
            "1 to 16777216 cycles",
        ),
        (
            &[
                ("node", "{ ranks = 4, bandwidth = '200%', latency = 5 }"),
                ("within_host", "{ latency = 7 }"),
            ],
            &[],
            "within_host",
            "nothing beside `node`",
        ),
        (
            &[
                ("ranks", "72"),
                ("node", "{ ranks = 70, bandwidth = '200%', latency = 5 }"),
                ("placement", "'rails'"),
            ],
            &[],
            "placement",
            "1 nodes of 70 hosts fit",
        ),
    ]);
}

#[test]
fn steps_of_programs() {
    let rows = [
        ("{ stencil = { shape = [3, 3], messages = { equal = 9 } } }", "stencil.shape", "8 ranks"),
        ("{ stencil = { shape = [], messages = { equal = 9 } } }", "stencil.shape", "1 to 3"),
        (
            "{ stencil = { shape = [8], messages = { equal = 0 } } }",
            "stencil.messages.equal",
            "0 phits",
        ),
        (
            "{ stencil = { shape = [8], messages = { weighted = \
             { total = 9, face = 0, edge = 1, corner = 1 } } } }",
            "stencil.messages.weighted.face",
            "at least 1",
        ),
        ("{ ring = { size = '3 ns' } }", "ring.size", "\"3 ns\""),
        ("{ ring = { size = 1073741824 } }", "ring.size", "1 to 1073741823"),
        ("{ bruck = { size = 1073741823 } }", "bruck.size", "too long"),
        ("{ broadcast = { size = 1, root = 8 } }", "broadcast.root", "0 to 7"),
        ("{ reduce = { size = 1, root = 9 } }", "reduce.root", "no rank 9"),
        ("{ compute = '3 B' }", "compute", "\"3 B\""),
        ("{ exchange = {} }", "exchange.messages", "exchanges nothing"),
        ("{ exchange = { file = 'm.txt' } }", "exchange.file", "reads no files"),
        ("{ exchange = { messages = [[0, 8, 1]] } }", "exchange.messages[0][1]", "no rank 8"),
        ("{ exchange = { messages = [[0, 1, 1], [3, 3, 1]] } }", "exchange.messages[1]", "itself"),
    ];
    for (step, path, text) in rows {
        let step = step.replace("\\\n", "");
        let steps = format!("[{{ compute = 1 }}, {step}]");
        let error = job_refusal(&[("steps", &steps)], &[]);
        assert_eq!(error.path, format!("workload.jobs[0].steps[1].{path}"), "{error}");
        assert!(error.to_string().contains(text), "{text:?} is not in {error}");
    }
}

#[test]
fn jobs_beside_each_other() {
    let two = |second: &str| {
        let jobs = format!(
            "[{{ name = 'a', ranks = 70, steps = [{{ compute = 1 }}] }}, {{ {second}, \
             steps = [{{ compute = 1 }}] }}]"
        );
        let changes = [("traffic", "-"), ("run", "-"), ("workload.packet_size", "4")];
        refusal(&[&changes[..], &[("workload.jobs", jobs.as_str())]].concat())
    };
    let error = two("ranks = 3");
    assert_eq!(error.path, "workload.jobs[1].ranks");
    assert!(error.to_string().contains("2 of 72 are left (allowed: 1 to 2)"), "{error}");
    let error = two("name = 'a', ranks = 1");
    assert_eq!(error.path, "workload.jobs[1].name");
    let error = two("ranks = 1, placement = { hosts = [69] }");
    assert_eq!(error.path, "workload.jobs[1].placement.hosts[0]");
}

/// Collectives by named algorithms: the key, the value, and what there may be.
#[test]
fn algorithms_of_collectives() {
    let refused = |kind: &str, algorithm: &str, path: &str, text: &str| {
        let steps = format!(
            "[{{ collective = {{ kind = '{kind}', size = 9, algorithm = {algorithm} }} }}]"
        );
        let error = job_refusal(&[("steps", &steps)], &[]);
        let within = "workload.jobs[0].steps[0].collective.algorithm";
        assert_eq!(error.path, format!("{within}{path}"), "{error}");
        assert!(error.to_string().contains(text), "{text:?} is not in {error}");
    };
    let ring = |more: &str| format!("{{ ring = {{ {more} }} }}");
    let of_ring = |more: &str, path: &str, text: &str| {
        for kind in ["allreduce", "allgather", "reduce_scatter", "broadcast", "reduce"] {
            refused(kind, &ring(more), &format!(".ring.{path}"), text);
        }
    };
    of_ring("channels = 0", "channels", "0 is out of range");
    of_ring("channels = 1025", "channels", "1 to 1024");
    of_ring("chunks = 0", "chunks", "0 is out of range");
    of_ring("chunks = 65537", "chunks", "1 to 65536");
    of_ring("order = { members = [] }", "order.members", "at least one ring");
    let twice = "order = { members = [[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 6]] }";
    of_ring(twice, "order.members[1][7]", "member 6 is in the ring twice");
    let beyond = "order = { members = [[1, 2, 3, 4, 5, 6, 7, 8]] }";
    of_ring(beyond, "order.members[0][7]", "0 to 7");
    of_ring("order = { file = 'ring.txt' }", "order.file", "the engine reads no files");
    let few = ring("order = { members = [[1, 0]] }");
    refused("allreduce", &few, "", "a ring of 2 members is not one of 8");
    let tree = "{ double_binary_tree = { chunks = 0 } }";
    refused("allreduce", tree, ".double_binary_tree.chunks", "1 to 65536");
    let grouped = "{ hierarchical = { group = 0 } }";
    refused("allreduce", grouped, ".hierarchical.group", "0 is out of range");
    refused("barrier", &ring("chunks = 2"), "", "dissemination");
    refused("alltoall", "'halving_doubling'", "", "bruck, pairwise, linear");
}
