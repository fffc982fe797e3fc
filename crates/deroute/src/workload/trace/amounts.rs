//! Times and sizes of a trace in cycles and phits, scaled.

use super::spec::{FactorsFile, RankFactors, TraceSpec, Wildcards};
use crate::ids::Cycle;
use crate::spec::{Scale, SpecError};

/// What the spec makes of times and sizes.
pub(super) struct Amounts {
    scale: Scale,
    /// Computations take so many times what the trace says; by rank, or of all.
    compute: Vec<f64>,
    /// Ranks that have factors of their own, if they do.
    pub(super) ranks: Option<usize>,
    messages: f64,
    /// Operations a second, where a trace counts operations.
    pub(super) flops: Option<f64>,
    /// What a receive takes whose source the trace did not fix.
    pub(super) wildcards: Wildcards,
}

/// Computations of a rank: rounding one of them never adds up.
#[derive(Default)]
pub(super) struct Clock {
    picoseconds: u128,
    cycles: u128,
}

/// Largest factor.
const MOST: f64 = 1e9;
/// By how much of itself a product may be above the one of the decimal number that was meant, twice: half a bit for the
/// factor and half a bit for the product. What is less above whole bytes does not count as another one.
const ROUNDING: f64 = 2.0 * f64::EPSILON;

impl Amounts {
    pub(super) fn new(spec: &TraceSpec, scale: &Scale, path: &str) -> Result<Self, SpecError> {
        let factor = |key: &str, value: f64| {
            if (0.0..=MOST).contains(&value) {
                return Ok(value);
            }
            let message = format!("{value} is no factor");
            Err(SpecError::new(format!("{path}.{key}"), message).choices(["0 to 1e9"]))
        };
        factor("compute", spec.compute)?;
        factor("messages", spec.messages)?;
        let all = match &spec.compute_of_rank {
            RankFactors::Each(all) => all,
            RankFactors::File(FactorsFile { file }) => {
                let path = format!("{path}.compute_of_rank.file");
                let message = format!("{file:?}: the engine reads no files");
                return Err(SpecError::new(path, message).choices(["a list of factors"]));
            }
        };
        for (rank, value) in all.iter().enumerate() {
            factor(&format!("compute_of_rank[{rank}]"), *value)?;
        }
        let flops = spec.flops;
        if flops.is_some_and(|flops| !(1.0..=1e30).contains(&flops)) {
            let message = "is no number of operations a second";
            return Err(SpecError::new(format!("{path}.flops"), message).choices(["1 to 1e30"]));
        }
        let compute = match all.is_empty() {
            true => vec![spec.compute],
            false => all.iter().map(|own| own * spec.compute).collect(),
        };
        let (messages, wildcards) = (spec.messages, spec.wildcards);
        let ranks = (!all.is_empty()).then_some(all.len());
        Ok(Self { scale: *scale, compute, ranks, messages, flops, wildcards })
    }

    /// What becomes of so many bytes, rounded up. 1.1 times 100 are 110, although binary numbers have a bit more.
    pub(super) fn scaled(&self, bytes: u64) -> u64 {
        if self.messages == 1.0 {
            return bytes;
        }
        let product = bytes as f64 * self.messages;
        (product - product * ROUNDING).ceil() as u64
    }

    /// A message of so many bytes in phits; at least one.
    pub(super) fn phits(&self, bytes: u64) -> Result<u32, String> {
        let bytes = self.scaled(bytes);
        let phits = self.scale.phits_of(bytes).max(1);
        u32::try_from(phits)
            .ok()
            .filter(|phits| *phits < 1 << 30)
            .ok_or_else(|| format!("a message of {bytes} bytes has more than 1073741823 phits"))
    }

    /// The next computation of a rank, in cycles.
    pub(super) fn cycles(
        &self,
        rank: u32,
        clock: &mut Clock,
        nanoseconds: f64,
    ) -> Result<Cycle, String> {
        let factor = self.compute.get(rank as usize).unwrap_or(&self.compute[0]);
        let picoseconds = (nanoseconds * factor * 1000.0).round();
        if !(0.0..1e24).contains(&picoseconds) {
            return Err(format!("{nanoseconds} ns is no time"));
        }
        clock.picoseconds += picoseconds as u128;
        let cycles = self.scale.cycles_in(clock.picoseconds);
        let more = cycles - clock.cycles;
        clock.cycles = cycles;
        Cycle::try_from(more).ok().filter(|cycles| *cycles < 1 << 31).ok_or_else(|| {
            format!("a computation of {nanoseconds} ns has more than 2147483647 cycles")
        })
    }
}
