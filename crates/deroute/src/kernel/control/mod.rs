//! Flow control: whether a packet may go downstream, and what the two ends of a link tell each other.

mod any;
mod credits;
mod pause;
mod shared;

pub(crate) use any::AnyControl;
pub(crate) use credits::{AnyCredits, Credits};
pub(crate) use pause::{Pause, PauseFrame, PauseRecord};

use super::core::Core;
use super::core::mail::Signal;
use super::core::packet::BufferId;
use super::core::ports::{Link, Output, OutputRequest};
use super::model::Model;
use crate::ids::Cycle;

/// A flow control: one half of it at each end of a link.
pub(crate) trait Control: Sized + Send {
    /// For so many outputs.
    fn new(model: &Model, outputs: usize) -> Self;

    /// Sender: is there room at the other end for what a head requests? `credits` is `Core::credits`.
    fn has_room(model: &Model, output: &Output, credits: &[u32], request: OutputRequest) -> bool;

    /// Sender: a packet is granted that takes so many phits of a VC at the other end; none if that is a host.
    fn take(
        &mut self,
        model: &Model,
        output: &mut Output,
        credits: &mut [u32],
        taken: (u32, u8, u32),
    );

    /// Receiver: a packet of so many phits has left a VC of an input buffer, which is behind this link.
    fn release(&mut self, core: &mut Core, from: (u32, Link), vc: u8, size: u16);

    /// Receiver: a packet of so many phits arrives in an input buffer. Says whether it has room; otherwise it is
    /// lost.
    fn arrive(&mut self, core: &Core, to: BufferId, size: u16) -> bool;

    /// Receiver: all that happened to its buffers in this cycle has happened; it may have something to say.
    /// `send` sends a frame of so many phits through an output and says when it has left.
    fn tell(&mut self, core: &mut Core, send: impl FnMut(&Core, u32, u32) -> Cycle);

    /// Sender: a packet has left its output.
    fn departed(&mut self, core: &mut Core, output: u32, request: OutputRequest);

    /// What was recorded of an input port, if anything was.
    fn record(&self, input: u32) -> Option<PauseRecord>;

    /// Sender: a signal has arrived.
    fn apply(&mut self, model: &Model, output: &mut Output, credits: &mut [u32], signal: Signal);

    /// Phits granted to a VC of an output, at its port, that may still be in its buffer at the other end.
    fn taken(&self, model: &Model, output: &Output, credits: &[u32], at: (u32, u8)) -> u32;
}
