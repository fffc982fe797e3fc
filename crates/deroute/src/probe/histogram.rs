//! Histograms of cycles. In a checkpoint they are the counts that are not 0.

use hdrhistogram::Histogram;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ids::Cycle;

/// Significant decimal digits.
pub(crate) const DIGITS: u8 = 2;

/// An empty one.
pub(crate) fn new() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 1 << 32, DIGITS)
        .unwrap_or_else(|_| unreachable!("constant bounds are valid"))
}

/// Counts of cycles in the places that a [`Histogram`] has for them, each with less work.
#[derive(Clone)]
pub(crate) struct Latencies {
    counts: Box<[u64]>,
}

impl Latencies {
    /// Cycles of which each has a place of its own; of greater ones two, four, and so on share one.
    const EXACT: u32 = 256;
    /// Bits of half of that.
    const HALF: u32 = 7;

    /// None.
    pub(crate) fn new() -> Self {
        Self { counts: vec![0; Self::place(Cycle::MAX) + 1].into() }
    }

    /// Where a number of cycles is counted.
    #[inline(always)]
    fn place(cycles: Cycle) -> usize {
        let shared = Self::EXACT.leading_zeros() + 1 - (cycles | (Self::EXACT - 1)).leading_zeros();
        ((shared << Self::HALF) + (cycles >> shared)) as usize
    }

    /// The least number of cycles that is counted at a place.
    fn least(place: usize) -> u64 {
        let shared = (place >> Self::HALF).saturating_sub(1);
        ((place - (shared << Self::HALF)) as u64) << shared
    }

    /// One more.
    #[inline(always)]
    pub(crate) fn record(&mut self, cycles: Cycle) {
        self.counts[Self::place(cycles)] += 1;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, other)| *own += other);
    }

    /// The same as a histogram.
    pub(crate) fn histogram(&self) -> Histogram<u64> {
        let mut histogram = new();
        let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        for (place, count) in counted {
            histogram.saturating_record_n(Self::least(place), *count);
        }
        histogram
    }
}

impl Serialize for Latencies {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        serialize(&self.histogram(), to)
    }
}

impl<'de> Deserialize<'de> for Latencies {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut latencies = Self::new();
        for step in deserialize(from)?.iter_recorded() {
            let cycles = Cycle::try_from(step.value_iterated_to()).unwrap_or(Cycle::MAX);
            latencies.counts[Self::place(cycles)] += step.count_at_value();
        }
        Ok(latencies)
    }
}

/// For `serde(with)`.
pub(crate) fn serialize<S: Serializer>(
    histogram: &Histogram<u64>,
    to: S,
) -> Result<S::Ok, S::Error> {
    let each = histogram.iter_recorded();
    let counts: Vec<(u64, u64)> =
        each.map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
    counts.serialize(to)
}

/// For `serde(with)`.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Histogram<u64>, D::Error> {
    let mut histogram = new();
    for (value, count) in Vec::<(u64, u64)>::deserialize(from)? {
        histogram.record_n(value, count).map_err(serde::de::Error::custom)?;
    }
    Ok(histogram)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All numbers of cycles that are few, and those around the ends of places.
    #[test]
    fn latencies_are_counted_as_a_histogram_does() {
        let near = (8..32).flat_map(|bit| [-1, 0, 1].map(|by| (1i64 << bit) + by));
        let spread = (0..2_000u64).map(|number| crate::rng::mix(number) as Cycle);
        let few = (0..3_000).chain([Cycle::MAX]);
        let all: Vec<Cycle> = few.chain(near.map(|cycles| cycles as Cycle)).chain(spread).collect();
        let (mut latencies, mut expected) = (Latencies::new(), new());
        for cycles in &all {
            latencies.record(*cycles);
            expected.saturating_record((*cycles).into());
        }
        let counts = |histogram: &Histogram<u64>| -> Vec<(u64, u64)> {
            let steps = histogram.iter_recorded();
            steps.map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
        };
        assert_eq!(counts(&latencies.histogram()), counts(&expected));
        let kept = postcard::to_extend(&latencies, Vec::new()).unwrap();
        let again: Latencies = postcard::from_bytes(&kept).unwrap();
        assert_eq!(again.counts, latencies.counts);
    }
}
