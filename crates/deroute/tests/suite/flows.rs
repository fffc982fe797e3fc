//! Flows: how long they take, alone and beside others, and what generators make.

use deroute::outcome::{FlowsOutcome, JobOutcome, Outcome, State};
use deroute::spec::{Spec, SpecError};
use deroute::{RunOptions, Simulation};

use crate::support::{self, value};

/// Hosts with links of their own at one switch; packets of 20 phits, a phit of 50 B a cycle of 10 ns.
fn star(hosts: u32, flows: &str) -> Spec {
    network(&format!("{{ crossbar = {{ hosts = {hosts} }} }}"), "", "minimal", flows)
}

fn network(topology: &str, links: &str, routing: &str, flows: &str) -> Spec {
    support::parse(&format!(
        "[units]\ncycle = \"10 ns\"\nphit = \"50 B\"\n\
         [network]\ntopology = {topology}\nflow_control = {{ pfc = {{}} }}\n{links}\n\
         [network.switch.combined_queued]\noutput_buffer = \"20 KB\"\npipeline = \"50 ns\"\n\
         [network.nic]\nlatency = \"70 ns\"\nlink = {{ buffer = \"40 KB\" }}\n\
         [routing]\n{routing} = {{}}\n\
         [workload]\npacket_size = 20\nlimit = \"2 ms\"\n\
         jobs = [{{ flows = {flows} }}]\n\
         [checks]\nfull = true\n"
    ))
}

fn job(outcome: &Outcome) -> &JobOutcome {
    &outcome.workload.as_ref().expect("a workload").jobs[0]
}

fn flows(outcome: &Outcome) -> &FlowsOutcome {
    job(outcome).flows.as_ref().expect("flows")
}

fn completed(spec: &Spec) -> Outcome {
    let outcome = support::run(spec);
    assert_eq!(outcome.verdict.state, State::Completed, "{:?}", outcome.verdict.reasons);
    outcome
}

/// On every path, whatever the rates of its links: a flow alone takes as long as it is said to.
#[test]
fn a_flow_alone_is_not_slowed_down() {
    let level = |n: u32| format!("level{n} = {{ latency = \"90 ns\", vcs = 2, buffer = '40 KB' }}");
    let tree = "{ fat_tree = { children = [2, 4], parents = [1, 2] } }";
    let dragonfly = "{ dragonfly = { p = 2, a = 4, h = 2 } }";
    let local = "local = { latency = 4, vcs = 2, buffer = '40 KB', rate = '1/3' }";
    let global = "global = { latency = 30, vcs = 1, buffer = '40 KB', rate = '1/2' }";
    let slow = "slow_links = [{ routers = [0, 1], rate = '1/5' }]";
    let networks = [
        ("{ crossbar = { hosts = 9 } }", String::new(), "minimal"),
        (tree, format!("[network.links]\n{}", level(1)), "up_oblivious"),
        (tree, format!("forwarding = 'store-and-forward'\n[network.links]\n{}", level(1)), "mod_k"),
        (dragonfly, format!("[network.links]\n{local}\n{global}"), "minimal"),
        (dragonfly, format!("{slow}\n[network.links]\n{local}\n{global}"), "minimal"),
        (
            dragonfly,
            format!("forwarding = 'store-and-forward'\n[network.links]\n{local}\n{global}"),
            "minimal",
        ),
    ];
    for (topology, links, routing) in networks {
        for size in [1, 7, 20, 21, 40, 133, 1999] {
            for (to, rate) in [(1, 1), (2, 1), (7, 1), (7, 2), (5, 4)] {
                let list = format!(
                    "{{ list = [{{ source = 0, destination = {to}, size = {size}, start = 3 }}] }}"
                );
                let mut spec = network(topology, &links, routing, &list);
                let link = format!("{{ buffer = '40 KB', rate = '1/{rate}' }}");
                spec.network.nic.link = Some(value(&link));
                if rate == 1 && to == 2 {
                    spec.network.nic.link = None;
                }
                let outcome = completed(&spec);
                let (found, what) =
                    (flows(&outcome), format!("{links} {size} to {to} at 1/{rate}"));
                // A shorter last packet, stored and forwarded at other rates, may be a cycle late.
                let late =
                    if links.contains("store") && links.contains("rate") { 1.0 } else { 0.0 };
                let alone = (found.time.max / found.slowdown.max).round();
                assert!((0.0..=late).contains(&(found.time.max - alone)), "{topology} {what}");
                assert_eq!(flows(&outcome).time.max + 3.0, job(&outcome).time as f64);
            }
        }
    }
}

/// All that n hosts send to one goes over one link, which never idles: the last one ends when all has passed.
#[test]
fn the_last_flow_of_an_incast_ends_when_all_has_passed() {
    let base = 5 + 2 * 7;
    for (senders, size) in [(1, 200), (2, 200), (8, 190), (8, 4000)] {
        let spec = star(9, &format!("{{ incast = {{ senders = {senders}, size = {size} }} }}"));
        let outcome = completed(&spec);
        let found = flows(&outcome);
        assert_eq!((found.flows, found.unfinished), (senders, 0));
        assert_eq!(found.time.max, (base + senders * size) as f64, "{senders} x {size}");
        assert!(found.slowdown.max <= senders as f64);
    }
}

/// Of two flows that share a link, the shorter one takes twice as long as alone, and the longer one as long as both
/// need: at a receiver, and at a sender whose flows take turns.
#[test]
fn two_flows_share_a_link() {
    for ends in [[(0, 2), (1, 2)], [(0, 1), (0, 2)]] {
        let flow = |(from, to): (u32, u32), size: u32| {
            format!("{{ source = {from}, destination = {to}, size = {size} }}")
        };
        let list = format!("[{}, {}]", flow(ends[0], 2000), flow(ends[1], 4000));
        let outcome = completed(&star(4, &format!("{{ table = true, list = {list} }}")));
        let arrays = &job(&outcome).arrays;
        assert_eq!(arrays.flow_alone, [2019, 4019]);
        assert!(arrays.flow_time[0].abs_diff(2 * 2000 + 19) <= 20, "{:?}", arrays.flow_time);
        assert_eq!(arrays.flow_time[1], 6019, "{ends:?}");
        let source = [ends[0].0, ends[1].0];
        let destination = [ends[0].1, ends[1].1];
        assert_eq!(
            (&arrays.flow_source[..], &arrays.flow_destination[..]),
            (&source[..], &destination[..])
        );
    }
}

/// Who sends to whom, and how much, by size.
#[test]
fn generators_make_the_flows_that_they_name() {
    let table = |flows: &str| {
        let outcome = completed(&star(6, &format!("{{ table = true, {flows} }}")));
        job(&outcome).clone()
    };
    let permutation = table("permutation = { size = '1 KB' }").arrays;
    let mut to = permutation.flow_destination.clone();
    to.sort_unstable();
    assert_eq!((permutation.flow_source, to), ((0..6).collect(), (0..6).collect()));
    let all = table("all_to_all = { size = 3 }").arrays;
    assert_eq!(all.flow_phits, [3; 30]);
    let incast =
        table("incast = { senders = 3, to = 4, size = 3, rounds = 2, every = 100 }").arrays;
    assert_eq!(incast.flow_start, [0, 0, 0, 100, 100, 100]);
    assert_eq!(incast.flow_destination, [4; 6]);
    let list = "list = [{ source = 0, destination = 1, size = '11 KB' }, \
                { source = 0, destination = 2, size = '10 KB' }, \
                { source = 3, destination = 2, size = 1, start = 70 }]";
    let bins = table(list).flows.unwrap().bins;
    let counts: Vec<_> = bins.iter().map(|bin| (bin.above, bin.up_to, bin.flows)).collect();
    assert_eq!(counts, [(0, Some(200), 2), (200, Some(2000), 1)]);
}

/// As much as the load says, at any partition the same, and with classes of their own.
#[test]
fn random_flows_offer_their_load() {
    let sizes = "{ list = [[10, 0.5], [90, 1.0]] }";
    let poisson = format!("{{ load = 0.3, within = '1 ms', sizes = {sizes} }}");
    let mut spec = star(16, &format!("{{ class = 1, poisson = {poisson} }}"));
    spec.network.classes = Some(value("{ count = 2 }"));
    let outcome = completed(&spec);
    let offered = job(&outcome).messages.phits as f64 / (16.0 * 1e5);
    assert!((offered - 0.3).abs() < 0.006, "{offered}");
    assert!(flows(&outcome).slowdown.mean > 1.0);
    let parts = RunOptions { partitions: Some(4), ..RunOptions::default() };
    let again = support::attempt(&spec, &parts).unwrap();
    assert_eq!(outcome.workload, again.workload);
}

/// A flow that has not ended is counted, and counts for nothing else.
#[test]
fn what_has_not_ended_is_counted() {
    let list = "{ list = [{ source = 0, destination = 1, size = 10 }, \
                { source = 2, destination = 1, size = 5000 }] }";
    let mut spec = star(4, list);
    spec.workload.as_mut().unwrap().limit = 1000.into();
    let outcome = support::run(&spec);
    assert_eq!(outcome.verdict.state, State::Unfinished);
    let found = flows(&outcome);
    assert_eq!((found.flows, found.unfinished, found.bins[1].unfinished), (2, 1, 1));
    assert_eq!((found.time.max, found.bins[1].time.max), (found.time.mean, 0.0));
}

#[test]
fn impossible_flows_are_refused() {
    let of = |flow: &str| format!("{{ list = [{{ {flow} }}] }}");
    let poisson = |text: &str| format!("{{ poisson = {{ {text} }} }}");
    let sizes =
        |list: &str| poisson(&format!("load = 0.1, within = 9, sizes = {{ list = {list} }}"));
    let rows = [
        ("{}".to_owned(), "", "permutation"),
        ("{ file = 'a.csv' }".into(), ".file", "reads no files"),
        ("{ list = [] }".into(), ".list", "no flow"),
        (
            "{ all_to_all = { size = 1 }, permutation = { size = 1 } }".into(),
            ".all_to_all",
            "permutation",
        ),
        (
            of("source = 9, destination = 1, size = 1"),
            ".list[0].source",
            "no rank 9 (allowed: 0 to 3)",
        ),
        (of("source = 1, destination = 1, size = 1"), ".list[0].destination", "itself"),
        (of("source = 1, destination = 2, size = 0"), ".list[0].size", "1 to 1073741823"),
        (of("source = 1, destination = 2, size = '-5 B'"), ".list[0].size", "-5 B"),
        (
            of("source = 1, destination = 2, size = 1, start = '2 ms'"),
            ".list[0].start",
            "200000 cycles",
        ),
        (of("source = 1, destination = 2, size = 1, class = 1"), ".class", "class 1 (allowed: 0)"),
        ("{ incast = { senders = 4, size = 1 } }".into(), ".incast.senders", "1 to 3"),
        ("{ incast = { to = 4, size = 1 } }".into(), ".incast.to", "0 to 3"),
        ("{ incast = { rounds = 0, size = 1 } }".into(), ".incast.rounds", "1 or more"),
        (
            "{ incast = { rounds = 4_000_000_000, size = 1 } }".into(),
            ".incast.rounds",
            "12000000000 flows of 3 senders are too many (allowed: up to 5592405)",
        ),
        (poisson("load = 0.0, within = 9, sizes = 'web_search'"), ".poisson.load", "more than 0"),
        (poisson("load = 9.0, within = 9, sizes = { fixed = 1 }"), ".poisson.load", "at most 1"),
        (poisson("load = 0.1, within = 0, sizes = { fixed = 1 }"), ".poisson.within", "longer"),
        (sizes("[]"), ".poisson.sizes.list", "is empty"),
        (sizes("[[1, 0.5], [2, 0.4]]"), ".poisson.sizes.list[1][1]", "0.5 to 1"),
        (sizes("[[5, 0.5], [2, 1.0]]"), ".poisson.sizes.list[1][0]", "less than"),
        (sizes("[[5, 0.5], [7, 0.9]]"), ".poisson.sizes.list[1][1]", "last share is 0.9"),
        ("{ permutation = { size = 1 }, bins = [9, 9] }".into(), ".bins[1]", "rising"),
    ];
    for (flows, path, text) in rows {
        let error = refusal(&star(4, &flows));
        assert_eq!(error.path, format!("workload.jobs[0].flows{path}"), "{error}");
        assert!(error.to_string().contains(text), "{text:?} is not in {error}");
    }
    let mut spec = star(4, "{ permutation = { size = 1 } }");
    spec.workload.as_mut().unwrap().jobs[0].iterations = 2;
    assert_eq!(refusal(&spec).path, "workload.jobs[0].iterations");
}

fn refusal(spec: &Spec) -> SpecError {
    match Simulation::build(spec) {
        Ok(_) => panic!("accepted\n{}", support::show(spec)),
        Err(error) => error,
    }
}
