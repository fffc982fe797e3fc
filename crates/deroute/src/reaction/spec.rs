//! What a user asks of a reaction point.

pub use super::ReactionPoint;
pub use super::parameters::*;
pub use super::qcn::{FlowKey, Follows};
pub use super::retransmission::RetransmissionSpec;
pub use super::swift::FlowScaling;
