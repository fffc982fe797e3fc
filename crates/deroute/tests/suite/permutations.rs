//! Permutations on a fat tree: what its routes can carry at most, by enumeration, and what the engine
//! then carries.

use std::collections::BTreeMap;

use deroute::Simulation;
use deroute::ids::HostId;
use deroute::spec::{Scale, Spec};
use deroute::traffic::{Setting, Workload};

use crate::support::{self, value};

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
    let scale = Scale::new("1 ns", "25 B").unwrap();
    let setting = Setting { topology: &*topology, seed: spec.run.seed };
    let workload = Workload::build(&spec.traffic, &scale, &setting, Some(0)).unwrap();
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
