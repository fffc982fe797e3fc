//! Congestion notification packets (CNP).
//!
//! # What it does
//! A host that gets a marked packet of a flow (source and class) tells its source with a packet, unless it
//! has done so within `interval`. The packet leaves the host in the cycle after the last phit has come, in
//! a class of service of its own which pause frames never stop, and travels as others do.
//!
//! # Source
//! Zhu et al., Congestion control for large-scale RDMA deployments (DCQCN), SIGCOMM 2015, 3.1 (NP).
//!
//! # Parameters
//! `interval` (default 50 us); `notifications`: their `class` (default the highest), `size` on the wire
//! (default 84 B: 64 B with preamble and gap), and `path`: `minimal` (default), or `random-up` a fat tree.
//!
//! # Limits
//! Needs marks (`network.congestion_point.ecn`). Hosts react if they have a reaction point
//! (`network.nic.reaction_point.dcqcn`).
//!
//! # Example
//! ```toml
//! [network.nic.notification_point.cnp]
//! interval = "50 us"
//! notifications = { class = 1 }
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NotificationPlan, Setting, Tells};
use crate::congestion;
use crate::spec::{CongestionPoint, NotificationSpec, Quantity, SpecError};

/// Parameters of congestion notification packets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CnpSpec {
    /// Time in which a host tells the source of a flow at most once: cycles or a time. Default `"50 us"`.
    pub interval: Quantity,
    /// What notifications are.
    pub notifications: NotificationSpec,
}

impl Default for CnpSpec {
    fn default() -> Self {
        Self { interval: "50 us".into(), notifications: NotificationSpec::default() }
    }
}

const PATH: &str = "network.nic.notification_point.cnp";

/// Resolves the parameters.
pub(crate) fn plan(spec: &CnpSpec, setting: &Setting<'_>) -> Result<NotificationPlan, SpecError> {
    setting.refuse_notifications(PATH)?;
    if !matches!(setting.congestion_point, Some(CongestionPoint::Ecn(_))) {
        let message = "no packet would ever be marked";
        return Err(SpecError::new(PATH, message).choices(["network.congestion_point.ecn"]));
    }
    let scale = setting.scale;
    let interval = scale.duration(&format!("{PATH}.interval"), &spec.interval)?;
    let notices = congestion::notice(PATH, &spec.notifications, (&scale, setting.classes))?;
    Ok(NotificationPlan { tells: Tells::Marks(interval), notices })
}
