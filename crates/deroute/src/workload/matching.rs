//! Which message goes to which receive.
//!
//! Envelopes of one sender are looked at in the order in which it sent them, whatever the network did to
//! their packets, and receives in the order in which they were posted: the first that fits is taken. (MPI 4.1,
//! 3.5: messages do not overtake.)

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use super::lists::Lists;
use crate::table::Table;

/// Any source, or any tag.
pub const ANY: u32 = u32::MAX;

/// Who waits for something to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Waiter {
    /// The rank, to begin.
    Start,
    /// A node of its program.
    Node(u32),
    /// A lane of a collective under way.
    Lane {
        /// Its place among those under way.
        call: u32,
        /// The lane.
        lane: u32,
    },
    /// A lane of a collective under way computes.
    Computes {
        /// Its place among those under way.
        call: u32,
        /// The lane.
        lane: u32,
    },
    /// A collective under way has sent something.
    Sent {
        /// Its place among those under way.
        call: u32,
    },
}

/// What a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Pattern {
    /// Communicator, and whether it is a part of a collective.
    pub context: u32,
    /// Sender, or [`ANY`].
    pub from: u32,
    /// Tag, or [`ANY`].
    pub tag: u32,
}

impl Hash for Pattern {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let ends = u64::from(self.from) << 32 | u64::from(self.tag);
        state.write_u64(ends ^ u64::from(self.context) << 16);
    }
}

/// The beginning of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// What it is.
    pub key: Pattern,
    /// Number among the messages of its sender to this rank.
    pub sequence: u32,
    /// The sender asks whether it may send.
    pub request: bool,
}

/// What a message or a receive leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A receive has its message.
    Received(Waiter),
    /// A rank may send.
    Ready {
        /// The rank.
        to: u32,
        /// Number of its message.
        sequence: u32,
    },
}

/// A message for which there was no receive.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Unexpected {
    order: u32,
    sequence: u32,
    request: bool,
    whole: bool,
}

/// Most messages that nobody has looked at: so many are found faster by looking at each than in a table.
const MOST_UNSEEN: usize = 32;

/// The receives and the messages of a rank. What most messages need comes first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[repr(C)]
pub struct Matching {
    /// Whole messages that no posted receive can take, in the order in which they came: nobody has looked at them.
    unseen: Vec<Envelope>,
    /// Receives without a message that take more than one source or tag.
    wild: u32,
    /// Receives that were posted.
    posts: u32,
    /// Receives without a message: their order, and who waits.
    posted: Lists<Pattern, (u32, Waiter)>,
    /// Messages without a receive.
    unexpected: Lists<Pattern, Unexpected>,
    /// Envelopes that were looked at.
    arrivals: u32,
    /// Number of the next envelope of each sender.
    next: Table<u32, u32>,
    /// Envelopes that came before an earlier one of their sender, and whether the message is whole.
    early: BTreeMap<(u32, u32), (Envelope, bool)>,
    /// Receives whose message is not whole, by its sender and number.
    matched: BTreeMap<(u32, u32), Waiter>,
}

impl Matching {
    /// Bytes of the messages that nobody has looked at, at the most, of so many that come for all of so many ranks.
    pub(crate) fn unseen_bytes(ranks: u64, messages: u64) -> u64 {
        // A list grows from 4 to twice as many.
        let most = (MOST_UNSEEN as u64).saturating_mul(ranks).min(messages.saturating_mul(4));
        most.saturating_mul(size_of::<Envelope>() as u64)
    }

    /// A receive. What it leads to at once, if anything.
    pub fn post(&mut self, pattern: Pattern, waiter: Waiter) -> Option<Event> {
        let order = self.posts;
        self.posts = self.posts.wrapping_add(1);
        if self.take_unseen(pattern) {
            return Some(Event::Received(waiter));
        }
        let Some((key, Unexpected { sequence, request, whole, .. })) =
            self.take_unexpected(pattern)
        else {
            self.wild += u32::from(pattern.from == ANY || pattern.tag == ANY);
            self.posted.push(pattern, (order, waiter));
            return None;
        };
        if whole && !request {
            return Some(Event::Received(waiter));
        }
        self.matched.insert((key.from, sequence), waiter);
        request.then_some(Event::Ready { to: key.from, sequence })
    }

    /// A whole message has come. Says whether that leads to nothing yet, so that it is kept and nobody looks at it.
    #[inline]
    pub fn sets_aside(&mut self, envelope: Envelope) -> bool {
        let aside = self.unseen.len() < MOST_UNSEEN
            && self.wild == 0
            && self.posted.are_all_but(|pattern| pattern.from == envelope.key.from);
        if aside {
            self.unseen.push(envelope);
        }
        aside
    }

    /// Takes a message that nobody has looked at, if a receive gets that one. Afterwards there is none of the same sender,
    /// or the receive has got its message.
    fn take_unseen(&mut self, pattern: Pattern) -> bool {
        if self.unseen.is_empty() {
            return false;
        }
        let place = self.unseen.iter().position(|message| message.key.from == pattern.from);
        if let Some(place) = place {
            let Envelope { key, sequence, request } = self.unseen[place];
            let next = self.next.entry(key.from).or_default();
            let is_next = key == pattern && sequence == *next && self.early.is_empty();
            if is_next && !request && self.unexpected.first(key).is_none() {
                *next = next.wrapping_add(1);
                self.unseen.remove(place);
                return true;
            }
        }
        if place.is_some() || pattern.from == ANY {
            self.look_at_unseen();
        }
        false
    }

    /// Looks at the messages that nobody has looked at.
    #[cold]
    fn look_at_unseen(&mut self) {
        let mut unseen = std::mem::take(&mut self.unseen);
        for envelope in unseen.drain(..) {
            self.order(envelope, true, |event| unreachable!("{event:?}"));
        }
        self.unseen = unseen;
    }

    /// The beginning of a message has come, or all of it.
    pub fn envelope(&mut self, envelope: Envelope, whole: bool, tell: impl FnMut(Event)) {
        if whole && self.sets_aside(envelope) {
            return;
        }
        if !self.unseen.is_empty() && !self.fits_at_once(&envelope) {
            self.look_at_unseen();
        }
        self.order(envelope, whole, tell);
    }

    /// A message goes to a receive that is posted, whatever came before it: nothing that nobody has looked at is of its sender.
    fn fits_at_once(&self, envelope: &Envelope) -> bool {
        let Envelope { key, sequence, .. } = *envelope;
        self.wild == 0
            && self.early.is_empty()
            && self.posted.first(key).is_some()
            && self.next.get(&key.from).copied().unwrap_or(0) == sequence
    }

    /// Looks at an envelope when those that its sender sent before have been looked at.
    fn order(&mut self, envelope: Envelope, whole: bool, mut tell: impl FnMut(Event)) {
        let from = envelope.key.from;
        let next = self.next.entry(from).or_default();
        if envelope.sequence != *next {
            self.early.insert((from, envelope.sequence), (envelope, whole));
            return;
        }
        *next = next.wrapping_add(1);
        let mut sequence = *next;
        self.look(envelope, whole).into_iter().for_each(&mut tell);
        while let Some((envelope, whole)) = self.early.remove(&(from, sequence)) {
            self.look(envelope, whole).into_iter().for_each(&mut tell);
            sequence = sequence.wrapping_add(1);
            self.next.insert(from, sequence);
        }
    }

    /// A message whose beginning has come is whole. What that leads to.
    pub fn whole(&mut self, key: Pattern, sequence: u32) -> Option<Event> {
        if !self.unseen.is_empty() {
            self.look_at_unseen();
        }
        if let Some(waiter) = self.matched.remove(&(key.from, sequence)) {
            return Some(Event::Received(waiter));
        }
        if let Some((_, whole)) = self.early.get_mut(&(key.from, sequence)) {
            *whole = true;
        } else if let Some(message) =
            self.unexpected.find(key, |message| message.sequence == sequence)
        {
            message.whole = true;
        }
        None
    }

    /// Receives that have no message, with who waits for each, in no order.
    pub fn waiting(&self) -> impl Iterator<Item = (Pattern, Waiter)> + '_ {
        self.posted.all().map(|(pattern, (_, waiter))| (pattern, *waiter))
    }

    /// Receives whose message has begun to come, by its sender.
    pub fn coming(&self) -> impl Iterator<Item = (u32, Waiter)> + '_ {
        self.matched.iter().map(|((from, _), waiter)| (*from, *waiter))
    }

    /// Messages that nobody has received.
    pub fn left(&self) -> usize {
        self.unexpected.all().count() + self.early.len() + self.unseen.len()
    }

    /// An envelope, in the order of its sender.
    fn look(&mut self, envelope: Envelope, whole: bool) -> Option<Event> {
        let Envelope { key, sequence, request } = envelope;
        if let Some(waiter) = self.first_posted(key) {
            if whole && !request {
                return Some(Event::Received(waiter));
            }
            self.matched.insert((key.from, sequence), waiter);
            return request.then_some(Event::Ready { to: key.from, sequence });
        }
        let order = self.arrivals;
        self.arrivals = self.arrivals.wrapping_add(1);
        let message = Unexpected { order, sequence, request, whole };
        self.unexpected.push(key, message);
        None
    }

    /// Takes the first receive that a message fits.
    fn first_posted(&mut self, key: Pattern) -> Option<Waiter> {
        if self.wild == 0 {
            return self.posted.pop(key).map(|(_, waiter)| waiter);
        }
        let patterns = [
            key,
            Pattern { tag: ANY, ..key },
            Pattern { from: ANY, ..key },
            Pattern { from: ANY, tag: ANY, ..key },
        ];
        let first = |pattern: &Pattern| self.posted.first(*pattern).map(|(order, _)| *order);
        let fitting = patterns.into_iter().filter(|pattern| first(pattern).is_some());
        let pattern = fitting.min_by_key(first)?;
        self.wild -= u32::from(pattern.from == ANY || pattern.tag == ANY);
        self.posted.pop(pattern).map(|(_, waiter)| waiter)
    }

    /// Takes the first message that fits a receive.
    fn take_unexpected(&mut self, pattern: Pattern) -> Option<(Pattern, Unexpected)> {
        let Pattern { context, from, tag } = pattern;
        if from != ANY && tag != ANY {
            return self.unexpected.pop(pattern).map(|message| (pattern, message));
        }
        let fits = |key: &Pattern| {
            key.context == context
                && [(from, key.from), (tag, key.tag)].iter().all(|(w, k)| *w == ANY || w == k)
        };
        let fitting = self.unexpected.firsts().filter(|(key, _)| fits(key));
        let (key, _) = fitting.min_by_key(|(_, message)| message.order)?;
        self.unexpected.pop(key).map(|message| (key, message))
    }
}

#[cfg(test)]
mod tests;
