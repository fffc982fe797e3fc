//! Sizes of packets.

use super::{spec, weigh};
use crate::rng::Stream;
use crate::spec::{Quantity, Scale, SpecError};

/// Distribution of packet sizes in phits.
#[derive(Clone, Debug)]
pub(super) enum Sizes {
    Fixed(u16),
    Uniform { min: u16, span: u32 },
    Mix { total: u32, sizes: Vec<(u32, u16)> },
}

impl Sizes {
    /// The distribution that stands at a path of the spec.
    pub(super) fn build(
        spec: &spec::PacketSize,
        path: &str,
        scale: &Scale,
    ) -> Result<Self, SpecError> {
        let phits = |path: &str, quantity: &Quantity| {
            let size = scale.phits(path, quantity)?;
            u16::try_from(size).ok().filter(|s| *s > 0).ok_or_else(|| {
                let message = format!("{size} phits is no packet size");
                SpecError::new(path, message).choices(["1 to 65535 phits"])
            })
        };
        match spec {
            spec::PacketSize::Fixed(size) => Ok(Self::Fixed(phits(path, size)?)),
            spec::PacketSize::Uniform(range) => {
                let min = phits(&format!("{path}.min"), &range.min)?;
                let max = phits(&format!("{path}.max"), &range.max)?;
                if max < min {
                    let message = format!("{max} phits is less than min = {min}");
                    return Err(SpecError::new(format!("{path}.max"), message));
                }
                Ok(Self::Uniform { min, span: u32::from(max - min) + 1 })
            }
            spec::PacketSize::Mix(list) => {
                let mut total = 0u32;
                let mut sizes = Vec::new();
                for (i, entry) in list.iter().enumerate() {
                    total = weigh(total, entry.weight, &format!("{path}[{i}].weight"))?;
                    sizes.push((total, phits(&format!("{path}[{i}].size"), &entry.size)?));
                }
                if sizes.is_empty() {
                    return Err(SpecError::new(path, "an empty list has no packet size"));
                }
                Ok(Self::Mix { total, sizes })
            }
        }
    }

    pub(super) fn mean(&self) -> f64 {
        match self {
            Self::Fixed(size) => f64::from(*size),
            Self::Uniform { min, span } => f64::from(*min) + f64::from(span - 1) / 2.0,
            Self::Mix { total, sizes } => {
                let mut before = 0;
                let sum: f64 = sizes
                    .iter()
                    .map(|(upto, size)| {
                        let weight = upto - std::mem::replace(&mut before, *upto);
                        f64::from(weight) * f64::from(*size)
                    })
                    .sum();
                sum / f64::from(*total)
            }
        }
    }

    pub(super) fn max(&self) -> u16 {
        match self {
            Self::Fixed(size) => *size,
            Self::Uniform { min, span } => min + (span - 1) as u16,
            Self::Mix { sizes, .. } => sizes.iter().map(|(_, size)| *size).max().unwrap_or(1),
        }
    }

    pub(super) fn min(&self) -> u16 {
        match self {
            Self::Fixed(size) => *size,
            Self::Uniform { min, .. } => *min,
            Self::Mix { sizes, .. } => sizes.iter().map(|(_, size)| *size).min().unwrap_or(1),
        }
    }

    #[inline]
    pub(super) fn draw(&self, rng: &mut Stream) -> u16 {
        match self {
            Self::Fixed(size) => *size,
            Self::Uniform { min, span } => min + rng.below(*span) as u16,
            Self::Mix { total, sizes } => {
                let ticket = rng.below(*total);
                sizes[sizes.partition_point(|(upto, _)| *upto <= ticket)].1
            }
        }
    }
}
