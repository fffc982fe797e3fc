//! What TPR and LIAN make of the traffic: which paths they take where.

use deroute::outcome::Outcome;
use deroute::probe::PathKind;
use deroute::spec::Spec;

use crate::support::{self, value};

/// A full palmtree with h = 3: 18 other groups, up to 60 packets in a window of 200 cycles.
fn outcome(routing: &str, pattern: &str, load: f64) -> Outcome {
    let mut spec = support::dragonfly(3, 6, 3);
    for link in spec.network.links.values_mut() {
        link.buffer = 100.into();
    }
    spec.network.switch = value("{ combined_queued = { pipeline = 3, output_buffer = 80 } }");
    spec.network.nic.injection_queue = Some(400.into());
    spec.routing = value(routing);
    spec.traffic.pattern = value(pattern);
    spec.traffic.packet_size = value("10");
    spec.traffic.load = load;
    spec.run.warmup = deroute::spec::Warmup::Fixed(1_000.into());
    spec.run.measure = 4_000.into();
    support::run(&spec)
}

fn share(outcome: &Outcome, kind: PathKind) -> f64 {
    outcome.paths.iter().find(|path| path.kind == kind).map_or(0.0, |path| path.share)
}

const ADV_H: &str = "{ adversarial = { offset = 3 } }";

#[test]
fn uniform_traffic_at_low_load_is_minimal() {
    for routing in ["{ tpr = {} }", "{ lian = {} }", "{ lian = { decide = 'counters' } }"] {
        let outcome = outcome(routing, "'uniform'", 0.01);
        assert_eq!(share(&outcome, PathKind::Minimal), 1.0, "{routing}: {:?}", outcome.paths);
    }
}

/// Local links of the groups in between are the bottleneck of ADV+h: LIAN includes the second local
/// hop, but not at a low load; TPR knows no short detour.
#[test]
fn second_local_hop_under_adversarial_overload() {
    for routing in ["{ lian = {} }", "{ lian = { decide = 'counters' } }"] {
        let low = outcome(routing, ADV_H, 0.08);
        assert!(share(&low, PathKind::G) > 0.5, "{routing}: {:?}", low.paths);
        assert_eq!(share(&low, PathKind::Gl), 0.0, "{routing}: {:?}", low.paths);
        let high = outcome(routing, ADV_H, 0.6);
        assert!(share(&high, PathKind::Gl) > 0.85, "{routing}: {:?}", high.paths);
        assert!(share(&high, PathKind::G) < 0.01, "{routing}: {:?}", high.paths);
        // Without it, h links share one local link.
        let short = outcome("{ valiant = { phase_a = '-g-' } }", ADV_H, 0.6);
        assert!(high.load.accepted > 1.2 * short.load.accepted, "{routing}: {:?}", high.load);
    }
    let tpr = outcome("{ tpr = {} }", ADV_H, 0.6);
    assert!(share(&tpr, PathKind::Lgl) > 0.8, "{:?}", tpr.paths);
}

/// Under ADVC only the router that owns the links to the next groups sees them saturated: it alone
/// takes the first local hop.
#[test]
fn first_local_hop_where_minimal_paths_leave() {
    let routing = "{ lian = { gcs_threshold = 2, sgc_threshold = 2 } }";
    let outcome = outcome(routing, "{ adversarial_consecutive = {} }", 0.6);
    let kinds = &outcome.arrays.path_kinds;
    let routers = outcome.arrays.paths_by_router.chunks(kinds.len());
    for (router, paths) in routers.enumerate() {
        let sum = |wanted: [PathKind; 2]| -> u32 {
            let wanted = kinds.iter().zip(paths).filter(|(kind, _)| wanted.contains(kind));
            wanted.map(|(_, packets)| packets).sum()
        };
        let (long, short) = (sum([PathKind::Lg, PathKind::Lgl]), sum([PathKind::G, PathKind::Gl]));
        let owner = router % 6 == 5;
        let fine = if owner { long > 100 && long > 20 * short } else { short > 100 && long == 0 };
        assert!(fine, "router {router}: {paths:?} of {kinds:?}");
    }
}

/// With `whole_path`, packets that land on the router that owns the next global link (a third of
/// those of ADV+2) take no local hop there while the others take two; under ADVC the router that
/// uses first local hops saves the last ones. As much is carried.
#[test]
fn whole_path_saves_hops() {
    let shift = "{ adversarial = { offset = 2 } }";
    for (pattern, load) in [(shift, 0.35), ("{ adversarial_consecutive = {} }", 0.4)] {
        let run = |whole| {
            let keys = "ilc_threshold = 8, sgc_threshold = 2, decide = 'counters'";
            outcome(&format!("{{ lian = {{ {keys}, whole_path = {whole} }} }}"), pattern, load)
        };
        let (plain, shaped) = (run(false), run(true));
        let place = format!("{pattern}: {} and {} hops", plain.hops_mean, shaped.hops_mean);
        assert!(shaped.hops_mean < plain.hops_mean - 0.1, "{place}");
        assert!(shaped.latency.mean < plain.latency.mean, "{place}");
        assert!(shaped.load.accepted > 0.99 * plain.load.accepted, "{place}");
    }
}

/// Where minimal paths have one hop and the others two, the short form of UGAL's rule is the rule; in a Dragonfly
/// it is another.
#[test]
fn short_form_of_ugal() {
    let run = |mut spec: Spec, hops| {
        let routing =
            format!("{{ ugal = {{ phase_a = '-g-', hops = '{hops}', redecide = true }} }}");
        spec.routing = value(&routing);
        spec.traffic.load = 0.7;
        serde_json::to_string(&support::run(&spec)).unwrap()
    };
    let full = || support::lattice("{ widths = [8], hosts = 4 }");
    assert_eq!(run(full(), "path"), run(full(), "simple"));
    let fly = || support::dragonfly(2, 4, 2);
    assert_ne!(run(fly(), "path"), run(fly(), "simple"));
}

/// Flags for each VC send packets on detours as flags for each port do, and none at all without a flag; a
/// broadcast that takes as long as a local link is the default, and a longer one tells of other flags.
#[test]
fn flags_of_piggyback() {
    let adverse = |keys: &str| {
        let routing = format!("{{ piggyback = {{ {keys} }} }}");
        outcome(&routing, "{ adversarial = { offset = 1 } }", 0.3)
    };
    let text = |outcome: &Outcome| serde_json::to_string(outcome).unwrap();
    let (port, vc) = (adverse(""), adverse("flags = 'vc', flag_threshold = 25"));
    assert!(share(&vc, PathKind::Minimal) < 0.25, "{:?}", vc.paths);
    assert!(
        vc.load.accepted > 0.97 * port.load.accepted,
        "{} {}",
        vc.load.accepted,
        port.load.accepted
    );
    assert_ne!(text(&port), text(&vc));
    let ugal = outcome("{ ugal = {} }", "{ adversarial = { offset = 1 } }", 0.3);
    let never = adverse("flags = 'vc', flag_threshold = 1000000");
    assert_eq!(share(&never, PathKind::Minimal), share(&ugal, PathKind::Minimal));
    assert_eq!(never.latency.mean, ugal.latency.mean);
    let local = support::dragonfly(3, 6, 3).network.links["local"].latency.to_string();
    assert_eq!(text(&adverse(&format!("broadcast = {local}"))), text(&port));
    assert_ne!(text(&adverse("broadcast = 10")), text(&port));
}
