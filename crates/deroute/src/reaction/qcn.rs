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

use super::spec::{FlowKey, Follows};
use super::{Allowance, Control, Law, ReactionPlan, Setting, Told};
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
    let law = Law::Qcn(Plan {
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

/// Cycles of fast recovery.
const RECOVERY: u32 = 5;

/// The constants of a reaction point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    /// Phits and time of a cycle of fast recovery; of later ones half of them.
    pub(crate) byte_counter: f64,
    pub(crate) timer: f64,
    /// Steps of the target rate in active and in hyper-active increase.
    pub(crate) active: f64,
    pub(crate) hyper: f64,
    /// A cut is by this for each unit of the feedback, to no less than a share, and to no less than a rate.
    pub(crate) gain: f64,
    pub(crate) least_share: f64,
    pub(crate) least: f64,
    /// Largest deviation of a cycle from its length, as a share of it.
    pub(crate) jitter: f64,
}

/// The limiter of a flow that has been told to slow down.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Limiter {
    rate: f64,
    target: f64,
    /// Cycles that have ended since the last cut, by phits and by time.
    byte_stage: u32,
    time_stage: u32,
    /// Phits until the next one ends.
    left: f64,
}

impl Limiter {
    /// That of a flow which sends as fast as its link.
    pub(crate) fn new(plan: &Plan) -> Self {
        Self { rate: 1.0, target: 1.0, byte_stage: 0, time_stage: 0, left: plan.byte_counter }
    }

    /// A notification with some feedback has come; the time of a new cycle is to begin. Returns how long it is.
    pub(crate) fn cut(&mut self, plan: &Plan, feedback: u8) -> f64 {
        // Two in a row are one congestion: the rate to climb back to is that before both.
        if self.byte_stage > 0 || self.time_stage > 0 {
            self.target = self.rate;
            self.left = plan.byte_counter;
        }
        (self.byte_stage, self.time_stage) = (0, 0);
        let share = (1.0 - plan.gain * f64::from(feedback)).max(plan.least_share);
        self.rate = (self.rate * share).max(plan.least);
        plan.timer
    }

    /// So many phits are sent; `drawn` gives a uniform number in 0 to 1 if it is needed. Says whether a cycle has
    /// ended.
    pub(crate) fn send(&mut self, plan: &Plan, phits: u16, drawn: impl FnOnce() -> f64) -> bool {
        self.left -= f64::from(phits);
        if self.left >= 0.0 {
            return false;
        }
        self.byte_stage += 1;
        self.left = length(plan, plan.byte_counter, self.byte_stage, drawn());
        self.climb(plan);
        true
    }

    /// The time of a cycle is over. Returns how long the next one is.
    pub(crate) fn expire(&mut self, plan: &Plan, drawn: f64) -> f64 {
        self.time_stage += 1;
        self.climb(plan);
        length(plan, plan.timer, self.time_stage, drawn)
    }

    fn climb(&mut self, plan: &Plan) {
        let (fewer, more) =
            (self.byte_stage.min(self.time_stage), self.byte_stage.max(self.time_stage));
        let step = match () {
            () if fewer > RECOVERY => plan.hyper * f64::from(fewer - RECOVERY),
            () if more > RECOVERY => plan.active,
            () => 0.0,
        };
        // Who was cut to less than a tenth is not to jump back to the half in the first cycle.
        let first = self.byte_stage == 1 || self.time_stage == 1;
        if first && self.target > 10.0 * self.rate {
            self.target /= 8.0;
        } else {
            self.target += step;
        }
        self.rate = ((self.rate + self.target) / 2.0).min(1.0);
    }
}

impl Allowance for Limiter {
    fn rate(&self) -> f64 {
        self.rate
    }

    fn is_over(&self) -> bool {
        self.rate >= 1.0
    }
}

impl Control for Plan {
    type Flow = Limiter;

    const AT_ONCE: bool = false;

    fn begin(&self) -> Limiter {
        Limiter::new(self)
    }

    fn cut(&self, own: &mut Limiter, feedback: u8, _: f64) -> Option<f64> {
        Some(own.cut(self, feedback))
    }

    fn send(&self, own: &mut Limiter, phits: u16, drawn: impl FnOnce() -> f64) {
        own.send(self, phits, drawn);
    }

    fn expire(&self, own: &mut Limiter, drawn: f64) -> f64 {
        own.expire(self, drawn)
    }
}

/// Of the cycle after so many.
fn length(plan: &Plan, full: f64, stage: u32, drawn: f64) -> f64 {
    let mean = if stage < RECOVERY { full } else { full / 2.0 };
    mean * (1.0 + plan.jitter * (2.0 * drawn - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard at 10 Gb/s: phits are bytes, and times are in ns. No jitter.
    const STANDARD: Plan = Plan {
        byte_counter: 150_000.0,
        timer: 15e6,
        active: 5e-4,
        hyper: 5e-3,
        gain: 1.0 / 128.0,
        least_share: 0.5,
        least: 5e-4,
        jitter: 0.0,
    };

    fn cut(feedback: u8) -> Limiter {
        let mut limiter = Limiter::new(&STANDARD);
        assert!(limiter.is_over());
        assert_eq!(limiter.cut(&STANDARD, feedback), 15e6);
        limiter
    }

    /// Sends packets until a cycle of phits has ended; says how many phits that took.
    fn cycle(limiter: &mut Limiter) -> f64 {
        let mut sent = 0.0;
        loop {
            sent += 1_500.0;
            if limiter.send(&STANDARD, 1_500, || 0.5) {
                return sent;
            }
        }
    }

    /// After a cut by d from C the rate after k cycles of bytes is C (1 - d / 2^k), and each lasts as long as its bytes.
    #[test]
    fn recovery_follows_its_closed_form() {
        let (mut limiter, mut now) = (cut(63), 0.0_f64);
        let rates = [5.078, 7.539, 8.770, 9.385, 9.692, 9.846];
        let times = [0.0, 236.3, 395.5, 532.3, 660.2, 784.0];
        for (k, (rate, time)) in rates.into_iter().zip(times).enumerate() {
            let (found, d) = (10.0 * limiter.rate(), 63.0 / 128.0_f64);
            assert!((found - 10.0 * (1.0 - d / f64::powi(2.0, k as i32))).abs() < 1e-12);
            assert!((found - rate).abs() < 6e-4, "{found} for {rate}");
            assert!((now - time).abs() < 0.06, "{now} for {time}");
            // The packet that ends a cycle is one more than its bytes, and does not count in the closed form.
            // The sixth is half as long.
            let length = STANDARD.byte_counter / if k < 5 { 1.0 } else { 2.0 };
            assert_eq!(cycle(&mut limiter), length + 1_500.0);
            now += STANDARD.byte_counter * 8.0 / (found * 1e3);
        }
    }

    /// From the fifth cycle on they are half as long, and the sixth raises the target; once both counts are beyond,
    /// by as many large steps as the lesser one is.
    #[test]
    fn increase_is_active_and_hyper_active() {
        let mut limiter = cut(63);
        for _ in 0..5 {
            assert_eq!(cycle(&mut limiter), 151_500.0);
        }
        assert_eq!((limiter.target, limiter.byte_stage), (1.0, 5));
        assert_eq!(cycle(&mut limiter), 76_500.0);
        assert!((limiter.target - (1.0 + STANDARD.active)).abs() < 1e-12);
        let below = 1.0 - limiter.rate;
        assert!((below - (63.0 / 128.0 / 64.0 - STANDARD.active / 2.0)).abs() < 1e-12);
        let mut slow = cut(63);
        for stage in 1..=8 {
            let length = slow.expire(&STANDARD, 0.5);
            assert_eq!(length, if stage < 5 { 15e6 } else { 7.5e6 });
        }
        assert!((slow.target - (1.0 + 3.0 * STANDARD.active)).abs() < 1e-12);
        slow.byte_stage = 6;
        slow.expire(&STANDARD, 0.5);
        assert!((slow.target - (1.0 + 3.0 * STANDARD.active + STANDARD.hyper)).abs() < 1e-12);
        slow.byte_stage = 8;
        slow.expire(&STANDARD, 0.5);
        assert!((slow.target - (1.0 + 3.0 * STANDARD.active + 4.0 * STANDARD.hyper)).abs() < 1e-12);
        assert!(slow.is_over());
    }

    /// In active increase the target is ahead of the rate by what tends to a step.
    #[test]
    fn the_rate_follows_the_target_by_a_step() {
        let mut limiter = cut(63);
        limiter.cut(&STANDARD, 63);
        limiter.expire(&STANDARD, 0.5);
        limiter.cut(&STANDARD, 63);
        for _ in 0..40 {
            cycle(&mut limiter);
        }
        assert!(limiter.rate() < 1.0);
        assert!((limiter.target - limiter.rate() - STANDARD.active).abs() < 1e-9);
    }

    /// The target is reset by the first notification after a cycle has ended, and by no other.
    #[test]
    fn notifications_in_a_row_keep_the_target() {
        let mut limiter = cut(32);
        assert_eq!((limiter.rate, limiter.target), (0.75, 1.0));
        limiter.send(&STANDARD, 1_500, || 0.5);
        limiter.cut(&STANDARD, 32);
        assert_eq!((limiter.rate, limiter.target, limiter.left), (0.5625, 1.0, 148_500.0));
        limiter.expire(&STANDARD, 0.5);
        let rate = limiter.rate;
        limiter.cut(&STANDARD, 32);
        assert_eq!((limiter.rate, limiter.target), (0.75 * rate, rate));
        assert_eq!((limiter.left, limiter.time_stage), (150_000.0, 0));
    }

    /// A cut is to no less than the half, and to no less than the lowest rate; who is far below its target takes an
    /// eighth of it first.
    #[test]
    fn cuts_have_limits_and_the_first_step_is_small() {
        let steep = Plan { gain: 1.0 / 64.0, ..STANDARD };
        let mut limiter = Limiter::new(&steep);
        limiter.cut(&steep, 63);
        assert_eq!(limiter.rate, 0.5);
        for _ in 0..40 {
            limiter.cut(&steep, 63);
        }
        assert_eq!((limiter.rate, limiter.target), (5e-4, 1.0));
        limiter.expire(&steep, 0.5);
        assert_eq!(limiter.target, 0.125);
        assert_eq!(limiter.rate, (5e-4 + 0.125) / 2.0);
        limiter.expire(&steep, 0.5);
        assert_eq!(limiter.target, 0.125, "only in the first cycle");
    }

    /// Cycles are as long as drawn: 0.85 to 1.15 of their mean.
    #[test]
    fn cycles_have_jitter() {
        let plan = Plan { jitter: 0.15, ..STANDARD };
        let lengths = [(0, 0.0), (0, 1.0), (4, 0.0)].map(|(stages, drawn)| {
            let mut limiter = Limiter::new(&plan);
            limiter.cut(&plan, 1);
            (0..stages).for_each(|_| _ = limiter.expire(&plan, 0.5));
            limiter.expire(&plan, drawn) / 15e6
        });
        for (found, expected) in lengths.into_iter().zip([0.85, 1.15, 0.425]) {
            assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
        }
    }
}
