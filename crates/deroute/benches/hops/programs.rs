//! Programs, and the synthetic traffic that they are compared with.

use std::fmt::Write;

use deroute::spec::{Run, Spec, Traffic, Warmup};

use crate::cases::{Case, Comparison, MIN, UN, label, thesis};

/// Hosts without injection queues keep no packets of messages that have to wait.
const NO_QUEUES: &str = "[network.nic]\n";

/// How a program sends.
struct Form {
    /// Packets of a message.
    burst: u32,
    /// Share of the cycles in which hosts send.
    load: f64,
    /// Cycles of an iteration, and those of them in which hosts send all that they can, where they send together;
    /// and iterations.
    together: Option<(u32, u32, u32)>,
}

/// Programs over uniform traffic of the load that their messages make on average, and over uniform traffic that fills the
/// network as they do. Ranks are anywhere, so that messages are for hosts all over the network.
pub(crate) fn programs() -> Vec<Comparison> {
    // Of each of 26 neighbours, in packets.
    let stencil = |packets: u32, iterations: u32| {
        format!(
            "{{ ranks = 5256, placement = {{ random = {{}} }}, iterations = {iterations}, steps = [\
               {{ stencil = {{ shape = [73, 9, 8], messages = {{ equal = {} }} }} }}] }}",
            260 * packets
        )
    };
    let all_to_all = "{ ranks = 72, placement = { random = {} }, steps = [\
                        { collective = { kind = 'alltoall', size = 100, algorithm = 'pairwise' } }] }";
    let long = Form { burst: 10, load: 0.55, together: Some((4_700, 2_600, 4)) };
    let short = Form { burst: 1, load: 0.31, together: Some((840, 260, 20)) };
    let in_turn = Form { burst: 10, load: 0.11, together: None };
    vec![
        compare("stencil, 10 packets", &stencil(10, 4), &long),
        compare("stencil, 1 packet", &stencil(1, 20), &short),
        compare("all-to-all", &[all_to_all; 73].join(", "), &in_turn),
    ]
}

fn compare(name: &str, jobs: &str, form: &Form) -> Comparison {
    let load = form.load;
    let uniform = Case {
        name: format!("h6 {}", label(MIN, UN, load)),
        spec: thesis(6, (1, NO_QUEUES), MIN, &format!("load = {load}\npattern = {UN}\n")),
    };
    let mut spec = uniform.spec.clone();
    (spec.traffic, spec.run) = (Traffic::default(), Run::default());
    let workload = toml::from_str(&format!("packet_size = 10\njobs = [{jobs}]\n"));
    spec.workload = Some(workload.unwrap_or_else(|error| panic!("{error}\n{jobs}")));
    let own = Case { name: uniform.name.replace("UN", name), spec };
    let alike = Case { name: uniform.name.replace("UN", "UN in bursts"), spec: bursts(form) };
    Comparison { own, others: vec![uniform, alike], bar: 1.5, memory_bar: None }
}

/// Uniform traffic of the same form: as many packets to the same host after each other, and hosts that all begin together,
/// send what they can, and stop until the network is empty.
fn bursts(form: &Form) -> Spec {
    // What has to wait does so at the host, where a rank would not have sent it yet.
    const NIC: &str = "[network.nic]\ninjection_queue = 50\n";
    let Form { burst, load, together } = *form;
    let load = if together.is_some() { 1.0 } else { load };
    let mut traffic = format!("load = {load}\npattern = {UN}\n");
    if burst > 1 {
        writeln!(traffic, "injection = {{ on_off = {{ burst = {burst}.0 }} }}").unwrap();
    }
    let (period, sends, times) = together.unwrap_or_default();
    let mut changes = Vec::new();
    for begin in (0..times).map(|iteration| iteration * period) {
        changes.push(format!("{{ at = {begin}, load = 1.0 }}"));
        changes.push(format!("{{ at = {}, load = 0.0 }}", begin + sends));
    }
    if times > 0 {
        writeln!(traffic, "then = [{}]", changes[1..].join(", ")).unwrap();
    }
    let mut spec = thesis(6, (1, NIC), MIN, &traffic);
    if times > 0 {
        (spec.run.warmup, spec.run.measure) =
            (Warmup::Fixed(1.into()), u64::from(times * period).into());
    }
    spec
}
