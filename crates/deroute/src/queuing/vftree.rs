//! vFtree.
//!
//! # What it does
//! The class of a packet is the sum of the numbers of its source and destination switch, modulo the
//! number of classes: from one source switch, different classes lead to consecutive destination
//! switches. Switches without hosts do not count.
//!
//! # Source
//! Guay et al., IPDPS 2011; Rocher-Gonzalez et al. 2.3.
//!
//! # Parameters
//! `queues`: classes, 1 to 64 (default 3).
//!
//! # Deadlock freedom
//! That of the routing, in each class: a packet never changes its class.
//!
//! # Limits
//! Adds the numbers of both ends modulo `queues`; the papers leave the function open. A congested
//! destination has packets in every class, from different switches: where the routing adapts, they
//! can meet those of all others.
//!
//! # Example
//! ```toml
//! [network.queuing.vftree]
//! queues = 3
//! ```

use super::{Classes, Flows, Setting};
use crate::ids::HostId;
use crate::spec::SpecError;

/// Parameters of vFtree: the number of classes.
pub type VftreeSpec = Classes;

/// The class of each flow.
///
/// # Errors
/// Classes that are too many, or none.
pub fn plan(spec: &VftreeSpec, setting: &Setting<'_>) -> Result<Flows, SpecError> {
    let (queues, topology) = (setting.queues(spec.queues)?, setting.topology);
    let mut shares = Vec::new();
    let (mut last, mut leaf) = (None, queues - 1);
    for router in (0..topology.hosts()).map(|host| topology.router_of(HostId(host))) {
        if last != Some(router) {
            (last, leaf) = (Some(router), (leaf + 1) % queues);
        }
        shares.push(leaf);
    }
    Ok(Flows::new(queues, [shares.clone(), shares]))
}
