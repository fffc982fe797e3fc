//! Numbers that results list.

use super::precision;
use crate::outcome::{Latency, Percentile, SeriesColumns};
use crate::probe::collect::{Bins, Collector, Sums};
use crate::probe::histogram::{self, Latencies};

/// Percentiles that a result lists.
pub(super) const PERCENTS: [f64; 6] = [1.0, 25.0, 50.0, 95.0, 99.0, 99.9];

/// A mean; 0 of nothing.
pub(crate) fn ratio(sum: u64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / count as f64 }
}

/// The percentiles of a histogram whose largest value is known.
pub(crate) fn percentiles(latencies: &Latencies, max: u64) -> Vec<Percentile> {
    let histogram = latencies.histogram();
    let percentile = |percent| Percentile {
        percent,
        cycles: histogram.value_at_quantile(percent / 100.0).min(max),
    };
    PERCENTS.into_iter().map(percentile).collect()
}

/// The latency of all packets; a run that ends by itself has no steady state to know anything of.
pub(super) fn latency(total: &Collector, ends: bool) -> Latency {
    let sums = total.sums();
    let known = if ends { None } else { precision::latency(total) };
    Latency {
        mean: ratio(sums.latency, sums.packets),
        ci95: known.map_or(0.0, |known| known.half_width),
        correlation_times: known.map_or(0.0, |known| known.correlation_times),
        injection_mean: ratio(total.injection_latency, sums.packets),
        network_mean: ratio(sums.latency - total.injection_latency, sums.packets),
        min: if sums.packets == 0 { 0 } else { u64::from(total.min) },
        max: u64::from(total.max),
        percentiles: percentiles(&total.histogram, u64::from(total.max)),
        histogram_error: 10f64.powi(-i32::from(histogram::DIGITS)),
    }
}

/// A time series.
pub(super) fn columns(bins: &Bins) -> SeriesColumns {
    let column = |value: fn(&Sums) -> u64| bins.bins().iter().map(value).collect();
    SeriesColumns {
        packets: column(|sums| sums.packets),
        phits: column(|sums| sums.phits),
        latency_sum: column(|sums| sums.latency),
        nonminimal: column(|sums| sums.nonminimal),
    }
}
