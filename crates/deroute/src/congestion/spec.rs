//! What a user asks of a congestion point.

pub use super::CongestionPoint;
pub use super::parameters::*;
pub use super::qcn::{
    GrowthSince, NotificationPath, NotificationSpec, SampleBy, SampleLaw, Victim,
};
