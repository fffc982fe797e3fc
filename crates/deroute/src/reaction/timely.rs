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
//! depends on how they began (Zhu et al., 4). Packets are paced one by one, not segment by segment.
//!
//! # Example
//! ```toml
//! [network.nic.reaction_point.timely]
//! low = "50 us"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Law, ReactionPlan, Setting, TimelyPlan};
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
    Ok(ReactionPlan::of_destinations(Law::Timely(TimelyPlan {
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
