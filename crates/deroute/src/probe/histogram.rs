//! Histograms of cycles. In a checkpoint they are the counts that are not 0.

use hdrhistogram::Histogram;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Significant decimal digits.
pub(crate) const DIGITS: u8 = 2;

/// An empty one.
pub(crate) fn new() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 1 << 32, DIGITS)
        .unwrap_or_else(|_| unreachable!("constant bounds are valid"))
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
