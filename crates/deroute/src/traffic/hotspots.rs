//! Hot spots: some hosts send to a few, beside the pattern.
//!
//! # What it does
//! Each hot spot turns packets of its sources to its destinations, for a time. All other packets follow
//! the pattern. Several combine: a packet goes to the first one of the list that takes it. A packet that
//! would go to its own source follows the pattern.
//!
//! # Source
//! Rocher-Gonzalez et al. 5.1: with `pattern = "uniform"` and a load of 1, HS10-1 has
//! `sources = { random = { share = 0.1 } }` and `destinations = { scattered = 1 }`, HS25-4 a share of 0.25
//! and `scattered = 4`, IHS a share of 0.2 and `destinations = { up_ports = { stage = 2 } }`.
//!
//! # Parameters
//! `sources` (default: all hosts), `destinations`, `share` of their packets (default 1), `start` and
//! `stop` (default: the whole run).
//!
//! # Limits
//! Times count from the beginning of the measurement, so they need a warm-up of fixed length.
//! `scattered` are hosts 600, 3400, 5200 and 9500 of the paper's 11,664; in other networks the nearest
//! ones with the same number modulo 3, whose switch has the same number modulo 3, and in the same third
//! of the network. The paper does not say which ports IHS makes hot, nor how many: see decision 6.
//!
//! # Example
//! ```toml
//! [[traffic.hotspots]]
//! sources = { random = { share = 0.1 } }
//! destinations = { any = [600] }
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Setting;
use crate::ids::{Cycle, HostId};
use crate::rng::{Owner, Stream};
use crate::spec::{Quantity, Scale, SpecError};
use crate::topology::Topology;

/// Some hosts that send to a few others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hotspot {
    /// The hosts that send there. Default: all.
    #[serde(default)]
    pub sources: Sources,
    /// The hosts that they send to.
    pub destinations: Destinations,
    /// Share of their packets that goes there, above 0 and up to 1. Default 1.
    #[serde(default = "super::spec::full")]
    pub share: f64,
    /// Time since the beginning of the measurement. Default: from the beginning of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Quantity>,
    /// Time since the beginning of the measurement. Default: to the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Quantity>,
}

/// The hosts that send to a hot spot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Sources {
    /// Every host that sends anything under the pattern, but the destinations of `any`, `each` and
    /// `scattered`.
    #[default]
    All,
    /// These.
    Hosts(Vec<u32>),
    /// A share of all hosts, drawn from those of `all`.
    Random {
        /// Above 0 and up to 1.
        share: f64,
        /// Seed of the draw. Default: that of the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seed: Option<u64>,
    },
    /// A share of all hosts, at even distances among those of `all`.
    Even {
        /// Above 0 and up to 1.
        share: f64,
    },
}

/// The hosts of a hot spot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Destinations {
    /// Each packet goes to any of these.
    Any(Vec<u32>),
    /// Each source sends to one of these; the sources take them in turn.
    Each(Vec<u32>),
    /// Each source sends to one of the first so many hot nodes of Rocher-Gonzalez et al.
    Scattered(u32),
    /// Ports that lead up a fat tree become hot, in every subtree others. The sources of a subtree take its
    /// ports in turn, and each sends to any of the hosts elsewhere that it reaches by D-mod-K over its port.
    UpPorts {
        /// Level of the switches whose ports become hot, and of the subtrees. Default 2.
        #[serde(default = "second")]
        stage: u32,
        /// How many ports of each subtree, drawn with the seed of the run. Default 1.
        #[serde(default = "first")]
        ports: u32,
    },
}

fn second() -> u32 {
    2
}

fn first() -> u32 {
    1
}

/// A hot spot, resolved.
struct Spot {
    from: Cycle,
    to: Cycle,
    /// Of 2^64; `None` is all.
    share: Option<u64>,
    /// Which targets every host has; [`COLD`] if none.
    targets_of: Vec<u16>,
    targets: Vec<Vec<u32>>,
}

pub(super) const COLD: u16 = u16::MAX;

/// The hot spots of a workload.
pub(super) struct Hotspots {
    spots: Vec<Spot>,
}

/// What hot spots are built from.
pub(super) struct Site<'a> {
    pub(super) scale: &'a Scale,
    pub(super) setting: &'a Setting<'a>,
    /// `None` if it is not known in advance.
    pub(super) measure_from: Option<Cycle>,
    /// Does the pattern give this host anybody to send to?
    pub(super) sends: &'a dyn Fn(HostId) -> bool,
}

impl Hotspots {
    pub(super) fn build(specs: &[Hotspot], site: &Site<'_>) -> Result<Self, SpecError> {
        let build =
            |(i, spec): (usize, &Hotspot)| spot(spec, &format!("traffic.hotspots[{i}]"), site);
        Ok(Self { spots: specs.iter().enumerate().map(build).collect::<Result<_, _>>()? })
    }

    /// The hot destination of a packet, if it has one.
    #[inline]
    pub(super) fn draw(&self, source: HostId, now: Cycle, rng: &mut Stream) -> Option<HostId> {
        self.spots.iter().find_map(|spot| spot.draw(source, now, rng))
    }
}

impl Spot {
    fn draw(&self, source: HostId, now: Cycle, rng: &mut Stream) -> Option<HostId> {
        let targets = self.targets_of[source.index()];
        if targets == COLD || !(self.from..self.to).contains(&now) {
            return None;
        }
        if self.share.is_some_and(|share| rng.bits() >= share) {
            return None;
        }
        let targets = &self.targets[usize::from(targets)];
        let choice = if targets.len() == 1 { 0 } else { rng.below(targets.len() as u32) };
        let target = targets[choice as usize];
        (target != source.0).then_some(HostId(target))
    }
}

fn spot(spec: &Hotspot, path: &str, site: &Site<'_>) -> Result<Spot, SpecError> {
    let (from, to) = interval((&spec.start, &spec.stop), path, site, "the hot spot")?;
    let at = format!("{path}.share");
    part(spec.share, &at)?;
    let share = (spec.share < 1.0).then(|| (spec.share * 2f64.powi(64)) as u64);
    let targets =
        Targets::build(&spec.destinations, &format!("{path}.destinations"), site.setting)?;
    let hot = targets.hot(&spec.destinations);
    let sources = sources(&spec.sources, &format!("{path}.sources"), site, &hot)?;
    let targets_of = targets.assign(&sources, site.setting.topology.hosts());
    Ok(Spot { from, to, share, targets_of, targets: targets.lists })
}

/// The cycles from a start to a stop, which count from the beginning of the measurement; all where there is none.
pub(super) fn interval(
    (start, stop): (&Option<Quantity>, &Option<Quantity>),
    path: &str,
    Site { scale, measure_from, .. }: &Site<'_>,
    what: &str,
) -> Result<(Cycle, Cycle), SpecError> {
    let time = |key: &str, quantity: &Option<Quantity>, default| {
        let Some(quantity) = quantity else { return Ok(default) };
        let at = format!("{path}.{key}");
        let Some(start) = measure_from else {
            let message = "a time needs a warm-up of fixed length to be counted from";
            return Err(SpecError::new(at, message).choices(["run.warmup = 60000"]));
        };
        let cycles = scale.cycles(&at, quantity)?.saturating_add((*start).into());
        Ok(u32::try_from(cycles).unwrap_or(Cycle::MAX))
    };
    let (from, to) = (time("start", start, 0)?, time("stop", stop, Cycle::MAX)?);
    if from >= to {
        let message = format!("{what} ends before it begins");
        return Err(SpecError::new(format!("{path}.stop"), message));
    }
    Ok((from, to))
}

fn part(share: f64, path: &str) -> Result<(), SpecError> {
    if share > 0.0 && share <= 1.0 {
        return Ok(());
    }
    let message = format!("{share} is no share");
    Err(SpecError::new(path, message).choices(["above 0.0, up to 1.0"]))
}

/// The hosts of a list, if all exist.
fn listed(list: &[u32], path: &str, hosts: u32) -> Result<Vec<u32>, SpecError> {
    if list.is_empty() {
        return Err(SpecError::new(path, "an empty list has no host"));
    }
    if let Some(i) = list.iter().position(|&host| host >= hosts) {
        let message = format!("there is no host {}", list[i]);
        let choices = [format!("0 to {}", hosts - 1)];
        return Err(SpecError::new(format!("{path}[{i}]"), message).choices(choices));
    }
    Ok(list.to_vec())
}

/// The sources in ascending order.
pub(super) fn sources(
    spec: &Sources,
    path: &str,
    site: &Site<'_>,
    hot: &[u32],
) -> Result<Vec<u32>, SpecError> {
    let Site { setting, sends, .. } = site;
    let hosts = setting.topology.hosts();
    let eligible = |host: &u32| sends(HostId(*host)) && !hot.contains(host);
    let mut all: Vec<u32> = (0..hosts).filter(eligible).collect();
    let count = |share: f64, key: &str| {
        part(share, &format!("{path}.{key}.share"))?;
        Ok(((share * f64::from(hosts)).round() as usize).clamp(1, all.len().max(1)))
    };
    let mut chosen = match spec {
        Sources::All => all,
        Sources::Hosts(list) => {
            let list = listed(list, &format!("{path}.hosts"), hosts)?;
            if let Some(i) = list.iter().position(|&host| !sends(HostId(host))) {
                let message = format!("host {} sends nothing under the pattern", list[i]);
                return Err(SpecError::new(format!("{path}.hosts[{i}]"), message));
            }
            list
        }
        Sources::Random { share, seed } => {
            let count = count(*share, "random")?;
            let mut rng = Stream::new(seed.unwrap_or(setting.seed), Owner::Network);
            for i in 0..count.min(all.len()) {
                let other = i + rng.below((all.len() - i) as u32) as usize;
                all.swap(i, other);
            }
            all.truncate(count);
            all
        }
        Sources::Even { share } => {
            let count = count(*share, "even")?;
            (0..count.min(all.len())).map(|i| all[i * all.len() / count]).collect()
        }
    };
    chosen.sort_unstable();
    if chosen.is_empty() {
        return Err(SpecError::new(path, "no host is left to send"));
    }
    Ok(chosen)
}

/// Lists of destinations. Subtrees of so many hosts, in order, have as many lists each; the sources of a
/// subtree take its lists in turn.
pub(super) struct Targets {
    pub(super) lists: Vec<Vec<u32>>,
    subtree: u32,
}

impl Targets {
    pub(super) fn build(
        spec: &Destinations,
        path: &str,
        setting: &Setting<'_>,
    ) -> Result<Self, SpecError> {
        targets(spec, path, setting)
    }

    /// The hosts that are no sources where all others are.
    pub(super) fn hot(&self, spec: &Destinations) -> Vec<u32> {
        match spec {
            Destinations::UpPorts { .. } => Vec::new(),
            _ => self.lists.iter().flatten().copied().collect(),
        }
    }

    /// Which list each of so many hosts has; [`COLD`] if none.
    pub(super) fn assign(&self, sources: &[u32], hosts: u32) -> Vec<u16> {
        let mut targets_of = vec![COLD; hosts as usize];
        let each = self.lists.len() / (hosts / self.subtree) as usize;
        let (mut rank, mut last) = (0, 0);
        for &source in sources {
            let tree = (source / self.subtree) as usize;
            rank = if tree == last { rank } else { 0 };
            targets_of[source as usize] = (tree * each + rank % each) as u16;
            (rank, last) = (rank + 1, tree);
        }
        targets_of
    }
}

fn targets(spec: &Destinations, path: &str, setting: &Setting<'_>) -> Result<Targets, SpecError> {
    let topology = setting.topology;
    let hosts = topology.hosts();
    let for_all = |lists| Targets { lists, subtree: hosts };
    let one_each = |list: Vec<u32>| for_all(list.into_iter().map(|host| vec![host]).collect());
    match spec {
        Destinations::Any(list) => Ok(for_all(vec![listed(list, &format!("{path}.any"), hosts)?])),
        Destinations::Each(list) => {
            let path = format!("{path}.each");
            if list.len() >= usize::from(COLD) {
                return Err(SpecError::new(path, "too many hosts").choices(["at most 65534"]));
            }
            Ok(one_each(listed(list, &path, hosts)?))
        }
        Destinations::Scattered(count) => {
            scattered(*count, &format!("{path}.scattered"), topology).map(one_each)
        }
        Destinations::UpPorts { stage, ports } => {
            behind_ports((*stage, *ports), &format!("{path}.up_ports"), setting)
        }
    }
}

/// Hot nodes of Rocher-Gonzalez et al., their network, its hosts of a switch, and their queues.
const PAPER: ([u32; 4], u32, u32, u32) = ([600, 3400, 5200, 9500], 11_664, 18, 3);

/// The hosts that are to a network what the paper's hot nodes are to its own.
fn scattered(count: u32, path: &str, topology: &dyn Topology) -> Result<Vec<u32>, SpecError> {
    let (nodes, size, leaf, queues) = PAPER;
    if !(1..=nodes.len() as u32).contains(&count) {
        let message = format!("{count} hot nodes are out of range");
        return Err(SpecError::new(path, message).choices(["1 to 4"]));
    }
    let hosts = topology.hosts();
    let mut leaves: Vec<u32> = Vec::new();
    for host in 0..hosts {
        let same =
            host > 0 && topology.router_of(HostId(host)) == topology.router_of(HostId(host - 1));
        let last = leaves.last().copied();
        leaves.push(last.map_or(0, |last| if same { last } else { last + 1 }));
    }
    let third = |host: u32, hosts: u32| u64::from(host) * u64::from(queues) / u64::from(hosts);
    let like = |node: u32| {
        let ideal = (u64::from(node) * u64::from(hosts) / u64::from(size)) as u32;
        let fits = |host: &u32| {
            host % queues == node % queues
                && leaves[*host as usize] % queues == node / leaf % queues
                && third(*host, hosts) == third(node, size)
        };
        let near = (0..hosts).filter(fits).min_by_key(|host| (host.abs_diff(ideal), *host));
        near.ok_or_else(|| {
            let message = format!("no host is like host {node} of the paper: too few switches");
            SpecError::new(path, message).choices(["each = [...]"])
        })
    };
    nodes[..count as usize].iter().map(|&node| like(node)).collect()
}

/// For some ports of each subtree, the hosts elsewhere to which D-mod-K leads over them.
fn behind_ports(
    (stage, ports): (u32, u32),
    path: &str,
    setting: &Setting<'_>,
) -> Result<Targets, SpecError> {
    let Some(tree) = setting.topology.tree() else {
        let message = "the routers of this topology form no fat tree";
        return Err(SpecError::new(path, message).choices(["any = [...]"]));
    };
    let stages = 1..tree.levels() as u32;
    if !stages.contains(&stage) {
        let message = format!("nothing leads up from level {stage}");
        let choices = [format!("1 to {}", tree.levels() - 1)];
        return Err(SpecError::new(format!("{path}.stage"), message).choices(choices));
    }
    let levels = 1..=stage as usize;
    let subtree: u32 = tree.shape()[0][..stage as usize].iter().product();
    let hosts = setting.topology.hosts();
    let total = levels.clone().fold(1, |all: u32, level| all.saturating_mul(tree.ups(level)));
    if total > hosts {
        let message = "no host's path uses some of these ports: the tree is not slim enough";
        return Err(SpecError::new(path, message).choices(["any = [...]"]));
    }
    let most = total.min(u32::from(COLD - 1) / (hosts / subtree));
    if !(1..=most).contains(&ports) {
        let message = format!("{ports} ports are out of range");
        let choices = [format!("1 to {most}")];
        return Err(SpecError::new(format!("{path}.ports"), message).choices(choices));
    }
    let mut behind = vec![Vec::new(); total as usize];
    for host in 0..hosts {
        let step =
            |(way, base), level| (way + base * tree.share(level, host), base * tree.ups(level));
        behind[levels.clone().fold((0, 1), step).0 as usize].push(host);
    }
    // Every port once before any comes again.
    let mut rng = Stream::new(setting.seed, Owner::Network);
    let mut left: Vec<u32> = Vec::new();
    let mut lists = Vec::new();
    for base in (0..hosts).step_by(subtree as usize) {
        for _ in 0..ports {
            if left.is_empty() {
                left.extend(0..total);
            }
            let port = left.swap_remove(rng.below(left.len() as u32) as usize);
            let elsewhere = |host: &&u32| !(base..base + subtree).contains(*host);
            lists.push(behind[port as usize].iter().filter(elsewhere).copied().collect::<Vec<_>>());
        }
    }
    if lists.iter().any(Vec::is_empty) {
        let message = "nobody elsewhere is reached over one of these ports";
        return Err(SpecError::new(path, message).choices(["any = [...]", "a lower stage"]));
    }
    Ok(Targets { lists, subtree })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{self, spec};

    fn tree(ports: u32) -> std::sync::Arc<dyn Topology> {
        topology::build(&spec::Topology::Rlft(spec::RlftSpec { ports, stages: 3 })).unwrap()
    }

    #[test]
    fn hot_nodes_keep_their_residues() {
        assert_eq!(scattered(4, "", &*tree(36)).unwrap(), PAPER.0);
        for (ports, leaf) in [(6, 3), (8, 4), (12, 6), (24, 12)] {
            let topology = tree(ports);
            let (hosts, found) = (topology.hosts(), scattered(4, "", &*topology).unwrap());
            let residues = |of: fn(u32, u32, u32) -> u32| -> Vec<u32> {
                found.iter().map(|&host| of(host, leaf, hosts)).collect()
            };
            assert_eq!(residues(|host, _, _| host % 3), [0, 1, 1, 2]);
            assert_eq!(residues(|host, leaf, _| host / leaf % 3), [0, 2, 0, 2]);
            assert_eq!(residues(|host, _, hosts| host * 3 / hosts), [0, 0, 1, 2]);
        }
    }

    /// A second-stage port of the paper's network leads to 35 hosts elsewhere by D-mod-K; the 36 subtrees
    /// have different ones.
    #[test]
    fn hosts_behind_a_port() {
        let topology = tree(36);
        let setting = Setting { topology: &*topology, seed: 3 };
        let Targets { lists, subtree } = behind_ports((2, 2), "", &setting).unwrap();
        assert_eq!((lists.len(), subtree), (72, 324));
        let mut ports = std::collections::BTreeSet::new();
        for (n, list) in lists.iter().enumerate() {
            assert_eq!(list.len(), 35);
            assert!(list.iter().all(|host| host % 324 == list[0] % 324), "{list:?}");
            assert!(list.iter().all(|host| *host as usize / 324 != n / 2), "{list:?}");
            assert!(ports.insert(list[0] % 324), "{list:?}");
        }
        let destinations = Destinations::UpPorts { stage: 2, ports: 2 };
        let (sources, share, start, stop) = (Sources::All, 1.0, None, None);
        let spec = Hotspot { sources, destinations, share, start, stop };
        let scale = Scale::new("1 ns", "25 B").unwrap();
        let site = Site { scale: &scale, setting: &setting, measure_from: None, sends: &|_| true };
        let hot = spot(&spec, "", &site).unwrap();
        for host in 0..11_664 {
            assert_eq!(usize::from(hot.targets_of[host]), host / 324 * 2 + host % 2);
        }
    }

    /// A tenth of the hosts, none of them hot; the targets are taken in turn.
    #[test]
    fn sources_and_targets() {
        let topology = tree(12);
        let setting = Setting { topology: &*topology, seed: 3 };
        let spec = |sources| Hotspot {
            sources,
            destinations: Destinations::Each(vec![5, 9]),
            share: 0.25,
            start: Some(100.into()),
            stop: None,
        };
        let scale = Scale::new("1 ns", "25 B").unwrap();
        let measure_from = Some(50);
        let site = Site { scale: &scale, setting: &setting, measure_from, sends: &|_| true };
        for sources in [
            Sources::Random { share: 0.1, seed: None },
            Sources::Even { share: 0.1 },
            Sources::Hosts((100..143).collect()),
        ] {
            let hot = spot(&spec(sources), "", &site).unwrap();
            let count = |n| hot.targets_of.iter().filter(|targets| **targets == n).count();
            assert_eq!((count(0), count(1)), (22, 21));
            assert_eq!((hot.targets_of[5], hot.targets_of[9]), (COLD, COLD));
            assert_eq!((hot.from, hot.to, hot.share), (150, Cycle::MAX, Some(1 << 62)));
            let source = hot.targets_of.iter().position(|targets| *targets == 1).unwrap();
            let mut rng = Stream::new(1, Owner::Network);
            let mut drawn = |now| {
                let draws =
                    (0..4000).filter_map(|_| hot.draw(HostId(source as u32), now, &mut rng));
                draws.inspect(|to| assert_eq!(to.0, 9)).count()
            };
            assert_eq!(drawn(149), 0);
            assert!((900..1100).contains(&drawn(150)));
        }
    }
}
