//! Tables that cannot forward every packet, and what is said of them.

use std::fmt::Write;

use deroute::Simulation;
use deroute::spec::{Routing, Spec, SpecError, TableSpec};

use super::table;
use crate::support;

/// What is wrong with rules for the network of two routers with two hosts each, and what is said.
const BAD: &[(&str, &[&str])] = &[
    ("", &["no rules"]),
    ("router,destination\n0,0\n", &["no column \"ports\""]),
    ("router,port\n", &["\"port\" is no column", "in_port"]),
    ("router,ports,ports\n", &["two columns are called ports"]),
    ("HEAD0,0,,,\n", &["rule on line 2", "leads to no port"]),
    ("HEAD0,0,,\n", &["router 0, rule on line 2", "4 cells of 5"]),
    ("HEAD0,0,,,0", &["line 2 has no end", "break off"]),
    ("HEAD7,0,,,0\n", &["router 7, rule on line 2", "no such router", "0 to 1"]),
    ("HEAD0,0,,,9\n", &["router 0, rule on line 2", "port 9 does not exist", "0 to 2"]),
    ("HEAD0,0,,,0:99\n", &["neither a port nor a port with a VC"]),
    ("HEAD0,0,,,0:1\n0,1,,,1\n", &["rule on line 3", "some rules name VCs"]),
    ("HEAD0,x,,,0\n", &["\"x\" is no address of a destination"]),
    ("HEAD0,2,ff:00,,2\n", &["rule on line 2", "\"ff:00\" is no mask"]),
    ("HEAD0,3,2,,2\n", &["rule on line 2", "3 has ones where its mask 2 has none"]),
    ("HEAD0,,2,,2\n", &["a mask without a destination"]),
    ("HEAD0,0,,z,0\n", &["\"z\" is no priority"]),
    ("ROWS0,2,,1,0\n", &["have to follow one another"]),
    ("HEAD0,0,,,1\n", &["port 1 does not lead to host 0, its own"]),
    ("HEAD0,0,,,0\n0,2,,,2\n", &["router 0: no rule for host 1, its own"]),
    (
        "HEAD0,0,,1,0\n0,1,,1,1\n0,2,2,,2\n0,3,,,0\n",
        &["router 0, rule on line 5 fits packets to host 3", "that on line 4", "same priority 0"],
    ),
    (
        "HEAD0,0,,,0\n0,1,,,1\n0,2,2,,2\n1,2,,,0\n1,3,,,1\n1,0,,,2\n",
        &["router 1: no rule for host 1"],
    ),
    (
        "HEAD0,0,,,0\n0,1,,,1\n0,2,,,2\n0,3,,,1\n1,2,,,0\n1,3,,,1\n1,0,0xfe,,2\n",
        &["router 0, rule on line 5", "port 1 leads to host 1, and not to host 3"],
    ),
];

fn refusal(spec: &Spec) -> SpecError {
    match Simulation::build(spec) {
        Ok(_) => panic!("accepted\n{}", support::show(spec)),
        Err(error) => error,
    }
}

#[test]
fn bad_tables_are_named() {
    const HEAD: &str = "router,destination,destination_mask,priority,ports\n";
    const ROWS: &str = "0,0,,1,0\n0,1,,1,1\n0,,,0,2\n1,2,,1,0\n1,3,,1,1\n1,,,0,2\n";
    let mut spec = support::network("{ graph = { hosts = 2, edges = [[0, 1]] } }");
    spec.routing = table(format!("{HEAD}{ROWS}"));
    assert!(Simulation::build(&spec).is_ok());
    for (text, fragments) in BAD {
        let text = text.replace("ROWS", &format!("{HEAD}{ROWS}")).replace("HEAD", HEAD);
        spec.routing = table(text.clone());
        let error = refusal(&spec);
        assert_eq!(error.path, "routing.table.rules", "{text}: {error}");
        for fragment in *fragments {
            assert!(error.to_string().contains(fragment), "{text}: no {fragment:?} in {error}");
        }
    }
}

/// Loops, and channels that wait for each other, on a ring of four routers; packets that go too far.
#[test]
fn loops_and_cycles_are_named() {
    let mut spec =
        support::network("{ graph = { hosts = 1, edges = [[0, 1], [1, 2], [2, 3], [3, 0]] } }");
    // Ports of router 0: 1 to router 1, 2 to router 3; of others: 1 back, 2 on, but for the last.
    let ahead = |router: u32| [1, 2, 2, 2][router as usize];
    let rules = |exit: &dyn Fn(u32, u32) -> String| {
        let mut text = String::from("router,destination,ports\n");
        for (router, host) in (0..4).flat_map(|router| (0..4).map(move |host| (router, host))) {
            let port = if router == host { "0".into() } else { exit(router, host) };
            writeln!(text, "{router},{host},{port}").unwrap();
        }
        table(text)
    };
    // Always on: three hops, two of which minimal paths have VCs for.
    spec.routing = rules(&|router, _| ahead(router).to_string());
    let error = refusal(&spec).to_string();
    assert!(error.contains("hop 3 of a path to host") && error.contains("7:1"), "{error}");
    // With a single VC all wait for all.
    spec.routing = rules(&|router, host| match (router, host) {
        (own, to) if own == to => "0:0".into(),
        _ => format!("{}:0", ahead(router)),
    });
    let fixed = |text: Routing| match text {
        Routing::Table(TableSpec { rules: Some(rules), .. }) => {
            let own = |line: &str| {
                if line.ends_with(",0") { format!("{line}:0\n") } else { format!("{line}\n") }
            };
            table(rules.lines().map(own).collect())
        }
        other => other,
    };
    spec.routing = fixed(spec.routing);
    let error = refusal(&spec).to_string();
    assert!(error.contains("wait for each other for ever: router"), "{error}");
    assert!(error.contains("rule on line") && error.contains("VC 0"), "{error}");
    // Where packets change to another VC between the last router and the first, none waits for itself.
    spec.routing = fixed(rules(&|router, host| {
        let vc = u32::from(router == 3 || host > router);
        format!("{}:{}", ahead(router), vc)
    }));
    assert!(Simulation::build(&spec).is_ok(), "{}", refusal(&spec));
    // Two routers send packets to and fro.
    spec.routing = rules(&|router, host| match (router, host) {
        (1, 3) => "1".into(),
        (0, 3) => "1".into(),
        _ if (host + 4 - router) % 4 == 3 => if router == 0 { "2" } else { "1" }.into(),
        _ => ahead(router).to_string(),
    });
    let error = refusal(&spec).to_string();
    assert!(error.contains("packets to host 3 go round in a loop"), "{error}");
    assert!(error.contains("router 0, rule on line 5; router 1, rule on line 9"), "{error}");
}
