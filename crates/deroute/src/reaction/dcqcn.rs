//! Reaction point of data center quantized congestion notification (DCQCN).
//!
//! # What it does
//! The first notification gives its flow a rate limiter, as with QCN. A notification makes the rate R the
//! target, cuts R by half of alpha, and lets alpha grow to (1 - `gain`) alpha + `gain`; alpha begins at 1 and
//! falls by the factor 1 - `gain` for every `alpha_timer` without a notification. Cycles end when
//! `byte_counter` is sent, and by a count of their own when `timer` has passed; each brings the rate half of
//! the way to the target. In the first `recovery` of both counts the target stays (fast recovery). Later ones
//! raise it by `active_increase`, or, where both counts are beyond and there is a `hyper_increase`, by that as
//! often as the lesser count is beyond. At the rate of the link the limiter goes; alpha is remembered, and goes on falling.
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

use super::spec::FlowKey;
use super::{Allowance, Control, Law, ReactionPlan, Setting, Told};
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
    let law = Law::Dcqcn(Plan {
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

/// The constants of a limiter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    /// Phits and time of a cycle, and the time in which alpha falls.
    pub(crate) byte_counter: f64,
    pub(crate) timer: f64,
    pub(crate) alpha_timer: f64,
    /// Cycles of fast recovery.
    pub(crate) recovery: u32,
    /// Steps of the target rate, as shares of the link.
    pub(crate) active: f64,
    pub(crate) hyper: Option<f64>,
    pub(crate) gain: f64,
    pub(crate) least: f64,
}

/// The limiter of a flow. Rates are shares of the link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DcqcnLimiter {
    rate: f64,
    target: f64,
    alpha: f64,
    /// When it was told last.
    told: f64,
    byte_stage: u32,
    time_stage: u32,
    /// Phits until the next cycle ends.
    left: f64,
}

impl DcqcnLimiter {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            rate: 1.0,
            target: 1.0,
            alpha: 1.0,
            told: f64::INFINITY,
            byte_stage: 0,
            time_stage: 0,
            left: plan.byte_counter,
        }
    }

    /// A notification has come. Returns how long the next cycle is.
    pub(super) fn cut(&mut self, plan: &Plan, now: f64) -> f64 {
        let quiet = (now - self.told).max(0.0);
        let mut falls = (quiet / plan.alpha_timer).floor();
        // Nothing is left of alpha after so many.
        while falls >= 1.0 && self.alpha > 1e-12 {
            self.alpha *= 1.0 - plan.gain;
            falls -= 1.0;
        }
        self.target = self.rate;
        self.rate = (self.rate * (1.0 - self.alpha / 2.0)).max(plan.least);
        self.alpha = (1.0 - plan.gain) * self.alpha + plan.gain;
        self.told = now;
        (self.byte_stage, self.time_stage, self.left) = (0, 0, plan.byte_counter);
        plan.timer
    }

    pub(super) fn send(&mut self, plan: &Plan, phits: u16) {
        self.left -= f64::from(phits);
        if self.left < 0.0 {
            self.left += plan.byte_counter;
            self.byte_stage += 1;
            self.climb(plan);
        }
    }

    pub(super) fn expire(&mut self, plan: &Plan) -> f64 {
        self.time_stage += 1;
        self.climb(plan);
        plan.timer
    }

    fn climb(&mut self, plan: &Plan) {
        let fewer = self.byte_stage.min(self.time_stage);
        let more = self.byte_stage.max(self.time_stage);
        self.target += match plan.hyper {
            Some(step) if fewer > plan.recovery => step * f64::from(fewer - plan.recovery),
            _ if more > plan.recovery => plan.active,
            _ => 0.0,
        };
        self.rate = ((self.rate + self.target) / 2.0).min(1.0);
    }
}

impl Allowance for DcqcnLimiter {
    fn rate(&self) -> f64 {
        self.rate
    }

    fn is_over(&self) -> bool {
        self.rate >= 1.0
    }
}

impl Control for Plan {
    type Flow = DcqcnLimiter;

    const AT_ONCE: bool = false;
    const REMEMBERS: bool = true;
    // What is remembered, in a tree whose nodes may be half full.
    const BOXED: u64 = 2 * size_of::<((u8, u32, u16), super::Limit)>() as u64;

    fn begin(&self) -> DcqcnLimiter {
        DcqcnLimiter::new(self)
    }

    fn begin_again(&self, before: &DcqcnLimiter) -> DcqcnLimiter {
        DcqcnLimiter { alpha: before.alpha, told: before.told, ..DcqcnLimiter::new(self) }
    }

    fn cut(&self, own: &mut DcqcnLimiter, _: u8, now: f64) -> Option<f64> {
        Some(own.cut(self, now))
    }

    fn send(&self, own: &mut DcqcnLimiter, phits: u16, _: impl FnOnce() -> f64) {
        own.send(self, phits);
    }

    fn expire(&self, own: &mut DcqcnLimiter, _: f64) -> f64 {
        own.expire(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper at 40 Gb/s: phits are bytes, times are in ns.
    const PAPER: Plan = Plan {
        byte_counter: 1e7,
        timer: 55e3,
        alpha_timer: 55e3,
        recovery: 5,
        active: 1e-3,
        hyper: None,
        gain: 1.0 / 256.0,
        least: 1e-3,
    };

    /// The first cut is by half, and after five cycles the rate is back to 1 - 2^-6 of where it was; the next ones
    /// raise the target.
    #[test]
    fn a_rate_recovers_in_five_cycles_and_climbs() {
        let mut limiter = DcqcnLimiter::new(&PAPER);
        limiter.cut(&PAPER, 0.0);
        assert_eq!((limiter.rate, limiter.target, limiter.alpha), (0.5, 1.0, 1.0));
        limiter.cut(&PAPER, 50e3);
        assert_eq!((limiter.rate, limiter.target), (0.25, 0.5));
        (0..5).for_each(|_| _ = limiter.expire(&PAPER));
        assert_eq!(limiter.rate, 0.5 - 0.25 / 32.0);
        limiter.expire(&PAPER);
        assert_eq!(limiter.target, 0.501);
        let hyper = Plan { hyper: Some(0.01), ..PAPER };
        limiter.byte_stage = 7;
        limiter.expire(&hyper);
        assert!((limiter.target - 0.521).abs() < 1e-12, "two steps: both counts are 2 beyond");
    }

    /// Alpha grows with notifications in a row, and falls by its factor for each timer without one.
    #[test]
    fn alpha_is_the_share_of_time_with_notifications() {
        let mut limiter = DcqcnLimiter::new(&PAPER);
        limiter.cut(&PAPER, 0.0);
        limiter.cut(&PAPER, 55e3 * 700.5);
        let fallen = (255.0 / 256.0_f64).powi(700);
        assert!((limiter.alpha - (fallen * 255.0 / 256.0 + 1.0 / 256.0)).abs() < 1e-12);
        assert!((limiter.rate - 0.5 * (1.0 - fallen / 2.0)).abs() < 1e-12);
    }

    /// A flow that is back at the rate of the link is cut by what is left of alpha.
    #[test]
    fn alpha_outlives_the_limiter() {
        let mut limiter = DcqcnLimiter::new(&PAPER);
        limiter.cut(&PAPER, 0.0);
        let mut again = PAPER.begin_again(&limiter);
        assert_eq!((again.rate, again.target, again.told), (1.0, 1.0, 0.0));
        again.cut(&PAPER, 55e3 * 300.5);
        let fallen = (255.0 / 256.0_f64).powi(300);
        assert!((again.rate - (1.0 - fallen / 2.0)).abs() < 1e-12, "{}", again.rate);
    }

    /// Cycles end by data as well; a cut begins them anew, and has a least rate.
    #[test]
    fn data_ends_cycles() {
        let mut limiter = DcqcnLimiter::new(&PAPER);
        limiter.cut(&PAPER, 0.0);
        (0..200).for_each(|_| limiter.send(&PAPER, 50_000));
        assert_eq!((limiter.byte_stage, limiter.rate), (0, 0.5));
        limiter.send(&PAPER, 50_000);
        assert_eq!((limiter.byte_stage, limiter.rate), (1, 0.75));
        (0..20).for_each(|_| _ = limiter.cut(&PAPER, 0.0));
        assert_eq!((limiter.rate, limiter.byte_stage), (1e-3, 0));
    }
}
