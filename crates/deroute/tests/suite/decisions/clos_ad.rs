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
    /// Parallel links.
    trunk: u32,
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
            let queue = SIZE * (32 * length() + u64::from(port.0)) + 1;
            Link { port, to, input, dim, queue }
        };
        links.map(link).collect()
    }

    fn stay(&mut self, at: RouterId, dims: &[usize]) {
        dims.iter().for_each(|&dim| self.dummies[at.index()][dim] += SIZE);
    }

    /// The link on the minimal path: in the first dimension that is not aligned, one of the parallel links by the
    /// number of the destination.
    fn minimal(&self, links: &[Link], to: RouterId) -> Link {
        let straight = |link: &&Link| coordinates(link.to)[link.dim] == coordinates(to)[link.dim];
        let links: Vec<_> = links.iter().filter(straight).collect();
        let first = links.iter().map(|link| link.dim).min();
        let mut parallel = links.iter().filter(|link| Some(link.dim) == first);
        **parallel.nth((to.0 % self.trunk) as usize).unwrap()
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
        let minimal = self.minimal(links, to);
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
        let (mut climbed, mut climbing, mut diverted, mut hops) = (None, false, false, 0);
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
            let link = link.unwrap_or_else(|| self.minimal(&links, to));
            let mut queues = vec![vec![0; 2]];
            queues.extend(links.iter().map(|link| vec![link.queue as u32, 7]));
            header.arrive(at);
            let hop = self.network.decide(&head, &mut header, &Chosen(queues));
            assert_eq!(hop.port, link.port, "{from:?} {to:?} hop {hops}: {hop:?}, {link:?}");
            diverted |= climbing;
            // Phase B has a VC of its own.
            assert_eq!(hop.vc, VcId(u8::from(diverted && !climbing)), "{hop:?}");
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
    for trunk in [1, 2] {
        let lattice = format!("{{ widths = {WIDTHS:?}, hosts = 1, trunk = {trunk} }}");
        let mut spec = support::lattice(&lattice);
        spec.network.links.values_mut().for_each(|link| link.vcs = 2.into());
        spec.routing =
            value(&format!("{{ clos_ad = {{ intermediate = 'chosen', offset = {OFFSET} }} }}"));
        let network = Network::new(&spec);
        let routers = network.topology.routers();
        let dummies = vec![[0; 3]; routers as usize];
        let mut walks = Walks { network, trunk, dummies, seen: Seen::default() };
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
}

/// The only dimension of a packet from router 0 to 1 of four: the port of each, by the queues of the ports in a
/// cycle.
fn of_four(mut queues: impl FnMut() -> Option<(u32, [u32; 3])>) -> Vec<u16> {
    let mut spec = support::lattice("{ widths = [4], hosts = 1 }");
    spec.network.links.values_mut().for_each(|link| link.vcs = 2.into());
    spec.routing = value("{ clos_ad = { intermediate = 'chosen' } }");
    let mut network = Network::new(&spec);
    let mut ports = Vec::new();
    while let Some((now, [straight, other, last])) = queues() {
        network.now = now;
        let queues = [0, straight, other, last].map(|length| vec![length, 0]);
        let mut header = Header::new(RouterId(1));
        let head = Head::injected(RouterId(0));
        ports.push(network.decide(&head, &mut header, &Chosen(queues.to_vec())).port.0);
    }
    ports
}

/// Queues of ports that are hardly used are longer than an empty dummy queue, so that a packet stays and goes
/// straight; those that come after it go elsewhere until as many phits have had the time to leave.
#[test]
fn a_dummy_queue_empties_by_a_phit_in_a_cycle() {
    // Empty in cycle 4 after the packet of 4 phits that stays in cycle 0, in 8 after that of 3, in 12 after that of 7.
    let expected = [(0, 1), (0, 2), (1, 2), (3, 1), (3, 2), (7, 1), (9, 2), (11, 1)];
    let mut cycles = expected.iter().map(|(now, _)| *now);
    let ports = of_four(|| cycles.next().map(|now| (now, [100, 2, 9])));
    assert_eq!(ports, expected.map(|(_, port)| port));
}

/// Two ports whose queues are empty and an empty dummy queue: a third of the packets each, within five standard
/// deviations. The port on the minimal path has a long queue; a packet takes it by staying.
#[test]
fn ties_are_broken_alike_among_ports_and_the_dummy_queue() {
    let mut packets = 0..6_000;
    let ports = of_four(|| packets.next().map(|packet| (8 * packet, [100, 0, 0])));
    for port in 1..=3 {
        let packets = ports.iter().filter(|taken| **taken == port).count();
        assert!((1_817..=2_183).contains(&packets), "{port}: {packets}");
    }
}
