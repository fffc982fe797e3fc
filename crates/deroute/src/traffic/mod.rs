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
mod pairs;
mod permutation;
mod ring;
mod shift;
mod shuffle;
mod sizes;
pub mod spec;
mod tornado;
mod transpose;
mod uniform;
mod weighted;

use self::sizes::Sizes;
use crate::ids::{Cycle, HostId};
use crate::rng::{Geometric, Owner, Stream};
use crate::spec::{Scale, SpecError};
use crate::topology::Topology;

/// Chooses destinations.
pub trait Pattern: Send + Sync {
    /// Draws the destination of a packet from `source`, which `sends`; never `source` itself.
    fn draw(&self, source: HostId, rng: &mut Stream) -> HostId;

    /// Has `source` anybody to send to? Every host has, by default; one that has not is silent.
    fn sends(&self, _source: HostId) -> bool {
        true
    }
}

/// What a pattern is built from.
pub struct Setting<'a> {
    /// The wiring.
    pub topology: &'a dyn Topology,
    /// Seed of the run.
    pub seed: u64,
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

/// Waiting times between packets while the load does not change.
enum Pace {
    /// No traffic.
    Silent,
    /// One process.
    Bernoulli(Geometric),
    /// Cycles between the packets of a host for each phit of the first, in units of 2^-32.
    Paced(u128),
    /// Bursts: the gap within one, the silence between two (a gap of 1 is none), and the law of
    /// the packets in a burst.
    OnOff { peak: Geometric, silence: Geometric, burst: Geometric },
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
#[derive(Clone, Debug)]
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
    /// Resolves the traffic. Changes are relative to `measure_from`, which is `None` if it is not
    /// known in advance.
    ///
    /// # Errors
    /// The first thing that is impossible, with its path below `traffic`.
    pub fn build(
        spec: &spec::Traffic,
        scale: &Scale,
        setting: &Setting<'_>,
        measure_from: Option<Cycle>,
    ) -> Result<Self, SpecError> {
        let sizes = Sizes::build(&spec.packet_size, scale)?;
        let build = |from, load, load_path: &str, shape: &spec::Pattern, pattern_path: &str| {
            let pace = pace(&spec.injection, load, load_path, sizes.mean())?;
            let pattern = pattern(shape, pattern_path, setting)?;
            let hosts = setting.topology.hosts();
            let sending = (0..hosts).filter(|host| pattern.sends(HostId(*host))).count();
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
        Ok(Self { sizes, phases, hotspots })
    }

    /// Smallest and largest packet in phits.
    pub fn packet_sizes(&self) -> (u16, u16) {
        (self.sizes.min(), self.sizes.max())
    }

    /// Does nobody ever send anything?
    pub fn is_silent(&self) -> bool {
        self.phases.iter().all(|phase| matches!(phase.pace, Pace::Silent))
    }

    /// Does `host` ever have anybody to send to?
    pub fn sends(&self, host: HostId) -> bool {
        self.phases.iter().any(|phase| phase.pattern.sends(host))
    }

    /// Mean offered load over all hosts, the silent ones included, and the cycles `from..to`.
    pub fn offered(&self, from: Cycle, to: Cycle) -> f64 {
        let mut sum = 0.0;
        for (i, phase) in self.phases.iter().enumerate() {
            let end = self.phases.get(i + 1).map_or(Cycle::MAX, |next| next.from);
            let cycles = end.min(to).saturating_sub(phase.from.max(from));
            sum += phase.load * phase.senders * f64::from(cycles);
        }
        sum / f64::from(to - from)
    }

    /// Does the traffic change between two cycles?
    pub fn changes(&self, from: Cycle, to: Cycle) -> bool {
        self.phases.iter().any(|phase| phase.from > from && phase.from < to)
    }

    /// The generator of `host`, and the cycle of its first packet.
    pub fn source(&self, host: HostId, seed: u64) -> (Source, Cycle) {
        let rng = Stream::new(seed, Owner::Host(host.0));
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
        match &self.pace {
            Pace::Silent => None,
            Pace::Bernoulli(law) => Some(law.draw(&mut source.rng)),
            Pace::Paced(per_phit) if source.size == 0 => {
                // The first: anywhere within the interval of the largest packet.
                let interval = per_phit * u128::from(sizes.max());
                let start = (u128::from(source.rng.bits()) * interval.min(1 << 64)) >> 64;
                source.behind = start as u32;
                Some(u32::try_from((start >> 32) + 1).unwrap_or(u32::MAX))
            }
            Pace::Paced(per_phit) => {
                let interval = per_phit * u128::from(source.size) + u128::from(source.behind);
                source.behind = interval as u32;
                Some(u32::try_from(interval >> 32).unwrap_or(u32::MAX))
            }
            Pace::OnOff { peak, silence, burst } => {
                let mut wait = peak.draw(&mut source.rng);
                if source.burst == 0 {
                    source.burst = burst.draw(&mut source.rng);
                    source.destination = self.pattern.draw(host, &mut source.rng);
                    wait = wait.saturating_add(silence.draw(&mut source.rng) - 1);
                }
                source.burst -= 1;
                Some(wait)
            }
        }
    }
}

fn pace(
    injection: &spec::Injection,
    load: f64,
    path: &str,
    mean_size: f64,
) -> Result<Pace, SpecError> {
    if !(0.0..=1.0).contains(&load) {
        let message = format!("{load} is not a fraction of the link rate");
        return Err(SpecError::new(path, message).choices(["0.0 to 1.0"]));
    }
    let Some(mean) = Geometric::new(load / mean_size) else { return Ok(Pace::Silent) };
    let (burst, peak) = match injection {
        spec::Injection::Bernoulli => return Ok(Pace::Bernoulli(mean)),
        // At most 2^32 / load <= 2^32 * 2^60 / mean size: the cast is exact enough, and never saturates.
        spec::Injection::Paced => return Ok(Pace::Paced((2f64.powi(32) / load) as u128)),
        spec::Injection::OnOff { burst, peak } => (burst, peak),
    };
    let at = |key: &str| format!("traffic.injection.on_off.{key}");
    if !(1.0..=1e9).contains(burst) {
        let message = format!("{burst} packets are no burst");
        return Err(SpecError::new(at("burst"), message).choices(["1.0 to 1e9"]));
    }
    if !(load..=1.0).contains(peak) {
        let message = format!("{peak} cannot give a mean load of {load}");
        return Err(SpecError::new(at("peak"), message).choices([format!("{load} to 1.0")]));
    }
    // A burst and its silence last as long as its packets at the mean load.
    let silence = burst * mean_size * (1.0 / load - 1.0 / peak);
    let laws = (Geometric::new(peak / mean_size), Geometric::new(1.0 / (silence + 1.0)));
    let (Some(peak), Some(silence), Some(burst)) = (laws.0, laws.1, Geometric::new(1.0 / burst))
    else {
        return Ok(Pace::Silent);
    };
    Ok(Pace::OnOff { peak, silence, burst })
}
