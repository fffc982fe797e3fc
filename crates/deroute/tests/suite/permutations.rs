//! Permutations and traffic matrices: their definitions, and what the routes of a fat tree can carry of
//! them at most, by enumeration.

use std::collections::{BTreeMap, BTreeSet};

use deroute::Simulation;
use deroute::ids::HostId;
use deroute::spec::Spec;
use deroute::topology;

use crate::properties::{Sent, sent, traffic, workload};
use crate::support::{self, value};

/// Where a pattern sends from every host of a topology; `None` from silent hosts.
fn image(topology: &str, pattern: &str) -> Vec<Option<u32>> {
    let topology = topology::build(&value(topology)).unwrap();
    let workload = workload(&traffic(pattern), &*topology, 0);
    let to = |from| {
        let packets = sent(&workload, from, 1_000);
        assert!(packets.iter().all(|packet| packet.to == packets[0].to), "{pattern}");
        assert_eq!(packets.is_empty(), !workload.sends(HostId(from)), "{pattern}");
        packets.first().map(|packet| packet.to)
    };
    let image: Vec<_> = (0..topology.hosts()).map(to).collect();
    let senders = image.iter().flatten().count() as f64;
    let offered = 0.3 * senders / f64::from(topology.hosts());
    assert!((workload.offered(0, 100) - offered).abs() < 1e-12, "{pattern}");
    image
}

/// The definitions of Dally and Towles, 3.2, bit by bit and digit by digit: every pattern is a
/// permutation, and who would send to itself is silent.
#[test]
fn permutations_by_definition() {
    type Law = fn(u32) -> u32;
    // Bit `i` of the destination is bit `from(i)` of the source.
    fn bits(host: u32, count: u32, from: impl Fn(u32) -> u32) -> u32 {
        (0..count).map(|i| (host >> from(i) & 1) << i).sum()
    }
    let laws: [(&str, &str, Law); 19] = [
        ("16", "'bit_complement'", |s| bits(!s, 4, |i| i)),
        ("6", "'bit_complement'", |s| [5, 4, 3, 2, 1, 0][s as usize]),
        ("32", "'bit_reverse'", |s| bits(s, 5, |i| 4 - i)),
        ("8", "'bit_reverse'", |s| [0, 4, 2, 6, 1, 5, 3, 7][s as usize]),
        ("32", "{ bit_rotation = {} }", |s| bits(s, 5, |i| (i + 1) % 5)),
        ("32", "{ bit_rotation = { by = 2 } }", |s| bits(s, 5, |i| (i + 2) % 5)),
        ("32", "'shuffle'", |s| bits(s, 5, |i| (i + 4) % 5)),
        ("8", "'shuffle'", |s| [0, 2, 4, 6, 1, 3, 5, 7][s as usize]),
        ("8", "'butterfly'", |s| [0, 4, 2, 6, 1, 5, 3, 7][s as usize]),
        ("64", "'transpose'", |s| bits(s, 6, |i| (i + 3) % 6)),
        ("9", "'transpose'", |s| [0, 3, 6, 1, 4, 7, 2, 5, 8][s as usize]),
        ("32", "{ tornado = {} }", |s| (s + 15) % 32),
        ("7", "{ tornado = {} }", |s| (s + 3) % 7),
        ("64", "{ tornado = { ring = { digits = 8 } } }", |s| {
            (s / 8 + 3) % 8 * 8 + (s % 8 + 3) % 8
        }),
        ("25", "{ tornado = { ring = { digits = 5 } } }", |s| {
            (s / 5 + 2) % 5 * 5 + (s % 5 + 2) % 5
        }),
        ("7", "{ neighbour = {} }", |s| (s + 1) % 7),
        ("16", "{ neighbour = { ring = { digits = 2 } } }", |s| 15 - s),
        ("7", "{ shift = {} }", |s| (s + 3) % 7),
        ("7", "{ shift = { by = -9 } }", |s| (s + 5) % 7),
    ];
    for (hosts, pattern, law) in laws {
        let image = image(&format!("{{ crossbar = {{ hosts = {hosts} }} }}"), pattern);
        let expected = (0..image.len() as u32).map(|s| (law(s) != s).then_some(law(s)));
        assert_eq!(image, Vec::from_iter(expected), "{pattern} of {hosts}");
        let all: BTreeSet<u32> = (0..image.len() as u32).map(law).collect();
        assert_eq!(all.len(), image.len(), "{pattern} of {hosts} is a permutation");
    }
    // Routers of a 5 x 2 lattice with 3 hosts each: places stay, coordinates move.
    let lattice = "{ hyperx = { widths = [5, 2], hosts = 3 } }";
    let moved = |(x, y): (u32, u32)| {
        let to = move |s: u32| ((s / 3 / 5 + y) % 2 * 5 + (s / 3 % 5 + x) % 5) * 3 + s % 3;
        (0..30).map(move |s| Some(to(s))).collect::<Vec<_>>()
    };
    assert_eq!(image(lattice, "{ tornado = { ring = 'coordinates' } }"), moved((2, 0)));
    assert_eq!(image(lattice, "{ neighbour = { ring = 'coordinates' } }"), moved((1, 1)));
    let complement = (0..30).map(|s| Some(29 - s)).collect::<Vec<_>>();
    assert_eq!(image(lattice, "'bit_complement'"), complement);
}

/// Destinations are drawn by the weights of their source, also the largest ones; a matrix and the list
/// of its entries, in any order, give the same packets; a single destination costs no random number.
#[test]
fn weights_are_proportions() {
    let topology = topology::build(&value("{ crossbar = { hosts = 5 } }")).unwrap();
    let most = i64::MAX;
    let large = format!("[{most}, {most}, 0, 1, 0]");
    let rows =
        format!("[[0, 1, 2, 3, 4], [9, 0, 0, 0, 0], {large}, [0, 0, 0, 0, 0], [1, 1, 1, 1, 0]]");
    let list = format!(
        "[[4, 3], [4, 2], [4, 1], [4, 0], [2, 1, {most}], [2, 0, {most}], [2, 3, 1], [3, 1, 0], \
         [1, 0], [0, 4, 4], [0, 3, 3], [0, 2, 2], [0, 1]]"
    );
    let matrix = workload(&traffic(&format!("{{ matrix = {{ rows = {rows} }} }}")), &*topology, 0);
    let pairs = workload(&traffic(&format!("{{ pairs = {{ list = {list} }} }}")), &*topology, 0);
    let shift = workload(&traffic("{ shift = { by = 4 } }"), &*topology, 0);
    for (from, weights) in
        [(0, [0, 1, 2, 3, 4]), (1, [1, 0, 0, 0, 0]), (2, [1, 1, 0, 0, 0]), (4, [1, 1, 1, 1, 0])]
    {
        let packets = sent(&matrix, from, 40_000);
        let all = packets.len() as f64;
        for (to, weight) in (0..).zip(weights) {
            let share = f64::from(weight) / f64::from(weights.iter().sum::<u32>());
            let count = packets.iter().filter(|packet| packet.to == to).count() as f64;
            let error = 4.0 * (share * (1.0 - share) / all).sqrt();
            assert!((count / all - share).abs() <= error, "{from} to {to}: {count} of {all}");
        }
        let again = sent(&pairs, from, 40_000);
        assert!(packets.iter().zip(&again).all(|(a, b)| (a.at, a.to) == (b.at, b.to)), "{from}");
        let times = |packets: &[Sent]| packets.iter().map(|packet| packet.at).collect::<Vec<_>>();
        assert_eq!(times(&packets) == times(&sent(&shift, from, 40_000)), from == 1);
    }
    assert!(sent(&matrix, 3, 40_000).is_empty());
    assert_eq!(matrix.offered(0, 1_000), 0.3 * 0.8);
}

/// The network of the CEE paper: a 2-ary 5-tree of 32 hosts and 80 switches.
fn tree(pattern: &str) -> Spec {
    let mut spec = support::network("{ kary_tree = { k = 2, levels = 5 } }");
    spec.traffic.pattern = value(pattern);
    spec.traffic.load = 0.9;
    spec
}

/// Links, by router and port, of the path of every host that sends.
fn routes(spec: &Spec) -> Vec<Vec<(u32, u16)>> {
    let simulation = Simulation::build(spec).unwrap();
    let topology = simulation.topology();
    let workload = workload(&spec.traffic, &*topology, 0);
    let hosts = (0..topology.hosts()).map(HostId).filter(|host| workload.sends(*host));
    hosts
        .map(|from| {
            let (mut source, first) = workload.source(from, spec.run.seed);
            let to = workload.demand(from, &mut source, first).destination;
            let path = simulation.trace(from, to, 1).unwrap();
            path.iter().map(|(router, hop)| (router.0, hop.port.0)).collect()
        })
        .collect()
}

/// Rates of flows that want `most` of a link each and share every link in a max-min fair way.
fn max_min(routes: &[Vec<(u32, u16)>], most: f64) -> Vec<f64> {
    let (mut rates, mut free) = (vec![most; routes.len()], BTreeMap::new());
    free.extend(routes.iter().flatten().map(|link| (*link, 1.0)));
    let mut open: Vec<usize> = (0..routes.len()).collect();
    while !open.is_empty() {
        let share = |link| {
            let users = open.iter().filter(|flow| routes[**flow].contains(link)).count();
            free[link] / users as f64
        };
        let limit = |flow: usize| routes[flow].iter().map(share).fold(most, f64::min);
        let limits: Vec<f64> = open.iter().map(|flow| limit(*flow)).collect();
        let least = limits.iter().copied().fold(most, f64::min);
        let stays: Vec<bool> = limits.iter().map(|limit| *limit > least + 1e-9).collect();
        for (flow, _) in open.iter().zip(&stays).filter(|(_, stays)| !**stays) {
            rates[*flow] = least;
            routes[*flow].iter().for_each(|link| *free.get_mut(link).unwrap() -= least);
        }
        let mut stays = stays.into_iter();
        open.retain(|_| stays.next() == Some(true));
    }
    rates
}

/// Permutations, and what D-mod-K carries of them at a load of 0.9 and of 1, of what a crossbar does: one
/// flow in each direction of a link, up to four that share it.
const PUBLISHED: [(&str, f64, f64); 11] = [
    ("'bit_complement'", 1.0, 1.0),
    ("{ tornado = {} }", 1.0, 1.0),
    ("{ neighbour = {} }", 1.0, 1.0),
    ("{ shift = {} }", 1.0, 1.0),
    ("'butterfly'", 1.0, 1.0),
    ("{ shift = { by = 11 } }", 1.0, 1.0),
    ("'shuffle'", 0.585, 16.0 / 30.0),
    ("{ bit_rotation = {} }", 0.585, 16.0 / 30.0),
    ("'bit_reverse'", 0.370, 1.0 / 3.0),
    ("{ bit_rotation = { by = 2 } }", 0.346, 28.0 / 90.0),
    ("{ bit_rotation = { by = 3 } }", 0.346, 28.0 / 90.0),
];

/// Max-min shares of D-mod-K by enumeration of the routes.
#[test]
fn max_min_of_d_mod_k() {
    for (pattern, at_nine_tenths, at_full_load) in PUBLISHED {
        let mut spec = tree(pattern);
        spec.routing = value("{ mod_k = {} }");
        let routes = routes(&spec);
        let relative = |load: f64| {
            let rates = max_min(&routes, load);
            rates.iter().sum::<f64>() / (load * rates.len() as f64)
        };
        assert!((relative(0.9) - at_nine_tenths).abs() < 0.0005, "{pattern}: {}", relative(0.9));
        assert!((relative(1.0) - at_full_load).abs() < 1e-9, "{pattern}: {}", relative(1.0));
    }
}
