//! The state machine of a TIMELY reaction point: one rate limiter.
//!
//! It follows the round-trip times of segments: below one threshold and above another by themselves, between them by how
//! they change.

use super::receipt::Acknowledged;
use serde::{Deserialize, Serialize};

/// Segments in a row without a rise of the time after which the rate climbs faster, and how much faster.
const PATIENCE: u32 = 5;
const FASTER: f64 = 5.0;

/// The constants of a limiter. Times are in cycles, rates shares of the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimelyPlan {
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
    pub(super) fn new(plan: &TimelyPlan) -> Self {
        Self { rate: plan.start, last: None, difference: 0.0, calm: 0, left: plan.segment }
    }

    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// A packet has come.
    pub(super) fn hear(&mut self, plan: &TimelyPlan, heard: &Acknowledged) {
        let phits = f64::from(heard.receipt.phits);
        self.left -= phits;
        if self.left <= 0.0 {
            self.left += plan.segment.max(phits);
            self.adapt(plan, (heard.round_trip() - phits * plan.period).max(0.0));
        }
    }

    /// A segment is complete, with this round-trip time.
    fn adapt(&mut self, plan: &TimelyPlan, time: f64) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 Gb/s: phits are bytes, times are in ns.
    const PAPER: TimelyPlan = TimelyPlan {
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
