//! Ladders of VCs: the ones of the literature can be said, and are as long as they must be; positions on
//! them only grow; one that is too short is refused.

use std::collections::BTreeSet;
use std::sync::Arc;

use deroute::ids::{HostId, PortId, RouterId};
use deroute::routing::ladder::{Section, Walk};
use deroute::routing::{
    self, Fabric, Header, Hop, Ladder, Plan, RouterView, Routing, ValiantPhase, follow,
};
use deroute::spec::{self, PhaseA, SpecError};
use deroute::topology::{self, Peer, Step, Topology};

use super::vcs::{EVERYWHERE, check, tight};
use crate::support::catalogue::{DRAGONFLIES, GRAPHS, LATTICES, TREES};
use crate::support::{self, value};

/// Progressive adaptive routing (Jiang, Kim and Dally, ISCA 2009) that tosses a coin instead of looking
/// at queues: a packet on its minimal path is diverted at its source, or after its first local hop.
struct Progressive {
    topology: Arc<dyn Topology>,
    ladder: Ladder,
}

impl Routing for Progressive {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let early = header.position <= 1 && header.phase == ValiantPhase::Minimal;
        if early && view.rng.below(3) == 0 {
            let drawn = self.topology.intermediate(PhaseA::Lgl, true, view.router, view.rng);
            header.divert(view.router, drawn.unwrap_or(view.router), header.kind());
        }
        follow(&*self.topology, &self.ladder, view.router, header)
    }
}

const LOCAL: u8 = 0;
const GLOBAL: u8 = 1;
const LAST: u8 = 2;
const SHORTEST: [u8; 3] = [LOCAL, GLOBAL, LAST];

/// What packets of [`Progressive`] do.
const PROGRESSIVE: [Walk<'_>; 3] = [
    &[(ValiantPhase::Minimal, &SHORTEST)],
    &[(ValiantPhase::A, &SHORTEST), (ValiantPhase::B, &SHORTEST)],
    &[
        (ValiantPhase::Minimal, &[LOCAL]),
        (ValiantPhase::A, &SHORTEST),
        (ValiantPhase::B, &SHORTEST),
    ],
];

/// A plan of [`Progressive`] with 5+2 VCs: l1 - l2 g1 l3 - l4 g2 l5.
fn progressive(fabric: &Fabric) -> Result<Plan, SpecError> {
    let topology = Arc::clone(&fabric.topology);
    let rungs = [LOCAL, LOCAL, GLOBAL, LAST, LOCAL, GLOBAL, LAST];
    let (minimal, lower) = (Section::by_class(0..4), Section::by_class(1..4));
    let sections = [minimal, lower, Section::by_kind(4..7)];
    let ladder = Ladder::new(&*topology, "routing", &rungs, sections, &PROGRESSIVE)?;
    let vcs = ladder.needs();
    let agent = Box::new(move |_, _| -> Box<dyn Routing> {
        Box::new(Progressive { topology: Arc::clone(&topology), ladder: ladder.clone() })
    });
    Ok(Plan { agent, vcs })
}

/// The local and global VCs that a routing of the catalogue needs in a Dragonfly.
fn needs(routing: &str, dragonfly: &str) -> [u8; 2] {
    let mut spec = support::dragonfly(1, 2, 1);
    spec.network.topology = spec::Topology::Dragonfly(value(dragonfly));
    let algorithm = value(routing);
    let plan = |fabric: &Fabric| routing::build(&algorithm, fabric);
    let (_, needs) = tight(spec, &plan, "'uniform'");
    assert_eq!([needs[0].class, needs[1].class], ["local", "global"]);
    [needs[0].vcs, needs[1].vcs]
}

#[test]
fn ladders_of_the_literature() {
    let compact = |keys: &str| format!("{{ valiant = {{ vc_use = 'compact', {keys} }} }}");
    let acor = "phase_a = { acor = { sequence = '2L-A' } }, restricted = false";
    let (plain, trunk) = (DRAGONFLIES[7], DRAGONFLIES[5]);
    for (routing, dragonfly, vcs) in [
        ("{ minimal = {} }".into(), plain, [2, 1]),
        ("{ valiant = { phase_a = '-g-' } }".into(), plain, [4, 2]),
        ("{ lian = { vc_use = 'next-feasible' } }".into(), plain, [4, 2]),
        (compact("phase_a = '-g-'"), plain, [2, 2]),
        (compact("phase_a = '-g-'"), trunk, [3, 2]),
        (compact("phase_a = '-g-', restricted = true"), plain, [3, 2]),
        (compact("phase_a = 'lg-'"), plain, [3, 2]),
        (compact("phase_a = '-gl'"), trunk, [3, 2]),
        (compact("phase_a = 'lgl'"), plain, [4, 2]),
        (compact(acor), plain, [4, 2]),
    ] {
        assert_eq!(needs(&routing, dragonfly), vcs, "{routing}, {dragonfly}");
    }
}

/// 5+2 VCs are enough for packets that are diverted on their way, and none is too many.
#[test]
fn every_vc_of_progressive_routing_counts() {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.checks.full = true;
    let (spec, needs) = tight(spec, &progressive, EVERYWHERE);
    assert_eq!([needs[0].vcs, needs[1].vcs], [5, 2]);
    assert!(needs[0].why.contains("l1 - l2 g1 l3 - l4 g2 l5"), "{}", needs[0].why);
    check(&spec, &progressive, &[], false);
    for class in [0, 1] {
        check(&spec, &progressive, &[class], true);
    }
}

/// On the VCs of Valiant a packet that is diverted on its way runs out of them; so does a detour on those
/// of minimal paths.
#[test]
fn a_ladder_that_is_too_short_is_refused() {
    let topology = topology::build(&support::dragonfly(2, 4, 2).network.topology).unwrap();
    let refused = |rungs: &[u8], sections, walks: &[Walk<'_>]| {
        Ladder::new(&*topology, "routing.mine", rungs, sections, walks).unwrap_err()
    };
    let (lower, upper) = (Section::by_class(0..3), Section::by_kind(3..6));
    let sections = [lower.clone(), lower.clone(), upper];
    let error = refused(&[SHORTEST, SHORTEST].concat(), sections, &PROGRESSIVE);
    assert_eq!(error.path, "routing.mine");
    let expected = "2 global VCs are too few in the ladder l1 g1 l2 - l3 g2 l4: a global hop of phase \
        A after l2 needs another, because a path is minimal local, phase A local global local, \
        phase B local global local";
    assert_eq!(error.message, expected);
    assert_eq!(error.choices, ["3 global VCs or more"]);
    let sections = [lower.clone(), lower.clone(), lower];
    let error = refused(&SHORTEST, sections, &PROGRESSIVE[..2]);
    assert!(error.message.contains("2 local VCs"), "{error}");
    assert!(error.message.contains("a local hop of phase B after l2 needs another"), "{error}");
    let whole = || Section::by_class(0..255);
    let error = refused(&[LOCAL; 256], [whole(), whole(), whole()], &[]);
    assert!(error.message.contains("256 VCs is too long"), "{error}");
}

/// VCs and positions on l1 g1 l2 - l3 g2 l4, whatever hops a path leaves out.
#[test]
fn positions_in_a_dragonfly() {
    let topology = topology::build(&support::dragonfly(2, 4, 2).network.topology).unwrap();
    let ladder = Ladder::valiant(&*topology, "routing").unwrap();
    let climb = |begin: u8, phase: ValiantPhase, kinds: &[u8]| -> Vec<(u8, u8)> {
        let mut position = begin;
        let mut hop = |&kind: &u8| {
            let hop = ladder.hop(Step { port: PortId(0), kind }, phase, position);
            position = hop.position;
            (hop.position, hop.vc.0)
        };
        kinds.iter().map(&mut hop).collect()
    };
    let (minimal, a, b) = (ValiantPhase::Minimal, ValiantPhase::A, ValiantPhase::B);
    assert_eq!(climb(0, minimal, &SHORTEST), [(1, 0), (2, 0), (3, 1)]);
    assert_eq!(climb(0, minimal, &[LAST]), [(1, 0)]);
    assert_eq!(climb(0, a, &[GLOBAL, LAST]), [(2, 0), (3, 1)]);
    for begin in 0..=3 {
        assert_eq!(climb(begin, b, &SHORTEST), [(4, 2), (5, 1), (6, 3)]);
        assert_eq!(climb(begin, b, &[LAST]), [(6, 3)]);
    }
}

/// On the shortest path to the router of any host, hops have the kinds that the topology says, in their
/// order, and no more of any.
#[test]
fn shortest_paths_keep_their_order() {
    let dragonflies = DRAGONFLIES.map(|text| format!("{{ dragonfly = {text} }}"));
    let lattices = LATTICES.map(|text| format!("{{ hyperx = {text} }}"));
    let graphs = GRAPHS.map(|text| format!("{{ graph = {text} }}"));
    let trees = TREES.map(str::to_owned);
    for text in dragonflies.iter().chain(&lattices).chain(&graphs).chain(&trees) {
        let topology = topology::build(&value(text)).unwrap();
        let homes = (0..topology.hosts()).map(|host| topology.router_of(HostId(host)));
        let homes: BTreeSet<RouterId> = homes.collect();
        for from in (0..topology.routers()).map(RouterId) {
            homes.iter().for_each(|&to| walk(&*topology, (from, to), text));
        }
    }
}

fn walk(topology: &dyn Topology, (from, to): (RouterId, RouterId), name: &str) {
    let kinds = topology.hop_kinds();
    let name = format!("{name}: {from} to {to}");
    let (mut at, mut last, mut alike, mut hops) = (from, 0, 0, 0);
    while at != to {
        let Step { port, kind } = topology.next_hop(at, to);
        alike = if kind == last { alike + 1 } else { 1 };
        assert!(kind >= last && alike <= kinds[usize::from(kind)].most, "{name}");
        let Peer::Router { router, class, .. } = topology.peer(at, port) else {
            panic!("{name}: a hop to a host")
        };
        assert_eq!(class, kinds[usize::from(kind)].class, "{name}");
        (at, last, hops) = (router, kind, hops + 1);
    }
    assert_eq!(hops, topology.distance(from, to), "{name}");
}
