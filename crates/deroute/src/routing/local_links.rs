//! What detours without a second local hop would put on the local links of the groups that they go
//! through: LIAN's intermediate-local counters, for any wiring.
//!
//! A packet for group D that lands on a router of another group leaves it by the local link to the
//! router that owns the link to D. Local links are told apart by how many positions they lead on in
//! the group, -n to n for groups of 2n or 2n + 1 routers. If every router sends as this one does,
//! the load of the local links that lead d positions on is the sum over all groups D of the load
//! for D, times the share of those global links of the own group, among the ones that land on a
//! router with a neighbour d positions on, from which the way to D is over that neighbour. Where
//! none lands on such a router, positions are counted around the end of the group.
//!
//! In a full palmtree the shares are those of equation 6-2: `(h - |j|) / h` for the offset `kh + j`
//! and the local link `-k`.

use std::sync::Arc;

use crate::ids::{PortId, RouterId};
use crate::state::{State, state};
use crate::topology::{Peer, Topology};

/// What one group's load adds to one counter, in units of the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Feed {
    counter: u16,
    weight: u32,
}

/// The shares of one group, by the offset of the destination group. If all groups are wired alike,
/// they have one table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Table {
    /// `feeds[begin[offset]..begin[offset + 1]]` are those of an offset.
    begin: Vec<u32>,
    feeds: Vec<Feed>,
    /// Units of each counter that make a whole.
    units: Vec<u32>,
}

impl Table {
    #[inline]
    fn feeds(&self, offset: u16) -> &[Feed] {
        let offset = usize::from(offset);
        &self.feeds[self.begin[offset] as usize..self.begin[offset + 1] as usize]
    }
}

/// The local links of a wiring.
#[derive(Clone, Debug)]
pub(super) struct LocalLinks {
    tables: Arc<[Table]>,
    /// Table of each router.
    table_of: Arc<[u16]>,
    /// Routers of a group.
    size: u32,
}

impl LocalLinks {
    pub(super) fn new(topology: &dyn Topology) -> Self {
        let (groups, size) = (topology.groups(), topology.routers() / topology.groups());
        let first = links_of(topology, 0);
        let alike = (1..groups).all(|group| links_of(topology, group) == first);
        let surveyed = if alike { 1 } else { groups };
        let tables = (0..surveyed).map(|group| Survey::of(topology, group).table());
        let table_of = |router| if alike { 0 } else { (router / size) as u16 };
        Self {
            tables: tables.collect(),
            table_of: (0..topology.routers()).map(table_of).collect(),
            size,
        }
    }

    /// The counters of the routers `first..first + count`.
    pub(super) fn agent(&self, first: RouterId, count: u32) -> LocalLoads {
        let counters = reach(self.size) * 2;
        LocalLoads { links: self.clone(), first, sums: vec![0; (counters * count) as usize] }
    }

    #[inline]
    fn table(&self, router: RouterId) -> &Table {
        &self.tables[usize::from(self.table_of[router.index()])]
    }
}

/// Positions that a local link leads on, at most, by the shorter way around a group.
fn reach(size: u32) -> u32 {
    size / 2
}

/// The counter of the local links that lead `distance` positions on.
fn counter(distance: i64, size: u32) -> usize {
    let n = i64::from(reach(size));
    (if distance < 0 { distance + n } else { distance + n - 1 }) as usize
}

/// The positions that the local links of each counter lead on.
fn distances(size: u32) -> impl Iterator<Item = i64> {
    let n = i64::from(reach(size));
    (-n..=n).filter(|&distance| distance != 0)
}

/// The global links of a group: to which position of the group how many groups ahead, if any.
fn links_of(topology: &dyn Topology, group: u32) -> Vec<Option<(u32, u32)>> {
    let (groups, size) = (topology.groups(), topology.routers() / topology.groups());
    let ends = |router| {
        topology.global_ports(router).map(move |port| match topology.peer(router, PortId(port)) {
            Peer::Router { router: landing, .. } => {
                let ahead = (topology.domain(landing) + groups - group) % groups;
                Some((ahead, landing.0 % size))
            }
            _ => None,
        })
    };
    (group * size..(group + 1) * size).map(RouterId).flat_map(ends).collect()
}

/// Where the traffic of one group goes on from the routers on which its global links land.
struct Survey {
    groups: u32,
    size: u32,
    /// Global links that land on each position.
    landings: Vec<u32>,
    /// No link lands on a router with such a neighbour: positions are counted around the end.
    around: Vec<bool>,
    /// Of the links that count, those from which the way to a group takes such a local link, times
    /// the number of parallel links: `[offset][counter]`.
    onward: Vec<u32>,
    /// Parallel links between two groups.
    copies: u32,
}

impl Survey {
    fn of(topology: &dyn Topology, group: u32) -> Self {
        let (groups, size) = (topology.groups(), topology.routers() / topology.groups());
        let links = links_of(topology, group);
        let mut landings = vec![0; size as usize];
        for &(_, position) in links.iter().flatten() {
            landings[position as usize] += 1;
        }
        let mut survey = Self {
            groups,
            size,
            around: Vec::new(),
            onward: vec![0; (groups * reach(size) * 2) as usize],
            copies: topology.parallel_links().min(size),
            landings,
        };
        let counts = |distance| (0..size).any(|from| survey.counts(from, distance));
        survey.around = distances(size).map(|distance| !counts(distance)).collect();
        for &(ahead, position) in links.iter().flatten() {
            let landing = RouterId((group + ahead) % groups * size + position);
            for offset in 1..groups {
                let to = (group + offset) % groups * size;
                for copy in 0..survey.copies {
                    // Parallel links are chosen by the position of the destination.
                    if let Some((owner, _)) =
                        topology.minimal_global_port(landing, RouterId(to + copy))
                    {
                        survey.add(offset, position, owner.0 % size);
                    }
                }
            }
        }
        survey
    }

    /// Do links land on a position that has a neighbour `distance` positions on?
    fn counts(&self, from: u32, distance: i64) -> bool {
        let to = i64::from(from) + distance;
        self.landings[from as usize] > 0 && (0..i64::from(self.size)).contains(&to)
    }

    /// Traffic for the group `offset` groups ahead goes from one position to another.
    fn add(&mut self, offset: u32, from: u32, to: u32) {
        let (size, n) = (i64::from(self.size), i64::from(reach(self.size)));
        let distance = i64::from(to) - i64::from(from);
        for (distance, around) in
            [(distance, false), (distance - size, true), (distance + size, true)]
        {
            if distance == 0 || distance.abs() > n {
                continue;
            }
            let counter = counter(distance, self.size);
            if self.around[counter] == around {
                self.onward[offset as usize * self.around.len() + counter] += 1;
            }
        }
    }

    fn table(&self) -> Table {
        let mut by_offset = vec![Vec::new(); self.groups as usize];
        let mut units = Vec::new();
        for (counter, distance) in distances(self.size).enumerate() {
            let counts = |from: &u32| self.around[counter] || self.counts(*from, distance);
            let links = (0..self.size).filter(counts).map(|from| self.landings[from as usize]);
            let whole = links.sum::<u32>() * self.copies;
            let weights = self.onward.iter().copied().skip(counter).step_by(self.around.len());
            let divisor = weights.clone().fold(whole, common_divisor).max(1);
            units.push(whole / divisor);
            for (feeds, weight) in by_offset.iter_mut().zip(weights).filter(|(_, w)| *w > 0) {
                feeds.push(Feed { counter: counter as u16, weight: weight / divisor });
            }
        }
        let mut begin = vec![0];
        begin.extend(by_offset.iter().scan(0, |sum, feeds| {
            *sum += feeds.len() as u32;
            Some(*sum)
        }));
        Table { begin, feeds: by_offset.concat(), units }
    }
}

fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// The counters of some consecutive routers.
pub(super) struct LocalLoads {
    links: LocalLinks,
    first: RouterId,
    /// Hundredths of packets in the units of each counter: `[router][counter]`.
    sums: Vec<i64>,
}

impl State for LocalLoads {
    state! { keep sums; leave links, first; }
}

impl LocalLoads {
    /// See [`super::Routing::bytes`].
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.sums)
    }

    #[inline]
    fn of(&self, router: RouterId) -> &[i64] {
        let counters = (reach(self.links.size) * 2) as usize;
        let begin = (router.0 - self.first.0) as usize * counters;
        &self.sums[begin..begin + counters]
    }

    /// A router's load for a group has changed.
    #[inline]
    pub(super) fn add(&mut self, router: RouterId, offset: u16, change: i64) {
        let counters = (reach(self.links.size) * 2) as usize;
        let begin = (router.0 - self.first.0) as usize * counters;
        for feed in self.links.table(router).feeds(offset) {
            self.sums[begin + usize::from(feed.counter)] += i64::from(feed.weight) * change;
        }
    }

    /// Is any local link that traffic for a group would take loaded with more than `limit`?
    #[inline]
    pub(super) fn any_above(&self, router: RouterId, offset: u16, limit: u64) -> bool {
        let (table, sums) = (self.links.table(router), self.of(router));
        let above = |n: usize| sums[n] > limit as i64 * i64::from(table.units[n]);
        table.feeds(offset).iter().any(|feed| above(usize::from(feed.counter)))
    }

    /// Is the local link between two routers of another group loaded with more than `limit`?
    pub(super) fn above(&self, router: RouterId, link: (RouterId, RouterId), limit: u64) -> bool {
        let size = self.links.size;
        let position = |router: RouterId| i64::from(router.0 % size);
        let distance = position(link.1) - position(link.0);
        let n = i64::from(reach(size));
        let around = if distance > n { distance - i64::from(size) } else { distance };
        let around = if distance < -n { distance + i64::from(size) } else { around };
        if around == 0 {
            return false;
        }
        let counter = counter(around, size);
        let units = self.links.table(router).units[counter];
        self.of(router)[counter] > limit as i64 * i64::from(units)
    }

    /// `IL` and how many positions the local links lead on.
    pub(super) fn gauges(&self) -> Vec<String> {
        distances(self.links.size).map(|distance| format!("IL{distance:+}")).collect()
    }

    /// The counters in packets.
    pub(super) fn read(&self, router: RouterId, values: &mut Vec<f64>) {
        let units = &self.links.table(router).units;
        let whole = |(sum, units): (&i64, &u32)| {
            *sum as f64 / (f64::from(super::counters::PACKET) * f64::from((*units).max(1)))
        };
        values.extend(self.of(router).iter().zip(units).map(whole));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Arrangement, DragonflySpec};
    use crate::topology::Dragonfly;

    fn dragonfly(spec: &DragonflySpec) -> (LocalLinks, Arc<dyn Topology>) {
        let topology: Arc<dyn Topology> = Arc::new(Dragonfly::new(spec).unwrap());
        (LocalLinks::new(&*topology), topology)
    }

    fn full(h: u32, arrangement: Arrangement, mirror: bool) -> DragonflySpec {
        DragonflySpec { p: h, a: 2 * h, h, groups: None, arrangement, mirror, trunk: 1 }
    }

    /// Weight of an offset in the counter of local links that lead `distance` positions on.
    fn share(links: &LocalLinks, distance: i64, offset: i64) -> f64 {
        let table = &links.tables[0];
        let (counter, groups) = (counter(distance, links.size), table.begin.len() as i64 - 1);
        let feeds = table.feeds(offset.rem_euclid(groups) as u16);
        let found = feeds.iter().find(|feed| usize::from(feed.counter) == counter);
        f64::from(found.map_or(0, |feed| feed.weight)) / f64::from(table.units[counter])
    }

    /// In a full palmtree of any size the shares are those of equation 6-2, in every group and in
    /// whole h-ths; its mirror image has the signs of the local links changed.
    #[test]
    fn equation_6_2() {
        for (h, mirror) in [(1, false), (2, false), (3, false), (4, true), (6, false), (8, true)] {
            let (links, _) = dragonfly(&full(h, Arrangement::Palmtree, mirror));
            let h = i64::from(h);
            assert_eq!(links.tables.len(), 1, "all groups are alike");
            assert!(links.tables[0].units.iter().all(|&units| i64::from(units) == h));
            let groups = 2 * h * h + 1;
            for k in (-h..=h).filter(|&k| k != 0) {
                // The local link -k serves the groups ahead.
                let ahead = if mirror { -k } else { k };
                let mut expected = vec![0; groups as usize];
                for j in 1 - h..h {
                    let at = ahead.signum() * (ahead.abs() * h + j);
                    expected[at.rem_euclid(groups) as usize] += h - j.abs();
                }
                for offset in 0..groups {
                    let weight = expected[offset as usize] as f64 / h as f64;
                    assert_eq!(share(&links, -k, offset), weight, "h = {h}, {k}, {offset}");
                }
            }
        }
    }

    /// The example of the thesis: `IL_-3` for h = 4 (after equation 6-2).
    #[test]
    fn example_of_the_thesis() {
        let (links, _) = dragonfly(&full(4, Arrangement::Palmtree, false));
        let weights: Vec<f64> = (8..=16).map(|offset| share(&links, -3, offset)).collect();
        assert_eq!(weights, [0.0, 0.25, 0.5, 0.75, 1.0, 0.75, 0.5, 0.25, 0.0]);
    }

    /// For each offset, whether some packet from a group that lands after one global hop goes on
    /// over a local link.
    fn continues(topology: &dyn Topology, group: u32) -> Vec<bool> {
        let (groups, size) = (topology.groups(), topology.routers() / topology.groups());
        let lands = |router: RouterId| {
            let peers = topology.global_ports(router);
            peers.filter_map(move |port| match topology.peer(router, PortId(port)) {
                Peer::Router { router: landing, .. } => Some(landing),
                _ => None,
            })
        };
        let mut taken = vec![false; groups as usize];
        for landing in (group * size..(group + 1) * size).map(RouterId).flat_map(lands) {
            for to in (0..topology.routers()).map(RouterId) {
                let offset = (topology.domain(to) + groups - group) % groups;
                let owner = topology.minimal_global_port(landing, to).map(|(owner, _)| owner);
                taken[offset as usize] |= owner.is_some_and(|owner| owner != landing);
            }
        }
        taken
    }

    /// Whatever the wiring, a packet that must take a local link after a short detour adds to a
    /// counter, and only such a packet does.
    #[test]
    fn packets_are_counted_in_any_wiring() {
        let (palmtree, consecutive) = (Arrangement::Palmtree, Arrangement::Consecutive);
        for (p, a, h, groups, trunk, arrangement, mirror) in [
            (1, 2, 1, None, 1, palmtree, false),
            (2, 3, 1, Some(3), 1, consecutive, false),
            (1, 4, 1, None, 2, palmtree, false),
            (1, 2, 2, Some(4), 1, palmtree, false),
            (2, 4, 2, Some(5), 1, consecutive, false),
            (3, 6, 3, None, 1, consecutive, false),
            (3, 6, 3, Some(11), 1, palmtree, true),
            (2, 8, 2, Some(4), 3, palmtree, true),
            (2, 1, 5, None, 1, palmtree, false),
        ] {
            let spec = DragonflySpec { p, a, h, groups, arrangement, mirror, trunk };
            let (links, topology) = dragonfly(&spec);
            for group in 0..topology.groups() {
                let taken = continues(&*topology, group);
                let table = links.table(RouterId(group * a));
                for offset in 1..topology.groups() as u16 {
                    let (feeds, taken) = (table.feeds(offset), taken[usize::from(offset)]);
                    assert_eq!(!feeds.is_empty(), taken, "{spec:?}: {group}, {offset} ahead");
                    let whole = |feed: &Feed| feed.weight <= table.units[usize::from(feed.counter)];
                    assert!(feeds.iter().all(whole), "{spec:?}: {feeds:?}");
                }
            }
        }
    }
}
