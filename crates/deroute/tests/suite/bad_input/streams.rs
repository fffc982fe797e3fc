//! Streams.

use super::refusal;

/// What is wrong with these streams, beside other changes.
fn check(streams: &str, changes: &[(&str, &str)], path: &str, fragments: &[&str]) {
    let all = [&[("traffic.stream", streams)], changes].concat();
    let error = refusal(&all);
    assert_eq!(error.path, path, "{streams}: {error}");
    for fragment in fragments {
        assert!(error.to_string().contains(fragment), "{streams}: {fragment:?} in {error}");
    }
}

/// A stream with changes: `key = value` in place of what is there, or nothing.
fn with(changes: &[(&str, &str)]) -> String {
    let keys =
        [("name", "'a'"), ("hosts", "[3, 4]"), ("load", "0.5"), ("destinations", "{ any = [9] }")];
    let changed = |key: &str| changes.iter().find(|change| change.0 == key).map(|change| change.1);
    let kept = keys.map(|(key, text)| (key, changed(key).unwrap_or(text)));
    let new = changes.iter().filter(|change| keys.iter().all(|key| key.0 != change.0)).copied();
    let lines = kept.into_iter().chain(new).filter(|(_, text)| *text != "-");
    let lines: Vec<String> = lines.map(|(key, text)| format!("{key} = {text}")).collect();
    format!("[{{ {} }}]", lines.join(", "))
}

#[test]
fn streams() {
    const STREAM: &str = "traffic.stream[0]";
    type Row<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a [&'a str]);
    let rows: &[Row<'_>] = &[
        (&[("name", "''")], ".name", &["\"\" is not a name", "letters, digits"]),
        (&[("name", "'a b'")], ".name", &["\"a b\" is not a name"]),
        (&[("hosts", "[]")], ".hosts", &["an empty list has no host"]),
        (&[("hosts", "[3, 72]")], ".hosts[1]", &["there is no host 72", "0 to 71"]),
        (&[("hosts", "[3, 4, 3]")], ".hosts", &["host 3 stands there twice"]),
        (&[("hosts", "{ from = 5, to = 4 }")], ".hosts", &["5 to 4", "within 0 to 71"]),
        (&[("hosts", "{ from = 5, to = 72 }")], ".hosts", &["5 to 72", "within 0 to 71"]),
        (&[("hosts", "{ even = { share = 2.0 } }")], ".hosts.even.share", &["2", "up to 1.0"]),
        (&[("load", "1.5")], ".load", &["1.5 is not a fraction", "0.0 to 1.0"]),
        (&[("load", "-0.5")], ".load", &["-0.5 is not a fraction"]),
        (&[("load", "0.8")], ".load", &["host 3 would offer 1.1", "at most 0.7"]),
        (&[("destinations", "-")], "", &["this has none", "pattern, destinations"]),
        (&[("pattern", "'uniform'")], "", &["this has both", "pattern, destinations"]),
        (&[("destinations", "{ any = [72] }")], ".destinations.any[0]", &["no host 72"]),
        (&[("destinations", "{ any = [4] }")], ".destinations", &["host 4 would send to itself"]),
        (
            &[("destinations", "-"), ("pattern", "{ pairs = { list = [[3, 4, 1]] } }")],
            ".hosts[1]",
            &["host 4 sends nothing"],
        ),
        (&[("class", "1")], ".class", &["there is no class 1: network.classes.count is 1"]),
        (&[("packet_size", "0")], ".packet_size", &["0 phits is no packet size"]),
        (
            &[("injection", "{ on_off = { burst = 0.5 } }")],
            ".injection.on_off.burst",
            &["0.5 packets are no burst"],
        ),
        (&[("start", "500"), ("stop", "400")], ".stop", &["the stream ends before it begins"]),
        (&[("start", "'9 KB'")], ".start", &["\"9 KB\""]),
    ];
    for (changes, path, fragments) in rows {
        check(&with(changes), &[], &format!("{STREAM}{path}"), fragments);
    }
    let two = format!("[{0}, {0}]", &with(&[("load", "0.1")]).trim_matches(['[', ']']));
    check(&two, &[], "traffic.stream[1].name", &["\"a\" is the name of two streams"]);
    let large = with(&[("packet_size", "25")]);
    check(&large, &[], "network.links.local.buffer", &["cannot hold a packet of 25 phits"]);
    let classes = [("network.classes", "{ count = 2 }")];
    check(&with(&[("class", "2")]), &classes, "traffic.stream[0].class", &["count is 2", "0 to 1"]);
    let automatic = [("run.warmup", "{}")];
    check(&with(&[("start", "5")]), &automatic, "traffic.stream[0].start", &["fixed length"]);
}

/// The loads of a host count while they are there.
#[test]
fn loads_count_while_they_last() {
    let streams = |stop: &str| {
        format!(
            "[{{ name = 'a', hosts = 'all', load = 0.7, pattern = 'uniform', stop = {stop} }},
              {{ name = 'b', hosts = [5], load = 0.6, pattern = 'uniform', start = 100 }}]"
        )
    };
    let table = super::changed(&[("traffic.stream", &streams("100")), ("traffic.load", "0.3")]);
    let spec: deroute::spec::Spec = table.try_into().unwrap();
    assert!(deroute::Simulation::build(&spec).is_ok());
    let path = "traffic.stream[1].load";
    check(&streams("101"), &[], path, &["host 5 would offer 1.6", "at most 0.0"]);
    let then = [("traffic.then", "[{ at = 300, load = 0.5 }]")];
    check(&streams("100"), &then, path, &["host 5 would offer 1.1", "at most 0.5"]);
}

#[test]
fn resequencing() {
    let lossy = [("network.nic.resequencing", "{}"), ("network.flow_control", "{ lossy = {} }")];
    let error = refusal(&lossy);
    assert_eq!(error.path, "network.nic.resequencing");
    assert!(error.to_string().contains("would wait for it for ever"), "{error}");
    let error = refusal(&[("network.nic.resequencing", "{ buffer = 3 }")]);
    assert_eq!(error.path, "network.nic.resequencing.buffer");
    assert!(error.to_string().contains("cannot hold a packet of 4 phits"), "{error}");
}

/// So many injection queues are no number of them.
#[test]
fn injection_queues() {
    const QUEUES: &str = "network.nic.queues";
    let rows: [super::Row<'_>; 5] = [
        (
            &[(QUEUES, "{ destination = { count = 0 } }")],
            ".destination.count",
            &["0 queues", "1 to 64"],
        ),
        (&[(QUEUES, "{ destination = {} }")], ".destination.count", &["72 queues", "1 to 64"]),
        (&[(QUEUES, "{ flow = { count = 65 } }")], ".flow.count", &["65 queues", "1 to 64"]),
        (
            &[
                (QUEUES, "{ flow = { count = 40 } }"),
                ("network.queuing", "{ dbbm = { queues = 2 } }"),
            ],
            ".flow.count",
            &["40 queues for each of 2 classes", "1 to 32"],
        ),
        (
            &[(QUEUES, "{ flow = {} }"), ("network.nic.reaction_point", "{ qcn = {} }")],
            "",
            &["a queue of its own", "no network.nic.reaction_point"],
        ),
    ];
    for (changes, path, fragments) in rows {
        let error = refusal(changes);
        assert_eq!(error.path, format!("{QUEUES}{path}"), "{error}");
        for fragment in fragments {
            assert!(error.to_string().contains(fragment), "{fragment:?} in {error}");
        }
    }
}

/// A host that runs a rank sends no synthetic traffic.
#[test]
fn ranks_send_no_streams() {
    let workload = "{ packet_size = 4, jobs = [{ ranks = 4, steps = [{ compute = 5 }] }] }";
    let changes = [("workload", workload), ("run", "-")];
    let path = "traffic.stream[0].hosts";
    check(&with(&[]), &changes, path, &["host 3 runs a rank of the workload"]);
}
