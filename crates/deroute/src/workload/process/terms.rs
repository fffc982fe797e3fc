//! What a rank and its network interface tell each other.

use crate::ids::Cycle;
use crate::workload::matching::{Pattern, Waiter};
use serde::{Deserialize, Serialize};

/// What a message is to the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// Data that nobody has asked for.
    Eager,
    /// Asks whether data may be sent.
    Request,
    /// Says that it may.
    Ready,
    /// Data that was asked for.
    Data,
}

/// A message that a rank hands to its network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descriptor {
    /// Rank that it is for.
    pub to: u32,
    /// Its communicator and tag; the sender is in there as well.
    pub key: Pattern,
    /// What it is.
    pub kind: Kind,
    /// Number among the messages of the rank to this one; of the message that it is about if it is no envelope.
    pub sequence: u32,
    /// Phits.
    pub phits: u32,
    /// Who waits until it has left.
    pub left: Option<Waiter>,
}

/// What a rank asks of its network interface while it goes on.
pub trait Services {
    /// It hands over a message.
    fn send(&mut self, descriptor: Descriptor);

    /// It has ended an iteration.
    fn iteration(&mut self, iteration: u32);

    /// It has ended its part in a collective, by what that counts as, after so many cycles.
    fn collective(&mut self, of: u32, cycles: Cycle);
}

/// What a rank spends its time with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It computes.
    Compute,
    /// It takes part in a collective.
    Collective,
    /// It waits for the message of a receive.
    Receive,
    /// It waits until it may go on after a send.
    Send,
    /// It waits for what it began earlier, or for nothing any more.
    Wait,
}

impl Activity {
    /// Number of activities.
    pub const COUNT: usize = 5;
}
