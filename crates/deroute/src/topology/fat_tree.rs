//! Fat trees: generalised, real-life, k-ary, folded Clos.
//!
//! # What it does
//! Levels of switches above the hosts; every switch has children below it and parents above it, and any
//! two hosts meet in several switches of some level. All are one family: parallel-port generalised fat
//! trees (PGFT), given by the children `m`, parents `w` and parallel links `p` of each level. Without
//! parallel links they are extended generalised fat trees (XGFT); with fewer parents than children they
//! are slimmed.
//!
//! Ports of a switch: those that lead down, then those that lead up; to each neighbour in turn, then to
//! each again with the next parallel link. Switches are numbered subtree by subtree, the top ones last.
//!
//! - `fat_tree`: any of the family.
//! - `rlft`: a real-life fat tree, whose switches all have the same number of ports: half of them lead up,
//!   and all down at the top. `2 (ports / 2)^stages` hosts.
//! - `kary_tree`: the k-ary n-tree of `k^n` hosts. Its top switches use half of their ports.
//! - `folded_clos`: a real-life fat tree that is built in part: `groups` subtrees below the top, whose
//!   switches have as many parallel links to each of them as fit.
//!
//! # Source
//! Öhring et al., IPPS 1995 (XGFT); Zahavi, JPDC 2012 (PGFT and RLFT); Petrini and Vanneschi, IPPS 1997
//! (k-ary n-trees); Rocher-Gonzalez et al. 2.1; thesis 4.3 and 4.7.2.
//!
//! # Parameters
//! `children`, `parents` and `parallel` by level, from the hosts up; `ports` and `stages`; `k` and
//! `levels`; `groups`.
//!
//! # Deadlock freedom
//! Up and then down: one VC is enough.
//!
//! # Limits
//! A host has one link. At most 8 levels. In the network of thesis 4.7.2 (303,264 hosts) the top switches
//! are shared by groups that are not all whole; no generalised fat tree has its number of switches.
//!
//! # Example
//! ```toml
//! [network.topology.rlft]
//! ports = 36
//! stages = 3
//! ```

use std::ops::Range;
use std::sync::Arc;

use super::spec::{FatTreeSpec, FoldedClosSpec, KaryTreeSpec, RlftSpec};
use super::{HopKind, Peer, Step, Topology, Tree};
use crate::ids::{HostId, PortId, RouterId};
use crate::rng::Stream;
use crate::spec::{PhaseA, SpecError};

/// A fat tree.
#[derive(Clone, Debug)]
pub struct FatTree {
    tree: Arc<Tree>,
}

/// Names of the link classes: between a level and the one above it.
const CLASSES: [&str; 7] = ["level1", "level2", "level3", "level4", "level5", "level6", "level7"];

/// Most levels of switches.
const LEVELS: usize = CLASSES.len() + 1;

fn refuse<T>(at: &str, message: String, choice: &str) -> Result<T, SpecError> {
    Err(SpecError::new(format!("network.topology.{at}"), message).choices([choice]))
}

impl FatTree {
    /// Checks the geometry of a generalised fat tree.
    ///
    /// # Errors
    /// Numbers that are impossible, or lists that do not belong together.
    pub fn new(spec: &FatTreeSpec) -> Result<Self, SpecError> {
        let levels = spec.children.len();
        if !(1..=LEVELS).contains(&levels) {
            let message = format!("{levels} levels");
            return refuse("fat_tree.children", message, "1 to 8 levels");
        }
        let ones = vec![1; levels];
        let parallel = spec.parallel.as_ref().unwrap_or(&ones);
        for (key, list) in [("parents", &spec.parents), ("parallel", parallel)] {
            if list.len() != levels {
                let message = format!("{} levels, but {levels} of children", list.len());
                return refuse(&format!("fat_tree.{key}"), message, &format!("{levels} numbers"));
            }
            if list[0] != 1 {
                let message = format!("{} links of a host", list[0]);
                return refuse(&format!("fat_tree.{key}[0]"), message, "1");
            }
        }
        for (key, list) in
            [("children", &spec.children), ("parents", &spec.parents), ("parallel", parallel)]
        {
            if let Some(i) = list.iter().position(|number| !(1..=1024).contains(number)) {
                let message = format!("{} is out of range", list[i]);
                return refuse(&format!("fat_tree.{key}[{i}]"), message, "1 to 1024");
            }
        }
        Self::sized("fat_tree.children", &spec.children, &spec.parents, parallel)
    }

    /// A tree of numbers from 1 to 1024, if it is not too large.
    fn sized(
        at: &str,
        children: &[u32],
        parents: &[u32],
        parallel: &[u32],
    ) -> Result<Self, SpecError> {
        let product =
            |list: &[u32]| list.iter().fold(1, |product: u64, &n| product.saturating_mul(n.into()));
        let hosts = product(children);
        if hosts > 1 << 24 {
            return refuse(at, format!("{hosts} hosts are too many"), "at most 16777216 hosts");
        }
        for level in 0..children.len() {
            let routers =
                product(&children[level + 1..]).saturating_mul(product(&parents[..=level]));
            if routers > 1 << 24 {
                let message = format!("{routers} switches of level {} are too many", level + 1);
                return refuse(at, message, "at most 16777216 switches");
            }
            let up = parents.get(level + 1).map_or(0, |parents| parents * parallel[level + 1]);
            let ports = children[level] * parallel[level] + up;
            if ports > 1024 {
                let message = format!("a switch of level {} would have {ports} ports", level + 1);
                return refuse(at, message, "at most 1024 ports");
            }
        }
        Ok(Self { tree: Arc::new(Tree::new(children, parents, parallel)) })
    }

    /// A real-life fat tree.
    ///
    /// # Errors
    /// Numbers that are impossible.
    pub fn rlft(spec: &RlftSpec) -> Result<Self, SpecError> {
        let half = half("rlft.ports", spec.ports)?;
        let levels = levels("rlft.stages", spec.stages)?;
        let (mut children, mut parents) = (vec![half; levels], vec![half; levels]);
        children[levels - 1] = 2 * half;
        parents[0] = 1;
        Self::sized("rlft.stages", &children, &parents, &vec![1; levels])
    }

    /// A k-ary n-tree.
    ///
    /// # Errors
    /// Numbers that are impossible.
    pub fn kary(spec: &KaryTreeSpec) -> Result<Self, SpecError> {
        if !(1..=512).contains(&spec.k) {
            return refuse("kary_tree.k", format!("{} is out of range", spec.k), "1 to 512");
        }
        let levels = levels("kary_tree.levels", spec.levels)?;
        let mut parents = vec![spec.k; levels];
        parents[0] = 1;
        Self::sized("kary_tree.levels", &vec![spec.k; levels], &parents, &vec![1; levels])
    }

    /// A folded Clos network.
    ///
    /// # Errors
    /// Numbers that are impossible.
    pub fn folded_clos(spec: &FoldedClosSpec) -> Result<Self, SpecError> {
        let half = half("folded_clos.ports", spec.ports)?;
        let levels = levels("folded_clos.levels", spec.levels)?;
        let groups = spec.groups.unwrap_or(2 * half);
        if !(1..=2 * half).contains(&groups) {
            let message = format!("{groups} subtrees cannot share a top switch");
            return refuse("folded_clos.groups", message, &format!("1 to {}", 2 * half));
        }
        let (mut children, mut parents, mut parallel) =
            (vec![half; levels], vec![half; levels], vec![1; levels]);
        children[levels - 1] = groups;
        parents[0] = 1;
        if levels > 1 {
            // As many links to each subtree as the ports allow and the links of a switch divide into.
            let fits = |copies: &u32| half.is_multiple_of(*copies) && copies * groups <= 2 * half;
            let copies = (1..=half).rev().find(fits).unwrap_or(1);
            (parallel[levels - 1], parents[levels - 1]) = (copies, half / copies);
        }
        Self::sized("folded_clos.levels", &children, &parents, &parallel)
    }
}

/// Half of the ports of a switch.
fn half(at: &str, ports: u32) -> Result<u32, SpecError> {
    if (2..=1024).contains(&ports) && ports.is_multiple_of(2) {
        return Ok(ports / 2);
    }
    refuse(
        at,
        format!("{ports} ports cannot be half up and half down"),
        "an even number, 2 to 1024",
    )
}

fn levels(at: &str, levels: u32) -> Result<usize, SpecError> {
    if (1..=LEVELS as u32).contains(&levels) {
        return Ok(levels as usize);
    }
    refuse(at, format!("{levels} levels"), "1 to 8")
}

impl Topology for FatTree {
    fn routers(&self) -> u32 {
        self.tree.routers()
    }

    fn hosts(&self) -> u32 {
        self.tree.hosts()
    }

    fn radix(&self, router: RouterId) -> u16 {
        let level = self.tree.level(router);
        (self.tree.downs(level) + self.tree.ups(level)) as u16
    }

    fn peer(&self, router: RouterId, port: PortId) -> Peer {
        let tree = &self.tree;
        let (level, port) = (tree.level(router), u32::from(port.0));
        let downs = tree.downs(level);
        if level == 1 && port < downs {
            return Peer::Host(HostId(tree.first_host(router) + port));
        }
        let up = port >= downs;
        let (router, port) =
            if up { tree.parent(router, port - downs) } else { tree.child(router, port) };
        Peer::Router { router, port, class: (level - usize::from(!up)) as u8 - 1 }
    }

    fn router_of(&self, host: HostId) -> RouterId {
        self.tree.leaf(host.0)
    }

    fn port_of(&self, host: HostId) -> PortId {
        PortId((host.0 % self.tree.hosts_of_leaf()) as u16)
    }

    fn classes(&self) -> &'static [&'static str] {
        &CLASSES[..self.tree.levels() - 1]
    }

    /// Up level by level, and down again.
    fn hop_kinds(&self) -> Vec<HopKind> {
        let up = 0..self.tree.levels() as u8 - 1;
        up.clone().chain(up.rev()).map(HopKind::once).collect()
    }

    /// As if for the first host of `to`.
    fn next_hop(&self, at: RouterId, to: RouterId) -> Step {
        self.tree.minimal(at, self.tree.first_host(to))
    }

    /// Of switches that are not both above the other's hosts: the links to where their hosts meet.
    fn distance(&self, from: RouterId, to: RouterId) -> u32 {
        if from == to {
            return 0;
        }
        let (a, b) = (self.tree.level(from), self.tree.level(to));
        (2 * self.tree.meeting_level(from, to) - a - b) as u32
    }

    fn policies(&self) -> &'static [PhaseA] {
        &[]
    }

    fn intermediate(&self, _: PhaseA, _: bool, _: RouterId, _: &mut Stream) -> Option<RouterId> {
        None
    }

    /// Every switch is its own: nothing is broadcast.
    fn domain(&self, router: RouterId) -> u32 {
        router.0
    }

    fn minimal_global_port(&self, from: RouterId, to: RouterId) -> Option<(RouterId, PortId)> {
        let step = self.tree.minimal(from, self.tree.first_host(to));
        (from != to).then_some((from, step.port))
    }

    fn global_ports(&self, router: RouterId) -> Range<u16> {
        let hosts = if self.tree.level(router) == 1 { self.tree.hosts_of_leaf() } else { 0 };
        hosts as u16..self.radix(router)
    }

    fn global_links(&self) -> u32 {
        0
    }

    fn tree(&self) -> Option<&Arc<Tree>> {
        Some(&self.tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(tree: &FatTree) -> (u32, u32, Vec<usize>) {
        let level = |l| (0..tree.routers()).filter(|r| tree.tree.level(RouterId(*r)) == l).count();
        (tree.hosts(), tree.routers(), (1..=tree.tree.levels()).map(level).collect())
    }

    #[test]
    fn sizes_of_the_literature() {
        let rlft = FatTree::rlft(&RlftSpec { ports: 36, stages: 3 }).unwrap();
        assert_eq!(sizes(&rlft), (11_664, 1_620, vec![648, 648, 324]));
        let rlft = FatTree::rlft(&RlftSpec { ports: 8, stages: 3 }).unwrap();
        assert_eq!(sizes(&rlft).0, 128);
        let kary = FatTree::kary(&KaryTreeSpec { k: 2, levels: 5 }).unwrap();
        assert_eq!(sizes(&kary), (32, 80, vec![16; 5]));
        let clos = FoldedClosSpec { ports: 72, levels: 4, groups: Some(6) };
        let clos = FatTree::folded_clos(&clos).unwrap();
        assert_eq!(sizes(&clos), (279_936, 27_216, vec![7_776, 7_776, 7_776, 3_888]));
        let slim = FatTreeSpec { children: vec![4, 3, 2], parents: vec![1, 2, 2], parallel: None };
        assert_eq!(sizes(&FatTree::new(&slim).unwrap()), (24, 14, vec![6, 4, 4]));
    }

    /// The construction of the paper's network: leaf D / K, group D / K^2, and how the stages are wired.
    #[test]
    fn wiring_of_a_real_life_fat_tree() {
        let net = FatTree::rlft(&RlftSpec { ports: 8, stages: 3 }).unwrap();
        // A group has 4 leaves and 4 second-stage switches.
        assert_eq!(net.router_of(HostId(16)), RouterId(8));
        for j in 0..4 {
            let second = RouterId(8 + 4 + j);
            let peer = net.peer(RouterId(9), PortId(4 + j as u16));
            assert_eq!(peer, Peer::Router { router: second, port: PortId(1), class: 0 });
            for q in 0..4 {
                let top = RouterId(64 + j + 4 * q);
                let peer = net.peer(second, PortId(4 + q as u16));
                assert_eq!(peer, Peer::Router { router: top, port: PortId(1), class: 1 });
            }
        }
    }
}
