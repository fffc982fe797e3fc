//! What a flow may send, by any of the laws.

use super::alpha::{DcqcnLimiter, DcqcnPlan};
use super::fraction::{DctcpPlan, DctcpWindow};
use super::gradient::{TimelyLimiter, TimelyPlan};
use super::limiter::{Limiter, LimiterPlan};
use super::nscc_window::{NsccPlan, NsccWindow};
use super::receipt::{Acknowledged, Receipt};
use super::swift_window::{SwiftPlan, SwiftWindow};
use super::utilisation::{HpccPlan, HpccWindow};
use crate::congestion::Trail;
use crate::ids::Cycle;
use serde::{Deserialize, Serialize};

/// The law of a reaction point, with its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Law {
    /// QCN.
    Qcn(LimiterPlan),
    /// DCQCN.
    Dcqcn(DcqcnPlan),
    /// So many phits at once.
    Window(u32),
    /// Swift.
    Swift(SwiftPlan),
    /// NSCC.
    Nscc(NsccPlan),
    /// TIMELY.
    Timely(TimelyPlan),
    /// HPCC.
    Hpcc(HpccPlan),
    /// DCTCP.
    Dctcp(DctcpPlan),
}

/// What a flow may send: how fast, and how much at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Limit {
    /// QCN.
    Qcn(Limiter),
    /// DCQCN.
    Dcqcn(DcqcnLimiter),
    /// So many phits at once.
    Window(u32),
    /// Swift.
    Swift(SwiftWindow),
    /// NSCC.
    Nscc(NsccWindow),
    /// TIMELY.
    Timely(TimelyLimiter),
    /// HPCC, which keeps much.
    Hpcc(Box<HpccWindow>),
    /// DCTCP.
    Dctcp(DctcpWindow),
}

/// What a host hears of the packets of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Report {
    /// One was in a queue that was too long: by so much.
    Feedback(u8),
    /// One has come.
    Received(Receipt),
    /// Of one that left in a cycle only the header has come.
    Missing { number: u32, left: Cycle },
}

impl Law {
    /// A flow is limited from its first packet on, and not only after it has been told something.
    pub(crate) fn limits_at_once(&self) -> bool {
        !matches!(self, Self::Qcn(_) | Self::Dcqcn(_))
    }

    /// Bytes of a limit beside itself.
    pub(crate) fn boxed_bytes(&self) -> u64 {
        if let Self::Hpcc(_) = self { size_of::<HpccWindow>() as u64 + 16 } else { 0 }
    }

    /// That of a flow which has been told nothing.
    pub(crate) fn limit(&self) -> Limit {
        match self {
            Self::Qcn(plan) => Limit::Qcn(Limiter::new(plan)),
            Self::Dcqcn(plan) => Limit::Dcqcn(DcqcnLimiter::new(plan)),
            Self::Window(phits) => Limit::Window(*phits),
            Self::Swift(plan) => Limit::Swift(plan.begin()),
            Self::Nscc(plan) => Limit::Nscc(plan.begin()),
            Self::Timely(plan) => Limit::Timely(TimelyLimiter::new(plan)),
            Self::Hpcc(plan) => Limit::Hpcc(Box::new(HpccWindow::new(plan))),
            Self::Dctcp(plan) => Limit::Dctcp(plan.begin()),
        }
    }

    /// A host hears that a queue was too long by some feedback. Returns how long a cycle is that begins now, if one
    /// does.
    pub(crate) fn cut(&self, limit: &mut Limit, feedback: u8, now: Cycle) -> Option<f64> {
        match (self, limit) {
            (Self::Qcn(plan), Limit::Qcn(limiter)) => Some(limiter.cut(plan, feedback)),
            (Self::Dcqcn(plan), Limit::Dcqcn(limiter)) => Some(limiter.cut(plan, now.into())),
            _ => None,
        }
    }

    /// A host hears that a packet has come.
    pub(crate) fn acknowledge(&self, limit: &mut Limit, heard: &Acknowledged, met: Option<&Trail>) {
        match (self, limit) {
            (Self::Swift(plan), Limit::Swift(own)) => plan.hear(own, heard),
            (Self::Nscc(plan), Limit::Nscc(own)) => plan.hear(own, heard),
            (Self::Dctcp(plan), Limit::Dctcp(own)) => plan.hear(own, heard),
            (Self::Timely(plan), Limit::Timely(limiter)) => limiter.hear(plan, heard),
            (Self::Hpcc(plan), Limit::Hpcc(window)) => {
                if let Some(met) = met {
                    window.hear(plan, &heard.receipt, met);
                }
            }
            _ => {}
        }
    }

    /// A packet of so many phits is lost, and so many are under way: now, and because its time was over or because its
    /// receiver asks for it.
    pub(crate) fn lose(
        &self,
        limit: &mut Limit,
        (phits, under_way): (u16, f64),
        (now, late): (Cycle, bool),
    ) {
        match (self, limit) {
            (Self::Swift(plan), Limit::Swift(own)) => plan.lose(own, now.into(), late),
            (Self::Dctcp(plan), Limit::Dctcp(own)) => plan.lose(own, under_way, late),
            (Self::Nscc(plan), Limit::Nscc(own)) => {
                plan.lose(own, (phits.into(), under_way), now.into());
            }
            _ => {}
        }
    }

    /// So many phits are sent; `drawn` gives a uniform number in 0 to 1 if it is needed.
    pub(crate) fn send(&self, limit: &mut Limit, phits: u16, drawn: impl FnOnce() -> f64) {
        match (self, limit) {
            (Self::Qcn(plan), Limit::Qcn(limiter)) => {
                limiter.send(plan, phits, drawn);
            }
            (Self::Dcqcn(plan), Limit::Dcqcn(limiter)) => limiter.send(plan, phits),
            (Self::Hpcc(_), Limit::Hpcc(window)) => window.send(phits),
            _ => {}
        }
    }

    /// The time of a cycle is over. Returns how long the next one is.
    pub(crate) fn expire(&self, limit: &mut Limit, drawn: f64) -> f64 {
        match (self, limit) {
            (Self::Qcn(plan), Limit::Qcn(limiter)) => limiter.expire(plan, drawn),
            (Self::Dcqcn(plan), Limit::Dcqcn(limiter)) => limiter.expire(plan),
            _ => f64::INFINITY,
        }
    }
}

impl Limit {
    /// How fast packets follow each other, as a share of the link.
    pub(crate) fn rate(&self) -> f64 {
        match self {
            Self::Qcn(limiter) => limiter.rate(),
            Self::Dcqcn(limiter) => limiter.rate(),
            Self::Swift(own) => own.rate,
            Self::Window(_) | Self::Nscc(_) | Self::Dctcp(_) => 1.0,
            Self::Timely(limiter) => limiter.rate(),
            Self::Hpcc(window) => window.rate(),
        }
    }

    /// Phits that may be under way at once, if that is limited. One packet always may.
    pub(crate) fn window(&self) -> Option<f64> {
        match self {
            Self::Qcn(_) | Self::Dcqcn(_) | Self::Timely(_) => None,
            Self::Window(phits) => Some((*phits).into()),
            Self::Swift(own) => Some(own.window),
            Self::Nscc(own) => Some(own.window),
            Self::Dctcp(own) => Some(own.window),
            Self::Hpcc(window) => Some(window.window()),
        }
    }

    /// There is nothing to limit any more.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Self::Qcn(limiter) => limiter.is_over(),
            Self::Dcqcn(limiter) => limiter.is_over(),
            _ => false,
        }
    }
}
