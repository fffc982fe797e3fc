//! Entropies: paths of flows, packet spraying, and recycled entropies.

use deroute::outcome::{EntropyUse, Outcome};
use deroute::probe::PathKind;
use deroute::spec::{Spec, Warmup};
use deroute::{RunOptions, Simulation};

use crate::support::catalogue::{GRAPH_ROUTINGS, LATTICE_ROUTINGS, ROUTINGS, TREE_ROUTINGS};
use crate::support::{self, value};

/// 40 Gb/s in phits of 50 B, 10 ns each: packets of 1 KB, switches with 200 KB at each output.
fn fabric(topology: &str, slow: &str, routing: &str, traffic: &str) -> Spec {
    support::parse(&format!(
        "[units]\ncycle = \"10 ns\"\nphit = \"50 B\"\n\
         [network]\ntopology = {topology}\nslow_links = {slow}\nclasses = {{ count = 2 }}\n\
         congestion_point = {{ ecn = {{ kmin = \"10 KB\", kmax = \"40 KB\", pmax = 0.2 }} }}\n\
         [network.links]\nlevel1 = {{ latency = \"50 ns\", vcs = 2, buffer = \"400 KB\" }}\n\
         [network.switch.combined_queued]\noutput_buffer = \"200 KB\"\npipeline = \"50 ns\"\n\
         [network.nic]\nlatency = \"50 ns\"\ninjection_queue = \"20 KB\"\n\
         [routing]\n{routing} = {{}}\n\
         [traffic]\npacket_size = 20\n{traffic}\n\
         [run]\nwarmup = \"10 ms\"\nmeasure = \"5 ms\"\n"
    ))
}

const REPS: &str = "{ reps = {} }";
const OBLIVIOUS: &str = "{ oblivious = {} }";

/// The same with entropies, which come back where they are recycled.
fn with(mut spec: Spec, entropy: &str) -> Spec {
    spec.network.nic.entropy = Some(value(entropy));
    if entropy == REPS {
        let point = "{ acknowledgement = { notifications = { size = 2 } } }";
        spec.network.nic.notification_point = Some(value(point));
    }
    spec
}

fn used(outcome: &Outcome) -> &EntropyUse {
    outcome.entropy.as_ref().expect("entropies")
}

/// One host sends 0.9 over four paths of .25, .10, .10 and .50 with one queue in front of them: with equal shares the
/// least path bounds all, 4 x .10; any split carries what is offered. Recycled entropies find it.
#[test]
fn spraying_over_unequal_paths_is_bounded_by_the_slowest() {
    let slow = "[{ routers = [0, 2], rate = '1/4' }, { routers = [0, 3], rate = '1/10' }, \
                { routers = [0, 4], rate = '1/10' }, { routers = [0, 5], rate = '1/2' }]";
    let accepted = |routing: &str, entropy: Option<&str>| {
        let stream = "load = 0.0\npattern = 'uniform'\n\
             stream = [{ name = 'a', hosts = [0], load = 0.9, destinations = { any = [1] } }]";
        let topology = "{ fat_tree = { children = [1, 2], parents = [1, 4] } }";
        let mut spec = fabric(topology, slow, routing, stream);
        spec.run.measure = "20 ms".into();
        support::run(&entropy.map_or(spec.clone(), |entropy| with(spec, entropy)))
            .arrays
            .accepted_by_host[1]
    };
    for (routing, entropy) in [("up_oblivious", None), ("ecmp", Some(OBLIVIOUS))] {
        let found = accepted(routing, entropy);
        assert!((found - 0.40).abs() < 0.01, "{routing}: {found}");
    }
    for (routing, entropy) in [("up_adaptive", None), ("ecmp", Some(REPS))] {
        let found = accepted(routing, entropy);
        assert!((found - 0.90).abs() < 0.015, "{routing}: {found}");
    }
}

/// Long flows of a permutation in a non-blocking tree: one path for each leaves links unused, spraying does not; with
/// a link at half its rate, entropies that come back unmarked avoid it.
#[test]
fn a_permutation_is_sprayed_over_all_paths() {
    let accepted = |entropy: &str, slow: &str, load: f64| {
        let topology = "{ kary_tree = { k = 4, levels = 2 } }";
        let pattern = format!("load = {load:?}\npattern = {{ permutation = {{ seed = 3 }} }}");
        let outcome = support::run(&with(fabric(topology, slow, "ecmp", &pattern), entropy));
        (outcome.load.accepted, used(&outcome).clone())
    };
    let (flows, kept) = accepted("{ flow = {} }", "[]", 1.0);
    assert!(flows < 0.75 && kept.says[0].contains("paths of their flows"), "{flows}");
    let (sprayed, _) = accepted(OBLIVIOUS, "[]", 1.0);
    assert!(sprayed > 0.95, "{sprayed}");
    let half = "[{ routers = [0, 4], rate = '1/2' }]";
    let (sprayed, _) = accepted(OBLIVIOUS, half, 0.8);
    let (healed, recycled) = accepted(REPS, half, 0.8);
    assert!(sprayed < 0.74 && healed > 0.79, "{sprayed} {healed}");
    assert!(recycled.recycled_share > 0.5 && recycled.heard > 0, "{recycled:?}");
}

/// Long flows with a path each: the k flows of a leaf, all to one other leaf, draw one of k spines each, and share links
/// up and down with those that drew the same. So the share of spines that some flow drew is accepted, 1 - (1 - 1/k)^k
/// on average: 0.656 of k = 8.
#[test]
fn flows_collide_as_often_as_is_expected() {
    const K: i32 = 8;
    let topology = format!("{{ kary_tree = {{ k = {K}, levels = 2 }} }}");
    let accepted = (1..K).map(|leaves| {
        let pattern = format!("load = 1.0\npattern = {{ shift = {{ by = {} }} }}", K * leaves);
        let mut spec = with(fabric(&topology, "[]", "ecmp", &pattern), "{ flow = {} }");
        (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(40_000.into()), 40_000.into());
        spec.probes.links = true;
        let outcome = support::run(&spec);
        let arrays = &outcome.arrays;
        let links = arrays.link_at.chunks_exact(2).zip(&arrays.link_use);
        // Leaves come first; their ports up after those down.
        let up = links.filter(|(at, _)| at[0] < K as u32 && at[1] >= K as u32);
        let used = up.filter(|(_, used)| **used > 0.1).count() as f64 / f64::from(K * K);
        assert!((outcome.load.accepted - used).abs() < 0.01, "{leaves}: {used}");
        used
    });
    let samples: Vec<f64> = accepted.collect();
    let (mean, k) = (samples.iter().sum::<f64>() / samples.len() as f64, f64::from(K));
    let drawn = 1.0 - (1.0 - 1.0 / k).powi(K);
    // The number of spines drawn by a leaf has a deviation of 0.894; there are 56 of them.
    assert!(
        (mean - drawn).abs() < 3.0 * 0.894 / k / 56.0_f64.sqrt(),
        "{mean} for {drawn}: {samples:?}"
    );
}

/// A network with marks and resequencing at load 0.6.
fn loaded(topology: &str, routing: &str) -> Spec {
    let mut spec = support::network(topology);
    spec.routing = value(routing);
    spec.network.classes = Some(value("{ count = 2 }"));
    for link in spec.network.links.values_mut() {
        (link.buffer, link.vcs) = (200.into(), 16.into());
    }
    spec.network.congestion_point = Some(value("{ ecn = { kmin = 4, kmax = 12, pmax = 0.5 } }"));
    spec.network.nic.latency = 5.into();
    spec.network.nic.resequencing = Some(value("{}"));
    spec.traffic.load = 0.6;
    (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(500.into()), 3_000.into());
    spec.checks.full = true;
    spec
}

/// All routings of the catalogue but those that draw nothing, also those that reconsider: any division gives the same
/// bytes.
#[test]
fn every_routing_that_draws_takes_entropies() {
    let networks = [
        ("{ dragonfly = { p = 2, a = 4, h = 2 } }", &ROUTINGS[..]),
        ("{ hyperx = { widths = [4, 4], hosts = 2 } }", &LATTICE_ROUTINGS[..]),
        ("{ kary_tree = { k = 2, levels = 3 } }", &TREE_ROUTINGS[..]),
        (
            "{ graph = { hosts = 2, edges = [[0, 1], [1, 2], [2, 3], [3, 0]] } }",
            &GRAPH_ROUTINGS[..],
        ),
    ];
    let all = networks
        .into_iter()
        .flat_map(|(topology, routings)| routings.iter().map(move |routing| (topology, *routing)));
    for (turn, (topology, routing)) in all.enumerate() {
        // A VC to escape through is not to be shared with acknowledgements.
        let escapes = routing.contains("dal");
        let kinds = ["{ flow = {} }", "{ oblivious = { values = 16 } }", REPS];
        let entropy = kinds[turn % if escapes { 2 } else { 3 }];
        let mut spec = with(loaded(topology, routing), entropy);
        if escapes {
            spec.network.classes = None;
        }
        let what = format!("{topology} {routing} {entropy}");
        if let Err(error) = Simulation::build(&spec) {
            let fixed = ["{ minimal", "{ mod_k", "{ mar_bp", "round-robin"];
            assert!(fixed.iter().any(|name| routing.contains(name)), "{what}: {error}");
            assert!(error.to_string().contains("do not follow from draws"), "{error}");
            continue;
        }
        let one = support::run(&spec);
        let options = RunOptions { threads: 2, partitions: Some(3), ..RunOptions::default() };
        assert!(one == support::attempt(&spec, &options).unwrap(), "{what}: divided");
        assert!(used(&one).packets > 1_000, "{what}");
        // The label of a path says what a packet did, and not that it has an entropy.
        let paths = one.paths.iter().filter(|path| path.kind == PathKind::Derouted);
        assert!(paths.map(|path| path.share).sum::<f64>() < 0.9, "{what}: {:?}", one.paths);
    }
}

/// One way up of four has a hundredth of the rate. After a timeout a host leaves new paths alone: fewer packets are late,
/// and the flows are complete earlier.
#[test]
fn a_freeze_leaves_a_broken_path_alone() {
    let run = |freeze: &str| {
        let text = format!(
            "[units]\ncycle = \"4 ns\"\nphit = \"50 B\"\n\
             [network]\ntopology = {{ kary_tree = {{ k = 4, levels = 2 }} }}\n\
             classes = {{ count = 2 }}\nflow_control = {{ lossy = {{}} }}\n\
             congestion_point = {{ ecn = {{ kmin = \"8 KB\", kmax = \"16 KB\", pmax = 1.0 }} }}\n\
             slow_links = [{{ routers = [0, 7], rate = \"1/1000\" }}]\n\
             switch = {{ input_buffered_output_queued = {{ pipeline = 25 }} }}\n\
             links = {{ level1 = {{ latency = 25, vcs = 2, buffer = 800 }} }}\n\
             [network.nic]\nlatency = 25\nlink = {{ buffer = 400 }}\n\
             notification_point = {{ acknowledgement = {{}} }}\n\
             reaction_point = {{ window = {{ size = 1600 }} }}\n\
             retransmission = {{ timeout = 4_000 }}\nentropy = {{ reps = {{ {freeze} }} }}\n\
             [routing.ecmp]\n\
             [workload]\npacket_size = 80\nlimit = \"20 ms\"\n\
             jobs = [{{ flows = {{ list = [{{ source = 0, destination = 4, size = \"4 MB\" }}, \
             {{ source = 1, destination = 8, size = \"4 MB\" }}] }} }}]\n\
             [checks]\nfull = true\n"
        );
        support::run(&support::parse(&text))
    };
    let (free, frozen) = (run(""), run("freeze = \"1 ms\""));
    let late = |outcome: &Outcome| outcome.retransmission.as_ref().expect("it resends").timeouts;
    assert!(late(&free) > 2 * late(&frozen), "{} {}", late(&free), late(&frozen));
    assert!(used(&free).freezes == 0 && used(&frozen).freezes > 0, "{:?}", used(&frozen));
    assert!(used(&frozen).says[1].contains("froze"), "{:?}", used(&frozen).says);
    let time = |outcome: &Outcome| outcome.workload.as_ref().expect("flows").jobs[0].time;
    assert!(time(&frozen) < time(&free), "{} {}", time(&frozen), time(&free));
}

/// Every topology has routings whose paths follow from entropies: a flow with one has one path, so that nothing is out
/// of order; sprayed packets are; and the division of the network does not matter.
#[test]
fn paths_follow_from_entropies_on_every_topology() {
    let networks = [
        ("{ kary_tree = { k = 2, levels = 3 } }", "{ up_oblivious = {} }"),
        ("{ kary_tree = { k = 2, levels = 3 } }", "{ up_oblivious = { when = 'source' } }"),
        ("{ kary_tree = { k = 2, levels = 3 } }", "{ ecmp = {} }"),
        ("{ dragonfly = { p = 2, a = 4, h = 2 } }", "{ valiant = {} }"),
        ("{ dragonfly = { p = 2, a = 4, h = 2 } }", "{ ugal = {} }"),
        ("{ dragonfly = { p = 2, a = 4, h = 2 } }", "{ piggyback = {} }"),
        ("{ kary_tree = { k = 2, levels = 3 } }", "{ up_adaptive = {} }"),
        ("{ hyperx = { widths = [4, 4], hosts = 2 } }", "{ min_ad = {} }"),
        ("{ hyperx = { widths = [4, 4], hosts = 2 } }", "{ clos_ad = {} }"),
        ("{ hyperx = { widths = [4, 4], hosts = 2 } }", "{ dimwar = {} }"),
        ("{ hyperx = { widths = [4, 4], hosts = 2 } }", "{ omniwar = {} }"),
        ("{ hyperx = { widths = [4, 4], hosts = 2 } }", "{ o1turn = { orders = 'all' } }"),
        ("{ hyperx = { widths = [4, 4], hosts = 2 } }", "{ valiant = {} }"),
        ("{ graph = { hosts = 2, edges = [[0, 1], [1, 2], [2, 3], [3, 0]] } }", "{ valiant = {} }"),
    ];
    for (topology, routing) in networks {
        let spec = loaded(topology, routing);
        let oblivious = ["up_oblivious", "ecmp", "valiant", "o1turn"];
        let adaptive = !oblivious.iter().any(|name| routing.contains(name));
        for entropy in ["{ flow = {} }", "{ oblivious = { values = 16 } }", REPS] {
            let spec = with(spec.clone(), entropy);
            let what = format!("{topology} {routing} {entropy}");
            let one = support::run(&spec);
            let options = RunOptions { threads: 2, partitions: Some(3), ..RunOptions::default() };
            assert!(one == support::attempt(&spec, &options).unwrap(), "{what}: divided");
            let late = one.resequencing.as_ref().expect("resequencing").out_of_order;
            if entropy.contains("flow") && !adaptive {
                assert_eq!(late, 0, "{what}");
            }
            if entropy.contains("values") {
                assert!(late > 10, "{what}: {late}");
            }
            let told = one.notifications.as_ref();
            assert_eq!(told.is_some(), entropy == REPS, "{what}");
            if let Some(told) = told {
                assert!(told.sent > one.packets.delivered * 9 / 10 && told.lost == 0, "{what}");
                assert!(used(&one).recycled > 100 && used(&one).marked > 0, "{what}");
            }
        }
    }
}

/// Nothing comes back of packets that are not there, and nobody is told of marks that there are none of; both is said.
#[test]
fn what_never_acted_is_said_to_be_idle() {
    let idle = "load = 0.0\npattern = 'uniform'\nstream = [{ name = 'a', hosts = [0], load = 0.1, \
                destinations = { any = [1] }, start = '9 ms' }]";
    let topology = "{ kary_tree = { k = 2, levels = 2 } }";
    let mut spec = with(fabric(topology, "[]", "ecmp", idle), REPS);
    (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(0.into()), 500.into());
    let outcome = support::run(&spec);
    let told = outcome.notifications.as_ref().expect("a notification point");
    assert!(used(&outcome).says[0].contains("no entropy came back"), "{:?}", used(&outcome).says);
    assert!(told.says[0].contains("nothing was acknowledged"), "{:?}", told.says);
}
