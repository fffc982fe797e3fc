//! Clos-AD with an intermediate router that is chosen: Kim, Dally and Abts, ISCA 2007.

use deroute::ids::{PortId, RouterId, VcId};
use deroute::routing::Header;

use super::{Chosen, Head, Network, dice};
use crate::support::{self, value};

const WIDTHS: [u32; 3] = [4, 3, 5];
const OFFSET: u64 = 2;
/// Phits of a packet.
const SIZE: u64 = 4;

fn coordinates(router: RouterId) -> [u32; 3] {
    let [x, y, _] = WIDTHS;
    [router.0 % x, router.0 / x % y, router.0 / (x * y)]
}

/// A link of a router, and the length of its queue.
#[derive(Clone, Copy, Debug)]
struct Link {
    port: PortId,
    to: RouterId,
    input: PortId,
    dim: usize,
    queue: u64,
}

/// What becomes of a packet in some dimensions: those in which it stays, and the link that it takes then.
type Way = (Vec<usize>, Option<Link>);

/// In each dimension in turn the link with the shortest queue, or a stay, if the dummy queue is shorter.
fn way(dims: &[usize], links: &[Link], dummies: &[u64; 3]) -> Way {
    let mut stays = Vec::new();
    for &dim in dims {
        let own = links.iter().filter(|link| link.dim == dim);
        let shortest = *own.min_by_key(|link| link.queue).unwrap();
        if shortest.queue < dummies[dim] {
            return (stays, Some(shortest));
        }
        stays.push(dim);
    }
    (stays, None)
}

/// Counts of what packets did: minimal by weight, minimal by staying, detours, and detours of which a stay was part.
#[derive(Debug, Default)]
struct Seen {
    lighter: u32,
    stayed: u32,
    detours: u32,
    both: u32,
}

struct Walks {
    network: Network,
    /// Phits of the dummy queues of every router; the clock stands still.
    dummies: Vec<[u64; 3]>,
    seen: Seen,
}

impl Walks {
    /// The links of a router, with queues of random lengths, no two of them alike and none as long as a dummy queue.
    fn links(&self, at: RouterId, mut length: impl FnMut() -> u64) -> Vec<Link> {
        let here = coordinates(at);
        let links = self.network.links(at).into_iter();
        let link = |(port, to, input): (PortId, _, _)| {
            let there = coordinates(to);
            let dim = (0..3).find(|&dim| here[dim] != there[dim]).unwrap();
            let queue = SIZE * (16 * length() + u64::from(port.0)) + 1;
            Link { port, to, input, dim, queue }
        };
        links.map(link).collect()
    }

    fn stay(&mut self, at: RouterId, dims: &[usize]) {
        dims.iter().for_each(|&dim| self.dummies[at.index()][dim] += SIZE);
    }

    /// The link of a packet at its source, and whether it begins a detour.
    fn at_source(
        &mut self,
        at: RouterId,
        left: &[usize],
        links: &[Link],
        to: RouterId,
    ) -> (Link, bool) {
        let target = coordinates(to);
        let straight = |link: &Link| coordinates(link.to)[link.dim] == target[link.dim];
        let minimal = *links.iter().find(|link| link.dim == left[0] && straight(link)).unwrap();
        let (stays, link) = way(left, links, &self.dummies[at.index()]);
        let Some(link) = link else {
            self.seen.stayed += 1;
            self.stay(at, &stays);
            return (minimal, false);
        };
        // Phase A at most in the dimensions that are left, phase B in all but one that is aligned now.
        let hops = 2 * left.len() - stays.len() - usize::from(straight(&link));
        let weight = |link: &Link, hops: usize| (link.queue + OFFSET) * hops as u64;
        if weight(&link, hops) >= weight(&minimal, left.len()) {
            self.seen.lighter += 1;
            return (minimal, false);
        }
        self.seen.detours += 1;
        self.seen.both += u32::from(!stays.is_empty());
        self.stay(at, &stays);
        (link, true)
    }

    fn walk(&mut self, (from, to): (RouterId, RouterId), mut length: impl FnMut() -> u64) {
        let (mut header, mut head, target) =
            (Header::new(to), Head::injected(from), coordinates(to));
        // The dimension of the last hop of phase A.
        let (mut climbed, mut climbing, mut hops) = (None, false, 0);
        while head.router != to {
            let (at, here) = (head.router, coordinates(head.router));
            let left: Vec<usize> = (0..3).filter(|&dim| here[dim] != target[dim]).collect();
            let links = self.links(at, &mut length);
            let mut link = None;
            if hops == 0 {
                let (first, detour) = self.at_source(at, &left, &links, to);
                (link, climbing) = (Some(first), detour);
            } else if climbing {
                let later: Vec<usize> =
                    left.iter().copied().filter(|&dim| Some(dim) > climbed).collect();
                let stays;
                (stays, link) = way(&later, &links, &self.dummies[at.index()]);
                self.stay(at, &stays);
                climbing = link.is_some();
            }
            let straight = |link: &&Link| coordinates(link.to)[link.dim] == target[link.dim];
            let link = link.unwrap_or_else(|| {
                *links.iter().filter(straight).min_by_key(|link| link.dim).unwrap()
            });
            let mut queues = vec![vec![0; 2]];
            queues.extend(links.iter().map(|link| vec![link.queue as u32, 7]));
            header.arrive(at);
            let hop = self.network.decide(&head, &mut header, &Chosen(queues));
            assert_eq!(hop.port, link.port, "{from:?} {to:?} hop {hops}: {hop:?}, {link:?}");
            if climbing {
                assert_eq!(hop.vc, VcId(0));
            }
            climbed = Some(link.dim);
            header.position = hop.position;
            head = Head { router: link.to, input: link.input, vc: hop.vc, ..head };
            hops += 1;
        }
        assert!(hops <= 6);
    }
}

/// Every hop of 3,000 packets is the one that follows from the queues of that router alone, and no packet leaves a
/// dimension in which source and destination are aligned.
#[test]
fn each_coordinate_of_the_intermediate_router_is_that_of_the_shortest_queue() {
    let mut spec = support::lattice(&format!("{{ widths = {WIDTHS:?}, hosts = 1 }}"));
    spec.network.links.values_mut().for_each(|link| link.vcs = 2.into());
    spec.routing =
        value(&format!("{{ clos_ad = {{ intermediate = 'chosen', offset = {OFFSET} }} }}"));
    let network = Network::new(&spec);
    let routers = network.topology.routers();
    let dummies = vec![[0; 3]; routers as usize];
    let mut walks = Walks { network, dummies, seen: Seen::default() };
    let mut dice = dice();
    for _ in 0..3_000 {
        let [from, to] = [0; 2].map(|_| RouterId(dice.below(routers)));
        if from != to {
            walks.walk((from, to), || u64::from(dice.below(8)));
        }
    }
    let Seen { lighter, stayed, detours, both } = walks.seen;
    assert!([lighter, stayed, detours, both].iter().all(|seen| *seen > 50), "{:?}", walks.seen);
}

/// Queues of ports that are hardly used are longer than an empty dummy queue, so that a packet stays; those that
/// stay after it go elsewhere until as many phits have had the time to leave.
#[test]
fn a_dummy_queue_empties_by_a_phit_in_a_cycle() {
    let mut spec = support::lattice("{ widths = [4], hosts = 1 }");
    spec.network.links.values_mut().for_each(|link| link.vcs = 2.into());
    spec.routing = value("{ clos_ad = { intermediate = 'chosen' } }");
    let mut network = Network::new(&spec);
    let mut first_hop = |now| {
        network.now = now;
        let queues = Chosen(vec![vec![0; 2], vec![100, 0], vec![2, 0], vec![9, 0]]);
        let mut header = Header::new(RouterId(1));
        network.decide(&Head::injected(RouterId(0)), &mut header, &queues).port
    };
    let [straight, shortest] = [1, 2].map(PortId);
    let hops = [0, 0, 1, 3, 3, 7, 9, 11].map(|now| (now, first_hop(now)));
    // Empty in cycle 4 after the packet of 4 phits that stays in cycle 0, in 8 after that of 3, in 12 after that of 7.
    let expected = [
        (0, straight),
        (0, shortest),
        (1, shortest),
        (3, straight),
        (3, shortest),
        (7, straight),
        (9, shortest),
        (11, straight),
    ];
    assert_eq!(hops, expected);
}
