//! Memory that the VCs of a port share.
//!
//! # What it does
//! Beyond a buffer of its own, its reserve, a VC takes memory that all VCs of its port share, as
//! long as there is any (a dynamically allocated multi-queue, DAMQ). A packet takes the reserve
//! first; what leaves pays for the shared memory first. The credits of a VC are what it could take
//! at the moment, so that what one VC takes changes the credits of all.
//!
//! # Source
//! Tamir and Frazier, IEEE Trans. Computers 1992, with a reserve for each VC.
//!
//! # Parameters
//! `shared` of `network.links`, in phits or as an amount of data (default: none); `buffer` is the
//! reserve.
//!
//! # Deadlock freedom
//! That of the routing, because the reserve holds the largest packet.
//!
//! # Limits
//! With credits. One VC can take all of the shared memory. A routing that gives a packet an empty
//! VC for itself is refused.
//!
//! # Example
//! ```toml
//! [network.links]
//! local = { latency = "15 ns", vcs = 4, buffer = "2.5 KB", shared = "20 KB" }
//! ```

use super::{LinkClass, Setting};
use crate::spec::SpecError;

/// A VC that takes a packet only while it is empty needs no memory but its own.
pub(super) fn check(link: &LinkClass, setting: &Setting<'_>) -> Result<(), SpecError> {
    if setting.atomic && link.shared > 0 {
        let message = "this routing gives a packet an empty VC for itself";
        let path = format!("{}.shared", setting.at);
        return Err(SpecError::new(path, message).choices(["nothing", "a larger `buffer`"]));
    }
    Ok(())
}
