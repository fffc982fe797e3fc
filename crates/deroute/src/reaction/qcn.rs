//! Reaction point of quantized congestion notification (QCN).
//!
//! # What it does
//! The first notification gives its flow a rate limiter: the packets of the flow wait in a queue of their
//! own and leave it no faster than its rate. A notification with feedback f cuts the rate by `gain` f, but
//! to no less than `least_share` of it, nor below `least_rate`; if a cycle has ended since the last cut, the
//! rate before it becomes the target. Cycles end when `byte_counter` is sent, and by a count of their own
//! when `timer` has passed. Each brings the rate half of the way to the target. In the first five of a count
//! the target stays (fast recovery); later cycles are half as long, and raise it by `active_increase`, or,
//! where both counts are beyond five, by as many `hyper_increase` as the lesser count is (hyper-active
//! increase). In the first cycle a target of more than ten times the rate is divided by eight instead. At
//! the rate of the link the limiter goes.
//!
//! # Source
//! IEEE 802.1Qau (802.1Q, clause 32); its public pseudo code; the defaults of the IEEE8021-CN-MIB.
//!
//! # Parameters
//! `flow`: a limiter for each `destination` of a host (default), or for all that a `source` sends; both in
//! each class of service. `follows`: notifications of `all` congestion points (default), or of queues to hosts
//! alone (`endpoint`), where adaptive routing deals with the others. `byte_counter` (default 150 KB, in phits or as an amount of data) and `timer`
//! (default 15 ms); `active_increase` (default 5 Mb/s) and `hyper_increase` (default 50 Mb/s); `gain`
//! (default 1/128); `least_share` (default 0.5) and `least_rate` (default 5 Mb/s); `jitter` of the cycles
//! (default 0.15). Rates as `"5 Mb/s"`, or as a share of a phit a cycle, `"1/1000"`.
//!
//! # Limits
//! Hosts need a link of their own (`network.nic.link`), and congestion points that notify
//! (`network.congestion_point.qcn`). Packets without a limiter wait in one queue for each class, in which
//! every second turn is that of a flow with a limiter whose time has come. All that waits counts as injection
//! queue.
//!
//! # Example
//! ```toml
//! [network.nic.reaction_point.qcn]
//! flow = "destination"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Law, LimiterPlan, ReactionPlan, Setting, Told};
use crate::spec::{Quantity, SpecError};

/// Parameters of the reaction point of QCN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QcnReactionSpec {
    /// What has a limiter of its own. Default `destination`.
    pub flow: FlowKey,
    /// Whose notifications count. Default `all`.
    #[serde(skip_serializing_if = "Follows::is_all")]
    pub follows: Follows,
    /// Data after which a cycle ends: phits, or an amount of data. Default `"150 KB"`.
    pub byte_counter: Quantity,
    /// Time after which a cycle ends: cycles or a time. Default `"15 ms"`.
    pub timer: Quantity,
    /// Step of the target in active increase. Default `"5 Mb/s"`.
    pub active_increase: Quantity,
    /// Step of the target in hyper-active increase. Default `"50 Mb/s"`.
    pub hyper_increase: Quantity,
    /// Share by which a cut lowers the rate, for each unit of the feedback (1 to 63). Default 1/128.
    pub gain: f64,
    /// Share of the rate that a cut leaves at least, 0 to 1. Default 0.5.
    pub least_share: f64,
    /// Rate that a cut leaves at least. Default `"5 Mb/s"`.
    pub least_rate: Quantity,
    /// Largest deviation of a cycle from its length, as a share of it, 0 to 1. Default 0.15.
    pub jitter: f64,
}

/// What has a rate limiter of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowKey {
    /// What a host sends to one destination in a class of service.
    #[default]
    Destination,
    /// All that a host sends in a class of service.
    Source,
}

/// Whose notifications a host follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Follows {
    /// Those of all congestion points.
    #[default]
    All,
    /// Those of queues to hosts: what no other path could avoid.
    Endpoint,
}

impl Follows {
    fn is_all(&self) -> bool {
        *self == Self::All
    }
}

impl Default for QcnReactionSpec {
    fn default() -> Self {
        Self {
            flow: FlowKey::Destination,
            follows: Follows::All,
            byte_counter: "150 KB".into(),
            timer: "15 ms".into(),
            active_increase: "5 Mb/s".into(),
            hyper_increase: "50 Mb/s".into(),
            gain: 1.0 / 128.0,
            least_share: 0.5,
            least_rate: "5 Mb/s".into(),
            jitter: 0.15,
        }
    }
}

const PATH: &str = "network.nic.reaction_point.qcn";

/// Resolves the parameters.
pub(crate) fn plan(spec: &QcnReactionSpec, setting: &Setting) -> Result<ReactionPlan, SpecError> {
    let (scale, period) = (setting.scale, setting.host_period(PATH)?);
    if setting.told != Told::Feedback {
        let message = "nothing would ever tell a host of congestion";
        return Err(SpecError::new(PATH, message).choices(["network.congestion_point.qcn"]));
    }
    let at = |key: &str| format!("{PATH}.{key}");
    if spec.follows == Follows::Endpoint && !setting.endpoints {
        let message = "no queue to a host is a congestion point";
        let choices =
            ["all", "network.congestion_point.qcn with ejection = true and queue = output"];
        return Err(SpecError::new(at("follows"), message).choices(choices));
    }
    let rate = |key: &str, rate: &Quantity| setting.rate(&at(key), rate, period);
    let share = |key: &str, share: f64| {
        if (0.0..=1.0).contains(&share) {
            return Ok(share);
        }
        let message = format!("{share} is no share");
        Err(SpecError::new(at(key), message).choices(["0 to 1"]))
    };
    let law = Law::Qcn(LimiterPlan {
        byte_counter: setting.cycle_of_phits(&at("byte_counter"), &spec.byte_counter)?,
        timer: f64::from(scale.duration(&at("timer"), &spec.timer)?),
        active: rate("active_increase", &spec.active_increase)?,
        hyper: rate("hyper_increase", &spec.hyper_increase)?,
        gain: share("gain", spec.gain)?,
        least_share: share("least_share", spec.least_share)?,
        least: setting.least(&at("least_rate"), &spec.least_rate, period)?,
        jitter: share("jitter", spec.jitter)?,
    });
    let by_source = spec.flow == FlowKey::Source;
    Ok(ReactionPlan { law, by_source, endpoint_only: spec.follows == Follows::Endpoint })
}
