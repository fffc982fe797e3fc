//! What a rank sends and receives.

use std::collections::VecDeque;

use super::causes::{Cause, Causes};
use super::{Descriptor, Kind, Process, Services, Site, Todo};
use crate::ids::Cycle;
use crate::workload::Job;
use crate::workload::matching::{Envelope, Event, Pattern, Waiter};

impl Process {
    /// A message for it has begun to arrive, or is whole: it may go on because of that.
    pub fn hear(&mut self, now: Cycle, from: u32, kind: Kind, sequence: u32) {
        if let Some(causes) = &mut self.causes {
            causes.note(now, Cause::Came(from, kind, sequence));
        }
    }

    /// A whole message has come for it that it waits for no more than for any other, if it keeps no account of what happened
    /// when. Says whether that leads to nothing yet.
    #[inline]
    pub fn sets_aside(&mut self, envelope: Envelope, now: Cycle) -> bool {
        let aside = self.matching.sets_aside(envelope);
        if aside {
            self.heard = now;
        }
        aside
    }

    /// A message for it has begun to arrive; is it whole?
    pub fn receive(
        &mut self,
        job: &Job,
        envelope: Envelope,
        whole: bool,
        services: &mut impl Services,
    ) {
        let Self { matching, todo, rank, causes, .. } = self;
        matching.envelope(envelope, whole, |event| {
            answer(event, (*rank, job), (todo, causes), services);
        });
    }

    /// A message for it whose beginning has come is whole.
    pub fn complete(&mut self, key: Pattern, sequence: u32) {
        if let Some(Event::Received(waiter)) = self.matching.whole(key, sequence) {
            self.todo.push_back(Todo::End(waiter));
        }
    }

    /// It may send what it has asked for.
    pub fn may_send(&mut self, to: u32, sequence: u32, services: &mut impl Services) {
        if let Some((waiter, phits, key)) = self.asked.remove(&(to, sequence)) {
            let kind = Kind::Data;
            self.note_send((to, kind, sequence), phits, waiter, true);
            services.send(Descriptor { to, key, kind, sequence, phits, left: Some(waiter) });
        }
    }

    /// Something that it has sent has left.
    pub fn has_left(&mut self, waiter: Waiter, now: Cycle) {
        if let Some(causes) = &mut self.causes {
            causes.note_left(now, waiter);
        }
        self.todo.push_back(Todo::End(waiter));
    }

    /// A message is sent, by receiver, kind and number, for which somebody waits, if only until it has left.
    fn note_send(&mut self, key: (u32, Kind, u32), phits: u32, waiter: Waiter, leaves: bool) {
        if self.causes.is_some() {
            let (node, left) = (self.node_of(waiter), leaves.then_some(waiter));
            self.causes.iter_mut().for_each(|causes| causes.send(key, phits, node, left));
        }
    }

    /// Sends a message. Says whether that has ended already.
    pub(super) fn send<S: Services>(
        &mut self,
        to: u32,
        key: Pattern,
        (phits, synchronous): (u32, bool),
        waiter: Waiter,
        site: &mut Site<'_, S>,
    ) -> bool {
        let next = self.sent.entry(to).or_default();
        let sequence = *next;
        *next = next.wrapping_add(1);
        let protocol = &site.job.protocol;
        if synchronous || phits > protocol.eager_limit {
            self.asked.insert((to, sequence), (waiter, phits, key));
            let (kind, phits) = (Kind::Request, protocol.control);
            self.note_send((to, kind, sequence), phits, waiter, false);
            site.services.send(Descriptor { to, key, kind, sequence, phits, left: None });
            return false;
        }
        let left = (!protocol.buffered).then_some(waiter);
        self.note_send((to, Kind::Eager, sequence), phits, waiter, left.is_some());
        site.services.send(Descriptor { to, key, kind: Kind::Eager, sequence, phits, left });
        protocol.buffered
    }

    /// Posts a receive. Says whether it has ended already.
    pub(super) fn post<S: Services>(
        &mut self,
        pattern: Pattern,
        waiter: Waiter,
        site: &mut Site<'_, S>,
    ) -> bool {
        match self.matching.post(pattern, waiter) {
            Some(Event::Received(_)) => true,
            Some(event) => {
                let of = (self.rank, site.job);
                answer(event, of, (&mut self.todo, &mut self.causes), site.services);
                false
            }
            None => false,
        }
    }
}

/// Acts on what a message has led to.
fn answer(
    event: Event,
    (rank, job): (u32, &Job),
    (todo, causes): (&mut VecDeque<Todo>, &mut Option<Box<Causes>>),
    services: &mut impl Services,
) {
    match event {
        Event::Received(waiter) => todo.push_back(Todo::End(waiter)),
        Event::Ready { to, sequence } => {
            let (kind, phits) = (Kind::Ready, job.protocol.control);
            if let Some(causes) = causes {
                causes.send((to, kind, sequence), phits, None, None);
            }
            let key = Pattern { context: 0, from: rank, tag: 0 };
            services.send(Descriptor { to, key, kind, sequence, phits, left: None });
        }
    }
}
