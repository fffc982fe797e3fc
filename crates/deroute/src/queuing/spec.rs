//! What a user asks of a queuing scheme.

pub use super::parameters::*;
pub use super::{Classes as QueuingClasses, Queuing};
