//! Seed, warm-up, measurement, and how well its means are to be known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Quantity, is_default};

/// Seed and duration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// Seed of every random stream. Default 1.
    pub seed: u64,
    /// Cycles before the measurement begins. Default 60000 cycles.
    pub warmup: Warmup,
    /// Cycles measured; with `precision` the most of them. Default 60000.
    pub measure: Quantity,
    /// How well means are to be known: the run ends when they are. Default: it measures all of `measure`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
}

impl Default for Run {
    fn default() -> Self {
        let (warmup, measure) = (Warmup::Fixed(60_000.into()), 60_000.into());
        Self { seed: 1, warmup, measure, precision: None }
    }
}

/// How well the means of a steady network are to be known: half-widths of 95% confidence intervals, as shares of
/// the means (`"1%"`; 0.1% to 50%).
///
/// A network that fills up, or that accepts less than 98% of its load, has no such means: it is measured to the
/// end. (Sequential stopping by relative width, Law and Kelton, Management Science 28, 1982; the intervals are
/// those of the result.)
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Precision {
    /// Of the mean latency. Default: as it comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Quantity>,
    /// Of the accepted load. Default: as it comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Quantity>,
    /// Cycles before the measurement, in place of `run.warmup`. As many are measured at least, and no fewer than 10000
    /// (or half of `run.measure`), if `run.measure` is as long. When what has been measured shows a trend it is dropped, and the measurement begins
    /// anew. Default: 5000 cycles, or twice a round trip, or the time in which a link fills a buffer, whichever is
    /// longest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup: Option<Quantity>,
}

/// How the end of the warm-up is found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a duration, or a table { interval = ..., limit = ... } for automatic detection"
)]
pub enum Warmup {
    /// A fixed time.
    Fixed(Quantity),
    /// When the mean latency is steady, by a rule.
    Automatic(AutomaticWarmup),
}

/// How a series of mean latencies is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WarmupRule {
    /// MSER-5 (White, Cobb and Spratt 2000): the warm-up ends when the truncation point that minimises
    /// the standard error lies in the first half of the series. At least 100 observations are judged.
    #[default]
    Mser,
    /// The warm-up ends when the latency stops growing: the least-squares line through the last
    /// observations, `window` of them, does not rise. A network in which it always does is saturated
    /// (McDonald et al., SC 2019, 6.1).
    StopsGrowing,
}

/// Parameters of the automatic warm-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AutomaticWarmup {
    /// One observation of the series: the mean latency of the packets delivered in this time. Default
    /// 500 cycles.
    pub interval: Quantity,
    /// How the series is judged. Default `mser`.
    #[serde(skip_serializing_if = "is_default")]
    pub rule: WarmupRule,
    /// Observations that `stops-growing` judges, 5 to 1000. Default 15.
    #[serde(skip_serializing_if = "is_usual_window")]
    pub window: u32,
    /// Give up after this time; the result is then `not-converged`. Default 200000 cycles.
    pub limit: Quantity,
}

const WINDOW: u32 = 15;

fn is_usual_window(window: &u32) -> bool {
    *window == WINDOW
}

impl Default for AutomaticWarmup {
    fn default() -> Self {
        Self { interval: 500.into(), rule: WarmupRule::Mser, window: WINDOW, limit: 200_000.into() }
    }
}
