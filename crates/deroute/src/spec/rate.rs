//! Rates of links, which are whole fractions of the fastest one.

use super::{Quantity, Scale, SpecError};

/// Slowest link: cycles for a phit.
const SLOWEST: u64 = 1 << 12;

impl Scale {
    /// Cycles that a phit takes on a link of this rate: `"100 Gb/s"`, or a share such as `"25%"` or `"1/4"` of a
    /// phit a cycle.
    ///
    /// # Errors
    /// What is no such rate, and rates for which that is no whole number from 1 to 4096.
    pub fn period(&self, path: &str, rate: &Quantity) -> Result<u32, SpecError> {
        let full = 8.0 * self.phit_bytes() / self.cycle_ns();
        let refuse = |message: String, choices: Vec<String>| {
            Err(SpecError::new(path, message).choices(choices))
        };
        let Some((above, below)) = share(rate, self) else {
            let choices = ["\"100 Gb/s\"", "\"25%\"", "\"1/4\""].map(String::from).to_vec();
            return refuse(format!("{rate} is no rate"), choices);
        };
        if above == 0 {
            let message = "a link of no rate carries nothing".to_owned();
            return refuse(message, vec![format!("up to {full} Gb/s, the rate of a phit a cycle")]);
        }
        // Cycles for a phit: `below / above`.
        if below.is_multiple_of(above) && (1..=u128::from(SLOWEST)).contains(&(below / above)) {
            return Ok((below / above) as u32);
        }
        let nearest = (below / above).clamp(1, u128::from(SLOWEST)) as u64;
        let choices = [nearest, (nearest + 1).min(SLOWEST)];
        let name = |period: u64| format!("\"1/{period}\" ({:.4} Gb/s)", full / period as f64);
        let message = format!(
            "{rate} does not fit the cycle: a phit would take {:.4} cycles",
            below as f64 / above as f64
        );
        refuse(message, choices.map(name).to_vec())
    }

    /// A relative half-width of an interval, such as `"1%"`.
    ///
    /// # Errors
    /// What is no share from 0.1% to 50%.
    pub(crate) fn precision(&self, path: &str, width: &Quantity) -> Result<f64, SpecError> {
        let part = share(width, self).map(|(above, below)| above as f64 / below as f64);
        part.filter(|part| (0.001..=0.5).contains(part)).ok_or_else(|| {
            let message = format!("{width} is no width of an interval");
            SpecError::new(path, message).choices(["\"1%\", or another share from 0.1% to 50%"])
        })
    }

    /// Phits, and the cycles that they take at this rate, which may be above that of a phit a cycle.
    ///
    /// # Errors
    /// What is no such rate, 0, and less than a phit in 4096 cycles.
    pub(crate) fn pace(&self, path: &str, rate: &Quantity) -> Result<(u128, u128), SpecError> {
        let most = u128::from(SLOWEST);
        let fits = |(above, below): &(u128, u128)| *above > 0 && below / above <= most;
        share(rate, self).filter(fits).ok_or_else(|| {
            let message = format!("{rate} is no rate of at least a phit in {most} cycles");
            SpecError::new(path, message).choices(["\"450 GB/s\"", "\"900%\""])
        })
    }

    /// A rate as a share of a phit a cycle.
    ///
    /// # Errors
    /// What is no such rate, and a rate of 0.
    pub fn rate(&self, path: &str, rate: &Quantity) -> Result<f64, SpecError> {
        let share = share(rate, self).filter(|(above, _)| *above > 0);
        share.map(|(above, below)| above as f64 / below as f64).ok_or_else(|| {
            let message = format!("{rate} is no rate");
            SpecError::new(path, message).choices(["\"5 Mb/s\"", "\"1%\"", "\"1/1000\""])
        })
    }
}

/// A rate as a share of the full one, or nothing if it is no rate.
fn share(rate: &Quantity, scale: &Scale) -> Option<(u128, u128)> {
    let Quantity::Text(text) = rate else { return None };
    if let Some((above, below)) = text.split_once('/')
        && let (Ok(above), Ok(below)) = (above.trim().parse(), below.trim().parse::<u128>())
        && below > 0
    {
        return Some((above, below));
    }
    if let Some(percent) = text.strip_suffix('%') {
        let (value, unit) = super::quantity::split(percent)?;
        return unit.is_empty().then_some((value.num, value.den.checked_mul(100)?));
    }
    let bits = scale.bits_per_cycle(text)?;
    Some((bits.num, bits.den))
}
