//! What detours without a second local hop would put on the local links of the groups that they go
//! through: LIAN's intermediate-local counters, for any wiring.
//!
//! A packet for group D that lands on a router of another group leaves it by the local link to the
//! router that owns the link to D. Local links are told apart by how many positions they lead on in
//! the group, -n to n for groups of 2n or 2n + 1 routers. If every router sends as this one does, the
//! load of the local links that lead d positions on is the sum over all groups D of the load for D,
//! times the share of those global links of the own group, among the ones that land on a router with a
//! neighbour d positions on, from which the way to D is over that neighbour. Where none lands on such a
//! router, positions are counted around the end of the group.
//!
//! In a full palmtree the shares are those of equation 6-2: `(h - |j|) / h` for the offset `kh + j` and
//! the local link `-k`.

use std::sync::Arc;

use super::Fabric;
use crate::ids::{PortId, RouterId};
use crate::topology::{Peer, Topology};

/// What one group's load adds to one counter, in units of the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Feed {
    counter: u16,
    weight: u32,
}

/// The shares of one group, by the offset of the destination group. Groups that are wired alike
/// have one table.
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
    pub(super) fn new(fabric: &Fabric) -> Self {
        let topology = &*fabric.topology;
        let (groups, size) = (topology.groups(), topology.routers() / topology.groups());
        let mut tables: Vec<Table> = Vec::new();
        let mut table_of = Vec::new();
        for group in 0..groups {
            let table = Survey::of(topology, group, size).table();
            let known = tables.iter().position(|known| *known == table);
            let index = known.unwrap_or(tables.len()) as u16;
            table_of.extend((0..size).map(|_| index));
            if known.is_none() {
                tables.push(table);
            }
        }
        Self { tables: tables.into(), table_of: table_of.into(), size }
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

/// Where the traffic of one group goes on from the routers on which its global links land.
struct Survey {
    groups: u32,
    size: u32,
    /// Global links that land on each position.
    landings: Vec<u32>,
    /// Of these, the ones from which the way to a group leads to another position, times the
    /// number of parallel links: `[offset][landing position][next position]`.
    onward: Vec<u32>,
    /// Parallel links between two groups.
    copies: u32,
}

impl Survey {
    fn of(topology: &dyn Topology, group: u32, size: u32) -> Self {
        let (groups, copies) = (topology.groups(), topology.parallel_links().min(size));
        let positions = (size * size) as usize;
        let mut survey = Self {
            groups,
            size,
            landings: vec![0; size as usize],
            onward: vec![0; groups as usize * positions],
            copies,
        };
        for router in (group * size..(group + 1) * size).map(RouterId) {
            for port in topology.exits(router) {
                if let Peer::Router { router: landing, .. } = topology.peer(router, PortId(port)) {
                    survey.land(topology, group, landing);
                }
            }
        }
        survey
    }

    fn land(&mut self, topology: &dyn Topology, group: u32, landing: RouterId) {
        let position = landing.0 % self.size;
        self.landings[position as usize] += 1;
        for offset in 1..self.groups {
            let to = (group + offset) % self.groups * self.size;
            for copy in 0..self.copies {
                // Parallel links are chosen by the position of the destination.
                if let Some((owner, _)) = topology.exit(landing, RouterId(to + copy)) {
                    let cell = self.cell(offset, position, owner.0 % self.size);
                    self.onward[cell] += 1;
                }
            }
        }
    }

    fn cell(&self, offset: u32, from: u32, to: u32) -> usize {
        ((offset * self.size + from) * self.size + to) as usize
    }

    /// The landing positions that have a neighbour `distance` positions on, and that neighbour.
    fn ways(&self, distance: i64) -> Vec<(u32, u32)> {
        let size = i64::from(self.size);
        let landings = || (0..size).filter(|&from| self.landings[from as usize] > 0);
        let within = |from: &i64| (0..size).contains(&(from + distance));
        let ways = |from: i64| (from as u32, (from + distance).rem_euclid(size) as u32);
        match landings().any(|from| within(&from)) {
            true => landings().filter(within).map(ways).collect(),
            false => landings().map(ways).collect(),
        }
    }

    fn table(&self) -> Table {
        let mut by_offset = vec![Vec::new(); self.groups as usize];
        let mut units = Vec::new();
        for (counter, distance) in distances(self.size).enumerate() {
            let ways = self.ways(distance);
            let links = ways.iter().map(|&(from, _)| self.landings[from as usize]).sum::<u32>();
            let weight = |offset: u32| {
                let onward = |&(from, to): &_| self.onward[self.cell(offset, from, to)];
                ways.iter().map(onward).sum::<u32>()
            };
            let weights: Vec<u32> = (0..self.groups).map(weight).collect();
            let whole = links * self.copies;
            let divisor = weights.iter().copied().fold(whole, common_divisor).max(1);
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

impl LocalLoads {
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
