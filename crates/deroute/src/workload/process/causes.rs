//! What made a rank go on, each time, if its job keeps that: the critical path of a job follows from it.
//!
//! A rank goes on at the end of something that takes a known time, when a message comes for it, or when one has left.
//! Whatever it does then, until it can do no more, is because of that. So each computation and each message is kept
//! with the occasion on which it began.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

use super::Kind;
use crate::ids::Cycle;
use crate::workload::matching::Waiter;

/// Nothing of a program.
pub const NO_NODE: u32 = u32::MAX;

/// Why a rank went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// The job has begun.
    Start,
    /// Something that takes a known time has ended: it began on an occasion, for a node.
    Timer(Begun),
    /// A message that was sent on an occasion, for a node, has left.
    Left(Begun),
    /// A message has come: its sender, what it is to the protocol, its number.
    Came(u32, Kind, u32),
}

/// Something that began: on which occasion of the rank, and for which node, or [`NO_NODE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// Index among the occasions.
    pub occasion: u32,
    /// The node.
    pub node: u32,
}

/// A message that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// When, and for what.
    pub begun: Begun,
    /// Its size.
    pub phits: u32,
}

/// The occasions on which a rank went on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Causes {
    occasions: Vec<(Cycle, Cause)>,
    /// By the number of a timer, from 1 on.
    timers: Vec<Begun>,
    /// By receiver, kind and number.
    sent: BTreeMap<(u32, Kind, u32), Sent>,
    leaving: BTreeMap<Waiter, VecDeque<Begun>>,
    /// The occasion on which the rank ended.
    end: Option<u32>,
}

impl Causes {
    /// Bytes of a message and of a computation, at the most: lists that grow, trees that are half full.
    pub const MESSAGE_BYTES: u64 = 4 * size_of::<(Cycle, Cause)>() as u64
        + 2 * size_of::<((u32, Kind, u32), Sent)>() as u64
        + 2 * size_of::<(Waiter, Begun)>() as u64;
    /// Of something that takes a known time.
    pub const TIMER_BYTES: u64 = 2 * (size_of::<(Cycle, Cause)>() + size_of::<Begun>()) as u64;

    /// What begins now.
    fn now(&self, node: Option<u32>) -> Begun {
        let occasion = (self.occasions.len() as u32).saturating_sub(1);
        Begun { occasion, node: node.unwrap_or(NO_NODE) }
    }

    /// The rank goes on.
    pub(super) fn note(&mut self, at: Cycle, cause: Cause) {
        self.occasions.push((at, cause));
    }

    /// The same, because of a timer.
    pub(super) fn note_timer(&mut self, at: Cycle, number: u32) {
        let begun = number.checked_sub(1).and_then(|index| self.timers.get(index as usize));
        self.note(at, begun.map_or(Cause::Start, |begun| Cause::Timer(*begun)));
    }

    /// The same, because something has left.
    pub(super) fn note_left(&mut self, at: Cycle, waiter: Waiter) {
        if let Some(begun) = self.leaving.get_mut(&waiter).and_then(VecDeque::pop_front) {
            self.note(at, Cause::Left(begun));
        }
    }

    /// A timer is set for a node.
    pub(super) fn set_timer(&mut self, node: Option<u32>) {
        self.timers.push(self.now(node));
    }

    /// A message is sent for a node; somebody may wait until it has left.
    pub(super) fn send(
        &mut self,
        key: (u32, Kind, u32),
        phits: u32,
        node: Option<u32>,
        left: Option<Waiter>,
    ) {
        let begun = self.now(node);
        self.sent.insert(key, Sent { begun, phits });
        if let Some(waiter) = left {
            self.leaving.entry(waiter).or_default().push_back(begun);
        }
    }

    /// The rank ends.
    pub(super) fn end(&mut self) {
        self.end = Some(self.now(None).occasion);
    }

    /// The occasion on which the rank ended.
    pub fn ended(&self) -> Option<u32> {
        self.end
    }

    /// When an occasion was, and why.
    pub fn occasion(&self, index: u32) -> Option<(Cycle, Cause)> {
        self.occasions.get(index as usize).copied()
    }

    /// A message to a rank.
    pub fn sent(&self, to: u32, kind: Kind, sequence: u32) -> Option<Sent> {
        self.sent.get(&(to, kind, sequence)).copied()
    }
}
