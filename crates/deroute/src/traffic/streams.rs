//! Streams: traffic of some hosts beside the pattern, in a class of service of its own, measured on its own.
//!
//! # What it does
//! Each host of a stream generates packets of it, by a process and with random numbers of their own, so that a
//! stream that is added changes no other traffic. A host may be in several streams, and send under the pattern as
//! well: all its loads together are at most 1.
//!
//! # Source
//! Standing traffic beside a victim flow is how the papers on Ethernet congestion set up their hot spots: Gran et
//! al., Crisan et al., Minkenberg et al.
//!
//! # Parameters
//! `name`, `hosts`, `load`, and `pattern` or `destinations`; `class`, `packet_size`, `injection`, `start`, `stop`.
//!
//! # Limits
//! Times count from the beginning of the measurement, as those of hot spots and changes do, so they need a warm-up
//! of fixed length. Hot spots (`traffic.hotspots`) and changes (`traffic.then`) are those of the other traffic.
//!
//! # Example
//! ```toml
//! [[traffic.stream]]
//! name = "culprits"
//! hosts = [4, 5, 6, 7]
//! load = 0.45
//! destinations = { any = [0] }
//! ```

use super::hotspots::{COLD, Hotspots, Site, Sources, Targets, interval, sources};
use super::pace::{Asked, Pace};
use super::sizes::Sizes;
use super::spec::{HostRange, StreamHosts, StreamSpec, Traffic};
use super::{Pattern, Phase, Senders, Source, Workload, pattern};
use crate::ids::{Cycle, HostId};
use crate::rng::{Owner, Stream};
use crate::spec::SpecError;

/// A stream, resolved.
pub struct TrafficStream {
    name: String,
    class: u8,
    /// In ascending order.
    hosts: Vec<HostId>,
    workload: Workload,
    /// Its place among the streams.
    index: u32,
}

impl TrafficStream {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its class of service.
    pub fn class(&self) -> u8 {
        self.class
    }

    /// The hosts that send it, in ascending order.
    pub fn hosts(&self) -> &[HostId] {
        &self.hosts
    }

    /// What its generators follow, with [`Workload::demand`] and [`Workload::next`].
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// The generator at one of its hosts, and the cycle of its first packet.
    pub fn source(&self, host: HostId, seed: u64) -> (Source, Cycle) {
        let owner = Owner::Stream { stream: self.index, host: host.0 };
        self.workload.begin(host, Stream::new(seed, owner))
    }
}

/// Nobody sends anything.
struct Nobody;

impl Pattern for Nobody {
    fn draw(&self, source: HostId, _rng: &mut Stream) -> HostId {
        source
    }

    fn sends(&self, _source: HostId) -> bool {
        false
    }

    fn fan_out(&self) -> Option<u32> {
        Some(0)
    }
}

/// A pattern that only some hosts follow.
struct Within {
    members: Vec<bool>,
    pattern: Box<dyn Pattern>,
}

impl Pattern for Within {
    fn draw(&self, source: HostId, rng: &mut Stream) -> HostId {
        self.pattern.draw(source, rng)
    }

    fn sends(&self, source: HostId) -> bool {
        self.members[source.index()]
    }

    fn fan_out(&self) -> Option<u32> {
        self.pattern.fan_out()
    }
}

/// Each source sends to the hosts of a list, but not to itself.
struct Aimed {
    targets_of: Vec<u16>,
    lists: Vec<Vec<u32>>,
}

impl Pattern for Aimed {
    fn draw(&self, source: HostId, rng: &mut Stream) -> HostId {
        let list = &self.lists[usize::from(self.targets_of[source.index()])];
        loop {
            let choice = if list.len() == 1 { 0 } else { rng.below(list.len() as u32) };
            let target = HostId(list[choice as usize]);
            if target != source {
                return target;
            }
        }
    }

    fn sends(&self, source: HostId) -> bool {
        match self.targets_of[source.index()] {
            COLD => false,
            list => self.lists[usize::from(list)].iter().any(|target| *target != source.0),
        }
    }

    fn fan_out(&self) -> Option<u32> {
        self.lists.iter().map(|list| list.len() as u32).max()
    }
}

/// Resolves the streams beside the other traffic.
///
/// # Errors
/// The first thing that is impossible, with its path below `traffic.stream`.
pub(super) fn build(
    spec: &Traffic,
    own: &Workload,
    senders: &Senders<'_>,
    site: &Site<'_>,
) -> Result<Vec<TrafficStream>, SpecError> {
    let mut streams = Vec::<TrafficStream>::new();
    for (index, each) in spec.streams.iter().enumerate() {
        let path = format!("traffic.stream[{index}]");
        let refuse = |key: &str, message: String, choice: String| {
            Err(SpecError::new(format!("{path}.{key}"), message).choices([choice]))
        };
        let name = &each.name;
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || "_-+".contains(c)) {
            let message = format!("{name:?} is not a name");
            return refuse("name", message, "letters, digits, _ - +".into());
        }
        if streams.iter().any(|other| other.name == *name) {
            let message = format!("{name:?} is the name of two streams");
            return refuse("name", message, "another one".into());
        }
        if each.class >= senders.classes {
            let message = format!("there is no class {}: network.classes.count", each.class);
            let count = senders.classes;
            let choice = if count == 1 { "0".into() } else { format!("0 to {}", count - 1) };
            return refuse("class", format!("{message} is {count}"), choice);
        }
        streams.push(stream((spec, each), (index, &path), senders, site)?);
    }
    fits(own, &streams, senders.free)?;
    Ok(streams)
}

fn stream(
    (traffic, spec): (&Traffic, &StreamSpec),
    (index, path): (usize, &str),
    senders: &Senders<'_>,
    site: &Site<'_>,
) -> Result<TrafficStream, SpecError> {
    let (from, to) = interval((&spec.start, &spec.stop), path, site, "the stream")?;
    let sizes = match &spec.packet_size {
        Some(size) => Sizes::build(size, &format!("{path}.packet_size"), site.scale)?,
        None => Sizes::build(&traffic.packet_size, "traffic.packet_size", site.scale)?,
    };
    let (injection, injection_path) = match &spec.injection {
        Some(injection) => (injection, format!("{path}.injection")),
        None => (&traffic.injection, "traffic.injection".to_owned()),
    };
    let (load, load_path, injection_path) = (spec.load, &*format!("{path}.load"), &*injection_path);
    let asked = Asked { load, load_path, injection, injection_path };
    let pace = Pace::of(&asked, sizes.mean(), senders.period)?;
    let (hosts, pattern) = aim(spec, path, senders, site)?;
    let share = hosts.len() as f64 / f64::from(site.setting.topology.hosts());
    let silence = |from| {
        let (pace, pattern) = (Pace::Silent, Box::new(Nobody));
        Phase { from, load: 0.0, pace, pattern, senders: 0.0 }
    };
    let mut phases = vec![Phase { from, load, pace, pattern, senders: share }];
    if from > 0 {
        phases.insert(0, silence(0));
    }
    if to < Cycle::MAX {
        phases.push(silence(to));
    }
    let (period, streams) = (senders.period, Vec::new());
    let hotspots = Hotspots::build(&[], site)?;
    let workload = Workload { sizes, phases, hotspots, period, streams };
    let (name, class, index) = (spec.name.clone(), spec.class, index as u32);
    Ok(TrafficStream { name, class, hosts, workload, index })
}

/// The hosts of a stream, and where they send.
fn aim(
    spec: &StreamSpec,
    path: &str,
    senders: &Senders<'_>,
    site: &Site<'_>,
) -> Result<(Vec<HostId>, Box<dyn Pattern>), SpecError> {
    let all = site.setting.topology.hosts();
    let at = |key: &str| format!("{path}.{key}");
    let (hosts, pattern): (_, Box<dyn Pattern>) = match (&spec.pattern, &spec.destinations) {
        (Some(shape), None) => {
            let pattern = pattern(shape, &at("pattern"), site.setting)?;
            let sends = |host| pattern.sends(host);
            (members(&spec.hosts, path, (senders, &sends, site), &[])?, pattern)
        }
        (None, Some(destinations)) => {
            let targets = Targets::build(destinations, &at("destinations"), site.setting)?;
            let hot = targets.hot(destinations);
            let hosts = members(&spec.hosts, path, (senders, &|_| true, site), &hot)?;
            let targets_of = targets.assign(&hosts, all);
            let pattern = Aimed { targets_of, lists: targets.lists };
            if let Some(host) = hosts.iter().find(|host| !pattern.sends(HostId(**host))) {
                let message = format!("host {host} would send to itself only");
                let choices = ["other hosts", "another destination"];
                return Err(SpecError::new(at("destinations"), message).choices(choices));
            }
            (hosts, Box::new(pattern))
        }
        (pattern, _) => {
            let both = if pattern.is_some() { "has both" } else { "has none" };
            let message = format!("a stream goes somewhere by one of two keys, and this {both}");
            return Err(SpecError::new(path, message).choices(["pattern", "destinations"]));
        }
    };
    let mut within = vec![false; all as usize];
    hosts.iter().for_each(|host| within[*host as usize] = true);
    let hosts = hosts.into_iter().map(HostId).collect();
    Ok((hosts, Box::new(Within { members: within, pattern })))
}

/// The hosts that send a stream, in ascending order.
fn members(
    spec: &StreamHosts,
    path: &str,
    (senders, sends, site): (&Senders<'_>, &dyn Fn(HostId) -> bool, &Site<'_>),
    hot: &[u32],
) -> Result<Vec<u32>, SpecError> {
    let all = site.setting.topology.hosts();
    let at = format!("{path}.hosts");
    let named = match spec {
        StreamHosts::List(list) => Some(list.clone()),
        StreamHosts::Range(HostRange { from, to }) if from > to || *to >= all => {
            let message = format!("{from} to {to} is no range of hosts");
            return Err(SpecError::new(at, message).choices([format!("within 0 to {}", all - 1)]));
        }
        StreamHosts::Range(HostRange { from, to }) => Some((*from..=*to).collect()),
        StreamHosts::Sources(Sources::Hosts(list)) => Some(list.clone()),
        StreamHosts::Sources(_) => None,
    };
    let may = |host| sends(host) && (senders.free)(host);
    let site = Site { sends: &may, ..*site };
    let Some(list) = named else {
        let StreamHosts::Sources(chosen) = spec else { unreachable!("lists have names") };
        return sources(chosen, &at, &site, hot);
    };
    let mut seen = vec![false; all as usize];
    for host in list.iter().filter(|host| **host < all) {
        let wrong = match () {
            () if seen[*host as usize] => "stands there twice",
            () if !(senders.free)(HostId(*host)) => "runs a rank of the workload",
            () => "",
        };
        if !wrong.is_empty() {
            return Err(SpecError::new(at, format!("host {host} {wrong}")).choices(["other hosts"]));
        }
        seen[*host as usize] = true;
    }
    // The path of an entry ends in `hosts[i]`.
    sources(&Sources::Hosts(list), path, &site, hot)
}

/// No host offers more than its link carries.
fn fits(
    own: &Workload,
    streams: &[TrafficStream],
    free: &dyn Fn(HostId) -> bool,
) -> Result<(), SpecError> {
    let phases = streams.iter().flat_map(|stream| &stream.workload.phases);
    let mut starts: Vec<Cycle> = own.phases.iter().chain(phases).map(|phase| phase.from).collect();
    starts.sort_unstable();
    starts.dedup();
    let Some(hosts) = streams.iter().filter_map(|stream| stream.hosts.last()).max() else {
        return Ok(());
    };
    for start in starts {
        let phase = &own.phases[own.phase(start)];
        let offered = |host| if phase.pattern.sends(host) && free(host) { phase.load } else { 0.0 };
        let mut sums: Vec<f64> = (0..=hosts.0).map(HostId).map(offered).collect();
        for (index, stream) in streams.iter().enumerate() {
            let load = stream.workload.phases[stream.workload.phase(start)].load;
            for host in &stream.hosts {
                let sum = &mut sums[host.index()];
                *sum += load;
                // Shares such as 0.1 are not exact.
                if *sum > 1.0 + 1e-9 {
                    let message = format!(
                        "host {} would offer {sum:.4} of its link, with its other traffic",
                        host.0
                    );
                    let path = format!("traffic.stream[{index}].load");
                    let most = (1.0 - (*sum - load)).max(0.0);
                    let choices = [format!("at most {most:.4}")];
                    return Err(SpecError::new(path, message).choices(choices));
                }
            }
        }
    }
    Ok(())
}
