//! What a user asks of entropies.

pub use super::Entropy;
pub use super::parameters::*;
