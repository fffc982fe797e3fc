//! What a user asks of notification points.

pub use super::NotificationPoint;
pub use super::parameters::*;
