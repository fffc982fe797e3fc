//! What a head gets from its output: room, and the grant.

use super::ports::{Link, OutputRequest};
use crate::ids::Cycle;

/// Room for a head in the output that it requests.
pub(crate) enum Room {
    Enough,
    /// Not before this cycle.
    From(Cycle),
    /// When credits arrive, or something leaves.
    WithCredits,
}

/// A head that moves from an input to an output.
pub(crate) struct Grant {
    pub(crate) input: u32,
    /// The other end of the input, and its router.
    pub(crate) upstream: Link,
    pub(crate) router: u32,
    pub(crate) in_vc: u8,
    /// Port of the input on its router.
    pub(crate) in_port: u16,
    pub(crate) out: u32,
    pub(crate) packet: u32,
    pub(crate) request: OutputRequest,
    /// It comes from a host, at whose head it was blocked for some cycles.
    pub(crate) injection: bool,
    /// It comes from a register: its place in the buffer is free already.
    pub(crate) registered: bool,
    /// Cycle in which its head reached the input.
    pub(crate) arrival: Cycle,
    pub(crate) blocked: Cycle,
    /// The output is written until then.
    pub(crate) write_until: Cycle,
    /// The output's pointer moves on.
    pub(crate) turn: bool,
}
