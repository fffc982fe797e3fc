//! The limiter of a flow, by any of the laws.

use super::alpha::{DcqcnLimiter, DcqcnPlan};
use super::limiter::{Limiter, LimiterPlan};
use serde::{Deserialize, Serialize};

/// The law of the rates of a reaction point, with its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RateLaw {
    /// QCN.
    Qcn(LimiterPlan),
    /// DCQCN.
    Dcqcn(DcqcnPlan),
}

/// The limiter of a flow that has been told to slow down.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum RateLimiter {
    /// QCN.
    Qcn(Limiter),
    /// DCQCN.
    Dcqcn(DcqcnLimiter),
}

impl RateLaw {
    /// The limiter of a flow which sends as fast as its link.
    pub(crate) fn limiter(&self) -> RateLimiter {
        match self {
            Self::Qcn(plan) => RateLimiter::Qcn(Limiter::new(plan)),
            Self::Dcqcn(plan) => RateLimiter::Dcqcn(DcqcnLimiter::new(plan)),
        }
    }

    /// A notification with some feedback has come; the time of a new cycle is to begin. Returns how long it is.
    pub(crate) fn cut(&self, limiter: &mut RateLimiter, feedback: u8, now: f64) -> f64 {
        match (self, limiter) {
            (Self::Qcn(plan), RateLimiter::Qcn(limiter)) => limiter.cut(plan, feedback),
            (Self::Dcqcn(plan), RateLimiter::Dcqcn(limiter)) => limiter.cut(plan, now),
            _ => f64::INFINITY,
        }
    }

    /// So many phits are sent; `drawn` gives a uniform number in 0 to 1 if it is needed.
    pub(crate) fn send(&self, limiter: &mut RateLimiter, phits: u16, drawn: impl FnOnce() -> f64) {
        match (self, limiter) {
            (Self::Qcn(plan), RateLimiter::Qcn(limiter)) => {
                limiter.send(plan, phits, drawn);
            }
            (Self::Dcqcn(plan), RateLimiter::Dcqcn(limiter)) => limiter.send(plan, phits),
            _ => {}
        }
    }

    /// The time of a cycle is over. Returns how long the next one is.
    pub(crate) fn expire(&self, limiter: &mut RateLimiter, drawn: f64) -> f64 {
        match (self, limiter) {
            (Self::Qcn(plan), RateLimiter::Qcn(limiter)) => limiter.expire(plan, drawn),
            (Self::Dcqcn(plan), RateLimiter::Dcqcn(limiter)) => limiter.expire(plan),
            _ => f64::INFINITY,
        }
    }
}

impl RateLimiter {
    /// The rate, as a share of the link.
    pub(crate) fn rate(&self) -> f64 {
        match self {
            Self::Qcn(limiter) => limiter.rate(),
            Self::Dcqcn(limiter) => limiter.rate(),
        }
    }

    /// The rate is that of the link: there is nothing to limit.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Self::Qcn(limiter) => limiter.is_over(),
            Self::Dcqcn(limiter) => limiter.is_over(),
        }
    }
}
