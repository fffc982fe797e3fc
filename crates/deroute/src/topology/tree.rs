//! Coordinates of a generalised fat tree.
//!
//! Level 0 are the hosts. A node of level `l` is named by a digit for each level: `a_h .. a_(l+1)`, which
//! child of its ancestors it belongs to, and `b_l .. b_1`, which of several equivalent nodes it is. Two
//! nodes of neighbouring levels are connected if they agree in all digits but the one of the upper level.

use super::Step;
use crate::ids::{PortId, RouterId};

/// One level of switches.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Switches or hosts below one of its switches.
    children: u32,
    /// Links to each of them.
    parallel: u32,
    /// Switches above one of its switches, and links to each of them; 0 at the top.
    parents: u32,
    up_parallel: u32,
    /// Hosts below a child.
    hosts_of_child: u32,
    /// Hosts below one of its switches.
    span: u32,
    /// Switches of this level that have the same hosts below them.
    twins: u32,
    /// The same, one level below; 1 for hosts.
    twins_below: u32,
    /// Switches of this level and below it that have the same hosts below them, or a part of them.
    block: u32,
}

/// Where a switch stands.
#[derive(Clone, Copy, Debug)]
struct Switch {
    /// The first host below it.
    first: u32,
    /// Hosts below it.
    span: u32,
    /// Which of its twins it is.
    twin: u32,
    /// 1 for the switches of the hosts.
    level: u8,
}

/// The switches of a fat tree.
///
/// Switches are numbered subtree by subtree: first those of the first child of the top, then those of the
/// second, and so on, and the top ones last; each subtree in the same way. So the number of a switch that
/// has hosts grows with theirs.
#[derive(Clone, Debug)]
pub struct Tree {
    /// From level 1 on.
    levels: Vec<Level>,
    switches: Vec<Switch>,
    /// The switches of level 1, in the order of their hosts.
    leaves: Vec<RouterId>,
    hosts: u32,
}

impl Tree {
    /// A tree of at least one level; `children[i]`, `parents[i]` and `parallel[i]` are those of level
    /// `i + 1` seen from below and from above. A host has one link.
    pub(super) fn new(children: &[u32], parents: &[u32], parallel: &[u32]) -> Self {
        let (mut levels, mut below, mut twins, mut block) = (Vec::new(), 1, 1, 0);
        for (i, &m) in children.iter().enumerate() {
            let twins_below = twins;
            twins *= parents[i];
            block = m * block + twins;
            levels.push(Level {
                children: m,
                parallel: parallel[i],
                parents: parents.get(i + 1).copied().unwrap_or(0),
                up_parallel: parallel.get(i + 1).copied().unwrap_or(0),
                hosts_of_child: below,
                span: below * m,
                twins,
                twins_below,
                block,
            });
            below *= m;
        }
        let mut tree = Self { levels, switches: Vec::new(), leaves: Vec::new(), hosts: below };
        tree.number(children.len(), 0);
        let leaf =
            |(n, switch): (usize, &Switch)| (switch.level == 1).then_some(RouterId(n as u32));
        tree.leaves = tree.switches.iter().enumerate().filter_map(leaf).collect();
        tree
    }

    /// Numbers the switches of a subtree: those of its children, then its own.
    fn number(&mut self, level: usize, first: u32) {
        let here = self.levels[level - 1];
        if level > 1 {
            for child in 0..here.children {
                self.number(level - 1, first + child * here.hosts_of_child);
            }
        }
        let switch = |twin| Switch { first, span: here.span, twin, level: level as u8 };
        self.switches.extend((0..here.twins).map(switch));
    }

    /// Levels of switches.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// Number of switches.
    pub fn routers(&self) -> u32 {
        self.switches.len() as u32
    }

    /// Number of hosts.
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// Hosts of a switch of level 1.
    pub fn hosts_of_leaf(&self) -> u32 {
        self.levels[0].children
    }

    /// Level of a switch, from 1.
    #[inline]
    pub fn level(&self, router: RouterId) -> usize {
        usize::from(self.switches[router.index()].level)
    }

    /// Ports of a switch of a level that lead down; those that lead up follow.
    #[inline]
    pub fn downs(&self, level: usize) -> u32 {
        let level = &self.levels[level - 1];
        level.children * level.parallel
    }

    /// Ports of a switch of a level that lead up.
    #[inline]
    pub fn ups(&self, level: usize) -> u32 {
        let level = &self.levels[level - 1];
        level.parents * level.up_parallel
    }

    /// The `n`-th port of a switch of a level that leads up.
    #[inline]
    pub fn up(&self, level: usize, n: u32) -> PortId {
        PortId((self.downs(level) + n) as u16)
    }

    /// The first host of a switch.
    #[inline]
    pub fn first_host(&self, router: RouterId) -> u32 {
        self.switches[router.index()].first
    }

    /// Is a host below a switch?
    #[inline]
    pub fn is_below(&self, host: u32, router: RouterId) -> bool {
        let switch = &self.switches[router.index()];
        host.wrapping_sub(switch.first) < switch.span
    }

    /// D-mod-K: which of the ports that lead up belongs to a number (of a destination or source host).
    /// Hosts take them in turn at level 1; from there on each block of hosts that share a port does.
    #[inline]
    pub fn share(&self, level: usize, number: u32) -> u32 {
        number / self.levels[level - 1].twins % self.ups(level)
    }

    /// The port of a switch that leads down to a host below it. Of parallel links, the one that the
    /// host's share of the way up would be.
    #[inline]
    pub fn down(&self, router: RouterId, host: u32) -> PortId {
        let switch = &self.switches[router.index()];
        let level = &self.levels[usize::from(switch.level) - 1];
        let child = (host - switch.first) / level.hosts_of_child;
        if level.parallel == 1 {
            return PortId(child as u16);
        }
        // Below is at least one more level: a host has one link.
        let below = usize::from(switch.level) - 1;
        let copy = self.share(below, host) / self.levels[below - 1].parents;
        PortId((copy * level.children + child) as u16)
    }

    /// The switch of a host.
    #[inline]
    pub fn leaf(&self, host: u32) -> RouterId {
        self.leaves[(host / self.levels[0].children) as usize]
    }

    /// The next hop to a host by D-mod-K, from a switch that is not its own.
    #[inline]
    pub fn minimal(&self, at: RouterId, host: u32) -> Step {
        let level = self.level(at);
        if self.is_below(host, at) {
            return self.descend(at, host);
        }
        self.ascend(level, self.share(level, host))
    }

    /// The hop down to a host.
    #[inline]
    pub fn descend(&self, at: RouterId, host: u32) -> Step {
        let kind = (2 * self.levels() - self.level(at)) as u8 - 1;
        Step { port: self.down(at, host), kind }
    }

    /// The hop up over the `n`-th port from a switch of a level.
    #[inline]
    pub fn ascend(&self, level: usize, n: u32) -> Step {
        Step { port: self.up(level, n), kind: level as u8 - 1 }
    }

    /// What is behind a port that leads down from level 2 or above: switch and port.
    pub(super) fn child(&self, router: RouterId, port: u32) -> (RouterId, PortId) {
        let switch = self.switches[router.index()];
        let level = &self.levels[usize::from(switch.level) - 1];
        let (child, copy) = (port % level.children, port / level.children);
        let below = usize::from(switch.level) - 1;
        let (twin, parent) = (switch.twin % level.twins_below, switch.twin / level.twins_below);
        let number = self.find(below, switch.first + child * level.hosts_of_child, twin);
        (number, self.up(below, copy * self.levels[below - 1].parents + parent))
    }

    /// What is behind the `n`-th port that leads up: switch and port.
    pub(super) fn parent(&self, router: RouterId, n: u32) -> (RouterId, PortId) {
        let switch = self.switches[router.index()];
        let here = &self.levels[usize::from(switch.level) - 1];
        let (parent, copy) = (n % here.parents, n / here.parents);
        let above = &self.levels[usize::from(switch.level)];
        let first = switch.first / above.span * above.span;
        let child = (switch.first - first) / above.hosts_of_child;
        let number =
            self.find(usize::from(switch.level) + 1, first, switch.twin + parent * here.twins);
        (number, PortId((copy * above.children + child) as u16))
    }

    /// The number of a switch.
    fn find(&self, level: usize, first: u32, twin: u32) -> RouterId {
        let before = |above: &Level| first % above.span / above.hosts_of_child;
        let mut number = twin;
        for (i, above) in self.levels.iter().enumerate().skip(level) {
            number += before(above) * self.levels[i - 1].block;
        }
        if level > 1 {
            number += self.levels[level - 1].children * self.levels[level - 2].block;
        }
        RouterId(number)
    }

    /// The lowest level whose switches are above both.
    pub(super) fn meeting_level(&self, a: RouterId, b: RouterId) -> usize {
        let (a, b) = (&self.switches[a.index()], &self.switches[b.index()]);
        let from = usize::from(a.level.max(b.level));
        let same = |level: &usize| {
            a.first / self.levels[level - 1].span == b.first / self.levels[level - 1].span
        };
        (from..=self.levels()).find(same).unwrap_or(self.levels())
    }

    /// Children, parents and parallel links of every level, from below.
    pub fn shape(&self) -> [Vec<u32>; 3] {
        let children = self.levels.iter().map(|level| level.children).collect();
        let parents = self.levels.iter().map(|level| level.twins / level.twins_below).collect();
        let parallel = self.levels.iter().map(|level| level.parallel).collect();
        [children, parents, parallel]
    }
}
