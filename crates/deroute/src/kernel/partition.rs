//! Some consecutive routers and their hosts, simulated alone for a window of time.
//!
//! A cycle: apply everything that arrives (heads, signals of flow control, messages, new packets); let routing
//! algorithms look at queues that changed; match inputs and outputs of the switches. An input port is looked at
//! when something that its heads wait for has changed, so that sleeping ports cost nothing.

use super::agents::Agents;
use super::books::Books;
use super::control::Control;
use super::core::Core;
use super::core::fetch::{SWEPT, touch};
use super::core::mail::{Mail, Signal};
use super::core::packet::Flight;
use super::core::wheel::Wheel;
use super::hosts::{Entering, Hosts};
use super::machine::{Datapath, Egress, Machine, Matching};
use crate::ids::Cycle;
use crate::state::{State, state};

pub(crate) struct Partition<M: Machine> {
    pub(crate) path: Datapath<M>,
    pub(crate) matching: M::Matching,
    /// Packets that hosts generate, while they do.
    entering: Vec<Entering>,
    /// Cycles in which nothing is due are skipped.
    pub(crate) skips: bool,
    /// Packets that had been granted an output when the window before this one began.
    granted: u64,
}

impl<M: Machine> State for Partition<M> {
    state! { keep path, matching; leave entering, skips, granted; }
}

impl<M: Machine> Partition<M> {
    /// Its stages, at cycle 0; `record` says that the dependencies between channels are recorded.
    pub(crate) fn new(core: Core, agents: Agents, hosts: M::Hosts, record: bool) -> Self {
        let outputs = core.outputs.len();
        let control = M::Control::new(&core.model, &core);
        let books = M::Books::new(&core.model, outputs, record);
        let matching = M::Matching::new(&core.model, &core);
        let egress = M::Egress::new(&core.model, &core);
        let path = Datapath { core, agents, control, egress, hosts, books };
        Self { path, matching, entering: Vec::new(), skips: false, granted: 0 }
    }

    /// Runs the cycles until `to`.
    pub(crate) fn run(&mut self, to: Cycle) {
        if M::Hosts::RANKS && self.skips {
            self.path.core.now = self.due(to);
            if self.path.core.now == to {
                return;
            }
        }
        if !self.path.core.exceeds_cache {
            let Datapath { core, control, egress, hosts, .. } = &self.path;
            let moved = core.collector.grants - self.granted;
            let packets = core.pool.slots() as u64 <= SWEPT * moved;
            core.sweep(!<M::Matching as Matching<M>>::VOQS, packets);
            egress.sweep(packets);
            control.sweep();
            hosts.sweep(packets);
            self.granted = core.collector.grants;
        }
        while self.path.core.now < to {
            self.apply();
            if M::Books::KEPT {
                self.path.agents.tell_injections();
                self.path.show_changed();
            }
            self.matching.all_arrived(&mut self.path);
            self.matching.allocate(&mut self.path);
            if M::Egress::QUEUED {
                let Self { path: Datapath { core, control, egress, .. }, .. } = self;
                control.tell(core, |core, port, phits| egress.send_frame(core, port, phits));
                let Self { path, matching, .. } = self;
                M::Egress::run(path, |core, output| matching.wake_credit_blocked(core, output));
            }
            self.path.core.now += 1;
            if M::Hosts::RANKS && self.skips {
                self.path.core.now = self.due(to);
            }
        }
    }

    /// The first cycle before `to` in which anything can happen here that other partitions have no part in, or `to`.
    /// Without packets, whatever is to happen stands in a timing wheel or is announced by the stage that it concerns.
    pub(crate) fn due(&self, to: Cycle) -> Cycle {
        let Datapath { core, agents, control, egress, hosts, books } = &self.path;
        let from = core.now;
        if hosts.cargo() != Some(0) {
            return from;
        }
        let to = hosts.due(from, core.due(from, to));
        let to = agents.due(from, control.due(from, to));
        books.due(from, egress.due(from, to))
    }

    /// The run has ended: what has been granted the output to its host counts as delivered, and arrives.
    pub(crate) fn finish(&mut self) {
        M::Egress::finish(&mut self.path);
    }

    /// Applies everything that is due. Within a cycle the order does not matter.
    #[inline]
    fn apply(&mut self) {
        let Datapath { core, agents, books, .. } = &mut self.path;
        // Before the signals: phits that are late from this cycle on may be back in it.
        books.begin(core, agents);
        self.drain(|core| &mut core.signals, Self::apply_signals);
        self.drain(|core| &mut core.wakeups, |own, ports| own.matching.wake(&own.path.core, ports));
        self.drain(
            |core| &mut core.arrivals,
            |own, flights| own.matching.arrive(&mut own.path, flights),
        );
        self.generate();
        let Datapath { core, agents, .. } = &mut self.path;
        agents.receive_messages(core.now);
    }

    /// Takes the events of a wheel that are due, some at a time.
    #[inline(always)]
    fn drain<T: Copy + Default>(
        &mut self,
        wheel: impl Fn(&mut Core) -> &mut Wheel<T>,
        look: impl Fn(&mut Self, &[T]),
    ) {
        let now = self.path.core.now;
        while let Some(due) = wheel(&mut self.path.core).take(now) {
            let events = wheel(&mut self.path.core).lend();
            look(self, &events[due.range()]);
            wheel(&mut self.path.core).restore(events);
            wheel(&mut self.path.core).done(due);
        }
    }

    /// Signals of flow control arrive at outputs.
    #[inline(always)]
    fn apply_signals(&mut self, signals: &[Signal]) {
        let Self { path: Datapath { core, control, egress, agents, books, .. }, matching, .. } =
            self;
        if core.exceeds_cache {
            touch(signals.iter().map(|signal| {
                core.outputs.get(signal.port() as usize).map_or(0, |output| output.queued)
            }));
        }
        for signal in signals {
            if egress.hear(core, *signal) {
                continue;
            }
            let Core { model, outputs, credits, .. } = &mut *core;
            let output = &mut outputs[signal.port() as usize];
            control.apply(model, output, credits, *signal);
            if output.awaited {
                output.awaited = false;
                matching.wake_credit_blocked(core, signal.port());
            }
            books.credited(core, agents, *signal);
        }
    }

    /// Hosts generate packets.
    #[inline(always)]
    fn generate(&mut self) {
        let now = self.path.core.now;
        while let Some(due) = self.path.core.generations.take(now) {
            for index in 0..due.len() {
                let Datapath { core, hosts, .. } = &mut self.path;
                let host = core.generations.events(due)[index];
                if let Some(entering) = hosts.generate(core, host) {
                    self.enter(entering);
                }
            }
            self.path.core.generations.done(due);
        }
        let Self { path: Datapath { core, hosts, .. }, entering, .. } = self;
        hosts.advance(core, entering);
        while let Some(packet) = self.entering.pop() {
            self.enter(packet);
        }
    }

    /// A packet leaves a host for its router.
    #[inline(always)]
    fn enter(&mut self, (mut packet, to): Entering) {
        let Datapath { core, hosts, .. } = &mut self.path;
        if M::Hosts::NOTIFY {
            let host = core.inputs[to.port() as usize].upstream.port;
            let class = core.model.flows.class_of_queue(to.vc());
            hosts.entered((host, class), core.now, &mut packet);
        }
        if self.path.has_host_links() {
            M::Egress::inject(&mut self.path, (packet, to));
            return;
        }
        let core = &mut self.path.core;
        let at = core.now + core.model.host_latency;
        let flight = Flight { packet, to, at };
        if at > core.now {
            core.arrivals.push(at, flight);
        } else {
            self.matching.arrive(&mut self.path, &[flight]);
        }
    }

    /// Takes the mail from another partition.
    pub(crate) fn receive(&mut self, mail: &mut Mail) {
        let Datapath { core, hosts, .. } = &mut self.path;
        for (at, signal) in mail.signals.drain(..) {
            core.signals.push(at, signal);
        }
        hosts.receive(mail, core.now);
        for flight in mail.arrivals.drain(..) {
            *core.arrivals.place(flight.at) = flight;
        }
    }
}
