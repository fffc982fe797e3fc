//! Reaction point of data center quantized congestion notification (DCQCN).
//!
//! # What it does
//! The first notification gives its flow a rate limiter, as with QCN. A notification makes the rate R the
//! target, cuts R by half of alpha, and lets alpha grow to (1 - `gain`) alpha + `gain`; alpha begins at 1 and
//! falls by the factor 1 - `gain` for every `alpha_timer` without a notification. Cycles end when
//! `byte_counter` is sent, and by a count of their own when `timer` has passed; each brings the rate half of
//! the way to the target. In the first `recovery` of both counts the target stays (fast recovery). Later ones
//! raise it by `active_increase`, or, where both counts are beyond and there is a `hyper_increase`, by that as
//! often as the lesser count is beyond. At the rate of the link the limiter goes.
//!
//! # Source
//! Zhu et al., Congestion control for large-scale RDMA deployments, SIGCOMM 2015, 3.1 and 4; its fixed point:
//! Zhu et al., ECN or delay: lessons learnt from analysis of DCQCN and TIMELY, CoNEXT 2016, 3.
//!
//! # Parameters
//! `flow`, as with QCN; `byte_counter` (default 10 MB), `timer` and `alpha_timer` (default 55 us each);
//! `recovery` (default 5 cycles); `active_increase` (default 40 Mb/s); `hyper_increase` (default none);
//! `gain` (default 1/256); `least_rate` (default that of `active_increase`, since the paper names none). The
//! defaults are those of the paper at 40 Gb/s.
//!
//! # Limits
//! Hosts need a link of their own (`network.nic.link`), and receivers that tell them of marks
//! (`network.nic.notification_point.cnp`). Otherwise as QCN.
//!
//! # Example
//! ```toml
//! [network.nic.reaction_point.dcqcn]
//! timer = "55 us"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DcqcnPlan, FlowKey, Law, ReactionPlan, Setting, Told};
use crate::spec::{Quantity, SpecError};

/// Parameters of the reaction point of DCQCN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DcqcnSpec {
    /// What has a limiter of its own. Default `destination`.
    pub flow: FlowKey,
    /// Data after which a cycle ends: phits, or an amount of data. Default `"10 MB"`.
    pub byte_counter: Quantity,
    /// Time after which a cycle ends: cycles or a time. Default `"55 us"`.
    pub timer: Quantity,
    /// Time without a notification after which alpha falls: cycles or a time. Default `"55 us"`.
    pub alpha_timer: Quantity,
    /// Cycles of fast recovery, at least 1. Default 5.
    pub recovery: u32,
    /// Step of the target in active increase. Default `"40 Mb/s"`.
    pub active_increase: Quantity,
    /// Step of the target in hyper-active increase. Default: none, active increase goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyper_increase: Option<Quantity>,
    /// Weight of a notification in alpha, 0 to 1. Default 1/256.
    pub gain: f64,
    /// Rate that a cut leaves at least. Default: that of `active_increase`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_rate: Option<Quantity>,
}

impl Default for DcqcnSpec {
    fn default() -> Self {
        Self {
            flow: FlowKey::Destination,
            byte_counter: "10 MB".into(),
            timer: "55 us".into(),
            alpha_timer: "55 us".into(),
            recovery: 5,
            active_increase: "40 Mb/s".into(),
            hyper_increase: None,
            gain: 1.0 / 256.0,
            least_rate: None,
        }
    }
}

const PATH: &str = "network.nic.reaction_point.dcqcn";

/// Resolves the parameters.
pub(crate) fn plan(spec: &DcqcnSpec, setting: &Setting) -> Result<ReactionPlan, SpecError> {
    let period = setting.host_period(PATH)?;
    if setting.told != Told::Marks {
        let message = "nothing would ever tell a host of marks";
        let choices = ["network.nic.notification_point.cnp"];
        return Err(SpecError::new(PATH, message).choices(choices));
    }
    let at = |key: &str| format!("{PATH}.{key}");
    let rate = |key: &str, rate: &Quantity| setting.rate(&at(key), rate, period);
    let time = |key: &str, time: &Quantity| -> Result<f64, SpecError> {
        Ok(f64::from(setting.scale.duration(&at(key), time)?))
    };
    if spec.recovery == 0 {
        let error = SpecError::new(at("recovery"), "0 cycles are no recovery");
        return Err(error.choices(["at least 1"]));
    }
    if !(0.0..=1.0).contains(&spec.gain) {
        let message = format!("{} is no weight", spec.gain);
        return Err(SpecError::new(at("gain"), message).choices(["0 to 1"]));
    }
    let least_rate = spec.least_rate.as_ref().unwrap_or(&spec.active_increase);
    let key = if spec.least_rate.is_some() { "least_rate" } else { "active_increase" };
    let hyper =
        spec.hyper_increase.as_ref().map(|step| rate("hyper_increase", step)).transpose()?;
    let law = Law::Dcqcn(DcqcnPlan {
        byte_counter: setting.cycle_of_phits(&at("byte_counter"), &spec.byte_counter)?,
        timer: time("timer", &spec.timer)?,
        alpha_timer: time("alpha_timer", &spec.alpha_timer)?,
        recovery: spec.recovery,
        active: rate("active_increase", &spec.active_increase)?,
        hyper,
        gain: spec.gain,
        least: setting.least(&at(key), least_rate, period)?,
    });
    Ok(ReactionPlan { law, by_source: spec.flow == FlowKey::Source, endpoint_only: false })
}
