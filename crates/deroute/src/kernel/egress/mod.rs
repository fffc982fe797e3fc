//! Egress: when what was granted leaves through its output.

mod fixed;
mod queued;
pub(crate) mod schedule;

pub(crate) use fixed::Fixed;
pub(crate) use queued::Queued;

use super::core::Core;
use super::core::mail::Signal;
use super::core::ports::Output;
use super::datapath::{Datapath, Grant, Room};
use super::hosts::Entering;
use super::machine::Machine;
use super::model::Model;
use crate::ids::Cycle;

/// A packet that has been granted and has not left, or that has not left its host.
pub(crate) struct Departing {
    /// Its output in the partition (hosts come after all outputs), and its VC at the other end.
    pub(crate) out: u32,
    pub(crate) vc: u8,
    /// Its place in the pool.
    pub(crate) packet: u32,
    /// The input and VC whose memory it still has.
    pub(crate) held: Option<(u32, u8)>,
}

/// The output side of a switch.
pub(crate) trait Egress: Sized + Send {
    /// Packets stay in the pool until they leave.
    const QUEUED: bool;

    /// For the outputs and hosts of a partition.
    fn new(model: &Model, core: &Core) -> Self;

    /// Is there space in an output for a packet of so many phits?
    fn space(&self, model: &Model, output: &Output, at: (u32, Cycle), size: u16) -> Room;

    /// Takes a packet that the crossbar begins to bring; returns the cycle in which it leaves if nothing holds it.
    fn take<M: Machine<Egress = Self>>(path: &mut Datapath<M>, grant: &Grant) -> Cycle;

    /// Takes a packet from a host, if hosts have a link of their own.
    fn inject<M: Machine<Egress = Self>>(path: &mut Datapath<M>, entering: Entering);

    /// A signal that is for the output itself: it may not send, or it may again. Says whether it was one.
    fn hear(&mut self, core: &mut Core, signal: Signal) -> bool;

    /// Sends a frame of so many phits through an output, before all packets; returns the cycle in which it has left.
    fn send_frame(&mut self, core: &Core, port: u32, phits: u32) -> Cycle;

    /// Cycles of the measurement in which the queues of a port were told to be silent, and how many they are; the link
    /// has so many VCs.
    fn silence(&self, core: &Core, port: u32, vcs: u8) -> (u64, u64);

    /// Sends what can leave in this cycle; `freed` learns of outputs with room that somebody awaits.
    fn run<M: Machine<Egress = Self>>(path: &mut Datapath<M>, freed: impl FnMut(&Core, u32));

    /// The run has ended: what has been granted leaves, and what leaves for its host arrives.
    fn finish<M: Machine<Egress = Self>>(path: &mut Datapath<M>);

    /// Packets that have been granted and have not left, or that have not left their hosts.
    fn departing(&self, core: &Core) -> Vec<Departing>;
}
