//! Reaction point of TIMELY: rates by the round-trip times of packets, and by how these change.
//!
//! # What it does
//! Each flow has a rate, `start_rate` at first. The acknowledgement of the last packet of each `segment` gives a
//! round-trip time: from when the packet left its host until the acknowledgement was there, less the time that the host
//! took to send it. Below `low` the rate rises by `increase`. Above `high` it is multiplied by 1 - `decrease` (1 -
//! `high` / time). Between them the gradient decides: the difference of two such times, smoothed with the weight `weight`
//! for the new one, over `least_time`. Where it is 0 or less the rate rises by `increase`, and by five times that from the
//! fifth such segment in a row on; otherwise it is multiplied by 1 - `decrease` times the gradient. It is never multiplied
//! by less than `least_share`.
//!
//! # Source
//! Mittal et al., TIMELY: RTT-based congestion control for the datacenter, SIGCOMM 2015, algorithm 1 and 4.3. Constants:
//! Zhu et al., ECN or delay: lessons learnt from analysis of DCQCN and TIMELY, CoNEXT 2016, table 2; `least_time` is the
//! minimum RTT of the paper. `least_share`: the program that the authors have published, as eRPC has it.
//!
//! # Parameters
//! `segment` (default 16 KB, in phits or as an amount of data); `low` (default 50 us) and `high` (default 500 us);
//! `least_time` (default 20 us), by which differences are divided; `increase` (default 10 Mb/s); `decrease` (default 0.8);
//! `weight` (default 0.875); `least_share` (default 0.5) and `least_rate` (default that of `increase`); `start_rate`
//! (default that of the link; in the paper the share of a flow more than its host has).
//!
//! # Limits
//! Hosts need a link of their own (`network.nic.link`), and receivers that acknowledge packets
//! (`network.nic.notification_point.acknowledgement`). The law has no unique fixed point: where rates and queues settle
//! depends on how they began (Zhu et al., 4). Packets are paced one by one, not segment by segment. Where packets can be lost
//! it needs `network.nic.retransmission`; a loss changes no rate.
//!
//! # Example
//! ```toml
//! [network.nic.reaction_point.timely]
//! low = "50 us"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Acknowledged, Allowance, Control, Law, ReactionPlan, Setting};
use crate::spec::{Quantity, SpecError};

/// Parameters of the reaction point of TIMELY.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimelySpec {
    /// Data after which a round-trip time counts: phits, or an amount of data. Default `"16 KB"`.
    pub segment: Quantity,
    /// Round-trip time below which the rate always rises: cycles or a time. Default `"50 us"`.
    pub low: Quantity,
    /// Round-trip time above which the rate always falls: cycles or a time. Default `"500 us"`.
    pub high: Quantity,
    /// Time by which differences of round-trip times are divided: cycles or a time. Default `"20 us"`.
    pub least_time: Quantity,
    /// Step of the rate. Default `"10 Mb/s"`.
    pub increase: Quantity,
    /// How strongly the rate falls, 0 to 1. Default 0.8.
    pub decrease: f64,
    /// Weight of a new difference, 0 to 1. Default 0.875.
    pub weight: f64,
    /// Share of the rate that a segment leaves at least, 0 to 1. Default 0.5.
    pub least_share: f64,
    /// Rate of a new flow. Default: that of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_rate: Option<Quantity>,
    /// Rate below which a flow does not fall. Default: that of `increase`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_rate: Option<Quantity>,
}

impl Default for TimelySpec {
    fn default() -> Self {
        Self {
            segment: "16 KB".into(),
            low: "50 us".into(),
            high: "500 us".into(),
            least_time: "20 us".into(),
            increase: "10 Mb/s".into(),
            decrease: 0.8,
            weight: 0.875,
            least_share: 0.5,
            start_rate: None,
            least_rate: None,
        }
    }
}

const PATH: &str = "network.nic.reaction_point.timely";

/// Resolves the parameters.
pub(crate) fn plan(spec: &TimelySpec, setting: &Setting) -> Result<ReactionPlan, SpecError> {
    let period = setting.host_period(PATH)?;
    setting.acknowledged(PATH)?;
    let at = |key: &str| format!("{PATH}.{key}");
    let time = |key: &str, time: &Quantity| -> Result<f64, SpecError> {
        Ok(f64::from(setting.scale.duration(&at(key), time)?))
    };
    let share = |key: &str, share: f64| {
        if (0.0..=1.0).contains(&share) {
            return Ok(share);
        }
        let message = format!("{share} is no share");
        Err(SpecError::new(at(key), message).choices(["0 to 1"]))
    };
    let (low, high) = (time("low", &spec.low)?, time("high", &spec.high)?);
    if high < low {
        let message = format!("{} is less than low, {}", spec.high, spec.low);
        return Err(SpecError::new(at("high"), message).choices(["low or more"]));
    }
    let key = if spec.least_rate.is_some() { "least_rate" } else { "increase" };
    let least = spec.least_rate.as_ref().unwrap_or(&spec.increase);
    Ok(ReactionPlan::of_destinations(Law::Timely(Plan {
        segment: setting.cycle_of_phits(&at("segment"), &spec.segment)?,
        period: f64::from(period),
        low,
        high,
        least_time: time("least_time", &spec.least_time)?,
        increase: setting.rate(&at("increase"), &spec.increase, period)?,
        decrease: share("decrease", spec.decrease)?,
        weight: share("weight", spec.weight)?,
        least_share: share("least_share", spec.least_share)?,
        start: match &spec.start_rate {
            Some(start) => setting.least(&at("start_rate"), start, period)?,
            None => 1.0,
        },
        least: setting.least(&at(key), least, period)?,
    })))
}

/// Segments in a row without a rise of the time after which the rate climbs faster, and how much faster.
const PATIENCE: u32 = 5;
const FASTER: f64 = 5.0;

/// The constants of a limiter. Times are in cycles, rates shares of the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) segment: f64,
    /// Cycles that a host takes to send a phit.
    pub(crate) period: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) least_time: f64,
    pub(crate) increase: f64,
    pub(crate) decrease: f64,
    pub(crate) weight: f64,
    pub(crate) least_share: f64,
    pub(crate) start: f64,
    pub(crate) least: f64,
}

/// The limiter of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TimelyLimiter {
    rate: f64,
    /// The last round-trip time, if there was one, and the smoothed difference.
    last: Option<f64>,
    difference: f64,
    /// Segments in a row without a rise.
    calm: u32,
    /// Phits until the segment is complete.
    left: f64,
}

impl TimelyLimiter {
    pub(super) fn new(plan: &Plan) -> Self {
        Self { rate: plan.start, last: None, difference: 0.0, calm: 0, left: plan.segment }
    }

    /// A packet has come.
    pub(super) fn hear(&mut self, plan: &Plan, heard: &Acknowledged<'_>) {
        let phits = f64::from(heard.receipt.phits);
        self.left -= phits;
        if self.left <= 0.0 {
            self.left += plan.segment.max(phits);
            self.adapt(plan, (heard.round_trip() - phits * plan.period).max(0.0));
        }
    }

    /// A segment is complete, with this round-trip time.
    fn adapt(&mut self, plan: &Plan, time: f64) {
        let Some(last) = self.last.replace(time) else { return };
        self.difference = (1.0 - plan.weight) * self.difference + plan.weight * (time - last);
        let gradient = self.difference / plan.least_time;
        self.calm = if gradient <= 0.0 { self.calm + 1 } else { 0 };
        let rate = match () {
            () if time < plan.low => self.rate + plan.increase,
            () if time > plan.high => self.rate * (1.0 - plan.decrease * (1.0 - plan.high / time)),
            () if gradient > 0.0 => self.rate * (1.0 - plan.decrease * gradient),
            () if self.calm >= PATIENCE => self.rate + FASTER * plan.increase,
            () => self.rate + plan.increase,
        };
        self.rate = rate.max(self.rate * plan.least_share).clamp(plan.least, 1.0);
    }
}

impl Allowance for TimelyLimiter {
    fn rate(&self) -> f64 {
        self.rate
    }
}

impl Control for Plan {
    type Flow = TimelyLimiter;

    fn begin(&self) -> TimelyLimiter {
        TimelyLimiter::new(self)
    }

    fn hear(&self, own: &mut TimelyLimiter, heard: &Acknowledged<'_>) {
        own.hear(self, heard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 Gb/s: phits are bytes, times are in ns.
    const PAPER: Plan = Plan {
        segment: 16_000.0,
        period: 0.8,
        low: 50e3,
        high: 500e3,
        least_time: 20e3,
        increase: 1e-3,
        decrease: 0.8,
        weight: 0.875,
        least_share: 0.5,
        start: 1.0,
        least: 1e-3,
    };

    fn at(rate: f64, times: &[f64]) -> TimelyLimiter {
        let mut limiter = TimelyLimiter { rate, ..TimelyLimiter::new(&PAPER) };
        times.iter().for_each(|time| limiter.adapt(&PAPER, *time));
        limiter
    }

    /// Below and above the thresholds the time alone counts.
    #[test]
    fn thresholds_come_first() {
        assert_eq!(at(0.5, &[40e3]).rate, 0.5, "one time has no gradient");
        assert_eq!(at(0.5, &[10e3, 49e3]).rate, 0.501);
        assert!((at(0.5, &[400e3, 1e6]).rate - 0.5 * 0.6).abs() < 1e-12);
        assert_eq!(at(0.5, &[400e3, 1e8]).rate, 0.25, "by half at once, at the most");
        assert_eq!(at(0.9995, &[10e3, 49e3]).rate, 1.0);
    }

    /// Between them the rate falls with the smoothed gradient, to no less than the least, and climbs in steps, of which
    /// the fifth in a row and later ones are five times as large.
    #[test]
    fn the_gradient_decides_between() {
        let gradient = 0.875 * 8e3 / 20e3;
        assert!((at(0.5, &[100e3, 108e3]).rate - 0.5 * (1.0 - 0.8 * gradient)).abs() < 1e-12);
        assert_eq!(at(0.5, &[100e3, 200e3]).rate, 0.25);
        assert_eq!(at(0.0015, &[100e3, 200e3]).rate, PAPER.least);
        let calm = [100e3; 8];
        for (times, steps) in [(2, 1.0), (5, 4.0), (6, 9.0), (8, 19.0)] {
            assert!((at(0.5, &calm[..times]).rate - (0.5 + 1e-3 * steps)).abs() < 1e-12);
        }
        // The smoothed difference is that of all before.
        let limiter = at(0.5, &[100e3, 108e3, 100e3]);
        assert!((limiter.difference - (0.125 * 7e3 - 0.875 * 8e3)).abs() < 1e-9);
    }

    /// The last packet of a segment counts, less the time that its host took to send it.
    #[test]
    fn a_segment_has_one_time() {
        let mut limiter = TimelyLimiter::new(&PAPER);
        for packet in 0..15 {
            let heard = Acknowledged::of(1_000, packet * 100, 30_000.0 + f64::from(packet));
            limiter.hear(&PAPER, &heard);
        }
        assert_eq!(limiter.last, None);
        limiter.hear(&PAPER, &Acknowledged::of(1_000, 2_000, 32_800.0));
        assert_eq!((limiter.last, limiter.left), (Some(30_000.0), 16_000.0));
    }
}
