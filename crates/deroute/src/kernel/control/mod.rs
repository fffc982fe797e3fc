//! Flow control: whether a packet may go downstream, and what the two ends of a link tell each other.

mod any;
mod buffers;
mod credits;
mod memory;
mod messages;
mod pause;
mod shared;

pub(crate) use any::AnyControl;
pub(crate) use buffers::PauseRecord;
pub(crate) use credits::{AnyCredits, Credits};
pub(crate) use messages::{MessageRecord, Messages};
pub(crate) use pause::{Pause, PauseFrame};

use super::core::Core;
use super::core::mail::Signal;
use super::core::packet::BufferId;
use super::core::ports::{Link, Output, OutputRequest};
use super::model::Model;
use crate::ids::Cycle;
use crate::state::State;

/// A flow control: one half of it at each end of a link.
pub(crate) trait Control: State + Sized + Send {
    /// For the ports of a partition.
    fn new(model: &Model, core: &Core) -> Self;

    /// Fetches its state, which other partitions have driven out of the cache.
    fn sweep(&self) {}

    /// Receiver: something of what it looks at where a packet arrives at an input or leaves it.
    #[inline(always)]
    fn line(&self, _input: u32) -> u32 {
        0
    }

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
    #[inline(always)]
    fn arrive(&mut self, _core: &Core, _to: BufferId, _size: u16) -> bool {
        true
    }

    /// Receiver: all that happened to its buffers in this cycle has happened; it may have something to say.
    /// `send` sends a frame of so many phits through an output and says when it has left, if the link is free.
    #[inline(always)]
    fn tell(&mut self, _core: &mut Core, _send: impl FnMut(&Core, u32, u32) -> Option<Cycle>) {}

    /// Sender: a packet has left its output.
    #[inline(always)]
    fn departed(&mut self, _core: &mut Core, _output: u32, _request: OutputRequest) {}

    /// The first cycle of `from..to` in which receivers have something to say though nothing moves, or `to`.
    fn due(&self, _from: Cycle, to: Cycle) -> Cycle {
        to
    }

    /// Receiver: has the sender of a VC of an input been told to be silent?
    #[inline(always)]
    fn has_stopped(&self, _input: u32, _vc: u8) -> bool {
        false
    }

    /// Receivers: most phits that the ports of a switch share, and most of them in use at once in one, if they share any.
    #[inline(always)]
    fn shared_memory(&self) -> Option<(u32, u32)> {
        None
    }

    /// Receiver: phits that a VC of an input buffer holds, if they are counted.
    #[inline(always)]
    fn buffered(&self, _core: &Core, _input: u32, _vc: u8) -> Option<u32> {
        None
    }

    /// Receiver: phits of a VC of an input that are free and whose sender does not know it yet.
    #[inline(always)]
    fn owed(&self, _input: u32, _vc: u8) -> u32 {
        0
    }

    /// What was recorded of the messages of an input port, if it sends any.
    #[inline(always)]
    fn messages(&self, _input: u32) -> Option<MessageRecord> {
        None
    }

    /// What was recorded of an input port: of each VC, of all together, or nothing.
    #[inline(always)]
    fn records(&self, _input: u32) -> Vec<PauseRecord> {
        Vec::new()
    }

    /// Sender: a signal has arrived.
    fn apply(&mut self, model: &Model, output: &mut Output, credits: &mut [u32], signal: Signal);

    /// Phits granted to a VC of an output, at its port, that may still be in its buffer at the other end.
    fn taken(&self, model: &Model, output: &Output, credits: &[u32], at: (u32, u8)) -> u32;
}
