//! What a user asks of injection queues.

pub use super::InjectionQueues;
pub use super::parameters::*;
