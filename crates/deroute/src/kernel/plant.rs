//! The network model under the name that it had.

pub(super) use super::model::{Crossbar, LinkClass, Model as Plant, WarmupTimes};
