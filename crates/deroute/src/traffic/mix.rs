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
//! A mix within a mix is refused. A host to which some of the patterns give no destination follows the
//! others only, by their weights.
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

/// Patterns and their weights, whose sum is below 2^32.
struct Mix {
    parts: Vec<(u32, Box<dyn Pattern>)>,
}

pub(super) fn build(
    shares: &[spec::Share],
    path: &str,
    setting: &Setting<'_>,
) -> Result<Box<dyn Pattern>, SpecError> {
    let (mut parts, mut total) = (Vec::new(), 0);
    for (i, share) in shares.iter().enumerate() {
        let at = format!("{path}.mix[{i}]");
        if matches!(share.pattern, spec::Pattern::Mix(_)) {
            let message = "a mix within a mix: multiply the weights instead";
            return Err(SpecError::new(format!("{at}.pattern"), message));
        }
        total = weigh(total, share.weight, &format!("{at}.weight"))?;
        let pattern = pattern(&share.pattern, &format!("{at}.pattern"), setting)?;
        parts.push((share.weight, pattern));
    }
    if parts.is_empty() {
        return Err(SpecError::new(format!("{path}.mix"), "an empty mix sends nothing"));
    }
    Ok(Box::new(Mix { parts }))
}

impl Pattern for Mix {
    fn draw(&self, source: HostId, rng: &mut Stream) -> HostId {
        let mut parts = self.parts.iter().filter(|(_, pattern)| pattern.sends(source));
        let total = parts.clone().map(|(weight, _)| weight).sum();
        let mut ticket = rng.below(total);
        let chosen = parts.find(|(weight, _)| {
            let found = ticket < *weight;
            ticket = ticket.saturating_sub(*weight);
            found
        });
        chosen.map_or(source, |(_, pattern)| pattern.draw(source, rng))
    }

    fn sends(&self, source: HostId) -> bool {
        self.parts.iter().any(|(_, pattern)| pattern.sends(source))
    }
}
