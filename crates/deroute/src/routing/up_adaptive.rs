//! Adaptive routing up a fat tree, with restrictions.
//!
//! # What it does
//! Of the ports that lead up, takes the one whose queue has most credits, or the port of D-mod-K. Three
//! restrictions combine freely:
//! - *when* it adapts (`trigger`): always (NoTH), while the queue of the D-mod-K port has fewer credits
//!   than a low threshold (TH), or from there on until it has as many as a high one (2TH). With a
//!   threshold, other ports need more credits than the low one;
//! - *where* (`stages`): at every level, or only at some;
//! - *among which ports* (`delta`): those whose number is that of the level's D-mod-K port modulo `delta`.
//!
//! Equal credits are decided by the order of the ports, from the first or from the D-mod-K port on, or at random
//! (`ties`). Where no port has the credits that it needs, a packet goes where D-mod-K goes, or anywhere (`full`).
//! Without restrictions it is the fully adaptive routing of fat trees, NoTH-*S-K.
//!
//! # Source
//! Rocher-Gonzalez et al. 4.2, 4.3 and Algorithm 1.
//!
//! # Parameters
//! `trigger` (default `NoTH`), `stages` (default: all), `delta` (default 1: all ports), `low` (default
//! 0.25), `high` (default 0.5), `ties` (default `mod-k`), `full` (default `mod-k`) and `redecide` (default false: decide once, when the
//! packet becomes the head of its queue). `low` and `high` are shares of a queue's credits that are free. A
//! queue is the buffer of the packet's VC at the other end of a link. With `redecide` a head that lost looks
//! for the port with most credits anew. In the paper's switches a packet decides when it arrives:
//! `network.switch.input_queued.routed = "arrival"`, with which alone thresholds do there what is published.
//!
//! # Deadlock freedom
//! Up and then down, on one VC.
//!
//! # Limits
//! Needs a fat tree. Knows the queues of its own switch only, not what follows. Packets overtake each other.
//!
//! # Example
//! ```toml
//! [routing.up_adaptive]
//! trigger = "2TH"
//! stages = [1]
//! delta = 3
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::upward::{self, Climb, Rise};
use super::{Fabric, Header, Plan, RouterView};
use crate::ids::{RouterId, VcId};
use crate::spec::SpecError;
use crate::state::{State, state};
use crate::topology::Tree;

/// Parameters of adaptive routing up a fat tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UpAdaptiveSpec {
    /// When a packet may leave the path of D-mod-K. Default `NoTH`.
    pub trigger: Trigger,
    /// Levels at which it may, counted from 1. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stages: Option<Vec<u32>>,
    /// Every `delta`-th port may be taken instead. Default 1.
    pub delta: u32,
    /// LTTh: share of a queue's credits, 0 to 1. Default 0.25.
    pub low: f64,
    /// HTTh of 2TH: share of a queue's credits, `low` to 1. Default 0.5.
    pub high: f64,
    /// Which of several ports with most credits is taken. Default `mod-k`.
    pub ties: UpTies,
    /// Which port is taken if none has the credits that it needs: with a trigger `low`, and otherwise any. Default
    /// `mod-k`.
    #[serde(skip_serializing_if = "UpFull::is_default")]
    pub full: UpFull,
    /// Decide again in every cycle in which a head is blocked, in every switch. Default `false`.
    pub redecide: bool,
}

/// Which of several ports with most credits is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UpTies {
    /// The first one: while queues are empty, all packets that come together choose the same port.
    First,
    /// The first one from the port of D-mod-K on, in a circle.
    #[default]
    ModK,
    /// Each with the same probability.
    Random,
}

/// Which port a packet takes if none has the credits that it needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UpFull {
    /// That of D-mod-K: all that is for the same hosts waits in one place.
    #[default]
    ModK,
    /// Any of those that it may take, each with the same probability: as switches that count credits in units smaller
    /// than a packet, which hardly ever have none.
    Random,
}

impl UpFull {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for UpAdaptiveSpec {
    fn default() -> Self {
        Self {
            trigger: Trigger::NoTh,
            stages: None,
            delta: 1,
            low: 0.25,
            high: 0.5,
            ties: UpTies::ModK,
            full: UpFull::ModK,
            redecide: false,
        }
    }
}

/// When a packet may leave the path of D-mod-K.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Trigger {
    /// Always.
    #[default]
    #[serde(rename = "NoTH")]
    NoTh,
    /// While its queue has fewer credits than `low`.
    #[serde(rename = "TH")]
    Th,
    /// As soon as its queue has fewer credits than `low`, until it has `high`.
    #[serde(rename = "2TH")]
    TwoTh,
}

/// What holds for the queues of one level.
#[derive(Clone, Copy)]
struct Stage {
    adapts: bool,
    buffer: u32,
    low: f64,
    high: f64,
}

struct Adaptive {
    trigger: Trigger,
    delta: u32,
    ties: UpTies,
    full: UpFull,
    redecide: bool,
    stages: Vec<Stage>,
    /// 2TH: queues that were below `low` and have not been at `high` since; `[router][port][class]`.
    flags: Vec<bool>,
    first: RouterId,
    /// Flags of a router, and of a port.
    strides: [usize; 2],
}

impl Adaptive {
    /// The first port that may be taken, and how many there are, each `delta` after the one before.
    #[inline]
    fn candidates(&self, share: u32, ups: u32) -> (u32, u32) {
        let first = if self.delta == 1 { 0 } else { share % self.delta };
        (first, (ups - first).div_ceil(self.delta))
    }

    /// The candidate with most credits, if it has more than `least`; otherwise the one for packets without.
    #[inline]
    fn best_or_full(&self, tree: &Tree, view: &mut RouterView<'_>, rise: Rise, least: f64) -> u32 {
        if let Some(best) = self.best(tree, view, rise, least) {
            return best;
        }
        let share = tree.share(rise.level, rise.host);
        match self.full {
            UpFull::ModK => share,
            UpFull::Random => {
                let (first, candidates) = self.candidates(share, rise.ups);
                first + self.delta * view.rng.below(candidates)
            }
        }
    }

    /// The candidate with most credits, if it has more than `least`.
    #[inline]
    fn best(&self, tree: &Tree, view: &mut RouterView<'_>, rise: Rise, least: f64) -> Option<u32> {
        let stage = &self.stages[rise.level - 1];
        let random = self.ties == UpTies::Random;
        let (mut best, mut most, mut ties) = (None, least, 0);
        let share = tree.share(rise.level, rise.host);
        let (first, candidates) = self.candidates(share, rise.ups);
        let mut n = if self.ties == UpTies::ModK { share } else { first };
        for _ in 0..candidates {
            let credits = credits(tree, view, rise.level, n, stage.buffer);
            if f64::from(credits) > most {
                (best, most, ties) = (Some(n), f64::from(credits), 1);
                if credits == stage.buffer && !random {
                    break; // Empty: there is no better one.
                }
            } else if random && best.is_some() && f64::from(credits) == most {
                ties += 1;
                if view.rng.below(ties) == 0 {
                    best = Some(n);
                }
            }
            n += self.delta;
            n = if n < rise.ups { n } else { first };
        }
        best
    }

    /// May a packet whose D-mod-K port has so many credits leave it?
    #[inline]
    fn triggered(&mut self, view: &RouterView<'_>, stage: Stage, port: u32, credits: u32) -> bool {
        let credits = f64::from(credits);
        if self.trigger != Trigger::TwoTh {
            return credits < stage.low;
        }
        let router = (view.router.0 - self.first.0) as usize;
        let [row, column] = self.strides;
        let flag = &mut self.flags[router * row + port as usize * column + usize::from(view.class)];
        *flag = credits < stage.low || *flag && credits < stage.high;
        *flag
    }
}

/// Credits of the packet's queue behind the `n`-th port that leads up, by what `network.sensing` counts.
#[inline]
fn credits(tree: &Tree, view: &RouterView<'_>, level: usize, n: u32, buffer: u32) -> u32 {
    buffer.saturating_sub(view.queues.vc(tree.up(level, n), VcId(0)))
}

impl State for Adaptive {
    state! { keep flags; leave trigger, delta, ties, full, redecide, stages, first, strides; }
}

impl Climb for Adaptive {
    #[inline]
    fn choose(
        &mut self,
        tree: &Tree,
        view: &mut RouterView<'_>,
        _header: &mut Header,
        rise: Rise,
    ) -> u32 {
        let fixed = tree.share(rise.level, rise.host);
        let stage = self.stages[rise.level - 1];
        if !stage.adapts {
            return fixed;
        }
        if self.trigger == Trigger::NoTh {
            return self.best_or_full(tree, view, rise, 0.0);
        }
        let free = credits(tree, view, rise.level, fixed, stage.buffer);
        if !self.triggered(view, stage, fixed, free) {
            return fixed;
        }
        self.best_or_full(tree, view, rise, stage.low)
    }

    fn redecides(&self) -> bool {
        self.redecide
    }

    fn bytes(&self) -> usize {
        self.flags.len()
    }
}

/// Checks the parameters against the network.
///
/// # Errors
/// A topology that is no fat tree, and parameters out of range: shares of the credits, `delta`, stages
/// from which nothing leads up.
pub fn plan(spec: &UpAdaptiveSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    check(spec, fabric)?;
    let UpAdaptiveSpec { trigger, delta, low, high, ties, full, redecide, .. } = *spec;
    let stage = |(level, &buffer): (usize, &u32)| Stage {
        adapts: spec.stages.as_ref().is_none_or(|list| list.contains(&(level as u32 + 1))),
        buffer,
        low: low * f64::from(buffer),
        high: high * f64::from(buffer),
    };
    let stages: Vec<Stage> = fabric.buffers.iter().enumerate().map(stage).collect();
    let classes = usize::from(fabric.classes);
    upward::plan(fabric, PATH, move |tree, first, count| {
        let ups = (1..=tree.levels()).map(|level| tree.ups(level)).max().unwrap_or(0);
        let strides = [ups as usize * classes, classes];
        let flags = if trigger == Trigger::TwoTh { count as usize * strides[0] } else { 0 };
        let flags = vec![false; flags];
        let stages = stages.clone();
        Adaptive { trigger, delta, ties, full, redecide, stages, flags, first, strides }
    })
}

const PATH: &str = "routing.up_adaptive";

fn check(spec: &UpAdaptiveSpec, fabric: &Fabric) -> Result<(), SpecError> {
    let at = |key: &str| format!("{PATH}.{key}");
    if !(0.0..=1.0).contains(&spec.low) {
        let message = format!("{} is no share of the credits", spec.low);
        return Err(SpecError::new(at("low"), message).choices(["0.0 to 1.0"]));
    }
    if spec.trigger == Trigger::TwoTh && !(spec.low..=1.0).contains(&spec.high) {
        let message = format!("{} is no share of the credits above low", spec.high);
        return Err(SpecError::new(at("high"), message).choices([format!("{} to 1.0", spec.low)]));
    }
    let Some(tree) = fabric.topology.tree() else { return Ok(()) };
    let rising = 1..tree.levels();
    let ups = rising.clone().map(|level| tree.ups(level)).min().unwrap_or(1);
    if !(1..=ups).contains(&spec.delta) {
        let message = format!("{} leaves no port, or none of the {ups} of a switch", spec.delta);
        return Err(SpecError::new(at("delta"), message).choices([format!("1 to {ups}")]));
    }
    for (i, &stage) in spec.stages.iter().flatten().enumerate() {
        if !rising.contains(&(stage as usize)) {
            let message = format!("nothing leads up from level {stage}");
            let choices = [format!("1 to {}", tree.levels() - 1)];
            return Err(SpecError::new(at(&format!("stages[{i}]")), message).choices(choices));
        }
    }
    Ok(())
}
