//! UGAL and Piggyback in a Dragonfly: thesis 2.3.3 and 2.3.4.

use deroute::ids::{PortId, RouterId};
use deroute::rng::Stream;
use deroute::routing::{Header, Hop, Queues, ValiantPhase};

use super::{Chosen, Head, Network, dice};
use crate::support::{self, value};

/// A Dragonfly whose groups have so many routers.
struct Dragonfly {
    network: Network,
    group: u32,
}

/// The way from a router to another one.
#[derive(Clone, Copy)]
struct Way {
    first: PortId,
    hops: i64,
    /// The router and the port where it leaves the group.
    leaves: Option<(RouterId, PortId)>,
}

/// A packet at its source whose detour is drawn: what it may choose from.
struct Choice {
    head: Head,
    header: Header,
    minimal: Way,
    /// The first part of the detour, and the hops of all of it.
    detour: Way,
    detour_hops: i64,
}

impl Dragonfly {
    fn new((p, a, h): (u32, u32, u32), routing: &str) -> Self {
        let mut spec = support::dragonfly(p, a, h);
        spec.routing = value(routing);
        Self { network: Network::new(&spec), group: a }
    }

    /// The port of a router that leads to another one.
    fn port(&self, from: RouterId, to: impl Fn(RouterId) -> bool) -> Option<(PortId, RouterId)> {
        let links = self.network.links(from).into_iter();
        links.map(|(port, router, _)| (port, router)).find(|(_, router)| to(*router))
    }

    fn routers_of_group(&self, router: RouterId) -> impl Iterator<Item = RouterId> + use<> {
        let first = router.0 / self.group * self.group;
        (first..first + self.group).map(RouterId)
    }

    /// The shortest way, by the wiring: over the one link between the two groups.
    fn way(&self, from: RouterId, to: RouterId) -> Way {
        let direct = |from, to| self.port(from, |router| router == to).unwrap().0;
        let group = |router: RouterId| router.0 / self.group;
        if group(from) == group(to) {
            return Way { first: direct(from, to), hops: 1, leaves: None };
        }
        let owned = |owner| {
            let (port, lands) = self.port(owner, |router| group(router) == group(to))?;
            Some((owner, port, lands))
        };
        let (owner, port, lands) = self.routers_of_group(from).find_map(owned).unwrap();
        let first = if owner == from { port } else { direct(from, owner) };
        let hops = 1 + i64::from(owner != from) + i64::from(lands != to);
        Way { first, hops, leaves: Some((owner, port)) }
    }

    /// Queues of a router in which two ports are as long as one asks for, and all others as the dice say.
    fn queues(&self, router: RouterId, known: &[(PortId, i64)], dice: &mut Stream) -> Chosen {
        let mut queues: Vec<Vec<u32>> = (0..self.network.topology.radix(router))
            .map(|_| (0..4).map(|_| dice.below(30)).collect())
            .collect();
        for &(port, length) in known {
            queues[port.index()] = vec![0; 4];
            // On any of its VCs: the queue of a port is all of them.
            queues[port.index()][dice.below(4) as usize] = u32::try_from(length).unwrap();
        }
        Chosen(queues)
    }

    /// A packet from one router to another whose detour is drawn; none if that is the minimal way as well.
    fn draw(&mut self, from: RouterId, to: RouterId, dice: &mut Stream) -> Option<Choice> {
        let (head, mut header) = (Head::injected(from), Header::new(to));
        let any = self.queues(from, &[], dice);
        self.network.decide(&head, &mut header, &any);
        let through = header.intermediate().expect("it is drawn");
        if through == from || through == to {
            return None;
        }
        let (minimal, detour) = (self.way(from, to), self.way(from, through));
        let detour_hops = detour.hops + self.way(through, to).hops;
        Some(Choice { head, header, minimal, detour, detour_hops })
    }

    /// Does the packet go minimally past such queues?
    fn goes_minimally(&mut self, choice: &mut Choice, queues: &Chosen) -> bool {
        let drawn = choice.header.intermediate();
        let Hop { port, .. } = self.network.decide(&choice.head, &mut choice.header, queues);
        assert_eq!(choice.header.intermediate(), drawn, "it keeps its intermediate router");
        let minimal = match choice.header.phase {
            ValiantPhase::Minimal => true,
            ValiantPhase::A => false,
            ValiantPhase::B => panic!("phase B at the source"),
        };
        assert_eq!(port, if minimal { choice.minimal.first } else { choice.detour.first });
        minimal
    }
}

/// Two routers that are not the same.
fn ends(dice: &mut Stream, routers: u32) -> (RouterId, RouterId) {
    let from = dice.below(routers);
    (RouterId(from), RouterId((from + 1 + dice.below(routers - 1)) % routers))
}

/// A packet goes minimally iff `Q_MIN * min <= Q_VLB * vlb + T`, with the weights of its two paths: queues at the
/// bound and one phit beyond it, and any.
fn inequality(hops: &str, weights: fn(&Choice) -> (i64, i64)) {
    let mut dice = dice();
    let (mut both, mut same) = ([0; 2], 0);
    for t in [-45, 0, 7, 150] {
        let keys = format!("queue = 'port', threshold = {t}, hops = '{hops}'");
        let mut fly = Dragonfly::new((1, 4, 2), &format!("{{ ugal = {{ {keys} }} }}"));
        let routers = fly.network.topology.routers();
        for _ in 0..500 {
            let (from, to) = ends(&mut dice, routers);
            let Some(mut choice) = fly.draw(from, to, &mut dice) else { continue };
            let (min, vlb) = weights(&choice);
            let (q_vlb, any) = (i64::from(dice.below(60)), i64::from(dice.below(200)));
            let bound = (q_vlb * vlb + t).div_euclid(min);
            for q_min in [any, bound.max(0), bound.max(0) + 1] {
                let (one, other) = (choice.minimal.first, choice.detour.first);
                // Two ways that begin alike have one queue.
                let q_vlb = if one == other { q_min } else { q_vlb };
                let queues = fly.queues(from, &[(one, q_min), (other, q_vlb)], &mut dice);
                let expected = q_min * min <= q_vlb * vlb + t;
                let place = format!("T = {t}, {q_min} * {min} and {q_vlb} * {vlb}");
                assert_eq!(fly.goes_minimally(&mut choice, &queues), expected, "{place}");
                both[usize::from(expected)] += 1;
                same += usize::from(one == other);
            }
        }
    }
    assert!(both.iter().all(|decisions| *decisions > 500) && same > 100, "{both:?}, {same}");
}

/// Equation 2-1: `Q_MIN * H_MIN <= Q_VLB * H_VLB + T`, with the hops of the two paths.
#[test]
fn ugal_compares_queues_times_hops() {
    inequality("path", |choice| (choice.minimal.hops, choice.detour_hops));
}

/// Jiang, Kim and Dally (ISCA 2009), in thesis 2.3.3: "using only the number of global hops (1 or 2 for MIN and VLB,
/// respectively)", `Q_MIN <= 2 * Q_VLB + T`.
#[test]
fn ugal_that_counts_global_hops_alone_doubles_one_queue() {
    inequality("simple", |_| (1, 2));
}

/// UGAL-G knows the queues of all routers of its group: `Q` is that of the global link through which a path leaves the
/// group, whichever router has it, and that of the first hop where it stays inside.
#[test]
fn ugal_that_knows_its_group_compares_global_links() {
    let mut dice = dice();
    // Decisions by whether the minimal path leaves the group by a link of another router.
    let mut seen = [[0; 2]; 2];
    for t in [-45, 0, 7] {
        let keys = format!("queue = 'port', threshold = {t}, information = 'global'");
        let mut fly = Dragonfly::new((1, 4, 2), &format!("{{ ugal = {{ {keys} }} }}"));
        let routers = fly.network.topology.routers();
        for _ in 0..500 {
            let (from, to) = ends(&mut dice, routers);
            let Some(mut choice) = fly.draw(from, to, &mut dice) else { continue };
            let group: Vec<RouterId> = fly.routers_of_group(from).collect();
            let queues: Vec<Chosen> =
                group.iter().map(|router| fly.queues(*router, &[], &mut dice)).collect();
            for (router, queues) in group.iter().zip(&queues) {
                fly.network.agent.queues_changed(*router, queues, &mut Vec::new());
            }
            let at = |router: RouterId| &queues[(router.0 - group[0].0) as usize];
            let length = |way: Way| {
                let (router, port) = way.leaves.unwrap_or((from, way.first));
                i64::from(at(router).port(port))
            };
            let (min, vlb) = (length(choice.minimal), length(choice.detour));
            let expected = min * choice.minimal.hops <= vlb * choice.detour_hops + t;
            let elsewhere = choice.minimal.leaves.is_some_and(|(router, _)| router != from);
            let place = format!("T = {t}, {min} * {} and {vlb}", choice.minimal.hops);
            assert_eq!(fly.goes_minimally(&mut choice, at(from)), expected, "{place}");
            seen[usize::from(elsewhere)][usize::from(expected)] += 1;
        }
    }
    assert!(seen.as_flattened().iter().all(|decisions| *decisions > 10), "{seen:?}");
}

/// Equation 2-2 for one of the queues of a router's global links: `Q > F * mean of the others + T`, `F` in percent.
fn congested(queues: &[i64], of: usize, (factor, threshold): (i64, i64)) -> bool {
    let others = queues.len() as i64 - 1;
    let sum = queues.iter().sum::<i64>() - queues[of];
    100 * others * queues[of] > factor * sum + 100 * others * threshold
}

/// Thesis 2.3.4: "PB decides to route a packet minimally only if the minimal global channel is uncongested and
/// inequality presented in Equation 2-1 is fulfilled", with the flags of equation 2-2 that the routers of a group tell
/// each other. Queues at the bound of a flag, and one phit beyond it. Within a group there is no flag.
#[test]
fn piggyback_goes_minimally_over_links_without_flag_that_pass_ugal() {
    let mut dice = dice();
    // Packets to other groups: by flag, and by UGAL's inequality.
    let (mut seen, mut inside) = ([[0; 2]; 2], [0; 2]);
    for (factor, threshold) in [(120, 50), (200, 15), (100, 0)] {
        let keys = format!("factor_percent = {factor}, flag_threshold = {threshold}");
        let routing = format!("{{ piggyback = {{ {keys}, ugal = {{ queue = 'port' }} }} }}");
        let mut fly = Dragonfly::new((1, 4, 3), &routing);
        let routers = fly.network.topology.routers();
        for _ in 0..300 {
            let (from, to) = ends(&mut dice, routers);
            let to = if dice.below(8) > 0 { to } else { RouterId(from.0 ^ 1) };
            let Some(mut choice) = fly.draw(from, to, &mut dice) else { continue };
            let flags = tell(&mut fly, from, (factor, threshold), &mut dice);
            let flag = choice.minimal.leaves.map(|leaves| {
                flags.iter().find(|(link, _)| *link == leaves).expect("a link of the group").1
            });
            let (one, other) = (choice.minimal.first, choice.detour.first);
            for _ in 0..4 {
                let q_min = i64::from(dice.below(100));
                let q_vlb = if one == other { q_min } else { i64::from(dice.below(50)) };
                let queues = fly.queues(from, &[(one, q_min), (other, q_vlb)], &mut dice);
                let passes = q_min * choice.minimal.hops <= q_vlb * choice.detour_hops;
                let expected = passes && flag != Some(true);
                assert_eq!(fly.goes_minimally(&mut choice, &queues), expected, "{flag:?} {passes}");
                match flag {
                    Some(flag) => seen[usize::from(flag)][usize::from(passes)] += 1,
                    None => inside[usize::from(passes)] += 1,
                }
            }
        }
    }
    let often = |decisions: &u32| *decisions > 30;
    assert!(
        seen.as_flattened().iter().all(often) && inside.iter().all(often),
        "{seen:?} {inside:?}"
    );
}

/// The global links of a group get queues, and its routers tell each other. Returns which of them are congested.
fn tell(
    fly: &mut Dragonfly,
    group: RouterId,
    rule: (i64, i64),
    dice: &mut Stream,
) -> Vec<((RouterId, PortId), bool)> {
    let mut flags = Vec::new();
    for router in fly.routers_of_group(group) {
        let links = fly.network.links(router).into_iter();
        let global = links.filter(|(_, other, _)| other.0 / fly.group != group.0 / fly.group);
        let ports: Vec<PortId> = global.map(|(port, ..)| port).collect();
        // Multiples of ten, for which the bound is a whole number, and one queue at it or just beyond it.
        let mut lengths: Vec<i64> = ports.iter().map(|_| 10 * i64::from(dice.below(20))).collect();
        let of = dice.below(3) as usize;
        let sum = lengths.iter().sum::<i64>() - lengths[of];
        lengths[of] = rule.0 * sum / 200 + rule.1 + i64::from(dice.below(2));
        let known: Vec<_> = ports.iter().copied().zip(lengths.iter().copied()).collect();
        let queues = fly.queues(router, &known, dice);
        let mut messages = Vec::new();
        fly.network.agent.queues_changed(router, &queues, &mut messages);
        for message in messages {
            fly.network.agent.message(router, message.content);
        }
        let flagged = |(n, port): (usize, &PortId)| ((router, *port), congested(&lengths, n, rule));
        flags.extend(ports.iter().enumerate().map(flagged));
    }
    flags
}
