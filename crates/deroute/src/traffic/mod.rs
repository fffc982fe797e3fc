//! Who sends how much to whom, and when.
//!
//! A [`Workload`] is immutable and shared; all that changes is in the [`Source`] of each host. To
//! add a pattern: a file, a variant in `spec.rs`, a line in [`pattern`].

mod adversarial;
mod bit_complement;
mod bit_reverse;
mod bit_rotation;
mod butterfly;
mod fixed;
mod hotspots;
mod lattice;
mod matrix;
mod mix;
mod neighbour;
mod pace;
mod pairs;
mod permutation;
mod ring;
mod shift;
mod shuffle;
mod sizes;
pub mod spec;
mod streams;
mod tornado;
mod transpose;
mod uniform;
mod weighted;

use self::pace::{Asked, Pace};
pub(crate) use self::permutation::derangement;
use self::sizes::Sizes;
pub use self::streams::TrafficStream;
use crate::ids::{Cycle, HostId};
use crate::rng::{Owner, Stream};
use crate::spec::{Scale, SpecError};
use crate::topology::Topology;
use serde::{Deserialize, Serialize};

/// Chooses destinations.
pub trait Pattern: Send + Sync {
    /// Draws the destination of a packet from `source`, which `sends`; never `source` itself.
    fn draw(&self, source: HostId, rng: &mut Stream) -> HostId;

    /// Has `source` anybody to send to? Every host has, by default; one that has not is silent.
    fn sends(&self, _source: HostId) -> bool {
        true
    }

    /// Most hosts that one source sends to, if the pattern knows; any, by default.
    fn fan_out(&self) -> Option<u32> {
        None
    }
}

/// What a pattern is built from.
pub struct Setting<'a> {
    /// The wiring.
    pub topology: &'a dyn Topology,
    /// Seed of the run.
    pub seed: u64,
}

/// The hosts that synthetic traffic is for.
pub struct Senders<'a> {
    /// Cycles that a phit takes on the link of a host.
    pub period: Cycle,
    /// Classes of service that streams can name.
    pub classes: u8,
    /// Is a host free to send it? One that runs a program is not.
    pub free: &'a dyn Fn(HostId) -> bool,
}

impl Default for Senders<'_> {
    /// All hosts, on links of a phit a cycle, in one class.
    fn default() -> Self {
        Self { period: 1, classes: 1, free: &|_| true }
    }
}

/// Builds a pattern. The catalogue.
///
/// # Errors
/// What the pattern needs and the topology does not have, and parameters out of range; below `path`.
pub fn pattern(
    spec: &spec::Pattern,
    path: &str,
    setting: &Setting<'_>,
) -> Result<Box<dyn Pattern>, SpecError> {
    match spec {
        spec::Pattern::Uniform => uniform::build(path, setting),
        spec::Pattern::Adversarial { offset } => adversarial::shift(*offset, path, setting),
        spec::Pattern::AdversarialLocal => adversarial::local(path, setting),
        spec::Pattern::AdversarialConsecutive { groups } => {
            adversarial::consecutive(*groups, path, setting)
        }
        spec::Pattern::Permutation { seed } => permutation::build(*seed, path, setting),
        spec::Pattern::BitComplement => bit_complement::build(path, setting),
        spec::Pattern::BitReverse => bit_reverse::build(path, setting),
        spec::Pattern::BitRotation { by } => bit_rotation::build(*by, path, setting),
        spec::Pattern::Shuffle => shuffle::build(path, setting),
        spec::Pattern::Butterfly => butterfly::build(path, setting),
        spec::Pattern::Transpose => transpose::build(path, setting),
        spec::Pattern::Tornado { ring } => tornado::build(*ring, path, setting),
        spec::Pattern::Neighbour { ring } => neighbour::build(*ring, path, setting),
        spec::Pattern::Shift { by } => shift::build(*by, path, setting),
        spec::Pattern::Complement { dimension } => {
            let one = lattice::Kind::One((*dimension as usize).wrapping_sub(1));
            lattice::build(one, &format!("{path}.complement.dimension"), setting)
        }
        spec::Pattern::Swap2 => lattice::build(lattice::Kind::Swap2, path, setting),
        spec::Pattern::Swap2Shift => lattice::half_shift(path, setting),
        spec::Pattern::DimensionComplementReverseFixed => lattice::reverse(path, setting),
        spec::Pattern::DimensionComplementReverse => {
            lattice::build(lattice::Kind::Reverse, path, setting)
        }
        spec::Pattern::Pairs(pairs) => pairs::build(pairs, path, setting),
        spec::Pattern::Matrix(matrix) => matrix::build(matrix, path, setting),
        spec::Pattern::Mix(shares) => mix::build(shares, path, setting),
    }
}

/// Adds a positive weight to a running total.
fn weigh(total: u32, weight: u32, path: &str) -> Result<u32, SpecError> {
    if weight == 0 {
        return Err(SpecError::new(path, "0 would never be chosen").choices(["at least 1"]));
    }
    total.checked_add(weight).ok_or_else(|| {
        SpecError::new(path, format!("{weight} makes the sum of the weights exceed 2^32"))
    })
}

/// Traffic from one time on.
struct Phase {
    /// First cycle.
    from: Cycle,
    load: f64,
    pace: Pace,
    pattern: Box<dyn Pattern>,
    /// Share of the hosts that have anybody to send to.
    senders: f64,
}

/// The traffic of every host, resolved.
pub struct Workload {
    sizes: Sizes,
    phases: Vec<Phase>,
    hotspots: hotspots::Hotspots,
    /// Cycles that a phit takes on the link of a host.
    period: Cycle,
    streams: Vec<TrafficStream>,
}

/// A packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Destination host.
    pub destination: HostId,
    /// Phits.
    pub size: u16,
}

/// The generator of one host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Source {
    rng: Stream,
    /// Packets left in the current burst, and its destination.
    burst: u32,
    destination: HostId,
    /// Phits of the last packet (0 at the beginning), and the part of a cycle that its successor is
    /// behind, in units of 2^-32.
    size: u16,
    behind: u32,
}

impl Workload {
    /// Resolves the traffic of all hosts, with links of a phit a cycle and one class of service. Changes are
    /// relative to `measure_from`, which is `None` if it is not known in advance.
    ///
    /// # Errors
    /// The first thing that is impossible, with its path below `traffic`.
    pub fn build(
        spec: &spec::Traffic,
        scale: &Scale,
        setting: &Setting<'_>,
        measure_from: Option<Cycle>,
    ) -> Result<Self, SpecError> {
        Self::build_for(&Senders::default(), spec, scale, setting, measure_from)
    }

    /// The same for some hosts.
    ///
    /// # Errors
    /// As [`Workload::build`].
    pub fn build_for(
        senders: &Senders<'_>,
        spec: &spec::Traffic,
        scale: &Scale,
        setting: &Setting<'_>,
        measure_from: Option<Cycle>,
    ) -> Result<Self, SpecError> {
        let (sizes, period) =
            (Sizes::build(&spec.packet_size, "traffic.packet_size", scale)?, senders.period);
        let build = |from, load, load_path: &str, shape: &spec::Pattern, pattern_path: &str| {
            let (injection, injection_path) = (&spec.injection, "traffic.injection");
            let asked = Asked { load, load_path, injection, injection_path };
            let pace = Pace::of(&asked, sizes.mean(), period)?;
            let pattern = pattern(shape, pattern_path, setting)?;
            let hosts = setting.topology.hosts();
            let sends = |host: &u32| pattern.sends(HostId(*host)) && (senders.free)(HostId(*host));
            let sending = (0..hosts).filter(sends).count();
            Ok(Phase { from, load, pace, pattern, senders: sending as f64 / f64::from(hosts) })
        };
        let (mut load, mut shape) = (spec.load, &spec.pattern);
        let mut phases = vec![build(0, load, "traffic.load", shape, "traffic.pattern")?];
        for (i, change) in spec.then.iter().enumerate() {
            let path = format!("traffic.then[{i}]");
            let Some(start) = measure_from else {
                let message = "a change needs a warm-up of fixed length to be counted from";
                return Err(SpecError::new(path, message).choices(["run.warmup = 60000"]));
            };
            let at = scale.cycles(&format!("{path}.at"), &change.at)?;
            let from = u32::try_from(at.saturating_add(start.into())).unwrap_or(Cycle::MAX);
            if phases.last().is_some_and(|last| from < last.from) {
                let message = format!("{} is before the previous change", change.at);
                return Err(SpecError::new(format!("{path}.at"), message));
            }
            load = change.load.unwrap_or(load);
            shape = change.pattern.as_ref().unwrap_or(shape);
            let (load_path, pattern_path) = (format!("{path}.load"), format!("{path}.pattern"));
            phases.push(build(from, load, &load_path, shape, &pattern_path)?);
        }
        let sends = &|host| phases.iter().any(|phase| phase.pattern.sends(host));
        let site = hotspots::Site { scale, setting, measure_from, sends };
        let hotspots = hotspots::Hotspots::build(&spec.hotspots, &site)?;
        let mut own = Self { sizes, phases, hotspots, period, streams: Vec::new() };
        let site = hotspots::Site { scale, setting, measure_from, sends: &|_| true };
        own.streams = streams::build(spec, &own, senders, &site)?;
        Ok(own)
    }

    /// Cycles that a phit takes on the link of a host.
    pub fn period(&self) -> Cycle {
        self.period
    }

    /// The streams.
    pub fn streams(&self) -> &[TrafficStream] {
        &self.streams
    }

    /// This traffic and that of each of its streams.
    fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.streams.iter().map(TrafficStream::workload))
    }

    /// Smallest and largest packet in phits.
    pub fn packet_sizes(&self) -> (u16, u16) {
        let sizes = |own: &Self| (own.sizes.min(), own.sizes.max());
        let wider = |a: (u16, u16), b: (u16, u16)| (a.0.min(b.0), a.1.max(b.1));
        self.all().map(sizes).reduce(wider).unwrap_or((1, 1))
    }

    /// Mean size of a packet in phits; each traffic counts as it is offered in the beginning.
    pub(crate) fn mean_size(&self) -> f64 {
        let loads = || self.all().map(|own| (own.phases[0].load, own.sizes.mean()));
        let (load, phits) =
            loads().fold((0.0, 0.0), |sum, (load, mean)| (sum.0 + load / mean, sum.1 + load));
        if load > 0.0 { phits / load } else { self.sizes.mean() }
    }

    /// Does nobody ever send anything?
    pub fn is_silent(&self) -> bool {
        self.all().flat_map(|own| &own.phases).all(|phase| matches!(phase.pace, Pace::Silent))
    }

    /// Does `host` ever have anybody to send to?
    pub fn sends(&self, host: HostId) -> bool {
        self.all().flat_map(|own| &own.phases).any(|phase| phase.pattern.sends(host))
    }

    /// Does any of it come in bursts?
    pub(crate) fn has_bursts(&self) -> bool {
        self.all().flat_map(|own| &own.phases).any(|phase| matches!(phase.pace, Pace::OnOff { .. }))
    }

    /// Most hosts that a source sends to; `None` if any host may be one.
    pub(crate) fn fan_out(&self) -> Option<u32> {
        let of_phases = self.phases.iter().map(|phase| phase.pattern.fan_out());
        of_phases.sum()
    }

    /// Mean offered load over all hosts, the silent ones included, and the cycles `from..to`, in phits per cycle.
    pub fn offered(&self, from: Cycle, to: Cycle) -> f64 {
        self.all().map(|own| own.own_offered(from, to)).sum()
    }

    /// The same without its streams.
    fn own_offered(&self, from: Cycle, to: Cycle) -> f64 {
        let mut sum = 0.0;
        for (i, phase) in self.phases.iter().enumerate() {
            let end = self.phases.get(i + 1).map_or(Cycle::MAX, |next| next.from);
            let cycles = end.min(to).saturating_sub(phase.from.max(from));
            sum += phase.load * phase.senders * f64::from(cycles);
        }
        sum / f64::from(to - from) / f64::from(self.period)
    }

    /// Does the traffic change between two cycles?
    pub fn changes(&self, from: Cycle, to: Cycle) -> bool {
        self.all().flat_map(|own| &own.phases).any(|phase| phase.from > from && phase.from < to)
    }

    /// The generator of `host`, and the cycle of its first packet; not those of streams.
    pub fn source(&self, host: HostId, seed: u64) -> (Source, Cycle) {
        self.begin(host, Stream::new(seed, Owner::Host(host.0)))
    }

    /// Lets the generator of `host` begin again in a cycle, with the draws of another seed if there is one. Returns the cycle of
    /// its next packet.
    pub(crate) fn restart(
        &self,
        host: HostId,
        source: &mut Source,
        (now, seed): (Cycle, Option<u64>),
    ) -> Cycle {
        if let Some(seed) = seed {
            source.rng = Stream::new(seed, Owner::Host(host.0));
        }
        (source.burst, source.size, source.behind) = (0, 0, 0);
        self.next_from(now, host, source)
    }

    /// A generator that draws from `rng`.
    fn begin(&self, host: HostId, rng: Stream) -> (Source, Cycle) {
        let mut source = Source { rng, burst: 0, destination: host, size: 0, behind: 0 };
        let first = self.next_from(0, host, &mut source);
        (source, first)
    }

    /// The packet that `host` wants to send at `now`.
    pub fn demand(&self, host: HostId, source: &mut Source, now: Cycle) -> Demand {
        let phase = &self.phases[self.phase(now)];
        let hot = self.hotspots.draw(host, now, &mut source.rng);
        let destination = hot.unwrap_or_else(|| match phase.pace {
            Pace::OnOff { .. } => source.destination,
            _ => phase.pattern.draw(host, &mut source.rng),
        });
        source.size = self.sizes.draw(&mut source.rng);
        Demand { destination, size: source.size }
    }

    /// The cycle of the first packet after `now`, or from cycle 0 on; `Cycle::MAX` if there is
    /// none. The host `sends`.
    #[inline]
    pub fn next(&self, host: HostId, source: &mut Source, now: Option<Cycle>) -> Cycle {
        // The process starts in the cycle after `now`, and anew at each change of phase.
        let start = now.map_or(0, |now| now.saturating_add(1));
        match &self.phases[..] {
            // Mostly there is one phase, and nothing to remember.
            [Phase { pace: Pace::Bernoulli(law), .. }] => {
                start.saturating_add(law.draw(&mut source.rng) - 1)
            }
            _ => self.next_from(start, host, source),
        }
    }

    /// The cycle of the first packet from `start` on.
    fn next_from(&self, mut start: Cycle, host: HostId, source: &mut Source) -> Cycle {
        let mut index = self.phase(start);
        loop {
            let phase = &self.phases[index];
            let wait = phase.wait(host, source, &self.sizes);
            let at = wait.map_or(Cycle::MAX, |wait| start.saturating_add(wait - 1));
            match self.phases.get(index + 1) {
                Some(next) if at >= next.from => {
                    (start, index) = (next.from, index + 1);
                    (source.burst, source.size, source.behind) = (0, 0, 0);
                }
                _ => return at,
            }
        }
    }

    #[inline]
    fn phase(&self, now: Cycle) -> usize {
        self.phases.partition_point(|phase| phase.from <= now) - 1
    }
}

impl Phase {
    /// Waiting time to the next packet, at least 1.
    fn wait(&self, host: HostId, source: &mut Source, sizes: &Sizes) -> Option<u32> {
        if !self.pattern.sends(host) {
            return None;
        }
        self.pace.wait(host, source, (&*self.pattern, sizes))
    }
}
