//! Reaction points: how fast a host sends after it has been told of congestion.
//!
//! A reaction point is planned here; the kernel carries it out at every host. To add one: a file with its
//! parameters and its plan, and a line in the catalogue below.

mod alpha;
mod law;
mod limiter;
pub mod spec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use alpha::DcqcnPlan;
pub(crate) use law::{RateLaw, RateLimiter};
pub(crate) use limiter::LimiterPlan;
pub(crate) use qcn::FlowKey;

use crate::catalogue::catalogue;
use crate::ids::Cycle;
use crate::spec::{Quantity, Scale, SpecError};

/// A reaction point in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ReactionPlan {
    /// One of its limiters.
    pub(crate) law: RateLaw,
    /// All packets of a class of a host have one limiter, and not those to each destination.
    pub(crate) by_source: bool,
    /// Only what tells of the link to a host counts.
    pub(crate) endpoint_only: bool,
}

/// What a reaction point is planned for.
pub(crate) struct Setting {
    /// The units of the spec.
    pub(crate) scale: Scale,
    /// Cycles that a phit takes on the link of a host, where that is more than a delay.
    pub(crate) host_period: Option<Cycle>,
    /// What hosts are told.
    pub(crate) told: Told,
    /// Queues to hosts are congestion points as well.
    pub(crate) endpoints: bool,
}

/// What hosts are told, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Nothing.
    Nothing,
    /// By switches, how long queues are.
    Feedback,
    /// By receivers, that packets are marked.
    Marks,
    /// By receivers, that packets have come.
    Packets,
}

impl Setting {
    /// Cycles that a phit takes on the link of a host.
    fn host_period(&self, path: &str) -> Result<Cycle, SpecError> {
        self.host_period.ok_or_else(|| {
            let message = "a rate is that of the link of a host, and hosts have none";
            SpecError::new(path, message).choices(["network.nic.link"])
        })
    }

    /// A rate as a share of the link of a host.
    fn rate(&self, path: &str, rate: &Quantity, period: Cycle) -> Result<f64, SpecError> {
        Ok(self.scale.rate(path, rate)? * f64::from(period))
    }

    /// A rate that is no more than that of the link of a host.
    fn least(&self, path: &str, rate: &Quantity, period: Cycle) -> Result<f64, SpecError> {
        let least = self.rate(path, rate, period)?;
        if least > 1.0 {
            let full = 8.0 * self.scale.phit_bytes() / self.scale.cycle_ns() / f64::from(period);
            let message = format!("{rate} is more than the link of a host carries");
            let choices = [format!("up to {full} Gb/s")];
            return Err(SpecError::new(path, message).choices(choices));
        }
        Ok(least)
    }

    /// Phits after which a cycle ends.
    fn cycle_of_phits(&self, path: &str, data: &Quantity) -> Result<f64, SpecError> {
        let phits = self.scale.phits_up(path, data)?;
        if (1..1 << 40).contains(&phits) {
            return Ok(phits as f64);
        }
        let message = format!("{phits} phits are no cycle");
        Err(SpecError::new(path, message).choices(["at least 1 phit"]))
    }
}

catalogue! {
    /// How fast a host sends after it has been told of congestion.
    enum ReactionPoint;
    /// Resolves the reaction point that the spec asks for.
    ///
    /// # Errors
    /// Values out of range, hosts without a link of their own, and what nothing would ever tell.
    fn build(&Setting) -> ReactionPlan;

    // One line per reaction point.
    /// Quantized congestion notification: a rate limiter for each flow that was told to slow down.
    Qcn => qcn::QcnReactionSpec,
    /// DCQCN: the same by marks that receivers report.
    Dcqcn => dcqcn::DcqcnSpec,
}
