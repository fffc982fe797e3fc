//! What is measured.

pub(crate) mod collect;
pub(crate) mod entropies;
pub(crate) mod histogram;
pub(crate) mod limits;
pub(crate) mod marks;
pub(crate) mod messages;
pub(crate) mod notices;
pub(crate) mod order;
pub(crate) mod retransmission;
pub(crate) mod retry;
pub(crate) mod spectrum;
pub(crate) mod streams;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::spec::PhaseA;

/// Path kind of a packet, fixed when it leaves the injection queue.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum PathKind {
    /// Minimal.
    #[serde(rename = "minimal")]
    Minimal,
    /// Valiant, `lgl`.
    #[serde(rename = "lgl")]
    Lgl,
    /// Valiant, `lg-`.
    #[serde(rename = "lg-")]
    Lg,
    /// Valiant, `-gl`.
    #[serde(rename = "-gl")]
    Gl,
    /// Valiant, `-g-`.
    #[serde(rename = "-g-")]
    G,
    /// With a deroute on its first hop.
    #[serde(rename = "derouted")]
    Derouted,
}

impl PathKind {
    /// Every kind, in the order of [`PathKind::index`].
    pub const ALL: [Self; 6] =
        [Self::Minimal, Self::Lgl, Self::Lg, Self::Gl, Self::G, Self::Derouted];

    /// Its name in specs and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Lgl => "lgl",
            Self::Lg => "lg-",
            Self::Gl => "-gl",
            Self::G => "-g-",
            Self::Derouted => "derouted",
        }
    }

    /// Column of the kind in per-kind arrays.
    pub fn index(self) -> usize {
        self as usize
    }
}

impl From<PhaseA> for PathKind {
    fn from(policy: PhaseA) -> Self {
        match policy {
            PhaseA::Lgl => Self::Lgl,
            PhaseA::Lg => Self::Lg,
            PhaseA::Gl => Self::Gl,
            PhaseA::G => Self::G,
        }
    }
}
