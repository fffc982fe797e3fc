//! Flow control: whether a packet may go downstream, and what the two ends of a link tell each other.

mod credits;
mod shared;

pub(crate) use credits::{AnyCredits, Credits};

use super::core::Core;
use super::core::mail::Signal;
use super::core::ports::{Link, Output, OutputRequest};
use super::model::Model;

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

    /// Receiver: a packet of so many phits has left a VC of the input buffer behind this link.
    fn release(&mut self, core: &mut Core, upstream: Link, vc: u8, size: u16);

    /// Sender: a signal has arrived.
    fn apply(&mut self, model: &Model, output: &mut Output, credits: &mut [u32], signal: Signal);

    /// Phits granted to a VC of an output, at its port, that may still be in its buffer at the other end.
    fn taken(&self, model: &Model, output: &Output, credits: &[u32], at: (u32, u8)) -> u32;
}
