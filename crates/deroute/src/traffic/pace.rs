//! When a host generates packets while the load does not change.

use super::sizes::Sizes;
use super::{Pattern, Source, spec};
use crate::ids::{Cycle, HostId};
use crate::rng::Geometric;
use crate::spec::SpecError;

/// Waiting times between packets.
pub(super) enum Pace {
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

/// A share of the link of a host, and how it is filled, with their paths in the spec.
pub(super) struct Asked<'a> {
    pub(super) load: f64,
    pub(super) load_path: &'a str,
    pub(super) injection: &'a spec::Injection,
    pub(super) injection_path: &'a str,
}

impl Pace {
    /// Packets of a mean size on links where a phit takes `period` cycles.
    ///
    /// # Errors
    /// Loads, bursts and peaks that are out of range.
    pub(super) fn of(asked: &Asked<'_>, mean_size: f64, period: Cycle) -> Result<Self, SpecError> {
        let Asked { load, load_path, injection, injection_path } = *asked;
        if !(0.0..=1.0).contains(&load) {
            let message = format!("{load} is not a fraction of the link rate");
            return Err(SpecError::new(load_path, message).choices(["0.0 to 1.0"]));
        }
        // Cycles that a packet takes on the link.
        let mean_time = mean_size * f64::from(period);
        let Some(mean) = Geometric::new(load / mean_time) else { return Ok(Self::Silent) };
        let (burst, peak) = match injection {
            spec::Injection::Bernoulli => return Ok(Self::Bernoulli(mean)),
            // At most 2^32 period / load <= 2^32 * 2^60 / mean size: the cast is exact enough, and never
            // saturates.
            spec::Injection::Paced => {
                return Ok(Self::Paced((2f64.powi(32) * f64::from(period) / load) as u128));
            }
            spec::Injection::OnOff { burst, peak } => (burst, peak),
        };
        let at = |key: &str| format!("{injection_path}.on_off.{key}");
        if !(1.0..=1e9).contains(burst) {
            let message = format!("{burst} packets are no burst");
            return Err(SpecError::new(at("burst"), message).choices(["1.0 to 1e9"]));
        }
        if !(load..=1.0).contains(peak) {
            let message = format!("{peak} cannot give a mean load of {load}");
            return Err(SpecError::new(at("peak"), message).choices([format!("{load} to 1.0")]));
        }
        // A burst and its silence last as long as its packets at the mean load.
        let silence = burst * mean_time * (1.0 / load - 1.0 / peak);
        let laws = (Geometric::new(peak / mean_time), Geometric::new(1.0 / (silence + 1.0)));
        let (Some(peak), Some(silence), Some(burst)) =
            (laws.0, laws.1, Geometric::new(1.0 / burst))
        else {
            return Ok(Self::Silent);
        };
        Ok(Self::OnOff { peak, silence, burst })
    }

    /// Waiting time to the next packet of a host that sends under the pattern, at least 1.
    pub(super) fn wait(
        &self,
        host: HostId,
        source: &mut Source,
        (pattern, sizes): (&dyn Pattern, &Sizes),
    ) -> Option<u32> {
        match self {
            Self::Silent => None,
            Self::Bernoulli(law) => Some(law.draw(&mut source.rng)),
            Self::Paced(per_phit) if source.size == 0 => {
                // The first: anywhere within the interval of the largest packet.
                let interval = per_phit * u128::from(sizes.max());
                let start = (u128::from(source.rng.bits()) * interval.min(1 << 64)) >> 64;
                source.behind = start as u32;
                Some(u32::try_from((start >> 32) + 1).unwrap_or(u32::MAX))
            }
            Self::Paced(per_phit) => {
                let interval = per_phit * u128::from(source.size) + u128::from(source.behind);
                source.behind = interval as u32;
                Some(u32::try_from(interval >> 32).unwrap_or(u32::MAX))
            }
            Self::OnOff { peak, silence, burst } => {
                let mut wait = peak.draw(&mut source.rng);
                if source.burst == 0 {
                    source.burst = burst.draw(&mut source.rng);
                    source.destination = pattern.draw(host, &mut source.rng);
                    wait = wait.saturating_add(silence.draw(&mut source.rng) - 1);
                }
                source.burst -= 1;
                Some(wait)
            }
        }
    }
}
