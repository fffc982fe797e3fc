//! The state machine of a DCQCN reaction point: one rate limiter.
//!
//! It climbs as that of QCN does, but all its cycles are as long as each other, and a cut follows from alpha, which is
//! about the share of time with notifications.

use serde::{Deserialize, Serialize};

/// The constants of a limiter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DcqcnPlan {
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
    pub(super) fn new(plan: &DcqcnPlan) -> Self {
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

    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    pub(super) fn is_over(&self) -> bool {
        self.rate >= 1.0
    }

    /// A notification has come. Returns how long the next cycle is.
    pub(super) fn cut(&mut self, plan: &DcqcnPlan, now: f64) -> f64 {
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

    pub(super) fn send(&mut self, plan: &DcqcnPlan, phits: u16) {
        self.left -= f64::from(phits);
        if self.left < 0.0 {
            self.left += plan.byte_counter;
            self.byte_stage += 1;
            self.climb(plan);
        }
    }

    pub(super) fn expire(&mut self, plan: &DcqcnPlan) -> f64 {
        self.time_stage += 1;
        self.climb(plan);
        plan.timer
    }

    fn climb(&mut self, plan: &DcqcnPlan) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper at 40 Gb/s: phits are bytes, times are in ns.
    const PAPER: DcqcnPlan = DcqcnPlan {
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
        let hyper = DcqcnPlan { hyper: Some(0.01), ..PAPER };
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
