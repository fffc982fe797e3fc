//! DimWAR and OmniWAR: McDonald et al., SC 2019, 5.1 to 5.3 and figure 5.

use deroute::ids::{PortId, RouterId, VcId};
use deroute::routing::Header;

use super::{Chosen, Head, Network, dice};
use crate::support::{self, value};

/// A hop of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Taken {
    dim: usize,
    class: u8,
    deroute: bool,
}

/// What a hop may be that leads straight or elsewhere in a dimension, of a packet that took some hops and is not
/// aligned in some dimensions: its class, and the hops that are left before it. None where it is not allowed.
type Rule = fn(&[Taken], &[usize], (usize, bool)) -> Option<(u8, u32)>;

/// 5.1: only the first dimension that is not aligned; a minimal hop on the first class, a deroute on the second, and
/// only for a packet whose own class is the first.
fn dimwar(path: &[Taken], left: &[usize], (dim, straight): (usize, bool)) -> Option<(u8, u32)> {
    let hops = left.len() as u32;
    let on_first = path.last().is_none_or(|hop| hop.class == 0);
    match (dim == left[0], straight) {
        (false, _) => None,
        (_, true) => Some((0, hops)),
        (_, false) => on_first.then_some((1, hops + 1)),
    }
}

/// 5.2 with four classes: the class is the number of the hop; a deroute in any dimension that is not aligned while
/// more classes are left than minimal hops.
fn omniwar(path: &[Taken], left: &[usize], (dim, straight): (usize, bool)) -> Option<(u8, u32)> {
    let (class, hops) = (path.len() as u8, left.len() as u32);
    let spare = 4 - path.len() > left.len();
    match (left.contains(&dim), straight) {
        (false, _) => None,
        (_, true) => Some((class, hops)),
        (_, false) => spare.then_some((class, hops + 1)),
    }
}

/// A lattice with a routing, and the rule that it follows.
struct Lattice {
    network: Network,
    widths: &'static [u32],
    rule: Rule,
    /// Added to every queue before it is weighed.
    offset: u64,
    classes: usize,
    /// A packet carries nothing but where it is going; how many hops it took is the class by which it came.
    forgets: bool,
}

impl Lattice {
    fn new(widths: &'static [u32], routing: &str, rule: Rule, offset: u64) -> Self {
        let mut spec = support::lattice(&format!("{{ widths = {widths:?}, hosts = 1 }}"));
        let classes = if routing == "dimwar" { 2 } else { 4 };
        spec.network.links.values_mut().for_each(|link| link.vcs = classes.into());
        spec.routing = value(&format!("{{ {routing} = {{ offset = {offset} }} }}"));
        let network = Network::new(&spec);
        Self { network, widths, rule, offset, classes: classes.into(), forgets: false }
    }

    fn coordinates(&self, router: RouterId) -> Vec<u32> {
        let mut rest = router.0;
        let next = |width: &u32| {
            let own = rest % width;
            rest /= width;
            own
        };
        self.widths.iter().map(next).collect()
    }

    /// Sends a packet from one router to another, with queues that depend on whether a link leads straight. In every
    /// router it must take one of the lightest hops that the rule allows: queue times hops to go.
    fn walk(
        &mut self,
        (from, to): (RouterId, RouterId),
        mut queue: impl FnMut(bool) -> u32,
    ) -> Vec<Taken> {
        let (mut path, mut header) = (Vec::new(), Header::new(to));
        let mut head = Head::injected(from);
        let target = self.coordinates(to);
        while head.router != to {
            if self.forgets {
                header = Header::new(to);
                header.position = if path.is_empty() { 0 } else { head.vc.0 + 1 };
            }
            let here = self.coordinates(head.router);
            let unaligned = |dim: &usize| here[*dim] != target[*dim];
            let left: Vec<usize> = (0..here.len()).filter(unaligned).collect();
            let mut queues = vec![vec![0; self.classes]];
            let mut allowed = Vec::new();
            for (port, router, input) in self.network.links(head.router) {
                let there = self.coordinates(router);
                let dim = (0..here.len()).find(|&dim| here[dim] != there[dim]).unwrap();
                let straight = there[dim] == target[dim];
                queues.push((0..self.classes).map(|_| queue(straight)).collect::<Vec<u32>>());
                assert_eq!(queues.len(), port.index() + 1);
                if let Some((class, hops)) = (self.rule)(&path, &left, (dim, straight)) {
                    let waiting = u64::from(queues[port.index()][usize::from(class)]);
                    let weight = (waiting + self.offset) * u64::from(hops);
                    let taken = Taken { dim, class, deroute: !straight };
                    allowed.push((weight, (port, VcId(class)), taken, (router, input)));
                }
            }
            let hop = self.network.decide(&head, &mut header, &Chosen(queues));
            let least = allowed.iter().map(|(weight, ..)| *weight).min().unwrap();
            let chosen = |(weight, output, ..): &&(u64, (PortId, VcId), Taken, _)| {
                *weight == least && *output == (hop.port, hop.vc)
            };
            let Some(&(_, _, taken, (router, input))) = allowed.iter().find(chosen) else {
                panic!("{path:?}, then {hop:?} of {allowed:?}")
            };
            path.push(taken);
            header.position = hop.position;
            head = Head { router, input, vc: hop.vc, ..head };
        }
        path
    }

    /// Walks between random routers that differ in every dimension, past random queues.
    fn random_walks(&mut self, mut each: impl FnMut(&[Taken])) {
        let mut dice = dice();
        let routers = self.network.topology.routers();
        for _ in 0..3_000 {
            let ends = [0; 2].map(|_| RouterId(dice.below(routers)));
            let [from, to] = ends.map(|router| self.coordinates(router));
            if from.iter().zip(&to).all(|(from, to)| from != to) {
                each(&self.walk(ends.into(), |straight| match straight {
                    true => dice.below(60),
                    false => dice.below(80),
                }));
            }
        }
    }
}

/// Deroutes of a path.
fn deroutes(path: &[Taken]) -> usize {
    path.iter().filter(|hop| hop.deroute).count()
}

/// "When taking a minimal hop use the first resource class and use the second resource class for deroute hops";
/// "deroute outputs are only valid in the current dimension and if the current resource class is the first class"
/// (5.1). The green path of figure 5 deroutes once in each of two dimensions.
#[test]
fn dimwar_deroutes_on_the_second_class_and_then_goes_straight() {
    for offset in [0, 1] {
        let mut lattice = Lattice::new(&[4, 3, 5], "dimwar", dimwar, offset);
        let mut seen = [0; 4];
        lattice.random_walks(|path| {
            seen[deroutes(path)] += 1;
            assert!(path.is_sorted_by_key(|hop| hop.dim), "{path:?}");
            for dim in 0..3 {
                let hops: Vec<_> = path.iter().filter(|hop| hop.dim == dim).collect();
                let shape: Vec<_> = hops.iter().map(|hop| (hop.deroute, hop.class)).collect();
                assert!([&[(false, 0)][..], &[(true, 1), (false, 0)]].contains(&&*shape));
            }
        });
        assert!(seen.iter().all(|walks| *walks > 50), "{seen:?}");
        // Whatever waits on the way straight, there is no second deroute in a row.
        let mut square = Lattice::new(&[4, 4], "dimwar", dimwar, offset);
        let path = square.walk((RouterId(0), RouterId(15)), |straight| 1_000 * u32::from(straight));
        let shape: Vec<_> = path.iter().map(|hop| (hop.dim, hop.class)).collect();
        assert_eq!(shape, [(0, 1), (0, 0), (1, 1), (1, 0)]);
    }
}

/// "On the first internal network hop, use the first distance class. For each subsequent hop, use the next ordered
/// distance class"; deroutes while the classes left are more than the minimal hops left (5.2). The blue path of figure
/// 5 deroutes twice, goes straight twice, and takes the classes 0 to 3.
#[test]
fn omniwar_deroutes_twice_with_four_classes_and_then_goes_straight() {
    for offset in [0, 1] {
        let mut lattice = Lattice::new(&[4, 5], "omniwar", omniwar, offset);
        let mut seen = [0; 3];
        lattice.random_walks(|path| {
            seen[deroutes(path)] += 1;
            assert_eq!(path.len(), 2 + deroutes(path));
            assert!(path.iter().enumerate().all(|(n, hop)| usize::from(hop.class) == n));
        });
        assert!(seen.iter().all(|walks| *walks > 50), "{seen:?}");
        // Whatever waits on the way straight.
        let ends = (RouterId(0), RouterId(19));
        let path = lattice.walk(ends, |straight| 1_000 * u32::from(straight));
        let shape: Vec<_> = path.iter().map(|hop| (hop.deroute, hop.class)).collect();
        assert_eq!(shape, [(true, 0), (true, 1), (false, 2), (false, 3)]);
    }
}

/// The port and the class by which a packet came, and where it is going, say all that is asked of it (5.4).
#[test]
fn no_field_of_a_packet_is_needed() {
    let paths = |forgets, widths, routing, rule| {
        let mut lattice = Lattice { forgets, ..Lattice::new(widths, routing, rule, 1) };
        let mut paths = Vec::new();
        lattice.random_walks(|path| paths.push(path.to_vec()));
        paths
    };
    let of = |forgets| {
        let dimwar = paths(forgets, &[4, 3, 5], "dimwar", dimwar as Rule);
        (dimwar, paths(forgets, &[4, 5], "omniwar", omniwar))
    };
    assert_eq!(of(true), of(false));
}
