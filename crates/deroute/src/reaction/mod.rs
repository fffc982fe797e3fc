//! Reaction points: how fast a host sends after it has been told of congestion.
//!
//! A reaction point is planned here; the kernel carries it out at every host. To add one: a file with its
//! parameters and its plan, and a line in the catalogue below.

mod limiter;
pub mod spec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use limiter::{Limiter, LimiterPlan};

use crate::catalogue::catalogue;
use crate::ids::Cycle;
use crate::spec::{Scale, SpecError};

/// A reaction point in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ReactionPlan {
    /// One of its limiters.
    pub(crate) limiter: LimiterPlan,
    /// All packets of a class of a host have one limiter, and not those to each destination.
    pub(crate) by_source: bool,
}

/// What a reaction point is planned for.
pub(crate) struct Setting {
    /// The units of the spec.
    pub(crate) scale: Scale,
    /// Cycles that a phit takes on the link of a host, where that is more than a delay.
    pub(crate) host_period: Option<Cycle>,
    /// Congestion points send notifications.
    pub(crate) notified: bool,
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
}
