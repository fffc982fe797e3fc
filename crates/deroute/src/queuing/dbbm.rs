//! DBBM: destination-based buffer management.
//!
//! # What it does
//! The class of a packet is the number of its destination host, modulo the number of classes.
//!
//! # Source
//! Nachiondo et al., Computer Communications 2006; Rocher-Gonzalez et al. 2.3.
//!
//! # Parameters
//! `queues`: classes, 1 to 64 (default 3).
//!
//! # Deadlock freedom
//! That of the routing, in each class: a packet never changes its class.
//!
//! # Limits
//! A congested destination holds up all others of its class, those next to it in the network as
//! those far away.
//!
//! # Example
//! ```toml
//! [network.queuing.dbbm]
//! queues = 3
//! ```

use super::{Classes, Flows, Setting};
use crate::spec::SpecError;

/// Parameters of DBBM: the number of classes.
pub type DbbmSpec = Classes;

/// The class of each flow.
///
/// # Errors
/// Classes that are too many, or none.
pub fn plan(spec: &DbbmSpec, setting: &Setting<'_>) -> Result<Flows, SpecError> {
    Ok(Flows::to(setting.queues(spec.queues)?, setting.topology, |host| host))
}
