//! Flow2SL.
//!
//! # What it does
//! The hosts form as many groups of consecutive hosts as there are classes. The class of a packet
//! is the sum of the numbers of its source and destination group, modulo the number of classes.
//!
//! # Source
//! Escudero-Sahuquillo et al., 2012; Rocher-Gonzalez et al. 2.3.
//!
//! # Parameters
//! `queues`: classes, 1 to 64 (default 3).
//!
//! # Deadlock freedom
//! That of the routing, in each class: a packet never changes its class.
//!
//! # Limits
//! Adds the numbers of both ends modulo `queues`; the papers leave the function open. A congested
//! destination has packets in every class, from different groups: where the routing adapts, they
//! can meet those of all others.
//!
//! # Example
//! ```toml
//! [network.queuing.flow2sl]
//! queues = 3
//! ```

use super::{Classes, Flows, Setting};
use crate::spec::SpecError;

/// Parameters of Flow2SL: the number of classes.
pub type Flow2slSpec = Classes;

/// The class of each flow.
///
/// # Errors
/// Classes that are too many, or none.
pub fn plan(spec: &Flow2slSpec, setting: &Setting<'_>) -> Result<Flows, SpecError> {
    let (queues, hosts) = (setting.queues(spec.queues)?, setting.topology.hosts());
    let group = |host| (u64::from(host) * u64::from(queues) / u64::from(hosts)) as u8;
    let shares: Vec<u8> = (0..hosts).map(group).collect();
    Ok(Flows::new(queues, [shares.clone(), shares]))
}
