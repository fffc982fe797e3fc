//! Whether a network has warmed up, by the mean latencies of intervals.

/// Fewest batches of five intervals that the warm-up is judged by: with fewer, the truncation could
/// hardly lie beyond the first half.
const FEWEST_FIVES: usize = 20;
/// Batches at the end that no truncation may reach into: few batches alone always look precise.
const LAST_FIVES: usize = 5;

/// MSER-5 (White, Cobb and Spratt 2000): averages the series in fives, finds the truncation that
/// minimises the standard error of what remains, and accepts if that truncation lies in the first
/// half.
pub(crate) fn mser_accepts(series: &[f64]) -> bool {
    let fives: Vec<f64> =
        series.chunks_exact(5).map(|five| five.iter().sum::<f64>() / 5.0).collect();
    if fives.len() < FEWEST_FIVES {
        return false;
    }
    let error = |rest: &[f64]| {
        let n = rest.len() as f64;
        let mean = rest.iter().sum::<f64>() / n;
        rest.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n * n)
    };
    let candidates = 0..=fives.len() - LAST_FIVES;
    let best = candidates.min_by(|&a, &b| error(&fives[a..]).total_cmp(&error(&fives[b..])));
    best.is_some_and(|cut| cut <= fives.len() / 2)
}

/// The least-squares line through the last `window` values does not rise.
pub(crate) fn stopped_growing(series: &[f64], window: usize) -> bool {
    let Some(first) = series.len().checked_sub(window) else { return false };
    let middle = (window - 1) as f64 / 2.0;
    let rise: f64 = series[first..].iter().zip(0..).map(|(y, i)| y * (f64::from(i) - middle)).sum();
    rise <= 0.0
}

#[cfg(test)]
mod tests {
    use super::{mser_accepts, stopped_growing};

    /// A deterministic value between 0 and 1 that follows no trend.
    fn wobble(i: usize) -> f64 {
        (i * 7919 % 101) as f64 / 101.0
    }

    #[test]
    fn mser_never_accepts_a_rising_series() {
        for length in 0..400 {
            let rising: Vec<f64> = (0..length).map(|i| i as f64 * 10.0 + wobble(i)).collect();
            assert!(!mser_accepts(&rising), "after {length} intervals");
        }
    }

    #[test]
    fn growth_stops_with_the_slope() {
        let rising: Vec<f64> = (0..50).map(|i| 2.0 * f64::from(i) + wobble(i as usize)).collect();
        assert!(!stopped_growing(&rising, 15));
        let bent: Vec<f64> = (0..50).map(|i| f64::from(i.min(20))).collect();
        assert!(!stopped_growing(&bent[..30], 15), "the window begins before the bend");
        assert!(stopped_growing(&bent, 15));
        assert!(!stopped_growing(&bent[..14], 15), "too short to judge");
    }

    #[test]
    fn mser_waits_for_the_transient_to_end() {
        let flat: Vec<f64> = (0..100).map(|i| 500.0 + wobble(i)).collect();
        assert!(mser_accepts(&flat));
        assert!(!mser_accepts(&flat[..99]), "too short to judge");
        let settling = |i: usize| 500.0 + wobble(i) + if i < 80 { 300.0 } else { 0.0 };
        let settled: Vec<f64> = (0..300).map(settling).collect();
        assert!(!mser_accepts(&settled[..120]), "most of it is transient");
        assert!(mser_accepts(&settled));
    }
}
