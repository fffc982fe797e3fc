//! Flow control: when a packet may go to the next router.
//!
//! A flow control is planned here, from the links and the routing; the kernel carries it out. To
//! add one: a file with its parameters and its plan, and a line in the catalogue below.

mod headroom;
mod link;
pub(crate) mod memory;
pub(crate) mod retry;
mod shared;
pub mod spec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use cbfc::MessagePlan;
pub(crate) use headroom::{PauseLimits, PausePlan};
pub(crate) use link::LinkClass;
pub(crate) use memory::Threshold;
pub(crate) use retry::RetryPlan;

use crate::catalogue::catalogue;
use crate::spec::{Scale, SpecError};

/// A flow control in numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ControlPlan {
    /// A sender knows what is left of the buffer at the other end.
    Credits {
        /// A VC takes a packet only while it is empty.
        atomic: bool,
    },
    /// The same, and credits come back in messages.
    Messages(MessagePlan),
    /// A receiver tells the sender to be silent, or nobody does.
    Pause(PausePlan),
}

/// What a flow control is planned for: the links of a class, or those of hosts.
pub(crate) struct Setting<'a> {
    /// Path of the flow control.
    pub(crate) path: &'a str,
    /// Path of the links.
    pub(crate) at: &'a str,
    /// The links; absent where nothing needs flow control.
    pub(crate) link: Option<LinkClass>,
    /// Phits of the largest packet.
    pub(crate) largest: u16,
    /// The units of the spec.
    pub(crate) scale: Scale,
    /// The routing gives a packet an empty VC for itself.
    pub(crate) atomic: bool,
}

catalogue! {
    /// When a packet may go to the next router.
    enum FlowControl;
    /// Resolves the flow control that the spec asks for.
    ///
    /// # Errors
    /// Buffers that it cannot work with.
    fn build(&Setting<'_>) -> ControlPlan;

    // One line per flow control.
    /// Credits for the buffer at the other end of each VC.
    Credits => credits::CreditsSpec,
    /// Priority flow control: each VC is paused on its own.
    Pfc => pfc::PfcSpec,
    /// PAUSE: the whole link is paused.
    Pause => pause::PauseSpec,
    /// None: what finds no room is lost.
    Lossy => lossy::LossySpec,
    /// Credits of Ethernet links, which come back in messages.
    Cbfc => cbfc::CbfcSpec,
    /// None: what finds no room goes on as its header.
    Trim => trim::TrimSpec,
}

impl Default for FlowControl {
    fn default() -> Self {
        Self::Credits(credits::CreditsSpec {})
    }
}
