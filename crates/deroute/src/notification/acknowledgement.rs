//! Acknowledgements.
//!
//! # What it does
//! A host tells the source of every packet that it has come, whether it was marked, which entropy it had,
//! and when it left its host. The acknowledgement leaves in the cycle after the last phit has come, in a
//! class of service of its own which pause frames never stop, and travels as others do.
//!
//! # Source
//! Ultra Ethernet Specification 1.0: a receiver returns mark and entropy of a packet to its source.
//!
//! # Parameters
//! `notifications`: their `class` (default the highest), `size` on the wire (default 84 B: 64 B with
//! preamble and gap), and `path`: `minimal` (default), or `random-up` a fat tree.
//!
//! # Limits
//! Every packet is acknowledged: there are as many acknowledgements as packets.
//!
//! # Example
//! ```toml
//! [network.nic.notification_point.acknowledgement]
//! notifications = { class = 1, size = "64 B" }
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NotificationPlan, Setting, Tells};
use crate::congestion;
use crate::spec::{NotificationSpec, SpecError};

/// Parameters of acknowledgements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AcknowledgementSpec {
    /// What acknowledgements are.
    pub notifications: NotificationSpec,
}

const PATH: &str = "network.nic.notification_point.acknowledgement";

/// Resolves the parameters.
pub(crate) fn plan(
    spec: &AcknowledgementSpec,
    setting: &Setting<'_>,
) -> Result<NotificationPlan, SpecError> {
    setting.refuse_notifications(PATH)?;
    let notices = congestion::notice(PATH, &spec.notifications, (&setting.scale, setting.classes))?;
    Ok(NotificationPlan { tells: Tells::Packets, notices })
}
