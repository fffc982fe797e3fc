//! How well the means of a result are known, and whether they changed while they were measured.

use crate::outcome::Trend;
use crate::probe::collect::Collector;
use crate::probe::spectrum::{self, Line, Mean};

/// A line through a quantity, and what it says of the steadiness of the network. In fractions of
/// the mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) rise: f64,
    pub(super) half_width: f64,
    /// Beyond what happens by chance in one case of a thousand.
    pub(super) certain: bool,
}

/// What changed during the measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changes {
    pub(super) latency: Change,
    pub(super) in_flight: Change,
    /// The packets in the network became more, less and less quickly.
    pub(super) fading: bool,
}

/// Growth in the second half of the measurement below this share of that in the first one fades.
const FADING: f64 = 0.5;

impl Change {
    fn of(line: Line, sum: f64) -> Self {
        let certain = line.rise.abs() > line.certain;
        Self { rise: line.rise / sum, half_width: line.half_width / sum, certain }
    }
}

impl Changes {
    pub(super) fn of(total: &Collector, in_flight: &[u64]) -> Option<Self> {
        let latency = spectrum::line(&middles(total), &latencies(total))?;
        let counts: Vec<f64> = in_flight.iter().map(|count| *count as f64).collect();
        let last = counts.len().checked_sub(1)? as f64;
        let at: Vec<f64> = (0..counts.len()).map(|i| i as f64 / last.max(1.0)).collect();
        let sum = counts.iter().sum::<f64>();
        let mean = sum / counts.len() as f64;
        let deviations: Vec<f64> = counts.iter().map(|count| beyond(*count, mean)).collect();
        let in_flight = spectrum::line(&at, &deviations)?;
        Some(Self {
            latency: Change::of(latency, (total.sums().latency as f64).max(1.0)),
            in_flight: Change::of(in_flight, sum.max(1.0)),
            fading: fading(&counts),
        })
    }

    pub(super) fn trend(&self) -> Trend {
        Trend {
            latency: self.latency.rise,
            latency_ci95: self.latency.half_width,
            in_flight: self.in_flight.rise,
            in_flight_ci95: self.in_flight.half_width,
        }
    }
}

/// Compares the growth between the quarters of each half.
fn fading(counts: &[f64]) -> bool {
    let quarter = counts.len() / 4;
    let mean = |from: usize| counts[from..from + quarter].iter().sum::<f64>() / quarter as f64;
    if quarter == 0 {
        return false;
    }
    let end = counts.len() - quarter;
    let early = mean(quarter) - mean(0);
    let late = mean(end) - mean(end - quarter);
    late < FADING * early
}

/// The middle of each batch, from 0 to 1.
fn middles(total: &Collector) -> Vec<f64> {
    let cycles = f64::from(total.to - total.from);
    lengths(total)
        .scan(0.0, |start, length| {
            let middle = *start + length / 2.0;
            *start += length;
            Some(middle / cycles)
        })
        .collect()
}

/// Cycles in each batch.
fn lengths(total: &Collector) -> impl Iterator<Item = f64> {
    let (cycles, width) = (total.to - total.from, 1 << total.batch_bits);
    (0..total.batches.len() as u32).map(move |i| f64::from((cycles - i * width).min(width)))
}

/// By how much the latencies in each batch add up to more than as many mean ones.
fn latencies(total: &Collector) -> Vec<f64> {
    let sums = total.sums();
    let mean = sums.latency as f64 / sums.packets.max(1) as f64;
    let of = total.batches.iter();
    of.map(|batch| beyond(batch.latency as f64, mean * batch.packets as f64)).collect()
}

/// By how much a value exceeds what is expected: by nothing if they only differ by how they are rounded.
fn beyond(value: f64, expected: f64) -> f64 {
    let off = value - expected;
    if off.abs() > 1e-12 * expected.abs() { off } else { 0.0 }
}

/// How well the mean latency is known, in cycles.
pub(super) fn latency(total: &Collector) -> Option<Mean> {
    let known = spectrum::mean(&middles(total), &latencies(total))?;
    let packets = total.sums().packets.max(1) as f64;
    Some(Mean { half_width: known.half_width / packets, ..known })
}

/// How well the accepted load is known, in phits per cycle of the whole network.
pub(super) fn accepted(total: &Collector) -> Option<Mean> {
    let cycles = f64::from(total.to - total.from);
    let rate = total.sums().phits as f64 / cycles;
    let batches = total.batches.iter().zip(lengths(total));
    let phits: Vec<f64> =
        batches.map(|(batch, length)| beyond(batch.phits as f64, rate * length)).collect();
    let known = spectrum::mean(&middles(total), &phits)?;
    Some(Mean { half_width: known.half_width / cycles, ..known })
}

#[cfg(test)]
mod tests {
    use super::fading;

    #[test]
    fn growth_that_slows_down_fades() {
        let counts = |law: fn(f64) -> f64| -> Vec<f64> {
            (0..64).map(|i| law(f64::from(i) / 64.0)).collect()
        };
        assert!(fading(&counts(|t| 1.0 - (-3.0 * t).exp())));
        assert!(!fading(&counts(|t| 100.0 + t)));
        assert!(!fading(&counts(|t| t * t)));
        assert!(!fading(&[1.0, 2.0]));
    }
}
