//! How well the mean and the trend of a series are known whose values depend on earlier ones.
//!
//! Queues remember: what a network delivers in one moment resembles what it delivered a little
//! before, for hundreds to many thousands of cycles. The variance of a mean over `T` cycles is the
//! spectrum of the series at frequency 0 over `T`. Batch means take the spectrum at about `1/T` to
//! `20/T` for it, and are too small wherever it falls within that range.
//!
//! Here the cosine transforms of the series at the lowest frequencies, `k = 1, 2, ...` half periods
//! in the measurement, are independent normal variables whose variance is the spectrum there
//! (Mueller and Watson 2008). Their likelihood weighs spectra `S(0) / (1 + (k c)^2)^e` for
//! many corners `c`, exponents `e` and all `S(0)`; the interval is that of the mixture of Student's
//! distributions that follows. It widens by itself where the measurement is too short to tell how
//! far the spectrum still rises. `docs/decisions/0008-intervals-of-correlated-series.md` has the
//! coverage.

use std::f64::consts::{PI, SQRT_2};

/// Frequencies that are looked at: even, for the sum of [`student_tail`].
const FREQUENCIES: usize = 24;
/// Corners of the spectra, in half periods of the measurement: geometric between these.
const CORNERS: (f64, f64) = (0.02, 1.2);
const CORNERS_TRIED: i32 = 12;
/// Exponents: a network has waits of many lengths, so that its spectrum falls more slowly than
/// that of a single relaxation, whose exponent is 1.
const EXPONENTS: [f64; 3] = [0.6, 0.8, 1.0];
/// Weight of a spectrum that is flat, beside 1 for each corner, and the corner that it counts as.
const FLAT: (f64, f64) = (4.0, 0.01);
/// Probability that a value lies outside its confidence interval.
const OUTSIDE: f64 = 0.05;
/// Probability that a trend is called certain where there is none.
const FALSE_ALARM: f64 = 0.001;

/// How well a mean is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mean {
    /// Half-width of its 95% confidence interval, in the unit of the sum of the values.
    pub(crate) half_width: f64,
    /// Length of the series in correlation times, roughly: 50 and more are not told apart.
    pub(crate) correlation_times: f64,
}

/// A straight line through a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    /// Its rise from the beginning to the end, in the unit of the sum of the values.
    pub(crate) rise: f64,
    /// Half-width of the 95% confidence interval of the rise.
    pub(crate) half_width: f64,
    /// A series without a trend rises or falls so much by chance in one case of a thousand.
    pub(crate) certain: f64,
}

/// How well the mean is known of values that add up to nothing: deviations from it, in parts of
/// the series with these middles (0 is its beginning, 1 its end). `None` of a short series.
pub(crate) fn mean(middles: &[f64], values: &[f64]) -> Option<Mean> {
    let count = frequencies(values)?;
    let found: Vec<_> = (1..=count).map(|k| (k as f64, cosine(middles, values, k))).collect();
    let spectra = Spectra::of(&found);
    let half_width = spectra.bound(0.0, OUTSIDE);
    Some(Mean { half_width, correlation_times: PI / spectra.corner() })
}

/// The trend of such values.
pub(crate) fn line(middles: &[f64], values: &[f64]) -> Option<Line> {
    let count = frequencies(values)?;
    let first = cosine(middles, values, 1);
    // A line has the odd frequencies, with amplitudes as 1 / k^2.
    let bent = |k: usize| {
        let of_line = if k % 2 == 1 { first / (k * k) as f64 } else { 0.0 };
        (k as f64, cosine(middles, values, k) - of_line)
    };
    let found: Vec<_> = (2..=count + 1).map(bent).collect();
    let spectra = Spectra::of(&found);
    let per_amplitude = PI * PI / (2.0 * SQRT_2);
    Some(Line {
        rise: -per_amplitude * first,
        half_width: per_amplitude * spectra.bound(1.0, OUTSIDE),
        certain: per_amplitude * spectra.bound(1.0, FALSE_ALARM),
    })
}

/// As many frequencies as the values can tell apart.
fn frequencies(values: &[f64]) -> Option<usize> {
    let count = FREQUENCIES.min((values.len() / 2) & !1);
    (count >= FREQUENCIES / 3).then_some(count)
}

/// The cosine transform at `k` half periods.
fn cosine(middles: &[f64], values: &[f64], k: usize) -> f64 {
    let turn = PI * k as f64;
    let sum: f64 = middles.iter().zip(values).map(|(at, value)| (turn * at).cos() * value).sum();
    SQRT_2 * sum
}

/// One form of the spectrum.
struct Form {
    corner: f64,
    exponent: f64,
    weight: f64,
    /// Standard deviation at frequency 0.
    scale: f64,
}

impl Form {
    /// Its height at a frequency, relative to that at 0.
    fn height(&self, frequency: f64) -> f64 {
        (1.0 + (frequency * self.corner).powi(2)).powf(-self.exponent)
    }
}

/// The forms, weighed by what has been seen.
struct Spectra {
    forms: Vec<Form>,
    /// Degrees of freedom.
    freedom: usize,
}

impl Spectra {
    /// Weighs by amplitudes at some frequencies.
    fn of(found: &[(f64, f64)]) -> Self {
        let freedom = found.len();
        let mut forms = vec![Form { corner: FLAT.1, exponent: 0.0, weight: FLAT.0, scale: 0.0 }];
        for step in 0..CORNERS_TRIED {
            let part = f64::from(step) / f64::from(CORNERS_TRIED - 1);
            let corner = CORNERS.0 * (CORNERS.1 / CORNERS.0).powf(part);
            let weight = 1.0 / EXPONENTS.len() as f64;
            let forms_of = EXPONENTS.map(|exponent| Form { corner, exponent, weight, scale: 0.0 });
            forms.extend(forms_of);
        }
        let mut likelihoods = Vec::with_capacity(forms.len());
        for form in &mut forms {
            let (mut squares, mut heights) = (0.0, 0.0);
            for &(frequency, amplitude) in found {
                let height = form.height(frequency);
                squares += amplitude * amplitude / height;
                heights += height.ln();
            }
            form.scale = (squares / freedom as f64).sqrt();
            likelihoods.push(-0.5 * (heights + freedom as f64 * squares.max(1e-300).ln()));
        }
        let most = likelihoods.iter().copied().fold(f64::MIN, f64::max);
        for (form, likelihood) in forms.iter_mut().zip(&likelihoods) {
            form.weight *= (likelihood - most).exp();
        }
        // What never changes tells of no memory.
        if found.iter().all(|(_, amplitude)| *amplitude == 0.0) {
            forms.truncate(1);
        }
        let sum: f64 = forms.iter().map(|form| form.weight).sum();
        for form in &mut forms {
            form.weight /= sum;
        }
        Self { forms, freedom }
    }

    /// The size that an amplitude at this frequency exceeds with probability `tail`.
    fn bound(&self, frequency: f64, tail: f64) -> f64 {
        let deviations: Vec<(f64, f64)> = (self.forms.iter())
            .map(|form| (form.weight, form.scale * form.height(frequency).sqrt()))
            .collect();
        let widest = deviations.iter().map(|(_, deviation)| *deviation).fold(0.0, f64::max);
        let beyond = |size: f64| -> f64 {
            let tails = deviations.iter().map(|(weight, deviation)| {
                weight * student_tail(size / deviation.max(1e-300), self.freedom)
            });
            tails.sum()
        };
        let mut high = widest;
        while high > 0.0 && beyond(high) > tail {
            high *= 2.0;
        }
        let mut low = 0.0;
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if beyond(middle) > tail { low = middle } else { high = middle }
        }
        high
    }

    /// Mean corner.
    fn corner(&self) -> f64 {
        self.forms.iter().map(|form| form.weight * form.corner).sum()
    }
}

/// Probability that Student's t exceeds `t >= 0` in size, for an even number of degrees of freedom
/// (Abramowitz and Stegun 26.7.4).
fn student_tail(t: f64, freedom: usize) -> f64 {
    let n = freedom as f64;
    let squared_cosine = n / (n + t * t);
    let (mut term, mut sum) = (1.0, 1.0);
    for i in (2..freedom).step_by(2) {
        term *= (i - 1) as f64 / i as f64 * squared_cosine;
        sum += term;
    }
    1.0 - t / (n + t * t).sqrt() * sum
}

#[cfg(test)]
mod tests {
    use super::{line, mean, student_tail};

    /// Values between -1 and 1, as good as independent.
    fn noise(count: usize) -> Vec<f64> {
        let mut state = 12_345u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    /// Each value keeps `memory` of the one before.
    fn remembering(memory: f64, count: usize) -> Vec<f64> {
        let mut last = 0.0;
        let each = noise(count + 1_000).into_iter().map(|fresh| {
            last = memory * last + fresh;
            last
        });
        each.skip(1_000).collect()
    }

    fn middles(count: usize) -> Vec<f64> {
        (0..count).map(|i| (i as f64 + 0.5) / count as f64).collect()
    }

    fn centred(series: &[f64]) -> Vec<f64> {
        let centre = series.iter().sum::<f64>() / series.len() as f64;
        series.iter().map(|x| x - centre).collect()
    }

    #[test]
    fn tails_are_those_of_the_tables() {
        for (freedom, t) in [(2, 4.3027), (8, 2.3060), (24, 2.0639)] {
            assert!((student_tail(t, freedom) - 0.05).abs() < 1e-5, "{freedom}");
        }
        assert!((student_tail(3.7454, 24) - 0.001).abs() < 1e-6);
    }

    /// 200 values in each of 300 series, of which the mean is known to be 0.
    #[test]
    fn intervals_cover_what_they_say() {
        for (memory, least) in [(0.0, 0.93), (0.5, 0.93), (0.9, 0.93), (0.95, 0.91)] {
            let (series, at) = (remembering(memory, 60_000), middles(200));
            let covered = series.chunks(200).filter(|part| {
                let found = mean(&at, &centred(part)).unwrap();
                part.iter().sum::<f64>().abs() <= found.half_width
            });
            let share = covered.count() as f64 / 300.0;
            assert!((least..=0.99).contains(&share), "{memory}: {share}");
        }
    }

    #[test]
    fn correlation_times_are_counted() {
        let times = |memory| {
            let series = remembering(memory, 2_000);
            mean(&middles(2_000), &centred(&series)).unwrap().correlation_times
        };
        // 2,000 values of a memory that lasts for 1, 20 and 1,000 of them. Frequencies are low: half
        // of the 100 correlation times of the second are as much as they tell.
        let found = [times(0.4), times(0.95), times(0.999)];
        assert!(found[0] > 50.0 && found[2] < 6.0, "{found:?}");
        assert!((25.0..100.0).contains(&found[1]), "{found:?}");
    }

    #[test]
    fn lines_rise_as_they_do_and_noise_does_not() {
        let at = middles(200);
        for memory in [0.0, 0.5, 0.9] {
            let series = remembering(memory, 60_000);
            let certain = series.chunks(200).filter(|part| {
                let found = line(&at, &centred(part)).unwrap();
                found.rise.abs() > found.certain
            });
            let alarms = certain.count();
            assert!(alarms <= 3, "{memory}: {alarms} of 300");
            let part: Vec<f64> =
                (series.iter().zip(&at)).map(|(noise, at)| 60.0 * at + noise / 3.0).collect();
            let found = line(&at, &centred(&part)).unwrap();
            let rise = found.rise / 200.0;
            assert!((rise - 60.0).abs() < found.half_width / 200.0, "{memory}: {rise}");
            assert!(found.rise > found.certain, "{memory}: {found:?}");
        }
    }

    #[test]
    fn nothing_is_known_of_a_few_values_and_all_of_a_constant() {
        assert_eq!(mean(&middles(15), &noise(15)), None);
        let known = mean(&middles(100), &[0.0; 100]).unwrap();
        assert_eq!(known.half_width, 0.0);
    }
}
