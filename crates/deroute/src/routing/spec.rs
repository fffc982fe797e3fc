//! What a user asks of a routing algorithm: parameters that several of them share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::Algorithm as Routing;
pub use super::acor::{AcorScope, AcorSequence, AcorSpec, AcorTrigger, Thresholds};
pub use super::clos_ad::ClosAdIntermediate;
pub use super::counters::CountMode;
pub use super::dimwar::DimWarClasses;
pub use super::lian::Decision;
pub use super::lian_detours::LianDetourSpec;
pub use super::mar_bp::{Alternatives, PausedBy};
pub use super::mod_k::Number;
pub use super::o1turn::Orders;
pub use super::parameters::*;
pub use super::phase_a::Policy;
pub use super::probability::{DecreaseLaw, FeedbackRule, IncreaseLaw};
pub use super::python::Value;
pub use super::qcn_switch::{EndpointRule, SourceProcessing};
pub use super::switch_ar::{AdaptsAt, Aging, CongestionLevel};
pub use super::table::Addressing;
pub use super::ugal::{HopCount, Information, QueueMetric};
pub use super::up_adaptive::{Trigger, UpFull, UpTies};
pub use super::up_oblivious::{Draw, When};

/// Phase-A policy: which routers may be the intermediate one (thesis 2.3.2, Table 5-1). The name
/// lists the hops that phase A may take.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum PhaseA {
    /// Any router: up to l1 g1 l2.
    #[default]
    #[serde(rename = "lgl")]
    Lgl,
    /// The router on which the global hop to any other group lands: up to l1 g1.
    #[serde(rename = "lg-")]
    Lg,
    /// Any router of the groups wired to the source router: g1, maybe l2.
    #[serde(rename = "-gl")]
    Gl,
    /// The landing routers of the source router's own global links: g1 alone.
    #[serde(rename = "-g-")]
    G,
}

/// How the VC of a hop follows from its position on the path. Where a shortest path has no two hops of a
/// link class, `next-feasible` is `path-position`; where hops are only counted, as in a graph, so are all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VcUse {
    /// The hop's own position on l1 g1 l2 - l3 g2 l4, whether or not earlier hops were taken.
    #[default]
    PathPosition,
    /// The next position of its link class after the one used last (FOGSim).
    NextFeasible,
    /// As `path-position`, without the hops that phase A of the policy never takes; minimal paths take
    /// the positions of phase B. A Dragonfly then needs 2 local and 2 global VCs for `-g-` (thesis 2.5 and
    /// 4.5), 3 and 2 for `lg-` and `-gl`, or for `-g-` if it is restricted.
    Compact,
}
