//! Mixed traffic (MIX).
//!
//! # What it does
//! Each packet of each host follows one of several patterns, drawn by weight.
//!
//! # Source
//! Thesis 3.2.2.1.5.
//!
//! # Parameters
//! A list of `{ weight, pattern }`; weights are relative whole numbers.
//!
//! # Limits
//! A mix within a mix is refused.
//!
//! # Example
//! ```toml
//! pattern = { mix = [
//!     { weight = 1, pattern = "uniform" },
//!     { weight = 1, pattern = { adversarial = { offset = 1 } } },
//! ] }
//! ```

use super::{Pattern, Setting, pattern, spec, weigh};
use crate::ids::HostId;
use crate::rng::Stream;
use crate::spec::SpecError;

struct Mix {
    total: u32,
    /// Running totals of the weights, with their patterns.
    parts: Vec<(u32, Box<dyn Pattern>)>,
}

pub(super) fn build(
    shares: &[spec::Share],
    path: &str,
    setting: &Setting<'_>,
) -> Result<Box<dyn Pattern>, SpecError> {
    let mut mix = Mix { total: 0, parts: Vec::new() };
    for (i, share) in shares.iter().enumerate() {
        let at = format!("{path}.mix[{i}]");
        if matches!(share.pattern, spec::Pattern::Mix(_)) {
            let message = "a mix within a mix: multiply the weights instead";
            return Err(SpecError::new(format!("{at}.pattern"), message));
        }
        mix.total = weigh(mix.total, share.weight, &format!("{at}.weight"))?;
        mix.parts.push((mix.total, pattern(&share.pattern, &format!("{at}.pattern"), setting)?));
    }
    if mix.parts.is_empty() {
        return Err(SpecError::new(format!("{path}.mix"), "an empty mix sends nothing"));
    }
    Ok(Box::new(mix))
}

impl Pattern for Mix {
    fn draw(&self, source: HostId, rng: &mut Stream) -> HostId {
        let ticket = rng.below(self.total);
        let part = self.parts.partition_point(|(upto, _)| *upto <= ticket);
        self.parts[part].1.draw(source, rng)
    }
}
