//! What a user asks of a flow control.

pub use super::FlowControl;
pub use super::headroom::PauseParameters;
pub use super::memory::SharedBufferSpec;
pub use super::parameters::*;
pub use super::retry::RetrySpec;
