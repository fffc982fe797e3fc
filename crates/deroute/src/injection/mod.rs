//! Injection queues of hosts: in which of several a packet waits.
//!
//! A host has an injection queue for each class of flows (classes of service, and those of a queuing scheme).
//! With `network.nic.queues` it has several for each: a packet that cannot leave holds up those of its
//! queue alone, while on links the packets share VCs as before. To add a way to choose: a file with its parameters
//! and its plan, and a line in the catalogue below.

pub mod spec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::catalogue;
use crate::ids::HostId;
use crate::rng::mix;
use crate::spec::SpecError;

/// Most injection queues of a host, those of all classes together.
pub(crate) const MOST: u8 = 64;

/// What queues are planned for.
pub struct Setting {
    /// Hosts of the network.
    pub hosts: u32,
    /// Classes of flows, at least 1.
    pub classes: u8,
}

/// The injection queues of a host, in each class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePlan {
    count: u8,
    by: By,
}

/// What decides the queue of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Destination,
    Flow,
}

impl QueuePlan {
    /// One for each class.
    pub const ONE: Self = Self { count: 1, by: By::Destination };

    /// Queues of a class, at least 1.
    #[inline]
    pub fn count(&self) -> u8 {
        self.count
    }

    /// The queue of a packet within its class; `label` is the number of its stream, or the tag of its message.
    pub fn of(&self, from: HostId, to: HostId, label: u32) -> u8 {
        let number = match self.by {
            By::Destination => u64::from(to.0),
            By::Flow => mix(mix(u64::from(from.0) << 32 | u64::from(to.0)) ^ u64::from(label)),
        };
        (number % u64::from(self.count)) as u8
    }
}

impl Setting {
    /// Checks the number of queues of a class.
    ///
    /// # Errors
    /// None, or more than a port can tell apart.
    fn count(&self, path: &str, count: u32) -> Result<u8, SpecError> {
        let most = u32::from(MOST / self.classes);
        if (1..=most).contains(&count) {
            return Ok(count as u8);
        }
        let message = match self.classes {
            1 => format!("{count} queues are out of range"),
            classes => format!("{count} queues for each of {classes} classes are out of range"),
        };
        Err(SpecError::new(path, message).choices([format!("1 to {most}")]))
    }
}

catalogue! {
    /// In which injection queue of its class a packet waits.
    enum InjectionQueues;
    /// Resolves what the spec asks for.
    ///
    /// # Errors
    /// Queues that are too many, or none.
    fn build(&Setting) -> QueuePlan;

    // One line per way to choose.
    /// By the destination host.
    Destination => destination::DestinationQueuesSpec,
    /// By the flow.
    Flow => flow::FlowQueuesSpec,
}
