//! Numbers with units: a bare number is already in cycles or phits, a string carries its unit.
//!
//! Conversions are exact. `"15 ns"` with a 1 ns cycle is 15 cycles; `"15.5 ns"` is refused, because
//! no whole number of cycles equals it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::SpecError;
use crate::ids::Cycle;

/// A quantity as the user wrote it: `15` or `"15 ns"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a whole number, or a string with a unit such as \"15 ns\" or \"18 KB\""
)]
pub enum Quantity {
    /// Already in the engine's own unit (cycles or phits).
    Number(u64),
    /// A decimal number, a space (optional) and a unit.
    Text(String),
}

/// The text of a quantity that follows from the rest of the spec.
const AUTO: &str = "auto";

impl Quantity {
    /// One that follows from the rest of the spec.
    pub fn auto() -> Self {
        Self::Text(AUTO.into())
    }

    /// Does it follow from the rest of the spec?
    pub fn is_auto(&self) -> bool {
        matches!(self, Self::Text(text) if text == AUTO)
    }
}

impl Default for Quantity {
    fn default() -> Self {
        Self::Number(0)
    }
}

impl From<u64> for Quantity {
    fn from(value: u64) -> Self {
        Self::Number(value)
    }
}

impl From<&str> for Quantity {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(n) => write!(f, "{n}"),
            Self::Text(s) => write!(f, "\"{s}\""),
        }
    }
}

/// An exact non-negative fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fraction {
    pub(super) num: u128,
    pub(super) den: u128,
}

impl Fraction {
    fn times(self, num: u128, den: u128) -> Option<Self> {
        Some(Self { num: self.num.checked_mul(num)?, den: self.den.checked_mul(den)? })
    }

    fn divided_by(self, other: Self) -> Option<Self> {
        self.times(other.den, other.num)
    }

    fn whole(self) -> Option<u64> {
        if self.den == 0 || !self.num.is_multiple_of(self.den) {
            return None;
        }
        u64::try_from(self.num / self.den).ok()
    }

    fn ceiling(self) -> Option<u64> {
        self.num.checked_next_multiple_of(self.den)?;
        u64::try_from(self.num.div_ceil(self.den)).ok()
    }

    fn floor(self) -> Option<u64> {
        u64::try_from(self.num.checked_div(self.den)?).ok()
    }

    fn approx(self) -> f64 {
        self.num as f64 / self.den as f64
    }
}

/// Splits `"15.75 KB"` into an exact fraction and the unit's text.
pub(super) fn split(text: &str) -> Option<(Fraction, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let (int, frac) = digits.split_once('.').unwrap_or((digits, ""));
    if (int.is_empty() && frac.is_empty()) || frac.contains('.') || digits.len() > 24 {
        return None;
    }
    let num: u128 = format!("{int}{frac}").parse().ok()?;
    Some((Fraction { num, den: 10u128.pow(frac.len() as u32) }, unit.trim()))
}

/// In picoseconds. The sign of a micro is U+00B5 or U+03BC. Signal speed in a cable, from Table 3-1 of the thesis:
/// 3 m take 15 ns.
const TIME_UNITS: [(&str, u128); 9] = [
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("\u{b5}s", 1_000_000),
    ("\u{3bc}s", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
    ("m", 5_000),
    ("km", 5_000_000),
];
const BYTE_UNITS: [(&str, u128); 8] = [
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
/// In bits per second.
const RATE_PREFIXES: [(&str, u128); 5] =
    [("", 1), ("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000), ("T", 1_000_000_000_000)];
const RATE_UNITS: [(&str, u128); 4] = [("b/s", 1), ("bit/s", 1), ("bps", 1), ("B/s", 8)];

fn factor(units: &[(&str, u128)], unit: &str) -> Option<u128> {
    units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor)
}

fn picoseconds(text: &str) -> Option<Fraction> {
    let (value, unit) = split(text)?;
    value.times(factor(&TIME_UNITS, unit)?, 1)
}

fn bytes(text: &str) -> Option<Fraction> {
    let (value, unit) = split(text)?;
    value.times(factor(&BYTE_UNITS, unit)?, 1)
}

/// Bits in so many picoseconds at a rate such as `"100 Gb/s"`.
fn bits(text: &str, picoseconds: Fraction) -> Option<Fraction> {
    let (value, unit) = split(text)?;
    let (prefix, bits) = RATE_UNITS
        .iter()
        .find_map(|(name, bits)| unit.strip_suffix(name).map(|prefix| (prefix, bits)))?;
    let per_s = factor(&RATE_PREFIXES, prefix)?.checked_mul(*bits)?;
    value.times(per_s, 1_000_000_000_000)?.times(picoseconds.num, picoseconds.den)
}

/// Longest latency, pipeline or interval in cycles: keeps each timing wheel below 512 MiB.
const LONGEST: u64 = 1 << 24;

/// The engine's units expressed in physical ones.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    cycle: Fraction,
    phit: Fraction,
}

impl Scale {
    /// `cycle` is a time (`"1 ns"`), `phit` an amount of data (`"25 B"`).
    ///
    /// # Errors
    /// What is no such quantity, and 0.
    pub fn new(cycle: &str, phit: &str) -> Result<Self, SpecError> {
        let refuse = |path: &str, value: &str, choices: &str| {
            SpecError::new(path, format!("{value:?} is not a positive quantity")).choices([choices])
        };
        let cycle_fraction = picoseconds(cycle).filter(|f| f.num > 0);
        let phit_fraction = bytes(phit).filter(|f| f.num > 0);
        Ok(Self {
            cycle: cycle_fraction
                .ok_or_else(|| refuse("units.cycle", cycle, "a time such as \"1 ns\""))?,
            phit: phit_fraction
                .ok_or_else(|| refuse("units.phit", phit, "an amount such as \"25 B\""))?,
        })
    }

    /// `cycle` is a time, and in each a link of this `rate` (`"200 Gb/s"`) carries a phit.
    ///
    /// # Errors
    /// What is no such quantity, and 0.
    pub fn of_rate(cycle: &str, rate: &str) -> Result<Self, SpecError> {
        let mut scale = Self::new(cycle, "1 B")?;
        let phit = bits(rate, scale.cycle).and_then(|bits| bits.times(1, 8));
        scale.phit = phit.filter(|phit| phit.num > 0).ok_or_else(|| {
            let message = format!("{rate:?} is not a positive rate");
            SpecError::new("units.link_rate", message).choices(["a rate such as \"200 Gb/s\""])
        })?;
        Ok(scale)
    }

    /// A rate such as `"100 Gb/s"` as a share of a phit a cycle.
    pub(super) fn bits_per_cycle(&self, text: &str) -> Option<Fraction> {
        bits(text, self.cycle)?.divided_by(self.phit.times(8, 1)?)
    }

    /// Nanoseconds in one cycle.
    pub fn cycle_ns(&self) -> f64 {
        self.cycle.approx() / 1_000.0
    }

    /// Bytes in one phit.
    pub fn phit_bytes(&self) -> f64 {
        self.phit.approx()
    }

    /// Cycles in `quantity`, which is a number of cycles, a time, or a cable length.
    ///
    /// # Errors
    /// What is no such quantity, or no whole number of cycles.
    pub fn cycles(&self, path: &str, quantity: &Quantity) -> Result<u64, SpecError> {
        let units = "cycles (a bare number), ps, ns, us or µs, ms, s, or m or km of cable";
        convert(path, quantity, picoseconds, self.cycle, ("cycles", units))
    }

    /// Phits in `quantity`, which is a number of phits or an amount of data.
    ///
    /// # Errors
    /// What is no such quantity, or no whole number of phits.
    pub fn phits(&self, path: &str, quantity: &Quantity) -> Result<u64, SpecError> {
        let units = "phits (a bare number), B, kB or KB, MB, GB, KiB, MiB, GiB";
        convert(path, quantity, bytes, self.phit, ("phits", units))
    }

    /// As [`Scale::phits`], but data that does not fill its last phit is rounded up.
    ///
    /// # Errors
    /// What is no such quantity.
    pub fn phits_up(&self, path: &str, quantity: &Quantity) -> Result<u64, SpecError> {
        // What cannot be rounded either is told as always.
        self.rounded(quantity, Fraction::ceiling).map_or_else(|| self.phits(path, quantity), Ok)
    }

    /// As [`Scale::phits`], but data that does not fill its last phit is rounded down.
    ///
    /// # Errors
    /// What is no such quantity.
    pub fn phits_down(&self, path: &str, quantity: &Quantity) -> Result<u64, SpecError> {
        self.rounded(quantity, Fraction::floor).map_or_else(|| self.phits(path, quantity), Ok)
    }

    /// Phits in an amount of data, rounded.
    fn rounded(&self, quantity: &Quantity, round: fn(Fraction) -> Option<u64>) -> Option<u64> {
        let Quantity::Text(text) = quantity else { return None };
        bytes(text)?.divided_by(self.phit).and_then(round)
    }

    /// Phits that so many bytes take.
    pub(crate) fn phits_of(&self, bytes: u64) -> u64 {
        let phits = Fraction { num: bytes.into(), den: 1 }.divided_by(self.phit);
        phits.and_then(Fraction::ceiling).unwrap_or(u64::MAX)
    }

    /// Cycles in so many picoseconds, to the nearest.
    pub(crate) fn cycles_in(&self, picoseconds: u128) -> u128 {
        let Fraction { num, den } = self.cycle;
        picoseconds.saturating_mul(den).saturating_add(num / 2) / num
    }

    /// A latency, a pipeline or an interval between events: `least` to 2^24 cycles.
    ///
    /// # Errors
    /// Other values, and what is no whole number of cycles.
    pub fn interval(
        &self,
        path: &str,
        quantity: &Quantity,
        least: u64,
    ) -> Result<Cycle, SpecError> {
        let value = self.cycles(path, quantity)?;
        if value < least || value > LONGEST {
            let message = format!("{value} cycles is out of range");
            let choices = [format!("{least} to {LONGEST} cycles")];
            return Err(SpecError::new(path, message).choices(choices));
        }
        Ok(value as Cycle)
    }

    /// A part of a run: 1 to 2^31 - 1 cycles.
    ///
    /// # Errors
    /// Other values, and what is no whole number of cycles.
    pub fn duration(&self, path: &str, quantity: &Quantity) -> Result<Cycle, SpecError> {
        let value = self.cycles(path, quantity)?;
        u32::try_from(value).ok().filter(|v| (1..1 << 31).contains(v)).ok_or_else(|| {
            let message = format!("{value} cycles is out of range");
            SpecError::new(path, message).choices(["1 to 2147483647 cycles"])
        })
    }

    /// A buffer: 1 to 2^30 - 1 phits.
    ///
    /// # Errors
    /// Other values, and what is no whole number of phits.
    pub fn buffer(&self, path: &str, quantity: &Quantity) -> Result<u32, SpecError> {
        let value = self.phits(path, quantity)?;
        u32::try_from(value).ok().filter(|v| (1..1 << 30).contains(v)).ok_or_else(|| {
            let message = format!("{value} phits is out of range");
            SpecError::new(path, message).choices(["1 to 1073741823 phits"])
        })
    }
}

/// Every buffer that a packet passes must hold the largest one.
pub(crate) fn holds(phits: u32, largest: u16, path: String) -> Result<(), SpecError> {
    if phits >= u32::from(largest) {
        return Ok(());
    }
    let message = format!("{phits} phits cannot hold a packet of {largest} phits");
    Err(SpecError::new(path, message).choices([format!("at least {largest} phits")]))
}

fn convert(
    path: &str,
    quantity: &Quantity,
    parse: fn(&str) -> Option<Fraction>,
    unit: Fraction,
    (name, units): (&str, &str),
) -> Result<u64, SpecError> {
    let text = match quantity {
        Quantity::Number(n) => return Ok(*n),
        Quantity::Text(text) => text,
    };
    let Some(parsed) = parse(text) else {
        let message = format!("\"{text}\" has no unit that converts to {name}");
        return Err(SpecError::new(path, message).choices([units]));
    };
    let exact = parsed.divided_by(unit);
    exact.and_then(Fraction::whole).ok_or_else(|| {
        let found = exact.map_or(f64::NAN, Fraction::approx);
        SpecError::new(path, format!("\"{text}\" is {found} {name}, which is not a whole number"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_exactly_or_refuses() {
        let scale = Scale::new("1 ns", "25 B").unwrap();
        assert_eq!(scale.cycles("x", &"15 ns".into()).unwrap(), 15);
        assert_eq!(scale.cycles("x", &"30 m".into()).unwrap(), 150);
        assert_eq!(scale.cycles("x", &"0.5 us".into()).unwrap(), 500);
        assert_eq!(scale.phits("x", &"15.75 KB".into()).unwrap(), 630);
        assert_eq!(scale.phits("x", &"126 KB".into()).unwrap(), 5040);
        let err = scale.cycles("network.links.local.latency", &"15.5 ns".into()).unwrap_err();
        assert!(err.to_string().contains("15.5 cycles"), "{err}");
        assert!(scale.phits("x", &"15 ns".into()).is_err());
        assert_eq!(scale.phits_up("x", &"26 B".into()).unwrap(), 2);
        assert_eq!(scale.phits_up("x", &"50 B".into()).unwrap(), 2);
        assert!(scale.phits_up("x", &"15 ns".into()).is_err());
        assert!(scale.phits("x", &"1.2.3 B".into()).is_err());
    }

    #[test]
    fn reads_the_units_of_data_sheets() {
        let scale = Scale::new("1 ns", "25 B").unwrap();
        for text in ["2 us", "2 \u{b5}s", "2\u{3bc}s", "0.4 km", "400 m"] {
            assert_eq!(scale.cycles("x", &text.into()).unwrap(), 2000, "{text}");
        }
        for text in ["4 kB", "4 KB", "4000 B"] {
            assert_eq!(scale.phits("x", &text.into()).unwrap(), 160, "{text}");
        }
        for text in ["200 Gb/s", "200Gbit/s", "200 Gbps", "25 GB/s", "0.2 Tb/s", "200000 Mb/s"] {
            let rate = scale.bits_per_cycle(text).unwrap();
            assert_eq!(rate.num, rate.den, "{text}");
            let same = Scale::of_rate("1 ns", text).unwrap();
            assert_eq!(same.phits("x", &"25 B".into()).unwrap(), 1, "{text}");
        }
        for text in ["2 Ms", "2 kB", "2", "200 Kb/s"] {
            assert!(scale.bits_per_cycle(text).is_none(), "{text}");
        }
        let odd = Scale::of_rate("1 ns", "100 Gb/s").unwrap();
        assert_eq!(odd.phits("x", &"250 B".into()).unwrap(), 20);
        let error = Scale::of_rate("1 ns", "fast").unwrap_err().to_string();
        assert!(error.contains("units.link_rate") && error.contains("200 Gb/s"), "{error}");
    }
}
