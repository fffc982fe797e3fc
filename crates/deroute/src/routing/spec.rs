//! What a user asks of a routing algorithm: parameters that several of them share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::Algorithm as Routing;
pub use super::acor::{AcorScope, AcorSequence, AcorSpec, Thresholds};
pub use super::clos_ad::ClosAdSpec;
pub use super::counters::CountMode;
pub use super::dal::DalSpec;
pub use super::dimwar::{DimWarClasses, DimWarSpec};
pub use super::ecmp::EcmpSpec;
pub use super::lian::{Decision, LianSpec};
pub use super::min_ad::MinAdSpec;
pub use super::minimal::MinimalSpec;
pub use super::mod_k::{ModKSpec, Number};
pub use super::o1turn::{O1TurnSpec, Orders};
pub use super::omniwar::OmniWarSpec;
pub use super::phase_a::Policy;
pub use super::piggyback::PiggybackSpec;
pub use super::queuing::{Classes as QueuingClasses, Queuing};
pub use super::tpr::TprSpec;
pub use super::ugal::{HopCount, QueueMetric, UgalSpec};
pub use super::up_adaptive::{Trigger, UpAdaptiveSpec, UpTies};
pub use super::up_oblivious::{Draw, UpObliviousSpec, When};
pub use super::valiant::ValiantSpec;

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

/// How the VC of a hop follows from its place on the path (design note on deadlock freedom).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VcUse {
    /// The hop's own place on l1 g1 l2 | l3 g2 l4, whether or not earlier hops were taken.
    #[default]
    PathPosition,
    /// The next place of its kind after the place used last (FOGSim).
    NextFeasible,
}
