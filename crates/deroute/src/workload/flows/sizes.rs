//! Sizes of flows: an empirical distribution, even between its points.

use super::Site;
use super::spec::FlowSizes;
use crate::rng::Stream;
use crate::spec::{Quantity, SpecError};

const WEB_SEARCH: &str = include_str!("data/web-search.csv");
const DATA_MINING: &str = include_str!("data/data-mining.csv");

/// Points of the distribution: phits, and the share of the flows that are not larger.
pub(super) struct Sizes(Vec<(f64, f64)>);

impl Sizes {
    pub(super) fn build(spec: &FlowSizes, site: &Site<'_>) -> Result<Self, SpecError> {
        let points = match spec {
            FlowSizes::WebSearch => published(WEB_SEARCH),
            FlowSizes::DataMining => published(DATA_MINING),
            FlowSizes::Fixed(size) => {
                let phits = site.size("poisson.sizes.fixed", size)?;
                return Ok(Self(vec![(f64::from(phits), 1.0)]));
            }
            FlowSizes::List(points) => points.clone(),
            FlowSizes::File(file) => {
                let message = format!("{file:?}: the engine reads no files");
                let error = SpecError::new(format!("{}.poisson.sizes.file", site.path), message);
                return Err(error.choices(["list"]));
            }
        };
        Self::of_points(&points, site)
    }

    fn of_points(points: &[(Quantity, f64)], site: &Site<'_>) -> Result<Self, SpecError> {
        let path = format!("{}.poisson.sizes.list", site.path);
        let mut sizes = Vec::<(f64, f64)>::new();
        for (index, (size, share)) in points.iter().enumerate() {
            let phits = site.scale.phits_up(&format!("{path}[{index}][0]"), size)?;
            if phits >= 1 << 30 {
                let error = SpecError::new(
                    format!("{path}[{index}][0]"),
                    format!("{phits} phits is no size of a flow"),
                );
                return Err(error.choices(["1 to 1073741823 phits"]));
            }
            let before = sizes.last().copied().unwrap_or_default();
            if (phits as f64) < before.0 {
                let message = format!("{size} is less than the size before");
                let error = SpecError::new(format!("{path}[{index}][0]"), message);
                return Err(error.choices(["rising sizes"]));
            }
            if !(before.1..=1.0).contains(share) {
                let message = format!("{share} does not follow {}", before.1);
                let error = SpecError::new(format!("{path}[{index}][1]"), message);
                return Err(error.choices([format!("rising shares, {} to 1", before.1)]));
            }
            sizes.push((phits as f64, *share));
        }
        match sizes.last() {
            Some((most, 1.0)) if *most >= 1.0 => Ok(Self(sizes)),
            Some((_, last)) => {
                let place = format!("{path}[{}][1]", sizes.len() - 1);
                let message = format!("the last share is {last}: not all flows have a size");
                Err(SpecError::new(place, message).choices(["1"]))
            }
            None => Err(SpecError::new(path, "is empty").choices(["sizes and shares"])),
        }
    }

    /// The mean in phits, exactly that of what is drawn.
    pub(super) fn mean(&self) -> f64 {
        let mut before = (self.0[0].0, 0.0);
        let mut mean = 0.0;
        for &(phits, share) in &self.0 {
            // Whole phits, rounded up: evenly distributed on those behind the point before.
            let here =
                if phits > before.0 { (before.0 + phits + 1.0) / 2.0 } else { phits.max(1.0) };
            mean += (share - before.1) * here;
            before = (phits, share);
        }
        mean
    }

    pub(super) fn draw(&self, rng: &mut Stream) -> u32 {
        let ticket = rng.unit();
        let index = self.0.partition_point(|(_, share)| *share <= ticket);
        let (phits, share) = self.0[index.min(self.0.len() - 1)];
        let before = index.checked_sub(1).map_or((self.0[0].0, 0.0), |before| self.0[before]);
        let along = (ticket - before.1) / (share - before.1);
        ((before.0 + (phits - before.0) * along).ceil() as u32).max(1)
    }
}

/// A distribution that comes with the engine.
fn published(csv: &str) -> Vec<(Quantity, f64)> {
    let row = |line: &str| {
        let (bytes, share) = line.split_once(',')?;
        let share = share.parse().ok()?;
        Some((Quantity::from(format!("{} B", bytes.parse::<u64>().ok()?).as_str()), share))
    };
    csv.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Owner;
    use crate::spec::Scale;

    fn site(scale: &Scale) -> Site<'_> {
        Site { ranks: 2, seed: 1, class: 0, scale, path: "flows".into() }
    }

    /// The means are those of the published points, and what is drawn has them.
    #[test]
    fn published_distributions_have_their_means() {
        let scale = Scale::new("1 ns", "1 B").unwrap();
        for (spec, mean, points) in
            [(FlowSizes::WebSearch, 1_711_250.5, 12), (FlowSizes::DataMining, 12_658_199.1, 13)]
        {
            let sizes = Sizes::build(&spec, &site(&scale)).unwrap();
            assert_eq!(sizes.0.len(), points);
            assert!((sizes.mean() - mean).abs() < 1.0, "{spec:?}: {}", sizes.mean());
            let mut rng = Stream::new(1, Owner::Flows(0));
            let (draws, mut sum, mut squares) = (200_000, 0.0, 0.0);
            for _ in 0..draws {
                let size = f64::from(sizes.draw(&mut rng));
                (sum, squares) = (sum + size, squares + size * size);
            }
            let drawn = sum / f64::from(draws);
            let error = (squares / f64::from(draws) - drawn * drawn).sqrt() / 447.2;
            assert!((drawn - mean).abs() < 3.0 * error, "{spec:?}: {drawn} +- {error}");
        }
    }

    /// Steps and slopes.
    #[test]
    fn a_distribution_is_even_between_its_points() {
        let scale = Scale::new("1 ns", "1 B").unwrap();
        let list = vec![(1.into(), 0.5), (1.into(), 0.75), (11.into(), 1.0)];
        let sizes = Sizes::build(&FlowSizes::List(list), &site(&scale)).unwrap();
        assert_eq!(sizes.mean(), 0.75 + 0.25 * 6.5);
        let mut rng = Stream::new(1, Owner::Flows(0));
        let mut counts = [0; 12];
        (0..40_000).for_each(|_| counts[sizes.draw(&mut rng) as usize] += 1);
        assert!((counts[1] - 30_000_i32).abs() < 400, "{counts:?}");
        assert!(counts[2..].iter().all(|count| (count - 1000).abs() < 130), "{counts:?}");
    }
}
