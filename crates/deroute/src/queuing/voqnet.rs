//! VOQnet: virtual output queues of the whole network.
//!
//! # What it does
//! Every destination host has a class of its own.
//!
//! # Source
//! Dally, Carvey and Dennison, Hot Interconnects 1998; Rocher-Gonzalez et al. 2.3.
//!
//! # Parameters
//! None.
//!
//! # Deadlock freedom
//! That of the routing, in each class: a packet never changes its class.
//!
//! # Limits
//! Needs as many VCs as there are hosts, at most 64: a reference for small networks.
//!
//! # Example
//! ```toml
//! [network.queuing.voqnet]
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Flows, MOST, Setting};
use crate::spec::SpecError;

/// A class for each destination host: there is nothing to choose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VoqnetSpec {}

/// The class of each flow.
///
/// # Errors
/// More hosts than a link can have VCs.
pub fn plan(_: &VoqnetSpec, setting: &Setting<'_>) -> Result<Flows, SpecError> {
    let hosts = setting.topology.hosts();
    match u8::try_from(hosts) {
        Ok(classes @ 1..=MOST) => Ok(Flows::to(classes, setting.topology, |host| host)),
        _ => {
            let message = format!("a class for each of {hosts} hosts");
            let choices = [format!("at most {MOST} hosts"), "another scheme".into()];
            Err(SpecError::new(&setting.path, message).choices(choices))
        }
    }
}
