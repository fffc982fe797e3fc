//! Credits.
//!
//! # What it does
//! The sender of each VC keeps count of the phits that are free in the buffer at the other end of
//! the link. A packet is granted only if all of it has room there (virtual cut-through), and takes
//! that room when it is granted. When it is granted at the next router, that gives the room back,
//! and the sender knows a link latency later. Nothing is ever dropped.
//!
//! # Source
//! Thesis 2.1; Dally and Towles, Principles and Practices of Interconnection Networks (2004), 13.3.
//!
//! # Parameters
//! None of its own: `buffer`, `shared` and `vcs` of `network.links`.
//!
//! # Deadlock freedom
//! That of the routing. One that asks for atomic allocation of VCs (DAL) is granted a VC only while
//! all its credits are back.
//!
//! # Limits
//! A buffer must hold the largest packet. A VC alone keeps its link busy only with a buffer of the
//! phits that pass during the way there, the way back, and a packet's stay.
//!
//! # Example
//! ```toml
//! [network.flow_control.credits]
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ControlPlan, Setting, shared};
use crate::spec::{SpecError, holds};

/// Parameters of credits: none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreditsSpec {}

/// Checks the buffers.
pub(crate) fn plan(_: &CreditsSpec, setting: &Setting<'_>) -> Result<ControlPlan, SpecError> {
    if let Some(link) = &setting.link {
        shared::check(link, setting)?;
        holds(link.reserve(), setting.largest, format!("{}.buffer", setting.at))?;
    }
    Ok(ControlPlan::Credits { atomic: setting.atomic })
}
